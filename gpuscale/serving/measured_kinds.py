"""Which kinds of measurements the formulas predict, and which they only bound, with the band that the rows leave.

Two constants from four rows of one engine predict a decode step that one GPU makes with weights of 16 bits, whatever
the engine. Elsewhere the time that bytes and FLOPs do not explain depends on the engine, and only the bound is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache as remembered
from typing import NamedTuple

from gpuscale.serving.measured import WHOLE_HEAD, Bounded, measured_bounds
from gpuscale.specs.measured_serving import serving_regimes

WIDER = 1.1  # a band reaches this factor beyond the lowest and the highest row
HELD = 0.9  # of the rows that a band was not made from, so many have to lie in it
WIDE = ("bf16", "fp16")  # formats of 16 bits
BRIEF = 0.1  # of the bound, for a prefill that does not matter


class Band(NamedTuple):
    """Rows of one kind, and where they lie.

    ``predicted``: the band is of the measurement over the estimate, else over the bound. ``low`` and ``high`` are its
    ends, the lowest and the highest row widened by ``WIDER``. ``held`` of the rows lie in the band that the rows
    of other ``groups`` give: other sources, or other models if there is one source.
    """

    title: str
    predicted: bool
    rows: tuple[Bounded, ...]
    lowest: float
    highest: float
    low: float
    high: float
    groups: int
    held: float

    @property
    def holds(self) -> bool:
        """Whether the band holds for groups that it was not made from."""
        return self.groups > 1 and self.held >= HELD


def judged(one: Bounded) -> bool:
    """Whether a row counts: it has a bound, contradicts nothing and ran as its configuration says."""
    return one.bound is not None and not one.row.flag and not one.row.outlier


def predicted(one: Bounded) -> bool:
    """Whether the two constants should predict a row: decode that reading limits, after a prefill of a tenth of the
    time at most, with weights of 16 bits, on one GPU, or on several by the engine to which the constants are fitted;
    and any slope over the context."""
    row = one.row
    if row.metric == "latency_slope":
        return True
    reads = row.regime in ("batch_1", "static_batch", "long_context") and one.limit in ("weights", "cache")
    reads = reads and one.prefill <= BRIEF * one.bound
    wide = row.weights in WIDE and (row.experts or row.weights) in WIDE
    return reads and wide and (row.gpus == 1 or row.engine in WHOLE_HEAD)


@remembered
def predicted_band() -> Band:
    """All rows that the two constants should predict, in one band."""
    return _band("predicted", True, [one for one in measured_bounds().values() if judged(one) and predicted(one)])


@remembered
def bounded_bands() -> tuple[Band, ...]:
    """The rows that are only bounded, regime by regime."""
    rest = [one for one in measured_bounds().values() if judged(one) and not predicted(one)]
    by_regime = {name: [one for one in rest if one.row.regime == name] for name in serving_regimes()}
    return tuple(_band(serving_regimes()[name], False, rows) for name, rows in by_regime.items() if rows)


def _band(title: str, predicted: bool, rows: Iterable[Bounded]) -> Band:
    rows = tuple(rows)
    at = {one.row.id: one.over_estimate if predicted else one.ratio for one in rows}
    sources = {one.row.id: one.row.source.partition(",")[0] for one in rows}
    if len(set(sources.values())) == 1:
        sources = {one.row.id: one.row.model for one in rows}
    groups = set(sources.values())
    inside = 0
    for group in groups if len(groups) > 1 else ():
        low, high = _ends([at[key] for key in at if sources[key] != group])
        inside += sum(low <= at[key] <= high for key in at if sources[key] == group)
    low, high = _ends(at.values())
    return Band(title, predicted, rows, low * WIDER, high / WIDER, low, high, len(groups), inside / len(rows))


def _ends(values: Iterable[float]) -> tuple[float, float]:
    values = list(values)
    return min(values) / WIDER, max(values) * WIDER
