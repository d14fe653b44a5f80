"""In-network reduction (SHARP, NVLS): bytes, time and bandwidth, compared with the ring."""

# fmt: off

from sympy import oo

from gpuscale.collectives.algorithms import all_reduce_bytes, time_of_steps
from gpuscale.core.conditions import at_least, below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_SHARP = "graham2016"
_NVLS = "nvidia-nvswitch3-blog"
_FOUR = ("when each GPU owns 1/N of the result: it sends the other chunks, receives and resends its own sum, and "
    "receives the others")
_SELF = "when the switch reads a GPU's own chunk too, and also sends it its own sum"

nvls_steps = Formula("Passes through the switch in an in-network all-reduce", n_steps, 2, source=_NVLS,
    assumes="one to reduce, one to multicast")
nvls_bytes = Formula("Bytes a GPU sends in an in-network all-reduce", V_rank, V * (N - 1) / N + V / N, source=_SHARP,
    assumes=_FOUR, needs=(at_least(N, 2),))
nvls_bytes_self = Formula("Bytes a GPU sends when the switch reads its own chunk too", V_rank, V + V / N, source=_NVLS,
    assumes=_SELF, approx=V, regime=((N, oo),))

multicast_bytes = Formula("Bytes a GPU receives in an in-network all-gather", V_rank, V * (N - 1) / N, source=_NVLS,
    assumes="when each GPU sends its shard once and the switch copies it; a reduce-scatter sends the same amount",
    approx=V, regime=((N, oo),))


def _timed(sent: Formula, title: str) -> Formula:
    return time_of_steps.where(
        nvls_steps, sent, title=title, source=sent.source, assumes=sent.assumes,
        approx=V / W, regime=((V, oo), *sent.regime),
        means={alpha: "latency of a round trip through the switch", V: "size of the array that each GPU has",
            W: "bandwidth of a GPU's links, one direction", N: "GPUs of the all-reduce"})


nvls_all_reduce = _timed(nvls_bytes, "In-network all-reduce")
nvls_all_reduce_self = _timed(nvls_bytes_self, "In-network all-reduce, own chunk read too")

nvls_gain = Formula("Speedup over the ring", g_speed, all_reduce_bytes.rhs / nvls_bytes.rhs.simplify(), source=_SHARP,
    assumes="for large buffers; " + _FOUR, approx=2, regime=((N, oo),), needs=nvls_bytes.needs)
nvls_gain_self = Formula("Speedup over the ring, own chunk read too", g_speed,
    (all_reduce_bytes.rhs / nvls_bytes_self.rhs).simplify(), source=_NVLS, assumes="for large buffers; " + _SELF,
    approx=2, regime=((N, oo),),
    means={g_speed: "time of a ring over the time with the switch", N: "GPUs of the all-reduce"})

switch_in = Formula("Bytes that enter the switch", V_in, N * V, source="scaling-book-gpus, quiz 4 question 2",
    assumes=_FOUR)
switch_out = Formula("Bytes that leave the switch", V_out, N * V, source="scaling-book-gpus, quiz 4 question 2",
    assumes=_FOUR)

nvls_bus = Formula("Bus bandwidth of an in-network all-reduce", W_bus, 2 * eta * W * (N - 1) / (N + 1), source=_NVLS,
    assumes="when the links run at a fraction eta of their peak for a large buffer, and the switch reads all chunks",
    approx=2 * eta * W, regime=((N, oo),))
ring_share = Formula("Ring bandwidth relative to in-network reduction", r_ring, W_ring / (eta * W),
    source="ml-engineering, network", assumes="for large buffers, both measured on the same links")
nvls_from = Formula("Number of ranks above which in-network reduction wins", N_cross, (2 + r_ring) / (2 - r_ring),
    source=_NVLS,
    assumes="for large buffers, where the two bus bandwidths are equal; r_ring below 2",
    needs=(below(r_ring, 2),))

declare(globals())
