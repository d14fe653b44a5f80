"""Collectives through a tree of switches that add and copy: what enters and leaves the switches of every level.

``degrees``: children of a unit at each level, from the lowest. Each unit has one switch (all its chips together);
``switch`` gives its node id. A step brings the data one level up or down.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, close_gaps, followed, mirrored, need_ranks


def _need_degrees(degrees: Sequence[int], least: int = 1) -> tuple[int, ...]:
    if len(degrees) < least:
        raise ValueError(f"degrees: expected {least} or more numbers, from the lowest level; got {degrees!r}")
    return tuple(need_ranks(degree, "degrees") for degree in degrees)


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
    """The node id of a unit's switch; level 1 is the lowest. Raises ValueError where there is none."""
    degrees = _need_degrees(degrees)
    if not 1 <= level <= len(degrees) or not 0 <= unit < prod(degrees[level:]):
        raise ValueError(f"level, unit: expected a switch of a tree of degrees {degrees}; got {level} and {unit}")
    return _units(degrees)[level][0] + unit


def _switches(degrees: tuple[int, ...]) -> dict:
    units, ranks = _units(degrees), prod(degrees)
    many = [ranks // below for _, below in units[1:]]
    names = [f"level {i} switch {u}" if n > 1 else f"level {i} switch" for i, n in enumerate(many, 1) for u in range(n)]
    return {"switches": sum(many), "switch_names": tuple(names), "group": degrees[0] if len(degrees) > 1 else 0}


def _climb(table: TransferTable, degrees: tuple[int, ...], first: int = 0) -> None:
    """The rows of an all-gather: every unit hands up all that it holds, then hands down what its children lack."""
    ranks, units, top = prod(degrees), _units(degrees), _top(degrees)
    chunk = np.arange(ranks)
    for level in range(top):
        (low, below), (high, unit) = units[level], units[level + 1]
        table.add(first + level, low + chunk // below, high + chunk // unit, chunk)
        child, which = (a.ravel() for a in np.indices((ranks // below, ranks)))
        lacks = which // below != child
        child, which = child[lacks], which[lacks]
        table.add(first + 2 * top - 1 - level, high + child * below // unit, low + child, which)


def all_gather(degrees: Sequence[int]) -> Schedule:
    """All-gather by copying switches: each rank sends its shard once, each link carries each shard once."""
    degrees = _need_degrees(degrees)
    table, ranks = TransferTable(), prod(degrees)
    _climb(table, degrees)
    own, every = np.eye(ranks, dtype=bool), np.ones((ranks, ranks), bool)
    return Schedule("All-gather by switches", ranks, ranks, table.done(), own, every, **_switches(degrees))


def reduce_scatter(degrees: Sequence[int]) -> Schedule:
    """Reduce-scatter by adding switches: the all-gather backwards."""
    degrees = _need_degrees(degrees)
    table, ranks = TransferTable(), prod(degrees)
    _climb(table, degrees)
    own, every = np.eye(ranks, dtype=bool), np.ones((ranks, ranks), bool)
    columns = mirrored(table.done())
    return Schedule("Reduce-scatter by switches", ranks, ranks, columns, every, own, **_switches(degrees))


def all_reduce(degrees: Sequence[int], inner: int = 1, pieces: int = 1) -> Schedule:
    """All-reduce by adding switches: sums climb to the top, the result comes down; V each way on every link.

    ``inner``: the array is sharded over that many neighbouring ranks, shard y on the ranks equal to y modulo
    ``inner``. ``pieces``: each shard is cut into that many, one step behind each other; 2 levels + pieces - 1 steps.
    """
    degrees = _need_degrees(degrees)
    ranks, units = prod(degrees), _units(degrees)
    need_ranks(pieces, "pieces")
    if ranks % need_ranks(inner, "inner"):
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


def rail_all_reduce(degrees: Sequence[int]) -> Schedule:
    """All-reduce with NICs that feed their GPU: the node's switch reduces and scatters (its owner's part
    stays at the owner), the network's switches reduce each shard along its rail, the node's switch copies the result.

    A node's NICs carry V up and V down; 2 levels + 2 steps. The switches of a node have no link to the network:
    those of level 2 hang below the GPUs' NICs. Two levels or more.
    """
    degrees = _need_degrees(degrees, least=2)
    ranks, node, units = prod(degrees), degrees[0], _units(degrees)
    inside, table, top = units[1][0], TransferTable(), max(1, _top(degrees))
    rank, chunk = (a.ravel() for a in np.indices((ranks, node)))
    home, away = rank % node == chunk, rank % node != chunk
    sw, last = inside + rank // node, 2 * top + 1
    if node > 1:
        table.add(0, rank[away], sw[away], chunk[away], True)
        table.add(1, sw[home], rank[home], chunk[home], True)
        table.add(last - 1, rank[home], sw[home], chunk[home])
        table.add(last, sw[away], rank[away], chunk[away])
    for level in range(1, top):
        (low, below), (high, unit) = units[level], units[level + 1]
        child, lane = (a.ravel() for a in np.indices((ranks // below, node)))
        under = child * node + lane if level == 1 else low + child
        table.add(1 + level, under, high + child * below // unit, lane, True)
        table.add(last - 1 - level, high + child * below // unit, under, lane)
    every, columns = np.ones((ranks, node), bool), close_gaps(table.done())
    return Schedule("All-reduce by rails", ranks, node, columns, every, every, **_switches(degrees))


def gather_after_scatter(degrees: Sequence[int]) -> Schedule:
    """All-reduce as the reduce-scatter and then the all-gather of the switches."""
    down, up = reduce_scatter(degrees), all_gather(degrees)
    every = np.ones((up.ranks, up.ranks), bool)
    columns = followed(down.columns, up.columns)
    return Schedule(
        "Reduce-scatter, then all-gather by switches",
        up.ranks,
        up.ranks,
        columns,
        every,
        every,
        **_switches(tuple(degrees)),
    )
