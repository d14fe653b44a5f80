"""Rings and tori with links to neighbours only, as TPUs are wired. W is one link, one way."""

from sympy import Max, floor, oo

from gpuscale.formula import Formula
from gpuscale.needs import at_least, whole
from gpuscale.symbols import D_1, D_2, D_3, N, T_comms, V, V_link, W, W_bis, W_link, W_node, n_dim, n_hop

_TPU = "scaling-book-tpus, networking"
_WRAP = "when each axis closes to a ring and both directions are used"

torus_egress = Formula(
    "Bandwidth out of a chip of a torus", W_node, 2 * n_dim * W_link, source=_TPU,
    assumes="when each axis has a link each way; the number of links does not grow with the torus",
)  # fmt: skip
ring_diameter = Formula(
    "Most hops in a ring", n_hop, floor(N / 2), source=_TPU, assumes="when both ways round are open",
)  # fmt: skip
torus_diameter = Formula(
    "Most hops in a torus", n_hop, floor(D_1 / 2) + floor(D_2 / 2) + floor(D_3 / 2), source=_TPU,
    assumes="for the sides D_1, D_2, D_3, each closed to a ring; a side of 1 is no side",
)  # fmt: skip
torus_bisection = Formula(
    "Bisection bandwidth of a torus", W_bis, 2 * W_link * D_1 * D_2 * D_3 / Max(D_1, D_2, D_3), source=_TPU,
    assumes="for even sides above 2: a cut across the longest side, which every ring of that side crosses twice",
    needs=(whole(Max(D_1, D_2, D_3), 2), at_least(Max(D_1, D_2, D_3), 4)),
)  # fmt: skip
both_ways_all_gather = Formula(
    "All-gather on a ring, both ways at once", T_comms, V * (N - 1) / (2 * N * W), source=_TPU,
    assumes="when half of each chunk goes either way round", approx=V / (2 * W), regime=((N, oo),),
)  # fmt: skip
torus_all_gather = Formula(
    "All-gather on a torus", T_comms, V * (N - 1) / (2 * n_dim * N * W), source=_TPU,
    assumes="when the buffer is cut so that all axes work at once, each both ways, for equal sides",
    approx=V / (2 * n_dim * W), regime=((N, oo),),
)  # fmt: skip
ring_load_even = Formula(
    "Bytes on a link, all-to-all on an even ring", V_link, V / 8, source=_TPU,
    assumes="for 4, 6, ... ranks, or 2 with two links: blocks go the shorter way, those half-way round split in two",
)  # fmt: skip
ring_load_odd = Formula(
    "Bytes on a link, all-to-all on an odd ring", V_link, V * (N**2 - 1) / (8 * N**2), source=_TPU,
    assumes="for an odd number of ranks; blocks go the shorter way",
    approx=V / 8, regime=((N, oo),), needs=(whole(N + 1, 2),),
)  # fmt: skip
ring_all_to_all_even = Formula(
    "All-to-all on an even ring", T_comms, V / (8 * W), source=_TPU,
    assumes="for 4, 6, ... ranks, or 2 with two links: blocks go the shorter way, those half-way round split in two",
)  # fmt: skip
ring_all_to_all_odd = Formula(
    "All-to-all on an odd ring", T_comms, V * (N**2 - 1) / (8 * N**2 * W), source=_TPU,
    assumes="for an odd number of ranks; blocks go the shorter way",
    approx=V / (8 * W), regime=((N, oo),), needs=(whole(N + 1, 2),),
)  # fmt: skip
torus_all_to_all = Formula(
    "All-to-all on a torus", T_comms, V * Max(D_1, D_2, D_3) / (8 * D_1 * D_2 * D_3 * W), source=_TPU,
    assumes="for an even longest side, a side of 2 having two links: blocks go the shorter way, all sides at work",
    needs=(whole(Max(D_1, D_2, D_3), 2),),
)  # fmt: skip
cube_all_to_all = Formula(
    "All-to-all on a torus of equal sides", T_comms, V * D_1 / (8 * D_1**n_dim * W), source=_TPU,
    assumes="for n_dim even sides of D_1 chips, a side of 2 having two links: blocks go the shorter way",
    needs=(whole(D_1, 2),),
)  # fmt: skip
