"""A torus of three axes, layer by layer: no link passes behind another chip, and each chip says how far it is."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from gpuscale.network.torus import Torus

_SHOWN = 4  # chips of an axis that are drawn: the first ones and the last
_CHIP, _RISE, _APART = 8.5, 21, 46  # pixels: half a chip, a row of a layer behind the one before, between two layers
_EDGE = 62, 30  # pixels for the rings that close at the left, and at the foot


def layers(sheet, torus: Torus, top: float) -> None:
    """Draws the torus below ``top``, with the rings of chip 0 closed, and sets the height of the sheet."""
    seen = [[*range(n)] if n <= _SHOWN else [*range(_SHOWN - 1), n - 1] for n in torus.sides]
    slots = [len(places) for places in seen]
    room = sheet.across - _EDGE[0] - (18 if sheet.narrow else 170)
    pitch = min(room / (slots[0] - 1 + 0.25 * slots[1]), 84) if slots[0] > 1 else 84
    lean, high = pitch / 4, _RISE * (slots[1] - 1) + _APART
    base = top + 26 + _RISE * (slots[1] - 1) + high * (slots[2] - 1)

    def at(i: float, j: float, k: float) -> np.ndarray:
        return np.array([_EDGE[0] + pitch * i + lean * j, base - _RISE * j - high * k])

    def line(start, end, strong=False, **style) -> None:
        look = {"weight": 2.2, "level": 2} if strong else {"weight": 1, "alpha": 0.45, "level": 1}
        sheet.rule(*zip(at(*start), at(*end), strict=True), "scaleup", **look | style)

    for k in range(slots[2]):  # a layer as a pale plane
        corners = [at(i, j, k) for i, j in ((-0.4, -0.6), (slots[0] - 0.6, -0.6), (slots[0] - 0.6, slots[1] - 0.4))]
        corners.append(at(-0.4, slots[1] - 0.4, k))
        sheet.fill(*zip(*corners, strict=True), "scaleup", 0.12, level=0)
    for axis, side in enumerate(torus.sides):
        for row in product(*(range(1 if a == axis else n) for a, n in enumerate(slots))):
            strong, last = not any(row), slots[axis] - 1
            beyond = 0.25 if torus.wrap[axis] and not strong else 0  # the two ends of the link that closes the row
            folded = side > _SHOWN
            places = [-beyond, last - 1 if folded else last + beyond, last, last + beyond]
            ends = [tuple(v if a == axis else w for a, w in enumerate(row)) for v in places]
            line(ends[0], ends[1], strong)
            if folded:
                line(ends[1], ends[2], strong, dash=(2, 4), level=1.5 + strong)
                line(ends[2], ends[3], strong)
        if torus.wrap[axis]:
            _closing(sheet, axis, side, at(0, 0, 0), at(*(slots[axis] - 1 if a == axis else 0 for a in range(3))))
    for spot in product(*map(range, slots)):
        hops = torus.hops(0, _rank(torus, [places[i] for places, i in zip(seen, spot, strict=True)]))
        x, y = at(*spot)
        corners = x - _CHIP, y - _CHIP, x + _CHIP, y + _CHIP
        sheet.area(*corners, "paper", level=3)
        sheet.area(*corners, "compute", **_tint(hops))
        sheet.write(x, y + 4.5, str(hops), "plain" if hops else "paper", "center", bold=not hops, say=False)
    sheet.down = base + _CHIP + _EDGE[1]
    if sheet.narrow:
        sheet.down = _distances(sheet, torus, 1, sheet.down + 18)
    else:
        _distances(sheet, torus, sheet.across - 150, top + 60)


def _tint(hops: int) -> dict:
    """The look of a chip at a distance. Shapes of one look have one level and become one path."""
    return {"alpha": 0.58 - 0.07 * hops if hops else 1, "level": 4 + hops / 100}


def _rank(torus: Torus, place) -> int:
    return int(np.ravel_multi_index(place, torus.sides))


def arc(start, end, bulge) -> tuple[np.ndarray, np.ndarray]:
    """A path from one point to another that bends aside by ``bulge`` halfway."""
    share = np.linspace(0, 1, 25)[:, None]
    way = start + (end - start) * share + 2 * np.array(bulge) * share * (1 - share)
    return way[:, 0], way[:, 1]


def _closing(sheet, axis: int, side: int, start, end) -> None:
    """The link that closes a row of chip 0 to a ring, with the number of its chips."""
    bulge = {0: (0, 44), 1: (-24, -40), 2: (-72, 0)}[axis]
    xs, ys = arc(start, end, bulge)
    sheet.rule(xs, ys, "scaleup", level=2, weight=2.2)
    align, dx, dy = {0: ("center", 0, 15), 1: ("center", 6, -7), 2: ("right", -5, 4)}[axis]
    words = f"{side} chips" if axis == 0 else str(side)
    sheet.write(xs[12] + dx, ys[12] + dy, words, "scaleup", align, bold=True, halo=True, say=False)


def _distances(sheet, torus: Torus, x: float, y: float) -> float:
    """How many chips are at each distance, of a torus that is drawn whole. Returns where the list ends."""
    if max(torus.sides) > _SHOWN:
        return y
    sheet.write(x, y, "links away", "soft", say=False)
    sheet.write(x + 78, y, "chips", "soft", say=False)
    counts = Counter(torus.hops(0, rank) for rank in range(torus.ranks))
    for hops, many in sorted(counts.items()):
        y += 18
        sheet.write(x + 62, y, str(hops), align="right", say=False)
        sheet.area(x + 78, y - 9, x + 78 + 2 * many, y, "compute", **_tint(hops))
        sheet.write(x + 84 + 2 * many, y, str(many), say=False)
    return y + 8
