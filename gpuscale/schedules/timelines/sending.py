"""A schedule on the clock: each rank sends its next message as soon as its own link is free and the data has come.

It moves messages one at a time and forms no closed cost, so that it can check the formulas, also for unequal links.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Clocked:
    """When each transfer of a schedule runs.

    ``begin`` and ``end`` [s] belong to the rows of ``schedule.columns``. A transfer takes ``alpha`` [s], in which no
    byte moves, and then its bytes at the rate of its sender's link, ``W`` [B/s], one value for each rank. ``V`` is the
    whole buffer [B].
    """

    schedule: Schedule
    V: float
    alpha: float
    W: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    @property
    def total(self) -> float:
        """When the last transfer has ended [s]."""
        return float(self.end.max(initial=0))

    @property
    def marks(self) -> np.ndarray:
        """When the last transfer of each step has ended [s]."""
        last = np.zeros(self.schedule.steps)
        np.maximum.at(last, self.schedule.columns[0], self.end)
        return last

    def sent(self, t: float) -> np.ndarray:
        """The bytes that each rank has sent up to the time ``t``; those under way count in proportion."""
        moved = np.clip((t - self.begin - self.alpha) * self.W[self.schedule.columns[1]], 0, self._bytes())
        return np.bincount(self.schedule.columns[1], moved, self.schedule.ranks)

    def held(self, t: float) -> np.ndarray:
        """How many ranks' data each copy holds at the time ``t``, shape (ranks, chunks); 0 where there is none.

        What a rank sends on stays counted with it until something else arrives in its place.
        """
        start = self.schedule.start
        sums = start[:, :, None] & np.eye(self.schedule.ranks, dtype=bool)[:, None, :]
        if (start.sum(axis=0) == 1).all():  # one copy of each chunk: nothing is added up
            sums = np.repeat(start[:, :, None], 1, axis=2)
        for _, source, target, chunk, reduce, end in zip(*self.schedule.columns, self.end, strict=True):
            if end <= t:
                came = sums[source, chunk]
                sums[target, chunk] = sums[target, chunk] | came if reduce else came
        return sums.sum(axis=2)

    @property
    def waiting(self) -> float:
        """The fraction of the time in which a link neither starts a message nor carries one, averaged over links."""
        return 1 - float((self.end - self.begin).sum()) / self.schedule.ranks / self.total

    def _bytes(self) -> np.ndarray:
        """The bytes of each transfer."""
        return self.V * self.schedule.size[self.schedule.columns[3]] / self.schedule.whole


def clocked(schedule: Schedule, V: float, alpha: float, W: float | Sequence[float]) -> Clocked:
    """Put a schedule on the clock. ``W``: the bandwidth of each rank's link for what it sends, or one for all [B/s].

    A schedule between ranks alone, in which a rank sends at most one chunk in a step.
    Raises ValueError for another one, for a size or a bandwidth that is not positive, and for a negative latency.

    >>> from gpuscale.schedules.collectives import ring
    >>> run = clocked(ring.all_gather(4), V=4e6, alpha=0, W=[1e9, 1e9, 0.5e9, 1e9])
    >>> f"{run.total:.3f} s, and a rank waits {run.waiting:.1%} of it"
    '0.006 s, and a rank waits 37.5% of it'
    """
    rates = np.broadcast_to(np.asarray(W, float), (schedule.ranks,))
    if not (np.isfinite(V) and V > 0) or not (np.isfinite(rates) & (rates > 0)).all():
        raise ValueError(f"V, W: expected numbers above zero; got {V} and {W}")
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha: expected zero or more; got {alpha}")
    step, source, target, chunk, _ = schedule.columns
    messages = step.astype(np.int64) * schedule.nodes + source
    if schedule.switches or len(np.unique(messages)) < len(messages):
        raise ValueError(f"{schedule.title}: expected ranks that send at most one chunk in a step, and no switch")
    takes = alpha + V * schedule.size[chunk] / schedule.whole / rates[source]
    free = np.zeros(schedule.ranks)  # when each rank has sent its last message
    came = np.zeros((schedule.ranks, schedule.chunks))  # when each copy last changed
    begin, end = np.zeros(len(step)), np.zeros(len(step))
    for s in range(schedule.steps):
        rows = schedule.rows(s)
        a, b, c = source[rows], target[rows], chunk[rows]
        begin[rows] = np.maximum(free[a], came[a, c])
        end[rows] = free[a] = begin[rows] + takes[rows]
        came[b, c] = end[rows]
    return Clocked(schedule, float(V), float(alpha), rates, begin, end)
