"""The formulas to remember: each is one piece of mathematics, which breaks before a relation and never behind it."""

import re

from gpuscale.book import mathematics
from gpuscale.llm import pipeline_bytes
from gpuscale.one_gpu import ridge_point
from gpuscale.page import remember


def test_an_equation_is_one_piece():
    cell = re.search(r"<td[^>]*>(.*?)</td>", remember([(ridge_point, "any kernel", "295")]).html)[1]
    assert mathematics.typeset(cell).count("<math") == 1 and cell.count("=") - cell.count('="') == 1


def test_a_case_that_is_zero_is_not_the_one_to_remember():
    """Without a pipeline nothing is sent; the line shows what is sent with one."""
    cell = re.search(r"<td[^>]*>(.*?)</td>", remember([(pipeline_bytes, "two stages or more", "16 kB")]).html)[1]
    assert "= 0" not in cell and "V_\\mathrm{hop}" in cell
