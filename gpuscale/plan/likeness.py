"""Which plans are like the runs of a calibration: only for those does its band hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuscale.plan.choice import COLUMNS, RECOMPUTE
from gpuscale.specs.writing import quoted

AXES = {"tp": "TP", "cp": "CP", "ep": "EP", "pp": "PP", "virtual": "virtual stages"}
# The band without any run like a plan, and the factor below which two such plans are a tie. An estimate: as far off as
# models that a fit has not seen, and as far as the spread of the constants moves a step; as for the order, two plans
# are taken to have half of their error in common
USUAL_BAND = 1.4
REACH = 2  # so many times the GPUs, or the tokens of a sequence, of the runs are still like them


@dataclass(frozen=True)
class Kinds:
    """What the runs of a fit were: their ``recipe`` by key, ``zero`` stages, ``recompute`` words, the ``axes`` of which
    a run had more than one rank, the most GPUs, the longest sequence in tokens, and whether a model had experts."""

    recipe: str
    zero: tuple[int, ...]
    recompute: tuple[str, ...]
    axes: tuple[str, ...]
    gpus: int
    seq: int
    experts: bool

    @classmethod
    def read(cls, part: Mapping) -> Kinds:
        """From a table of a TOML file."""
        lists = {name: tuple(part[name]) for name in ("zero", "recompute", "axes")}
        return cls(part["recipe"], **lists, **{name: part[name] for name in ("gpus", "seq", "experts")})

    def lines(self) -> list[str]:
        """As lines of a TOML table, which ``read`` reads."""
        return [
            f"recipe = {quoted(self.recipe)}",
            f"zero = {list(self.zero)}",
            f"recompute = [{', '.join(map(quoted, self.recompute))}]",
            f"axes = [{', '.join(map(quoted, self.axes))}]",
            f"gpus = {self.gpus}",
            f"seq = {self.seq}",
            f"experts = {str(self.experts).lower()}",
        ]


def unlike(ask, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What is new about the plans of a Request, compared with the runs of its calibration: in words, with the mask of
    the plans that it applies to. ``rows`` are columns by quantity. Empty for a calibration without runs."""
    kinds = ask.calibration.kinds
    if kinds is None:
        return {}
    every = np.ones(len(rows["X"]), bool)
    found = {
        f"{ask.gpus:,} GPUs": every & (ask.gpus > REACH * kinds.gpus),
        f"sequences of {ask.seq:,} tokens": every & (ask.seq > REACH * kinds.seq),
        f"the recipe {ask.recipe.key}": every & (ask.recipe.key != kinds.recipe),
        f"the schedule {ask.schedule}": every & (ask.schedule != "1f1b"),  # that of every fit
        "a mixture of experts": every & ("experts" in ask.model and not kinds.experts),
    }
    sharded = rows["X"] * rows["n_cp"] > 1
    for stage in set(range(4)) - set(kinds.zero):
        found[f"ZeRO-{stage}" if stage else "no ZeRO"] = (rows["n_zero"] == stage) & sharded
    for number, word in enumerate(RECOMPUTE):
        if word not in kinds.recompute:
            found[f"{word.replace('none', 'no')} recomputation"] = rows["n_recompute"] == number
    for name, said in AXES.items():
        if name not in kinds.axes:
            found[said] = rows[COLUMNS[name]] > 1
    return {words: mask for words, mask in found.items() if mask.any()}


def widened(factor, apart):
    """A calibration's factor, for its band or for ties, at least the usual one where plans are unlike its runs."""
    return np.where(apart, np.maximum(factor, USUAL_BAND), factor)
