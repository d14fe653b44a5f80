"""How good a fit is on runs that it has not seen: by hand, and for made-up runs of which all is known."""

import dataclasses
import math

import numpy as np
import pytest
from plan.test_calibration import TRUE, made_up, with_constants

from gpuscale.plan import Choice, Run, evaluate_choice, held_out, memory_quality, request, time_quality


@pytest.fixture(scope="module")
def judged():
    return {one.left_out: one for one in time_quality(made_up(150), "h100_superpod", drawn=40, draws=2)}


def test_known_runs_are_foreseen_whatever_is_left_out(judged):
    runs = made_up(150)
    sizes = {f"{run.gpus:,} GPUs" for run in runs}
    alone = sizes | {"llama3_8b", "llama3_70b"}
    both = "each model and number of GPUs, both at once"
    inner, ends = "each number of GPUs between others in turn", "the fewest and the most GPUs in turn"
    in_turn = {"each number of GPUs in turn", "each model in turn"}
    assert set(judged) == alone | in_turn | {inner, ends, both, "all but 40 runs"}
    at_ends = sum(run.gpus in (8, 128) for run in runs)  # of 8 to 128 GPUs
    assert (judged[inner].runs, judged[ends].runs) == (150 - at_ends, at_ends)
    assert judged["each number of GPUs in turn"].runs == judged["each model in turn"].runs == judged[both].runs == 150
    assert judged["all but 40 runs"].runs == 2 * 110
    for size in sizes:
        assert judged[size].runs == sum(f"{run.gpus:,} GPUs" == size for run in runs)
    assert judged[both].median < 0.03 and judged[both].rank > 0.95 and judged[both].worst_cost < 0.1
    for name in ("each number of GPUs in turn", "all but 40 runs"):
        one = judged[name]
        assert one.median < 0.03 and one.median < one.ninth < 0.1
        assert one.rank > 0.95 and one.least_rank <= one.rank and 0 <= one.cost <= one.worst_cost < 0.1


def test_runs_that_none_explain_do_not_count():
    runs = made_up(60, seed=1)
    odd = dataclasses.replace(runs[5], seconds=30 * runs[5].seconds)
    found = {one.left_out: one for one in time_quality([*runs[:5], odd, *runs[6:]], "h100_superpod", draws=1)}
    assert found["each model in turn"].runs == 59 and found["each model in turn"].ninth < 0.2
    assert found["all but 20 runs"].runs in (39, 40)  # those drawn may have the odd one
    with_it = found["each model in turn, with unexplained runs"]
    assert with_it.runs == 60 and found["each model in turn"].ninth < with_it.ninth < 0.2  # 59 of 60 are as before


def test_a_model_that_is_slower_than_the_others_shows():
    """A model slower by 1.3 in every run: without it nothing says so, and its expected times are 1 - 1/1.3 short."""
    runs = [run if run.model == "llama3_8b" else dataclasses.replace(run, seconds=1.3 * run.seconds)
            for run in made_up(120, seed=2)]  # fmt: skip
    found = {one.left_out: one for one in time_quality(runs, "h100_superpod", drawn=1000)}
    assert found["llama3_70b"].median == pytest.approx(1 - 1 / 1.3, abs=0.06)
    assert found["each model and number of GPUs, both at once"].median > 0.15  # each model seen from the other
    assert "all but 1000 runs" not in found  # there are not so many


def test_ranks_and_costs_by_hand():
    """Six runs of one group, four of another, which is too small: the third of five by its time is chosen."""
    measured = np.array([1.0, 2.0, 4.0, 5.0, 6.0, 3.0, 1.0, 1.0, 1.0, 2.0])
    told = np.array([2.0, 2.2, 1.6, 5.0, 6.6, 3.0, 1.0, 1.5, 1.0, 1.0])
    groups = np.array(list("aaaaaabbbb"))
    one = held_out.judged("these", [(measured, told, groups)])
    wrong = sorted([1.0, 0.1, 0.6, 0.0, 0.1, 0.0, 0.0, 0.5, 0.0, 0.5])
    assert (one.left_out, one.runs, one.median) == ("these", 10, pytest.approx((wrong[4] + wrong[5]) / 2))
    assert one.ninth == pytest.approx(wrong[8] + 0.1 * (wrong[9] - wrong[8]))
    places = {1.0: 1, 2.0: 2, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 6}, {1.6: 1, 2.0: 2, 2.2: 3, 3.0: 4, 5.0: 5, 6.6: 6}
    apart = sum((places[0][a] - places[1][b]) ** 2 for a, b in zip(measured[:6], told[:6], strict=True))
    assert one.rank == one.least_rank == pytest.approx(1 - 6 * apart / (6 * 35))
    assert one.cost == one.worst_cost == pytest.approx(4.0 / 1.0 - 1)
    two = held_out.judged("both", [(measured, told, groups), (measured, measured, groups)])
    assert (two.rank, two.least_rank) == (pytest.approx((one.rank + 1) / 2), one.rank)
    assert (two.cost, two.worst_cost) == (pytest.approx(1.5), pytest.approx(3.0))
    few = held_out.judged("few", [(measured[6:], told[6:], groups[6:])])
    assert few.rank is None and few.worst_cost is None and few.runs == 4


def test_shortfalls_of_pairs_by_hand():
    """Expected twice and measured 1.5 times as long: short by 2/1.5. In the other order by 1.25: short by 2 x 1.25."""
    measured, told = np.array([1.0, 1.5, 1.0, 0.8]), np.array([1.0, 2.0, 3.0, 6.0])
    groups = np.array(list("aabb"))
    found = held_out.shortfalls([(measured, told, groups)])
    assert np.exp(found) == pytest.approx([2 / 1.5, 2 * 1.25])
    assert np.exp(held_out.shortfalls([(measured[::-1], told[::-1], groups)])) == pytest.approx([2 * 1.25, 2 / 1.5])
    alone = held_out.shortfalls([(measured[i : i + 1], told[i : i + 1], groups[:1]) for i in range(4)])
    assert len(alone) == 6 and np.exp(alone[0]) == pytest.approx(2 / 1.5)  # without groups of two: all pairs


KEPT = {"n_copy": 4.0, "n_wide": 1.0, "b_bucket": 2.0, "b_logit": 12.0, "n_ahead": 20.0, "p_calm": 0.97, "V_fix": 2e9}


def weighed(model, gpus, **more) -> Run:
    """A run whose memory follows from KEPT, on one stage."""
    choice = Choice(dp=gpus // more.get("tp", 1), sp=more.get("tp", 1) > 1, **more)
    ask = request(model, "h100_superpod", gpus, 2**20, seq=4096, calibration=with_constants(TRUE | KEPT))
    return Run(model, gpus, 2**20, 4096, 1.0, choice, evaluate_choice(ask, choice).memory)


@pytest.fixture(scope="module")
def weights():
    """Runs that fit into 80 GB by a margin, and runs that do not; on 8 GPUs one model never fits."""
    shapes = [{"tp": tp, "micro": micro, "zero": zero} for tp in (2, 4, 8) for micro in (1, 2, 4) for zero in (0, 1)]
    found = [weighed("llama3_8b", gpus, **one) for gpus in (8, 16, 64) for one in shapes]
    found += [weighed("mistral_7b", gpus, **one) for gpus in (8, 16) for one in shapes]
    found += [weighed("llama3_70b", 8, **one) for one in shapes]
    return [run for run in found if run.memory < 76e9], [run for run in found if run.memory > 84e9]


def test_memory_that_follows_from_the_constants_is_foreseen(weights):
    ran, failed = weights
    failed = [dataclasses.replace(run, seconds=None, memory=None) for run in failed]
    assert len(ran) > 30 and len(failed) > 10
    found = {one.left_out: one for one in memory_quality(ran, failed, "h100_superpod")}
    inner = found.pop("each number of GPUs between others in turn")
    ends = found.pop("the fewest and the most GPUs in turn")
    assert inner.runs == sum(run.gpus == 16 for run in ran) and ends.runs == sum(run.gpus != 16 for run in ran)
    assert max(inner.ninth, ends.ninth) < 0.03
    for one in found.values():
        assert one.runs == len(ran) and one.ninth < 0.03
        assert (one.precision, one.recall) == (1.0, 1.0)


def test_failures_that_memory_does_not_explain_lower_the_recall(weights):
    ran, failed = weights
    more = [*failed, *ran[: len(failed)]]  # as many again, which fit
    for one in memory_quality(ran, more, "h100_superpod"):
        assert one.precision == 1.0
        if one.left_out.startswith("each") and "between" not in one.left_out:  # all runs
            assert one.recall == pytest.approx(len(failed) / len(more))
    for one in memory_quality([*ran, *failed], failed, "h100_superpod")[:2]:  # those that ran all the same
        assert one.precision == pytest.approx(0.5) and one.recall == 1.0
    assert all(math.isnan(one.recall) for one in memory_quality(ran, [], "h100_superpod"))
