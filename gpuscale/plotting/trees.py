"""Networks that draw themselves from their data: a tree of levels, unit inside unit, with its bundles of cables."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.transforms import IdentityTransform

from gpuscale.network.tree import Tier, Topology
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import fold as folded
from gpuscale.plotting.drawing.ink import hue, width
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.units import NBSP, show

_PAD, _GAP, _FAN = 9, 8, 58  # pixels: inside a frame, between boxes, from the switches down to the children
_SWITCH, _GPU = (20, 13), 26  # pixels: a switch's box, a GPU's side
_DOTS, _EDGE = 24, 4  # pixels: the gap that stands for many, and an edge that shows of a unit behind


def network_figure(topology, *, name, caption, alt=None, fold=True, **look) -> Still:
    """A Topology as a static figure: each unit's switches over its children, the first child opened up.

    Large counts are folded; with ``fold=False`` every child stands there, where there is room. NVLink has the
    colour of scale-up, everything else that of scale-out. ``alt`` is made from the data if left out; the folded
    table has each level's counts and bandwidths. Raises TypeError for what is no Topology.
    """
    if not isinstance(topology, Topology):
        raise TypeError(f"network_figure: expected a Topology; got {topology!r}. A Mesh or a Torus has its own figure")

    def paint(ax, narrow):
        sheet = ax.figure
        plan = _TreePlan(sheet, narrow, fold)
        _unit(plan, topology.tiers[-1], 1, 1, sheet.across - 2)
        sheet.records += [_sentence(tier) for tier in topology.tiers]

    def tall(narrow):
        return lambda w: _height(_TreePlan(None, narrow, fold), topology.tiers[-1], w - 2) + 2

    size = {"axes": False, "height": tall(False), "narrow_height": tall(True)}
    return Still(paint, name=name, caption=caption, alt=alt or _alt(topology), table=_table(topology), **size, **look)


@dataclass
class _TreePlan:
    sheet: object
    narrow: bool
    fold: bool

    def beside(self, tier: Tier, room: float) -> list[tuple[str, float]]:
        """What stands beside the child that is opened up, with widths: closed ones, "…" for many.

        On a phone the others show as edges behind it.
        """
        degree, across = tier.degree, max(width(word) for word in _child(tier).split()) + 12
        if self.narrow:
            return [("", _EDGE)] * min(degree - 1, 2)
        if degree <= 4 or (not self.fold and (degree - 1) * (across + _GAP) <= room / 2):
            return [(str(i), across + _GAP) for i in range(2, degree + 1)]
        return [("…", _DOTS + _GAP), (f"{degree:,}", across + _GAP)]


def network_hue(network: str) -> str:
    """The colour of a network's meaning: NVLink and TPU links are scale-up, all else scale-out."""
    return "scaleup" if network in {"nvlink", "ici"} else "scaleout"


def rate(bw) -> str:
    return show(float(bw), "B/s", short=True)


def _title(tier: Tier) -> str:
    above = tier.topology.tiers[tier.index : tier.index + 1]
    name = tier.level.unit[0].upper() + tier.level.unit[1:]
    which = f" 1 of {above[0].degree:,}" if above and above[0].degree > 1 else ""
    spare = f", {tier.topology.empty} of {tier.topology.slots} slots empty" if tier.topology.empty and not above else ""
    return f"{name}{which}: {tier.S if above else tier.topology.ranks:,} GPUs{spare}"


def _switches(tier: Tier) -> str:
    level = tier.level
    if level.switches is None:
        return "switches counted as one"
    kind = level.switch if level.switch.lower().endswith("switch") else f"{level.switch} switch"
    kind += "es" if level.switches > 1 else ""
    rails = tier.topology.rails and tier.starts and tier.index > 1 and level.switches == level.cables > 1
    return (
        f"{level.switches:,} {kind}"
        + (f" of {level.ports} ports" if level.ports else "")
        + (" (one for each rail)" if rails else "")
    )


def _bundle(tier: Tier) -> str:
    level = tier.level
    n = f"{level.cables:,}{NBSP}×{NBSP}" if level.cables > 1 else ""
    return f"{n}{rate(level.link_bw)}" + (f" = {rate(level.child_bw)}" if n else "")


def _child(tier: Tier) -> str:
    return "GPU" if tier.index == 1 else _below(tier).level.unit


def _below(tier: Tier) -> Tier:
    return tier.topology.tiers[tier.index - 2]


def _head(tier: Tier, w: float) -> list[tuple[str, bool]]:
    """The lines over a unit: its name; its switches, and what each child sends up to them."""
    room = w - 2 * _PAD
    lines = [(line, True) for line in folded(_title(tier), room, bold=True)]
    parts = [_switches(tier), f"from each {_child(tier)} {_bundle(tier)}"]
    parts = [", ".join(parts)] if width(", ".join(parts)) <= room else parts
    return lines + [(line, False) for part in parts for line in folded(part, room)]


def _inner(plan: _TreePlan, tier: Tier, w: float) -> tuple[float, list[tuple[str, float]]]:
    """Width of the child that is opened up, and what stands beside it."""
    beside = plan.beside(tier, w - 2 * _PAD)
    return w - 2 * _PAD - sum(across for _, across in beside), beside


def _height(plan: _TreePlan, tier: Tier, w: float) -> float:
    head = LEADING * len(_head(tier, w)) + 4
    body = _GPU if tier.index == 1 else _height(plan, _below(tier), _inner(plan, tier, w)[0])
    return _PAD + head + _SWITCH[1] + _FAN + body + _PAD


def _unit(plan: _TreePlan, tier: Tier, x: float, y: float, w: float):
    """A unit, opened up: its name, its switches, its first child in full, the others closed."""
    sheet, colour = plan.sheet, network_hue(tier.level.network)
    frame(plan.sheet, x, y, w, _height(plan, tier, w), "line", 0)
    top = y + _PAD
    for text, bold in _head(tier, w):
        sheet.write(x + _PAD, top + 11, text, "plain" if bold else colour, bold=bold)
        top += LEADING
    ends = _row(plan, tier, x + _PAD, top + 4, w - 2 * _PAD, colour)
    top += 4 + _SWITCH[1]
    draw = _gpus if tier.index == 1 else _children
    feet = draw(plan, tier, x + _PAD, top + _FAN, w - 2 * _PAD)
    _fan(sheet, feet, top + _FAN, ends, top, colour)


def _row(plan: _TreePlan, tier: Tier, x: float, y: float, w: float, colour: str) -> list[float]:
    """The switches of a unit as small boxes, folded where they are many; where each stands."""
    across, tall = _SWITCH
    count = tier.level.switches
    if count is None:
        frame(plan.sheet, x, y, w, tall, colour, 0.16)
        return [x + w * (i + 0.5) / 4 for i in range(4)]
    most = min(int((w + 6) // (across + 6)), 16 if plan.fold else count)
    shown = min(count, most)
    step = min((w - across) / max(shown - 1, 1), 3 * across)
    left = x + (w - step * (shown - 1) - across) / 2
    places = []
    for i in range(shown):
        at = left + i * step
        if count > shown and i == shown - 2:
            plan.sheet.write(at + across / 2, y + tall - 3, "…", colour, "center", say=False)
            continue
        frame(plan.sheet, at, y, across, tall, colour, 0.3, corner=0)
        places.append(at + across / 2)
    return places


def _gpus(plan: _TreePlan, tier: Tier, x: float, y: float, w: float) -> list[float]:
    """GPUs as boxes with their numbers, folded where they are many; where each stands."""
    count, least = tier.degree, 21  # pixels that a number of one digit needs
    most = int(w // least) if count <= 10 else min(int(w // (least + 8)), 12 if plan.fold else count)
    names = [str(i) for i in range(count)] if count <= most else [*map(str, range(most - 2)), "…", str(count - 1)]
    step = w / len(names)
    side, places = min(step - 4, 44), []
    for i, name in enumerate(names):
        at = x + (i + 0.5) * step
        if name != "…":
            frame(plan.sheet, at - side / 2, y, side, _GPU, "compute", 0.14)
            places.append(at)
        plan.sheet.write(at, y + _GPU / 2 + 4.4, name, "compute", "center", say=False)
    return places


def _children(plan: _TreePlan, tier: Tier, x: float, y: float, w: float) -> list[float]:
    """The first child in full and the others closed; where the cables of each begin."""
    wide, beside = _inner(plan, tier, w + 2 * _PAD)
    tall = _height(plan, _below(tier), wide)
    _unit(plan, _below(tier), x, y, wide)
    places, at = [x + wide / 2], x + wide
    for i, (name, across) in enumerate(beside, 1):
        if not name:  # an edge of what stands behind
            plan.sheet.rule([at + across] * 2, [y + _EDGE * i, y + tall - _EDGE * i], "edge", linewidth=1)
        elif name == "…":
            plan.sheet.write(at + across / 2, y + tall / 2, name, "soft", "center", bold=True, say=False)
        else:
            _closed(plan, [*_child(tier).split(), name], at + _GAP, y, across - _GAP, tall)
            places.append(at + (across + _GAP) / 2)
        at += across
    return places


def _closed(plan: _TreePlan, words: list[str], x: float, y: float, w: float, tall: float):
    frame(plan.sheet, x, y, w, tall, "line", 0)
    for i, word in enumerate(words):
        high = y + tall / 2 + (i - len(words) / 2) * LEADING + 12
        plan.sheet.write(x + w / 2, high, word, "soft", "center", say=False)


def _fan(sheet, feet, low: float, ends, top: float, colour: str):
    """The cables of each child, one line to every switch that is drawn."""
    alpha = 0.5 if len(feet) * len(ends) <= 64 else 0.25
    for foot in feet:
        for end in ends:
            sheet.rule([foot, end], [low, top], colour, alpha=alpha, linewidth=1, zorder=1)


def frame(sheet, x, y, w, h, name: str, share: float, corner: float = 3):
    """A box, in pixels, in the colour of a meaning and filled palely. Without round corners many make one path."""
    edge = hue(name)
    fill = to_rgba(edge, share) if share else "none"
    style = {"facecolor": fill, "edgecolor": edge, "linewidth": 1.0, "zorder": 2, "transform": IdentityTransform()}
    low = sheet.down - y - h
    if corner:
        box = FancyBboxPatch((x, low), w, h, boxstyle=f"round,pad=0,rounding_size={corner}", **style)
    else:
        box = Rectangle((x, low), w, h, **style)
    sheet.add_artist(box)


def _sentence(tier: Tier) -> str:
    return (
        f"level {tier.name}: {_title(tier)}; {_switches(tier)}; {tier.degree:,} × {_child(tier)},"
        f" each {_bundle(tier)}; {tier.units:,} in all"
    )


def _alt(topology: Topology) -> str:
    said = [
        f"{_title(tier)}, in which {_switches(tier)} join {tier.degree:,} {_child(tier)}s by {_bundle(tier)} each"
        for tier in reversed(topology.tiers)
    ]
    return f"{topology.title}, unit inside unit. " + ". ".join(said) + "."


def _table(topology: Topology):
    heads = ["Level", "Joins", "GPUs", "Switches in all", "Cables in all", "Above each child", "Into the switches"]
    rows = [
        [
            tier.name,
            f"{tier.degree:,}",
            f"{tier.S:,}",
            _count(tier.switches_total),
            _count(tier.cables_total),
            rate(tier.child_bw),
            rate(tier.unit_bw),
        ]
        for tier in topology.tiers
    ]
    return heads, rows


def _count(n) -> str:
    return "–" if n is None else f"{n:,}"
