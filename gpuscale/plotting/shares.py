"""Which part of an array comes from where: bars divided into parts, timelines of chunks, slices of a second axis."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gpuscale.plotting.boxes import Block, draw
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import hue, width
from gpuscale.units import show

_ROW, _BAR = 34, 22  # pixels: from a bar to the next one, and its height


def parts_figure(bars: Sequence, *, name, caption, key, **look) -> Still:
    """Bars divided into parts, all of one length. ``bars`` are (label, parts), a part is (share, meaning, words)
    with shares that add up to one; ``key`` says in words what each meaning stands for, (words, meaning, strength).

    Raises ValueError if the shares of a bar do not add up to one.
    """
    bars = [(label, [(Fraction(share), *rest) for share, *rest in parts]) for label, parts in bars]
    for label, parts in bars:
        if sum(share for share, *_ in parts) != 1:
            raise ValueError(f"bar {label!r}: expected shares that add up to one; got {[str(p[0]) for p in parts]}")
    strength = {meaning: alpha for _, meaning, alpha in key}
    said = [f"{label}: {', '.join(f'{share} {words}' for share, _, words in parts)}" for label, parts in bars]

    def paint(sheet):
        left, y = max(width(label) for label, _ in bars) + 12, 2.0
        room = sheet.across - left - 2
        for label, parts in bars:
            sheet.write(left - 10, y + 15.5, label, "plain", "right")
            x = left
            for share, meaning, words in parts:
                w = room * float(share)
                sheet.area(x, y, x + w, y + _BAR, hue(meaning.partition(" ")[0]), strength[meaning])
                if width(words) + 8 <= w:
                    sheet.write(x + w / 2, y + 15.5, words, "plain", "center", halo=True)
                x += w
            sheet.box(left, y, room, _BAR, "edge")
            y += _ROW
        sheet.down = sheet.legend([(words, _swatch(sheet, m, a)) for words, m, a in key], y) + 2
        sheet.records += said

    return Still(paint, name=name, caption=caption, **{"alt": ". ".join(said) + "."} | look)


def _swatch(sheet, meaning: str, alpha: float):
    def painted(x: float, y: float) -> None:
        sheet.area(x, y, x + 22, y + 14, meaning.partition(" ")[0], alpha)
        sheet.box(x, y, 22, 14, "edge")

    return painted


def chunks_figure(first: float, second: float, counts: Sequence[int], *, names, name, caption, **look) -> Still:
    """Timelines of an array that passes two links one after the other, cut into chunks: ``first`` and ``second`` are
    the times [s] of the whole array, ``counts`` the numbers of chunks, ``names`` the links with their meanings.

    While a chunk is on the second link the next one is on the first. Gray is the time in which the longer link waits.
    """
    runs = [(n, _stages(first / n, second / n, n)) for n in counts]
    longest = max(stages[-1][1][1] for _, stages in runs)
    said = [f"{n} chunk{'s' * (n > 1)}: {show(stages[-1][1][1], 's')}" for n, stages in runs]

    def paint(sheet):
        left, y = max(width(word) for word, _ in names) + 12, 0.0
        per = (sheet.across - left - 4) / longest
        for (_, stages), title in zip(runs, said, strict=True):
            sheet.write(0, y + 13, title, "plain", bold=True)
            y += 22
            for link, (word, meaning) in enumerate(names):
                sheet.write(left - 10, y + 14.5, word, meaning, "right", say=False)
                slower = link == (second > first)
                if slower:
                    for a, b in _idle([spans[link] for spans in stages], stages[-1][1][1]):
                        sheet.area(left + a * per, y, left + b * per, y + 20, "wait", 0.45)
                        if (b - a) * per > width("waits") + 6:
                            sheet.write(left + (a + b) / 2 * per, y + 14.5, "waits", "plain", "center", say=False)
                for chunk, spans in enumerate(stages):
                    a, b = spans[link]
                    sheet.box(left + a * per + 0.5, y, (b - a) * per - 1, 20, meaning, 0.4)
                    if (b - a) * per > 14:
                        sheet.write(left + (a + b) / 2 * per, y + 14.5, str(chunk + 1), "plain", "center", say=False)
                y += 26
            y += 8
        sheet.down = y - 6
        sheet.records += [f"{title}; {_spans(stages)}" for (_, stages), title in zip(runs, said, strict=True)]

    alt = f"Timelines of {names[0][0]} and {names[1][0]}. {'. '.join(said)}."
    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _stages(first: float, second: float, count: int) -> list[tuple]:
    """When each chunk is on the first link and on the second."""
    out, free = [], 0.0
    for chunk in range(count):
        arrived = (chunk + 1) * first
        start = max(arrived, free)
        free = start + second
        out.append(((chunk * first, arrived), (start, free)))
    return out


def _idle(spans, end: float) -> list[tuple]:
    """The gaps before, between and after spans."""
    edges = [0.0, *(t for span in spans for t in span), end]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1e-9 * end]


def _spans(stages) -> str:
    return "; ".join(
        f"{i + 1}: {' '.join(f'{t:.4g}' for pair in spans for t in pair)}" for i, spans in enumerate(stages)
    )


def slices_figure(gpus: int, axes: Sequence[int], *, name, caption, nodes: int = 2, **look) -> Still:
    """Nodes of ``gpus`` GPUs whose array is sharded over a second axis: for each of ``axes`` (its lengths) the slice
    that a GPU works on, and the slices that its node needs."""
    said = [f"Y = {y}: a node needs {min(gpus, y)} of {y} slices" for y in axes]

    def paint(sheet):
        count = 1 if sheet.narrow else len(axes)
        gap = 30
        w, y, foot = (sheet.across - gap * (count - 1)) / count, 0.0, 0.0
        for i, length in enumerate(axes):
            x = 0 if sheet.narrow else i * (w + gap)
            foot = _sliced(sheet, x, y, w, gpus, nodes, length)
            y = foot + 20 if sheet.narrow else 0.0
        sheet.down = foot + 2
        sheet.records += said

    alt = ". ".join(f"{line}; GPUs of a node work on neighboring slices" for line in said) + "."
    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _sliced(sheet, x0: float, y0: float, w: float, gpus: int, nodes: int, length: int) -> float:
    """The nodes of one length of the second axis. Returns where they end."""
    sheet.write(x0, y0 + 13, f"<i>Y</i> = {length}", bold=True)
    gap = 14
    half = (w - gap * (nodes - 1)) / nodes
    step, cell = (half - 16) / gpus, (half - 16) / length
    for node in range(nodes):
        left, top = x0 + node * (half + gap), y0 + 22
        sheet.box(left, top, half, 108, "line")
        sheet.write(left + 8, top + 17, f"node {node}", "soft", say=False)
        mine = {(node * gpus + g) % length for g in range(gpus)}
        for g in range(gpus):
            block = Block(note=str((node * gpus + g) % length), hue="compute", note_hue="compute")
            draw(sheet, block, left + 8 + step * g + 2, top + 26, step - 4, 26)
        sheet.write(left + 8, top + 71, "needs slices", "soft", say=False)
        for s in range(length):
            here = s in mine
            sheet.box(
                left + 8 + cell * s + 1, top + 78, cell - 2, 20, "scaleout" if here else "line", 0.4 if here else 0
            )
            sheet.write(left + 8 + cell * (s + 0.5), top + 92, str(s), "plain" if here else "soft", "center", say=False)
    return y0 + 130
