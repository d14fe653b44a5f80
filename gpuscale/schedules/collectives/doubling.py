"""Distances that double or halve: few steps, each with another partner."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, need_power, need_ranks


def _masks(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Own chunk only; every chunk."""
    return np.eye(ranks, dtype=bool), np.ones((ranks, ranks), bool)


def _exchange(table: TransferTable, step: int, ranks: int, distance: int, of_partner: bool, reduce: bool) -> None:
    """Partners at a distance swap the aligned block of ``distance`` chunks around the sender or its partner."""
    rank, place = (a.ravel() for a in np.indices((ranks, distance)))
    partner = rank ^ distance
    block = (partner if of_partner else rank) // distance * distance
    table.add(step, rank, partner, block + place, reduce)


def all_gather(ranks: int) -> Schedule:
    """Recursive doubling: in step k, partners at distance 2^k swap all they have. Ranks: a power of two."""
    power, table = need_power(ranks), TransferTable()
    for k in range(power):
        _exchange(table, k, ranks, 1 << k, of_partner=False, reduce=False)
    own, every = _masks(ranks)
    return Schedule("Recursive-doubling all-gather", ranks, ranks, table.done(), own, every)


def reduce_scatter(ranks: int) -> Schedule:
    """Recursive halving: partners at distance N/2, N/4, ..., 1 give each other the half that the other keeps."""
    power, table = need_power(ranks), TransferTable()
    for k in range(power):
        _exchange(table, k, ranks, ranks >> (k + 1), of_partner=True, reduce=True)
    own, every = _masks(ranks)
    return Schedule("Recursive-halving reduce-scatter", ranks, ranks, table.done(), every, own)


def all_reduce(ranks: int) -> Schedule:
    """Recursive doubling: in each of log2(N) steps, partners swap the whole vector and add."""
    power, table = need_power(ranks), TransferTable()
    rank, chunk = (a.ravel() for a in np.indices((ranks, ranks)))
    for k in range(power):
        table.add(k, rank, rank ^ (1 << k), chunk, True)
    _, every = _masks(ranks)
    return Schedule("Recursive-doubling all-reduce", ranks, ranks, table.done(), every, every)


def halving_doubling(ranks: int) -> Schedule:
    """Halving-doubling all-reduce: the recursive-halving reduce-scatter, then the recursive-doubling all-gather."""
    power, table = need_power(ranks), TransferTable()
    for k in range(power):
        _exchange(table, k, ranks, ranks >> (k + 1), of_partner=True, reduce=True)
        _exchange(table, power + k, ranks, 1 << k, of_partner=False, reduce=False)
    _, every = _masks(ranks)
    return Schedule("Halving-doubling all-reduce", ranks, ranks, table.done(), every, every)


def bruck_all_gather(ranks: int) -> Schedule:
    """Bruck's all-gather: in step k, rank r sends all that rank r + 2^k lacks; ceil(log2 N) steps for any N."""
    need_ranks(ranks)
    own, every = _masks(ranks)
    return Schedule("Bruck all-gather", ranks, ranks, _dissemination(ranks), own, every)


def barrier(ranks: int) -> Schedule:
    """Dissemination barrier: after ceil(log2 N) steps every rank knows that all have come."""
    need_ranks(ranks)
    own, every = _masks(ranks)
    return Schedule("Dissemination barrier", ranks, ranks, _dissemination(ranks), own, every)


def _dissemination(ranks: int) -> tuple[np.ndarray, ...]:
    table, step, distance = TransferTable(), 0, 1
    while distance < ranks:
        rank, back = (a.ravel() for a in np.indices((ranks, min(distance, ranks - distance))))
        table.add(step, rank, (rank + distance) % ranks, (rank - back) % ranks)
        step, distance = step + 1, 2 * distance
    return table.done()
