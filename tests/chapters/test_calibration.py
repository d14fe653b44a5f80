"""Predicted against measured step times: what its experiment shows, with the fit of the library."""

from functools import cache

import numpy as np
import pytest

from gpuscale import specs
from gpuscale.plan import cluster, load_calibration, read_runs, shipped
from gpuscale.plan.fit import Problem
from gpuscale.specs import registry

WHOLE = load_calibration(shipped("nanotron_h100"))


@pytest.fixture(scope="module")
def runs():
    folder = shipped("nanotron_h100").parent
    with pytest.MonkeyPatch.context() as patch:  # the models of the runs go again
        patch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))
        specs.load(folder / "nanotron_models.toml")
        yield read_runs(folder / "nanotron_h100.csv")


@pytest.fixture(scope="module")
def errors(runs):
    """The median error of the other runs on a number of GPUs, by a fit to those that meet a condition."""
    problem = Problem(runs, cluster("h100_superpod"), "bf16_fp32_grads")

    def found(condition, gpus):
        picked = np.array([i for i, run in enumerate(runs) if condition(run)])
        judged = [i for i, run in enumerate(runs) if run.gpus == gpus and i not in WHOLE.far and i not in picked]
        return np.median(np.abs(problem.expected(problem.fit(picked), judged) / problem.seconds[judged] - 1))

    return found


def test_few_gpus_predict_more_nearly_as_well_as_the_fit_to_all_others(errors):
    held = {check.left_out: check.median for check in WHOLE.checks}
    assert errors(lambda run: run.gpus <= 32, 128) == pytest.approx(held["128 GPUs"], rel=0.2)
    assert held["512 GPUs"] < errors(lambda run: run.gpus <= 32, 512) < 1.5 * held["512 GPUs"]


@pytest.mark.parametrize("enough", [lambda run: run.choice.zero == 0, lambda run: run.choice.micro == 1])
def test_some_kinds_of_runs_are_enough(errors, enough):
    assert errors(enough, 128) < 0.12 and errors(enough, 512) < 0.16


def test_without_a_pipeline_and_with_stalled_runs_a_fit_fails(runs, errors):
    assert errors(lambda run: run.choice.pp == 1, 128) > 3 * errors(lambda run: run.choice.zero == 0, 128)
    assert sum(run.gpus == 512 and i in WHOLE.far for i, run in enumerate(runs)) > 0.5 * sum(
        r.gpus == 512 for r in runs
    )
    assert errors(lambda run: run.gpus == 512, 128) > 1
