"""Published measurements of serving: one row per number, with its source and the configuration that it belongs to.

``serving_rows()`` are all of them, ``serving_row("gptfast-llama2_7b-bf16-tp1")`` is one. ``serving_columns()`` says
what each field of a row means. The bounds that belong to them are computed, never stored.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gpuscale.sources import cited
from gpuscale.specs.number import DATA
from gpuscale.specs.reading import Where

FILE = DATA / "measured_serving.toml"
# The size of each unit of a value in base units; a rate and a count have none.
UNIT_SIZES = {"tokens/s": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ms/token": 1e-3, "J": 1.0, "USD": 1.0, "nodes": 1.0}


@dataclass(frozen=True)
class ServingRow:
    """A published number of serving. A field that the source does not state is None, or empty; ``series`` is the title
    of the table that it comes from. ``serving_columns()`` has the meanings."""

    series: str
    id: str
    regime: str
    source: str
    engine: str
    version: str
    chip: str
    metric: str
    value: float
    unit: str
    model: str = ""
    gpus: int | None = None
    decode_gpus: int | None = None
    weights: str = ""
    experts: str = ""
    head: str = ""
    attention: str = ""
    cache: str = ""
    parallel: str = ""
    copies: int = 1
    redundant: int = 0
    batch: int | None = None
    input: int | None = None
    output: int | None = None
    context: float | None = None
    draft: float | None = None
    tokens_per_step: float | None = None
    size: int | None = None
    also: Mapping[str, float] = field(default_factory=dict)
    assumed: str = ""
    flag: str = ""
    outlier: str = ""
    note: str = ""

    @property
    def base(self) -> float:
        """The value in base units: seconds, tokens per second, joules, dollars."""
        return self.value * UNIT_SIZES[self.unit]

    @property
    def cited(self) -> str:
        """The source as a page shows it."""
        return cited(self.source)


@dataclass(frozen=True)
class ServingColumn:
    """What a row may state: a text, a format, a count, a number, or numbers by name."""

    title: str
    of: str
    meaning: str
    needed: bool = False


@cache
def _tables() -> dict:
    return read_serving(FILE)


def serving_rows() -> tuple[ServingRow, ...]:
    """Every row, in the order of the file."""
    return _tables()["rows"]


def serving_row(id: str) -> ServingRow:
    """One row by its id. Raises KeyError with the ids that are near."""
    rows = {row.id: row for row in serving_rows()}
    if id not in rows:
        near = difflib.get_close_matches(id, rows, 3, 0.5)
        raise KeyError(f"no row {id!r} of serving; " + (f"did you mean {', '.join(near)}?" if near else "see its file"))
    return rows[id]


def serving_columns() -> Mapping[str, ServingColumn]:
    """What each field of a row means."""
    return _tables()["columns"]


def serving_regimes() -> Mapping[str, str]:
    """The regimes and their titles, in the order in which a page shows them."""
    return _tables()["regimes"]


def serving_metrics() -> Mapping[str, str]:
    """What can be measured, and its title."""
    return _tables()["metrics"]


def serving_formats() -> Mapping[str, str]:
    """The formats of weights and cache, and their titles."""
    return _tables()["formats"]


def read_serving(path: str | Path) -> dict:
    """Columns, regimes, metrics and rows of a file, checked. Raises SpecError, which names row and field."""
    where = Where(Path(path).name)
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise where.wrong(f"cannot be read ({error})", "a TOML file of [[series]]") from error
    for name in ("columns", "regimes", "metrics", "formats", "series"):
        if not tables.get(name):
            raise where.wrong(f"has no {name}", "[columns], [regimes], [metrics], [formats] and [[series]]")
    tables["columns"] = {name: ServingColumn(**said) for name, said in tables["columns"].items()}
    rows = [row for series in tables["series"] for row in _series(where, series, tables)]
    ids = [row.id for row in rows]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise where.at(part=twice[0], field="id").wrong("names two rows", "one row per id")
    return tables | {"rows": tuple(rows)}


def _series(where: Where, series: dict, tables: dict) -> list[ServingRow]:
    head = dict(series)
    own, title, rows = head.pop("id", "?"), head.pop("title", None), head.pop("rows", None)
    if not isinstance(title, str) or not isinstance(rows, list) or not rows:
        raise where.at(part=own).wrong("has no title or no rows", "title and rows = [{ id, value, ... }, ...]")
    return [_row(where, title, head | row, tables) for row in rows]


def _row(where: Where, series: str, said: dict, tables: dict) -> ServingRow:
    columns = tables["columns"]
    where = where.at(part=str(said.get("id", "?")))
    for name, value in said.items():
        if name not in columns:
            near = difflib.get_close_matches(name, columns, 1)
            raise where.at(field=name).wrong("is no column", f"{near[0]}?" if near else f"one of {', '.join(columns)}")
        _cell(where.at(field=name), columns[name].of, value, tables["formats"])
    for name, column in columns.items():
        if column.needed and name not in said:
            raise where.at(field=name).wrong("is missing", column.meaning)
    for name, known in (("regime", tables["regimes"]), ("metric", tables["metrics"]), ("unit", UNIT_SIZES)):
        if said[name] not in known:
            raise where.at(field=name).wrong(f"{said[name]!r} is not known", f"one of {', '.join(known)}")
    return ServingRow(series, **said)


def _cell(where: Where, of: str, value, formats: Mapping[str, str]) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    if of == "text" and not (isinstance(value, str) and value.strip()):
        raise where.wrong(f"{value!r} is not a text", "a text in words")
    if of == "format" and value not in formats:
        raise where.wrong(f"{value!r} is not a format", f"one of {', '.join(formats)}")
    if of == "number" and not number:
        raise where.wrong(f"{value!r} is not a number", "zero or a positive number")
    if of == "count" and not (number and isinstance(value, int)):
        raise where.wrong(f"{value!r} is not a count", "a whole number")
    if of == "numbers":
        if not isinstance(value, dict):
            raise where.wrong(f"{value!r} is not a table", "{ name_with_unit = number, ... }")
        for name, one in value.items():
            _cell(where.at(field=f"also.{name}"), "number", one, formats)
