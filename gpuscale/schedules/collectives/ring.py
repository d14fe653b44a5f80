"""Rings: each rank sends only to the next one, a chunk at a time."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, columns, every, gathering, only, own
from gpuscale.schedules.counts import need_count, need_rank


def all_gather(ranks: int) -> Schedule:
    """Ring all-gather: in step t, rank r passes on chunk r - t. Chunk c is what rank c starts with."""
    step, rank = _turns(ranks)
    return gathering("Ring all-gather", ranks, columns(step, rank, (rank + 1) % ranks, (rank - step) % ranks))


def reduce_scatter(ranks: int) -> Schedule:
    """Ring reduce-scatter: in step t, rank r passes on its partial sum of chunk r - t - 1; it ends with chunk r."""
    step, rank = _turns(ranks)
    rows = columns(step, rank, (rank + 1) % ranks, (rank - step - 1) % ranks, True)
    return Schedule("Ring reduce-scatter", ranks, ranks, rows, every(ranks, ranks), own(ranks))


def all_reduce(ranks: int) -> Schedule:
    """Ring all-reduce: the ring reduce-scatter, then the ring all-gather."""
    return reduce_scatter(ranks).then(all_gather(ranks), "Ring all-reduce")


def neighbor_all_gather(ranks: int) -> Schedule:
    """Neighbor-exchange all-gather: a rank swaps what it got last with its right and left neighbor in turn; N/2 steps.

    For an even number of ranks. Even ranks begin with the right neighbor. After the first step all send two chunks.
    """
    if need_count(ranks) % 2:
        raise ValueError(f"ranks: expected an even number; got {ranks}")
    table, rank = TransferTable(), np.arange(ranks)
    first = rank - rank % 2  # the chunks that a rank got last: a pair of ranks, of which this is the even one
    table.add(0, rank, rank ^ 1, rank)
    for step in range(1, ranks // 2):
        partner = (rank + np.where((rank + step) % 2, -1, 1)) % ranks
        for place in (0, 1):
            table.add(step, rank, partner, first + place)
        first = first[partner]
    return gathering("Neighbor-exchange all-gather", ranks, table.done())


def broadcast(ranks: int, chunks: int, root: int = 0) -> Schedule:
    """A chain from the root, pipelined: each rank passes on a chunk one step after it got it."""
    need_rank(root, ranks)
    place, chunk = (a.ravel() for a in np.indices((ranks - 1, need_count(chunks, "chunks"))))  # steps from the root
    rows = columns(place + chunk, (root + place) % ranks, (root + place + 1) % ranks, chunk)
    start = only(ranks, chunks, root)
    return Schedule("Pipelined chain broadcast", ranks, chunks, rows, start, every(ranks, chunks))


def _turns(ranks: int) -> tuple[np.ndarray, ...]:
    """Steps and ranks of one turn around the ring."""
    return tuple(a.ravel() for a in np.indices((need_count(ranks) - 1, ranks), dtype=np.int32))
