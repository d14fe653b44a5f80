"""The planner of serving of the page: a map of layouts, and one of them opened into its frontier, memory and times.

The page's script evaluates layouts as ``gpuscale.serve`` does (``static/deployments.js``), with formulas that the
library prints for it, and draws what it finds (``static/serve.js``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpuscale.core.formula import Formula
from gpuscale.widgets.card import Card
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

GPUS, INPUT, OUTPUT = (1, 64), (16, 100_000), (16, 16_000)
TTFT, TPOT = (0.01, 100), (0.001, 1)  # s; the largest value is no limit
DOWN = {"pp": "PP", "dpa": "DP attention"}
WORDS = {
    "map": "Output tokens/s per GPU, expected",
    "tp": "TP",
    "down": {"pp": "PP", "dpa": "DP"},
    "cell": "TP {}, {} {}:",
    "many": "The product is {} GPUs, more than there are.",
    "brief": {"many": "GPUs", "memory": "memory", "tpot": "TPOT", "ttft": "TTFT", "both": "limits"},
    "short": {"memory": "memory", "tpot": "TPOT", "ttft": "TTFT", "compute": "compute"},
    "out": {
        "memory": "One sequence needs {} of the {} that a GPU has for it.",
        "tpot": "TPOT is expected to be {} or more, above its limit.",
        "ttft": "TTFT is expected to be {} or more, above its limit.",
        "both": "No batch keeps both limits.",
        "layout": "{}.",
    },
    "none": "No layout keeps the limits.",
    "least": "The shortest TPOT that is expected is {}, and the shortest TTFT {}.",
    "nothing": "The model fits no layout: one sequence needs {} or more of the {} that a GPU has for it. "
    "Take more GPUs, or smaller formats.",
    "binds": {
        "memory": "<b class=memory>memory</b> for the KV cache: no larger batch fits",
        "tpot": "the limit on <b>TPOT</b>: a larger batch would exceed it",
        "ttft": "the limit on <b>TTFT</b>: a larger batch would exceed it",
        "compute": "<b class=compute>arithmetic</b>: a larger batch gives no more tokens",
    },
    "opened": "<b>{}</b>: each GPU is expected to give <b>{}</b> output tokens/s, with {} sequences per replica.",
    "token": "TPOT is expected to be {}, and is at least {}.",
    "first": "TTFT is expected to be {}, and is at least {}.",
    "price": "A million output tokens cost {} USD.",
    "bind": "What binds is {}.",
    "held": "Nine of ten of {} published rows of such models lay within a factor of {} of their estimate.",
    "layout": {"Y": "TP {}", "N_stages": "PP {}", "n_dpa": "DP attention {}", "n_ep": "EP {}"},
    "one": "one GPU",
    "times": "{} × {}",
    "plan": "{}: {} tokens/s per GPU",
    "memory": "Memory of a GPU",
    "weights": "weights {}",
    "caches": "KV cache {}",
    "free": "free {}",
    "kept": "reserved {}",
    "frontier": "Frontier: one curve per layout",
    "user": "tokens/s per user",
    "gpu": "tokens/s per GPU",
    "batch": "batch {}",
    "bound": "bound",
    "expected": "expected",
    "slower": "TPOT above {}",
    "rails": ("TTFT", "TPOT"),
    "range": "band {} to {}",
    "limit": "limit {}",
    "free_limit": "no limit",
    "handles": ("Limit on TTFT", "Limit on TPOT"),
    "heads": (
        *("Layout", "Batch", "Tokens/s per GPU", "At most", "TPOT", "At least", "TTFT"),
        *("Memory", "USD per M tokens", "What binds"),
    ),
}


def serve_stage(
    given: Mapping[str, Any],
    formulas: Sequence[Formula],
    *,
    name: str,
    title: str,
    caption: str,
    start: Mapping[str, Any],
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    text: Sequence[str] = (),
) -> Card:
    """The planner of serving: ``given`` is what ``serve.page.page_data`` returns, ``formulas`` are its FORMULAS.

    It opens on ``start``: model, gpu, weights and cache by key, gpus, input and output in tokens, ttft and tpot in
    seconds, where the largest of TTFT and TPOT is no limit.
    Raises ValueError for a start whose model, GPU or format is not given.
    """
    for key, group in {"model": "models", "gpu": "gpus", "weights": "formats", "cache": "formats"}.items():
        if start[key] not in given[group]:
            raise ValueError(f"{name}: {key} {start[key]!r}: expected one of {', '.join(given[group])}")
    formats = {key: key for key in given["formats"]}
    choices = {
        "model": ("model", {key: one["title"] for key, one in given["models"].items()}),
        "gpu": ("GPU", {key: one["title"] for key, one in given["gpus"].items()}),
        "weights": ("weights", formats),
        "cache": ("KV cache", {key: key for key in given["caches"]}),
        "down": ("rows of the map", DOWN),
    }
    return stage_figure(
        "serve",
        name=name,
        title=title,
        caption=caption,
        start={"down": "pp", "ttft": TTFT[1], "tpot": TPOT[1]} | dict(start) | {"tp": 0, "row": 0},
        text=list(text),
        sliders={
            "gpus": Slider(*GPUS, start["gpus"], "power", label="GPUs"),
            "input": Slider(*INPUT, start["input"], "two", label="prompt, tokens"),
            "output": Slider(*OUTPUT, start["output"], "two", label="answer, tokens"),
        },
        choices=choices,
        boxes=list(choices),
        within={"tp": (0, 64), "row": (0, 64), "ttft": TTFT, "tpot": TPOT},
        presets=presets,
        formulas={formula.name: formula for formula in formulas},
        units={"time": "s", "bytes": "B"},
        words=WORDS,
        data=dict(given) | {"ttft": TTFT, "tpot": TPOT},
        python="from gpuscale.serve import serve",
    )
