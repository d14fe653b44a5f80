"""Published rows next to their bounds: what another program made of the same rows, and what the rows themselves say."""

from dataclasses import replace

import pytest

from gpuscale.llm import counts
from gpuscale.serving import speculative_speedup
from gpuscale.serving.estimates import UNPACKED, constants, prompts, reached
from gpuscale.serving.given_decode import gpt_fast
from gpuscale.serving.measured import _known, batch_that_fits, exchanged, measured_bounds, step_times
from gpuscale.serving.measured_kinds import (
    KINDS,
    REST,
    WIDER,
    bounded_bands,
    judged,
    kind,
    load_factor,
    over_expected,
    predicted,
    predicted_band,
    predicted_bands,
)
from gpuscale.specs import serving_row, serving_rows

BOUNDS = measured_bounds()
US, MS, S = 1e-6, 1e-3, 1.0

# Bounds that a plain script computed from the configurations of the models, row by row, for about every eighth row. It
# leaves out the vectors of norms and biases.
ELSEWHERE = {
    "gptfast-llama2_7b-bf16-tp1": 6.5077 * MS,
    "gptfast-llama2_70b-bf16-tp8": 8.4270 * MS,
    "gptfast-mixtral_8x7b-int8-tp8": 0.7824 * MS,
    "trt10-l70b-b200_sxm-2048-128": 34.5098 * MS,
    "trt10-l70b-h100_sxm-128-4096": 412.2406 * MS,
    "trt10-l405b-h200_sxm-128-2048": 112.1916 * MS,
    "trt10-q235-h200_sxm-2048-2048": 21.7297 * MS,
    "trtlat-dsr1-gb200-1024-8192": 122.449 * MS,
    "trt06-h100-llama2_7b-b768-128-128": 2.3677303 * S,
    "trt05-ttft-h100_sxm-llama2_70b-2048": 36.8105 * MS,
    "trth200-llama2_70b-b32-2048-128": 6.8296857 * S,
    "trtdsr1-h200-fp8": 26.9074 * MS,
    "trtblog1-mtp0": 0.6878 * MS,
    "lmd-llama2_7b-b64-128-2048": 25.4384 * MS,
    "ft-gpt_20b-TP1-b64-20-8": 308.4275 * MS,
    "vllmkv-l8b-h100-bf16": 39.12597 * US * MS,
    "vllmkv-oss20-b200-bf16": 3.072 * US * MS,
    "vllm2192-70b-custom": 6.3501898 * S,
    "dstack-mi300x-meta-eager-128-b256": 28.2018148 * S,
    "lmsys-ep72-2k": 18.8995 * MS,
    "lmsys-ep32-prefill-4096-balanced": 46.425046 * US,
    "ix-gb200-sgl-c4096": 6.2237 * MS,
    "ix-mi355x-c64": 10.6643 * MS,
    "aic1150-mix-2048-b4": 30.0563 * MS,
    "deepep-ll-dispatch-64": 132.46464 * US,
    "deepep-ll-combine-256": 284.42624 * US,
    "sgl2904-ar-tp4-32768": 0.10922667 * US,
}
# How many sequences fit, by the same script.
FIT = {
    "trt10-l70b-b200_sxm-2048-128": 370,
    "trt10-l70b-h200_sxm-128-128": 1948,
    "trt10-l8b-h200_sxm-128-128": 9923,
    "trt10-l405b-h100_sxm-20000-2000": 36,
    "trt10-q235-h200_sxm-2048-2048": 2605,
    "trtlat-dsr1-b200_sxm-1024-1024": 4452,
    "trtlat-q30-b200_sxm-1024-1024": 2008,
}
NO_BOUND = {"deepep-ll-dispatch-8", "pope-chat", "vllm-405b-fp8", "vllm-dcp-kimi-tp", "vllm-dcp-kimi-dcp"}


def of(regime: str) -> list:
    return [one for one in BOUNDS.values() if one.row.regime == regime]


@pytest.mark.parametrize("key", ELSEWHERE)
def test_another_program_finds_the_same_bound(key):
    assert BOUNDS[key].bound == pytest.approx(ELSEWHERE[key], rel=2e-4)


@pytest.mark.parametrize("key", FIT)
def test_another_program_fits_as_many_sequences(key):
    assert batch_that_fits(serving_row(key)) == FIT[key]


def test_no_row_is_faster_than_its_bound_but_two_that_are_flagged():
    below = {key for key, one in BOUNDS.items() if one.ratio and one.ratio < 1}
    assert below == {"aic1150-mix-2048-b4", "aic1150-mix-4096-b16"}
    assert all(BOUNDS[key].row.flag for key in below)
    assert {row.id for row in serving_rows()} - set(BOUNDS) == NO_BOUND


def test_a_bound_of_twice_the_bytes_would_be_broken():
    """Rows close to their bounds: there a count that is 1.35 times as high fails, at batch 1 and in flight one of 2."""
    assert min(one.ratio for one in of("static_batch")) < 1.35 and min(one.ratio for one in of("long_context")) < 1.35
    assert min(one.ratio for one in of("batch_1")) < 1.45 and min(one.ratio for one in of("in_flight")) < 2


def test_slopes_over_the_context_follow_the_cache():
    """A cache in bf16; the count that ignores windows is more than was measured for the model that has them."""
    slopes = {key: one for key, one in BOUNDS.items() if one.row.metric == "latency_slope"}
    assert len(slopes) == 3
    for key, one in slopes.items():
        assert 1.10 <= one.ratio <= 1.22
        every_layer = one.memory
        assert (one.measured < every_layer) == ("oss20" in key)
        assert every_layer / one.bound == pytest.approx(2 if "oss20" in key else 1)


def test_rows_at_long_contexts_are_within_the_band_of_the_slopes_over_their_estimates():
    for one in of("long_context"):
        assert 0.85 < one.over_estimate < 1.25


def test_how_far_requests_in_flight_are_from_their_bounds():
    for one in of("in_flight"):
        assert 1.3 <= one.ratio <= (5.2 if one.row.model == "llama3_405b" else 3.0), one.row.id
    assert max(one.ratio for one in of("mixture")) == pytest.approx(8.73, abs=0.01)


def test_littles_law_in_what_a_source_prints():
    """Requests per second times mean latency are the concurrency."""
    rows = [row for row in serving_rows() if {"requests_per_s", "mean_latency_s"} <= set(row.also)]
    assert len(rows) == 2
    for row in rows:
        assert row.also["requests_per_s"] * row.also["mean_latency_s"] == pytest.approx(row.batch, rel=0.025)


def test_a_day_of_a_fleet_follows_from_its_rates():
    nodes, money = BOUNDS["deepseek-day6-nodes"], BOUNDS["deepseek-day6-cost"]
    assert nodes.estimate == pytest.approx(608e9 / 86400 / 73700 + 168e9 / 86400 / 14800)
    assert nodes.over_estimate == pytest.approx(226.75 / 226.86, rel=1e-4)
    assert money.estimate == pytest.approx(87_072) == money.measured
    million = BOUNDS["lmsys-ep-cost"]
    energy = BOUNDS["mlenergy-l8b-b64-v3"]
    assert (energy.bound, energy.estimate) == (None, pytest.approx(0.0627, rel=1e-3))
    assert million.estimate == pytest.approx(8 * 2 / 3600 / 22282 * 1e6) and round(million.estimate, 2) == 0.20


def test_one_cost_of_a_draft_token_gives_five_speedups():
    """With measured tokens per step, which the form of equal acceptance cannot give."""
    rows = {row.draft: row for row in serving_rows() if row.regime == "speculation"}
    alone = rows[0].value
    for n in range(1, 6):
        known = {"a_step": rows[n].tokens_per_step, "n_draft": n, "r_draft": 0.0796}
        assert speculative_speedup(**known) == pytest.approx(rows[n].value / alone, rel=0.03)
    first = rows[1].tokens_per_step - 1
    assert sum(first**i for i in range(6)) > 1.6 * rows[5].tokens_per_step


def test_the_engine_that_calibrates_reads_the_whole_head_and_others_do_not():
    row = serving_row("gptfast-llama3_8b-bf16-tp2")
    other = replace(row, engine="another")
    more = step_times(row, 1).estimate - step_times(other, 1).estimate
    assert more == pytest.approx(2 * 128256 * 4096 / 2 / 2.039e12 / gpt_fast().eta_hbm, rel=1e-6)
    assert step_times(row, 1).bound == step_times(other, 1).bound


# What is predicted


def test_constants_come_from_single_streams_and_single_prompts():
    """Each from its own few rows, none from requests in flight, whose rows they predict."""
    used = constants()
    assert (used.eta_hbm, used.t_layer) == gpt_fast()
    fitted = [BOUNDS[key] for key in UNPACKED]
    assert [one.over_estimate for one in fitted] == pytest.approx([1, 1], abs=0.01)
    assert 0.45 * used.t_layer < used.t_unpack < 0.55 * used.t_layer
    rows = prompts()
    assert len(rows) == 9 and {row.regime for row in rows} == {"prefill"}
    halves = {fp8: sorted(reached(row) for row in rows if (row.weights == "fp8") is fp8) for fp8 in (False, True)}
    assert used.eta_few == halves[True][2] and used.eta_wide == pytest.approx(sum(halves[False][1:3]) / 2)
    seven = serving_row("trt05-ttft-h100_sxm-llama2_7b-2048")
    ops = 2 * 2048 * 32 * (4 * 4096**2 + 3 * 4096 * 11008) + 32 * 4 * 4096 * 2048 * 2049 / 2 + 2 * 32000 * 4096
    assert reached(seven) == pytest.approx(ops / 1979e12 / (0.036 - 32 * used.t_layer), rel=1e-3)


@pytest.mark.parametrize("key", KINDS)
def test_what_is_predicted_stays_in_the_band_of_other_sources(key):
    """Nine of ten rows of a source lie between the lowest and the highest of the others, widened: counted again."""
    band = predicted_bands()[key]
    assert band.holds and len(band.rows) >= 15
    by_hand = [over_expected(one) for one in BOUNDS.values() if judged(one) and kind(one) == key]
    assert (band.lowest, band.highest) == (pytest.approx(min(by_hand)), pytest.approx(max(by_hand)))
    assert (band.low, band.high) == (pytest.approx(band.lowest / WIDER), pytest.approx(band.highest * WIDER))
    sources = {one.row.id: one.row.source.split(",")[0] for one in band.rows}
    if len(set(sources.values())) == 1:
        sources = {one.row.id: one.row.model for one in band.rows}
    inside = 0
    for one in band.rows:
        others = [other for other in band.rows if sources[other.row.id] != sources[one.row.id]]
        factor = load_factor(others) if key == "mixture" else None
        values = sorted(over_expected(other, factor) for other in others)
        inside += values[0] / WIDER <= over_expected(one, factor) <= values[-1] * WIDER
    assert inside == round(band.held * len(band.rows)) >= 0.9 * len(band.rows)


def test_bands_are_no_wider_than_the_page_says():
    """Decode and arithmetic within half, dense requests in flight within half, mixtures within a factor of 2.1."""
    widest = {"decode": 1.37, "arithmetic": 1.45, "in_flight": 1.51, "mixture": 2.1}
    for key, band in predicted_bands().items():
        assert 1 / widest[key] < band.low < 0.85 and 1.3 < band.high < widest[key], key


def test_without_its_terms_the_estimate_of_requests_in_flight_would_not_hold():
    """At the peaks of matmuls and with free all-reduces, large models on many GPUs take three times as long."""
    off = {key: one for key, one in BOUNDS.items() if kind(one) == "in_flight"}
    assert max(one.ratio for one in off.values()) > 3 * max(one.over_estimate for one in off.values())


def test_a_mixture_takes_longer_for_each_further_sequence():
    one = BOUNDS["trtlat-dsr1-b200_sxm-1024-8192"]
    alone = one.estimate - one.added
    assert 0 < alone < one.estimate
    assert over_expected(one, 3.0) == pytest.approx(one.measured / (alone + 3 * one.added))
    assert over_expected(one, 1.0) == pytest.approx(one.over_estimate)
    with_it, without = (
        sum(abs(1 - over_expected(row, factor)) for row in predicted_bands()["mixture"].rows) for factor in (None, 1.0)
    )
    assert with_it < 0.4 * without


def test_what_is_predicted_is_said_by_the_configuration_alone():
    """Tensor parallelism of other engines, prefills that launches limit and large batches on several GPUs are not."""
    said = {key: kind(one) for key, one in BOUNDS.items()}
    decode = {"gptfast-llama2_70b-bf16-tp8", "lmd-llama2_13b-b16-2048-2048", "vllmkv-l8b-load-fp8"}
    decode |= {"gptfast-llama2_70b-int4g32-tp1", "vllmkv-oss20-b200-fp8-intercept"}
    assert {said[key] for key in decode} == {"decode"}
    arithmetic = {"trt06-a100-llama2_7b-b52-2048-128", "lmd-ttft-llama2_13b-2048"}
    assert {said[key] for key in arithmetic} == {"arithmetic"}
    assert said["trt10-l8b-h200_sxm-128-2048"] == "in_flight" and said["lmsys-ep72-2k"] == "mixture"
    no = {"tgi1315-h100_sxm-tp4", "trtblog1-mtp0", "lmd-ttft-llama2_70b-128", "lmd-llama2_70b-b16-128-2048"}
    assert {said[key] for key in no} == {""}


def test_every_row_that_counts_is_in_one_band():
    bands = (*predicted_bands().values(), *bounded_bands())
    inside = [one.row.id for band in bands for one in band.rows]
    assert sorted(inside) == sorted(key for key, one in BOUNDS.items() if judged(one))
    left = {key for key, one in BOUNDS.items() if one.row.outlier}
    assert left == {"gptfast-llama3_70b-bf16-tp2", "dstack-h100-meta-128-b256"}
    assert predicted_band() is predicted_bands()["decode"] and all(predicted(one) for one in predicted_band().rows)
    static = next(band for band in bands if band.title == REST["static_batch"])
    assert not static.predicted and not static.holds and static.lowest > 1.3
    for band in bounded_bands():
        if band.title in (REST["batch_1"], REST["static_batch"]):
            assert all(one.row.gpus > 1 for one in band.rows)
        if band.title == REST["prefill"]:
            assert all(one.row.input <= 128 or counts(one.row.model).moe for one in band.rows)


def test_what_gpus_exchange_is_part_of_an_estimate():
    """All-reduces of tensor parallelism at the rate of NVLink, in a step and in a prefill; nothing on one GPU."""
    row = serving_row("trt10-l405b-h200_sxm-20000-2000")
    reduced = 2 * 126 * 2 * 7 / 8 * 16384 * 2 / 450e9
    assert exchanged(row, _known(row), 100) == pytest.approx(100 * reduced)
    assert exchanged(replace(row, gpus=1), _known(replace(row, gpus=1)), 100) == 0
    experts = serving_row("trtlat-dsr1-b200_sxm-1024-8192")
    sent = 58 * 25 * 8 * 7168 * 4 * 3 / 4 / 900e9
    assert exchanged(experts, _known(experts), 100) == pytest.approx(sent)
