"""What to review: each question leads to a section that exists, by its formula or by its words."""

import json
import re
from pathlib import Path

from gpuscale import quiz
from gpuscale.book.search_entries import Entry
from gpuscale.book.taught import chapters, taught
from gpuscale.widgets.shared import TAUGHT_FILE


def rows(site: Path) -> dict[str, list[str]]:
    text = (site / "_static" / TAUGHT_FILE).read_text(encoding="utf-8")
    return json.loads(text.removeprefix("gpuscale.taught = ").removesuffix(";\n"))


def test_every_question_leads_to_a_section(site):
    found = rows(site)
    assert set(found) == {one.id for name in quiz.sets() for one in quiz.load_set(name)}
    ids = {}
    for name, (idea, chapter, href, asked, *_) in found.items():
        page, anchor = href.split("#")
        for one in (page, f"{asked}.html"):
            if one not in ids:
                ids[one] = set(re.findall(r'<[^>]+ id="([^"]+)"', (site / one).read_text("utf-8")))
        assert idea and chapter and anchor in ids[page], name
        assert f"q-{name.replace('.', '-')}" in ids[f"{asked}.html"], name


def test_ideas_of_a_few_questions(site):
    """Chosen by hand: the formula's own section, a section by its words, the section of a prediction."""
    found = rows(site)
    assert found["hardware.8"][0] == "Ridge point" and "roofline.html#arithmetic-intensity" in found["hardware.8"][2]
    assert found["hardware.32"][2].endswith("roofline.html#vector-addition")
    assert "gpu-vs-tpu" in found["hardware.4"][2]
    assert found["rings_and_trees.14"][2].startswith("chapters/rings_and_trees.html#")


def test_a_section_is_found_by_its_words_where_no_formula_leads_there():
    page = "chapters/rings_and_trees"
    entries = [
        Entry("page", page, "", "Rings"),
        Entry("section", page, "weather", "Weather", "clouds and rain over the hills in the evening"),
        Entry(
            "section", page, "grow", "More ranks", "a job grows from ranks to more ranks, the time of a ring all-reduce"
        ),
    ]
    leads = ["More ranks", "Rings", f"{page}.html#grow", "exercises/rings_and_trees"]
    assert taught(entries)["rings_and_trees.13"] == leads


def test_chapters_of_a_set_are_its_own_or_those_it_names():
    assert chapters(quiz.load_set("rings_and_trees")) == ["rings_and_trees"]
    assert chapters(quiz.load_set("hardware")) == ["inside_a_gpu", "memory_hierarchy", "roofline"]
