"""Bytes that a decode step reads from HBM: weights, experts that a batch is sent to, and the KV cache."""

# fmt: off

from sympy import Min, oo

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-inference"
_ONCE = "when each matrix crosses HBM once in a step"

# Formats
quantized_bytes = Formula("Bytes of a quantized weight", b_w, b_code + b_scale / n_group, source="ocp-mx",
    assumes="for weights in groups of n_group, each group with a scale of its own",
    approx=b_code, regime=((n_group, oo),))

# Weights
weights_read = Formula("Weights read in a decode step", V_w, b_w * (P - P_emb + n_vocab * D), source="gpt-fast",
    assumes=f"{_ONCE}: all parameters but the embedding, of which a token reads a row; the output head is read, also "
    "if it is the same matrix",
    needs=(at_most(P_emb, P),))
experts_touched = Formula("Distinct experts that a batch touches", E_hit, E * (1 - (1 - k / E) ** B),
    source="mixtral",
    assumes="on average, if each of B tokens is sent to k of E experts at random, none of them preferred: uneven "
    "routing touches fewer",
    needs=(at_most(k, E),), approx=k * B, regime=((E, oo),))
weights_read_moe = Formula("Weights read in a decode step of a model with experts", V_w,
    b_w * (P - P_emb - P_exp) + b_head * n_vocab * D + b_exp * P_exp * E_hit / E, source="mixtral; gpt-fast",
    assumes=f"{_ONCE}, and of the routed experts those alone that the batch is sent to; experts and output head may "
    "have formats of their own",
    needs=(at_most(P_emb + P_exp, P), at_most(E_hit, E)))

# The KV cache
cache_latent_unfolded = Formula("KV cache of a token with latent attention, stored by head", V_tok,
    b * L * n_q * (d_nope + d_rope + d_v), source="deepseek-v2, section 2.1.2",
    assumes="when the latent vector is expanded before it is stored: a key and a value for each head")
cache_sequence = Formula("KV cache of a sequence", V_seq, S * V_tok, source="gqa2023",
    assumes="for S tokens that every layer remembers")
cache_token_windowed = Formula("KV cache of a sequence with sliding windows", V_seq,
    2 * b * n_kv * d_head * ((L - L_win) * S + L_win * Min(S, S_win)), source="gpt-oss, section 2",
    assumes="when L_win layers remember the last S_win tokens alone, and the others all S", needs=(at_most(L_win, L),),
    approx=2 * b * n_kv * d_head * (L - L_win) * S, regime=((S, oo),))
cache_read = Formula("KV cache read in a decode step", V_kv, B_seq * V_seq, source="pope2022, section 2",
    assumes="for B_seq sequences, each with the cache of its own tokens, read once for all heads that use it")
bytes_read = Formula("Bytes of a decode step", V_read, V_w + V_kv, source="pope2022, section 2",
    assumes="for weights and cache; activations, a few megabytes, are left out")

declare(globals())
