"""One switch that adds and copies: NVLS in a node, SHARP in a network. The switch is the node after the ranks."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, need_ranks


def _cells(ranks: int, pieces: int) -> tuple[np.ndarray, ...]:
    """Every rank with every chunk: rank, chunk, owner of the chunk, its piece. Chunk = owner * pieces + piece."""
    need_ranks(ranks)
    need_ranks(pieces, "pieces")
    rank, chunk = (a.ravel() for a in np.indices((ranks, ranks * pieces)))
    return rank, chunk, chunk // pieces, chunk % pieces


def _schedule(title: str, ranks: int, pieces: int, table: TransferTable, start: str, end: str) -> Schedule:
    chunk = np.arange(ranks * pieces)
    masks = {"own": chunk // pieces == np.arange(ranks)[:, None], "all": np.ones((ranks, chunk.size), bool)}
    return Schedule(
        title, ranks, chunk.size, table.done(), masks[start], masks[end], switches=1, switch_names=("switch",)
    )


def all_reduce(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """All-reduce in four phases: each rank looks after the shard that carries its number.

    Phase 0: the switch reads each shard from the ranks and adds. Phase 1: it hands the sum to the shard's owner.
    Phase 2: the owner sends the result to the switch. Phase 3: the switch copies it to the ranks. With ``own``
    false, the owner's shard never leaves it: it adds its own part to the sum and keeps the result, V (N - 1)/N + V/N
    sent. With ``own`` true, the switch reads and writes the owner as well: V (N + 1)/N. ``pieces``: the vector is cut
    into that many, each one step behind the one before, so that both directions are busy at once; pieces + 3 steps.
    """
    table = TransferTable()
    switch = ranks
    rank, chunk, owner, piece = _cells(ranks, pieces)
    away = np.ones(rank.size, bool) if own else rank != owner
    home = rank == owner
    if ranks > 1 or own:
        table.add(piece[away], rank[away], switch, chunk[away], True)
        table.add(piece[home] + 1, switch, rank[home], chunk[home], not own)
        table.add(piece[home] + 2, rank[home], switch, chunk[home])
        table.add(piece[away] + 3, switch, rank[away], chunk[away])
    return _schedule("In-network all-reduce", ranks, pieces, table, "all", "all")


def all_reduce_at_once(ranks: int, pieces: int = 1) -> Schedule:
    """All-reduce in two phases, as SHARP does it: every rank sends all, the switch adds and sends the sum to all."""
    table, switch = TransferTable(), ranks
    rank, chunk, _, piece = _cells(ranks, pieces)
    table.add(piece, rank, switch, chunk, True)
    table.add(piece + 1, switch, rank, chunk)
    return _schedule("One-shot in-network all-reduce", ranks, pieces, table, "all", "all")


def reduce_scatter(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """The first two phases: the switch adds each shard and hands the sum to its owner."""
    table, switch = TransferTable(), ranks
    rank, chunk, owner, piece = _cells(ranks, pieces)
    away = np.ones(rank.size, bool) if own else rank != owner
    home = rank == owner
    if ranks > 1 or own:
        table.add(piece[away], rank[away], switch, chunk[away], True)
        table.add(piece[home] + 1, switch, rank[home], chunk[home], not own)
    return _schedule("In-network reduce-scatter", ranks, pieces, table, "all", "own")


def all_gather(ranks: int, own: bool = False, pieces: int = 1) -> Schedule:
    """The last two phases: each rank sends its shard once, the switch copies it to the others (``own``: to all)."""
    table, switch = TransferTable(), ranks
    rank, chunk, owner, piece = _cells(ranks, pieces)
    away = np.ones(rank.size, bool) if own else rank != owner
    home = rank == owner
    if ranks > 1 or own:
        table.add(piece[home], rank[home], switch, chunk[home])
        table.add(piece[away] + 1, switch, rank[away], chunk[away])
    return _schedule("In-network all-gather", ranks, pieces, table, "own", "all")
