"""Parameters of a transformer, part by part, and the FLOPs of its forward pass.

Matrices and vectors are counted separately. A token is multiplied by the matrices; norms and biases are a few elements
per layer. An embedding is looked up, not multiplied: it counts among the parameters, not among the active ones.
"""

# fmt: off

from sympy import Piecewise, oo

from gpuscale.core.conditions import at_most
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_MEGATRON = "megatron2021, section 5.1"

# Parameters of a layer
attention_params = Formula("Parameters of attention", P_attn, 2 * D * d_head * (n_q + n_kv), source="gqa2023",
    assumes="for one matrix each for queries, keys, values and output, with n_kv heads of keys and values")
latent_attention_params = Formula("Parameters of latent attention", P_attn,
    D * r_q + Piecewise((D, r_q < 1), (r_q, True)) * n_q * (d_nope + d_rope)
    + D * (r_kv + d_rope) + r_kv * n_q * (d_nope + d_v) + n_q * d_v * D,
    source="deepseek-v3, section 2.1.1",
    assumes="when keys and values pass through a narrow latent vector (MLA), and queries through another one, unless "
    "r_q is 0")
mlp_params = Formula("Parameters of an MLP", P_mlp, n_mat * D * F, source="shazeer2020",
    assumes="for 2 matrices, or 3 with a gate")
moe_layer_params = Formula("Parameters of a layer's experts", P_moe, (E + n_shared) * P_mlp + D * E,
    source="deepseek-v3, section 2.1.2",
    assumes="for E routed experts and the shared ones, all equal, and a router with one column per routed expert")
moe_active_layer_params = Formula("Active parameters of a layer's experts", P_top,
    (k + n_shared) * P_mlp + D * E, source="deepseek-v3, section 2.1.2",
    assumes="for k routed experts per token, the shared experts and the router", needs=(at_most(k, E),))
layer_vectors = Formula("Norms and biases of a layer", P_vec,
    2 * n_norm * D + n_bias * (d_head * (n_q + 2 * n_kv) + D + (n_mat - 1) * F + D), source=_MEGATRON,
    assumes="for two norms, and a bias per column of each matrix if there are biases")
moe_layer_vectors = Formula("Norms and biases of a layer with experts", P_vec,
    2 * n_norm * D + n_bias * (d_head * (n_q + 2 * n_kv) + D + E * ((n_mat - 1) * F + D + 1)), source="gpt-oss",
    assumes="for two norms, and a bias per column of each matrix if there are biases, the router's included")
latent_layer_vectors = Formula("Norms of a layer with latent attention", P_vec, 2 * n_norm * D + r_q + r_kv,
    source="deepseek-v3, section 2.1.1",
    assumes="for two norms of the model's width and an RMS norm of each latent vector, without biases")

# The whole model
embedding_params = Formula("Parameters of the embeddings", P_emb, (n_emb * n_vocab + n_pos) * D, source=_MEGATRON,
    assumes="for an input embedding, an output head that may be the same matrix, and learned positions if any")
parameters = Formula("Parameters of a dense model", P, L * (P_attn + P_mlp + P_vec) + P_emb + n_norm * D,
    source=_MEGATRON, assumes="for equal layers and one norm at the end")
moe_parameters = Formula("Parameters of a model with experts", P,
    L * (P_attn + P_vec) + L_dense * P_mlp + (L - L_dense) * P_moe + P_emb + n_norm * D,
    source="deepseek-v3, section 4.2", assumes="for layers with experts except the first L_dense",
    needs=(at_most(L_dense, L),))
routed_parameters = Formula("Parameters of the routed experts", P_exp, (L - L_dense) * E * P_mlp,
    source="deepseek-v3, section 4.2", assumes="for E experts in each layer except the first L_dense",
    needs=(at_most(L_dense, L),))
layer_matrices = Formula("Active parameters of a layer", P_layer, P_attn + P_mlp, source=_MEGATRON,
    assumes="for a layer without experts")
active_parameters = Formula("Active parameters", P_act, L * (P_attn + P_mlp) + n_vocab * D,
    source=_MEGATRON, assumes="for a dense model: all matrices but the embedding, in which a row is looked up")
moe_active_parameters = Formula("Active parameters of a model with experts", P_act,
    L * P_attn + L_dense * P_mlp + (L - L_dense) * P_top + n_vocab * D, source="deepseek-v3, section 4.2",
    assumes="for all matrices except the embedding and the experts that the token is not sent to",
    needs=(at_most(L_dense, L),))
gpt_parameters = Formula("Parameters of a GPT", P,
    12 * L * D**2 * (1 + 13 / (12 * D) + (n_vocab + n_pos) / (12 * L * D)), source=f"{_MEGATRON}, equation 2",
    assumes="for as many key heads as queries, an MLP of width 4 D in two matrices, biases, layer norms but the last",
    approx=12 * L * D**2, regime=((D, oo),))

# FLOPs of the forward pass, per token
attention_flops = Formula("FLOPs of attention over the whole sequence", ops_attn, 4 * flop * S * n_q * d_head,
    source="palm2022, appendix B",
    assumes="for scores and weighted sum over all S tokens, masked or not: the convention of MFU")
causal_attention_flops = Formula("FLOPs of causal attention", ops_attn, 2 * flop * (S + 1) * n_q * d_head,
    source="flashattention2",
    assumes="when a token attends to itself and earlier tokens, on average over a sequence of S",
    approx=2 * flop * S * n_q * d_head, regime=((S, oo),))
latent_attention_flops = Formula("FLOPs of latent attention over the whole sequence", ops_attn,
    2 * flop * S * n_q * (d_nope + d_rope + d_v), source="deepseek-v3, section 2.1.1",
    assumes="for keys and values expanded to all heads, as in training, over all S tokens")
causal_latent_attention_flops = Formula("FLOPs of causal latent attention", ops_attn,
    flop * (S + 1) * n_q * (d_nope + d_rope + d_v), source="deepseek-v3, section 2.1.1",
    assumes="for keys and values expanded to all heads, when a token attends to itself and earlier tokens, on average",
    approx=flop * S * n_q * (d_nope + d_rope + d_v), regime=((S, oo),))
mean_attention_flops = Formula("FLOPs of attention over whole sequences, average layer", ops_attn,
    ((L - L_win) * attention_flops.rhs + L_win * attention_flops.rhs.subs(S, S_win)) / L,
    source="gpt-oss", assumes="for L_win layers with a window of S_win tokens, masked or not",
    needs=(at_most(L_win, L), at_most(S_win, S)))
mean_causal_attention_flops = Formula("FLOPs of causal attention, average layer", ops_attn,
    ((L - L_win) * causal_attention_flops.rhs + L_win * (
        S_win * causal_attention_flops.rhs.subs(S, S_win) + (S - S_win) * attention_flops.rhs.subs(S, S_win)) / S) / L,
    source="gpt-oss",
    assumes="for L_win layers in which a token attends to itself and the S_win - 1 before it, fewer at the beginning",
    needs=mean_attention_flops.needs)
token_flops = Formula("FLOPs of the forward pass per token", ops_tok, 2 * flop * P_act + L * ops_attn,
    source="kaplan2020, section 2.1",
    assumes="for matrix multiplications alone: a multiplication and an addition per parameter, and attention",
    approx=2 * flop * P_act, regime=((P_act, oo),))

declare(globals())
