"""The formulas to remember: each is one piece of mathematics, which breaks before a relation and never behind it."""

import re

from gpuscale.book import mathematics
from gpuscale.one_gpu import ridge_point
from gpuscale.page import remember


def test_an_equation_is_one_piece():
    cell = re.search(r"<td[^>]*>(.*?)</td>", remember([(ridge_point, "any kernel", "295")]).html)[1]
    assert mathematics.typeset(cell).count("<math") == 1 and cell.count("=") - cell.count('="') == 1
