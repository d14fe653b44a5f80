"""Tensor and context parallelism: layers computed on several ranks with real arrays, FLOPs and bytes counted."""

from fractions import Fraction

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st
from support.other_layers import exchanged_attention, gathered_attention, whole_mlp, whole_mlp_backward
from support.reference_machines import bisected

from gpuscale.emulate import ring_attention, sharded
from gpuscale.schedules.collectives import hierarchical, ring
from gpuscale.schedules.collectives.routes import Tree, worst

RATES = st.fractions(Fraction(1, 9), 9, max_denominator=9)
# ranks, tokens of a rank, width, hidden numbers of a rank, matrices, C, W
SHAPES = st.tuples(st.integers(2, 5), *[st.integers(1, 3)] * 3, st.sampled_from([2, 3]), RATES, RATES)


def numbers(*shape) -> np.ndarray:
    """Small whole numbers, the same each time: sums and products of them are exact."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape)


def layer(case):
    """The arrays of an MLP, and its inputs to the formulas."""
    ranks, tokens, width, hidden, matrices, peak, rate = case
    x, out = numbers(tokens * ranks, width), numbers(hidden * ranks, width)
    into = [numbers(width, hidden * ranks) + i for i in range(matrices - 1)]
    given = {"B": len(x), "D": width, "F": hidden * ranks, "n_mat": matrices, "Y": ranks, "b": x.itemsize}
    return x, into, out, given | {"C": peak, "W": rate}


def need(formula, given, **more) -> Fraction:
    """The formula at those of the inputs that it takes."""
    values = given | more
    return at(formula, **{q.name: values[q.name] for q in formula.inputs})


@checks("tp_math", "tp_comms", "tp_efficiency", "block_activations", over=SHAPES)
def an_mlp_computed_on_several_ranks(lib, case):
    x, into, out, given = layer(case)
    shares, work = sharded.mlp(x, into, out, given["Y"])
    np.testing.assert_array_equal(np.concatenate(shares), whole_mlp(x, into, out))
    math, comms = (Fraction(work.flops[0]) / given["C"], work.sent / given["W"])
    assert need(lib.tp_math, given) == math and need(lib.tp_comms, given) == comms
    assert need(lib.tp_efficiency, given) == math / (math + comms)
    assert need(lib.block_activations, given) == x.nbytes == work.held[0]


@checks("tp_comms", over=SHAPES)
def an_all_reduce_moves_the_same_bytes(lib, case):
    x, into, out, given = layer(case)
    copies, work = sharded.mlp(x, into, out, given["Y"], sequence=False)
    for copy in copies:
        np.testing.assert_array_equal(copy, whole_mlp(x, into, out))
    assert need(lib.tp_comms, given) == work.sent / given["W"]


@checks("tp_backward_comms", "tp_math", over=SHAPES)
def slopes_computed_on_several_ranks(lib, case):
    x, into, out, given = layer((*case[:4], 2, *case[5:]))
    gradient = numbers(*x.shape) + 1
    found, work = sharded.mlp_backward(x, into[0], out, gradient, given["Y"])
    whole = whole_mlp_backward(x, into[0], out, gradient)
    for name, axis in (("x", 0), ("into", 1), ("out", 0)):
        np.testing.assert_array_equal(np.concatenate(found[name], axis), whole[name])
    assert need(lib.tp_backward_comms, given) == work.sent / given["W"]
    assert 2 * need(lib.tp_math, given) == work.flops[0] / given["C"]


@checks("tp_separate_comms", over=st.tuples(SHAPES, st.integers(1, 3)))
def separate_matmuls_of_one_input(lib, case):
    """Gradients of an input that several matrices, sharded by columns, are multiplied with: added one by one, or all at
    once as if the matrices were one."""
    (ranks, tokens, width, hidden, *_, rate), uses = case
    tokens *= ranks
    weights = [numbers(width, hidden * ranks) + i for i in range(uses)]
    gradients = [numbers(tokens, hidden * ranks) + i + 1 for i in range(uses)]
    whole = sum(g @ w.T for g, w in zip(gradients, weights, strict=True))
    parts = []  # of each matrix, one for each rank
    for g, w in zip(gradients, weights, strict=True):
        cut = zip(sharded.columns(g, ranks), sharded.columns(w, ranks), strict=True)
        parts.append([mine @ columns.T for mine, columns in cut])
    given = {"B": tokens, "D": width, "Y": ranks, "b": whole.itemsize, "W": rate}
    one_by_one, at_once = sharded.Work(ranks), sharded.Work(ranks)
    np.testing.assert_array_equal(sum(one_by_one.reduce(of_one)[0] for of_one in parts), whole)
    np.testing.assert_array_equal(at_once.reduce([sum(of_rank) for of_rank in zip(*parts, strict=True)])[0], whole)
    assert need(lib.tp_separate_comms, given, n_use=uses) == one_by_one.sent / rate
    assert need(lib.tp_separate_comms, given, n_use=1) == at_once.sent / rate


@checks("tp_limit", over=SHAPES)
def the_width_at_which_both_take_equally_long(lib, case):
    """Work grows with F, bytes do not: the F of equal times, by counting, has Y as its limit."""
    x, into, out, given = layer(case)
    _, work = sharded.mlp(x, into, out, given["Y"])
    equal = given["F"] * (work.sent / given["W"]) / (work.flops[0] / given["C"])
    assert need(lib.tp_limit, given, F=equal) == given["Y"]


@checks("tp_latency", "tp_half_batch", over=st.tuples(SHAPES, RATES))
def start_ups_of_two_rings(lib, case):
    x, into, out, given = layer(case[0])
    ranks, wait = given["Y"], case[1]
    rings = ring.all_gather(ranks), ring.reduce_scatter(ranks)
    took = sum(r.time(wait, given["W"], x.nbytes) for r in rings)
    assert need(lib.tp_latency, given, alpha=wait) == took
    waits, bytes_ = (sum(r.time(*cost, x.nbytes) for r in rings) for cost in ((wait, 10**30), (0, given["W"])))
    even = need(lib.tp_half_batch, given, alpha=wait)  # at that many tokens the bytes take as long as the latencies
    assert abs(bytes_ / len(x) * even / waits - 1) < Fraction(1, 10**20)


# Nodes of several GPUs: the bytes on every physical link

NODES = st.tuples(st.integers(2, 4), st.integers(1, 4), st.tuples(RATES, RATES))


def slowest(nodes, gpus, rates, inner=1):
    """Seconds for each byte of an all-gather over all GPUs."""
    loads = worst(hierarchical.all_gather((gpus, nodes), inner).per_link(Tree((gpus, nodes), rails=True)))
    return max((share / rates[level - 1] for level, share in loads.items()), default=Fraction(0))


@checks("tp_node_comms", over=NODES)
def activations_over_every_link(lib, case):
    gpus, nodes, rates = case
    given = {"B": 6, "D": 5, "b": 3, "G": gpus, "W_nvl": rates[0], "W_node": rates[1]}
    assert at(lib.tp_node_comms, Y=gpus * nodes, **given) == 2 * 6 * 5 * 3 * slowest(nodes, gpus, rates)
    for part in range(1, gpus):  # a part of one node
        took = 2 * 6 * 5 * 3 * slowest(1, part, rates)
        assert at(lib.tp_node_comms, Y=part, **given) == took


@checks("tp_node_limit", over=st.tuples(st.integers(2, 4), st.integers(2, 4), st.tuples(RATES, RATES), SHAPES))
def the_width_at_which_full_nodes_are_even(lib, case):
    gpus, nodes, rates, shape = case
    x, into, out, given = layer((1, *shape[1:]))
    _, work = sharded.mlp(x, into, out, 1)
    each = Fraction(work.flops[0]) / given["F"] / (gpus * nodes) / given["C"]  # arithmetic of a rank, for F = 1
    equal = 2 * x.nbytes * slowest(nodes, gpus, rates) / each
    links = {"G": gpus, "W_nvl": rates[0], "W_node": rates[1]}
    assert need(lib.tp_node_limit, given, **links, F=equal) == gpus * nodes


@checks("relaxed_dp_limit", "mixed_dp_limit", over=st.tuples(NODES, st.integers(1, 3), st.tuples(RATES, RATES, RATES)))
def gradients_beside_a_model_of_several_ranks(lib, case):
    """A model of P weights on Y ranks: each gathers its share over X and reduce-scatters its gradients."""
    (gpus, nodes, rates), more, (peak, weight, grad) = case
    for inner in {1, 2 if gpus % 2 == 0 else 1, gpus, gpus * nodes}:
        ranks = gpus * nodes * more
        copies, params = ranks // inner, 7
        each = slowest(nodes * more, gpus, rates, inner)
        comms = params * (weight + grad) * each
        backward = 4 * Fraction(params) / inner / peak  # two multiplications per weight, for one token of a model
        given = {"C": peak, "b_w": weight, "b_grad": grad, "G": gpus, "X": copies, "Y": inner}
        tokens = comms / backward / inner  # for each GPU
        assert at(lib.mixed_dp_limit, **given, W_nvl=rates[0], W_node=rates[1]) == tokens
        if inner % gpus == 0:
            assert at(lib.relaxed_dp_limit, **given, W_node=rates[1]) == tokens


# FSDP over one axis, tensor parallelism over the other

AXES = st.tuples(st.integers(1, 5), st.integers(1, 4), *[st.integers(1, 3)] * 3, st.sampled_from([2, 3]), *[RATES] * 4)


@checks("fsdp_tp_comms", over=AXES)
def weights_over_one_axis_and_tokens_over_the_other(lib, case):
    copies, ranks, tokens, width, hidden, matrices, weight, size, slow, fast = case
    x = numbers(tokens * copies * ranks, width)
    mine = np.split(x, copies)[0]  # the tokens of a replica
    sliced = sum(sharded.columns(numbers(width, hidden * ranks), ranks)[0].size for _ in range(matrices))
    gathered = ring.all_gather(copies).busiest() * sliced * weight / slow
    swapped = (ring.all_gather(ranks).busiest() + ring.reduce_scatter(ranks).busiest()) * mine.size * size / fast
    given = {"B": len(x), "D": width, "F": hidden * ranks, "n_mat": matrices, "X": copies, "Y": ranks}
    assert at(lib.fsdp_tp_comms, **given, b_w=weight, b=size, W_dp=slow, W_tp=fast) == gathered + swapped


POSITIVE = st.floats(0.1, 10)


@checks("best_fsdp", over=st.tuples(st.integers(4, 9), st.sampled_from([2, 3]), *[POSITIVE] * 4))
def every_split_of_the_gpus(lib, case):
    """The least of the two times together: by halving an interval, and among all pairs of powers of two."""
    power, matrices, weight, size, slow, fast = case
    gpus, tokens, hidden = 2**power, 96, 64

    def took(copies):
        ranks = gpus / copies
        lacked = sum(hidden / ranks - hidden / gpus for _ in range(matrices))  # rows of the weights, and then of tokens
        moved = (tokens / copies - tokens / gpus) + (tokens / copies - tokens / gpus)
        return lacked * weight / slow + moved * size / fast

    best = bisected(lambda x: took(x * 1.01) - took(x / 1.01), 1e-6, 1e9)  # as long on both sides of it
    given = {"B": tokens, "F": hidden, "n_mat": matrices, "b_w": weight, "b": size, "W_dp": slow, "W_tp": fast}
    ours = lib.best_fsdp(N_gpu=gpus, **given)
    close(ours, best, 1e-6)
    whole = min((2**i for i in range(power + 1)), key=took)
    assert whole / 2 <= min(max(ours, 1), gpus) <= 2 * whole


@checks("best_fsdp")
def published_degree(lib):
    """Two axes of a torus for FSDP and one for tensor parallelism. How to Scale Your Model, parts 5 and 6."""
    for gpus, tokens, hidden, degree in ((64, 48 * 1024, 32_768, 13.9), (8960, 4.19e6, 28_672, 1618)):
        given = {"B": tokens, "N_gpu": gpus, "F": hidden, "n_mat": 2, "b": 2, "b_w": 2}
        close(lib.best_fsdp(**given, W_dp=180e9, W_tp=90e9), degree, 4e-3)


# Attention by heads

HEADS = st.tuples(
    st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]), st.integers(1, 3), st.integers(1, 2), RATES, RATES
)


def attend(case):
    """A block of four query heads of which some share a key head, its result checked against one rank."""
    ranks, key_heads, width, tokens, peak, rate = case
    x = numbers(4 * tokens, 5) / 3
    shapes = ((5, 4 * width), (5, key_heads * width), (5, key_heads * width), (4 * width, 5))
    weights = [numbers(*shape) / 3 for shape in shapes]
    shares, work = ring_attention.heads(x, *weights, ranks, width)
    alone, _ = ring_attention.heads(x, *weights, 1, width)
    np.testing.assert_allclose(np.concatenate(shares), alone[0], rtol=1e-9, atol=1e-12)
    given = {"B": len(x), "S": len(x), "D": 5, "n_q": 4, "n_kv": key_heads, "d_head": width, "Y": ranks}
    return work, sum(w.size for w in weights), given | {"b": x.itemsize, "C": peak, "W": rate}


@checks("tp_attention_math", "tp_attention_params", over=HEADS)
def heads_computed_on_several_ranks(lib, case):
    work, params, given = attend(case)
    assert need(lib.tp_attention_math, given) == work.flops[0] / given["C"]
    if given["Y"] <= given["n_kv"]:
        assert need(lib.tp_attention_params, given) * given["Y"] == params
    held = given["D"] * given["d_head"] * 2 * (4 // given["Y"] + max(given["n_kv"] // given["Y"], 1))
    assert need(lib.tp_attention_params, given) == held


@checks("tp_attention_limit", "tp_layer_limit", over=st.tuples(HEADS, SHAPES))
def the_bandwidth_at_which_a_layer_is_even(lib, case):
    """The W of equal times, by counting, has Y as its limit."""
    (_, _, *rest), shape = case
    work, _, given = attend((2, 4, *rest))
    rate = work.sent / (work.flops[0] / given["C"])
    assert need(lib.tp_attention_limit, given, W=rate) == 2
    tokens, matrices = given["B"], shape[4]
    x, out = numbers(tokens, 5) / 3, numbers(4, 5) / 3
    _, mlp = sharded.mlp(x, [numbers(5, 4) / 3] * (matrices - 1), out, 2)
    rate = (work.sent + mlp.sent) / ((work.flops[0] + mlp.flops[0]) / given["C"])
    assert need(lib.tp_layer_limit, given, F=4, n_mat=matrices, W=rate) == 2


# One sequence over ranks

CUT = st.tuples(st.integers(2, 4), st.integers(1, 2), st.sampled_from([1, 2, 4]), st.integers(1, 2), RATES, RATES)


def sequence(case, causal=True, zigzag=True):
    """Queries, keys and values over ranks; the ring's result is checked against one rank."""
    ranks, pieces, key_heads, width, peak, rate = case
    tokens = 2 * ranks * pieces
    q, k, v = (numbers(tokens, heads, width) / 3 for heads in (4, key_heads, key_heads))
    v = v + 1
    alone = ring_attention.attention(q, k, v, causal)
    found, log = ring_attention.ring_attention(q, k, v, ranks, causal, zigzag)
    np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12)
    given = {"S": tokens, "n_q": 4, "n_kv": key_heads, "d_head": width, "n_cp": ranks, "b": q.itemsize}
    return (q, k, v), alone, log, given | {"C": peak, "W": rate}


def flops(pairs: int, given) -> int:
    """Scores and weighted values of all heads, two FLOPs per multiply-add."""
    return 2 * 2 * pairs * given["n_q"] * given["d_head"]


@checks("ring_step_comms", "ring_kv_held", "ring_step_math", "cp_math", over=CUT)
def a_sequence_passed_around_a_ring(lib, case):
    _, _, log, given = sequence(case)
    assert len(log.sent) == given["n_cp"] - 1
    assert {sent / given["W"] for sent in log.sent} == {need(lib.ring_step_comms, given)}
    assert log.held == need(lib.ring_kv_held, given)
    for step in log.pairs[1:]:
        assert {flops(pairs, given) / given["C"] for pairs in step} == {need(lib.ring_step_math, given)}
    assert {sum(rank) for rank in zip(*log.pairs, strict=True)} == {sum(map(sum, log.pairs)) // given["n_cp"]}
    assert flops(sum(step[0] for step in log.pairs), given) / given["C"] == need(lib.cp_math, given)


@checks("ring_attention_limit", over=CUT)
def the_bandwidth_at_which_a_step_is_even(lib, case):
    """The W at which a step's transfer takes as long as its arithmetic: there the tokens of a rank are the limit."""
    _, _, log, given = sequence(case)
    rate = log.sent[0] / (flops(log.pairs[1][0], given) / given["C"])
    assert need(lib.ring_attention_limit, given, W=rate) == Fraction(given["S"], given["n_cp"])


@checks("cp_gather_comms", "gathered_kv_held", over=CUT)
def keys_and_values_gathered(lib, case):
    arrays, alone, _, given = sequence(case)
    found, work, log = gathered_attention(*arrays, given["n_cp"])
    np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12)
    assert need(lib.cp_gather_comms, given) == work.sent / given["W"]
    assert need(lib.gathered_kv_held, given) == log.held


@checks("cp_imbalance", over=CUT)
def a_sequence_cut_in_a_row(lib, case):
    _, _, log, given = sequence(case, zigzag=False)
    each = [sum(rank) for rank in zip(*log.pairs, strict=True)]
    assert need(lib.cp_imbalance, given) == Fraction(max(each) * given["n_cp"], sum(each))


@checks("head_exchange_comms", over=CUT)
def tokens_swapped_for_heads(lib, case):
    arrays, alone, _, given = sequence((2, case[1], 4, *case[3:]))
    for ranks in (2, 4):
        found, sent = exchanged_attention(*arrays, ranks)
        np.testing.assert_allclose(found, alone, rtol=1e-9, atol=1e-12)
        assert need(lib.head_exchange_comms, given, n_cp=ranks) == sum(sent) / given["W"]
