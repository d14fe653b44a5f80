"""A pipeline as an explicit timetable: which rank works on which microbatch of which stage, and when.

A rank works through its own list in order, each slot as soon as the rank is free and the inputs have arrived.
Times are Fractions in whatever unit they were given; nothing here knows a cost formula.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from gpuscale.schedules.counts import counted, need_rank


class Slot(NamedTuple):
    """One piece of work. ``kind``: "F" forward; "B" backward, only the input gradients if there is a "W" for the
    weight gradients. ``stage`` counts the stages of the model in order, however many a rank holds."""

    rank: int
    start: Fraction
    end: Fraction
    kind: str
    microbatch: int
    stage: int


class PipelineTransfer(NamedTuple):
    """What a slot sends: activations of ``stage`` ("F") to the next one, gradients ("B") to the one before."""

    source: int
    target: int
    start: Fraction
    end: Fraction
    kind: str
    microbatch: int
    stage: int


Task = tuple[str, int, int]  # kind, microbatch, stage
Order = Sequence[tuple[Task, ...]]  # the blocks of tasks of a rank
Lasts = Callable[[tuple[Task, ...]], Sequence[Fraction]]  # how long each task of a block takes


def _number(time: Fraction) -> str:
    """A time, short: 57, 2.38."""
    return f"{float(time):.4g}"


@dataclass(frozen=True, eq=False)
class PipelineRun:
    """A timetable. ``bare`` is its length were all transfers free, for ``exposed``; ``orders`` are the blocks that each
    rank works through, for ``slowed``."""

    title: str
    ranks: int
    stages: int
    microbatches: int
    slots: tuple[Slot, ...]
    transfers: tuple[PipelineTransfer, ...]
    bare: Fraction
    orders: tuple[Order, ...] = ()

    def __repr__(self) -> str:
        """A summary; the slots are attributes. Times are in the unit that they were given in."""
        if not self.slots:
            return f"{self.title}: no slots"
        most = max(self.peak_activations(rank) for rank in range(self.ranks))
        exposed = f", {_number(self.exposed)} of it exposed transfers" if self.exposed else ""
        lines = [
            self.title,
            f"{counted(self.ranks, 'rank')}, {counted(self.stages, 'stage')}, "
            + counted(self.microbatches, "microbatch", "es"),
            f"{counted(len(self.slots), 'slot')}, {counted(len(self.transfers), 'transfer')}",
            f"makespan {_number(self.makespan)}{exposed}",
            f"bubble {float(self.bubble_fraction):.1%} of the time, {float(self.bubble_overhead):.1%} of the work",
            f"at most {counted(most, 'activation')} held by a rank",
        ]
        return "\n  ".join(lines)

    @cached_property
    def makespan(self) -> Fraction:
        """When the last slot ends."""
        return max(slot.end for slot in self.slots)

    def of(self, rank: int) -> tuple[Slot, ...]:
        """The slots of a rank in order. Raises ValueError for a rank that does not exist."""
        return self._by_rank[need_rank(rank, self.ranks, "rank")]

    def tasks(self, rank: int) -> list[Task]:
        """What a rank does, in order: (kind, microbatch, stage)."""
        return [(slot.kind, slot.microbatch, slot.stage) for slot in self.of(rank)]

    @cached_property
    def _by_rank(self) -> list[tuple[Slot, ...]]:
        rows: list[list[Slot]] = [[] for _ in range(self.ranks)]
        for slot in self.slots:
            rows[slot.rank].append(slot)
        return [tuple(sorted(row, key=lambda slot: (slot.start, slot.end))) for row in rows]

    def busy(self, rank: int) -> Fraction:
        """The busy time of a rank."""
        return sum((slot.end - slot.start for slot in self.of(rank)), Fraction(0))

    def idle(self, rank: int) -> Fraction:
        """The idle time of a rank between the first slot of the run and the last."""
        return self.makespan - self.busy(rank)

    @property
    def ideal(self) -> Fraction:
        """The time of the same work, spread evenly and without gaps."""
        return sum((self.busy(rank) for rank in range(self.ranks)), Fraction(0)) / self.ranks

    @property
    def bubble_fraction(self) -> Fraction:
        """Idle time of all ranks over their total time."""
        return 1 - self.ideal / self.makespan

    @property
    def bubble_overhead(self) -> Fraction:
        """Idle time of all ranks over their busy time."""
        return self.makespan / self.ideal - 1

    @property
    def exposed(self) -> Fraction:
        """How much longer the run takes than with transfers that cost nothing."""
        return self.makespan - self.bare

    def held(self, rank: int) -> list[tuple[Fraction, int]]:
        """(time, activations) whenever their number changes: microbatches of a stage that a rank holds, from the start
        of the forward slot to the end of the slot that needs them last."""
        last = {(slot.microbatch, slot.stage): slot for slot in self.of(rank)}
        moves = [(slot.start, 1) for slot in self.of(rank) if slot.kind == "F"]
        moves += [(slot.end, -1) for slot in last.values() if slot.kind != "F"]
        out, now = [], 0
        for when, change in sorted(moves):
            now += change
            out.append((when, now))
        return out

    def peak_activations(self, rank: int) -> int:
        """The most activations that a rank holds at a time, each of one microbatch in one stage."""
        return max((count for _, count in self.held(rank)), default=0)

    def critical_path(self) -> list[Slot]:
        """The slots that the makespan consists of, first to last; between two of them lies at most a transfer.

        A slot begins when the one before it on its rank ends, or when a result arrives. Where both hold, the path stays
        on the rank; of several paths that are as long this is one.
        """
        block_of = {task: block for order in self.orders for block in order for task in block}
        slots = {slot[3:]: slot for slot in self.slots}
        sent = {move[4:]: move.end for move in self.transfers}
        before = {then: slot for rank in range(self.ranks) for slot, then in pairwise(self.of(rank))}

        def delivered(need: Task, rank: int) -> tuple[Fraction, Slot]:
            """When a result arrives at a rank, and the last slot of its block."""
            last = slots[block_of[need][-1]]
            return last.end if last.rank == rank else sent[need], last

        path = [min(self.slots, key=lambda slot: (-slot.end, slot.rank))]
        while path[-1].start:
            slot = path[-1]
            previous = before.get(slot)
            if previous is None or previous.end < slot.start:
                block = block_of[slot[3:]]
                needs = [need for task in block for need in needs_of(task, self.stages) if need not in block]
                _, previous = max((delivered(need, slot.rank) for need in needs), key=lambda result: result[0])
            path.append(previous)
        return path[::-1]

    def slowed(self, pace: Sequence) -> "PipelineRun":
        """The same orders where each slot of rank r takes ``pace[r]`` times as long. Transfers take as long as before.
        Raises ValueError unless there is a pace of zero or more for each rank."""
        if len(pace) != self.ranks:
            raise ValueError(f"pace: expected {counted(self.ranks, 'number')}, one per rank; got {len(pace)}")
        times = [need_time(one, "pace") for one in pace]
        took = {slot[3:]: (slot.end - slot.start) * times[slot.rank] for slot in self.slots}
        t_hop = next((move.end - move.start for move in self.transfers), Fraction(0))
        return timetable(
            self.title, self.orders, self.stages, self.microbatches, lambda block: [took[task] for task in block], t_hop
        )


def needs_of(task: Task, stages: int) -> list[Task]:
    """The tasks that have to be done before this one."""
    kind, m, s = task
    if kind == "F":
        return [("F", m, s - 1)] if s else []
    if kind == "W":
        return [("B", m, s)]
    return [("F", m, s), *([("B", m, s + 1)] if s + 1 < stages else [])]


def timetable(
    title: str, orders: Sequence[Order], stages: int, microbatches: int, lasts: Lasts, t_hop: Fraction
) -> PipelineRun:
    """Lets every rank work through its list.

    ``orders``: for each rank blocks of tasks (kind, microbatch, stage), mostly of one; the tasks of a block run one
    after another, wait for all of their inputs and deliver their results together at its end. ``lasts``: how
    long each task of a block takes. A transfer takes ``t_hop``, overlaps with compute, and waits for those before it
    between the same ranks. Raises ValueError if ranks wait for each other.
    """
    slots, transfers = _play(orders, stages, lasts, t_hop)
    free = slots if not t_hop else _play(orders, stages, lasts, Fraction(0))[0]
    bare = max(slot.end for slot in free)
    slots = sorted(slots, key=lambda slot: (slot.start, slot.rank, slot.end))
    return PipelineRun(title, len(orders), stages, microbatches, tuple(slots), tuple(transfers), bare, tuple(orders))


class _State:
    """What is done, where each task lives, and when ranks and links are free."""

    def __init__(self, orders, stages, t_hop):
        self.home = {task: rank for rank, order in enumerate(orders) for block in order for task in block}
        self.stages, self.t_hop = stages, t_hop
        self.done: dict[Task, Fraction] = {}  # when a result is available to the rank itself
        self.there: dict[Task, Fraction] = {}  # and to the one that it is sent to
        self.free = [Fraction(0)] * len(orders)
        self.link: dict[tuple[int, int], Fraction] = {}
        self.slots: list[Slot] = []
        self.transfers: list[PipelineTransfer] = []

    def ready(self, rank, block) -> Fraction | None:
        """When all that a block needs is there; None if some of it is not done yet."""
        needs = [need for task in block for need in needs_of(task, self.stages) if need not in block]
        if any(need not in self.done for need in needs):
            return None
        times = (self.done[need] if self.home[need] == rank else self.there[need] for need in needs)
        return max(times, default=Fraction(0))

    def run(self, rank, block, start, lasts) -> None:
        for task, time in zip(block, lasts, strict=True):
            self.slots.append(Slot(rank, start, start + time, *task))
            start += time
        self.free[rank] = start
        for task in block:
            self.done[task] = start
            self._send(rank, task, start)

    def _send(self, rank, task, done) -> None:
        """Sends a result to the rank that needs it next, if that is another one."""
        kind, m, s = task
        target = self.home.get((kind, m, s + 1 if kind == "F" else s - 1))
        if kind == "W" or target is None or target == rank:
            return
        start = max(done, self.link.get((rank, target), done))
        self.link[rank, target] = self.there[task] = start + self.t_hop
        self.transfers.append(PipelineTransfer(rank, target, start, start + self.t_hop, *task))


def _play(orders, stages, lasts, t_hop):
    state = _State(orders, stages, t_hop)
    at = [0] * len(orders)
    while any(at[rank] < len(order) for rank, order in enumerate(orders)):
        moved = False
        for rank, order in enumerate(orders):
            while at[rank] < len(order) and (ready := state.ready(rank, order[at[rank]])) is not None:
                block = order[at[rank]]
                state.run(rank, block, max(ready, state.free[rank]), lasts(block))
                at[rank] += 1
                moved = True
        if not moved:
            stuck = [order[at[rank]] for rank, order in enumerate(orders) if at[rank] < len(order)]
            raise ValueError(f"orders: ranks wait for each other (deadlock) at {stuck}")
    return state.slots, state.transfers


# Reading of inputs


def need_time(value, name: str) -> Fraction:
    """A time of zero or more as a Fraction (floats as the fractions that they are), else ValueError."""
    try:
        time = Fraction(value) if not isinstance(value, (bool, str)) else None
    except (TypeError, ValueError, OverflowError):
        time = None
    if time is None or time < 0:
        raise ValueError(f"{name}: expected a time of zero or more; got {value!r}")
    return time


def need_times(value, name: str, stages: int) -> list[Fraction]:
    """A time for each stage, from one for all or from a sequence, else ValueError."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != stages:
            raise ValueError(f"{name}: expected one time or {stages}, one per stage; got {len(value)}")
        return [need_time(one, name) for one in value]
    return [need_time(value, name)] * stages


def single(times: Mapping[str, Sequence[Fraction]]) -> Lasts:
    """``lasts`` of a timetable from the times of each kind, one for each stage."""
    return lambda block: [times[kind][stage] for kind, _, stage in block]
