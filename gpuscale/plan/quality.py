"""How good a fit to measured runs is on runs that it has not seen: their times, their order, the choice, the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.plan.calibration import Check
from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.fit import Problem
from gpuscale.plan.held_out import both_held_out, by_place, groups_of, held_out, in_order, judged, kinds
from gpuscale.plan.memory_fit import Peaks, fit_memory
from gpuscale.plan.runs import Run

UNEXPLAINED = "with unexplained runs"
DRAWN, DRAWS = 20, 5  # runs of a small fit, and how many such fits


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
) -> list[Check]:
    """The Check of fits without each model, each number of GPUs (see held_out) and both, and of fits to a few random
    runs alone, ``drawn`` of them, ``draws`` times.

    Errors are those of the runs that the fit to all runs explains, except in a row that says otherwise.
    Raises ImportError without SciPy, which the extra ``calibrate`` installs.
    """
    problem = Problem(runs, cluster(place) if isinstance(place, str) else place, recipe)
    every, groups = np.arange(len(runs)), groups_of(runs)
    whole = problem.fit(every)
    near = every[problem.explained(whole, every)]
    found, *_ = held_out(problem, runs, near, whole)
    if all(len(set(names)) > 1 for names in kinds(runs).values()):
        found.append(both_held_out(problem, runs, near, whole))
    if len(near) < len(runs):
        every_run, *_ = held_out(problem, runs, every, whole)
        found += [
            replace(one, left_out=f"{one.left_out}, {UNEXPLAINED}") for one in every_run if "in turn" in one.left_out
        ]
    if drawn < len(near):
        parts = []
        for seed in range(draws):
            picked = np.random.default_rng(seed).choice(every, drawn, replace=False)
            out = np.setdiff1d(near, picked)
            parts.append((problem.seconds[out], problem.expected(problem.fit(picked), out), groups[out]))
        found.append(judged(f"all but {drawn} runs", parts))
    return found


def memory_quality(
    runs: Sequence[Run], failed: Sequence[Run], place: Cluster | str, recipe: str = "bf16_fp32_grads"
) -> list[MemoryQuality]:
    """The MemoryQuality of fits without each model, and without each number of GPUs.

    ``failed`` are runs that failed, most of them for want of memory. Raises Refusal without four runs with memory.
    """
    place = cluster(place) if isinstance(place, str) else place
    runs = [run for run in runs if run.memory is not None]
    found = []
    for name, of_runs in kinds(runs).items():
        of_failed = kinds(failed)[name]
        parts = []  # of each kind: errors, whether it is said to be full, and whether it ran
        for kind in in_order([*of_runs, *of_failed]):
            out, kept = _where(runs, of_runs == kind), _where(runs, of_runs != kind)
            bad = _where(failed, of_failed == kind)
            if not kept:
                continue
            constants, *_ = fit_memory(kept, place, recipe)
            peaks = Peaks([*out, *bad], place, recipe)
            wrong = np.abs(peaks.first(constants, slice(len(out))) / [run.memory for run in out] - 1)
            parts.append((wrong, peaks.most(constants) > place.hbm, np.arange(len(out) + len(bad)) < len(out)))
        judged_parts = {name: parts} | by_place(name, parts)
        found += [_memory(what, its) for what, its in judged_parts.items() if any(len(part[0]) for part in its)]
    return found


def _memory(name: str, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> MemoryQuality:
    """The MemoryQuality of parts: errors, whether each run is said to be full, and whether it ran."""
    wrong, full, ran = map(np.concatenate, zip(*parts, strict=True))
    right = np.sum(full & ~ran)
    precision, recall = (float(right / many) if many else np.nan for many in (np.sum(full), np.sum(~ran)))
    return MemoryQuality(name, len(wrong), float(np.median(wrong)), float(np.quantile(wrong, 0.9)), precision, recall)


def _where(runs: Sequence[Run], mask: np.ndarray) -> list[Run]:
    return [run for run, kept in zip(runs, mask, strict=True) if kept]
