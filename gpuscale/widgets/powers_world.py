"""A pod as it is drawn by ``static/powers.js``: frames inside frames, layers of boxes and pipes, labels, and routes.

Everything stands in the units of its frame. A layer is painted into each of its frames; a pipe has the bandwidth that
gives its width. ``fade`` is the width of the frame, in pixels, from which a layer or a label is seen and up to which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Point = tuple[float, float]
UNIT, NODE, GPU, RAIL, SM, QUARTER = 2, 10, 1, 1, 38, 1  # where the bytes go
NEAR, FAR = 6, 21  # a GPU of the node, and a node of the unit, from which they come
STACKS, SMS = 5, 132  # of an H100: HBM stacks, SMs
LINKS = 5, 4, 4, 5  # NVLinks of a GPU to each switch
COLUMN = 5.65  # from one column of nodes to the next


class Frame(NamedTuple):
    """A frame in the world: its corner, the size of its unit, its own width and height, whether it is upside down."""

    x: float
    y: float
    k: float
    w: float
    h: float
    flip: bool = False

    def at(self, x: float, y: float) -> Point:
        """A point of the frame in the world."""
        return self.x + x * self.k, self.y + (self.h - y if self.flip else y) * self.k

    def inner(self, x: float, y: float, width: float, w: float, h: float, flip: bool = False) -> Frame:
        """A frame of ``w`` by ``h`` units of its own, ``width`` units wide here."""
        k = width / w
        corner = self.at(x, y + h * k if self.flip else y)  # upside down, the last edge comes first
        return Frame(*corner, self.k * k, w, h, flip)


POD = Frame(0, 0, 1, 100, 94)
UNITS = [POD.inner(52 if u % 2 else 1, 59 if u > 1 else 1, 47, 47, 34, u < 2) for u in range(4)]
HOME_UNIT = UNITS[UNIT]


def _node(n: int) -> Frame:
    return HOME_UNIT.inner(1 + n % 8 * COLUMN, 10 + n // 8 * 5.85, 4.75, 100, 108)


def _gpus(node: Frame) -> list[Frame]:
    return [node.inner(20 + g % 4 * 20, 22 if g < 4 else 69, 17, 100, 100, g > 3) for g in range(8)]


HOME_NODE = _node(NODE)
GPUS = _gpus(HOME_NODE)
HOME_GPU = GPUS[GPU]
_SM_Y = [7.3 + 5.15 * r for r in range(6)] + [62.3 + 5.15 * r for r in range(6)]
HOME_SM = HOME_GPU.inner(23.3 + SM % 11 * 5, _SM_Y[SM // 11], 4.1, 100, 100)
_CORNERS = [(4, 4), (52, 4), (4, 58), (52, 58)]  # of the four quarters of an SM; the lower two are upside down


def _quarter(q: int, x: float, y: float, h: float = 0) -> Point:
    """A point, or the corner of a box ``h`` high, of a quarter of an SM."""
    left, top = _CORNERS[q]
    return left + x, top + (38 - y - h if q > 1 else y)


TENSOR = HOME_SM.inner(*_quarter(QUARTER, 25, 20), 17, 17, 16)
FRAMES = {
    "pod": [POD],
    "unit": UNITS,
    "node": [HOME_NODE],
    "gpu": GPUS,
    "home": [HOME_GPU],
    "sm": [HOME_SM],
    "tensor": [TENSOR],
}
PATH = [POD, HOME_UNIT, HOME_NODE, HOME_GPU, HOME_SM, TENSOR]  # a level's frame

# --- layers ---


def _layer(frame: str, look: str, fade: Sequence[float] = (0, 0), opacity: float = 1, **what) -> dict:
    return {"in": frame, "look": look, "fade": list(fade), "opacity": opacity, **what}


def _boxes(frame: str, look: str, box: Sequence[float], *by: Sequence[float], **more) -> dict:
    """A box [x, y, width, height], and its copies: each of ``by`` is how many, and the step to the next one."""
    return _layer(frame, look, box=list(box), by=[list(each) for each in by], **more)


def _d(*lines: Sequence[Point]) -> str:
    return "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in line) for line in lines)


def _trunk(frame: str, look: str, ends: Sequence[float], y: float | Sequence[float], W: float, upright=False, **more):
    """A pipe that takes in one more stream of ``W`` at each of ``ends``, but the last one, where it ends."""
    out = []
    for count, (a, b) in enumerate(pairwise(ends), 1):
        rows = [y] if isinstance(y, int | float) else y
        lines = [[(v, a), (v, b)] if upright else [(a, v), (b, v)] for v in rows]
        out.append(_layer(frame, look, d=_d(*lines), W=count * W, **more))
    return out


def _fan(frame: str, look: str, starts: Sequence[Point], ends: Sequence[Point], W: float, **more) -> dict:
    """A pipe from each start to each end."""
    return _layer(frame, look, fan=[[list(p) for p in starts], [list(p) for p in ends]], W=W, **more)


def layers(W: Mapping[str, float]) -> list[dict]:
    """All layers, the first painted first. ``W`` has the bandwidths of the memories, of a nic and an NVLink
    (``link``), and of the registers and the shared memory of one SM (``smem``)."""
    return [*_pod(W), *_unit(W), *_home_node(W), *_home_gpu(W), *_home_sm(W), *_home_tensor()]


def _pod(W):
    for top in (0, 2):
        leaves = [UNITS[top + i // 8].at(3.35 + i % 8 * COLUMN, 2.2) for i in range(16)]
        spines = [(20.95 + 5 * j, 45.6 if top == 0 else 48.4) for j in range(16)]
        yield _fan("pod", "pipe scaleout", leaves, spines, 2 * W["nic"], opacity=0.4, fade=(0, 0, 2500, 8000))
    yield _boxes("pod", "solid scaleout", (19, 45.6, 3.9, 2.8), (16, 5, 0), fade=(0, 0, 2500, 8000))


def _unit(W):
    gone, dim = (0, 0, 12000, 20000), (0, 0, 1000, 4000)
    nodes = (8, COLUMN, 0), (4, 0, 5.85)
    gpus = (4, 0.95, 0), (2, 0, 2.2325)
    risers = [6.2 + c * COLUMN for c in range(8)]
    yield _boxes("unit", "frame", (0, 0, 47, 34), fade=gone)
    stubs = [[(5.75 + c * COLUMN, y), (x, y)] for c, x in enumerate(risers) for r in range(4) for y in _exits(r)]
    yield _layer("unit", "pipe scaleout", d=_d(*stubs), W=4 * W["nic"], opacity=0.3, fade=gone)
    ends = [y for r in (3, 2, 1, 0) for y in reversed(_exits(r))] + [9.4]
    yield from _trunk("unit", "pipe scaleout", ends, risers, 4 * W["nic"], upright=True, opacity=0.3, fade=gone)
    rails = [(3.35 + i * COLUMN, 4.2) for i in range(8)]
    tops = [(x, 9.4) for x in risers]
    others = [*rails[:RAIL], *rails[RAIL + 1 :]]
    yield _fan("unit", "pipe scaleout", tops, others, 4 * W["nic"], opacity=0.26, fade=dim)
    yield _fan("unit", "pipe scaleout", tops, [rails[RAIL]], 4 * W["nic"], opacity=0.6, fade=dim)
    yield _boxes("unit", "solid scaleout", (1.35, 2.2, 4, 2), (8, COLUMN, 0), fade=gone)
    yield _boxes("unit", "paper", (1, 10, 4.75, 5.13), *nodes, fade=(150, 400, 12000, 20000))
    parts = {"fade": (356, 742, 1600, 3000), "rest": 0.3}
    yield _boxes("unit", "host", (1.1425, 10.57, 0.4275, 1.805), *nodes, (2, 0, 2.185), **parts)
    yield _boxes(
        "unit", "solid scaleout", (2.1875, 10.404, 0.3325, 0.261), (4, 0.95, 0), *nodes, (2, 0, 4.061), **parts
    )
    yield _boxes("unit", "solid scaleup", (1.9405, 12.413, 0.8265, 0.304), (4, 0.95, 0), *nodes, **parts)
    yield _boxes(
        "unit", "solid compute", (1.95, 11.045, 0.8075, 0.8075), *gpus, *nodes, fade=(0, 0, 1600, 3000), rest=0.3
    )


def _exits(row: int) -> list[float]:
    """Where the NICs' cables leave a node of this row, in its unit: four above, four below."""
    return [10 + row * 5.85 + y * 0.0475 for y in (5, 103)]


def _home_node(W):
    seen, ports = (70, 130), [28.5 + 20 * i for i in range(4)]
    yield _boxes("node", "paper", (0, 0, 100, 108), fade=(70, 130))
    pale = {"opacity": 0.45, "fade": seen}
    sides = ((22, 17.6, 5), (86, 90.4, 103))  # of a GPU, the way to the host, the way out
    for edge, host, out in sides:
        yield _layer(
            "node", "pipe plain", d=_d(*([(x - 1.5, edge), (x - 1.5, host)] for x in ports)), W=W["host"], **pale
        )
        yield from _trunk("node", "pipe plain", [x - 1.5 for x in reversed(ports)] + [12], host, W["host"], **pale)
        yield _layer("node", "pipe scaleout", d=_d(*([(x, edge), (x, out)] for x in ports)), W=W["nic"], fade=seen)
        yield from _trunk("node", "pipe scaleout", [*ports, 100.5], out, W["nic"], fade=seen)
        row = [(x, 39 if edge < 50 else 69) for x in ports]
        for j, many in enumerate(LINKS):
            end = [(28.5 + 20 * j, 50.8 if edge < 50 else 57.2)]
            yield _fan("node", "pipe scaleup", row, end, many * W["link"], opacity=0.5, fade=seen)
    yield _boxes("node", "host", (3, 12, 9, 38), (2, 0, 46), fade=seen)
    yield _boxes("node", "solid memory", (4.2, 19, 6.6, 2.5), (2, 0, 46), (8, 0, 3.8), fade=seen)
    yield _boxes("node", "solid scaleout", (25, 8.5, 7, 5.5), (4, 20, 0), (2, 0, 85.5), fade=seen)
    yield _boxes("node", "solid scaleup", (19.8, 50.8, 17.4, 6.4), (4, 20, 0), fade=seen)


def _bend(a: Point, b: Point, c: Point, d: Point, count: int = 10) -> list[Point]:
    """Points of a curve from ``a`` to ``b`` that leaves towards ``c`` and arrives from ``d``."""
    steps = [i / count for i in range(count + 1)]
    parts = [((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3) for t in steps]
    return [tuple(p * u + q * v + r * w + s * x for u, v, w, x in zip(a, c, d, b, strict=True)) for p, q, r, s in parts]


def _upright(a: Point, b: Point) -> list[Point]:
    middle = (a[1] + b[1]) / 2
    return _bend(a, b, (a[0], middle), (b[0], middle))


def _stack_pipe(i: int) -> list[Point]:
    y, end = 20.5 + 29 * (i % 3), (44, 47, 55.5, 45.2, 53)[i]
    if i < 3:
        return _bend((14, y), (23.3, end), (19.5, y), (17, end))
    return _bend((86, y), (78.2, end), (81, y), (83, end))


NVLINK_IN = [(50, 100), (50, 97), (81, 97), (81, 56), (78.2, 56)]
PCIE_IN = [(50, 0), (50, 2.6), (80.6, 2.6), (80.6, 48), (78.2, 48)]


def _home_gpu(W):
    seen, near = (12, 22), (190, 330)
    yield _boxes("gpu", "gpu", (0, 0, 100, 100), fade=seen)
    yield _boxes("gpu", "paper", (17, 4, 66, 92), fade=seen)
    for i in range(STACKS):
        yield _layer(
            "home",
            "pipe memory",
            d=_d([tuple(round(v, 2) for v in p) for p in _stack_pipe(i)]),
            W=W["hbm"] / STACKS,
            opacity=0.55,
            fade=near,
        )
    yield _layer("home", "pipe scaleup", d=_d(NVLINK_IN), W=W["nvlink"], opacity=0.8, fade=near)
    yield _layer("home", "pipe plain", d=_d(PCIE_IN), W=W["host"], opacity=0.45, fade=near)
    columns = [27.85 + 5 * c for c in range(11)]
    each = W["l2"] / SMS
    for rows, end in ((_SM_Y[:6], 42.5), (_SM_Y[:5:-1], 57.5)):
        ends = [y + 2.05 for y in rows] + [end]
        yield from _trunk("home", "pipe memory", ends, columns, each, upright=True, opacity=0.5, fade=near)
    yield _boxes("gpu", "solid memory", (2, 8, 12, 25), (3, 0, 29), fade=seen)
    yield _boxes("gpu", "solid memory", (86, 8, 12, 25), (2, 0, 29), fade=seen)
    yield _boxes("gpu", "solid memory", (23.3, 42.5, 54.9, 6.5), (2, 0, 8.5), fade=seen)
    yield _boxes("gpu", "solid compute", (23.3, 7.3, 4.1, 4.1), (11, 5, 0), (6, 0, 5.15), (2, 0, 55), fade=seen)


def _in_quarters(look: str, box: Sequence[float], *by, **more):
    """A box of a quarter of an SM in all four; the lower two are upside down."""
    x, y, w, h = box
    for top in (0, 2):
        steps = [(many, dx, -dy if top else dy) for many, dx, dy in by]
        yield _boxes("sm", look, (*_quarter(top, x, y, h), w, h), *steps, (2, 48, 0), **more)


def _home_sm(W):
    seen = {"fade": (50, 130)}
    yield _boxes("sm", "gpu", (0, 0, 100, 100), **seen)
    yield from _in_quarters("paper", (0, 0, 44, 38), **seen)
    for look, key, x, ends, opacity in (
        ("memory", "smem", 23, (41, 15), 0.7),
        ("compute", "registers", 11.2, (14, 22), 0.35),
    ):
        lines = [[_quarter(q, x, y) for y in ends] for q in range(4)]
        yield _layer("sm", f"pipe {look}", d=_d(*lines), W=W[key] / 4, opacity=opacity, **seen)
    yield _boxes("sm", "solid memory", (4, 45, 92, 10), **seen)
    yield from _in_quarters("solid memory", (2, 8, 40, 7), **seen)
    yield from _in_quarters("solid compute", (2, 21, 1.9, 3), (8, 2.3, 0), (4, 0, 4), **seen)
    yield from _in_quarters("solid compute", (25, 20, 17, 16), **seen)


def _home_tensor():
    seen, step = {"fade": (90, 220)}, 0.825
    grid, cell = ((8, step, 0), (8, 0, step)), (0.7, 0.7)
    yield _boxes("tensor", "paper", (0, 0, 17, 16), **seen)
    for corner, look in (((1.1, 8.6), "memory"), ((9.3, 0.5), "memory"), ((9.3, 8.6), "compute")):
        yield _boxes("tensor", f"solid {look}", (*corner, *cell), *grid, opacity=0.45, **seen)
    yield _boxes("tensor", "solid memory", (1.1, 8.6 + 2 * step, *cell), grid[0], **seen)
    yield _boxes("tensor", "solid memory", (9.3 + 5 * step, 0.5, *cell), grid[1], **seen)
    yield _boxes("tensor", "solid compute", (9.3 + 5 * step, 8.6 + 2 * step, *cell), **seen)


# --- what can be pressed ---


def presses() -> dict[str, list]:
    """Where each memory lies, by key: the level at which it can be pressed, its frame, a box and its copies."""
    return {
        "smem": [4, "sm", [4, 45, 92, 10], []],
        "l2": [3, "home", [23.3, 42.5, 54.9, 6.5], [[2, 0, 8.5]]],
        "hbm": [3, "home", [2, 8, 12, 25], [[3, 0, 29]]],
        "nvlink": [2, "node", [20, 69, 17, 17], [[4, 20, 0]]],
        "host": [2, "node", [3, 12, 9, 38], [[2, 0, 46]]],
        "network": [1, "home unit", [1, 21.7, 4.75, 5.13], [[8, COLUMN, 0], [2, 0, 5.85]]],
    }


# --- labels ---


def labels(words: Mapping[str, str | list[str]]) -> list[dict]:
    """The labels: where they stand, from and up to which width of their frame, and their words; a list has the short
    form for a narrow page as well."""
    return [
        {
            "in": frame,
            "at": list(at),
            "fade": list(fade),
            "look": look,
            "words": words[key],
            "anchor": anchor,
            "by": list(by),
        }
        for frame, key, at, fade, look, anchor, *rest in _labels()
        for by in (rest or [(0, 0)])
    ]


def _labels():
    pod, unit, node = (300, 420, 700, 1000), (380, 470, 900, 1600), (320, 360, 900, 1500)
    gpu, sm, tensor = (330, 400, 900, 1800), (330, 400, 900, 1700), (260, 380)
    yield "pod", "spines", (1, 46.2), pod, "label scaleout", "start", (0, -7)
    yield "pod", "unit", (1, 46.2), pod, "label light scaleout", "start", (0, 17)
    for i in range(8):
        yield "home unit", f"leaf{i}", (3.35 + i * COLUMN, 3.2), unit, "on", "middle"
    yield "home unit", "up", (23.5, -1), unit, "label scaleout", "middle", (0, -8)
    yield "home unit", "column", (46.4, 34), unit, "label light scaleout", "end", (0, 12)
    for i in range(4):
        yield "node", "nvswitch", (28.5 + 20 * i, 54), node, "on", "middle"
        for y in (11.25, 96.75):
            yield "node", "nic", (28.5 + 20 * i, y), node, "on", "middle"
    for i in range(8):
        yield "node", f"nic{i}", (22.6 + i % 4 * 20, 11.25 if i < 4 else 96.75), node, "light-text", "middle"
    for y in (15.5, 61.5):
        yield "node", "cpu", (7.5, y), node, "light-text", "middle"
    yield "node", "nvlink", (58.5, 45), node, "label scaleup", "middle"
    yield "node", "pcie", (2, 5.2), node, "label plain", "start"
    yield "node", "ib", (98, 1.8), node, "label scaleout", "end"
    yield "node", "host", (2, 54), node, "label memory", "start"
    for i in range(STACKS):
        yield "home", "hbm", (8 if i < 3 else 92, 20.5 + 29 * (i % 3)), gpu, "on", "middle"
    yield "home", "l2", (50, 45.75), gpu, "on", "middle"
    yield "home", "l2_rate", (50, 54.25), gpu, "on", "middle"
    yield "home", "nvlink_port", (48, 97), gpu, "label scaleup", "end"
    yield "home", "pcie", (48, 2.6), gpu, "label plain", "end"
    yield "home", "stack", (2, 35.3), gpu, "label memory", "start"
    yield "sm", "smem", (50, 50), sm, "on", "middle"
    for q in range(4):
        yield "sm", "registers", _quarter(q, 22, 11.5), sm, "on", "middle"
        for key, dy in (("tensor", -7), ("core", 7)):
            yield "sm", key, _quarter(q, 33.5, 28), sm, "on", "middle", (0, dy)
    yield "sm", "register_rate", _quarter(0, 2, 17.6), sm, "label compute", "start"
    yield "sm", "smem_rate", _quarter(1, 23, 17.3), sm, "label memory", "start", (5, 0)
    yield "tensor", "A", (1.1, 8), tensor, "strong", "start"
    yield "tensor", "B", (8.6, 4), tensor, "strong", "middle"
    yield "tensor", "C", (9.3, 8), tensor, "strong", "start"
    yield "tensor", "multiply", (1.1, 1.4), tensor, "light-text", "start"


# --- routes ---


def routes() -> dict[str, list[list[float]]]:
    """The way of the bytes from each memory to a Tensor Core's registers, in the world."""
    gpu, node, unit = HOME_GPU, HOME_NODE, HOME_UNIT
    placed = lambda frame, points: [frame.at(*p) for p in points]  # noqa: E731
    column = 27.85 + SM % 11 * 5
    into_sm = [(75, 50), *(_quarter(QUARTER, 23, y) for y in (41, 15))]

    def home(way: list[Point]) -> list[Point]:
        level = (way[-1][1] - gpu.y) / gpu.k
        up = placed(gpu, [(column, level), (column, _SM_Y[SM // 11] + 2.05)])
        return [*way, *up, *placed(HOME_SM, into_sm)]

    def out(there: Frame, port: list[Point]) -> list[Point]:
        own = _stack_pipe(0)
        return placed(there, [(8, 20.5), *own, (50, own[-1][1]), (50, port[-1][1]), *reversed(port)])

    def to_leaf(there: Frame, n: int) -> list[Point]:
        x, riser = 28.5 + GPU % 4 * 20, HOME_UNIT.at(6.2 + n % 8 * COLUMN, 9.4)
        exits = placed(there, [(x, 22), (x, 5), (100, 5)])
        leaf = unit.at(3.35 + RAIL * COLUMN, 4.2)
        return [*exits[:2], (riser[0], exits[2][1]), *_upright(riser, leaf), unit.at(3.35 + RAIL * COLUMN, 3.2)]

    near, far = GPUS[NEAR], _node(FAR)
    switch = node.at(48.5, 54)
    hosts = placed(node, [(7.5, 17.6), (28.5 + 20 * GPU, 17.6)])
    ways = {
        "smem": placed(HOME_SM, [(54, 50), *into_sm]),
        "l2": home(placed(gpu, [(28, 45.7)])),
        "hbm": home(placed(gpu, [(8, 20.5), *_stack_pipe(0)])),
        "nvlink": home(
            [*out(near, NVLINK_IN), *_upright(near.at(50, 100), switch), *_upright(switch, gpu.at(50, 100))]
            + placed(gpu, NVLINK_IN)
        ),
        "host": home([*hosts, *placed(gpu, PCIE_IN)]),
        "network": home(
            [*out(_gpus(far)[GPU], PCIE_IN), *to_leaf(far, FAR), *reversed(to_leaf(node, NODE)), *placed(gpu, PCIE_IN)]
        ),
    }
    return {key: [[round(v, 5) for v in p] for p in way] for key, way in ways.items()}


def frames() -> dict[str, list]:
    """Each kind of frame: its places in the world [x, y, unit, width, height, upside down]."""
    known = {**FRAMES, "home unit": [HOME_UNIT]}
    return {key: [[*(round(v, 7) for v in f[:5]), int(f.flip)] for f in each] for key, each in known.items()}
