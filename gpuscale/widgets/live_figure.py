"""Live figures: one component for the notebook and the page, drawn from formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from gpuscale.core import javascript
from gpuscale.core.dimension import must_fit
from gpuscale.core.evaluation import as_number, evaluate, inputs
from gpuscale.core.formula import Formula
from gpuscale.core.html import anchor
from gpuscale.plotting.curve_chart import Curve
from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.chart import AUTO
from gpuscale.plotting.drawing.ink import HUES, bare, hue
from gpuscale.symbols import Quantity, quantities
from gpuscale.units import show
from gpuscale.widgets.parts import Bound, Call, Cross, Mark, Slider, Value, View, symbol_name


def explore(
    formula: Formula,
    x: Quantity,
    *,
    name: str,
    title: str,
    caption: str,
    sliders: Mapping[Quantity, Slider],
    axes: tuple[Axis, Axis],
    fixed: Mapping | None = None,
    presets: Mapping[str, Mapping] | None = None,
    views: Sequence[View] = (),
    bounds: Sequence[Bound] = (),
    binds: str = "max",
    curves: Sequence[Curve] = (),
    marks: Sequence[Mark] = (),
    cross: Sequence[Cross] = (),
    values: Mapping[str, Value] | None = None,
    say: str = "",
    at=None,
    y=None,
    ends: bool | None = None,
    drag: Mapping | None = None,
    call: Formula | Call | None = None,
):
    """A live figure of ``formula`` against ``x``: sliders, presets, the crossing and the bound that holds.

    ``sliders`` maps quantities to Slider; ``fixed`` gives further inputs, which presets and views may change.
    ``x`` is a slider's quantity, or another one with ``at``, the expression for its present value, and ``drag``,
    the sliders that follow when the reader drags the dot. ``bounds`` are costs of which the largest sets the pace
    (``binds="max"``) or rates of which the smallest does ("min"). ``ends`` puts the curves' names in a column beside
    the plot (default: if more than four). ``call`` is what "Copy as Python" writes: a formula (default: ``formula``) or
    a Call. Returns a widget whose ``values`` follow the sliders. Raises TypeError or ValueError naming the part.
    """
    maker = Maker(formula, x, sliders, dict(fixed or {}), name)
    curves = curves or [Curve(formula, name=formula.title, now=True)]
    spec = maker.spec(title, caption, axes, at, y, drag or {}, call or formula)
    spec |= maker.inputs(presets or {}, views) | maker.drawing(bounds, binds, curves, marks, cross, ends)
    spec |= maker.words(say, values or {}, bounds)
    return maker.card(spec | {"fns": maker.functions})


class Maker:
    """Turns quantities and expressions into the figure's JSON, checking every input on the way."""

    def __init__(self, formula, x, sliders, fixed, name):
        self.formula, self.x, self.name = formula, x, name
        self.sliders = {symbol_name(q): s for q, s in sliders.items()}
        self.fixed = {symbol_name(k): v for k, v in fixed.items()}
        self.functions: dict[str, str] = {}
        self.keys: dict = {}  # of each expression, in ``functions``
        for key, slider in self.sliders.items():
            self._slider_ok(key, slider)
        self.state = {k: s.start for k, s in self.sliders.items()} | self.fixed
        self.is_param = x.name in self.sliders

    def _slider_ok(self, key, s) -> None:
        if key not in quantities():
            raise ValueError(f"{self.name}: slider {key!r} is no quantity of the book")
        if not s.lo < s.hi or not s.lo <= s.start <= s.hi or (s.log and s.lo <= 0):
            raise ValueError(
                f"{self.name}: slider {key} expected lo <= start <= hi, lo above 0 on a log scale; got {s}"
            )
        as_number(quantities()[key], s.lo)

    def fn(self, expr) -> str:
        """The key of the JavaScript function of an expression."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        if expr not in self.keys:
            known = {*self.state, self.x.name}
            stray = [q.name for q in inputs(expr) if q.name not in known]
            if stray:
                raise TypeError(
                    f"{self.name}: {expr} needs {', '.join(stray)}; expected sliders or fixed inputs among "
                    f"{sorted(known)}"
                )
            key = self.keys[expr] = f"f{len(self.keys)}"
            start = f"const {self.x.name} = x; " if not self.is_param and expr.has(self.x) else ""
            self.functions[key] = start + javascript.body(expr)
        return self.keys[expr]

    def ref(self, value):
        """A number as it stands, an expression as the key of its function."""
        if value is None or isinstance(value, (int, float)):
            return value
        return self.fn(value)

    def at_state(self, expr, **changes):
        """An expression in numbers at the default state."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        state = {**self.state, **changes}
        return evaluate(expr, **{q.name: state[q.name] for q in inputs(expr)})

    def spec(self, title, caption, axes, at, y, drag, call) -> dict:
        """Identity, axes and the Python call."""
        ax, ay = axes
        if not self.is_param and at is None:
            raise TypeError(
                f"{self.name}: x = {self.x} is no slider; expected `at`, the expression for its present value"
            )
        y_expr = y if y is not None else self.formula
        must_fit(f"{self.name}: y", self.formula.lhs, y_expr.rhs if isinstance(y_expr, Formula) else y_expr)
        self.axes = ax.of(self.x, f"{self.name}: x"), ay.of(self.formula.lhs, f"{self.name}: y")
        here = {"name": self.x.name, "param": self.x.name if self.is_param else None}
        here |= {"at": None if self.is_param else self.fn(at)}
        (moved, *more) = [*map(symbol_name, drag), ""]
        only = quantities()[moved] if moved and more == [""] and not self.is_param else None
        if isinstance(call, Call):
            python = call.written()
        else:
            python = {"call": call.name, "import": f"from {call.room} import {call.name}"}
            python["args"] = [[q.name, q.unit] for q in call.inputs]
        stray = [name for name, *_ in python["args"] if name not in self.state]
        if stray or not call.name:
            raise TypeError(f"{self.name}: call {call.title} needs {', '.join(stray) or 'a name in the library'}")
        return {
            "id": f"live-{anchor(self.name)}",
            "title": title,
            "caption": caption,
            "x": self.axes[0].spec() | here,
            "y": self.axes[1].spec() | {"at": self.fn(y_expr)},
            "dot": f"{only.html} = {{{moved}}}" if only else "",
            "drag": {symbol_name(k): self.fn(v) for k, v in drag.items()},
            "python": python,
        }

    def inputs(self, presets, views) -> dict:
        """Sliders, fixed inputs, presets and views."""
        q = quantities()
        params = {
            k: {
                "label": s.label or q[k].meaning,
                "sym": q[k].html,
                "unit": s.unit or q[k].unit,
                "lo": s.lo,
                "hi": s.hi,
            }
            | {"log": s.log, "snap": s.snap, "value": s.start}
            for k, s in self.sliders.items()
        }
        for what, sets in [
            *((f"preset {n}", p) for n, p in presets.items()),
            *((f"view {v.name}", v.set) for v in views),
        ]:
            for key, value in sets.items():
                self._set_ok(what, symbol_name(key), value)
        return {
            "params": params,
            "fixed": self.fixed,
            "units": {k: q[k].unit for k in self.fixed if k in q},
            "presets": [[n, {symbol_name(k): v for k, v in p.items()}] for n, p in presets.items()],
            "views": [self._view(v) for v in views],
        }

    def _view(self, v: View) -> dict:
        out = {"name": v.name, "set": {symbol_name(k): x for k, x in v.set.items()}}
        if v.marks is not None:
            out["marks"] = [self._mark(m) for m in v.marks]
        if v.bounds is not None:
            out["bounds"] = [self._bound(b) for b in v.bounds]
            out["say"] = {b.name: b.say for b in v.bounds if b.say}
        for name in (*v.hues, *v.hues.values()):
            hue(name, f"{self.name}: view {v.name}", HUES)
        return out | ({"hues": dict(v.hues)} if v.hues else {})

    def _bound(self, b: Bound) -> dict:
        return {"name": b.name, "hue": b.hue, "fn": self.fn(b.expr)}

    def _mark(self, m: Mark) -> dict:
        place = {"x": self.ref(m.x), "y": self.ref(m.y), "label": m.label, "hue": m.hue, "open": m.open}
        return place | ({"short": m.short} if m.short else {})

    def _set_ok(self, what, key, value) -> None:
        if key not in self.state:
            raise ValueError(
                f"{self.name}: {what} sets {key}, which is no slider or fixed input; expected one of "
                f"{sorted(self.state)}"
            )
        if isinstance(value, str):
            if value[1:] not in self.state or value[0] != "$":
                raise ValueError(f"{self.name}: {what}: {key} = {value!r}; expected a number or $ and an input")
        else:
            as_number(quantities()[key], value)

    def drawing(self, bounds, binds, curves, marks, cross, ends) -> dict:
        """Regions, curves, dots and crossings."""
        if binds not in {"max", "min"}:
            raise ValueError(f'{self.name}: binds {binds!r}; expected "max" (costs) or "min" (rates)')
        for part in [*bounds, *curves, *marks]:
            hue(part.hue, self.name, (*HUES, AUTO))
        many = sum(bool(c.label) for c in curves) > 4 and all(c.at is None for c in curves)
        return {
            "bounds": [self._bound(b) for b in bounds],
            "binds": binds,
            "curves": [self._curve(c) for c in curves],
            "marks": [self._mark(m) for m in marks],
            "cross": [{"x": self.ref(c.expr), "label": c.label, "low": c.low} for c in cross],
            "ends": many if ends is None else ends,
        }

    def _curve(self, c: Curve) -> dict:
        look = {"name": bare(c.label) if c.name is None else c.name, "label": c.label, "hue": c.hue, "style": c.style}
        ends = {"lo": self.ref(c.lo), "hi": self.ref(c.hi), "at": self.ref(c.at)}
        return {"fn": self.fn(c.expr), "now": c.now} | look | ends | ({"short": c.short} if c.short else {})

    def words(self, say, values, bounds) -> dict:
        """The sentence under the plot and the values it names."""
        sentences = {b.name: b.say for b in bounds if b.say} | {"default": say}
        out = {}
        for key, value in values.items():
            expr = value.expr
            unit = value.unit or (expr.lhs.unit if isinstance(expr, Formula) else "1")
            out[key] = {"fn": self.fn(expr), "unit": unit}
        return {"say": sentences, "values": out}

    def card(self, spec):
        """The widget with its static face."""
        from gpuscale.widgets.card import figure
        from gpuscale.widgets.static_face import Opening, fallback

        opening = Opening(self, spec)
        data = opening.numbers()
        state = ", ".join(f"{k} = {_said(quantities()[k], s.start, s.unit)}" for k, s in self.sliders.items())
        lines = [f"live figure {spec['id']}: {spec['title']}", f"start: {state}"]
        lines += [" | ".join(row) for row in data]
        values = {k: float(s.start) for k, s in self.sliders.items()}
        return figure("live", spec, fallback(opening, data), "\n".join(lines), values)


def _said(q: Quantity, value: float, unit: str = "") -> str:
    return show(value, unit or ("count" if q.whole and float(value).is_integer() else q.unit))
