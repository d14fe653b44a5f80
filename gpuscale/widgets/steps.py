"""A schedule played step by step: who holds what, who sends what to whom, and the bytes counted against a formula.

Python works out all of it (``schedules.collectives``); the page's script lets the chunks fly (``static/steps.js``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import sympy

from gpuscale.core.formula import Formula
from gpuscale.core.html import anchor
from gpuscale.schedules.collectives.schedule import Schedule
from gpuscale.symbols import flop
from gpuscale.units import show
from gpuscale.widgets import transfer_words
from gpuscale.widgets.stage import stage_figure

RANKS, CHUNKS = 16, 32  # what a page still shows
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
COUNTS = {"sent": "Sent by the busiest rank", "link": "Bytes on the busiest link"}
WORDS = {
    "chunk": "chunk",
    "block": "to rank",
    "rank": "rank {}",
    "node": "node {}",
    "follow": "Follow {}",
    "step": "step {} of {}",
    "hold": "So far, {} is complete on {} of {} ranks.",
    "isAt": "Now the {} is at rank {}.",
    "cell": "rank {}: {}",
    "partial": "sum over {} of {} ranks",
    "complete": "complete",
    "steps": "Step",
}


class Played(NamedTuple):
    """One tab: how its schedule is made, for how many ranks or which levels, and the formula of the bytes that count.

    The formula's inputs are N and V, which are known, and those ``given``. With ``routes``, as in
    ``schedules.collectives.routes``, the bytes over the busiest physical link count, else those that the busiest rank
    sends. ``label`` is what the formula's mark is called.
    """

    way: Callable[..., Schedule]
    size: int | Sequence[int]
    formula: Formula
    given: Mapping[str, Any] = {}
    routes: Any = None
    label: str = ""


def steps_stage(
    tabs: Mapping[str, Played],
    *,
    name: str,
    title: str,
    caption: str,
    V: float,
    at: int,
    chunk_names: Sequence[str] = (),
    meter_hue: str = "scaleup",
):
    """Schedules to play step by step, as tabs {"Halving-doubling": Played(doubling.halving_doubling, 8, ...)}.

    Each moves a buffer of ``V`` bytes. It opens on the first one after ``at`` steps. ``chunk_names`` stand in the
    cells instead of numbers, and ``meter_hue`` is the meaning of the links whose bytes count. Returns a widget whose
    ``values`` hold kind, the open tab, and follow, the chunk that is followed, or -1.
    Raises ValueError, naming both, where the bytes counted on a schedule are not exactly its formula's; for a schedule
    that is too large to show, has switches, or lacks the step ``at``.
    """
    kinds = {anchor(label): label for label in tabs}
    shown = {key: _tab(f"{name}: {label}", tabs[label], V, chunk_names, meter_hue) for key, label in kinds.items()}
    first = next(iter(shown.values()))
    steps = len(first["moves"])
    if not 0 <= at <= steps:
        raise ValueError(f"{name}: at: expected 0 to {steps} steps; got {at}")
    ways = {each.way.__module__.rpartition(".")[2] for each in tabs.values()}
    routes = {type(each.routes).__name__ for each in tabs.values() if each.routes}
    imports = [f"from gpuscale.schedules.collectives import {', '.join(sorted(ways))}"]
    imports += [f"from gpuscale.schedules.collectives.routes import {', '.join(sorted(routes))}"] * bool(routes)
    return stage_figure(
        "steps",
        name=name,
        title=title,
        caption=caption,
        start={"kind": next(iter(shown)), "follow": -1},
        text=[one["told"] for one in shown.values()],
        choices={"kind": ("Schedule", kinds)} if kinds.keys() - {next(iter(kinds))} else {},
        within={"follow": (-1, max(len(one["names"]) for one in shown.values()) - 1)},
        counts=["follow"],
        units={"V": "B"},
        words=WORDS,
        data={"V": V, "tabs": shown},
        python="\n".join(imports),
        at=at / steps,
    )


def exact_value(formula, **given) -> Fraction:
    """A formula's value as an exact fraction. Raises TypeError for missing inputs, ValueError if it is irrational."""
    missing = [q.name for q in formula.inputs if q.name not in given]
    if missing:
        raise TypeError(f"missing {', '.join(missing)}; expected all inputs of {formula} in given")
    swaps = {q: sympy.Rational(*_exact(given[q.name]).as_integer_ratio()) for q in formula.inputs}
    value = formula.rhs.subs({**swaps, flop: 1})
    if not value.is_Rational:
        raise ValueError(f"{formula.name or formula.title}: expected a rational number for {given}; got {value}")
    return Fraction(int(value.p), int(value.q))


def _exact(number) -> Fraction:
    return Fraction(number.item() if isinstance(number, np.generic) else number)


def _tab(name: str, played: Played, V: float, chunk_names: Sequence[str], hue: str) -> dict:
    """What the page draws of one schedule."""
    schedule = played.way(played.size)
    for what, limit in {"ranks": RANKS, "chunks": CHUNKS, "switches": 0}.items():
        if getattr(schedule, what) > limit:
            raise ValueError(f"{name}: expected at most {limit} {what} to show; got {getattr(schedule, what)}")
    if not schedule.steps:
        raise ValueError(f"{name}: expected at least one step; got none")
    if chunk_names and len(chunk_names) != schedule.chunks:
        raise ValueError(f"{name}: chunk_names: expected {schedule.chunks}; got {len(chunk_names)}")
    meter = _meter(name, schedule, played, V) | {"hue": hue}
    steps = range(schedule.steps)
    said = [transfer_words.opening(schedule)]
    said += [transfer_words.happening(schedule, step, lambda units: _size(schedule, V, units)) for step in steps]
    held = [[[len(ranks or ()) for ranks in row] for row in schedule.holds(t)] for t in range(schedule.steps + 1)]
    labels = _labels(schedule, chunk_names)
    listed = ["", *(transfer_words.listed(schedule, step, labels["names"].__getitem__) for step in steps)]
    count = (
        f"max({_call(played)}.per_link({played.routes!r}).values())" if played.routes else f"{_call(played)}.busiest()"
    )
    return labels | {
        "ranks": schedule.ranks,
        "group": schedule.group,
        "of": max(max(row) for row in held[-1]),
        "moves": [[[one.source, one.target, one.chunk] for one in schedule[step]] for step in steps],
        "held": [["".join(DIGITS[n] for n in row) for row in rows] for rows in held],
        "pale": [["".join("01"[gone] for gone in row) for row in rows] for rows in _pale(schedule)],
        "said": said,
        "rows": [
            [f"{t}. {words}" + (f"<br><small>{moved}</small>" if moved else ""), text]
            for t, (words, moved, text) in enumerate(zip(said, listed, meter["text"], strict=True))
        ],
        "meter": meter,
        "call": count,
        "told": f"{schedule.title}: {schedule.ranks} ranks, {schedule.steps} steps; {meter['name'].lower()}: "
        f"{meter['text'][-1]}, as the formula gives",
    }


def _call(played: Played) -> str:
    """How Python makes the schedule."""
    return f"{played.way.__module__.rpartition('.')[2]}.{played.way.__name__}({played.size!r})"


def _blocks(schedule: Schedule) -> bool:
    """Whether each rank holds one block for each rank, as before an all-to-all."""
    n = schedule.ranks
    return schedule.chunks == n * n > 1 and bool((schedule.start == np.repeat(np.eye(n, dtype=bool), n, axis=1)).all())


def _labels(schedule: Schedule, chunk_names: Sequence[str]) -> dict:
    """The name and the color of each chunk. A block has the color of the rank that it comes from, and the number of
    the one that it goes to."""
    if _blocks(schedule):
        ends = [divmod(chunk, schedule.ranks) for chunk in range(schedule.chunks)]
        called = [f"block from rank {source} to rank {target}" for source, target in ends]
        names, tints = [str(target) for _, target in ends], [source for source, _ in ends]
        return {"block": True, "names": names, "tints": tints, "called": called}
    names = [*chunk_names] or [str(chunk) for chunk in range(schedule.chunks)]
    return {"names": names, "tints": [*range(schedule.chunks)], "called": [f"chunk {name}" for name in names]}


def _pale(schedule: Schedule) -> list[np.ndarray]:
    """After each step: the sums and blocks that were sent on, and at the end all that is no part of the result."""
    gone, out = np.zeros((schedule.ranks, schedule.chunks), int), []
    for step in range(schedule.steps):
        out.append(gone.copy())
        for one in schedule[step]:
            gone[one.source, one.chunk] |= one.reduce or _blocks(schedule)
        for one in schedule[step]:
            gone[one.target, one.chunk] = 0
    return [*out, np.where(schedule.end, 0, 1)]


def _meter(name: str, schedule: Schedule, played: Played, V: float) -> dict:
    """The bytes after each step, and what is a whole bar of them; the formula's value as their mark."""
    whole, steps = _exact(V), range(schedule.steps + 1)
    if played.routes:
        counted = [max(schedule.per_link(played.routes, t).values(), default=Fraction(0)) * whole for t in steps]
    else:
        counted = [schedule.busiest(t) * whole for t in steps]
    mark = exact_value(played.formula, **{"N": schedule.ranks, "V": V} | dict(played.given))
    if mark != counted[-1]:
        raise ValueError(
            f"{name}: the schedule counts {float(counted[-1]):.9g} B, or {counted[-1] / whole} V; "
            f"the formula says {float(mark):.9g} B, or {mark / whole} V ({played.formula})"
        )
    unit = whole if mark * 2 >= whole else whole / schedule.ranks
    return {
        "name": COUNTS["link" if played.routes else "sent"],
        "values": [float(one) for one in counted],
        "text": [show(float(one), "B") if one else "0 B" for one in counted],
        "full": float(ceil(mark / unit) * unit),
        "mark": float(mark),
        "label": f"{played.label or f'formula: {played.formula.lhs.html}'} = {show(float(mark), 'B')}",
    }


def _size(schedule: Schedule, V: float, units: int) -> str:
    """Units of a schedule in bytes, as the reader sees them."""
    return show(float(_exact(V) * Fraction(units, schedule.whole)), "B")
