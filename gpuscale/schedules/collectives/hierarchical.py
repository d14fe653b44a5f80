"""Collectives over a tree of levels: one phase per level, among ranks at the same position below it.

``degrees``: children of a unit at each level, from the lowest, (8, 32, 4) for a pod of 1,024 GPUs; ranks are numbered
from left to right. ``inner``: the array is sharded over that many neighboring ranks, and each rank talks only to
those with its number modulo ``inner``; V is the whole array. Which physical links a phase loads is for
``gpuscale.schedules.collectives.routes.Tree`` to say, with NICs that feed their GPU (rails) or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, close_gaps, gathering
from gpuscale.schedules.counts import need_count, need_counts


@dataclass(frozen=True)
class _Phase:
    """One level: ``members`` ranks, ``stride`` apart. In an all-gather each of them comes to it with ``parts`` chunks,
    gathered on the levels above: those whose owner has its own number modulo ``modulus``, the ranks of a unit."""

    members: int
    stride: int
    modulus: int
    parts: int

    def rows(self, ranks: int, ring: bool) -> tuple[np.ndarray, ...]:
        """Turn, source, target and chunk of the phase of an all-gather; in one turn unless in a ring."""
        turn, rank, part = (a.ravel() for a in np.indices((self.members - 1, ranks, self.parts)))
        place = rank // self.stride % self.members

        def at(where):
            return rank + (where % self.members - place) * self.stride

        if ring:
            source, target, owner = rank, at(place + 1), at(place - turn)
        else:
            source, target, owner = rank, at(place + turn + 1), rank
            turn = np.zeros_like(turn)
        return turn, source, target, owner % self.modulus + part * self.modulus

    def turns(self, ring: bool) -> int:
        """Steps of the phase."""
        return (self.members - 1 if ring else 1) if self.members > 1 else 0


def _phases(degrees: tuple[int, ...], inner: int) -> list[_Phase]:
    """The phases of an all-gather, from the top level down; levels on which no rank has a peer are left out."""
    ranks, below, phases = prod(degrees), 1, []
    need_count(inner, "inner")
    for degree in degrees:
        unit = below * degree
        small, large = sorted((inner, unit))
        if large % small:
            raise ValueError(f"inner: expected a divisor or a multiple of the {unit} ranks of a unit; got {inner}")
        first, last = max(below, inner), max(unit, inner)
        if last > first:
            phases.append(_Phase(last // first, first, last, ranks // last))
        below = unit
    if inner > ranks:
        raise ValueError(f"inner: expected at most {ranks} ranks; got {inner}")
    return phases[::-1]


def _build(degrees, inner: int, pieces: int, ring: bool, title: str, kinds: tuple[str, ...]) -> Schedule:
    """Lays the phases one after another; a piece runs one stage behind the piece before it."""
    degrees = need_counts(degrees, "degrees")
    need_count(pieces, "pieces")
    ranks, phases, table = prod(degrees), _phases(degrees, inner), TransferTable()
    stages = [(phase, "scatter") for phase in reversed(phases)] if "scatter" in kinds else []
    stages += [(phase, "gather") for phase in phases] if "gather" in kinds else []
    length = [phase.turns(ring) for phase, _ in stages]
    if pieces > 1:
        length = [max(length, default=0)] * len(stages)  # phases of different levels run side by side
    for number, (phase, kind) in enumerate(stages):
        turn, source, target, chunk = phase.rows(ranks, ring)
        if kind == "scatter":  # the mirror image: reversed in time, from target to source
            turn, source, target = phase.turns(ring) - 1 - turn, target, source
        for piece in range(pieces):
            first = sum(length[:number]) + piece * max(length, default=0)
            table.add(turn + first, source, target, chunk * pieces + piece, kind == "scatter")
    owner, rank = np.repeat(np.arange(ranks), pieces), np.arange(ranks)[:, None]
    own, every = owner == rank, owner % inner == rank % inner
    start = every if kinds[0] == "scatter" else own
    end = every if kinds[-1] == "gather" else own
    columns = close_gaps(table.done())
    return Schedule(title, ranks, ranks * pieces, columns, start, end, group=degrees[0] if len(degrees) > 1 else 0)


def all_gather(degrees: Sequence[int], inner: int = 1, pieces: int = 1, ring: bool = False) -> Schedule:
    """Hierarchical all-gather: first among equal positions of the top level's units, last inside the nodes.

    Each phase is one step in which a rank sends to all its peers, or with ``ring`` a ring of them. ``pieces`` above
    one: the array is split, and while one piece is in the phase of a lower level the next is in that of the level
    above, so that the levels overlap. Raises ValueError for degrees below one and for an ``inner`` that does not fit.
    """
    return _build(degrees, inner, pieces, ring, "Hierarchical all-gather", ("gather",))


def reduce_scatter(degrees: Sequence[int], inner: int = 1, pieces: int = 1, ring: bool = False) -> Schedule:
    """Hierarchical reduce-scatter: the all-gather in reverse, from the nodes up."""
    return _build(degrees, inner, pieces, ring, "Hierarchical reduce-scatter", ("scatter",))


def all_reduce(degrees: Sequence[int], inner: int = 1, pieces: int = 1, ring: bool = False) -> Schedule:
    """Hierarchical all-reduce: the reduce-scatter up the levels, then the all-gather down."""
    return _build(degrees, inner, pieces, ring, "Hierarchical all-reduce", ("scatter", "gather"))


def ring_of_nodes(degrees: Sequence[int]) -> Schedule:
    """All-gather by a ring of nodes: ``degrees`` are the GPUs of a node and the nodes.

    In every step a GPU passes a chunk to the GPU of its own place in the next node: its own chunk first, then the one
    that has just arrived. The same chunk goes to its neighbors in the node meanwhile, so that NVLink and network work
    side by side; one last step hands round what arrived last. Raises ValueError unless there are two degrees.
    """
    degrees = need_counts(degrees, "degrees")
    if len(degrees) != 2:
        raise ValueError(f"degrees: expected the GPUs of a node and the nodes; got {degrees}")
    (gpus, nodes), table = degrees, TransferTable()
    ranks = gpus * nodes
    turn, rank = (a.ravel() for a in np.indices((nodes - 1, ranks)))
    table.add(turn, rank, (rank + gpus) % ranks, (rank - turn * gpus) % ranks)
    turn, rank, other = (a.ravel() for a in np.indices((nodes, ranks, gpus - 1)))
    first = rank // gpus * gpus  # of the node
    table.add(turn, rank, first + (rank - first + other + 1) % gpus, (rank - turn * gpus) % ranks)
    return gathering("All-gather by a ring of nodes", ranks, table.done(), group=gpus if nodes > 1 else 0)
