"""What serving engines sustain: the constants of the expected times, and how far they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Engine:
    """Constants of expected times. ``factor``: decode steps over their estimate; ``band``: the factor by which nine of
    ten published rows of that kind were within it."""

    eta_hbm: float
    t_layer: float
    eta_mat: float
    factor: float = 1.0
    prefill_factor: float = 1.0
    band: float = 1.0


def engine(ask) -> Engine:
    return Engine(0.854, 61.6e-6, 0.7)
