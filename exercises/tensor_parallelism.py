"""Practice questions on tensor and sequence parallelism."""

from sympy import Min

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import tensor_parallel as tp
from gpuscale.network import topology
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, C, D, F, G, V, W, W_node, W_nvl, Y, b, d_head, flop, n_kv, n_mat, n_q
from gpuscale.units import show

rack = topology("gb200_nvl72")
h100, b200, gb200 = chip("h100_sxm"), chip("b200_sxm"), chip("gb200")
small, llama, large = model("llama3_8b"), model("llama3_70b"), model("llama3_405b")
node = 8 * h100.nic_bw
head = llama.d_model // llama.heads
most = 1 + n_mat * flop * F * W_nvl / (b * C)
full = dict(G=8, W_nvl=h100.nvlink_bw, W_node=node)
wider = tp.tp_comms(B=1, D=1, b=2, Y=8, W=1) / tp.tp_comms(B=1, D=1, b=2, Y=4, W=1)


def layer(gpu) -> float:
    """How many GPUs of a kind can share a layer of Llama 3 70B."""
    heads = dict(n_q=llama.heads, n_kv=llama.kv_heads, d_head=head, S=llama.train_seq)
    return tp.tp_layer_limit(D=llama.d_model, F=llama.d_ff, n_mat=3, b=2, W=gpu.nvlink_bw, C=gpu.bf16, **heads)


questions = QuestionSet(
    "tensor_parallelism",
    "Tensor and sequence parallelism",
    intro="Questions on layers that several GPUs share: the bytes they send, and how many GPUs can share one.",
    chapter="tensor_parallelism",
    questions=[
        Question(
            "An MLP has {n_mat} matrices of {D} by {F} and is shared by {Y} GPUs. How many FLOPs does one GPU do for {B} "
            "tokens in the forward pass?",
            answer=2 * n_mat * flop * B * D * F / Y,
            given=[
                {"n_mat": 3, "D": llama.d_model, "F": llama.d_ff, "Y": 8, "B": 4096},
                {"n_mat": 2, "D": small.d_model, "F": small.d_ff, "Y": 4, "B": 8192},
            ],
            mistakes={
                "A multiply-add counts as two FLOPs.": n_mat * flop * B * D * F / Y,
                "That is the work of all GPUs together.": 2 * n_mat * flop * B * D * F,
                "Every GPU works on all tokens. Only the matrices are sharded, and only once.": 2
                * n_mat
                * flop
                * B
                * D
                * F
                / Y**2,
            },
        ),
        Question(
            "The activations of all tokens between two blocks take $V$ bytes, and $Y$ GPUs share an MLP. How many bytes "
            "does a GPU send in the forward pass, with an all-gather in and a reduce-scatter out?",
            answer=2 * V * (Y - 1) / Y,
            unit="B",
            symbols=(V, Y),
            mistakes={
                "That is one of the two collectives.": V * (Y - 1) / Y,
                "A GPU has its own part of the tokens already.": 2 * V,
                "Every GPU needs all tokens, so the bytes do not shrink with Y.": 2 * V * (Y - 1) / Y**2,
            },
            remark="An all-reduce at the end instead would send exactly as much.",
        ),
        Question(
            "The scaling book gives the limit of tensor parallelism as $F$ $W$ / $C$. What is it exactly on H100 SXM, in "
            "bf16, for an MLP of two matrices with a hidden width of {F}?",
            answer=tp.tp_limit,
            given=[
                {"n_mat": 2, "b": 2, "F": llama.d_ff, "W": h100.nvlink_bw, "C": h100.bf16},
                {"n_mat": 2, "b": 2, "F": small.d_ff, "W": h100.nvlink_bw, "C": h100.bf16},
            ],
            tolerance=0.01,
            hint="You need the bf16 peak and the NVLink bandwidth in one direction (hardware tables).",
            mistakes={
                "That is the approximation, which leaves out the 1.": tp.tp_limit.approx,
                "That counts both directions of NVLink.": {"W": 2 * W},
            },
            solution=[
                (tp.tp_comms, "what is sent"),
                (tp.tp_math, "what is computed"),
                (tp.tp_limit, "equal, solved for the ranks"),
            ],
        ),
        Question(
            "Which change lets more GPUs share an MLP with a hidden width of {F}?",
            given={"F": llama.d_ff},
            choices=[
                ("more tokens in the batch", "Arithmetic and bytes both grow with the tokens.", False),
                ("a wider model, larger $D$", "Arithmetic and bytes both grow with $D$.", False),
                ("a wider MLP, larger $F$", "Hidden activations are computed and never sent.", True),
                ("a faster Tensor Core", "That lowers the limit: there is less time to hide the bytes.", False),
            ],
        ),
        Question(
            "Llama 3 405B has MLPs with a gate. How many H100 SXM can share one of them, in bf16 and over NVLink alone?",
            answer=tp.tp_limit,
            given={"n_mat": 3, "F": large.d_ff, "b": 2, "W": h100.nvlink_bw, "C": h100.bf16},
            hint="A gate makes three matrices. The hidden width is in the table of models.",
            mistakes={
                "That is for two matrices: the gate adds arithmetic and no bytes.": {"n_mat": 2},
                "A bf16 activation has two bytes.": {"b": 1},
            },
        ),
        Question(
            'Find the error. "The NICs of two nodes have twice the bandwidth of one, so a hidden width of {F} allows '
            f'{claim("gpus:TP-19").published:g}-way tensor parallelism." '
            "The nodes have 8 H100 SXM, and the MLP has two matrices in bf16. What is the real limit?",
            answer=tp.tp_node_limit.where(n_mat=2),
            given={"F": int(claim("gpus:TP-F").published), "b": 2, "C": h100.bf16, **full},
            hint="NICs and NVLink each have a limit. Which one is lower?",
            mistakes={
                "That is what the NICs alone allow, but NVLink carries seven eighths of the tokens in every node.": G
                + 2 * flop * F * W_node / (b * C),
                "That is NVLink without the part that each GPU holds already.": 2 * flop * F * W_nvl / (b * C),
            },
            solution=[
                (G + 2 * flop * F * W_node / (b * C), "what the NICs allow"),
                (G / (G - 1) * 2 * flop * F * W_nvl / (b * C), "what NVLink allows"),
                (Min(G / (G - 1) * 2 * flop * F * W_nvl / (b * C), G + 2 * flop * F * W_node / (b * C)), "the lower"),
            ],
        ),
        Question(
            "An attention block has {n_q} query heads and {n_kv} key-value heads of width {d_head}, in a model of width "
            "{D}. {Y} GPUs share it. How many parameters does each GPU store?",
            answer=tp.tp_attention_params,
            given=[
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "d_head": head, "D": llama.d_model, "Y": 16},
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "d_head": head, "D": llama.d_model, "Y": 32},
            ],
            noun="parameters",
            mistakes={
                "No GPU can store less than a whole key-value head.": 2 * D * d_head * (n_q + n_kv) / Y,
                "A GPU needs the key-value heads of its own query heads only.": 2 * D * d_head * (n_q / Y + n_kv),
            },
            remark="With more GPUs than key-value heads, some heads are stored more than once.",
            vary={n_q: (), d_head: (), D: ()},
        ),
        Question(
            "Around the norms of a layer, plain tensor parallelism stores four arrays of {B} tokens by {D} elements in "
            "bf16 on each of {Y} GPUs. How many bytes per GPU does sequence parallelism save?",
            answer=4 * b * B * D * (1 - 1 / Y),
            given={"B": 8192, "D": llama.d_model, "b": 2, "Y": 8},
            mistakes={
                "That is everything that plain tensor parallelism stores. A part of it stays.": 4 * b * B * D,
                "That is the part that stays.": 4 * b * B * D / Y,
            },
            remark="And it sends the same bytes.",
        ),
        Question(
            "{Y} B200 share the MLPs of a server that runs Llama 3 405B in bf16. Each step of a ring has a latency of "
            "{alpha}. Below what number of tokens does latency cost more than bytes?",
            answer=tp.tp_half_batch,
            given={"alpha": 2e-6, "W": b200.nvlink_bw, "D": large.d_model, "b": 2, "Y": 8},
            hint="You need the model width and the NVLink bandwidth of a B200 (hardware tables).",
            mistakes={
                "Each step carries an equal part of the tokens, not all of them.": tp.tp_half_batch.rhs / Y,
                "There is one step per other GPU, and each carries an equal part of the tokens.": tp.tp_half_batch.rhs
                * (Y - 1)
                / Y,
            },
            tolerance=0.01,
            vary={Y: (2, 4, 8)},
        ),
        Question(
            "Each copy of a model runs on {Y} H100 SXM, in full nodes of {G}. Weights have {b_w} and gradients {b_grad} per "
            "parameter. How many tokens per GPU hide the data parallelism among very many copies?",
            answer=tp.relaxed_dp_limit.approx,
            given=[
                {"Y": 64, "G": 8, "b_w": 2, "b_grad": 2, "W_node": node, "C": h100.bf16},
                {"Y": 32, "G": 8, "b_w": 2, "b_grad": 4, "W_node": node, "C": h100.bf16},
            ],
            unit="1",
            noun="tokens",
            hint="The NICs of a node carry the gradients of the part of the model that the node holds.",
            mistakes={
                "A node carries only its part of the model's gradients.": {"Y": G},
                "The NICs belong to a node, not to a GPU.": {"G": 1},
            },
        ),
        Question(
            "A GB200 NVL72 connects {G} GPUs by NVLink. You train Llama 3 70B in bf16. How would you use the rack?",
            given={"G": rack.ranks, "W_nvl": gb200.nvlink_bw, "n_mat": 3, "F": llama.d_ff, "b": 2, "C": gb200.bf16},
            choices=[
                ("all of it shares one MLP", "The limit depends on F, W and C, not on the size of the rack.", most > G),
                ("groups of 8 share an MLP", "A group of 8 is below the limit.", most < G),
                ("no tensor parallelism", "A few GPUs can share an MLP at a small cost.", most < 2),
            ],
        ),
        Question(
            "Suppose the first matrix is sharded by rows instead, and the second by columns. How many times per block do "
            "partial sums have to be added up across GPUs?",
            predict=True,
            choices=[
                (
                    "once, as before",
                    "Rows give partial sums, and the activation function needs finished ones.",
                    False,
                ),
                (
                    "once, but before the activation function, and the outputs have to be gathered as well",
                    "The sums are due in the middle, and the columns of the output are still on different GPUs.",
                    True,
                ),
                ("never", "A matrix that is sharded by rows always gives partial sums.", False),
            ],
            solution="Once, but at the wrong place. The activation function needs finished sums, so the reduction has to come "
            "before it, where the array is widest. The second matrix then leaves its output columns on different GPUs, "
            "and they have to be gathered. With columns first, the wide array never leaves its GPU.",
        ),
        Question(
            "4 GPUs share an MLP, and you switch to 8. Each GPU now does half of the arithmetic. What happens to the time of "
            "its communication?",
            predict=True,
            choices=[
                ("it halves too", "Every GPU still has to see every token.", wider < 0.75),
                (
                    f"it grows by {show(wider - 1, '%', short=True)}",
                    "Each GPU has to receive a larger part of the tokens.",
                    1 < wider < 1.5,
                ),
                ("it doubles", "The number of tokens is the same.", wider > 1.5),
            ],
            solution=f"It grows by {show(wider - 1, '%', short=True)}. Every GPU needs all tokens. With 4 GPUs it has to receive three "
            "quarters of them, with 8 seven eighths.",
        ),
        Question(
            f"About {layer(h100):.0f} H100s can share a layer of Llama 3 70B. A GB200 NVL72 connects {rack.ranks} GPUs by "
            "NVLink. How many of them can share the layer?",
            predict=True,
            choices=[
                (
                    f"all {rack.ranks}",
                    "More GPUs on the switch give each of them no more bandwidth.",
                    layer(gb200) > rack.ranks,
                ),
                (
                    "about twice as many as H100s",
                    "NVLink is twice as fast, but the GPU computes even faster.",
                    layer(gb200) > 20,
                ),
                ("fewer than H100s", "Arithmetic has grown faster than NVLink.", layer(gb200) < layer(h100)),
            ],
            solution=f"Fewer: {show(layer(gb200), '1')} instead of {show(layer(h100), '1')}. Only FLOPs per byte count. A GB200 "
            f"has {show(gb200.nvlink_bw / h100.nvlink_bw, 'count')} times the NVLink bandwidth of an H100, but "
            f"{show(gb200.bf16 / h100.bf16, '1')} times the arithmetic.",
        ),
    ],
)
