"""Pipelines: published hops, bubbles and kept activations beside those of the formulas."""

from published.rows import BOOK, NOTES, Row

from gpuscale.llm import pipeline
from gpuscale.schedules.pipelines import both_ways as both_ways_of_pipelines
from gpuscale.schedules.pipelines import orders
from gpuscale.units import GB

PP, TABLE = f"{BOOK}, pipeline parallelism", "deepseek-v3, table 2"
PLAYBOOK, MEGATRON = "playbook, interleaving stages", "megatron2021, section 2.2"
BATCH = {"B": 4e6, "D": 8192, "b": 2, "N_MB": 16}
LINK = {"W": 400 * GB}
EIGHT = {"N_stages": 8}


def hops(where):
    """The rows that the chapter and the notes on it share: 16 microbatches through 8 stages of 80 layers."""
    layer = {**BATCH, **LINK, **EIGHT, "L": 80}
    return [
        Row(
            where,
            "one hop of a microbatch",
            2 * 4e6 * 8192 / (400e9 * 16),
            lambda: pipeline.hop_time(V_hop=pipeline.hop_bytes(**BATCH), **LINK),
        ),
        Row(where, "hops one after another", 16 + 8 - 2, lambda: pipeline.forward_hops(N_MB=16, **EIGHT)),
        Row(
            where,
            "all hops",
            22 * 2 * 4e6 * 8192 / (400e9 * 16),
            lambda: pipeline.forward_transfers(**BATCH, **LINK, **EIGHT),
        ),
        Row(
            where,
            "for each layer, as 1.5 of a pass over the batch",
            1.5 * 2 * 4e6 * 8192 / (400e9 * 80),
            lambda: pipeline.layer_transfers(**layer),
            "disagrees",
            0.002816,
        ),
    ]


def times(F, whole, W):
    return {"t_F": F, "t_B": whole, "t_W": W}


def both_ways(p, **given):
    return pipeline.dualpipe_bubble(N_stages=p, **given)


def peak(run):
    return max(run.peak_activations(rank) for rank in range(run.ranks))


EVEN, LONG = times(1, 2, 1), times(1, 2.2, 0.9)
ROWS = [
    *hops(PP),
    *hops(f"{NOTES}, section 4.4"),
    Row(
        PP,
        "the factor 1.5 at 4 microbatches and 8 stages",
        1.5,
        lambda: pipeline.layer_transfers(B=1, D=1, b=1, L=1, W=1, N_MB=4, N_stages=8),
        "disagrees",
        2.5,
    ),
    Row(
        PP,
        "the factor 1.5 at twice as many microbatches as inner stages",
        1.5,
        lambda: pipeline.layer_transfers(B=1, D=1, b=1, L=1, W=1, N_MB=12, N_stages=8),
    ),
    Row(
        f"{BOOK}, pipeline parallelism, figure",
        "bubble of two stages and two microbatches, over the work",
        0.5,
        lambda: float(orders.gpipe(2, 2, 1, 2).bubble_overhead),
    ),
    Row(
        f"{BOOK}, pipeline parallelism, figure",
        "the same by the formula",
        0.5,
        lambda: pipeline.bubble_overhead(N_stages=2, N_MB=2),
    ),
    *(
        Row(
            PLAYBOOK,
            f"bubble over the work, 8 stages, {m} microbatches, {v} virtual stages",
            published,
            lambda m=m, v=v: (
                pipeline.interleaved_overhead(N_stages=8, N_MB=m, n_virt=v)
                if v > 1
                else pipeline.bubble_overhead(N_stages=8, N_MB=m)
            ),
        )
        for m, v, published in (
            (32, 8, 0.02734375),
            (16, 8, 0.0546875),
            (32, 1, 0.21875),
            (8, 8, 0.109375),
            (8, 1, 0.875),
            (1, 1, 7.0),
        )
    ),
    Row(
        MEGATRON,
        "bubble over the work, 64 stages and 512 microbatches",
        63 / 512,
        lambda: pipeline.bubble_overhead(N_stages=64, N_MB=512),
    ),
    Row(
        MEGATRON,
        "the same with two virtual stages per rank",
        63 / 1024,
        lambda: pipeline.interleaved_overhead(N_stages=64, N_MB=512, n_virt=2),
    ),
    Row(
        "korthikanti2022, section 4.2.3",
        "layers kept in the first of 35 stages, 105 layers in three virtual stages each",
        105 * (1 + 34 / (35 * 3)),
        lambda: pipeline.first_stage_layers(L=105, N_stages=35, n_virt=3, N_MB=280),
    ),
    Row(
        TABLE,
        "bubble of 1F1B, 8 stages, a backward pass of two equal halves",
        7 * 3,
        lambda: pipeline.bubble_time(N_stages=8, t_F=1, t_B=2),
    ),
    Row(TABLE, "bubble of ZB1P, the same", 7 * 1, lambda: pipeline.zb_bubble(N_stages=8, N_MB=20, **EVEN)),
    Row(
        TABLE,
        "bubble of ZB1P where the weights take half as long again as a forward pass",
        7 * (2 + 7 - 6),
        lambda: pipeline.zb_bubble(N_stages=8, N_MB=20, **times(2, 7, 3)),
        "disagrees",
        28,
    ),
    Row(TABLE, "bubble of DualPipe, equal halves", 3 * (3 + 2 - 3), lambda: both_ways(8, **EVEN)),
    Row(
        TABLE,
        "bubble of DualPipe, 16 stages, input gradients that take longer",
        7 * (3.2 + 2.2 - 3 * 0.9),
        lambda: both_ways(16, **LONG),
        "rounds",
        17.9,
    ),
    Row(
        TABLE,
        "bubble of DualPipe, 16 stages, input gradients that are quicker",
        7 * (2.7 + 1.7 - 3 * 0.9),
        lambda: both_ways(16, **times(1, 1.7, 0.9)),
        "disagrees",
        14.0,
    ),
    Row(TABLE, "activations of 1F1B, 8 stages", 8, lambda: pipeline.one_f_one_b_held(N_stages=8, N_MB=20, i_stage=0)),
    Row(TABLE, "activations of ZB1P", 8, lambda: peak(orders.zb_h1(8, 20))),
    Row(TABLE, "activations of DualPipe", 9, lambda: peak(both_ways_of_pipelines.dualpipe(8, 20))),
    Row(
        TABLE,
        "copies of the parameters, DualPipe over 1F1B",
        2,
        lambda: len({slot.stage for slot in both_ways_of_pipelines.dualpipe(8, 20).of(0)}),
    ),
]
