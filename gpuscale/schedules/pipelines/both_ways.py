"""Pipelines that run both ways: ZB-V, which goes there and back over the ranks, DualPipe, and DualPipe in a V.

Times as in ``pipelines``: ``t_B`` is the whole backward pass of a stage, ``t_W`` the part for the weights' gradients.
``t_FB`` is the time of a forward and a whole backward pass that overlap (by default their sum: what overlaps then is
communication alone).
"""

from fractions import Fraction

from gpuscale.schedules.counts import need_count
from gpuscale.schedules.pipelines.orders import split_times
from gpuscale.schedules.pipelines.timetable import PipelineRun, need_time, single, timetable


def zb_v(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_hop=0) -> PipelineRun:
    """ZB-V: rank r holds the stages r and 2 ranks - 1 - r, so that a backward pass starts where its forward pass ends.

    Times are those of one of the 2 ranks stages. At least 2 ranks - 1 microbatches.
    """
    p, count = need_count(ranks, "ranks"), need_count(microbatches, "microbatches")
    if count < 2 * p - 1:
        raise ValueError(f"microbatches: expected at least {2 * p - 1}, two for each rank less one; got {count}")
    orders = [_fold(p, r, count) for r in range(p)]
    times, hop = split_times(t_F, t_B, t_W, 2 * p), need_time(t_hop, "t_hop")
    return timetable("ZB-V", orders, 2 * p, count, single(times), hop)


def _fold(p: int, rank: int, count: int) -> list:
    """The order of a rank: stage ``rank`` is phase 0, the one on the way back phase 1."""
    w = _Writer(lambda kind, phase, number: (kind, number, 2 * p - 1 - rank if phase else rank))
    for _ in range(2 * (p - rank) - 1):
        w.forward(0)
    for _ in range(rank):
        w.forward(1)
        w.forward(0)
    for _ in range(p - rank):
        w.forward(1)
        w.parts(1)
    while w.count["F"][1] < count:
        if w.count["F"][0] < count:
            w.forward(0)
        w.parts(0)
        w.forward(1)
        w.parts(1)
    for _ in range(rank):
        w.backward(0, split=True)
        w.backward(1, split=True)
    for _ in range(p - rank):
        w.backward(0, split=True)
        w.weights(0)
    while w.put_off:
        w.weights(1 if any(block[2] != rank for block in w.put_off) else 0)
    return w.blocks


def dualpipe(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_FB=None, t_hop=0) -> PipelineRun:
    """DualPipe: half of the microbatches enter at rank 0, half at the last one; every rank holds two stages.

    Stage s is on rank s for the first half of the microbatches and on rank ranks - 1 - s for the others. ``ranks`` and
    ``microbatches`` are even, with at least two microbatches for each rank.
    """
    p, count = need_count(ranks, "ranks", 2), need_count(microbatches, "microbatches", 2)
    if p % 2 or count % 2:
        raise ValueError(f"ranks, microbatches: expected even numbers; got {p} and {count}")
    _enough(count, p)
    half = count // 2

    def task(rank):
        # In the first half of the ranks phase 0 runs towards higher ranks, in the second half towards lower ones.
        def of(kind, phase, number):
            back = phase ^ (rank >= p // 2)
            return kind, number + half * back, p - 1 - rank if back else rank

        return of

    orders = [_order(min(r, p - 1 - r), p // 2, half, task(r)) for r in range(p)]
    return _run("DualPipe", orders, p, count, (t_F, t_B, t_W, t_FB), t_hop)


def v_schedule(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_FB=None, t_hop=0) -> PipelineRun:
    """DualPipe folded into a V: rank r holds the stages r and 2 ranks - 1 - r, so each stage has one home.

    Times are those of one of the 2 ranks stages. At least two microbatches for each rank.
    """
    p, count = need_count(ranks, "ranks"), need_count(microbatches, "microbatches")
    _enough(count, p)

    def task(rank):
        return lambda kind, phase, number: (kind, number, 2 * p - 1 - rank if phase else rank)

    orders = [_order(r, p, count, task(r)) for r in range(p)]
    return _run("DualPipe in a V", orders, 2 * p, count, (t_F, t_B, t_W, t_FB), t_hop)


def _enough(count: int, ranks: int) -> None:
    if count < 2 * ranks:
        raise ValueError(f"microbatches: expected at least {2 * ranks}, two for each rank; got {count}")


def _run(title, orders, stages, count, times, t_hop) -> PipelineRun:
    *alone, t_FB = times
    each = split_times(*alone, stages)
    together = None if t_FB is None else need_time(t_FB, "t_FB")

    def lasts(block):
        parts = [each[kind][stage] for kind, _, stage in block]
        if together is None or len(block) < 3:
            return parts
        shrink = together / sum(parts) if any(parts) else Fraction(1)
        return [part * shrink for part in parts]

    return timetable(title, orders, stages, count, lasts, need_time(t_hop, "t_hop"))


class _Writer:
    """Writes the blocks of a rank: phase 0 is what enters on its own side, phase 1 what comes from the other one."""

    def __init__(self, task):
        self.task, self.blocks, self.put_off = task, [], []
        self.count = {"F": [0, 0], "B": [0, 0]}

    def _next(self, kind, phase):
        number = self.count[kind][phase]
        self.count[kind][phase] += 1
        return self.task(kind, phase, number)

    def forward(self, phase) -> None:
        self.blocks.append((self._next("F", phase),))

    def _backward(self, phase):
        _, number, stage = self._next("B", phase)
        return ("B", number, stage), ("W", number, stage)

    def backward(self, phase, split=False) -> None:
        one, other = self._backward(phase)
        self.blocks.append((one,) if split else (one, other))
        self.put_off += [other] if split else []

    def both(self, ahead, back) -> None:
        """A forward and a whole backward pass that overlap."""
        self.blocks.append((self._next("F", ahead), *self._backward(back)))

    def parts(self, phase) -> None:
        """A backward pass whose first result leaves before the gradients of the weights are done."""
        one, other = self._backward(phase)
        self.blocks += [(one,), (other,)]

    def weights(self, phase=None) -> None:
        """The oldest gradients of weights that were put off, of one phase or of any."""
        stage = None if phase is None else self.task("W", phase, 0)[2]
        oldest = next(w for w in self.put_off if stage in (None, w[2]))
        self.put_off.remove(oldest)
        self.blocks.append((oldest,))


def _order(place: int, half_ranks: int, count: int, task) -> list:
    """The eight steps of a rank ``place`` ranks from its end; ``count`` microbatches come from each side."""
    to_middle = half_ranks - place - 1
    w = _Writer(task)
    for _ in range(2 * to_middle):
        w.forward(0)
    for _ in range(place + 1):
        w.forward(0)
        w.forward(1)
    for _ in range(to_middle):
        w.backward(1, split=True)
        w.weights()
        w.forward(1)
    for turn in range(count - 2 * half_ranks + place + 1):
        if turn == 0 and to_middle == 0:  # published so: apart, the two ends of the middle wait less
            w.forward(0)
            w.backward(1)
        else:
            w.both(0, 1)
        w.both(1, 0)
    for _ in range(to_middle):
        w.backward(1)
        w.both(1, 0)
    _drain(w, place)
    for _ in range(to_middle):
        w.weights()
        w.backward(0, split=True)
    for _ in range(place + 1):
        w.weights()
    return w.blocks


def _drain(w: _Writer, place: int) -> None:
    """The last backward passes in pairs; in their second half the gradients of the weights are put off."""
    split = False
    for turn in range(place + 1):
        middle = turn == (place + 1) // 2
        split = split or (middle and place % 2 == 1)
        w.backward(1, split)
        split = split or (middle and place % 2 == 0)
        w.backward(0, split)
