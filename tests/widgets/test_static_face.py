"""A live figure without a script shows what the script shows first: curves, dots, regions, axes, labels, sentence.

The script runs in an engine without a page. Its plot and the still one are compared as drawings; the numbers behind
them as numbers.
"""

import json

import numpy as np
import pytest
from browser import twin
from browser.bookpages import calling
from bs4 import BeautifulSoup
from py_mini_racer import MiniRacer

from gpuscale.book.served import tight_script
from gpuscale.collectives import ring_all_gather
from gpuscale.plotting import Axis, Crossing, Curve, Points
from gpuscale.plotting.drawing.ink import bare, width
from gpuscale.plotting.drawing.sheet import Sheet
from gpuscale.symbols import N, V, W, alpha
from gpuscale.units import GB, MB, NBSP
from gpuscale.widgets import Bound, Call, Slider, Value, View, assets, explore
from gpuscale.widgets.static_face import SIZE, Opening

SAID = "**{N}** ranks take {y}, {half}: {bound}."


def ring(x=N, **more):
    ends = {N: (2, 1024, 8), V: (1e3, 1e9, 64 * MB)}
    wait, wire = (N - 1) * alpha, (N - 1) * V / (N * W)
    filled = {
        "name": "ring in a test",
        "title": "Ring",
        "caption": "<b>It grows.</b>",
        "sliders": {q: Slider(lo, hi, start) for q, (lo, hi, start) in ends.items()},
        "fixed": {W: 50 * GB, alpha: 1e-6},
        "axes": (Axis(*ends[x][:2]), Axis(1e-6, 1)),
        "bounds": [Bound("steps", "wait", wait, "In {y}."), Bound("bytes", "scaleup", wire, SAID)],
        "curves": [Curve(ring_all_gather, "at {W}", name="time", now=True)],
        "values": {"half": Value(V / 2, "B")},
    }
    return explore(ring_all_gather, x, **filled | more)


def crowded(**more):
    """A figure with all that a figure can hold: curves that end, dots, crossings, a view with other links."""
    drawn = [
        Curve(ring_all_gather, "all of it", name="time", now="InfiniBand"),
        Curve((N - 1) * alpha, "waiting", "wait", "approx", hi=V / (4 * MB)),
        Curve((N - 1) * V / (N * W), "moving {V}", "scaleup", "other", lo=4),
        Curve(V / W, "never less", "plain"),
    ]
    more = {"views": [View("InfiniBand", {W: 25 * GB}, hues={"scaleup": "scaleout"}), View("NVLink", {})]} | more
    dots = [Points(16, 3e-3, "measured", "scaleup"), Points(N, 2e-4, solid=True)]
    return ring(curves=drawn, points=dots, crossings=[Crossing(V / (W * alpha), "equal", low=True)], **more)


MADE = {
    "over ranks": ring,
    "over bytes": lambda: ring(x=V),
    "all parts": crowded,
    "in a column": lambda: crowded(ends=True),
    "linear": lambda: ring(axes=(Axis(2, 64, log=False), Axis(0, 5e-3, "time", log=False))),
    "dragged": lambda: explore(
        ring_all_gather,
        W,
        name="dragged",
        title="Dragged",
        caption="<b>It moves.</b>",
        sliders={V: Slider(1e3, 1e9, 1 * MB), N: Slider(2, 1024, 8)},
        fixed={alpha: 1e-6},
        at=V / 1e-3,
        drag={V: 1e-3 * W},
        say="It takes {y}.",
        axes=(Axis(1e8, 1e12), Axis(1e-6, 1)),
        call=Call("ring", "", {V: None, N: None}),
    ),
}


@pytest.fixture(scope="module")
def script():
    """The page's script, with a stand-in for what measures text in a page: the widths that still figures have."""
    widths = [{c: width(c, bold, 1) for c in map(chr, range(32, 0x2300))} for bold in (False, True)]
    page = f"""globalThis.WIDTHS = {json.dumps(widths)};
      globalThis.getComputedStyle = () => ({{}});
      globalThis.document = {{ createElement: () => ({{ getContext: () => ({{
        measureText(text) {{
          const table = WIDTHS[+this.font.startsWith('700')];
          return {{ width: [...text].reduce((sum, c) => sum + 12.5 * (table[c] ?? .556), 0) }};
        }},
      }}) }}) }}; null"""
    with MiniRacer() as engine:
        engine.eval(page)
        engine.eval(f"{tight_script(assets.script())}; null")
        engine.eval("""function first(spec, xs, width) {
          const m = gpuscale.model(spec), s = m.compose(width), svg = { setAttribute(k, v) { this[k] = v; } };
          const curves = s.curves.map((c, i) => ({ ...c, ys: xs[i].map((x) => String(c.f(x))) }));
          const box = gpuscale.plot(svg, s, width, 'id', new Map());
          return JSON.stringify({ ...s, curves, box, svg: `<svg>${svg.innerHTML}</svg>`, sentence: m.sentence() });
        }; null""")
        yield lambda spec, xs: json.loads(engine.eval(f"first({spec}, {json.dumps(xs)}, {SIZE[0]})"))


class Faces:
    """The still face of a figure and the first state of its script, in numbers and as drawings."""

    def __init__(self, made, script):
        opening = Opening(made.maker, made.spec)
        self.spec, self.chart, self.sentence = made.spec, opening.chart(), opening.sentence()
        self.sheet = Sheet(made.spec["id"], *SIZE, narrow=False)
        self.chart.paint(self.sheet)
        self.live = script(json.dumps(made.spec), [list(map(float, c.formula[0])) for c in self.chart.curves])
        self.still, self.plot = (BeautifulSoup(drawing, "html.parser") for drawing in (self.svg, self.live["svg"]))

    @property
    def svg(self) -> str:
        return self.sheet.svg(f"{self.spec['title']}: in its first state; the table below has its numbers")


@pytest.fixture(scope="module", params=[*MADE, *calling("explore")])
def faces(request, script):
    """Both faces of the figures made here, and of those of each page in turn."""
    if request.param not in MADE:
        return [Faces(made, script) for made in twin.figures(request.param).values()]
    with twin.keeping() as found:
        MADE[request.param]()
    return [Faces(made, script) for made in found.values()]


def plain(element) -> str:
    return element.text.replace("\u200b", "")


def test_both_faces_have_the_same_axes(faces):
    """Titles, ranges, and every tick at its place, to half a pixel."""
    for face in faces:
        for axis, other in ((face.chart.x, face.live["x"]), (face.chart.y, face.live["y"])):
            assert (axis.heading, axis.lo, axis.hi, axis.log) == tuple(other[k] for k in ("title", "lo", "hi", "log"))
        titles = [plain(t) for t in face.plot.select(".title")]
        assert titles == [face.chart.y.heading, face.chart.x.heading]
        for anchor, side in (("middle", "x"), ("end", "y")):
            drawn = [t for g in face.still.select(f'g[fill*="--soft"][text-anchor={anchor}]') for t in g.select("text")]
            other = face.plot.select(f".tick[text-anchor={anchor}]")
            assert [plain(t) for t in drawn] == [plain(t) for t in other] and len(drawn) > 1
            places, others = ([float(t[side]) for t in texts] for texts in (drawn, other))
            assert places == pytest.approx(others, abs=0.5)


def test_both_faces_have_the_same_curves(faces):
    """Their names, looks, ends and values."""
    looks = {"approx": "dashed", "other": "thin", "exact": ""}
    for face in faces:
        assert len(face.chart.curves) == len(face.live["curves"]) > 0
        for curve, other in zip(face.chart.curves, face.live["curves"], strict=True):
            assert curve.label == other.get("text", "") and bool(curve.now) == other["must"]
            assert looks[curve.style] in other["cls"] and ("thin" in other["cls"]) == (curve.style == "other")
            hue = other.get("hue", "auto")
            assert curve.hue.replace("auto", hue if not face.chart.regions else "auto") == hue
            xs, ys = curve.formula
            low = max(other["lo"], xs[0]) if face.live["x"]["lo"] < 1 else other["lo"]
            assert (xs[0], xs[-1]) == pytest.approx((low, other["hi"]), rel=1e-9)
            assert ys == pytest.approx(np.array(other["ys"], dtype=float), rel=1e-9, nan_ok=True)


def test_both_faces_have_the_same_regions(faces):
    for face in faces:
        regions, others = face.chart.regions, face.live["regions"]
        assert [(r.name, r.hue) for r in regions] == [(r["name"], r["hue"]) for r in others]
        for region, other in zip(regions, others, strict=True):
            ends, wanted = (face.chart.x.place(v, 0, 1) for v in ((region.lo, region.hi), (other["lo"], other["hi"])))
            assert ends == pytest.approx(wanted, abs=1e-4)


def test_both_faces_have_the_same_dots(faces):
    """Crossings, points, and where the state is."""
    for face in faces:
        chart, dots = face.chart, face.live["dots"]
        drawn = [(c.x, c.y, c.text, "plain", True) for c in chart.crossings]
        drawn += [(p.x, p.y, p.label, p.hue, p.solid) for p in (*chart.dots, chart.here)]
        assert len(drawn) == len(dots)
        for (x, y, text, hue, solid), dot in zip(drawn, dots, strict=True):
            assert (x, y) == pytest.approx((dot["x"], dot["y"]), rel=1e-9)
            assert (text, hue, solid) == (dot.get("text", ""), dot["hue"], not dot.get("open"))
        assert [c.low for c in chart.crossings] == [bool(dot.get("low")) for dot in dots[: len(chart.crossings)]]


def test_both_faces_write_the_same_names(faces):
    """What the script finds room for is on the still face as well, which writes no others."""
    for face in faces:
        scene = [*face.live["curves"], *face.live["dots"]]
        full = {bare(one["text"]) for one in scene if one.get("text")}
        short = {one["short"]: bare(one["text"]) for one in scene if one.get("short")}
        written, others = (
            {bare(word) for word in face.sheet.words},
            [plain(t) for t in face.plot.select(".label:not(.flat)")],
        )
        assert written <= full and {short.get(word, word) for word in others} <= written
        assert face.chart.ends == face.live["ends"]


def test_a_curve_on_the_thick_one_has_no_name_of_its_own(script):
    twice = [Curve(ring_all_gather, "time", now=True), Curve(ring_all_gather.rhs * 1.001, "again", style="other")]
    with twin.keeping() as found:
        ring(curves=twice)
    face = Faces(*found.values(), script)
    assert (
        [bare(word) for word in face.sheet.words]
        == [plain(t) for t in face.plot.select(".label:not(.flat)")]
        == ["time"]
    )


def test_both_faces_say_the_same(faces):
    for face in faces:
        assert face.sentence == face.live["sentence"] != ""


def test_the_page_holds_the_still_face(monkeypatch, script):
    monkeypatch.delenv("GPUSCALE_DIGEST", raising=False)
    with twin.keeping() as found:
        crowded()
    (made,) = found.values()
    assert Faces(made, script).svg in drawn(crowded, monkeypatch)


def drawn(figure, monkeypatch, **more) -> str:
    monkeypatch.delenv("GPUSCALE_DIGEST", raising=False)
    return figure(**more).html


def fallback(figure, monkeypatch, **more):
    return BeautifulSoup(drawn(figure, monkeypatch, **more), "html.parser").select_one(".fallback")


def test_the_table_has_the_values_of_the_ticks(monkeypatch):
    page = fallback(ring, monkeypatch)
    assert [row.td.text for row in page.select("tbody tr")] == ["2", "8", "32", "128", "512"]
    assert [cell.text for cell in page.select("th")] == ["ranks of the collective (world size)", f"at 50.0{NBSP}GB/s"]
    rows = [row.td.text for row in fallback(ring, monkeypatch, x=V).select("tbody tr")]
    assert rows == [f"{n}{NBSP}{u}B" for u in "kM" for n in (1, 10, 100)] + [f"1{NBSP}GB"]


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
    with pytest.raises(ValueError, match="view InfiniBand: hue 'red' has no meaning here"):
        ring(views=[View("InfiniBand", {}, hues={"scaleup": "red"})])
