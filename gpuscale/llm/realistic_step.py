"""What a real training step takes: its bounds in `training_step`, and what they leave out.

A framework launches kernels from a host, moves bytes that an ideal one would not, and waits for more than the bytes of
a message. Each of these has a constant, zero or one at the peaks, which measured runs determine.
"""

# fmt: off

from sympy import Max, Piecewise

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_PLAYBOOK, _FLASH, _NCCL = "playbook", "flashattention2", "nccl-tests-cluster"

microbatch_gpu_time = Formula("Time of the GPU for a microbatch in a stage", T_mb_gpu,
    ((3 * (ops_stage - L_stage * ops_attn) + L_stage / L * ops_recompute) / C
     + (1 + g_attn) * L_stage * ops_attn / C_attn) * B_mb / Y
    + (g_ker * (V_fwd + V_bwd) + b_loss * n_vocab * B_mb / Y + b_acc * P_rank) / W_hbm, source=_FLASH,
    needs=(at_most(L_stage * ops_attn, ops_stage),),
    assumes="for matmuls at one rate and attention at another; kernels, the loss and the sums of gradients move bytes")
microbatch_host_time = Formula("Time of the host for a microbatch in a stage", T_host,
    L_stage * (t_host + t_cross * Y * Piecewise((0, N_stages < 2), (0, X * Y * n_cp < G), (1, True))) + t_head,
    source=_PLAYBOOK, assumes="for kernels that are launched one by one, layer by layer")
expected_microbatch = Formula("Expected time of a microbatch in a stage", T_mb,
    Max(T_mb_gpu + g_tp * T_tp + g_cp * T_cp + g_ep * T_ep, T_host) + t_far * L_stage * Max(Y - G, 0), source=_PLAYBOOK,
    assumes="when GPU and host work at the same time, and the slower one sets the pace")
spanned_nodes = Formula("Nodes that a group of ranks spans", M, Max(N / G, 1), source=_NCCL,
    assumes="for neighboring ranks, in nodes of G GPUs")
many_nodes = Formula("Bandwidth of a node among many", W, eta * W_ref * Max(M / 2, 1) ** (-gamma_net), source=_NCCL,
    assumes="for a power of the number of nodes, above two")
expected_dp = Formula("Expected exposed communication of data parallelism", T_dp,
    g_dp * Piecewise((2 * T_scatter, n_zero < 1), (T_scatter + T_gather, n_zero < 2),
                     (N_MB * T_scatter + T_gather, n_zero < 3), (N_MB * (2 * T_gather + T_scatter), True))
    + (1 - g_dp) * T_dp_best + alpha_dp * (X - 1), source=_PLAYBOOK,
    assumes="when a fraction g_dp overlaps with nothing, and the rest is exposed only where nothing can hide it")
update_time = Formula("Time of a step outside of its microbatches", T_upd,
    b_upd * P_rank / W_hbm * Piecewise((1, n_zero < 1), (1 / (X * n_cp), True)) + t_fix, source="zero2019, section 7",
    assumes="when the optimizer's step is limited by memory, on this rank's shard of the parameters")
expected_step = Formula("Expected time of a training step", T_step, N_MB * T_mb + T_idle + T_pp + T_dp + T_upd,
    source="megatron2021, section 3",
    assumes="for the busiest stage: its microbatches, its bubble, exposed communication, and the optimizer")

declare(globals())
