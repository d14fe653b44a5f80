"""Practice questions on the memory of training."""

from sympy import Abs, floor

from gpuscale import chip
from gpuscale.llm import activations, counts, given, kv_caches, training_memory
from gpuscale.quiz import Question, QuestionSet
from gpuscale.specs import model, part
from gpuscale.symbols import (
    D,
    F,
    L,
    P,
    S,
    S_level,
    V_act,
    V_head,
    V_state,
    W_host,
    b,
    b_grad,
    b_master,
    b_mom,
    b_w,
    d_head,
    n_kv,
    n_mat,
    n_q,
    n_seq,
)
from gpuscale.units import show

gh200, b300 = chip("gh200"), chip("b300_sxm")
llama, small = counts("llama3_70b"), counts("llama3_8b")
dims, known, seq = llama.inputs, small.inputs, model("llama3_8b").train_seq
cache = kv_caches.kv_cache.where(kv_caches.kv_token)


def recipe(key):
    """Bytes per parameter, by symbol."""
    r = part("recipe", key)
    return {"b_w": r.weights, "b_grad": r.gradients, "b_master": r.master, "b_mom": r.moment}


def kept(key):
    """Bytes that a layer of a model keeps of a sequence."""
    return given(activations.llama_activations, key, n_seq=1, S=seq, b=2)


state = training_memory.replicated_state.where(training_memory.optimizer_bytes)
usual, mixed, single = recipe("bf16_fp32_grads"), recipe("zero_mixed"), recipe("fp32")
shape = {name: dims[name] for name in ("D", "F", "n_q", "n_kv", "d_head", "n_mat")}
head = given(activations.head_activations, "llama3_8b", n_seq=1, S=seq, b=2, b_logit=4)
HINT = "The hardware tables have the dimensions of every model."
PER = 2 * b_mom + b_w + b_grad + b_master

# Predictions
each = D * 4 + 2 * d_head * (n_q + n_kv) + n_mat * F
filled = cache.rhs / (b_w * P)

questions = QuestionSet(
    "training_memory",
    "Training memory",
    intro="Questions on weights, gradients, optimizer state, activations and the KV cache.",
    chapter="training_memory",
    questions=[
        Question(
            "How many bytes do weights, gradients and optimizer state of Llama 3 70B take, with bf16 weights, fp32 "
            "gradients, Adam and a master copy?",
            answer=state,
            given=usual | {"P": llama.P},
            hint="The table of recipes has the bytes per parameter. The model has 70.6 billion of them.",
            mistakes={
                "That is the weights alone.": P * b_w,
                "The gradients have four bytes in this recipe.": {"b_grad": 2},
                "Adam also needs a master copy of the weights.": P * (b_w + b_grad + 2 * b_mom),
            },
        ),
        Question(
            'Find the error: "Adam keeps two moments in fp32, so the optimizer state of Llama 3 8B takes 64 GB." How '
            "much does it take in mixed precision?",
            answer=P * training_memory.optimizer_bytes.rhs,
            given={"P": small.P, "b_master": usual["b_master"], "b_mom": usual["b_mom"]},
            unit="B",
            mistakes={
                "That is the two moments alone. What else does the optimizer store in fp32?": 2 * P * b_mom,
            },
        ),
        Question(
            "To resume a run, a checkpoint holds the bf16 weights and the optimizer state, but no gradients. How large is "
            "that checkpoint for Llama 3 8B, with Adam and a master copy?",
            answer=P * (b_w + training_memory.optimizer_bytes.rhs),
            given={"P": small.P, "b_w": usual["b_w"], "b_master": usual["b_master"], "b_mom": usual["b_mom"]},
            unit="B",
            mistakes={
                "That is the published checkpoint, which holds the weights alone.": P * b_w,
                "Resuming needs both moments of Adam.": P * (b_w + b_master),
            },
        ),
        Question(
            "How many bytes of activations does a layer of Llama 3 70B keep for one sequence of {S:count} tokens in bf16, "
            "with FlashAttention and nothing recomputed?",
            answer=activations.llama_activations,
            given=shape | {"b": 2, "n_seq": 1, "S": 4096},
            unit="B",
            hint=HINT,
            mistakes={
                "That is only the input of the layer, as in full recomputation.": b * n_seq * S * D,
                "Those are elements, not bytes.": {b: b / 2},
                "The norms keep their inputs and outputs, 4 D in all.": (
                    b * n_seq * S * (2 * d_head * (n_q + n_kv) + n_mat * F)
                ),
            },
        ),
        Question(
            "How long does it take to bring the activations of one layer of Llama 3 70B to the memory of a Grace CPU, for "
            "one sequence of 8,192 tokens in bf16 on a GH200?",
            answer=activations.offload_time,
            given={"V_act": kept("llama3_70b"), "W_host": gh200.host_bw},
            hint="First find the bytes. A GH200 reaches its Grace over NVLink-C2C, at 450 GB/s in each direction.",
            mistakes={
                "They come back later, in the backward pass and in the other direction.": 2 * V_act / W_host,
                "The bandwidth of the link is in bytes already.": 8 * V_act / W_host,
                "That is the bandwidth of PCIe.": {"W_host": chip("h100_sxm").pcie_bw},
            },
        ),
        Question(
            "Llama 3 8B trains on one B300, with bf16 weights, fp32 gradients, Adam and a master copy. Nothing is recomputed. "
            "How many sequences of 8,192 tokens fit into memory at once?",
            answer=floor((S_level - V_state) / (L * V_act + V_head)),
            given={
                "S_level": b300.hbm,
                "V_state": small.P * (usual["b_w"] + usual["b_grad"] + usual["b_master"] + 2 * usual["b_mom"]),
                "L": known["L"],
                "V_act": kept("llama3_8b"),
                "V_head": head,
            },
            unit="1",
            noun="sequences",
            exact=True,
            hint="Subtract the training state from the memory. A sequence needs the activations of all layers and of the "
            "output head.",
            mistakes={"The training state is in the same memory.": floor(S_level / (L * V_act + V_head))},
        ),
        Question(
            "{n_seq:count} conversations of {S:count} tokens are cached in bf16, for Llama 3 70B. How large is the KV "
            "cache?",
            answer=cache,
            given={name: dims[name] for name in ("L", "n_kv", "d_head")} | {"n_seq": 32, "S": 8192, "b": 2},
            hint=HINT,
            mistakes={
                "Both keys and values are kept.": n_seq * S * b * L * n_kv * d_head,
                "That is one layer.": {L: L / L},
                "Queries are not kept, only keys and values, and 64 query heads share 8 of them.": {"n_kv": 64},
            },
        ),
        Question(
            "What raises the arithmetic intensity of attention while a model generates text, for long sequences?",
            choices=[
                ("more query heads per key head", "Each key that is read is then used by more queries.", True),
                ("a larger batch", "Each sequence has its own cache: twice the work, twice the bytes.", False),
                ("a longer sequence", "Work and bytes both grow with it.", False),
                ("wider heads", "Work and bytes both grow with them.", False),
            ],
        ),
        Question(
            "Suppose you train in fp32 throughout, without a master copy, instead of mixed precision with bf16 weights and "
            "gradients. What happens to the memory of weights, gradients and optimizer state?",
            predict=True,
            given=single,
            choices=[
                (
                    "it doubles",
                    "The master copy and the moments are in fp32 either way.",
                    PER > 1.5 * sum(mixed.values()) + 1.5 * mixed["b_mom"],
                ),
                (
                    "it stays the same",
                    "Mixed precision stores each weight twice, once in bf16 and once in fp32.",
                    Abs(PER - sum(mixed.values()) - mixed["b_mom"]) < 0.5,
                ),
                (
                    "it falls by half",
                    "The moments alone are half of it.",
                    PER < 0.7 * sum(mixed.values()) + 0.7 * mixed["b_mom"],
                ),
            ],
            solution=f"It stays the same, {show(sum(single.values()) + single['b_mom'], '1', short=True)} bytes per parameter. "
            "What weights and gradients save in bf16, the master copy adds again. The gain of mixed precision "
            "is speed: the Tensor Cores are faster in bf16, and activations take half the bytes.",
        ),
        Question(
            "A training run uses FlashAttention. You double the length of its sequences, and keep their number. How much more "
            "memory do the activations of a layer take?",
            predict=True,
            choices=[
                ("twice as much", "Everything that is kept belongs to one token.", True),
                ("between twice and four times as much", "Only the scores grow with the square of the length.", False),
                ("four times as much", "That would hold if the scores were kept.", False),
            ],
            solution="Twice as much. Queries, keys, values, results and the MLP's vectors belong to single tokens. Only the "
            "scores belong to pairs of tokens, and FlashAttention does not keep them.",
        ),
        Question(
            "With full recomputation, a layer of Llama 3 8B keeps only its input between the two passes. To what "
            "fraction do its activations shrink?",
            predict=True,
            given={n: known[n] for n in ("D", "d_head", "n_q", "n_kv", "n_mat", "F")},
            choices=[
                ("about half", "The layer keeps far more than twice its input.", D / each > 0.3),
                ("about 1/17", "Add up the blocks of the figure, in units of D.", Abs(each / D - 17) < 0.5),
                (
                    "about 1/32",
                    "That would be one layer out of 32; all layers keep their inputs.",
                    Abs(each / D - 32) < 1,
                ),
            ],
            solution="To 1/17. The layer keeps "
            f"{show((4 * known['D'] + 2 * known['d_head'] * (known['n_q'] + known['n_kv']) + 3 * known['F']) / known['D'], '1', short=True)}"
            "$\\,D$ elements per token, and its input has $D$. While a layer is recomputed, its own activations "
            "come back, but only those of one layer at a time.",
        ),
        Question(
            "Llama 3 8B keeps the keys and values of 32,768 tokens in bf16. How large is this cache, compared with the weights?",
            predict=True,
            given={n: known[n] for n in ("L", "n_kv", "d_head")}
            | {"n_seq": 1, "S": 2**15, "b": 2, "b_w": 2, "P": small.P},
            choices=[
                ("about 1%", "Each token adds keys and values in all 32 layers.", filled < 0.05),
                ("about a quarter", "Each token adds keys and values in all 32 layers.", Abs(filled - 0.25) < 0.05),
                ("about as large", "That is how large it would be without grouped-query attention.", filled > 0.8),
            ],
            solution=f"About a quarter: {show(small.V_kv * 2**15, 'B')}, where the weights take {show(2 * small.P, 'B')}. With four "
            "such conversations at once, the cache is larger than the model.",
        ),
    ],
)
