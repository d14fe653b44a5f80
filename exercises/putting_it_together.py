"""Practice questions on whole runs: memory, time, batch, and what a plan trades."""

from sympy import expand

from gpuscale import chip, model
from gpuscale.ledger import claim
from gpuscale.llm import data_parallel, memory_traffic, tensor_parallel, training_compute, training_memory
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import part
from gpuscale.symbols import (
    D_1,
    HFU,
    MFU,
    B,
    B_run,
    C,
    C_ref,
    N_gpu,
    N_stages,
    P,
    P_act,
    S,
    W_coll,
    X,
    Y,
    b,
    b_grad,
    b_opt,
    b_w,
    flop,
    n_q,
    ops,
    ops_run,
)
from gpuscale.units import GB

h100, b200, a100 = (chip(key) for key in ("h100_sxm", "b200_sxm", "a100_sxm"))
llama, big = model("llama3_70b"), model("llama3_405b")
MFU_405B = claim("llama3:mfu-16k").published
mixed, fp32_grads = part("recipe", "zero_mixed"), part("recipe", "bf16_fp32_grads")


def widths(recipe):
    """The bytes of a recipe, as a formula takes them."""
    return {"b_w": recipe.weights, "b_grad": recipe.gradients, "b_opt": recipe.master + 2 * recipe.moment}


steps = training_compute.run_time.where(training_compute.mfu_step_time)
run = steps.where(training_compute.training_flops, title="Time of a run from its tokens")
relaxed = tensor_parallel.relaxed_dp_limit.approx
per_gpu = data_parallel.seen_dp_threshold
node_out = {"C": h100.bf16, "D_1": 8, "W_2": 8 * h100.nic_bw, "b_w": 2, "b_grad": 2}

questions = QuestionSet(
    "putting_it_together",
    "Putting it together",
    intro="Questions on whole runs: what fits, how long it takes, and what to change when it does not.",
    chapter="putting_it_together",
    questions=[
        Question(
            "A model of {P} parameters trains with {b_w} of weights, {b_grad} of gradients and {b_opt} of optimizer "
            "for each of them. How many GPUs of {S_level:GB} are the fewest that hold all of that, activations aside?",
            answer=training_memory.zero3_gpus,
            given=[
                {"P": 70e9, "S_level": 80 * GB, **widths(mixed)},
                {"P": 405e9, "S_level": 180 * GB, **widths(fp32_grads)},
            ],
            mistakes={
                "Those are the weights alone.": training_memory.zero3_gpus.rhs.subs({b_grad: 0, b_opt: 0}),
                "The optimizer is missing: it is the largest part.": training_memory.zero3_gpus.rhs.subs(b_opt, 0),
            },
            remark="A lower bound: activations, buffers and whole nodes come on top.",
        ),
        Question(
            "A run of {B_run} tokens with {P_act} parameters at work on each goes to {N_gpu} GPUs of {C} at an MFU of "
            "{MFU:%}. How long does it take?",
            answer=run,
            unit="days",
            given=[
                {"B_run": 15e12, "P_act": 70e9, "N_gpu": 4096, "C": h100.bf16, "MFU": 0.45},
                {"B_run": big.train_tokens, "P_act": 405e9, "N_gpu": 16384, "C": h100.bf16, "MFU": MFU_405B},
            ],
            mistakes={
                "That is the forward pass alone; the backward pass costs twice as much again.": run.rhs / 3,
                "That is at the peak rate; the run reaches only the MFU of it.": run.rhs * MFU,
            },
            solution=[
                (6 * flop * P_act * B_run, "operations of the run"),
                (6 * flop * P_act * B_run / (N_gpu * C * MFU), "over what the GPUs really do in a second"),
            ],
        ),
        Question(
            "{N_gpu} GPUs share a batch of {B} tokens. Copies of the model are cut {Y} ways. How many tokens does one "
            "data-parallel copy get?",
            answer=B * Y / N_gpu,
            unit="1",
            given=[{"N_gpu": 4096, "B": 2**22, "Y": 8}, {"N_gpu": 16384, "B": 2**24, "Y": 128}],
            mistakes={"That is the share of one GPU; a copy has Y of them.": B / N_gpu},
            solution=[(N_gpu / Y, "copies"), (B * Y / N_gpu, "tokens for each")],
        ),
        Question(
            "Data parallelism across H100 nodes ({D_1} GPUs, {W_2} out of a node, {C}), all in {b_grad}: each model "
            "copy fills {Y} GPUs, whole nodes. From how many tokens per GPU on does the arithmetic hide the gradients "
            "and the new weights? Take many copies.",
            answer=relaxed,
            unit="1",
            given=[{**node_out, "Y": 64}, {**node_out, "Y": 16}],
            mistakes={
                "That is without model parallelism. Cut Y ways, a copy exchanges a Y-th of the model through each GPU.": relaxed
                * Y
                / D_1,
                "The whole node shares the network, not one GPU.": relaxed / D_1,
            },
            tolerance=0.02,
        ),
        Question(
            'Find the error. "With {B} tokens a step our {N_gpu} GPUs hide the gradients well, so four times as many '
            'will train four times as fast." Each GPU needs {B_min:count} tokens to hide them. At most how many GPUs '
            "does this batch keep busy?",
            answer=data_parallel.dp_gpus,
            given={"B": 2**22, "N_gpu": 1024, "B_min": 2500},
            unit="1",
            mistakes={"That is what they hope for: the batch does not grow with the GPUs.": 4 * N_gpu},
            tolerance=0.01,
            remark="The tokens per GPU fall with every GPU. Beyond this number the network sets the pace, unless the "
            "batch grows or the copies of the model are cut.",
        ),
        Question(
            "A run recomputes every layer in the backward pass and reports {HFU:%} of the peak, all operations "
            "counted. The model needs 6 operations for each parameter and token, the GPUs do 8. What is its MFU?",
            answer=training_compute.mfu_from_hfu.rhs.subs({ops: 6 * flop, ops_run: 8 * flop}),
            given=[{"HFU": 0.52}, {"HFU": 0.44}],
            unit="1",
            mistakes={
                "Operations done twice do not count for the model.": HFU + 0,
                "The other way round.": HFU * 8 / 6,
            },
            solution=[(HFU * 6 / 8, "what the model needs, over what is done")],
        ),
        Question(
            "The gradients of a model travel through a link on which a collective sees {W_coll}, from GPUs that do "
            "{C}, {b_grad} each. How many tokens per GPU hide them?",
            answer=per_gpu,
            given=[
                {"W_coll": 8 * b200.nic_bw, "C": b200.bf16, "b_grad": 2},
                {"W_coll": h100.nvlink_bw, "C": h100.bf16, "b_grad": 4},
            ],
            mistakes={
                "Mind the bytes of a gradient: this would be right for one byte each.": per_gpu.rhs / b_grad,
            },
            remark="A faster chip behind the same network needs more tokens, not fewer.",
        ),
        Question(
            "A job has {N_gpu} GPUs. Tensor parallelism takes {Y} of them for each copy of a layer, the pipeline has "
            "{N_stages} stages. How many copies of the model train side by side?",
            answer=N_gpu / (Y * N_stages),
            unit="1",
            given=[{"N_gpu": 8192, "Y": 8, "N_stages": 16}, {"N_gpu": 3072, "Y": 8, "N_stages": 64}],
            mistakes={
                "The stages take GPUs of the same copy, too.": N_gpu / Y,
                "That is the GPUs of one copy.": Y * N_stages,
            },
            solution=[(Y * N_stages, "GPUs of one copy"), (N_gpu / (Y * N_stages), "the rest are copies of it")],
        ),
        Question(
            "A run uses ZeRO-3 over {X} GPUs. With ZeRO-1 it would not have to gather the weights for each pass. "
            "By how many bytes would the state of each GPU grow, for {P} parameters with {b_w} of weights and {b_grad} "
            "of gradients?",
            answer=expand(training_memory.zero1_state.rhs - training_memory.zero3_state.rhs),
            unit="B",
            given=[{"X": 4, "P": 7.5e9, "b_w": 2, "b_grad": 2}, {"X": 8, "P": 8e9, "b_w": 2, "b_grad": 4}],
            mistakes={
                "ZeRO-1 leaves the gradients whole, too.": P * b_w * (X - 1) / X,
                "One X-th of them was there before.": P * (b_w + b_grad),
            },
        ),
        Question(
            "A GPT with {n_q:count} heads trains without fused attention, on sequences of {S:count} tokens. Softmax "
            "reads a score and writes a weight, {b} each. Dropout reads the weight, writes the one that is left, and "
            "{b_mask} of its mask. How many bytes is that for one token in a layer, forward?",
            answer=memory_traffic.scores_forward,
            given=[
                {"n_q": 96, "S": 2048, "b": 2, "b_mask": 1},
                {"n_q": 32, "S": 8192, "b": 2, "b_mask": 1},
            ],
            unit="B",
            mistakes={
                "Each kernel reads an array and writes one: the weights pass through memory between the two.": memory_traffic.scores_forward.rhs
                - 2 * b * n_q * S,
                "That is one head.": memory_traffic.scores_forward.rhs / n_q,
                "The mask goes to memory, too.": 4 * b * n_q * S,
            },
            solution=[
                (n_q * S, "scores of a token"),
                (memory_traffic.scores_forward.rhs, "each read twice and written twice, and its mask written"),
            ],
            remark="Fused attention keeps the scores of a tile on the chip and writes none of them.",
        ),
        Question(
            "GPUs that compute {C_ref} are replaced by others of {C}, and each node still sends out {W_2}. By which "
            "factor does the batch grow that hides data parallelism across nodes?",
            answer=C / C_ref,
            unit="1",
            given=[
                {"C": b200.bf16, "C_ref": h100.bf16, "W_2": 8 * h100.nic_bw},
                {"C": h100.bf16, "C_ref": a100.bf16, "W_2": 8 * h100.nic_bw},
            ],
            mistakes={"A faster chip has less time to hide the same bytes.": C_ref / C},
            solution=[
                (per_gpu.rhs, "tokens per GPU"),
                (C / C_ref, "only the rate of arithmetic has changed"),
            ],
        ),
        Question(
            "Give the number of GPUs that one batch of $B$ tokens keeps busy, if each needs so many tokens that $C$ "
            "operations a second hide gradients of $b_\\mathrm{grad}$ bytes on a path where a collective sees "
            "$W_\\mathrm{coll}$.",
            answer=data_parallel.dp_gpus.where(per_gpu, title="GPUs that a batch keeps busy"),
            unit="1",
            symbols=(B, C, W_coll, b_grad),
            mistakes={
                "For each parameter and token the backward pass takes 4 operations, and a gradient crosses twice.": B
                * W_coll
                * flop
                / (b_grad * C),
            },
            solution=[(per_gpu.rhs, "tokens per GPU"), (B / per_gpu.rhs, "the batch over that")],
        ),
    ],
)
