"""A step, a prefill and the cache of every model, against its tensors and matmuls listed one by one."""

from collections import deque
from dataclasses import replace

import pytest
from formulas.serving.independent_decode_bytes import expert_of, multiplied
from llm.test_model_counts import written_out

from gpuscale import specs
from gpuscale.emulate import shapes
from gpuscale.llm import attention_intensity, counts
from gpuscale.serving import (
    given_decode,
    latent_intensity,
    longest_compute_bound,
    longest_compute_bound_attention,
    whole_head_read,
)
from gpuscale.serving.given_decode import cache_room, decode_inputs, gpt_fast, peak, prefill, step, value
from gpuscale.specs.measured_serving import serving_rows

MODELS = pytest.mark.parametrize("key", specs.models())
H100 = specs.chip("h100_sxm")


def windows(key):
    """How many tokens each layer remembers at most."""
    part = specs.model(key)
    narrow = part.get("window_layers", 0)
    return [part.get("window")] * narrow + [None] * (part.layers - narrow)


@MODELS
def test_what_a_step_reads(key):
    """At a batch so large that every expert is met, then for one sequence, with formats of their own."""
    m, many = written_out(key), step(key, H100, batch=10**6)
    assert many.V_w == pytest.approx(2 * shapes.size(multiplied(m)), rel=1e-12)
    one = step(key, H100, weights="fp8", experts="mxfp4", head="bf16")
    read = 0
    for name, shape in multiplied(m):
        expert = expert_of(m, name)
        width = 2 if name == "head" else 1 if expert < 0 else 17 / 32
        read += width * shapes.size([(name, shape)]) if expert < m.active_experts else 0
    assert one.V_w == pytest.approx(read, rel=1e-12)


@MODELS
def test_the_cache_that_a_step_reads(key):
    m, tokens = written_out(key), 200
    layers = [deque(range(tokens), maxlen=window) for window in windows(key)]
    token = shapes.size(shapes.cached(replace(m, layers=1), 1))
    found = step(key, H100, batch=3, context=tokens, cache="fp8")
    assert found.V_kv == 3 * token * sum(map(len, layers))
    assert found.V_read == found.V_w + found.V_kv


@MODELS
def test_the_flops_of_a_step_and_of_a_prompt(key):
    m, tokens = written_out(key), 200
    weights = shapes.flops(p for p in shapes.products(m, 1) if p.weight)
    head = shapes.flops(p for p in shapes.products(m, 1) if p.name == "head")
    pair = shapes.flops(shapes.attention_products(m, 1))
    seen = [[min(last + 1, window or tokens) for last in range(tokens)] for window in windows(key)]
    assert prefill(key, H100, prompt=tokens).ops == tokens * (weights - head) + head + pair * sum(map(sum, seen))
    last = sum(one[-1] for one in seen)
    if not m.kv_rank:
        assert step(key, H100, batch=3, context=tokens).ops == 3 * (weights + pair * last)
        return
    again = (tokens - 1) * shapes.flops(p for p in shapes.products(m, 1) if p.name in ("key up", "value up"))
    assert step(key, H100, batch=3, context=tokens, absorbed=False).ops == 3 * (weights + pair * last + again)
    wide = 2 * m.heads * (2 * m.kv_rank + m.rope_dim) * tokens * m.layers
    assert step(key, H100, batch=3, context=tokens).ops == 3 * (weights + wide)


def test_tokens_that_are_verified_together():
    """Two tokens of a sequence read its cache once, meet more experts, and do the arithmetic of two sequences."""
    two = step("mixtral_8x7b", H100, batch=3, context=100, tokens=2)
    one, both = (step("mixtral_8x7b", H100, batch=batch, context=100) for batch in (3, 6))
    assert (two.V_kv, two.V_w, two.ops) == (one.V_kv, both.V_w, both.ops)


def test_contexts_beyond_which_no_batch_is_compute_bound():
    for key, matrices, attention in (("llama3_8b", 388, 393), ("llama3_70b", 1436, 1476), ("llama3_405b", 5298, 5601)):
        known = decode_inputs(key) | {"C": H100.bf16, "W_hbm": H100.hbm_bw}
        known["I"] = value(attention_intensity, known, S=1e12)
        assert round(value(longest_compute_bound, known)) == matrices
        exact = value(longest_compute_bound_attention, known)
        assert round(exact) == attention
        for context, limit in ((exact * 0.99, "compute"), (exact * 1.01, "cache")):
            assert step(key, H100, batch=1e7, context=context).limit == limit


def test_absorbed_latent_attention_is_near_the_ridge():
    """One token a step is below the ridge point of the H100, two are above."""
    known = decode_inputs("deepseek_v3", context=1e9)
    one, two = (value(latent_intensity, known, n_ask=n) for n in (1, 2))
    assert (round(one), known["V_tok"]) == (242, 70272)
    assert one < H100.bf16 / H100.hbm_bw < two
    slow = [step("deepseek_v3", H100, batch=1e6, context=1e5, tokens=n) for n in (1, 2)]
    assert [s.limit for s in slow] == ["cache", "compute"]


def test_groups_copy_attention_and_the_cache():
    m, gpus = written_out("llama3_8b"), 16
    attention = 2 * sum(
        p.inner * p.columns for p in shapes.products(m, 1) if p.name in ("query", "key", "value", "output")
    )
    plain = step("llama3_8b", H100, batch=32, context=1000, gpus=gpus)
    wide = step("llama3_8b", H100, batch=32, context=1000, gpus=gpus, group=16)
    assert (wide.V_w, wide.V_kv) == (plain.V_w, 2 * plain.V_kv)  # 8 heads on 16 GPUs
    apart = step("llama3_8b", H100, batch=32, context=1000, gpus=gpus, group=4)
    assert (apart.V_w, apart.V_kv) == (plain.V_w + 3 * attention, plain.V_kv)
    latent = [step("deepseek_v3", H100, batch=32, context=1000, gpus=gpus, group=n).V_kv for n in (1, 16)]
    assert latent[1] == 16 * latent[0]


def test_room_for_the_cache():
    part = specs.model("llama3_8b")
    found = cache_room("llama3_8b", H100, context=8192, usable=0.9, buffers=1e9)
    left = 0.9 * H100.hbm - 2 * counts("llama3_8b").P - 1e9
    blocks = int(left // (16 * 2 * 2 * part.layers * part.kv_heads * part.d_model // part.heads))
    assert (found.blocks, found.tokens, found.sequences) == (blocks, 16 * blocks, blocks // 512)
    apart, together = (
        cache_room("deepseek_v3", "b200_sxm", context=4096, weights="fp8", gpus=8, group=n) for n in (1, 8)
    )
    assert 6 < apart.tokens / together.tokens < 8


# The two constants


def test_two_constants_of_four_steps_predict_the_others():
    """bf16 rows of other models within 8% of their time, none slower than measured but by a percent."""
    eta, layer = gpt_fast()
    assert 0.85 < eta < 0.86 and 61e-6 < layer < 62e-6
    others = [p for p in given_decode.predictions() if p.row.weights == "bf16" and not p.row.outlier]
    dense = [p for p in others if not counts(p.row.model).moe]
    assert len(dense) >= 6 and all(-0.08 < p.error < 0.01 for p in dense)
    (mixture,) = [p for p in others if counts(p.row.model).moe]
    assert -0.12 < mixture.error < -0.08  # experts take longer than their bytes
    assert all(p.row.outlier or p.error > -0.3 for p in given_decode.predictions())


def test_the_fit_is_the_best_of_its_kind():
    rows = [row for row in serving_rows() if row.id.startswith("gptfast-llama2_7b-bf16")]
    best = given_decode.sustained(rows)

    def missed(eta, layer):
        return sum(
            (given_decode._of_row(row, given_decode.Sustained(eta, layer)).estimate - 1 / row.base) ** 2 for row in rows
        )

    assert len(rows) == 4 and best == gpt_fast()
    least = missed(*best)
    for eta, layer in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert missed(best.eta_hbm * eta, best.t_layer * layer) > least


def test_the_bytes_per_token_that_an_engine_prints():
    """gpt-fast counts the embedding as well; without it a GPU reads its part of the layers and the head."""
    for gpus, printed in ((2, 7.0007e9), (8, 2.1438e9)):
        known = decode_inputs("llama2_7b")
        read = value(whole_head_read, known, Y=gpus, V_w=step("llama2_7b", H100).V_w)
        embedding = 2 * known["n_vocab"] * known["D"]
        assert read + embedding == pytest.approx(printed, rel=5e-4)


# What is refused


def test_what_is_not_known_is_named():
    with pytest.raises(ValueError, match="format: expected one of fp32, bf16, .*; got 'int3'"):
        step("llama3_8b", H100, weights="int3")
    with pytest.raises(ValueError, match="no rate for int8; expected one of int8, bf16, fp16"):
        peak(_nothing(), "int8")
    with pytest.raises(ValueError, match="expected two measured steps or more; got 0"):
        given_decode.sustained([])


def _nothing():
    part = specs.chip("h100_sxm")
    bare = {name: spec for name, spec in part.specs.items() if name not in ("int8", "bf16", "fp16")}
    return type(part)("chip", "bare", "A bare GPU", part.labels, bare)
