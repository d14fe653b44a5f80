"""Times of a decode step: kernels with a clock for bytes and one for FLOPs; batches and contexts tried one by one."""

from fractions import Fraction
from itertools import count

from formulas.harness import at, checks, rational
from hypothesis import strategies as st

AMOUNT = st.integers(1, 60)
RATE = st.integers(1, 9)
PART = st.sampled_from([Fraction(1, 2), Fraction(3, 4), 1])


def kernels(gpus, bandwidth, *found, overlap=False):
    """Seconds until every GPU has done its part of (bytes, [(flops, rate), ...]): a kernel ends with its later clock.

    With ``overlap`` all kernels run at the same time.
    """
    clocks = []
    for _ in range(gpus):
        read = [Fraction(moved) / gpus / bandwidth for moved, _ in found]
        done = [sum(Fraction(flops) / gpus / rate for flops, rate in work) for _, work in found]
        clocks.append(max(sum(read), sum(done)) if overlap else sum(map(max, read, done)))
    return max(clocks)


@st.composite
def steps(draw):
    names = ("V_w", "V_kv", "P_act", "ops_kv")
    rates = ("W_hbm", "C", "C_attn")
    return (
        {n: draw(AMOUNT) for n in names}
        | {n: draw(RATE) for n in rates}
        | {
            "N_gpu": draw(st.integers(1, 4)),
            "B_seq": draw(st.integers(1, 4)),
        }
    )


@checks(
    "decode_bound",
    "decode_sum",
    "decode_estimate",
    over=st.tuples(steps(), PART, st.integers(1, 4), AMOUNT),
    examples=60,
)
def matmuls_then_attention(lib, case):
    x, sustained, layers, extra = case
    weights = 2 * sum(x["P_act"] for _ in range(x["B_seq"]))
    found = [(x["V_w"], [(weights, x["C"])]), (x["V_kv"], [(x["ops_kv"], x["C_attn"])])]
    together = kernels(x["N_gpu"], x["W_hbm"], *found, overlap=True)
    assert at(lib.decode_bound, **x, V_read=x["V_w"] + x["V_kv"]) == together
    apart = kernels(x["N_gpu"], x["W_hbm"], *found)
    assert at(lib.decode_sum, **x) == apart >= together
    slow = kernels(x["N_gpu"], x["W_hbm"] * sustained, *found) + sum(extra for _ in range(layers))
    assert at(lib.decode_estimate, **x, eta_hbm=sustained, L=layers, t_layer=extra) == slow


@checks("prefill_bound", "prefill_estimate", over=st.tuples(AMOUNT, AMOUNT, RATE, RATE, RATE, PART, PART, RATE))
def one_prompt(lib, case):
    flops, weights, gpus, bandwidth, rate, reach, sustained, layers = case
    x = {"ops": flops, "V_w": weights, "N_gpu": gpus, "W_hbm": bandwidth, "C": rate}
    assert at(lib.prefill_bound, **x) == kernels(gpus, bandwidth, (weights, [(flops, rate)]))
    slow = kernels(gpus, bandwidth * sustained, (weights, [(flops, rate * reach)])) + sum(3 for _ in range(layers))
    assert at(lib.prefill_estimate, **x, eta_mat=reach, eta_hbm=sustained, L=layers, t_layer=3) == slow


@checks("time_per_token", "first_token_time", over=st.tuples(AMOUNT, AMOUNT, AMOUNT, AMOUNT, st.integers(1, 5)))
def a_request_watched(lib, case):
    """A prompt that waits, is read next to sequences that decode, and whose tokens arrive some at a time."""
    queue, prompt, step, sent, many = case
    clock = 0
    for stage in (queue, prompt, step, sent):
        clock += stage
    assert at(lib.first_token_time, T_queue=queue, T_pre=prompt, T_dec=step, T_send=sent) == clock
    arrivals = [i * step for i in range(1, 9) for _ in range(many)]
    assert at(lib.time_per_token, T_dec=step, a_step=many) == Fraction(arrivals[-1], len(arrivals))


@checks("loaded_step", over=st.tuples(AMOUNT, st.lists(AMOUNT, max_size=6), st.integers(1, 4)))
def sequences_that_join_one_by_one(lib, case):
    """A clock that runs at full speed for the first sequence and slower by a factor for each that joins."""
    first, joined, factor = case
    clock = Fraction(first)
    for more in joined:
        clock += sum(more for _ in range(factor))
    assert at(lib.loaded_step, T_one=first, T_many=first + sum(joined), g_added=factor) == clock


@checks(
    "critical_batch_cached",
    over=st.tuples(AMOUNT, st.integers(1, 12), st.integers(1, 60), RATE, RATE),
    examples=60,
)
def batches_tried_one_by_one(lib, case):
    """The first whole batch whose FLOPs take at least as long as its bytes; none of very many if it is infinite."""
    weights, cache, flops, bandwidth, rate = case
    x = {"V_w": weights, "V_seq": cache, "ops_tok": flops, "W_hbm": bandwidth, "C": rate}
    tried = (b for b in count(1) if b > 9000 or Fraction(b * flops, rate) >= Fraction(weights + b * cache, bandwidth))
    first = next(tried)
    if first > 9000:
        assert rational_or_infinite(lib.critical_batch_cached, x) == float("inf")
        return
    exact = rational_or_infinite(lib.critical_batch_cached, x)
    assert first - 1 < exact <= first
    assert exact * flops / rate == (weights + exact * cache) / bandwidth


def rational_or_infinite(formula, x):
    try:
        return rational(formula, **x)
    except AssertionError:
        return formula(**x)


@checks(
    "longest_compute_bound",
    "longest_compute_bound_attention",
    over=st.tuples(AMOUNT, st.integers(1, 4), RATE, st.integers(1, 9), st.sampled_from([0, 1, Fraction(1, 2)])),
    examples=40,
)
def contexts_tried_one_by_one(lib, case):
    """At the context found, a sequence's bytes and FLOPs take equally long: no weights, so no batch, change that."""
    active, cache, bandwidth, ridge, share = case
    rate, intensity = ridge * bandwidth, share * ridge / 2

    def longer(context):
        """By how much a token's arithmetic takes longer than the reading of its sequence's cache."""
        seen = intensity * cache * context  # FLOPs of attention
        return Fraction(2 * active + seen) / rate - Fraction(cache) * context / bandwidth

    x = {"P_act": active, "W_hbm": bandwidth, "C": rate, "V_tok": cache}
    formula = lib.longest_compute_bound_attention if share else lib.longest_compute_bound
    found = at(formula, **x, I=intensity)
    assert longer(found) == 0 and longer(found - 1) > 0 > longer(found + 1)


@checks("throughput_ceiling", over=st.tuples(AMOUNT, AMOUNT, RATE))
def ever_larger_batches(lib, case):
    weights, cache, bandwidth = case
    most = at(lib.throughput_ceiling, W_hbm=bandwidth, V_seq=cache)
    rates = [Fraction(b) * bandwidth / (weights + b * cache) for b in (1, 10**3, 10**6, 10**9)]
    assert rates == sorted(rates) and rates[-1] < most < rates[-1] * (1 + Fraction(1, 10**6))
