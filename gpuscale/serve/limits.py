"""What keeps a layout out of the plan: memory, or a limit that no batch keeps; and the least that would be possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from gpuscale.plan.layouts import Reason
from gpuscale.plan.typed import some
from gpuscale.serve.deployment import EXPECTED, Deployment, layout_words
from gpuscale.serve.disaggregation import handed_over
from gpuscale.serve.evaluation import Grid
from gpuscale.serve.requests import ServingRequest
from gpuscale.units import show

Formats = tuple[str, str]  # of the weights, and of the cache
Grids = dict[str, dict[Formats, Grid]]  # of each mode


Times = dict[
    str, np.ndarray
]  # expected, by LIMITS: of layouts (rows) and batch sizes (columns); infinite if impossible
LIMITS = {  # options of a request, and what they limit
    "tpot": "time per output token",
    "ttft": "time to first token",
    "gap_p95": "95th percentile of the gap between tokens",
    "ttft_p95": "95th percentile of the time to first token",
}


def too_large(ask: ServingRequest, grids: dict[Formats, Grid]) -> str:
    """That the weights fit nowhere, with the layout and formats that need least."""
    formats, grid = min(grids.items(), key=lambda item: item[1].memory.min())
    least = float(grid.memory.min())
    return (
        f"{ask.model.title} in {formats[0]} with a cache in {formats[1]} needs {_memory(ask, least)} on "
        f"{some(ask.gpus, ask.gpu.short)}. Expected more GPUs, a GPU with more memory, or a smaller format"
    )


def too_tight(ask: ServingRequest, grids: Grids) -> str:
    """The limits that cannot be kept, with the least times that would be possible."""
    found = [times for formats in grids[ask.modes[0]] for times in _times(ask, grids, formats)]
    least = {name: min(times[name].min() for times in found) for name in LIMITS}
    on = some(ask.gpus, ask.gpu.short)
    if least["tpot"] == np.inf:
        return (
            f"disaggregated: every replica takes all of {on}, so none is left for prefill; "
            "expected more GPUs, a smaller replica, or colocated"
        )
    said = [
        f"{words}: {show(_limit(ask, name), 's')}; no layout is expected below {show(least[name], 's')}"
        for name, words in LIMITS.items()
        if least[name] > _limit(ask, name)
    ]
    if not said:
        others = [name for name in LIMITS if name != "tpot" and _limit(ask, name) < np.inf]
        kept = ", ".join(f"{LIMITS[name]} of {show(_limit(ask, name), 's')}" for name in others)
        within = min(np.min(times["tpot"], where=_kept(ask, times, others), initial=np.inf) for times in found)
        said.append(
            f"no layout keeps all limits: with a {kept}, the time per output token is expected to be at least "
            f"{show(within, 's')}"
        )
    return f"{'; '.join(said)} ({on})"


def excluded(ask: ServingRequest, grids: Grids, found: list[Deployment]) -> list[Reason]:
    """Why layouts are in no deployment: for each reason how many, counted in each pair of formats, and the one that
    comes closest."""
    taken = {(d.decode.weights, d.decode.cache, *_degrees(vars(d.decode), "tp pp dpa ep")) for d in found}
    missed = defaultdict(list)
    for formats, grid in grids[ask.modes[0]].items():
        need = grid.memory.min(axis=1)
        times = list(_times(ask, grids, formats))
        least = {name: np.min([one[name].min(axis=1) for one in times], axis=0) for name in LIMITS}
        for i in range(len(grid.rows)):
            own = _degrees({name: int(column[i]) for name, column in grid.rows.items()}, "Y N_stages n_dpa n_ep")
            if (*formats, *own) in taken:
                continue
            which = f"{layout_words(*own)}, {formats[0]} weights, {formats[1]} cache"
            above = [name for name in LIMITS if least[name][i] > _limit(ask, name)]
            if not grid.fits[i].any():
                missed["memory"].append((need[i], f"{which}: needs {_memory(ask, need[i])}"))
            elif least["tpot"][i] == np.inf:
                missed["prefill"].append((0, f"{which}: no GPUs are left for prefill"))
            elif above:
                time = least[above[0]][i]
                words = f"{which}: the {LIMITS[above[0]]} is expected to be at least {show(time, 's')}"
                missed[LIMITS[above[0]]].append((time, words))
            else:
                missed["all limits"].append((0, f"{which}: keeps each limit, but no batch keeps all"))
    return [Reason(why, len(cases), min(cases)[1]) for why, cases in missed.items()]


def _times(ask: ServingRequest, grids: Grids, formats: Formats) -> Iterator[Times]:
    """The Times of each mode in a pair of formats, at the lowest load."""
    if "colocated" in grids:
        grid = grids["colocated"][formats]
        first = grid.first[EXPECTED] + grid.queues[-1].mean
        tail = first + grid.queues[-1].more
        yield _where(grid.fits, tpot=grid.token[EXPECTED], ttft=first, gap_p95=grid.gap[EXPECTED], ttft_p95=tail)
    if "disaggregated" in grids:
        grid = grids["disaggregated"][formats]
        step = grid.step[EXPECTED]
        first = _least_lead(ask, grid, formats)[:, None] + step
        able = grid.fits & (first < np.inf)
        yield _where(able, tpot=grid.spoken[EXPECTED], ttft=first, gap_p95=step, ttft_p95=first)


def _where(possible: np.ndarray, **times: np.ndarray) -> Times:
    return {name: np.where(possible, time, np.inf) for name, time in times.items()}


def _limit(ask: ServingRequest, name: str) -> float:
    return getattr(ask, name)


def _kept(ask: ServingRequest, times: Times, names: list[str]) -> np.ndarray:
    """Where limits are kept."""
    return np.all([times[name] <= _limit(ask, name) for name in names], axis=0)


def _least_lead(ask: ServingRequest, grid: Grid, formats: Formats) -> np.ndarray:
    """For each layout that decodes, the shortest prefill and handover by the GPUs that it leaves; infinite if too few
    are left."""
    sizes = np.asarray(grid.rows["n_gpu"])
    sent = np.array([handover.time for handover in handed_over(ask, grid, formats)])
    lead = np.where(grid.fits[:, 0], grid.prefill[EXPECTED][:, 0] + sent, np.inf)
    order = np.argsort(sizes, kind="stable")
    shortest = np.concatenate([[np.inf], np.minimum.accumulate(lead[order])])
    return shortest[np.searchsorted(sizes[order], ask.gpus - sizes, side="right")]


def _memory(ask: ServingRequest, need: float) -> str:
    return (
        f"{show(need, 'B')} per GPU for one sequence of {ask.longest:,} tokens; {show(ask.room, 'B')} of "
        f"{show(ask.cluster.hbm, 'B')} are available"
    )


def _degrees(known: dict, names: str) -> tuple[int, ...]:
    return tuple(known[name] for name in names.split())
