"""Tables of numbers: measured ones with a unit and a source for each column, and parts side by side.

On the page every number is a button whose tip shows the value as printed, its basis and its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape

from gpuscale.spec_io import MISSING, Spec, Where, amount, known_fields, name, quantity, text
from gpuscale.units import SCALE, base_unit

NONE = "–"
FORM = "{ name, title, unit, basis, source }"


class View:
    """HTML with a plain-text face."""

    def __init__(self, html: str, plain: str):
        self.html, self.plain = html, plain

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.plain


@dataclass(frozen=True)
class Column:
    """A column of a measured table; a text column has the unit "text" and no basis and source."""

    name: str
    title: str
    unit: str
    basis: str = ""
    source: str = ""
    note: str = ""


class Table:
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
        return _plain(self.title, [c.title for c in self._columns], shown)

    def _repr_html_(self) -> str:
        return _html(self.title, [(c.title, c.unit != "text") for c in self._columns], self._shown())

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
    return spec.text, _button(spec)


def table(
    parts: Iterable,
    fields: Iterable[str] | Mapping[str, str],
    derived: Mapping[str, Callable] | None = None,
    caption: str = "",
) -> View:
    """Parts side by side: a row a part, a column a field, then what is derived (in italics).

    ``fields`` are names, or names with their column titles. Each function in ``derived`` takes a part and
    gives (value in base units, unit), a text or None. A part that lacks a field shows a dash.
    """
    titles = dict(fields) if isinstance(fields, Mapping) else {f: _title(f) for f in fields}
    rows = []
    for part in parts:
        cells = [(part.short, escape(part.short))]
        cells += [_number(part, f) for f in titles]
        cells += [_derived(part, make) for make in (derived or {}).values()]
        rows.append(cells)
    heads = [("Part", False), *((t, True) for t in titles.values()), *((t, True) for t in derived or ())]
    plain = _plain(caption, [h for h, _ in heads], [[p for p, _ in row] for row in rows])
    return View(_html(caption, heads, rows), plain)


def _title(name: str) -> str:
    return next((t[name]["title"] for t in known_fields().values() if name in t), name.replace("_", " "))


def _number(part, field: str) -> tuple[str, str]:
    if field in part.labels:
        return part.labels[field], escape(part.labels[field])
    spec = part.specs.get(field)
    return (spec.text, _button(spec)) if spec else (NONE, NONE)


def _derived(part, make: Callable) -> tuple[str, str]:
    try:
        value = make(part)
    except AttributeError:
        value = None
    if value is None:
        return NONE, NONE
    shown = value if isinstance(value, str) else amount(*value)
    return shown, f"<i>{escape(shown)}</i>"


def _button(spec: Spec) -> str:
    from gpuscale.specs import cited

    said = {"printed": spec.as_printed, "basis": spec.basis, "source": cited(spec.source), "note": spec.note}
    if spec.date:
        said["basis"] += f", {spec.date}"
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in said.items() if value)
    return f'<button type="button" class="prov"{data}>{escape(spec.text)}</button>'


def card(part, rows: list[tuple[str, ...]]) -> str:
    """The HTML card of a part: name, value, basis, source and remarks of each number."""
    title, key = escape(part.title), escape(f'{part.kind}("{part.key}")')
    heads = "".join(f'<th scope="col">{t}</th>' for t in ("Name", "Value", "Basis", "Source", "Remarks"))
    body = []
    for field, value, *said in rows:
        cells = "".join(f"<td>{escape(s)}</td>" for s in said)
        head = f'<th scope="row"><code>{field}</code></th>'
        body.append(f'<tr>{head}<td class="num">{escape(value)}</td>{cells}</tr>')
    return (
        f'<section class="card part" aria-label="{title}"><div class="head"><h3>{title}</h3>'
        f'<code class="note">{key}</code></div>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Numbers of {title}">'
        f'<table class="plain-table"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
        + (f'<p class="note">As of {part.as_of}.</p>' if part.as_of else "")
        + "</section>"
    )


def _html(caption: str, heads: list[tuple[str, bool]], rows: list) -> str:
    head = "".join(f'<th scope="col"{_num(right)}>{escape(title)}</th>' for title, right in heads)
    body = []
    for row in rows:
        first = f'<th scope="row">{row[0][1]}</th>'
        rest = "".join(f"<td{_num(heads[i][1])}>{html}</td>" for i, (_, html) in enumerate(row[1:], 1))
        body.append(f"<tr>{first}{rest}</tr>")
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    label = escape(caption or "Hardware")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="specs">{said}'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _num(right: bool) -> str:
    return ' class="num"' if right else ""


def _plain(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    grid = [heads, *rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(heads))]
    lines = [caption] if caption else []
    for first, *rest in grid:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
