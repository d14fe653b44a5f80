"""A request to the planner of serving: model, GPUs, lengths, limits and fixed choices, checked before it is planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpuscale.plan import clusters
from gpuscale.plan.clusters import Cluster
from gpuscale.plan.errors import Refusal
from gpuscale.plan.typed import number, shown, some, whole
from gpuscale.printed.engines import DRAFT_TIME
from gpuscale.serving.decode_numbers import FORMATS
from gpuscale.specs.entry import Part
from gpuscale.units import UnitError, parse

MODES = ("colocated", "disaggregated")
PINS = {
    "tp": "tensor-parallel ranks",
    "pp": "pipeline stages",
    "dpa": "attention groups of a replica (DP attention)",
    "ep": "ranks that the experts are spread over",
    "batch": "sequences that a replica decodes at a time",
}
TRIED = {"weights": ("bf16", "fp8", "nvfp4"), "cache": ("bf16", "fp8")}  # formats that are compared by default
RESERVE = 0.1  # of the memory stays free by default, as engines keep it for activations, graphs and buffers
MOST_DRAFT = 5  # tokens, as many as acceptances are published for
LOAD = 0.75  # of what they can serve GPUs serve at most by default, as queues get long above it
MOST_GPUS, MOST_TOKENS, MOST_RATE = 4096, 10**7, 10**6
USUAL_NODE = 8  # GPUs


@dataclass(frozen=True)
class ServingRequest:
    """A question to the planner. Lengths are tokens, times seconds.

    ``ttft`` and ``tpot`` limit means, ``ttft_p95`` and ``gap_p95`` the 95th percentiles of the time to first token and
    of the time between two steps of a sequence; each may be infinite.
    ``cached`` prompt tokens are in the cache already; ``prefix`` of a prompt are the same for all requests and stored
    once; a fraction ``hit`` of the requests finds them. ``draft`` tokens are proposed per step, each accepted with a
    probability of ``acceptance`` (one for all, or one for each) and taking ``draft_time`` of a step. ``reserve`` bytes
    of each GPU stay free; ``price`` is dollars per GPU-hour, None if unknown; ``pins`` are fixed degrees;
    ``modes`` are compared. No replica serves more than a fraction ``load`` of what it can serve; ``rate`` requests come
    per second, or None. A step that decodes also takes up to ``chunk`` tokens of prompts; with 0 prompts are prefilled
    whole.
    """

    model: Part
    gpu: Part
    cluster: Cluster
    gpus: int
    input: int
    output: int
    ttft: float
    tpot: float
    cached: int = 0
    weights: tuple[str, ...] = TRIED["weights"]
    cache: tuple[str, ...] = TRIED["cache"]
    modes: tuple[str, ...] = MODES
    reserve: float = 0.0
    price: float | None = None
    pins: Mapping[str, int] = field(default_factory=dict)
    prefix: int = 0
    hit: float = 1.0
    draft: int = 0
    acceptance: tuple[float, ...] = ()
    draft_time: float = DRAFT_TIME
    load: float = LOAD
    chunk: int = 0
    rate: float | None = None
    ttft_p95: float = float("inf")
    gap_p95: float = float("inf")

    @property
    def reused(self) -> int:
        """Tokens of a prompt whose cache is there already."""
        return max(self.cached, self.prefix)

    @property
    def new(self) -> float:
        """Tokens of a prompt that a prefill computes, on average."""
        return self.input - self.reused * self.hit

    @property
    def chunked(self) -> bool:
        """Whether a prompt takes more than one chunk; where it doesn't, it is prefilled whole."""
        return 0 < self.chunk < self.new

    @property
    def room(self) -> float:
        """Bytes of a GPU's memory that may be used."""
        return self.cluster.hbm - self.reserve

    @property
    def longest(self) -> int:
        """Tokens of a sequence when its answer is complete."""
        return self.input + self.output


def request(
    model: Part | str,
    gpu: str,
    gpus,
    input,
    output,
    ttft=None,
    tpot=None,
    *,
    cached=0,
    cached_prefix=0,
    hit=1,
    speculate=0,
    acceptance=None,
    draft=DRAFT_TIME,
    load=LOAD,
    chunk=0,
    rate=None,
    ttft_p95=None,
    gap_p95=None,
    weights=None,
    cache=None,
    mode=None,
    per_node=None,
    nvlink=None,
    nic=None,
    reserve=None,
    price=None,
    **pins,
) -> ServingRequest:
    """A checked ServingRequest. Raises Refusal, saying what was requested and what would work.

    ``ttft``, ``tpot``, ``ttft_p95`` and ``gap_p95`` are limits in seconds, or texts with a unit such as "30ms"; without
    one there is no limit.
    ``weights`` and ``cache`` are formats of FORMATS, one or several. ``mode`` is one of MODES; both by default.
    ``per_node``, ``nvlink`` and ``nic`` describe a node whose GPU the library does not know in a cluster.
    ``reserve`` bytes of each GPU stay free, a tenth by default. ``price`` is dollars per GPU-hour.
    ``load`` is the largest fraction of what it can serve that a replica may serve. ``chunk`` is the largest chunk of
    a prompt, in tokens, that a step takes with its decodes. ``rate`` is the request rate of the peak hour, per second.
    """
    part = model if isinstance(model, Part) else clusters.found("model", str(model))
    chip = clusters.found("chip", str(gpu))
    gpus = whole("GPUs", gpus, 1, MOST_GPUS)
    place = _place(chip, gpus, per_node, nvlink, nic)
    input = whole("input tokens", input, 1, MOST_TOKENS)
    output = whole("output tokens", output, 2, MOST_TOKENS)  # the prefill gives the first one
    cached = whole("cached tokens", cached, 0, MOST_TOKENS)
    if cached >= input:
        raise Refusal(f"{some(cached, 'cached token')} of a prompt of {input:,}; expected fewer than the prompt has")
    prefix = whole("cached prefix, in tokens", cached_prefix, 0, MOST_TOKENS)
    if prefix >= input:
        raise Refusal(f"a cached prefix of {prefix:,} tokens of a prompt of {input:,}; expected fewer")
    proposed = whole("draft tokens", speculate, 0, MOST_DRAFT)
    if "max_tokens" in part and input + output > part.max_tokens:
        have = f"{input:,} + {output:,} tokens"
        raise Refusal(f"{have}: {part.title} was trained for {part.max_tokens:,}; expected no more together")
    free = RESERVE * place.hbm if reserve is None else number("reserve, in bytes", reserve, unit="B")
    if free >= place.hbm:
        raise Refusal(f"a reserve of {free / 1e9:g} GB leaves nothing of the {place.hbm / 1e9:g} GB")
    return ServingRequest(
        part,
        chip,
        place,
        gpus,
        input,
        output,
        _limit("time to first token", ttft),
        _limit("time per output token", tpot),
        cached,
        _formats("weights", weights, chip),
        _formats("cache", cache, chip),
        _modes(mode),
        free,
        _price(price, chip),
        _pins(pins, gpus, part),
        prefix,
        _fraction("fraction of requests that find their cache", hit),
        proposed,
        _acceptance(acceptance, proposed),
        _fraction("time of a draft token, in steps", draft),
        _load(load),
        whole("tokens of a chunk", chunk, 0, MOST_TOKENS),
        None if rate is None else _rate(rate),
        _limit("95th percentile of the time to first token", ttft_p95),
        _limit("95th percentile of the gap between tokens", gap_p95),
    )


def _fraction(what: str, value) -> float:
    found = number(what, value)
    if found > 1:
        raise Refusal(f"{what}: {shown(value)}; expected a number, 0 to 1")
    return found


def _load(value) -> float:
    """A load of a queue: at 1 it would never end."""
    expected = f"a fraction above 0 and below 1, such as {LOAD}"
    return _where("load", value, lambda found: 0 < found < 1, expected)


def _rate(value) -> float:
    """Requests per second."""
    expected = f"requests per second, above 0 and up to {MOST_RATE:,}"
    return _where("request rate", value, lambda found: 0 < found <= MOST_RATE, expected)


def _where(what: str, value, holds: Callable[[float], bool], expected: str) -> float:
    """A number for which something holds. One message says what was expected, whether it is a number or not."""
    try:
        found = number(what, value)
    except Refusal:
        found = None
    if found is None or not holds(found):
        raise Refusal(f"{what}: {shown(value)}; expected {expected}")
    return found


def _acceptance(value, draft: int) -> tuple[float, ...]:
    """Probabilities that draft tokens are accepted: one for all of them, or one for each."""
    if not draft:
        if value is not None:
            raise Refusal("an acceptance without draft tokens; expected a number of them, such as --speculate 3")
        return ()
    if value is None:
        raise Refusal(f"{some(draft, 'draft token')} without --acceptance; expected a probability such as 0.8")
    parts = value.split(",") if isinstance(value, str) else [value] if isinstance(value, (int, float)) else list(value)
    found = tuple(_fraction("acceptance", part) for part in parts)
    if len(found) not in (1, draft) or len(found) == 1 and found[0] == 1:
        raise Refusal(f"acceptance: {shown(value)}; expected one probability below 1, or one for each draft token")
    return found


def _place(chip: Part, gpus: int, per_node, nvlink, nic) -> Cluster:
    """The nodes of a chip. GPUs of which the library knows no cluster are one node, if they are few enough for one."""
    try:
        return clusters.own_cluster(chip.key, per_node, nic, nvlink)
    except Refusal:
        if gpus > (per_node or USUAL_NODE):
            raise
    one = nvlink or ("1GB/s" if gpus == 1 and "nvlink_bw" not in chip else None)  # one GPU has nobody to send to
    return clusters.own_cluster(chip.key, per_node or gpus, nic, one, alone=True)


def _limit(what: str, value) -> float:
    if value is None:
        return float("inf")
    try:
        found = parse(value, "s") if isinstance(value, str) and not _bare(value) else float(value)
    except (UnitError, ValueError, TypeError):
        found = 0.0
    if not 0 < found < float("inf"):
        raise Refusal(f"{what}: {shown(value)}; expected a time above 0, such as 30ms or 1.5 (seconds)")
    return found


def _bare(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _formats(what: str, value, chip: Part) -> tuple[str, ...]:
    """Formats to compare: those asked for, or the usual ones whose matmuls the chip has a rate for."""
    if value is None:
        return tuple(name for name in TRIED[what] if name == "bf16" or FORMATS[name].rates[0] in chip)
    names = value.split(",") if isinstance(value, str) else list(value)
    names = [str(name).strip().lower().replace("-", "_") for name in names]
    wrong = [name for name in names if name not in FORMATS]
    if wrong or not names:
        raise Refusal(f"{what}: {shown(value)}; expected one or several of {', '.join(FORMATS)}")
    if lacking := [name for name in names if not any(rate in chip for rate in FORMATS[name].rates)]:
        raise Refusal(f"{what}: {chip.title} has no rate for {lacking[0]}; expected another format")
    return tuple(dict.fromkeys(names))


def _modes(value) -> tuple[str, ...]:
    if value is None:
        return MODES
    if value not in MODES:
        raise Refusal(f"mode: {shown(value)}; expected {' or '.join(MODES)}")
    return (value,)


def _price(value, chip: Part) -> float | None:
    if value is not None:
        return number("price, in USD per GPU-hour", value, unit="USD/h")
    return chip.get("price_per_hour")


def _pins(pins: Mapping, gpus: int, model: Part) -> dict[str, int]:
    out = {}
    for name, value in pins.items():
        if name not in PINS:
            raise TypeError(f"request takes no {name}; expected {', '.join(PINS)}")
        if value is not None:
            out[name] = whole(PINS[name], value, 1, None if name == "batch" else gpus)
    if out.get("ep", 1) > 1 and "experts" not in model:
        raise Refusal(f"expert parallelism: {model.title} has no experts; expected ep = 1")
    return out
