"""The counter of stored elements: it stores each element once where it shards, and refuses what does not divide."""

import pytest
from support.other_layers import covers

from gpuscale.emulate.stored import STATES, Layout, transformer_arrays

DENSE = transformer_arrays(4, matrices=(12, 24), ends=12)
MIXED = transformer_arrays(2, matrices=(12,), experts=4, expert=(6, 6))


@pytest.mark.parametrize("zero", range(4))
@pytest.mark.parametrize(
    "layout",
    [
        {"arrays": DENSE},
        {"arrays": DENSE, "copies": 3, "slices": 2, "stages": 2},
        {"arrays": MIXED, "copies": 2, "slices": 2, "shards": 4},
        {"arrays": MIXED, "copies": 4, "stages": 2, "shards": 2},
    ],
    ids=str,
)
def test_the_ranks_together_keep_everything(layout, zero):
    found = Layout(**layout, zero=zero)
    assert all(covers(found, state) for state in STATES)
    size = sum(a.size for a in found.arrays)
    for number, state in enumerate(reversed(STATES), 1):
        kept = sum(found.count(rank, state) for rank in found.ranks)
        assert kept == size if zero >= number else kept >= size  # what is sharded is stored once


def test_the_fullest_rank_has_an_end_of_the_model():
    found = Layout(DENSE, stages=4)
    sizes = [found.bytes_of(rank, (2, 0, 0)) for rank in found.ranks]
    assert sizes == [2 * 48, 2 * 36, 2 * 36, 2 * 48] and found.fullest((2, 0, 0)) == 2 * 48


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"zero": 4}, "zero: expected 0, 1, 2 or 3; got 4"),
        ({"stages": 3}, "stages: expected a divisor of the 4 layers"),
        ({"copies": 0}, "copies: expected a whole number"),
        ({"slices": 1.5}, "slices: expected a whole number"),
        ({"shards": 2}, "shards: expected a divisor of the 0 experts and of a stage's GPUs; got 2"),
    ],
    ids=str,
)
def test_what_does_not_divide_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Layout(DENSE, **given)


def test_a_model_needs_layers():
    with pytest.raises(ValueError, match="layers: expected a whole number, 1 or more; got 0"):
        transformer_arrays(0, matrices=(1,))
