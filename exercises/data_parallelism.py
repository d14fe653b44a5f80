"""Practice questions on data parallelism and ZeRO."""

from gpuscale import chip, evaluate, model
from gpuscale.ledger import claim
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import training_memory as memory
from gpuscale.network import topology
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import part
from gpuscale.symbols import D_1, W_1, W_2, B, B_min, C, E, P, W, X, b_grad, b_opt, b_w, k

h100, a100, b200 = chip("h100_sxm"), chip("a100_sxm"), chip("b200_sxm")
mixtral = model("mixtral_8x7b")


def recipe(key: str) -> dict:
    """Bytes of a parameter: weights, gradients, optimizer."""
    kept = part("recipe", key)
    optimizer = memory.optimizer_bytes(b_master=kept.master, b_mom=kept.moment)
    return {"b_w": kept.weights, "b_grad": kept.gradients, "b_opt": optimizer}


def nodes(key: str) -> dict:
    """GPUs of a node, bandwidth of a GPU and of a node."""
    low, high = topology(key).tiers[:2]
    return {"D_1": low.degree, "W_1": float(low.child_bw), "W_2": float(high.child_bw)}


adam, wide = recipe("zero_mixed"), recipe("bf16_fp32_grads")
pod = nodes("h100_pod_1024")
turn = 1 / (1 - W_2 * (D_1 - 1) / (D_1 * W_1))


def first(key: str) -> int:
    """The fewest nodes on which the NICs take longer than NVLink."""
    return int(evaluate(turn, **nodes(key))) + 1


questions = QuestionSet(
    "data_parallelism",
    "Data parallelism and ZeRO",
    intro="Questions on what a GPU stores, what it sends, and how many tokens hide it.",
    chapter="data_parallelism",
    questions=[
        Question(
            "Weights take {b_w} a parameter, gradients {b_grad}, the optimizer {b_opt}. How much does a GPU store for "
            "{P} parameters under plain data parallelism?",
            answer=memory.replicated_state,
            given=[{"P": 13e9, **adam}, {"P": 3e9, **wide}],
            mistakes={
                "The gradients have to be stored as well.": P * (b_w + b_opt),
                "That is the optimizer alone.": P * b_opt,
                "That is what the passes need; the optimizer keeps more than both.": P * (b_w + b_grad),
            },
        ),
        Question(
            "The same model of {P} parameters ({b_w}, {b_grad} and {b_opt} for each) under ZeRO-1 on {X} ranks: how "
            "much does each GPU store?",
            answer=memory.zero1_state,
            given={"P": 13e9, "X": 32, **adam},
            mistakes={
                "That is ZeRO-2; under ZeRO-1 the gradients are still whole.": memory.zero2_state,
                "That is ZeRO-3; under ZeRO-1 only the optimizer is cut.": memory.zero3_state,
                "That is without ZeRO.": memory.replicated_state,
            },
        ),
        Question(
            "Give the bytes that a rank stores under ZeRO-2, for P parameters on X ranks.",
            answer=memory.zero2_state,
            symbols=(P, X, b_w, b_grad, b_opt),
            mistakes={
                "Under ZeRO-2 the gradients are cut too.": memory.zero1_state,
                "Under ZeRO-2 every rank still has all weights.": memory.zero3_state,
                "Nothing is cut there.": memory.replicated_state,
            },
        ),
        Question(
            "How many GPUs of {S_level} does it take at least to hold weights, gradients and optimizer of {P} "
            "parameters ({b_w}, {b_grad} and {b_opt} for each) under ZeRO-3?",
            answer=memory.zero3_gpus,
            given={"P": 30e9, "S_level": h100.hbm, **wide},
            exact=True,
            noun="GPUs",
            mistakes={"Without the gradients it would be fewer.": memory.zero3_gpus.rhs.subs(b_grad, 0)},
            hint="Bytes of all parameters over the memory of a GPU, rounded up.",
            remark="A lower bound: activations and buffers come on top.",
        ),
        Question(
            "{X} ranks sum the gradients of {P} parameters, {b_grad} each, around a ring. How many bytes does each "
            "rank send in a step?",
            answer=dp.dp_traffic,
            given=[{"P": 7e9, "X": 8, "b_grad": 2}, {"P": 7e9, "X": 4, "b_grad": 4}],
            mistakes={
                "That is the limit of many ranks.": dp.dp_traffic.approx,
                "That is one pass; an all-reduce makes two.": dp.zero2_traffic.rhs.subs(b_w, 0),
                "That is the size of the gradients.": b_grad * P,
            },
        ),
        Question(
            "Weights and gradients have the same width. Which of these sends the most bytes in a step?",
            given={"P": 7e9, "X": 64, "b_w": 2, "b_grad": 2},
            choices=[
                ("plain data parallelism", "An all-reduce sends the gradients twice.", dp.dp_traffic),
                ("ZeRO-1", "A reduce-scatter and an all-gather: what an all-reduce is made of.", dp.zero2_traffic),
                ("ZeRO-3", "Weights come in twice, gradients go out once: half as much again.", dp.zero3_traffic),
            ],
            pick="largest",
        ),
        Question(
            "A chip does {C}, and {X} of them exchange bf16 gradients ({b_grad} each) at {W}, one way. How many tokens "
            "must each have, so that the exchange hides behind the backward pass? Keep the exact factor.",
            answer=dp.dp_threshold,
            given=[
                {"C": a100.bf16, "W": a100.nvlink_bw, "X": 8, "b_grad": 2},
                {"C": b200.bf16, "W": b200.nvlink_bw, "X": 4, "b_grad": 2},
            ],
            tolerance=0.01,
            mistakes={
                "That is the limit of many ranks.": dp.dp_threshold.approx,
                "The bandwidth given is one way already; do not count both directions.": {"W": 2 * W},
                "That takes the gradients in fp32.": {"b_grad": 4},
            },
        ),
        Question(
            "The NICs of a node carry {W} together, a GPU does {C}, and gradients travel in fp32, {b_grad} an "
            "element. On very many nodes, how many tokens does each GPU need for the NICs to keep up with its "
            "backward pass?",
            answer=dp.dp_threshold.approx,
            given={"C": h100.bf16, "W": pod["W_2"], "b_grad": 4},
            unit="1",
            mistakes={
                "That is for gradients in bf16: twice the bytes need twice the tokens.": C / W,
                "Twice too many: the backward pass has two products for each matrix.": 2 * dp.dp_threshold.approx,
            },
        ),
        Question(
            "How many times as many tokens as a dense layer does a layer of {E} experts need, {k} of them for a token, "
            "when every GPU holds all of them?",
            answer=E / k,
            given=[{"E": mixtral.experts, "k": mixtral.active_experts}, {"E": 64, "k": 4}],
            unit="1",
            mistakes={
                "The arithmetic grows too: k experts work on a token.": E + 0,
                "That is how many times as much arithmetic there is.": k + 0,
            },
            solution=[(dp.moe_dp_threshold.rhs / dp.dp_threshold.rhs, "all experts travel, k of them compute")],
        ),
        Question(
            'Find the error. "Over two nodes each holds half of the gradients already, so {M} nodes of {D_1} H100 need '
            f'{claim("scaling-book-gpus:SX-1237-dp").published:,.0f} tokens for each GPU." '
            "Every GPU has a copy of the model, NVLink carries {W_1} for each GPU, the "
            "NICs {W_2} for each node, a GPU does {C}, gradients take {b_grad}. What is the right number?",
            answer=dp.two_level_dp_threshold,
            given={"M": 2, "C": h100.bf16, "b_grad": 2, **pod},
            tolerance=0.01,
            mistakes={
                "That counts the NICs alone; the same gradients also move inside each node.": dp.dp_threshold.rhs.subs(
                    {X: 2, W: W_2}
                ),
                "That is the limit of many nodes.": C / W_2,
                "That is NVLink without what a GPU holds already.": C / W_1,
            },
            remark="NVLink carries seven eighths of the gradients on any number of nodes. From "
            f"{first('h100_pod_1024')} nodes on the NICs need longer.",
        ),
        Question(
            "An A100 has {W_1} of NVLink, the NICs of its node of {D_1} carry {W_2}. At how many nodes do both "
            "levels need the same time?",
            answer=turn,
            given=nodes("a100_su"),
            unit="1",
            mistakes={
                "Each node's own share counts on both levels: solve (1 - 1/M)/W_2 = (D_1 - 1)/(D_1 W_1).": (
                    1 / (1 - W_2 / W_1)
                ),
                "That is the ratio of the two bandwidths.": W_1 / W_2,
            },
            solution=[((D_1 - 1) / (D_1 * W_1), "NVLink, for each byte"), (turn, "the NICs take as long")],
            remark=f"So on {first('a100_su')} nodes the NICs bind already.",
        ),
        Question(
            'Find the error. "ZeRO-3 moves half as much again, so it needs half as many tokens again." Weights take '
            "{b_w} and gradients {b_grad}. What is its threshold in the backward pass, over that of plain data "
            "parallelism?",
            answer=(b_w + b_grad) / (2 * b_grad),
            given={"b_w": 2, "b_grad": 2},
            unit="1",
            mistakes={
                "That compares all bytes of a step; the weights of the forward pass hide behind that pass.": (
                    (2 * b_w + b_grad) / (2 * b_grad)
                ),
                "That is a published answer; it forgets that there is more arithmetic to hide behind.": (b_w + b_grad)
                / b_grad,
            },
            solution=[
                (b_w + b_grad, "bytes of a parameter that move in the backward pass"),
                (2 * b_grad, "the same under plain data parallelism, behind as much arithmetic"),
                ((b_w + b_grad) / (2 * b_grad), "their ratio"),
            ],
        ),
        Question(
            "A batch of {B} tokens, and every GPU needs {B_min:4} of them. How many GPUs does data parallelism alone "
            "keep busy at most?",
            answer=dp.dp_gpus,
            given={"B": 4e6, "B_min": 2500},
            unit="1",
            noun="GPUs",
            mistakes={"That is the batch that so many GPUs would need.": B * B_min},
        ),
    ],
)
