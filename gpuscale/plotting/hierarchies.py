"""How a collective crosses a hierarchy: a ring through the nodes of a pod, the two entrances of a GPU, rails."""

from __future__ import annotations

from gpuscale.network.tree import Topology
from gpuscale.plotting.boxes import Block, draw
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import width
from gpuscale.plotting.network_words import rate

_HEAD = 5  # pixels: half the width of an arrow's head
_LANES = 8  # GPUs of the node that is enlarged


def ring_of_nodes_figure(pod, *, name, caption, **look) -> Still:
    """A ring through all nodes of a pod, drawn on its tree of switches; one node is enlarged and shows its lanes.

    ``pod`` is a Topology of three levels. Raises TypeError for anything else, ValueError for other levels.
    """
    if not isinstance(pod, Topology):
        raise TypeError(f"ring_of_nodes_figure: expected a Topology; got {pod!r}")
    if len(pod.tiers) != 3:
        raise ValueError(f"ring_of_nodes_figure: expected three levels; got {len(pod.tiers)}")
    gpus, nodes, units = (tier.degree for tier in pod.tiers)
    words = f"{units} units of {nodes} nodes, {gpus} GPUs and NICs in each"
    alt = (
        f"A pod as a tree: {words}; leaf switches above the nodes, spine switches above the units. A thick line "
        "runs from node to node through the leaves, enters each unit once from the spines and leaves it once. One node "
        f"is enlarged: the line is {gpus} lanes wide, each from the NIC to the GPU of its own number."
    )

    def paint(sheet):
        foot = _tree(sheet, nodes, units)
        _enlarged(sheet, gpus, foot)
        sheet.records.append(f"ring: {words}")

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _tree(sheet, nodes: int, units: int) -> float:
    """The tree with its ring. Returns where the first node's box ends."""
    left, shown, gap = (58, 3, 8) if sheet.narrow else (76, 5, 16)
    spine, leaf, node, side = 4, 74, 128, 18  # upper edges, and a node's size
    room = (sheet.across - left - 2 - gap * (units - 1)) / units
    for word, y in (("spines", spine + 19), ("leaves", leaf + 16), ("nodes", node + 13)):
        sheet.write(left - 10, y, word, "soft", "right", say=False)
    draw(sheet, Block(frame=True), left, spine, sheet.across - left - 2, 28)
    ring, ups = [], []
    for unit in range(units):
        x0 = left + unit * (room + gap)
        draw(sheet, Block(frame=True), x0, leaf, room, 22)
        at = [x0 + room * (i + 0.5) / shown for i in range(shown)]
        for x in at:
            sheet.box(x - side / 2, node, side, side, "compute", 0.14)
        for x in [x0 + room * (i + 1) / 5 for i in range(4)]:
            sheet.rule([x, x], [leaf, spine + 28], "edge", 0.45, level=1)
        said = f"{nodes} nodes" if sheet.narrow else f"unit {unit + 1}: {nodes} nodes"
        sheet.write(x0 + room / 2, node + side + 17, said, "soft", "center", halo=True, say=not unit)
        ring += [(at[0] - 4, spine + 18), (at[0] - 4, node + 9), (at[0] + 4, node + 9)]
        for x in at[1:]:
            ring += [(ring[-1][0], leaf + 11), (x - 4, leaf + 11), (x - 4, node + 9), (x + 4, node + 9)]
        ring.append((at[-1] + 4, spine + 18))
        ups.append((at[0] - 4, at[-1] + 4))
    top = spine + 9  # back to the first, over the others
    ring[0], ring[-1] = (ring[0][0], top), (ring[-1][0], top)
    ring.append(ring[0])
    sheet.rule(*zip(*ring, strict=True), "scaleout", level=3, weight=2.5)
    for (_, out), (into, _) in zip(ups, ups[1:], strict=False):
        _head(sheet, (out + into) / 2 + 3, spine + 18, 1, 0, "scaleout")
    _head(sheet, (left + sheet.across) / 2, top, -1, 0, "scaleout")
    first = left + room * 1.5 / shown
    y = node + side
    sheet.rule([first - side / 2, 1], [y, y + 52], "edge", level=1, dash=(3, 3))
    sheet.rule([first + side / 2, sheet.across - 1], [y, y + 52], "edge", level=1, dash=(3, 3))
    return y + 52


def _enlarged(sheet, gpus: int, top: float) -> None:
    """One node: its GPUs and NICs, with a lane of the ring through each."""
    w = sheet.across - 2
    sheet.box(1, top, w, 148, "line")
    said = "one node" if sheet.narrow else "one node: each lane of the ring enters and leaves through a NIC of its own"
    sheet.write(12, top + 18, said, "plain", bold=True)
    step = (w - 20) / gpus
    for g in range(gpus):
        x, wide = 11 + step * (g + 0.5), min(step - 8, 44)
        sheet.rule([x - 5, x - 5], [top + 28, top + 40], "scaleout", level=3, weight=2)
        _head(sheet, x - 5, top + 44, 0, 1, "scaleout")
        sheet.rule([x + 5, x + 5], [top + 47, top + 32], "scaleout", level=3, weight=2)
        _head(sheet, x + 5, top + 28, 0, -1, "scaleout")
        draw(sheet, Block(note="NIC", hue="scaleout", note_hue="scaleout"), x - wide / 2, top + 47, wide, 22)
        sheet.rule([x, x], [top + 69, top + 79], "scaleout", level=1, weight=2)
        draw(sheet, Block(note=str(g), hue="compute", note_hue="compute"), x - wide / 2, top + 79, wide, 24)
        sheet.rule([x, x], [top + 103, top + 113], "scaleup", level=1, weight=2)
    sheet.rule([11, 1 + w - 10], [top + 116, top + 116], "scaleup", level=2, weight=6)
    sheet.down = top + 154
    sheet.write(12, top + 137, "NVLink joins the GPUs inside the node", "scaleup")


def _head(sheet, x: float, y: float, dx: int, dy: int, colour: str, size: float = _HEAD) -> None:
    """The head of an arrow with its point near (x, y), towards (dx, dy)."""
    ahead, back = (x + dx * size, y + dy * size), (x - dx * size, y - dy * size)
    xs = [ahead[0], back[0] + dy * size, back[0] - dy * size]
    ys = [ahead[1], back[1] + dx * size, back[1] - dx * size]
    sheet.fill(xs, ys, colour, level=3.5)


def entrances_figure(gpus: int, nic: float, nvlink: float, *, name, caption, **look) -> Still:
    """The two entrances of a GPU in a node of ``gpus``: a NIC that brings one stripe of an array at ``nic`` [B/s], and
    NVLink, which brings the others at ``nvlink`` [B/s]."""
    others = gpus - 1
    alt = (
        f"A GPU with two entrances. From the left its NIC brings one stripe at {rate(nic)}. From the right NVLink "
        f"brings the stripes of its {others} neighbors at {rate(nvlink)}. Below, the array as {gpus} stripes: the "
        "first comes from the NIC, the others over NVLink."
    )

    def paint(sheet):
        _entrances(sheet, gpus, nic, nvlink)
        sheet.records.append(f"entrances: 1 stripe at {rate(nic)}, {others} stripes at {rate(nvlink)}")

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _entrances(sheet, gpus: int, nic: float, nvlink: float) -> None:
    wide, top, tall = (70, 6, 76) if sheet.narrow else (120, 6, 76)
    mid, y = sheet.across / 2, top + tall / 2
    gpu = 58 if sheet.narrow else 90
    ends = (1, wide, "NIC", "scaleout"), (sheet.across - wide - 1, wide, "NVLink", "scaleup")
    for x, w, word, hue in ends:
        draw(sheet, Block(text=word, hue=hue), x, top, w, tall)
    draw(sheet, Block(text="GPU", hue="compute"), mid - gpu / 2, top, gpu, tall)
    sheet.rule([1 + wide, mid - gpu / 2 - 8], [y, y], "scaleout", level=3, weight=3)
    _head(sheet, mid - gpu / 2 - 6, y, 1, 0, "scaleout")
    for stripe in range(gpus - 1):
        at = y + 6 * (stripe - (gpus - 2) / 2)
        sheet.rule([sheet.across - wide - 1, mid + gpu / 2 + 8], [at, at], "scaleup", level=3, weight=3)
        _head(sheet, mid + gpu / 2 + 6, at, -1, 0, "scaleup", 3)
    gaps = (1 + wide + mid - gpu / 2) / 2, (sheet.across - wide - 1 + mid + gpu / 2) / 2
    many = f"{gpus - 1} stripes"
    for x, said, speed, hue in ((gaps[0], "1 stripe", nic, "scaleout"), (gaps[1], many, nvlink, "scaleup")):
        sheet.write(x, top + 8, said, hue, "center", bold=True)
        sheet.write(x, top + tall + 3, rate(speed), hue, "center")
    y = top + tall + 22
    step = (sheet.across - 2) / gpus
    for stripe in range(gpus):
        hue = "scaleup" if stripe else "scaleout"
        sheet.box(1 + step * stripe + 1, y, step - 2, 26, hue, 0.4)
        word = str(stripe) if sheet.narrow else f"stripe {stripe}"
        sheet.write(1 + step * (stripe + 0.5), y + 17, word, "plain", "center", say=False)
    sheet.write(1, y + 44, "the array" if sheet.narrow else "the array, one stripe per GPU of the node", "soft")
    sheet.down = y + 50


def rails_figure(gpus: int = 4, *, name, caption, **look) -> Still:
    """Two nodes of ``gpus`` GPUs under the leaves of their rails, wired in two ways: NICs at the GPUs, and NICs at the
    NVSwitches. The path of the first lane is highlighted."""
    alt = (
        "Two nodes, drawn twice; NIC r of each node is wired to leaf r. On the left each NIC is attached to its own "
        "GPU, and the lane of rail 0 runs from GPU 0 through NIC 0 and leaf 0 to GPU 0 of the other node, without "
        "NVLink. On the right the NICs are attached to the NVSwitches, and the same lane crosses NVLink in both nodes."
    )

    def paint(sheet):
        w = sheet.across if sheet.narrow else (sheet.across - 26) / 2
        foot = _wiring(sheet, gpus, 0, 0, w, direct=True)
        x, y = (0, foot + 22) if sheet.narrow else (w + 26, 0)
        sheet.down = _wiring(sheet, gpus, x, y, w, direct=False) + 2
        sheet.records.append(f"rails: {gpus}, NICs at the GPUs and at the NVSwitches")

    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _wiring(sheet, gpus: int, x0: float, y0: float, w: float, direct: bool) -> float:
    """One pair of nodes with its leaves. Returns where it ends."""
    sheet.write(x0, y0 + 12, "NICs at the GPUs" if direct else "NICs at the NVSwitches", bold=True)
    leaf, nic, frame = y0 + 24, y0 + 88, y0 + 78
    places = (nic + 34, nic + 74) if direct else (nic + 74, nic + 34)  # GPUs, NVSwitches
    gap, half = 14, (w - 14) / 2
    step = (half - 12) / gpus
    wide = step - 5
    leaves = [x0 + w * (r + 0.5) / gpus for r in range(gpus)]
    for r, x in enumerate(leaves):
        chosen = {"hue": "scaleout"} if not r else {"frame": True}
        draw(sheet, Block(**chosen), x - 24, leaf, 48, 24)
        sheet.write(x, leaf + 16.5, f"leaf {r}", "soft" if r else "scaleout", "center", say=not y0)
    for side in range(2):
        left = x0 + side * (half + gap)
        sheet.box(left, frame, half, nic + 106 - frame, "line")
        switch = Block(note="NVSwitches", hue="scaleup", note_hue="scaleup")
        draw(sheet, switch, left + 6, places[1], half - 12, 24)
        at = [left + 6 + step * (r + 0.5) for r in range(gpus)]
        for r in range(gpus - 1, -1, -1):  # the highlighted lane last
            x, hue, look = (
                at[r],
                "edge" if r else "scaleout",
                {"level": 1, "weight": 1} if r else {"level": 3, "weight": 3},
            )
            sheet.rule([x, leaves[r]], [nic, leaf + 24], hue, **look)
            sheet.rule([x, x], [nic + 22, places[0] if direct else places[1]], hue, **look)
            look |= {"level": 1, "weight": 1} if direct else {}
            hue = "scaleup" if not r or direct else "edge"
            sheet.rule([x, x], [min(places) + 24, max(places)], hue, **look)
        small = "NIC" if width("NIC") <= wide else ""
        for y, tall, meaning, say in ((nic, 22, "scaleout", None), (places[0], 24, "compute", str)):
            for r in range(gpus):
                sheet.box(at[r] - wide / 2, y, wide, tall, meaning, 0.06 if r else 0.3)
            for r in range(gpus):
                sheet.write(at[r], y + tall / 2 + 4.5, say(r) if say else small, meaning, "center", say=False)
        sheet.write(left + half / 2, nic + 122, f"node {side}", "soft", "center", say=False)
    return nic + 126
