"""A plan of serving in words: the request in a line, the table for a terminal, the reasons."""

from __future__ import annotations

from gpuscale.core.html import aligned
from gpuscale.plan.typed import some
from gpuscale.serve.requests import ServingRequest
from gpuscale.units import show

EXPECTED = 1
HEADS = (
    *("layout", "weights", "cache", "replicas", "batch", "memory"),
    *("tokens/s per GPU", "bound", "TPOT", "bound", "TTFT", "$ per M tokens", "what binds"),
)
LEFT = (0, 1, 2, 12)


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


def rate(value: float) -> str:
    """Tokens per second."""
    return show(value, "count" if value >= 100 else "1")


def cells(row) -> list[str]:
    """A row of the table."""
    own, other = row.decode, row.prefill
    layout = own.layout if other is None else f"{other.layout} → {own.layout}"
    count = str(own.count) if other is None else f"{other.count} + {own.count}"
    price = "" if row.price is None else f"{row.price[EXPECTED]:.2f}"
    return [
        *(layout, own.weights, own.cache, count, f"{own.batch:,}", show(own.memory, "B")),
        *(rate(row.per_gpu[EXPECTED]), rate(row.per_gpu[0]), show(row.token[EXPECTED], "s"), show(row.token[0], "s")),
        *(show(row.first[EXPECTED], "s"), price, row.binds),
    ]


def text(plan, why: bool = False) -> str:
    """The plan for a terminal."""
    lines = [heading(plan.ask), ""]
    lines += aligned([HEADS, *map(cells, plan.rows)], LEFT)
    lines += ["", f"{plan.tried:,} deployments tried; the best batch of each layout and format is shown."]
    if why:
        lines += ["", "Why other layouts are excluded (each reason with one example):"]
        lines += [f"  {reason.count:,}: {reason.words}" for reason in plan.rejected]
    return "\n".join(lines)
