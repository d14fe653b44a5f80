"""Warps that take turns and copies that run ahead: counted, and compared with what must come out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscale.one_gpu import issue_share
from gpuscale.schedules.timelines.hiding import staged, turns

few = st.integers(1, 6)


@given(few, few, st.integers(0, 20))
def test_a_scheduler_issues_as_often_as_the_formula_says(warps, n_run, n_wait):
    period = max(n_run + n_wait, warps * n_run)
    seen = turns(warps, n_run, n_wait, 4 * period)[period:]
    busy = sum("issues" in now for now in seen) / len(seen)
    assert busy == pytest.approx(issue_share(w_res=warps, n_sub=1, n_run=n_run, n_wait=n_wait))


@given(few, few, st.integers(0, 20))
def test_at_most_one_warp_issues_and_each_waits_after_its_turn(warps, n_run, n_wait):
    seen = turns(warps, n_run, n_wait, 60)
    assert all(now.count("issues") <= 1 for now in seen)
    assert all(("issues" in now) == ("is ready" in now or "issues" in now) for now in seen)
    for w in range(warps):
        runs = "".join(now[w][0] if now[w] != "is ready" else "-" for now in seen).split("w" * n_wait or None)
        assert all(run.count("i") <= n_run or not n_wait for run in runs)


@given(few, few, few)
def test_one_buffer_alternates_and_two_overlap(tiles, copy, work):
    assert staged(tiles, copy, work, 1).time == tiles * (copy + work)
    assert staged(tiles, copy, work, 2).time == copy + work + (tiles - 1) * max(copy, work)


@given(few, few, few, few)
def test_no_tile_is_worked_on_before_it_is_there_nor_overwritten_before_it_is_done(tiles, copy, work, buffers):
    went = staged(tiles, copy, work, buffers)
    for k, ((start, there), (begin, done)) in enumerate(zip(went.copies, went.work, strict=True)):
        assert there - start == copy and done - begin == work and begin >= there
        if k:
            assert start >= went.copies[k - 1][1] and begin >= went.work[k - 1][1]
        if k >= buffers:
            assert start >= went.work[k - buffers][1]


@pytest.mark.parametrize("tiles, buffers", [(0, 1), (3, 0)])
def test_nothing_to_copy_or_nowhere_to_put_it_is_refused(tiles, buffers):
    with pytest.raises(ValueError, match="at least one tile and one buffer"):
        staged(tiles, 1, 1, buffers)
