"""The time of a stage, of a hop and of a prefill, for every layout at every batch size, as pairs: bound and expected.

``known`` holds what the formulas need of the model and the layouts, as ``evaluation`` puts it together.
"""

from __future__ import annotations

import numpy as np

from gpuscale.printed import serving as printed
from gpuscale.printed.calling import arrays
from gpuscale.serve.engines import EngineRates
from gpuscale.serve.requests import ServingRequest

B_ACT = 2  # bytes per element of activations
NOTHING = 1e-9  # bytes that take no time


def cache_bytes(known: dict, batch, size):
    """Bytes of the cache of a stage, for a batch of sequences of a size."""
    return arrays(printed.replica_cache, known, B_seq=batch, V_seq=size)


def through_stages(known: dict, stage):
    """A step through all stages, from the times of a stage and of a hop: bound and expected."""
    times, hop = stage
    return tuple(arrays(printed.pipeline_decode, known, T_mem=t * known["N_stages"], T_hop=hop) for t in times)


def stage_times(ask: ServingRequest, known: dict, engine: EngineRates, tokens: int, prompt=None):
    """Times of a stage and of a hop to the next, bound and expected, where a step works on some tokens of each
    sequence, and on a chunk of a prompt whose prefill takes ``prompt``; and the parts of the bound."""
    bound, expected, parts = _worked(ask, known, tokens, known["B_seq"], known["n_dpa"])
    if engine.added > 1:  # what further sequences add takes longer than its bytes and FLOPs
        one = _worked(ask, known, tokens, 1, 1)[1]
        loaded = arrays(printed.loaded_step, {"T_one": one, "T_many": expected, "g_added": engine.added})
    else:
        loaded = expected
    if prompt is None:
        return ((bound, loaded), _hop(ask, known, tokens * known["B_seq"])), parts
    mixed = _worked(ask, known, tokens, known["B_seq"], known["n_dpa"], prompt)
    both = mixed[0], loaded + mixed[1] - expected
    return (both, _hop(ask, known, tokens * known["B_seq"] + ask.chunk)), mixed[2]


def _worked(ask: ServingRequest, known: dict, tokens: int, batch, groups, prompt=None):
    """A stage that works on some tokens of each of ``batch`` sequences of ``groups``, and perhaps on a chunk: bound,
    estimate and parts."""
    checked = arrays(printed.verified_batch, {"B_seq": batch, "n_draft": tokens - 1})
    fed = checked if prompt is None else checked + ask.chunk
    known = known | {"E_hit": arrays(printed.experts_touched, known, B=fed * groups)}
    known |= {"V_w": arrays(printed.replica_weights_read, known), "V_kv": cache_bytes(known, batch, known["V_seq"])}
    known |= {"V_read": arrays(printed.bytes_read, known), "B_seq": checked}
    known["P_act"] = arrays(printed.replica_params, known)
    attention = printed.attention_flop_absorbed if "r_kv" in known else printed.attention_flop_decode
    known["ops_kv"] = arrays(printed.replica_attention, known, ops_kv=arrays(attention, known))
    known["N_gpu"] = 1
    bound = arrays(printed.decode_bound, known)
    slower = {"C": known["eta_mat"] * known["C"], "C_attn": known["eta_attn"] * known["C_attn"]}
    estimate = arrays(printed.decode_estimate, known | slower, L=known["L_stage"])
    reduced, sent = _exchange(ask, known, checked)  # the time of a prompt includes what its tokens exchange
    if prompt is not None:
        chunk = [arrays(printed.chunk_time, known, S_chunk=ask.chunk, T_pre=t / known["N_stages"]) for t in prompt]
        bound = arrays(printed.mixed_bound, known, T_chunk=chunk[0])
        estimate = arrays(printed.mixed_estimate, known | slower, L=known["L_stage"], T_chunk=chunk[1])
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


def _hop(ask: ServingRequest, known: dict, tokens):
    """The time in which a stage sends its tokens to the next one; nothing without a pipeline."""
    inside = known["n_gpu"] <= ask.cluster.node
    rate = np.where(inside, ask.cluster.W_nvl, ask.cluster.W_node / ask.cluster.node)
    size = tokens * known["D"] * B_ACT
    return np.where(known["N_stages"] > 1, arrays(printed.call_time, {"alpha_call": 0}, V=size, W_fit=rate), 0.0)


def prefill_times(ask: ServingRequest, known: dict):
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
