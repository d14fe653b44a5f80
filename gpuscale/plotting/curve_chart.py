"""Curves of formulas: sampled, checked, titled and labeled from the formulas and their quantities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy

from gpuscale.core.evaluation import evaluate
from gpuscale.core.formula import Formula
from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.chart import Chart, Curve, Points
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import HUES, bare, hue
from gpuscale.plotting.drawing.layout import AUTO, STYLES
from gpuscale.symbols import Quantity
from gpuscale.units import show

SAMPLES = 241


def curves(formulas, *, x, axes, name, caption, given=None, points=(), regions=(), crossings=(), y=None, **look):
    """Formulas against one of their quantities, as a static figure.

    ``formulas`` is a Curve, Formula or expression, or a list of them; ``x`` the Quantity along the axis; ``axes`` the
    Axis of x, or those of x and y; ``given`` the other inputs. ``y`` is the Quantity along the other axis (default:
    the first formula's left-hand side). ``look`` may hold alt, table, title, height and narrow_height.
    Raises TypeError or ValueError naming the curve, the input and what was expected.
    """
    across, up = axes if isinstance(axes, tuple) else (axes, Axis())
    drawn = formulas if isinstance(formulas, (list, tuple)) else [formulas]
    drawn = [item if isinstance(item, Curve) else Curve(item) for item in drawn]
    figure = _Curves(x, given or {}, drawn, list(points))
    chart = figure.chart(across, up, y)
    chart.regions, chart.crossings = list(regions), list(crossings)
    said = {"alt": figure.alt(chart), "table": figure.table(chart)}
    return Still(chart.paint, name=name, caption=caption, **said | look)


class _Curves:
    """The curves and points of a figure, checked: in numbers, in a table, in words."""

    def __init__(self, x: Quantity, given: Mapping, drawn: list[Curve], points: list[Points]):
        if not isinstance(x, Quantity):
            raise TypeError(f"x: expected a Quantity of gpuscale.symbols; got {x!r}")
        if not drawn:
            raise ValueError("formulas: the list is empty; expected at least one Curve, Formula or expression")
        for curve in drawn:
            hue(curve.hue, curve.what, (*HUES, AUTO))
            if curve.style not in STYLES:
                raise ValueError(f"{curve.what}: style {curve.style!r} is unknown; expected {', '.join(STYLES)}")
        self.x, self.given, self.curves, self.points = x, given, drawn, points
        used = set().union(*(c.takes for c in self.curves))
        if self.x.name not in used:
            known = ", ".join(sorted(used)) or "nothing"
            raise TypeError(f"x: no curve depends on {self.x.name} ({self.x.meaning}); they take {known}")
        if self.x.name in self.given:
            raise TypeError(f"given: {self.x.name} runs along the x axis; leave it out")
        for name in self.given:
            if name not in used:
                known = ", ".join(sorted(used - {self.x.name})) or "nothing"
                raise TypeError(f"given: {name} is not an input of any curve; expected one of {known}")

    def chart(self, across: Axis, up: Axis, y: Quantity | None) -> Chart:
        """The chart on these axes, whose titles, scales and ends come from the curves where they are not given."""
        what = f"range of {self.x.name} ({self.x.meaning})"
        across = across.of(self.x, what)
        if across.lo < self.x.least or (across.lo <= 0 and not self.x.zero):
            least = self.x.least or "a number above zero"
            raise ValueError(f"{what}: begins at {across.lo:g}; expected {least} or more")
        drawn = [self._sampled(curve, across) for curve in self.curves]
        ys = np.concatenate([curve.formula[1] for curve in drawn] + [dots.data()[1] for dots in self.points])
        ys = ys[np.isfinite(ys)]
        if not ys.size:
            raise ValueError(f"y: no curve is finite for {self.x.name} from {across.lo:g} to {across.hi:g}")
        results = [curve.formula.lhs for curve in self.curves if isinstance(curve.formula, Formula)]
        up = up.of(y if y is not None else next(iter(results), None), "y", ys)
        if up.log and ys.min() <= 0:
            raise ValueError(f"y: a logarithmic scale takes positive values; the least is {ys.min():g}")
        return Chart(across, up, drawn, self.points)

    def _sampled(self, curve: Curve, across: Axis) -> Curve:
        """A curve in numbers, between its own ends."""
        part = across.cut(curve.lo, curve.hi).of(self.x, curve.what)
        steps = curve.expr.has(sympy.ceiling, sympy.floor, sympy.Mod)  # which stay steps; all else is smooth near 1
        few = part.hi - part.lo <= 400 and (steps or not part.log and part.hi - part.lo > 30)
        xs = np.arange(np.ceil(part.lo), part.hi + 1e-9) if self.x.whole and few else part.grid(SAMPLES)
        return replace(curve, formula=(xs, self.values(curve, xs)))

    def values(self, curve: Curve, xs: np.ndarray) -> np.ndarray:
        """A curve at some x; infinite values become gaps."""
        given = {k: v for k, v in self.given.items() if k in curve.takes} | dict(curve.given)
        along = {self.x.name: xs} if self.x.name in curve.takes else {}
        out = np.broadcast_to(evaluate(curve.expr, _what=curve.what, **given, **along), xs.shape).astype(float)
        return np.where(np.isfinite(out), out, np.nan)

    def _between_ends(self, curve: Curve, xs: np.ndarray) -> np.ndarray:
        """A curve at some x; beyond its own ends, where it is not drawn, gaps."""
        lo, hi = (-np.inf if curve.lo is None else curve.lo), (np.inf if curve.hi is None else curve.hi)
        return np.where((xs >= lo * (1 - 1e-9)) & (xs <= hi * (1 + 1e-9)), self.values(curve, xs), np.nan)

    def alt(self, chart: Chart) -> str:
        """The alternative text, from the data."""
        ends = f"{show(chart.x.lo, chart.x.unit, True)} to {show(chart.x.hi, chart.x.unit, True)}"
        parts = []
        values = [curve.formula[1] for curve in chart.curves] + [dots.data()[1] for dots in self.points]
        for item, ys in zip(self.curves + self.points, values, strict=True):
            first, last = (show(v, chart.y.unit) for v in ys[np.isfinite(ys)][[0, -1]])
            span = first if first == last else f"from {first} to {last}"
            parts.append(f"{bare(item.label) or 'the curve'} {span}")
        return f"{chart.y.title} against {chart.x.title}, {ends}: {'; '.join(parts)}."

    def table(self, chart: Chart):
        """The folded numbers: every curve at round values of x; points in columns of their own, at their x."""
        xs = chart.x.few()
        xs = xs[xs > 0] if not self.x.zero else xs
        dots = [points.data() for points in self.points]
        every = np.unique(np.concatenate([xs, *(px for px, _ in dots)]))
        every = every[np.insert(np.diff(every) > 1e-9 * np.abs(every[1:]), 0, True)]
        inside = every[(every >= chart.x.lo * (1 - 1e-9)) & (every <= chart.x.hi * (1 + 1e-9))]
        drawn = [dict(zip(inside, self._between_ends(c, inside), strict=True)) for c in self.curves]
        rows = []
        for at in every:
            there = [py[np.isclose(px, at, rtol=1e-9, atol=0)] for px, py in dots]
            along = [_cell(values[at], chart.y.unit) if at in values else "" for values in drawn]
            for i in range(max(1, *map(len, there)) if there else 1):  # two points at an x: more than one row
                found = [_cell(ys[i], chart.y.unit) if i < len(ys) else "" for ys in there]
                rows.append([chart.x.tick(at), *(along if i == 0 else [""] * len(along)), *found])
        heads = [c.label or chart.y.title for c in self.curves] + [p.label or "points" for p in self.points]
        return [chart.x.heading, *heads], rows


def _cell(value: float, unit: str) -> str:
    return "–" if np.isnan(value) else show(value, unit)
