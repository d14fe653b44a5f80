"""One switch that reduces and multicasts: NVLS in a node, SHARP in a network. It is the node after the ranks."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, every
from gpuscale.schedules.collectives.schedule import own as owned
from gpuscale.schedules.counts import need_count


def all_reduce(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """All-reduce in four phases: each rank owns the shard with its number.

    Phase 0: the switch reads each shard from the ranks and adds. Phase 1: it hands the sum to the shard's owner.
    Phase 2: the owner sends the result to the switch. Phase 3: the switch copies it to the ranks. With ``own``
    false, the owner's shard never leaves it: it adds its own part to the sum and keeps the result, V (N - 1)/N + V/N
    sent. With ``own`` true, the switch reads and writes the owner as well: V (N + 1)/N. ``pieces``: the vector is split
    into that many, each one step behind the one before, so that both directions are busy at once; pieces + 3 steps.
    """
    return _phases("In-network all-reduce", ranks, own, pieces, adds=True, copies=True)


def reduce_scatter(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """The first two phases: the switch adds each shard and hands the sum to its owner."""
    return _phases("In-network reduce-scatter", ranks, own, pieces, adds=True)


def all_gather(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """The last two phases: each rank sends its shard once, the switch copies it to the others (``own``: to all)."""
    return _phases("In-network all-gather", ranks, own, pieces, copies=True)


def _phases(title: str, ranks: int, own: bool, pieces: int, adds: bool = False, copies: bool = False) -> Schedule:
    """The phases in which the switch reduces, those in which it multicasts, or both. Chunk = owner * pieces + piece."""
    chunks, switch, table = need_count(ranks) * need_count(pieces, "pieces"), ranks, TransferTable()
    rank, chunk = (a.ravel() for a in np.indices((ranks, chunks)))
    home, piece = rank == chunk // pieces, chunk % pieces
    away = np.ones(rank.size, bool) if own else ~home
    some = ranks > 1 or own
    if adds and some:
        table.add(piece[away], rank[away], switch, chunk[away], True)
        table.add(piece[home] + 1, switch, rank[home], chunk[home], not own)
    if copies and some:
        first = piece + 2 * adds
        table.add(first[home], rank[home], switch, chunk[home])
        table.add(first[away] + 1, switch, rank[away], chunk[away])
    mine, whole = owned(ranks, pieces), every(ranks, chunks)
    start, end = whole if adds else mine, whole if copies else mine
    return Schedule(title, ranks, chunks, table.done(), start, end, switches=1, switch_names=("switch",))
