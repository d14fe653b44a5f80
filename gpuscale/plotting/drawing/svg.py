"""A matplotlib renderer that writes small SVG for a page: text stays text, colours become the page's
variables.

matplotlib's own SVG backend lays text out with its own font and writes fixed colours; this one measures
with the widths in ``ink`` and anchors each label at the point that matplotlib was given, so nothing depends
on a font file.
"""

from __future__ import annotations

from math import cos, radians, sin

from matplotlib.backend_bases import RendererBase
from matplotlib.transforms import Affine2D

from gpuscale.core.html import escape
from gpuscale.plotting.drawing.ink import SIZE, number, paint, pieces, width

_COMMAND = {1: "M", 2: "L", 3: "Q", 4: "C"}
_RAISE = {"baseline": 0.0, "center": -0.36, "center_baseline": -0.36, "top": -0.76, "bottom": 0.21}
_HALO = f'paint-order="stroke" stroke="{paint((1, 1, 1), "line")}" stroke-opacity=".8" stroke-width="4"'


class SvgRenderer(RendererBase):
    """Collects SVG elements; ``prefix`` starts every id, so that two drawings can share a page."""

    def __init__(self, size: tuple[float, float], prefix: str):
        super().__init__()
        self.size, self.prefix = size, prefix
        self.flip = Affine2D().scale(1, -1).translate(0, size[1])
        self.parts: list[str] = []
        self.texts: dict[str, list[str]] = {}  # by style: labels lie on top, in whatever order
        self.defs: dict[str, str] = {}
        self._open: tuple[str, str] | None = None  # style and data of a path that may still grow

    def flipy(self):
        return True

    def get_canvas_width_height(self):
        return self.size

    def points_to_pixels(self, points):
        return points

    def get_text_width_height_descent(self, s, prop, ismath):
        size = prop.get_size_in_points()
        return width(s, _heavy(prop), size), 1.0 * size, 0.21 * size

    def draw_path(self, gc, path, transform, rgbFace=None):
        style, place = self._style(gc, rgbFace), transform + self.flip
        clip = self._clip(gc, path, place)
        if style:
            self._shape(path, place, style + clip, simplify=path.codes is None and rgbFace is None)
        if gc.get_hatch():
            self._add(f'<path fill="url(#{self._hatch(gc)})" d="{_data(path, place, simplify=False)}"{clip}/>')

    def _shape(self, path, place, style: str, simplify: bool):
        """A path as the shortest element that draws it; neighbours of one style become one path."""
        codes = None if path.codes is None else path.codes.tolist()
        box = path.get_extents(place) if codes and len(codes) in {14, 26} else None
        if box and len(codes) == 26:  # the unit circle of markers
            x, y, r = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, box.width / 2
            self._add(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}"{style}/>')
        elif box and codes[:4] == [1, 2, 3, 3]:  # a box with round corners
            corner = abs(path.vertices[0][0] - path.vertices[:, 0].min())
            self._add(f'<rect {_rect(box.x0, box.y0, box.width, box.height)} rx="{number(corner)}"{style}/>')
        elif data := _data(path, place, simplify):
            if self._open and self._open[0] == style:
                self._open = (style, self._open[1] + data)
                return
            self._flush()
            self._open = (style, data)

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        size, bold, align = prop.get_size_in_points(), _heavy(prop), "left"
        if mtext is not None:  # a single line: its own anchor, free of any font's metrics
            align = mtext.get_horizontalalignment()
            x, y = self.flip.transform(mtext.get_transform().transform(mtext.get_unitless_position()))
            up = _RAISE.get(mtext.get_verticalalignment(), 0.0) * size
            x, y = x - up * sin(radians(angle)), y - up * cos(radians(angle))
        style = f'fill="{paint(gc.get_rgb(), "text")}"'
        style += f' text-anchor="{"middle" if align == "center" else "end"}"' if align != "left" else ""
        style += ' font-weight="700"' if bold else ""
        style += f' font-size="{number(size)}"' if size != SIZE else ""
        style += f" {_HALO}" if mtext is not None and mtext.get_gid() == "halo" else ""
        turn = f' transform="rotate({number(-angle)} {number(x)} {number(y)})"' if angle else ""
        text = f'<text x="{number(x)}" y="{number(y)}"{turn}>{_spans(s)}</text>'
        self.texts.setdefault(style, []).append(text)

    def svg(self, alt: str) -> str:
        """The drawing so far as one SVG element."""
        self._flush()
        w, h = (number(v) for v in self.size)
        texts = "".join(f"<g {style}>{''.join(parts)}</g>" for style, parts in self.texts.items())
        defs = f"<defs>{''.join(self.defs.values())}</defs>" if self.defs else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}"'
            f' role="img" aria-label="{escape(alt, quote=True)}"'
            f' font-size="{SIZE}" fill="none" stroke-linejoin="round">'
            f"{defs}{''.join(self.parts)}{texts}</svg>"
        )

    def _add(self, element: str):
        self._flush()
        self.parts.append(element)

    def _flush(self):
        if self._open:
            self.parts.append(f'<path{self._open[0]} d="{self._open[1]}"/>')
            self._open = None

    def _style(self, gc, face) -> str:
        """The attributes of a shape: fill, line, dashes; empty where nothing would show."""
        out, alpha = "", gc.get_alpha() if gc.get_forced_alpha() else None
        if face is not None:
            share = alpha if alpha is not None else face[3] if len(face) > 3 else 1
            out += f' fill="{paint(face, "bar")}"' + _share("fill-opacity", share) if share else ""
        share = alpha if alpha is not None else gc.get_rgb()[3]
        if gc.get_linewidth() > 0 and share:
            use = "line" if gc.get_linewidth() < 5 else "bar"  # a thick line is a solid shape
            out += f' stroke="{paint(gc.get_rgb(), use)}"' + _share("stroke-opacity", share)
            out += f' stroke-width="{gc.get_linewidth():.3g}"' if gc.get_linewidth() != 1 else ""
            dash = gc.get_dashes()[1]
            if dash is not None and len(dash):
                out += f' stroke-dasharray="{" ".join(f"{d:.3g}" for d in dash)}"'
            out += ' stroke-linecap="round"' if gc.get_capstyle() == "round" else ""
        return out

    def _hatch(self, gc) -> str:
        key = f"{self.prefix}-hatch"
        colour = paint(gc.get_hatch_color(), "line")
        self.defs[key] = (
            f'<pattern id="{key}" width="6" height="6" patternUnits="userSpaceOnUse"'
            f' patternTransform="rotate(45)"><path d="M0 0V6" stroke="{colour}" stroke-width="1.5"/>'
            "</pattern>"
        )
        return key

    def _clip(self, gc, path, place) -> str:
        """A reference to the clip that a path needs, if it leaves its axes."""
        box = gc.get_clip_rectangle()
        if box is None:
            return ""
        x0, y0 = self.flip.transform((box.x0, box.y1)) - 2  # half a line's width may lie outside
        w, h = box.width + 4, box.height + 4
        reach = path.get_extents(place)
        if reach.x0 >= x0 and reach.x1 <= x0 + w and reach.y0 >= y0 and reach.y1 <= y0 + h:
            return ""
        rect = _rect(x0, y0, w, h)
        known = next((k for k, v in self.defs.items() if f"<rect {rect}/>" in v), None)
        key = known or f"{self.prefix}-clip{len(self.defs)}"
        self.defs[key] = f'<clipPath id="{key}"><rect {rect}/></clipPath>'
        return f' clip-path="url(#{key})"'


def _rect(x, y, w, h) -> str:
    return f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'


def _share(name: str, alpha: float) -> str:
    return f' {name}="{alpha:.2g}"' if alpha < 1 else ""


def _heavy(prop) -> bool:
    weight = prop.get_weight()
    return weight in {"bold", "semibold", "heavy", "black"} or (isinstance(weight, int) and weight >= 600)


def _data(path, place, simplify: bool) -> str:
    """SVG path data: absolute, tenths of a pixel, H and V where a line is level or upright."""
    out, last = "", (None, None)
    for points, code in path.iter_segments(place, simplify=simplify, curves=True):
        if code not in _COMMAND:
            out += "Z"
            continue
        texts = [number(v) for v in points]
        end = (texts[-2], texts[-1])
        if code == 2 and end == last:
            continue
        if code == 2 and end[1] == last[1]:
            out += f"H{end[0]}"
        elif code == 2 and end[0] == last[0]:
            out += f"V{end[1]}"
        else:
            out += _COMMAND[code] + " ".join(texts)
        last = end
    return out


def _spans(text: str) -> str:
    """A label's markup as tspans; a subscript is small and low, and what follows it comes back up."""
    out, low = "", False
    for part, tags in pieces(text):
        attrs = ' font-weight="700"' if "b" in tags else ""
        attrs += ' font-style="italic"' if "i" in tags else ""
        if ("sub" in tags) != low:
            attrs += ' dy="-3"' if low else ' dy="3"'
            low = not low
        attrs += ' font-size="80%"' if low else ""
        said = escape(part, quote=True)
        out += f"<tspan{attrs}>{said}</tspan>" if attrs else said
    return out
