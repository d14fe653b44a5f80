"""Attention over ranks with real numbers: heads sharded over ranks, or one sequence sharded over ranks.

Arrays are [tokens, heads, width of a head]. Scores of a block are folded into a running softmax, so that a rank never
needs more than one block of keys and values. Pairs of a query and a key that the mask lets through are counted, and
the bytes of every step; nothing here knows a cost formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuscale.emulate.sharded import Work, columns, rows
from gpuscale.schedules.collectives import ring
from gpuscale.schedules.counts import need_count


@dataclass
class Passes:
    """What the ranks did, step by step. ``pairs[step][rank]``: query-key pairs of one head that the mask lets through;
    ``sent[step]``: bytes that a rank sends during the step; ``held``: the most bytes of keys and values on a rank."""

    pairs: list[list[int]] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    held: int = 0


class Running:
    """Softmax over keys that come block by block: the largest score so far, the sum of weights, the weighted values."""

    def __init__(self, q: np.ndarray):
        self.q = q
        self.top = np.full(q.shape[:2], -np.inf)
        self.sum = np.zeros(q.shape[:2])
        self.out = np.zeros(q.shape)

    def add(self, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> None:
        """Folds in a block of keys and values. ``mask[i, j]``: whether query i may see key j."""
        share = self.q.shape[1] // k.shape[1]  # query heads that share a key head
        k, v = (np.repeat(a, share, axis=1) for a in (k, v))
        scores = np.einsum("qhd,khd->qhk", self.q, k) / np.sqrt(self.q.shape[2])
        scores = np.where(mask[:, None, :], scores, -np.inf)
        top = np.maximum(self.top, scores.max(axis=2))
        safe = np.where(np.isfinite(top), top, 0)  # a query that has seen no key yet
        weights, fade = np.exp(scores - safe[..., None]), np.exp(self.top - safe)
        self.sum = self.sum * fade + weights.sum(axis=2)
        self.out = self.out * fade[..., None] + np.einsum("qhk,khd->qhd", weights, v)
        self.top = top

    def done(self) -> np.ndarray:
        """The attention of what has been seen."""
        return self.out / self.sum[..., None]


def attention(q, k, v, causal: bool = True) -> np.ndarray:
    """Attention on one rank."""
    run = Running(q)
    run.add(k, v, seen(np.arange(len(q)), np.arange(len(k)), causal))
    return run.done()


def seen(queries: np.ndarray, keys: np.ndarray, causal: bool) -> np.ndarray:
    """Which key each query may see, by their places in the sequence."""
    return queries[:, None] >= keys[None, :] if causal else np.ones((len(queries), len(keys)), bool)


def places(tokens: int, ranks: int, zigzag: bool = True) -> list[np.ndarray]:
    """Which tokens each rank has: ``zigzag``: of 2 n equal pieces the r-th and the r-th from the end; else contiguous.
    Raises ValueError if the tokens do not divide."""
    pieces = need_count(ranks) * (2 if zigzag else 1)
    if tokens % pieces:
        raise ValueError(f"tokens: expected a multiple of {pieces}; got {tokens}")
    cut = np.split(np.arange(tokens), pieces)
    return [np.concatenate([cut[r], cut[pieces - 1 - r]]) if zigzag else cut[r] for r in range(ranks)]


def ring_attention(q, k, v, ranks: int, causal: bool = True, zigzag: bool = True) -> tuple[np.ndarray, Passes]:
    """Each rank keeps its queries; blocks of keys and values go once around the ring. Returns the attention in the
    order of the tokens, and the Passes."""
    mine = places(len(q), ranks, zigzag)
    running = [Running(q[at]) for at in mine]
    here = [(at, k[at], v[at]) for at in mine]  # the block that a rank works on
    schedule, log = ring.all_gather(ranks), Passes()
    for step in range(ranks):
        log.pairs.append([_fold(run, at, block, causal) for run, at, block in zip(running, mine, here, strict=True)])
        if step < schedule.steps:
            arrived = list(here)
            for move in schedule[step]:
                arrived[move.target] = here[move.source]
            log.sent.append(max(_bytes(here[move.source]) for move in schedule[step]))
            log.held = max(log.held, *(_bytes(a) + _bytes(b) for a, b in zip(here, arrived, strict=True)))
            here = arrived
    order = np.argsort(np.concatenate(mine))
    return np.concatenate([run.done() for run in running])[order], log


def heads(x, wq, wk, wv, wo, ranks: int, width: int, causal: bool = True) -> tuple[list, Work]:
    """An attention block by heads: queries, keys, values sharded by columns, the output by rows. ``width`` is that of a
    head. With more ranks than key heads, consecutive ranks hold copies of one. Returns the result of each rank."""
    work, key_heads = Work(ranks), wk.shape[1] // width
    if max(key_heads, ranks) % min(key_heads, ranks):
        raise ValueError(f"ranks: expected a divisor or a multiple of the {key_heads} key heads; got {ranks}")
    copies = max(ranks // key_heads, 1)
    wk, wv = (np.repeat(w.reshape(len(w), key_heads, width), copies, axis=1).reshape(len(w), -1) for w in (wk, wv))
    cut = list(zip(*(columns(w, ranks) for w in (wq, wk, wv)), rows(wo, ranks), strict=True))
    inputs, partials = work.gather(rows(x, ranks)), []
    for rank, (*into, out) in enumerate(cut):
        q, k, v = (work.product(rank, inputs[rank], w).reshape(len(x), -1, width) for w in into)
        pairs = int(seen(np.arange(len(x)), np.arange(len(x)), causal).sum())
        work.flops[rank] += 2 * 2 * pairs * q.shape[1] * width  # scores, and weighted values
        partials.append(work.product(rank, attention(q, k, v, causal).reshape(len(x), -1), out))
    return work.scatter(partials), work


def _fold(run: Running, at: np.ndarray, block: Sequence[np.ndarray], causal: bool) -> int:
    place, k, v = block
    mask = seen(at, place, causal)
    if mask.any():
        run.add(k, v, mask)
    return int(mask.sum())


def _bytes(block) -> int:
    return block[1].nbytes + block[2].nbytes
