"""Distances that double or halve: few steps, each with another partner. Ranks are a power of two."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, every, gathering, own
from gpuscale.schedules.counts import need_count


def _power(ranks: int) -> int:
    """The exponent of a power of two, else ValueError."""
    if need_count(ranks) & (ranks - 1):
        raise ValueError(f"ranks: expected a power of two (1, 2, 4, 8, ...); got {ranks}")
    return ranks.bit_length() - 1


def _exchange(table: TransferTable, step: int, ranks: int, distance: int, of_partner: bool) -> None:
    """Partners at a distance swap the aligned block of ``distance`` chunks around the sender; or around its partner,
    which adds it."""
    rank, place = (a.ravel() for a in np.indices((ranks, distance)))
    partner = rank ^ distance
    block = (partner if of_partner else rank) // distance * distance
    table.add(step, rank, partner, block + place, of_partner)


def all_gather(ranks: int) -> Schedule:
    """Recursive doubling: in step k, partners at distance 2^k swap all they have."""
    table = TransferTable()
    for k in range(_power(ranks)):
        _exchange(table, k, ranks, 1 << k, of_partner=False)
    return gathering("Recursive-doubling all-gather", ranks, table.done())


def reduce_scatter(ranks: int) -> Schedule:
    """Recursive halving: partners at distance N/2, N/4, ..., 1 give each other the half that the other keeps."""
    table = TransferTable()
    for k in range(_power(ranks)):
        _exchange(table, k, ranks, ranks >> (k + 1), of_partner=True)
    return Schedule("Recursive-halving reduce-scatter", ranks, ranks, table.done(), every(ranks, ranks), own(ranks))


def all_reduce(ranks: int) -> Schedule:
    """Recursive doubling: in each of log2(N) steps, partners swap the whole vector and add."""
    table = TransferTable()
    for k in range(_power(ranks)):
        rank, chunk = (a.ravel() for a in np.indices((ranks, ranks)))
        table.add(k, rank, rank ^ (1 << k), chunk, True)
    all_of_it = every(ranks, ranks)
    return Schedule("Recursive-doubling all-reduce", ranks, ranks, table.done(), all_of_it, all_of_it)


def halving_doubling(ranks: int) -> Schedule:
    """Halving-doubling all-reduce: the recursive-halving reduce-scatter, then the recursive-doubling all-gather."""
    return reduce_scatter(ranks).then(all_gather(ranks), "Halving-doubling all-reduce")
