"""How good a fit to measured runs is on runs that it has not seen: their times, their order, the choice, the memory.

A choice costs what the fastest run by the expected times took, over the fastest of all, less 1. Orders and choices
are compared among runs of one model, number of GPUs, batch and sequence length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.fit import FAR, Problem
from gpuscale.plan.memory_fit import Peaks, fit_memory
from gpuscale.plan.runs import Run

FEWEST = 5  # runs in a group to compare their order
DRAWN, DRAWS = 20, 5  # runs of a small fit, and how many such fits


@dataclass(frozen=True)
class Quality:
    """Errors of runs that a fit has not seen: ``left_out`` names them, ``runs`` is their number.

    ``median`` and ``ninth`` are errors of a step's time: half of the runs, and nine of ten, stay below. ``rank`` and
    ``least_rank`` are rank correlations of expected and measured times within a group of runs, the mean and the least;
    ``cost`` and ``worst_cost`` what the choice by expected times costs there, the mean and the most. Without a group of
    five or more runs they are nan.
    """

    left_out: str
    runs: int
    median: float
    ninth: float
    rank: float
    least_rank: float
    cost: float
    worst_cost: float


@dataclass(frozen=True)
class MemoryQuality:
    """Errors of the memory of runs that a fit has not seen, and what it says to fail: ``precision`` is the fraction of
    those that did, ``recall`` the fraction of the failed ones that it finds."""

    left_out: str
    runs: int
    median: float
    ninth: float
    precision: float
    recall: float


def time_quality(
    runs: Sequence[Run],
    place: Cluster | str,
    recipe: str = "bf16_fp32_grads",
    drawn: int = DRAWN,
    draws: int = DRAWS,
) -> list[Quality]:
    """The Quality of fits without each number of GPUs, all of these together, the same of each model, and of fits to a
    few random runs alone, ``drawn`` of them, ``draws`` times.

    Errors are those of the runs that the fit to all runs explains; a fit is to any runs, and begins without knowing the
    others. Raises ImportError without SciPy, which the extra ``calibrate`` installs.
    """
    problem = Problem(runs, cluster(place) if isinstance(place, str) else place, recipe)
    every = np.arange(len(runs))
    near = every[problem.off(problem.fit(every), every) < FAR]
    groups = np.array([f"{run.model} {run.gpus} {run.batch} {run.seq}" for run in runs])
    found = []

    def unseen(kept: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The left-out runs, and their expected times by a fit to the others."""
        return out, problem.expected(problem.fit(kept), out)

    def judged(name: str, *seen: tuple) -> None:
        found.append(_judged(name, [(problem.seconds[out], told, groups[out]) for out, told in seen]))

    for all_of, kinds in _kinds(runs).items():
        parts = {kind: unseen(every[kinds != kind], near[kinds[near] == kind]) for kind in dict.fromkeys(kinds[near])}
        for kind, part in parts.items() if len(parts) > 1 else ():
            judged(kind, part)
        if len(parts) > 1:
            judged(all_of, *parts.values())
    if drawn < len(near):
        picked = [np.random.default_rng(seed).choice(every, drawn, replace=False) for seed in range(draws)]
        judged(f"all but {drawn} runs", *(unseen(part, np.setdiff1d(near, part)) for part in picked))
    return found


def memory_quality(
    runs: Sequence[Run], failed: Sequence[Run], place: Cluster | str, recipe: str = "bf16_fp32_grads"
) -> list[MemoryQuality]:
    """The MemoryQuality of fits without each number of GPUs together, and without each model.

    ``failed`` are runs that failed, most of them for want of memory. Raises Refusal without four runs with memory.
    """
    place = cluster(place) if isinstance(place, str) else place
    runs = [run for run in runs if run.memory is not None]
    found = []
    for name, kinds in _kinds(runs).items():
        of_failed = _kinds(failed)[name]
        wrong, full, ran = [], [], []
        for kind in dict.fromkeys([*kinds, *of_failed]):
            out, bad, kept = _where(runs, kinds == kind), _where(failed, of_failed == kind), _where(runs, kinds != kind)
            if not kept:
                continue
            constants, *_ = fit_memory(kept, place, recipe)
            peaks = Peaks([*out, *bad], place, recipe)
            told = peaks.first(constants, slice(len(out)))
            wrong += list(np.abs(told / [run.memory for run in out] - 1))
            full += list(peaks.most(constants) > place.hbm)
            ran += [True] * len(out) + [False] * len(bad)
        if wrong:
            right = np.sum(np.array(full) & ~np.array(ran))
            precision, recall = (float(right / many) if many else np.nan for many in (sum(full), len(ran) - sum(ran)))
            errors = float(np.median(wrong)), float(np.quantile(wrong, 0.9))
            found.append(MemoryQuality(name, len(wrong), *errors, precision, recall))
    return found


def _kinds(runs: Sequence[Run]) -> dict[str, np.ndarray]:
    """For each way to leave runs out, in words, what is left out with each run."""
    return {
        "every number of GPUs": np.array([f"{run.gpus:,} GPUs" for run in runs], object),
        "every model": np.array([run.model for run in runs], object),
    }


def _where(runs: Sequence[Run], mask: np.ndarray) -> list[Run]:
    return [run for run, kept in zip(runs, mask, strict=True) if kept]


def _judged(name: str, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Quality:
    """The Quality of measured times, expected ones, and the groups of runs, in parts."""
    from scipy.stats import spearmanr

    wrong, ranks, costs = [], [], []
    for measured, told, groups in parts:
        wrong.append(np.abs(told / measured - 1))
        for group in dict.fromkeys(groups):
            its, expected = measured[groups == group], told[groups == group]
            if len(its) >= FEWEST:
                ranks.append(spearmanr(expected, its).statistic)
                costs.append(its[np.argmin(expected)] / its.min() - 1)
    errors = np.concatenate(wrong)
    ranks, costs = ranks or [np.nan], costs or [np.nan]
    of_groups = np.mean(ranks), np.min(ranks), np.mean(costs), np.max(costs)
    return Quality(name, len(errors), *map(float, (np.median(errors), np.quantile(errors, 0.9), *of_groups)))
