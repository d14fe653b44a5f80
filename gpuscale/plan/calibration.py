"""Calibrations: the constants of a real training step that measured runs determine, as a file and in words."""

from __future__ import annotations

import textwrap
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpuscale import specs
from gpuscale.plan.clusters import Cluster
from gpuscale.plan.efficiencies import measured_share
from gpuscale.plan.errors import Refusal
from gpuscale.plan.likeness import USUAL_BAND, Kinds
from gpuscale.plan.typed import number, shown, some, whole
from gpuscale.printed import calling, formulas
from gpuscale.printed.words import MOSTS
from gpuscale.specs.writing import quoted


@dataclass(frozen=True)
class Prior:
    """What is known of a constant before any run: a center, and the standard deviation of its logarithm."""

    center: float
    spread: float


PRIORS = {
    "eta_mat": Prior(0.65, 0.1),
    "eta_attn": Prior(0.45, 0.3),
    "eta_nvl": Prior(0.7, 0.2),
    "eta_net": Prior(0.65, 0.3),
    "gamma_net": Prior(0.094, 1.0),  # half of what ten nodes of H100 lack of their NICs' bandwidth, in logarithms
    "g_ker": Prior(2.5, 0.5),
    "b_loss": Prior(20.0, 0.7),
    "b_acc": Prior(10.0, 0.5),
    "b_upd": Prior(35.0, 0.5),
    "t_host": Prior(1e-3, 1.5),
    "t_cross": Prior(1e-4, 2.0),
    "t_head": Prior(1e-3, 1.5),
    "t_far": Prior(1e-4, 2.0),
    "t_fix": Prior(0.02, 1.0),
    "alpha_dp": Prior(4e-6, 1.5),  # twice alpha_rank: gradients are scattered, then gathered
    "g_dp": Prior(0.5, 0.3),
}
KNOWN = 0.7  # a constant is determined if the runs shrink the spread of its prior to less than this part
# Constants that runs hardly show, at their defaults
FIXED = {
    "g_attn": 2.5,  # a fused kernel computes the scores once more in the backward pass
    "g_grp": 1.4,
    "alpha_1": 2e-5,
    "alpha_2": 4e-5,
    "alpha_rank": 2e-6,
    "n_edge": 1.0,
    "V_bucket": 26_214_400,  # what PyTorch puts into a bucket of gradients: 25 MiB
}
LARGE_BUCKET = 1e9  # bytes, as in frameworks for many GPUs: by default DeepSpeed reduces 5e8 gradients at a time
# How well they are known, by judgment: the standard deviations of their logarithms
FIXED_SPREAD = {
    "g_attn": 0.1,
    "g_grp": 0.2,
    "alpha_1": 1.0,
    "alpha_2": 1.0,
    "alpha_rank": 1.5,
    "n_edge": 0.7,
    "V_bucket": 0.7,
}
# What a framework stores on top of states and activations: nothing, unless runs say so; logits in fp32
DEFAULTS = {"n_copy": 0.0, "n_wide": 0.0, "b_bucket": 0.0, "b_logit": 4.0, "n_ahead": 0.0, "p_calm": 1.0, "V_fix": 0.0}
MOST_NAMED = 8  # rows
WIDTH = 76  # characters of a summary, as wide as a cell of the book
LONG_PATH = 200  # characters


@dataclass(frozen=True)
class Check:
    """Errors of runs that a fit has not seen: ``left_out`` names them, ``runs`` is their number.

    ``median`` and ``ninth`` are errors as fractions of what was measured: half of the runs, and nine of ten, stay
    below. Of times, ``rank`` and ``least_rank`` are rank correlations of expected and measured ones within a group of
    runs, the mean and the least; ``cost`` and ``worst_cost`` what the choice by expected times costs there, the mean
    and the most. Without a group of five or more runs they are None.
    """

    left_out: str
    runs: int
    median: float
    ninth: float
    rank: float | None = None
    least_rank: float | None = None
    cost: float | None = None
    worst_cost: float | None = None


@dataclass(frozen=True)
class Calibration:
    """Constants of a real step. ``spread`` is the standard deviation of each one's logarithm.

    ``unknown`` are the constants that the runs do not determine: their prior decides. ``far`` are the positions of
    the runs that cannot be explained. ``band`` is the factor by which nine of ten runs outside the fit differ at most.
    Two plans are a tie if their expected times differ by less than the factor ``tie``: runs outside the fit that were
    farther apart had the expected order in nine of ten pairs. ``kinds`` is what the runs were, None without runs.
    ``memory_checks`` are of memory, where the runs state it.
    """

    constants: dict[str, float]
    spread: dict[str, float]
    unknown: tuple[str, ...]
    runs: int
    far: tuple[int, ...]
    checks: tuple[Check, ...]
    band: float
    tie: float
    cluster: str
    source: str = ""
    kinds: Kinds | None = None
    memory_checks: tuple[Check, ...] = ()

    def text(self) -> str:
        """As TOML, which ``load_calibration`` reads."""
        from gpuscale import symbols  # imports sympy, which a refused request does not need

        unknown = ", ".join(map(quoted, self.unknown))
        lines = [f"cluster = {quoted(self.cluster)}", f"source = {quoted(self.source)}", f"runs = {self.runs}"]
        lines += [f"far = {list(self.far)}", f"unknown = [{unknown}]"]
        lines += [f"band = {self.band:.4g}", f"tie = {self.tie:.4g}"]
        if self.kinds is not None:
            lines += ["", "[kinds]", *self.kinds.lines()]
        for name, value in self.constants.items():
            quantity = getattr(symbols, name)
            lines += ["", f"[constants.{name}]", f"value = {value:.4g}", f"unit = {quoted(quantity.unit)}"]
            lines += [f"spread = {self.spread.get(name, 0):.3g}", f"meaning = {quoted(quantity.meaning)}"]
        for kind, checks in {"checks": self.checks, "memory_checks": self.memory_checks}.items():
            for check in checks:
                lines += ["", f"[[{kind}]]", f"left_out = {quoted(check.left_out)}", f"runs = {check.runs}"]
                lines += [f"median = {check.median:.3g}", f"ninth = {check.ninth:.3g}"]
                order = {name: getattr(check, name) for name in ("rank", "least_rank", "cost", "worst_cost")}
                lines += [f"{name} = {value:.3g}" for name, value in order.items() if value is not None]
        return "\n".join(lines) + "\n"


def summary(found: Calibration) -> str:
    """A calibration in a few lines: how good it is, and what it does not know."""
    lines = [f"{some(found.runs, 'run')}, {len(found.far):,} excluded because no constants fit{_rows(found.far)}."]
    lines += ["Error of held-out runs, median and 90th percentile:"]
    lines += [f"  {one.left_out}: {one.median:.1%}, {one.ninth:.1%} ({some(one.runs, 'run')})" for one in found.checks]
    lines += [f"Nine of ten held-out runs are within a factor of {found.band:.2f}."]
    lines += [f"Two plans closer than a factor of {found.tie:.2f} are a tie."]
    lines += [
        f"Order, {one.left_out} held out: rank correlation {one.rank:.2f}, at least {one.least_rank:.2f}; the run "
        f"that is expected to be the fastest costs {one.cost:.1%} on average, at most {one.worst_cost:.1%}."
        for one in found.checks
        if one.left_out.startswith("each") and one.rank is not None
    ]
    if found.memory_checks:
        lines += ["Error of the memory of held-out runs, median and 90th percentile:"]
        lines += [f"  {one.left_out}: {one.median:.1%}, {one.ninth:.1%}" for one in found.memory_checks]
    if found.unknown:
        lines += ["Not determined by these runs, so near their defaults: " + ", ".join(found.unknown) + "."]
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines)


def _rows(far: tuple[int, ...]) -> str:
    """The first of the runs that cannot be explained, as rows of the table."""
    named = ", ".join(f"{i + 1:,}" for i in far[:MOST_NAMED])
    more = f" and {len(far) - MOST_NAMED:,} more" if len(far) > MOST_NAMED else ""
    return f" (row{'' if len(far) == 1 else 's'} {named}{more})" if far else ""


def load_calibration(path: str | Path) -> Calibration:
    """A calibration from its TOML file, or one that comes with the library, by its name. Raises Refusal naming the file
    and what is wrong."""
    path = shipped_files().get(str(path).replace("-", "_"), path)
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
        parts = found["constants"]
        if lacking := [name for name in PRIORS if name not in parts]:
            raise Refusal(f"constants: missing {', '.join(lacking)}")
        if strange := [name for name in parts if name not in PRIORS | FIXED | DEFAULTS]:
            raise Refusal(f"constants: {', '.join(map(shown, strange))} unknown; expected {_named()}")
        constants = {name: _constant(name, part["value"]) for name, part in parts.items()}
        if strange := [name for name in found["unknown"] if name not in constants]:
            raise Refusal(f"unknown: {shown(strange[0])}; expected {_named()}")
        return Calibration(
            FIXED | constants,
            {name: number(f"constants.{name}.spread", part["spread"]) for name, part in parts.items()},
            tuple(found["unknown"]),
            whole("runs", found["runs"], 0),
            tuple(found["far"]),
            tuple(Check(**check) for check in found.get("checks", ())),
            number("band", found["band"], 1),
            number("tie", found["tie"], 1),
            str(found["cluster"]),
            str(found["source"]),
            Kinds.read(found["kinds"]) if "kinds" in found else None,
            tuple(Check(**check) for check in found.get("memory_checks", ())),
        )
    except OSError as error:
        raise Refusal(
            f"{_place(path)}: {error.strerror}; expected a calibration: a file, or one of {', '.join(shipped_files())}"
        ) from None
    except ValueError as error:  # a Refusal too, or a text that is no TOML or no file name
        said = str(error) if isinstance(error, Refusal) else f"not a calibration: {error}"
    except KeyError as error:
        said = f"not a calibration: {error.args[0]} is missing"
    except (TypeError, AttributeError) as error:
        said = f"not a calibration: {error}"
    raise Refusal(f"{_place(path)}: {said}; expected a file as python -m gpuscale.plan calibrate writes it")


def _named() -> str:
    return f"one of {', '.join(PRIORS | FIXED | DEFAULTS)}"


def _place(path) -> str:
    """A path in a message: whole, unless it is absurd."""
    text = str(path)
    return text if text.isprintable() and len(text) < LONG_PATH else shown(path)


def _constant(name: str, value) -> float:
    """The value of a constant. Raises Refusal for one that is out of range."""
    found = number(f"constants.{name}.value", value, 1e-6 if name in MOSTS else 0)
    if name in MOSTS and found > MOSTS[name]:
        raise Refusal(f"constants.{name}.value: {shown(value)}; expected a fraction, at most 1")
    return found


def shipped(name: str) -> Path:
    """The file of a calibration that comes with the library, such as "nanotron_h100". Raises Refusal naming all."""
    known = shipped_files()
    if name not in known:
        raise Refusal(f"no calibration {name!r}; expected one of {', '.join(known)}")
    return known[name]


def shipped_files() -> dict[str, Path]:
    """The files of all calibrations that come with the library, by name."""
    found = sorted((Path(__file__).parent / "data").glob("*.calibration.toml"))
    return {path.name.removesuffix(".calibration.toml"): path for path in found}


def usual(place: Cluster) -> Calibration:
    """The calibration of a cluster: the one that its data name, or those of the cluster that it is like; else the usual
    one for its chip.

    The usual one is no fit. It has the centers of PRIORS and the measured fractions of the cluster, that of the network
    on as many nodes as it was measured on. Matmuls reach as large a part of the best rate that was measured as in
    Megatron-LM on A100. Gradients are in large buckets.
    """
    for key in (place.key, "" if place.other else place.like):
        part = specs.parts("cluster").get(key)
        if part is not None and "calibration" in part:
            return load_calibration(shipped(part.calibration))
    return _usual(place.shares, place.chip)


@cache
def _usual(shares: tuple, chip: str) -> Calibration:
    arithmetic, nvlink, network, _ = shares
    fitted = load_calibration(shipped("megatron_a100"))
    best = measured_share(specs.part("cluster", fitted.cluster), "matmul").value
    constants = {name: prior.center for name, prior in PRIORS.items()} | FIXED
    constants["V_bucket"] = LARGE_BUCKET
    constants |= {"eta_mat": arithmetic.value * fitted.constants["eta_mat"] / best, "eta_nvl": nvlink.value}
    fewer = {"eta": network.value, "W_ref": 1.0, "M": network.nodes, "gamma_net": -constants["gamma_net"]}
    constants["eta_net"] = min(calling.value(formulas.many_nodes, fewer), 1.0)  # back from so many nodes to two
    spread = {name: prior.spread for name, prior in PRIORS.items()}
    told = f"defaults, not fitted to any run on {chip}"
    return Calibration(constants, spread, tuple(PRIORS), 0, (), (), USUAL_BAND, USUAL_BAND, "", told)
