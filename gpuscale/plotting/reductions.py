"""An all-reduce through one switch, twice: the switch adds, or it only passes on what the GPUs of a ring add. The width
of a band is the bytes that a link carries."""

from __future__ import annotations

from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.drawing.sheet import LEADING
from gpuscale.units import show

_V, _FAINT = 9, 0.4  # pixels for the whole array; the strength of a sum that is not complete
_TOP, _SWITCH, _GPU, _CABLE, _GAP = 24, 116, 26, 64, 28  # pixels: title, switch, a GPU's box, cables, between panels
_BUS = {"adds": 26, "copies": 78}  # pixels from the top of the switch to the middle of a bus


def reduction_figure(switch, ring, *, name, caption, **look) -> Still:
    """The ``in_network.all_reduce`` of some ranks next to their ``ring.all_reduce``, with bands as wide as bytes.

    All widths are counted in the transfers of the two schedules. A transfer that still adds is faint, a complete sum
    is solid. Raises ValueError for different numbers of ranks, or for schedules that are not these.
    """
    if switch.ranks != ring.ranks or switch.steps != 4 or not switch.switches or ring.switches:
        raise ValueError(f"{name}: expected four phases through a switch and a ring; got {switch.title}, {ring.title}")
    phases, hops = _phases(switch), _halves(ring)
    each = float(switch.busiest()), float(ring.busiest())
    heads = [
        ("The switch adds", each[0], f"{switch.steps} phases"),
        ("A ring through the same switch", each[1], f"{ring.steps} steps"),
    ]
    said = [f"{title}: each link carries {show(v, '1')} V up and {show(v, '1')} V down, {n}" for title, v, n in heads]

    def paint(sheet):
        across = sheet.across if sheet.narrow else (sheet.across - _GAP) / 2
        low = _TOP + _SWITCH + _CABLE + _GPU
        for i, head in enumerate(heads):
            x, y = (0, i * (low + 44)) if sheet.narrow else (i * (across + _GAP), 0)
            places = _frame(sheet, head, switch.ranks, x, y, across, 46 if i == 0 else 0)
            if i:
                _ring(sheet, hops, places, y)
            else:
                _switch(sheet, phases, places, x + across, y)
            sheet.down = y + low + 24
        swatches = [("not yet the complete sum", _FAINT), ("complete sum", 1)]
        items = [(word, lambda x, y, a=a: sheet.area(x, y + 3, x + 20, y + 11, "scaleup", a)) for word, a in swatches]
        sheet.down = sheet.legend(items, sheet.down + 6) + 2
        sheet.records += said

    alt = f"GPUs under a switch, with bands as wide as the bytes of each link. {'. '.join(said)}."
    return Still(paint, name=name, caption=caption, **{"alt": alt} | look)


def _phases(schedule) -> list[float]:
    """The fraction of the array that each phase moves between the switch and a GPU."""
    step, source, target, _, _ = schedule.columns
    first = (source == 0) | (target == 0)
    return [float((first & (step == phase)).sum() / schedule.chunks) for phase in range(schedule.steps)]


def _halves(schedule) -> tuple[float, float]:
    """The fractions of the array that a rank passes on as sums that still grow, and as complete ones."""
    _, source, _, _, adds = schedule.columns
    return tuple(float(((source == 0) & (adds.astype(bool) == flag)).sum() / schedule.chunks) for flag in (True, False))


def _frame(sheet, head, ranks: int, x: float, y: float, across: float, right: float) -> list[float]:
    """The title, the switch and the GPUs of a panel, and what each link carries. Returns the middles of the GPUs."""
    title, carried, trips = head
    pitch = (across - 6 - right) / ranks
    middles = [x + 3 + (r + 0.5) * pitch for r in range(ranks)]
    sheet.write(x, y + 13, title, bold=True)
    sheet.box(x + 1, y + _TOP, across - 2, _SWITCH, "scaleup", 0.1, level=0)
    top = y + _TOP + _SWITCH + _CABLE
    for r, at in enumerate(middles):
        sheet.box(at - pitch / 2 + 2, top, pitch - 4, _GPU, "compute", 0.12, level=5)
        sheet.write(at, top + 17.5, str(r), "compute", "center", bold=True, say=False)
    amount = "<i>V</i>" if carried == 1 else f"{show(carried, '1')} <i>V</i>"
    sheet.write(x, top + _GPU + LEADING + 2, f"each link: {amount} up, {amount} down", "scaleup", bold=True)
    sheet.write(x + across, top + _GPU + LEADING + 2, trips, "soft", "right")
    return middles


def _switch(sheet, phases, places, right: float, y: float) -> None:
    """Four bands on each link, one for a phase, between the GPUs and the two buses in the switch."""
    sent, summed, returned, copied = (_V * phase for phase in phases)
    foot, gap = y + _TOP + _SWITCH + _CABLE, 2.5
    bands = [(copied, "copies"), (returned, "copies"), (summed, "adds"), (sent, "adds")]  # from left to right
    ends: dict[str, list[tuple[float, float]]] = {"copies": [], "adds": []}  # where bands meet their bus
    for x in places:
        left = x - (sum(wide for wide, _ in bands) + 3 * gap) / 2
        for wide, bus in bands:
            ends[bus].append((left, left + wide))
            left += wide + gap
    for bus, met in ends.items():
        strength, middle = 1 if bus == "copies" else _FAINT, y + _TOP + _BUS[bus]
        crossing = [(a - 2, b + 2) for a, b in ends["adds"]] if bus == "copies" else []
        for a, b in _without(met[0][0], met[-1][1], crossing):
            sheet.area(a, middle - _V / 2, b, middle + _V / 2, "scaleup", strength, level=1 + strength)
        for a, b in met:
            sheet.area(a, middle + _V / 2, b, foot, "scaleup", strength, level=1 + strength)
        sheet.write(right - 6, middle + 4.4, bus, "scaleup", "right", bold=True)
    for a, b in ends["adds"][3::2]:  # where a GPU's data joins that of the GPUs before it
        sheet.dot((a + b) / 2, y + _TOP + _BUS["adds"], 6.5, "paper")
        sheet.write((a + b) / 2, y + _TOP + _BUS["adds"] + 4.4, "+", align="center", bold=True, say=False)


def _without(start: float, end: float, holes) -> list[tuple[float, float]]:
    """What is left of a stretch when the holes, from left to right, are cut out of it."""
    edges = [start, *(edge for hole in holes for edge in hole), end]
    return [(a, min(b, end)) for a, b in zip(edges[::2], edges[1::2], strict=True) if min(b, end) > a]


def _ring(sheet, hops, places, y: float) -> None:
    """From each GPU to the next a band in two strengths, through the switch; the last one goes back over the others."""
    growing, complete = (_V * hop for hop in hops)
    foot, away = y + _TOP + _SWITCH + _CABLE, (growing + complete) / 2 + 1
    for r, x in enumerate(places):
        back = r == len(places) - 1
        turn, to = (-1, places[0]) if back else (1, places[r + 1])
        high = y + _TOP + (34 if back else 66)
        for wide, off, strength in [(growing, complete / 2, _FAINT), (complete, -growing / 2, 1)]:
            ends = x + away - turn * off, to - away + turn * off
            xs, ys = [ends[0], ends[0], ends[1], ends[1]], [foot, high - off, high - off, foot]
            sheet.rule(xs, ys, "scaleup", strength, level=1 + strength, weight=wide)
    sheet.write(places[0] - away + 2, y + _TOP + 16, "passes on", "scaleup", bold=True)
