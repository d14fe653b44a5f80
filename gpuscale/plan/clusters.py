"""Clusters to plan for: the peak rates of a GPU and its node, and the measured fraction of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from gpuscale import specs
from gpuscale.network.known import topology
from gpuscale.plan.errors import Refusal
from gpuscale.sources import cited

_PLACE = re.compile(r"(\w+): (\w+)\.(\w+)(?:\[([^]]+)\])?(?: over (\d+) (nodes|ranks))?")
_PEAK = {"matmul": "bf16", "scaleup": "nvlink_bw", "scaleout": "nic_bw", "memory": "hbm_bw"}
_NODE = 8  # GPUs of the nodes between which the network was measured


@dataclass(frozen=True)
class Share:
    """A measured rate as a fraction of a peak: ``value``, and in words where it comes from."""

    value: float
    words: str


@dataclass(frozen=True)
class Cluster:
    """A chip in nodes of ``node`` GPUs; rates in base units, one direction.

    ``C`` FLOP/s of a GPU, ``hbm`` its bytes of memory, ``W_hbm`` their bandwidth, ``W_nvl`` its bandwidth into NVLink,
    ``W_node`` the bandwidth of a whole node into the network. ``most`` is the number of GPUs, None if unknown.
    """

    key: str
    title: str
    chip: str
    node: int
    C: float
    hbm: float
    W_hbm: float
    W_nvl: float
    W_node: float
    most: int | None

    @property
    def shares(self) -> tuple[Share, Share, Share, Share]:
        """The measured fractions of C, W_nvl, W_node and W_hbm, computed when they are needed."""
        return _shares(self.key)

    def with_node(self, gpus: int) -> Cluster:
        """The same with only that many GPUs used per node, and their own NICs."""
        if not 1 <= gpus <= self.node:
            raise Refusal(f"{gpus} GPUs per node: {self.title} has {self.node} per node; expected 1 to {self.node}")
        return replace(self, node=gpus, W_node=self.W_node * gpus / self.node)


def cluster(key: str) -> Cluster:
    """A cluster by key, such as ``cluster("h100_superpod")``. Raises Refusal naming close ones."""
    part = found("cluster", key)
    chip, levels = specs.chip(part.chip), topology(part.network).tiers
    memory = chip.get("hbm") or part.hbm, chip.get("hbm_bw") or part.hbm_bw
    links = chip.nvlink_bw, float(levels[1].child_bw)
    return Cluster(part.key, part.title, chip.short, levels[0].degree, chip.bf16, *memory, *links, part.get("gpus"))


def found(kind: str, key: str) -> specs.Part:
    """A part of that kind; hyphens, underscores and capitals may differ. Raises Refusal naming close ones."""
    plain = str(key).lower().replace("-", "_")
    same = [name for name in specs.parts(kind) if _bare(name) == _bare(plain)]
    try:
        return specs.part(kind, same[0] if len(same) == 1 else plain)
    except specs.UnknownPart as error:  # names as the list prints them, the requested one as it was typed
        said = str(error).replace("_", "-").replace(repr(plain.replace("_", "-")), repr(str(key)), 1)
        raise Refusal(said) from None


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


@cache
def _shares(key: str) -> tuple[Share, ...]:
    return tuple(_share(specs.part("cluster", key), what) for what in _PEAK)


def _share(part: specs.Part, what: str) -> Share:
    """The measured fraction that a cluster's entry names, "chip: table.column[name=value, name=value] over 4 nodes".

    With this fraction, a plan's own count of bytes takes the measured time.
    """
    chip, table, column, picked, count, kind = _PLACE.fullmatch(part.labels[what]).groups()
    measured = specs.measured(table)
    wanted = dict(pair.split("=") for pair in picked.split(", ")) if picked else {}
    rates = [row[column] for row in measured.rows if all(_is(row[name], wanted[name]) for name in wanted)]
    rate = _carried(max(rates), int(count), kind) if count else max(rates)
    place = f"{specs.chip(chip).short}, {measured.title[0].lower() + measured.title[1:]}"
    return Share(rate / specs.chip(chip).get(_PEAK[what]), f"{place} ({cited(measured.column(column).source)})")


def _carried(rate: float, count: int, kind: str) -> float:
    """The bandwidth of a link: of a NIC from a bus bandwidth over nodes; without the rank's own part from a
    rate that includes it."""
    from gpuscale.collectives import bus_bandwidth  # imports sympy, which a refused request does not need
    from gpuscale.core.evaluation import evaluate

    if kind == "nodes":
        return evaluate(bus_bandwidth.nic_rate.rhs, W_bus=rate, M=count, N=count * _NODE)
    return evaluate(bus_bandwidth.all_to_all_bus.rhs, W_alg=rate, N=count)


def _is(found, wanted: str) -> bool:
    return found == (wanted if isinstance(found, str) else float(wanted))
