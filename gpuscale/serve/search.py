"""The planner of serving: every layout, format and batch of a request; the best of each layout within the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.plan.errors import Refusal
from gpuscale.plan.layouts import Reason
from gpuscale.plan.typed import some, whole
from gpuscale.printed import serving as printed
from gpuscale.printed.calling import arrays, value
from gpuscale.serve import html, text
from gpuscale.serve.deployment import Deployment, Handover, Queue, Replicas
from gpuscale.serve.engines import EngineRates, engine_of
from gpuscale.serve.evaluation import Grid, evaluate_layouts, model_numbers
from gpuscale.serve.layouts import layouts, replicas_in
from gpuscale.serve.requests import ServingRequest, request
from gpuscale.units import show

EXPECTED = 1  # of the pairs of times: the bound, and the expected one


@dataclass(frozen=True)
class ServingPlan:
    """The answer: ``rows`` are the best deployments, one per layout and formats, by expected throughput.

    ``tried`` deployments were evaluated; ``rejected`` says why layouts are excluded. It shows itself as a table;
    ``best`` is the first row, ``record()`` is plain data.
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

    def __repr__(self) -> str:
        return text.text(self)

    def _repr_html_(self) -> str:
        return html.html(self)


def serve(model, gpu, gpus, input, output, ttft=None, tpot=None, top: int = 10, **choices) -> ServingPlan:
    """The best ways to serve a model on GPUs, within limits of latency.

    ``serve("llama3_70b", "h100_sxm", 8, 2000, 500, ttft=1, tpot="30ms")``: prompts of 2,000 tokens, answers of 500, the
    first token within a second, the next ones every 30 ms. Further choices are those of ``request``: ``weights`` and
    ``cache`` (formats), ``mode``, ``cached`` tokens, ``price``, ``reserve``, and the degrees tp, pp, dpa, ep, batch.
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
        raise Refusal(_too_large(ask, grids[ask.modes[0]]))
    if not found:
        raise Refusal(_too_tight(ask, grids))
    found.sort(key=lambda one: (one.fleet.gpus if one.fleet else 0, -one.throughput[EXPECTED]))
    return ServingPlan(ask, used, tuple(found[:top]), tuple(rejected), tried)


def _grids(ask: ServingRequest, rows, used: EngineRates) -> dict[tuple[str, str], Grid]:
    """The Grid of the layouts in each pair of formats."""
    pairs = [(weights, cache) for weights in ask.weights for cache in ask.cache]
    return {pair: evaluate_layouts(ask, rows, *pair, used) for pair in pairs}


def colocated(ask: ServingRequest, grid: Grid, formats: tuple[str, str]) -> Iterator[Deployment]:
    """The best batch and load of each layout whose replicas prefill and decode in turn."""
    able = grid.fits & (grid.token[EXPECTED] <= ask.tpot)
    kept = np.stack([able & (grid.first[EXPECTED] + queue.mean <= ask.ttft) for queue in grid.queues])
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
    if grid.first[EXPECTED][i, k] + grid.queues[0].mean[i, k] > ask.ttft:
        return "time to first token"
    return "arithmetic"


def disaggregated(ask: ServingRequest, grid: Grid, formats: tuple[str, str]) -> Iterator[Deployment]:
    """The best split of the GPUs between replicas that prefill and replicas of each layout that decode."""
    sizes = grid.rows["n_gpu"]
    prompts = grid.prefill_rate[EXPECTED][:, 0]
    sent, senders = handed_over(ask, grid, formats), _senders(ask, grid)
    kept = grid.fits & (grid.spoken[EXPECTED] <= ask.tpot)
    rates = np.where(kept, grid.decode_rate[EXPECTED], -1.0)
    for i in np.flatnonzero(kept.any(axis=1)):
        best = None
        j = int(np.argmax(rates[i]))
        for p in senders:
            first = grid.prefill[EXPECTED][p, 0] + sent[p].time + grid.step[EXPECTED][i, j]
            decoders = np.arange(1, (ask.gpus - sizes[p]) // sizes[i] + 1)
            if first > ask.ttft or not len(decoders):
                continue
            served = {"T_svc": float(grid.service[p, 0]), "c_scv": float(grid.spread[p, 0])}
            most = min(ask.load, _largest_load(ask.ttft - first, served))
            others = (ask.gpus - decoders * sizes[i]) // sizes[p]
            rate = np.minimum(others * prompts[p] * most, decoders * rates[i, j] * ask.load)
            n = int(np.argmax(rate))
            if rate[n] <= 0 or best and rate[n] < best[0][0]:
                continue
            queue = Queue.of(float(rate[n] / (others[n] * prompts[p])), most, served)
            merit = rate[n], -first - queue.mean  # of equal rates the one with the earlier first token
            if not best or merit > best[0]:
                best = merit, p, int(others[n]), int(decoders[n]), queue
        if best:
            _, p, others, decoders, queue = best
            prefill, decode = (Replicas.of(ask, grid, formats, *at) for at in ((p, 0, others), (i, j, decoders)))
            yield Deployment.split(ask, prefill, decode, sent[p], queue)


def _largest_load(spare: float, served: dict[str, float]) -> float:
    """The largest load of prefill GPUs whose mean time in the queue is no more than the limit leaves."""
    return 1.0 if spare == np.inf else value(printed.largest_load, served | {"T_queue": spare})


def _senders(ask: ServingRequest, grid: Grid) -> list[int]:
    """The layouts whose replicas can prefill next to others that decode."""
    able = grid.fits[:, 0] & (grid.prefill[EXPECTED][:, 0] <= ask.ttft) & (grid.rows["n_gpu"] < ask.gpus)
    return [int(p) for p in np.flatnonzero(able)]


def handed_over(ask: ServingRequest, grid: Grid, formats: tuple[str, str]) -> list[Handover]:
    """The cache of a prompt that each layout hands over, through the NICs of an attention group or over NVLink."""
    token = model_numbers(ask, *formats)["V_prompt"] / ask.input
    size = value(printed.handover_bytes, {"V_tok": token, "S_in": ask.input})
    inside = ask.gpus <= ask.cluster.node
    rate = ask.cluster.W_nvl if inside else ask.cluster.W_node / ask.cluster.node
    times = arrays(printed.call_time, {"alpha_call": 0, "V": size, "W_fit": rate * grid.rows["Y"]})
    return [Handover(size, time) for time in times.tolist()]


def _too_large(ask: ServingRequest, grids: dict) -> str:
    """That the weights fit nowhere, with the layout and formats that need least."""
    formats, grid = min(grids.items(), key=lambda item: item[1].memory.min())
    least = float(grid.memory.min())
    return (
        f"{ask.model.title} in {formats[0]} with a cache in {formats[1]} needs {show(least, 'B')} per GPU for one "
        f"sequence of {ask.longest:,} tokens; {show(ask.room, 'B')} of {show(ask.cluster.hbm, 'B')} are available on "
        f"{some(ask.gpus, ask.gpu.short)}. Expected more GPUs, a GPU with more memory, or a smaller format"
    )


def _too_tight(ask: ServingRequest, grids: dict) -> str:
    """The limits that cannot be kept, with the least times that would be possible."""
    loose = replace(ask, ttft=np.inf, tpot=np.inf)
    token = _least_token(loose, grids)
    first = _least_first(loose, grids)
    if token == np.inf:
        raise Refusal(
            f"disaggregated: every replica takes all of {some(ask.gpus, ask.gpu.short)}, so none is left for prefill; "
            "expected more GPUs, a smaller replica, or colocated"
        )
    said = []
    if token > ask.tpot:
        said.append(f"time per output token: {show(ask.tpot, 's')}; no layout is expected below {show(token, 's')}")
    if first > ask.ttft:
        said.append(f"time to first token: {show(ask.ttft, 's')}; no layout is expected below {show(first, 's')}")
    if not said:
        within = _least_token(replace(ask, tpot=np.inf), grids)
        said.append(
            f"no layout keeps both limits: with a first token within {show(ask.ttft, 's')}, the time per output token "
            f"is expected to be at least {show(within, 's')}"
        )
    return f"{'; '.join(said)} ({some(ask.gpus, ask.gpu.short)})"


def _least_token(ask: ServingRequest, grids: dict) -> float:
    """The shortest expected time per output token of a deployment within the limit of the first token."""
    found = [np.inf]
    for grid in grids.get("colocated", {}).values():
        kept = grid.fits & (_lightest(grid) <= ask.ttft)
        found.append(np.min(grid.token[EXPECTED], where=kept, initial=np.inf))
    for formats, grid in grids.get("disaggregated", {}).items():
        sent = handed_over(ask, grid, formats)
        for sender in _senders(ask, grid):
            lead = grid.prefill[EXPECTED][sender, 0] + sent[sender].time
            kept = grid.fits & (grid.rows["n_gpu"] + grid.rows["n_gpu"][sender] <= ask.gpus)[:, None]
            kept &= lead + grid.step[EXPECTED] <= ask.ttft
            found.append(np.min(grid.spoken[EXPECTED], where=kept, initial=np.inf))
    return float(min(found))


def _least_first(ask: ServingRequest, grids: dict) -> float:
    """The shortest expected time to first token of a deployment."""
    found = [np.inf]
    for grid in grids.get("colocated", {}).values():
        found.append(np.min(_lightest(grid), where=grid.fits, initial=np.inf))
    for formats, grid in grids.get("disaggregated", {}).items():
        sent = handed_over(ask, grid, formats)
        for sender in _senders(ask, grid):
            lead = grid.prefill[EXPECTED][sender, 0] + sent[sender].time
            kept = grid.fits & (grid.rows["n_gpu"] + grid.rows["n_gpu"][sender] <= ask.gpus)[:, None]
            found.append(np.min(lead + grid.step[EXPECTED], where=kept, initial=np.inf))
    return float(min(found))


def _lightest(grid: Grid) -> np.ndarray:
    """The expected time to first token of replicas that do both, at the lowest load."""
    return grid.first[EXPECTED] + grid.queues[-1].mean
