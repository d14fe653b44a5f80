"""Decode on many GPUs: heads, tokens and experts dealt to ranks one by one; partial attention merged for real."""

from fractions import Fraction
from itertools import combinations, product
from math import lcm

import numpy as np
from formulas.harness import at, checks
from hypothesis import strategies as st

SMALL, TINY, AMOUNT = st.integers(1, 6), st.integers(1, 3), st.integers(1, 60)
POWERS = st.sampled_from([1, 2, 4, 8])


@checks("decode_tensor_parallel", "gain_ends", over=st.tuples(AMOUNT, SMALL, TINY, SMALL, SMALL))
def layers_one_after_another(lib, case):
    """Each layer: its weights are read, with an all-reduce after attention and one after the MLP, and a launch."""
    read, layers, ranks, reduce, launch = case

    def clock(ranks):
        return sum(Fraction(read, layers) / ranks + reduce + reduce + launch for _ in range(layers))

    x = {"T_mem": read, "L": layers, "t_ar": reduce, "t_layer": launch}
    assert at(lib.decode_tensor_parallel, **x, Y=ranks) == clock(ranks)
    half = at(lib.gain_ends, **x)
    assert clock(half) == 2 * (clock(half) - Fraction(read) / half)
    assert clock(2 * half) == clock(half) * Fraction(3, 4)


@checks("whole_head_read", over=st.tuples(SMALL, SMALL, SMALL, TINY, TINY))
def rows_of_the_head(lib, case):
    """Columns of the layers dealt to ranks; the head's rows are read by all."""
    layers, vocab, width, each, code = case
    for ranks in (1, 2, 3):
        columns = [i % ranks for i in range(layers * ranks)]
        head = [code for _ in range(vocab) for _ in range(width)]
        read = columns.count(0) * each + sum(head)
        everything = len(columns) * each + sum(head)
        known = {"V_w": everything, "Y": ranks, "b_head": code, "n_vocab": vocab, "D": width}
        assert at(lib.whole_head_read, **known) == read


def heads_of_ranks(ranks, heads, group):
    """The key-value heads that each rank needs for its queries."""
    queries = lcm(ranks, heads * group)
    of = [(q * heads) // queries for q in range(queries)]
    return [set(of[r * queries // ranks : (r + 1) * queries // ranks]) for r in range(ranks)]


@checks("cache_replication", "cache_per_gpu", over=st.tuples(POWERS, POWERS, TINY, TINY))
def heads_dealt_to_ranks(lib, case):
    ranks, heads, group, head_bytes = case
    held = heads_of_ranks(ranks, heads, group)
    copies = Fraction(sum(map(len, held)), heads)
    assert at(lib.cache_replication, Y=ranks, n_kv=heads) == copies
    assert at(lib.cache_per_gpu, Y=ranks, n_kv=heads, V_tok=heads * head_bytes) == len(held[0]) * head_bytes


@checks(
    "data_parallel_attention",
    "data_parallel_read",
    over=st.tuples(POWERS, POWERS, POWERS, SMALL, SMALL, TINY, SMALL),
    examples=60,
)
def tokens_until_memory_is_full(lib, case):
    """Each GPU's memory as a list of bytes: weights first, then token after token to the group with most left."""
    ranks, groups, heads, attention, others, token, tokens = case
    gpus = ranks * groups
    own = Fraction(attention, ranks) + others  # each GPU has its part of attention, and of the rest
    per_token = Fraction(token, heads) * len(heads_of_ranks(ranks, heads, 1)[0])
    memory = own + per_token * tokens
    left, found = [memory - own] * groups, 0
    while max(left) >= per_token:
        left[left.index(max(left))] -= per_token
        found += 1
    once = attention + others * gpus
    x = {"N_gpu": gpus, "Y": ranks, "n_kv": heads, "V_tok": token, "V_attn": attention, "f_mem": Fraction(1, 2)}
    assert at(lib.data_parallel_attention, **x, S_hbm=2 * memory, V_res=once) == found
    assert at(lib.data_parallel_read, **x, V_w=once) == own


# A cache whose tokens are on several ranks


def attend(queries, keys, values):
    """Results and log-sum-exps: [sequence, head]."""
    scores = np.einsum("bhd,bshd->bhs", queries, keys)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhs,bshv->bhv", weights / total, values), (peak + np.log(total))[..., 0]


def merged(results, sums):
    """One result of partial ones, each weighted by what its tokens have of the whole softmax."""
    whole = np.logaddexp.reduce(sums)
    return sum(np.exp(lse - whole)[..., None] * result for result, lse in zip(results, sums, strict=True))


@checks("cache_sharded_merge", over=st.tuples(TINY, TINY, SMALL, SMALL, st.integers(1, 4), st.integers(0, 9)))
def partial_attention_merged(lib, case):
    """Queries go to all ranks; each attends to its tokens; the partial results of a head meet on its rank."""
    batch, each, width, value, ranks, seed = case
    draw = np.random.default_rng(seed)
    heads, tokens = each * ranks, 5 * ranks
    queries = draw.normal(size=(batch, heads, width))
    keys, values = (draw.normal(size=(batch, tokens, heads, d)) for d in (width, value))
    sent = [0] * ranks
    for rank in range(ranks):  # its queries to the others
        sent[rank] += 2 * sum(queries[:, rank * each : (rank + 1) * each].size for _ in range(ranks - 1))
    parts = [attend(queries, *(a[:, rank::ranks] for a in (keys, values))) for rank in range(ranks)]
    found = np.empty((batch, heads, value))
    for home in range(ranks):
        own = slice(home * each, (home + 1) * each)
        there = [(result[:, own], lse[:, own]) for result, lse in parts]
        found[:, own] = merged(*zip(*there, strict=True))
        for rank, (result, lse) in enumerate(there):
            sent[rank] += 0 if rank == home else 4 * (result.size + lse.size)
    np.testing.assert_allclose(found, attend(queries, keys, values)[0], rtol=1e-9, atol=1e-12)
    known = {"B_seq": batch, "n_q": heads, "d_head": width, "d_v": value, "n_cp": ranks, "b": 2, "b_part": 4}
    assert {at(lib.cache_sharded_merge, **known)} == set(sent)


# Experts


@checks("expert_parallel_exchange", over=st.tuples(TINY, TINY, TINY, TINY, TINY, SMALL))
def copies_sent_to_experts(lib, case):
    """Every way to pick experts, all equally likely; copies to other nodes cross the NIC of their sender."""
    nodes, node, active, batch, width, bandwidth = case
    ranks = nodes * node
    experts = lcm(ranks, 4)
    choices = list(combinations(range(experts), active))
    away = sum(expert * ranks // experts >= node for chosen in choices for expert in chosen)
    bytes_of = [1 * width, 2 * width]  # to the expert, and back
    crossed = sum(batch * Fraction(away, len(choices)) * size for size in bytes_of)
    known = {"alpha": 3, "B_gpu": batch, "k": active, "D": width, "b_dispatch": 1, "b_combine": 2}
    known |= {"Z": ranks, "G": node, "W_nic": bandwidth}
    assert at(lib.expert_parallel_exchange, **known) == crossed / bandwidth + sum([3, 3])


@checks("expert_imbalance", over=st.tuples(st.integers(1, 5), st.integers(1, 5), TINY))
def tokens_of_one_expert(lib, case):
    """The spread over every way to route a batch."""
    experts, active, tokens = case
    active = min(active, experts)
    choices = list(combinations(range(experts), active))
    tokens = min(tokens, 2) if len(choices) > 6 else tokens
    loads = [sum(0 in chosen for chosen in found) for found in product(choices, repeat=tokens)]
    try:
        spread = lib.expert_imbalance(E=experts, k=active, B=tokens)
    except TypeError as error:  # the root of a negative number
        raise AssertionError from error
    np.testing.assert_allclose(spread, np.std(loads) / np.mean(loads), atol=1e-12)


@checks("fullest_expert", over=st.tuples(st.sampled_from([2, 3, 8, 64, 256]), st.sampled_from([0.05, 0.2, 0.5])))
def the_best_of_many_bounds(lib, case):
    """For every t > 0, e^(t max) is at most the sum of all e^(t x): a bound for the mean of the largest. The best t."""
    experts, spread = case
    t = np.geomspace(0.01, 100, 200_001)
    least = np.min((np.log(experts) + (t * spread) ** 2 / 2) / t)
    np.testing.assert_allclose(lib.fullest_expert(E=experts, f_spread=spread), 1 + least, rtol=1e-6)


@checks("fullest_expert")
def largest_of_drawn_loads(lib):
    """The mean of the largest of 256 loads is below the bound, but not by much."""
    draw = np.random.default_rng(5)
    ranked = draw.random((200, 256, 64)).argpartition(8, axis=-1)[..., :8]
    loads = np.array([np.bincount(one.ravel(), minlength=64) for one in ranked])
    spread = lib.expert_imbalance(E=64, k=8, B=256)
    found, most = np.mean(loads.max(axis=1)) / 32, lib.fullest_expert(E=64, f_spread=spread)
    assert most * 0.9 < found < most


# A pipeline


@checks("pipeline_decode", over=st.tuples(st.integers(1, 5), SMALL, st.integers(0, 3)))
def batches_round_and_round(lib, case):
    """As many batches as stages; a stage works on one at a time, in the order in which they arrive."""
    stages, each, hop = case
    idle = [0] * stages
    ready = [0] * stages  # when each batch reaches its next stage
    finished = [[] for _ in range(stages)]
    for _ in range(4):
        for stage in range(stages):
            for batch in sorted(range(stages), key=ready.__getitem__):
                idle[stage] = max(idle[stage], ready[batch]) + each
                ready[batch] = idle[stage] + hop
        for batch in range(stages):
            finished[batch].append(ready[batch])
    rounds = {after - before for times in finished for before, after in zip(times[1:], times[2:], strict=False)}
    assert rounds == {at(lib.pipeline_decode, T_mem=stages * each, N_stages=stages, T_hop=hop)}
