"""Quantities of sharded data, tensor, sequence, context and expert parallelism, and of overlap."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

n_cp = Quantity("n_cp", "1", "ranks that a sequence is sharded over (context parallel)", r"n_\mathrm{cp}", least=1,
    whole=True,
    also="cp")

# FSDP
n_rows = Quantity("n_rows", "1", "rows of a weight matrix, its first dimension", r"n_\mathrm{rows}", least=1,
    whole=True)
g_pad = Quantity("g_pad", "1", "bytes with padding over bytes without", r"g_\mathrm{pad}", least=1)

# Expert parallelism
b_dispatch = Quantity("b_dispatch", "B", "bytes per element of the tokens sent to their experts", r"b_\mathrm{disp}")
b_combine = Quantity("b_combine", "B", "bytes per element of the results sent back", r"b_\mathrm{comb}")
B_expert = Quantity("B_expert", "1", "tokens that an expert works on", r"B_\mathrm{expert}")
n_gpu_hit = Quantity("n_gpu_hit", "1", "GPUs of a node that a token reaches, on average", r"n_\mathrm{GPU}")
F_crit = Quantity("F_crit", "1", "expert width at which arithmetic takes as long as dispatch and combine",
    r"F_\mathrm{crit}")
g_rows = Quantity("g_rows", "1", "rows of the fullest rank over the mean", r"g_\mathrm{rows}", least=1)

k_free = Quantity("k_free", "1", "experts per token at which NVLink takes as long as the NICs", r"k_\mathrm{free}")

# Tensor, sequence and context parallelism
Y_lim = Quantity("Y_lim", "1", "largest number of tensor-parallel ranks whose arithmetic hides the communication",
    r"Y_\mathrm{lim}", also="most TP")
eta_tp = Quantity("eta_tp", "1", "fraction of the time in which a tensor-parallel rank computes", r"\eta_\mathrm{TP}",
    most=1)
B_half = Quantity("B_half", "1", "tokens at which latency and transfer take the same time", r"B_{1/2}")
n_use = Quantity("n_use", "1", "matmuls that read the same input: 1 if their weights are one matrix",
    r"n_\mathrm{use}", least=1, whole=True)
S_cp = Quantity("S_cp", "1", "tokens of the sequence on a context-parallel rank", r"S_\mathrm{cp}", also="S/cp")
g_work = Quantity("g_work", "1", "work of the busiest rank over the mean", r"g_\mathrm{work}", least=1)
W_dp = Quantity("W_dp", "B/s", "bandwidth of a GPU along the data-parallel axis, one direction", r"W_\mathrm{DP}",
    also="M_X W_ici")
W_tp = Quantity("W_tp", "B/s", "bandwidth of a GPU along the tensor-parallel axis, one direction", r"W_\mathrm{TP}",
    also="M_Y W_ici")
X_best = Quantity("X_best", "1", "data-parallel ranks with the least communication", r"X_\mathrm{best}",
    also="X_opt, best FSDP degree")

# Overlap
r_comm = Quantity("r_comm", "1", "communication time over the time of the arithmetic it overlaps with",
    r"r_\mathrm{comm}",
    zero=True, also="comm/compute ratio")
f_exp = Quantity("f_exp", "1", "fraction of a communication that is exposed", r"f_\mathrm{exposed}", zero=True, most=1)
g_hide = Quantity("g_hide", "1", "speedup by overlap", r"g_\mathrm{overlap}", least=1)
T_exp = Quantity("T_exp", "s", "exposed communication time", r"T_\mathrm{exposed}", zero=True)
L_hide = Quantity("L_hide", "1", "layers of a stage that take as long as a stage transfer", r"L_\mathrm{hide}")
n_bucket = Quantity("n_bucket", "1", "buckets that the gradients are sent in", r"n_\mathrm{bkt}", least=1, whole=True)
n_best = Quantity("n_best", "1", "number of buckets that leaves the least exposed", r"n_\mathrm{best}")
V_bucket = Quantity("V_bucket", "B", "bytes of a bucket of gradients", r"V_\mathrm{bkt}", also="bucket_cap_mb")
T_bucket = Quantity("T_bucket", "s", "time of the all-reduce of a bucket", r"T_\mathrm{bkt}", zero=True)
n_comm = Quantity("n_comm", "1", "SMs used by communication kernels", r"n_\mathrm{comm}", zero=True, whole=True,
    also="NCCL channels")
g_slow = Quantity("g_slow", "1", "slowdown of arithmetic while communication runs", r"g_\mathrm{slow}",
    least=1)


# Quantities of pipeline parallelism.
N_stages = Quantity("N_stages", "1", "stages of the pipeline", r"N_\mathrm{stages}", least=1, whole=True,
    also="p, PP, pipeline degree")
N_MB = Quantity("N_MB", "1", "microbatches of a step", r"N_\mathrm{MB}", least=1, whole=True,
    also="m, gradient accumulation steps")
n_virt = Quantity("n_virt", "1", "virtual stages per stage (interleaving)", r"n_\mathrm{virt}", least=1,
    whole=True, also="v, virtual pipeline size, chunks")
i_stage = Quantity("i_stage", "1", "stages before this one", r"i_\mathrm{stage}", zero=True, whole=True, also="rank")

# One microbatch in one stage
t_F = Quantity("t_F", "s", "forward pass of a microbatch through a stage", r"t_\mathrm{F}", also="T_F, F")
t_B = Quantity("t_B", "s", "backward pass of a microbatch through a stage, weight gradients included", r"t_\mathrm{B}",
    also="B")
t_W = Quantity("t_W", "s", "part of a backward pass that computes weight gradients", r"t_\mathrm{W}", zero=True,
    also="T_W")
t_FB = Quantity("t_FB", "s", "a forward and a backward pass that overlap", r"t_\mathrm{FB}", also="F&B")
T_hop = Quantity("T_hop", "s", "transfer of a microbatch from one stage to the next", r"T_\mathrm{hop}", zero=True)

# What a schedule does with them
n_hops = Quantity("n_hops", "1", "transfers that follow one another", r"n_\mathrm{hops}", zero=True)
f_bub = Quantity("f_bub", "1", "bubble fraction: idle time over total time", r"f_\mathrm{bubble}", most=1, zero=True)
r_bub = Quantity("r_bub", "1", "bubble overhead: idle time over busy time", r"r_\mathrm{bubble}", zero=True)
n_held = Quantity("n_held", "1", "activations stored at a time, each of one microbatch in one stage or virtual stage",
    r"n_\mathrm{held}")
L_held = Quantity("L_held", "1", "layers of one microbatch whose activations a rank stores", r"L_\mathrm{held}")
L_keep = Quantity("L_keep", "1", "layers whose activations are not offloaded", r"L_\mathrm{keep}")
T_late = Quantity("T_late", "s", "time from the start of a stage's last backward pass to the end of the step",
    r"T_\mathrm{late}")
g_stage = Quantity("g_stage", "1", "work of the slowest stage over that of the others", r"g_\mathrm{stage}", least=1)
