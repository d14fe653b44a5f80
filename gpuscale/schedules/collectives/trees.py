"""Trees: binomial broadcast and reduce, and two binary trees at once, pipelined over chunks."""

import numpy as np

from gpuscale.schedules.collectives.schedule import Schedule, TransferTable, need_ranks


def _need_root(root: int, ranks: int) -> None:
    if not 0 <= root < need_ranks(ranks):
        raise ValueError(f"root: expected a rank from 0 to {ranks - 1}; got {root}")


def _rounds(ranks: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Who tells whom in each round, counted from the root: in round k, the first 2^k tell the next 2^k."""
    rounds = []
    while 1 << len(rounds) < ranks:
        known = 1 << len(rounds)
        teller = np.arange(min(known, ranks - known))
        rounds.append((teller, teller + known))
    return rounds


def broadcast(ranks: int, root: int = 0) -> Schedule:
    """Binomial broadcast: those who have the buffer double in each of ceil(log2 N) steps."""
    _need_root(root, ranks)
    table = TransferTable()
    for step, (teller, hearer) in enumerate(_rounds(ranks)):
        table.add(step, (teller + root) % ranks, (hearer + root) % ranks, 0)
    start = np.arange(ranks)[:, None] == root
    return Schedule("Binomial broadcast", ranks, 1, table.done(), start, np.ones((ranks, 1), bool))


def reduce(ranks: int, root: int = 0) -> Schedule:
    """Binomial reduce: the broadcast backwards, with sums."""
    _need_root(root, ranks)
    table = TransferTable()
    for step, (hearer, teller) in enumerate(reversed(_rounds(ranks))):
        table.add(step, (teller + root) % ranks, (hearer + root) % ranks, 0, True)
    end = np.arange(ranks)[:, None] == root
    return Schedule("Binomial reduce", ranks, 1, table.done(), np.ones((ranks, 1), bool), end)


def all_reduce(ranks: int) -> Schedule:
    """Binomial reduce to rank 0, then binomial broadcast: 2 ceil(log2 N) steps with the whole vector in each."""
    need_ranks(ranks)
    table, rounds = TransferTable(), _rounds(ranks)
    for step, (hearer, teller) in enumerate(reversed(rounds)):
        table.add(step, teller, hearer, 0, True)
    for step, (teller, hearer) in enumerate(rounds):
        table.add(len(rounds) + step, teller, hearer, 0)
    every = np.ones((ranks, 1), bool)
    return Schedule("Tree all-reduce", ranks, 1, table.done(), every, every)


def parents(ranks: int) -> list[int]:
    """A binary tree in which every other rank is a leaf: the parent of each rank, -1 for the root (rank 0).

    To find the parent of a rank, move its lowest set bit up by one place; if there is no such rank, clear it.
    """
    need_ranks(ranks)
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
    """All-reduce over two binary trees at once, each with half of the vector, cut into ``chunks`` (an even number).

    Chunk q of a tree climbs one level a step from step q on and comes down as it reached the root. With trees of
    depth h there are chunks/2 - 1 + 2 h steps. In full swing a rank inside a tree passes four chunks in a step, two
    of them to its children, so that it sends 2 V in all.
    """
    need_ranks(ranks)
    if need_ranks(chunks, "chunks") % 2:
        raise ValueError(f"chunks: expected an even number, half for each tree; got {chunks}")
    table, half = TransferTable(), chunks // 2
    for which, tree in enumerate(double_parents(ranks)):
        _pipeline(table, tree, np.arange(half), which * half)
    every = np.ones((ranks, chunks), bool)
    return Schedule("Double binary tree all-reduce", ranks, chunks, table.done(), every, every)


def tree_all_reduce(ranks: int, chunks: int) -> Schedule:
    """The same over one binary tree, for comparison: chunks - 1 + 2 h steps."""
    need_ranks(ranks)
    table = TransferTable()
    _pipeline(table, parents(ranks), np.arange(need_ranks(chunks, "chunks")), 0)
    every = np.ones((ranks, chunks), bool)
    return Schedule("Binary tree all-reduce", ranks, chunks, table.done(), every, every)


def _pipeline(table: TransferTable, tree: list[int], turn: np.ndarray, first: int) -> None:
    depth = depths(tree)
    height = max(depth)
    for rank, parent in enumerate(tree):
        if parent >= 0:
            table.add(turn + height - depth[rank], rank, parent, turn + first, True)
            table.add(turn + height + depth[rank] - 1, parent, rank, turn + first)
