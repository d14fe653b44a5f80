"""Sweeps of collectives over sizes: from logs of nccl-tests, as text or JSON, and from what the lab measures.

    torchrun --nproc-per-node=8 -m gpuscale.labs.measure -o mine.toml
    mpirun -np 16 all_reduce_perf -b 8 -e 8G -f 2 > all_reduce.log

A log may hold several tests, one after another, and whatever a launcher or NCCL prints in between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import some
from gpuscale.specs import nccl_tests
from gpuscale.specs.measured_table import MeasuredTable, read_table
from gpuscale.specs.nccl_tests import PASSES, PROGRAM, ROW, STAMP, TITLE, Line
from gpuscale.specs.reading import SpecError, Where
from gpuscale.specs.reading import read as read_parts
from gpuscale.units import SCALE

COLLECTIVES = {name: name.replace("_", "-") for name in PASSES} | {"alltoall": "all-to-all", "sendrecv": "send-recv"}
DEVICE = re.compile(r"#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?(?:Pid\s+\d+\s+)?on\s+(\S+)\s+device\b")
THREADS = re.compile(r"#\s+nThreads?:?\s+(\d+)\s+nGpus:?\s+(\d+)")
# Below the titles any type may come, and a row that was cut off must not pass for a remark
ANY_TYPE = re.compile(r"(?:^|[\s:>|])(\d+)\s+(\d+)\s+(?!\d)\w+(?:\s+(\S.*))?$")
CUT = re.compile(r"(?:^|[:>|])\s*\d+\s+\d+\s*$")
LEAD = 2  # columns between type and time: reduction and root, one of them or none in old versions
FORM = "rows of size, count, type, times and bandwidths, as nccl-tests prints"
TIMES = ("median", "time")  # columns of a measured table that hold the time of a call


@dataclass(frozen=True)
class Row:
    """A message size in bytes, as nccl-tests counts it, and what a call took: seconds out of place and in place, and
    the bandwidths out of place in B/s; None where nothing was measured."""

    size: int
    seconds: float | None
    in_place: float | None = None
    algbw: float | None = None
    busbw: float | None = None

    @property
    def time(self) -> float:
        """Seconds of a call, out of place if that was measured."""
        return self.in_place if self.seconds is None else self.seconds


@dataclass(frozen=True)
class Sweep:
    """A collective on ``ranks`` GPUs of ``nodes`` nodes over sizes.

    ``nodes`` is None where a log does not tell. ``groups`` of that many ranks ran at the same time on the same nodes.
    """

    collective: str
    ranks: int
    nodes: int | None
    rows: tuple[Row, ...]
    source: str
    groups: int = 1

    @property
    def name(self) -> str:
        """The sweep in words."""
        where = f" on {some(self.nodes, 'node')}" if self.nodes else ""
        return f"{self.collective} of {some(self.ranks, 'rank')}{where} ({self.source})"


def read_logs(paths: Iterable[str | Path] | str | Path) -> list[Sweep]:
    """The sweeps of logs of nccl-tests, and of TOML files of ``gpuscale.labs.measure``.

    The collective is the one that the log names, or else the name of the file; where neither does, the ratio of the
    bandwidths may tell. Raises Refusal naming the file and, where there is one, the line: for a row that cannot be
    read, for a file without rows, and where collective or ranks remain open.
    """
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    if not paths:
        raise Refusal("no log; expected at least one of nccl-tests")
    try:
        found = [sweep for path in paths for sweep in _read(Path(path).expanduser())]
    except SpecError as error:
        raise Refusal(str(error)) from None
    for sweep in found:
        if wrong := [row for row in sweep.rows if not 0 < row.time < math.inf or row.size < 1]:
            raise Refusal(f"{sweep.name}: {wrong[0].size:,} B in {wrong[0].time} s; expected a time above zero")
    return found


def _read(path: Path) -> list[Sweep]:
    where = Where(path.name)
    if path.suffix == ".toml":
        return _tables(where, path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise where.wrong(f"cannot be read ({error.strerror})", "a log of nccl-tests") from None
    tests = [_json(where, text)] if text.lstrip().startswith("{") else _tests(where, text)
    return [test.sweep(where, path.stem) for test in tests]


@dataclass
class _Test:
    """What a log says of one test."""

    collective: str = ""
    process: int = 0  # GPUs of a process
    devices: dict[int, tuple[str, str]] = field(default_factory=dict)  # group and host of each rank
    names: list[str] | None = None  # titles of the columns
    pairs: list[tuple[Line | None, Line | None]] = field(default_factory=list)  # out of place, in place

    def sweep(self, where: Where, stem: str) -> Sweep:
        """The test as a sweep. Raises SpecError where collective or ranks remain open."""
        lines = [line for pair in self.pairs for line in pair if line]
        where = where.at(field=lines[0].place)
        group = [place for place in self.devices.values() if place[0] == min(self.devices.values())[0]]
        collective = _collective(where, self.collective or _in_name(stem), lines, len(group))
        ranks = _ranks(where, collective, lines, len(group))
        nodes = len({host for _, host in group}) or (1 if ranks == self.process else None)
        if nodes and ranks % nodes:
            raise where.wrong(f"{ranks} ranks on {nodes} nodes", "the same number of ranks on each node")
        groups = max(1, len(self.devices) // ranks)
        rows = tuple(_row(out, inside) for out, inside in self.pairs)
        return Sweep(COLLECTIVES[collective], ranks, nodes, rows, where.file, groups)


# ---- text


def _tests(where: Where, text: str) -> list[_Test]:
    """The tests of a log, in order, that have rows."""
    tests, known = [_Test()], False

    def begun() -> _Test:
        """The test to which a line of a header belongs: a new one after the rows of another."""
        if tests[-1].pairs:
            tests.append(_Test())
        return tests[-1]

    for number, line in enumerate(text.splitlines(), 1):
        at, test = where.at(field=f"line {number}"), tests[-1]
        if "NCCL INFO" in line or "NCCL WARN" in line:
            continue
        if found := TITLE.search(line):
            begun().names = [name for name in found[1].split() if name != "timestamp"]
        elif found := THREADS.search(line):
            begun().process = int(found[1]) * int(found[2])
        elif found := DEVICE.search(line):
            begun().devices[int(found[1])] = found[2] or "0", found[3]
        elif found := ROW.search(line) or (test.names is not None and "#" not in line and ANY_TYPE.search(line)):
            if pair := _pair(at, found, test.names):
                test.pairs.append(pair)
        elif test.names is not None and CUT.search(line):
            raise at.wrong(f"{line.strip()!r} is not a whole row", FORM)
        elif len(named := set(PROGRAM.findall(line))) == 1:
            (name,) = named
            if "concluded" in line:
                test.collective = test.collective or name
            elif not (test.pairs and name == test.collective):
                begun().collective = name
        else:
            continue
        known = True
    if found := [test for test in tests if test.pairs]:
        return found
    raise where.wrong("has no row of results" if known else "is not a log of nccl-tests", FORM)


def _pair(where: Where, found: re.Match, names: list[str] | None) -> tuple[Line | None, Line | None] | None:
    """The two groups of columns of a row; None for a row of no bytes."""
    size, cells = int(found[1]), STAMP.sub("", found[3] or "").split()
    times = [i for i, word in enumerate(names or ()) if word in {"time", "cputime"}]
    lead = times[0] if times else LEAD
    each = times[1] - times[0] if len(times) == 2 else len(names) - lead if times else 4
    tail = len(names) - times[1] - each if len(times) == 2 else 0  # algorithm and protocol, in RCCL's version
    both, one = (range(many, many + lead + 1) for many in (2 * each, each))
    if len(cells) - tail in both:
        cells = cells[: len(cells) - tail]
    if len(cells) not in both and len(cells) not in one:
        raise where.wrong(
            f"has {len(cells)} columns after the type", f"{each} or {2 * each}: out of place, and in place"
        )
    groups = [cells[-2 * each : -each], cells[-each:]] if len(cells) in both else [cells[-each:], []]
    rounding = "error" in (names or ())
    out, inside = (None if set(group) <= {"N/A", "-"} else (where, group) for group in groups)
    if not size or not (out or inside):
        return None
    return tuple(group and nccl_tests.group_line(group[0], size, group[1], rounding) for group in (out, inside))


# ---- JSON


def _json(where: Where, text: str) -> _Test:
    """The test of the file that nccl-tests writes with -J."""
    (program, _, out), (_, _, inside) = (nccl_tests.json_lines(where, text, group) for group in (False, True))
    devices = nccl_tests.json_devices(where, text)
    pairs = [tuple(line if line.time else None for line in pair) for pair in zip(out, inside, strict=True)]
    test = _Test(program, devices=devices, pairs=[pair for pair in pairs if any(pair)])
    if not test.pairs:
        raise where.wrong("has no row of results", "results with times, as nccl-tests writes with -J")
    return test


# ---- what follows from a test


def _row(out: Line | None, inside: Line | None) -> Row:
    time, within = (line and float(line.time) * SCALE["us"][0] for line in (out, inside))
    rates = (float(rate) * SCALE["GB/s"][0] for rate in (out.algbw, out.busbw)) if out else ()
    return Row((out or inside).size, time, within, *rates)


def _in_name(stem: str) -> str:
    """The collective that the name of a file has in it, "" for none or several."""
    plain, found = re.sub(r"[^a-z]", "", stem.lower()), []
    for name in sorted(PASSES, key=len, reverse=True):  # "reduce" is in "all_reduce" too
        if (bare := name.replace("_", "")) in plain:
            plain = plain.replace(bare, " ")
            found.append(name)
    return found[0] if len(found) == 1 else ""


def _collective(where: Where, told: str, lines: list[Line], ranks: int) -> str:
    """The collective that is told, or the only one of which these bandwidths can be."""
    expected = f"a file name with one of {', '.join(PASSES)} in it"
    if told and told not in PASSES:
        raise where.wrong(f"the collective is {told!r}", f"one of {', '.join(PASSES)}")
    if told:
        return told
    fits = {name for name, passes in PASSES.items() if _fits(lines, passes, ranks)}
    if fits != {"all_reduce"}:
        many = "several" if fits else "none"
        raise where.wrong(f"the log does not name its collective, and busbw over algbw fits {many}", expected)
    return "all_reduce"


def _fits(lines: list[Line], passes: int, ranks: int) -> bool:
    """Whether a collective of that many passes can have these bandwidths."""
    if not passes:
        return all(float(line.busbw) == float(line.algbw) for line in lines)
    low, high = nccl_tests.allowed_ranks(passes, lines)
    return low <= ranks <= high if ranks else low <= high and low < math.inf


def _ranks(where: Where, collective: str, lines: list[Line], listed: int) -> int:
    """The ranks of the header, or those that follow from the bandwidths."""
    passes = PASSES[collective]
    if listed == 1:
        raise where.wrong("one rank", "two or more; several processes need nccl-tests that is built with MPI=1")
    if listed and not _fits(lines, passes, listed):
        said = f"busbw over algbw is not that of {collective} on {listed} ranks"
        raise where.wrong(said, "the bandwidths of the collective that the log or its name tells")
    if listed:
        return listed
    low, high = nccl_tests.allowed_ranks(passes, lines) if passes else (2, math.inf)
    if low <= high < math.inf and math.ceil(low) == math.floor(high):
        return math.ceil(low)
    said = f"no line tells the ranks, and busbw over algbw fits {nccl_tests.span(low, high)} ranks"
    raise where.wrong(said, "the lines of the header that begin with # Rank")


# ---- measured tables


def _tables(where: Where, path: Path) -> list[Sweep]:
    """The sweeps of the measured tables of a TOML file that have columns for them."""
    found = []
    for part in read_parts(path)[0]:
        if part["kind"] == "measured":
            body = read_table(part["where"], part["body"])
            found += _of_table(MeasuredTable(part["key"], part["title"], origin=where.file, **body))
    if not found:
        raise where.wrong(
            "has no sweep of a collective", "a table with collective, ranks, size and median, of gpuscale.labs.measure"
        )
    return found


def _of_table(table: MeasuredTable) -> list[Sweep]:
    """Its sweeps; in a table of the lab, the groups of a level are busy at the same time."""
    time = next((name for name in TIMES if name in table.columns), None)
    if time is None or not {"collective", "ranks", "size"} <= set(table.columns):
        return []
    kinds: dict[tuple, list[Row]] = {}
    for row in table.rows:
        kind = row.get("level", ""), row["collective"], int(row["ranks"]) if row["ranks"] == row["ranks"] else 0
        kinds.setdefault(kind, []).append(Row(int(row["size"]), row[time], busbw=row.get("busbw")))
    per_node = max((ranks for level, _, ranks in kinds if level == "node"), default=1)
    nodes = {"node": lambda ranks: 1, "across": lambda ranks: ranks}
    return [
        Sweep(
            {"send to the next rank": "send-recv"}.get(collective, collective),
            ranks,
            nodes[level](ranks) if level in nodes else None,
            tuple(rows),
            table.origin,
            per_node if level == "across" else 1,
        )
        for (level, collective, ranks), rows in kinds.items()
    ]
