"""The planner of serving of the page: a map of layouts, and one of them opened into its frontier, memory and times.

The page's script evaluates layouts as ``gpuscale.serve`` does (``static/serving_costs.js``), with formulas that the
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
PREFIX, CHUNK, RATE = (10, 100_000), (32, 16_384), (0.1, 1000)  # tokens, requests/s; the least value is none
ACCEPTED = {f"a{i}": start for i, start in enumerate((0.8, 0.7, 0.6, 0.5, 0.4), 1)}
MODES = {"colocated": "colocated", "disaggregated": "disaggregated", "both": "best of both"}
USUAL = {"down": "pp", "mode": "colocated", "ttft": TTFT[1], "tpot": TPOT[1], "prefix": 0, "hit": 1, "draft": 0}
USUAL |= {"chunk": 0, "rate": 0}
USUAL |= ACCEPTED
DOWN = {"pp": "PP", "dpa": "DP attention"}
WORDS = {
    "map": "Output tokens/s per GPU, expected",
    "tp": "TP",
    "down": {"pp": "PP", "dpa": "DP"},
    "cell": "TP {}, {} {}:",
    "many": "The product is {} GPUs, more than there are.",
    "brief": {"many": "GPUs", "memory": "memory", "tpot": "TPOT", "ttft": "TTFT", "both": "limits", "all": "all GPUs"},
    "short": {
        "memory": "memory",
        "tpot": "TPOT",
        "ttft": "TTFT",
        "compute": "compute",
        "prefill": "prefill",
        "decode": "decode",
        "chunk": "chunks",
    },
    "out": {
        "memory": "One sequence needs {}, but a GPU has only {} for it.",
        "tpot": "TPOT is expected to be {} or more, above its limit.",
        "ttft": "TTFT is expected to be {} or more, above its limit.",
        "both": "No batch keeps both limits.",
        "layout": "{}.",
        "all": "A replica takes all GPUs, so none is left for prefill.",
    },
    "none": "No layout keeps the limits.",
    "least": "Loosen a limit: expect no TPOT below {}, and no TTFT below {}.",
    "nothing": "The model fits no layout: one sequence needs {} or more, but a GPU has only {} for it. "
    "Choose smaller formats, or more GPUs.",
    "binds": {
        "memory": "<b class=memory>memory</b> for the KV cache: no larger batch fits",
        "tpot": "<b>TPOT</b>: a larger batch would exceed its limit",
        "ttft": "<b>TTFT</b>: a larger batch or a higher load would exceed its limit",
        "compute": "<b class=compute>arithmetic</b>: a larger batch gives no more tokens",
        "prefill": "<b class=compute>prefill</b>: its GPUs are as busy as they may be",
        "chunk": "the <b>chunks</b>: in a larger batch, answers would end faster than chunks bring in prompts",
        "decode": "<b class=memory>decode</b>: its GPUs can't serve more requests",
    },
    "opened": "<b>{}</b>: expect <b>{}</b> output tokens/s per GPU, with up to {} sequences per replica.",
    "token": "With a full batch, TPOT is expected to be {}; its bound is {}.",
    "gap": "Expect 95% of the gaps between two steps to be {} or shorter.",
    "queued": "TTFT is expected to be {} on average, queue included; without, its bound is {}.",
    "tail": "For 95% of the requests, expect {} or less.",
    "crowd": "{} requests/s take {}: {} GPUs.",
    "bill": "{} requests/s take {}: {} GPUs, {} USD per hour.",
    "price": "A million output tokens cost {} USD, at {} USD per GPU-hour.",
    "bind": "Throughput is limited by {}.",
    "held": "Of {} published measurements of such models, nine in ten were within a factor of {} of the estimate.",
    "unmeasured": "No published measurement behind the estimate ran on the {}: only the bounds hold for it.",
    "layout": {"Y": "TP {}", "N_stages": "PP {}", "n_dpa": "DP attention {}", "n_ep": "EP {}"},
    "one": "one GPU",
    "times": "{} × {}",
    "ahead": "{} → {}",
    "gpus": "GPUs: prefill → decode",
    "together": "These replicas prefill and decode in turn.",
    "nosplit": "No split of the GPUs keeps the limits.",
    "prefilling": "{} prefill, {} busy",
    "decoding": "{} decode",
    "sent": "Each request hands over {} in {}.",
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
    "bounded": "at least {}",
    "limit": "limit {}",
    "free_limit": "no limit",
    "handles": ("Limit on TTFT", "Limit on TPOT"),
    "heads": (
        *("Layout", "Batch", "Tokens/s per GPU", "At most", "TPOT", "At least", "Gap, p95", "TTFT"),
        *("TTFT, p95", "Load", "Memory", "USD per M tokens", "Limited by"),
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
    seconds, where the largest of TTFT and TPOT is no limit; and what differs from USUAL, such as the ``mode``, the
    tokens of a cached ``prefix`` and the fraction ``hit`` of the requests that find it, the tokens of a ``draft`` or of
    a ``chunk``, and the ``rate`` of requests per second.
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
        "mode": ("deployment", MODES),
        "down": ("rows of the map", DOWN),
    }
    return stage_figure(
        "serve",
        name=name,
        title=title,
        caption=caption,
        start=USUAL | given["usual"] | dict(start) | {"tp": 0, "row": 0},
        text=list(text),
        sliders={
            "gpus": Slider(*GPUS, start["gpus"], "power", label="GPUs"),
            "input": Slider(*INPUT, start["input"], "two", label="prompt, tokens"),
            "output": Slider(*OUTPUT, start["output"], "two", label="answer, tokens"),
            "prefix": Slider(*PREFIX, PREFIX[0], "two", label="cached prefix, tokens"),
            "hit": Slider(0, 1, 1, "two", log=False, label="requests that find it", unit="%"),
            "chunk": Slider(*CHUNK, CHUNK[0], "two", label="chunk of a prompt, tokens"),
            "rate": Slider(*RATE, RATE[0], "two", label="peak hour, requests/s"),
            "draft": Slider(0, 5, 0, "step:1", log=False, label="draft tokens per step"),
            **{
                name: Slider(0, 0.99, start, "two", log=False, label=f"acceptance of draft token {i}", unit="%")
                for i, (name, start) in enumerate(ACCEPTED.items(), 1)
            },
            "drafted": Slider(
                0.01, 1, given["usual"]["drafted"], "two", label="draft token's time, of a step", unit="%"
            ),
            "load": Slider(0.05, 0.95, given["usual"]["load"], "two", log=False, label="load, at most", unit="%"),
        },
        choices=choices,
        boxes=list(choices),
        within={"tp": (0, 64), "row": (0, 64), "ttft": TTFT, "tpot": TPOT, "prefix": (0, PREFIX[1])}
        | {"chunk": (0, CHUNK[1]), "rate": (0, RATE[1])},
        presets=presets,
        formulas={formula.name: formula for formula in formulas},
        units={"time": "s", "bytes": "B", "part": "%"},
        words=WORDS,
        data=dict(given) | {"ttft": TTFT, "tpot": TPOT, "prefix": PREFIX, "chunk": CHUNK, "rate": RATE},
        copies={"json": "JSON", "csv": "CSV"},
        python="from gpuscale.serve import serve",
    )
