"""The drawing of a stage with the colors and sizes of its style sheets, for programs that know no style sheets.

It covers what our own sheets use: nested rules, variables, ``light-dark`` (the light one), ``color-mix``, ``oklch`` and
``calc``. A rule that holds for some widths, themes or media alone is left out, and so is one about a pointer.
"""

from __future__ import annotations

import functools
import math
import re
from xml.etree import ElementTree

from bs4 import BeautifulSoup
from soupsieve import SelectorSyntaxError

from gpuscale.widgets import assets

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_PART = re.compile(r"([^{};]*)([{};])")
_TOP_COMMA = re.compile(r",(?![^(]*\))")
_CALL = re.compile(r"([a-z-]+)\(([^()]*)\)")
_INHERITED = (
    "fill fill-opacity stroke stroke-width stroke-opacity stroke-dasharray "
    "font-size font-weight font-style text-anchor dominant-baseline paint-order"
).split()
_OWN = ["opacity", "rx"]
_INITIAL = {"fill": "#000", "stroke": "none", "font-size": "12.5"}


def painted(svg: str, figure: str) -> str:
    """A drawing of the figure of this name (as in ``assets.FIGURES``) with attributes in place of classes."""
    soup = BeautifulSoup(f'<figure class="card stage"><div class="frames">{svg}</div></figure>', "html.parser")
    said: dict[int, list] = {}
    for order, (selector, weight, name, value) in enumerate(_rules(figure)):
        for tag in soup.select(selector):
            said.setdefault(id(tag), []).append((weight, order, name, value))
    root = ElementTree.fromstring(svg)
    above: dict[int, dict[str, str]] = {}
    drawn = iter(root.iter())
    for tag in soup.find_all(True):
        style = dict(above.get(id(tag.parent), _INITIAL))
        inside = tag.name == "svg" or id(tag.parent) in above and tag.find_parent("svg")
        given = {name: value for name, value in tag.attrs.items() if name in (*_INHERITED, *_OWN)} if inside else {}
        own = [(name, value) for *_, name, value in sorted(said.get(id(tag), []))]
        own += [
            (name, value) for name, _, value in (one.partition(":") for one in tag.get("style", "").split(";")) if value
        ]
        style |= {name.strip(): value.strip() for name, value in own if name.strip().startswith("--")}
        found = given | {}
        for name, value in own:
            if name in (*_INHERITED, *_OWN) and (told := settled(value, style)) is not None:
                found[name] = told.removesuffix("px")
        style |= {name: value for name, value in found.items() if name in _INHERITED}
        above[id(tag)] = style
        if inside:
            element = next(drawn)
            for name in _INHERITED:
                if name in style:
                    element.set(name, style[name])
            for name in set(_OWN) & set(found):
                element.set(name, found[name])
    return ElementTree.tostring(root, encoding="unicode")


@functools.cache
def _rules(figure: str) -> list[tuple[str, int, str, str]]:
    """Selector, weight, name and value of each declaration of the style sheets of a figure."""
    out = []
    for sheet in ("gpuscale", "stage", figure):
        outer: list[tuple[str, int] | None] = [("", 0)]
        for text, end in _PART.findall(_COMMENT.sub("", assets.style(sheet))):
            name, colon, value = text.strip().partition(":")
            if end == "{":
                outer.append(_within(outer[-1], text.strip()))
                continue
            if colon and outer[-1] and (name.startswith("--") or name in (*_INHERITED, *_OWN)):
                out.append((*outer[-1], name, value.removesuffix("!important").strip()))
            if end == "}":
                outer.pop()
    return [rule for rule in out if _known(rule[0])]


def _within(outer: tuple[str, int] | None, selector: str) -> tuple[str, int] | None:
    """The selector of a rule inside another and its weight; none for one that holds under a condition."""
    if outer is None or selector.startswith("@"):
        return None
    around, weight = outer
    weight += max(_weight(one) for one in _TOP_COMMA.split(selector))
    if "&" in selector:
        return selector.replace("&", f":is({around})"), weight
    return f":is({around}) :is({selector})" if around else selector, weight


def _weight(selector: str) -> int:
    """How many classes, attributes and states it names, and elements as tenths: all rules of our sheets have one id."""
    heaviest = re.sub(r":is\(([^()]*)\)", lambda found: max(found[1].split(","), key=_weight), selector)
    classes = re.findall(r"\.[a-z]|\[|:(?!is|not|has)", heaviest, re.I)
    return 10 * len(classes) + len(re.findall(r"(?:^|[\s>+~(])[a-z]", heaviest))


@functools.cache
def _known(selector: str) -> bool:
    try:
        BeautifulSoup("", "html.parser").select(selector)
    except SelectorSyntaxError:
        return False
    return True


def settled(value: str, style: dict[str, str]) -> str | None:
    """A value without functions; none if a variable that it needs is unset."""
    try:
        while found := _CALL.search(value):
            if found[1] == "url":
                return value
            value = value[: found.start()] + _called(found[1], found[2], style) + value[found.end() :]
    except KeyError:
        return None
    return value


def _called(name: str, inside: str, style: dict[str, str]) -> str:
    """The value of a function whose arguments have none."""
    parts = [part.strip() for part in inside.split(",")]
    if name == "var":
        value = style[parts[0]] if parts[0] in style or len(parts) == 1 else ", ".join(parts[1:])
        if (told := settled(value, style)) is None:
            raise KeyError(parts[0])
        return told
    if name == "light-dark":
        return parts[0]
    if name == "calc":
        return _calculated(inside)
    if name == "oklch":
        light, chroma, hue = (float(part) for part in inside.split())
        angle = math.radians(hue)
        return _hex(_from_oklab((light, chroma * math.cos(angle), chroma * math.sin(angle))), 1)
    if name == "color-mix":
        return _mixed(*parts)
    raise ValueError(
        f"style sheet: the function {name!r} is unknown; expected var, light-dark, calc, oklch or color-mix"
    )


def _calculated(text: str) -> str:
    """A sum of products, with a percent sign if it has one."""
    total = 0.0
    for term in re.findall(r"[+-]?[^+-]+", text.replace(" ", "").replace("%", "")):
        total += math.prod(float(factor) for factor in term.split("*"))
    return f"{total:g}{'%' if '%' in text else ''}"


def _mixed(space: str, one: str, other: str) -> str:
    """Two colors, mixed as CSS does: weighed by their opacity."""
    (a, share), (b, rest) = (_portion(one), _portion(other))
    share = share if share is not None else 1 - (0.5 if rest is None else rest)
    there, back = (_to_oklab, _from_oklab) if space == "in oklab" else (lambda c: c, lambda c: c)
    (first, x), (second, y) = (_rgba(a), _rgba(b))
    alpha = share * x + (1 - share) * y
    pairs = zip(there(first), there(second), strict=True)
    return _hex(back(tuple((share * x * p + (1 - share) * y * q) / (alpha or 1) for p, q in pairs)), alpha)


def _portion(text: str) -> tuple[str, float | None]:
    color, _, percent = text.partition(" ")
    return color, float(percent.rstrip("%")) / 100 if percent else None


def _rgba(text: str) -> tuple[tuple[float, ...], float]:
    digits = text.removeprefix("#")
    if len(digits) < 6:
        digits = "".join(2 * digit for digit in digits)
    red, green, blue, *alpha = (int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2))
    return (red, green, blue), alpha[0] if alpha else 1.0


def _hex(color: tuple[float, ...], alpha: float) -> str:
    return "#" + "".join(f"{round(255 * min(1, max(0, part))):02x}" for part in (*color, alpha))


# https://bottosson.github.io/posts/oklab
_LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
_BACK_LMS = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
_BACK_RGB = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


def _times(matrix, vector) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def _to_oklab(color: tuple[float, ...]) -> tuple[float, ...]:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return _times(_LAB, [math.cbrt(part) for part in _times(_LMS, linear)])


def _from_oklab(color: tuple[float, ...]) -> tuple[float, ...]:
    linear = _times(_BACK_RGB, [part**3 for part in _times(_BACK_LMS, color)])
    return tuple(12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in linear)
