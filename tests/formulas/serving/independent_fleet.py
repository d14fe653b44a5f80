"""A fleet played: caches sent layer by layer, busy seconds added up token by token, money and energy by the hour."""

from fractions import Fraction

import numpy as np
from formulas.harness import at, checks
from hypothesis import strategies as st

SMALL = st.integers(1, 6)
RATE = st.fractions(Fraction(1, 4), 40, max_denominator=8)
REQUEST = st.tuples(st.integers(1, 30), st.integers(0, 29), st.integers(1, 20))


@checks("handover_bytes", over=st.tuples(SMALL, SMALL, SMALL, SMALL))
def arrays_that_are_sent(lib, case):
    layers, heads, width, prompt = case
    cache = np.zeros((prompt, layers, 2, heads, width), dtype=np.float16)
    token = cache[0].nbytes
    assert at(lib.handover_bytes, V_tok=token, S_in=prompt) == sum(one.nbytes for one in cache)


@checks("handover_bandwidth", over=st.tuples(st.integers(2, 8), SMALL, SMALL, RATE))
def layers_sent_while_others_are_computed(lib, case):
    """At that bandwidth only the last layer's cache arrives after the prefill; at less more does."""
    layers, token, prompt, time = case

    def late(rate):
        """Time from the end of the prefill to that of the last transfer, in times of a layer."""
        computed = sent = Fraction(0)
        for _ in range(layers):
            computed += time / layers
            sent = max(sent, computed) + Fraction(token * prompt, layers) / rate
        return (sent - computed) / (time / layers)

    rate = at(lib.handover_bandwidth, V_tok=token, S_in=prompt, T_pre=time)
    assert late(rate) == 1 and late(rate * Fraction(999, 1000)) > 1 > late(rate * Fraction(1001, 1000))


def busy(prompt, cached, answer, prefill, decode):
    """Seconds of a GPU for the prefill and for the decode of a request, token by token."""
    work = [Fraction(1) / prefill for _ in range(cached, prompt)], [Fraction(1) / decode for _ in range(answer)]
    return sum(work[0], Fraction(0)), sum(work[1])


@checks("prefill_decode_ratio", "fleet_size", "colocated_rate", over=st.tuples(REQUEST, RATE, RATE, SMALL))
def requests_of_a_day(lib, case):
    (prompt, cached, answer), prefill, decode, many = case
    cached = min(cached, prompt)
    day = 10
    work = [busy(prompt, cached, answer, prefill, decode) for _ in range(many)]
    first, second = (sum(part) for part in zip(*work, strict=True))
    given = {"S_in": prompt, "S_hit": cached, "S_out": answer, "r_pre": prefill, "r_dec": decode}
    assert at(lib.prefill_decode_ratio, **given) == first / second
    assert at(lib.fleet_size, **given, lambda_req=Fraction(many, day)) == (first + second) / day
    assert at(lib.colocated_rate, **given) == many / (first + second)  # one GPU does one after the other


@checks("knee_batch", over=st.tuples(SMALL, SMALL, st.integers(1, 20)))
def sequences_until_caches_weigh_as_much(lib, case):
    token, context, knee = case
    weights, read = knee * token * context, []
    while sum(read) < weights:
        read.append(sum(token for _ in range(context)))
    assert at(lib.knee_batch, V_w=weights, V_seq=token * context) == len(read)


@checks("speed_per_user", "throughput_per_gpu", over=st.tuples(SMALL, SMALL, st.lists(SMALL, min_size=1), RATE))
def tokens_of_a_few_steps(lib, case):
    """``found``: tokens that each step gives to every sequence."""
    sequences, gpus, found, step = case
    clock, tokens = Fraction(0), [0] * sequences
    for each in found:
        clock += step
        tokens = [t + each for t in tokens]
    each = Fraction(sum(found), len(found))
    assert at(lib.speed_per_user, a_step=each, T_dec=step) == tokens[0] / clock
    ours = at(lib.throughput_per_gpu, a_step=each, T_dec=step, B_seq=sequences, N_gpu=gpus)
    assert ours == sum(tokens) / clock / gpus


@checks("frontier", over=st.tuples(SMALL, SMALL, RATE, RATE))
def points_of_the_frontier(lib, case):
    """A batch is stepped through, and both rates of it are counted."""
    sequences, gpus, weights, each = case
    clock = weights + sum(each for _ in range(sequences))
    ours = at(lib.frontier, r_user=1 / clock, T_w=weights, t_seq=each, N_gpu=gpus)
    assert ours == sequences / clock / gpus


@checks(
    "dollars_per_million",
    "tokens_per_joule",
    over=st.tuples(RATE, RATE, st.fractions(Fraction(1, 4), 1, max_denominator=8)),
)
def an_hour_of_a_gpu(lib, case):
    rate, price, used = case
    served = sum(rate for _ in range(60 * 60))
    assert at(lib.dollars_per_million, p_gpu=price, r_tok=rate, f_busy=used) == price / (served * used) * 1_000_000
    joules = sum(price for _ in range(60 * 60))  # the same number as watts
    assert at(lib.tokens_per_joule, r_tok=rate, P_power=price) == served / joules


@checks("replicas_for_rate", "hourly_price", over=st.tuples(RATE, RATE, st.fractions(Fraction(1, 9), 1), SMALL, SMALL))
def replicas_added_until_the_rate_is_met(lib, case):
    rate, own, load, gpus, price = case
    many = 1
    while many * load * own < rate:
        many += 1
    assert at(lib.replicas_for_rate, lambda_req=rate, r_rep=load * own) == many
    bill = sum(price for _ in range(many) for _ in range(gpus))
    assert at(lib.hourly_price, n_rep=many, N_gpu=gpus, p_gpu=price) == bill
