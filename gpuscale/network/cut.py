"""The smallest cut of a tree of levels that separates k ranks from the rest, for every k, exactly.

Every subset of the ranks is a choice of how many are in each unit; every unit's switches are on one side.
So the smallest cut of a unit, by the ranks taken and the side of its switches, is a min-plus sum over its
children: dynamic programming, no search.
"""

from fractions import Fraction
from functools import cache
from math import lcm

import numpy as np

FAR = np.int64(2**62)


def smallest_cuts(topology) -> np.ndarray:
    """The smallest cut, one direction, that separates k of the topology's ranks from the others: an array over k."""
    levels, tiers = topology.levels, topology.tiers
    bws = [Fraction(tier.level.child_bw) for tier in tiers]
    bws += [bw / tier.child_gpus for bw, tier in zip(bws, tiers, strict=True)]  # per GPU, for rails
    scale = lcm(*(bw.denominator for bw in bws))
    above = [int(bw * scale) for bw in bws]
    kind = np.int64 if sum(above) * topology.ranks < FAR else object

    @cache
    def unit(level: int, empty: int) -> np.ndarray:
        """Smallest cut inside a unit of a level with its switches on the side of the ranks taken, by their number;
        with the switches on the other side it is the same list reversed."""
        degree, slots = levels[level - 1].degree, tiers[level - 2].S // levels[0].degree
        if level == 1:
            return np.arange(degree, -1, -1).astype(kind) * above[0]  # each rank left out is disconnected
        gone, part = divmod(empty, slots)
        children = [0] * (degree - gone - bool(part)) + ([part] if part else [])
        total = np.zeros(1, dtype=kind)
        for missing in children:
            total = _sum(total, linked(level, unit(level - 1, missing)))
        return total

    def linked(level: int, inside: np.ndarray) -> np.ndarray:
        """A child with the link above it, whose upper end is on the side of the ranks taken."""
        free = np.minimum(inside, inside[::-1])
        if topology.rails and tiers[level - 1].starts:
            each = above[len(levels) + level - 1]  # every GPU has cables of its own
            return free + np.arange(len(inside) - 1, -1, -1).astype(kind) * each
        return np.minimum(inside, inside[::-1] + above[level - 1])

    inside = unit(len(levels), topology.empty)
    cut = np.minimum(inside, inside[::-1])
    return cut if scale == 1 else np.array([Fraction(int(c), scale) for c in cut], dtype=object)


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Min-plus convolution: the cheapest way to take k ranks from two parts together."""
    a, b = (a, b) if len(a) >= len(b) else (b, a)
    out = np.full(len(a) + len(b) - 1, FAR if a.dtype != object else 2**200, dtype=a.dtype)
    for i, cost in enumerate(b):
        np.minimum(out[i : i + len(a)], a + cost, out=out[i : i + len(a)])
    return out
