"""Rings and trees: where its crossings lie, read off schedules that know no formula."""

from fractions import Fraction

import pytest

from gpuscale.collectives import algorithms
from gpuscale.schedules.collectives import doubling, ring, trees

ALPHA, LINK = Fraction(34, 10**7), 450 * 10**9


def times(make, ranks, size, *more):
    return make(ranks, *more).time(ALPHA, LINK, size)


@pytest.mark.parametrize("ranks", [4, 8, 16, 64])
def test_the_doubling_ways_change_places_where_the_page_says(ranks):
    cross = algorithms.doubling_cross(N=ranks, alpha=float(ALPHA), W=LINK)
    below, above = int(cross * 0.999), int(cross * 1.001)
    for size, first in ((below, doubling.all_reduce), (above, doubling.halving_doubling)):
        ways = (doubling.all_reduce, doubling.halving_doubling, ring.all_reduce, trees.all_reduce)
        assert min(ways, key=lambda way: times(way, ranks, size)) is first


def test_with_two_ranks_whole_vectors_win_at_every_size():
    for size in (1, 10**6, 10**12):
        assert times(doubling.all_reduce, 2, size) < times(doubling.halving_doubling, 2, size)


@pytest.mark.parametrize("ranks", [2, 4, 8, 32])
def test_halving_doubling_never_loses_to_the_ring(ranks):
    for size in (1, 10**6, 10**10):
        assert times(doubling.halving_doubling, ranks, size) <= times(ring.all_reduce, ranks, size)


@pytest.mark.parametrize(("ranks", "size"), [(3, 10**6), (8, 10**8), (16, 10**9)])
def test_no_number_of_chunks_beats_the_best(ranks, size):
    best = algorithms.best_chunks(N=ranks, V=size, alpha=float(ALPHA), W=LINK)
    tried = range(1, round(3 * best) + 3)
    fastest = min(tried, key=lambda chunks: times(ring.broadcast, ranks, size, chunks))
    assert abs(fastest - best) < 1


def test_short_messages_want_trees_and_long_ones_pipelines():
    def chain(size):
        return min(times(ring.broadcast, 8, size, chunks) for chunks in range(1, 100))

    assert times(trees.broadcast, 8, 64_000) < chain(64_000)
    assert chain(10**9) < times(trees.broadcast, 8, 10**9)


def test_double_trees_for_many_ranks_or_small_buffers_and_rings_for_large_ones_on_few():
    def double(ranks, size):
        return min(times(trees.double_tree_all_reduce, ranks, size, chunks) for chunks in (2, 8, 32, 64, 128, 512))

    assert double(8, 64_000) < times(ring.all_reduce, 8, 64_000)
    assert times(ring.all_reduce, 8, 10**9) < double(8, 10**9)
    assert double(256, 64 * 10**6) < times(ring.all_reduce, 256, 64 * 10**6)
