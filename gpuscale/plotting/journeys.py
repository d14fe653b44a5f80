"""Where the copies of one token travel: once to each node over the network, and on to its GPUs over NVLink."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscale.plotting.drawing.figure import Still

_TALL, _PITCH, _HEAD = 24, 34, 30  # pixels: a GPU's box, from one node to the next, the row of words on top


def journey_figure(targets: Iterable[int], *, home: int, nodes: int, gpus: int, name, caption, **look) -> Still:
    """One token of GPU ``home`` on its path to the GPUs ``targets`` that hold its experts.

    Nodes are rows and the GPUs of a node are columns, both numbered from 0. A copy crosses the network down its own
    column, then fans out along the row. Raises ValueError for a GPU that does not exist.
    """
    targets = sorted({int(t) for t in targets})
    if not all(0 <= gpu < nodes * gpus for gpu in [*targets, home]):
        raise ValueError(f"{name}: expected GPUs below {nodes * gpus}; got {targets} and {home}")
    node, place = divmod(home, gpus)
    reached = sorted({t // gpus for t in targets})
    away = [n for n in reached if n != node]

    def paint(sheet):
        left = 52 if sheet.narrow else 70
        step = (sheet.across - left - 2) / gpus
        side = min(step * 0.62, 40)
        key = [("between nodes, network", "scaleout"), ("inside a node, NVLink", "scaleup")]
        swatches = [(text, _swatch(sheet, hue)) for text, hue in key]
        top = sheet.legend([*swatches, ("has an expert of the token", _square(sheet))], 0) + _HEAD / 2

        def spot(gpu: int) -> tuple[float, float]:
            return left + (gpu % gpus + 0.5) * step, top + gpu // gpus * _PITCH + _PITCH / 2

        sheet.write(0, top + 1, "GPU", "soft", say=False)
        for gpu in range(gpus):
            bold, hue = gpu == place, "plain" if gpu == place else "soft"
            sheet.write(spot(gpu)[0], top + 1, str(gpu), hue, "center", bold=bold, say=False)
        for n in range(nodes):
            sheet.write(0, spot(n * gpus)[1] + 4.5, f"node {n}", "plain" if n in reached or n == node else "soft")
            for gpu in range(n * gpus, (n + 1) * gpus):
                x, y = spot(gpu)
                arrives = n in away and gpu % gpus == place
                hue, share = ("compute", 0.35) if gpu in targets else ("scaleout", 0.12) if arrives else ("line", 0.0)
                sheet.box(x - side / 2, y - _TALL / 2, side, _TALL, "memory" if gpu == home else hue, share, level=2)
        x0, y0 = spot(home)
        for i, n in enumerate(away):
            lane = x0 + (i - (len(away) - 1) / 2) * 5
            end = spot(n * gpus + place)[1] + (-1 if n > node else 1) * _TALL / 2
            start = y0 + (1 if n > node else -1) * _TALL / 2
            _arrow(sheet, [lane, lane], [start, end], "scaleout")
        for gpu in targets:
            n, p = divmod(gpu, gpus)
            if p == place:
                continue
            x, y = spot(gpu)
            right = 1 if p > place else -1
            lane = y + (p % 3 - 1) * 5
            _arrow(sheet, [x0 + right * side / 2, x - right * side / 2], [lane, lane], "scaleup")
        sheet.dot(x0, y0, 6, "memory")
        sheet.down = top + nodes * _PITCH + 4
        sheet.records += [f"node {n}: GPUs {[t % gpus for t in targets if t // gpus == n]}" for n in reached]

    alt = (
        f"A grid of {nodes} nodes with {gpus} GPUs each. One token starts on GPU {place} of node {node}. Its "
        f"experts are on {len(targets)} GPUs in {len(reached)} nodes. {len(away)} copies cross the network, each to "
        f"GPU {place} of a node, and NVLink carries them on to the other GPUs."
    )
    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _swatch(sheet, hue: str):
    return lambda x, y: sheet.rule([x, x + 22], [y + 7, y + 7], hue, weight=2)


def _square(sheet):
    return lambda x, y: sheet.box(x + 4, y, 14, 14, "compute", 0.35)


def _arrow(sheet, xs, ys, hue: str) -> None:
    """A straight line with a head at its end, along one axis."""
    sheet.rule(xs, ys, hue, level=3, weight=2)
    x, y = xs[1], ys[1]
    if xs[0] == xs[1]:
        back = -6 if ys[1] > ys[0] else 6
        sheet.fill([x, x - 3.5, x + 3.5], [y, y + back, y + back], hue, level=3.1)
    else:
        back = -6 if xs[1] > xs[0] else 6
        sheet.fill([x, x + back, x + back], [y, y - 3.5, y + 3.5], hue, level=3.1)
