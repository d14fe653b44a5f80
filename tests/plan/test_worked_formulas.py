"""The numbers put in for the symbols of a formula: they give its value, and the times of the plan."""

from dataclasses import replace

import pytest

from gpuscale import llm
from gpuscale.core.evaluation import evaluate
from gpuscale.plan import Choice, Refusal, evaluate_choice, request, worked
from gpuscale.symbols import N_MB, T_dp, T_mb, T_step, T_upd, X, Y, g_dp

ASK = request("llama3_70b", "h100_superpod", 1024, 2**22)
CHOICE = Choice(tp=8, sp=True, pp=4, dp=32)
SHOWN = (llm.expected_step, llm.expected_microbatch, llm.microbatch_gpu_time, llm.expected_dp, llm.update_time)


def test_each_formula_has_its_value_at_its_own_numbers():
    for formula, numbers in zip(SHOWN, worked(ASK, CHOICE, SHOWN), strict=True):
        values = {q.name: value for q, value in numbers.items() if q is not formula.lhs}
        assert set(values) == {q.name for q in formula.inputs if q.name != "flop"}
        assert numbers[formula.lhs] == pytest.approx(evaluate(formula, **values)) and numbers[formula.lhs] > 0


def test_the_numbers_are_those_of_the_plan():
    step, micro, gpu, dp, update = worked(ASK, CHOICE, SHOWN)
    spent = evaluate_choice(ASK, CHOICE).costs
    assert step[T_step] == pytest.approx(spent.expected.step) and step[N_MB] == spent.microbatches
    assert (step[T_dp], step[T_upd]) == pytest.approx((spent.expected.dp, spent.expected.update))
    assert step[T_mb] == pytest.approx(micro[T_mb]) and (gpu[Y], dp[X]) == (CHOICE.tp, CHOICE.dp)
    assert dp[g_dp] == ASK.calibration.constants["g_dp"]


@pytest.mark.parametrize(
    ("choice", "formula", "error", "said"),
    [
        (replace(CHOICE, dp=33), llm.expected_step, Refusal, "a choice that has a layout"),
        (CHOICE, llm.zero3_gpus, ValueError, "does not use this formula"),
    ],
)
def test_what_cannot_be_worked_is_refused(choice, formula, error, said):
    with pytest.raises(error, match=said):
        worked(ASK, choice, [formula])
