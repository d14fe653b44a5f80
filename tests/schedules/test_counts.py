"""What schedules count: bytes of the busiest rank, of each physical link, in and out of each switch."""

from collections import deque
from fractions import Fraction
from itertools import pairwise, permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.other_schedules import Switched, rail_all_reduce

from gpuscale.schedules.collectives import (
    direct,
    doubling,
    exchange,
    hierarchical,
    in_network,
    ring,
    switched,
    torus,
    trees,
)
from gpuscale.schedules.collectives.routes import Link, TorusRoutes, Tree, children, worst

F = Fraction


def test_a_ring_of_1024_ranks_is_counted_to_the_byte():
    schedule = ring.all_reduce(1024)
    assert schedule.steps == 2046 and schedule.busiest() == F(2046, 1024)
    assert set(schedule.sent()) == set(schedule.received()) == {F(2046, 1024)}


@pytest.mark.parametrize("m", range(6))
def test_what_doubling_and_trees_send(m):
    n = 2**m
    assert (doubling.all_gather(n).steps, doubling.all_gather(n).busiest()) == (m, 1 - F(1, n))
    assert (doubling.all_reduce(n).steps, doubling.all_reduce(n).busiest()) == (m, m)
    assert doubling.halving_doubling(n).steps == 2 * m
    assert doubling.halving_doubling(n).busiest() == ring.all_reduce(n).busiest()
    assert (trees.all_reduce(n).steps, trees.all_reduce(n).busiest(), trees.all_reduce(n).moved()) == (
        2 * m,
        m,
        2 * (n - 1),
    )


@pytest.mark.parametrize("n, depth", [(1, 0), (2, 1), (3, 2), (5, 3), (8, 3), (9, 4), (13, 4), (16, 4), (33, 6)])
def test_two_trees_share_the_work(n, depth):
    first, second = trees.double_parents(n)
    for tree in (first, second):
        assert max(trees.depths(tree)) == depth and tree.count(-1) == 1
        assert all(tree.count(rank) <= 2 for rank in range(n))
    inside = set(first) & set(second) - {-1}
    assert len(inside) == (n % 2 if n > 1 else 0), "even: whoever is inside one is a leaf of the other"
    for chunks in (2, 6, 40):
        schedule = trees.double_tree_all_reduce(n, chunks)
        assert schedule.steps == (chunks // 2 - 1 + 2 * depth if n > 1 else 0)
        assert schedule.moved() == 2 * (n - 1)
        assert schedule.busiest() == {1: 0, 2: 1, 3: F(3, 2)}.get(n, 2)


def test_the_two_trees_are_those_drawn_by_nccl():
    """The pictures in NCCL's own source: 14 ranks for the tree, 12 (mirrored) and 13 (shifted) for the pair."""
    assert trees.parents(14) == [-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12]
    assert trees.double_parents(12)[1] == [1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, -1]
    assert trees.double_parents(13)[1] == [9, -1, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11]


@pytest.mark.parametrize("n", [2, 3, 8])
def test_what_passes_an_adding_switch(n):
    near, far = in_network.all_reduce(n), in_network.all_reduce(n, own=True)
    assert set(near.sent()[:n]) == set(near.received()[:n]) == {1} and near.steps == 4
    assert set(far.sent()[:n]) == set(far.received()[:n]) == {F(n + 1, n)}
    assert near.busiest() == 1 < near.sent(n), "the switch is no rank"
    assert near.received(n) == near.sent(n) == n, "quiz: N V enter the switch and N V leave it"
    assert near.between(range(n), [n], upto=1) == n - 1 and near.between(range(n), [n]) == n
    ramp = 4 * F(n - 1, n) - 1  # the first two steps and the last two are not full, one more is
    assert in_network.all_reduce(n, pieces=50).time(0, 1, 1) == 1 + ramp / 50, "both directions are busy at once"
    assert near.time(0, 1, 1) == 2
    scatter, gather = in_network.reduce_scatter(n), in_network.all_gather(n)
    assert scatter.sent(0) == gather.received(0) == F(n - 1, n) and scatter.received(0) == gather.sent(0) == F(1, n)


# Physical links


def neighbors(degrees, rails):
    """An explicit graph of a tree, from the drawing: switches are (level, unit), GPUs are numbers."""
    edges = {}

    def join(a, b):
        edges.setdefault(a, set()).add(b)
        edges.setdefault(b, set()).add(a)

    for gpu in range(prod(degrees)):
        join(gpu, (1, gpu // degrees[0]))
        if rails and len(degrees) > 1:
            join(gpu, (2, gpu // degrees[0] // degrees[1]))
    for level in range(2, len(degrees) + 1):
        for unit in range(prod(degrees[level - 1 :])):
            if level > 2 or not rails:
                join((level - 1, unit), (level, unit // degrees[level - 1]))
    return edges


def hops(edges, source):
    """Links to every node, breadth first."""
    far, queue = {source: 0}, deque([source])
    while queue:
        at = queue.popleft()
        for to in edges[at] - far.keys():
            far[to] = far[at] + 1
            queue.append(to)
    return far


@pytest.mark.parametrize("rails", [False, True])
@pytest.mark.parametrize("degrees", [(3,), (2, 3), (2, 2, 2), (3, 1, 2)])
def test_a_tree_is_crossed_the_shortest_way(degrees, rails):
    tree, edges = Tree(degrees, rails), neighbors(degrees, rails)
    for source, target in permutations(range(prod(degrees)), 2):
        ((share, way),) = tree.ways(source, target)
        assert share == 1 and len(way) == hops(edges, source)[target]
        assert all(link.up for link in way[: len(way) // 2]) and not any(link.up for link in way[len(way) // 2 :])


@pytest.mark.parametrize("axes", [(2,), (5,), (6,), (3, 4), (2, 2, 3)])
def test_a_torus_is_crossed_the_shortest_ways(axes):
    grid = TorusRoutes(axes)
    edges = {}
    for node in range(prod(axes)):
        for axis, length in enumerate(axes):
            for turn in (1, -1):
                place = grid.place(node)
                place[axis] = (place[axis] + turn) % length
                edges.setdefault(node, set()).add(grid.node(place))
    for source, target in permutations(range(prod(axes)), 2):
        ways = grid.ways(source, target)
        assert sum(share for share, _ in ways) == 1
        for _, way in ways:
            assert len(way) == hops(edges, source)[target]
            ends = [link.node for link in way] + [target]
            assert ends[0] == source and all(b in edges[a] for a, b in pairwise(ends))


def test_the_pod_link_by_link():
    """1,024 GPUs: NVLink carries what seven neighbors pass on, a node's NICs 127/128, a unit's cables 3/4."""
    schedule = hierarchical.all_gather((8, 32, 4))
    assert worst(schedule.per_link(Tree((8, 32, 4), rails=True))) == {1: F(7, 8), 2: F(127, 128), 3: F(3, 4)}
    assert worst(schedule.per_link(Tree((8, 32, 4)))) == {1: F(1023, 1024), 2: F(127, 128), 3: F(3, 4)}


def test_every_nic_of_a_node_carries_the_same():
    loads = hierarchical.all_gather((4, 3, 2), ring=True).per_link(Tree((4, 3, 2), rails=True))
    nics = {link: load for link, load in loads.items() if link.level == 2}
    assert len(nics) == 2 * 24 and set(nics.values()) == {F(5, 6) / 4}
    assert children(nics)[(2, 0, True)] == F(5, 6)
    flat = ring.all_gather(24).per_link(Tree((4, 3, 2), rails=True))
    assert {link.lane for link in flat if link.level == 2 and link.up} == {3}, "a plain ring leaves by one NIC"


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 2), st.booleans(), st.data())
def test_a_link_carries_what_its_subtree_lacks(degrees, pieces, by_ring, data):
    """Into each unit goes exactly what its ranks need and none of them holds: nothing less can do."""
    units = [prod(degrees[:i]) for i in range(len(degrees) + 1)]
    inner = data.draw(
        st.sampled_from([y for y in range(1, units[-1] + 1) if all(max(u, y) % min(u, y) == 0 for u in units)])
    )
    gather = hierarchical.all_gather(degrees, inner, pieces, by_ring)
    scatter = hierarchical.reduce_scatter(degrees, inner, pieces, by_ring)
    into, out = (children(s.per_link(Tree(degrees))) for s in (gather, scatter))
    for level, below in enumerate(units[:-1], 1):
        for child in range(units[-1] // below):
            ranks = slice(child * below, (child + 1) * below)
            lacks = gather.end[ranks].any(axis=0) & ~gather.start[ranks].any(axis=0)
            assert into.get((level, child, False), 0) == F(int(lacks.sum()), gather.whole)
            assert out.get((level, child, True), 0) == F(int(lacks.sum()), gather.whole)


def test_switches_of_a_scalable_unit():
    """The published quiz: an all-gather over 32 nodes of 8, in and out of a node's switch and of the top."""
    degrees = (8, 32)
    schedule, node, top = switched.all_gather(degrees), switched.switch(degrees, 1), switched.switch(degrees, 2)
    assert schedule.between(range(8), [node]) == F(1, 32) and schedule.between([top], [node]) == F(31, 32)
    assert schedule.received(node) == 1 and schedule.sent(node) == 8
    assert schedule.between([node], range(8)) == 8 * (1 - F(1, 256)) and schedule.between([node], [top]) == F(1, 32)
    assert schedule.received(top) == 1 and schedule.sent(top) == 31


def test_adding_switches_of_a_tree():
    degrees = (8, 4, 2)
    one = switched.all_reduce(degrees)
    assert set(one.per_link(Switched(degrees)).values()) == {1} and one.steps == 6
    two = switched.all_reduce(degrees, inner=2)
    node, leaf = (switched.switch(degrees, level) for level in (1, 2))
    assert two.sent(0) == F(1, 2) and two.between([node], [leaf]) == 1, "all shards leave the node"
    wide = switched.all_reduce(degrees, inner=32)
    assert wide.sent(0) == F(1, 32) and wide.between([node], [leaf]) == F(8, 32)
    rails = rail_all_reduce(degrees)
    assert worst(rails.per_link(Switched(degrees))) == {1: 1, 2: 1, 3: 1} and rails.steps == 8
    assert rails.per_link(Switched(degrees))[Link(2, 3, True, 5)] == F(1, 8)
    with pytest.raises(ValueError, match="expected the switch above, or a child"):
        Switched(degrees).ways(0, switched.switch(degrees, 3))


@pytest.mark.parametrize("n", range(2, 13))
def test_an_all_to_all_loads_every_link_of_a_ring_alike(n):
    loads = torus.all_to_all([n]).per_link(TorusRoutes([n]))
    assert len(loads) == 2 * n
    assert set(loads.values()) == {F(1, 8) if n % 2 == 0 else F(n * n - 1, 8 * n * n)}
    assert torus.all_to_all([n]).link_time(TorusRoutes([n]), lambda link: 1, 0, 1) == max(loads.values())


@pytest.mark.parametrize("axes", [(2, 3), (4, 4), (2, 2, 2), (3, 1, 4), (5, 3)])
def test_hop_by_hop_loads_the_links_as_the_shortest_ways_do(axes):
    n, grid = prod(axes), TorusRoutes(axes)
    loads = torus.all_to_all(axes).per_link(grid)
    assert loads == exchange.all_to_all(n).per_link(grid) == direct.all_to_all(n).per_link(grid)
    for axis, length in enumerate(axes):
        mean = F(sum(min(d, length - d) for d in range(length)), length)  # links to the mean rank of the axis
        assert {load for link, load in loads.items() if link.axis == axis} <= {mean / (2 * n)}


@pytest.mark.parametrize("axes", [(8,), (3,), (4, 4), (2, 2, 2)])
def test_rings_on_all_axes_at_once_share_the_links(axes):
    loads = torus.all_gather(axes).per_link(TorusRoutes(axes))
    assert len(loads) == 2 * len(axes) * prod(axes)
    assert set(loads.values()) == {(1 - F(1, prod(axes))) / (2 * len(axes))}


@pytest.mark.parametrize("nodes", [2, 3, 8])
def test_an_all_to_all_across_nodes(nodes):
    """What leaves a node is what its ranks have for the others; with rails, NVLink carries the node's own blocks."""
    n = 4 * nodes
    blocks = 4 * (n - 4)  # from each of four ranks to every rank elsewhere
    schedule = exchange.all_to_all(n)
    assert worst(schedule.per_link(Tree((4, nodes)))) == {1: F(n - 1, n * n), 2: F(blocks, n * n)}
    assert worst(schedule.per_link(Tree((4, nodes), rails=True))) == {1: F(3, n * n), 2: F(blocks, n * n)}


# Tokens and experts


def test_the_mean_number_of_shards_is_that_of_every_case():
    assert exchange.expected_shards(8, 4, 2) == F(13, 7)
    assert exchange.expected_shards_independent(4, 2) == F(7, 4)
    for k in range(1, 6):
        assert exchange.expected_shards(5, 5, k) == k, "one expert on a shard: k different shards"
    assert exchange.expected_shards(6, 3, 6) == 3
    many = exchange.hit_shards(exchange.random_choice(20_000, 12, 3, seed=1), 12, 4).sum(axis=1).mean()
    assert many == pytest.approx(float(exchange.expected_shards(12, 4, 3)), rel=0.01)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(0, 99))
def test_tokens_reach_the_shards_of_their_experts(nodes, node, each, k, seed):
    """Each shard ends with the tokens that chose it, each sent once, to each node once."""
    shards, per = nodes * node, 3
    experts = shards * each
    choice = exchange.random_choice(per * shards, experts, min(k, experts), seed)
    hit = exchange.hit_shards(choice, experts, shards)
    home = np.arange(per * shards) // per
    remote = int(hit.sum() - hit[np.arange(home.size), home].sum())
    plain, by_node = (exchange.dispatch(choice, experts, shards, size) for size in (0, node))
    tokens = [np.arange(shard * per, (shard + 1) * per) for shard in range(shards)]
    for schedule in (plain, by_node):
        for shard, got in enumerate(schedule.run(tokens)):
            np.testing.assert_array_equal(got, np.flatnonzero(hit[:, shard]))
    assert plain.moved() == F(remote, home.size)
    reached = hit.reshape(-1, nodes, node).any(axis=2)
    crossing = int(reached.sum() - reached[np.arange(home.size), home // node].sum())
    inside = by_node.per_link(Tree((node, nodes)))
    assert sum(load for link, load in inside.items() if link.level == 2 and link.up) == F(crossing, home.size)


def test_node_limited_routing_stays_on_its_nodes():
    choice = exchange.limited_choice(500, 64, 8, nodes=8, limit=4, seed=2)
    assert all(len(set(row)) == 8 for row in choice.tolist())
    hit = exchange.hit_shards(choice, 64, 8).sum(axis=1)
    assert hit.max() == 4 < exchange.hit_shards(exchange.random_choice(500, 64, 8), 64, 8).sum(axis=1).mean()
    assert exchange.load(choice, 64, 8).sum() == hit.sum()
    scores = np.random.default_rng(2).random((500, 64))  # the rule once more, token by token
    for token, row in zip(scores.tolist(), choice.tolist(), strict=True):
        value = {n: sum(sorted(token[8 * n : 8 * n + 8])[-2:]) for n in range(8)}
        nodes = sorted(value, key=value.get)[-4:]
        allowed = sorted((e for e in range(64) if e // 8 in nodes), key=token.__getitem__)
        assert row == sorted(allowed[-8:])
    with pytest.raises(ValueError, match="limit: expected at most 8 nodes with 8 experts or more on them; got 9"):
        exchange.limited_choice(5, 64, 8, nodes=8, limit=9)
    with pytest.raises(ValueError, match="experts: expected a multiple of the 5 shards; got 64"):
        exchange.expected_shards(64, 5, 2)
    with pytest.raises(ValueError, match="k: expected no more than the 4 experts; got 5"):
        exchange.random_choice(3, 4, 5)
    with pytest.raises(ValueError, match="choice: expected a multiple of 4 tokens"):
        exchange.dispatch(exchange.random_choice(6, 8, 2), 8, 4)
    with pytest.raises(ValueError, match="choice: expected expert numbers below 8"):
        exchange.hit_shards(np.array([[8]]), 8, 4)
