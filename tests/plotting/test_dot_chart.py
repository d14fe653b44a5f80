"""Rows of dots: no two dots cover each other, labels keep clear of them, and wrong rows are refused."""

import re

import pytest

from gpuscale.plotting import Axis, Dot, dot_rows

AXIS = Axis(0.5, 100, "time over the bound", unit="1")
LOOK = {"axis": AXIS, "mark": 1, "mark_text": "bound", "name": "dots", "caption": "Most are near it. Three kinds."}
NEAR = [Dot(2 + 0.01 * i, f"near {i}", "memory") for i in range(12)]
ROWS = {
    "close together": [*NEAR, Dot(2.2, "last", "memory", said="the last of many")],
    "far": [Dot(60, "far away", "compute", said="a label without room"), Dot(1.5, "other", "compute", hollow=True)],
}


def circles(svg):
    return [tuple(map(float, found)) for found in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)]


@pytest.mark.parametrize("narrow", [False, True])
def test_dots_do_not_cover_each_other(narrow):
    found = circles(dot_rows(ROWS, **LOOK).svg(narrow))
    assert len(found) == 15
    for i, (x, y, r) in enumerate(found):
        for other_x, other_y, other_r in found[:i]:
            assert (x - other_x) ** 2 + (y - other_y) ** 2 >= (0.99 * (r + other_r)) ** 2


def test_values_stand_where_the_axis_has_them():
    svg = dot_rows({"one": [Dot(1, "at the mark"), Dot(10, "a decade on"), Dot(100, "the end")]}, **LOOK).svg()
    xs = sorted(x for x, *_ in circles(svg))
    mark = float(re.search(r'<path[^>]*stroke-width="1.5"[^>]* d="M([\d.]+)', svg)[1])
    assert xs[0] == pytest.approx(mark, abs=0.1) and xs[2] - xs[1] == pytest.approx(xs[1] - xs[0], abs=0.2)


@pytest.mark.parametrize("narrow", [False, True])
def test_labels_stay_on_the_sheet(narrow):
    still = dot_rows(ROWS, **LOOK)
    svg = still.svg(narrow)
    wide = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
    for text in ("the last of many", "a label without room"):
        x = float(re.search(rf'<text x="([\d.]+)"[^>]*>{text}', svg)[1])
        assert 0 < x < wide
    assert "close together" in svg and "far" in svg


def test_what_is_drawn_is_told():
    still = dot_rows(ROWS, **LOOK)
    assert "far: 2 from 1.50 to 60.0" in still.alt and "close together: 13 from 2.00 to 2.20" in still.alt


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({}, "rows: expected titles with dots"),
        ({"a": []}, "rows: expected titles with dots"),
        ({"a": [Dot(0, "zero")]}, "row 'a'"),
        ({"a": [Dot(1, "one", "mauve")]}, "dot 'one': hue 'mauve'"),
    ],
)
def test_wrong_rows_are_refused(rows, says):
    with pytest.raises(ValueError, match=says):
        dot_rows(rows, **LOOK)
