"""The planner as JavaScript: the programs that numpy runs, and the conditions of layouts, printed for the page.

``program`` prints the lines of ``costs`` in their order, ``conditions`` the constraints of ``layouts``, ``counted`` the
parameters of a model as ``llm.model_counts`` counts them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gpuscale import llm
from gpuscale import symbols as q
from gpuscale.core import javascript
from gpuscale.plan import costs, layouts, stages
from gpuscale.plan.choice import MESH, OPTIONS
from gpuscale.plan.columns import NAMES, SOUGHT
from gpuscale.plan.typed import some
from gpuscale.printed.calling import takes
from gpuscale.specs import hugging_face

ROW = (*MESH, *OPTIONS, "f_hit", "f_node")  # inputs of a plan; all others are those of a request


@cache
def program(latent: bool, schedule: str = "1f1b") -> str:
    """The costs of plans as a JavaScript function of a request's inputs: it returns a function of a plan's.

    That one takes ROW in its order, and ``all``: whether the columns of NAMES are wanted, or those of SOUGHT. What no
    plan changes is computed once. ``latent``: for latent attention.
    """
    steps, out = costs.compose(schedule, latent)
    lines, names = costs.ordered(steps, [out[name] for name in NAMES])
    row, needed = {getattr(q, name) for name in ROW}, {out[name] for name in SOUGHT}
    for value, expr in reversed(lines):
        if value in needed:
            needed |= expr.free_symbols
    fixed, first, last = [], [], []
    for value, expr in lines:
        if row & expr.free_symbols:
            row.add(value)
            (first if value in needed else last).append((value, expr))
        else:
            fixed.append((value, expr))
    given = ",".join(name.name for name in names if name.name not in ROW)
    found = [",".join(str(out[name]) for name in columns) for columns in (SOUGHT, NAMES)]
    return (
        f"(p)=>{{const {{{given}}}=p;{javascript.statements(fixed)}return({','.join(ROW)},all)=>{{"
        f"{javascript.statements(first)}if(!all)return[{found[0]}];{javascript.statements(last)}return[{found[1]}];}}}}"
    )


@cache
def stage(latent: bool, virtual: bool, schedule: str = "1f1b") -> str:
    """The bytes of a GPU of a stage, and the layers of the head, as a JavaScript function of all inputs by name.

    To those of a plan it adds ``L_stage`` and ``i_stage``, the layers and the place of the stage, ``n_end``, the
    embedding matrices in it, and ``n_last``, 1 for the last one. ``virtual``: for virtual stages.
    """
    steps, wanted = stages.steps(schedule, latent, stages.HELD["" if virtual else schedule])
    lines, names = costs.ordered(steps, wanted)
    given = ",".join(name.name for name in names)
    return f"(p)=>{{const {{{given}}}=p;{javascript.statements(lines)}return[{','.join(map(str, wanted))}];}}"


GROUPS = {
    "mesh": layouts.OF_MESH,
    "experts": layouts.OF_EXPERTS,
    "batch": layouts.OF_BATCH,
    "all": layouts.OF_ALL,
}


def conditions() -> dict[str, dict[str, Any]]:
    """The constraints of ``layouts`` in their groups: ``words``, where a noun has its plural behind a line, a ``brief``
    word, and ``broken``, a JavaScript function of quantities: the place of the first constraint they break, or -1."""
    return {group: printed(constraints) for group, constraints in GROUPS.items()}


def printed(constraints: Sequence[layouts.Constraint]) -> dict[str, Any]:
    """Constraints as JavaScript, in their order; see ``conditions``."""
    names = dict.fromkeys(name for one in constraints for name in takes(one.kept))
    tests = [one.kept(*map(_Code, takes(one.kept))).text for one in constraints]
    body = "".join(f"if(!({test}))return {place};" for place, test in enumerate(tests))
    return {
        "words": [re.sub(r"(?<=:)(\w+)", _both, one.words) for one in constraints],
        "brief": [one.name.split(" and ")[-1] for one in constraints],
        "broken": f"({{{','.join(names)}}})=>{{{body}return -1;}}",
    }


def _both(noun: re.Match) -> str:
    """A noun, and behind a line its plural."""
    return f"{noun[0]}|{some(2, noun[0]).removeprefix('2 ')}"


class _Code:
    """A number by name: a condition that is called with it gives its JavaScript, for whole numbers."""

    __hash__ = None

    def __init__(self, text):
        self.text = str(text)

    def _joined(self, sign, a, b) -> _Code:
        return _Code(f"({_text(a)}{sign}{_text(b)})")

    def __array_ufunc__(self, function, method, *args):
        if function is np.floor_divide:
            return _Code(f"Math.floor({_text(args[0])}/{_text(args[1])})")
        if function in (np.minimum, np.maximum):
            return _Code(f"Math.{function.__name__[:3]}({','.join(map(_text, args))})")
        return self._joined(SIGNS[function], *args)


SIGNS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.power: "**", np.mod: "%", np.equal: "===", np.less_equal: "<=",
    np.greater_equal: ">=", np.greater: ">", np.bitwise_and: "&&", np.bitwise_or: "||",
}  # fmt: skip
_OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "pow": np.power, "mod": np.mod}
_OPERATORS |= {"floordiv": np.floor_divide}
_OPERATORS |= {"eq": np.equal, "le": np.less_equal, "ge": np.greater_equal, "gt": np.greater}
_OPERATORS |= {"and": np.bitwise_and, "or": np.bitwise_or}
for _name, _function in _OPERATORS.items():
    setattr(_Code, f"__{_name}__", lambda a, b, f=_function: f(a, b))
    if _name not in ("eq", "le", "ge", "gt"):
        setattr(_Code, f"__r{_name}__", lambda a, b, f=_function: f(b, a))


def _text(value) -> str:
    return value.text if isinstance(value, _Code) else str(value)


def counted(moe: bool, latent: bool) -> str:
    """The parameters of a model as a JavaScript function of its sizes, all by symbol: P, P_act and P_exp.

    ``L_dense`` are its layers without experts. The formulas are those of ``llm.model_counts``.
    """
    tape = costs.Tape()
    tape.take(llm.latent_attention_params if latent else llm.attention_params)
    tape.take(llm.mlp_params)
    if moe:
        tape.take(llm.moe_layer_params, llm.moe_active_layer_params, llm.routed_parameters)
        tape.known[q.P_mlp] = tape.value(llm.mlp_params, F=q.F_dense)
    vectors = llm.moe_layer_vectors if moe else llm.layer_vectors
    tape.take(llm.latent_layer_vectors if latent else vectors, llm.embedding_params)
    tape.take(
        llm.moe_parameters if moe else llm.parameters, llm.moe_active_parameters if moe else llm.active_parameters
    )
    wanted = [tape.known[q.P], tape.known[q.P_act], *([tape.known[q.P_exp]] if moe else [])]
    lines, names = costs.ordered(tape.steps, wanted)
    found = ",".join(f"{name}:{value}" for name, value in zip(("P", "P_act", "P_exp"), [*wanted, 0], strict=False))
    return f"({{{','.join(name.name for name in names)}}})=>{{{javascript.statements(lines)}return{{{found}}};}}"


class _Sizes:
    """The sizes of a model by their names in the data, as code."""

    def __getitem__(self, name: str) -> _Code:
        return _Code(f"x.{name}")

    def get(self, name: str, default) -> _Code:
        return _Code(f"(x.{name}??{_text(default)})")


def left_out() -> dict[str, str]:
    """The parameters that the formulas leave out, by their names, as JavaScript functions of a model's sizes."""
    return {name: f"(x)=>{count(_Sizes()).text}" for name, count in hugging_face.MORE.items()}
