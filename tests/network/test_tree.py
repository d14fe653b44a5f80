"""The tree of levels: published tables, counts against the graph, cuts against brute force, refusals."""

import dataclasses
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from support.fat_trees import capacity, ports

from gpuscale.ledger import claim
from gpuscale.network import Graph, Level, Mesh, Topology, TopologyError, Torus, fat_tree, grow
from gpuscale.units import GB, TB

NODE = Level("Node", 8, 18, 25 * GB, 4, 64, "nvlink", "node", "NVSwitch")
LEAF = Level("Leaf", 32, 8, 50 * GB, 8, 64, unit="scalable unit")
SPINE = Level("Spine", 4, 256, 50 * GB, 16, 64, unit="pod")
POD = Topology("pod", (NODE, LEAF, SPINE))
UNIT = POD.below("Leaf")


def tiny(*, rails=True, degrees=(2, 2, 2), up=None, wide=3, empty=0):
    """Two GPUs a node, two nodes a unit: a leaf for each rail, spines above; ``up`` cables of a unit."""
    g, n, u = degrees
    levels = (
        Level("Node", g, 1, wide, 1, 64, "nvlink"),
        Level("Leaf", n, g, 1, g, 64),
        Level("Spine", u, n * g if up is None else up, 1, g, 64),
    )
    return Topology("tiny", levels, rails, empty)


# ---- the published tables


@pytest.mark.parametrize(
    "name, per_gpu, switches, units", [("Node", 450, 4, 128), ("Leaf", 50, 8, 4), ("Spine", 50, 16, 1)]
)
def test_the_levels_of_a_pod(name, per_gpu, switches, units):
    tier = POD.at(name)
    printed = [claim(f"gpus:ST-{name}-{column}").published for column in ("gpus", "deg", "sw", "cable", "coll")]
    assert [tier.S, tier.degree, tier.switch_bw, tier.unit_bw, tier.collective_bw] == pytest.approx(printed, rel=1e-12)
    assert (tier.level.switches, tier.units, tier.per_gpu_bw) == (switches, units, per_gpu * GB)
    assert tier.switch_bw_down == {"Node": 6.4, "Leaf": 12.8, "Spine": 51.2}[name] * TB
    assert isinstance(tier.unit_bw, int)


def test_counts_of_a_pod():
    assert [tier.switches_total for tier in POD.tiers] == [512, 32, 16] and POD.switches == 560
    assert [tier.cables_total for tier in POD.tiers] == [8 * 18 * 128, 1024, 1024]
    assert [tier.child_bw for tier in POD.tiers] == [450 * GB, 400 * GB, 12.8 * TB]
    assert [tier.oversubscription for tier in POD.tiers] == [9, 1, None]
    assert POD.at(2).per_node_bw == POD.at(3).per_node_bw == 400 * GB
    assert [row["name"] for row in POD.table()] == ["Node", "Leaf", "Spine"]


def test_bisection_of_node_and_pod():
    assert POD.below("Node").bisection == 1.8 * TB and POD.below(1).bisection_both_ways == 3.6 * TB
    assert POD.bisection == 25.6 * TB
    for tier in POD.tiers:  # collective bandwidth is twice the one-way bisection over the endpoints
        below = POD.below(tier.index)
        ends = 8 if tier.index == 1 else below.nodes
        assert tier.collective_bw == 2 * below.bisection / ends


def test_a_pod_with_a_slot_for_the_fabric_manager():
    pod = Topology("1,016", POD.levels, empty=1)
    assert (pod.ranks, pod.nodes, pod.slots, pod.switches) == (1016, 127, 128, 127 * 4 + 32 + 16)
    assert [tier.cables_total for tier in pod.tiers] == [127 * 144, 1016, 1024]
    assert pod.cuts[512] == 25.2 * TB  # 64 nodes against 63: the smaller side decides
    assert pod.bisection == 27.2 * TB  # 508 GPUs are 63 nodes and a half, so NVLinks are cut as well


# ---- the graph, counted again


SHARED = Topology("shared", POD.levels, rails=False)


@pytest.mark.parametrize("top", [POD, Topology("1016", POD.levels, empty=1), SHARED, fat_tree(UNIT, 4096), tiny()])
def test_the_graph_has_the_switches_cables_and_ports(top):
    graph = top.graph()
    assert graph.ranks == top.ranks and graph.vertices == top.ranks + top.switches
    for tier in top.tiers:
        assert graph.switches(tier.index) == tier.switches_total
        assert graph.cables(tier.index) == tier.cables_total
        assert ports(graph, tier.index).max() <= tier.level.ports
    ends = np.bincount(np.concatenate([graph.low, graph.high]), minlength=graph.vertices)
    nics = top.levels[1].cables // top.levels[0].degree if top.rails else 0
    assert set(ends[: top.ranks]) == {top.levels[0].cables + nics}


def test_every_leaf_has_two_cables_to_every_spine():
    graph = POD.graph()
    up = graph.level == 3
    assert set(np.unique(np.stack([graph.low[up], graph.high[up]]), axis=1, return_counts=True)[1]) == {2}
    grown = fat_tree(UNIT, 2048).graph()
    up = grown.level == 3
    assert set(np.unique(np.stack([grown.low[up], grown.high[up]]), axis=1, return_counts=True)[1]) == {1}


def test_nvlinks_of_a_gpu_are_dealt_out_as_in_the_book():
    graph = POD.below(1).graph()
    _, counts = np.unique(graph.high[graph.low == 0], return_counts=True)
    assert sorted(counts) == [4, 4, 5, 5]


@pytest.mark.parametrize("top", [POD, SHARED, fat_tree(UNIT, 4096), UNIT])
def test_hops_are_those_of_the_graph(top):
    far = top.graph().hops(11)
    assert all(top.hops(11, b) == far[b] for b in range(top.ranks))


def test_hops_in_words():
    assert (POD.hops(0, 0), POD.hops(0, 1), POD.hops(0, 8), POD.hops(0, 9), POD.hops(0, 256)) == (0, 2, 2, 4, 4)
    assert SHARED.hops(0, 256) == 6
    assert fat_tree(UNIT, 4096).hops(0, 4095) == 6
    with pytest.raises(ValueError, match="rank 1024: expected a whole number from 0 to 1023"):
        POD.hops(0, 1024)


# ---- cuts, against every subset


def every_cut(top) -> list:
    """The smallest cut of the tree by its number of ranks: every subset and every side of every hub tried."""
    hubs = tuple(dataclasses.replace(level, switches=1, ports=None) for level in top.levels)
    graph = Topology("hubs", hubs, top.rails, top.empty).graph()
    return [
        min((graph.flow(half) for half in combinations(range(top.ranks), k)), default=0) if 0 < k < top.ranks else 0
        for k in range(top.ranks + 1)
    ]


@pytest.mark.parametrize(
    "top",
    [
        tiny(),
        tiny(rails=False),
        tiny(up=1),
        tiny(up=2, rails=False),
        tiny(wide=1),
        tiny(degrees=(2, 2, 3), up=2),
        tiny(empty=1),
        tiny(degrees=(2, 3, 2), up=3, empty=2),
        tiny(wide=Fraction(1, 3)),
        tiny(degrees=(3, 1, 2)),
    ],
    ids=str,
)
def test_cuts_are_the_smallest_over_all_subsets(top):
    assert list(top.cuts) == every_cut(top)


SINGLE = [tiny(), tiny(wide=1), tiny(rails=False), tiny(up=2), tiny(degrees=(2, 2, 3)), UNIT.below(1)]


@pytest.mark.parametrize("top", SINGLE)
def test_bisection_is_that_of_the_single_switches(top):
    assert top.bisection == top.graph().bisection()


def test_a_flow_can_take_back_what_an_earlier_path_used():
    """The shortest path 0-2-3-1 must give up its middle, which then runs full the other way."""
    rows = [(0, 2, 1), (2, 3, 1), (3, 1, 1), (0, 4, 2), (4, 5, 2), (5, 3, 2), (2, 6, 2), (6, 7, 2), (7, 1, 2)]
    low, high, level = np.array(rows).T
    graph = Graph(2, np.ones(6, dtype=int), low, high, level, (1, 2))
    assert graph.flow({0}) == 3 == graph.flow({1})


def test_brute_force_declines_large_graphs():
    with pytest.raises(ValueError, match="1024 ranks have too many halves"):
        POD.graph().bisection()


# ---- growing, tapering


@pytest.mark.parametrize(
    "gpus, leaf, spine, core",
    [
        (256, 8, 4, None),
        (512, 16, 8, None),
        (768, 24, 16, None),
        (1024, 32, 16, None),
        (2048, 64, 32, None),
        (4096, 128, 128, 64),
        (8192, 256, 256, 128),
        (16384, 512, 512, 256),
    ],
)
def test_a_grown_network_has_nvidias_switches(gpus, leaf, spine, core):
    made = grow(POD, gpus)
    assert [tier.switches_total for tier in made.tiers[1:]] == [n for n in (leaf, spine, core) if n]
    assert {tier.cables_total for tier in made.tiers[1:]} == {gpus}
    assert made.bisection == gpus // 2 * 50 * GB
    assert made.levels[:2] == POD.levels[:2]


def test_growing_says_what_was_added():
    assert "1 cable from each switch" in fat_tree(UNIT, 2048).note
    assert "groups of 4" in fat_tree(UNIT, 4096).note and len(fat_tree(UNIT, 4096).levels) == 4


def test_a_full_fat_tree_holds_what_the_rule_can_still_build():
    assert [capacity(64, n) for n in (1, 2, 3)] == [64, 2048, 65536]
    assert len(fat_tree(UNIT, 65536).levels) == 4 and len(fat_tree(UNIT, 2 * 65536).levels) == 5
    leaf = Topology("2-port nodes", (Level("GPU", 1, 1, 1), Level("Leaf", 2, 1, 1, 1, 4)))
    assert len(fat_tree(leaf, capacity(4, 2)).levels) == 3 and len(fat_tree(leaf, capacity(4, 3)).levels) == 4


def test_a_tapered_level_is_oversubscribed_and_cuts_less():
    half = POD.tapered("Spine", 0.5)
    assert half.at("Leaf").oversubscription == 2 and half.at("Spine").level.switches == 8
    assert half.bisection == 12.8 * TB
    assert half.at("Spine").collective_bw == 200 * GB and half.at("Leaf").collective_bw == 400 * GB
    narrow_below = fat_tree(UNIT, 4096).tapered("Spine", 0.5)
    assert narrow_below.at("Core").collective_bw == 200 * GB  # the level below lets no more through
    seventh = fat_tree(UNIT, 4096).tapered("Core", Fraction(1, 7))
    assert seventh.at("Core").level.cables == 146
    assert seventh.at("Spine").oversubscription == Fraction(1024, 146)


# ---- tori and meshes

OPEN = False
SHAPES = [((4, 4), ()), ((4, 3), ()), ((2, 4), ()), ((6, 2), ()), ((4, 2, 2), ()), ((8,), ()), ((8,), (OPEN,))]
SHAPES += [((4, 4), (True, OPEN)), ((4, 4), (OPEN, OPEN)), ((2, 6), (OPEN, OPEN)), ((2, 3, 2), (OPEN, OPEN, OPEN))]


@pytest.mark.parametrize("sides, wrap", SHAPES, ids=str)
def test_a_torus_is_its_graph(sides, wrap):
    torus = Torus("t", sides, 50, wrap)
    graph = torus.graph()
    far = np.array([graph.hops(a) for a in range(torus.ranks)])
    assert torus.links == len(graph.low) and torus.diameter == far.max()
    assert all(torus.hops(a, b) == far[a, b] for a in range(torus.ranks) for b in range(torus.ranks))
    if sides != (2, 3, 2):
        assert torus.bisection == graph.bisection() == 50 * torus.bisection_links


def test_tori_of_tpus():
    v5p, cube = Torus("v5p", (16, 20, 28), 90 * GB), Torus("v4", (4, 4, 4), 50 * GB)
    assert (v5p.ranks, v5p.links_per_chip, v5p.chip_bw) == (8960, 6, 540 * GB)
    assert (v5p.diameter, v5p.bisection_links) == (32, 640)
    assert (cube.diameter, cube.links_per_chip, Torus("8 x 8", (8, 8), 1).diameter) == (6, 6, 8)
    assert v5p.place(27) == (0, 0, 27) and v5p.hops(0, 27) == 1
    with pytest.raises(TopologyError, match="a side of 5 cannot be halved"):
        _ = Torus("odd", (3, 5), 1).bisection


def test_a_mesh_of_pairs():
    square = Mesh("square", ((0, 1, 2), (1, 2, 1), (2, 3, 2), (0, 3, 1)), 20 * GB)
    assert square.links_per_gpu == (3, 3, 3, 3) and square.gpu_bw == 60 * GB and square.links == 6
    assert square.bisection == 40 * GB == square.bisection_both_ways / 2  # {0, 1} against {2, 3}
    assert (square.hops(0, 2), square.links_between(1, 0), square.links_between(0, 2)) == (2, 2, 0)


# ---- refusals


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: Level("x", 0, 1, 1), r"level 'x': degree = 0; expected a whole number of at least 1"),
        (lambda: Level("x", 2.5, 1, 1), r"degree = 2.5"),
        (lambda: Level("x", True, 1, 1), r"degree = True"),
        (lambda: Level("x", 2, 0, 1), r"cables = 0"),
        (lambda: Level("x", 2, 1, -1), r"link_bw = -1; expected a positive number"),
        (lambda: Level("x", 2, 1, float("nan")), r"link_bw = nan"),
        (lambda: Level("x", 2, 1, 1, 0), r"switches = 0"),
        (lambda: Level("x", 2, 1, 1, 1, "64"), r"ports = '64'"),
        (lambda: Topology("t", ()), "expected a list of Levels"),
        (lambda: Topology("t", (NODE, NODE)), "two levels have the same name"),
        (lambda: Topology("t", POD.levels, empty=128), "empty = 128; expected 0 or more of 128 slots"),
        (
            lambda: Topology("t", (NODE, LEAF, dataclasses.replace(SPINE, degree=5))),
            r"1280 cables down need 1280 ports; 16 x 64 = 1024 are available",
        ),
        (
            lambda: Topology("t", (NODE, dataclasses.replace(LEAF, degree=33), SPINE)),
            r"264 cables down \+ 256 up need 520 ports; 8 x 64 = 512",
        ),
        (
            lambda: Topology("t", (dataclasses.replace(NODE, degree=3, cables=3, switches=2, ports=4),)),
            "need 9 ports; 2 x 4 = 8",
        ),
        (
            lambda: Topology("t", (dataclasses.replace(NODE, switches=3, cables=4, ports=12),)),
            "4 cables per child cannot be spread over 3 switches of 12 ports: the fullest needs 16",
        ),
        (
            lambda: Topology("t", (NODE, dataclasses.replace(LEAF, cables=4))),
            "rails need the same number of cables for each of the 8 GPUs below; got 4",
        ),
        (lambda: POD.tapered("Spine", 0), "taper 0 leaves no cable of 256; expected a fraction of at least 1/256"),
        (lambda: POD.tapered("Spine", -1), "taper -1 leaves no cable"),
        (lambda: POD.tapered("Spine", 1e-4), "taper 0.0001 leaves no cable"),
        (lambda: POD.tapered("Spine", "half"), "taper 'half'"),
        (lambda: POD.tapered("Spine", 2), r"256 cables down \+ 512 up need 768 ports; 8 x 64 = 512"),
        (lambda: fat_tree(UNIT, 1000), "1000 GPUs; expected a multiple of its 256"),
        (lambda: fat_tree(UNIT, 0), "0 GPUs"),
        (
            lambda: fat_tree(UNIT, 11 * 256),
            "11 units of 256 cables each need 44 switches of 64 ports; 32 can be reached",
        ),
        (lambda: fat_tree(UNIT, 2**22 * 256), "need more than 5 levels of 64-port switches"),
        (lambda: fat_tree(POD, 2048), "full bandwidth upward needs 1024 more ports; 16 x 64 - 1024 = 0 are free"),
        (lambda: fat_tree(Topology("t", (NODE, dataclasses.replace(LEAF, ports=None))), 512), "ports are not known"),
        (lambda: Torus("t", (2, 4), 1, (True, True)), "a side of 2 cannot close to a ring"),
        (lambda: Torus("t", (4, 4), 1, (True,)), r"expected True or False for each side"),
        (lambda: Torus("t", (0,), 1), "side = 0"),
        (lambda: Torus("t", (4,), 0), "link_bw = 0"),
        (lambda: Mesh("t", ((0, 0, 1),), 1), "expected pairs of two GPUs"),
        (lambda: Mesh("t", ((0, 1, 1), (1, 0, 2)), 1), "each pair once"),
        (lambda: Mesh("t", ((0, 2, 1),), 1), r"expected GPUs 0, 1, 2"),
        (lambda: Mesh("t", ((0, 1, 0),), 1), "links of 0-1 = 0"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_reason(call, says):
    with pytest.raises(TopologyError, match=says):
        call()


def test_an_unknown_level_is_named():
    with pytest.raises(KeyError, match="no level 'Leef'; did you mean Leaf"):
        POD.at("Leef")
    with pytest.raises(KeyError, match="no level 4"):
        POD.at(4)
