"""Quiz 1: GPU hardware. Seven questions, every part, after the quiz of "How to Scale Your Model", slips put right."""

from gpuscale_exercises._hardware_units import B200_LANES, H100_LANES, PRODUCT, b200, cores, h100, ridge, v5p, vector

from gpuscale import measured
from gpuscale.ledger import claim
from gpuscale.one_gpu import processor, roofline
from gpuscale.quiz import Question, QuestionSet, result_times
from gpuscale.symbols import D, F, P_run, S_level, S_sm, T, W_hbm, alpha, b, b_w, eta, flop, k_op, n, n_lane, n_sm
from gpuscale.units import TFLOP

best = measured("mamf_bf16").row(part="b200_sxm")
PRODUCTS_REACH = best["measured"] / best["peak"]
short, long = measured("vector_add_h100").rows
START = short["time"] - roofline.vector_add_bytes(n=short["n"], b=4) / h100.hbm_bw
STREAM = roofline.vector_add_bytes(n=long["n"], b=4) / h100.hbm_bw / long["time"]
PRODUCT_B200 = PRODUCT | {"C": b200.bf16, "W_hbm": b200.hbm_bw}
ONLY_WEIGHTS = "That is the weights alone; the input is read and the output written too."
products = [
    Question(
        heading="4. A matrix product",
        ask="How many bytes does fp16[{B}, {D}] times fp16[{D}, {F}] move, if the inputs are "
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
        "The product with 64 rows takes {T:4} on a B200 at best. Measured streams on an H100 reach {eta:3} of the HBM "
        "bandwidth, and need {alpha:3} to start. If this product does no better, how long does it take?",
        answer=alpha + T / eta,
        given={"eta": STREAM, "alpha": START, "T": roofline.matmul_time(**PRODUCT_B200, B=64)},
        unit="s",
        mistakes={
            "That leaves out the start-up.": T / eta,
        },
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
    Question(
        "The product with 512 rows takes {T:4} at best. The best matrix product measured on a B200 reached {eta:3} of "
        "the peak. If this one does as well, how long does it take?",
        answer=T / eta,
        given={"eta": PRODUCTS_REACH, "T": roofline.matmul_time(**PRODUCT_B200, B=512)},
        unit="s",
        mistakes={"A share below one makes it longer, not shorter.": T * eta},
    ),
]

capacity = [
    Question(
        heading="5. On-chip memory",
        ask="Each of the {n_sm} SMs of an H100 has {S_sm:KiB} of shared memory and L1. How much is that in all?",
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
    Question(
        "A TPU v5p has {S_level:MiB} of VMEM. What share of that do both kinds of on-chip memory of an H100 have "
        "({n_sm} SMs, {S_sm:KiB} of each kind)?",
        answer=2 * processor.chip_capacity.rhs / S_level,
        given={"n_sm": h100.sm, "S_sm": h100.register_file_per_sm, "S_level": v5p.vmem},
        unit="1",
        mistakes={
            "That is one of the two.": processor.chip_capacity.rhs / S_level,
            "That is the other way round.": S_level / (2 * processor.chip_capacity.rhs),
        },
    ),
]

clock = [
    Question(
        heading="6. Clock",
        ask="How many fp32 operations does a B200 finish in a cycle, with {n_sm} SMs, {n_lane} "
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
        heading="7. Adding two vectors",
        ask="One fp32 vector is added to another, and the sum is written to a third. How many operations is that for "
        "each byte moved?",
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
        "How many times faster could all {n_sm} SMs do those {n} additions ({n_lane} lanes an SM)?",
        answer=n_sm / (n / n_lane),
        given=H100_LANES | {"n": 1024},
        unit="1",
        mistakes={
            "That is in warps of 32 lanes.": n_sm / (n / 32),
            "That is the other way round.": n / n_lane / n_sm,
        },
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
        f"{claim('gpus:Q1.2b').published / TFLOP:g} by 3.5 for an H100 and 80 by 8 for a B200 (TFLOP/s over TB/s) and "
        f"finds about {claim('gpus:Q1.7d').published:g} for both. What is wrong?",
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
        given=W_SUM | {"n": 1024},
        mistakes={
            TWO_STREAMS: 2 * b * n / W_hbm,
            "That is the time for 65,536 elements, which the published answer gives; here there are {n}.": {"n": 65536},
        },
        hint="Three vectors of four-byte numbers cross the memory bus.",
    ),
    Question(
        "And for {n} elements?",
        answer=roofline.vector_add_bytes.rhs / W_hbm,
        unit="s",
        given=[W_SUM | {"n": 65536}, W_SUM | {"n": 2**30}],
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That reads one vector.": b * n / W_hbm},
    ),
    Question(
        "Give that time as a formula, in $n$, $b$ and $W_\\mathrm{HBM}$ (type W_hbm).",
        answer=3 * b * n / W_hbm,
        unit="s",
        symbols=(n, b, W_hbm),
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That is one vector.": b * n / W_hbm},
    ),
    Question(
        "A sum of {n} elements was measured at {T:4} on an H100 ({W_hbm}). Which share of the HBM bandwidth is that?",
        answer=3 * b * n / W_hbm / T,
        given=W_SUM | {"n": long["n"], "T": long["time"]},
        unit="1",
        tolerance=0.01,
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm / T},
    ),
    Question(
        "A sum of {n} elements took {T} on the same H100 ({W_hbm}). How much of that do its bytes not explain?",
        answer=T - 3 * b * n / W_hbm,
        given=W_SUM | {"n": short["n"], "T": short["time"]},
        unit="s",
        mistakes={"That is what its bytes explain.": 3 * b * n / W_hbm},
        remark="It is the start-up: the launch, the way of the first load, and the end.",
    ),
]

questions = QuestionSet(
    "hardware",
    "Quiz 1: GPU hardware",
    intro="Seven questions in several parts, after the quiz in the GPU chapter of *How to Scale Your Model*. Where the "
    "published answer slips, the answer here is the corrected one. They cover [Inside a GPU]"
    "(../chapters/inside_a_gpu.ipynb), [The memory hierarchy](../chapters/memory_hierarchy.ipynb) and [The roofline]"
    "(../chapters/roofline.ipynb).",
    questions=[*cores, *vector, *ridge, *products, *capacity, *clock, *adding],
)
