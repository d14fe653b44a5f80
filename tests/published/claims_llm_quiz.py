"""Quiz 5, the two examples and the summary of "How to Scale Your Model": printed numbers beside the library's.

The library gets the peak of the data, 989.4 TFLOP/s; the source rounds it to 990.
"""

from published.rows import BOOK, Row

from gpuscale.collectives import hit_bound
from gpuscale.core import evaluate
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import expert_parallel as ep
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm import training_compute as compute
from gpuscale.llm import training_memory as memory
from gpuscale.network import node_egress, topology
from gpuscale.one_gpu import ridge_point
from gpuscale.specs import chip, measured, model, part
from gpuscale.symbols import N_stages, Y, ops
from gpuscale.units import GB, TB

TLDR, DEEP, LLAMA = (f"{BOOK}, {place}" for place in ("summary", "examples, DeepSeek", "examples, LLaMA-3"))
Q1, Q21, Q22, Q23, Q3 = (f"{BOOK}, quiz 5 question {number}" for number in ("1", "2.1", "2.2", "2.3", "3"))
H100, B200 = chip("h100_sxm"), chip("b200_sxm")
NODE = topology("h100_pod_1024").tiers[0].degree
NICS = node_egress(n_nic=NODE, W_nic=H100.nic_bw)
MANY = 10**7  # ranks or nodes, where a source leaves out (X - 1)/X
ADAM = part("recipe", "moments_only")
BYTES = {"b_w": ADAM.weights, "b_grad": ADAM.gradients, "b_opt": memory.optimizer_bytes(b_master=0, b_mom=ADAM.moment)}
RUN = {"P_act": 70e9, "B": 15e12, "N_gpu": 4096, "C": H100.bf16, "MFU": 0.45}
F_70B = model("llama3_70b").d_ff
DEEPSEEK, STAGE = model("deepseek_v3"), measured("llama3_stages").row(stage="16k GPUs")


def across(gpu=H100, **more):
    """Tokens per GPU that hide bf16 gradients between nodes."""
    return dp.seen_dp_threshold(b_grad=2, W_coll=NICS, **({"C": gpu.bf16} | more))


def relaxed(tensor, stages, **more):
    """The same for model copies of that many tensor-parallel ranks and stages."""
    given = {"b_w": 2, "b_grad": 2, "C": H100.bf16, "D_1": NODE, "W_2": NICS} | more
    return evaluate(tp.relaxed_dp_limit.rhs.subs(Y, Y * N_stages), Y=tensor, N_stages=stages, X=MANY, **given)


def ways(C=H100.bf16):
    """Tensor-parallel ranks within a node, the common rule."""
    return evaluate(tp.tp_limit.approx, F=F_70B, n_mat=2, b=2, C=C, W=H100.nvlink_bw)


def state():
    return memory.replicated_state(P=70e9, **BYTES)


def gpus():
    return memory.zero3_gpus(P=70e9, S_level=H100.hbm, **BYTES)


def operations():
    return compute.training_flops(P_act=RUN["P_act"], B=RUN["B"])


def duration():
    return evaluate(compute.mfu_step_time.rhs.subs(ops, compute.training_flops.rhs), **RUN)


def zero3():
    """Tokens per GPU that hide ZeRO-3's backward pass between nodes."""
    return dp.zero3_backward_threshold(b_w=2, b_grad=2, C=H100.bf16, X=MANY, W=NICS)


def expert_width():
    far = {"D_1": NODE, "M": MANY, "f_hit": hit_bound(k=8, Z=MANY), "W_node": NICS}
    return ep.ep_node_width(C=H100.bf16, b_dispatch=2, b_combine=2, n_mat=2, k=8, **far)


def tokens(sequences, ranks):
    return dp.dp_tokens(B=sequences * 4096, X=ranks)


def gain(ranks):
    """How much fewer tokens so few ranks need than many."""
    with_many, with_few = (dp.dp_threshold(b_grad=2, C=H100.bf16, W=NICS, X=X) for X in (MANY, ranks))
    return with_many / with_few


def stage_that_cuts(*parts):
    """The stage of ZeRO under which a byte more of those parts, and of no other, costs two copies less than a byte."""
    every = dict.fromkeys(("b_w", "b_grad", "b_opt"), 1)
    for stage, formula in enumerate((memory.zero1_state, memory.zero2_state, memory.zero3_state), 1):
        cut = {p for p in every if formula(P=1, X=2, **every | {p: 2}) - formula(P=1, X=2, **every) < 1}
        if cut == set(parts):
            return stage
    raise ValueError(parts)


ROWS = [
    Row(TLDR, "tokens per GPU for data parallelism", 2500, across, "rounds", 2473.5),
    Row(TLDR, "tensor-parallel ranks, in whole nodes", 8, ways, "rounds", 13.040431, lambda: ways() // NODE * NODE),
    Row(TLDR, "width of an expert, 8 C/W_node", 19_800, expert_width),
    Row(Q1, "arithmetic of a B200 over that of an H100", 2.25, lambda: B200.bf16 / H100.bf16, "rounds", 2.2741055),
    Row(Q1, "FLOP for each byte in a node of B200", 2500, lambda: ridge_point(C=B200.bf16, W_hbm=B200.nvlink_bw)),
    Row(Q1, "tokens per B200 across nodes", 5625, lambda: across(B200)),
    Row(Q1, "egress of a node of B200", 400 * GB, lambda: node_egress(n_nic=NODE, W_nic=B200.nic_bw)),
    Row(Q21, "weights and Adam of 70 billion parameters", 700 * GB, state),
    Row(Q21, "H100s that hold them", 9, gpus),
    Row(Q21, "nodes that hold them", 2, lambda: -(-gpus() // NODE)),
    Row(Q22, "operations of the run", 6.3e24, operations),
    Row(Q22, "operations of the cluster in a second", 1.8e18, lambda: operations() / duration(), "rounds", 1.82366e18),
    Row(Q22, "time of the run in seconds", 3.5e6, duration, "rounds", 3.4545873e6),
    Row(Q22, "time of the run in days", 40, lambda: duration() / 86400, "agrees"),
    Row(Q23, "tensor-parallel ranks in a node, F/1995", 14.372, ways, "disagrees", 13.040431),
    Row(Q23, "the same with the peak of the first draft", 14.372, lambda: ways(898e12)),
    Row(f"{Q23}.1", "copies of 8-way tensor parallelism", 512, lambda: RUN["N_gpu"] / NODE),
    Row(f"{Q23}.1", "bytes on a GPU", 87.5 * GB, lambda: state() / NODE),
    Row(f"{Q23}.2", "tokens per GPU", 976, lambda: dp.dp_tokens(B=4e6, X=RUN["N_gpu"])),
    Row(f"{Q23}.2", "tokens that ZeRO-3 needs, twice those of data parallelism", 4950, zero3, "disagrees", 2473.5),
    Row(f"{Q23}.3", "bandwidth out of a copy with 8 stages", 3.2 * TB, lambda: NICS * 8 * 8 / NODE),
    Row(f"{Q23}.3", "tokens per GPU with 8 stages", 309, lambda: relaxed(8, 8)),
    Row(Q3, "16B: tokens per GPU", 4096, lambda: tokens(192, 192)),
    Row(Q3, "70B: tokens per GPU", 2048, lambda: tokens(384, 768)),
    Row(Q3, "314B: tokens per GPU", 2048, lambda: tokens(1536, 3072)),
    Row(Q3, "70B: GPUs of a copy", 16, lambda: relaxed(NODE, 1) / relaxed(8, 2) * NODE),
    Row(Q3, "314B: GPUs of a copy", 64, lambda: relaxed(NODE, 1) / relaxed(8, 8) * NODE),
    Row(Q3, "16B: tokens needed", 2472, across),
    Row(Q3, "70B: tokens needed, about 1k", 1000, lambda: relaxed(8, 2), "disagrees", 1236.75),
    Row(Q3, "314B: tokens needed, about 300", 300, lambda: relaxed(8, 8), "rounds", 309.1875),
    Row(Q3, "314B: gain in bandwidth", 8, lambda: relaxed(NODE, 1) / relaxed(8, 8)),
    Row(Q3, "70B: gain in bandwidth", 2, lambda: relaxed(NODE, 1) / relaxed(8, 2)),
    Row(DEEP, "GPUs", 2048, lambda: DEEPSEEK.train_gpus),
    Row(DEEP, "GPUs, from 64 expert-parallel ranks, 16 stages, 2 copies", 64 * 16 * 2, lambda: DEEPSEEK.train_gpus),
    Row(DEEP, "nodes of 64 expert-parallel ranks", 8, lambda: 64 / NODE),
    Row(DEEP, "tokens of a batch", 62_914_560, lambda: DEEPSEEK.train_batch * DEEPSEEK.train_seq),
    Row(
        DEEP,
        "tokens per GPU",
        30e3,
        lambda: dp.dp_tokens(B=DEEPSEEK.train_batch * DEEPSEEK.train_seq, X=DEEPSEEK.train_gpus),
        "rounds",
        30_720,
    ),
    Row(DEEP, "routed experts", 256, lambda: DEEPSEEK.experts),
    Row(DEEP, "experts of a token", 8, lambda: DEEPSEEK.active_experts),
    Row(DEEP, "GPUs of a copy", 1024, lambda: DEEPSEEK.train_gpus / 2),
    Row(DEEP, "gain of two copies, 2/(2 - 1)", 2, lambda: gain(2)),
    Row(LLAMA, "tokens of a batch", 16e6, lambda: STAGE["dp"] * STAGE["batch"] * STAGE["seq"], "rounds", 16_777_216),
    # optimizer states and gradients are cut, weights not again after the forward pass (the report, section 3.3.2)
    Row(LLAMA, "stage of ZeRO", 1, lambda: stage_that_cuts("b_grad", "b_opt"), "disagrees", 2),
    Row(LLAMA, "GPUs", 16_384, lambda: STAGE["gpus"]),
    Row(
        LLAMA,
        "tokens per GPU",
        1000,
        lambda: dp.dp_tokens(B=STAGE["dp"] * STAGE["batch"] * STAGE["seq"], X=STAGE["gpus"]),
        "rounds",
        1024,
    ),
    Row(LLAMA, "GPUs, from 8 tensor-parallel ranks, 16 stages, 128 copies", 8 * 16 * 128, lambda: STAGE["gpus"]),
    Row(LLAMA, "gain of 16 stages on the gradients", 16, lambda: relaxed(NODE, 1) / relaxed(STAGE["tp"], STAGE["pp"])),
]
