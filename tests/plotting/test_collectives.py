"""Collectives, trees and routed tokens that draw themselves: the rules of all figures, and drawing against schedule."""

import re

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES, lines
from plotting.test_plotting import texts, words
from plotting.test_plotting import trees as drawings

from gpuscale.collectives import all_reduce_bytes, nvls_bytes
from gpuscale.plotting import (
    double_tree_figure,
    holdings_figure,
    hops_figure,
    reduction_figure,
    routing_figure,
    transpose_figure,
    tree_figure,
)
from gpuscale.schedules.collectives import direct, exchange, in_network, primitives, ring, trees

SAID = {"name": "moved", "caption": "It moves. More."}
GALLERY = {name: make(4) for name, make in direct.SCHEDULES.items() if name != "barrier"}
ROOTS = ("broadcast", "scatter", "gather", "reduce", "send_recv")
CHOICE = exchange.random_choice(8, experts=8, k=2, seed=1)
COPIES = [[1, 0, 4], [2, 1, 0], [0, 3, 3]]
PHASES = {i: f"phase {i}" for i in range(1, 5)}
FIGURES = {
    "roots": lambda: holdings_figure({n: GALLERY[n] for n in ROOTS}, **SAID),
    "gallery": lambda: holdings_figure({n: s for n, s in GALLERY.items() if n not in ROOTS}, columns=(2, 2), **SAID),
    "alone": lambda: holdings_figure({"All-to-all": direct.all_to_all(4)}, columns=(1, 1), **SAID),
    "ring": lambda: hops_figure(ring.all_gather(4), {i: f"step {i}" for i in range(4)}, **SAID),
    "sums": lambda: hops_figure(ring.reduce_scatter(3), {0: "start", 2: "end"}, **SAID),
    "switch": lambda: hops_figure(in_network.all_reduce(4), PHASES, columns=(2, 1), **SAID),
    "tree": lambda: tree_figure(trees.broadcast(8), **SAID),
    "two trees": lambda: double_tree_figure(trees.double_tree_all_reduce(8, 4), **SAID),
    "reduction": lambda: reduction_figure(in_network.all_reduce(8), ring.all_reduce(8), **SAID),
    "transposed": lambda: transpose_figure(COPIES, counted="copies", **SAID),
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
    for tree in drawings(FIGURES["tree"]()):
        assert lines(tree, "scaleup") == 7
    for tree in drawings(FIGURES["two trees"]()):
        assert lines(tree, "scaleup") == 2 * 7
    told = FIGURES["two trees"]().text
    for which, parents in enumerate(trees.double_parents(8)):
        edges = told.split(f"tree {which + 1}: ")[1].split(";")[0].split(", ")
        pairs = {(edge.split(" to ")[0], child) for edge in edges for child in edge.split(" to ")[1].split(" and ")}
        assert pairs == {(str(parent), str(rank)) for rank, parent in enumerate(parents) if parent >= 0}


def test_two_trees_show_two_arrays_sent_by_each_rank_but_the_roots():
    for tree in drawings(FIGURES["two trees"]()):
        squares = squares_by_column(tree)
        assert squares == [2, 4, 4, 4, 4, 4, 4, 2]  # halves of the array; ranks 0 and 7 are the roots


def squares_by_column(tree) -> list[int]:
    """The small squares in the color of the network, from left to right by the rank over which they stand."""
    paths = [p for p in tree.iter(f"{test_plotting.SVG}path") if "--scaleup-bar" in p.get("fill", "")]
    starts = [float(x) for p in paths for x in re.findall(r"M([\d.]+)", p.get("d"))]
    pitch = (float(tree.get("width")) - 2) / 8
    return [sum(int((x + 4 - 1) // pitch) == rank for x in starts) for rank in range(8)]


def test_bands_through_a_switch_are_as_wide_as_the_formulas_bytes():
    """Eight links: four bands on each where the switch adds, and two in and two out where a ring passes through it."""
    for tree in drawings(FIGURES["reduction"]()):
        paths = [p for p in tree.iter(f"{test_plotting.SVG}path")]
        filled = [p for p in paths if "--scaleup-bar" in p.get("fill", "")]
        found = [box(part) for p in filled for part in p.get("d").split("Z") if part]
        bands = [right - left for left, top, right, low in found if low - top > 64]  # longer than the cables
        assert len(bands) == 8 * 4
        rings = [p for p in paths if "--scaleup-bar" in p.get("stroke", "")]
        widths = [float(p.get("stroke-width")) for p in rings for _ in re.findall("M", p.get("d"))]
        assert len(widths) == 8 * 2
        each = nvls_bytes(V=1, N=8) + nvls_bytes(V=1, N=8), all_reduce_bytes(V=1, N=8)  # up and down; up alone
        assert sum(bands) / sum(widths) == pytest.approx(each[0] / each[1], rel=0.01)
        assert sum(bands) / 8 == pytest.approx(9 * each[0], rel=0.01)  # 9 pixels for the whole array
        assert "each link: 1.75 V up, 1.75 V down" in words(tree)


def box(data: str) -> tuple[float, float, float, float]:
    """The ends of an upright rectangle in path data."""
    xs = [float(x) for x in re.findall(r"[MHL]([\d.]+)", data)]
    ys = [float(y) for y in re.findall(r"(?:M[\d.]+ |L[\d.]+ |V)([\d.]+)", data)]
    return min(xs), min(ys), max(xs), max(ys)


def test_an_exchange_turns_rows_into_columns_of_the_same_color():
    for tree in drawings(FIGURES["transposed"]()):
        numbers: dict[float, list] = {}  # by height: those in the middle of a cell, or over a column
        for text, style in texts(tree):
            if style.get("text-anchor") == "middle":
                numbers.setdefault(float(text.get("y")), []).append((float(text.get("x")), int(text.text)))
        rows = [[number for _, number in sorted(numbers[y])] for y in sorted(numbers)][1:]
        assert [row[:3] for row in rows] == COPIES
        assert [row[3:] for row in rows] == [list(column) for column in zip(*COPIES, strict=True)]
        colored: dict[str, list] = {}
        for path in tree.iter(f"{test_plotting.SVG}path"):
            if "--rank" in (fill := path.get("fill", "")):
                colored[fill[6:11]] = colored.get(fill[6:11], []) + [box(d) for d in path.get("d").split("Z") if d]
        third, fourth = sorted({left for found in colored.values() for left, *_ in found})[2:4]
        assert fourth - third > 50  # the two grids
        for found in colored.values():
            before = {top for left, top, *_ in found if left <= third}
            after = {left for left, *_ in found if left >= fourth}
            assert len(before) == len(after) == 1  # one row, and one column
    assert FIGURES["transposed"]().text.endswith("copies | 3 | 4 | 7")  # what each GPU ends with


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
        (lambda: tree_figure(trees.all_reduce(4), **SAID), "one transfer to each rank but one root"),
        (
            lambda: double_tree_figure(trees.double_tree_all_reduce(7, 2), **SAID),
            "even number of ranks up to 8; got 7",
        ),
        (lambda: reduction_figure(ring.all_reduce(8), ring.all_reduce(8), **SAID), "through a switch and a ring"),
        (lambda: reduction_figure(in_network.all_reduce(4), ring.all_reduce(8), **SAID), "expected four phases"),
        (lambda: transpose_figure([[1, 2]], counted="copies", **SAID), "a square matrix for 2 to 8 GPUs"),
        (lambda: routing_figure(CHOICE, experts=8, gpus=3, **SAID), "multiples of 3 GPUs"),
    ],
)
def test_refusals_say_what_was_expected(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
