"""Costs of the planner as formulas of a few degrees, for figures that are drawn in the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy

from gpuscale import symbols as q
from gpuscale.core.evaluation import evaluate, inputs
from gpuscale.core.formula import Formula
from gpuscale.plan import clusters, evaluation
from gpuscale.plan.costs import compose
from gpuscale.plan.requests import Request, request

# A dense model on GPUs with only tensor parallelism and a pipeline; sequence parallelism, even stages, ZeRO-1, and
# selective recomputation, one sequence per microbatch. The remaining GPUs hold replicas.
DENSE = {
    **dict.fromkeys((q.n_cp, q.Z, q.f_hit, q.f_node, q.n_seq, q.n_sp, q.n_even, q.n_zero, q.n_recompute), 1),
    **{q.N_gpu: q.N_gpu, q.X: q.N_gpu / (q.Y * q.N_stages)},
}
_ASSUMES = "for the placement, the overlap and the memory that the planner assumes"


def formulas(ask: Request, names, at: Mapping = DENSE) -> tuple[dict[str, Formula], dict]:
    """Costs of the planner as formulas by name, and the values of those inputs that have a unit, and of B.

    ``names`` are columns of the planner such as "step_expected" or "memory"; ``at`` gives quantities of a choice a
    number or an expression. Numbers of model and cluster without a unit are put in; those with one stay symbols, so
    that units balance. Raises KeyError for another name.
    """
    steps, out = compose(ask.schedule, "kv_rank" in ask.model, q.flop)
    known = {getattr(q, name): value for name, value in evaluation.constants(ask).items() if name in vars(q)}
    keep = {s: value for s, value in known.items() if s.unit != "1" or s is q.B}
    put = {s: _exact(value) for s, value in known.items() if s not in keep}
    put |= {s: sympy.sympify(value) for s, value in at.items()}
    lhs, seen = {step.value: step.formula.lhs for step in steps}, {}
    for step in steps:
        plain = step.expr.xreplace(put)
        if plain.is_Number or plain.is_Symbol:  # put in at once: what is zero must not stay
            put[step.value] = plain
        with sympy.evaluate(False):  # Max of long expressions would be compared and factored, which takes seconds
            seen[step.value] = plain.xreplace(seen)
    found = {
        name: Formula(name, lhs[out[name]], seen[out[name]], source="megatron2021, section 3", assumes=_ASSUMES)
        for name in names
    }
    used = set().union(*(inputs(f.rhs) for f in found.values()))
    return found, {s: value for s, value in keep.items() if s in used}


def cost(model: str, cluster: str, name: str = "step_at_peak") -> Callable:
    """A cost of the planner as a function of keywords: N_gpu, Y, N_stages, n_virt, B, and rates if they differ.

    ``cost("llama3_70b", "h100_superpod")(N_gpu=2048, Y=8, N_stages=4, n_virt=1, B=2**22)`` is the time of a step at
    the peaks. Raises Refusal for an unknown model or cluster.
    """
    ask = request(model, place := clusters.cluster(cluster), place.node, "4M")
    found, held = formulas(ask, (name,))
    rhs = found[name].rhs
    used = {s.name for s in inputs(rhs)}
    fixed = {s.name: value for s, value in held.items() if s.name in used}
    return lambda **values: evaluate(rhs, **fixed | {key: v for key, v in values.items() if key in used})


def above(a, b) -> sympy.Expr:
    """1 where ``a`` is more than ``b``, else 0, for positive expressions; a choice by cases of long ones takes sympy
    minutes to print."""
    with sympy.evaluate(False):
        return sympy.Min(1, sympy.ceiling(a / b) - 1)


def _exact(value):
    return sympy.Integer(int(value)) if float(value).is_integer() else sympy.Float(value)
