"""The hierarchy: formulas of whole trees against sets of shards that are listed one by one."""

from fractions import Fraction

import pytest
import sympy

from gpuscale.collectives import hierarchy
from gpuscale.schedules.collectives import hierarchical
from gpuscale.schedules.collectives.routes import Tree, worst
from gpuscale.symbols import G_2, G_3, W_3, G, M, N, V, W_node, W_nvl, Y, n_in

SPEEDS = {W_nvl: 450, W_node: 400, W_3: 12_800}


def entering(degrees, level, inner=1, rails=True):
    """Fraction of V that has to enter the first child of ``level``: what its GPUs need, less what they hold.

    GPU g holds shard g; it belongs to the ranks of X with the same place on the axis Y, and needs their shards.
    Rails: a GPU gets over NVLink only the shards that its neighbors and their NICs bring.
    """
    ranks, child = 1, 1
    for i, d in enumerate(degrees, start=1):
        ranks, child = ranks * d, child * (d if i < level else 1)
    members = range(child)
    needed = {shard for g in members for shard in range(ranks) if shard % inner == g % inner}
    if rails and level == 1:  # shard s arrives through the NIC of the GPU at the same place in this node
        own = {shard for shard in needed if shard % degrees[0] == 0}
        return Fraction(len(needed - own), ranks)
    return Fraction(len(needed - set(members)), ranks)


def exact(formula, **values):
    """The right side in rationals."""
    known = {q: values.get(q.name, SPEEDS.get(q)) for q in formula.rhs.free_symbols}
    return Fraction(*sympy.Rational(formula.rhs.subs(known)).as_numer_denom())


def valid(degrees):
    """Every Y that divides each unit's size or is a multiple of it."""
    sizes = [1]
    for d in degrees:
        sizes.append(sizes[-1] * d)
    return [y for y in range(1, sizes[-1] + 1) if all(y % s == 0 or s % y == 0 for s in sizes)]


@pytest.mark.parametrize("degrees", [(4, 2, 3), (2, 4, 2), (8, 2, 1), (4, 6, 1), (1, 3, 2)])
def test_sharded_cost_is_what_the_listed_shards_cost(degrees):
    formula = hierarchy.sharded_links(3)
    for y in valid(degrees):
        loads = [entering(degrees, level, y) for level in (1, 2, 3)]
        slowest = max(load / speed for load, speed in zip(loads, (450, 400, 12_800), strict=True))
        values = dict(zip(("G", "G_2", "G_3"), degrees, strict=True))
        assert exact(formula, V=1, Y=y, **values) == slowest, (degrees, y)


@pytest.mark.parametrize("degrees", [(8, 4), (4, 2, 3)])
def test_sharded_cost_is_reached_by_a_schedule(degrees):
    formula = hierarchy.sharded_links(len(degrees))
    for y in valid(degrees):
        loads = worst(hierarchical.all_gather(degrees, inner=y).per_link(Tree(degrees, rails=True)))
        slowest = max((load / SPEEDS[(W_nvl, W_node, W_3)[level - 1]] for level, load in loads.items()), default=0)
        values = dict(zip(("G", "M") if len(degrees) == 2 else ("G", "G_2", "G_3"), degrees, strict=True))
        assert exact(formula, V=1, Y=y, **values) == slowest, (degrees, y)


def test_without_an_inner_axis_nothing_changes():
    for depth in (1, 2, 3):
        plain, cut = hierarchy.all_gather_links(depth), hierarchy.sharded_links(depth)
        point = {G: 8, M: 32, G_2: 32, G_3: 4, V: 1, Y: 1} | SPEEDS
        assert plain.rhs.subs(point) == cut.rhs.subs(point)


@pytest.mark.parametrize("nodes", [2, 4, 5, 31, 32, 64, 128])
def test_bandwidth_by_nodes_is_that_of_the_tree(nodes):
    degrees = (8, min(nodes, 32), max(1, nodes // 32))
    loads = [entering(degrees, level) for level in (1, 2, 3)]
    slowest = max(load / speed for load, speed in zip(loads, (450, 400, 12_800), strict=True))
    assert exact(hierarchy.nodes_bandwidth, M=nodes, G=8, G_2=32) == 1 / slowest


@pytest.mark.parametrize("degrees", [(8, 4, 2), (2, 3, 5)])
def test_bytes_into_a_part(degrees):
    top = degrees[0] * degrees[1] * degrees[2]
    for level, size in ((1, 1), (2, degrees[0]), (3, degrees[0] * degrees[1])):
        value = hierarchy.child_bytes.rhs.subs({V: 1, n_in: size, N: top})
        assert Fraction(int(value.p), int(value.q)) == entering(degrees, level, rails=False)


def test_nvlink_binds_up_to_four_nodes():
    seen = [exact(hierarchy.nodes_bandwidth, M=m, G=8, G_2=32) for m in range(2, 8)]
    assert [s == Fraction(450 * 8, 7) for s in seen] == [True, True, True, False, False, False]
    assert M in hierarchy.nodes_bandwidth.rhs.free_symbols


def test_a_ring_of_nodes_enters_each_unit_once():
    """Whatever the tree above the nodes, each of its uplinks carries the bytes of one node."""
    loads = hierarchical.ring_of_nodes((2, 12)).per_link(Tree((2, 4, 3), rails=True))
    assert worst(loads) == {1: Fraction(1, 2), 2: Fraction(11, 12), 3: Fraction(11, 12)}
    assert {load for link, load in loads.items() if link.level == 2} == {Fraction(11, 24)}  # a lane through each NIC


def test_leaf_and_spine_phase_share_the_nics():
    steps, routes = hierarchical.all_gather((8, 32, 4)), Tree((8, 32, 4), rails=True)
    into = [worst(steps.per_link(routes, step + 1, step)).get(2, 0) for step in range(steps.steps)]
    assert into == [Fraction(3, 128), Fraction(124, 128), 0]


def test_chunks_expose_the_faster_level_once():
    speeds = {1: 450, 2: 50}
    slower, faster = Fraction(7, 8 * 450), Fraction(1, 2 * 400)
    for pieces in (1, 3, 4, 16):
        steps = hierarchical.all_gather((8, 2), pieces=pieces)
        took = steps.link_time(Tree((8, 2), rails=True), lambda link: speeds[link.level], 0, 1)
        assert took == slower + faster / pieces
