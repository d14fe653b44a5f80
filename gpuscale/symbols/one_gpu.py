"""Quantities of one GPU: arithmetic and time, memory, the matrix multiplication, the SM and its warps."""

# fmt: off

from gpuscale.symbols.quantity import Quantity

# Arithmetic and time. `flop` is one FLOP: it makes 2*flop*B*D*F a number of FLOPs and prints as nothing.
flop = Quantity("flop", "FLOP", "one floating-point operation", "")
T = Quantity("T", "s", "time")
T_math = Quantity("T_math", "s", "time that the arithmetic takes", r"T_\mathrm{math}")
T_mem = Quantity("T_mem", "s", "time that the memory traffic takes", r"T_\mathrm{mem}")
C = Quantity("C", "FLOP/s", "peak FLOP/s of one GPU, dense", also="peak rate, R_peak, pi")
C_bf16 = Quantity("C_bf16", "FLOP/s", "peak of the Tensor Cores in bf16, dense", r"C_\mathrm{bf16}")
C_fp8 = Quantity("C_fp8", "FLOP/s", "peak of the Tensor Cores in fp8, dense", r"C_\mathrm{fp8}")
C_fp32 = Quantity("C_fp32", "FLOP/s", "peak of the vector lanes in fp32, with fused multiply-add", r"C_\mathrm{fp32}")
P_run = Quantity("P_run", "FLOP/s", "FLOP/s that a kernel can attain", r"P_\mathrm{run}")
ops = Quantity("ops", "FLOP", "floating-point operations of a kernel", r"\mathrm{FLOPs}")
alpha = Quantity("alpha", "s", "latency of a step or of a whole call: its time without the bytes", r"\alpha", zero=True,
    also="latency, launch overhead, t_0")
b = Quantity("b", "B", "bytes per element", also="itemsize, dtype bytes")
b_w = Quantity("b_w", "B", "bytes per element of the weights", r"b_\mathrm{w}")

# Memory
V = Quantity("V", "B", "bytes moved, or the size of a full buffer", also="message size, S, bytes")
W = Quantity("W", "B/s", "bandwidth of a level or link, one direction", also="B, beta")
W_hbm = Quantity("W_hbm", "B/s", "bandwidth of HBM", r"W_\mathrm{HBM}", also="memory bandwidth, beta")
W_ref = Quantity("W_ref", "B/s", "reference bandwidth", r"W_\mathrm{ref}")
V_half = Quantity("V_half", "B", "size at which latency and transfer take the same time", r"V_{1/2}")
W_eff = Quantity("W_eff", "B/s", "effective bandwidth of a transfer, latency included", r"W_\mathrm{eff}")
S_level = Quantity("S_level", "B", "capacity of a memory level", r"S_\mathrm{level}")
S_sm = Quantity("S_sm", "B", "capacity of a memory in one SM", r"S_\mathrm{SM}")
S_total = Quantity("S_total", "B", "capacity of all SMs together", r"S_\mathrm{total}")
w_sm = Quantity("w_sm", "B", "bytes that one SM moves per cycle", r"w_\mathrm{SM}")
W_nvl = Quantity("W_nvl", "B/s", "bandwidth of a GPU into NVLink, one direction", r"W_\mathrm{NVLink}")
W_host = Quantity("W_host", "B/s", "bandwidth between a GPU and its host, one direction", r"W_\mathrm{host}")
W_nic = Quantity("W_nic", "B/s", "bandwidth of a GPU's NIC, one direction", r"W_\mathrm{NIC}")
Q = Quantity("Q", "B", "bytes in flight: requested and not yet delivered")
Q_full = Quantity("Q_full", "B", "bytes in flight that keep a link busy", r"Q_\mathrm{full}")
n_load = Quantity("n_load", "1", "loads that a thread keeps in flight", r"n_\mathrm{load}", least=1, whole=True)
b_load = Quantity("b_load", "B", "bytes that one load of one thread fetches", r"b_\mathrm{load}")

# The shape of a matrix multiplication [B, D] x [D, F]
I = Quantity("I", "FLOP/B", "arithmetic intensity of a kernel", also="AI, operational intensity")  # noqa: E741
I_ridge = Quantity("I_ridge", "FLOP/B", "ridge point: intensity where memory and arithmetic take the same time",
    r"I_\mathrm{ridge}")
B = Quantity("B", "1", "rows of the matmul: tokens in the batch", least=1, whole=True, also="tokens, M of a GEMM")
B_rule = Quantity("B_rule", "1", "critical batch of a matmul with very wide matrices", r"B_\mathrm{rule}")
B_crit = Quantity("B_crit", "1", "smallest batch at which a matmul is compute-bound", r"B_\mathrm{crit}")
D = Quantity("D", "1", "inner dimension of the matmul: model width", least=1, whole=True,
    also="d_model, h, hidden size, K of a GEMM")
F = Quantity("F", "1", "columns of the matmul: feed-forward width", least=1, whole=True,
    also="d_ff, intermediate size, N of a GEMM")
n = Quantity("n", "1", "elements of a vector", least=1, whole=True)

# The SM
n_sm = Quantity("n_sm", "1", "streaming multiprocessors (SMs) of a GPU", r"n_\mathrm{SM}", least=1, whole=True)
n_sub = Quantity("n_sub", "1", "subpartitions of an SM, each with its own registers", r"n_\mathrm{sub}", least=1,
    whole=True)
n_tc = Quantity("n_tc", "1", "Tensor Cores of an SM", r"n_\mathrm{TC}", least=1, whole=True)
n_lane = Quantity("n_lane", "1", "fp32 lanes (CUDA cores) of an SM", r"n_\mathrm{lane}", least=1, whole=True)
n_cores = Quantity("n_cores", "1", "lanes of all SMs together", r"n_\mathrm{cores}")
k_op = Quantity("k_op", "FLOP", "FLOPs that a lane finishes per cycle: 1, or 2 with a fused multiply-add",
    r"k_\mathrm{op}", also="FLOPs per lane per cycle")
r_tc = Quantity("r_tc", "FLOP", "FLOPs of one Tensor Core per cycle, dense", r"r_\mathrm{TC}")
f_clock = Quantity("f_clock", "Hz", "clock rate", r"f_\mathrm{clock}")
b_ref = Quantity("b_ref", "B", "bytes per element of the reference format", r"b_\mathrm{ref}")
C_ref = Quantity("C_ref", "FLOP/s", "peak rate in the reference format", r"C_\mathrm{ref}")
eta = Quantity("eta", "1", "fraction of a peak that a kernel achieves", r"\eta", most=1,
    also="efficiency, MFU of a kernel")
g_speed = Quantity("g_speed", "1", "how many times faster one unit is than another", r"g")

# Warps, divergence and occupancy
w_lanes = Quantity("w_lanes", "1", "lanes of a warp", r"w", least=1, whole=True, also="warp size")
n_then = Quantity("n_then", "1", "instructions when the condition holds", r"n_\mathrm{then}", zero=True)
n_else = Quantity("n_else", "1", "instructions when it does not", r"n_\mathrm{else}", zero=True)
m_then = Quantity("m_then", "1", "lanes of the warp for which the condition holds", r"m", zero=True)
idle = Quantity("idle", "1", "fraction of lane slots that a warp leaves idle", r"\varphi_\mathrm{idle}", most=1)
R = Quantity("R", "1", "registers that a thread uses", least=1, whole=True)
R_sm = Quantity("R_sm", "1", "registers of an SM, 32 bits each", r"R_\mathrm{SM}", least=1, whole=True)
g_reg = Quantity("g_reg", "1", "granularity at which registers are allocated to a warp", r"g_\mathrm{reg}", least=1,
    whole=True)
S_block = Quantity("S_block", "B", "shared memory that a block requests", r"S_\mathrm{block}", zero=True)
S_smem = Quantity("S_smem", "B", "shared memory of an SM that blocks can use", r"S_\mathrm{SMEM}")
S_res = Quantity("S_res", "B", "shared memory that the system reserves in each block", r"S_\mathrm{res}", zero=True)
g_smem = Quantity("g_smem", "B", "granularity at which shared memory is allocated", r"g_\mathrm{SMEM}")
t_block = Quantity("t_block", "1", "threads of a block", r"t_\mathrm{block}", least=1, whole=True,
    also="block size, blockDim")
w_block = Quantity("w_block", "1", "warps of a block", r"w_\mathrm{block}", least=1, whole=True)
w_max = Quantity("w_max", "1", "warps that an SM can hold", r"w_\mathrm{max}", least=1, whole=True)
n_block = Quantity("n_block", "1", "blocks that an SM can hold", r"n_\mathrm{block}", least=1, whole=True)
w_res = Quantity("w_res", "1", "warps resident on an SM", r"w_\mathrm{res}")
occ = Quantity("occ", "1", "occupancy: resident warps over the warps that an SM can hold", r"\mathrm{occ}", most=1,
    also="achieved or theoretical occupancy (here: theoretical)")

# What an SM keeps busy: issue slots, the vector lanes next to the Tensor Cores, tiles and waves
n_ways = Quantity("n_ways", "1", "paths that the lanes of a warp take", r"n_\mathrm{ways}", least=1,
    whole=True)
n_run = Quantity("n_run", "1", "instructions that a warp issues before it waits", r"n_\mathrm{run}", least=1,
    whole=True)
n_wait = Quantity("n_wait", "1", "cycles for which the warp then waits", r"n_\mathrm{wait}", zero=True, whole=True)
eta_issue = Quantity("eta_issue", "1", "fraction of cycles in which a warp scheduler issues", r"\eta_\mathrm{issue}",
    most=1)
s_vec = Quantity("s_vec", "1", "fraction of a kernel's FLOPs done on the vector lanes", r"s_\mathrm{vec}", most=1)
t_rows = Quantity("t_rows", "1", "rows of the tile that an SM works on", r"t_\mathrm{rows}", least=1, whole=True)
t_cols = Quantity("t_cols", "1", "columns of that tile", r"t_\mathrm{cols}", least=1, whole=True)
t_side = Quantity("t_side", "1", "side of a square tile", r"t_\mathrm{side}")
n_tiles = Quantity("n_tiles", "1", "tiles that a kernel is split into, one per block", r"n_\mathrm{tiles}", least=1,
    whole=True)
eta_wave = Quantity("eta_wave", "1", "fraction of the SMs' time in which a tile runs", r"\eta_\mathrm{wave}", most=1)
