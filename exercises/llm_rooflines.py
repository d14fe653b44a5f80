"""Quiz 5: rooflines of language models. Every part, after the quiz of "How to Scale Your Model", errors corrected."""

from gpuscale_exercises._llm_rooflines_runs import (
    NICS,
    NODE,
    RECIPES,
    h100,
    megatron_parts,
    memory_parts,
    time_parts,
)

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import tensor_parallel as tp
from gpuscale.llm import training_memory as memory
from gpuscale.quiz import Question, QuestionSet, bits_for_bytes, both_directions, result_times, with_sparsity
from gpuscale.symbols import (
    B,
    C,
    C_ref,
    F,
    G,
    N_gpu,
    N_stages,
    P,
    S_level,
    W,
    W_coll,
    W_node,
    X,
    Y,
    b,
    b_grad,
    b_w,
    flop,
    n_mat,
)
from gpuscale.units import TFLOP

b200, llama = chip("b200_sxm"), model("llama3_70b")
FAST, SLOW = {"C": b200.bf16}, {"C": h100.bf16}
FAR = {"W_coll": NICS}

blackwell = [
    Question(
        heading="1. The rooflines of a B200",
        ask="How many times as many dense bf16 FLOP/s does a B200 have as an H100 SXM?",
        answer=C / C_ref,
        unit="1",
        given=FAST | {"C_ref": h100.bf16},
        tolerance=0.004,
        mistakes={
            f"That is the published number, {b200.bf16 / TFLOP:,.0f} over a round 1,000: the peak of an H100 is a little "
            "lower.": result_times(claim("gpus:Q5.1a").published * h100.bf16 / b200.bf16),
            **with_sparsity(C),
        },
        hint="Both dense peak rates are in the hardware tables.",
    ),
    Question(
        "How many FLOPs can a GPU do in the time in which one byte reaches it over NVLink? Its peak is {C}, its NVLink "
        "bandwidth {W} in one direction.",
        answer=C / W,
        unit="FLOP/B",
        tolerance=0.01,
        given=[FAST | {"W": b200.nvlink_bw}, SLOW | {"W": h100.nvlink_bw}],
        mistakes={**both_directions(W), **with_sparsity(C)},
        remark="From the H100 to the B200 this changes little, because the NVLink bandwidth has doubled as well.",
    ),
    Question(
        "Tensor parallelism can shard an MLP of width F over about F W/C GPUs of a node. How does that number change if "
        "you replace H100s by B200s?",
        choices=[
            ("It doubles, as the bandwidth does.", "The peak FLOP/s have grown as well.", False),
            ("It falls a little.", "The peak FLOP/s have grown a little more than the bandwidth.", True),
            (
                "It falls by more than half.",
                "The bandwidth has doubled, and the peak FLOP/s have not even tripled.",
                False,
            ),
        ],
    ),
    Question(
        "GPUs with a peak of {C} are in nodes whose NICs have {W_coll} together. How many tokens per GPU does the backward pass need to hide "
        "the all-reduce of bf16 gradients between the nodes?",
        answer=dp.seen_dp_threshold,
        tolerance=0.01,
        given=[FAST | FAR | {"b_grad": 2}, SLOW | FAR | {"b_grad": 2}],
        mistakes={
            **both_directions(W_coll),
            **bits_for_bytes(W_coll),
            "That compares with the forward pass; the backward pass has twice as many FLOPs.": 2
            * dp.seen_dp_threshold.rhs,
        },
        solution=[
            (4 * flop * B * F * X / C, "the backward pass of B tokens through one matrix of F by X: two matmuls"),
            (2 * b_grad * F * X / W_coll, "the all-reduce of its gradients: a reduce-scatter and an all-gather"),
            (dp.seen_dp_threshold.rhs, "the B at which both take equally long"),
        ],
        hint="Set the time of the backward pass through one matrix equal to the time of the all-reduce of its gradients.",
        remark=f"For an H100 the scaling book has {claim('scaling-book-gpus:DP-TAKE-h100').published:,.0f}. A B200 with the "
        "same NICs needs more than twice as many.",
    ),
    Question(
        "How many tokens per GPU does a B200 need behind NICs of {W_coll} per node, if the gradients are reduced in fp32?",
        answer=dp.seen_dp_threshold,
        tolerance=0.01,
        given=FAST | FAR | {"b_grad": 4},
        mistakes={"That is for bf16; fp32 gradients have twice as many bytes.": {b_grad: 2}},
        hint="The gradients now have four bytes each, and the peak of the matmuls does not change.",
    ),
]

RULE = tp.tp_limit.approx
WIDE = SLOW | {"F": llama.d_ff, "W": h100.nvlink_bw, "b": 2}
OLD = round(llama.d_ff / claim("gpus:Q5.2.3b").published)  # FLOP a byte in the source's quiz, from its first draft
CUT = "{b_w}, {b_grad} and {b_opt} per parameter for weights, gradients and optimizer state"
STATE = memory.replicated_state.rhs / Y
STAGED = STATE / N_stages

in_the_node = [
    Question(
        heading="3. Training Llama 3 70B: which parallelism?",
        ask="You train Llama 3 70B in bf16 on 4,096 H100s with batches of 4 million tokens. First consider tensor "
        "parallelism inside a node, and count the MLP as {n_mat} matrices. Over how many GPUs can you shard it before "
        "communication takes longer than compute? Take the rule for wide MLPs.",
        answer=RULE,
        tolerance=0.01,
        given=WIDE | {"n_mat": 2},
        mistakes={
            f"That is F/{OLD}, the published answer; {OLD:,} belongs to a peak of {OLD * h100.nvlink_bw / TFLOP:.0f} "
            "TFLOP/s from an older draft.": result_times(h100.bf16 / h100.nvlink_bw / OLD),
            "That is the exact limit, which is 1 more.": tp.tp_limit,
            **both_directions(W),
        },
        hint="Compare F, the feed-forward width of the model, with C/W, the FLOPs per byte over NVLink. All three are in "
        "the tables.",
        solution=[(n_mat * flop * F * W / (b * C), "2 n_mat B D F/(Y C) against 2 b B D/W")],
        remark="The eight GPUs of a node are within that limit.",
    ),
    Question(
        "The MLP of Llama 3 70B has {n_mat} matrices of that width. What does the rule say then?",
        answer=RULE,
        tolerance=0.01,
        given=WIDE | {"n_mat": 3},
        mistakes={"That is for two matrices.": {n_mat: 2}, "That is for one.": {n_mat: 1}, **both_directions(W)},
        hint="The third matrix adds FLOPs, but no communication.",
        remark=f"The limit is higher, but a node still has {NODE} GPUs, and the model has "
        f"{model('llama3_70b').kv_heads} key-value heads to shard.",
    ),
    Question(
        "With {Y}-way tensor parallelism on {N_gpu} GPUs, how many copies of the model are there?",
        answer=N_gpu / Y,
        unit="1",
        exact=True,
        noun="copies",
        given={"N_gpu": 4096, "Y": NODE},
        mistakes={"That would be one copy per GPU.": N_gpu + 0},
    ),
    Question(
        f"How much model state does each GPU store under plain data parallelism, if {{P}} parameters are sharded over "
        f"{{Y}} GPUs? Count {CUT}.",
        answer=STATE,
        unit="B",
        tolerance=0.01,
        given=[{"P": 70e9, "Y": NODE} | kept for kept in RECIPES],
        mistakes={
            "That is all of it; each of the Y GPUs stores one shard.": STATE * Y,
            "That leaves out the optimizer state.": P * (b_w + b_grad) / Y,
        },
        solution=[(memory.replicated_state.rhs, "one copy of the model"), (STATE, "on Y GPUs")],
    ),
    Question(
        f"Do {{P}} parameters, sharded over {{Y}} GPUs, fit into HBM of {{S_level}}? Count {CUT}.",
        given=[{"P": 70e9, "Y": NODE, "S_level": size} | RECIPES[0] for size in (h100.hbm, b200.hbm)],
        choices=[
            ("yes", "Compare the model state with the HBM; activations need room as well.", STATE <= S_level),
            (
                "no",
                "Compare the model state with the HBM. If it does not fit, plain data parallelism is ruled out.",
                STATE > S_level,
            ),
        ],
    ),
]

RUN = {"B": 4e6, "N_gpu": 4096}
GATHERED = dp.zero3_backward_threshold.approx
CUT_OVER = tp.relaxed_dp_limit.approx.subs(Y, Y * N_stages)
STAGES = {"Y": NODE, "N_stages": 8, "G": NODE, "W_node": NICS}
BYTES = {"b_w": 2, "b_grad": 2}
SHARE = B / N_gpu

across = [
    Question(
        "A batch of {B} tokens is split over {N_gpu} GPUs. How many tokens per GPU is that?",
        answer=SHARE,
        unit="1",
        tolerance=0.005,
        given=RUN,
        mistakes={"That is per node of eight GPUs.": 8 * SHARE},
        remark="The batch of 4 million tokens is the source's. Meta states it for the 405B model, for the start of the "
        "run.",
    ),
    Question(
        "ZeRO-3 all-gathers the weights again for the backward pass and reduce-scatters the gradients, both in bf16. How "
        "many tokens per GPU does the backward pass need to hide that between H100 nodes?",
        answer=GATHERED,
        unit="1",
        tolerance=0.01,
        given=SLOW | BYTES | {"W": NICS},
        mistakes={
            "That is twice the threshold of plain data parallelism, the published answer. ZeRO-3 sends more, but each "
            "pass hides its own part.": 2 * GATHERED,
            "A step sends 50% more than with plain data parallelism, but the forward pass hides its own part.": 1.5
            * GATHERED,
            **both_directions(W),
        },
        hint="Compare one all-gather and one reduce-scatter with the backward pass. A collective between nodes has the "
        "bandwidth of a node's eight NICs.",
        solution=[
            (4 * flop * B * F * X / C, "the backward pass of B tokens through one matrix of F by X"),
            ((b_w + b_grad) * F * X / W, "one all-gather, one reduce-scatter"),
            (GATHERED, "the B at which both take equally long, the same as for plain data parallelism"),
        ],
        remark="The forward pass has half of the bytes and half of the FLOPs, so its threshold is the same.",
    ),
    Question(
        "What limits ZeRO-3 in bf16 on {N_gpu} H100s with batches of {B} tokens?",
        given=[RUN | SLOW | BYTES | {"W": NICS}, RUN | SLOW | BYTES | {"W": NICS, "B": 16e6}],
        choices=[
            ("compute", "Compare the tokens per GPU with the threshold of the question above.", SHARE > GATHERED),
            ("the network", "Compare the tokens per GPU with the threshold of the question above.", SHARE <= GATHERED),
        ],
    ),
    Question(
        "Now each copy of the model has {N_stages} pipeline stages of {Y} GPUs, on nodes of {G} H100s. What bandwidth do "
        "the NICs of one copy have together, in one direction?",
        answer=W_node * Y * N_stages / G,
        unit="B/s",
        tolerance=0.01,
        given=STAGES,
        mistakes={
            "That is one node.": W_node + 0,
            "That counts a node's NICs once per GPU; the GPUs of a node share them.": W_node * Y * N_stages,
            **both_directions(W_node),
        },
        hint="Count the nodes of one copy; each has eight NICs.",
    ),
    Question(
        "With {N_stages} stages of {Y} GPUs each, how many tokens per GPU are needed to hide the gradients of many copies? "
        "Weights and gradients are in bf16, on H100s in nodes of {G}.",
        answer=CUT_OVER,
        unit="1",
        tolerance=0.01,
        given=STAGES | SLOW | BYTES,
        mistakes={
            "That is without pipeline stages.": {N_stages: 1},
            **both_directions(W_node),
            "The GPUs of a node share its NICs: count nodes, not GPUs.": CUT_OVER / G,
        },
        hint="The gradients of one copy now leave through the NICs of all its nodes.",
        solution=[
            ((b_w + b_grad) * C / (4 * flop * W_node), "the threshold if each copy has one node"),
            (CUT_OVER, "the gradients of a copy are sharded over the NICs of all its nodes"),
        ],
        remark="This compares the exchange with all backward passes of a step. In a pipeline without virtual stages, the "
        "gradients are final only in the last microbatch, so less compute can hide them.",
    ),
    Question(
        f"How much model state does each GPU store for {{P}} parameters in {{N_stages}} stages of {{Y}} GPUs? Count {CUT}; "
        "nothing is sharded over the copies.",
        answer=STAGED,
        unit="B",
        tolerance=0.01,
        given=[{"P": 70e9, "Y": NODE, "N_stages": 8} | kept for kept in RECIPES],
        mistakes={"The model is split over the stages as well.": STATE, "That is all of it.": STATE * Y},
    ),
    Question(
        "Which plan is best for Llama 3 70B on {N_gpu} H100s with batches of {B} tokens?",
        given=RUN,
        choices=[
            (
                "8-way tensor parallelism and plain data parallelism",
                "An eighth of the model state does not fit into the HBM of one GPU.",
                False,
            ),
            ("ZeRO-3 alone", "With so few tokens per GPU it is limited by the network.", False),
            (
                "8-way tensor parallelism, 8 pipeline stages, and data parallelism",
                "It fits, and there are enough tokens per GPU to hide the gradients.",
                True,
            ),
        ],
    ),
]

questions = QuestionSet(
    "llm_rooflines",
    "Quiz 5: LLM rooflines",
    intro="The last quiz of the GPU chapter of *How to Scale Your Model*: three questions in several parts, here in four "
    "groups and with a few extra parts. Where the source has an error, the answer here is corrected. The numbers of the "
    "chips and models are in the [hardware tables](../chapters/hardware_tables.ipynb). The questions cover [Training "
    "memory](../chapters/training_memory.ipynb), [Data parallelism and ZeRO](../chapters/data_parallelism.ipynb), "
    "[Tensor parallelism](../chapters/tensor_parallelism.ipynb) and [Pipeline parallelism]"
    "(../chapters/pipeline_parallelism.ipynb).",
    questions=[*blackwell, *memory_parts, *time_parts, *in_the_node, *across, *megatron_parts],
)
