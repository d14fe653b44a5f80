"""The score of the whole book: what is stored, by idea, with links to the questions and to where they are taught."""

import json

import pytest
from browser.axe import nothing_serious
from browser.bookpages import until

from gpuscale import quiz

PAGE = "chapters/score.html"
ANSWERS = {
    "hardware.8": {"text": "295", "variant": 0, "tries": 0, "solved": True},
    "hardware.32": {"text": "7", "variant": 0, "tries": 2, "solved": True},
    "roofline.1": {"text": "1", "variant": 0, "tries": 3, "solved": False},
    "hardware.9": {"text": "295", "variant": "seed1", "tries": 0, "missed": True, "solved": True},  # with new numbers
}


@pytest.fixture
def scored(page):
    page.open(PAGE)
    until(page, lambda: total_after_storing(page) == 3)
    return page


def total_after_storing(page) -> int:
    """How many answers the page counts as right after ``ANSWERS`` were stored and it was loaded again. Storage may lag
    behind a reload, and once in hundreds of times Chromium, without a disk here, drops all that was stored."""
    for name, stored in ANSWERS.items():
        page.evaluate("(both) => localStorage.setItem(...both)", [f"gpuscale:quiz:{name}", json.dumps(stored)])
    page.reload()
    page.wait_for_selector(".scores .total")
    return int(page.locator(".scores .total").inner_text().split()[0])


def states(page, part):
    marks = page.locator(f".scores .{part} ol a")
    return marks.evaluate_all("(all) => Object.fromEntries(all.map((a) => [a.hash.slice(1), a.className]))")


def test_every_question_is_counted_once_and_as_it_was_answered(scored):
    found = states(scored, "all-part")
    every = {f"q-{one.set_name}-{one.number}" for name in quiz.sets() for one in quiz.load_set(name)}
    assert set(found) == every and scored.locator(".scores .all-part ol a").count() == len(every)
    assert scored.locator(".total").inner_text() == f"3 of {len(every)} right"
    known = {"q-hardware-8": "right", "q-hardware-32": "again", "q-hardware-9": "again", "q-roofline-1": "wrong"}
    assert {name: state for name, state in found.items() if state != "open"} == known


def test_what_was_missed_comes_first_and_leads_to_the_question_and_the_lesson(scored):
    again = states(scored, "again-part")
    assert again["q-roofline-1"] == "wrong" and again["q-hardware-32"] == "again"
    assert scored.locator(".again-part tbody tr").first.locator("a.wrong").count() == 1
    lesson = scored.locator(".again-part tbody tr").first.locator("td:first-child a")
    assert "#" in lesson.get_attribute("href")
    question = scored.locator(".again-part a.wrong")
    assert "not yet right" in question.get_attribute("aria-label")
    question.click()
    scored.wait_for_url("**#q-roofline-1")
    scored.wait_for_selector("#q-roofline-1[data-result=wrong]")
    assert scored.errors == []


def test_the_score_goes_to_another_machine_and_can_be_forgotten(scored, visiting, tmp_path):
    with scored.expect_download() as download:
        scored.click(".scores button:text-is('Export')")
    path = tmp_path / "answers.json"
    download.value.save_as(path)
    assert json.loads(path.read_text(encoding="utf-8"))["others"].keys() == ANSWERS.keys()
    with visiting() as other:
        other.open(PAGE)
        other.wait_for_selector(".scores .total")
        with other.expect_file_chooser() as chooser:
            other.click(".scores button:text-is('Import')")
        chooser.value.set_files(path)
        until(other, lambda: other.locator(".total").inner_text().startswith("3 of"))
        assert states(other, "all-part")["q-roofline-1"] == "wrong"
        reset = other.locator(".scores .row button").last
        reset.click()
        assert other.locator(".total").inner_text().startswith("3 of")  # it asks first
        reset.click()
        assert other.locator(".total").inner_text().startswith("0 of")


@pytest.mark.parametrize("width", [1280, 390])
def test_it_reads_well_everywhere(scored, width):
    for theme in ("light", "dark"):
        scored.emulate_media(color_scheme=theme)
        scored.set_viewport_size({"width": width, "height": 900})
        nothing_serious(scored, PAGE)
        assert scored.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_without_a_script_the_sets_are_listed(visiting):
    with visiting(java_script_enabled=False) as page:
        page.goto(f"{page.site.as_uri()}/{PAGE}")
        links = page.locator(".scores a")
        assert links.count() == len(quiz.sets())
        assert (page.site / "chapters" / links.first.get_attribute("href")).resolve().is_file()
        assert "script" in page.locator(".scores .note").inner_text()
