"""Quiz 1, questions 1 to 3: lanes, rates and ridge points."""

from gpuscale import chip
from gpuscale.one_gpu import processor, roofline
from gpuscale.quiz import Question
from gpuscale.symbols import C, I_ridge, P_run, b_w, flop, n_cores, n_lane, n_sm

h100, b200, v5e, v5p = chip("h100_sxm"), chip("b200_sxm"), chip("tpu_v5e"), chip("tpu_v5p")

H100_LANES = {"n_sm": h100.sm, "n_lane": h100.fp32_lanes_per_sm}
B200_LANES = {"n_sm": b200.sm, "n_lane": b200.fp32_lanes_per_sm}
PRODUCT = {"D": 4096, "F": 8192, "b": 2, "b_w": 2}
ONE_SUBPARTITION = "That is one subpartition of each SM; an SM has four."
TABLES = "Divide the dense peak rate by the HBM bandwidth. Both are in the hardware tables."
lanes = processor.cuda_cores.rhs


def lanes_of(units: int, each: int) -> float:
    """Lanes of a chip, computed by the formula that the first questions ask for."""
    return processor.cuda_cores(n_sm=units, n_lane=each)


cores = [
    Question(
        heading="1. Cores",
        ask="How many fp32 CUDA cores does an H100 SXM have? A CUDA core is one fp32 lane of an SM's vector units.",
        answer=processor.cuda_cores,
        given=H100_LANES,
        exact=True,
        noun="cores",
        mistakes={ONE_SUBPARTITION: lanes / 4, "That is the number of subpartitions; each has 32 lanes.": n_sm * 4},
        hint="Multiply the SMs of the chip by the four subpartitions of an SM and by the fp32 lanes of a subpartition. "
        "All are in the chapter Inside a GPU.",
        remark="A CUDA core is one lane of a vector unit. The scheduler issues instructions to warps, not to lanes.",
    ),
    Question(
        "How many fp32 CUDA cores does a B200 have?",
        answer=processor.cuda_cores,
        given=B200_LANES,
        exact=True,
        noun="cores",
        mistakes={ONE_SUBPARTITION: lanes / 4},
        hint="An SM of a B200 has as many lanes as one of an H100. The number of SMs is in the hardware tables.",
    ),
    Question(
        "A TPU v5p has {n_sm} cores. Each core's vector unit has 8 by 128 lanes with 4 ALUs per lane. How many vector "
        "ALUs does the chip have?",
        answer=processor.cuda_cores,
        given={"n_sm": v5p.cores_per_chip, "n_lane": v5p.vpu_alus_per_core},
        exact=True,
        noun="ALUs",
        mistakes={"That is one core; the chip has two.": n_lane, "That counts one ALU per lane.": lanes / 4},
        fixed="a published number",
    ),
    Question(
        "How many vector ALUs does a TPU v5p have, as a fraction of the CUDA cores of an H100 SXM?",
        answer=n_cores / (n_sm * n_lane),
        given=H100_LANES | {"n_cores": lanes_of(v5p.cores_per_chip, v5p.vpu_alus_per_core)},
        unit="1",
        mistakes={"That is the inverse ratio.": n_sm * n_lane / n_cores},
        hint="Divide the ALUs of the TPU by the CUDA cores of the H100, both from the questions above.",
        remark="A TPU spends its area on a few large matrix units instead.",
    ),
]

vector = [
    Question(
        heading="2. Vector arithmetic",
        ask="How many fp32 FLOP/s can the CUDA cores of an H100 SXM do at its base clock of {f_clock}, if each finishes "
        "one FLOP per cycle?",
        answer=processor.vector_peak,
        given=H100_LANES | {"f_clock": h100.base_clock, "k_op": 1},
        mistakes={
            "A fused multiply-add counts as two FLOPs; here a lane does one per cycle.": {"k_op": 2},
            "That is one subpartition of each SM; there are four.": processor.vector_peak.rhs / 4,
        },
        hint="Multiply the CUDA cores by the clock.",
        fixed="a published clock",
    ),
    Question(
        "How many can they do at its boost clock of {f_clock}?",
        answer=processor.vector_peak,
        given=H100_LANES | {"f_clock": h100.boost_clock, "k_op": 1},
        mistakes={
            "That is the rate on the data sheet, which counts a fused multiply-add as two FLOPs.": {"k_op": 2},
            "That is the base clock.": {"f_clock": h100.base_clock},
        },
        fixed="a published clock",
    ),
    Question(
        "How many times as fast are the Tensor Cores of an H100 SXM, in dense bf16, as its CUDA cores in fp32? Take the "
        "boost clock of {f_clock} and one FLOP per lane per cycle.",
        answer=processor.tensor_speedup.where(processor.vector_peak.where(lhs=P_run)),
        given=H100_LANES | {"C": h100.bf16, "f_clock": h100.boost_clock, "k_op": 1},
        mistakes={
            "That divides by the fp32 rate on the data sheet, which counts a fused multiply-add as two FLOPs.": {
                "k_op": 2
            },
            "That takes the base clock.": {"f_clock": h100.base_clock},
        },
        hint="The dense bf16 peak is in the hardware tables; divide it by the fp32 rate at the boost clock.",
        fixed="a published clock",
    ),
]

ridge = [
    Question(
        heading="3. Ridge points",
        ask="What is the ridge point of an H100 SXM in bf16?",
        answer=roofline.ridge_point,
        given={"C": h100.bf16, "W_hbm": h100.hbm_bw},
        mistakes={
            "That is the peak with sparsity; use the dense peak.": {"C": 2 * C},
        },
        hint=TABLES,
    ),
    Question(
        "What is the ridge point of a B200 in bf16?",
        answer=roofline.ridge_point,
        given={"C": b200.bf16, "W_hbm": b200.hbm_bw},
        mistakes={"That is the peak with sparsity; use the dense peak.": {"C": 2 * C}},
        hint=TABLES,
        remark="From Hopper to Blackwell, peak FLOP/s and HBM bandwidth grew by about the same factor.",
    ),
    Question(
        "What is the ridge point of an H100 SXM in fp8?",
        answer=roofline.ridge_point,
        given={"C": h100.fp8, "W_hbm": h100.hbm_bw},
        mistakes={"That is bf16; the peak doubles in fp8.": {"C": h100.bf16}},
        hint=TABLES,
    ),
    Question(
        "What is the ridge point of a B200 in fp8?",
        answer=roofline.ridge_point,
        given={"C": b200.fp8, "W_hbm": b200.hbm_bw},
        mistakes={"That is bf16; the peak doubles in fp8.": {"C": b200.bf16}},
        hint=TABLES,
    ),
    Question(
        "What is the ridge point of a TPU v5e in bf16?",
        answer=roofline.ridge_point,
        given={"C": v5e.bf16, "W_hbm": v5e.hbm_bw},
        hint=TABLES,
        remark="It lies between those of an H200 and an H100.",
    ),
    Question(
        "A B200 runs the matmul [B, D] × [D, F] in bf16. By the rule for very wide matrices, at which batch size B does "
        "it become compute-bound?",
        answer=roofline.rule_batch,
        given={"I_ridge": roofline.ridge_point(C=b200.bf16, W_hbm=b200.hbm_bw), "b_w": 2},
        noun="rows",
        mistakes={"Two bytes per weight and two FLOPs per multiply-add cancel.": {"b_w": 4}},
        hint="For wide matrices, nearly all of the traffic is weights. Set the FLOPs per byte of weights equal to the ridge point.",
    ),
    Question(
        "What is the exact critical batch of that matmul for D = {D} and F = {F}, where its input and output count as well?",
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
            "That is the rule; it leaves out the input [B, D] and the output [B, F].": I_ridge * b_w / (2 * flop)
        },
        hint="Write down the FLOPs per byte with all three matrices, set them equal to the ridge point, and solve for B.",
    ),
]
