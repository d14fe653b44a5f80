"""What a live figure must show, worked out in Python from the book's expressions: no JavaScript is involved.

Figures are made again by running their notebook with the drawing left out.
"""

import math
import re
from contextlib import chdir, contextmanager
from functools import cache

import numpy as np
import pytest
from browser.bookpages import code, notebook

from gpuscale.core import evaluate, inputs
from gpuscale.specs import registry
from gpuscale.units import show
from gpuscale.widgets import live_figure


@contextmanager
def keeping():
    """The figures that are made meanwhile, by their ids: their expressions, with no drawing."""
    found = {}
    card = live_figure.Maker.card

    def keep(maker, spec):
        found[spec["id"]] = Twin(maker, dict(spec))
        return card(maker, spec)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_figure.Maker, "card", keep)
        patch.setenv("GPUSCALE_DIGEST", "1")
        yield found


@contextmanager
def own_parts():
    """Parts that a page loads are gone afterwards."""
    kept = registry._registry
    registry._registry = cache(kept.__wrapped__)
    try:
        yield
    finally:
        registry._registry = kept


def figures(page: str) -> dict:
    """Every live figure of a page by its id: the expressions that its notebook gives it."""
    with keeping() as found, chdir(notebook(page).parent), own_parts():
        names = {"__name__": "notebook"}
        cells = code(page)
        last = max(i for i, cell in enumerate(cells) if "explore(" in cell)
        for cell in cells[: last + 1]:
            exec(compile(cell, page, "exec"), names)
    return found


def said(value: float, unit: str = "1") -> str:
    """A number as figures say it: counts are exact."""
    whole = unit in ("", "1") and math.isfinite(value) and float(value).is_integer()
    return show(value, "count" if whole else unit)


class Twin:
    """One figure: its parts from the spec, its numbers from expressions."""

    def __init__(self, maker, spec: dict):
        self.spec, self.maker = spec, maker
        self.exprs = {key: expr for expr, key in maker.keys.items()}

    def inputs(self, state: dict, view: dict) -> dict:
        """What formulas get in a state: views set what is no slider."""
        out = dict(state)
        for key, value in view.get("set", {}).items():
            if key not in self.spec["params"]:
                out[key] = state[value[1:]] if isinstance(value, str) else value
        return out

    def value(self, ref, given: dict, x=None):
        """A part's number: the value of its expression; ``x`` may be an array."""
        if not isinstance(ref, str):
            return ref
        expr, name = self.exprs[ref], self.spec["x"]["name"]
        values = given if x is None else {**given, name: np.maximum(x, self.maker.x.least)[()]}
        return evaluate(expr, **{q.name: values[q.name] for q in inputs(expr)})

    def here(self, given: dict) -> float:
        """Where the state is on the x axis."""
        x = self.spec["x"]
        return given[x["param"]] if x["param"] else self.value(x["at"], given)

    def bound(self, given: dict, view: dict, x: float) -> dict:
        """The bound that holds at x."""
        bounds = view.get("bounds", self.spec["bounds"])
        if not bounds:
            return {}
        sign = -1 if self.spec["binds"] == "min" else 1
        costs = [sign * self.value(b["expr"], given, x) for b in bounds]
        return bounds[costs.index(max(costs))]

    def named(self, given: dict) -> dict[str, float]:
        """Every named result of the figure."""
        x = self.here(given)
        out = {key: self.value(about["expr"], given, x) for key, about in self.spec["values"].items()}
        return out | {"x": x, "y": self.value(self.spec["y"]["at"], given, x)}

    def unit(self, key: str) -> str:
        """In which unit a name is said."""
        spec = self.spec
        if key in ("x", "y"):
            return spec[key]["unit"]
        about = spec["values"].get(key) or spec["params"].get(key)
        units = {name: unit for name, unit, *_ in spec["python"]["args"]} | spec["units"]
        return about["unit"] if about else units.get(key, "1")

    def sentences(self, view: dict) -> list[str]:
        """What may appear under the plot, with the names of the numbers in it."""
        return [self.spec["say"], *(b.get("say", "") for b in view.get("bounds", self.spec["bounds"]))]

    def sentence(self, state: dict, view: dict) -> str:
        """The sentence under the plot."""
        given = self.inputs(state, view)
        names, bound = self.named(given), self.bound(given, view, self.here(given))
        text = bound.get("say", self.spec["say"])

        def choice(found):
            value = names.get(found[1], given.get(found[1]))
            return found[2] if math.isfinite(value) else found[3]

        def number(found):
            key = found[1]
            return bound["name"] if key == "bound" else said(names.get(key, given.get(key)), self.unit(key))

        part = r"((?:[^{}|]|\{\w+\})*)"
        text = re.sub(r"\{\?(\w+):" + part + r"\|" + part + r"\}", choice, text)
        return re.sub(r"\{(\w+)\}", number, text).replace("**", "")

    def values(self, state: dict) -> dict[str, str]:
        """The label of each slider."""
        return {key: said(state[key], about["unit"]) for key, about in self.spec["params"].items()}


def called(words: str) -> float:
    """What copied Python gives: its statements run, its last line is the value."""
    *statements, last = words.strip().splitlines()
    names = {}
    exec("\n".join(statements), names)
    return float(eval(last, names))


def positions(axis: dict, lo: float, hi: float):
    """Pixels to values and back, from an axis and its two ends in pixels."""
    forth, back = (np.log10, lambda v: 10**v) if axis["log"] else (np.asarray, np.asarray)
    start, end = float(forth(axis["lo"])), float(forth(axis["hi"]))

    def to_pixel(value):
        with np.errstate(divide="ignore", invalid="ignore"):
            return lo + (forth(np.asarray(value, float)) - start) / (end - start) * (hi - lo)

    return to_pixel, lambda pixel: back(start + (np.asarray(pixel) - lo) / (hi - lo) * (end - start))
