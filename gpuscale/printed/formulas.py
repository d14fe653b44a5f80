"""Formulas that the planner evaluates one by one.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, equal, exp, greater_equal, less, less_equal, maximum, minimum, mod, where

from gpuscale.core.floats import log_binomial as LogBinomial
from gpuscale.printed.calling import require


def mlp_params(D, F, n_mat):
    """Parameters of an MLP: gpuscale.llm.mlp_params, P_mlp [1]."""
    return D*F*n_mat


def attention_params(D, n_q, n_kv, d_head):
    """Parameters of attention: gpuscale.llm.attention_params, P_attn [1]."""
    return 2*D*d_head*(n_kv + n_q)


def latent_attention_params(D, n_q, r_q, r_kv, d_nope, d_rope, d_v):
    """Parameters of latent attention: gpuscale.llm.latent_attention_params, P_attn [1]."""
    return D*d_v*n_q + D*r_q + D*(d_rope + r_kv) + n_q*r_kv*(d_nope + d_v) + (n_q*(d_nope + d_rope))*where(less(r_q, 1), D, r_q)


def moe_layer_params(D, P_mlp, n_shared, E):
    """Parameters of a layer's experts: gpuscale.llm.moe_layer_params, P_moe [1]."""
    return D*E + P_mlp*(E + n_shared)


def moe_active_layer_params(D, P_mlp, n_shared, E, k):
    """Active parameters of a layer's experts: gpuscale.llm.moe_active_layer_params, P_top [1]."""
    require(less_equal(k, E), "moe_active_layer_params: expected that k is at most E")
    return D*E + P_mlp*(k + n_shared)


def routed_parameters(L, P_mlp, L_dense, E):
    """Parameters of the routed experts: gpuscale.llm.routed_parameters, P_exp [1]."""
    require(less_equal(L_dense, L), "routed_parameters: expected that L_dense is at most L")
    return E*P_mlp*(L - L_dense)


def layer_vectors(D, F, n_q, n_kv, d_head, n_mat, n_norm, n_bias):
    """Norms and biases of a layer: gpuscale.llm.layer_vectors, P_vec [1]."""
    x0 = 2*D
    return n_bias*(F*(n_mat - 1) + d_head*(2*n_kv + n_q) + x0) + n_norm*x0


def moe_layer_vectors(D, F, n_q, n_kv, d_head, n_mat, n_norm, n_bias, E):
    """Norms and biases of a layer with experts: gpuscale.llm.moe_layer_vectors, P_vec [1]."""
    return 2*D*n_norm + n_bias*(D + E*(D + F*(n_mat - 1) + 1) + d_head*(2*n_kv + n_q))


def latent_layer_vectors(D, n_norm, r_q, r_kv):
    """Norms of a layer with latent attention: gpuscale.llm.latent_layer_vectors, P_vec [1]."""
    return 2*D*n_norm + r_kv + r_q


def embedding_params(D, n_vocab, n_emb, n_pos):
    """Parameters of the embeddings: gpuscale.llm.embedding_params, P_emb [1]."""
    return D*(n_emb*n_vocab + n_pos)


def parameters(D, L, P_attn, P_mlp, P_vec, n_norm, P_emb):
    """Parameters of a dense model: gpuscale.llm.parameters, P [1]."""
    return D*n_norm + L*(P_attn + P_mlp + P_vec) + P_emb


def moe_parameters(D, L, P_attn, P_mlp, P_moe, P_vec, L_dense, n_norm, P_emb):
    """Parameters of a model with experts: gpuscale.llm.moe_parameters, P [1]."""
    require(less_equal(L_dense, L), "moe_parameters: expected that L_dense is at most L")
    return D*n_norm + L*(P_attn + P_vec) + L_dense*P_mlp + P_emb + P_moe*(L - L_dense)


def active_parameters(D, L, n_vocab, P_attn, P_mlp):
    """Active parameters: gpuscale.llm.active_parameters, P_act [1]."""
    return D*n_vocab + L*(P_attn + P_mlp)


def moe_active_parameters(D, L, n_vocab, P_attn, P_mlp, P_top, L_dense):
    """Active parameters of a model with experts: gpuscale.llm.moe_active_parameters, P_act [1]."""
    require(less_equal(L_dense, L), "moe_active_parameters: expected that L_dense is at most L")
    return D*n_vocab + L*P_attn + L_dense*P_mlp + P_top*(L - L_dense)


def kv_token(b, L, n_kv, d_head):
    """KV cache of a token: gpuscale.llm.kv_token, V_tok [B]."""
    return 2*L*b*d_head*n_kv


def latent_kv_token(b, L, r_kv, d_rope):
    """KV cache of a token with latent attention: gpuscale.llm.latent_kv_token, V_tok [B]."""
    return L*b*(d_rope + r_kv)


def mean_attention_flops(L, S, n_q, d_head, L_win, S_win):
    """FLOPs of attention over whole sequences, average layer: gpuscale.llm.mean_attention_flops, ops_attn [FLOP]."""
    require(less_equal(L_win, L), "mean_attention_flops: expected that L_win is at most L")
    require(less_equal(S_win, S), "mean_attention_flops: expected that S_win is at most S")
    x0 = 4*d_head*n_q
    return (L_win*S_win*x0 + S*x0*(L - L_win))/L


def mean_causal_attention_flops(L, S, n_q, d_head, L_win, S_win):
    """FLOPs of causal attention, average layer: gpuscale.llm.mean_causal_attention_flops, ops_attn [FLOP]."""
    require(less_equal(L_win, L), "mean_causal_attention_flops: expected that L_win is at most L")
    require(less_equal(S_win, S), "mean_causal_attention_flops: expected that S_win is at most S")
    x0 = S_win*d_head*n_q
    return (L_win*(4*x0*(S - S_win) + 2*x0*(S_win + 1))/S + 2*d_head*n_q*(L - L_win)*(S + 1))/L


def latent_attention_flops(S, n_q, d_nope, d_rope, d_v):
    """FLOPs of latent attention over the whole sequence: gpuscale.llm.latent_attention_flops, ops_attn [FLOP]."""
    return 2*S*n_q*(d_nope + d_rope + d_v)


def causal_latent_attention_flops(S, n_q, d_nope, d_rope, d_v):
    """FLOPs of causal latent attention: gpuscale.llm.causal_latent_attention_flops, ops_attn [FLOP]."""
    return n_q*(S + 1)*(d_nope + d_rope + d_v)


def token_flops(L, P_act, ops_attn):
    """FLOPs of the forward pass per token: gpuscale.llm.token_flops, ops_tok [FLOP]."""
    return L*ops_attn + 2*P_act


def nodes_hit(G, Z, E, k):
    """Fraction of nodes a token reaches: gpuscale.llm.nodes_hit, f_node [1]."""
    require(equal(mod(E, Z), 0), "nodes_hit: expected that E is divisible by Z")
    require(equal(mod(maximum(G, Z), minimum(G, Z)), 0), "nodes_hit: expected that one of Z and G divides the other")
    require(less_equal(k, E), "nodes_hit: expected that k is at most E")
    return 1 - exp(-LogBinomial(E, k) + LogBinomial(E - E/maximum(1, Z/G), k))


def limited_nodes_hit(G, Z, E, k, M_lim):
    """Fraction of nodes a token reaches, node-limited routing: gpuscale.llm.limited_nodes_hit, f_node [1]."""
    require(equal(mod(E, Z), 0), "limited_nodes_hit: expected that E is divisible by Z")
    require(equal(mod(maximum(G, Z), minimum(G, Z)), 0), "limited_nodes_hit: expected that one of Z and G divides the other")
    require(less_equal(k, E), "limited_nodes_hit: expected that k is at most E")
    x0 = maximum(1, Z/G)**(-1.0)
    return minimum(M_lim*x0, 1 - exp(-LogBinomial(E, k) + LogBinomial(-E*x0 + E, k)))


def reached_bandwidth(W_ref, eta):
    """Achieved bandwidth: gpuscale.llm.reached_bandwidth, W [B/s]."""
    return W_ref*eta


def many_nodes(W_ref, eta, M, gamma_net):
    """Bandwidth of a node among many: gpuscale.llm.many_nodes, W [B/s]."""
    return W_ref*eta*maximum(1, (1/2)*M)**(-gamma_net)


def level_time(W_nvl, W_node, V_nvl, V_net):
    """Time of what arrives over both levels: gpuscale.llm.level_time, T_comms [s]."""
    return maximum(V_net/W_node, V_nvl/W_nvl)


def optimizer_bytes(b_master, b_mom):
    """Optimizer bytes per parameter: gpuscale.llm.optimizer_bytes, b_opt [B]."""
    return b_master + 2*b_mom


def zero3_gpus(b_w, S_level, P, b_grad, b_opt):
    """Fewest GPUs that hold a training state: gpuscale.llm.zero3_gpus, N_gpu [1]."""
    return ceil(P*(b_grad + b_opt + b_w)/S_level)


def hit_top_k(Z, E, k):
    """Fraction of GPUs reached by top-k routing: gpuscale.collectives.hit_top_k, f_hit [1]."""
    require(equal(mod(E, Z), 0), "hit_top_k: expected that E is divisible by Z")
    require(less_equal(k, E), "hit_top_k: expected that k is at most E")
    return 1 - exp(-LogBinomial(E, k) + LogBinomial(E - E/Z, k))


def nic_rate(N, M, W_bus):
    """Bandwidth of a NIC in a hierarchical all-reduce: gpuscale.collectives.nic_rate, W_nic [B/s]."""
    require(greater_equal(N, 2), "nic_rate: expected that N is at least 2")
    require(equal(mod(N, M), 0), "nic_rate: expected that N is divisible by M")
    return W_bus*(M - 1)/(N - 1)


def all_to_all_bus(N, W_alg):
    """Bus bandwidth of an all-to-all: gpuscale.collectives.all_to_all_bus, W_bus [B/s]."""
    return W_alg*(N - 1)/N
