"""A warp that runs a small program lane by lane: what is issued, for which lanes, and which lanes are idle.

It moves real values, so that the result can be checked against plain numpy; it shares no algebra with the
formulas.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpuscale.schedules.counts import counted

LANES = 32


@dataclass(frozen=True)
class Op:
    """One instruction: its text, and what it does to the value of each active lane."""

    text: str
    apply: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Branch:
    """A condition on the lane's value, and the instructions of either path."""

    text: str
    condition: Callable[[np.ndarray], np.ndarray]
    then: "Sequence[Op | Branch]"
    other: "Sequence[Op | Branch]" = ()


@dataclass(frozen=True)
class Issue:
    """One issue slot: the instruction, its path, and which lanes were active."""

    text: str
    path: str
    active: tuple[bool, ...]


@dataclass(frozen=True)
class WarpRun:
    """What a warp did: its issue slots in order and the values the lanes ended with."""

    issues: tuple[Issue, ...]
    values: np.ndarray

    def __repr__(self) -> str:
        """A summary; the issue slots and the values are attributes."""
        idle = self.idle_after(len(self.issues))
        slots = f"{counted(len(self.issues), 'issue slot')}, {idle} of {self.lane_slots} lane slots idle"
        return f"A warp of {counted(len(self.values), 'lane')}\n  {slots}"

    @property
    def lane_slots(self) -> int:
        """Lanes times issue slots."""
        return sum(len(issue.active) for issue in self.issues)

    def idle_after(self, step: int) -> int:
        """Idle lane slots after that many issue slots."""
        return sum(not lane for issue in self.issues[:step] for lane in issue.active)


def run(program: Sequence[Op | Branch], values) -> WarpRun:
    """Run a program on one warp. ``values``: one number for each lane, shape (lanes,).

    A path is issued only if some lane takes it; lanes on the other path wait. Raises ValueError for no lanes.
    """
    lanes = np.array(values, dtype=float)
    if lanes.ndim != 1 or not lanes.size:
        raise ValueError(f"values: expected one number for each lane, shape (lanes,); got shape {lanes.shape}")
    issues: list[Issue] = []
    _run(program, lanes, np.ones(lanes.size, dtype=bool), "all", issues)
    return WarpRun(tuple(issues), lanes)


def _run(program, lanes, active, path, issues) -> None:
    for item in program:
        if isinstance(item, Op):
            lanes[active] = item.apply(lanes[active])
            issues.append(Issue(item.text, path, tuple(bool(a) for a in active)))
            continue
        holds = active.copy()
        holds[active] = np.asarray(item.condition(lanes[active]), dtype=bool)
        for taken, name, body in ((holds, item.text, item.then), (active & ~holds, f"not {item.text}", item.other)):
            if taken.any():
                _run(body, lanes, taken, name, issues)
