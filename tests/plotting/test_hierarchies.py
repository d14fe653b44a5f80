"""Figures of collectives over nodes: what every drawing must be, and that counts and drawing agree."""

from fractions import Fraction

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES
from plotting.test_plotting import trees, words

from gpuscale.network import topology
from gpuscale.plotting import (
    chunks_figure,
    entrances_figure,
    parts_figure,
    rails_figure,
    ring_of_nodes_figure,
    slices_figure,
)
from gpuscale.units import GB, NBSP

SAID = {"name": "over-nodes", "caption": "It crosses the network. More."}
KEY = [("there", "wait", 0.4), ("comes in", "scaleout", 0.4)]
HALVES = [("2 nodes", [(Fraction(1, 2), "wait", "own"), (Fraction(1, 2), "scaleout", "the rest")])]
LINKS = [("NICs", "scaleout"), ("NVLink", "scaleup")]
FIGURES = {
    "ring": lambda **more: ring_of_nodes_figure(topology("h100_pod_1024"), **SAID | more),
    "entrances": lambda **more: entrances_figure(8, 50 * GB, 450 * GB, **SAID | more),
    "rails": lambda **more: rails_figure(**SAID | more),
    "parts": lambda **more: parts_figure(HALVES, key=KEY, **SAID | more),
    "chunks": lambda **more: chunks_figure(1e-3, 2e-3, (1, 4), names=LINKS, **SAID | more),
    "slices": lambda **more: slices_figure(4, (4, 8), **SAID | more),
}


@pytest.fixture(scope="module", params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


@pytest.mark.parametrize("rule", [rule for rule in RULES if "folded" not in rule])
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


def said(name: str, **more) -> str:
    return " | ".join(words(trees(FIGURES[name](**more))[0])).replace(NBSP, " ")


def test_the_ring_says_what_the_pod_has():
    assert "unit 1: 32 nodes" in said("ring") and "unit 4: 32 nodes" in said("ring")
    with pytest.raises(ValueError, match="expected three levels; got 4"):
        ring_of_nodes_figure(topology("llama3_24k"), **SAID)
    with pytest.raises(TypeError, match="expected a Topology"):
        ring_of_nodes_figure(8, **SAID)


def test_a_gpu_has_one_stripe_from_its_nic_and_the_others_from_nvlink():
    text = said("entrances")
    assert "1 stripe" in text and "7 stripes" in text and "50 GB/s" in text and "450 GB/s" in text


def test_shares_of_a_bar_add_up():
    with pytest.raises(ValueError, match="expected shares that add up to one"):
        parts_figure([("2 nodes", [(Fraction(1, 3), "wait", "own")])], key=KEY, **SAID)


@pytest.mark.parametrize(
    "first, second, count, total", [(1, 2, 1, 3), (1, 2, 4, 2.25), (2, 1, 4, 2.25), (1, 1, 2, 1.5)]
)
def test_chunks_expose_the_faster_link_once(first, second, count, total):
    drawn = chunks_figure(first, second, (count,), names=LINKS, **SAID)
    assert f"{total:.2f} s" in repr(drawn).replace(NBSP, " ") or f"{total} s" in repr(drawn).replace(NBSP, " ")


def test_a_node_needs_its_own_slices():
    assert "Y = 8: a node needs 4 of 8 slices" in repr(FIGURES["slices"]())
