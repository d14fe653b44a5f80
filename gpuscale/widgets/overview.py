"""One layer of a model, split over GPUs in six ways: what each GPU stores, what it sends, and how long it is idle.

The page's script (``static/overview.js``) calls the formulas of ``llm.split_page``. Its clock has its twin in
``schedules.timelines.layer``.
"""

from collections.abc import Mapping
from typing import Any

from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

DEGREES, SEQUENCES, LENGTHS = (2, 8), (8, 256), (2048, 131072)
WORDS = {
    "split": "Split",
    "model": "Model",
    "seqs": "sequences per step",
    "length": "tokens per sequence",
    "degree": "GPUs",
    "tokens": "tokens",
    "weights": "weights",
    "attn": "attention",
    "up": "MLP in",
    "down": "MLP out",
    "experts": "{} experts",
    "knives": {"dp": "batch", "cp": "sequence", "tp": "width", "pp": "layers", "zero": "storage", "ep": "experts"},
    "knife": "{}: split the {}",
    "stored": "Weights per GPU: {} (memory {})",
    "repeated": {
        "dp": "repeated: all weights",
        "zero": "repeated: none, but gathered for a while",
        "tp": "repeated: tokens",
        "pp": "repeated: none",
        "cp": "repeated: all weights",
        "ep": "repeated: attention",
    },
    "copies": {
        "dp": "all weights",
        "zero": "none",
        "tp": "tokens",
        "pp": "none",
        "cp": "all weights",
        "ep": "attention",
    },
    "named": {
        "projections": "projections",
        "attention": "attention",
        "MLP": "MLP",
        "gradients": "gradients",
        "weights": "weights",
        "activations": "activations",
        "keys and values": "keys and values",
        "tokens": "tokens",
    },
    "gpu": "GPU {}",
    "wire": "{}, {}",
    "moves": {
        "dp": "all-reduce of gradients",
        "zero": "all-gather of weights, reduce-scatter of gradients",
        "tp": "all-reduce of activations",
        "pp": "activations to the next stage",
        "cp": "ring of keys and values, all-reduce of gradients",
        "ep": "all-to-all of tokens, all-reduce of gradients",
    },
    "axis": {
        "dp": "tokens per GPU",
        "zero": "tokens per GPU",
        "tp": "GPUs",
        "pp": "microbatches",
        "cp": "tokens of a sequence per GPU",
        "ep": "width of an expert",
    },
    "marks": {
        "dp": "matmuls alone hide it from {}",
        "zero": "matmuls alone hide it from {}",
        "tp": "shorter than the arithmetic up to {}",
        "pp": "bubble below a tenth from {}",
        "cp": "attention hides keys and values from {}",
        "ep": "shorter than the arithmetic from {}",
    },
    "arithmetic": "arithmetic of one layer on one GPU",
    "idle": "idle {}",
    "never": "never idle",
    "sent": "{} per layer",
    "forward": "forward {}",
    "backward": "backward {}",
    "bubble": "bubble",
    "pass": "{}, {}",
    "passes": ["forward", "backward"],
    "at": "{} of {}",
    "says": {
        "dp": "<b>Data parallelism</b> splits the batch and repeats all weights.",
        "zero": "<b>ZeRO-3</b> splits the batch, and each GPU stores a part of each matrix. "
        "It gathers the rest when it needs them.",
        "tp": "<b>Tensor parallelism</b> splits each matrix and repeats the tokens.",
        "pp": "<b>Pipeline parallelism</b> splits the layers. Every microbatch passes through all GPUs.",
        "cp": "<b>Context parallelism</b> splits each sequence and repeats all weights.",
        "ep": "<b>Expert parallelism</b> splits the experts and the batch, and repeats the attention weights.",
    },
    "over": "its own NIC",
    "sends": "With {}, a GPU sends {} per layer and {} per step over {}.",
    "pays": {
        "dp": "Its matmuls alone hide that with {} or more tokens per GPU; here a GPU has {}.",
        "zero": "Its matmuls alone hide that with {} or more tokens per GPU; here a GPU has {}.",
        "tp": "The forward transfers take less time than the arithmetic up to {} GPUs; here there are {}.",
        "pp": "The bubble is below a tenth with {} or more microbatches; here there are {}.",
        "cp": "Attention alone hides keys and values with {} or more tokens of a sequence per GPU; here a GPU has {}.",
        "ep": "The experts take longer than the all-to-alls if they are at least {} wide; here they are {}.",
    },
    "waits": "The GPU is <b class='wait'>idle {}</b> of the time.",
    "works": "The GPU is never idle.",
    "columns": ["Split", "Sends", "Per layer", "Threshold"],
    "moved": {
        "dp": "gradients",
        "zero": "weights twice, gradients once",
        "tp": "activations",
        "pp": "activations",
        "cp": "keys and values, gradients",
        "ep": "tokens, gradients",
    },
    "by": {
        "dp": "all-reduce over {}",
        "zero": "all-gather, reduce-scatter over {}",
        "tp": "all-reduce over {}",
        "pp": "to the next stage over {}",
        "cp": "ring, all-reduce over {}",
        "ep": "all-to-all, all-reduce over {}",
    },
    "perstep": "{} per step",
    "from": {
        "dp": "{} tokens per GPU",
        "zero": "{} tokens per GPU",
        "tp": "at most {} GPUs",
        "pp": "{} microbatches",
        "cp": "{} tokens per GPU",
        "ep": "width of {}",
    },
    "here": ["✗ here {}", "✓ here {}"],
    "heads": ["Split", "Repeated", "Link", "Per layer", "Per step", "Threshold", "Here", "Idle"],
}


def overview_stage(
    page: Mapping[str, Any],
    *,
    name: str,
    title: str,
    caption: str,
    cut: str = "dp",
    n: int = 4,
    seqs: int = 16,
    S: int = 8192,
    at: float = 0.5,
):
    """One layer split in six ways: ``page`` is what ``llm.split_page`` gives for its models and GPUs.

    It opens on the first model, the split ``cut`` over ``n`` GPUs, and ``seqs`` sequences of ``S`` tokens per step.
    Returns a widget whose ``values`` hold them. Raises ValueError for another split, or a degree that it does not draw.
    """
    data = page["data"]
    if cut not in data["splits"]:
        raise ValueError(f"{name}: cut: expected one of {', '.join(data['splits'])}; got {cut}")
    if n not in (2, 4, 8):
        raise ValueError(f"{name}: n: expected 2, 4 or 8; got {n}")
    return stage_figure(
        "overview",
        name=name,
        title=title,
        caption=caption,
        start={"cut": cut, "model": 0, "n": n, "seqs": seqs, "S": S, "C": page["C"]},
        text=[f"{each['name']}: {WORDS['moves'][key]} over {each['link']}" for key, each in data["splits"].items()],
        choices={
            "cut": (WORDS["split"], {key: each["name"] for key, each in data["splits"].items()}),
            "model": (WORDS["model"], {i: each["name"] for i, each in enumerate(data["models"])}),
        },
        sliders={
            "n": Slider(*DEGREES, n, "power", label=WORDS["degree"]),
            "seqs": Slider(*SEQUENCES, seqs, "power", label=WORDS["seqs"]),
            "S": Slider(*LENGTHS, S, "power", label=WORDS["length"]),
        },
        formulas=page["formulas"],
        units={"V": "B", "T": "s", "W": "B/s"},
        words=WORDS,
        data={**data, "bounds": {"n": DEGREES, "seqs": SEQUENCES, "S": LENGTHS}},
        at=at,
        python="from gpuscale.collectives import all_gather_bytes, all_reduce_bytes, top_k_dispatch\n"
        "from gpuscale.llm import block_activations, dp_traffic, gathered_kv_held, hop_bytes, zero3_traffic",
    )
