"""Time, and bandwidth seen, when bytes move from a level of the memory hierarchy."""

import sympy

from gpuscale.formula import Formula
from gpuscale.symbols import S_level, T_mem, V, V_half, W, W_eff, W_ref, alpha, g_speed

transfer_time = Formula(
    "Time to move bytes", T_mem, alpha + V / W,
    source="hockney1994", assumes="for one transfer that waits once and then runs at the full bandwidth",
    approx=V / W, regime=((V, sympy.oo),),
)  # fmt: skip

half_size = Formula(
    "Size that reaches half the bandwidth", V_half, alpha * W,
    source="hockney1994", assumes="for the same one transfer",
)  # fmt: skip

effective_bandwidth = Formula(
    "Bandwidth that a transfer sees", W_eff, V / (alpha + V / W),
    source="hockney1994", assumes="for the same one transfer", approx=W, regime=((V, sympy.oo),),
)  # fmt: skip

sweep_time = Formula(
    "Time to read a level once", T_mem, S_level / W,
    source="scaling-book-gpus, memory", assumes="when latency is hidden by many transfers in flight",
)  # fmt: skip

bandwidth_ratio = Formula(
    "One level against another", g_speed, W_ref / W,
    source="scaling-book-gpus, memory", assumes="for bandwidths counted in the same direction, on one product",
)  # fmt: skip
