"""Collectives among ranks that can all talk to each other: bytes, steps and time of each algorithm.

V is the full buffer: the result of an all-gather, the input of a reduce-scatter, the vector of an all-reduce.
"""

# fmt: off

from sympy import Min, Rational, ceiling, floor, oo, sqrt
from sympy.codegen.cfunctions import log2

from gpuscale.core.conditions import at_least, divisible, power_of_two
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, intra-node collectives"
_THAKUR = "thakur2005"
_SANDERS = "sanders2009"
_TWO = "for a power of two ranks"
_ONE = "when a rank talks to one partner at a time; "
_ALL = "when each of at least two ranks sends to all others at once, splitting its link among them"
_POWER = (power_of_two(N),)
_FOLD = ("for halving and doubling among a power of two ranks; if there are more, pairs swap halves first, one rank "
    "takes part for both, and it sends the result to the other")
_SURPLUS = ceiling(log2(N)) - floor(log2(N))  # 1 unless N is a power of two
_LARGE = ((V, oo), (N, oo))


def _costed(steps: Formula, sent: Formula, title: str, approx=None, regime=_LARGE, assumes: str = "",
        means: dict | None = None) -> Formula:
    """The alpha-beta time of an algorithm from its steps and the bytes of its busiest rank."""
    limit = {} if approx is None else {"approx": approx, "regime": regime}
    return time_of_steps.where(
        steps, sent, title=title, source=sent.source, assumes=assumes or sent.assumes, means=means or {}, **limit)


time_of_steps = Formula("Time of a collective from its steps and bytes", T_comms, n_steps * alpha + V_rank / W,
    source="hockney1994",
    assumes="when each step has a latency of alpha and the busiest rank sends at the full bandwidth", optional=(alpha,),
    means={alpha: "latency of one step", W: "bandwidth of a rank's link, one direction"})
bandwidth_floor = Formula("Bandwidth floor of a collective", T_comms, V / W, source="hockney1994",
    assumes="for any algorithm that has to move V bytes through a link of bandwidth W, in one direction: a lower bound")

# Rings: every rank sends to its right-hand neighbor
ring_hop = Formula("Bytes per step of a ring", V_hop, V / N, source=_BOOK,
    assumes="for a buffer split into one chunk per rank")
ring_steps = Formula("Steps of a ring", n_steps, N - 1, source=_BOOK, assumes="until each chunk has visited every rank")
ring_all_reduce_steps = Formula("Steps of a ring all-reduce", n_steps, 2 * (N - 1), source="patarasuk2009",
    assumes="for a reduce-scatter, then an all-gather")
all_gather_bytes = Formula("Bytes a rank sends in an all-gather", V_rank, V * (N - 1) / N, source=_BOOK,
    assumes="when each rank lacks all chunks but its own and each is sent to it once", approx=V, regime=((N, oo),))
reduce_scatter_bytes = Formula("Bytes a rank sends in a reduce-scatter", V_rank, V * (N - 1) / N, source=_BOOK,
    assumes="when each rank sends all chunks but its own, which are summed in transit", approx=V, regime=((N, oo),))
all_reduce_bytes = Formula("Bytes a rank sends in an all-reduce", V_rank, 2 * V * (N - 1) / N, source="patarasuk2009",
    assumes="for a reduce-scatter, then an all-gather: the minimum without in-network reduction",
    approx=2 * V, regime=((N, oo),))
all_gather_total = Formula("Bytes that all ranks send in an all-gather", V_all, V * (N - 1), source=_BOOK,
    assumes="when every rank has to receive what the others hold")
ring_all_gather = _costed(ring_steps, all_gather_bytes, "Ring all-gather", V / W,
    means={V: "size of the whole array, which every rank has in the end"})
ring_reduce_scatter = _costed(ring_steps, reduce_scatter_bytes, "Ring reduce-scatter", V / W)
ring_all_reduce = _costed(ring_all_reduce_steps, all_reduce_bytes, "Ring all-reduce", 2 * V / W)

# Doubling and halving: partners at distance 1, 2, 4, ...
doubling_steps = Formula("Steps of recursive doubling", n_steps, log2(N), source=_THAKUR, assumes=_ONE + _TWO,
    needs=_POWER)
halving_doubling_steps = Formula("Steps of halving and doubling", n_steps, 2 * log2(N), source=_THAKUR,
    assumes=_ONE + _TWO, needs=_POWER)
recursive_doubling_bytes = Formula("Bytes a rank sends in a recursive-doubling all-reduce", V_rank, V * log2(N),
    source=_THAKUR, assumes="when partners swap the whole vector in each step; " + _TWO, needs=_POWER)
doubling_all_gather = _costed(doubling_steps, all_gather_bytes, "Recursive-doubling all-gather", V / W,
    assumes="when each rank doubles its chunks in each step; " + _TWO)
halving_reduce_scatter = _costed(doubling_steps, reduce_scatter_bytes, "Recursive-halving reduce-scatter", V / W,
    assumes="when the chunks still to be summed halve in each step; " + _TWO)
halving_doubling_all_reduce = _costed(halving_doubling_steps, all_reduce_bytes, "Halving-doubling all-reduce",
    2 * V / W, assumes="for a recursive-halving reduce-scatter, then a recursive-doubling all-gather; " + _TWO)
recursive_doubling_all_reduce = _costed(doubling_steps, recursive_doubling_bytes, "Recursive-doubling all-reduce",
    V * log2(N) / W, ((V, oo),))

# Shots: behind a switch, a rank writes to all others at once
one_shot_all_reduce = Formula("One-shot all-reduce", T_comms, alpha + V * (N - 1) / W, source="flashinfer",
    assumes=_ALL + ": whole vectors, in one step", needs=(at_least(N, 2),), optional=(alpha,))
two_shot_all_reduce = Formula("Two-shot all-reduce", T_comms, 2 * alpha + 2 * V * (N - 1) / (N * W),
    source="flashinfer", assumes=_ALL + ": a direct reduce-scatter, then a direct all-gather", needs=(at_least(N, 2),),
    approx=2 * V / W, regime=_LARGE, optional=(alpha,))

# Trees and chains: a vector goes from one rank to all, or from all to one
tree_steps = Formula("Steps of a binomial tree", n_steps, ceiling(log2(N)), source=_THAKUR,
    assumes="when every rank that has the vector passes it on in each step")
tree_broadcast = Formula("Binomial-tree broadcast", T_comms, ceiling(log2(N)) * (alpha + V / W), source=_THAKUR,
    assumes="when every rank that has the vector passes all of it on in each step; a reduce runs in reverse",
    optional=(alpha,))
tree_all_reduce = Formula("Tree all-reduce", T_comms, 2 * ceiling(log2(N)) * (alpha + V / W), source=_THAKUR,
    assumes="for a reduce up a binomial tree, then a broadcast down the tree, without chunking", optional=(alpha,))
chain_broadcast = Formula("Pipelined chain broadcast", T_comms, (N - 2 + n_chunk) * (alpha + V / (n_chunk * W)),
    source=_SANDERS,
    assumes="when the vector goes along a chain of at least two ranks in equal chunks, each passed on as it arrives",
    needs=(at_least(N, 2),), approx=V / W, regime=((V, oo), (n_chunk, oo)), optional=(alpha,))
best_chunks = Formula("Best number of chunks in a chain", n_chunk, sqrt((N - 2) * V / (alpha * W)), source=_SANDERS,
    assumes="for at least three ranks; to be rounded to a whole number of at least 1", needs=(at_least(N, 3),))
best_chain_broadcast = Formula("Pipelined chain broadcast with the best number of chunks", T_comms,
    (N - 2) * alpha + V / W + 2 * sqrt((N - 2) * alpha * V / W), source=_SANDERS,
    assumes="for at least two ranks and the best number of chunks, not rounded: a lower bound for a chain",
    needs=(at_least(N, 2),), approx=V / W, regime=((V, oo),))
double_tree_steps = Formula("Steps of a double binary tree", n_steps, n_chunk / 2 - 1 + 2 * ceiling(log2(N)),
    source=_SANDERS,
    assumes="for an all-reduce of at least two ranks, with half of the chunks through each of two binary trees, "
    "pipelined",
    needs=(at_least(N, 2), divisible(n_chunk, 2)))
double_tree_all_reduce = Formula("Double binary tree all-reduce", T_comms,
    double_tree_steps.rhs.subs(ceiling(log2(N)), log2(N)) * alpha + 2 * V / W * (1 + (2 * log2(N) - 3) / n_chunk),
    source=_SANDERS,
    assumes="for a power of two of at least 8 ranks, and enough chunks to fill both trees: at least 4 log2 N",
    needs=(power_of_two(N), at_least(N, 8), divisible(n_chunk, 2), at_least(n_chunk, 4 * log2(N))),
    approx=2 * V / W, regime=((V, oo), (n_chunk, oo)), optional=(alpha,))
scatter_bytes = Formula("Bytes the root sends in a scatter", V_rank, V * (N - 1) / N, source=_THAKUR,
    assumes="when the root keeps its own chunk and sends each of the others once; a gather runs in reverse",
    approx=V, regime=((N, oo),))
direct_scatter = _costed(ring_steps, scatter_bytes, "Scatter, one message per rank", V / W)
binomial_scatter = _costed(doubling_steps, scatter_bytes, "Binomial scatter", V / W,
    assumes="when each rank sends on the half of its chunks that is farther away; a gather runs in reverse; " + _TWO)
scattered_broadcast = Formula("Scatter and all-gather broadcast", T_comms,
    (log2(N) + N - 1) * alpha + 2 * V * (N - 1) / (N * W), source=_THAKUR,
    assumes="for a binomial scatter, then a ring all-gather; " + _TWO, needs=_POWER, approx=2 * V / W, regime=_LARGE,
    optional=(alpha,))

# Any number of ranks
bruck_all_gather = _costed(tree_steps, all_gather_bytes, "Bruck all-gather", V / W,
    assumes="when each rank sends all that the rank 1, 2, 4, ... places before it lacks")
rabenseifner_bytes = Formula("Bytes the busiest rank sends in a folded all-reduce", V_rank,
    V * (2 - 2 ** (1 - floor(log2(N))) + Rational(3, 2) * _SURPLUS), source=_THAKUR, assumes=_FOLD)
rabenseifner_all_reduce = Formula("Rabenseifner all-reduce", T_comms,
    (2 * floor(log2(N)) + 3 * _SURPLUS) * alpha + V / W * (2 - 2 ** (1 - floor(log2(N))) + 2 * _SURPLUS),
    source=_THAKUR, assumes=_FOLD, optional=(alpha,))

# The faster of two
best_all_reduce = Formula("Faster of two all-reduces", T_comms,
    Min(halving_doubling_all_reduce.rhs, recursive_doubling_all_reduce.rhs), source=_THAKUR,
    assumes="for halving-doubling and recursive doubling; " + _ONE + _TWO, needs=_POWER)

# Where latency and bandwidth meet
ring_half_size = Formula("Size at which a ring reaches half of its bandwidth", V_half, N * alpha * W,
    source="hockney1994",
    assumes="for all-gather, reduce-scatter and all-reduce alike: latency and transfer take the same time there")
doubling_cross = Formula("Size above which halving-doubling beats recursive doubling", V_cross,
    alpha * W * N * log2(N) / (N * log2(N) - 2 * N + 2), source=_THAKUR,
    assumes="for all-reduces of at least four ranks; below this size, fewer steps win; " + _TWO,
    needs=(power_of_two(N), at_least(N, 4)))
shot_cross = Formula("Size above which two shots beat one", V_cross, alpha * W * N / ((N - 1) * (N - 2)),
    source="flashinfer",
    assumes="for all-reduces of at least three ranks; below this size, one step wins: " + _ALL.removeprefix("when "),
    needs=(at_least(N, 3),))

declare(globals())
