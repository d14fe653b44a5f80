"""The ring that a hand can slow down: an all-gather, a reduce-scatter and an all-reduce, hop by hop on one clock.

The page's script moves the chunks (``static/ring.js``). Its costs are the formulas given, printed as JavaScript, and
its twin in Python is ``schedules.timelines.sending``.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gpuscale.core.formula import Formula
from gpuscale.schedules.collectives.schedule import Schedule
from gpuscale.schedules.timelines.sending import Clocked, clocked
from gpuscale.symbols import N as ranks
from gpuscale.symbols import V as whole
from gpuscale.symbols import W as rate
from gpuscale.symbols import alpha as latency
from gpuscale.units import GB, kB, show, us
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

MOST = 12  # ranks that a ring shows with their chunks
LEAST_SHARE = 0.1  # of the bandwidth, to which a hand can slow a link

WORDS = {
    "rank": "rank {}",
    "of": "of {}",
    "hop": "step {} of {}",
    "allHops": "all {} steps",
    "perLink": "per link",
    "pull": ["pull a handle inward:", "its link slows down"],
    "bandwidthOf": "Bandwidth of the link from rank {} to rank {}",
    "leastSent": "Bytes sent over every link",
    "time": "{} of {} on {} ranks: <b>{}</b>. On average a link carries <b class=scaleup>{}</b>.",
    "slow": "The link from rank {} to rank {} runs at {}. The average link <b class=wait>waits</b> {} of the time.",
    "even": "No link waits for another. Latency takes {} of the time.",
    "sends": "sends chunk {}",
    "starts": "starts to send chunk {}",
    "idle": "waits for its next chunk",
    "allSent": "has sent all its chunks",
    "holds": "holds {} complete",
    "holdsParts": "holds partial sums",
    "waits": "its link waits",
    "heads": ["Link", "Bandwidth", "Bytes sent", "Busy"],
}


class Collective(NamedTuple):
    """One tab of the ring: its schedule for a number of ranks, its time, and the bytes that each link carries."""

    schedule: Callable[[int], Schedule]
    time: Formula
    bytes: Formula


def ring_stage(
    collectives: Mapping[str, Collective],
    *,
    name: str,
    title: str,
    caption: str,
    V: float,
    alpha: float,
    W: float,
    N: int = 8,
    slow: Mapping[int, float] | None = None,
    at: float = 0.5,
):
    """A ring of ranks to play with: collectives as tabs {"All-gather": Collective(...)}, sliders, links to slow down.

    It opens on the first collective with ``N`` ranks and ``V`` bytes, at the share ``at`` of its time. Each link has
    the bandwidth ``W``, times its share in ``slow``, by the rank that sends. A schedule's function gives a tab its key:
    all_gather, reduce_scatter, all_reduce. Returns a widget whose ``values`` hold the inputs: kind, N, V, alpha, W and
    share, one number for each link.
    Raises ValueError for another collective, for too many ranks, and for a link or a share that does not exist.
    """
    kinds = {each.schedule.__name__: label for label, each in collectives.items()}
    if not kinds or not set(kinds) <= {"all_gather", "reduce_scatter", "all_reduce"}:
        raise ValueError(f"{name}: expected ring schedules all_gather, reduce_scatter, all_reduce; got {list(kinds)}")
    if not 2 <= N <= MOST:
        raise ValueError(f"{name}: N: expected 2 to {MOST} ranks; got {N}")
    for link, share in (slow or {}).items():
        if not 0 <= link < N or not LEAST_SHARE <= share <= 1:
            raise ValueError(f"{name}: slow: expected ranks 0 to {N - 1} and shares {LEAST_SHARE} to 1; got {slow}")
    shares = [(slow or {}).get(r, 1) for r in range(MOST)]
    start = {"kind": next(iter(kinds)), "N": N, "V": V, "alpha": alpha, "W": W, "share": shares}
    run = clocked(next(iter(collectives.values())).schedule(N), V, alpha, [W * share for share in shares[:N]])
    return stage_figure(
        "ring",
        name=name,
        title=title,
        caption=caption,
        start=start,
        text=[f"{run.schedule.title}: {show(run.total, 's')}", *_rows(run)],
        sliders={
            ranks: Slider(2, MOST, N, "step:1", log=False, label="ranks"),
            whole: Slider(100 * kB, 10 * GB, V, label="array"),
            latency: Slider(0, 20 * us, alpha, "step:2e-7", log=False, label="latency per step"),
        },
        choices={"kind": ("Collective", kinds)},
        presets={"All links alike": {"share": [1] * MOST}, "One slow link": {"share": shares}} if slow else {},
        within={"share": (LEAST_SHARE, 1)},
        units={q.name: q.unit for q in (whole, latency, rate)},
        formulas=_functions(collectives),
        words=WORDS,
        data={each.schedule.__name__: each.bytes.lhs.html for each in collectives.values()},
        python="from gpuscale.schedules.collectives import ring\n"
        "from gpuscale.schedules.timelines.sending import clocked",
        at=at,
    )


def _functions(collectives: Mapping[str, Collective]) -> dict[str, Formula]:
    """Each formula by what it gives and its collective; ValueError for one with other inputs."""
    out = {}
    for label, each in collectives.items():
        for what, formula in (("time", each.time), ("bytes", each.bytes)):
            if stray := set(formula.inputs) - {ranks, whole, latency, rate}:
                extra = ", ".join(sorted(map(str, stray)))
                raise ValueError(f"{label}: {formula.title}: expected the inputs N, V, alpha, W; got {extra} as well")
            out[f"{what}_{each.schedule.__name__}"] = formula
    return out


def _rows(run: Clocked) -> list[str]:
    """Each link, its bandwidth, and the bytes that it carries."""
    carried = run.sent(run.total)
    links = [(r, (r + 1) % run.schedule.ranks) for r in range(run.schedule.ranks)]
    return [f"{a} → {b} | {show(run.W[a], 'B/s')} | {show(carried[a], 'B')}" for a, b in links]
