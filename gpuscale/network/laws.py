"""Links, switches, cuts and tori: bandwidths and counts of a network."""

# fmt: off

from sympy import Max, Min, Mod, ceiling, floor, oo

from gpuscale.core.conditions import at_least, divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_NODE = "scaling-book-gpus, at the node level"
_BEYOND = "scaling-book-gpus, beyond the node level"
_TREE = "alfares2008"

gpu_egress = Formula("Bandwidth of a GPU into its switches", W_nvl, n_link * W_link, source=_NODE,
    assumes="when all links run at once, one direction")
node_gpus_bandwidth = Formula("Bandwidth of a node's GPUs together", W_coll, G * W_nvl,
    source="scaling-book-gpus, quiz 2 question 1", assumes="when every GPU sends at its full rate")
switch_bandwidth = Formula("Bandwidth of the switches of a level", W_sw, n_sw * n_port * W_link,
    source="scaling-book-gpus, quiz 2 question 1", assumes="when every port is used, one direction")
gpu_share = Formula("Bandwidth per GPU when all GPUs of a node send", W_coll, Min(W_nvl, W_sw / G),
    source="scaling-book-gpus, quiz 2",
    assumes="for G GPUs of bandwidth W_nvl, each connected to every switch; they share the bandwidth W_sw evenly")
ports_share = Formula("Bandwidth per GPU of a node, from its ports", W_coll,
    Min(n_link * W_link, n_sw * n_port * W_link / G), source="scaling-book-gpus, quiz 2",
    assumes="when all G GPUs send, each connected to every switch")
full_rate_gpus = Formula("GPUs that the switches serve at full rate", N_max, n_sw * n_port / n_link,
    source="nvidia-nvswitch3-blog",
    assumes="for one port per link of a GPU, with the links spread evenly over the switches")
node_egress = Formula("Bandwidth out of a node", W_node, n_nic * W_nic, source=_BEYOND,
    assumes="when every NIC runs at its full rate, one direction")
domain_bandwidth = Formula("Bandwidth of an all-gather over NVLink domains", W_coll,
    Min(G * W_nvl / (G - 1), M * G * W_nic / (M - 1)), source="scaling-book-gpus, appendix A",
    needs=(at_least(G, 2), at_least(M, 2)),
    assumes="for M domains of G GPUs, each with a NIC of bandwidth W_nic that feeds it directly, in a full fat tree")
top_switches = Formula("Switches at the top of a network", n_sw, ceiling(n_down / n_port), source=_TREE,
    assumes="with nothing above them: every port takes a cable from below")
leaf_switches = Formula("Switches of a level below the top", n_sw, ceiling(2 * n_down / n_port), source=_TREE,
    assumes="without oversubscription: as many ports face up as down")
oversubscription = Formula("Oversubscription of a level", r_over, n_down / n_up, source=_TREE,
    assumes="for cables of one bandwidth")
two_level_capacity = Formula("Endpoints of a two-level fat tree", N_max, n_port**2 / 2, source=_TREE,
    assumes="for switches of one kind with an even number of ports and full bisection", needs=(divisible(n_port, 2),))
three_level_capacity = Formula("Endpoints of a three-level fat tree", N_max, n_port**3 / 4, source=_TREE,
    assumes="for switches of one kind with an even number of ports and full bisection", needs=(divisible(n_port, 2),))
bisection = Formula("Full bisection bandwidth", W_bis, N * W / 2, source="leiserson1985",
    assumes="for an even number N of GPUs (or nodes) of bandwidth W each, in one direction, if no cut is narrower than "
    "their own links", needs=(divisible(N, 2),),
    means={W: "bandwidth of a GPU (or node), one direction", N: "GPUs (or nodes) of the network"})
tapered_bisection = Formula("Bisection bandwidth below a tapered top", W_bis, N * W / (2 * r_over),
    source="leiserson1985",
    assumes="for an even number of units below the top level, whose uplinks are oversubscribed by r_over; for an "
    "odd number use tapered_bisection_odd", needs=(divisible(N, 2), at_least(r_over, 1)))
tapered_bisection_odd = Formula("Bisection bandwidth below a tapered top, odd number of units", W_bis,
    N * W / (2 * r_over) * (1 + (r_over - 1) / G_3), source="leiserson1985",
    assumes="for an oversubscription of 1 or more: one of the G_3 units is cut in half, at full bandwidth",
    needs=(at_least(r_over, 1), divisible(G_3 + 1, 2)))
tapered_share = Formula("Bandwidth per GPU across a tapered top", W_coll,
    Min(W, W / r_over * (1 + (r_over - 1) * Mod(G_3, 2) / G_3)), source="leiserson1985",
    assumes="for G_3 equal units, even or odd in number, when half of the GPUs send to the other half")
collective_bandwidth = Formula("Bandwidth per rank across the bisection", W_coll, 2 * W_bis / N,
    source="scaling-book-gpus, cross-node collectives",
    assumes="for N equal ranks, when every byte that a rank sends crosses the cut, as it can behind switches; the "
    "bisection is counted in one direction")
wire_latency = Formula("Latency through the switches", T_comms, (n_hop - 1) * t_hop, source="dgx-superpod-h100",
    assumes="for n_hop links with a switch between consecutive links, and without queuing", needs=(at_least(n_hop, 1),),
    means={T_comms: "time in the switches of a path", n_hop: "links of the path"})


# Rings and tori with links to neighbors only, as TPUs are wired. W is one link, one direction. V is the full buffer; in
# an all-to-all it is the whole distributed array, of which each of N chips owns V/N.
_TPU = "scaling-book-tpus, networking"

torus_egress = Formula("Bandwidth out of a chip of a torus", W_node, 2 * n_dim * W_link, source=_TPU,
    assumes="when each axis has a link in each direction; the number of links does not grow with the torus")
torus_diameter = Formula("Diameter of a torus", n_hop, floor(n_x / 2) + floor(n_y / 2) + floor(n_z / 2), source=_TPU,
    assumes="for the sides n_x, n_y, n_z, each closed to a ring; a side of 1 does not count")
torus_bisection = Formula("Bisection bandwidth of a torus", W_bis, 2 * W_link * n_x * n_y * n_z / Max(n_x, n_y, n_z),
    source=_TPU,
    assumes="for even sides above 2: a cut across the longest side, which every ring of that side crosses twice",
    needs=(divisible(Max(n_x, n_y, n_z), 2), at_least(Max(n_x, n_y, n_z), 4)))
torus_all_gather = Formula("All-gather on a torus", T_comms, V * (N - 1) / (2 * n_dim * N * W), source=_TPU,
    assumes="when the buffer is split so that all axes work at once, each in both directions, for equal sides",
    approx=V / (2 * n_dim * W), regime=((N, oo),))
torus_reduce_scatter = Formula("Reduce-scatter on a torus", T_comms, torus_all_gather.rhs, source=_TPU,
    assumes=torus_all_gather.assumes, approx=torus_all_gather.approx, regime=((N, oo),))
torus_all_reduce = Formula("All-reduce on a torus", T_comms, 2 * torus_all_gather.rhs, source=_TPU,
    assumes="for a reduce-scatter, then an all-gather; the buffer is split so that all axes work at once, each in both "
    "directions, for equal sides",
    approx=2 * torus_all_gather.approx, regime=((N, oo),))
ring_all_to_all_one_way = Formula("All-to-all on a one-way ring", T_comms, V * (N - 1) / (2 * N * W), source=_TPU,
    assumes="for a unidirectional ring: every rank sends to its right-hand neighbor alone, which passes on what is not "
    "its own",
    approx=V / (2 * W), regime=((N, oo),))
ring_load_even = Formula("Bytes on a link, all-to-all on an even ring", V_link, V / 8, source=_TPU,
    assumes="for 4, 6, ... ranks, or 2 with two links: blocks take the shorter direction; those halfway around are "
    "split in two")
ring_load_odd = Formula("Bytes on a link, all-to-all on an odd ring", V_link, V * (N**2 - 1) / (8 * N**2), source=_TPU,
    assumes="for an odd number of ranks; blocks take the shorter direction",
    approx=V / 8, regime=((N, oo),), needs=(divisible(N + 1, 2),))
ring_all_to_all_even = Formula("All-to-all on an even ring", T_comms, V / (8 * W), source=_TPU,
    assumes="for 4, 6, ... ranks, or 2 with two links: blocks take the shorter direction; those halfway around are "
    "split in two")
ring_all_to_all_odd = Formula("All-to-all on an odd ring", T_comms, V * (N**2 - 1) / (8 * N**2 * W), source=_TPU,
    assumes="for an odd number of ranks; blocks take the shorter direction",
    approx=V / (8 * W), regime=((N, oo),), needs=(divisible(N + 1, 2),))
torus_all_to_all = Formula("All-to-all on a torus", T_comms, V * Max(n_x, n_y, n_z) / (8 * n_x * n_y * n_z * W),
    source=_TPU,
    assumes="for an even longest side, a side of 2 having two links: blocks take the shorter direction, and all sides "
    "work at once",
    needs=(divisible(Max(n_x, n_y, n_z), 2),))
cube_all_to_all = Formula("All-to-all on a torus of equal sides", T_comms, V * n_x / (8 * n_x**n_dim * W), source=_TPU,
    assumes="for n_dim even sides of n_x chips, a side of 2 having two links: blocks take the shorter direction",
    needs=(divisible(n_x, 2),))

declare(globals())
