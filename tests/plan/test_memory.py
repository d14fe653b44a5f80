"""Memory: closed forms of the papers, schedules walked slot by slot, and measured peaks."""

import dataclasses
import random
from functools import cache
from math import prod

import numpy as np
import pytest
from support.reference_planner import Slow

from gpuscale import specs
from gpuscale.plan import (
    Choice,
    Refusal,
    Run,
    cluster,
    evaluate_choice,
    fit_memory,
    load_calibration,
    out_of_memory,
    plan,
    read_failures,
    read_runs,
    request,
    shipped,
    stage_layers,
    stage_memory,
)
from gpuscale.plan import calibration as told
from gpuscale.plan.choice import RECOMPUTE
from gpuscale.plan.memory_fit import FIXED, Peaks
from gpuscale.schedules.pipelines import orders
from gpuscale.specs import registry

NANOTRON = FIXED | {"n_ahead": 40.0, "V_fix": 4e8}

# ---- Korthikanti et al. (2022), table 2: bytes of a layer of a GPT for a microbatch

GPTS = ["megatron_7_5b", "megatron_39_1b", "megatron_145_6b"]


def of_a_layer(model, **axes):
    """Activations of a layer of a microbatch: the first stage of four holds four microbatches of its layers."""
    part = specs.model(model)
    ask = request(model, "a100", 4 * 8, 64 * 2048, 2048)
    choice = Choice(**{"pp": 4, "tp": 8, "dp": 1, "micro": 2} | axes)
    costs = evaluate_choice(ask, choice).costs
    return costs.activations / (4 * costs.stage_layers), part.d_model, part.heads


@pytest.mark.parametrize("model", GPTS)
def test_a_gpt_stores_what_the_paper_says(model):
    s, b, t = 2048, 2, 8
    size, h, a = of_a_layer(model, sp=True)
    assert size == pytest.approx(s * b * h / t * (34 + 5 * a * s / h), rel=1e-12)  # tensor and sequence parallelism
    size, *_ = of_a_layer(model, sp=True, recompute="attention")
    assert size == pytest.approx(s * b * h * 34 / t, rel=1e-12)  # the same, with selective recomputation
    size, *_ = of_a_layer(model)
    assert size == pytest.approx(s * b * h * (10 + 24 / t + 5 * a * s / (h * t)), rel=1e-12)
    size, *_ = of_a_layer(model, recompute="attention")
    assert size == pytest.approx(s * b * h * (10 + 24 / t), rel=1e-12)
    size, *_ = of_a_layer(model, sp=True, recompute="full")
    assert size == pytest.approx(s * b * h * 2 / t, rel=1e-12)


@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("axes", [{"tp": 4, "sp": True, "dp": 8}, {"tp": 2, "cp": 2, "pp": 4, "dp": 2}], ids=str)
def test_a_gpt_agrees_with_counting(axes, recompute):
    ask = request("megatron_7_5b", "a100", 32, 32 * 64, 64, "zero_mixed")
    choice = Choice(**axes, recompute=recompute)
    ours, theirs = evaluate_choice(ask, choice).costs.record(), Slow(ask, choice).numbers()
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12), name


def test_recomputed_attention_costs_its_flops_and_no_gather():
    """A fused kernel stores no scores: recomputing them saves nothing, and takes as long as the forward pass of it."""
    ask = request("llama3_8b", "h100_superpod", 64, 2**20, shares=(1, 1, 1, 1))
    plain, again = (
        evaluate_choice(ask, Choice(dp=4, tp=4, cp=2, pp=2, sp=True, recompute=name)).costs
        for name in ("none", "attention")
    )
    assert again.memory == plain.memory
    assert (again.tp_nvlink, again.cp_nvlink) == (plain.tp_nvlink, plain.cp_nvlink)
    tokens, microbatches = 8192 / 2, plain.microbatches
    scores = 2 * sum(2 * 32 * 128 * (i + 1) for i in range(8192)) / 8192  # of a token, causal: two matmuls
    more = microbatches * plain.stage_layers * tokens * scores / (4 * 989.5e12)
    assert again.at_peak.math - plain.at_peak.math == pytest.approx(more, rel=1e-3)


def test_the_search_tries_it_only_if_it_is_fixed():
    asked = "megatron_7_5b", "a100", 32, "256k", 2048
    free, fixed = (plan(*asked, tp=8, pp=1, cp=1, micro=1, **pins) for pins in ({}, {"recompute": "attention"}))
    assert fixed.rows and {row.choice.recompute for row in fixed.rows} == {"attention"}
    assert free.tried == 3 * fixed.tried


# ---- what a framework stores on top


def tensors_of_nanotron(tokens, d, ff, tp):
    """Bytes of a layer on a rank: its tensors between the passes, in bf16."""
    own = tokens // tp
    residual = [(own, d)] * 2  # what enters the norms
    inputs = [(own, d)] * 2  # what leaves them
    heads = [(tokens, d // tp)] * 3  # queries, keys and values for the kernel
    copies = [(tokens, d // tp)] * 3 + [(tokens, d // tp)]  # before the rotation; the result in the other order
    result = [(tokens, d // tp)]
    gate = [(tokens, ff // tp)] * 2 + [(tokens, ff // tp)] + [(tokens, ff // tp)]  # both, the function of one, product
    return 2 * sum(map(prod, residual + inputs + heads + copies + result + gate))


def test_constants_are_bytes_that_can_be_counted(benchmark, monkeypatch):
    """A model with as many key heads as heads, tensor by tensor, on the first of two stages."""
    for name, value in (FIXED | {"n_ahead": 5.0, "V_fix": 3e8}).items():
        monkeypatch.setitem(told.DEFAULTS, name, value)
    ask = request("playbook_8b", "h100_superpod", 16, 2**18, 4096)
    part = ask.model
    costs = evaluate_choice(ask, Choice(dp=2, tp=4, pp=2, sp=True, zero=0)).costs
    layer = tensors_of_nanotron(4096, part.d_model, part.d_ff, 4)
    assert costs.activations == pytest.approx(2 * costs.stage_layers * layer, rel=1e-12)
    params = costs.weights / 2
    assert costs.working == pytest.approx(2 * params + 3e8, rel=1e-12)  # buckets in bf16
    assert costs.memory == pytest.approx(costs.states + costs.activations + costs.working, rel=1e-12)
    alone = evaluate_choice(ask, Choice(dp=1, tp=8, pp=2, sp=True, zero=0)).costs
    assert alone.working == pytest.approx(3e8, rel=1e-12)  # nobody to add gradients up with
    whole = evaluate_choice(ask, Choice(dp=2, tp=8, sp=True, zero=0)).costs
    lent = 5 * 2 * (4096 - 512) * part.d_model  # five gathered arrays, what they have beyond the rank's own tokens
    assert whole.working == pytest.approx(whole.weights + lent + 3e8, rel=1e-12)  # weights are in bf16 as buckets are
    single = evaluate_choice(request("playbook_8b", "h100_superpod", 1, 2**18, 4096), Choice(zero=0)).costs
    logits = 4096 * (2 * 2 * part.d_model + 12 * part.vocab)
    own = part.layers * tensors_of_nanotron(4096, part.d_model, part.d_ff, 1)
    assert single.activations == pytest.approx(own + logits, rel=1e-12)


# ---- stages


def walked(run, layers, pieces):
    """For each rank the most layers, each of one microbatch, that it stores at a time: slot by slot."""
    found = []
    for rank in range(run.ranks):
        now = most = 0
        for kind, _, stage in run.tasks(rank):
            now += {"F": 1, "B": -1}.get(kind, 0) * layers[stage]
            most = max(most, now)
        found.append(most)
    return found


STAGED = [
    ("llama3_8b", {"pp": 4, "tp": 4, "dp": 4, "sp": True}),
    ("llama3_8b", {"pp": 8, "tp": 2, "dp": 4, "sp": True, "zero": 0}),
    ("llama3_8b", {"pp": 16, "tp": 4, "dp": 1}),
    ("llama3_8b", {"pp": 2, "tp": 8, "dp": 4, "recompute": "full"}),
    ("llama3_8b", {"pp": 1, "dp": 64}),
    ("llama3_8b", {"pp": 32, "dp": 2}),
    ("llama3_70b", {"pp": 8, "tp": 8, "dp": 1, "sp": True, "zero": 0}),
]


@pytest.mark.parametrize(("model", "axes"), STAGED, ids=str)
def test_memory_of_each_stage_is_what_the_schedule_stores(model, axes):
    ask, choice = request(model, "h100_superpod", 64, "512k"), Choice(**axes)
    costs, part = evaluate_choice(ask, choice).costs, ask.model
    layers, found = stage_layers(ask, choice), stage_memory(ask, choice)
    assert sum(layers) == part.layers and min(layers) >= 1 and max(layers) <= costs.stage_layers
    assert sorted(layers, reverse=True) == list(layers) and max(layers) - min(layers[:-1], default=max(layers)) <= 1
    run = orders.one_f_one_b(choice.pp, round(costs.microbatches))
    # Bytes of one more layer in flight, from two plans of one stage that differ in nothing else
    kept = costs.activations / (min(choice.pp, costs.microbatches) * costs.stage_layers)
    head = 8192 * (2 * 2 * part.d_model + 4 * part.vocab) / choice.tp
    if choice.pp == 1:
        kept = (costs.activations - head) / part.layers
    matrices = part.d_model * (2 * part.heads + 2 * part.kv_heads) * part.d_model // part.heads
    own = matrices + 3 * part.d_model * part.d_ff + 2 * part.d_model
    ends = part.vocab * part.d_model
    for stage, held in enumerate(walked(run, layers, 1)):
        params = layers[stage] * own + ends * ((stage == 0) + (stage == choice.pp - 1))
        params += part.d_model * layers[stage] / part.layers  # the last norm, spread over all layers
        width = (2 + 4 + 12) if choice.zero == 0 else 6 + 12 / choice.dp
        expected = params * width / choice.tp + held * kept + head * (stage == choice.pp - 1) + costs.working
        assert found[stage] == pytest.approx(expected, rel=1e-9), stage
    assert max(found) <= costs.memory * (1 + 1e-12)


def test_virtual_stages_and_gpipe_hold_what_is_played():
    ask = request("llama3_8b", "h100_superpod", 64, "1M")
    choice = Choice(dp=2, tp=8, pp=4, virtual=2, sp=True)
    layers = stage_layers(ask, choice)
    run = orders.interleaved(4, round(evaluate_choice(ask, choice).costs.microbatches), 2)
    plain = stage_memory(ask, dataclasses.replace(choice, micro=1))
    twice = stage_memory(ask, dataclasses.replace(choice, micro=2))
    here = orders.interleaved(
        4, round(evaluate_choice(ask, dataclasses.replace(choice, micro=2)).costs.microbatches), 2
    )
    each = [run.peak_activations(rank) * layers[rank] / 2 for rank in range(4)]
    assert [here.peak_activations(rank) for rank in range(4)] == [run.peak_activations(rank) for rank in range(4)]
    ratio = (twice - plain)[:3] / each[:3]
    assert ratio == pytest.approx(ratio[0])  # bytes of a layer of a microbatch, the same in each stage
    wide = request("llama3_8b", "h100_superpod", 64, "1M", schedule="gpipe")
    choice = Choice(dp=2, tp=8, pp=4, sp=True)
    assert stage_memory(wide, choice)[1] > stage_memory(ask, choice)[1]
    with pytest.raises(Refusal, match="DualPipe"):
        stage_memory(request("llama3_8b", "h100_superpod", 64, "1M", schedule="dualpipe"), choice)


# ---- measured peaks


def made_up(count, seed=0, noise=0.03):
    """Runs whose peaks follow from NANOTRON, up to noise."""
    draw, runs = random.Random(seed), []
    while len(runs) < count:
        tp, pp, micro = draw.choice((1, 2, 4, 8)), draw.choice((1, 2, 4)), draw.choice((1, 2, 4, 8))
        gpus = 8 * draw.choice((1, 2, 4, 8))
        if gpus % (tp * pp) or 256 % (gpus // (tp * pp) * micro):
            continue
        choice = Choice(dp=gpus // (tp * pp), tp=tp, pp=pp, micro=micro, zero=draw.choice((0, 1)), sp=tp > 1)
        runs.append(Run(draw.choice(("llama3_8b", "llama3_70b")), gpus, 2**20, 4096, 1.0, choice))
    peaks = Peaks(runs, cluster("h100_superpod"), "bf16_fp32_grads").first(NANOTRON)
    return [
        dataclasses.replace(run, memory=float(peak) * np.exp(draw.gauss(0, noise)))
        for run, peak in zip(runs, peaks, strict=True)
    ]


def test_constants_of_memory_are_found_again():
    runs = made_up(120)
    found, spread, checks = fit_memory(runs, "h100_superpod")
    assert set(found) == set(told.DEFAULTS) and set(spread) == {"n_ahead", "V_fix"}
    for name in spread:
        assert abs(np.log(found[name] / NANOTRON[name])) < 4 * spread[name] + 0.05, name
    assert {check.left_out for check in checks} >= {"llama3_8b", "llama3_70b", "8 GPUs"}
    assert all(check.median < 0.05 for check in checks)
    runs[5] = dataclasses.replace(runs[5], memory=50 * runs[5].memory)
    other, *_ = fit_memory(runs, "h100_superpod")
    for name in spread:
        assert abs(np.log(other[name] / found[name])) < 0.5 * spread[name], name
    with pytest.raises(Refusal, match="0 runs with memory; expected four or more"):
        fit_memory([dataclasses.replace(run, memory=None) for run in runs], "h100_superpod")


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.setattr(registry, "_registry", cache(registry._registry.__wrapped__))  # the models of the runs go again
    folder = shipped("nanotron_h100").parent
    specs.load(folder / "nanotron_models.toml")
    return read_runs(folder / "nanotron_h100.csv"), read_failures(folder / "nanotron_h100_failed.csv")


def test_measured_peaks_are_predicted(benchmark):
    """By terms alone, and by the fit to other numbers of GPUs and to other models."""
    runs, failed = benchmark
    found, _, checks = fit_memory(runs, "h100_superpod")
    peaks = Peaks(runs, cluster("h100_superpod"), "bf16_fp32_grads").first(found)
    measured = np.array([run.memory for run in runs])
    off = np.abs(peaks / measured - 1)
    assert np.median(off) < 0.05 and np.quantile(off, 0.9) < 0.19
    assert max(check.median for check in checks) < 0.08 and max(check.ninth for check in checks) < 0.23
    precision, recall = out_of_memory(runs, failed, "h100_superpod", found)
    assert precision > 0.95 and recall > 0.76
    bare, lost = out_of_memory(runs, failed, "h100_superpod", told.DEFAULTS)
    assert lost < recall


def test_pipelines_stall_as_often_as_their_times_say(benchmark):
    """Of pipelines of three stages or more, as many have times that no constants explain as nodes would stall."""
    runs, far = benchmark[0], load_calibration(shipped("nanotron_h100")).far
    pipelines = {i: run.gpus // 8 for i, run in enumerate(runs) if run.choice.pp > 2}
    calm = sum(prod([FIXED["p_calm"]] * nodes) for nodes in pipelines.values())
    assert len(pipelines) - calm == pytest.approx(len(pipelines.keys() & set(far)), rel=0.05)


# ---- tables

HEAD = "model,gpus,batch,seq,seconds,tp,dp,"


def test_a_table_has_memory_and_failures(tmp_path):
    path = tmp_path / "runs.csv"
    rows = ["llama3_8b,8,1048576,4096,1.5,8,1,20,1", "llama3_8b,8,1048576,4096,,4,2,,0"]
    path.write_text("\n".join([HEAD + "memory_gib,ok", *rows]))
    (ran,), (failed,) = read_runs(path), read_failures(path)
    assert (ran.memory, ran.seconds, failed.seconds, failed.choice.dp) == (20 * 2**30, 1.5, None, 2)
    path.write_text("\n".join([HEAD + "memory_gb", rows[0].removesuffix(",1")]))
    assert read_runs(path)[0].memory == 20e9 and not read_failures(path)
    path.write_text("model,gpus,batch,seq,tp,dp,ok\nllama3_8b,8,1048576,4096,4,2,0\n")
    assert len(read_failures(path)) == 1
    path.write_text("model,gpus,batch,seq,tp,dp,ok\nllama3_8b,8,1048576,4096,4,2,1\n")
    with pytest.raises(Refusal, match="line 2: seconds: ; expected a number"):
        read_runs(path)
    path.write_text(HEAD + "memory_gib\nllama3_8b,8,1048576,4096,1.5,8,1,-3\n")
    with pytest.raises(Refusal, match="line 2: memory_gib: -3; expected a number"):
        read_runs(path)
    path.write_text(HEAD + "ok\nllama3_8b,8,1048576,4096,1.5,8,1,2\n")
    with pytest.raises(Refusal, match="line 2: ok: 2; expected"):
        read_runs(path)
