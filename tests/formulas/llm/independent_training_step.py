"""A whole step: each formula against layers placed one by one, links counted, passes laid in time, elements stored."""

import functools
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from formulas.harness import at, checks
from formulas.llm.independent_counting import ask, dense, matrices
from formulas.llm.independent_counting import routed as routed_model
from hypothesis import strategies as st

from gpuscale.emulate import shapes, sharded
from gpuscale.emulate.stored import Layout, transformer_arrays
from gpuscale.schedules.collectives import hierarchical, ring
from gpuscale.schedules.collectives.routes import Tree, worst
from gpuscale.schedules.pipelines import orders

RATE = st.fractions(Fraction(1, 20), 20, max_denominator=20)
SMALL = st.integers(1, 4)
WIDTHS = st.tuples(*[st.fractions(Fraction(1, 4), 8, max_denominator=4)] * 3)


# ---- work


@checks("microbatches", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def sequences_dealt_to_copies(lib, case):
    copies, each, size, length = case
    piles = [[] for _ in range(copies)]
    for sequence in range(copies * each * size):
        piles[sequence % copies].append(sequence)
    batches = [piles[0][i : i + size] for i in range(0, len(piles[0]), size)]
    given = {"B": length * sum(map(len, piles)), "S": length, "X": copies, "n_seq": size}
    assert at(lib.microbatches, **given) == len(batches)


@checks("microbatch_tokens", over=st.tuples(SMALL, SMALL, SMALL))
def tokens_of_a_piece(lib, case):
    size, pieces, each = case
    mine = [(s, t) for s in range(size) for t in range(pieces * each) if t % pieces == 0]
    assert at(lib.microbatch_tokens, n_seq=size, S=pieces * each, n_cp=pieces) == len(mine)


@checks("mean_layer_matrices", over=st.tuples(st.one_of(dense(), routed_model()), st.integers(0, 2)))
def products_of_a_token(lib, case):
    """With copies of key heads there is more to multiply, and no more to learn."""
    m, more = case
    met, whole = (
        sum(p.inner * p.columns for p in shapes.products(replace(m, kv_heads=n), 1) if p.weight)
        for n in (m.kv_heads, m.kv_heads + more)
    )
    ours = ask(lib.mean_layer_matrices, m, P_act=met, n_key=m.kv_heads + more)
    assert ours * m.layers == whole - sum(m.d_model for _ in range(m.vocab))


@checks("head_layers", over=st.tuples(*[st.integers(1, 60)] * 4))
def layers_until_the_head_is_reached(lib, case):
    matrices, width, words, attention = case
    head, layer, count = width * words + width * words, matrices + matrices + attention, 0
    while count * layer < head:
        count += 1
    assert at(lib.head_layers, P_layer=matrices, D=width, n_vocab=words, ops_attn=attention) == count


def dealt(layers, head, stages, pieces):
    """Layers of the fullest stage: equal pieces that hold all layers, and ``head`` more where there are stages."""
    size, extra = 1, head if stages > 1 else 0
    while size * stages * pieces < layers + extra:
        size += 1
    return sum(size for _ in range(pieces))


# layers, stages, virtual stages, FLOPs of a layer; those of the head, as layers and what is more
FEW, TIMES = st.integers(1, 3), st.one_of(st.integers(0, 2), st.integers(0, 30))
MORE = st.one_of(FEW, st.integers(1, 60))
STAGES = st.tuples(st.integers(1, 80), st.integers(1, 4), FEW, st.integers(1, 60), TIMES, MORE)
MANY_PIECES = st.just((19, 2, 16, 10, 13, 10))  # a head nearly as large as a virtual stage


@checks("stage_room", "stage_layers", "stage_flops", over=st.one_of(STAGES, MANY_PIECES), examples=400)
def layers_dealt_to_stages(lib, case):
    """All placements of the head are laid out; the one whose slowest stage has less work is taken."""
    layers, stages, pieces, layer, times, more = case
    head = times * layer + more
    room = next(n for n in range(head + 1) if n * layer >= head)
    fewer = dealt(layers, room, stages, pieces)  # room for the head, or more
    if stages > 1:
        fewer = min(fewer, dealt(layers, 0, stages - 1, pieces))  # the head has the last stage for itself
    even = dealt(layers, 0, stages, pieces)
    with_room = fewer * layer if stages > 1 else fewer * layer + head
    on_top = even * layer + head
    full = even if fewer > even and on_top <= with_room else fewer
    given = {"L": layers, "L_head": room, "N_stages": stages, "n_virt": pieces, "D": 3, "n_vocab": Fraction(head, 6)}
    sizes = {name: given[name] for name in ("L", "L_head", "N_stages", "n_virt")}
    assert at(lib.stage_room, **sizes) == fewer
    del given["L_head"]
    given |= {"P_layer": Fraction(layer, 4), "ops_attn": Fraction(layer, 2), "L_room": fewer}
    assert at(lib.stage_layers, **given, n_even=0) == full
    slowest = on_top if full < fewer else full * layer
    mean = Fraction(layers * layer + head, stages)
    del given["n_virt"]
    assert at(lib.stage_flops, **given, L_stage=full, n_even=0) == max(slowest, head, mean)
    assert at(lib.stage_layers, **given, n_virt=pieces, n_even=1) == even
    assert at(lib.stage_flops, **given, L_stage=even, n_even=1) == on_top


def passes(ops, again, ranks, rate):
    """Forward and backward pass of one token, matmul by matmul: each needs two more in the backward pass."""
    forward = sum(Fraction(one, ranks) / rate for one in ops)
    back = sum(2 * Fraction(one, ranks) / rate for one in ops) + sum(Fraction(one, ranks) / rate for one in again)
    return forward, back


OPERATIONS = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@checks(
    "stage_forward", "stage_backward", over=st.tuples(OPERATIONS, SMALL, SMALL, RATE, RATE, WIDTHS, st.integers(0, 9))
)
def a_pass_is_arithmetic_or_memory(lib, case):
    ops, ranks, tokens, rate, memory, (weight, grad, _), kernels = case
    params = 3
    forward, back = (tokens * one for one in passes(ops, ops[:1], ranks, rate))
    read, write = sum(weight / memory for _ in range(params)), sum(grad / memory for _ in range(params))
    given = {
        "ops_stage": sum(ops),
        "B_mb": tokens,
        "Y": ranks,
        "C": rate,
        "P_rank": params,
        "W_hbm": memory,
        "b_w": weight,
        "b_grad": grad,
        "L_stage": 2,
        "L": 4,
        "ops_recompute": 2 * ops[0],
        "V_fwd": kernels,
        "V_bwd": kernels + kernels,
    }
    between = sum(1 / Fraction(memory) for _ in range(kernels))  # kernels run when the matmuls are done
    assert at(lib.stage_forward, **given) == max(forward, read) + between
    assert at(lib.stage_backward, **given) == max(back, read + write + write) + between + between


@checks("recomputed_flops", over=st.tuples(routed_model(latent=True), SMALL))
def what_is_recomputed_matmul_by_matmul(lib, case):
    """Latent attention, whose queries, keys and values are computed from narrow vectors that are stored."""
    m, tokens = case
    m = replace(m, dense_layers=m.layers)
    made = [p for layer in range(m.layers) for p in shapes.layer_products(m, layer, tokens)]
    up = ("query up", "key up", "value up")
    again = {0: [], 1: [p for p in made if not p.weight or p.name in up], 2: made}
    again[3] = [p for p in made if not p.weight]  # scores and the weighted sum
    for choice, products in again.items():
        given = {"L": m.layers, "P_layer": matrices(m, 0), "P_up": matrices(m, 0, up), "n_recompute": choice}
        given["ops_attn"] = Fraction(shapes.flops(shapes.attention_products(m, tokens)), tokens)
        assert at(lib.recomputed_flops, **given) == Fraction(shapes.flops(products), tokens)


# ---- links


def groups():
    """GPUs of a node, nodes, inner ranks: the group is part of a node, or whole nodes."""
    return st.tuples(st.sampled_from([2, 4]), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 4]))


@checks("group_nvlink", "group_network", over=groups())
def bytes_of_a_group_on_every_link(lib, case):
    node, nodes, inner = case
    sizes = [node * nodes] if nodes > 1 else [d for d in (1, 2, 4) if d <= node]
    for size in sizes:
        if size % inner or max(inner, node) % min(inner, node):
            continue
        degrees = (min(size, node), max(size // node, 1))
        loads = worst(hierarchical.all_gather(degrees, inner).per_link(Tree(degrees, rails=True)))
        given = {"V": 5, "X": size // inner, "Y": inner, "G": node}
        assert at(lib.group_nvlink, **given) == 5 * loads.get(1, 0)
        assert at(lib.group_network, **given) == 5 * loads.get(2, 0)


@checks(
    "dp_nvlink",
    "dp_network",
    over=st.tuples(groups(), st.sampled_from([1, 2, 4]), SMALL, st.integers(0, 3)),
    examples=150,
)
def parameters_of_a_stage_on_every_link(lib, case):
    """The replicas of what is sharded over Y gather it, then those of the experts, which are sharded over Z."""
    (node, nodes, slices), shards, plain, experts = case
    for size in [node * nodes] if nodes > 1 else [d for d in (1, 2, 4) if d <= node]:
        cuts = {slices: plain, shards: experts}
        if any(size % cut or max(cut, node) % min(cut, node) for cut in cuts):
            continue
        degrees = (min(size, node), max(size // node, 1))
        run = [(held, hierarchical.all_gather(degrees, cut)) for cut, held in ((slices, plain), (shards, experts))]
        loads = [(3 * held, worst(one.per_link(Tree(degrees, rails=True)))) for held, one in run]
        given = {"b": 3, "P_stage": plain + experts, "P_exp": 2 * experts, "L": 4, "L_stage": 2, "G": node}
        for cp in (n for n in (1, 2) if size % (slices * n) == 0):
            mesh = {"Y": slices, "Z": shards, "n_cp": cp, "X": size // slices // cp}
            assert at(lib.dp_nvlink, **given, **mesh) == sum(held * load.get(1, 0) for held, load in loads)
            assert at(lib.dp_network, **given, **mesh) == sum(held * load.get(2, 0) for held, load in loads)


@checks("level_time", over=st.tuples(RATE, RATE, RATE, RATE))
def both_levels_run_until_they_are_done(lib, case):
    inside, across, nvlink, network = case
    ends = sorted([inside / nvlink, across / network])
    assert at(lib.level_time, V_nvl=inside, V_net=across, W_nvl=nvlink, W_node=network) == ends[-1]


@checks("tp_bytes", over=st.tuples(SMALL, st.integers(0, 4), st.integers(2, 4), SMALL, SMALL))
def collectives_of_blocks_that_are_computed(lib, case):
    """The arrays of every gather and scatter of blocks over ranks, forward, again and backward; experts are whole."""
    layers, plain, ranks, tokens, width = case
    plain = min(plain, layers)
    x, out = np.ones((ranks * tokens, width), np.int16), np.ones((ranks, width), np.int16)
    _, split = sharded.mlp(x, [out.T], out, ranks)
    _, whole = sharded.mlp(x, [out.T], out, ranks, sequence=False)
    _, back = sharded.mlp_backward(x, out.T, out, x, ranks)
    passes = {0: (whole, whole), 1: (split, back)}  # an all-reduce is needed in each pass, or the tokens are split
    for (shared, (forward, backward)), again in product(passes.items(), (0, 1, 2, 3)):
        blocks = [forward, backward] + ([forward] if again == 2 else [])
        cut = [1] * layers + [1] * plain  # attention, and MLPs
        sent = sum(work.sent for _ in cut for work in blocks)
        given = {
            "L": 3 * layers,  # three equal stages
            "L_dense": 3 * plain,
            "L_stage": layers,
            "b": 2,
            "B_mb": len(x),
            "D": width,
            "n_sp": shared,
            "n_recompute": again,
        }
        assert at(lib.tp_bytes, **given) * ring.all_gather(ranks).busiest() == sent


@functools.cache
def gathered(layers, size, pieces, again, *numbers):
    """Bytes of arrays of so many numbers a token, gathered by the ranks of a sequence in each pass, their gradients
    scattered."""
    work = sharded.Work(pieces)
    for wide in numbers * layers:
        parts = sharded.rows(np.ones((pieces * 2, size, wide), np.int16), pieces)
        for _pass in ("forward", "backward", *(["forward again"] if again == 2 else [])):
            copies = work.gather(parts)
        work.scatter(copies)
    return work.sent


@checks(
    "cp_bytes",
    "latent_cp_bytes",
    "whole_key_heads",
    over=st.tuples(SMALL, SMALL, st.integers(2, 4), SMALL, SMALL, SMALL),
)
def keys_and_values_gathered_pass_by_pass(lib, case):
    """Each of Y ranks has its heads, whole ones, over ``pieces`` of the sequence; or the latent vector, whole."""
    layers, size, pieces, heads, ranks, wide = case
    if heads % ranks and ranks % heads:
        return
    share = ring.all_gather(pieces).busiest()
    held = [len(range(rank, heads, ranks)) or 1 for rank in range(ranks)]
    assert at(lib.whole_key_heads, n_kv=heads, Y=ranks) == sum(held)
    for again in (0, 1, 2, 3):
        given = {"b": 2, "L_stage": layers, "n_seq": size, "S": 2 * pieces, "n_recompute": again}
        moved = sum(gathered(layers, size, pieces, again, wide * one, wide * one) for one in held)  # keys, values
        assert at(lib.cp_bytes, **given, n_key=sum(held), d_head=wide) * share == moved
        moved = sum(gathered(layers, size, pieces, again, heads, wide) for _ in held)
        assert at(lib.latent_cp_bytes, **given, Y=ranks, r_kv=heads, d_rope=wide) * share == moved


@checks("stage_hop", over=st.tuples(SMALL, SMALL, RATE, RATE, st.integers(1, 4)))
def a_microbatch_goes_on(lib, case):
    tokens, ranks, nvlink, network, stages = case
    node = 4
    bytes_each = Fraction(sum(2 * 3 for _ in range(tokens)), ranks)
    for gpus in (node, 2 * node):
        rates = [nvlink] if gpus <= node else [nvlink, network / node]
        expected = max(bytes_each / rate for rate in rates) if stages > 1 else 0
        given = {"b": 2, "B_mb": tokens, "D": 3, "Y": ranks, "W_nvl": nvlink, "W_node": network, "G": node}
        assert at(lib.stage_hop, **given, N_gpu=gpus, N_stages=stages) == expected


# ---- the step


@checks("microbatch_time", over=st.tuples(*[RATE] * 5))
def a_microbatch_waits_for_its_share(lib, case):
    forward, back, tp, cp, ep = case
    half, third, fifth = Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)
    slots = [forward, back, tp / 2, cp / 3, ep / 5]  # half of TP is exposed, a third of CP, a fifth of EP
    given = {"T_fwd": forward, "T_bwd": back, "T_tp": tp, "T_cp": cp, "T_ep": ep}
    given |= {"g_tp": half, "g_cp": third, "g_ep": fifth}
    assert at(lib.microbatch_time, **given) == sum(slots)


def timeline(zero, count, forward, back, scatter, gather):
    """The end of all microbatches on one rank: a pass ends when its work and the overlapping communication are done."""
    now = Fraction(0)
    for i in range(count):
        beside = {0: 0, 1: gather * (i == 0), 2: gather * (i == 0), 3: gather}[zero]
        now += max(forward, beside)
        last = i == count - 1
        beside = {0: 2 * scatter * last, 1: scatter * last, 2: scatter, 3: gather + scatter}[zero]
        now += max(back, beside)
    return now


@checks("dp_passes", over=st.tuples(st.integers(1, 4), WIDTHS))
def arrays_that_move_in_every_pass(lib, case):
    count, (weight, grad, _) = case
    for zero in range(4):
        moved = []
        for i in range(count):
            first, last = i == 0, i == count - 1
            moved += [weight] if zero == 3 or (zero and first) else []  # forward
            moved += [weight] if zero == 3 else []  # backward
            moved += [grad] if zero > 1 or last else []
            moved += [grad] if zero == 0 and last else []  # summed ones go back to all ranks
        assert at(lib.dp_passes, n_zero=zero, N_MB=count, b_w=weight, b_grad=grad) == sum(moved)


@checks("forward_slot", "backward_slot", over=st.tuples(RATE, RATE, RATE))
def waits_in_proportion(lib, case):
    forward, back, wait = case
    given = {"T_fwd": forward, "T_bwd": back, "T_mb": forward + back + wait}
    ahead, behind = at(lib.forward_slot, **given), at(lib.backward_slot, **given)
    assert ahead + behind == forward + back + wait
    assert (ahead - forward) * back == (behind - back) * forward


@checks("step_bytes", "reached_flops", "reached_bandwidth", over=st.tuples(st.integers(1, 5), st.integers(1, 5), RATE))
def so_many_times(lib, case):
    count, idle, rate = case
    assert at(lib.step_bytes, N_MB=count, V=rate) == sum(rate for _ in range(count))
    seconds = [rate] * count + [0] * idle  # at the peak, then not at all
    share = {"eta": Fraction(count, len(seconds))}
    mean = sum(seconds) / len(seconds)
    assert at(lib.reached_flops, C_ref=rate, **share) == at(lib.reached_bandwidth, W_ref=rate, **share) == mean


@checks("exposed_dp", over=st.tuples(st.integers(1, 4), RATE, RATE, RATE, RATE))
def gradients_beside_the_passes(lib, case):
    count, forward, back, scatter, gather = case
    for zero in range(4):
        late = timeline(zero, count, forward, back, scatter, gather) - count * (forward + back)
        given = {"T_scatter": scatter, "T_gather": gather, "T_fwd": forward, "T_bwd": back, "N_MB": count}
        assert at(lib.exposed_dp, **given, n_zero=zero, N_stages=count, n_virt=1) == late


def left_over(order, sent, took):
    """What of a transfer is left after passes through the virtual stages in ``order``: each has an equal part of it,
    which is ready for the link with the last pass through that stage."""
    many = len(set(order))
    free = Fraction(0)
    for i, stage in enumerate(order):
        if stage not in order[i + 1 :]:
            free = max(free, i * took / many) + sent / many
    return max(free - len(order) * took / many, 0)


@checks("exposed_dp", over=st.tuples(SMALL, st.integers(1, 2), st.integers(2, 3), RATE, RATE, RATE, RATE))
def gradients_beside_the_passes_through_virtual_stages(lib, case):
    ranks, groups, many, forward, back, scatter, gather = case
    count = ranks * groups
    slots = sorted(orders.interleaved(ranks, count, many).slots, key=lambda slot: slot.start)
    ahead, behind = ([s.stage // ranks for s in slots if s.rank == 0 and s.kind == kind] for kind in "FB")
    weights = left_over(ahead[::-1], gather, forward)  # seen from the end: needed with the first pass through a stage
    late = [left_over(behind, 2 * scatter, back), left_over(behind, scatter, back) + weights]
    late += [count * max(scatter - back, 0) + weights]
    given = {"T_scatter": scatter, "T_gather": gather, "T_fwd": forward, "T_bwd": back, "N_MB": count}
    for zero, exposed in enumerate(late):
        assert at(lib.exposed_dp, **given, n_zero=zero, N_stages=ranks, n_virt=many) == exposed


@checks("step_sum", over=st.tuples(st.integers(1, 5), *[RATE] * 4))
def a_step_end_to_end(lib, case):
    count, micro, idle, hops, exposed = case
    now = Fraction(0)
    for piece in [micro] * count + [idle, hops, exposed]:
        now += piece
    assert at(lib.step_sum, N_MB=count, T_mb=micro, T_idle=idle, T_pp=hops, T_dp=exposed) == now


# ---- memory


@checks(
    "stage_params",
    "any_stage_params",
    over=st.tuples(st.integers(1, 3), st.integers(1, 3), SMALL, SMALL, st.integers(0, 2)),
)
def parameters_of_the_fullest_stage(lib, case):
    """A layer has a matrix for the keys and one for the values of each head, with a bias or without; some heads are
    there more than once."""
    stages, depth, heads, words, more = case
    for bias in (0, 1):
        head = [3 * 5, 5 * bias] * 2
        plain, laid = (transformer_arrays(stages * depth, head * n, ends=3 * words) for n in (heads, heads + more))
        layout = Layout(laid, stages=stages)
        given = {"L_stage": depth, "L": stages * depth, "P": sum(a.size for a in plain), "n_emb": 2, "n_vocab": words}
        given |= {"n_kv": heads, "n_key": heads + more, "d_head": 5, "n_bias": bias, "D": 3, "N_stages": stages}
        held = [layout.count(rank, "weights") for rank in layout.ranks]
        assert at(lib.stage_params, **given) == max(held)
        for stage, count in enumerate(held):
            ends = sum(stage == end for end in (0, stages - 1))  # the embedding, and the head
            assert at(lib.any_stage_params, **given, n_end=ends) == count


# replicas that split the sequences, ranks of a sequence, slices, shards of the experts
MESHES = st.tuples(*[st.integers(1, 2)] * 3, st.sampled_from([1, 2, 4]), SMALL).filter(
    lambda case: case[0] * case[1] * case[2] % case[3] == 0
)


def routed(case, zero=0):
    """A stage of a model with experts, laid out; and what the formulas take."""
    copies, cp, slices, shards, depth = case
    whole = 4 * copies * cp * slices
    arrays = transformer_arrays(depth, (whole,), experts=shards, expert=(whole,))
    layout = Layout(arrays, copies * cp, slices, 1, shards, zero)
    experts = sum(a.size for a in arrays if a.expert is not None)
    given = {"P_stage": sum(a.size for a in arrays), "P_exp": 3 * experts, "L": 3 * depth, "L_stage": depth}
    return layout, given | {"X": copies, "n_cp": cp, "Y": slices, "Z": shards}


@functools.cache
def fullest(case, zero, widths):
    """Bytes of the fullest rank of such a stage."""
    return routed(case, zero)[0].fullest(widths)


@checks("stage_rank_params", over=MESHES)
def what_a_rank_of_a_stage_holds(lib, case):
    layout, given = routed(case)
    assert at(lib.stage_rank_params, **given) == max(layout.count(rank, "weights") for rank in layout.ranks)


@checks("stage_state", "dualpipe_state", over=st.tuples(MESHES, WIDTHS))
def states_of_a_stage(lib, pair):
    case, widths = pair
    for zero in range(4):
        _, given = routed(case, zero)
        said = dict(zip(("b_w", "b_grad", "b_opt"), widths, strict=True))
        there, back = fullest(case, zero, widths), fullest(case, zero, (*widths[:2], 0))
        assert at(lib.stage_state, **given, **said, n_zero=zero) == there
        # two stages, one optimizer of two ranks
        assert at(lib.dualpipe_state, **given, **said, n_zero=zero) == there + back


@checks(
    "few_attention",
    "few_mlp",
    "few_moe",
    "few_latent_attention",
    "latent_up_params",
    over=st.tuples(*[st.integers(1, 5)] * 6),
)
def tensors_that_stay(lib, case):
    heads, groups, wide, narrow, top, shared = case
    kept = [(heads, wide), (groups, wide), (groups, wide)]  # queries, keys, values
    assert at(lib.few_attention, n_q=heads, n_kv=groups, d_head=wide) == sum(map(prod, kept))
    assert at(lib.few_latent_attention, r_q=wide, r_kv=narrow, d_rope=top) == sum([wide, narrow, top])
    up = [(wide, heads * (narrow + top)), (groups, heads * narrow), (groups, heads * shared)]
    named = {"r_q": wide, "r_kv": groups, "d_nope": narrow, "d_rope": top, "d_v": shared, "n_q": heads}
    assert at(lib.latent_up_params, **named, D=top) == sum(map(prod, up))
    up[0] = (top + 1, heads * (narrow + top))  # queries come from the model's vector
    assert at(lib.latent_up_params, **named | {"r_q": 0}, D=top + 1) == sum(map(prod, up))
    for count in (2, 3):
        entering = [(wide,)] * (count - 1)  # all but the one that the activation function makes
        assert at(lib.few_mlp, n_mat=count, F=wide) == sum(map(prod, entering))
        routed_to = [one for _ in range(top) for one in [(narrow,), *entering]] + entering * shared
        given = {"k": top, "n_shared": shared, "n_mat": count, "F": wide, "D": narrow}
        assert at(lib.few_moe, **given) == sum(map(prod, routed_to))


def tensors_of_a_layer(again, shared, ranks, width, kept, few):
    """Bytes of one token on a rank, tensor by tensor: (size, ranks that share it)."""
    flat = ranks if shared else 1
    if again in {0, 3}:  # attention that stores no scores has none to recompute
        norms = [(2 * width, flat)] * 4  # into and out of two norms
        return [*norms, *((2 * one, ranks) for one in kept)]
    if again == 1:
        return [(2 * width, flat)] * 2 + [(1 * one, ranks) for one in few]  # into products: a byte each
    return [(2 * width, flat)]


@checks(
    "whole_layer",
    "coreless_layer",
    "layer_kept",
    "working_memory",
    over=st.tuples(SMALL, SMALL, SMALL, st.integers(1, 9), st.integers(1, 9)),
)
def what_a_layer_keeps_and_buffers(lib, case):
    tokens, ranks, width, kept, few = case
    for again, shared in product(range(4), range(2)):
        sizes = tensors_of_a_layer(again, shared, ranks, width, (kept, kept + 1), (few, few + 1))
        held = sum(Fraction(size, over) for _ in range(3 * tokens) for size, over in sizes)
        given = {
            "b": 2,
            "b_kept": 1,
            "n_seq": 3,
            "S": 2 * tokens,
            "n_cp": 2,
            "D": width,
            "Y": ranks,
            "n_kept_attn": kept,
            "n_kept_mlp": kept + 1,
            "n_few_attn": few,
            "n_few_mlp": few + 1,
        }
        given |= {"n_sp": shared, "n_drop": 0, "n_q": ranks, "F": 1, "b_mask": 1, "n_extra": 0}
        given |= {"V_whole": at(lib.whole_layer, **given), "V_coreless": at(lib.coreless_layer, **given)}
        assert at(lib.layer_kept, **given, n_recompute=again) == held
        whole = tensors_of_a_layer(0, shared, ranks, width, (kept, kept + 1), ())
        for zero in range(4):
            buffers = (
                [sum(Fraction(size, over) for _ in range(3 * tokens) for size, over in whole)]
                if again in {1, 2}
                else []
            )
            buffers += {0: [], 1: [], 2: [5 * 4], 3: [5 * 4, 5 * 2, 5 * 2]}[zero]  # gradients; the layer and the next
            more = {"P_rank": 15, "L_stage": 3, "b_w": 2, "b_grad": 4, "n_zero": zero, "n_recompute": again}
            assert at(lib.working_memory, **given, **more) == sum(buffers)


@checks("framework_elements", "whole_layer", "coreless_layer", over=st.tuples(SMALL, SMALL, SMALL, SMALL, SMALL))
def what_a_framework_stores_on_top(lib, case):
    """Arrays of a rank one by one: sharded ones, and inputs gathered from all ranks that keep more than their slice."""
    ranks, width, wide, dense, routed_to = case
    layers = [[width] * 4 + [wide * 5] * 2 for _ in range(dense)]  # four copies, and two results of an activation
    layers += [[width] * 4 + [wide] * (2 * (routed_to + ranks)) for _ in range(3)]  # some of the experts are shared
    known = {"n_copy": 4, "n_wide": 2, "D": width, "L": dense + 3, "L_dense": dense, "F_dense": 5 * wide, "F": wide}
    mean = at(lib.framework_elements, **known, k=routed_to, n_shared=ranks)
    assert mean * len(layers) == sum(map(sum, layers))
    given = {"b": 2, "n_seq": 3, "S": 4, "n_cp": 2, "D": width, "Y": ranks, "n_kept_attn": 5, "n_kept_mlp": 7}
    given |= {"n_drop": 0, "n_q": 1, "F": 1, "b_mask": 1, "n_extra": 0}
    for shared in (0, 1):
        added = sum(2 * Fraction(mean, ranks) for _ in range(3 * 4 // 2))
        for formula in (lib.whole_layer, lib.coreless_layer):
            plain = at(formula, **given, n_sp=shared)
            assert at(formula, **given | {"n_sp": shared, "n_extra": mean}) - plain == added


@checks("whole_layer", "coreless_layer", "layer_kept", "working_memory", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def what_a_gpt_with_dropout_stores(lib, case):
    """Tensors of a rank: its tokens against all tokens of the sequence, each score stored twice and with a mask."""
    ranks, heads, wide, parts = case
    heads, tokens, seqs = heads * ranks, parts * ranks, 2
    width, length = 3 * heads, parts * tokens
    for shared in (0, 1):
        own = tokens // ranks if shared else tokens
        flat = [(seqs, own, width)]
        inside = [(seqs, tokens, width // ranks)] * 4 + [(seqs, tokens, wide)] * 2
        scores = [(seqs, heads // ranks, tokens, length)]

        def size(arrays, each):
            return each * sum(map(prod, arrays))

        coreless = size(flat * 4 + inside, 2) + size(flat * 2, 1)
        whole = coreless + size(scores * 2, 2) + size(scores, 1)
        given = {"b": 2, "b_mask": 1, "n_seq": seqs, "S": length, "n_cp": parts, "D": width, "Y": ranks, "n_q": heads}
        given |= {"F": wide * ranks, "n_drop": 1, "n_sp": shared, "n_kept_attn": 1, "n_kept_mlp": 1}
        given |= {"n_extra": 0}
        assert at(lib.whole_layer, **given) == whole
        assert at(lib.coreless_layer, **given) == coreless
        given |= {"V_whole": whole, "V_coreless": coreless, "n_few_attn": 3 * width, "n_few_mlp": wide * ranks}
        cheap = size(flat * 2 + inside[:3] + inside[-1:], 2) + size(flat * 2, 1)
        for again, held in enumerate((whole, cheap, size(flat, 2), coreless)):
            assert at(lib.layer_kept, **given, b_kept=2, n_recompute=again) == held
        more = {"P_rank": 15, "L_stage": 3, "b_w": 2, "b_grad": 4, "n_zero": 0}
        for again, made in enumerate((0, whole, whole, whole - coreless)):
            assert at(lib.working_memory, **given, **more, n_recompute=again) == made


@checks("unfreed_arrays", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def arrays_that_are_not_freed_yet(lib, case):
    """Array by array what the other ranks' tokens take, weighed by all ways in which nodes stall or do not."""
    arrays, ranks, parts, nodes = case
    tokens, stall = parts * ranks, Fraction(1, 5)
    others = sum(2 * 3 for _ in range(arrays) for token in range(tokens) if token % ranks)  # three elements of 2 bytes
    calm = sum(prod(stall if bad else 1 - stall for bad in days) * (not any(days))
               for days in product((0, 1), repeat=nodes))  # fmt: skip
    given = {"n_ahead": arrays, "b": 2, "B_mb": tokens, "D": 3, "Y": ranks, "p_calm": 1 - stall, "M": nodes}
    for stages, chance in {1: 1, 2: 0, 3: calm, 8: calm}.items():
        for shared in (0, 1):
            found = at(lib.unfreed_arrays, **given, n_sp=shared, N_stages=stages)
            assert found == (others * chance if shared else 0)


@checks("framework_memory", "stage_activations", over=st.tuples(SMALL, SMALL, SMALL, RATE, RATE))
def what_comes_on_top(lib, case):
    copies, parts, params, fixed, size = case
    buckets = [2] * params if copies * parts > 1 else []  # a lone replica has nobody to add gradients up with
    given = {"b_bucket": 2, "P_rank": params, "X": copies, "n_cp": parts, "V_fix": fixed}
    assert at(lib.framework_memory, **given, V_ahead=7 * size) == sum([size] * 7) + sum(buckets) + fixed
    for last in (0, 1):
        held = [size] * params + [fixed / copies] * last
        given = {"L_held": params, "V_act": size, "n_last": last, "V_head": fixed, "Y": copies}
        assert at(lib.stage_activations, **given) == sum(held)


@checks("flying_layers", "flying_activations", over=st.tuples(SMALL, SMALL, SMALL, RATE))
def layers_in_flight(lib, case):
    pieces, each, held, size = case
    layers = [one for _ in range(held) for one in range(each)]  # a piece in flight is some layers of a microbatch
    given = {"n_held": held, "L_stage": pieces * each, "n_virt": pieces}
    assert at(lib.flying_layers, **given) == len(layers)
    assert at(lib.flying_activations, L_held=len(layers), V_act=size) == sum(size for _ in layers)


@checks("last_stage_activations", "gpu_memory", over=st.tuples(SMALL, SMALL, RATE, RATE, RATE, RATE))
def the_stage_that_needs_most(lib, case):
    layers, ranks, layer, head, state, flying = case
    last = sum(layer for _ in range(layers)) + head / ranks
    assert at(lib.last_stage_activations, L_stage=layers, V_act=layer, V_head=head, Y=ranks) == last
    stages = [state + flying + 1, state + last + 1]
    given = {"V_state": state, "V_stage": flying, "V_last": last, "V_work": 1}
    assert at(lib.gpu_memory, **given, V_extra=head) == max(stages) + head


@checks("kept_activations", "kept_last_activations", "host_memory", over=st.tuples(*[SMALL] * 4, *[RATE] * 3))
def layers_that_leave_and_layers_that_stay(lib, case):
    """One layer after the other moves to the host, until as few are left as may stay; the head never moves."""
    flying, layers, keep, ranks, size, head, optimizer = case
    for held, tail in ((flying, 0), (layers, head / ranks)):
        here, away = [size] * held, [optimizer]
        while len(here) > keep:
            away.append(here.pop())
        if tail:
            found = at(lib.kept_last_activations, L_stage=held, L_keep=keep, V_act=size, V_head=head, Y=ranks)
        else:
            found = at(lib.kept_activations, L_held=held, L_keep=keep, V_act=size)
        assert found == sum(here) + tail
        if len(away) > 1:
            assert at(lib.host_memory, V_state=optimizer, V_stage=sum(away[1:])) == sum(away)
