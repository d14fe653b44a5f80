"""Who holds which part: the training state under ZeRO, the matrices of a tensor-parallel MLP, and the sequence of
context parallelism. A color is a GPU; what every GPU holds has the color of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuscale.plotting.collectives import arrow
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import RANKS, width

STAGES = "plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"
_BYTE, _FEET, _TOP = 14, 78, 24  # pixels: a byte of a parameter, what stands below a column, its title
_ALPHA = (1.0, 0.6, 0.3)  # weights, gradients, optimizer


# ---- ZeRO


def zero_figure(
    state: Mapping[str, float], stored: Sequence, sent: Sequence, *, name, caption, ranks=4, **look
) -> Still:
    """What each of some GPUs stores of a parameter under plain data parallelism and the three stages of ZeRO.

    ``state`` has the bytes of weights, gradients and optimizer, in this order; ``stored`` and ``sent`` have, for each
    stage, the bytes per parameter that a GPU holds and sends in a step. Raises ValueError if one is missing.
    """
    if len(state) != 3 or not len(stored) == len(sent) == len(STAGES):
        raise ValueError(f"zero_figure: expected three states and four stages; got {state}, {stored}, {sent}")
    _ranks(ranks)
    rows = [[s, _bytes(held), _bytes(out)] for s, held, out in zip(STAGES, stored, sent, strict=True)]
    what = "; ".join(f"{s}: {held} stored, {out} sent" for s, held, out in rows)
    alt = f"What each of {ranks} GPUs stores per parameter: optimizer, gradients and weights as a column. {what}."
    said = {"alt": alt, "table": (["Stage", "Stored per parameter", "Sent per parameter per step"], rows)}

    def paint(sheet):
        columns, tall = (2 if sheet.narrow else 4), _BYTE * sum(state.values())
        left, gap = 84, 22
        wide = (sheet.across - left - gap * (columns - 1)) / columns
        for stage in range(len(STAGES)):
            x, y = left + stage % columns * (wide + gap), stage // columns * (tall + _TOP + _FEET)
            if stage % columns == 0:
                _rows_of_state(sheet, state, y + _TOP, tall)
            sheet.write(x, y + 13, STAGES[stage], bold=True)
            _columns(sheet, state, stage, ranks, x, y + _TOP, wide)
            _held_and_sent(sheet, stored[stage], sent[stage], stored[0], x, y + _TOP + tall + 22, wide)
            sheet.records.append(f"{STAGES[stage]}: holds {_bytes(stored[stage])}, sends {_bytes(sent[stage])}")
        sheet.down = len(STAGES) // columns * (tall + _TOP + _FEET) - 8

    return Still(paint, name=name, caption=caption, **said | look)


def _bytes(v: float) -> str:
    return f"{v:.3g} B"


def _rows_of_state(sheet, state, top: float, tall: float) -> None:
    """The names of the three states at the left of the columns."""
    y = top + tall
    for what, size in state.items():
        y -= size * _BYTE
        middle = y + size * _BYTE / 2
        if size * _BYTE > 40:
            sheet.write(0, middle - 2, what, say=False)
            sheet.write(0, middle + 14, _bytes(size), "soft", say=False)
        else:
            sheet.write(0, middle + 4, what, say=False)
            sheet.write(78, middle + 4, _bytes(size), "soft", "right", say=False)
    for dy, word in ((17, "GPU"), (37, "stores"), (56, "sends")):
        sheet.write(0, top + tall + dy, word, "plain" if dy == 37 else "soft", bold=dy == 37, say=False)


def _columns(sheet, state, stage: int, ranks: int, x: float, top: float, wide: float) -> None:
    """The GPUs of a stage: what is sharded has the color of its owner at the height of its part."""
    each = (wide - 3 * (ranks - 1)) / ranks
    for rank in range(ranks):
        at, y = x + rank * (each + 3), top + _BYTE * sum(state.values())
        for i, size in enumerate(state.values()):
            h = size * _BYTE
            y -= h
            if stage < 3 - i:  # the optimizer is sharded first, the weights last
                sheet.area(at, y + 1, at + each, y + h - 1, "memory", _ALPHA[i])
                continue
            part, low = (h - 2) / ranks, y + h - 1
            frame = [at, at + each, at + each, at, at], [y + 1, y + 1, y + h - 1, y + h - 1, y + 1]
            sheet.rule(*frame, "edge" if i == 2 else "memory", level=1)
            sheet.area(at, low - (rank + 1) * part, at + each, low - rank * part, RANKS[rank], level=2)
            if part > 14:
                sheet.write(at + each / 2, low - (rank + 0.5) * part + 4.5, str(rank), align="center", say=False)
        sheet.write(at + each / 2, top + _BYTE * sum(state.values()) + 17, str(rank), "soft", "center", say=False)


def _held_and_sent(sheet, held, out, most, x, y, wide) -> None:
    room = wide - width("16 B", True) - 8
    for value, hue, dy, bold in ((held, "memory", 6, True), (out, "scaleout", 25, False)):
        end = x + room * value / most
        sheet.area(x, y + dy, end, y + dy + 10, hue)
        sheet.write(end + 5, y + dy + 9, _bytes(value), bold=bold, say=bold)


# ---- a tensor-parallel MLP


def sharded_mlp_figure(*, name, caption, ranks=4, **look) -> Still:
    """An MLP of two matrices, the first sharded by columns and the second by rows, each part in its GPU's color."""
    _ranks(ranks)
    alt = (
        f"Each of {ranks} GPUs begins with its tokens, and an all-gather gives every GPU all of them. The "
        f"first matrix is divided into {ranks} groups of columns, one per GPU, and so are the hidden activations. The "
        "second matrix is divided into groups of rows. Each GPU ends with a partial sum as large as the whole output. "
        "A reduce-scatter adds them up and leaves each GPU the output of its own tokens."
    )

    def paint(sheet):
        if sheet.narrow:
            low = _chain(sheet, _MLP[:7], 0, ranks)
            sheet.down = _chain(sheet, _MLP[7:], low + 14, ranks)
        else:
            sheet.down = _chain(sheet, _MLP, 0, ranks)

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


# Pixels: the sides of the matrices, and from one partial sum to the next. Then the chain of an MLP: (text, what it is,
# width, height) for a matrix, or a sign, or a collective on an arrow with the room that it needs.
_X, _H, _B, _OFF = 46, 82, 64, 6
_NAMED = {"all-gather": 68, "reduce-scatter": 94}
_MLP = [
    ("tokens", "rows", _X, _B),
    "all-gather",
    ("tokens", "all", _X, _B),
    "×",
    ("first matrix", "columns", _H, _X),
    "→",
    ("hidden", "columns", _H, _B),
    "×",
    ("second matrix", "rows", _X, _H),
    "=",
    ("sums", "sums", _X, _B),
    "reduce-scatter",
    ("output", "rows", _X, _B),
]


def _ranks(ranks: int) -> None:
    if not 2 <= ranks <= len(RANKS):
        raise ValueError(f"ranks: expected 2 to {len(RANKS)}; got {ranks}")


_SIGN = 14  # pixels for a sign between two matrices


def _chain(sheet, items, top: float, ranks: int) -> float:
    """Matrices from left to right, with signs and arrows between them. Returns where they end."""
    mid, used = top + 24 + _H / 2, sum(_room(item, ranks) for item in items)
    signs = sum(isinstance(item, str) and item not in _NAMED for item in items)
    spare, x = (sheet.across - 2 - used) / max(signs, 1), 1.0
    for item in items:
        w = _room(item, ranks)
        if item in _NAMED:
            sheet.write(x + w / 2, mid - 9, item, "scaleup", "center", bold=True)
            sheet.rule([x + 5, x + w - 6], [mid, mid], "scaleup", weight=2)
            sheet.rule([x + w - 11, x + w - 5, x + w - 11], [mid - 4, mid, mid + 4], "scaleup", weight=2)
        elif isinstance(item, str):
            w += min(spare, 16)
            sheet.write(x + w / 2, mid + 4.5, item, "soft", "center", say=False)
        else:
            _matrix(sheet, x, mid, *item, ranks)
        x += w
    return mid + _H / 2 + 4


def _room(item, ranks: int) -> float:
    """The width of one item of a chain."""
    if isinstance(item, str):
        return _NAMED.get(item, _SIGN)
    return item[2] + (_OFF * (ranks - 1) if item[1] == "sums" else 0)


def _matrix(sheet, x, mid, text, kind, w, h, ranks) -> None:
    """A matrix around the height ``mid``: held by all, divided by columns or rows, or a stack of partial sums."""
    y = mid - h / 2
    middle, head = x + w / 2, y - 7
    if kind == "all":
        sheet.area(x, y, x + w, y + h, "memory", 0.3)
        sheet.write(middle, mid + 4.5, "all", align="center", say=False)
    elif kind == "sums":
        y -= _OFF * (ranks - 1) / 2
        middle, head = middle + _OFF * (ranks - 1) / 2, y - 7
        for rank in range(ranks):
            x0, y0, level = x + rank * _OFF, y + rank * _OFF, -rank / 10
            sheet.area(x0 - 1, y0 - 1, x0 + w + 1, y0 + h + 1, "paper", level=level - 0.05)
            sheet.area(x0, y0, x0 + w, y0 + h, RANKS[rank], level=level)
        sheet.write(x + w / 2, y + h / 2 + 4.5, "0", align="center", say=False)
    else:
        dx, dy = (w / ranks, 0) if kind == "columns" else (0, h / ranks)
        for rank in range(ranks):
            x0, y0 = x + rank * dx, y + rank * dy
            x1, y1 = x0 + (dx or w), y0 + (dy or h)
            sheet.area(x0, y0, x1 - (dx > 0), y1 - (dy > 0), RANKS[rank])
            sheet.write((x0 + x1) / 2, (y0 + y1) / 2 + 4.5, str(rank), align="center", say=False)
    sheet.write(middle, head, text, align="center")


# ---- a sequence over ranks


def ring_blocks_figure(*, name, caption, ranks=4, **look) -> Still:
    """Ring attention step by step: each GPU keeps its queries while the blocks of keys and values go around."""
    _ranks(ranks)
    alt = f"{ranks} GPUs and {ranks} steps. " + " ".join(
        f"In step {step + 1}, GPU {rank} works with the keys and values of GPU {(rank - step) % ranks}."
        for step in range(ranks)
        for rank in range(ranks)
    )

    def paint(sheet):
        left = 96 if not sheet.narrow else 74
        each, tall, gap = (sheet.across - left) / ranks, 34, 8
        sheet.write(left - 10, 13, "queries", "soft", "right")
        for step in range(ranks):
            title = f"step {step + 1}"
            sheet.write(left + (step + 0.5) * each, 13, title, bold=True, align="center")
        for rank in range(ranks):
            y = 24 + rank * (tall + gap)
            sheet.write(0, y + tall / 2 + 4.5, f"GPU {rank}", say=False)
            sheet.area(left - 34, y, left - 10, y + tall, RANKS[rank])
            sheet.write(left - 22, y + tall / 2 + 4.5, f"Q<sub>{rank}</sub>", align="center", say=False)
            for step in range(ranks):
                owner, x = (rank - step) % ranks, left + step * each + 5
                sheet.area(x, y, x + each - 10, y + tall, RANKS[owner])
                word = f"K<sub>{owner}</sub> V<sub>{owner}</sub>"
                sheet.write(x + each / 2 - 5, y + tall / 2 + 4.5, word, align="center", say=False)
                if step and rank:  # it came from the GPU above
                    arrow(sheet, [x - 9, x - 1], [y - gap - 3, y + 9], "scaleup", weight=1.8, head=7, level=3)
        sheet.down = 24 + ranks * (tall + gap)

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def causal_figure(layouts: Mapping[str, Sequence[int]], *, name, caption, **look) -> Still:
    """The scores of a causal sequence, one square per way to shard it: a row of scores has the color of its GPU.

    ``layouts`` has, for each title, the GPU of every piece of the sequence from front to back.
    """
    counts = {
        t: {r: sum(i + 0.5 for i, o in enumerate(owners) if o == r) for r in set(owners)}
        for t, owners in layouts.items()
    }
    alt = " ".join(
        f"{title}: of the scores below the diagonal, "
        + ", ".join(f"GPU {rank} has {part / sum(parts.values()):.0%}" for rank, part in sorted(parts.items()))
        + "."
        for title, parts in counts.items()
    )

    def paint(sheet):
        columns = 1 if sheet.narrow else len(layouts)
        room = (sheet.across - 34 * (columns - 1)) / columns
        side = min(room - 96, 210)
        for i, (title, owners) in enumerate(layouts.items()):
            x, y = i % columns * (room + 34), i // columns * (side + 76)
            _triangle(sheet, title, owners, counts[title], x, y, side)
        sheet.down = -(-len(layouts) // columns) * (side + 76) - 20

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _triangle(sheet, title, owners, parts, x, y, side) -> None:
    """Pieces as rows of queries and columns of keys; what the mask hides is empty."""
    sheet.write(x, y + 13, title, bold=True)
    n, top = len(owners), y + 26
    step, total = side / n, sum(parts.values())
    sheet.box(x, top, side, side, "edge", level=1)
    for row, owner in enumerate(owners):
        y0, y1 = top + row * step, top + (row + 1) * step
        sheet.fill([x, x, x + (row + 1) * step, x + row * step], [y0, y1 - 1, y1 - 1, y0], RANKS[owner])
        sheet.write(x + side + 8, (y0 + y1) / 2 + 4.5, f"GPU {owner}", say=False)
        if len(set(owners)) == n:
            sheet.write(x + side + 92, (y0 + y1) / 2 + 4.5, f"{parts[owner] / total:.0%}", "soft", "right", say=False)
    sheet.write(x + side + 8, y + 13, "queries of", "soft", say=False)
    sheet.write(x, top + side + 16, "keys →", "soft")
    if len({round(part / total, 6) for part in parts.values()}) == 1:
        sheet.write(x + side, top + side + 16, f"{1 / len(parts):.0%} per GPU", "soft", "right")
    sheet.records.append(f"{title}: " + ", ".join(f"GPU {r} {p / total:.3f}" for r, p in sorted(parts.items())))
