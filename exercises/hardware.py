"""Quiz 1: GPU hardware. Seven questions, every part, after the quiz of "How to Scale Your Model", errors corrected."""

from gpuscale_exercises._hardware_units import B200_LANES, H100_LANES, PRODUCT, b200, cores, h100, ridge, v5p, vector

from gpuscale import measured, show
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
ROWS = {"B": 64, "D": PRODUCT["D"], "F": PRODUCT["F"]}
ONLY_WEIGHTS = "That is the weights alone; the input is read and the output is written as well."
SAID_B200 = b200.spec("fp32").others[0].value * TFLOP  # by NVIDIA's first brief
products = [
    Question(
        heading="4. A matrix multiplication",
        ask="How many bytes does fp16[{B} × {D}] times fp16[{D} × {F}] move, if the inputs are "
        "read once and the result is written once?",
        answer=roofline.matmul_bytes,
        given=PRODUCT | {"B": 64},
        tolerance=0.01,
        mistakes={
            ONLY_WEIGHTS: b_w * D * F,
            "An fp16 element has two bytes.": {"b": 1, "b_w": 1},
        },
    ),
    Question(
        "How long does fp16[{B} × {D}] times fp16[{D} × {F}] take on a B200 at best?",
        answer=roofline.matmul_time,
        given=PRODUCT_B200 | {"B": 64},
        mistakes={
            "That is the compute time; the memory traffic takes longer here.": roofline.matmul_math_time.rhs,
            "At best the two overlap: take the larger, not the sum.": roofline.matmul_math_time.rhs
            + roofline.matmul_memory_time.rhs,
        },
        hint="Work out the compute time and the memory time; the longer one counts. The fp16 peak and the HBM bandwidth "
        "are in the hardware tables.",
    ),
    Question(
        "Part 7 finds two corrections from measurements on an H100: the fraction of the HBM bandwidth that a long vector "
        "addition reaches, and the latency of a short one. If both hold for fp16[{B} × {D}] times fp16[{D} × {F}] on a B200, how long "
        "does it take?",
        answer=alpha + T / eta,
        given=ROWS | {"eta": STREAM, "alpha": START, "T": roofline.matmul_time(**PRODUCT_B200, B=64)},
        unit="s",
        mistakes={
            "That leaves out the latency.": T / eta,
            "That is the time at best, without the two measured corrections.": 1 * T,
        },
        hint="The last two questions of part 7 ask for the fraction and the latency. This matmul is memory-bound: divide its "
        "time at best by the fraction, then add the latency.",
    ),
    Question(
        "What limits the matmul with B = {B} (D = {D}, F = {F}) on a B200?",
        given=PRODUCT_B200 | {"B": 64},
        choices=[
            (
                "the Tensor Cores",
                "Too few rows share each weight that is read.",
                roofline.matmul_math_time.rhs > roofline.matmul_memory_time.rhs,
            ),
            (
                "HBM",
                "Each weight that is read serves only a few rows, fewer than the critical batch.",
                roofline.matmul_math_time.rhs <= roofline.matmul_memory_time.rhs,
            ),
            ("shared memory", "Tiles are read from it many times, but its bandwidth is far higher.", False),
        ],
    ),
    Question(
        "How long does the matmul take on a B200 at best with B = {B} (D = {D}, F = {F})?",
        answer=roofline.matmul_time,
        given=PRODUCT_B200 | {"B": 512},
        mistakes={
            "That is the memory time; the compute time is longer now.": roofline.matmul_memory_time.rhs,
        },
        hint="Work out both times again: this batch is larger than the critical one.",
        remark="This is a lower bound: a real kernel also fills and drains its pipeline.",
    ),
    Question(
        "The best matmul measured on a B200 reached {eta:3} of the peak. If fp16[{B} × {D}] times fp16[{D} × {F}] does as well, how "
        "long does it take?",
        answer=T / eta,
        given=ROWS | {"B": 512, "eta": PRODUCTS_REACH, "T": roofline.matmul_time(**PRODUCT_B200, B=512)},
        unit="s",
        mistakes={
            "At a fraction of the peak it takes longer, not shorter.": T * eta,
            "That is the time at the peak rate; divide it by the fraction that is reached.": 1 * T,
        },
        hint="This matmul is compute-bound. Divide its time at best by the fraction of the peak.",
        fixed="a measured number",
    ),
]

capacity = [
    Question(
        heading="5. On-chip memory",
        ask="How much shared memory and L1 do all SMs of an H100 SXM have together?",
        answer=processor.chip_capacity,
        given={"n_sm": h100.sm, "S_sm": h100.smem_l1_per_sm},
        tolerance=0.01,
        mistakes={
            "That counts a KiB as 1,000 bytes.": {"S_sm": S_sm * 1000 / 1024},
            "That calls a MiB a MB.": result_times(1e6 / 2**20),
        },
        hint="Shared memory and L1 are one pool in each SM. Its size and the number of SMs are in the hardware tables.",
    ),
    Question(
        "How much do the shared memory, the L1 and the registers of all SMs of an H100 SXM hold together?",
        answer=2 * processor.chip_capacity.rhs,
        given={"n_sm": h100.sm, "S_sm": h100.register_file_per_sm},
        unit="B",
        tolerance=0.01,
        mistakes={
            "That is only one of the two kinds.": processor.chip_capacity.rhs,
            "That counts a KiB as 1,000 bytes.": {"S_sm": S_sm * 1000 / 1024},
        },
        hint="The register file of an SM is as large as its pool of shared memory and L1.",
    ),
    Question(
        "A TPU v5p has {S_level:MiB} of VMEM. What fraction of that do the shared memory, the L1 and the registers of an "
        "H100 SXM hold together?",
        answer=2 * processor.chip_capacity.rhs / S_level,
        given={"n_sm": h100.sm, "S_sm": h100.register_file_per_sm, "S_level": v5p.vmem},
        unit="1",
        mistakes={
            "That is only one of the two kinds.": processor.chip_capacity.rhs / S_level,
            "That is the inverse ratio.": S_level / (2 * processor.chip_capacity.rhs),
        },
        hint="Divide your answer to the question above by the VMEM.",
        fixed="a published number",
    ),
]

clock = [
    Question(
        heading="6. Clock",
        ask="How many fp32 FLOPs does a B200 finish per cycle, if each lane does one fused multiply-add?",
        answer=n_sm * n_lane * k_op,
        given=B200_LANES | {"k_op": 2},
        unit="FLOP",
        mistakes={"A fused multiply-add counts as two FLOPs.": {"k_op": 1}},
        hint="Each CUDA core of the chip does two FLOPs per cycle.",
    ),
    Question(
        "NVIDIA's first brief on Blackwell stated {P_run} of fp32 for a B200. At which clock do its CUDA cores reach that "
        "rate with fused multiply-adds?",
        answer=processor.implied_clock,
        given=B200_LANES | {"P_run": SAID_B200, "k_op": 2},
        mistakes={"A fused multiply-add counts as two FLOPs.": {"k_op": 1}},
        hint="Divide the rate by the FLOPs per cycle.",
        remark="The device reports a lower maximum clock. Later documents state a lower rate, which fits that clock.",
        fixed="a published number",
    ),
]

W_SUM = {"b": 4, "W_hbm": h100.hbm_bw}
TWO_STREAMS = "The result is written as well: three vectors move, not two."
adding = [
    Question(
        heading="7. Adding two vectors",
        ask="A kernel adds two fp32 vectors and writes the result to a third. What is its arithmetic intensity, in FLOPs "
        "per byte?",
        answer=roofline.vector_add_intensity,
        given={"b": 4},
        mistakes={TWO_STREAMS: flop / (2 * b), "An fp32 element has four bytes.": {"b": 1}},
        hint="Count the FLOPs for one element, and the bytes that three vectors move for it.",
    ),
    Question(
        "The vectors have {n} elements, and each lane adds one of them. How many SMs of an H100 SXM have work?",
        answer=n / n_lane,
        given={"n": 1024, "n_lane": h100.fp32_lanes_per_sm},
        exact=True,
        noun="SMs",
        mistakes={"That is the number of warps of 32 lanes; an SM runs four of them at once.": n / 32},
        hint="Divide the elements by the fp32 lanes of an SM.",
        remark="All other SMs are idle: a small kernel cannot fill a large chip.",
    ),
    Question(
        "How many times as fast would those {n} additions be, if all SMs of the H100 could share them evenly?",
        answer=n_sm / (n / n_lane),
        given=H100_LANES | {"n": 1024},
        unit="1",
        mistakes={
            "That counts warps of 32 lanes instead of SMs.": n_sm / (n / 32),
            "That is the inverse ratio.": n / n_lane / n_sm,
        },
        hint="Divide all SMs of the chip by those that have work.",
    ),
    Question(
        "What is the ridge point of the CUDA cores of an H100 SXM in fp32, at the boost clock? An addition cannot use "
        "fused multiply-adds, so count one FLOP per lane per cycle.",
        answer=P_run / W_hbm,
        unit="FLOP/B",
        given={
            "P_run": processor.vector_peak(
                n_sm=h100.sm, n_lane=h100.fp32_lanes_per_sm, f_clock=h100.boost_clock, k_op=1
            ),
            "W_hbm": h100.hbm_bw,
        },
        mistakes={"That counts a fused multiply-add as two FLOPs; an addition is one.": {"P_run": 2 * P_run}},
        hint="Part 2 gives the rate of the CUDA cores. Divide it by the HBM bandwidth.",
    ),
    Question(
        "Find the error. A footnote of the scaling book calls this ridge point constant across generations. For an H100 it "
        "divides the rate of the question above by the HBM bandwidth. For a B200 it takes the "
        f"{show(SAID_B200, 'FLOP/s', short=True)} of NVIDIA's first brief instead, and gets about the same. What is wrong?",
        choices=[
            (
                "Nothing: vector units and HBM grow by the same factor.",
                "Compare the two rates: do both count a fused multiply-add the same way?",
                False,
            ),
            (
                "One rate counts a fused multiply-add as two FLOPs, the other as one.",
                "Counted the same way, the ridge point of a B200 is half that of an H100.",
                True,
            ),
            (
                "HBM bandwidth should count both directions.",
                "HBM bandwidth is one number for reads and writes together.",
                False,
            ),
        ],
    ),
    Question(
        "How long does an H100 SXM take at best to add two fp32 vectors of {n} elements?",
        answer=roofline.vector_add_bytes.rhs / W_hbm,
        unit="s",
        given=W_SUM | {"n": 1024},
        mistakes={
            TWO_STREAMS: 2 * b * n / W_hbm,
            "That is the time for 65,536 elements, which the published answer gives; here there are {n}.": {"n": 65536},
        },
        hint="Three vectors of fp32 elements move between HBM and the chip. The HBM bandwidth is in the hardware tables.",
    ),
    Question(
        "How long does the addition take at best for vectors of {n} elements?",
        answer=roofline.vector_add_bytes.rhs / W_hbm,
        unit="s",
        given=[W_SUM | {"n": 65536}, W_SUM | {"n": 2**30}],
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That is one vector.": b * n / W_hbm},
        hint="The bytes of three vectors, divided by the HBM bandwidth.",
    ),
    Question(
        "Give the time of such an addition at best as a formula, in $n$, $b$ and $W_\\mathrm{HBM}$ (type W_hbm).",
        answer=3 * b * n / W_hbm,
        unit="s",
        symbols=(n, b, W_hbm),
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm, "That is one vector.": b * n / W_hbm},
    ),
    Question(
        "An addition of two fp32 vectors of {n} elements took {T:4} on an H100 SXM. What fraction of the HBM bandwidth did "
        "it reach?",
        answer=3 * b * n / W_hbm / T,
        given=W_SUM | {"n": long["n"], "T": long["time"]},
        unit="1",
        tolerance=0.01,
        mistakes={TWO_STREAMS: 2 * b * n / W_hbm / T},
        hint="Divide the time at best by the measured time.",
        fixed="a measured number",
    ),
    Question(
        "An addition of two fp32 vectors of {n} elements took {T} on the same H100. How much of that time do its bytes not "
        "explain?",
        answer=T - 3 * b * n / W_hbm,
        given=W_SUM | {"n": short["n"], "T": short["time"]},
        unit="s",
        mistakes={"That is the part that its bytes explain.": 3 * b * n / W_hbm},
        hint="Subtract the time at best from the measured time.",
        remark="The rest is latency: launching the kernel, the first load, and the end of the kernel.",
        fixed="a measured number",
    ),
]

questions = QuestionSet(
    "hardware",
    "Quiz 1: GPU hardware",
    intro="The first quiz of the GPU chapter of *How to Scale Your Model*: seven questions in several parts. Where the "
    "source has an error, the answer here is corrected. The questions cover [Inside a GPU]"
    "(../chapters/inside_a_gpu.ipynb), [The memory hierarchy](../chapters/memory_hierarchy.ipynb) and [The roofline]"
    "(../chapters/roofline.ipynb). The numbers of the chips are in these chapters and in the "
    "[hardware tables](../chapters/hardware_tables.ipynb).",
    questions=[*cores, *vector, *ridge, *products, *capacity, *clock, *adding],
)
