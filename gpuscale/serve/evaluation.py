"""Every layout at every batch size: memory, step times, time to first token and throughput, by formulas of ``serving``.

Each number comes twice: a bound at the peaks, and an expected one, with what engines sustain (``engines``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.llm.model_counts import counts
from gpuscale.plan.layouts import Rows
from gpuscale.printed import serving as printed
from gpuscale.printed.calling import arrays, value
from gpuscale.serve.engines import EngineRates
from gpuscale.serve.requests import ServingRequest
from gpuscale.serve.stages import cache_bytes, prefill_times, stage_times, through_stages
from gpuscale.serving.decode_numbers import decode_inputs, peak
from gpuscale.serving.step_percentile import LATE, stalls

BATCHES = np.unique(np.round(np.geomspace(1, 16384, 84)).astype(int))  # sequences of a group in a stage that are tried
PAGE = 16  # tokens of a block of the cache
LOADS = tuple(round(0.9**n, 4) for n in range(29))  # of the largest load: the first that keeps the limits is taken


def model_numbers(ask: ServingRequest, weights: str, cache: str) -> dict:
    """What the formulas need of the model in these formats, at the mean context of a full batch."""
    mean = value(printed.mean_context, {"S_in": ask.input, "S_out": ask.output})
    known = decode_inputs(ask.model, weights, cache, context=mean)
    known |= {"S_in": ask.input, "S_out": ask.output, "C": peak(ask.gpu, weights)}
    known |= {"C_attn": peak(ask.gpu, cache), "W_hbm": ask.cluster.W_hbm, "G": ask.cluster.node}
    lengths = {"V_long": ask.longest + PAGE, "V_prefix": max(1, ask.prefix), "V_prompt": ask.input}
    for name, tokens in lengths.items():
        known[name] = decode_inputs(ask.model, weights, cache, context=tokens)["V_seq"]
    if counts(ask.model).mla:
        known["n_kv"] = 1  # a latent vector serves all heads, so ranks hold copies
    return known | {"L_dense": counts(ask.model).layers_dense, "n_draft": ask.draft, "a_step": tokens_per_step(ask)}


def tokens_per_step(ask: ServingRequest) -> float:
    """Tokens that a step adds to a sequence: 1 without speculation; with one acceptance for all draft tokens, or one
    for each."""
    if not ask.draft:
        return 1.0
    if len(ask.acceptance) == 1:
        return value(printed.tokens_per_step, {"a_acc": ask.acceptance[0], "n_draft": ask.draft})
    each = (*ask.acceptance, 0, 0, 0, 0)
    return value(printed.tokens_per_step_measured, {f"a_acc_{i}": each[i - 1] for i in range(1, 6)})


@dataclass(frozen=True)
class ReplicaQueue:
    """The queue of replicas that prefill and decode, at a load: arrays of the mean time in it, and of the time by which
    the 95th percentile of the time to first token exceeds its mean."""

    load: float
    mean: np.ndarray
    more: np.ndarray


@dataclass(frozen=True)
class Grid:
    """Layouts (rows) times batch sizes (columns), as arrays. Times are pairs: bound and expected, in seconds.

    ``batch``: sequences of an attention group that a stage works on at a time, and ``most`` that fit; ``own`` and
    ``memory``: bytes of weights and of everything on a GPU; ``step`` and ``spoken``: a decode step with its draft, and
    the time per output token of steps alone; ``token`` and ``first``: the time per output token with prefill in
    between, and the time to first token without a queue; ``gap``: the time that 95% of the gaps between steps with
    tokens do not exceed; ``prefill``: a prompt alone; ``rate``: requests per second of
    a replica that does both; ``decode_rate`` and ``prefill_rate``: of one that does one of the two. ``service``: the
    expected time after which an attention group takes the next prompt, and ``spread`` its squared coefficient of
    variation. ``fed``: the largest batch that chunks keep full. ``queues``: at each of LOADS of the largest load, the
    queue of a replica that does both. ``parts``: times of the parts of a stage.
    """

    rows: Rows
    batch: np.ndarray
    most: np.ndarray
    own: np.ndarray
    memory: np.ndarray
    fits: np.ndarray
    step: tuple[np.ndarray, np.ndarray]
    spoken: tuple[np.ndarray, np.ndarray]
    token: tuple[np.ndarray, np.ndarray]
    gap: tuple[np.ndarray, np.ndarray]
    first: tuple[np.ndarray, np.ndarray]
    prefill: tuple[np.ndarray, np.ndarray]
    rate: tuple[np.ndarray, np.ndarray]
    decode_rate: tuple[np.ndarray, np.ndarray]
    prefill_rate: tuple[np.ndarray, np.ndarray]
    service: np.ndarray
    spread: np.ndarray
    fed: float
    queues: tuple[ReplicaQueue, ...]
    parts: dict[str, np.ndarray]


def evaluate_layouts(ask: ServingRequest, rows: Rows, weights: str, cache: str, engine: EngineRates) -> Grid:
    """The Grid of these layouts in these formats."""
    known = model_numbers(ask, weights, cache)
    known |= {name: column[:, None] for name, column in rows.items()}
    used = engine.constants
    known |= {"t_layer": used.layer(counts(ask.model).moe, weights), "t_layer_alone": used.t_layer}
    known |= {"eta_mat": used.matmuls(ask.gpu, weights), "eta_attn": used.matmuls(ask.gpu, cache)}
    known["eta_hbm"] = used.eta_hbm
    own = arrays(printed.replica_weights, known)
    lengths = known["V_seq"], known["V_long"], known["V_prefix"]
    size, long, shared = (cache_bytes(known, 1, length) * known["N_stages"] for length in lengths)
    each = size - shared * (ask.prefix > 0)  # a prefix that all have is there once
    most = np.floor(np.maximum(0, ask.room - own - long) / each) + 1  # sequences of a group in a stage
    pinned = ask.pins.get("batch")
    batch = np.broadcast_to(BATCHES, (len(rows), len(BATCHES)))
    if pinned is None:
        batch = np.minimum(batch, np.maximum(1, most))
    else:
        batch = np.maximum(1, pinned // (known["n_dpa"] * known["N_stages"])) + 0 * batch[:, :1]
    fed = np.inf
    known["S_hit"] = ask.input - ask.new
    if ask.chunked:  # no larger batch has enough steps for the chunks of its prompts
        fed = value(printed.largest_fed, known | {"S_chunk": ask.chunk})
        batch = np.minimum(batch, np.maximum(1, np.floor(fed)))
    memory = own + long + (batch - 1) * each
    fits = memory <= ask.room
    known["B_seq"] = batch
    alone, among, spread = prefill_times(ask, known)
    stage, parts = stage_times(ask, known, engine, 1 + ask.draft)
    step = _drafted(ask, known, engine, through_stages(known, stage))
    spoken = tuple(arrays(printed.speculative_token, known, T_dec=t, t_draft=0) for t in step)
    if ask.chunked:
        with_chunk, _ = stage_times(ask, known, engine, 1 + ask.draft, among)
        mixed = _drafted(ask, known, engine, through_stages(known, with_chunk))
        token, gap, first, service = _in_chunks(ask, known, step, mixed, fed)
    else:
        token, gap, first = _in_between(known, step, spoken, alone, among)
        service = among[-1] / known["N_stages"]
    alive = batch * known["n_dpa"] * known["N_stages"]
    most_fed = np.minimum(alive, fed * known["n_dpa"] * known["N_stages"])  # less than one, for very small chunks
    rate = tuple(arrays(printed.full_rate, known, B_mean=most_fed, T_tpot=t) for t in token)
    decoded = tuple(arrays(printed.full_rate, known, B_mean=alive, T_tpot=t) for t in spoken)
    prompts = tuple(known["n_dpa"] * known["N_stages"] / p + 0 * batch for p in among)
    tried = LOADS if min(ask.ttft, ask.ttft_p95) < np.inf else (LOADS[0], LOADS[-1])
    queues = tuple(_queue(ask, known, part * ask.load, alive, rate, token, step, service, spread) for part in tried)
    times = (step, spoken, token, gap, first, alone, rate, decoded, prompts)
    return Grid(rows, batch, most, own, memory, fits, *times, among[-1] / known["N_stages"], spread, fed, queues, parts)


def _drafted(ask: ServingRequest, known: dict, engine: EngineRates, step):
    """A step with its draft: bound and expected."""
    if not ask.draft:
        return step
    drafts = through_stages(known, stage_times(ask, known, engine, 1)[0])
    return tuple(
        arrays(printed.speculative_token, known, T_dec=t, t_draft=ask.draft_time * d, a_step=1)
        for t, d in zip(step, drafts, strict=True)
    )


def _in_between(known: dict, step, spoken, alone, among):
    """Time per output token, gap and time to first token where prompts are prefilled whole, between decode steps."""
    token = tuple(arrays(printed.full_token_time, known, T_dec=t, T_pre=p) for t, p in zip(spoken, among, strict=True))
    behind = {"n_stall": stalls(arrays(printed.prompts_per_step, known, B_seq=known["B_seq"] * known["N_stages"]))}
    gap = tuple(
        arrays(printed.stalled_decode, behind, T_dec=t, T_pre=p / known["N_stages"])
        for t, p in zip(step, among, strict=True)
    )
    nothing = {"T_queue": 0, "T_send": 0}
    first = tuple(arrays(printed.first_token_time, nothing, T_pre=p, T_dec=t) for t, p in zip(step, alone, strict=True))
    return token, gap, first


def _in_chunks(ask: ServingRequest, known: dict, step, mixed, fed):
    """The same, and the time after which a group takes the next prompt, where steps carry chunks of prompts."""
    known = known | {"S_chunk": ask.chunk, "f_late": LATE, "T_queue": 0}
    part = arrays(printed.chunk_steps, known, B_seq=np.minimum(known["B_seq"], fed))
    some = np.minimum(1, part * known["N_stages"])  # the steps with a chunk in some stage
    times = list(zip(step, mixed, strict=True))
    token = tuple(arrays(printed.chunked_token_time, known, T_dec=t, T_mix=m, f_chunk=part) for t, m in times)
    gap = tuple(arrays(printed.gap_percentile, known, T_dec=t, T_mix=m, f_chunk=some) for t, m in times)
    longest = ask.input if ask.hit < 1 else ask.input - ask.reused  # of a request that doesn't find its cache
    first = tuple(arrays(printed.chunked_first_token, known, S_in=longest, T_mix=m) for m in mixed)
    return token, gap, first, mixed[-1] * ask.new / ask.chunk / known["N_stages"]


def _queue(ask: ServingRequest, known: dict, load: float, alive, rate, token, step, service, spread) -> ReplicaQueue:
    """The expected queue of replicas that prefill and decode."""
    slots = {"f_load": load, "B_seq": alive, "c_scv": 0, "T_hold": (ask.output - 1) * token[-1], "f_late": LATE}
    slots["f_slot"] = arrays(printed.slot_taken, slots)
    slot = arrays(printed.slot_queue, slots)
    behind = {"f_svc": load * rate[-1] / known["n_dpa"] * service, "T_svc": service, "c_scv": spread, "f_late": LATE}
    line = arrays(printed.queue_time, behind)
    mean = arrays(printed.replica_queue, {"T_slot": slot, "T_line": line, "T_dec": step[-1]})
    late = arrays(printed.queue_percentile, behind, T_queue=line)
    late = late + arrays(printed.queue_percentile, slots, T_queue=slot, f_svc=slots["f_slot"])
    return ReplicaQueue(load, mean, late - line - slot)
