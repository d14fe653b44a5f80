"""A live figure without a script, and in print: the state on which it opens, its sentence, its numbers."""

from __future__ import annotations

import math
import re

import numpy as np

from gpuscale.core.evaluation import compiled
from gpuscale.core.html import Head, details, digesting, escape, region, table
from gpuscale.plotting.drawing.axis import said
from gpuscale.plotting.drawing.chart import Chart, Crossing, Curve, Points, Region
from gpuscale.plotting.drawing.ink import bare
from gpuscale.plotting.drawing.layout import AUTO
from gpuscale.plotting.drawing.sheet import Sheet
from gpuscale.units import show

SAMPLES = 601
SIZE = 606, 339  # pixels: what a plot has in a card, as live.js draws it there
PART = r"((?:[^{}|]|\{\w+\})*)"


def fallback(opening: Opening, data: list) -> str:
    """Drawing and data table of the opening state as HTML ("" while outputs are digested: nobody sees it then)."""
    if digesting():
        return ""
    title = opening.spec["title"]
    sheet = Sheet(opening.spec["id"], *SIZE, narrow=False)
    opening.chart().paint(sheet)
    heads, *rows = ([escape(cell) for cell in row] for row in data)
    listed = table([Head(head, "num" if i else "") for i, head in enumerate(heads)], rows)
    return (
        region(title, sheet.svg(f"{title}: in its first state; the table below has its numbers"))
        + f'<p class="state">{opening.sentence()}</p>'
        + details("Data", region(f"Data of {title}", listed), open=True)
    )


class Opening:
    """The state on which a live figure opens, in numbers: the first view is on. The twin of live.js."""

    def __init__(self, maker, spec: dict):
        self.maker, self.x, self.view = maker, maker.axes[0], (spec["views"] or [{}])[0]
        self.spec, self.of = spec | self.view, {key: expr for expr, key in maker.keys.items()}
        sets = self.view.get("set", {}).items()
        self.state = dict(maker.state)
        self.state |= {k: maker.state[v[1:]] if isinstance(v, str) else v for k, v in sets if k not in maker.sliders}
        x = spec["x"]
        self.here = self.state[x["param"]] if x["param"] else self.value(x["at"])
        self.state[maker.x.name] = self.here
        for what in ("bounds", "curves", "points"):  # the links of this view may have another hue
            hues = self.view.get("hues", {})
            self.spec[what] = [part | {"hue": hues.get(part["hue"], part["hue"])} for part in self.spec[what]]

    def value(self, ref, x=None):
        """A number as it stands; an expression, by the key of its function, here or at other x."""
        if not isinstance(ref, str):
            return ref
        state = self.state if x is None else {**self.state, self.maker.x.name: x}
        function, names = compiled(self.of[ref])
        with np.errstate(all="ignore"):  # a bound may be infinite somewhere
            out = function(*(np.asarray(state[q.name], dtype=float)[()] for q in names))
        return np.broadcast_to(np.asarray(out, dtype=float), np.shape(x))[()]

    def holds(self, xs) -> np.ndarray:
        """The number of the bound that holds at each x."""
        costs = np.array([self.value(b["expr"], xs) for b in self.spec["bounds"]])
        return np.nanargmin(costs, axis=0) if self.spec["binds"] == "min" else np.nanargmax(costs, axis=0)

    def bound(self) -> dict:
        """The bound that sets the pace here."""
        bounds = self.spec["bounds"]
        return bounds[int(self.holds(np.array([self.here]))[0])] if bounds else {"name": "", "hue": "plain"}

    def regions(self) -> list[Region]:
        """Which bound holds where, to a hundredth of a pixel."""
        if not self.spec["bounds"]:
            return []
        grid = self.x.grid(50_001)
        found = self.holds(grid)
        changes = [0, *np.flatnonzero(np.diff(found)) + 1]
        ends = zip(grid[changes], [*grid[changes[1:]], self.x.hi], strict=True)
        bounds = [self.spec["bounds"][number] for number in found[changes]]
        return [Region(b["name"], b["hue"], *span) for b, span in zip(bounds, ends, strict=True)]

    def get(self, key: str) -> tuple[float, str]:
        """What a name in a sentence stands for, and its unit."""
        spec = self.spec
        if key in ("x", "y"):
            return (self.here if key == "x" else self.value(spec["y"]["at"])), spec[key]["unit"]
        if key in spec["values"]:
            return self.value(spec["values"][key]["expr"]), spec["values"][key]["unit"]
        return self.state[key], spec["params"].get(key, {"unit": spec["units"].get(key, "1")})["unit"]

    def fill(self, words: str) -> str:
        """A template with the values of the opening state."""
        if not re.search(r"[{*]", words):
            return words

        def choice(found):
            return found[2] if math.isfinite(self.get(found[1])[0]) else found[3]

        bound = self.bound()
        name = f'<b class="{bound["hue"]}">{bound["name"]}</b>'
        words = re.sub(rf"\{{\?(\w+):{PART}\|{PART}\}}", choice, words)
        words = re.sub(r"\{(\w+)\}", lambda m: name if m[1] == "bound" else said(*self.get(m[1])), words)
        return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)

    def sentence(self) -> str:
        """The text under the plot."""
        return self.fill(self.bound().get("say", self.spec["say"]))

    def numbers(self) -> list[list[str]]:
        """The named curves at round values of x: heads, then rows."""
        unit, named = self.spec["y"]["unit"], [c for c in self.spec["curves"] if "name" in c]
        grid = self.x.few()
        grid = grid[grid >= self.maker.x.least]
        columns = [self.x.title, *(bare(self.fill(c.get("label", c["name"]))) for c in named)]
        rows = zip(grid, *(self.value(c["formula"], grid) for c in named), strict=True)
        return [columns, *([said(v, self.x.unit, True), *(show(float(y), unit) for y in ys)] for v, *ys in rows)]

    def chart(self) -> Chart:
        """All that the plot shows."""
        spec, curves = self.spec, sorted(self.spec["curves"], key=self.lit)
        lead = curves[-1] if self.lit(curves[-1]) else spec["curves"][0]
        dots = [self._points(p) for p in spec["points"]]
        crossings = [self._crossing(c, lead) for c in spec["crossings"]]
        drawn = [*map(self._curve, curves)], dots, self.regions(), crossings
        return Chart(*self.maker.axes, *drawn, ends=spec["ends"], here=self._dot(lead))

    def lit(self, curve: dict) -> bool:
        """Whether a curve is the thick one."""
        now = curve.get("now", False)
        return now is True or self.view.get("name") in np.atleast_1d(now)

    def _curve(self, curve: dict) -> Curve:
        xs = self.x.cut(self.value(curve.get("lo")), self.value(curve.get("hi"))).grid(SAMPLES)
        xs = xs[xs >= self.maker.x.least]
        look = {"hue": curve["hue"], "style": curve["style"], "at": self.value(curve.get("at"))}
        return Curve(
            (xs, self.value(curve["formula"], xs)), self.fill(curve.get("label", "")), **look, now=self.lit(curve)
        )

    def _points(self, points: dict) -> Points:
        x, y = (self.value(points[which]) for which in "xy")
        return Points(x, y, self.fill(points.get("label", "")), points["hue"], "solid" in points, size=9)

    def _dot(self, lead: dict) -> Points:
        """Where the state is; named by the one slider that moves it, where there is one."""
        spec, moved = self.spec, [*self.spec["drag"]]
        only = moved[0] if len(moved) == 1 and not spec["x"]["param"] else ""
        text = f"{spec['params'][only]['sym']} = {said(*self.get(only))}" if only else ""
        hue = self.bound()["hue"] if spec["bounds"] else lead["hue"].replace(AUTO, "plain")
        return Points(self.here, self.value(spec["y"]["at"]), text, hue, solid=True, size=15)

    def _crossing(self, crossing: dict, lead: dict) -> Crossing:
        x = float(self.value(crossing["x"]))
        exact = float(round(x)) if self.x.unit == "1" and 100 <= x < 1e5 else x  # a threshold is a whole number
        y, text = float(self.value(lead["formula"], x)), f"{crossing['text']} = {said(exact, self.x.unit)}"
        return Crossing(x, text, y, "low" in crossing)
