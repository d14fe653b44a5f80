"""Collectives that draw themselves from their schedules: what each rank holds before and after, hop by hop round a
ring or through a switch. A letter is a part of the buffer; the fuller a cell, the more ranks its sum contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import asin, cos, pi, sin
from string import ascii_uppercase

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import fold
from gpuscale.plotting.drawing.sheet import LEADING, Sheet

ONE, ALL = 0.16, 0.62  # the strength of a cell that one rank contributed to, and of a complete sum
_ROW, _HIGH, _RANK, _TURN = 21, 18, 14, 24  # pixels: from row to row, a cell, a rank's number, the arrow between grids
_RADIUS, _LETTER, _UP = 49, 12.5, 74  # pixels: of a ring, the width of its cells, from the ranks up to their switch
_RANKS = 5  # that a ring or a switch still shows with letters


def holdings_figure(schedules: Mapping, *, name, caption, columns=(3, 2), **look) -> Still:
    """Before and after of several collectives, {title: Schedule}: a row is a rank, a cell a part of the buffer.

    Where the ranks hold different data for one part, a number says whose it is. ``columns`` are those of the wide
    and of the narrow drawing. Raises ValueError for none, or for more ranks than fit.
    """
    _check(schedules.values(), name)

    def paint(sheet):
        across, top = columns[sheet.narrow], 0.0
        gap = 12 if sheet.narrow else 26
        wide = (sheet.across - 1 - gap * (across - 1)) / across
        titles = list(schedules)
        for first in range(0, len(titles), across):
            row = titles[first : first + across]
            ends = [_before_and_after(sheet, t, schedules[t], i * (wide + gap), top, wide) for i, t in enumerate(row)]
            top = max(ends) + 16
        sheet.down = _key(sheet, top, any(_sums(s) for s in schedules.values()))
        sheet.records += [f"{title}: {_told(s)}" for title, s in schedules.items()]

    said = ". ".join(f"{title}: {_told(s)}" for title, s in schedules.items())
    return Still(paint, name=name, caption=caption, **{"alt": f"Before and after on each rank. {said}."} | look)


def hops_figure(schedule, steps: Mapping[int, str], *, name, caption, columns=(4, 2), **look) -> Still:
    """Moments of a schedule, {steps done: title}: its ranks in a circle, or under the switch if it has one.

    Arrows are the transfers of the step that has just been made, and a cell that it filled has a dark rim.
    Raises ValueError for no moments or more ranks than fit.
    """
    _check([schedule] if steps else [], name)
    place = _under_a_switch if schedule.switches else _in_a_circle

    def paint(sheet):
        across, top = columns[sheet.narrow], 0.0
        wide = sheet.across / across
        moments = list(steps)
        for first in range(0, len(moments), across):
            row = moments[first : first + across]
            heads = [fold(steps[m], wide - 8, bold=True) for m in row]
            tall = LEADING * max(map(len, heads))
            ends = []
            for i, (moment, head) in enumerate(zip(row, heads, strict=True)):
                for j, line in enumerate(head):
                    sheet.write((i + 0.5) * wide, top + 12 + LEADING * j, line, "plain", "center", bold=True)
                ends.append(place(sheet, schedule, moment, i * wide, top + tall, wide))
            top = max(ends) + 14
        sheet.down = _key(sheet, top, _sums(schedule))
        sheet.records += [f"after {m}: {_grid(schedule, m)}" for m in moments]

    said = "; ".join(f"{title}: {_grid(schedule, m)}" for m, title in steps.items())
    return Still(paint, name=name, caption=caption, **{"alt": f"{schedule.title}. {said}."} | look)


def arrow(sheet: Sheet, xs: Sequence[float], ys: Sequence[float], colour: str, weight=1.4, head=6.0, level=1.0) -> None:
    """A line through points that ends in a head."""
    (x0, x1), (y0, y1) = xs[-2:], ys[-2:]
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    ux, uy = (x1 - x0) / long, (y1 - y0) / long
    sheet.rule([*xs[:-1], x1 - 0.7 * head * ux], [*ys[:-1], y1 - 0.7 * head * uy], colour, level=level, weight=weight)
    corners = [(x1, y1)] + [(x1 - head * ux - s * head / 2 * uy, y1 - head * uy + s * head / 2 * ux) for s in (1, -1)]
    sheet.fill(*zip(*corners, strict=True), colour, level=level + 0.1)


def _check(schedules, name: str) -> None:
    if not (schedules := list(schedules)):
        raise ValueError(f"{name}: expected something to draw; got nothing")
    for schedule in schedules:
        if schedule.ranks > _RANKS:
            raise ValueError(f"{name}: {schedule.title}: expected at most {_RANKS} ranks; got {schedule.ranks}")


# ---- what a rank holds


def _cells(schedule, step: int, rank: int) -> list[tuple[int, frozenset]]:
    """The chunks that a rank holds after a step, with the ranks in each; at the end only those of its result."""
    kept = schedule.end[rank] if 0 < step == schedule.steps else [True] * schedule.chunks
    return [(c, whose) for c, whose in enumerate(schedule.holds(step)[rank]) if whose and kept[c]]


def _sums(schedule) -> bool:
    return any(len(whose) > 1 for r in range(schedule.ranks) for _, whose in _cells(schedule, schedule.steps, r))


def _letter(schedule, chunk: int, whose: frozenset) -> str:
    """The part of the buffer, and whose it is where ranks hold different data for it."""
    part, several = chunk, bool(schedule.start.sum(axis=0).max() > 1)
    if schedule.chunks == schedule.ranks**2 > 1:  # blocks: one for each pair of ranks
        part, several, whose = chunk % schedule.ranks, True, frozenset([chunk // schedule.ranks])
    return ascii_uppercase[part] + (str(min(whose)) if several and len(whose) == 1 else "")


def _grid(schedule, step: int) -> str:
    """All ranks in one line of text."""
    rows = []
    for rank in range(schedule.ranks):
        held = [("Σ" if len(w) > 1 else "") + _letter(schedule, c, w) for c, w in _cells(schedule, step, rank)]
        rows.append(f"rank {rank} {' '.join(held) or '–'}")
    return ", ".join(rows)


def _told(schedule) -> str:
    return f"before {_grid(schedule, 0)}; after {_grid(schedule, schedule.steps)}"


def _cell(sheet, x, y, w, h, word: str, share: float, fresh: bool = False) -> None:
    sheet.box(x, y, w, h, "memory", share, level=2 + share)  # cells of one strength make one path
    if fresh:
        sheet.rule([x, x + w, x + w, x, x], [y, y, y + h, y + h, y], "plain", level=3, weight=1.6)
    sheet.write(x + w / 2, y + h / 2 + 4.4, word, "plain", "center", say=False)


def _strength(whose: frozenset, ranks: int) -> float:
    return ONE + (ALL - ONE) * (len(whose) - 1) / max(ranks - 1, 1)


def _before_and_after(sheet, title: str, schedule, x: float, y: float, wide: float) -> float:
    """The two grids of a collective under its name. Returns where they end."""
    sheet.write(x, y + 12, title, "plain", bold=True)
    y += LEADING + 6
    turn = 0.7 * _TURN if sheet.narrow else _TURN
    side = (wide - _RANK - turn) / 2
    for rank in range(schedule.ranks):
        sheet.write(x, y + rank * _ROW + 13.5, str(rank), "soft", say=False)
    middle = y + schedule.ranks * _ROW / 2 - 1
    arrow(sheet, [x + _RANK + side + 3, x + _RANK + side + turn - 3], [middle, middle], "edge")
    for step, left in ((0, x + _RANK), (schedule.steps, x + _RANK + side + turn)):
        for rank in range(schedule.ranks):
            _row(sheet, schedule, step, rank, left, y + rank * _ROW, side)
    return y + schedule.ranks * _ROW


def _row(sheet, schedule, step: int, rank: int, x: float, y: float, side: float) -> None:
    """A rank's cells: each part in its place, or blocks side by side."""
    held, blocks = _cells(schedule, step, rank), schedule.chunks == schedule.ranks**2 > 1
    places = schedule.ranks if blocks else schedule.chunks
    each = side / places
    for place in range(places):
        sheet.box(x + place * each, y, each, _HIGH, "line", level=1)
    for i, (chunk, whose) in enumerate(held):
        part = _letter(schedule, chunk, whose)
        word = f"{part[0]}<sub>{part[1:]}</sub>" if part[1:] and each < 20 else part  # where there is little room
        _cell(sheet, x + (i if blocks else chunk) * each, y, each, _HIGH, word, _strength(whose, schedule.ranks))


def _key(sheet, y: float, sums: bool) -> float:
    """What pale and full cells mean. Returns where it ends."""
    if not sums:
        return y - 10

    def swatch(share):
        return lambda x, top: sheet.box(x, top, 20, 14, "memory", share)

    items = [("one rank’s data", swatch(ONE)), ("sum over all ranks", swatch(ALL))]
    return sheet.legend(items, y) + 2


# ---- a moment of a schedule


def _boxes(sheet, schedule, moment: int, rank: int, x: float, y: float, each: float, high: float) -> None:
    """The buffer of a rank, with what the last step brought in a dark rim."""
    before = dict(_cells(schedule, moment - 1, rank)) if moment else None
    for chunk in range(schedule.chunks):
        sheet.box(x + chunk * each, y, each, high, "line", level=1)
    for chunk, whose in _cells(schedule, moment, rank):
        fresh = before is not None and before.get(chunk) != whose
        word = _letter(schedule, chunk, frozenset(range(2)))  # without the rank: there is no room
        _cell(sheet, x + chunk * each, y, each, high, word, _strength(whose, schedule.ranks), fresh)


def _in_a_circle(sheet, schedule, moment: int, x: float, y: float, wide: float) -> float:
    n, radius = schedule.ranks, _RADIUS
    cx, cy = x + wide / 2, y + radius + 16
    turn = [2 * pi * rank / n - pi / 2 for rank in range(n)]
    each = min(_LETTER, (wide - 2 * radius - 6) / schedule.chunks)
    half = each * schedule.chunks / 2
    beside = asin(min((half + 2) / radius, 0.8)) - 0.2  # of the circle, under half of a box at the top or the bottom
    for rank, angle in enumerate(turn):
        px, py = cx + radius * cos(angle), cy + radius * sin(angle)
        _boxes(sheet, schedule, moment, rank, px - half, py - 8, each, 16)
        inward = 22 + (half - 12) * abs(cos(angle))
        sheet.write(px - inward * cos(angle), py - inward * sin(angle) + 4.4, str(rank), "compute", "center", bold=True)
    for move in schedule[moment - 1] if moment else []:
        start, end = turn[move.source], turn[move.target]
        end += 2 * pi if end < start else 0
        clear = 0.22 + beside * abs(sin(start)), 0.26 + beside * abs(sin(end))  # of the boxes at both ends
        angles = [start + clear[0] + (end - clear[1] - start - clear[0]) * i / 8 for i in range(9)]
        arrow(sheet, [cx + radius * cos(a) for a in angles], [cy + radius * sin(a) for a in angles], "scaleup")
    return cy + radius + 10


def _under_a_switch(sheet, schedule, moment: int, x: float, y: float, wide: float) -> float:
    n = schedule.ranks
    step = (wide - 16) / n
    each, high = (step - 10) / schedule.chunks, 17
    floor = y + _UP + 26
    sheet.box(x + 14, y + 6, wide - 28, 26, "scaleup", 0.14)
    verb = _does(schedule, moment) if moment else "switch"
    sheet.write(x + wide / 2, y + 23.5, verb, "scaleup", "center")
    for rank in range(n):
        left = x + 8 + rank * step + 5
        _boxes(sheet, schedule, moment, rank, left, floor, each, high)
        sheet.write(left + each * schedule.chunks / 2, floor + high + 14, f"GPU {rank}", "compute", "center", say=False)
    for move in schedule[moment - 1] if moment else []:
        up = move.target == n
        rank = move.source if up else move.target
        at = x + 8 + rank * step + 5 + (move.chunk + 0.5) * each
        arrow(sheet, [at, at], [floor - 3, y + 35] if up else [y + 35, floor - 3], "scaleup")
    return floor + high + 18


def _does(schedule, moment: int) -> str:
    """What the switch does with the transfers of the step that has just been made."""
    moves = schedule[moment - 1]
    if moves[0].target == schedule.ranks:
        return "the switch adds" if moves[0].reduce else "the switch takes the sums"
    several = len(moves) > len({move.chunk for move in moves})
    return "the switch copies" if several else "the switch returns the sums"
