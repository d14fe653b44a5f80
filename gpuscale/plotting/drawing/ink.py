"""Ink and type of static figures: colors by meaning, widths of text, the little markup that labels may
hold.
"""

from __future__ import annotations

import html
import re

from gpuscale.core.html import escape

SIZE = 12.5  # pixels, the one size of type on figures

# A meaning, and what it is drawn with: solid shapes, lines and marks, words; on a light and on a dark ground.
# On the page the style sheet's variables decide; these colors serve where there is none, as in a notebook.
_MEANINGS = {
    "compute": ("#0072b2 #3d93d1", "#0072b2 #4fa9e8", "#00609a #7cc2f2"),
    "memory": ("#009e73 #1fa67d", "#00966c #2bbd90", "#00704f #4fd3aa"),
    "scaleup": ("#e69f00 #d9982a", "#c08000 #f0b13c", "#8a5a00 #f0b13c"),
    "scaleout": ("#d55e00 #e0682f", "#c44e00 #ff7f4a", "#a84200 #ff9a70"),
    "wait": ("#a9b0b8 #616c7a", "#838a94 #8791a0", "#5a626c #aab3be"),
}
_NEUTRALS = {
    "plain": "#1c222b",
    "soft": "#555f6c #a5afbb",
    "edge": "#808a96 #75808f",
    "line": "#dfe2e6 #333c48",
    "paper": "#ffffff #14181e",
    "dark": "#1c222b #14181e",  # words on a solid bar of a bright hue
}
# The color of a GPU among others: an order of hues, even and odd ones of two lightnesses, as on the stage.
_RANKS = {
    "rank0": "#e89d9c #612e2f",
    "rank1": "#ffd29f #7e5730",
    "rank2": "#b7ba75 #424309",
    "rank3": "#aef0c4 #3b6d4d",
    "rank4": "#67c6cb #004b4f",
    "rank5": "#ace5ff #396588",
    "rank6": "#b3abea #3f3864",
    "rank7": "#ffc8f6 #7b5071",
}
RANKS = (*_RANKS,)
_USES = {"bar": "-bar", "line": "", "text": "-text"}

#: The colors that a reader sees: the meanings, and ink for what has none.
HUES = (*_MEANINGS, "plain")


def hue(name: str, where: str = "", known=(*_MEANINGS, *_NEUTRALS, *_RANKS)) -> str:
    """A name of a color, checked. Raises ValueError naming ``where`` it stands and the known ones."""
    if name not in known:
        at = f"{where}: " if where else ""
        raise ValueError(f"{at}hue {name!r} has no meaning here; expected one of {', '.join(known)}")
    return name


def paint(name: str, use: str) -> str:
    """The CSS color of a meaning; ``use`` is "bar" (solid shapes), "line" or "text"."""
    if name == "plain":
        return "var(--ink, currentColor)"
    if name in _NEUTRALS:
        if use == "text" and name in {"edge", "line"}:
            name = "soft"  # words need more contrast than lines
        return _variable(name, _NEUTRALS[name])
    if name in _RANKS:
        return _variable(name, _RANKS[name])
    return _variable(name + _USES[use], _MEANINGS[name][list(_USES).index(use)])


def _variable(name: str, colours: str) -> str:
    return f"var(--{name}, light-dark({colours.replace(' ', ', ')}))"


def printed(svg: str) -> str:
    """A drawing with plain colors for a light ground, for programs that know no style sheets."""
    svg = re.sub(r"var\(--[\w-]+, light-dark\((#\w+), #\w+\)\)", r"\1", svg)
    return svg.replace("var(--ink, currentColor)", _NEUTRALS["plain"])


# Widths of characters in thousandths of the size, as the common sans faces have them. Layout uses these
# and no font file, so that a figure comes out the same on every machine.
_WIDTHS = [  # the width, the characters of the plain face that have it, and those of the bold one
    (222, "'ijl’|", ""),
    (278, "ftI!,./:;[\\] \u00a0·", "ijlI,./\\ \u00a0·’|'"),
    (333, 'r()-`“”{}"', "ft!()-:;[]`"),
    (389, "", "r*{}°"),
    (400, "*°", ""),
    (500, "cksvxyzJ^", ""),
    (556, "≈≤≥", 'aceksvxyzJ"“”≈≤≥'),
    (584, "+<=>~×−µα", "+<=>^~×−µ"),
    (611, "FTZ", "bdghnopquFLTZ?α"),
    (667, "ABEKPSVXY&φ", "EPSVXY"),
    (722, "wCDHNRU∞", "ABCDHKNRU&∞φ"),
    (778, "GOQ", "wGOQ"),
    (833, "mM½", "M½"),
    (889, "%", "m%"),
    (944, "W", "W"),
    (1000, "", "—→…@"),
    (1015, "—→…@", ""),
]
_WIDTH = [{c: row[0] / 1000 for row in _WIDTHS for c in row[face]} for face in (1, 2)]
_KEPT = re.compile(r"&lt;(/?)(b|i|sub)&gt;")
_TAG = re.compile(r"<(/?)(b|i|sub)>")


def pieces(text: str) -> list[tuple[str, frozenset]]:
    """A label as (text, tags) pieces; tags are <b>, <i> and <sub>, and nothing else is markup."""
    out, tags, at = [], set(), 0
    for found in _TAG.finditer(text):
        if found.start() > at:
            out.append((text[at : found.start()], frozenset(tags)))
        (tags.discard if found[1] else tags.add)(found[2])
        at = found.end()
    if text[at:]:
        out.append((text[at:], frozenset(tags)))
    return [(html.unescape(part), t) for part, t in out]


def bare(text: str) -> str:
    """A label without its markup."""
    return "".join(part for part, _ in pieces(text))


def safe(text: str) -> str:
    """A label as HTML: its markup stays, everything else is escaped."""
    return _KEPT.sub(r"<\1\2>", escape(html.unescape(text)))


def width(text: str, bold: bool = False, size: float = SIZE) -> float:
    """The width of a label in pixels."""
    total = 0.0
    for part, tags in pieces(text):
        table = _WIDTH[bold or "b" in tags]
        total += sum(table.get(c, 0.556) for c in part) * size * (0.8 if "sub" in tags else 1)
    return total


def fold(text: str, room: float, bold: bool = False, size: float = SIZE) -> list[str]:
    """A label broken at spaces into lines no wider than ``room``, as even as they come.

    A word wider than the room stays whole; markup must not span a break.
    """
    words = [w for w in text.split(" ") if w]
    lines = _greedy(words, room, bold, size)
    tight = room
    while len(lines) > 1 and tight > 20:  # even lines read better than one long and one short
        tight -= 4
        narrower = _greedy(words, tight, bold, size)
        if len(narrower) > len(lines) or max(width(x, bold, size) for x in narrower) > room:
            break
        lines = narrower
    return lines or [""]


def _greedy(words, room, bold, size) -> list[str]:
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, bold, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def number(v: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    text = f"{v:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
