"""The simplest schedule of each primitive: one step in which every rank sends to whoever needs its data.

Correct, not fast: the root of a broadcast sends its whole buffer to each of the others.
"""

from dataclasses import replace

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, columns, every, exchange, gathering, only
from gpuscale.schedules.counts import need_count, need_rank


def _pairs(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair of different ranks."""
    source, target = (a.ravel() for a in np.indices((need_count(ranks), ranks)))
    return source[source != target], target[source != target]


def _others(root: int, ranks: int) -> np.ndarray:
    """Every rank but the root."""
    return np.delete(np.arange(need_count(ranks)), need_rank(root, ranks))


def broadcast(ranks: int, root: int = 0) -> Schedule:
    """The root sends its buffer to every other rank: V (N - 1) in one step."""
    others = _others(root, ranks)
    rows = columns(0, root, others, 0)
    return Schedule("Direct broadcast", ranks, 1, rows, only(ranks, 1, root), every(ranks, 1))


def reduce(ranks: int, root: int = 0) -> Schedule:
    """Every other rank sends its vector to the root, which adds them up: the broadcast in reverse."""
    return broadcast(ranks, root).backwards("Direct reduce")


def scatter(ranks: int, root: int = 0) -> Schedule:
    """The root sends part r to rank r."""
    others = _others(root, ranks)
    rows = columns(0, root, others, others)
    return Schedule("Direct scatter", ranks, ranks, rows, only(ranks, ranks, root), np.eye(ranks, dtype=bool))


def gather(ranks: int, root: int = 0) -> Schedule:
    """Rank r sends its array to the root: the scatter in reverse."""
    others = _others(root, ranks)
    rows = columns(0, others, root, others)
    return Schedule("Direct gather", ranks, ranks, rows, np.eye(ranks, dtype=bool), only(ranks, ranks, root))


def all_gather(ranks: int) -> Schedule:
    """Every rank sends its array to every other."""
    source, target = _pairs(ranks)
    return gathering("Direct all-gather", ranks, columns(0, source, target, source))


def reduce_scatter(ranks: int) -> Schedule:
    """Every rank sends part r of its vector to rank r, which adds what arrives."""
    source, target = _pairs(ranks)
    rows = columns(0, source, target, target, True)
    return Schedule("Direct reduce-scatter", ranks, ranks, rows, every(ranks, ranks), np.eye(ranks, dtype=bool))


def all_reduce(ranks: int) -> Schedule:
    """Every rank sends its whole vector to every other: V (N - 1) from each."""
    source, target = _pairs(ranks)
    rows = columns(0, source, target, 0, True)
    return Schedule("Direct all-reduce", ranks, 1, rows, every(ranks, 1), every(ranks, 1))


def all_to_all(ranks: int) -> Schedule:
    """Chunk s N + t goes from rank s to rank t, all at once."""
    source, target = _pairs(ranks)
    return exchange("Direct all-to-all", ranks, columns(0, source, target, source * ranks + target))


def barrier(ranks: int) -> Schedule:
    """Every rank sends a token to every other and goes on when it has all of them."""
    return replace(all_gather(ranks), title="Barrier")


def send_recv(ranks: int, source: int = 0, target: int = 1) -> Schedule:
    """One rank sends its array to one other."""
    need_rank(source, need_count(ranks, least=2), "source")
    rows = columns(0, source, need_rank(target, ranks, "target"), 0)
    return Schedule("Send and receive", ranks, 1, rows, only(ranks, 1, source), only(ranks, 1, target))


_ALL = (broadcast, scatter, gather, reduce, all_gather, reduce_scatter, all_reduce, all_to_all, barrier, send_recv)
SCHEDULES = {primitive.__name__: primitive for primitive in _ALL}
