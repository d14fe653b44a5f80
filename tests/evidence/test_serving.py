"""The page of measured serving: every row once, next to the bound that the library computes, and the bands."""

import re

import pytest

from gpuscale.core.html import anchor
from gpuscale.evidence import serving_bands, serving_filter, serving_table
from gpuscale.serving.measured import measured_bounds
from gpuscale.serving.measured_kinds import bounded_bands, predicted_bands
from gpuscale.specs import serving_regimes, serving_row, serving_rows

PAGES = {regime: serving_table(regime) for regime in serving_regimes()}


def row(key):
    page = PAGES[serving_row(key).regime].html
    return re.search(rf'<tr role="row" id="{anchor(key)}">(.*?)</tr>', page)[1]


def cells(key):
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row(key))]


def test_every_row_is_there_once():
    found = [key for page in PAGES.values() for key in re.findall(r'<tr role="row" id="([^"]+)"', page.html)]
    assert sorted(found) == sorted(anchor(one.id) for one in serving_rows())


def test_a_row_says_what_was_measured_and_its_bound():
    what, measured, bound, ratio, estimate, limit = cells("lmd-llama2_7b-b16-2048-2048")
    assert "Llama 2 7B, 1 A100 SXM" in what and "batch 16, 2,048 tokens in, 2,048 out" in what
    assert "LMDeploy (TurboMind) 0.1.0a1; InternLM, LMDeploy, docs/en/benchmark/a100_fp16.md at 3e391df" in what
    assert (measured.replace("\N{NO-BREAK SPACE}", " "), ratio) == ("25.0 ms decode step", "1.31")
    assert bound.replace("\N{NO-BREAK SPACE}", " ") == "19.1 ms" and float(estimate) < 1.1 and limit == "cache"


def test_flags_and_assumptions_are_said_and_every_estimate_is_shown():
    assert "Flagged: shorter than the matmuls" in row("aic1150-mix-2048-b4")
    assert "Assumed: sizes in bytes" in PAGES["all_reduce"].html and "Assumed" not in row("sgl2904-ar-tp2-32768")
    assert "Assumed: attention in fp8" in row("trtlat-dsr1-b200_sxm-1024-1024")
    for key, one in measured_bounds().items():
        assert (cells(key)[4] == "–") == (one.estimate is None), key
    assert cells("pope-chat")[2:] == ["–"] * 4


@pytest.mark.parametrize("field", ["engine", "model", "gpu", "limit"])
def test_the_filter_finds_each_field_in_the_rows(field):
    assert f'name="{field}"' in serving_filter().html
    assert all(f"data-{field}=" in PAGES[regime].html for regime in ("batch_1", "mixture"))


def test_bands_have_a_line_each():
    lines = serving_bands().text.splitlines()
    bands = (*predicted_bands().values(), *bounded_bands())
    assert len(lines) == len(bands)
    for line, band in zip(lines, bands, strict=True):
        reference = "estimate" if band.predicted else "bound"
        assert line.lower().startswith(f"{band.title} | {len(band.rows)} | {reference}".lower())
    assert "One sequence on several GPUs | 7 | bound" in lines[len(predicted_bands())]
