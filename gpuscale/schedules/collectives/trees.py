"""Trees: binomial broadcast and reduce, and two binary trees at once, pipelined over chunks."""

import numpy as np

from gpuscale.schedules.collectives import doubling, ring
from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, columns, every, only, own
from gpuscale.schedules.counts import need_count, need_rank


def broadcast(ranks: int, root: int = 0, far_first: bool = False) -> Schedule:
    """Binomial broadcast: the ranks that have the buffer double in each of ceil(log2 N) steps.

    The first 2^k send to the next 2^k; with ``far_first``, to ranks N/2 away first, then N/4, ..., 1.
    """
    need_rank(root, ranks)
    table, steps = TransferTable(), (ranks - 1).bit_length()
    for step in range(steps):
        known = 1 << step
        if far_first:
            teller, distance = np.arange(0, ranks, 2 << (steps - 1 - step)), 1 << (steps - 1 - step)
        else:
            teller, distance = np.arange(known), known
        teller = teller[teller + distance < ranks] + root
        table.add(step, teller % ranks, (teller + distance) % ranks, 0)
    return Schedule("Binomial broadcast", ranks, 1, table.done(), only(ranks, 1, root), every(ranks, 1))


def reduce(ranks: int, root: int = 0, near_first: bool = False) -> Schedule:
    """Binomial reduce: the broadcast in reverse, with sums; with ``near_first``, ranks 1 apart add first."""
    return broadcast(ranks, root, near_first).backwards("Binomial reduce")


def scatter(ranks: int, root: int = 0) -> Schedule:
    """Binomial scatter: a rank that holds several parts sends the farther half of them on; ceil(log2 N) steps."""
    need_rank(root, ranks)
    table, steps = TransferTable(), (ranks - 1).bit_length()
    for step in range(steps):
        distance = 1 << (steps - 1 - step)
        teller, place = (a.ravel() for a in np.indices((-(-ranks // (2 * distance)), distance)))
        teller, part = teller * 2 * distance, teller * 2 * distance + distance + place
        there = part < ranks
        teller, part = teller[there], part[there]
        table.add(step, (teller + root) % ranks, (teller + distance + root) % ranks, (part + root) % ranks)
    return Schedule("Binomial scatter", ranks, ranks, table.done(), only(ranks, ranks, root), own(ranks))


def gather(ranks: int, root: int = 0) -> Schedule:
    """Binomial gather: each sends all that it has collected to the rank that cut it off in the scatter."""
    step, source, target, chunk, _ = scatter(ranks, root).columns
    rows = columns(step.max(initial=0) - step, target, source, chunk)
    return Schedule("Binomial gather", ranks, ranks, rows, own(ranks), only(ranks, ranks, root))


def scattered_broadcast(ranks: int, root: int = 0, by_ring: bool = True) -> Schedule:
    """Broadcast of a long vector: a binomial scatter, then an all-gather by a ring, or by recursive doubling.

    The root sends 2 V (N - 1)/N, where a binomial broadcast sends V log2 N.
    """
    gather_all = ring.all_gather(ranks) if by_ring else doubling.all_gather(ranks)
    return scatter(ranks, root).then(gather_all, "Scatter and all-gather broadcast")


def all_reduce(ranks: int) -> Schedule:
    """Binomial reduce to rank 0, then binomial broadcast: 2 ceil(log2 N) steps with the whole vector in each."""
    return reduce(ranks).then(broadcast(ranks), "Tree all-reduce")


def parents(ranks: int) -> list[int]:
    """A binary tree in which every other rank is a leaf: the parent of each rank, -1 for the root (rank 0).

    To find the parent of a rank, move its lowest set bit up by one place; if there is no such rank, clear it.
    """
    need_count(ranks)
    result = [-1]
    for rank in range(1, ranks):
        bit = rank & -rank
        up = rank - bit | bit << 1
        result.append(up if up < ranks else rank - bit)
    return result


def double_parents(ranks: int) -> tuple[list[int], list[int]]:
    """The two trees of NCCL: the one of ``parents``, and its mirror image (even N) or itself shifted by one (odd N).

    A rank that is inside one tree is a leaf of the other; for odd N one rank is inside both.
    """
    first = parents(ranks)
    if ranks % 2:
        return first, [(p + 1) % ranks if p >= 0 else -1 for p in first[-1:] + first[:-1]]
    return first, [ranks - 1 - p if p >= 0 else -1 for p in reversed(first)]


def depths(tree: list[int]) -> list[int]:
    """How far each rank is from the root."""

    def depth(rank: int) -> int:
        return 0 if tree[rank] < 0 else 1 + depth(tree[rank])

    return [depth(rank) for rank in range(len(tree))]


def double_tree_all_reduce(ranks: int, chunks: int) -> Schedule:
    """All-reduce over two binary trees at once, each with half of the vector, split into ``chunks`` (an even number).

    Chunk q of a tree climbs one level per step, beginning with step q, and comes down once it has reached the root.
    With trees of depth h there are chunks/2 - 1 + 2 h steps. In the steady state a rank inside a tree passes four
    chunks per step, two of them to its children, so that it sends 2 V in all.
    """
    need_count(ranks)
    if need_count(chunks, "chunks") % 2:
        raise ValueError(f"chunks: expected an even number, half for each tree; got {chunks}")
    table, half = TransferTable(), chunks // 2
    for which, tree in enumerate(double_parents(ranks)):
        _pipeline(table, tree, np.arange(half), which * half)
    all_of_it = every(ranks, chunks)
    return Schedule("Double binary tree all-reduce", ranks, chunks, table.done(), all_of_it, all_of_it)


def _pipeline(table: TransferTable, tree: list[int], turn: np.ndarray, first: int) -> None:
    depth = depths(tree)
    height = max(depth)
    for rank, parent in enumerate(tree):
        if parent >= 0:
            table.add(turn + height - depth[rank], rank, parent, turn + first, True)
            table.add(turn + height + depth[rank] - 1, parent, rank, turn + first)
