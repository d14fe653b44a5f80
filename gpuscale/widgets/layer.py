"""A transformer layer as its matrices: areas are parameters, FLOPs, activations or KV cache, and a hand changes the
length, the key and value heads and the experts.

The page's script (``static/layer.js``) draws what ``llm.layer_by_block`` counts, by the same expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuscale.units import show
from gpuscale.widgets.card import Card
from gpuscale.widgets.stage import stage_figure

TOKENS = 2**10, 2**20  # the lengths of a sequence that its axis has
EXPERTS = 64  # the most that a hand can add
UNITS = {"flops": "FLOP", "activations": "B", "kv_cache": "B"}
TABS = {"parameters": "Parameters", "flops": "FLOPs", "activations": "Activations", "kv_cache": "KV cache"}
BLOCKS = "norm_1", "Q", "K", "V", "scores", "out", "norm_2", "router", "gate", "up", "down"
WORDS = {
    "names": {name: name.split("_")[0] for name in BLOCKS},
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
    "scorelessShort": {"parameters": "scores: none", "activations": "scores: recomputed"},
    "saved": "dashed: saved",
    "shared": "dashed: saved, since {} query heads share one",
    "unshared": "nothing is shared",
    "nothing": "nothing stored",
    "queries": "{} query heads",
    "keys": "{} key and value heads",
    "keysShort": "{} KV heads",
    "masks": ["all keys counted: press the scores", "causal count: press the scores"],
    "masksShort": ["all keys", "causal count"],
    "active": "{} experts, {} active per token",
    "activeShort": "{} experts, {} active",
    "dense": "one MLP, no experts",
    "tokens": "{} tokens",
    "cross": "{} D: scores = all matrices",
    "fills": "one sequence fills {}",
    "free": "the length changes no parameter",
    "layers": "{} layers like this, {}",
    "onlyLayer": "this layer, {}",
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
    page: Mapping[str, Any],
    *,
    memory: float,
    name: str,
    title: str,
    caption: str,
    kind: str = "flops",
    length: int = 8192,
) -> Card:
    """A layer to weigh four ways: ``page`` is what ``llm.layer_page`` gives for its models, of which it opens on the
    first.

    ``memory`` is that of the GPU which one sequence may fill, in bytes. It opens on the tab ``kind`` with ``length``
    tokens. Returns a widget whose ``values`` hold the inputs: kind, causal, S, E and the model's dimensions.
    Raises ValueError for another kind.
    """
    dims = page["dims"]
    if kind not in TABS:
        raise ValueError(f"{name}: kind: expected {', '.join(TABS)}; got {kind!r}")
    first = next(iter(dims))
    most = {n: (1, max(of[n] for of in dims.values())) for n in dims[first] if n != "E"}
    return stage_figure(
        "layer",
        name=name,
        title=title,
        caption=caption,
        start={"kind": kind, "causal": 0, "S": length} | dims[first],
        text=[f"{TABS[kind]} of {first}, {length:,} tokens; tabs: {', '.join(TABS.values())}"],
        choices={"kind": ("Area shows", TABS)},
        presets=dims,
        within={"S": TOKENS, "E": (1, EXPERTS), "causal": (0, 1)} | most,
        formulas=page["formulas"],
        units=UNITS,
        words=WORDS,
        data={name: page[name] for name in ("kinds", "rows", "blocks", "k")}
        | {
            "bytes": 2,
            "hbm": memory,
            "memory": show(memory, "B", short=True),
            "tokens": TOKENS,
            "ticks": [(n, f"{n >> 10}k" if n < TOKENS[1] else "1M") for n in (TOKENS[0] * 4**i for i in range(6))],
        },
        python="from gpuscale.llm import layer_blocks",
    )
