"""One choice and what it costs: memory by term, time by cause, bytes by axis and level, and what binds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from gpuscale.plan.costs import AXES, LEVELS, MEMORY
from gpuscale.plan.layouts import MESH, NAMES
from gpuscale.plan.requests import RECOMPUTE, Request
from gpuscale.units import show

_COLUMNS = {**{NAMES[name]: name for name in MESH}, "zero": "n_zero", "sp": "n_sp", "recompute": "n_recompute"}


@dataclass(frozen=True)
class Choice:
    """One way to lay a run out: degrees of data, tensor, context, expert and pipeline parallelism; ``virtual``
    stages of a stage, ``micro`` sequences in a microbatch, ``zero`` the stage of ZeRO, ``sp`` sequence parallelism,
    ``recompute`` what the backward pass recomputes: "none", "selective" or "full".
    """

    dp: int = 1
    tp: int = 1
    cp: int = 1
    ep: int = 1
    pp: int = 1
    virtual: int = 1
    micro: int = 1
    zero: int = 1
    sp: bool = False
    recompute: str = "none"

    @property
    def layout(self) -> tuple[int, int, int, int, int]:
        """The degrees alone."""
        return self.dp, self.tp, self.cp, self.ep, self.pp

    def __str__(self) -> str:
        stages = f"PP {self.pp}" + (f" × {self.virtual}" if self.virtual > 1 else "")
        parts = [f"TP {self.tp}" + (" + SP" if self.sp else ""), f"CP {self.cp}", f"EP {self.ep}", stages]
        shown = [part for part, degree in zip(parts, (self.tp, self.cp, self.ep, self.pp), strict=True) if degree > 1]
        again = "" if self.recompute == "none" else f", {self.recompute} recomputation"
        shown += [f"DP {self.dp}"]
        if self.zero or self.dp * self.cp > 1:  # a single copy leaves ZeRO nothing to cut
            shown += [f"ZeRO-{self.zero}" if self.zero else "no ZeRO"]
        return ", ".join(shown) + f", microbatch {self.micro}{again}"


def choice_of(row: dict) -> Choice:
    """A Choice from a row of columns."""
    found = {name: int(row[column]) for name, column in _COLUMNS.items()}
    return Choice(**found | {"sp": bool(found["sp"]), "recompute": RECOMPUTE[found["recompute"]]})


def columns_of(choice: Choice) -> dict:
    """The columns of a Choice."""
    plain = asdict(choice) | {"recompute": RECOMPUTE.index(choice.recompute)}
    return {column: int(plain[name]) for name, column in _COLUMNS.items()}


@dataclass(frozen=True)
class Outcome:
    """What a choice costs. ``numbers`` has every output by name, in base units: memory by term, bytes of a step by axis
    and level (``tp_nvlink``: into a GPU over NVLink; ``tp_network_node``: into a whole node over the network), times
    of a step at the peaks and, with ``_reached``, at the shares of the request, which are those of a plan's table.
    """

    choice: Choice
    numbers: dict
    room: float
    rates: tuple[float, float]

    @property
    def memory(self) -> float:
        """Bytes that a GPU needs at most: the first stage is taken to be the one with the most layers."""
        return self.numbers["memory"]

    @property
    def fits(self) -> bool:
        """Whether they are there."""
        return self.memory <= self.room

    @property
    def step(self) -> tuple[float, float]:
        """Seconds of a step, at the peaks and at the shares that are reached."""
        return self.numbers["step"], self.numbers["step_reached"]

    @property
    def mfu(self) -> tuple[float, float]:
        """Model FLOPs utilization, at the peaks and at the shares that are reached.

        As in reports of runs: attention is counted over whole sequences although a mask hides half of the scores (the
        sum of times counts what fused attention does), and the peak is that of dense bf16 products for every recipe.
        """
        return self.numbers["mfu"], self.numbers["mfu_reached"]

    @property
    def losses(self) -> dict[str, float]:
        """Shares of the step, at the rates that are reached, beside the arithmetic that the model needs."""
        n, step = self.numbers, self.numbers["step_reached"]
        waits = {axis: n[f"{axis}_wait_reached"] / step for axis in (*AXES, "pp")}
        extra = n["math_reached"] / step - self.useful
        return {"bubble": n["bubble_reached"] / step, **waits, "kernels": n["kernels_reached"] / step, "extra": extra}

    @property
    def useful(self) -> float:
        """Share of the step in which GPUs do what the model needs, at the rate that is reached."""
        return self.numbers["need_reached"] / self.numbers["step_reached"]

    def level(self, axis: str) -> str:
        """Which level an axis waits for: "NVLink" or "the network"."""
        inside, across = (self.numbers[f"{axis}_{level}"] for level in LEVELS)
        return "NVLink" if inside / self.rates[0] >= across / self.rates[1] else "the network"

    @property
    def binds(self) -> str:
        """What binds: the memory of a choice that does not fit; else the largest part of the step beside arithmetic."""
        if not self.fits:
            return self.too_much
        worst = max(self.losses, key=self.losses.get)
        share = self.losses[worst]
        if share < 0.02:
            return f"arithmetic: {show(self.useful, '%', digits=2)} of the step"
        part = f"{show(share, '%', digits=2)} of the step"
        words = {"bubble": "pipeline bubble", "pp": "transfers between stages", "kernels": "kernels between products"}
        words["extra"] = "uneven stages" if self.choice.recompute == "none" else "recomputation"
        return f"{words.get(worst) or worst.upper() + ' over ' + self.level(worst)}: {part}"

    @property
    def too_much(self) -> str:
        """Why it does not fit, with the largest part."""
        n = self.numbers
        states = sum(n[name] for name in MEMORY[:3])
        if states > self.room:
            return _over(states, self.room, " of weights, gradients and optimizer")
        rest = f"{_bytes(n['activations'])} of activations, {_bytes(n['working'])} of buffers"
        return f"{_over(self.memory, self.room)}: {_bytes(states)} of states, {rest}"

    def record(self) -> dict:
        """As plain data."""
        return {"choice": asdict(self.choice), "fits": self.fits, "binds": self.binds, **self.numbers}


def _bytes(value: float, digits: int = 4) -> str:
    return show(value, "B", short=True, digits=digits)


def _over(size: float, room: float, of: str = "") -> str:
    """That a size does not fit, with as many digits as tell the two apart."""
    digits = next((d for d in range(4, 12) if _bytes(size, d) != _bytes(room, d)), 12)
    return f"{_bytes(size, digits)}{of} do not fit {_bytes(room, digits)}"


def outcome(ask: Request, row: dict) -> Outcome:
    """An Outcome from a row of columns and outputs."""
    taken = {*(f.name for f in fields(Choice)), *_COLUMNS.values()}
    numbers = {name: float(value) for name, value in row.items() if name not in taken}
    rates = ask.shares[1] * ask.cluster.W_1, ask.shares[2] * ask.cluster.W_2
    return Outcome(choice_of(row), numbers, ask.cluster.hbm - ask.reserve, rates)
