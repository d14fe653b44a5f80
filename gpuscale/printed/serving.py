"""Formulas that the planner of serving evaluates one by one.

Printed by ``make printed``; do not edit.
"""

from numpy import ceil, greater, greater_equal, less, less_equal, log, maximum, minimum, sqrt, where

from gpuscale.printed.calling import require


def cache_token_windowed(b, L, S, n_kv, d_head, L_win, S_win):
    """KV cache of a sequence with sliding windows: gpuscale.serving.cache_token_windowed, V_seq [B]."""
    require(less_equal(L_win, L), "cache_token_windowed: expected that L_win is at most L")
    return 2*b*d_head*n_kv*(L_win*minimum(S, S_win) + S*(L - L_win))


def cache_sequence(S, V_tok):
    """KV cache of a sequence: gpuscale.serving.cache_sequence, V_seq [B]."""
    return S*V_tok


def experts_touched(B, E, k):
    """Distinct experts that a batch touches: gpuscale.serving.experts_touched, E_hit [1]."""
    require(less_equal(k, E), "experts_touched: expected that k is at most E")
    return E*(1 - (1 - k/E)**B)


def mean_context(S_in, S_out):
    """Mean context of the sequences that decode: gpuscale.serving.mean_context, S_mean [1]."""
    return S_in + (1/2)*S_out


def replica_weights(b_w, L, P, P_emb, P_exp, Y, Z, L_stage, b_exp):
    """Weights that a GPU of a replica holds: gpuscale.serving.replica_weights, V_own [B]."""
    require(less_equal(P_emb + P_exp, P), "replica_weights: expected that P_emb + P_exp is at most P")
    x0 = b_w/Y
    x1 = L_stage/L
    return P_emb*x0 + P_exp*b_exp*x1/Z + x0*x1*(P - P_emb - P_exp)


def replica_weights_read(b_w, D, L, P, n_vocab, P_emb, P_exp, Y, Z, E, L_stage, b_exp, b_head, E_hit):
    """Weights that a GPU of a replica reads in a step: gpuscale.serving.replica_weights_read, V_w [B]."""
    require(less_equal(P_emb + P_exp, P), "replica_weights_read: expected that P_emb + P_exp is at most P")
    require(less_equal(E_hit, E), "replica_weights_read: expected that E_hit is at most E")
    x0 = Y**(-1.0)
    x1 = L_stage/L
    return D*b_head*n_vocab*x0 + b_w*x0*x1*(P - P_emb - P_exp) + E_hit*P_exp*b_exp*x1/(E*Z)


def replica_cache(L, n_kv, Y, L_stage, B_seq, V_seq):
    """KV cache that a GPU of a replica reads in a step: gpuscale.serving.replica_cache, V_kv [B]."""
    return B_seq*L_stage*V_seq/(L*minimum(Y, n_kv))


def replica_params(D, L, P_act, n_vocab, P_exp, Y, Z, E, k, L_stage, n_dpa):
    """Parameters of a GPU per token of its attention group: gpuscale.serving.replica_params, P_tok [1]."""
    require(greater_equal(P_act, D * n_vocab + P_exp * k / E), "replica_params: expected that P_act is at least D*n_vocab + P_exp*k/E")
    x0 = Y**(-1.0)
    x1 = D*n_vocab
    x2 = P_exp*k/E
    x3 = L_stage/L
    return x0*x1 + x0*x3*(P_act - x1 - x2) + n_dpa*x2*x3/Z


def replica_attention(L, Y, L_stage, ops_kv):
    """FLOPs of attention of a GPU of a replica: gpuscale.serving.replica_attention, ops [FLOP]."""
    return L_stage*ops_kv/(L*Y)


def weights_read_moe(b_w, D, P, n_vocab, P_emb, P_exp, E, b_exp, b_head, E_hit):
    """Weights read in a decode step of a model with experts: gpuscale.serving.weights_read_moe, V_w [B]."""
    require(less_equal(P_emb + P_exp, P), "weights_read_moe: expected that P_emb + P_exp is at most P")
    require(less_equal(E_hit, E), "weights_read_moe: expected that E_hit is at most E")
    return D*b_head*n_vocab + b_w*(P - P_emb - P_exp) + E_hit*P_exp*b_exp/E


def bytes_read(V_kv, V_w):
    """Bytes of a decode step: gpuscale.serving.bytes_read, V_read [B]."""
    return V_kv + V_w


def attention_flop_decode(L, S, n_q, d_head, L_win, S_win, B_seq):
    """FLOPs of attention in a decode step: gpuscale.serving.attention_flop_decode, ops_kv [FLOP]."""
    require(less_equal(L_win, L), "attention_flop_decode: expected that L_win is at most L")
    return 4*B_seq*d_head*n_q*(L_win*minimum(S, S_win) + S*(L - L_win))


def attention_flop_absorbed(L, S, n_q, r_kv, d_rope, B_seq):
    """FLOPs of absorbed latent attention in a decode step: gpuscale.serving.attention_flop_absorbed, ops_kv [FLOP]."""
    return 2*B_seq*L*S*n_q*(d_rope + 2*r_kv)


def decode_bound(C, W_hbm, P_act, N_gpu, C_attn, B_seq, V_read, ops_kv):
    """Lower bound of a decode step: gpuscale.serving.decode_bound, T_dec [s]."""
    return maximum(V_read/W_hbm, 2*B_seq*P_act/C + ops_kv/C_attn)/N_gpu


def decode_estimate(C, W_hbm, L, P_act, N_gpu, V_kv, eta_hbm, C_attn, B_seq, V_w, ops_kv, t_layer):
    """Estimate of a decode step: gpuscale.serving.decode_estimate, T_dec [s]."""
    x0 = 1/(W_hbm*eta_hbm)
    return L*t_layer + (maximum(ops_kv/C_attn, V_kv*x0) + maximum(2*B_seq*P_act/C, V_w*x0))/N_gpu


def loaded_step(T_one, T_many, g_added):
    """Estimate of a decode step of a mixture under load: gpuscale.serving.loaded_step, T_dec [s]."""
    require(greater_equal(T_many, T_one), "loaded_step: expected that T_many is at least T_one")
    return T_one + g_added*(T_many - T_one)


def prefill_flop_windowed(D, L, P_act, n_q, d_head, n_vocab, L_win, S_win, S_in, S_hit):
    """FLOPs of prefill with sliding windows: gpuscale.serving.prefill_flop_windowed, ops [FLOP]."""
    require(less_equal(D * n_vocab, P_act), "prefill_flop_windowed: expected that D*n_vocab is at most P_act")
    require(less(S_hit, S_in), "prefill_flop_windowed: expected that S_hit is below S_in")
    require(less_equal(L_win, L), "prefill_flop_windowed: expected that L_win is at most L")
    x0 = D*n_vocab
    x1 = minimum(S_hit, S_win)
    x2 = minimum(S_in, S_win)
    return 2*d_head*n_q*(L_win*(-S_win*(2*S_hit - 2*x1) + S_win*(2*S_in - 2*x2) - x1*(x1 + 1) + x2*(x2 + 1)) + (L - L_win)*(-S_hit*(S_hit + 1) + S_in*(S_in + 1))) + 2*x0 + 2*(P_act - x0)*(-S_hit + S_in)


def prefill_flop_latent(D, L, P_act, n_q, n_vocab, r_kv, d_nope, d_rope, d_v, S_in, S_hit):
    """FLOPs of prefill with latent attention: gpuscale.serving.prefill_flop_latent, ops [FLOP]."""
    require(less_equal(D * n_vocab, P_act), "prefill_flop_latent: expected that D*n_vocab is at most P_act")
    require(less(S_hit, S_in), "prefill_flop_latent: expected that S_hit is below S_in")
    x0 = D*n_vocab
    x1 = d_nope + d_v
    return L*(2*S_hit*n_q*r_kv*x1 + n_q*(d_rope + x1)*(-S_hit*(S_hit + 1) + S_in*(S_in + 1))) + 2*x0 + 2*(P_act - x0)*(-S_hit + S_in)


def prefill_bound(C, ops, W_hbm, N_gpu, V_w):
    """Lower bound of prefill: gpuscale.serving.prefill_bound, T_pre [s]."""
    return maximum(ops/C, V_w/W_hbm)/N_gpu


def prefill_estimate(C, ops, W_hbm, L, N_gpu, eta_hbm, eta_mat, V_w, t_layer):
    """Estimate of prefill: gpuscale.serving.prefill_estimate, T_pre [s]."""
    return L*t_layer + maximum(ops/(C*eta_mat), V_w/(W_hbm*eta_hbm))/N_gpu


def two_shot_all_reduce(alpha, V, W, N):
    """Two-shot all-reduce: gpuscale.collectives.two_shot_all_reduce, T_comms [s]."""
    require(greater_equal(N, 2), "two_shot_all_reduce: expected that N is at least 2")
    return 2*alpha + 2*V*(N - 1)/(N*W)


def expert_parallel_exchange(alpha, W_nic, D, B_gpu, G, Z, k, b_dispatch, b_combine):
    """Dispatch and combine of a decode step: gpuscale.serving.expert_parallel_exchange, T_comms [s]."""
    require(greater_equal(Z, G), "expert_parallel_exchange: expected that Z is at least G")
    return B_gpu*D*k*(-G + Z)*(b_combine + b_dispatch)/(W_nic*Z) + 2*alpha


def call_time(V, alpha_call, W_fit):
    """Time of a call, from a fit: gpuscale.collectives.call_time, T_comms [s]."""
    return V/W_fit + alpha_call


def pipeline_decode(T_mem, N_stages, T_hop):
    """Pipeline-parallel decode step: gpuscale.serving.pipeline_decode, T_dec [s]."""
    return N_stages*T_hop + T_mem


def full_token_time(B_seq, T_dec, T_pre, S_out):
    """Time per output token at a full batch: gpuscale.serving.full_token_time, T_tpot [s]."""
    require(greater_equal(S_out, 2), "full_token_time: expected that S_out is at least 2")
    return B_seq*T_pre/(S_out - 1) + T_dec


def first_token_time(T_dec, T_pre, T_queue, T_send):
    """Time to first token: gpuscale.serving.first_token_time, T_ttft [s]."""
    return T_dec + T_pre + T_queue + T_send


def full_rate(T_tpot, S_out, B_mean):
    """Request rate of a full batch: gpuscale.serving.full_rate, lambda_req [/s]."""
    require(greater_equal(S_out, 2), "full_rate: expected that S_out is at least 2")
    return B_mean/(T_tpot*(S_out - 1))


def verified_batch(B_seq, n_draft):
    """Tokens per step that the model checks: gpuscale.serving.verified_batch, B_check [1]."""
    return B_seq*(n_draft + 1)


def tokens_per_step_measured(a_acc_1, a_acc_2, a_acc_3, a_acc_4, a_acc_5):
    """Tokens per step with speculation, measured acceptance: gpuscale.serving.tokens_per_step_measured, a_step [1]."""
    return a_acc_1*(a_acc_2*(a_acc_3*(a_acc_4*(a_acc_5 + 1) + 1) + 1) + 1) + 1


def speculative_token(T_dec, a_step, n_draft, t_draft):
    """Time per output token with speculation: gpuscale.serving.speculative_token, T_tpot [s]."""
    return (T_dec + n_draft*t_draft)/a_step


def handover_bytes(V_tok, S_in):
    """KV cache handed over per request: gpuscale.serving.handover_bytes, V_hand [B]."""
    return S_in*V_tok


def mean_prefill(f_pre, T_hit, T_miss):
    """Mean prefill with a prefix cache: gpuscale.serving.mean_prefill, T_svc [s]."""
    return T_hit*f_pre + T_miss*(1 - f_pre)


def prefill_spread(f_pre, T_hit, T_miss):
    """Variation of prefill times with a prefix cache: gpuscale.serving.prefill_spread, c_scv [1]."""
    x0 = 1 - f_pre
    return f_pre*x0*(-T_hit + T_miss)**2/(T_hit*f_pre + T_miss*x0)**2


def queue_time(T_svc, c_scv, f_svc):
    """Mean time in the queue of a server: gpuscale.serving.queue_time, T_queue [s]."""
    require(less(f_svc, 1), "queue_time: expected that f_svc is below 1")
    return T_svc*f_svc*(c_scv + 1)/(2 - 2*f_svc)


def largest_load(T_queue, T_svc, c_scv):
    """Largest load of a server for a mean time in its queue: gpuscale.serving.largest_load, f_svc [1]."""
    x0 = 2*T_queue
    return x0/(T_svc*(c_scv + 1) + x0)


def queue_percentile(T_queue, f_svc, f_late):
    """Percentile of the time in the queue of a server: gpuscale.serving.queue_percentile, T_tail [s]."""
    require(True, "queue_percentile: expected that 0 is below f_svc")
    return maximum(0, T_queue*log(f_svc/f_late)/f_svc)


def slot_taken(B_seq, f_load):
    """Requests that find every slot taken: gpuscale.serving.slot_taken, f_slot [1]."""
    return f_load**(sqrt(2*B_seq + 2) - 1)


def slot_queue(B_seq, c_scv, f_load, f_slot, T_hold):
    """Mean time until a slot is free: gpuscale.serving.slot_queue, T_slot [s]."""
    require(less(f_load, 1), "slot_queue: expected that f_load is below 1")
    return (1/2)*T_hold*f_slot*(c_scv + 1)/(B_seq*(1 - f_load))


def replica_queue(T_dec, T_slot, T_line):
    """Mean time in the queue of a replica: gpuscale.serving.replica_queue, T_queue [s]."""
    return (1/2)*T_dec + T_line + T_slot


def chunk_time(T_pre, S_in, S_hit, S_chunk):
    """Time of the arithmetic of a chunk: gpuscale.serving.chunk_time, T_chunk [s]."""
    require(less(S_hit, S_in), "chunk_time: expected that S_hit is below S_in")
    return S_chunk*T_pre/(-S_hit + S_in)


def mixed_bound(C, W_hbm, P_act, C_attn, B_seq, V_read, ops_kv, T_chunk):
    """Lower bound of a step with a chunk: gpuscale.serving.mixed_bound, T_mix [s]."""
    return maximum(V_read/W_hbm, 2*B_seq*P_act/C + T_chunk + ops_kv/C_attn)


def mixed_estimate(C, W_hbm, L, P_act, V_kv, eta_hbm, C_attn, B_seq, V_w, ops_kv, t_layer, T_chunk):
    """Estimate of a step with a chunk: gpuscale.serving.mixed_estimate, T_mix [s]."""
    x0 = 1/(W_hbm*eta_hbm)
    return L*t_layer + maximum(ops_kv/C_attn, V_kv*x0) + maximum(V_w*x0, 2*B_seq*P_act/C + T_chunk)


def chunk_steps(B_seq, a_step, S_in, S_out, S_hit, S_chunk):
    """Fraction of steps that carry a chunk: gpuscale.serving.chunk_steps, f_chunk [1]."""
    require(greater_equal(S_out, 2), "chunk_steps: expected that S_out is at least 2")
    require(less_equal(S_hit, S_in), "chunk_steps: expected that S_hit is at most S_in")
    require(less_equal(B_seq * a_step * (-S_hit + S_in), S_chunk * (S_out - 1)), "chunk_steps: expected that B_seq*a_step*(-S_hit + S_in) is at most S_chunk*(S_out - 1)")
    return B_seq*a_step*(-S_hit + S_in)/(S_chunk*(S_out - 1))


def largest_fed(a_step, S_in, S_out, S_hit, S_chunk):
    """Largest batch that chunks keep full: gpuscale.serving.largest_fed, B_seq [1]."""
    require(greater_equal(S_out, 2), "largest_fed: expected that S_out is at least 2")
    require(less(S_hit, S_in), "largest_fed: expected that S_hit is below S_in")
    return S_chunk*(S_out - 1)/(a_step*(-S_hit + S_in))


def chunked_token_time(T_dec, a_step, T_mix, f_chunk):
    """Time per output token with chunks: gpuscale.serving.chunked_token_time, T_tpot [s]."""
    return (T_dec + f_chunk*(-T_dec + T_mix))/a_step


def chunked_first_token(T_queue, S_in, S_chunk, T_mix):
    """Time to first token with chunks: gpuscale.serving.chunked_first_token, T_ttft [s]."""
    return T_mix*ceil(S_in/S_chunk) + T_queue


def gap_percentile(T_dec, f_late, T_mix, f_chunk):
    """Percentile of the time between tokens with chunks: gpuscale.serving.gap_percentile, T_gap [s]."""
    return where(greater(f_chunk, f_late), T_mix, T_dec)


def stalled_decode(T_dec, T_pre, n_stall):
    """Longest time between tokens without chunks: gpuscale.serving.stalled_decode, T_gap [s]."""
    return T_dec + T_pre*n_stall


def prompts_per_step(B_seq, a_step, S_out):
    """Prompts that are prefilled per decode step: gpuscale.serving.prompts_per_step, n_come [1]."""
    require(greater_equal(S_out, 2), "prompts_per_step: expected that S_out is at least 2")
    return B_seq*a_step/(S_out - 1)


def replicas_for_rate(lambda_req, r_rep):
    """Replicas for a request rate: gpuscale.serving.replicas_for_rate, n_rep [1]."""
    return ceil(lambda_req/r_rep)


def hourly_price(N_gpu, p_gpu, n_rep):
    """Price of a fleet for an hour: gpuscale.serving.hourly_price, cost_hour [USD/h]."""
    return N_gpu*n_rep*p_gpu


def dollars_per_million(p_gpu, r_tok, f_busy):
    """Price of a million tokens: gpuscale.serving.dollars_per_million, cost_mtok [USD]."""
    return (2500/9)*p_gpu/(f_busy*r_tok)


def quantized_bytes(b_code, b_scale, n_group):
    """Bytes of a quantized weight: gpuscale.serving.quantized_bytes, b_w [B]."""
    return b_code + b_scale/n_group


def tokens_per_step(n_draft, a_acc):
    """Tokens per step with speculation, equal acceptance: gpuscale.serving.tokens_per_step, a_step [1]."""
    require(less(a_acc, 1), "tokens_per_step: expected that a_acc is below 1")
    return (1 - a_acc**(n_draft + 1))/(1 - a_acc)
