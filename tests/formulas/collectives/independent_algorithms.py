"""Rings, doubling, trees and chains: each formula equals its schedule, in fractions, for any world size."""

from fractions import Fraction

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st
from support.reference_machines import bisected

from gpuscale.schedules.collectives import bruck, direct, doubling, folds, ring, trees
from gpuscale.schedules.collectives.schedule import Schedule, TransferTable

SIZES = st.integers(1, 40)
POWERS = st.integers(0, 6).map(lambda e: 2**e)
COSTS = st.fractions(Fraction(1, 50), 50, max_denominator=50)
PRICED = st.fixed_dictionaries({"alpha": COSTS, "V": COSTS, "W": COSTS})


def one_by_one(ranks: int) -> Schedule:
    """The root sends each rank its own chunk, one after another."""
    table = TransferTable()
    for rank in range(1, ranks):
        table.add(rank - 1, 0, rank, rank)
    start = np.zeros((ranks, ranks), bool)
    start[0] = True
    return Schedule("one by one", ranks, ranks, table.done(), start, np.eye(ranks, dtype=bool))


def priced(formula, schedule, costs, **given) -> None:
    """The time of a schedule, exactly."""
    assert at(formula, **costs, N=schedule.ranks, **given) == schedule.time(**costs)


@checks("ring_steps", "ring_hop", "all_gather_bytes", "reduce_scatter_bytes", "all_gather_total", over=SIZES)
def a_ring_passes_every_chunk_on(lib, n):
    gather, scatter = ring.all_gather(n), ring.reduce_scatter(n)
    assert at(lib.ring_steps, N=n) == gather.steps == scatter.steps
    assert at(lib.all_gather_bytes, N=n, V=7) == 7 * gather.busiest()
    assert at(lib.reduce_scatter_bytes, N=n, V=7) == 7 * scatter.busiest()
    assert at(lib.all_gather_total, N=n, V=7) == 7 * gather.moved()
    if n > 1:
        assert at(lib.ring_hop, N=n, V=1) == gather.busiest(upto=1) == scatter.busiest(upto=1)


@checks("ring_all_reduce_steps", "all_reduce_bytes", over=SIZES)
def a_ring_goes_round_twice(lib, n):
    both = ring.all_reduce(n)
    assert at(lib.ring_all_reduce_steps, N=n) == both.steps
    assert at(lib.all_reduce_bytes, N=n, V=3) == 3 * both.busiest()


@checks("ring_all_gather", "ring_reduce_scatter", "ring_all_reduce", "time_of_steps", over=st.tuples(SIZES, PRICED))
def time_round_a_ring(lib, case):
    n, costs = case
    for name in ("all_gather", "reduce_scatter", "all_reduce"):
        schedule = getattr(ring, name)(n)
        priced(getattr(lib, f"ring_{name}"), schedule, costs)
        counted = {"n_steps": schedule.steps, "V_rank": schedule.busiest() * costs["V"]}
        assert at(lib.time_of_steps, alpha=costs["alpha"], W=costs["W"], **counted) == schedule.time(**costs)


@checks("bandwidth_floor", over=st.tuples(st.integers(1, 5).map(lambda e: 2**e), PRICED))
def no_algorithm_is_faster_than_what_has_to_arrive(lib, case):
    """What a rank lacks at the start, every all-gather has to bring in; a ring takes no longer than that."""
    n, costs = case
    for made in (ring, doubling, bruck, direct):
        schedule = made.all_gather(n)
        lacked = Fraction(int((schedule.end & ~schedule.start)[0].sum()), schedule.chunks) * costs["V"]
        floor = at(lib.bandwidth_floor, V=lacked, W=costs["W"])
        assert schedule.time(0, costs["W"], costs["V"]) >= floor
        assert made is not ring or schedule.time(0, costs["W"], costs["V"]) == floor


@checks("doubling_steps", "halving_doubling_steps", "recursive_doubling_bytes", over=POWERS)
def partners_ever_farther_away(lib, n):
    assert at(lib.doubling_steps, N=n) == doubling.all_gather(n).steps == doubling.reduce_scatter(n).steps
    assert at(lib.doubling_steps, N=n) == doubling.all_reduce(n).steps
    assert at(lib.halving_doubling_steps, N=n) == doubling.halving_doubling(n).steps
    assert at(lib.recursive_doubling_bytes, N=n, V=5) == 5 * doubling.all_reduce(n).busiest()


@checks(
    "doubling_all_gather",
    "halving_reduce_scatter",
    "halving_doubling_all_reduce",
    "recursive_doubling_all_reduce",
    over=st.tuples(POWERS, PRICED),
)
def time_of_doubling_and_halving(lib, case):
    n, costs = case
    priced(lib.doubling_all_gather, doubling.all_gather(n), costs)
    priced(lib.halving_reduce_scatter, doubling.reduce_scatter(n), costs)
    priced(lib.halving_doubling_all_reduce, doubling.halving_doubling(n), costs)
    priced(lib.recursive_doubling_all_reduce, doubling.all_reduce(n), costs)


def shots(n: int) -> tuple:
    """All ranks to all others, whole vectors in one step; then parts in two."""
    return (direct.all_reduce(n),), (direct.reduce_scatter(n), direct.all_gather(n))


@checks("one_shot_all_reduce", "two_shot_all_reduce", over=st.tuples(st.integers(2, 16), PRICED))
def time_of_shots(lib, case):
    n, costs = case
    for formula, halves in zip((lib.one_shot_all_reduce, lib.two_shot_all_reduce), shots(n), strict=True):
        assert at(formula, **costs, N=n) == sum(half.time(**costs) for half in halves)


@checks("best_all_reduce", over=st.tuples(POWERS, PRICED))
def the_faster_of_two(lib, case):
    """A ring has the bytes of halving-doubling and as many steps or more: with it the fastest is the same."""
    n, costs = case
    times = [made(n).time(**costs) for made in (doubling.halving_doubling, doubling.all_reduce, ring.all_reduce)]
    assert at(lib.best_all_reduce, **costs, N=n) == min(times)


@checks("tree_steps", over=SIZES)
def those_who_know_double(lib, n):
    assert at(lib.tree_steps, N=n) == trees.broadcast(n).steps == trees.reduce(n).steps
    known, rounds = 1, 0
    while known < n:  # in each round, each rank that has it can send it to one other
        known, rounds = known + known, rounds + 1
    assert at(lib.tree_steps, N=n) == rounds


@checks("tree_broadcast", "tree_all_reduce", "direct_scatter", over=st.tuples(SIZES, PRICED))
def time_of_trees(lib, case):
    n, costs = case
    priced(lib.tree_broadcast, trees.broadcast(n), costs)
    priced(lib.tree_broadcast, trees.reduce(n), costs)
    priced(lib.tree_all_reduce, trees.all_reduce(n), costs)
    priced(lib.direct_scatter, one_by_one(n), costs)


@checks("bruck_all_gather", over=st.tuples(SIZES, PRICED))
def time_of_bruck(lib, case):
    n, costs = case
    priced(lib.bruck_all_gather, bruck.all_gather(n), costs)
    priced(lib.bruck_all_gather, bruck.sparbit_all_gather(n), costs)


@checks("rabenseifner_all_reduce", "rabenseifner_bytes", over=st.tuples(SIZES, PRICED))
def surplus_ranks_that_fold(lib, case):
    n, costs = case
    schedule = folds.rabenseifner(n)
    priced(lib.rabenseifner_all_reduce, schedule, costs)
    assert at(lib.rabenseifner_bytes, N=n, V=3) == 3 * schedule.busiest()


@checks("binomial_scatter", "scattered_broadcast", over=st.tuples(POWERS, PRICED))
def time_of_halves_that_are_passed_on(lib, case):
    n, costs = case
    priced(lib.binomial_scatter, trees.scatter(n), costs)
    priced(lib.binomial_scatter, trees.gather(n), costs)
    priced(lib.scattered_broadcast, trees.scattered_broadcast(n), costs)


@checks("scatter_bytes", over=SIZES)
def a_root_that_gives_away_all_but_its_own(lib, n):
    assert at(lib.scatter_bytes, N=n, V=2) == 2 * one_by_one(n).busiest()


@checks("chain_broadcast", over=st.tuples(st.integers(2, 20), st.integers(1, 12), PRICED))
def a_chain_of_chunks(lib, case):
    n, chunks, costs = case
    priced(lib.chain_broadcast, ring.broadcast(n, chunks), costs, n_chunk=chunks)


@checks("best_chunks", "best_chain_broadcast", over=st.tuples(st.integers(3, 9), st.integers(1, 9), COSTS))
def the_best_of_all_numbers_of_chunks(lib, case):
    n, best, wait = case
    costs = {"alpha": wait, "W": Fraction(1), "V": Fraction(best**2 * wait, n - 2)}  # so that the best is whole
    times = {chunks: ring.broadcast(n, chunks).time(**costs) for chunks in range(1, 3 * best + 2)}
    assert min(times, key=times.get) == best
    assert at(lib.best_chunks, **costs, N=n) == best
    assert at(lib.best_chain_broadcast, **costs, N=n) == times[best]


@checks("double_tree_steps", over=st.tuples(st.integers(2, 24), st.integers(1, 8)))
def two_trees_at_once(lib, case):
    n, half = case
    both = trees.double_tree_all_reduce(n, 2 * half)
    assert at(lib.double_tree_steps, N=n, n_chunk=2 * half) == both.steps


@checks("double_tree_all_reduce", over=st.tuples(st.integers(3, 5), st.integers(0, 9), PRICED))
def time_of_two_trees(lib, case):
    height, more, costs = case
    chunks = 2 * (2 * height + more)
    priced(lib.double_tree_all_reduce, trees.double_tree_all_reduce(2**height, chunks), costs, n_chunk=chunks)


@checks("call_time", "call_bandwidth", "call_half_size")
def a_line_through_two_calls_predicts_the_others(lib):
    small, middle, large = 1e3, 3e6, 1e9
    for n, wait, rate in ((2, 1e-6, 1e9), (8, 3e-6, 450e9)):
        passes = ring.all_reduce(n)
        took = lambda v, p=passes, w=wait, r=rate: p.time(w, r, v)  # noqa: E731
        slope = (took(large) - took(small)) / (large - small)
        line = {"alpha_call": took(small) - small * slope, "W_fit": 1 / slope}
        close(lib.call_time(V=middle, **line), took(middle), 1e-6)
        close(lib.call_bandwidth(V=middle, **line), middle / took(middle), 1e-6)
        half = bisected(lambda v, s=slope, t=took: v / t(v) - 0.5 / s, 1.0, 1e12)
        close(lib.call_half_size(**line), half, 1e-6)


@checks("ring_half_size", "doubling_cross", "shot_cross")
def sizes_at_which_two_clocks_agree(lib):
    wait, rate = 3e-6, 450e9
    for n in (4, 8, 64):
        whole, halving, whole_vectors = ring.all_reduce(n), doubling.halving_doubling(n), doubling.all_reduce(n)
        waits = whole.steps * wait
        half = bisected(lambda v, n=n, w=waits, s=whole: s.time(wait, rate, v) - 2 * w, 1.0, 1e12)
        close(lib.ring_half_size(alpha=wait, W=rate, N=n), half, 1e-6)
        gap = lambda v, a=whole_vectors, b=halving: a.time(wait, rate, v) - b.time(wait, rate, v)  # noqa: E731
        close(lib.doubling_cross(alpha=wait, W=rate, N=n), bisected(gap, 1.0, 1e12), 1e-6)
        one, two = (lambda v, halves=halves: sum(h.time(wait, rate, v) for h in halves) for halves in shots(n))
        close(lib.shot_cross(alpha=wait, W=rate, N=n), bisected(lambda v, a=one, b=two: a(v) - b(v), 1.0, 1e12), 1e-6)
