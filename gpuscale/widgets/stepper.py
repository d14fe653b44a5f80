"""Steppers: schedules played frame by frame, with a meter that the schedule feeds and the formula marks."""

from __future__ import annotations

import html as escaping
import json

from gpuscale.display import anchor
from gpuscale.schedules.warp import Run
from gpuscale.units import show


def warp_stepper(run: Run, formula, name: str, title: str, caption: str, at: int | None = None, **given):
    """The stepper of a warp: rows are issue slots, columns lanes; the meter counts idle lane slots.

    ``formula`` gives the idle share for ``given``; its value is the mark that the count has to meet. Raises
    ValueError if the count on the schedule and the formula differ.
    """
    steps, total = len(run.issues), run.lane_slots
    counted = [run.idle_after(t) / total for t in range(steps + 1)]
    value = formula(**given)
    if abs(counted[-1] - value) > 1e-12:
        raise ValueError(
            f"{name}: the schedule idles {counted[-1]:.6g} of its lane slots, the formula says {value:.6g}"
        )
    spec = {
        "id": f"step-{anchor(name)}", "title": title, "kind": "lanes", "columns": len(run.issues[0].active),
        "rows": [{"label": issue.text, "note": issue.path} for issue in run.issues],
        "cells": [
            [row, col, row + 1, "active" if lane else "masked"]
            for row, issue in enumerate(run.issues)
            for col, lane in enumerate(issue.active)
        ],
        "steps": steps, "at": steps // 2 if at is None else at, "unit": "slot", "rate": 700,
        "meter": {
            "name": f"Idle, of {total} lane slots", "hue": "wait", "full": 1, "values": counted,
            "text": [f"{run.idle_after(t)} or {show(counted[t], '%')}" for t in range(steps + 1)],
            "equal": True, "formula": value, "label": f"formula: {formula.lhs.html} = {show(value, '%')}",
        },
    }  # fmt: skip
    return _card(
        spec,
        caption,
        _table(run),
        f"{title}: {spec['meter']['text'][-1]} idle; the formula gives {show(value, '%')}",
    )


def _table(run: Run) -> str:
    rows = "".join(
        f"<tr><td>{i + 1}</td><td>{escaping.escape(issue.text)}</td><td>{escaping.escape(issue.path)}</td>"
        f'<td class="num">{sum(issue.active)}</td><td class="num">{len(issue.active) - sum(issue.active)}</td></tr>'
        for i, issue in enumerate(run.issues)
    )
    head = "".join(
        f'<th scope="col">{h}</th>' for h in ("Slot", "Instruction", "Path", "Active lanes", "Waiting lanes")
    )
    return f'<table class="plain-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _card(spec: dict, caption: str, table: str, text: str):
    from gpuscale.widgets.base import Card

    spec = {**spec, "caption": caption}
    data = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    html = (
        f'<figure class="card stepper" id="{spec["id"]}" data-gpuscale="stepper">'
        f"<h3>{escaping.escape(spec['title'])}</h3>"
        f'<div class="fallback">{table}</div><figcaption>{caption}</figcaption>'
        f'<script type="application/json">{data}</script></figure>'
    )
    return Card(spec=data, html=html, text=text)
