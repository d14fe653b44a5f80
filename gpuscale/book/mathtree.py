"""From TeX to a tree of MathML: latex2mathml converts, and what it leaves rough for a browser is smoothed here."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert

NAME = re.compile(r"\\mathrm\s*(?:\{([\w,/.-]+)\}|(\w))")  # latex2mathml would set it letter by letter
ENVIRONMENT = re.compile(r"\\begin\{(\w+\*?)\}")
ENVIRONMENTS = {"aligned", "cases", "matrix", "pmatrix", "bmatrix"}
ESCAPED = re.compile(r"\\.", re.S)
FENCES = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋"}
FUNCTIONS = {"max", "min", "log", "ln", "exp"}
LETTERS = {"∞", "⊤"}  # signs that stand for a value, not for an operation
APPLIED = "\u2061"  # between a function and what it is applied to: nothing to see, but it is read
THIN = {"width": "0.167em"}


class TexError(ValueError):
    """TeX that the converter does not know."""


def tree(tex: str, display: bool = False) -> Element:
    """The row of MathML that TeX says. Raises TexError for a command or an environment that is not known.

    >>> [node.tag for node in tree(r"T_\\mathrm{comms} = V / W")]
    ['msub', 'mo', 'mi', 'mo', 'mi']
    """
    if strange := set(ENVIRONMENT.findall(tex)) - ENVIRONMENTS:
        raise TexError(f"{tex}: {', '.join(strange)} is not one of {', '.join(sorted(ENVIRONMENTS))}")
    if (bare := ESCAPED.sub("", tex)).count("{") != bare.count("}"):
        raise TexError(f"{tex}: a brace has no partner")
    plain = NAME.sub(lambda found: rf"\text{{{found[1] or found[2]}}}", tex).replace("{aligned}", "{split}")
    try:
        row = ElementTree.fromstring(convert(plain, display="block" if display else "inline", xmlns=""))[0]
    except Exception as error:  # the converter has no error of its own
        raise TexError(f"{tex}: {error or type(error).__name__}") from error
    for node in row.iter():
        if "\\" in (node.text or ""):
            raise TexError(f"{tex}: {node.text} is not a command that the converter knows")
    smooth(row)
    return row


def boxed(tag: str, inside: list[Element], kind: str = "") -> Element:
    """A new element around others."""
    out = Element(tag, {"class": kind} if kind else {})
    out.extend(inside)
    return out


def smooth(row: Element) -> None:
    """Smooth what is below a node: no rows of one, names and functions in one piece, fences that stretch."""
    if row.tag in ("mrow", "mtd"):
        pair(row)
    for place, node in enumerate(list(row)):
        smooth(node)
        while node.tag == "mrow" and len(node) == 1:
            node = node[0]
        row[place] = node
        settle(node)
    if row.tag in ("mrow", "mtd", "mstyle"):
        space_functions(row)


def pair(row: Element) -> None:
    """Make a row of what stands between parentheses that were typed without ``left`` and ``right``."""
    opened = []
    for node in list(row):
        if node.get("stretchy") != "false":
            continue
        if node.text in FENCES:
            opened.append(node)
        elif opened and node.text == FENCES[opened[-1].text]:
            them = list(row)
            first, last = them.index(opened.pop()), them.index(node)
            if len(them) > last - first + 1:
                row[first : last + 1] = [boxed("mrow", them[first : last + 1])]


def settle(node: Element) -> None:
    """Give one node the tag and the attributes that say what it is."""
    said = node.text or ""
    for name in ("fence", "stretchy", "columnalign", "columnspacing", "rowspacing"):
        if node.get(name) != "false":
            node.attrib.pop(name, None)
    if node.tag == "mtext" and not re.search(r"\s", said):
        node.tag = "mi"  # a name: of one letter it is upright, too
        if len(said) == 1:
            node.set("mathvariant", "normal")
    elif node.tag == "mo" and (said in FUNCTIONS or said in LETTERS):
        node.tag = "mi"
    elif node.tag == "mo" and "minsize" in node.attrib:  # of \binom, which stretches by itself, or of \Big
        node.attrib = {} if said in "()" else {**node.attrib, "stretchy": "true"}
    elif node.tag == "mspace" and node.get("width", "").startswith("negative"):
        node.set("width", "-0.167em")
    elif node.tag == "mtable" and node.get("displaystyle"):
        node.set("class", "aligned")
    elif is_cases(node):
        node[0].set("form", "prefix")
        node[1].set("class", "cases")
    if node.tag == "mo" and said == "/":
        node.attrib.update(lspace="0", rspace="0")


def space_functions(row: Element) -> None:
    """A thin space around each function of a row, but none before its parentheses."""
    for place in range(len(row) - 1, -1, -1):
        if not is_function(row[place]):
            continue
        after = row[place + 1] if place + 1 < len(row) else None
        if after is not None and after.tag not in ("mo", "mspace"):
            applied = opening(after) or (after.tag == "msup" and opening(after[0]))
            between = Element("mo") if applied else Element("mspace", THIN)
            between.text = APPLIED if applied else None
            row.insert(place + 1, between)
        if place and row[place - 1].tag not in ("mo", "mspace"):
            row.insert(place, Element("mspace", THIN))


def is_function(node: Element) -> bool:
    base = node[0] if node.tag in ("msub", "msup", "munder") else node
    return base.tag == "mi" and base.text in FUNCTIONS


def is_cases(node: Element) -> bool:
    return node.tag == "mrow" and len(node) == 2 and node[0].text == "{" and node[1].tag == "mtable"


def opening(node: Element) -> str:
    """The sign that a row in parentheses begins with, or ""."""
    if node.tag != "mrow" or len(node) < 3 or node[-1].text not in FENCES.values():
        return ""
    return node[0].text if node[0].text in FENCES else ""
