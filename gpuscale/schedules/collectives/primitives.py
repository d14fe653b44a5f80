"""The meaning of each collective: plain numpy on a list of arrays, one per rank, without communication.

``buffers`` holds the input of each rank, all of one shape; where only the root or the source has an input, the others
are not read. The result is a list of what each rank has afterwards; an array without rows where it has nothing.
Parts are equal slices along the first axis. Every function raises ValueError for buffers that do not fit.
"""

from collections.abc import Sequence

import numpy as np


def _all(buffers: Sequence, parts: int = 1) -> list[np.ndarray]:
    """The buffers as arrays of one shape, whose first axis divides into ``parts``."""
    if not len(buffers):
        raise ValueError("buffers: expected one array per rank; got none")
    arrays = [np.asarray(b) for b in buffers]
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1 or () in shapes:
        raise ValueError(f"buffers: expected arrays of one shape, with one axis or more; got {sorted(shapes)}")
    if arrays[0].shape[0] % parts:
        raise ValueError(f"buffers: expected a first axis divisible by {parts}; got shape {arrays[0].shape}")
    return arrays


def _one(buffers: Sequence, rank: int, name: str) -> np.ndarray:
    """The input of a single rank."""
    if not 0 <= rank < len(buffers):
        raise ValueError(f"{name}: expected a rank from 0 to {len(buffers) - 1}; got {rank}")
    return _all([buffers[rank]])[0]


def _only(result: np.ndarray, rank: int, ranks: int) -> list[np.ndarray]:
    """The result at one rank, nothing at the others."""
    return [result if r == rank else result[:0] for r in range(ranks)]


def broadcast(buffers, root: int = 0):
    """Every rank gets the root's array."""
    given = _one(buffers, root, "root")
    return [given.copy() for _ in buffers]


def scatter(buffers, root: int = 0):
    """Rank r gets part r of the root's array."""
    return np.split(_all([_one(buffers, root, "root")], len(buffers))[0], len(buffers))


def gather(buffers, root: int = 0):
    """The root gets the arrays of all ranks, one after the other."""
    _one(buffers, root, "root")
    return _only(np.concatenate(_all(buffers)), root, len(buffers))


def reduce(buffers, root: int = 0):
    """The root gets the sum."""
    _one(buffers, root, "root")
    return _only(np.sum(_all(buffers), axis=0), root, len(buffers))


def all_gather(buffers):
    """Every rank gets the arrays of all, one after the other."""
    gathered = np.concatenate(_all(buffers))
    return [gathered.copy() for _ in buffers]


def reduce_scatter(buffers):
    """Rank r gets part r of the sum."""
    return np.split(np.sum(_all(buffers, len(buffers) or 1), axis=0), len(buffers))


def all_reduce(buffers):
    """Every rank gets the sum."""
    total = np.sum(_all(buffers), axis=0)
    return [total.copy() for _ in buffers]


def all_to_all(buffers):
    """Rank r gets part r of every rank's array, in the order of the ranks: a transpose of blocks."""
    cut = [np.split(a, len(buffers)) for a in _all(buffers, len(buffers) or 1)]
    return [np.concatenate(column) for column in zip(*cut, strict=True)]


def barrier(buffers):
    """Every rank has the token of every rank: nobody continues before all have arrived."""
    return all_gather(buffers)


def send_recv(buffers, source: int = 0, target: int = 1):
    """The target gets the source's array."""
    _one(buffers, target, "target")
    return _only(_one(buffers, source, "source"), target, len(buffers))
