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
MARGIN, TOP, BOTTOM = 60, 190, 72  # where the figure begins and ends
TITLE, SITE = 52, 26  # sizes of type
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
    lines = ink.fold(title, WIDTH - 2 * MARGIN, bold=True, size=TITLE)
    for line, text in enumerate(lines):
        _write(axes, text, MARGIN, MARGIN + TITLE * (0.7 + 1.15 * line), size=TITLE, fill=INK, bold=True)
    top = TOP - (TITLE if len(lines) == 1 else 0)
    _write(axes, site, MARGIN, HEIGHT - MARGIN / 2, size=SITE, fill=SOFT)
    _draw(axes, ElementTree.fromstring(ink.printed(svg)), top)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    shot = Image.frombuffer("RGBA", (WIDTH, HEIGHT), canvas.buffer_rgba()).convert("RGB")
    out = io.BytesIO()
    shot.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def _draw(axes, svg, top: float) -> None:
    """A figure as large as there is room, in the middle."""
    from matplotlib.transforms import Affine2D

    across, down = (float(svg.get(side)) for side in ("width", "height"))
    room = HEIGHT - BOTTOM - top
    scale = min((WIDTH - 2 * MARGIN) / across, room / down)
    place = Affine2D().scale(scale).translate((WIDTH - scale * across) / 2, top + (room - scale * down) / 2)
    clips = {part.get("id"): part[0] for part in svg.iter() if _kind(part) == "clipPath"}
    _children(axes, svg, {"fill": "none", "font-size": ink.SIZE}, place, scale, clips)


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
            _shape(axes, _outline(part), said, place, scale, None if clip is None else _outline(clip))
        elif kind != "defs":
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
    return Path(points, codes)


def _shape(axes, outline, style: dict, place, scale: float, clip) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import PathPatch

    fill, stroke = style["fill"], style.get("stroke", "none")
    width = POINT * scale * float(style.get("stroke-width", 1)) if stroke != "none" else 0
    put = {"transform": place + axes.transData, "linewidth": width, "joinstyle": "round", "capstyle": "butt"}
    if fill.startswith("url"):
        put |= {"hatch": "////", "facecolor": "none", "edgecolor": to_rgba(SOFT, 0.5), "linewidth": 0}
    else:
        put["facecolor"] = to_rgba(fill, float(style.get("fill-opacity", 1))) if fill != "none" else "none"
        put["edgecolor"] = to_rgba(stroke, float(style.get("stroke-opacity", 1))) if width else "none"
    if dash := style.get("stroke-dasharray"):
        put["linestyle"] = (0, [float(one) / float(style.get("stroke-width", 1)) for one in dash.split()])
    patch = axes.add_artist(PathPatch(outline, **put))  # not add_patch, which measures each for limits that are set
    if clip is not None:
        patch.set_clip_path(clip, place + axes.transData)


def _text(axes, part, style: dict, place, scale: float) -> None:
    """Text with its runs, each as wide as it was laid out."""
    from matplotlib.transforms import Affine2D

    runs, drop = [], 0.0
    for piece in (part, *part):
        said = style if piece is part else {**style, **piece.attrib}
        drop += float(said.get("dy", 0)) if piece is not part else 0
        size = ink.SIZE * (0.8 if said["font-size"] == "80%" else 1)
        face = {"bold": said.get("font-weight") == "700", "italic": said.get("font-style") == "italic"}
        runs += [(piece.text, size, drop, face)] if piece.text else []
        if piece is not part and piece.tail:
            runs.append((piece.tail, ink.SIZE, drop, {"bold": style.get("font-weight") == "700", "italic": False}))
    whole = sum(ink.width(ink.safe(text), face["bold"], size) for text, size, _, face in runs)
    x, y = float(part.get("x")), float(part.get("y"))
    turn = Affine2D()
    if found := re.fullmatch(r"rotate\((\S+) (\S+) (\S+)\)", part.get("transform", "")):
        turn = turn.rotate_deg_around(float(found[2]), float(found[3]), float(found[1]))
    x -= {"middle": whole / 2, "end": whole}.get(style.get("text-anchor"), 0)
    halo = POINT * scale * float(style["stroke-width"]) if "paint-order" in style else 0
    for text, size, low, face in runs:
        x += _write(axes, text, x, y + low, size=size, fill=style["fill"], halo=halo, within=turn + place, **face)


def _write(axes, text, x, y, *, size, fill, bold=False, italic=False, halo=0.0, within=None) -> float:
    """One run of text from (x, y). Returns its width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath, text_to_path
    from matplotlib.transforms import Affine2D

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
