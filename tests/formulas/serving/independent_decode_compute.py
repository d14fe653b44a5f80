"""FLOPs of decode and prefill: every matmul written as an einsum over small arrays, and its FLOPs counted."""

from fractions import Fraction
from math import prod

import numpy as np
from formulas.harness import at, checks
from formulas.llm.independent_counting import SMALL, TINY, dense, letters, routed
from hypothesis import strategies as st

from gpuscale.emulate import shapes

WIDTHS = st.sampled_from([Fraction(1, 2), 1, 2])


class Einsum:
    """Multiplies, and counts a multiplication and an addition for each combination of the indices."""

    def __init__(self):
        self.flops = 0

    def __call__(self, spec, *arrays):
        letters_of = "".join(spec.split("->")[0].split(","))
        sizes = dict(zip(letters_of, (n for array in arrays for n in array.shape), strict=True))
        self.flops += 2 * prod(sizes.values())
        return np.einsum(spec, *arrays)


def ones(*shape):
    return np.ones(shape, int)


def attended(count, m, new, seen):
    """Scores and weighted sums of ``new`` tokens over ``seen``, all heads of a layer; heads of a group share a key."""
    group = m.heads // m.kv_heads
    weights = count("ngqd,sgd->ngqs", ones(new, m.kv_heads, group, m.head_dim), ones(seen, m.kv_heads, m.head_dim))
    count("ngqs,sgd->ngqd", weights, ones(seen, m.kv_heads, m.head_dim))


def matrices(m, tokens, head):
    """The matmuls with weights: ``tokens`` through the layers, ``head`` through the output head."""
    found = shapes.products(m, 1)
    return sum(p.flops * (head if p.name == "head" else tokens) for p in found if p.weight)


def active(m):
    return sum(p.inner * p.columns for p in shapes.products(m, 1) if p.weight)


@checks(
    "attention_flop_decode", "decode_flop", over=st.tuples(dense(), TINY, SMALL, SMALL, st.integers(0, 7)), examples=60
)
def a_token_of_every_sequence(lib, case):
    m, batch, tokens, window, narrow = case
    narrow = min(narrow, m.layers)
    count = Einsum()
    for layer in range(m.layers):
        seen = range(tokens)[-window:] if layer < narrow else range(tokens)
        for _ in range(batch):
            attended(count, m, 1, len(seen))
    known = letters(m) | {"B_seq": batch, "S": tokens, "S_win": window, "L_win": narrow}
    assert at(lib.attention_flop_decode, **known) == count.flops
    step = at(lib.decode_flop, **known, P_act=active(m), ops_kv=count.flops)
    assert step == matrices(m, batch, batch) + count.flops


def latent(m, draw, seen):
    """Whole numbers for a layer of latent attention: queries, the cache, and the matrices of keys and values."""
    a = {"q": (m.heads, m.nope_dim), "r": (m.heads, m.rope_dim), "c": (seen, m.kv_rank), "p": (seen, m.rope_dim)}
    a |= {"k": (m.heads, m.nope_dim, m.kv_rank), "v": (m.heads, m.value_dim, m.kv_rank)}
    return {name: draw.integers(-3, 4, shape) for name, shape in a.items()}


def expanded(count, a):
    """Keys and values of all heads first, then scores and the weighted sum (no softmax: whole numbers stay exact)."""
    keys = count("hnr,sr->hsn", a["k"], a["c"])
    values = count("hvr,sr->hsv", a["v"], a["c"])
    joined = np.concatenate([keys, np.broadcast_to(a["p"], (*keys.shape[:2], a["p"].shape[1]))], axis=2)
    scores = count("hd,hsd->hs", np.concatenate([a["q"], a["r"]], axis=1), joined)
    return count("hs,hsv->hv", scores, values)


def absorbed(count, a):
    """The query to the latent width, the result back from it."""
    wide = count("hn,hnr->hr", a["q"], a["k"])
    scores = count("hd,sd->hs", np.concatenate([wide, a["r"]], axis=1), np.concatenate([a["c"], a["p"]], axis=1))
    return count("hr,hvr->hv", count("hs,sr->hr", scores, a["c"]), a["v"])


@checks(
    "attention_flop_absorbed",
    "attention_flop_unabsorbed",
    over=st.tuples(routed(latent=True), TINY, SMALL, st.integers(0, 9)),
    examples=40,
)
def both_orders_of_latent_attention(lib, case):
    """They give the same result. The matmuls of the new token's own key and value are counted with its weights."""
    m, batch, tokens, seed = case
    counts = Einsum(), Einsum()
    draw = np.random.default_rng(seed)
    for _ in range(batch * m.layers):
        a = latent(m, draw, tokens)
        results = [order(count, a) for order, count in zip((absorbed, expanded), counts, strict=True)]
        assert np.array_equal(*results)
    own = sum(p.flops for p in shapes.products(m, batch) if p.name in ("key up", "value up"))
    known = letters(m) | {"B_seq": batch, "S": tokens}
    assert at(lib.attention_flop_absorbed, **known) == counts[0].flops - own
    assert at(lib.attention_flop_unabsorbed, **known) == counts[1].flops - own


@checks("expanded_from", over=st.tuples(*[st.integers(1, 9)] * 5, st.integers(1, 3)))
def queries_tried_one_by_one(lib, case):
    """Both orders for more and more queries over the same cache: at the number found they take equally many FLOPs."""
    nope, rope, value, heads, seen, extra = case
    rank = (nope + value) // 2 + extra

    def taken(queries):
        wide, narrow = Einsum(), Einsum()
        narrow("hnr,sr->hsn", ones(heads, nope, rank), ones(seen, rank))
        narrow("hvr,sr->hsv", ones(heads, value, rank), ones(seen, rank))
        for _ in range(queries):
            for count, key, width in ((wide, rank + rope, rank), (narrow, nope + rope, value)):
                count("hd,sd->hs", ones(heads, key), ones(seen, key))
                count("hs,sv->hv", ones(heads, seen), ones(seen, width))
        return wide.flops - narrow.flops

    more = at(lib.expanded_from, r_kv=rank, d_nope=nope, d_v=value)
    ahead = taken(0)
    assert ahead + more * (taken(1) - ahead) == 0
    assert taken(5) == ahead + 5 * (taken(1) - ahead)


@checks("latent_intensity", over=st.tuples(routed(latent=True), SMALL, SMALL, WIDTHS))
def arrays_of_absorbed_attention(lib, case):
    m, ask, seen, width = case
    count = Einsum()
    queries, cache = ones(ask, m.heads, m.kv_rank + m.rope_dim), ones(seen, m.kv_rank + m.rope_dim)
    weights = count("nhd,sd->nhs", queries, cache)
    result = count("nhs,sr->nhr", weights, cache[:, : m.kv_rank])
    moved = width * (queries.size + cache.size + result.size)
    known = letters(m) | {"n_ask": ask, "S": seen, "b": width}
    assert at(lib.latent_intensity, **known) == Fraction(count.flops) / moved


# Prefill: token by token, each over those that it sees


def prompts(m):
    return st.tuples(m, SMALL, st.integers(0, 6))


@checks("prefill_flop", "prefill_flop_cached", over=prompts(dense()))
def a_prompt_token_by_token(lib, case):
    m, tokens, hit = case
    for cached in (0, min(hit, tokens - 1)):
        count = Einsum()
        for last in range(cached, tokens):
            for _ in range(m.layers):
                attended(count, m, 1, last + 1)
        known = letters(m) | {"S_in": tokens, "S_hit": cached, "P_act": active(m)}
        done = matrices(m, tokens - cached, 1) + count.flops
        assert at(lib.prefill_flop_cached, **known) == done
        if not cached:
            assert at(lib.prefill_flop, **known) == done


@checks("prefill_flop_windowed", over=st.tuples(prompts(dense()), SMALL, st.integers(0, 7)), examples=80)
def a_prompt_through_windows(lib, case):
    (m, tokens, hit), window, narrow = case
    hit, narrow = min(hit, tokens - 1), min(narrow, m.layers)
    count = Einsum()
    for last in range(hit, tokens):
        for layer in range(m.layers):
            seen = range(last + 1)[-window:] if layer < narrow else range(last + 1)
            attended(count, m, 1, len(seen))
    known = letters(m) | {"S_in": tokens, "S_hit": hit, "S_win": window, "L_win": narrow, "P_act": active(m)}
    assert at(lib.prefill_flop_windowed, **known) == matrices(m, tokens - hit, 1) + count.flops


@checks("prefill_flop_latent", over=prompts(routed(latent=True)))
def a_prompt_with_latent_attention(lib, case):
    """Expanded keys and values; those of tokens before the new ones come from the cache."""
    m, tokens, hit = case
    hit = min(hit, tokens - 1)
    one = shapes.Model(**vars(m) | {"layers": 1})
    known = letters(m) | {"S_in": tokens, "S_hit": hit, "P_act": active(m)}
    causal = shapes.attention_products(one, tokens, causal=True)
    new = [p for p in causal if p.columns > hit and p.name.startswith("scores")]
    new += [p for p in causal if p.inner > hit and p.name.startswith("weighted")]
    again = [replace_rows(p, hit) for p in shapes.layer_products(m, 0, 1) if p.name in ("key up", "value up")]
    done = m.layers * (shapes.flops(new) + shapes.flops(again)) + matrices(m, tokens - hit, 1)
    assert at(lib.prefill_flop_latent, **known) == done


def replace_rows(p, rows):
    return p._replace(rows=rows)
