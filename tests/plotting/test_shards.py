"""Figures of who holds which part: they keep the rules of all figures and tell their data."""

import re

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES
from plotting.test_plotting import trees, words

from gpuscale.llm import replicated_state, zero1_state, zero2_state, zero3_state
from gpuscale.plotting import causal_figure, ring_blocks_figure, sharded_mlp_figure, zero_figure

SAID = {"name": "part", "caption": "It is shared. More."}
STATE = {"weights": 2, "gradients": 2, "optimizer": 12}
LAYOUTS = {"Contiguous": [0, 1, 2, 3], "Zigzag": [0, 1, 2, 3, 3, 2, 1, 0]}


def zero(stored=(16, 7, 5.5, 4), **more):
    return zero_figure(STATE, stored, (3, 3, 3, 4.5), **SAID | more)


def mlp():
    return sharded_mlp_figure(**SAID)


def ring():
    return ring_blocks_figure(**SAID)


def causal():
    return causal_figure(LAYOUTS, **SAID)


@pytest.fixture(scope="module", params=[zero, mlp, ring, causal], ids=lambda make: make.__name__)
def figure(request):
    return request.param()


@pytest.mark.parametrize("rule", RULES)
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


def colours(tree) -> dict[str, float]:
    """The filled area of each GPU's color."""
    found: dict[str, float] = {}
    for path in tree.iter(f"{test_plotting.SVG}path"):
        fill = path.get("fill") or ""
        if "--rank" in fill:
            for part in path.get("d").split("Z")[:-1]:
                xs, ys = _corners(part)
                found[fill[6:11]] = found.get(fill[6:11], 0) + abs(_area(xs, ys))
    return found


def _corners(data: str):
    x = y = 0.0
    xs, ys = [], []
    for kind, numbers in re.findall(r"([MLHV])([-\d. ]+)", data):
        values = [float(v) for v in numbers.split()]
        x = values[0] if kind in "MLH" else x
        y = values[-1] if kind in "MLV" else y
        xs.append(x)
        ys.append(y)
    return xs, ys


def _area(xs, ys) -> float:
    return sum(xs[i - 1] * ys[i] - xs[i] * ys[i - 1] for i in range(len(xs))) / 2


def test_each_gpu_owns_as_much_as_every_other():
    for make in (zero, mlp):
        for tree in trees(make()):
            owned = colours(tree)
            assert len(owned) == 4 and max(owned.values()) == pytest.approx(min(owned.values()), rel=0.12)


def test_the_drawn_shares_are_the_bytes_of_the_formulas():
    given = dict(P=1, b_w=2, b_grad=2, b_opt=12)
    stored = [replicated_state(**given), *(f(**given, X=4) for f in (zero1_state, zero2_state, zero3_state))]
    for tree in trees(zero(stored)):
        found = words(tree)
        assert all(f"{held:.3g} B" in found for held in stored)
    with pytest.raises(ValueError, match="four stages"):
        zero((16, 7))


def test_a_zigzag_shares_the_work_and_a_row_does_not():
    for tree in trees(causal()):
        found = words(tree)
        assert [w for w in found if w.endswith("%")] == ["6%", "19%", "31%", "44%"] and "25% per GPU" in found
    assert "GPU 3 0.438" in causal().text and "GPU 3 0.250" in causal().text


def test_every_block_of_keys_visits_every_gpu_once():
    said = [w for w in words(trees(ring())[0]) if w.startswith("K")]
    rows = [said[i : i + 4] for i in range(0, 16, 4)]
    assert all(len(set(row)) == 4 for row in rows) and all(len(set(column)) == 4 for column in zip(*rows, strict=True))
    assert [row[0] for row in rows] == ["K0 V0", "K1 V1", "K2 V2", "K3 V3"]
