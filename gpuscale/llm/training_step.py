"""A whole training step: the work of a stage, what its GPUs exchange and wait for, and what they hold.

A replica of the model takes Y n_cp GPUs in each of N_stages stages,
    and X replicas share the batch. GPUs are numbered with
tensor parallelism innermost, then context parallelism, then data parallelism, and stages outermost; the Z ranks that
share the experts are neighbors. The fullest stage sets the pace: it has L_stage layers.
"""

# fmt: off

from sympy import Max, Min, Piecewise, ceiling

from gpuscale.collectives import hierarchy
from gpuscale.core.conditions import at_most, divisible, nested
from gpuscale.core.formula import Formula, declare
from gpuscale.llm import expert_parallel, training_compute
from gpuscale.symbols import *

_LLAMA, _MEGATRON, _ZERO = "llama3, section 3.3.2", "megatron2021, section 3", "zero2019, section 7"
_KORTH = "korthikanti2022, section 4"
_SHARDED = "scaling-book-gpus, cross-node collectives with a sharded axis"

# Work
whole_key_heads = Formula("Key heads of all ranks together", n_key, Max(n_kv, Y), source=_MEGATRON,
    assumes="when each rank has whole heads; with more ranks than key heads, key heads are replicated",
    needs=(nested(n_kv, Y),))
mean_layer_matrices = Formula("Parameters that work on a token in an average layer, on all ranks", P_layer,
    (P_act - D * n_vocab) / L + 2 * D * d_head * (n_key - n_kv), source=_LLAMA,
    needs=(at_most(D * n_vocab, P_act), at_most(n_kv, n_key)),
    assumes="for all matrices but the output head, and one more matmul per copy of a key head")
microbatches = Formula("Microbatches of a step", N_MB, B / (S * X * n_seq), source=_MEGATRON,
    needs=(divisible(B, S * X * n_seq),), assumes="for X replicas of the model with the same number of sequences each")
microbatch_tokens = Formula("Tokens of a microbatch", B_mb, n_seq * S / n_cp, source=_LLAMA,
    assumes="for n_seq sequences, each sharded over n_cp ranks")
_HEAD, _LAYER = 2 * flop * D * n_vocab, 2 * flop * P_layer + ops_attn
head_layers = Formula("Layers that cost as much as the head", L_head, ceiling(_HEAD / _LAYER), source=_LLAMA,
    assumes="for equal layers, by their FLOPs in the forward pass")
stage_room = Formula("Layers of a stage if the last one has room for the head", L_room,
    n_virt * Min(ceiling((L + L_head) / (N_stages * n_virt)), ceiling(L / (Max(N_stages - 1, 1) * n_virt))),
    source=_LLAMA,
    assumes="for whole layers in equal virtual stages; the last stage may hold nothing but the head, a single one all")
_EVEN = n_virt * ceiling(L / (N_stages * n_virt))
_SPARE = L_room - _EVEN
_ON_TOP = 2 - Max(1, Min(2, ceiling(_HEAD / (Max(_SPARE, 1) * _LAYER))))  # 1 where the head costs less than the room
stage_layers = Formula("Layers of the fullest stage", L_stage,
    Piecewise((L_room - _SPARE * _ON_TOP, n_even < 1), (_EVEN, True)), source=_LLAMA,
    assumes="with room for the head in the last stage, or the head on top if that is less, or if stages are to be even")
stage_flops = Formula("FLOPs per token of the slowest stage", ops_stage,
    Max(L_stage * _LAYER + _HEAD * Piecewise((Min(1, L_room - L_stage), n_even < 1), (1, True)), _HEAD,
        (L * _LAYER + _HEAD) / N_stages), source=_LLAMA,
    assumes="for stages of L_stage layers, with room for the head in the last one, or with the head on top of it; the "
    "head is in one stage")
recomputed_flops = Formula("FLOPs that the backward pass recomputes, by choice", ops_recompute,
    Piecewise((0, n_recompute < 1),
              (training_compute.selective_repeated_flops.rhs + 2 * flop * L * P_up, n_recompute < 2),
              (training_compute.repeated_flops.rhs, n_recompute < 3),
              (training_compute.selective_repeated_flops.rhs, True)), source=_KORTH,
    assumes="for nothing; for attention and the P_up parameters before it; for whole layers; for the core of attention")
stage_forward = Formula("Forward pass of a microbatch in a stage", T_fwd,
    Max(ops_stage * B_mb / (Y * C), b_w * P_rank / W_hbm) + V_fwd / W_hbm, source=_MEGATRON,
    assumes="when Y ranks share all matmuls evenly, reading weights once; other kernels run between the matmuls")
stage_backward = Formula("Backward pass of a microbatch in a stage", T_bwd,
    Max((2 * ops_stage + L_stage / L * ops_recompute) * B_mb / (Y * C), (b_w + 2 * b_grad) * P_rank / W_hbm)
    + V_bwd / W_hbm, source=_MEGATRON,
    assumes="for two matmuls per matmul of the forward pass, and recomputation; gradients are read and written")

# A group of X ranks, each with Y inner neighbors, in nodes of G GPUs: what arrives over which link
_FITS = (nested(Y, G), nested(X * Y, G))
_into_a_gpu = hierarchy.sharded_bytes_rails.where(n_unit=Min(G, X * Y)).rhs
group_nvlink = Formula("Bytes of a group over NVLink", V_nvl, _into_a_gpu.subs({Min(1, Y): 1, Max(1, Y): Y}),
    source=_SHARDED, needs=_FITS[:1],
    assumes="for an all-gather over X ranks of an array that is sharded over Y as well; NICs feed their GPUs directly")
group_network = hierarchy.sharded_bytes.where(n_in=G, N=Max(G, X * Y), lhs=V_net, source=_SHARDED,
    title="Bytes of a group over the network", needs=_FITS,
    assumes="for an all-gather over X ranks of an array that is sharded over Y as well: what a node lacks enters it "
    "once")
level_time = Formula("Time of what arrives over both levels", T_comms, Max(V_nvl / W_nvl, V_net / W_node),
    source=_SHARDED, assumes="when NVLink and network work at the same time, at their full bandwidths")
AGAIN = Piecewise((0, n_recompute < 2), (1, n_recompute < 3), (0, True))  # whole layers run forward once more
tp_bytes = Formula("Arrays that tensor parallelism gathers and scatters", V,
    (1 + L_dense / L) * L_stage * b * B_mb * D * (4 + n_sp + 2 * AGAIN),
    source=_KORTH,
    assumes="for a microbatch in a stage: two collectives per block and pass, one more backward if tokens are "
    "sharded, and the forward ones again if whole layers are recomputed; experts are not sharded")
_PASSES = 2 + AGAIN  # forward and backward
cp_bytes = Formula("Keys and values that context parallelism gathers and scatters", V,
    2 * b * L_stage * n_seq * S * n_key * d_head * (_PASSES + 1), source=_LLAMA,
    assumes="for a microbatch in a stage: gathered in each pass, their gradients scattered")
latent_cp_bytes = Formula("Latent vectors that context parallelism gathers and scatters", V,
    b * L_stage * n_seq * S * Y * (r_kv + d_rope) * (_PASSES + 1), source=_LLAMA,
    assumes="for a microbatch in a stage: gathered in each pass, their gradients scattered, whole by each of Y ranks")

# Experts, for a microbatch in a stage: dispatched and combined in each pass
_EXCHANGES = _PASSES * L_stage * (L - L_dense) / L
_GROUP = {B: Z * B_mb / Y, G: Min(Z, G), M: Max(Z / G, 1), f_hit: f_node}
_SPREAD = (nested(Z, G), at_most(L_dense, L))
exchange_nvlink = Formula("Bytes that experts exchange over NVLink", V_nvl,
    _EXCHANGES * W_nvl * expert_parallel.ep_fan_out.rhs.xreplace({B: _GROUP[B], G: _GROUP[G]}),
    source="deepseek-v3, section 3.2.2", needs=_SPREAD, assumes=expert_parallel.ep_fan_out.assumes)
exchange_network = Formula("Bytes that experts exchange over the network", V_net,
    _EXCHANGES * W_node * expert_parallel.ep_node_comms.rhs.xreplace(_GROUP),
    source=_SHARDED, needs=_SPREAD, assumes=expert_parallel.ep_node_comms.assumes.replace("f_hit", "f_node"))

# Parameters of the fullest stage: X n_cp replicas of what is sharded over Y, X n_cp Y/Z of what is sharded over Z
_ROUTED, _REPLICAS = P_exp * L_stage / L, X * n_cp
_CUT = (nested(Y, G), nested(Z, G), nested(Y * _REPLICAS, G), divisible(Y * _REPLICAS, Z))
_CUT += (at_most(L_stage * P_exp, L * P_stage),)


def _gathered(title: str, level: Formula) -> Formula:
    """What arrives over a level when all replicas gather them, b bytes each."""
    dense = level.rhs.xreplace({V: P_stage - _ROUTED, X: _REPLICAS})
    routed = level.rhs.xreplace({V: _ROUTED, X: _REPLICAS * Y / Z, Y: Z})
    return Formula(
        title, level.lhs, b * (dense + routed), source=_SHARDED, needs=_CUT,
        assumes="for routed experts spread whole over Z ranks, all else sharded over Y; " + level.assumes)


dp_nvlink = _gathered("Bytes of a stage's parameters over NVLink", group_nvlink)
dp_network = _gathered("Bytes of a stage's parameters over the network", group_network)
dp_passes = Formula("Bytes per parameter that data parallelism moves per step", b,
    b_grad * Piecewise((2, n_zero < 1), (1, n_zero < 2), (N_MB, True))
    + b_w * Piecewise((0, n_zero < 1), (1, n_zero < 3), (2 * N_MB, True)), source=_ZERO,
    assumes="for gradients that are all-reduced, or reduce-scattered once, or (ZeRO-2) per microbatch; and weights "
    "that "
    "are gathered once, or (ZeRO-3) in each pass")
step_bytes = Formula("Bytes of a step", V_step, N_MB * V, source=_MEGATRON,
    assumes="when each microbatch moves the same number of bytes")

stage_hop = Formula("Transfer of a microbatch to the next stage", T_hop,
    Piecewise((0, N_stages < 2), (b * B_mb * D / (Y * W_nvl), N_gpu <= G),
              (b * B_mb * D / (Y * Min(W_nvl, W_node / G)), True)), source=_MEGATRON,
    assumes="when each of Y ranks sends a slice: over NVLink if the run fits in a node, else through its NIC")

# The step
reached_flops = Formula("Achieved FLOP/s", C, eta * C_ref, source=_MEGATRON,
    assumes="for a fraction of the peak C_ref")
reached_bandwidth = Formula("Achieved bandwidth", W, eta * W_ref, source=_SHARDED,
    assumes="for a fraction of the peak W_ref")
microbatch_time = Formula("Time of a microbatch in a stage", T_mb,
    T_fwd + T_bwd + g_tp * T_tp + g_cp * T_cp + g_ep * T_ep, source=_MEGATRON,
    assumes="when a fraction g of each communication is exposed, and the rest is hidden behind arithmetic")
_SHARED = "when the exposed time of a microbatch is split between its passes in proportion to their length"
forward_slot = Formula("Forward part of a microbatch's time", t_F, T_mb * T_fwd / (T_fwd + T_bwd), source=_MEGATRON,
    assumes=_SHARED)
backward_slot = Formula("Backward part of a microbatch's time", t_B, T_mb * T_bwd / (T_fwd + T_bwd), source=_MEGATRON,
    assumes=_SHARED)


def _after(sent, took):
    """What a pass of length ``took`` doesn't hide. A virtual stage sends its part once its last microbatch passes; the
    N_stages microbatches of a group pass through one virtual stage before the next."""
    return Max(sent - took * (N_stages * (n_virt - 1) + 1) / n_virt, (sent - took) / n_virt, 0)


exposed_dp = Formula("Exposed communication of data parallelism", T_dp,
    Piecewise(
        (_after(2 * T_scatter, T_bwd), n_zero < 1),
        (_after(T_scatter, T_bwd) + _after(T_gather, T_fwd), n_zero < 2),
        (N_MB * Max(T_scatter - T_bwd, 0) + _after(T_gather, T_fwd), n_zero < 3),
        (N_MB * (Max(T_gather + T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0)), True)),
    source=f"{_ZERO}; megatron2021, section 2.2",
    assumes="when gradients travel during the last backward pass of their virtual stage (in ZeRO-2 during each one), "
    "and new weights during its first forward pass (in ZeRO-3 during every pass)")
step_sum = Formula("Time of a training step", T_step, N_MB * T_mb + T_idle + T_pp + T_dp, source=_MEGATRON,
    assumes="for the busiest stage: its microbatches, its bubble, and exposed communication")

declare(globals())
