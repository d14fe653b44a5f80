"""Pipeline schedules as published: the order in which each rank works, laid out in time.

``t_F``: forward pass of a microbatch through a stage; ``t_B``: its whole backward pass; ``t_W``: the part of t_B that
the weight gradients take. Each is one number or a sequence with one for each stage. ``t_hop``: a transfer
between neighbors. Everything is a Fraction in the unit of the numbers given.
"""

from gpuscale.schedules.counts import need_count
from gpuscale.schedules.pipelines.timetable import PipelineRun, Task, need_time, need_times, single, timetable


def whole_backward(title, orders, stages, microbatches, t_F, t_B, t_hop) -> PipelineRun:
    """The timetable of orders with an undivided backward pass."""
    times = {"F": need_times(t_F, "t_F", stages), "B": need_times(t_B, "t_B", stages)}
    return timetable(title, orders, stages, microbatches, single(times), need_time(t_hop, "t_hop"))


def gpipe(stages: int, microbatches: int, t_F=1, t_B=2, t_hop=0, oldest_first: bool = False) -> PipelineRun:
    """GPipe: all forward passes, then all backward passes, the last microbatch first.

    ``oldest_first``: the backward passes begin with the first microbatch instead, as in PyTorch.
    """
    p, count = need_count(stages, "stages"), need_count(microbatches, "microbatches")
    back = range(count) if oldest_first else reversed(range(count))
    kinds = [("F", m) for m in range(count)] + [("B", m) for m in back]
    orders = [[((kind, m, s),) for kind, m in kinds] for s in range(p)]
    return whole_backward("GPipe", orders, p, count, t_F, t_B, t_hop)


def one_f_one_b(stages: int, microbatches: int, t_F=1, t_B=2, t_hop=0, eager: bool = False) -> PipelineRun:
    """1F1B: a rank runs ahead by one forward pass for every stage after it, then one forward, one backward.

    ``eager``: it runs ahead twice as far, so that transfers hide behind other microbatches.
    """
    p, count = need_count(stages, "stages"), need_count(microbatches, "microbatches")
    orders = []
    for s in range(p):
        forward, backward = [("F", m, s) for m in range(count)], [("B", m, s) for m in range(count)]
        orders.append(_alternate(forward, backward, (2 if eager else 1) * (p - s - 1)))
    return whole_backward("Eager 1F1B" if eager else "1F1B", orders, p, count, t_F, t_B, t_hop)


def _alternate(forward: list[Task], backward: list[Task], ahead: int) -> list[tuple[Task, ...]]:
    """``ahead`` forward tasks, then pairs of a forward and a backward one, then the backward ones that are left."""
    ahead = min(ahead, len(forward))
    tasks = forward[:ahead]
    for one, other in zip(forward[ahead:], backward, strict=False):
        tasks += [one, other]
    return [(task,) for task in tasks + backward[len(forward) - ahead :]]


def interleaved(ranks: int, microbatches: int, chunks: int, t_F=1, t_B=2, t_hop=0) -> PipelineRun:
    """Interleaved 1F1B as Megatron-LM runs it: rank r holds the stages r, r + ranks, ..., ``chunks`` of them.

    ``t_F``, ``t_B``: of one of the ranks * chunks stages. Microbatches go in groups of one per rank, so their
    number is a multiple of ``ranks``.
    """
    p, v = need_count(ranks, "ranks"), need_count(chunks, "chunks")
    count = _groups(p, microbatches)
    orders = []
    for rank in range(p):
        ahead = (p - rank - 1) * (2 if v > 1 else 1) + (v - 1) * p
        orders.append(_alternate(*_dealt(p, rank, count, v), ahead))
    return whole_backward("Interleaved 1F1B", orders, p * v, count, t_F, t_B, t_hop)


def _groups(ranks: int, microbatches) -> int:
    count = need_count(microbatches, "microbatches")
    if count % ranks:
        raise ValueError(f"microbatches: expected a multiple of the {ranks} ranks; got {count}")
    return count


def _dealt(p: int, rank: int, count: int, v: int) -> tuple[list[Task], list[Task]]:
    """Forward and backward tasks of a rank with ``v`` stages, a group of ``p`` microbatches at a time."""
    turns = [(k // (p * v) * p + k % p, k % (p * v) // p) for k in range(count * v)]
    forward = [("F", m, chunk * p + rank) for m, chunk in turns]
    return forward, [("B", m, (v - 1 - chunk) * p + rank) for m, chunk in turns]


def zb_h1(stages: int, microbatches: int, t_F=1, t_B=2, t_W=1, t_hop=0) -> PipelineRun:
    """ZB-H1: 1F1B with deferred weight gradients; rank r computes them r microbatches late, so that every rank
    holds as many activations as the first one of 1F1B. ``t_W`` is a part of ``t_B``."""
    p, count = need_count(stages, "stages"), need_count(microbatches, "microbatches")
    times, hop = split_times(t_F, t_B, t_W, p), need_time(t_hop, "t_hop")
    return timetable("ZB-H1", _deferred(p, count, 1), p, count, single(times), hop)


def interleaved_zb(ranks: int, microbatches: int, chunks: int, t_F=1, t_B=2, t_W=1, t_hop=0) -> PipelineRun:
    """ZB-H1 with ``chunks`` stages on each rank, dealt out as in ``interleaved``, as PyTorch runs it.

    Times are those of one of the ranks * chunks stages. A rank runs ahead by one forward pass for each rank after it,
    half as far as in ``interleaved``, and defers weight gradients by as many backward passes as ranks precede it.
    """
    p, v = need_count(ranks, "ranks"), need_count(chunks, "chunks")
    count = _groups(p, microbatches)
    times, hop = split_times(t_F, t_B, t_W, p * v), need_time(t_hop, "t_hop")
    return timetable("Interleaved zero bubble", _deferred(p, count, v), p * v, count, single(times), hop)


def _deferred(p: int, count: int, v: int) -> list:
    """Orders of ranks that run ahead by a pass for each rank after them, and defer r weight gradients on rank r."""
    orders = []
    for rank in range(p):
        forward, backward = _dealt(p, rank, count, v)
        order, waiting = [], []
        for block in _alternate(forward, backward, v * p - rank - 1):
            order.append(block)
            waiting += [(("W", m, s),) for kind, m, s in block if kind == "B"]
            if block[0][0] == "B" and len(waiting) > rank:
                order.append(waiting.pop(0))
        orders.append(order + waiting)
    return orders


def split_times(t_F, t_B, t_W, stages: int) -> dict[str, list]:
    """Times of F, B without W, and W for each stage."""
    F, whole, W = need_times(t_F, "t_F", stages), need_times(t_B, "t_B", stages), need_times(t_W, "t_W", stages)
    if any(part > all_of_it for part, all_of_it in zip(W, whole, strict=True)):
        raise ValueError(f"t_W: expected at most t_B, of which it is a part; got {t_W!r} of {t_B!r}")
    return {"F": F, "B": [a - c for a, c in zip(whole, W, strict=True)], "W": W}
