"""The face of a live figure without a script, and in print: its default curves, its sentence, its numbers."""

from __future__ import annotations

import math
import re

import numpy as np

from gpuscale.core.evaluation import evaluate, inputs
from gpuscale.core.html import Head, details, digesting, escape, region, table
from gpuscale.plotting import HUE, axis, still
from gpuscale.plotting.drawing.ink import bare
from gpuscale.plotting.drawing.ticks import linear_ticks, log_ticks
from gpuscale.units import show

SAMPLES = 160
ROWS = 8  # at most, in the table of numbers
PART = r"((?:[^{}|]|\{\w+\})*)"


def fallback(maker, spec: dict, curves, data: dict) -> str:
    """Drawing and data table of the default state as HTML ("" while outputs are digested: nobody sees it then)."""
    if digesting():
        return ""
    title = spec["title"]
    drawing = still(
        lambda ax, narrow: _paint(ax, maker, spec, curves),
        name=spec["id"],
        caption=title,
        alt=f"{title}: default curves; the table below holds their numbers",
    ).svg()
    heads, *rows = ([escape(cell) for cell in row] for row in (data["columns"], *data["rows"]))
    listed = table([Head(head, "num" if i else "") for i, head in enumerate(heads)], rows)
    return (
        region(title, drawing)
        + f'<p class="state">{sentence(maker, spec)}</p>'
        + details("Data", region(f"Data of {title}", listed), open=True)
    )


def rows_at(lo: float, hi: float, log: bool, whole: bool, unit: str) -> np.ndarray:
    """Round values of x for a table: powers of two for counts, decades or 1-2-5 for all else."""
    if whole:
        if not log:
            return np.unique(np.linspace(lo, hi, ROWS - 1).round())
        first, last = math.ceil(math.log2(lo) - 1e-9), math.floor(math.log2(hi) + 1e-9)
        row = 2.0 ** np.arange(first, last + 1, max(1, math.ceil((last - first + 1) / ROWS)))
        return np.unique([row[0], *row[1:], round(hi)]) if hi > 1.2 * row[-1] else row
    few = lambda row: len(row) <= ROWS  # noqa: E731
    return np.array(log_ticks(lo, hi, few, unit) if log else linear_ticks(lo, hi, few), dtype=float)


def numbers(maker, spec: dict, curves) -> dict:
    """The named curves of the default state at round values of x."""
    x, unit = spec["x"], spec["y"]["unit"]
    grid = rows_at(x["lo"], x["hi"], x["log"], maker.x.whole, x["unit"])
    grid = grid[grid >= maker.x.least]
    named = [c for c in curves if c.name]
    now = _Now(maker, spec)
    columns = [x["title"], *(bare(fill(maker, spec, c.label, now)) or c.name for c in named)]
    values = [now.along(c.expr, grid) for c in named]
    rows = [[said(v, x["unit"], True), *(show(float(ys[i]), unit) for ys in values)] for i, v in enumerate(grid)]
    return {"columns": columns, "rows": rows}


def said(value: float, unit: str = "1", short: bool = False) -> str:
    """A number as figures say it: counts are exact."""
    whole = unit in ("", "1") and math.isfinite(value) and float(value).is_integer()
    return show(value, "count" if whole else unit, short=short)


class _Now:
    """The state on which a figure opens, in numbers: the first view is on."""

    def __init__(self, maker, spec: dict):
        self.maker, self.view = maker, (spec["views"] or [{}])[0]
        self.spec, self.of = spec | self.view, {key: expr for expr, key in maker._keys.items()}
        sets = self.view.get("set", {}).items()
        self.state = dict(maker.state)
        self.state |= {k: maker.state[v[1:]] if isinstance(v, str) else v for k, v in sets if k not in maker.sliders}
        x = spec["x"]
        self.x = self.state[x["param"]] if x["param"] else self.value(x["at"])
        self.state[maker.x.name] = self.x

    def value(self, key: str) -> float:
        expr = self.of[key]
        return float(evaluate(expr, **{q.name: self.state[q.name] for q in inputs(expr)}))

    def along(self, expr, grid: np.ndarray) -> np.ndarray:
        """An expression at many x."""
        return np.broadcast_to(self.maker.at_state(expr, **self.state | {self.maker.x.name: grid}), grid.shape)

    def bound(self) -> dict:
        way = -1 if self.spec["binds"] == "min" else 1
        return max(self.spec["bounds"], key=lambda b: way * self.value(b["fn"]), default={"name": "", "hue": "plain"})

    def get(self, key: str) -> tuple[float, str]:
        """What a name in a sentence stands for, and its unit."""
        spec = self.spec
        if key in ("x", "y"):
            return (self.x if key == "x" else self.value(spec["y"]["at"])), spec[key]["unit"]
        if key in spec["values"]:
            return self.value(spec["values"][key]["fn"]), spec["values"][key]["unit"]
        units = {name: unit for name, unit, *_ in spec["python"]["args"]} | spec["units"]
        return self.state[key], spec["params"].get(key, {"unit": units.get(key, "1")})["unit"]


def fill(maker, spec: dict, words: str, now: _Now | None = None) -> str:
    """A template with the values of the opening state; the twin of ``fill`` in live.js."""
    if not re.search(r"[{*]", words):
        return words
    now = now or _Now(maker, spec)
    words = re.sub(rf"\{{\?(\w+):{PART}\|{PART}\}}", lambda m: m[2] if math.isfinite(now.get(m[1])[0]) else m[3], words)
    bound = now.bound()
    name = f'<b class="{now.view.get("hues", {}).get(bound["hue"], bound["hue"])}">{bound["name"]}</b>'
    words = re.sub(r"\{(\w+)\}", lambda m: name if m[1] == "bound" else said(*now.get(m[1])), words)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)


def sentence(maker, spec: dict) -> str:
    """What stands under the plot when the figure opens."""
    now = _Now(maker, spec)
    words = now.spec["say"]
    return fill(maker, spec, words.get(now.bound()["name"], words.get("default", "")), now)


def _paint(ax, maker, spec, curves) -> None:
    x, y = spec["x"], spec["y"]
    axis(ax, "x", (x["title"], x["unit"]), x["lo"], x["hi"], log=x["log"])
    axis(ax, "y", (y["title"], y["unit"]), y["lo"], y["hi"], log=y["log"])
    grid = np.geomspace(x["lo"], x["hi"], SAMPLES) if x["log"] else np.linspace(x["lo"], x["hi"], SAMPLES)
    grid = grid[grid >= maker.x.least]
    now = _Now(maker, spec)
    for curve in curves:
        values = now.along(curve.expr, grid)
        keep = np.isfinite(values) & (values >= y["lo"] * 0.5 if y["log"] else np.isfinite(values))
        for edge, side in ((curve.lo, np.greater_equal), (curve.hi, np.less_equal)):
            if edge is not None:
                keep &= side(grid, maker.at_state(edge, **now.state))
        hue = "plain" if curve.hue == "auto" else curve.hue
        line = {"approx": "--"}.get(curve.style, "-")
        ax.plot(
            grid[keep],
            values[keep],
            color=HUE[hue],
            linestyle=line,
            linewidth=2.5 if curve.now else 1.5,
            label=fill(maker, spec, curve.label, now) or curve.name or "_",
        )
