"""Schedules on the clock: against the formulas where these hold, and by hand where links differ."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscale.collectives import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from gpuscale.schedules.collectives import direct, ring
from gpuscale.schedules.timelines.sending import clocked

RINGS = {ring.all_gather: ring_all_gather, ring.reduce_scatter: ring_reduce_scatter, ring.all_reduce: ring_all_reduce}
rates = st.lists(st.floats(1e8, 1e12), min_size=2, max_size=12)


@pytest.mark.parametrize("make", RINGS, ids=lambda make: make.__name__)
@settings(max_examples=30)
@given(rates=rates, V=st.floats(1, 1e10), alpha=st.sampled_from([0, 1e-6, 3.4e-6]))
def test_a_ring_is_as_fast_as_its_slowest_link(make, rates, V, alpha):
    took = clocked(make(len(rates)), V, alpha, rates).total
    assert took == pytest.approx(RINGS[make](V=V, N=len(rates), alpha=alpha, W=min(rates)), rel=1e-9)


def test_two_ranks_by_hand():
    run = clocked(ring.all_gather(2), V=2.0, alpha=1.0, W=[1.0, 0.5])  # each sends one byte, after a second
    assert run.end.tolist() == [2.0, 3.0]
    assert run.sent(1.5).tolist() == [0.5, 0.25]
    assert run.held(2.5).tolist() == [[1, 0], [1, 1]]
    assert run.waiting == pytest.approx((1 / 3 + 0) / 2)
    assert run.marks.tolist() == [3.0]


def test_a_chain_that_is_pipelined():
    run = clocked(ring.broadcast(3, chunks=2), V=4.0, alpha=0.5, W=[2.0, 1.0, 9.0])  # 1.5 s a chunk, then 2.5 s
    assert sorted(run.end.tolist()) == [1.5, 3.0, 4.0, 6.5]


@pytest.mark.parametrize("make", RINGS, ids=lambda make: make.__name__)
def test_between_steps_it_holds_what_the_schedule_says(make):
    schedule = make(6)
    run = clocked(schedule, V=6.0, alpha=0.1, W=1.0)
    for step, mark in enumerate([0, *run.marks]):
        held = run.held(mark + 1e-9)
        for r, row in enumerate(schedule.holds(step)):
            for c, whose in enumerate(row):
                assert held[r, c] == (1 if make is ring.all_gather and whose else len(whose or ())), (step, r, c)


def test_bytes_under_way_count_in_proportion():
    run = clocked(ring.all_reduce(5), V=1e6, alpha=2e-6, W=np.linspace(1e9, 2e9, 5))
    for t in np.linspace(0, run.total, 50):
        assert (np.diff([run.sent(t), run.sent(t + 1e-6)], axis=0) >= 0).all()
    assert run.sent(run.total) == pytest.approx(np.full(5, 1.6e6))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"V": 0}, "V, W: expected numbers above zero; got 0"),
        ({"W": [1, 2, 3, 0]}, "V, W: expected numbers above zero"),
        ({"alpha": -1}, "alpha: expected zero or more; got -1"),
        ({"schedule": direct.all_gather(4)}, "at most one chunk in a step"),
    ],
)
def test_what_cannot_run_is_refused(arguments, said):
    good = {"schedule": ring.all_gather(4), "V": 1.0, "alpha": 0.0, "W": 1.0}
    with pytest.raises(ValueError, match=said):
        clocked(**good | arguments)
