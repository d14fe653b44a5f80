"""The die of an NVSwitch: ports along two sides, a crossbar between them, and GPUs whose links end in the ports."""

from __future__ import annotations

from gpuscale.plotting.boxes import Block, draw
from gpuscale.plotting.drawing.figure import Still
from gpuscale.units import show

_GPU, _WIRE, _DIE, _BAR = 26, 18, 150, 34  # pixels: a GPU's box, its wires, the die, a row of ports with its margin


def switch_figure(generation, *, gpus, bundle, talks, name, caption, **look) -> Still:
    """One switch chip of an NVLink ``generation`` between ``gpus`` GPUs, each with ``bundle`` links to it.

    ``talks`` are pairs (sender, receiver) whose bytes are drawn through the crossbar. ``look`` may hold a title.
    Raises ValueError if the chip has too few ports or a GPU is in two pairs.
    """
    ports, used = generation.switch_ports, gpus * bundle
    if used > ports or gpus % 2 or ports % 2:
        raise ValueError(
            f"switch_figure: {gpus} GPUs × {bundle} links on {ports} ports; expected even numbers that fit"
        )
    if len({one for pair in talks for one in pair}) < 2 * len(talks):
        raise ValueError(f"talks: each GPU may be in only one pair; got {talks}")
    port = f"A port: {generation.lanes} lanes each direction, {show(generation.link_bw, 'B/s')} each direction"
    words = [f"{used} of {ports} ports in use", port]

    def paint(sheet):
        top = 1.0
        for i, text in enumerate(words):
            top = sheet.paragraph(text, 1, top, "soft" if i else "plain", bold=not i)
        _chip(sheet, top + 8, gpus, bundle, ports, talks)
        sheet.records.append(f"switch: {ports} ports, {gpus} GPUs × {bundle} links")

    pairs = ", ".join(f"GPU {a} to GPU {b}" for a, b in talks)
    alt = f"A switch chip with {ports} ports around a crossbar. {gpus} GPUs have {bundle} links each. {port}. "
    return Still(paint, name=name, caption=caption, **{"alt": f"{alt}Through the crossbar: {pairs}."} | look)


def _chip(sheet, top: float, gpus: int, bundle: int, ports: int, talks) -> None:
    """GPUs over the die and under it, each over its bundle of ports; ports without a link stand in between."""
    half, row = gpus // 2, ports // 2
    step = (sheet.across - 18) / row
    side = min(step - 3, 12)
    free = row - half * bundle  # ports of a row that no GPU uses
    slots = [free * (i + 1) // (half + 1) + i * bundle for i in range(half)]
    die = top + _GPU + _WIRE
    low = die + _DIE
    sheet.down = low + _WIRE + _GPU + 2
    sheet.box(1, die, sheet.across - 2, _DIE, "edge", level=0)
    sheet.box(14, die + _BAR, sheet.across - 28, _DIE - 2 * _BAR, "line", level=0.5)

    def at(slot: int) -> float:
        return 9 + (slot + 0.5) * step

    def end(gpu: int, i: int) -> tuple[float, float]:
        """Where the wire of a GPU enters the crossbar."""
        return at(slots[gpu % half] + i), die + _BAR if gpu < half else low - _BAR

    taken = {slot + i for slot in slots for i in range(bundle)}
    for y in (die + 12, low - 12 - side):
        for slot in range(row):
            hue, share = ("scaleup", 1.0) if slot in taken else ("wait", 0.35)
            sheet.area(at(slot) - side / 2, y, at(slot) + side / 2, y + side, hue, share, level=2)
    for gpu in range(gpus):
        upper, first = gpu < half, slots[gpu % half]
        y = top if upper else low + _WIRE
        left, right = at(first) - step / 2 + 1, at(first + bundle - 1) + step / 2 - 1
        draw(sheet, Block(str(gpu) if sheet.narrow else f"GPU {gpu}", hue="compute"), left, y, right - left, _GPU)
        for i in range(bundle):
            x = at(first + i)
            ys = (top + _GPU, die + 12) if upper else (low - 12, low + _WIRE)
            sheet.rule([x, x], ys, "scaleup", level=1, weight=1.2)
    for sender, receiver in talks:
        for i in range(bundle):
            (x0, y0), (x1, y1) = end(sender, i), end(receiver, i)
            inner = [die + 12 + side if y < (die + low) / 2 else low - 12 - side for y in (y0, y1)]
            sheet.rule([x0, x0, x1, x1], [inner[0], y0, y1, inner[1]], "scaleup", 0.75, level=1, weight=1.2)
    sheet.write(22, low - _BAR - 9, "crossbar", bold=True)
