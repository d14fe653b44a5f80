"""Practice questions on tensor, sequence and context parallelism."""

from sympy import Min

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import cp_imbalance, ring_attention_limit
from gpuscale.llm import tensor_parallel as tp
from gpuscale.network import topology
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import D_1, W_1, W_2, B, C, D, F, S, V, W, Y, b, d_head, flop, n_kv, n_mat, n_q

rack = topology("gb200_nvl72")
h100, b200, gb200 = chip("h100_sxm"), chip("b200_sxm"), chip("gb200")
small, llama, large = model("llama3_8b"), model("llama3_70b"), model("llama3_405b")
node = 8 * h100.nic_bw
head = llama.d_model // llama.heads
most = 1 + n_mat * flop * F * W_1 / (b * C)
full = dict(D_1=8, W_1=h100.nvlink_bw, W_2=node)

questions = QuestionSet(
    "tensor_parallelism",
    "Tensor and sequence parallelism",
    intro="Questions on layers cut over GPUs: what they send, how far they can be cut, and what a cut sequence costs.",
    chapter="tensor_parallelism",
    questions=[
        Question(
            "An MLP of {n_mat} matrices, {D} by {F}, runs on {Y} ranks. How many operations does one rank do for {B} "
            "tokens, forward?",
            answer=2 * n_mat * flop * B * D * F / Y,
            given=[
                {"n_mat": 3, "D": llama.d_model, "F": llama.d_ff, "Y": 8, "B": 4096},
                {"n_mat": 2, "D": small.d_model, "F": small.d_ff, "Y": 4, "B": 8192},
            ],
            mistakes={
                "A multiply-add is two operations.": n_mat * flop * B * D * F / Y,
                "That is the work of all ranks together.": 2 * n_mat * flop * B * D * F,
                "Every rank works on all tokens; what is cut is the matrices, and only once.": 2
                * n_mat
                * flop
                * B
                * D
                * F
                / Y**2,
            },
        ),
        Question(
            "The activations of all tokens between two blocks take V bytes. Give the bytes that one of Y ranks sends "
            "for an MLP, forward: an all-gather in, a reduce-scatter out.",
            answer=2 * V * (Y - 1) / Y,
            unit="B",
            symbols=(V, Y),
            mistakes={
                "That is one of the two collectives.": V * (Y - 1) / Y,
                "A rank has its own share of the tokens already.": 2 * V,
                "Every rank needs all tokens: the bytes do not shrink with Y.": 2 * V * (Y - 1) / Y**2,
            },
            remark="An all-reduce at the end instead would send exactly as much.",
        ),
        Question(
            "A published chapter prints the limit of tensor parallelism as $F$ $W$ / $C$. Exactly, how many ranks is "
            "it for {n_mat} matrices of {F} hidden numbers, {b} for each activation, {W} of NVLink and {C}?",
            answer=tp.tp_limit,
            given=[
                {"n_mat": 2, "b": 2, "F": llama.d_ff, "W": h100.nvlink_bw, "C": h100.bf16},
                {"n_mat": 2, "b": 2, "F": small.d_ff, "W": b200.nvlink_bw, "C": b200.bf16},
            ],
            tolerance=0.01,
            mistakes={
                "That is the printed form; exactly it is the limit of Y - 1.": tp.tp_limit.approx,
                "That counts both directions of NVLink.": {"W": 2 * W},
            },
            solution=[
                (tp.tp_comms, "what is sent"),
                (tp.tp_math, "what is computed"),
                (tp.tp_limit, "equal, solved for the ranks"),
            ],
        ),
        Question(
            "Which change raises the number of ranks that can share an MLP of {F} hidden numbers?",
            given={"F": llama.d_ff},
            choices=[
                ("more tokens in the batch", "Arithmetic and bytes both grow with the tokens.", False),
                ("a wider model, larger $D$", "Arithmetic and bytes both grow with $D$.", False),
                ("more hidden numbers, larger $F$", "Hidden numbers are computed and never sent.", True),
                ("a faster Tensor Core", "That lowers it: less time to hide behind.", False),
            ],
        ),
        Question(
            "With a gate an MLP has {n_mat} matrices. How many ranks are the limit in one level, for {F} hidden "
            "numbers, {b} for each activation, {W} of NVLink and {C}?",
            answer=tp.tp_limit,
            given={"n_mat": 3, "F": large.d_ff, "b": 2, "W": h100.nvlink_bw, "C": h100.bf16},
            mistakes={
                "That is for two matrices: the gate adds arithmetic and no bytes.": {"n_mat": 2},
                "The bytes of an activation count once for each number.": {"b": 1},
            },
        ),
        Question(
            'Find the error. "The NICs of two nodes together have twice the bandwidth of one, so {F} hidden numbers allow '
            f'{claim("gpus:TP-19").published:g}-way tensor parallelism." '
            "Two matrices, {b} for each activation, nodes of {D_1} GPUs with {W_1} of "
            "NVLink each and {W_2} out of the node, {C}. How many ranks are the limit really?",
            answer=tp.tp_node_limit.where(n_mat=2),
            given={"F": int(claim("gpus:TP-F").published), "b": 2, "C": h100.bf16, **full},
            mistakes={
                "That is what the NICs alone allow; NVLink carries seven eighths in every node.": D_1
                + 2 * flop * F * W_2 / (b * C),
                "That is NVLink without the share that each GPU holds already.": 2 * flop * F * W_1 / (b * C),
            },
            solution=[
                (D_1 + 2 * flop * F * W_2 / (b * C), "what the NICs allow"),
                (D_1 / (D_1 - 1) * 2 * flop * F * W_1 / (b * C), "what NVLink allows"),
                (Min(D_1 / (D_1 - 1) * 2 * flop * F * W_1 / (b * C), D_1 + 2 * flop * F * W_2 / (b * C)), "the lower"),
            ],
        ),
        Question(
            "An attention block has {n_q} query heads and {n_kv} key heads of width {d_head}, in a model of width {D}. "
            "It runs on {Y} ranks. How many parameters does a rank hold?",
            answer=tp.tp_attention_params,
            given=[
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "d_head": head, "D": llama.d_model, "Y": 16},
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "d_head": head, "D": llama.d_model, "Y": 32},
            ],
            noun="parameters",
            mistakes={
                "No rank can hold less than a whole key head.": 2 * D * d_head * (n_q + n_kv) / Y,
                "A rank needs the key heads of its own query heads only.": 2 * D * d_head * (n_q / Y + n_kv),
            },
            remark="With more ranks than key heads some are kept more than once.",
        ),
        Question(
            "Between the blocks of a layer plain tensor parallelism keeps four arrays of {B} tokens by {D} "
            "numbers, {b} each, on all of {Y} ranks. How many bytes does sequence parallelism take off a rank?",
            answer=4 * b * B * D * (1 - 1 / Y),
            given={"B": 8192, "D": llama.d_model, "b": 2, "Y": 8},
            mistakes={
                "That is what plain tensor parallelism keeps; a share of it stays.": 4 * b * B * D,
                "That is what stays.": 4 * b * B * D / Y,
            },
            remark="And it sends the same bytes.",
        ),
        Question(
            "A server cuts its MLPs over {Y} ranks. Each step of a ring waits {alpha}, a GPU sends at {W}, tokens "
            "have {D} numbers of {b}. Up to how many tokens do the start-ups take longer than the bytes?",
            answer=tp.tp_half_batch,
            given={"alpha": 2e-6, "W": b200.nvlink_bw, "D": large.d_model, "b": 2, "Y": 8},
            mistakes={
                "Each step carries one share of the tokens, not all.": tp.tp_half_batch.rhs / Y,
                "There is a step for each of the other ranks, and each carries an equal share.": tp.tp_half_batch.rhs
                * (Y - 1)
                / Y,
            },
            tolerance=0.01,
        ),
        Question(
            "Copies of a model take {Y} GPUs each, full nodes of {D_1}. Weights and gradients have {b_w} and "
            "{b_grad} a parameter. How many tokens does a GPU need so that data parallelism over very many copies "
            "hides, with {W_2} out of a node and {C}?",
            answer=tp.relaxed_dp_limit.approx,
            given=[
                {"Y": 64, "D_1": 8, "b_w": 2, "b_grad": 2, "W_2": node, "C": h100.bf16},
                {"Y": 32, "D_1": 8, "b_w": 2, "b_grad": 4, "W_2": node, "C": h100.bf16},
            ],
            unit="1",
            noun="tokens",
            mistakes={
                "A node carries only its part of the model's gradients.": {"Y": D_1},
                "The NICs belong to a node, not to a GPU.": {"D_1": 1},
            },
        ),
        Question(
            "A rack joins {D_1} GPUs by NVLink, each with {W_1} one way. An MLP of {n_mat} matrices has {F} hidden "
            "numbers, its activations take {b}, a GPU does {C}. How would you use the rack?",
            given={"D_1": rack.ranks, "W_1": gb200.nvlink_bw, "n_mat": 3, "F": llama.d_ff, "b": 2, "C": gb200.bf16},
            choices=[
                ("all of it for one MLP", "The limit is set by F, W and C, however many GPUs are near.", most > D_1),
                ("groups of 8 for an MLP", "Then the arithmetic still hides the communication.", most < D_1),
                ("no tensor parallelism", "Inside the limit it costs no time that cannot be hidden.", most < 2),
            ],
        ),
        Question(
            "Causal ring attention with {n_q} query heads and {n_kv} key heads, {b} a number, between nodes where each "
            "GPU has a NIC of {W}, and {C} of arithmetic. How many tokens must a rank hold so that the ring hides?",
            answer=ring_attention_limit,
            given=[
                {"n_q": large.heads, "n_kv": large.kv_heads, "b": 2, "W": h100.nic_bw, "C": h100.bf16},
                {"n_q": llama.heads, "n_kv": llama.kv_heads, "b": 2, "W": h100.nic_bw, "C": h100.bf16},
            ],
            noun="tokens",
            mistakes={
                "That is without a mask, which doubles the arithmetic.": ring_attention_limit.rhs / 2,
                "That is with a key head for each query head.": b * C / (flop * W),
            },
        ),
        Question(
            "A causal sequence of {S} tokens is cut in a row over {n_cp} ranks. How much more work than the mean "
            "does the last rank have, as a factor?",
            answer=cp_imbalance,
            given={"S": 65536, "n_cp": 8},
            mistakes={
                "Its own tokens see one another from one side only.": 2 * S / (S + 1),
            },
            tolerance=0.01,
            remark="A piece from each end of the sequence for every rank makes it 1.",
        ),
    ],
)
