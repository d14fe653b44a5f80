"""Where the expected time of a plan goes, and what would change it most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.core.html import aligned
from gpuscale.plan import evaluation
from gpuscale.plan.batch import evaluate_choices, possible_rows
from gpuscale.plan.calibration import FIXED_SPREAD, Calibration
from gpuscale.plan.choice import Choice
from gpuscale.plan.columns import SOUGHT, ExpectedTimes, fields_of
from gpuscale.plan.layouts import MICRO, STAGE_CUTS
from gpuscale.plan.outcome import Outcome
from gpuscale.plan.programs import program
from gpuscale.plan.requests import Request
from gpuscale.printed.words import BUBBLES, MEANINGS, MOSTS, SOURCES
from gpuscale.sources import cited
from gpuscale.units import show

# The formula of llm that counts each part of the expected step; that of the bubble depends on the schedule
FORMULAS = {
    "matmuls": "stage_flops",
    "attention": "microbatch_gpu_time",
    "experts": "grouped_time",
    "kernels": "kernels_forward",
    "loss": "microbatch_gpu_time",
    "sums": "microbatch_gpu_time",
    "tp": "expected_microbatch",
    "cp": "expected_microbatch",
    "ep": "expected_microbatch",
    "host": "host_wait",
    "pp": "expected_hop",
    "dp": "expected_dp",
    "update": "update_time",
}
# Parts whose size is that of a constant, and not of the source of the formula
CONSTANTS = {"loss": "b_loss", "sums": "b_acc"}
# Other machines to try: an input of the program, a factor, and what that would be
MACHINES = {
    "twice the network bandwidth": {"W_node": 2},
    "twice the NVLink bandwidth": {"W_nvl": 2},
    "twice the HBM bandwidth": {"W_hbm": 2},
    "twice the FLOP/s": {"C": 2},
    "a host that is twice as fast": {"t_host": 0.5, "t_cross": 0.5, "t_head": 0.5},
    "all gradients hidden that can be": {"g_dp": 0},
}
LEAST = 0.01  # of a step: a smaller change is not worth a line
MOST = 8  # lines of changes that make a step faster, and of those that make it slower
SHOWN = 0.05  # of a step: the effect of a constant that is printed
COMPARED = 10  # plans that the first one is compared with, at least


@dataclass(frozen=True)
class StepTerm:
    """A part of the expected step: its column, ``seconds``, what it is, the name of the formula that counts it, and the
    source: that of the formula, or the constant of the calibration that the part is proportional to."""

    name: str
    seconds: float
    meaning: str
    formula: str
    source: str


@dataclass(frozen=True)
class Change:
    """Something else about a plan: in words, the expected step with it, whether it fits, and the fraction by which it
    changes the step, negative if the step is faster. ``tried``: whether a search that fixes nothing tries it."""

    words: str
    seconds: float
    fits: bool
    change: float
    tried: bool = True


@dataclass(frozen=True)
class Explanation:
    """``terms`` of the expected step, the largest first; ``changes``: first those that make it faster, then those that
    make it slower, each by their effect; ``open_constants``: for constants that no run determines, by what fraction the
    step changes within their spread; ``depends``: in words, where the order of the plans hangs on one."""

    row: Outcome
    terms: tuple[StepTerm, ...]
    changes: tuple[Change, ...]
    open_constants: Mapping[str, float]
    depends: tuple[str, ...]

    def __str__(self) -> str:
        step = self.row.step[2]
        low, high = self.row.band
        out = [f"{self.row.choice}", f"Expected step: {show(step, 's')} ({show(low, 's')} to {show(high, 's')})", ""]
        rows = [["time", "share", "part", "formula", "source"]]
        for term in self.terms:
            share = show(term.seconds / step, "%", digits=2)
            rows.append([show(term.seconds, "s"), share, term.meaning, f"llm.{term.formula}", cited(term.source)])
        out += aligned(rows, {2, 3, 4})
        faster = [change for change in self.changes if change.change < 0]
        slower = [change for change in self.changes if change.change > 0]
        for head, changes in {"What would make the step faster:": faster, "What would make it slower:": slower}.items():
            rows = [[f"{change.change:+.0%}", _said(change)] for change in changes]
            out += ["", head, *([f"  {line}" for line in aligned(rows, {1})] or ["  nothing by a percent or more"])]
        if self.open_constants:
            out += ["", "Constants that no run of the calibration determines, and what their spread does to the step:"]
            widest = sorted(self.open_constants.items(), key=lambda pair: -pair[1])
            shown = [pair for pair in widest if pair[1] >= SHOWN] or widest[:1]
            rows = [[f"±{part:.0%}", f"{name}: {MEANINGS[name]}"] for name, part in shown]
            out += [f"  {line}" for line in aligned(rows, {1})]
        return "\n".join([*out, *(["", *self.depends] if self.depends else [])])

    def record(self) -> dict:
        """As plain data, for JSON; here all of ``open_constants``, of which the largest are printed."""
        own = {"choice": vars(self.row.choice), "terms": [vars(term) for term in self.terms]}
        own |= {"changes": [vars(change) for change in self.changes], "open_constants": dict(self.open_constants)}
        return own | {"depends": list(self.depends)}


def _said(change: Change) -> str:
    if not change.fits:
        return f"{change.words}, which does not fit into memory"
    return change.words if change.tried else f"{change.words}, which a search tries only if it is fixed"


def explain(ask: Request, row: Outcome, others: tuple[Outcome, ...] = ()) -> Explanation:
    """The Explanation of a plan; ``others`` are plans that it is compared with.

    >>> from gpuscale.plan import plan
    >>> found = plan("llama3_8b", "h100_superpod", 64, "512k", top=3).explain()
    >>> found.terms[0].name, found.terms[0].formula
    ('matmuls', 'stage_flops')
    """
    spent = vars(row.costs.expected)
    meanings = fields_of(ExpectedTimes)
    if row.choice.recompute == "none":
        meanings["matmuls"] = meanings["matmuls"].removesuffix(", recomputation included")
    terms = [
        StepTerm(name, spent[name], meanings[name], formula, _source(name, formula))
        for name, formula in (FORMULAS | {"bubble": BUBBLES[ask.schedule]}).items()
        if spent[name] > 0
    ]
    changes = [*_machines(ask, row), *_choices(ask, row)]
    faster = sorted((one for one in changes if one.change <= -LEAST), key=lambda one: one.change)
    slower = sorted((one for one in changes if one.change >= LEAST), key=lambda one: -one.change)
    unknown, depends = _unknown(ask, (row, *(other for other in others if other.choice != row.choice)))
    return Explanation(
        row,
        tuple(sorted(terms, key=lambda term: -term.seconds)),
        (*faster[:MOST], *slower[:MOST]),
        unknown,
        depends,
    )


def _source(name: str, formula: str) -> str:
    return f"constant {CONSTANTS[name]} of the calibration" if name in CONSTANTS else SOURCES[formula]


def _changed(row: Outcome, words: str, seconds: float, fits: bool) -> Change:
    return Change(words, float(seconds), bool(fits), float(seconds / row.step[2] - 1))


def _steps(ask: Request, rows: tuple[Outcome, ...], factors: Mapping[str, float]) -> np.ndarray:
    """Expected steps of plans where some inputs are larger by a factor; a fraction stays at most 1."""
    columns, _ = possible_rows(ask, [row.choice for row in rows])
    known = evaluation.known(ask, columns)
    for name, factor in factors.items():
        known[name] = min(known[name] * factor, MOSTS.get(name, np.inf))
    function, names = program(ask.schedule, "kv_rank" in ask.model, SOUGHT)
    with np.errstate(all="ignore"):
        found = dict(zip(SOUGHT, function(*(known[name] for name in names)), strict=True))
    return np.broadcast_to(found["step_expected"], len(rows))


def _machines(ask: Request, row: Outcome) -> list[Change]:
    return [_changed(row, words, _steps(ask, (row,), more)[0], row.fits) for words, more in MACHINES.items()]


def _choices(ask: Request, row: Outcome) -> list[Change]:
    """The same plan with another microbatch, recomputation, ZeRO stage or number of virtual stages, and with one degree
    halved or doubled at the expense of DP."""
    c, tries = row.choice, {}
    tries["twice the sequences per microbatch"] = {"micro": 2 * c.micro}
    if c.micro % 2 == 0:
        tries["half the sequences per microbatch"] = {"micro": c.micro // 2}
    tries["twice the virtual stages"] = {"virtual": 2 * c.virtual}
    tries["no virtual stages"] = {"virtual": 1}
    tries |= {
        f"{kind} recomputation".replace("none", "no"): {"recompute": kind} for kind in ("none", "selective", "full")
    }
    tries |= {f"ZeRO-{stage}" if stage else "no ZeRO": {"zero": stage} for stage in range(4)}
    tries["no sequence parallelism" if c.sp else "sequence parallelism"] = {"sp": not c.sp}
    tries |= _neighbors(c)
    possible = {words: changed for words, other in tries.items() if (changed := replace(c, **other)) != c}
    found = evaluate_choices(ask, list(possible.values()))
    return [
        replace(_changed(row, words, found.step[2][i], found.fits[i]), tried=_tried(other))
        for i, (words, other) in enumerate(possible.items())
        if found.possible[i]
    ]


def _tried(c: Choice) -> bool:
    return c.micro <= MICRO and c.virtual in STAGE_CUTS


def _neighbors(c: Choice) -> dict[str, dict]:
    """Half and twice the TP, the CP and the stages on as many GPUs, with twice and half the DP: the changed degrees, in
    words and by name. TP that begins comes with sequence parallelism."""
    out = {}
    for name in ("tp", "cp", "pp"):
        degree = getattr(c, name)
        begins = name == "tp" and degree == 1
        if c.dp % 2 == 0:
            words = f"{name.upper()} {2 * degree}{' + SP' if begins else ''}, DP {c.dp // 2}"
            out[words] = {name: 2 * degree, "dp": c.dp // 2} | ({"sp": True} if begins else {})
        if degree % 2 == 0:
            out[f"{name.upper()} {degree // 2}, DP {2 * c.dp}"] = {name: degree // 2, "dp": 2 * c.dp}
    return out


def _undetermined(known: Calibration) -> dict[str, float]:
    """The constants that no run determines, with their spread: those that a fit names, and the usual ones."""
    usual = {name: spread for name, spread in FIXED_SPREAD.items() if not known.spread.get(name)}
    return {name: known.spread[name] for name in known.unknown} | usual


def _unknown(ask: Request, rows: tuple[Outcome, ...]) -> tuple[dict[str, float], tuple[str, ...]]:
    """What the spread of undetermined constants does to the first plan, and where it makes a slower one faster."""
    base, wide, depends = np.array([row.step[2] for row in rows]), {}, []
    slower = np.flatnonzero(base >= base[0])  # the first plan is one of them
    for name, spread in _undetermined(ask.calibration).items():
        ends = {sign: _steps(ask, rows, {name: float(np.exp(sign * spread))}) for sign in (-1, 1)}
        wide[name] = float(max(abs(end[0] / base[0] - 1) for end in ends.values()))
        for sign, end in ends.items():
            best = slower[np.argmin(end[slower])]
            if best and end[0] / end[best] - 1 >= LEAST:
                more = "larger" if sign > 0 else "smaller"
                gain = show(end[0] / end[best] - 1, "%", digits=2)
                depends.append(f"The order hangs on {name}: if it is {more}, {rows[best].choice} is faster by {gain}.")
    return {name: part for name, part in wide.items() if part >= LEAST}, tuple(depends)
