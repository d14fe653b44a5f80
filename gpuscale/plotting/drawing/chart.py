"""What a chart shows: axes, curves, dots, regions and crossings. Every figure with axes is a chart, and so is the first
state of a live figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.ink import bare
from gpuscale.plotting.drawing.layout import AUTO, ChartLayout


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of a figure, still or live: a Formula or expression, its label, its meaning, how it is drawn.

    ``hue`` "auto" takes the colors of the regions that the curve runs through. ``style`` is "exact" (solid), "approx"
    (dashed) or "other" (thin). ``lo`` and ``hi`` end the curve and ``at`` asks for the label near that x; in a live
    figure they may be expressions. ``short`` is the label where there is little room.

    For a still figure: ``given`` are values besides the figure's own, and ``along`` writes the label along a straight
    curve; in a Chart the numbers (x, y) stand in for the formula. For a live one: ``name`` is what readout and table
    call it (default: its label), and ``now`` makes it the thick one, always or in the named views.
    """

    formula: Formula | sympy.Expr | tuple
    label: str = ""
    hue: str = AUTO
    style: str = "exact"
    given: Mapping = field(default_factory=dict)
    lo: Any = None
    hi: Any = None
    at: Any = None
    along: bool = False
    short: str = ""
    name: str | None = None
    now: bool | str | tuple = False

    @property
    def expr(self) -> sympy.Expr:
        return self.formula.rhs if isinstance(self.formula, Formula) else sympy.sympify(self.formula)

    @property
    def takes(self) -> set[str]:
        """The names of its inputs."""
        return {q.name for q in inputs(self.expr)}

    @property
    def what(self) -> str:
        """The curve's name in an error message."""
        return f"curve {bare(self.label) or str(self.expr)!r}"


@dataclass(frozen=True)
class Region:
    """Where a bound holds: its name, its meaning, and the x it runs from and to (None: the edge)."""

    name: str
    hue: str
    lo: float | None = None
    hi: float | None = None


@dataclass(frozen=True)
class Crossing:
    """Where two bounds meet: a dotted line at ``x`` with its text; a dot at ``y`` if given, filled, as it is computed.

    The text stands at the top of the line or at its foot, where it covers less; ``low`` asks for the foot. In a live
    figure ``x`` may be an expression, and its value stands behind the text.
    """

    x: Any
    text: str
    y: float | None = None
    low: bool = False


@dataclass(frozen=True)
class Points:
    """Measured or published values, as open dots (``solid``: filled), never joined by a line: lists, or one value of x
    and y, which in a live figure may be expressions.

    ``size`` is their diameter in pixels; small filled ones have no rim. ``short`` is the label on a phone. A label that
    holds bold words is light elsewhere.
    """

    x: Any
    y: Any
    label: str = ""
    hue: str = "plain"
    solid: bool = False
    short: str = ""
    size: float = 10.0

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The values as arrays. Raises ValueError if they do not pair up or are not finite."""
        xs, ys = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (self.x, self.y))
        if xs.shape != ys.shape or not xs.size or not np.isfinite([xs, ys]).all():
            rule = "expected as many finite x as y, at least one"
            raise ValueError(f"points {self.label!r}: {rule}; got {xs.size} and {ys.size}")
        return xs, ys


@dataclass(frozen=True)
class Note:
    """Words at a point of the data, shifted by pixels (``dy`` downwards); a line break starts a new line."""

    x: float
    y: float
    text: str
    hue: str = "plain"
    dx: float = 0.0
    dy: float = 0.0
    anchor: str = "left"


@dataclass
class Chart:
    """All that a chart shows. ``headroom`` are pixels over the plot for what is named there; ``ends`` puts the names
    of the curves in a column next to the plot. ``areas`` are (x, y, hue, strength) of filled shapes. ``here`` is the
    state of a live figure: its curves are thin except the selected one, and their names are light.
    """

    x: Axis
    y: Axis
    curves: list[Curve] = field(default_factory=list)
    dots: list[Points] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    areas: list[tuple] = field(default_factory=list)
    grid: bool = True
    headroom: float = 0.0
    ends: bool = False
    here: Points | None = None

    def __post_init__(self):
        self.x, self.y = self.x.of(None, "x axis"), self.y.of(None, "y axis")

    def paint(self, sheet) -> None:
        """Draws it on the whole of a sheet: margins, grid, ticks, titles, regions, notes; last the labels."""
        sheet.chart = self
        sheet.down = sheet.down or (270 if sheet.narrow else 360)
        ChartLayout(self, sheet).paint()
