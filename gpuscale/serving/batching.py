"""Continuous batching in the steady state: how many sequences decode at a time, and how long a step takes then.

The prefill of a prompt gives the first token of its answer, so an answer of S_out tokens takes part in S_out - 1
decode steps, and step i of them reads the keys and values of S_in + i tokens. A step takes T_w, and t_seq for each
sequence; a prefill takes T_pre more, in which all sequences stop.
"""

# fmt: off

from sympy import oo

from gpuscale.core.conditions import at_least, below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_LITTLE, _BATCH = "little1961", "little1961; orca2022"
_more = lambda_req * ((S_out - 1) * t_seq + T_pre)  # seconds of work per second, without the reads of the weights
_STEADY = "for requests that come at random times, a step of T_w + t_seq per sequence, and a prefill that stops it"

requests_in_flight = Formula("Requests in flight, by Little's law", n_req, lambda_req * T_req, source=_LITTLE,
    assumes="in the steady state, whatever the order and the lengths of the requests; T_req includes the queue")
request_time = Formula("Time of a request", T_req, T_ttft + (S_out - 1) * T_tpot, source="orca2022",
    assumes="when the time to first token includes the queue and the prefill, which gives that token")
little = Formula("Sequences that decode at a time, by Little's law", B_mean, lambda_req * (S_out - 1) * T_dec,
    source=_LITTLE, assumes="in the steady state, for decode steps of T_dec on average, stops for prefill included",
    approx=lambda_req * S_out * T_dec, regime=((S_out, oo),))
steady_step = Formula("Time of a decode step in the steady state", T_dec, T_w / (1 - _more), source=_BATCH,
    assumes=_STEADY, needs=(below(_more, 1),))
steady_batch = Formula("Sequences that decode at a time in the steady state", B_mean,
    lambda_req * (S_out - 1) * T_w / (1 - _more), source=_BATCH, assumes=_STEADY, needs=(below(_more, 1),))
largest_rate = Formula("Largest request rate without a growing queue", lambda_req,
    B_seq / ((S_out - 1) * (T_w + B_seq * t_seq) + B_seq * T_pre), source=_BATCH,
    assumes="when at most B_seq sequences fit; a step of T_w + t_seq per sequence, and a prefill that stops it",
    approx=1 / ((S_out - 1) * t_seq + T_pre), regime=((B_seq, oo),))
mean_context = Formula("Mean context of the sequences that decode", S_mean, S_in + S_out / 2, source=_BATCH,
    assumes="for answers of one length, over all their decode steps")
mean_context_mixed = Formula("Mean context of the sequences that decode, mixed lengths", S_mean,
    S_in + (S_out * (1 + c_var**2) - 1) * S_out / (2 * (S_out - 1)), source=_BATCH,
    assumes="for answers of S_out tokens on average, whose lengths do not depend on their prompts: the long ones are "
    "in the batch for longer",
    approx=S_in + S_out * (1 + c_var**2) / 2, regime=((S_out, oo),), needs=(at_least(S_out, 2),))

declare(globals())
