"""How many prompts are prefilled between two tokens, as often as a percentile says.

Answers end at random, so their number in a step has nearly a Poisson distribution, whose percentile is a whole number:
the page looks it up in the same table.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

LATE = 0.05  # of the steps may have more; of the requests, may queue longer than the 95th percentile
MOST = 40  # prompts in the table
DIGITS = 6


@cache
def stall_means(late: float = LATE, most: int = MOST) -> tuple[float, ...]:
    """By number of prompts from 0: the largest mean for which no more than ``late`` of the steps have more.

    >>> [round(one, 3) for one in stall_means()[:3]]
    [0.051, 0.355, 0.818]
    """
    found = []
    for prompts in range(most + 1):
        low, high = 0.0, prompts + 1.0
        for _ in range(60):
            mean = (low + high) / 2
            low, high = (mean, high) if _up_to(prompts, mean) >= 1 - late else (low, mean)
        found.append(float(f"{low:.{DIGITS}g}"))
    return tuple(found)


def _up_to(prompts: int, mean: float) -> float:
    """The probability of no more than that many."""
    term = total = math.exp(-mean)
    for n in range(1, prompts + 1):
        term *= mean / n
        total += term
    return total


def stalls(mean) -> np.ndarray:
    """Prompts in a step that 95% of the steps do not exceed, at a mean of so many; beyond the table in proportion.

    >>> stalls(np.array([0.01, 0.3, 0.4])).tolist()
    [0.0, 1.0, 2.0]
    """
    table, mean = np.array(stall_means()), np.asarray(mean, float)
    return np.where(mean > table[-1], np.ceil(MOST * mean / table[-1]), np.searchsorted(table, mean))
