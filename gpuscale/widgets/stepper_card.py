"""The card of every stepper: its JSON, and the table that stands in where no script runs."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import sympy

from gpuscale.symbols import flop

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"  # counts as the scripts read them


def stepper(
    spec: dict,
    caption: str,
    columns: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence],
    text: str,
    drawing: str = "",
    painter: str = "",
):
    """A stepper's widget. ``columns``: (heading, whether it holds numbers); ``rows``: cells as HTML; ``text``: what a
    notebook stores; ``drawing``: a picture over the table, as SVG; ``painter``: the script that its page loads besides
    those of all steppers."""
    from gpuscale.widgets.card import Card

    spec = {**spec, "caption": caption}
    data = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    extra = f' data-painter="{painter}"' if painter else ""
    label = f'tabindex="0" role="region" aria-label="{escaping.escape(spec["title"])}"'
    drawing = f'<div class="scroll" {label}>{drawing}</div>' if drawing else ""
    html = (
        f'<figure class="card stepper" id="{spec["id"]}" data-gpuscale="stepper"{extra}>'
        f"<h3>{escaping.escape(spec['title'])}</h3>"
        f'<div class="fallback">{drawing}{_table(columns, rows)}</div><figcaption>{caption}</figcaption>'
        f'<script type="application/json">{data}</script></figure>'
    )
    return Card(spec=data, html=html, text=text)


def _table(columns, rows) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name, _ in columns)
    kinds = [' class="num"' if number else "" for _, number in columns]
    cells = ["".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table class="plain-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def within(name: str, schedule, limits: Mapping[str, int]) -> None:
    """Raises ValueError where a schedule has more of anything than a page can show."""
    for what, limit in limits.items():
        if getattr(schedule, what) > limit:
            raise ValueError(f"{name}: expected at most {limit} {what} to show; got {getattr(schedule, what)}")


def formula_value(name: str, formula, known: Mapping) -> Fraction:
    """A formula's value as an exact fraction, its inputs by name in ``known``.

    Raises TypeError naming what is missing, ValueError if the value is irrational for these inputs.
    """
    if missing := [q.name for q in formula.inputs if q.name not in known]:
        raise TypeError(f"{name}: missing {', '.join(missing)}; expected all inputs of {formula} in given")
    given = {q: exact(known[q.name]) for q in formula.inputs}
    value = formula.rhs.subs({q: sympy.Rational(x.numerator, x.denominator) for q, x in given.items()} | {flop: 1})
    if not value.is_Rational:
        raise ValueError(f"{name}: {formula.title}: expected a rational number for {given}; got {value}")
    return Fraction(int(value.p), int(value.q))


def exact(number) -> Fraction:
    """A number as the fraction that it is."""
    return Fraction(number.item() if isinstance(number, np.generic) else number)
