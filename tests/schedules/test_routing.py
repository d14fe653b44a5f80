"""A router whose scores a page can repeat: its random numbers, its popular expert, and the copies that follow."""

import numpy as np
import pytest

from gpuscale.schedules.collectives import exchange


def mixed(count: int) -> float:
    """The same steps in whole numbers, one count at a time."""
    bits = count * 0x9E3779B9 % 2**32
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ bits >> shift) * factor % 2**32
    return (bits ^ bits >> 16) / 2**32


def test_random_numbers_are_those_of_the_hash_and_even():
    counts = [0, 1, 2, 1000, 2**20 + 7, 2**31 + 1, 2**32 - 1]
    assert exchange.hashed(np.array(counts)).tolist() == [mixed(count) for count in counts]
    numbers = exchange.hashed(np.arange(100_000))
    tenths, nexts = np.bincount((10 * numbers).astype(int)), np.corrcoef(numbers[:-1], numbers[1:])[0, 1]
    assert abs(tenths - 10_000).max() < 400 and abs(nexts) < 0.02


def test_an_even_router_has_all_sets_alike_and_a_popular_expert_is_taken_as_often_as_told():
    even = np.bincount(exchange.best_choice(exchange.router_scores(4096, 64), 4).ravel(), minlength=64)
    assert even.sum() == 4 * 4096 and abs(even - 256).max() < 80
    for limit in (1, 2, 8):
        scores = exchange.router_scores(4096, 64, popular=37, fraction=0.5)
        rows = np.bincount(exchange.best_choice(scores, 4, 8, limit).ravel(), minlength=64)
        assert abs(rows[37] / (4096 * (0.5 + 0.5 / 16)) - 1) < 0.06


def test_crossings_are_counted_token_by_token():
    choice = exchange.best_choice(exchange.router_scores(64, 32), 5)
    by_node, by_expert = exchange.crossings(choice, 32, 4), exchange.crossings(choice, 32, 4, per_expert=True)
    for token, row in enumerate(choice.tolist()):
        away = [e // 8 for e in row if e // 8 != token // 16]
        assert (by_node[token], by_expert[token]) == (len(set(away)), len(away))


def test_rows_beyond_a_capacity_are_dropped_as_tokens_come():
    scores = exchange.router_scores(64, 32, popular=9, fraction=0.6)
    choice = exchange.best_choice(scores, 4)
    for capacity in (0.3, 1, 1.3, 9):
        room, left = [int(np.ceil(capacity * 64 * 4 / 8))] * 8, choice.tolist()
        for token in sorted(range(64), key=mixed):
            for place, e in enumerate(left[token]):
                left[token][place] = e if room[e // 4] > 0 else -1
                room[e // 4] -= 1
        kept = exchange.capped_choice(choice, 32, 8, capacity)
        assert kept.tolist() == left and (kept < 0).any() == (capacity < 9)
        by_node, by_expert = exchange.crossings(kept, 32, 4), exchange.crossings(kept, 32, 4, per_expert=True)
        for token, row in enumerate(left):
            away = [e // 8 for e in row if e >= 0 and e // 8 != token // 16]
            assert (by_node[token], by_expert[token]) == (len(set(away)), len(away))


def test_what_cannot_be_routed_is_refused():
    with pytest.raises(ValueError, match="capacity: expected a number above 0, in mean loads of a shard; got 0"):
        exchange.capped_choice(exchange.random_choice(8, 8, 2), 8, 4, 0)
    with pytest.raises(ValueError, match="popular, fraction: expected an expert below 8, from 0 to 1; got 8, 0.5"):
        exchange.router_scores(4, 8, popular=8, fraction=0.5)
    with pytest.raises(ValueError, match="choice: expected a multiple of 4 tokens; got 6"):
        exchange.crossings(exchange.random_choice(6, 8, 2), 8, 4)
