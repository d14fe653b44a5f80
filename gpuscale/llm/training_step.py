"""A whole training step: the work of a stage, what its GPUs exchange and wait for, and what they hold.

A copy of the model takes Y n_cp GPUs in each of N_stages stages, and X copies share the batch. GPUs are numbered with
tensor parallelism innermost, then context parallelism, then data parallelism, and stages outermost; the Z ranks that
share the experts are neighbours. The fullest stage decides: it has L_stage layers.
"""

# fmt: off

from sympy import Max, Min, Piecewise, ceiling

from gpuscale.collectives import hierarchy
from gpuscale.core.conditions import divisible, nested
from gpuscale.core.formula import Formula, declare
from gpuscale.llm import training_compute
from gpuscale.symbols import *

_LLAMA, _MEGATRON, _ZERO = "llama3, section 3.3.2", "megatron2021, section 3", "zero2019, section 7"
_KORTH, _MEMORY = "korthikanti2022, section 4", "deepseek-v3, section 3.2.3"
_SHARDED = "scaling-book-gpus, cross-node collectives with a sharded axis"

# Work
microbatches = Formula("Microbatches of a step", N_MB, B / (S * X * n_seq), source=_MEGATRON,
    needs=(divisible(B, S * X * n_seq),), assumes="for X copies of the model that take as many sequences each")
microbatch_tokens = Formula("Tokens of a microbatch", B_mb, n_seq * S / n_cp, source=_LLAMA,
    assumes="for n_seq sequences, each cut over n_cp ranks")
_HEAD, _LAYER = 2 * flop * D * n_vocab, 2 * flop * P_layer + ops_attn
head_layers = Formula("Layers that cost as much as the head", L_head, ceiling(_HEAD / _LAYER), source=_LLAMA,
    assumes="for equal layers, by their operations in the forward pass")
_ROOM = n_virt * ceiling((L + Min(N_stages - 1, 1) * L_head) / (N_stages * n_virt))
_SPARE = _ROOM - n_virt * ceiling(L / (N_stages * n_virt))
_ON_TOP = 2 - Max(1, Min(2, ceiling(_HEAD / (Max(_SPARE, 1) * _LAYER))))  # 1 where the head costs less than the room
stage_layers = Formula("Layers of the fullest stage", L_stage, _ROOM - _SPARE * _ON_TOP, source=_LLAMA,
    assumes="for whole layers in equal virtual stages, with room for the head in the last stage, or the head on top "
    "if less")
stage_flops = Formula("Operations of the slowest stage, for a token", ops_stage,
    Max(L_stage * _LAYER + _HEAD * Min(1, _ROOM - L_stage), (L * _LAYER + _HEAD) / N_stages), source=_LLAMA,
    assumes="for stages of L_stage layers, with room for the head in the last one, or with the head on top of it")
recomputed_flops = Formula("Operations that the backward pass recomputes, by choice", ops_recompute,
    Piecewise((0, n_recompute < 1),
              (training_compute.selective_repeated_flops.rhs + 2 * flop * L * P_up, n_recompute < 2),
              (training_compute.repeated_flops.rhs, True)),
    source=_KORTH, assumes="for nothing; for attention and the P_up parameters before it; for whole layers")
stage_forward = Formula("Forward pass of a microbatch in a stage", T_fwd,
    Max(ops_stage * B_mb / (Y * C), b_w * P_rank / W_hbm) + V_fwd / W_hbm, source=_MEGATRON,
    assumes="when Y ranks share all products evenly, reading weights once; other kernels run between the products")
stage_backward = Formula("Backward pass of a microbatch in a stage", T_bwd,
    Max((2 * ops_stage + L_stage / L * ops_recompute) * B_mb / (Y * C), (b_w + 2 * b_grad) * P_rank / W_hbm)
    + V_bwd / W_hbm, source=_MEGATRON,
    assumes="for two products for each one forward, and what is recomputed; gradients are read and written")

# A group of X ranks, each with Y inner neighbours, in nodes of D_1 GPUs: what arrives over which link
_FITS = (nested(Y, D_1), nested(X * Y, D_1))
_into_a_gpu = hierarchy.sharded_bytes_rails.where(S_unit=Min(D_1, X * Y)).rhs
group_nvlink = Formula("Bytes of a group over NVLink", V_nvl, _into_a_gpu.subs({Min(1, Y): 1, Max(1, Y): Y}),
    source=_SHARDED, needs=_FITS[:1],
    assumes="for an all-gather over X ranks of an array cut in Y as well; NICs feed their GPUs directly")
group_network = hierarchy.sharded_bytes.where(S_child=D_1, S_top=Max(D_1, X * Y), lhs=V_net, source=_SHARDED,
    title="Bytes of a group over the network", needs=_FITS,
    assumes="for an all-gather over X ranks of an array cut in Y as well: what a node lacks enters it once")
level_time = Formula("Time of what arrives over both levels", T_comms, Max(V_nvl / W_1, V_net / W_2), source=_SHARDED,
    assumes="when NVLink and network work at the same time, at their full bandwidths")
tp_bytes = Formula("Arrays that tensor parallelism gathers and scatters", V,
    n_cut * L_stage * b * B_mb * D * Piecewise((4 + n_sp, n_recompute < 2), (6 + n_sp, True)), source=_KORTH,
    assumes="for a microbatch in a stage: two collectives for each block and pass, one more backward where tokens "
    "are shared out, and the forward ones again where whole layers are recomputed")
cp_bytes = Formula("Keys and values that context parallelism gathers and scatters", V,
    2 * b * L_stage * n_seq * S * Max(n_kv, Y) * d_head * Piecewise((3, n_recompute < 2), (4, True)), source=_LLAMA,
    assumes="for a microbatch in a stage: gathered forward and backward, their gradients scattered; each of Y ranks "
    "has a head of its own at least")

stage_hop = Formula("Transfer of a microbatch to the next stage", T_hop,
    Piecewise((0, N_stages < 2), (b * B_mb * D / (Y * W_1), N_gpu <= D_1),
              (b * B_mb * D / (Y * Min(W_1, W_2 / D_1)), True)), source=_MEGATRON,
    assumes="when each of Y ranks sends a slice: over NVLink if the run is in a node, else through its NIC")

# The step
microbatch_time = Formula("Time of a microbatch in a stage", T_mb,
    T_fwd + T_bwd + g_tp * T_tp + g_cp * T_cp + g_ep * T_ep, source=_MEGATRON,
    assumes="when a share g of each communication is waited for, the rest hidden behind arithmetic")
exposed_dp = Formula("Data parallelism that nothing hides", T_dp,
    Piecewise(
        (Max(2 * T_scatter - T_bwd, 0), n_zero < 1),
        (Max(T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0), n_zero < 2),
        (N_MB * Max(T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0), n_zero < 3),
        (N_MB * (Max(T_gather + T_scatter - T_bwd, 0) + Max(T_gather - T_fwd, 0)), True)), source=_ZERO,
    assumes="when gradients travel during the last backward pass (where they are cut, ZeRO-2, during every one), new "
    "weights during the first forward pass (where they are cut, ZeRO-3, during every pass)")
step_sum = Formula("Time of a training step", T_step, N_MB * T_mb + T_idle + T_pp + T_dp, source=_MEGATRON,
    assumes="for the busiest stage: its microbatches, its bubble, and what it waits for besides")

declare(globals())
