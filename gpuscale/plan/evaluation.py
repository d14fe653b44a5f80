"""Every choice of a request evaluated: what fits, what it costs, which are the best."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from gpuscale import specs
from gpuscale.collectives import exchange
from gpuscale.core.evaluation import evaluate
from gpuscale.llm import activations, memory_traffic, model_counts, step_memory, transformer
from gpuscale.plan.costs import OUTPUTS, program
from gpuscale.plan.layouts import MESH, OPTIONS, Rows
from gpuscale.plan.requests import Request

BLOCK = 1 << 13  # plans at a time: what they need stays in the cache
B_LOGIT, B_MASK = 4.0, 1.0  # bytes of a logit, and of an element of a dropout mask


def _of(formula, *known: Mapping):
    """A formula at values of which it may not need all."""
    found = {name: value for one in known for name, value in one.items()}
    return evaluate(formula, **{quantity.name: float(found[quantity.name]) for quantity in formula.inputs})


def _attention(part: specs.Part, needed, whole, x: Mapping) -> float:
    """Operations of attention for a token, averaged over layers that see the sequence and layers that see a window."""
    S = x["S"]
    seen = min(part.get("window", S), S)
    begins, later = (_of(formula, x | {"S": seen}) for formula in (needed, whole))
    narrow = part.get("window_layers", 0) / x["L"]
    return (1 - narrow) * _of(needed, x) + narrow * (seen * begins + (S - seen) * later) / S


@cache
def _model(key: str, seq: int) -> dict:
    """What the program needs of a model: averages over its layers where they differ."""
    part = specs.model(key)
    count = model_counts.counts(part)
    x = dict(count.inputs) | {"S": seq}
    moe, wide = count.layers_moe / x["L"], x.get("F_dense", x["F"])
    dense_x = x | {"F": wide}
    whole = transformer.latent_attention_flops if count.mla else transformer.attention_flops
    needed = transformer.causal_latent_attention_flops if count.mla else transformer.causal_attention_flops
    needed = whole if part.get("dropout", 0) else needed  # scores in memory: all of them
    kept = activations.kept_latent_attention if count.mla else activations.kept_attention
    few = step_memory.few_latent_attention if count.mla else step_memory.few_attention
    out = {name: x[name] for name in ("L", "D", "n_q", "n_kv", "d_head", "n_vocab", "n_emb")}
    out |= {"P": count.P, "P_act": count.P_act, "P_exp": count.P_exp, "ops_attn": _attention(part, needed, whole, x)}
    out["P_layer"] = (count.P_act - x["D"] * x["n_vocab"]) / x["L"]
    told = {"ops_attn": _attention(part, whole, whole, x)}  # as MFU counts it, whatever a mask hides
    out["ops_tok"] = _of(transformer.token_flops, x, out | told)
    out |= {"n_kept_attn": _of(kept, x), "n_few_attn": _of(few, x)}
    kinds = {"n_kept_mlp": (activations.kept_mlp, activations.kept_moe)}
    kinds |= {"n_few_mlp": (step_memory.few_mlp, step_memory.few_moe)}
    for name, (dense, routed) in kinds.items():
        out[name] = (1 - moe) * _of(dense, dense_x) + (moe and moe * _of(routed, x))
    out["P_up"] = _of(step_memory.latent_up_params, x) if count.mla else 0.0
    out |= {"L_dense": x["L"] - count.layers_moe, "n_cut": 2 - moe, "E": x.get("E", 1), "k": x.get("k", 1)}
    out["key_heads"] = x["n_kv"]
    if count.mla:  # what context parallelism gathers is the latent vector, once for every rank of TP
        out |= {"n_kv": 1, "d_head": (x["r_kv"] + x["d_rope"]) / 2}
    return out | {"F": x["F"]}


@cache
def _kernels(key: str, seq: int, width: float) -> dict:
    """Bytes that the kernels between the products move for a token in a layer: averages over layers."""
    part = specs.model(key)
    count = model_counts.counts(part)
    dropout = part.get("dropout", 0)
    x = dict(count.inputs) | {"S": seq, "b": width, "b_mask": B_MASK, "n_drop": dropout}
    out = {
        f.lhs.name: _of(f, x)
        for f in (memory_traffic.between_forward, memory_traffic.between_backward, memory_traffic.norms_forward)
    }
    turned = x | {"d_head": x["d_rope"], "n_kv": 1} if count.mla else x
    rotary = 0 if x["n_pos"] else _of(memory_traffic.rotary_traffic, turned)
    latent = (memory_traffic.latent_norms_forward, memory_traffic.latent_norms_backward) if count.mla else ()
    scores = (memory_traffic.scores_forward, memory_traffic.scores_backward) if dropout else ()
    heads = [_of(f, x) for f in scores or latent] or [0, 0]
    moe = count.layers_moe / x["L"]
    sorting = moe and moe * _of(memory_traffic.sorting_traffic, x)
    wide = (1 - moe) * x.get("F_dense", x["F"]) + moe * (x.get("k", 1) + x.get("n_shared", 0)) * x["F"]
    made = [_of(f, x | {"F": wide}) for f in (memory_traffic.activation_forward, memory_traffic.activation_backward)]
    out["V_blk_fwd"], out["V_blk_bwd"] = (rotary + a + m + sorting for a, m in zip(heads, made, strict=True))
    out["V_blk_recompute"] = heads[0] + (rotary if count.mla else 0) + made[0]
    return out


def model_inputs(ask: Request) -> dict:
    """The model's numbers at this length of sequences."""
    return dict(_model(ask.model.key, ask.seq))


def constants(ask: Request) -> dict:
    """Every input of the program that is one number for the whole request.

    What is sent to the experts is as precise as weights, at most as activations; what they send back as activations.
    """
    place, recipe = ask.cluster, ask.recipe
    node = min(place.node, ask.gpus)
    rates = {"C": place.C, "W_hbm": place.W_hbm, "W_1": place.W_1, "W_2": place.W_2 * node / place.node, "D_1": node}
    sizes = {"b": recipe.activations, "b_kept": recipe.get("kept", recipe.activations)}
    sizes |= {"b_w": recipe.weights, "b_grad": recipe.gradients}
    sizes |= {"b_opt": recipe.master + 2 * recipe.moment, "b_logit": B_LOGIT, "b_combine": recipe.activations}
    sizes["b_dispatch"] = min(recipe.weights, recipe.activations)
    reached = dict(zip(("eta", "eta_1", "eta_2", "eta_hbm"), ask.shares, strict=True))
    waits = dict(zip(("g_tp", "g_cp", "g_ep"), ask.waits, strict=True))
    moved = _kernels(ask.model.key, ask.seq, float(recipe.activations))
    return model_inputs(ask) | moved | rates | sizes | reached | waits | {"B": ask.batch, "S": ask.seq}


def hits(ask: Request, Z) -> dict:
    """Shares of the GPUs and of the nodes of an expert group that a token has to reach, for each Z."""
    known = model_inputs(ask)
    node = min(ask.cluster.node, ask.gpus)
    kinds = np.unique(Z)
    gpus, nodes = np.ones(len(kinds)), np.ones(len(kinds))
    if known["E"] > 1:
        of = [evaluate(exchange.hit_top_k, E=known["E"], k=known["k"], Z=float(z)) for z in kinds]
        parts = np.maximum(kinds // node, 1)
        top = [evaluate(exchange.hit_top_k, E=known["E"], k=known["k"], Z=float(m)) for m in parts]
        limit = ask.model.get("route_nodes")
        gpus, nodes = np.array(of), np.array(top) if limit is None else np.minimum(top, limit / parts)
    place = np.searchsorted(kinds, Z)
    return {"f_hit": gpus[place], "f_node": nodes[place]}


def costs(ask: Request, rows: Rows, picks: Rows, wanted=OUTPUTS):
    """All outputs of the layouts times the options, block by block: (slice of rows, {name: array})."""
    function, names = program(ask.schedule)
    fixed = constants(ask)
    columns = {name: np.asarray(rows[name], float) for name in MESH} | hits(ask, rows["Z"])
    across = {name: np.asarray(picks[name], float)[None] for name in OPTIONS}
    at = [OUTPUTS.index(name) for name in wanted]
    many = max(1, BLOCK // max(1, len(picks)))
    for start in range(0, len(rows), many):
        part = slice(start, min(start + many, len(rows)))
        here = {name: column[part, None] for name, column in columns.items()} | across
        with np.errstate(all="ignore"):
            found = function(*(here[name] if name in here else fixed[name] for name in names))
        yield part, {name: found[i] for name, i in zip(wanted, at, strict=True)}


def table(ask: Request, rows: Rows) -> dict[str, np.ndarray]:
    """All outputs of choices given one by one: ``rows`` has the columns of layouts and of options."""
    function, names = program(ask.schedule)
    known = constants(ask) | {name: np.asarray(rows[name], float) for name in (*MESH, *OPTIONS)} | hits(ask, rows["Z"])
    with np.errstate(all="ignore"):
        found = function(*(known[name] for name in names))
    return {name: np.broadcast_to(value, len(rows)) for name, value in zip(OUTPUTS, found, strict=True)}
