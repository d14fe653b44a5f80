"""Networks that draw themselves from their data: a tree of levels, unit inside unit, with its bundles of cables."""

from __future__ import annotations

from gpuscale.network.tree import Tier, Topology
from gpuscale.plotting.boxes import PAD, Block, stand
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.ink import width
from gpuscale.units import NBSP, show

_GAP, _FAN, _EDGE = 8, 58, 4  # pixels: between boxes, from the switches to what they join, an edge of a unit behind
_SWITCH, _GPU, _DOTS = (20, 13), 26, 24  # pixels: a switch's box, a GPU's height, the gap that stands for many
_MANY = "…"


def network_figure(topology, *, name, caption, fold=True, **look) -> Still:
    """A Topology as a static figure: each unit's switches over its children, the first child opened up.

    Large counts are folded; with ``fold=False`` every child stands there, where there is room. NVLink has the
    colour of scale-up, everything else that of scale-out. ``alt`` is made from the data if left out; the folded
    table has each level's counts and bandwidths. Raises TypeError for what is no Topology.
    """
    if not isinstance(topology, Topology):
        raise TypeError(f"network_figure: expected a Topology; got {topology!r}. A Mesh or a Torus has its own figure")

    def paint(sheet):
        places = stand(sheet, _unit(topology.tiers[-1], sheet.across - 2, sheet.narrow, fold))
        for tier in topology.tiers:
            _cables(sheet, tier, places)
        sheet.records += [_sentence(tier) for tier in topology.tiers]

    alt = f"{topology.title}, unit inside unit. {'. '.join(map(_sentence, reversed(topology.tiers)))}."
    return Still(paint, name=name, caption=caption, **{"alt": alt, "table": _table(topology)} | look)


def _unit(tier: Tier, w: float, narrow: bool, fold: bool) -> Block:
    """A unit ``w`` pixels wide, opened up: its name, its switches, its first child in full, the others closed."""
    room, colour = w - 2 * PAD, network_hue(tier.level.network)
    children = _gpus(tier, room, fold) if tier.index == 1 else _children(tier, room, narrow, fold)
    notes = (_switches(tier), f"from each {_child(tier)} {_bundle(tier)}")
    inside = [_row(tier, room, fold, colour), Block(tall=_FAN - 12), children]
    return Block(_title(tier), notes, inside=inside, gap=6, note_hue=colour)


def _row(tier: Tier, w: float, fold: bool, colour: str) -> Block:
    """The switches of a unit as small boxes."""
    wide, tall = _SWITCH
    if tier.level.switches is None:
        return Block(hue=colour, tall=tall, key=f"{tier.name} switches")
    names = _folded(tier.level.switches, min(int((w + 6) // (wide + 6)), 16 if fold else tier.level.switches))
    step = min((w - wide) / max(len(names) - 1, 1), 3 * wide)
    look = {"wide": wide, "tall": tall, "note_hue": colour, "fill": 0.3}
    boxes = [Block(hue=colour, key=f"{tier.name} switch {name}", **look) for name in names if name != _MANY]
    if _MANY in names:
        boxes.insert(-1, Block(note=_MANY, **look))
    return Block(inside=boxes, across=True, gap=step - wide)


def _gpus(tier: Tier, w: float, fold: bool) -> Block:
    """GPUs as boxes with their numbers."""
    count, least = tier.degree, 21  # pixels that a number of one digit needs
    names = _folded(count, int(w // least) if count <= 10 else min(int(w // (least + 8)), 12 if fold else count))
    step = w / len(names)
    look = {"wide": min(step - 4, 44), "tall": _GPU, "note_hue": "compute"}
    boxes = [Block(note=name, hue=None if name == _MANY else "compute", key=f"GPU {name}", **look) for name in names]
    return Block(inside=boxes, across=True, gap=step - look["wide"])


def _folded(count: int, most: int) -> list[str]:
    """The numbers of what is drawn; of many, the first ones and the last."""
    shown = range(count) if count <= most else range(most - 2)
    return [*map(str, shown), *([] if count <= most else [_MANY, str(count - 1)])]


def _children(tier: Tier, w: float, narrow: bool, fold: bool) -> Block:
    """The first child in full and the others closed; on a phone they show as edges behind it."""
    degree, words = tier.degree, _child(tier).split()
    across = max(map(width, words)) + 12
    unfolded = degree <= 4 or (not fold and (degree - 1) * (across + _GAP) <= w / 2)
    names = [] if narrow else [str(i) for i in range(2, degree + 1)] if unfolded else [_MANY, f"{degree:,}"]
    closed = [
        Block(note=_MANY, wide=_DOTS)
        if name == _MANY
        else Block(note=" ".join([*words, name]), frame=True, wide=across, key=f"{tier.name} child {name}")
        for name in names
    ]
    behind = _EDGE * min(degree - 1, 2) if narrow else 0
    room = w - behind - sum(block.wide + _GAP for block in closed)
    opened = Block(inside=[_unit(_below(tier), room, narrow, fold)], wide=room, key=f"{tier.name} child 1")
    return Block(inside=[opened, *closed], across=True, gap=_GAP)


def _cables(sheet, tier: Tier, places: dict) -> None:
    """The cables of each child, a line to every switch that is drawn; on a phone, the edges of the other children."""
    child, colour = "GPU" if tier.index == 1 else f"{tier.name} child", network_hue(tier.level.network)
    feet = [place for key, place in places.items() if key.startswith(f"{child} ") and _MANY not in key]
    ends = [x + w / 2 for key, (x, _, w, _) in places.items() if key.startswith(f"{tier.name} switch ")]
    if not ends:  # counted as one
        x, _, w, _ = places[f"{tier.name} switches"]
        ends = [x + w * (i + 0.5) / 4 for i in range(4)]
    alpha = 0.5 if len(feet) * len(ends) <= 64 else 0.25
    for x, y, w, h in feet:
        for end in ends:
            sheet.rule([x + w / 2, end], [y, y - _FAN], colour, alpha, level=1)
        if sheet.narrow and tier.index > 1:
            for i in range(1, min(tier.degree - 1, 2) + 1):
                sheet.rule([x + w + _EDGE * i] * 2, [y + _EDGE * i, y + h - _EDGE * i], "edge")


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


def _sentence(tier: Tier) -> str:
    return (
        f"level {tier.name}: {_title(tier)}; {_switches(tier)}; {tier.degree:,} × {_child(tier)},"
        f" each {_bundle(tier)}; {tier.units:,} in all"
    )


def _table(topology: Topology):
    heads = ["Level", "Joins", "GPUs", "Switches in all", "Cables in all", "Above each child", "Into the switches"]
    rows = []
    for tier in topology.tiers:
        counts = tier.degree, tier.S, tier.switches_total, tier.cables_total
        rows.append([tier.name, *map(_count, counts), rate(tier.child_bw), rate(tier.unit_bw)])
    return heads, rows


def _count(n) -> str:
    return "–" if n is None else f"{n:,}"
