"""Practice questions on whole runs: memory, time, batch, and what a plan costs."""

from sympy import expand

from gpuscale import chip, model
from gpuscale.core import evaluate
from gpuscale.ledger import claim
from gpuscale.llm import data_parallel, tensor_parallel, training_compute, training_memory
from gpuscale.plan import Choice, evaluate_choice, request
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import part
from gpuscale.symbols import (
    MFU,
    B,
    B_run,
    C,
    C_ref,
    G,
    N_gpu,
    N_stages,
    P,
    P_act,
    W_coll,
    X,
    Y,
    b_grad,
    b_opt,
    b_w,
    flop,
)
from gpuscale.units import GB, show

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
node_out = {"C": h100.bf16, "G": 8, "W_node": 8 * h100.nic_bw, "b_w": 2, "b_grad": 2}

NEED = {y: evaluate(relaxed, **node_out, Y=y) for y in (8, 16, 32)}
assert NEED[32] < 2**22 / 4096 < NEED[16]
run_70b = request("llama3_70b", "h100_superpod", 4096, 2**22)
LOST, LEFT = (evaluate_choice(run_70b, Choice(tp=8, sp=True, pp=8, dp=64, virtual=v)).losses["bubble"] for v in (1, 5))

questions = QuestionSet(
    "putting_it_together",
    "Planning a training run",
    intro="Questions on whole runs: what fits, how long it takes, and what to change if it does not.",
    chapter="putting_it_together",
    questions=[
        Question(
            "A model of {P} parameters trains with {b_w} of weights, {b_grad} of gradients and {b_opt} of optimizer "
            "state per parameter. How many GPUs with {S_level:GB} of HBM hold this state at least?",
            answer=training_memory.zero3_gpus,
            given=[
                {"P": 70e9, "S_level": 80 * GB, **widths(mixed)},
                {"P": 405e9, "S_level": 180 * GB, **widths(fp32_grads)},
            ],
            mistakes={
                "Those are the weights alone.": training_memory.zero3_gpus.rhs.subs({b_grad: 0, b_opt: 0}),
                "The optimizer state is missing: it is the largest part.": training_memory.zero3_gpus.rhs.subs(
                    b_opt, 0
                ),
            },
            remark="A lower bound: activations, buffers and whole nodes come on top.",
        ),
        Question(
            "A model with {P_act} active parameters trains on {B_run} tokens, on {N_gpu} H100s in bf16 at an MFU of "
            "{MFU:%}. How long does it take? Leave attention out.",
            answer=run,
            unit="days",
            given=[
                {"B_run": 15e12, "P_act": 70e9, "N_gpu": 4096, "C": h100.bf16, "MFU": 0.45},
                {"B_run": big.train_tokens, "P_act": 405e9, "N_gpu": 16384, "C": h100.bf16, "MFU": MFU_405B},
            ],
            mistakes={
                "That is the forward pass alone; the backward pass costs twice as much again.": run.rhs / 3,
                "That is at the peak rate; the run reaches only a fraction of it, the MFU.": run.rhs * MFU,
            },
            solution=[
                (6 * flop * P_act * B_run, "FLOPs of the run"),
                (6 * flop * P_act * B_run / (N_gpu * C * MFU), "over what the GPUs sustain"),
            ],
        ),
        Question(
            "{N_gpu} GPUs share a batch of {B} tokens. Each copy of the model is sharded over {Y} GPUs. How many tokens does "
            "one copy get?",
            answer=B * Y / N_gpu,
            unit="1",
            given=[{"N_gpu": 4096, "B": 2**22, "Y": 8}, {"N_gpu": 16384, "B": 2**24, "Y": 128}],
            mistakes={"Those are the tokens of one GPU; a copy has Y GPUs.": B / N_gpu},
            solution=[(N_gpu / Y, "copies"), (B * Y / N_gpu, "tokens per copy")],
        ),
        Question(
            "Data parallelism runs across H100 nodes in bf16, weights and gradients in {b_grad} each. Each copy of the model "
            "fills {Y} GPUs on whole nodes. How many tokens per GPU hide the exchange of gradients and new weights, with "
            "very many copies?",
            answer=relaxed,
            unit="1",
            given=[{**node_out, "Y": 64}, {**node_out, "Y": 16}],
            mistakes={
                "That is without model parallelism. Each GPU exchanges only a Y-th of the model.": relaxed * Y / G,
                "Divide the bandwidth of the node by its GPUs.": relaxed / G,
            },
            tolerance=0.02,
            hint="A node has eight GPUs and eight NICs; the hardware tables have their rates.",
        ),
        Question(
            'Find the error. "With {B} tokens per step our {N_gpu} GPUs hide the gradients well, so four times as many '
            'will train four times as fast." Each GPU needs {B_min:count} tokens to hide them. At most how many GPUs '
            "does this batch keep busy?",
            answer=data_parallel.dp_gpus,
            given={"B": 2**22, "N_gpu": 1024, "B_min": 2500},
            unit="1",
            mistakes={"That is what they hope for: the batch does not grow with the GPUs.": 4 * N_gpu},
            tolerance=0.01,
            remark="The tokens per GPU fall with every GPU. Beyond this number the network is the bottleneck, unless the "
            "batch grows or the copies of the model are sharded.",
        ),
        Question(
            "GPUs with a peak of {C} reduce their gradients, {b_grad} each, over links on which the collective sees "
            "{W_coll}. How many tokens per GPU hide the all-reduce?",
            answer=per_gpu,
            given=[
                {"W_coll": 8 * b200.nic_bw, "C": b200.bf16, "b_grad": 2},
                {"W_coll": h100.nvlink_bw, "C": h100.bf16, "b_grad": 4},
            ],
            mistakes={
                "Count the bytes of a gradient: this would be right for one byte each.": per_gpu.rhs / b_grad,
            },
            remark="A faster chip behind the same network needs more tokens, not fewer.",
        ),
        Question(
            "A job has {N_gpu} GPUs, with {Y}-way tensor parallelism and {N_stages} pipeline stages. How many copies of "
            "the model train in parallel?",
            answer=N_gpu / (Y * N_stages),
            unit="1",
            given=[{"N_gpu": 8192, "Y": 8, "N_stages": 16}, {"N_gpu": 3072, "Y": 8, "N_stages": 64}],
            mistakes={
                "The stages belong to the same copy as well.": N_gpu / Y,
                "That is the GPUs of one copy.": Y * N_stages,
            },
            solution=[(Y * N_stages, "GPUs of one copy"), (N_gpu / (Y * N_stages), "the rest are copies of it")],
        ),
        Question(
            "A run uses ZeRO-3 over {X} GPUs. With ZeRO-1 it would not have to gather the weights in each pass. By how "
            "much would the state of each GPU grow, for {P} parameters with {b_w} of weights and {b_grad} of gradients?",
            answer=expand(training_memory.zero1_state.rhs - training_memory.zero3_state.rhs),
            unit="B",
            given=[{"X": 4, "P": 7.5e9, "b_w": 2, "b_grad": 2}, {"X": 8, "P": 8e9, "b_w": 2, "b_grad": 4}],
            mistakes={
                "ZeRO-1 does not shard the gradients either.": P * b_w * (X - 1) / X,
                "Under ZeRO-3, each GPU already stores one X-th of them.": P * (b_w + b_grad),
            },
        ),
        Question(
            "GPUs with a peak of {C_ref} are replaced by GPUs with {C}, and each node still has {W_node} of network. By what "
            "factor does the batch have to grow to hide data parallelism across nodes?",
            answer=C / C_ref,
            unit="1",
            given=[
                {"C": b200.bf16, "C_ref": h100.bf16, "W_node": 8 * h100.nic_bw},
                {"C": h100.bf16, "C_ref": a100.bf16, "W_node": 8 * h100.nic_bw},
            ],
            mistakes={"A faster chip has less time to hide the same bytes.": C_ref / C},
            solution=[
                (per_gpu.rhs, "tokens per GPU"),
                (C / C_ref, "only the peak has changed"),
            ],
        ),
        Question(
            "How many GPUs does a batch of $B$ tokens keep busy? Each has a peak of $C$ and has to hide gradients of "
            "$b_\\mathrm{grad}$ bytes per parameter over links on which the collective sees $W_\\mathrm{coll}$.",
            answer=data_parallel.dp_gpus.where(per_gpu, title="GPUs that a batch keeps busy"),
            unit="1",
            symbols=(B, C, W_coll, b_grad),
            mistakes={
                "The backward pass takes 4 FLOPs per parameter per token, and a gradient is sent twice.": B
                * W_coll
                * flop
                / (b_grad * C),
            },
            solution=[(per_gpu.rhs, "tokens per GPU"), (B / per_gpu.rhs, "the batch over that")],
        ),
        Question(
            f"With a replica of the model on each H100 node, data parallelism needs {NEED[8]:,.0f} tokens per GPU. Llama 3 70B with four "
            "million tokens on 4,096 GPUs has 1,024. You spread each replica over two nodes instead. How many tokens per GPU are needed now?",
            predict=True,
            choices=[
                (
                    f"as many as before: {NEED[8]:,.0f}",
                    "Each GPU now exchanges half as many gradients.",
                    NEED[16] == NEED[8],
                ),
                (
                    f"half as many: {NEED[8] / 2:,.0f}",
                    "Each GPU exchanges half of the gradients for the same compute.",
                    NEED[16] == NEED[8] / 2,
                ),
                (
                    f"twice as many: {2 * NEED[8]:,.0f}",
                    "A larger replica means fewer gradients per GPU.",
                    NEED[16] == 2 * NEED[8],
                ),
            ],
            solution=f"Half as many. Each GPU of a replica on two nodes exchanges half as many gradients and computes as much as before. Still "
            f"{NEED[16]:,.0f} is more than 1,024, so two nodes are not enough, but four are.",
        ),
        Question(
            f"The textbook split of Llama 3 70B on 4,096 H100s loses {show(LOST, '%', digits=2)} of its step to the pipeline bubble. You split each "
            "of its stages into five virtual stages. What fraction of the new step is the bubble?",
            predict=True,
            choices=[
                (
                    f"as much as before: {show(LOST, '%', digits=2)}",
                    "With five virtual stages, the pipeline fills and drains five times as fast.",
                    bool(LEFT > 0.9 * LOST),
                ),
                (
                    f"a fifth of that: {show(LOST / 5, '%', digits=2)}",
                    "The time of the bubble is a fifth, but the whole step has become shorter, too.",
                    bool(LEFT < 1.1 * LOST / 5),
                ),
                (
                    f"more than a fifth of that: {show(LEFT, '%', digits=2)}",
                    "The bubble takes a fifth of the time, in a step that is shorter.",
                    bool(1.1 * LOST / 5 < LEFT < 0.9 * LOST),
                ),
            ],
            solution=f"{show(LEFT, '%', digits=2)}. The bubble takes a fifth of the time, but the step is shorter, so the fraction falls less. The 64 copies "
            "get 8 sequences each: only 8 microbatches for 8 stages, so filling and draining took nearly as long as the work.",
        ),
        Question(
            "Half as many B200s replace 4,096 H100s. Each computes more than twice as fast and has the same NIC. How long does a step of the "
            "best plan take, compared with before?",
            predict=True,
            choices=[
                ("about half as long", "There are half as many GPUs, so the total compute hardly grows.", False),
                (
                    "about as long",
                    "The total compute is about the same, and so is the time.",
                    bool(1.8 < b200.bf16 / h100.bf16 < 2.6),
                ),
                ("twice as long", "Each GPU is more than twice as fast.", False),
            ],
            solution="About as long. Half as many GPUs that are a little more than twice as fast compute slightly faster together. But a node has the same "
            "NICs as before, so the exchange of gradients does not get faster, and takes a larger part of the step.",
        ),
    ],
)
