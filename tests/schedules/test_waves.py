"""Tiles that cover a matrix and are dealt to SMs: what must hold of any cut, and the formula of full waves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscale.one_gpu import wave_fill
from gpuscale.schedules.timelines.waves import cut, dealt, used


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), st.integers(1, 9))
def test_every_element_lies_in_exactly_one_tile(rows, columns, high, wide):
    seen = [
        (i, j)
        for top, left in cut(rows, columns, (high, wide))
        for i in range(top, min(top + high, rows))
        for j in range(left, min(left + wide, columns))
    ]
    assert sorted(seen) == [(i, j) for i in range(rows) for j in range(columns)]


@given(st.integers(1, 300), st.integers(1, 140))
def test_an_sm_has_at_most_one_tile_of_a_wave_and_no_wave_but_the_last_has_an_idle_sm(count, sms):
    turns = dealt(count, sms)
    assert len(set(turns)) == count
    last = max(turn.wave for turn in turns)
    assert all(sum(turn.wave == wave for turn in turns) == sms for wave in range(last))
    assert float(used(turns, sms)) == pytest.approx(wave_fill(n_tiles=count, n_sm=sms))


def test_a_tile_without_rows_is_refused():
    with pytest.raises(ValueError, match="tile: expected a whole number, 1 or more; got 0"):
        cut(8, 8, (0, 8))
