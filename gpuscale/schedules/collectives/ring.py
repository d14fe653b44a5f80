"""Rings: each rank sends to the next one only, a chunk at a time."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, need_ranks


def all_gather(ranks: int) -> Schedule:
    """Ring all-gather: in step t, rank r passes on chunk r - t. Chunk c is what rank c starts with."""
    need_ranks(ranks)
    table = TransferTable()
    _gather(table, ranks, first=0)
    own, every = np.eye(ranks, dtype=bool), np.ones((ranks, ranks), bool)
    return Schedule("Ring all-gather", ranks, ranks, table.done(), own, every)


def reduce_scatter(ranks: int) -> Schedule:
    """Ring reduce-scatter: in step t, rank r passes on its partial sum of chunk r - t - 1; it ends with chunk r."""
    need_ranks(ranks)
    table = TransferTable()
    _scatter(table, ranks)
    own, every = np.eye(ranks, dtype=bool), np.ones((ranks, ranks), bool)
    return Schedule("Ring reduce-scatter", ranks, ranks, table.done(), every, own)


def all_reduce(ranks: int) -> Schedule:
    """Ring all-reduce: the ring reduce-scatter, then the ring all-gather."""
    need_ranks(ranks)
    table = TransferTable()
    _scatter(table, ranks)
    _gather(table, ranks, first=ranks - 1)
    every = np.ones((ranks, ranks), bool)
    return Schedule("Ring all-reduce", ranks, ranks, table.done(), every, every)


def broadcast(ranks: int, chunks: int, root: int = 0) -> Schedule:
    """A chain from the root, pipelined: each rank passes on a chunk one step after it got it."""
    need_ranks(ranks)
    need_ranks(chunks, "chunks")
    if not 0 <= root < ranks:
        raise ValueError(f"root: expected 0 to {ranks - 1}; got {root}")
    table = TransferTable()
    place, chunk = (a.ravel() for a in np.indices((ranks - 1, chunks)))  # steps from the root
    table.add(place + chunk, (root + place) % ranks, (root + place + 1) % ranks, chunk)
    start = np.zeros((ranks, chunks), bool)
    start[root] = True
    return Schedule("Pipelined chain broadcast", ranks, chunks, table.done(), start, np.ones((ranks, chunks), bool))


def _grid(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps and ranks of one turn around the ring."""
    return tuple(a.ravel() for a in np.indices((ranks - 1, ranks), dtype=np.int32))


def _gather(table: TransferTable, ranks: int, first: int) -> None:
    step, rank = _grid(ranks)
    table.add(step + first, rank, (rank + 1) % ranks, (rank - step) % ranks)


def _scatter(table: TransferTable, ranks: int) -> None:
    step, rank = _grid(ranks)
    table.add(step, rank, (rank + 1) % ranks, (rank - step - 1) % ranks, True)
