"""Quiz 5: rooflines of language models. Every part, after the quiz of "How to Scale Your Model", slips put right."""

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
    D_1,
    W_2,
    B,
    C,
    C_ref,
    F,
    N_gpu,
    N_stages,
    P,
    S_level,
    W,
    W_coll,
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
        heading="1. The same rooflines on a B200",
        ask="An H100 reaches {C_ref} in bf16, a B200 {C}, both dense. How many times as many operations does the B200 "
        "do in a second?",
        answer=C / C_ref,
        unit="1",
        given=FAST | {"C_ref": h100.bf16},
        tolerance=0.004,
        mistakes={
            f"That is the printed number, {b200.bf16 / TFLOP:,.0f} over a round 1,000: the H100 reaches a little "
            "less.": result_times(claim("gpus:Q5.1a").published * h100.bf16 / b200.bf16),
            **with_sparsity(C),
        },
    ),
    Question(
        "How many operations can a GPU do while a byte reaches it over NVLink? Its peak is {C}, its bandwidth {W}, one "
        "way.",
        answer=C / W,
        unit="FLOP/B",
        tolerance=0.01,
        given=[FAST | {"W": b200.nvlink_bw}, SLOW | {"W": h100.nvlink_bw}],
        mistakes={**both_directions(W), **with_sparsity(C)},
        remark="From the H100 to the B200 little changes inside a node: the bandwidth has doubled, too.",
    ),
    Question(
        "An MLP of width F can be cut over about F W/C GPUs of a node. What becomes of that number when B200s take the "
        "place of H100s?",
        choices=[
            ("It doubles, with the bandwidth.", "The arithmetic has become faster too.", False),
            ("It falls a little.", "The arithmetic has grown a little more than the bandwidth.", True),
            ("It falls by more than half.", "The bandwidth has doubled, and the arithmetic not even tripled.", False),
        ],
    ),
    Question(
        "Beyond the node a collective sees {W_coll}. From how many tokens per GPU on, at {C}, does the backward pass "
        "hide the all-reduce of gradients of {b_grad} each?",
        answer=dp.seen_dp_threshold,
        tolerance=0.01,
        given=[FAST | FAR | {"b_grad": 2}, SLOW | FAR | {"b_grad": 2}],
        mistakes={
            **both_directions(W_coll),
            **bits_for_bytes(W_coll),
            "That is against the forward pass: the backward pass does twice as much.": 2 * dp.seen_dp_threshold.rhs,
        },
        solution=[
            (4 * flop * B * F * X / C, "the backward pass of B tokens through one matrix of F by X: two products"),
            (2 * b_grad * F * X / W_coll, "its gradients: a reduce-scatter and an all-gather"),
            (dp.seen_dp_threshold.rhs, "B, where the two are equal"),
        ],
        remark=f"On an H100 these are the well-known {claim('scaling-book-gpus:DP-TAKE-h100').published:,.0f}. A B200 with the same NICs needs more than twice as many.",
    ),
    Question(
        "How many are needed if the gradients are reduced in fp32, {b_grad} each ({C}, {W_coll})?",
        answer=dp.seen_dp_threshold,
        tolerance=0.01,
        given=FAST | FAR | {"b_grad": 4},
        mistakes={"That is for bf16: twice the bytes take twice as long.": {b_grad: 2}},
    ),
]

RULE = tp.tp_limit.approx
WIDE = SLOW | {"F": llama.d_ff, "W": h100.nvlink_bw, "b": 2}
OLD = round(llama.d_ff / claim("gpus:Q5.2.3b").published)  # FLOP a byte in the source's quiz, from its first draft
CUT = "{b_w}, {b_grad} and {b_opt} a parameter for weights, gradients and optimizer"
STATE = memory.replicated_state.rhs / Y
STAGED = STATE / N_stages

in_the_node = [
    Question(
        heading="3. How to train Llama 3 70B: which parallelism",
        ask="4,096 GPUs, batches of 4 million tokens. First tensor parallelism: count the MLP as {n_mat} matrices of "
        "width {F}, elements of {b}, {C} and {W}, one way. Up to how many GPUs of a node does the arithmetic hide "
        "the communication? Take the rule for wide MLPs.",
        answer=RULE,
        tolerance=0.01,
        given=WIDE | {"n_mat": 2},
        mistakes={
            f"That is F/{OLD}, as printed: {OLD:,} belongs to a peak of {OLD * h100.nvlink_bw / TFLOP:.0f} TFLOP/s, of an "
            "older draft.": result_times(h100.bf16 / h100.nvlink_bw / OLD),
            "That is the exact limit, which is 1 more.": tp.tp_limit,
            **both_directions(W),
        },
        solution=[(n_mat * flop * F * W / (b * C), "2 n_mat B D F/(Y C) against 2 b B D/W")],
        remark="So the eight GPUs of a node are within the limit.",
    ),
    Question(
        "Llama's MLP has {n_mat} matrices of that width. What does the rule say then (width {F}, elements of {b}, {C}, "
        "{W} one way)?",
        answer=RULE,
        tolerance=0.01,
        given=WIDE | {"n_mat": 3},
        mistakes={"That is for two matrices.": {n_mat: 2}, "That is for one.": {n_mat: 1}, **both_directions(W)},
        remark=f"More, but a node still has {NODE} GPUs; and there are {model('llama3_70b').kv_heads} key heads to "
        "share out.",
    ),
    Question(
        "With {Y}-way tensor parallelism on {N_gpu} GPUs, how many copies of the model are there?",
        answer=N_gpu / Y,
        unit="1",
        exact=True,
        noun="copies",
        given={"N_gpu": 4096, "Y": NODE},
        mistakes={"That is a copy on each GPU.": N_gpu + 0},
    ),
    Question(
        f"How much does each GPU store under plain data parallelism, with {{P}} parameters cut over {{Y}} GPUs and "
        f"{CUT}?",
        answer=STATE,
        unit="B",
        tolerance=0.01,
        given=[{"P": 70e9, "Y": NODE} | kept for kept in RECIPES],
        mistakes={
            "Each of the Y GPUs stores its part.": STATE * Y,
            "That leaves out the optimizer.": P * (b_w + b_grad) / Y,
        },
        solution=[(memory.replicated_state.rhs, "one copy of the model"), (STATE, "on Y GPUs")],
    ),
    Question(
        f"Does that fit into {{S_level}} ({{P}} parameters over {{Y}} GPUs, {CUT})?",
        given=[{"P": 70e9, "Y": NODE, "S_level": size} | RECIPES[0] for size in (h100.hbm, b200.hbm)],
        choices=[
            ("yes", "Compare the two; activations come on top.", STATE <= S_level),
            ("no", "So plain data parallelism is out, however fast it may be.", STATE > S_level),
        ],
    ),
]

RUN = {"B": 4e6, "N_gpu": 4096}
GATHERED = dp.zero3_backward_threshold.approx
CUT_OVER = tp.relaxed_dp_limit.approx.subs(Y, Y * N_stages)
STAGES = {"Y": NODE, "N_stages": 8, "D_1": NODE, "W_2": NICS}
BYTES = {"b_w": 2, "b_grad": 2}
SHARE = B / N_gpu

across = [
    Question(
        "How many tokens has each GPU, if {N_gpu} GPUs share a batch of {B} tokens?",
        answer=SHARE,
        unit="1",
        tolerance=0.005,
        given=RUN,
        mistakes={"That is for a node of eight.": 8 * SHARE},
        remark="The batch of 4 million is the source's. Meta gives it for 405B, and only for the start of the run.",
    ),
    Question(
        "Now ZeRO-3: weights of {b_w} are gathered again for the backward pass, gradients of {b_grad} scattered. From "
        "how many tokens per GPU on does the backward pass hide that, at {C}, if a collective sees {W}?",
        answer=GATHERED,
        unit="1",
        tolerance=0.01,
        given=SLOW | BYTES | {"W": NICS},
        mistakes={
            "That is twice the limit of plain data parallelism, as printed. More moves, but more is computed beside "
            "it: each pass hides its own part.": 2 * GATHERED,
            "Half as much again moves in a step, but the forward pass hides its own part.": 1.5 * GATHERED,
            **both_directions(W),
        },
        solution=[
            (4 * flop * B * F * X / C, "the backward pass of B tokens through one matrix of F by X"),
            ((b_w + b_grad) * F * X / W, "one all-gather, one reduce-scatter"),
            (GATHERED, "B, where the two are equal: as for plain data parallelism"),
        ],
        remark="In the forward pass half as much moves and half as much is computed.",
    ),
    Question(
        "Which bounds ZeRO-3 on {N_gpu} GPUs with {B} tokens ({C}; a collective sees {W}; {b_w} and {b_grad} a "
        "parameter)?",
        given=[RUN | SLOW | BYTES | {"W": NICS}, RUN | SLOW | BYTES | {"W": NICS, "B": 16e6}],
        choices=[
            ("the arithmetic", "Compare the tokens of a GPU with what it needs.", SHARE > GATHERED),
            ("the network", "Each GPU has fewer tokens than it needs.", SHARE <= GATHERED),
        ],
    ),
    Question(
        "Now {N_stages} pipeline stages of {Y} GPUs each, on nodes of {D_1} that send {W_2}. What do all nodes of one "
        "copy of the model send out together?",
        answer=W_2 * Y * N_stages / D_1,
        unit="B/s",
        tolerance=0.01,
        given=STAGES,
        mistakes={
            "That is one node.": W_2 + 0,
            "What counts is nodes: a node's GPUs share its NICs.": W_2 * Y * N_stages,
            **both_directions(W_2),
        },
    ),
    Question(
        "From how many tokens per GPU on are the gradients hidden then ({N_stages} stages, {Y} GPUs each, nodes of "
        "{D_1}, {W_2} out of a node, {C}, weights and gradients of {b_w} and {b_grad}, many copies)?",
        answer=CUT_OVER,
        unit="1",
        tolerance=0.01,
        given=STAGES | SLOW | BYTES,
        mistakes={
            "That is without stages.": {N_stages: 1},
            **both_directions(W_2),
            "The GPUs of a node share its NICs: count nodes.": CUT_OVER / D_1,
        },
        solution=[
            ((b_w + b_grad) * C / (4 * flop * W_2), "for copies of one node each"),
            (CUT_OVER, "the NICs of all nodes of a copy carry its gradients"),
        ],
        remark="This sets the exchange against all backward passes of a step. In a pipeline the gradients are final "
        "only in the last of them, so less is left to hide behind.",
    ),
    Question(
        f"How much does each GPU store with {{N_stages}} stages of {{Y}} GPUs, {{P}} parameters, and {CUT}? Nothing "
        "is cut over the copies.",
        answer=STAGED,
        unit="B",
        tolerance=0.01,
        given=[{"P": 70e9, "Y": NODE, "N_stages": 8} | kept for kept in RECIPES],
        mistakes={"The stages cut it as well.": STATE, "That is all of it.": STATE * Y},
    ),
    Question(
        "Which of these suits {N_gpu} GPUs of {C} and {B} tokens best, if a node sends {W_2}?",
        given=RUN | SLOW | {"W_2": NICS},
        choices=[
            (
                "8-way tensor parallelism and plain data parallelism",
                "A GPU cannot hold its eighth of the model.",
                False,
            ),
            ("ZeRO-3 alone", "With so few tokens per GPU it waits for the network.", False),
            (
                "8-way tensor parallelism, 8 stages, and data parallelism beside them",
                "It fits, and the gradients are hidden, with tokens to spare.",
                True,
            ),
        ],
    ),
]

questions = QuestionSet(
    "llm_rooflines",
    "Quiz 5: LLM rooflines",
    intro="Three questions in several parts, after the quiz in the GPU chapter of *How to Scale Your Model*, here in "
    "four groups with a few parts more. Where the published answer slips, the answer here is the corrected one. They "
    "cover [Counting a transformer](../chapters/counting_a_transformer.ipynb), [Data parallelism and ZeRO]"
    "(../chapters/data_parallelism.ipynb), [Tensor parallelism](../chapters/tensor_parallelism.ipynb) and [Pipeline "
    "parallelism](../chapters/pipeline_parallelism.ipynb).",
    questions=[*blackwell, *memory_parts, *time_parts, *in_the_node, *across, *megatron_parts],
)
