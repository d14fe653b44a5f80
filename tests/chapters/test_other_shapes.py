"""Chapter 6: what it says of a slice without wraparound, and of the crossing in its figure, counted afresh."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from gpuscale.collectives import node_all_to_all
from gpuscale.network import both_ways_all_gather, cube_all_to_all, ring_load_even, ring_load_odd

PAGE = Path(__file__).parents[2] / "chapters" / "other_shapes.ipynb"


def text():
    """All that the page shows as text."""
    cells = json.loads(PAGE.read_text())["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    return "\n".join("".join(out.get("data", {}).get("text/plain", out.get("text", ""))) for out in outputs)


@pytest.mark.parametrize("n", range(4, 12))
def test_an_open_line_takes_twice_as_long_as_a_ring(n):
    exchanged = max(Fraction(left * (n - left), n * n) for left in range(1, n))  # blocks over each link, one way
    ring = ring_load_odd(V=1, N=n) if n % 2 else ring_load_even(V=1)
    assert float(exchanged) == pytest.approx(2 * ring, rel=1e-12)
    gathered = Fraction(n - 1, n)  # all that the chip at an end lacks comes over its one link
    assert float(gathered) == pytest.approx(2 * both_ways_all_gather(V=1, N=n, W=1), rel=1e-12)


def test_torus_and_nics_are_equal_where_the_page_says():
    """Sides of 16 against NICs of 50 GB/s: just below 16 cubed, by the blocks that stay in their node."""
    side = next(a for a in (15.9 + i / 1e4 for i in range(2000)) if on_torus(a) >= on_nics(a))
    assert 4000 < side**3 < 4096
    assert cube_all_to_all(V=1, D_1=16, n_dim=3, W=100e9) > node_all_to_all(V=1, M=512, W_node=8 * 50e9)


def on_torus(side):
    return side / (8 * side**3 * 100e9)


def on_nics(side):
    return (1 - 8 / side**3) / (side**3 * 50e9)


def test_every_verdict_of_the_ledger_is_one_that_the_text_explains():
    off = re.findall(r"^(.*): published .* disagrees", text(), re.M)
    assert len(off) == 10, off
