"""A network as a tree of levels: its wiring, counted; bandwidths, cuts and hops follow from it.

Level i joins G_i units of the level below (level 1 joins GPUs) by switches. Bandwidths are one direction, in
whatever unit a cable's bandwidth is given in (the book: B/s). Whole numbers and Fractions stay exact.
"""

import difflib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from gpuscale.network.amounts import Bisected, TopologyError, exact_number, finite, need_rank, plain, whole_number
from gpuscale.network.cut import smallest_cuts
from gpuscale.network.graph import Graph, wired


@dataclass(frozen=True)
class Level:
    """One level: a unit of it joins ``degree`` children, each by ``cables`` of ``link_bw`` (one direction each).

    One unit has ``switches`` of ``ports`` ports; where these are not published (None), the unit counts as one
    switch that is large enough. ``unit`` names what the level makes (a scalable unit), ``switch`` its
    switches. A level of another ``network`` than the one below begins at the NICs.
    """

    name: str
    degree: int
    cables: int
    link_bw: int | Fraction
    switches: int | None = None
    ports: int | None = None
    network: str = "infiniband"
    unit: str = ""
    switch: str = "switch"

    def __post_init__(self):
        for what in ("degree", "cables", "switches", "ports"):
            value = getattr(self, what)
            if value is not None or what in {"degree", "cables"}:
                object.__setattr__(self, what, whole_number(f"level {self.name!r}: {what}", value))
        object.__setattr__(self, "link_bw", exact_number(f"level {self.name!r}: link_bw", self.link_bw))
        if not self.unit:
            object.__setattr__(self, "unit", self.name)

    @property
    def child_bw(self) -> int | Fraction:
        """W_i: bandwidth of the link above each child, all its cables together."""
        return plain(self.cables * self.link_bw)

    @property
    def unit_bw(self) -> int | Fraction:
        """G_i W_i: what all children of a unit can send into its switches (the cable bandwidth)."""
        return plain(self.degree * self.child_bw)

    @property
    def ports_down(self) -> int:
        """Ports of a unit's switches that cables from below take."""
        return self.degree * self.cables


@dataclass(frozen=True)
class Tier:
    """A level in its place: ``topology.at("Leaf")``. Bandwidths are those of one full unit, one direction."""

    topology: "Topology"
    index: int  # from 1

    @property
    def level(self) -> Level:
        return self.topology.levels[self.index - 1]

    def __getattr__(self, name: str):  # name, degree, link_bw, child_bw, unit_bw, ports_down, network, ...
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.level, name)

    @property
    def above(self) -> Level | None:
        """The level above, None at the top."""
        levels = self.topology.levels
        return levels[self.index] if self.index < len(levels) else None

    @property
    def S(self) -> int:
        """S_i: GPUs of a full unit."""
        return prod(level.degree for level in self.topology.levels[: self.index])

    @property
    def child_gpus(self) -> int:
        """S_(i-1): GPUs below one child."""
        return self.S // self.level.degree

    @property
    def units(self) -> int:
        """Units of this level in the whole topology, partly filled ones included."""
        top = self.topology
        held = top.slots - top.empty if self.index == 1 else top.slots
        return -(-held * top.levels[0].degree // self.S)

    @property
    def starts(self) -> bool:
        """Whether a network begins here: level 1, or a level of another network than the one below."""
        return self.index == 1 or self.level.network != self.topology.levels[self.index - 2].network

    @property
    def ports_up(self) -> int:
        """Ports of a unit's switches that uplinks of the same network take."""
        above = self.above
        return above.cables if above and above.network == self.level.network else 0

    @property
    def ports_there(self) -> int | None:
        """Ports that a unit's switches have."""
        return self.level.switches * self.level.ports if self.level.switches and self.level.ports else None

    @property
    def switch_bw(self):
        """Bandwidth of a unit's switches, all their ports counted; None where ports are not published."""
        return None if self.ports_there is None else plain(self.ports_there * self.level.link_bw)

    @property
    def switch_bw_down(self):
        """The same without the uplinks: what the switches can offer to those below."""
        left = None if self.ports_there is None else self.ports_there - self.ports_up
        return None if left is None else plain(left * self.level.link_bw)

    @property
    def per_gpu_bw(self):
        """Cable bandwidth of a unit per GPU."""
        return plain(Fraction(self.level.unit_bw) / self.S)

    @property
    def per_node_bw(self):
        """Cable bandwidth of a unit per node (unit of level 1)."""
        return plain(Fraction(self.level.unit_bw) * self.topology.levels[0].degree / self.S)

    @property
    def collective_bw(self):
        """Bandwidth per endpoint of the network in a collective over a unit of this level.

        Endpoints are what the network connects: GPUs inside a node, nodes beyond it. The narrowest level of
        the network up to this one is the bottleneck.
        """
        tiers = self.topology.tiers[: self.index]
        first = max(i for i, tier in enumerate(tiers) if tier.starts)
        below = tiers[first].child_gpus
        return min(plain(Fraction(tier.level.unit_bw) * below / tier.S) for tier in tiers[first:])

    @property
    def oversubscription(self):
        """Bandwidth from below over bandwidth upward; 1 for full bandwidth, None at the top."""
        return plain(Fraction(self.level.unit_bw) / self.above.child_bw) if self.above else None

    @property
    def switches_total(self) -> int | None:
        """Switches of this level in the whole topology."""
        return None if self.level.switches is None else self.level.switches * self.units

    @property
    def cables_total(self) -> int:
        """Cables above the children of this level in the whole topology."""
        children = self.topology.ranks if self.index == 1 else self.topology.tiers[self.index - 2].units
        return children * self.level.cables


@dataclass(frozen=True)
class Topology(Bisected):
    """A network of levels, bottom-up. ``rails``: NICs feed the GPUs directly, at least one per GPU,
    with NIC i of every child on switch i; otherwise traffic that arrives at a node passes its own network.

    ``empty`` slots of the last unit hold no node (level-1 unit): one of 128 in NVIDIA's own H100 pod.
    Raises TopologyError for a network that cannot be built, with the level, what it needs and what it has.
    """

    title: str
    levels: tuple[Level, ...]
    rails: bool = True
    empty: int = 0
    note: str = ""

    def __post_init__(self):
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or not all(isinstance(level, Level) for level in self.levels):
            raise TopologyError(f"{self.title}: expected a list of Levels, bottom-up; got {self.levels!r}")
        names = [level.name for level in self.levels]
        if len(set(names)) < len(names):
            raise TopologyError(f"{self.title}: two levels have the same name ({', '.join(names)}); names are unique")
        if isinstance(self.empty, bool) or not isinstance(self.empty, int) or not 0 <= self.empty < self.slots:
            raise TopologyError(f"{self.title}: empty = {self.empty!r}; expected 0 or more of {self.slots} slots")
        for tier in self.tiers:
            _check(self, tier)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """The levels in their places, bottom-up."""
        return tuple(Tier(self, i + 1) for i in range(len(self.levels)))

    def at(self, level: int | str) -> Tier:
        """The level of that number (from 1) or name. Raises KeyError with a list of the levels."""
        names = [each.name for each in self.levels]
        if isinstance(level, int) and 1 <= level <= len(names):
            return self.tiers[level - 1]
        if level in names:
            return self.tiers[names.index(level)]
        close = difflib.get_close_matches(str(level), names, 1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise KeyError(f"{self.title} has no level {level!r}; {hint}it has {', '.join(names)} (1 to {len(names)})")

    @property
    def slots(self) -> int:
        """Slots for a node (a unit of level 1), empty ones included."""
        return prod(level.degree for level in self.levels[1:])

    @property
    def nodes(self) -> int:
        """Units of level 1."""
        return self.slots - self.empty

    @property
    def ranks(self) -> int:
        """GPUs."""
        return self.nodes * self.levels[0].degree

    @property
    def switches(self) -> int | None:
        """Switches of all levels; None where a level does not state them."""
        counts = [tier.switches_total for tier in self.tiers]
        return None if None in counts else sum(counts)

    @property
    def cables(self) -> int:
        """Cables of all levels."""
        return sum(tier.cables_total for tier in self.tiers)

    @cached_property
    def cuts(self) -> np.ndarray:
        """The smallest cut, one direction, that separates k ranks from the rest, for k = 0 ... ranks.

        Exact over all subsets, by dynamic programming on the tree. The switches of a unit count as one:
        ``graph()`` has each of them.
        """
        return smallest_cuts(self)

    @property
    def bisection(self):
        """Bisection bandwidth, one direction: the smallest cut between any two halves (for an odd number, the
        smaller half has one rank fewer).
        """
        return plain(self.cuts[self.ranks // 2])

    def below(self, level: int | str) -> "Topology":
        """One full unit of a level as a topology of its own."""
        tier = self.at(level)
        return Topology(tier.level.unit, self.levels[: tier.index], self.rails)

    def hops(self, a: int, b: int) -> int:
        """Links on the shortest path between two ranks: 2 through the switches of a node.

        With rails, two ranks on different rails of one unit meet one level higher (or pass a GPU of the
        other's rail inside the node, which takes the same number of links).
        """
        if need_rank(a, self.ranks) == need_rank(b, self.ranks):
            return 0
        meet = next(tier for tier in self.tiers if a // tier.S == b // tier.S)
        first = max(t.index for t in self.tiers[: meet.index] if t.starts) if self.rails else 1
        if meet.index == first > 1 and self._rail(meet, a) != self._rail(meet, b):
            return 4
        return 2 * (meet.index - first + 1)

    def _rail(self, tier: Tier, rank: int) -> int:
        """The switch of a unit that a rank's first NIC leads to."""
        return rank % tier.child_gpus * (tier.level.cables // tier.child_gpus) % (tier.level.switches or 1)

    def graph(self) -> Graph:
        """Every switch and every cable, written out, so that the counts can be checked."""
        return wired(self)

    def tapered(self, level: int | str, taper) -> "Topology":
        """The same with about a fraction ``taper`` of the cables above each child of a level; 1 is all of them.

        1/7 oversubscribes 7 : 1, as closely as whole cables allow (``oversubscription`` of the level below is
        exact). The level keeps only as many switches as the cables need.
        """
        tier, part = self.at(level), Fraction(taper).limit_denominator(10**6) if finite(taper) else Fraction(0)
        cables = round(tier.level.cables * part)
        if part <= 0 or cables < 1:
            raise TopologyError(
                f"{self.title}, level {tier.level.name!r}: taper {taper!r} leaves no cable of {tier.level.cables};"
                f" expected a fraction of at least 1/{tier.level.cables}"
            )
        switches, ports = tier.level.switches, tier.level.ports
        if switches and ports:
            fits = (n for n in range(1, switches) if _fullest(tier.level.degree, cables, tier.ports_up, n) <= ports)
            switches = next(fits, switches)
        level = replace(tier.level, cables=cables, switches=switches)
        levels = (*self.levels[: tier.index - 1], level, *self.levels[tier.index :])
        return replace(self, title=f"{self.title}, {plain(1 / part)} : 1 at level {level.name}", levels=levels)

    def table(self) -> list[dict]:
        """The levels as rows: name, degree, GPUs, total switches and cables, bandwidths of a unit."""
        names = "name degree S units switches_total cables_total child_bw unit_bw switch_bw switch_bw_down"
        names += " per_gpu_bw per_node_bw collective_bw oversubscription"
        return [{name: getattr(tier, name) for name in names.split()} for tier in self.tiers]


def _check(top: Topology, tier: Tier):
    """Refuse a level that cannot be wired."""
    level, needed, there = tier.level, tier.ports_down + tier.ports_up, tier.ports_there
    where = f"{top.title}, level {level.name!r}"
    if there is not None and needed > there:
        up = f" + {tier.ports_up} up" if tier.ports_up else ""
        raise TopologyError(
            f"{where}: {tier.ports_down} cables down{up} need {needed} ports;"
            f" {level.switches} x {level.ports} = {there} are available"
        )
    full = 0 if there is None else _fullest(level.degree, level.cables, tier.ports_up, level.switches)
    if there is not None and full > level.ports:
        raise TopologyError(
            f"{where}: {level.cables} cables per child cannot be spread over {level.switches} switches of"
            f" {level.ports} ports: the fullest needs {full}"
        )
    if top.rails and tier.starts and tier.index > 1 and level.cables % tier.child_gpus:
        raise TopologyError(
            f"{where}: rails need the same number of cables for each of the {tier.child_gpus} GPUs below; got "
            f"{level.cables}"
            " cables. Use rails=False if GPUs share NICs"
        )


def _fullest(degree: int, cables: int, up: int, switches: int) -> int:
    """Ports that the fullest switch of a unit needs when every child distributes its cables in the same order."""
    return degree * -(-cables // switches) + -(-up // switches)
