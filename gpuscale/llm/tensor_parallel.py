"""Tensor and sequence parallelism: a block sharded over Y ranks, by columns and then by rows.

B counts the tokens that the Y ranks work on together. Between the blocks each rank holds B/Y of them: an all-gather
brings the others in, a reduce-scatter adds up the partial results. W is the bandwidth of a GPU in one level; with two
levels W_nvl is that, and W_node the bandwidth out of a node of G GPUs.

Without sequence parallelism every rank has the whole input x of a block, and a matmul by a shard of columns W_r. The
gradient of x is the sum over the ranks of G_r W_r', so the backward pass all-reduces it. If several matmuls read x, the
sum over the ranks and the sum over the matmuls can change places: one all-reduce of the whole is enough. It takes
somebody to do that. Where each matmul asks for its own gradient of x, each has an all-reduce of its own. With sequence
parallelism, the one all-gather of x has one reduce-scatter for a gradient.
"""

# fmt: off

from sympy import Max, Min, oo, sqrt

from gpuscale.collectives.algorithms import ring_all_gather
from gpuscale.core.conditions import at_least, divisible, nested
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, tensor parallelism"
_MEGATRON = "megatron2019, section 3"
_SP = "korthikanti2022, section 4.2.2"
_QUIZ = "scaling-book-gpus, quiz 5 question 3"
_FULL = "for Y within a node or over full nodes, the links of both levels at work at once"

block_activations = Formula("Activations between two blocks", V, b * B * D, source=_SP,
    assumes="for B tokens of D elements")

# The MLP, forward. A reduce-scatter takes as long as an all-gather.
_GATHER = ring_all_gather.where(block_activations, N=Y, alpha=0).rhs
tp_math = Formula("Arithmetic of a sharded MLP", T_math, 2 * n_mat * flop * B * D * F / (Y * C), source=_BOOK,
    assumes="for the forward pass of n_mat matrices of D by F, at the peak rate")
tp_comms = Formula("Communication of a sharded MLP", T_comms, 2 * _GATHER, source=_BOOK,
    assumes="for the forward pass: an all-gather in and a reduce-scatter out, in one level",
    approx=2 * b * B * D / W, regime=((Y, oo),))
tp_limit = Formula("Limit of tensor parallelism in one level", Y_lim, 1 + n_mat * flop * F * W / (b * C), source=_BOOK,
    assumes="for an MLP in the forward pass, its communication hidden behind its arithmetic",
    approx=n_mat * flop * F * W / (b * C), regime=((F, oo),))
tp_efficiency = Formula("Fraction of time a sharded MLP computes", eta_tp,
    n_mat * flop * F * W / (n_mat * flop * F * W + b * C * (Y - 1)), source=_BOOK,
    assumes="for the forward pass, when nothing overlaps, in one level")
tp_backward_comms = Formula("Backward communication of a sharded MLP", T_comms, 3 * _GATHER, source=_SP,
    assumes="for an all-gather of the gradients, another of the input, and a reduce-scatter",
    approx=3 * b * B * D / W, regime=((Y, oo),))
tp_separate_comms = Formula("Backward communication of separate matmuls", T_comms, 2 * n_use * _GATHER,
    source=_MEGATRON,
    assumes="for n_use matmuls that read one input on all ranks and each all-reduce its gradient; no sequence "
    "parallelism",
    approx=2 * n_use * b * B * D / W, regime=((Y, oo),))

# Small batches: the latency of two rings
tp_latency = Formula("Communication of a sharded MLP, latency included", T_comms,
    2 * ring_all_gather.where(block_activations, N=Y).rhs, source=_BOOK,
    assumes="for the forward pass in rings, with a latency of alpha per step", approx=tp_comms.rhs, regime=((B, oo),))
tp_half_batch = Formula("Tokens at which latency equals transfer time", B_half, alpha * Y * W / (b * D), source=_BOOK,
    assumes="for the tokens of all Y ranks and rings with a latency of alpha per step; with fewer tokens, latency "
    "dominates")

# Over nodes of G GPUs
tp_node_comms = Formula("Communication of a sharded MLP over nodes", T_comms,
    2 * b * B * D * Max((1 - 1 / Min(Y, G)) / W_nvl, (1 - G / Max(Y, G)) / W_node), source=_BOOK,
    assumes=_FULL, needs=(divisible(Max(Y, G), G),))
tp_node_limit = Formula("Limit of tensor parallelism over nodes", Y_lim,
    Min(G / (G - 1) * n_mat * flop * F * W_nvl / (b * C), G + n_mat * flop * F * W_node / (b * C)), source=_BOOK,
    assumes="for an MLP in the forward pass on at least two full nodes, its communication hidden behind its arithmetic",
    needs=(at_least(G, 2),))

# Attention: sharded by heads
tp_attention_params = Formula("Attention parameters on a rank", P_rank, 2 * D * d_head * (n_q / Y + Max(n_kv / Y, 1)),
    source=_MEGATRON,
    assumes="when each rank has whole heads; with more ranks than key heads, key heads are replicated",
    needs=(divisible(n_q, Y), nested(n_kv, Y)))
tp_attention_math = Formula("Arithmetic of sharded attention", T_math,
    flop * B * d_head * (4 * D * (n_q + Max(n_kv, Y)) + 2 * n_q * (S + 1)) / (Y * C), source=_MEGATRON,
    assumes="for the forward pass with a causal mask whose hidden half is skipped, sequences of S tokens, whole heads",
    needs=(divisible(n_q, Y), nested(n_kv, Y)))
tp_attention_limit = Formula("Limit of tensor parallelism for attention", Y_lim,
    1 + flop * d_head * (2 * D * (n_q + n_kv) + n_q * (S + 1)) * W / (b * D * C), source=_MEGATRON,
    assumes="for the forward pass in one level, a causal mask, no more ranks than key heads")
tp_layer_limit = Formula("Limit of tensor parallelism for a layer", Y_lim,
    1 + flop * (n_mat * D * F + d_head * (2 * D * (n_q + n_kv) + n_q * (S + 1))) * W / (2 * b * D * C),
    source=_MEGATRON,
    assumes="for attention and MLP together, forward, in one level, a causal mask, no more ranks than key heads")

# Together with data parallelism: its gradients are sharded over the Y ranks of a model
relaxed_dp_limit = Formula("Tokens that hide data parallelism across models of whole nodes", B_min,
    (b_w + b_grad) * C * G / (4 * flop * Y * W_node) * (X - 1) / X, source=_QUIZ,
    assumes="for models of Y ranks on whole nodes: reduce-scatter and all-gather, against the backward pass",
    approx=(b_w + b_grad) * C * G / (4 * flop * Y * W_node), regime=((X, oo),), needs=(divisible(Y, G),))
mixed_dp_limit = Formula("Tokens that hide data parallelism combined with model parallelism", B_min,
    (b_w + b_grad) * C / (4 * flop) * Max(
        (1 - Y / Max(Y, G)) / (Y * W_nvl), Min(Y, G) / Y * (1 - Max(Y, G) / (X * Y)) / W_node), source=_QUIZ,
    assumes="for models of Y ranks in part of a node or in whole nodes, both levels working at once, against the "
    "backward pass",
    needs=(nested(Y, G), divisible(X * Y, G)))

# FSDP over X, tensor parallelism over Y: fewer replicas gather less, and their larger batches have more activations
_TRAIN = "scaling-book-training, mixed FSDP and tensor parallelism"
fsdp_tp_comms = Formula("Communication of FSDP with tensor parallelism", T_comms,
    n_mat * b_w * D * F * (X - 1) / (X * Y * W_dp) + 2 * b * B * D * (Y - 1) / (X * Y * W_tp), source=_TRAIN,
    assumes="for the forward pass of an MLP, its B tokens spread over X replicas: an all-gather of the weights over X, "
    "an all-gather in and a reduce-scatter out over Y",
    approx=n_mat * b_w * D * F / (Y * W_dp) + 2 * b * B * D / (X * W_tp), regime=((X, oo), (Y, oo)))
best_fsdp = Formula("Best FSDP degree next to tensor parallelism", X_best,
    sqrt(2 * b * B * N_gpu * W_dp / (n_mat * b_w * F * W_tp), evaluate=False), source=_TRAIN,  # as one root
    assumes="for the least communication in the forward pass of an MLP on N_gpu GPUs, N_gpu/X_best in each replica, "
    "when the two axes communicate one after the other, or at once and both are long; to be rounded to a whole number "
    "from 1 to N_gpu")

declare(globals())
