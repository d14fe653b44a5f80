"""Labels at their curves: each is tried at many places and takes the one that covers the least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.plotting.drawing.ink import SIZE, width

_UP, _DOWN = 0.76 * SIZE, 0.22 * SIZE  # how far letters reach from their baseline
SIDE = {"left": 0.0, "center": 0.5, "right": 1.0}
_TWIN = 9.0  # pixels: nearer than this, two curves cannot be told apart by a label


@dataclass(frozen=True)
class Spot:
    """A place for a label: anchor point in pixels, alignment, and the price of the position alone."""

    x: float
    y: float
    align: str
    price: float


@dataclass
class Want:
    """A label that looks for a place: ``path`` is its curve or its points in pixels, y downwards."""

    text: str
    path: np.ndarray
    hue: str = "plain"
    bold: bool = True
    radius: float = 0.0  # of its dots; 0 for a curve
    near: float | None = None  # the x, in pixels, that it should stand at
    along: bool = False  # written along a straight line
    angle: float = 0.0  # then its slope in degrees, anticlockwise
    spots: list[Spot] | None = None  # the places to choose from, if given
    spot: Spot | None = None

    def __post_init__(self):
        self.trail = _discs(self.path, self.radius) if self.radius else _dense(self.path)

    def turned(self, points, back: bool = False) -> np.ndarray:
        """Points in a frame in which the label is level, or back on the page."""
        if not self.angle:
            return points
        a = np.radians(self.angle) * (-1 if back else 1)
        return points @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])

    def rects(self, spots) -> np.ndarray:
        """The rectangle of the label at each spot, in the level frame: rows of x0, y0, x1, y1."""
        w = width(self.text, self.bold)
        at = self.turned(np.array([(s.x, s.y) for s in spots]))
        left = at[:, 0] - w * np.array([SIDE[s.align] for s in spots])
        return np.column_stack([left, at[:, 1] - _UP, left + w, at[:, 1] + _DOWN])

    def cover(self) -> np.ndarray:
        """Points of the label where it stands."""
        return self.turned(fill(self.rects([self.spot])[0]), back=True)


def place(wants: list[Want], frame: tuple, solid: np.ndarray) -> None:
    """Give each label the cheapest spot in ``frame`` (x0, y0, x1, y1); ``solid`` are pixels to keep clear of.

    What curves cost is counted once; then every label is placed in turn, twice, around the others.
    """
    asking = [w for w in wants if w.text]
    tried = []
    for want in asking:
        others = [w for w in wants if w is not want]
        crowd = np.concatenate([w.trail for w in others if not w.radius and w.spots is None] + [np.empty((0, 2))])
        spots = want.spots or (_around(want) if want.radius else _beside(want, frame, crowd))
        rects = want.rects(spots) if spots else np.empty((0, 4))
        cost = np.array([s.price for s in spots]) + _outside(want, rects, frame)
        cost += (0.15 if want.along else 1.0) * _covered(want, rects, want.trail, 1.5)
        cost += 8 * _covered(want, rects, solid, 3.0)
        own = _distance(want, rects, want.trail)
        for other in others:
            cost += (8.0 if other.radius else 2.5) * _covered(want, rects, other.trail, 3.5)
            near = _distance(want, rects, other.trail) < own + 1  # it would seem to belong to the other curve
            cost += 14 * near if other.spots is None else 0
        tried.append((spots, rects, cost))
    for _ in range(2):
        for want, (spots, rects, cost) in zip(asking, tried, strict=True):
            taken = [w.cover() for w in asking if w is not want and w.spot]
            total = cost + 8 * sum((_covered(want, rects, t, 4.0) for t in taken), np.zeros(len(spots)))
            want.spot = spots[int(np.argmin(np.round(total, 4)))] if spots else None


def _covered(want: Want, rects, points, pad: float) -> np.ndarray:
    """How many of the points each rectangle covers."""
    if not len(points) or not len(rects):
        return np.zeros(len(rects))
    x, y = want.turned(points).T
    grown = rects + (-pad, -pad, pad, pad)
    x0, y0, x1, y1 = (side[:, None] for side in grown.T)
    return np.count_nonzero((x > x0) & (x < x1) & (y > y0) & (y < y1), axis=1)


def _distance(want: Want, rects, points) -> np.ndarray:
    """From each rectangle to the nearest of the points."""
    if not len(points) or not len(rects):
        return np.full(len(rects), np.inf)
    x, y = want.turned(points).T
    x0, y0, x1, y1 = (side[:, None] for side in rects.T)
    return np.hypot(np.maximum(np.maximum(x0 - x, x - x1), 0), np.maximum(np.maximum(y0 - y, y - y1), 0)).min(axis=1)


def _outside(want: Want, rects, frame) -> np.ndarray:
    """The price of reaching out of the frame, by the pixel."""
    corners = [want.turned(rects[:, pick], back=True) for pick in ([0, 1], [2, 1], [0, 3], [2, 3])]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    reach = np.maximum(np.array(frame[:2]) - low, 0) + np.maximum(high - np.array(frame[2:]), 0)
    return 50 * reach.sum(axis=1)


def _beside(want: Want, frame, crowd: np.ndarray) -> list[Spot]:
    """Places along a curve, more expensive away from its end and where another curve runs with it."""
    x, y = want.trail.T
    seen = want.trail[(x >= frame[0] - 3) & (x <= frame[2] + 3) & (y >= frame[1] - 3) & (y <= frame[3] + 3)]
    if len(seen) < 2:
        return []
    if want.along:
        return _sloping(want, seen[[0, -1]])
    out = []
    for share in np.linspace(1, 0, 21):
        px, py = map(float, seen[round(share * (len(seen) - 1))])
        price = 10 * (1 - share) if want.near is None else abs(px - want.near) / 6
        if len(crowd) and np.hypot(*(crowd - (px, py)).T).min() < _TWIN:
            price += 16
        for align, shift, more in (("right", -2, 0), ("left", 2, 0.5), ("center", 0, 1)):
            out.append(Spot(px + shift, py - 6, align, price + more))
            out.append(Spot(px + shift, py + _UP + 6, align, price + more + 1))
    return out


def _sloping(want: Want, ends: np.ndarray) -> list[Spot]:
    """Places along a straight line: a little above it, on it, or below."""
    dx, dy = ends[1] - ends[0]
    want.angle = float(np.degrees(np.arctan2(-dy, dx)))
    across = np.array([dy, -dx]) / max(float(np.hypot(dx, dy)), 1e-9)  # a step to the upper side of the line
    out = []
    for share in np.linspace(0.12, 0.88, 20):
        for shift, more in ((6.0, 0), (-4.4, 3), (-_UP - 6.0, 1)):
            x, y = map(float, ends[0] + share * (ends[1] - ends[0]) + shift * across)
            price = 6 * abs(share - 0.4) if want.near is None else abs(x - want.near) / 6
            out.append(Spot(x, y, "center", price + more))
    return out


def _around(want: Want) -> list[Spot]:
    """Places around dots, the last one first."""
    gap, out = want.radius + 6, []
    for i, (x, y) in enumerate(want.path[::-1].tolist()):
        price = min(2.0 * i, 8.0)
        out += [Spot(x + gap, y + 4.4, "left", price), Spot(x - gap, y + 4.4, "right", price + 1)]
        for align, shift in (("center", 0), ("left", -want.radius), ("right", want.radius)):
            out.append(Spot(x + shift, y - gap + 1, align, price + 2))
            out.append(Spot(x + shift, y + gap + _UP - 2, align, price + 2))
    return out


def _dense(path: np.ndarray) -> np.ndarray:
    """A polyline as points about four pixels apart."""
    if len(path) < 2:
        return path
    path = np.clip(path, -2000, 4000)
    along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    at = np.linspace(0, along[-1], max(int(along[-1] / 4), 2))
    return np.column_stack([np.interp(at, along, path[:, 0]), np.interp(at, along, path[:, 1])])


def _discs(path: np.ndarray, radius: float) -> np.ndarray:
    turn = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return (path[:, None, :] + np.concatenate([[[0, 0]], ring])[None]).reshape(-1, 2)


def fill(rect) -> np.ndarray:
    """A rectangle as points a few pixels apart."""
    x0, y0, x1, y1 = rect
    xs = np.linspace(x0, x1, max(int((x1 - x0) / 5), 2))
    return np.stack(np.meshgrid(xs, np.linspace(y0, y1, 3)), axis=-1).reshape(-1, 2)
