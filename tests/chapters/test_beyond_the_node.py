"""Beyond the node: its walk over a tree, its tapered cuts and its growth against networks counted cable by cable."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.fat_trees import capacity

from gpuscale.network import (
    Level,
    Topology,
    bisection,
    fat_tree,
    leaf_switches,
    tapered_bisection,
    tapered_bisection_odd,
    three_level_capacity,
    top_switches,
    topology,
    two_level_capacity,
)

PAGE = Path(__file__).parents[2] / "chapters" / "beyond_the_node.ipynb"


def tapered(units, nics, up, rate=50):
    """``units`` of ``nics`` NICs each, joined by ``up`` cables a unit."""
    return Topology("tapered", (Level("Unit", nics, 1, rate), Level("Top", units, up, rate)))


@pytest.mark.parametrize("units", [2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize(("nics", "up"), [(8, 8), (8, 1), (16, 3), (4, 2)])
def test_no_half_of_a_tapered_network_is_cut_off_by_less(units, nics, up):
    net = tapered(units, nics, up)
    given = {"N": units * nics, "W": 50, "r_over": Fraction(nics, up)}
    want = tapered_bisection_odd(**given, G_3=units) if units % 2 else tapered_bisection(**given)
    assert float(net.bisection) == pytest.approx(want, rel=1e-12)
    if units * nics <= 12:
        assert float(net.graph().bisection()) == pytest.approx(want, rel=1e-12)


def test_a_full_pod_has_the_bisection_of_its_nics():
    assert topology("h100_pod_1024").bisection == bisection(N=1024, W=50e9)


@pytest.mark.parametrize("ports", [4, 40, 64, 144])
def test_capacity_is_what_the_ports_hold(ports):
    assert two_level_capacity(n_port=ports) == capacity(ports, 2)
    assert three_level_capacity(n_port=ports) == capacity(ports, 3)


@pytest.mark.parametrize("gpus", [1024, 2048, 4096, 16384])
def test_switches_of_each_level_follow_from_its_cables(gpus):
    *lower, top = fat_tree(topology("h100_su"), gpus).tiers[1:]
    for tier in lower:
        assert tier.switches_total == leaf_switches(n_down=tier.cables_total, n_port=64)
    assert top.switches_total == top_switches(n_down=top.cables_total, n_port=64)


@pytest.fixture(scope="module")
def walk():
    """The function that the page shows."""
    scope = {"np": np}
    for cell in json.loads(PAGE.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and source.startswith("def "):
            if any(name in source for name in ("def least(", "def cuts(")):
                exec(source, scope)
    return scope["cuts"]


@pytest.mark.parametrize("steps", [[(2, 9), (2, 2), (3, 2)], [(3, 5), (4, 4)], [(2, 1), (2, 3), (2, 2)], [(12, 1)]])
def test_the_walk_on_the_page_finds_the_least_cut_of_every_size(walk, steps):
    """Against all subsets, by maximum flow over the cables written out: levels without rails join like a tree."""
    net = Topology("tree", tuple(Level(f"L{i}", d, 1, w) for i, (d, w) in enumerate(steps)), rails=False)
    assert list(walk(steps)) == list(net.cuts.astype(float))
    assert walk(steps)[net.ranks // 2] == net.graph().bisection()
