"""Live figures: one component for the notebook and the page, drawn from formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace

import sympy

from gpuscale.core import javascript
from gpuscale.core.dimension import must_fit
from gpuscale.core.evaluation import as_number, inputs
from gpuscale.core.formula import Formula
from gpuscale.core.html import anchor
from gpuscale.plotting.drawing.axis import Axis, said
from gpuscale.plotting.drawing.chart import Crossing, Curve, Points
from gpuscale.plotting.drawing.ink import HUES, bare, hue
from gpuscale.plotting.drawing.layout import AUTO
from gpuscale.symbols import Quantity, quantities
from gpuscale.widgets.parts import Bound, Call, Slider, Value, View


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
    points: Sequence[Points] = (),
    crossings: Sequence[Crossing] = (),
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
    (``binds="max"``) or rates of which the smallest does ("min"). ``ends`` puts the curves' names in a column next to
    the plot (default: if more than four). ``call`` is what "Copy as Python" writes: a formula (default: ``formula``) or
    a Call. Returns a widget whose ``values`` follow the sliders. Raises TypeError or ValueError naming the part.
    """
    maker = Maker(formula, x, sliders, fixed or {}, name)
    curves = curves or [Curve(formula, name=formula.title, now=True)]
    maker.check(presets or {}, views, binds, [*bounds, *curves, *points])
    spec = maker.spec(title, caption, axes, at, y, call if isinstance(call, Call) else Call.of(call or formula))
    many = sum(bool(c.label) for c in curves) > 4 and all(c.at is None for c in curves)
    parts = {"presets": list((presets or {}).items()), "views": views, "points": points, "crossings": crossings}
    parts |= {"curves": [replace(c, name=bare(c.label)) if c.name is None else c for c in curves], "bounds": bounds}
    parts |= {"values": {key: replace(v, unit=v.unit or _unit(v.expr)) for key, v in (values or {}).items()}}
    parts |= {"drag": drag or {}}
    spec |= {"binds": binds, "say": say, "ends": many if ends is None else ends} | maker.plain(parts)
    return maker.card(spec | {"fns": maker.functions})


class Maker:
    """Turns quantities and expressions into the figure's JSON, checking every input."""

    def __init__(self, formula, x, sliders, fixed, name):
        self.formula, self.x, self.name = formula, x, name
        self.sliders = {str(q): s for q, s in sliders.items()}
        self.fixed = {str(k): v for k, v in fixed.items()}
        self.functions: dict[str, str] = {}
        self.keys: dict = {}  # of each expression, in ``functions``
        for key, s in self.sliders.items():
            if key not in quantities():
                raise ValueError(f"{name}: slider {key!r} is not a quantity of the book")
            if not s.lo < s.hi or not s.lo <= s.start <= s.hi or (s.log and s.lo <= 0):
                rule = "expected lo <= start <= hi, lo above 0 on a log scale"
                raise ValueError(f"{name}: slider {key} {rule}; got {s}")
            as_number(quantities()[key], s.lo)
        self.state = {k: s.start for k, s in self.sliders.items()} | self.fixed
        self.param = x.name if x.name in self.sliders else None

    def check(self, presets, views, binds, coloured) -> None:
        """Raises ValueError for a set that changes no input, for hues without a meaning, for another ``binds``."""
        sets = [(f"preset {name}", changes) for name, changes in presets.items()]
        for what, changes in sets + [(f"view {view.name}", view.set) for view in views]:
            for key, value in changes.items():
                key, known = str(key), sorted(self.state)
                if key not in self.state:
                    fault = f"sets {key}, which is not a slider or fixed input; expected one of {known}"
                    raise ValueError(f"{self.name}: {what} {fault}")
                if not isinstance(value, str):
                    as_number(quantities()[key], value)
                elif value[1:] not in self.state or value[0] != "$":
                    raise ValueError(f"{self.name}: {what}: {key} = {value!r}; expected a number or $ and an input")
        for view in views:
            for name in (*view.hues, *view.hues.values()):
                hue(name, f"{self.name}: view {view.name}", HUES)
        for part in coloured:
            hue(part.hue, self.name, (*HUES, AUTO))
        if binds not in {"max", "min"}:
            raise ValueError(f'{self.name}: binds {binds!r}; expected "max" (costs) or "min" (rates)')

    def fn(self, expr) -> str:
        """The key of the JavaScript function of an expression."""
        expr = expr.rhs if isinstance(expr, Formula) else sympy.sympify(expr)
        if expr not in self.keys:
            known = {*self.state, self.x.name}
            stray = [q.name for q in inputs(expr) if q.name not in known]
            if stray:
                wanted = f"expected sliders or fixed inputs among {sorted(known)}"
                raise TypeError(f"{self.name}: {expr} needs {', '.join(stray)}; {wanted}")
            key = self.keys[expr] = f"f{len(self.keys)}"
            start = f"const {self.x.name} = x; " if not self.param and expr.has(self.x) else ""
            self.functions[key] = start + javascript.body(expr)
        return self.keys[expr]

    def plain(self, value):
        """A part of the figure as JSON: a dataclass as the fields that say something, a quantity as its name where it
        is a key, an expression as the key of its function."""
        if isinstance(value, Mapping):
            return {str(key): self.plain(held) for key, held in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.plain(held) for held in value]
        if is_dataclass(value) and not isinstance(value, Formula):
            held = {field.name: getattr(value, field.name) for field in fields(value)}
            return self.plain({k: v for k, v in held.items() if v is not None and v is not False and v not in ("", {})})
        if value is None or isinstance(value, (str, int, float)):
            return value
        return self.fn(value)

    def spec(self, title, caption, axes, at, y, call) -> dict:
        """Identity, axes, sliders and the Python call."""
        if not self.param and at is None:
            need = "expected `at`, the expression for its present value"
            raise TypeError(f"{self.name}: x = {self.x} is not a slider; {need}")
        y = self.formula if y is None else y
        must_fit(f"{self.name}: y", self.formula.lhs, y.rhs if isinstance(y, Formula) else y)
        ax, ay = axes
        self.axes = ax.of(self.x, f"{self.name}: x"), ay.of(self.formula.lhs, f"{self.name}: y")
        here = {"name": self.x.name, "param": self.param, "at": None if self.param else self.fn(at)}
        stray = [q.name for q in call.words if q.name not in self.state]
        if stray:
            raise TypeError(f"{self.name}: call {call.name} needs {', '.join(stray)}")
        q = quantities()
        return {
            "id": f"live-{anchor(self.name)}",
            "title": title,
            "caption": caption,
            "x": self.axes[0].spec() | here,
            "y": self.axes[1].spec() | {"at": self.fn(y)},
            "params": {
                k: self.plain(replace(s, label=s.label or q[k].meaning, unit=s.unit or q[k].unit)) | {"sym": q[k].html}
                for k, s in self.sliders.items()
            },
            "fixed": self.fixed,
            "units": {k: q[k].unit for k in self.fixed if k in q},
            "python": call.written(),
        }

    def card(self, spec):
        """The widget with its static face."""
        from gpuscale.widgets.card import figure
        from gpuscale.widgets.static_face import Opening, fallback

        opening = Opening(self, spec)
        data = opening.numbers()
        state = ", ".join(f"{k} = {said(s.start, s.unit or quantities()[k].unit)}" for k, s in self.sliders.items())
        lines = [f"live figure {spec['id']}: {spec['title']}", f"start: {state}"]
        lines += [" | ".join(row) for row in data]
        values = {k: float(s.start) for k, s in self.sliders.items()}
        return figure("live", spec, fallback(opening, data), "\n".join(lines), values)


def _unit(expr) -> str:
    return expr.lhs.unit if isinstance(expr, Formula) else "1"
