"""Layers computed in other ways than a page shows, and whether ranks store everything together."""

import numpy as np

from gpuscale.emulate.ring_attention import Passes, Running, attention, places, seen
from gpuscale.emulate.sharded import Work, columns, rows
from gpuscale.schedules.collectives import exchange


def whole_mlp(x, into, out) -> np.ndarray:
    """The MLP on one rank. ``into``: one matrix [D, F], or two with a gate; ``out``: [F, D]."""
    first, *gate = (x @ matrix for matrix in into)
    hidden = np.maximum(first, 0)
    return (hidden * gate[0] if gate else hidden) @ out


def whole_mlp_backward(x, into, out, gradient) -> dict:
    """The derivatives of ``sharded.mlp_backward`` on one rank."""
    before = x @ into
    inner = (gradient @ out.T) * (before > 0)
    return {"x": inner @ into.T, "into": x.T @ inner, "out": np.maximum(before, 0).T @ gradient}


def gathered_attention(q, k, v, ranks: int, causal: bool = True, zigzag: bool = True) -> tuple:
    """First an all-gather of keys and values, then each rank attends with its queries. Returns the attention in the
    order of the tokens, the Work and the Passes."""
    mine, work, log = places(len(q), ranks, zigzag), Work(ranks), Passes()
    order = np.concatenate(mine)
    keys, values = work.gather([k[at] for at in mine]), work.gather([v[at] for at in mine])
    out, counts = np.empty(q.shape), []
    for rank, at in enumerate(mine):
        run, mask = Running(q[at]), seen(at, order, causal)
        run.add(keys[rank], values[rank], mask)
        out[at] = run.done()
        counts.append(int(mask.sum()))
        log.held = max(log.held, keys[rank].nbytes + values[rank].nbytes)
    log.pairs.append(counts)
    return out, work, log


def exchanged_attention(q, k, v, ranks: int, causal: bool = True) -> tuple[np.ndarray, list]:
    """Tokens for heads: an all-to-all gives each rank all tokens of some heads, and a second one gives them back.
    Returns the attention, and for each all-to-all the bytes that a rank sends."""
    schedule, sent = exchange.all_to_all(ranks), []

    def swapped(blocks):
        """Block t of rank r becomes block r of rank t."""
        sent.append(schedule.busiest() * sum(block.nbytes for block in blocks))
        return schedule.run(blocks)

    by_heads = []
    for array in (q, k, v):
        parts = [np.stack(columns(np.moveaxis(part, 1, 2), ranks)) for part in rows(array, ranks)]
        by_heads.append([np.moveaxis(p.reshape(-1, *p.shape[2:]), 2, 1) for p in swapped(parts)])
    done = [attention(*parts, causal) for parts in zip(*by_heads, strict=True)]
    shares = [np.concatenate(np.split(back, ranks), axis=1) for back in swapped(done)]
    return np.concatenate(shares), sent


def covers(layout, state):
    """Whether the ranks together keep every element of every array."""
    seen = {}
    for rank in layout.ranks:
        for key, elements in layout.keeps(rank, state).items():
            seen.setdefault(key, set()).update(elements.tolist())
    wanted = {(-1 if a.layer is None else a.layer, a.name): a.size for a in layout.arrays}
    return {key: len(found) for key, found in seen.items()} == wanted
