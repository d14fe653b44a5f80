"""Quantities of serving: a decode step, requests that arrive, and a fleet that answers them."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

# Formats of weights: what a quantized weight takes with its scales
b_code = Quantity("b_code", "B", "bytes of a quantized weight without its scale: its bits over 8", r"b_\mathrm{code}")
b_scale = Quantity("b_scale", "B", "bytes of the scale of a group of weights, and of its zero point if it has one",
    r"b_\mathrm{scale}", zero=True)
n_group = Quantity("n_group", "1", "weights that have a scale in common", r"n_\mathrm{group}", least=1, whole=True,
    also="group size, block size of a format")
b_exp = Quantity("b_exp", "B", "bytes per element of the weights of routed experts", r"b_\mathrm{exp}")
b_head = Quantity("b_head", "B", "bytes per element of the weights of the output head", r"b_\mathrm{head}")

# A step of decoding
B_seq = Quantity("B_seq", "1", "sequences that decode at a time", r"B_\mathrm{seq}", least=1, whole=True,
    also="batch size, concurrency, running requests")
E_hit = Quantity("E_hit", "1", "distinct experts of a layer that a batch is sent to, on average", r"E_\mathrm{hit}")
V_w = Quantity("V_w", "B", "bytes of weights that a step reads", r"V_\mathrm{w}")
V_seq = Quantity("V_seq", "B", "bytes of the KV cache of a sequence", r"V_\mathrm{seq}")
V_read = Quantity("V_read", "B", "bytes that a step reads", r"V_\mathrm{read}")
ops_kv = Quantity("ops_kv", "FLOP", "FLOPs of attention over the KV cache in a step", r"\mathrm{FLOPs}_\mathrm{KV}")
t_layer = Quantity("t_layer", "s", "time of a layer in a decode step that its bytes do not explain",
    r"t_\mathrm{layer}", zero=True)
T_one = Quantity("T_one", "s", "estimated time of a decode step of one sequence", r"T_\mathrm{one}")
T_many = Quantity("T_many", "s", "estimated time of a decode step of a batch, from bytes, FLOPs and links",
    r"T_\mathrm{many}")
g_added = Quantity("g_added", "1", "time that further sequences add to a step over its estimate", r"g_\mathrm{added}",
    least=1)
T_dec = Quantity("T_dec", "s", "time of a decode step", r"T_\mathrm{dec}", also="ITL, inter-token latency")
T_tpot = Quantity("T_tpot", "s", "time per output token", r"T_\mathrm{TPOT}", also="TPOT")
a_step = Quantity("a_step", "1", "tokens that a step adds to a sequence, on average: 1 without speculation",
    r"a_\mathrm{step}", least=1, also="acceptance length, tokens per step")
r_tok = Quantity("r_tok", "/s", "output tokens per second of one GPU", r"r_\mathrm{token}",
    also="throughput, tok/s/GPU")
T_pre = Quantity("T_pre", "s", "time of the prefill of a prompt", r"T_\mathrm{pre}", zero=True)
T_ttft = Quantity("T_ttft", "s", "time to first token", r"T_\mathrm{TTFT}", also="TTFT")
T_queue = Quantity("T_queue", "s", "time of a request before its prefill begins", r"T_\mathrm{queue}", zero=True,
    also="queueing delay")
T_send = Quantity("T_send", "s", "time from the server to the user, and of a KV cache between GPUs",
    r"T_\mathrm{send}", zero=True)
S_never = Quantity("S_never", "1", "context beyond which no batch makes decode compute-bound", r"S_\mathrm{never}")

# Requests
S_in = Quantity("S_in", "1", "tokens of a prompt", r"S_\mathrm{in}", least=1, whole=True, also="ISL, input length")
S_out = Quantity("S_out", "1", "tokens of an answer", r"S_\mathrm{out}", least=1, whole=True, also="OSL, output length")
S_hit = Quantity("S_hit", "1", "tokens of a prompt whose cache is there already", r"S_\mathrm{hit}", zero=True,
    whole=True, also="prefix cache hit")
S_chunk = Quantity("S_chunk", "1", "prompt tokens that a step processes", r"S_\mathrm{chunk}", least=1, whole=True,
    also="max_num_batched_tokens")
lambda_req = Quantity("lambda_req", "/s", "requests that arrive per second", r"\lambda_\mathrm{req}",
    also="QPS, request rate")

# Memory of a server: what is left of it is split into blocks
S_hbm = Quantity("S_hbm", "B", "HBM of one GPU", r"S_\mathrm{HBM}", also="memory capacity")
f_mem = Quantity("f_mem", "1", "fraction of the HBM that the engine may use", r"f_\mathrm{mem}", most=1,
    also="gpu_memory_utilization, mem_fraction_static")
V_res = Quantity("V_res", "B", "bytes that all GPUs hold apart from the cache: weights, buffers, graphs",
    r"V_\mathrm{res}")
S_page = Quantity("S_page", "1", "tokens of a block of the KV cache", r"S_\mathrm{page}", least=1, whole=True,
    also="block_size, page size")
n_page = Quantity("n_page", "1", "blocks of the KV cache that a sequence takes", r"n_\mathrm{page}")
n_pool = Quantity("n_pool", "1", "blocks of the KV cache that fit into memory", r"n_\mathrm{pool}", zero=True,
    whole=True, also="num_gpu_blocks")
S_max = Quantity("S_max", "1", "largest context that a server accepts", r"S_\mathrm{max}", least=1, whole=True,
    also="max_model_len")
f_waste = Quantity("f_waste", "1", "fraction of the allocated cache that holds no token", r"f_\mathrm{waste}",
    zero=True, most=1, also="internal fragmentation")

# Many GPUs
t_ar = Quantity("t_ar", "s", "time of an all-reduce of the tokens of a decode step", r"t_\mathrm{AR}", zero=True,
    also="all-reduce latency")
V_w_gpu = Quantity("V_w_gpu", "B", "bytes of weights that a GPU reads in a step", r"V_\mathrm{w,GPU}")
V_attn = Quantity("V_attn", "B", "bytes of the weights that each data-parallel rank stores: those of attention",
    r"V_\mathrm{attn}", zero=True)
g_copy = Quantity("g_copy", "1", "copies of each key-value head among the tensor-parallel ranks", r"g_\mathrm{copy}",
    least=1, also="KV replication")
V_tok_gpu = Quantity("V_tok_gpu", "B", "bytes of the KV cache per token on a GPU", r"V_\mathrm{token,GPU}")
n_fit = Quantity("n_fit", "1", "tokens whose KV cache fits into the memory of all GPUs", r"n_\mathrm{fit}")
b_part = Quantity("b_part", "B", "bytes per element of a partial result of attention, and of its log-sum-exp",
    r"b_\mathrm{part}")
f_spread = Quantity("f_spread", "1", "standard deviation of the tokens of an expert over their mean",
    r"f_\mathrm{spread}", zero=True, also="coefficient of variation, load imbalance")

# A replica: the GPUs that hold a model once
n_dpa = Quantity("n_dpa", "1", "attention groups of a replica, each with its own sequences (DP attention)",
    r"n_\mathrm{DPA}", least=1, whole=True, also="dp_size, attention data parallelism")
P_tok = Quantity("P_tok", "1", "parameters of a GPU that work per token of its attention group", r"P_\mathrm{token}")
V_own = Quantity("V_own", "B", "bytes of weights that a GPU holds", r"V_\mathrm{own}")
