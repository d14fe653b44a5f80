"""Measured rates of a cluster as fractions of its peaks, each with the place where it was measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gpuscale import specs
from gpuscale.network.known import topology
from gpuscale.printed import formulas
from gpuscale.printed.calling import value
from gpuscale.sources import cited
from gpuscale.specs.reading import Where
from gpuscale.units import show

_PLACE = re.compile(r"(\w+): (\w+)\.(\w+)(?:\[([^]]+)\])?(?: over (\d+) (nodes|ranks))?")
PEAKS = {"matmul": "bf16", "scaleup": "nvlink_bw", "scaleout": "nic_bw", "memory": "hbm_bw"}
_NODE = 8  # GPUs of the nodes between which the network was measured
_FORM = '"chip: table.column[name=value]", such as "h100_sxm: collectives_h100.all_gather"'
LEAST = 0.02  # of a peak: less is a wrong unit or a wrong row, not an efficiency


@dataclass(frozen=True)
class Share:
    """A measured rate as a fraction of a peak: ``value``, in words where it comes from, and on how many ``nodes`` it
    was measured, if they shared a network."""

    value: float
    words: str
    nodes: int = 1


def measured_share(part: specs.Part, what: str) -> Share:
    """The measured fraction that a cluster's entry names, "chip: table.column[name=value, name=value] over 4 nodes".

    With this fraction, a plan's own count of bytes takes the measured time. Raises SpecError for a fraction that is
    none, naming file, table and row.
    """
    if what == "scaleout" and what not in part and len(topology(part.network).tiers) == 1:
        return replace(measured_share(part, "scaleup"), words="one node, so nothing goes over a network")
    where = Where(_file(part), part.key, what)
    place = _PLACE.fullmatch(part.labels.get(what, ""))
    if not place:
        raise where.wrong(f"{part.labels.get(what, '')!r} does not say where the fraction was measured", _FORM)
    chip, table, column, picked, count, kind = place.groups()
    try:
        return _fraction(where, specs.chip(chip), specs.measured(table), what, (column, picked or "", count, kind))
    except specs.UnknownPart as error:
        raise where.wrong(str(error), _FORM) from None


@cache  # a table that is loaded again is another one
def _fraction(where: Where, chip: specs.Part, measured: specs.MeasuredTable, what: str, place: tuple) -> Share:
    column, picked, count, kind = place
    wanted = dict(pair.split("=") for pair in picked.split(", ")) if picked else {}
    if lacking := [name for name in (column, *wanted) if name not in measured.columns]:
        raise where.wrong(f"{measured.key} has no column {lacking[0]!r}", f"one of {', '.join(measured.columns)}")
    rows = enumerate(measured.rows, 1)
    rates = {i: row[column] for i, row in rows if all(_is(row[name], wanted[name]) for name in wanted)}
    rates = {i: rate for i, rate in rates.items() if rate == rate}
    if not rates:
        raise where.wrong(f"no row of {measured.key} has {picked or 'a number'}", "at least one")
    best = max(rates, key=rates.get)
    rate = _carried(rates[best], int(count), kind) if count else rates[best]
    peak, unit = chip.get(PEAKS[what]), "FLOP/s" if what == "matmul" else "B/s"
    at = Where(_file(measured), measured.key, f"{column}, row {best}")
    if peak is None:
        raise Where(_file(chip), chip.key, PEAKS[what]).wrong(
            "is missing", f"the peak that {measured.key} is a part of"
        )
    if not LEAST <= rate / peak <= 1:
        said = f"{show(rate, unit)} is {show(rate / peak, '%')} of {chip.key}.{PEAKS[what]}, {show(peak, unit)}"
        raise at.wrong(said, f"at least {LEAST:.0%} and at most 100%; check both numbers and their units")
    words = f"{chip.short}, {measured.title[0].lower() + measured.title[1:]} ({cited(measured.column(column).source)})"
    return Share(rate / peak, words, int(count) if kind == "nodes" else 1)


def _file(part) -> str:
    """The name of the file that a part or a table is from."""
    return Path(part.origin).name or "the built-in data"


def _carried(rate: float, count: int, kind: str) -> float:
    """The bandwidth of a link: of a NIC from a bus bandwidth over nodes; without the rank's own part from a
    rate that includes it."""
    if kind == "nodes":
        return value(formulas.nic_rate, {"W_bus": rate, "M": count, "N": count * _NODE})
    return value(formulas.all_to_all_bus, {"W_alg": rate, "N": count})


def _is(found, wanted: str) -> bool:
    return found == (wanted if isinstance(found, str) else float(wanted))
