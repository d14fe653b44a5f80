"""The planner's costs as formulas: they give what the planner gives, and balance in units."""

import json

import pytest
import sympy

from gpuscale.core import evaluate, inputs
from gpuscale.plan import Choice, evaluate_choice, request
from gpuscale.plan.formulas import above, cost, formulas
from gpuscale.plotting import Axis
from gpuscale.symbols import B, N_gpu, N_stages, Y, n_virt
from gpuscale.widgets import Call, Slider, explore

NAMES = """memory microbatches math_at_peak kernels_at_peak tp_wait_at_peak dp_wait_at_peak bubble_at_peak step_at_peak
step_at_measured_rates mfu_at_peak dp_expected step_expected mfu_expected""".split()
LAYOUTS = [(64, 8, 1, 1), (512, 8, 4, 1), (512, 4, 4, 5), (2048, 8, 8, 2), (512, 1, 16, 1)]


@pytest.fixture(scope="module")
def drawn():
    return formulas(request("llama3_70b", "h100_superpod", 4096, "4M"), NAMES)


@pytest.mark.parametrize("gpus, ranks, stages, virtual", LAYOUTS)
def test_a_formula_gives_what_the_planner_gives(drawn, gpus, ranks, stages, virtual):
    found, held = drawn
    copies = gpus // (ranks * stages)
    choice = Choice(dp=copies, tp=ranks, pp=stages, virtual=virtual, sp=True, even=True, zero=1, recompute="selective")
    out = evaluate_choice(request("llama3_70b", "h100_superpod", gpus, "4M"), choice)
    here = {s.name: v for s, v in held.items()} | {"N_gpu": gpus, "Y": ranks, "N_stages": stages, "n_virt": virtual}
    for name in NAMES:
        used = {s.name: here[s.name] for s in inputs(found[name].rhs)}
        assert evaluate(found[name].rhs, **used) == pytest.approx(out.costs.record()[name], rel=1e-12), name


def test_a_cost_is_a_function_of_keywords():
    step = cost("llama3_70b", "h100_superpod")
    known = {"N_gpu": 512, "Y": 8, "N_stages": 4, "n_virt": 1, "B": 2**22}
    choice = Choice(dp=16, tp=8, pp=4, sp=True, even=True, zero=1, recompute="selective")
    ours = evaluate_choice(request("llama3_70b", "h100_superpod", 512, "4M"), choice).step[0]
    assert step(**known) == pytest.approx(ours, rel=1e-12)
    assert step(**known, C=1e15) != pytest.approx(ours, rel=1e-6)
    with pytest.raises(ValueError, match="no model 'llama9'|llama9"):
        cost("llama9", "h100_superpod")


def test_a_cost_that_is_none_is_refused():
    with pytest.raises(KeyError, match="speed"):
        formulas(request("llama3_70b", "h100_superpod", 64, "4M"), ["speed"])


def test_above_is_one_where_the_first_is_more():
    more = above(N_gpu, Y * N_stages)
    cases = {(9, 8): 1, (8, 8): 0, (7, 8): 0, (1000, 8): 1, (1, 8): 0}
    for (gpus, needed), expected in cases.items():
        assert evaluate(more, N_gpu=gpus, Y=needed, N_stages=1) == expected


def test_a_call_writes_its_own_lines():
    found, held = formulas(request("llama3_70b", "h100_superpod", 64, "4M"), ["microbatches"])
    call = Call("micro", "from here import micro", {N_gpu: "gpus", Y: "tp"})
    sliders = {q: Slider(1, 64, 8, "power") for q in (N_gpu, Y, N_stages)}
    figure = dict(name="a call", title="A call", caption="It calls.", sliders=sliders, fixed={B: held[B]})
    figure |= {"axes": (Axis(1, 64, "GPUs"), Axis(1, 64, "microbatches"))}
    spec = json.loads(explore(found["microbatches"], N_gpu, **figure, call=call).spec)
    assert spec["python"] == {
        "call": "micro",
        "import": "from here import micro",
        "args": [["N_gpu", "1", "gpus"], ["Y", "1", "tp"]],
    }
    stray = Call("micro", "", {n_virt: "virtual stages"})
    with pytest.raises(TypeError, match="n_virt"):
        explore(found["microbatches"], N_gpu, **figure, call=stray)
    assert sympy.sympify(held[B]) == 2**22
