"""Overlap: the published times and ratios of data, tensor and pipeline parallelism, and ours in bytes.

The playbook counts elements and divides them by bytes a second; its ratio for gradients keeps the parameters, which
cancel. Ours are for bf16, two bytes an element, with its own peak and bandwidths.
"""

import numpy as np
from published.rows import Row

from gpuscale.collectives import ring_all_gather
from gpuscale.core import evaluate
from gpuscale.emulate import sharded
from gpuscale.llm import data_parallel, overlap, tensor_parallel
from gpuscale.schedules.collectives import ring
from gpuscale.specs import chip
from gpuscale.symbols import L_stage
from gpuscale.units import MB, MiB

A3 = "playbook, appendix A3"
DP, ZERO, TP, PP = (f"{A3}, {part}" for part in ("data parallelism", "ZeRO-3", "tensor parallelism", "pipeline"))
FORUM = "nvidia-forum-overlap, first message"
H100 = chip("h100_sxm")
WIDTH, LAYERS, TOKENS, BYTES = 8192, 80, 4096, 2
PEAK, WIDE, NODE, NIC = 990e12, 450e9, 400e9, 50e9  # as the source rounds them
BLOCK = 16 * WIDTH**2  # parameters of a layer there: four matrices of attention, an MLP of width 4 h with a gate
TIMES = {"C": PEAK, "b_w": BYTES, "b_grad": BYTES}
MATRIX = {"D": WIDTH, "F": WIDTH, "n_mat": 1}  # one matrix of h by h


def shared(parameters, ranks=64, passes=1):
    """Bytes that a rank sends to gather that many parameters, or to scatter their gradients."""
    return passes * parameters * BYTES * float(ring.all_gather(ranks).busiest())


def block_of_a_model(**more):
    """One layer of the source as an MLP of 16 h by h."""
    return {"D": WIDTH, "F": 16 * WIDTH, "n_mat": 1} | more


def passed(ranks=8, collectives=1):
    """Bytes that a rank sends to gather the activations of all ranks, or to scatter their sum."""
    array = BYTES * TOKENS * WIDTH
    return collectives * array * float(ring.all_gather(ranks).busiest())


def collectives_of_a_block():
    """Collectives of attention and MLP, forward and backward, counted on a small layer; the input is kept gathered."""
    x, w = np.ones((4, 2)), np.ones((2, 4))
    _, forward = sharded.mlp(x, [w], w.T, 2)
    _, backward = sharded.mlp_backward(x, w, w.T, x, 2)
    again = 1  # the backward pass gathers the input once more where it was not kept
    return 2 * (len(forward.moves) + len(backward.moves) - again)


def hops(count, passes=1):
    """Bytes of that many activations of a microbatch, each received and sent."""
    one = overlap.pp_hop(b=BYTES, D=WIDTH, S=TOKENS, n_seq=1, W=1)
    return 2 * count * passes * one


def layer_time(layers=1):
    return overlap.stage_math(n_seq=1, S=TOKENS, P_layer=BLOCK, L_stage=layers, C=PEAK)


def slower(**more):
    return overlap.wave_slowdown(n_sm=H100.sm, **more)


ROWS = [
    Row(DP, "parameters whose gradients are summed", LAYERS * 16 * WIDTH**2, lambda: LAYERS * BLOCK),
    Row(DP, "bytes of a bucket", 25 * MB, lambda: 25 * MiB, "rounds", 26214400),  # the option is in MiB
    Row(
        DP,
        "all-reduce of a bucket over 8 ranks",
        9.722222e-05,
        lambda: overlap.bucket_time(V=25 * MB, n_bucket=1, alpha=0, X=8, W=WIDE),
    ),
    Row(
        DP,
        "backward pass of 70 billion parameters, 4,096 tokens",
        1.158465,
        lambda: data_parallel.dp_math(B=TOKENS, X=1, C=PEAK, D=70e4, F=1e5, n_mat=1),
    ),
    Row(
        DP,
        "ratio for 512 ranks",
        2.110738e10,
        lambda: overlap.dp_ratio(B_gpu=TOKENS, X=512, W=NODE, C=PEAK, b_grad=BYTES),
        "disagrees",
        0.60306786,
    ),
    Row(ZERO, "bytes of a rank's all-gather, forward", BLOCK / 64, lambda: shared(BLOCK), "disagrees", 2113929216),
    Row(ZERO, "bytes of a rank's all-gather, backward", BLOCK / 64, lambda: shared(BLOCK), "disagrees", 2113929216),
    Row(ZERO, "bytes of a rank's reduce-scatter", BLOCK / 64, lambda: shared(BLOCK), "disagrees", 2113929216),
    Row(ZERO, "bytes of a rank for a block", 3 * BLOCK / 64, lambda: shared(BLOCK, passes=3), "disagrees", 6341787648),
    Row(
        ZERO,
        "bytes of a rank for the model",
        3 * LAYERS * BLOCK / 64,
        lambda: shared(LAYERS * BLOCK, passes=3),
        "disagrees",
        507343011840,
    ),
    Row(
        ZERO,
        "all-gather of a block over 512 ranks",
        0.002679112,
        lambda: data_parallel.zero3_forward_comms(b_w=BYTES, X=512, W=NODE, **block_of_a_model()),
        "disagrees",
        0.0053582234,
    ),
    Row(ZERO, "forward pass of a block", 0.008884942, layer_time),
    Row(
        ZERO,
        "ratio for 512 ranks",
        0.3015339,
        lambda: overlap.zero3_forward_ratio(B_gpu=TOKENS, X=512, W=NODE, C=PEAK, b_w=BYTES),
        "disagrees",
        0.60306786,
    ),
    Row(TP, "bytes of a rank's all-gather, forward", TOKENS * WIDTH / 8, passed, "disagrees", 58720256),
    Row(TP, "bytes of a rank's reduce-scatter, backward", TOKENS * WIDTH / 8, passed, "disagrees", 58720256),
    Row(TP, "collectives of a block", 8, collectives_of_a_block),
    Row(
        TP, "bytes of a rank for a block", 8 * TOKENS * WIDTH / 8, lambda: passed(collectives=8), "disagrees", 469762048
    ),
    Row(
        TP,
        "bytes of a rank for the model",
        8 * LAYERS * TOKENS * WIDTH / 8,
        lambda: passed(collectives=8 * LAYERS),
        "disagrees",
        37580963840,
    ),
    Row(
        TP,
        "all-gather of the activations over 8 ranks",
        6.524473e-05,
        lambda: ring_all_gather(V=BYTES * TOKENS * WIDTH, N=8, alpha=0, W=WIDE),
        "disagrees",
        0.00013048946,
    ),
    Row(
        TP, "product of the next matrix", 6.941361e-05, lambda: tensor_parallel.tp_math(B=TOKENS, Y=8, C=PEAK, **MATRIX)
    ),
    Row(
        TP,
        "ratio for 8 ranks",
        0.9399414,
        lambda: overlap.tp_ratio(b=BYTES, C=PEAK, W=WIDE, F=WIDTH, Y=8, n_mat=2),
        "disagrees",
        1.8798828,
    ),
    Row(PP, "bytes of a microbatch, forward", 2 * TOKENS * WIDTH, lambda: hops(1), "disagrees", 134217728),
    Row(PP, "bytes of a microbatch, backward", 2 * TOKENS * WIDTH, lambda: hops(1), "disagrees", 134217728),
    Row(PP, "bytes of a microbatch, both passes", 4 * TOKENS * WIDTH, lambda: hops(1, 2), "disagrees", 268435456),
    Row(PP, "bytes of 8 microbatches", 4 * 8 * TOKENS * WIDTH, lambda: hops(8, 2), "disagrees", 2147483648),
    Row(PP, "forward pass of ten layers", 0.08884942, lambda: layer_time(10)),
    Row(
        PP,
        "time of a hop",
        0.0006710886,
        lambda: overlap.pp_hop(b=BYTES, D=WIDTH, S=TOKENS, n_seq=1, W=NIC),
        "disagrees",
        0.0013421773,
    ),
    Row(
        PP,
        "ratio for ten layers a stage",
        0.007553101,
        lambda: evaluate(overlap.pp_ratio.rhs.subs(L_stage, 10), b=BYTES, C=PEAK, D=WIDTH, P_layer=BLOCK, W=NIC),
        "disagrees",
        0.015106201,
    ),
    Row(FORUM, "blocks of a product that fill an H100", 132, lambda: H100.sm),
    Row(
        FORUM,
        "share of the peak beside 24 blocks of an all-gather, from 80%",
        0.47,
        lambda: 0.8 / slower(n_tiles=132, n_comm=24),
        "disagrees",
        0.4,
    ),
]
