"""A transformer layer as its matrices: areas are parameters, FLOPs, activations or KV cache, and a hand changes the
length, the key and value heads and the experts.

The page's script (``static/layer.js``) draws what ``llm.layer_by_block`` counts, by the same expressions.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpuscale.core.crossovers import crossover
from gpuscale.llm import kv_caches, transformer
from gpuscale.llm.layer_by_block import ATTENTION, KINDS, MLP, end_expressions, layer_blocks, layer_expressions
from gpuscale.llm.model_counts import counts
from gpuscale.specs.entry import Part
from gpuscale.specs.registry import model
from gpuscale.symbols import P_layer, P_mlp, S, S_level, flop, n_mat, n_seq, n_shared
from gpuscale.units import show
from gpuscale.widgets.card import Card
from gpuscale.widgets.stage import stage_figure

TOKENS = 2**10, 2**20  # the lengths of a sequence that its axis has
EXPERTS = 64  # the most that a hand can add
DIMS = "L", "D", "F", "n_q", "n_kv", "d_head", "n_vocab"
UNITS = {"flops": "FLOP", "activations": "B", "kv_cache": "B"}
TABS = dict(zip(KINDS, ("Parameters", "FLOPs", "Activations", "KV cache"), strict=True))
WORDS = {
    "names": {name: name.split("_")[0] for name in ATTENTION + MLP},
    "copies": "copies",
    "attention": "attention",
    "mlp": "MLP",
    "experts": "experts",
    "million": "{} million",
    "billion": "{} billion",
    "times": "× {}",
    "many": "{} × ",
    "elements": "elements",
    "scoreless": {"parameters": "scores: no parameters", "activations": "scores: recomputed"},
    "saved": "dashed: saved",
    "shared": "dashed: saved, since {} query heads share one",
    "unshared": "nothing is shared",
    "nothing": "nothing stored",
    "queries": "{} query heads",
    "keys": "{} key and value heads",
    "keysShort": "{} KV heads",
    "masks": ["all keys counted: press the scores", "causal count: press the scores"],
    "active": "{} experts, {} active per token",
    "activeShort": "{} experts, {} active",
    "dense": "one MLP, no experts",
    "tokens": "{} tokens",
    "cross": "{} D: scores = all matrices",
    "fills": "one sequence fills {}",
    "free": "the length changes no parameter",
    "layers": "{} layers like this, {}",
    "layer": "layer",
    "embedding": "embedding",
    "head": "head",
    "told": "{}, {} of the layer",
    "heads": ["Block", "Shape", *TABS.values()],
    "handles": {"n_kv": "Key and value heads", "E": "Experts", "S": "Tokens of a sequence"},
    "call": 'sum(layer_blocks("{}", {}).values())',
    "causal": "causal=True",
    "sentence": {
        "parameters": {
            "first": "The layer has <b class=memory>{}</b> parameters, the model {}. ",
            "dense": "The MLP holds {} of the layer; the scores have no parameters.",
            "experts": "Per token, {} of {} experts are active. They and attention are {} of the parameters.",
        },
        "flops": {
            "first": "One token costs the layer <b class=compute>{}</b> in the forward pass, the model {}. ",
            "under": "The scores take {} of the layer. They would cost as much as all matrices at {} tokens, {} times "
            "the width D.",
            "over": "The scores take {} of the layer: they cost {} times as much as all matrices.",
        },
        "activations": {
            "first": "For the backward pass, the layer stores <b class=memory>{}</b> per token, the model {}. ",
            "then": "The norms take {} of the layer. A sequence of {} tokens takes {} in all layers.",
        },
        "kv_cache": {
            "first": "The cache stores <b class=memory>{}</b> per token in this layer, {} in the model. ",
            "then": "A sequence of {} tokens takes {}. ",
            "unshared": "With a key and a value for every query head it would take {}.",
        },
    },
}


def layer_stage(
    models: Mapping[str, str],
    *,
    gpu: Part,
    name: str,
    title: str,
    caption: str,
    kind: str = "flops",
    length: int = 8192,
) -> Card:
    """A layer to weigh four ways; ``models`` are presets {"Llama 3 8B": "llama3_8b"}, and it opens on the first.

    ``gpu`` is the one whose memory a sequence may fill. It opens on the tab ``kind`` with ``length`` tokens. Returns a
    widget whose ``values`` hold the inputs: kind, causal, S, E and the model's dimensions.
    Raises ValueError for a model that is drawn otherwise: latent attention, biases, no gate, shared experts.
    """
    dims = {label: _dims(name, key) for label, key in models.items()}
    active = {counts(key).inputs["k"] for key in models.values() if counts(key).moe} or {2}
    if len(active) > 1:
        raise ValueError(f"{name}: models: expected one number of active experts; got {sorted(active)}")
    if kind not in KINDS:
        raise ValueError(f"{name}: kind: expected {', '.join(KINDS)}; got {kind!r}")
    start = {"kind": kind, "causal": 0, "S": length} | next(iter(dims.values()))
    high = TOKENS[1]
    return stage_figure(
        "layer",
        name=name,
        title=title,
        caption=caption,
        start=start,
        text=_text(start, active),
        choices={"kind": ("Area shows", TABS)},
        presets=dims,
        within={"S": TOKENS, "E": (1, EXPERTS), "causal": (0, 1)}
        | {n: (1, max(of[n] for of in dims.values())) for n in DIMS},
        formulas=_formulas(),
        units=UNITS,
        words=WORDS,
        data={
            "kinds": KINDS,
            "rows": {"attention": ATTENTION, "mlp": MLP},
            "blocks": {kind: [*layer_expressions()[kind], *end_expressions()[kind]] for kind in KINDS},
            "k": active.pop(),
            "bytes": 2,
            "hbm": gpu.hbm,
            "memory": show(gpu.hbm, "B", short=True),
            "tokens": TOKENS,
            "ticks": [(n, f"{n >> 10}k" if n < high else "1M") for n in (TOKENS[0] * 4**i for i in range(6))],
        },
        python="from gpuscale.llm import layer_blocks",
    )


def _dims(figure: str, key: str) -> dict[str, int]:
    """The dimensions of a model that is drawn like those of today."""
    x = counts(key).inputs
    if counts(key).mla or x["n_bias"] or x["n_mat"] != 3 or x["n_emb"] != 2 or x.get("n_shared") or x.get("L_dense"):
        raise ValueError(
            f"{figure}: {model(key).title}: expected grouped-query attention, gated MLPs or routed experts alone, "
            "no biases and an output head of its own"
        )
    return {name: x[name] for name in DIMS} | {"E": x.get("E", 1)}


def _formulas() -> dict:
    """What the script calls: each kind of each block, and the lengths that its axis marks."""
    found = {
        f"{kind}_{name}": expression
        for kind in KINDS
        for name, expression in (layer_expressions()[kind] | end_expressions()[kind]).items()
    }
    mlp, today = transformer.mlp_params.rhs, {n_mat: 3, n_shared: 0}
    scores = {"full": transformer.attention_flops.rhs, "causal": transformer.causal_attention_flops.rhs}
    found |= {f"cross_{mask}": crossover(2 * flop * P_layer, of, S).expr for mask, of in scores.items()}
    return found | {
        "flops_scores_causal": scores["causal"],
        "dense": transformer.attention_params.rhs + mlp.subs(today),
        "routed": (
            transformer.attention_params.rhs + transformer.moe_active_layer_params.rhs.subs(P_mlp, mlp).subs(today)
        ),
        "fills": crossover(kv_caches.kv_cache.rhs.subs(n_seq, 1), S_level, S).expr,
    }


def _text(start: dict, active: set) -> list[str]:
    """The layer's sum of each kind, and the largest block."""
    dims = {name: start[name] for name in DIMS if name not in ("L", "n_vocab")} | {"S": start["S"], "E": start["E"]}
    lines = []
    for kind, tab in TABS.items():
        blocks = layer_blocks(kind, k=min(start["E"], *active), **dims)
        most = max(blocks, key=blocks.get)
        total, part = sum(blocks.values()), blocks[most] / sum(blocks.values())
        amount = show(total, UNITS[kind]) if kind in UNITS else show(total, "count")
        lines.append(f"{tab}: {amount}; {most} {show(part, '%', digits=2)}")
    return lines
