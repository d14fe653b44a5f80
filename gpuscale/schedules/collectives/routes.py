"""Physical links: which ones a transfer crosses, in a tree of levels and in a torus.

``ways(source, target)`` lists the paths of a transfer as (fraction, links): the fractions add up to one, and each link
is one direction of a physical cable or bundle. ``Schedule.per_link`` adds up what crosses each.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from gpuscale.schedules.counts import need_counts


class Link(NamedTuple):
    """A link of a tree: ``level`` (1: into the node's switches), the ``child`` of that level below it (numbered over
    the whole tree), ``up`` or down, and the ``lane``: the NIC, where each GPU of a node has its own."""

    level: int
    child: int
    up: bool
    lane: int = 0


class Port(NamedTuple):
    """A link of a torus: from ``node``, along ``axis``, ``forward`` or back."""

    node: int
    axis: int
    forward: bool


class Tree:
    """A tree of switches. ``degrees``: children of a unit at each level, from the lowest: (8, 32, 4) is a pod.

    GPUs are numbered from left to right. With ``rails`` the NICs feed their GPU directly: what goes to
    another node leaves by the NIC of the sender and arrives by that of the receiver and does not touch level 1.
    """

    def __init__(self, degrees: Sequence[int], rails: bool = False):
        self.degrees = need_counts(degrees, "degrees")
        self.rails = rails
        self.below = [prod(self.degrees[:i]) for i in range(len(self.degrees) + 1)]  # GPUs of a unit of each level

    def __repr__(self) -> str:
        return f"Tree({tuple(self.degrees)}, rails={self.rails})"

    def ways(self, source: int, target: int) -> list[tuple[Fraction, tuple[Link, ...]]]:
        """Up to the lowest level that both share, and down again."""
        if max(source, target) >= self.below[-1]:
            raise ValueError(f"target: expected GPUs below {self.below[-1]}; got {source} and {target}")
        meet = next(i for i in range(1, len(self.below)) if source // self.below[i] == target // self.below[i])
        first = 2 if self.rails and meet > 1 else 1
        links = []
        for gpu, up in ((source, True), (target, False)):
            for level in range(first, meet + 1):
                lane = gpu % self.below[1] if self.rails and level == 2 else 0
                links.append(Link(level, gpu // self.below[level - 1], up, lane))
        return [(Fraction(1), tuple(links))]


def children(loads: dict) -> dict:
    """Loads of a tree with the NICs of a node taken together: {(level, child, up): load}."""
    out: dict = {}
    for link, load in loads.items():
        out[link[:3]] = out.get(link[:3], 0) + load
    return out


def worst(loads: dict) -> dict:
    """The largest load of one direction above one child, for each level of a tree: {level: load}."""
    out: dict = {}
    for (level, _, _), load in children(loads).items():
        out[level] = max(load, out.get(level, load))
    return out


class TorusRoutes:
    """A torus with links between neighbors only. ``axes``: its lengths; the last axis has neighboring numbers.

    A transfer goes along the first axis, then the second, each in the shorter direction; where both are equally long
    (halfway around a ring of even length), half goes in each direction. A ring of two has two links, one per direction.
    """

    def __init__(self, axes: Sequence[int]):
        self.axes = need_counts(axes, "axes")

    def __repr__(self) -> str:
        return f"TorusRoutes({tuple(self.axes)})"

    def place(self, node: int) -> list[int]:
        """Coordinates of a node."""
        return [int(at) for at in np.unravel_index(node, self.axes)]

    def node(self, place: Sequence[int]) -> int:
        """The number of a node."""
        return int(np.ravel_multi_index(place, self.axes))

    def ways(self, source: int, target: int) -> list[tuple[Fraction, tuple[Port, ...]]]:
        """All shortest paths in the order of the axes, with equal fractions."""
        here, there = self.place(source), self.place(target)
        turns = []
        for at, to, length in zip(here, there, self.axes, strict=True):
            ahead = (to - at) % length
            both = {(ahead, True), (length - ahead, False)} if ahead else {(0, True)}
            least = min(hops for hops, _ in both)
            turns.append(sorted(turn for turn in both if turn[0] == least))
        ways = list(product(*turns))
        return [(Fraction(1, len(ways)), self._links(here, way)) for way in ways]

    def _links(self, here: Sequence[int], way) -> tuple[Port, ...]:
        at, links = list(here), []
        for axis, (hops, forward) in enumerate(way):
            for _ in range(hops):
                links.append(Port(self.node(at), axis, forward))
                at[axis] = (at[axis] + (1 if forward else -1)) % self.axes[axis]
        return tuple(links)
