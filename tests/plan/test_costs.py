"""What the planner's costs are made of: formulas of the library and nothing else, each within its conditions."""

import ast
import functools
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import sympy
from support.reference_planner import Slow

import gpuscale.plan
from gpuscale.catalogue import sweep
from gpuscale.plan import Choice, evaluate_choice, evaluation, layouts, request
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.choice import RECOMPUTE
from gpuscale.plan.columns import GROUPS, NAMES, Costs, ExpectedTimes, StepTimes, explained
from gpuscale.plan.costs import compose, in_two, program
from gpuscale.plan.requests import SCHEDULES

KINDS = [(schedule, latent) for schedule in SCHEDULES for latent in (False, True)]
UNITS = {
    column.name: column.metadata.get("unit") for column in (*fields(Costs), *fields(StepTimes), *fields(ExpectedTimes))
}


@pytest.mark.parametrize("schedule, latent", KINDS)
def test_every_step_is_a_formula_of_the_library(schedule, latent):
    """Its right side, with quantities, values of earlier steps, whole numbers or infinity in place of its inputs."""
    library = {id(formula): name for name, formula in sweep.formulas().items()}
    steps, out = compose(schedule, latent)
    known = set()
    for step in steps:
        assert library[id(step.formula)].startswith("llm."), step.formula
        for put in step.given.values():
            assert put in known or isinstance(put, sympy.Integer) or put is sympy.oo or getattr(put, "unit", None), (
                step.formula,
                put,
            )
        assert step.expr == step.formula.rhs.xreplace(step.given)
        known.add(step.value)
    assert set(out) == set(NAMES) and set(out.values()) <= known


# Arithmetic in the planner's files that is no cost, with the reason. Words, files of words, pixels (figure) and whole
# numbers that are counted, typed or factored (hints, layouts, requests) are not looked at.
NO_COST = {
    "batch._rows": "how many kinds of recomputation there are",
    "batch.evaluate_choices": "the size of a block of rows",
    "calibration._rows": "rows of a table counted",
    "clusters.Cluster.with_node": "a GPU brings its own NIC",
    "efficiencies._carried": "the ranks of a benchmark",
    "efficiencies._fraction": "a rate that was measured, over its peak",
    "clusters.cluster": "the links of a single node, those of all its GPUs",
    "clusters.own_cluster": "a GPU brings its own NIC",
    "columns.StepTimes.extra": "the difference of two columns, for print",
    "costs.Tape.value": "sets of names",
    "costs.in_two": "sets of symbols",
    "costs.ordered": "sets of symbols",
    "evaluation.costs": "the size of a block of rows",
    "clusters.Cluster.part": "GPUs of a node",
    "outcome.Outcome.losses": "shares of a step, for print",
    "outcome._Numbers.band": "the expected time, times and over a factor",
    "outcome.Outcome.useful": "the same",
    "outcome.Outcome.ties_with": "a ratio of expected times",
    "likeness.unlike": "ranks and GPUs counted",
    "run_inputs.run_inputs": "the number of a run in its table",
    "search.Plan.why_nothing": "lists of words",
    "search._crowded": "choices counted",
    "search._fastest": "how many rows are kept",
    "search._solve": "choices counted",
    "stages._dealt": "layers counted",
    "search.evaluate_choice": "the GPUs that a choice takes",
}
APART = {
    "__init__",
    "__main__",
    "explanation",  # words and ratios of what was computed
    "fit",  # looks for constants: what it fits are formulas
    "held_out",  # errors of what it is told
    "memory_fit",  # the same
    "quality",  # errors of what was fitted
    "runs",  # reads a table
    "network_fit",  # looks for constants, of a network
    "network_logs",  # reads logs
    "choice",
    "errors",
    "factors",  # whole numbers
    "figure",
    "hints",
    "html",
    "layouts",
    "printing",  # writes code
    "requests",
    "text",
    "typed",
}


def arithmetic(path):
    """Where a file adds, subtracts, multiplies or divides what is no text."""
    found = set()

    def walk(node, place):
        place = [*place, node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else place
        if isinstance(node, ast.BinOp | ast.AugAssign) and not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.LShift):
            if not any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(node)):
                found.add(".".join([path.stem, *place]))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sum":
            found.add(".".join([path.stem, *place]))
        for child in ast.iter_child_nodes(node):
            walk(child, place)

    walk(ast.parse(path.read_text(encoding="utf-8")), [])
    return found


def test_the_planner_does_no_algebra():
    paths = [path for path in Path(gpuscale.plan.__file__).parent.glob("*.py") if path.stem not in APART]
    assert {"costs", "evaluation", "outcome", "search"} <= {path.stem for path in paths}
    assert set().union(*map(arithmetic, paths)) == set(NO_COST)


RUNS = {
    "dense": ("llama3_8b", "h100_superpod", 192, 3 * 2**20),
    "a node": ("llama3_8b", "h100_superpod", 8, 2**18),
    "experts": ("gpt_oss_120b", "gb200_nvl72", 144, 9 * 2**20),
    "latent": ("deepseek_v3", "h800", 128, 2**20),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", RUNS)
def test_layouts_keep_the_conditions_of_every_formula(run, schedule):
    """What the constraints let through is what the formulas are for: each need of each step holds in every row."""
    ask = request(*RUNS[run], schedule=schedule)
    rows, _ = layouts.layouts(evaluation.model_inputs(ask), ask)
    draw = np.random.default_rng(3)
    picked = []
    for part, picks in layouts.parts(rows, layouts.options(ask), ask.pins):
        at = draw.integers(len(part), size=40), draw.integers(len(picks), size=40)
        picked.append({n: c[at[0]] for n, c in part.items()} | {n: c[at[1]] for n, c in picks.items()})
    columns = {name: np.concatenate([one[name] for one in picked]).astype(float) for name in picked[0]}
    known = evaluation.constants(ask) | columns | evaluation.hits(ask, columns["Z"])
    checked = 0
    for step in compose(schedule, "kv_rank" in ask.model)[0]:
        for need in step.formula.needs:
            assert np.all(numbers(replaced(need, step), known)), f"{step.formula.name} needs that {need}"
            checked += 1
        known[step.value.name] = numbers(step.expr, known)
    assert checked > 15


@functools.cache
def relation(need, *parts):
    """A need of other expressions; made once, as schedules share most of their steps."""
    return need.test(*parts)


def replaced(need, step):
    """The need of a step in the symbols of a tape."""
    return relation(need, *(part.xreplace(step.given) for part in need.parts))


@functools.cache
def compiled(expr):
    names = sorted(str(symbol) for symbol in expr.free_symbols)
    return sympy.lambdify(names, expr, modules="numpy"), names


def numbers(expr, known):
    """An expression in the symbols of a tape, in numbers."""
    function, names = compiled(expr)
    with np.errstate(all="ignore"):
        return function(*(known[name] for name in names))


@pytest.mark.parametrize("schedule, latent", KINDS)
def test_columns_have_the_units_of_their_formulas(schedule, latent):
    steps, out = compose(schedule, latent)
    made = {step.value: step.formula.lhs.unit for step in steps}
    ends = "|".join(f"_{name}" for name in GROUPS)
    assert {name: UNITS[re.sub(f"({ends})$", "", name)] for name in NAMES} == {name: made[out[name]] for name in NAMES}


def test_every_column_says_what_it_is():
    told = explained()
    own = {column.name: column for column in fields(Costs) if column.metadata}
    own |= {f"{column.name}_at_peak": column for column in fields(StepTimes)}
    own |= {f"{column.name}_expected": column for column in fields(ExpectedTimes)}
    for name, column in own.items():
        assert column.metadata["meaning"] in told and f"  {name} " in told
    values = [float(i) for i in range(len(NAMES))]
    assert list(Costs.of(values).record().items()) == list(zip(NAMES, values, strict=True))


@pytest.mark.parametrize("run", ["experts", "latent"])
def test_a_program_in_two_computes_the_same(run):
    """The second function alone gets the late inputs, and all other lines are computed in the first."""
    ask, wanted, late = request(*RUNS[run]), ("step_expected", "memory"), frozenset({"eta_mat", "t_host", "gamma_net"})
    latent = "kv_rank" in ask.model
    choices = [Choice(dp=ask.gpus // 16, pp=2, ep=8, tp=8), Choice(dp=ask.gpus // 8, ep=8, tp=8, zero=3)]
    known = evaluation.known(ask, possible_rows(ask, choices)[0])
    (early, first), (rest, second) = in_two("1f1b", latent, wanted, late)
    whole, names = program("1f1b", latent, wanted)
    with np.errstate(all="ignore"):
        kept = early(*(known[name] for name in first))
        found = rest(*kept, *(known[name] for name in second[len(kept) :]))
        np.testing.assert_array_equal(found, whole(*(known[name] for name in names)))
    assert set(second[len(kept) :]) == late and not late & set(first)


@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("ranks, sp", [(16, True), (32, False)])
def test_ranks_hold_whole_key_heads(ranks, sp, recompute):
    """More ranks than key heads: every column counts a key head for each, as tensors counted one by one do."""
    ask = request("llama3_8b", "h100_superpod", 64, 16 * 128, 128)
    assert ranks > ask.model.kv_heads
    choice = Choice(dp=64 // ranks, tp=ranks, sp=sp, recompute=recompute)
    ours, theirs = evaluate_choice(ask, choice).costs.record(), Slow(ask, choice).numbers()
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12), name
