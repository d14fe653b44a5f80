"""Schedules of a pipeline as Gantt charts: ranks are rows, time runs to the right, what waits is grey."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from matplotlib.transforms import IdentityTransform

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue, width
from gpuscale.plotting.drawing.ink import fold as folded
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.drawing.ticks import linear_ticks
from gpuscale.plotting.pipeline_words import KINDS, amount, count, kinds, named, order, parts, peak, waits

UNIT = "<i>t</i><sub>F</sub>"
_CELL, _PITCH, _AXIS, _BAND, _GAP, _KEY = 20, 24, 20, 12, 20, 20  # pixels
_LEAST = {False: 11.0, True: 10.5}  # pixels for the shortest cell; with fewer the time is folded
_MOST = {False: 2, True: 4}  # bands that a chart is folded into
_FILL = {"F": (0.1, 0.24), "B": (1.0, 0.5), "W": (0.0, 0.0)}  # shade of a stage's first part and of the others


def gantt_figure(runs, *, name, caption, alt=None, unit=UNIT, **look) -> Still:
    """Schedules of a pipeline, one ``timetable.PipelineRun`` or several on one scale of time, as a figure.

    A cell is a slot with the number of its microbatch: forward pale, backward solid, the backward for the weights
    hatched; the parts of a model that a rank holds besides its first are underlined. Grey is waiting, and its share of
    all slots stands in the title. On a phone a long schedule is folded into bands. ``unit`` is the unit of time;
    ``alt`` and the folded table are made from the schedule. Raises ValueError if there is none, or one without slots.
    """
    runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not runs or not all(run.slots for run in runs):
        raise ValueError(f"gantt_figure: {name}: expected schedules with slots; got {runs}")

    def paint(ax, narrow):
        _GanttChart(ax.figure, runs, narrow, unit).paint()

    def tall(narrow):
        return lambda w: _GanttChart(_Size(w, narrow), runs, narrow, unit).down

    size = {"axes": False, "height": tall(False), "narrow_height": tall(True)}
    return Still(paint, name=name, caption=caption, alt=alt or _alt(runs), table=_table(runs), **size, **look)


@dataclass
class _Size:
    across: float
    narrow: bool


class _GanttChart:
    """The plan of a figure: the scale of time, the bands, and what stands where; ``paint`` draws it."""

    def __init__(self, sheet, runs, narrow: bool, unit: str):
        self.sheet, self.runs, self.narrow, self.unit = sheet, runs, narrow, unit
        last = max(run.ranks for run in runs) - 1
        self.left = width(f"{'' if narrow else 'rank '}{last}") + 8
        room = sheet.across - self.left - 9
        longest = max(run.makespan for run in runs)
        shortest = min(slot.end - slot.start for run in runs for slot in run.slots if slot.end > slot.start)
        bands = ceil(float(longest / shortest) * _LEAST[narrow] / room)
        self.span = Fraction(ceil(longest / min(bands, _MOST[narrow]))) if bands > 1 else Fraction(longest)
        self.per = room / float(self.span)
        self.keys = self._key_lines()

    def bands(self, run) -> int:
        return ceil(run.makespan / self.span)

    def _titles(self, run) -> list[tuple[str, str, bool]]:
        """The lines over a chart: (text, colour, bold); the count moves to a line of its own where it has to."""
        room, said = self.sheet.across, count(run)
        if width(run.title, True) + width(said) + 18 <= room:
            return [(run.title, "plain", True)]
        return [(line, "plain", True) for line in folded(run.title, room, bold=True)] + [(said, "wait", False)]

    def _head(self, run) -> float:
        return LEADING * len(self._titles(run)) + 6

    def _tall(self, run) -> float:
        bands = self.bands(run)
        return self._head(run) + bands * (run.ranks * _PITCH + _AXIS) + (bands - 1) * _BAND

    @property
    def down(self) -> float:
        """The height of the whole figure."""
        charts = sum(self._tall(run) for run in self.runs) + _GAP * (len(self.runs) - 1)
        return charts + LEADING + 10 + _KEY * len(self.keys)

    def paint(self) -> None:
        sheet, y = self.sheet, 0.0
        for run in self.runs:
            lines = self._titles(run)
            for i, (text, colour, bold) in enumerate(lines):
                sheet.write(0, y + 12 + i * LEADING, text, colour, bold=bold)
            if len(lines) == 1:
                sheet.write(sheet.across, y + 12, count(run), "wait", "right")
            self._rows(run, y + self._head(run))
            y += self._tall(run) + _GAP
            sheet.records += [_record(run, rank) for rank in range(run.ranks)]
        y += LEADING - _GAP
        sheet.write(sheet.across - 4, y, f"time, in {self.unit}", "plain", "right", bold=True)
        self._key(y + 8)

    def _place(self, top: float, run, rank: int, a, b):
        """The rectangles (x, y, width, whole) of a time span: one, or a piece in each band that it touches."""
        tall = run.ranks * _PITCH + _AXIS + _BAND
        for band in range(self.bands(run)):
            lo, hi = max(a, band * self.span), min(b, (band + 1) * self.span)
            if hi > lo:
                x = self.left + float(lo - band * self.span) * self.per
                yield x, top + band * tall + rank * _PITCH + 2, float(hi - lo) * self.per, hi - lo == b - a

    def _rows(self, run, top: float) -> None:
        sheet, tall = self.sheet, run.ranks * _PITCH + _AXIS + _BAND
        for rank in range(run.ranks):
            for x, y, w, _ in self._pieces(top, run, rank, waits(run, rank)):
                sheet.area(x, y, x + w, y + _CELL, "wait", 0.38)
            for band in range(self.bands(run)):
                y = top + band * tall + rank * _PITCH + _CELL / 2 + 6.4
                word = str(rank) if self.narrow else f"rank {rank}"
                sheet.write(self.left - 8, y, word, "soft", "right", say=False)
        part = parts(run)
        for slot in sorted(run.slots, key=lambda s: (part[s.rank, s.stage], list(KINDS).index(s.kind))):
            for x, y, w, whole in self._place(top, run, slot.rank, slot.start, slot.end):
                self._cell(x, y, w, slot.kind, part[slot.rank, slot.stage], str(slot.microbatch) if whole else "")
        for move in run.transfers:
            self._transfer(run, top, move)
        for band in range(self.bands(run)):
            self._axis(run, band, top + band * tall + run.ranks * _PITCH)

    def _pieces(self, top, run, rank, spans):
        for a, b in spans:
            yield from self._place(top, run, rank, a, b)

    def _cell(self, x: float, y: float, w: float, kind: str, part: int, word: str) -> None:
        """A slot: its shade and pattern say what it does, a line under its number that it is of a further part."""
        self._box(x + 1, y + 0.5, w - 2, _CELL - 1, kind, part)
        on = "paper" if _FILL[kind][part > 0] == 1 else "plain"
        if word and width(word) <= w - 2:
            self.sheet.write(x + w / 2, y + 14, word, on, "center", halo=kind == "W", say=False)
        if part:
            reach = min(w - 6, width("00")) / 2
            for line in range(min(part, 2)):
                at = y + 16.5 + 2 * line - (part > 1)
                self.sheet.rule([x + w / 2 - reach, x + w / 2 + reach], [at] * 2, on, linewidth=1.2, zorder=3)

    def _transfer(self, run, top: float, move) -> None:
        """An arrow's shaft from the sender's row to the receiver's, where a transfer takes time."""
        ends = [list(self._place(top, run, r, move.start, move.end)) for r in (move.source, move.target)]
        if move.end > move.start and len(ends[0]) == 1:
            (x, y0, w, _), y1 = ends[0][0], ends[1][0][1]
            k = 6 if y1 > y0 else -6
            self.sheet.rule([x, x + w], [y0 + _CELL / 2 + k, y1 + _CELL / 2 - k], "scaleout", linewidth=1.5, zorder=2.5)

    def _axis(self, run, band: int, y: float) -> None:
        """Ticks with the time below a band."""
        lo = band * self.span
        hi = min(lo + self.span, run.makespan)
        if lo == hi:
            return
        fits = lambda row: len(row) * (width(amount(hi)) + 14) <= float(hi - lo) * self.per  # noqa: E731
        ticks = [t for t in linear_ticks(float(lo), float(hi), fits) if t == int(t)] or [float(lo)]
        ends = [self.left, self.left + float(hi - lo) * self.per]
        self.sheet.rule(ends, [y + 1] * 2, "edge", zorder=1)
        for tick in ticks:
            x = self.left + (tick - float(lo)) * self.per
            self.sheet.rule([x, x], [y + 1, y + 5], "edge", zorder=1)
            self.sheet.write(x, y + 17, amount(Fraction(tick)), "soft", "center", say=False)

    def _key_lines(self) -> list[list[tuple[str, str]]]:
        """The key, as (kind, words), in lines that fit."""
        found, more = kinds(self.runs), max(max(parts(run).values()) for run in self.runs)
        items = [(kind, named(kind, found)) for kind in found]
        items += [("part", "a further part of the model, underlined")] if more else []
        items += [("wait", "waiting")]
        moved = any(move.end > move.start for run in self.runs for move in run.transfers)
        items += [("send", "transfer")] if moved else []
        lines, at = [[]], 0.0
        for item in items:
            need = 30 + width(item[1]) + 16
            if lines[-1] and at + need - 16 > self.sheet.across:
                lines.append([])
                at = 0.0
            lines[-1].append(item)
            at += need
        return lines

    def _key(self, y: float) -> None:
        for line in self.keys:
            x = 0.0
            for kind, words in line:
                if kind == "wait":
                    self.sheet.area(x + 1, y + 2, x + 23, y + 2 + _CELL - 6, "wait", 0.38)
                elif kind == "send":
                    self.sheet.rule([x + 1, x + 23], [y + 2, y + _CELL - 4], "scaleout", linewidth=1.5)
                else:
                    self._box(x + 1, y + 2, 22, 14, "F" if kind == "part" else kind, kind == "part")
                if kind == "part":
                    self.sheet.rule([x + 6, x + 18], [y + 12.5] * 2, "plain", linewidth=1.2, zorder=3)
                self.sheet.write(x + 30, y + 13, words, "soft")
                x += 30 + width(words) + 16
            y += _KEY

    def _box(self, x: float, y: float, w: float, h: float, kind: str, part: int) -> None:
        blue, shade = hue("compute"), _FILL[kind][part > 0]
        style = {"facecolor": to_rgba(blue, shade) if shade else "none", "edgecolor": blue, "linewidth": 1.0}
        style |= {"hatch": "/" if kind == "W" else None, "transform": IdentityTransform(), "zorder": 2}
        self.sheet.add_artist(Rectangle((x, self.sheet.down - y - h), w, h, **style))


def _record(run, rank: int) -> str:
    said = " ".join(f"{word}@{amount(a)}" for a, _, word in order(run, rank))
    return f"{bare(run.title)}, rank {rank}: {said} end {amount(run.makespan)}; holds at most {amount(peak(run, rank))}"


def _alt(runs) -> str:
    said = [
        f"{bare(run.title)}: {run.ranks} ranks and {run.microbatches} microbatches in {amount(run.makespan)} units "
        f"of time; {count(run)}. Rank 0 in order: {' '.join(word for _, _, word in order(run, 0))}"
        for run in runs
    ]
    return "Gantt chart. " + ". ".join(said) + "."


def _table(runs):
    heads = ["Schedule, rank", "Ends at", "Computes", "Waits", "Holds at most"]
    rows = []
    for run in runs:
        for rank in range(run.ranks):
            idle = sum((b - a for a, b in waits(run, rank)), Fraction(0))
            numbers = (max(s.end for s in run.of(rank)), run.makespan - idle, idle)
            rows.append([f"{run.title}, {rank}", *map(amount, numbers), amount(peak(run, rank))])
    return heads, rows
