"""Arithmetic and communication as intervals in time: who runs when, and what stays exposed after the arithmetic.

Two lanes: the Tensor Cores and the network. Times are Fractions; nothing here knows a cost formula.
"""

import heapq
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
    """How long the network continues after the arithmetic is over."""
    return end(pieces) - end(pieces, "arithmetic")


def backward(parts: Sequence[tuple[Fraction, int]], sends: Callable[[int], Fraction]) -> list[Piece]:
    """A backward pass that delivers its gradients in buckets.

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
    """The same with equal buckets. Raises ValueError for no bucket."""
    parts = [(Fraction(work) / need_count(count, "count"), Fraction(size) / count)] * count
    return backward(parts, sends)


def capped(tensors: Sequence[tuple[Fraction, int]], cap: int, first: int) -> list[tuple[Fraction, int]]:
    """Buckets of whole tensors, as PyTorch forms them: a bucket is closed once it holds ``cap`` bytes, the first one
    once it holds ``first``. Each tensor is the time of its arithmetic and its bytes, in the order of the backward pass.

    >>> capped([(Fraction(1), 3), (Fraction(1), 3), (Fraction(1), 9)], cap=5, first=2)
    [(Fraction(1, 1), 3), (Fraction(2, 1), 12)]
    """
    out, work, size = [], Fraction(0), 0
    for time, held in tensors:
        work, size = work + time, size + held
        if size >= (cap if out else first):
            out.append((work, size))
            work, size = Fraction(0), 0
    return [*out, (work, size)] if size else out


def chunked(chunks: int, math: Fraction, comms: Fraction) -> list[Piece]:
    """Gather, multiply, scatter: one link and the Tensor Cores, each doing one thing at a time, chunk by chunk.

    ``math`` is all arithmetic, ``comms`` all communication, half of it before and half after a chunk's arithmetic. The
    link prefers the next gather to a scatter that is ready. Raises ValueError for no chunk.
    """
    part = Fraction(math) / need_count(chunks, "chunks")
    trip = Fraction(comms) / chunks / 2
    out, free, done = [], Fraction(0), []
    for chunk in range(chunks):
        out.append(Piece("network", free, free + trip, chunk))
        free += trip
        start = max(free, done[-1] if done else Fraction(0))
        done.append(start + part)
        out.append(Piece("arithmetic", start, start + part, chunk))
        if chunk and done[chunk - 1] <= start:  # the chunk before is ready to leave, and the next one is here
            free = max(free, done[chunk - 1])
            out.append(Piece("network", free, free + trip, chunk - 1))
            free += trip
    left = [chunk for chunk in range(chunks) if sum(p.lane == "network" and p.bucket == chunk for p in out) < 2]
    for chunk in left:
        free = max(free, done[chunk])
        out.append(Piece("network", free, free + trip, chunk))
        free += trip
    return out


def tiles(count: int, sms: int, busy: int = 0) -> int:
    """Waves until all tiles are done, counted by assigning them one by one to the free SMs."""
    if not 0 <= busy < sms:
        raise ValueError(f"busy: expected fewer than the {sms} SMs; got {busy!r}")
    left, waves = count, 0
    while left > 0:
        left -= sms - busy
        waves += 1
    return waves


def tiles_done(count: int, sms: int, busy: int, each: Fraction, until: Fraction) -> Fraction:
    """When all tiles are done, each taking ``each`` on one SM, while ``busy`` SMs do something else up to ``until``.

    Tiles go one by one to the SM that is free first. Raises ValueError for more busy SMs than there are.
    """
    if not 0 <= busy <= sms:
        raise ValueError(f"busy: expected up to {sms} SMs; got {busy!r}")
    free, done = [Fraction(0)] * (sms - busy) + [Fraction(until)] * busy, Fraction(0)
    for _ in range(need_count(count, "count")):
        done = max(done, free[0] + each)
        heapq.heapreplace(free, free[0] + each)
    return done
