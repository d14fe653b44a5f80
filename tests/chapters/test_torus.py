"""The chapter on tori: what it says of a slice without wraparound, and the crossing in its figure, recounted."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from gpuscale.network import ring_load_even, ring_load_odd, torus_all_gather
from gpuscale.schedules.collectives import exchange, torus
from gpuscale.schedules.collectives.routes import TorusRoutes
from gpuscale.specs import chip
from gpuscale.units import show

PAGE = Path(__file__).parents[2] / "chapters" / "torus.ipynb"


def text():
    """All that the page shows as text."""
    cells = json.loads(PAGE.read_text())["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    return "\n".join("".join(out.get("data", {}).get("text/plain", out.get("text", ""))) for out in outputs)


@pytest.mark.parametrize("n", range(4, 12))
def test_an_open_line_takes_twice_as_long_as_a_ring(n):
    exchanged = max(Fraction(left * (n - left), n * n) for left in range(1, n))  # blocks over each link, one direction
    ring = ring_load_odd(V=1, N=n) if n % 2 else ring_load_even(V=1)
    assert float(exchanged) == pytest.approx(2 * ring, rel=1e-12)
    gathered = Fraction(n - 1, n)  # everything that the chip at an end lacks comes over its one link
    assert float(gathered) == pytest.approx(2 * torus_all_gather(V=1, N=n, W=1, n_dim=1), rel=1e-12)


def table(under):
    """The rows of a table that the page shows: {first cell: the others}."""
    rows = text().partition(under)[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows if "|" in row]
    return {first: rest for first, *rest in cells}


def shown_all_to_alls() -> dict:
    """Seconds of the all-to-all of 1 GB by number of chips in the figure: on a torus, through switches."""
    rows = table("start: n_x = 16").items()
    return {int(n.replace(",", "")): tuple(map(seconds, row[:2])) for n, row in rows if n[0].isdigit()}


def seconds(text):
    number, unit = text.split()
    return float(number) * {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]


def test_the_figure_shows_the_blocks_that_schedules_move():
    """1 GB on links of 100 GB/s, and on nodes of 8 with NICs of 50 GB/s; three digits are shown."""
    shown = shown_all_to_alls()
    load = max(torus.all_to_all((2, 2, 2)).per_link(TorusRoutes((2, 2, 2))).values())
    assert shown[8][0] == pytest.approx(float(load) * 1e9 / 100e9, rel=5e-3)
    for nodes in (4, 16):
        out = exchange.all_to_all(8 * nodes).between(range(8), range(8, 8 * nodes))
        assert shown[8 * nodes][1] == pytest.approx(float(out) * 1e9 / (8 * 50e9), rel=5e-3)


def test_torus_and_nics_are_equal_where_the_page_says():
    """Sides of 16: the torus wins below, the NICs above, and at 16 x 16 x 16 a chip gets what a NIC carries."""
    shown = {n: times for n, times in shown_all_to_alls().items() if n > 8}  # eight GPUs need no NIC
    assert {n for n, (torus, nics) in shown.items() if torus < nics} == {n for n in shown if n < 16**3}
    assert {n for n, (torus, nics) in shown.items() if torus > nics} == {n for n in shown if n > 16**3}
    each = table("| Torus of TPU v5p |")["All-to-all, per chip"][-1]
    assert each.split() == show(chip("h100_sxm").nic_bw, "B/s", short=True).split()
