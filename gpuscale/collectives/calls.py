"""The time of a whole call of a collective: the alpha-beta model, fitted to a sweep of sizes by ``fit.alpha_beta``."""

# fmt: off

from sympy import oo

from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_FITTED = "for one collective on one machine, as long as its algorithm and protocol do not change"

call_time = Formula("Time of a call, from a fit", T_comms, alpha_call + V / W_fit, source="hockney1994",
    assumes=_FITTED, approx=V / W_fit, regime=((V, oo),))
call_bandwidth = Formula("Algorithm bandwidth of a call, from a fit", W_alg, V / (alpha_call + V / W_fit),
    source="hockney1994", assumes=_FITTED, approx=W_fit, regime=((V, oo),))
call_half_size = Formula("Size at which a call reaches half of its fitted bandwidth", V_half, alpha_call * W_fit,
    source="hockney1994", assumes=_FITTED)

declare(globals())
