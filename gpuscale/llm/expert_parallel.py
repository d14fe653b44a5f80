"""Expert parallelism: the experts of a layer spread over Z ranks, tokens sent to them and their results sent back.

B tokens of width D lie evenly on the Z ranks, and each goes to k experts of n_mat matrices [D, F]. One level: Z ranks
behind one switch, W for each. Two levels: nodes of D_1 GPUs, W_node out of each node and W_nvl into each GPU; a token
crosses once to each node that it must reach and is handed on inside. Imbalance multiplies; all else is an even load.
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
_HIDES = "when expert arithmetic just takes the time of dispatch and combine, even load"
_both = b_dispatch + b_combine

# What the ranks compute and send
ep_math = Formula("Arithmetic of routed experts, forward", T_math, 2 * flop * n_mat * k * B * D * F / (Z * C),
    source=_BOOK,
    assumes="for B tokens on Z ranks, k experts each, n_mat matrices an expert, even load, all Tensor Cores busy")
ep_backward_math = Formula("Arithmetic of routed experts, backward", T_math, 2 * ep_math.rhs, source=_BOOK,
    assumes="when each product of the forward pass becomes two: one for the tokens' gradient, one for the weights'")
ep_uneven_math = Formula("Arithmetic of routed experts, fullest rank", T_math, g_rows * ep_math.rhs,
    source="deepseek-v3", assumes="when the fullest rank has g times the mean rows: all others wait for it")
tokens_per_expert = Formula("Rows of an expert's product", B_expert, k * B / E, source=_DATA,
    assumes="on average, for B tokens of all ranks that share the E experts", needs=(at_most(k, E),))
dispatch_bytes = Formula("Bytes of a number on its way to an expert", b_dispatch, Min(b_w, b),
    source="deepseek-v3, section 3.3.3",
    assumes="when tokens are sent as precisely as the experts' weights are kept, and never more than they are kept")
ep_comms = dispatch.where(b=_both, title="Dispatch and combine", source=_BOOK,
    assumes="for Z ranks behind one switch, each token sent once to each rank that it must reach and back",
    approx=f_hit * _both * B * D / W, regime=((Z, oo),))
ep_node_comms = Formula("Dispatch and combine across nodes", T_comms, f_hit * _both * B * D * (M - 1) / (M * W_node),
    source=_BOOK, assumes=_NODES + "; f_hit counts nodes", approx=f_hit * _both * B * D / W_node, regime=((M, oo),))
ep_fan_out = Formula("Dispatch and combine inside the nodes", T_comms,
    f_hit * _both * B * D * (D_1 - 1) / (D_1 * W_nvl), source="deepseek-v3, section 3.2.2",
    approx=f_hit * _both * B * D / W_nvl, regime=((D_1, oo),),
    assumes="for tokens that enter a node at their sender's place and are handed to each GPU that needs them there, "
    "f_hit counting GPUs")

# The narrowest expert whose arithmetic covers its communication
ep_width = Formula("Width of an expert that pays for its tokens", F_crit,
    C * _both * (Z - 1) * f_hit / (2 * flop * n_mat * k * W), source=_BOOK,
    assumes=_HIDES + ", Z ranks behind one switch")
ep_node_width = Formula("Width of an expert that pays for its tokens across nodes", F_crit,
    C * _both * D_1 * (M - 1) * f_hit / (2 * flop * n_mat * k * W_node),
    source=_BOOK, assumes=_HIDES + ", M nodes of D_1 ranks, f_hit counting nodes")
_many_nodes = C * _both * D_1 / (2 * flop * n_mat * W_node)
ep_node_width_bound = ep_node_width.where(hit_bound.where(Z=M), title="Width of an expert across nodes, bound",
    assumes=_HIDES + ", the k experts of a token on different nodes as long as there are any", approx=_many_nodes,
    regime=((M, oo),))
ep_node_width_top_k = ep_node_width.where(hit_top_k.where(Z=M), title="Width of an expert across nodes, top-k",
    assumes=_HIDES + ", k different experts, all sets equally likely")
ep_node_width_limited = ep_node_width.where(f_hit=Min(M_lim, k) / M, title="Width of an expert across nodes, limited",
    assumes=_HIDES + ", a token going to M_lim of the M nodes", source="deepseek-v3", needs=(at_most(M_lim, M),),
    approx=C * _both * D_1 * Min(M_lim, k) / (2 * flop * n_mat * k * W_node), regime=((M, oo),))
ep_width_top_k = ep_width.where(hit_top_k, title="Width of an expert behind one switch, top-k",
    assumes=_HIDES + ", k different experts, all sets equally likely")


# Both levels at once, for any Z: part of a node, a node, or whole nodes


def _reached(shards: Expr) -> Expr:
    """Share of the shards that a token reaches, for k different experts out of E."""
    return 1 - binomial(E - E / shards, k) / binomial(E, k)


_nodes, _peers = Max(Z / D_1, 1), Min(Z, D_1)
nodes_hit = Formula("Share of the nodes that a token has to reach", f_node, _reached(_nodes), source="deepseek-v3",
    assumes="for k different experts out of E, all sets equally likely, on Z ranks in part of a node or whole ones",
    needs=(divisible(E, Z), nested(Z, D_1), at_most(k, E)))
limited_nodes_hit = Formula("Share of the nodes that a token has to reach, limited", f_node,
    Min(nodes_hit.rhs, M_lim / _nodes), source="deepseek-v3, section 2.1.2",
    assumes="for experts on M_lim of the nodes at most; " + nodes_hit.assumes, needs=nodes_hit.needs)
_network = _reached(_nodes) * (1 - 1 / _nodes) / W_node
_nvlink = _reached(Z) * (1 - 1 / _peers) / W_nvl
_LEVELS = "for top-k routing over Z ranks in nodes of D_1, even load, "
_FIT = (divisible(E, Z), nested(Z, D_1), at_most(k, E))

ep_level_comms = Formula("Dispatch and combine, both levels", T_comms, _both * B * D * Max(_network, _nvlink),
    source=_BOOK, assumes=_LEVELS + "NICs and NVLink at work at the same time", needs=_FIT)
ep_level_width = Formula("Width of an expert that pays for its tokens on both levels", F_crit,
    C * _both * Z * Max(_network, _nvlink) / (2 * flop * n_mat * k), source=_BOOK,
    assumes=_LEVELS + "the arithmetic as long as the slower level", needs=_FIT)
ep_layer = Formula("Time of the routed experts of a layer", T, Max(ep_math.rhs, ep_level_comms.rhs), source=_BOOK,
    assumes=_LEVELS + "arithmetic, NICs and NVLink at work at the same time", needs=_FIT)

# What a rank keeps of the experts, and their gradients when X groups of Z ranks train on different tokens
ep_params = Formula("Parameters of a rank's experts, one layer", P_rank, n_mat * D * F * E / Z, source="deepseek-v3",
    assumes="for E routed experts of n_mat matrices, spread evenly over Z ranks", needs=(divisible(E, Z),))
ep_gradient_comms = Formula("All-reduce of expert gradients, one layer", T_comms,
    2 * b_grad * ep_params.rhs * (X - 1) / (X * W), source=_DATA,
    assumes="for X copies of each expert, in rings over links of bandwidth W for each rank", needs=(divisible(E, Z),),
    approx=2 * b_grad * ep_params.rhs / W, regime=((X, oo),))
ep_gradient_batch = Formula("Tokens of a rank that hide the expert gradients", B_min,
    C * b_grad * E * (X - 1) / (2 * flop * k * Z * X * W), source=_DATA,
    assumes="when the all-reduce of expert gradients takes the time of the experts' backward arithmetic",
    needs=(divisible(E, Z), at_most(k, E)), approx=C * b_grad * E / (2 * flop * k * Z * W), regime=((X, oo),))

declare(globals())
