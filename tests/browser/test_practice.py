"""Practising with a quiz: other numbers by a seed in the link, the answer after two misses, what to review, and
progress as a file."""

import json

import pytest
from browser.bookpages import probe, until
from browser.quizcard import Card, plain

from gpuscale import quiz
from gpuscale.quiz import wording

PAGE = "exercises/rings_and_trees.html"
SEED = "teacher1"


@pytest.fixture(scope="module")
def page(tab):
    return tab(PAGE)


def card(page, number):
    return Card(page, quiz.load_set("rings_and_trees")[number])


def prompt(one) -> str:
    return plain(one.at.locator(".drawn .prompt").inner_text()).split(". ", 1)[1]


def posed(one, seed) -> bool:
    """Whether the card asks with the numbers of a seed; mathematics in it is drawn otherwise."""
    ours = one.question.drawn(seed, one.item.id)
    said = plain(wording.render(ours.ask, ours.given[0]))
    return prompt(one)[:20] == said[:20] and (prompt(one) == said or "$" in one.question.ask)


def typed(question) -> str:
    return f"{question.value(question.expr):.9g} {question.base}"


def forget(page):
    page.evaluate("() => localStorage.clear()")
    page.goto(page.url.split("#")[0])


def test_a_link_poses_the_numbers_of_its_seed(page):
    one = card(page, 1)
    page.goto(f"{page.url.split('#')[0]}#q-rings_and_trees-1:{SEED}")
    ours = one.question.drawn(SEED, one.item.id)
    until(page, lambda: posed(one, SEED))
    assert one.at.locator(".again a").get_attribute("href") == f"#q-rings_and_trees-1:{SEED}"
    one.at.locator(".answer input").fill(typed(ours))
    one.at.locator(".btn.main").click()
    assert one.at.get_attribute("data-result") == "right"
    page.reload()
    until(page, lambda: posed(one, SEED))
    assert page.errors == []
    forget(page)


def test_a_link_poses_the_numbers_of_all_questions(page):
    page.goto(f"{page.url.split('#')[0]}#quiz:{SEED}")
    for item in quiz.load_set("rings_and_trees"):
        if item.question.draws:
            until(page, lambda item=item: posed(Card(page, item), SEED))
    forget(page)


def test_new_numbers_are_another_question(page):
    one = card(page, 3)
    seen = {prompt(one)}
    for _ in range(4):
        one.at.get_by_role("button", name="New numbers").click()
        until(page, lambda: one.at.locator(".again a").count() == 1)
        seen.add(prompt(one))
        seed = one.at.locator(".again a").inner_text()
        ours = one.question.drawn(seed, one.item.id)
        one.at.locator(".answer input").fill(typed(ours))
        one.at.locator(".btn.main").click()
        assert plain(ours.show(ours.value(ours.expr))) in plain(one.at.locator(".feedback").inner_text())
    assert len(seen) >= 3
    forget(page)


@pytest.mark.parametrize("number", [1, 13])
def test_two_misses_tell_the_answer(page, number):
    one = card(page, number)
    for _ in range(2):
        assert not one.at.locator(".told").count()
        one.answer(one.wrong())
    until(page, lambda: one.at.locator(".told").count() == 1)
    question = one.question
    said = plain(one.at.locator(".told").inner_text())
    if question.kind == "number":
        assert said == f"The answer is {plain(question.show(question.value(question.expr)))}."
    else:
        assert plain(question.choices[question.right(0)][0]).removesuffix(".") in said
    one.answer(one.right())
    assert not one.at.locator(".told").count()
    forget(page)


def test_new_numbers_hide_the_old_answer_and_remember_the_miss(page, tmp_path):
    one, score = card(page, 3), page.locator(".score[data-set=rings_and_trees]")
    for _ in range(2):
        one.answer(one.wrong())
    until(page, lambda: one.at.locator(".told").count() == 1)
    one.at.get_by_role("button", name="New numbers").click()
    until(page, lambda: one.at.locator(".again a").count() == 1)
    assert not one.at.locator(".told").count()
    with page.expect_download() as saved:
        score.get_by_role("button", name="Export").click()
    file = tmp_path / "answers.json"
    file.write_bytes(saved.value.path().read_bytes())
    forget(page)
    load(page, score, file)
    until(page, lambda: "1 of them new" in score.locator(".said").inner_text())
    score.get_by_role("button", name="What to review").click()
    until(page, lambda: score.locator(".said li").count() == 1)
    forget(page)


def test_what_was_missed_leads_to_where_it_is_taught(page):
    score = page.locator(".score[data-set=rings_and_trees]")
    score.get_by_role("button", name="What to review").click()
    until(page, lambda: score.locator(".said").inner_text() == "Nothing has been missed so far.")
    card(page, 1).answer(card(page, 1).wrong())
    score.get_by_role("button", name="What to review").click()
    until(page, lambda: score.locator(".said li").count() == 1)
    links = score.locator(".said li a").evaluate_all("(them) => them.map((a) => a.href)")
    assert links[0].endswith("#q-rings_and_trees-1") and "/chapters/rings_and_trees.html#" in links[1]
    forget(page)


def test_progress_goes_to_another_machine_and_back(page, tmp_path):
    score = page.locator(".score[data-set=rings_and_trees]")
    first, second = card(page, 1), card(page, 2)
    first.answer(first.right())
    with page.expect_download() as saved:
        score.get_by_role("button", name="Export").click()
    file = tmp_path / "answers.json"
    file.write_bytes(saved.value.path().read_bytes())
    forget(page)
    second.answer(second.right())
    first.answer(first.wrong())
    load(page, score, file)
    until(page, lambda: score.evaluate(probe("score"))["text"] == f"2 of {len(quiz.load_set('rings_and_trees'))} right")
    load(page, score, file)
    until(page, lambda: "0 of them new" in score.locator(".said").inner_text())
    forget(page)


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"answers": 3}', json.dumps({"answers": {"<b>.x": {"text": "1"}}})])
def test_a_file_that_is_not_ours_changes_nothing(page, tmp_path, text):
    score = page.locator(".score[data-set=rings_and_trees]")
    before = page.evaluate("() => JSON.stringify(localStorage)")
    file = tmp_path / "<i>other.json"
    file.write_text(text, encoding="utf-8")
    load(page, score, file)
    until(page, lambda: "holds no answers" in score.locator(".said").inner_text())
    assert page.evaluate("() => JSON.stringify(localStorage)") == before
    assert page.errors == []


def load(page, score, file):
    with page.expect_file_chooser() as chosen:
        score.get_by_role("button", name="Import").click()
    chosen.value.set_files(file)
