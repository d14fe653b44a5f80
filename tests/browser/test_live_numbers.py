"""Every number a live figure shows is Python's: sentence, sliders, readout, curve, dot, crossing, copied call.

The page is set to random states; twin.py works the same states out from the book's expressions, without JavaScript.
"""

import random
import re

import numpy as np
import pytest
from browser import twin
from browser.bookpages import probe
from browser.livefigure import each

STATES = 6


def random_states(figure, count=STATES) -> list[dict]:
    """What leads a figure to its first state, then to random ones; the same at every run."""
    dice = random.Random(f"{figure.name} states")
    changes = [{}]
    for _ in range(1, count):
        at = {k: dice.randrange(1001) for k in figure.spec["params"]}
        view, preset = (dice.randrange(max(1, len(figure.spec[k]))) for k in ("views", "presets"))
        changes.append({"view": view, "preset": preset, "at": at})
    return changes


def test_words_and_drawings_are_those_of_python(figures):
    each(figures, numbers_agree)


def numbers_agree(figure):
    for shown, state, view in figure.seen(*random_states(figure)):
        where = f"at {state}, view {view.get('name')}"
        wanted = figure.twin.sentence(state, view)
        if shown["sentence"].split() != wanted.split():
            yield f"says {shown['sentence']!r}, Python {wanted!r} {where}"
        if shown["values"] != figure.twin.values(state):
            yield f"sliders say {shown['values']}, Python {figure.twin.values(state)} {where}"
        yield from (f"{what} {where}" for what in drawn_right(figure, shown, state, view))


def drawn_right(figure, shown, state, view):
    """The large dot and the thick curve stand where Python puts them, to a pixel; crossings have its value."""
    x0, y0, y1, x1 = shown["ends"]
    given, spec = figure.twin.inputs(state, view), figure.spec
    to_x, at_x = twin.positions({**spec["x"], **view.get("x", {})}, x0, x1)
    to_y, _ = twin.positions({**spec["y"], **view.get("y", {})}, y1, y0)
    names = figure.twin.named(given)
    dot = float(to_x(names["x"])), float(to_y(names["y"]))
    inside = x0 - 1 <= dot[0] <= x1 + 1 and y0 - 1 <= dot[1] <= y1 + 1
    if inside != bool(shown["dot"]) or (inside and np.abs(np.subtract(dot, shown["dot"])).max() > 1):
        yield f"the dot is at {shown['dot']}, Python puts it at {dot}"
    for crossing in spec["crossings"]:
        text = next((t for t in shown["labels"] if t.startswith(f"{crossing['text']} = ")), None)
        where, unit = figure.twin.value(crossing["x"], given, names["x"]), spec["x"]["unit"]
        threshold = unit == "1" and 100 <= where < 1e5
        value = twin.said(round(where) if threshold else where, unit)
        if text and text != f"{crossing['text']} = {value}":
            yield f"the crossing says {text}, Python {value}"
    lit = [c for c in spec["curves"] if (now := c.get("now")) is True or view.get("name") in np.atleast_1d(now or [])]
    if len(lit) == 1 and shown["thick"]:
        off, where = distance(figure, lit[0], shown["thick"], given, to_y, lambda x: at_x(np.clip(x, x0, x1)))
        if off > 0.6:
            yield f"the curve is {off:.1f} px off at x = {where:.4g}"


def distance(figure, curve, paths, given, to_y, at_x) -> tuple[float, float]:
    """How far the points of a drawn curve are from Python's values a third of a pixel around them, and where most."""
    points = np.array([[float(n) for n in p.split()] for d in paths for p in re.split("[ML]", d) if p])
    x, y = points.T
    rows = [
        to_y(np.broadcast_to(figure.twin.value(curve["formula"], given, at_x(x + d)), x.shape))
        for d in (-0.35, 0, 0.35)
    ]
    low, high = (np.clip(edge(rows, axis=0), -999, 1999) for edge in (np.min, np.max))
    off = np.maximum(low - y, y - high)
    return off.max(), at_x(x[off.argmax()])


def test_the_pointer_reads_pythons_values(figures):
    each(figures, readout_is_right)


def readout_is_right(figure):
    x0, y0, x1, y1 = figure.plot()
    given = figure.twin.inputs(*figure.state())
    _, value = twin.positions(figure.spec["x"], x0, x1)
    for part in (0.2, 0.7):
        pixel = round(x0 + part * (x1 - x0))
        figure.tab.mouse.move(pixel, (y0 + y1) / 2)
        rows = dict(row.rsplit(": ", 1) for row in figure.readout().splitlines() if ": " in row)
        for curve in (c for c in figure.spec["curves"] if c.get("name") in rows):
            around = [figure.twin.value(curve["formula"], given, float(value(pixel + d))) for d in (-0.01, 0, 0.01)]
            wanted = [twin.said(v, figure.spec["y"]["unit"]) for v in around]
            if rows[curve["name"]] not in wanted:
                yield f"{curve['name']} reads {rows[curve['name']]}, Python says {wanted[1]}"


def test_copied_python_gives_what_the_figure_states(figures):
    each(figures, copied_runs)


def copied_runs(figure):
    for change in random_states(figure, 3):
        [(shown, state, view)] = figure.seen(change)
        copied = figure.at.evaluate(probe("copied"))
        try:
            value = twin.called(copied)
        except Exception as error:
            yield f"{error!r} in {copied!r}"
            continue
        names, words = figure.twin.named(figure.twin.inputs(state, view)), figure.twin.sentences(view)
        stated = {k: v for k, v in names.items() if any(f"{{{k}}}" in text for text in words)}
        if not any(v == pytest.approx(value, rel=1e-4) for v in stated.values()):
            yield f"{shown['code']} is {value:.6g}; the figure states {stated}"
