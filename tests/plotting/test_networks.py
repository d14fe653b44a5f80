"""Networks that draw themselves: what every drawing must be, and that data and drawing agree."""

import re

import pytest
from plotting import test_plotting
from plotting.test_plotting import texts, trees, words

from gpuscale.network import Mesh, Topology, Torus, topologies, topology
from gpuscale.plotting import network_figure, node_figure, torus_figure
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
    for tree in trees(draw(topology("h100_pod_1024"))):
        text = said(tree)
        assert "16 spine switches of 64 ports" in text and "8 leaf switches of 64 ports (one for each rail)" in text
        assert "Pod: 1,024 GPUs" in text and "Scalable unit 1 of 4: 256 GPUs" in text and "Node 1 of 32: 8 GPUs" in text
        assert "from each scalable unit 256 × 50 GB/s = 12.8 TB/s" in text
        assert "from each node 8 × 50 GB/s = 400 GB/s" in text and "from each GPU 18 × 25 GB/s = 450 GB/s" in text


def test_every_drawn_child_has_a_line_to_every_drawn_switch():
    wide, narrow = trees(draw(topology("h100_pod_1024")))
    assert lines(wide, "scaleup") == lines(narrow, "scaleup") == 8 * 4
    assert lines(wide, "scaleout") == 4 * 16 + 2 * 8
    assert lines(narrow, "scaleout") == 1 * 12 + 1 * 8  # one of the 13 places is the ellipsis
    wide, _ = trees(draw(topology("dgx1_v100")))
    assert lines(wide, "scaleup") == topology("dgx1_v100").links == 24


def test_ethernet_is_scale_out_and_an_unknown_switch_is_one():
    wide, _ = trees(draw(topology("llama3_24k")))
    assert "switches counted as one, from each pod 439 × 50 GB/s = 22 TB/s" in said(wide)
    assert lines(wide, "scaleout") and "1 rack switch" in said(wide)


def test_many_children_fold_and_unfold():
    whole = draw(topology("gb200_superpod_576"), fold=False)
    wide, folded = trees(whole)[0], trees(draw(topology("gb200_superpod_576")))[0]
    assert words(wide).count("rack") == 7 and words(folded).count("rack") == 1
    assert "…" in words(folded) and words(folded).count("71") == 1
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

    for sides, count in [((8,), 8), ((4, 8), 32), ((4, 4, 4), 64), ((16, 20, 28), 64), ((32, 2), 32)]:
        assert squares(trees(draw(Torus("t", sides, GB)))[0]) == count


def test_a_node_is_drawn_from_any_topology_and_a_mesh_of_any_shape():
    assert "Node: 8 GPUs" in said(trees(node_figure(topology("h100_pod_1024"), **SAID))[0])
    star = Mesh("star", ((0, 1, 1), (0, 2, 1), (0, 3, 2)), 20 * GB)
    wide, _ = trees(node_figure(star, **SAID))
    assert "4 GPUs, 1 to 4 links each, 20 GB/s out of a GPU." in said(wide) and lines(wide, "scaleup") == 4
    assert len(list(texts(wide))) == 6


@pytest.mark.parametrize(
    "call, error, says",
    [
        (lambda: network_figure(topology("dgx1_v100"), **SAID), TypeError, "expected a Topology"),
        (lambda: node_figure("dgx", **SAID), TypeError, "expected a Mesh or a Topology; got 'dgx'"),
        (lambda: torus_figure(topology("dgx_h100"), **SAID), TypeError, "expected a Torus"),
        (lambda: torus_figure(Torus("t", (3, 3, 3, 3), 1), **SAID), ValueError, "4 axes; expected at most 3"),
        (lambda: draw(topology("dgx_h100"), name="Bad Name"), ValueError, "name: "),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()
