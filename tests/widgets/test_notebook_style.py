"""The styles of a notebook, in which all figures are loaded together."""

import re

import pytest

from gpuscale.widgets import assets

RULE = re.compile(r"(?:^|[{}])([^{};@]*\.card[^{};]*)\{")


@pytest.mark.parametrize("name", assets.FIGURES)
def test_the_styles_of_a_figure_reach_no_other(name):
    """Each of its rules is in the notebook's styles, for its own cards alone."""
    plain = re.sub(r"/\*.*?\*/", "", assets.style(name), flags=re.DOTALL)
    every = re.sub(r"/\*.*?\*/", "", assets.notebook_style(), flags=re.DOTALL)
    rules = [" ".join(rule.split()) for rule in RULE.findall(plain)]
    mine = [" ".join(rule.split()) for rule in RULE.findall(every) if f"data-painter={name}]" in rule]
    assert rules and len(mine) == len(rules)
    for rule in mine:
        assert all(f"[data-painter={name}]" in part for part in re.findall(r"\.card[^)]*\)", rule))
