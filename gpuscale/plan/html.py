"""A plan as HTML: a table of the best choices, the reasons folded below it."""

from __future__ import annotations

import re

from gpuscale.core.html import escape
from gpuscale.plan import text
from gpuscale.units import show

NO_BREAK = "\u2011"  # a hyphen at which no line ends: ZeRO-1
_HEADS = ("Choice", "Memory", "Step", "MFU", "What binds")


def _row(row) -> str:
    step, mfu = ([show(value, unit) for value in pair] for pair, unit in ((row.step, "s"), (row.mfu, "%")))
    numbers = (
        ("Memory", show(row.memory, "B")),
        ("Step", f"{step[1]}<br><small>ideal {step[0]}</small>"),
        ("MFU", f"{mfu[1]}<br><small>ideal {mfu[0]}</small>"),
    )
    middle = "".join(f'<td role="cell" class="num" data-k="{name}">{value}</td>' for name, value in numbers)
    choice = re.sub(r"(?<=[A-Z×]) (?=\d|×)|(?<=\d) (?=×)", "&nbsp;", escape(str(row.choice)).replace("-", NO_BREAK))
    return f'<tr role="row"><td role="cell">{choice}</td>{middle}<td role="cell">{escape(row.binds)}</td></tr>'


def html(plan) -> str:
    """The table; step and MFU at the shares that are reached, with those at the peaks below."""
    ask = plan.ask
    num = {"Memory", "Step", "MFU"}
    head = "".join(f'<th role="columnheader"{" class=num" if name in num else ""}>{name}</th>' for name in _HEADS)
    label = escape(text.heading(ask))
    body = "".join(_row(row) for row in plan.rows) or (
        f'<tr role="row"><td role="cell" colspan="5">Nothing fits: {escape(plan.why_nothing)}.</td></tr>'
    )
    hint = f"<p>Hint: {escape(plan.hint)}.</p>" if plan.hint else ""
    why = "".join(f"<li>{reason.count:,}: {escape(reason.words)}</li>" for reason in text.ranked(plan))
    told = "".join(f"<li>{escape(line)}</li>" for line in (*text.efficiencies(ask), text.convention(ask)))
    told = f'<details class="entry"><summary>Shares of the peaks that are reached</summary><ul>{told}</ul></details>'
    told = told if plan.rows else ""
    return (
        f'<div><p>{label}.</p><table class="ledger stack" role="table" aria-label="{label}">'
        f'<thead><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>{hint}'
        f'<details class="entry"><summary>{plan.tried:,} choices tried, {plan.fit:,} fit; why the others cannot be'
        f"</summary><p>{escape(text.room(ask))}</p><ul>{why}</ul></details>"
        f"{told}</div>"
    )
