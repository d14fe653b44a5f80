"""Block diagrams: what sits inside what. Blocks find their own sizes; a phone gets fewer columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, fold, hue, width
from gpuscale.plotting.drawing.sheet import LEADING

_PAD, _CELL = 9, 9  # pixels: inside a frame, and from one cell to the next


@dataclass(frozen=True)
class Block:
    """A part: its name, a note under it, its meaning as a hue, and what it holds.

    ``inside`` are Blocks, one under the other, or side by side with ``across`` (``share`` weighs their
    widths; on a phone ``columns`` stand side by side, default all). ``cells`` draws that many small
    squares. A block without text and hue has no frame: it only arranges. ``key`` names it for a Wire;
    ``gap`` is the space between its blocks.
    """

    text: str = ""
    note: str = ""
    hue: str | None = None
    inside: tuple | list = ()
    across: bool = False
    columns: int | None = None
    share: float = 1.0
    cells: int = 0
    key: str = ""
    gap: float = 8.0
    frame: bool = True

    @property
    def framed(self) -> bool:
        return self.frame and bool(self.text or self.hue)


@dataclass(frozen=True)
class Wire:
    """A line between two blocks, by their keys, with words in its middle where they fit."""

    start: str
    end: str
    text: str = ""
    hue: str = "edge"


@dataclass
class _BlockPlan:
    """Where each keyed block came to stand: key -> x, y, width, height."""

    narrow: bool
    places: dict = field(default_factory=dict)


def blocks(block, *, name, caption, alt, wires=(), **look) -> Still:
    """A block diagram as a static figure; ``alt`` says what it shows, ``look`` may hold a title.

    Raises ValueError for an unknown hue, a repeated key, or a wire to a block that is not there.
    """
    keys = _keys(block)
    for wire in wires:
        for end in (wire.start, wire.end):
            if end not in keys:
                known = ", ".join(keys) or "none"
                raise ValueError(f"wire {wire.text!r}: no block has the key {end!r}; expected one of {known}")

    def paint(ax, narrow):
        plan = _BlockPlan(narrow)
        across = ax.figure.across
        _draw(ax, block, 1, 1, across - 2, _height(block, across - 2, narrow), plan)
        for wire in wires:
            _wire(ax, wire, plan.places)

    def tall(narrow):
        return lambda w: _height(block, w - 2, narrow) + 2

    size = {"axes": False, "height": tall(False), "narrow_height": tall(True)}
    return Still(paint, name=name, caption=caption, alt=alt, **size, **look)


def _keys(block) -> list[str]:
    if not isinstance(block, Block):
        raise TypeError(f"blocks: expected a Block; got {block!r}")
    if block.hue is not None:
        hue(block.hue)
    out = [block.key] if block.key else []
    for child in block.inside:
        out += _keys(child)
    twice = next((k for k in out if out.count(k) > 1), None)
    if twice:
        raise ValueError(f"block key {twice!r} is given twice; keys are unique")
    return out


def _words(block: Block, room: float) -> list[tuple[str, bool]]:
    """The lines of a block: its name in bold, then its note."""
    lines = [(t, True) for t in fold(block.text, room, bold=True)] if block.text else []
    return lines + ([(t, False) for t in fold(block.note, room)] if block.note else [])


def _rows(block: Block, room: float, narrow: bool) -> list[list[tuple[Block, float]]]:
    """What a block holds, in rows of (block, width)."""
    held = list(block.inside)
    n = ((block.columns if narrow else None) or len(held) or 1) if block.across else 1
    out = []
    for i in range(0, len(held), n):
        row = held[i : i + n]
        missing = n - len(row) if n > 1 and len(held) > n else 0  # a last row keeps the columns of the others
        free = room - block.gap * (len(row) + missing - 1)
        total = sum(c.share for c in row) + missing
        out.append([(c, free * c.share / total) for c in row])
    return out


def _cells(block: Block, room: float) -> tuple[int, int]:
    """Columns and rows of the small squares: a power of two wide where they need several rows."""
    if not block.cells:
        return 0, 0
    most = max(int(room // _CELL), 1)
    columns = block.cells
    while columns > most:
        columns = (columns + 1) // 2
    return columns, -(-block.cells // columns)


def _height(block: Block, w: float, narrow: bool) -> float:
    pad = _PAD if block.framed else 0
    room = w - 2 * pad
    parts = []
    lines = _words(block, room)
    if lines:
        parts.append(LEADING * len(lines) - 2)
    if block.cells:
        parts.append(_cells(block, room)[1] * _CELL)
    rows = _rows(block, room, narrow)
    parts += [max(_height(c, cw, narrow) for c, cw in row) for row in rows]
    return 2 * pad + sum(parts) + block.gap * max(len(parts) - 1, 0)


def _draw(ax, block: Block, x, y, w, h, plan: _BlockPlan):
    sheet, pad = ax.figure, _PAD if block.framed else 0
    if block.key:
        plan.places[block.key] = (x, y, w, h)
    if block.framed:
        _frame(ax, block, x, y, w, h)
    room = w - 2 * pad
    leaf = not block.inside
    lines = _words(block, room)
    top = y + pad + ((h - _height(block, w, plan.narrow)) / 2 if leaf else 0)
    for text, bold in lines:
        colour = (block.hue or "plain") if bold else "soft"
        sheet.write(x + w / 2 if leaf else x + pad, top + 11, text, colour, "center" if leaf else "left", bold)
        top += LEADING
    top += block.gap - 2 if lines else 0
    if block.cells:
        top = _squares(ax, block, x + pad, top, room) + block.gap
    rows = _rows(block, room, plan.narrow)
    heights = [max(_height(c, cw, plan.narrow) for c, cw in row) for row in rows]
    spare = (y + h - pad - top - sum(heights) - block.gap * (len(rows) - 1)) / max(len(rows), 1)
    for row, tall in zip(rows, heights, strict=True):
        left = x + pad
        for child, cw in row:
            _draw(ax, child, left, top, cw, tall + spare, plan)
            left += cw + block.gap
        top += tall + spare + block.gap


def _frame(ax, block, x, y, w, h):
    """A round-cornered frame; one with a meaning is filled palely in its colour."""
    edge = hue(block.hue or "line")
    style = {"facecolor": to_rgba(edge, 0.12) if block.hue else "none", "edgecolor": edge, "clip_on": False}
    ax.add_patch(FancyBboxPatch((x, y), w, h, boxstyle="round,pad=0,rounding_size=4", linewidth=1.0, **style))


def _squares(ax, block, x, y, room) -> float:
    columns, rows = _cells(block, room)
    left, side = x + (room - columns * _CELL + 2) / 2, _CELL - 2
    for row in range(rows):  # a row of squares is a thick line with gaps
        count, at = min(columns, block.cells - row * columns), y + row * _CELL + side / 2
        ends = [left, left + count * _CELL - 2]
        ax.figure.rule(ends, [at, at], block.hue or "wait", zorder=2, linewidth=side, linestyle=(0, (side, 2)))
    return y + rows * _CELL


def _wire(ax, wire: Wire, places):
    """From the side of one block to the facing side of the other."""
    (ax0, ay, aw, ah), (bx, by, bw, bh) = places[wire.start], places[wire.end]
    sheet = ax.figure
    if ax0 + aw <= bx or bx + bw <= ax0:  # side by side
        (x0, x1) = (ax0 + aw, bx) if ax0 < bx else (ax0, bx + bw)
        y = (max(ay, by) + min(ay + ah, by + bh)) / 2
        sheet.rule([x0, x1], [y, y], wire.hue, linewidth=2, zorder=1)
        at, room = ((x0 + x1) / 2, y - 6), abs(x1 - x0)
    else:
        x = (max(ax0, bx) + min(ax0 + aw, bx + bw)) / 2
        (y0, y1) = (ay + ah, by) if ay < by else (ay, by + bh)
        sheet.rule([x, x], [y0, y1], wire.hue, linewidth=2, zorder=1)
        at, room = (x + 8, (y0 + y1) / 2 + 4.4), 1e9 if abs(y1 - y0) >= 14 else 0
    if wire.text and width(wire.text) + 4 <= room:
        sheet.write(*at, wire.text, wire.hue, "left" if room > 1e8 else "center", say=False)
    sheet.records.append(f"wire {wire.start} to {wire.end}: {bare(wire.text)}")
