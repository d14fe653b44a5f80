"""What serving engines sustain: the constants of expected times, and how far they can be trusted.

The constants follow from published rows of single streams and single prompts (``serving.estimates``), and what experts
add under load from rows of requests in flight. ``printing`` stores them, so that a plan starts without fitting them.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.llm.model_counts import counts
from gpuscale.printed.engines import ENGINES
from gpuscale.serving.decode_numbers import WHOLE, rate_name
from gpuscale.specs.entry import Part

HELD = 0.9  # of the rows lie in the band
REGIMES = {False: "in_flight", True: "mixture"}  # kinds of published rows, by whether the model has experts


@dataclass(frozen=True)
class EngineRates:
    """Constants of expected times.

    HBM sustains ``eta_hbm`` of its bandwidth; a layer takes ``t_layer`` seconds more, and ``t_unpack`` on top if it
    unpacks weights or routes to experts; matmuls reach ``eta_wide`` of their peak in 16 bits and ``eta_few`` in fewer.
    Each sequence after the first adds ``added`` times its estimate. Nine of ten of the ``rows`` of requests in flight
    were within a factor of ``band``, either way.
    """

    eta_hbm: float
    t_layer: float
    t_unpack: float
    eta_wide: float
    eta_few: float
    added: float
    band: float
    rows: int

    def layer(self, experts: bool, weights: str) -> float:
        """The time of a layer in a decode step that bytes don't explain."""
        return self.t_layer + (self.t_unpack if experts or weights not in WHOLE else 0)

    def matmuls(self, gpu: Part, form: str) -> float:
        """The fraction of the peak that matmuls reach in a format."""
        return self.eta_wide if rate_name(gpu, form) in WHOLE else self.eta_few


def engine(experts: bool) -> EngineRates:
    """The EngineRates of models with or without experts."""
    return EngineRates(**ENGINES[experts])


def engine_of(model: Part) -> EngineRates:
    """The EngineRates of a model."""
    return engine(counts(model).moe)
