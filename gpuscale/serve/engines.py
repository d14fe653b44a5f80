"""What serving engines sustain: the constants of expected times, and how far they can be trusted.

Steps follow from the two constants of ``serving.gpt_fast``. Engines under load are slower, because they schedule,
sample and communicate between kernels: by which factor, the published rows of requests in flight say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gpuscale.llm.model_counts import counts
from gpuscale.serving.given_decode import gpt_fast
from gpuscale.serving.measured import measured_bounds
from gpuscale.serving.measured_kinds import judged
from gpuscale.specs.entry import Part

HELD = 0.9  # of the rows lie in the band
REGIMES = {False: "in_flight", True: "mixture"}  # of published rows, by whether the model has experts


@dataclass(frozen=True)
class Engine:
    """Constants of expected times: HBM sustains ``eta_hbm`` of its bandwidth, a layer takes ``t_layer`` seconds more,
    and everything takes ``slow`` times as long under load. Nine of ten of the ``rows`` that this follows from were
    within a factor of ``band``, either way."""

    eta_hbm: float
    t_layer: float
    slow: float
    band: float
    rows: int


@cache
def engine(experts: bool) -> Engine:
    """The Engine of models with or without experts."""
    rows = [one for one in measured_bounds().values() if one.row.regime == REGIMES[experts] and judged(one)]
    over = np.log([one.over_estimate for one in rows])
    slow = float(np.median(over))
    band = float(np.exp(np.quantile(np.abs(over - slow), HELD)))
    return Engine(*gpt_fast(), float(np.exp(slow)), band, len(rows))


def engine_of(model: Part) -> Engine:
    """The Engine of a model."""
    return engine(counts(model).moe)
