"""Runs as arrays: every input of the planner's programs, with a number for each run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuscale.plan import evaluation
from gpuscale.plan.batch import possible_rows
from gpuscale.plan.clusters import Cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import Request, request
from gpuscale.plan.runs import Run


def run_inputs(runs: Sequence[Run], place: Cluster, recipe: str) -> tuple[bool, dict[str, np.ndarray]]:
    """Whether the models have latent attention, and the inputs by name. What has run is taken to be possible.

    Raises Refusal for runs of both kinds of attention, which take different programs.
    """
    kinds: dict[tuple, list[int]] = {}  # the runs of each request
    for i, run in enumerate(runs):
        kinds.setdefault((run.model, run.gpus, run.batch, run.seq), []).append(i)
    asked = {kind: _asked(kind, place, recipe, places[0] + 1) for kind, places in kinds.items()}
    latent = {"kv_rank" in ask.model for ask in asked.values()}
    if len(latent) > 1:
        raise Refusal("runs with latent attention and others; expected one kind of attention")
    found: dict[str, np.ndarray] = {}
    for kind, places in kinds.items():
        rows, _ = possible_rows(asked[kind], [runs[i].choice for i in places])
        for name, value in evaluation.known(asked[kind], rows).items():
            found.setdefault(name, np.empty(len(runs)))[places] = value
    return latent.pop(), found


def _asked(kind: tuple, place: Cluster, recipe: str, number: int) -> Request:
    """The request of such runs. Raises Refusal with the number of the first one of them."""
    try:
        return request(kind[0], place, *kind[1:], recipe)
    except Refusal as refusal:
        raise Refusal(f"run {number:,}: {refusal}") from None
