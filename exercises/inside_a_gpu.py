"""Questions on the inside of a GPU: warps that fit, branches, Tensor Cores, tiles and waves."""

from math import ceil

import sympy

from gpuscale import chip, show
from gpuscale.ledger import claim
from gpuscale.one_gpu import limits, processor
from gpuscale.quiz import Question, QuestionSet, Times
from gpuscale.symbols import (
    C,
    C_fp32,
    R,
    R_sm,
    S_block,
    S_smem,
    b,
    f_clock,
    g_reg,
    m_then,
    n_else,
    n_run,
    n_sm,
    n_tc,
    n_then,
    n_tiles,
    n_wait,
    r_tc,
    s_vec,
    w_block,
    w_lanes,
    w_res,
    w_sm,
)
from gpuscale.units import KiB

v100, h100, h100_pcie = map(chip, ("v100_sxm2", "h100_sxm", "h100_pcie"))

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
IN_OCCUPANCY = "The limits of an SM are in the table of the section Occupancy."
SAID = claim("gpus:HW-13").published  # FLOPs of a V100 Tensor Core per cycle, by the source
found = C / (n_sm * n_tc * f_clock)
busy = (1 - s_vec) * processor.mixed_rate.rhs / C
waves = sympy.ceiling(n_tiles / n_sm)
idle = processor.divergence_idle
PERCENT = {"Do you mean percent? Write the sign %, or a fraction below 1.": Times(100)}

# One register more than 32 per thread
ROUNDED = ceil(33 * h100.warp_size / h100.register_allocation_unit) * h100.register_allocation_unit / h100.warp_size
LEFT = limits.register_limit(**REGISTERS, R=33, w_block=8)
MIXED = {"s_vec": 0.1, "C": h100.bf16, "C_fp32": h100.fp32}
BUSY = (1 - 0.1) * processor.mixed_rate(**MIXED) / h100.bf16

warps = [
    Question(
        "A kernel uses {R} registers per thread and no shared memory, in blocks of {w_block} warps. How many warps "
        "are resident on an SM of an H100?",
        answer=limits.register_limit,
        given=[REGISTERS | {"R": r, "w_block": 8} for r in (96, 88, 50)],
        exact=True,
        noun="warps",
        mistakes={
            "That many would fit one by one, but a block is resident as a whole.": limits.register_limit.rhs.subs(
                w_block, 1
            ),
            "That divides all registers by those of a warp. Count by subpartition, in allocation units and in whole blocks.": limits.register_file_warps.rhs,
            "Those are blocks.": limits.register_limit.rhs / w_block,
        },
        hint="Round a warp's registers up to the unit, fill one subpartition, then count whole blocks. " + IN_OCCUPANCY,
        vary={R: (40, 48, 64, 72, 80, 104, 128, 168), w_block: (4, 8, 16)},
    ),
    Question(
        "A block of {w_block} warps asks for {S_block:KiB} of shared memory. How many warps does that allow on an SM "
        "of an H100?",
        answer=limits.smem_limit,
        given=[
            SHARED | {"w_block": 4, "S_block": 57 * KiB},
            SHARED | {"w_block": 8, "S_block": 38 * KiB},
        ],
        exact=True,
        noun="warps",
        mistakes={
            "The system also reserves a little shared memory in each block.": w_block * sympy.floor(S_smem / S_block),
            "Those are blocks; each has several warps.": limits.smem_limit.rhs / w_block,
        },
        hint=IN_OCCUPANCY,
        vary={w_block: (2, 4, 8), S_block: [kib * KiB for kib in (32, 38, 48, 57, 64, 76, 96)]},
    ),
    Question(
        "A kernel uses {R} registers per thread, in blocks of {w_block} warps with {S_block:KiB} of shared "
        "memory each. What limits the number of its warps on an SM of an H100?",
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
                "A block takes {S_block:KiB} plus the {S_res:KiB} that the system reserves, out of {S_smem:KiB}.",
                limits.smem_limit.rhs,
            ),
            (
                "the warp slots",
                "An SM has {w_max} of them. Work out what the other three allow.",
                limits.slot_limit.rhs,
            ),
            (
                "the block slots",
                "An SM has {n_block} of them, each with {w_block} warps.",
                limits.block_limit.rhs,
            ),
        ],
        solution=[
            limits.register_limit,
            limits.smem_limit,
            limits.slot_limit,
            limits.block_limit,
            "Evaluate all four. The smallest is the limit.",
        ],
    ),
    Question(
        "You want {w_res} warps resident on an SM of an H100. How many registers can each thread use at most?",
        answer=sympy.floor(R_sm / (w_res * g_reg)) * g_reg / w_lanes,
        unit="1",
        given=[BUDGET | {"w_res": n} for n in (24, 48, 20)],
        exact=True,
        noun="registers",
        mistakes={"Registers are allocated in units, not one by one.": sympy.floor(R_sm / (w_res * w_lanes))},
        hint="Divide the registers among the warps, round down to whole units, divide by the threads. " + IN_OCCUPANCY,
        vary={w_res: (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)},
    ),
]

divergence = [
    Question(
        "In a warp, {m_then} of the {w_lanes} lanes take a path of {n_then} instructions, and the others take one of "
        "{n_else}. What fraction of the lane slots is idle?",
        answer=idle,
        given=[
            {"m_then": 8, "w_lanes": 32, "n_then": 7, "n_else": 3},
            {"m_then": 20, "w_lanes": 32, "n_then": 3, "n_else": 9},
        ],
        mistakes={
            "That is the fraction that works.": 1 - idle.rhs,
            "That is the fraction of lanes off the first path. Count lane slots.": 1 - m_then / w_lanes,
            "That is the fraction of issue slots on the first path. Count lanes too.": n_then / (n_then + n_else),
            **PERCENT,
        },
        vary={w_lanes: ()},
    ),
    Question(
        "A branch has no `else`: `m_then` of the `w_lanes` lanes of a warp take a path of `n_then` "
        "instructions, and the others skip it. Give the fraction of the lane slots that is idle.",
        answer=1 - m_then / w_lanes,
        symbols=(m_then, w_lanes, n_then),
        unit="1",
        mistakes={
            "That is the fraction that works.": m_then / w_lanes,
            "That is a number of lane slots. The question asks for a fraction.": (w_lanes - m_then) * n_then,
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
        "The H100 also exists as a PCIe card. At which clock do its Tensor Cores run to reach the bf16 peak of its "
        "data sheet?",
        answer=C / (n_sm * n_tc * r_tc),
        unit="Hz",
        given={
            "C": h100_pcie.bf16,
            "n_sm": h100_pcie.sm,
            "n_tc": h100_pcie.tensor_cores_per_sm,
            "r_tc": h100_pcie.tensor_flop_per_cycle,
        },
        mistakes={
            "That counts one Tensor Core per SM.": C / (n_sm * r_tc),
            "Peak and FLOPs per cycle both count a multiply-add as two.": {"C": 2 * C},
            "Peak and FLOPs per cycle are both dense.": {"C": C / 2},
        },
        hint="The hardware tables list its peak and its SMs. Its SMs are those of the H100 SXM.",
        remark="Its boost clock is higher. The peak of the SXM module, too, belongs to a clock below its boost clock.",
    ),
    Question(
        f"**Find the error.** The scaling book gives a Tensor Core of the V100 {SAID:g} FLOPs per cycle. Check this "
        "against the peak, the units and the clock of a V100 SXM2. What is wrong?",
        given={
            "C": v100.fp16,
            "n_sm": v100.sm,
            "n_tc": v100.tensor_cores_per_sm,
            "f_clock": v100.tensor_clock,
        },
        choices=[
            (
                "Nothing: units, rate and clock multiply to the peak.",
                "Multiply them: that is twice the peak.",
                abs(found / SAID - 1) < 0.01,
            ),
            (
                "It is the rate of a subpartition, which has two Tensor Cores there.",
                "Peak over units and clock gives half of it.",
                abs(2 * found / SAID - 1) < 0.01,
            ),
            ("It counts zeros that are skipped.", "Skipping zeros came with a later generation.", False),
            ("The clock is that of another product.", "With half the rate, this clock gives the peak.", False),
        ],
    ),
    Question(
        "In fp8 a Tensor Core does twice as many FLOPs per cycle as in bf16, on elements half as wide. "
        "How large does a square tile have to be so that shared memory can feed it?",
        given={
            "b": 2,
            "n_tc": h100.tensor_cores_per_sm,
            "r_tc": h100.tensor_flop_per_cycle,
            "w_sm": h100.smem_bytes_per_cycle,
        },
        choices=[
            ("half as large", "Each element has half the bytes, but twice as many elements are used per cycle.", False),
            (
                "as large as in bf16",
                "Half the bytes per element, twice the elements per cycle: the bytes per cycle stay the same.",
                sympy.Eq(b * n_tc * r_tc / w_sm, (b / 2) * n_tc * (2 * r_tc) / w_sm, evaluate=False),
            ),
            ("twice as large", "Twice the FLOPs, but on half the bytes.", False),
        ],
    ),
]

shares = [
    Question(
        "A kernel computes in fp8 on the Tensor Cores of an H100 SXM. Above what fraction of vector work, in fp32 on "
        "the CUDA cores, do the Tensor Cores have to wait? Assume that the two overlap perfectly.",
        answer=C_fp32 / (C + C_fp32),
        unit="1",
        tolerance=0.01,
        given={"C": h100.fp8, "C_fp32": h100.fp32},
        mistakes={
            "That is one peak over the other. Divide by the FLOPs of both.": C_fp32 / C,
            "That is for bf16; fp8 is twice as fast.": {"C": h100.bf16},
            **PERCENT,
        },
        hint="Both take the same time there: set the times equal and solve for the fraction. Both peaks are in the table "
        "of formats.",
    ),
    Question(
        "A matmul is cut into {n_tiles} equal tiles, and each SM of an H100 SXM works on one tile at a time. What "
        "fraction of the SMs' time is used?",
        answer=processor.wave_fill,
        given=[{"n_tiles": n, "n_sm": h100.sm} for n in (200, 310)],
        mistakes={
            "That is the idle fraction.": 1 - processor.wave_fill.rhs,
            "That is the number of waves, if a partial wave took a part of the time.": n_tiles / n_sm,
            **PERCENT,
        },
        hint="Count the waves, including the last one. How many tiles could they hold, and how many do they hold?",
    ),
]

predictions = [
    Question(
        "One thread of a warp takes the first path of a branch, and the other 31 take the second. Both paths have "
        "{n_then} instructions. What fraction of the lane slots is idle?",
        given={"m_then": 1, "n_then": 10, "n_else": 10, "w_lanes": h100.warp_size},
        predict=True,
        choices=[
            ("1/32", "Only one thread sits out the second path, but the warp runs the first path too.", idle.rhs < 0.1),
            ("half", "On each path, all the lanes of the other one are idle.", abs(idle.rhs - 0.5) < 0.01),
            ("31/32", "That many lanes wait on the first path, but only one on the second.", idle.rhs > 0.9),
        ],
        solution="Half. The warp issues both paths, one after the other. With paths of equal length, each lane works on "
        "one of them and waits during the other, however many lanes take which path.",
    ),
    Question(
        "Each warp issues {n_run} instructions and then waits {n_wait} cycles for its data. How many such warps does a "
        "scheduler need to issue an instruction in every cycle?",
        answer=(n_run + n_wait) / n_run,
        unit="1",
        given={"n_run": 3, "n_wait": 9},
        exact=True,
        noun="warps",
        predict=True,
        mistakes={"Those fill the wait. The waiting warp counts, too.": n_wait / n_run},
        solution="Four: three other warps issue three instructions each while the first one is waiting.",
    ),
    Question(
        "A kernel uses 32 registers per thread, in blocks of {w_block} warps, and all 64 warp slots of an SM are taken. "
        "You add a variable, and the compiler now needs {R} registers. How many warps are resident?",
        given=REGISTERS | {"R": 33, "w_block": 8},
        predict=True,
        choices=[
            ("64, as before", "With 32 registers per thread, they were all in use.", limits.register_limit.rhs > 63),
            (
                "62, because 3% more registers leave room for 3% fewer warps",
                "That would be so if registers were allocated one by one.",
                abs(limits.register_limit.rhs - 62) < 1,
            ),
            (
                "48, a quarter fewer",
                "Registers are allocated to a warp in units.",
                abs(limits.register_limit.rhs - 48) < 1,
            ),
        ],
        solution=f"{LEFT:.0f}. Registers are allocated to a warp in units of {h100.register_allocation_unit:.0f}, which "
        f"is 8 per thread. So 33 registers cost as much as {ROUNDED:.0f}.",
    ),
    Question(
        "A kernel on an H100 does 90% of its FLOPs on the Tensor Cores, in bf16, and 10% on the CUDA cores, in fp32. "
        "The two overlap perfectly. What fraction of the time are the Tensor Cores busy?",
        given=MIXED,
        predict=True,
        choices=[
            ("all of it: 10% hides behind 90%", "The 10% run on much slower units.", busy > 0.99),
            ("90%", "That is the fraction of the FLOPs, not of the time.", abs(busy - 0.9) < 0.05),
            ("about 60%", "The CUDA cores take longer for their 10%.", abs(busy - 0.6) < 0.05),
        ],
        solution=f"{show(BUSY, '%')} of it. The CUDA cores are so much slower that their tenth of the FLOPs takes longer "
        "than the other nine tenths.",
    ),
    Question(
        "An H100 has {n_sm} SMs. A matmul of {n_sm} equal tiles takes 10 µs. How long does a matmul of {n_tiles} such "
        "tiles take?",
        given={"n_sm": h100.sm, "n_tiles": h100.sm + 1},
        predict=True,
        choices=[
            ("10.1 µs", "The extra tile has to run somewhere, for as long as any other tile.", waves < 2),
            ("15 µs", "A tile takes its full time, even alone.", abs(waves - 1.5) < 0.1),
            ("20 µs", "The last tile starts when the others are done.", abs(waves - 2) < 0.1),
        ],
        solution="20 µs. The last tile starts when an SM becomes free, and then takes as long as all the others did. "
        "Meanwhile, the other SMs are idle.",
    ),
]

questions = QuestionSet(
    "inside_a_gpu",
    "Inside a GPU",
    intro="Questions on resident warps, idle lanes, and keeping the Tensor Cores fed.",
    chapter="inside_a_gpu",
    questions=[*warps, *divergence, *tensor, *shares, *predictions],
)
