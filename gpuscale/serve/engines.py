"""What serving engines sustain: the constants of expected times, and how far they can be trusted.

The constants follow from published rows of single streams and prefills (``serving.estimates``), and what experts
add under load from rows of requests in flight. ``printing`` stores them, so that a plan starts without fitting them.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.llm.model_counts import counts
from gpuscale.printed.engines import CONSTANTS, IN_FLIGHT
from gpuscale.serving.decode_numbers import Constants
from gpuscale.specs.entry import Part


@dataclass(frozen=True)
class EngineRates:
    """The constants of estimates, and what requests in flight add to them.

    Each sequence after the first adds ``added`` times its estimate. Nine of ten of the ``rows`` of requests in flight
    were within a factor of ``band``, either way. ``chips``: on which rows behind these numbers ran.
    """

    constants: Constants
    added: float
    band: float
    rows: int
    chips: list[str]


def engine(experts: bool) -> EngineRates:
    """The EngineRates of models with or without experts."""
    return EngineRates(Constants(**CONSTANTS), **IN_FLIGHT[experts])


def engine_of(model: Part) -> EngineRates:
    """The EngineRates of a model."""
    return engine(counts(model).moe)
