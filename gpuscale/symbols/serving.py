"""Quantities of serving: a decode step, requests that arrive, and a fleet that answers them."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

# A step of decoding
B_seq = Quantity("B_seq", "1", "sequences that decode at a time", r"B_\mathrm{seq}", least=1, whole=True,
    also="batch size, concurrency, running requests")
E_hit = Quantity("E_hit", "1", "distinct experts of a layer that a batch is sent to, on average", r"E_\mathrm{hit}")
V_w = Quantity("V_w", "B", "bytes of weights that a step reads", r"V_\mathrm{w}")
V_seq = Quantity("V_seq", "B", "bytes of the KV cache of a sequence", r"V_\mathrm{seq}")
V_read = Quantity("V_read", "B", "bytes that a step reads", r"V_\mathrm{read}")
t_layer = Quantity("t_layer", "s", "time of a layer in a decode step that its bytes do not explain",
    r"t_\mathrm{layer}", zero=True)
T_dec = Quantity("T_dec", "s", "time of a decode step", r"T_\mathrm{dec}", also="ITL, inter-token latency")
T_tpot = Quantity("T_tpot", "s", "time per output token", r"T_\mathrm{TPOT}", also="TPOT")
T_pre = Quantity("T_pre", "s", "time of the prefill of a prompt", r"T_\mathrm{pre}")
T_ttft = Quantity("T_ttft", "s", "time to first token", r"T_\mathrm{TTFT}", also="TTFT")
S_never = Quantity("S_never", "1", "context beyond which no batch makes decode compute-bound", r"S_\mathrm{never}")

# Requests
S_in = Quantity("S_in", "1", "tokens of a prompt", r"S_\mathrm{in}", least=1, whole=True, also="ISL, input length")
S_out = Quantity("S_out", "1", "tokens of an answer", r"S_\mathrm{out}", least=1, whole=True, also="OSL, output length")
S_hit = Quantity("S_hit", "1", "tokens of a prompt whose cache is there already", r"S_\mathrm{hit}", zero=True,
    whole=True, also="prefix cache hit")
S_chunk = Quantity("S_chunk", "1", "prompt tokens that a step processes", r"S_\mathrm{chunk}", least=1, whole=True,
    also="max_num_batched_tokens")
lambda_req = Quantity("lambda_req", "Hz", "requests that arrive per second", r"\lambda_\mathrm{req}",
    also="QPS, request rate")
