"""The columns of a plan's numbers, each with its unit and its meaning. Base units: bytes and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields


def _column(unit: str, meaning: str):
    return field(metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True)
class StepTimes:
    """A step by cause, at one set of rates. All from ``math`` to ``bubble`` add up to ``step``."""

    need: float = _column("s", "arithmetic that the model needs, spread evenly over all GPUs")
    math: float = _column("s", "matmuls in the slowest stage, recomputation included")
    kernels: float = _column("s", "memory traffic of the kernels between the matmuls")
    tp_wait: float = _column("s", "exposed communication of tensor parallelism")
    cp_wait: float = _column("s", "exposed communication of context parallelism")
    ep_wait: float = _column("s", "exposed communication of expert parallelism")
    dp_wait: float = _column("s", "exposed communication of data parallelism")
    pp_wait: float = _column("s", "exposed transfers between stages")
    bubble: float = _column("s", "bubble: waiting while the pipeline fills and drains")
    step: float = _column("s", "the whole step")
    mfu: float = _column(
        "1", "model FLOPs utilization: attention counted over whole sequences, against the dense bf16 peak"
    )

    @property
    def extra(self) -> float:
        """Seconds of matmuls beyond what the model needs: recomputation, or uneven stages."""
        return self.math - self.need


@dataclass(frozen=True)
class Costs:
    """The costs of a choice, or arrays of the costs of many.

    ``peak`` are the times at the peaks, ``reached`` those at the efficiencies of the request.
    """

    microbatches: float = _column("1", "microbatches per step")
    stage_layers: float = _column("1", "layers of the fullest stage")
    weights: float = _column("B", "weights on a GPU of the fullest stage")
    gradients: float = _column("B", "gradients on a GPU of the fullest stage")
    optimizer: float = _column("B", "optimizer state on a GPU of the fullest stage")
    states: float = _column("B", "weights, gradients and optimizer together")
    activations: float = _column("B", "activations on a GPU of the first or the last stage, whichever has more")
    working: float = _column("B", "gathered layers, and a layer being recomputed")
    memory: float = _column("B", "total of a GPU, at most")
    tp_nvlink: float = _column("B", "tensor parallelism per step, into a GPU over NVLink")
    tp_network_node: float = _column("B", "tensor parallelism per step, into a node over the network")
    cp_nvlink: float = _column("B", "context parallelism per step, into a GPU over NVLink")
    cp_network_node: float = _column("B", "context parallelism per step, into a node over the network")
    ep_nvlink: float = _column("B", "expert parallelism per step, into a GPU over NVLink")
    ep_network_node: float = _column("B", "expert parallelism per step, into a node over the network")
    dp_nvlink: float = _column("B", "data parallelism per step, into a GPU over NVLink")
    dp_network_node: float = _column("B", "data parallelism per step, into a node over the network")
    pp_bytes: float = _column("B", "between a GPU and the next stage per step, both directions")
    peak: StepTimes
    reached: StepTimes

    @classmethod
    def of(cls, values: Sequence) -> Costs:
        """From one value, or one array, for each of NAMES."""
        own, late = len(_OWN), len(_OWN) + len(_TIMES)
        return cls(*values[:own], peak=StepTimes(*values[own:late]), reached=StepTimes(*values[late:]))

    def record(self) -> dict:
        """The values by NAMES."""
        own = {column.name: getattr(self, column.name) for column in _OWN}
        return own | vars(self.peak) | {f"{name}_reached": value for name, value in vars(self.reached).items()}


_TIMES = fields(StepTimes)
_OWN = [column for column in fields(Costs) if column.metadata]
NAMES = (*(column.name for column in (*_OWN, *_TIMES)), *(f"{column.name}_reached" for column in _TIMES))


def explained() -> str:
    """A line for each column: name, unit, meaning."""
    lines = [f"  {c.name:17} [{c.metadata['unit']}]  {c.metadata['meaning']}" for c in (*_OWN, *_TIMES)]
    return "\n".join([*lines, "  ..._reached       [s]  these times at the achieved rates, as in the table"])
