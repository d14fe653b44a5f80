"""A layer sharded over ranks and computed with real numbers: column then row, with collectives in between.

Tokens lie along the first axis. Between the blocks each rank holds an equal part of the tokens (or, in the
all-reduce form, all of them). Every matmul and every byte is counted where it happens; nothing here knows a cost
formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gpuscale.schedules.collectives import ring
from gpuscale.schedules.counts import need_count


@dataclass
class Work:
    """What the ranks did. ``flops``: FLOPs of each rank; ``moves``: for each collective its name and the bytes
    that the busiest rank sent; ``held``: for each rank the bytes of its largest gathered activation."""

    ranks: int
    flops: list[int] = field(default_factory=list)
    moves: list[tuple[str, Fraction]] = field(default_factory=list)
    held: list[int] = field(default_factory=list)

    def __post_init__(self):
        need_count(self.ranks)
        self.flops, self.held = [0] * self.ranks, [0] * self.ranks

    @property
    def sent(self) -> Fraction:
        """Total bytes that the busiest rank sent."""
        return sum((sent for _, sent in self.moves), Fraction(0))

    def product(self, rank: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """A matmul, with two FLOPs per multiply-add."""
        self.flops[rank] += 2 * left.shape[0] * left.shape[1] * right.shape[1]
        return left @ right

    def gather(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Ring all-gather of equal parts along the first axis."""
        out = self._moved(ring.all_gather(self.ranks), parts, "all-gather", sum(p.nbytes for p in parts))
        self.held = [max(before, now.nbytes) for before, now in zip(self.held, out, strict=True)]
        return out

    def scatter(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Ring reduce-scatter: rank r ends with the r-th share of the sum."""
        return self._moved(ring.reduce_scatter(self.ranks), parts, "reduce-scatter", parts[0].nbytes)

    def reduce(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Ring all-reduce."""
        return self._moved(ring.all_reduce(self.ranks), parts, "all-reduce", parts[0].nbytes)

    def _moved(self, schedule, parts, name: str, whole: int) -> list[np.ndarray]:
        out = schedule.run([np.asarray(p) for p in parts])
        self.moves.append((name, schedule.busiest() * whole))
        return out


def columns(matrix: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Equal slices along the last axis. Raises ValueError if it does not divide."""
    return _cut(matrix, ranks, -1)


def rows(matrix: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Equal slices along the first axis. Raises ValueError if it does not divide."""
    return _cut(matrix, ranks, 0)


def _cut(matrix: np.ndarray, ranks: int, axis: int) -> list[np.ndarray]:
    if matrix.shape[axis] % need_count(ranks):
        raise ValueError(f"ranks: expected a divisor of {matrix.shape[axis]}, the length of axis {axis}; got {ranks}")
    return np.split(matrix, ranks, axis)


def relu(x: np.ndarray) -> np.ndarray:
    """Max(x, 0): exact for whole numbers, and its derivative is 0 or 1."""
    return np.maximum(x, 0)


def _hidden(x: np.ndarray, into: Sequence[np.ndarray], product) -> np.ndarray:
    """Between the matrices: relu of the first result, times the second if there is a gate."""
    first, *gate = (product(x, matrix) for matrix in into)
    return relu(first) * gate[0] if gate else relu(first)


def mlp(x, into: Sequence[np.ndarray], out: np.ndarray, ranks: int, sequence: bool = True) -> tuple[list, Work]:
    """The MLP over ranks: ``into`` sharded by columns, ``out`` by rows.

    ``sequence``: each rank holds a share of the tokens between the blocks; all-gather in, reduce-scatter out. Without
    it every rank has all tokens; all-reduce out. Returns the result of each rank, and the Work.
    """
    work = Work(ranks)
    cut = list(zip(*(columns(matrix, ranks) for matrix in into), strict=True))
    inputs = work.gather(rows(x, ranks)) if sequence else [x] * ranks

    def partial(rank):
        hidden = _hidden(inputs[rank], cut[rank], lambda a, c: work.product(rank, a, c))
        return work.product(rank, hidden, rows(out, ranks)[rank])

    partials = [partial(rank) for rank in range(ranks)]
    return (work.scatter(partials) if sequence else work.reduce(partials)), work


def mlp_backward(x, into: np.ndarray, out: np.ndarray, gradient: np.ndarray, ranks: int) -> tuple[dict, Work]:
    """The backward pass of the two-matrix MLP in the sequence form, in which each rank stored only its share of x.

    ``gradient``: the derivative of the loss by the output, as x. Gathers the gradients and, once more, x;
    reduce-scatters the derivative by x. Returns {"x": shares, "into": columns, "out": rows} of the
    derivatives, and the Work.
    """
    work = Work(ranks)
    gradients, inputs = work.gather(rows(gradient, ranks)), work.gather(rows(x, ranks))
    found: dict = {"x": [], "into": [], "out": []}
    for rank, (first, second) in enumerate(zip(columns(into, ranks), rows(out, ranks), strict=True)):
        before = inputs[rank] @ first  # kept from the forward pass: no work of this one
        found["out"].append(work.product(rank, relu(before).T, gradients[rank]))
        inner = work.product(rank, gradients[rank], second.T) * (before > 0)
        found["into"].append(work.product(rank, inputs[rank].T, inner))
        found["x"].append(work.product(rank, inner, first.T))
    found["x"] = work.scatter(found["x"])
    return found, work
