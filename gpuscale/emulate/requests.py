"""Requests served step by step: they arrive, wait, are prefilled and decode, in the slots of a batch and in the blocks
of a KV cache. The judge of the formulas of continuous batching: it adds up the times of steps, and knows no formula.

A step gives one token to every sequence that decodes, and at most ``chunk`` tokens of prompts to the first ones that
need them. The step that ends a prefill gives the first token. The script of the figure of a scheduler is a twin of
``serve`` and ``draw``.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from gpuscale.emulate.served import Served, ServedRequest, ServedStep


def uniform(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1 by Lehmer's generator, which JavaScript computes exactly, too."""
    while True:
        seed = seed * 48271 % (2**31 - 1)
        yield seed / (2**31 - 1)


def draw(count: int, seed: int = 7, group: int = 0) -> np.ndarray:
    """Rows of gap, length of the prompt and of the answer, each 1 on average: the gaps exponential, as in a Poisson
    process, the lengths gamma of shape 2. ``group``: that many rows at a time are scaled to a mean of exactly 1.
    """
    numbers = np.fromiter(uniform(seed), float, 5 * count).reshape(count, 5)
    gap, *halves = -np.log(numbers).T
    rows = np.stack([gap, (halves[0] + halves[1]) / 2, (halves[2] + halves[3]) / 2], axis=1)
    for start in range(0, count if group else 0, group or 1):
        rows[start : start + group] /= rows[start : start + group].mean(axis=0)
    return rows


def requests(drawn: np.ndarray, rate: float, prompt: int, answer: int, vary: bool = True) -> list[ServedRequest]:
    """Requests at ``rate`` per second; with ``vary`` their lengths vary around ``prompt`` and ``answer``."""
    out, now = [], 0.0
    for gap, long, talk in drawn.tolist():
        now += gap / rate
        sizes = (max(1, math.floor(prompt * long + 0.5)), max(2, math.floor(answer * talk + 0.5)))
        out.append(ServedRequest(now, *(sizes if vary else (prompt, answer))))
    return out


def serve(
    coming: list[ServedRequest],
    cost: Callable[[int, int, int, int], float],
    slots: int,
    chunk: float = math.inf,
    pool: float = math.inf,
    page: int = 16,
    static: bool = False,
    reserve: bool = False,
    until: float = math.inf,
    warm: float = 0,
) -> Served:
    """Serves requests in the order of their arrival, and writes into them, until all are done or ``until``.

    ``cost(decodes, prompt, read, pairs)``: the time of a step, with the tokens of prompts, the cached tokens that are
    read and the pairs of query and key. ``pool``: blocks of ``page`` tokens. A sequence that grows takes a block more;
    if there is none, the last one in gives up its blocks and is prefilled again later. With ``reserve`` a request waits
    instead until all its blocks are free. ``static``: a batch ends when its longest answer does.
    """
    queue: list[ServedRequest] = []
    running: list[ServedRequest] = []
    steps: list[ServedStep] = []
    now, used, come = 0.0, 0, 0

    def release(r):
        nonlocal used
        used -= r.blocks
        r.slot, r.blocks = -1, 0

    while now < until:
        while come < len(coming) and coming[come].arrival <= now:
            r = coming[come]
            r.need, come = r.prompt, come + 1
            r.enter("queue", r.arrival)
            queue.append(r)

        # tokens of prompts: of requests that have begun, then of those that are admitted
        fed, left, admits = [], math.inf if static else chunk, not static or not running
        for r in running:
            if r.fill < r.need and left > 0:
                fed.append((r, int(min(left, r.need - r.fill))))
                left -= fed[-1][1]
        while admits and queue and len(running) < slots and left > 0:
            r = queue[0]
            blocks = math.ceil((r.prompt + r.answer if static or reserve else r.need) / page)
            if used + blocks > pool and running:
                break
            queue.pop(0)
            if blocks > pool:  # it could never fit
                r.leave(now)
                continue
            taken = {other.slot for other in running}
            r.slot, r.blocks, used = next(i for i in range(slots) if i not in taken), blocks, used + blocks
            running.append(r)
            r.enter("prefill", now)
            fed.append((r, int(min(left, r.need))))
            left -= fed[-1][1]
        if not running:
            if come == len(coming):
                break
            now = coming[come].arrival
            continue

        # blocks: each sequence that decodes may need one more, and the last one in may lose its own
        decoding = [r for r in running if r.decodes]
        for r in decoding:
            while r.slot >= 0 and r.context > r.blocks * page:
                if used < pool:
                    r.blocks, used = r.blocks + 1, used + 1
                    continue
                last = running.pop()
                release(last)
                last.need, last.fill, last.evictions = last.context, 0, last.evictions + 1
                last.enter("queue", now)
                queue.insert(0, last)

        # the step
        decoding, fed = [r for r in decoding if r.slot >= 0], [(r, many) for r, many in fed if r.slot >= 0]
        contexts, tokens = sum(r.context for r in decoding), sum(many for _, many in fed)
        read = contexts + sum(r.fill for r, _ in fed)
        pairs = contexts + sum(many * r.fill + many * (many + 1) // 2 for r, many in fed)
        start, now = now, now + cost(len(decoding), tokens, read, pairs)
        steps.append(ServedStep(start, now, len(decoding), tokens, read, used, len(queue)))

        # its tokens, and who leaves
        over = []
        for r in decoding:
            r.tokens.append(now)
            if r.done:
                over.append(r)
        for r, many in fed:
            r.fill += many
            if r.fill == r.need:
                r.tokens.append(now)
                r.enter("decode", now)
                if r.done:
                    over.append(r)
        for r in over:
            if static:
                r.enter("kept", now)
            else:
                r.leave(now)
                release(r)
        if static and all(r.done for r in running):
            for r in running:
                r.leave(now)
                release(r)
        if over:
            running = [r for r in running if r.slot >= 0]
    return Served(coming, steps, warm)


def static_rate(
    cost: Callable[[int, int, int, int], float],
    drawn: np.ndarray,
    *,
    prompt: int,
    answer: int,
    slots: int,
    pool: float = math.inf,
    backlog: int = 256,
) -> float:
    """Requests per second that static batches of ``slots`` serve from a full queue, counted over at least ``backlog``
    requests. ``drawn`` varies their lengths around ``prompt`` and ``answer``; the rest is as in ``serve``.
    """
    coming = requests(drawn[: slots * math.ceil(backlog / slots)], 1, prompt, answer)
    for each in coming:
        each.arrival = 0.0
    run = serve(coming, cost, slots, pool=pool, static=True)
    return sum(each.done for each in run.requests) / run.steps[-1].end if run.steps else 0.0
