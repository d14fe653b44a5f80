"""Occupancy: how many warps of a kernel fit on an SM, and which resource runs out first.

The counts follow NVIDIA's allocation rules: registers are allocated to a warp in units, from the registers of
its own subpartition; shared memory to a block in units, plus a reserve; blocks and warps are limited in
number.
"""

# fmt: off

import sympy

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_RULES = "cuda-guide, compute capabilities"


def _units(amount, unit):
    return sympy.ceiling(amount / unit) * unit


def _smem(amount):
    """A block holds at least one unit, so that a block without shared memory meets no practical limit."""
    return sympy.Max(1, sympy.ceiling(amount / g_smem)) * g_smem


warps_per_block = Formula("Warps of a block", w_block, sympy.ceiling(t_block / w_lanes), source=_RULES,
    assumes="always; the last warp of a block may be partly empty")

_per_warp = _units(R * w_lanes, g_reg)
_register_warps = n_sub * sympy.floor(R_sm / n_sub / _per_warp)

register_limit = Formula("Warps that the registers allow", w_res, w_block * sympy.floor(_register_warps / w_block),
    source=_RULES,
    assumes="when a block's warps are spread over the subpartitions, each with an equal part of the registers")

smem_limit = Formula("Warps that the shared memory allows", w_res,
    w_block * sympy.floor(S_smem / _smem(S_block + S_res)),
    source=_RULES, assumes="always; a block without shared memory counts as one unit, which is never the limit")

slot_limit = Formula("Warps that the warp slots allow", w_res, w_block * sympy.floor(w_max / w_block), source=_RULES,
    assumes="always; a block is resident as a whole or not at all")

block_limit = Formula("Warps that the block slots allow", w_res, w_block * n_block, source=_RULES, assumes="always")

resident_warps = Formula("Resident warps", w_res,
    w_block * sympy.Min(
        sympy.floor(_register_warps / w_block), sympy.floor(S_smem / _smem(S_block + S_res)),
        sympy.floor(w_max / w_block), n_block),
    source=_RULES, assumes="for a grid with enough blocks to fill the SM")

register_file_warps = Formula("Warps that the register file holds", w_res, sympy.floor(R_sm / (R * w_lanes)),
    source="scaling-book-gpus, memory", assumes="when registers are allocated one by one, as a first estimate")

occupancy = Formula("Occupancy", occ, resident_warps.rhs / w_max, source=_RULES,
    assumes="for a grid with enough blocks to fill the SM")

declare(globals())
