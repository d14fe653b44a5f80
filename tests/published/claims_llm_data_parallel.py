"""Data parallelism and ZeRO: what the sources print, beside the library's formulas with the data's numbers."""

from published.rows import BOOK, NOTES, Row

from gpuscale.collectives import hierarchy
from gpuscale.emulate.stored import Layout, transformer_arrays
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import training_memory as memory
from gpuscale.network import node_egress, topology
from gpuscale.specs import chip, measured, part
from gpuscale.specs import model as spec
from gpuscale.symbols import X, b_grad, b_opt, b_w
from gpuscale.units import GB

DP, MOE, FEW = (f"{BOOK}, data parallelism{more}" for more in ("", ", mixture of experts", ", few nodes"))
CS7, ZERO = "cs336, lecture 7, naive data parallelism", "zero2019, table 1"
LLAMA = measured("llama3_stages").row(stage="16k GPUs")
H100, B200, H800 = (chip(key) for key in ("h100_sxm", "b200_sxm", "h800_sxm"))

# What the sources put in, where they say; their formulas are evaluated there
PRINTED = {"B": 4e6, "D": 8192, "F": 28672, "n_mat": 2, "C": 990e12}
WIDE = {"D": 8192, "F": 28672, "n_mat": 2, "b_grad": 2, "W": 400e9}
MANY = 10**9  # ranks, where a source leaves out (X - 1)/X


def needed(formula=dp.dp_threshold, part=H100, ranks=MANY, **more):
    """Tokens per GPU with bf16 gradients."""
    return formula(C=part.bf16, b_grad=2, X=ranks, **more)


def inside(part):
    return needed(part=part, W=part.nvlink_bw)


def across(part, ranks=MANY):
    return needed(part=part, W=node_egress(n_nic=8, W_nic=part.nic_bw), ranks=ranks)


POD = topology("h100_pod_1024").tiers
PAIR = {"D_1": POD[0].degree, "W_1": float(POD[0].child_bw), "W_2": float(POD[1].child_bw)}


def two_nodes(formula=dp.two_level_dp_threshold, **more):
    return formula(C=H100.bf16, b_grad=2, M=2, **PAIR, **more)


def halved(ranks):
    """The threshold with sums in the switches over that of a ring."""
    return dp.switch_dp_threshold(b_grad=2, C=1, W=1) / dp.dp_threshold(b_grad=2, C=1, W=1, X=ranks)


def cut(stage: int) -> int:
    """How many of weights, gradients and optimizer a ZeRO stage cuts over the ranks."""
    state = getattr(memory, f"zero{stage}_state").rhs.expand()
    return sum(state.coeff(width).has(X) for width in (b_w, b_grad, b_opt))


def of_the_book(where):
    """The same formulas in the book and in the notes on it; ``where`` begins each row's place."""
    few = f"{where}few nodes"
    return [
        Row(f"{where}time", "backward pass of a layer", 0.007414174, lambda: dp.dp_math(X=1024, **PRINTED)),
        Row(f"{where}time", "all-reduce of its gradients", 0.00469762, lambda: dp.dp_comms(X=1024, **WIDE)),
        Row(f"{where}experts", "backward pass of a layer", 0.02965669, lambda: dp.moe_dp_math(X=1024, k=4, **PRINTED)),
        Row(
            f"{where}experts",
            "all-reduce of their gradients",
            0.6012954,
            lambda: dp.moe_dp_comms(X=MANY, E=128, **WIDE),
        ),
        Row(f"{where}experts", "tokens per GPU", 79200, lambda: needed(dp.moe_dp_threshold, E=128, k=4, W=400e9)),
        Row(few, "backward pass on 16 GPUs", 0.4745071, lambda: dp.dp_math(X=16, **PRINTED)),
        Row(
            few,
            "all-reduce over two nodes",
            0.00234881,
            lambda: hierarchy.two_level_all_reduce_links(V=2 * 2 * 8192 * 28672, D_2=2, **PAIR),
            "disagrees",
            0.003653705,
        ),
    ]


def zero_table():
    """ZeRO's table of gigabytes: stages 1 to 3 of three models; the last two are cut off, not rounded."""
    printed = {
        7.5e9: {
            4: (52.5, 41.3, 30),
            16: (35.6, 21.6, 7.5),
            64: (31.4, 16.6, 1.88),
            256: (30.4, 15.4, 0.47),
            1024: (30.1, 15.1, 0.12),
        },
        128e9: {4: (896, 704, 512), 16: (608, 368, 128), 64: (536, 284, 32), 256: (518, 263, 8), 1024: (513, 257, 2)},
        1e12: {
            4: (7000, 5500, 4000),
            16: (4750, 2875, 1000),
            64: (4187, 2218, 250),
            256: (4046, 2054, 62.5),
            1024: (4011, 2013, 15.6),
        },
    }
    rounded = {
        (7.5e9, 64, 2): 16.640625,
        (7.5e9, 64, 3): 1.875,
        (7.5e9, 256, 3): 0.46875,
        (7.5e9, 1024, 3): 0.1171875,
        (128e9, 1024, 2): 257.75,
    }
    for params, rows in printed.items():
        yield Row(ZERO, f"{params / 1e9:g} billion on one rank", 16 * params, lambda p=params: zero(0, p, 1))
        for ranks, values in rows.items():
            for stage, value in enumerate(values, 1):
                ours = rounded.get((params, ranks, stage))
                told = ("rounds", ours * GB) if ours else ("agrees",)
                yield Row(
                    ZERO,
                    f"{params / 1e9:g} billion on {ranks}, stage {stage}",
                    value * GB,
                    lambda s=stage, p=params, r=ranks: zero(s, p, r),
                    *told,
                )


def zero(stage: int, params: float, ranks: int) -> float:
    recipe = part("recipe", "zero_mixed")
    state = getattr(memory, f"zero{stage}_state") if stage else memory.replicated_state
    optimizer = memory.optimizer_bytes(b_master=recipe.master, b_mom=recipe.moment)
    more = {"X": ranks} if stage else {}
    return state(P=params, b_w=recipe.weights, b_grad=recipe.gradients, b_opt=optimizer, **more)


def most(copies: int) -> float:
    """Bytes of the fullest rank of plain data parallelism."""
    return float(Layout(transformer_arrays(2, (12, 24)), copies).fullest((2, 2, 12)))


ROWS = [
    *of_the_book(f"{DP}, "),
    *of_the_book(f"{NOTES}, 4.1, "),
    Row(f"{NOTES}, 4.1", "tokens per GPU across nodes", 2475, lambda: across(H100)),
    Row(
        f"{NOTES}, 4.1",
        "2 x 2 x 2 counts forward and backward, in B D F",
        8,
        lambda: sum(f(B=1, D=1, F=1, X=1, C=1, n_mat=2) for f in (dp.dp_forward_math, dp.dp_math)),
        "disagrees",
        12,
    ),
    Row(f"{NOTES}, 4.1", "two nodes over many, NICs", 0.5, lambda: across(H100, 2) / across(H100)),
    *(
        Row(f"{NOTES}, 4.4, table", f"states that ZeRO-{stage} cuts", stage, lambda stage=stage: cut(stage))
        for stage in (1, 2, 3)
    ),
    Row(DP, "tokens per GPU, 128 nodes", 2475, lambda: across(H100, 128), "rounds", 2454.18),
    Row(DP, "tokens per GPU in a node", 2200, lambda: inside(H100)),
    Row(DP, "tokens per GPU across nodes", 2475, lambda: across(H100)),
    Row(
        DP,
        "tokens per GPU in a node, seven eighths of the array",
        2200,
        lambda: needed(W=H100.nvlink_bw, ranks=8),
        "rounds",
        1923.8333,
        lambda: inside(H100),
    ),
    Row(
        DP,
        "TPU v5p on three axes, with the bandwidth printed there",
        850,
        lambda: dp.seen_dp_threshold(C=chip("tpu_v5p").bf16, b_grad=2, W_coll=3 * 2 * 90 * GB),
    ),
    Row(
        DP,
        "TPU v5p on three axes",
        850,
        lambda: dp.seen_dp_threshold(C=chip("tpu_v5p").bf16, b_grad=2, W_coll=3 * 2 * chip("tpu_v5p").ici_link_bw),
        "disagrees",
        765,
    ),
    Row(
        DP,
        "Llama 3 on 16,000 H100 needs a batch of",
        40e6,
        lambda: dp.dp_batch(N_gpu=16000, B_min=across(H100)),
        "rounds",
        39.576e6,
    ),
    Row(DP, "Llama 3's batch", 16e6, lambda: LLAMA["batch"] * LLAMA["dp"] * LLAMA["seq"], "rounds", 16777216),
    Row(DP, "bandwidth of an H800", 300 * GB, lambda: H800.nvlink_bw, "disagrees", 200 * GB),
    Row(DP, "tokens per GPU of DeepSeek-V3, across nodes", 3300, lambda: across(H800), "disagrees", 2473.5),
    Row(DP, "tokens per GPU of DeepSeek-V3, in a node", 3300, lambda: inside(H800), "disagrees", 4947),
    Row(
        DP,
        "batch of 2,048 H800 at 3,300 tokens each",
        6.7e6,
        lambda: dp.dp_batch(N_gpu=2048, B_min=990e12 / 300e9),
        "rounds",
        6758400,
    ),
    Row(
        DP,
        "batch of 2,048 H800 across nodes",
        6.7e6,
        lambda: dp.dp_batch(N_gpu=2048, B_min=across(H800)),
        "disagrees",
        5065728,
    ),
    Row(
        DP,
        "batch of DeepSeek-V3",
        4e6,
        lambda: spec("deepseek_v3").train_batch * spec("deepseek_v3").train_seq,
        "disagrees",
        62914560,
    ),
    Row(DP, "SHARP's threshold over a ring's", 0.5, lambda: halved(MANY)),
    Row(
        DP, "SHARP's threshold over a ring's, in a node", 0.5, lambda: halved(8), "rounds", 4 / 7, lambda: halved(MANY)
    ),
    Row(MOE, "experts of gpt-oss", 128, lambda: spec("gpt_oss_120b").experts),
    Row(MOE, "experts of a token of gpt-oss", 4, lambda: spec("gpt_oss_120b").active_experts),
    Row(
        MOE,
        "tokens per GPU for gpt-oss",
        79200,
        lambda: needed(dp.moe_dp_threshold, E=spec("gpt_oss_120b").experts, k=4, W=400 * GB),
    ),
    Row(FEW, "tokens per GPU over two nodes", 1237, two_nodes, "disagrees", 1923.8333),
    Row(
        FEW,
        "tokens per GPU over two nodes, all network traffic through NVLink",
        1237,
        lambda: two_nodes(dp.two_level_dp_transit_threshold),
        "disagrees",
        2061.25,
    ),
    Row(FEW, "the same, a copy of the model on each node", 1237, lambda: two_nodes(dp.sharded_dp_threshold, Y=8)),
    Row(f"{DP}, takeaway", "tokens per H100 across nodes", 2500, lambda: across(H100), "rounds", 2473.5),
    Row(f"{DP}, takeaway", "tokens per B200 in a node", 2500, lambda: inside(B200)),
    Row(f"{DP}, takeaway", "tokens per B200 across nodes", 2500, lambda: across(B200), "disagrees", 5625),
    Row(CS7, "examples of a GPU", 128, lambda: dp.dp_tokens(B=1024, X=8)),
    Row(
        CS7,
        "elements that eight GPUs send each for 70 billion",
        140e9,
        lambda: dp.dp_traffic(P=70e9, b_grad=1, X=8),
        "rounds",
        122.5e9,
        lambda: dp.dp_traffic(P=70e9, b_grad=1, X=MANY),
    ),
    Row(CS7, "memory on four GPUs over that on one", 1, lambda: most(4) / most(1)),
    *zero_table(),
]
