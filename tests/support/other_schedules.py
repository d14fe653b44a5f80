"""Schedules that no page plays, the links of a tree of switches, and whether a schedule is complete."""

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import prod

import numpy as np

from gpuscale.schedules.collectives.routes import Link
from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, close_gaps, every
from gpuscale.schedules.collectives.switched import switch


def complete(schedule: Schedule) -> bool:
    """Whether every chunk of every rank's result contains all that started with it, each once."""
    holds = schedule.holds(schedule.steps)
    given = [frozenset(np.flatnonzero(column).tolist()) for column in schedule.start.T]
    return all(holds[rank][chunk] == given[chunk] for rank, chunk in np.argwhere(schedule.end).tolist())


def rail_all_reduce(degrees: Sequence[int]) -> Schedule:
    """All-reduce with NICs that feed their GPU: the node's switch reduces and scatters (its owner's part
    stays at the owner), the network's switches reduce each shard along its rail, the node's switch copies the result.

    A node's NICs carry V up and V down. The switches of a node have no link to the network: those of level 2 hang
    below the GPUs' NICs. Two levels or more, all of them with two children or more.
    """
    ranks, node, top = prod(degrees), degrees[0], len(degrees)
    table, last = TransferTable(), 2 * top + 1
    rank, chunk = (a.ravel() for a in np.indices((ranks, node)))
    home, away = rank % node == chunk, rank % node != chunk
    sw = switch(degrees, 1) + rank // node
    table.add(0, rank[away], sw[away], chunk[away], True)
    table.add(1, sw[home], rank[home], chunk[home], True)
    table.add(last - 1, rank[home], sw[home], chunk[home])
    table.add(last, sw[away], rank[away], chunk[away])
    for level in range(1, top):
        below = prod(degrees[:level])
        child, lane = (a.ravel() for a in np.indices((ranks // below, node)))
        under = child * node + lane if level == 1 else switch(degrees, level) + child
        above = switch(degrees, level + 1) + child // degrees[level]
        table.add(1 + level, under, above, lane, True)
        table.add(last - 1 - level, above, under, lane)
    switches = switch(degrees, top) + 1 - ranks
    many = [prod(degrees[i:]) for i in range(1, top + 1)]
    names = [f"level {i} switch {u}" if n > 1 else f"level {i} switch" for i, n in enumerate(many, 1) for u in range(n)]
    how = {"switches": switches, "switch_names": tuple(names), "group": node}
    whole = every(ranks, node)
    return Schedule("All-reduce by rails", ranks, node, close_gaps(table.done()), whole, whole, **how)


class Switched:
    """The links of ``schedules.collectives.switched``: from a node or switch to the switch above it, and back."""

    def __init__(self, degrees: Sequence[int]):
        self.degrees = tuple(degrees)
        below = [prod(self.degrees[:i]) for i in range(len(self.degrees) + 1)]
        self._first = list(accumulate((below[-1] // b for b in below), initial=0))  # first node id of each level

    def _level(self, node: int) -> tuple[int, int]:
        """Level (0: GPUs) and number within it."""
        level = bisect_right(self._first, node) - 1
        return level, node - self._first[level]

    def ways(self, source: int, target: int) -> list[tuple[Fraction, tuple[Link, ...]]]:
        """The one link. Raises ValueError for nodes that have none."""
        up = source < target
        (low, child), (high, over) = (self._level(node) for node in sorted((source, target)))
        lane, name = 0, child
        if low == 0 and high == 2:  # the NIC of a GPU
            low, (name, lane) = 1, divmod(child, self.degrees[0])
        if high != low + 1 or name // self.degrees[low] != over:
            raise ValueError(f"target: expected the switch above, or a child of a switch; got {source} to {target}")
        return [(Fraction(1), (Link(high, name, up, lane),))]
