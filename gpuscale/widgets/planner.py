"""The planner of the page: a map of layouts, and one of them opened into its times, its lanes and its memory.

The page's script searches as ``plan`` does (``static/layouts.js``), with the programs that the library prints for it
(``plan.scripts``), and draws what it finds (``static/planner.js``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpuscale.core.formula import Formula
from gpuscale.units import day
from gpuscale.widgets.card import Card
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

ANY = "any"
KI = 2**10
GPUS, BATCH, LENGTHS = (8, 2**15), (128 * KI, 128 * KI**2), tuple(KI * 2**i for i in range(1, 8))
KEPT = ("none", "selective", "full")
RUNS, RUN = (1, 2, 5, 15, 30), 15  # trillions of tokens of a run
T = 10**12
WORDS = {
    "scan": {"gpus": "GPUs, and the MFU of the best plan", "batch": "tokens per batch, and the MFU"},
    "stop": {"gpus": "{} GPUs", "batch": "{} tokens per batch"},
    "reaches": "{}: MFU {}. The bottleneck is {}.",
    "none": "{}: no layout fits.",
    "unfit": "no fit",
    "alone": "arithmetic",
    "short": {"tp": "TP", "cp": "CP", "ep": "EP", "pp": "hops", "dp": "DP", "kernels": "kernels", "host": "launching"},
    "map": "Expected step time of the best plan",
    "inside": "TP inside a node",
    "across": "across nodes",
    "tp": "TP",
    "pp": "PP",
    "copies": "DP {}",
    "gpus": "GPUs",
    "cell": "TP {}, PP {}:",
    "full": "It needs {}, but a GPU has only {} for a plan.",
    "many": "The product is {} GPUs, more than there are.",
    "memory": "Memory of a GPU: {}",
    "room": "usable by a plan: {}",
    "kinds": {
        "weights": "weights",
        "gradients": "gradients",
        "optimizer": "optimizer",
        "activations": "activations",
        "working": "buffers",
    },
    "times": "Time of a step",
    "peak": "at peak (bound)",
    "reached": "at measured rates (bound)",
    "expected": "expected",
    "band": "band: {} to {}",
    "split": "Each stage: its memory, and when it works",
    "passes": "pale: forward passes, strong: backward",
    "crowd": "too many passes to draw",
    "stage": "Stage {}: {} layers, {} per GPU",
    "run": "{} tokens: {} days",
    "lasts": "A run of {} tokens takes {} days.",
    "lanes": ("Expected step: {} microbatch", "Expected step: {} microbatches"),
    "open": ", stage {}",
    "parts": {
        "compute": "compute",
        "tp": "TP",
        "cp": "CP, EP",
        "pp": "stage hops",
        "dp": "DP",
        "bubble": "bubble",
    },
    "next": "The best other layouts, and where they differ",
    "gap": ("{} longer", "{} shorter"),
    "tied": ("{}: a tie", "{}, within the error: a tie"),
    "loses": "{}: {}, here {}",
    "adds": "{}: {}, none here",
    "opened": "<b>{}</b>:",
    "takes": "a step is expected to take <b>{}</b>, at an MFU of {}.",
    "binds": "The bottleneck is <b class={}>{}</b>: {} of the step.",
    "arithmetic": "The bottleneck is arithmetic: {} of the step.",
    "hues": ("scaleout", "scaleup"),
    "hue": {
        "bubble": "wait",
        "host": "wait",
        "pp": "scaleout",
        "extra": "compute",
        "experts": "compute",
        "other": "memory",
    },
    "over": (" over the network", " over NVLink"),
    "extra": ("uneven stages", "recomputation"),
    "unlike": "No run of the calibration was like this plan, so the band is an estimate.",
    "nothing": "No layout fits. First recompute more, or shard more with ZeRO. Then add GPUs.",
    "unread": "This configuration cannot be planned.",
    "heads": ("Plan", "At peak", "At measured rates", "Expected", "MFU", "Memory"),
    "choice": {
        "tp": "TP {}",
        "sp": " + SP",
        "cp": "CP {}",
        "ep": "EP {}",
        "pp": "PP {}",
        "virtual": " × {}",
        "dp": "DP {}",
        "zero": "ZeRO-{}",
        "unsharded": "no ZeRO",
        "micro": "microbatch {}",
        "recompute": ("", *(f"{word} recomputation" for word in ("selective", "full", "attention"))),
    },
}


def planner_stage(
    given: Mapping[str, Any],
    formulas: Sequence[Formula],
    *,
    name: str,
    title: str,
    caption: str,
    start: Mapping[str, Any],
    config: str,
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    text: Sequence[str] = (),
) -> Card:
    """The planner: ``given`` is what ``plan.page.page_data`` returns, ``formulas`` are ``plan.page.FORMULAS``.

    It opens on ``start``: model, cluster and recipe by key, gpus, batch and seq in tokens, zero ("any" or "0" to "3")
    and recompute ("any" or "0" to "2"). ``config`` is the configuration that can be edited or pasted over.
    Raises ValueError for a start whose model, cluster or recipe is not given.
    """
    for kind in ("model", "cluster", "recipe"):
        if start[kind] not in (known := given[f"{kind}s"]):
            raise ValueError(f"{name}: {kind} {start[kind]!r}: expected one of {', '.join(known)}")
    titles = {kind: {key: one["title"] for key, one in given[f"{kind}s"].items()} for kind in ("model", "cluster")}
    zero = {ANY: "any"} | {str(stage): f"ZeRO-{stage}" if stage else "no ZeRO" for stage in range(4)}
    choices = {
        "model": ("model", titles["model"] | {"pasted": "from config.json"}),
        "cluster": ("cluster", titles["cluster"]),
        "seq": ("sequence", {n: f"{n:,}" for n in LENGTHS}),
        "recipe": ("number formats", {key: one["title"] for key, one in given["recipes"].items()}),
        "zero": ("ZeRO", zero),
        "recompute": ("recomputation", {ANY: "any"} | {str(i): word for i, word in enumerate(KEPT)}),
        "run": ("tokens of a run", {n * T: f"{n} T" for n in RUNS}),
    }
    return stage_figure(
        "planner",
        name=name,
        title=title,
        caption=caption,
        start=dict(start) | {"tp": 0, "pp": 0, "stage": 0, "config": config, "run": RUN * T},
        text=list(text),
        sliders={
            "gpus": Slider(*GPUS, start["gpus"], "power", label="GPUs"),
            "batch": Slider(*BATCH, start["batch"], "power", label="tokens per batch"),
        },
        choices=choices,
        boxes=list(choices),
        texts={"config": "config.json of a model"},
        within={"tp": (0, 64), "pp": (0, 64), "stage": (0, 63)},
        counts=["tp", "pp", "stage"],
        presets=presets,
        formulas={formula.name: formula for formula in formulas},
        units={"time": "s", "bytes": "B"},
        words=WORDS,
        data=dict(given) | {"day": day},
        copies={"json": "JSON", "csv": "CSV"},
        calls={"file": "config.json"},
        python="from gpuscale.plan import plan",
    )
