"""A layer of experts over many ranks: real tokens are dispatched, multiplied and combined; bytes and FLOPs counted.

Expert e has two matrices (up [D, F], down [F, D]) or three (a gate [D, F] too) and computes relu(x up) down or
relu(x gate) * (x up) down. Every matmul counts its own FLOPs from its shapes. Whole numbers stay exact.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gpuscale.emulate.sharded import Work
from gpuscale.schedules.collectives import exchange
from gpuscale.schedules.collectives.schedule import Schedule
from gpuscale.schedules.counts import need_count


@dataclass(frozen=True)
class Pass:
    """One pass through the layer.

    ``outputs``: shape (tokens, D), in the order of the tokens. ``flops`` and ``rows`` (token-expert pairs): one
    number per rank. ``dispatch`` and ``combine``: who sent what; V is one copy of every token in both.
    ``gradients``: for each expert those of its matrices (backward pass only).
    """

    outputs: np.ndarray
    flops: list[int]
    rows: list[int]
    dispatch: Schedule
    combine: Schedule
    gradients: list[tuple] | None = None


def make_experts(experts: int, width: int, hidden: int, matrices: int = 2, seed: int = 0) -> list[tuple]:
    """Small whole-number weights of ``experts`` experts: (up, down) or (up, gate, down)."""
    for name, value in (("experts", experts), ("width", width), ("hidden", hidden)):
        need_count(value, name)
    if matrices not in (2, 3):
        raise ValueError(f"matrices: expected 2, or 3 with a gate; got {matrices!r}")
    draw = np.random.default_rng(seed)
    shapes = [(width, hidden)] * (matrices - 1) + [(hidden, width)]
    return [tuple(draw.integers(-2, 3, shape) for shape in shapes) for _ in range(experts)]


def combine(choice: np.ndarray, experts: int, shards: int, node: int = 0) -> Schedule:
    """The dispatch in reverse: each shard adds up its experts' results for a token and sends the sum back.

    With ``node`` shards in a node the sums meet inside the node first, and one crosses back. V: a copy of every token.
    """
    return exchange.dispatch(choice, experts, shards, node).backwards("Combine")


def alone(tokens, choice, scores, weights) -> tuple[np.ndarray, int]:
    """The same layer on one rank, token by token: outputs and FLOPs."""
    work = Work(1)
    count = partial(work.product, 0)
    outputs = np.zeros_like(tokens)
    for t, (chosen, given) in enumerate(zip(choice, scores, strict=True)):
        for e, score in zip(chosen, given, strict=True):
            outputs[t] += score * _forward(count, tokens[t : t + 1], weights[e])[0]
    return outputs, work.flops[0]


def forward(tokens, choice, scores, weights, shards: int, node: int = 0) -> Pass:
    """The layer over ``shards`` ranks: dispatch, each rank's own experts, combine.

    ``tokens``: shape (tokens, D), as many for each rank, those of rank 0 first. ``choice`` and ``scores``: experts of
    each token and their weights in its sum, shape (tokens, k). ``weights`` as ``make_experts`` gives them. ``node``:
    ranks of a node, 0 for one level.
    """
    return _passed(tokens, choice, scores, weights, shards, node, _forward)


def backward(tokens, grads, choice, scores, weights, shards: int, node: int = 0) -> Pass:
    """Its gradient: ``grads`` (of the outputs) go to the experts, those of the tokens come back.

    The ranks still have the tokens that they received in the forward pass, and what they computed from them.
    """
    found: dict = {}

    def step(count, grad, matrices, expert, rows):
        back, found[expert] = _backward(count, tokens[rows], grad, matrices)
        return back

    done = _passed(grads, choice, scores, weights, shards, node, step, told=True)
    empty = [tuple(np.zeros_like(m) for m in matrices) for matrices in weights]
    return replace(done, gradients=[found.get(e, empty[e]) for e in range(len(weights))])


def _passed(sent, choice, scores, weights, shards, node, step, told=False) -> Pass:
    sent, choice, scores = np.asarray(sent), np.asarray(choice), np.asarray(scores)
    if sent.ndim != 2 or choice.shape != scores.shape or len(sent) != len(choice):
        shapes = f"{sent.shape}, {choice.shape}, {scores.shape}"
        raise ValueError(f"tokens: expected (tokens, D) with choice and scores (tokens, k); got {shapes}")
    experts = len(weights)
    out, home = exchange.dispatch(choice, experts, shards, node), combine(choice, experts, shards, node)
    each, held = experts // shards, out.run(np.split(sent, shards))
    work, sums, rows = Work(shards), [], []
    for rank in range(shards):
        here = np.flatnonzero(out.end[rank])  # the tokens that arrived, in their order
        count, total, many = partial(work.product, rank), np.zeros((len(here), sent.shape[1]), sent.dtype), 0
        for e in range(rank * each, (rank + 1) * each):
            picked, slot = np.nonzero(choice[here] == e)
            if picked.size:
                more = (e, here[picked]) if told else ()
                score = scores[here[picked], slot][:, None]
                # backward the score is applied to the gradient first, forward to the result: the value is the same
                given = held[rank][picked] * score if told else held[rank][picked]
                result = step(count, given, weights[e], *more)
                total[picked] += result if told else score * result
                many += picked.size
        sums.append(total)
        rows.append(many)
    return Pass(np.concatenate(home.run(sums)), work.flops, rows, out, home)


def _forward(count, x, matrices):
    up, *gate, down = matrices
    hidden = count(x, up)
    hidden = np.maximum(count(x, gate[0]), 0) * hidden if gate else np.maximum(hidden, 0)
    return count(hidden, down)


def _backward(count, x, grad, matrices):
    """Gradients of the rows and of the matrices. What the forward pass computed is kept, so it costs nothing here."""
    up, *gate, down = matrices
    rise = x @ up
    if gate:
        open_ = x @ gate[0]
        hidden = np.maximum(open_, 0) * rise
    else:
        hidden = np.maximum(rise, 0)
    down_grad, through = count(hidden.T, grad), count(grad, down.T)
    if not gate:
        through = through * (rise > 0)
        return count(through, up.T), (count(x.T, through), down_grad)
    left, right = through * np.maximum(open_, 0), through * rise * (open_ > 0)
    back = count(left, up.T) + count(right, gate[0].T)
    return back, (count(x.T, left), count(x.T, right), down_grad)
