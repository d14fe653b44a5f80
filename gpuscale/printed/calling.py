"""Printed formulas called by the names of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np


def takes(function: Callable) -> tuple[str, ...]:
    """The names of a function's inputs, in order."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def value(function: Callable, known: Mapping) -> float:
    """A formula at numbers, some of which it may not need. Raises ValueError for a result that is no finite number."""
    with np.errstate(all="ignore"):
        found = float(function(*(np.float64(known[name]) for name in takes(function))))
    if not np.isfinite(found):
        given = ", ".join(f"{name} = {known[name]:g}" for name in takes(function))
        raise ValueError(f"{function.__name__}: expected inputs of ordinary magnitude, in base units; got {given}")
    return found


def exactly(function: Callable, known: Mapping) -> int:
    """A formula at whole numbers, exactly: floats would round a count of more than 2**53."""
    return int(function(*(Fraction(known[name]) for name in takes(function))))


def arrays(function: Callable, known: Mapping, **more) -> np.ndarray:
    """A formula at arrays, or numbers, some of which it may not need; they broadcast."""
    known = {**known, **more}
    with np.errstate(all="ignore"):
        return function(*(np.asarray(known[name], float) for name in takes(function)))


def require(kept, words: str) -> None:
    """Raises ValueError with the words, where a condition of a formula is broken."""
    if not np.all(kept):
        raise ValueError(words)
