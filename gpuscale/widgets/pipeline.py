"""The pipeline that a hand can slow down: schedules as tabs, pass by pass, with what each rank stores.

Scripts of the page order and time the slots (``static/pipeline_orders.js``, ``pipeline_times.js``); their twins in
Python are ``schedules.pipelines`` and ``PipelineRun.slowed``. The published bubbles are the formulas given, printed as
JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import sympy

from gpuscale.core.formula import Formula
from gpuscale.plotting.pipeline_words import amount, order, peak
from gpuscale.schedules.pipelines import both_ways, orders
from gpuscale.schedules.pipelines.timetable import PipelineRun
from gpuscale.symbols import N_MB, N_stages, T_idle, f_bub, n_virt, r_bub, t_B, t_F, t_W
from gpuscale.units import show
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

RANKS = 2, 8  # even numbers, as DualPipe needs
MICROBATCHES = 1, 16
PACE = 1, 3  # how much slower a hand can make a rank
BACKWARD, WEIGHTS = (1, 4), (0.5, 3.5)  # in forward passes of a microbatch on a rank
KINDS = ("gpipe", "one_f_one_b", "interleaved", "zb_h1", "zb_v", "dualpipe")


class Scheduled(NamedTuple):
    """One tab of the pipeline: its schedule, and the formula of its bubble (idle time, or a ratio of it)."""

    schedule: Callable[..., PipelineRun]
    bubble: Formula


def pipeline_stage(
    schedules: Mapping[str, Scheduled],
    *,
    name: str,
    title: str,
    caption: str,
    opens: str = "",
    ranks: int = 4,
    microbatches: int = 8,
    backward: float = 2,
    weights: float = 1,
    pace: Mapping[int, float] | None = None,
    presets: Mapping[str, Mapping] | None = None,
    at: float = 1.0,
):
    """A pipeline to play with: schedules as tabs {"1F1B": Scheduled(...)}, ranks and microbatches, and handles.

    It opens on the tab ``opens`` (or the first), at the share ``at`` of its time. ``backward`` and ``weights`` are t_B
    and t_W in forward passes of a microbatch on a rank, which is the unit of all times. ``pace`` says how many times
    as long a rank takes: {2: 1.6}; ``presets`` name other inputs than equal ranks and a slow one. Interleaved and ZB-V
    run with two virtual stages per rank. Returns a widget whose ``values`` hold the inputs: kind, N_stages, N_MB, t_B,
    t_W, pace, and the microbatch that is followed, or -1.
    Raises ValueError for a schedule, a tab or numbers that it cannot show.
    """
    kinds = {each.schedule.__name__: label for label, each in schedules.items()}
    if not kinds or not set(kinds) <= set(KINDS):
        raise ValueError(f"{name}: expected schedules {', '.join(KINDS)}; got {list(kinds)}")
    opens = opens or next(iter(schedules))
    if opens not in schedules:
        raise ValueError(f"{name}: opens: expected one of {', '.join(schedules)}; got {opens!r}")
    _within(name, "ranks", ranks, RANKS, 2)
    _within(name, "microbatches", microbatches, MICROBATCHES, 1)
    if stray := [rank for rank in pace or {} if not 0 <= rank < ranks]:
        raise ValueError(f"{name}: pace: expected ranks 0 to {ranks - 1}; got {stray[0]}")
    paces = [(pace or {}).get(rank, 1) for rank in range(RANKS[1])]
    for what, values, bounds in (
        ("pace", paces, PACE),
        ("backward", [backward], BACKWARD),
        ("weights", [weights], WEIGHTS),
    ):
        for value in values:
            _within(name, what, value, bounds)
    kind = schedules[opens].schedule.__name__
    run = played(kind, ranks, microbatches, backward, weights, paces[:ranks])
    start = {"kind": kind, "N_stages": ranks, "N_MB": microbatches, "t_B": backward, "t_W": weights, "pace": paces}
    return stage_figure(
        "pipeline",
        name=name,
        title=title,
        caption=caption,
        start=start | {"follow": -1},
        text=_digest(run),
        sliders={
            N_stages: Slider(*RANKS, ranks, "step:2", log=False, label="stages"),
            N_MB: Slider(*MICROBATCHES, microbatches, "step:1", log=False, label="microbatches"),
        },
        choices={"kind": ("Schedule", kinds)} if len(kinds) > 1 else {},
        presets=presets or {"Equal ranks": {"pace": [1] * RANKS[1]}, "One slow rank": {"pace": _one_slow(ranks)}},
        within={"pace": PACE, "t_B": BACKWARD, "t_W": WEIGHTS, "follow": (-1, MICROBATCHES[1] - 1)},
        counts=["follow"],
        formulas={each.schedule.__name__: fraction(each.bubble) for each in schedules.values()},
        words=WORDS | {"formula": f_bub.html, "names": kinds},
        data=list(kinds),
        python="from gpuscale.schedules.pipelines.both_ways import dualpipe, zb_v\n"
        "from gpuscale.schedules.pipelines.orders import gpipe, interleaved, one_f_one_b, zb_h1",
        at=at,
    )


def _within(name: str, what: str, value: float, bounds: tuple[float, float], step: int = 0) -> None:
    lo, hi = bounds
    if not lo <= value <= hi or (step and value % step):
        of = {0: "a value from", 1: "a whole number from", 2: "an even number from"}[step]
        raise ValueError(f"{name}: {what}: expected {of} {lo} to {hi}; got {value}")


def _one_slow(ranks: int) -> list[float]:
    return [1.5 if rank == ranks // 2 else 1 for rank in range(RANKS[1])]


def played(
    kind: str, ranks: int, microbatches: int, backward: float, weights: float, pace: Sequence[float]
) -> PipelineRun:
    """The timetable that the figure shows, in forward passes of a microbatch on a rank."""
    b, w, half = Fraction(backward), Fraction(weights), Fraction(1, 2)
    run = {
        "gpipe": lambda p, m: orders.gpipe(p, m, 1, b),
        "one_f_one_b": lambda p, m: orders.one_f_one_b(p, m, 1, b),
        "interleaved": lambda p, m: orders.interleaved(p, m, 2, half, b / 2),
        "zb_h1": lambda p, m: orders.zb_h1(p, m, 1, b, w),
        "zb_v": lambda p, m: both_ways.zb_v(p, m, half, b / 2, w / 2),
        "dualpipe": lambda p, m: both_ways.dualpipe(p, m, 1, b, w),
    }[kind](ranks, microbatches)
    return run.slowed(pace)


def fraction(bubble: Formula):
    """Idle over total time from a formula of the bubble, as an expression; -1 where the formula does not hold.

    Raises ValueError for a formula of anything else.
    """
    ratio = {f_bub: bubble.rhs, r_bub: bubble.rhs / (1 + bubble.rhs)}
    ratio[T_idle] = bubble.rhs / (N_MB * (t_F + t_B) + bubble.rhs)
    if bubble.lhs not in ratio or set(bubble.inputs) - {N_stages, N_MB, n_virt, t_F, t_B, t_W}:
        raise ValueError(f"{bubble.title}: expected a bubble of stages, microbatches and times; got {bubble}")
    holds = sympy.And(*(need.relation for need in bubble.needs))
    return sympy.Piecewise((ratio[bubble.lhs], holds), (-1, True))


def _digest(run: PipelineRun) -> list[str]:
    """What a stored notebook keeps of the first state."""
    lines = [f"{run.title}: {amount(run.makespan)} time units, idle {show(float(run.bubble_fraction), '%')}"]
    for rank in range(run.ranks):
        done = " ".join(f"{word}@{amount(start)}" for start, _, word in order(run, rank))
        lines.append(f"rank {rank}: {done}; stores at most {amount(peak(run, rank))}")
    return lines


_T_F = "<i>t</i><sub>F</sub>"
WORDS = {
    "one": "one microbatch on one rank",
    "pass": {
        "F": ["forward, <i>t</i><sub>F</sub> = {}", "forward {}", "F {}", "F"],
        "whole": ["backward, <i>t</i><sub>B</sub> = {}", "backward {}", "B {}", "B"],
        "B": ["input gradients {}", "input grads {}", "inputs {}", "B {}", "B"],
        "W": [
            "weight gradients, <i>t</i><sub>W</sub> = {}",
            "weight gradients {}",
            "weight grads {}",
            "weights {}",
            "W {}",
            "W",
        ],
    },
    "kinds": {"F": "forward pass", "whole": "backward pass", "B": "input gradients", "W": "weight gradients"},
    "block": "{}, microbatch {}, rank {}",
    "told": "<b>{}, microbatch {}</b>rank {}, from {} to {}",
    "late": "<br>rank {} was the last to deliver its input",
    "rank": "rank {}",
    "times": "{}×",
    "stores": "stores {} microbatches",
    "store": "stores {} microbatch",
    "few": "stores {}",
    "critical": "critical path",
    "hint": "pull →",
    "idle": "idle {}",
    "equal": "equal ranks: {}",
    "t_B": "Backward pass",
    "t_W": "Weight gradients, a part of the backward pass",
    "pace": "Time of rank {}, compared with the others",
    "paced": "<b>rank {}</b>takes {} times as long",
    "keeps": "<b>rank {}</b>stores the activations of at most {} microbatches of its layers",
    "waited": "<b>rank {} is idle</b>for {}, from {} to {}",
    "time": "{} of {}",
    "meter": "Idle time of all ranks",
    "bubble": "{} of {}, {}",
    "uneven": "The formula holds for equal ranks only.",
    "without": "No formula holds for these times.",
    "equally": f"<b>{{}}</b>: the step takes {{}} {_T_F}, and the ranks are <b class=wait>idle</b> for {{}} of it.",
    "one_slow": "<b>Rank {} takes {} times as long</b>, and the step {} longer. "
    "Its passes make up {} of the critical path, and the ranks are <b class=wait>idle</b> for {} of the step.",
    "some_slow": "<b>Slow ranks make the step {} longer.</b> The ranks are <b class=wait>idle</b> for {} of it.",
    "single": "<b class=memory>{}</b> microbatch",
    "several": "<b class=memory>{}</b> microbatches",
    "alike": "Every rank stores the activations of up to {}.",
    "falling": "The first rank stores the activations of up to {}, the last one of {}.",
    "most": "Rank {} stores the most, the activations of up to {}.",
    "notes": {
        "interleaved": " Microbatches go in groups, with one microbatch per rank in each.",
        "zb_v": " For N ranks, ZB-V needs at least 2 N − 1 microbatches.",
        "dualpipe": " Each rank holds the weights of two stages.",
    },
    "heads": ["Rank and its passes in order (– is idle)", "Busy", "Idle", "Stores at most"],
    "calls": {
        "gpipe": "gpipe({}, {}, t_B={})",
        "one_f_one_b": "one_f_one_b({}, {}, t_B={})",
        "interleaved": "interleaved({}, {}, 2, t_F=0.5, t_B={})",
        "zb_h1": "zb_h1({}, {}, t_B={}, t_W={})",
        "zb_v": "zb_v({}, {}, t_F=0.5, t_B={}, t_W={})",
        "dualpipe": "dualpipe({}, {}, t_B={}, t_W={})",
    },
}
