"""All-reduces on one clock: who is first at what size.

The lanes are the steps of schedules in lockstep (``schedules.timelines.lockstep``), the curves are formulas.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from gpuscale.core.formula import Formula
from gpuscale.schedules.collectives.schedule import Schedule
from gpuscale.schedules.timelines.lockstep import lockstep
from gpuscale.symbols import N as ranks
from gpuscale.symbols import V as whole
from gpuscale.symbols import alpha as latency
from gpuscale.units import GB, kB, show, us
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

COUNTS = (4, 8, 16, 32, 64)  # ranks that the race can have
DRAWN = 8  # ranks that have a row in each lane
SIZES = 1 * kB, 1 * GB
LONGEST, MARGIN = 16, 1.02  # the clock ends with the last runner, or at so many times the first finish

WORDS = {
    "lane": "{} steps, {} on the critical path",
    "one": "1 step, {} on the critical path",
    "out": "not in the race",
    "first": "first: {}",
    "race": "All-reduce of {} on {} ranks: <b>{}</b> is first, after <b>{}</b>.",
    "last": "{} is last and takes {} times as long.",
    "alone": "It runs alone.",
    "from": "It stays first from {} up.",
    "upto": "It stays first up to {}.",
    "between": "It stays first between {} and {}.",
    "always": "It is first at every size shown.",
    "size": "Size of the array",
    "axis": "size of the array",
    "time": "time",
    "step": "step {} of {}",
    "done": "finished",
    "knows": "The slowest rank knows {} of its result.",
    "now": "{} of {}",
    "leave": "{}: take it out of the race",
    "join": "{}: let it race",
    "algorithm": "Algorithm",
    "steps": "Steps",
    "sent": "On the critical path",
    "takes": "Time",
}


class Runner(NamedTuple):
    """One lane: what it is called, how it runs, and the time that a formula gives it.

    ``way`` makes its schedule for a number of ranks. For an in-network reduction, whose passes run at once, it is the
    formula of its passes and that of the bytes per rank: its lane has the latency of each pass and then the bytes.
    """

    name: str
    way: Callable[[int], Schedule] | tuple[Formula, Formula]
    time: Formula


def race_stage(
    runners: Mapping[str, Runner],
    *,
    name: str,
    title: str,
    caption: str,
    V: float,
    alpha: float,
    W: float,
    N: int = 8,
    out: Sequence[str] = (),
    networks: Mapping[str, Mapping[str, float]] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
):
    """A race of all-reduces {"ring": Runner("Ring", ring.all_reduce, ring_all_reduce)}, by the key of the lane.

    The race opens with ``N`` ranks and ``V`` bytes at the moment when the first
    one has finished, without the runners in ``out``. ``networks`` are presets with another alpha and W, and each of
    ``pairs`` is one in which only two compete. Returns a widget whose ``values`` hold N, V, alpha, W, and
    out, a flag for each runner.
    Raises ValueError for a number of ranks that it does not offer, and for a runner in ``out`` that does not run.
    """
    if N not in COUNTS:
        raise ValueError(f"{name}: N: expected one of {', '.join(map(str, COUNTS))}; got {N}")
    if unknown := sorted(set(out) - set(runners)):
        raise ValueError(f"{name}: out: expected some of {', '.join(runners)}; got {', '.join(unknown)}")
    given = dict(N=N, V=V, alpha=alpha, W=W)
    times = {key: float(each.time(**given)) for key, each in runners.items()}
    flags = [int(key in out) for key in runners]
    running = [t for key, t in times.items() if key not in out]
    total = MARGIN * min(max(running), LONGEST * min(running))
    return stage_figure(
        "race",
        name=name,
        title=title,
        caption=caption,
        start=given | {"out": flags},
        text=[f"{runners[key].name}: {show(t, 's')}" + " (not in the race)" * (key in out) for key, t in times.items()],
        sliders={
            whole: Slider(*SIZES, V, label="array"),
            ranks: Slider(COUNTS[0], COUNTS[-1], N, "power", label="ranks"),
            latency: Slider(0.2 * us, 20 * us, alpha, "step:2e-7", log=False, label="latency per step"),
        },
        presets={
            **{
                f"{runners[a].name} against {runners[b].name.lower()}": {"out": [int(k not in (a, b)) for k in runners]}
                for a, b in pairs
            },
            "All": {"out": [0] * len(runners)},
            **(networks or {}),
        },
        within={"out": (0, 1)},
        formulas={key: each.time for key, each in runners.items()},
        units={"V": "B", "alpha": "s", "W": "B/s"},
        words=WORDS,
        data={
            "runners": [{"key": key, "name": each.name, "call": each.time.name} for key, each in runners.items()],
            "sizes": list(SIZES),
            "longest": LONGEST,
            "margin": MARGIN,
            "runs": {n: [_runs(each.way, n) for each in runners.values()] for n in COUNTS},
        },
        at=min(running) / total,
        python="from gpuscale.collectives import " + ", ".join(sorted(each.time.name for each in runners.values())),
    )


def drawn(count: int) -> list[int]:
    """The ranks that have a row: all of eight, and of more those that a tree treats differently.

    >>> drawn(64)
    [0, 1, 2, 4, 8, 16, 32, 63]
    """
    if count <= DRAWN:
        return list(range(count))
    powers = [0] + [1 << e for e in range(count.bit_length() - 1)]
    return sorted(powers + [count - 1 - i for i in range(DRAWN - len(powers))])


def _runs(way: Callable[[int], Schedule] | tuple[Formula, Formula], count: int) -> list[list]:
    """The steps of a lane, equal ones together: [how many, latencies, part of V, whether only partial sums move,
    which rows are busy, what the rows and the slowest rank know after the last]."""
    rows = drawn(count)
    if isinstance(way, tuple):
        steps, sent = way
        return [[1, int(steps()), float(sent(V=1, N=count)), 0, (1 << len(rows)) - 1, [1.0] * len(rows), 1.0]]
    run = lockstep(way(count))
    busy = run.active[:, rows] @ (1 << np.arange(len(rows)))
    gain = np.diff(run.known, axis=0)
    like = [
        (round(run.sent[s], 12), int(run.partial[s]), int(busy[s]), tuple(gain[s].round(12)))
        for s in range(len(run.sent))
    ]
    out, done = [], 0
    for (sent, partial, mask, _), group in groupby(like):
        many = len(list(group))
        done += many
        known = run.known[done]
        out.append([many, 1, sent, partial, mask, known[rows].round(9).tolist(), round(float(known.min()), 9)])
    return out
