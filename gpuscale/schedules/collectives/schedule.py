"""A collective as an explicit table of transfers: it moves real chunks step by step and counts what it moved.

A row says: in this step, this node sends this chunk to that node, which overwrites its copy or adds to it. All
transfers of a step read what was there before the step. Bytes are counted in whole units, hence exactly, and
nothing here knows a cost formula.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuscale.schedules.collectives import state
from gpuscale.schedules.counts import counted, need_count


class Transfer(NamedTuple):
    """One row: nodes from 0 (switches come after the ranks), chunk from 0, its size in units."""

    step: int
    source: int
    target: int
    chunk: int
    reduce: bool
    units: int


class TransferTable:
    """Collects rows as numpy columns; ``done()`` hands them to a Schedule in the order of their steps."""

    def __init__(self):
        self._parts: list[tuple[np.ndarray, ...]] = []

    def add(self, step, source, target, chunk, reduce=False) -> None:
        """Adds rows; each argument is a number or an array, all of one broadcast shape."""
        self._parts.append(tuple(np.ravel(a) for a in np.broadcast_arrays(step, source, target, chunk, reduce)))

    def done(self) -> tuple[np.ndarray, ...]:
        """The columns step, source, target, chunk (32-bit whole numbers) and reduce (true or false)."""
        kinds = (np.int32,) * 4 + (bool,)
        if not self._parts:
            return tuple(np.zeros(0, kind) for kind in kinds)
        columns = [np.concatenate(part) for part in zip(*self._parts, strict=True)]
        if np.any(np.diff(columns[0]) < 0):
            order = np.argsort(columns[0], kind="stable")
            columns = [column[order] for column in columns]
        return tuple(column.astype(kind) for column, kind in zip(columns, kinds, strict=True))


def columns(step, source, target, chunk, reduce=False) -> tuple[np.ndarray, ...]:
    """The columns of a schedule whose rows are made at once; arguments as in ``TransferTable.add``."""
    table = TransferTable()
    table.add(step, source, target, chunk, reduce)
    return table.done()


def close_gaps(columns: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The same columns with the steps renumbered, because one in which nobody has anything to send is not a step."""
    _, step = np.unique(columns[0], return_inverse=True)
    return (step.astype(np.int32), *columns[1:])


def own(ranks: int, pieces: int = 1) -> np.ndarray:
    """Which chunks carry a rank's number, shape (ranks, chunks). Chunk = owner * pieces + piece."""
    return np.repeat(np.eye(need_count(ranks), dtype=bool), pieces, axis=1)


def every(ranks: int, chunks: int) -> np.ndarray:
    """All chunks at all ranks."""
    return np.ones((ranks, chunks), bool)


def only(ranks: int, chunks: int, rank: int) -> np.ndarray:
    """All chunks at one rank."""
    return np.arange(ranks)[:, None] == np.full((1, chunks), rank)


def _of_whole(share: Fraction) -> str:
    """A fraction of V: "V/8", "7/4 V"."""
    if share.numerator == 1 and share != 1:
        return f"V/{share.denominator}"
    return "V" if share == 1 else f"{share} V" if share else "nothing"


@dataclass(frozen=True, eq=False)
class Schedule:
    """Who sends which chunk to whom in which step.

    ``columns``: step, source, target, chunk, reduce, as ``TransferTable.done()`` gives them. ``start`` and ``end``:
    true or false, shape (ranks, chunks): which chunks a rank holds before the first step, and which make up its result.
    ``size``: units of each chunk (1 each). ``whole``: units of the full buffer V (the sum of the sizes).
    ``switches``: nodes that are no ranks; their ids follow those of the ranks, ``switch_names`` names them.
    ``group``: ranks of one node, for drawing (0: no nodes). Raises ValueError for columns that name what is not there.
    """

    title: str
    ranks: int
    chunks: int
    columns: tuple[np.ndarray, ...]
    start: np.ndarray
    end: np.ndarray
    size: np.ndarray | None = None
    whole: int | None = None
    switches: int = 0
    switch_names: tuple[str, ...] = ()
    group: int = 0

    def __post_init__(self):
        need_count(self.ranks)
        size = np.ones(self.chunks, np.int64) if self.size is None else np.asarray(self.size, np.int64)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "whole", int(size.sum()) if self.whole is None else int(self.whole))
        self._check()

    def _check(self) -> None:
        """Raises ValueError if columns, sizes or masks do not fit together."""
        step, source, target, chunk, reduce = self.columns
        title, nodes = self.title, self.nodes
        if not step.size == source.size == target.size == chunk.size == reduce.size:
            raise ValueError(f"{title}: columns: expected equal lengths; got {[c.size for c in self.columns]}")
        if self.size.shape != (self.chunks,) or (self.size < 0).any():
            raise ValueError(f"{title}: size: expected {self.chunks} whole numbers, 0 or more; got {self.size}")
        if self.whole < 1:
            raise ValueError(f"{title}: whole: expected 1 unit or more; got {self.whole}")
        for name in ("start", "end"):
            if np.shape(getattr(self, name)) != (self.ranks, self.chunks):
                got = np.shape(getattr(self, name))
                raise ValueError(f"{title}: {name}: expected shape {(self.ranks, self.chunks)}; got {got}")
        if self.switch_names and len(self.switch_names) != self.switches:
            raise ValueError(f"{title}: switch_names: expected {self.switches}; got {len(self.switch_names)}")
        if not step.size:
            return
        jumps = np.diff(step)
        if step[0] != 0 or jumps.min(initial=0) < 0 or jumps.max(initial=0) > 1:
            raise ValueError(f"{title}: step: expected 0, 1, 2, ... in order, none left out")
        limits = (("source", source, nodes), ("target", target, nodes), ("chunk", chunk, self.chunks))
        for name, column, limit in limits:
            if column.min() < 0 or column.max() >= limit:
                got = f"{column.min()} to {column.max()}"
                raise ValueError(f"{title}: {name}: expected 0 to {limit - 1}; got {got}")
        if (source == target).any():
            raise ValueError(f"{title}: target: a node sends to itself (node {source[source == target][0]})")

    def __repr__(self) -> str:
        """A summary; the columns, thousands of numbers, are attributes."""
        sizes = sorted({self._share(size) for size in self.size})
        each = _of_whole(sizes[-1]) if len(sizes) == 1 else f"{_of_whole(sizes[0])} to {_of_whole(sizes[-1])}"
        lines = [
            self.title,
            counted(self.ranks, "rank") + (f", {counted(self.switches, 'switch', 'es')}" if self.switches else ""),
            f"{counted(self.chunks, 'chunk')} of {each}" if sizes else "no chunks",
            f"{counted(self.steps, 'step')}, {counted(len(self.columns[0]), 'transfer')}",
            f"{_of_whole(self.busiest())} sent by the busiest rank, {_of_whole(self.moved())} by all",
        ]
        return "\n  ".join(lines)

    @property
    def nodes(self) -> int:
        """Ranks and switches."""
        return self.ranks + self.switches

    @property
    def steps(self) -> int:
        """The number of sequential steps."""
        return int(self.columns[0][-1]) + 1 if self.columns[0].size else 0

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, step: int) -> list[Transfer]:
        """The transfers of one step, to read. Raises IndexError for a step that does not exist."""
        rows = self.rows(range(self.steps)[step])
        columns = [column[rows].tolist() for column in self.columns]
        return [Transfer(*row, units=int(self.size[row[3]])) for row in zip(*columns, strict=True)]

    def rows(self, step: int) -> slice:
        """The place of the rows of a step in the columns."""
        return self._span(step + 1, step)

    def _span(self, upto: int | None, after: int = 0) -> slice:
        """Where the rows of the steps from ``after`` to before ``upto`` (None: to the last) lie."""
        upto = self.steps if upto is None else upto
        if not 0 <= upto <= self.steps:
            raise ValueError(f"upto: expected 0 to {self.steps} steps; got {upto}")
        first, last = np.searchsorted(self.columns[0], [after, upto])
        return slice(int(first), int(last))

    def name(self, node: int) -> str:
        """What a node is called: "rank 3", "switch"."""
        if node < self.ranks:
            return f"rank {node}"
        names = self.switch_names
        return names[node - self.ranks] if names else "switch" if self.switches == 1 else f"switch {node - self.ranks}"

    def backwards(self, title: str) -> "Schedule":
        """Reversed in time, from target to source, with sums: an all-gather becomes a reduce-scatter."""
        step, source, target, chunk, reduce = self.columns
        later = step.max(initial=0) - step
        rows = columns(later, target, source, chunk, np.ones_like(reduce))
        return replace(self, title=title, columns=rows, start=self.end, end=self.start)

    def then(self, other: "Schedule", title: str) -> "Schedule":
        """This schedule, then another one. Raises ValueError unless that one starts with what this one ends with."""
        if not np.array_equal(self.end, other.start):
            raise ValueError(f"{title}: {other.title} does not start with what {self.title} ends with")
        later = (other.columns[0] + self.steps, *other.columns[1:])
        rows = tuple(np.concatenate(pair) for pair in zip(self.columns, later, strict=True))
        return replace(self, title=title, columns=rows, end=other.end)

    # What the transfers do

    def run(self, buffers: Sequence) -> list[np.ndarray]:
        """Moves real numbers. ``buffers``: one array for each rank: the chunks that it starts with, one after the
        other along the first axis (units times any common factor; None where it starts with none). Returns one array
        for each rank: the chunks of its result. Raises ValueError for wrong shapes, for a chunk sent by a node that
        does not hold it, for two writes to one place, for a result that did not arrive.
        """
        return state.run(self, buffers)

    @cached_property
    def _states(self) -> list:
        return state.contributions(self)

    def holds(self, step: int) -> list[list[frozenset[int] | None]]:
        """Who holds what after ``step`` steps (0: at the start): for each node and chunk the ranks whose
        contribution it contains, or None. Raises ValueError for a contribution that is added twice."""
        if not 0 <= step <= self.steps:
            raise ValueError(f"step: expected 0 to {self.steps}; got {step}")
        return [[state.members(mask) for mask in row] for row in self._states[step]]

    # What they cost, counted in whole units

    def _share(self, units) -> Fraction:
        return Fraction(int(units), self.whole)

    def _by_node(self, column: int, upto: int | None) -> np.ndarray:
        """Units for each node, as source (column 1) or target (column 2)."""
        rows = self._span(upto)
        return _total(self.columns[column][rows], self.size[self.columns[3][rows]], self.nodes)

    def sent(self, node: int | None = None, upto: int | None = None):
        """What a node sends in the first ``upto`` steps (all), in fractions of V; for no node a list of all nodes."""
        units = self._by_node(1, upto)
        return [self._share(u) for u in units] if node is None else self._share(units[node])

    def received(self, node: int | None = None, upto: int | None = None):
        """What a node receives, as in ``sent``."""
        units = self._by_node(2, upto)
        return [self._share(u) for u in units] if node is None else self._share(units[node])

    def busiest(self, upto: int | None = None) -> Fraction:
        """The most that one rank sends, in fractions of V."""
        return self._share(self._by_node(1, upto)[: self.ranks].max())

    def moved(self, upto: int | None = None) -> Fraction:
        """All that is sent, in fractions of V."""
        return self._share(self._by_node(1, upto).sum())

    def between(self, sources, targets, upto: int | None = None) -> Fraction:
        """What a set of nodes sends to another set, in fractions of V."""
        _, source, target, chunk, _ = (column[self._span(upto)] for column in self.columns)
        hit = np.isin(source, list(sources)) & np.isin(target, list(targets))
        return self._share(self.size[chunk[hit]].sum())

    def matrix(self, V) -> np.ndarray:
        """Bytes that each node (row) sends to each other (column), for a full buffer of ``V`` [B]."""
        _, source, target, chunk, _ = self.columns
        units = _total(source.astype(np.int64) * self.nodes + target, self.size[chunk], self.nodes**2)
        return units.reshape(self.nodes, self.nodes) * V / self.whole

    def messages(self) -> np.ndarray:
        """Messages that each node (row) sends to each other (column): one for all that it sends it in a step."""
        step, source, target, _, _ = self.columns
        _, source, target = np.unique(np.stack([step, source, target]), axis=1)
        return _total(source.astype(np.int64) * self.nodes + target, 1, self.nodes**2).reshape(self.nodes, self.nodes)

    def over_sockets(self, V, header: int, notice: int, pieces: int = 1) -> np.ndarray:
        """Bytes of each link as in ``matrix`` when messages are packed: each costs its sender ``header`` bytes and its
        receiver, who says that it is ready, ``notice`` bytes; each is sent in ``pieces`` messages."""
        messages = pieces * self.messages()
        return self.matrix(V) + header * messages + notice * messages.T

    def per_link(self, routes, upto: int | None = None, after: int = 0) -> dict:
        """Load of each directed physical link in the steps from ``after`` to before ``upto`` (all), in fractions of V;
        ``routes`` as in ``schedules.collectives.routes``. A transfer may be split over equal paths."""
        _, source, target, chunk, _ = (column[self._span(upto, after)] for column in self.columns)
        pairs, which = np.unique(source.astype(np.int64) * self.nodes + target, return_inverse=True)
        units = _total(which, self.size[chunk], pairs.size)
        loads: dict = {}
        for pair, amount in zip(pairs.tolist(), units.tolist(), strict=True):
            for share, way in routes.ways(pair // self.nodes, pair % self.nodes):
                for link in way:
                    loads[link] = loads.get(link, 0) + amount * share
        return {link: Fraction(loads[link]) / self.whole for link in sorted(loads)}

    def time(self, alpha, W, V):
        """Sum over the steps of alpha + (the most bytes that a rank sends or receives in it) / W [s], for a latency
        ``alpha`` [s], bandwidth ``W`` of a rank [B/s, one direction], ``V`` [B]. Exact for whole numbers, Fractions."""
        step, *ends, chunk, _ = self.columns
        worst = np.zeros(self.steps, np.int64)  # units of the rank that sends or receives most in each step
        for node in ends:
            loads = _total(step.astype(np.int64) * self.nodes + node, self.size[chunk], self.steps * self.nodes)
            worst = np.maximum(worst, loads.reshape(self.steps, self.nodes)[:, : self.ranks].max(axis=1, initial=0))
        return self.steps * alpha + self._share(worst.sum()) * V / W

    def link_time(self, routes, bandwidth, alpha, V):
        """Sum over the steps of alpha + the longest time that a physical link needs [s]. ``bandwidth``: a function
        of a link [B/s]."""
        total = self.steps * alpha
        for step in range(self.steps):
            loads = self.per_link(routes, step + 1, step)
            total += max(load * V / bandwidth(link) for link, load in loads.items())
        return total


def _total(keys, units, length) -> np.ndarray:
    """Sum of whole units for each key, exact."""
    out = np.zeros(length, np.int64)
    np.add.at(out, keys, units)
    return out


def gathering(title: str, ranks: int, rows: tuple[np.ndarray, ...], pieces: int = 1, **more) -> Schedule:
    """A schedule after which every rank has the chunks of all; each starts with its own."""
    return Schedule(title, ranks, ranks * pieces, rows, own(ranks, pieces), every(ranks, ranks * pieces), **more)


def exchange(title: str, ranks: int, rows: tuple[np.ndarray, ...]) -> Schedule:
    """A schedule that swaps blocks: chunk s N + t is what rank s has for rank t; V is the whole array, N^2 chunks."""
    chunk = np.arange(ranks**2)
    start, end = (owner == np.arange(ranks)[:, None] for owner in (chunk // ranks, chunk % ranks))
    return Schedule(title, ranks, ranks**2, rows, start, end)
