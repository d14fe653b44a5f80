"""Rails as they are wired: a leaf switch above each column of GPUs, a node in each row, cables straight down."""

from __future__ import annotations

from gpuscale.network.tree import Topology
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.network_words import counted, kind, network_hue, on_rails, rate, sentence
from gpuscale.units import NBSP

_SHOWN = 4  # nodes that are drawn: the first ones and the last
_STUB, _LEAF, _FAN, _GPU, _ROW = 40, 20, 60, 20, 44  # pixels: uplinks, a switch, the first cables, a GPU, a node's row
_LEFT, _RIGHT = 62, 176  # pixels for the words on either side


def leaf_rails_figure(topology, *, name, caption, level="Leaf", rail=2, **look) -> Still:
    """The first unit of a level on rails as a static figure, with one rail drawn strongly.

    A leaf switch has its uplinks above, as many strokes as cables down are drawn, if it has as many cables up as down.
    Raises TypeError for anything but a Topology, ValueError for a level that is not on rails or has no such rail.
    """
    if not isinstance(topology, Topology):
        raise TypeError(f"leaf_rails_figure: expected a Topology; got {topology!r}")
    tier, node = topology.at(level), topology.tiers[0]
    if not on_rails(tier) or not 0 <= rail < tier.switches or tier.cables != node.degree:
        raise ValueError(f"leaf_rails_figure: {topology.title}: expected rails, and among them {rail}; got {level}")
    up = tier.ports_up // tier.switches
    shown = [*range(min(tier.degree, _SHOWN) - 1), tier.degree - 1]

    def paint(sheet):
        left, right = (56, 0) if sheet.narrow else (_LEFT, _RIGHT)
        step = (sheet.across - left - right - 4) / tier.switches
        leaf, gpus = _STUB, _STUB + _LEAF + _FAN
        rows = {n: gpus + _ROW * i + (10 if i == len(shown) - 1 < tier.degree - 1 else 0) for i, n in enumerate(shown)}
        _columns(sheet, tier, rail, left, step, rows, up)
        for n, y in rows.items():
            sheet.write(left - 8, y + 14, f"node {n}", "soft", "right", say=False)
            bar = y + _GPU + 6
            sheet.rule(
                [left + 3, left + step * tier.switches - 3], [bar, bar], network_hue(node.network), level=3, weight=4
            )
        if len(shown) < tier.degree:
            sheet.write(left - 8, rows[shown[-1]] - 13, "…", "soft", "right", say=False)
        sheet.write(left - 8, leaf + 14, "leaf", "soft", "right", say=False)
        sheet.down = _words(sheet, left + step * tier.switches + 14, leaf, gpus, rows, tier, node, up)
        sheet.records += [sentence(one) for one in (node, tier)]

    alt = f"{tier.switches} leaf switches, each above a column of GPUs, one of every node. {sentence(tier)}."
    return Still(paint, name=name, caption=caption, **{"alt": alt, "table": counted(topology)} | look)


def _columns(sheet, tier, rail, left, step, rows, up) -> None:
    """A column for each rail: its leaf, the cables behind its GPUs, and the GPUs; the chosen rail is strong."""
    leaf, hue, wide = _STUB, network_hue(tier.network), step - 5
    for r in range(tier.switches):
        strong, x = r == rail, left + step * (r + 0.5)
        look = {"alpha": 1 if strong else 0.4, "level": 1.5 if strong else 1, "weight": 2 if strong else 1}
        for i, y in enumerate(rows.values()):
            at = x + (i - (len(rows) - 1) / 2) * wide / (len(rows) + 1)
            sheet.rule([at, at], [leaf + _LEAF, y], hue, **look)
            if up:
                sheet.rule([at, at], [4, leaf], hue, **look)
            sheet.area(x - wide / 2, y, x + wide / 2, y + _GPU, "paper", level=2)
            sheet.area(x - wide / 2, y, x + wide / 2, y + _GPU, "compute", 1 if strong else 0.4, level=3)
        sheet.area(x - wide / 2, leaf, x + wide / 2, leaf + _LEAF, "paper", level=2)
        sheet.area(x - wide / 2, leaf, x + wide / 2, leaf + _LEAF, hue, 1 if strong else 0.4, level=3)
        sheet.write(x, leaf + 14, str(r), "paper" if strong else "plain", "center", bold=True, say=False)


def _words(sheet, x, leaf, gpus, rows, tier, node, up) -> float:
    """What stands in each row: at the right, on a phone under the drawing. Returns where the figure ends."""
    hue, last = network_hue(tier.network), max(rows.values()) + _GPU + 12
    lines = [
        (14, hue, f"{up} cables up per leaf", "to the next layer") if up else None,
        (leaf + 10, hue, kind(tier), f"{tier.ports} ports each, one per rail"),
        (gpus - 34, hue, f"{tier.degree} cables down per leaf", "one to each node"),
        (gpus + 10, "compute", f"{node.degree} GPUs per node", f"{rate(tier.link_bw)} per NIC"),
        (last - 14, network_hue(node.network), rate(node.child_bw), "per GPU, over NVLink"),
    ]
    lines = [line for line in lines if line]
    if not sheet.narrow:
        for y, colour, bold, rest in lines:
            sheet.write(x, y, bold, colour, bold=True)
            sheet.write(x, y + LEADING - 1, rest, "soft")
        return last + 4
    y = last + 4
    for _, colour, bold, rest in lines:
        sheet.write(1, y + 12, bold, colour, bold=True)
        sheet.write(width(bold, True) + 9, y + 12, rest.replace(" each", f"{NBSP}each"), "soft")
        y += LEADING + 2
    return y
