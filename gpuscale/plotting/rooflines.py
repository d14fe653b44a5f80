"""Rooflines of several chips or formats on one plot."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.one_gpu.roofline import attainable, ridge_point
from gpuscale.plotting.curve_chart import curves
from gpuscale.plotting.drawing.axis import Axis, positive, rounded
from gpuscale.plotting.drawing.chart import Curve, Points
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
from gpuscale.symbols import I, P_run
from gpuscale.units import show


@dataclass(frozen=True)
class Roof:
    """One roofline: a name, the peak rate [FLOP/s] and the bandwidth of the memory below it [B/s].

    ``below`` names that memory or network and ``hue`` is its meaning. Roofs with the same bandwidth share a
    slope, and roofs with the same peak share a level. ``short`` is the name on a phone.
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
        """The intensity above which arithmetic is the limit."""
        return ridge_point(**self.given)


def roofline(roofs, *, name, caption, points=(), format="bf16", range=(1, 1e4), **look) -> Still:
    """Rate against arithmetic intensity: each roof's slope of memory, level of peak, and ridge between
    them.

    ``roofs`` holds Roofs, or chips, whose peak is then the one of ``format``; ``points`` are Points of kernels:
    their intensities [FLOP/B] and rates [FLOP/s]. ``look`` may hold alt, title, height and narrow_height. Raises
    ValueError for an empty list or range, or for anything that is not positive.
    """
    found = [_roof(r, format) for r in (roofs if isinstance(roofs, (list, tuple)) else [roofs])]
    if not found:
        raise ValueError("roofs: the list is empty; expected at least one Roof or chip")
    kernels = [(p.label, at, rate) for p in points for at, rate in zip(*p.data(), strict=True)]
    for label, at, rate in kernels:
        positive(f"point {label!r}", intensity=at, rate=rate)
    x = Axis(*range, "arithmetic intensity", log=True).of(I, "range of the intensity")
    rates = [attainable(I=v, **r.given) for r in found for v in (x.lo, x.hi)] + [rate for *_, rate in kernels]
    y = Axis(*rounded(min(rates), 1.3 * max(rates), True), "attainable rate", log=True)
    ridges = [r for r in found if x.lo < r.ridge < x.hi]
    dots = [Points([r.ridge], [r.peak], f"ridge {show(r.ridge, '1')}", short=show(r.ridge, "1")) for r in ridges]
    rows = [(r.name, show(r.bandwidth, "B/s"), r.peak, r.ridge) for r in found]
    rows += [(label, "", rate, at) for label, at, rate in kernels]
    rows = [[who, speed, show(rate, "FLOP/s"), show(at, "FLOP/B")] for who, speed, rate, at in rows]
    told = "; ".join(f"{bare(who)}{speed and f', {speed}'}: {rate} at {at}" for who, speed, rate, at in rows)
    heads = ["roof (at its ridge) or kernel", "bandwidth", "rate", "intensity"]
    said = {"name": name, "caption": caption}
    said |= {"alt": f"Attainable rate against arithmetic intensity. {told}.", "table": (heads, rows)}
    return curves(_parts(found, x), x=I, y=P_run, axes=(x, y), points=[*dots, *points], **said | look)


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
    """Slopes and levels in the color of the limit; equal ones are drawn and named once."""
    out, several = [], len({r.bandwidth for r in roofs}) > 1
    for bandwidth in dict.fromkeys(r.bandwidth for r in roofs):
        group = [r for r in roofs if r.bandwidth == bandwidth]
        top = max(group, key=lambda r: r.peak)
        label = f"{_names(group) if several else top.below} {show(bandwidth, 'B/s')}"
        look = {"along": True, "short": _names(group, short=True) if several else ""}
        out += [Curve(attainable, label, top.hue, given=top.given, hi=top.ridge, **look)] if top.ridge > x.lo else []
    for peak in dict.fromkeys(r.peak for r in roofs):
        group = [r for r in roofs if r.peak == peak]
        first = min(group, key=lambda r: r.ridge)
        look = {"given": first.given, "lo": first.ridge, "short": _names(group, short=True)}
        label = f"{_names(group)} {show(peak, 'FLOP/s')}"
        out += [Curve(attainable, label, "compute", **look)] if first.ridge < x.hi else []
    return out


def _names(group, short: bool = False) -> str:
    return ", ".join((short and r.short) or r.name for r in group)
