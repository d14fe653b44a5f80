"""Trees of ranks: who passes a buffer on to whom, the root on top, with the step in which each rank is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuscale.plotting.collectives import arrow
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.sheet import LEADING

_RADIUS, _LEVEL, _GAP = 12, 52, 24  # pixels: of a rank, from level to level, between trees


def tree_figure(trees: Mapping[str, Sequence[int]], *, name, caption, levels=None, **look) -> Still:
    """Trees of ranks side by side, {title: parent of each rank, -1 for a root}; one under the other on a phone.

    A rank that passes data on is filled, a leaf is not. ``levels`` puts ranks on the level of the step that reaches
    them, one number per rank; without it a rank stands one below its parent. Raises ValueError for no tree.
    """
    trees = {title: list(parents) for title, parents in trees.items()}
    if not trees or any(parents.count(-1) != 1 for parents in trees.values()):
        raise ValueError(f"{name}: expected trees with one root each, whose parent is -1; got {trees}")

    def paint(sheet):
        across = 1 if sheet.narrow else len(trees)
        wide, top = (sheet.across - _GAP * (across - 1)) / across, 0.0
        for i, (title, parents) in enumerate(trees.items()):
            x = 0 if sheet.narrow else i * (wide + _GAP)
            end = _tree(sheet, title, parents, levels or _depths(parents), x, top, wide, bool(levels))
            top = end + 14 if sheet.narrow else top
            sheet.down = end
        sheet.records += [f"{title}: {_told(parents)}" for title, parents in trees.items()]

    said = ". ".join(f"{title}: {_told(parents)}" for title, parents in trees.items())
    return Still(paint, name=name, caption=caption, **{"alt": f"{said}."} | look)


def _tree(sheet, title, parents, levels, x: float, y: float, wide: float, steps: bool) -> float:
    sheet.write(x + wide / 2, y + 12, title, "plain", "center", bold=True)
    y += LEADING + 10 + _RADIUS
    left = 52 if steps else 0
    across = _across(parents)
    each = (wide - left - 2 * _RADIUS - 4) / max(max(across), 1)
    place = [(x + left + _RADIUS + 2 + at * each, y + level * _LEVEL) for at, level in zip(across, levels, strict=True)]
    if steps:
        for level in range(max(levels) + 1):
            word = f"step {level}" if level else "start"
            sheet.write(x, y + level * _LEVEL + 4.4, word, "soft", say=False)
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
    return y + max(levels) * _LEVEL + _RADIUS + 4


def _children(parents: Sequence[int], rank: int) -> list[int]:
    return [child for child, parent in enumerate(parents) if parent == rank]


def _depths(parents: Sequence[int]) -> list[int]:
    def depth(rank: int) -> int:
        return 0 if parents[rank] < 0 else 1 + depth(parents[rank])

    return [depth(rank) for rank in range(len(parents))]


def _across(parents: Sequence[int]) -> list[float]:
    """Leaves side by side, every other rank in the middle over its children."""
    at, free = [0.0] * len(parents), iter(range(len(parents)))

    def stand(rank: int) -> float:
        below = [stand(child) for child in _children(parents, rank)]
        at[rank] = (below[0] + below[-1]) / 2 if below else float(next(free))
        return at[rank]

    stand(list(parents).index(-1))
    return at


def _told(parents: Sequence[int]) -> str:
    passing = [(rank, _children(parents, rank)) for rank in range(len(parents))]
    return ", ".join(f"{rank} to {' and '.join(map(str, below))}" for rank, below in passing if below)
