"""Practice questions on expert parallelism."""

from gpuscale import chip, model
from gpuscale.llm import expert_parallel as ep
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import D_1, B, B_expert, C, D, E, M, W_node, Z, b, b_combine, b_dispatch, b_w, flop, k, n_mat

h100, b200, gb200 = chip("h100_sxm"), chip("b200_sxm"), chip("gb200")
ds, oss = model("deepseek_v3"), model("gpt_oss_120b")
both = b_dispatch + b_combine
kept = b_w * ep.ep_params.rhs
leaves = B / M * (M - 1) * D * both
bound, top = ep.ep_node_width_bound, ep.ep_node_width_top_k
limit = C * both * D_1 / (2 * flop * n_mat * W_node)
inside = ep.ep_width_top_k
one_way = b * B * D * (M - 1) / (M * W_node)
brought = E * B_expert / (k * Z)
grads = ep.ep_gradient_batch
NODES = {"D_1": 8, "W_node": 8 * h100.nic_bw}

questions = QuestionSet(
    "expert_parallelism",
    "Expert parallelism",
    intro="Questions on experts with owners, tokens that travel, and when that pays. Peaks are dense.",
    chapter="expert_parallelism",
    questions=[
        Question(
            "A layer has {E} experts of {n_mat} matrices, {D} by {F}, at {b_w:B} a number. They are spread over {Z} "
            "ranks. How many bytes of expert weights does each rank keep for this layer?",
            answer=kept,
            given=[
                {"E": ds.experts, "n_mat": 3, "D": ds.d_model, "F": ds.d_ff, "b_w": 2, "Z": 64},
                {"E": oss.experts, "n_mat": 3, "D": oss.d_model, "F": oss.d_ff, "b_w": 2, "Z": 8},
            ],
            unit="B",
            mistakes={
                "That is one expert; a rank keeps E/Z of them.": kept * Z / E,
                "That is the whole layer.": kept * Z,
                "A gate is a third matrix.": {"n_mat": 2},
            },
        ),
        Question(
            "{B} tokens go to {k} experts each; an expert has {n_mat} matrices, {D} by {F}. The experts lie on {Z} "
            "ranks of {C}, the load is even. How long does the forward arithmetic of the layer take at best?",
            answer=ep.ep_math,
            given={
                "B": 262144,
                "k": ds.active_experts,
                "n_mat": 3,
                "D": ds.d_model,
                "F": ds.d_ff,
                "Z": 64,
                "C": h100.bf16,
            },
            mistakes={
                "Each token meets k experts, not one.": ep.ep_math.rhs / k,
                "That is one rank doing all of the work.": ep.ep_math.rhs * Z,
                "That is the backward pass.": ep.ep_backward_math,
                "A product takes two operations for each weight.": ep.ep_math.rhs / 2,
            },
        ),
        Question(
            "Give the bytes that leave one node in dispatch and combine together: B tokens of D numbers lie evenly "
            "on M nodes, each token needs every node, b_dispatch bytes a number go out and b_combine come back.",
            answer=leaves,
            unit="B",
            symbols=(B, D, M, b_dispatch, b_combine),
            mistakes={
                "That is what leaves all nodes together.": leaves * M,
                "A node does not send to itself: M - 1 of M nodes are others.": leaves * M / (M - 1),
                "That is dispatch alone.": leaves * b_dispatch / both,
            },
            solution=[
                "A node owns one in $M$ of the tokens. Each of them goes to all nodes but its own, and comes back.",
                (leaves, "bytes"),
            ],
        ),
        Question(
            "Experts of {n_mat} matrices lie on {M} nodes of {D_1} H100 ({C}, NICs of {W_node} a node); a token has "
            "{k} of them, on different nodes as long as there are any. All in bf16, {b_dispatch:B} each way. From "
            "which width on does the arithmetic hide dispatch and combine?",
            answer=bound,
            given=[
                {"n_mat": 2, "M": 2, "k": 8, "C": h100.bf16, "b_dispatch": 2, "b_combine": 2, **NODES},
                {"n_mat": 2, "M": 16, "k": 4, "C": h100.bf16, "b_dispatch": 2, "b_combine": 2, **NODES},
            ],
            unit="1",
            mistakes={
                "That is the limit of many nodes.": limit,
                "That is for three matrices.": {"n_mat": 3},
                "That is dispatch alone: tokens come back as well.": bound.rhs * b_dispatch / both,
                "The network belongs to a node of D_1 GPUs, the peak to one.": bound.rhs / D_1,
            },
            tolerance=0.01,
        ),
        Question(
            "Experts with {n_mat} matrices on {M} nodes of H100 are too narrow to hide their communication. What "
            "helps?",
            given={"n_mat": 3, "M": 8},
            choices=[
                ("twice the tokens in the batch", "Arithmetic and bytes double together.", False),
                ("twice the width of the model", "Each number that travels meets as many weights as before.", False),
                ("experts of twice the width", "A number that travels meets twice as many weights.", True),
                ("arithmetic in fp8, tokens in bf16", "Arithmetic is then half as long and hides half as much.", False),
            ],
        ),
        Question(
            "With few nodes every node gets a copy of every token; with many, each expert of a token costs a copy of "
            "its own. A token has {k} experts and nodes have {D_1} GPUs. At how many ranks do the two regimes meet?",
            answer=k * D_1,
            given=[{"k": 4, "D_1": 8}, {"k": 2, "D_1": 72}],
            unit="1",
            exact=True,
            mistakes={"That is the number of nodes.": k + 0, "Count ranks, not GPUs of one node.": D_1 + 0},
            solution="The bound min(k/M, 1) turns at M = k nodes, which are k D_1 ranks.",
        ),
        Question(
            'Find the error. "One all-to-all across nodes takes 2BD (Z-8)/Z min(8k/Z, 1)." Evaluated for {B} tokens '
            "of {D} numbers in bf16 ({b:B} each), on {M} nodes with {W_node} each, where every node gets "
            "every token, it gives a huge number of seconds. How long does it take?",
            answer=one_way,
            given={"B": 262144, "D": ds.d_model, "b": 2, "M": 8, "W_node": 8 * h100.nic_bw},
            unit="s",
            mistakes={
                "That is dispatch and combine.": 2 * one_way,
                "One node in M is the token's own.": one_way * M / (M - 1),
                "All NICs of a node work at once.": one_way * 8,
            },
            remark="The published form is a number of bytes; divided by the bandwidth of a node it is the time.",
        ),
        Question(
            'Find the error. "Expert parallelism can grow to E nodes." A model has {E} experts, a node {D_1} GPUs, '
            "and no expert is cut or copied. How many nodes can it fill at most?",
            answer=E / D_1,
            given=[{"E": oss.experts, "D_1": 8}, {"E": ds.experts, "D_1": 8}],
            unit="1",
            exact=True,
            mistakes={"That is the number of GPUs: an expert has one owner.": E + 0},
        ),
        Question(
            "{E} experts with {n_mat} matrices lie on {M} nodes of {D_1} B200 ({C}, NICs of {W_node} a node), and a "
            "token has {k} different ones, all sets equally likely. In bf16, {b_dispatch:B} each way: how wide "
            "must an expert be?",
            answer=top,
            given={
                "E": oss.experts,
                "n_mat": 3,
                "M": 4,
                "k": oss.active_experts,
                "C": b200.bf16,
                "b_dispatch": 2,
                "b_combine": 2,
                "D_1": 8,
                "W_node": 8 * b200.nic_bw,
            },
            unit="1",
            mistakes={
                "That is the upper bound: two experts of a token may share a node.": bound,
                "That is the limit of many nodes.": limit,
                "A gate is a third matrix.": {"n_mat": 2},
            },
            remark="On this network an expert would have to be as wide as a whole dense MLP.",
        ),
        Question(
            "The same {E} experts lie on {Z} GPUs of one GB200 rack ({C}, NVLink {W} each). Tokens are dispatched in "
            "fp8 ({b_dispatch:B} a number) and combined in bf16 ({b_combine:B}); three matrices, {k} experts a token. "
            "How wide must an expert be?",
            answer=inside,
            given={
                "E": oss.experts,
                "Z": 64,
                "C": gb200.bf16,
                "W": gb200.nvlink_bw,
                "b_dispatch": 1,
                "b_combine": 2,
                "k": oss.active_experts,
                "n_mat": 3,
            },
            unit="1",
            mistakes={
                "That sends the tokens in bf16 too.": {"b_dispatch": 2},
                "That receives the results in fp8 too.": {"b_combine": 1},
                "A gate is a third matrix.": {"n_mat": 2},
            },
        ),
        Question(
            "A model with {E} experts, {k} for each token, decodes on {Z} ranks. Its products need {B_expert} rows "
            "to be worth their weights. How many tokens must each rank bring to a step?",
            answer=brought,
            given=[
                {"E": ds.experts, "k": ds.active_experts, "Z": 64, "B_expert": 128},
                {"E": oss.experts, "k": oss.active_experts, "Z": 16, "B_expert": 256},
            ],
            unit="1",
            mistakes={
                "That is what all ranks bring together.": brought * Z,
                "Each token makes k rows.": brought * k,
                "Experts share the rows: each sees k/E of the tokens.": B_expert / Z,
            },
        ),
        Question(
            "{E} experts, {k} for each token, lie on {Z} ranks, and {X} such groups train together. Gradients have "
            "{b_grad:B} a number and pass the NIC of each GPU ({W}); its peak is {C}. How many tokens does a "
            "rank need for the experts' backward arithmetic to hide their gradients?",
            answer=grads,
            given={
                "E": ds.experts,
                "k": ds.active_experts,
                "Z": 64,
                "X": 4,
                "b_grad": 2,
                "W": h100.nic_bw,
                "C": h100.bf16,
            },
            unit="1",
            mistakes={
                "That is with all experts on every rank.": grads.rhs * Z,
                "That is the limit of many groups.": grads.approx,
                "Only k of E experts work on a token, but all have gradients.": grads.rhs * k / E,
                "An all-reduce makes two passes, and the backward pass two products.": grads.rhs / 2,
            },
        ),
    ],
)
