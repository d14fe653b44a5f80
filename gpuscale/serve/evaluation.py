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
from gpuscale.serving.decode_numbers import decode_inputs, peak

BATCHES = np.unique(np.round(np.geomspace(1, 16384, 84)).astype(int))  # sequences of a group in a stage that are tried
B_ACT = 2  # bytes per element of activations
PAGE = 16  # tokens of a block of the cache
NOTHING = 1e-9  # bytes that take no time


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
class Grid:
    """Layouts (rows) times batch sizes (columns), as arrays. Times are pairs: bound and expected, in seconds.

    ``batch``: sequences of an attention group that a stage works on at a time, and ``most`` that fit; ``own`` and
    ``memory``: bytes of weights and of everything on a GPU; ``step`` and ``spoken``: a decode step with its draft, and
    the time per output token of steps alone; ``token`` and ``first``: the time per output token with prefill in
    between, and the time to first token without a queue; ``prefill``: a prompt alone; ``rate``: requests per second of
    a replica that does both; ``decode_rate`` and ``prefill_rate``: of one that does one of the two. ``service``: the
    expected time after which an attention group takes the next prompt, and ``spread`` its squared coefficient of
    variation. ``parts``: times of the parts of a stage.
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
    first: tuple[np.ndarray, np.ndarray]
    prefill: tuple[np.ndarray, np.ndarray]
    rate: tuple[np.ndarray, np.ndarray]
    decode_rate: tuple[np.ndarray, np.ndarray]
    prefill_rate: tuple[np.ndarray, np.ndarray]
    service: np.ndarray
    spread: np.ndarray
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
    size, long, shared = (_cache(known, 1, known[name]) * known["N_stages"] for name in ("V_seq", "V_long", "V_prefix"))
    each = size - shared * (ask.prefix > 0)  # a prefix that all have is there once
    most = np.floor(np.maximum(0, ask.room - own - long) / each) + 1  # sequences of a group in a stage
    pinned = ask.pins.get("batch")
    batch = np.broadcast_to(BATCHES, (len(rows), len(BATCHES)))
    if pinned is None:
        batch = np.minimum(batch, np.maximum(1, most))
    else:
        batch = np.maximum(1, pinned // (known["n_dpa"] * known["N_stages"])) + 0 * batch[:, :1]
    memory = own + long + (batch - 1) * each
    fits = memory <= ask.room
    known["B_seq"] = batch
    stage, parts = _stage(ask, known, engine, 1 + ask.draft)
    step = _whole(known, stage)
    if ask.draft:
        drafts = _whole(known, _stage(ask, known, engine, 1)[0])
        step = tuple(
            arrays(printed.speculative_token, known, T_dec=t, t_draft=ask.draft_time * d, a_step=1)
            for t, d in zip(step, drafts, strict=True)
        )
    spoken = tuple(arrays(printed.speculative_token, known, T_dec=t, t_draft=0) for t in step)
    alone, among, spread = _prefills(ask, known)
    token = tuple(arrays(printed.full_token_time, known, T_dec=t, T_pre=p) for t, p in zip(spoken, among, strict=True))
    nothing = {"T_queue": 0, "T_send": 0}
    first = tuple(arrays(printed.first_token_time, nothing, T_pre=p, T_dec=t) for t, p in zip(step, alone, strict=True))
    alive = batch * known["n_dpa"] * known["N_stages"]
    rate, decoded = (
        tuple(arrays(printed.full_rate, known, B_mean=alive, T_tpot=t) for t in times) for times in (token, spoken)
    )
    prompts = tuple(known["n_dpa"] * known["N_stages"] / p + 0 * batch for p in among)
    service = among[-1] / known["N_stages"]
    times = (step, spoken, token, first, alone, rate, decoded, prompts, service, spread)
    return Grid(rows, batch, most, own, memory, fits, *times, parts)


def _cache(known: dict, batch, size):
    return arrays(printed.replica_cache, known, B_seq=batch, V_seq=size)


def _whole(known: dict, stage):
    """A step through all stages, from the times of a stage and of a hop: bound and expected."""
    times, hop = stage
    return tuple(arrays(printed.pipeline_decode, known, T_mem=t * known["N_stages"], T_hop=hop) for t in times)


def _stage(ask: ServingRequest, known: dict, engine: EngineRates, tokens: int):
    """Times of a stage and of a hop to the next, bound and expected, where a step works on some tokens of each
    sequence; and the parts of the bound."""
    bound, expected, parts = _worked(ask, known, tokens, known["B_seq"], known["n_dpa"])
    if engine.added > 1:  # what further sequences add takes longer than its bytes and FLOPs
        one = _worked(ask, known, tokens, 1, 1)[1]
        expected = arrays(printed.loaded_step, {"T_one": one, "T_many": expected, "g_added": engine.added})
    return ((bound, expected), _hop(ask, known, tokens)), parts


def _worked(ask: ServingRequest, known: dict, tokens: int, batch, groups):
    """A stage that works on some tokens of each of ``batch`` sequences of ``groups``: bound, estimate and parts."""
    checked = arrays(printed.verified_batch, {"B_seq": batch, "n_draft": tokens - 1})
    known = known | {"E_hit": arrays(printed.experts_touched, known, B=checked * groups)}
    known |= {"V_w": arrays(printed.replica_weights_read, known), "V_kv": _cache(known, batch, known["V_seq"])}
    known |= {"V_read": arrays(printed.bytes_read, known), "B_seq": checked}
    known["P_act"] = arrays(printed.replica_params, known)
    attention = printed.attention_flop_absorbed if "r_kv" in known else printed.attention_flop_decode
    known["ops_kv"] = arrays(printed.replica_attention, known, ops_kv=arrays(attention, known))
    known["N_gpu"] = 1
    bound = arrays(printed.decode_bound, known)
    slower = {"C": known["eta_mat"] * known["C"], "C_attn": known["eta_attn"] * known["C_attn"]}
    estimate = arrays(printed.decode_estimate, known | slower, L=known["L_stage"])
    reduced, sent = _exchange(ask, known, checked)
    parts = {
        "weights": known["V_w"] / known["W_hbm"],
        "cache": known["V_kv"] / known["W_hbm"],
        "compute": arrays(printed.decode_bound, known, V_read=NOTHING),
        "all-reduce": reduced,
        "all-to-all": sent,
    }
    return bound + reduced + sent, estimate + reduced + sent, parts


def _exchange(ask: ServingRequest, known: dict, tokens):
    """All-reduces and all-to-alls of a stage for the tokens of a group, at the bandwidth of the links."""
    place, spread = ask.cluster, known["n_ep"] > 1
    ranks, near = np.maximum(known["Y"], 2), {"alpha": 0, "V": tokens * known["D"] * B_ACT, "W": place.W_nvl}
    one = np.where(known["Y"] > 1, arrays(printed.two_shot_all_reduce, near, N=ranks), 0.0)
    part = known["L_stage"] / known["L"]
    mlps = np.where(spread, known["L_dense"], known["L"])
    if not spread.any():
        return (known["L"] + mlps) * part * one, 0.0 * one
    near = known | {"alpha": 0, "B_gpu": tokens / known["Y"], "b_dispatch": B_ACT, "b_combine": B_ACT}
    inside = arrays(printed.expert_parallel_exchange, near, G=1, W_nic=place.W_nvl)
    node, network = np.minimum(known["Z"], known["G"]), place.W_node / place.node
    sent = np.maximum(inside, arrays(printed.expert_parallel_exchange, near, G=node, W_nic=network))
    return (known["L"] + mlps) * part * one, (known["L"] - known["L_dense"]) * part * np.where(spread, sent, 0.0)


def _hop(ask: ServingRequest, known: dict, tokens: int):
    """The time in which a stage sends its tokens to the next one; nothing without a pipeline."""
    inside = known["n_gpu"] <= ask.cluster.node
    rate = np.where(inside, ask.cluster.W_nvl, ask.cluster.W_node / ask.cluster.node)
    size = tokens * known["B_seq"] * known["D"] * B_ACT
    return np.where(known["N_stages"] > 1, arrays(printed.call_time, {"alpha_call": 0}, V=size, W_fit=rate), 0.0)


def _prefills(ask: ServingRequest, known: dict):
    """Times of a prompt on an attention group, bound and expected: alone, and among others that share launches and the
    reading of weights; and the squared coefficient of variation of the latter. If only a part of the requests find
    their cache, alone is one that doesn't."""
    alone, found = _prefill(ask, known, ask.reused)
    if ask.hit == 1 or not ask.reused:
        return alone, found, 0 * found[-1]
    alone, missed = _prefill(ask, known, 0)
    both = [{"f_pre": ask.hit, "T_hit": hit, "T_miss": miss} for hit, miss in zip(found, missed, strict=True)]
    among = tuple(arrays(printed.mean_prefill, each) for each in both)
    return alone, among, arrays(printed.prefill_spread, both[-1])


def _prefill(ask: ServingRequest, known: dict, cached: int):
    new = ask.input - cached
    known = known | {"B": new, "N_gpu": known["Y"], "S_hit": cached}
    known["ops"] = arrays(printed.prefill_flop_latent if "r_kv" in known else printed.prefill_flop_windowed, known)
    known["E_hit"] = arrays(printed.experts_touched, known)
    known["V_w"] = arrays(printed.weights_read_moe, known)
    known["t_layer"] = known["t_layer_alone"]
    moved = sum(_exchange(ask, known | {"L_stage": known["L"]}, new))
    free = known | {"V_w": NOTHING, "t_layer": 0}
    return tuple(
        tuple(arrays(formula, one) + moved for formula in (printed.prefill_bound, printed.prefill_estimate))
        for one in (known, free)
    )
