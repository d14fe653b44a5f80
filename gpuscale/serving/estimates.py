"""The constants of estimates, each fitted to a few published measurements of one kind, without requests in flight.

What they give for everything else, such as many requests in flight, is a prediction.
"""

from __future__ import annotations

from functools import cache as remembered

import numpy as np

from gpuscale.llm.model_counts import counts
from gpuscale.serving.decode_numbers import WHOLE, Constants, peak
from gpuscale.serving.given_decode import _of_row, gpt_fast, prefill, steps
from gpuscale.specs.measured_serving import ServingRow, serving_row, serving_rows
from gpuscale.specs.registry import chip as _chip

# What the time of unpacking or routing is fitted to: a dense model in 8 bits, and a mixture in 16
UNPACKED = ("gptfast-llama3_8b-int8-tp1", "gptfast-mixtral_8x7b-bf16-tp2")


@remembered
def constants() -> Constants:
    """The constants that published rows give."""
    unpack = float(np.mean([_missing(serving_row(key)) for key in UNPACKED]))
    wide, few = ([reached(row) for row in prompts() if (row.weights in WHOLE) is whole] for whole in (True, False))
    return Constants(*gpt_fast(), unpack, float(np.median(wide)), float(np.median(few)))


@remembered
def draft_time() -> float:
    """The time of a draft token over that of a step, which published speedups by speculation give: their mean."""
    runs = [row for row in serving_rows() if row.regime == "speculation"]
    plain = next(row for row in runs if not row.draft)
    drafted = [row for row in runs if row.draft]
    return float(np.mean([(row.tokens_per_step * plain.base / row.base - 1) / row.draft for row in drafted]))


def fitted() -> list[ServingRow]:
    """The rows behind the constants."""
    return [*steps(), *map(serving_row, UNPACKED), *prompts()]


def prompts() -> list[ServingRow]:
    """Rows of the time to first token that arithmetic limits, of models without experts."""
    first = (row for row in serving_rows() if row.metric == "first_token" and not counts(row.model).moe)
    return [row for row in first if _arithmetic(row) >= _prompt(row).V_w / _chip(row.chip).hbm_bw / row.gpus]


def reached(row: ServingRow) -> float:
    """The fraction of the peak that the prefill of a row reaches, without the time of its layers."""
    return _arithmetic(row) / (row.base - counts(row.model).inputs["L"] * gpt_fast().t_layer)


def _prompt(row: ServingRow):
    return prefill(row.model, row.chip, prompt=row.input, weights=row.weights, gpus=row.gpus, head="bf16")


def _arithmetic(row: ServingRow) -> float:
    return row.batch * _prompt(row).ops / peak(_chip(row.chip), row.weights) / row.gpus


def _missing(row: ServingRow) -> float:
    """Seconds per layer that the two constants leave unexplained."""
    return (1 / row.base - _of_row(row, gpt_fast()).estimate) / counts(row.model).inputs["L"]
