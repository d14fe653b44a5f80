"""Practice questions on counting a transformer."""

from gpuscale import chip
from gpuscale.llm import activations, counts, given, kv_caches, training_compute, transformer
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import (
    MFU,
    B,
    B_run,
    C,
    D,
    E,
    F,
    L,
    N_gpu,
    P_act,
    S,
    T_step,
    V_act,
    W_host,
    b,
    d_head,
    flop,
    k,
    n_kv,
    n_mat,
    n_q,
    n_seq,
)

h100, gh200 = chip("h100_sxm"), chip("gh200")
llama, small = counts("llama3_70b"), counts("llama3_8b")
dims = llama.inputs
layer = transformer.layer_matrices.where(transformer.attention_params, transformer.mlp_params)
step = training_compute.mfu_step_time.where(training_compute.training_flops)
run = training_compute.run_time.where(step)
cache = kv_caches.kv_cache.where(kv_caches.kv_token)
top = transformer.moe_active_layer_params.where(transformer.mlp_params)
model_ops = training_compute.model_flops.where(transformer.attention_flops)
measured_mfu = training_compute.mfu.where(training_compute.training_flops)


def kept(key):
    """Bytes that a layer of a model keeps of a sequence."""
    return given(activations.llama_activations, key, n_seq=1, S=8192, b=2)


shape = {name: dims[name] for name in ("D", "F", "n_q", "n_kv", "d_head", "n_mat")}

questions = QuestionSet(
    "counting_a_transformer",
    "Counting a transformer",
    intro="Questions on parameters, operations, activations and the cache.",
    chapter="counting_a_transformer",
    questions=[
        Question(
            "A layer has width {D}, {n_q:count} query heads and {n_kv:count} key heads of width {d_head:count}, "
            "and an MLP "
            "of {n_mat:count} matrices with {F:count} columns. How many parameters do its matrices have?",
            answer=layer,
            given=[shape, {"D": 4096, "F": 14336, "n_q": 32, "n_kv": 8, "d_head": 128, "n_mat": 3}],
            mistakes={
                "That gives every query head its own key head.": {n_kv: n_q},
                "A gated MLP has three matrices.": {n_mat: 2},
                "That is 12 D squared, which holds for a GPT.": 12 * D**2,
            },
        ),
        Question(
            "Give the parameters of the matrices of one layer of a GPT of width D: as many key heads as queries, "
            "two MLP "
            "matrices four times as wide.",
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
            'Find the error. "With a gated MLP a layer has 16 D squared parameters." Few models pay a third more for '
            "the gate. A GPT of width {D} has two MLP matrices {F} wide. How many times the model's width is a gated "
            "MLP with as many parameters?",
            answer=2 * F / (3 * D),
            given={"D": 8192, "F": 4 * 8192},
            unit="1",
            mistakes={
                "That is the width with two matrices; a third one has to be paid for.": F / D,
                "Three matrices instead of two: the width falls by a third, not by a half.": F / (2 * D),
            },
            solution=[(2 * D * F, "two matrices"), (2 * F / (3 * D), "shared by three, over D")],
            remark="That is the usual 8/3. At a width of 4 D it would be 16 D squared, but hardly anyone builds that.",
        ),
        Question(
            "A layer has {E:count} routed experts and {n_shared:count} shared one, each of three matrices {D} × "
            "{F}, and a "
            "router. How many of its parameters does a token meet that visits {k:count} routed experts?",
            answer=top,
            given={"E": 256, "n_shared": 1, "D": 7168, "F": 2048, "k": 8, "n_mat": 3},
            mistakes={
                "The shared expert works on every token.": k * n_mat * D * F + D * E,
                "Those are all experts of the layer.": transformer.moe_layer_params.where(transformer.mlp_params),
            },
            tolerance=0.003,
        ),
        Question(
            "A model has {P_act:1,3} parameters that work on a token. How many operations does a training step of "
            "{B:count} "
            "tokens need, attention left out?",
            answer=training_compute.training_flops,
            given=[{"P_act": small.P_act, "B": 2**20}, {"P_act": 1e9, "B": 2**22}],
            mistakes={
                "That is the forward pass alone.": 2 * flop * P_act * B,
                "That is with full recomputation: the model needs six.": 8 * flop * P_act * B,
                "That is the backward pass alone.": 4 * flop * P_act * B,
            },
        ),
        Question(
            "A model of {L:count} layers with {n_q:count} heads of width {d_head:count} and {P_act:1,3} active "
            "parameters trains "
            "on one sequence of {S:count} tokens, B = S. How many operations does it need with attention over the "
            "whole "
            "sequence?",
            answer=model_ops.rhs.subs(B, S),
            given={"L": 80, "n_q": 64, "d_head": 128, "P_act": llama.P_act, "S": 65536},
            mistakes={
                "Attention costs as much as the parameters here; it cannot be left out.": 6 * flop * P_act * S,
                "That counts only what a causal mask lets through.": (
                    training_compute.model_flops.where(transformer.causal_attention_flops).rhs.subs(B, S)
                ),
            },
        ),
        Question(
            "Training on {N_gpu:count} H100 ({C} each) takes {T_step:s} for a step of {B:count} tokens with "
            "{P_act:1,3} active "
            "parameters. Every layer is recomputed in the backward pass. What is the MFU, attention left "
            "out?",
            answer=measured_mfu,
            given={"N_gpu": 1024, "C": h100.bf16, "T_step": 10.0, "B": 2**23, "P_act": llama.P_act},
            unit="%",
            mistakes={
                "That is the HFU: it counts what is done twice, which the model does not need.": (
                    training_compute.hfu.where(training_compute.recompute_flops)
                ),
                "That counts the forward pass alone.": 2 * flop * P_act * B / (N_gpu * C * T_step),
            },
        ),
        Question(
            "How long does it take to train {P_act:1,3} active parameters on {B_run:1,2} tokens with "
            "{N_gpu:count} H100 of {C} at "
            "an MFU of {MFU:%}?",
            answer=run,
            unit="days",
            given=[
                {"P_act": llama.P_act, "B_run": 15e12, "N_gpu": 4096, "C": h100.bf16, "MFU": 0.45},
                {"P_act": small.P_act, "B_run": 15e12, "N_gpu": 512, "C": h100.bf16, "MFU": 0.4},
            ],
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
            "A layer of width {D} keeps its activations in {b} an element, without dropout or scores: {n_q:count} "
            "query heads and "
            "{n_kv:count} key heads of width {d_head:count}, {n_mat:count} MLP matrices {F:count} wide. How many "
            "bytes does one "
            "sequence of {S:count} tokens take?",
            answer=activations.llama_activations,
            given=shape | {"b": 2, "n_seq": 1, "S": 4096},
            unit="B",
            mistakes={
                "That is only what enters the layer: full recomputation.": b * n_seq * S * D,
                "Those are elements, not bytes.": {b: b / 2},
                "The norms keep what enters and what leaves them, 4 D.": (
                    b * n_seq * S * (2 * d_head * (n_q + n_kv) + n_mat * F)
                ),
            },
        ),
        Question(
            "A layer keeps {V_act} of activations. How long does it take to bring them to the host at {W_host}?",
            answer=activations.offload_time,
            given=[
                {"V_act": kept("llama3_70b"), "W_host": gh200.host_bw},
                {"V_act": kept("llama3_8b"), "W_host": h100.pcie_bw},
            ],
            mistakes={
                "They come back later, in the backward pass and the other direction.": 2 * V_act / W_host,
                "The host's bandwidth is in bytes already.": 8 * V_act / W_host,
            },
        ),
        Question(
            "{n_seq:count} conversations of {S:count} tokens are cached in {b} an element: {L:count} layers, "
            "{n_kv:count} key heads "
            "of width {d_head:count}. How large is the cache?",
            answer=cache,
            given=[
                {name: dims[name] for name in ("L", "n_kv", "d_head")} | {"n_seq": 32, "S": 8192, "b": 2},
                {"L": 32, "n_kv": 8, "d_head": 128, "n_seq": 8, "S": 32768, "b": 2},
            ],
            mistakes={
                "That has keys or values; both are kept.": n_seq * S * b * L * n_kv * d_head,
                "That is one layer.": {L: L / L},
            },
        ),
        Question(
            "What makes the arithmetic intensity of attention in decode larger, for long sequences?",
            choices=[
                ("more query heads for each key head", "Each key that is read is then used by more queries.", True),
                ("a larger batch", "Each sequence has a cache of its own: twice the work, twice the bytes.", False),
                ("a longer sequence", "Work and bytes both grow with it.", False),
                ("wider heads", "Work and bytes both grow with them.", False),
            ],
        ),
    ],
)
