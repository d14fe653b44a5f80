"""A plan of serving as HTML: a table of the best deployments, the reasons folded below it."""

from __future__ import annotations

from gpuscale.core.html import Head, details, element, escape, table
from gpuscale.serve import text
from gpuscale.serve.deployment import EXPECTED
from gpuscale.units import show

_NAMES = {"tie": "tie", "rate": "tokens/s per GPU", "price": "USD per M tokens", "hour": "USD per hour"}
_NUMBERS = ("Tokens/s per GPU", "TPOT", "Gap, p95", "TTFT", "Batch", _NAMES["price"])
_FLEET = ("GPUs",)


def _heads(plan) -> tuple:
    names = (*_NUMBERS, *(_FLEET if plan.ask.rate else ()))
    return ("Layout", *(Head(name, "num", name) for name in names), Head("Limited by", key="Limited by"))


def _pair(expected: str, *below: str) -> str:
    return f"{expected}<br><small>{'<br>'.join(below)}</small>"


def _row(row, tie: bool) -> tuple[str, ...]:
    own, price = row.decode, "–" if row.price is None else f"{row.price[EXPECTED]:.2f}"
    fleet = []
    if row.fleet:
        hour = [] if row.fleet.hour is None else [f"{row.fleet.hour:,.0f} USD", "per hour"]
        fleet = [_pair(f"{row.fleet.gpus:,}", *hour)]
    formats = f"weights {text.format_name(own.weights)}, cache {text.format_name(own.cache)}"
    layout = escape(text.layout(row)).replace("P ", "P&nbsp;")  # no line ends between TP and its degree
    return (
        f"{layout}<br><small>{escape(formats)}</small>",
        _pair(text.rate(row.per_gpu[EXPECTED]), f"at most {text.rate(row.per_gpu[0])}", *["tie"] * tie),
        _pair(show(row.token[EXPECTED], "s"), f"at least {show(row.token[0], 's')}"),
        show(row.gap[EXPECTED], "s"),
        _pair(show(row.first[EXPECTED], "s"), f"at least {show(row.first[0], 's')}", f"p95 {show(row.tail, 's')}"),
        _pair(f"{own.batch:,}", show(own.memory, "B"), f"load {show(row.queue.load, '%')}"),
        price,
        *fleet,
        escape(row.binds),
    )


def deployments(plan) -> str:
    """The table alone: expected values, with the bound below each."""
    label = text.heading(plan.ask)
    return table(_heads(plan), map(_row, plan.rows, text.tied(plan)), "ledger stack", stack=True, aria_label=label)


def html(plan) -> str:
    """The table, with the meaning of its columns above it."""
    label = text.heading(plan.ask)
    reasons = [element("li", escape(f"{reason.count:,}: {reason.words}")) for reason in plan.rejected]
    tried = f"{plan.tried:,} deployments tried; why other layouts are excluded"
    return element(
        "div",
        f"<p>{escape(label)}.</p>",
        element("ul", *(element("li", escape(line)) for line in text.columns(plan, _NAMES))),
        deployments(plan),
        details(tried, element("ul", *reasons), class_="entry") if reasons else "",
    )
