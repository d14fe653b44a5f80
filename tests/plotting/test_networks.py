"""Networks that draw themselves: what every drawing must be, and that data and drawing agree."""

import re

import pytest
from plotting import test_plotting
from plotting.test_plotting import texts, trees, words

from gpuscale.network import Mesh, Topology, Torus, topologies, topology
from gpuscale.plotting import (
    TreeNode,
    leaf_rails_figure,
    network_figure,
    node_figure,
    number_tree,
    rack_figure,
    torus_figure,
)
from gpuscale.units import GB, NBSP

RULES = """test_both_drawings_are_wellformed_and_have_the_columns_width test_colours_are_page_colours_with_a_fallback
test_ids_are_unique_on_the_page_and_begin_with_the_figures_name test_text_stays_text_and_says_what_is_drawn
test_no_text_leaves_the_drawing test_level_texts_do_not_cover_each_other test_a_figure_is_small
test_the_caption_concludes_in_bold_and_numbers_are_folded""".split()
SAID = {"name": "net", "caption": "It is wired. More."}


def draw(network, **more):
    make = {Topology: network_figure, Mesh: node_figure, Torus: torus_figure}[type(network)]
    return make(network, **SAID | more)


@pytest.fixture(scope="module", params=topologies())
def figure(request):
    return draw(topology(request.param))


@pytest.mark.parametrize("rule", RULES)
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


def said(tree) -> str:
    return " | ".join(words(tree)).replace(NBSP, " ")


def lines(tree, hue: str) -> int:
    """Straight strokes of a meaning: each is an M in the data of a path."""
    paths = [p for p in tree.iter("{http://www.w3.org/2000/svg}path") if f"--{hue}," in p.get("stroke", "")]
    return sum(len(re.findall("M", p.get("d"))) for p in paths if not p.get("fill"))


def test_a_pod_says_its_levels_on_both_drawings():
    expected = """Pod: 1,024 GPUs|16 spine switches|64 ports each|12.8 TB/s|per scalable unit|8 leaf switches per unit
    400 GB/s|per node, 50 GB/s per GPU|8 GPUs per node|32 nodes per unit|450 GB/s
    per GPU, over NVLink"""
    for tree in trees(draw(topology("h100_pod_1024"))):
        assert {part.strip() for part in re.split(r"[|\n]", expected)} <= set(said(tree).split(" | "))


def test_each_gpu_has_one_cable_and_a_unit_is_joined_by_some():
    wide, narrow = trees(draw(topology("h100_pod_1024")))
    units, above = 2, 8  # those that are drawn: the first unit and the last, and cables above a unit
    assert lines(wide, "scaleup") == units * 3 * 8 and lines(narrow, "scaleup") == units * 2 * 8
    assert lines(wide, "scaleout") == units * (3 * 8 + above)
    assert lines(narrow, "scaleout") == units * (2 * 8 + above)


def test_a_node_has_a_line_from_every_gpu_to_every_switch():
    for tree in trees(draw(topology("dgx_h100"))):
        assert lines(tree, "scaleup") == 8 * 4
    wide, _ = trees(draw(topology("dgx1_v100")))
    assert lines(wide, "scaleup") == topology("dgx1_v100").links == 24


def test_ethernet_is_scale_out_and_an_unknown_switch_is_one():
    wide, _ = trees(draw(topology("llama3_24k")))
    assert {"switches counted as one", "22 TB/s", "per pod"} <= set(said(wide).split(" | "))
    assert lines(wide, "scaleup") and "1 rack switch per rack" in said(wide)


def test_many_gpus_fold():
    text = said(trees(draw(topology("gb200_superpod_576")))[0])
    assert "72 GPUs per rack" in text and "…" in text
    alone, folded = (words(trees(draw(topology("gb200_nvl72"), fold=k))[0]) for k in (False, True))
    assert len(alone) > len(folded) and folded.count("71") == 1 and "…" in folded
    assert words(trees(draw(topology("dgx_h100")))[1]).count("…") == 0


def test_the_digest_has_every_level_and_link():
    text = draw(topology("h100_pod_1016")).text.replace(NBSP, " ")
    assert "Pod: 1,016 GPUs, 1 of 128 slots empty" in text and "127 in all" in text
    assert "level Leaf: Scalable unit 1 of 4: 256 GPUs" in text
    assert "links 0-3: 2" in draw(topology("dgx1_v100")).text
    assert "axis 28, ring" in draw(topology("tpu_v5p_pod")).text
    assert "axis 4, open" in torus_figure(Torus("m", (4, 8), GB, (False, True)), **SAID).text


def test_the_folded_table_holds_the_counts():
    heads, rows = draw(topology("h100_pod_1024")).table
    assert len(heads) == len(rows[0]) and [row[3] for row in rows] == ["512", "32", "16"]
    assert [row[4] for row in rows] == ["18,432", "1,024", "1,024"]
    assert draw(topology("llama3_24k")).table[1][-1][3] == "–"


def test_alternative_text_is_made_from_the_data():
    assert "16 spine switches of 64 ports; 4 × scalable unit, each 256" in draw(topology("h100_pod_1024")).alt
    assert "150\xa0GB/s out of a GPU" in draw(topology("dgx1_v100")).alt
    assert "8,960 chips, 6 links each" in draw(topology("tpu_v5p_pod")).alt
    assert draw(topology("dgx_h100"), alt="mine").alt == "mine"


def test_chips_of_a_small_torus_are_all_drawn():
    def squares(tree):
        fills = [p for p in tree.iter("{http://www.w3.org/2000/svg}path") if "--compute-bar" in p.get("fill", "")]
        return sum(len(re.findall("M", p.get("d"))) for p in fills)

    bars = 7  # one for each distance in a cube of four
    for sides, count in [((8,), 8), ((4, 8), 32), ((4, 4, 4), 64 + bars), ((16, 20, 28), 64), ((32, 2), 32)]:
        assert squares(trees(draw(Torus("t", sides, GB)))[0]) == count


def test_a_torus_of_three_axes_says_how_far_each_chip_is():
    for tree in trees(draw(Torus("t", (4, 4, 4), GB))):
        digits = [word for word in words(tree) if word.isdigit()]
        assert digits.count("6") == 1 + 1 + 2  # one chip, its row in the list, and the counts of two rows
        assert digits.count("5") == 6 + 1 and digits.count("20") == 1
    tree, _ = trees(draw(Torus("t", (16, 20, 28), GB)))
    assert words(tree).count("1") == 6 and words(tree).count("0") == 1  # the last chip of an axis is one link away


def test_rails_have_a_leaf_for_each_column_and_cables_straight_down():
    wide, narrow = trees(leaf_rails_figure(topology("h100_pod_1024"), **SAID))
    for tree in (wide, narrow):
        assert lines(tree, "scaleout") == 8 * 4 * 2  # of 32 nodes four, up and down
        assert {"32 cables up per leaf", "8 leaf switches", "node 31", "…"} <= set(words(tree))


@pytest.mark.parametrize("rule", RULES)
def test_rails_keep_the_rules_of_all_figures(rule):
    getattr(test_plotting, rule)(leaf_rails_figure(topology("h100_pod_1024"), **SAID))


def rack(**more):
    return rack_figure(topology("gb200_nvl72"), **SAID | {"per_tray": 4, "chips_per_tray": 2} | more)


@pytest.mark.parametrize("rule", RULES)
def test_a_rack_keeps_the_rules_of_all_figures(rule):
    getattr(test_plotting, rule)(rack())


def test_a_rack_has_every_tray_and_a_column_of_dots_for_each_chip():
    for tree in trees(rack()):
        filled = {}
        for path in tree.iter("{http://www.w3.org/2000/svg}path"):
            for hue in ("compute", "scaleup"):
                if f"--{hue}-bar" in path.get("fill", ""):
                    filled[hue] = filled.get(hue, 0) + len(re.findall("M", path.get("d")))
        assert filled == {"compute": 72, "scaleup": 2 * 18}  # a chip in its tray, and at its column
        dotted = [p for p in tree.iter("{http://www.w3.org/2000/svg}path") if p.get("stroke-dasharray") == "2 2"]
        assert sum(len(re.findall("M", p.get("d"))) for p in dotted) == 2 * 18
        assert {"one of 72 GPUs", "18 links, one to each chip"} <= set(words(tree))


def test_a_node_is_drawn_from_any_topology_and_a_mesh_of_any_shape():
    assert "Node: 8 GPUs" in said(trees(node_figure(topology("h100_pod_1024"), **SAID))[0])
    star = Mesh("star", ((0, 1, 1), (0, 2, 1), (0, 3, 2)), 20 * GB)
    wide, _ = trees(node_figure(star, **SAID))
    assert "4 GPUs, 1 to 4 links each, 20 GB/s out of a GPU." in said(wide) and lines(wide, "scaleup") == 4
    assert len(list(texts(wide))) == 6


def small_tree(**more):
    units = [
        TreeNode("unit", edge="2 of 4", children=[TreeNode(k, "compute", edge="1", cut=k == "A") for k in "AB"])
    ] * 3
    return number_tree(TreeNode("top", children=units), **SAID | {"alt": "A tree of three units."} | more)


@pytest.mark.parametrize("rule", RULES)
def test_a_tree_with_numbers_keeps_the_rules_of_all_figures(rule):
    getattr(test_plotting, rule)(small_tree())


def test_a_tree_says_its_places_and_edges_and_marks_what_is_cut():
    figure = small_tree()
    assert figure.text.count("row 1: unit [edge], above it 2 of 4") == 3
    assert figure.text.count("row 2: A [compute], above it 1, cut") == 3
    for tree in trees(figure):
        assert lines(tree, "scaleout") == 3 + 6 and words(tree).count("2 of 4") == 3


@pytest.mark.parametrize(
    "call, error, says",
    [
        (lambda: network_figure(topology("dgx1_v100"), **SAID), TypeError, "expected a Topology"),
        (lambda: node_figure("dgx", **SAID), TypeError, "expected a Mesh or a Topology; got 'dgx'"),
        (lambda: torus_figure(topology("dgx_h100"), **SAID), TypeError, "expected a Torus"),
        (lambda: rack_figure("rack", per_tray=4, chips_per_tray=2, **SAID), TypeError, "expected a Topology"),
        (lambda: rack(per_tray=5), ValueError, "got 5 and 2 in a tray"),
        (
            lambda: rack_figure(topology("dgx_h100"), per_tray=4, chips_per_tray=2, **SAID),
            ValueError,
            "a link from each GPU to each switch",
        ),
        (lambda: leaf_rails_figure(topology("dgx1_v100"), **SAID), TypeError, "expected a Topology"),
        (lambda: leaf_rails_figure(topology("h100_pod_1024"), rail=8, **SAID), ValueError, "among them 8"),
        (lambda: leaf_rails_figure(topology("h100_pod_1024"), level="Spine", **SAID), ValueError, "got Spine"),
        (lambda: torus_figure(Torus("t", (3, 3, 3, 3), 1), **SAID), ValueError, "4 axes; expected at most 3"),
        (lambda: number_tree("top", alt="x", **SAID), TypeError, "expected a TreeNode; got 'top'"),
        (lambda: number_tree(TreeNode("t", "red"), alt="x", **SAID), ValueError, "node 't'"),
        (lambda: draw(topology("dgx_h100"), name="Bad Name"), ValueError, "name: "),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()
