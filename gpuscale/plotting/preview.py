"""The picture that a link to a page shows: its title and a still figure, as a PNG.

A figure is drawn from its SVG, which has few elements: paths, boxes, discs and text. Text is drawn with the face that
matplotlib brings along, as wide as the figure was laid out for, so that pictures are the same on every machine.
"""

from __future__ import annotations

import io
import re
from functools import partial
from xml.etree import ElementTree

from gpuscale.plotting.drawing import ink

WIDTH, HEIGHT = 1200, 630  # pixels, as the sites that show links expect
MARGIN, TOP, BOTTOM = 60, 190, 72  # where a figure begins and ends that stands below the title
SIDE = 600  # how wide one is that stands next to it
EDGE = 8  # pixels that labels reach over the sides of a figure
TITLE, SITE = 52, 26  # sizes of type
CENTRAL = 0.35  # of the size of type: how far its middle is above the line it stands on
POINT = 0.72  # of a pixel: matplotlib's widths of lines
COLOURS = 64  # of the palette
PAPER, INK, SOFT = "#ffffff", "#1c222b", "#555f6c"
_NAMESPACE = re.compile(r"^\{.*\}")


def picture(svg: str, title: str, site: str) -> bytes:
    """A PNG of a page's title above one of its figures, with the name of the site below.

    Raises ValueError for an element that figures do not have.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.axis("off")
    drawing = ElementTree.fromstring(ink.printed(svg))
    column, room = _places(drawing, title)
    lines = ink.fold(title, column, bold=True, size=TITLE)
    for line, text in enumerate(lines):
        _write(axes, text, MARGIN, MARGIN + TITLE * (0.7 + 1.15 * line), size=TITLE, fill=INK, bold=True)
    if site != title:
        _write(axes, site, MARGIN, HEIGHT - MARGIN / 2, size=SITE, fill=SOFT)
    _draw(axes, drawing, room)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    shot = Image.frombuffer("RGBA", (WIDTH, HEIGHT), canvas.buffer_rgba()).convert("RGB")
    out = io.BytesIO()
    shot.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _places(svg, title: str) -> tuple[float, tuple[float, float, float, float]]:
    """How wide the title may be, and the box of the figure: below the title, or next to it where it is larger there."""
    across, down = _size(svg)
    top = TOP - (TITLE if len(ink.fold(title, WIDTH - 2 * MARGIN, bold=True, size=TITLE)) == 1 else 0)
    below = MARGIN, top, WIDTH - MARGIN, HEIGHT - BOTTOM
    next_to = WIDTH - MARGIN - SIDE, MARGIN / 2, WIDTH - MARGIN / 2, HEIGHT - MARGIN / 2
    scales = [min((right - left) / across, (low - high) / down) for left, high, right, low in (below, next_to)]
    return (WIDTH - 2 * MARGIN, below) if scales[0] >= 0.8 * scales[1] else (WIDTH - 3 * MARGIN - SIDE, next_to)


def _size(svg) -> tuple[float, float]:
    return float(svg.get("width")), float(svg.get("height"))


def _draw(axes, svg, box: tuple[float, float, float, float]) -> None:
    """A figure as large as there is room, in the middle, and nothing of it that lies outside its edges."""
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import Affine2D

    (across, down), (left, top, right, low) = _size(svg), box
    scale = min((right - left) / across, (low - top) / down)
    x, y = (left + right - scale * across) / 2, (top + low - scale * down) / 2
    place = Affine2D().scale(scale).translate(x, y)
    clips = {part.get("id"): part[0] for part in svg.iter() if _kind(part) == "clipPath"}
    before = set(axes.get_children())
    _children(axes, svg, {"fill": "none", "font-size": str(ink.SIZE)}, place, scale, clips)
    edge = Rectangle((x - EDGE, y - EDGE), scale * across + 2 * EDGE, scale * down + 2 * EDGE, transform=axes.transData)
    for artist in set(axes.get_children()) - before:
        if artist.get_clip_path() is None:
            artist.set_clip_path(edge)


def _kind(element) -> str:
    return _NAMESPACE.sub("", element.tag)


def _children(axes, element, style: dict, place, scale: float, clips: dict) -> None:
    for part in element:
        kind, said = _kind(part), {**style, **part.attrib}
        if kind == "g":
            _children(axes, part, said, place, scale, clips)
        elif kind == "text":
            _text(axes, part, said, place, scale)
        elif kind in ("path", "rect", "circle"):
            clip = clips.get(part.get("clip-path", "")[5:-1])
            own = _moved(said.get("transform", "")) + place
            _shape(axes, _outline(part), said, own, scale, None if clip is None else _outline(clip))
        elif kind not in ("defs", "clipPath"):
            raise ValueError(f"preview: the element {kind!r} is unknown; expected g, text, path, rect or circle")


def _outline(part):
    """The path of a shape."""
    from matplotlib.patches import BoxStyle
    from matplotlib.path import Path

    number = lambda name: float(part.get(name, 0))  # noqa: E731
    if _kind(part) == "circle":
        return Path.circle((number("cx"), number("cy")), number("r"))
    if _kind(part) == "rect":
        size = number("x"), number("y"), number("width"), number("height")
        return BoxStyle.Round(pad=0, rounding_size=number("rx"))(*size, 1) if part.get("rx") else _corners(*size)
    return _path(part.get("d"))


def _moved(transform: str):
    """What a shape's own transform does."""
    from matplotlib.transforms import Affine2D

    out = Affine2D()
    for name, numbers in reversed(re.findall(r"(\w+)\(([^)]*)\)", transform)):
        given = [float(number) for number in re.split(r"[\s,]+", numbers.strip())]
        if name == "rotate":
            angle, x, y = (*given, 0, 0)[:3]
            out.rotate_deg_around(x, y, angle)
        elif name in ("scale", "translate"):
            getattr(out, name)(*given)
        else:
            raise ValueError(f"preview: the transform {name!r} is unknown; expected rotate, scale or translate")
    return out


def _corners(x: float, y: float, w: float, h: float):
    from matplotlib.path import Path

    return Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], closed=True)


def _path(data: str):
    """Path data of SVG as matplotlib has it."""
    from fontTools.pens.recordingPen import RecordingPen
    from fontTools.svgLib.path import parse_path
    from matplotlib.path import Path

    pen = RecordingPen()
    parse_path(data, pen)
    points, codes = [], []
    known = {"moveTo": Path.MOVETO, "lineTo": Path.LINETO, "qCurveTo": Path.CURVE3, "curveTo": Path.CURVE4}
    for command, given in pen.value:
        if command in known:
            points += given
            codes += [known[command]] * len(given)
        elif command == "closePath":
            points.append((0, 0))
            codes.append(Path.CLOSEPOLY)
    return Path(points, codes) if points else Path([(0, 0)])


def _shape(axes, outline, style: dict, place, scale: float, clip) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import PathPatch

    fill, stroke, whole = style["fill"], style.get("stroke", "none"), float(style.get("opacity", 1))
    width = POINT * scale * float(style.get("stroke-width", 1)) if stroke != "none" else 0
    put = {"transform": place + axes.transData, "linewidth": width, "joinstyle": "round", "capstyle": "butt"}
    if fill.startswith("url"):
        put |= {"hatch": "////", "facecolor": "none", "edgecolor": to_rgba(SOFT, 0.5), "linewidth": 0}
    else:
        put["facecolor"] = _tinted(fill, whole * float(style.get("fill-opacity", 1)))
        put["edgecolor"] = _tinted(stroke, whole * float(style.get("stroke-opacity", 1))) if width else "none"
    if dash := style.get("stroke-dasharray"):
        put["linestyle"] = (0, [float(one) / float(style.get("stroke-width", 1)) for one in dash.split()])
    patch = axes.add_artist(PathPatch(outline, **put))  # not add_patch, which measures each for limits that are set
    if clip is not None:
        patch.set_clip_path(clip, place + axes.transData)


def _tinted(color: str, opacity: float):
    from matplotlib.colors import to_rgba

    *channels, own = to_rgba(color)
    return (*channels, own * opacity)


def _text(axes, part, style: dict, place, scale: float) -> None:
    """Text with its runs, each as wide as it was laid out."""
    runs, drop = [], 0.0
    for piece in (part, *part):
        said = style if piece is part else {**style, **piece.attrib}
        size = _length(said["font-size"], float(style["font-size"]))
        drop += _length(said.get("dy", "0"), size) if piece is not part else 0
        face = {"bold": said.get("font-weight") == "700", "italic": said.get("font-style") == "italic"}
        runs += [(piece.text, size, drop, face)] if piece.text else []
        if piece is not part and piece.tail:
            runs.append(
                (
                    piece.tail,
                    float(style["font-size"]),
                    drop,
                    {"bold": style.get("font-weight") == "700", "italic": False},
                )
            )
    whole = sum(ink.width(ink.safe(text), face["bold"], size) for text, size, _, face in runs)
    x, y = float(part.get("x")), float(part.get("y"))
    if style.get("dominant-baseline") == "central":
        y += CENTRAL * float(style["font-size"])
    turn = _moved(part.get("transform", ""))
    x -= {"middle": whole / 2, "end": whole}.get(style.get("text-anchor"), 0)
    halo = POINT * scale * float(style["stroke-width"]) if "paint-order" in style else 0
    for text, size, low, face in runs:
        x += _write(axes, text, x, y + low, size=size, fill=style["fill"], halo=halo, within=turn + place, **face)


def _length(text: str, size: float) -> float:
    """A length in pixels, given in them, in percent of a size or in sizes."""
    for unit, times in (("%", size / 100), ("em", size)):
        if text.endswith(unit):
            return times * float(text.removesuffix(unit))
    return float(text)


def _write(axes, text, x, y, *, size, fill, bold=False, italic=False, halo=0.0, within=None) -> float:
    """One run of text from (x, y). Returns its width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath, text_to_path
    from matplotlib.transforms import Affine2D

    if not text.strip(" \u00a0\u200b"):
        return ink.width(text, bold, size)
    face = FontProperties(
        family="DejaVu Sans", weight="bold" if bold else "normal", style="oblique" if italic else "normal", size=size
    )
    wide = ink.width(ink.safe(text), bold, size)
    natural, _, _ = text_to_path.get_text_width_height_descent(text, face, ismath=False)
    glyphs = TextPath((0, 0), text, size=size, prop=face)
    place = Affine2D().scale(wide / natural if natural else 1, -1).translate(x, y)
    patch = partial(PathPatch, glyphs, transform=place + (within or Affine2D()) + axes.transData)
    if halo:
        axes.add_artist(patch(facecolor=PAPER, edgecolor=PAPER, linewidth=halo, alpha=0.8))
    axes.add_artist(patch(facecolor=fill, linewidth=0))
    return wide
