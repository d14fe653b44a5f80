"""The data under watch: what a check reads of them, and whether it still holds when a number changes.

While ``watched()`` is open, the parts and tables of the data note which of their numbers are read, and give changed
values on request; nothing is written. A fact is a number with its copies: places of the data that say the same and cite
the same source, which one slip would change together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from gpuscale import specs
from gpuscale.network import known
from gpuscale.specs.number import MISSING, Spec
from gpuscale.specs.reading import KINDS
from gpuscale.units import SCALE


class Number(NamedTuple):
    """A place of the data. ``at`` is a row of a measured table, or a place among the ``others`` of a number."""

    kind: str
    key: str
    field: str
    at: int | None = None

    def __str__(self) -> str:
        what = "row" if self.kind == "measured" else "others"
        return f"{self.kind} {self.key}.{self.field}" + (f", {what} {self.at + 1}" if self.at is not None else "")


class Stated(NamedTuple):
    """The content there: the value in base units, the source, and whether it is marked as single."""

    value: float
    source: str
    single: bool


class Check(NamedTuple):
    """What has to hold, in words, and the function that says whether it does."""

    words: str
    holds: Callable[[], bool]


class Watch:
    """What has been read, and the factors by which numbers are changed."""

    def __init__(self):
        self.read: set[Number] = set()
        self.factors: Mapping[Number, float] = {}

    def reads(self, check: Check) -> set[Number]:
        """The numbers that a check reads; none if it does not hold, for then it can object to nothing."""
        self.read.clear()
        return set(self.read) if _holds(check) else set()

    def objects(self, check: Check, factors: Mapping[Number, float]) -> bool:
        """Whether a check that holds fails, or refuses, once numbers are multiplied by their factors."""
        self.factors = factors
        try:
            return not _holds(check)
        except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError):
            return True
        finally:
            self.factors = {}


def _holds(check: Check) -> bool:
    known._built.cache_clear()  # it keeps what it has built of other numbers
    return bool(check.holds())


class _Numbers(dict):
    """The numbers of a part, each with its place: a chip has some from its compute capability."""

    def __init__(self, watch: Watch, numbers: Mapping[str, Spec], places: Mapping[str, Number]):
        super().__init__(numbers)
        self.watch, self.places = watch, places

    def __getitem__(self, name: str) -> Spec:
        spec, home = super().__getitem__(name), self.places[name]
        places = [home, *(home._replace(at=i) for i in range(len(spec.others)))]
        self.watch.read.update(places)
        mine, *theirs = (self.watch.factors.get(place, 1) for place in places)
        if mine == 1 and set(theirs) <= {1}:
            return spec
        others = (replace(one, value=one.value * by) for one, by in zip(spec.others, theirs, strict=True))
        return replace(spec, value=spec.value * mine, others=tuple(others))


class _Cells(tuple):
    """The cells of a row of a measured table, each with its place."""

    watch: Watch
    places: tuple[Number, ...]

    def __getitem__(self, i):
        cell, place = super().__getitem__(i), self.places[i]
        self.watch.read.add(place)
        return cell * self.watch.factors[place] if place in self.watch.factors else cell

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def _parts() -> list[specs.Part]:
    return [part for kind in KINDS if kind != "measured" for part in specs.parts(kind).values()]


def _places(part: specs.Part) -> dict[str, Number]:
    found = {name: Number(part.kind, part.key, name) for name in part.fields}
    if part.kind == "chip" and "compute_capability" in part:
        lent = specs.capability("cc_" + part.compute_capability.replace(".", "_"))
        shared = (name for name in lent.fields if lent.specs[name] is part.specs[name])
        found |= {name: Number("capability", lent.key, name) for name in shared}
    return found


@contextmanager
def watched() -> Iterator[Watch]:
    """The data note what is read of them, until the block ends."""
    watch = Watch()
    numbers = [(part, part.specs, _places(part)) for part in _parts()]
    cells = [(table, table.printed) for table in specs.parts("measured").values()]
    try:
        for part, own, places in numbers:
            object.__setattr__(part, "specs", MappingProxyType(_Numbers(watch, own, places)))
        for table, rows in cells:
            table.__dict__["_cells"] = tuple(_line(watch, table, row, i) for i, row in enumerate(rows))
        yield watch
    finally:
        for part, own, _ in numbers:
            object.__setattr__(part, "specs", own)
        for table, rows in cells:
            table.__dict__["_cells"] = rows
        known._built.cache_clear()


def _line(watch: Watch, table: specs.MeasuredTable, row: tuple, i: int) -> _Cells:
    line = _Cells(row)
    line.watch = watch
    line.places = tuple(Number("measured", table.key, name, i) for name in table.columns)
    return line


def numbers() -> dict[Number, Stated]:
    """Every number of the data but the zeros, which no factor changes."""
    found = {}
    for part in _parts():
        for name, home in _places(part).items():
            if (home.kind, home.key) == (part.kind, part.key):
                spec = part.specs[name]
                found[home] = Stated(spec.base, spec.source, spec.single)
                for i, one in enumerate(spec.others):
                    found[home._replace(at=i)] = Stated(one.base, one.source, one.single)
    for table in specs.parts("measured").values():
        for place, column in enumerate(map(table.column, table.columns)):
            for i, row in enumerate(table.printed if column.unit != "text" else ()):
                if row[place] != MISSING:
                    stated = Stated(row[place] * SCALE[column.unit][0], column.source, i + 1 in column.single)
                    found[Number("measured", table.key, column.name, i)] = stated
    return {number: stated for number, stated in found.items() if stated.value}


def source_keys(source: str) -> set[str]:
    """The keys of the bibliography that a source names."""
    return {one.partition(",")[0].strip() for one in source.split(";")}


def facts(pairs: Iterable[tuple[Number, Number]]) -> list[tuple[Number, ...]]:
    """All numbers in groups of copies: pairs that say the same and cite the same source are of one group."""
    stated = numbers()
    group = {number: {number} for number in stated}
    for a, b in pairs:
        if source_keys(stated[a].source) & source_keys(stated[b].source):
            joined = group[a] | group[b]
            group |= dict.fromkeys(joined, joined)
    return sorted({tuple(sorted(members, key=str)) for members in group.values()}, key=str)


def readers(watch: Watch, checks: Iterable[Check]) -> dict[Number, list[Check]]:
    """The checks that read a number, for each that is read."""
    found = defaultdict(list)
    for check in checks:
        for number in watch.reads(check):
            found[number].append(check)
    return found


def objections(
    watch: Watch, fact: Iterable[Number], by: Mapping[Number, list[Check]], factor: float
) -> Iterator[Check]:
    """The checks that object when all numbers of a fact are multiplied by a factor."""
    fact = list(fact)
    asked = {id(check): check for number in fact for check in by.get(number, ())}
    return (check for check in asked.values() if watch.objects(check, dict.fromkeys(fact, factor)))


def vouched(watch: Watch, fact: Iterable[Number], by: Mapping[Number, list[Check]]) -> bool:
    """Whether something objects to a fact that is doubled, and something to one that is halved."""
    return all(any(True for _ in objections(watch, fact, by, factor)) for factor in (2, 0.5))
