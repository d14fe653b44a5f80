"""The rows of evidence: what an engine counted, and the expression of the library that has to equal it.

An engine's file in ``data`` has a head (what was run, with which versions, when) and families. A family is a table of
cases: the inputs of each, and what the engine counted. Its `formula` is an expression, as in the ledger, over the
inputs; its value is compared with the engine's, exactly unless the family states a tolerance. Counts of different kinds
(all-gather, reduce-scatter, all-reduce) are different families: a sum of kinds can be right by accident.

Where an engine does something else than the formula of a chapter says, the family names a deviation. Then `formula` is
what the engine does, by the book's other formulas, and `plain` is the formula that it deviates from; both are checked.
"""

from __future__ import annotations

import datetime
import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from gpuscale.ledger import expressions

DATA = Path(__file__).parent / "data"
# How a family's numbers come about, each with an example.
LABELS = {
    "stated": ("the program states it", "an all-gather that the program calls"),
    "derived": (
        "automatic differentiation adds it to what the program states",
        "the reduce-scatter of this all-gather in the backward pass",
    ),
    "automatic": ("the engine chooses it", "an all-reduce that XLA inserts when it splits a program"),
    "ours": ("the program runs a schedule of the book", "the book's ring, run over gloo with send and recv"),
    "replayed": ("our tests compute it from the order that PyTorch chose", "the bubble of that order"),
}
APART = ("ours", "replayed")  # not counted by an engine that acts of its own accord
GROUPS = ("communication", "memory", "FLOPs", "order")  # what deviations concern


class EvidenceError(ValueError):
    """A row that cannot be read; the message names its file and family, and says what was expected."""


@dataclass(frozen=True)
class Deviation:
    """Something that engines do differently from a formula: its title, what happens, and where the book derives it."""

    id: str
    group: str
    title: str
    told: str
    derived: str


@dataclass(frozen=True)
class Family:
    """Cases that one expression covers. A row has the inputs, in the order of `inputs`, and the engine's count last."""

    id: str
    engine: str
    what: str
    counted: str
    unit: str
    label: str
    chapter: str
    formula: str
    inputs: tuple[str, ...]
    rows: tuple[tuple, ...]
    tolerance: float = 0.0
    deviation: str = ""
    plain: str = ""
    fixed: tuple[tuple[str, object], ...] = ()

    def given(self, row: tuple) -> dict[str, object]:
        """The inputs of a row by their names, and those that are the same in all rows."""
        return dict(self.fixed) | dict(zip(self.inputs, row[:-1], strict=True))

    def ours(self, row: tuple):
        """What the library gives for a row: a number, a table of numbers, or a digest."""
        return self._result(self.formula, row)

    def off(self, row: tuple) -> float:
        """How far the engine is from ours, relative to our largest number; 0 if equal, infinite for another digest."""
        return distance(self.ours(row), row[-1])

    def holds(self, row: tuple) -> bool:
        """Whether the engine equals the expression within the tolerance."""
        return self.off(row) <= self.tolerance

    def deviates(self, row: tuple) -> bool:
        """Whether the engine differs from `plain`, as the named deviation says."""
        return distance(self.by_chapter(row), row[-1]) > self.tolerance

    def by_chapter(self, row: tuple):
        """What the formula gives that the engine deviates from."""
        return self._result(self.plain, row)

    def _result(self, text: str, row: tuple):
        names = {"digest": digest, "schedule": schedule, "tasks": tasks}
        try:
            return expressions.result(text, names | self.given(row))
        except expressions.ExpressionError as error:
            raise EvidenceError(f"{self.engine}.toml, {self.id}: {error}") from error


@dataclass(frozen=True)
class Engine:
    """A program that nobody here wrote: what it is in a few words, what was run, with which versions, on which day."""

    name: str
    title: str
    short: str
    about: str
    versions: str
    date: datetime.date
    families: tuple[Family, ...]


@dataclass(frozen=True)
class Totals:
    """Cases that engines counted themselves: how many equal a formula, and how many deviate for a named reason.

    `ours`: runs of schedules of the book. `replayed`: results that our tests compute from an engine's order.
    """

    equal: int
    deviate: int
    ours: int
    replayed: int

    @property
    def cases(self) -> int:
        return self.equal + self.deviate


def totals(some: Iterable[Family]) -> Totals:
    """How many cases families have, by what they are evidence of."""
    counts = Counter()
    for one in some:
        kind = one.label if one.label in APART else "deviate" if one.deviation else "equal"
        counts[kind] += len(one.rows)
    return Totals(**{field.name: counts[field.name] for field in fields(Totals)})


def distance(ours, theirs) -> float:
    """The largest difference of two numbers or tables of one shape, relative to the largest number of ours."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return 0.0 if ours == theirs else float("inf")
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if a.shape != b.shape:
        return float("inf")
    scale = np.abs(a).max(initial=0.0) or 1.0
    return float(np.abs(a - b).max(initial=0.0) / scale)


def digest(things) -> str:
    """Twelve hexadecimal digits that stand for a long table, such as every slot of a schedule."""
    return hashlib.sha256(repr(things).encode()).hexdigest()[:12]


def tasks(run) -> list:
    """The tasks of each rank of a pipeline's timetable, in order."""
    return [run.tasks(rank) for rank in range(run.ranks)]


def schedule(name: str, *inputs):
    """A schedule of a collective by its file and function, such as "ring.all_reduce"."""
    file, _, made = name.partition(".")
    return getattr(getattr(expressions.library()["schedules"].collectives, file), made)(*inputs)


@cache
def engines() -> dict[str, Engine]:
    """Every engine by its name, in the order of their files' `place`."""
    read = [tomllib.loads(path.read_text(encoding="utf-8")) | {"name": path.stem} for path in DATA.glob("*.toml")]
    heads = sorted((one for one in read if "families" in one), key=lambda one: one["place"])
    return {one["name"]: _engine(one) for one in heads}


def _engine(data: dict) -> Engine:
    head = {name: data[name] for name in ("name", "title", "short", "about", "versions", "date")}
    return Engine(**head, families=tuple(_family(one, data["name"]) for one in data["families"]))


def _family(data: dict, engine: str) -> Family:
    where = f"{engine}.toml, {data.get('id', 'a family without id')}"
    known = {field.name for field in fields(Family)} - {"engine"}
    if strange := set(data) - known:
        raise EvidenceError(f"{where}: {', '.join(sorted(strange))} is none of {', '.join(sorted(known))}")
    if data["label"] not in LABELS:
        raise EvidenceError(f"{where}: label {data['label']!r}; one of {', '.join(LABELS)} was expected")
    if bool(data.get("deviation")) != bool(data.get("plain")):
        raise EvidenceError(f"{where}: a deviation needs the formula that the engine deviates from (plain)")
    rows = tuple(tuple(row) for row in data["rows"])
    if wrong := [row for row in rows if len(row) != len(data["inputs"]) + 1]:
        raise EvidenceError(
            f"{where}: row {list(wrong[0])} must have an entry for each of {data['inputs']}, and the count"
        )
    fixed = tuple(data.get("fixed", {}).items())
    return Family(**data | {"engine": engine, "inputs": tuple(data["inputs"]), "rows": rows, "fixed": fixed})


def engine(name: str) -> Engine:
    """An engine by its name. Raises KeyError with the names there are."""
    if name not in engines():
        raise KeyError(f"there is no engine {name!r}; there are {', '.join(engines())}")
    return engines()[name]


def families() -> Iterator[Family]:
    """All families of all engines."""
    for one in engines().values():
        yield from one.families


def family(key: str) -> Family:
    """A family by its id. Raises KeyError."""
    found = {one.id: one for one in families()}
    if key not in found:
        raise KeyError(f"there is no family {key!r} of evidence")
    return found[key]


@cache
def deviations() -> dict[str, Deviation]:
    """What engines do differently from a formula, by id."""
    data = tomllib.loads((DATA / "deviations.toml").read_text(encoding="utf-8"))
    if wrong := [key for key, one in data.items() if one["group"] not in GROUPS]:
        raise EvidenceError(f"deviations.toml, {wrong[0]}: the group is none of {', '.join(GROUPS)}")
    return {key: Deviation(id=key, **one) for key, one in data.items()}


def deviation(key: str) -> Deviation:
    """A deviation by its id. Raises KeyError."""
    return deviations()[key]
