"""Drawings to scale: a matmul with its two times, links as pipes, the ports of a switch."""

import re

import pytest

from gpuscale.plotting import Pipe, pipes, switch_figure, two_clocks
from gpuscale.specs import chip, link

H100 = chip("h100_sxm")
MATMUL = dict(D=4096, F=14336, name="clocks", caption="Weights are read once.")
NEAR = Pipe("its memory", "HBM", 3e12, 1e-6, "memory")
FAR = Pipe("another node", "network", 1e12, 2e-6, "scaleout")


def test_the_times_of_a_matmul_are_its_flops_and_bytes_over_the_speeds():
    still = two_clocks(H100, rows=(64, 1024), **MATMUL)
    for B in (64, 1024):
        math, weights, rest = map(float, re.search(rf"^{B} rows: (.*)$", repr(still), re.M)[1].split(", "))
        assert math == pytest.approx(2 * B * 4096 * 14336 / 989.4e12, rel=1e-3)
        assert weights == pytest.approx(2 * 4096 * 14336 / 3.35e12, rel=1e-3)
        assert rest == pytest.approx(2 * B * (4096 + 14336) / 3.35e12, rel=1e-3)
    with pytest.raises(ValueError, match="rows 0"):
        two_clocks(H100, rows=(0,), **MATMUL)


def test_the_longer_time_is_in_bold():
    bold = re.search(
        r'<g [^>]*font-weight="700"[^>]*>(?:(?!</g>).)*compute 122.µs', two_clocks(H100, rows=(1024,), **MATMUL).svg()
    )
    assert bold and "memory" not in bold[0]


def test_pipes_are_as_thick_as_their_bandwidth():
    still = pipes("a GPU", [NEAR, FAR], name="links", caption="The farther, the thinner.")
    for narrow in (False, True):
        drawn = re.findall(
            r'<path fill="var\(--(memory|scaleout)-bar[^>]*d="M[\d.]+ ([\d.]+)H[\d.]+V([\d.]+)', still.svg(narrow)
        )
        thick = {hue: abs(float(b) - float(a)) for hue, a, b in drawn}
        assert thick["memory"] == pytest.approx(3 * thick["scaleout"], rel=0.02)
    assert "1.00 µs" in still.alt.replace("\u00a0", " ")


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="sources: the list is empty"):
        pipes("a GPU", [], name="links", caption="None.")
    with pytest.raises(ValueError, match="pipe 'x'"):
        pipes("a GPU", [Pipe("x", "y", 0, 1, "memory")], name="links", caption="None.")


def test_a_switch_has_its_ports_and_each_gpu_its_bundle():
    die = {"gpus": 8, "bundle": 5, "name": "die", "caption": "Ports."}
    still = switch_figure(link("nvlink_4"), talks=((0, 6),), **die)
    for narrow in (False, True):
        squares = {hue: 0 for hue in ("scaleup", "wait")}
        for hue, data in re.findall(r'<path fill="var\(--(\w+)-bar[^>]* d="([^"]*)"', still.svg(narrow)):
            squares[hue] = squares.get(hue, 0) + data.count("M")
        assert (squares["scaleup"], squares["wait"]) == (40, 24)
    with pytest.raises(ValueError, match="9 links on 64 ports"):
        switch_figure(link("nvlink_4"), talks=(), **die | {"bundle": 9})
    with pytest.raises(ValueError, match="one pair"):
        switch_figure(link("nvlink_4"), talks=((0, 1), (1, 2)), **die)
