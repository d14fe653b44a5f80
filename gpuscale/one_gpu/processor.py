"""What the units of a GPU do per cycle, and what a warp loses when its lanes diverge."""

# fmt: off

import sympy

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

cuda_cores = Formula("Lanes of a GPU", n_cores, n_sm * n_lane,
    source="scaling-book-gpus, quiz 1 question 1", assumes="for every GPU: it counts units")

vector_peak = Formula("Peak rate of the vector lanes", P_run, n_sm * n_lane * k_op * f_clock,
    source="scaling-book-gpus, quiz 1 question 2",
    assumes="when every lane of every SM issues one instruction per cycle")

tensor_peak = Formula("Peak rate of the Tensor Cores", C, n_sm * n_tc * r_tc * f_clock,
    source="ml-engineering, accelerator clocks; scaling-book-gpus, what is a GPU",
    assumes="when every Tensor Core is fed every cycle, with dense operands")

tensor_core_rate = Formula("FLOPs of a Tensor Core per cycle", r_tc, C / (n_sm * n_tc * f_clock),
    source="scaling-book-gpus, what is a GPU",
    assumes="when the peak, the clock and the unit counts belong to the same GPU")

implied_clock = Formula("Clock implied by a vector peak", f_clock, P_run / (n_sm * n_lane * k_op),
    source="scaling-book-gpus, quiz 1 question 6", assumes="when the stated peak counts every lane in every cycle")

tensor_speedup = Formula("Peak of the Tensor Cores over that of the vector lanes", g_speed, C / P_run,
    source="scaling-book-gpus, quiz 1 question 2", assumes="for peaks of one GPU counted in the same way")

precision_doubling = Formula("Peak in a narrower format", C, C_ref * b_ref / b,
    source="scaling-book-gpus, what is a GPU",
    assumes="when halving the width doubles the rate, as from bf16 to fp8; for narrower formats it depends on the GPU")

chip_capacity = Formula("Capacity of a memory over all SMs", S_total, n_sm * S_sm,
    source="scaling-book-gpus, quiz 1 question 5", assumes="for a memory of which every SM has its own")

chip_bandwidth = Formula("Bandwidth of a memory over all SMs", W, n_sm * w_sm * f_clock,
    source="cuda-guide, shared memory",
    assumes="when every SM moves its full width every cycle, without bank conflicts")

divergence_idle = Formula("Idle fraction of a divergent branch", idle,
    1 - (m_then * n_then + (w_lanes - m_then) * n_else) / (w_lanes * (n_then + n_else)),
    source="cuda-guide, SIMT architecture", assumes="when both paths are taken by some lane, and masked lanes wait")

paths_idle = Formula("Idle fraction of many paths", idle, 1 - 1 / n_ways, source="cuda-guide, SIMT architecture",
    assumes="when the paths are equally long and each lane takes exactly one of them")

issue_share = Formula("Fraction of cycles in which a scheduler issues", eta_issue,
    sympy.Min(1, w_res / n_sub * n_run / (n_run + n_wait)), source="cuda-guide, hardware multithreading",
    assumes="when the resident warps are alike and spread evenly over the schedulers, and each scheduler issues one "
    "instruction per cycle and stays with a warp until it waits")

mixed_rate = Formula("FLOP/s of a kernel with vector work", P_run, sympy.Min(C / (1 - s_vec), C_fp32 / s_vec),
    source="williams2009", assumes="when matrix and vector work overlap perfectly: an upper bound")

operand_traffic = Formula("Operand bytes of a tile per cycle", w_sm,
    b * n_tc * r_tc * (t_rows + t_cols) / (2 * flop * t_rows * t_cols), source="cuda-guide, shared memory",
    assumes="when the Tensor Cores of the SM run at their peak on one tile and read both operands for each step")

fed_tile = Formula("Smallest square tile that shared memory can feed", t_side, b * n_tc * r_tc / (flop * w_sm),
    source="cuda-guide, shared memory",
    assumes="when both operands come from shared memory and neither stays in registers from step to step")

wave_fill = Formula("Fraction of the SMs' time that tiles fill", eta_wave,
    n_tiles / (n_sm * sympy.ceiling(n_tiles / n_sm)), source="cuda-guide, hardware implementation",
    assumes="when tiles take equally long and an SM runs one at a time")

declare(globals())
