"""Measured runs, and the table that they are read from."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gpuscale.plan.choice import PINS, Choice
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import tokens
from gpuscale.plan.typed import number, whole

_BYTES = {"memory_gib": 2**30, "memory_gb": 1e9}
_REQUIRED = ("model", "gpus", "batch", "seq", "seconds")


@dataclass(frozen=True)
class Run:
    """A measured run: its model by key, its GPUs, the tokens of its batch and of a sequence, the ``seconds`` of a step,
    its layout, and the peak of allocated ``memory`` of its first GPU in bytes, None if unknown.

    A run that failed, most likely out of memory, has None for ``seconds``.
    """

    model: str
    gpus: int
    batch: int
    seq: int
    seconds: float | None
    choice: Choice
    memory: float | None = None

    def __post_init__(self):
        c = self.choice
        if (ranks := c.dp * c.tp * c.pp * c.cp) != self.gpus:
            raise Refusal(f"dp x tp x pp x cp is {ranks:,}; expected gpus, {self.gpus:,}")
        if self.batch % (each := self.seq * c.dp * c.micro):
            told = f"a batch of {self.batch:,} tokens, microbatches of {each:,} on all replicas"
            raise Refusal(f"{told}; expected a whole number of them")


def read_runs(path: str | Path) -> list[Run]:
    """The runs of a CSV file: a row for each, with the columns of Run and of Choice by name; others are ignored.

    Tokens are written as in a request: 4M is 4 x 2**20. ``memory_gib`` or ``memory_gb`` may be left out or empty. Where
    ``ok`` is 0, a run failed, and is left out here.
    Raises Refusal naming the file, the line and the column.
    """
    return [run for run in _read(path) if run.seconds is not None]


def read_failures(path: str | Path) -> list[Run]:
    """The runs of such a file that failed. Raises Refusal as ``read_runs`` does.

    >>> from gpuscale.plan import shipped
    >>> len(read_failures(shipped("nanotron_h100").parent / "nanotron_h100_failed.csv"))
    1104
    """
    return [run for run in _read(path) if run.seconds is None]


def _read(path: str | Path) -> list[Run]:
    """All runs of a file."""
    try:
        file = open(path, encoding="utf-8", newline="")
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; expected a CSV file of runs") from None
    with file:
        try:
            return _rows(path, file)
        except (UnicodeDecodeError, csv.Error) as error:
            raise Refusal(f"{path}: is no text ({error}); expected a CSV file of runs") from None


def _rows(path: str | Path, file: TextIO) -> list[Run]:
    """All runs of an open file."""
    table = csv.DictReader(file)
    names = table.fieldnames or ()
    if lacking := [name for name in _REQUIRED if name not in names and not (name == "seconds" and "ok" in names)]:
        raise Refusal(f"{path}: missing column {', '.join(lacking)}; expected at least {', '.join(_REQUIRED)}")
    found = []
    for row in table:
        try:
            found.append(_run({name: (text or "").strip() for name, text in row.items() if isinstance(name, str)}))
        except Refusal as refusal:
            raise Refusal(f"{path}, line {table.line_num}: {refusal}") from None
    return found


def _run(row: dict[str, str]) -> Run:
    layout = {name: row[name] for name in PINS if row.get(name)}
    choice = Choice(**layout)
    if "sp" not in layout:  # frameworks shard the tokens wherever they shard the weights
        choice = Choice(**layout, sp=choice.tp > 1)
    gpus, batch, seq = whole("gpus", row["gpus"]), tokens("batch", row["batch"]), tokens("seq", row["seq"])
    failed = bool(row.get("ok")) and not whole("ok", row["ok"], 0, 1)
    seconds = None if failed else number("seconds", row.get("seconds", ""), least=1e-9)
    sizes = [number(name, row[name], least=1e-9) * unit for name, unit in _BYTES.items() if row.get(name)]
    return Run(row["model"], gpus, batch, seq, seconds, choice, sizes[0] if sizes else None)
