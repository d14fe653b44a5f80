"""Rooflines of several chips or formats on one plot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.one_gpu.roofline import attainable, ridge_point
from gpuscale.plotting.curve_chart import dot_row
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
from gpuscale.plotting.drawing.sheet import axis, limits, positive
from gpuscale.plotting.drawing.ticks import rounded
from gpuscale.symbols import I, P_run
from gpuscale.units import show


@dataclass(frozen=True)
class Roof:
    """One roofline: a name, the peak rate [FLOP/s] and the bandwidth of the memory below it [B/s].

    ``below`` names that memory or network and ``hue`` is its meaning. Roofs that share a bandwidth share a
    slope, and roofs with one peak share a level. ``short`` is the name on a phone.
    """

    name: str
    peak: float
    bandwidth: float
    below: str = "HBM"
    hue: str = "memory"
    short: str = ""

    @property
    def ridge(self) -> float:
        """The intensity from which on the arithmetic binds."""
        return ridge_point(C=self.peak, W_hbm=self.bandwidth)

    def rate(self, intensity):
        """The attainable rate at an intensity."""
        return attainable(I=intensity, C=self.peak, W_hbm=self.bandwidth)


@dataclass(frozen=True)
class Point:
    """A kernel on the plot: its intensity [FLOP/B] and rate [FLOP/s]; ``measured`` makes the dot open."""

    name: str
    intensity: float
    rate: float
    hue: str = "plain"
    measured: bool = False
    short: str = ""


def roofline(roofs, *, name, caption, points=(), format="bf16", range=(1, 1e4), ylim=None, alt=None, **look) -> Still:
    """Rate against arithmetic intensity: each roof's slope of memory, level of peak, and ridge between
    them.

    ``roofs`` holds Roofs, or chips, whose peak is then the one of ``format``; ``points`` are kernels;
    ``look`` may hold title, height and narrow_height. Raises ValueError for an empty list or range, or for
    anything not above zero.
    """
    found = [_roof(r, format) for r in (roofs if isinstance(roofs, (list, tuple)) else [roofs])]
    if not found:
        raise ValueError("roofs: the list is empty; expected at least one Roof or chip")
    lo, hi = limits(*range, "range of the intensity", log=True)
    for p in points:
        positive(f"point {p.name!r}", intensity=p.intensity, rate=p.rate)
    rates = [r.rate(v) for r in found for v in (lo, hi)] + [p.rate for p in points]
    bottom, top = limits(*ylim, "ylim", True) if ylim else rounded(min(rates), 1.3 * max(rates), True)

    def paint(ax, narrow):
        axis(ax, "x", I, lo, hi, True, "arithmetic intensity")
        axis(ax, "y", P_run, bottom, top, True, "attainable rate")
        _draw(ax, found, lo, hi, narrow)
        for p in points:
            dot_row(ax, [p.intensity], [p.rate], p.hue, (narrow and p.short) or p.name, solid=not p.measured)

    alt = alt or _alt(found, points)
    return Still(paint, name=name, caption=caption, alt=alt, table=_table(found, points), **look)


def _roof(item, format: str) -> Roof:
    """A Roof from a Roof or from a chip of the data."""
    roof = item
    if not isinstance(item, Roof):
        try:
            name = getattr(item, "short", None) or item.title
            roof = Roof(name, getattr(item, format), item.hbm_bw)
        except AttributeError as error:
            raise TypeError(f"roofs: expected Roofs or chips with {format} and hbm_bw; {error}") from None
    hue(roof.hue)
    positive(f"roof {roof.name!r}", peak=roof.peak, bandwidth=roof.bandwidth)
    return roof


def _draw(ax, roofs, lo: float, hi: float, narrow: bool):
    """Slopes and levels in the colours of what binds, a dot at each ridge; equal ones are named once."""
    slopes = {r.bandwidth: [o for o in roofs if o.bandwidth == r.bandwidth] for r in roofs}
    levels = {r.peak: [o for o in roofs if o.peak == r.peak] for r in roofs}
    for bandwidth, group in slopes.items():
        longest = max(group, key=lambda r: r.peak)
        names = _names(group, narrow) if len(slopes) > 1 else group[0].below
        text = names if narrow and len(slopes) > 1 else f"{names} {show(bandwidth, 'B/s')}"
        _part(ax, longest, (lo, min(longest.ridge, hi)), group[0].hue, text, along=True)
    for peak, group in levels.items():
        longest = max(group, key=lambda r: r.bandwidth)
        text = _names(group, narrow) + ("" if narrow else f" {show(peak, 'FLOP/s')}")
        _part(ax, longest, (max(longest.ridge, lo), hi), "compute", text)
    for roof in roofs:
        if lo < roof.ridge < hi:
            text = ("" if narrow else "ridge ") + show(roof.ridge, "1")
            dot_row(ax, [roof.ridge], [roof.peak], "plain", text)


def _names(group, narrow: bool) -> str:
    return ", ".join((narrow and r.short) or r.name for r in group)


def _part(ax, roof: Roof, ends, colour: str, label: str, along: bool = False):
    """A stretch of a roof between two intensities."""
    if ends[0] < ends[1]:
        (line,) = ax.plot(ends, roof.rate(np.array(ends)), color=hue(colour), linewidth=2.2, label=label)
        line.label_along = along


def _alt(roofs, points) -> str:
    parts = [
        f"{bare(r.name)} rises with {show(r.bandwidth, 'B/s')} to {show(r.peak, 'FLOP/s')}, reached at "
        f"{show(r.ridge, 'FLOP/B')}"
        for r in roofs
    ]
    parts += [f"{bare(p.name)} at {show(p.intensity, 'FLOP/B')} and {show(p.rate, 'FLOP/s')}" for p in points]
    return f"Attainable rate against arithmetic intensity: {'; '.join(parts)}."


def _table(roofs, points):
    heads = ["roof (at its ridge) or kernel", "bandwidth", "rate", "intensity"]
    found = [(r.name, show(r.bandwidth, "B/s"), r.peak, r.ridge) for r in roofs]
    found += [(p.name, "", p.rate, p.intensity) for p in points]
    return heads, [[name, speed, show(rate, "FLOP/s"), show(at, "FLOP/B")] for name, speed, rate, at in found]
