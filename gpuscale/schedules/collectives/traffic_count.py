"""Counts the units that a table of transfers moves: by node, by step, between sets, over physical links."""

from fractions import Fraction

import numpy as np


def check(schedule) -> None:
    """Raises ValueError where a schedule's columns, sizes or masks do not fit together."""
    step, source, target, chunk, reduce = schedule.columns
    title, nodes = schedule.title, schedule.nodes
    if not step.size == source.size == target.size == chunk.size == reduce.size:
        raise ValueError(f"{title}: columns: expected equal lengths; got {[c.size for c in schedule.columns]}")
    if schedule.size.shape != (schedule.chunks,) or (schedule.size < 0).any():
        raise ValueError(f"{title}: size: expected {schedule.chunks} whole numbers, 0 or more; got {schedule.size}")
    if schedule.whole < 1:
        raise ValueError(f"{title}: whole: expected 1 unit or more; got {schedule.whole}")
    for name in ("start", "end"):
        if np.shape(getattr(schedule, name)) != (schedule.ranks, schedule.chunks):
            got = np.shape(getattr(schedule, name))
            raise ValueError(f"{title}: {name}: expected shape {(schedule.ranks, schedule.chunks)}; got {got}")
    if schedule.switch_names and len(schedule.switch_names) != schedule.switches:
        raise ValueError(f"{title}: switch_names: expected {schedule.switches}; got {len(schedule.switch_names)}")
    if not step.size:
        return
    jumps = np.diff(step)
    if step[0] != 0 or jumps.min(initial=0) < 0 or jumps.max(initial=0) > 1:
        raise ValueError(f"{title}: step: expected 0, 1, 2, ... in order, none left out")
    for name, column, least, limit in (
        ("source", source, 0, nodes),
        ("target", target, 0, nodes),
        ("chunk", chunk, 0, schedule.chunks),
    ):
        if column.min() < least or column.max() >= limit:
            raise ValueError(f"{title}: {name}: expected {least} to {limit - 1}; got {column.min()} to {column.max()}")
    if (source == target).any():
        raise ValueError(f"{title}: target: a node sends to itself (node {source[source == target][0]})")


def span(schedule, upto: int | None, after: int = 0) -> slice:
    """The rows of the steps from ``after`` to before ``upto`` (None: to the last)."""
    upto = schedule.steps if upto is None else upto
    if not 0 <= upto <= schedule.steps:
        raise ValueError(f"upto: expected 0 to {schedule.steps} steps; got {upto}")
    first, last = np.searchsorted(schedule.columns[0], [after, upto])
    return slice(int(first), int(last))


def _total(keys, units, length) -> np.ndarray:
    """Sum of whole units for each key, exact."""
    out = np.zeros(length, np.int64)
    np.add.at(out, keys, units)
    return out


def by_node(schedule, column: int, upto: int | None) -> np.ndarray:
    """Units for each node, as source (column 1) or target (column 2)."""
    rows = span(schedule, upto)
    return _total(schedule.columns[column][rows], schedule.size[schedule.columns[3][rows]], schedule.nodes)


def between(schedule, sources, targets, upto: int | None) -> int:
    """Units from a set of nodes to another."""
    rows = span(schedule, upto)
    _, source, target, chunk, _ = (column[rows] for column in schedule.columns)
    hit = np.isin(source, list(sources)) & np.isin(target, list(targets))
    return int(schedule.size[chunk[hit]].sum())


def busiest_steps(schedule) -> np.ndarray:
    """For each step, the most units that one rank sends or receives in it."""
    step, _, _, chunk, _ = schedule.columns
    worst = np.zeros(schedule.steps, np.int64)
    for column in schedule.columns[1:3]:
        keys = step.astype(np.int64) * schedule.nodes + column
        loads = _total(keys, schedule.size[chunk], schedule.steps * schedule.nodes)
        loads = loads.reshape(schedule.steps, schedule.nodes)[:, : schedule.ranks]
        worst = np.maximum(worst, loads.max(axis=1, initial=0))
    return worst


def links(schedule, routes, upto: int | None = None, after: int = 0) -> dict:
    """Units over each directed physical link, in Fractions (a transfer may be split over equal ways)."""
    rows = span(schedule, upto, after)
    _, source, target, chunk, _ = (column[rows] for column in schedule.columns)
    pairs, which = np.unique(source.astype(np.int64) * schedule.nodes + target, return_inverse=True)
    units = _total(which, schedule.size[chunk], pairs.size)
    loads: dict = {}
    for pair, amount in zip(pairs.tolist(), units.tolist(), strict=True):
        for share, way in routes.ways(pair // schedule.nodes, pair % schedule.nodes):
            for link in way:
                loads[link] = loads.get(link, 0) + amount * share
    return {link: Fraction(loads[link]) for link in sorted(loads)}
