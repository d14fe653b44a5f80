"""The tiles of a matrix on the SMs of a GPU: who works on which tile, and when.

A matrix is split by walking over it, and its tiles go one by one to the SM that is free first.
"""

import heapq
from fractions import Fraction
from typing import NamedTuple

from gpuscale.schedules.counts import need_count


class Turn(NamedTuple):
    """One tile: its SM, and the wave in which it runs, from 0."""

    sm: int
    wave: int


def cut(rows: int, columns: int, tile: tuple[int, int]) -> list[tuple[int, int]]:
    """The upper left corners of the tiles that cover a matrix, row by row.

    >>> cut(128, 300, (128, 256))
    [(0, 0), (0, 256)]
    """
    high, wide = (need_count(side, "tile") for side in tile)
    return [(top, left) for top in range(0, rows, high) for left in range(0, columns, wide)]


def dealt(count: int, sms: int) -> list[Turn]:
    """Each of ``count`` equal tiles on one of the SMs, one at a time on each.

    >>> dealt(3, 2)
    [Turn(sm=0, wave=0), Turn(sm=1, wave=0), Turn(sm=0, wave=1)]
    """
    free = [(0, sm) for sm in range(need_count(sms, "sms"))]  # when an SM is free, and which one
    out = []
    for _ in range(count):
        start, sm = heapq.heappop(free)
        out.append(Turn(sm, start))
        heapq.heappush(free, (start + 1, sm))
    return out


def used(turns: list[Turn], sms: int) -> Fraction:
    """The fraction of the SMs' time in which a tile runs, until the last one is done."""
    return Fraction(len(turns), sms * (1 + max(turn.wave for turn in turns)))
