"""An exchange between all pairs of GPUs as a matrix of blocks and its transpose: a row before it, a column after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import RANKS

_TOP = 42  # pixels above the cells: a title, and the numbers of the columns
_SIZES = {False: (42, 48, 62), True: (30, 14, 26)}  # by narrow, pixels: a cell at most, a GPU's name, between the two


def transpose_figure(blocks: Sequence[Sequence[int]], *, counted, name, caption, **look) -> Still:
    """What each GPU (row) has for each other (column), before and after an all-to-all; ``counted`` says of what.

    A color is the GPU that a block comes from. The largest block has the full color. The block of the first
    GPU for the last one is outlined in both. Raises ValueError for a matrix that is not square or has no blocks.
    """
    sizes = np.asarray(blocks)
    if sizes.ndim != 2 or sizes.shape[0] != sizes.shape[1] or not 2 <= len(sizes) <= len(RANKS) or not sizes.any():
        raise ValueError(f"{name}: expected a square matrix for 2 to {len(RANKS)} GPUs; got {sizes.tolist()}")
    told = [
        f"GPU {i} has {' '.join(map(str, row))}, ends with {' '.join(map(str, sizes[:, i]))}"
        for i, row in enumerate(sizes.tolist())
    ]

    def paint(sheet):
        _draw(sheet, sizes, counted)
        sheet.records += told

    alt = f"{counted.capitalize()} for each GPU before the exchange, and from each GPU after it. {'; '.join(told)}."
    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _draw(sheet, sizes, counted: str) -> None:
    most, label, between = _SIZES[sheet.narrow]
    ranks, bars = len(sizes), 52 if sheet.narrow else 132
    cell = min(most, (sheet.across - 2 * label - between - bars) // (2 * ranks))
    side = ranks * cell
    first, second = label, 2 * label + side + between
    _grid(sheet, sizes, first, cell, "before", "for GPU", by_row=True)
    _grid(sheet, sizes.T, second, cell, "after", "from GPU", by_row=False)
    for x, row, column in ((first, 0, ranks - 1), (second, ranks - 1, 0)):
        xs, ys = x + cell * column, _TOP + cell * row
        sheet.rule([xs, xs + cell, xs + cell, xs, xs], [ys, ys, ys + cell, ys + cell, ys], "plain", level=5, weight=2)
    # the outlined block's path runs between rows, where no name stands
    turn = np.linspace(0, 1, 25)
    ease = turn * turn * (3 - 2 * turn)
    start, end, low, high = first + side, second - label, _TOP + cell, _TOP + cell * (ranks - 1)
    sheet.rule([*(start + (end - start) * turn), second], [*(low + (high - low) * ease), high], level=5, weight=1.5)
    totals = sizes.sum(axis=0).tolist()
    x, room = second + side + 12, sheet.across - second - side - 12 - 22
    sheet.write(x, _TOP - 8, counted, "soft")
    for rank, total in enumerate(totals):
        y = _TOP + cell * (rank + 0.5)
        sheet.area(x, y - 5, x + room * total / max(totals), y + 5, "plain" if total == max(totals) else "wait")
        sheet.write(x + room * total / max(totals) + 5, y + 4.4, str(total), bold=total == max(totals))
    sheet.down = _TOP + side + 4


def _grid(sheet, sizes, x: float, cell: float, when: str, whose: str, by_row: bool) -> None:
    """A row of blocks for each GPU; the row has the color of the sender, or the column has."""
    largest = int(sizes.max())
    sheet.write(x, 13, f"<b>{when}</b>, {whose}", "plain")
    for i, row in enumerate(sizes.tolist()):
        gpu = str(i) if sheet.narrow else f"GPU {i}"
        sheet.write(x - 6, _TOP + cell * (i + 0.5) + 4.4, gpu, "soft", "right", say=False)
        sheet.write(x + cell * (i + 0.5), _TOP - 8, str(i), "soft", "center", say=False)
        for j, size in enumerate(row):
            left, top, full = x + j * cell + 1, _TOP + i * cell + 1, cell - 2
            if size:
                strength = 0.4 + 0.6 * size / largest
                sheet.area(left, top, left + full, top + full, RANKS[i if by_row else j], strength, level=1 + strength)
            else:
                xs, ys = [left, left + full, left + full, left, left], [top, top, top + full, top + full, top]
                sheet.rule(xs, ys, "line", level=1)
            at, ink = top + full / 2 + 4.4, "plain" if size else "soft"
            sheet.write(left + full / 2, at, str(size), ink, "center", say=False)
