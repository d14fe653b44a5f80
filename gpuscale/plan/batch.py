"""Many choices at once: arrays of degrees in, arrays of costs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from gpuscale.plan import evaluation, layouts
from gpuscale.plan.choice import COLUMNS, MOST, PINS, RECOMPUTE, Choice, checked
from gpuscale.plan.columns import NAMES, Costs
from gpuscale.plan.errors import Refusal
from gpuscale.plan.layouts import Rows
from gpuscale.plan.likeness import unlike, widened
from gpuscale.plan.outcome import Outcomes
from gpuscale.plan.requests import Request
from gpuscale.plan.typed import shown

_DEFAULTS = {axis.name: axis.default for axis in fields(Choice)}


def evaluate_choices(ask: Request, choices: Sequence[Choice] | Mapping[str, object]) -> Outcomes:
    """The costs of many choices, each exactly as ``evaluate_choice`` gives it.

    ``choices`` are n Choices, or columns by name: dp, tp, cp, ep, pp, virtual, micro, zero, sp, recompute, even. A
    column is an array of n values, or one value for all choices; a column that is left out has the default of
    ``Choice``. The degrees are counts; ``sp`` and ``even`` are 0 or 1, ``recompute`` one of the words of ``Choice``.
    The arrays of the Outcomes have n elements each, in bytes, seconds and fractions. An impossible choice raises
    nothing: its costs are nan, ``possible`` and ``fits`` are False, and ``evaluate_choice`` says why. Choices may
    differ from what the request fixes.
    Raises Refusal for a column that is unknown, holds no numbers, or has another length.

    >>> from gpuscale.plan import request
    >>> ask = request("llama3_8b", "h100_superpod", 64, "512k")
    >>> found = evaluate_choices(ask, {"tp": [1, 2, 4, 7], "dp": [64, 32, 16, 9], "sp": True})
    >>> found.possible
    array([ True,  True,  True, False])
    >>> found.fits, (found.memory / 1e9).round(1)
    (array([False,  True,  True, False]), array([90.5, 46. , 23.8,  nan]))
    >>> found.step[1].round(3)
    array([0.568, 0.628, 0.748,   nan])
    """
    rows, good = possible_rows(ask, choices)
    out = np.full((len(NAMES), len(good)), np.nan)
    at, rows = np.flatnonzero(good), rows.keep(good)
    for start in range(0, len(at), evaluation.BLOCK):
        part = slice(start, start + evaluation.BLOCK)
        found = evaluation.table(ask, rows.keep(part))
        for column, block in zip(out, found.record().values(), strict=True):
            column[at[part]] = block
    factor = np.full(len(good), np.nan)
    apart = np.any([np.zeros(len(rows), bool), *unlike(ask, rows).values()], axis=0)
    factor[at] = widened(ask.calibration.band, apart)
    return Outcomes(good, Costs.of(list(out)), ask.room, factor)


def possible_rows(ask: Request, choices: Sequence[Choice] | Mapping[str, object]) -> tuple[Rows, np.ndarray]:
    """The choices as columns by quantity, and the mask of those that have a layout."""
    rows, good = _rows(choices if isinstance(choices, Mapping) else _listed(choices))
    good[good] = layouts.possible(evaluation.model_inputs(ask), ask, rows.keep(good))
    return rows, good


def _listed(choices: Sequence[Choice]) -> dict[str, list]:
    choices = list(choices)
    if strange := [one for one in choices if not isinstance(one, Choice)]:
        raise Refusal(f"{shown(strange[0])!r}: expected Choices, such as Choice(dp=8, tp=8), or columns by name")
    return {name: [getattr(one, name) for one in choices] for name in PINS}


def _rows(columns: Mapping) -> tuple[Rows, np.ndarray]:
    """The choices as columns of whole numbers, by quantity, and the mask of those whose values are in range."""
    for name in columns:
        checked(name, _DEFAULTS.get(name))
    found = {name: _column(name, value) for name, value in (_DEFAULTS | dict(columns)).items()}
    lengths = {name: len(column) for name, column in found.items() if np.ndim(column)}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise Refusal(f"expected columns of one length; got {told}")
    count = next(iter(lengths.values()), 1)
    good, rows = np.ones(count, bool), Rows()
    for name, column in found.items():
        words = {"zero": 3, "sp": 1, "even": 1, "recompute": len(RECOMPUTE) - 1}
        least, most = (0, words[name]) if name in words else (1, MOST)
        fine = (least <= column) & (column <= most) & (column == np.floor(column))
        good &= fine
        rows[COLUMNS[name]] = np.broadcast_to(np.where(fine, column, 1).astype(int), count)
    return rows, good


def _column(name: str, values) -> np.ndarray:
    """The values as floats; words as the numbers that stand for them."""
    found = np.asarray(values)
    if name == "recompute":
        words, place = np.unique(found.astype(str), return_inverse=True)
        known = np.array([RECOMPUTE.index(checked(name, str(word))) for word in words], float)
        return known[place.reshape(found.shape)]
    try:
        if found.ndim > 1 or found.dtype.kind not in ("biufO" if name in ("sp", "even") else "iufO"):
            raise TypeError
        return found.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise Refusal(f"{name}: {shown(values)}; expected whole numbers, one for each choice or one for all") from None
