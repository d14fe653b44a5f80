"""Arithmetic and communication as intervals in time: who runs when, and what is left when the arithmetic is over.

Two lanes: the Tensor Cores and the network. Times are Fractions; nothing here knows a cost law.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from gpuscale.schedules.counts import need_count


class Piece(NamedTuple):
    """A stretch of work: its lane ("arithmetic" or "network"), from when to when, and which bucket it is of."""

    lane: str
    start: Fraction
    end: Fraction
    bucket: int


def end(pieces: Sequence[Piece], lane: str = "") -> Fraction:
    """When the last piece is over, of all or of one lane."""
    return max((piece.end for piece in pieces if lane in ("", piece.lane)), default=Fraction(0))


def exposed(pieces: Sequence[Piece]) -> Fraction:
    """How long the network goes on when the arithmetic is over."""
    return end(pieces) - end(pieces, "arithmetic")


def backward(parts: Sequence[tuple[Fraction, int]], sends: Callable[[int], Fraction]) -> list[Piece]:
    """A backward pass that hands over its gradients in buckets.

    ``parts``: for each bucket, in the order of the pass, the time of its arithmetic and its bytes; ``sends``: the time
    that its all-reduce takes. A bucket leaves when its arithmetic is over and the one before it has left. Raises
    ValueError for a time below zero.
    """
    out, now, free = [], Fraction(0), Fraction(0)
    for bucket, (work, size) in enumerate(parts):
        took = Fraction(sends(size))
        if work < 0 or took < 0:
            raise ValueError(f"bucket {bucket}: expected times of zero or more; got {work} and {took}")
        out.append(Piece("arithmetic", now, now + work, bucket))
        now += work
        start = max(now, free)
        free = start + took
        out.append(Piece("network", start, free, bucket))
    return out


def equal(work: Fraction, size: int, count: int, sends: Callable[[Fraction], Fraction]) -> list[Piece]:
    """The same with all of it cut into equal buckets. Raises ValueError for no bucket."""
    parts = [(Fraction(work) / need_count(count, "count"), Fraction(size) / count)] * count
    return backward(parts, sends)


def tiles(count: int, sms: int, busy: int = 0) -> int:
    """Waves until all tiles are done, counted by handing them out one by one to the SMs that are free."""
    if not 0 <= busy < sms:
        raise ValueError(f"busy: expected fewer than the {sms} SMs; got {busy!r}")
    left, waves = count, 0
    while left > 0:
        left -= sms - busy
        waves += 1
    return waves
