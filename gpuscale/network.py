"""Links, switches and cuts of a fabric: what its bandwidths and counts are."""

from sympy import Min, Mod, ceiling

from gpuscale.formula import Formula
from gpuscale.needs import at_least, whole
from gpuscale.symbols import (
    D_1,
    D_3,
    M,
    N,
    N_max,
    S_top,
    T_comms,
    W,
    W_bis,
    W_coll,
    W_link,
    W_nic,
    W_node,
    W_nvl,
    W_sw,
    n_down,
    n_hop,
    n_link,
    n_nic,
    n_port,
    n_sw,
    n_up,
    r_over,
    t_hop,
)  # fmt: skip

_NODE = "scaling-book-gpus, at the node level"
_BEYOND = "scaling-book-gpus, beyond the node level"
_TREE = "alfares2008"

gpu_egress = Formula(
    "Bandwidth of a GPU into its switches", W_nvl, n_link * W_link, source=_NODE,
    assumes="when all links run at once, one direction",
)  # fmt: skip
node_gpus_bandwidth = Formula(
    "Bandwidth of a node's GPUs together", W_coll, D_1 * W_nvl, source="scaling-book-gpus, quiz 2 question 1",
    assumes="when every GPU sends at its full rate",
)  # fmt: skip
switch_bandwidth = Formula(
    "Bandwidth of the switches of a level", W_sw, n_sw * n_port * W_link, source="scaling-book-gpus, quiz 2 question 1",
    assumes="when every port is used, one direction",
)  # fmt: skip
gpu_share = Formula(
    "Bandwidth of each GPU when all of a node send", W_coll, Min(W_nvl, W_sw / D_1), source="scaling-book-gpus, quiz 2",
    assumes="for D_1 GPUs of bandwidth W_nvl, each joined to every switch; they share the bandwidth W_sw evenly",
)  # fmt: skip
ports_share = Formula(
    "Bandwidth of each GPU of a node, from its ports", W_coll, Min(n_link * W_link, n_sw * n_port * W_link / D_1),
    source="scaling-book-gpus, quiz 2", assumes="when all D_1 GPUs send, each joined to every switch",
)  # fmt: skip
full_rate_gpus = Formula(
    "GPUs that switches serve at full rate", N_max, n_sw * n_port / n_link, source="nvidia-nvswitch3-blog",
    assumes="for one port for each link of a GPU, the links spread evenly over the switches",
)  # fmt: skip
node_egress = Formula(
    "Bandwidth out of a node", W_node, n_nic * W_nic, source=_BEYOND,
    assumes="when every network card runs at its full rate, one direction",
)  # fmt: skip
domain_bandwidth = Formula(
    "Bandwidth of an all-gather over NVLink domains", W_coll, Min(D_1 * W_nvl / (D_1 - 1), M * D_1 * W_nic / (M - 1)),
    source="scaling-book-gpus, appendix A", needs=(at_least(D_1, 2), at_least(M, 2)),
    assumes="for M domains of D_1 GPUs, each with a card of bandwidth W_nic that feeds it directly, in a full fat tree",
)  # fmt: skip
top_switches = Formula(
    "Switches at the top of a fabric", n_sw, ceiling(n_down / n_port), source=_TREE,
    assumes="where nothing is above them: every port takes a cable from below",
)  # fmt: skip
leaf_switches = Formula(
    "Switches that pass a level on", n_sw, ceiling(2 * n_down / n_port), source=_TREE,
    assumes="without oversubscription: as many ports face up as down",
)  # fmt: skip
oversubscription = Formula(
    "Oversubscription of a level", r_over, n_down / n_up, source=_TREE, assumes="for cables of one bandwidth",
)  # fmt: skip
two_level_capacity = Formula(
    "Endpoints of a two-level fat tree", N_max, n_port**2 / 2, source=_TREE,
    assumes="for switches of one kind with an even number of ports and full bisection", needs=(whole(n_port, 2),),
)  # fmt: skip
three_level_capacity = Formula(
    "Endpoints of a three-level fat tree", N_max, n_port**3 / 4, source=_TREE,
    assumes="for switches of one kind with an even number of ports and full bisection", needs=(whole(n_port, 2),),
)  # fmt: skip
bisection = Formula(
    "Bisection bandwidth where nothing narrows", W_bis, S_top * W / 2, source="leiserson1985",
    assumes="for an even number of endpoints of bandwidth W (beyond the node, of nodes too), one direction, where no "
    "cut is tighter than their own links",
    needs=(whole(S_top, 2),),
)  # fmt: skip
tapered_bisection = Formula(
    "Bisection bandwidth below a tapered top", W_bis, S_top * W / (2 * r_over), source="leiserson1985",
    assumes="for an even number of units below the top level, whose uplinks are oversubscribed by r_over; with an odd "
    "number take tapered_bisection_odd",
    needs=(whole(S_top, 2), at_least(r_over, 1)),
)  # fmt: skip
tapered_bisection_odd = Formula(
    "Bisection bandwidth below a tapered top, odd number of units", W_bis,
    S_top * W / (2 * r_over) * (1 + (r_over - 1) / D_3), source="leiserson1985",
    assumes="for an oversubscription of 1 or more: one of the D_3 units is cut in its middle, at full bandwidth",
    needs=(at_least(r_over, 1), whole(D_3 + 1, 2)),
)  # fmt: skip
tapered_share = Formula(
    "Bandwidth of each GPU across a tapered top", W_coll,
    Min(W, W / r_over * (1 + (r_over - 1) * Mod(D_3, 2) / D_3)), source="leiserson1985",
    assumes="for D_3 equal units, even or odd in number, when half of the GPUs send to the other half",
)  # fmt: skip
collective_bandwidth = Formula(
    "Bandwidth of each rank across the bisection", W_coll, 2 * W_bis / N,
    source="scaling-book-gpus, cross-node collectives",
    assumes="for N equal ranks, when every byte that a rank sends crosses the cut, as it may behind switches; the "
    "bisection counted in one direction",
)  # fmt: skip
share_of_a_gpu = Formula(
    "Bandwidth of one GPU beyond its unit", W_nic, W / D_1, source=_BEYOND,
    assumes="when the D_1 GPUs of a unit share its uplink W",
)  # fmt: skip
wire_latency = Formula(
    "Latency through the switches", T_comms, (n_hop - 1) * t_hop, source="dgx-superpod-h100",
    assumes="for n_hop links with a switch between two of them, and no queue",
    needs=(at_least(n_hop, 1),),
)  # fmt: skip
