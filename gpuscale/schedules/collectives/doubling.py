"""Distances that double or halve: few steps, each with another partner. Ranks are a power of two."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, every, gathering, own
from gpuscale.schedules.counts import need_count


def _distances(ranks: int) -> list[int]:
    """1, 2, 4, ... up to half of a power of two, else ValueError."""
    if need_count(ranks) & (ranks - 1):
        raise ValueError(f"ranks: expected a power of two (1, 2, 4, 8, ...); got {ranks}")
    return [1 << k for k in range(ranks.bit_length() - 1)]


def _swaps(ranks: int, steps: list[tuple[int, int]], adds: bool = False) -> tuple[np.ndarray, ...]:
    """The columns for steps of (distance, chunks): partners at the distance swap the aligned block of so many chunks
    around the sender; or around its partner, which adds it."""
    table = TransferTable()
    for step, (distance, chunks) in enumerate(steps):
        rank, place = (a.ravel() for a in np.indices((ranks, chunks)))
        partner = rank ^ distance
        first = (partner if adds else rank) // chunks * chunks
        table.add(step, rank, partner, first + place, adds)
    return table.done()


def all_gather(ranks: int) -> Schedule:
    """Recursive doubling: in step k, partners at distance 2^k swap all they have."""
    rows = _swaps(ranks, [(distance, distance) for distance in _distances(ranks)])
    return gathering("Recursive-doubling all-gather", ranks, rows)


def reduce_scatter(ranks: int) -> Schedule:
    """Recursive halving: partners at distance N/2, N/4, ..., 1 exchange the halves that the other keeps."""
    rows = _swaps(ranks, [(distance, distance) for distance in reversed(_distances(ranks))], adds=True)
    return Schedule("Recursive-halving reduce-scatter", ranks, ranks, rows, every(ranks, ranks), own(ranks))


def butterfly_reduce_scatter(ranks: int) -> Schedule:
    """Recursive halving in the other order: partners at distance 1, 2, ..., N/2 swap the chunks that the other keeps.

    After step k, rank r keeps the chunks that are equal to r modulo 2^(k + 1).
    """
    table = TransferTable()
    for step, distance in enumerate(_distances(ranks)):
        rank, place = (a.ravel() for a in np.indices((ranks, ranks // (2 * distance))))
        partner = rank ^ distance
        table.add(step, rank, partner, partner % (2 * distance) + 2 * distance * place, True)
    return Schedule("Butterfly reduce-scatter", ranks, ranks, table.done(), every(ranks, ranks), own(ranks))


def all_reduce(ranks: int) -> Schedule:
    """Recursive doubling: in each of log2(N) steps, partners swap the whole vector and add."""
    rows = _swaps(ranks, [(distance, ranks) for distance in _distances(ranks)], adds=True)
    all_of_it = every(ranks, ranks)
    return Schedule("Recursive-doubling all-reduce", ranks, ranks, rows, all_of_it, all_of_it)


def halving_doubling(ranks: int) -> Schedule:
    """Halving-doubling all-reduce: the recursive-halving reduce-scatter, then the recursive-doubling all-gather."""
    return reduce_scatter(ranks).then(all_gather(ranks), "Halving-doubling all-reduce")
