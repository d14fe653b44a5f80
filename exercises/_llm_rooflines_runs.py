"""Quiz 5, its parts on memory, on the time of a run, and on Megatron's three runs."""

import sympy

from gpuscale import chip
from gpuscale.ledger import claim
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm import training_compute as compute
from gpuscale.llm import training_memory as memory
from gpuscale.quiz import Question, both_directions, result_times, with_sparsity
from gpuscale.specs import part
from gpuscale.symbols import (
    MFU,
    B,
    C,
    G,
    N_gpu,
    N_stages,
    P,
    P_act,
    S,
    S_level,
    W_node,
    Y,
    b_grad,
    b_opt,
    b_w,
    flop,
    n_seq,
    ops,
)

h100 = chip("h100_sxm")
NODE = 8
NICS = NODE * h100.nic_bw


def recipe(key: str) -> dict:
    """Bytes of a parameter: weights, gradients, optimizer."""
    kept = part("recipe", key)
    optimizer = memory.optimizer_bytes(b_master=kept.master, b_mom=kept.moment)
    return {"b_w": kept.weights, "b_grad": kept.gradients, "b_opt": optimizer}


RECIPES = [recipe(key) for key in ("moments_only", "without_gradients", "zero_mixed")]
KEPT = "{b_w} per parameter for weights, {b_grad} for gradients and {b_opt} for the optimizer state"
STORED = [{"P": 70e9, **kept} for kept in RECIPES]
HELD = [{**kept, "S_level": h100.hbm} for kept in STORED]
NODES = sympy.ceiling(memory.zero3_gpus.rhs / G)

memory_parts = [
    Question(
        heading="2. Training Llama 3 70B: memory and time",
        ask=f"How much model state does a model of {{P}} parameters have? Count {KEPT}.",
        answer=memory.replicated_state,
        given=STORED,
        tolerance=0.01,
        mistakes={
            "That is the optimizer state alone.": P * b_opt,
            "That is the weights and gradients; add the optimizer state.": P * (b_w + b_grad),
        },
        solution=memory.replicated_state,
        remark="The ten bytes of the source are bf16 weights and two fp32 moments. An fp32 master copy makes 14 bytes. With "
        "bf16 gradients it is 16.",
    ),
    Question(
        f"How many H100s do you need at least to hold the state of {{P}} parameters? Count {KEPT}.",
        answer=memory.zero3_gpus,
        exact=True,
        noun="GPUs",
        given=HELD,
        mistakes={
            "That holds the optimizer state alone.": sympy.ceiling(P * b_opt / S_level),
            "That holds the weights alone.": sympy.ceiling(P * b_w / S_level),
        },
        solution=[
            (P * (b_w + b_grad + b_opt) / S_level, "all of the state, sharded evenly"),
            (memory.zero3_gpus.rhs, "whole GPUs; activations need room as well"),
        ],
        hint="Divide the state by the HBM of one GPU, which is in the hardware tables, and round up.",
    ),
    Question(
        f"How many nodes of {{G}} H100s do you need at least for the state of {{P}} parameters? Count {KEPT}.",
        answer=NODES,
        unit="1",
        exact=True,
        noun="nodes",
        given=[{**held, "G": NODE} for held in HELD],
        mistakes={"The last GPUs need a node of their own: round up.": sympy.floor(memory.zero3_gpus.rhs / G)},
        hint="Divide the GPUs by the GPUs of a node, and round up.",
        solution=[(memory.zero3_gpus.rhs / G, "all GPUs, divided by the GPUs of a node"), (NODES, "whole nodes")],
    ),
    Question(
        'Find the error. "Training takes ten bytes per parameter: two for the bf16 weights, eight for Adam." What else '
        "does mixed-precision training usually store?",
        choices=[
            ("the activations of the last step", "The backward pass frees them; they are not model state.", False),
            ("an fp32 copy of the weights, and the gradients", "With both it is 16 to 18 bytes per parameter.", True),
            ("a third moment", "Adam has two: the mean of the gradients and the mean of their squares.", False),
        ],
    ),
]

WORK = {"P_act": 70e9, "B": 15e12}
CLUSTER = {"N_gpu": 4096, "C": h100.bf16, "MFU": 0.45}
RUN_TIME = compute.mfu_step_time.rhs.subs(ops, compute.training_flops.rhs)
FORWARD = 2 * flop * P_act * B
PEAK = N_gpu * C * MFU

time_parts = [
    Question(
        "How many FLOPs does it take to train a model of {P_act} parameters on {B} tokens? Leave attention out.",
        answer=compute.training_flops,
        given=WORK,
        tolerance=0.01,
        mistakes={
            "That is the forward pass.": FORWARD,
            "That is the backward pass.": 2 * FORWARD,
            "That runs the forward pass twice, as with full recomputation.": compute.recompute_flops,
        },
        solution=[
            (FORWARD, "forward pass: one multiply-add, two FLOPs, per parameter per token"),
            (compute.training_flops.rhs, "the backward pass has twice as many FLOPs"),
        ],
    ),
    Question(
        "{N_gpu} H100s train in bf16 at an MFU of {MFU}. How many useful FLOP/s do they do together?",
        answer=PEAK,
        unit="FLOP/s",
        given=CLUSTER,
        tolerance=0.01,
        mistakes={"That is their peak.": N_gpu * C, **with_sparsity(C)},
        hint="MFU is the fraction of the dense peak, which is in the hardware tables.",
    ),
    Question(
        "How long do {N_gpu} H100s at an MFU of {MFU} take to train {P_act} parameters on {B} tokens in bf16?",
        answer=RUN_TIME,
        unit="days",
        given=WORK | CLUSTER,
        tolerance=0.01,
        mistakes={
            "That is at the peak rate.": RUN_TIME * MFU,
            "That is the forward pass.": RUN_TIME / 3,
            **with_sparsity(C),
        },
        hint="Divide the FLOPs of the training run by the FLOP/s of the GPUs.",
        solution=[
            (compute.training_flops.rhs, "the FLOPs of the run"),
            (RUN_TIME, "divided by the FLOP/s of the GPUs"),
        ],
    ),
    Question(
        "How many GPU-seconds does one training token take, for {P_act} parameters on H100s at an MFU of {MFU}?",
        answer=6 * flop * P_act / (C * MFU),
        unit="s",
        tolerance=0.01,
        given={"P_act": 70e9, "C": h100.bf16, "MFU": 0.45},
        mistakes={
            "That is the forward pass.": 2 * flop * P_act / (C * MFU),
            "That is at the peak rate.": 6 * flop * P_act / C,
        },
        hint="Divide the FLOPs per token by the useful FLOP/s of one GPU.",
        remark="More GPUs make the run shorter, not cheaper.",
    ),
]

# Megatron's runs: GPUs, sequences in a batch, tensor-parallel ranks, stages
SHAPES = ((192, 192, 4, 1), (768, 384, 8, 2), (3072, 1536, 8, 8))
SIZES = [{"N_gpu": N, "n_seq": n, "S": 4096, "Y": Y, "N_stages": p} for N, n, Y, p in SHAPES]
SPANS = [ranks * stages for _, _, ranks, stages in SHAPES]  # GPUs of one copy
FAR = {"G": NODE, "W_node": NICS, "b_w": 2, "C": h100.bf16}


def picked(*names: str, **more) -> list[dict]:
    """Those inputs of the three runs, and more."""
    return [{name: size[name] for name in names} | more for size in SIZES]


TOKENS = n_seq * S / N_gpu
GROUP = sympy.Max(Y * N_stages, G)
LEAST = tp.relaxed_dp_limit.approx.subs(Y, GROUP)
SPAN = "{Y}-way tensor and {N_stages}-way pipeline parallelism"
ROUND = h100.bf16 / NICS  # tokens that a copy on one node needs; the source rounds what two and eight nodes need
ONE, TWO, EIGHT = (
    claim(key).published for key in ("scaling-book-gpus:Q5.3-2472", "gpus:Q5.3f", "gpus:Q5.3g")
)  # tokens of a GPU if a copy is on one, two, eight nodes, by the source

megatron_parts = [
    Question(
        heading="4. Three published Megatron runs",
        ask="NVIDIA ran Megatron on {N_gpu} GPUs with batches of {n_seq} sequences of {S} tokens. How many tokens per GPU "
        "is that?",
        answer=TOKENS,
        unit="1",
        exact=True,
        noun="tokens",
        given=picked("N_gpu", "n_seq", "S"),
        mistakes={"That is the whole batch.": n_seq * S},
        remark="The variants are models of 16, 70 and 314 billion parameters.",
        fixed="published runs",
    ),
    Question(
        f"How many GPUs does one copy of the model use with {SPAN}?",
        answer=Y * N_stages,
        unit="1",
        exact=True,
        noun="GPUs",
        given=picked("Y", "N_stages"),
        mistakes={"Each stage is sharded over its own GPUs: multiply the two degrees.": Y + N_stages},
    ),
    Question(
        f"How many tokens per GPU does the backward pass need to hide the gradients of many copies, with {SPAN}? Weights "
        "and gradients are in bf16, on H100s in nodes of {G}.",
        answer=LEAST,
        unit="1",
        tolerance=0.01,
        given=picked("Y", "N_stages", b_grad=2, **FAR),
        mistakes={
            **both_directions(W_node),
            "That divides by the GPUs of a copy; divide by its nodes.": LEAST / G,
            f"The source rounds to about {TWO:,.0f} for a copy on two nodes. Half of the threshold for one node is "
            "more.": result_times(TWO / (ROUND / 2)),
            f"The source rounds to about {EIGHT:,.0f} for a copy on eight nodes. An eighth of the threshold for one node "
            "is more.": result_times(EIGHT / (ROUND / 8)),
        },
        hint="Find the threshold for a copy on one node, then divide it by the nodes of a copy.",
        solution=[
            ((b_w + b_grad) * C / (4 * flop * W_node), "the threshold if each node holds one copy or several"),
            (LEAST, "a copy on several nodes shards its gradients over all their NICs"),
        ],
        remark=f"With {SPANS[0]} GPUs per copy, the source has {ONE:,.0f}. With {SPANS[1]}, it has about {TWO:,.0f}. With "
        f"{SPANS[2]}, it has about {EIGHT:,.0f}.",
        fixed="the variants of the source",
    ),
    Question(
        f"What limits the run on {{N_gpu}} H100s with {{n_seq}} sequences of {{S}} tokens and {SPAN} in bf16?",
        given=picked("N_gpu", "n_seq", "S", "Y", "N_stages", b_grad=2, **FAR),
        choices=[
            ("compute", "Each GPU has more tokens than it needs.", TOKENS > LEAST),
            (
                "the network, which sends the gradients",
                "Compare the tokens per GPU with the threshold.",
                TOKENS <= LEAST,
            ),
        ],
    ),
    Question(
        f"Suppose the gradients are reduced in fp32, and the weights stay in bf16. How many tokens per GPU are needed to "
        f"hide them with {SPAN} on nodes of {{G}} H100s?",
        answer=LEAST,
        unit="1",
        tolerance=0.01,
        given=picked("Y", "N_stages", b_grad=4, **FAR)[1:],
        mistakes={
            "That is for gradients in bf16.": {b_grad: 2},
            **both_directions(W_node),
            "Only the gradients are in fp32; the all-gather of the weights is in bf16.": {b_grad: 4, b_w: 4},
        },
        hint="The gradients now have four bytes each, the weights still two.",
        remark="The 70B model has 2,048 tokens per GPU, which is only a little more.",
        fixed="the models of the source",
    ),
    Question(
        'Find the error. "The smallest model is sharded over 4 of the 8 GPUs of a node, so its gradients take a quarter '
        'of the time between nodes." What is wrong?',
        choices=[
            ("Gradients never leave a node.", "The copies are in 24 nodes, which have to exchange gradients.", False),
            (
                "The node holds two copies of the model. It adds up their gradients and sends all of them through the "
                "same NICs.",
                "Only a copy that spans several nodes has more NICs than one node.",
                True,
            ),
            ("It takes an eighth.", "A node sends as much as before: the gradients of the whole model.", False),
        ],
    ),
]
