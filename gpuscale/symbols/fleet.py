"""Quantities of many requests and many servers: batching, chunked prefill, speculation, rates and prices."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

# The steady state of a batch
B_mean = Quantity("B_mean", "1", "sequences that decode at a time, on average", r"B_\mathrm{mean}", zero=True,
    also="mean batch size, average concurrency")
T_w = Quantity("T_w", "s", "time of a decode step that the batch does not change, such as the read of the weights",
    r"T_\mathrm{w}")
t_seq = Quantity("t_seq", "s", "time that a sequence adds to a decode step: the read of its cache, its arithmetic",
    r"t_\mathrm{seq}", zero=True)
S_mean = Quantity("S_mean", "1", "context of a sequence that decodes, on average", r"S_\mathrm{mean}")
c_var = Quantity("c_var", "1", "standard deviation of the output lengths over their mean", r"c_\mathrm{v}", zero=True,
    also="coefficient of variation")
n_req = Quantity("n_req", "1", "requests in a system, queued or in the batch, on average", r"n_\mathrm{req}",
    also="concurrency, in flight")
T_req = Quantity("T_req", "s", "time of a request from its arrival to its last token", r"T_\mathrm{req}",
    also="end-to-end latency, E2EL")

# The queue in front of a server, which works on one request at a time
T_svc = Quantity("T_svc", "s", "time that a server works on a request, on average", r"T_\mathrm{svc}",
    also="service time")
c_scv = Quantity("c_scv", "1", "variance of the service times over the square of their mean", r"c_\mathrm{scv}",
    zero=True, also="squared coefficient of variation, SCV")
f_svc = Quantity("f_svc", "1", "fraction of the time in which a server works", r"f_\mathrm{svc}", zero=True, most=1,
    also="utilization, rho, traffic intensity")
f_load = Quantity("f_load", "1", "requests that a replica serves over those that it could serve with a full batch",
    r"f_\mathrm{load}", zero=True, most=1, also="load, offered load")
f_late = Quantity("f_late", "1", "fraction of the requests that exceed a percentile: 0.05 for p95", r"f_\mathrm{late}",
    most=1, also="quantile, p95, p99")
T_tail = Quantity("T_tail", "s", "time in the queue that a fraction f_late of the requests exceed",
    r"T_\mathrm{tail}", zero=True, also="percentile, tail latency, p95, p99")
f_slot = Quantity("f_slot", "1", "fraction of the requests that find every slot of the batch taken", r"f_\mathrm{slot}",
    zero=True, most=1, also="probability of queueing, Erlang C")
T_hold = Quantity("T_hold", "s", "time for which a request holds its slot, on average", r"T_\mathrm{hold}")
T_slot = Quantity("T_slot", "s", "time of a request until a slot of the batch is free", r"T_\mathrm{slot}", zero=True)
T_line = Quantity("T_line", "s", "time of a request behind the prefills of earlier ones", r"T_\mathrm{line}", zero=True)
f_pre = Quantity("f_pre", "1", "fraction of the requests that find their prefix in the cache", r"f_\mathrm{pre}",
    zero=True, most=1, also="prefix cache hit rate")
T_hit = Quantity("T_hit", "s", "time of a prefill that finds its prefix in the cache", r"T_\mathrm{hit}", zero=True)
T_miss = Quantity("T_miss", "s", "time of a prefill that computes its whole prompt", r"T_\mathrm{miss}")

# Steps that carry prompts
T_mix = Quantity("T_mix", "s", "time of a step that decodes and processes a chunk of a prompt", r"T_\mathrm{mix}")
T_chunk = Quantity("T_chunk", "s", "time of the arithmetic of a chunk of a prompt", r"T_\mathrm{chunk}", zero=True)
f_chunk = Quantity("f_chunk", "1", "fraction of the steps that process a chunk of a prompt", r"f_\mathrm{chunk}",
    zero=True, most=1)
T_gap = Quantity("T_gap", "s", "time between two tokens of a sequence", r"T_\mathrm{gap}", also="worst ITL")
V_again = Quantity("V_again", "B", "bytes of its own cache that a prompt reads back between its chunks",
    r"V_\mathrm{again}", zero=True)
n_come = Quantity("n_come", "1", "prompts that are prefilled per decode step, on average", r"n_\mathrm{come}")
n_stall = Quantity("n_stall", "1", "prompts whose prefill runs between two tokens of a sequence", r"n_\mathrm{stall}",
    zero=True, whole=True)

# Speculative decoding
n_draft = Quantity("n_draft", "1", "draft tokens per step", r"n_\mathrm{draft}", zero=True, whole=True,
    also="gamma, k, num_speculative_tokens, MTP depth")
a_acc = Quantity("a_acc", "1", "probability that a draft token is accepted", r"a_\mathrm{acc}", zero=True, most=1,
    also="acceptance rate, alpha, beta")
a_acc_1, a_acc_2, a_acc_3, a_acc_4, a_acc_5 = (
    Quantity(f"a_acc_{i}", "1", f"probability that draft token {i} is accepted if all before it are",
        rf"a_{{\mathrm{{acc}},{i}}}", zero=True, most=1) for i in range(1, 6))
r_draft = Quantity("r_draft", "1", "time of a draft token over the time of a step of the model", r"r_\mathrm{draft}",
    zero=True, also="c, cost coefficient")
r_small = Quantity("r_small", "1", "FLOPs per token of the draft model over those of the model", r"r_\mathrm{small}",
    zero=True)
g_spec = Quantity("g_spec", "1", "speedup by speculation", r"g_\mathrm{spec}")
g_ops = Quantity("g_ops", "1", "FLOPs per output token with speculation over those without", r"g_\mathrm{FLOPs}")
t_draft = Quantity("t_draft", "s", "time of a draft token", r"t_\mathrm{draft}", zero=True)
B_check = Quantity("B_check", "1", "tokens that the matmuls of a step process", r"B_\mathrm{check}")

# Rates, prices, energy
V_hand = Quantity("V_hand", "B", "bytes of cache that a request hands over after its prefill", r"V_\mathrm{hand}")
W_hand = Quantity("W_hand", "B/s", "bandwidth at which the cache leaves as fast as the prefill makes it",
    r"W_\mathrm{hand}")
r_pre = Quantity("r_pre", "/s", "prompt tokens per second of one GPU in prefill", r"r_\mathrm{pre}")
r_dec = Quantity("r_dec", "/s", "output tokens per second of one GPU in decode", r"r_\mathrm{dec}")
r_pd = Quantity("r_pd", "1", "GPUs for prefill per GPU for decode", r"r_\mathrm{PD}", zero=True, also="P:D ratio, xPyD")
N_fleet = Quantity("N_fleet", "1", "number of GPUs, or of nodes, that a load keeps busy", r"N_\mathrm{fleet}")
B_knee = Quantity("B_knee", "1", "sequences whose caches take as long to read as the weights", r"B_\mathrm{knee}")
r_user = Quantity("r_user", "/s", "output tokens per second of one sequence", r"r_\mathrm{user}",
    also="tok/s/user, interactivity")
f_busy = Quantity("f_busy", "1", "tokens that a fleet serves over those that it could serve", r"f_\mathrm{busy}",
    most=1, also="utilization")
r_rep = Quantity("r_rep", "/s", "requests per second that a replica serves at its load", r"r_\mathrm{replica}")
n_rep = Quantity("n_rep", "1", "replicas", r"n_\mathrm{replica}", least=1, whole=True, also="instances, num_replicas")
cost_hour = Quantity("cost_hour", "USD/h", "price of a fleet for an hour", r"\mathrm{cost}_\mathrm{hour}")
cost_mtok = Quantity("cost_mtok", "USD", "price of a million tokens", r"\mathrm{cost}_\mathrm{Mtok}", also="$/Mtok")
P_power = Quantity("P_power", "W", "power of one GPU, with its part of the server",
    r"P_\mathrm{power}", also="TDP, TGP")
e_tok = Quantity("e_tok", "/J", "output tokens per joule", r"e_\mathrm{token}", also="tokens per watt-second")
