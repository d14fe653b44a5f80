"""The columns of a plan's numbers, each with its unit and its meaning. Base units: bytes and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields


def _column(unit: str, meaning: str):
    return field(metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True)
class StepTimes:
    """A step by cause, at one set of rates. All from ``math`` to ``bubble`` add up to ``step``."""

    need: float = _column("s", "arithmetic that the model asks for, spread evenly over all GPUs")
    math: float = _column("s", "products in the slowest stage, with what is recomputed")
    kernels: float = _column("s", "memory traffic of the kernels between the products")
    tp_wait: float = _column("s", "tensor parallelism that nothing hides")
    cp_wait: float = _column("s", "context parallelism that nothing hides")
    ep_wait: float = _column("s", "expert parallelism that nothing hides")
    dp_wait: float = _column("s", "data parallelism that nothing hides")
    pp_wait: float = _column("s", "transfers between stages that nothing hides")
    bubble: float = _column("s", "waiting while the pipeline fills and drains")
    step: float = _column("s", "the whole step")
    mfu: float = _column(
        "1", "model FLOPs utilization: attention counted over whole sequences, against the dense bf16 peak"
    )

    @property
    def extra(self) -> float:
        """Seconds of products beyond what the model asks for: recomputed, or in stages that are not even."""
        return self.math - self.need


@dataclass(frozen=True)
class Costs:
    """What a choice costs, or arrays of what many do.

    ``peak`` are the times at the peaks, ``reached`` those at the shares that a request says are reached.
    """

    microbatches: float = _column("1", "microbatches of a step")
    stage_layers: float = _column("1", "layers of the fullest stage")
    weights: float = _column("B", "weights on a GPU of the fullest stage")
    gradients: float = _column("B", "gradients on a GPU of the fullest stage")
    optimizer: float = _column("B", "what the optimizer keeps on a GPU of the fullest stage")
    states: float = _column("B", "weights, gradients and optimizer together")
    activations: float = _column("B", "activations on a GPU of the first or the last stage, whichever has more")
    working: float = _column("B", "gathered layers, and a layer that is recomputed")
    memory: float = _column("B", "all of a GPU, at most")
    tp_nvlink: float = _column("B", "tensor parallelism in a step, into a GPU over NVLink")
    tp_network_node: float = _column("B", "tensor parallelism in a step, into a whole node over the network")
    cp_nvlink: float = _column("B", "context parallelism in a step, into a GPU over NVLink")
    cp_network_node: float = _column("B", "context parallelism in a step, into a whole node over the network")
    ep_nvlink: float = _column("B", "expert parallelism in a step, into a GPU over NVLink")
    ep_network_node: float = _column("B", "expert parallelism in a step, into a whole node over the network")
    dp_nvlink: float = _column("B", "data parallelism in a step, into a GPU over NVLink")
    dp_network_node: float = _column("B", "data parallelism in a step, into a whole node over the network")
    pp_bytes: float = _column("B", "between a GPU and the next stage in a step, there and back")
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
    return "\n".join(
        [*lines, "  ..._reached       [s]  these times at the shares of the peaks that are reached, as in the table"]
    )
