"""The card of every stepper: its JSON, and the table that stands in where no script runs."""

from __future__ import annotations

import html as escaping
import json
from collections.abc import Sequence


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
