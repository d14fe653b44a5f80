"""A fabric of leaf and spine switches, cable by cable, from which switches and cables can be removed.

GPU r of every node of a unit has its NIC in leaf r of that unit (a rail), and every leaf has one uplink to each spine.
GPUs of a node also reach each other over NVLink. Links are numbered: NICs by their GPU, then uplinks by leaf and spine,
then NVLink ports by their GPU. All numbers start at 0 and run from left to right.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gpuscale.schedules.counts import need_counts

KINDS = ("spine", "leaf", "uplink", "NIC")  # what can be removed


@dataclass(frozen=True)
class Fabric:
    """``units`` of ``nodes`` nodes with ``rails`` GPUs each, joined by ``spines`` spine switches.

    ``W`` is the bandwidth of a NIC and ``nvlink`` that of a GPU's NVLink ports, one direction [B/s]. An uplink has
    ``W`` times the number of nodes per spine, divided by the oversubscription ``taper``: at 1, a leaf has as much
    bandwidth up as down. ``gone`` names what is removed: "spine 0", "leaf 3", "uplink 12", "NIC 40".
    Raises ValueError for a count below 1, a single node, a bandwidth or taper that is not positive, and for a part that
    does not exist.

    >>> pod = Fabric(2, 4, 8, 4, W=50e9, nvlink=450e9, gone=["spine 0"])
    >>> f"{pod.gpus} GPUs, {pod.leaves} leaves, {pod.uplink.sum()} of {pod.uplink.size} uplinks left"
    '64 GPUs, 16 leaves, 48 of 64 uplinks left'
    """

    units: int
    nodes: int
    rails: int
    spines: int
    W: float
    nvlink: float
    taper: float = 1
    gone: Iterable[str] = field(default=())

    def __post_init__(self):
        need_counts((self.units, self.nodes, self.rails, self.spines), "units, nodes, rails, spines")
        if not all(np.isfinite(v) and v > 0 for v in (self.W, self.nvlink, self.taper)):
            raise ValueError(f"W, nvlink, taper: expected above zero; got {self.W}, {self.nvlink}, {self.taper}")
        if self.units * self.nodes < 2:
            raise ValueError(f"units, nodes: expected at least 2 nodes; got {self.units * self.nodes}")
        object.__setattr__(self, "gone", tuple(self.gone))
        many = dict(zip(KINDS, (self.spines, self.leaves, self.leaves * self.spines, self.gpus), strict=True))
        for part in self.gone:
            kind, _, number = str(part).partition(" ")
            if kind not in many or not number.isdigit() or int(number) >= many[kind]:
                there = ", ".join(f"{kind} 0 to {n - 1}" for kind, n in many.items())
                raise ValueError(f"gone: {part!r}: expected one of {there}")

    @property
    def gpus(self) -> int:
        return self.units * self.nodes * self.rails

    @property
    def leaves(self) -> int:
        return self.units * self.rails

    def leaf(self, gpu):
        """The leaf switch that a GPU's NIC leads to."""
        return gpu // (self.nodes * self.rails) * self.rails + gpu % self.rails

    def _left(self, kind: str, many: int) -> np.ndarray:
        left = np.ones(many, dtype=bool)
        left[[int(part.split()[1]) for part in self.gone if part.startswith(f"{kind} ")]] = False
        return left

    @cached_property
    def nic(self) -> np.ndarray:
        """Which GPUs' NICs work: those with a cable and a leaf at its end."""
        return self._left("NIC", self.gpus) & self._left("leaf", self.leaves)[self.leaf(np.arange(self.gpus))]

    @cached_property
    def uplink(self) -> np.ndarray:
        """Which uplinks work, shape (leaves, spines)."""
        cables = self._left("uplink", self.leaves * self.spines).reshape(self.leaves, self.spines)
        return cables & self._left("leaf", self.leaves)[:, None] & self._left("spine", self.spines)

    @property
    def uplink_bw(self) -> float:
        """Bandwidth of an uplink [B/s]."""
        return self.W * self.nodes / self.spines / self.taper

    @cached_property
    def capacity(self) -> np.ndarray:
        """Bandwidth of each link in one direction [B/s], 0 for what is removed."""
        return np.concatenate(
            [self.W * self.nic, self.uplink_bw * self.uplink.ravel(), np.full(self.gpus, float(self.nvlink))]
        )

    def routes(self, source: int, target: int) -> list[tuple[int, int, list[int]]]:
        """All routes from a GPU to one of another node that need the fewest detours over NVLink.

        A route is (the GPU whose NIC sends, the GPU whose NIC receives, the spines that join their leaves); no spine
        if one leaf joins both. Of routes with equally many detours, those through one leaf come first.
        """
        if own := self._joined(source, target):
            return own  # no detour at all
        found, least = [], (3, 0)
        for out in self._exits(source):
            for entry in self._exits(target):
                cost = (out != source) + (entry != target), int(self.leaf(out) != self.leaf(entry))
                if cost <= least and (one := self._joined(out, entry)):
                    found = found + one if cost == least else one
                    least = cost
        return found

    def _joined(self, out: int, entry: int) -> list[tuple[int, int, list[int]]]:
        """The route between two NICs, if their leaves are the same or a spine joins them."""
        a, b = self.leaf(out), self.leaf(entry)
        spines = [] if a == b else np.flatnonzero(self.uplink[a] & self.uplink[b]).tolist()
        return [(out, entry, spines)] if self.nic[out] and self.nic[entry] and (a == b or spines) else []

    def _exits(self, gpu: int) -> list[int]:
        """The GPUs of its node whose NICs work, the nearest rail first: its own, then the other one of a pair."""
        first, rail = gpu - gpu % self.rails, gpu % self.rails
        there = [first + r for r in range(self.rails) if self.nic[first + r]]
        return sorted(there, key=lambda g: (g != gpu, abs(g % self.rails - (rail ^ 1)), g))
