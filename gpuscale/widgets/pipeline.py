"""The stepper of a pipeline's timetable: slots are played in time, and idle time meets a formula's mark."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

from gpuscale.core.html import anchor, digesting, escape
from gpuscale.plotting.pipeline_words import amount, count, kinds, named, order, parts, peak, share, waits
from gpuscale.plotting.pipelines import gantt_figure
from gpuscale.schedules.counts import counted
from gpuscale.units import show
from gpuscale.widgets.collective import DIGITS, exact_value
from gpuscale.widgets.stepper_card import meter, stepper
from gpuscale.widgets.transfer_words import named_ranks

LIMITS = {"ranks": 16, "microbatches": 32}  # what a page still shows
STEPS = 240  # what a reader still plays
OVER = {"total": "of the total time", "ideal": "over busy time"}


def pipeline_stepper(
    runs,
    formula=None,
    *,
    name: str,
    title: str,
    caption: str,
    given=None,
    over: str = "total",
    at: int | None = None,
):
    """A pipeline's timetable played in equal steps: who computes what, who waits, and how many activations each
    holds (in microbatches of a rank's part of the model). A step is a time unit, or the part of one that all times
    are multiples of; the first sentence says which, because idle time is counted in whole units.

    ``runs`` is a timetable.PipelineRun, or several, which are played on one clock. The count is the idle time so
    far: ``over`` "total" as a fraction of the total time of all ranks, "ideal" over their busy time. ``formula`` is
    a Formula that gives its final value (for several runs: a sequence, with None where there is none); its inputs
    are ``given`` (a mapping, or one for each run), besides N_stages and N_MB, which are known. ``at`` is the step
    that it opens on. Raises ValueError, naming both, where the count on the schedule is not exactly the formula's
    value; for a schedule too large to show; for another ``over``.
    """
    runs = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    formulas = list(formula) if isinstance(formula, (list, tuple)) else [formula] * len(runs)
    givens = [given or {}] * len(runs) if not given or isinstance(given, Mapping) else list(given)
    _check(name, runs, formulas, givens, over)
    unit = _quantum(runs)
    steps = int(max(run.makespan for run in runs) / unit)
    if steps > STEPS:
        raise ValueError(f"{name}: expected at most {STEPS} steps to play; got {steps}, each {amount(unit)} long")
    for run, f, g in zip(runs, formulas, givens, strict=True):
        _meets(name, run, f, g, over)
    counts = [[count(run, over, min(t * unit, run.makespan)) for t in range(steps + 1)] for run in runs]
    drawn = [_drawn(run, unit, text, f) for run, text, f in zip(runs, counts, formulas, strict=True)]
    spec = {
        "title": title,
        "kind": "gantt",
        "unit": "step",
        "rate": 600,
        "steps": steps,
        "at": (2 * steps + 2) // 5 if at is None else at,
        "per": float(1 / unit),
        "runs": drawn,
        "least": min(b - a for run in drawn for _, a, b, *_ in run["slots"]),
        "said": _told(runs, unit, steps),
    }
    if len(runs) == 1:
        spec["meter"] = _meter(runs[0], counts[0], formulas[0], over, unit)
    last = "; ".join(f"{run.title}: {one['text'][-1]}" for run, one in zip(runs, drawn, strict=True))
    whole = "" if digesting() else gantt_figure(runs, name=f"step-{anchor(name)}", caption=title).svg()
    text = f"{title}: {counted(steps, 'step')}; {last}"
    return stepper(name, spec, caption, *_rows(runs), text, drawing=whole, painter="gantt")


def _check(name, runs, formulas, givens, over) -> None:
    if not runs or not all(run.slots for run in runs):
        raise ValueError(f"{name}: expected schedules with slots; got {runs}")
    for run in runs:
        for what, limit in LIMITS.items():
            if getattr(run, what) > limit:
                raise ValueError(f"{name}: expected at most {limit} {what} to show; got {getattr(run, what)}")
    if over not in OVER:
        raise ValueError(f"{name}: over: expected {' or '.join(OVER)}; got {over!r}")
    if not len(runs) == len(formulas) == len(givens):
        raise ValueError(f"{name}: expected a formula and inputs for each of {len(runs)} schedules")


def _quantum(runs) -> Fraction:
    """The longest time of which every start and end is a multiple."""
    times = {time for run in runs for slot in run.slots for time in (slot.start, slot.end)} - {0}
    below = lcm(*(time.denominator for time in times))
    return Fraction(gcd(*(int(time * below) for time in times)), below)


def _meets(name, run, formula, given, over) -> None:
    """Raises ValueError if the formula's value is not what is counted on the schedule."""
    counted = run.bubble_fraction if over == "total" else run.bubble_overhead
    known = {"N_stages": run.ranks, "N_MB": run.microbatches} | dict(given)
    value = counted if formula is None else exact_value(formula, **known)
    if value != counted:
        said = f"the schedule counts an idle time of {counted} {OVER[over]}; the formula says {value} ({formula})"
        raise ValueError(f"{name}: {run.title}: {said}")


def _drawn(run, unit, counts, formula) -> dict:
    """A run as the page draws it, in steps of the player."""
    part, end = parts(run), int(run.makespan / unit)
    slots = [
        [s.rank, int(s.start / unit), int(s.end / unit), s.kind, s.microbatch, part[s.rank, s.stage]] for s in run.slots
    ]
    text = [f"waited {count}" for count in counts]
    return {
        "title": run.title,
        "ranks": run.ranks,
        "end": end,
        "slots": slots,
        "waits": [[r, int(a / unit), int(b / unit)] for r in range(run.ranks) for a, b in waits(run, r)],
        "text": text if formula is None else [*text[:-1], f"{text[-1]}, as in the formula"],
        "held": ["".join(DIGITS[n] for n in _held(run, rank, unit, end)) for rank in range(run.ranks)],
        "peaks": [float(peak(run, rank)) for rank in range(run.ranks)],
        "part": run.ranks / run.stages,
    }


def _held(run, rank, unit, end) -> list[int]:
    """Activations that a rank holds during each step; none before the first."""
    out, now, changes = [0], 0, dict(run.held(rank))  # of several changes at one time the last one counts
    for t in range(end):
        now = changes.get(t * unit, now)
        out.append(now)
    return out


def _meter(run, counts, formula, over, unit) -> dict:
    """The bar of the idle time so far, with the formula's value as its mark."""
    values = [float(share(run, over, t * unit)) for t in range(len(counts))]
    full = next((f for f in (0.1, 0.25, 0.5, 1.0, 2.0, 4.0) if f >= 1.2 * values[-1]), 1.2 * values[-1])
    mark, label = None, ""
    if formula is not None:
        mark, label = values[-1], f"formula: {formula.lhs.html} = {show(values[-1], '%')}"
    title = f"Idle, {OVER[over].replace('the ', '')}"  # with its numbers one line at 320 px
    return meter(title, "wait", full, values, counts, mark, label)


def _told(runs, unit, steps) -> list[str]:
    """A sentence on each step; the first says how long a step is."""
    lengths = {Fraction(1): "a time unit", Fraction(1, 2): "half a time unit"}
    length = lengths.get(unit, f"{unit} of a time unit")
    whole = "; waiting is counted in whole units" * (unit != 1)
    out = [f"Nothing has run yet. Each step lasts {length}{whole}."]
    found = kinds(runs)
    for t in range(steps):
        said = []
        for run in runs:
            head = f"<b>{escape(run.title)}</b>: " * (len(runs) > 1)
            said.append(head + (_moment(run, t * unit, found) if t * unit < run.makespan else "done."))
        out.append(" ".join(said))
    return out


def _moment(run, time, found) -> str:
    """Who does what at a time: "Forward on ranks 0, 1; rank 2 waits."."""
    now = {s.rank: s.kind for s in run.slots if s.start <= time < s.end}
    groups = [(named(kind, found), [r for r, k in now.items() if k == kind]) for kind in found]
    said = [f"{what} on {named_ranks(ranks)}" for what, ranks in groups if ranks]
    idle = [r for r in range(run.ranks) if r not in now]
    said += [f"{named_ranks(idle)} wait{'s' * (len(idle) == 1)}"] if idle else []
    text = "; ".join(said)
    return text[0].upper() + text[1:] + "."


def _rows(runs):
    """The table where no script runs: what each rank does, in order."""
    columns = [("Rank", False), ("In order (– is idle)", False), ("Waits", True), ("Holds at most", True)]
    rows = []
    for run in runs:
        for rank in range(run.ranks):
            words = " ".join(word for _, _, word in order(run, rank))
            head = f"{escape(run.title)}, " * (len(runs) > 1)
            rows.append((f"{head}{rank}", f"<small>{words}</small>", amount(run.idle(rank)), amount(peak(run, rank))))
    return columns, rows
