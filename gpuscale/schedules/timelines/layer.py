"""One layer of a step on one GPU: its arithmetic, what its link carries meanwhile, and when the GPU is idle.

It places given times one after another and holds no cost of its own.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_AT = "before", "during", "after"


class Move(NamedTuple):
    """A transfer in each pass. ``when`` is where it runs: "before" or "after" the arithmetic of the block ``block``,
    which waits for it; "during" it, so that the next block waits for both; or "behind" the whole pass, in whatever time
    the link has left.
    """

    what: str
    backward: bool
    when: str
    block: str = ""


class Interval(NamedTuple):
    """From when to when a lane is busy, with what: ``lane`` 0 is arithmetic, 1 the link."""

    lane: int
    what: str
    backward: bool
    start: float
    end: float


def layer_on_clock(work: Mapping[str, float], moves: Sequence[tuple[Move, float]]) -> list[Interval]:
    """The forward and the backward pass of a layer, in order of placing.

    ``work`` are the blocks of the forward pass in order, with their times [s]. The backward pass runs them in reverse
    and takes twice as long, for it has two matmuls in place of each. ``moves`` come with their times [s]; those behind
    a pass use the link whenever nothing else does, in order, and the pass ends with the last of them.

    >>> spans = layer_on_clock({"MLP": 2.0}, [(Move("gradients", True, "behind"), 5.0)])
    >>> [(span.what, span.start, span.end) for span in spans]
    [('MLP', 0.0, 2.0), ('MLP', 2.0, 6.0), ('gradients', 2.0, 7.0)]
    """
    spans, begin = [], 0.0
    for backward in (False, True):
        here = [(move, time) for move, time in moves if move.backward == backward]
        link: list[Interval] = []
        now = begin

        def carried(what: str, start: float, time: float, link=link, backward=backward) -> float:
            """When a transfer that starts then ends."""
            if time > 0:
                link.append(Interval(1, what, backward, start, start + time))
            return start + time

        for block, time in reversed(work.items()) if backward else work.items():
            mine = {when: [(m.what, lasts) for m, lasts in here if (m.when, m.block) == (when, block)] for when in _AT}
            for what, lasts in mine["before"]:
                now = carried(what, now, lasts)
            during, end = now, now + (2 * time if backward else time)
            spans.append(Interval(0, block, backward, now, end))
            for what, lasts in mine["during"]:
                during = carried(what, during, lasts)
            now = max(end, during)
            for what, lasts in mine["after"]:
                now = carried(what, now, lasts)
        taken, free = list(link), begin
        for what, left in ((move.what, lasts) for move, lasts in here if move.when == "behind"):
            while taken and left > 0:
                part = min(left, max(0.0, taken[0].start - free))
                free, left = carried(what, free, part), left - part
                if left > 0:
                    free = taken.pop(0).end
            free = carried(what, free, left)
        spans += link
        begin = max(now, free)
    return spans
