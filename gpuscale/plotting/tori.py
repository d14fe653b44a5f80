"""Networks without switches that draw themselves: GPUs linked in pairs, and tori of chips."""

from __future__ import annotations

from itertools import product

import numpy as np

from gpuscale.network.torus import Mesh, Torus
from gpuscale.network.tree import Topology
from gpuscale.plotting.boxes import Block, draw
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.network_words import rate
from gpuscale.plotting.torus_layers import arc, layers
from gpuscale.plotting.trees import network_figure
from gpuscale.units import NBSP

_BOX = 32, 26  # pixels: a GPU's box
_SHOWN = 16  # chips of an axis that are drawn


def node_figure(node, *, name, caption, **look) -> Still:
    """A node as a static figure: GPUs linked in pairs (a Mesh), or by switches (the first level of a Topology).

    One line is one NVLink of a Mesh. Raises TypeError for anything else.
    """
    if isinstance(node, Topology):
        return network_figure(node.below(1), name=name, caption=caption, **look)
    if not isinstance(node, Mesh):
        raise TypeError(f"node_figure: expected a Mesh or a Topology; got {node!r}")
    least, most = min(node.links_per_gpu), max(node.links_per_gpu)
    each = f"{most}" if least == most else f"{least} to {most}"
    words = [
        f"{node.ranks} GPUs, {each} links each, {rate(node.gpu_bw)} out of a GPU.",
        f"A line is a link of {rate(node.link_bw)}, one direction.",
    ]

    def paint(sheet):
        top = _head(sheet, words)
        sheet.down = top + 216
        _pairs(sheet, node, top)
        sheet.records += [f"links {a}-{b}: {n}" for a, b, n in node.pairs]

    rows = [[f"{a} – {b}", str(n), rate(n * node.link_bw)] for a, b, n in node.pairs]
    said = {"alt": f"{node.title}. {' '.join(words)}", "table": (["Pair", "Links", "One direction"], rows)}
    return Still(paint, name=name, caption=caption, **said | look)


def torus_figure(torus, *, name, caption, **look) -> Still:
    """A Torus of up to three axes as a static figure; long axes are folded, one ring of each axis is closed.

    Raises TypeError for anything but a Torus, ValueError for more axes.
    """
    if not isinstance(torus, Torus):
        raise TypeError(f"torus_figure: expected a Torus; got {torus!r}")
    if len(torus.sides) > 3:
        raise ValueError(f"torus_figure: {len(torus.sides)} axes; expected at most 3")
    shape = f"{NBSP}×{NBSP}".join(map(str, torus.sides)) + " = " if len(torus.sides) > 1 else ""
    words = [
        f"{shape}{torus.ranks:,} chips, {torus.links_per_chip} links each, {rate(torus.chip_bw)} out of a chip.",
        f"A line is a link of {rate(torus.link_bw)}, one direction. The diameter is {torus.diameter} links.",
    ]
    rings = zip(torus.sides, torus.wrap, strict=True)
    records = [f"axis {side}, {'ring' if wrap else 'open'}" for side, wrap in rings]

    def paint(sheet):
        (layers if len(torus.sides) == 3 else _grid)(sheet, torus, _head(sheet, words))
        sheet.records += records

    return Still(paint, name=name, caption=caption, **{"alt": f"{torus.title}. {' '.join(words)}"} | look)


def _head(sheet, words: list[str]) -> float:
    """Sentences at the head of a figure, the first in bold. Returns where they end."""
    top = 1.0
    for i, text in enumerate(words):
        top = sheet.paragraph(text, 1, top, "soft" if i else "plain", bold=i == 0)
    return top - 1


# ---- pairs


def _is_cube(mesh: Mesh) -> bool:
    """Two groups of four, each GPU linked to its partner and to no other of the other group."""
    across = {(a, b) for a, b, _ in mesh.pairs if (a < 4) != (b < 4)}
    return mesh.ranks == 8 and across <= {(i, i + 4) for i in range(4)}


def _places(mesh: Mesh, across: float, top: float) -> np.ndarray:
    """The places of the GPUs: in a circle; a cube as two squares whose partners face each other inside and outside."""
    if not _is_cube(mesh):
        turn = 2 * np.pi * np.arange(mesh.ranks) / mesh.ranks - np.pi / 2
        return np.column_stack([across / 2 + 84 * np.cos(turn), top + 108 + 84 * np.sin(turn)])
    inner = min(across * 0.11, 60)
    outer = inner + min(across * 0.26, 120)
    left = [(-outer, 52), (-inner, 52), (-outer, 164), (-inner, 164)]
    return np.array(left + [(-x, y) for x, y in left]) + (across / 2, top)


def _pairs(sheet, mesh: Mesh, top: float) -> None:
    places, (wide, tall) = _places(mesh, sheet.across, top), _BOX
    for a, b, n in mesh.pairs:
        start, end = places[a], places[b]
        outside = _is_cube(mesh) and b == a + 4 and abs(end - start)[0] > 130
        bulge = (0, 0) if not outside else (0, -62) if start[1] == places[0][1] else (0, 62)
        along = (end - start) / np.hypot(*(end - start))
        for i in range(n):
            shift = 4 * (i - (n - 1) / 2) * np.array([along[1], -along[0]])
            sheet.rule(*arc(start + shift, end + shift, bulge), "scaleup", level=1, weight=1.4)
    for rank, (x, y) in enumerate(places.tolist()):
        x0, y0 = x - wide / 2, y - tall / 2
        sheet.area(x0, y0, x0 + wide, y0 + tall, "paper", level=1.5)
        draw(sheet, Block(note=str(rank), hue="compute", note_hue="compute"), x0, y0, wide, tall)


# ---- tori


def _grid(sheet, torus: Torus, top: float) -> None:
    """Chips of one or two axes as squares, links as lines; of a long axis only the first chips and the last."""
    sides = [*torus.sides, 1][:2]
    seen = [[*range(n)] if n <= _SHOWN else [*range(_SHOWN - 1), _SHOWN - 0.2] for n in sides]
    last = np.array([at[-1] for at in seen])
    step = min((sheet.across - 165) / max(last[0], 1), 26)
    above = 38 if any(torus.wrap) else 8
    start = np.array([(sheet.across - last[0] * step) / 2, top + 8 + above])
    sheet.down = top + 22 + above + last[1] * step + 10

    def at(row, axis: int, place: float) -> np.ndarray:
        """The pixels of a place, in steps, on a row along an axis."""
        return start + step * np.array([place if n == axis else p for n, p in enumerate(row)])

    def link(row, axis: int, here: float, there: float, **style) -> None:
        xs, ys = zip(at(row, axis, here), at(row, axis, there), strict=True)
        sheet.rule(xs, ys, "scaleup", weight=1.2, **style)

    for axis, (side, wrap) in enumerate(zip(torus.sides, torus.wrap, strict=True)):
        first, *_, end = [*seen[axis], seen[axis][-1]]
        for row in product(*([0] if i == axis else places for i, places in enumerate(seen))):
            folded = side > len(seen[axis])
            link(row, axis, first, seen[axis][-2] if folded else end, level=1)
            if folded:  # omitted chips are dotted
                link(row, axis, seen[axis][-2], end, level=0.9, dash=(2, 4))
            if wrap:  # the two ends of the link that closes a row to a ring
                link(row, axis, first, first - 0.35, level=1)
                link(row, axis, end, end + 0.35, level=1)
        if wrap:
            _ring(sheet, axis, at([0, 0], axis, first), at([0, 0], axis, end), side)
    for place in product(*seen):
        x, y = at(place, 0, place[0])
        sheet.area(x - 4, y - 4, x + 4, y + 4, "compute", level=3)


def _ring(sheet, axis: int, start, end, side: int) -> None:
    """One row of an axis closed to a ring, outside of the grid, with the number of its chips."""
    xs, ys = arc(start, end, (-40, 0) if axis else (0, -40))
    sheet.rule(xs, ys, "scaleup", level=1, weight=1.2)
    align, dx, dy = ("right", -5, 4) if axis else ("center", 0, -5)
    sheet.write(xs[12] + dx, ys[12] + dy, f"{side} chips", "scaleup", align, say=False)
