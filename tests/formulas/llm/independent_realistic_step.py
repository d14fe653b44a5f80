"""What a real step adds to its bounds: work laid out layer by layer, rank by rank, node by node."""

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


@checks("microbatch_host_time", over=st.tuples(st.tuples(*[SMALL] * 6), TIME, TIME, TIME), examples=400)
def a_host_launches_layer_by_layer(lib, case):
    (stages, copies, ranks, pieces, layers, node), each, more, head = case
    where = {}  # the nodes of a stage's ranks: stages are outermost
    for stage in range(stages):
        first = stage * copies * ranks * pieces
        where[stage] = {(first + i) // node for i in range(copies * ranks * pieces)}
    crosses = stages > 1 and copies * ranks * pieces >= node
    if crosses and copies * ranks * pieces % node == 0:
        assert not where[0] & where[1]
    now = head
    for _ in range(layers):
        now += each
        now += sum(more for _ in range(ranks)) if crosses else 0
    given = {
        "L_stage": layers,
        "N_stages": stages,
        "X": copies,
        "Y": ranks,
        "n_cp": pieces,
        "G": node,
        "t_host": each,
        "t_cross": more,
        "t_head": head,
    }
    assert at(lib.microbatch_host_time, **given) == now


@checks("expected_microbatch", over=st.tuples(st.tuples(*[TIME] * 5), SMALL, SMALL, SMALL, TIME))
def the_slower_of_gpu_and_host(lib, case):
    (gpu, tp, cp, ep, host), layers, ranks, node, far = case
    half, third, fifth = Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)
    ends = [gpu + tp / 2 + cp / 3 + ep / 5, host]
    late = sum(far for _ in range(layers) for rank in range(ranks) if rank >= node)
    given = {
        "T_mb_gpu": gpu,
        "T_tp": tp,
        "T_cp": cp,
        "T_ep": ep,
        "T_host": host,
        "g_tp": half,
        "g_cp": third,
        "g_ep": fifth,
        "L_stage": layers,
        "Y": ranks,
        "G": node,
        "t_far": far,
    }
    assert at(lib.expected_microbatch, **given) == sorted(ends)[-1] + late


@checks("spanned_nodes", over=st.tuples(SMALL, SMALL))
def nodes_of_neighbors(lib, case):
    node, many = case
    for ranks in (node * many, 1):
        assert at(lib.spanned_nodes, N=ranks, G=node) == len({rank // node for rank in range(ranks)})


@checks("many_nodes", over=st.tuples(st.integers(0, 5), RATE, st.fractions(Fraction(1, 4), 1, max_denominator=4)))
def so_much_slower_with_each_doubling(lib, case):
    doublings, peak, share = case
    now = peak * share
    for _ in range(doublings):
        now /= 4  # with an exponent of 2, each doubling costs a factor of four
    assert at(lib.many_nodes, W_ref=peak, eta=share, M=2 * 2**doublings, gamma_net=2) == now
    assert at(lib.many_nodes, W_ref=peak, eta=share, M=1, gamma_net=2) == peak * share


@checks("expected_dp", over=st.tuples(SMALL, SMALL, TIME, TIME, TIME, TIME))
def exchanges_of_a_step_in_order(lib, case):
    count, copies, scatter, gather, best, latency = case
    for zero in range(4):
        sent = []
        for i in range(count):
            sent += [gather, gather] if zero == 3 else []
            sent += [gather] if zero in (1, 2) and i == 0 else []
            sent += [scatter] if zero > 1 or i == count - 1 else []
            sent += [scatter] if zero == 0 and i == count - 1 else []
        waits = sum(latency for _ in range(1, copies))
        for share in (Fraction(0), Fraction(1, 3), Fraction(1)):
            expected = share * sum(sent) + (1 - share) * best + waits
            given = {
                "T_scatter": scatter,
                "T_gather": gather,
                "T_dp_best": best,
                "alpha_dp": latency,
                "X": copies,
                "N_MB": count,
                "n_zero": zero,
                "g_dp": share,
            }
            assert at(lib.expected_dp, **given) == expected


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


@checks("expected_step", over=st.tuples(st.integers(1, 5), *[TIME] * 5))
def a_step_with_its_end(lib, case):
    count, micro, idle, hops, exposed, update = case
    now = Fraction(0)
    for piece in [micro] * count + [idle, hops, exposed, update]:
        now += piece
    given = {"N_MB": count, "T_mb": micro, "T_idle": idle, "T_pp": hops, "T_dp": exposed, "T_upd": update}
    assert at(lib.expected_step, **given) == now
