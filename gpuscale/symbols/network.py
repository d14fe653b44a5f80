"""Quantities of the network and of the collectives that run on it."""

# fmt: off

from gpuscale.symbols.one_gpu import W, W_nvl, alpha
from gpuscale.symbols.quantity import Quantity, indexed

# A collective: its ranks, its time, the bytes that it moves
N = Quantity("N", "1", "ranks of the collective (world size)", least=1, whole=True, also="n, p, nranks, world_size")
G = Quantity("G", "1", "GPUs of a node (NVLink domain)", least=1, whole=True, also="gpus_per_node, nproc_per_node")
M = Quantity("M", "1", "number of nodes", least=1, whole=True, also="num_nodes, nnodes")
T_comms = Quantity("T_comms", "s", "time that the communication takes", r"T_\mathrm{comms}", also="t_comm")
n_steps = Quantity("n_steps", "1", "sequential steps", r"n_\mathrm{steps}", zero=True, also="rounds")
n_chunk = Quantity("n_chunk", "1", "chunks that the buffer is split into", r"n_\mathrm{chunk}", least=1, whole=True)
V_hop = Quantity("V_hop", "B", "bytes that a rank sends in one step", r"V_\mathrm{hop}")
V_rank = Quantity("V_rank", "B", "bytes that the busiest rank sends", r"V_\mathrm{rank}", zero=True)
V_link = Quantity("V_link", "B", "bytes that cross the busiest link, one direction", r"V_\mathrm{link}", zero=True)
V_all = Quantity("V_all", "B", "bytes that all ranks send together", r"V_\mathrm{all}", zero=True)
V_in = Quantity("V_in", "B", "bytes that enter a switch level", r"V_\mathrm{in}", zero=True)
V_out = Quantity("V_out", "B", "bytes that leave a switch level", r"V_\mathrm{out}", zero=True)
V_cross = Quantity("V_cross", "B", "size at which two algorithms take the same time", r"V_\mathrm{cross}")
W_alg = Quantity("W_alg", "B/s", "algorithm bandwidth: bytes of the buffer over time", r"W_\mathrm{alg}", also="algbw")
W_bus = Quantity("W_bus", "B/s", "bus bandwidth: what the links of a ring would have to carry", r"W_\mathrm{bus}",
    also="busbw")
alpha_call = Quantity("alpha_call", "s", "fitted latency of a whole call, with all of its steps",
    r"\alpha_\mathrm{call}", zero=True, also="t_0, startup time")
W_fit = Quantity("W_fit", "B/s", "fitted algorithm bandwidth of a call, which very large messages approach",
    r"W_\mathrm{fit}", also="r_inf, 1/beta of the alpha-beta model")
W_node = Quantity("W_node", "B/s", "bandwidth out of a node into the scale-out network, one direction",
    r"W_\mathrm{node}", also="node egress")
W_ring = Quantity("W_ring", "B/s", "bus bandwidth that a ring achieves", r"W_\mathrm{ring}")
r_ring = Quantity("r_ring", "1", "bus bandwidth of the ring over the link bandwidth that in-network reduction sustains",
    r"r_\mathrm{ring}")
eta_ring = Quantity("eta_ring", "1", "fraction of the link bandwidth that a ring sustains", r"\eta_\mathrm{ring}",
    most=1)
N_cross = Quantity("N_cross", "1", "number of ranks above which in-network reduction beats the ring",
    r"N_\mathrm{cross}")

# Who talks to whom: axes of the mesh, experts
X = Quantity("X", "1", "ranks along the axis that communicates (data parallel)", least=1, whole=True, also="n_dp, dp")
Y = Quantity("Y", "1", "ranks of the inner axis that shards the array (tensor parallel)", least=1, whole=True,
    also="n_tp, tp")
Z = Quantity("Z", "1", "ranks that the experts are sharded over (expert parallel)", least=1, whole=True,
    also="n_ep, ep")
E = Quantity("E", "1", "experts of a layer", least=1, whole=True, also="num_experts, n_routed_experts")  # noqa: E741
k = Quantity("k", "1", "experts that a token is sent to", least=1, whole=True, also="top-k, num_experts_per_tok")
f_hit = Quantity("f_hit", "1", "fraction of the shards that a token has to reach", r"f_\mathrm{hit}", most=1)
n_hit = Quantity("n_hit", "1", "shards that a token reaches, on average", r"n_\mathrm{hit}")
M_lim = Quantity("M_lim", "1", "nodes that a token may be sent to", r"M_\mathrm{lim}", least=1, whole=True,
    also="node-limited routing")
g_load = Quantity("g_load", "1", "bytes to the fullest shard over the mean", r"g_\mathrm{load}", least=1,
    also="load imbalance")

# A network: links, switches, what passes through a cut
n_link = Quantity("n_link", "1", "links (ports) of a GPU into its switches", r"n_\mathrm{link}", least=1, whole=True)
W_link = Quantity("W_link", "B/s", "bandwidth of one link or cable, one direction", r"W_\mathrm{link}")
n_port = Quantity("n_port", "1", "ports of a switch", r"n_\mathrm{port}", least=1, whole=True,
    also="radix, k of a fat tree")
n_down = Quantity("n_down", "1", "cables that arrive at a level from below", r"n_\mathrm{down}", least=1, whole=True)
n_up = Quantity("n_up", "1", "cables that leave a level upward", r"n_\mathrm{up}", least=1, whole=True)
n_sw = Quantity("n_sw", "1", "switches of a level", r"n_\mathrm{sw}", least=1, whole=True)
n_nic = Quantity("n_nic", "1", "NICs of a node", r"n_\mathrm{NIC}", least=1, whole=True)
N_max = Quantity("N_max", "1", "endpoints that a full fat tree can hold", r"N_\mathrm{max}")
W_sw = Quantity("W_sw", "B/s", "bandwidth of the switches of a level, one direction", r"W_\mathrm{sw}")
W_bis = Quantity("W_bis", "B/s", "bisection bandwidth, one direction", r"W_\mathrm{bis}")
W_coll = Quantity("W_coll", "B/s", "bandwidth that a collective sees at a level", r"W_\mathrm{coll}")
r_over = Quantity("r_over", "1", "oversubscription: bandwidth from below over bandwidth upward", r"r_\mathrm{over}",
    also="taper is its inverse")
n_hop = Quantity("n_hop", "1", "links between two ranks", r"n_\mathrm{hop}", zero=True)
t_hop = Quantity("t_hop", "s", "time through one switch", r"t_\mathrm{hop}", zero=True)
n_dim = Quantity("n_dim", "1", "dimensions of a torus", r"n_\mathrm{dim}", least=1, whole=True)
n_x = Quantity("n_x", "1", "chips along the first side of a torus", r"n_\mathrm{x}", least=1, whole=True)
n_y = Quantity("n_y", "1", "chips along its second side", r"n_\mathrm{y}", least=1, whole=True)
n_z = Quantity("n_z", "1", "chips along its third side", r"n_\mathrm{z}", least=1, whole=True)

# A hierarchy: G GPUs in a node, W_nvl for each; nodes, W_node for each; then G_i children of a level and W_i for each
n_in = Quantity("n_in", "1", "GPUs inside a block: a node, a rack or a scalable unit", r"n_\mathrm{in}", least=1,
    whole=True, also="S_{i-1}")
n_unit = Quantity("n_unit", "1", "GPUs of one unit of the level", r"n_\mathrm{unit}", least=1, whole=True, also="S_i")


def degree(level: int) -> Quantity:
    """Children of a unit of that level: G GPUs in a node, then G_2, G_3, ..."""
    return G if level == 1 else indexed(G, level)


def uplink(level: int) -> Quantity:
    """Bandwidth of the link above each child of that level: W_nvl of a GPU, W_node of a node, then W_3, W_4, ..."""
    return {1: W_nvl, 2: W_node}.get(level) or indexed(W, level)


G_2, G_3 = (degree(level) for level in (2, 3))
W_3 = uplink(3)
alpha_1, alpha_2, alpha_3 = (indexed(alpha, i) for i in (1, 2, 3))
alpha_rank = Quantity("alpha_rank", "s", "latency that each rank beyond two nodes adds to a call",
    r"\alpha_\mathrm{rank}", zero=True)
