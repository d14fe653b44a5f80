"""In-network collectives through a tree of switches: what enters and leaves the switches of every level.

``degrees``: children of a unit at each level, from the lowest. Each unit has one switch (all its chips together);
``switch`` gives its node id. A step brings the data one level up or down.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, gathering
from gpuscale.schedules.counts import need_count, need_counts


def _units(degrees: tuple[int, ...]) -> list[tuple[int, int]]:
    """For each level from the GPUs up: node id of the first unit, and GPUs below a unit."""
    ranks, units, first = prod(degrees), [(0, 1)], prod(degrees)
    for level in range(1, len(degrees) + 1):
        below = prod(degrees[:level])
        units.append((first, below))
        first += ranks // below
    return units


def _top(degrees: tuple[int, ...]) -> int:
    """The lowest level one unit of which holds all ranks: no higher."""
    return next(level for level, (_, below) in enumerate(_units(degrees)) if below == prod(degrees))


def switch(degrees: Sequence[int], level: int, unit: int = 0) -> int:
    """The node id of a unit's switch; level 1 is the lowest. Raises ValueError if there is none."""
    degrees = need_counts(degrees, "degrees")
    if not 1 <= level <= len(degrees) or not 0 <= unit < prod(degrees[level:]):
        raise ValueError(f"level, unit: expected a switch of a tree of degrees {degrees}; got {level} and {unit}")
    return _units(degrees)[level][0] + unit


def _switches(degrees: tuple[int, ...]) -> dict:
    units, ranks = _units(degrees), prod(degrees)
    many = [ranks // below for _, below in units[1:]]
    names = [f"level {i} switch {u}" if n > 1 else f"level {i} switch" for i, n in enumerate(many, 1) for u in range(n)]
    return {"switches": sum(many), "switch_names": tuple(names), "group": degrees[0] if len(degrees) > 1 else 0}


def all_gather(degrees: Sequence[int]) -> Schedule:
    """All-gather by multicasting switches: each rank sends its shard once, each link carries each shard once."""
    degrees = need_counts(degrees, "degrees")
    table, ranks, units, top = TransferTable(), prod(degrees), _units(degrees), _top(degrees)
    chunk = np.arange(ranks)
    for level in range(top):  # every unit passes up all that it holds, then passes down what its children lack
        (low, below), (high, unit) = units[level], units[level + 1]
        table.add(level, low + chunk // below, high + chunk // unit, chunk)
        child, which = (a.ravel() for a in np.indices((ranks // below, ranks)))
        lacks = which // below != child
        child, which = child[lacks], which[lacks]
        table.add(2 * top - 1 - level, high + child * below // unit, low + child, which)
    return gathering("All-gather by switches", ranks, table.done(), **_switches(degrees))


def reduce_scatter(degrees: Sequence[int]) -> Schedule:
    """Reduce-scatter by reducing switches: the all-gather in reverse."""
    return all_gather(degrees).backwards("Reduce-scatter by switches")


def all_reduce(degrees: Sequence[int], inner: int = 1, pieces: int = 1) -> Schedule:
    """All-reduce by reducing switches: sums climb to the top, the result comes down; V in each direction on every link.

    ``inner``: the array is sharded over that many neighboring ranks, shard y on the ranks equal to y modulo
    ``inner``. ``pieces``: each shard is split into that many, one step behind each other; 2 levels + pieces - 1 steps.
    """
    degrees = need_counts(degrees, "degrees")
    ranks, units = prod(degrees), _units(degrees)
    need_count(pieces, "pieces")
    if ranks % need_count(inner, "inner"):
        raise ValueError(f"inner: expected a divisor of the {ranks} ranks; got {inner}")
    table, top = TransferTable(), _top(degrees)
    for level in range(top if inner < ranks else 0):
        (low, below), (high, unit) = units[level], units[level + 1]
        rank, piece = (a.ravel() for a in np.indices((ranks, pieces)))
        rows = np.unique(np.stack([rank // below, rank % inner, piece]), axis=1)  # shards that the child holds
        child, shard, piece = rows
        over, chunk = high + child * below // unit, shard * pieces + piece
        table.add(piece + level, low + child, over, chunk, True)
        table.add(piece + 2 * top - 1 - level, over, low + child, chunk)
    start = np.arange(inner * pieces) // pieces == np.arange(ranks)[:, None] % inner
    title = "All-reduce by switches"
    return Schedule(title, ranks, inner * pieces, table.done(), start, start, **_switches(degrees))
