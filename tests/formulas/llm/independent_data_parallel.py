"""Data parallelism: arithmetic counted in matmuls that are carried out, bytes in schedules that move them."""

from fractions import Fraction

import numpy as np
from formulas.collectives.independent_hierarchy import inner_axes, slowest
from formulas.harness import at, checks
from hypothesis import strategies as st
from support.other_schedules import Switched

from gpuscale.schedules.collectives import hierarchical, in_network, ring, switched
from gpuscale.schedules.collectives.routes import Tree

RATES = st.fractions(Fraction(1, 20), 20, max_denominator=20)
WIDTHS = st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([2, 4]))  # of weights, of gradients
SMALL = st.integers(1, 3)
# tokens of a rank, model width, feed-forward width, matrices
LAYER = st.tuples(SMALL, SMALL, SMALL, st.sampled_from([2, 3]))


class Number:
    """A number that counts how often numbers are multiplied; in a product each one is added up as well."""

    count = 0

    def __mul__(self, other):
        Number.count += 1
        return self

    def __add__(self, other):
        return self


def ones(rows: int, columns: int) -> np.ndarray:
    return np.array([[Number() for _ in range(columns)] for _ in range(rows)], dtype=object)


def operations(passes) -> int:
    """FLOPs of the matmuls that ``passes`` carries out."""
    Number.count = 0
    passes()
    return 2 * Number.count


def mlp(tokens: int, width: int, wide: int, matrices: int):
    """Forward and backward pass of an MLP whose last matrix leads back to the model width, and its weights."""
    x, dy = ones(tokens, width), ones(tokens, width)
    ups, down = [ones(width, wide) for _ in range(matrices - 1)], ones(wide, width)
    h = ones(tokens, wide)

    def forward():
        for up in ups:
            x @ up
        h @ down

    def backward():
        h.T @ dy, dy @ down.T  # the gradient of the last matrix, that of its input
        for up in ups:
            x.T @ h, h @ up.T

    return forward, backward, sum(w.size for w in [*ups, down])


@checks("dp_forward_math", "dp_math", "dp_tokens", over=st.tuples(LAYER, SMALL, RATES))
def products_of_an_mlp(lib, case):
    (tokens, width, wide, matrices), ranks, rate = case
    forward, backward, _ = mlp(tokens, width, wide, matrices)
    given = {"B": tokens * ranks, "D": width, "F": wide, "n_mat": matrices, "X": ranks, "C": rate}
    assert at(lib.dp_forward_math, **given) == operations(forward) / rate
    assert at(lib.dp_math, **given) == operations(backward) / rate
    split = np.array_split(np.arange(tokens * ranks), ranks)
    assert {at(lib.dp_tokens, **given)} == {len(part) for part in split}


@checks("moe_dp_math", "moe_dp_comms", "moe_dp_threshold", over=st.tuples(LAYER, SMALL, SMALL, SMALL, RATES, RATES))
def products_and_gradients_of_experts(lib, case):
    (tokens, width, wide, matrices), each, k, ranks, rate, link = case
    experts = k * each
    rows = tokens * k  # an even load: each expert of a rank gets as many rows of its E x tokens x k / E
    passes, weights = [], 0
    for _ in range(experts):
        _, backward, size = mlp(rows, width, wide, matrices)
        passes.append(backward)
        weights += size
    math = Fraction(operations(lambda: [p() for p in passes])) / rate  # of experts x rows / k tokens
    on_a_rank = experts * tokens
    given = {"B": on_a_rank * ranks, "D": width, "F": wide, "n_mat": matrices, "X": ranks, "C": rate, "W": link}
    given |= {"k": k, "E": experts, "b_grad": 2}
    comms = ring.all_reduce(ranks).time(0, link, 2 * weights)
    assert at(lib.moe_dp_math, **given) == math
    assert at(lib.moe_dp_comms, **given) == comms
    assert at(lib.moe_dp_threshold, **given) == on_a_rank * comms / math


@checks("dp_traffic", "zero2_traffic", "zero3_traffic", over=st.tuples(st.integers(1, 9), WIDTHS))
def bytes_of_a_step(lib, case):
    ranks, (weight, gradient) = case
    given = {"P": 5, "X": ranks, "b_w": weight, "b_grad": gradient}
    gather, scatter, both = (f(ranks).busiest() for f in (ring.all_gather, ring.reduce_scatter, ring.all_reduce))
    assert at(lib.dp_traffic, **given) == 5 * gradient * both
    assert at(lib.zero2_traffic, **given) == 5 * (gradient * scatter + weight * gather)
    assert at(lib.zero3_traffic, **given) == 5 * (weight * gather + weight * gather + gradient * scatter)


TIMED = st.tuples(LAYER, st.integers(1, 7), RATES, RATES, WIDTHS)


def layer(case):
    """Math of the two passes, bytes of weights and of gradients, and what the formulas take."""
    (tokens, width, wide, matrices), ranks, rate, link, (weight, gradient) = case
    forward, backward, size = mlp(tokens, width, wide, matrices)
    given = {"B": tokens * ranks, "D": width, "F": wide, "n_mat": matrices, "X": ranks, "C": rate, "W": link}
    given |= {"b_w": weight, "b_grad": gradient}
    return tokens, operations(forward) / rate, operations(backward) / rate, size, given


@checks("dp_comms", "dp_threshold", over=TIMED)
def gradients_summed_by_a_ring(lib, case):
    tokens, _, math, size, given = layer(case)
    comms = ring.all_reduce(given["X"]).time(0, given["W"], size * given["b_grad"])
    assert at(lib.dp_comms, **given) == comms
    assert at(lib.dp_threshold, **given) == tokens * comms / math


@checks("switch_dp_threshold", over=TIMED.filter(lambda case: case[1] > 1))
def gradients_summed_in_a_switch(lib, case):
    tokens, _, math, size, given = layer(case)
    comms = in_network.all_reduce(given["X"]).busiest() * size * given["b_grad"] / given["W"]
    tree = switched.all_reduce((given["X"],)).per_link(Switched((given["X"],)))
    assert comms == max(tree.values()) * size * given["b_grad"] / given["W"]
    assert at(lib.switch_dp_threshold, **given) == tokens * comms / math


@checks(
    "zero3_forward_comms", "zero3_backward_comms", "zero3_forward_threshold", "zero3_backward_threshold", over=TIMED
)
def weights_gathered_in_each_pass(lib, case):
    tokens, forward, backward, size, given = layer(case)
    gather = ring.all_gather(given["X"]).time(0, given["W"], size * given["b_w"])
    scatter = ring.reduce_scatter(given["X"]).time(0, given["W"], size * given["b_grad"])
    for name, comms, math in (("forward", gather, forward), ("backward", gather + scatter, backward)):
        assert at(getattr(lib, f"zero3_{name}_comms"), **given) == comms
        assert at(getattr(lib, f"zero3_{name}_threshold"), **given) == tokens * comms / math


def of_a_gpu(tokens: int, rate) -> tuple[Fraction, int]:
    """Seconds of the backward pass of a layer on a GPU that has all of it, and its elements."""
    _, backward, size = mlp(tokens, 2, 3, 2)
    return operations(backward) / rate, size


FABRIC = st.tuples(st.tuples(st.integers(1, 4), st.integers(1, 4)), st.tuples(RATES, RATES), RATES)


@checks("two_level_dp_threshold", "two_level_dp_transit_threshold", "seen_dp_threshold", over=FABRIC)
def gradients_over_every_link(lib, case):
    (gpus, nodes), rates, rate = case
    math, size = of_a_gpu(3, rate)
    given = {"G": gpus, "W_nvl": rates[0], "W_node": rates[1], "M": nodes, "b_grad": 2, "C": rate}
    for rails, name in ((True, "two_level_dp_threshold"), (False, "two_level_dp_transit_threshold")):
        loads = hierarchical.all_reduce((gpus, nodes)).per_link(Tree((gpus, nodes), rails))
        least = 3 * slowest(loads, rates) * size * 2 / math
        assert at(getattr(lib, name), **given) == least
        if least:
            seen = 2 / slowest(loads, rates)
            assert at(lib.seen_dp_threshold, b_grad=2, C=rate, W_coll=seen) == least


@checks("sharded_dp_threshold", over=FABRIC)
def gradients_of_copies_on_several_gpus(lib, case):
    """A copy of the model is spread over ``inner`` GPUs: each does that fraction of the matmuls of its own tokens."""
    (gpus, nodes), rates, rate = case
    for inner in [*inner_axes((gpus, nodes)), 2 * gpus * nodes]:  # the last is a copy on more than these nodes
        math, size = of_a_gpu(2 * inner, rate)  # tokens of a copy: two for each of its GPUs
        tree = (gpus, nodes) if inner <= gpus * nodes else (gpus, nodes, 2)
        loads = hierarchical.all_reduce(tree, inner).per_link(Tree(tree, rails=True))
        given = {"G": gpus, "W_nvl": rates[0], "W_node": rates[1], "M": nodes, "Y": inner, "b_grad": 2, "C": rate}
        comms = slowest(loads, rates) * size * 2
        assert at(lib.sharded_dp_threshold, **given) == 2 * comms / (math / inner)


@checks("dp_batch", "dp_gpus", over=st.tuples(st.integers(1, 9), st.integers(1, 9)))
def tokens_dealt_out(lib, case):
    """Tokens are handed round until every GPU has enough; then GPUs are added until one of them has too few."""
    gpus, least = case
    held, batch = [0] * gpus, 0
    while min(held) < least:
        held[batch % gpus] += 1
        batch += 1
    assert at(lib.dp_batch, N_gpu=gpus, B_min=least) == batch
    enough = [n for n in range(1, batch + 1) if min(map(len, np.array_split(np.arange(batch), n))) >= least]
    assert at(lib.dp_gpus, B=batch, B_min=least) == max(enough)
