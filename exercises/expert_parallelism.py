"""Practice questions on expert parallelism."""

from gpuscale import chip, model
from gpuscale.llm import expert_parallel as ep
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, B_expert, C, D, E, G, M, W_node, Z, b, b_combine, b_dispatch, b_w, flop, k, n_mat
from gpuscale.units import show

h100, b200, gb200 = chip("h100_sxm"), chip("b200_sxm"), chip("gb200")
ds, oss = model("deepseek_v3"), model("gpt_oss_120b")
both = b_dispatch + b_combine
kept = b_w * ep.ep_params.rhs
leaves = B / M * (M - 1) * D * both
bound, top = ep.ep_node_width_bound, ep.ep_node_width_top_k
limit = C * both * G / (2 * flop * n_mat * W_node)
inside = ep.ep_width_top_k
one_way = b * B * D * (M - 1) / (M * W_node)
brought = E * B_expert / (k * Z)
grads = ep.ep_gradient_batch
ratio = ep.ep_node_comms.rhs / ep.ep_math.rhs
ON_NODES = {"E": ds.experts, "k": ds.active_experts, "n_mat": 3, "b_dispatch": 2, "b_combine": 2}
old, new = (top(M=8, G=8, C=c.bf16, W_node=8 * c.nic_bw, **ON_NODES) for c in (h100, b200))
one_node = inside(Z=8, C=h100.bf16, W=h100.nvlink_bw, **ON_NODES)
faster = new / old
NODES = {"G": 8, "W_node": 8 * h100.nic_bw}

questions = QuestionSet(
    "expert_parallelism",
    "Expert parallelism",
    intro="Questions on when experts are wide enough to hide dispatch and combine. All peak rates are for dense matrices.",
    chapter="expert_parallelism",
    questions=[
        Question(
            "The routed experts of one DeepSeek-V3 layer are stored in bf16 on {Z} ranks. How many bytes of expert weights "
            "does each rank store for this layer?",
            answer=kept,
            given=[
                {"E": ds.experts, "n_mat": 3, "D": ds.d_model, "F": ds.d_ff, "b_w": 2, "Z": 64},
                {"E": ds.experts, "n_mat": 3, "D": ds.d_model, "F": ds.d_ff, "b_w": 2, "Z": 32},
            ],
            unit="B",
            hint="The model is 7,168 wide. The experts are 2,048 wide and have three matrices each; there are 256 of them.",
            mistakes={
                "That is one expert; a rank stores E/Z of them.": kept * Z / E,
                "That is the whole layer.": kept * Z,
                "A gate is a third matrix.": {"n_mat": 2},
            },
        ),
        Question(
            "A batch of {B} tokens passes one MoE layer of DeepSeek-V3 on {Z} H100 SXM GPUs, in bf16 and with an even load. "
            "How long does the forward arithmetic of the routed experts take at the peak rate?",
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
            hint="Each token uses 8 experts with three matrices of 7,168 × 2,048 weights. The peak is in the hardware tables.",
            mistakes={
                "Each token meets k experts, not one.": ep.ep_math.rhs / k,
                "That is one rank doing all of the work.": ep.ep_math.rhs * Z,
                "That is the backward pass.": ep.ep_backward_math,
                "A matmul takes two FLOPs per weight and row.": ep.ep_math.rhs / 2,
            },
        ),
        Question(
            "How many bytes leave one node in dispatch and combine together? $B$ tokens of $D$ elements are spread evenly "
            "over $M$ nodes, and each token needs every node. An element has `b_dispatch` bytes for dispatch and "
            "`b_combine` bytes for combine. Give a formula.",
            answer=leaves,
            unit="B",
            symbols=(B, D, M, b_dispatch, b_combine),
            mistakes={
                "Those are the bytes that leave all nodes together.": leaves * M,
                "A node does not send to itself: M - 1 of M nodes are others.": leaves * M / (M - 1),
                "That is dispatch alone.": leaves * b_dispatch / both,
            },
            solution=[
                "A node owns one in $M$ of the tokens. Each of them goes to all nodes but its own, and comes back.",
                (leaves, "bytes"),
            ],
        ),
        Question(
            "Experts with {n_mat} matrices are spread over {M} nodes of eight H100 SXM GPUs. A token uses {k} experts, on "
            "different nodes as far as possible. Everything is in bf16. How wide must an expert be for its arithmetic to "
            "hide dispatch and combine?",
            answer=bound,
            given=[
                {"n_mat": 2, "M": 2, "k": 8, "C": h100.bf16, "b_dispatch": 2, "b_combine": 2, **NODES},
                {"n_mat": 2, "M": 16, "k": 4, "C": h100.bf16, "b_dispatch": 2, "b_combine": 2, **NODES},
            ],
            unit="1",
            hint="An H100 does 989 TFLOP/s, and its node has eight NICs of 50 GB/s.",
            mistakes={
                "That is the limit of many nodes.": limit,
                "That is for three matrices.": {"n_mat": 3},
                "That is dispatch alone: tokens come back as well.": bound.rhs * b_dispatch / both,
                "The bandwidth is that of a node of G GPUs, but the peak rate is that of one GPU.": bound.rhs / G,
            },
            tolerance=0.01,
        ),
        Question(
            "Experts with {n_mat} matrices on {M} nodes of H100 are too narrow to hide their communication. What "
            "helps?",
            given={"n_mat": 3, "M": 8},
            choices=[
                ("twice the tokens in the batch", "Arithmetic and bytes double together.", False),
                ("twice the width of the model", "Each element that travels meets as many weights as before.", False),
                ("experts of twice the width", "Each element that travels meets twice as many weights.", True),
                (
                    "arithmetic in fp8, tokens in bf16",
                    "The arithmetic then takes half as long and hides half as much.",
                    False,
                ),
            ],
        ),
        Question(
            "With few nodes, every node gets a copy of every token. With many nodes, each expert of a token needs its own "
            "copy. A token uses {k} experts, and a node or rack has {G} GPUs. At how many ranks do the two regimes meet?",
            answer=k * G,
            given=[{"k": 4, "G": 8}, {"k": 2, "G": 72}],
            unit="1",
            exact=True,
            mistakes={"That is the number of nodes.": k + 0, "Count ranks, not GPUs of one node.": G + 0},
            solution="The bound min(k/M, 1) reaches 1 at M = k nodes, which are k G ranks.",
        ),
        Question(
            r'Find the error. "One all-to-all across nodes takes $2BD\,(Z - 8)/Z \min(8k/Z, 1)$." For {B} tokens of {D} elements '
            "in bf16, on {M} nodes of eight H100 SXM GPUs, this gives a huge number of seconds. Every node gets every token. "
            "How long does the all-to-all really take?",
            answer=one_way,
            given={"B": 262144, "D": ds.d_model, "b": 2, "M": 8, "W_node": 8 * h100.nic_bw},
            unit="s",
            hint="A node of eight H100 GPUs sends 400 GB/s. Check the unit of the printed expression.",
            mistakes={
                "That is dispatch and combine.": 2 * one_way,
                "One node in M is the token's own.": one_way * M / (M - 1),
                "All NICs of a node work at once.": one_way * 8,
            },
            remark="The published form is a number of bytes; divided by the bandwidth of a node it is the time.",
        ),
        Question(
            'Find the error. "Expert parallelism can grow to E nodes." A model has {E} experts, and a node has {G} GPUs. '
            "Experts are neither sharded nor copied. How many nodes can the experts fill at most?",
            answer=E / G,
            given=[{"E": oss.experts, "G": 8}, {"E": ds.experts, "G": 8}],
            unit="1",
            exact=True,
            mistakes={"That is the number of GPUs: an expert is on one GPU.": E + 0},
        ),
        Question(
            "The experts of gpt-oss-120b are spread over {M} nodes of eight B200 GPUs. All sets of experts are equally likely, "
            "and tokens and results travel in bf16. How wide must an expert be for its arithmetic to hide them?",
            answer=top,
            given={
                "E": oss.experts,
                "n_mat": 3,
                "M": 4,
                "k": oss.active_experts,
                "C": b200.bf16,
                "b_dispatch": 2,
                "b_combine": 2,
                "G": 8,
                "W_node": 8 * b200.nic_bw,
            },
            unit="1",
            hint="A token uses 4 of 128 experts, with three matrices each. A B200 does 2.25 PFLOP/s; a node sends 400 GB/s.",
            mistakes={
                "That is the upper bound: two experts of a token may share a node.": bound,
                "That is the limit of many nodes.": limit,
                "A gate is a third matrix.": {"n_mat": 2},
            },
            remark="On this network an expert would have to be as wide as a whole dense MLP.",
        ),
        Question(
            "The experts of gpt-oss-120b are spread over {Z} GPUs of one GB200 NVL72 rack. They compute in bf16. Tokens are "
            "dispatched in fp8 and combined in bf16. How wide must an expert be for its arithmetic to hide both?",
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
            hint="A token uses 4 of 128 experts, with three matrices each. A GPU of this rack does 2.5 PFLOP/s, and its NVLink "
            "carries 900 GB/s in each direction.",
            mistakes={
                "That sends the tokens in bf16 too.": {"b_dispatch": 2},
                "That receives the results in fp8 too.": {"b_combine": 1},
                "A gate is a third matrix.": {"n_mat": 2},
            },
        ),
        Question(
            "A model with {E} experts, {k} per token, decodes on {Z} ranks. Its matmuls need {B_expert} rows per expert "
            "to be compute-bound. How many tokens must each rank bring to a step?",
            answer=brought,
            given=[
                {"E": ds.experts, "k": ds.active_experts, "Z": 64, "B_expert": 128},
                {"E": oss.experts, "k": oss.active_experts, "Z": 16, "B_expert": 256},
            ],
            unit="1",
            mistakes={
                "That is what all ranks bring together.": brought * Z,
                "Each token makes k rows.": brought * k,
                "The rows are spread over the experts: each sees k/E of the tokens.": B_expert / Z,
            },
        ),
        Question(
            "The experts of DeepSeek-V3 are spread over {Z} H100 SXM GPUs, and {X} such groups train together. Gradients are in "
            "bf16, and each GPU sends them through its own NIC. How many tokens per rank does it take for the backward "
            "arithmetic of the experts to hide their gradients?",
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
            hint="A token uses 8 of 256 experts. An H100 does 989 TFLOP/s and has a NIC of 50 GB/s.",
            mistakes={
                "That is with all experts on every rank.": grads.rhs * Z,
                "That is the limit of many groups.": grads.approx,
                "Only k of E experts work on a token, but all have gradients.": grads.rhs * k / E,
                "An all-reduce sends gradients twice, and the backward pass has two matmuls.": grads.rhs / 2,
            },
        ),
        Question(
            "DeepSeek-V3 runs on eight nodes, and dispatch and combine take longer than the arithmetic of the experts. You "
            "double the batch. What happens to communication time over compute time?",
            predict=True,
            choices=[
                ("it halves", "That would need more arithmetic per byte. Does a token do more?", ratio.has(B)),
                ("it stays the same", "Each token brings its own work and its own bytes.", not ratio.has(B)),
                ("it doubles", "The bytes double, but so does the arithmetic.", ratio.has(B)),
            ],
            solution="It stays the same. Every token brings its own arithmetic and its own bytes, so both times double.",
        ),
        Question(
            "You replace the H100s by B200s, which compute 2.27 times as fast. The NICs and the number of nodes stay. How wide "
            "must an expert be now?",
            predict=True,
            choices=[
                ("less than half as wide", "Faster GPUs leave less time to hide the network.", faster < 1),
                ("as wide as before", "One of the four factors has changed.", faster == 1),
                ("more than twice as wide", "The machine factor has grown.", faster > 2),
            ],
            solution=f"More than twice as wide: {show(new, 'count')} instead of {show(old, 'count')}. The B200 does "
            "2.27 times as many FLOPs while one byte passes the NIC, so each byte must feed more arithmetic.",
        ),
        Question(
            f"On eight H100 nodes, DeepSeek-V3 needs experts {show(old, 'count')} wide. How wide must they be on the eight GPUs "
            "of a single node?",
            predict=True,
            choices=[
                (
                    f"an eighth, {show(old / 8, 'count')}",
                    "There are eight times fewer GPUs, but what changes per byte?",
                    abs(old / 8 - one_node) < 1,
                ),
                (
                    f"a ninth, {show(old / 9, 'count')}",
                    "The token reaches as many places, over links nine times as fast.",
                    abs(old / 9 - one_node) < 1,
                ),
                ("as wide as before", "The link is a faster one.", abs(old - one_node) < 1),
            ],
            solution=f"A ninth: {show(one_node, 'count')}. On average a token reaches as many of eight GPUs as it reaches of "
            "eight nodes. Only the link has changed, from 50 GB/s per GPU to 450 GB/s.",
        ),
        Question(
            "The 256 experts are spread over 64 GPUs in eight nodes. Which differ most from their average load: the experts, "
            "the GPUs or the nodes?",
            predict=True,
            choices=[
                ("the experts", "Nothing evens out the load of a single expert.", True),
                ("the GPUs", "A GPU has four experts, and their differences partly cancel.", False),
                ("the nodes", "A node has 32 experts, and most of their differences cancel.", False),
            ],
            solution="The experts. A GPU holds four of them and a node 32, so their differences partly cancel. The next cell counts.",
        ),
    ],
)
