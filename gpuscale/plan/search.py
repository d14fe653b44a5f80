"""The planner: every choice of a request tried, the best kept, the others counted by what stands against them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuscale.plan import evaluation, hints, layouts
from gpuscale.plan.errors import Refusal
from gpuscale.plan.layouts import MESH, OPTIONS, Reason, Rows
from gpuscale.plan.outcome import Choice, Outcome, columns_of, outcome
from gpuscale.plan.requests import Request, request, some

_SEEN = ("memory", "weights", "gradients", "optimizer", "step_reached")


@dataclass(frozen=True)
class Plan:
    """The answer: ``rows`` are the best choices, one for each layout of degrees, the quickest first.

    ``tried`` choices were evaluated, ``fit`` of them fit; ``rejected`` says why the others cannot be; ``hint`` says
    where part of each node does better. It shows itself as a table; ``best`` is the first row, ``figure()`` draws the
    rows, ``record()`` is plain data.
    """

    ask: Request
    rows: tuple[Outcome, ...]
    rejected: tuple[Reason, ...]
    tried: int
    fit: int
    hint: str = ""

    @property
    def best(self) -> Outcome:
        """The quickest choice. Raises Refusal where nothing fits, saying what comes closest."""
        if not self.rows:
            raise Refusal(f"nothing fits: {self.why_nothing}")
        return self.rows[0]

    @property
    def why_nothing(self) -> str:
        """What stands against the choices that come closest."""
        full = [r.words for r in self.rejected if r.name.startswith("memory")]
        more = [hints.states_need(evaluation.model_inputs(self.ask), self.ask)]
        return "; ".join(said for said in full + more if said) or "no choice is left"

    def figure(self, rows: int = 8, **more):
        """The best choices as bars: what a step consists of. See ``gpuscale.plan.figure``."""
        from gpuscale.plan.figure import picture

        return picture(self, rows, **more)

    def record(self) -> dict:
        """As plain data, for JSON."""
        from gpuscale.plan.text import heading

        return {
            "request": heading(self.ask),
            "tried": self.tried,
            "fit": self.fit,
            "reserve": self.ask.reserve,
            "hint": self.hint,
            "rows": [row.record() for row in self.rows],
            "rejected": [vars(reason) for reason in self.rejected],
        }

    def __repr__(self) -> str:
        from gpuscale.plan.text import text

        return text(self)

    def _repr_html_(self) -> str:
        from gpuscale.plan.html import html

        return html(self)


def plan(model, cluster, gpus, batch, seq=8192, top: int = 10, **choices) -> Plan:
    """The best ways to train a model on a cluster.

    ``plan("llama3_70b", "h100_superpod", 4096, "4M")``: a batch in tokens ("4M" is 4 x 2**20), sequences of ``seq``
    tokens. Fix choices with tp, cp, ep, pp, dp, virtual, micro, zero, sp, recompute; ask for another ``recipe``
    (bytes of each parameter), ``schedule``, ``per_node`` (GPUs used of each node), ``shares`` of the peaks that are
    reached, ``waits`` (shares of TP, CP and EP that nothing hides), ``reserve`` (bytes of each GPU that stay free for
    contexts, buffers of NCCL and what is fragmented: 5% of its memory unless told, and 0 can be asked for).
    Raises Refusal, saying why, for what cannot be.
    """
    return solve(request(model, cluster, gpus, batch, seq, **choices), top)


def solve(ask: Request, top: int = 10) -> Plan:
    """The plan of a Request; where a node's GPUs are no power of two, part of each node is tried as well."""
    fewer = hints.part_of_nodes(ask)
    if fewer is None:
        return _solve(ask, top)
    try:
        other = [row.step[1] for row in _solve(fewer, 1).rows]
    except Refusal:
        other = []
    try:
        found = _solve(ask, top)
    except Refusal as error:
        if not other:
            raise
        raise Refusal(f"{error}; {hints.hint(ask, fewer, other[0], None)}") from None
    mine = found.rows[0].step[1] if found.rows else None
    if other and (mine is None or other[0] < mine):
        return replace(found, hint=hints.hint(ask, fewer, other[0], mine))
    return found


def _solve(ask: Request, top: int) -> Plan:
    rows, reasons = layouts.layouts(evaluation.model_inputs(ask), ask)
    best, counted, crowded = [], [0, 0], []
    for part, picks in layouts.parts(rows, layouts.options(ask), ask.pins):
        seen = _sweep(ask, part, picks)
        room = ask.cluster.hbm - ask.reserve
        good = seen["memory"] <= room
        counted = [counted[0] + good.size, counted[1] + int(good.sum())]
        best += _quickest(part, picks, np.where(good, seen["step_reached"], np.inf), top)
        crowded.append((part, picks, seen, good))
    if not counted[0]:
        raise Refusal(f"nothing can be laid out: {hints.why_no_layout(evaluation.model_inputs(ask), ask, reasons)}")
    chosen = _spread(best, top)
    reasons += _crowded(ask, crowded)
    kept = _outcomes(ask, [row for _, row in chosen])
    return Plan(ask, tuple(kept), tuple(reasons), *counted)


def _sweep(ask: Request, rows: Rows, picks: Rows) -> dict:
    out = {name: np.empty((len(rows), len(picks))) for name in _SEEN}
    for part, found in evaluation.costs(ask, rows, picks, _SEEN):
        for name in _SEEN:
            out[name][part] = found[name]
    return out


def _row(rows: Rows, picks: Rows, i: int, j: int) -> dict:
    return {name: int(rows[name][i]) for name in MESH} | {name: int(picks[name][j]) for name in OPTIONS}


def _quickest(rows: Rows, picks: Rows, step, top: int) -> list[tuple]:
    """The quickest choice of each layout of degrees: (time and what else orders them, row)."""
    at = np.argmin(step, axis=1)
    time = step[np.arange(len(rows)), at]
    found, seen = [], set()
    for i in np.lexsort((rows["n_virt"], rows["n_seq"], np.round(time, 9))):
        layout = tuple(int(rows[name][i]) for name in MESH[:5])
        if not np.isfinite(time[i]) or len(found) >= 4 * top:
            break
        if layout not in seen:
            seen.add(layout)
            found.append((float(time[i]), _row(rows, picks, i, at[i])))
    return found


def _spread(best: list[tuple], top: int) -> list[tuple]:
    return sorted(best, key=lambda one: (one[0], *one[1].values()))[:top]


def _outcomes(ask: Request, found: list[dict]) -> list[Outcome]:
    if not found:
        return []
    rows = Rows({name: np.array([row[name] for row in found]) for name in found[0]})
    numbers = evaluation.table(ask, rows)
    return [outcome(ask, row | {name: column[i] for name, column in numbers.items()}) for i, row in enumerate(found)]


def _crowded(ask: Request, swept: list[tuple]) -> list[Reason]:
    """Choices that do not fit: those whose states alone are too much, and the others; each with the closest."""
    room, out = ask.cluster.hbm - ask.reserve, []
    for name, wants_states in (("memory: states", True), ("memory: activations", False)):
        count, closest = 0, (np.inf, None)
        for rows, picks, seen, good in swept:
            states = seen["weights"] + seen["gradients"] + seen["optimizer"]
            size = np.where(~good & ((states > room) == wants_states), seen["memory"], np.inf)
            count += int(np.isfinite(size).sum())
            i, j = np.unravel_index(np.argmin(size), size.shape)
            if size[i, j] < closest[0]:
                closest = (size[i, j], _row(rows, picks, i, j))
        if count:
            nearest = _outcomes(ask, [closest[1]])[0]
            out.append(Reason(name, count, f"{nearest.too_much} ({nearest.choice})"))
    return out


def evaluate_choice(ask: Request, choice: Choice) -> Outcome:
    """What one choice costs, whether it fits or not. Raises Refusal where it cannot be laid out at all."""
    pins = {"dp": choice.dp, "tp": choice.tp, "cp": choice.cp, "ep": choice.ep, "pp": choice.pp}
    more = {"virtual": choice.virtual, "micro": choice.micro}
    fixed = replace(ask, pins=pins | more)
    used = choice.dp * choice.tp * choice.cp * choice.pp
    if used != ask.gpus:
        raise Refusal(f"{choice}: {some(used, 'GPU')}; {ask.gpus:,} are asked for")
    rows, reasons = layouts.layouts(evaluation.model_inputs(ask), fixed)
    if not len(rows):
        raise Refusal(f"{choice}: " + ("; ".join(r.words for r in reasons) or "cannot be laid out"))
    return _outcomes(ask, [columns_of(choice)])[0]
