"""GPUs that only prefill next to GPUs that only decode: how many of each, and the cache that is handed over."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuscale.printed import serving as printed
from gpuscale.printed.calling import arrays, value
from gpuscale.serve.deployment import EXPECTED, Deployment, Handover, Queue, Replicas
from gpuscale.serve.evaluation import LOADS, Grid, model_numbers
from gpuscale.serve.requests import ServingRequest
from gpuscale.serving.step_percentile import LATE


def disaggregated(ask: ServingRequest, grid: Grid, formats: tuple[str, str]) -> Iterator[Deployment]:
    """The best split of the GPUs between replicas that prefill and replicas of each layout that decode."""
    sizes = grid.rows["n_gpu"]
    prompts = grid.prefill_rate[EXPECTED][:, 0]
    sent, able = handed_over(ask, grid, formats), senders(ask, grid)
    kept = grid.fits & (grid.spoken[EXPECTED] <= ask.tpot) & (grid.step[EXPECTED] <= ask.gap_p95)
    rates = np.where(kept, grid.decode_rate[EXPECTED], -1.0)
    for i in np.flatnonzero(kept.any(axis=1)):
        best = None
        j = int(np.argmax(rates[i]))
        for p in able:
            first = grid.prefill[EXPECTED][p, 0] + sent[p].time + grid.step[EXPECTED][i, j]
            decoders = np.arange(1, (ask.gpus - sizes[p]) // sizes[i] + 1)
            if first > min(ask.ttft, ask.ttft_p95) or not len(decoders):
                continue
            served = {"T_svc": float(grid.service[p, 0]), "c_scv": float(grid.spread[p, 0])}
            most = min(ask.load, _largest_load(ask.ttft - first, served))
            most = _load_of_tail(ask.ttft_p95 - first, served, most)
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


def _load_of_tail(spare: float, served: dict[str, float], most: float) -> float:
    """The largest of LOADS of ``most`` at which 95% of the requests queue no longer than the limit leaves."""
    if spare == np.inf:
        return most
    loads = np.array(LOADS) * most
    known = served | {"f_svc": loads, "f_late": LATE}
    tails = arrays(printed.queue_percentile, known, T_queue=arrays(printed.queue_time, known))
    return float(np.max(loads, where=tails <= spare, initial=0))


def senders(ask: ServingRequest, grid: Grid) -> list[int]:
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
