"""A transformer layer by area: its blocks in the order of the data, each as large as what it holds or does."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuscale.plotting.drawing.axis import positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, fold, hue, width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.specs.number import amount
from gpuscale.units import show

_GAP, _COLUMN, _ROW = 3, 22, 10  # pixels: between blocks, between columns, between rows
_TALL = 290  # pixels: all rows of blocks of the tallest column


@dataclass(frozen=True)
class Areas:
    """One column: its heading, base unit, meaning, and its rows as {heading: {block: value}}.

    A value of 0 leaves a dashed slot of the size that the row has in another column. ``worth`` is the value that has
    the same area as 1 in a column without it. ``notes`` are the second lines of blocks. ``words`` say the total,
    instead of all its digits.
    """

    title: str
    unit: str
    hue: str
    rows: dict
    worth: float = 1.0
    notes: dict = field(default_factory=dict)
    words: str = ""

    @property
    def total(self) -> float:
        return sum(v for row in self.rows.values() for v in row.values())


def areas(columns, *, name, caption, tall=_TALL, **look) -> Still:
    """Columns of blocks whose areas are exact: in a column, and by ``worth`` from one to the next.

    Raises ValueError for no column, for columns with other rows, or for values below 0.
    """
    columns = list(columns)
    if not columns or len({tuple(column.rows) for column in columns}) > 1:
        raise ValueError("columns: expected at least one Areas, whose rows have the same headings")
    for column in columns:
        hue(column.hue)
        positive(f"column {column.title!r}", total=column.total, worth=column.worth)
        if any(v < 0 for row in column.rows.values() for v in row.values()):
            raise ValueError(f"column {column.title!r}: expected values of 0 or more; got {column.rows}")
    flat = [
        (column.title, block, amount(v, column.unit) if v else "none", show(v / column.total, "%"))
        for column in columns
        for row in column.rows.values()
        for block, v in row.items()
    ]
    alt = "; ".join(f"{bare(title)}, {bare(block)}: {bare(words)}, {share}" for title, block, words, share in flat)
    said = {"alt": f"{alt}.", "table": (["quantity", "block", "value", "share"], flat)}
    return Still(lambda sheet: _draw(sheet, columns, tall), name=name, caption=caption, **said | look)


def _draw(sheet, columns, tall):
    wide = (sheet.across - _COLUMN * (len(columns) - 1)) / len(columns) - 2
    heights = [max(_depth(column, row, wide) for column in columns) for row in columns[0].rows]
    scale = tall / max(sum(_depth(column, row, wide) for row in column.rows) for column in columns)
    top = max(_head(sheet, column, i * (wide + _COLUMN), wide) for i, column in enumerate(columns))
    for row, depth in zip(columns[0].rows, heights, strict=True):
        lines = fold(row, wide)
        for i, column in enumerate(columns):
            x = 1 + i * (wide + _COLUMN)
            for j, line in enumerate(lines):
                sheet.write(x, top + 12 + j * LEADING, line, "soft", say=i == 0)
            _row(sheet, column, row, x, top + LEADING * len(lines) + 3, wide, depth * scale)
        top += LEADING * len(lines) + 3 + depth * scale + _ROW
    sheet.down = top - _ROW + 2
    for column in columns:
        values = (f"{block} {v:.6g}" for row in column.rows.values() for block, v in row.items())
        sheet.records.append(f"areas {bare(column.title)} [{column.unit}]: {', '.join(values)}")


def _depth(column: Areas, row: str, wide: float) -> float:
    """The height of a row before scaling: gaps between blocks are no area."""
    values = [v for v in column.rows[row].values() if v]
    return sum(values) / column.worth / (wide - _GAP * max(len(values) - 1, 0))


def _head(sheet, column: Areas, x: float, wide: float) -> float:
    """The heading of a column with its total. Returns where it ends."""
    y = 0.0
    for line in fold(column.title, wide, bold=True):
        sheet.write(x + 1, y + 12, line, column.hue, bold=True)
        y += LEADING
    sheet.write(x + 1, y + 12, column.words or amount(column.total, column.unit), "plain")
    return y + LEADING + 6


def _row(sheet, column: Areas, row: str, x: float, y: float, wide: float, tall: float) -> None:
    """The blocks of a row side by side, or a dashed slot where they are nothing."""
    blocks = {block: v for block, v in column.rows[row].items() if v}
    if not blocks:
        w, h = wide, tall
        sheet.rule([x, x + w, x + w, x, x], [y, y, y + h, y + h, y], "edge", level=1, dash=(3, 3))
        _words(sheet, [(column.notes.get(row, "none"), False)], x, y, w, h)
        return
    per = (wide - _GAP * (len(blocks) - 1)) / sum(blocks.values())
    for block, v in blocks.items():
        w = v * per
        sheet.box(x, y, w, tall, column.hue, 0.32)
        lines = [(block, True)]
        lines += [(column.notes[block], False)] if block in column.notes else []
        lines += [(show(v / column.total, "%", digits=2), False)]
        _words(sheet, lines, x, y, w, tall)
        x += w + _GAP


def _words(sheet, lines, x: float, y: float, w: float, h: float) -> None:
    """Those lines that fit, in the middle of a block; the first one first."""
    lines = [(text, bold) for text, bold in lines if width(text, bold) <= w - 5][: max(int((h - 2) // LEADING), 1)]
    at = y + h / 2 - LEADING * len(lines) / 2 + 12
    for text, bold in lines:
        sheet.write(x + w / 2, at, text, "plain", "center", bold, say=False)
        at += LEADING
