"""The pipeline schedules of PyTorch: what each rank does in which order, how long that takes, and whether it is right.

The orders of the schedules with several stages per rank are PyTorch's own lists of actions. Those of GPipe and 1F1B are
recorded from the code that runs a step, on a stage that computes nothing: the list that Schedule1F1B shows starts its
last rank at microbatch 1, while its code does not (PyTorch 2.13). The orders are then replayed here, by a clock that
knows nothing of the library. Six schedules really run, with gradients.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from types import SimpleNamespace

import torch
import torch.distributed as dist
from torch.distributed.pipelining import schedules

from gpuscale.evidence.rows import digest
from gpuscale.labs import run

RANKS = (2, 3, 4, 5, 6, 8)
Task = tuple[str, int, int]  # kind, microbatch, stage
Action = tuple[Task, ...]  # what a rank does at a time: begun with all of its inputs, handed on at its end
TIMES = ((1, 1, 1), (2, 5, 3), (4, 4, 1))  # of a stage: forward, backward for the inputs, backward for the weights
DIVIDED = ("ScheduleInterleavedZeroBubble", "ScheduleZBVZeroBubble", "ScheduleDualPipeV")


# Orders


def listed(name: str, ranks: int, microbatches: int, chunks: int) -> list[list[Action]]:
    """The list of actions of each rank, as a schedule with `chunks` stages per rank makes it."""

    class Bare(getattr(schedules, name)):
        """The schedule without its transfers, which PyTorch adds afterwards."""

        def _prepare_schedule_with_comms(self, actions, format="compute_only"):
            pass

    every = ranks * chunks
    stages = [
        SimpleNamespace(
            group_size=ranks, group_rank=0, num_stages=every, stage_index=i * ranks, is_last=False, submod=None
        )
        for i in range(chunks)
    ]
    lists = Bare(stages, microbatches).pipeline_order
    return [[_tasks(one, name in DIVIDED) for one in lists[rank] if one is not None] for rank in range(ranks)]


def _tasks(action, divided: bool) -> Action:
    """An action in the words of the book. A whole backward pass is both of its halves where a schedule divides it."""
    if action.sub_actions:
        return tuple(task for one in action.sub_actions for task in _tasks(one, divided))
    kind, m, s = action.computation_type.value, action.microbatch_index, action.stage_index
    if kind == "B" and divided:
        return ("B", m, s), ("W", m, s)
    return (({"I": "B"}.get(kind, kind), m, s),)


class Idle:
    """A stage that computes and sends nothing, and writes down what it is asked to do."""

    def __init__(self, rank: int, ranks: int):
        self.stage_index, self.num_stages, self.is_last, self.asked = rank, ranks, False, []
        self.get_fwd_recv_ops = self.get_fwd_send_ops = self.get_bwd_recv_ops = self.get_bwd_send_ops = lambda m: []

    def forward_one_chunk(self, m, *args, **kwargs) -> None:
        self.asked.append((("F", m, self.stage_index),))

    def backward_one_chunk(self, m, **kwargs) -> None:
        self.asked.append((("B", m, self.stage_index),))

    def perform_reduce_grad(self, scale) -> None:
        pass


def executed(name: str, ranks: int, microbatches: int) -> list[list[Action]]:
    """What the code of a schedule with one stage per rank does in a step."""

    class Dry(getattr(schedules, name)):
        def _initialize_stage(self, *args):
            pass

    orders = []
    for rank in range(ranks):
        stage = Idle(rank, ranks)
        inputs = [()] * microbatches
        Dry(stage, microbatches)._step_microbatches(inputs, [{}] * microbatches)
        orders.append(stage.asked)
    return orders


def flat(orders: list[list[Action]]) -> list[list[Task]]:
    return [[task for action in order for task in action] for order in orders]


# A clock


def replay(orders: list[list[Action]], times: tuple[int, int, int]) -> list[int]:
    """The idle time of each rank when every action starts as soon as its rank is free and its inputs are there."""
    ahead, back, weights = times
    whole = not any(kind == "W" for order in flat(orders) for kind, _, _ in order)
    cost = {"F": ahead, "B": back + weights if whole else back, "W": weights}
    last = max(s for order in flat(orders) for _, _, s in order)
    ends: dict[Task, int] = {}
    now, busy, at = [0] * len(orders), [0] * len(orders), [0] * len(orders)
    while any(at[r] < len(orders[r]) for r in range(len(orders))):
        before = list(at)
        for r, order in enumerate(orders):
            while at[r] < len(order):
                action = order[at[r]]
                inputs = [one for kind, m, s in action for one in _inputs(kind, m, s, last) if one not in action]
                if not all(one in ends for one in inputs):
                    break
                lasts = sum(cost[kind] for kind, _, _ in action)
                now[r] = max([now[r], *(ends[one] for one in inputs)]) + lasts
                ends |= dict.fromkeys(action, now[r])
                busy[r] += lasts
                at[r] += 1
        if at == before:
            raise RuntimeError(f"the ranks wait for each other after {at} actions")
    return [max(now) - work for work in busy]


def _inputs(kind: str, m: int, s: int, last: int) -> list[Task]:
    if kind == "W":
        return [("B", m, s)]
    if kind == "F":
        return [("F", m, s - 1)] if s > 0 else []
    return [("F", m, s)] + ([("B", m, s + 1)] if s < last else [])


def peaks(orders: list[list[Action]]) -> list[int]:
    """The most microbatches, of any of its stages, that a rank has begun and not finished."""
    found = []
    for order in flat(orders):
        finishes = {(m, s): i for i, (_, m, s) in enumerate(order)}
        now = most = 0
        for i, (kind, m, s) in enumerate(order):
            now += kind == "F"
            most = max(most, now)
            now -= i == finishes[m, s]
        found.append(most)
    return found


# Rows

# of each schedule: its name in rows, its class, and the cases (ranks, virtual stages, microbatches)
CASES = {
    "1f1b": ("Schedule1F1B", [(p, 1, p + more) for p in RANKS for more in (0, 1, 2, 3, 4, 6, 8, 9)]),
    "gpipe": ("ScheduleGPipe", [(p, 1, m) for p in RANKS for m in (2, 3, 5, 8)]),
    "interleaved": (
        "ScheduleInterleaved1F1B",
        [(p, v, p * g) for p in RANKS for v in (2, 3, 4) for g in range(1, 3 + (v == 2))],
    ),
    "interleaved_zb": (
        "ScheduleInterleavedZeroBubble",
        [(p, v, p * g) for p in RANKS for v in (2, 3, 4) for g in range(1, 3 + (v == 2))],
    ),
    "zb_h1": (
        "ScheduleInterleavedZeroBubble",
        [(p, 1, m) for p in RANKS for m in (p - 1, p, 2 * p, 3 * p, 4 * p)],
    ),
    "zb_v": ("ScheduleZBVZeroBubble", [(p, 2, 2 * p + more) for p in RANKS for more in (-1, 0, 1, 2, 3, 4, 5)]),
    "dualpipe_v": ("ScheduleDualPipeV", [(p, 2, 2 * p + more) for p in RANKS for more in (0, 1, 2, 3, 4, 5, 6)]),
}
STEPS = ("1f1b", "gpipe", "interleaved", "dualpipe_v")  # those of which the book has a formula for the whole step


def measure() -> Iterator[tuple[str, list]]:
    """The rows of every family."""
    for short, (name, cases) in CASES.items():
        for number, (p, v, m) in enumerate(cases):
            orders = executed(name, p, m) if short in ("1f1b", "gpipe") else listed(name, p, m, v)
            times = [one for one in TIMES if short != "zb_v" or one[1] >= max(one[0], one[2])]
            times = times[number % len(times)]
            idle, work = replay(orders, times), v * m * sum(times)
            case = [p, m, v] if short in ("interleaved", "interleaved_zb") else [p, m]
            yield f"torch_{short}_slots", [[*case, digest(flat(orders))]]
            yield f"torch_{short}_idle", [[*case, *times, idle]]
            yield f"torch_{short}_peaks", [[*case, peaks(orders)]]
            if short != "dualpipe_v":
                yield f"torch_{short}_overhead", [[*case, *times, sum(idle) / (p * work)]]
            if short in STEPS:
                yield f"torch_{short}_step", [[*case, *times, idle[0] + work]]
    for name, (orders, equal, sent) in really_run().items():
        family = "torch_run_gpipe" if name == "ScheduleGPipe" else "torch_run_slots"
        yield family, [[name, digest(orders)]]
        yield "torch_run_gradients", [[name, equal]]
        if name not in ("ScheduleZBVZeroBubble", "ScheduleDualPipeV"):
            yield "torch_run_bytes", [[name, STAGES[name] // P, sent]]


# Schedules that really run

P, M, ROWS, WIDTH = 4, 8, 3, 16
STAGES = {
    "ScheduleGPipe": 4,
    "Schedule1F1B": 4,
    "ScheduleInterleaved1F1B": 8,
    "ScheduleInterleavedZeroBubble": 8,
    "ScheduleZBVZeroBubble": 8,
    "ScheduleDualPipeV": 8,
}


def really_run() -> dict[str, tuple[list, int, list[int]]]:
    """Of each schedule: the order of all ranks, how many gradients equal those of one process, and the bytes of
    activations and gradients between each rank and the next."""
    found = {}
    for name, stages in STAGES.items():
        results = run(one_step, name, stages, ranks=P, output="none")
        between = Counter()
        for rank, (_, _, sent) in enumerate(results):
            for target, size in sent.items():
                between[min(rank, target), max(rank, target)] += size
        orders = [order for order, _, _ in results]
        found[name] = orders, sum(equal for _, equal, _ in results), [between[r, r + 1] for r in range(P - 1)]
    return found


def model(stages: int) -> list[torch.nn.Module]:
    torch.manual_seed(0)
    return [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()).double() for _ in range(stages)]


def one_step(name: str, count: int) -> tuple[list[Task], int, dict[int, int]]:
    """A step on this rank: what it did, how many of its gradients are right, and the bytes it sent to each rank."""
    from torch.distributed.pipelining import PipelineStage

    rank, layers = dist.get_rank(), model(count)
    divided, v_shape = name in DIVIDED, name in ("ScheduleZBVZeroBubble", "ScheduleDualPipeV")
    mine = [rank, count - 1 - rank] if v_shape else list(range(rank, count, P))
    did, sent = [], defaultdict(int)
    stages = [PipelineStage(layers[i], i, count, torch.device("cpu")) for i in mine]
    for stage in stages:
        watch(stage, did, sent, divided)
    if v_shape:
        for stage in stages:
            stage.stage_index_to_group_rank = {i: min(i, count - 1 - i) for i in range(count)}
    kind = getattr(schedules, name)
    loss = torch.nn.functional.mse_loss
    schedule = kind(stages[0] if count == P else stages, M, loss_fn=loss)
    torch.manual_seed(1)
    x, y = torch.randn(2, M * ROWS, WIDTH, dtype=torch.float64)
    schedule.step(*[x] if 0 in mine else [], **{"target": y} if count - 1 in mine else {})
    right = model(count)
    loss(torch.nn.Sequential(*right)(x), y).backward()
    pairs = [(a.grad, b.grad) for i in mine for a, b in zip(layers[i].parameters(), right[i].parameters(), strict=True)]
    return did, sum(torch.allclose(a, b, rtol=1e-12, atol=1e-15) for a, b in pairs), dict(sent)


def watch(stage, did: list, sent: dict, divided: bool) -> None:
    """Write down what a stage computes, and the bytes of what it sends."""
    s, ahead, back, weights = (
        stage.stage_index,
        stage.forward_one_chunk,
        stage.backward_one_chunk,
        stage.backward_weight_one_chunk,
    )

    def forward(m, *args, **kwargs):
        did.append(("F", m, s))
        return ahead(m, *args, **kwargs)

    def backward(m, *args, full_backward=True, **kwargs):
        did.append(("B", m, s))
        if full_backward and divided:
            did.append(("W", m, s))
        return back(m, *args, full_backward=full_backward, **kwargs)

    def weight(m, *args, **kwargs):
        did.append(("W", m, s))
        return weights(m, *args, **kwargs)

    def counted(ops_of):
        def counting(m):
            ops = ops_of(m)
            for op in ops:
                sent[op.peer] += op.tensor.nbytes
            return ops

        return counting

    stage.forward_one_chunk, stage.backward_one_chunk, stage.backward_weight_one_chunk = forward, backward, weight
    stage.get_fwd_send_ops, stage.get_bwd_send_ops = counted(stage.get_fwd_send_ops), counted(stage.get_bwd_send_ops)
