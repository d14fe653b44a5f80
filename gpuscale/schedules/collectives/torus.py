"""Collectives on a ring or torus whose ranks have links to their neighbors only.

``axes``: the lengths; ranks are numbered with the last axis fastest, as in ``routes.TorusRoutes``, which
says what each link carries: ``schedule.per_link(TorusRoutes(axes))``.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, gathering
from gpuscale.schedules.counts import need_counts


def all_gather(axes: Sequence[int], both: bool = True, rotate: bool = True) -> Schedule:
    """All-gather by a ring along each axis in turn.

    ``both``: half of the data goes around in each direction. ``rotate``: the data is split into as many parts as there
    are axes, each of which begins with another axis, so that all axes are busy at once. Chunk = owner * pieces + piece.
    """
    axes = need_counts(axes, "axes")
    table, piece = TransferTable(), 0
    pieces = (len(axes) if rotate else 1) * (2 if both else 1)
    for turn in range(len(axes) if rotate else 1):
        order = [(turn + i) % len(axes) for i in range(len(axes))]
        for way in (1, -1) if both else (1,):
            first = 0
            for number, axis in enumerate(order):
                _phase(table, axes, axis, order[:number], way, first, (pieces, piece))
                first += axes[axis] - 1
            piece += 1
    return gathering("Torus all-gather", prod(axes), table.done(), pieces)


def reduce_scatter(axes: Sequence[int], both: bool = True, rotate: bool = True) -> Schedule:
    """Reduce-scatter: the all-gather in reverse."""
    return all_gather(axes, both, rotate).backwards("Torus reduce-scatter")


def all_reduce(axes: Sequence[int], both: bool = True, rotate: bool = True) -> Schedule:
    """All-reduce: the reduce-scatter, then the all-gather."""
    return reduce_scatter(axes, both, rotate).then(all_gather(axes, both, rotate), "Torus all-reduce")


def _phase(table: TransferTable, axes, axis: int, done: list[int], way: int, first: int, cut: tuple[int, int]) -> None:
    """A ring along one axis; each rank starts with the chunks of all that differ from it in the axes ``done``."""
    ranks, length, many = prod(axes), axes[axis], prod(axes[a] for a in done)
    turn, rank, part = (a.ravel() for a in np.indices((length - 1, ranks, many)))
    here = list(np.unravel_index(rank, axes))
    owner = list(here)
    for a, at in zip(done, np.unravel_index(part, [axes[a] for a in done]) if done else (), strict=True):
        owner[a] = at
    owner[axis] = (here[axis] - way * turn) % length
    there = list(here)
    there[axis] = (here[axis] + way) % length
    chunk = np.ravel_multi_index(owner, axes) * cut[0] + cut[1]
    table.add(first + turn, rank, np.ravel_multi_index(there, axes), chunk)


def all_to_all(axes: Sequence[int]) -> Schedule:
    """All-to-all hop by hop: each block takes the shorter direction around the first axis, then the second, and so on.

    In each step every block that has not arrived on the axis moves on to a neighbor. Where an axis has an even length,
    blocks are split in half: to the rank halfway around, one half goes in each direction. Chunk (s N + t) h + i is half
    i of what rank s has for rank t, h = 2 with an even axis, else 1. Sum of floor(length/2) steps.
    """
    axes = need_counts(axes, "axes")
    ranks, halves = prod(axes), 2 if any(axis % 2 == 0 for axis in axes) else 1
    source, target, half = (a.ravel() for a in np.indices((ranks, ranks, halves)))
    chunk = np.arange(source.size)
    at, goal = np.array(np.unravel_index(source, axes)), np.array(np.unravel_index(target, axes))
    table, first = TransferTable(), 0
    for axis, length in enumerate(axes):
        ahead = (goal[axis] - at[axis]) % length
        back = (length - ahead) % length
        forward = (ahead < back) | ((ahead == back) & (half == 0))
        hops, way = np.where(forward, ahead, back), np.where(forward, 1, -1)
        for turn in range(length // 2):
            goes = hops > turn
            here, there = at[:, goes].copy(), at[:, goes].copy()
            here[axis] = (here[axis] + turn * way[goes]) % length
            there[axis] = (here[axis] + way[goes]) % length
            table.add(first + turn, *(np.ravel_multi_index(place, axes) for place in (here, there)), chunk[goes])
        at[axis], first = goal[axis], first + length // 2
    start, end = (node == np.arange(ranks)[:, None] for node in (source, target))
    return Schedule("Torus all-to-all", ranks, chunk.size, table.done(), start, end)
