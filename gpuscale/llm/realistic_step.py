"""What a real training step takes: its bounds in `training_step`, and what they leave out.

A framework launches kernels from a host, moves bytes that an ideal one would not, and waits for more than the bytes of
a message. Each of these has a constant, zero or one at the peaks, which measured runs determine.
"""

# fmt: off

from sympy import Max, Min, Piecewise

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.llm.training_step import AGAIN, stage_hop
from gpuscale.symbols import *

_PLAYBOOK, _FLASH, _NCCL, _MEGABLOCKS = "playbook", "flashattention2", "nccl-tests-cluster", "megablocks2022"
_DDP, _ZERO = "pytorch-ddp, section 3.2", "zero2019, section 7"

_REACHED = {C: "FLOP/s that matmuls reach", Y: "GPUs of a tensor-parallel group"}
microbatch_gpu_time = Formula("Time of the GPU for a microbatch in a stage", T_mb_gpu,
    ((3 * (ops_stage - L_stage * ops_attn) + L_stage / L * ops_recompute) / C
     + (1 + g_attn) * L_stage * ops_attn / C_attn) * B_mb / Y
    + (g_ker * (V_fwd + V_bwd) + b_loss * n_vocab * B_mb / Y + b_acc * P_rank) / W_hbm, source=_FLASH,
    needs=(at_most(L_stage * ops_attn, ops_stage),),
    assumes="for matmuls at one rate and attention at another; kernels, the loss and the sums of gradients move bytes",
    means=_REACHED | {W_hbm: "bandwidth of HBM that kernels reach"})
microbatch_host_time = Formula("Time of the host for a microbatch in a stage", T_host,
    L_stage * (t_host + t_cross * Y * Min(N_stages - 1, 1) * Piecewise((0, N_gpu <= G), (1, True))) + t_head,
    source=_PLAYBOOK, assumes="for kernels that are launched one by one, layer by layer; a pipeline on several nodes "
    "crosses them, whichever of its stages share a node")
grouped_time = Formula("Time that grouped matmuls add to a microbatch in a stage", T_grp,
    6 * flop * k * n_mat * D * F * L_stage * (L - L_dense) / L * B_mb / (Y * C) * (g_grp - 1), source=_MEGABLOCKS,
    needs=(at_most(L_dense, L),),
    assumes="for k experts of a token, multiplied in groups of tokens, g_grp times as long as in one large matmul",
    means=_REACHED | {D: "width of the model", F: "width of an expert"})
_COMMS = g_tp * T_tp + g_cp * T_cp + g_ep * T_ep
expected_microbatch = Formula("Expected time of a microbatch in a stage", T_mb,
    Max(T_mb_gpu + T_grp + _COMMS, T_host)
    + t_far * L_stage * Max(Y - G, 0) * Piecewise((1, N_stages < 2), (Y / G, True)), source=_PLAYBOOK,
    assumes="when GPU and host work at the same time, and the slower one sets the pace; each rank beyond a node delays "
    "a layer, in a pipeline once for each node of the group")
host_wait = Formula("Time that a microbatch in a stage waits for the host", T_wait,
    Max(T_host - T_mb_gpu - T_grp - _COMMS, 0), source=_PLAYBOOK, assumes="when GPU and host work at the same time")
spanned_nodes = Formula("Nodes that a group of ranks spans", M, Max(X * Y * n_cp / G, 1), source=_NCCL,
    assumes="for X n_cp ranks with Y neighbors each, in nodes of G GPUs")
run_nodes = Formula("Nodes of a run", M, Max(N_gpu / G, 1), source=_NCCL, assumes="in nodes of G GPUs")
many_nodes = Formula("Bandwidth of a node among many", W, eta * W_ref * Max(M / 2, 1) ** (-gamma_net), source=_NCCL,
    assumes="for a power of the number of nodes that share the network, above two")

# Every collective takes time to start, however little it moves
tp_calls = Formula("Collectives of tensor parallelism for a microbatch in a stage", n_calls,
    Piecewise((0, Y < 2), ((1 + L_dense / L) * L_stage * (2 + 3 * n_sp + (1 + n_sp) * AGAIN), True)),
    source="korthikanti2022, section 4.2", needs=(at_most(L_dense, L),),
    assumes="one all-reduce per block and pass, or a gather and a scatter, and one more gather backward, if tokens are "
    "sharded; experts are not sharded")
cp_calls = Formula("Collectives of context parallelism for a microbatch in a stage", n_calls,
    Piecewise((0, n_cp < 2), (L_stage * (3 + AGAIN), True)), source="llama3, section 3.3.2",
    assumes="keys and values gathered in each pass, their gradients scattered")
ep_calls = Formula("Collectives of expert parallelism for a microbatch in a stage", n_calls,
    Piecewise((0, Z < 2), (2 * (2 + AGAIN) * L_stage * (L - L_dense) / L, True)), source="deepseek-v3, section 3.2",
    needs=(at_most(L_dense, L),), assumes="tokens dispatched and combined in each pass")
expected_level = Formula("Expected time of what arrives over both levels", T_comms,
    Max(V_nvl / W_nvl, V_net / W_node)
    + n_calls * Piecewise((alpha_1, M <= 1), (alpha_2 + alpha_rank * G * (M - 2), True)), source=_NCCL,
    assumes="when ranks on M nodes use NVLink and network at the same time, and each call starts after the last",
    means={T_comms: "communication time of one kind of parallelism", M: "nodes that the group spans",
        alpha_1: "latency of a call on one node", alpha_2: "latency of a call on two nodes"})
expected_hop = Formula("Expected transfer of a microbatch to the next stage", T_hop,
    stage_hop.rhs + Piecewise((0, N_stages < 2), (alpha_1, N_gpu <= G), (alpha_2, True)), source=stage_hop.source,
    assumes=stage_hop.assumes + ", after the time to start")

dp_exchange = Formula("Communication of data parallelism in a step", T_exc,
    Piecewise((2 * T_scatter, n_zero < 1), (T_scatter + T_gather, n_zero < 2),
              (N_MB * T_scatter + T_gather, n_zero < 3), (N_MB * (2 * T_gather + T_scatter), True)), source=_ZERO,
    assumes="hidden or not, for gradients and weights that ZeRO shards by its stage")
dp_rounds = Formula("Rounds through the layers in which data parallelism communicates", n_round,
    Piecewise((1, n_zero < 2), (N_MB, n_zero < 3), (3 * N_MB, True)), source=_ZERO,
    assumes="per step: with the last microbatch, with each one (ZeRO-2), or in each pass (ZeRO-3 gathers in both)")
dp_buckets = Formula("Buckets of a round of data parallelism", n_bucket,
    Piecewise((Max(b_w * P_rank / V_bucket, 1), n_zero < 3), (L_stage, True)), source=_DDP,
    assumes="for gradients in the precision of the weights; with ZeRO-3, each layer is a bucket")
expected_dp = Formula("Expected exposed communication of data parallelism", T_dp,
    Min(T_dp_best + g_dp * Min(n_zero + N_stages - 1, 1) * (T_exc - T_dp_best) + n_edge / L_stage * T_exc, T_exc)
    + alpha_dp * (X * n_cp - 1) * n_bucket * n_round, source=_PLAYBOOK, needs=(at_most(T_dp_best, T_exc),),
    assumes="when nothing can hide T_dp_best, a fraction g_dp of the rest waits (none without ZeRO and pipeline, where "
    "each layer's gradients are summed as soon as they are there), as do n_edge layers at the ends of each pass; each "
    "bucket of a round takes a ring through all replicas, with a latency for each further rank")
update_bytes = Formula("Bytes that the optimizer moves per parameter", b_upd, b_grad + b_w + 2 * b_opt,
    source="zero2019, section 3.1",
    assumes="when it reads the gradient, reads and writes its own state, and writes the weight")
update_time = Formula("Time of a step outside of its microbatches", T_upd,
    b_upd * P_rank / W_hbm * Piecewise((1, n_zero < 1), (1 / (X * n_cp), True)) + t_fix, source=_ZERO,
    assumes="when the optimizer's step is limited by memory, on this rank's shard of the parameters")
host_update_time = Formula("Time to update the parameters with an optimizer in the host's memory", T_upd,
    (b_grad + b_w) * P_rank / W_host * Piecewise((1, n_zero < 1), (1 / (X * n_cp), True)), source="rajbhandari2021",
    assumes="for gradients that go to the host and weights that return, of this rank's shard of the parameters; the "
    "host's arithmetic is not counted")
expected_step = Formula("Expected time of a training step", T_step, N_MB * T_mb + T_idle + T_pp + T_dp + T_upd,
    source="megatron2021, section 3",
    assumes="for the busiest stage: its microbatches, its bubble, exposed communication, and the optimizer")
pipeline_stall = Formula("Time that a pipeline loses in a step if it stalls", T_stall,
    t_stall * N_MB * Piecewise((0, N_stages < 2), (2 * n_virt - 1, N_stages < 3), (2 * n_virt, True)), source=_PLAYBOOK,
    assumes="for the rank whose virtual stages have the most neighbors: each of these delays each microbatch once")

declare(globals())
