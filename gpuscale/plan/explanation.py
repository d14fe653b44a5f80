"""Where the expected time of a plan goes, and what would change it most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpuscale.core.html import aligned
from gpuscale.plan import evaluation
from gpuscale.plan.batch import evaluate_choices, possible_rows
from gpuscale.plan.calibration import FIXED_SPREAD, Calibration
from gpuscale.plan.columns import SOUGHT, ExpectedTimes, fields_of
from gpuscale.plan.outcome import Outcome
from gpuscale.plan.programs import program
from gpuscale.plan.requests import Request
from gpuscale.printed.words import BUBBLES, MEANINGS, MOSTS, SOURCES
from gpuscale.sources import cited
from gpuscale.units import show

# The formula of llm that each expected time comes from; that of the bubble depends on the schedule
FORMULAS = {
    "matmuls": "microbatch_gpu_time",
    "attention": "microbatch_gpu_time",
    "experts": "grouped_time",
    "kernels": "microbatch_gpu_time",
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
MOST = 8  # lines of changes
COMPARED = 10  # plans that the first one is compared with, at least


@dataclass(frozen=True)
class StepTerm:
    """A part of the expected step: its column, ``seconds``, what it is, and the name and the source of its formula."""

    name: str
    seconds: float
    meaning: str
    formula: str
    source: str


@dataclass(frozen=True)
class Change:
    """Something else about a plan: in words, the expected step with it, and whether it fits."""

    words: str
    seconds: float
    fits: bool


@dataclass(frozen=True)
class Explanation:
    """``terms`` of the expected step, the largest first; ``changes`` by their effect; ``open_constants``: for constants
    that no run determines, by what fraction the step changes within their spread; ``depends``: in words, where the
    order of the plans hangs on one."""

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
        out += [*aligned(rows, {2, 3, 4}), "", "What would change it most:"]
        rows = [[f"{change.seconds / step - 1:+.0%}", _said(change)] for change in self.changes]
        out += [f"  {line}" for line in aligned(rows, {1})] if rows else ["  nothing by a percent or more"]
        if self.open_constants:
            out += ["", "Constants that no run of the calibration determines, and what their spread does to the step:"]
            rows = [[f"±{part:.0%}", f"{name}: {MEANINGS[name]}"] for name, part in self._widest()]
            out += [f"  {line}" for line in aligned(rows, {1})]
        return "\n".join([*out, *(["", *self.depends] if self.depends else [])])

    def record(self) -> dict:
        """As plain data, for JSON."""
        own = {"choice": vars(self.row.choice), "terms": [vars(term) for term in self.terms]}
        own |= {"changes": [vars(change) for change in self.changes], "open_constants": dict(self.open_constants)}
        return own | {"depends": list(self.depends)}

    def _widest(self) -> list[tuple[str, float]]:
        return sorted(self.open_constants.items(), key=lambda pair: -pair[1])


def _said(change: Change) -> str:
    return change.words if change.fits else f"{change.words}, which does not fit into memory"


def explain(ask: Request, row: Outcome, others: tuple[Outcome, ...] = ()) -> Explanation:
    """The Explanation of a plan; ``others`` are plans that it is compared with.

    >>> from gpuscale.plan import plan
    >>> found = plan("llama3_8b", "h100_superpod", 64, "512k", top=3).explain()
    >>> found.terms[0].name, found.terms[0].formula
    ('matmuls', 'microbatch_gpu_time')
    """
    step = row.step[2]
    spent = vars(row.costs.expected)
    meanings = fields_of(ExpectedTimes)
    terms = [
        StepTerm(name, spent[name], meanings[name], formula, SOURCES[formula])
        for name, formula in (FORMULAS | {"bubble": BUBBLES[ask.schedule]}).items()
        if spent[name] > 0
    ]
    changes = [one for one in (*_machines(ask, row), *_choices(ask, row)) if abs(one.seconds / step - 1) >= LEAST]
    unknown, depends = _unknown(ask, (row, *(other for other in others if other.choice != row.choice)))
    return Explanation(
        row,
        tuple(sorted(terms, key=lambda term: -term.seconds)),
        tuple(sorted(changes, key=lambda one: -abs(np.log(one.seconds / step)))[:MOST]),
        unknown,
        depends,
    )


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
    return [Change(words, float(_steps(ask, (row,), more)[0]), row.fits) for words, more in MACHINES.items()]


def _choices(ask: Request, row: Outcome) -> list[Change]:
    """The same layout with another microbatch, recomputation, ZeRO stage or number of virtual stages."""
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
    possible = {words: changed for words, other in tries.items() if (changed := replace(c, **other)) != c}
    found = evaluate_choices(ask, list(possible.values()))
    return [
        Change(words, float(found.step[2][i]), bool(found.fits[i]))
        for i, words in enumerate(possible)
        if found.possible[i]
    ]


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
