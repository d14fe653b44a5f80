"""The planner of serving: its refusals and promises, plain arithmetic and published runs next to its numbers."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gpuscale import chip
from gpuscale.emulate import requests as emulated
from gpuscale.plan import Refusal
from gpuscale.serve import printing, request, serve
from gpuscale.serve.__main__ import main
from gpuscale.serve.engines import EngineRates, engine
from gpuscale.serve.evaluation import evaluate_layouts, model_numbers
from gpuscale.serve.layouts import layouts
from gpuscale.serving.decode_numbers import Constants
from gpuscale.serving.measured import measured_bounds
from gpuscale.serving.measured_kinds import kind, predicted_band
from gpuscale.specs import model, serving_rows


def plain(text) -> str:
    """With usual spaces in amounts."""
    return str(text).replace("\xa0", " ")


USUAL = ("llama3_70b", "h100_sxm", 8, 2000, 500)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "llama9"}, "no model 'llama9'"),
        ({"gpu": "rtx"}, "no chip 'rtx'"),
        ({"gpus": 0}, "GPUs: 0; expected a whole number, 1 or more"),
        ({"gpus": 10**9}, "GPUs: 1000000000; expected a whole number, 1 to 4,096"),
        ({"input": "many"}, "input tokens: many; expected a whole number"),
        ({"output": 1}, "output tokens: 1; expected a whole number, 2 or more"),
        ({"input": 10**6}, "1,000,000 + 500 tokens: Llama 3 70B was trained for 131,072"),
        ({"cached": 2000}, "2,000 cached tokens of a prompt of 2,000; expected fewer"),
        ({"ttft": "30 parsecs"}, "time to first token: 30 parsecs; expected a time above 0"),
        ({"tpot": -1}, "time per output token: -1; expected a time above 0"),
        ({"tpot": "1e400"}, "time per output token: 1e400; expected a time above 0"),
        ({"tpot": "5us"}, "time per output token: 5.00 µs; no layout is expected below"),
        ({"ttft": "1ms"}, "time to first token: 1.00 ms; no layout is expected below"),
        ({"weights": "fp3"}, "weights: fp3; expected one or several of"),
        ({"mode": "both"}, "mode: both; expected colocated or disaggregated"),
        ({"reserve": 1e12}, "a reserve of 1000 GB leaves nothing of the 80 GB"),
        ({"price": -1}, "price, in USD per GPU-hour: -1; expected a number"),
        ({"ep": 2}, "expert parallelism: Llama 3 70B has no experts; expected ep = 1"),
        ({"cached_prefix": 2000}, "a cached prefix of 2,000 tokens of a prompt of 2,000; expected fewer"),
        ({"hit": 1.5}, "fraction of requests that find their cache: 1.5; expected a number, 0 to 1"),
        ({"speculate": 3}, "3 draft tokens without --acceptance; expected a probability"),
        ({"speculate": 9, "acceptance": 0.5}, "draft tokens: 9; expected a whole number, 0 to 5"),
        (
            {"speculate": 3, "acceptance": "0.5,0.4"},
            "acceptance: 0.5,0.4; expected one probability below 1, or one for",
        ),
        ({"acceptance": 0.5}, "an acceptance without draft tokens"),
        ({"ttft_p95": "now"}, "95th percentile of the time to first token: now; expected a time above 0"),
        ({"ttft_p95": "1ms"}, "95th percentile of the time to first token: 1.00 ms; no layout is expected below"),
        ({"gap_p95": "1ms"}, "95th percentile of the gap between tokens: 1.00 ms; no layout is expected below"),
        ({"mode": "disaggregated", "tp": 8}, "every replica takes all of 8 H100 SXMs, so none is left for prefill"),
        ({"mode": "disaggregated", "ttft": "1us"}, "time to first token: 1.00 µs; no layout is expected below"),
        ({"load": 1}, "load: 1; expected a fraction above 0 and below 1, such as 0.75"),
        ({"load": "nan"}, "load: nan; expected a fraction"),
        ({"chunk": -1}, "tokens of a chunk: -1; expected a whole number, 0 or more"),
        ({"rate": 0}, "request rate: 0; expected requests per second, above 0 and up to 1,000,000"),
        ({"rate": "1e99"}, "request rate: 1e99; expected requests per second"),
        ({"tp": 3}, "no layout is left: 64 heads are not divisible by TP 3"),
        ({"gpus": 1, "weights": "bf16"}, "needs 142 GB per GPU for one sequence of 2,500 tokens; 72.0 GB of 80.0 GB"),
    ],
)
def test_a_request_that_cannot_be_met_says_what_would(change, words):
    given = dict(zip(("model", "gpu", "gpus", "input", "output"), USUAL, strict=True)) | change
    with pytest.raises(Refusal) as refused:
        serve(**given)
    assert words in plain(refused.value), plain(refused.value)


def test_the_limit_that_is_named_as_possible_is_possible():
    with pytest.raises(Refusal) as refused:
        serve(*USUAL, tpot="1ms")
    named = plain(refused.value).partition("expected below ")[2].split()[0]
    assert serve(*USUAL, tpot=float(named) * 1.005e-3).rows
    with pytest.raises(Refusal):
        serve(*USUAL, tpot=float(named) * 0.995e-3)


@pytest.mark.parametrize("mode", ["colocated", "disaggregated"])
def test_percentiles_are_limits_too(mode):
    loose = serve(*USUAL, mode=mode, weights="fp8", top=1000)
    tail, gap = 0.7 * loose.best.tail, 0.9 * loose.best.gap[1]
    plan = serve(*USUAL, mode=mode, weights="fp8", top=1000, ttft_p95=tail, gap_p95=gap)
    assert all(row.tail <= tail and row.gap[1] <= gap for row in plan.rows)
    assert 0.5 * loose.best.throughput[1] < plan.best.throughput[1] < loose.best.throughput[1]
    either = (
        serve(*USUAL, mode=mode, weights="fp8", ttft_p95=tail),
        serve(*USUAL, mode=mode, weights="fp8", gap_p95=gap),
    )
    assert plan.best.throughput[1] <= min(one.best.throughput[1] for one in either)


def test_every_layout_has_a_row_or_a_reason():
    limits = {"ttft": 0.2, "tpot": "25ms", "gap_p95": "40ms"}
    plan = serve(*USUAL, **limits, top=10**6)
    of_rows = {(d.weights, d.cache, d.tp, d.pp) for d in (row.decode for row in plan.rows)}
    ask = request(*USUAL, **limits)
    possible = len(layouts(ask, model_numbers(ask, "bf16", "bf16"))[0]) * len(ask.weights) * len(ask.cache)
    missing = {reason.name: reason.count for reason in plan.rejected}
    assert {"memory", "time per output token", "time to first token"} <= set(missing)
    assert len(of_rows) + sum(missing.values()) == possible


def test_a_layout_is_excluded_by_the_least_time_that_it_can_have():
    """A limit just above that time lets it in, and one just below does not."""
    reasons = {reason.name: plain(reason.words) for reason in serve(*USUAL, tpot="20ms").rejected}
    words = reasons["time per output token"]
    degrees = dict(part.lower().split() for part in words.partition(":")[0].split(", ") if part[:2] in ("TP", "PP"))
    formats = {name: form for form, name in (part.split() for part in words.partition(":")[0].split(", ")[-2:])}
    assert set(formats) == {"weights", "cache"} and degrees
    least = float(words.partition("at least ")[2].removesuffix(" ms"))
    assert serve(*USUAL, tpot=1.005e-3 * least, **degrees, **formats).rows
    with pytest.raises(Refusal):
        serve(*USUAL, tpot=0.995e-3 * least, **degrees, **formats)


@pytest.mark.parametrize(
    "case", [USUAL, ("deepseek_v3", "b200_sxm", 16, 4000, 300), ("gpt_oss_20b", "h100_sxm", 1, 300, 99)]
)
def test_every_row_keeps_its_promises(case):
    ask = request(*case, ttft=5, tpot="150ms")
    plan = serve(*case, ttft=5, tpot="150ms", top=1000)
    assert plan.rows
    for row in plan.rows:
        assert row.first[1] <= ask.ttft and row.token[1] <= ask.tpot
        for bound, expected in (row.token, row.first):
            assert bound <= expected
        assert row.throughput[0] >= row.throughput[1] > 0
        used = sum(part.count * part.gpus for part in (row.decode, row.prefill) if part)
        assert used <= ask.gpus
        for part in (row.decode, row.prefill):
            if part:
                assert part.memory <= ask.room and part.gpus == part.tp * part.pp * part.dpa
    rates = [row.throughput[1] for row in plan.rows]
    assert rates == sorted(rates, reverse=True)


def test_more_of_anything_never_serves_less():
    """A looser limit, a larger GPU of the same kind, a cached prefix and more GPUs can only help."""

    def best(**change):
        given = dict(zip(("model", "gpu", "gpus", "input", "output"), USUAL, strict=True)) | change
        return serve(**given, per_node=8).best.throughput[1]

    usual = best(tpot="40ms")
    assert best(tpot="60ms") >= usual and best() >= best(tpot="60ms")
    assert best(tpot="40ms", gpu="h200_sxm", mode="colocated") > best(tpot="40ms", mode="colocated")
    assert best(tpot="40ms", cached=1500) > usual
    assert best(tpot="40ms", gpus=16) >= usual
    assert best(tpot="40ms", weights="bf16", cache="bf16") < usual


AT_PEAK = EngineRates(
    Constants(eta_hbm=1, t_layer=0, t_unpack=0, eta_wide=1, eta_few=1), added=1, band=1, rows=1, chips=[]
)
# Plain arithmetic over the dimensions of Llama 3 70B and Mixtral, written out for one layout each
WIDE, HEADS, OWN, LAYERS, HIDDEN, WORDS = 8192, 64, 8, 80, 28672, 128256


def test_a_dense_step_by_hand():
    """TP 4 and two stages, bf16, 24 sequences of a stage: what a GPU of the second stage reads and computes."""
    ask = request(*USUAL, weights="bf16", cache="bf16", tp=4, pp=2, batch=48)
    rows, _ = layouts(ask, model_numbers(ask, "bf16", "bf16"))
    grid = evaluate_layouts(ask, rows, "bf16", "bf16", AT_PEAK)
    gpu = chip("h100_sxm")
    layer = 2 * WIDE * 128 * (HEADS + OWN) + 3 * WIDE * HIDDEN + 2 * WIDE
    weights = 2 * ((40 * layer + WIDE / 2) / 4 + WORDS * WIDE / 4)
    context = 2000 + 250
    cache = 24 * context * 2 * 2 * 40 * OWN * 128 / 4
    read = (weights + cache) / gpu.hbm_bw
    reduced = 80 * 2 * 3 / 4 * 24 * WIDE * 2 / gpu.nvlink_bw
    hop = 24 * WIDE * 2 / gpu.nvlink_bw
    step = 2 * (read + reduced + hop)
    assert grid.step[0][0, 0] == pytest.approx(step, rel=2e-4)
    assert int(grid.batch[0, 0]) == 24


def test_experts_by_hand():
    """Mixtral on two GPUs with DP attention: every GPU has all of attention, and four of the experts."""
    ask = request("mixtral_8x7b", "h100_sxm", 2, 1000, 200, weights="bf16", cache="bf16", tp=1, dpa=2, pp=1, batch=32)
    rows, _ = layouts(ask, model_numbers(ask, "bf16", "bf16"))
    grid = evaluate_layouts(ask, rows, "bf16", "bf16", AT_PEAK)
    m, gpu = model("mixtral_8x7b"), chip("h100_sxm")
    attention = 2 * m.d_model * 128 * (m.heads + m.kv_heads) + 2 * m.d_model + 8 * m.d_model
    chosen = 8 * (1 - (1 - 2 / 8) ** 32)
    weights = 2 * (m.layers * (attention + chosen / 2 * 3 * m.d_model * m.d_ff) + m.d_model * (m.vocab + 1))
    cache = 16 * 1100 * 2 * 2 * m.layers * m.kv_heads * 128
    sent = m.layers * 16 * 2 * m.d_model * 4 / 2 / gpu.nvlink_bw
    assert grid.step[0][0, 0] == pytest.approx((weights + cache) / gpu.hbm_bw + sent, rel=2e-4)


def test_published_runs_lie_below_the_bound_and_in_the_band():
    """Throughput of dense models with requests in flight; nine of ten lie in the band that the planner states."""
    inside, many = 0, 0
    for row in serving_rows():
        if row.regime != "in_flight" or row.metric != "throughput" or row.flag:
            continue
        found = serve(
            row.model, row.chip, row.gpus, row.input, row.output, weights=row.weights, cache=row.cache, tp=row.gpus,
            mode="colocated", reserve=0.05 * chip(row.chip).hbm, per_node=8,
        ).best  # fmt: skip
        assert row.base <= found.throughput[0] * 1.01, row.id
        off = found.throughput[1] / found.queue.load / row.base  # they are full servers
        inside += 1 / engine(False).band <= off <= engine(False).band
        many += 1
    assert many >= 15 and inside >= 0.85 * many, (inside, many)


def test_single_users_are_expected_as_they_were_measured():
    """One sequence of a dense model: the step alone, on one GPU and on several, within the band of decode."""
    low, high = predicted_band().low, predicted_band().high
    many = 0
    for one in measured_bounds().values():
        row = one.row
        if row.regime != "batch_1" or kind(one) != "decode" or row.outlier or row.engine != "gpt-fast":
            continue
        if row.weights not in ("bf16", "int8") or row.model == "mixtral_8x7b":
            continue
        ask = request(
            row.model, row.chip, row.gpus, row.input, row.output, weights=row.weights, cache="bf16", batch=1,
            tp=row.gpus, pp=1, per_node=8,
        )  # fmt: skip
        rows, _ = layouts(ask, model_numbers(ask, row.weights, "bf16"))
        grid = evaluate_layouts(ask, rows, row.weights, "bf16", engine(False))
        assert grid.step[0][0, 0] < one.measured, row.id
        assert low * 0.95 <= one.measured / grid.step[1][0, 0] <= high * 1.05, row.id  # the planner shards the head
        many += 1
    assert many >= 10


def test_what_a_plan_needs_is_stored_as_the_formulas_and_the_rows_give_it():
    for name, text in printing.printed().items():
        assert (printing.FOLDER / name).read_text(encoding="utf-8") == text, "run make printed"


def test_a_plan_and_a_refusal_start_without_sympy():
    code = "import sys; from gpuscale.serve.__main__ import main; main({}); assert 'sympy' not in sys.modules"
    words = ["--model", "llama3-8b", "--gpu", "h100-sxm", "--input", "2000", "--output", "500"]
    for more in ([], ["--tpot", "1us"]):
        subprocess.run([sys.executable, "-c", code.format([*words, *more])], check=True, capture_output=True)


def test_a_shared_prefix_is_computed_and_stored_once():
    shared = request("llama3_8b", "h100_sxm", 1, 2000, 500, cached_prefix=1500, weights="bf16", cache="bf16")
    apart = request("llama3_8b", "h100_sxm", 1, 2000, 500, cached=1500, weights="bf16", cache="bf16")
    token, found = 2 * 2 * 32 * 8 * 128, {}
    for name, ask in {"shared": shared, "apart": apart}.items():
        rows, _ = layouts(ask, model_numbers(ask, "bf16", "bf16"))
        found[name] = evaluate_layouts(ask, rows, "bf16", "bf16", engine(False))
    small, large = found["shared"], found["apart"]
    assert np.diff(large.memory[0])[:5] == pytest.approx(np.diff(large.batch[0])[:5] * 2250 * token)
    assert np.diff(small.memory[0])[:5] == pytest.approx(np.diff(small.batch[0])[:5] * 750 * token)
    assert small.first[1][0, 0] == large.first[1][0, 0] and small.most[0, 0] > 2.5 * large.most[0, 0]
    half = serve("llama3_8b", "h100_sxm", 1, 2000, 500, cached_prefix=1500, hit=0.5).best.throughput[1]
    best, none = (serve("llama3_8b", "h100_sxm", 1, 2000, 500, cached_prefix=n).best.throughput[1] for n in (1500, 0))
    assert none < half < best


def test_prefill_gpus_have_time_for_a_queue():
    """Every split keeps the limit with its queue, and no more prefill load would: by plain arithmetic of M/D/1."""
    seen, place = set(), request(*USUAL).cluster
    for limit in (1, 0.5):
        plan = serve(*USUAL, ttft=limit, tpot="60ms", weights="fp8", cache="fp8", mode="disaggregated", top=100)
        for row in plan.rows:
            groups = row.prefill.count * row.prefill.dpa
            load, service = row.queue.load, row.prefill.dpa / row.prefill.prefill_rate[1]
            assert load == pytest.approx(row.requests[1] * service / groups) and load <= 0.75 + 1e-9
            wait = load * service / 2 / (1 - load)
            alone = row.prefill.prefill[1] + row.handover.time + row.decode.step[1]
            assert row.first[1] == pytest.approx(alone + wait) and row.first[1] <= limit + 1e-9
            assert row.tail > row.first[1] > row.first[0]
            if row.binds == "time to first token":
                assert row.first[1] == pytest.approx(limit) and load < 0.75
            if row.binds == "prefill GPUs":
                assert load == pytest.approx(0.75)
            seen.add(row.binds)
            size = 2000 * 80 * 2 * 8 * 128  # tokens, layers, keys and values, heads; a byte each
            assert row.handover.size == size and row.handover.time == size / (place.W_nvl * row.prefill.tp)
    assert seen == {"decode GPUs", "prefill GPUs", "time to first token"}, seen


def test_a_lower_prefill_load_takes_more_prefill_gpus_and_shortens_the_queue():
    easy, tight = (
        serve(*USUAL, weights="fp8", cache="fp8", mode="disaggregated", load=load).best for load in (0.9, 0.3)
    )
    assert tight.queue.load <= 0.3 and tight.queue.mean < easy.queue.mean
    assert tight.requests[1] < easy.requests[1]
    mixed = serve(*USUAL, mode="disaggregated", cached_prefix=1500, hit=0.5, tp=1, pp=1, weights="fp8").best
    alone = serve(*USUAL, mode="disaggregated", cached_prefix=1500, hit=1, tp=1, pp=1, weights="fp8").best
    hit, miss = alone.prefill.prefill_rate[1], mixed.prefill.prefill_rate[1]
    times = [1 / hit, 2 / miss - 1 / hit]
    mean, square = np.mean(times), np.mean(np.square(times))
    rate = mixed.queue.load / mean
    assert mixed.queue.mean == pytest.approx(rate * square / 2 / (1 - rate * mean))  # Pollaczek and Khinchine


def test_speculation_helps_one_user_and_costs_a_full_batch():
    one = dict(weights="bf16", cache="bf16", mode="colocated", tp=1, pp=1)
    plain, drafted = (
        serve("llama3_8b", "h100_sxm", 1, 200, 500, batch=1, **one, **more).best.decode
        for more in ({}, {"speculate": 3, "acceptance": 0.8, "draft": 0.05})
    )
    tokens = 1 + 0.8 + 0.64 + 0.512
    assert drafted.spoken[1] == pytest.approx(drafted.step[1] / tokens)
    assert drafted.step[1] == pytest.approx(plain.step[1] * 1.15, rel=0.01)  # three drafts of a twentieth
    listed = serve("llama3_8b", "h100_sxm", 1, 200, 500, batch=1, **one, speculate=3, acceptance="0.9,0.5,0.2").best
    assert listed.decode.step[1] / listed.decode.spoken[1] == pytest.approx(1 + 0.9 + 0.45 + 0.09)
    full, slow = (
        serve("llama3_8b", "h100_sxm", 1, 20, 100, batch=2000, **one, **more).best.throughput[1]
        for more in ({}, {"speculate": 3, "acceptance": 0.3})
    )
    assert slow < 0.8 * full


def test_the_command_line(capsys, tmp_path):
    words = ["--model", "llama3-8b", "--gpu", "h100-sxm", "--input", "2000", "--output", "500"]
    assert main([*words, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    best = serve("llama3_8b", "h100_sxm", 1, 2000, 500).best
    assert shown["rows"][0]["throughput"]["expected"] == best.throughput[1]
    assert main([*words, "--tpot", "20ms", "--why"]) == 0
    out = plain(capsys.readouterr().out)
    assert "TPOT at most 20.0 ms" in out and "at most, at least: bounds" in out
    assert main([*words, "--tpot", "7ms", "--ttft-p95", "10s", "--gap-p95", "1s", "--why"]) == 0
    out = plain(capsys.readouterr().out)
    assert "TTFT p95 at most 10.0 s, TPOT at most 7.00 ms, gap p95 at most 1.00 s" in out
    assert "one GPU, bf16 weights, fp8 cache: the time per output token is expected to be at least" in out
    assert main(["--list"]) == 0 and "h200-sxm" in capsys.readouterr().out
    assert main(words[:-2]) == 2 and "missing --output" in capsys.readouterr().err
    assert main([*words, "--gpus", "="]) == 2
    config = {
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
        "tie_word_embeddings": False, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    }  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert main(["--model", str(path), *words[2:], "--json"]) == 0
    captured = capsys.readouterr().out
    own = json.loads(captured[captured.index("{") :])
    assert own["rows"][0]["throughput"]["expected"] == pytest.approx(best.throughput[1], rel=1e-3)


def test_stages_of_sixteen_fit_a_node_of_72():
    """Four in each node, and none that straddles two."""
    for gpus, count in ((72, 4), (144, 8), (136, 8), (16, 1)):
        plan = serve("llama3_70b", "gb200", gpus, 2000, 500, tp=16, pp=1, mode="colocated", per_node=72)
        assert plan.best.decode.count == count, gpus
    two = serve("llama3_70b", "gb200", 144, 2000, 500, tp=16, pp=3, mode="colocated", per_node=72)
    assert two.best.decode.count == 2


def test_a_gpu_without_measured_rows_is_said_to_have_none():
    measured, other = (plain(serve("llama3_8b", gpu, 1, 1000, 500)) for gpu in ("h100_sxm", "l40s"))
    assert "of 20 published measurements" in measured and "nine in ten" in measured
    assert "only bounds hold" not in measured
    assert "no measurement behind the constants ran on the L40S: only bounds hold" in other
    assert "nine in ten" not in other


def test_one_gpu_needs_no_links_and_is_listed_once():
    for name, gpu in (("qwen3_30b_a3b", "l40s"), ("gpt_oss_20b", "h100_sxm")):
        plan = serve(name, gpu, 1, 1000, 500, weights="fp8", cache="fp8")
        assert len(plan.rows) == 1
    with pytest.raises(Refusal, match="missing --nvlink: .*, such as 31.5GB/s of PCIe"):
        serve("qwen3_30b_a3b", "l40s", 2, 1000, 500)


# A server of one H100 as bytes and FLOPs at their peaks, for the scheduler that serves step by step
BODY, TABLE, TOKEN = 32 * (4096 * 128 * 80 + 3 * 4096 * 14336), 128256 * 4096, 2 * 2 * 32 * 8 * 128


def worked(decodes: int, fed: int, read: int, pairs: int) -> float:
    """A step of Llama 3 8B in bf16: its matmuls take turns with attention, and arithmetic overlaps with reads."""
    gpu, seen = chip("h100_sxm"), pairs - read
    matmuls = 2 * BODY * (decodes + fed) + 2 * TABLE * decodes + 4 * 32 * 32 * 128 * seen
    return max(2 * (BODY + TABLE) / gpu.hbm_bw, matmuls / gpu.bf16) + read * TOKEN / gpu.hbm_bw


def apart(decodes: int, fed: int, read: int, pairs: int) -> float:
    """A step of an engine that prefills whole prompts before it decodes."""
    prompt = (2 * BODY * fed + 4 * 32 * 32 * 128 * (pairs - read)) / chip("h100_sxm").bf16
    return worked(decodes, 0, read, read) + prompt


def served(ask, batch: int, load: float, many: int = 1200):
    """The grid of the planner at its peaks, and a run of the scheduler at a part of the largest rate, or with a backlog
    at 1; the lengths of answers vary there."""
    rows, _ = layouts(ask, model_numbers(ask, "bf16", "bf16"))
    grid = evaluate_layouts(ask, rows, "bf16", "bf16", AT_PEAK)
    coming = emulated.requests(emulated.draw(many, seed=5, group=100), 1, ask.input, ask.output, vary=load == 1)
    for one in coming:
        one.prompt = ask.input
        one.arrival = 0.0 if load == 1 else one.arrival / (load * float(grid.rate[1][0, 0]))
    run = emulated.serve(coming, worked if ask.chunk else apart, batch, chunk=ask.chunk or np.inf)
    return grid, run


@pytest.mark.parametrize(("batch", "chunk", "answer"), [(64, 512, 400), (24, 256, 500), (150, 1024, 700)])
def test_chunks_in_a_full_batch_take_as_long_as_in_the_scheduler(batch, chunk, answer):
    ask = request("llama3_8b", "h100_sxm", 1, 2000, answer, chunk=chunk, batch=batch, weights="bf16", cache="bf16")
    grid, run = served(ask, batch + 1, 1)  # one more slot, for the prompt that is being prefilled
    end = run.requests[-2 * batch].tokens[0]
    middle = [step for step in run.steps if 0.2 * end < step.start < end]
    gaps = np.concatenate([np.diff(one.tokens) for one in run.requests[2 * batch : -2 * batch]])
    assert np.mean([step.decodes for step in middle]) == pytest.approx(batch, rel=0.03)
    assert grid.token[1][0, 0] == pytest.approx(gaps.mean(), rel=0.05)
    assert grid.gap[1][0, 0] == pytest.approx(np.quantile(gaps, 0.95), rel=0.06)
    done = sum(one.tokens[-1] < end for one in run.requests) - sum(one.tokens[-1] < 0.2 * end for one in run.requests)
    assert grid.rate[1][0, 0] == pytest.approx(done / (0.8 * end), rel=0.08)


@pytest.mark.parametrize(("batch", "answer"), [(64, 400), (20, 300), (128, 100)])
def test_whole_prompts_in_a_full_batch_take_as_long_as_in_the_scheduler(batch, answer):
    ask = request("llama3_8b", "h100_sxm", 1, 2000, answer, batch=batch, weights="bf16", cache="bf16")
    grid, run = served(ask, batch, 1)
    gaps = np.concatenate([np.diff(one.tokens) for one in run.requests[2 * batch : -2 * batch]])
    assert grid.token[1][0, 0] == pytest.approx(gaps.mean(), rel=0.08)
    assert grid.gap[1][0, 0] == pytest.approx(np.quantile(gaps, 0.95), rel=0.1)


@pytest.mark.parametrize(("batch", "load", "chunk"), [(64, 0.75, 0), (16, 0.75, 0), (8, 0.6, 0), (64, 0.75, 1024)])
def test_the_first_token_of_a_busy_replica_is_expected_as_the_scheduler_gives_it(batch, load, chunk):
    """Mean and 95th percentile; they may err on the safe side, as the closed form of the slots does."""
    ask = request(
        "llama3_8b", "h100_sxm", 1, 2000, 300, batch=batch, load=load, chunk=chunk, weights="bf16", cache="bf16"
    )
    grid, run = served(ask, batch, load)
    found, queue = run.first_tokens()[100:-100], grid.queues[0]
    mean = grid.first[1][0, 0] + queue.mean[0, 0]
    assert 0.9 < mean / found.mean() < 1.5
    assert 0.8 < (mean + queue.more[0, 0]) / np.quantile(found, 0.95) < 1.6


@pytest.mark.parametrize("layout", [{"tp": 4}, {"tp": 2, "pp": 2}])
def test_a_chunk_adds_no_more_to_a_step_than_its_part_of_the_prefill(layout):
    own = serve(*USUAL, chunk=500, **layout).best.decode
    for step, mixed, prompt in zip(own.step, own.gap, own.prefill, strict=True):
        assert step < mixed < step + prompt * 500 / USUAL[3] * (1 + 1e-9)


def test_a_rate_takes_the_fewest_replicas_that_serve_it():
    plan = serve(*USUAL, rate=30, price=2, tpot="60ms", top=100)
    assert [row.fleet.gpus for row in plan.rows] == sorted(row.fleet.gpus for row in plan.rows)
    seen = set()
    for row in plan.rows:
        own, fleet = row.decode, row.fleet
        each = row.queue.load * own.rate[1] if row.prefill is None else 0.75 * own.decode_rate[1]
        assert (fleet.replicas - 1) * each < 30 <= fleet.replicas * each * (1 + 1e-12)
        gpus = fleet.replicas * own.gpus
        if row.prefill:
            ahead = row.queue.load * row.prefill.prefill_rate[1]
            assert (fleet.prefill - 1) * ahead < 30 <= fleet.prefill * ahead * (1 + 1e-12)
            gpus += fleet.prefill * row.prefill.gpus
        assert (fleet.gpus, fleet.hour) == (gpus, 2 * gpus)
        assert row.price[1] == pytest.approx(2 * gpus / (30 * 500 * 3600) * 1e6)
        seen.add(row.mode)
    assert len(seen) == 2


def test_both_kinds_of_deployments_keep_the_same_reserve():
    for mode in ("colocated", "disaggregated"):
        low, high = (
            serve(*USUAL, weights="fp8", cache="fp8", mode=mode, tp=2, pp=1, load=load).best for load in (0.3, 0.6)
        )
        assert low.queue.load <= 0.3 + 1e-9 and high.queue.load <= 0.6 + 1e-9
        assert high.throughput[1] == pytest.approx(2 * low.throughput[1]), mode
        assert high.throughput[0] == low.throughput[0], mode  # the bound is that of a full server


def test_a_tight_limit_of_the_first_token_lowers_the_load_of_replicas_that_do_both():
    given = dict(weights="fp8", cache="fp8", mode="colocated", tp=2, pp=1)
    free = serve(*USUAL, **given).best
    tight = serve(*USUAL, **given, ttft=0.93 * free.first[1]).best
    assert free.queue.load == 0.75 and tight.queue.load < 0.75 or tight.decode.batch < free.decode.batch
    close = serve(*USUAL, **given, batch=16, ttft="290ms").best
    assert close.queue.load < 0.75 and close.binds == "time to first token" and close.first[1] <= 0.29


def test_chunks_shorten_the_gap_and_lengthen_the_first_token():
    given = dict(weights="fp8", cache="fp8", mode="colocated", tp=4, pp=1, batch=64)
    whole, large, small = (serve(*USUAL, **given, chunk=chunk).best for chunk in (0, 1024, 256))
    assert small.gap[1] < large.gap[1] < whole.gap[1]
    assert small.decode.first[1] > large.decode.first[1]
    same = serve(*USUAL, **given, chunk=5000).best  # a prompt is one chunk
    assert same.record() == whole.record()
    full = serve(*USUAL, weights="fp8", cache="fp8", mode="colocated", tp=4, pp=1, chunk=128).best
    assert full.binds == "chunks of prompts" and full.decode.batch == 128 * 499 // 2000


def test_rows_within_the_error_band_of_the_first_are_ties():
    plan = serve("llama3_70b", "h100_sxm", gpus=8, input=2000, output=500, ttft=1, tpot="30ms")
    rates, band = [row.per_gpu[1] for row in plan.rows], plan.engine.band
    near = [rates[0] / rate < band for rate in rates]
    assert True in near[1:] and False in near
    marked = [line.startswith("= ") for line in str(plan).splitlines() if "GB " in line]
    assert marked == near
    assert plan._repr_html_().count("<br>tie</small>") == sum(near)
    assert [row["tie"] for row in plan.record()["rows"]] == near
    alone = serve("llama3_70b", "h100_sxm", gpus=8, input=2000, output=500, ttft=1, tpot="30ms", top=1)
    assert "tie" not in str(alone) and "tie<" not in alone._repr_html_()
