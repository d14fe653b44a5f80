"""Decode on many GPUs: tensor, data, context, expert and pipeline parallelism, and what each leaves on a GPU.

The all-reduces of decode are small, so their latency counts: ``one_shot_all_reduce``, ``two_shot_all_reduce`` and
``shot_cross`` of ``collectives`` have their times, ``nvls_all_reduce`` that of one inside the switch.
"""

# fmt: off

from sympy import Max, Min, log, oo, sqrt

from gpuscale.core.conditions import at_least, at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_POPE = "pope2022, section 3"
_TRT, _VLLM = "tensorrt-llm", "vllm-blog"

# Tensor parallelism: each all-reduce has a latency that more GPUs don't shorten
decode_tensor_parallel = Formula("Tensor-parallel decode step", T_dec, T_mem / Y + L * (2 * t_ar + t_layer),
    source=_POPE,
    assumes="when bytes that take T_mem on one GPU are read by Y, and each layer has two all-reduces, all exposed",
    approx=L * (2 * t_ar + t_layer), regime=((Y, oo),))
gain_ends = Formula("Tensor-parallel degree at which latency is half of a step", Y_lim,
    T_mem / (L * (2 * t_ar + t_layer)), source=_POPE,
    assumes="when reading takes as long as all-reduces and launches: twice the GPUs then save a quarter of the step")
whole_head_read = Formula("Weights that a GPU reads, output head whole", V_w_gpu,
    V_w / Y + b_head * n_vocab * D * (1 - 1 / Y), source="gpt-fast",
    assumes="when Y tensor-parallel ranks shard the layers, and each reads all of the output head",
    approx=b_head * n_vocab * D, regime=((Y, oo),))

# The KV cache of a GPU
cache_replication = Formula("Copies of the KV cache", g_copy, Max(1, Y / n_kv), source=_POPE,
    assumes="when Y tensor-parallel ranks shard the query heads, and each stores the key-value heads that its queries "
    "need; latent attention has one head for all, n_kv = 1")
cache_per_gpu = Formula("KV cache of a token on a GPU", V_tok_gpu, V_tok / Min(Y, n_kv), source=_POPE,
    assumes="when Y tensor-parallel ranks shard the key-value heads, as far as there are any: for latent attention "
    "n_kv = 1")
data_parallel_attention = Formula("Tokens whose cache fits, with data-parallel attention", n_fit,
    (N_gpu * f_mem * S_hbm - V_res - (N_gpu / Y - 1) * V_attn) / (V_tok * Max(1, Y / n_kv)), source=_TRT,
    assumes="when each group of Y GPUs has sequences of its own and stores all weights of attention, sharded over the "
    "group, and other weights are stored once: Y is 1 for data-parallel attention, N_gpu for tensor-parallel attention",
    needs=(at_least(N_gpu, Y), at_most(V_res + (N_gpu / Y - 1) * V_attn, N_gpu * f_mem * S_hbm)))
data_parallel_read = Formula("Weights that a GPU reads, data-parallel attention", V_w_gpu,
    V_attn / Y + (V_w - V_attn) / N_gpu, source=_TRT,
    assumes="when groups of Y GPUs each shard the weights of attention, and all GPUs the others",
    needs=(at_least(N_gpu, Y), at_most(V_attn, V_w)), approx=V_attn / Y, regime=((N_gpu, oo),))
cache_sharded_merge = Formula("Bytes a rank sends to attend to a sharded cache", V_rank,
    B_seq * n_q * (b * d_head + b_part * (d_v + 1)) * (n_cp - 1) / n_cp, source=_VLLM,
    assumes="per layer, when n_cp ranks each store a part of the tokens and a part of the heads' weights: queries are "
    "gathered, and partial results return with their log-sum-exp to the rank of their head",
    approx=B_seq * n_q * (b * d_head + b_part * (d_v + 1)), regime=((n_cp, oo),))

# Expert parallelism
expert_parallel_exchange = Formula("Dispatch and combine of a decode step", T_comms,
    2 * alpha + B_gpu * k * D * (b_dispatch + b_combine) * (Z - G) / (Z * W_nic), source="deepep",
    assumes="per layer, when each of a token's k copies is sent by itself, and crosses the NIC unless its expert, any "
    "of those on Z ranks, is in the same node of G",
    needs=(at_least(Z, G),), approx=B_gpu * k * D * (b_dispatch + b_combine) / W_nic, regime=((B_gpu, oo), (Z, oo)),
    optional=(alpha,))
expert_imbalance = Formula("Spread of the tokens per expert", f_spread, sqrt((E - k) / (B * k)), source="deepep",
    assumes="when each of B tokens is sent to k of E experts at random, none of them preferred: a lower bound for real "
    "routing",
    needs=(at_most(k, E),), approx=sqrt(E / (B * k)), regime=((E, oo),))
fullest_expert = Formula("Tokens of the fullest expert over the mean", g_rows,
    1 + f_spread * sqrt(2 * log(E)), source="deepep",
    assumes="when each of E experts has many tokens, with a spread of f_spread: an upper bound, with the "
    "natural logarithm, for the mean of the largest, which every rank waits for if each has one expert")

# Pipeline parallelism
pipeline_decode = Formula("Pipeline-parallel decode step", T_dec, T_mem + N_stages * T_hop, source=_POPE,
    assumes="when a token passes through N_stages stages, which together read bytes that take T_mem on one GPU, and "
    "its result returns to the first; as many batches as equal stages are in flight",
    approx=T_mem, regime=((T_mem, oo),))

declare(globals())
