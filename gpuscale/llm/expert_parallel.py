"""Expert parallelism: the experts of a layer spread over Z ranks, tokens sent to them and their results sent back.

B tokens of width D are spread evenly over the Z ranks, and each goes to k experts of n_mat matrices [D, F]. One level:
Z ranks behind one switch, W per rank. Two levels: nodes of G GPUs,
    W_node out of each node and W_nvl into each GPU; a token
crosses once to each node that it must reach and is forwarded inside. Load is even, except where imbalance is a factor.
"""

# fmt: off

from sympy import Expr, Max, Min, binomial, oo

from gpuscale.collectives.exchange import dispatch, hit_bound, hit_top_k
from gpuscale.core.conditions import at_most, divisible, nested
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, expert parallelism"
_DATA = "scaling-book-gpus, data parallelism"
_NODES = "when a token crosses once to each node that it must reach, and its result comes back once from each"
_HIDES = "when expert arithmetic takes exactly as long as dispatch and combine, even load"
_both = b_dispatch + b_combine

# Arithmetic and traffic of the ranks
ep_math = Formula("Arithmetic of routed experts, forward", T_math, 2 * flop * n_mat * k * B * D * F / (Z * C),
    source=_BOOK,
    assumes="for B tokens on Z ranks, k experts per token, n_mat matrices per expert, even load, at the peak rate")
ep_backward_math = Formula("Arithmetic of routed experts, backward", T_math, 2 * ep_math.rhs, source=_BOOK,
    assumes="when each matmul of the forward pass becomes two: one for the tokens' gradient, one for the weights'")
ep_uneven_math = Formula("Arithmetic of routed experts, fullest rank", T_math, g_rows * ep_math.rhs,
    source="deepseek-v3",
    assumes="when the fullest rank has g times the mean number of rows, and all others wait for it")
tokens_per_expert = Formula("Rows per expert matmul", B_expert, k * B / E, source=_DATA,
    assumes="on average, for B tokens on all ranks that share the E experts", needs=(at_most(k, E),))
dispatch_bytes = Formula("Bytes per element in dispatch", b_dispatch, Min(b_w, b),
    source="deepseek-v3, section 3.3.3",
    assumes="when tokens are sent in the precision of the experts' weights, or in their own if that is lower")
ep_comms = dispatch.where(b=_both, title="Dispatch and combine", source=_BOOK,
    assumes="for Z ranks behind one switch, each token sent once to each rank that it must reach, and its result back",
    approx=f_hit * _both * B * D / W, regime=((Z, oo),))
ep_node_comms = Formula("Dispatch and combine across nodes", T_comms, f_hit * _both * B * D * (M - 1) / (M * W_node),
    source=_BOOK, assumes=_NODES + "; f_hit counts nodes", approx=f_hit * _both * B * D / W_node, regime=((M, oo),))
ep_fan_out = Formula("Dispatch and combine inside the nodes", T_comms,
    f_hit * _both * B * D * (G - 1) / (G * W_nvl), source="deepseek-v3, section 3.2.2",
    approx=f_hit * _both * B * D / W_nvl, regime=((G, oo),),
    assumes="for tokens that enter a node on their sender's rail and are forwarded to each GPU that needs them, "
    "f_hit counting GPUs")
free_experts = Formula("Experts per token at no extra NVLink time", k_free, M_lim * W_nvl / W_nic,
    source="deepseek-v3, section 3.2.2",
    assumes="when a token goes to M_lim nodes, crosses the NICs once per node and NVLink once per expert, its own node "
    "and GPU counted alike, and NVLink takes as long as the NICs")

# The narrowest expert whose arithmetic hides its communication
ep_width = Formula("Expert width that hides dispatch and combine", F_crit,
    C * _both * (Z - 1) * f_hit / (2 * flop * n_mat * k * W), source=_BOOK,
    assumes=_HIDES + ", Z ranks behind one switch",
    means={W: "bandwidth of a GPU into the switch, one direction", f_hit: "fraction of the GPUs that a token reaches"})
ep_node_width = Formula("Expert width that hides dispatch and combine across nodes", F_crit,
    C * _both * G * (M - 1) * f_hit / (2 * flop * n_mat * k * W_node),
    source=_BOOK, assumes=_HIDES + ", M nodes of G ranks, f_hit counting nodes")
_many_nodes = C * _both * G / (2 * flop * n_mat * W_node)
ep_node_width_bound = ep_node_width.where(hit_bound.where(Z=M), title="Expert width across nodes, bound",
    assumes=_HIDES + ", the k experts of a token on as many different nodes as possible", approx=_many_nodes,
    regime=((M, oo),))
ep_node_width_top_k = ep_node_width.where(hit_top_k.where(Z=M), title="Expert width across nodes, top-k",
    assumes=_HIDES + ", k distinct experts, all sets equally likely")
ep_node_width_limited = ep_node_width.where(f_hit=Min(M_lim, k) / M,
    title="Expert width across nodes, node-limited routing",
    assumes=_HIDES + ", a token going to M_lim of the M nodes", source="deepseek-v3", needs=(at_most(M_lim, M),),
    approx=C * _both * G * Min(M_lim, k) / (2 * flop * n_mat * k * W_node), regime=((M, oo),))
ep_width_top_k = ep_width.where(hit_top_k, title="Expert width behind one switch, top-k",
    assumes=_HIDES + ", k distinct experts, all sets equally likely")


# Both levels at once, for any Z: part of a node, a node, or whole nodes


def _reached(shards: Expr) -> Expr:
    """Fraction of the shards that a token reaches, for k distinct experts out of E."""
    return 1 - binomial(E - E / shards, k) / binomial(E, k)


_nodes, _peers = Max(Z / G, 1), Min(Z, G)
nodes_hit = Formula("Fraction of nodes a token reaches", f_node, _reached(_nodes), source="deepseek-v3",
    assumes="for k distinct experts out of E, all sets equally likely, on Z ranks in part of a node or in whole nodes",
    needs=(divisible(E, Z), nested(Z, G), at_most(k, E)))
limited_nodes_hit = Formula("Fraction of nodes a token reaches, node-limited routing", f_node,
    Min(nodes_hit.rhs, M_lim / _nodes), source="deepseek-v3, section 2.1.2",
    assumes="for experts on at most M_lim of the nodes; " + nodes_hit.assumes, needs=nodes_hit.needs)
_network = _reached(_nodes) * (1 - 1 / _nodes) / W_node
_nvlink = _reached(Z) * (1 - 1 / _peers) / W_nvl
_LEVELS = "for top-k routing over Z ranks in nodes of G, even load, "
_FIT = (divisible(E, Z), nested(Z, G), at_most(k, E))

ep_level_comms = Formula("Dispatch and combine, both levels", T_comms, _both * B * D * Max(_network, _nvlink),
    source=_BOOK, assumes=_LEVELS + "NICs and NVLink working at the same time", needs=_FIT)
ep_level_width = Formula("Expert width that hides dispatch and combine on both levels", F_crit,
    C * _both * Z * Max(_network, _nvlink) / (2 * flop * n_mat * k), source=_BOOK,
    assumes=_LEVELS + "arithmetic as long as the slower level", needs=_FIT)
ep_layer = Formula("Time of the routed experts of a layer", T, Max(ep_math.rhs, ep_level_comms.rhs), source=_BOOK,
    assumes=_LEVELS + "arithmetic, NICs and NVLink working at the same time", needs=_FIT)

# The experts that a rank stores, and their gradients when X groups of Z ranks train on different tokens
ep_params = Formula("Parameters of a rank's experts, one layer", P_rank, n_mat * D * F * E / Z, source="deepseek-v3",
    assumes="for E routed experts of n_mat matrices, spread evenly over Z ranks", needs=(divisible(E, Z),))
ep_gradient_comms = Formula("All-reduce of expert gradients, one layer", T_comms,
    2 * b_grad * ep_params.rhs * (X - 1) / (X * W), source=_DATA,
    assumes="for X copies of each expert, in rings over links of bandwidth W per rank", needs=(divisible(E, Z),),
    approx=2 * b_grad * ep_params.rhs / W, regime=((X, oo),))
ep_gradient_batch = Formula("Tokens per rank that hide the expert gradients", B_min,
    C * b_grad * E * (X - 1) / (2 * flop * k * Z * X * W), source=_DATA,
    assumes="when the all-reduce of expert gradients takes the time of the experts' backward arithmetic",
    needs=(divisible(E, Z), at_most(k, E)), approx=C * b_grad * E / (2 * flop * k * Z * W), regime=((X, oo),))

declare(globals())
