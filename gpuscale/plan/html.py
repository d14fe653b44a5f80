"""A plan as HTML: a table of the best choices, the reasons folded below it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuscale.core.html import Head, details, element, escape, table
from gpuscale.plan import text
from gpuscale.units import show

NO_BREAK = "\u2011"  # a hyphen at which no line ends: ZeRO-1
_HEADS = ("Choice", *(Head(name, "num", name) for name in ("Memory", "Step", "MFU")), "Bottleneck")


def _row(row) -> tuple[str, ...]:
    choice = re.sub(r"(?<=[A-Z×]) (?=\d|×)|(?<=\d) (?=×)", "&nbsp;", escape(str(row.choice)).replace("-", NO_BREAK))
    return choice, show(row.memory, "B"), _reached(row.step, "s"), _reached(row.mfu, "%"), escape(row.binds)


def _reached(pair: tuple[float, float], unit: str) -> str:
    ideal, reached = (show(value, unit) for value in pair)
    return f"{reached}<br><small>ideal {ideal}</small>"


def html(plan) -> str:
    """The table; step and MFU at the achieved rates, with those at the peaks below."""
    ask = plan.ask
    label = text.heading(ask)
    rows = [_row(row) for row in plan.rows] or [f"Nothing fits: {escape(plan.why_nothing)}."]
    told_why = [(reason, f"{reason.count:,}: {reason.words}") for reason in text.ranked(plan)]
    full = [line for reason, line in told_why if reason.name.startswith("memory")]
    impossible = [line for reason, line in told_why if not reason.name.startswith("memory")]
    told = (*text.efficiencies(ask), text.convention(ask))
    return element(
        "div",
        f"<p>{escape(label)}.</p>",
        *(f"<p>{escape(line)}</p>" for line in text.remarks(ask)),
        table(_HEADS, rows, "ledger stack", stack=True, aria_label=label),
        f"<p>Hint: {escape(plan.hint)}.</p>" if plan.hint else "",
        details(
            f"{plan.tried:,} choices tried, {plan.fit:,} fit; why others don't",
            f"<p>{escape(text.room(ask))}</p>",
            _list(full) if full else "",
            f"<p>Not tried, because it is impossible:</p>{_list(impossible)}" if impossible else "",
            class_="entry",
        ),
        details("Achieved rates, as fractions of the peaks", _list(told), class_="entry") if plan.rows else "",
    )


def _list(lines: Iterable[str]) -> str:
    return element("ul", *(element("li", escape(line)) for line in lines))
