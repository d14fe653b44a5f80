"""The surface of every figure: lines, areas, boxes, dots and words in pixels, which become small SVG for a page.

Text stays text and is measured with the widths in ``ink``, so that nothing depends on a font file; colors become the
page's variables. Shapes lie by their level, the higher over the lower, and words over all of them.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np

from gpuscale.core.html import escape
from gpuscale.plotting.drawing.ink import SIZE, fold, hue, number, paint, pieces, width

LEADING = 16  # pixels from one line of text to the next
FAR = 4000.0  # pixels: what lies beyond is clipped, because no screen reaches there
_HALO = f'paint-order="stroke" stroke="{paint("paper", "line")}" stroke-opacity=".8" stroke-width="4"'
_ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}


class Sheet:
    """A drawing under construction, in pixels, y downwards; ``narrow`` says which of a figure's two drawings it is.

    A painter may set ``down``, the height, when it knows. ``records`` are the data and ``words`` the labels that the
    digest of the figure tells. Every color is the name of a meaning in ``ink``.
    """

    def __init__(self, name: str, across: float, down: float, narrow: bool):
        self.name, self.across, self.down, self.narrow = name, across, down, narrow
        self.chart = None  # the Chart that was painted on it, if one was
        self.records: list[str] = []
        self.words: list[str] = []
        self._shapes: list[tuple[float, str, str]] = []  # level, style, path data; or level, "", an element
        self._texts: dict[str, list[str]] = {}  # by style: labels lie on top, in whatever order
        self._defs: dict[str, str] = {}

    def write(self, x, y, text, colour="plain", align="left", bold=False, halo=False, angle=0.0, say=True):
        """Text with its baseline at (x, y); ``say`` puts it into the digest."""
        if align not in _ANCHORS:
            raise ValueError(f"align: {align!r} is unknown; expected one of {', '.join(_ANCHORS)}")
        if say:
            self.words.append(text)
        style = f'fill="{paint(hue(colour), "text")}"{_ANCHORS[align]}'
        style += ' font-weight="700"' if bold else ""
        style += f" {_HALO}" if halo else ""
        at = f"{number(x)} {number(y)}"
        turn = f' transform="rotate({number(-angle)} {at})"' if angle else ""
        element = f'<text x="{number(x)}" y="{number(y)}"{turn}>{_spans(text)}</text>'
        self._texts.setdefault(style, []).append(element)

    def paragraph(self, text, x, y, colour="plain", align="left", bold=False, say=True) -> float:
        """Text broken into lines that fit, from the height ``y``. Returns where they end."""
        for row in fold(text, self.across - (x if align == "left" else 0), bold):
            self.write(x, y + 12, row, colour, align, bold, say=say)
            y += LEADING
        return y

    def legend(self, items, y, side=22, say=True) -> float:
        """A key from the height ``y``, in lines that fit. Returns where it ends.

        Each item is its words and ``draw(x, y)``, which makes a swatch that is ``side`` pixels wide and 14 high.
        """
        x = 0.0
        for words, draw in items:
            need = side + 8 + width(words)
            if x and x + need > self.across:
                x, y = 0.0, y + 20
            draw(x + 1, y + 2)
            self.write(x + side + 8, y + 13, words, "soft", say=say)
            x += need + 16
        return y + 20

    def rule(self, xs, ys, colour="plain", alpha=1.0, level=-0.5, weight=1.0, dash=(), frame=None):
        """A line through points, with gaps where they are not finite; only what lies in ``frame`` (x0, y0, x1, y1)
        is seen."""
        use = "line" if weight < 5 else "bar"  # a thick line is a solid shape
        style = f' stroke="{paint(hue(colour), use)}"{_share("stroke-opacity", alpha)}'
        style += f' stroke-width="{weight:.3g}"' if weight != 1 else ""
        style += f' stroke-dasharray="{" ".join(f"{d:.3g}" for d in dash)}"' if dash else ""
        points = np.column_stack([xs, ys]).astype(float)
        whole = np.isfinite(points).all(axis=1)
        points = np.clip(points, -FAR, FAR)
        style += self._clip(points[whole], frame) if frame else ""
        starts = np.flatnonzero(whole & ~np.insert(whole[:-1], 0, False))
        ends = np.flatnonzero(whole & ~np.append(whole[1:], False)) + 1
        data = "".join(_data(_thinned(points[a:b])) for a, b in zip(starts, ends, strict=True))
        self._add(level, style, data)

    def area(self, x0, y0, x1, y1, colour, alpha=1.0, level=-1.0):
        """A filled rectangle between two corners."""
        self.fill([x0, x1, x1, x0], [y1, y1, y0, y0], colour, alpha, level)

    def fill(self, xs, ys, colour, alpha=1.0, level=-1.0, frame=None):
        """A filled shape with these corners."""
        points = np.clip(np.column_stack([xs, ys]).astype(float), -FAR, FAR)
        style = f' fill="{paint(hue(colour), "bar")}"{_share("fill-opacity", alpha)}'
        style += self._clip(points, frame) if frame else ""
        self._add(level, style, _data(points) + "Z")

    def box(self, x, y, w, h, colour="line", share=0.0, level=2.0, hatch=False):
        """An outlined box with a pale fill of strength ``share``, or a hatched one. Large ones have round corners."""
        style = f' fill="{paint(hue(colour), "bar")}"{_share("fill-opacity", share)}' if share else ""
        style += f' stroke="{paint(colour, "line")}"'
        place = f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
        corners = _data(np.array([(x, y + h), (x + w, y + h), (x + w, y), (x, y)])) + "Z"
        if hatch:
            self._add(level, f' fill="url(#{self._hatch(colour)})"', corners)
        if h > 24:
            self._shapes.append((level, "", f'<rect {place} rx="4"{style}/>'))
        else:  # many of a style make one path
            self._add(level, style, corners)

    def dot(self, x, y, radius, colour="plain", rim="", weight=0.0, level=4.0):
        """A disc, with a rim of another color where one is given."""
        edge = f' stroke="{paint(rim, "line")}" stroke-width="{weight:.3g}"' if rim else ""
        style = f'fill="{paint(hue(colour), "line")}"{edge}'
        place = f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
        self._shapes.append((level, "", f"<circle {place} {style}/>"))

    def svg(self, alt: str) -> str:
        """The drawing as one SVG element."""
        w, h = number(self.across), number(self.down)
        texts = "".join(f"<g {style}>{''.join(parts)}</g>" for style, parts in self._texts.items())
        defs = f"<defs>{''.join(self._defs.values())}</defs>" if self._defs else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
            f' role="img" aria-label="{escape(alt, quote=True)}" font-size="{SIZE}" fill="none"'
            f' stroke-linejoin="round">'
            f"{defs}{self._drawn()}{texts}</svg>"
        )

    def _add(self, level: float, style: str, data: str) -> None:
        if data:
            self._shapes.append((level, style, data))

    def _drawn(self) -> str:
        """The shapes from the lowest to the highest; neighbors of one style become one path."""
        out = ""
        for (_, style), shapes in groupby(sorted(self._shapes, key=itemgetter(0)), key=itemgetter(0, 1)):
            data = "".join(shape[2] for shape in shapes)
            out += f'<path{style} d="{data}"/>' if style else data
        return out

    def _hatch(self, colour: str) -> str:
        key = f"fig-{self.name}-{'narrow' if self.narrow else 'wide'}-hatch"
        self._defs[key] = (
            f'<pattern id="{key}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<path d="M0 0V6" stroke="{paint(colour, "line")}" stroke-width="1.5"/></pattern>'
        )
        return key

    def _clip(self, points, frame) -> str:
        """A reference to the clip path that points outside the frame need."""
        x0, y0, x1, y1 = frame[0] - 2, frame[1] - 2, frame[2] + 2, frame[3] + 2  # half a line's width may lie outside
        if len(points) and ((points >= (x0, y0)) & (points <= (x1, y1))).all():
            return ""
        key = f"fig-{self.name}-{'narrow' if self.narrow else 'wide'}-clip"
        place = f'x="{number(x0)}" y="{number(y0)}" width="{number(x1 - x0)}" height="{number(y1 - y0)}"'
        self._defs[key] = f'<clipPath id="{key}"><rect {place}/></clipPath>'
        return f' clip-path="url(#{key})"'


def _share(name: str, alpha: float) -> str:
    return f' {name}="{alpha:.2g}"' if alpha < 1 else ""


def _thinned(points):
    """A polyline without points that lie on it to a tenth of a pixel."""
    if len(points) < 3:
        return points
    (x0, y0), (dx, dy) = points[0], points[-1] - points[0]
    off = np.abs(dx * (points[:, 1] - y0) - dy * (points[:, 0] - x0)) / max(np.hypot(dx, dy), 1e-9)
    if not dx and not dy:
        off = np.hypot(points[:, 0] - x0, points[:, 1] - y0)
    far = int(off.argmax())
    if off[far] < 0.1:
        return points[[0, -1]]
    return np.concatenate([_thinned(points[: far + 1])[:-1], _thinned(points[far:])])


def _data(points) -> str:
    """SVG path data: absolute, tenths of a pixel, H and V where a line is level or upright."""
    out, last = "", None
    for x, y in points.tolist():
        at = number(x), number(y)
        if last is None:
            out += f"M{at[0]} {at[1]}"
        elif at != last:
            out += f"V{at[1]}" if at[0] == last[0] else f"H{at[0]}" if at[1] == last[1] else f"L{at[0]} {at[1]}"
        last = at
    return out


def _spans(text: str) -> str:
    """A label's markup as tspans; a subscript is small and low, and what follows it is back on the baseline."""
    out, low = "", False
    for part, tags in pieces(text):
        attrs = ' font-weight="700"' if "b" in tags else ""
        attrs += ' font-style="italic"' if "i" in tags else ""
        if ("sub" in tags) != low:
            attrs += ' dy="-3"' if low else ' dy="3"'
            low = not low
        attrs += ' font-size="80%"' if low else ""
        out += f"<tspan{attrs}>{escape(part)}</tspan>" if attrs else escape(part)
    return out
