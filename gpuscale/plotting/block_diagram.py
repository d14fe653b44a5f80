"""Block diagrams: what sits inside what. Blocks find their own sizes; a phone gets fewer columns."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.plotting.drawing.boxes import Block, stand
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import bare, hue, width


@dataclass(frozen=True)
class Wire:
    """A line between two blocks, by their keys, with words in its middle where they fit."""

    start: str
    end: str
    text: str = ""
    hue: str = "edge"


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

    def paint(sheet):
        places = stand(sheet, block)
        for wire in wires:
            _wire(sheet, wire, *places[wire.start], *places[wire.end])

    return Still(paint, name=name, caption=caption, alt=alt, **look)


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


def _wire(sheet, wire: Wire, ax, ay, aw, ah, bx, by, bw, bh) -> None:
    """From the side of one block to the facing side of the other."""
    if ax + aw <= bx or bx + bw <= ax:  # side by side
        x0, x1 = (ax + aw, bx) if ax < bx else (ax, bx + bw)
        y = (max(ay, by) + min(ay + ah, by + bh)) / 2
        sheet.rule([x0, x1], [y, y], wire.hue, level=1, weight=2)
        x, y, align, fits = (x0 + x1) / 2, y - 6, "center", width(wire.text) + 4 <= abs(x1 - x0)
    else:
        x = (max(ax, bx) + min(ax + aw, bx + bw)) / 2
        y0, y1 = (ay + ah, by) if ay < by else (ay, by + bh)
        sheet.rule([x, x], [y0, y1], wire.hue, level=1, weight=2)
        x, y, align, fits = x + 8, (y0 + y1) / 2 + 4.4, "left", abs(y1 - y0) >= 14
    if wire.text and fits:
        sheet.write(x, y, wire.text, wire.hue, align, say=False)
    sheet.records.append(f"wire {wire.start} to {wire.end}: {bare(wire.text)}")
