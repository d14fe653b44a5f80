"""The planner: it tries every choice of a request, keeps the best, and counts the others by the reason against them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuscale.plan import evaluation, hints, html, layouts, likeness, text
from gpuscale.plan.choice import MESH, OPTIONS, Choice
from gpuscale.plan.columns import SOUGHT, Costs
from gpuscale.plan.errors import Refusal
from gpuscale.plan.layouts import Reason, Rows
from gpuscale.plan.outcome import Outcome
from gpuscale.plan.requests import Request, request
from gpuscale.plan.typed import shown, some, whole


@dataclass(frozen=True)
class _Sweep:
    """Layouts times options, and arrays of their costs: bytes of a GPU, those of its states, seconds of a step."""

    rows: Rows
    picks: Rows
    memory: np.ndarray
    states: np.ndarray
    step: np.ndarray

    def choice(self, i: int, j: int) -> Choice:
        return Choice.of({n: self.rows[n][i] for n in MESH} | {n: self.picks[n][j] for n in OPTIONS})


@dataclass(frozen=True)
class Plan:
    """The answer: ``rows`` are the best choices, one for each layout of degrees, the fastest first.

    ``tried`` choices were evaluated, ``fit`` of them fit; ``rejected`` says why the others are excluded; ``hint`` says
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
        """The fastest choice. Raises Refusal if nothing fits, saying what comes closest."""
        if not self.rows:
            raise Refusal(f"nothing fits: {self.why_nothing}")
        return self.rows[0]

    @property
    def why_nothing(self) -> str:
        """The reasons against the choices that come closest."""
        full = [r.words for r in self.rejected if r.name.startswith("memory")]
        more = [hints.states_need(evaluation.model_inputs(self.ask), self.ask)]
        return "; ".join(said for said in full + more if said) or "no choice is left"

    def explain(self, row: int = 0):
        """Where the expected time of a row goes, and what would change it most. See ``gpuscale.plan.explanation``."""
        from gpuscale.plan.explanation import COMPARED, explain

        others = self.rows if len(self.rows) >= COMPARED else _solve(self.ask, COMPARED).rows
        return explain(self.ask, self.rows[row], others)

    def figure(self, rows: int = 8, **more):
        """The best choices as bars, by the parts of a step. See ``gpuscale.plan.figure``."""
        from gpuscale.plan.figure import picture

        return picture(self, rows, **more)

    def record(self) -> dict:
        """As plain data, for JSON."""
        return {
            "request": text.heading(self.ask),
            "remarks": text.remarks(self.ask),
            "tried": self.tried,
            "fit": self.fit,
            "reserve": self.ask.reserve,
            "hint": self.hint,
            "rows": [row.record() | {"tie": tie} for row, tie in zip(self.rows, text.tied(self.rows), strict=True)],
            "rejected": [vars(reason) for reason in self.rejected],
        }

    def __repr__(self) -> str:
        return text.text(self)

    def _repr_html_(self) -> str:
        return html.html(self)


def plan(model, cluster, gpus, batch, seq=8192, top: int = 10, **choices) -> Plan:
    """The best ways to train a model on a cluster.

    A model is a key, or the path of a Hugging Face configuration, as in ``plan("path/to/config.json", ...)``.
    ``plan("llama3_70b", "h100_superpod", 4096, "4M")``: a batch in tokens ("4M" is 4 x 2**20), sequences of ``seq``
    tokens. Fix choices with tp, cp, ep, pp, dp, virtual, micro, zero, sp, recompute, even; ask for another ``recipe``
    (bytes per parameter), ``schedule``, ``per_node`` (GPUs used per node), ``calibration`` (of the expected times),
    ``shares`` of the peaks that are achieved, ``waits`` (exposed fractions of TP, CP and EP), ``reserve`` (bytes of
    each GPU that stay free for contexts, buffers of NCCL and fragmentation: 5% of its memory by default, and 0 is
    allowed).
    Raises Refusal, with the reason, for an impossible request.
    """
    return solve(request(model, cluster, gpus, batch, seq, **choices), whole("top", top))


def solve(ask: Request, top: int = 10) -> Plan:
    """The plan of a Request; if a node's GPUs are not a power of two, part of each node is tried as well."""
    fewer = hints.part_of_nodes(ask)
    if fewer is None:
        return _solve(ask, top)
    try:
        other = [row.step[2] for row in _solve(fewer, 1).rows]
    except Refusal:
        other = []
    try:
        found = _solve(ask, top)
    except Refusal as error:
        if not other:
            raise
        raise Refusal(f"{hints.hint(ask, fewer, other[0], None)}; {error}") from None
    mine = found.rows[0].step[2] if found.rows else None
    if other and (mine is None or other[0] < mine):
        return replace(found, hint=hints.hint(ask, fewer, other[0], mine))
    return found


def _solve(ask: Request, top: int) -> Plan:
    rows, reasons = layouts.layouts(evaluation.model_inputs(ask), ask)
    swept = [_sweep(ask, *part) for part in layouts.parts(rows, layouts.options(ask), ask.pins)]
    if not swept:
        raise Refusal(f"no layout is possible: {hints.why_no_layout(evaluation.model_inputs(ask), ask, reasons)}")
    fast = sorted((found for one in swept for found in _fastest(one, ask.room, top)), key=lambda one: one[:2])
    kept = _outcomes(ask, [choice for *_, choice in fast[:top]])
    fit = sum(int((one.memory <= ask.room).sum()) for one in swept)
    return Plan(ask, tuple(kept), (*reasons, *_crowded(ask, swept)), sum(one.memory.size for one in swept), fit)


def _sweep(ask: Request, rows: Rows, picks: Rows) -> _Sweep:
    seen = np.empty((3, len(rows), len(picks)))
    for part, found in evaluation.costs(ask, rows, picks, SOUGHT):
        for column, block in zip(seen, found, strict=True):
            column[part] = block
    return _Sweep(rows, picks, *seen)


def _fastest(swept: _Sweep, room: float, top: int) -> list[tuple]:
    """The fastest choice of each layout of degrees that fits: its time to a nanosecond, the order of ties, the
    choice."""
    rows, step = swept.rows, np.where(swept.memory <= room, swept.step, np.inf)
    at = np.argmin(step, axis=1)
    time = np.round(step[np.arange(len(rows)), at], 9)
    found = {}
    for i in np.lexsort((rows["n_virt"], rows["n_seq"], time)):
        if not np.isfinite(time[i]) or len(found) >= 4 * top:
            break
        layout = tuple(int(rows[name][i]) for name in MESH[:5])
        if layout not in found:
            found[layout] = float(time[i]), layout, swept.choice(i, at[i])
    return list(found.values())


def _outcomes(ask: Request, choices: list[Choice]) -> list[Outcome]:
    if not choices:
        return []
    columns, rates = [choice.columns() for choice in choices], evaluation.rates(ask)
    rows = Rows({name: np.array([row[name] for row in columns]) for name in columns[0]})
    found = evaluation.table(ask, rows).record().values()
    new, known = likeness.unlike(ask, rows), ask.calibration
    out = []
    for i, choice in enumerate(choices):
        words = tuple(said for said, mask in new.items() if mask[i])
        band, tie = (float(likeness.widened(factor, bool(words))) for factor in (known.band, known.tie))
        costs = Costs.of([float(column[i]) for column in found])
        out.append(Outcome(choice, costs, ask.room, band, tie, rates, words))
    return out


def _crowded(ask: Request, swept: list[_Sweep]) -> list[Reason]:
    """Choices that do not fit: those whose states alone are too large, and the others; each with the closest."""
    out = []
    for name, wants_states in (("memory: states", True), ("memory: activations", False)):
        count, closest = 0, (np.inf, None)
        for one in swept:
            here = (one.memory > ask.room) & ((one.states > ask.room) == wants_states)
            size = np.where(here, one.memory, np.inf)
            count += int(here.sum())
            i, j = np.unravel_index(np.argmin(size), size.shape)
            if size[i, j] < closest[0]:
                closest = (size[i, j], one.choice(i, j))
        if count:
            nearest = _outcomes(ask, [closest[1]])[0]
            out.append(Reason(name, count, f"{nearest.too_much} ({nearest.choice})"))
    return out


def evaluate_choice(ask: Request, choice: Choice) -> Outcome:
    """The costs of one choice, whether it fits or not. Raises Refusal if it has no layout at all."""
    if not isinstance(choice, Choice):
        raise Refusal(f"{shown(choice)!r}: a plan takes a Choice, such as Choice(dp=8, tp=8)")
    axes = ("dp", "tp", "cp", "ep", "pp", "virtual", "micro")
    fixed = replace(ask, pins={name: getattr(choice, name) for name in axes})
    used = choice.dp * choice.tp * choice.cp * choice.pp
    if used != ask.gpus:
        raise Refusal(f"{choice}: {some(used, 'GPU')}; {ask.gpus:,} are requested")
    rows, reasons = layouts.layouts(evaluation.model_inputs(ask), fixed)
    if not len(rows):
        raise Refusal(f"{choice}: " + ("; ".join(r.words for r in reasons) or "has no layout"))
    return _outcomes(ask, [choice])[0]
