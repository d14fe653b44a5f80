"""The scheduler: tokens, blocks and slots that add up whatever the load, and loads small enough to follow by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest

from gpuscale.emulate.requests import Request, draw, requests, serve, uniform
from gpuscale.serving import largest_rate

COST = lambda decodes, prompt, read, pairs: 1 + decodes / 8 + prompt / 64 + read / 4096  # noqa: E731
LOADS = [
    {"slots": 4},
    {"slots": 4, "chunk": 8},
    {"slots": 16, "chunk": 50, "pool": 24},
    {"slots": 16, "pool": 24},
    {"slots": 16, "chunk": 50, "pool": 24, "reserve": True},
    {"slots": 6, "static": True},
    {"slots": 16, "static": True, "pool": 24},
]


def run(load, many=60, **more):
    return serve(requests(draw(many), 0.2, 40, 12), COST, page=8, **load, **more)


def at(run, kinds, time):
    return [r for r in run.requests for kind, start, end, _ in r.parts if kind in kinds and start <= time < end]


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_every_request_gets_its_tokens_one_a_step(load):
    served = run(load)
    ends = {step.end for step in served.steps}
    for r in served.requests:
        assert len(r.tokens) == r.answer and set(r.tokens) <= ends
        assert r.arrival < r.tokens[0] and all(a < b for a, b in pairwise(r.tokens))
        assert all(a[2] == b[1] for a, b in pairwise(r.parts)) and r.parts[0][1] == r.arrival
    given = sum(step.decodes for step in served.steps)
    fills = sum(r.evictions + 1 for r in served.requests)  # each prefill that ends gives a token
    lost = sum(1 for r in served.requests for a, b in pairwise(r.parts) if (a[0], b[0]) == ("prefill", "queue"))
    assert given + fills - lost == sum(r.answer for r in served.requests)


@pytest.mark.parametrize("load", LOADS, ids=str)
def test_slots_and_blocks_are_never_given_twice(load):
    served = run(load)
    assert max(step.blocks for step in served.steps) <= load.get("pool", math.inf)
    for step in served.steps:
        there = [
            (part[3]) for r in served.requests for part in r.parts if part[3] >= 0 and part[1] <= step.start < part[2]
        ]
        assert len(there) == len(set(there)) <= load["slots"] and all(slot < load["slots"] for slot in there)
        assert step.prompt <= load.get("chunk", math.inf) and step.decodes <= load["slots"]
        assert step.queued == len(at(served, {"queue"}, step.start))
    for a, b in pairwise(served.steps):
        assert b.start >= a.end


def test_steps_cost_what_they_carry():
    """Two prompts of 20 tokens in chunks of 16, answers of 3: contexts and pairs counted by hand."""
    asked = []

    def cost(*load):
        asked.append(load)
        return 1.0

    serve([Request(0, 20, 3), Request(0, 20, 3)], cost, slots=2, chunk=16)
    # 16 of the first prompt; its last 4 and 12 of the second; the last 8 of the second, while the first decodes
    assert asked[:3] == [(0, 16, 0, 136), (0, 16, 16, 4 * 16 + 10 + 78), (1, 8, 21 + 12, 21 + 8 * 12 + 36)]
    assert asked[3:] == [(2, 0, 22 + 21, 22 + 21), (1, 0, 22, 22)]


def test_the_last_one_in_loses_its_blocks():
    """Two sequences that grow into the only free block: the second is prefilled again, with the token that it had."""
    asked = []

    def cost(*load):
        asked.append(load[:2])
        return 1.0

    served = serve([Request(0, 8, 6), Request(0, 7, 4)], cost, slots=2, pool=3, page=8)
    first, second = served.requests
    assert (first.evictions, second.evictions) == (0, 1)
    assert asked == [(0, 15), (2, 0), (1, 0), (1, 0), (1, 0), (1, 0), (0, 9), (1, 0)]
    assert [len(second.tokens), second.tokens[1:3]] == [4, [2.0, 7.0]]
    waits = serve([Request(0, 8, 6), Request(0, 7, 4)], cost, slots=2, pool=3, page=8, reserve=True)
    assert [r.evictions for r in waits.requests] == [0, 0] and waits.requests[1].tokens[0] == 7.0


def test_a_static_batch_ends_with_its_longest_answer():
    served = serve([Request(0, 5, 2), Request(0, 5, 4), Request(0, 5, 2)], lambda *_: 1.0, slots=2, static=True)
    assert [r.tokens[-1] for r in served.requests] == [2.0, 4.0, 6.0]
    assert ("kept", 2.0, 4.0, 0) in served.requests[0].parts
    more = serve([Request(0, 5, 2), Request(0, 5, 4), Request(0, 5, 2)], lambda *_: 1.0, slots=2)
    assert more.requests[2].tokens[0] == 3.0  # the slot is free after the second step


def test_a_request_larger_than_the_pool_is_passed_over():
    served = serve([Request(0, 100, 2), Request(0, 5, 2)], lambda *_: 1.0, slots=2, pool=3)
    assert served.requests[0].tokens == [] and served.requests[1].tokens == [1.0, 2.0]


def test_means_of_a_run_by_hand():
    """One request alone, then none for a while, then another one."""
    served = serve([Request(0, 5, 3), Request(10, 5, 3)], lambda *_: 2.0, slots=2)
    assert [(s.start, s.decodes) for s in served.steps] == [(0, 0), (2, 1), (4, 1), (10, 0), (12, 1), (14, 1)]
    assert served.mean_batch() == 8 / 16 and served.mean_step() == 2 and served.token_rate() == 6 / 16
    assert served.first_tokens().tolist() == [2, 2] and served.token_times().tolist() == [2, 2]
    assert served.gaps().tolist() == [2, 2, 2, 2]
    later = serve([Request(0, 5, 3), Request(10, 5, 3)], lambda *_: 2.0, slots=2, warm=10)
    assert later.mean_batch() == 4 / 6 and later.first_tokens().tolist() == [2] and later.token_rate() == 3 / 6


def test_a_run_can_be_cut():
    served = run(LOADS[0], until=50)
    assert served.steps[-1].start < 50 <= served.steps[-1].end
    assert any(not r.done for r in served.requests)


def test_random_numbers_are_those_of_the_generator():
    """Its ten-thousandth number, as its authors publish it for a seed of 1 (minstd_rand of C++)."""
    numbers = uniform(1)
    *_, last = (next(numbers) for _ in range(10_000))
    assert last * (2**31 - 1) == pytest.approx(399268537, abs=0.5)


def test_gaps_are_exponential_and_lengths_gamma():
    rows = draw(20_000)
    assert rows.mean(axis=0) == pytest.approx(np.ones(3), rel=0.02)
    assert rows.var(axis=0) == pytest.approx([1, 0.5, 0.5], rel=0.05)
    assert np.mean(rows[:, 0] > 1) == pytest.approx(math.exp(-1), rel=0.03)
    even = draw(1000, group=100).reshape(10, 100, 3)
    assert even.mean(axis=1) == pytest.approx(np.ones((10, 3)), rel=1e-12)


WEIGHTS, EACH, PROMPT = 0.010, 70e-6, 500  # seconds, and tokens


def queued(part, most):
    """Requests in the queue over the last half of a run at ``part`` of the rate ``most``."""
    coming = requests(draw(700, group=50), part * most, PROMPT, 50, vary=False)

    def cost(decodes, prompt, read, pairs):
        return WEIGHTS + EACH * decodes + 0.004 * prompt / PROMPT

    run = serve(coming, cost, slots=20, until=coming[-1].arrival)
    half = run.steps[len(run.steps) // 2 :]
    return np.mean([step.queued for step in half])


def test_the_queue_grows_from_the_largest_rate():
    most = float(largest_rate(B_seq=20, S_out=50, T_w=WEIGHTS, t_seq=EACH, T_pre=0.004))
    assert queued(0.93, most) < 12 and queued(1.07, most) > 18
