"""One GPU's memory as a column whose blocks are sharded, recomputed or offloaded, and the same column over a step.

The page's script (``static/bytes.js``) calls the planner's own formulas (``plan.memory_parts``). Its timeline has its
twin in ``schedules.timelines.stored``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuscale.symbols import S
from gpuscale.units import GB, show
from gpuscale.widgets.card import Card
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

MOST = {"dp": 64, "tp": 8, "pp": 16, "cp": 16}
SHORTEST, LONGEST = 2**12, 2**17  # tokens of a sequence
WORDS = {
    "names": {
        "weights": "weights",
        "gradients": "gradients",
        "optimizer": "optimizer",
        "master": "master copy",
        "momentum": "momentum",
        "variance": "variance",
        "activations": "activations",
        "logits": "logits",
        "recomputed": "recomputed",
        "buffers": "buffers",
    },
    "kept": {"mlp": "MLP", "attention": "attention", "norms": "norms"},
    "acts": {
        **dict.fromkeys(("weights", "gradients"), "Press to shard it or to store it whole."),
        **dict.fromkeys(("master", "momentum", "variance"), "Press to shard the optimizer or to store it whole."),
        **dict.fromkeys(("activations", "recomputed"), "Press to recompute more or less."),
    },
    "why": {
        "logits": "logits and last norm",
        "recomputed": "all activations of the layer at work",
        "buffers": "gathered layers and the gradients of one",
    },
    "me": "this GPU, 0",
    "rows": {"dp": "data × {}", "tp": "tensor × {}", "pp": "pipeline × {}", "cp": "context × {}"},
    "what": {"tp": "parts of matrices", "pp": "some layers each", "cp": "parts of sequences"},
    "copies": ["whole copies", "optimizer sharded", "gradients too", "all state sharded"],
    "handles": {
        "dp": "Data-parallel replicas",
        "tp": "Tensor-parallel ranks",
        "pp": "Pipeline stages",
        "cp": "Context-parallel ranks",
    },
    "host": "host memory",
    "offload": {"optimizer": "offload optimizer", "activations": "offload activations"},
    "short": {"optimizer": "optimizer", "activations": "activations"},
    "forward": "forward",
    "backward": "backward",
    "update": "optimizer",
    "passes": "{} microbatches: forward, backward",
    "passesShort": "{} microbatches",
    "peak": "peak {}",
    "at": "{} of {}",
    "per": "{} billion parameters × {}",
    "over": " / {} replicas",
    "layered": "at most {} layers × {} per microbatch in flight",
    "fits": "The peak of <b class=memory>{}</b> fits, with {} to spare. ",
    "full": "The peak of <b class=memory>{}</b> does not fit into {}. ",
    "alone": "There is one copy of the training state. ",
    "repeated": "The {} replicas of this rank store {} of training state, where {} would hold each byte once. ",
    "once": "The {} replicas of this rank store {} of training state, each byte once. ",
    "move": "On these GPUs, {} saves most: {}.",
    "moves": {
        "zero": ["sharding the optimizer", "sharding the gradients as well", "sharding the weights as well"],
        "recompute": "recomputing every layer",
        "host_optimizer": "offloading the optimizer",
    },
    "heads": ["Part", "At the peak", "Now"],
    "total": "all",
    "call": 'gpu_bytes("{}", seq={}, dp={}, tp={}, pp={}, cp={}, zero={}, recompute="{}", recipe="{}"{}).memory',
    "away": ", offload=[{}]",
}


def bytes_stage(page: Mapping[str, Any], *, name: str, title: str, caption: str) -> Card:
    """The memory of a GPU in training, to shard, recompute and offload: ``page`` is what ``plan.memory_page`` gives.

    It opens on the first model without ZeRO, at its peak. Returns a widget whose ``values`` hold the inputs: model,
    zero, recompute, dp, tp, pp, cp, S, host_optimizer, host_activations.
    Raises ValueError for replicas that it cannot draw.
    """
    dp, seq = page["start"]["dp"], page["start"]["S"]
    if not 1 <= dp <= MOST["dp"] or dp & (dp - 1):
        raise ValueError(f"{name}: dp: expected a power of two up to {MOST['dp']}; got {dp}")
    start = {"model": next(iter(page["models"])), "zero": 0, "recompute": 0, "dp": dp, "tp": 1, "pp": 1, "cp": 1}
    return stage_figure(
        "bytes",
        name=name,
        title=title,
        caption=caption,
        start=start | {"S": seq, "host_optimizer": 0, "host_activations": 0},
        text=_text(page),
        sliders={S: Slider(SHORTEST, LONGEST, seq, "power", label="tokens of a sequence")},
        choices={
            "model": ("Model", page["labels"]),
            "zero": ("ZeRO", {0: "no ZeRO", **{i: f"ZeRO-{i}" for i in (1, 2, 3)}}),
            "recompute": ("Activations", dict(enumerate(("store all", "recompute cheap parts", "recompute layers")))),
        },
        within={name: (1, most) for name, most in MOST.items()}
        | {"host_optimizer": (0, 1), "host_activations": (0, 1)},
        formulas={"values": page["script"]},
        units={"S": S.unit, "time": "s"},
        words=WORDS,
        data={k: page[k] for k in ("models", "sizes", "perParameter", "recipe", "recompute", "keep", "hbm")}
        | {"most": MOST, "ruler": 100 * GB, "memory": show(page["hbm"], "B", short=True)},
        python="from gpuscale.plan import gpu_bytes",
        at=page["at"],
    )


def _text(page: Mapping[str, Any]) -> list[str]:
    """What a GPU stores by ZeRO stage."""
    lines = []
    for zero, found in enumerate(page["stored"]):
        parts = ", ".join(f"{k} {show(v, 'B')}" for k, v in found.items() if v and k != "memory")
        lines.append(f"{f'ZeRO-{zero}' if zero else 'no ZeRO'}: {show(found['memory'], 'B')}; {parts}")
    return lines
