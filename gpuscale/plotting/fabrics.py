"""Networks of several levels: GPUs in nodes below, switches above as one bar per unit, straight cables between."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuscale.network.tree import Tier, Topology
from gpuscale.plotting.drawing.ink import width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.network_words import child, kind, network_hue, rate, title

_HEAD, _FAN, _SWITCH, _GPU, _LINK, _BAR = 26, 78, 13, 13, 24, 8  # pixels: the title, and heights from the top down
_PAD, _DOTS, _GAP = 7, 16, 8  # pixels: inside a frame, the gap that stands for many, between boxes
_FOOT = 20  # pixels: the name of a unit in its frame
_NAMES, _COLUMN = 50, 172  # pixels for the words at the right: on a phone, next to a wide drawing
_UPLINKS = 8  # cables that are drawn above the switches of a unit
_MANY = "…"


@dataclass
class _Plan:
    """Where things stand: the sheet, and the bars of switches by level."""

    sheet: object
    topology: Topology
    rows: dict = field(default_factory=dict)  # the middle of each bar of switches, by the number of its level
    gpus: float = 0.0  # the top of the row of GPUs
    base: float = 0.0  # where nodes end


def fabric(sheet, topology: Topology) -> None:
    """Draws a topology of two levels or more on a sheet, which gets the height that it needs."""
    plan, tiers = _Plan(sheet, topology), topology.tiers
    y = _HEAD + _SWITCH / 2
    for tier in reversed(tiers[1:]):
        plan.rows[tier.index] = y
        y += _FAN + _SWITCH
    plan.gpus = y - _SWITCH / 2
    plan.base = plan.gpus + _GPU + _LINK + _BAR
    room = sheet.across - (_NAMES if sheet.narrow else _COLUMN)
    sheet.write(1, 13, title(tiers[-1]), bold=True)
    _unit(plan, tiers[-1], 1, room - 2)
    sheet.down = plan.base + 2 + max(_FOOT * (len(tiers) - 2), 14)
    _words(plan, room + 12)


def _unit(plan: _Plan, tier: Tier, x: float, w: float) -> list[float]:
    """A unit with all below it, and its switches; where the cables leave that go up from them."""
    y, hue = plan.rows[tier.index] - _SWITCH / 2, network_hue(tier.level.network)
    plan.sheet.area(x, y, x + w, y + _SWITCH, hue, level=3)
    names, step, wide = _children(plan, tier, w)
    for name, i in names:
        left = x + i * step
        if name == _MANY:
            plan.sheet.write(
                left - step + wide + (step - wide) / 2 + _DOTS / 2 - 4, plan.gpus + 10, _MANY, "soft", "center"
            )
            continue
        feet = _node(plan, tier, left, wide) if tier.index == 2 else _framed(plan, tier, name, left, wide)
        low = plan.gpus if tier.index == 2 else plan.rows[tier.index - 1] - _SWITCH / 2
        for at in feet:
            plan.sheet.rule([at, at], [low, y + _SWITCH], hue, 0.8, level=1)
    return [x + w * (i + 0.5) / _UPLINKS for i in range(_UPLINKS)]


def _children(plan: _Plan, tier: Tier, w: float):
    """Which children are drawn, as (number, place), how far apart and how wide they are; many are folded."""
    least = 40 if plan.topology.tiers[0].degree <= 16 else 90  # pixels that a node needs
    most = 2 if tier.index > 2 else max(1, min(3, int((w + _GAP) // (least + _GAP))))
    degree = tier.degree
    if degree <= most:
        return [(i + 1, i) for i in range(degree)], (w + _GAP) / degree, (w + _GAP) / degree - _GAP
    numbers = [*range(1, most), degree] if most > 1 else [1]
    places = [(n, i) for i, n in enumerate(numbers)]
    if most == 1 and w < 64:  # no room to say that there are more
        return places, w + _GAP, w
    wide = (w - _GAP * (len(numbers) - 1) - _DOTS) / len(numbers)
    if most == 1:
        return [*places, (_MANY, 1)], wide + _GAP, wide
    *first, (n, i) = places
    return [*first, (n, i + _DOTS / (wide + _GAP)), (_MANY, i)], wide + _GAP, wide


def _framed(plan: _Plan, tier: Tier, number: int, x: float, w: float):
    """A child that is itself a unit of switches, in a frame with its name."""
    below = plan.topology.tiers[tier.index - 2]
    top, bottom = plan.rows[below.index] - 14, plan.base + _FOOT * (below.index - 1)
    plan.sheet.box(x, top, w, bottom - top, "line", level=0)
    name = f"{child(tier)} {number}"
    if width(name) > w - 4:
        name = f"{child(tier).split()[-1]} {number}"
    plan.sheet.write(x + w / 2, bottom - 7, name, "soft", "center", say=False)
    return _unit(plan, below, x + _PAD, w - 2 * _PAD)


def _node(plan: _Plan, tier: Tier, x: float, w: float) -> list[float]:
    """A node: its GPUs, and NVLink under them; where each GPU stands."""
    sheet, first = plan.sheet, plan.topology.tiers[0]
    most = max(2, int(w // (8 if first.degree > 16 else 3.4)))
    numbers = [*range(first.degree)] if first.degree <= most else [*range(most - 2), _MANY, first.degree - 1]
    step, y, hue = w / len(numbers), plan.gpus, network_hue(first.level.network)
    wide, out = min(step - min(1.5, step / 4), 14), []
    for i, number in enumerate(numbers):
        at = x + step * (i + 0.5)
        if number == _MANY:
            sheet.write(at, y + 10, _MANY, "compute", "center", say=False)
            continue
        sheet.area(at - wide / 2, y, at + wide / 2, y + _GPU, "compute", level=3.75)
        sheet.rule([at, at], [y + _GPU, y + _GPU + _LINK], hue, 0.8, level=0.5)
        out.append(at)
    sheet.area(x, plan.base - _BAR, x + w, plan.base, hue, level=4)
    return out


def _words(plan: _Plan, x: float) -> None:
    """What stands in each row and what runs between two: at the right, on a phone under the drawing."""
    sheet, (first, *above) = plan.sheet, plan.topology.tiers
    lines = [line for tier in reversed(above) for line in _line(plan, tier)]
    lines += [
        (plan.gpus + 4, "compute", f"{first.degree} GPUs per {child(above[0])}",
         f"{above[0].degree} {child(above[0])}s per {above[0].level.unit.split()[-1]}"),
        (plan.base - 2, network_hue(first.level.network), rate(first.child_bw), "per GPU, over NVLink"),
    ]  # fmt: skip
    if not sheet.narrow:
        for y, colour, bold, rest in lines:
            sheet.write(x, y + (0 if rest else 4), bold, colour, bold=True)
            if rest:
                sheet.write(x, y + LEADING - 1, rest, "soft")
        return
    names = [(plan.rows[t.index] + 4, t.level.switch.split()[0], network_hue(t.level.network)) for t in above]
    names += [(plan.gpus + 11, "GPUs", "compute"), (plan.base, "NVLink", network_hue(first.level.network))]
    for y, name, colour in names:
        if width(name) <= _NAMES:
            sheet.write(x - 6, y, name, colour, say=False)
    y = sheet.down + 8
    for _, colour, bold, rest in lines:
        left = width(bold, True) + 9
        sheet.write(1, y + 12, bold, colour, bold=True)
        sheet.write(left, y + 12, rest, "soft")
        y += LEADING + 2
    sheet.down = y


def _line(plan: _Plan, tier: Tier) -> list[tuple]:
    """What is said of a level: its switches, and the cables of a child; each with its height and color."""
    y, colour, level = plan.rows[tier.index], network_hue(tier.level.network), tier.level
    each = f" per {level.unit.split()[-1]}" if tier.above and level.switches else ""
    ports = f"{level.ports} ports each" if level.ports else ""
    per = f"per {child(tier)}" + (f", {rate(tier.per_gpu_bw)} per GPU" if tier.index == 2 else "")
    return [
        (y, colour, kind(tier) + each, ports),
        (y + (_SWITCH + _FAN) / 2, colour, rate(tier.child_bw), per),
    ]
