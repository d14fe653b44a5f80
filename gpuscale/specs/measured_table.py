"""Measured tables: columns of numbers, each with its unit, basis and source."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscale.core.html import Head, Html, aligned, escape
from gpuscale.specs.html import NONE, provenance, specs_table
from gpuscale.specs.number import MISSING
from gpuscale.specs.reading import Where, name, quantity, text
from gpuscale.units import NBSP, SCALE, base_unit, show, spelled

FORM = "{ name, title, unit, basis, source }"
PAIR = ("a", "b", "n")  # columns of a table that says how much is between two ends: it is shown as a matrix


@dataclass(frozen=True)
class Column:
    """A column of a measured table; a text column has the unit "text" and no basis and source.

    ``single`` has the rows, counted from 1, that nothing else in the data confirms.
    """

    name: str
    title: str
    unit: str
    basis: str = ""
    source: str = ""
    note: str = ""
    single: tuple[int, ...] = ()


class MeasuredTable:
    """A published or measured table: ``t["time"]``, or ``t.time``, is a column as an array in base units.

    A column whose name every table already uses, such as "title", is available as ``t["title"]`` only. ``t.rows``
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
        raise AttributeError("tables are read-only; load() adds your own")

    @property
    def rows(self) -> list[dict]:
        """One dict per row, numbers as floats in base units."""
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
        return self.view().text

    def _repr_html_(self) -> str:
        return self.view().html

    def view(self, names: Mapping[str, str] | None = None) -> Html:
        """The table with its numbers as the source prints them, to six digits; the head of a column has their unit and
        tells where they come from. ``names``: what to show for keys of parts, so that a column "part" next to one of
        chips has nothing to add."""
        names = names or {}
        hidden = "part" if names and "chip" in self.columns else ""
        shown = [(i, c) for i, c in enumerate(self._columns) if c.name != hidden]
        rows = [[_shown(row[i], c.unit, names) for i, c in shown] for row in self._cells]
        heads, said = [_head(c) for _, c in shown], [_title(c) for _, c in shown]
        if tuple(self.columns) == PAIR:
            corner, last = heads[-1], said[-1]
            ends, rows = _matrix(rows)
            heads, said = [corner, *(Head(end, "num") for end in ends)], [last, *ends]
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        html = specs_table(self.title, heads, ([*map(escape, row)] for row in rows), note)
        text = [self.title, *aligned([said, *rows])]
        return Html(html, "\n".join(text), stored=True)


def read_table(where: Where, body: dict) -> dict:
    """Columns and rows of a measured table, checked."""
    unknown = set(body) - {"columns", "rows", "note"}
    if unknown:
        raise where.at(field=min(unknown)).wrong("is unknown in a measured table", "columns, rows and note")
    heads, cells = body.get("columns"), body.get("rows")
    if not isinstance(heads, list) or not heads or not isinstance(cells, list) or not cells:
        raise where.wrong("no columns or no rows", f"columns = [{FORM}, ...] and rows")
    columns = [_column(where, head, len(cells)) for head in heads]
    names = [c.name for c in columns]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise where.at(field=twice[0]).wrong("names two columns", "one column per name")
    for number, row in enumerate(cells, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise where.wrong(f"row {number} is {row!r}", f"{len(columns)} cells: {', '.join(names)}")
        for column, cell in zip(columns, row, strict=True):
            _cell(where.at(field=f"{column.name}, row {number}"), column, cell)
    return {"columns": columns, "cells": cells, "note": body.get("note", "")}


def _column(where: Where, head, rows: int) -> Column:
    if not isinstance(head, dict) or not isinstance(head.get("name"), str):
        raise where.at(field="columns").wrong(f"{head!r} is not a column", FORM)
    at = where.at(field=head["name"])
    name(at, head["name"])
    needed = ["title", "unit"] + (["basis", "source"] if head.get("unit") != "text" else [])
    for key in needed:
        text(at, head.get(key), key)
    if unknown := set(head) - {"name", "note", "single", *needed}:
        raise at.wrong(f"{min(unknown)!r} is unknown in a column", ", ".join(["name", *needed, "note", "single"]))
    if head["unit"] != "text":
        quantity(at, 1, head["unit"])
    single, there = head.get("single", []), range(1, rows + 1)
    single = list(there) if single is True else single
    if not isinstance(single, list) or not all(row in there for row in single):
        raise at.wrong(f"single is {single!r}", f"true for the whole column, or a list of rows from 1 to {rows}")
    return Column(**head | {"single": tuple(single)})


def _cell(where: Where, column: Column, cell) -> None:
    if column.unit == "text":
        text(where, cell, "text")
    elif cell != MISSING:
        quantity(where, cell, column.unit, {"zero": True, "unit": base_unit(column.unit)})


def _matrix(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Rows of two ends and what is between them as a matrix: the ends, and a row for each."""
    between = {pair: n for a, b, n in rows for pair in ((a, b), (b, a))}
    ends = sorted({a for a, _ in between}, key=int)
    return ends, [[a, *(between.get((a, b), NONE) for b in ends)] for a in ends]


def _title(column: Column) -> str:
    unit = spelled(column.unit)
    return column.title if unit in {"text", "1", "B", "%"} else f"{column.title}, {unit}"


def _head(column: Column) -> Head:
    if column.unit == "text":
        return Head(escape(column.title))
    printed = "numbers" if column.unit == "1" else f"in {spelled(column.unit)}"
    return Head(provenance(_title(column), printed, column.basis, column.source, column.note), "num")


def _shown(cell, unit: str, names: Mapping[str, str]) -> str:
    """A cell as printed, to six digits; sizes with a whole binary prefix; a short text breaks no line."""
    if cell == MISSING:
        return NONE
    if unit == "text":
        return names.get(cell) or (cell if len(cell) > 20 else cell.replace(" ", NBSP))
    if unit == "%":
        return f"{cell:g}%"
    if unit != "B":
        return f"{float(f'{cell:.6g}'):,.10g}"
    whole = (u for u in ("GiB", "MiB", "KiB") if (cell / SCALE[u][0]).is_integer() and cell < 1024 * SCALE[u][0])
    return show(cell, next(whole, "B"), short=True, digits=4)
