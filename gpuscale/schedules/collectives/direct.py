"""The simplest schedule of each primitive: one step in which every rank sends to whoever needs its data.

The correct, not the quick way: the root of a broadcast sends its whole buffer to each of the others.
"""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, need_ranks


def _need_node(name: str, rank: int, ranks: int) -> None:
    if not 0 <= rank < ranks:
        raise ValueError(f"{name}: expected a rank from 0 to {ranks - 1}; got {rank}")


def _pairs(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair of different ranks."""
    source, target = (a.ravel() for a in np.indices((ranks, ranks)))
    return source[source != target], target[source != target]


def _full(ranks: int, chunks: int) -> np.ndarray:
    return np.ones((ranks, chunks), bool)


def _row(ranks: int, chunks: int, rank: int) -> np.ndarray:
    return np.arange(ranks)[:, None] == np.full((1, chunks), rank)


def _make(title: str, ranks: int, chunks: int, rows: tuple, start: np.ndarray, end: np.ndarray) -> Schedule:
    table = TransferTable()
    table.add(0, *rows)
    return Schedule(title, ranks, chunks, table.done(), start, end)


def broadcast(ranks: int, root: int = 0) -> Schedule:
    """The root sends its buffer to every other rank: V (N - 1) in one step."""
    _need_node("root", root, need_ranks(ranks))
    others = np.delete(np.arange(ranks), root)
    return _make("Direct broadcast", ranks, 1, (root, others, 0), _row(ranks, 1, root), _full(ranks, 1))


def reduce(ranks: int, root: int = 0) -> Schedule:
    """Every other rank sends its vector to the root, which adds them up: the broadcast backwards."""
    _need_node("root", root, need_ranks(ranks))
    others = np.delete(np.arange(ranks), root)
    return _make("Direct reduce", ranks, 1, (others, root, 0, True), _full(ranks, 1), _row(ranks, 1, root))


def scatter(ranks: int, root: int = 0) -> Schedule:
    """The root sends part r to rank r."""
    _need_node("root", root, need_ranks(ranks))
    others = np.delete(np.arange(ranks), root)
    own = np.eye(ranks, dtype=bool)
    return _make("Direct scatter", ranks, ranks, (root, others, others), _row(ranks, ranks, root), own)


def gather(ranks: int, root: int = 0) -> Schedule:
    """Rank r sends its array to the root: the scatter backwards."""
    _need_node("root", root, need_ranks(ranks))
    others = np.delete(np.arange(ranks), root)
    own = np.eye(ranks, dtype=bool)
    return _make("Direct gather", ranks, ranks, (others, root, others), own, _row(ranks, ranks, root))


def all_gather(ranks: int) -> Schedule:
    """Every rank sends its array to every other."""
    source, target = _pairs(need_ranks(ranks))
    own = np.eye(ranks, dtype=bool)
    return _make("Direct all-gather", ranks, ranks, (source, target, source), own, _full(ranks, ranks))


def reduce_scatter(ranks: int) -> Schedule:
    """Every rank sends part r of its vector to rank r, which adds what comes."""
    source, target = _pairs(need_ranks(ranks))
    own = np.eye(ranks, dtype=bool)
    return _make("Direct reduce-scatter", ranks, ranks, (source, target, target, True), _full(ranks, ranks), own)


def all_reduce(ranks: int) -> Schedule:
    """Every rank sends its whole vector to every other: V (N - 1) from each."""
    source, target = _pairs(need_ranks(ranks))
    full = _full(ranks, 1)
    return _make("Direct all-reduce", ranks, 1, (source, target, 0, True), full, full)


def all_to_all(ranks: int) -> Schedule:
    """Chunk s N + t goes from rank s to rank t, all at once."""
    source, target = _pairs(need_ranks(ranks))
    chunk = np.arange(ranks**2)
    start, end = (owner == np.arange(ranks)[:, None] for owner in (chunk // ranks, chunk % ranks))
    return _make("Direct all-to-all", ranks, ranks**2, (source, target, source * ranks + target), start, end)


def barrier(ranks: int) -> Schedule:
    """Every rank sends a token to every other and goes on when it has all of them."""
    source, target = _pairs(need_ranks(ranks))
    own = np.eye(ranks, dtype=bool)
    return _make("Barrier", ranks, ranks, (source, target, source), own, _full(ranks, ranks))


def send_recv(ranks: int, source: int = 0, target: int = 1) -> Schedule:
    """One rank sends its array to one other."""
    need_ranks(ranks, least=2)
    _need_node("source", source, ranks)
    _need_node("target", target, ranks)
    rows = (source, target, 0)
    return _make("Send and receive", ranks, 1, rows, _row(ranks, 1, source), _row(ranks, 1, target))


SCHEDULES = {
    "broadcast": broadcast,
    "scatter": scatter,
    "gather": gather,
    "reduce": reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "all_reduce": all_reduce,
    "all_to_all": all_to_all,
    "barrier": barrier,
    "send_recv": send_recv,
}
