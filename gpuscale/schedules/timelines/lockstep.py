"""A schedule whose ranks take every step together: each step lasts one latency and the time of its busiest rank.

It moves contributions and forms no closed cost, so that it can check the formulas of collectives.
"""

from dataclasses import dataclass

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Lockstep:
    """What every rank does in each step of a schedule, and how much of its result it knows after it.

    ``sent``: the part of V that the busiest rank sends in a step, shape (steps,). ``active``: whether a rank sends or
    receives in a step, shape (steps, ranks). ``known``: the fraction of its result that a rank has complete after so
    many steps, shape (steps + 1, ranks).
    """

    schedule: Schedule
    sent: np.ndarray
    active: np.ndarray
    known: np.ndarray

    @property
    def partial(self) -> np.ndarray:
        """Whether a step only makes sums grow, so that no rank knows more of its result after it, shape (steps,)."""
        return np.diff(self.known.sum(axis=1)) <= 0

    def ends(self, V: float, alpha: float, W: float) -> np.ndarray:
        """When each step ends [s], for V bytes [B], a latency alpha [s] and the bandwidth W of each rank [B/s]."""
        return np.cumsum(alpha + self.sent * V / W)

    def known_at(self, t: float, V: float, alpha: float, W: float) -> np.ndarray:
        """The fraction of its result that each rank knows at the time ``t`` [s].

        What a step brings arrives in proportion while its bytes cross the link, after its latency.
        """
        ends = self.ends(V, alpha, W)
        step = int(np.searchsorted(ends, t, side="right"))
        if step == len(ends):
            return self.known[-1]
        begin = ends[step] - self.sent[step] * V / W
        part = float(np.clip((t - begin) / (ends[step] - begin), 0, 1))
        return self.known[step] + part * (self.known[step + 1] - self.known[step])


def lockstep(schedule: Schedule) -> Lockstep:
    """Put a schedule between ranks into lockstep. Raises ValueError for one with switches.

    >>> from gpuscale.schedules.collectives import ring
    >>> run = lockstep(ring.all_reduce(4))
    >>> f"{run.ends(V=4e6, alpha=0, W=1e9)[-1]:.3f} s, the last half of it for complete sums: {run.known[3:, 0]}"
    '0.006 s, the last half of it for complete sums: [0.25 0.5  0.75 1.  ]'
    """
    if schedule.switches:
        raise ValueError(f"{schedule.title}: expected a schedule between ranks; got one with switches")
    ranks, steps = schedule.ranks, schedule.steps
    holds = schedule.start[:, :, None] & np.eye(ranks, dtype=bool)[:, None, :]
    whole = holds.any(axis=0)  # whose data the sum of each chunk has to hold
    need = np.maximum(schedule.end.sum(axis=1), 1)
    known = np.zeros((steps + 1, ranks))
    sent, active = np.zeros(steps), np.zeros((steps, ranks), bool)

    def complete() -> np.ndarray:
        return (holds == whole).all(axis=2)

    known[0] = (complete() & schedule.end).sum(axis=1) / need
    for step in range(steps):
        rows = schedule.rows(step)
        _, source, target, chunk, reduce = (column[rows] for column in schedule.columns)
        size = schedule.size[chunk] / schedule.whole
        sent[step] = np.bincount(source, size, ranks).max()
        active[step, source] = active[step, target] = True
        came = holds[source, chunk]
        for a, b, one, add in zip(target, chunk, came, reduce, strict=True):
            holds[a, b] = holds[a, b] | one if add else one
        known[step + 1] = (complete() & schedule.end).sum(axis=1) / need
    return Lockstep(schedule, sent, active, known)
