"""Schedules: real numbers moved step by step give what the primitive means, and only what is held is sent."""

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project.test_rooms import PACKAGE, imports
from support.other_schedules import complete, rail_all_reduce

from gpuscale.schedules.collectives import (
    bruck,
    direct,
    doubling,
    exchange,
    folds,
    hierarchical,
    in_network,
    primitives,
    ring,
    switched,
    torus,
    trees,
)
from gpuscale.schedules.collectives.routes import TorusRoutes, Tree, worst
from gpuscale.schedules.collectives.schedule import Schedule

SIZES = [1, 2, 3, 5, 8, 16]
POWERS = [1, 2, 4, 8, 16]
TREES = [(1,), (2,), (3, 1), (1, 3), (2, 3), (4, 2), (2, 2, 3), (2, 3, 2, 2)]
TORI = [(1,), (2,), (3,), (8,), (3, 1), (2, 3), (4, 4), (2, 2, 3)]


def cases():
    """Every generator with sizes: the name of its primitive, the schedule."""
    plain = {
        "all_gather": [
            ring.all_gather,
            direct.all_gather,
            bruck.all_gather,
            bruck.sparbit_all_gather,
            in_network.all_gather,
        ],
        "reduce_scatter": [
            ring.reduce_scatter,
            direct.reduce_scatter,
            folds.reduce_scatter,
            in_network.reduce_scatter,
        ],
        "all_reduce": [
            ring.all_reduce,
            direct.all_reduce,
            in_network.all_reduce,
            trees.all_reduce,
            folds.all_reduce,
            folds.rabenseifner,
            lambda n: trees.double_tree_all_reduce(n, 2),
            lambda n: trees.double_tree_all_reduce(n, 10),
            lambda n: in_network.all_reduce(n, own=True, pieces=3),
        ],
        "all_to_all": [exchange.all_to_all, bruck.all_to_all, direct.all_to_all],
        "barrier": [direct.barrier],
        "scatter": [direct.scatter, trees.scatter],
        "gather": [direct.gather, trees.gather],
        "broadcast": [
            direct.broadcast,
            trees.broadcast,
            lambda n: trees.broadcast(n, far_first=True),
            trees.scattered_broadcast,
            lambda n: ring.broadcast(n, 4),
        ],
        "reduce": [direct.reduce, trees.reduce, lambda n: trees.reduce(n, near_first=True), folds.reduce],
    }
    powers = {
        "all_gather": [doubling.all_gather],
        "reduce_scatter": [doubling.reduce_scatter, doubling.butterfly_reduce_scatter],
        "broadcast": [lambda n: trees.scattered_broadcast(n, by_ring=False)],
        "all_reduce": [doubling.all_reduce, doubling.halving_doubling],
    }
    for table, sizes in ((plain, SIZES), (powers, POWERS)):
        yield from ((name, make(n)) for name, makers in table.items() for make in makers for n in sizes)
    yield from (("all_gather", ring.neighbor_all_gather(n)) for n in (2, 4, 6, 14))
    for name in ("all_gather", "reduce_scatter", "all_reduce"):
        for pieces, by_ring in ((1, False), (1, True), (3, False), (2, True)):
            yield from ((name, getattr(hierarchical, name)(d, 1, pieces, by_ring)) for d in TREES)
        yield from ((name, getattr(switched, name)(d)) for d in TREES)
        for both, rotate in ((False, False), (True, False), (True, True)):
            yield from ((name, getattr(torus, name)(axes, both, rotate)) for axes in TORI)
    yield from (("all_reduce", switched.all_reduce(d, pieces=2)) for d in TREES)
    yield from (("all_reduce", rail_all_reduce(d)) for d in TREES if len(d) > 1 and min(d) > 1)
    yield from (("all_gather", hierarchical.ring_of_nodes(d)) for d in TREES if len(d) == 2)
    yield from (("all_to_all", torus.all_to_all(axes)) for axes in TORI)


CASES = [pytest.param(name, s, id=f"{s.title}-{s.ranks}-{i}") for i, (name, s) in enumerate(cases())]


def moved_is_meant(name, schedule, seed, **role):
    """Runs a schedule on random whole numbers and compares with the definition."""
    dice = np.random.default_rng(seed)
    units = int(max(schedule.start @ schedule.size))
    buffers = [dice.integers(-99, 99, (2 * units, 3)) for _ in range(schedule.ranks)]
    first = [b if some else None for b, some in zip(buffers, schedule.start.any(axis=1), strict=True)]
    want = getattr(primitives, name)(buffers, **role)
    got = schedule.run(first)
    assert len(got) == len(want) == schedule.ranks
    for mine, meant in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine, meant)


@pytest.mark.parametrize("name, schedule", CASES)
def test_real_numbers_arrive_as_the_primitive_says(name, schedule):
    moved_is_meant(name, schedule, 7)
    assert complete(schedule)


@pytest.mark.parametrize("n, root", [(2, 1), (3, 2), (8, 5)])
def test_any_rank_can_be_the_root(n, root):
    chain = lambda n, root: ring.broadcast(n, 4, root)  # noqa: E731
    for make in (direct.broadcast, trees.broadcast, trees.scattered_broadcast, chain):
        moved_is_meant("broadcast", make(n, root), 3, root=root)
    for make in (direct.reduce, trees.reduce):
        moved_is_meant("reduce", make(n, root), 3, root=root)
    for room in (direct, trees):
        moved_is_meant("gather", room.gather(n, root), 3, root=root)
        moved_is_meant("scatter", room.scatter(n, root), 3, root=root)
    moved_is_meant("send_recv", direct.send_recv(n, root, 0), 3, source=root, target=0)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 3), st.booleans(), st.data())
def test_a_hierarchy_of_any_depth_sums_over_the_peers_of_an_inner_axis(degrees, pieces, by_ring, data):
    """Each rank ends with the sum over the ranks of its own number modulo the inner axis, and with no other."""
    units = [prod(degrees[:i]) for i in range(len(degrees) + 1)]
    fits = [y for y in range(1, units[-1] + 1) if all(max(u, y) % min(u, y) == 0 for u in units)]
    inner = data.draw(st.sampled_from(fits))
    schedules = [hierarchical.all_reduce(degrees, inner, pieces, by_ring), switched.all_reduce(degrees, inner, pieces)]
    for schedule in schedules:
        length = int(schedule.start[0] @ schedule.size)
        buffers = [np.random.default_rng(r).integers(-9, 9, length) for r in range(schedule.ranks)]
        for rank, got in enumerate(schedule.run(buffers)):
            np.testing.assert_array_equal(got, np.sum(buffers[rank % inner :: inner], axis=0))
        assert complete(schedule)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 9), st.integers(1, 9))
def test_a_ring_of_nodes_shares_each_part_while_the_next_one_arrives(gpus, nodes, nvlink, nic):
    schedule, routes = hierarchical.ring_of_nodes((gpus, nodes)), Tree((gpus, nodes), rails=True)
    part = Fraction(1, gpus * nodes)  # what crosses a NIC in one step; over NVLink, one from each neighbor
    inside, across = (gpus - 1) * part / nvlink, part / nic
    speeds = {1: nvlink, 2: nic}
    took = schedule.link_time(routes, lambda link: speeds[link.level], 0, 1)
    assert took == (nodes - 1) * max(inside, across) + inside
    loads = worst(schedule.per_link(routes))
    assert loads == {1: Fraction(gpus - 1, gpus), 2: Fraction(nodes - 1, nodes)} or 1 in (gpus, nodes)


def test_a_ring_of_nodes_has_two_levels():
    with pytest.raises(ValueError, match="expected the GPUs of a node and the nodes"):
        hierarchical.ring_of_nodes((2, 3, 4))


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(1, 12), st.data())
def test_chunks_may_differ_in_size(n, data):
    size = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    schedule = replace(ring.all_reduce(n), size=size, whole=None)
    buffers = [np.random.default_rng(r).integers(-9, 9, sum(size)) for r in range(n)]
    for got in schedule.run(buffers):
        np.testing.assert_array_equal(got, np.sum(buffers, axis=0))
    # a rank never sends the partial sum of its own chunk, nor the result of the one after it
    sent = [2 * sum(size) - size[r] - size[(r + 1) % n] for r in range(n)] if n > 1 else [0]
    assert schedule.sent() == [Fraction(s, sum(size)) for s in sent]


def test_an_all_gather_backwards_is_a_reduce_scatter():
    forward = bruck.all_gather(5)
    back = forward.backwards("mirror")
    moved_is_meant("reduce_scatter", back, 1)
    both = back.then(forward, "both")
    moved_is_meant("all_reduce", both, 1)
    assert both.steps == 2 * forward.steps
    with pytest.raises(ValueError, match="twice: mirror does not start with what mirror ends with"):
        back.then(back, "twice")


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_folds_of_a_power_of_two_are_none(n):
    """What is left is doubling and halving: the same links with the same bytes, or the same bytes of each rank."""
    for folded, plain in ((folds.all_reduce, doubling.all_reduce), (folds.reduce_scatter, doubling.reduce_scatter)):
        np.testing.assert_array_equal(folded(n).matrix(1), plain(n).matrix(1))
    assert folds.rabenseifner(n).sent() == doubling.halving_doubling(n).sent()
    assert doubling.butterfly_reduce_scatter(n).sent() == doubling.reduce_scatter(n).sent()


@pytest.mark.parametrize("n", [2, 3, 6, 7, 9])
def test_few_steps_for_any_number_of_ranks(n):
    steps = (n - 1).bit_length()
    for made in (bruck.all_gather, bruck.sparbit_all_gather, bruck.all_to_all, trees.scatter, trees.gather):
        assert made(n).steps == steps
    least = Fraction(n - 1, n)
    for made in (bruck.all_gather, bruck.sparbit_all_gather, ring.all_gather):
        assert set(made(n).sent()) == {least}


# Reading a schedule


def test_bytes_and_messages_of_each_link():
    gather = bruck.all_gather(3)
    np.testing.assert_array_equal(gather.matrix(12), [[0, 4, 4], [4, 0, 4], [4, 4, 0]])
    np.testing.assert_array_equal(gather.messages(), [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    np.testing.assert_array_equal(ring.all_gather(3).over_sockets(12, 10, 1, 2), [[0, 48, 4], [4, 0, 48], [48, 4, 0]])
    twice = torus.all_gather((3,))  # each chunk is in two halves, which go around in both directions
    np.testing.assert_array_equal(twice.messages(), [[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    assert twice.matrix(6).sum() == 6 * twice.moved() == 12
    net = in_network.all_reduce(2)
    assert net.matrix(5).shape == (net.nodes, net.nodes) == (3, 3) and net.matrix(5).sum() == 5 * net.moved()


def test_who_holds_what_after_each_step():
    gather = ring.all_gather(3)
    only = [frozenset({c}) for c in range(3)]
    assert gather.holds(0) == [[only[0], None, None], [None, only[1], None], [None, None, only[2]]]
    assert gather.holds(1) == [[only[0], None, only[2]], [only[0], only[1], None], [None, only[1], only[2]]]
    assert gather.holds(2) == [only] * 3
    scatter = ring.reduce_scatter(3)
    assert scatter.holds(0) == [[frozenset({r})] * 3 for r in range(3)]
    assert scatter.holds(1)[1] == [frozenset({1}), frozenset({1}), frozenset({0, 1})]
    assert [scatter.holds(2)[r][r] for r in range(3)] == [frozenset({0, 1, 2})] * 3
    assert not complete(Schedule("half", 3, 3, scatter.columns, scatter.start, scatter.start))
    with pytest.raises(ValueError, match="step: expected 0 to 2; got 3"):
        gather.holds(3)


def test_a_step_reads_as_named_tuples():
    step = ring.all_gather(4)[1]
    assert [(t.source, t.target, t.chunk) for t in step] == [(0, 1, 3), (1, 2, 0), (2, 3, 1), (3, 0, 2)]
    assert {(t.step, t.reduce, t.units) for t in step} == {(1, False, 1)}
    assert len(list(ring.all_gather(4))) == len(ring.all_gather(4)) == 3
    net = in_network.all_reduce(3)
    assert [net.name(node) for node in range(net.nodes)] == ["rank 0", "rank 1", "rank 2", "switch"]
    assert switched.all_gather((2, 2)).name(5) == "level 1 switch 1"
    with pytest.raises(IndexError):
        ring.all_gather(4)[3]


def test_counts_stop_where_they_are_told():
    schedule = ring.all_reduce(4)
    assert [schedule.busiest(upto) for upto in (0, 1, 3, 6)] == [0, Fraction(1, 4), Fraction(3, 4), Fraction(3, 2)]
    assert schedule.moved(2) == schedule.between(range(4), range(4), 2) == 2
    assert schedule.sent(0, 2) == schedule.received(3, 2) == Fraction(1, 2)
    assert schedule.per_link(TorusRoutes([4]), 1) == {
        link: Fraction(1, 4) for link in schedule.per_link(TorusRoutes([4])) if link.forward
    }
    with pytest.raises(ValueError, match="upto: expected 0 to 6 steps; got 7"):
        schedule.moved(7)


def test_time_adds_up_the_steps():
    alpha, bandwidth, size = Fraction(1, 10**6), 450 * 10**9, 10**9
    assert ring.all_reduce(8).time(alpha, bandwidth, size) == 14 * (alpha + Fraction(size, 8 * bandwidth))
    assert trees.broadcast(8).time(alpha, bandwidth, size) == 3 * (alpha + Fraction(size, bandwidth))
    assert in_network.all_gather(8).time(0, 1, 1) == 1, "V/N to send, then V (N - 1)/N to receive"
    assert isinstance(ring.all_reduce(8).time(1e-6, 450e9, 1e9), float)
    slow = hierarchical.all_gather((8, 2))
    rails = Tree((8, 2), rails=True)
    speed = {1: 450, 2: 50}
    apart = slow.link_time(rails, lambda link: speed[link.level], 0, 1)
    assert apart == Fraction(7, 8 * 450) + Fraction(1, 2 * 400)
    assert slow.link_time(rails, lambda link: speed[link.level], alpha, 1) == apart + 2 * alpha
    cut = [hierarchical.all_gather((8, 2), pieces=p) for p in (8, 64)]
    coarse, fine = (s.link_time(rails, lambda link: speed[link.level], 0, 1) for s in cut)
    assert Fraction(7, 8 * 450) < fine < coarse < apart and fine < Fraction(102, 100) * Fraction(7, 8 * 450)


def test_schedules_share_nothing_with_the_formulas():
    """They can check the formulas only if they import none of them, nor sympy."""
    allowed = {
        "numpy",
        "heapq",
        "random",
        "collections",
        "dataclasses",
        "fractions",
        "functools",
        "typing",
        "math",
        "itertools",
    }
    for path in (PACKAGE / "schedules").rglob("*.py"):
        strange = {i for i in imports(path) if not i.startswith("gpuscale.schedules")}
        assert {i.split(".")[0] for i in strange} <= allowed, path
