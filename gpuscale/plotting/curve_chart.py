"""Curves of formulas: sampled, checked, titled and labelled from the formulas and their quantities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import sympy

from gpuscale.core.evaluation import evaluate, inputs
from gpuscale.core.formula import Formula
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue
from gpuscale.plotting.drawing.sheet import axis, limits, named, wide
from gpuscale.plotting.drawing.ticks import Units, linear_ticks, log_ticks, rounded, titled
from gpuscale.symbols import Quantity
from gpuscale.units import show

SAMPLES = 241
STYLES = {  # exact is solid, approximate is dashed, everywhere
    "exact": {"linewidth": 2.2},
    "approx": {"linewidth": 1.5, "linestyle": (0, (6, 5))},
    "other": {"linewidth": 1.5},
}


@dataclass(frozen=True)
class Curve:
    """One curve: a Formula or expression, its label, its meaning, how it is drawn.

    ``given`` are values beside the figure's own. ``style`` is "exact" (solid), "approx" (dashed) or "other"
    (thin). ``approx`` is the label of the formula's own approximation, drawn dashed as well. ``span``
    limits the curve in x, ``at`` asks for the label near that x, ``short`` is the label on a phone.
    """

    formula: Formula | sympy.Expr
    label: str = ""
    hue: str = "plain"
    style: str = "exact"
    given: dict = field(default_factory=dict)
    approx: str = ""
    span: tuple | None = None
    at: float | None = None
    short: str = ""

    @property
    def expr(self) -> sympy.Expr:
        return self.formula.rhs if isinstance(self.formula, Formula) else sympy.sympify(self.formula)

    @property
    def takes(self) -> set[str]:
        """The names of its inputs."""
        return {q.name for q in inputs(self.expr)}

    @property
    def what(self) -> str:
        """The curve's name for an error."""
        return f"curve {bare(self.label) or str(self.expr)!r}"


@dataclass(frozen=True)
class Points:
    """Measured or published values, as open dots (``solid``: filled), never joined by a line."""

    x: list
    y: list
    label: str = ""
    hue: str = "plain"
    solid: bool = False
    short: str = ""

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The values as arrays. Raises ValueError where they do not pair up or are not finite."""
        xs, ys = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (self.x, self.y))
        if xs.shape != ys.shape or not xs.size or not np.isfinite([xs, ys]).all():
            rule = "expected as many finite x as y, at least one"
            raise ValueError(f"points {self.label!r}: {rule}; got {xs.size} and {ys.size}")
        return xs, ys


def curves(
    formulas,
    *,
    x,
    range,
    name,
    caption,
    given=None,
    points=(),
    regions=(),
    crossings=(),
    y=None,
    xtitle=None,
    ytitle=None,
    xlog=None,
    ylog=None,
    ylim=None,
    alt=None,
    **look,
) -> Still:
    """Formulas against one of their quantities, as a static figure.

    ``formulas`` is a Curve, Formula or expression, or a list of them; ``x`` the Quantity along the axis and
    ``range`` its ends in base units; ``given`` the other inputs. ``y`` (a Quantity, or a title and a unit)
    defaults to the first formula's left-hand side. A scale is logarithmic where the range is wide, unless
    ``xlog``/``ylog`` say otherwise. ``look`` may hold title, height and narrow_height. Raises TypeError or
    ValueError naming the curve, the input and what was expected.
    """
    chart = _CurveChart(x, range, xlog, xtitle, given or {}, _expand(formulas), list(points))
    chart.measure(y, ytitle, ylog, ylim)

    def paint(ax, narrow):
        ax.figure.regions, ax.figure.crossings = list(regions), list(crossings)
        chart.paint(ax, narrow)

    return Still(paint, name=name, caption=caption, alt=alt or chart.alt(), table=chart.table(), **look)


class _CurveChart:
    """Checked data of a figure of curves: what is drawn, tabulated and said."""

    def __init__(self, x, ends, log, title, given, drawn, points):
        if not isinstance(x, Quantity):
            raise TypeError(f"x: expected a Quantity of gpuscale.symbols; got {x!r}")
        self.x, self.given, self.curves, self.points = x, given, drawn, points
        self.lo, self.hi = _range(x, ends, log)
        self.xlog = wide(self.lo, self.hi) if log is None else log
        self.xtitle = title or x.meaning
        self._check_names()
        self.lines = [self._sample(c) for c in drawn]
        self.dots = [p.data() for p in points]

    def _check_names(self):
        used = set().union(*(c.takes for c in self.curves))
        if self.x.name not in used:
            known = ", ".join(sorted(used)) or "nothing"
            raise TypeError(f"x: no curve depends on {self.x.name} ({self.x.meaning}); they take {known}")
        if self.x.name in self.given:
            raise TypeError(f"given: {self.x.name} runs along the x axis; leave it out")
        for name in self.given:
            if name not in used:
                known = ", ".join(sorted(used - {self.x.name})) or "nothing"
                raise TypeError(f"given: {name} is no input of any curve; expected of {known}")

    def values(self, curve: Curve, xs: np.ndarray) -> np.ndarray:
        """A curve at some x; infinite values become gaps."""
        given = {k: v for k, v in self.given.items() if k in curve.takes} | curve.given
        along = {self.x.name: xs} if self.x.name in curve.takes else {}
        out = evaluate(curve.expr, _what=curve.what, **given, **along)
        out = np.broadcast_to(out, xs.shape).astype(float)
        return np.where(np.isfinite(out), out, np.nan)

    def _sample(self, curve: Curve):
        lo, hi = curve.span or (self.lo, self.hi)
        lo, hi = limits(max(lo, self.lo), min(hi, self.hi), f"{curve.what}: span")
        steps = curve.expr.has(sympy.ceiling, sympy.floor, sympy.Mod)  # which stay steps; all else is smooth near 1
        if self.x.whole and hi - lo <= 400 and (steps or not self.xlog and hi - lo > 30):  # few enough to take all
            xs = np.arange(np.ceil(lo), hi + 1e-9)
        else:
            xs = np.geomspace(lo, hi, SAMPLES) if self.xlog else np.linspace(lo, hi, SAMPLES)
            xs[0], xs[-1] = lo, hi
        return xs, self.values(curve, xs)

    def measure(self, y, title, log, ends):
        """The y axis: its title and unit, its scale, its ends."""
        words, self.yunit = named(y if y is not None else _lhs(self.curves), "y")
        self.ytitle = title or words
        ys = np.concatenate([v for _, v in self.lines + self.dots])
        ys = ys[np.isfinite(ys)]
        if not ys.size:
            raise ValueError(f"y: no curve is finite for {self.x.name} from {self.lo:g} to {self.hi:g}")
        lo, hi = ends or (ys.min(), ys.max())
        self.ylog = wide(lo, hi) if log is None else log
        least = min(lo, ys.min())
        if self.ylog and least <= 0:
            raise ValueError(f"y: a logarithmic scale takes values above zero; the least is {least:g}")
        self.bottom, self.top = limits(*ends, "ylim") if ends else rounded(lo, hi, self.ylog)

    def paint(self, ax, narrow):
        axis(ax, "x", self.x, self.lo, self.hi, self.xlog, self.xtitle)
        axis(ax, "y", (self.ytitle, self.yunit), self.bottom, self.top, self.ylog)
        for curve, (xs, ys) in zip(self.curves, self.lines, strict=True):
            label = (narrow and curve.short) or curve.label or "_curve"
            (line,) = ax.plot(xs, ys, color=hue(curve.hue), label=label, **STYLES[curve.style])
            line.label_at = curve.at
        for p, (xs, ys) in zip(self.points, self.dots, strict=True):
            dot_row(ax, xs, ys, p.hue, (narrow and p.short) or p.label or "_points", p.solid)

    def alt(self) -> str:
        """What is to be seen, from the data."""
        ends = f"{show(self.lo, self.x.unit, True)} to {show(self.hi, self.x.unit, True)}"
        parts = []
        for item, (_, ys) in zip(self.curves + self.points, self.lines + self.dots, strict=True):
            first, last = (show(v, self.yunit) for v in ys[np.isfinite(ys)][[0, -1]])
            span = first if first == last else f"from {first} to {last}"
            parts.append(f"{bare(item.label) or 'the curve'} {span}")
        return f"{self.ytitle} against {self.xtitle}, {ends}: {'; '.join(parts)}."

    def table(self):
        """The folded numbers: every curve at round values of x; points in columns of their own, at their x."""

        def few(row):
            return len(row) <= 8

        unit, tick = self.x.unit, Units(self.x.unit)
        log_row = log_ticks(self.lo, self.hi, few, unit) if self.xlog else None
        xs = np.array(log_row or linear_ticks(self.lo, self.hi, few), dtype=float)
        xs = xs[xs > 0] if not self.x.zero else xs
        every = np.unique(np.concatenate([xs, *(px for px, _ in self.dots)]))
        every = every[np.insert(np.diff(every) > 1e-9 * np.abs(every[1:]), 0, True)]
        inside = every[(every >= self.lo * (1 - 1e-9)) & (every <= self.hi * (1 + 1e-9))]
        drawn = [dict(zip(inside, self.values(c, inside), strict=True)) for c in self.curves]
        rows = []
        for at in every:
            dots = [py[np.isclose(px, at, rtol=1e-9, atol=0)] for px, py in self.dots]
            along = [_cell(values[at], self.yunit) if at in values else "" for values in drawn]
            for i in range(max(1, *map(len, dots)) if dots else 1):  # more than one point at an x: more than one row
                found = [_cell(ys[i], self.yunit) if i < len(ys) else "" for ys in dots]
                rows.append([tick(at), *(along if i == 0 else [""] * len(along)), *found])
        heads = [c.label or self.ytitle for c in self.curves] + [p.label or "points" for p in self.points]
        return [titled(self.xtitle, unit), *heads], rows


def dot_row(ax, xs, ys, colour, label, solid=False):
    """Dots: open for what was measured, filled for what is computed."""
    face, rim = ("paper", colour) if not solid else (colour, "paper")
    ax.plot(
        xs,
        ys,
        "o",
        color=hue(colour),
        markersize=10,
        markeredgewidth=2,
        markerfacecolor=hue(face),
        markeredgecolor=hue(rim),
        label=label,
        zorder=4,
        clip_on=False,
    )


def _cell(value: float, unit: str) -> str:
    return "–" if np.isnan(value) else show(value, unit)


def _expand(formulas) -> list[Curve]:
    """Curves from whatever was given, each followed by its approximation where one is asked for."""
    out: list[Curve] = []
    for item in formulas if isinstance(formulas, (list, tuple)) else [formulas]:
        curve = item if isinstance(item, Curve) else Curve(item)
        hue(curve.hue)
        if curve.style not in STYLES:
            raise ValueError(f"{curve.what}: style {curve.style!r} is unknown; expected {', '.join(STYLES)}")
        out.append(curve)
        if curve.approx:
            rough = getattr(curve.formula, "approx", None)
            if rough is None:
                raise ValueError(f"{curve.what}: there is no approximation to draw; {curve.formula} has none")
            dashed = Curve(rough, curve.approx, curve.hue, "approx", span=curve.span)
            given = {k: v for k, v in curve.given.items() if k in dashed.takes}
            out.append(replace(dashed, given=given))
    if not out:
        raise ValueError("formulas: the list is empty; expected at least one Curve, Formula or expression")
    return out


def _lhs(drawn: list[Curve]) -> Quantity:
    found = next((c.formula.lhs for c in drawn if isinstance(c.formula, Formula)), None)
    if found is None:
        raise TypeError("y: bare expressions have no name; expected y=Quantity or y=(title, unit)")
    return found


def _range(x: Quantity, ends, log) -> tuple[float, float]:
    what = f"range of {x.name} ({x.meaning})"
    try:
        lo, hi = ends
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected two numbers, from low to high; got {ends!r}") from None
    lo, hi = limits(lo, hi, what, log)
    if lo < x.least or (lo <= 0 and not x.zero):
        raise ValueError(f"{what}: begins at {lo:g}; expected {x.least or 'a number above zero'} or more")
    return lo, hi
