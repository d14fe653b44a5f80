"""What a cell says reaches the reader: a notebook shows the value of the last statement only."""

import ast

import pytest
from reading.passages import ROOT, cells, named

ANYWHERE = {"print", "display", "look"}  # these work wherever they stand


def lost(source: str) -> list[str]:
    """The calls of names whose value is thrown away because another statement follows."""
    early = [one.value for one in ast.parse(source).body[:-1] if isinstance(one, ast.Expr)]
    called = [one.func.id for one in early if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    return [name for name in called if name not in ANYWHERE]


@pytest.mark.parametrize("path", sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("exercises/*.ipynb")]), ids=named)
def test_no_passage_is_lost(path):
    code = [(number, cell["source"]) for number, cell in enumerate(cells(path)) if cell["cell_type"] == "code"]
    assert [(number, name) for number, source in code for name in lost(source)] == []


def test_a_lost_passage_is_found():
    assert lost("say('a')\nassert True") == ["say"]
    assert lost("print('a')\nsay('b')") == []
