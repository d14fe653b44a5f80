"""A fit of what a framework stores on top of states and activations to measured peaks of memory.

A peak is that of the first GPU, in the first stage. Most constants are known from how a framework stores what it needs;
two are looked for, robustly: a run that is far off counts little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from gpuscale import llm
from gpuscale.plan import costs
from gpuscale.plan.calibration import Check, Prior
from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.run_inputs import run_inputs
from gpuscale.plan.runs import Run
from gpuscale.plan.typed import some

NOISE = 0.06  # by which a peak differs from a prediction, as a fraction
# Known from how frameworks on PyTorch store a layer: queries, keys and values copied before attention and its result
# after it; the result of the activation function next to its inputs; buckets of gradients in the precision of the
# weights; logits in fp32, their softmax, and the gradient and the logits in bf16. How often a node does not stall a
# pipeline is known from times: those of nanotron's runs that no constants explain.
FIXED = {"n_copy": 4.0, "n_wide": 1.0, "b_bucket": 2.0, "b_logit": 12.0, "p_calm": 0.97}
PRIORS = {"n_ahead": Prior(20.0, 1.0), "V_fix": Prior(5e8, 0.7)}


@cache
def _program(latent: bool):
    """Bytes of a GPU, of the stage that needs the most and of the first one; and the names of the inputs."""
    tape = costs.work(latent)
    state, held, *_ = costs.SCHEDULES["1f1b"]
    most = costs.memory(tape, state, held)["memory"]
    return costs.printed(tape.steps, [most, tape.value(llm.gpu_memory, V_last=0)])


class Peaks:
    """Runs as arrays, and their peaks of memory for any constants."""

    def __init__(self, runs: Sequence[Run], place: Cluster, recipe: str):
        latent, self._known = run_inputs(runs, place, recipe)
        self._function, self._names = _program(latent)

    def most(self, constants: Mapping[str, float], part=slice(None)) -> np.ndarray:
        """Bytes of a GPU of the stage that needs the most, for the runs in a part."""
        return self._both(constants, part)[0]

    def first(self, constants: Mapping[str, float], part=slice(None)) -> np.ndarray:
        """Bytes of a GPU of the first stage, for the runs in a part."""
        most, first = self._both(constants, part)
        return np.where(self._known["N_stages"][part] > 1, first, most)

    def _both(self, constants: Mapping[str, float], part) -> np.ndarray:
        known = {name: self._known[name][part] for name in self._names if name not in constants} | dict(constants)
        with np.errstate(all="ignore"):
            return np.broadcast_arrays(*self._function(*(known[name] for name in self._names)))


class _Problem:
    """Measured peaks, and the constants that come nearest to them."""

    def __init__(self, runs: Sequence[Run], place: Cluster, recipe: str):
        self.peaks = Peaks(runs, place, recipe)
        self.measured = np.array([run.memory for run in runs])
        self._center = np.log([prior.center for prior in PRIORS.values()])
        self._spread = np.array([prior.spread for prior in PRIORS.values()])

    def constants(self, logs: np.ndarray) -> dict[str, float]:
        """All of them by name."""
        return FIXED | {name: float(np.exp(one)) for name, one in zip(PRIORS, logs, strict=True)}

    def off(self, logs: np.ndarray, part) -> np.ndarray:
        """Logarithms of predicted over measured peaks."""
        return np.log(self.peaks.first(self.constants(logs), part) / self.measured[part])

    def fit(self, part) -> tuple[np.ndarray, np.ndarray]:
        """The logarithms of the constants, and their standard deviations."""
        from scipy.optimize import least_squares  # takes a second to import

        def residuals(logs):
            off = self.off(logs, part) / NOISE
            robust = np.sign(off) * np.sqrt(np.log1p(off * off))  # Cauchy's loss: a run far off counts little
            return np.concatenate([robust, (logs - self._center) / self._spread])

        found = least_squares(residuals, self._center, method="lm")
        return found.x, np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))


def fit_memory(
    runs: Sequence[Run], place: str | Cluster, recipe: str = "bf16_fp32_grads"
) -> tuple[dict[str, float], dict[str, float], tuple[Check, ...]]:
    """The constants of ``memory_constants`` for measured runs, the spread of those that were looked for as standard
    deviations of their logarithms, and the errors by leaving out each model and each number of GPUs.

    Runs without ``memory`` are left aside. Raises Refusal for fewer than four with it, and ImportError without SciPy.
    """
    runs = [run for run in runs if run.memory is not None]
    if len(runs) < 4:
        raise Refusal(f"{some(len(runs), 'run')} with memory; expected four or more")
    problem = _Problem(runs, cluster(place) if isinstance(place, str) else place, recipe)
    every = np.arange(len(runs))
    logs, spread = problem.fit(every)
    checks = []
    for what, named in (("model", str), ("gpus", "{:,} GPUs".format)):
        kinds = np.array([getattr(run, what) for run in runs])
        for kind in sorted(set(kinds)) if len(set(kinds)) > 1 else ():
            without, _ = problem.fit(every[kinds != kind])
            wrong = np.abs(np.expm1(problem.off(without, every[kinds == kind])))
            checks.append(Check(named(kind), len(wrong), float(np.median(wrong)), float(np.quantile(wrong, 0.9))))
    return problem.constants(logs), dict(zip(PRIORS, map(float, spread), strict=True)), tuple(checks)


def out_of_memory(
    runs: Sequence[Run],
    failed: Sequence[Run],
    place: str | Cluster,
    constants: Mapping[str, float],
    recipe: str = "bf16_fp32_grads",
) -> tuple[float, float]:
    """Precision and recall of what the constants say to run out of a GPU's memory, for runs that did not and runs that
    failed: the fraction of those said to fail that did, and of those that failed that were said to."""
    place = cluster(place) if isinstance(place, str) else place
    ran, not_ran = (Peaks(some, place, recipe).most(constants) > place.hbm for some in (runs, failed))
    said = ran.sum() + not_ran.sum()
    return float(not_ran.sum() / said) if said else 1.0, float(not_ran.mean())
