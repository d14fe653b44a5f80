"""Quantities of a transformer and of a run that trains it."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

# The shape of a model
L = Quantity("L", "1", "layers", least=1, whole=True, also="n_layers, l")
P = Quantity("P", "1", "parameters", also="N of a scaling law, num_params")
P_act = Quantity("P_act", "1", "parameters that work on a token", r"P_\mathrm{act}", also="active parameters")
S = Quantity("S", "1", "tokens of a sequence", least=1, whole=True, also="s, T, seq_len, context length")
n_seq = Quantity("n_seq", "1", "sequences in a microbatch", r"n_\mathrm{seq}", least=1, whole=True, also="mbs, b")
n_q = Quantity("n_q", "1", "query heads", r"n_\mathrm{q}", least=1, whole=True, also="N, a, num_attention_heads")
n_kv = Quantity("n_kv", "1", "key and value heads", r"n_\mathrm{kv}", least=1, whole=True,
    also="K, num_key_value_heads")
d_head = Quantity("d_head", "1", "width of a head", r"d_\mathrm{head}", least=1, whole=True, also="H, head_dim")
n_mat = Quantity("n_mat", "1", "matrices of an MLP: 2, or 3 with a gate", r"n_\mathrm{mat}", least=1, whole=True,
    also="GLU, SwiGLU: 3")
n_vocab = Quantity("n_vocab", "1", "tokens of the vocabulary", r"n_\mathrm{vocab}", least=1, whole=True,
    also="V, vocab_size")

# A run
N_gpu = Quantity("N_gpu", "1", "GPUs of the run", r"N_\mathrm{GPU}", least=1, whole=True, also="world size")
B_gpu = Quantity("B_gpu", "1", "tokens of the batch per GPU", r"B_\mathrm{GPU}", also="B/X, tokens per GPU")
T_step = Quantity("T_step", "s", "time of a training step", r"T_\mathrm{step}")
MFU = Quantity("MFU", "1", "model FLOPs utilization: FLOP/s that the model needs, over the peak", r"\mathrm{MFU}",
    most=1)
HFU = Quantity("HFU", "1", "hardware FLOPs utilization: FLOP/s that the GPUs do, recomputation included, over the peak",
    r"\mathrm{HFU}", most=1)

# Where the parameters are. Matrices and vectors are counted separately: a token is multiplied by matrices only.
P_layer = Quantity("P_layer", "1", "parameters of the matrices that a token meets in a layer", r"P_\mathrm{layer}")
P_attn = Quantity("P_attn", "1", "parameters of the matrices of attention, in a layer", r"P_\mathrm{attn}")
P_mlp = Quantity("P_mlp", "1", "parameters of the matrices of an MLP, or of one expert", r"P_\mathrm{MLP}")
P_moe = Quantity("P_moe", "1", "parameters of the matrices of a layer's experts and router", r"P_\mathrm{MoE}")
P_top = Quantity("P_top", "1", "parameters of a layer's experts and router that work on a token", r"P_\mathrm{top}")
P_last = Quantity("P_last", "1", "parameters of a layer's last matmuls, whose results no gradient reads",
    r"P_\mathrm{last}", zero=True)
P_vec = Quantity("P_vec", "1", "parameters of the vectors of a layer: norms and biases", r"P_\mathrm{vec}", zero=True)
F_dense = Quantity("F_dense", "1", "feed-forward width of a layer without experts", r"F_\mathrm{dense}", least=1,
    whole=True, also="intermediate_size, next to moe_intermediate_size")
L_dense = Quantity("L_dense", "1", "layers without experts in a model with experts", r"L_\mathrm{dense}", zero=True,
    whole=True, also="first_k_dense_replace")
n_shared = Quantity("n_shared", "1", "experts that every token visits", r"n_\mathrm{shared}", zero=True, whole=True)
n_emb = Quantity("n_emb", "1",
    "matrices with a row per token of the vocabulary: 1 if input and output share it, else 2", r"n_\mathrm{emb}",
    least=1, whole=True, also="tie_word_embeddings")
L_win = Quantity("L_win", "1", "layers with sliding-window attention", r"L_\mathrm{win}", zero=True, whole=True)
S_win = Quantity("S_win", "1", "size of the attention window, in tokens", r"S_\mathrm{win}", least=1, whole=True)
n_pos = Quantity("n_pos", "1", "positions with a learned embedding", r"n_\mathrm{pos}", zero=True, whole=True)
n_norm = Quantity("n_norm", "1", "vectors of a norm: 1 for an RMS norm, 2 for a layer norm", r"n_\mathrm{norm}",
    least=1, whole=True)
n_bias = Quantity("n_bias", "1", "biases in the layers: 1 where matrices have one, else 0", r"n_\mathrm{bias}", most=1,
    zero=True, whole=True)
r_q = Quantity("r_q", "1", "width of the latent vector of the queries, 0 without one", r"r_\mathrm{q}", zero=True,
    whole=True, also="q_lora_rank")
r_kv = Quantity("r_kv", "1", "width of the latent vector of keys and values", r"r_\mathrm{kv}", least=1, whole=True,
    also="kv_lora_rank")
d_nope = Quantity("d_nope", "1", "width of a head's key without a position", r"d_\mathrm{nope}", least=1, whole=True,
    also="qk_nope_head_dim")
d_rope = Quantity("d_rope", "1", "width of the key's part that carries the position", r"d_\mathrm{rope}", least=1,
    whole=True, also="qk_rope_head_dim")
d_v = Quantity("d_v", "1", "width of a head's value", r"d_\mathrm{v}", least=1, whole=True, also="v_head_dim")

# Arithmetic
ops_tok = Quantity("ops_tok", "FLOP", "FLOPs of the forward pass per token", r"\mathrm{FLOPs}_\mathrm{token}")
ops_attn = Quantity("ops_attn", "FLOP", "FLOPs of attention scores and weighted sum, per token per layer",
    r"\mathrm{FLOPs}_\mathrm{attn}")
ops_recompute = Quantity("ops_recompute", "FLOP", "FLOPs that the backward pass recomputes, per token",
    r"\mathrm{FLOPs}_\mathrm{recompute}", zero=True)
ops_run = Quantity("ops_run", "FLOP", "FLOPs that the GPUs do, recomputation included",
    r"\mathrm{FLOPs}_\mathrm{done}")
B_run = Quantity("B_run", "1", "tokens of the whole run", r"B_\mathrm{run}", also="D of a scaling law, training tokens")
T_run = Quantity("T_run", "s", "time of the whole run", r"T_\mathrm{run}")
T_gpu = Quantity("T_gpu", "s", "GPU time of a run: the time of all its GPUs, added up", r"T_\mathrm{GPU}",
    also="GPU-hours")
p_gpu = Quantity("p_gpu", "USD/h", "price of a GPU for an hour", r"p_\mathrm{GPU}", also="price per GPU-hour")
cost = Quantity("cost", "USD", "price of a run", r"\mathrm{cost}")

# Activations and the KV cache
V_act = Quantity("V_act", "B", "bytes of activations that a rank stores per layer per microbatch", r"V_\mathrm{act}")
V_stage = Quantity("V_stage", "B", "bytes of activations that a rank of the first stage stores", r"V_\mathrm{stage}")
V_head = Quantity("V_head", "B", "bytes of activations that the last norm and the output head store",
    r"V_\mathrm{head}")
n_kept_attn = Quantity("n_kept_attn", "1", "activation elements that attention stores per token, for the backward pass",
    r"a_\mathrm{attn}")
n_kept_mlp = Quantity("n_kept_mlp", "1", "activation elements that the MLP stores per token", r"a_\mathrm{MLP}")
g_keep = Quantity("g_keep", "1", "fraction of the layers that are not recomputed", r"g_\mathrm{keep}", most=1,
    zero=True)
b_kept = Quantity("b_kept", "B", "bytes per element of the inputs stored for the matmuls of the backward pass",
    r"b_\mathrm{kept}")
b_mask = Quantity("b_mask", "B", "bytes per element of a dropout mask", r"b_\mathrm{mask}", zero=True)
b_logit = Quantity("b_logit", "B", "bytes per logit", r"b_\mathrm{logit}")
V_tok = Quantity("V_tok", "B", "bytes of the KV cache per token", r"V_\mathrm{token}")
V_kv = Quantity("V_kv", "B", "bytes of the KV cache", r"V_\mathrm{KV}")
n_ask = Quantity("n_ask", "1", "query tokens of a sequence at a time: all in prefill, one in decode",
    r"n_\mathrm{ask}", least=1, whole=True)


# Quantities of the memory that training takes, and of data parallelism.
# Bytes per parameter: a recipe
b_grad = Quantity("b_grad", "B", "bytes per element of the gradients", r"b_\mathrm{grad}", zero=True)
b_opt = Quantity("b_opt", "B", "bytes per parameter of the optimizer: master copy and moments", r"b_\mathrm{opt}",
    also="K of ZeRO")
b_master = Quantity("b_master", "B", "bytes per element of the optimizer's own copy of the weights",
    r"b_\mathrm{master}", zero=True, also="main params, fp32 copy")
b_mom = Quantity("b_mom", "B", "bytes per element of a moment of Adam", r"b_\mathrm{mom}", also="exp_avg, exp_avg_sq")
V_state = Quantity("V_state", "B", "bytes of weights, gradients and optimizer on a rank", r"V_\mathrm{state}")

# Which parameters a rank holds
P_rank = Quantity("P_rank", "1", "parameters whose weights a rank holds", r"P_\mathrm{rank}")
P_emb = Quantity("P_emb", "1", "parameters of the embedding and the output head together", r"P_\mathrm{emb}", zero=True)
P_exp = Quantity("P_exp", "1", "parameters of all routed experts of the model", r"P_\mathrm{exp}", zero=True)

# How many tokens data parallelism needs
B_min = Quantity("B_min", "1", "tokens per GPU above which arithmetic hides the communication",
    r"B_\mathrm{min}", also="critical batch per GPU")
