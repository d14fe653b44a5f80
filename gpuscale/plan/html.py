"""A plan as HTML: a table of the best choices, the reasons folded below it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuscale.core.html import Head, details, element, escape, table
from gpuscale.plan import text
from gpuscale.units import show

NO_BREAK = "\u2011"  # a hyphen at which no line ends: ZeRO-1
_HEADS = (
    "Choice",
    *(Head(name, "num", name) for name in ("Memory", "Expected step", "MFU", "At measured rates", "At peak")),
    "Bottleneck",
)


def _row(row, tie: bool) -> tuple[str, ...]:
    choice = re.sub(r"(?<=[A-Z×]) (?=\d|×)|(?<=\d) (?=×)", "&nbsp;", escape(str(row.choice)).replace("-", NO_BREAK))
    peak, measured, expected = (show(step, "s") for step in row.step)
    step = f"{expected}<br><small>{text.seconds(*row.band)}{', tie' if tie else ''}</small>"
    mfu = show(row.mfu[2], "%", digits=2)
    return choice, show(row.memory, "B"), step, mfu, measured, peak, escape(row.binds)


def html(plan) -> str:
    """The table: the expected step with its band, and both bounds."""
    ask = plan.ask
    label = text.heading(ask)
    rows = [_row(row, tie) for row, tie in zip(plan.rows, text.tied(plan.rows), strict=True)] or [
        f"Nothing fits: {escape(plan.why_nothing)}."
    ]
    why = text.ranked(plan)
    full = [f"{one.count:,}; the closest: {one.words}" for one in why if one.name.startswith("memory")]
    impossible = [f"{one.count:,}: {one.words}" for one in why if not one.name.startswith("memory")]
    told = text.efficiencies(ask)
    return element(
        "div",
        f"<p>{escape(label)}.</p>",
        *(f"<p>{escape(line)}</p>" for line in text.remarks(ask)),
        _list(line.replace(f"{text.TIE}: a tie. Plans", "tie: plans") for line in text.columns(plan))
        if plan.rows
        else "",
        table(_HEADS, rows, "ledger stack", stack=True, aria_label=label),
        f"<p>Hint: {escape(plan.hint)}.</p>" if plan.hint else "",
        details(
            f"{plan.tried:,} choices tried, {plan.fit:,} fit; why others don't",
            f"<p>{escape(text.room(ask))}</p>",
            _list(full) if full else "",
            f"<p>Not tried, because it is impossible:</p>{_list(impossible)}" if impossible else "",
            class_="entry",
        ),
        details("Measured rates, as fractions of the peaks", _list(told), class_="entry") if plan.rows else "",
    )


def _list(lines: Iterable[str]) -> str:
    return element("ul", *(element("li", escape(line)) for line in lines))
