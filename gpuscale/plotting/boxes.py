"""Boxes inside boxes: they find their own sizes, next to each other or stacked, and carry labels. A phone gets fewer
columns."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import RANKS, fold, hue, width
from gpuscale.plotting.drawing.sheet import LEADING

PAD, CELL = 9, 9  # pixels: inside a frame, and from one cell to the next
STRONG = 0.24  # of a color under words; above it, words of that color would be hard to read


@dataclass(frozen=True)
class Block:
    """A part: its name, a note under it, its meaning as a hue, and what it holds.

    ``inside`` are Blocks, stacked, or next to each other with ``across`` (on a phone ``columns`` of them,
    default all), ``gap`` pixels apart. ``cells`` draws that many small squares. A block without text and hue has no
    frame, unless ``frame`` says so: it only arranges others. ``key`` names its place. ``wide`` and
    ``tall`` fix its size in pixels, ``fill`` is the strength of its color and ``note_hue`` the color of its note; a
    note of several phrases takes one line if they fit.
    """

    text: str = ""
    note: str | tuple = ""
    hue: str | None = None
    inside: tuple | list = ()
    across: bool = False
    columns: int | None = None
    cells: int = 0
    key: str = ""
    gap: float = 8.0
    frame: bool | None = None
    wide: float | None = None
    tall: float | None = None
    note_hue: str = "soft"
    fill: float = 0.12

    @property
    def pad(self) -> int:
        """The space inside its frame, if it has one."""
        return PAD if self.framed else 0

    @property
    def framed(self) -> bool:
        return bool(self.text or self.hue) if self.frame is None else self.frame


def blocks(block: Block, *, name, caption, alt, **look) -> Still:
    """A block diagram as a static figure: nested blocks; ``alt`` describes it, ``look`` may hold a title.

    Raises TypeError for anything but a Block, ValueError for an unknown hue.
    """
    todo = [block]
    while todo:
        part = todo.pop()
        if not isinstance(part, Block):
            raise TypeError(f"blocks: expected a Block; got {part!r}")
        hue(part.hue or "line", f"block {part.text!r}")
        todo += part.inside
    return Still(lambda sheet: stand(sheet, block), name=name, caption=caption, alt=alt, **look)


def stand(sheet, block: Block) -> dict:
    """Draws a block on the whole of a sheet, which gets the height that it needs; the places that ``draw`` gives."""
    w = sheet.across - 2
    sheet.down = height(block, w, sheet.narrow) + 2
    return draw(sheet, block, 1, 1, w, sheet.down - 2)


def draw(sheet, block: Block, x: float, y: float, w: float, h: float, under: float = 0.0) -> dict:
    """Draws a block with all it holds; the place of each one with a key, as (x, y, width, height). ``under`` is the
    strength of the colors that it stands on."""
    places = {block.key: (x, y, w, h)}
    if block.framed:
        fill = block.fill if block.hue else 0.0
        sheet.box(x, y, w, h, block.hue or "line", fill)
        under += fill
    room, leaf = w - 2 * block.pad, not block.inside
    top = y + block.pad + ((h - _natural(block, w, sheet.narrow)) / 2 if leaf else 0)
    for text, bold in _words(block, room):
        named = "plain" if block.hue in RANKS else block.hue or "plain"  # words on a GPU's color stay dark
        colour = "plain" if under > STRONG else named if bold else block.note_hue
        left, align = (x + w / 2, "center") if leaf else (x + block.pad, "left")
        sheet.write(left, top + 11, text, colour, align, bold, say=bool(block.text))
        top += LEADING
    top += block.gap - 2 if block.text or block.note else 0
    if block.cells:
        top = _squares(sheet, block, x + block.pad, top, room) + block.gap
    rows = _rows(block, room, sheet.narrow)
    heights = [max(height(child, cw, sheet.narrow) for child, cw in row) for row in rows]
    spare = (y + h - block.pad - top - sum(heights) - block.gap * (len(rows) - 1)) / max(len(rows), 1)
    for row, tall in zip(rows, heights, strict=True):
        used = sum(cw for _, cw in row) + block.gap * (len(row) - 1)
        left = x + block.pad + (room - used if all(child.wide for child, _ in row) else 0) / 2
        for child, cw in row:
            places |= draw(sheet, child, left, top, cw, child.tall or tall + spare, under)
            left += cw + block.gap
        top += tall + spare + block.gap
    return places


def height(block: Block, w: float, narrow: bool) -> float:
    """How tall a block is that is ``w`` pixels wide."""
    return block.tall or _natural(block, w, narrow)


def _natural(block: Block, w: float, narrow: bool) -> float:
    """The height that its words and its content need."""
    room, parts = w - 2 * block.pad, []
    if lines := _words(block, room):
        parts.append(LEADING * len(lines) - 2)
    if block.cells:
        parts.append(_cells(block, room)[1] * CELL)
    parts += [max(height(child, cw, narrow) for child, cw in row) for row in _rows(block, room, narrow)]
    return 2 * block.pad + sum(parts) + block.gap * max(len(parts) - 1, 0)


def _words(block: Block, room: float) -> list[tuple[str, bool]]:
    """The lines of a block: its name in bold, then its note."""
    lines = [(t, True) for t in fold(block.text, room, bold=True)] if block.text else []
    phrases = [block.note] if isinstance(block.note, str) else block.note
    if width(", ".join(phrases)) <= room:
        phrases = [", ".join(phrases)]
    return lines + [(t, False) for phrase in phrases if phrase for t in fold(phrase, room)]


def _rows(block: Block, room: float, narrow: bool) -> list[list[tuple[Block, float]]]:
    """The content of a block, in rows of (block, width)."""
    held = list(block.inside)
    n = ((block.columns if narrow else None) or len(held) or 1) if block.across else 1
    out = []
    for i in range(0, len(held), n):
        row = held[i : i + n]
        missing = n - len(row) if n > 1 and len(held) > n else 0  # a last row keeps the columns of the others
        free = room - block.gap * (len(row) + missing - 1) - sum(child.wide or 0 for child in row)
        share = free / max(sum(child.wide is None for child in row) + missing, 1)
        out.append([(child, share if child.wide is None else child.wide) for child in row])
    return out


def _cells(block: Block, room: float) -> tuple[int, int]:
    """Columns and rows of the small squares: a power of two wide where they need several rows."""
    most = max(int(room // CELL), 1)
    columns = block.cells
    while columns > most:
        columns = (columns + 1) // 2
    return columns, -(-block.cells // columns)


def _squares(sheet, block: Block, x: float, y: float, room: float) -> float:
    """The small squares, row by row. Returns where they end."""
    columns, rows = _cells(block, room)
    left, side = x + (room - columns * CELL + 2) / 2, CELL - 2
    for row in range(rows):  # a row of squares is a thick line with gaps
        count, at = min(columns, block.cells - row * columns), y + row * CELL + side / 2
        sheet.rule([left, left + count * CELL - 2], [at, at], block.hue or "wait", level=2, weight=side, dash=(side, 2))
    return y + rows * CELL
