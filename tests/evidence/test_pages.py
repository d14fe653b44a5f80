"""The page of evidence and the lines in chapters: each case is counted once, as what it is evidence of."""

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from gpuscale.evidence import deviations, engines, evidence_summary, families, family, totals
from gpuscale.evidence.pages import _result
from gpuscale.evidence.rows import APART, GROUPS

PAGE = Path(__file__).resolve().parents[2] / "chapters/what_others_count.ipynb"


def test_the_page_has_a_section_for_each_engine_and_group():
    cells = nbformat.read(PAGE, 4).cells
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    titles = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
    assert titles[len(GROUPS) :] == [one.title for one in engines().values()]
    shown = [cell.source for cell in cells if cell.source.startswith(("evidence_deviations(", "evidence_rows("))]
    assert shown == [
        *(f'evidence_deviations("{group}")' for group in GROUPS),
        *(f'evidence_rows("{name}")' for name in engines()),
    ]
    assert {one.group for one in deviations().values()} == set(GROUPS)


def test_no_total_of_counts_has_what_is_kept_apart():
    every = totals(families())
    assert every.cases == sum(len(one.rows) for one in families() if one.label not in APART)
    assert every.cases + every.ours + every.replayed == sum(len(one.rows) for one in families())
    ours = {one.id for one in families() if one.label == "ours"}
    assert ours == {one.id for one in families() if one.formula.startswith("schedule(name")}
    clock = {one.id for one in families() if one.id.startswith("torch_") and not one.id.startswith("torch_run")}
    replayed = {one.id for one in families() if one.label == "replayed"}
    assert replayed == {one for one in clock if not one.endswith("_slots")}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("torch_zb_h1_overhead", "≈ equal up to rounding"),
        ("open_mpi.allreduce.ring", "≈ equal within 0.50%"),
        ("xla_dp", "✓ equal"),
        ("xla_tp_separate", "± deviates"),
    ],
)
def test_results_in_words(key, text):
    one = family(key)
    assert _result(replace(one, rows=one.rows[:1])).text == text


@pytest.mark.parametrize("chapter", dict.fromkeys(one.chapter for one in families()))
def test_a_chapter_says_what_its_cases_come_to(chapter):
    mine = [one for one in families() if one.chapter == chapter]
    said, counted = str(evidence_summary(chapter)), totals(mine)
    assert f"run on {counted.cases:,} cases" in said
    assert ("All agree" in said) == (counted.deviate == 0)
    assert ("Each differs" in said) == (counted.equal == 0)
    for apart in (counted.ours, counted.replayed):
        assert not apart or f" {apart:,} " in said


def test_a_chapter_whose_cases_all_deviate():
    said = str(evidence_summary("lab_data_parallelism"))
    assert (
        said.startswith("PyTorch with fake process groups") and "Each differs from a formula for a named reason" in said
    )


def test_a_chapter_without_evidence():
    with pytest.raises(KeyError, match="roofline"):
        evidence_summary("roofline")
