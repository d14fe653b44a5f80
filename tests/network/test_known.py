"""The networks of the data: what their sources print for the whole against what the levels add up to."""

import re

import numpy as np
import pytest
from support.fat_trees import ports

from gpuscale import specs
from gpuscale.network import Mesh, Topology, Torus, fat_tree, level, levels, published, topologies, topology
from gpuscale.units import GB, TB

TREES = [key for key in topologies() if isinstance(topology(key), Topology)]


@pytest.mark.parametrize("key", topologies())
def test_a_network_adds_up_to_what_is_printed(key):
    made, part = topology(key), published(key)
    assert made.title == part.title and made.ranks == part.get("gpus", made.ranks)
    for name in ("nodes", "leaf", "spine", "core"):
        printed = part.get(name if name == "nodes" else f"{name}_switches")
        if printed is not None:
            assert (made.nodes if name == "nodes" else made.at(name.capitalize()).switches_total) == printed, name
    assert made.bisection > 0 and made.graph().ranks == made.ranks


@pytest.mark.parametrize("key", TREES)
def test_every_level_has_its_provenance(key):
    parts = list(levels(key))
    assert [part.title for part in parts] == [lv.name for lv in topology(key).levels[: len(parts)]]
    assert all({"degree", "cables", "link_bw"} <= set(part.fields) for part in parts)
    assert topology(key).tiers[0].level == level(parts[0].key)


@pytest.mark.parametrize(
    "row", specs.measured("superpod_components").rows, ids=lambda row: f"{row['part']}-{row['gpus']}"
)
def test_nvidias_tables_of_switches_and_cables(row):
    """The rule of fat_tree gives the switches of every row, three units' 16 spines for 12 among them."""
    whole = fat_tree(topology("h100_su"), int(row["units"]) * 256)
    made = Topology("printed", whole.levels, empty=int(whole.nodes - row["nodes"]))
    assert (made.ranks, made.nodes) == (row["gpus"], row["nodes"])
    below = dict(zip(("Leaf", "Spine", "Core"), ("node_leaf", "leaf_spine", "spine_core"), strict=True))
    for name, column in below.items():
        if np.isnan(row[name.lower()]):
            assert name == "Core" and len(made.levels) == 3
            continue
        assert made.at(name).switches_total == row[name.lower()]
        assert made.at(name).cables_total == row[column]


def test_the_pod_is_the_rule_applied_to_four_units():
    assert fat_tree(topology("h100_su"), 1024).levels == topology("h100_pod_1024").levels


def test_nodes_agree_with_chips_and_links():
    for key, chip, wires in [
        ("dgx_a100", "a100_sxm", "nvlink_3"),
        ("dgx_h100", "h100_sxm", "nvlink_4"),
        ("dgx_b200", "b200_sxm", "nvlink_5"),
        ("gb200_nvl72", "gb200", "nvl72"),
    ]:
        node, part, link = topology(key).at(1), specs.chip(chip), specs.link(wires)
        assert node.child_bw == part.nvlink_bw == link.bw
        assert (node.level.cables, node.level.link_bw) == (part.nvlink_links, link.link_bw)
        assert (node.degree, node.level.switches) == (link.node_gpus, link.node_switches)
        assert node.level.ports is None or node.level.ports == link.switch_ports
        nic = part.get("nic_bw")
        assert nic is None or nic == level("h100_leaf").link_bw


def test_the_table_of_nodes():
    rack = topology("gb200_superpod_576")
    assert (rack.at("Rack").child_bw, rack.at(2).child_bw) == (900 * GB, 3.6 * TB)
    assert topology("b200_pod_1024").at("Leaf").child_bw == 400 * GB
    assert rack.at(2).child_bw / topology("h100_pod_1024").at("Leaf").child_bw == 9
    assert [topology(key).switches for key in ("dgx_a100", "dgx_h100", "dgx_b200", "gb200_nvl72")] == [6, 4, 2, 18]
    assert all(set(ports(topology(key).graph(), 1)) == {72} for key in ("gb200_nvl72", "dgx_b200"))


def test_pairs_of_the_dgx_1():
    for key, links, direct, bisection in [("dgx1_p100", 4, 4, 80 * GB), ("dgx1_v100", 6, 4, 150 * GB)]:
        mesh, part = topology(key), published(key)
        assert isinstance(mesh, Mesh) and set(mesh.links_per_gpu) == {links} == {part.gpu_links}
        assert mesh.gpu_bw == specs.link(f"nvlink_{1 if key.endswith('p100') else 2}").bw
        assert [sum(mesh.links_between(a, b) > 0 for b in range(8)) for a in range(8)] == [direct] * 8
        assert mesh.bisection == bisection and max(mesh.hops(0, b) for b in range(8)) == 2


def test_tpus():
    v5e, v5p = topology("tpu_v5e_pod"), topology("tpu_v5p_pod")
    assert isinstance(v5e, Torus) and v5e.link_bw == specs.chip("tpu_v5e").ici_link_bw
    assert v5p.ranks == specs.chip("tpu_v5p").pod_chips and v5p.links_per_chip == specs.chip("tpu_v5p").ici_links
    assert v5e.links_per_chip == specs.chip("tpu_v5e").ici_links and v5e.diameter == 16


def test_the_oversubscribed_cluster():
    meta = topology("llama3_24k")
    assert meta.at("Pod").S == 3072 and meta.at("Rack").oversubscription == 1
    assert meta.at("Pod").oversubscription == pytest.approx(7, rel=1e-3)
    assert meta.switches is None
    assert meta.bisection == 4 * 439 * 50 * GB


def test_unknown_networks_are_named():
    with pytest.raises(specs.UnknownPart, match=r"no topology 'h100_pod'; did you mean h100_su, h100_pod_1024"):
        topology("h100_pod")
    with pytest.raises(specs.UnknownPart, match="no level 'leaf'"):
        level("leaf")


def test_the_note_says_how_the_network_grew():
    assert re.search(r"groups of 4.*64 core switches", topology("h100_4096").note)
