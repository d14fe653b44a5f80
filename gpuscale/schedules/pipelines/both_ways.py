"""Pipelines that run in both directions: ZB-V, DualPipe, and DualPipeV.

Times as in ``pipelines``: ``t_B`` is the whole backward pass of a stage, ``t_W`` the part for the weight gradients.
``t_FB`` is the time of a forward and a whole backward pass that overlap (by default their sum: then only
communication overlaps).
"""

from fractions import Fraction

from gpuscale.schedules.counts import need_count
from gpuscale.schedules.pipelines.orders import split_times
from gpuscale.schedules.pipelines.timetable import PipelineRun, need_time, single, timetable

Ways = tuple[tuple[int, int], tuple[int, int]]  # of each phase on a rank: its first microbatch, and its stage


def zb_v(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_hop=0) -> PipelineRun:
    """ZB-V: rank r holds the stages r and 2 ranks - 1 - r, so that a backward pass starts where its forward pass ends.

    Times are those of one of the 2 ranks stages. At least 2 ranks - 1 microbatches.
    """
    p, count = need_count(ranks, "ranks"), need_count(microbatches, "microbatches")
    if count < 2 * p - 1:
        raise ValueError(f"microbatches: expected at least {2 * p - 1}, one less than two per rank; got {count}")
    orders = [_fold(p, r, count) for r in range(p)]
    times, hop = split_times(t_F, t_B, t_W, 2 * p), need_time(t_hop, "t_hop")
    return timetable("ZB-V", orders, 2 * p, count, single(times), hop)


def _fold(p: int, rank: int, count: int) -> list:
    """The order of a rank: stage ``rank`` is phase 0, the one on the return path phase 1."""
    w = _Writer(_there_and_back(p, rank))
    w.repeat(2 * (p - rank) - 1, (w.forward, 0))
    w.repeat(rank, (w.forward, 1), (w.forward, 0))
    w.repeat(p - rank, (w.forward, 1), (w.parts, 1))
    while w.count["F"][1] < count:
        if w.count["F"][0] < count:
            w.forward(0)
        w.parts(0)
        w.forward(1)
        w.parts(1)
    w.repeat(rank, (w.split, 0), (w.split, 1))
    w.repeat(p - rank, (w.split, 0), (w.weights, 0))
    while w.put_off:
        w.weights(1 if any(block[2] != rank for block in w.put_off) else 0)
    return w.blocks


def _there_and_back(p: int, rank: int) -> Ways:
    return (0, rank), (0, 2 * p - 1 - rank)


def dualpipe(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_FB=None, t_hop=0) -> PipelineRun:
    """DualPipe: half of the microbatches enter at rank 0, half at the last one; every rank holds two stages.

    Stage s is on rank s for the first half of the microbatches and on rank ranks - 1 - s for the others. ``ranks`` and
    ``microbatches`` are even, with at least two microbatches per rank.
    """
    p, count = need_count(ranks, "ranks", 2), need_count(microbatches, "microbatches", 2)
    if p % 2 or count % 2:
        raise ValueError(f"ranks, microbatches: expected even numbers; got {p} and {count}")
    _enough(count, p)
    half = count // 2
    orders = []
    for r in range(p):
        ways = (0, r), (half, p - 1 - r)  # phase 0 runs toward higher ranks in the first half of the ranks, else lower
        orders.append(_order(min(r, p - 1 - r), p // 2, half, ways if r < p // 2 else ways[::-1]))
    return _run("DualPipe", orders, p, count, (t_F, t_B, t_W, t_FB), t_hop)


def v_schedule(ranks: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_FB=None, t_hop=0) -> PipelineRun:
    """DualPipe folded into a V: rank r holds the stages r and 2 ranks - 1 - r, so each stage has one home.

    Times are those of one of the 2 ranks stages. At least two microbatches per rank.
    """
    p, count = need_count(ranks, "ranks"), need_count(microbatches, "microbatches")
    _enough(count, p)
    orders = [_order(r, p, count, _there_and_back(p, r)) for r in range(p)]
    return _run("DualPipeV", orders, 2 * p, count, (t_F, t_B, t_W, t_FB), t_hop)


def _enough(count: int, ranks: int) -> None:
    if count < 2 * ranks:
        raise ValueError(f"microbatches: expected at least {2 * ranks}, two per rank; got {count}")


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

    def __init__(self, ways: Ways):
        self.ways, self.blocks, self.put_off = ways, [], []
        self.count = {"F": [0, 0], "B": [0, 0]}

    def repeat(self, times: int, *steps) -> None:
        """Writes the steps that many times; each is a method of this writer and its phases."""
        for _ in range(times):
            for method, *phases in steps:
                method(*phases)

    def _next(self, kind, phase):
        first, stage = self.ways[phase]
        self.count[kind][phase] += 1
        return kind, first + self.count[kind][phase] - 1, stage

    def forward(self, phase) -> None:
        self.blocks.append((self._next("F", phase),))

    def _backward(self, phase):
        _, number, stage = self._next("B", phase)
        return ("B", number, stage), ("W", number, stage)

    def backward(self, phase) -> None:
        self.blocks.append(self._backward(phase))

    def split(self, phase) -> None:
        """A backward pass without the weight gradients, which are deferred."""
        one, other = self._backward(phase)
        self.blocks.append((one,))
        self.put_off.append(other)

    def both(self, ahead, back) -> None:
        """A forward and a whole backward pass that overlap."""
        self.blocks.append((self._next("F", ahead), *self._backward(back)))

    def parts(self, phase) -> None:
        """A backward pass whose first result leaves before the weight gradients are done."""
        one, other = self._backward(phase)
        self.blocks += [(one,), (other,)]

    def weights(self, phase=None) -> None:
        """The oldest deferred weight gradients, of one phase or of any."""
        stage = None if phase is None else self.ways[phase][1]
        oldest = next(w for w in self.put_off if stage in (None, w[2]))
        self.put_off.remove(oldest)
        self.blocks.append((oldest,))


def _order(place: int, half_ranks: int, count: int, ways: Ways) -> list:
    """The eight steps of a rank ``place`` ranks from its end; ``count`` microbatches come from each side."""
    to_middle = half_ranks - place - 1
    w = _Writer(ways)
    w.repeat(2 * to_middle, (w.forward, 0))
    w.repeat(place + 1, (w.forward, 0), (w.forward, 1))
    w.repeat(to_middle, (w.split, 1), (w.weights,), (w.forward, 1))
    for turn in range(count - 2 * half_ranks + place + 1):
        if turn == 0 and to_middle == 0:  # as published: done separately, the two ends of the middle wait less
            w.forward(0)
            w.backward(1)
        else:
            w.both(0, 1)
        w.both(1, 0)
    w.repeat(to_middle, (w.backward, 1), (w.both, 1, 0))
    for turn in range(2 * (place + 1)):  # in the second half the weight gradients are deferred
        write = w.backward if turn <= place else w.split
        write(1 - turn % 2)
    w.repeat(to_middle, (w.weights,), (w.split, 0))
    w.repeat(place + 1, (w.weights,))
    return w.blocks
