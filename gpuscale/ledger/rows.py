"""The rows of the ledger: a published number, the expression that recomputes it, and the verdict that follows.

A verdict is computed from the content of a row. Within 0.2% a published number ``agrees``; within 6% it ``rounds``. A
row may say where the difference comes from: ``approximation`` is an expression for the value that the source offers as
one, ``convention`` for the value under another convention, and ``meant`` for what was printed with its unit corrected.
Everything else ``disagrees``. The row also states its verdict, and a test compares the two.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from gpuscale.ledger import expressions
from gpuscale.units import parse, show

DATA = Path(__file__).parent / "published.toml"
# How far a published number may lie from ours to agree, or to count as rounded.
AGREES, ROUNDS = 0.002, 0.06
FAR = 1000  # the factor beyond which a distance is not worth its digits


class Verdict(NamedTuple):
    """A verdict: its sign, its words alone and after a count, what it means, and its column in a summary."""

    sign: str
    word: str
    one: str
    many: str
    meaning: str
    kind: str


VERDICTS = {
    "agrees": Verdict("✓", "agrees", "agrees", "agree", "within 0.2% of our value", "Agree"),
    "rounds": Verdict("≈", "rounds", "is rounded", "are rounded", "within 6% of our value", "Close"),
    "approximation": Verdict(
        "≈",
        "an approximation",
        "is an approximation",
        "are approximations",
        "further off, and called an approximation or a limit by its source",
        "Close",
    ),
    "convention": Verdict(
        "±",
        "depends on a convention",
        "depends on a convention",
        "depend on a convention",
        "right under another convention for units or for what is counted",
        "Close",
    ),
    "wrong unit": Verdict(
        "✗", "wrong unit", "has the wrong unit", "have the wrong unit", "right once its unit is corrected", "Wrong"
    ),
    "disagrees": Verdict("✗", "disagrees", "disagrees", "disagree", "wrong, or used where it does not hold", "Wrong"),
    "measured": Verdict(
        "∘",
        "measured, not derived",
        "is a measurement",
        "are measurements",
        "a measurement or an estimate, which can only be bounded",
        "Open",
    ),
    "undecided": Verdict(
        "?", "cannot be decided", "cannot be decided", "cannot be decided", "too vague, or not documented", "Open"
    ),
}
WORDING_VERDICTS = VERDICTS.keys() - {"rounds", "wrong unit"}  # those that a statement without a number can have


class LedgerError(ValueError):
    """An incomplete row of the ledger; the message names it and says what is expected."""


class _Row:
    """What all rows have: inputs, ``given`` in the file; a statement also has a reason for its verdict."""

    @cached_property
    def inputs(self) -> dict[str, float]:
        """The inputs of the row, or numbers that it states and that nothing recomputes, in base units."""
        return expressions.inputs(self.given)

    @property
    def reason(self) -> str:
        """The reason for the verdict, in words: the row's own, or those of its first erratum."""
        return fill(self.why, self) or (errata()[self.errata[0]].told if self.errata else "")


@dataclass(frozen=True)
class Claim(_Row):
    """A published number.

    ``published`` is the number as printed with its unit, or ``form`` the printed formula as an expression in the inputs
    ``given``; ``expression`` recomputes it from the library; ``unit`` is that in which both are shown. ``right`` is our
    value in base units as worked out without the library, wherever it is not the published one, and ``off`` how far the
    published value lies from it, as a fraction of ours.
    """

    id: str
    source: str
    place: str
    chapter: str
    says: str
    unit: str
    expression: str
    verdict: str
    published_text: str = ""
    form: str = ""
    given: dict[str, object] = field(default_factory=dict)
    approximation: str = ""
    convention: str = ""
    meant: str = ""
    printed_unit: str = ""  # that of the published value where it is another one, which makes a wrong unit
    right: float | None = None
    off: float | None = None
    why: str = ""
    errata: tuple[str, ...] = ()
    own_numbers: bool = False  # arithmetic on the source's own numbers, without the library
    measured: bool = False  # our value is another measurement
    distance: bool = True  # False for the name or number of a thing, where a relative error means nothing

    @cached_property
    def published(self) -> float:
        """The published value in base units."""
        if self.form:
            return expressions.value(self.form, self.inputs)
        unit = self.printed_unit or self.unit
        return parse(self.published_text, "1" if unit == "count" else unit)

    @cached_property
    def ours(self) -> float:
        """Our value in base units, recomputed by the library."""
        return expressions.value(self.expression, self.inputs)

    @property
    def basis(self) -> str:
        """How our value was found: measured or computed."""
        return "measured" if self.measured else "computed"

    @property
    def error(self) -> float:
        """How far the published value lies from ours, as a fraction of ours."""
        return _apart(self.published, self.ours)

    def found(self) -> str:
        """The verdict that the numbers give."""
        if abs(self.error) <= AGREES:
            return "agrees"
        if self.meant and abs(_apart(expressions.value(self.meant, self.inputs), self.ours)) <= ROUNDS:
            return "wrong unit"
        for name in ("approximation", "convention"):
            text = getattr(self, name)
            if text and abs(_apart(self.published, expressions.value(text, self.inputs))) <= ROUNDS:
                return name
        return "rounds" if abs(self.error) <= ROUNDS else "disagrees"

    @cached_property
    def shown(self) -> tuple[str, str]:
        """The published value and ours for people, with as many digits as tell them apart, seven at most."""
        printed = re.sub(r"[^\d]", "", self.published_text.partition(" ")[0]).lstrip("0")
        least = 4 if self.unit in {"1", "count"} else 3
        for digits in range(min(7, max(least, len(printed))), 8):
            published = show(self.published, self.printed_unit or self.unit, digits=digits, short=True)
            ours = show(self.ours, self.unit, digits=digits, short=True)
            if self.verdict == "agrees" or published != ours:
                break
        return published, ours

    @property
    def distance_text(self) -> str:
        """How far off the published value is: in percent, or as a factor where that says more; empty if it agrees."""
        if self.verdict in {"agrees", "wrong unit"} or not self.distance:
            return ""
        if self.error > FAR:
            return f"more than {show(FAR, 'count')} times our value"
        if self.error > 1.02:
            return f"{show(self.error + 1, '1', short=True)} times our value"
        if -1 < self.error < -0.51:
            return f"our value is {show(1 / (self.error + 1), '1', short=True)} times as large"
        return f"{100 * self.error:+.3g}%".replace("-", "−")

    @property
    def formulas(self) -> tuple[str, ...]:
        """The catalogue's keys of the formulas that recompute it."""
        texts = [self.expression, *(text for text in self.given.values() if isinstance(text, str))]
        read = {name for text in texts for name in expressions.names(text)}
        return tuple(key for name, key in expressions.sweep_names().items() if name in read)


@dataclass(frozen=True)
class Wording(_Row):
    """A published statement without a number: what it says, the verdict, and the place that covers it."""

    id: str
    source: str
    place: str
    says: str
    verdict: str
    covered: str  # "chapter" or "chapter#heading"
    given: dict[str, object] = field(default_factory=dict)
    why: str = ""
    errata: tuple[str, ...] = ()


@dataclass(frozen=True)
class Erratum(_Row):
    """An error or approximation in the sources, in our words, with the place that derives the right value."""

    id: str
    title: str
    text: str
    derivation: str  # "chapter" or "chapter#heading"
    given: dict[str, object] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The text, its numbers computed."""
        return fill(self.text, self)


def fill(text: str, row) -> str:
    """A text whose ``{expression:unit}`` are computed; ``{ours}`` and ``{published}`` need no unit.

    ``{ridge_point(C=C, W=W):FLOP/B,4}`` shows four digits.
    """

    def number(found: re.Match) -> str:
        inside = found[1]
        if inside in {"published", "ours"}:
            return row.shown[inside == "ours"]
        expression, colon, unit = inside.rpartition(":")
        if not colon:
            raise LedgerError(f"{row.id}: {{{inside}}} has no unit; expected {{expression:unit}}")
        unit, _, digits = unit.partition(",")
        known = row.inputs
        if isinstance(row, Claim):
            known = known | {"published": row.published, "ours": row.ours}
        return show(expressions.value(expression, known), unit, digits=int(digits or 3), short=not digits)

    return re.sub(r"\{([^{}]+)\}", number, text)


@cache
def _data() -> dict:
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


_KEYS = {"with": "given", "ours": "expression", "published": "published_text"}  # of the file, where a name differs


def _row(kind: type, entry: dict):
    """One entry of the file. Raises LedgerError for an unknown or missing key."""
    entry = {_KEYS.get(key, key): tuple(v) if isinstance(v, list) else v for key, v in entry.items()}
    known = {one.name: one for one in fields(kind)}
    name = entry.get("id", "a row without id")
    if strange := sorted(entry.keys() - known.keys()):
        raise LedgerError(f"{name}: unknown {', '.join(strange)}; expected {', '.join(known)}")
    try:
        row = kind(**entry)
    except TypeError as error:
        raise LedgerError(f"{name}: {error}") from None
    if row.__class__ is Claim and bool(row.published_text) == bool(row.form):
        raise LedgerError(f"{name}: expected either published or form")
    return row


def _table(kind: type, entries: list[dict]) -> dict:
    rows = [_row(kind, entry) for entry in entries]
    if twice := [name for name, count in Counter(row.id for row in rows).items() if count > 1]:
        raise LedgerError(f"two rows have the id {', '.join(twice)}")
    return {row.id: row for row in rows}


@cache
def claims() -> dict[str, Claim]:
    """All published numbers, by id, in the order of the file."""
    return _table(Claim, _data().get("claim", []))


@cache
def wordings() -> dict[str, Wording]:
    """All published statements without a number, by id."""
    return _table(Wording, _data().get("wording", []))


@cache
def errata() -> dict[str, Erratum]:
    """Errors and approximations in the sources, by id."""
    return _table(Erratum, _data().get("erratum", []))


def findings() -> tuple[Erratum, ...]:
    """The errata that matter most, the first one first."""
    return tuple(errata()[key] for key in _data().get("findings", []))


def claim(key: str) -> Claim:
    """A published number by its id. Raises KeyError for an unknown one."""
    if key not in claims():
        raise KeyError(f"no published number has the id {key!r}; gpuscale.ledger.claims() has {len(claims())}")
    return claims()[key]


def erratum(key: str) -> Erratum:
    """An erratum by its id. Raises KeyError for an unknown one."""
    if key not in errata():
        raise KeyError(f"no erratum has the id {key!r}; known: {', '.join(errata())}")
    return errata()[key]


def _apart(value: float, reference: float) -> float:
    return value / reference - 1 if reference else float(value != 0)
