"""A level in its place in a network, and what follows from that: ports, bandwidths, oversubscription."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Protocol

from gpuscale.network.amounts import plain
from gpuscale.network.tree_level import Level


class Network(Protocol):
    """What a tier asks of the network that it is in."""

    levels: tuple[Level, ...]
    tiers: "tuple[Tier, ...]"
    ranks: int
    slots: int
    empty: int


@dataclass(frozen=True)
class Tier:
    """A level in its place: ``topology.at("Leaf")``. Bandwidths are those of one full unit, one direction."""

    topology: Network
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
