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
lanes = processor.cuda_cores.rhs


def lanes_of(units: int, each: int) -> float:
    """Lanes of a chip, computed by the formula that the first questions ask for."""
    return processor.cuda_cores(n_sm=units, n_lane=each)


cores = [
    Question(
        heading="1. Cores",
        ask="An H100 SXM has {n_sm} SMs. Each has four subpartitions, and each of those 32 fp32 lanes, "
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
    ),
    Question(
        "A TPU v5p has {n_cores} vector ALUs. What share of the fp32 lanes of an H100 ({n_sm} SMs, {n_lane} "
        "lanes each) is that?",
        answer=n_cores / (n_sm * n_lane),
        given=H100_LANES | {"n_cores": lanes_of(v5p.cores_per_chip, v5p.vpu_alus_per_core)},
        unit="1",
        mistakes={"That is the other way round.": n_sm * n_lane / n_cores},
        remark="The TPU spends its area on a few large matrix units instead.",
    ),
]

vector = [
    Question(
        heading="2. Vector arithmetic",
        ask="How many fp32 operations a second can the fp32 lanes of an H100 ({n_sm} SMs, {n_lane} lanes each) do at "
        "its base clock of {f_clock}, if each finishes one operation in a cycle?",
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
            "That divides by the data sheet's fp32 figure, which counts a fused multiply-add as two.": {"k_op": 2},
            "That is against the base clock.": {"f_clock": h100.base_clock},
        },
    ),
]

ridge = [
    Question(
        heading="3. Intensity",
        ask="What is the ridge point of an H100 in bf16: {C} against {W_hbm}?",
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
        remark="It lies between an H200 and an H100.",
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
            "That is the rule; it leaves out the [B, D] and [B, F] that move as well.": I_ridge * b_w / (2 * flop)
        },
    ),
]
