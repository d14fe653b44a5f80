"""The warp: what lanes compute is what numpy computes, and what they issue is what must be issued."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscale.one_gpu import divergence_idle
from gpuscale.schedules.timelines.warp import LANES, Branch, Op, run

ADD, TWICE, NEGATE, ROOT = (
    Op("x + 3", lambda v: v + 3),
    Op("2 x", lambda v: 2 * v),
    Op("-x", lambda v: -v),
    Op("sqrt x", np.sqrt),
)
lanes = st.lists(st.integers(-50, 50), min_size=1, max_size=40)


def positive(then, other=()):
    return Branch("x > 0", lambda v: v > 0, then, other)


def test_without_a_branch_every_lane_works():
    done = run([ADD, TWICE], np.arange(LANES))
    assert np.array_equal(done.values, 2 * (np.arange(LANES) + 3))
    assert [i.text for i in done.issues] == ["x + 3", "2 x"] and all(all(i.active) for i in done.issues)
    assert done.lane_slots == 64 and done.idle_after(2) == 0


@given(lanes)
def test_values_are_those_of_where(values):
    x = np.array(values, dtype=float)
    done = run([ADD, positive([TWICE, ADD], [NEGATE]), ADD], x)
    assert np.array_equal(done.values, np.where(x + 3 > 0, 2 * (x + 3) + 3, -(x + 3)) + 3)


@given(lanes)
def test_nested_values_are_those_of_where(values):
    x = np.array(values, dtype=float)
    large = Branch("x > 9", lambda v: v > 9, [NEGATE], [TWICE, TWICE])
    even = Branch("x even", lambda v: v % 2 == 0, [ADD, positive([TWICE])], [NEGATE])
    done = run([positive([large, ADD], [even])], x)
    inner = np.where(x % 2 == 0, np.where(x + 3 > 0, 2 * (x + 3), x + 3), -x)
    assert np.array_equal(done.values, np.where(x > 0, np.where(x > 9, -x, 4 * x) + 3, inner))


def test_masked_lanes_never_compute():
    """A square root of a negative number would warn: it is not taken for lanes that wait."""
    with np.errstate(all="raise"):
        done = run([positive([ROOT], [NEGATE])], [4.0, -4.0, 9.0, 0.0])
    assert np.array_equal(done.values, [2.0, 4.0, 3.0, 0.0])


@given(lanes, st.integers(0, 5), st.integers(0, 5))
def test_each_lane_takes_exactly_one_path(values, then, other):
    done = run([positive([ADD] * then, [NEGATE] * other)], values)
    up = np.array(values) > 0
    expected = [tuple(up)] * (then * any(up)) + [tuple(~up)] * (other * (not all(up)))
    assert [i.active for i in done.issues] == expected
    assert [i.path for i in done.issues] == ["x > 0"] * (then * any(up)) + ["not x > 0"] * (other * (not all(up)))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=40), st.integers(0, 6), st.integers(0, 6))
def test_slots_and_idle_share_are_those_of_the_formulas(values, then, other):
    up = sum(v > 0 for v in values)
    done = run([positive([ADD] * then, [NEGATE] * other)], values)
    if 0 < up < len(values) and then + other:
        assert len(done.issues) == then + other
        idle = divergence_idle(m_then=up, n_then=then, n_else=other, w_lanes=len(values))
        assert done.idle_after(len(done.issues)) / done.lane_slots == pytest.approx(idle, abs=1e-12)


@given(lanes, st.integers(1, 6), st.integers(1, 6))
def test_a_path_that_no_lane_takes_is_not_issued(values, then, other):
    done = run([positive([ADD] * then, [NEGATE] * other)], [abs(v) + 1 for v in values])
    assert len(done.issues) == then and done.idle_after(then) == 0


@given(lanes)
def test_idle_slots_grow_step_by_step_to_what_the_masks_say(values):
    even = Branch("x even", lambda v: v % 2 == 0, [ADD], [TWICE, ADD])
    done = run([ADD, positive([even, ADD], [NEGATE]), even], values)
    masks = np.array([i.active for i in done.issues])
    assert [done.idle_after(k) for k in range(len(masks) + 1)] == [0, *np.cumsum((~masks).sum(axis=1))]
    assert done.lane_slots == masks.size and masks.shape[1] == len(values)


def test_the_inputs_are_left_alone():
    given_values = np.arange(4.0)
    run([ADD], given_values)
    assert np.array_equal(given_values, np.arange(4.0))


@pytest.mark.parametrize("values", [[], 3.0, [[1.0, 2.0]], np.zeros((2, 2))])
def test_anything_but_one_number_a_lane_is_refused(values):
    with pytest.raises(ValueError, match=r"values: expected one number for each lane, shape \(lanes,\); got shape"):
        run([ADD], values)
