"""Rooflines of several chips or formats on one plot."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.one_gpu.roofline import attainable, ridge_point
from gpuscale.plotting.curve_chart import Curve, curves
from gpuscale.plotting.drawing.axis import Axis, positive, rounded
from gpuscale.plotting.drawing.chart import Points
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
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
    def given(self) -> dict:
        """Its part of what the attainable rate depends on."""
        return {"C": self.peak, "W_hbm": self.bandwidth}

    @property
    def ridge(self) -> float:
        """The intensity from which on the arithmetic binds."""
        return ridge_point(**self.given)


@dataclass(frozen=True)
class Point:
    """A kernel on the plot: its intensity [FLOP/B] and rate [FLOP/s]; ``measured`` makes the dot open."""

    name: str
    intensity: float
    rate: float
    hue: str = "plain"
    measured: bool = False
    short: str = ""


def roofline(roofs, *, name, caption, points=(), format="bf16", range=(1, 1e4), alt=None, **look) -> Still:
    """Rate against arithmetic intensity: each roof's slope of memory, level of peak, and ridge between
    them.

    ``roofs`` holds Roofs, or chips, whose peak is then the one of ``format``; ``points`` are kernels;
    ``look`` may hold title, height and narrow_height. Raises ValueError for an empty list or range, or for
    anything not above zero.
    """
    found = [_roof(r, format) for r in (roofs if isinstance(roofs, (list, tuple)) else [roofs])]
    if not found:
        raise ValueError("roofs: the list is empty; expected at least one Roof or chip")
    for p in points:
        positive(f"point {p.name!r}", intensity=p.intensity, rate=p.rate)
    x = Axis(*range, "arithmetic intensity", log=True).of(I, "range of the intensity")
    rates = [attainable(I=v, **r.given) for r in found for v in (x.lo, x.hi)] + [p.rate for p in points]
    y = Axis(*rounded(min(rates), 1.3 * max(rates), True), "attainable rate", log=True)
    ridges = [r for r in found if x.lo < r.ridge < x.hi]
    dots = [Points([r.ridge], [r.peak], f"ridge {show(r.ridge, '1')}", short=show(r.ridge, "1")) for r in ridges]
    dots += [Points([p.intensity], [p.rate], p.name, p.hue, not p.measured, p.short) for p in points]
    alt, table = alt or _alt(found, points), _table(found, points)
    drawn = {"x": I, "y": P_run, "axes": (x, y), "points": dots}
    return curves(_parts(found, x), **drawn, name=name, caption=caption, alt=alt, table=table, **look)


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


def _parts(roofs, x: Axis) -> list[Curve]:
    """Slopes and levels in the colours of what binds; equal ones are drawn and named once."""
    slopes = {r.bandwidth: [o for o in roofs if o.bandwidth == r.bandwidth] for r in roofs}
    levels = {r.peak: [o for o in roofs if o.peak == r.peak] for r in roofs}
    out = []
    for bandwidth, group in slopes.items():
        longest = max(group, key=lambda r: r.peak)
        speed, short = show(bandwidth, "B/s"), _names(group, True) if len(slopes) > 1 else ""
        label = f"{_names(group) if short else longest.below} {speed}"
        slope = Curve(attainable, label, longest.hue, given=longest.given, hi=longest.ridge, along=True, short=short)
        out += [slope] if longest.ridge > x.lo else []
    for peak, group in levels.items():
        longest = max(group, key=lambda r: r.bandwidth)
        label, short = f"{_names(group)} {show(peak, 'FLOP/s')}", _names(group, True)
        level = Curve(attainable, label, "compute", given=longest.given, lo=longest.ridge, short=short)
        out += [level] if longest.ridge < x.hi else []
    return out


def _names(group, short: bool = False) -> str:
    return ", ".join((short and r.short) or r.name for r in group)


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
