"""What becomes of requests that are served: their tokens, the steps that made them, and the means of a run."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Request:
    """``tokens`` are the times of its tokens, ``parts`` what it goes through: (kind, start, end, slot).

    The kind is "queue", "prefill", "decode", or "kept" for a slot of a static batch whose answer is finished. The slot
    is -1 in the queue. ``need``: tokens to prefill, the prompt, and after an eviction those of the answer so far;
    ``fill``: those that have been; ``blocks``: of the cache that it holds.
    """

    arrival: float
    prompt: int
    answer: int
    tokens: list[float] = field(default_factory=list)
    parts: list[tuple] = field(default_factory=list)
    evictions: int = 0
    slot: int = -1
    need: int = 0
    fill: int = 0
    blocks: int = 0

    @property
    def context(self) -> int:
        return self.prompt + len(self.tokens)

    @property
    def done(self) -> bool:
        return len(self.tokens) >= self.answer

    @property
    def decodes(self) -> bool:
        return self.fill == self.need and not self.done

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
    """A run: its requests and steps. Its means leave out what happens before ``warm`` seconds."""

    requests: list[Request]
    steps: list[Step]
    warm: float

    def _later(self) -> list[Step]:
        return [step for step in self.steps if step.start >= self.warm]

    def mean_batch(self) -> float:
        """Sequences that decode, on average over time: none between steps."""
        later = self._later()
        return sum(s.decodes * (s.end - s.start) for s in later) / (later[-1].end - later[0].start)

    def mean_step(self) -> float:
        return float(np.mean([s.end - s.start for s in self._later()]))

    def token_rate(self) -> float:
        """Output tokens per second."""
        return sum(t > self.warm for r in self.requests for t in r.tokens) / (self.steps[-1].end - self.warm)

    def first_tokens(self) -> np.ndarray:
        """TTFT of each request that has a token."""
        return np.array([r.tokens[0] - r.arrival for r in self.requests if r.tokens and r.arrival >= self.warm])

    def token_times(self) -> np.ndarray:
        """TPOT of each request that is done: the mean of its gaps."""
        done = [r for r in self.requests if r.done and r.answer > 1 and r.arrival >= self.warm]
        return np.array([(r.tokens[-1] - r.tokens[0]) / (r.answer - 1) for r in done])

    def gaps(self) -> np.ndarray:
        """ITL: every time between two tokens of a request."""
        return np.concatenate([np.diff(r.tokens) for r in self.requests if r.arrival >= self.warm])
