"""Every choice of a request evaluated: what goes in, and the columns that come out."""

from __future__ import annotations

from functools import cache

import numpy as np

from gpuscale import specs
from gpuscale.llm.model_counts import counts, inputs
from gpuscale.plan import calibration
from gpuscale.plan.choice import MESH, OPTIONS
from gpuscale.plan.columns import NAMES, Costs
from gpuscale.plan.layouts import Rows
from gpuscale.plan.programs import program
from gpuscale.plan.requests import Request
from gpuscale.printed import formulas
from gpuscale.printed.calling import value

BLOCK = 1 << 13  # plans at a time, so that they fit in the cache
B_MASK = 1.0  # bytes of an element of a dropout mask
_NO_EXPERTS = {"E": 1, "k": 1, "n_shared": 0}


@cache
def _model(part: specs.Part, seq: int) -> dict:
    """What the program needs of a model, at sequences of that length."""
    count = counts(part)
    x = _NO_EXPERTS | {"F_dense": count.inputs["F"]} | dict(count.inputs)
    x |= {"S": seq, "S_win": min(part.get("window", seq), seq), "L_win": part.get("window_layers", 0)}
    x |= {"L_dense": count.layers_dense, "P": count.P, "P_act": count.P_act, "P_exp": count.P_exp}
    x["n_drop"] = part.get("dropout", 0)
    if count.mla:
        whole, needed = formulas.latent_attention_flops, formulas.causal_latent_attention_flops
    else:
        whole, needed = formulas.mean_attention_flops, formulas.mean_causal_attention_flops
    told = value(whole, x)  # as MFU counts it, masked or not
    x["ops_attn"] = told if x["n_drop"] else value(needed, x)  # if dropout stores scores in memory: all of them
    return x | {"ops_tok": value(formulas.token_flops, x | {"ops_attn": told})}


def model_inputs(ask: Request) -> dict:
    """The model's numbers at this length of sequences."""
    return dict(_model(ask.model, ask.seq))


def recipe_inputs(recipe: specs.Part) -> dict:
    """Bytes per parameter and per stored element."""
    sizes = {"b_w": recipe.weights, "b_grad": recipe.gradients, "b_master": recipe.master, "b_mom": recipe.moment}
    return sizes | {"b": recipe.activations, "b_kept": recipe.get("kept", recipe.activations)}


def constants(ask: Request) -> dict:
    """Every input of the program that is one number for the whole request."""
    place = ask.cluster.with_node(min(ask.cluster.node, ask.gpus))
    rates = {"C": place.C, "W_hbm": place.W_hbm, "W_nvl": place.W_nvl, "W_node": place.W_node, "G": place.node}
    sizes = recipe_inputs(ask.recipe) | {"b_mask": B_MASK} | calibration.DEFAULTS
    reached = dict(zip(("eta", "eta_1", "eta_2", "eta_hbm"), ask.shares, strict=True))
    waits = dict(zip(("g_tp", "g_cp", "g_ep"), ask.waits, strict=True))
    run = ask.calibration.constants
    return model_inputs(ask) | rates | sizes | reached | waits | run | {"B": ask.batch, "N_gpu": ask.gpus}


def rates(ask: Request) -> tuple[float, float]:
    """Achieved bandwidth of a GPU over NVLink, and of a node over the network."""
    peaks = zip((ask.cluster.W_nvl, ask.cluster.W_node), ask.shares[1:3], strict=True)
    nvlink, network = (value(formulas.reached_bandwidth, {"W_ref": peak, "eta": share}) for peak, share in peaks)
    return nvlink, network


@cache
def _hit(part: specs.Part, ranks: int, node: int) -> tuple[float, float]:
    """Fractions of the GPUs and of the nodes of a group of experts that a token has to reach."""
    known = _NO_EXPERTS | inputs(part) | {"Z": ranks, "G": node, "M_lim": part.get("route_nodes")}
    nodes = formulas.limited_nodes_hit if known["M_lim"] else formulas.nodes_hit
    return value(formulas.hit_top_k, known), value(nodes, known)


def hits(ask: Request, Z) -> dict:
    """Those fractions for each Z."""
    kinds, place = np.unique(Z, return_inverse=True)
    found = np.array([_hit(ask.model, int(ranks), min(ask.cluster.node, ask.gpus)) for ranks in kinds])
    return {"f_hit": found[place, 0], "f_node": found[place, 1]}


def costs(ask: Request, rows: Rows, picks: Rows, wanted=NAMES):
    """Columns of the layouts times the options, block by block: (slice of rows, an array for each that is wanted)."""
    function, names = program(ask.schedule, "kv_rank" in ask.model, wanted)
    fixed = constants(ask)
    columns = {name: np.asarray(rows[name], float) for name in MESH} | hits(ask, rows["Z"])
    across = {name: np.asarray(picks[name], float)[None] for name in OPTIONS}
    many = max(1, BLOCK // max(1, len(picks)))
    for start in range(0, len(rows), many):
        part = slice(start, min(start + many, len(rows)))
        here = {name: column[part, None] for name, column in columns.items()} | across
        with np.errstate(all="ignore"):
            found = function(*(here[name] if name in here else fixed[name] for name in names))
        yield part, found


def known(ask: Request, rows: Rows) -> dict:
    """Every input of a program for choices given one by one: ``rows`` has the columns of layouts and of options."""
    return constants(ask) | {name: np.asarray(rows[name], float) for name in (*MESH, *OPTIONS)} | hits(ask, rows["Z"])


def table(ask: Request, rows: Rows) -> Costs:
    """The columns of such choices."""
    function, names = program(ask.schedule, "kv_rank" in ask.model)
    given = known(ask, rows)
    with np.errstate(all="ignore"):
        found = function(*(given[name] for name in names))
    return Costs.of([np.broadcast_to(value, len(rows)) for value in found])
