"""A network written out: one number per rank and switch, one row per cable."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Graph:
    """Ranks 0 ... ranks-1 and switches after them; cable j connects ``low[j]`` and ``high[j]`` at ``level[j]``.

    ``switch_level`` has the level (from 1) of each switch, ``link_bw`` the bandwidth of a cable by level.
    """

    ranks: int
    switch_level: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: np.ndarray
    link_bw: tuple

    def __repr__(self) -> str:
        """A summary by level; the cables are attributes."""
        levels = (
            f"level {level}: {self.switches(level):,} switches, {self.cables(level):,} cables"
            for level in range(1, len(self.link_bw) + 1)
        )
        return "\n  ".join([f"A network of {self.ranks:,} ranks and {len(self.switch_level):,} switches", *levels])

    @property
    def vertices(self) -> int:
        return self.ranks + len(self.switch_level)

    def switches(self, level: int) -> int:
        """Switches of a level."""
        return int(np.count_nonzero(self.switch_level == level))

    def cables(self, level: int) -> int:
        """Cables of a level."""
        return int(np.count_nonzero(self.level == level))

    def bundles(self) -> dict[tuple[int, int], object]:
        """Bandwidth between each two connected vertices, all their cables together, one direction."""
        pairs, which, counts = np.unique(
            np.stack([self.low, self.high, self.level]), axis=1, return_inverse=True, return_counts=True
        )
        out: dict = {}
        for low, high, level, n in zip(*pairs.tolist(), counts.tolist(), strict=True):
            out[low, high] = out.get((low, high), 0) + n * self.link_bw[level - 1]
        return out

    def hops(self, start: int) -> np.ndarray:
        """Links from a rank to every vertex on the shortest path; ranks forward what they receive."""
        far = np.full(self.vertices, -1)
        far[start] = 0
        for d in range(self.vertices):
            ends = np.concatenate([self.high[far[self.low] == d], self.low[far[self.high] == d]])
            new = ends[far[ends] < 0]
            if not len(new):
                break
            far[new] = d + 1
        return far

    def flow(self, taken) -> object:
        """The most that the ranks taken can send to the others at once: the maximum flow (Edmonds and Karp)."""
        taken, room = set(taken), {}
        for (a, b), bw in self.bundles().items():
            room.setdefault(a, {})[b] = room.setdefault(b, {})[a] = bw
        total = 0
        while path := _path(room, taken, set(range(self.ranks)) - taken):
            step = min(room[a][b] for a, b in path)
            for a, b in path:
                room[a][b] -= step
                room[b][a] = room[b].get(a, 0) + step
            total += step
        return total

    def bisection(self) -> object:
        """The smallest such flow over all halves, by brute force: only for a handful of ranks."""
        if self.ranks > 16:
            raise ValueError(f"{self.ranks} ranks have too many halves to try each; expected at most 16")
        halves = combinations(range(self.ranks), self.ranks // 2)
        return min(self.flow(half) if len(self.switch_level) else self.crossing(half) for half in halves)

    def crossing(self, taken) -> object:
        """Bandwidth of the cables between the vertices taken and the others, one direction."""
        inside = np.zeros(self.vertices, dtype=bool)
        inside[list(taken)] = True
        cut = np.bincount(self.level[inside[self.low] != inside[self.high]], minlength=len(self.link_bw) + 1)
        return sum(int(n) * bw for n, bw in zip(cut[1:], self.link_bw, strict=True))


def _path(room: dict, sources: set, targets: set) -> list[tuple[int, int]]:
    """A shortest path with spare capacity from any source to any target, as a list of links."""
    ways, queue = {source: [] for source in sources}, list(sources)
    for a in queue:
        for b, left in room.get(a, {}).items():
            if left > 0 and b not in ways:
                ways[b] = [*ways[a], (a, b)]
                queue.append(b)
                if b in targets:
                    return ways[b]
    return []


def wired(topology) -> Graph:
    """Every switch and cable of a topology.

    Cables of a child are distributed over the switches of its unit round-robin, in the same order for every child
    (the 18 links of an H100 as 5, 5, 4, 4: otherwise some halves would be badly connected by a switch), and over
    the child's own switches in blocks. With rails, a network that begins above level 1 begins at the GPUs.
    """
    levels, ranks = topology.levels, topology.ranks
    kinds, lows, highs, at = [], [], [], []
    children = np.arange(ranks).reshape(-1, 1)  # the vertices of each child that carry cables upward
    nodes = ranks
    for tier in topology.tiers:
        level, s = levels[tier.index - 1], levels[tier.index - 1].switches or 1
        if topology.rails and tier.starts:
            children = np.arange(ranks).reshape(-1, tier.child_gpus)
        switches = nodes + np.arange(tier.units * s).reshape(tier.units, s)
        n, each = children.shape
        cable, child = np.arange(level.cables), np.arange(n)[:, None]
        low = children[child, cable * each // level.cables]
        high = switches[child // level.degree, cable % s]
        lows.append(low.ravel())
        highs.append(high.ravel())
        at.append(np.full(n * level.cables, tier.index))
        kinds.append(np.full(switches.size, tier.index))
        children, nodes = switches, nodes + switches.size
    arrays = (np.concatenate(parts) for parts in (kinds, lows, highs, at))
    return Graph(ranks, *arrays, tuple(level.link_bw for level in levels))
