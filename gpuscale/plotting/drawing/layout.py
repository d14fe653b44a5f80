"""A chart on a sheet: margins, grid, ticks, titles, regions, notes, and the labels of its curves."""

from __future__ import annotations

import math

import numpy as np

from gpuscale.plotting.drawing.ink import bare, fold, width
from gpuscale.plotting.drawing.labels import SIDE, Spot, Want, fill, place
from gpuscale.plotting.drawing.sheet import LEADING

AUTO = "auto"  # the hue of a curve that takes that of the region it is in
# Exact is solid, approximate is dashed, everywhere; in a live figure all but the selected curve are thin.
STYLES = {"exact": {"weight": 2.2}, "approx": {"weight": 1.5, "dash": (6, 5)}, "other": {"weight": 1.5}}
LIVE = {"exact": {"weight": 1.5}, "approx": STYLES["approx"], "other": {"weight": 1.0}}


class ChartLayout:
    """A chart on a sheet: where its plot is, and where each label stands."""

    def __init__(self, chart, sheet):
        self.chart, self.sheet = chart, sheet
        above, self.below = (LEADING * len(fold(axis.heading, sheet.across, bold=True)) for axis in (chart.y, chart.x))
        self.lead = next((c for c in reversed(chart.curves) if c.now), None) if chart.here else None
        top = above + max(chart.headroom, 24 if chart.regions or chart.here else 12)
        low = sheet.down - 26 - self.below
        need = 30.0 if chart.y.log else 36.0
        self.ys = chart.y.spaced(low - top, lambda label: need)
        left = max(width(chart.y.tick(v)) for v in self.ys) + 8
        names = [width(self._text(c), self._bold(c)) for c in chart.curves] if chart.ends else []
        beside = max(names) + 16 if names else 0.0
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
        curves = [self._curve(curve) for curve in chart.curves]
        for curve, want in zip(chart.curves, curves, strict=True):
            if self.lead and self.lead.label and not curve.now and _same(want.path, curves[-1].path):
                want.text = ""
        wants += curves + [self._dots(dots) for dots in [*chart.dots, *([chart.here] if chart.here else [])]]
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

    def _bold(self, curve) -> bool:
        """Whether the name of a curve is bold: exact ones in a still figure, the selected one in a live figure."""
        return bool(curve.now or not self.lead) if self.chart.here else curve.style != "approx"

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
        sheet.paragraph(self.chart.y.heading, 0, 0, bold=True, say=False)
        sheet.paragraph(
            self.chart.x.heading, sheet.across, sheet.down - self.below, align="right", bold=True, say=False
        )

    def _span(self, region) -> tuple[float, float]:
        """From where to where a region reaches, in pixels."""
        left, _, right, _ = self.box
        x = self.chart.x
        ends = (x.lo if region.lo is None else region.lo), (x.hi if region.hi is None else region.hi)
        a, b = np.clip(x.place(np.array(ends), left, right), left, right).tolist()
        return a, b

    def _region(self, region, border: bool) -> None:
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

    def _note(self, note):
        """Writes a note. Returns the rectangle of each of its lines."""
        px, py = self._at(note.x, note.y)
        for i, row in enumerate(note.text.split("\n")):
            x, y = float(px + note.dx), float(py + note.dy + i * LEADING)
            self.sheet.write(x, y, row, note.hue, note.anchor, halo=True)
            x0 = x - width(row) * SIDE[note.anchor]
            yield x0, y - 10, x0 + width(row), y + 3

    def _crossing(self, crossing):
        """A dotted line with its value, which stands at the top or the foot of the line."""
        left, top, right, low = self.box
        x, y = (float(v) for v in self._at(crossing.x, self.chart.y.lo if crossing.y is None else crossing.y))
        if not left < x < right:
            return
        self.sheet.rule([x, x], [top, low], dash=(1, 3), level=2.4)
        if crossing.y is not None:
            self.sheet.dot(x, y, 4, rim="paper", weight=1.5)
            yield Want("", np.array([(x, y)]), radius=4)
        ends = [(top + 16, 6.0 * crossing.low), (low - 10, 3.0 - 3 * crossing.low)]
        spots = [Spot(x + s, v, side, p + q) for v, p in ends for side, s, q in (("left", 7, 0), ("right", -7, 1))]
        yield Want(crossing.text, np.array([(x, top), (x, low)]), spots=spots)

    def _curve(self, curve) -> Want:
        """Draws a curve, in the hues of its regions where it has none. Returns the label that it asks for."""
        xs, ys = self._at(*curve.formula)
        look = {"weight": 3.0} if self.chart.here and curve.now else (LIVE if self.chart.here else STYLES)[curve.style]
        regions = self.chart.regions if curve.hue == AUTO else []
        for region in regions:
            a, b = np.clip(self._span(region), xs.min(), xs.max())
            inside = np.array([a, *xs[(xs > a) & (xs < b)], b])
            self.sheet.rule(inside, np.interp(inside, xs, ys), region.hue, level=0, frame=self.box, **look)
        if not regions:
            self.sheet.rule(xs, ys, self._hue(curve.hue, 0), level=0, frame=self.box, **look)
        path = np.column_stack([xs, ys])
        near = None if curve.at is None else float(self._at(curve.at, self.chart.y.hi)[0])
        path = path[np.isfinite(path).all(axis=1)]
        return Want(self._text(curve), path, curve.hue, bold=self._bold(curve), near=near, along=curve.along)

    def _dots(self, dots) -> Want:
        """Dots, open for what was measured and filled for what is computed. Returns the label that they ask for."""
        xs, ys = self._at(*dots.data())
        face, rim = (dots.hue, "paper" if dots.size >= 10 else "") if dots.solid else ("paper", dots.hue)
        for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
            self.sheet.dot(x, y, dots.size / 2, face, rim, 2)
        text, here = self._text(dots), self.chart.here
        hue, bold = ("plain", True) if dots is here else (dots.hue, not here and "<b>" not in text)
        return Want(text, np.column_stack([xs, ys]), hue, bold, radius=dots.size / 2)

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
        for curve in chart.curves:
            style = "dashed" if curve.style == "approx" else "solid"
            records.append(_row(style, bare(self._text(curve)) or "_curve", curve.hue, *curve.formula))
        for dots in chart.dots:
            records.append(_row("points", bare(self._text(dots)) or "_points", dots.hue, *dots.data()))
        records += [f"region {r.name}: {_number(r.lo)} to {_number(r.hi)}" for r in chart.regions]
        records += [f"crossing {bare(c.text)}: x {_number(c.x)}" for c in chart.crossings]


def _same(path, lead) -> bool:
    """Whether a curve lies on another one everywhere, so that one name serves both."""
    return bool(np.abs(np.interp(lead[:, 0], *path.T) - lead[:, 1]).max() < 3)


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
