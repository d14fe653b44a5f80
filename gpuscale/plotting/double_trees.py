"""Two binary trees over the same ranks: one grows upwards from the row of ranks, the other downwards, and in each rank
stand the bytes that it sends in both."""

from __future__ import annotations

import numpy as np

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.spanning_trees import passed_on

_RADIUS, _TALL, _SQUARE, _STEP = 12, 60, 8, 9.5  # pixels: of a rank in a tree, a rank's box, a square, the next one
_LEVEL = {False: 52, True: 44}  # pixels from level to level, by narrow
_MOST = 8  # ranks that a phone has room for


def double_tree_figure(schedule, *, name, caption, **look) -> Still:
    """A double-tree all-reduce: tree 1 above the ranks, tree 2 below. A square is half of the array, sent by that rank.

    ``schedule`` is a ``double_tree_all_reduce``: both trees and the squares come from its transfers. Raises ValueError
    for an odd number of ranks or more than fit.
    """
    if schedule.ranks % 2 or not 2 <= schedule.ranks <= _MOST:
        raise ValueError(f"{name}: expected an even number of ranks up to {_MOST}; got {schedule.ranks}")
    both = [_tree(schedule, which) for which in (0, 1)]
    told = [
        f"tree {which + 1}: {passed_on(parents)}; halves sent by rank: {' '.join(map(str, sent))}"
        for which, (parents, sent) in enumerate(both)
    ]

    def paint(sheet):
        _draw(sheet, both)
        sheet.records += told

    return Still(paint, name=name, caption=caption, **{"alt": f"{schedule.title}. {'. '.join(told)}."} | look)


def _tree(schedule, which: int) -> tuple[list[int], list[int]]:
    """The parent of each rank in one of the trees, and how many times it sends that tree's half of the array."""
    half = schedule.chunks // 2
    _, source, target, chunk, adds = schedule.columns
    mine = chunk // half == which
    parents = np.full(schedule.ranks, -1)
    climbs = mine & adds.astype(bool)
    parents[source[climbs]] = target[climbs]
    return parents.tolist(), (np.bincount(source[mine], minlength=schedule.ranks) // half).tolist()


def _depths(parents: list[int]) -> list[int]:
    """How far each rank is from the root."""

    def depth(rank: int) -> int:
        return 0 if parents[rank] < 0 else 1 + depth(parents[rank])

    return [depth(rank) for rank in range(len(parents))]


def _draw(sheet, both) -> None:
    ranks, level = len(both[0][0]), _LEVEL[sheet.narrow]
    pitch = (sheet.across - 2) / ranks
    wide = min(46, pitch - 6)
    heights = [max(_depths(parents)) for parents, _ in both]
    upper = 2 + _RADIUS + heights[0] * level
    middle = upper + _TALL / 2

    def across(rank: int) -> float:
        return 1 + (rank + 0.5) * pitch

    for which, (parents, sent) in enumerate(both):
        up = 1 if which else -1
        edge, depth = middle + up * _TALL / 2, _depths(parents)

        def at(rank: int, parents=parents, edge=edge, depth=depth, up=up, height=heights[which]) -> tuple:
            return across(rank), edge + (up * level * (height - depth[rank]) if rank in parents else 0)

        for rank, parent in enumerate(parents):
            x, y = at(rank)
            if parent >= 0:
                sheet.rule(*zip((x, y), at(parent), strict=True), "scaleup", level=1, weight=2)
            if rank in parents:
                sheet.rule([x, x], [edge, y], "edge", level=0, dash=(1, 3))
                sheet.dot(x, y, _RADIUS, "compute")
                sheet.write(x, y + 4.4, str(rank), "paper", "center", bold=True, say=False)
            for i in range(sent[rank]):
                left, top = x + (i - sent[rank] / 2) * _STEP + 0.75, middle + up * 20 - _SQUARE / 2
                sheet.area(left, top, left + _SQUARE, top + _SQUARE, "scaleup", level=3)
    for rank in range(ranks):
        sheet.box(across(rank) - wide / 2, upper, wide, _TALL, "edge", level=2)
        sheet.write(across(rank), middle + 4.4, str(rank), "plain", "center", bold=True, say=False)
    sheet.down = upper + _TALL + heights[1] * level + _RADIUS + 2
    sheet.write(sheet.across - 1, 13, "Tree 1", align="right", bold=True)
    sheet.write(sheet.across - 1, 29, "first half of the array", "soft", "right")
    sheet.write(1, sheet.down - 21, "Tree 2", bold=True)
    sheet.write(1, sheet.down - 5, "second half", "soft")
