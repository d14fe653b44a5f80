"""The font of mathematics: STIX Two Math, as ziamath brings it, cut to the signs of the book."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from importlib.metadata import distribution
from io import BytesIO

from fontTools import subset
from fontTools.ttLib import TTFont

FILE = "mathematics.woff2"
GREEK = "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθικλμνξπρστυφχψωϵϕ"
SIGNS = "−×·⋅÷±≤≥≠≈∼∝≪≫→←⇒∞∑∏√∂⌈⌉⌊⌋…⋯∈⊤⊥′∗µ\u00a0"
PLAIN = "".join(map(chr, range(0x20, 0x7F))) + GREEK + SIGNS


def italic(letter: str) -> str:
    """The letter that a browser takes for a variable of one letter."""
    for first, last, slanted in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("Α", "Ω", 0x1D6E2), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return "ℎ" if letter == "h" else chr(slanted + ord(letter) - ord(first))
    return {"ϵ": "\U0001d716", "ϕ": "\U0001d719"}.get(letter, letter)


def signs() -> set[str]:
    """Every sign that the site can set."""
    return {*PLAIN, *map(italic, PLAIN)}


def whole() -> TTFont:
    """The font as it was made, from the package that brings it."""
    return TTFont(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf"), recalcTimestamp=False)


@cache
def widths() -> dict[str, float]:
    """The width of each sign in em."""
    font = whole()
    names, advances = font.getBestCmap(), font["hmtx"]
    return {sign: advances[names[ord(sign)]][0] / font["head"].unitsPerEm for sign in signs() if ord(sign) in names}


def advance(text: str, slanted: bool = False) -> float:
    """How wide a text is, in em.

    >>> advance("mm") == 2 * advance("m")
    True
    """
    return sum(widths().get(italic(sign) if slanted else sign, 0.5) for sign in text)


@cache
def served() -> bytes:
    """The font as pages load it: the signs of the book with every size of what stretches."""
    options = subset.Options(flavor="woff2", layout_features=[], hinting=False, name_IDs=[0, 13, 14], glyph_names=False)
    font = whole()
    cut = subset.Subsetter(options)
    cut.populate(text="".join(signs()))
    cut.subset(font)
    font.flavor = "woff2"
    out = BytesIO()
    font.save(out)
    return out.getvalue()


def embedded(style: str) -> str:
    """A style sheet with the font in place of its address."""
    return style.replace(FILE, f"data:font/woff2;base64,{b64encode(served()).decode()}")
