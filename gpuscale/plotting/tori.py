"""Networks without switches that draw themselves: GPUs joined in pairs, and tori of chips."""

from __future__ import annotations

from math import cos, pi, sin

from gpuscale.network.torus import Mesh, Torus
from gpuscale.network.tree import Topology
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import fold
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.trees import frame, network_figure, rate
from gpuscale.units import NBSP

_BOX = 32  # pixels: the side of a GPU's box
_SHOWN = {1: 16, 2: 16, 3: 4}  # chips of an axis that are drawn, by the number of axes
Point = tuple[float, float]


def node_figure(node, *, name, caption, alt=None, **look) -> Still:
    """A node as a static figure: GPUs joined in pairs (a Mesh), or by switches (the first level of a Topology).

    One line is one NVLink of a Mesh. Raises TypeError for anything else.
    """
    if isinstance(node, Topology):
        return network_figure(node.below(1), name=name, caption=caption, alt=alt, **look)
    if not isinstance(node, Mesh):
        raise TypeError(f"node_figure: expected a Mesh or a Topology; got {node!r}")
    words = _mesh_words(node)

    def paint(ax, narrow):
        top = _text(ax.figure, words)
        places = _cube(ax.figure, top) if _is_cube(node) else _circle(node, ax.figure, top)
        _pairs(ax.figure, node, places)
        ax.figure.records += [f"links {a}-{b}: {n}" for a, b, n in node.pairs]

    size = {"axes": False, "height": _tall(words, 216), "narrow_height": _tall(words, 216)}
    alt = alt or f"{node.title}. {' '.join(words)}"
    rows = [[f"{a} – {b}", str(n), rate(n * node.link_bw)] for a, b, n in node.pairs]
    return Still(paint, name=name, caption=caption, alt=alt, table=(["Pair", "Links", "One way"], rows), **size, **look)


def torus_figure(torus, *, name, caption, alt=None, **look) -> Still:
    """A Torus of up to three axes as a static figure; long axes are folded, one ring of each axis is closed.

    Raises TypeError for what is no Torus, ValueError for more axes.
    """
    if not isinstance(torus, Torus):
        raise TypeError(f"torus_figure: expected a Torus; got {torus!r}")
    if len(torus.sides) > 3:
        raise ValueError(f"torus_figure: {len(torus.sides)} axes; expected at most 3")
    words = _torus_words(torus)

    def paint(ax, narrow):
        _grid(ax.figure, torus, _text(ax.figure, words))
        ax.figure.records += [f"axis {side}, {'ring' if w else 'open'}" for side, w in _axes(torus)]

    def tall(w):
        *_, (low, high) = _frame(torus, w)
        return high - low + LEADING * len(_lines(words, w)) + 22

    size = {"axes": False, "height": tall, "narrow_height": tall}
    return Still(paint, name=name, caption=caption, alt=alt or f"{torus.title}. {' '.join(words)}", **size, **look)


def _text(sheet, words: list[str]) -> float:
    """Sentences at the head of a figure, the first in bold; where they end."""
    top = 0.0
    for line, bold in _lines(words, sheet.across):
        top += LEADING
        sheet.write(1, top - 3, line, "plain" if bold else "soft", bold=bold)
    return top


def _lines(words: list[str], w: float) -> list[tuple[str, bool]]:
    return [(line, i == 0) for i, text in enumerate(words) for line in fold(text, w - 2, bold=i == 0)]


def _tall(words: list[str], body: float):
    return lambda w: LEADING * len(_lines(words, w)) + body


# ---- pairs


def _mesh_words(mesh: Mesh) -> list[str]:
    least, most = min(mesh.links_per_gpu), max(mesh.links_per_gpu)
    each = f"{most}" if least == most else f"{least} to {most}"
    return [
        f"{mesh.ranks} GPUs, {each} links each, {rate(mesh.gpu_bw)} out of a GPU.",
        f"A line is a link of {rate(mesh.link_bw)}, one way.",
    ]


def _is_cube(mesh: Mesh) -> bool:
    """Two groups of four, each GPU joined to its partner and to no other of the other group."""
    across = {(a, b) for a, b, _ in mesh.pairs if (a < 4) != (b < 4)}
    return mesh.ranks == 8 and across <= {(i, i + 4) for i in range(4)}


def _cube(sheet, top: float) -> list[Point]:
    """Two squares side by side; partners face each other inside and reach round outside."""
    side = min(sheet.across * 0.26, 120)
    middle, high = sheet.across / 2, top + 52
    inner = min(sheet.across * 0.11, 60)
    xs = [middle - inner - side, middle - inner, middle + inner, middle + inner + side]
    left = [(xs[0], high), (xs[1], high), (xs[0], high + 112), (xs[1], high + 112)]
    right = [(xs[3], high), (xs[2], high), (xs[3], high + 112), (xs[2], high + 112)]
    return left + right


def _circle(mesh: Mesh, sheet, top: float) -> list[Point]:
    turn = [2 * pi * i / mesh.ranks - pi / 2 for i in range(mesh.ranks)]
    return [(sheet.across / 2 + 84 * cos(t), top + 108 + 84 * sin(t)) for t in turn]


def _pairs(sheet, mesh: Mesh, places: list[Point]):
    low = max(y for _, y in places)
    for a, b, n in mesh.pairs:
        (x0, y0), (x1, y1) = places[a], places[b]
        outside = _is_cube(mesh) and b == a + 4 and abs(x1 - x0) > 130
        bulge = 0.0 if not outside else 62 if y0 == low else -62
        for i in range(n):
            shift = 4 * (i - (n - 1) / 2)
            sheet.rule(*_way((x0, y0), (x1, y1), bulge, shift), "scaleup", linewidth=1.4, zorder=1)
    for rank, (x, y) in enumerate(places):
        sheet.area(x - _BOX / 2, y - 13, x + _BOX / 2, y + 13, "paper", zorder=1.5)
        frame(sheet, x - _BOX / 2, y - 13, _BOX, 26, "compute", 0.14)
        sheet.write(x, y + 4.4, str(rank), "compute", "center", say=False)


def _way(start: Point, end: Point, bulge: float, shift: float) -> tuple[list[float], list[float]]:
    """A straight way moved sideways by ``shift``, or one that bends up or down by ``bulge``."""
    (x0, y0), (x1, y1) = start, end
    long = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = shift * (y1 - y0) / long, -shift * (x1 - x0) / long
    if not bulge:
        return [x0 + dx, x1 + dx], [y0 + dy, y1 + dy]
    share = [i / 24 for i in range(25)]
    return [x0 + (x1 - x0) * s + dx for s in share], [y0 + (y1 - y0) * s + dy + 2 * bulge * s * (1 - s) for s in share]


# ---- tori


def _axes(torus: Torus) -> list[tuple[int, bool]]:
    return list(zip(torus.sides, torus.wrap, strict=True))


def _torus_words(torus: Torus) -> list[str]:
    shape = f"{NBSP}×{NBSP}".join(map(str, torus.sides)) + " = " if len(torus.sides) > 1 else ""
    return [
        f"{shape}{torus.ranks:,} chips, {torus.links_per_chip} links each, {rate(torus.chip_bw)} out of a chip.",
        f"A line is a link of {rate(torus.link_bw)}, one way. The farthest chips are {torus.diameter} links apart.",
    ]


def _seen(side: int, most: int) -> list[float]:
    """Where the chips of an axis stand, in steps; of a long one all but the first and the last are left out."""
    return list(range(side)) if side <= most else [*range(most - 1), most - 0.2]


def _frame(torus: Torus, w: float):
    """Where the chips of each axis stand, how far a step of each axis goes, and the lowest and highest y."""
    sides = [*torus.sides, 1, 1][:3]
    most = _SHOWN[len(torus.sides)]
    seen = [_seen(side, most) for side in sides]
    if len(torus.sides) < 3:
        step = min((w - 165) / max(seen[0][-1], 1), 26)
        steps = [(step, 0.0), (0.0, step), (0.0, 0.0)]
    else:
        step = min((w - 150) / 6.2, 66)
        steps = [(step, 0.0), (0.0, min(50.0, 1.1 * step)), (step * 0.55, -17.0)]
    ys = [j * steps[1][1] + k * steps[2][1] for j in (0, seen[1][-1]) for k in (0, seen[2][-1])]
    bulge, solid = (38 if any(torus.wrap) else 8), len(torus.sides) > 2
    return seen, steps, (min(ys) - (8 if solid else bulge), max(ys) + (bulge if solid else 10))


def _grid(sheet, torus: Torus, top: float):
    seen, steps, (low, high) = _frame(torus, sheet.across)
    wide = sum(at[-1] * step[0] for at, step in zip(seen, steps, strict=True))
    x0, y0 = (sheet.across - wide) / 2, top + 8 - low

    def spot(place) -> Point:
        return (
            x0 + sum(p * s[0] for p, s in zip(place, steps, strict=True)),
            y0 + sum(p * s[1] for p, s in zip(place, steps, strict=True)),
        )

    for axis, (side, wrap) in enumerate(_axes(torus)):
        others = [at if i != axis else [0] for i, at in enumerate(seen)]
        for row in ((a, b, c) for a in others[0] for b in others[1] for c in others[2]):
            _line(sheet, row, axis, seen[axis], side, spot)
            if wrap and len(torus.sides) < 3:
                _stubs(sheet, row, axis, seen[axis], spot)
        if wrap:
            _ring(sheet, axis, seen, spot, side)
    small = 4 if len(torus.sides) < 3 else 5
    for place in ((a, b, c) for a in seen[0] for b in seen[1] for c in seen[2]):
        x, y = spot(place)
        sheet.area(x - small, y - small, x + small, y + small, "compute", zorder=3)


def _line(sheet, row, axis: int, at: list[float], side: int, spot):
    """The links along one row; what a folded axis leaves out is dotted."""
    if side < 2:
        return
    ends = [spot([at[i] if n == axis else p for n, p in enumerate(row)]) for i in (0, len(at) - 2, -1)]
    folded = side > len(at)
    xs, ys = zip(*(ends[:2] if folded else (ends[0], ends[2])), strict=True)
    sheet.rule(xs, ys, "scaleup", linewidth=1.2, zorder=1)
    if folded:
        xs, ys = zip(*ends[1:], strict=True)
        sheet.rule(xs, ys, "scaleup", linewidth=1.2, zorder=0.9, linestyle=(0, (2, 4)))


def _stubs(sheet, row, axis: int, at: list[float], spot):
    """The beginnings of the links that close a row to a ring."""
    for end, way in ((at[0], -0.35), (at[-1], 0.35)):
        (x0, y0), (x1, y1) = (spot([e if n == axis else p for n, p in enumerate(row)]) for e in (end, end + way))
        sheet.rule([x0, x1], [y0, y1], "scaleup", linewidth=1.2, zorder=1)


def _ring(sheet, axis: int, seen, spot, side: int):
    """One row of an axis closed to a ring, outside of the grid, with the number of its chips."""
    row = [0, 0, 0]
    if axis == 2:
        row[0], row[1] = seen[0][-1], seen[1][-1]
    if axis == 0 and len(seen[2]) > 1:
        row[1] = seen[1][-1]
    ends = (seen[axis][0], seen[axis][-1])
    (x0, y0), (x1, y1) = (spot([end if n == axis else p for n, p in enumerate(row)]) for end in ends)
    out = {0: (0, -40 if len(seen[2]) == 1 else 40), 1: (-40, 0), 2: (36, 26)}[axis]
    share = [i / 24 for i in range(25)]
    xs = [x0 + (x1 - x0) * s + 2 * out[0] * s * (1 - s) for s in share]
    ys = [y0 + (y1 - y0) * s + 2 * out[1] * s * (1 - s) for s in share]
    sheet.rule(xs, ys, "scaleup", linewidth=1.2, zorder=1)
    align, dx, dy = {0: ("center", 0, 14 if out[1] > 0 else -5), 1: ("right", -5, 4), 2: ("left", 5, 12)}[axis]
    sheet.write(xs[12] + dx, ys[12] + dy, f"{side} chips", "scaleup", align, say=False)
