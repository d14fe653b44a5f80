"""Exact amounts of a network: counts as ints, bandwidths as ints or Fractions, and errors for values that are not."""

from fractions import Fraction
from math import isfinite

import numpy as np


class TopologyError(ValueError):
    """A network that cannot be built; the message says why, and what would work."""


def exact_number(what: str, value) -> int | Fraction:
    """A positive number as an int or a Fraction.  Raises TopologyError naming it otherwise."""
    if isinstance(value, bool) or not finite(value) or value <= 0:
        raise TopologyError(f"{what} = {value!r}; expected a positive number, one direction")
    return plain(Fraction(value))


def finite(value) -> bool:
    """Whether a value is a number that is not infinite."""
    return isinstance(value, (int, float, Fraction, np.number)) and isfinite(value)


def plain(value):
    """A Fraction that is whole as an int."""
    value = value if isinstance(value, Fraction) else Fraction(int(value))
    return int(value) if value.denominator == 1 else value


def whole_number(what: str, value) -> int:
    """A count as an int. Raises TopologyError naming it otherwise."""
    if isinstance(value, bool) or not finite(value) or value != int(value) or value < 1:
        raise TopologyError(f"{what} = {value!r}; expected a whole number of at least 1")
    return int(value)


def need_rank(rank, ranks: int) -> int:
    """One of the ranks, else ValueError naming it."""
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or not 0 <= rank < ranks:
        raise ValueError(f"rank {rank!r}: expected a whole number from 0 to {ranks - 1}")
    return int(rank)


class Bisected:
    """A network that knows its ``bisection``: the smallest cut into two halves, one direction."""

    @property
    def bisection_both_ways(self):
        """The same, with what crosses in both directions counted."""
        return 2 * self.bisection
