"""The stepper of a collective: ranks as rows, chunks as cells, and the bytes counted against a formula's mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
import sympy

from gpuscale.symbols import flop
from gpuscale.units import show
from gpuscale.widgets import transfer_words as words
from gpuscale.widgets.stepper_card import meter, stepper

LIMITS = {"ranks": 32, "chunks": 32}  # what a page still shows
BLOCKS = 10  # ranks of an all-to-all, whose cells are the ranks squared
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
COUNTS = {
    "sent": "Sent by the busiest rank",
    "received": "Received by the busiest rank",
    "link": "Bytes on the busiest link",
    "moved": "Sent by all ranks together",
}


def collective_stepper(
    schedule,
    formula=None,
    *,
    name: str,
    title: str,
    caption: str,
    V: float = 0,
    at: int | None = None,
    count: str | Callable = "sent",
    given: Mapping | None = None,
    value=None,
    routes=None,
    label: str = "",
    chunk_names: Sequence[str] = (),
    view: str = "",
    meter_hue: str = "scaleup",
    row: str = "rank",
):
    """A collective step by step: who holds what, who sends what to whom, and the bytes so far.

    ``schedule`` is a schedules.collectives.schedule.Schedule, ``V`` the bytes of its full buffer. The meter shows
    ``count``: "sent" or "received" (by the busiest rank), "moved" (by all), "link" (over the busiest physical link
    of ``routes``), or a function of the number of steps done that gives a fraction of V. ``formula`` is a Formula in
    bytes; its inputs are ``given``, by name, besides N and V, which are known. Where it gives no bytes, ``value``
    is the number of bytes [B] that it implies, and ``label`` what the mark is called. Without a formula there is no
    mark, without V no meter.
    ``at`` is the step that it opens on, ``chunk_names`` what stands in the cells instead of numbers, ``meter_hue`` the
    meaning of the links that the meter counts. ``row`` is what a row is called: "node" where whole nodes take part
    and the arrows are links of the network. ``view`` is "ring" (arrows from row to row), "arcs", or "pair" (before
    and now side by side); by default what suits the schedule.
    Raises ValueError, naming both, where the bytes counted on the schedule are not exactly the formula's; for a
    schedule too large to show; for an unknown count or view.
    """
    view = view or _view(schedule)
    _check(name, schedule, view, count, chunk_names)
    spec = {"title": title, "kind": "chunks", "unit": "step", "rate": 1100}
    spec |= {"steps": schedule.steps, "at": (schedule.steps + 1) // 2 if at is None else at}
    spec |= _cells(schedule, view) | {"hue": "scaleup", "group": words.GROUP, "view": view}
    spec |= {"row": f"{row} {{}}", "hue": "scaleout"} if row != "rank" else {}
    spec |= {"names": list(chunk_names)} if chunk_names else {}
    told = [words.happening(schedule, step, _sizes(schedule, V)) for step in range(schedule.steps)]
    spec["said"] = [line.replace("rank", row) for line in (words.opening(schedule), *told)]
    text = f"{title}: {schedule.ranks} {row}s, {schedule.steps} step{'s' * (schedule.steps > 1)}"
    if V:
        counted = [part * _exact(V) for part in _counted(schedule, count, routes)]
        bar = _meter(name, schedule, counted, formula, value, V, given or {}, label)
        spec["meter"] = meter("Bytes so far" if callable(count) else COUNTS[count], meter_hue, **bar)
        said = f"{spec['meter']['name'].lower()}: {bar['text'][-1]}"
        text += f"; {said}" + ", as the formula gives" * (formula is not None)
    return stepper(name, spec, caption, *_rows(schedule, spec, chunk_names, row), text)


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


def _view(schedule) -> str:
    if _straight(schedule):
        return "pair"
    _, source, target, _, _ = schedule.columns
    near = np.isin(np.abs(source - target), [1, schedule.ranks - 1]).all()
    return "ring" if near and not schedule.switches and schedule.ranks > 2 else "arcs"


def _blocks(schedule) -> bool:
    """Whether each rank holds one block for each rank, as before an all-to-all."""
    n = schedule.ranks
    return schedule.chunks == n * n > 1 and bool((schedule.start == np.repeat(np.eye(n, dtype=bool), n, axis=1)).all())


def _straight(schedule) -> bool:
    """Whether those blocks go from the rank that holds them to the one that they are for, and nowhere else."""
    _, source, target, chunk, _ = schedule.columns
    n = schedule.ranks
    return _blocks(schedule) and bool((source == chunk // n).all() and (target == chunk % n).all())


def _check(name, schedule, view, count, chunk_names) -> None:
    straight = _straight(schedule)
    limits = {"ranks": BLOCKS, "chunks": BLOCKS**2} if straight and view == "pair" else LIMITS
    for what, limit in limits.items():
        if getattr(schedule, what) > limit:
            raise ValueError(f"{name}: expected at most {limit} {what} to show; got {getattr(schedule, what)}")
    if not schedule.steps:
        raise ValueError(f"{name}: {schedule.title}: expected at least one step; got none")
    fit = ["ring", "arcs"] + ["pair"] * (not schedule.switches and (straight or not _blocks(schedule)))
    if view not in fit:
        raise ValueError(f"{name}: view: expected {' or '.join(fit)} for {schedule.title}; got {view!r}")
    if not callable(count) and count not in COUNTS:
        raise ValueError(f"{name}: count: expected {', '.join(COUNTS)} or a function; got {count!r}")
    if chunk_names and len(chunk_names) != schedule.chunks:
        raise ValueError(f"{name}: chunk_names: expected {schedule.chunks}; got {len(chunk_names)}")


def _cells(schedule, view: str) -> dict:
    """Who holds how much of each sum at the start, and after each transfer."""
    states = [[[len(x) if x else 0 for x in row] for row in schedule.holds(t)] for t in range(schedule.steps + 1)]
    moves = [
        [
            [t.source, t.target, t.chunk, (-1 if t.reduce else 1) * states[step + 1][t.target][t.chunk]]
            for t in schedule[step]
        ]
        for step in range(schedule.steps)
    ]
    out = {
        "ranks": schedule.ranks,
        "chunks": schedule.chunks,
        "groups": schedule.group,
        "of": max(max(row) for row in states[-1][: schedule.ranks]),
        "moves": moves,
        "rows": ["".join(DIGITS[n] for n in row) for row in states[0]],
        "switches": _switches(schedule),
        "end": ["".join("1" if mine else "0" for mine in row) for row in schedule.end],
    }
    if _blocks(schedule):
        out |= {"block": True, "heads": ["before (number: to)", "now (color: from)"]}
    elif view == "pair":
        out["heads"] = ["before", "now"]
    return out | _ways(schedule)


def _ways(schedule) -> dict:
    """Colors by where chunks come from and names by where they go, if more than one comes from each rank."""
    start, end, out = schedule.start, schedule.end, {}
    if schedule.chunks > schedule.ranks and start.any(axis=1).all() and (start.sum(axis=0) == 1).all():
        out["tints"] = start.argmax(axis=0).tolist()
        if (end.sum(axis=0) == 1).all():
            out["names"] = [str(rank) for rank in end.argmax(axis=0)]
    return out


def _switches(schedule) -> list:
    """Each switch with its name, the first and last rank below it, and its level."""
    source, target = (column.tolist() for column in schedule.columns[1:3])
    talks = {frozenset(pair) for pair in zip(source, target, strict=True)}
    span = {rank: (rank, rank, 0) for rank in range(schedule.ranks)}
    todo = list(range(schedule.ranks, schedule.nodes))
    while todo:
        found = {}
        for node in todo:
            near = [span[other] for pair in talks if node in pair for other in pair - {node} if other in span]
            if near:
                level = min(n[2] for n in near)
                near = [n for n in near if n[2] == level]
                first, last = min(n[0] for n in near), max(n[1] for n in near)
                beside = [f for f in found.values() if f[2] == level + 1 and f[0] <= last and first <= f[1]]
                found[node] = (first, last, level + 1 + bool(beside))
        if not found:
            raise ValueError(
                f"{schedule.title}: {schedule.name(todo[0])} is connected to no rank; expected switches in use"
            )
        span |= found
        todo = [node for node in todo if node not in found]
    return [[schedule.name(node), *span[node]] for node in range(schedule.ranks, schedule.nodes)]


def _counted(schedule, count, routes) -> list[Fraction]:
    """The count after 0, 1, 2, ... steps, in fractions of V."""
    if count == "link" and routes is None:
        raise ValueError('count: "link" needs routes, as in gpuscale.schedules.collectives.routes')
    ways = {
        "sent": schedule.busiest,
        "moved": schedule.moved,
        "received": lambda t: max(schedule.received(None, t)[: schedule.ranks]),
        "link": lambda t: max(schedule.per_link(routes, t).values(), default=Fraction(0)),
    }
    return [(count if callable(count) else ways[count])(t) for t in range(schedule.steps + 1)]


def _meter(name, schedule, counted, formula, value, V, given, label) -> dict:
    """The bytes after each step, and what is a whole bar of them; the formula's value as their mark."""
    mark = counted[-1]
    out = {"values": counted, "text": [show(float(b), "B") if b else "0 B" for b in counted]}
    if formula is not None:
        known = {"N": schedule.ranks, "V": V} | dict(given)
        mark = exact_value(formula, **known) if value is None else _exact(value)
        if mark != counted[-1]:
            raise ValueError(
                f"{name}: the schedule counts {float(counted[-1]):.9g} B, or {counted[-1] / _exact(V)} V; "
                f"the formula says {float(mark):.9g} B, or {mark / _exact(V)} V ({formula})"
            )
        said = label or f"formula: {formula.lhs.html}"
        out |= {"mark": mark, "label": f"{said} = {show(float(mark), 'B')}"}
    unit = _exact(V) if mark * 2 >= V else _exact(V) / schedule.ranks
    return out | {"full": ceil(mark / unit) * unit}


def _sizes(schedule, V) -> Callable[[int], str]:
    """Units in bytes, as the reader sees them; in fractions of V ("V/4", "3V/8") if V is not given."""

    def said(units: int) -> str:
        part = Fraction(units, schedule.whole)
        if V:
            return show(float(_exact(V) * part), "B")
        top = "V" if part.numerator == 1 else f"{part.numerator}V"
        return top if part.denominator == 1 else f"{top}/{part.denominator}"

    return said


def _rows(schedule, spec, chunk_names, row):
    """The table without a script: what each step moves, and the count after it."""
    name = chunk_names.__getitem__ if chunk_names else str
    meter = spec.get("meter", {"name": "", "text": []})
    counted = meter["text"]
    columns = [("Step", False), (f"Who sends what to whom ({row} → {row}: chunk)", False)]
    columns += [(meter["name"], True)] * bool(counted)
    rows = [(0, spec["said"][0], *counted[:1])]
    for step in range(schedule.steps):
        moved = f"{spec['said'][step + 1]}<br><small>{words.listed(schedule, step, name)}</small>"
        rows.append((step + 1, moved, *counted[step + 1 : step + 2]))
    if "label" in meter:
        rows.append(("", meter["label"].rpartition(" = ")[0], show(meter["formula"], "B")))
    return columns, rows
