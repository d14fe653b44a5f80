"""The ladder of memories: bandwidth against capacity, with diagonals of equal reading time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
from gpuscale.plotting.drawing.sheet import axis, note, positive
from gpuscale.plotting.drawing.ticks import rounded
from gpuscale.units import show


@dataclass(frozen=True)
class Rung:
    """A rung of the ladder: a memory or network with its capacity [B] and bandwidth [B/s]."""

    name: str
    capacity: float
    bandwidth: float
    hue: str = "memory"
    short: str = ""


def ladder(levels, *, name, caption, times=(1e-6, 1e-3, 1.0), xlim=None, ylim=None, alt=None, **look) -> Still:
    """Bandwidth against capacity: each level a dot; on a diagonal, reading a level once takes the same
    time.

    ``times`` are the diagonals in seconds; ``look`` may hold title, height and narrow_height. Raises
    ValueError for an empty list or a value not above zero.
    """
    levels = list(levels)
    if not levels:
        raise ValueError("levels: the list is empty; expected at least one Rung")
    for v in levels:
        hue(v.hue)
        positive(f"rung {v.name!r}", capacity=v.capacity, bandwidth=v.bandwidth)
    xlim = xlim or _reach([v.capacity for v in levels])
    ylim = ylim or _reach([v.bandwidth for v in levels])

    def paint(ax, narrow):
        ax.figure.grid, ax.figure.headroom = False, 12
        axis(ax, "x", ("capacity", "B"), *xlim, log=True)
        axis(ax, "y", ("bandwidth", "B/s"), *ylim, log=True)
        for t in times:
            _diagonal(ax, t, (*xlim, *ylim), narrow)
        for v in levels:
            text = (v.short or v.name) if narrow else f"<b>{v.name}</b> {show(v.capacity, 'B', short=True)}"
            (dot,) = ax.plot(v.capacity, v.bandwidth, "o", color=hue(v.hue), ms=13, mew=0, label=text)
            dot.set_zorder(4)
            dot.label_light = not narrow

    said = "; ".join(f"{bare(v.name)} {show(v.capacity, 'B')} at {show(v.bandwidth, 'B/s')}" for v in levels)
    alt = alt or f"Bandwidth against capacity: {said}."
    return Still(paint, name=name, caption=caption, alt=alt, table=_table(levels), **look)


def _reach(values) -> tuple[float, float]:
    """Whole decades around the values, with room for the dots and their names."""
    return rounded(min(values) / 1.5, 1.5 * max(values), True)


def _table(levels):
    heads = ["level", "capacity", "bandwidth", "time to read it once"]
    return heads, [
        [v.name, show(v.capacity, "B"), show(v.bandwidth, "B/s"), show(v.capacity / v.bandwidth, "s")] for v in levels
    ]


def _diagonal(ax, t: float, box, narrow: bool):
    """The line of levels that are read once in ``t`` seconds, named where it leaves the plot."""
    x0, x1, y0, y1 = box
    ends = np.array([max(x0, y0 * t), min(x1, y1 * t)])
    if ends[0] >= ends[1]:
        return
    ax.plot(ends, ends / t, color=hue("plain"), alpha=0.22, linewidth=1, label="_", zorder=0)
    text = show(t, "s", short=True) if narrow else f"read in {show(t, 's', short=True)}"
    on_top = ends[1] / t >= y1 * (1 - 1e-9)
    place = (0, -7, "center") if on_top else (-10, 4, "right")
    note(ax, ends[1], ends[1] / t, text, "soft", *place)
