"""Grouped horizontal bars, each with its value: what grew, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.plotting.drawing.axis import positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue, width
from gpuscale.specs.number import amount
from gpuscale.units import base_unit, show

# Pixels: a row, its bar, the heading of a group, the space between groups.
_ROW, _BAR, _HEAD, _GAP = 21, 13, 22, 14
_SCALES = ("times", "own", "common")


@dataclass(frozen=True)
class Bars:
    """One group: heading, base unit, meaning, and {label: value}; None where there is no value."""

    title: str
    unit: str
    hue: str
    values: dict


def bars(groups, *, name, caption, scale="times", **look) -> Still:
    """Bars in groups, with a value at every end.

    ``scale`` is "times" (all groups share one scale, multiples of each group's first value, which is
    printed too), "own" (each group its own scale) or "common" (one scale in one unit); ``look`` may hold a
    title. Raises ValueError naming the group, the bar and what was expected.
    """
    groups = list(groups)
    _check(groups, scale)
    rows = [_rows(g, scale) for g in groups]
    pairs = zip(groups, rows, strict=True)
    flat = [(group.title, label, words) for group, row in pairs for label, _, words in row]
    alt = "; ".join(f"{bare(title)}, {label}: {bare(words)}" for title, label, words in flat) + "."
    said = {"alt": alt, "table": (["quantity", "part", "value"], flat)}
    return Still(lambda sheet: _draw(sheet, groups, rows), name=name, caption=caption, **said | look)


def _check(groups, scale):
    if scale not in _SCALES:
        raise ValueError(f"scale: {scale!r} is unknown; expected one of {', '.join(_SCALES)}")
    if not groups:
        raise ValueError("groups: the list is empty; expected at least one Bars")
    units = {base_unit(g.unit) for g in groups}
    if scale == "common" and len(units) > 1:
        raise ValueError(f"scale: one common scale takes one unit; got {', '.join(sorted(units))}")
    for g in groups:
        hue(g.hue)
        if not g.values or next(iter(g.values.values())) is None:
            raise ValueError(f"group {g.title!r}: expected values, the first of them known; got {g.values}")
        positive(f"group {g.title!r}", **{str(k): v for k, v in g.values.items() if v is not None})


def _rows(group: Bars, scale: str) -> list[tuple[str, float, str]]:
    """Label and length before scaling of each bar, and what is printed at its end: its value, the multiple in bold."""
    known = [v for v in group.values.values() if v is not None]
    whole = {"times": known[0], "own": max(known), "common": 1.0}[scale]
    out = []
    for label, v in group.values.items():
        words = "none" if v is None else amount(v, group.unit)
        if scale == "times" and v and v != known[0]:
            words += f" <b>×{show(v / known[0], '1', short=True)}</b>"
        out.append((label, (v or 0.0) / whole, words))
    return out


def _draw(sheet, groups, rows):
    flat = [row for group in rows for row in group]
    left = max(width(label) for label, *_ in flat) + 10
    per = min((sheet.across - left - width(words) - 10) / n for _, n, words in flat if n)
    y = 0.0
    for group, row in zip(groups, rows, strict=True):
        sheet.write(0, y + 12, group.title, group.hue, bold=True)
        y += _HEAD
        sheet.rule([left, left], [y - 1, y + _ROW * len(row) - 1], "edge", level=1)
        for label, length, words in row:
            sheet.write(left - 8, y + 13, label, "soft", "right", say=False)
            sheet.area(left, y + 3, left + length * per, y + 3 + _BAR, group.hue)
            sheet.write(left + length * per + 6, y + 13.5, words, "plain", say=False)
            y += _ROW
        sheet.down = y
        y += _GAP
        said = (f"{k} {'none' if v is None else format(v, '.6g')}" for k, v in group.values.items())
        sheet.records.append(f"bars {bare(group.title)} [{group.unit}]: {', '.join(said)}")
