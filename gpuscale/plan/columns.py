"""The columns of a plan's numbers, each with its unit and its meaning. Base units: bytes and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields


def described(meaning: str, default=MISSING, **more: str):
    """A field of a dataclass, with its meaning and further facts about it as metadata."""
    return field(default=default, metadata={"meaning": meaning} | more)


@dataclass(frozen=True)
class StepTimes:
    """A step by cause, at one set of rates. All from ``math`` to ``bubble`` add up to ``step``."""

    need: float = described("arithmetic that the model needs, spread evenly over all GPUs", unit="s")
    math: float = described("matmuls in the slowest stage, recomputation included", unit="s")
    kernels: float = described("memory traffic of the kernels between the matmuls", unit="s")
    tp_wait: float = described("exposed communication of tensor parallelism", unit="s")
    cp_wait: float = described("exposed communication of context parallelism", unit="s")
    ep_wait: float = described("exposed communication of expert parallelism", unit="s")
    dp_wait: float = described("exposed communication of data parallelism", unit="s")
    pp_wait: float = described("exposed transfers between stages", unit="s")
    bubble: float = described("bubble: waiting while the pipeline fills and drains", unit="s")
    step: float = described("the whole step", unit="s")
    mfu: float = described(
        "model FLOPs utilization: attention counted over whole sequences, against the dense bf16 peak", unit="1"
    )

    @property
    def extra(self) -> float:
        """Seconds of matmuls beyond what the model needs: recomputation, or uneven stages."""
        return self.math - self.need


@dataclass(frozen=True)
class ExpectedTimes:
    """The expected step by cause, with the constants of a calibration. All from ``matmuls`` to ``update`` add up to
    ``step``."""

    need: float = described("matmuls that the model needs, spread evenly over all GPUs", unit="s")
    matmuls: float = described("matmuls in the slowest stage, recomputation included", unit="s")
    attention: float = described("attention: scores and weighted sums, which run slower than matmuls", unit="s")
    experts: float = described("what the experts' grouped matmuls take longer than plain ones", unit="s")
    kernels: float = described("memory traffic of the kernels between the matmuls", unit="s")
    loss: float = described("memory traffic of the loss", unit="s")
    sums: float = described("memory traffic of adding up the gradients of microbatches", unit="s")
    tp: float = described("exposed communication of tensor parallelism", unit="s")
    cp: float = described("exposed communication of context parallelism", unit="s")
    ep: float = described("exposed communication of expert parallelism", unit="s")
    host: float = described("waiting for the host to launch kernels", unit="s")
    bubble: float = described("bubble: waiting while the pipeline fills and drains", unit="s")
    pp: float = described("exposed transfers between stages", unit="s")
    dp: float = described("exposed communication of data parallelism", unit="s")
    update: float = described("the optimizer, and a fixed time per step", unit="s")
    step: float = described("the whole step", unit="s")
    mfu: float = described("model FLOPs utilization, counted as above", unit="1")


@dataclass(frozen=True)
class Costs:
    """The costs of a choice, or arrays of the costs of many.

    ``at_peak`` are the times at data-sheet rates, a bound for this schedule and this overlap. ``at_measured_rates`` are
    the same bound at the best rates measured on such machines or similar ones. ``expected`` are the times with the
    constants of the request's calibration.
    """

    microbatches: float = described("microbatches per step", unit="1")
    stage_layers: float = described("layers of the fullest stage", unit="1")
    weights: float = described("weights on a GPU of the fullest stage", unit="B")
    gradients: float = described("gradients on a GPU of the fullest stage", unit="B")
    optimizer: float = described("optimizer state on a GPU of the fullest stage", unit="B")
    states: float = described("weights, gradients and optimizer together", unit="B")
    activations: float = described("activations on a GPU of the first or the last stage, whichever has more", unit="B")
    working: float = described(
        "buffers: gathered layers, what is being recomputed, and what a framework adds", unit="B"
    )
    memory: float = described("total of a GPU of the fullest stage; frameworks add buffers", unit="B")
    tp_nvlink: float = described("tensor parallelism per step, into a GPU over NVLink", unit="B")
    tp_network_node: float = described("tensor parallelism per step, into a node over the network", unit="B")
    cp_nvlink: float = described("context parallelism per step, into a GPU over NVLink", unit="B")
    cp_network_node: float = described("context parallelism per step, into a node over the network", unit="B")
    ep_nvlink: float = described("expert parallelism per step, into a GPU over NVLink", unit="B")
    ep_network_node: float = described("expert parallelism per step, into a node over the network", unit="B")
    dp_nvlink: float = described("data parallelism per step, into a GPU over NVLink", unit="B")
    dp_network_node: float = described("data parallelism per step, into a node over the network", unit="B")
    pp_bytes: float = described("between a GPU and the next stage per step, both directions", unit="B")
    at_peak: StepTimes
    at_measured_rates: StepTimes
    expected: ExpectedTimes

    @classmethod
    def of(cls, values: Sequence) -> Costs:
        """From one value, or one array, for each of NAMES."""
        left = iter(values)
        own = [next(left) for _ in _OWN]
        times = {name: kind(*(next(left) for _ in fields(kind))) for name, kind in GROUPS.items()}
        return cls(*own, **times)

    def record(self) -> dict:
        """The values by NAMES."""
        own = {column.name: getattr(self, column.name) for column in _OWN}
        for name in GROUPS:
            own |= {f"{column}_{name}": value for column, value in vars(getattr(self, name)).items()}
        return own


# The three sets of times, by what ends the names of their columns: the class of each
GROUPS = {"at_peak": StepTimes, "at_measured_rates": StepTimes, "expected": ExpectedTimes}
_OWN = [column for column in fields(Costs) if column.metadata]
_TIMES = {f"{column.name}_{name}": column for name, kind in GROUPS.items() for column in fields(kind)}
NAMES = (*(column.name for column in _OWN), *_TIMES)
SOUGHT = ("memory", "states", "step_expected")  # those by which a search decides


def fields_of(kind) -> dict[str, str]:
    """The meanings of a class's columns by name."""
    return {column.name: column.metadata["meaning"] for column in fields(kind)}


def explained() -> str:
    """A line for each column: name, unit, meaning."""

    def line(name: str, column) -> str:
        return f"  {name:18} [{column.metadata['unit']}]  {column.metadata['meaning']}"

    out = [line(column.name, column) for column in _OWN]
    out += ["times at data-sheet rates, a bound for this schedule and this overlap:"]
    out += [line(f"{c.name}_at_peak", c) for c in fields(StepTimes)]
    out += ["  ..._at_measured_rates  the same bound at the best rates measured on such machines or similar ones"]
    out += ["expected times:", *(line(f"{c.name}_expected", c) for c in fields(ExpectedTimes))]
    return "\n".join(out)
