"""All-to-all: dense, and sparse as top-k routing in a mixture of experts makes it.

V is the whole distributed array. Each of N ranks owns V/N, split into N blocks, one for each rank.
"""

# fmt: off

from sympy import Min, binomial, oo
from sympy.codegen.cfunctions import log2

from gpuscale.collectives.algorithms import doubling_steps, ring_steps, time_of_steps
from gpuscale.core.conditions import at_most, divisible, power_of_two
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, all-to-all"
_NOTE = "scaling-book-gpus, footnote on the all-to-all"
_WHOLE = "size of the whole array: the data of all ranks together"

all_to_all_block = Formula("Bytes from one rank to another", V_hop, V / N**2, source=_BOOK,
    assumes="when every rank sends the same amount to every other")
all_to_all_bytes = Formula("Bytes a rank sends in an all-to-all", V_rank, V * (N - 1) / N**2, source=_BOOK,
    assumes="when every rank sends the same amount to every other and keeps its own block",
    approx=V / N, regime=((N, oo),))
all_to_all = time_of_steps.where(ring_steps, all_to_all_bytes, title="All-to-all", source=_BOOK,
    assumes="when each rank sends one block in each of N - 1 steps through a switch", approx=V / (W * N),
    regime=((V, oo), (N, oo)), means={V: _WHOLE})
bruck_all_to_all_bytes = Formula("Bytes a rank sends in Bruck's all-to-all", V_rank, V * log2(N) / (2 * N),
    source="thakur2005", needs=(power_of_two(N),),
    assumes="when half of a rank's blocks move on in each step, by 1, 2, 4, ... ranks; for a power of two ranks")
bruck_all_to_all = time_of_steps.where(doubling_steps, bruck_all_to_all_bytes, title="Bruck's all-to-all",
    source="thakur2005", assumes=bruck_all_to_all_bytes.assumes)
node_all_to_all = Formula("All-to-all across nodes", T_comms, V * (M - 1) / (M**2 * W_node),
    source="scaling-book-gpus, cross-node collectives",
    assumes="when the node's NICs are the bottleneck: each node owns V/M and keeps 1/M of that",
    approx=V / (M * W_node), regime=((M, oo),))

# Fraction of the GPUs that a token reaches
hit_bound = Formula("Fraction of GPUs reached, upper bound", f_hit, Min(k / Z, 1), source=_BOOK,
    assumes="when the k choices fall on as many different GPUs as possible")
hit_independent = Formula("Fraction of GPUs reached by independent picks", f_hit, 1 - (1 - 1 / Z) ** k, source=_NOTE,
    assumes="for k independent picks among Z GPUs, all equally likely", approx=k / Z, regime=((Z, oo),))
hit_top_k = Formula("Fraction of GPUs reached by top-k routing", f_hit, 1 - binomial(E - E / Z, k) / binomial(E, k),
    source="deepseek-v3",
    assumes="for k distinct experts out of E, all sets equally likely, E/Z whole experts per GPU",
    needs=(divisible(E, Z), at_most(k, E)))
shards_hit = Formula("Shards that a token reaches", n_hit, Z * f_hit, source=_NOTE,
    assumes="on average over the tokens")
sparse_all_to_all = Formula("All-to-all of routed tokens", T_comms, f_hit * V * (N - 1) / (N**2 * W), source=_BOOK,
    assumes="when every rank sends each token once to each GPU that it must reach; V counts a copy for every GPU")
node_limited = Formula("Shards reached under node-limited routing", n_hit, Min(M_lim, k), source="deepseek-v3",
    assumes="when a token may go to at most M_lim nodes, each of them one shard: an upper bound")
imbalanced_all_to_all = Formula("All-to-all with load imbalance", T_comms, g_load * V * (N - 1) / (N**2 * W),
    source="deepseek-v3", assumes="when the fullest GPU receives g times the mean, and all others wait for it",
    means={V: _WHOLE, W: "bandwidth of a rank's link, one direction", g_load: "bytes to the fullest GPU over the mean"})
dispatch = Formula("Dispatch of tokens to their experts", T_comms, f_hit * b * B * D * (Z - 1) / (Z * W),
    source="deepseek-v3",
    assumes="for B tokens of D elements spread over Z GPUs, each sent once to every GPU that it must reach, even load",
    approx=f_hit * b * B * D / W, regime=((Z, oo),))
top_k_dispatch = dispatch.where(hit_top_k, title="Dispatch of tokens by top-k routing")

declare(globals())
