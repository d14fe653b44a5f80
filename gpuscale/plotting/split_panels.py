"""A model split over four GPUs, panel by panel: the tokens and the weights of each GPU, and what moves between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import fold, hue
from gpuscale.plotting.drawing.sheet import LEADING

RANKS = 4  # drawn in every other color of ranks, which are farther apart
_TOKENS = {"whole": "every token", "rows": "some sequences", "columns": "a part of each sequence"}
_WEIGHTS = {
    "whole": "every weight",
    "columns": "a part of each layer",
    "rows": "some layers",
    "experts": "some experts of each layer",
}
_WIRES = {"none": "", "all": "all with all", "ring": "in a ring", "chain": "to the next"}
_PANEL, _BOX, _CELL, _BETWEEN = 24, 24, 2, 18  # pixels: between panels, a GPU's box, between cells, between GPUs


@dataclass(frozen=True)
class Split:
    """One panel. ``tokens`` is "whole", "rows" (sequences) or "columns" (parts of sequences); ``weights`` "whole",
    "columns" (of each layer), "rows" (layers) or "experts"; ``wires`` "none", "all", "ring" or "chain".

    ``moves`` says what travels, ``over`` which link, and ``hue`` is the color of that link.
    """

    title: str
    tokens: str = "whole"
    weights: str = "whole"
    wires: str = "none"
    hue: str = "plain"
    moves: str = ""
    over: str = ""

    def __post_init__(self):
        for name, known in (("tokens", _TOKENS), ("weights", _WEIGHTS), ("wires", _WIRES)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"split {self.title!r}: {name} is {getattr(self, name)!r}; expected {', '.join(known)}"
                )
        hue(self.hue)


def splits(panels, *, name, caption, **look) -> Still:
    """Small multiples: tokens as rows of sequences, weights as layers, colored by the GPU that holds them.

    Gray is what every GPU holds. Raises ValueError for no panel.
    """
    panels = list(panels)
    if not panels:
        raise ValueError("panels: the list is empty; expected at least one Split")
    rows = [[p.title, _TOKENS[p.tokens], _WEIGHTS[p.weights], p.moves or "nothing", p.over or "–"] for p in panels]
    alt = "; ".join(f"{t}: a GPU holds {a} and {b}; {m} moves" for t, a, b, m, _ in rows)
    heads = ["split", "tokens of a GPU", "weights of a GPU", "what moves", "over"]
    said = {"alt": f"{alt}.", "table": (heads, rows)}
    return Still(lambda sheet: _draw(sheet, panels), name=name, caption=caption, **said | look)


def _draw(sheet, panels):
    columns = 2 if sheet.narrow else 3
    gap = 14 if sheet.narrow else _PANEL
    wide = (sheet.across - gap * (columns - 1)) / columns
    top = 0.0
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        heads = max(len(fold(p.title, wide, bold=True)) for p in row)
        down = [_panel(sheet, p, i * (wide + gap), top, wide, heads) for i, p in enumerate(row)]
        top = max(down) + 16
    sheet.down = top - 12
    sheet.records += [
        f"split {p.title}: tokens {p.tokens}, weights {p.weights}, wires {p.wires} [{p.hue}]" for p in panels
    ]


def _panel(sheet, p: Split, x: float, y: float, wide: float, heads: int) -> float:
    for i, line in enumerate(fold(p.title, wide, bold=True)):
        sheet.write(x, y + 12 + i * LEADING, line, bold=True)
    y += LEADING * heads + 6
    side = min(0.38 * wide, 84)
    left = x + 0.5
    weights = left + side + 20
    _grid(sheet, left, y, side, side, p.tokens)
    sheet.write(left + side + 10, y + side / 2 + 4, "×", "soft", "center", say=False)
    _grid(sheet, weights, y, min(wide - side - 22, 1.3 * side), side, p.weights, layers=True)
    sheet.write(left, y + side + 14, "tokens", "soft", say=False)
    sheet.write(weights, y + side + 14, "weights", "soft", say=False)
    y = _gpus(sheet, p, left, y + side + 24)
    for line in [*fold(p.moves, wide), *([p.over] if p.over else [])]:
        sheet.write(x, y + 12, line, p.hue, bold=line == p.over)
        y += LEADING
    return y


def _grid(sheet, x: float, y: float, w: float, h: float, how: str, layers: bool = False) -> None:
    """Four rows of four cells; a cell has the color of the GPU that holds it, and each GPU's number stands once."""
    gap_x = {"columns": 1, "experts": 5}.get(how, 0) if layers else _CELL
    gap_y = 4 if layers else _CELL
    cw, ch = (w - gap_x * (RANKS - 1)) / RANKS, (h - gap_y * (RANKS - 1)) / RANKS
    for i in range(RANKS):
        for j in range(RANKS):
            rank = {"rows": i, "columns": j, "experts": j}.get(how)
            left, top = x + j * (cw + gap_x), y + i * (ch + gap_y)
            if rank is None:
                sheet.area(left, top, left + cw, top + ch, "wait", 0.3)
            else:
                sheet.area(left, top, left + cw, top + ch, f"rank{2 * rank}")
    for rank in range(RANKS):
        if how == "rows":
            at = x + w / 2 if layers else x + cw + gap_x + cw / 2
            sheet.write(at, y + rank * (ch + gap_y) + ch / 2 + 4.5, str(rank), "plain", "center", say=False)
        elif how in {"columns", "experts"}:
            at = x + rank * (cw + gap_x) + cw / 2
            sheet.write(at, y + ch + gap_y + ch / 2 + 4.5, str(rank), "plain", "center", say=False)


def _gpus(sheet, p: Split, x: float, y: float) -> float:
    """The GPUs in a row, and their wires below. Returns where they end."""
    step = _BOX + _BETWEEN
    count = 1 if p.wires == "none" else RANKS
    for i in range(count):
        colour = "wait" if p.wires == "none" else f"rank{2 * i}"
        sheet.area(x + i * step, y, x + i * step + _BOX, y + _BOX, colour, 0.3 if p.wires == "none" else 1)
        words = "GPU" if p.wires == "none" else str(i)
        at = x + i * step + (_BOX / 2 if p.wires != "none" else _BOX + 6)
        sheet.write(at, y + 16, words, "plain", "center" if p.wires != "none" else "left", say=False)
    middle, low = y + _BOX / 2, y + _BOX
    for i in range(count - 1):
        a, b = x + i * step + _BOX + 2, x + (i + 1) * step - 2
        _arrow(sheet, a, b, middle, p.hue, both=p.wires == "all")
    if p.wires in {"ring", "all"}:
        a, b = x + _BOX / 2, x + (count - 1) * step + _BOX / 2
        sheet.rule([b, b, a, a], [low + 2, low + 10, low + 10, low + 4], p.hue, level=1, weight=1.6)
        _head(sheet, a, low + 2, p.hue, up=True)
    if p.wires == "all":
        for a, b in ((0, 2), (1, 3)):
            at = np.linspace(0, 1, 21)
            left, right = x + a * step + _BOX / 2 + 5, x + b * step + _BOX / 2 - 5
            sheet.rule(left + (right - left) * at, low + 2 + 26 * at * (1 - at), p.hue, level=1, weight=1.2)
    return low + (16 if p.wires in {"ring", "all"} else 6)


def _arrow(sheet, a: float, b: float, y: float, colour: str, both: bool) -> None:
    sheet.rule([a, b], [y, y], colour, level=1, weight=1.6)
    sheet.fill([b, b - 5, b - 5], [y, y - 3.5, y + 3.5], colour, level=1)
    if both:
        sheet.fill([a, a + 5, a + 5], [y, y - 3.5, y + 3.5], colour, level=1)


def _head(sheet, x: float, y: float, colour: str, up: bool) -> None:
    sign = 1 if up else -1
    sheet.fill([x, x - 3.5, x + 3.5], [y, y + 5 * sign, y + 5 * sign], colour, level=1)
