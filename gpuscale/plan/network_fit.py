"""Constants of a network from sweeps of its collectives: fractions of the bandwidths, and latencies.

A call takes a latency and the time of its bytes, which the plan's own formulas count. Sizes count as ratios, each sweep
may be off as a whole, and both are robust: a row that is far off counts little, and so does a sweep unlike all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuscale import llm, symbols
from gpuscale.collectives import exchange
from gpuscale.core.evaluation import compiled, evaluate
from gpuscale.plan.calibration import FIXED, FIXED_SPREAD, KNOWN, PRIORS, Calibration, Check, Prior
from gpuscale.plan.clusters import Cluster, cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.network_logs import Sweep
from gpuscale.plan.typed import some

PASSES = {"all-gather": 1, "reduce-scatter": 1, "all-reduce": 2, "all-to-all": 1}  # over the bytes that are counted
NETWORK_PRIORS = {name: PRIORS[name] for name in ("eta_nvl", "eta_net", "gamma_net")} | {
    name: Prior(FIXED[name], FIXED_SPREAD[name]) for name in ("alpha_1", "alpha_2", "alpha_rank")
}
NOISE = 0.1  # by which a row differs from a latency and a rate: algorithms and protocols change with the size
APART = 0.1  # by which a sweep differs from another, for another collective or another algorithm
FAR = 0.7  # logarithm of the ratio to the fitted time at which a row cannot be explained
COARSE = (10, 3, 1)  # noise of one solution after another, so that the first one sees every row

_level = llm.level_time.rhs.xreplace(
    {
        symbols.W_nvl: llm.reached_bandwidth.rhs.xreplace({symbols.W_ref: symbols.W_nvl, symbols.eta: symbols.eta_nvl}),
        symbols.W_node: llm.many_nodes.rhs.xreplace({symbols.W_ref: symbols.W_node, symbols.eta: symbols.eta_net}),
    }
)


@dataclass(frozen=True)
class NetworkFit:
    """The constants of a network. ``spread`` is the standard deviation of each one's logarithm.

    ``unknown`` are the constants that the sweeps do not determine: their prior decides. ``sweeps`` were fitted and
    ``skipped`` are of collectives that a plan has no formula for. ``far`` are the rows that cannot be explained, in
    words and by position. ``errors`` has, for each row of each fitted sweep, the fitted over the measured time less 1.
    """

    constants: dict[str, float]
    spread: dict[str, float]
    unknown: tuple[str, ...]
    sweeps: tuple[Sweep, ...]
    skipped: tuple[Sweep, ...]
    errors: tuple[np.ndarray, ...]
    far: dict[int, str]
    checks: tuple[Check, ...]
    band: float
    cluster: str
    counts: frozenset[int]  # numbers of nodes beyond one
    whole_nodes: bool  # a log does not tell its nodes, and whole ones are assumed

    @property
    def calibration(self) -> Calibration:
        """The same as a Calibration of these constants alone; its runs are rows of sweeps."""
        source = "nccl-tests: " + ", ".join(dict.fromkeys(sweep.source for sweep in self.sweeps))
        rows = sum(len(sweep.rows) for sweep in self.sweeps)
        given = self.constants, self.spread, self.unknown, rows, tuple(self.far), self.checks
        return Calibration(*given, self.band, self.band, self.cluster, source)

    def summary(self) -> str:
        """In a few lines: how good it is, and what it does not know."""
        rows = sum(len(sweep.rows) for sweep in self.sweeps)
        lines = [f"{some(len(self.sweeps), 'sweep')}, {some(rows, 'row')}. Error of the fit, median and worst:"]
        for sweep, errors in zip(self.sweeps, map(np.abs, self.errors), strict=True):
            lines += [f"  {sweep.name}: {np.median(errors):.1%}, {errors.max():.1%} ({some(len(errors), 'row')})"]
        lines += ["Error of held-out rows, median and 90th percentile:"]
        lines += [f"  {one.left_out}: {one.median:.1%}, {one.ninth:.1%}" for one in self.checks]
        if self.far:
            lines += ["Too far from the fit to be explained: " + "; ".join(self.far.values()) + "."]
        if self.skipped:
            lines += ["Not fitted, for want of a formula: " + "; ".join(sweep.name for sweep in self.skipped) + "."]
        if self.whole_nodes:
            lines += ["Not every log tells its nodes; all GPUs of each node are assumed to take part."]
        if len(self.counts) == 1 and max(self.counts) > 2:
            lines += [f"Of several nodes only {max(self.counts)} were measured: alpha_2 is that of a call there."]
        if self.unknown:
            lines += [f"Not determined by these logs, so at the default: {', '.join(self.unknown)}."]
        return "\n".join(lines)


class NetworkProblem:
    """Rows of sweeps as arrays, and their times for any constants."""

    def __init__(self, sweeps: Sequence[Sweep], place: Cluster):
        self.sweeps = sweeps
        found = [_bytes(sweep, place) for sweep in sweeps]
        many = [len(sweep.rows) for sweep in sweeps]
        self.known = {name: np.repeat([one[name] for one in found], many) for name in found[0]}
        self.sweep = np.repeat(np.arange(len(sweeps)), many)
        self.size = np.array([row.size for sweep in sweeps for row in sweep.rows], float)
        self.seconds = np.array([row.time for sweep in sweeps for row in sweep.rows])
        self.across = sorted({one["M"] for one in found if one["M"] > 1})
        self.free = ("eta_nvl", "alpha_1") + (("eta_net", "gamma_net", "alpha_2") if self.across else ())
        self.free += ("alpha_rank",) if len(self.across) > 1 else ()  # on one number of nodes it is a part of alpha_2
        self.center = np.log([NETWORK_PRIORS[name].center for name in self.free])
        self.prior = np.array([NETWORK_PRIORS[name].spread for name in self.free])

    def values(self, logs: np.ndarray) -> dict[str, float]:
        """The constants as a solution has them: a fraction may exceed 1 where in-network reduction saves bytes."""
        return dict(zip(self.free, np.exp(logs[: len(self.free)]).tolist(), strict=True))

    def constants(self, logs: np.ndarray) -> dict[str, float]:
        """The constants; a fraction is at most 1."""
        found = self.values(logs)
        return {name: min(value, getattr(symbols, name).most or np.inf) for name, value in found.items()}

    def times(self, constants: dict[str, float], part) -> np.ndarray:
        """Seconds of the calls in a part."""
        x = {name: prior.center for name, prior in NETWORK_PRIORS.items()} | {"alpha_rank": 0.0} | constants
        x |= {name: column[part] for name, column in self.known.items()}
        function, names = compiled(_level)
        bytes_time = self.size[part] * function(*(x[name.name] for name in names))
        latency = np.where(
            x["M"] > 1, x["alpha_2"] + x["alpha_rank"] * np.maximum(x["N"] - 2 * x["G"], 0), x["alpha_1"]
        )
        return latency + bytes_time

    def off(self, constants: dict[str, float], part) -> np.ndarray:
        """Logarithms of fitted over measured times."""
        return np.log(self.times(constants, part) / self.seconds[part])

    def fit(self, part) -> np.ndarray:
        """The logarithms of the constants, and then of what each sweep is off."""
        logs = np.concatenate([self.center, np.zeros(len(self.sweeps))])
        for coarse in COARSE:
            logs = self._solve(part, logs, coarse).x
        return logs

    def spread(self, part, logs: np.ndarray) -> np.ndarray:
        """The standard deviations of the logarithms of the constants, from the curvature at the best fit."""
        jacobian = self._solve(part, logs, 1).jac
        return np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))[: len(self.free)]

    def _solve(self, part, start: np.ndarray, coarse: float):
        from scipy.optimize import least_squares  # takes a second to import

        n, of = len(self.free), self.sweep[part]

        def residuals(logs):
            rows = _robust((self.off(self.values(logs), part) + logs[n:][of]) / (coarse * NOISE))
            return np.concatenate([rows, _robust(logs[n:] / APART), (logs[:n] - self.center) / self.prior])

        return least_squares(residuals, start, method="lm")


def _robust(off: np.ndarray) -> np.ndarray:
    """Cauchy's loss as a residual."""
    return np.sign(off) * np.sqrt(np.log1p(off * off))


def fit_network(sweeps: Sequence[Sweep], place: Cluster | str) -> NetworkFit:
    """The NetworkFit of sweeps on a cluster, a Cluster or its key.

    Raises Refusal for sweeps that the cluster cannot have run, and without any sweep of an all-reduce, all-gather,
    reduce-scatter or all-to-all; ImportError without SciPy, which the extra ``calibrate`` installs.
    """
    place = cluster(place) if isinstance(place, str) else place
    used = tuple(sweep for sweep in sweeps if sweep.collective in PASSES)
    if not used:
        told = ", ".join(sorted({sweep.collective for sweep in sweeps})) or "no sweep"
        raise Refusal(f"{told}; expected at least one of {', '.join(PASSES)}")
    problem = NetworkProblem(used, place)
    every = np.arange(len(problem.seconds))
    logs = problem.fit(every)
    off, wide = problem.off(problem.constants(logs), every), problem.spread(every, logs)
    priors = {name: prior for name, prior in NETWORK_PRIORS.items() if name != "alpha_rank" or name in problem.free}
    constants = {name: prior.center for name, prior in priors.items()} | problem.constants(logs)
    spread = {name: prior.spread for name, prior in priors.items()} | dict(
        zip(problem.free, map(float, wide), strict=True)
    )
    checks, unseen = _left_out(problem, every)
    whole = logs[len(problem.free) :]  # of each sweep
    far = {int(i): _row_name(problem, i) for i in every[np.abs(off + whole[problem.sweep]) > FAR]}
    return NetworkFit(
        constants,
        spread,
        tuple(name for name in priors if spread[name] > KNOWN * priors[name].spread),
        used,
        tuple(sweep for sweep in sweeps if sweep.collective not in PASSES),
        tuple(np.expm1(off[problem.sweep == i]) for i in range(len(used))),
        far,
        checks,
        float(np.exp(np.quantile(unseen, 0.9))),
        place.key,
        frozenset(problem.across),
        any(sweep.nodes is None for sweep in used),
    )


def _bytes(sweep: Sweep, place: Cluster) -> dict[str, float]:
    """For each byte of a sweep's size: bytes into a GPU over NVLink, and into a node over the network; and the rates
    and numbers of the place."""
    nodes, each = _shape(sweep, place)
    used = place.with_node(each * sweep.groups)
    x = {"V": sweep.groups, "X": sweep.ranks, "Y": sweep.groups, "G": used.node}
    if sweep.collective == "all-to-all":  # each rank holds the size, and sends the same to every rank
        inside = evaluate(exchange.all_to_all_bytes, V=each**2 / sweep.ranks, N=each)
        across = evaluate(exchange.node_all_to_all, V=sweep.groups * sweep.ranks, M=nodes, W_node=1)
    else:
        inside, across = evaluate(llm.group_nvlink, **x), evaluate(llm.group_network, **x)
    passes = PASSES[sweep.collective]
    rates = {"W_nvl": used.W_nvl, "W_node": used.W_node, "M": nodes, "N": sweep.ranks, "G": used.node}
    return {"V_nvl": passes * inside, "V_net": passes * across} | rates


def _shape(sweep: Sweep, place: Cluster) -> tuple[int, int]:
    """The nodes of a sweep, and the ranks of a group on each. Raises Refusal if the cluster has no such nodes."""
    nodes = sweep.nodes or max(1, -(-sweep.ranks // place.node))
    told = f"{sweep.name}: {some(sweep.ranks, 'rank')} on {some(nodes, 'node')}"
    if sweep.ranks < 2 or sweep.ranks % nodes:
        raise Refusal(f"{told}; expected two or more, and as many on each node")
    each = sweep.ranks // nodes
    if each * sweep.groups > place.node:
        raise Refusal(f"{told}; {place.title} has {some(place.node, 'GPU')} per node: expected that many ranks at most")
    if nodes > 1 and place.alone:
        raise Refusal(f"{told}; {place.title} is a single node: expected a cluster with a network")
    return nodes, each


def _row_name(problem: NetworkProblem, i: int) -> str:
    sweep = problem.sweeps[problem.sweep[i]]
    return f"{problem.size[i]:,.0f} B in {problem.seconds[i] * 1e6:,.1f} µs, {sweep.name}"


def _left_out(problem: NetworkProblem, every: np.ndarray) -> tuple[tuple[Check, ...], np.ndarray]:
    """The errors of each sweep by the fit to all others; row by row where no other is within a node, or across."""
    checks, unseen = [], []
    across = problem.known["M"] > 1
    for i, sweep in enumerate(problem.sweeps):
        rows = every[problem.sweep == i]
        alone = len(set(problem.sweep[across == across[rows[0]]])) == 1
        groups = rows[:, None] if alone else [rows]
        found = [problem.off(problem.constants(problem.fit(np.setdiff1d(every, one))), one) for one in groups]
        unseen.append(np.abs(np.concatenate(found)))
        wrong = np.expm1(unseen[-1])
        name = ("one row of " if alone else "") + sweep.name
        checks.append(Check(name, len(rows), float(np.median(wrong)), float(np.quantile(wrong, 0.9))))
    return tuple(checks), np.concatenate(unseen)
