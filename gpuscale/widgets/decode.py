"""One step of decoding on a page: the bytes that it reads, on the clock of the HBM that they are read from.

What a step costs comes with the page (``serving.decode_page``); the script finds where one cost overtakes the other.
"""

from collections.abc import Mapping
from typing import Any

from gpuscale.widgets.card import Card
from gpuscale.widgets.stage import stage_figure

LEAST = 64  # tokens of context
MOST = {"batch": 4096, "context": 131072}
TIMES = 1e-4, 1.0  # seconds of the chart
GPUS = (1, 2, 4, 8)
ROWS = [
    "Weights read",
    "KV cache read",
    "Read at peak bandwidth",
    "Matmuls",
    "Attention",
    "All-reduces",
    "Step, lower bound",
    "Step, estimate",
    "Largest batch",
    "Smallest compute-bound batch",
    "No batch is compute-bound beyond a context of",
    "Tokens/s per user, at most",
    "Tokens/s per GPU, decode alone, at most",
]
WORDS = {
    "unfit": "does not fit",
    "single": "per step: one token",
    "step": "per step: {} tokens, one per sequence",
    "holds": "{} of weights per GPU",
    "at": "at {}",
    "math": "FLOPs: {}",
    "arithmetic": "FLOPs: {}, {} of the step",
    "comm": "all-reduces: {}",
    "reduces": "{} all-reduces: {}",
    "weights": "weights",
    "cache": "1 KV cache: {}",
    "caches": "{} KV caches: {}",
    "each": "each {}",
    "everywhere": "each {}, on every GPU",
    "hit": "{} of {} experts per layer",
    "unread": "not read: {}",
    "kept": "kept free",
    "gpu": "GPU {}",
    "many": "{} × {}",
    "hbm": "{}",
    "estimate": "estimate {}",
    "measured": "measured {}",
    "context": "Context",
    "tokens": "{} tokens",
    "edge": "Edge of the KV caches: context",
    "more": "Edge of the KV caches: batch",
    "longer": "longer contexts",
    "further": "more sequences",
    "batch": "Batch",
    "sequence": "{} sequence",
    "sequences": "{} sequences",
    "outof": "beyond: memory full",
    "neverlong": "beyond {} tokens, no batch is compute-bound",
    "chart": "Time per step over batch",
    "fullat": "memory full at {}",
    "nonefit": "memory full",
    "ridge": "compute-bound from {}",
    "reading": "HBM reads",
    "computing": "FLOPs",
    "likely": "estimate",
    "run": "measured",
    "pick": "{}: show this run",
    "toolarge": "The weights take {} per GPU, and {} can be used: <b>they do not fit</b>. Shard them over more GPUs or "
    "store them in fewer bits.",
    "reads": "A step reads <b class=memory>{} of weights</b> and <b class=memory>{} of KV cache</b>.",
    "readsgpu": "In a step, each GPU reads <b class=memory>{} of weights</b> and <b class=memory>{} of KV cache</b>.",
    "fills": "Its FLOPs fill <b class=compute>{}</b> of the time.",
    "bound": "Its FLOPs take <b class=compute>{} times</b> as long as its reads: the step is compute-bound.",
    "full": "<b>The KV caches do not fit</b>: memory is full at a batch of {}.",
    "none": "<b>Not even one KV cache fits</b>.",
    "cost": "{} sequences take <b>{} times</b> as long as one.",
    "touched": "A layer reads {} of its {} experts, on average.",
    "neverever": "No batch makes this step compute-bound.",
    "never": "Beyond {} tokens of context, no batch is compute-bound.",
    "exposed": "All-reduces take <b class=scaleup>{}</b> of the step.",
    "ran": "{} measured {}, {} times the bound.",
    "takes": "{} in {}",
    "once": "read once for all sequences",
    "experts": "experts",
    "kv": "KV cache of a sequence",
    "own": "read for this sequence alone",
    "windows": "layers with a sliding window",
    "held": "not read in this step",
    "why": "for activations and CUDA graphs",
    "free": "free",
    "matmuls": "matmuls {}",
    "scores": "attention {}",
    "latency": "mostly latency",
    "state": "batch {}, context {}",
    "call": 'split_step("{}", "{}", gpus={}, batch={}, context={}, weights="{}", latency={})',
    "heads": ["Quantity", "Value"],
    "rows": ROWS,
}


def decode_stage(
    page: Mapping[str, Any],
    *,
    name: str,
    title: str,
    caption: str,
    model: str | None = None,
    gpu: str | None = None,
    weights: str = "bf16",
    gpus: int = 1,
    batch: int = 12,
    context: int = 8192,
    presets: Mapping[str, Mapping[str, Any]] | None = None,
) -> Card:
    """One step of decoding: ``page`` is what ``serving.decode_page`` gives for models, GPUs and measured runs.

    It opens on ``model`` (the first) on ``gpus`` of ``gpu``, with weights in the format ``weights``, and a batch of
    sequences of ``context`` tokens, when the head has read most of it. Returns a widget whose ``values`` hold model,
    gpu, weights, N, B, S.
    Raises ValueError for a model, a GPU, a format or a number of GPUs that it does not offer.
    """
    model, gpu = model or next(iter(page["models"])), gpu or next(iter(page["gpus"]))
    offered = {
        "model": (model, page["models"]),
        "gpu": (gpu, page["gpus"]),
        "weights": (weights, page["weights"]),
        "gpus": (gpus, GPUS),
    }
    for key, (value, of) in offered.items():
        if value not in of:
            raise ValueError(f"{name}: {key}: expected one of {', '.join(map(str, of))}; got {value}")
    return stage_figure(
        "decode",
        name=name,
        title=title,
        caption=caption,
        start={"model": model, "gpu": gpu, "weights": weights, "N": gpus}
        | {"B": batch, "more": batch, "S": context, "edge": context},
        text=[f"{page['models'][model]['name']}, {page['gpus'][gpu]['name']}: batch {batch}, context {context}"],
        choices={
            "model": ("Model", {key: each["name"] for key, each in page["models"].items()}),
            "gpu": ("GPU", {key: each["name"] for key, each in page["gpus"].items()}),
            "N": ("GPUs, tensor parallel", {n: str(n) for n in GPUS}),
            "weights": ("Weights", page["weights"]),
        },
        boxes=["gpu", "N", "weights"],
        presets=presets,
        within=dict.fromkeys(("B", "more"), (1, MOST["batch"]))
        | dict.fromkeys(("S", "edge"), (LEAST, MOST["context"])),
        counts=["B", "more", "S", "edge"],
        formulas=page["formulas"],
        units={"T": "s", "V": "B"},
        words=WORDS,
        data={
            "models": page["models"],
            "gpus": page["gpus"],
            "rows": page["rows"],
            "least": LEAST,
            "most": MOST,
            "times": TIMES,
        },
        at=0.85,
        python="from gpuscale.serving import split_step",
    )
