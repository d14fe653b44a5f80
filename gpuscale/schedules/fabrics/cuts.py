"""The cuts of a fabric, all of them: every set of nodes against the others, whatever side the switches are on.

A cut bounds what any routes can do: flows from one side to the other have its capacity and no more. NVLink joins the
GPUs of a node, so a node is never cut.
"""

from typing import NamedTuple

import numpy as np

from gpuscale.schedules.fabrics.leaf_spine import Fabric

MOST = 14  # nodes of a fabric whose cuts are all tried


class Cut(NamedTuple):
    """One cut: ``nodes`` and ``spines`` on its first side, its ``capacity`` [B/s] and ``cables``, and the ``flows``
    across it in the busier direction, in GPUs that send all that they send. ``bound`` is the rate per GPU that these
    leave to any routes, at most that of a NIC [B/s]."""

    nodes: tuple[int, ...]
    spines: tuple[int, ...]
    capacity: float
    cables: int
    flows: float
    bound: float


def worst_cut(fabric: Fabric, flows: list[tuple[int, int, float]]) -> Cut:
    """The cut with the least capacity per flow. Of equal ones: that between whole units, of two halves, first.

    A leaf is on the side where it cuts less. Raises ValueError for a fabric of more than 14 nodes, or 8 spines.
    """
    many, n, r, s = fabric.units * fabric.nodes, fabric.nodes, fabric.rails, fabric.spines
    if many > MOST or s > 8:
        raise ValueError(f"expected at most {MOST} nodes and 8 spines to try all cuts; got {many} and {s}")
    taken = np.arange(2**many)[:, None] >> np.arange(many) & 1  # one row for each set of nodes
    sides = np.arange(2**s)[:, None] >> np.arange(s) & 1
    nic, up = fabric.nic.reshape(fabric.units, n, r), fabric.uplink.reshape(fabric.units, r, s)
    capacity, cables = np.zeros((2**many, 2**s)), np.zeros((2**many, 2**s), dtype=int)
    for u in range(fabric.units):
        own = taken[:, u * n : (u + 1) * n]
        for rail in range(r):
            ends, tops = nic[u, :, rail], up[u, rail]
            # cables that cross if the leaf is on the first side, (down, up), and if it is on the other
            first = ((1 - own) @ ends)[:, None], ((1 - sides) @ tops)[None]
            other = (own @ ends)[:, None], (sides @ tops)[None]
            a, b = (fabric.W * down + fabric.uplink_bw * above for down, above in (first, other))
            hair = 1e-9 * fabric.W
            inside = (a < b - hair) | ((a < b + hair) & own.all(axis=1)[:, None])
            capacity += np.where(inside, a, b)
            cables += np.where(inside, first[0] + first[1], other[0] + other[1])
    between = np.zeros((many, many))
    for a, b, part in flows:
        between[a // r, b // r] += part
    across = np.einsum("ti,ij,tj->t", taken, between, 1 - taken)
    across = np.maximum(across, across[::-1])  # the complement of a set is its mirror
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(across[:, None] > 1e-9, np.minimum(capacity / across[:, None], fabric.W), fabric.W)
    parts = taken.reshape(-1, fabric.units, n).sum(axis=2)
    split = (parts % n > 0).sum(axis=1)  # units that have nodes on both sides
    halves = taken.sum(axis=1) * 2 != many
    spread = (sides.sum(axis=1) % s > 0).astype(int)
    allowed = (taken[:, 0] == 1) & (taken.sum(axis=1) < many)
    least = bound[allowed].min()
    rank = (2 * split + halves)[:, None] * 2 + spread
    rank = np.where(allowed[:, None] & (bound <= least + 1e-9 * fabric.W), rank, 10**6)
    at, side = np.unravel_index(rank.argmin(), rank.shape)  # of equal ranks the first
    named = (tuple(np.flatnonzero(row).tolist()) for row in (taken[at], sides[side]))
    return Cut(*named, float(capacity[at, side]), int(cables[at, side]), float(across[at]), float(least))
