"""Requests served step by step: they arrive, wait, are prefilled and decode, in the slots of a batch and in the blocks
of a KV cache. The judge of the formulas of continuous batching: it adds up the time of each step, and knows no formula.

A step gives one token to every sequence that decodes, and at most ``chunk`` tokens of prompts to the first ones that
need them. The step that ends a prefill gives the first token. The script of the figure of a scheduler is a twin of
``serve`` and ``draw``.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Request:
    """What comes, and what becomes of it: ``tokens`` are the times of its tokens, ``parts`` what it goes through.

    A part is (kind, start, end, slot); its kind is "queue", "prefill", "decode", or "kept" for a slot of a static batch
    whose answer is finished. The slot is -1 in the queue.
    """

    arrival: float
    prompt: int
    answer: int
    tokens: list[float] = field(default_factory=list)
    parts: list[tuple] = field(default_factory=list)
    evictions: int = 0
    slot: int = -1
    need: int = 0  # tokens to prefill: the prompt, and after an eviction the tokens that were there already
    fill: int = 0  # those that have been
    blocks: int = 0

    @property
    def context(self) -> int:
        return self.prompt + len(self.tokens)

    @property
    def done(self) -> bool:
        return len(self.tokens) >= self.answer

    def enter(self, kind: str, now: float) -> None:
        self.leave(now)
        self.parts.append((kind, now, math.inf, self.slot))

    def leave(self, now: float) -> None:
        if self.parts and self.parts[-1][2] == math.inf:
            self.parts[-1] = (*self.parts[-1][:2], now, self.parts[-1][3])


@dataclass(frozen=True)
class Step:
    """A step: sequences that decode, tokens of prompts, cached tokens that are read, blocks in use, requests queued."""

    start: float
    end: float
    decodes: int
    prompt: int
    read: int
    blocks: int
    queued: int


@dataclass(frozen=True)
class Served:
    """A run: its requests and steps. Its numbers leave out what happens before ``warm`` seconds."""

    requests: list[Request]
    steps: list[Step]
    warm: float

    def _seen(self) -> np.ndarray:
        return np.array([(s.end - s.start, s.decodes) for s in self.steps if s.start >= self.warm]).T

    def mean_batch(self) -> float:
        """Sequences that decode, on average over the time of the steps."""
        times, decodes = self._seen()
        return float(times @ decodes / times.sum())

    def mean_step(self) -> float:
        return float(self._seen()[0].mean())

    def token_rate(self) -> float:
        """Output tokens per second."""
        end = self.steps[-1].end
        return sum(t > self.warm for r in self.requests for t in r.tokens) / (end - self.warm)

    def first_tokens(self) -> np.ndarray:
        """TTFT of each request that has a token."""
        return np.array([r.tokens[0] - r.arrival for r in self.requests if r.tokens and r.arrival >= self.warm])

    def token_times(self) -> np.ndarray:
        """TPOT of each request that is finished: the mean of its gaps."""
        done = [r for r in self.requests if r.done and r.answer > 1 and r.arrival >= self.warm]
        return np.array([(r.tokens[-1] - r.tokens[0]) / (r.answer - 1) for r in done])

    def gaps(self) -> np.ndarray:
        """ITL: every time between two tokens of a request."""
        return np.concatenate([np.diff(r.tokens) for r in self.requests if r.arrival >= self.warm])


def uniform(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1 by Lehmer's generator, which JavaScript computes exactly, too."""
    while True:
        seed = seed * 48271 % (2**31 - 1)
        yield seed / (2**31 - 1)


def draw(count: int, seed: int = 7, group: int = 0) -> np.ndarray:
    """Rows of gap, length of the prompt and of the answer, each 1 on average: the gaps exponential, as in a Poisson
    process, the lengths gamma of shape 2. ``group``: that many rows at a time are scaled to a mean of exactly 1."""
    numbers = uniform(seed)

    def exponential():
        return -math.log(next(numbers))

    rows = [
        (exponential(), (exponential() + exponential()) / 2, (exponential() + exponential()) / 2) for _ in range(count)
    ]
    out = np.array(rows)
    for start in range(0, count, group or count + 1):
        if group:
            out[start : start + group] /= out[start : start + group].mean(axis=0)
    return out


def requests(drawn: np.ndarray, rate: float, prompt: int, answer: int, vary: bool = True) -> list[Request]:
    """Requests at ``rate`` per second; with ``vary`` their lengths vary around ``prompt`` and ``answer``."""
    out, now = [], 0.0
    for gap, long, talk in drawn.tolist():
        now += gap / rate
        sizes = (max(1, math.floor(prompt * long + 0.5)), max(2, math.floor(answer * talk + 0.5)))
        out.append(Request(now, *(sizes if vary else (prompt, answer))))
    return out


def serve(
    waiting: list[Request],
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
    """Serves requests in the order of their arrival, which it changes in place, until all are done or ``until``.

    ``cost(decodes, prompt, read, pairs)``: the time of a step, with the tokens of prompts, the cached tokens that are
    read and the pairs of query and key. ``pool``: blocks of ``page`` tokens. A sequence that grows takes a block more;
    if there is none, the last one in gives up its blocks and is prefilled again later. With ``reserve`` a request waits
    instead until all its blocks are free. ``static``: a batch ends when its longest answer does.
    """
    queue: list[Request] = []
    running: list[Request] = []
    steps: list[Step] = []
    free, now, used, come = list(range(slots)), 0.0, 0, 0

    def release(r):
        nonlocal used
        used -= r.blocks
        free.append(r.slot)
        r.slot, r.blocks = -1, 0

    while now < until:
        while come < len(waiting) and waiting[come].arrival <= now:
            r = waiting[come]
            r.need = r.prompt
            r.enter("queue", r.arrival)
            queue.append(r)
            come += 1

        fed, left = [], math.inf if static else chunk  # prompts first: those that have begun, then new ones
        for r in running:
            if r.fill < r.need and left > 0:
                fed.append((r, int(min(left, r.need - r.fill))))
                left -= fed[-1][1]
        while (not static or all(r.fill == 0 for r in running)) and queue and len(running) < slots and left > 0:
            r = queue[0]
            blocks = math.ceil((r.prompt + r.answer if static or reserve else r.need) / page)
            if used + blocks > pool and running:
                break
            queue.pop(0)
            if blocks > pool:  # it could never fit
                r.leave(now)
                continue
            r.slot, r.blocks = min(free), blocks
            free.remove(r.slot)
            used += blocks
            running.append(r)
            r.enter("prefill", now)
            fed.append((r, int(min(left, r.need))))
            left -= fed[-1][1]
        if not running:
            if come == len(waiting):
                break
            now = waiting[come].arrival
            continue

        for r in [r for r in running if r.fill == r.need and not r.done]:  # each may need a block more
            while r.slot >= 0 and r.context > r.blocks * page:
                if used < pool:
                    r.blocks, used = r.blocks + 1, used + 1
                    continue
                last = running.pop()
                release(last)
                last.need, last.fill, last.evictions = last.context, 0, last.evictions + 1
                last.enter("queue", now)
                queue.insert(0, last)

        decoding = [r for r in running if r.fill == r.need and not r.done]
        fed = [(r, tokens) for r, tokens in fed if r.slot >= 0]
        contexts, tokens = sum(r.context for r in decoding), sum(many for _, many in fed)
        read = contexts + sum(r.fill for r, _ in fed)
        pairs = contexts + sum(many * r.fill + many * (many + 1) // 2 for r, many in fed)
        end = now + cost(len(decoding), tokens, read, pairs)
        steps.append(Step(now, end, len(decoding), tokens, read, used, len(queue)))
        now = end

        for r in decoding:
            r.tokens.append(now)
        for r, many in fed:
            r.fill += many
            if r.fill == r.need:
                r.tokens.append(now)
                r.enter("decode", now)
        if static:
            for r in running:
                if r.done and r.parts[-1][0] != "kept":
                    r.enter("kept", now)
        over = [r for r in running if r.done] if not static or all(r.done for r in running) else []
        for r in over:
            r.leave(now)
            release(r)
        running = [r for r in running if r.slot >= 0]
    return Served(waiting, steps, warm)
