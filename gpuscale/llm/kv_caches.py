"""The KV cache of the tokens that a model has read, and the cost of reading it back."""

# fmt: off

from sympy import oo

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

kv_token = Formula("KV cache of a token", V_tok, 2 * b * L * n_kv * d_head, source="gqa2023",
    assumes="for one key and one value per layer per key-value head")
latent_kv_token = Formula("KV cache of a token with latent attention", V_tok, b * L * (r_kv + d_rope),
    source="deepseek-v3, section 2.1.1",
    assumes="when the latent vector and the position-carrying part of the key are stored")
kv_cache = Formula("KV cache", V_kv, n_seq * S * V_tok, source="gqa2023",
    assumes="for n_seq sequences of S tokens, no sliding window")
decode_read_time = Formula("Time to read weights and cache once", T_mem, (b_w * P + V_kv) / W_hbm,
    source="pope2022, section 2",
    assumes="for one new token per sequence, all weights on the GPUs whose HBM bandwidth is W_hbm: a lower bound",
    approx=b_w * P / W_hbm, regime=((P, oo),))
attention_intensity = Formula("Intensity of attention", I, 2 * flop * n_ask * S * n_q / (b * (n_ask * n_q + S * n_kv)),
    source="cs336, lecture 10",
    assumes="for fused scores and weighted sum, with queries, keys, values and result crossing memory once, no mask",
    approx=2 * flop * n_ask * n_q / (b * n_kv), regime=((S, oo),))

declare(globals())
