"""A model of the data counted by the formulas: its inputs by symbol, its parameters part by part.

``counts("llama3_70b").P`` is a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpuscale.printed import formulas
from gpuscale.printed.calling import exactly
from gpuscale.specs.entry import Part
from gpuscale.specs.reading import SpecError
from gpuscale.specs.registry import model as _model

# The field of a model that each symbol stands for, and its value where the model does not state it.
FIELDS = {"L": "layers", "D": "d_model", "F": "d_ff", "n_q": "heads", "n_mat": "mlp_matrices", "n_vocab": "vocab"}
FIELDS |= {"n_norm": "norm_vectors", "n_emb": "vocab_matrices", "n_pos": "positions", "n_bias": "biases"}
EXPERTS = {"E": "experts", "k": "active_experts", "n_shared": "shared_experts", "L_dense": "dense_layers"}
LATENT = {"r_q": "q_rank", "r_kv": "kv_rank", "d_nope": "nope_dim", "d_rope": "rope_dim", "d_v": "value_dim"}
DEFAULTS = {"n_norm": 1, "n_emb": 2, "n_pos": 0, "n_bias": 0, "n_shared": 0, "L_dense": 0}


class Counts(NamedTuple):
    """A model's parameters, all whole numbers. ``P_act`` and the parts of a layer count matrices alone.

    ``P_mlp`` is the MLP of a layer without experts, ``P_expert`` one expert, ``P_moe`` all of a layer with its router,
    ``P_top`` those that work on a token; they are 0 if the model has none. ``P_layer`` counts what works on a token in
    a layer with experts, or in any layer if there are none. ``P_vec`` are the norms and biases of a layer, ``P_emb``
    embedding, head and positions, ``P_exp`` all routed experts. ``V_kv`` is the KV cache of a token in bytes, in
    16 bits. ``inputs`` has the value of each symbol that the formulas need.
    """

    P: int
    P_act: int
    P_attn: int
    P_mlp: int
    P_expert: int
    P_moe: int
    P_top: int
    P_layer: int
    P_vec: int
    P_emb: int
    P_exp: int
    V_kv: int
    layers_dense: int
    layers_moe: int
    moe: bool
    mla: bool
    inputs: Mapping[str, int]


def inputs(model: Part | str) -> dict[str, int]:
    """The value of each symbol for a model, or a key of one. Raises SpecError for a number that it lacks."""
    part = _model(model) if isinstance(model, str) else model
    fields = FIELDS | (EXPERTS if "experts" in part else {}) | (LATENT if "kv_rank" in part else {})
    found = {}
    for symbol, field in fields.items():
        if field not in part and symbol not in DEFAULTS:
            raise SpecError(f"{part.title} ({part.key}) has no {field!r}; expected a number to count its {symbol}")
        found[symbol] = part.get(field, DEFAULTS.get(symbol))
    found["n_kv"] = part.get("kv_heads", found["n_q"])
    found["d_head"] = part.get("head_dim", found["D"] // found["n_q"])
    if found.get("L_dense"):
        found["F_dense"] = part.d_ff_dense
    return found


def counts(model: Part | str) -> Counts:
    """The parameters of a model, counted by the formulas. ``model`` is a Part or the key of one."""
    return Counts(**_parts(model))


def _parts(model: Part | str) -> dict:
    x = inputs(model)
    moe, mla = "E" in x, "r_kv" in x
    dense = x["L_dense"] if moe else x["L"]
    mlp = exactly(formulas.mlp_params, x)
    p = {"P_attn": exactly(formulas.latent_attention_params if mla else formulas.attention_params, x)}
    p["P_mlp"] = exactly(formulas.mlp_params, x | {"F": x.get("F_dense", x["F"])}) if dense else 0
    p["P_expert"] = mlp if moe else 0
    one = x | {"P_mlp": mlp}
    p["P_moe"] = exactly(formulas.moe_layer_params, one) if moe else 0
    p["P_top"] = exactly(formulas.moe_active_layer_params, one) if moe else 0
    p["P_exp"] = exactly(formulas.routed_parameters, one) if moe else 0
    p["P_layer"] = p["P_attn"] + (p["P_top"] if moe else p["P_mlp"])
    vectors = formulas.moe_layer_vectors if moe else formulas.layer_vectors
    p["P_vec"] = exactly(formulas.latent_layer_vectors if mla else vectors, x)
    p["P_emb"] = exactly(formulas.embedding_params, x)
    p["P"] = exactly(formulas.moe_parameters if moe else formulas.parameters, x | p)
    p["P_act"] = exactly(formulas.moe_active_parameters if moe else formulas.active_parameters, x | p)
    cache = formulas.latent_kv_token if mla else formulas.kv_token
    p["V_kv"] = exactly(cache, x | {"b": 2})
    return p | {"moe": moe, "mla": mla, "layers_dense": dense, "layers_moe": x["L"] - dense, "inputs": x}
