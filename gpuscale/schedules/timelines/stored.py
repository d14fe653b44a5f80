"""What a rank of a pipeline stores over the time of a step: activations that pile up and go, and buffers in use.

The timetable is 1F1B with as many microbatches as stages; the optimizer follows once the last backward pass is done.
"""

from fractions import Fraction
from typing import NamedTuple

from gpuscale.schedules.pipelines.orders import one_f_one_b


class Moment(NamedTuple):
    """A time and the bytes stored at it; between two moments they change evenly. What jumps has two at one time."""

    time: float
    activations: float
    logits: float
    buffers: float
    recomputed: float


def stored(
    stages: int,
    rank: int,
    t_F: float,
    t_B: float,
    t_update: float,
    each: float,
    most: float = float("inf"),
    logits: float = 0,
    forward: float = 0,
    backward: float = 0,
    again: float = 0,
    layers: int = 1,
) -> list[Moment]:
    """What ``rank`` stores, moment by moment.

    A forward pass leaves ``each`` bytes of activations, of which at most ``most`` in all stay on the GPU; a backward
    pass releases them. The ``logits`` live from the end of the forward pass until the first of the ``layers`` of the
    backward pass is done. Buffers take ``forward`` and ``backward`` bytes during the passes, and what the backward pass
    recomputes takes ``again``.

    >>> max(moment.activations for moment in stored(4, 0, 1, 2, 1, each=10))
    40.0
    """
    run = one_f_one_b(stages, stages, Fraction(t_F), Fraction(t_B))
    out, now, head, before = [Moment(0.0, 0.0, 0.0, 0.0, 0.0)], Fraction(0), 0.0, Fraction(0)
    each = Fraction(each)

    def at(time, held, buffers=0.0, recomputed=0.0):
        out.append(Moment(float(time), min(float(held), most), head, float(buffers), float(recomputed)))

    def ramp(start, end, change, *buffers):
        """From now on to now + change, with a moment where the activations pass the most that stay."""
        nonlocal now
        at(start, now, *buffers)
        low, high = sorted((now, now + change))
        if low < most < high:
            at(start + (end - start) * (Fraction(most) - now) / change, most, *buffers)
        now += change
        at(end, now, *buffers)

    for slot in run.of(rank):
        if slot.start > before:  # idle
            at(before, now)
            at(slot.start, now)
        if slot.kind == "F":
            ramp(slot.start, slot.end, each, forward)
            head = float(logits)
        else:
            first = slot.start + (slot.end - slot.start) / layers
            ramp(slot.start, first, -each / layers, backward, again)
            head = 0.0
            ramp(first, slot.end, -each * (layers - 1) / layers, backward, again)
        before = slot.end
    at(run.makespan, 0)
    at(run.makespan + Fraction(t_update), 0)
    return out
