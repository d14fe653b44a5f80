"""How relations are written down: a function of a part, of a row, of two rows that follow, or of nothing.

Each decorator adds to ``CHECKS``; what the function returns has to be true, and its docstring says it in words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isclose

from specs.watching import Check

from gpuscale import specs
from gpuscale.specs.number import MISSING
from gpuscale.units import SCALE

CHECKS: list[Check] = []


def check(holds: Callable[[], bool]) -> Callable[[], bool]:
    """A relation between numbers that the function looks up."""
    CHECKS.append(Check(holds.__doc__, holds))
    return holds


def each(kind: str, fields: str, but: str = ""):
    """A relation in each part of a kind that has all these fields, but for some."""

    def add(holds: Callable[[specs.Part], bool]):
        for part in specs.parts(kind).values():
            if all(name in part for name in fields.split()) and part.key not in but.split():
                words = f"{part.key}: {holds.__doc__} ({fields})"
                CHECKS.append(Check(words, partial(_of_part, holds, kind, part.key)))
        return holds

    return add


def of(kind: str, *keys: str, also: str = ""):
    """A relation in these parts; ``also`` adds to its words."""

    def add(holds: Callable[[specs.Part], bool]):
        for key in keys:
            CHECKS.append(Check(f"{key}: {holds.__doc__}{also}", partial(_of_part, holds, kind, key)))
        return holds

    return add


def _of_part(holds: Callable[[specs.Part], bool], kind: str, key: str) -> bool:
    return holds(specs.part(kind, key))


class Line:
    """A row of a measured table: ``line.time`` is a cell in base units, None where it is missing."""

    def __init__(self, key: str, i: int):
        self._key, self._i = key, i

    @property
    def _table(self) -> specs.MeasuredTable:
        return specs.measured(self._key)

    def __getattr__(self, name: str):
        column, cell = self._table.column(name), self._table.printed[self._i][self._table.columns.index(name)]
        return cell if column.unit == "text" else None if cell == MISSING else cell * SCALE[column.unit][0]

    def digit(self, name: str) -> float:
        """A unit of the last digit that is printed, in base units. It does not change with the number."""
        printed = tuple.__getitem__(self._table.printed[self._i], self._table.columns.index(name))
        return 10.0 ** -len(str(printed).partition(".")[2]) * SCALE[self._table.column(name).unit][0]


def lines(key: str) -> list[Line]:
    """The rows of a measured table."""
    return [Line(key, i) for i in range(len(specs.measured(key)))]


def line(key: str, **texts: str) -> Line:
    """The row of a measured table with these texts."""
    (found,) = [one for one in lines(key) if all(getattr(one, name) == text for name, text in texts.items())]
    return found


def rows(key: str, only: Callable[[Line], bool] = lambda r: True):
    """A relation in each row of a measured table, or in those that ``only`` picks."""

    def add(holds: Callable[[Line], bool]):
        for i, one in enumerate(lines(key), 1):
            if only(one):
                CHECKS.append(Check(f"{key}, row {i}: {holds.__doc__}", partial(holds, one)))
        return holds

    return add


def steps(key: str, only: Callable[[Line, Line], bool] = lambda a, b: True):
    """A relation between each row of a measured table and the next."""

    def add(holds: Callable[[Line, Line], bool]):
        found = lines(key)
        for i, (a, b) in enumerate(zip(found, found[1:], strict=False), 1):
            if only(a, b):
                CHECKS.append(Check(f"{key}, rows {i} and {i + 1}: {holds.__doc__}", partial(holds, a, b)))
        return holds

    return add


def near(a: float, b: float, rel: float = 1e-9) -> bool:
    return isclose(a, b, rel_tol=rel)


def other(part: specs.Part, field: str, i: int = 0) -> float:
    """What another source has for a number."""
    return part.spec(field).others[i].base
