"""A plan of serving in words: the request in a line, the table for a terminal, the reasons."""

from __future__ import annotations

from gpuscale.core.html import aligned
from gpuscale.plan.typed import some
from gpuscale.serve.deployment import EXPECTED
from gpuscale.serve.requests import ServingRequest
from gpuscale.units import show

TIE = "="  # in front of a row that the expected rates cannot tell from the first
NAMES = {"tie": f"{TIE} tie", "rate": "tokens/s/GPU", "price": "$/M tokens", "hour": "$/hour"}
HEADS = (
    *("layout", "weights", "cache", "batch", "memory", NAMES["rate"], "at most"),
    *("TPOT", "at least", "gap p95", "TTFT", "TTFT p95", "load", NAMES["price"]),
)
FLEET = ("GPUs", NAMES["hour"])
LEFT = ("layout", "weights", "cache", "limited by")


def heading(ask: ServingRequest) -> str:
    """The request in a sentence."""
    cached = f", {ask.cached:,} of them cached" if ask.cached else ""
    limits = [
        f"{name} at most {show(limit, 's')}"
        for name, limit in (
            ("TTFT", ask.ttft),
            ("TTFT p95", ask.ttft_p95),
            ("TPOT", ask.tpot),
            ("gap p95", ask.gap_p95),
        )
        if limit < float("inf")
    ]
    if ask.chunked:
        cached += f" in chunks of {ask.chunk:,}"
    if ask.rate is not None:
        limits.append(f"{show(ask.rate)} requests/s")
    prompts = f"prompts of {some(ask.input, 'token')}{cached}, answers of {ask.output:,}"
    where = f"{ask.model.title} on {some(ask.gpus, ask.gpu.short)}"
    return f"{where}: {prompts}; {', '.join(limits) or 'no limits of latency'}"


def columns(plan, names=NAMES) -> list[str]:
    """What the columns mean, by their ``names`` in a table, and how far the expected numbers can be trusted."""
    used, kind = plan.engine, "of models with experts" if "experts" in plan.ask.model else "of models without experts"
    held = f"of {used.rows} published measurements {kind}, nine in ten were within a factor of {used.band:.2f}"
    if plan.ask.gpu.key in used.chips:
        expected = f"expected, with constants of measured engines; {held} of their estimate."
    else:
        expected = (
            f"expected, but no measurement behind the constants ran on the {plan.ask.gpu.short}: only bounds hold."
        )
    out = [
        f"{names['rate']}, TPOT, TTFT: {expected}",
        "at most, at least: bounds at data-sheet rates with this batch; no transfer between GPUs is hidden.",
        "batch: the most sequences that a replica decodes at a time, as TPOT, gap and a GPU's memory assume.",
        "gap p95: 95% of the gaps between two steps of a sequence are this short or shorter.",
        "TTFT: the mean, queue included. TTFT p95: 95% of the requests have this TTFT or a shorter one.",
    ]
    split = any(row.prefill for row in plan.rows)
    if split:
        out.append("A → B: replicas of layout A prefill, and replicas of layout B decode.")
    of_these = "; in rows with an arrow, that of the prefill GPUs" if split else ""
    planned = "load: the planned request rate, as a fraction of the largest that the replicas could serve"
    out.append(f"{planned}{of_these}.")
    if any(tied(plan)):
        out.append(
            f"{names['tie']}: less than a factor of {used.band:.2f} from the first row, so either may be faster."
        )
    if plan.ask.rate is not None:
        needed = f"what {show(plan.ask.rate)} requests per second need at that load or below it"
        out.append(f"layout, GPUs, {names['hour']}: {needed}.")
    if plan.ask.price is not None:
        at = "load" if plan.ask.rate is None else "rate"
        cost = f"{names['price']}: of output at that {at}, prefill included, at {plan.ask.price:.2f} USD per GPU-hour"
        out.append(f"{cost}{_listed(plan.ask)}.")
    return [*out, "limited by: what keeps the throughput from being higher."]


def tied(plan) -> list[bool]:
    """Which rows the error band cannot tell from the first, which is one of them if there are others."""
    best = plan.rows[0].per_gpu[EXPECTED] if plan.rows else 0
    same = [row.per_gpu[EXPECTED] * plan.engine.band > best for row in plan.rows]
    return same if sum(same) > 1 else [False] * len(same)


def _listed(ask) -> str:
    """Where a price comes from that the request left to the data."""
    if ask.price != ask.gpu.get("price_per_hour"):
        return ""
    known = ask.gpu.spec("price_per_hour")
    return f", the {known.basis.removesuffix(', per GPU')} of {known.date}; give your own price if you have one"


def format_name(name: str) -> str:
    """A format in words."""
    return name.replace("_", " ")


def rate(value: float) -> str:
    """Tokens per second."""
    return show(value, "count" if value >= 100 else "1")


def layout(row) -> str:
    """The replicas and their layout: "2 x TP 4", or "4 x one GPU → 1 x TP 4" if prefill has replicas of its own."""
    fleet = row.fleet
    counts = (fleet.prefill, fleet.replicas) if fleet else (row.prefill and row.prefill.count, row.decode.count)
    parts = [(n, one.layout) for n, one in zip(counts, (row.prefill, row.decode), strict=True) if one is not None]
    return " → ".join(f"{n} × {words}" if n > 1 else words for n, words in parts)


def heads(plan) -> tuple[str, ...]:
    """The heads of the terminal's table."""
    return ("", *HEADS, *(FLEET if plan.ask.rate else ()), "limited by")


def cells(row, tie: bool) -> list[str]:
    """A row of the terminal's table."""
    own = row.decode
    price = "" if row.price is None else f"{row.price[EXPECTED]:.2f}"
    fleet = []
    if row.fleet:
        fleet = [f"{row.fleet.gpus:,}", "" if row.fleet.hour is None else f"{row.fleet.hour:,.2f}"]
    return [
        TIE if tie else "",
        *(layout(row), format_name(own.weights), format_name(own.cache), f"{own.batch:,}", show(own.memory, "B")),
        *(rate(row.per_gpu[EXPECTED]), rate(row.per_gpu[0]), show(row.token[EXPECTED], "s"), show(row.token[0], "s")),
        *(show(row.gap[EXPECTED], "s"), show(row.first[EXPECTED], "s"), show(row.tail, "s")),
        *(show(row.queue.load, "%"), price, *fleet, row.binds),
    ]


def deployments(plan) -> list[str]:
    """The lines of the terminal's table."""
    names = heads(plan)
    return aligned([names, *map(cells, plan.rows, tied(plan))], tuple(names.index(name) for name in LEFT))


def text(plan, why: bool = False) -> str:
    """The plan for a terminal."""
    lines = [heading(plan.ask), "", *columns(plan), "", *deployments(plan)]
    lines += ["", f"{plan.tried:,} deployments tried; the best batch of each layout and format is shown."]
    if why:
        lines += ["", "Why other layouts are excluded (how many, with one example):"] if plan.rejected else []
        lines += [f"  {reason.count:,}: {reason.words}" for reason in plan.rejected]
    return "\n".join(lines)
