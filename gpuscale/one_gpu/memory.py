"""Time and effective bandwidth when bytes move from a level of the memory hierarchy."""

# fmt: off

import sympy

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

transfer_time = Formula("Time to move bytes", T_mem, alpha + V / W,
    source="hockney1994", assumes="for one transfer with a latency of alpha, then at the full bandwidth",
    approx=V / W, regime=((V, sympy.oo),), optional=(alpha,),
    means={T_mem: "time of the transfer", alpha: "latency of the transfer: its time without the bytes",
        V: "bytes moved", W: "bandwidth of the memory or link, one direction"})

half_size = Formula("Size that reaches half of the bandwidth", V_half, alpha * W,
    source="hockney1994", assumes="for a time of latency plus bytes over bandwidth, both of the whole call")

effective_bandwidth = Formula("Effective bandwidth of a transfer", W_eff, V / (alpha + V / W), source="hockney1994",
    assumes="for a time of latency plus bytes over bandwidth", approx=W, regime=((V, sympy.oo),))

sweep_time = Formula("Time to read a level once", T_mem, S_level / W,
    source="scaling-book-gpus, memory", assumes="when the latency is negligible")

bandwidth_ratio = Formula("Bandwidth ratio of two levels", g_speed, W_ref / W, source="scaling-book-gpus, memory",
    assumes="for bandwidths of one GPU, counted in the same direction")

bytes_in_flight = Formula("Bytes in flight that keep a link busy", Q_full, alpha * W,
    source="little1961", assumes="when the latency of a request does not depend on other requests")

concurrent_bandwidth = Formula("Bandwidth with many requests in flight", W_eff, sympy.Min(W, Q / alpha),
    source="volkov2010", assumes="when requests overlap perfectly: an upper bound", approx=W, regime=((Q, sympy.oo),))

loads_in_flight = Formula("Bytes that the threads of a GPU keep in flight", Q, n_sm * w_res * w_lanes * n_load * b_load,
    source="volkov2010", assumes="when every resident thread has issued its loads and waits for the data")

# The same bound, with the threads that have to reach it
warp_bandwidth = concurrent_bandwidth.where(loads_in_flight, title="Bandwidth that the resident warps can request")

fed_rate = Formula("FLOP/s that a link can feed", P_run, sympy.Min(C, I * W), source="williams2009",
    assumes="when every byte crosses the link once and arithmetic overlaps with it", approx=C, regime=((I, sympy.oo),))

declare(globals())
