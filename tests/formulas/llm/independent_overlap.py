"""Overlap: both sides of each ratio counted separately, by matmuls that are carried out and bytes that are moved;
buckets and slowdowns played as intervals in time."""

from fractions import Fraction

import numpy as np
from formulas.harness import at, checks, close
from formulas.llm.independent_data_parallel import LAYER, RATES, SMALL, mlp, operations
from formulas.llm.independent_expert_parallel import BYTES, every_choice, from_first, hits, moved, passed
from formulas.llm.independent_tensor_parallel import SHAPES, layer, need
from hypothesis import strategies as st

from gpuscale.emulate import sharded
from gpuscale.schedules.collectives import hierarchical, ring
from gpuscale.schedules.collectives.routes import Tree, worst
from gpuscale.schedules.timelines import buckets

TIMES = st.fractions(Fraction(1, 20), 20, max_denominator=20)
COUNTS = st.integers(1, 12)
ELEMENT = st.sampled_from([1, 2, 4])


def side_by_side(work, comms, overlap=True):
    """One piece of arithmetic and one of communication: at once, or one after the other."""
    start = Fraction(0) if overlap else work
    return [buckets.Piece("arithmetic", Fraction(0), work, 0), buckets.Piece("network", start, start + comms, 0)]


def slowed(work, comms, slow):
    """Both start at once; while the network is busy the arithmetic runs ``slow`` times as long for the same work."""
    done_by_then = comms / slow  # of the work, in time at full speed
    finish = work * slow if done_by_then >= work else comms + (work - done_by_then)
    return side_by_side(finish, comms)


def took(pieces):
    return buckets.end(pieces)


@checks(
    "comm_ratio",
    "serial_time",
    "overlapped_time",
    "exposed_time",
    "exposed_fraction",
    "overlap_gain",
    over=st.tuples(TIMES, TIMES),
)
def two_pieces_beside_each_other(lib, case):
    math, comms = case
    given = {"T_math": math, "T_comms": comms}
    at_once, in_turn = side_by_side(math, comms), side_by_side(math, comms, overlap=False)
    assert at(lib.overlapped_time, **given) == took(at_once)
    assert at(lib.serial_time, **given) == took(in_turn)
    late = Fraction(math + 1)  # so that something is exposed in every case
    assert at(lib.exposed_time, T_math=math, T_comms=late) == buckets.exposed(side_by_side(math, late))
    assert at(lib.exposed_time, **given) == buckets.exposed(at_once)
    ratio = at(lib.comm_ratio, **given)
    beyond = Fraction(max(0, took(at_once) - math)) / comms
    assert at(lib.exposed_fraction, r_comm=ratio) == beyond
    lengths = {piece.lane: piece.end - piece.start for piece in at_once}
    assert ratio == lengths["network"] / lengths["arithmetic"]
    assert at(lib.overlap_gain, r_comm=lengths["network"] / lengths["arithmetic"]) == took(in_turn) / took(at_once)


# Both sides of each ratio, counted


@checks(
    "dp_ratio",
    "dp_exposed_fraction",
    "zero3_forward_ratio",
    "zero3_backward_ratio",
    over=st.tuples(LAYER, st.integers(2, 7), RATES, RATES, ELEMENT, ELEMENT),
)
def gradients_and_weights_beside_products(lib, case):
    (tokens, width, wide, matrices), ranks, rate, link, weight, gradient = case
    forward, backward, size = mlp(tokens, width, wide, matrices)
    given = {"B_gpu": tokens, "X": ranks, "C": rate, "W": link, "b_w": weight, "b_grad": gradient}

    def over(schedules, passes):
        sent = sum(schedule.busiest() * size * each for schedule, each in schedules)
        return sent / link / (operations(passes) / rate)

    gather, scatter = ring.all_gather(ranks), ring.reduce_scatter(ranks)
    ratio = over([(ring.all_reduce(ranks), gradient)], backward)
    assert at(lib.dp_ratio, **given) == ratio
    assert at(lib.dp_exposed_fraction, **given) == max(0, (ratio - 1) / ratio)
    assert at(lib.zero3_forward_ratio, **given) == over([(gather, weight)], forward)
    assert at(lib.zero3_backward_ratio, **given) == over([(gather, weight), (scatter, gradient)], backward)


@checks("dp_node_ratio", over=st.tuples(LAYER, st.integers(2, 4), st.integers(2, 4), RATES, RATES, RATES))
def gradients_over_links_of_two_levels(lib, case):
    (tokens, width, wide, matrices), nodes, gpus, rate, inside, outside = case
    _, backward, size = mlp(tokens, width, wide, matrices)
    shape, links = (gpus, nodes), {1: inside, 2: outside}
    loads = worst(hierarchical.all_gather(shape).per_link(Tree(shape, rails=True)))
    comms = 2 * max(share * size * 2 / links[level] for level, share in loads.items())
    given = {"B_gpu": tokens, "M": nodes, "G": gpus, "W_nvl": inside, "W_node": outside, "C": rate, "b_grad": 2}
    assert at(lib.dp_node_ratio, **given) == comms / (operations(backward) / rate)


@checks("tp_ratio", "tp_exposed_fraction", over=SHAPES)
def activations_beside_products(lib, case):
    x, into, out, given = layer(case)
    _, work = sharded.mlp(x, into, out, given["Y"])
    ratio = work.sent / given["W"] / (Fraction(work.flops[0]) / given["C"])
    assert need(lib.tp_ratio, given) == ratio
    assert need(lib.tp_exposed_fraction, given) == max(0, 1 - 1 / ratio)


@checks("tp_backward_ratio", over=SHAPES)
def slopes_beside_products(lib, case):
    x, into, out, given = layer((*case[:4], 2, *case[5:]))
    _, work = sharded.mlp_backward(x, into[0], out, x + 1, given["Y"])
    assert need(lib.tp_backward_ratio, given) == work.sent / given["W"] / (Fraction(work.flops[0]) / given["C"])


@checks(
    "tp_node_ratio",
    over=st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(0, 3), SMALL, SMALL, RATES, RATES, RATES),
)
def activations_over_nodes(lib, case):
    gpus, nodes, more, width, hidden, peak, inside, outside = case
    ranks = gpus * nodes
    x, out = np.ones((ranks, width), dtype=np.int16), np.ones((hidden * ranks, width), dtype=np.int16)
    _, work = sharded.mlp(x, [out.T], out, ranks)
    shape, links = (gpus, nodes), {1: inside, 2: outside}
    loads = worst(hierarchical.all_gather(shape).per_link(Tree(shape, rails=True)))
    comms = 2 * max((share * x.nbytes / links[level] for level, share in loads.items()), default=Fraction(0))
    node = gpus if nodes > 1 else gpus + more  # one group may fill its node or a part of it
    given = {"Y": ranks, "G": node, "W_nvl": inside, "W_node": outside, "F": hidden * ranks, "n_mat": 2, "b": 2}
    given["C"] = peak
    assert at(lib.tp_node_ratio, **given) == comms / (Fraction(work.flops[0]) / peak)


@checks("stage_math", "pp_hop", "pp_ratio", "pp_layers", over=st.tuples(LAYER, SMALL, RATES, RATES, ELEMENT))
def one_array_beside_the_products_of_a_stage(lib, case):
    (tokens, width, wide, matrices), layers, rate, link, element = case
    forward, _, size = mlp(tokens, width, wide, matrices)
    math = Fraction(operations(lambda: [forward() for _ in range(layers)])) / rate
    hop = np.zeros((tokens, width, element), dtype=np.uint8).nbytes / link
    given = {"S": tokens, "n_seq": 1, "D": width, "P_layer": size, "L_stage": layers, "b": element}
    given |= {"C": rate, "W": link}
    assert at(lib.stage_math, **given) == math
    assert at(lib.pp_hop, **given) == hop
    assert at(lib.pp_ratio, **given) == hop / math
    assert at(lib.pp_layers, **given) == hop / (Fraction(operations(forward)) / rate)


@checks("stage_math", "pp_hop", over=st.tuples(SMALL, SMALL, SMALL))
def sequences_add_up(lib, case):
    sequences, tokens, width = case
    given = {"S": tokens, "n_seq": sequences, "D": width, "P_layer": width**2, "L_stage": 1, "b": 2, "C": 3, "W": 5}
    x, w = np.zeros((sequences, tokens, width), dtype=np.int16), np.zeros((width, width), dtype=np.int16)
    products = sum(2 * one.size * w.shape[1] for one in x)
    assert at(lib.stage_math, **given) == Fraction(products, 3) and at(lib.pp_hop, **given) == Fraction(x.nbytes, 5)


@checks("ep_ratio", over=st.tuples(st.integers(2, 4), st.integers(1, 2), st.integers(1, 3), SMALL, RATES, RATES))
def tokens_beside_their_experts(lib, case):
    ranks, each, k, hidden, peak, rate = case
    experts = ranks * each
    if k > experts:
        return
    choice = every_choice(experts, k, ranks)
    done, _, _ = passed(choice, experts, ranks, hidden, 2)
    ratio = moved(done, lambda s: s.busiest(), len(choice)) / rate / (Fraction(done.flops[0]) / peak)
    given = {"F": hidden, "n_mat": 2, "Z": ranks, "k": k, "C": peak, "W": rate, "f_hit": hits(choice, experts, ranks)}
    assert at(lib.ep_ratio, **given, **BYTES) == ratio


@checks("ep_node_ratio", over=st.tuples(st.integers(2, 3), st.integers(1, 3), st.integers(1, 2), SMALL, RATES, RATES))
def tokens_beside_experts_on_other_nodes(lib, case):
    nodes, gpus, k, hidden, peak, rate = case
    ranks = nodes * gpus
    choice = every_choice(ranks, k, ranks)
    done, _, _ = passed(choice, ranks, ranks, hidden, 2, node=gpus)
    ratio = moved(done, from_first(nodes, gpus), len(choice)) / rate / (Fraction(done.flops[0]) / peak)
    given = {"F": hidden, "n_mat": 2, "M": nodes, "G": gpus, "k": k, "C": peak, "W_node": rate}
    assert at(lib.ep_node_ratio, **given, **BYTES, f_hit=hits(choice, ranks, nodes)) == ratio


# Buckets


@checks(
    "bucket_time",
    "bucketed_exposed",
    "ring_bucketed_exposed",
    over=st.tuples(COUNTS, st.integers(2, 6), TIMES, TIMES, TIMES, st.integers(1, 40), st.sampled_from([1, 1000])),
)
def buckets_played_one_by_one(lib, case):
    count, ranks, math, wait, link, size, longer = case
    math *= longer  # than all buckets
    schedule = ring.all_reduce(ranks)
    pieces = buckets.equal(math, size, count, lambda part: schedule.time(wait, link, part))
    (one,) = {piece.end - piece.start for piece in pieces if piece.lane == "network"}
    assert at(lib.bucket_time, alpha=wait, V=size, W=link, X=ranks, n_bucket=count) == one
    given = {"T_math": math, "T_bucket": one, "n_bucket": count}
    assert at(lib.bucketed_exposed, **given) == buckets.exposed(pieces)
    given |= {"alpha": wait, "V": size, "W": link, "X": ranks}
    assert at(lib.ring_bucketed_exposed, **given) == buckets.exposed(pieces)


@checks("bucket_count", over=st.tuples(st.integers(1, 60), st.integers(1, 20)))
def bytes_put_into_buckets(lib, case):
    size, cap = case
    filled, left = 0, size
    while left > 0:
        left -= min(left, cap)
        filled += 1
    assert at(lib.bucket_count, V=size, V_bucket=cap) == filled


@checks("best_buckets", over=st.tuples(st.integers(2, 4), st.integers(1, 12), st.integers(1, 5), st.integers(0, 40)))
def every_number_of_buckets_tried(lib, case):
    """Where all can hide and where it cannot: times chosen so that the best number is a whole one, then all tried."""
    ranks, best, wait, more = case
    start_up = ring.all_reduce(ranks).steps * wait
    fits = {"T_math": best * start_up + more + 1, "T_comms": more + 1}
    late = {"T_math": best**2 * start_up, "T_comms": best**2 * start_up + more}
    short = {"T_math": Fraction(start_up, 2), "T_comms": more + 1}  # another bucket waits longer than it hides
    for given in (fits, late, short):
        ours = lib.best_buckets(alpha=wait, n_steps=ring.all_reduce(ranks).steps, **given)

        def left(count, given=given):
            sends = lambda part: start_up + part  # noqa: E731
            return buckets.exposed(buckets.equal(given["T_math"], given["T_comms"], count, sends))

        tried = {count: left(count) for count in range(1, 30)}
        good = [count for count, time in tried.items() if time == min(tried.values())]
        assert any(abs(count - ours) < 1 for count in good)
        if given is short:
            close(ours, 1)
        elif given is late or best**2 * start_up >= fits["T_math"]:
            close(ours, best)


@checks("best_buckets")
def two_cases_of_the_best_number(lib):
    """Where all hides, and where it cannot: sixteen buckets, and the root of sixteen."""
    close(lib.best_buckets(T_math=40, alpha=1, n_steps=2, T_comms=8), 16)
    close(lib.best_buckets(T_math=32, alpha=1, n_steps=2, T_comms=800), 4)


@checks("best_bucket", over=st.tuples(st.integers(1, 60), COUNTS))
def a_part_of_the_gradients(lib, case):
    size, count = case
    parts = np.array_split(np.zeros(size * count), count)
    assert {at(lib.best_bucket, V=size * count, n_best=count)} == {len(part) for part in parts}


# Communication that takes SMs


@checks("slowed_time", over=st.tuples(TIMES, TIMES, st.fractions(1, 5, max_denominator=5)))
def arithmetic_that_is_slower_for_a_while(lib, case):
    math, comms, slow = case
    pieces = slowed(math, comms, slow)
    assert at(lib.slowed_time, T_math=math, T_comms=comms, g_slow=slow) == took(pieces)
    step = Fraction(1, 20 * slow.numerator * slow.denominator)  # the same in small steps of time, near enough
    time = done = Fraction(0)
    while done < math and time < 200:
        time, done = time + 8 * step, done + 8 * step / (slow if time < comms else 1)
    assert abs(max(time, comms) - took(pieces)) <= 16 * step


@checks("sm_slowdown", "wave_slowdown", over=st.tuples(st.integers(2, 12), st.integers(1, 11), st.integers(1, 60)))
def tiles_handed_out_to_sms(lib, case):
    sms, busy, count = case
    if busy >= sms:
        return
    given = {"n_sm": sms, "n_comm": busy, "n_tiles": count}
    assert at(lib.wave_slowdown, **given) == Fraction(buckets.tiles(count, sms, busy), buckets.tiles(count, sms))
    many = 10 * sms * (sms - busy)  # tiles that fill all waves
    even = Fraction(buckets.tiles(many, sms, busy), buckets.tiles(many, sms))
    assert at(lib.sm_slowdown, n_sm=sms, n_comm=busy) == even


@checks("chunked_time", over=st.tuples(TIMES, TIMES, st.integers(1, 9)))
def chunks_on_one_link(lib, case):
    some, other, chunks = case
    math, comms = max(some, other), min(some, other)
    pieces = buckets.chunked(chunks, math, comms)
    assert at(lib.chunked_time, T_math=math, T_comms=comms, n_chunk=chunks) == took(pieces)
