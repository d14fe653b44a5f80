"""A deployment: replicas of a model with their layout and batch, what they achieve, and what binds."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscale.printed import serving
from gpuscale.printed.calling import value
from gpuscale.serve.evaluation import Grid
from gpuscale.serve.requests import ServingRequest

Pair = tuple[float, float]  # the bound, and the expected value


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
        named = {"TP": self.tp, "PP": self.pp, "DP attention": self.dpa, "EP": self.ep}
        return ", ".join(f"{name} {n}" for name, n in named.items() if n > 1) or "one GPU"


@dataclass(frozen=True)
class Deployment:
    """Replicas that serve together. ``prefill`` is None where all of them do both.

    Pairs are the bound and the expected value. ``throughput``: output tokens per second of all GPUs; ``binds``: what
    keeps it from more.
    """

    ask: ServingRequest
    decode: Replicas
    prefill: Replicas | None
    requests: Pair
    token: Pair
    first: Pair
    binds: str

    @classmethod
    def both(cls, ask: ServingRequest, replicas: Replicas, binds: str) -> Deployment:
        """Replicas that prefill and decode in turn."""
        rate = tuple(replicas.count * r for r in replicas.rate)
        return cls(ask, replicas, None, rate, replicas.token, replicas.first, binds)

    @classmethod
    def split(cls, ask: ServingRequest, prefill: Replicas, decode: Replicas, handover: float) -> Deployment:
        """Replicas that prefill, and others that decode."""
        rates = [
            (prefill.count * p, decode.count * d) for p, d in zip(prefill.prefill_rate, decode.decode_rate, strict=True)
        ]
        first = tuple(p + handover + s for p, s in zip(prefill.prefill, decode.step, strict=True))
        slower = "prefill GPUs" if rates[1][0] < rates[1][1] else "decode GPUs"
        return cls(ask, decode, prefill, tuple(map(min, rates)), decode.spoken, first, slower)

    @property
    def mode(self) -> str:
        return "colocated" if self.prefill is None else "disaggregated"

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
        """Dollars per million output tokens, prefill included, at full load; None without a price of the GPU."""
        if self.ask.price is None:
            return None
        known = {"p_gpu": self.ask.price * 1.0, "f_busy": 1}
        return tuple(value(serving.dollars_per_million, known | {"r_tok": rate}) for rate in self.per_gpu)

    def record(self) -> dict:
        """As plain data, in base units."""
        out = {"mode": self.mode, "binds": self.binds, "decode": vars(self.decode)}
        if self.prefill:
            out["prefill"] = vars(self.prefill)
        for name in ("requests", "throughput", "per_gpu", "token", "first", "price"):
            pair = getattr(self, name)
            out[name] = None if pair is None else dict(zip(("bound", "expected"), pair, strict=True))
        return out
