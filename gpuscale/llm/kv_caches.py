"""What a model keeps of the tokens it has read, and what reading it back costs."""

# fmt: off

from sympy import oo

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

kv_token = Formula("KV cache of a token", V_tok, 2 * b * L * n_kv * d_head, source="gqa2023",
    assumes="for a key and a value of each of the n_kv heads in each layer")
latent_kv_token = Formula("KV cache of a token with latent attention", V_tok, b * L * (r_kv + d_rope),
    source="deepseek-v3, section 2.1.1",
    assumes="when the latent vector is kept and the part of the key that carries the position")
kv_cache = Formula("KV cache", V_kv, n_seq * S * V_tok, source="gqa2023",
    assumes="for n_seq sequences of S tokens, no layer windowed")
decode_read_time = Formula("Time to read weights and cache once", T_mem, (b_w * P + V_kv) / W_hbm,
    source="pope2022, section 2",
    assumes="for one new token of each sequence, all weights on the GPUs that share W_hbm: a lower bound",
    approx=b_w * P / W_hbm, regime=((P, oo),))
attention_intensity = Formula("Intensity of attention", I, 2 * flop * n_ask * S * n_q / (b * (n_ask * n_q + S * n_kv)),
    source="cs336, lecture 10",
    assumes="for scores and weighted sum fused, queries, keys, values and result crossing memory once, no mask",
    approx=2 * flop * n_ask * n_q / (b * n_kv), regime=((S, oo),))

declare(globals())
