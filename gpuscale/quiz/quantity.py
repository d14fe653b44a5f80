"""Typed quantities: a number, or plain arithmetic, and its unit.

Units come from gpuscale.units alone. The page's twin is in widgets/static/grading.js.
"""

from __future__ import annotations

import re

from gpuscale.quiz.grammar import NUMBER, TOKEN, Parser, Unclear, brief, clean_text, finite, value
from gpuscale.units import COUNTS, SCALE, WORDS, base_unit

MORE_COUNTS = (
    "time times step steps hop hops node nodes rank ranks switch switches expert experts stage stages "
    "chip chips microbatch microbatches level levels group groups way instruction instructions "
    "operation operations"
).split()
MANY = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
MANY |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
BARE_UNITS = ("1", "FLOP", "FLOP/B", "USD/h")  # a bare number can mean one thing only
_BITS = re.compile(r"[kKMGTP]?i?b(?:/s|ps)?")
_HEAD = re.compile(rf"(?:{NUMBER}|[-+*/^×() ])*")


def number(text: str, unit: str, expects: str, noun: str = "") -> tuple[float, str]:
    """A typed quantity in base units, and a note ("bits") about how its unit was read.

    ``unit`` is what is asked for, ``expects`` says so in words, ``noun`` is what a count counts.
    Raises Unclear for what is no such quantity.
    """
    clean = re.sub(r"^(?:[A-Za-z_]+ ?(?==))?[=≈~] *", "", clean_text(text))
    if clean.startswith("$"):
        clean = re.sub(r"^\$ *([^ /A-Za-z]*)", r"\1 USD", clean)
    clean = re.sub(r"(?<=[0-9]) ?x ?(?=[0-9])", "*", clean)
    head = _HEAD.match(clean)[0].rstrip(" */×")
    if not head:
        raise Unclear(f"“{brief(clean)}” does not begin with a number; expected {expects}")
    amount = value(Parser(head, (), TOKEN).tree(), {})
    asked = _unit_text(clean[len(head) :])
    if not asked:
        return _bare(amount, clean, unit, expects)
    size, found = _unit(asked, base_unit(unit if unit != "%" else "1"), expects, noun)
    want = "1" if unit == "%" else base_unit(unit)
    if found != want:
        raise Unclear(f"{brief(clean)} is {WORDS[found]}; {WORDS[want]} is asked{_billions(asked, want)}")
    return finite(amount * size), "bits" if _BITS.fullmatch(asked) else ""


def _billions(asked: str, want: str) -> str:
    return " (for billions write 70e9)" if (asked, want) == ("B", "1") else ""


def _bare(amount: float, clean: str, unit: str, expects: str) -> tuple[float, str]:
    if unit == "%" and abs(amount) > 1:
        raise Unclear(f"{brief(clean)} can be a percentage or a share: write 45% or 0.45")
    if amount and unit != "%" and base_unit(unit) not in BARE_UNITS:
        raise Unclear(f"{brief(clean)} has no unit; expected {expects}")
    return amount, ""


def _unit_text(text: str) -> str:
    """The unit as it stands in the table: GB / s, GB per second and GB/sec. are GB/s."""
    text = re.sub(r" *(?:/| per ) *", "/", text.lstrip(" *"))
    text = re.sub(r"/(?:sec|seconds?)(?![A-Za-z])", "/s", re.sub(r"/(?:hr|hours?)(?![A-Za-z])", "/h", text))
    text = text.replace("$", "USD").rstrip(" .")
    return {"/s": "Hz", "percent": "%"}.get(text, text)


def _unit(text: str, want: str, expects: str, noun: str) -> tuple[float, str]:
    """Size and base unit; other capitals are taken where one reading only has the dimension asked for."""
    exact = SCALE.get(text)
    if exact and exact[1] == want:
        return exact
    if text in MORE_COUNTS or text.lower() in _endings(noun.lower()):
        return 1.0, "1"
    near = {v[0]: k for k, v in reversed(SCALE.items()) if k.lower() == text.lower() and v[1] == want}
    if len(near) == 1:
        return next(iter(near)), want
    if exact:
        return exact
    if near:
        raise Unclear(f"“{text}” can be read in two ways: write {' or '.join(sorted(near.values()))}")
    first, _, rest = text.partition(" ")
    if first in MANY and (rest or want == "1"):
        size, found = _unit(rest, want, expects, noun) if rest else (1.0, "1")
        return MANY[first] * size, found
    left, _, right = text.rpartition("/")
    if left and (right in COUNTS or right in MORE_COUNTS):
        return _unit(left, want, expects, noun)
    raise Unclear(f"“{brief(text)}” is no unit known here; expected {expects}")


def _endings(noun: str) -> tuple[str, ...]:
    return (noun, noun.removesuffix("s"), noun.removesuffix("es"))
