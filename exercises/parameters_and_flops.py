"""Practice questions on parameters and FLOPs."""

from sympy import Abs

from gpuscale import chip, measured
from gpuscale.llm import counts, given, training_compute, transformer
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import model
from gpuscale.symbols import (
    HFU,
    MFU,
    B,
    B_run,
    C,
    D,
    E,
    F,
    L,
    N_gpu,
    P,
    P_act,
    P_attn,
    P_layer,
    P_mlp,
    S,
    T_run,
    d_head,
    flop,
    k,
    n_kv,
    n_mat,
    n_q,
    n_vocab,
    ops,
    ops_recompute,
)
from gpuscale.units import show

h100, seq = chip("h100_sxm"), model("llama3_8b").train_seq
llama, small, deepseek, mixtral = (counts(key) for key in ("llama3_70b", "llama3_8b", "deepseek_v3", "mixtral_8x7b"))
layer = transformer.layer_matrices.where(transformer.attention_params, transformer.mlp_params)
run = training_compute.run_time.where(training_compute.mfu_step_time.where(training_compute.training_flops))
top = transformer.moe_active_layer_params.where(transformer.mlp_params)
model_ops = training_compute.model_flops.where(transformer.attention_flops)

# One token of Llama 3 8B, attention over the whole sequence
scores = given(transformer.attention_flops, "llama3_8b", S=seq)
token = given(training_compute.model_flops, "llama3_8b", B=1, ops_attn=scores)
again = given(training_compute.repeated_flops, "llama3_8b", ops_attn=scores)
RATE, CARD = 500e12, measured("llama3_hours").row(model="Llama 3 8B")["gpu_hours"]
high = RATE / h100.bf16
mine = high * token / (token + again)
tokens = model("llama3_8b").train_tokens

shape = {name: llama.inputs[name] for name in ("D", "F", "n_q", "n_kv", "d_head", "n_mat")}
HINT = "The hardware tables have the dimensions of every model."

# Predictions
grow = L * 2 * D * d_head * (n_q - n_kv) / P
more = (L * (P_attn + k * P_mlp) + n_vocab * D) / (L * (P_attn + P_mlp) + n_vocab * D)
share = transformer.attention_flops.rhs / (transformer.attention_flops.rhs + 2 * flop * P_layer)
known = small.inputs
own = 2 * known["D"] * known["d_head"] * (known["n_q"] - known["n_kv"]) * known["L"]

questions = QuestionSet(
    "parameters_and_flops",
    "Parameters and FLOPs",
    intro="Questions on parameters, FLOPs, utilization and GPU-hours.",
    chapter="parameters_and_flops",
    questions=[
        Question(
            "How many parameters do the matrices of one layer of Llama 3 70B have?",
            answer=layer,
            given=shape,
            hint=HINT,
            mistakes={
                "That gives every query head keys and values of its own.": {n_kv: n_q},
                "A gated MLP has three matrices.": {n_mat: 2},
                "That is 12 D squared, which holds for a GPT without a gate.": 12 * D**2,
            },
        ),
        Question(
            "Give the parameters of the matrices in one layer of a classic GPT of width $D$. It has as many "
            "key heads as query heads, its heads together are $D$ wide, and its MLP has two matrices that are "
            "four times as wide.",
            answer=12 * D**2,
            unit="1",
            symbols=(D,),
            mistakes={
                "That is the MLP alone.": 8 * D**2,
                "That is for three MLP matrices of width 4 D.": 16 * D**2,
            },
            solution=[(4 * D**2, "attention"), (8 * D**2, "MLP"), (12 * D**2, "together")],
        ),
        Question(
            'Find the error: "With a gated MLP, a layer has 16 D squared parameters." A classic GPT of width '
            "{D} has an MLP of two matrices, {F} wide. How many times the width of the model "
            "is a gated MLP with as many parameters?",
            answer=2 * F / (3 * D),
            given={"D": 8192, "F": 4 * 8192},
            unit="1",
            mistakes={
                "That is the width with two matrices; the third one needs parameters too.": F / D,
                "With three matrices instead of two, the width falls by a third, not by a half.": F / (2 * D),
            },
            solution=[(2 * D * F, "two matrices"), (2 * F / (3 * D), "spread over three, divided by D")],
            remark="That is the usual 8/3. The rule of 16 assumes a gated MLP of width 4 D, and few models have one.",
        ),
        Question(
            "In one layer of DeepSeek-V3, how many parameters of experts and router work on a token?",
            answer=top,
            given={"E": 256, "n_shared": 1, "D": 7168, "F": 2048, "k": 8, "n_mat": 3},
            hint="The hardware tables have its widths and its experts. Each expert is a gated MLP.",
            mistakes={
                "The shared expert works on every token too.": k * n_mat * D * F + D * E,
                "Those are all experts of the layer.": transformer.moe_layer_params.where(transformer.mlp_params),
            },
            tolerance=0.003,
        ),
        Question(
            "At what sequence length do scores and weighted sum of Llama 3 70B cost as much as the matrices of a layer, "
            "in the full count?",
            answer=layer.rhs / (2 * n_q * d_head),
            given=shape,
            unit="1",
            tolerance=0.005,
            hint=HINT + " Is the answer still 6.5 D?",
            mistakes={
                "That is 6.5 D, which holds for the 8B model.": 6.5 * D,
                "That is 6 D, which holds for a classic GPT.": 6 * D,
                "That is the causal count.": layer.rhs / (n_q * d_head),
            },
            solution=f"A layer has ${show(llama.P_layer / shape['D'] ** 2, '1', digits=4)}\\,D^2$ parameters, because "
            "8 heads of keys and values serve 64 query heads. The heads together are $D$ wide, so the length is half "
            "of that number times $D$.",
        ),
        Question(
            'Find the error. About an MLP of two D × F matrices and B tokens, a text says: "The arithmetic of a '
            'training step is 2 · 2 · 2 · BDF: forward and backward, two layers, two matmuls." How many FLOPs does '
            "the whole training step take?",
            answer=12 * flop * B * D * F,
            unit="FLOP",
            symbols=(B, D, F),
            hint="Where are the two FLOPs of a multiplication and an addition?",
            mistakes={
                "That is the backward pass alone.": 8 * flop * B * D * F,
                "That is the forward pass alone.": 4 * flop * B * D * F,
                "That is one of the two matrices.": 6 * flop * B * D * F,
            },
            solution=[
                (4 * flop * B * D * F, "forward: 2 FLOPs for each element of two matrices"),
                (8 * flop * B * D * F, "backward: two matmuls for each matrix"),
                (12 * flop * B * D * F, "together: 6 for each of 2 D F parameters"),
            ],
        ),
        Question(
            "Llama 3 70B trains on one sequence of {S:count} tokens. How many FLOPs does the model need, with "
            "attention in the full count?",
            answer=model_ops.rhs.subs(B, S),
            given={"L": 80, "n_q": 64, "d_head": 128, "P_act": llama.P_act, "S": 65536},
            hint=HINT + " It has 69.5 billion active parameters.",
            mistakes={
                "Attention costs as much as the matrices here; it can't be left out.": 6 * flop * P_act * S,
                "That is the causal count.": (
                    training_compute.model_flops.where(transformer.causal_attention_flops).rhs.subs(B, S)
                ),
            },
        ),
        Question(
            "How many FLOP/s did each GPU sustain in the pre-training of DeepSeek-V3, attention left out?",
            answer=6 * flop * P_act * B_run / T_run,
            given={
                "P_act": deepseek.P_act,
                "B_run": model("deepseek_v3").train_tokens,
                "T_run": measured("deepseek_v3_cost").row(stage="pre-training")["gpu_hours"] * 3600,
            },
            unit="FLOP/s",
            hint="The hardware tables have its tokens, and the GPU-hours of its pre-training. "
            f"It has {show(deepseek.P_act / 1e9, '1')} billion active parameters.",
            mistakes={
                "That counts all parameters, but a token uses only the active ones.": {"P_act": deepseek.P},
                "That is the forward pass alone.": 2 * flop * P_act * B_run / T_run,
            },
            remark="An H800 has the Tensor Cores of an H100, so that is about a third of the bf16 peak. But most matmuls "
            "ran in fp8, and of the fp8 peak it is half of that.",
        ),
        Question(
            "You train Llama 3 8B on H100s in bf16, with sequences of 8,192 tokens, and recompute every layer in "
            f"full. A profiler shows {show(RATE, 'FLOP/s')} per GPU. What is the MFU, with attention in the full count?",
            answer=HFU * ops / (ops + ops_recompute),
            given={"HFU": high, "ops": token, "ops_recompute": again},
            unit="%",
            hint="The profiler counts what the GPUs do. The table on recomputation has the rest.",
            mistakes={
                "That is the HFU, which includes the recomputed FLOPs.": HFU,
                "The recomputed FLOPs come on top of the model's; they are not part of them.": (
                    HFU * (ops - ops_recompute) / ops
                ),
            },
        ),
        Question(
            f"How long does the run of the previous question take on {{N_gpu:count}} H100s, for "
            f"{show(tokens / 1e12, '1', short=True)} trillion tokens?",
            answer=B_run * ops / (N_gpu * C * MFU),
            given={"B_run": tokens, "ops": token, "N_gpu": 512, "C": h100.bf16, "MFU": mine},
            unit="days",
            tolerance=0.03,
            hint="Take the MFU of the question before, and the FLOPs that the model needs for a token.",
            mistakes={
                "That counts the recomputed FLOPs as progress.": {"MFU": high},
                "That is at the full peak.": {"MFU": 1},
            },
        ),
        Question(
            f"Meta's model card states {show(CARD / 1e6, '1', short=True)} million H100-hours for Llama 3 8B, and more than "
            f"{show(tokens / 1e12, '1', short=True)} trillion tokens. Which MFU does that imply at least, for sequences of 8,192 "
            "tokens in the full count?",
            answer=B_run * ops / (C * T_run),
            given={"B_run": tokens, "ops": token, "C": h100.bf16, "T_run": CARD * 3600},
            unit="%",
            hint="Solve the time of the run for the MFU. The table of GPU-hours has the FLOPs.",
            mistakes={
                "That leaves attention out.": {"ops": 6 * small.P_act},
                "That is the forward pass alone.": B_run * ops / (3 * C * T_run),
            },
            remark="The hours may include restarts and experiments, the model saw more tokens, and the run may have "
            "been less efficient than that of the larger model. GPU-hours on a model card say what a model cost, not how fast "
            "it ran.",
        ),
        Question(
            "How long does it take to train Llama 3 70B on 15 trillion tokens with {N_gpu:count} H100s at an MFU of "
            "{MFU:%}? Leave attention out.",
            answer=run,
            unit="days",
            given={"P_act": llama.P_act, "B_run": 15e12, "N_gpu": 4096, "C": h100.bf16, "MFU": 0.45},
            hint="It has 69.5 billion active parameters, and an H100 has a dense bf16 peak of 989 TFLOP/s.",
            mistakes={
                "That is at the full peak.": {MFU: 1},
                "That is the forward pass alone.": 2 * flop * P_act * B_run / (N_gpu * C * MFU),
                "That is with full recomputation, which the MFU does not count.": (
                    8 * flop * P_act * B_run / (N_gpu * C * MFU)
                ),
            },
            tolerance=0.03,
        ),
        Question(
            "Suppose each of the 32 query heads of Llama 3 8B had keys and values of its own. By how much would the "
            "model grow?",
            predict=True,
            given={n: known[n] for n in ("L", "D", "d_head", "n_q", "n_kv")} | {"P": small.P},
            choices=[
                ("by 1%", "K and V would become four times as wide, in all layers.", grow < 0.03),
                ("by 10%", "K and V are narrow, but there are 32 layers.", Abs(grow - 0.1) < 0.03),
                ("by 50%", "The MLP holds most of the parameters, and it stays as it is.", grow > 0.3),
            ],
            solution=f"By {show(own / small.P, '%', digits=2)}, or {show(own / 1e6, '1')} million parameters. In the figure, "
            "K and V would become as wide as Q. So sharing heads saves few parameters. Its purpose is a smaller "
            "KV cache, the keys and values that a model keeps while it generates text: this cache shrinks to a quarter.",
        ),
        Question(
            "The layers of Mixtral 8x7B have the dimensions of Llama 3 8B, but eight experts instead of one MLP, and two "
            "experts work on each token. How many active parameters does Mixtral have?",
            predict=True,
            given={"L": known["L"], "P_attn": small.P_attn, "P_mlp": small.P_mlp, "k": 2, "n_vocab": 32000, "D": 4096},
            choices=[
                ("as many as Llama 3 8B", "Two experts work on a token, where Llama has one MLP.", more < 1.1),
                ("not quite twice as many", "The MLP counts double, but attention does not.", Abs(more - 1.8) < 0.19),
                (
                    "eight times as many",
                    "All eight experts are stored, but only two of them work on a token.",
                    more > 4,
                ),
            ],
            solution=f"Not quite twice as many: {show(mixtral.P_act / 1e9, '1')} billion, where Llama 3 8B has "
            f"{show(small.P_act / 1e9, '1')} billion. The MLP counts double, and attention does not.",
        ),
        Question(
            "The scores and the weighted sum have no parameters, so the rule of 2 FLOPs per parameter misses them. What fraction "
            "of the forward FLOPs of a layer of Llama 3 8B do they take, in sequences of 8,192 tokens?",
            predict=True,
            given={"S": seq, "n_q": known["n_q"], "d_head": known["d_head"], "P_layer": small.P_layer},
            choices=[
                ("1%", "Each token is compared with thousands of others.", share < 0.03),
                (
                    "5%",
                    "Each token is compared with thousands of others, in each of 32 heads.",
                    Abs(share - 0.06) < 0.03,
                ),
                ("24%", "Each token is compared with 8,192 keys, in each of 32 heads.", Abs(share - 0.24) < 0.03),
            ],
            solution=f"{show(scores / (scores + 2 * small.P_layer), '%', digits=2)}. Each token is compared with thousands of others, "
            "in each of the 32 heads.",
        ),
        Question(
            "A training run recomputes every layer. Its GPUs run at {HFU:%} of their peak rate, recomputation included. What "
            "fraction of the peak goes into FLOPs that the model needs? Leave attention out.",
            predict=True,
            given={"HFU": 0.52},
            choices=[
                ("52%", "Some of these FLOPs are done a second time.", Abs(HFU - 0.52) > 0.01),
                ("39%", "Of every 8 FLOPs, 6 are the model's own.", Abs(HFU * 6 / 8 - 0.39) < 0.005),
                ("26%", "Only the forward pass is done twice, not the whole step.", Abs(HFU * 6 / 8 - 0.26) < 0.005),
            ],
            solution=f"About 39%. Of every 8 FLOPs, 6 are the model's own, and $0.52 \\cdot 6/8 = {0.52 * 6 / 8:.2f}$.",
        ),
    ],
)
