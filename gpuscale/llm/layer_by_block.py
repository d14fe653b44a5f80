"""One layer of a transformer block by block: its parameters, FLOPs, activations and KV cache.

A block is a matrix with what it produces. Activations count where they are produced: queries at Q, the result of
attention at the output matrix, the input and output of each norm at that norm, copies of a token at the router.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import sympy

from gpuscale.core.crossovers import crossover
from gpuscale.core.evaluation import evaluate, inputs
from gpuscale.llm import activations, kv_caches, transformer
from gpuscale.llm.model_counts import counts
from gpuscale.specs.registry import model
from gpuscale.symbols import *

ATTENTION = "norm_1", "Q", "K", "V", "scores", "out"
MLP = "norm_2", "router", "gate", "up", "down"
KINDS = "parameters", "flops", "activations", "kv_cache"
DIMS = "L", "D", "F", "n_q", "n_kv", "d_head", "n_vocab"
# A model of today: RMS norms, no biases, a gate, no shared experts, an output head of its own, bf16 and fp32 logits.
_TODAY = {n_norm: 1, n_bias: 0, n_mat: 3, n_shared: 0, n_emb: 2, n_pos: 0, b: 2, b_logit: 4, n_seq: 1}


def _attention(elements: sympy.Expr) -> dict[str, sympy.Expr]:
    """What grows with the query heads belongs to Q and the output in equal parts, the rest to K and V."""
    queries, keys = elements.subs(n_kv, 0) / 2, elements.subs(n_q, 0) / 2
    return {"Q": queries, "K": keys, "V": keys, "out": queries}


def _mlp(elements: sympy.Expr, router: sympy.Expr) -> dict[str, sympy.Expr]:
    """The router, and an equal part of the rest for each matrix."""
    return {"router": router} | dict.fromkeys(("gate", "up", "down"), (elements - router) / n_mat)


@cache
def layer_expressions() -> dict[str, dict[str, sympy.Expr]]:
    """Each block's part of each kind in symbols; blocks without one are left out."""
    t, a = transformer, activations
    attention, mlp = t.attention_params.rhs, t.mlp_params.rhs
    held, active = (f.rhs.subs(P_mlp, mlp) for f in (t.moe_layer_params, t.moe_active_layer_params))
    router = t.moe_layer_params.rhs.subs(P_mlp, 0)
    matrices = _attention(attention) | _mlp(active, router)
    norm = a.layer_activations.rhs.subs({n_kept_attn: 0, n_kept_mlp: 0, S: 1}) / 2
    kept = _attention(a.kept_attention.rhs) | _mlp(a.kept_moe.rhs, a.kept_moe.rhs.subs(F, 0))
    norms = "norm_1", "norm_2"
    found = {
        "parameters": _attention(attention) | _mlp(held, router) | dict.fromkeys(norms, t.layer_vectors.rhs / 2),
        "flops": {name: _worth(of) for name, of in matrices.items()} | {"scores": t.attention_flops.rhs},
        "activations": {name: b * of for name, of in kept.items()} | dict.fromkeys(norms, norm),
        "kv_cache": dict.fromkeys("KV", kv_caches.kv_token.rhs.subs(L, 1) / 2),
    }
    return {kind: {name: _today(of[name]) for name in ATTENTION + MLP if name in of} for kind, of in found.items()}


@cache
def end_expressions() -> dict[str, dict[str, sympy.Expr]]:
    """What a model has before its first layer, at the embedding, and after its last, at the output head."""
    t = transformer
    table = t.embedding_params.rhs.subs(n_emb, 1)
    norm = t.parameters.rhs.subs({L: 0, P_emb: 0})
    found = {
        "parameters": {"embedding": table, "head": table + norm},
        "flops": {"head": _worth(t.active_parameters.rhs.subs(L, 0))},
        "activations": {"head": activations.head_activations.rhs.subs(S, 1)},
        "kv_cache": {},
    }
    return {kind: {name: _today(each) for name, each in of.items()} for kind, of in found.items()}


def _worth(params: sympy.Expr) -> sympy.Expr:
    """The forward FLOPs of parameters."""
    return transformer.token_flops.rhs.subs(L, 0).subs(P_act, params)


def _today(expression: sympy.Expr) -> sympy.Expr:
    return expression.subs(_TODAY).expand()


def layer_blocks(kind: str, *, E: int = 1, k: int = 1, causal: bool = False, **dims: float) -> dict[str, float]:
    """What each block of a layer has: "parameters", "flops", or bytes of "activations" or "kv_cache".

    ``dims`` are D, F, n_q, n_kv, d_head, and S for the FLOPs, which are per token in the forward pass, like the bytes.
    ``E`` experts of which ``k`` work on a token make it a mixture; one is an MLP without a router. ``causal`` counts
    the scores of earlier tokens alone. The MLP has a gate, elements have two bytes, the norms are RMS norms.
    Raises ValueError for another kind and for more active experts than there are.

    >>> blocks = layer_blocks("flops", S=8192, D=4096, F=14336, n_q=32, n_kv=8, d_head=128)
    >>> f"{blocks['scores'] / sum(blocks.values()):.0%}"
    '24%'
    """
    if kind not in KINDS:
        raise ValueError(f"layer_blocks: kind: expected {', '.join(KINDS)}; got {kind!r}")
    if not 1 <= k <= E:
        raise ValueError(f"layer_blocks: k: expected 1 to {E} of the E experts; got {k}")
    expressions = dict(layer_expressions()[kind])
    if causal and kind == "flops":
        expressions["scores"] = transformer.causal_attention_flops.rhs
    known = dims | {"E": E, "k": k}
    return {
        name: evaluate(expression, **{q.name: known[q.name] for q in inputs(expression)})
        for name, expression in expressions.items()
        if E > 1 or name != "router"
    }


def layer_page(models: Mapping[str, str]) -> dict:
    """What the page needs to draw such layers: ``dims`` by the labels of ``models`` {"Llama 3 8B": "llama3_8b"}, the
    experts that work on a token (``k``), the ``formulas`` of all blocks, and which blocks have a part of each kind.

    Raises ValueError for a model that is drawn otherwise: latent attention, biases, no gate, shared experts.
    """
    dims = {label: _dims(key) for label, key in models.items()}
    active = {counts(key).inputs["k"] for key in models.values() if counts(key).moe} or {2}
    if len(active) > 1:
        raise ValueError(f"layer_page: expected one number of active experts; got {sorted(active)}")
    return {
        "dims": dims,
        "k": active.pop(),
        "kinds": KINDS,
        "rows": {"attention": ATTENTION, "mlp": MLP},
        "blocks": {kind: [*layer_expressions()[kind], *end_expressions()[kind]] for kind in KINDS},
        "formulas": _formulas(),
    }


def _dims(key: str) -> dict[str, int]:
    """The dimensions of a model that is drawn like those of today."""
    x = counts(key).inputs
    if counts(key).mla or x["n_bias"] or x["n_mat"] != 3 or x["n_emb"] != 2 or x.get("n_shared") or x.get("L_dense"):
        raise ValueError(
            f"{model(key).title}: expected grouped-query attention, gated MLPs or routed experts alone, no biases and "
            "an output head of its own"
        )
    return {name: x[name] for name in DIMS} | {"E": x.get("E", 1)}


def _formulas() -> dict[str, sympy.Expr]:
    """Each kind of each block, and the lengths that an axis of tokens marks."""
    found = {
        f"{kind}_{name}": expression
        for kind in KINDS
        for name, expression in (layer_expressions()[kind] | end_expressions()[kind]).items()
    }
    t = transformer
    scores = {"full": t.attention_flops.rhs, "causal": t.causal_attention_flops.rhs}
    found |= {f"cross_{mask}": crossover(2 * flop * P_layer, of, S).expr for mask, of in scores.items()}
    mlp = t.mlp_params.rhs
    return found | {
        "flops_scores_causal": scores["causal"],
        "dense": _today(t.attention_params.rhs + mlp),
        "routed": _today(t.attention_params.rhs + t.moe_active_layer_params.rhs.subs(P_mlp, mlp)),
        "fills": crossover(kv_caches.kv_cache.rhs.subs(n_seq, 1), S_level, S).expr,
    }
