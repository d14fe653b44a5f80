"""Tensor parallelism: published costs and limits beside ours."""

from published.rows import BOOK, NOTES, Row

from gpuscale.core import evaluate
from gpuscale.llm import tp_comms, tp_limit, tp_math, tp_node_comms, tp_node_limit
from gpuscale.specs import chip, model

H100 = chip("h100_sxm")
TP, TAKE, STUDY = f"{BOOK}, tensor parallelism", f"{BOOK}, tensor parallelism, takeaway", f"{NOTES}, section 4.2"
NODE = 8 * H100.nic_bw
LAYER = {"B": 4e6, "D": model("llama3_70b").d_model}
WIDE, ROUND = model("llama3_70b").d_ff, 28000
TWO = {"n_mat": 2, "b": 2}
FULL = {"D_1": 8, "W_1": H100.nvlink_bw, "W_2": NODE}


def seconds(**more):
    return tp_math(**LAYER | {"F": WIDE, "n_mat": 2, "Y": 8, "C": H100.bf16} | more)


def comms(form=tp_comms.rhs):
    given = LAYER | {"b": 2, "W": H100.nvlink_bw}
    return evaluate(form, **given, **({"Y": 8} if form is tp_comms.rhs else {}))


def limit(form=tp_limit.rhs, width=WIDE, rate=H100.nvlink_bw):
    return evaluate(form, F=width, W=rate, C=H100.bf16, **TWO)


def nodes_limit(width):
    return tp_node_limit(F=width, C=H100.bf16, **TWO, **FULL)


def width_on_two_nodes(ranks):
    """The F from which on the arithmetic hides the communication: the one grows with F, the other does not."""
    return tp_node_comms(Y=ranks, b=2, **LAYER, **FULL) / seconds(F=1, Y=ranks)


def both(where):
    """What the book and the notes on it both print: the limits of many ranks, offered as such."""
    return [
        Row(where, "forward arithmetic of 4M tokens on 8 GPUs", 0.4745071, seconds),
        Row(
            where, "forward communication of it", 0.2912711, comms, "rounds", 0.25486222, lambda: comms(tp_comms.approx)
        ),
        Row(
            where, "most TP of F = 28,672, F W/C", 13.03273, limit, "rounds", 14.040633, lambda: limit(tp_limit.approx)
        ),
    ]


ROWS = [
    *both(TP),
    *both(STUDY),
    Row(TP, "F of LLaMA-3", ROUND, lambda: WIDE, "rounds", 28672),
    Row(TP, "most TP in a node, F = 28,000", 11, lambda: limit(tp_limit.approx, ROUND), "disagrees", 12.734991),
    Row(
        TP,
        "most TP at the bandwidth of a node's NICs",
        11,
        lambda: limit(tp_limit.approx, ROUND, NODE),
        "rounds",
        11.319992,
    ),
    Row(TP, "F that 16 ranks on two nodes need", 19800, lambda: width_on_two_nodes(16), "disagrees", 30781.333),
    Row(TP, "most TP over two nodes, F = 28,000", 19, lambda: nodes_limit(ROUND), "disagrees", 14.554276),
    Row(TAKE, "F over the most TP, across nodes", 2475, lambda: WIDE / limit(tp_limit.approx, WIDE, NODE)),
]
