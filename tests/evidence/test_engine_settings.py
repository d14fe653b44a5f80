"""From a symptom to a setting: every formula and setting of the tables exists, and each change helps, in numbers."""

import re

import pytest

from gpuscale import serving, sources
from gpuscale.core.html import anchor
from gpuscale.evidence import settings_by_engine, settings_by_symptom
from gpuscale.llm import counts
from gpuscale.serving import step
from gpuscale.specs import chip, serving_settings, serving_symptoms, setting_sources
from gpuscale.specs.engine_settings import read_settings
from gpuscale.specs.reading import SpecError

LLAMA, MIXTURE, H100 = "llama3_70b", "deepseek_v3", "h100_sxm"
SMALL = {
    "engines": '[engines]\nmine = { title = "Mine", source = "lab, page 7" }\n',
    "settings": '[settings.batch]\ntitle = "batch limit"\nmine = "--batch"\n',
    "symptoms": '[[symptoms]]\nseen = "slow"\nbecause = "It is."\nformulas = ["decode_bound"]\n',
    "changes": 'changes = [{ how = "lower", setting = "batch" }]\n',
}


def longest(**more) -> float:
    """A step of 64 sequences of 8,192 tokens on four GPUs."""
    return step(LLAMA, H100, **{"batch": 64, "context": 8192, "gpus": 4} | more).bound


def alone(**more) -> float:
    """A step of one short sequence."""
    return step(LLAMA, H100, **{"context": 128, "gpus": 4} | more).bound


def experts_of_a_gpu(ranks: int) -> float:
    """Bytes of experts that each of some GPUs reads for one token."""
    return step(MIXTURE, H100, weights="fp8", gpus=ranks).V_w / ranks


def stall(tokens: int) -> float:
    """A step of 16 sequences with a chunk of a prompt."""
    found = counts(LLAMA).inputs
    known = {"P_act": counts(LLAMA).P_act, "n_vocab": found["n_vocab"], "D": found["D"], "ops_kv": 1e9, "V_read": 141e9}
    return serving.mixed_step(**known, B_seq=16, S_chunk=tokens, C=4 * chip(H100).bf16, W_hbm=4 * chip(H100).hbm_bw)


def first_token(cached: int = 0, gpus: int = 4) -> float:
    return serving.prefill(LLAMA, H100, prompt=8192, cached=cached, gpus=gpus).bound


def in_chunks(tokens: int) -> float:
    return serving.chunked_first_token(T_queue=0, S_in=8192, S_chunk=tokens, T_mix=stall(tokens))


def queue(slots: int = 64, prefill: float = 0.1, replicas: int = 1) -> float:
    """The largest rate of a server, or of several; the queue grows less if it is larger."""
    known = {"S_out": 500, "T_w": 10e-3, "t_seq": 1e-4}
    return -replicas * serving.largest_rate(B_seq=slots, T_pre=prefill, **known)


def blocks(limit: int = 64, used: float = 0.9, cache: str = "bf16", gpus: int = 4) -> float:
    """Blocks that a full batch takes, over those that there are."""
    token = serving.decode_inputs(LLAMA, cache=cache)["V_tok"]
    known = {"S_hbm": chip(H100).hbm, "V_res": 141e9, "S_page": 16, "V_tok": token}
    pool = serving.pool_blocks(N_gpu=gpus, f_mem=used, **known)
    return limit * serving.blocks_of_sequence(S=4096, S_page=16) / pool


def latent_fits(group: int) -> float:
    known = {"N_gpu": 8, "f_mem": 0.9, "S_hbm": chip("b200_sxm").hbm, "V_res": 671e9, "V_attn": 11e9, "V_tok": 70e3}
    return -serving.data_parallel_attention(Y=group, n_kv=1, **known)


def ceiling(cache: str) -> float:
    return -serving.throughput_ceiling(W_hbm=3e12, V_seq=8192 * serving.decode_inputs(LLAMA, cache=cache)["V_tok"])


def degree(ranks: int, reduce: float = 8e-6) -> float:
    """GPU-seconds of a step: all-reduces that shrink nothing cost more on more GPUs."""
    known = {"T_mem": 5e-3, "L": 32, "t_layer": 0}
    return ranks * serving.decode_tensor_parallel(Y=ranks, t_ar=reduce, **known)


def uneven(tokens: int) -> float:
    return serving.expert_imbalance(E=256, k=8, B=tokens)


# By the place of a symptom and a setting: what is too high, before and after the change
HELPS = {
    (0, "weight_format"): (alone(), alone(weights="fp8")),
    (0, "tensor"): (alone(), alone(gpus=8)),
    (0, "experts"): (experts_of_a_gpu(8), experts_of_a_gpu(16)),
    (0, "speculation"): (
        serving.time_per_token(T_dec=alone(), a_step=1),
        serving.time_per_token(T_dec=alone(), a_step=2),
    ),
    (1, "cache_format"): (longest(), longest(cache="fp8")),
    (1, "batch"): (longest(), longest(batch=32)),
    (1, "replicas"): (longest(), longest(batch=32)),
    (2, "step_tokens"): (stall(8192), stall(512)),
    (2, "disaggregation"): (stall(8192), longest(batch=16)),
    (3, "prefix_cache"): (first_token(), first_token(cached=4096)),
    (3, "step_tokens"): (in_chunks(128), in_chunks(2048)),
    (3, "tensor"): (first_token(), first_token(gpus=8)),
    (4, "batch"): (queue(), queue(slots=128)),
    (4, "prefix_cache"): (queue(), queue(prefill=0.05)),
    (4, "replicas"): (queue(), queue(replicas=2)),
    (5, "cache_memory"): (blocks(), blocks(used=0.95)),
    (5, "cache_format"): (blocks(), blocks(cache="fp8")),
    (5, "batch"): (blocks(), blocks(limit=32)),
    (5, "tensor"): (blocks(), blocks(gpus=8)),
    (5, "pipeline"): (blocks(), blocks(gpus=8)),
    (6, "cache_format"): (ceiling("bf16"), ceiling("fp8")),
    (6, "data_attention"): (latent_fits(8), latent_fits(1)),
    (6, "context"): (latent_fits(8), latent_fits(1)),
    (7, "all_reduce"): (degree(8), degree(8, reduce=5e-6)),
    (7, "tensor"): (degree(8), degree(2)),
    (7, "replicas"): (degree(8), degree(4)),
    (8, "batch"): (uneven(256), uneven(512)),
}

# No formula counts these: the copies take tokens from the GPU that has the most.
UNCOUNTED = {(8, "expert_copies")}


def test_each_change_helps():
    named = {(i, change.setting) for i, one in enumerate(serving_symptoms()) for change in one.changes}
    assert named == set(HELPS) | UNCOUNTED
    for key, (before, after) in HELPS.items():
        assert after < before, (serving_symptoms()[key[0]].seen, key[1])


def test_the_formulas_are_those_of_serving_and_lead_to_the_index():
    page = settings_by_symptom().html
    for one in serving_symptoms():
        for name in one.formulas:
            assert getattr(serving, name).name == name
            assert f'href="formula_index.ipynb#index-serving-{anchor(name)}"' in page


def test_each_change_leads_to_its_setting_and_each_engine_has_a_source():
    page, table = settings_by_symptom().html, settings_by_engine().html
    rows = set(re.findall(r'<tr role="row" id="([^"]+)"', table))
    assert rows == {f"setting-{anchor(key)}" for key in serving_settings()}
    assert {name for name in re.findall(r'href="#([^"]+)"', page)} <= rows
    for one in setting_sources().values():
        assert sources.source_name(one.source.partition(",")[0]) != one.source and one.title in table
    assert ">--max-num-seqs</code>" in table and table.count("<code ") > 40


@pytest.mark.parametrize(
    ("part", "text", "words"),
    [
        ("changes", "", ["part 'batch'", "changes nothing"]),
        ("changes", 'changes = [{ setting = "batches" }]\n', ["'batches' is not known", "one of batch"]),
        (
            "settings",
            '[settings.batch]\ntitle = "batch limit"\nyours = "--batch"\n',
            ["'--batch' is no setting", "mine"],
        ),
    ],
)
def test_what_is_not_known_is_refused(tmp_path, part, text, words):
    path = tmp_path / "settings.toml"
    path.write_text("".join(SMALL.values()), encoding="utf-8")
    assert read_settings(path)["symptoms"][0].changes[0].how == "lower"
    path.write_text("".join((SMALL | {part: text}).values()), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_settings(path)
    assert all(word in str(caught.value) for word in words), str(caught.value)
