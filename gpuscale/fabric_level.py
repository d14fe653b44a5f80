"""A level of a network: what a unit of it joins, by which cables and switches; and what follows from its place."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gpuscale.topology import Topology


class TopologyError(ValueError):
    """A network that cannot be built; the message says why and what would do."""


@dataclass(frozen=True)
class Level:
    """One level: a unit of it joins ``degree`` children, each by ``cables`` of ``link_bw`` (one direction each).

    ``switches`` of ``ports`` ports stand in one unit; None where they are not published, then the unit counts
    as one switch that is large enough. ``unit`` names what the level makes (a scalable unit), ``switch`` and
    ``cable`` its parts. A level of another ``network`` than the one below begins at the network cards.
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
    cable: str = "cable"

    def __post_init__(self):
        for what in ("degree", "cables", "switches", "ports"):
            value = getattr(self, what)
            if value is not None or what in {"degree", "cables"}:
                object.__setattr__(self, what, whole(f"level {self.name!r}: {what}", value))
        object.__setattr__(self, "link_bw", exact(f"level {self.name!r}: link_bw", self.link_bw))
        if not self.unit:
            object.__setattr__(self, "unit", self.name)

    @property
    def child_bw(self) -> int | Fraction:
        """W_i: bandwidth of the link above each child, all its cables together."""
        return plain(self.cables * self.link_bw)

    @property
    def unit_bw(self) -> int | Fraction:
        """D_i W_i: what all children of a unit can send into its switches (the cable bandwidth)."""
        return plain(self.degree * self.child_bw)

    @property
    def ports_down(self) -> int:
        """Ports of a unit's switches that cables from below take."""
        return self.degree * self.cables


@dataclass(frozen=True)
class Tier:
    """A level in its place: ``topology.at("Leaf")``. Bandwidths are those of one full unit, one direction."""

    topology: Topology
    index: int  # from 1

    @property
    def level(self) -> Level:
        return self.topology.levels[self.index - 1]

    def __getattr__(self, name: str):  # name, degree, link_bw, child_bw, unit_bw, ports_down, network, ...
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.level, name)

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
        """Units of this level in the whole topology, those counted that are not full."""
        top = self.topology
        held = top.slots - top.empty if self.index == 1 else top.slots
        return -(-held * top.levels[0].degree // self.S)

    @property
    def starts(self) -> bool:
        """Whether a network begins here: level 1, or a level of another network than the one below."""
        return self.index == 1 or self.level.network != self.topology.levels[self.index - 2].network

    @property
    def ports_up(self) -> int:
        """Ports of a unit's switches that cables of the same network take upwards."""
        above = self.topology.levels[self.index : self.index + 1]
        return above[0].cables if above and above[0].network == self.level.network else 0

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
        """The same without the ports that lead upwards: what the switches can offer to those below."""
        left = None if self.ports_there is None else self.ports_there - self.ports_up
        return None if left is None else plain(left * self.level.link_bw)

    @property
    def per_gpu_bw(self):
        """Cable bandwidth of a unit for each of its GPUs."""
        return plain(Fraction(self.level.unit_bw) / self.S)

    @property
    def per_node_bw(self):
        """Cable bandwidth of a unit for each of its nodes (units of level 1)."""
        return plain(Fraction(self.level.unit_bw) * self.topology.levels[0].degree / self.S)

    @property
    def collective_bw(self):
        """What each endpoint of the network gets in a collective over a unit of this level.

        Endpoints are what the network joins: GPUs inside a node, nodes beyond it. The narrowest level of
        the network up to this one decides.
        """
        tiers = self.topology.tiers[: self.index]
        first = max(i for i, tier in enumerate(tiers) if tier.starts)
        below = tiers[first].child_gpus
        return min(plain(Fraction(tier.level.unit_bw) * below / tier.S) for tier in tiers[first:])

    @property
    def oversubscription(self):
        """Bandwidth from below over bandwidth upwards; 1 keeps all of it, None at the top."""
        above = self.topology.levels[self.index : self.index + 1]
        return plain(Fraction(self.level.unit_bw) / above[0].child_bw) if above else None

    @property
    def switches_total(self) -> int | None:
        """Switches of this level in the whole topology."""
        return None if self.level.switches is None else self.level.switches * self.units

    @property
    def cables_total(self) -> int:
        """Cables above the children of this level in the whole topology."""
        children = self.topology.ranks if self.index == 1 else self.topology.tiers[self.index - 2].units
        return children * self.level.cables


def exact(what: str, value) -> int | Fraction:
    """A number of at least zero as an int or a Fraction. Raises TopologyError naming it otherwise."""
    if isinstance(value, bool) or not finite(value) or value <= 0:
        raise TopologyError(f"{what} = {value!r}; expected a number above zero, one direction")
    return plain(Fraction(value))


def finite(value) -> bool:
    """Whether a value is a number that is not infinite."""
    return isinstance(value, (int, float, Fraction, np.number)) and isfinite(value)


def plain(value):
    """A Fraction that is whole as an int."""
    value = value if isinstance(value, Fraction) else Fraction(int(value))
    return int(value) if value.denominator == 1 else value


def whole(what: str, value) -> int:
    """A count as an int. Raises TopologyError naming it otherwise."""
    if isinstance(value, bool) or not finite(value) or value != int(value) or value < 1:
        raise TopologyError(f"{what} = {value!r}; expected a whole number of at least 1")
    return int(value)
