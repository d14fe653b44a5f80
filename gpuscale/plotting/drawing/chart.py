"""A chart: axes, curves, dots, regions and crossings in numbers, laid out on a sheet. Every figure with axes is one,
and so is the first state of a live figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.ink import bare, fold, width
from gpuscale.plotting.drawing.labels import SIDE, Spot, Want, fill, place
from gpuscale.plotting.drawing.sheet import LEADING

AUTO = "auto"  # the hue of a curve that takes that of the region it is in


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

    The text stands at the top of the line or at its foot, where it covers less; ``low`` asks for the foot.
    """

    x: float
    text: str
    y: float | None = None
    low: bool = False


@dataclass(frozen=True)
class Points:
    """Measured or published values, as open dots (``solid``: filled), never joined by a line.

    ``size`` is their diameter in pixels (small filled ones have no rim), ``short`` the label on a phone and ``tone`` its hue, where that is another; a
    label with bold words is light elsewhere, and a ``light`` one everywhere.
    """

    x: list
    y: list
    label: str = ""
    hue: str = "plain"
    solid: bool = False
    short: str = ""
    size: float = 10.0
    tone: str = ""
    light: bool = False

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The values as arrays. Raises ValueError where they do not pair up or are not finite."""
        xs, ys = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (self.x, self.y))
        if xs.shape != ys.shape or not xs.size or not np.isfinite([xs, ys]).all():
            rule = "expected as many finite x as y, at least one"
            raise ValueError(f"points {self.label!r}: {rule}; got {xs.size} and {ys.size}")
        return xs, ys


@dataclass(frozen=True)
class Line:
    """A curve in numbers: ``weight`` in pixels, ``dash`` as on and off. ``at`` asks for the label near that x, ``along``
    writes it along the line, ``light`` in the weight of text; ``short`` is the label on a phone."""

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    hue: str = "plain"
    weight: float = 2.2
    dash: tuple = ()
    alpha: float = 1.0
    level: float = 0.0
    at: float | None = None
    along: bool = False
    light: bool = False
    short: str = ""


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
    of the curves in a column beside the plot. ``areas`` are (x, y, hue, strength) of filled shapes.
    """

    x: Axis
    y: Axis
    lines: list[Line] = field(default_factory=list)
    dots: list[Points] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    areas: list[tuple] = field(default_factory=list)
    grid: bool = True
    headroom: float = 0.0
    ends: bool = False

    def __post_init__(self):
        self.x, self.y = self.x.of(None, "x axis"), self.y.of(None, "y axis")

    def paint(self, sheet) -> None:
        """Draws it on the whole of a sheet: margins, grid, ticks, titles, regions, notes; last the labels."""
        sheet.down = sheet.down or (270 if sheet.narrow else 360)
        _Layout(self, sheet).paint()


class _Layout:
    """A chart on a sheet: where its plot is, and where each label stands."""

    def __init__(self, chart: Chart, sheet):
        self.chart, self.sheet = chart, sheet
        self.titles = [fold(axis.heading, sheet.across, bold=True) for axis in (chart.y, chart.x)]
        top = LEADING * len(self.titles[0]) + max(chart.headroom, 24 if chart.regions else 12)
        low = sheet.down - 26 - LEADING * len(self.titles[1])
        need = 30.0 if chart.y.log else 36.0
        self.ys = chart.y.spaced(low - top, lambda label: need)
        left = max(width(chart.y.tick(v)) for v in self.ys) + 8
        beside = max(width(self._text(line), not _light(line)) for line in chart.lines) + 16 if chart.ends else 0.0
        self.xs = chart.x.spaced(sheet.across - max(20.0, beside) - left, lambda label: width(label) + 16)
        right = sheet.across - max(6.0, beside, width(chart.x.tick(self.xs[-1])) / 2)
        self.box = left, top, right, low

    def paint(self) -> None:
        chart, sheet = self.chart, self.sheet
        left, top, right, low = self.box
        self._furnish()
        for region, before in zip(chart.regions, [None, *chart.regions], strict=False):
            self._region(region, border=before is not None and before.hue == region.hue)
        for xs, ys, colour, alpha in chart.areas:
            sheet.fill(*self._at(xs, ys), colour, alpha, frame=self.box)
        solid = [fill(rect) for note in chart.notes for rect in self._note(note)]
        wants = [want for crossing in chart.crossings for want in self._crossing(crossing)]
        curves = [self._curve(line) for line in chart.lines]
        lead = next((want for want in curves if want.bold and want.text), None)
        for want, line in zip(curves, chart.lines, strict=True):
            if lead and line.light and _same(want.path, lead.path):
                want.text = ""
        wants += curves + [self._dots(dots) for dots in chart.dots]
        wants += [Want("", np.array([self._at(c.x, c.y)]), radius=4) for c in chart.crossings if c.y is not None]
        if chart.ends:
            self._column([want for want in curves if want.text and len(want.path)])
        frame = (left + 2, top + 2 if chart.regions else top - 6, right, low - 2)
        place([want for want in wants if len(want.path)], frame, np.concatenate([*solid, np.empty((0, 2))]))
        for want in wants:
            if want.spot:
                s = want.spot
                hue = self._hue(want.hue, s.x + (0.5 - SIDE[s.align]) * width(want.text))
                sheet.write(s.x, s.y, want.text, hue, s.align, want.bold, halo=True, angle=want.angle)
        self._record()

    def _at(self, x, y) -> tuple:
        """Where points of the data stand, in pixels."""
        left, top, right, low = self.box
        return self.chart.x.place(x, left, right), self.chart.y.place(y, low, top)

    def _text(self, item) -> str:
        return (self.sheet.narrow and item.short) or item.label

    def _furnish(self) -> None:
        """Grid, ticks, titles and the two axes."""
        sheet, (left, top, right, low) = self.sheet, self.box
        for v in self.xs:
            x, _ = self._at(v, self.chart.y.hi)
            if self.chart.grid:
                sheet.rule([_crisp(x)] * 2, [top, low], alpha=0.09)
            sheet.write(x, low + 17, self.chart.x.tick(v), "soft", "center", say=False)
        for v in self.ys:
            _, y = self._at(self.chart.x.hi, v)
            if self.chart.grid:
                sheet.rule([left, right], [_crisp(y)] * 2, alpha=0.09)
            sheet.write(left - 8, y + 4.4, self.chart.y.tick(v), "soft", "right", say=False)
        sheet.rule([_crisp(left)] * 2 + [right], [top] + [_crisp(low)] * 2, "edge", level=1)
        sheet.lines(self.titles[0], 0, 0, bold=True, say=False)
        foot = sheet.down - LEADING * len(self.titles[1])
        sheet.lines(self.titles[1], sheet.across, foot, align="right", bold=True, say=False)

    def _span(self, region: Region) -> tuple[float, float]:
        """From where to where a region reaches, in pixels."""
        left, _, right, _ = self.box
        x = self.chart.x
        ends = (x.lo if region.lo is None else region.lo), (x.hi if region.hi is None else region.hi)
        a, b = np.clip(x.place(np.array(ends), left, right), left, right).tolist()
        return a, b

    def _region(self, region: Region, border: bool) -> None:
        """The pale fill of a bound, its name in a tab over the plot; a border where the one before has its hue."""
        _, top, _, low = self.box
        a, b = self._span(region)
        alpha = 0.04 if region.hue == "plain" else 0.09
        self.sheet.area(a, top - 20, b, low, region.hue, alpha)
        self.sheet.area(a, top - 20, b, top, region.hue, alpha, level=-0.9)
        if border:
            self.sheet.rule([a, a], [top - 20, low], "edge")
        if b - a > width(region.name, True) + 8:
            self.sheet.write((a + b) / 2, top - 5.5, region.name, region.hue, "center", bold=True, say=False)

    def _hue(self, hue: str, x: float) -> str:
        """A hue, or where it is "auto" that of the region at the pixel ``x``."""
        regions = self.chart.regions if hue == AUTO else []
        return next((r.hue for r in regions if x <= self._span(r)[1]), "plain" if hue == AUTO else hue)

    def _note(self, note: Note):
        """Writes a note; the rectangle of each of its lines."""
        px, py = self._at(note.x, note.y)
        for i, row in enumerate(note.text.split("\n")):
            x, y = float(px + note.dx), float(py + note.dy + i * LEADING)
            self.sheet.write(x, y, row, note.hue, note.anchor, halo=True)
            x0 = x - width(row) * SIDE[note.anchor]
            yield x0, y - 10, x0 + width(row), y + 3

    def _crossing(self, crossing: Crossing):
        """A dotted line with its value, which stands at the top or the foot of the line."""
        left, top, right, low = self.box
        x, y = (float(v) for v in self._at(crossing.x, self.chart.y.lo if crossing.y is None else crossing.y))
        if not left < x < right:
            return
        self.sheet.rule([x, x], [top, low], dash=(1, 3), level=2.4)
        if crossing.y is not None:
            self.sheet.dot(x, y, 4, rim="paper", weight=1.5)
        ends = [(top + 16, 6.0 * crossing.low), (low - 10, 3.0 - 3 * crossing.low)]
        spots = [Spot(x + s, v, side, p + q) for v, p in ends for side, s, q in (("left", 7, 0), ("right", -7, 1))]
        yield Want(crossing.text, np.array([(x, top), (x, low)]), spots=spots)

    def _curve(self, line: Line) -> Want:
        """Draws a curve, in the hues of its regions where it has none; the label that it asks for."""
        xs, ys = self._at(line.x, line.y)
        style = {"alpha": line.alpha, "weight": line.weight, "dash": line.dash, "frame": self.box, "level": line.level}
        pieces = self.chart.regions if line.hue == AUTO else []
        for region in pieces:
            a, b = np.clip(self._span(region), xs.min(), xs.max())
            if a < b:
                inside = np.array([a, *xs[(xs > a) & (xs < b)], b])
                self.sheet.rule(inside, np.interp(inside, xs, ys), region.hue, **style)
        if not pieces:
            self.sheet.rule(xs, ys, "plain" if line.hue == AUTO else line.hue, **style)
        path = np.column_stack([xs, ys])
        near = None if line.at is None else float(self._at(line.at, self.chart.y.hi)[0])
        path = path[np.isfinite(path).all(axis=1)]
        return Want(self._text(line), path, line.hue, bold=not _light(line), near=near, along=line.along)

    def _dots(self, dots: Points) -> Want:
        """Dots, open for what was measured and filled for what is computed; the label that they ask for."""
        xs, ys = self._at(*dots.data())
        face, rim = (dots.hue, "paper" if dots.size >= 10 else "") if dots.solid else ("paper", dots.hue)
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            self.sheet.dot(x, y, dots.size / 2, face, rim, 2)
        text = self._text(dots)
        path, bold = np.column_stack([xs, ys]), not dots.light and "<b>" not in text
        return Want(text, path, dots.tone or dots.hue, bold, radius=dots.size / 2)

    def _column(self, wants: list[Want]) -> None:
        """Gives the names of curves their places right of the plot, pushed apart where the ends of curves are close."""
        _, top, right, low = self.box
        rows = []
        for want in wants:
            seen = want.path[(want.path[:, 1] > top) & (want.path[:, 1] < low)]
            if len(seen):
                rows.append((seen[-1].tolist(), want))
        rows.sort(key=lambda row: row[0][1])
        heights, least = [], top - 10
        for (_, y), _ in rows:
            least = max(y, least + 15)
            heights.append(least)
        most = low + 12
        for i in reversed(range(len(rows))):
            (x, y), want = rows[i]
            most = min(heights[i], most - 15)
            self.sheet.rule([x, right + 9], [y, most], self._hue(want.hue, x))
            want.spots = [Spot(right + 12, most + 4, "left", 0)]

    def _record(self) -> None:
        """Axes, curves with ends and extremes, rows of points, regions and crossings, for the digest."""
        chart, records = self.chart, self.sheet.records
        for which, axis in (("x", chart.x), ("y", chart.y)):
            scale, ends = "log" if axis.log else "linear", f"{_number(axis.lo)} to {_number(axis.hi)}"
            records.append(f"{which}: {axis.heading} [{axis.unit}], {scale}, {ends}")
        for line in chart.lines:
            style = "dashed" if line.dash else "solid"
            records.append(_row(style, bare(self._text(line)) or "_curve", line.hue, line.x, line.y))
        for dots in chart.dots:
            records.append(_row("points", bare(self._text(dots)) or "_points", dots.hue, *dots.data()))
        records += [f"region {r.name}: {_number(r.lo)} to {_number(r.hi)}" for r in chart.regions]
        records += [f"crossing {bare(c.text)}: x {_number(c.x)}" for c in chart.crossings]


def _same(path, lead) -> bool:
    """Whether a curve lies on another one all along, so that one name has to do."""
    return bool(np.abs(np.interp(lead[:, 0], *path.T) - lead[:, 1]).max() < 3)


def _light(line: Line) -> bool:
    return line.light or bool(line.dash)


def _crisp(v: float) -> float:
    """The middle of a pixel: a hairline there is one pixel wide, not two pale ones."""
    return math.floor(v) + 0.5


def _row(style: str, label: str, hue: str, x, y) -> str:
    seen = y[np.isfinite(y)]
    reach = f", min {_number(seen.min())}, max {_number(seen.max())}" if len(seen) else ""
    ends = f"({_number(x[0])}, {_number(y[0])}) to ({_number(x[-1])}, {_number(y[-1])})"
    return f"{style} {label} [{hue}]: {len(x)} from {ends}{reach}"


def _number(value) -> str:
    return "edge" if value is None else f"{float(value):.6g}"
