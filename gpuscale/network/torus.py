"""Networks without switches: a torus, where chips are linked to their neighbors, and a mesh of links in pairs."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from gpuscale.network.amounts import Bisected, TopologyError, exact_number, need_rank, plain, whole_number
from gpuscale.network.graph import Graph


@dataclass(frozen=True)
class Torus(Bisected):
    """Chips on a grid of the given side lengths, each linked to its neighbors along every axis.

    ``wrap`` says of each axis whether it closes to a ring; by default every side longer than 2 does (a side
    of 2 has one link, and no wraparound). ``link_bw`` is one link, one direction.
    """

    title: str
    sides: tuple[int, ...]
    link_bw: int | Fraction
    wrap: tuple[bool, ...] = ()

    def __post_init__(self):
        sides = tuple(whole_number(f"{self.title}: side", side) for side in self.sides)
        wrap = tuple(self.wrap) or tuple(side > 2 for side in sides)
        if not sides or len(wrap) != len(sides) or not all(isinstance(w, bool) for w in wrap):
            raise TopologyError(f"{self.title}: wrap {self.wrap!r}; expected True or False for each side {self.sides}")
        if any(w and side < 3 for w, side in zip(wrap, sides, strict=True)):
            raise TopologyError(f"{self.title}: a side of {min(sides)} cannot close to a ring; expected at least 3")
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "wrap", wrap)
        object.__setattr__(self, "link_bw", exact_number(f"{self.title}: link_bw", self.link_bw))

    @property
    def ranks(self) -> int:
        return prod(self.sides)

    @property
    def links_per_chip(self) -> int:
        """Links of a chip that is not at an open end."""
        return sum(2 if w or side > 2 else side - 1 for side, w in self._axes)

    @property
    def chip_bw(self):
        """What a chip can send over all its links together, one direction."""
        return plain(Fraction(self.link_bw) * self.links_per_chip)

    @property
    def links(self) -> int:
        """Links of the whole torus, each counted once."""
        return sum(self.ranks // side * (side if w else side - 1) for side, w in self._axes)

    @property
    def _axes(self) -> list[tuple[int, bool]]:
        return list(zip(self.sides, self.wrap, strict=True))

    def place(self, rank: int) -> tuple[int, ...]:
        """The coordinates of a rank, the last axis running fastest."""
        return tuple(int(i) for i in np.unravel_index(need_rank(rank, self.ranks), self.sides))

    def hops(self, a: int, b: int) -> int:
        """Links on the shortest path between two ranks."""
        steps = zip(self.place(a), self.place(b), self.sides, self.wrap, strict=True)
        return sum(min(abs(p - q), side - abs(p - q)) if w else abs(p - q) for p, q, side, w in steps)

    @property
    def diameter(self) -> int:
        """Links between the two ranks that are farthest apart."""
        return sum(side // 2 if w else side - 1 for side, w in self._axes)

    @property
    def bisection_links(self) -> int:
        """Links that the smallest cut into two halves crosses: straight across the longest side.

        Raises TopologyError if that side is odd, because no straight cut halves it.
        """
        cuts = [((2 if w else 1) * self.ranks // side, side) for side, w in self._axes if side > 1]
        links, side = min(cuts, default=(0, 2))
        if side % 2 and all(other % 2 for cut, other in cuts if cut == links):
            raise TopologyError(
                f"{self.title}: a side of {side} cannot be halved; expected the longest side to be even"
            )
        return links

    @property
    def bisection(self):
        """Bisection bandwidth, one direction."""
        return plain(Fraction(self.link_bw) * self.bisection_links)

    def graph(self) -> Graph:
        """Every link, written out; ``level`` is its axis, from 1."""
        at = np.arange(self.ranks).reshape(self.sides)
        low, high, axis = [], [], []
        for i, (side, w) in enumerate(self._axes):
            nexts = np.roll(at, -1, axis=i)
            keep = slice(None) if w else slice(side - 1)
            here = np.moveaxis(at, i, 0)[keep].ravel()
            low.append(here)
            high.append(np.moveaxis(nexts, i, 0)[keep].ravel())
            axis.append(np.full(len(here), i + 1))
        none = np.zeros(0, dtype=int)
        parts = (np.concatenate(each) for each in (low, high, axis))
        return Graph(self.ranks, none, *parts, (self.link_bw,) * len(self.sides))


@dataclass(frozen=True)
class Mesh(Bisected):
    """GPUs linked in pairs: ``pairs`` are (a, b, links) with each pair once. ``link_bw`` is one link, one direction."""

    title: str
    pairs: tuple[tuple[int, int, int], ...]
    link_bw: int | Fraction

    def __post_init__(self):
        pairs = tuple((int(a), int(b), whole_number(f"{self.title}: links of {a}-{b}", n)) for a, b, n in self.pairs)
        seen = {frozenset(pair[:2]) for pair in pairs}
        if not pairs or len(seen) < len(pairs) or any(len(pair) < 2 for pair in seen):
            raise TopologyError(f"{self.title}: expected pairs of two GPUs, each pair once; got {self.pairs!r}")
        if set().union(*seen) != set(range(len(set().union(*seen)))):
            raise TopologyError(f"{self.title}: expected GPUs 0, 1, 2 ... with links; got {sorted(set().union(*seen))}")
        object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "link_bw", exact_number(f"{self.title}: link_bw", self.link_bw))

    @property
    def ranks(self) -> int:
        return 1 + max(max(a, b) for a, b, _ in self.pairs)

    @property
    def links(self) -> int:
        """Links of the whole mesh, each counted once."""
        return sum(n for *_, n in self.pairs)

    def links_between(self, a: int, b: int) -> int:
        """Links between two GPUs."""
        return sum(n for p, q, n in self.pairs if {p, q} == {a, b})

    @property
    def links_per_gpu(self) -> tuple[int, ...]:
        """Links of each GPU."""
        return tuple(sum(n for p, q, n in self.pairs if rank in (p, q)) for rank in range(self.ranks))

    @property
    def gpu_bw(self):
        """What a GPU can send over its links together, one direction; the least of all GPUs."""
        return plain(Fraction(self.link_bw) * min(self.links_per_gpu))

    def hops(self, a: int, b: int) -> int:
        """Links on the shortest path between two GPUs; -1 where there is none."""
        return int(self.graph().hops(a)[b])

    @property
    def bisection(self):
        """Bisection bandwidth, one direction, by trying every half."""
        return self.graph().bisection()

    def graph(self) -> Graph:
        """Every link, written out."""
        rows = np.array([(a, b) for a, b, n in self.pairs for _ in range(n)])
        none = np.zeros(0, dtype=int)
        return Graph(self.ranks, none, rows[:, 0], rows[:, 1], np.ones(len(rows), dtype=int), (self.link_bw,))
