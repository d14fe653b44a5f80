"""Errors of runs that a fit has not seen: of their times, of their order, and of the choice that it would make.

A choice costs what the fastest run by the expected times took, over the fastest of all, less 1. Orders and choices
are compared among runs of one model, number of GPUs, batch and sequence length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpuscale.plan.calibration import Check
from gpuscale.plan.runs import Run

FEWEST = 5  # runs in a group to compare their order
BY_MODEL, BY_GPUS = "each model in turn", "each number of GPUs in turn"
INNER, ENDS = "each number of GPUs between others in turn", "the fewest and the most GPUs in turn"


def kinds(runs: Sequence[Run]) -> dict[str, np.ndarray]:
    """For each way to leave runs out, in words, what is left out with each run."""
    return {
        BY_MODEL: np.array([run.model for run in runs], object),
        BY_GPUS: np.array([f"{run.gpus:,} GPUs" for run in runs], object),
    }


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once: 8 GPUs before 16 GPUs."""
    return sorted(set(names), key=lambda name: (len(name), name))


def by_place(in_turn: str, found: list) -> dict[str, list]:
    """Of what was found for each number of GPUs in order: what lies between others, and the ends. Empty otherwise."""
    return {INNER: found[1:-1], ENDS: [found[0], found[-1]]} if in_turn == BY_GPUS and len(found) > 2 else {}


def held_out(
    problem, runs: Sequence[Run], near: np.ndarray, start: np.ndarray
) -> tuple[list[Check], np.ndarray, np.ndarray]:
    """The Check of each model and each number of GPUs, by the fit to all other runs, and of all of these together.

    Numbers of GPUs between others have a Check of their own, as have the fewest and the most.
    Also how far all of them were off: logarithms of the ratios of expected to measured times, all positive; and the
    ``shortfalls`` of their pairs. ``near`` are the runs that a fit can explain, which alone count; ``start`` is the fit
    to all runs. Where all runs are alike, each is left out by itself.
    """
    checks, told, seen = [], [], set()
    every, groups = np.arange(len(runs)), groups_of(runs)

    def without(*parts: np.ndarray) -> list[tuple]:
        """Of each part in turn: measured times, expected ones by a fit to the others, and the groups."""
        found = []
        for part in parts:
            known = problem.fit(np.setdiff1d(every, part), start)
            counted = np.intersect1d(part, near)
            found.append((problem.seconds[counted], problem.expected(known, counted), groups[counted]))
        return found

    for in_turn, names in kinds(runs).items():
        present = in_order(names[near])
        parts = [every[names == name] for name in present]
        if len(present) < 2 or (same := {tuple(part) for part in parts}) == seen:
            continue
        seen = same
        found = without(*parts)
        checks += [judged(name, [one]) for name, one in zip(present, found, strict=True)]
        checks.append(judged(in_turn, found))
        checks += [judged(*place) for place in by_place(in_turn, found).items()]
        told += found
    if not checks:
        told = without(*near[:, None])
        checks = [judged("each run in turn", told)]
    off = np.concatenate([np.abs(np.log(expected / measured)) for measured, expected, _ in told])
    return checks, off, shortfalls(told)


def both_held_out(problem, runs: Sequence[Run], near: np.ndarray, start: np.ndarray) -> Check:
    """The Check of each model on each number of GPUs, by the fit to the runs that share neither with it."""
    every, groups, parts = np.arange(len(runs)), groups_of(runs), []
    models, counts = kinds(runs).values()
    for model, count in dict.fromkeys(zip(models[near], counts[near], strict=True)):
        counted = near[(models[near] == model) & (counts[near] == count)]
        known = problem.fit(every[(models != model) & (counts != count)], start)
        parts.append((problem.seconds[counted], problem.expected(known, counted), groups[counted]))
    return judged("each model and number of GPUs, both at once", parts)


def shortfalls(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> np.ndarray:
    """By how much less than expected the slower run of a pair was slower, as logarithms of ratios: at most the expected
    distance where the order was as expected, more where it was the other.

    The pairs are those of each group of a part; without such pairs, all pairs of runs, which have less in common.
    """
    pairs = [
        (measured[groups == group], expected[groups == group])
        for measured, expected, groups in parts
        for group in dict.fromkeys(groups)
    ]
    if all(len(measured) < 2 for measured, _ in pairs):
        pairs = [tuple(np.concatenate(column) for column in zip(*pairs, strict=True))]
    found = []
    for measured, expected in pairs:
        one, other = np.triu_indices(len(measured), 1)
        apart = np.log(expected[one] / expected[other])
        found.append(np.abs(apart) - np.sign(apart) * np.log(measured[one] / measured[other]))
    return np.concatenate(found)


def groups_of(runs: Sequence[Run]) -> np.ndarray:
    """The group of each run, in which orders and choices are compared."""
    return np.array([f"{run.model} {run.gpus} {run.batch} {run.seq}" for run in runs])


def judged(name: str, parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Check:
    """The Check of measured times, expected ones, and the groups of runs, in parts."""
    from scipy.stats import spearmanr  # takes a second to import

    wrong, ranks, costs = [], [], []
    for measured, expected, groups in parts:
        wrong.append(np.abs(expected / measured - 1))
        for group in dict.fromkeys(groups):
            its, foreseen = measured[groups == group], expected[groups == group]
            if len(its) >= FEWEST:
                ranks.append(spearmanr(foreseen, its).statistic)
                costs.append(its[np.argmin(foreseen)] / its.min() - 1)
    errors = np.concatenate(wrong)
    order = map(float, (np.mean(ranks), np.min(ranks), np.mean(costs), np.max(costs))) if ranks else ()
    return Check(name, len(errors), float(np.median(errors)), float(np.quantile(errors, 0.9)), *order)
