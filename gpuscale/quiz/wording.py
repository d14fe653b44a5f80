"""The text of questions: plain sentences with `code`, *emphasis*, **strong**, $TeX$ and {placeholders}.

``{V}`` is the given value of V as ``units.show`` writes it; ``{V:GiB}`` in that unit, ``{V:4}`` with four
digits, ``{V:GiB,4}`` both, ``{V:count}`` a whole number; ``{V:symbol}`` and ``$V$`` are the symbol. Counts
are exact.
"""

import html as _html
import re
from collections.abc import Mapping
from functools import cache

from gpuscale.core.html import escape
from gpuscale.core.latex import span
from gpuscale.symbols import quantities
from gpuscale.units import SCALE, UnitError, parse, show

_PARTS = re.compile(r"`([^`]+)`|\$([^$]+)\$|\{([A-Za-z]\w*)(?::([^{}]*))?\}|([^`${]+|[`${])")


class TextError(ValueError):
    """A text with an unfilled placeholder, or with stray marks."""


def _quantity(name: str):
    known = quantities().get(name)
    if known is None:
        raise TextError(f"{{{name}}} is not a quantity of the book; see gpuscale/symbols")
    return known


def shown(name: str, value: float, form: str = "") -> str:
    """A given value as the reader sees it. ``form`` is a unit, digits, "unit,digits" or "count"."""
    unit, _, digits = (f",{form}" if form.isdigit() else form).partition(",")
    own = _quantity(name).unit
    if unit not in ("", "%", "count") and (unit not in SCALE or SCALE[unit][1] != own):
        raise TextError(f"{{{name}:{form}}}: {unit!r} is not a unit for {name}, which is in {own}")
    if digits and not digits.isdigit():
        raise TextError(f"{{{name}:{form}}}: expected a number of digits after the comma")
    if not unit and own == "1" and float(value).is_integer():
        return _in_words(value) or show(value, "count")
    return show(value, unit or own, short=True, digits=int(digits or 3))


def _in_words(count: float) -> str:
    """A large round count as people say it: 15 trillion; "" where it has more than four digits."""
    for word, size in (("trillion", 1e12), ("billion", 1e9)):
        short = f"{count / size:.4g}"
        if 1 <= float(short) < 1000 and float(short) * size == count:
            return f"{short} {word}"
    return ""


def placeholders(text: str) -> list[tuple[str, str]]:
    """The (name, form) pairs of a text whose values the reader sees."""
    return [(m[3], m[4] or "") for m in _PARTS.finditer(text) if m[3] and m[4] != "symbol"]


def names(text: str, quantity) -> bool:
    """Whether a text has the symbol or the name of a quantity."""
    symbol = f"${quantity.tex}$", f"{{{quantity.name}:symbol}}"
    return any(mark in text for mark in symbol) or bool(re.search(rf"\b{quantity.name}\b", text))


def as_seen(text: str, given: Mapping[str, float]) -> dict[str, float]:
    """The given values as they can be read from the text: rounded to the digits that it shows."""
    return {name: as_read(name, float(given[name]), form) for name, form in placeholders(text)}


@cache
def as_read(name: str, value: float, form: str = "") -> float:
    """A given value as it can be read from the form in which a text shows it."""
    words = shown(name, value, form)
    try:
        return parse(words, "1" if "%" in words else _quantity(name).unit)
    except UnitError:
        return value


def render(text: str, given: Mapping[str, float], tex: bool = True) -> str:
    """A text as HTML; for a value that is None it has a mark such as ⟦V:4⟧. Raises TextError for an unfilled
    placeholder, or for TeX where ``tex`` is false."""
    out = []
    for code, math, name, form, plain in _PARTS.findall(text):
        if code:
            out.append(_literal(f"<code>{escape(code)}</code>"))
        elif math:
            out.append(_maths(math, tex))
        elif name:
            out.append(_filled(name, form, given))
        else:
            out.append(escape(plain))
    joined = re.sub(r"\*\*(?=\S)([^*]+)\*\*", r"<b>\1</b>", "".join(out))
    return re.sub(r"\*(?=\S)([^*]+)\*", r"<i>\1</i>", joined)


def _maths(math: str, tex: bool) -> str:
    """A lone symbol as HTML, which reads well anywhere; other TeX as TeX, which the book sets when it is built."""
    if lone := _symbol(math):
        return lone
    if not tex:
        raise TextError(f"${math}$: feedback is drawn without TeX; name symbols one by one, as in $W$")
    return _literal(span(math))


def _symbol(math: str) -> str:
    """A symbol of the book, or one such as $m_\\mathrm{then}$ that a question spells out, as HTML; "" for other TeX."""
    known = next((q.html for q in quantities().values() if q.tex == math), "")
    spelled = re.fullmatch(r"([A-Za-z])_\\mathrm\{(\w+)\}", math)
    return known or (f"<i>{spelled[1]}</i><sub>{spelled[2]}</sub>" if spelled else "")


def _literal(html: str) -> str:
    """Code and TeX keep their asterisks, which are not emphasis."""
    return html.replace("*", "&#42;")


def _filled(name: str, form: str, given: Mapping[str, float]) -> str:
    if form == "symbol":
        return _quantity(name).html
    if name not in given:
        raise TextError(f"{{{name}}} is not given; given are {', '.join(given) or 'no values'}")
    return f"⟦{name}:{form}⟧" if given[name] is None else escape(shown(name, given[name], form))


def plain(text: str, given: Mapping[str, float]) -> str:
    """A text without marks, for a terminal: symbols as they are typed, other TeX and code as they stand."""
    code = re.sub(r"\$([^$]+)\$", lambda m: m[0] if _symbol(m[1]) else f"`{m[1]}`", text)
    return strip(render(code, given))


def strip(html: str) -> str:
    """HTML as plain text."""
    return _html.unescape(re.sub(r"<[^>]+>", "", html.replace("<sub>", "_"))).replace("\u00a0", " ")
