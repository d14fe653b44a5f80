"""Queues: chains of states whose probabilities are solved for, requests served one by one, and prefills drawn."""

import functools
import math

import numpy as np
from formulas.harness import checks, close
from hypothesis import strategies as st

from gpuscale.emulate.requests import draw, requests, serve

MANY = 120  # states of a chain: at the loads below, longer queues have no weight
LOAD, TIME = st.sampled_from([0.1, 0.3, 0.5, 0.7]), st.sampled_from([0.125, 0.5, 1.0, 3.0])


def poisson(mean: float) -> np.ndarray:
    out = [math.exp(-mean)]
    for k in range(1, MANY):
        out.append(out[-1] * mean / k)
    return np.array(out)


@functools.cache
def queued(rate: float, times: tuple[tuple[float, float], ...]) -> float:
    """The mean time in the queue, where each of the ``times`` is served with a probability. Those whom a request leaves
    behind came while it was in the system."""
    come = sum(chance * poisson(rate * time) for time, chance in times)
    move = np.zeros((MANY, MANY))
    for there in range(MANY):
        first = max(there - 1, 0)
        move[there, first:] = come[: MANY - first]
        move[there, -1] += 1 - move[there].sum()
    balance = move.T - np.eye(MANY)
    balance[0] = 1  # the probabilities add up to 1
    left = np.linalg.solve(balance, np.eye(MANY)[0])
    return float(left @ np.arange(MANY)) / rate - sum(chance * time for time, chance in times)


@checks("queue_time", "largest_load", over=st.tuples(LOAD, TIME, st.sampled_from([0.0, 0.25, 0.5, 0.9])), examples=12)
def a_chain_of_departures(lib, case):
    """Two service times, one of them a fraction of the other: a request is a hit or a miss."""
    load, long, hits = case
    mean = hits * long / 4 + (1 - hits) * long
    spread = (hits * (long / 4 - mean) ** 2 + (1 - hits) * (long - mean) ** 2) / mean**2
    wait = queued(load / mean, ((long / 4, hits), (long, 1 - hits)))
    close(lib.queue_time(f_svc=load, T_svc=mean, c_scv=spread), wait, 1e-6)
    close(lib.largest_load(T_queue=wait, T_svc=mean, c_scv=spread), load, 1e-6)


@checks("queue_percentile", over=st.tuples(LOAD, TIME, st.sampled_from([0.4, 0.9, 0.95, 0.99])), examples=20)
def states_that_a_request_meets(lib, case):
    """Exponential service times: the states of the server balance, and each request ahead takes one of them."""
    load, time, part = case
    met = [1.0]
    for _ in range(MANY - 1):
        met.append(met[-1] * load)  # as many arrivals as departures between two states
    met = np.array(met) / sum(met)
    mean = float(met @ np.arange(MANY)) * time

    def within(t: float) -> float:
        """The fraction of requests that queue no longer than t: as many services end in t as there are ahead."""
        ended = 1 - np.cumsum(poisson(t / time))
        return float(met[0] + met[1:] @ ended[: MANY - 1])

    ours = lib.queue_percentile(T_queue=mean, f_svc=load, f_late=1 - part)
    if met[0] >= part:
        assert ours == 0
    else:
        close(within(ours), part, 1e-9)


@functools.cache
def served(load: float, time: float):
    """The times in the queue of the scheduler, whose requests have no answer but the token of their prefill, and the
    load that it saw."""
    coming = requests(draw(12_000, group=200), load / time, 1, 1, vary=False)
    run = serve(coming, lambda *_: time, slots=1)
    waits = run.first_tokens() - time
    return waits[500:], time * len(coming) / (run.steps[-1].end - coming[0].arrival)


@checks("queue_time", "largest_load", "queue_percentile")
def a_scheduler_that_only_prefills(lib):
    for load, time in [(0.4, 0.2), (0.6, 3.0)]:
        waits, seen = served(load, time)
        wait = lib.queue_time(f_svc=seen, T_svc=time, c_scv=0)
        close(wait, waits.mean(), 0.04)
        close(lib.largest_load(T_queue=waits.mean(), T_svc=time, c_scv=0), seen, 0.04)
        for part in (0.9, 0.95, 0.99):
            found = float(np.quantile(waits, part))
            assert 0.97 <= lib.queue_percentile(T_queue=wait, f_svc=seen, f_late=1 - part) / found < 1.3, (load, part)


@checks("mean_prefill", "prefill_spread", over=st.tuples(st.integers(0, 6), st.integers(1, 6), TIME, TIME))
def prefills_one_by_one(lib, case):
    hits, misses, short, more = case
    times = [short] * hits + [short + more] * misses
    given = {"f_pre": hits / len(times), "T_hit": short, "T_miss": short + more}
    close(lib.mean_prefill(**given), np.mean(times))
    np.testing.assert_allclose(lib.prefill_spread(**given), np.var(times) / np.mean(times) ** 2, rtol=1e-9, atol=1e-12)


def all_taken(slots: int, load: float) -> float:
    """The fraction of the requests that find every slot taken: a chain of requests in the system, in balance."""
    states = [1.0]
    for n in range(1, slots + 4000):
        states.append(states[-1] * slots * load / min(n, slots))
    return sum(states[slots:]) / sum(states)


SLOTS = st.sampled_from([1, 2, 4, 8, 16, 32])


@checks("slot_taken", "slot_queue", over=st.tuples(SLOTS, st.sampled_from([0.6, 0.9, 0.95])))
def a_chain_of_slots(lib, case):
    """Exponential times in a slot: whoever finds all taken is behind as many as are queued. A cautious approximation,
    and a close one at a high load."""
    slots, load = case
    met, time = all_taken(slots, load), 3.0
    ours = lib.slot_taken(f_load=load, B_seq=slots)
    if load < 0.8:
        assert met * (1 - 1e-9) <= ours <= 6 * met
    else:
        close(ours, met, 0.035 if load < 0.95 else 0.01)
    behind = sum(met * (1 - load) * load**n * (n + 1) for n in range(3000)) * time / slots
    close(lib.slot_queue(f_slot=met, T_hold=time, c_scv=1, B_seq=slots, f_load=load), behind, 1e-6)
    if slots == 1 and load < 0.8:  # equal times
        even = lib.slot_queue(f_slot=met, T_hold=time, c_scv=0, B_seq=slots, f_load=load)
        close(even, queued(load / time, ((time, 1.0),)), 1e-6)


@checks("replica_queue", over=st.tuples(TIME, TIME, TIME, st.integers(1, 9)))
def a_request_at_every_moment_of_a_step(lib, case):
    """It waits for the end of the step, then for a slot, then for the prompts before it."""
    slot, line, step, moments = case
    waits = [step - step * (2 * i + 1) / (2 * moments) + slot + line for i in range(moments)]
    close(lib.replica_queue(T_slot=slot, T_line=line, T_dec=step), np.mean(waits))
