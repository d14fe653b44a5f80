"""Published numbers beside ours: the form of a row.

``agrees`` within 0.2%; ``rounds`` within 6%, or a leading-order form offered as such, which ``limit`` then gives;
``disagrees`` beyond that. ``ours`` pins our value where it is not the published one.
"""

from collections.abc import Callable
from typing import NamedTuple

BOOK = "scaling-book-gpus"
NOTES = "scaling-book-gpus, study notes on it"  # a reader's, published beside it


class Row(NamedTuple):
    """What a source says, where, the value it prints and the one computed, in base units."""

    where: str
    says: str
    published: float
    compute: Callable[[], float]
    outcome: str = "agrees"
    ours: float | None = None
    limit: Callable[[], float] | None = None


def found(row: Row) -> str:
    """The outcome that the numbers give."""
    off = abs(row.published / row.compute() - 1)
    if off <= 0.002:
        return "agrees"
    if off <= 0.06:
        return "rounds"
    offered = row.limit is not None and abs(row.published / row.limit() - 1) <= 0.002
    return "rounds" if offered else "disagrees"
