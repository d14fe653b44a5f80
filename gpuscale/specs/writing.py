"""Parts and tables as the TOML text that ``load`` reads: what a program has measured becomes a file of the reader's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from gpuscale.specs.measured_table import Column, MeasuredTable

TEXT = "text"


def file_text(parts: Iterable[str], as_of: str, said: str = "", sources: Mapping[str, str] | None = None) -> str:
    """A file of parts, each as ``part_text`` or ``table_text`` gives it; ``said`` is a comment at its head."""
    head = [f"# {said}"] if said else []
    names = [f"{key} = {quoted(name)}" for key, name in (sources or {}).items()]
    table = ["", "[sources]", *names] if names else []
    return "\n".join([*head, f"as_of = {quoted(as_of)}", *(f"\n{part}" for part in parts), *table]) + "\n"


def part_text(kind: str, key: str, title: str, labels: Mapping[str, str], numbers: Mapping[str, Sequence]) -> str:
    """A part: its labels, and its numbers as (value, unit, basis, source)."""
    lines = [f"[{key}]", f"kind = {quoted(kind)}", f"title = {quoted(title)}"]
    lines += [f"{name} = {quoted(text)}" for name, text in labels.items()]
    for name, (value, unit, basis, source) in numbers.items():
        said = ", ".join(f"{k} = {_cell(v)}" for k, v in (("unit", unit), ("basis", basis), ("source", source)))
        lines.append(f"{name} = {{ value = {_cell(value)}, {said} }}")
    return "\n".join(lines)


def table_text(key: str, title: str, columns: Sequence[Column], rows: Iterable[Sequence], note: str = "") -> str:
    """A measured table: its columns, and its rows as they stand in the units of the columns."""
    lines = [f"[{key}]", 'kind = "measured"', f"title = {quoted(title)}"]
    lines += [f"note = {quoted(note)}"] if note else []
    lines += ["columns = [", *(f"  {{ {_column(column)} }}," for column in columns), "]"]
    lines += ["rows = [", *(f"  [{', '.join(map(_cell, row))}]," for row in rows), "]"]
    return "\n".join(lines)


def written(table: MeasuredTable, key: str = "") -> str:
    """A measured table that is loaded or read, as text; ``key`` gives it another name."""
    columns = [table.column(name) for name in table.columns]
    return table_text(key or table.key, table.title, columns, table.printed, table.note)


def _column(column: Column) -> str:
    fields = ("name", "title", "unit") + (() if column.unit == TEXT else ("basis", "source"))
    return ", ".join(f"{name} = {quoted(getattr(column, name))}" for name in fields)


def _cell(value) -> str:
    return quoted(value) if isinstance(value, str) else repr(float(f"{value:.6g}")) if value % 1 else str(int(value))


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)
