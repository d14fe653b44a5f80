"""Block diagrams: what sits inside what. Blocks find their own sizes; a phone gets fewer columns."""

from __future__ import annotations

from gpuscale.plotting.drawing.boxes import Block, stand
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import hue


def blocks(block, *, name, caption, alt, **look) -> Still:
    """A block diagram as a static figure; ``alt`` says what it shows, ``look`` may hold a title.

    Raises TypeError for what is no Block, ValueError for an unknown hue.
    """
    _check(block)
    return Still(lambda sheet: stand(sheet, block), name=name, caption=caption, alt=alt, **look)


def _check(block) -> None:
    if not isinstance(block, Block):
        raise TypeError(f"blocks: expected a Block; got {block!r}")
    if block.hue is not None:
        hue(block.hue, f"block {block.text!r}")
    for child in block.inside:
        _check(child)
