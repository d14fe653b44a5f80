"""The planner of serving: every layout, format and batch of a request; the best of each layout within the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.core.html import Html
from gpuscale.plan.errors import Refusal
from gpuscale.plan.layouts import Reason
from gpuscale.plan.typed import whole
from gpuscale.serve import html, text
from gpuscale.serve.deployment import EXPECTED, Deployment, Queue, Replicas
from gpuscale.serve.disaggregation import disaggregated
from gpuscale.serve.engines import EngineRates, engine_of
from gpuscale.serve.evaluation import Grid, ReplicaQueue, evaluate_layouts, model_numbers
from gpuscale.serve.layouts import layouts, replicas_in
from gpuscale.serve.limits import excluded, too_large, too_tight
from gpuscale.serve.requests import ServingRequest, request


@dataclass(frozen=True)
class ServingPlan:
    """The answer: ``rows`` are the best deployments, one per layout and formats, by expected throughput.

    ``tried`` deployments were evaluated; ``rejected`` says why layouts are excluded. It shows itself as a table and
    what its columns mean; ``table`` is the table alone, ``best`` the first row, ``record()`` plain data.
    """

    ask: ServingRequest
    engine: EngineRates
    rows: tuple[Deployment, ...]
    rejected: tuple[Reason, ...]
    tried: int

    @property
    def best(self) -> Deployment:
        """The deployment with the highest throughput."""
        return self.rows[0]

    def of(self, tp: int, pp: int = 1, dpa: int = 1, ep: int = 1) -> Deployment:
        """The best row whose replicas decode in a layout. Raises Refusal if there is none."""
        for row in self.rows:
            own = row.decode
            if (own.tp, own.pp, own.dpa, own.ep) == (tp, pp, dpa, ep):
                return row
        raise Refusal(f"no row of the plan decodes with TP {tp}, PP {pp}, DP attention {dpa} and EP {ep}")

    def record(self) -> dict:
        """As plain data, for JSON, in base units."""
        return {
            "request": text.heading(self.ask),
            "tried": self.tried,
            "rows": [row.record() | {"tie": tie} for row, tie in zip(self.rows, text.tied(self), strict=True)],
            "rejected": [vars(reason) for reason in self.rejected],
        }

    @property
    def table(self) -> Html:
        """The deployments alone, where the meaning of the columns is known."""
        return Html(html.deployments(self), "\n".join(text.deployments(self)))

    def __repr__(self) -> str:
        return text.text(self)

    def _repr_html_(self) -> str:
        return html.html(self)


def serve(model, gpu, gpus, input, output, ttft=None, tpot=None, top: int = 10, **choices) -> ServingPlan:
    """The best ways to serve a model on GPUs, within limits of latency.

    ``serve("llama3_70b", "h100_sxm", 8, 2000, 500, ttft=1, tpot="30ms")``: prompts of 2,000 tokens, answers of 500, the
    first token within a second, the next ones every 30 ms. Further choices are those of ``request``: limits on 95th
    percentiles, ``weights`` and ``cache`` (formats), ``mode``, ``cached`` tokens, ``price``, ``reserve``, and the
    degrees tp, pp, dpa, ep, batch.
    Raises Refusal for an impossible request, with the limits that would be possible.
    """
    return solve(request(model, gpu, gpus, input, output, ttft, tpot, **choices), whole("top", top))


def solve(ask: ServingRequest, top: int = 10) -> ServingPlan:
    """The plan of a request. Raises Refusal if no layout fits or keeps the limits."""
    used = engine_of(ask.model)
    rows, rejected = layouts(ask, model_numbers(ask, "bf16", "bf16"))
    if not len(rows):
        raise Refusal(f"no layout is left: {'; '.join(reason.words for reason in rejected)}")
    kinds = {"colocated": (colocated, ask), "disaggregated": (disaggregated, replace(ask, chunk=0))}
    grids, found, tried = {}, [], 0
    for mode in ask.modes:
        best, one = kinds[mode]  # GPUs that only decode have no chunks
        same = mode != ask.modes[0] and not ask.chunked
        grids[mode] = grids[ask.modes[0]] if same else _grids(one, rows, used)
        tried += 0 if same else sum(grid.batch.size for grid in grids[mode].values())
        for formats, grid in grids[mode].items():
            found += best(ask, grid, formats)
    if not any(grid.fits.any() for grid in grids[ask.modes[0]].values()):
        raise Refusal(too_large(ask, grids[ask.modes[0]]))
    if not found:
        raise Refusal(too_tight(ask, grids))
    found.sort(key=lambda one: (one.fleet.gpus if one.fleet else 0, -one.throughput[EXPECTED]))
    rejected += excluded(ask, grids, found)
    return ServingPlan(ask, used, tuple(found[:top]), tuple(rejected), tried)


def _grids(ask: ServingRequest, rows, used: EngineRates) -> dict[tuple[str, str], Grid]:
    """The Grid of the layouts in each pair of formats."""
    pairs = [(weights, cache) for weights in ask.weights for cache in ask.cache]
    return {pair: evaluate_layouts(ask, rows, *pair, used) for pair in pairs}


def colocated(ask: ServingRequest, grid: Grid, formats: tuple[str, str]) -> Iterator[Deployment]:
    """The best batch and load of each layout whose replicas prefill and decode in turn."""
    able = grid.fits & (grid.token[EXPECTED] <= ask.tpot) & (grid.gap[EXPECTED] <= ask.gap_p95)
    kept = np.stack([able & _early(ask, grid, queue) for queue in grid.queues])
    loads = np.array([queue.load for queue in grid.queues])
    rate = np.where(kept, grid.rate[EXPECTED] * loads[:, None, None], -1.0)
    for i in np.flatnonzero(kept.any(axis=(0, 2))):
        n, j = np.unravel_index(int(np.argmax(rate[:, i])), rate[:, i].shape)
        replicas = replicas_in(ask, int(grid.rows["Z"][i]), int(grid.rows["N_stages"][i]))
        found = grid.queues[n]
        mean, more = (float(part[i, j]) for part in (found.mean, found.more))
        queue = Queue(float(found.load), float(found.load), mean, mean + more)
        binds = "time to first token" if n else _binds(ask, grid, i, int(j))
        yield Deployment.both(ask, Replicas.of(ask, grid, formats, i, int(j), replicas), binds, queue)


def _early(ask: ServingRequest, grid: Grid, queue: ReplicaQueue) -> np.ndarray:
    """Where the first token comes within its limits."""
    mean = grid.first[EXPECTED] + queue.mean
    return (mean <= ask.ttft) & (mean + queue.more <= ask.ttft_p95)


def _binds(ask: ServingRequest, grid: Grid, i: int, j: int) -> str:
    """What keeps a layout's batch from being larger."""
    if "batch" in ask.pins:
        return "the batch, as given"
    if grid.batch[i, j] >= grid.most[i, 0]:
        return "memory for the KV cache"
    if ask.chunked and grid.batch[i, j] + 1 > grid.fed:
        return "chunks of prompts"
    above = np.flatnonzero(grid.batch[i] > grid.batch[i, j])
    if not len(above):
        return "arithmetic"
    k = above[0]
    if grid.token[EXPECTED][i, k] > ask.tpot:
        return "time per output token"
    if grid.gap[EXPECTED][i, k] > ask.gap_p95:
        return "gap between tokens"
    if not _early(ask, grid, grid.queues[0])[i, k]:
        return "time to first token"
    return "arithmetic"
