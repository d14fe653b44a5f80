"""Quiz 5, its parts on memory, on the time of a run, and on Megatron's three runs."""

import sympy

from gpuscale import chip, show
from gpuscale.ledger import claim
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm import training_compute as compute
from gpuscale.llm import training_memory as memory
from gpuscale.quiz import Question, both_directions, result_times, with_sparsity
from gpuscale.specs import part
from gpuscale.symbols import (
    D_1,
    MFU,
    W_2,
    B,
    C,
    N_gpu,
    N_stages,
    P,
    P_act,
    S,
    S_level,
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
KEPT = "{b_w} a parameter for weights, {b_grad} for gradients, {b_opt} for the optimizer"
STORED = [{"P": 70e9, **kept} for kept in RECIPES]
HELD = [{**kept, "S_level": h100.hbm} for kept in STORED]
NODES = sympy.ceiling(memory.zero3_gpus.rhs / D_1)

memory_parts = [
    Question(
        heading="2. How to train Llama 3 70B: memory and time",
        ask=f"A model has {{P}} parameters. Count {KEPT}. How much is that in all?",
        answer=memory.replicated_state,
        given=STORED,
        tolerance=0.01,
        mistakes={
            "That is the optimizer alone.": P * b_opt,
            "That is what the passes use; the optimizer comes on top.": P * (b_w + b_grad),
        },
        solution=memory.replicated_state,
        remark="Ten bytes, as in the source, are weights and two fp32 moments. A master copy makes it 14, gradients "
        "in bf16 16.",
    ),
    Question(
        f"How many H100s of {{S_level}} are needed at least to hold it ({{P}} parameters, {KEPT})?",
        answer=memory.zero3_gpus,
        exact=True,
        noun="GPUs",
        given=HELD,
        mistakes={
            "That holds the optimizer alone.": sympy.ceiling(P * b_opt / S_level),
            "That holds the weights alone.": sympy.ceiling(P * b_w / S_level),
        },
        solution=[
            (P * (b_w + b_grad + b_opt) / S_level, "all of it, cut evenly"),
            (memory.zero3_gpus.rhs, "whole GPUs; activations need room as well"),
        ],
    ),
    Question(
        f"And how many nodes of {{D_1}} such GPUs ({{P}} parameters, {KEPT}; {{S_level}} in a GPU)?",
        answer=NODES,
        unit="1",
        exact=True,
        noun="nodes",
        given=[{**held, "D_1": NODE} for held in HELD],
        mistakes={"What is left over needs a node of its own.": sympy.floor(memory.zero3_gpus.rhs / D_1)},
        solution=[(memory.zero3_gpus.rhs / D_1, "GPUs over GPUs of a node"), (NODES, "whole nodes")],
    ),
    Question(
        f'Find the error. "Training a 70B model takes {show(claim("gpus:Q5.2.1a").published, "B")}: two bytes for a '
        'weight in bf16, eight for Adam." What does mixed-precision training usually keep beside these?',
        choices=[
            ("the activations of the last step", "They are freed in the backward pass, and are no state.", False),
            ("an fp32 copy of the weights, and the gradients", "Four bytes and two or four: 16 to 18 in all.", True),
            ("a third moment", "Adam has two: the mean of the gradients and of their squares.", False),
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
        "How many operations does it take to train {P_act} parameters on {B} tokens? Leave attention out.",
        answer=compute.training_flops,
        given=WORK,
        tolerance=0.01,
        mistakes={
            "That is the forward pass.": FORWARD,
            "That is the backward pass.": 2 * FORWARD,
            "That runs the forward pass twice, which full recomputation would do.": compute.recompute_flops,
        },
        solution=[
            (FORWARD, "forward: a product and a sum for each parameter"),
            (compute.training_flops.rhs, "backward: twice as much"),
        ],
    ),
    Question(
        "{N_gpu} H100s of {C} work at {MFU} of their peak. How many operations do they do in a second?",
        answer=PEAK,
        unit="FLOP/s",
        given=CLUSTER,
        tolerance=0.01,
        mistakes={"That is their peak.": N_gpu * C, **with_sparsity(C)},
    ),
    Question(
        "How long does the run take ({P_act} parameters, {B} tokens, {N_gpu} GPUs of {C} at {MFU} of their peak)?",
        answer=RUN_TIME,
        unit="days",
        given=WORK | CLUSTER,
        tolerance=0.01,
        mistakes={
            "That is at the peak itself.": RUN_TIME * MFU,
            "That is the forward pass.": RUN_TIME / 3,
            **with_sparsity(C),
        },
        solution=[(compute.training_flops.rhs, "the work"), (RUN_TIME, "over what the GPUs do in a second")],
    ),
    Question(
        "How many GPU-seconds does one token take, with {P_act} parameters on GPUs of {C} that reach {MFU} of their "
        "peak?",
        answer=6 * flop * P_act / (C * MFU),
        unit="s",
        tolerance=0.01,
        given={"P_act": 70e9, "C": h100.bf16, "MFU": 0.45},
        mistakes={
            "That is the forward pass.": 2 * flop * P_act / (C * MFU),
            "That is at the peak itself.": 6 * flop * P_act / C,
        },
        remark="More GPUs shorten the run; they do not make it cheaper.",
    ),
]

# Megatron's runs: GPUs, sequences in a batch, tensor-parallel ranks, stages
SHAPES = ((192, 192, 4, 1), (768, 384, 8, 2), (3072, 1536, 8, 8))
SIZES = [{"N_gpu": N, "n_seq": n, "S": 4096, "Y": Y, "N_stages": p} for N, n, Y, p in SHAPES]
FAR = {"D_1": NODE, "W_2": NICS, "b_w": 2, "C": h100.bf16}


def picked(*names: str, **more) -> list[dict]:
    """Those inputs of the three runs, and more."""
    return [{name: size[name] for name in names} | more for size in SIZES]


TOKENS = n_seq * S / N_gpu
GROUP = sympy.Max(Y * N_stages, D_1)
LEAST = tp.relaxed_dp_limit.approx.subs(Y, GROUP)
SPAN = "{Y}-way tensor and {N_stages}-way pipeline parallelism"
ROUND = h100.bf16 / NICS  # tokens that a copy on one node needs; the source rounds what two and eight nodes need
ONE, TWO, EIGHT = (
    claim(key).published for key in ("scaling-book-gpus:Q5.3-2472", "gpus:Q5.3f", "gpus:Q5.3g")
)  # tokens of a GPU if a copy is on one, two, eight nodes, by the source

megatron_parts = [
    Question(
        heading="4. Three published runs",
        ask="Megatron trained a model on {N_gpu} GPUs with batches of {n_seq} sequences of {S} tokens. How many "
        "tokens has each GPU in a step?",
        answer=TOKENS,
        unit="1",
        exact=True,
        noun="tokens",
        given=picked("N_gpu", "n_seq", "S"),
        mistakes={"That is the whole batch.": n_seq * S},
        remark="The variants are models of 16, 70 and 314 billion parameters.",
    ),
    Question(
        f"Over how many GPUs is one copy of the model spread, with {SPAN}?",
        answer=Y * N_stages,
        unit="1",
        exact=True,
        noun="GPUs",
        given=picked("Y", "N_stages"),
        mistakes={"Each stage is cut as well: the two multiply.": Y + N_stages},
    ),
    Question(
        f"From how many tokens per GPU on does the backward pass hide the gradients between the copies, with {SPAN}? "
        "Nodes have {D_1} GPUs of {C} and send {W_2}; weights and gradients take {b_w} and {b_grad}; take many copies.",
        answer=LEAST,
        unit="1",
        tolerance=0.01,
        given=picked("Y", "N_stages", b_grad=2, **FAR),
        mistakes={
            **both_directions(W_2),
            "What counts is how many nodes a copy spans, not how many GPUs.": LEAST / D_1,
            f"The source rounds to about {TWO:,.0f} for a copy on two nodes. Half of what one node needs is "
            "more.": result_times(TWO / (ROUND / 2)),
            f"The source rounds to about {EIGHT:,.0f} for a copy on eight nodes. An eighth of what one node needs is "
            "more.": result_times(EIGHT / (ROUND / 8)),
        },
        solution=[
            ((b_w + b_grad) * C / (4 * flop * W_2), "as if each node held a copy of its own, or several"),
            (LEAST, "a copy on several nodes cuts its gradients over all their NICs"),
        ],
        remark=f"The source says about {TWO:,.0f} and {EIGHT:,.0f} for the larger two, and {ONE:,.0f} for the smallest.",
    ),
    Question(
        f"What bounds such a run: {{N_gpu}} GPUs of {{C}}, {{n_seq}} sequences of {{S}} tokens, {SPAN} on nodes of "
        "{D_1} that send {W_2}, {b_w} and {b_grad} for a weight and its gradient?",
        given=picked("N_gpu", "n_seq", "S", "Y", "N_stages", b_grad=2, **FAR),
        choices=[
            ("the arithmetic", "Each GPU has more tokens than it needs.", TOKENS > LEAST),
            ("the gradients on the network", "Compare the tokens of a GPU with what it needs.", TOKENS <= LEAST),
        ],
    ),
    Question(
        f"Suppose the gradients are reduced in fp32. From how many tokens on are they hidden then, with {SPAN} (nodes "
        "of {D_1} GPUs of {C}, {W_2} out of a node, weights of {b_w}, gradients of {b_grad})?",
        answer=LEAST,
        unit="1",
        tolerance=0.01,
        given=picked("Y", "N_stages", b_grad=4, **FAR)[1:],
        mistakes={
            "That is for gradients in bf16.": {b_grad: 2},
            **both_directions(W_2),
            "Only the gradients are in fp32; the weights come back in bf16.": {b_grad: 4, b_w: 4},
        },
        remark="For the model of 70 billion that is close to the 2,048 it has: little is left over.",
    ),
    Question(
        'Find the error. "The smallest model is cut over 4 of the 8 GPUs of a node, so its gradients take a quarter '
        'of the time between the nodes." What is wrong?',
        choices=[
            ("Gradients never leave a node.", "The copies are in 24 nodes.", False),
            (
                "The node holds two copies of the model, which add up inside; then all of it leaves through the same "
                "NICs.",
                "Only a copy that spans several nodes has more NICs than a node.",
                True,
            ),
            ("It is an eighth.", "A node sends as much as before: the gradients of the whole model.", False),
        ],
    ),
]
