"""The running softmax of FlashAttention: one query goes through tiles of keys and stores three numbers."""

from __future__ import annotations

import numpy as np

from gpuscale.plotting.drawing.figure import Still
from gpuscale.units import show

_CELL, _LINE, _BAR = 26, 22, 12  # pixels: the cell of a score, a line of words, a bar


def running_softmax(scores, values, tile: int) -> list[dict]:
    """What one query stores after each tile of keys: the largest score, the sum of exponentials, the weighted sum.

    ``old_sum`` and ``old_weighted`` are the sums before the tile, ``factor`` what they are rescaled by. Raises
    ValueError for lists of different lengths.
    """
    if len(scores) != len(values) or not 0 < tile <= len(scores):
        raise ValueError(f"running_softmax: {len(scores)} scores, {len(values)} values, tiles of {tile}")
    largest, total, weighted, steps = -np.inf, 0.0, 0.0, []
    for start in range(0, len(scores), tile):
        new = np.array(scores[start : start + tile], float)
        top = max(largest, new.max())
        factor, weights = float(np.exp(largest - top)), np.exp(new - top)
        step = {"factor": factor, "old_sum": total, "old_weighted": weighted, "start": start}
        total = total * factor + weights.sum()
        weighted = weighted * factor + weights @ np.array(values[start : start + tile], float)
        largest = float(top)
        steps.append(step | {"largest": largest, "sum": float(total), "weighted": float(weighted)})
    return steps


def softmax_figure(scores, values, *, tile, name, caption, **look) -> Still:
    """The tiles of one query as frames: the scores at hand, the largest so far, and both sums before and after."""
    steps = running_softmax(scores, values, tile)
    rows = [
        [str(i), *(show(step[key], "1") for key in ("largest", "factor", "sum", "weighted"))]
        for i, step in enumerate(steps, 1)
    ]
    alt = "; ".join(f"after tile {i}: largest score {m}, sum {s}, weighted sum {w}" for i, m, _, s, w in rows)
    heads = ["tile", "largest score", "old sums times", "sum", "weighted sum"]
    said = {"alt": f"One query and its keys, tile by tile: {alt}.", "table": (heads, rows)}
    return Still(lambda sheet: _draw(sheet, scores, steps, tile), name=name, caption=caption, **said | look)


def _draw(sheet, scores, steps, tile):
    columns = 1 if sheet.narrow else len(steps)
    wide = (sheet.across - 26 * (columns - 1)) / columns
    y = 0.0
    for i, step in enumerate(steps):
        left = (i % columns) * (wide + 26)
        down = _frame(sheet, scores, step, tile, left, y, wide, steps)
        if columns == 1:
            y = down + 18
    sheet.down = down
    sheet.records += [
        f"tile {i}: largest {s['largest']:.6g}, factor {s['factor']:.6g}, sum {s['sum']:.6g}, "
        f"weighted {s['weighted']:.6g}"
        for i, s in enumerate(steps, 1)
    ]


def _frame(sheet, scores, step, tile, x, y, wide, steps) -> float:
    """One tile: its scores filled in, earlier ones dropped, later ones not yet computed; below, what is kept."""
    number = step["start"] // tile + 1
    sheet.write(x, y + 12, f"Tile {number} of {len(steps)}", bold=True)
    y += 22
    for i, score in enumerate(scores):
        at, here = x + 1 + i * _CELL + (i // tile) * 6, step["start"] <= i < step["start"] + tile
        w = _CELL - 3
        if here:
            sheet.box(at, y, w, _CELL - 3, "compute", 0.32)
            sheet.write(at + w / 2, y + 16, f"{score:g}", "plain", "center", say=False)
        else:
            later = i >= step["start"] + tile
            sheet.rule(
                [at, at + w, at + w, at, at],
                [y, y, y + w, y + w, y],
                "edge" if later else "line",
                level=1,
                dash=(2, 3) if later else (),
            )
    y += _CELL + 6
    changed = step["factor"] < 1 and step["start"]
    words = f"largest score <b>{step['largest']:g}</b>"
    if changed:
        words += f", old sums × {show(step['factor'], '1', digits=2)}"
    sheet.write(x, y + 12, words, "plain", say=False)
    y += _LINE
    for label, key, old in (("sum", "sum", "old_sum"), ("weighted sum", "weighted", "old_weighted")):
        y = _bar(sheet, x, y, wide, label, step[key], step[old], step["factor"], max(s[key] for s in steps))
    if step is steps[-1]:
        result = show(step["weighted"] / step["sum"], "1")
        sheet.write(x, y + 12, f"result: weighted sum / sum = <b>{result}</b>", "plain", say=False)
    return y + _LINE - 4


def _bar(sheet, x, y, wide, label, new, old, factor, most) -> float:
    """A sum as a bar: the rescaled old part pale, what the tile adds solid."""
    sheet.write(x, y + 12, f"{label} <b>{show(new, '1')}</b>", "plain", say=False)
    y += 17
    per = (wide - 4) / most
    kept = old * factor * per
    sheet.area(x + 1, y, x + 1 + kept, y + _BAR, "compute", 0.35)
    sheet.area(x + 1 + kept, y, x + 1 + new * per, y + _BAR, "compute")
    return y + _BAR + 6
