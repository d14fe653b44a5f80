"""A live figure without a script: its table counts in whole numbers, and its sentence is that of the opening state."""

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup

from gpuscale.collectives import ring_all_gather
from gpuscale.symbols import N, V, W, alpha
from gpuscale.units import GB, MB, NBSP
from gpuscale.widgets import Axis, Bound, LiveCurve, Slider, Value, View, explore
from gpuscale.widgets.static_face import rows_at

SAID = "**{N}** ranks take {y}, {half}: {bound}."


def ring(x=N, **more):
    ends = {N: (2, 1024, 8), V: (1e3, 1e9, 64 * MB)}
    axis = Axis(*ends[x][:2])
    wait, wire = (N - 1) * alpha, (N - 1) * V / (N * W)
    return explore(
        ring_all_gather,
        x,
        name="ring in a test",
        title="Ring",
        caption="<b>It grows.</b>",
        sliders={q: Slider(lo, hi, start) for q, (lo, hi, start) in ends.items()},
        fixed={W: 50 * GB, alpha: 1e-6},
        axes=(axis, Axis(1e-6, 1)),
        bounds=[Bound("steps", "wait", wait, "In {y}."), Bound("bytes", "scaleup", wire, SAID)],
        curves=[LiveCurve(ring_all_gather, "time", "at {W}", now=True)],
        values={"half": Value(V / 2, "B")},
        **more,
    )


def fallback(figure, monkeypatch, **more):
    monkeypatch.delenv("GPUSCALE_DIGEST", raising=False)
    return BeautifulSoup(figure(**more).html, "html.parser").select_one(".fallback")


def test_counts_are_powers_of_two_and_exact(monkeypatch):
    page = fallback(ring, monkeypatch)
    assert [row.td.text for row in page.select("tbody tr")] == ["2", "8", "32", "128", "512", "1,024"]
    assert [cell.text for cell in page.select("th")] == ["ranks of the collective (world size)", f"at 50.0{NBSP}GB/s"]
    for lo, hi, log in ((2, 72, True), (8, 32768, True), (1, 9, True), (1, 8, False)):
        rows = rows_at(lo, hi, log, True, "1")
        assert (rows == rows.round()).all() and 3 < len(rows) <= 9 and lo <= rows[0] and hi / 1.2 <= rows[-1] <= hi


def test_bytes_go_by_decades(monkeypatch):
    rows = [row.td.text for row in fallback(ring, monkeypatch, x=V).select("tbody tr")]
    assert rows == [f"{n}{NBSP}{u}B" for u in "kM" for n in (1, 10, 100)] + [f"1{NBSP}GB"]
    assert np.isclose(rows_at(1e3, 1e9, True, False, "B"), 10.0 ** np.arange(3, 10)).all()


def test_the_sentence_of_the_opening_state_stands_there(monkeypatch):
    state = fallback(ring, monkeypatch).select_one(".state")
    time = ring_all_gather(N=8, V=64 * MB, W=50 * GB, alpha=1e-6)
    assert state.text == f"8 ranks take {1e3 * time:.2f}{NBSP}ms, 32.0{NBSP}MB: bytes."
    assert state.select_one("b.scaleup").text == "bytes" and state.b.text == "8"


def test_a_view_says_in_which_hue_its_links_are_drawn(monkeypatch):
    views = [View("InfiniBand", {W: 25 * GB}, hues={"scaleup": "scaleout"})]
    figure = ring(views=views, ends=True)
    spec = json.loads(figure.spec)
    assert spec["views"][0]["hues"] == {"scaleup": "scaleout"} and spec["ends"] is True
    page = fallback(ring, monkeypatch, views=views)
    assert page.select_one(".state b.scaleout").text == "bytes" and "at 25.0" in page.th.find_next("th").text
    time = ring_all_gather(N=2, V=64 * MB, W=25 * GB, alpha=1e-6)  # the table is of that view too
    assert page.select("tbody td")[1].text == f"{1e3 * time:.2f}{NBSP}ms"
    with pytest.raises(ValueError, match="view InfiniBand: hue 'red' is not known"):
        ring(views=[View("InfiniBand", {}, hues={"scaleup": "red"})])
