"""What a real step adds to its bounds: work laid out layer by layer, rank by rank, node by node."""

import itertools
from fractions import Fraction

from formulas.harness import at, checks
from hypothesis import strategies as st

RATE = st.fractions(Fraction(1, 20), 20, max_denominator=20)
SMALL = st.integers(1, 4)
TIME = st.fractions(0, 20, max_denominator=20)


@checks(
    "microbatch_gpu_time",
    over=st.tuples(
        st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=4),
        st.tuples(*[SMALL] * 4),
        st.tuples(*[RATE] * 3),
        st.tuples(*[RATE] * 4),
        st.booleans(),
    ),
)
def matmuls_and_attention_one_by_one(lib, case):
    """Each layer's matmuls run three times, and again if recomputed; attention has its own rate, backward longer."""
    layers, (tokens, ranks, words, params), (rate, slow, memory), (longer, kernel, logit, sums), again = case
    attention = layers[0][1]
    seconds = Fraction(0)
    for matmul, _ in layers:
        for _ in range(tokens):
            seconds += sum(Fraction(matmul, ranks) / rate for _ in ("forward", "inputs", "weights"))
            seconds += Fraction(matmul, ranks) / rate if again else 0
            seconds += Fraction(attention, ranks) / slow + longer * Fraction(attention, ranks) / slow
    moved = sum(logit for _ in range(tokens * words)) / ranks + sum(sums for _ in range(params))
    moved += sum(kernel * one for one in (5, 7))  # forward, backward
    given = {
        "ops_stage": sum(matmul + attention for matmul, _ in layers),
        "ops_attn": attention,
        "L_stage": len(layers),
        "L": 2 * len(layers),
        "B_mb": tokens,
        "Y": ranks,
        "C": rate,
        "C_attn": slow,
        "W_hbm": memory,
        "g_attn": longer,
        "g_ker": kernel,
        "V_fwd": 5,
        "V_bwd": 7,
        "b_loss": logit,
        "n_vocab": words,
        "b_acc": sums,
        "P_rank": params,
        "ops_recompute": 2 * sum(matmul for matmul, _ in layers) if again else 0,
    }  # of the whole model
    assert at(lib.microbatch_gpu_time, **given) == seconds + moved / memory


NODE = st.sampled_from([1, 2, 4, 8])


@checks(
    "microbatch_host_time",
    over=st.tuples(st.tuples(SMALL, *[st.integers(1, 2)] * 3, SMALL, NODE), TIME, TIME, TIME),
    examples=400,
)
def a_host_launches_layer_by_layer(lib, case):
    (stages, copies, ranks, pieces, layers, node), each, more, head = case
    where = {}  # the nodes of a stage's ranks: stages are outermost
    for stage in range(stages):
        first = stage * copies * ranks * pieces
        where[stage] = {(first + i) // node for i in range(copies * ranks * pieces)}
    crosses = any(len(where[stage - 1] | where[stage]) > 1 for stage in range(1, stages))
    now = head
    for _ in range(layers):
        now += each
        now += sum(more for _ in range(ranks)) if crosses else 0
    given = {
        "L_stage": layers,
        "N_stages": stages,
        "N_gpu": stages * copies * ranks * pieces,
        "Y": ranks,
        "G": node,
        "t_host": each,
        "t_cross": more,
        "t_head": head,
    }
    assert at(lib.microbatch_host_time, **given) == now


@checks("expected_microbatch", "host_wait", over=st.tuples(st.tuples(*[TIME] * 6), SMALL, SMALL, SMALL, TIME))
def the_slower_of_gpu_and_host(lib, case):
    """With any time of the host, and with a host that is surely the slower one."""
    (gpu, grouped, tp, cp, ep, host), layers, ranks, node, far = case
    busy = gpu + grouped + tp / 2 + cp / 3 + ep / 5
    late = sum(far for _ in range(layers) for rank in range(ranks) if rank >= node)
    given = {
        "T_mb_gpu": gpu,
        "T_grp": grouped,
        "T_tp": tp,
        "T_cp": cp,
        "T_ep": ep,
        "g_tp": Fraction(1, 2),
        "g_cp": Fraction(1, 3),
        "g_ep": Fraction(1, 5),
    }
    across = {"L_stage": layers, "Y": ranks, "G": node, "t_far": far}
    for launching in (host, busy + host):
        ends = sorted([busy, launching])
        for stages in range(1, 4):
            nodes = sum(Fraction(1, node) for _ in range(ranks)) if stages > 1 else 1
            now = at(lib.expected_microbatch, **given, **across, T_host=launching, N_stages=stages)
            assert now == ends[1] + late * nodes
        waits = ends[1] - ends[0] if launching > busy else 0
        assert at(lib.host_wait, **given, T_host=launching) == waits


@checks("grouped_time", over=st.tuples(st.tuples(*[SMALL] * 7), SMALL, RATE, st.integers(1, 5)))
def experts_slower_than_one_matmul(lib, case):
    """Every matmul of every expert takes longer than it would alone; three of them in both passes."""
    (chosen, matrices, width, hidden, tokens, dense, routed), ranks, rate, slower = case
    alone = late = Fraction(0)
    for _ in range(routed):  # two stages, so that each has half of all layers
        for _ in range(chosen * matrices * tokens):
            for _ in ("forward", "inputs", "weights"):
                took = Fraction(2 * width * hidden, ranks) / rate
                alone, late = alone + took / 2, late + took * slower / 2
    layers = dense + routed
    given = {"k": chosen, "n_mat": matrices, "D": width, "F": hidden, "L_stage": Fraction(layers, 2), "L": layers}
    given |= {"L_dense": dense, "B_mb": tokens, "Y": ranks, "C": rate, "g_grp": slower, "flop": 1}
    assert at(lib.grouped_time, **given) == late - alone


def calls_of_tensor_parallelism(dense, routed, sharded, again):
    """The collectives of layers with attention and an MLP, pass by pass; experts have none."""
    passes = ["forward", "backward"] + (["forward"] if again else [])
    for layer in range(dense + routed):
        for _ in ("attention", "MLP") if layer < dense else ("attention",):
            for one in passes:
                yield from ["gather", "scatter"] if sharded else ["all-reduce"]
                if sharded and one == "backward":
                    yield "gather"  # the input again, for the gradients of the weights


@checks(
    "tp_calls",
    "cp_calls",
    "ep_calls",
    over=st.tuples(SMALL, SMALL, SMALL, st.integers(0, 3), st.booleans()),
    examples=400,
)
def collectives_that_start(lib, case):
    dense, routed, ranks, again, sharded = case
    layers = dense + routed
    many, twice = ranks > 1, again == 2
    made = list(calls_of_tensor_parallelism(dense, routed, sharded, twice)) if many else []
    given = {"L_stage": layers, "n_recompute": again}
    assert at(lib.tp_calls, **given, Y=ranks, n_sp=int(sharded), L=layers, L_dense=dense) == len(made)
    gathers = ["keys and values"] * (3 if twice else 2) + ["their gradients"] if many else []
    assert at(lib.cp_calls, **given, n_cp=ranks) == sum(len(gathers) for _ in range(layers))
    passes = ["forward", "backward"] + (["forward"] if twice else []) if many else []
    trips = [way for _ in passes for way in ("dispatch", "combine")]
    assert at(lib.ep_calls, **given, Z=ranks, L=layers, L_dense=dense) == sum(len(trips) for _ in range(routed))


@checks("expected_level", over=st.tuples(st.tuples(*[SMALL] * 4), SMALL, SMALL, SMALL, TIME, TIME))
def bytes_and_starts(lib, case):
    (inside, across, fast, slow), nodes, node, calls, near, far = case
    late = Fraction(1, 7)  # of each rank beyond two nodes
    now = max(Fraction(inside, fast), Fraction(across, slow))
    for _ in range(calls):
        now += near if nodes == 1 else far + sum(late for rank in range(nodes * node) if rank >= 2 * node)
    given = {"V_nvl": inside, "V_net": across, "W_nvl": fast, "W_node": slow, "M": nodes, "G": node, "alpha_rank": late}
    assert at(lib.expected_level, **given, n_calls=calls, alpha_1=near, alpha_2=far) == now


@checks("expected_hop", over=st.tuples(st.tuples(*[SMALL] * 6), SMALL, SMALL, TIME, TIME))
def a_slice_to_the_next_stage(lib, case):
    """With any number of GPUs, and with exactly as many as one node has."""
    (stages, tokens, width, ranks, fast, slow), node, gpus, near, far = case
    given = {"N_stages": stages, "B_mb": tokens, "D": width, "Y": ranks, "W_nvl": fast, "W_node": slow, "b": 2}
    for used in (gpus, node):
        rate, start = (fast, near) if used <= node else (min(Fraction(fast), Fraction(slow, node)), far)
        now = Fraction(2 * tokens * width, ranks) / rate + start if stages > 1 else 0
        assert at(lib.expected_hop, **given, G=node, N_gpu=used, alpha_1=near, alpha_2=far) == now


@checks("spanned_nodes", "run_nodes", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def nodes_of_neighbors(lib, case):
    nodes, copies, pieces, inner = case
    ranks = [0 for _ in range(copies) for _ in range(pieces) for _ in range(inner)]
    size = {"X": copies, "n_cp": pieces, "Y": inner}
    if len(ranks) % nodes == 0:
        node = len(ranks) // nodes
        spanned = len({rank // node for rank, _ in enumerate(ranks)})
        assert at(lib.spanned_nodes, **size, G=node) == spanned == at(lib.run_nodes, N_gpu=len(ranks), G=node)
    assert at(lib.spanned_nodes, **size, G=len(ranks) + nodes) == 1
    assert at(lib.run_nodes, N_gpu=len(ranks), G=len(ranks) + nodes) == 1


@checks("many_nodes", over=st.tuples(st.integers(0, 5), RATE, st.fractions(Fraction(1, 4), 1, max_denominator=4)))
def so_much_slower_with_each_doubling(lib, case):
    doublings, peak, share = case
    now = peak * share
    for _ in range(doublings):
        now /= 4  # with an exponent of 2, each doubling costs a factor of four
    assert at(lib.many_nodes, W_ref=peak, eta=share, M=2 * 2**doublings, gamma_net=2) == now
    assert at(lib.many_nodes, W_ref=peak, eta=share, M=1, gamma_net=2) == peak * share


@checks("dp_exchange", "dp_rounds", over=st.tuples(SMALL, TIME, TIME))
def exchanges_of_a_step_in_order(lib, case):
    count, scatter, gather = case
    for zero in range(4):
        sent, rounds = Fraction(0), 0
        for i in range(count):
            last = i == count - 1
            if zero == 3:
                sent, rounds = sent + gather + gather + scatter, rounds + 3
            elif zero == 2:
                sent, rounds = sent + scatter, rounds + 1
            elif last:
                sent, rounds = sent + scatter + (scatter if zero == 0 else 0), rounds + 1
        sent += gather if zero in (1, 2) else 0
        assert at(lib.dp_exchange, T_scatter=scatter, T_gather=gather, N_MB=count, n_zero=zero) == sent
        assert at(lib.dp_rounds, N_MB=count, n_zero=zero) == rounds


@checks("dp_buckets", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def gradients_fill_one_bucket_after_another(lib, case):
    """Or a layer is gathered at a time."""
    layers, width, few, room = case
    for params in (few, few * width * room):
        full = sum(Fraction(1, room) for _ in range(params) for _ in range(width))
        for zero in range(4):
            buckets = layers if zero == 3 else full if full > 1 else 1
            given = {"P_rank": params, "b_w": width, "V_bucket": room, "L_stage": layers}
            assert at(lib.dp_buckets, **given, n_zero=zero) == buckets


@checks("expected_dp", over=st.tuples(st.tuples(*[SMALL] * 5), TIME, TIME, TIME))
def a_part_waits_and_the_ends_of_a_pass_too(lib, case):
    """An exchange in small pieces: some cannot be hidden, some of the others wait."""
    (copies, pieces, rounds, layers, edge), hidden, best, latency = case
    buckets = layers + edge
    latencies = sum(latency for _ in range(1, copies * pieces) for _ in range(rounds) for _ in range(buckets))
    every = best + hidden
    given = {"T_exc": every, "T_dp_best": best, "alpha_dp": latency, "X": copies, "n_cp": pieces}
    given |= {"n_bucket": buckets, "n_round": rounds, "L_stage": layers}
    for edges, thirds, zero, stages in itertools.product((0, edge), range(4), range(4), range(1, 4)):
        ends = sum((every / layers for _ in range(edges)), Fraction(0))
        at_once = zero == 0 and stages == 1
        waits = sum(hidden / 3 for _ in range(thirds) if not at_once)
        expected = sorted([best + waits + ends, every])[0] + latencies
        layout = {"n_edge": edges, "g_dp": Fraction(thirds, 3), "n_zero": zero, "N_stages": stages}
        assert at(lib.expected_dp, **given, **layout) == expected


@checks("update_time", over=st.tuples(SMALL, SMALL, SMALL, RATE, RATE, TIME))
def an_optimizer_updates_its_shard(lib, case):
    params, copies, pieces, width, memory, fixed = case
    for zero in range(4):
        owners = copies * pieces if zero else 1
        mine = [p for p in range(params * owners) if p % owners == 0]
        held = params * owners  # so that shards are whole
        now = fixed + sum(width for _ in mine) / memory
        given = {"P_rank": held, "X": copies, "n_cp": pieces, "b_upd": width, "W_hbm": memory, "t_fix": fixed}
        assert at(lib.update_time, **given, n_zero=zero) == now


@checks("update_bytes", "host_update_time", over=st.tuples(*[SMALL] * 6, RATE))
def an_update_here_or_on_the_host(lib, case):
    """Array by array: what the optimizer reads and writes in place, and what crosses to the host and back."""
    params, copies, parts, grad, weight, state, rate = case
    read, written = {"gradient": grad, "state": state}, {"state": state, "weight": weight}
    moved = sum(read.values()) + sum(written.values())
    assert at(lib.update_bytes, b_grad=grad, b_w=weight, b_opt=state) == moved
    for zero in range(4):
        owners = copies * parts if zero else 1
        held = params * owners  # so that shards are whole
        crossing = [read["gradient"] + written["weight"] for p in range(held) if p % owners == 0]
        given = {"P_rank": held, "X": copies, "n_cp": parts, "n_zero": zero, "W_host": rate}
        assert at(lib.host_update_time, **given, b_grad=grad, b_w=weight) == sum(
            Fraction(one) / rate for one in crossing
        )


@checks("expected_step", over=st.tuples(st.integers(1, 5), *[TIME] * 5))
def a_step_with_its_end(lib, case):
    count, micro, idle, hops, exposed, update = case
    now = Fraction(0)
    for piece in [micro] * count + [idle, hops, exposed, update]:
        now += piece
    given = {"N_MB": count, "T_mb": micro, "T_idle": idle, "T_pp": hops, "T_dp": exposed, "T_upd": update}
    assert at(lib.expected_step, **given) == now


@checks("pipeline_stall", over=st.tuples(*[st.integers(1, 5)] * 3, TIME))
def a_pipeline_that_stalls(lib, case):
    """Microbatch by microbatch through the virtual stages: whoever has a neighbor on another rank waits for it."""
    count, ranks, pieces, delay = case
    home = [stage % ranks for stage in range(ranks * pieces)]
    lost = dict.fromkeys(home, Fraction(0))
    for _ in range(count):
        for here, there in itertools.pairwise(home):
            for rank in {here, there} if here != there else ():
                lost[rank] += delay
    given = {"t_stall": delay, "N_MB": count, "N_stages": ranks, "n_virt": pieces}
    assert at(lib.pipeline_stall, **given) == max(lost.values())
