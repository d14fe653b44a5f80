"""A rack as one NVLink domain: its trays, and each link as a dot, where a GPU's row meets the column of a switch."""

from __future__ import annotations

from gpuscale.network.tree import Topology
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.network_words import bundle, counted, network_hue, rate, sentence

_ROW, _TRAY, _SPACE = 4, 14, 30  # pixels: a GPU's row of links, a switch tray, the room above a block of trays
_STRONG = 0.45, 0.6  # where the strong GPU and the strong switch are, as fractions of all


def rack_figure(topology, *, per_tray, chips_per_tray, name, caption, **look) -> Still:
    """One level of a Topology as the trays of a rack: ``per_tray`` GPUs or ``chips_per_tray`` switches in each.

    Half of the compute trays are drawn above the switch trays, half below. One GPU and one switch are drawn strongly.
    Raises TypeError for anything but a Topology, ValueError for more levels than one, for GPUs without a link to each
    switch, and for trays that do not come out even.
    """
    if not isinstance(topology, Topology):
        raise TypeError(f"rack_figure: expected a Topology; got {topology!r}")
    tier = topology.tiers[0]
    if len(topology.levels) > 1 or tier.cables != tier.switches:
        raise ValueError(f"rack_figure: {topology.title}: expected one level, and a link from each GPU to each switch")
    if tier.degree % (2 * per_tray) or tier.switches % chips_per_tray:
        raise ValueError(
            f"rack_figure: {topology.title}: {tier.degree} GPUs, {tier.switches} switches; expected two halves of full"
            f" trays; got {per_tray} and {chips_per_tray} in a tray"
        )

    def paint(sheet):
        _draw(sheet, tier, per_tray, chips_per_tray)
        sheet.records += [sentence(tier), f"trays: {tier.degree // per_tray}, {tier.switches // chips_per_tray}"]

    alt = f"{topology.title} as trays. {sentence(tier)}."
    return Still(paint, name=name, caption=caption, **{"alt": alt, "table": counted(topology)} | look)


def _draw(sheet, tier, per_tray: int, chips_per_tray: int) -> None:
    hue, trays = network_hue(tier.network), tier.degree // per_tray
    wide, step = (84, (sheet.across - 112) / tier.switches) if sheet.narrow else (150, 16)
    first = wide + (24 if sheet.narrow else 34)
    half, tall = trays // 2, trays // 2 * per_tray * _ROW
    tops = {"upper": _SPACE, "switches": 2 * _SPACE + tall}
    tops["lower"] = tops["switches"] + tier.switches // chips_per_tray * _TRAY + _SPACE
    gpu, chip = int(tier.degree * _STRONG[0]), int(tier.switches * _STRONG[1])
    strong = first + step * (chip + 0.5)

    def row(number: int) -> float:
        block = tops["upper"] if number < tier.degree // 2 else tops["lower"]
        return block + _ROW * (number % (tier.degree // 2) + 0.5)

    sheet.rule([strong, strong], [tops["upper"], tops["lower"] + tall], hue, level=1, weight=1.6)
    for c in range(tier.switches):
        x, tray = first + step * (c + 0.5), tops["switches"] + _TRAY * (c // chips_per_tray)
        sheet.rule([x, x], [tops["upper"] + tall, tops["lower"]], hue, 0.35, level=0.5)
        for block in ("upper", "lower"):  # a dash is a dot in the middle of each row
            sheet.rule([x, x], [tops[block] + 1, tops[block] + tall], hue, level=2, weight=3, dash=(2, _ROW - 2))
        sheet.rule([wide, x], [tray + _TRAY / 2] * 2, hue, 0.35, level=0.5)
        side = min(step - 5, 9)
        corners = x - side / 2, tray + _TRAY / 2 - side / 2, x + side / 2, tray + _TRAY / 2 + side / 2
        sheet.area(*corners, "paper", level=2.5)
        sheet.area(*corners, hue, 1 if c == chip else 0.3, level=3 + (c == chip) / 10)
        left, at = wide / chips_per_tray, wide / chips_per_tray * (c % chips_per_tray)
        sheet.area(
            at + 1, tray + 2, at + left - 2, tray + _TRAY - 2, hue, 1 if c == chip else 0.3, level=3 + (c == chip) / 10
        )
    cell = wide / per_tray
    for g in range(tier.degree):
        tray, place = divmod(g, per_tray)
        y = (tops["upper"] if tray < half else tops["lower"]) + (tray % half) * per_tray * _ROW
        corners = cell * place + 1, y + 2, cell * (place + 1) - 2, y + per_tray * _ROW - 2
        sheet.area(*corners, "compute", 1 if g == gpu else 0.35, level=3.2 + (g == gpu) / 10)
    sheet.rule([wide, first + step * tier.switches], [row(gpu)] * 2, hue, level=1, weight=1.6)
    sheet.dot(strong, row(gpu), 4.5, "paper", "plain", 2)
    heads = {
        "upper": f"{half} compute trays",
        "switches": f"{tier.switches // chips_per_tray} switch trays",
        "lower": f"{trays - half} compute trays",
    }
    for block, words in heads.items():
        sheet.write(1, tops[block] - 8, words, "soft", say=False)
    down = tops["lower"] + tall + 8
    lines = [
        (row(gpu), "compute", f"one of {tier.degree} GPUs", f"{tier.cables} links, one to each chip"),
        (row(gpu) + 44, hue, rate(tier.child_bw), bundle(tier).split(" = ")[0] + " per GPU"),
        (row(gpu) + 124, hue, f"one of {tier.switches} switch chips", f"{tier.degree} links, one to each GPU"),
    ]
    x = first + step * tier.switches + 14
    for y, colour, bold, rest in [] if sheet.narrow else lines:
        sheet.write(x, y, bold, colour, bold=True)
        sheet.write(x, y + LEADING - 1, rest, "soft")
    for _, colour, bold, rest in lines if sheet.narrow else []:
        sheet.write(1, down + 12, bold, colour, bold=True)
        sheet.write(width(bold, True) + 9, down + 12, rest, "soft")
        down += LEADING + 2
    sheet.down = down
