"""The stepper of a warp: branches played slot by slot, with a meter of idle lanes that the formula marks."""

from __future__ import annotations

from gpuscale.core.html import escape
from gpuscale.schedules.timelines.warp import WarpRun
from gpuscale.units import show
from gpuscale.widgets.stepper_card import meter, stepper


def warp_stepper(run: WarpRun, formula, name: str, title: str, caption: str, at: int | None = None, **given):
    """The stepper of a warp: rows are issue slots, columns lanes; the meter counts idle lane slots.

    ``formula`` gives the idle fraction for ``given``; its value is the mark that the count has to meet. Raises
    ValueError if the count on the schedule and the formula differ.
    """
    steps, total = len(run.issues), run.lane_slots
    counted = [run.idle_after(t) / total for t in range(steps + 1)]
    value = formula(**given)
    if abs(counted[-1] - value) > 1e-12:
        raise ValueError(
            f"{name}: the schedule idles {counted[-1]:.6g} of its lane slots, the formula says {value:.6g}"
        )
    text = [f"{run.idle_after(t)} or {show(counted[t], '%')}" for t in range(steps + 1)]
    label = f"formula: {formula.lhs.html} = {show(value, '%')}"
    spec = {
        "title": title,
        "kind": "lanes",
        "columns": len(run.issues[0].active),
        "rows": [{"label": issue.text, "note": issue.path} for issue in run.issues],
        "cells": [
            [row, col, row + 1, "active" if lane else "masked"]
            for row, issue in enumerate(run.issues)
            for col, lane in enumerate(issue.active)
        ],
        "steps": steps,
        "at": steps // 2 if at is None else at,
        "unit": "slot",
        "rate": 700,
        "meter": meter(f"Idle, of {total} lane slots", "wait", 1, counted, text, value, label),
    }
    columns = [(head, False) for head in ("Slot", "Instruction", "Path")]
    columns += [(head, True) for head in ("Active lanes", "Waiting lanes")]
    rows = [
        (i + 1, escape(x.text), escape(x.path), sum(x.active), len(x.active) - sum(x.active))
        for i, x in enumerate(run.issues)
    ]
    last = f"{title}: {text[-1]} idle; the formula gives {show(value, '%')}"
    return stepper(name, spec, caption, columns, rows, last)
