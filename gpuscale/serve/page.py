"""What the page's planner of serving is given: its formulas, and the numbers of models, GPUs and engines.

The page evaluates layouts as ``evaluation`` does, with formulas printed for it, and chooses as ``search`` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuscale import llm, specs
from gpuscale.llm.model_counts import counts
from gpuscale.plan import clusters, scripts
from gpuscale.printed.engines import DRAFT_TIME
from gpuscale.serve.engines import engine_of
from gpuscale.serve.evaluation import BATCHES, LOADS, PAGE
from gpuscale.serve.layouts import CONSTRAINTS, MOST_STAGES
from gpuscale.serve.printing import SHARED
from gpuscale.serve.requests import LOAD, MOST_GPUS, TRIED, ServingRequest, request
from gpuscale.serve.stages import B_ACT
from gpuscale.serving.decode_numbers import FORMATS, decode_inputs, peak
from gpuscale.serving.step_percentile import LATE, stall_means
from gpuscale.specs.entry import Part

# GPUs of a node: where no cluster says, and where 72 divide no power of two
NODES = {"h200_sxm": 8, "gb200": 64, "gb300": 64}
ASKED = ("b_w", "b", "b_exp", "b_head", "V_tok", "V_seq", "S", "B", "B_seq", "E_hit", "n_ask")  # not the model's own
FORMULAS = [llm.kv_token, llm.latent_kv_token, *SHARED]  # what the page evaluates one by one


def page_data(models: Sequence[str], gpus: Sequence[str]) -> dict:
    """All that the page needs to plan with these models and GPUs, by key. For JSON."""
    known = [specs.part("model", key) for key in models]
    return {
        "batches": BATCHES.tolist(),
        "bytes": B_ACT,
        "block": PAGE,
        "late": LATE,
        "loads": LOADS,
        "stalls": stall_means(),
        "usual": {"drafted": float(f"{DRAFT_TIME:.2g}"), "load": LOAD},
        "stages": MOST_STAGES,
        "conditions": scripts.printed(CONSTRAINTS),
        "formats": {name: FORMATS[name].bytes for name in TRIED["weights"]},
        "caches": TRIED["cache"],
        "models": {part.key: _of_model(part) for part in known},
        "gpus": {key: _of_gpu(_asking(known[0], key)) for key in gpus},
    }


def _of_model(part: Part) -> dict:
    own = {name: float(value) for name, value in decode_inputs(part).items() if name not in ASKED}
    found, used = counts(part), engine_of(part)
    own |= {"L_dense": found.layers_dense} | ({"n_kv": 1} if found.mla else {})
    own |= {"eta_hbm": used.constants.eta_hbm, "t_layer": used.constants.t_layer}
    layers = {name: used.constants.layer(found.moe, name) for name in TRIED["weights"]}
    return {
        "title": part.short,
        "x": own,
        "latent": found.mla,
        "experts": found.moe,
        "most": part.get("max_tokens"),
        "layer": layers,
        "added": used.added,
        "band": used.band,
        "rows": used.rows,
        "chips": used.chips,
    }


def _of_gpu(ask: ServingRequest) -> dict:
    place = ask.cluster
    return {
        "title": ask.gpu.short,
        "x": {"W_hbm": place.W_hbm, "G": place.node},
        "nvlink": place.W_nvl,
        "network": place.W_node / place.node,
        "hbm": place.hbm,
        "room": ask.room,
        "price": ask.price,
        "most": place.most or MOST_GPUS,
        "peaks": {name: peak(ask.gpu, name) for name in TRIED["weights"]},
        "reach": {name: engine_of(ask.model).constants.matmuls(ask.gpu, name) for name in TRIED["weights"]},
        "called": "".join(f", {name}={value!r}" for name, value in node_of(ask.gpu.key).items()),
    }


def node_of(gpu: str) -> dict:
    """What a request has to say of the node of a GPU."""
    chip, said = specs.chip(gpu), {"per_node": NODES[gpu]} if gpu in NODES else {}
    return said if "nvlink_bw" in chip else said | {"nvlink": clusters.pcie(chip)}


def _asking(model: Part, gpu: str) -> ServingRequest:
    return request(model, gpu, 8, 1, 2, **node_of(gpu))
