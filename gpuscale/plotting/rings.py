"""A ring of ranks at one moment: every rank is a spoke with a slot for each chunk, every link the band to the next one,
as wide as its bandwidth. Chunk c has the same circle on all spokes."""

from math import cos, pi, sin
from string import ascii_uppercase

import numpy as np

from gpuscale.plotting.drawing.sheet import Sheet
from gpuscale.units import show

_OUTER, _INNER, _SLOT = 230, 92, 25  # pixels: the radius of the spokes' ends and, at least, starts; a slot at most


def paint_ring(sheet: Sheet, run, t: float) -> None:
    """Draw who holds what at the time ``t`` [s], and the bytes that each link has carried by then.

    ``run`` is a ring's schedule on the clock: a ``Clocked`` of ``schedules.timelines.sending``.
    """
    ranks, chunks = run.schedule.ranks, run.schedule.chunks
    slot = min(_SLOT, (_OUTER - _INNER) / chunks)
    inner = _OUTER - chunks * slot
    x0, y0 = sheet.across / 2, _OUTER + 40
    held, sent, widest = run.held(t), run.sent(t), float(run.W.max())

    def at(turn: float, radius) -> tuple[np.ndarray, np.ndarray]:
        angle = 2 * pi * np.asarray(turn) / ranks - pi / 2
        return x0 + radius * np.cos(angle), y0 + radius * np.sin(angle)

    for r in range(ranks):
        along = np.linspace(r, r + 1, 25)
        width = (_OUTER - inner) * run.W[r] / widest
        xs, ys = (np.concatenate(pair) for pair in zip(at(along, inner + width), at(along[::-1], inner), strict=True))
        sheet.fill(xs, ys, "scaleup", alpha=0.14, level=-3)
        sheet.rule([*xs, xs[0]], [*ys, ys[0]], "scaleup", alpha=0.5, level=-2.9)
        x, y = at(r + 0.5, _OUTER + 22)
        sheet.write(float(x), float(y) + 4, show(sent[r], "B") if sent[r] else "0 B", "scaleup", "center", say=False)
        if run.W[r] < widest:
            sheet.write(float(x), float(y) + 19, show(run.W[r], "B/s"), "scaleup", "center", bold=True, say=False)
    for r in range(ranks):
        _spoke(sheet, r, ranks, held[r], (x0, y0), inner, slot)
    sheet.write(x0, y0 - 2, show(t, "s"), "plain", "center", bold=True, say=False)
    sheet.write(x0, y0 + 15, f"of {show(run.total, 's')}", "soft", "center", say=False)
    sheet.down = 2 * _OUTER + 84


def _spoke(sheet: Sheet, r: int, ranks: int, held, centre, inner: float, slot: float) -> None:
    """One rank: a cell for each chunk, filled as far as its sum has come, and the rank's number at the end."""
    angle = 2 * pi * r / ranks - pi / 2
    out, side = (cos(angle), sin(angle)), (-sin(angle), cos(angle))

    def corner(radius: float, off: float) -> tuple[float, float]:
        return tuple(centre[i] + radius * out[i] + off * side[i] for i in (0, 1))

    half, most = min(20.0, 0.5 * pi * inner / ranks), max(int(held.max()), 1)
    frame = _box(corner, inner - 3, _OUTER + 3, -half - 3, half + 3)
    sheet.fill(*zip(*frame, strict=True), "paper", level=-1.5)
    sheet.rule(*zip(*frame, frame[0], strict=True), "edge", level=-1.2)
    for c, count in enumerate(held):
        top = _OUTER - c * slot
        if count:
            right = -half + 2 * half * count / most
            cell = _box(corner, top - slot + 1, top - 1, -half, right)
            sheet.fill(*zip(*cell, strict=True), "memory", alpha=0.3, level=-1)
            x, y = corner(top - slot / 2, 0)
            sheet.write(x, y + 4, ascii_uppercase[c], "plain", "center", say=False)
    x, y = corner(_OUTER + 17, 0)
    sheet.write(x, y + 4, f"rank {r}" if not r else str(r), "plain", "center", bold=True, say=False)


def _box(corner, near: float, far: float, left: float, right: float) -> list[tuple[float, float]]:
    """The corners of a rectangle along a spoke."""
    return [corner(near, left), corner(near, right), corner(far, right), corner(far, left)]
