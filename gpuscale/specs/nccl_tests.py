"""Logs of nccl-tests as measured tables: the text that the tool prints, or the file that its option -J writes.

    from gpuscale.specs.nccl_tests import read_log
    table = read_log("all_reduce.log")

From the shell, ``python -m gpuscale.specs.nccl_tests LOG... -o FILE`` writes tables that ``gpuscale.load`` reads. Only
sizes, times and bandwidths are taken: host names, process ids, arguments and the environment, which the JSON file holds
in full, are not.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpuscale.specs.measured_table import Column, MeasuredTable, read_table
from gpuscale.specs.number import MISSING
from gpuscale.specs.reading import SpecError, Where, name
from gpuscale.specs.writing import file_text, written

# Passes over the data that the bus bandwidth counts: it is passes x (N - 1)/N times the algorithm bandwidth. Zero: the
# bus bandwidth is the algorithm bandwidth, whatever the number of ranks.
PASSES = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "alltoall": 1, "gather": 1, "scatter": 1}
PASSES |= {"broadcast": 0, "reduce": 0, "sendrecv": 0}
NAMES = {"alltoall": "all-to-all", "sendrecv": "send to the next rank"}
VERSIONS = (1, 2, 3)  # of the JSON file, whose results have the same form in all
TYPES = r"u?int(?:8|32|64)|half|float|double|bfloat16|f(?:p)?8\w+"
# A row begins with bytes, elements and their type, possibly after what mpirun or a scheduler puts before each line.
ROW = re.compile(rf"(?:^|[\s:>|])(\d+)\s+(\d+)\s+(?:{TYPES})\s+(\S.*)$")
TITLE = re.compile(r"#\s+size\s+count\s+type\b(.*)")
STAMP = re.compile(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
RANK = re.compile(r"#\s+Rank\s+(\d+)\s.*\bdevice\b")
PROGRAM = re.compile(r"\b(\w+?)_perf(?:_mpi)?\b")
SIZE = "size of the full buffer, V; of an all-to-all what one rank holds"
SOURCE = "a log of nccl-tests"


@dataclass(frozen=True)
class Line:
    """A row of a log as printed: bytes, microseconds, GB/s; None where the tool measured nothing."""

    place: str
    size: int
    time: str | None
    algbw: str | None
    busbw: str | None


def read_log(path, key: str = "", collective: str = "", ranks: int = 0, in_place: bool = False) -> MeasuredTable:
    """A log of nccl-tests, text or JSON, as a measured table: collective, ranks, size, time, algbw, busbw.

    The collective and the number of ranks are those of the log's header. Where it is lost, the number follows from
    busbw over algbw, and ``collective`` has to be given, such as "all_reduce". ``in_place`` takes the second group of
    columns. ``key`` names the table, by default after the file. Raises SpecError, which names file, line and what was
    expected: for a log without rows, for a row that cannot be read, for wrong results, and where collective or ranks
    are unknown.
    """
    path = Path(path).expanduser()
    where = Where(path.name)
    key = key or re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")
    name(where.at(field="key"), key)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise where.wrong(f"cannot be read ({error.strerror})", "a log of nccl-tests") from error
    read = json_lines if text.lstrip().startswith("{") else _text
    told, listed, lines = read(where, text, in_place)
    if not lines:
        raise where.wrong(
            "has no row of results", "rows of size, count, type, times and bandwidths, as nccl-tests prints"
        )
    collective = collective or told
    if collective not in PASSES:
        problem = f"the collective is {collective!r}" if collective else "the log does not name its collective"
        raise where.wrong(problem, f"collective= one of {', '.join(PASSES)}")
    ranks = _ranks(where, PASSES[collective], lines, ranks or listed)
    return _table(where, key, NAMES.get(collective, collective.replace("_", "-")), ranks, lines, in_place)


def _table(where: Where, key: str, collective: str, ranks: int, lines: list[Line], in_place: bool) -> MeasuredTable:
    way = "in place" if in_place else "out of place"
    columns = [
        Column("collective", "collective", "text"),
        Column("ranks", "ranks", "1", "GPUs that took part", SOURCE),
        Column("size", "size", "B", SIZE, SOURCE),
        Column("time", "time", "us", f"time of a call, {way}", SOURCE),
        Column("algbw", "algorithm bandwidth", "GB/s", f"size over time, {way}", SOURCE),
        Column("busbw", "bus bandwidth", "GB/s", f"per GPU, one direction, {way}", SOURCE),
    ]
    heads = [{k: v for k, v in vars(column).items() if v} for column in columns]
    rows = [[collective, ranks or MISSING, x.size, *map(_printed, (x.time, x.algbw, x.busbw))] for x in lines]
    body = read_table(where.at(part=key), {"columns": heads, "rows": rows, "note": f"nccl-tests, {way}."})
    told = f" on {ranks} GPUs" if ranks else ""
    return MeasuredTable(key, f"{collective.capitalize()}{told}, nccl-tests", origin=where.file, **body)


def _printed(text: str | None):
    return MISSING if text is None else float(text)


# ---- text


def _text(where: Where, text: str, in_place: bool) -> tuple[str, int, list[Line]]:
    """The collective and the number of ranks, if the log names them, and its rows."""
    collective, ranks, names, lines = "", 0, None, []
    for number, line in enumerate(text.splitlines(), 1):
        if found := ROW.search(line):
            lines.append(_row(where.at(field=f"line {number}"), found, names, in_place))
        elif found := TITLE.search(line):
            names = found[1].split()
        elif found := RANK.search(line):
            ranks = max(ranks, int(found[1]) + 1)
        elif (found := PROGRAM.search(line)) and found[1] in PASSES:
            if collective and found[1] != collective:
                raise where.at(field=f"line {number}").wrong(
                    f"{found[1]} begins after {collective}", "one test per file"
                )
            collective = found[1]
    sizes = [line.size for line in lines]
    return collective, ranks, [line for i, line in enumerate(lines) if line.size and line.size not in sizes[i + 1 :]]


def _row(where: Where, found: re.Match, names: list[str] | None, in_place: bool) -> Line:
    rest = STAMP.sub("", found[3]).split()
    each = _each(names)
    if len(rest) < 2 * each:
        raise where.wrong(f"has {len(rest)} columns after the type", f"two groups of {each}: out of place and in place")
    cells = rest[-each:] if in_place else rest[-2 * each : -each]
    return group_line(where, int(found[1]), cells, "error" in (names or ()))


def group_line(where: Where, size: int, cells: list[str], rounding: bool = False) -> Line:
    """A group of columns: time, algbw, busbw, and if there is one, the column of errors.

    ``rounding``: that column is the largest rounding error. Raises SpecError for what is no number, and for results
    that the tool found wrong.
    """
    if not all(_number(cell) for cell in cells[:3]):
        raise where.wrong(f"{' '.join(cells[:3])} are not three numbers", "time, algbw and busbw")
    for cell in cells[3:4]:
        _right(where, cell, rounding)
    return Line(where.field, size, *cells[:3])


def _each(names: list[str] | None) -> int:
    """Columns of a group: four, or more if the tool reports single iterations."""
    times = [i for i, word in enumerate(names or ()) if word in {"time", "cputime"}]
    return times[1] - times[0] if len(times) == 2 else 4


def _right(where: Where, cell: str, rounding: bool) -> None:
    """The last column counts wrong elements; in old versions it is the largest rounding error."""
    if cell == "N/A":
        return
    if not _number(cell):
        raise where.wrong(f"the column of errors has {cell!r}", "a number or N/A")
    if not rounding and float(cell) >= 1:
        raise where.wrong(f"{cell} elements are wrong", "0: times of a wrong result mean nothing")


def _number(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d+)?", text))


# ---- JSON


def json_lines(where: Where, text: str, in_place: bool) -> tuple[str, int, list[Line]]:
    """The same of the file that nccl-tests writes with -J. What else it holds stays there, such as the environment."""
    found = _json(where, text)
    group = "in_place" if in_place else "out_of_place"
    try:
        program = PROGRAM.search(str(next(iter(found.get("args") or [""]))))
        results = enumerate(found.get("results") or [], 1)
        lines = [_result(where.at(field=f"result {i}"), one, group) for i, one in results]
    except (AttributeError, TypeError):
        raise _other_form(where) from None
    return program[1] if program else "", len(json_devices(where, text)), [line for line in lines if line.size]


def json_devices(where: Where, text: str) -> dict[int, tuple[str, str]]:
    """The group and the host of each rank in that file, which lists only the first GPU of each process."""
    try:
        config = _json(where, text).get("config") or {}
        told = config.get("devices") or []
        listed = {int(one["rank"]): (str(one.get("group", 0)), str(one.get("hostname", ""))) for one in told}
        each = int(config.get("nthreads", 1)) * int(config.get("ngpus", 1))
        first = [rank for rank in listed if each > 0 and rank % each == 0]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _other_form(where) from None
    return {rank + i: listed[rank] for rank in first for i in range(each)} | listed


def _json(where: Where, text: str) -> dict:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise where.wrong(f"is not JSON ({error})", "the file that nccl-tests writes with -J") from error
    if found.get("version") not in VERSIONS:
        raise where.at(field="version").wrong(f"is {found.get('version')!r}", f"one of {', '.join(map(str, VERSIONS))}")
    return found


def _other_form(where: Where) -> SpecError:
    return where.wrong("is JSON of another form", "the file that nccl-tests writes with -J")


def _result(where: Where, one: dict, group: str) -> Line:
    size, body = one.get("size"), one.get(group) or {}
    if not isinstance(size, int):
        raise where.wrong(f"size is {size!r}", "bytes, a whole number")
    if not body:
        return Line(where.field, size, None, None, None)
    cells = [body.get("time", body.get("cpu_time")), body.get("alg_bw"), body.get("bus_bw")]
    if not all(isinstance(cell, int | float) and math.isfinite(cell) for cell in cells):
        raise where.wrong(f"{group} has {cells}", "numbers: time, alg_bw and bus_bw")
    if (body.get("nwrong") or 0) >= 1:
        raise where.wrong(f"{body['nwrong']:g} elements are wrong", "0: times of a wrong result mean nothing")
    return Line(where.field, size, *(f"{cell:.6f}" for cell in cells))


# ---- ranks


def _ranks(where: Where, passes: int, lines: list[Line], listed: int) -> int:
    """The number of ranks from busbw over algbw, which has to agree with the header if there is one; 0: not known.

    Both are rounded as printed, so each row leaves a range of numbers; one number has to be in all of them.
    """
    if not passes:
        return listed
    low, high = allowed_ranks(passes, lines)
    if listed:
        if not low <= listed <= high:
            said = f"busbw over algbw is that of {span(low, high)} ranks"
            raise where.wrong(said, f"the {listed} of the header; is it the right collective?")
        return listed
    if low <= high and math.ceil(low) == math.floor(high):
        return math.ceil(low)
    said = f"busbw over algbw fits {span(low, high)} ranks"
    raise where.wrong(f"the header is lost, and {said}", "ranks= the number of GPUs")


def allowed_ranks(passes: int, lines: Iterable[Line]) -> tuple[float, float]:
    """From the fewest to the most ranks that all rows allow, for a collective of that many passes."""
    low, high = 2.0, math.inf
    for line in lines:
        least, most = _range(line, passes)
        low, high = max(low, least), min(high, most)
    return low, high


def _range(line: Line, passes: int) -> tuple[float, float]:
    """From the fewest to the most ranks that a row's two bandwidths allow."""
    if line.algbw is None or float(line.algbw) == 0:
        return 2.0, math.inf
    (bus, near), (alg, off) = _rounded(line.busbw), _rounded(line.algbw)
    least, most = (bus - near) / (alg + off) / passes, (bus + near) / max(alg - off, 1e-30) / passes
    return tuple(1 / (1 - share) if share < 1 else math.inf for share in (max(least, 0.0), most))


def _rounded(text: str) -> tuple[float, float]:
    """A number, and how far the exact one may be off: half of the last digit, and a little for floats."""
    digits, _, power = text.partition("e")
    places = len(digits.partition(".")[2])
    return float(text), 0.5000001 * 10.0 ** (int(power or 0) - places)


def span(low: float, high: float) -> str:
    """A range of ranks in words."""
    if low == math.inf or low > high or (high < math.inf and math.ceil(low) > math.floor(high)):
        return "no number of"
    if high == math.inf:
        return f"{math.ceil(low)} or more"
    return f"{math.ceil(low)} to {math.floor(high)}" if math.ceil(low) < math.floor(high) else f"{math.ceil(low)}"


def main(arguments=None) -> int:
    """Write tables; the exit status."""
    parser = argparse.ArgumentParser("python -m gpuscale.specs.nccl_tests", description=__doc__.partition("\n")[0])
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the TOML file to write")
    parser.add_argument("--collective", default="", help=f"if the log has no header: {', '.join(PASSES)}")
    parser.add_argument("--ranks", type=int, default=0, help="if the log has no header")
    parser.add_argument("--in-place", action="store_true", help="take the in-place columns")
    found = parser.parse_args(arguments)
    try:
        tables = [read_log(log, "", found.collective, found.ranks, found.in_place) for log in found.logs]
    except SpecError as error:
        print(f"python -m gpuscale.specs.nccl_tests: {error}", file=sys.stderr)
        return 2
    text = file_text(map(written, tables), datetime.date.today().isoformat(), "Read from logs of nccl-tests.")
    found.output.write_text(text, encoding="utf-8")
    print(f"{found.output}: {', '.join(table.key for table in tables)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
