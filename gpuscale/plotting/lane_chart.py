"""What happens when: lanes of time side by side, such as the arithmetic of a GPU over its network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import hue, width
from gpuscale.units import show

_TALL, _PITCH, _HEAD, _GAP = 24, 29, 22, 16  # pixels: a span, a lane, a title, between groups


@dataclass(frozen=True)
class Span:
    """From when to when, what, and its meaning as a color; ``fill`` is the strength of it, ``hatch`` draws stripes.

    ``critical`` underlines what is on the critical path.
    """

    start: float
    end: float
    text: str = ""
    hue: str = "compute"
    fill: float = 0.3
    hatch: bool = False
    critical: bool = False


@dataclass(frozen=True)
class Lane:
    """One row of time: its name, and what happens in it."""

    title: str
    spans: Sequence[Span]


def lanes(groups: Mapping[str, Sequence[Lane]], *, name, caption, alt, unit="", idle=False, **look) -> Still:
    """Groups of lanes on one axis of time, each under its title ("" for none); a span shows its text where it fits.

    ``idle`` shades a lane gray where nothing happens in it. ``unit`` writes behind each title how long its lanes take,
    as in "1,024 tokens: 2.6 ms". Raises ValueError for an unknown hue, or where nothing happens.
    """
    every = [span for group in groups.values() for lane in group for span in lane.spans]
    if not every:
        raise ValueError(f"lanes: {name}: expected lanes with spans; got {dict(groups)}")
    for span in every:
        hue(span.hue, f"span {span.text!r}")
    last = max(span.end for span in every)

    def paint(sheet):
        titles = [lane.title for group in groups.values() for lane in group]
        left = 0 if sheet.narrow else max(map(width, titles)) + 12
        per, y = (sheet.across - left - 2) / last, 0.0
        for title, group in groups.items():
            if title:
                took = max(span.end for lane in group for span in lane.spans)
                sheet.write(0, y + 13, f"{title}: {show(took, unit)}" if unit else title, bold=True)
                y += _HEAD
            for lane in group:
                if sheet.narrow:
                    sheet.write(0, y + 13, lane.title, "soft", say=False)
                    y += 18
                else:
                    sheet.write(0, y + _TALL / 2 + 4.5, lane.title, "soft", say=False)
                if idle:
                    end = max(span.end for row in group for span in row.spans)
                    sheet.area(left + 1, y, left + end * per, y + _TALL, "wait", 0.22, level=-2)
                for span in lane.spans:
                    _span(sheet, span, left + span.start * per + 1, y, (span.end - span.start) * per)
                sheet.records.append(
                    f"{title}, {lane.title}: " + " ".join(f"{s.text}@{s.start:g}-{s.end:g}" for s in lane.spans)
                )
                y += _PITCH
            y += _GAP
        y -= _GAP - 2
        sheet.rule([left + 1, sheet.across - 1], [y] * 2, "edge", level=1)
        sheet.rule([sheet.across - 7, sheet.across - 1, sheet.across - 7], [y - 4, y, y + 4], "edge", level=1)
        sheet.write(sheet.across - 1, y + 17, "time", "soft", "right", say=False)
        sheet.down = y + 24

    return Still(paint, name=name, caption=caption, alt=alt, **look)


def _span(sheet, span: Span, x: float, y: float, w: float) -> None:
    sheet.box(x, y, w - 1.5, _TALL, span.hue, span.fill, hatch=span.hatch)
    if span.critical:
        sheet.rule([x, x + w - 1.5], [y + _TALL + 1.5] * 2, "plain", level=3, weight=2.5)
    if span.text and width(span.text) <= w - 6:
        bright = span.fill > 0.8 and span.hue in {"scaleup", "scaleout"}
        ink = "dark" if bright else "plain"
        sheet.write(x + w / 2 - 0.75, y + _TALL / 2 + 4.5, span.text, ink, "center", halo=span.hatch)
