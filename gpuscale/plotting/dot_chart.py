"""Rows of dots on one logarithmic axis: how far measurements of several kinds lie from a mark, such as a bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpuscale.plotting.drawing.axis import Axis, positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue, width
from gpuscale.units import show

_RADIUS, _STEP, _PAD, _TITLE = 4.0, 9.5, 9.0, 18.0  # pixels: a dot, from dot to dot above, around a row, its title


@dataclass(frozen=True)
class Dot:
    """A value, its name, its meaning as a color. ``hollow``: it does not count; ``said``: a label at it."""

    value: float
    name: str
    hue: str = "plain"
    hollow: bool = False
    said: str = ""


def dot_rows(
    rows: Mapping[str, Sequence[Dot]], *, axis: Axis, mark: float, mark_text: str, name, caption, key=(), **look
):
    """Rows of dots, each under or after its title, with an upright line at ``mark``. Returns a Still.

    Dots that would cover each other stand above and below the middle of their row. ``key``: hues and their words.
    Raises ValueError for no rows, an empty row, a value that is not positive, or an unknown hue.
    """
    _check(rows)
    axis = axis.of(None, "axis", [dot.value for row in rows.values() for dot in row])
    told = [
        f"{title}: {len(row)} from {show(min(d.value for d in row), '1')} to {show(max(d.value for d in row), '1')}"
        for title, row in rows.items()
    ]
    table = [(title, dot.name, show(dot.value, "1")) for title, row in rows.items() for dot in row]
    said = {"alt": f"{bare(axis.title)}. {'; '.join(told)}.", "table": (["row", "dot", axis.title], table)}
    return Still(
        lambda sheet: _draw(sheet, rows, axis, mark, mark_text, key), name=name, caption=caption, **said | look
    )


def _check(rows) -> None:
    if not rows or not all(rows.values()):
        raise ValueError(f"rows: expected titles with dots; got {dict(rows)}")
    for title, row in rows.items():
        for dot in row:
            hue(dot.hue, f"dot {dot.name!r}")
            positive(f"row {title!r}", **{dot.name: dot.value})


def _draw(sheet, rows, axis, mark, mark_text, key) -> None:
    left = 8.0 if sheet.narrow else max(map(width, rows)) + 16
    right = sheet.across - 10
    y = sheet.legend([(words, _swatch(sheet, colour)) for colour, words in key], 0) + 4 if key else 0.0
    y = top = y + 16
    for title, row in rows.items():
        if sheet.narrow:
            sheet.write(left, y + 13, title, "soft", say=False, halo=True)
            y += _TITLE
        xs = [float(axis.place(dot.value, left, right)) for dot in row]
        levels = _levels(xs)
        spots = {i: _spot(dot, i, xs, levels, left, right) for i, dot in enumerate(row) if dot.said}
        highest = min([*levels, *(level - 1.4 for level, *_ in spots.values())])
        middle = y - highest * _STEP + _RADIUS + _PAD - (4 if highest < min(levels) else 0)
        if not sheet.narrow:
            sheet.write(left - 12, middle + 4.5, title, "soft", "right", say=False)
        for dot, x, level in zip(row, xs, levels, strict=True):
            _dot(sheet, x, middle + level * _STEP, dot)
        for i, (level, x, align) in spots.items():
            sheet.write(x, middle + level * _STEP + 4.5, row[i].said, row[i].hue, align, halo=True)
        y = middle + max(levels) * _STEP + _RADIUS + _PAD
        sheet.rule([left, right], [y, y], "line", level=-2)
        sheet.records.append(f"dots {bare(title)}: {' '.join(f'{dot.value:.4g}' for dot in row)}")
    at = float(axis.place(mark, left, right))
    sheet.rule([at, at], [top - 4, y], "plain", level=1, weight=1.5)
    sheet.write(at, top - 8, mark_text, align="center", bold=True, halo=True)
    for tick in axis.spaced(right - left, width):
        x = float(axis.place(tick, left, right))
        sheet.rule([x, x], [top, y], "line", level=-3)
        sheet.write(x, y + 15, axis.tick(tick), "soft", "center", say=False)
    sheet.write(right, y + 33, axis.heading, "soft", "right")
    sheet.down = y + 40


def _spot(dot: Dot, i: int, xs, levels, left: float, right: float) -> tuple[float, float, str]:
    """Where the label of a dot stands, as level, x and alignment: to its right if there is room, else above."""
    wide, x = width(dot.said), xs[i] + _RADIUS + 6
    crowd = [j for j in range(len(xs)) if j != i and abs(levels[j] - levels[i]) < 2]
    if x + wide <= right and not any(x - 2 <= xs[j] + _RADIUS and xs[j] - _RADIUS <= x + wide + 2 for j in crowd):
        return levels[i], x, "left"
    x = min(max(xs[i], left + wide / 2), right - wide / 2)
    under = [levels[j] for j in range(len(xs)) if abs(xs[j] - x) <= wide / 2 + 2 * _RADIUS]
    return min(under) - 1.4, x, "center"


def _levels(xs: Sequence[float]) -> list[int]:
    """For each dot the free place that is nearest to the middle of the row: 0, -1, 1, -2 and so on."""
    levels: dict[int, int] = {}
    for i in sorted(range(len(xs)), key=lambda i: xs[i]):
        taken = {levels[j] for j in levels if abs(xs[i] - xs[j]) < 2 * _RADIUS + 1}
        levels[i] = next(level for level in _outward() if level not in taken)
    return [levels[i] for i in range(len(xs))]


def _outward() -> Iterable[int]:
    return (math.ceil(i / 2) * (-1) ** i for i in range(10**6))


def _dot(sheet, x: float, y: float, dot: Dot) -> None:
    if dot.hollow:
        sheet.dot(x, y, _RADIUS - 0.5, "paper", dot.hue, 1.5)
    else:
        sheet.dot(x, y, _RADIUS, dot.hue, "paper", 0.75)


def _swatch(sheet, colour: str):
    hollow, colour = colour.startswith("hollow "), colour.removeprefix("hollow ")
    return lambda x, y: _dot(sheet, x + 11, y + 7, Dot(1, "", colour, hollow))
