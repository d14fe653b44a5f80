"""What the sources print, recomputed; each row says whether it agrees. The rows stand in ``claims_*.py``."""

import importlib
import re
from pathlib import Path

import pytest
from published.rows import found

HERE = Path(__file__).parent
ROWS = [
    row for file in sorted(HERE.glob("claims_*.py")) for row in importlib.import_module(f"published.{file.stem}").ROWS
]
BIBLIOGRAPHY = HERE.parents[1] / "chapters" / "references.bib"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.where}: {row.says}")
def test_a_published_number(row):
    value = row.compute()
    assert value == pytest.approx(row.ours if row.ours is not None else row.published, rel=2e-3)
    if row.ours is not None:
        assert value == pytest.approx(row.ours, rel=5e-5)
    assert found(row) == row.outcome


def test_each_row_names_a_source_and_a_place():
    known = set(re.findall(r"^@\w+\{\s*([^,\s]+)\s*,", BIBLIOGRAPHY.read_text(), re.M))
    assert {row.where.partition(",")[0] for row in ROWS} <= known
    assert all(row.where.partition(", ")[2] and row.says for row in ROWS)
    said = [(row.where, row.says) for row in ROWS]
    assert len(set(said)) == len(said)


def test_every_outcome_is_in_use():
    assert {row.outcome for row in ROWS} == {"agrees", "rounds", "disagrees"}
    assert all(row.ours is not None for row in ROWS if row.outcome != "agrees")
