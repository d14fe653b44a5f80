"""The face of a live figure without a script, and in print: its default curves, its sentence, its numbers."""

from __future__ import annotations

import html as escaping

import numpy as np

from gpuscale.display import digesting
from gpuscale.plotting import HUE, axis, still

SAMPLES = 160


def fallback(maker, spec: dict, curves, table: dict) -> str:
    """Drawing and data table of the default state as HTML ("" while outputs are digested: nobody sees it then)."""
    if digesting():
        return ""
    title = escaping.escape(spec["title"])
    drawing = still(
        lambda ax, narrow: _paint(ax, maker, spec, curves), name=spec["id"], caption=spec["title"],
        alt=f"{spec['title']}: default curves; the table below holds their numbers",
    ).svg()  # fmt: skip
    head = "".join(
        f'<th scope="col"{" class=num" if i else ""}>{escaping.escape(c)}</th>'
        for i, c in enumerate(table["columns"])
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{' class=num' if i else ''}>{escaping.escape(c)}</td>" for i, c in enumerate(row))
        + "</tr>"
        for row in table["rows"]
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">{drawing}</div>'
        "<details open><summary>Data</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Data of {title}">'
        f'<table class="plain-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def _paint(ax, maker, spec, curves) -> None:
    x, y = spec["x"], spec["y"]
    axis(ax, "x", (x["title"], x["unit"]), x["lo"], x["hi"], log=x["log"])
    axis(ax, "y", (y["title"], y["unit"]), y["lo"], y["hi"], log=y["log"])
    grid = np.geomspace(x["lo"], x["hi"], SAMPLES) if x["log"] else np.linspace(x["lo"], x["hi"], SAMPLES)
    grid = grid[grid >= maker.x.least]
    for curve in curves:
        values = np.broadcast_to(maker.at_state(curve.expr, **{maker.x.name: grid}), grid.shape)
        keep = np.isfinite(values) & (values >= y["lo"] * 0.5 if y["log"] else np.isfinite(values))
        for edge, side in ((curve.lo, np.greater_equal), (curve.hi, np.less_equal)):
            if edge is not None:
                keep &= side(grid, maker.at_state(edge))
        hue = "plain" if curve.hue == "auto" else curve.hue
        line = {"approx": "--"}.get(curve.style, "-")
        ax.plot(
            grid[keep],
            values[keep],
            color=HUE[hue],
            linestyle=line,
            linewidth=2.5 if curve.now else 1.5,
            label=curve.label or curve.name or "_",
        )
