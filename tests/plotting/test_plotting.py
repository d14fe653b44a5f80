"""Static figures: titles and ticks from the quantities, drawings that fit the page, digests that tell."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from gpuscale.one_gpu import matmul_intensity, vector_add_time
from gpuscale.plotting import (
    Axis,
    Bars,
    Block,
    Chart,
    Crossing,
    Curve,
    Note,
    Points,
    Region,
    Roof,
    Rung,
    Still,
    bars,
    blocks,
    curves,
    ladder,
    roofline,
)
from gpuscale.plotting.drawing.axis import rounded
from gpuscale.plotting.drawing.ink import bare, fold, width
from gpuscale.plotting.drawing.sheet import Sheet
from gpuscale.symbols import B, V, W, W_eff, Y, alpha, n
from gpuscale.units import GB, MB, NBSP, TB, TFLOP, kB, us

SVG = "{http://www.w3.org/2000/svg}"
EFFECTIVE = W * V / (V + alpha * W)


def intensity(name="intensity", formula=matmul_intensity, **more):
    drawn = [
        Curve(formula, "D = F = 1,024", "compute", given={"D": 1024, "F": 1024}),
        Curve(formula, "D = F = 8,192", "compute", given={"D": 8192, "F": 8192}),
        Curve(formula.approx, "rule", "compute", "approx"),
    ]
    more = {
        "x": B,
        "axes": Axis(1, 65536),
        "given": {"b": 2},
        "caption": "Large matrices obey the rule. More.",
        **more,
    }
    return curves(drawn, name=name, points=[Points([4096], [800], "measured", "compute")], **more)


def speed(**more):
    ends = {
        "x": V,
        "axes": (Axis(1 * kB, 10 * GB, "size"), Axis(log=False)),
        "given": {"alpha": 3 * us, "W": 900 * GB},
        "y": W_eff,
    }
    ends |= {"name": "speed", "caption": "Small transfers are slow. More."} | more
    return curves(Curve(EFFECTIVE, "W = 900 GB/s", "scaleup"), **ends)


def launch(**more):
    ends = {"x": n, "axes": Axis(1e3, 1e10, "elements"), "given": {"alpha": 3 * us, "b": 4, "W_hbm": 3.35 * TB}}
    ends |= {"name": "launch", "caption": "Short sums cost a launch. More."} | more
    regions = [Region("launch-bound", "wait", None, 8.4e5), Region("memory-bound", "memory", 8.4e5, None)]
    sums = [Curve(vector_add_time, "both", "memory")]
    sums += [Curve(vector_add_time.approx, "memory alone", "memory", "approx")]
    return curves(sums, regions=regions, crossings=[Crossing(8.4e5, "n = 838,000", y=6e-6)], **ends)


def rungs(**more):
    levels = [
        Rung("shared memory", 34.6 * MB, 33.4 * TB, "memory", short="SMEM"),
        Rung("HBM", 80 * GB, 3.35 * TB),
        Rung("node over NVLink", 640 * GB, 450 * GB, "scaleup", short="NVLink"),
        Rung("pod over InfiniBand", 82 * TB, 50 * GB, "scaleout", short="InfiniBand"),
    ]
    return ladder(levels, name="rungs", caption="Larger is slower. More.", **more)


def roofs(**more):
    drawn = [
        Roof("H100", 989.4 * TFLOP, 3.35 * TB),
        Roof("H200", 989.4 * TFLOP, 4.8 * TB),
        Roof("B200", 2250 * TFLOP, 8 * TB),
    ]
    kernels = [
        Points([8], [26.8 * TFLOP], "decode", "memory", solid=True),
        Points([777], [829 * TFLOP], "product", "compute"),
    ]
    return roofline(drawn, points=kernels, name="roofs", caption="Ridges move. More.", **more)


def grown(scale="times"):
    groups = [
        Bars("bf16, dense", "FLOP/s", "compute", {"A100": 312 * TFLOP, "H100": 989.4 * TFLOP, "none yet": None}),
        Bars("NVLink, one direction", "B/s", "scaleup", {"A100": 300 * GB, "H100": 450 * GB}),
    ]
    return bars(groups, name="grown", caption="Arithmetic grew most. More.", scale=scale)


@pytest.mark.parametrize("hue", ["compute", "memory", "scaleup", "scaleout"])
def test_words_in_boxes_in_boxes_can_be_read(hue):
    """At least 4.5:1 in both themes, by the formula of the web's guidelines for the mixed colors."""

    def light(color):
        linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    def colors(text):
        return np.array(
            [[int(hexed[i : i + 2], 16) / 255 for i in (1, 3, 5)] for hexed in re.findall("#[0-9a-f]{6}", text)]
        )

    figure = blocks(
        Block("a", "x", hue, [Block("b", "y", hue, [Block("c", "z", hue, fill=0.3)])]), name="n", caption="c", alt="d"
    )
    wide = figure.html.partition('<div class="narrow">')[0]
    ground = colors("#ffffff #14181e")
    named = {"var(--ink, currentColor)": colors("#1c222b #dfe4ea")}
    boxes = re.findall(r'<rect [^>]*fill="([^"]*)" fill-opacity="([^"]*)"', wide)
    written = {
        words: fill
        for fill, group in re.findall(r'<g fill="([^"]*)"[^>]*>(.*?)</g>', wide)
        for words in re.findall(">([a-z])</text>", group)
    }
    for (bar, strength), pair in zip(boxes, ("ax", "by", "cz"), strict=True):
        ground = ground + (colors(bar) - ground) * float(strength)
        for words in pair:
            text = named.get(written[words], colors(written[words]))
            for dark, bright in np.sort(np.stack([light(ground), light(text)], axis=1), axis=1):
                assert (bright + 0.05) / (dark + 0.05) >= 4.5, (words, written[words])


def machine():
    part = Block(
        "subpartition",
        inside=[
            Block("registers", "64 KB", "memory"),
            Block("32 fp32 lanes", hue="compute", cells=32),
        ],
    )
    whole = Block(
        "SM",
        inside=[
            Block(across=True, columns=2, inside=[part] * 4),
            Block("shared memory", "256 KB", "memory"),
            Block(across=True, gap=90, inside=[Block("L2", hue="memory"), Block("HBM")]),
        ],
    )
    return blocks(whole, name="machine", caption="Four parts share a memory. More.", alt="An SM in blocks")


def free():
    x = [1, 37, 64]

    def paint(sheet):
        chart = Chart(
            Axis(1, 64, "elements", unit="1"),
            Axis(0, 4e12, "throughput", unit="B/s"),
            [Curve((np.array(x), np.array([1e11, 3.35e12, np.nan])), "attained", "memory")],
            [Points([5, 9], [7e11, 9e11], "counted", "wait", solid=True, size=8)],
            notes=[Note(8, 3e12, "two\nlines", "soft", anchor="center"), Note(2, 2e12, "costs 1$ to 2$ & <more>")],
            areas=[([1, 64, 64, 1], [0, 0, 1e12, 1e12], "wait", 0.2)],
            grid=False,
        )
        chart.paint(sheet)
        sheet.box(60, 300, 20, 20, "compute", 0.2, hatch=True)

    return Still(paint, name="free", caption="Free. More.", alt="A free drawing")


FIGURES = [intensity, speed, launch, rungs, roofs, grown, machine, free]


@pytest.fixture(scope="module", params=FIGURES, ids=lambda f: f.__name__)
def figure(request):
    return request.param()


def trees(fig):
    return [ET.fromstring(fig.svg(narrow)) for narrow in (False, True)]


def words(tree):
    return ["".join(t.itertext()) for t in tree.iter(f"{SVG}text")]


def texts(tree):
    """Every text of a drawing with the style of its group."""
    for group in tree.iter(f"{SVG}g"):
        yield from ((text, group.attrib) for text in group.iter(f"{SVG}text"))


def extent(text, style):
    """The box of a level text: x0, y0, x1, y1, by the widths of the common sans faces."""
    x, y, bold = float(text.get("x")), float(text.get("y")), style.get("font-weight")
    parts = [(text.text or "", bold, 1.0)]
    for span in text:
        small = 0.8 if span.get("font-size") else 1.0
        parts += [(span.text or "", span.get("font-weight") or bold, small), (span.tail or "", bold, 1)]
    w = sum(width(t.replace("<", "‹"), bool(bold)) * k for t, bold, k in parts)
    x0 = x - w * {"middle": 0.5, "end": 1.0}.get(style.get("text-anchor"), 0.0)
    return x0, y - 9.5, x0 + w, y + 2.8


# What every drawing must be


def test_both_drawings_are_wellformed_and_have_the_columns_width(figure):
    wide, narrow = trees(figure)
    assert (wide.get("width"), narrow.get("width")) == ("656", "354")
    for tree in (wide, narrow):
        assert tree.get("viewBox") == f"0 0 {tree.get('width')} {tree.get('height')}"
    ET.fromstring(figure.html)  # one well-formed element


def test_ids_are_unique_on_the_page_and_begin_with_the_figures_name(figure):
    ids = re.findall(r'\bid="([^"]+)"', figure.html)
    assert len(ids) == len(set(ids))
    assert all(i == f"fig-{figure.name}" or i.startswith(f"fig-{figure.name}-") for i in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", figure.html)) <= set(ids)


def test_colours_are_page_colours_with_a_fallback(figure):
    for narrow in (False, True):
        svg = figure.svg(narrow)
        assert "var(--" in svg
        outside = re.sub(r"var\(--ink, currentColor\)|var\(--[\w-]+, light-dark\(#\w{6}, #\w{6}\)\)", "", svg)
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?!\))", re.sub(r"url\(#[^)]*\)", "", outside))
        assert "rgb" not in outside


def test_text_stays_text_and_says_what_is_drawn(figure):
    for tree in trees(figure):
        assert words(tree)
        assert not list(tree.iter(f"{SVG}use")) and not list(tree.iter(f"{SVG}image"))
        assert tree.get("role") == "img" and len(tree.get("aria-label")) > 8


def test_no_text_leaves_the_drawing(figure):
    for tree in trees(figure):
        w, h = float(tree.get("width")), float(tree.get("height"))
        assert len(words(tree)) == len(list(texts(tree)))
        for text, style in texts(tree):
            if text.get("transform"):
                continue
            x0, y0, x1, y1 = extent(text, style)
            slack = 1.5 + 0.04 * (x1 - x0)  # a face 4% wider than the usual ones still fits
            assert x0 > -slack and x1 < w + slack, "".join(text.itertext())
            assert y0 > -2 and y1 < h + 2, "".join(text.itertext())


def test_level_texts_do_not_cover_each_other(figure):
    for tree in trees(figure):
        level = [(t, style) for t, style in texts(tree) if not t.get("transform")]
        boxes = [(extent(t, style), "".join(t.itertext())) for t, style in level]
        for i, (a, first) in enumerate(boxes):
            for b, second in boxes[i + 1 :]:
                apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 3 or b[3] <= a[1] + 3
                assert apart, (first, second)


def test_a_figure_is_small(figure):
    assert len(figure.html) < 25_000


def test_the_caption_concludes_in_bold_and_numbers_are_folded(figure):
    html = figure.html
    assert re.search(r"<figcaption><b>[^<]*\.</b> More\.</figcaption>", html)
    assert html.startswith(f'<figure class="still" id="fig-{figure.name}">')
    if figure.table:
        assert "<details" in html and "<summary>The numbers</summary>" in html


# The digest


def test_the_digest_is_the_only_face_when_outputs_are_stored(figure, monkeypatch):
    monkeypatch.setenv("GPUSCALE_DIGEST", "1")
    assert list(figure._repr_mimebundle_()) == ["text/plain"]
    monkeypatch.setenv("GPUSCALE_DIGEST", "0")
    assert set(figure._repr_mimebundle_()) == {"text/html", "text/plain"}
    assert figure._repr_mimebundle_()["text/plain"] == figure.text == repr(figure)


@pytest.mark.parametrize("make", FIGURES, ids=lambda f: f.__name__)
def test_a_figure_is_the_same_every_time(make):
    assert make().text == make().text and make().html == make().html


def test_the_digest_shows_a_changed_formula():
    wrong = replace(matmul_intensity, rhs=matmul_intensity.rhs * 1.001)
    ours, theirs = intensity().text.splitlines(), intensity(formula=wrong).text.splitlines()
    changed = [a for a, b in zip(ours, theirs, strict=True) if a != b]
    assert len(changed) == 2 and all(line.startswith("solid D = F") for line in changed)


def test_the_digest_names_axes_units_and_each_curve():
    text = speed().text
    assert "x: size [B], log, 1000 to 1e+10" in text
    assert "y: effective bandwidth of a transfer, latency included [B/s], linear, 0 to 1e+12" in text
    top = 900e9 * 10e9 / (10e9 + 2.7e6)
    low = 900e9 * 1e3 / (1e3 + 2.7e6)
    assert f"solid W = 900 GB/s [scaleup]: 241 from (1000, {low:.6g}) to (1e+10, {top:.6g})" in text
    assert f"min {low:.6g}, max {top:.6g}" in text


def test_the_digest_holds_bars_regions_points_and_words():
    assert "bars bf16, dense [FLOP/s]: A100 3.12e+14, H100 9.894e+14, none yet none" in grown().text
    assert "region launch-bound: edge to 840000" in launch().text
    assert "points counted [wait]: 2 from (5, 7e+11) to (9, 9e+11), min 7e+11, max 9e+11" in free().text
    assert "two" in free().text.rpartition("words:")[2]


# Titles, ticks, styles


@pytest.mark.parametrize(
    "make, titles",
    [
        (intensity, ["rows of the matmul: tokens in the batch", "arithmetic intensity of a kernel, FLOP/B"]),
        (roofs, ["arithmetic intensity, FLOP/B", "attainable rate"]),
        (rungs, ["capacity", "bandwidth"]),
    ],
)
def test_titles_and_ticks_name_every_unit(make, titles):
    for tree in trees(make()):
        found = words(tree)
        joined = " ".join(found)
        assert all(t in joined for t in titles)
    units = {"rungs": ("TB/s", "GB"), "roofs": ("PFLOP/s",), "intensity": ()}[make.__name__]
    assert all(any(w.endswith(NBSP + u) for w in found) for u in units)


def test_ticks_speak_si():
    assert [Axis(unit="B").tick(v) for v in (1e3, 1e7)] == [f"1{NBSP}kB", f"10{NBSP}MB"]
    assert [Axis(unit="1").tick(v) for v in (4096, 0.25, 1e6, 2.5e9)] == [
        "4,096",
        "0.25",
        f"1{NBSP}million",
        f"2.5{NBSP}billion",
    ]
    assert [Axis(unit="FLOP/B").tick(v) for v in (0.1, 1000)] == ["0.1", "1,000"]
    assert f"1{NBSP}GB" in words(trees(speed())[0]) and f"200{NBSP}GB/s" in words(trees(speed())[0])


def test_counts_have_no_ticks_between_whole_numbers():
    gpus = Axis(1, 9, "GPUs").of(Y, "x")
    assert all(tick % 1 == 0 for row in gpus.rows() for tick in row)
    assert gpus.rows()[0] == list(range(1, 10))
    drafts = Axis(0, 6, "draft tokens", False, "1", whole=True).of(None, "x")
    assert drafts.rows()[0] == list(range(7))
    assert 1.5 in Axis(1, 9, "seconds", unit="s").of(None, "x").rows()[0]


def test_ticks_thin_out_by_prefix_where_room_is_short():
    size, count = Axis(1e3, 1e10, "size", True, "B"), Axis(1, 65536, "count", True, "1")
    assert size.ticks(lambda row: True) == [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
    assert size.ticks(lambda row: len(row) < 5) == [1e3, 1e6, 1e9]
    assert count.ticks(lambda row: len(row) < 7) == [1, 8, 64, 512, 4096, 32768]
    assert Axis(1, 100, "size", True, "B").ticks(lambda row: True) == [1, 2, 5, 10, 20, 50, 100]
    assert Axis(0, 1000, "size", False, "B").ticks(lambda row: len(row) < 7) == [0, 200, 400, 600, 800, 1000]
    assert rounded(3e3, 2e9, True) == (1e3, 1e10) and rounded(3, 95, False) == (0, 100)


def test_ticks_stand_as_far_apart_as_their_words_need():
    size = Axis(1e3, 1e10, "size", True, "B")
    for length, need, count in ((700, 100, 8), (699, 100, 3), (700, 101, 3), (70, 10, 8)):
        assert len(size.spaced(length, lambda label, need=need: need)) == count


def test_an_axis_takes_what_it_lacks_from_the_quantity_and_the_values():
    assert Axis().of(V, "x", [3e3, 2e9]) == Axis(1e3, 1e10, V.meaning, True, "B")
    assert Axis(title="size", log=False).of(V, "x", [3, 95]) == Axis(0, 100, "size", False, "B")
    assert Axis(1, 29).of(V, "x").log is False and Axis(1, 30).of(V, "x").log is True
    assert Axis(1, 9, "time", unit="ms").of(None, "x").unit == "s"  # numbers are in base units
    assert Axis(1, 9, "intensity", unit="FLOP/B").heading == "intensity, FLOP/B"


def test_exact_is_solid_and_approximate_is_dashed():
    for tree in trees(launch()):
        lines = [p for p in tree.iter(f"{SVG}path") if "--memory," in (p.get("stroke") or "")]
        dashes = sorted(p.get("stroke-dasharray") or "solid" for p in lines)
        assert dashes == ["6 5", "solid"]
    text = launch().text
    assert "solid both [memory]" in text and "dashed memory alone [memory]" in text


def test_measured_dots_are_open_and_computed_ones_are_filled():
    circles = [c for c in trees(roofs())[0].iter(f"{SVG}circle") if c.get("r") == "5"]
    fills = {(c.get("stroke"), c.get("fill")) for c in circles}
    paper = "var(--paper, light-dark(#ffffff, #14181e))"
    assert ("var(--compute, light-dark(#0072b2, #4fa9e8))", paper) in fills
    assert (paper, "var(--memory, light-dark(#00966c, #2bbd90))") in fills


def test_curves_stand_where_their_numbers_say():
    path = next(p for p in trees(rungs())[0].iter(f"{SVG}circle") if "--memory" in p.get("fill"))
    marks = {"".join(t.itertext()): t for t in trees(rungs())[0].iter(f"{SVG}text")}
    x0, x1 = (float(marks[k].get("x")) for k in (f"10{NBSP}MB", f"1{NBSP}TB"))
    assert float(path.get("cx")) == pytest.approx(x0 + (x1 - x0) * np.log10(34.6 / 10) / 5, abs=0.3)


def test_roofs_with_one_peak_share_a_level_and_the_ridge_is_named():
    found = words(trees(roofs())[0])
    assert f"H100, H200 989{NBSP}TFLOP/s" in found and "ridge 295" in found and "ridge 281" in found
    assert f"H200 4.80{NBSP}TB/s" in found
    chip = type("Chip", (), {"title": "A long title", "short": "H100 SXM", "fp8": 1979 * TFLOP, "hbm_bw": 3.35 * TB})
    assert "ridge 591" in roofline(chip(), format="fp8", name="one", caption="One.").text


def test_bars_are_as_long_as_their_values():
    paths = [p.get("d") for p in trees(grown())[0].iter(f"{SVG}path") if "bar" in (p.get("fill") or "")]
    found = [sorted((float(a), float(b)) for a, b in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", d)) for d in paths]
    lengths = [[b - a for a, b in group if b > a] for group in found]
    assert lengths[0][1] / lengths[0][0] == pytest.approx(989.4 / 312, rel=0.01)
    assert lengths[1][1] / lengths[1][0] == pytest.approx(1.5, rel=0.01)
    assert f"989{NBSP}TFLOP/s ×3.17" in words(trees(grown())[0])
    assert not any("×" in w for w in words(trees(grown("own"))[0]))


def test_blocks_lie_inside_their_frames_and_fold_on_a_phone():
    for tree, columns in zip(trees(machine()), (4, 2), strict=True):
        frames = [
            tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
            for r in tree.iter(f"{SVG}rect")
            if r.get("rx")
        ]
        outer = frames[0]
        assert len(frames) == 1 + 4 * 3 + 3
        for x, y, w, h in frames[1:]:
            assert x > outer[0] and y > outer[1] and x + w < outer[0] + outer[2] and y + h < outer[1] + outer[3]
        parts = [t for t in tree.iter(f"{SVG}text") if t.text == "subpartition"]
        assert len({t.get("x") for t in parts}) == columns


def test_every_cell_of_a_block_is_drawn():
    for tree in trees(machine()):
        rows = [p.get("d") for p in tree.iter(f"{SVG}path") if p.get("stroke-width") == "7"]
        ends = [(float(a), float(b)) for d in rows for a, b in re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", d)]
        assert sum(round((b - a + 2) / 9) for a, b in ends) == 4 * 32


def test_the_value_of_a_crossing_stands_clear_of_the_curves():
    for low in (False, True):  # a curve along the top sends the text to the foot of the line
        crossing = Crossing(1e6, "V = 1 MB", low=low)
        top = 8.5e11 if low else 2e12
        fig = speed(crossings=[crossing], axes=(Axis(1 * kB, 10 * GB), Axis(0, top)))
        at = {"".join(t.itertext()): float(t.get("y")) for t, _ in texts(trees(fig)[0])}
        assert (at["V = 1 MB"] > 180) == low


def test_the_folded_table_holds_the_curves_numbers():
    heads, rows = speed().table
    assert heads == ["size", "W = 900 GB/s"] and len(rows) == 8
    assert rows[0] == [f"1{NBSP}kB", f"333{NBSP}MB/s"]
    assert f'<td class="num">333{NBSP}MB/s</td>' in speed().html


def test_points_have_columns_of_their_own_in_the_table_on_the_rows_of_their_x():
    dots = [Points([1e3, 2e6, 2e6], [3e8, 8e11, 7e11], "measured"), Points([2e6], [1e11], "published")]
    heads, rows = speed(points=dots).table
    assert heads == ["size", "W = 900 GB/s", "measured", "published"] and {len(row) for row in rows} == {4}
    assert rows[0] == [f"1{NBSP}kB", f"333{NBSP}MB/s", f"300{NBSP}MB/s", ""]
    at = [row for row in rows if row[0] == f"2{NBSP}MB"]
    assert [row[2:] for row in at] == [[f"800{NBSP}GB/s", f"100{NBSP}GB/s"], [f"700{NBSP}GB/s", ""]]
    assert at[0][1] and not at[1][1]
    assert [row[2:] for row in rows if row[0] == f"1{NBSP}MB"] == [["", ""]]


def test_a_smooth_curve_over_counts_has_no_corners_on_a_logarithmic_axis():
    from gpuscale.symbols import N

    where = {"x": N, "axes": (Axis(2, 72), Axis(title="share", unit="%")), "name": "smooth", "caption": "Smooth."}
    assert ": 241 from (2, " in curves(Curve(1 - 1 / N, "share"), **where).text


def test_an_infinite_stretch_is_a_gap_and_a_curve_ends_where_it_is_told():
    from gpuscale.one_gpu import critical_batch
    from gpuscale.symbols import B_rule

    where = {
        "x": B_rule,
        "name": "gap",
        "caption": "Gap.",
        "given": {"D": 1024, "F": 1024},
    }
    text = curves(Curve(critical_batch, "exact", "compute"), **where, axes=(Axis(10, 1000), Axis(1, 1e5))).text
    assert re.search(r"exact \[compute\]: 241 from \(10, 10\.\d+\) to \(1000, nan\)", text)
    cut = curves(Curve(critical_batch, "exact", lo=10, hi=100), **where, axes=Axis(10, 1000)).text
    assert "to (100, 124.272)" in cut


def test_whole_quantities_are_taken_one_by_one():
    assert "solid D = F = 1,024 [compute]: 33 from (32, " in intensity(axes=Axis(32, 64)).text


def test_text_of_a_free_drawing_is_escaped_and_is_no_mathematics():
    assert "costs 1$ to 2$ &amp; &lt;more&gt;" in free().svg()


def test_labels_know_their_markup_and_their_width():
    assert bare("<i>V</i>/<b>W</b><sub>x</sub>") == "V/Wx"
    assert width("<b>mm</b>") > width("mm") > width("ii") > 0
    assert fold("one two three four", width("one two three")) == ["one two", "three four"]
    label = Curve(EFFECTIVE, "<i>W</i><sub>eff</sub> of it")
    given = {"alpha": 1e-6, "W": 1e9}
    svg = curves(label, x=V, axes=Axis(1e3, 1e9), given=given, y=W_eff, name="m", caption="M.").svg()
    low, back = 'dy="3" font-size="80%">eff</tspan>', '<tspan dy="-3"> of it</tspan>'
    assert f'<tspan font-style="italic">W</tspan><tspan {low}{back}' in svg


def test_a_saved_figure_stands_alone(tmp_path):
    text = rungs().save(tmp_path / "rungs.svg", narrow=True).read_text(encoding="utf-8")
    assert ET.fromstring(text).get("width") == "354" and "Arial" in text
    assert "var(" not in text and "light-dark" not in text and 'fill="#00966c"' in text


def test_a_polyline_keeps_the_points_that_it_bends_at():
    sheet = Sheet("line", 656, 100, narrow=False)
    sheet.rule([0, 10, 20, 30, 40], [0, 10, 20, 0, 0])
    sheet.rule([0, 10, 20, 30], [50, np.nan, 50, 50.04], "memory")
    paths = [p.get("d") for p in ET.fromstring(sheet.svg("a line")).iter(f"{SVG}path")]
    assert paths == ["M0 0L20 20L30 0H40", "M0 50M20 50H30"]


# Bad input is refused where it is written, by name

NAMED = {"name": "a", "caption": "b"}
SHOWN = NAMED | {"alt": "c"}


def axis(*args, **more):
    return Axis(*args, **more).of(None, "x axis")


def speed_by(x=None, y=None):
    return speed(axes=(x or Axis(1e3, 1e9), y or Axis()))


@pytest.mark.parametrize(
    "call, error, says",
    [
        (lambda: speed(given={"alpha": 3 * us}), TypeError, "curve 'W = 900 GB/s': missing W; expected .*alpha"),
        (lambda: speed(given={"alpha": 1, "W": 9, "D": 1}), TypeError, "given: D is not an input of .* of W, alpha"),
        (lambda: speed(given={"alpha": 3 * us, "W": 9, "V": 1}), TypeError, "given: V runs along the x axis"),
        (lambda: speed(x=B), TypeError, "x: no curve depends on B"),
        (lambda: speed(x="V"), TypeError, "x: expected a Quantity"),
        (lambda: speed_by(Axis(1e9, 1e3)), ValueError, "range of V .*: the range is empty; .* got 1e.09 to 1000"),
        (lambda: speed_by(Axis(1, float("inf"))), ValueError, "range of V"),
        (lambda: speed_by(Axis("a", 7)), ValueError, "range of V .*: expected two numbers"),
        (lambda: speed_by(Axis(0, 1e9, log=True)), ValueError, "range of V .*begins above zero; got 0"),
        (lambda: intensity(axes=Axis(0.5, 8)), ValueError, "range of B .*: begins at 0.5; expected 1"),
        (lambda: speed(y=None), TypeError, "y: expected a Quantity, or an axis with title"),
        (lambda: speed(y=7), TypeError, "y: expected a Quantity of gpuscale.symbols; got 7"),
        (lambda: speed_by(y=Axis(0, 1e12, log=True)), ValueError, "y: a logarithmic scale begins above zero"),
        (lambda: speed_by(y=Axis(5, 1)), ValueError, "y: the range is empty"),
        (lambda: speed(colour="red"), TypeError, "colour"),
        (lambda: speed(name="Bad Name"), ValueError, "name: .*got 'Bad Name'"),
        (lambda: speed(caption=""), ValueError, "caption of figure 'speed'"),
        (lambda: curves([], x=V, axes=Axis(1, 2), **NAMED), ValueError, "formulas: the list is empty"),
        (
            lambda: curves(Curve(V, hue="red"), x=V, axes=Axis(1, 2), **NAMED),
            ValueError,
            "curve 'V': hue 'red' has no meaning",
        ),
        (lambda: curves(Curve(EFFECTIVE, style="bold"), x=V, axes=Axis(1, 2), **NAMED), ValueError, "style 'bold'"),
        (lambda: Points([1, 2], [1], "m").data(), ValueError, "points 'm': expected as many finite x as y"),
        (lambda: roofline([], **NAMED), ValueError, "roofs: the list is empty"),
        (lambda: roofline([Roof("x", 0, 1)], **NAMED), ValueError, "roof 'x': peak must be a number above zero"),
        (lambda: roofline([object()], **NAMED), TypeError, "expected Roofs or chips with bf16"),
        (lambda: roofline([Roof("x", 1, 1)], range=(0, 5), **NAMED), ValueError, "range of the intensity"),
        (lambda: ladder([], **NAMED), ValueError, "levels: the list is empty"),
        (lambda: ladder([Rung("x", -1, 1)], **NAMED), ValueError, "rung 'x': capacity must be a number"),
        (lambda: grown("half"), ValueError, "scale: 'half' is unknown"),
        (lambda: grown("common"), ValueError, "one common scale takes one unit"),
        (lambda: bars([Bars("x", "B", "memory", {"a": -1})], **NAMED), ValueError, "group 'x': a must be"),
        (lambda: bars([Bars("x", "B", "memory", {})], **NAMED), ValueError, "group 'x': expected values"),
        (lambda: blocks("x", **SHOWN), TypeError, "expected a Block"),
        (lambda: Still(7, **SHOWN), TypeError, "paint: expected a function"),
        (lambda: Still(lambda sheet: None, **NAMED, alt=""), ValueError, "alt of figure 'a'"),
        (lambda: blocks(Block("x", inside=[Block("y", hue="red")]), **SHOWN), ValueError, "block 'y': hue 'red'"),
        (lambda: Still(lambda sheet: sheet.rule([1, 2], [1, 2], "red"), **SHOWN), ValueError, "hue 'red' has no"),
        (lambda: axis(1, 9), TypeError, "x axis: expected a Quantity, or an axis with title and unit"),
        (
            lambda: axis(1, None, "time", unit="s"),
            ValueError,
            "x axis: expected two numbers in base units; got 1, None",
        ),
        (lambda: axis(0, 9, "time", True, "s"), ValueError, "begins above zero"),
        (lambda: Sheet("s", 9, 9, False).write(1, 1, "t", align="mid"), ValueError, "align: 'mid' is unknown"),
    ],
)
def test_bad_input_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_chart_goes_on_in_matplotlib():
    given = {"W": 450e9, "alpha": 1e-6}
    drawn = curves(Curve(EFFECTIVE, "effective"), x=V, axes=Axis(1e3, 1e9), given=given, y=W_eff, **NAMED)
    ax = drawn.axes()
    assert ax.get_xscale() == "log" and ax.get_xlim() == (1e3, 1e9)
    assert ax.get_xlabel() == drawn.chart.x.heading and ax.xaxis.get_major_formatter()(1e6) == drawn.chart.x.tick(1e6)
    x, y = ax.lines[0].get_data()
    assert list(y) == list(drawn.chart.curves[0].formula[1]) and ax.lines[0].get_label() == "effective"
    assert ax.get_legend() is not None and drawn.axes(ax) is ax
    with pytest.raises(TypeError, match="has no axes; expected a chart of curves"):
        blocks(Block("x"), **SHOWN).axes()


def test_the_numbers_of_a_curve_end_where_it_ends():
    """Beyond its end, the frontier would go on to a negative rate."""
    figure = curves(
        [Curve(V / W, "to 100 MB", given=dict(W=1e9), hi=1e8)],
        x=V, axes=(Axis(1e6, 1e9, "bytes"), Axis(1e-4, 10, "time", unit="s")), name="ends", caption="A transfer.",
    )  # fmt: skip
    told = dict(figure.table[1])
    assert told["1\xa0MB"] == "1.00\xa0ms" and told["1\xa0GB"] == "–"
