"""Questions on the inside of a GPU: warps, occupancy, Tensor Cores, tiles and waves."""

import sympy

from gpuscale import chip
from gpuscale.ledger import claim
from gpuscale.one_gpu import limits, processor
from gpuscale.quiz import Question, QuestionSet, Times
from gpuscale.symbols import (
    C,
    C_fp32,
    R_sm,
    S_block,
    S_smem,
    b,
    g_reg,
    m_then,
    n_else,
    n_sm,
    n_tc,
    n_then,
    n_tiles,
    r_tc,
    w_block,
    w_lanes,
    w_res,
    w_sm,
)
from gpuscale.units import KiB

v100, h100, h100_pcie, b200 = map(chip, ("v100_sxm2", "h100_sxm", "h100_pcie", "b200_sxm"))

REGISTERS = {
    "R_sm": h100.registers_per_sm,
    "n_sub": h100.subpartitions_per_sm,
    "g_reg": h100.register_allocation_unit,
    "w_lanes": h100.warp_size,
}
SHARED = {
    "S_smem": h100.smem_per_sm,
    "S_res": h100.smem_reserved_per_block,
    "g_smem": h100.smem_allocation_unit,
}
ALL = REGISTERS | SHARED | {"w_max": h100.max_warps_per_sm, "n_block": h100.max_blocks_per_sm}
BUDGET = {k: REGISTERS[k] for k in ("R_sm", "g_reg", "w_lanes")}
idle = processor.divergence_idle
PERCENT = {"Do you mean percent? Write the sign %, or a share below 1.": Times(100)}

warps = [
    Question(
        "A kernel uses {R} registers a thread and no shared memory, in blocks of {w_block} warps. An SM of "
        "an H100 has {R_sm} registers in {n_sub} subpartitions and hands them to a warp of {w_lanes} "
        "threads in units of {g_reg}. How many warps stay on it?",
        answer=limits.register_limit,
        given=[REGISTERS | {"R": r, "w_block": 8} for r in (96, 88, 50)],
        exact=True,
        noun="warps",
        mistakes={
            "So many would fit one by one; a block is resident as a whole.": limits.register_limit.rhs.subs(w_block, 1),
            "That is all registers over those of a warp: mind subpartitions, units and whole blocks.": limits.register_file_warps.rhs,
            "Those are blocks.": limits.register_limit.rhs / w_block,
        },
        hint="Round a warp's registers up to the unit, fill one subpartition, then count whole blocks.",
    ),
    Question(
        "A block of {w_block} warps asks for {S_block:KiB} of shared memory. An SM of an H100 has "
        "{S_smem:KiB} for blocks, and the system keeps {S_res:KiB} in each block. How many warps does that "
        "allow?",
        answer=limits.smem_limit,
        given=[
            SHARED | {"w_block": 4, "S_block": 57 * KiB},
            SHARED | {"w_block": 8, "S_block": 38 * KiB},
        ],
        exact=True,
        noun="warps",
        mistakes={
            "That leaves out what the system keeps in each block.": w_block * sympy.floor(S_smem / S_block),
            "Those are blocks; each has several warps.": limits.smem_limit.rhs / w_block,
        },
    ),
    Question(
        "A kernel uses {R} registers a thread, in blocks of {w_block} warps with {S_block:KiB} of shared "
        "memory each. What limits its warps on an SM of an H100?",
        given=[
            ALL | {"R": 64, "w_block": 16, "S_block": 60 * KiB},
            ALL | {"R": 32, "w_block": 4, "S_block": 40 * KiB},
            ALL | {"R": 24, "w_block": 1, "S_block": 2 * KiB},
        ],
        pick="smallest",
        choices=[
            (
                "the registers",
                "A warp takes {w_lanes} times {R}, in units of {g_reg}; {n_sub} subpartitions share {R_sm}.",
                limits.register_limit.rhs,
            ),
            (
                "the shared memory",
                "A block takes {S_block:KiB} and the {S_res:KiB} that the system keeps, of {S_smem:KiB}.",
                limits.smem_limit.rhs,
            ),
            (
                "the warp slots",
                "An SM has {w_max} of them; work out what the other three allow.",
                limits.slot_limit.rhs,
            ),
            (
                "the block slots",
                "An SM has {n_block} of them, times {w_block} for the warps of a block.",
                limits.block_limit.rhs,
            ),
        ],
        solution=[
            limits.register_limit,
            limits.smem_limit,
            limits.slot_limit,
            limits.block_limit,
            "Put the numbers into all four: the smallest is the limit.",
        ],
    ),
    Question(
        "You want {w_res} warps on an SM. It has {R_sm} registers and hands them to a warp of {w_lanes} "
        "threads in units of {g_reg}. How many may a thread use at most?",
        answer=sympy.floor(R_sm / (w_res * g_reg)) * g_reg / w_lanes,
        unit="1",
        given=[BUDGET | {"w_res": n} for n in (24, 48, 20)],
        exact=True,
        noun="registers",
        mistakes={"Registers are not handed out one by one.": sympy.floor(R_sm / (w_res * w_lanes))},
        hint="Share the registers among the warps, round down to whole units, divide by the threads.",
    ),
]

divergence = [
    Question(
        "In a warp, {m_then} of the {w_lanes} lanes take a path of {n_then} instructions, the others one of "
        "{n_else}. What share of the lane slots is idle?",
        answer=idle,
        given=[
            {"m_then": 8, "w_lanes": 32, "n_then": 7, "n_else": 3},
            {"m_then": 20, "w_lanes": 32, "n_then": 3, "n_else": 9},
        ],
        mistakes={
            "That is the share that works.": 1 - idle.rhs,
            "That is the share of lanes off the first path; count lane slots.": 1 - m_then / w_lanes,
            "That is the share of slots on the first path; count lanes too.": n_then / (n_then + n_else),
            **PERCENT,
        },
    ),
    Question(
        "A branch has no `else`: `m_then` of the `w_lanes` lanes of a warp take a path of `n_then` "
        "instructions, the others skip it. Give the share of its lane slots that is idle.",
        answer=1 - m_then / w_lanes,
        symbols=(m_then, w_lanes, n_then),
        unit="1",
        mistakes={
            "That is the share that works.": m_then / w_lanes,
            "That is a number of lane slots; a share is asked.": (w_lanes - m_then) * n_then,
        },
        solution=[
            (idle.rhs, "any two paths"),
            (idle.rhs.subs(n_else, 0), "the second one empty"),
            (1 - m_then / w_lanes, "the instructions cancel"),
        ],
    ),
]

tensor = [
    Question(
        "The PCIe card of the H100 is sold with {C} in bf16. It has {n_sm} SMs of {n_tc} Tensor Cores, and "
        "each of those does {r_tc:count} operations in a cycle. At which clock do they run for that peak?",
        answer=C / (n_sm * n_tc * r_tc),
        unit="Hz",
        given={
            "C": h100_pcie.bf16,
            "n_sm": h100_pcie.sm,
            "n_tc": h100_pcie.tensor_cores_per_sm,
            "r_tc": h100_pcie.tensor_flop_per_cycle,
        },
        mistakes={
            "That counts one Tensor Core for each SM.": C / (n_sm * r_tc),
            "Peak and rate both count a multiply-add as two.": {"C": 2 * C},
            "Peak and rate are both dense.": {"C": C / 2},
        },
        remark="Its boost clock is higher. On the SXM module, too, the peak belongs to a lower clock.",
    ),
    Question(
        f"Find the error. A published text gives a Tensor Core of the V100 {claim('gpus:HW-13').published:g} operations "
        "in a cycle. The card does {C} in fp16; it has {n_sm} SMs with {n_sub} subpartitions and {n_tc} Tensor Cores "
        "each, and runs at {f_clock}.",
        given={
            "C": v100.fp16,
            "n_sm": v100.sm,
            "n_tc": v100.tensor_cores_per_sm,
            "n_sub": v100.subpartitions_per_sm,
            "f_clock": v100.tensor_clock,
        },
        choices=[
            ("Nothing: the numbers multiply to the peak.", "Multiply them: that is twice the peak.", False),
            (
                "It is the rate of a subpartition, which has two Tensor Cores there.",
                "Peak over units and clock gives half of it.",
                True,
            ),
            ("It counts zeros that are skipped.", "Skipping zeros came with a later generation.", False),
            ("The clock is that of another card.", "With half the rate, this clock gives the peak.", False),
        ],
    ),
    Question(
        "In fp8 a Tensor Core does twice as many operations in a cycle as in bf16, on numbers half as wide. "
        "How large must a square tile be, so that shared memory can feed it?",
        given={
            "b": 2,
            "n_tc": h100.tensor_cores_per_sm,
            "r_tc": h100.tensor_flop_per_cycle,
            "w_sm": h100.smem_bytes_per_cycle,
        },
        choices=[
            ("half as large", "Each element has half the bytes, but twice as many are used up.", False),
            (
                "as large as in bf16",
                "Half the bytes for an element, twice the elements in a cycle: the bytes stay.",
                sympy.Eq(b * n_tc * r_tc / w_sm, (b / 2) * n_tc * (2 * r_tc) / w_sm, evaluate=False),
            ),
            ("twice as large", "Twice the operations, but on half the bytes.", False),
        ],
    ),
]

shares = [
    Question(
        "An H100 does {C:4} in fp8 on its Tensor Cores and {C_fp32} on its CUDA cores. From which share of "
        "operations on the CUDA cores on do the Tensor Cores wait, if the two overlap perfectly?",
        answer=C_fp32 / (C + C_fp32),
        unit="1",
        tolerance=0.01,
        given={"C": h100.fp8, "C_fp32": h100.fp32},
        mistakes={
            "That is one rate over the other; the share is of all operations.": C_fp32 / C,
            "That is bf16; fp8 is twice as fast.": {"C": h100.bf16},
            **PERCENT,
        },
        hint="Both take the same time there: set the times equal and solve for the share.",
    ),
    Question(
        "A product is cut into {n_tiles} equal tiles, one at a time on each of {n_sm} SMs. For what share "
        "of the SMs' time does a tile run?",
        answer=processor.wave_fill,
        given=[{"n_tiles": 200, "n_sm": h100.sm}, {"n_tiles": 310, "n_sm": b200.sm}],
        mistakes={
            "That is the idle share.": 1 - processor.wave_fill.rhs,
            "That is the number of waves, if a part of one took a part of the time.": n_tiles / n_sm,
            **PERCENT,
        },
        hint="Count the waves, the last one whole, and all places in them.",
    ),
]

questions = QuestionSet(
    "inside_a_gpu",
    "Inside a GPU",
    intro="Questions on warps that fit, lanes that wait, and Tensor Cores that want to be fed.",
    chapter="inside_a_gpu",
    questions=[*warps, *divergence, *tensor, *shares],
)
