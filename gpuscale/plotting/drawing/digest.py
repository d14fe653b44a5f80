"""A figure in words and numbers: what nbval stores and compares in place of a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgb

from gpuscale.plotting.drawing.ink import bare, meaning
from gpuscale.plotting.drawing.ticks import Units


def digest(still, sheet) -> str:
    """Caption, axes, each curve, row of points and bar with ends and extremes to six digits, then all
    words.
    """
    ax = sheet.axes[0]
    lines = [f"figure {still.name}: {bare(still.caption)}"]
    if still._axes:
        lines += [_axis(ax, "x"), _axis(ax, "y")]
    lines += [_line(line) for line in ax.lines if line.get_label() != "_"]
    lines += [_bars(group) for group in ax.containers]
    lines += [f"region {r.name}: {_number(r.lo)} to {_number(r.hi)}" for r in sheet.regions]
    lines += [f"crossing {bare(c.text)}: x {_number(c.x)}" for c in sheet.crossings]
    lines += sheet.records
    words = [bare(w) for w in sheet.words] + [bare(t.get_text()) for t in ax.texts]
    return "\n".join([*lines, "words: " + " | ".join(words)])


def _axis(ax, which: str) -> str:
    side, style = getattr(ax, f"{which}axis"), getattr(ax, f"{which}axis").get_major_formatter()
    lo, hi = getattr(ax, f"get_{which}lim")()
    unit = style.unit if isinstance(style, Units) else "1"
    title = getattr(ax, f"get_{which}label")()
    return f"{which}: {title} [{unit}], {side.get_scale()}, {_number(lo)} to {_number(hi)}"


def _line(line) -> str:
    x, y = (np.asarray(v, dtype=float) for v in line.get_data())
    dots = line.get_linestyle() in {"None", "none", "", " "}
    style = "points" if dots else "dashed" if line.is_dashed() else "solid"
    hue = meaning(to_rgb(line.get_color()))
    seen = y[np.isfinite(y)]
    reach = f", min {_number(seen.min())}, max {_number(seen.max())}" if len(seen) else ""
    ends = f"({_number(x[0])}, {_number(y[0])}) to ({_number(x[-1])}, {_number(y[-1])})" if len(x) else "none"
    return f"{style} {bare(line.get_label()) or '(no label)'} [{hue}]: {len(x)} from {ends}{reach}"


def _bars(group) -> str:
    values = ", ".join(_number(v) for v in group.datavalues)
    return f"bars {bare(group.get_label())}: {values}"


def _number(value) -> str:
    return "edge" if value is None else f"{float(value):.6g}"
