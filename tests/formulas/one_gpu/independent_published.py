"""Published figures of one GPU that the formulas must give, to the digits that are printed."""

from formulas.harness import checks

from gpuscale.ledger import claim

# Published figures: formula, inputs, what is printed or its row of the ledger, how far the printed digits reach, where

GIB, KIB = 2**30, 2**10
BOOK, CLOCKS = "the GPU chapter of How to Scale Your Model", "the clock table of ML Engineering"
QUIZ = "Quiz 1 of the GPU chapter of How to Scale Your Model"
CVW, TUNING = "Cornell Virtual Workshop, Tesla V100", "CUDA C++ Best Practices Guide, occupancy"
SHEET, GUIDE = "NVIDIA H100 product page", "CUDA C++ Programming Guide, one register more than fits"
FIX = "recomputed from that chapter's inputs, where its printed figure is rounded or an approximation"
SM70 = dict(
    n_sub=4,
    R_sm=65536,
    g_reg=256,
    w_lanes=32,
    w_max=64,
    n_block=32,
    S_smem=96 * KIB,
    S_block=0,
    S_res=0,
    g_smem=256,
)
REGISTERS = dict(n_sub=4, R_sm=65536, g_reg=256, w_lanes=32)
PUBLISHED = [
    ("ridge_point", dict(C=990e12, W_hbm=3.35e12), "gpus:Q1.3a", 1, QUIZ),
    ("ridge_point", dict(C=2250e12, W_hbm=8e12), "gpus:Q1.3b", 1, QUIZ),
    ("ridge_point", dict(C=2 * 990e12, W_hbm=3.35e12), "gpus:Q1.3c", 2, QUIZ),
    ("ridge_point", dict(C=4500e12, W_hbm=8e12), "gpus:Q1.3d", 1, QUIZ),
    ("ridge_point", dict(C=1.97e14, W_hbm=8.2e11), "gpus:Q1.3e", 1, QUIZ),
    ("ridge_point", dict(C=33.5e12, W_hbm=3.35e12), "gpus:Q1.7d", 0.1, QUIZ),
    ("rule_batch", dict(b_w=2, I_ridge=2250e12 / 8e12), "gpus:Q1.3f", 2, QUIZ),
    ("critical_batch", dict(B_rule=281.25, D=4096, F=8192), 313.5, 0.1, FIX),
    ("critical_batch", dict(B_rule=990e12 / 3.35e12, D=4096, F=4096), 345, 1, FIX),
    ("critical_batch", dict(B_rule=990e12 / 3.35e12, D=1024, F=1024), 699, 1, FIX),
    ("matmul_bytes", dict(B=64, D=4096, F=8192, b=2, b_w=2), 68_681_728, 0, QUIZ),
    ("matmul_memory_time", dict(B=64, D=4096, F=8192, b=2, b_w=2, W_hbm=8e12), 8.585e-6, 1e-9, FIX),
    ("matmul_time", dict(B=64, D=4096, F=8192, b=2, b_w=2, C=2.25e15, W_hbm=8e12), "gpus:Q1.4b", 1e-7, QUIZ),
    ("matmul_math_time", dict(B=512, D=4096, F=8192, C=2.25e15), 15.27e-6, 1e-8, FIX),
    ("matmul_math_time", dict(B=512, D=4096, F=8192, C=2.3e15), "gpus:Q1.4d", 1e-6, QUIZ),
    ("matmul_time", dict(B=512, D=4096, F=8192, b=2, b_w=2, C=2.25e15, W_hbm=8e12), 15.27e-6, 1e-8, FIX),
    ("vector_add_intensity", dict(b=4), 1 / 12, 1e-9, QUIZ),
    ("vector_add_time", dict(alpha=0, b=4, n=1024, W_hbm=3.35e12), 3.67e-9, 1e-11, FIX),
    ("vector_add_time", dict(alpha=0, b=4, n=65536, W_hbm=3.35e12), "gpus:Q1.7h", 5e-9, QUIZ),
    ("vector_add_time", dict(alpha=0, b=4, n=2**30, W_hbm=3.35e12), "gpus:Q1.7j", 1e-5, QUIZ),
    ("cuda_cores", dict(n_sm=132, n_lane=4 * 32), "gpus:Q1.1a", 0, QUIZ),
    ("cuda_cores", dict(n_sm=148, n_lane=4 * 32), "gpus:Q1.1b", 0, QUIZ),
    ("cuda_cores", dict(n_sm=2, n_lane=4 * 8 * 128), "gpus:Q1.1c", 0, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=1, f_clock=1.59e9), "gpus:Q1.2a", 1e11, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=1, f_clock=1.98e9), "gpus:Q1.2b", 1e11, QUIZ),
    ("vector_peak", dict(n_sm=132, n_lane=128, k_op=2, f_clock=1.98e9), 66.9e12, 1e11, SHEET),
    ("implied_clock", dict(P_run=80e12, n_sm=148, n_lane=128, k_op=2), "gpus:Q1.6b", 5e7, QUIZ),
    ("tensor_speedup", dict(C=990e12, P_run=33.5e12), "gpus:Q1.2c", 1, QUIZ),
    ("tensor_core_rate", dict(C=125e12, n_sm=80, n_tc=8, f_clock=1.53e9), 128, 1, CVW),
    ("tensor_core_rate", dict(C=312e12, n_sm=108, n_tc=4, f_clock=1.41e9), "gpus:HW-14", 1, BOOK),
    ("tensor_core_rate", dict(C=989.4e12, n_sm=132, n_tc=4, f_clock=1.83e9), "gpus:HW-15", 1, BOOK),
    ("tensor_core_rate", dict(C=2250e12, n_sm=148, n_tc=4, f_clock=1.86e9), 2043, 1, BOOK),
    ("tensor_peak", dict(n_sm=80, n_tc=8, r_tc=128, f_clock=1.53e9), 125e12, 1e12, CVW),
    ("tensor_peak", dict(n_sm=108, n_tc=4, r_tc=512, f_clock=1.41e9), 312e12, 1e12, CLOCKS),
    ("tensor_peak", dict(n_sm=132, n_tc=4, r_tc=1024, f_clock=1.83e9), 989.4e12, 1e11, CLOCKS),
    ("precision_doubling", dict(C_ref=989.4e12, b_ref=2, b=1), 1979e12, 1e12, "NVIDIA H100 product page"),
    ("precision_doubling", dict(C_ref=2250e12, b_ref=2, b=0.5), "gpus:T2-B200-fp4", 0, BOOK),
    ("chip_capacity", dict(n_sm=132, S_sm=256 * KIB), 33 * 2**20, 0, QUIZ),
    ("bandwidth_ratio", dict(W_ref=5.5e12, W=3.35e12), "gpus:MEM-8", 0.05, BOOK),
    ("register_file_warps", dict(R_sm=65536, R=256, w_lanes=32), "gpus:MEM-3", 0, BOOK),
    ("occupancy", SM70 | dict(R=256, w_block=1), 8 / 64, 0, BOOK),
    ("occupancy", SM70 | dict(R=37, w_block=4), 0.75, 0, TUNING),
    ("occupancy", SM70 | dict(R=37, w_block=10), 0.63, 0.006, TUNING),
    ("resident_warps", SM70 | dict(R=37, w_block=4), 12 * 4, 0, TUNING),
    ("resident_warps", SM70 | dict(R=37, w_block=10), 4 * 10, 0, TUNING),
    ("resident_warps", SM70 | dict(R=32, w_block=8), 64, 0, TUNING),
    ("register_limit", REGISTERS | dict(R=64, w_block=16), 32, 0, GUIDE),
    ("register_limit", REGISTERS | dict(R=65, w_block=16), 16, 0, GUIDE),
    ("sweep_time", dict(S_level=80e9, W=3.35e12), 23.9e-3, 1e-4, SHEET),
]


@checks(*{row[0] for row in PUBLISHED})
def published_figures(lib):
    for name, values, printed, reach, where in PUBLISHED:
        printed = claim(printed).published if isinstance(printed, str) else printed
        ours = getattr(lib, name)(**values)
        assert abs(ours - printed) <= reach * (1 + 1e-9), f"{name}: {ours:g}, printed {printed:g} in {where}"
