"""Models and recipes: counts of parameters, FLOPs, tokens and bytes against what is printed."""

from __future__ import annotations

import re
from fractions import Fraction

from specs.relating import check, each, line, lines, near, of

from gpuscale import specs
from gpuscale.llm import counts

SIZE = {"B": 10**9, "M": 10**6}


def interval(spec: specs.Spec) -> tuple[Fraction, Fraction]:
    """Where a count may lie that is printed so: half a digit either way, or up to one more if it is truncated.

    Two zeros or more at the end of a whole number are taken for rounding.
    """
    number, letter = re.fullmatch(r"([\d.,]+)([BM])", spec.printed).groups()
    zeros = re.search(r"(0{2,})$", number) if "." not in number else None
    place = len(zeros[1]) if zeros else -len(number.partition(".")[2])
    digit, value = Fraction(10) ** place * SIZE[letter], Fraction(spec.value)
    return (value, value + digit) if "truncated to" in spec.basis else (value - digit / 2, value + digit / 2)


@each("model", "params")
def printed_total(m) -> bool:
    """The count of the parameters is printed so."""
    low, high = interval(m.spec("params"))
    return low <= counts(m).P < high


@each("model", "active_params")
def printed_active_total(m) -> bool:
    """The count of the parameters that a token meets is printed so, with or without the embedding."""
    spec, ours = m.spec("active_params"), counts(m)
    low, high = interval(spec)
    embedding = ours.inputs["n_vocab"] * ours.inputs["D"] if "embedding included" in spec.basis else 0
    return (
        "embedding included" in spec.basis or "embedding not" in spec.basis
    ) and low <= ours.P_act + embedding < high


FORM = {  # what a form has by its definition, where the source names the form
    "mlp_matrices": {"gated": 3, "gate, up, down": 3, "up and down": 2},
    "norm_vectors": {"a scale alone": 1, "scale and shift": 2},
    "vocab_matrices": {"not tied": 2, "tied": 1},
    "biases": {"": 1},
    "dropout": {"": 1},
}
for field, forms in FORM.items():

    @each("model", field)
    def form(m, field=field, forms=forms) -> bool:
        """It follows from the form that the source names."""
        return m.get(field) == next(number for words, number in forms.items() if words in m.spec(field).basis)


WIDER = "gpt_oss_120b gpt_oss_20b gemma2_9b qwen3_32b qwen3_30b_a3b qwen3_235b_a22b"  # heads wider than the model


@each("model", "head_dim", but=WIDER)
def heads_times_width(m) -> bool:
    """The heads together are as wide as the model."""
    return m.head_dim * m.heads == m.d_model


@each("model", "positions")
def four_times_the_width(m) -> bool:
    """The feed-forward width is four times the width."""
    return m.d_ff == 4 * m.d_model


@each("model", "checkpoint")
def two_bytes_each(m) -> bool:
    """Two bytes for each parameter of the count, to the last one."""
    return m.checkpoint == 2 * (counts(m).P + m.get("uncounted", 0))


@of("model", "llama3_8b")
def tokens_of_llama(m) -> bool:
    """About as many tokens as the largest of its family."""
    return near(m.train_tokens, specs.model("llama3_405b").train_tokens, 0.05)


@each("model", "train_flop")
def six_flops(m) -> bool:
    """Six FLOPs per parameter per token of the training."""
    return near(6 * m.params * m.train_tokens, m.train_flop, 0.01)


@each("model", "window_layers")
def every_other_layer(m) -> bool:
    """Every other layer has a window."""
    return 2 * m.window_layers == m.layers


@of("model", "llama2_7b", "llama2_13b", "llama2_70b", "codellama_34b", "llama3_8b", "llama3_70b", "llama3_405b")
def heads_of_llama(m) -> bool:
    """The models of the family have heads of one width."""
    sisters = (specs.model(f"llama3_{size}") for size in ("8b", "70b", "405b"))
    return all(m.d_model * sister.heads == sister.d_model * m.heads for sister in sisters)


@of("model", "megatron_529_6b")
def activations_of_megatron(m) -> bool:
    """Activations on the first of 35 stages, sharded 8 ways and interleaved 3 ways, are 114 GiB."""  # korthikanti2022
    s, h, a = m.train_seq, m.d_model, m.heads
    layer = s * h * (10 + 24 / 8 + 5 * a * s / (h * 8))
    return near(layer * m.layers * (1 + 34 / (35 * 3)), 114.0234375 * 2**30, 1e-6)


RATE = 180e3  # GPU-hours for 1e12 tokens: deepseek-v3, section 1


@of("model", "deepseek_v3")
def tokens_of_deepseek(m) -> bool:
    """180,000 GPU-hours per 1e12 tokens make up those of pre-training, in 3.7 days each."""
    hours = line("deepseek_v3_cost", stage="pre-training").gpu_hours
    return near(m.train_tokens / 1e12 * RATE, hours, 1e-3) and near(RATE / m.train_gpus / 24, 3.7, 0.02)


@of("model", "deepseek_v2", "deepseek_v3")
def width_without_experts(m) -> bool:
    """A layer without experts is as wide as the experts of a token."""
    return m.d_ff_dense == m.d_ff * (m.active_experts + m.shared_experts)


# ---- recipes

BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1}


for recipe in specs.parts("recipe").values():
    for name in recipe.fields:
        if named := re.search("|".join(BYTES), recipe.spec(name).basis):

            @of("recipe", recipe.key, also=f" {name}")
            def width_of_a_format(r, name=name, width=BYTES[named[0]]) -> bool:
                """As wide as the format that is named,"""
                return r.get(name) == width


TOTALS = {"zero_mixed": 16, "bf16_fp32_grads": 18, "fp32": 16}  # zero2019, section 3.1; megatron-core


@of("recipe", *TOTALS)
def bytes_in_all(r) -> bool:
    """The bytes of a parameter make up the total that is printed."""
    return r.weights + r.gradients + r.master + 2 * r.moment == TOTALS[r.key]


@check
def all_as_wide() -> bool:
    """In fp32 activations are as wide as weights."""
    return specs.part("recipe", "fp32").activations == specs.part("recipe", "fp32").weights


@check
def training_of_llama() -> bool:
    """The sequences of its stages are those of the model."""
    m = specs.model("llama3_405b")
    return [row.seq for row in lines("llama3_stages")] == [m.train_seq, m.train_seq, m.max_tokens]
