"""Networks of switches that draw themselves from their data: a node as boxes, several levels as a fabric."""

from __future__ import annotations

from gpuscale.network.tree import Tier, Topology
from gpuscale.plotting.boxes import PAD, Block, stand
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.fabrics import fabric
from gpuscale.plotting.network_words import bundle, child, counted, network_hue, sentence, switches, title

_FAN = 58  # pixels from the switches to the GPUs
_SWITCH, _GPU = (20, 13), 26  # pixels: a switch's box, a GPU's height
_MANY = "…"


def network_figure(topology, *, name, caption, fold=True, **look) -> Still:
    """A Topology as a static figure: GPUs below, the switches of a unit as one bar; the first children and the last.

    Of a single level, ``fold=False`` draws every GPU and switch where there is room. NVLink has the color of scale-up,
    everything else that of scale-out. ``alt`` is made from the data if left out; the folded table has each level's
    counts and bandwidths. Raises TypeError for anything but a Topology.
    """
    if not isinstance(topology, Topology):
        raise TypeError(f"network_figure: expected a Topology; got {topology!r}. A Mesh or a Torus has its own figure")

    def paint(sheet):
        if len(topology.levels) > 1:
            fabric(sheet, topology)
        else:
            _cables(sheet, topology.tiers[0], stand(sheet, _node(topology.tiers[0], sheet.across - 2, fold)))
        sheet.records += [sentence(tier) for tier in topology.tiers]

    alt = f"{topology.title}, unit inside unit. {'. '.join(map(sentence, reversed(topology.tiers)))}."
    return Still(paint, name=name, caption=caption, **{"alt": alt, "table": counted(topology)} | look)


def _node(tier: Tier, w: float, fold: bool) -> Block:
    """A node ``w`` pixels wide: its name, its switches, its GPUs."""
    room, colour = w - 2 * PAD, network_hue(tier.level.network)
    notes = (switches(tier), f"from each {child(tier)} {bundle(tier)}")
    inside = [_row(tier, room, fold, colour), Block(tall=_FAN - 12), _gpus(tier, room, fold)]
    return Block(title(tier), notes, inside=inside, gap=6, note_hue=colour)


def _row(tier: Tier, w: float, fold: bool, colour: str) -> Block:
    """The switches of a unit as small boxes."""
    wide, tall = _SWITCH
    if tier.level.switches is None:
        return Block(hue=colour, tall=tall, key="switches")
    names = _folded(tier.level.switches, min(int((w + 6) // (wide + 6)), 16 if fold else tier.level.switches))
    step = min((w - wide) / max(len(names) - 1, 1), 3 * wide)
    look = {"wide": wide, "tall": tall, "note_hue": colour, "fill": 0.3}
    boxes = [Block(hue=colour, key=f"switch {name}", **look) for name in names if name != _MANY]
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


def _cables(sheet, tier: Tier, places: dict) -> None:
    """The cables of each GPU, a line to every switch that is drawn."""
    feet = [place for key, place in places.items() if key.startswith("GPU ") and _MANY not in key]
    ends = [x + w / 2 for key, (x, _, w, _) in places.items() if key.startswith("switch ")]
    if not ends:  # counted as one
        x, _, w, _ = places["switches"]
        ends = [x + w * (i + 0.5) / 4 for i in range(4)]
    alpha = 0.5 if len(feet) * len(ends) <= 64 else 0.25
    for x, y, w, _ in feet:
        for end in ends:
            sheet.rule([x + w / 2, end], [y, y - _FAN], network_hue(tier.level.network), alpha, level=1)
