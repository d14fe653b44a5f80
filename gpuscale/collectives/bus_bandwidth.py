"""Bandwidths of a collective as benchmarks print them, and what the links carry."""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import at_least, divisible
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_TESTS = "nccl-tests, performance"
_RING = "for the printed size V, as nccl-tests counts it"

algorithm_bandwidth = Formula("Algorithm bandwidth", W_alg, V / T_comms, source=_TESTS, assumes=_RING)
all_reduce_bus = Formula("Bus bandwidth of an all-reduce", W_bus, 2 * W_alg * (N - 1) / N, source=_TESTS,
    assumes="as if a ring had moved the bytes; a link carries that much only if one has")
all_gather_bus = Formula("Bus bandwidth of an all-gather or reduce-scatter", W_bus, W_alg * (N - 1) / N, source=_TESTS,
    assumes="when V is the full buffer, not the shard of a rank")
broadcast_bus = Formula("Bus bandwidth of a broadcast or reduce", W_bus, W_alg, source=_TESTS,
    assumes="when the whole buffer crosses each link on its way, as in a chain of ranks")
all_to_all_bus = Formula("Bus bandwidth of an all-to-all", W_bus, W_alg * (N - 1) / N, source=_TESTS,
    assumes="when W_alg counts the buffer of one rank, as nccl-tests does: V/N where V is the whole array")
nic_rate = Formula("Bandwidth of a NIC in a hierarchical all-reduce", W_nic, W_bus * (M - 1) / (N - 1),
    source="ml-engineering, network",
    assumes="when each GPU has a NIC, and a rail of one GPU per node reduces what each node has reduce-scattered",
    needs=(at_least(N, 2), divisible(N, M)))
ring_bus = Formula("Bus bandwidth of a ring with latency", W_bus, V / (N * alpha + V / W), source=_TESTS,
    assumes="for a ring all-gather, reduce-scatter or all-reduce with a latency of alpha per step",
    approx=W, regime=((V, oo),), needs=(at_least(N, 2),))

declare(globals())
