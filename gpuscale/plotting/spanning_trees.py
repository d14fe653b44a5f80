"""A tree of ranks: who passes a buffer on to whom, the root on top, each rank on the level of the step that reaches
it."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscale.plotting.collectives import arrow
from gpuscale.plotting.drawing.figure import Still

_RADIUS, _LEVEL, _LEFT = 12, 52, 52  # pixels: of a rank, from level to level, for the names of the steps


def tree_figure(schedule, *, name, caption, **look) -> Still:
    """A broadcast as the tree of its transfers. A rank that passes data on is filled, a leaf is not.

    Raises ValueError for a schedule in which some rank is not reached from one root in one transfer.
    """
    step, source, target = (column.tolist() for column in schedule.columns[:3])
    parents, levels = [-1] * schedule.ranks, [0] * schedule.ranks
    for when, sender, receiver in zip(step, source, target, strict=True):
        parents[receiver], levels[receiver] = sender, when + 1
    if parents.count(-1) != 1 or len(target) != schedule.ranks - 1:
        raise ValueError(f"{name}: {schedule.title}: expected one transfer to each rank but one root; got {parents}")
    told = passed_on(parents)

    def paint(sheet):
        _tree(sheet, parents, levels)
        sheet.records.append(told)

    return Still(paint, name=name, caption=caption, **{"alt": f"{schedule.title} as a tree: {told}."} | look)


def passed_on(parents: Sequence[int]) -> str:
    """Who passes data on to whom, in words."""
    passing = [(rank, _children(parents, rank)) for rank in range(len(parents))]
    return ", ".join(f"{rank} to {' and '.join(map(str, below))}" for rank, below in passing if below)


def _tree(sheet, parents: Sequence[int], levels: Sequence[int]) -> None:
    across, top = _across(parents), _RADIUS + 3
    each = (sheet.across - _LEFT - 2 * _RADIUS - 4) / max(max(across), 1)
    place = [(_LEFT + _RADIUS + 2 + at * each, top + level * _LEVEL) for at, level in zip(across, levels, strict=True)]
    for level in range(max(levels) + 1):
        sheet.write(0, top + level * _LEVEL + 4.4, f"step {level}" if level else "start", "soft")
    for rank, parent in enumerate(parents):
        px, py = place[rank]
        if parent >= 0:
            qx, qy = place[parent]
            long = ((px - qx) ** 2 + (py - qy) ** 2) ** 0.5
            ux, uy = (px - qx) / long * (_RADIUS + 2), (py - qy) / long * (_RADIUS + 2)
            arrow(sheet, [qx + ux, px - ux], [qy + uy, py - uy], "scaleup")
        inner = rank in parents
        sheet.dot(px, py, _RADIUS, "compute" if inner else "paper", "compute", 1.6)
        sheet.write(px, py + 4.4, str(rank), "paper" if inner else "compute", "center", bold=True, say=False)
    sheet.down = top + max(levels) * _LEVEL + _RADIUS + 4


def _children(parents: Sequence[int], rank: int) -> list[int]:
    return [child for child, parent in enumerate(parents) if parent == rank]


def _across(parents: Sequence[int]) -> list[float]:
    """Leaves side by side, every other rank in the middle over its children."""
    at, free = [0.0] * len(parents), iter(range(len(parents)))

    def stand(rank: int) -> float:
        below = [stand(child) for child in _children(parents, rank)]
        at[rank] = (below[0] + below[-1]) / 2 if below else float(next(free))
        return at[rank]

    stand(list(parents).index(-1))
    return at
