"""Expert parallelism: real tokens through real experts; bytes counted on schedules, FLOPs from matmul shapes."""

import functools
from fractions import Fraction
from itertools import combinations

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st

from gpuscale.emulate import routed
from gpuscale.schedules.collectives import exchange, ring

WIDTH, RATE = 2, 7
# shards, experts on each, experts of a token, width of an expert, its matrices
LAYERS = st.tuples(st.integers(1, 4), st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.sampled_from([2, 3]))
# nodes, ranks of a node, experts on each rank, experts of a token, matrices
NODES = st.tuples(*[st.integers(1, 3)] * 3, st.integers(1, 3), st.sampled_from([2, 3]))
BYTES = {"b_dispatch": 1, "b_combine": 2}


def every_choice(experts: int, k: int, ranks: int) -> np.ndarray:
    """Tokens on each rank that choose every set of k experts once."""
    return np.array(list(combinations(range(experts), k)) * ranks)


def passed(choice, experts, ranks, hidden=1, matrices=2, node=0):
    """The layer forward on small whole numbers; its result is that of one rank, and so is its arithmetic."""
    draw = np.random.default_rng(5)
    tokens, scores = draw.integers(-3, 4, (len(choice), WIDTH)), draw.integers(1, 4, choice.shape)
    weights = routed.make_experts(experts, WIDTH, hidden, matrices)
    done = routed.forward(tokens, choice, scores, weights, ranks, node)
    outputs, flops = routed.alone(tokens, choice, scores, weights)
    assert np.array_equal(done.outputs, outputs) and sum(done.flops) == flops
    back = routed.backward(tokens, tokens + 1, choice, scores, weights, ranks, node)
    return done, back, weights


def moved(done, of, tokens) -> Fraction:
    """Bytes of dispatch and combine together, ``of`` a schedule giving its share of one copy of every token."""
    copy = tokens * WIDTH
    return copy * (of(done.dispatch) * BYTES["b_dispatch"] + of(done.combine) * BYTES["b_combine"])


def from_first(nodes, each):
    """What the ranks of the first node send to all others, as a function of a schedule."""
    return lambda s: s.between(range(each), range(each, nodes * each)) if nodes > 1 else Fraction(0)


def inside(ranks):
    """The most that one rank sends to others of its node."""

    def of(schedule):
        node = schedule.group
        peers = ((r, [p for p in range(r // node * node, r // node * node + node) if p != r]) for r in range(ranks))
        return max(schedule.between([r], p) if p else Fraction(0) for r, p in peers)

    return of


def hits(choice, experts, shards) -> Fraction:
    """Share of the shards that the tokens reach, counted."""
    hit = exchange.hit_shards(choice, experts, shards)
    return Fraction(int(hit.sum()), hit.size)


@checks("ep_math", "ep_backward_math", "ep_comms", "ep_width", "ep_width_top_k", "tokens_per_expert", over=LAYERS)
def a_layer_over_ranks(lib, case):
    ranks, each, k, hidden, matrices = case
    experts = ranks * each
    if k > experts:
        return
    choice = every_choice(experts, k, ranks)
    done, back, _ = passed(choice, experts, ranks, hidden, matrices)
    given = {"B": len(choice), "D": WIDTH, "F": hidden, "k": k, "Z": ranks, "n_mat": matrices, "C": 5, "E": experts}
    given |= BYTES | {"W": RATE, "f_hit": hits(choice, experts, ranks)}
    assert len(set(done.flops)) == len(set(back.flops)) == 1
    assert at(lib.ep_math, **given) == Fraction(done.flops[0], 5)
    assert at(lib.ep_backward_math, **given) == Fraction(back.flops[0], 5)
    took = moved(done, lambda s: s.busiest(), len(choice)) / RATE
    assert at(lib.ep_comms, **given) == took == moved(back, lambda s: s.busiest(), len(choice)) / RATE
    just = took / Fraction(done.flops[0], 5) * hidden  # arithmetic grows as the width does
    assert at(lib.ep_width, **given) == at(lib.ep_width_top_k, **given) == just
    assert at(lib.tokens_per_expert, **given) == Fraction(sum(done.rows), experts)


@functools.cache
def every_choice_passed(experts, k, ranks, matrices, node, hidden=1):
    """Every choice of k experts, and what a layer moves and computes when each is taken once."""
    choice = every_choice(experts, k, ranks)
    done, _, _ = passed(choice, experts, ranks, hidden, matrices, node)
    return choice, done


@checks("ep_node_comms", "ep_fan_out", "ep_node_width", "ep_node_width_top_k", over=NODES)
def a_layer_over_nodes(lib, case):
    nodes, node, each, k, matrices = case
    ranks, experts = nodes * node, nodes * node * each
    if k > experts or experts > 12:
        return
    choice, done = every_choice_passed(experts, k, ranks, matrices, node)
    given = {"B": len(choice), "D": WIDTH, "k": k, "M": nodes, "G": node, "n_mat": matrices, "C": 5, "E": experts}
    given |= BYTES | {"W_node": RATE, "W_nvl": 11}
    reached = hits(choice, experts, nodes)
    took = moved(done, from_first(nodes, node), len(choice)) / RATE
    assert at(lib.ep_node_comms, **given, f_hit=reached) == took
    handed = moved(done, inside(ranks), len(choice)) / 11
    assert at(lib.ep_fan_out, **given, f_hit=hits(choice, experts, ranks)) == handed
    just = took / Fraction(done.flops[0], 5)
    assert at(lib.ep_node_width, **given, f_hit=reached) == at(lib.ep_node_width_top_k, **given) == just


@checks("nodes_hit", "limited_nodes_hit", over=st.tuples(NODES, st.integers(1, 4), st.booleans()))
def nodes_that_tokens_reach(lib, case):
    """Every choice of experts; no token may go to more nodes than the limit says."""
    (nodes, node, each, k, _), limit, part = case
    ranks, experts = nodes * node, nodes * node * each
    whole = node * (2 if part and nodes == 1 else 1)  # one node: its ranks may fill it or half of it
    if k > experts or experts > 12:
        return
    reached = hits(every_choice(experts, k, 1), experts, nodes)
    given = {"E": experts, "k": k, "Z": ranks, "G": whole}
    assert at(lib.nodes_hit, **given) == reached
    most = Fraction(len(range(nodes)[:limit]), nodes)
    assert at(lib.limited_nodes_hit, **given, M_lim=limit) == sorted([reached, most])[0]


@checks("dispatch_bytes", over=st.tuples(*[st.sampled_from([np.float16, np.float32, np.float64])] * 2))
def tokens_on_their_way(lib, case):
    """A token is cast to the type of the weights if that is narrower."""
    kept, weight = case
    token = np.ones(WIDTH, kept)
    sent = token.astype(weight) if np.can_cast(weight, kept) else token
    assert at(lib.dispatch_bytes, b_w=np.dtype(weight).itemsize, b=token.itemsize) == Fraction(sent.nbytes, WIDTH)


@checks("exchange_nvlink", "exchange_network", over=st.tuples(NODES, st.integers(1, 2), st.integers(0, 2)))
def experts_exchange_in_every_pass(lib, case):
    """The layers of a stage, some without experts: forward, backward, and forward again with full recomputation."""
    (nodes, node, each, k, matrices), slices, plain = case
    ranks, experts = nodes * node, nodes * node * each
    if k > experts or experts > 12:
        return
    choice = every_choice(experts, k, ranks)
    done, back, _ = passed(choice, experts, ranks, 1, matrices, node)
    of_a_rank = len(choice) // ranks
    given = {"B_mb": slices * of_a_rank, "Y": slices, "Z": ranks, "D": WIDTH, "L": 12, "L_stage": 4}
    given |= BYTES | {"G": node * (2 if nodes == 1 else 1), "L_dense": 3 * plain}
    for again in (0, 1, 2, 3):
        runs = [done, back] + ([done] if again == 2 else [])
        every = [one for one in runs for _ in range(4 - plain)]
        handed = sum(moved(one, inside(ranks), len(choice)) for one in every)
        sent = sum(moved(one, from_first(nodes, node), len(choice)) for one in every)
        found = hits(choice, experts, ranks), hits(choice, experts, nodes)
        assert at(lib.exchange_nvlink, **given, n_recompute=again, f_hit=found[0]) == handed
        assert at(lib.exchange_network, **given, n_recompute=again, f_node=found[1]) == sent


@checks("ep_level_comms", "ep_level_width", "ep_layer", over=NODES)
def the_slower_of_both_levels(lib, case):
    nodes, node, each, k, matrices = case
    ranks, experts = nodes * node, nodes * node * each
    if k > experts or experts > 12:
        return
    hidden = 3
    choice, done = every_choice_passed(experts, k, ranks, matrices, node, hidden)
    whole = node * (2 if nodes == 1 else 1)  # one node: its ranks may fill it or half of it
    for fast, slow, peak in ((11, 7, 5), (3, 50, 5), (11, 7, 10**4), (3, 50, 10**4)):  # each of the three is slowest
        links = ((from_first(nodes, node), slow), (inside(ranks), fast))
        times = [moved(done, of, len(choice)) / rate for of, rate in links]
        given = {"B": len(choice), "D": WIDTH, "k": k, "Z": ranks, "G": whole, "E": experts, "n_mat": matrices}
        given |= BYTES | {"W_node": slow, "W_nvl": fast, "C": peak, "F": hidden}
        assert at(lib.ep_level_comms, **given) == max(times)
        math = Fraction(done.flops[0], peak)
        assert at(lib.ep_level_width, **given) == max(times) / math * hidden  # arithmetic grows as the width does
        assert at(lib.ep_layer, **given) == max(*times, math)


def spread_out(nodes: int, node: int, k: int, open_nodes: int) -> np.ndarray:
    """Choices that go round ``open_nodes`` nodes, from each node on in turn, for tokens of every rank; k experts each
    on a rank, and k ranks' worth of them on a node."""
    on_node = node * k
    first, turn = np.indices((nodes, k))
    chosen = (first + turn % open_nodes) % nodes * on_node + turn // open_nodes
    return np.tile(chosen, (nodes * node, 1))


@checks(
    "ep_node_width_bound",
    "ep_node_width_limited",
    over=st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 6), st.integers(1, 5)),
)
def experts_on_different_nodes(lib, case):
    nodes, node, k, limit = case
    ranks, experts = nodes * node, nodes * node * k
    given = {"k": k, "M": nodes, "G": node, "n_mat": 2, "C": 5, "W_node": RATE} | BYTES
    for name, most in (("bound", nodes), ("limited", min(limit, nodes))):
        choice = spread_out(nodes, node, k, most)
        out = exchange.dispatch(choice, experts, ranks, node)
        back = routed.combine(choice, experts, ranks, node)
        send = from_first(nodes, node)
        sent = len(choice) * WIDTH * (send(out) * BYTES["b_dispatch"] + send(back) * BYTES["b_combine"]) / RATE
        products = Fraction(2 * 2 * WIDTH * k * len(choice), ranks * 5)  # two products of width 1 for a row
        extra = {"M_lim": most} if name == "limited" else {}
        assert at(getattr(lib, f"ep_node_width_{name}"), **given, **extra) == sent / products


@checks("ep_uneven_math", over=st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(0, 3), st.integers(1, 2)))
def one_expert_that_all_want(lib, case):
    ranks, hidden, more, k = case
    first = [t % ranks if t >= more * ranks else 0 for t in range(4 * ranks)]
    choice = np.array([[(one + i) % ranks for i in range(k)] for one in first])
    done, _, _ = passed(choice, ranks, ranks, hidden)
    fullest = Fraction(max(done.rows) * ranks, sum(done.rows))
    given = {"B": len(choice), "D": WIDTH, "F": hidden, "k": k, "Z": ranks, "n_mat": 2, "C": 5}
    assert at(lib.ep_uneven_math, **given, g_rows=fullest) == Fraction(max(done.flops), 5)


@checks(
    "ep_params",
    "ep_gradient_comms",
    "ep_gradient_batch",
    over=st.tuples(*[st.integers(1, 3)] * 3, st.integers(1, 5), st.sampled_from([2, 3])),
)
def gradients_of_a_rank_s_experts(lib, case):
    ranks, each, k, copies, matrices = case
    experts = ranks * each
    if k > experts:
        return
    choice = every_choice(experts, k, ranks)
    _, back, weights = passed(choice, experts, ranks, 3, matrices)
    stored = sum(m.size for one in weights[:each] for m in one)
    assert stored == sum(g.size for one in back.gradients[:each] for g in one)
    given = {"E": experts, "Z": ranks, "X": copies, "n_mat": matrices, "D": WIDTH, "F": 3, "b_grad": 2, "W": RATE}
    given |= {"C": 5, "k": k}
    assert at(lib.ep_params, **given) == stored
    took = ring.all_reduce(copies).busiest() * stored * 2 / RATE
    assert at(lib.ep_gradient_comms, **given) == took
    of_one = Fraction(back.flops[0] * ranks, len(choice) * 5)  # backward arithmetic for a token of the rank
    assert at(lib.ep_gradient_batch, **given) == took / of_one


# Copies over NVLink


@checks("free_experts", over=st.tuples(*[st.integers(1, 9)] * 3))
def copies_handed_on_until_nvlink_is_as_late_as_the_nics(lib, case):
    """Tokens come in over the NICs, one copy per node; copies over NVLink are added one by one."""
    limit, fast, slow = case
    tokens = range(slow)
    arrived = sum(Fraction(1, slow) for _ in tokens for _ in range(limit))
    handed, copies = Fraction(0), 0
    while handed < arrived:
        handed, copies = handed + Fraction(1, fast), copies + 1
    assert handed == arrived
    assert at(lib.free_experts, M_lim=limit, W_nvl=fast, W_nic=slow) == Fraction(copies, len(tokens))


@checks("free_experts")
def published_experts_per_node(lib):
    """160 and 50 GB/s: about 3.2 experts per node, and up to 13 on four nodes. DeepSeek-V3, section 3.2.2."""
    rates = {"W_nvl": 160e9, "W_nic": 50e9}
    close(lib.free_experts(M_lim=1, **rates), 3.2)
    assert round(lib.free_experts(M_lim=4, **rates)) == 13


# Published

H100 = {"C": 990e12, "G": 8, "W_node": 400e9}
PLAIN = {"n_mat": 2, "b_dispatch": 2, "b_combine": 2}


@checks("ep_node_width_bound", "ep_node_width_limited", "ep_node_width_top_k")
def published_widths(lib):
    """Two regimes of the GPU chapter of How to Scale Your Model, and DeepSeek-V3's layer between them."""
    close(lib.ep_node_width_bound(M=2, k=8, **H100, **PLAIN), 2475)
    close(lib.ep_node_width_bound(M=10**6, k=8, **H100, **PLAIN), 8 * 2475, 1e-5)
    close(lib.ep_node_width_bound(M=8, k=8, **H100, **PLAIN), 17_325)
    gated = PLAIN | {"n_mat": 3}
    close(lib.ep_node_width_limited(M=8, M_lim=4, k=8, **H100, **gated) / 2048, 2.82, 1e-3)
    close(lib.ep_node_width_top_k(M=8, E=256, k=8, **H100, **PLAIN), 17_325 * 0.66184, 1e-4)
