"""Doubling and halving for any number of ranks: surplus ranks fold into a neighbor, and the others are a power of two.

With p the largest power of two up to N, the first 2 (N - p) ranks are pairs, of which one takes part for both. Each
schedule names the one that does.
"""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, every, only, own
from gpuscale.schedules.counts import need_count


def _folded(ranks: int, odd: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ranks that take part, a power of two; those of the pairs that do; and their partners, who do not."""
    power = 1 << (need_count(ranks).bit_length() - 1)
    even = 2 * np.arange(ranks - power)
    inside, outside = (even + 1, even) if odd else (even, even + 1)
    return np.delete(np.arange(ranks), outside), inside, outside


def _distances(power: int) -> list[int]:
    return [1 << k for k in range(power.bit_length() - 1)]


def all_reduce(ranks: int) -> Schedule:
    """Recursive doubling with a fold: each even rank of a pair adds its vector to the odd one's, and gets the sum back.

    For a power of two this is recursive doubling.
    """
    members, odd, even = _folded(ranks, odd=True)
    table, first = TransferTable(), int(odd.size > 0)
    table.add(0, even, odd, 0, True)
    distances = _distances(members.size)
    for step, distance in enumerate(distances, first):
        table.add(step, members, members[np.arange(members.size) ^ distance], 0, True)
    table.add(first + len(distances), odd, even, 0)
    return Schedule("Folded recursive-doubling all-reduce", ranks, 1, table.done(), every(ranks, 1), every(ranks, 1))


def _halve(table: TransferTable, members: np.ndarray, first: int) -> int:
    """Rabenseifner's reduce-scatter among a power of two: partners at distance 1, 2, 4, ... exchange half of what they
    still hold; chunk c ends at member c. Returns the step after it."""
    power = members.size
    for distance in _distances(power):
        member, chunk = (a.ravel() for a in np.indices((power, power)))
        partner = member ^ distance
        goes = (chunk % distance == member % distance) & (chunk % (2 * distance) == partner % (2 * distance))
        table.add(first, members[member[goes]], members[partner[goes]], chunk[goes], True)
        first += 1
    return first


def _fold_halves(table: TransferTable, even: np.ndarray, odd: np.ndarray, power: int) -> int:
    """The ranks of a pair swap halves and add, then the odd one hands its half of the sum to the even one."""
    if not even.size:
        return 0
    low, high = np.arange(power)[None, : power // 2], np.arange(power)[None, power // 2 :]
    even, odd = even[:, None], odd[:, None]
    table.add(0, even, odd, high, True)
    table.add(0, odd, even, low, True)
    table.add(1, odd, even, high)
    return 2


def rabenseifner(ranks: int) -> Schedule:
    """Rabenseifner's all-reduce: a reduce-scatter by halves at distance 1, 2, 4, ..., then an all-gather in reverse.

    Ranks of a pair first swap halves; the even one takes part, and sends the result to the odd one.
    """
    members, even, odd = _folded(ranks, odd=False)
    table, power = TransferTable(), members.size
    step = _halve(table, members, _fold_halves(table, even, odd, power))
    for distance in reversed(_distances(power)):
        member, chunk = (a.ravel() for a in np.indices((power, power)))
        goes = chunk % (2 * distance) == member % (2 * distance)
        table.add(step, members[member[goes]], members[member[goes] ^ distance], chunk[goes])
        step += 1
    table.add(step, even[:, None], odd[:, None], np.arange(power)[None])
    whole = every(ranks, power)
    return Schedule("Rabenseifner all-reduce", ranks, power, table.done(), whole, whole)


def reduce(ranks: int) -> Schedule:
    """Rabenseifner's reduce to rank 0: the same reduce-scatter, then a binomial gather."""
    members, even, odd = _folded(ranks, odd=False)
    table, power = TransferTable(), members.size
    step = _halve(table, members, _fold_halves(table, even, odd, power))
    for distance in reversed(_distances(power)):
        member, chunk = (a.ravel() for a in np.indices((power, power)))
        goes = (member // distance == 1) & (chunk % (2 * distance) == member)
        table.add(step, members[member[goes]], members[member[goes] - distance], chunk[goes])
        step += 1
    return Schedule("Rabenseifner reduce", ranks, power, table.done(), every(ranks, power), only(ranks, power, 0))


def reduce_scatter(ranks: int) -> Schedule:
    """Recursive halving with a fold: each even rank of a pair gives its vector to the odd one, and gets its chunk back.

    A member holds the chunks of its pair. For a power of two this is recursive halving.
    """
    members, odd, even = _folded(ranks, odd=True)
    table, power, step = TransferTable(), members.size, 0
    if odd.size:
        table.add(0, even[:, None], odd[:, None], np.arange(ranks)[None], True)
        step = 1
    belongs = np.searchsorted(members, np.arange(ranks))  # the member that collects each chunk
    for distance in reversed(_distances(power)):
        member, chunk = (a.ravel() for a in np.indices((power, ranks)))
        partner = member ^ distance
        goes = belongs[chunk] // distance == partner // distance
        table.add(step, members[member[goes]], members[partner[goes]], chunk[goes], True)
        step += 1
    table.add(step, odd, even, even)
    return Schedule(
        "Folded recursive-halving reduce-scatter", ranks, ranks, table.done(), every(ranks, ranks), own(ranks)
    )
