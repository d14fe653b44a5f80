"""Practice questions of the lab on tensor, sequence and expert parallelism from scratch."""

from gpuscale import model
from gpuscale.collectives import hit_bound, hit_top_k
from gpuscale.llm import ep_comms
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, D, F, S, W, Y, Z, b, k, n_seq
from gpuscale.units import show

llama, large, ds = model("llama3_8b"), model("llama3_70b"), model("deepseek_v3")
EXPERTS, K, RANKS = 16, 4, 4  # the lab's experts, experts per token, and ranks
LAYER = {"heads": 8, "keys": 4, "width": 16, "D": 128, "F": 512}  # the lab's layer

unit = b * B * D * (Y - 1) / Y  # an all-gather or a reduce-scatter of all tokens, as each rank sends it
once = ep_comms.where(hit_top_k, title="Dispatch and combine, once per rank", assumes="for top-k routing").rhs * W
copies = ep_comms.rhs.subs(hit_top_k.lhs, k / Z) * W
left = hit_top_k(E=EXPERTS, k=K, Z=RANKS)

# FLOPs per token in the matmuls of the lab's layer: queries, keys, values and output; three in the MLP, the last one left out
_columns = (LAYER["heads"] * 2 + LAYER["keys"] * 2) * LAYER["width"]
repeated = 1 - LAYER["F"] / (_columns + 3 * LAYER["F"])

questions = QuestionSet(
    "lab_tensor_parallelism",
    "Lab: tensor, sequence and expert parallelism from scratch",
    intro="Questions on what sharded layers send and store, and on mistakes that a comparison with one process finds.",
    chapter="lab_tensor_parallelism",
    questions=[
        Question(
            "A layer of Llama 3 8B with a gated MLP runs on {Y} ranks without sequence parallelism, in bf16. Each "
            "column-parallel matrix is a `ColwiseParallel` layer of its own. How many bytes does a rank send for {B} tokens, "
            "forward and backward together?",
            answer=14 * unit,
            given=[
                {"b": 2, "B": 8192, "D": llama.d_model, "Y": 8},
                {"b": 2, "B": 4096, "D": llama.d_model, "Y": 4},
            ],
            unit="B",
            mistakes={
                "That is with one all-reduce per block in the backward pass.": 8 * unit,
                "An all-reduce has two units, a reduce-scatter and an all-gather.": 7 * unit,
                "That is the backward pass alone.": 10 * unit,
                "Queries, keys and values are three matmuls of one input.": 10 * unit + 2 * unit,
            },
            hint="Count all-reduces: two blocks forward; backward one per column-parallel matrix.",
            solution=[
                (2 * unit, "one all-reduce"),
                (14 * unit, "two forward; backward three for q, k and v, two for gate and up"),
            ],
        ),
        Question(
            "A layer of Llama 3 70B runs with sequence parallelism on {Y} ranks in bf16, with {B} tokens. How many bytes "
            "less does a rank store if both blocks gather their tokens again in the backward pass?",
            answer=2 * unit,
            given=[
                {"b": 2, "B": 8192, "D": large.d_model, "Y": 8},
                {"b": 2, "B": 8192, "D": large.d_model, "Y": 4},
            ],
            unit="B",
            mistakes={
                "That is one of the two blocks.": unit,
                "The rank still stores its own tokens.": 2 * b * B * D,
                "That is what a rank still stores.": 2 * b * B * D / Y,
            },
            hint="Each of two blocks stores either all tokens or this rank's own.",
        ),
        Question(
            "Eager PyTorch computes `silu(gate) * up` in two operations. How many bytes more than the formula does a "
            "layer of Llama 3 8B store for {n_seq} sequences of {S} tokens in bf16 on {Y} ranks?",
            answer=b * n_seq * S * F / Y,
            given=[
                {"b": 2, "n_seq": 4, "S": 8192, "F": llama.d_ff, "Y": 8},
                {"b": 2, "n_seq": 2, "S": 4096, "F": llama.d_ff, "Y": 2},
            ],
            unit="B",
            mistakes={
                "The hidden width is sharded over the ranks.": b * n_seq * S * F,
                "That is all that the MLP stores; the formula has three of these arrays.": 4 * b * n_seq * S * F / Y,
            },
            hint="One array is stored that the formula does not have. How wide is it on a rank?",
        ),
        Question(
            "The experts of one layer of DeepSeek-V3 are spread over {Z} ranks, with top-k routing and an even router. A "
            "token goes once to each rank that it needs, and everything is sent in bf16. How many bytes do you expect a rank "
            "to send for {B} tokens of all ranks, forward and backward together?",
            answer=2 * once,
            given=[
                {
                    "Z": ranks,
                    "B": 32768,
                    "D": ds.d_model,
                    "E": ds.experts,
                    "k": ds.active_experts,
                    "b_dispatch": 2,
                    "b_combine": 2,
                }
                for ranks in (8, 16)
            ],
            unit="B",
            mistakes={
                "That is the forward pass alone.": once,
                "That is with one copy of the token per expert.": 2 * copies,
            },
            hint="Two all-to-alls forward and two backward. Look up experts, experts per token and width.",
        ),
        Question(
            "In the lab, run the attention block with separate matrices for queries, keys and values on {Y} ranks instead of "
            "four. Predict the bytes that a rank sends in the backward pass, and then run it.",
            answer=6 * unit,
            given={"b": 8, "B": 256, "D": LAYER["D"], "Y": 2},
            unit="B",
            mistakes={
                "That is one all-reduce. How many matmuls use the input?": 2 * unit,
                "An all-reduce has two units.": 3 * unit,
                "That is on four ranks.": {"Y": 4},
            },
            hint="Your own run prints the number.",
            fixed="a run of the lab",
        ),
        Question(
            "You fuse gate and up into one matrix of $D$ rows and $2F$ columns, gates first, and then take "
            "`chunk(4, 1)[rank]`. What does rank 0 hold?",
            choices=[
                ("a quarter of the gate and a quarter of up", "The first columns all belong to the gate.", False),
                ("half of the gate and nothing of up", "A quarter of 2F columns is half of F columns.", True),
                ("the whole gate", "That would be half of all columns.", False),
            ],
            solution="Half of the gate. The rank then multiplies two halves of the gate with each other. Shard each matrix "
            "first and put the parts side by side, as the lab does.",
        ),
        Question(
            "The last matmul of an MLP gets a bias. Every rank adds the whole bias to its partial sum, before `g`. What "
            "comes out on four ranks?",
            choices=[
                ("the right output", "The all-reduce adds up everything, also the bias.", False),
                ("the output with four times the bias", "Each of the four partial sums contains it.", True),
                ("the output with a quarter of the bias", "Nobody divides.", False),
            ],
            solution="Four times the bias. Add it once, after the sum. `RowwiseParallel` does that.",
        ),
        Question(
            "With sequence parallelism, the norms get weights, and each rank has a copy of them. What does their gradient "
            "need?",
            choices=[
                ("nothing: all ranks compute the same", "Each rank's norm has seen only its own tokens.", False),
                ("a sum over the ranks", "Each rank has the part of its own tokens.", True),
                ("an average over the ranks", "The parts belong to one sum over all tokens.", False),
            ],
            solution="A sum. Without sequence parallelism nothing is needed, because every rank does the norm on all tokens. "
            "DTensor's optimizer adds up the parts. Hand-written code has to do it, or the copies drift apart.",
        ),
        Question(
            "Leave out `f`, the all-reduce of the backward pass, and compare the block with one process. What is wrong?",
            predict=True,
            choices=[
                ("the output", "The forward pass doesn't use it.", False),
                ("the gradients of both matrices", "Each rank has all tokens, and the gradient of the output.", False),
                (
                    "only the gradient of the input",
                    "It is a sum over all hidden activations, of which a rank has a part.",
                    True,
                ),
                ("everything", "The forward pass is complete.", False),
            ],
            solution="Only the gradient of the input. A rank has everything that the gradients of its own columns and rows "
            "need.",
        ),
        Question(
            "Gate and up are column-parallel layers of their own, and both take the same input. How many all-reduces does "
            "the block need, forward and backward?",
            predict=True,
            choices=[
                ("1 and 1", "That is one per block. But each layer has an `f` of its own.", False),
                ("1 and 2", "One for the output; one for the input of each column-parallel layer.", True),
                ("2 and 2", "Gate and up need no communication in the forward pass.", False),
            ],
            solution="One and two. In the backward pass, each of the two layers sums the gradient of its input.",
        ),
        Question(
            "Gathering the tokens again sends one more unit in the backward pass. How much less does a rank store?",
            predict=True,
            choices=[
                ("nothing", "Gathered tokens have to be stored somewhere.", False),
                ("one unit: as many bytes as it sends more", "All tokens except its own.", True),
                ("the tokens of all ranks", "It still stores its own.", False),
            ],
            solution="One unit. The rank stores its own tokens instead of all, and the difference is what the others sent.",
        ),
        Question(
            f"The lab has {EXPERTS} experts on {RANKS} ranks, and each token picks {K} of them. You send each token once to each "
            "rank that it needs instead of once to each expert. What fraction of the bytes remains?",
            predict=True,
            choices=[
                (
                    "all of them",
                    "Only if no two experts of a token ever share a rank.",
                    left == hit_bound(k=K, Z=RANKS),
                ),
                (f"about {show(left, '%')}", "A token often has two experts on one rank.", 0.5 < left < 0.9),
                (f"about {show(1 / RANKS, '%')}", "Only if all experts of a token share a rank.", left < 0.5),
            ],
            solution=f"About {show(left, '%')}, if all sets of experts are equally likely. The usual estimate puts {K} experts "
            f"on {RANKS} different ranks and sees nothing to save.",
        ),
        Question(
            "The layer is recomputed from its input by PyTorch's `checkpoint`. What fraction of the forward "
            "pass does the backward pass repeat?",
            predict=True,
            choices=[
                ("all", "Whose backward pass needs the layer's output?", repeated == 1),
                ("all but the last matmul", "Nobody needs its output again.", 0.5 < repeated < 1),
                ("half", "That is selective recomputation of something. What is stored here?", repeated <= 0.5),
            ],
            solution=f"All but the last matmul, which leaves {show(repeated, '%')} of the FLOPs of the matmuls with weights. The backward pass "
            "needs the inputs of all matmuls. It doesn't need the layer's output.",
        ),
    ],
)
