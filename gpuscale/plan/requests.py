"""A request: model, cluster, GPUs, batch, recipe and fixed choices; checked before anything is computed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from gpuscale import specs
from gpuscale.plan.calibration import Calibration, load_calibration, usual
from gpuscale.plan.choice import pinned
from gpuscale.plan.clusters import Cluster, cluster, found
from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import amount, number, shown, some, whole

SCHEDULES = {"1f1b": "1F1B", "gpipe": "GPipe", "zb-h1": "ZB-H1", "dualpipe": "DualPipe"}
RESERVE = 0.05  # of the memory stays free by default: for CUDA contexts, NCCL buffers and fragmentation
MOST_TOKENS, MOST_GPUS = 10**12, 10**6  # so that whole numbers stay exact in arrays
_SUFFIX = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


@dataclass(frozen=True)
class Request:
    """A question to the planner. ``batch`` and ``seq`` are tokens; ``pins`` are fixed choices.

    ``shares`` are efficiencies as fractions of the peaks (arithmetic, NVLink, network, HBM); ``waits`` the exposed
    fractions of the communication of TP, CP and EP; ``reserve`` bytes of memory stay free (5% by default);
    ``calibration`` has the constants of the expected times.
    """

    model: specs.Part
    cluster: Cluster
    gpus: int
    batch: int
    seq: int
    recipe: specs.Part
    calibration: Calibration
    schedule: str = "1f1b"
    pins: Mapping[str, int] = field(default_factory=dict)
    shares: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    waits: tuple[float, float, float] = (1.0, 1.0, 1.0)
    reserve: float = 0.0

    @property
    def sequences(self) -> int:
        """Sequences of the batch."""
        return self.batch // self.seq

    @property
    def room(self) -> float:
        """Bytes of a GPU's memory that may be used."""
        return self.cluster.hbm - self.reserve


def tokens(what: str, value) -> int:
    """A number of tokens. "4M" means 4 x 2**20, as the papers count batches; 4e6 is four million."""
    typed = value
    if isinstance(value, str):
        text, suffix = re.fullmatch(r"(.*?)(?:([kKmMgG])(?: *tokens?)?)?\s*", value, re.S).groups()
        try:
            value = amount(text) * _SUFFIX[(suffix or "").lower()]
        except ValueError:
            raise Refusal(
                f"{what}: {shown(value)!r}; expected tokens such as 4M (4 x 2**20), 16M, 65536 or 4e6"
            ) from None
    return whole(what, value, 1, MOST_TOKENS, typed=typed)


def request(
    model: str | specs.Part,
    cluster_key: str | Cluster,
    gpus,
    batch,
    seq=8192,
    recipe="bf16_fp32_grads",
    schedule="1f1b",
    per_node=None,
    shares=None,
    waits=None,
    reserve=None,
    calibration=None,
    **pins,
) -> Request:
    """A checked Request. Raises Refusal, saying what was requested and what would work.

    ``reserve`` bytes of each GPU's memory stay free, 5% of it by default, for what a run needs besides the plan.
    ``calibration`` is a Calibration, the path of its file, or the name of a shipped one; by default, that of the
    cluster, or the usual one.
    """
    model, place = _model_and_place(model, cluster_key)
    place = place if per_node is None else place.with_node(whole("GPUs per node", per_node))
    if not isinstance(schedule, str) or schedule not in SCHEDULES:
        raise Refusal(f"schedule: {shown(schedule)!r}; expected one of {', '.join(SCHEDULES)}")
    if schedule == "dualpipe" and waits is None:
        waits = (1.0, 1.0, 0.0)  # it was designed so that the all-to-alls of one microbatch hide behind another
    recipe = recipe if isinstance(recipe, specs.Part) else found("recipe", _name(recipe))
    gpus = check_gpus(gpus, place)
    batch, seq = _batch(batch, seq)
    shares = None if shares is None else _shares("efficiencies", shares, 1e-6, 4)
    waits = (1.0, 1.0, 1.0) if waits is None else _shares("exposed fractions", waits, 0, 3)
    asked = {name: pinned(name, value) for name, value in pins.items() if value is not None}
    free = _reserve(reserve, place)
    shares = shares or tuple(share.value for share in place.shares)
    if calibration is None:
        calibration = usual(place)
    elif not isinstance(calibration, Calibration):
        calibration = load_calibration(calibration)
    ask = Request(model, place, gpus, batch, seq, recipe, calibration, schedule, asked, shares, waits, free)
    _check_nodes(ask)
    check_pins(asked, gpus, model)
    return ask


def _model_and_place(model, cluster_key) -> tuple[specs.Part, Cluster]:
    """The model and the cluster. Raises one Refusal for both if neither is known."""
    known, wrong = [], []
    for given, kind, find in ((model, specs.Part, partial(found, "model")), (cluster_key, Cluster, cluster)):
        try:
            known.append(given if isinstance(given, kind) else find(_name(given)))
        except Refusal as refusal:
            wrong.append(str(refusal))
    if wrong:
        raise Refusal("; and ".join(wrong))
    return tuple(known)


def _name(value) -> str:
    return str(value) if isinstance(value, str | os.PathLike) else shown(value)


def _reserve(value, place: Cluster) -> float:
    kept = RESERVE * place.hbm if value is None else number("reserve, in bytes", value, unit="B")
    if kept >= place.hbm:
        raise Refusal(f"a reserve of {kept / 1e9:g} GB leaves nothing of the {place.hbm / 1e9:g} GB")
    return kept


def check_gpus(gpus, place: Cluster) -> int:
    """A number of GPUs that a cluster can have. Its size limits nothing that has a network."""
    gpus = whole("GPUs", gpus, 1, 10**9)
    if place.alone and gpus > place.most:
        raise Refusal(f"{some(gpus, 'GPU')}: {place.title} has {place.most:,} ({place.key}) and no network beyond")
    if gpus > MOST_GPUS:
        raise Refusal(f"{some(gpus, 'GPU')}: expected {MOST_GPUS:,} or fewer")
    return gpus


def _check_nodes(ask: Request) -> None:
    """Refuse whole nodes with part of another one, and name whole ones."""
    gpus, node = ask.gpus, ask.cluster.node
    if gpus < node or gpus % node == 0:
        return
    low = gpus // node * node
    expected = f"whole nodes, such as {low:,} or {low + node:,}"
    part = ask.cluster.part
    if part < node and gpus % part == 0:
        expected = f"{part} GPUs per node (--per-node {part}), or {expected}"
    have = f"{some(gpus // node, 'node')} of {node} and {gpus % node} more"
    raise Refusal(f"{gpus:,} GPUs are {have}; expected {expected}")


def _batch(batch, seq) -> tuple[int, int]:
    batch, seq = tokens("batch", batch), tokens("sequence length", seq)
    if batch < seq:
        have = some(batch, "token")
        raise Refusal(f"a batch of {have} is less than one sequence of {seq:,}; expected {seq:,} or more")
    if batch % seq:
        low = batch // seq
        raise Refusal(
            f"a batch of {some(batch, 'token')} is not a whole number of sequences of {seq:,}; nearest: {low * seq:,}"
            f" ({some(low, 'sequence')}) and {(low + 1) * seq:,} ({low + 1:,})"
        )
    return batch, seq


def _shares(what: str, values, least: float, count: int) -> tuple:
    given = values
    try:
        values = tuple(amount(v) for v in (values.split(",") if isinstance(values, str) else values))
    except (TypeError, ValueError):
        values = ()
    if len(values) != count or not all(least <= v <= 1 for v in values):
        many = {3: "three", 4: "four"}[count]
        limits = "above 0 and at most 1" if least else "from 0 to 1"
        raise Refusal(f"{what}: expected {many} numbers, {limits}; got {shown(given)!r}")
    return values


def check_pins(pins: Mapping[str, int], gpus: int, model: specs.Part):
    """Refuse degrees that cannot all divide the run."""
    if "ep" in pins and pins["ep"] > 1 and "experts" not in model:
        raise Refusal(f"expert parallelism: {model.title} has no experts; expected ep = 1")
    mesh = {name: pins[name] for name in ("tp", "cp", "pp", "dp") if name in pins}
    product = math.prod(mesh.values())
    said = " x ".join(f"{name.upper()} {value}" for name, value in mesh.items())
    if gpus % product:
        raise Refusal(f"{said} = {some(product, 'GPU')}: not a divisor of {gpus:,}")
    if len(mesh) == 4 and product != gpus:
        raise Refusal(f"{said} = {some(product, 'GPU')}; {gpus:,} are requested")
