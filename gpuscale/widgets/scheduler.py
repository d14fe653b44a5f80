"""Continuous batching that one can watch: requests in the slots of a batch, blocks of the KV cache, and the queue.

The page schedules requests as ``emulate.requests`` does; what a step costs, and the rate from which the queue grows,
are the formulas that come with the page (``serving.scheduler_page``).
"""

from collections.abc import Mapping
from typing import Any

from gpuscale.symbols import T
from gpuscale.units import ms, s
from gpuscale.widgets.card import Card
from gpuscale.widgets.stage import stage_figure

SPAN, WINDOW = 30.0, 1.5  # seconds that are played, and that the lanes show
WARM = 2.0  # seconds at the start that the mean batch leaves out
WHOLE = 8192  # a chunk so large that prompts are prefilled whole
PAGE = 16  # tokens of a block
BACKLOG = 256  # requests of which static batches are made, to count their rate
DRAW = {"seed": 7, "most": 4000, "group": 200}
BOUNDS = {"rate": (0.5, 100), "S_in": (16, 16384), "S_out": (8, 2048), "slots": (4, 256), "chunk": (64, WHOLE)}
KINDS = {"static": "static", "continuous": "continuous"}
# What each preset changes in the opening state, and the moment at which it shows: the end of a static batch, prompts
# that hold up all sequences, evictions
PRESETS = {
    "Static batches": ({"kind": "static"}, 0.377),
    "Long prompts, no chunks": ({"S_in": 6000, "rate": 4, "chunk": WHOLE}, 0.27),
    "KV cache full": ({"S_in": 4000, "S_out": 900, "slots": 96, "chunk": 1024, "rate": 8}, 0.953),
}
WORDS = {
    "average": "one request, on average",
    "request": "one request",
    "prompt": "prompt: {} tokens",
    "answer": "answer: {} tokens",
    "slots": "{} slots",
    "waiting": "{} requests in the queue",
    "waits": "{} request in the queue",
    "empty": "queue empty",
    "weights": "weights",
    "kv": "KV cache",
    "full": "{} full",
    "usable": "usable",
    "steps": "Time of each step",
    "now": "{}, {} sequences decode",
    "idle": "idle",
    "chunk": "chunk",
    "off": "whole prompts",
    "whole": "whole prompts",
    "ttft": "Time to first token",
    "percentiles": "median {}, 95th percentile {}",
    "p95": "95th percentile {}",
    "at": "now: {}",
    "queued": "Requests in the queue, whole run",
    "rates": "Arrival rate",
    "rate": "{} requests/s",
    "kindlimit": "{}: {}/s",
    "tokens": "{} tokens",
    "mean": "Mean batch, of {} slots",
    "meanafter": "Mean batch after the first {}, of {} slots",
    "little": "Little’s law, in the long run: {} at {} per step",
    "nolaw": "static batches: slots of finished answers stay empty",
    "nosteady": "no steady state: the queue grows",
    "cheap": "A step with {} sequences takes <b>{} times</b> as long as one with a single sequence.",
    "upto": "Continuous batching sustains <b>{}</b> requests/s, until it runs out of {}.",
    "staticupto": "Static batching sustains <b>{}</b> requests/s.",
    "keeps": "The queue stays short.",
    "grows": "At {} requests/s, <b class=wait>the queue grows without bound</b>.",
    "stalls": "The longest step so far took <b>{}</b>: a whole prompt holds up all sequences.",
    "lost": "{} sequences were evicted from the KV cache and recomputed.",
    "lostone": "{} sequence was evicted from the KV cache and recomputed.",
    "why": {
        "slots": "<b>slots</b>",
        "cache": "<b class=memory>KV cache</b>",
        "prompts": "<b class=compute>FLOP/s for prompts</b>",
        "chunk": "<b class=compute>chunks</b>, one per step",
    },
    "until": "Counted in the first {}",
    "kinds": KINDS,
    "rows": [
        "Time to first token, median",
        "Time to first token, 95th percentile",
        "Time per output token, median",
        "Time per output token, 95th percentile",
        "Output tokens per second",
        "Mean batch",
        "Largest arrival rate per second",
    ],
    "handles": {
        "S_in": "Prompt length",
        "S_out": "Answer length",
        "slots": "Slots of the batch",
        "f": "Fraction of the HBM that may be used",
        "chunk": "Prompt tokens per step",
        "rate": "Requests per second",
    },
    "number": "request {}",
    "inout": "prompt {}, answer {}",
    "firstafter": "first token after {}",
    "waited": "no token for {}",
    "keptslot": "finished; its slot waits for the batch",
    "chunkcall": "{} / ({} * {})",
    "staticcall": 'static_rate(step_time("{}", "{}", {}, weights="{}", latency={}), draw({}, {}, {}), '
    "prompt={}, answer={}, slots={}, pool={}, backlog={})",
}


def scheduler_stage(
    page: Mapping[str, Any],
    *,
    name: str,
    title: str,
    caption: str,
    machine: str | None = None,
    kind: str = "continuous",
    rate: float = 20,
    prompt: int = 1000,
    answer: int = 200,
    slots: int = 32,
    chunk: int = 512,
    usable: float = 0.9,
    at: float = 0.74,
) -> Card:
    """Requests at ``rate`` per second on ``machine`` of ``page``, which ``serving.scheduler_page`` gives.

    Prompts and answers have ``prompt`` and ``answer`` tokens on average; a batch has ``slots``, a step takes ``chunk``
    tokens of prompts, and the engine may use the fraction ``usable`` of the HBM. ``kind`` is "continuous" or "static".
    Its presets change these as PRESETS says. Returns a widget whose ``values`` hold machine, kind, rate, S_in, S_out,
    slots, chunk, f.
    Raises ValueError for a machine or a kind that it does not offer, and for numbers out of range.
    """
    machine = machine or next(iter(page["machines"]))
    for key, value, of in (("machine", machine, page["machines"]), ("kind", kind, KINDS)):
        if value not in of:
            raise ValueError(f"{name}: {key}: expected one of {', '.join(of)}; got {value}")
    start = {"rate": rate, "S_in": prompt, "S_out": answer, "slots": slots, "chunk": chunk}
    for key, (least, most) in BOUNDS.items():
        if not least <= start[key] <= most:
            raise ValueError(f"{name}: {key}: expected {least} to {most}; got {start[key]}")
    whole = {"machine": machine, "kind": "continuous", **start, "f": usable}
    return stage_figure(
        "scheduler",
        name=name,
        title=title,
        caption=caption,
        start={"machine": machine, "kind": kind, **start, "f": usable},
        text=[f"{kind} batching on {page['machines'][machine]['name']}: {rate} requests/s, {slots} slots"],
        choices={
            "kind": ("Batching", KINDS),
            "machine": ("Model and GPUs", {key: each["name"] for key, each in page["machines"].items()}),
        },
        presets={label: whole | changes for label, (changes, _) in PRESETS.items()},
        moments={label: moment for label, (_, moment) in PRESETS.items()},
        within=BOUNDS | {"f": (0.25, 0.95)},
        counts=[key for key in BOUNDS if key != "rate"],
        formulas=page["formulas"],
        units={"T": T.unit},
        words=WORDS,
        data={
            "machines": page["machines"],
            "span": SPAN,
            "window": WINDOW,
            "warm": WARM,
            "whole": WHOLE,
            "page": PAGE,
            "draw": DRAW,
            "backlog": BACKLOG,
            "peaks": [16 * ms, 64 * ms, 256 * ms],
            "ticks": [5 / 16, 10 / 16, 15 / 16],
            "first": [1 * ms, 30 * s],
            "decades": [1 * ms, 10 * ms, 100 * ms, 1 * s, 10 * s],
        },
        at=at,
        python="from gpuscale.emulate.requests import draw, static_rate\n"
        "from gpuscale.serving import largest_rate, step_time",
    )
