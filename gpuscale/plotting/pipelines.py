"""Schedules of a pipeline as Gantt charts: ranks are rows, time runs to the right, idle slots are gray."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil

from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.pipeline_words import KINDS, amount, count, kinds, named, order, parts, peak, waits

_CELL, _PITCH, _AXIS, _BAND, _GAP = 20, 24, 20, 12, 20  # pixels
_LEAST = {False: 11.0, True: 10.5}  # pixels for the shortest cell; with fewer the time is folded
_MOST = {False: 2, True: 4}  # bands that a chart is folded into
_FILL = {"F": (0.1, 0.24), "B": (1.0, 0.5), "W": (0.0, 0.0)}  # shade of a stage's first part and of the others


def gantt_figure(runs, *, name, caption, **look) -> Still:
    """Schedules of a pipeline, one ``timetable.PipelineRun`` or several on one scale of time, as a figure.

    A cell is a slot with the number of its microbatch: forward pale, backward solid, the backward for the weights
    hatched; the parts of a model that a rank holds besides its first are underlined. Gray is idle, and the title has
    its fraction of all slots. On a phone a long schedule is folded into bands. ``alt`` and the folded table are made
    from the schedule. Raises ValueError if there is none, or one without slots.
    """
    runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    if not runs or not all(run.slots for run in runs):
        raise ValueError(f"gantt_figure: {name}: expected schedules with slots; got {runs}")

    def paint(sheet):
        _GanttChart(sheet, runs).paint()

    return Still(paint, name=name, caption=caption, **{"alt": _alt(runs), "table": _table(runs)} | look)


class _GanttChart:
    """The scale of time of a figure and the bands that it is folded into; ``paint`` draws it."""

    def __init__(self, sheet, runs):
        self.sheet, self.runs = sheet, runs
        last = max(run.ranks for run in runs) - 1
        self.left = width(f"{'' if sheet.narrow else 'rank '}{last}") + 8
        room = sheet.across - self.left - 9
        longest = max(run.makespan for run in runs)
        shortest = min(slot.end - slot.start for run in runs for slot in run.slots if slot.end > slot.start)
        bands = ceil(float(longest / shortest) * _LEAST[sheet.narrow] / room)
        self.span = Fraction(ceil(longest / min(bands, _MOST[sheet.narrow]))) if bands > 1 else Fraction(longest)
        self.per = room / float(self.span)

    def paint(self) -> None:
        sheet, y = self.sheet, 0.0
        for run in self.runs:
            y = self._chart(run, self._title(run, y) + 6) + _GAP
            sheet.records += [_record(run, rank) for rank in range(run.ranks)]
        y += LEADING - _GAP
        sheet.write(sheet.across - 4, y, "time, in <i>t</i><sub>F</sub>", "plain", "right", bold=True)
        sheet.down = sheet.legend(self._key(), y + 8) + 2

    def _title(self, run, y: float) -> float:
        """The lines over a chart, where they end; the count moves to a line of its own where it has to."""
        sheet, said = self.sheet, f"waiting {count(run)}"
        if width(run.title, True) + width(said) + 18 <= sheet.across:
            sheet.paragraph(run.title, 0, y, bold=True)
            return sheet.paragraph(said, sheet.across, y, "wait", "right")
        return sheet.paragraph(said, 0, sheet.paragraph(run.title, 0, y, bold=True), "wait")

    def _place(self, top: float, run, rank: int, a, b):
        """The rectangles (x, y, width, whole) of a time span: one, or a piece in each band that it touches."""
        for band in range(ceil(run.makespan / self.span)):
            lo, hi = max(a, band * self.span), min(b, (band + 1) * self.span)
            if hi > lo:
                x = self.left + float(lo - band * self.span) * self.per
                yield x, self._row(top, run, band, rank), float(hi - lo) * self.per, hi - lo == b - a

    def _row(self, top: float, run, band: int, rank: int) -> float:
        """The upper edge of a rank's cells in a band."""
        return top + band * (run.ranks * _PITCH + _AXIS + _BAND) + rank * _PITCH + 2

    def _chart(self, run, top: float) -> float:
        """The rows of a schedule in all bands. Returns where they end."""
        sheet, part, bands = self.sheet, parts(run), range(ceil(run.makespan / self.span))
        for rank in range(run.ranks):
            for a, b in waits(run, rank):
                for x, y, w, _ in self._place(top, run, rank, a, b):
                    sheet.area(x, y, x + w, y + _CELL, "wait", 0.38)
            for band in bands:
                word = str(rank) if sheet.narrow else f"rank {rank}"
                y = self._row(top, run, band, rank) + _CELL / 2 + 4.4
                sheet.write(self.left - 8, y, word, "soft", "right", say=False)
        for slot in sorted(run.slots, key=lambda s: (part[s.rank, s.stage], list(KINDS).index(s.kind))):
            for x, y, w, whole in self._place(top, run, slot.rank, slot.start, slot.end):
                self._cell(x, y, w, slot.kind, part[slot.rank, slot.stage], str(slot.microbatch) if whole else "")
        for move in run.transfers:
            self._transfer(run, top, move)
        for band in bands:
            self._axis(run, band, self._row(top, run, band, run.ranks) - 2)
        return self._row(top, run, bands[-1], run.ranks) - 2 + _AXIS

    def _cell(self, x: float, y: float, w: float, kind: str, part: int, word: str) -> None:
        """A slot: its shade and pattern say what it does, a line under its number that it is of a further part."""
        shade = _FILL[kind][part > 0]
        self.sheet.box(x + 1, y + 0.5, w - 2, _CELL - 1, "compute", shade, hatch=kind == "W")
        on = "paper" if shade == 1 else "plain"
        if word and width(word) <= w - 2:
            self.sheet.write(x + w / 2, y + 14, word, on, "center", halo=kind == "W", say=False)
        reach = min(w - 6, width("00")) / 2
        for line in range(min(part, 2)):
            at = y + 16.5 + 2 * line - (part > 1)
            self.sheet.rule([x + w / 2 - reach, x + w / 2 + reach], [at] * 2, on, level=3, weight=1.2)

    def _transfer(self, run, top: float, move) -> None:
        """An arrow's shaft from the sender's row to the receiver's, where a transfer takes time."""
        ends = [list(self._place(top, run, r, move.start, move.end)) for r in (move.source, move.target)]
        if move.end > move.start and len(ends[0]) == 1:
            (x, y0, w, _), y1 = ends[0][0], ends[1][0][1]
            k = 6 if y1 > y0 else -6
            ys = [y0 + _CELL / 2 + k, y1 + _CELL / 2 - k]
            self.sheet.rule([x, x + w], ys, "scaleout", level=2.5, weight=1.5)

    def _axis(self, run, band: int, y: float) -> None:
        """Ticks with the time below a band."""
        lo = band * self.span
        hi = min(lo + self.span, run.makespan)
        if lo == hi:
            return
        length = float(hi - lo) * self.per
        axis = Axis(float(lo), float(hi), log=False)
        row = axis.ticks(lambda row: len(row) * (width(amount(hi)) + 14) <= length)
        self.sheet.rule([self.left, self.left + length], [y + 1] * 2, "edge", level=1)
        for tick in [t for t in row if t == int(t)] or [float(lo)]:
            x = float(axis.place(tick, self.left, self.left + length))
            self.sheet.rule([x, x], [y + 1, y + 5], "edge", level=1)
            self.sheet.write(x, y + 17, amount(Fraction(tick)), "soft", "center", say=False)

    def _key(self) -> list[tuple]:
        """The meaning of the cells, each with its look."""
        found, runs = kinds(self.runs), self.runs
        items = [(named(kind, found), partial(self._swatch, kind)) for kind in found]
        if any(part for run in runs for part in parts(run).values()):
            items.append(("a further part of the model, underlined", partial(self._swatch, "part")))
        items.append(("waiting", partial(self._swatch, "wait")))
        if any(move.end > move.start for run in runs for move in run.transfers):
            items.append(("transfer", partial(self._swatch, "send")))
        return items

    def _swatch(self, what: str, x: float, y: float) -> None:
        if what == "wait":
            self.sheet.area(x, y, x + 22, y + 14, "wait", 0.38)
        elif what == "send":
            self.sheet.rule([x, x + 22], [y, y + 14], "scaleout", weight=1.5)
        elif what == "part":
            self.sheet.box(x, y, 22, 14, "compute", _FILL["F"][1])
            self.sheet.rule([x + 5, x + 17], [y + 10.5] * 2, level=3, weight=1.2)
        else:
            self.sheet.box(x, y, 22, 14, "compute", _FILL[what][0], hatch=what == "W")


def _record(run, rank: int) -> str:
    said = " ".join(f"{word}@{amount(a)}" for a, _, word in order(run, rank))
    return f"{bare(run.title)}, rank {rank}: {said} end {amount(run.makespan)}; holds at most {amount(peak(run, rank))}"


def _alt(runs) -> str:
    said = [
        f"{bare(run.title)}: {run.ranks} ranks and {run.microbatches} microbatches in {amount(run.makespan)} units "
        f"of time; waiting {count(run)}. Rank 0 in order: {' '.join(word for _, _, word in order(run, 0))}"
        for run in runs
    ]
    return "Gantt chart. " + ". ".join(said) + "."


def _table(runs):
    heads = ["Schedule, rank", "Ends at", "Computes", "Waits", "Holds at most"]
    rows = []
    for run in runs:
        for rank in range(run.ranks):
            numbers = max(s.end for s in run.of(rank)), run.busy(rank), run.idle(rank), peak(run, rank)
            rows.append([f"{run.title}, {rank}", *map(amount, numbers)])
    return heads, rows
