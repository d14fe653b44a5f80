"""A deployment: replicas of a model with their layout and batch, what they achieve, and what binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscale.printed import serving
from gpuscale.printed.calling import value
from gpuscale.serve.evaluation import Grid
from gpuscale.serve.requests import ServingRequest
from gpuscale.serving.step_percentile import LATE

Pair = tuple[float, float]  # the bound, and the expected value
EXPECTED = 1  # the place of the expected value in a pair


@dataclass(frozen=True)
class Handover:
    """The cache of a prompt that moves from one replica to another: bytes, and seconds."""

    size: float
    time: float


@dataclass(frozen=True)
class Queue:
    """The queue of each attention group that only prefills, or of a replica that does both: the fraction of what it can
    serve that it serves, and the largest that was allowed; the mean time in the queue and its 95th percentile, in
    seconds."""

    load: float
    most: float
    mean: float
    tail: float

    @classmethod
    def of(cls, load: float, most: float, served: Mapping[str, float]) -> Queue:
        """The queue at a load, where ``served`` says how long a prompt takes, and how much that varies."""
        known = {**served, "f_svc": load, "f_late": LATE}
        known["T_queue"] = value(serving.queue_time, known)
        return cls(load, most, known["T_queue"], value(serving.queue_percentile, known))


@dataclass(frozen=True)
class Replicas:
    """Equal replicas: ``count`` of ``gpus`` GPUs each; the degrees of their layout, their formats, numbers per replica.

    ``batch``: sequences that decode at a time; ``memory`` and ``weights_bytes``: bytes on the fullest GPU; times are
    pairs, in seconds, and rates pairs in requests per second.
    """

    count: int
    gpus: int
    tp: int
    pp: int
    dpa: int
    ep: int
    weights: str
    cache: str
    batch: int
    memory: float
    weights_bytes: float
    step: Pair
    spoken: Pair
    token: Pair
    gap: Pair
    first: Pair
    prefill: Pair
    rate: Pair
    decode_rate: Pair
    prefill_rate: Pair
    limit: str

    @classmethod
    def of(cls, ask: ServingRequest, grid: Grid, formats: tuple[str, str], i: int, j: int, count: int) -> Replicas:
        """The replicas of a layout (row) at a batch (column) of a Grid."""
        rows = {name: int(column[i]) for name, column in grid.rows.items()}

        def pair(arrays) -> Pair:
            return tuple(float(a[i, j if a.shape[1] > 1 else 0]) for a in arrays)

        parts = {name: float(a[i, j if a.shape[1] > 1 else 0]) for name, a in grid.parts.items()}
        batch = int(grid.batch[i, j]) * rows["n_dpa"] * rows["N_stages"]
        times = (
            grid.step,
            grid.spoken,
            grid.token,
            grid.gap,
            grid.first,
            grid.prefill,
            grid.rate,
            grid.decode_rate,
            grid.prefill_rate,
        )
        return cls(
            count,
            rows["n_gpu"],
            *(rows[name] for name in ("Y", "N_stages", "n_dpa", "n_ep")),
            *formats,
            batch,
            float(grid.memory[i, j]),
            float(grid.own[i, 0]),
            *map(pair, times),
            max(parts, key=parts.get),
        )

    @property
    def layout(self) -> str:
        """The degrees in words, such as "TP 4, EP 8"."""
        return layout_words(self.tp, self.pp, self.dpa, self.ep)


def layout_words(tp: int, pp: int, dpa: int, ep: int) -> str:
    """The degrees of a layout in words, such as "TP 4, EP 8"."""
    named = {"TP": tp, "PP": pp, "DP attention": dpa, "EP": ep}
    return ", ".join(f"{name} {n}" for name, n in named.items() if n > 1) or "one GPU"


@dataclass(frozen=True)
class Fleet:
    """Replicas that decode, and those that only prefill, for a request rate; their GPUs, and dollars per hour."""

    replicas: int
    prefill: int
    gpus: int
    hour: float | None


def _replicas(rate: float, load: float, own: float) -> int:
    return int(value(serving.replicas_for_rate, {"lambda_req": rate, "r_rep": load * own}))


@dataclass(frozen=True)
class Deployment:
    """Replicas that serve together. ``prefill`` is None where all of them do both.

    Pairs are the bound and the expected value. ``requests`` and ``throughput``: requests and output tokens per second
    of all GPUs, the expected ones at the load of the queue; ``binds``: what keeps them from more. The expected time to
    first token includes the mean time in the queue. ``token`` and ``gap`` are those of a full batch: the mean time per
    output token, and the time between two steps that 95% of the gaps do not exceed.
    """

    ask: ServingRequest
    decode: Replicas
    prefill: Replicas | None
    requests: Pair
    token: Pair
    gap: Pair
    first: Pair
    binds: str
    queue: Queue
    handover: Handover | None = None

    @classmethod
    def both(cls, ask: ServingRequest, replicas: Replicas, binds: str, queue: Queue) -> Deployment:
        """Replicas that prefill and decode in turn."""
        bound, expected = replicas.rate
        rate = replicas.count * bound, replicas.count * expected * queue.load
        first = replicas.first[0], replicas.first[-1] + queue.mean
        return cls(ask, replicas, None, rate, replicas.token, replicas.gap, first, binds, queue)

    @classmethod
    def split(
        cls, ask: ServingRequest, prefill: Replicas, decode: Replicas, handover: Handover, queue: Queue
    ) -> Deployment:
        """Replicas that prefill, and others that decode."""
        waits = (0, queue.mean)
        rates = [
            (prefill.count * p * most, decode.count * d * load)
            for p, d, most, load in zip(
                prefill.prefill_rate, decode.decode_rate, (1, queue.most), (1, ask.load), strict=True
            )
        ]
        known = [
            {"T_queue": wait, "T_pre": p, "T_dec": s, "T_send": handover.time}
            for wait, p, s in zip(waits, prefill.prefill, decode.step, strict=True)
        ]
        first = tuple(value(serving.first_token_time, each) for each in known)
        slower = "prefill GPUs" if queue.most >= ask.load else "time to first token"
        binds = slower if rates[1][0] < rates[1][1] else "decode GPUs"
        served = tuple(map(min, rates))
        return cls(ask, decode, prefill, served, decode.spoken, decode.step, first, binds, queue, handover)

    @property
    def mode(self) -> str:
        return "colocated" if self.prefill is None else "disaggregated"

    @property
    def tail(self) -> float:
        """The expected time to first token that 95% of the requests do not exceed."""
        return self.first[-1] - self.queue.mean + self.queue.tail

    @property
    def fleet(self) -> Fleet | None:
        """The replicas that the request rate of the peak hour takes, at the loads of this deployment; None without."""
        if self.ask.rate is None:
            return None
        own = self.decode
        if self.prefill is None:
            decode, prefill = _replicas(self.ask.rate, self.queue.load, own.rate[-1]), 0
        else:
            decode = _replicas(self.ask.rate, self.ask.load, own.decode_rate[-1])
            prefill = _replicas(self.ask.rate, self.queue.load, self.prefill.prefill_rate[-1])
        parts = [(decode, own.gpus), *([(prefill, self.prefill.gpus)] if self.prefill else [])]
        hour = None
        if self.ask.price is not None:
            known = [{"n_rep": many, "N_gpu": gpus, "p_gpu": self.ask.price * 1.0} for many, gpus in parts]
            hour = sum(value(serving.hourly_price, each) for each in known)
        return Fleet(decode, prefill, sum(many * gpus for many, gpus in parts), hour)

    @property
    def throughput(self) -> Pair:
        """Output tokens per second, of all GPUs."""
        return tuple(rate * self.ask.output for rate in self.requests)

    @property
    def per_gpu(self) -> Pair:
        """Output tokens per second and GPU, idle ones counted."""
        return tuple(rate / self.ask.gpus for rate in self.throughput)

    @property
    def price(self) -> Pair | None:
        """Dollars per million output tokens, prefill included; None without a price of the GPU."""
        if self.ask.price is None:
            return None
        known = {"p_gpu": self.ask.price * 1.0, "f_busy": 1}
        rates = [self.ask.rate * self.ask.output / self.fleet.gpus] * 2 if self.fleet else self.per_gpu
        return tuple(value(serving.dollars_per_million, known | {"r_tok": rate}) for rate in rates)

    def record(self) -> dict:
        """As plain data, in base units."""
        out = {"mode": self.mode, "binds": self.binds, "decode": vars(self.decode)}
        out |= {"queue": vars(self.queue), "first_p95": self.tail}
        if self.prefill:
            out |= {"prefill": vars(self.prefill), "handover": vars(self.handover)}
        if self.fleet:
            out["fleet"] = vars(self.fleet)
        for name in ("requests", "throughput", "per_gpu", "token", "gap", "first", "price"):
            pair = getattr(self, name)
            out[name] = None if pair is None else dict(zip(("bound", "expected"), pair, strict=True))
        return out
