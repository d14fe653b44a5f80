"""What the planner of the page is given: its programs, and the numbers of models, clusters and recipes.

The page computes what a request adds to them, with formulas that are printed for it, and searches as ``search`` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuscale import collectives, llm, specs
from gpuscale.llm import model_counts
from gpuscale.plan import evaluation, layouts, outcome, scripts
from gpuscale.plan.choice import COLUMNS, RECOMPUTE
from gpuscale.plan.columns import NAMES
from gpuscale.plan.likeness import AXES, REACH, USUAL_BAND
from gpuscale.plan.requests import Request, request
from gpuscale.specs import hugging_face

PER_NODE = {"gb200_nvl72": 64}  # GPUs used of each node, where all of them divide no power of two
SEQ = 2048  # tokens of the sequence of which every model has a plan
OF_LENGTH = ("S", "S_win", "ops_attn", "ops_tok")  # inputs of a model that follow from the length of its sequences
# What the page evaluates one by one
FORMULAS = [
    *(llm.mean_attention_flops, llm.mean_causal_attention_flops, llm.token_flops),
    *(llm.latent_attention_flops, llm.causal_latent_attention_flops),
    *(collectives.hit_top_k, llm.nodes_hit, llm.limited_nodes_hit, llm.level_time, llm.run_time),
]


def page_data(models: Sequence[str], clusters: Sequence[str], recipes: Sequence[str]) -> dict:
    """All that the page needs to plan with these models, clusters and recipes, by key. For JSON."""
    known = [specs.part("model", key) for key in models]
    return {
        "columns": NAMES,
        "programs": [scripts.program(latent) for latent in (False, True)],
        "stages": [[scripts.stage(latent, virtual) for virtual in (False, True)] for latent in (False, True)],
        "counted": [[scripts.counted(moe, latent) for latent in (False, True)] for moe in (False, True)],
        "conditions": scripts.conditions(),
        "tried": {"micro": layouts.MICRO, "short": layouts.SHORT, "cuts": layouts.STAGE_CUTS},
        "models": {part.key: of_model(part) for part in known},
        "clusters": {key: _of_cluster(key, known[0]) for key in clusters},
        "recipes": {part.key: _of_recipe(part) for part in (specs.part("recipe", key) for key in recipes)},
        "causes": outcome.CAUSES,
        "choice": list(COLUMNS),
        "recompute": RECOMPUTE,
        "axes": AXES,
        "reach": REACH,
        "usual": USUAL_BAND,
        "files": _of_files(),
    }


def of_model(part: specs.Part) -> dict:
    """The numbers of a model that no length of sequences changes."""
    x = evaluation.model_inputs(_asking(part, "h100_superpod"))
    own = {name: value for name, value in x.items() if name not in OF_LENGTH}
    said = {"window": part.get("window"), "latent": "kv_rank" in part, "nodes": part.get("route_nodes")}
    return said | {"title": part.short, "x": own, "experts": "experts" in part}


def _of_cluster(key: str, model: specs.Part) -> dict:
    ask = _asking(model, key)
    others = evaluation.model_inputs(ask) | evaluation.recipe_inputs(ask.recipe)
    own = {name: value for name, value in evaluation.constants(ask).items() if name not in {*others, "B", "N_gpu"}}
    kinds = ask.calibration.kinds
    return {
        "title": ask.cluster.title,
        "x": own,
        "hbm": ask.cluster.hbm,
        "room": ask.room,
        "most": ask.cluster.most,
        "called": f", per_node={PER_NODE[key]}" if key in PER_NODE else "",
        "rates": dict(zip(("W_nvl", "W_node"), evaluation.rates(ask), strict=True)),
        "band": ask.calibration.band,
        "tie": ask.calibration.tie,
        "kinds": vars(kinds) if kinds else None,
    }


def _of_recipe(part: specs.Part) -> dict:
    return {"title": part.short, "x": evaluation.recipe_inputs(part)}


def _asking(model: specs.Part, key: str) -> Request:
    node = PER_NODE.get(key)
    place = request(model, key, node or 8, SEQ, SEQ, per_node=node).cluster
    return request(model, key, place.node, SEQ, SEQ, per_node=node)


def _of_files() -> dict:
    """The table of ``specs.hugging_face``, as the page reads it."""
    kinds = {
        name: {"known": sorted(kind.known), **{k: getattr(kind, k) for k in kind._fields if k != "known"}}
        for name, kind in hugging_face.KINDS.items()
    }
    symbols = {"names": model_counts.FIELDS, "experts": model_counts.EXPERTS, "latents": model_counts.LATENT}
    return {
        "kinds": kinds,
        "inside": hugging_face.INSIDE,
        "ignored": " ".join(sorted(hugging_face.IGNORED)),
        "aside": sorted(hugging_face.ASIDE),
        "window": sorted(hugging_face.WINDOW),
        "more": scripts.left_out(),
        "largest": hugging_face.LARGEST,
        "most": hugging_face.MOST,
        "symbols": symbols | {"defaults": model_counts.DEFAULTS},
        "wide": ("biases of queries, keys and values", "biases of the output matrices"),
        "norms": "norms of queries and keys",
        "said": SAID,
    }


# What is wrong with a configuration
SAID = {
    "json": "config.json is not JSON ({}).",
    "twice": "field {} is there twice",
    "table": "config.json is not a JSON object.",
    "strange": "Unknown fields: {}. Remove those that change no count.",
    "meant": "{} (did you mean {}?)",
    "type": "model_type {} is not known; expected one of {}.",
    "field": "{}: {}; expected {}.",
    "word": "a word, such as llama",
    "text": "an object with the fields of the text model",
    "whole": "a whole number, {} or more",
    "fewer": "a whole number, {} or less",
    "flag": "true or false",
    "must": "{}: the formulas count nothing else",
    "is": "{}",
    "most": "at most {}",
    "below": "fewer than the {} layers",
    "first": "the first layers, such as [] or [0, 1]",
    "multiple": "a multiple of {}",
    "divisor": "a divisor of the {} query heads",
    "bias": "false, or attention_bias as well",
    "none": "null: this model attends to all tokens",
    "listed": "{} of full_attention and sliding_attention",
    "left": "The formulas leave out more than 1% of the parameters: {}.",
    "other": "every other",
}
