"""Published numbers beside ours: a claim, and the ledger that shows whether it agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuscale.core.html import Html, anchor, escape
from gpuscale.sources import cite
from gpuscale.units import show

# How far a published figure may lie from ours to agree, or to count as rounded.
AGREES, ROUNDS = 0.002, 0.06


@dataclass(frozen=True)
class Claim:
    """A published figure beside ours: what it says, where, the printed value and the computed one, in base units."""

    text: str
    source: str
    published: float
    ours: float
    unit: str
    note: str = ""
    digits: int = 3
    distance: bool = True  # False for a name or number of a thing, where a share of ours would say nothing

    @property
    def error(self) -> float:
        """How far the published figure lies from ours, as a share of ours."""
        return self.published / self.ours - 1

    @property
    def verdict(self) -> str:
        """ "agrees" within 0.2%, "rounds" within 6%, else "disagrees"."""
        return "agrees" if abs(self.error) <= AGREES else "rounds" if abs(self.error) <= ROUNDS else "disagrees"


_SIGNS = {"agrees": "✓ agrees", "rounds": "≈ rounds", "disagrees": "✗ disagrees"}


def ledger(claims: Sequence[Claim], label: str = "Ledger of published numbers") -> Html:
    """Published figures set next to ours, with a verdict that is computed; those that agree are folded away."""
    off = [c for c in claims if c.verdict != "agrees"]
    fine = [c for c in claims if c.verdict == "agrees"]
    html = _ledger_table(off, label) if off else ""
    if fine:
        count = f"{len(fine)} more that agree{'s' if len(fine) == 1 else ''}" if off else f"{len(fine)} that agree"
        html += f'<details class="entry"><summary>{count}</summary>'
        html += f"{_ledger_table(fine, label + ', agreeing')}</details>"
    plain = [f"{c.text}: published {_shown(c)[0]}, ours {_shown(c)[1]}, {c.verdict}{_distance(c)}" for c in claims]
    return Html(f"<div>{html}</div>", "\n".join(plain))


def _shown(c: Claim) -> tuple[str, str]:
    return tuple(show(v, c.unit, digits=c.digits, short=True) for v in (c.published, c.ours))


def _distance(c: Claim) -> str:
    """How far off the published figure is: in percent, or as a factor where that says more."""
    if c.verdict == "agrees" or not c.distance:
        return ""
    if c.error > 1.02:
        return f", {show(c.error + 1, '1', short=True)} times ours"
    if -1 < c.error < -0.51:
        return f", ours is {show(1 / (c.error + 1), '1', short=True)} times as much"
    return f", {100 * c.error:+.3g}%".replace("-", "−")


def _ledger_table(claims: Sequence[Claim], label: str) -> str:
    rows = []
    for c in claims:
        published, ours = _shown(c)
        note = f"{cite(c.source)}. {escape(c.note)}".strip()
        rows.append(
            f'<tr role="row" id="claim-{anchor(c.text)}"><td role="cell">{escape(c.text)}<small>{note}</small></td>'
            f'<td role="cell" class="num" data-k="published">{published}</td>'
            f'<td role="cell" class="num" data-k="ours">{ours}</td>'
            f'<td role="cell"><span class="verdict {c.verdict}">{_SIGNS[c.verdict]}{_distance(c)}</span></td></tr>'
        )
    heads = (("Claim", ""), ("Published", ' class="num"'), ("Ours", ' class="num"'), ("Verdict", ""))
    head = "".join(f'<th role="columnheader"{more}>{h}</th>' for h, more in heads)
    return (
        f'<table class="ledger stack" role="table" aria-label="{escape(label)}">'
        f'<thead><tr role="row">{head}</tr></thead><tbody role="rowgroup">{"".join(rows)}</tbody></table>'
    )
