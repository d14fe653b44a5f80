"""Sentences, folded passages and small tables whose numbers are computed."""

import pytest

from gpuscale.one_gpu import memory_time
from gpuscale.page import fold, grid, say

SPACE = "\N{NO-BREAK SPACE}"


def test_a_sentence_shows_its_numbers_with_units():
    assert say("It takes {t:s}, {n:count} times.", t=0.0025, n=2474).text == f"It takes 2.5{SPACE}ms, 2,474 times."
    with pytest.raises(KeyError):
        say("It takes {t:s}.")


def test_a_formula_is_its_right_hand_side_or_a_line_of_its_own():
    assert say("It is {f}.", f=memory_time).text == r"It is $\frac{V}{W_\mathrm{HBM}}$."
    assert say("{f:=}", f=memory_time).text == r"$$T_\mathrm{mem} = \frac{V}{W_\mathrm{HBM}}$$"


def test_a_folded_passage_is_markdown_between_html():
    text = fold("What <you> see", "It takes **{t:s}**.", t=0.0025).text
    head, tail = "<details>\n<summary>What &lt;you&gt; see</summary>", "</details>"
    assert text == f"{head}\n\nIt takes **2.5{SPACE}ms**.\n\n{tail}"


def test_a_small_table_needs_a_cell_for_each_head():
    table = grid(["GPU", "Peak", "Note"], [["H100", 1, "x"]], left=(2,)).text
    assert table == "| GPU | Peak | Note |\n| --- | ---: | --- |\n| H100 | 1 | x |"
    with pytest.raises(ValueError, match="expected 2 cells"):
        grid(["GPU", "Peak"], [["H100"]])


def test_a_wide_table_becomes_blocks_on_a_phone():
    shown = grid(["GPU", "Time", "Peak"], [["H100", "$V/W$", 1]], left=(1,), keys=("", "", "peak"))
    assert repr(shown) == "| GPU | Time | Peak |\n| --- | --- | ---: |\n| H100 | $V/W$ | 1 |"
    html = shown.html
    assert '<td role="cell" class="num" data-k="peak">1</td>' in html and r"\(V/W\)" in html
    assert html.count(' class="line"') == 4  # two heads, two cells
    with pytest.raises(ValueError, match="keys 'peak': expected 3 cells"):
        grid(["GPU", "Time", "Peak"], [], keys=("peak",))
