"""A fleet: GPUs for prefill and for decode, the frontier of throughput and speed, dollars and joules."""

# fmt: off

from sympy import ceiling

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_SPLIT, _DAY, _BOOK = "distserve2024", "deepseek-day6", "scaling-book-inference"

# Disaggregation
handover_bytes = Formula("KV cache handed over per request", V_hand, V_tok * S_in, source=_SPLIT,
    assumes="when the GPUs that decode have none of the prompt's cache")
handover_bandwidth = Formula("Bandwidth that hides the handover of the cache", W_hand, V_tok * S_in / T_pre,
    source=_SPLIT, assumes="when each layer's cache leaves while the next layers are computed")
prefill_decode_ratio = Formula("Ratio of prefill to decode GPUs", r_pd,
    (S_in - S_hit) * r_dec / (S_out * r_pre), source=_SPLIT,
    assumes="when both kinds are always busy, at rates that keep their limits of latency",
    needs=(at_most(S_hit, S_in),))
fleet_size = Formula("GPUs that a load keeps busy", N_fleet, lambda_req * ((S_in - S_hit) / r_pre + S_out / r_dec),
    source=_DAY, assumes="at the mean load, whether the GPUs are split by kind or do both in turn",
    needs=(at_most(S_hit, S_in),))
colocated_rate = Formula("Request rate of a GPU that prefills and decodes", lambda_req,
    1 / ((S_in - S_hit) / r_pre + S_out / r_dec), source=_SPLIT,
    assumes="when prefill and decode take turns, each at its own rate: an upper bound if they slow each other down",
    needs=(at_most(S_hit, S_in),))
replicas_for_rate = Formula("Replicas for a request rate", n_rep, ceiling(lambda_req / r_rep),
    source="kleinrock1975", assumes="when each replica gets the same rate")
hourly_price = Formula("Price of a fleet for an hour", cost_hour, n_rep * N_gpu * p_gpu, source=_DAY,
    assumes="for n_rep replicas of N_gpu GPUs, busy or not")

# The frontier
knee_batch = Formula("Batch at the knee of the frontier", B_knee, V_w / V_seq, source=_BOOK,
    assumes="for a step limited by memory bandwidth: half of its bytes are weights, half are caches")
speed_per_user = Formula("Speed per user", r_user, a_step / T_dec, source=_BOOK,
    assumes="between the first token and the last, without stops for prefill")
throughput_per_gpu = Formula("Throughput per GPU", r_tok, B_seq * a_step / (N_gpu * T_dec), source=_BOOK,
    assumes="for output tokens, with all B_seq sequences in every step of all GPUs")
frontier = Formula("Frontier of throughput and speed", r_tok, (1 - r_user * T_w) / (N_gpu * t_seq), source=_BOOK,
    assumes="for steps of T_w + t_seq per sequence on N_gpu GPUs, over all batches",
    needs=(at_most(r_user * T_w, 1),))

# Money and energy
dollars_per_million = Formula("Price of a million tokens", cost_mtok, 10**6 * p_gpu / (3600 * r_tok * f_busy),
    source=_DAY, assumes="for the tokens, and at the price of the GPUs, that r_tok counts; 2,500/9 is a million over "
    "the 3,600 seconds of an hour")
tokens_per_joule = Formula("Tokens per joule", e_tok, r_tok / P_power, source="mlenergy2025",
    assumes="for the tokens that r_tok counts")

declare(globals())
