"""Figures of a model: the running softmax, what fills a memory, and who holds which piece."""

import re

import numpy as np
import pytest

from gpuscale.plotting import running_softmax, softmax_figure, stacks

SAID = {"name": "a", "caption": "It is so."}
BOX = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"')


@pytest.mark.parametrize("tile", [1, 2, 3, 6])
def test_the_running_softmax_is_the_ordinary_one(tile):
    scores, values = [1.0, 3.0, 5.0, 2.0, 4.0, 0.0], [2.0, 1.0, 3.0, 1.0, 2.0, 4.0]
    last = running_softmax(scores, values, tile)[-1]
    weights = np.exp(scores) / np.exp(scores).sum()
    assert last["weighted"] / last["sum"] == pytest.approx(weights @ values)
    assert last["sum"] == pytest.approx(np.exp(np.array(scores) - 5).sum())


def test_frames_of_the_running_softmax():
    figure = softmax_figure([1, 3, 5, 2], [2, 1, 3, 1], tile=2, **SAID)
    assert "Tile 2 of 2" in figure.svg() and "old sums × 0.14" in re.sub("<[^>]*>", "", figure.svg())


def test_a_stack_has_the_length_of_its_value():
    figure = stacks({"one": {"a": 1e9, "b": 3e9}, "two": {"a": 2e9, "b": 0.0}}, limit=("limit", 8e9), **SAID)
    wide = [float(w) for _, _, w, h in BOX.findall(figure.svg()) if float(h) == 26]
    assert np.allclose(np.array(wide) / 652, [1 / 8, 3 / 8, 2 / 8], rtol=0.01)
    assert "limit: 8" in figure.svg()


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: running_softmax([1], [1, 2], 1), "1 scores, 2 values"),
        (lambda: stacks({"a": {"x": 1.0}, "b": {"y": 1.0}}, **SAID), "the same parts"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
