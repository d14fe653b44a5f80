"""Links into a GPU as pipes: each as thick as its bandwidth, with the time that some bytes take through it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.plotting.boxes import Block, draw
from gpuscale.plotting.drawing.axis import positive
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import hue
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.units import show

_THICK, _ROW, _LABEL = 76, 62, 20  # pixels: the thickest pipe, the least height of a row, room for words over a pipe


@dataclass(frozen=True)
class Pipe:
    """A source of bytes: its name, the link's name, bandwidth [B/s], the time of the bytes [s] and a meaning."""

    source: str
    link: str
    bandwidth: float
    time: float
    hue: str


def pipes(into: str, sources, *, name, caption, what="1 MB", **look) -> Still:
    """What flows into a GPU named ``into`` from each Pipe of ``sources``; ``what`` says which bytes the times are for.

    ``look`` may hold a title. Raises ValueError for an empty list, an unknown hue or a value not above zero.
    """
    sources = list(sources)
    if not sources:
        raise ValueError("sources: the list is empty; expected at least one Pipe")
    for p in sources:
        hue(p.hue, f"pipe {p.source!r}")
        positive(f"pipe {p.source!r}", bandwidth=p.bandwidth, time=p.time)
    rows = [[p.source, p.link, show(p.bandwidth, "B/s"), show(p.time, "s")] for p in sources]
    told = "; ".join(f"{source} over {link}: {speed}, {what} in {time}" for source, link, speed, time in rows)
    said = {"alt": f"Into {into}: {told}.", "table": (["from", "link", "bandwidth", f"time of {what}"], rows)}
    return Still(lambda sheet: _draw(sheet, into, sources, what), name=name, caption=caption, **said | look)


def _draw(sheet, into: str, sources, what: str) -> None:
    most = max(p.bandwidth for p in sources)
    near, far = (62, 112) if sheet.narrow else (96, 190)  # widths of the boxes at both ends
    thick = [max(_THICK * p.bandwidth / most, 1.0) for p in sources]
    label = _LABEL + (LEADING if sheet.narrow else 0)  # two lines on a phone
    tall = [max(t + label + 12, _ROW) for t in thick]
    sheet.down = sum(tall) + 8 * (len(tall) - 1) + 2
    start, end = 1 + near, sheet.across - 1 - far
    top = 1.0
    for p, t, h in zip(sources, thick, tall, strict=True):
        middle = top + label + (h - label) / 2
        sheet.area(start, middle - t / 2, end, middle + t / 2, p.hue)
        speed = show(p.bandwidth, "B/s")
        words = [p.link, speed] if sheet.narrow else [f"{p.link} {speed}"]
        for i, line in enumerate(reversed(words)):
            bold = i == len(words) - 1
            sheet.write((start + end) / 2, middle - t / 2 - 6 - LEADING * i, line, p.hue, "center", bold)
        note = f"{what} in {show(p.time, 's')}"
        draw(sheet, Block(p.source, note, p.hue, note_hue="plain"), end, top, far, h)
        sheet.records.append(f"pipe {p.source}: {p.bandwidth:.6g}, {p.time:.4g}")
        top += h + 8
    draw(sheet, Block(into, hue="compute"), 1, 1, near, sheet.down - 2)
