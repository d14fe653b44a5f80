"""Readings of a pipeline's timetable: who is idle when, which parts a rank holds, and words for them."""

from __future__ import annotations

from fractions import Fraction

from gpuscale.plotting.drawing.axis import said
from gpuscale.units import show

KINDS = {"F": "forward", "B": "backward", "W": "backward for the weights"}


def waits(run, rank: int) -> list[tuple[Fraction, Fraction]]:
    """When a rank computes nothing, from the start to the end of the whole schedule: (from, to)."""
    out, at = [], Fraction(0)
    for slot in run.of(rank):
        if slot.start > at:
            out.append((at, slot.start))
        at = max(at, slot.end)
    return out + ([(at, run.makespan)] if at < run.makespan else [])


def parts(run) -> dict[tuple[int, int], int]:
    """For each (rank, stage): 0 for the first stage that the rank holds, 1 for the next, and so on."""
    held = {rank: sorted({s.stage for s in run.of(rank)}) for rank in range(run.ranks)}
    return {(rank, stage): i for rank, stages in held.items() for i, stage in enumerate(stages)}


def peak(run, rank: int) -> Fraction:
    """The most activations that a rank holds, in microbatches of its part of the model, a part in ``ranks``."""
    return Fraction(run.peak_activations(rank) * run.ranks, run.stages)


def kinds(runs) -> list[str]:
    """The kinds of slots that occur, forward first."""
    found = {slot.kind for run in runs for slot in run.slots}
    return [kind for kind in KINDS if kind in found]


def named(kind: str, all_kinds) -> str:
    """What a kind of slot does; where the backward is split, the other half is for the inputs alone."""
    return "backward for the inputs" if kind == "B" and "W" in all_kinds else KINDS[kind]


def amount(time) -> str:
    """A time in units of the chart, as short as possible."""
    return said(float(time), short=True)


def count(run) -> str:
    """How much of the schedule is idle: "24 of 132, 18.2%"."""
    idle = sum(run.idle(rank) for rank in range(run.ranks))
    return f"{amount(idle)} of {amount(run.ranks * run.makespan)}, {show(float(run.bubble_fraction), '%')}"


def _word(slot, part: int) -> str:
    """A slot in words: "F3", or "F3'" for a further part of the model."""
    return f"{slot.kind}{slot.microbatch}{chr(39) * part}"


def order(run, rank: int) -> list[tuple[Fraction, Fraction, str]]:
    """What a rank does, in the order of time: (from, to, word); "–" is idle."""
    part = parts(run)
    done = [(s.start, s.end, _word(s, part[s.rank, s.stage])) for s in run.of(rank)]
    return sorted(done + [(a, b, "–") for a, b in waits(run, rank)])
