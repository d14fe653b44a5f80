"""Every formula of the index leads to the chapter that shows it, and its card there leads back."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer

from gpuscale.book import formula_places
from gpuscale.catalogue import sweep
from gpuscale.core.html import anchor

ROOT = Path(__file__).parents[2]
# Files whose formulas no chapter shows, and why
UNSHOWN = {
    "gpuscale.llm.memory_traffic": "the planner adds up what small kernels read and write",
    "gpuscale.llm.step_memory": "the planner composes the memory of a step",
    "gpuscale.llm.training_step": "the planner composes the time of a step at the peaks",
}


def notebook(*cells: tuple[str, str]) -> str:
    made = [{"cell_type": kind, "metadata": {}, "source": text, "id": f"c{i}"} for i, (kind, text) in enumerate(cells)]
    for cell in made:
        cell |= {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_derivation_counts_more_than_a_card_and_a_card_more_than_a_use(tmp_path):
    first, second = tmp_path / "first.ipynb", tmp_path / "second.ipynb"
    imported = "from gpuscale.one_gpu import ridge_point, memory_time, compute_time"
    first.write_text(
        notebook(
            ("markdown", "# First\n\n```python\n# no heading\n```"),
            ("code", imported),
            ("code", "ridge_point(C=1, W_hbm=2); memory_time(V=1, W_hbm=1)"),
            ("markdown", "## A section"),
            ("code", "memory_time.about()"),
        )
    )
    second.write_text(
        notebook(
            ("markdown", "# Second\n\n## One\n\n## Two"),
            ("code", imported),
            ("code", "Derivation(I).given(C / W).matches(ridge_point)"),
            ("code", "matmul_time(B=1)"),  # not imported: another thing of this name
        )
    )
    found = formula_places.places({"a": first, "b": second})
    assert found["one_gpu.ridge_point"] == formula_places.Place("b", 2, formula_places.DERIVED)
    assert found["one_gpu.memory_time"] == formula_places.Place("a", 1, formula_places.SHOWN)
    assert found["one_gpu.matmul_time"].how == found["one_gpu.compute_time"].how == formula_places.SUBJECT


@pytest.fixture(scope="module")
def entries(site):
    page = BeautifulSoup((site / "chapters" / "formula_index.html").read_bytes(), "html.parser")
    return {entry["id"]: entry.select_one("p.note:last-of-type") for entry in page.select(".entry")}


def test_every_entry_leads_to_a_section_that_uses_it(site, entries):
    names = {f"index-{anchor(key)}": f.name for key, f in sweep.formulas().items()}
    assert set(entries) == set(names)
    for key, note in entries.items():
        page, _, section = note.a["href"].partition("#")
        code = (ROOT / "chapters" / page.replace(".html", ".ipynb")).read_text(encoding="utf-8")
        uses = re.search(rf"\b{names[key]}\b", code)
        assert bool(uses) or note.text.startswith("See also"), key
    how = Counter(note.text.split()[0] for note in entries.values())
    assert how["Derived"] > 30 and how["Used"] > 200


def test_those_without_a_chapter_are_told_why(entries):
    """A formula that no chapter shows stands in a file whose others one shows, or the planner alone composes it."""
    known = {f"index-{anchor(key)}": f.module for key, f in sweep.formulas().items()}
    also = {key: note for key, note in entries.items() if note.text.startswith("See also")}
    alone = {known[key] for key, note in also.items() if note.a["href"].startswith("putting_it_together.html")}
    assert alone == set(UNSHOWN)


def test_every_card_leads_to_its_entry(site, entries):
    cards, only = 0, SoupStrainer("section", class_="card formula")
    for path in (site / "chapters").glob("*.html"):
        for card in BeautifulSoup(path.read_bytes(), "html.parser", parse_only=only).select("section.card.formula"):
            page, _, entry = card.select_one(".head a")["href"].partition("#")
            assert page == "formula_index.html" and entry.endswith(card["id"].removeprefix("formula-"))
            assert entry in entries
            cards += 1
    assert cards > 30
