"""Quiz 1: GPU hardware. Seven questions, every part, after the quiz of "How to Scale Your Model", slips put right."""

from gpuscale import processor, roofline
from gpuscale.quiz import Question, QuestionSet, result_times
from gpuscale.specs import chip
from gpuscale.symbols import (
    C,
    D,
    F,
    I_ridge,
    P_run,
    S_sm,
    W_hbm,
    b,
    b_w,
    flop,
    k_op,
    n,
    n_lane,
    n_sm,
)  # fmt: skip
from gpuscale.units import TFLOP

h100, b200, v5e, v5p = chip("h100_sxm"), chip("b200_sxm"), chip("tpu_v5e"), chip("tpu_v5p")

H100_LANES = {"n_sm": h100.sm, "n_lane": h100.fp32_lanes_per_sm}
B200_LANES = {"n_sm": b200.sm, "n_lane": b200.fp32_lanes_per_sm}
PRODUCT = {"D": 4096, "F": 8192, "b": 2, "b_w": 2}
ONE_SUBPARTITION = "That is one subpartition of each SM; an SM has four."
lanes = processor.cuda_cores.rhs

cores = [
    Question(
        "Question 1, cores. An H100 SXM has {n_sm} SMs. Each has four subpartitions, and each of those 32 fp32 lanes, "
        "which NVIDIA calls CUDA cores. How many fp32 CUDA cores is that?",
        answer=processor.cuda_cores,
        given=H100_LANES,
        exact=True,
        noun="cores",
        mistakes={ONE_SUBPARTITION: lanes / 4, "Those are the subpartitions; each has 32 lanes.": n_sm * 4},
        remark="A core here is a lane of a vector unit, with no program counter of its own to schedule.",
    ),
    Question(
        "A B200 has {n_sm} SMs with as many lanes each. How many fp32 CUDA cores?",
        answer=processor.cuda_cores,
        given=B200_LANES,
        exact=True,
        noun="cores",
        mistakes={ONE_SUBPARTITION: lanes / 4},
    ),
    Question(
        "A TPU v5p has {n_sm} cores. The vector unit of each is 8 by 128 lanes wide and issues to 4 slots: "
        "{n_lane} ALUs. "
        "How many ALUs has the chip?",
        answer=processor.cuda_cores,
        given={"n_sm": v5p.cores_per_chip, "n_lane": v5p.vpu_alus_per_core},
        exact=True,
        noun="ALUs",
        mistakes={"That is one core; the chip has two.": n_lane, "That counts one slot of four.": lanes / 4},
        remark="About half as many as an H100: the TPU spends its area on a few large matrix units.",
    ),
]

vector = [
    Question(
        "Question 2, vector arithmetic. How many fp32 operations a second can those lanes of an H100 do at its base "
        "clock of {f_clock}, if each finishes one operation in a cycle?",
        answer=processor.vector_peak,
        given=H100_LANES | {"f_clock": h100.base_clock, "k_op": 1},
        mistakes={
            "A fused multiply-add would count twice; here a lane does one operation.": {"k_op": 2},
            "That is one subpartition of each SM; there are four.": processor.vector_peak.rhs / 4,
        },
    ),
    Question(
        "And at its boost clock of {f_clock}?",
        answer=processor.vector_peak,
        given=H100_LANES | {"f_clock": h100.boost_clock, "k_op": 1},
        mistakes={
            "That is the data sheet's figure, which counts a fused multiply-add as two.": {"k_op": 2},
            "That is the base clock.": {"f_clock": h100.base_clock},
        },
    ),
    Question(
        "The Tensor Cores of an H100 do {C} in bf16. How many times is that the rate you just found "
        "({n_sm} SMs, {n_lane} lanes each, {f_clock}, one operation a cycle)?",
        answer=processor.tensor_speedup.where(processor.vector_peak.where(lhs=P_run)),
        given=H100_LANES | {"C": h100.bf16, "f_clock": h100.boost_clock, "k_op": 1},
        mistakes={
            "With the data sheet's fp32 figure, which counts a fused multiply-add as two.": {"k_op": 2},
            "That is against the base clock.": {"f_clock": h100.base_clock},
        },
    ),
]

ridge = [
    Question(
        "Question 3, intensity. What is the ridge point of an H100 in bf16: {C} against {W_hbm}?",
        answer=roofline.ridge_point,
        given={"C": h100.bf16, "W_hbm": h100.hbm_bw},
        mistakes={
            "That uses the figure with sparsity; peaks here are dense.": {"C": 2 * C},
        },
    ),
    Question(
        "Of a B200 in bf16: {C} against {W_hbm}?",
        answer=roofline.ridge_point,
        given={"C": b200.bf16, "W_hbm": b200.hbm_bw},
        mistakes={"That uses the figure with sparsity; peaks here are dense.": {"C": 2 * C}},
        remark="Arithmetic and bandwidth grew almost in step from Hopper to Blackwell.",
    ),
    Question(
        "Of an H100 in fp8, where its Tensor Cores do {C:4} against the same {W_hbm}?",
        answer=roofline.ridge_point,
        given={"C": h100.fp8, "W_hbm": h100.hbm_bw},
        mistakes={"That is bf16: halving the width doubles the rate.": {"C": h100.bf16}},
    ),
    Question(
        "Of a B200 in fp8: {C} against {W_hbm}?",
        answer=roofline.ridge_point,
        given={"C": b200.fp8, "W_hbm": b200.hbm_bw},
        mistakes={"That is bf16: halving the width doubles the rate.": {"C": b200.bf16}},
    ),
    Question(
        "Of a TPU v5e in bf16: {C} against {W_hbm}?",
        answer=roofline.ridge_point,
        given={"C": v5e.bf16, "W_hbm": v5e.hbm_bw},
        remark="GPUs and TPUs land on about the same ridge point.",
    ),
    Question(
        "A matrix product [B, D] times [D, F] in bf16 runs on a B200. By the rule for very wide matrices, from which B "
        "on is it compute-bound? The ridge point is {I_ridge:4}.",
        answer=roofline.rule_batch,
        given={"I_ridge": roofline.ridge_point(C=b200.bf16, W_hbm=b200.hbm_bw), "b_w": 2},
        noun="rows",
        mistakes={"Two bytes an element and two operations a term cancel.": {"b_w": 4}},
    ),
    Question(
        "And exactly, for D = {D} and F = {F}, where the traffic of inputs and outputs counts too "
        "(ridge point {I_ridge:4})?",
        answer=roofline.critical_batch.where(roofline.rule_batch),
        tolerance=0.02,
        given={
            "I_ridge": roofline.ridge_point(C=b200.bf16, W_hbm=b200.hbm_bw),
            "D": PRODUCT["D"],
            "F": PRODUCT["F"],
            "b_w": 2,
        },
        noun="rows",
        mistakes={
            "That is the rule; it leaves out the [B, D] and [B, F] that move as well.": I_ridge
            * b_w
            / (2 * flop)
        },
    ),
]

PRODUCT_B200 = PRODUCT | {"C": b200.bf16, "W_hbm": b200.hbm_bw}
ONLY_WEIGHTS = "That is the weights alone; the input is read and the output written too."
products = [
    Question(
        "Question 4, a matrix product. How many bytes does fp16[{B}, {D}] times fp16[{D}, {F}] move, if the inputs are "
        "read once and the result is written once?",
        answer=roofline.matmul_bytes,
        given=PRODUCT | {"B": 64},
        tolerance=0.01,
        mistakes={
            ONLY_WEIGHTS: b_w * D * F,
            "fp16 has two bytes an element.": {"b": 1, "b_w": 1},
        },
    ),
    Question(
        "How long does it take on a B200 at best ({C} in fp16, {W_hbm})?",
        answer=roofline.matmul_time,
        given=PRODUCT_B200 | {"B": 64},
        mistakes={
            "That is the arithmetic; the memory traffic takes longer here.": roofline.matmul_math_time.rhs,
            "The two overlap at best: take the larger, not the sum.": roofline.matmul_math_time.rhs
            + roofline.matmul_memory_time.rhs,
        },
        hint="Work out both times; the longer one sets the pace.",
    ),
    Question(
        "What binds it at B = {B} (D = {D}, F = {F}, {C}, {W_hbm})?",
        given=PRODUCT_B200 | {"B": 64},
        choices=[
            (
                "the Tensor Cores",
                "Few rows share each weight that is read.",
                roofline.matmul_math_time.rhs > roofline.matmul_memory_time.rhs,
            ),
            (
                "HBM",
                "Each weight serves only that many rows.",
                roofline.matmul_math_time.rhs <= roofline.matmul_memory_time.rhs,
            ),
            ("shared memory", "A tile is read from it many times, at a far higher bandwidth.", False),
        ],
    ),
    Question(
        "And with B = {B}: how long at best (D = {D}, F = {F}, {C}, {W_hbm})?",
        answer=roofline.matmul_time,
        given=PRODUCT_B200 | {"B": 512},
        mistakes={
            "That is the memory traffic; the arithmetic takes longer now.": roofline.matmul_memory_time.rhs,
        },
        remark="It is a lower bound: a real kernel also fills and drains its pipeline.",
    ),
]

capacity = [
    Question(
        "Question 5, on-chip memory. Each of the {n_sm} SMs of an H100 has {S_sm:KiB} of shared memory and L1. "
        "How much is that in all?",
        answer=processor.chip_capacity,
        given={"n_sm": h100.sm, "S_sm": h100.smem_l1_per_sm},
        tolerance=0.01,
        mistakes={
            "That counts a KiB as 1,000 bytes.": {"S_sm": S_sm * 1000 / 1024},
            "That calls a MiB a MB.": result_times(1e6 / 2**20),
        },
    ),
    Question(
        "With the registers, {S_sm:KiB} an SM as well: how much in both together?",
        answer=2 * processor.chip_capacity.rhs,
        given={"n_sm": h100.sm, "S_sm": h100.register_file_per_sm},
        unit="B",
        tolerance=0.01,
        mistakes={
            "That is one of the two.": processor.chip_capacity.rhs,
            "That counts a KiB as 1,000 bytes.": {"S_sm": S_sm * 1000 / 1024},
        },
    ),
]

clock = [
    Question(
        "Question 6, clock. How many fp32 operations does a B200 finish in a cycle, with {n_sm} SMs, {n_lane} "
        "lanes each, "
        "and a fused multiply-add counted as two?",
        answer=n_sm * n_lane * k_op,
        given=B200_LANES | {"k_op": 2},
        unit="FLOP",
        mistakes={"A fused multiply-add counts as two.": {"k_op": 1}},
    ),
    Question(
        "NVIDIA's first brief stated {P_run} of fp32 for it. Which clock would {n_sm} SMs of {n_lane} lanes need "
        "for that, "
        "with fused multiply-adds?",
        answer=processor.implied_clock,
        given=B200_LANES | {"P_run": b200.spec("fp32").others[0].value * TFLOP, "k_op": 2},
        mistakes={"A fused multiply-add counts as two.": {"k_op": 1}},
        remark="The device reports a lower maximum. Later documents print a lower rate, and that one fits.",
    ),
]

W_SUM = {"b": 4, "W_hbm": h100.hbm_bw}
TWO_STREAMS = "The result is written too: three vectors move, not two."
adding = [
    Question(
        "Question 7, adding two fp32 vectors. How many operations is that for each byte moved?",
        answer=roofline.vector_add_intensity,
        given={"b": 4},
        mistakes={TWO_STREAMS: flop / (2 * b), "An fp32 number has four bytes.": {"b": 1}},
    ),
    Question(
        "With {n} elements, one a lane, how many of the SMs of an H100 have work, if an SM has {n_lane} lanes?",
        answer=n / n_lane,
        given={"n": 1024, "n_lane": h100.fp32_lanes_per_sm},
        exact=True,
        noun="SMs",
        mistakes={"That is in warps of 32 lanes.": n / 32},
        remark="All others idle: a small kernel cannot use a large chip.",
    ),
    Question(
        "An H100 does {P_run} of fp32 without fused multiply-adds, which an addition cannot use. What is the "
        "ridge point "
        "of its vector lanes, at {W_hbm}?",
        answer=P_run / W_hbm,
        unit="FLOP/B",
        given={
            "P_run": processor.vector_peak(
                n_sm=h100.sm, n_lane=h100.fp32_lanes_per_sm, f_clock=h100.boost_clock, k_op=1
            ),
            "W_hbm": h100.hbm_bw,
        },
        mistakes={"That counts a fused multiply-add as two; a sum has none.": {"P_run": 2 * P_run}},
    ),
    Question(
        "Find the error. A published footnote calls this ridge point constant across generations. It divides "
        "33.5 by 3.5 "
        "for an H100 and 80 by 8 for a B200 (TFLOP/s over TB/s) and finds about 10 for both. What is wrong?",
        choices=[
            (
                "Nothing: vector units and HBM grow in step.",
                "Compare the two rates: are they counted alike?",
                False,
            ),
            (
                "One rate counts a fused multiply-add as two and the other as one.",
                "Counted alike, the ridge point halves from one to the next.",
                True,
            ),
            (
                "HBM bandwidth should count both directions.",
                "HBM bandwidth is one figure for reads and writes.",
                False,
            ),
        ],
    ),
    Question(
        "How long does an H100 take at best to add two fp32 vectors of {n} elements ({W_hbm})?",
        answer=roofline.vector_add_bytes.rhs / W_hbm,
        unit="s",
        given=[W_SUM | {"n": 1024}, W_SUM | {"n": 65536}, W_SUM | {"n": 2**30}],
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That reads one vector.": b * n / W_hbm},
        hint="Three vectors of four-byte numbers cross the memory bus.",
    ),
    Question(
        "Give that time as a formula, in $n$, $b$ and $W_\\mathrm{HBM}$ (type W_hbm).",
        answer=3 * b * n / W_hbm,
        unit="s",
        symbols=(n, b, W_hbm),
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That is one vector.": b * n / W_hbm},
    ),
]

questions = QuestionSet(
    "hardware",
    "Quiz 1: GPU hardware",
    intro="Seven questions in several parts, after the quiz in the GPU chapter of *How to Scale Your Model*. Where the "
    "published answer slips, the answer here is the corrected one.",
    chapter="roofline",
    questions=[*cores, *vector, *ridge, *products, *capacity, *clock, *adding],
)
