"""Memory requests as events: each is issued, takes its latency, queues for the link, crosses it, arrives.

A clock and a queue, no formula: it moves requests one at a time and counts bytes and seconds, so that it can
check the formulas for latency, bandwidth and bytes in flight. Latency and bandwidth are given separately; it never
forms the time of a transfer, and shares no algebra with the formulas.
"""

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """A run in its steady state: bytes that arrived, the time it took [s], mean latency of a request [s]."""

    moved: float
    time: float
    wait: float

    @property
    def bandwidth(self) -> float:
        """Bytes that arrived per second."""
        return self.moved / self.time


def run(
    window: int, size: float, start: float, link: float, *, rounds: int = 40, spread: float = 0.0, seed: int = 1
) -> Traffic:
    """Keeps ``window`` requests of ``size`` bytes in flight: when one has arrived, the next is issued.

    A request is ready ``start`` seconds after it was issued. Then it waits until the link is free, and the
    link moves its bytes, ``link`` per second, one request after another. ``spread`` makes the latencies
    random: 0 for none, 1 for exponential ones of the same mean. Each place in the window is used ``rounds``
    times, of which the first quarter is not counted. Raises ValueError for a window below one, for a size or a
    link that is not positive and for a negative start.
    """
    if window < 1 or rounds < 4:
        raise ValueError(f"window: expected 1 or more, rounds: 4 or more; got {window} and {rounds}")
    if min(size, link) <= 0 or start < 0 or not 0 <= spread <= 1:
        wrong = f"got {size}, {link}, {start} and {spread}"
        raise ValueError(f"size, link: expected above zero, start: zero or more, spread: from 0 to 1; {wrong}")
    dice = random.Random(seed)

    def ask(now: float) -> tuple[float, float]:
        """When the request is ready for the link, and when it was issued."""
        return now + start * (1 - spread + spread * dice.expovariate(1.0)), now

    on_link = size / link  # seconds that one request holds the link
    waiting = [ask(0.0) for _ in range(window)]
    heapq.heapify(waiting)
    clock = begun = waited = 0.0
    skip = window * (rounds // 4)
    for k in range(window * rounds):
        ready, asked = waiting[0]
        clock = max(clock, ready)  # an idle link stands still until a request is ready
        clock += on_link
        heapq.heapreplace(waiting, ask(clock))
        if k < skip:
            begun = clock
        else:
            waited += clock - asked
    count = window * rounds - skip
    return Traffic(count * size, clock - begun, waited / count)
