"""One choice: its costs, whether it fits, and its bottleneck; many: the same as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuscale.plan.choice import Choice
from gpuscale.plan.columns import Costs
from gpuscale.printed.calling import value
from gpuscale.printed.formulas import level_time
from gpuscale.units import show

# What a step loses time to, in words; the names are those of the expected times
CAUSES = {
    "experts": "grouped matmuls of experts",
    "kernels": "kernels between matmuls",
    "loss": "memory traffic of the loss",
    "sums": "adding up gradients",
    "tp": "TP",
    "cp": "CP",
    "ep": "EP",
    "host": "launching kernels",
    "bubble": "pipeline bubble",
    "pp": "transfers between stages",
    "dp": "DP",
    "update": "optimizer",
}


class _Numbers:
    """What follows from ``costs``, ``room`` and ``factor``, for one choice or as arrays for many."""

    costs: Costs
    room: float
    factor: float | np.ndarray

    @property
    def memory(self) -> float:
        """Bytes that the model needs on a GPU of the fullest stage; the first one is assumed to have the most layers.
        Frameworks add buffers: they are counted where the calibration has constants of memory."""
        return self.costs.memory

    @property
    def fits(self) -> bool:
        """Whether a GPU has that much."""
        return self.memory <= self.room

    @property
    def step(self) -> tuple[float, float, float]:
        """Seconds of a step: at the peaks, at measured rates, and expected. The first two are bounds for the
        schedule and the overlap that are assumed: at data-sheet rates, and at the best rates measured on such machines
        or similar ones."""
        return self.costs.at_peak.step, self.costs.at_measured_rates.step, self.costs.expected.step

    @property
    def band(self) -> tuple[float, float]:
        """Seconds between which the step is expected: nine of ten runs outside the calibration were within it. For
        plans unlike all runs, and without runs, an estimate."""
        return self.costs.expected.step / self.factor, self.costs.expected.step * self.factor

    @property
    def mfu(self) -> tuple[float, float, float]:
        """Model FLOPs utilization: at the peaks, at measured rates, and expected.

        As in reports of runs: attention is counted over whole sequences although a mask hides half of the scores (the
        sum of times counts what fused attention does), and the peak is that of dense bf16 matmuls for every recipe.
        """
        return self.costs.at_peak.mfu, self.costs.at_measured_rates.mfu, self.costs.expected.mfu


@dataclass(frozen=True)
class Outcome(_Numbers):
    """The costs of a choice; ``room`` are the bytes of a GPU that may be used, ``factor`` the width of the band on
    either side, ``rates`` the GPU's bandwidth over NVLink and that of a node over the network.

    ``closest`` is the factor below which the order of two plans is not settled; ``unlike`` says what about this one no
    run of the calibration had.
    """

    choice: Choice
    costs: Costs
    room: float
    factor: float
    closest: float
    rates: tuple[float, float]
    unlike: tuple[str, ...] = ()

    def ties_with(self, other: Outcome) -> bool:
        """Whether the expected times do not tell which of two plans is faster: they are closer than pairs of runs whose
        order was as expected in nine of ten."""
        ratio = self.costs.expected.step / other.costs.expected.step
        return max(ratio, 1 / ratio) < max(self.closest, other.closest)

    @property
    def losses(self) -> dict[str, float]:
        """Fractions of the expected step by cause, besides the matmuls and the attention that the model needs."""
        t = self.costs.expected
        spent = {name: time for name, time in vars(t).items() if name in CAUSES} | {"extra": t.matmuls - t.need}
        return {name: time / self.costs.expected.step for name, time in spent.items()}

    @property
    def useful(self) -> float:
        """Fraction of the expected step in which GPUs do the matmuls and the attention that the model needs."""
        return 1 - sum(self.losses.values())

    def level(self, axis: str) -> str:
        """The level that limits an axis: "NVLink" or "the network"."""
        c, rates = self.costs, dict(zip(("W_nvl", "W_node"), self.rates, strict=True))
        inside = value(level_time, rates | {"V_nvl": getattr(c, f"{axis}_nvlink"), "V_net": 0})
        across = value(level_time, rates | {"V_nvl": 0, "V_net": getattr(c, f"{axis}_network_node")})
        return "NVLink" if inside >= across else "the network"

    @property
    def binds(self) -> str:
        """The bottleneck: memory, if a choice does not fit; else the largest part of the step besides arithmetic."""
        if not self.fits:
            return self.too_much
        worst = max(self.losses, key=self.losses.get)
        share = self.losses[worst]
        if share < 0.02:
            return f"arithmetic: {show(self.useful, '%', digits=2)} of the step"
        if worst == "extra":
            cause = "uneven stages" if self.choice.recompute == "none" else "recomputation"
            return f"{cause}: {show(share, '%', digits=2)} of the step"
        over = f" over {self.level(worst)}" if worst in ("tp", "cp", "ep", "dp") else ""
        return f"{CAUSES[worst]}{over}: {show(share, '%', digits=2)} of the step"

    @property
    def too_much(self) -> str:
        """Why it does not fit, with the largest part."""
        c = self.costs
        if c.states > self.room:
            return _over(c.states, self.room, " of weights, gradients and optimizer")
        rest = f"{_bytes(c.activations)} of activations, {_bytes(c.working)} of buffers"
        return f"{_over(c.memory, self.room)}: {_bytes(c.states)} of states, {rest}"

    def record(self) -> dict:
        """As plain data."""
        low, high = self.band
        own = {"choice": vars(self.choice), "fits": self.fits, "binds": self.binds, "low": low, "high": high}
        own |= {"unlike": list(self.unlike)}
        return own | self.costs.record()


@dataclass(frozen=True)
class Outcomes(_Numbers):
    """Many choices, each number of an ``Outcome`` as an array with an element per choice.

    ``possible`` is False for a choice that has no layout at all: its costs are nan, and it does not fit. ``costs`` has
    the columns of ``gpuscale.plan.columns``, ``room`` the bytes of a GPU that may be used, ``factor`` the width of each
    band on either side.
    """

    possible: np.ndarray
    costs: Costs
    room: float
    factor: np.ndarray

    def __len__(self) -> int:
        return len(self.possible)

    def record(self) -> dict[str, np.ndarray]:
        """All arrays by name, as for a table."""
        low, high = self.band
        return {"possible": self.possible, "fits": self.fits, "low": low, "high": high, **self.costs.record()}


def _bytes(value: float, digits: int = 4) -> str:
    return show(value, "B", short=True, digits=digits)


def _over(size: float, room: float, of: str = "") -> str:
    """That a size does not fit, with enough digits to tell the two apart."""
    digits = next((d for d in range(4, 12) if _bytes(size, d) != _bytes(room, d)), 12)
    return f"{_bytes(size, digits)}{of} do not fit into {_bytes(room, digits)}"
