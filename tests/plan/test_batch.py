"""Many choices at once: each exactly as alone, and the impossible ones without an exception."""

import random

import numpy as np
import pytest

from gpuscale.plan import Choice, Refusal, evaluate_choice, evaluate_choices, evaluation, request
from gpuscale.plan.choice import PINS, RECOMPUTE
from gpuscale.plan.columns import NAMES
from gpuscale.plan.requests import SCHEDULES

RUNS = {
    "dense": ("llama3_8b", "h100_superpod", 64, 64 * 1024, 1024),
    "racks": ("llama3_8b", "gb200_nvl72", 144, 288 * 2048, 2048),
    "experts": ("gpt_oss_120b", "gb200_nvl72", 64, 128 * 1024, 1024),
    "latent": ("deepseek_v3", "h800", 128, 256 * 512, 512),
}


def some_choices(ask, count):
    """Random choices, of which about half are possible."""
    draw, out = random.Random(7), []
    while len(out) < count:
        left, degrees = ask.gpus, {}
        for axis in draw.sample(["tp", "cp", "pp"], 3):
            degrees[axis] = draw.choice([d for d in range(1, 17) if left % d == 0])
            left //= degrees[axis]
        degrees |= {"dp": left if draw.random() < 0.95 else draw.randint(1, 64), "ep": draw.choice([1, 1, 2, 8])}
        degrees |= {"virtual": draw.choice([1, 1, 2, 3]), "micro": draw.choice([1, 1, 2, 4, 5])}
        more = {"zero": draw.randrange(4), "sp": draw.random() < 0.5, "recompute": draw.choice(RECOMPUTE)}
        out.append(Choice(**degrees | more))
    return out


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", RUNS)
def test_each_choice_is_evaluated_as_alone(run, schedule):
    ask = request(*RUNS[run], schedule=schedule)
    choices = some_choices(ask, 160)
    together = evaluate_choices(ask, choices)
    table = together.record()
    assert len(together) == 160 and set(table) == {"possible", "fits", "low", "high", *NAMES}
    for i, choice in enumerate(choices):
        try:
            alone = evaluate_choice(ask, choice)
        except Refusal:
            assert not together.possible[i] and not together.fits[i], choice
            assert all(np.isnan(table[name][i]) for name in NAMES)
            continue
        assert together.possible[i] and bool(together.fits[i]) == alone.fits, choice
        assert {name: float(table[name][i]) for name in NAMES} == alone.costs.record(), choice
        assert (together.memory[i], together.mfu[0][i]) == (alone.memory, alone.mfu[0])
        assert [each[i] for each in together.step] == list(alone.step)
        assert (table["low"][i], table["high"][i]) == alone.band
    assert 1 < together.possible.sum() < 160


def test_columns_and_choices_are_the_same(monkeypatch):
    ask = request(*RUNS["dense"])
    choices = some_choices(ask, 100)
    columns = {name: np.array([getattr(choice, name) for choice in choices]) for name in PINS}
    one = evaluate_choices(ask, choices).record()
    monkeypatch.setattr(evaluation, "BLOCK", 7)
    other = evaluate_choices(ask, columns).record()
    for name, column in one.items():
        np.testing.assert_array_equal(column, other[name])


def test_one_value_stands_for_all():
    ask = request(*RUNS["dense"])
    found = evaluate_choices(ask, {"tp": [8, 4, 2], "dp": [8, 16, 32], "recompute": "full", "sp": 1})
    same = evaluate_choices(ask, [Choice(tp=t, dp=64 // t, recompute="full", sp=True) for t in (8, 4, 2)])
    assert found.step[1].tolist() == same.step[1].tolist() and found.possible.all()
    assert evaluate_choices(ask, {"dp": 64}).memory == evaluate_choice(ask, Choice(dp=64)).memory
    assert len(evaluate_choices(ask, [])) == len(evaluate_choices(ask, {"tp": []})) == 0


def test_what_the_request_fixes_does_not_matter():
    fixed, free = (request(*RUNS["dense"], **pins) for pins in ({"tp": 2}, {}))
    columns = {"tp": [8, 2], "dp": [8, 32]}
    assert evaluate_choices(fixed, columns).memory.tolist() == evaluate_choices(free, columns).memory.tolist()


@pytest.mark.parametrize("name", [name for name in PINS if name != "recompute"])
def test_a_value_out_of_range_is_an_impossible_choice(name):
    ask = request(*RUNS["dense"])
    values = [-1, 2.5, np.nan, np.inf, 1e300, 10**30, 2**62, -(2**62), 10**6 + 1]
    found = evaluate_choices(ask, {"dp": 64} | {name: values} if name != "dp" else {name: values})
    assert not found.possible.any() and not found.fits.any() and np.isnan(found.memory).all()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"speed": [1]}, "'speed' is not an option of a plan; expected one of dp, tp"),
        ({"tp": [1, 2], "dp": [64, 32, 16]}, "expected columns of one length; got dp 3, tp 2"),
        ({"tp": ["8"]}, "tp: .*expected whole numbers, one for each choice or one for all"),
        ({"tp": [[1]]}, "tp: .*expected whole numbers"),
        ({"tp": [10**400]}, "tp: .*expected whole numbers"),
        ({"recompute": ["half"]}, "recompute: 'half'; expected one of none, selective, full"),
        ([1], "'1': expected Choices"),
    ],
    ids=str,
)
def test_columns_that_are_none_are_refused(columns, said):
    with pytest.raises(Refusal, match=said):
        evaluate_choices(request(*RUNS["dense"]), columns)
