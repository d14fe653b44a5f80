"""Pictures of processors: what every drawing must be, and that they show what the data say."""

import re

import pytest
from plotting import test_plotting
from plotting.test_networks import RULES
from plotting.test_plotting import trees, words

from gpuscale.plotting import chips_figure, sectors_figure, tile_figure
from gpuscale.specs import chip

SAID = {"name": "drawn", "caption": "It is drawn. More."}
SVG = "{http://www.w3.org/2000/svg}"
STRIDES = {f"a[{n} i]": [4 * n * i for i in range(8)] for n in (1, 2, 8)}


def chips(gpu="h100_sxm"):
    return chips_figure(chip(gpu), chip("tpu_v5p"), **SAID)


def sectors(patterns=STRIDES):
    return sectors_figure(patterns, **SAID)


def tile():
    return tile_figure(alt="A tile and two operands", **SAID)


FIGURES = [chips, lambda: chips("b200_sxm"), sectors, tile]


@pytest.fixture(scope="module", params=FIGURES)
def figure(request):
    return request.param()


@pytest.mark.parametrize("rule", [rule for rule in RULES if "caption" not in rule])
def test_every_drawing_keeps_the_rules_of_all_figures(figure, rule):
    getattr(test_plotting, rule)(figure)


@pytest.mark.parametrize("gpu", ["h100_sxm", "a100_sxm", "v100_sxm2"])
def test_every_sm_is_drawn(gpu):
    """A row of SMs is a thick line with gaps: as long as so many dashes and the gaps between them."""
    for tree in trees(chips(gpu)):
        count = 0
        for path in tree.iter(f"{SVG}path"):
            dash = path.get("stroke-dasharray")
            if dash and "--compute" in path.get("stroke"):
                one, gap = map(float, dash.split())
                for x0, x1 in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", path.get("d")):
                    count += round((float(x1) - float(x0) + gap) / (one + gap))
        assert count == chip(gpu).sm


def test_a_chip_says_what_it_has():
    for tree in trees(chips()):
        text = " | ".join(words(tree))
        assert "132 small processors" in text and "2 large cores" in text and text.count("4 matrix units") == 2


def test_sectors_are_counted():
    for tree in trees(sectors()):
        text = [t.replace("\u00a0", " ") for t in words(tree)]
        for expected in ("1 sector, 100%", "2 sectors, 50%", "8 sectors, 12.5%"):
            assert any(t.startswith(expected) for t in text), text


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="expected addresses of 4-byte words; got 3"):
        sectors({"odd": [0, 3]})
