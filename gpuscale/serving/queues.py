"""The queue in front of a server that works on one request at a time, such as a GPU that only prefills, and in front of
a replica that prefills and decodes.

Requests come at random, as a Poisson process, and are served in the order of their arrival. Equal service times make it
the queue M/D/1; a cache of prefixes makes some of them shorter, which is a queue M/G/1.
"""

# fmt: off

from sympy import Max, log, sqrt

from gpuscale.core.conditions import below
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "kleinrock1975"
_POISSON = "for requests that come as a Poisson process and are served one at a time, in the order of their arrival"
_SPREAD = 1 + c_scv

# The wait
queue_time = Formula("Mean time in the queue of a server", T_queue, f_svc * T_svc * _SPREAD / (2 * (1 - f_svc)),
    source=f"{_BOOK}, chapter 5",
    assumes=f"{_POISSON} (Pollaczek and Khinchine): M/D/1 for equal service times, c_scv = 0",
    needs=(below(f_svc, 1),))
largest_load = Formula("Largest load of a server for a mean time in its queue", f_svc,
    2 * T_queue / (2 * T_queue + T_svc * _SPREAD), source=f"{_BOOK}, chapter 5",
    assumes=f"{_POISSON}: at any higher load the mean time in the queue exceeds T_queue")
queue_percentile = Formula("Percentile of the time in the queue of a server", T_tail,
    Max(0, T_queue * log(f_svc / f_late) / f_svc), source=f"{_BOOK}, chapter 5",
    assumes="when a fraction f_svc of the requests queue, for an exponentially distributed time: exact for "
    "exponentially distributed service times, a cautious estimate for equal ones", needs=(below(0, f_svc),))

# A cache of prefixes
mean_prefill = Formula("Mean prefill with a prefix cache", T_svc, f_pre * T_hit + (1 - f_pre) * T_miss,
    source="vllm-blog", assumes="when a fraction f_pre of the requests find their prefix, whatever came before")
prefill_spread = Formula("Variation of prefill times with a prefix cache", c_scv,
    f_pre * (1 - f_pre) * (T_miss - T_hit)**2 / (f_pre * T_hit + (1 - f_pre) * T_miss)**2, source=_BOOK,
    assumes="when a fraction f_pre of the requests find their prefix, whatever came before")

# A batch with a limit, whose requests are prefilled one after another
slot_taken = Formula("Requests that find every slot taken", f_slot, f_load ** (sqrt(2 * (B_seq + 1)) - 1),
    source="sakasegawa1977",
    assumes="for requests that come as a Poisson process and each take one of B_seq slots, when a fraction f_load of "
    "them is taken on average: an approximation")
slot_queue = Formula("Mean time until a slot is free", T_slot, f_slot * T_hold * _SPREAD / (2 * B_seq * (1 - f_load)),
    source="sakasegawa1977",
    assumes="for requests that hold a slot for T_hold on average, with a squared coefficient of variation of c_scv, "
    "when a fraction f_load of B_seq slots is taken: an approximation", needs=(below(f_load, 1),))
replica_queue = Formula("Mean time in the queue of a replica", T_queue, T_slot + T_line + T_dec / 2, source=_BOOK,
    assumes="when a request waits for a slot, for the prefills of earlier requests, and for the end of the step that "
    "runs when it comes, half of a step on average")

declare(globals())
