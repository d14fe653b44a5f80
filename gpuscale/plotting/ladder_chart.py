"""The ladder of memories: bandwidth against capacity, with diagonals of equal reading time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.plotting.drawing.axis import Axis, positive, rounded
from gpuscale.plotting.drawing.chart import Chart, Curve, Note, Points
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
from gpuscale.units import show


@dataclass(frozen=True)
class Rung:
    """A rung of the ladder: a memory or network with its capacity [B] and bandwidth [B/s]."""

    name: str
    capacity: float
    bandwidth: float
    hue: str = "memory"
    short: str = ""


def ladder(levels, *, name, caption, times=(1e-6, 1e-3, 1.0), **look) -> Still:
    """Bandwidth against capacity: each level a dot; on a diagonal, reading a level once takes the same
    time.

    ``times`` are the diagonals in seconds; ``look`` may hold title, height and narrow_height. Raises
    ValueError for an empty list or a value that is not positive.
    """
    levels = list(levels)
    if not levels:
        raise ValueError("levels: the list is empty; expected at least one Rung")
    for v in levels:
        hue(v.hue)
        positive(f"rung {v.name!r}", capacity=v.capacity, bandwidth=v.bandwidth)
    x = Axis(*_reach([v.capacity for v in levels]), "capacity", True, "B")
    y = Axis(*_reach([v.bandwidth for v in levels]), "bandwidth", True, "B/s")
    dots, rows = [], []
    for v in levels:
        size, speed = show(v.capacity, "B"), show(v.bandwidth, "B/s")
        rows.append([v.name, size, speed, show(v.capacity / v.bandwidth, "s")])
        label = f"<b>{v.name}</b> {show(v.capacity, 'B', short=True)}"
        dots.append(Points(v.capacity, v.bandwidth, label, v.hue, solid=True, short=v.short or v.name, size=15))

    def paint(sheet):
        chart = Chart(x, y, dots=dots, grid=False, headroom=24)
        for t in times:
            _diagonal(chart, t, "" if sheet.narrow else "read in ")
        chart.paint(sheet)

    told = "; ".join(f"{bare(name)} {size} at {speed}" for name, size, speed, _ in rows)
    heads = ["level", "capacity", "bandwidth", "time to read it once"]
    said = {"alt": f"Bandwidth against capacity: {told}.", "table": (heads, rows)}
    return Still(paint, name=name, caption=caption, **said | look)


def _reach(values) -> tuple[float, float]:
    """Whole decades around the values, with room for the dots and their names."""
    return rounded(min(values) / 1.5, 1.5 * max(values), True)


def _diagonal(chart: Chart, t: float, words: str) -> None:
    """The line of levels that are read once in ``t`` seconds, named where it leaves the plot."""
    ends = np.array([max(chart.x.lo, chart.y.lo * t), min(chart.x.hi, chart.y.hi * t)])
    if ends[0] >= ends[1]:
        return
    chart.curves.append(Curve((ends, ends / t), hue="line", style="other"))
    place = (0, -7, "center") if ends[1] / t >= chart.y.hi * (1 - 1e-9) else (-10, 4, "right")
    chart.notes.append(Note(ends[1], ends[1] / t, f"{words}{show(t, 's', short=True)}", "soft", *place))
