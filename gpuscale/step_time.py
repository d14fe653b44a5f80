"""A whole training step: the work of a stage, what its GPUs exchange and wait for, and what they hold.

A copy of the model takes Y n_cp GPUs in each of N_stages stages, and X copies share the batch. GPUs are numbered with
tensor parallelism innermost, then context parallelism, then data parallelism, and stages outermost; the Z ranks that
share the experts are neighbours. The fullest stage decides: it has L_stage layers.
"""

from dataclasses import replace

from sympy import Max, Min, Piecewise, ceiling

from gpuscale import activations, hierarchy, training_compute, training_memory
from gpuscale.formula import Formula
from gpuscale.needs import at_most, nested, whole
from gpuscale.symbols import (
    D_1,
    N_MB,
    W_1,
    W_2,
    B,
    B_mb,
    C,
    D,
    F,
    L,
    L_head,
    L_held,
    L_stage,
    N_gpu,
    N_stages,
    P,
    P_exp,
    P_layer,
    P_rank,
    P_stage,
    P_up,
    S,
    T_bwd,
    T_comms,
    T_cp,
    T_dp,
    T_ep,
    T_fwd,
    T_gather,
    T_hop,
    T_idle,
    T_mb,
    T_pp,
    T_scatter,
    T_step,
    T_tp,
    V,
    V_act,
    V_bwd,
    V_fwd,
    V_gpu,
    V_head,
    V_last,
    V_net,
    V_nvl,
    V_stage,
    V_state,
    V_work,
    W_hbm,
    X,
    Y,
    b,
    b_grad,
    b_kept,
    b_w,
    d_head,
    d_nope,
    d_rope,
    d_v,
    flop,
    g_cp,
    g_ep,
    g_tp,
    k,
    n_again,
    n_cp,
    n_cut,
    n_emb,
    n_few_attn,
    n_few_mlp,
    n_held,
    n_kv,
    n_mat,
    n_q,
    n_seq,
    n_shared,
    n_sp,
    n_virt,
    n_vocab,
    n_zero,
    ops_again,
    ops_attn,
    ops_stage,
    r_kv,
    r_q,
)  # fmt: skip

_LLAMA, _MEGATRON, _ZERO = "llama3, section 3.3.2", "megatron2021, section 3", "zero2019, section 7"
_KORTH, _MEMORY = "korthikanti2022, section 4", "deepseek-v3, section 3.2.3"
_SHARDED = "scaling-book-gpus, cross-node collectives with a sharded axis"

# Work
microbatches = Formula(
    "Microbatches of a step", N_MB, B / (S * X * n_seq), source=_MEGATRON, needs=(whole(B, S * X * n_seq),),
    assumes="for X copies of the model that take as many sequences each",
)  # fmt: skip
microbatch_tokens = Formula(
    "Tokens of a microbatch", B_mb, n_seq * S / n_cp, source=_LLAMA,
    assumes="for n_seq sequences, each cut over n_cp ranks",
)  # fmt: skip
_HEAD, _LAYER = 2 * flop * D * n_vocab, 2 * flop * P_layer + ops_attn
head_layers = Formula(
    "Layers that cost as much as the head", L_head, ceiling(_HEAD / _LAYER), source=_LLAMA,
    assumes="for equal layers, by their operations in the forward pass",
)  # fmt: skip
_ROOM = n_virt * ceiling((L + Min(N_stages - 1, 1) * L_head) / (N_stages * n_virt))
_SPARE = _ROOM - n_virt * ceiling(L / (N_stages * n_virt))
_ON_TOP = 2 - Max(1, Min(2, ceiling(_HEAD / (Max(_SPARE, 1) * _LAYER))))  # 1 where the head costs less than the room
stage_layers = Formula(
    "Layers of the fullest stage", L_stage, _ROOM - _SPARE * _ON_TOP, source=_LLAMA,
    assumes="for whole layers in equal pieces, with room for the head in the last stage, or the head on top if less",
)  # fmt: skip
stage_flops = Formula(
    "Operations of the slowest stage, for a token", ops_stage,
    Max(L_stage * _LAYER + _HEAD * Min(1, _ROOM - L_stage), (L * _LAYER + _HEAD) / N_stages), source=_LLAMA,
    assumes="for stages of L_stage layers, with room for the head in the last one, or with the head on top of it",
)  # fmt: skip
_ENOUGH = (at_most(L_stage * P_exp, L * P_stage),)
stage_rank_params = replace(
    training_memory.expert_params.where(
        N_stages=1, P=P_stage, P_exp=P_exp * L_stage / L, title="Parameters of a rank of the fullest stage"
    ),
    module=__name__, needs=_ENOUGH, assumes="when routed experts are spread whole over Z ranks, all else is cut Y ways",
)  # fmt: skip
again_flops = Formula(
    "Operations that the backward pass repeats, by what is run again", ops_again,
    Piecewise((0, n_again < 1), (training_compute.selective_repeated_flops.rhs + 2 * flop * L * P_up, n_again < 2),
              (training_compute.repeated_flops.rhs, True)),
    source=_KORTH, assumes="for nothing; for attention and the P_up parameters before it; for whole layers",
)  # fmt: skip
stage_forward = Formula(
    "Forward pass of a microbatch in a stage", T_fwd,
    Max(ops_stage * B_mb / (Y * C), b_w * P_rank / W_hbm) + V_fwd / W_hbm, source=_MEGATRON,
    assumes="when Y ranks share all products evenly, reading weights once; other kernels run between the products",
)  # fmt: skip
stage_backward = Formula(
    "Backward pass of a microbatch in a stage", T_bwd,
    Max((2 * ops_stage + L_stage / L * ops_again) * B_mb / (Y * C), (b_w + 2 * b_grad) * P_rank / W_hbm)
    + V_bwd / W_hbm, source=_MEGATRON,
    assumes="for two products for each one forward, and what is run again; gradients are read and written",
)  # fmt: skip

# A group of X ranks, each with Y inner neighbours, in nodes of D_1 GPUs: what arrives over which link
_FITS = (nested(Y, D_1), nested(X * Y, D_1))
group_nvlink = hierarchy.sharded_bytes_rails.where(S_child=1, S_unit=Min(D_1, X * Y), lhs=V_nvl)
group_nvlink = replace(
    group_nvlink, rhs=group_nvlink.rhs.subs({Min(1, Y): 1, Max(1, Y): Y}), source=_SHARDED,
    title="Bytes of a group over NVLink", module=__name__, needs=_FITS[:1],
    assumes="for an all-gather over X ranks of an array cut in Y as well; network cards feed their GPUs directly",
)  # fmt: skip
group_network = replace(
    hierarchy.sharded_bytes.where(S_child=D_1, S_top=Max(D_1, X * Y), lhs=V_net), source=_SHARDED,
    title="Bytes of a group over the network", module=__name__, needs=_FITS,
    assumes="for an all-gather over X ranks of an array cut in Y as well: what a node lacks enters it once",
)  # fmt: skip
level_time = Formula(
    "Time of what arrives over both levels", T_comms, Max(V_nvl / W_1, V_net / W_2), source=_SHARDED,
    assumes="when NVLink and network work at the same time, at their full bandwidths",
)  # fmt: skip
tp_bytes = Formula(
    "Arrays that tensor parallelism gathers and scatters", V,
    n_cut * L_stage * b * B_mb * D * Piecewise((4 + n_sp, n_again < 2), (6 + n_sp, True)), source=_KORTH,
    assumes="for a microbatch in a stage: two collectives for each block and pass, one more backward where tokens are "
    "shared out, and the forward ones again where whole layers are run again",
)  # fmt: skip
cp_bytes = Formula(
    "Keys and values that context parallelism gathers and scatters", V,
    2 * b * L_stage * n_seq * S * Max(n_kv, Y) * d_head * Piecewise((3, n_again < 2), (4, True)), source=_LLAMA,
    assumes="for a microbatch in a stage: gathered forward and backward, their slopes scattered; each of Y ranks has "
    "a head of its own at least",
)  # fmt: skip

stage_hop = Formula(
    "Transfer of a microbatch to the next stage", T_hop,
    Piecewise((0, N_stages < 2), (b * B_mb * D / (Y * W_1), N_gpu <= D_1),
              (b * B_mb * D / (Y * Min(W_1, W_2 / D_1)), True)),
    source=_MEGATRON,
    assumes="when each of Y ranks sends a slice: over NVLink if the run is in a node, else through its network card",
)  # fmt: skip

# The step
microbatch_time = Formula(
    "Time of a microbatch in a stage", T_mb, T_fwd + T_bwd + g_tp * T_tp + g_cp * T_cp + g_ep * T_ep, source=_MEGATRON,
    assumes="when a share g of each communication is waited for, the rest hidden behind arithmetic",
)  # fmt: skip
exposed_dp = Formula(
    "Data parallelism that nothing hides", T_dp,
    Piecewise(
        (Max(2 * T_scatter - T_bwd, 0), n_zero < 1),
        (Max(T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0), n_zero < 2),
        (N_MB * Max(T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0), n_zero < 3),
        (N_MB * (Max(T_gather + T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0)), True),
    ),
    source=_ZERO,
    assumes="when gradients travel during the last backward pass (where they are cut, ZeRO-2, during every one), new "
    "weights during the first forward pass (where they are cut, ZeRO-3, during every pass)",
)  # fmt: skip
step_sum = Formula(
    "Time of a training step", T_step, N_MB * T_mb + T_idle + T_pp + T_dp, source=_MEGATRON,
    assumes="for the busiest stage: its microbatches, its bubble, and what it waits for besides",
)  # fmt: skip

# Memory
stage_params = Formula(
    "Parameters of the fullest stage", P_stage,
    L_stage / L * (P - n_emb * n_vocab * D) + n_vocab * D * Piecewise((n_emb, N_stages < 2), (1, True)), source=_LLAMA,
    needs=(at_most(n_emb * n_vocab * D, P),),
    assumes="for equal layers; with two stages or more, embedding and output head are in different ones",
)  # fmt: skip
_STATES = (
    training_memory.replicated_state.where(P=training_memory.expert_params.rhs),
    training_memory.expert_zero1_state, training_memory.expert_zero2_state, training_memory.zero3_state.where(P=P / Y),
)  # fmt: skip
_fullest = {P: P_stage, P_exp: P_exp * L_stage / L, N_stages: 1, X: X * n_cp}


def _cut(state: Formula):
    """The state of the fullest stage of a model whose copies share out whole sequences and parts of them."""
    return state.rhs.subs(_fullest, simultaneous=True)


stage_state = Formula(
    "Training state of a GPU", V_state,
    Piecewise(*((_cut(f), n_zero < i) for i, f in enumerate(_STATES[:3], 1)), (_cut(_STATES[3]), True)),
    source="zero2019, section 5", needs=_ENOUGH,
    assumes="for the fullest stage, cut in Y, routed experts in Z, and each part over its copies by the stage of ZeRO",
)  # fmt: skip
few_attention = Formula(
    "Numbers that attention keeps, its result run again", n_few_attn, d_head * (n_q + 2 * n_kv), source=_KORTH,
    assumes="for queries, keys and values; the result is computed again from them",
)  # fmt: skip
few_latent_attention = Formula(
    "Numbers that latent attention keeps, cheap things run again", n_few_attn, r_q + r_kv + d_rope, source=_MEMORY,
    assumes="for the latent vectors; norms, queries, keys, values and the result are computed again",
)  # fmt: skip
latent_up_params = Formula(
    "Parameters that latent attention runs again", P_up, n_q * (r_q * (d_nope + d_rope) + r_kv * (d_nope + d_v)),
    source=_MEMORY, assumes="for the matrices that make queries, keys and values of the latent vectors",
)  # fmt: skip
few_mlp = Formula(
    "Numbers that an MLP keeps, the activation function run again", n_few_mlp, (n_mat - 1) * F, source=_MEMORY,
    assumes="for what enters the activation function, and the gate's factor if any",
)  # fmt: skip
few_moe = Formula(
    "Numbers that experts keep, the activation function run again", n_few_mlp,
    (k + n_shared) * (n_mat - 1) * F + k * D, source=_MEMORY,
    assumes="for each expert of a token its copy of the token and what enters the activation function, the router's "
    "weight being applied before the last matrix",
)  # fmt: skip
_flat = Piecewise((1, n_sp < 1), (Y, True))  # ranks that share what is not inside a block
_kept = (f.rhs.subs(S, S / n_cp) for f in (activations.layer_activations_tp, activations.layer_activations_sp))
_whole_layer = Piecewise((next(_kept), n_sp < 1), (next(_kept), True))
layer_kept = Formula(
    "Activations of a layer, by what is run again", V_act,
    Piecewise(
        (_whole_layer, n_again < 1),
        (n_seq * S / n_cp * (2 * b * D / _flat + b_kept * (n_few_attn + n_few_mlp) / Y), n_again < 2),
        (activations.checkpoint_activations.rhs.subs(S, S / n_cp) / _flat, True),
    ),
    source=_KORTH,
    assumes="for nothing run again; for norms, activation functions and the result of attention; for whole layers",
)  # fmt: skip
flying_layers = Formula(
    "Layers whose activations the first rank keeps", L_held, n_held * L_stage / n_virt, source=_MEGATRON,
    assumes="for n_held microbatches in flight, each in one of the n_virt pieces of L_stage layers",
)  # fmt: skip
flying_activations = Formula(
    "Activations of the microbatches in flight", V_stage, L_held * V_act, source=_MEGATRON,
    assumes="for a rank that keeps those of L_held layers, each of one microbatch",
)  # fmt: skip
last_stage_activations = Formula(
    "Activations of the last stage", V_last, L_stage * V_act + V_head / Y, source=_KORTH,
    assumes="for one microbatch in flight and the head, whose tokens or vocabulary Y ranks share",
)  # fmt: skip
working_memory = Formula(
    "Working buffers of a GPU", V_work,
    P_rank / L_stage * Piecewise((0, n_zero < 2), (b_grad, n_zero < 3), (2 * b_w + b_grad, True))
    + Piecewise((0, n_again < 1), (_whole_layer, True)),
    source=_ZERO,
    assumes="for the gradients of a layer (from ZeRO-2 on), two gathered layers (ZeRO-3), a layer that is run again",
)  # fmt: skip
gpu_memory = Formula(
    "Memory that a GPU needs", V_gpu, V_state + Max(V_stage, V_last) + V_work, source=_LLAMA,
    assumes="for the stage that needs most: the first has most microbatches in flight, the last has the head",
)  # fmt: skip
