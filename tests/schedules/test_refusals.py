"""What schedules refuse: impossible transfers, worlds without ranks, buffers of the wrong shape."""

import numpy as np
import pytest
from support import traffic
from support.other_schedules import complete

from gpuscale.emulate import shapes
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
from gpuscale.schedules.collectives.routes import TorusRoutes, Tree
from gpuscale.schedules.collectives.schedule import Schedule, TransferTable


def broken(columns, start=((1, 0), (0, 1)), **more):
    """Two ranks, two chunks, rows as (step, source, target, chunk, reduce)."""
    columns = tuple(np.array(c, dtype=int) for c in zip(*columns, strict=True))
    columns = (*columns[:4], columns[4].astype(bool))
    return Schedule("Broken", 2, 2, columns, np.array(start, bool), np.eye(2) > 2, **more)


@pytest.mark.parametrize(
    "rows, message",
    [
        ([(0, 0, 1, 1, 0)], "step 0: rank 0 sends chunk 1, which it does not hold"),
        ([(0, 0, 1, 0, 0), (0, 1, 0, 0, 0)], "rank 1 sends chunk 0, which it does not hold"),
        ([(0, 0, 1, 0, 0), (0, 0, 1, 0, 0)], "step 0: two transfers write one chunk of one node"),
        ([(0, 0, 1, 0, 1), (0, 0, 1, 0, 1)], "two transfers write one chunk"),
    ],
)
def test_an_impossible_transfer_is_refused(rows, message):
    schedule = broken(rows)
    with pytest.raises(ValueError, match=message):
        schedule.run([np.ones(1), np.ones(1)])
    with pytest.raises(ValueError, match=message):
        schedule.holds(0)


def test_a_contribution_added_twice_is_seen():
    schedule = broken([(0, 0, 1, 0, 1), (1, 0, 1, 0, 1)])
    with pytest.raises(ValueError, match="step 1: rank 1 adds what rank 0 gave to chunk 0 twice"):
        schedule.holds(0)


@pytest.mark.parametrize(
    "rows, more, message",
    [
        ([(0, 0, 0, 0, 0)], {}, r"target: a node sends to itself \(node 0\)"),
        ([(0, 0, 2, 0, 0)], {}, "target: expected 0 to 1; got 2 to 2"),
        ([(0, 0, 1, 2, 0)], {}, "chunk: expected 0 to 1; got 2 to 2"),
        ([(0, 0, 1, 0, 0), (2, 1, 0, 1, 0)], {}, "step: expected 0, 1, 2, ... in order, none left out"),
        ([(1, 0, 1, 0, 0)], {}, "step: expected 0, 1, 2"),
        ([(0, 0, 1, 0, 0)], {"size": [1]}, "size: expected 2 whole numbers, 0 or more"),
        ([(0, 0, 1, 0, 0)], {"size": [1, -1]}, "size: expected 2 whole numbers, 0 or more"),
        ([(0, 0, 1, 0, 0)], {"whole": 0}, "whole: expected 1 unit or more; got 0"),
        ([(0, 0, 1, 0, 0)], {"start": [[1, 0]]}, r"start: expected shape \(2, 2\); got \(1, 2\)"),
        ([(0, 0, 1, 0, 0)], {"switches": 1, "switch_names": ("a", "b")}, "switch_names: expected 1; got 2"),
    ],
)
def test_columns_that_do_not_fit_are_refused(rows, more, message):
    with pytest.raises(ValueError, match=message):
        broken(rows, **more)


def test_a_result_that_never_arrives_is_seen():
    table = TransferTable()
    table.add(0, 0, 1, 0)
    schedule = Schedule("Half", 2, 2, table.done(), np.eye(2) > 0, np.ones((2, 2), bool))
    with pytest.raises(ValueError, match="chunk 1 of the result of rank 0 never arrived"):
        schedule.run([np.ones(1), np.ones(1)])
    assert not complete(schedule)


@pytest.mark.parametrize(
    "buffers, message",
    [
        ([np.ones(3)] * 2, "buffers: expected 3 arrays, one per rank; got 2"),
        ([np.ones(4)] * 3, r"rank 0: expected shape \(3,\); got \(4,\)"),
        ([np.ones(3), np.ones(3), np.ones(6)], r"rank 2: expected shape \(3,\); got \(6,\)"),
        ([np.ones((3, 2)), np.ones((3, 2)), np.ones(3)], r"rank 2: expected shape \(3, 2\); got \(3,\)"),
        ([np.ones(3), None, np.ones(3)], "expected an array of one dimension or more for each rank"),
        ([1, 2, 3], "expected an array of one dimension or more"),
    ],
)
def test_buffers_of_a_wrong_shape_are_refused(buffers, message):
    with pytest.raises(ValueError, match=message):
        ring.all_reduce(3).run(buffers)


@pytest.mark.parametrize("n", [0, -1, 1.5, "4", True])
def test_a_world_without_ranks_is_refused(n):
    makers = [
        ring.all_gather,
        ring.reduce_scatter,
        ring.all_reduce,
        doubling.halving_doubling,
        trees.all_reduce,
        trees.parents,
        trees.broadcast,
        in_network.all_reduce,
        in_network.all_gather,
        in_network.reduce_scatter,
        exchange.all_to_all,
        *direct.SCHEDULES.values(),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="ranks: expected a whole number, [12] or more; got"):
            make(n)
    for make in (hierarchical.all_gather, switched.all_reduce, torus.all_to_all, TorusRoutes, Tree):
        with pytest.raises(ValueError, match="(degrees|axes): expected a whole number, 1 or more; got"):
            make([2, n])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: doubling.all_gather(6), r"ranks: expected a power of two \(1, 2, 4, 8, ...\); got 6"),
        (lambda: doubling.reduce_scatter(3), "ranks: expected a power of two"),
        (lambda: doubling.all_reduce(12), "ranks: expected a power of two"),
        (lambda: doubling.halving_doubling(7), "ranks: expected a power of two"),
        (lambda: doubling.butterfly_reduce_scatter(6), "ranks: expected a power of two"),
        (lambda: trees.scattered_broadcast(6, by_ring=False), "ranks: expected a power of two"),
        (lambda: trees.scatter(4, root=4), "root: expected a rank from 0 to 3; got 4"),
        (lambda: ring.neighbor_all_gather(5), "ranks: expected an even number; got 5"),
        (lambda: bruck.all_gather(0), "ranks: expected a whole number, 1 or more; got 0"),
        (lambda: bruck.sparbit_all_gather(0), "ranks: expected a whole number, 1 or more; got 0"),
        (lambda: folds.rabenseifner(0), "ranks: expected a whole number, 1 or more; got 0"),
        (lambda: ring.broadcast(4, 0), "chunks: expected a whole number, 1 or more; got 0"),
        (lambda: ring.broadcast(4, 2, root=4), "root: expected a rank from 0 to 3; got 4"),
        (lambda: trees.reduce(4, root=-1), "root: expected a rank from 0 to 3; got -1"),
        (lambda: trees.double_tree_all_reduce(4, 3), "chunks: expected an even number"),
        (lambda: direct.send_recv(2, 0, 2), "target: expected a rank from 0 to 1; got 2"),
        (lambda: in_network.all_reduce(4, pieces=0), "pieces: expected a whole number, 1 or more; got 0"),
        (lambda: hierarchical.all_gather([]), "degrees: expected at least one number"),
        (lambda: hierarchical.all_gather([4, 3], inner=6), "inner: expected a divisor or a multiple of the 4"),
        (lambda: hierarchical.all_gather([2], inner=4), "inner: expected at most 2 ranks; got 4"),
        (lambda: switched.all_reduce([4, 3], inner=5), "inner: expected a divisor of the 12 ranks; got 5"),
        (lambda: switched.switch([4, 3], 2, 1), "level, unit: expected a switch of a tree"),
        (lambda: torus.all_gather([]), "axes: expected at least one number"),
        (lambda: Tree([]), "degrees: expected at least one number"),
    ],
)
def test_what_a_generator_cannot_do_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: primitives.all_reduce([]), "expected one array per rank; got none"),
        (lambda: primitives.all_reduce([[1, 2], [3]]), "expected arrays of one shape"),
        (lambda: primitives.reduce_scatter([[1, 2, 3], [4, 5, 6]]), "expected a first axis divisible by 2"),
        (lambda: primitives.broadcast([[1], [2]], root=2), "root: expected a rank from 0 to 1; got 2"),
        (lambda: primitives.send_recv([[1], [2]], 0, 5), "target: expected a rank from 0 to 1; got 5"),
        (lambda: primitives.gather([1, 2]), "expected arrays of one shape, with one axis or more"),
    ],
)
def test_a_primitive_refuses_buffers_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_kernels_of_a_layer_that_cannot_be_cut_are_refused():
    dense = shapes.Model(1, 4, 6, 4, 2, 1, 5)
    with pytest.raises(ValueError, match="ranks: expected 1, or a divisor of .4, 2, 6, 4. in a dense layer; got 4"):
        traffic.forward(dense, 0, 1, 4, ranks=4)
    with pytest.raises(ValueError, match="in a dense layer; got 2"):
        traffic.forward(shapes.Model(1, 4, 6, 4, 2, 1, 5, experts=2, active_experts=1), 0, 1, 4, ranks=2)
