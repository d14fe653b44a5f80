"""What the nodes hold while a schedule runs: real numbers, or the set of ranks that contributed to each chunk."""

import numpy as np


def _spread(schedule, chunk, factor) -> tuple[np.ndarray, np.ndarray]:
    """For rows of chunks: which row and which place on the first axis each number has."""
    length = schedule.size * factor
    begins = np.concatenate([[0], np.cumsum(length)])
    many = length[chunk]
    row = np.repeat(np.arange(chunk.size), many)
    first = np.cumsum(many) - many
    return row, begins[chunk][row] + np.arange(many.sum()) - first[row]


def _clash(schedule, step: int) -> None:
    """Raises ValueError for two writes of a step to one place, unless all of them add, from different nodes."""
    _, source, target, chunk, reduce = (column[schedule.rows(step)] for column in schedule.columns)
    place = target.astype(np.int64) * schedule.chunks + chunk
    _, which, times = np.unique(place, return_inverse=True, return_counts=True)
    twice = times[which] > 1
    repeated = np.unique(place * schedule.nodes + source).size < place.size
    if repeated or (twice & ~reduce).any():
        raise ValueError(f"{schedule.title}: step {step}: two transfers write one chunk of one node")


def _unheld(schedule, step: int, held) -> None:
    _, source, _, chunk, _ = (column[schedule.rows(step)] for column in schedule.columns)
    missing = np.flatnonzero(~held[source, chunk])
    if missing.size:
        node, which = schedule.name(int(source[missing[0]])), int(chunk[missing[0]])
        raise ValueError(f"{schedule.title}: step {step}: {node} sends chunk {which}, which it does not hold")


def _load(schedule, buffers) -> tuple[np.ndarray, int]:
    """The numbers of all nodes, shape (nodes, places, ...), and how many numbers a unit has."""
    if len(buffers) != schedule.ranks:
        raise ValueError(f"buffers: expected {schedule.ranks} arrays, one per rank; got {len(buffers)}")
    units = schedule.start @ schedule.size
    arrays = [None if b is None else np.asarray(b) for b in buffers]
    used = [r for r in range(schedule.ranks) if units[r]]
    if any(arrays[r] is None or not arrays[r].ndim for r in used):
        raise ValueError("buffers: expected an array of one dimension or more for each rank that starts with a chunk")
    factor = arrays[used[0]].shape[0] // int(units[used[0]]) if used else 1
    trail = arrays[used[0]].shape[1:] if used else ()
    for r, array in enumerate(arrays):
        expected = (int(units[r]) * factor, *trail)
        if array is not None and array.shape != expected and (units[r] or array.size):
            raise ValueError(f"buffers: rank {r}: expected shape {expected}; got {array.shape}")
    kind = np.result_type(*(arrays[r] for r in used)) if used else float
    values = np.zeros((schedule.nodes, int(schedule.size.sum()) * factor, *trail), kind)
    for r in used:
        _, place = _spread(schedule, np.flatnonzero(schedule.start[r]), factor)
        values[r, place] = arrays[r]
    return values, factor


def run(schedule, buffers) -> list[np.ndarray]:
    """See ``Schedule.run``."""
    values, factor = _load(schedule, buffers)
    held = np.zeros((schedule.nodes, schedule.chunks), bool)
    held[: schedule.ranks] = schedule.start
    for step in range(schedule.steps):
        _unheld(schedule, step, held)
        _clash(schedule, step)
        _, source, target, chunk, reduce = (column[schedule.rows(step)] for column in schedule.columns)
        row, place = _spread(schedule, chunk, factor)
        message = values[source[row], place]
        wipe = ~reduce[row]  # a place that holds nothing is zero
        values[target[row][wipe], place[wipe]] = 0
        np.add.at(values, (target[row], place), message)
        held[target, chunk] = True
    lost = np.argwhere(schedule.end & ~held[: schedule.ranks])
    if lost.size:
        raise ValueError(f"{schedule.title}: chunk {lost[0][1]} of the result of rank {lost[0][0]} never arrived")
    results = []
    for rank in range(schedule.ranks):
        _, place = _spread(schedule, np.flatnonzero(schedule.end[rank]), factor)
        results.append(values[rank, place])
    return results


def contributions(schedule) -> list[list[list[int]]]:
    """For the start and after each step: bit r of [node][chunk] says that rank r's contribution is in it."""
    masks = [[0] * schedule.chunks for _ in range(schedule.nodes)]
    for rank, chunk in np.argwhere(schedule.start).tolist():
        masks[rank][chunk] = 1 << rank
    states = [masks]
    for step in range(schedule.steps):
        _clash(schedule, step)
        before, masks = masks, [list(row) for row in masks]
        _unheld(schedule, step, np.array(before, object) != 0)
        for t in schedule[step]:
            sent = before[t.source][t.chunk]
            there = masks[t.target][t.chunk]
            if t.reduce and there & sent:
                who = min(members(there & sent))
                node = schedule.name(t.target)
                gave = f"what rank {who} gave to chunk {t.chunk}"
                raise ValueError(f"{schedule.title}: step {step}: {node} adds {gave} twice")
            masks[t.target][t.chunk] = sent | there if t.reduce else sent
        states.append(masks)
    return states


def members(mask: int) -> frozenset[int] | None:
    """The ranks of a mask; None for an empty one."""
    return frozenset(i for i in range(mask.bit_length()) if mask >> i & 1) if mask else None
