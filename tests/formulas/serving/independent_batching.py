"""Batches played step by step: requests enter, decode and leave, and their tokens, contexts and times are counted."""

import functools
from fractions import Fraction

from formulas.harness import at, checks, close
from hypothesis import strategies as st

from gpuscale.emulate.requests import draw, requests, serve

SMALL = st.integers(1, 5)
TIME = st.fractions(Fraction(1, 8), 5, max_denominator=8)


def played(arrivals, answer, weights, each, prefill, steps):
    """(sequences, time) of the steps of an engine: ``arrivals(step)`` requests are prefilled before each.

    Returns those after the batch has filled up; an answer's first token comes from the prefill.
    """
    running, out = [], []
    for step in range(2 * answer + steps):
        time = Fraction(0)
        for _ in range(arrivals(step, len(running))):
            running.append(answer - 1)
            time += prefill
        running = [left for left in running if left]
        time += weights + sum(each for _ in running)
        out.append((len(running), time))
        running = [left - 1 for left in running if left > 1]
    return out[2 * answer :]


def mean(values):
    values = list(values)
    return Fraction(sum(values)) / len(values)


@checks("little", "steady_step", "steady_batch", over=st.tuples(st.integers(2, 9), SMALL, SMALL, TIME, TIME, TIME))
def requests_that_come_at_every_few_steps(lib, case):
    answer, many, apart, weights, each, prefill = case
    seen = played(lambda step, _: many if step % apart == 0 else 0, answer, weights, each, prefill, 12 * apart)
    batch, step = mean(b for b, _ in seen), mean(t for _, t in seen)
    rate = Fraction(many, apart) / step  # requests per step, over the time of a step
    given = {"lambda_req": rate, "S_out": answer, "T_w": weights, "t_seq": each, "T_pre": prefill}
    assert at(lib.steady_step, **given) == step
    assert at(lib.steady_batch, **given) == batch
    assert at(lib.little, lambda_req=rate, S_out=answer, T_dec=step) == batch


@checks("largest_rate", over=st.tuples(st.integers(2, 9), st.integers(1, 9), TIME, TIME, TIME))
def a_queue_that_is_never_empty(lib, case):
    """Slots are filled as soon as they are free, over a whole number of rounds."""
    answer, slots, weights, each, prefill = case
    entered = []

    def fill(step, running):
        entered.append((step, slots - running))
        return slots - running

    seen = played(fill, answer, weights, each, prefill, 6 * (answer - 1))
    requests = sum(n for step, n in entered if step >= 2 * answer)
    rate = requests / sum(t for _, t in seen)
    given = {"B_seq": slots, "S_out": answer, "T_w": weights, "t_seq": each, "T_pre": prefill}
    assert at(lib.largest_rate, **given) == rate


@checks("request_time", over=st.tuples(st.integers(1, 9), TIME, TIME))
def the_clock_of_a_request(lib, case):
    answer, first, gap = case
    clock = first  # the first token
    for _ in range(answer - 1):
        clock += gap
    assert at(lib.request_time, T_ttft=first, S_out=answer, T_tpot=gap) == clock


@checks("requests_in_flight", over=st.tuples(st.integers(1, 20), st.lists(SMALL, min_size=1, max_size=6)))
def requests_counted_at_every_tick(lib, case):
    """Requests that come again and again in one rhythm, each in the system for some ticks."""
    ticks, apart = case
    rhythm, starts = sum(apart), [0]
    for _ in range(3 + 20 // rhythm):
        for wait in apart:
            starts.append(starts[-1] + wait)
    there = [sum(start <= tick < start + ticks for start in starts) for tick in range(20, 20 + rhythm)]
    assert at(lib.requests_in_flight, lambda_req=Fraction(len(apart), rhythm), T_req=ticks) == mean(there)


def contexts(prompt, answer):
    """The tokens that each decode step of a request reads, its own included."""
    held, out = ["prompt"] * prompt + ["first"], []
    while len(out) < answer - 1:
        out.append(len(held))
        held.append("next")
    return out


@checks("mean_context", over=st.tuples(st.integers(1, 60), st.integers(2, 60)))
def contexts_of_one_length(lib, case):
    prompt, answer = case
    assert at(lib.mean_context, S_in=prompt, S_out=answer) == mean(contexts(prompt, answer))


@checks(
    "mean_context_mixed", over=st.tuples(st.integers(1, 60), st.integers(2, 40), st.integers(1, 30), st.integers(1, 4))
)
def contexts_of_many_lengths(lib, case):
    """Answers of two lengths, ``times**2`` short ones for each long one, so that the deviation is a whole number."""
    prompt, short, apart, times = case
    lengths = [short] * times**2 + [short + apart * (times**2 + 1)]
    middle = mean(lengths)
    spread = apart * times  # its square is the mean square of the distances
    assert spread**2 == mean((n - middle) ** 2 for n in lengths)
    read = [n for answer in lengths for n in contexts(prompt, answer)]
    assert at(lib.mean_context_mixed, S_in=prompt, S_out=middle, c_var=spread / middle) == mean(read)


# Requests that come at random


WEIGHTS, EACH, PROMPT, ANSWER = 0.010, 70e-6, 500, 200  # seconds, and tokens


@functools.cache
def served(rate, prefill):
    """What the scheduler counts, and the rate at which requests really came; whole prompts stop all sequences."""
    coming = requests(draw(1500, group=50), rate, PROMPT, ANSWER, vary=False)
    warm, until = coming[60].arrival, coming[-1].arrival

    def cost(decodes, prompt, read, pairs):
        return WEIGHTS + EACH * decodes + prefill * prompt / PROMPT

    run = serve(coming, cost, slots=128, until=until, warm=warm)
    return run, sum(r.arrival > warm for r in coming) / (until - warm)


LOADS = [(8, 0.0), (12, 0.010)]


@checks("steady_step", "steady_batch")
def a_poisson_process_in_the_steady_state(lib):
    """The scheduler's means are those of the formulas: the batch within 1.5%, the rate of tokens within 0.5%."""
    for load in LOADS:
        run, rate = served(*load)
        given = {"lambda_req": rate, "S_out": ANSWER, "T_w": WEIGHTS, "t_seq": EACH, "T_pre": load[1]}
        batch, step = lib.steady_batch(**given), lib.steady_step(**given)
        close(batch, run.mean_batch(), 0.015)
        close(batch / step * ANSWER / (ANSWER - 1), run.token_rate(), 0.005)
        close(step, run.mean_step(), 0.005)


@checks("little")
def little_s_law_of_the_scheduler(lib):
    run, rate = served(8, 0.0)
    close(lib.little(lambda_req=rate, S_out=ANSWER, T_dec=run.mean_step()), run.mean_batch(), 0.015)
