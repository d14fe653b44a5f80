"""Counts: checked on input, in words on output."""

from collections.abc import Sequence

import numpy as np


def need_count(value, name: str = "ranks", least: int = 1) -> int:
    """A whole number of ``least`` or more, else ValueError naming the input."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name}: expected a whole number, {least} or more; got {value!r}")
    return int(value)


def need_counts(values: Sequence, name: str) -> tuple[int, ...]:
    """Whole numbers of 1 or more, at least one of them, else ValueError naming the input."""
    if not len(values):
        raise ValueError(f"{name}: expected at least one number; got none")
    return tuple(need_count(value, name) for value in values)


def need_rank(rank: int, ranks: int, name: str = "root") -> int:
    """One of the ranks, else ValueError naming the input."""
    if not 0 <= rank < need_count(ranks):
        raise ValueError(f"{name}: expected a rank from 0 to {ranks - 1}; got {rank}")
    return rank


def counted(count: int, what: str, several: str = "s") -> str:
    """A number and what it counts: "1 rank", "1,024 ranks"."""
    return f"{count:,} {what}{several if count != 1 else ''}"
