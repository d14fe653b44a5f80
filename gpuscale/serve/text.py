"""A plan of serving in words: the request in a line, the table for a terminal, the reasons."""

from __future__ import annotations

from gpuscale.core.html import aligned
from gpuscale.plan.typed import some
from gpuscale.serve.requests import ServingRequest
from gpuscale.units import show

EXPECTED = 1  # of the pairs of numbers: the bound, and the expected one
HEADS = (
    *("layout", "weights", "cache", "batch", "memory", "tokens/s/GPU", "at most"),
    *("TPOT", "at least", "TTFT", "p95", "load", "$/M tokens", "what binds"),
)
LEFT = (0, 1, 2, 13)


def heading(ask: ServingRequest) -> str:
    """The request in a sentence."""
    cached = f", {ask.cached:,} of them cached" if ask.cached else ""
    limits = [
        f"{name} at most {show(limit, 's')}"
        for name, limit in (("TTFT", ask.ttft), ("TPOT", ask.tpot))
        if limit < float("inf")
    ]
    prompts = f"prompts of {some(ask.input, 'token')}{cached}, answers of {ask.output:,}"
    where = f"{ask.model.title} on {some(ask.gpus, ask.gpu.short)}"
    return f"{where}: {prompts}; {', '.join(limits) or 'no limits of latency'}"


def columns(plan) -> list[str]:
    """What the columns mean, and how far the expected numbers can be trusted."""
    used, kind = plan.engine, "with experts" if "experts" in plan.ask.model else "without experts"
    held = f"of {used.rows} published rows of models {kind}, nine in ten were within a factor of {used.band:.2f}"
    if plan.ask.gpu.key in used.chips:
        expected = f"expected, with constants of measured engines; {held} of their estimate."
    else:
        expected = (
            f"expected, but no published row behind the constants ran on the {plan.ask.gpu.short}: only bounds hold."
        )
    out = [
        f"tokens/s/GPU, TPOT, TTFT: {expected}",
        "at most, at least: bounds at data-sheet rates, for an engine that hides no transfer between GPUs.",
        "batch: sequences that a replica decodes at a time. TTFT of colocated replicas excludes the queue.",
    ]
    if any(row.prefill for row in plan.rows):
        out += [
            "A → B: replicas of layout A prefill, and replicas of layout B decode. TTFT: mean, with the queue.",
            "load: fraction of the time in which prefill GPUs work. p95: 95% of the requests have a shorter TTFT.",
        ]
    if plan.ask.price is not None:
        cost = f"$: output tokens at full load, prefill included, at {plan.ask.price:.2f} USD per GPU-hour"
        out.append(f"{cost}{_listed(plan.ask)}.")
    return out


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
    parts = [one for one in (row.prefill, row.decode) if one is not None]
    return " → ".join(f"{one.count} × {one.layout}" if one.count > 1 else one.layout for one in parts)


def cells(row) -> list[str]:
    """A row of the terminal's table."""
    own = row.decode
    price = "" if row.price is None else f"{row.price[EXPECTED]:.2f}"
    tail, load = ("", "") if row.queue is None else (show(row.tail, "s"), show(row.queue.load, "%"))
    return [
        *(layout(row), format_name(own.weights), format_name(own.cache), f"{own.batch:,}", show(own.memory, "B")),
        *(rate(row.per_gpu[EXPECTED]), rate(row.per_gpu[0]), show(row.token[EXPECTED], "s"), show(row.token[0], "s")),
        *(show(row.first[EXPECTED], "s"), tail, load, price, row.binds),
    ]


def text(plan, why: bool = False) -> str:
    """The plan for a terminal."""
    lines = [heading(plan.ask), "", *columns(plan), ""]
    lines += aligned([HEADS, *map(cells, plan.rows)], LEFT)
    lines += ["", f"{plan.tried:,} deployments tried; the best batch of each layout and format is shown."]
    if why:
        lines += ["", "Why other layouts are excluded (each reason with one example):"]
        lines += [f"  {reason.count:,}: {reason.words}" for reason in plan.rejected]
    return "\n".join(lines)
