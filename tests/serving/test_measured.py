"""Published rows next to their bounds: what another program made of the same rows, and what the rows themselves say."""

from dataclasses import replace

import pytest

from gpuscale.serving import speculative_speedup
from gpuscale.serving.given_decode import gpt_fast
from gpuscale.serving.measured import batch_that_fits, measured_bounds, step_times
from gpuscale.serving.measured_kinds import WIDER, bounded_bands, judged, predicted, predicted_band
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
    "mlenergy-l8b-b64-v3": 0.0627,
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


def test_requests_in_flight_are_bounded_not_predicted():
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


def test_what_the_constants_predict_stays_in_its_band_whichever_source_is_left_out():
    band = predicted_band()
    assert band.holds and band.groups >= 6 and len(band.rows) >= 25 and band.held >= 0.9
    assert band.low > 0.8 and band.high < 1.3
    by_hand = [one.measured / one.estimate for one in BOUNDS.values() if judged(one) and predicted(one)]
    assert (band.lowest, band.highest) == (pytest.approx(min(by_hand)), pytest.approx(max(by_hand)))
    assert (band.low, band.high) == (pytest.approx(band.lowest / WIDER), pytest.approx(band.highest * WIDER))


def test_what_is_predicted_is_said_by_the_configuration_alone():
    """Weights in fewer bits, tensor parallelism of other engines, prefills and large models in flight are not."""
    said = {key for key, one in BOUNDS.items() if predicted(one)}
    assert {"gptfast-llama2_70b-bf16-tp8", "lmd-llama2_13b-b16-2048-2048", "vllmkv-l8b-load-fp8"} <= said
    no = {"gptfast-llama2_70b-int4g32-tp1", "tgi1315-h100_sxm-tp4", "trt06-a100-llama2_7b-b52-2048-128"}
    no |= {
        "lmd-ttft-llama2_13b-2048",
        "trt10-l8b-h200_sxm-128-2048",
        "trtblog1-mtp0",
        "vllmkv-oss20-b200-fp8-intercept",
    }
    assert no <= set(BOUNDS) and not no & said


def test_every_row_that_counts_is_in_one_band():
    bands = (predicted_band(), *bounded_bands())
    inside = [one.row.id for band in bands for one in band.rows]
    assert sorted(inside) == sorted(key for key, one in BOUNDS.items() if judged(one))
    left = {key for key, one in BOUNDS.items() if one.row.outlier}
    assert left == {"gptfast-llama3_70b-bf16-tp2", "dstack-h100-meta-128-b256"}
    flight = next(band for band in bands if band.title == "requests in flight, dense model")
    assert not flight.predicted and not flight.holds and flight.lowest > 1.3
