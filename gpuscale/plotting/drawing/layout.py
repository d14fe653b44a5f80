"""Laying a drawing out: margins, grid, ticks, titles, regions, notes, and the labels of its curves."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.colors import to_rgb

from gpuscale.plotting.drawing.ink import HUE, fold, meaning, width
from gpuscale.plotting.drawing.labels import Spot, Want, fill, place
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.drawing.ticks import Units, linear_ticks, log_ticks


def lay_out(ax) -> None:
    """Margins from the labels, then grid, ticks, titles, regions, notes; last the labels of the curves."""
    sheet = ax.figure
    w, h = sheet.across, sheet.down
    titles = [fold(t, w, bold=True) if t else [] for t in (ax.get_ylabel(), ax.get_xlabel())]
    top = LEADING * len(titles[0]) + (24 if sheet.regions else 12 if titles[0] else 2) + sheet.headroom
    low = h - 26 - LEADING * len(titles[1])
    ys = _ticks(ax.yaxis, ax.get_ylim(), low - top, upright=True)
    left = max((width(t) for _, t in ys), default=0) + 8
    xs = _ticks(ax.xaxis, ax.get_xlim(), w - 20 - left, upright=False)
    right = w - max(6.0, *(width(t) / 2 for _, t in xs[-1:]))
    ax.set_position([left / w, 1 - low / h, (right - left) / w, (low - top) / h])
    box = (left, top, right, low)
    _furnish(sheet, ax, box, xs, ys, titles)
    _regions(sheet, ax, box)
    solid = [fill(r) for r in _notes(sheet, ax)]
    wants = _crossings(sheet, ax, box)
    wants += [w for w in (_want(ax, line) for line in ax.lines) if w is not None]
    place(
        wants,
        (left + 2, top + 2 if sheet.regions else top - 6, right, low - 2),
        np.concatenate([*solid, np.empty((0, 2))]),
    )
    for want in wants:
        if want.spot:
            s = want.spot
            sheet.write(s.x, s.y, want.text, want.name, s.align, want.bold, halo=True, angle=want.angle)


def _ticks(axis, ends, room: float, upright: bool) -> list[tuple[float, str]]:
    """The ticks of an axis as (value, text), as many as have room."""
    style = axis.get_major_formatter()
    style = style if isinstance(style, Units) else Units()
    lo, hi = sorted(ends)
    log = axis.get_scale() == "log"
    scale = (lambda v: math.log10(v)) if log else float
    per = room / (scale(hi) - scale(lo))

    def fits(row):
        need = [(30.0 if log else 36.0) if upright else width(style(v)) + 16 for v in row]
        gaps = [(scale(b) - scale(a)) * per for a, b in zip(row, row[1:], strict=False)]
        return all(g >= (m + n) / 2 for g, m, n in zip(gaps, need, need[1:], strict=False))

    row = log_ticks(lo, hi, fits, style.unit) if log else linear_ticks(lo, hi, fits)
    return [(v, style(v)) for v in row]


def pixel(ax, x, y) -> tuple[float, float]:
    """Where a point of the data stands: pixels, y downwards."""
    px, py = ax.transData.transform((x, y))
    return float(px), float(ax.figure.down - py)


def _furnish(sheet, ax, box, xs, ys, titles) -> None:
    left, top, right, low = box
    for v, text in xs:
        x, _ = pixel(ax, v, ax.get_ylim()[0])
        if sheet.grid:
            sheet.rule([_crisp(x)] * 2, [top, low], alpha=0.09)
        sheet.write(x, low + 17, text, "soft", "center", say=False)
    for v, text in ys:
        _, y = pixel(ax, ax.get_xlim()[0], v)
        if sheet.grid:
            sheet.rule([left, right], [_crisp(y)] * 2, alpha=0.09)
        sheet.write(left - 8, y + 4.4, text, "soft", "right", say=False)
    sheet.rule([_crisp(left)] * 2 + [right], [top] + [_crisp(low)] * 2, "edge", zorder=1)
    for i, text in enumerate(titles[0]):
        sheet.write(0, 12 + i * LEADING, text, bold=True, say=False)
    for i, text in enumerate(titles[1]):
        sheet.write(
            sheet.across,
            sheet.down - 4 - LEADING * (len(titles[1]) - 1 - i),
            text,
            align="right",
            bold=True,
            say=False,
        )


def _crisp(v: float) -> float:
    """The middle of a pixel: a hairline there is one pixel wide, not two pale ones."""
    return math.floor(v) + 0.5


def _regions(sheet, ax, box):
    """The pale fill of a bound, its name in a tab over the plot."""
    left, top, right, low = box
    for r in sheet.regions:
        ends = ax.get_xlim()
        a, b = (
            pixel(ax, v if v is not None else e, ax.get_ylim()[0])[0] for v, e in zip((r.lo, r.hi), ends, strict=True)
        )
        a, b = min(max(a, left), right), min(max(b, left), right)
        sheet.area(a, top - 20, b, low, r.hue, 0.09)
        sheet.area(a, top - 20, b, top, r.hue, 0.09)
        if b - a > width(r.name, True) + 8:
            sheet.write((a + b) / 2, top - 5.5, r.name, r.hue, "center", bold=True, say=False)


def _crossings(sheet, ax, box) -> list[Want]:
    """Dotted lines with their values, which stand at the top or the foot of the line."""
    left, top, right, low = box
    out = []
    for c in sheet.crossings:
        x, _ = pixel(ax, c.x, ax.get_ylim()[0])
        if not left < x < right:
            continue
        sheet.rule([x, x], [top, low], linestyle=(0, (1, 3)), zorder=2.4)
        if c.y is not None:
            ax.plot([c.x], [c.y], "o", ms=8, mfc=HUE["plain"], mec=HUE["paper"], mew=1.5, label="_", zorder=4)
        ends = [(top + 16, 6.0 * c.low), (low - 10, 3.0 - 3 * c.low)]
        spots = [Spot(x + s, y, side, p + q) for y, p in ends for side, s, q in (("left", 7, 0), ("right", -7, 1))]
        out.append(Want(c.text, np.array([(x, top), (x, low)]), spots=spots))
    return out


def _notes(sheet, ax):
    for x, y, text, colour, dx, dy, anchor, bold in sheet.notes:
        px, py = pixel(ax, x, y)
        for i, line in enumerate(text.split("\n")):
            at = (px + dx, py + dy + i * LEADING)
            sheet.write(*at, line, colour, anchor, bold, halo=True)
            w = width(line, bold)
            x0 = at[0] - w * {"left": 0, "center": 0.5, "right": 1}[anchor]
            yield x0, at[1] - 10, x0 + w, at[1] + 3


def _want(ax, line) -> Want | None:
    """The label that a line asks for; a line without one is still something to keep clear of."""
    label = "" if line.get_label().startswith("_") else line.get_label()
    data = np.column_stack(line.get_data()).astype(float)
    with np.errstate(all="ignore"):
        path = line.get_transform().transform(data) * (1, -1) + (0, ax.figure.down)
    path = path[np.isfinite(path).all(axis=1)]
    if not len(path):
        return None
    dots = line.get_linestyle() in {"None", "none", "", " "}
    near = getattr(line, "label_at", None)
    return Want(
        label,
        path,
        meaning(to_rgb(line.get_color())),
        bold=not (line.is_dashed() or getattr(line, "label_light", False)),
        radius=line.get_markersize() / 2 if dots else 0.0,
        along=getattr(line, "label_along", False),
        near=None if near is None else pixel(ax, near, ax.get_ylim()[0])[0],
    )
