"""Every layout at every batch size: memory, step times, time to first token and throughput, by formulas of ``serving``.

Each number comes twice: a bound at the peaks, and an expected one, with what engines sustain (``engines``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale import collectives, serving
from gpuscale.llm.model_counts import counts
from gpuscale.plan.layouts import Rows
from gpuscale.serve.engines import Engine
from gpuscale.serve.requests import ServingRequest
from gpuscale.serving.given_decode import decode_attention, decode_inputs, peak, value

BATCHES = np.unique(np.round(np.geomspace(1, 16384, 84)).astype(int))  # sequences of a group in a stage that are tried
B_ACT = 2  # bytes per element of activations
PAGE = 16  # tokens of a block of the cache


def model_numbers(ask: ServingRequest, weights: str, cache: str) -> dict:
    """What the formulas need of the model in these formats, at the mean context of a full batch."""
    mean = serving.mean_context(S_in=ask.input, S_out=ask.output)
    known = decode_inputs(ask.model, weights, cache, context=mean)
    known |= {"S_in": ask.input, "S_out": ask.output, "S_hit": ask.cached, "C": peak(ask.gpu, weights)}
    known |= {"C_attn": peak(ask.gpu, cache), "W_hbm": ask.cluster.W_hbm, "G": ask.cluster.node}
    known |= {"V_long": decode_inputs(ask.model, weights, cache, context=ask.longest + PAGE)["V_seq"]}
    if counts(ask.model).mla:
        known["n_kv"] = 1  # a latent vector serves all heads, so ranks hold copies
    return known | {"L_dense": counts(ask.model).layers_dense}


@dataclass(frozen=True)
class Grid:
    """Layouts (rows) times batch sizes (columns), as arrays. Times are pairs: bound and expected, in seconds.

    ``batch``: sequences of an attention group that a stage works on at a time, and ``most`` that fit; ``own`` and
    ``memory``: bytes of weights and of everything on a GPU; ``step``, ``token``, ``first``: a decode step, the time per
    output token with prefill in between, and the time to first token without a queue; ``prefill``: a prompt alone;
    ``rate``: requests per second of a replica that does both; ``decode_rate`` and ``prefill_rate``: of one that does
    one of the two. ``parts``: times of the parts of a stage.
    """

    rows: Rows
    batch: np.ndarray
    most: np.ndarray
    own: np.ndarray
    memory: np.ndarray
    fits: np.ndarray
    step: tuple[np.ndarray, np.ndarray]
    token: tuple[np.ndarray, np.ndarray]
    first: tuple[np.ndarray, np.ndarray]
    prefill: tuple[np.ndarray, np.ndarray]
    rate: tuple[np.ndarray, np.ndarray]
    decode_rate: tuple[np.ndarray, np.ndarray]
    prefill_rate: tuple[np.ndarray, np.ndarray]
    parts: dict[str, np.ndarray]


def evaluate_layouts(ask: ServingRequest, rows: Rows, weights: str, cache: str, engine: Engine) -> Grid:
    """The Grid of these layouts in these formats."""
    known = model_numbers(ask, weights, cache)
    known |= {name: column[:, None] for name, column in rows.items()}
    own = value(serving.replica_weights, known)
    each, long = (_cache(known, 1, known[name]) * known["N_stages"] for name in ("V_seq", "V_long"))
    most = np.floor(np.maximum(0, ask.room - own - long) / each) + 1  # sequences of a group in a stage
    pinned = ask.pins.get("batch")
    batch = np.broadcast_to(BATCHES, (len(rows), len(BATCHES)))
    if pinned is None:
        batch = np.minimum(batch, np.maximum(1, most))
    else:
        batch = np.maximum(1, pinned // (known["n_dpa"] * known["N_stages"])) + 0 * batch[:, :1]
    memory = own + long + (batch - 1) * each
    fits = memory <= ask.room
    known |= {"B_seq": batch, "E_hit": value(serving.experts_touched, known, B=batch * known["n_dpa"])}
    stage, parts = _stage(ask, known, engine)
    prefill = _prefill(ask, known, engine)
    step = tuple(value(serving.pipeline_decode, known, T_mem=t * known["N_stages"], T_hop=hop) for t, hop in stage)
    token = tuple(value(serving.full_token_time, known, T_dec=t, T_pre=p) for t, p in zip(step, prefill, strict=True))
    nothing = {"T_queue": 0, "T_send": 0}
    first = tuple(
        value(serving.first_token_time, nothing, T_pre=p, T_dec=t) for t, p in zip(step, prefill, strict=True)
    )
    alive = batch * known["n_dpa"] * known["N_stages"]
    rate, alone = (
        tuple(value(serving.full_rate, known, B_mean=alive, T_tpot=t) for t in times) for times in (token, step)
    )
    prompts = tuple(known["n_dpa"] * known["N_stages"] / p + 0 * batch for p in prefill)
    return Grid(rows, batch, most, own, memory, fits, step, token, first, prefill, rate, alone, prompts, parts)


def _cache(known: dict, batch, size):
    return value(serving.replica_cache, known, B_seq=batch, V_seq=size)


def _stage(ask: ServingRequest, known: dict, engine: Engine):
    """Times of a stage and of a hop to the next, bound and expected; and the parts of the expected one."""
    known = known | {"V_w": value(serving.replica_weights_read, known), "V_kv": value(serving.replica_cache, known)}
    known["V_read"] = value(serving.bytes_read, known)
    known["P_tok"] = value(serving.replica_params, known)
    known["ops_kv"] = value(decode_attention(known), known)
    alone = known | {"N_gpu": 1, "P_act": known["P_tok"], "ops_kv": value(serving.replica_attention, known)}
    bound = value(serving.decode_bound, alone)
    own = {"L": known["L_stage"], "eta_hbm": engine.eta_hbm, "t_layer": engine.t_layer}
    expected = engine.slow * value(serving.decode_estimate, alone | own)
    reduced, sent = _exchange(ask, known, known["B_seq"])
    hop = _hop(ask, known)
    parts = {
        "weights": known["V_w"] / known["W_hbm"],
        "cache": known["V_kv"] / known["W_hbm"],
        "compute": value(serving.decode_bound, alone, V_read=1e-9),
        "all-reduce": reduced,
        "all-to-all": sent,
    }
    return ((bound + reduced + sent, hop), (expected + reduced + sent, hop)), parts


def _exchange(ask: ServingRequest, known: dict, tokens):
    """All-reduces and all-to-alls of a stage for the tokens of a group, at the bandwidth of the links."""
    place, spread = ask.cluster, known["n_ep"] > 1
    ranks = np.maximum(known["Y"], 2)
    one = value(collectives.two_shot_all_reduce, {"alpha": 0}, V=tokens * known["D"] * B_ACT, N=ranks, W=place.W_nvl)
    one = np.where(known["Y"] > 1, one, 0.0)
    part = known["L_stage"] / known["L"]
    mlps = np.where(spread, known["L_dense"], known["L"])
    near = {"alpha": 0, "B_gpu": tokens / known["Y"], "b_dispatch": B_ACT, "b_combine": B_ACT}
    inside = value(serving.expert_parallel_exchange, known | near, G=1, W_nic=place.W_nvl)
    network = place.W_node / place.node
    across = value(serving.expert_parallel_exchange, known | near, G=np.minimum(known["Z"], known["G"]), W_nic=network)
    sent = np.where(spread, np.maximum(inside, across), 0.0)
    return (known["L"] + mlps) * part * one, (known["L"] - known["L_dense"]) * part * sent


def _hop(ask: ServingRequest, known: dict):
    """The time in which a stage sends its tokens to the next one; nothing without a pipeline."""
    inside = known["n_gpu"] <= ask.cluster.node
    rate = np.where(inside, ask.cluster.W_nvl, ask.cluster.W_node / ask.cluster.node)
    size = known["B_seq"] * known["D"] * B_ACT
    return np.where(known["N_stages"] > 1, value(collectives.call_time, {"alpha_call": 0}, V=size, W_fit=rate), 0.0)


def _prefill(ask: ServingRequest, known: dict, engine: Engine):
    """The time of a prompt on an attention group, bound and expected, when all groups are busy."""
    new = ask.input - ask.cached
    known = known | {"B": new, "N_gpu": known["Y"]}
    known |= {"ops": value(serving.prefill_flop_latent if "r_kv" in known else serving.prefill_flop_windowed, known)}
    known |= {"E_hit": value(serving.experts_touched, known)}
    known |= {"V_w": value(serving.weights_read_moe, known)}
    whole = known | {"L_stage": known["L"]}
    moved = sum(_exchange(ask, whole, new))
    own = {"eta_hbm": engine.eta_hbm, "t_layer": engine.t_layer, "eta_mat": 1}  # ``slow`` has what kernels lose
    bound = value(serving.prefill_bound, known)
    return bound + moved, engine.slow * value(serving.prefill_estimate, known | own) + moved
