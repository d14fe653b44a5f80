"""What every rank of a training run stores, element by element: weights, gradients, optimizer, sharded in every way.

A model is a list of arrays with their sizes; each rank gets exactly the elements that it stores. Bytes are added up one
element at a time, and nothing here knows a memory formula.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from gpuscale.schedules.counts import need_count

STATES = ("weights", "gradients", "optimizer")


class Array(NamedTuple):
    """A weight array: ``layer`` counts from 0, None for the embedding or the head; ``expert`` counts the routed experts
    of a layer, None for all else; ``last`` says that an array without a layer is the head."""

    name: str
    size: int
    layer: int | None = None
    expert: int | None = None
    last: bool = False


class Rank(NamedTuple):
    """A GPU: its stage of the pipeline, its copy of the model, its slice of the matrices."""

    stage: int
    copy: int
    slice: int


def transformer_arrays(
    layers: int, matrices: Sequence[int], ends: int = 0, experts: int = 0, expert: Sequence[int] = ()
) -> list:
    """Arrays of a transformer: in each layer ``matrices`` of those sizes and ``experts`` times those in ``expert``;
    before the first and after the last layer an array of ``ends`` elements (0: none)."""
    arrays = [Array("embedding", ends)] if ends else []
    for layer in range(need_count(layers, "layers")):
        arrays += [Array(f"matrix {i}", size, layer) for i, size in enumerate(matrices)]
        arrays += [Array(f"expert {e}.{i}", size, layer, e) for e in range(experts) for i, size in enumerate(expert)]
    return [*arrays, Array("head", ends, last=True)] if ends else arrays


@dataclass(frozen=True)
class Layout:
    """How a model is laid out: ``copies`` (X) of it, each matrix in ``slices`` (Y), the layers in ``stages``; routed
    experts whole over ``shards`` (Z) of the X Y GPUs of a stage (0: sharded like everything else). ``zero``: 0 to 3.
    Raises ValueError for layers, experts or GPUs that do not divide evenly."""

    arrays: tuple[Array, ...]
    copies: int = 1
    slices: int = 1
    stages: int = 1
    shards: int = 0
    zero: int = 0

    def __post_init__(self):
        object.__setattr__(self, "arrays", tuple(self.arrays))
        for name in ("copies", "slices", "stages"):
            need_count(getattr(self, name), name)
        if self.zero not in range(4):
            raise ValueError(f"zero: expected 0, 1, 2 or 3; got {self.zero!r}")
        if self.layers % self.stages:
            raise ValueError(f"stages: expected a divisor of the {self.layers} layers; got {self.stages}")
        if self.shards and (self.experts % self.shards or self.copies * self.slices % self.shards):
            raise ValueError(
                f"shards: expected a divisor of the {self.experts} experts and of a stage's GPUs; got {self.shards}"
            )

    @property
    def layers(self) -> int:
        """Layers of the model."""
        return len({a.layer for a in self.arrays} - {None})

    @property
    def experts(self) -> int:
        """Routed experts of a layer."""
        return len({a.expert for a in self.arrays} - {None})

    @property
    def ranks(self) -> list[Rank]:
        """All GPUs."""
        return [Rank(*at) for at in product(range(self.stages), range(self.copies), range(self.slices))]

    def stage_of(self, array: Array) -> int:
        """The stage that holds an array: the embedding is in the first, the head in the last."""
        if array.layer is None:
            return self.stages - 1 if array.last else 0
        return array.layer * self.stages // self.layers

    def owners(self, array: Array, rank: Rank) -> tuple[list[Rank], np.ndarray] | None:
        """The ranks that hold the same part of an array as this one does, and the part; None if it holds none."""
        if self.stage_of(array) != rank.stage:
            return None
        peers = [r for r in self.ranks if r.stage == rank.stage]
        if array.expert is not None and self.shards:
            mine = self._shard(rank)
            if array.expert * self.shards // self.experts != mine:
                return None
            return [r for r in peers if self._shard(r) == mine], np.arange(array.size)
        part = np.array_split(np.arange(array.size), self.slices)[rank.slice]
        return [r for r in peers if r.slice == rank.slice], part

    def _shard(self, rank: Rank) -> int:
        """Which of the expert shards a GPU is: neighbors hold different experts."""
        return (rank.copy * self.slices + rank.slice) % self.shards

    def keeps(self, rank: Rank, state: str) -> dict[tuple[int, str], np.ndarray]:
        """The elements of a state that a rank stores between steps: {(layer, name): element numbers}."""
        cut = STATES.index(state) >= 3 - self.zero  # ZeRO-1 shards the last state, ZeRO-2 two, ZeRO-3 all three
        kept = {}
        for array in self.arrays:
            found = self.owners(array, rank)
            if found is not None:
                copies, part = found
                layer = -1 if array.layer is None else array.layer
                kept[layer, array.name] = np.array_split(part, len(copies))[copies.index(rank)] if cut else part
        return kept

    def count(self, rank: Rank, state: str) -> int:
        """Elements of a state on a rank."""
        return sum(len(elements) for elements in self.keeps(rank, state).values())

    def bytes_of(self, rank: Rank, widths: Iterable) -> Fraction:
        """Bytes of a rank, for the bytes of an element of weights, gradients and optimizer."""
        pairs = zip(STATES, widths, strict=True)
        return sum((Fraction(width) * self.count(rank, state) for state, width in pairs), Fraction(0))

    def fullest(self, widths: Iterable) -> Fraction:
        """Bytes of the rank that stores most."""
        widths = tuple(widths)
        return max(self.bytes_of(rank, widths) for rank in self.ranks)
