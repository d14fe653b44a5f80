"""A fit of the constants of a real training step to measured runs.

Each constant is positive and has a prior: a center and a spread in logarithms, wide where little is known. A fit looks
for the constants whose expected times are nearest to the measured ones, as ratios. It is robust: a run that is far off
counts little, and afterwards it is left out and named. Pipelines that are far too slow tell by how much each
neighboring stage delays each microbatch; a pipeline that is nearer to its time with this delay is left out as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpuscale import symbols
from gpuscale.plan.calibration import FIXED, KNOWN, PRIORS, Calibration, Prior, usual
from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.held_out import held_out
from gpuscale.plan.likeness import AXES, Kinds
from gpuscale.plan.memory_fit import fit_memory
from gpuscale.plan.run_inputs import run_inputs
from gpuscale.plan.runs import Run, read_runs
from gpuscale.plan.typed import number, some

FEWEST = 4  # runs to fit
NOISE = 0.04  # by which the same run differs from one time to the next, as a fraction
FASTER = 3  # times as far off counts a run at first that is faster than expected: many stall, and none is lucky
FAR = 0.4  # logarithm of the ratio to the expected time at which a run cannot be explained
SEEN = 5 * NOISE  # logarithm of the ratio by which a stall has to change a time to be told from noise


class Problem:
    """Runs as arrays, and their expected times for any constants."""

    def __init__(
        self,
        runs: Sequence[Run],
        place: Cluster,
        recipe: str,
        network: Calibration | None = None,
        bucket: float = FIXED["V_bucket"],
    ):
        from gpuscale import llm  # imports sympy
        from gpuscale.plan.costs import in_two

        latent, known = run_inputs(runs, place, recipe)
        constants = frozenset(FIXED.keys() | PRIORS.keys())
        (early, names), (self._steps, steps_names) = in_two("1f1b", latent, ("step_expected",), constants)
        with np.errstate(all="ignore"):
            kept = early(*(known[name] for name in names))
        self._known = [np.broadcast_to(value, len(runs)) for value in kept]  # all that no constant changes
        self._names = steps_names[len(kept) :]
        self.fixed, self.priors = FIXED | {"V_bucket": bucket}, dict(PRIORS)
        for name in () if network is None else network.constants.keys() - set(network.unknown):
            if name in self.fixed:
                self.fixed[name] = network.constants[name]
            else:
                self.priors[name] = Prior(network.constants[name], network.spread[name])
        self.free = tuple(name for name in PRIORS if name in self._names)
        self._center = np.log([self.priors[name].center for name in self.free])
        self._spread = np.array([self.priors[name].spread for name in self.free])
        self._slow_host = np.array([np.log(5) * (name == "t_host") for name in self.free])
        self.seconds = np.array([run.seconds for run in runs])
        self.experts = bool(np.any(known["E"] > 1))
        count = llm.microbatches(**{name: known[name] for name in ("B", "S", "X", "n_seq")})
        cut = {name: known[name] for name in ("N_stages", "n_virt")}
        self._delays = np.asarray(llm.pipeline_stall(t_stall=1, N_MB=count, **cut))  # of a step that stalls

    def expected(self, logs: np.ndarray, part) -> np.ndarray:
        """Seconds of a step of the runs in a part."""
        return self._expected(logs, [value[part] for value in self._known])

    def _expected(self, logs: np.ndarray, known: list[np.ndarray]) -> np.ndarray:
        given = self.fixed | dict(zip(self.free, self.constants(logs), strict=True))
        with np.errstate(all="ignore"):
            return self._steps(*known, *(given[name] for name in self._names))[0]

    def constants(self, logs: np.ndarray) -> np.ndarray:
        """The constants; a fraction is at most 1."""
        return np.minimum(np.exp(logs), [getattr(symbols, name).most for name in self.free])

    def off(self, logs: np.ndarray, part) -> np.ndarray:
        """How far the expected times of a part are from the measured ones: logarithms of the ratios, all positive."""
        return np.abs(np.log(self.expected(logs, part) / self.seconds[part]))

    def stall(self, logs: np.ndarray, part) -> float:
        """Seconds of a delay (``t_stall``): the median of the pipelines of a part that are far slower than expected, or
        0 if those are too few."""
        expected, measured, delays = self.expected(logs, part), self.seconds[part], self._delays[part]
        late = (np.log(measured / expected) >= FAR) & (delays > 0)
        return float(np.median((measured - expected)[late] / delays[late])) if late.sum() >= FEWEST else 0.0

    def explained(self, logs: np.ndarray, part) -> np.ndarray:
        """Whether the constants explain the runs of a part: they are not far off, and not nearer to a stall."""
        expected = self.expected(logs, part)
        off, stalled = (
            np.log(seconds / expected)
            for seconds in (self.seconds[part], expected + self.stall(logs, part) * self._delays[part])
        )
        return (np.abs(off) < FAR) & ((stalled < SEEN) | (off < stalled / 2))

    def fit(self, part, start=None) -> np.ndarray:
        """The logarithms of the constants: first by all runs of the part, then without those far off.

        A host that no run waits for has no slope, so a search begins with a quick host, and with a slow one, or with
        that of ``start``. The other constants begin at their priors, so that no run left out has a say.
        """
        starts = [self._center, self._center + self._slow_host]
        if start is not None:
            starts = [np.where(self._slow_host > 0, start, self._center)]
        logs = min((self._solve(part, one, FASTER) for one in starts), key=lambda found: found.cost).x
        for _ in range(2):
            near = self.off(logs, part) < FAR
            logs = self._solve(part[near], logs).x if near.any() else logs
        return logs

    def spread(self, part, logs: np.ndarray) -> np.ndarray:
        """The standard deviations of the logarithms, from the curvature at the best fit."""
        jacobian = self._solve(part, logs).jac
        return np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))

    def _solve(self, part, start, faster: float = 1):
        from scipy.optimize import least_squares  # takes a second to import

        measured, known = np.log(self.seconds[part]), [value[part] for value in self._known]

        def residuals(logs):
            off = (np.log(self._expected(logs, known)) - measured) / NOISE
            off = np.where(off > 0, off * faster, off)
            robust = np.sign(off) * np.sqrt(np.log1p(off * off))  # Cauchy's loss: a run far off counts little
            return np.concatenate([robust, (logs - self._center) / self._spread])

        return least_squares(residuals, start, method="lm", ftol=1e-4)


def calibrate(
    runs: Sequence[Run] | str | Path,
    place: str | Cluster,
    recipe: str = "bf16_fp32_grads",
    source: str = "",
    network: Calibration | None = None,
    bucket: float | str | None = None,
) -> Calibration:
    """The Calibration of measured runs on a cluster; ``runs`` may be the path of a CSV file (see read_runs).

    ``network`` has the network's constants, from ``fit_network(...).calibration``: the runs refine its bandwidths, and
    its latencies are kept. Without any run, the other constants are the usual ones. ``bucket`` is how many bytes of
    gradients the framework reduces at a time, such as "1GB". If it is left out, runs have PyTorch's 25 MiB.
    Raises Refusal for one to three runs and for runs that no constants explain, and ImportError without SciPy, which
    the extra ``calibrate`` installs.
    """
    if isinstance(runs, str | Path):
        runs = read_runs(runs)
    place = cluster(place) if isinstance(place, str) else place
    reduced = None if bucket is None else number("bucket of gradients, in bytes", bucket, 1, "B")
    if network is not None and not runs:
        others = usual(place)
        if reduced is not None:
            others = replace(others, constants=others.constants | {"V_bucket": reduced})
        return _of_network(network, others)
    if len(runs) < FEWEST:
        raise Refusal(f"calibrate: {some(len(runs), 'run')}; expected {FEWEST} or more")
    problem = Problem(runs, place, recipe, network, reduced or FIXED["V_bucket"])
    every = np.arange(len(runs))
    logs = problem.fit(every)
    explained = problem.explained(logs, every)
    near = every[explained]
    if len(near) < FEWEST:
        told = f"constants explain {len(near):,} of {some(len(runs), 'run')}"
        raise Refusal(f"calibrate: {told}; expected {FEWEST} or more: check their models, layouts, seconds and cluster")
    spread = problem.spread(near, logs)
    checks, errors, shortfalls = held_out(problem, runs, near, logs)
    found = dict(zip(problem.free, problem.constants(logs), strict=True))
    wide = dict(zip(problem.free, spread, strict=True))
    if network is not None:  # its latencies are kept, and with them how well they are known
        wide |= {name: network.spread[name] for name in FIXED.keys() & network.constants.keys() - set(network.unknown)}
    weighed = sum(run.memory is not None for run in runs) >= FEWEST
    stored, of_stored, of_memory = fit_memory(runs, place, recipe) if weighed else ({}, {}, ())
    return Calibration(
        {name: float(value) for name, value in (found | problem.fixed | stored).items()},
        {name: float(value) for name, value in (wide | of_stored).items()},
        tuple(name for name in problem.free if wide[name] > KNOWN * PRIORS[name].spread),
        len(runs),
        tuple(int(i) for i in every[~explained]),
        tuple(checks),
        _nine_of_ten(errors, len(near)),
        max(1.0, _nine_of_ten(shortfalls, len(near))),
        place.key,
        source,
        _kinds([runs[i] for i in near], recipe, problem.experts),
        of_memory,
    )


def _nine_of_ten(logs: np.ndarray, runs: int) -> float:
    """The factor that nine of ten ratios stay below, with so many runs behind them: one more run counts."""
    return float(np.exp(np.quantile(logs, min(0.9 * (1 + 1 / runs), 1), method="higher")))


def _kinds(runs: Sequence[Run], recipe: str, experts: bool) -> Kinds:
    """What measured runs are."""
    choices = [run.choice for run in runs]
    return Kinds(
        recipe,
        tuple(sorted({choice.zero for choice in choices})),
        tuple(sorted({choice.recompute for choice in choices})),
        tuple(name for name in AXES if any(getattr(choice, name) > 1 for choice in choices)),
        max(run.gpus for run in runs),
        max(run.seq for run in runs),
        experts,
    )


def _of_network(network: Calibration, other: Calibration) -> Calibration:
    """The usual calibration with the constants that sweeps determine."""
    known = [name for name in network.constants if name not in network.unknown]
    return replace(
        other,
        constants=other.constants | {name: network.constants[name] for name in known},
        spread=other.spread | {name: network.spread[name] for name in known},
        unknown=tuple(name for name in other.unknown if name not in known),
        cluster=network.cluster,
        source=f"{network.source}; otherwise {other.source}",
    )
