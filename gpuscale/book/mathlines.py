"""Where a formula breaks: its row becomes a line of boxes, among which a browser breaks as it does among words.

Boxes begin with a relation, a plus or a minus. If one of them is a little wider than a phone, the type of the whole
line shrinks until it fits. If it is much wider, it is broken further: within parentheses, a wide fraction or wide
cases, or between its factors. What is left shrinks to its column by itself. The style sheet (*Mathematics* in
assets/book.css) lays out the kinds of boxes that are named here.
"""

from __future__ import annotations

from itertools import takewhile
from xml.etree.ElementTree import Element

from gpuscale.book.mathfont import advance
from gpuscale.book.mathtree import APPLIED, FENCES, boxed, is_cases, opening

RELATIONS = set("=≈≤≥<>→←≫≪∝")
SUMS = set("+−")
SHORT = 8  # em: a formula that no line breaks
WIDE = 17  # em: what a phone's column holds of the largest type
ROOM = 24  # em: what it holds of type that has shrunk by a quarter
ASIDE = 2.2  # em: left of the lines of wide cases on a phone


def broken(row: Element) -> Element:
    """A row as a line of boxes, in type that lets the widest one fit; a row that is short stays whole."""
    if width(row) <= SHORT:
        return row
    out = line(list(row))
    column = min(ROOM, max(map(needed, out)))
    return shrinking(out, column) if column > WIDE else out


def needed(box: Element) -> float:
    """How wide a column must be for a box: of what breaks on a phone, its widest part counts."""
    if box.get("class") != "tied":
        return width(box)
    return sum(widest(node) if node.get("class") else width(node) for node in box)


def widest(node: Element) -> float:
    """The widest box in a fraction or in cases, with the rule at the side of cases and the indent of their lines."""
    inside = max((needed(box) for box in node.iterfind(".//*[@class='line']/*")), default=0)
    if node.get("class") == "over":
        return inside
    whole = [width(cell) for cell in node.iterfind("mtable/mtr/mtd/mrow") if cell.get("class") != "line"]
    return max(inside, *whole) + ASIDE


def line(row: list[Element], room: float = ROOM) -> Element:
    """Nodes as a line of boxes, none of them wider than the room if that can be."""
    return boxed("mrow", boxes(parts(row), room), "line")


def parts(row: list[Element]) -> list[list[Element]]:
    """Nodes in parts, each but the first with a relation, a plus or a minus in front."""
    found: list[list[Element]] = [[]]
    for node in row:
        binary = node.tag == "mo" and found[-1] and found[-1][-1].tag != "mo"
        if binary and node.text in RELATIONS | SUMS:
            node.set("form", "infix")  # in front of its box it would be taken for a sign
            found.append([])
        found[-1].append(node)
        if node.tag == "mspace" and length(node) >= 1:
            found.append([])
    return [part for part in found if part]


def items(row: list[Element]) -> list[list[Element]]:
    """What stands in parentheses, in parts: at its commas, else at its operators."""
    found: list[list[Element]] = [[]]
    for node in row:
        found[-1].append(node)
        if node.tag == "mo" and node.text == ",":
            node.set("form", "infix")
            found.append([])
    return found if len(found) > 1 else parts(row)


def boxes(them: list[list[Element]], room: float) -> list[Element]:
    """A box for each part, and more for a part that is wider than the room."""
    return [box for part in them for box in (finer(part, room) if total(part) > room else [boxed("mrow", part)])]


def finer(part: list[Element], room: float) -> list[Element]:
    """The boxes of a part that is too wide: broken at its sums, within its widest node, or else between its factors."""
    if len(summands := parts(part)) > 1:  # of an argument, as in max(a, b + c)
        return boxes(summands, room)
    node = max(part, key=width)
    place = part.index(node)
    before, after = part[:place], part[place + 1 :]
    if is_cases(node) or (node.tag == "mfrac" and node.get("linethickness") != "0"):
        return framed(before, node, after, room)
    if opening(node) and len(inside := items(list(node)[1:-1])) > 1:
        size_fences(node)
        inside[0] = [*before, node[0], *inside[0]]
        inside[-1] = [*inside[-1], node[-1], *after]
        return boxes(inside, room)
    gaps = [k for k, each in enumerate(part) if each.tag == "mspace" and 0 < k < len(part) - 1]
    if gaps:
        middle = min(gaps, key=lambda k: abs(total(part[:k]) - total(part[k:])))
        return boxes([part[:middle], part[middle + 1 :]], room)
    return [shrinking(boxed("mrow", part), total(part))]


def size_fences(row: Element) -> None:
    """Fix the size of two parentheses that will stand in different boxes, where they cannot stretch together."""
    height = "2.4em" if tall(row) else "1.2em"
    for sign, form in ((row[0], "prefix"), (row[-1], "postfix")):
        sign.attrib = {"form": form, "stretchy": "true", "minsize": height, "maxsize": height}


def framed(before: list[Element], node: Element, after: list[Element], room: float) -> list[Element]:
    """The boxes of a part with a wide fraction or wide cases: tied to the sign in front, and broken on a phone."""
    alone = len(before) > 1 and width(node) <= room < width(node) + total(before)
    if alone and node.tag == "mfrac":
        return boxes([before, [node, *after]], room)
    apart = boxes([before], room) if total(before) > SHORT / 2 else []
    near = [boxed("mrow", spaced(before))] if before and not apart else []
    short = after if total(after) < SHORT / 2 else list(takewhile(closing, after))
    after = after[len(short) :]
    room -= total([*near, *short])
    if node.tag == "mfrac":
        node[:] = [line(opened(each), room) for each in node]
        node.set("class", "over")
    else:
        for cell in node[1].iter("mtd"):
            inside = list(cell)
            cell[:] = [line(inside, room - 3) if total(inside) > room - 3 else boxed("mrow", inside)]
        node.set("class", "rows")
    near += [node, *([boxed("mrow", short)] if short else [])]
    tied = boxed("mrow", near, "tied")
    return [*apart, shrinking(tied, width(tied)), *(boxes([after], room) if after else [])]


def closing(node: Element) -> bool:
    """Whether a node may not begin a line: a closing parenthesis or a comma."""
    return node.tag == "mo" and node.text in {*FENCES.values(), ","}


def opened(node: Element) -> list[Element]:
    """The nodes of a row, or the one node."""
    return list(node) if node.tag == "mrow" and not opening(node) and not is_cases(node) else [node]


def spaced(row: list[Element]) -> list[Element]:
    """A row; an operator alone gets the space that it would have among neighbors."""
    if len(row) > 1 or row[0].tag != "mo":
        return row
    return [Element("mspace", {"width": "0.28em"}), row[0], Element("mspace", {"width": "0.28em"})]


def shrinking(box: Element, wide: float) -> Element:
    """A box that says how wide it is, with a little to spare, so that its type can shrink to the column."""
    box.set("style", f"--w:{1.1 * wide + 0.4:.1f}")
    return box


def total(row: list[Element]) -> float:
    return sum(map(width, row))


def length(space: Element) -> float:
    return float(space.get("width", "0").removesuffix("em"))


def width(node: Element, size: float = 1, display: bool = True) -> float:
    """About how wide a node is, in em of the formula's type: a browser sets it, but the site is made without one."""
    small = max(size * 0.7, 0.5)

    def each(which, at: float = size, show: bool = display) -> list[float]:
        return [width(one, at, show) for one in which]

    match node.tag:
        case "mi" | "mn" | "mtext" | "mo":
            slanted = node.tag == "mi" and len(node.text or "") == 1 and "mathvariant" not in node.attrib
            return (advance(node.text or "", slanted) + around(node)) * size
        case "mspace":
            return length(node) * size
        case "mfrac":
            return max(each(node, size if display else small, False)) + 0.2 * size
        case "msub" | "msup" | "msubsup":
            return width(node[0], size, display) + max(each(node[1:], small, False)) + 0.05
        case "munder" | "mover" | "munderover":
            return max([width(node[0], size, display), *each(node[1:], small, False)])
        case "mtable":
            columns = zip(*(each(line) for line in node), strict=False)
            return sum(map(max, columns)) + len(node[0]) - 1
        case "msqrt":
            return sum(each(node)) + 0.9 * size
    fences = 0.8 if is_cases(node) else (0.5 if tall(node) else 0.3) if opening(node) else 0  # what stretches is wider
    return sum(each(node)) + fences * size


def tall(row: Element) -> bool:
    """Whether the parentheses around a row stretch."""
    return any(node.tag in ("mfrac", "mtable", "munderover") for node in row.iter())


def around(node: Element) -> float:
    """The space on both sides of an operator, in em."""
    if node.tag != "mo" or node.text in set("()[]/" + APPLIED):
        return 0
    return 0.56 if node.text in RELATIONS else 0.44 if node.text in SUMS | set("⋅×") else 0.17
