"""Times of decode and prefill: bounds, estimates, and the batch from which a decode step is compute-bound."""

# fmt: off

from sympy import Max, Piecewise, oo

from gpuscale.core.conditions import at_least, below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-inference"
_ROOF = "williams2009"
_WEIGHTS = 2 * flop * B_seq * P_act / C  # the time of the matmuls on one GPU

# A decode step
decode_bound = Formula("Lower bound of a decode step", T_dec,
    Max(V_read / W_hbm, _WEIGHTS + ops_kv / C_attn) / N_gpu, source=_ROOF,
    assumes="when bytes and FLOPs are split evenly over N_gpu GPUs, each works at its peaks, arithmetic and memory "
    "traffic overlap, and communication takes no time")
decode_sum = Formula("Decode step, attention after matmuls", T_dec,
    (Max(V_w / W_hbm, _WEIGHTS) + Max(V_kv / W_hbm, ops_kv / C_attn)) / N_gpu, source=_BOOK,
    assumes="when matmuls and attention take turns, each limited by its own bytes or its own FLOPs, at the peaks")
decode_estimate = Formula("Estimate of a decode step", T_dec,
    (Max(V_w / (eta_hbm * W_hbm), _WEIGHTS) + Max(V_kv / (eta_hbm * W_hbm), ops_kv / C_attn)) / N_gpu + L * t_layer,
    source="gpt-fast",
    assumes="when HBM sustains a fraction eta_hbm of its bandwidth, and each layer takes t_layer on top: two constants "
    "fitted to measured steps")
loaded_step = Formula("Estimate of a decode step of a mixture under load", T_dec, T_one + g_added * (T_many - T_one),
    source="tensorrt-llm",
    assumes="when each further sequence adds g_added times what its bytes, FLOPs and exchanges take: experts of uneven "
    "load, small matmuls and exposed all-to-alls make it more than 1",
    needs=(at_least(T_many, T_one),), approx=g_added * T_many, regime=((T_many, oo),))
time_per_token = Formula("Time per output token", T_tpot, T_dec / a_step, source="leviathan2023",
    assumes="when each step adds a_step tokens to a sequence, and no prefill comes between steps")

# Prefill
prefill_bound = Formula("Lower bound of prefill", T_pre, Max(ops / C, V_w / W_hbm) / N_gpu, source=_ROOF,
    assumes="when FLOPs and bytes are split evenly over N_gpu GPUs, each works at its peaks, and both overlap")
prefill_estimate = Formula("Estimate of prefill", T_pre,
    Max(ops / (eta_mat * C), V_w / (eta_hbm * W_hbm)) / N_gpu + L * t_layer, source=_BOOK,
    assumes="when matmuls reach a fraction eta_mat of the peak, HBM eta_hbm of its bandwidth, and each layer takes "
    "t_layer on top")
first_token_time = Formula("Time to first token", T_ttft, T_queue + T_pre + T_dec + T_send, source="kwon2023",
    assumes="when the prompt waits for T_queue, its prefill shares a step with sequences that decode, and the token is "
    "sent to the user")

# When does decode become compute-bound?
critical_batch_cached = Formula("Critical batch of decode with its KV cache", B_crit,
    Piecewise((V_w * C / (W_hbm * ops_tok - V_seq * C), V_seq * C < W_hbm * ops_tok), (oo, True)), source=_BOOK,
    assumes="when a token takes ops_tok FLOPs and its sequence has V_seq bytes of cache: bytes and FLOPs take equally "
    "long there; infinite if the cache of a sequence takes longer to read than its token takes to compute",
    approx=V_w * C / (W_hbm * ops_tok), regime=((ops_tok, oo),))
longest_compute_bound = Formula("Context beyond which no batch makes decode compute-bound", S_never,
    2 * flop * P_act * W_hbm / (C * V_tok), source=_BOOK,
    assumes="when the FLOPs of attention are left out: there the cache of a sequence takes as long to read as its "
    "token takes to compute")
longest_compute_bound_attention = Formula("Longest compute-bound context, attention counted", S_never,
    2 * flop * P_act * W_hbm / (V_tok * (C - I * W_hbm)), source=_BOOK,
    assumes="when attention does I FLOPs for each byte of the cache, at the peak of the matmuls; if I is above the "
    "ridge point a context is never too long",
    needs=(below(I * W_hbm, C),), approx=longest_compute_bound.rhs, regime=((C, oo),))
throughput_ceiling = Formula("Ceiling of decode throughput", r_tok, W_hbm / V_seq, source="pope2022, section 2",
    assumes="for one token per sequence and step at a very large batch, where reading the cache is all that counts: an "
    "upper bound per GPU, whatever the weights")

declare(globals())
