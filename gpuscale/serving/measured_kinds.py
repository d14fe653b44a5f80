"""Which kinds of measurements the formulas predict, and which they only bound, with the band that the rows leave.

The constants of ``estimates`` come from single streams and prefills. They predict any decode on one GPU, prefill
and whole batches of dense models, and dense models with requests in flight. Elsewhere the time that bytes, FLOPs and
links do not explain depends on the engine, and only the bound is left. Mixtures in flight are in between: with one
constant more, fitted to them, they lie within a factor of about two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache as remembered
from typing import NamedTuple

import numpy as np

from gpuscale.llm.model_counts import counts
from gpuscale.serving.decode_time import loaded_step
from gpuscale.serving.given_decode import value
from gpuscale.serving.measured import WHOLE_HEAD, Bounded, measured_bounds
from gpuscale.specs.measured_serving import serving_regimes

WIDER = 1.1  # a band reaches this factor beyond the lowest and the highest row
HELD = 0.9  # of the rows that a band was not made from, so many have to lie in it
BRIEF = 0.1  # of the bound, for a prefill that does not matter
KINDS = {
    "decode": "memory-bound decode",
    "arithmetic": "prefill and static batches, dense model",
    "in_flight": "requests in flight, dense model",
    "mixture": "requests in flight, mixture of experts",
}
REST = {  # what is left of a regime whose other rows are predicted
    "batch_1": "one sequence on several GPUs",
    "static_batch": "static batch on several GPUs",
    "prefill": "short prompts, prompts of mixtures",
}


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


def kind(one: Bounded) -> str:
    """Which of KINDS a row is, by its configuration alone; "" for a row that is only bounded.

    "decode": reading is its limit, after a prefill of a tenth of the time at most, on one GPU, or on several by the
    engine to which the constants are fitted; and any slope over the context. "arithmetic": a prompt that arithmetic
    limits, or a static batch on one GPU.
    """
    row, alone = one.row, one.row.gpus == 1 or one.row.engine in WHOLE_HEAD
    if row.metric == "latency_slope":
        return "decode"
    reads = row.regime in ("batch_1", "static_batch", "long_context") and one.limit in ("weights", "cache")
    if reads and alone and one.prefill <= BRIEF * one.bound:
        return "decode"
    if row.regime == "mixture":
        return "mixture"
    if not row.model or counts(row.model).moe or row.gpus is None:
        return ""
    if row.metric == "first_token" and one.limit == "compute" or row.regime == "static_batch" and row.gpus == 1:
        return "arithmetic"
    return "in_flight" if row.regime == "in_flight" else ""


def predicted(one: Bounded) -> bool:
    """Whether the constants should predict a row."""
    return bool(kind(one))


def load_factor(rows: Iterable[Bounded]) -> float:
    """What mixtures in flight take for each further sequence, over its estimate: the median of rows."""
    return float(np.median([1 + (one.measured - one.estimate) / one.added for one in rows]))


@remembered
def loaded() -> float:
    """The load factor of all rows that count."""
    return load_factor(_rows("mixture"))


def over_expected(one: Bounded, factor: float | None = None) -> float | None:
    """A measurement over its estimate, which for a mixture in flight has the load factor."""
    if kind(one) != "mixture":
        return one.over_estimate
    known = {"T_one": one.estimate - one.added, "T_many": one.estimate, "g_added": factor or loaded()}
    return one.measured / value(loaded_step, known)


@remembered
def predicted_bands() -> Mapping[str, Band]:
    """The rows that the constants should predict, by kind."""
    return {key: _band(title, key, _rows(key)) for key, title in KINDS.items()}


def predicted_band() -> Band:
    """The band of decode, which reads."""
    return predicted_bands()["decode"]


def _rows(key: str) -> tuple[Bounded, ...]:
    return tuple(one for one in measured_bounds().values() if judged(one) and kind(one) == key)


@remembered
def bounded_bands() -> tuple[Band, ...]:
    """The rows that are only bounded, regime by regime."""
    rest = [one for one in measured_bounds().values() if judged(one) and not predicted(one)]
    by_regime = {name: [one for one in rest if one.row.regime == name] for name in serving_regimes()}
    titles = serving_regimes() | REST
    return tuple(_band(titles[name], "", rows) for name, rows in by_regime.items() if rows)


def _band(title: str, key: str, rows: Sequence[Bounded]) -> Band:
    """The band of rows of a kind, or of rows that are only bounded if the key is "": then it is that of the ratios."""
    groups = [one.row.source.partition(",")[0] for one in rows]
    if len(set(groups)) == 1:
        groups = [one.row.model for one in rows]
    each, inside = dict.fromkeys(groups), 0
    for left in each if len(each) > 1 else ():
        seen, rest = [one for one, group in zip(rows, groups, strict=True) if group != left], None
        if key == "mixture":
            rest = load_factor(seen)
        low, high = _ends(_at(one, key, rest) for one in seen)
        inside += sum(
            low <= _at(one, key, rest) <= high for one, group in zip(rows, groups, strict=True) if group == left
        )
    low, high = _ends(_at(one, key) for one in rows)
    return Band(title, bool(key), tuple(rows), low * WIDER, high / WIDER, low, high, len(each), inside / len(rows))


def _at(one: Bounded, key: str, factor: float | None = None) -> float:
    return over_expected(one, factor) if key else one.ratio


def _ends(values: Iterable[float]) -> tuple[float, float]:
    values = list(values)
    return min(values) / WIDER, max(values) * WIDER
