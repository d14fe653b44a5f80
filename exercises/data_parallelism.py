"""Practice questions on data parallelism and ZeRO."""

from sympy import Eq, Max

from gpuscale import chip, evaluate, model
from gpuscale.ledger import claim
from gpuscale.llm import data_parallel as dp
from gpuscale.llm import training_memory as memory
from gpuscale.network import topology
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import part
from gpuscale.symbols import B, B_min, C, E, G, P, W, W_node, W_nvl, X, b_grad, b_opt, b_w, k
from gpuscale.units import show

h100, a100, b200 = chip("h100_sxm"), chip("a100_sxm"), chip("b200_sxm")
mixtral, llama = model("mixtral_8x7b"), model("llama3_70b")
BIG, MANY = 7.5e9, 1024  # parameters of the example in the paper on ZeRO; GPUs of a pod


def recipe(key: str) -> dict:
    """Bytes per parameter: weights, gradients, optimizer."""
    kept = part("recipe", key)
    optimizer = memory.optimizer_bytes(b_master=kept.master, b_mom=kept.moment)
    return {"b_w": kept.weights, "b_grad": kept.gradients, "b_opt": optimizer}


def nodes(key: str) -> dict:
    """GPUs per node, and the bandwidths of a GPU's NVLink and of a node's NICs."""
    low, high = topology(key).tiers[:2]
    return {"G": low.degree, "W_nvl": float(low.child_bw), "W_node": float(high.child_bw)}


adam, wide = recipe("zero_mixed"), recipe("bf16_fp32_grads")
pod = nodes("h100_pod_1024")
turn = 1 / (1 - W_node * (G - 1) / (G * W_nvl))


def first(key: str) -> int:
    """The fewest nodes on which the NICs take longer than NVLink."""
    return int(evaluate(turn, **nodes(key))) + 1


across = h100.bf16 / pod["W_node"]
two = dp.two_level_dp_threshold(M=2, C=h100.bf16, b_grad=2, **pod)
grown = dp.dp_traffic(P=1, b_grad=2, X=MANY) / dp.dp_traffic(P=1, b_grad=2, X=8)
first_stage = memory.zero1_state(P=BIG, X=64, **adam)
sharded = Max(dp.zero3_forward_threshold.rhs, dp.zero3_backward_threshold.rhs)

questions = QuestionSet(
    "data_parallelism",
    "Data parallelism and ZeRO",
    intro="Questions on the state that a GPU stores, the bytes that it sends, and the tokens that hide them.",
    chapter="data_parallelism",
    questions=[
        Question(
            "Per parameter, weights take {b_w}, gradients {b_grad} and the optimizer {b_opt}. How much training state does "
            "a GPU store for a model of {P} parameters under plain data parallelism?",
            answer=memory.replicated_state,
            given=[{"P": 13e9, **adam}, {"P": 3e9, **wide}],
            mistakes={
                "The gradients have to be stored as well.": P * (b_w + b_opt),
                "That is the optimizer state alone.": P * b_opt,
                "That is what the passes need; the optimizer stores more than both.": P * (b_w + b_grad),
            },
        ),
        Question(
            "A model of {P} parameters trains with the usual recipe: bf16 weights and gradients, Adam in fp32. Under "
            "ZeRO-1 on {X} GPUs, how much training state does each GPU store?",
            answer=memory.zero1_state,
            given={"P": 13e9, "X": 32, **adam},
            hint="The recipe has 2, 2 and 12 bytes per parameter. Which of the three does ZeRO-1 shard?",
            mistakes={
                "That is ZeRO-2; under ZeRO-1 the gradients are still whole.": memory.zero2_state,
                "That is ZeRO-3; under ZeRO-1 only the optimizer state is sharded.": memory.zero3_state,
                "That is without ZeRO.": memory.replicated_state,
            },
        ),
        Question(
            "How many bytes of training state does a GPU store under ZeRO-2? The model has $P$ parameters and runs on $X$ GPUs. "
            r"Per parameter, weights take $b_\mathrm{w}$ bytes, gradients $b_\mathrm{grad}$ and the optimizer $b_\mathrm{opt}$.",
            answer=memory.zero2_state,
            symbols=(P, X, b_w, b_grad, b_opt),
            mistakes={
                "Under ZeRO-2 the gradients are sharded too.": memory.zero1_state,
                "Under ZeRO-2 every GPU still has all weights.": memory.zero3_state,
                "Nothing is sharded there.": memory.replicated_state,
            },
        ),
        Question(
            "A model of {P} parameters trains under ZeRO-3, with bf16 weights, fp32 gradients and Adam in fp32. What is "
            "the smallest number of H100s that can hold the training state?",
            answer=memory.zero3_gpus,
            given={"P": 30e9, "S_level": h100.hbm, **wide},
            exact=True,
            noun="GPUs",
            mistakes={"That leaves out the gradients.": memory.zero3_gpus.rhs.subs(b_grad, 0)},
            hint="The recipe has 2, 4 and 12 bytes per parameter. Divide the total by the memory of an H100 and round up.",
            remark="A lower bound: activations and buffers come on top.",
        ),
        Question(
            "{X} GPUs train a model of {P} parameters with plain data parallelism. Each gradient has {b_grad}, and the "
            "all-reduce is a ring. How many bytes does each GPU send per step?",
            answer=dp.dp_traffic,
            given=[{"P": 7e9, "X": 8, "b_grad": 2}, {"P": 7e9, "X": 4, "b_grad": 4}],
            mistakes={
                "That is the limit of many GPUs.": dp.dp_traffic.approx,
                "That is one pass around the ring; an all-reduce makes two.": dp.zero2_traffic.rhs.subs(b_w, 0),
                "That is the size of the gradients.": b_grad * P,
            },
        ),
        Question(
            "Weights and gradients have the same number format. Which of these sends the most bytes per step?",
            given={"P": 7e9, "X": 64, "b_w": 2, "b_grad": 2},
            choices=[
                ("plain data parallelism", "An all-reduce sends the gradients twice.", dp.dp_traffic),
                (
                    "ZeRO-1",
                    "It sends a reduce-scatter and an all-gather, which together are an all-reduce.",
                    dp.zero2_traffic,
                ),
                ("ZeRO-3", "Three passes around the ring: the weights twice, the gradients once.", dp.zero3_traffic),
            ],
            pick="largest",
        ),
        Question(
            "{X} A100 SXM in one node train with plain data parallelism and bf16 gradients. How many tokens per GPU hide "
            "the all-reduce behind the backward pass? Use the exact form.",
            answer=dp.dp_threshold,
            given=[
                {"C": a100.bf16, "W": a100.nvlink_bw, "X": 8, "b_grad": 2},
                {"C": a100.bf16, "W": a100.nvlink_bw, "X": 4, "b_grad": 2},
            ],
            hint="You need the bf16 peak of an A100 and its NVLink bandwidth in one direction (hardware tables).",
            tolerance=0.01,
            mistakes={
                "That is the limit of many GPUs.": dp.dp_threshold.approx,
                "The threshold takes the bandwidth in one direction.": {"W": 2 * W},
                "That is for gradients in fp32.": {"b_grad": 4},
            },
            vary={X: (2, 4, 8)},
        ),
        Question(
            "A run on very many nodes of 8 H100 SXM all-reduces its gradients in fp32. How many tokens per GPU hide the "
            "all-reduce behind the backward pass?",
            answer=dp.dp_threshold.approx,
            given={"C": h100.bf16, "W": pod["W_node"], "b_grad": 4},
            unit="1",
            hint="The eight NICs of a node share the gradients of its GPUs. How many bytes does an fp32 gradient have?",
            mistakes={
                "That is for gradients in bf16: twice the bytes need twice the tokens.": C / W,
                "Twice too many: the backward pass has two matmuls per weight matrix.": 2 * dp.dp_threshold.approx,
            },
        ),
        Question(
            "An MoE layer has {E} experts, and each token uses {k} of them. Every GPU holds all experts. By what factor "
            "does the threshold of data parallelism exceed that of a dense layer?",
            answer=E / k,
            given=[{"E": mixtral.experts, "k": mixtral.active_experts}, {"E": 64, "k": 4}],
            unit="1",
            mistakes={
                "The arithmetic grows too: k experts work on a token.": E + 0,
                "That is the factor by which the arithmetic grows.": k + 0,
            },
            solution=[
                (
                    dp.moe_dp_threshold.rhs / dp.dp_threshold.rhs,
                    "the gradients of all experts travel, k experts compute",
                )
            ],
        ),
        Question(
            'Find the error. "With two nodes, each node holds half of the summed gradients already, so {M} nodes of {G} '
            f'H100 SXM need only {claim("scaling-book-gpus:SX-1237-dp").published:,.0f} tokens per GPU." '
            "Every GPU has a copy of the model, and gradients are in bf16. What is the right number?",
            answer=dp.two_level_dp_threshold,
            given={"M": 2, "C": h100.bf16, "b_grad": 2, **pod},
            tolerance=0.01,
            hint="Compute the threshold of each link: all NICs of a node, and the NVLink of a GPU. The larger one counts.",
            mistakes={
                "That counts the NICs alone; the same gradients also move inside each node.": dp.dp_threshold.rhs.subs(
                    {X: 2, W: W_node}
                ),
                "That is the limit of many nodes.": C / W_node,
                "That is NVLink without the part that a GPU holds already.": C / W_nvl,
            },
            remark="NVLink carries seven eighths of the gradients on any number of nodes. On "
            f"{first('h100_pod_1024')} nodes or more, the NICs take longer.",
        ),
        Question(
            "A node has {G} A100 SXM. Its NICs carry {W_node} together, and each GPU has {W_nvl} of NVLink. At how many nodes "
            "do NICs and NVLink take equally long for the gradients? (The answer need not be whole.)",
            answer=turn,
            given=nodes("a100_su"),
            unit="1",
            mistakes={
                "On both links, the part that is already there does not move. Solve (1 - 1/M)/W_node = (G - 1)/(G W_nvl).": (
                    1 / (1 - W_node / W_nvl)
                ),
                "That is the ratio of the two bandwidths.": W_nvl / W_node,
            },
            solution=[((G - 1) / (G * W_nvl), "NVLink, per byte"), (turn, "the NICs take as long")],
            remark="On more nodes the NICs are the bottleneck.",
        ),
        Question(
            'Find the error. "ZeRO-3 sends 1.5 times as many bytes, so it needs 1.5 times as many tokens." Weights take '
            "{b_w} and gradients {b_grad}. Divide its threshold in the backward pass by that of plain data parallelism. "
            "What is the ratio?",
            answer=(b_w + b_grad) / (2 * b_grad),
            given={"b_w": 2, "b_grad": 2},
            unit="1",
            mistakes={
                "That compares all bytes of a step; the gather of the forward pass hides behind the forward pass.": (
                    (2 * b_w + b_grad) / (2 * b_grad)
                ),
                "That doubles the bytes, but not the arithmetic that hides them.": (b_w + b_grad) / b_grad,
            },
            solution=[
                (b_w + b_grad, "bytes per parameter that move in the backward pass"),
                (2 * b_grad, "the same under plain data parallelism, with the same arithmetic"),
                ((b_w + b_grad) / (2 * b_grad), "their ratio"),
            ],
        ),
        Question(
            "A run uses batches of {B} tokens, and each GPU needs {B_min:4} of them. What is the largest number of GPUs that "
            "data parallelism alone can keep busy?",
            answer=dp.dp_gpus,
            given={"B": 4e6, "B_min": 2500},
            unit="1",
            noun="GPUs",
            mistakes={"Multiplying gives the batch that so many GPUs would need.": B * B_min},
        ),
        Question(
            f"{llama.title} trains with plain data parallelism on 8 GPUs. You move to {MANY:,} GPUs. How many bytes does "
            "each GPU send per step now, compared with before?",
            predict=True,
            choices=[
                (
                    "128 times as many",
                    "The gradients are as large as before; only the ring is longer.",
                    False,
                ),
                (
                    f"{show(grown - 1, '%', short=True)} more",
                    "A ring sends each gradient at most twice.",
                    1 < grown < 2,
                ),
                (
                    "1/128 as many",
                    "More GPUs share the tokens, but not the gradients: each copy has all of them.",
                    False,
                ),
            ],
            solution=f"{show(grown - 1, '%', short=True)} more. The factor $2(X-1)/X$ grows from "
            f"{show(2 * 7 / 8, '1')} to almost 2, and there it ends.",
        ),
        Question(
            "Suppose that plain data parallelism all-reduces its gradients in fp32 instead of bf16. What happens to the "
            "threshold, in tokens per GPU?",
            predict=True,
            given={"C": h100.bf16, "W": pod["W_node"], "b_grad": 4},
            choices=[
                ("it halves", "More bytes make it harder to hide them.", dp.dp_threshold.approx < C / W),
                ("it stays", "The arithmetic stays the same, but there are more bytes to hide.", False),
                ("it doubles", "Twice the bytes, the same FLOPs.", dp.dp_threshold.approx > 1.5 * C / W),
            ],
            solution="It doubles. fp32 gradients have twice the bytes, while the matmuls still run in bf16. Across H100 "
            f"nodes that makes {show(2 * across, 'count')} tokens per GPU.",
        ),
        Question(
            f"A B200 computes {show(b200.bf16 / h100.bf16, '1')} times as fast as an H100, with NICs of the same speed. How "
            "many tokens per GPU does it need across many nodes, compared with an H100?",
            predict=True,
            choices=[
                ("fewer", "A faster GPU finishes its tokens sooner, so there is less time to hide the bytes.", False),
                ("as many", "The bytes take as long as before, but the arithmetic is faster.", False),
                (
                    f"{show(b200.bf16 / h100.bf16, '1')} times as many",
                    "The same bytes need the same time, and the GPU needs more tokens to fill it.",
                    b200.bf16 / pod["W_node"] > 2 * across,
                ),
            ],
            solution=f"{show(b200.bf16 / h100.bf16, '1')} times as many: {show(b200.bf16 / pod['W_node'], 'count')} instead "
            f"of {show(across, 'count')}. A faster GPU makes data parallelism *harder*.",
        ),
        Question(
            f"Across many nodes, an H100 needs {show(across, 'count')} tokens. On two nodes, the NICs carry only half of the "
            "gradients. How many tokens does each GPU need, if every GPU has a copy of the model?",
            predict=True,
            choices=[
                (
                    f"half as many, {show(across / 2, 'count')}",
                    "That would do for the NICs. What about NVLink inside the nodes?",
                    two < 0.51 * across,
                ),
                (
                    "more than half, but not all of them",
                    "NVLink takes longer than the NICs.",
                    0.51 * across < two < across,
                ),
                (f"all {show(across, 'count')}", "Both links carry less than all of the gradients.", two >= across),
            ],
            solution=f"More than half: {show(two, 'count')}. The NICs have half of the work, but NVLink still brings each GPU "
            "seven eighths of the gradients. On two nodes that takes longer.",
        ),
        Question(
            f"A model of {BIG / 1e9:g} billion parameters needs {show(memory.replicated_state(P=BIG, **adam), 'GB')} of "
            "training state per GPU. ZeRO-1 shards the optimizer state, 12 of its 16 bytes per parameter, over 64 GPUs. How "
            "much does each GPU store?",
            predict=True,
            choices=[
                (
                    show(first_stage / 64 * 4, "GB"),
                    "That is a 64th of everything; ZeRO-1 shards the optimizer only.",
                    False,
                ),
                (show(first_stage, "GB"), "Weights and gradients stay whole.", first_stage > BIG * 4),
                (show(BIG * 12, "GB"), "That is what ZeRO-1 shards, not what is left.", first_stage > BIG * 12),
            ],
            solution=f"{show(first_stage, 'GB')}. Weights and gradients stay whole, {show(BIG * 4, 'GB')} in all. Of the "
            f"optimizer state, each GPU stores a 64th, {show(BIG * 12 / 64, 'GB')}.",
        ),
        Question(
            "ZeRO-3 sends 1.5 times as many bytes per step as plain data parallelism. How many tokens per GPU does it need "
            "to hide them?",
            predict=True,
            given={"b_w": 2, "b_grad": 2, "C": h100.bf16, "W": pod["W_node"], "X": 128},
            choices=[
                (
                    "1.5 times as many",
                    "Where in the step does the extra transfer run?",
                    sharded > 1.4 * dp.dp_threshold.rhs,
                ),
                ("just as many", "The extra transfer hides behind the forward pass.", Eq(sharded, dp.dp_threshold.rhs)),
                ("fewer", "Neither pass has less to send.", sharded < dp.dp_threshold.rhs),
            ],
            solution="Just as many. The forward pass used to send nothing. Now it hides the first gather, and the backward "
            "pass hides as many bytes as before.",
        ),
    ],
)
