"""The constants of a real training step, determined by measured runs.

Each constant is positive and has a prior: a center and a spread in logarithms, wide where little is known. A fit looks
for the constants whose expected times are nearest to the measured ones, as ratios. It is robust: a run that is far off
counts little, and afterwards it is left out and named.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from gpuscale import symbols
from gpuscale.plan import expected
from gpuscale.plan.choice import RECOMPUTE, Choice
from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.requests import Request, request, some

NOISE = 0.04  # by which the same run differs from one time to the next, as a fraction
FAR = 0.4  # logarithm of the ratio to the expected time at which a run cannot be explained
KNOWN = 0.7  # a constant is determined if the runs shrink the spread of its prior to less than this part
FIXED = {"g_attn": 2.5}  # a fused kernel computes the scores once more in the backward pass


@dataclass(frozen=True)
class Prior:
    """What is known of a constant before any run: a center, and the standard deviation of its logarithm."""

    center: float
    spread: float


PRIORS = {
    "eta": Prior(0.75, 0.1),
    "eta_attn": Prior(0.45, 0.3),
    "eta_1": Prior(0.65, 0.3),
    "eta_2": Prior(0.6, 0.5),
    "gamma_net": Prior(0.3, 1.0),
    "g_ker": Prior(4.0, 0.7),
    "b_loss": Prior(50.0, 0.7),
    "b_acc": Prior(12.0, 0.5),
    "b_upd": Prior(40.0, 0.7),
    "t_host": Prior(4e-3, 1.5),
    "t_cross": Prior(1e-3, 1.5),
    "t_head": Prior(5e-3, 1.5),
    "t_far": Prior(5e-4, 1.5),
    "t_fix": Prior(0.02, 1.0),
    "alpha_dp": Prior(5e-4, 1.5),
    "g_dp": Prior(0.8, 0.1),
}


@dataclass(frozen=True)
class Run:
    """A measured run: its model by key, its layout, and the ``seconds`` of a step."""

    model: str
    gpus: int
    batch: int
    seq: int
    seconds: float
    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    micro: int = 1
    virtual: int = 1
    zero: int = 0
    sp: int = 1
    recompute: str = "none"

    @property
    def choice(self) -> Choice:
        """Its layout and options."""
        given = {axis.name: getattr(self, axis.name) for axis in fields(Choice)}
        return Choice(**given | {"sp": bool(self.sp) and self.tp > 1})


_REQUIRED = ("model", "gpus", "batch", "seq", "seconds")
_KINDS = {"model": str, "recompute": str, "seconds": float}


def read_runs(path: str | Path) -> list[Run]:
    """The runs of a CSV file: a row for each, with the columns of Run by name; others are ignored.

    Raises Refusal naming the file, the line and the column.
    """
    try:
        file = open(path, encoding="utf-8", newline="")
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; expected a CSV file of runs") from None
    with file:
        table = csv.DictReader(file)
        if lacking := [name for name in _REQUIRED if name not in (table.fieldnames or ())]:
            raise Refusal(f"{path}: missing column {', '.join(lacking)}; expected at least {', '.join(_REQUIRED)}")
        return [_run(row, f"{path}, line {table.line_num}") for row in table]


def _run(row: dict, place: str) -> Run:
    given = {}
    for column in fields(Run):
        text = (row.get(column.name) or "").strip()
        if not text and column.name not in _REQUIRED:
            continue
        kind = _KINDS.get(column.name, int)
        try:
            given[column.name] = kind(text)
        except ValueError:
            what = {int: "a whole number", float: "a number", str: "a text"}[kind]
            raise Refusal(f"{place}, column {column.name}: {text!r}; expected {what}") from None
    run = Run(**given)
    if why := _wrong(run):
        raise Refusal(f"{place}: {why}")
    return run


def _wrong(run: Run) -> str:
    """What is wrong with a run, if anything."""
    counts = {name: getattr(run, name) for name in "gpus batch seq dp tp pp cp ep micro virtual".split()}
    if small := [name for name, value in counts.items() if value < 1]:
        return f"{small[0]} is {counts[small[0]]}; expected 1 or more"
    if not 0 < run.seconds < math.inf:
        return f"seconds is {run.seconds:g}; expected a positive number"
    if run.recompute not in RECOMPUTE:
        return f"recompute is {run.recompute!r}; expected one of {', '.join(RECOMPUTE)}"
    if (ranks := run.dp * run.tp * run.pp * run.cp) != run.gpus:
        return f"dp x tp x pp x cp is {ranks:,}; expected gpus, {run.gpus:,}"
    if run.batch % (run.seq * run.dp * run.micro):
        each = run.seq * run.dp * run.micro
        return f"a batch of {run.batch:,} tokens is not a whole number of microbatches of {each:,} on all replicas"
    return ""


@dataclass(frozen=True)
class Check:
    """The errors of runs that a fit has not seen: ``left_out`` names them."""

    left_out: str
    runs: int
    median: float
    ninth: float  # error that nine of ten runs stay below


@dataclass(frozen=True)
class Calibration:
    """Constants of a real step. ``spread`` is the standard deviation of each one's logarithm.

    ``unknown`` are the constants that the runs do not determine: their prior decides. ``far`` are the positions of
    the runs that cannot be explained. ``band`` is the factor by which nine of ten runs outside the fit differ at most.
    """

    constants: dict[str, float]
    spread: dict[str, float]
    unknown: tuple[str, ...]
    runs: int
    far: tuple[int, ...]
    checks: tuple[Check, ...]
    band: float
    cluster: str
    source: str = ""

    def text(self) -> str:
        """As TOML, which ``load_calibration`` reads."""
        lines = [f'cluster = "{self.cluster}"', f"source = {_quoted(self.source)}", f"runs = {self.runs}"]
        lines += [f"far = {list(self.far)}", f"unknown = {_listed(self.unknown)}", f"band = {self.band:.4g}"]
        for name, value in self.constants.items():
            quantity = getattr(symbols, name)
            lines += ["", f"[constants.{name}]", f"value = {value:.4g}", f'unit = "{quantity.unit}"']
            lines += [f"spread = {self.spread.get(name, 0):.3g}", f"meaning = {_quoted(quantity.meaning)}"]
        for check in self.checks:
            lines += ["", "[[checks]]", f"left_out = {_quoted(check.left_out)}", f"runs = {check.runs}"]
            lines += [f"median = {check.median:.3g}", f"ninth = {check.ninth:.3g}"]
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _listed(names: Iterable[str]) -> str:
    return "[" + ", ".join(map(_quoted, names)) + "]"


def summary(found: Calibration) -> str:
    """A calibration in a few lines: how good it is, and what it does not know."""
    lines = [f"{some(found.runs, 'run')}, {len(found.far):,} of them too far from any fit to count."]
    lines += ["Error of runs that a fit has not seen, median and of nine in ten:"]
    lines += [
        f"  without {one.left_out}: {one.median:.1%}, {one.ninth:.1%} ({some(one.runs, 'run')})" for one in found.checks
    ]
    lines += [f"Nine of ten such runs are within a factor of {found.band:.2f}."]
    if found.unknown:
        lines += ["The runs do not determine " + ", ".join(found.unknown) + "; their usual values are kept."]
    return "\n".join(lines)


def load_calibration(path: str | Path) -> Calibration:
    """A calibration from its TOML file. Raises Refusal naming the file and what is wrong."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
        parts = found["constants"]
        return Calibration(
            {name: float(part["value"]) for name, part in parts.items()},
            {name: float(part["spread"]) for name, part in parts.items()},
            tuple(found["unknown"]),
            int(found["runs"]),
            tuple(found["far"]),
            tuple(Check(**check) for check in found["checks"]),
            float(found["band"]),
            found["cluster"],
            found["source"],
        )
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; expected a calibration") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise Refusal(f"{path}: not a calibration ({error}); make one with python -m gpuscale.plan calibrate") from None


def shipped(name: str) -> Path:
    """The file of a calibration that comes with the library, such as "nanotron_h100". Raises Refusal naming all."""
    folder = Path(__file__).parent / "data"
    known = sorted(path.name.removesuffix(".calibration.toml") for path in folder.glob("*.calibration.toml"))
    if name not in known:
        raise Refusal(f"no calibration {name!r}; expected one of {', '.join(known)}")
    return folder / f"{name}.calibration.toml"


# Fit


class _Problem:
    """Runs as arrays, and their expected times for any constants."""

    def __init__(self, runs: Sequence[Run], place: Cluster, recipe: str):
        asked: dict[tuple, Request] = {}
        rows = []
        for run in runs:
            key = (run.model, run.gpus, run.batch, run.seq)
            if key not in asked:
                asked[key] = request(run.model, place, run.gpus, run.batch, run.seq, recipe)
            rows.append(expected.inputs_of(asked[key], run.choice))
        latent = {"kv_rank" in ask.model for ask in asked.values()}
        if len(latent) > 1:
            raise Refusal("calibrate: runs with latent attention and others; expected one kind of attention")
        self._function, self._names = expected.program("1f1b", latent.pop())
        self._known = {n: np.array([row[n] for row in rows], float) for n in self._names if n in rows[0]}
        self.fixed = FIXED | {"eta_hbm": place.shares[3].value}
        self.free = tuple(name for name in PRIORS if name in self._names)
        self._center = np.log([PRIORS[name].center for name in self.free])
        self._spread = np.array([PRIORS[name].spread for name in self.free])
        self.seconds = np.array([run.seconds for run in runs])

    def expected(self, logs: np.ndarray, part) -> np.ndarray:
        """Seconds of a step of the runs in a part."""
        given = self.fixed | dict(zip(self.free, self.constants(logs), strict=True))
        with np.errstate(all="ignore"):
            found = self._function(*(given[n] if n in given else self._known[n][part] for n in self._names))
        return found[expected.NAMES.index("step")]

    def constants(self, logs: np.ndarray) -> np.ndarray:
        """The constants; a fraction is at most 1."""
        return np.minimum(np.exp(logs), [getattr(symbols, name).most for name in self.free])

    def fit(self, part) -> np.ndarray:
        """The logarithms of the constants: first by all runs of the part, then without those far off."""
        logs = self._solve(part).x
        near = np.abs(np.log(self.seconds[part] / self.expected(logs, part))) < FAR
        return self._solve(part[near]).x if near.any() else logs

    def spread(self, part, logs: np.ndarray) -> np.ndarray:
        """The standard deviations of the logarithms, from the curvature at the best fit."""
        jacobian = self._solve(part, logs).jac
        return np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))

    def _solve(self, part, start=None):
        from scipy.optimize import least_squares  # takes a second to import

        measured = np.log(self.seconds[part])

        def residuals(logs):
            off = (np.log(self.expected(logs, part)) - measured) / NOISE
            robust = np.sign(off) * np.sqrt(np.log1p(off * off))  # Cauchy's loss: a run far off counts little
            return np.concatenate([robust, (logs - self._center) / self._spread])

        return least_squares(residuals, self._center if start is None else start, method="lm", ftol=1e-4)


def calibrate(
    runs: Sequence[Run] | str | Path, place: str | Cluster, recipe: str = "bf16_fp32_grads", source: str = ""
) -> Calibration:
    """The Calibration of measured runs on a cluster; ``runs`` may be the path of a CSV file (see read_runs).

    Raises Refusal for fewer than four runs, and ImportError without SciPy, which the extra ``calibrate`` installs.
    """
    if isinstance(runs, str | Path):
        runs = read_runs(runs)
    if len(runs) < 4:
        raise Refusal(f"calibrate: {some(len(runs), 'run')}; expected four or more")
    place = cluster(place) if isinstance(place, str) else place
    problem = _Problem(runs, place, recipe)
    every = np.arange(len(runs))
    logs = problem.fit(every)
    off = np.abs(np.log(problem.seconds / problem.expected(logs, every)))
    near = every[off < FAR]
    spread = problem.spread(near, logs)
    checks, errors = _left_out(problem, runs, near)
    found = dict(zip(problem.free, problem.constants(logs), strict=True))
    wide = dict(zip(problem.free, spread, strict=True))
    return Calibration(
        {name: float(value) for name, value in (found | problem.fixed).items()},
        {name: float(value) for name, value in wide.items()},
        tuple(name for name in problem.free if wide[name] > KNOWN * PRIORS[name].spread),
        len(runs),
        tuple(int(i) for i in every[off >= FAR]),
        checks,
        float(np.exp(np.quantile(errors, 0.9))),
        place.key,
        source,
    )


def _left_out(problem: _Problem, runs: Sequence[Run], near: np.ndarray) -> tuple[tuple[Check, ...], np.ndarray]:
    """The errors of each group of runs, by the fit to all others: groups of a model, and of a number of GPUs."""
    checks, errors = [], []
    for what in ("model", "gpus"):
        kinds = {getattr(runs[i], what) for i in near}
        groups = sorted(kinds) if len(kinds) > 1 else []
        for kind in groups:
            inside = np.array([getattr(runs[i], what) == kind for i in near])
            logs = problem.fit(near[~inside])
            part = near[inside]
            off = np.abs(np.log(problem.expected(logs, part) / problem.seconds[part]))
            errors.append(off)
            named = f"{kind:,} GPUs" if what == "gpus" else str(kind)
            checks.append(
                Check(named, len(part), float(np.median(np.expm1(off))), float(np.quantile(np.expm1(off), 0.9)))
            )
    if not errors:  # one model on one number of GPUs: leave out one run at a time
        for i in near:
            logs = problem.fit(near[near != i])
            errors.append(np.abs(np.log(problem.expected(logs, np.array([i])) / problem.seconds[i])))
        off = np.concatenate(errors)
        checks.append(
            Check("one run", len(off), float(np.median(np.expm1(off))), float(np.quantile(np.expm1(off), 0.9)))
        )
    return tuple(checks), np.concatenate(errors)
