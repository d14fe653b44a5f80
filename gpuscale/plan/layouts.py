"""The choices of a plan as arrays: all layouts of a run, and why some are excluded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd

import numpy as np

from gpuscale.plan.choice import COLUMNS, RECOMPUTE
from gpuscale.plan.factors import divisors
from gpuscale.plan.requests import Request
from gpuscale.plan.typed import some
from gpuscale.printed import conditions
from gpuscale.printed.calling import takes

NAMES = {quantity: name for name, quantity in COLUMNS.items()}
# What is tried if nothing is fixed: most sequences per microbatch, fewest tokens of a sequence per rank, virtual
# stages per rank.
MICRO, SHORT, STAGE_CUTS = 8, 1024, (1, 2, 3, 4, 5, 6, 8)


@dataclass(frozen=True)
class Constraint:
    """A condition on layouts: ``words`` say why one that breaks it is excluded, with quantities (and ``ranks`` of a
    stage, ``sequences`` of the batch, ``own`` ones of a replica) in braces, each with its noun after a colon where it
    may be one. ``kept`` is a function of such values, that of a formula where it has the condition. ``virtual`` marks
    what leaves the same layout without virtual stages untouched."""

    name: str
    words: str
    kept: Callable
    virtual: bool = False

    def broken(self, values: Mapping) -> np.ndarray:
        """The mask of the layouts that break it, from the values of the quantities."""
        return np.logical_not(self.kept(*(values[name] for name in takes(self.kept))))


class _Count(int):
    """A whole number in words: ``{X}`` is "1,024", and ``{own:sequence}`` is "1 sequence" or "8 sequences"."""

    def __format__(self, noun: str) -> str:
        return some(int(self), noun) if noun else f"{int(self):,}"


def _divides(a, b):
    return b % a == 0


def _nested(a, b):
    """Whether one of the two divides the other."""
    return _divides(np.minimum(a, b), np.maximum(a, b))


@dataclass(frozen=True)
class Reason:
    """Why some choices are excluded: how many, and the words for one of them."""

    name: str
    count: int
    words: str


OF_MESH = (
    Constraint("TP and heads", "{n_q} heads are not divisible by TP {Y}", lambda n_q, Y: _divides(Y, n_q)),
    Constraint(
        "TP and key heads", "TP {Y} and {n_kv} key heads: neither divides the other", conditions.whole_key_heads
    ),
    Constraint("TP and MLP width", "the MLP's width of {F} is not divisible by TP {Y}", lambda F, Y: _divides(Y, F)),
    Constraint("stages and layers", "{N_stages} stages are more than {L} layers", lambda N_stages, L: N_stages <= L),
    Constraint(
        "DP and sequences",
        "{sequences:sequence} cannot be split evenly over DP {X}",
        lambda X, sequences: _divides(X, sequences),
    ),
    Constraint(
        "CP and sequence",
        "{S} tokens do not split evenly over CP {n_cp} (two pieces each) and TP {Y}",
        lambda S, n_cp, Y: _divides(np.minimum(n_cp, 2) * n_cp * Y, S),
    ),
    Constraint(
        "groups and nodes",
        "groups of {Y} TP, then CP {n_cp}, then DP {X} ranks straddle nodes of {G}",
        lambda X, Y, n_cp, G: _nested(Y, G) & _nested(Y * n_cp, G) & _nested(X * Y * n_cp, G),
    ),
)
OF_EXPERTS = (
    Constraint("EP and experts", "{E} experts are not divisible by EP {Z}", lambda E, Z: _divides(Z, E)),
    Constraint(
        "EP and ranks",
        "a stage of {ranks:rank} cannot be split into groups of EP {Z}",
        lambda ranks, Z: _divides(Z, ranks),
    ),
)
OF_BATCH = (
    Constraint(
        "microbatch and batch",
        "a replica's {own:sequence} cannot be split into microbatches of {n_seq}",
        conditions.microbatches,
    ),
)
OF_ALL = (
    Constraint("EP and nodes", "EP {Z} straddles nodes of {G}", lambda Z, G: _nested(Z, G)),
    Constraint(
        "interleaving",
        "interleaving takes microbatches in groups of {N_stages}; a replica has {N_MB}",
        conditions.first_stage_held,
        virtual=True,
    ),
    Constraint(
        "virtual stages and layers",
        "{N_stages} stages of {n_virt} virtual stages are more than {L} layers",
        lambda n_virt, N_stages, L: n_virt * N_stages <= L,
        virtual=True,
    ),
)
UNCUT = Constraint("virtual stages and schedule", "only 1F1B has {n_virt} virtual stages", lambda n_virt: n_virt <= 1)
OF_DUALPIPE = (
    UNCUT,
    Constraint(
        "dualpipe and stages", "DualPipe needs an even number of stages, not {N_stages}", conditions.dualpipe_held
    ),
    Constraint(
        "microbatches and stages",
        "too few microbatches: {N_MB} for {N_stages} stages, which need two each",
        lambda N_MB, N_stages: N_MB >= 2 * N_stages,
    ),
)
OF_SCHEDULE = {"1f1b": OF_ALL, "dualpipe": (*OF_DUALPIPE, *OF_ALL)}
VIRTUAL = {one.name for one in OF_ALL if one.virtual}


class Rows(dict):
    """Columns of equal length; ``keep`` takes some rows, ``times`` pairs every row with every value."""

    def keep(self, mask) -> Rows:
        return Rows({name: column[mask] for name, column in self.items()})

    def times(self, name: str, values) -> Rows:
        values = np.asarray(values)
        rows = {key: np.repeat(column, len(values)) for key, column in self.items()}
        return Rows(rows | {name: np.tile(values, len(self))})

    def __len__(self) -> int:
        return len(next(iter(self.values()))) if self.keys() else 0


def _grid(ask: Request, **axes) -> Rows:
    """Every combination of values for some quantities, with the fixed ones kept."""
    kept = [[v for v in values if v == ask.pins.get(NAMES[quantity], v)] for quantity, values in axes.items()]
    columns = np.meshgrid(*(np.array(values, int) for values in kept), indexing="ij")
    return Rows(zip(axes, map(np.ravel, columns), strict=True))


def mesh(ask: Request) -> Rows:
    """Every factorization of the GPUs as X Y n_cp N_stages, with the fixed ones kept."""
    found = divisors(ask.gpus)
    short = [d for d in found if d == 1 or d * SHORT <= ask.seq] if "cp" not in ask.pins else found
    rows = _grid(ask, Y=found, n_cp=short, N_stages=found)
    rows["X"], left = np.divmod(ask.gpus, rows["Y"] * rows["n_cp"] * rows["N_stages"])
    return rows.keep((left == 0) & (rows["X"] == ask.pins.get("dp", rows["X"])))


def _facts(model: Mapping, ask: Request, rows: Rows) -> dict:
    """What constraints and their words see, by quantity or name."""
    known = {name: model[name] for name in ("n_q", "n_kv", "F", "L", "E")} | dict(rows)
    known |= {"B": ask.batch, "S": ask.seq, "G": min(ask.cluster.node, ask.gpus), "sequences": ask.sequences}
    known |= {"ranks": rows["X"] * rows["Y"] * rows["n_cp"], "own": ask.sequences // rows["X"]}
    return known | {"N_MB": known["own"] // rows.get("n_seq", 1)}


def sieve(rows: Rows, constraints: tuple[Constraint, ...], known: Mapping) -> tuple[Rows, list[Reason]]:
    """The rows that meet all constraints, and for each constraint those that break it first."""
    left, reasons = np.ones(len(rows), bool), []
    for one in constraints:
        out = left & one.broken(known)
        if out.any():
            first = int(np.argmax(out))
            shown = {name: _Count(v[first] if np.ndim(v) else v) for name, v in known.items()}
            reasons.append(Reason(one.name, int(out.sum()), one.words.format(**shown)))
        left &= ~out
    return rows.keep(left), reasons


def _cut_stages(rows: Rows) -> np.ndarray:
    """The mask of the rows whose virtual stages are cut out of a pipeline: one stage has none."""
    return (rows["n_virt"] == 1) | (rows["N_stages"] > 1)


def _of_schedule(ask: Request) -> tuple[Constraint, ...]:
    return OF_SCHEDULE.get(ask.schedule, (UNCUT, *OF_ALL))


def layouts(model: Mapping, ask: Request) -> tuple[Rows, list[Reason]]:
    """All possible layouts, and the reasons why the others are excluded."""
    few = [n for n in range(1, MICRO + 1) if ask.sequences % n == 0]
    cuts = [v for v in STAGE_CUTS if v == 1 or (v <= model["L"] and ask.schedule == "1f1b")]
    grown = (  # options added to each layout, and the constraints after that
        ("ep", "Z", divisors(gcd(model["E"], ask.gpus)), OF_EXPERTS),
        ("micro", "n_seq", few, OF_BATCH),
        ("virtual", "n_virt", cuts, _of_schedule(ask)),
    )
    rows = mesh(ask)
    rows, reasons = sieve(rows, OF_MESH, _facts(model, ask, rows))
    for name, quantity, values, constraints in grown:
        rows = rows.times(quantity, [ask.pins[name]] if name in ask.pins else values)
        if name == "virtual":
            rows = rows.keep(_cut_stages(rows))
        rows, why = sieve(rows, constraints, _facts(model, ask, rows))
        reasons += why if name == "virtual" or name in ask.pins else []
    return rows, reasons


def possible(model: Mapping, ask: Request, rows: Rows) -> np.ndarray:
    """The mask of the rows that ``layouts`` would list if their degrees were fixed; each column holds whole numbers."""
    gpus = np.prod([rows[name].astype(float) for name in ("X", "Y", "n_cp", "N_stages")], axis=0)
    out = (gpus == ask.gpus) & _cut_stages(rows)
    known = _facts(model, ask, rows.keep(out))
    constraints = (*OF_MESH, *OF_EXPERTS, *OF_BATCH, *_of_schedule(ask))
    out[out] = ~np.logical_or.reduce([one.broken(known) for one in constraints])
    return out


def options(ask: Request) -> Rows:
    """Every combination of ZeRO's stage, sequence parallelism and recomputation; that of attention alone, and even
    stages, only if fixed."""
    kinds = range(len(RECOMPUTE)) if "recompute" in ask.pins else range(len(RECOMPUTE) - 1)
    even = (ask.pins.get("even", 0),)
    return _grid(ask, n_zero=range(4), n_sp=range(2), n_recompute=kinds, n_even=even)


def parts(rows: Rows, picks: Rows, pins: Mapping) -> list[tuple[Rows, Rows]]:
    """Layouts with the options that change something for them.

    Without TP there is nothing for sequence parallelism to shard; with expert parallelism, TP needs it. Without
    replicas there is nothing for ZeRO to shard. Fixed options are kept.
    """
    copies, tp, ep = rows["X"] * rows["n_cp"] > 1, rows["Y"] > 1, rows["Z"] > 1
    sp, zero = picks["n_sp"] == 1, picks["n_zero"] > 0
    out = []
    for with_copies in (True, False):
        for mask, wanted in ((~tp, ~sp), (tp & ep, sp), (tp & ~ep, sp | ~sp)):
            here = rows.keep(mask & (copies == with_copies))
            chosen = wanted if "sp" not in pins else wanted | True
            chosen = chosen if with_copies or "zero" in pins else chosen & ~zero
            if len(here) and chosen.any():
                out.append((here, picks.keep(chosen)))
    return out
