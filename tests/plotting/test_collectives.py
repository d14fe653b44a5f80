"""Collectives, trees and routed tokens that draw themselves: the rules of all figures, and drawing against schedule."""

import re

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES, lines
from plotting.test_plotting import trees as drawings
from plotting.test_plotting import words

from gpuscale.plotting import holdings_figure, hops_figure, routing_figure, tree_figure
from gpuscale.schedules.collectives import direct, exchange, in_network, primitives, ring, trees

SAID = {"name": "moved", "caption": "It moves. More."}
GALLERY = {name: make(4) for name, make in direct.SCHEDULES.items() if name != "barrier"}
ROOTS = ("broadcast", "scatter", "gather", "reduce", "send_recv")
CHOICE = exchange.random_choice(8, experts=8, k=2, seed=1)
PHASES = {i: f"phase {i}" for i in range(1, 5)}
FIGURES = {
    "roots": lambda: holdings_figure({n: GALLERY[n] for n in ROOTS}, **SAID),
    "gallery": lambda: holdings_figure({n: s for n, s in GALLERY.items() if n not in ROOTS}, columns=(2, 2), **SAID),
    "alone": lambda: holdings_figure({"All-to-all": direct.all_to_all(4)}, columns=(1, 1), **SAID),
    "ring": lambda: hops_figure(ring.all_gather(4), {i: f"step {i}" for i in range(4)}, **SAID),
    "sums": lambda: hops_figure(ring.reduce_scatter(3), {0: "start", 2: "end"}, **SAID),
    "switch": lambda: hops_figure(in_network.all_reduce(4), PHASES, columns=(2, 1), **SAID),
    "two trees": lambda: tree_figure(dict(zip("ab", trees.double_parents(8), strict=True)), **SAID),
    "steps": lambda: tree_figure({"one": [-1, 0, 0, 1]}, levels=[0, 1, 2, 2], **SAID),
    "routed": lambda: routing_figure(CHOICE, experts=8, gpus=4, **SAID),
}


@pytest.fixture(scope="module", params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


@pytest.mark.parametrize("rule", RULES)
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


def test_the_gallery_shows_what_the_definitions_promise():
    """Each rank gives parts with the powers of ten of its rank; the letters after a collective name the result."""
    given = {rank: [10**rank * (part + 1) for part in range(4)] for rank in range(4)}
    told = dict(record.split(": ", 1) for record in FIGURES["gallery"]().text.splitlines()[1:-1])
    for name, define in (("reduce_scatter", primitives.reduce_scatter), ("all_to_all", primitives.all_to_all)):
        after = told[name].split("; after ")[1].split(", ")
        for rank, result in enumerate(define(list(given.values()))):
            cells = after[rank].removeprefix(f"rank {rank} ").split()
            sums = [sum(given[r][ord(c[1]) - 65] for r in given) if c[0] == "Σ" else None for c in cells]
            one = [given[int(c[1])][ord(c[0]) - 65] if c[0] != "Σ" else None for c in cells]
            assert [a or b for a, b in zip(sums, one, strict=True)] == list(result)


def test_a_step_of_the_ring_has_an_arrow_for_each_transfer():
    for tree in drawings(hops_figure(ring.all_gather(4), {2: "two"}, **SAID)):
        assert lines(tree, "scaleup") == 4
    for tree in drawings(hops_figure(in_network.all_reduce(4), {1: "one"}, **SAID)):
        assert lines(tree, "scaleup") == len(in_network.all_reduce(4)[0]) == 12
        assert "the switch adds" in words(tree)


def test_every_rank_but_the_root_has_an_edge():
    for parents in trees.double_parents(8):
        for tree in drawings(tree_figure({"tree": parents}, **SAID)):
            assert lines(tree, "scaleup") == 7
    assert "a: 0 to 4, 2 to 1 and 3, 4 to 2 and 6, 6 to 5 and 7" in FIGURES["two trees"]().text


def test_a_token_has_one_line_for_each_gpu_that_it_reaches():
    hit = exchange.hit_shards(CHOICE, experts=8, shards=4)
    home = sum(hit[token, token // 2] for token in range(8))
    for tree in drawings(FIGURES["routed"]()):
        assert (lines(tree, "scaleup"), lines(tree, "wait")) == (hit.sum() - home, home)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: holdings_figure({}, **SAID), "expected something to draw"),
        (lambda: hops_figure(ring.all_gather(8), {1: "one"}, **SAID), "at most 5 ranks; got 8"),
        (lambda: tree_figure({"none": [0, 0]}, **SAID), "one root each"),
        (lambda: routing_figure(CHOICE, experts=8, gpus=3, **SAID), "multiples of 3 GPUs"),
    ],
)
def test_refusals_say_what_was_expected(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
