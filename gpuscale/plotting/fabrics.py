"""Networks of several levels: GPUs in nodes below, rows of switches above, and the cables between, rail by rail."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuscale.network.tree import Tier, Topology
from gpuscale.plotting.drawing.ink import width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.plotting.network_words import child, kind, network_hue, on_rails, rate, title

_HEAD, _FAN, _SWITCH, _GPU, _LINK, _BAR = 26, 78, 13, 13, 24, 8  # pixels: the title, and heights from the top down
_PAD, _DOTS, _GAP = 7, 16, 8  # pixels: inside a frame, the gap that stands for many, between boxes
_FOOT = 20  # pixels: the name of a unit in its frame
_NAMES, _COLUMN = 50, 172  # pixels for the words at the right: on a phone, next to a wide drawing
_MANY = "…"


@dataclass
class _Plan:
    """Where things stand: the sheet, the rows of switches by level, and which rail is drawn strongly."""

    sheet: object
    topology: Topology
    rail: int | None
    merged: bool
    rows: dict = field(default_factory=dict)  # the middle of each row of switches, by the number of its level
    gpus: float = 0.0  # the top of the row of GPUs
    base: float = 0.0  # where nodes end


def fabric(sheet, topology: Topology, rail: int | None = None, merged: bool = False) -> None:
    """Draws a topology of two levels or more on a sheet, which gets the height that it needs."""
    plan, tiers = _Plan(sheet, topology, rail, merged), topology.tiers
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


def _unit(plan: _Plan, tier: Tier, x: float, w: float) -> list[tuple[float, float]]:
    """A unit with all below it, and its switches: (place, strength) of each that is drawn."""
    ends = _switches(plan, tier, x, w)
    names, step, wide = _children(plan, tier, w)
    for name, i in names:
        left = x + i * step
        if name == _MANY:
            plan.sheet.write(
                left - step + wide + (step - wide) / 2 + _DOTS / 2 - 4, plan.gpus + 10, _MANY, "soft", "center"
            )
            continue
        feet = _node(plan, tier, left, wide) if tier.index == 2 else _framed(plan, tier, name, left, wide)
        _cables(plan, tier, feet, ends)
    return ends


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


def _switches(plan: _Plan, tier: Tier, x: float, w: float) -> list[tuple[float, float]]:
    """The switches of a unit: where each stands that is drawn, and its number (None where all are one)."""
    y, colour, count = plan.rows[tier.index] - _SWITCH / 2, network_hue(tier.level.network), tier.level.switches
    if plan.merged or count is None:
        plan.sheet.area(x, y, x + w, y + _SWITCH, colour, level=3)
        return [(x + w * (i + 0.5) / 8, None) for i in range(8)]
    most = count if on_rails(tier) and w / count >= 3.4 else max(2, min(6, int(w // 14)))
    numbers = [*range(count)] if count <= most else [*range(most - 2), _MANY, count - 1]
    step = w / len(numbers)
    wide, out = min(step - min(3, step / 4), 26), []
    for i, number in enumerate(numbers):
        at = x + step * (i + 0.5)
        if number == _MANY:
            plan.sheet.write(at, y + 10, _MANY, colour, "center", say=False)
            continue
        strong = plan.rail is None or not on_rails(tier) or number == plan.rail
        _filled(plan.sheet, at, y, wide, _SWITCH, colour, 1 if strong else 0.35)
        out.append((at, number))
    return out


def _node(plan: _Plan, tier: Tier, x: float, w: float) -> list[tuple[float, int]]:
    """A node: its GPUs, and NVLink under them; where each GPU stands, and the switch that its first NIC leads to."""
    sheet, first = plan.sheet, plan.topology.tiers[0]
    most = max(2, int(w // (8 if first.degree > 16 else 3.4)))
    numbers = [*range(first.degree)] if first.degree <= most else [*range(most - 2), _MANY, first.degree - 1]
    step, y, colour = w / len(numbers), plan.gpus, network_hue(first.level.network)
    wide, out = min(step - min(1.5, step / 4), 14), []
    for i, number in enumerate(numbers):
        at = x + step * (i + 0.5)
        if number == _MANY:
            sheet.write(at, y + 10, _MANY, "compute", "center", say=False)
            continue
        leads = number * (tier.level.cables // first.degree) % (tier.level.switches or 1)
        strong = plan.rail is None or leads == plan.rail
        _filled(sheet, at, y, wide, _GPU, "compute", 1 if strong else 0.45)
        sheet.rule([at, at], [y + _GPU, y + _GPU + _LINK], colour, 0.8, level=0.5)
        out.append((at, leads))
    sheet.area(x, plan.base - _BAR, x + w, plan.base, colour, level=4)
    return out


def _filled(sheet, x: float, y: float, w: float, h: float, colour: str, alpha: float) -> None:
    """A small box around ``x``; a weak color lies on paper. Shapes of one look have one level and become one path."""
    if alpha < 1:
        sheet.area(x - w / 2, y, x + w / 2, y + h, "paper", level=2.5)
    level = 3 + alpha / 4 + (0.5 if colour == "compute" else 0)
    sheet.area(x - w / 2, y, x + w / 2, y + h, colour, alpha, level=level)


def _cables(plan: _Plan, tier: Tier, feet, ends) -> None:
    """Cables from a child to the switches of its unit: on rails to the one of its number, else to all."""
    sheet, colour, rails = plan.sheet, network_hue(tier.level.network), on_rails(tier)
    top = plan.rows[tier.index] + _SWITCH / 2
    low = plan.gpus if tier.index == 2 else plan.rows[tier.index - 1] - _SWITCH / 2
    for at, number in feet:
        if ends[0][1] is None:  # one bar: straight up
            sheet.rule([at, at], [low, top], colour, 0.8, level=1)
            continue
        chosen = plan.rail is not None and number == plan.rail and on_rails(plan.topology.tiers[1])
        for end, other in ends:
            if not rails and chosen and tier.index == 3:
                sheet.rule([at, end], [low, top], colour, 0.6, level=1.2)
            elif not rails:
                sheet.rule([at, end], [low, top], colour, 0.3 if plan.rail is None else 0.18, level=1)
            elif number == other:
                look = {"alpha": 1, "level": 1.5, "weight": 1.8} if chosen else {"alpha": 0.3, "level": 1}
                sheet.rule([at, end], [low, top], colour, **look)


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
    ports = "one per rail" if on_rails(tier) and not plan.merged else ports
    per = f"per {child(tier)}" + (f", {rate(tier.per_gpu_bw)} per GPU" if tier.index == 2 else "")
    return [
        (y, colour, kind(tier) + each, ports),
        (y + (_SWITCH + _FAN) / 2, colour, rate(tier.child_bw), per),
    ]
