"""Memory requests as events: each is asked for, takes its time, waits for its turn at the link, and arrives.

A clock and a queue, no formula: it moves requests one at a time and counts bytes and seconds, so that it can
check the laws of latency, bandwidth and bytes in flight. It shares no algebra with them.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """What a run did once under way: bytes that arrived, the time it took [s], mean wait of a request [s]."""

    moved: float
    time: float
    wait: float

    @property
    def bandwidth(self) -> float:
        """Bytes that arrived per second."""
        return self.moved / self.time


def run(
    window: int, size: float, latency: float, link: float,
    *, rounds: int = 40, spread: float = 0.0, seed: int = 1,
) -> Traffic:  # fmt: skip
    """Keeps ``window`` requests of ``size`` bytes in flight: when one has arrived, the next is asked for.

    A request takes ``latency`` seconds on an idle machine, its time on the wire included; the link hands over
    ``link`` bytes per second, one request after another. ``spread`` makes latencies random: 0 for none, 1 for
    exponential ones of the same mean. Each place in the window is used ``rounds`` times, of which the first
    quarter is not counted. Raises ValueError for a window below one or numbers that are not above zero.
    """
    if window < 1 or rounds < 4:
        raise ValueError(f"window: expected 1 or more, rounds: 4 or more; got {window} and {rounds}")
    if min(size, latency, link) <= 0 or not 0 <= spread <= 1:
        given = (size, latency, link, spread)
        raise ValueError(f"size, latency, link: expected above zero, spread from 0 to 1; got {given}")
    dice = random.Random(seed)
    wire = size / link
    rest = max(0.0, latency - wire)  # the part of the latency that is not time on the wire

    def away(asked: float) -> tuple[float, float]:
        return asked + rest * (1 - spread + spread * dice.expovariate(1.0)), asked

    under_way = [away(0.0) for _ in range(window)]
    heapq.heapify(under_way)
    free = begun = waited = 0.0
    skip = window * (rounds // 4)
    for k in range(window * rounds):
        ready, asked = under_way[0]
        free = max(free, ready) + wire
        heapq.heapreplace(under_way, away(free))
        if k < skip:
            begun = free
        else:
            waited += free - asked
    count = window * rounds - skip
    return Traffic(count * size, free - begun, waited / count)
