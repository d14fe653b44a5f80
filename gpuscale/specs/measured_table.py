"""Measured tables: columns of numbers, each with its unit, basis and source."""

from dataclasses import dataclass
from html import escape

from gpuscale.specs.html import NONE, number_button, plain_table, table_html
from gpuscale.specs.number import MISSING, Spec
from gpuscale.specs.reading import Where, name, quantity, text
from gpuscale.units import SCALE, base_unit

FORM = "{ name, title, unit, basis, source }"


@dataclass(frozen=True)
class Column:
    """A column of a measured table; a text column has the unit "text" and no basis and source."""

    name: str
    title: str
    unit: str
    basis: str = ""
    source: str = ""
    note: str = ""


class MeasuredTable:
    """A published or measured table: ``t["time"]``, or ``t.time``, is a column as an array in base units.

    A column that is named as something every table has, such as "title", is ``t["title"]`` only. ``t.rows``
    are dicts, ``t.row(part="h100_sxm")`` is one of them; text columns are tuples of str, a missing number is
    nan. Raises KeyError for a column it does not have.
    """

    def __init__(self, key, title, columns, cells, note="", as_of="", origin=""):
        head = {"key": key, "title": title, "note": note, "as_of": as_of, "origin": origin}
        self.__dict__.update(head, _columns=tuple(columns), _cells=tuple(map(tuple, cells)))

    kind = "measured"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(c.name for c in self._columns)

    def column(self, name: str) -> Column:
        """Unit, basis and source of a column."""
        return self._columns[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.columns:
            raise KeyError(f"{self.key} has no column {name!r}; it has {', '.join(self.columns)}")
        return self.columns.index(name)

    def __getitem__(self, name: str):
        import numpy as np

        i = self._index(name)
        unit, cells = self._columns[i].unit, [row[i] for row in self._cells]
        if unit == "text":
            return tuple(cells)
        return np.array([float("nan") if c == MISSING else c * SCALE[unit][0] for c in cells])

    def __getattr__(self, name: str):
        if name.startswith("_") or name not in self.columns:
            known = "" if name.startswith("_") else f"; its columns are {', '.join(self.columns)}"
            raise AttributeError(f"a table has no {name!r}{known}")
        return self[name]

    def __setattr__(self, name, value):
        raise AttributeError("tables do not change; load() adds your own")

    def __getstate__(self):
        return dict(self.__dict__)

    def __setstate__(self, state):
        self.__dict__.update(state)

    @property
    def rows(self) -> list[dict]:
        """One dict a row, numbers as floats in base units."""
        columns = [self[n] if self.column(n).unit == "text" else self[n].tolist() for n in self.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def row(self, **equal) -> dict:
        """The one row with these values. Raises KeyError if there is none or more than one."""
        found = [r for r in self.rows if all(r.get(k) == v for k, v in equal.items())]
        if len(found) != 1:
            raise KeyError(f"{self.key} has {len(found)} rows with {equal}; expected one")
        return found[0]

    @property
    def printed(self) -> tuple[tuple, ...]:
        """The cells as the source prints them, in the units of the columns; "-" is a missing number."""
        return self._cells

    def __len__(self) -> int:
        return len(self._cells)

    def __dir__(self):
        return [*super().__dir__(), *self.columns]

    def __repr__(self) -> str:
        shown = [[plain for plain, _ in row] for row in self._shown()]
        return plain_table(self.title, [c.title for c in self._columns], shown)

    def _repr_html_(self) -> str:
        return table_html(self.title, [(c.title, c.unit != "text") for c in self._columns], self._shown())

    def _shown(self) -> list[list[tuple[str, str]]]:
        """Each cell as plain text and as HTML."""
        return [[_measured(*pair) for pair in zip(row, self._columns, strict=True)] for row in self._cells]


def read_table(where: Where, body: dict) -> dict:
    """Columns and rows of a measured table, checked."""
    unknown = set(body) - {"columns", "rows", "note"}
    if unknown:
        raise where.at(field=min(unknown)).wrong("is unknown in a measured table", "columns, rows and note")
    heads, cells = body.get("columns"), body.get("rows")
    if not isinstance(heads, list) or not heads or not isinstance(cells, list) or not cells:
        raise where.wrong("no columns or no rows", f"columns = [{FORM}, ...] and rows")
    columns = [_column(where, head) for head in heads]
    names = [c.name for c in columns]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise where.at(field=twice[0]).wrong("stands for two columns", "one column a name")
    for number, row in enumerate(cells, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise where.wrong(f"row {number} is {row!r}", f"{len(columns)} cells: {', '.join(names)}")
        for column, cell in zip(columns, row, strict=True):
            _cell(where.at(field=f"{column.name}, row {number}"), column, cell)
    return {"columns": columns, "cells": cells, "note": body.get("note", "")}


def _column(where: Where, head) -> Column:
    if not isinstance(head, dict) or not isinstance(head.get("name"), str):
        raise where.at(field="columns").wrong(f"{head!r} is no column", FORM)
    at = where.at(field=head["name"])
    name(at, head["name"])
    needed = ["title", "unit"] + (["basis", "source"] if head.get("unit") != "text" else [])
    for key in needed:
        text(at, head.get(key), key)
    if unknown := set(head) - {"name", "note", *needed}:
        raise at.wrong(f"{min(unknown)!r} is unknown in a column", ", ".join(["name", *needed, "note"]))
    if head["unit"] != "text":
        quantity(at, 1, head["unit"])
    return Column(**head)


def _cell(where: Where, column: Column, cell) -> None:
    if column.unit == "text":
        text(where, cell, "text")
    elif cell != MISSING:
        quantity(where, cell, column.unit, {"zero": True, "unit": base_unit(column.unit)})


def _measured(cell, column: Column) -> tuple[str, str]:
    if column.unit == "text" or cell == MISSING:
        shown = NONE if cell == MISSING else cell
        return shown, escape(shown)
    spec = Spec(column.name, cell, column.unit, column.basis, column.source, column.note)
    return spec.text, number_button(spec)
