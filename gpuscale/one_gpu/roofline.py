"""The roofline: arithmetic against memory traffic, for matrix multiplication and vector addition."""

# fmt: off

import sympy

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, quiz 1"
_ROOF = "williams2009"
_STREAMED = "when each matrix crosses the memory bus once: inputs read, outputs written"

arithmetic_intensity = Formula("Arithmetic intensity", I, ops / V, source=_ROOF,
    assumes="for the FLOPs and bytes of one kernel")

ridge_point = Formula("Ridge point", I_ridge, C / W_hbm, source=_ROOF,
    assumes="for the peak in the precision that the kernel uses")

compute_time = Formula("Compute time", T_math, ops / C, source=_ROOF, assumes="at the peak rate")
memory_time = Formula("Memory time", T_mem, V / W_hbm, source=_ROOF, assumes="at the full bandwidth")

roofline_time = Formula("Kernel time on the roofline", T, sympy.Max(T_math, T_mem), source=_ROOF,
    assumes="when arithmetic and memory traffic overlap perfectly: a lower bound")

attainable = Formula("Attainable rate", P_run, sympy.Min(C, I * W_hbm), source=_ROOF,
    assumes="when arithmetic and memory traffic overlap perfectly: an upper bound")

matmul_ops = Formula("FLOPs of a matrix multiplication", ops, 2 * flop * B * D * F, source=f"{_BOOK} question 4",
    assumes="for [B, D] times [D, F]: a multiplication and an addition for each of B D F triples")

matmul_bytes = Formula("Bytes of a matrix multiplication", V, b * B * D + b_w * D * F + b * B * F,
    source=f"{_BOOK} question 4", assumes=_STREAMED)

matmul_intensity = Formula("Intensity of a matrix multiplication", I, matmul_ops.rhs / matmul_bytes.rhs.subs(b_w, b),
    source=f"{_BOOK} question 3", assumes=f"{_STREAMED}, all in one precision",
    approx=2 * flop * B / b, regime=((D, sympy.oo), (F, sympy.oo)))

mlp_intensity = Formula("Intensity of a gated MLP", I,
    2 * n_mat * flop * B * D * F / (n_mat * b_w * D * F + b * B * (2 * D + n_mat * F)), source=_ROOF,
    assumes="for n_mat = 3 matrices, or 2 without a gate, in two matmuls: gate and up projection read the input "
    "together, the down projection follows; each reads its inputs once and writes its output, and the bytes between "
    "them are left out",
    approx=2 * flop * B / b_w, regime=((D, sympy.oo), (F, sympy.oo)))

matmul_math_time = Formula("Compute time of a matrix multiplication", T_math, matmul_ops.rhs / C,
    source=f"{_BOOK} question 4", assumes="at the peak rate of the Tensor Cores")

matmul_memory_time = Formula("Memory time of a matrix multiplication", T_mem, matmul_bytes.rhs / W_hbm,
    source=f"{_BOOK} question 4", assumes=f"{_STREAMED}, at the full bandwidth")

matmul_time = Formula("Time of a matrix multiplication", T,
    sympy.Max(matmul_math_time.rhs, matmul_memory_time.rhs), source=f"{_BOOK} question 4",
    assumes=f"{_STREAMED}, and arithmetic overlaps with it")

rule_batch = Formula("Batch rule", B_rule, b_w * I_ridge / (2 * flop), source=f"{_BOOK} question 3",
    assumes="for matrices so wide that only the weights count: the ridge point itself at 2 bytes per element")

critical_batch = Formula("Critical batch of a matrix multiplication", B_crit,
    sympy.Piecewise(
        (B_rule * D * F / (D * F - B_rule * (D + F)), D * F > B_rule * (D + F)), (sympy.oo, True)),
    source=f"{_BOOK} question 3, with the exact form derived here",
    assumes=f"{_STREAMED}, all in one precision; infinite when no batch is large enough",
    approx=B_rule, regime=((D, sympy.oo), (F, sympy.oo)))

_activations = b * I_ridge / (2 * flop)  # the same rule with the activations' bytes

critical_batch_mixed = Formula("Critical batch with weights in a narrower format", B_crit,
    sympy.Piecewise(
        (B_rule * D * F / (D * F - _activations * (D + F)), D * F > _activations * (D + F)), (sympy.oo, True)),
    source=f"{_BOOK} question 3, with the exact form derived here",
    assumes=f"{_STREAMED}; the weights have their own bytes per element; infinite when no batch is large enough",
    approx=B_rule, regime=((D, sympy.oo), (F, sympy.oo)))

vector_add_ops = Formula("FLOPs of a vector addition", ops, flop * n, source=f"{_BOOK} question 7",
    assumes="for one addition per element")

vector_add_bytes = Formula("Bytes of a vector addition", V, 3 * b * n, source=f"{_BOOK} question 7",
    assumes="when two vectors are read and one is written, and none of them stays in a cache")

vector_add_intensity = Formula("Intensity of a vector addition", I, flop / (3 * b), source=f"{_BOOK} question 7",
    assumes="at any length")

vector_add_time = Formula("Time of a vector addition", T, alpha + 3 * b * n / W_hbm, source=f"{_BOOK} question 7",
    assumes="when the launch is not hidden and memory sets the pace after it",
    approx=3 * b * n / W_hbm, regime=((n, sympy.oo),), optional=(alpha,))

launch_bound_length = Formula("Length at which the launch takes as long as the bytes", n, alpha * W_hbm / (3 * b),
    source=f"{_BOOK} question 7", assumes="when the launch is not hidden")

declare(globals())
