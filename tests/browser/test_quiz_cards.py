"""Quiz cards on the site: every question stands on its page and leaks nothing, and cards of each kind answer a reader.

Answers are worked out from the questions' formulas and typed into the page's cards. tests/quiz/test_parity.py gives
those of every question to the same script, without a page.
"""

import json
import math
import re

import pytest
from browser.bookpages import PAGES, probe, said, until
from browser.quizcard import Card, each, plain

from gpuscale import quiz
from gpuscale.core.dimension import dimension, of_unit
from gpuscale.quiz import wording
from gpuscale.quiz.question import values_at

MALFORMED = ("foo", "", "1e999", "<b>x</b>", "3 4", "((1)")


PLACES = [*(f"exercises/{name}.html" for name in quiz.sets()), "chapters/roofline.html"]
# Cards and scores are the same script on every page: a published quiz, one with formulas and predictions, a chapter.
SOME = ["exercises/hardware.html", "exercises/putting_it_together.html", "chapters/roofline.html"]
some = pytest.mark.parametrize("cards", SOME, indirect=True, scope="module")


@pytest.fixture(scope="module", params=PLACES)
def cards(request, tab):
    """The cards of each set in turn: on its sheet, and of one among a chapter's figures."""
    page = tab(request.param)
    assert not page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('gpuscale:quiz'))")
    return [Card(page, item) for item in quiz.load_set(request.param.split("/")[1].removesuffix(".html"))]


def test_every_set_has_a_sheet():
    assert set(PLACES) <= set(PAGES)


@some
def test_solutions_are_hidden_until_right_or_tried_twice(cards):
    """Comes first: the cards are as a reader finds them."""
    each(cards, solution_is_earned)


def solution_is_earned(card):
    if not card.at.locator(".solution").count():
        return
    found = card.answers(*((text, 0) for text in 2 * ("foo", card.wrong())))
    seen = [one["solution"] for one in found]
    predict = card.question.predict
    if seen != ([False, False, True, True, True] if predict else [False, False, False, False, True]):
        yield f"the solution is seen {seen} after nothing, unclear, wrong, unclear, wrong"
    if found[-1]["unfolded"] != predict:
        yield "a prediction shows its answer at once, any other question when it is asked to"


@some
def test_right_answers_are_right_in_any_unit(cards):
    each(cards, right_is_right)


def right_is_right(card):
    texts = [card.right(variant) for variant in card.variants]
    _, *all_found = card.answers(*zip(texts, card.variants, strict=True))
    for variant, (text, found) in enumerate(zip(texts, all_found, strict=True)):
        if found["verdict"] != "right" or found["invalid"] == "true":
            yield f"variant {variant}: {text!r}: {found['message']}"
        if card.question.kind == "number" and plain(
            card.question.show(card.question.value(card.question.expr, variant))
        ) not in plain(found["message"]):
            yield f"variant {variant}: {found['message']!r} does not give the answer"
        if card.question.remark and card.says(card.question.remark, variant) not in plain(found["message"]):
            yield f"variant {variant}: the remark is missing in {found['message']!r}"
        if not found["solution"] and card.at.locator(".solution").count():
            yield "the solution stays hidden"


@some
def test_every_known_mistake_is_told_by_name(cards):
    each(cards, mistakes_are_named)


def mistakes_are_named(card):
    for variant in card.variants:
        texts = card.mistakes(variant)
        _, *all_found = card.answers(*((text, variant) for text in texts))
        for (text, message), found in zip(texts.items(), all_found, strict=True):
            if found["verdict"] != "wrong" or card.says(message, variant) not in plain(found["message"]):
                yield f"variant {variant}: {text!r}: expected “{message}”, got {found['verdict']} {found['message']!r}"


@some
def test_choices_answer_with_their_reason(cards):
    each(cards, reason_is_given, kinds=("choice",))


def reason_is_given(card):
    for variant in card.variants:
        i = card.question.right(variant)
        found = card.answer(str(i), variant)
        if found["verdict"] != "right" or card.says(card.question.choices[i][1], variant) not in plain(
            found["message"]
        ):
            yield f"option {i}: {found['verdict']} {found['message']!r}"


@some
def test_what_cannot_be_read_is_not_graded(cards):
    each(cards, unreadable_is_not_graded)


def unreadable_is_not_graded(card):
    if card.question.kind == "choice":
        found = card.answer("none of them")
        if found["verdict"] != "unclear":
            yield f"nothing chosen is {found['verdict']}"
        return
    _, *all_found = card.answers(*((text, 0) for text in MALFORMED))
    for text, found in zip(MALFORMED, all_found, strict=True):
        if found["verdict"] != "unclear" or "Not graded" not in found["message"]:
            yield f"{text!r} is {found['verdict']}: {found['message']!r}"
        if "<b>x" in found["html"]:
            yield f"what was typed becomes part of the page: {found['html']}"
    text = "3 s" if card.question.base == "B" else "3 GB"
    if card.question.kind == "formula":
        wanted = of_unit(card.question.base)
        odd = [s.name for s in card.question.may_use if dimension(s) not in (wanted, of_unit("1"))]
        text = odd[0] if odd else ""
    if text:
        found = card.answer(text)
        if found["verdict"] != "unclear" or "expected" not in found["message"]:
            yield f"{text} where {card.spec['expects']} is asked: {found['verdict']}: {found['message']!r}"


@some
def test_formulas_may_be_spelled_in_any_way(cards):
    each(cards, spelling_is_free, kinds=("formula",))


def spelling_is_free(card):
    texts = card.spellings()
    _, *all_found = card.answers(*((text, 0) for text in texts))
    for text, found in zip(texts, all_found, strict=True):
        if found["verdict"] != "right":
            yield f"{text!r}: {found['message']!r}"
        if not found["preview"]:
            yield f"{text!r} has no preview"
    card.at.locator(".answer input").fill("((")
    if card.at.locator(".preview math").count() or len(card.at.locator(".preview").inner_text()) < 10:
        yield "the preview of “((” does not say what is wrong"


@some
def test_another_variant_is_another_question(cards):
    each(cards, variants_differ)


def variants_differ(card):
    buttons = card.at.locator(".again .btn", has_text="New numbers")
    if buttons.count() != (len(card.variants) > 1 or bool(card.question.draws)):
        yield "offers new numbers, but has none" if buttons.count() else "does not offer its other numbers"
    if len(card.variants) == 1:
        return
    last = len(card.variants) - 1
    card.answer(card.right(last), last)
    seen = card.at.evaluate(probe("asked"), {"from": last, "variants": len(card.variants)})
    if any(one["stays"] for one in seen):
        yield "a new variant shows the old feedback"
    asked = [one["prompt"] for one in seen]
    for turn, prompt in enumerate(asked[1:]):
        if (
            plain(card.spec["variants"][turn]["ask"])[:20] not in plain(prompt.split(". ", 1)[1])[:40]
            and "\\(" not in card.spec["ask"]
        ):
            yield f"variant {turn} asks {prompt!r}"
    _, *found = card.answers(*((card.right(turn), turn) for turn in card.variants))
    yield from (f"variant {i} takes the answer of another" for i, one in enumerate(found) if one["verdict"] != "right")
    if asked[0] != asked[-1] or len(set(asked)) != len(card.variants):
        yield f"asks the same: {asked}"


@some
def test_the_score_counts_keeps_exports_and_forgets(cards):
    """In a reader's order, with real keys and clicks where the reader has them."""
    page = cards[0].page
    score = page.locator(f".score[data-set={cards[0].item.set_name}]")
    press_reset(score)
    assert score.evaluate(probe("score"))["text"] == f"0 of {len(cards)} right"
    first = next(c for c in cards if c.question.kind == "number")
    for card in cards:
        card.turned(0)
    place = cards.index(first)
    first.at.locator(".answer input").fill(first.wrong())
    first.at.locator(".answer input").press("Enter")
    seen = score.evaluate(probe("score"))
    assert seen["text"] == f"0 of {len(cards)} right" and seen["pips"][place][0] == "wrong"
    first.at.locator(".answer input").fill(first.right())
    first.at.locator(".btn.main").click()
    seen = score.evaluate(probe("score"))
    assert seen["text"] == f"1 of {len(cards)} right" and seen["pips"][place][:2] == ["right", "✓"]
    done = answered(cards, score)
    if reloaded(page, score)["text"] == f"0 of {len(cards)} right":  # once in hundreds of times Chromium, which has no
        answered(cards, score)  # disk here, drops all that a page has stored; a page that stores nothing fails below
    until(page, lambda: reloaded(page, score) == done)  # storage may lag behind a reload
    assert page.evaluate(RESULTS) == ["right"] * len(cards)
    with page.expect_download() as saved:
        score.get_by_role("button", name="Export").click()
    exported = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert exported["set"] == cards[0].item.set_name
    assert {k: v["text"] for k, v in exported["answers"].items()} == {c.item.id: c.right() for c in cards}
    press_reset(score)
    assert score.evaluate(probe("score"))["text"] == f"0 of {len(cards)} right"
    assert page.evaluate(RESULTS) == [""] * len(cards)
    assert page.evaluate(STORED) == ["{}"] * len(cards)  # of which the next visit reads
    assert page.errors == []


def answered(cards, score) -> dict:
    """The score when all questions have their right answer."""
    for card in cards:
        assert card.answer(card.right())["verdict"] == "right", card.item.id
    done = score.evaluate(probe("score"))
    assert done["text"] == f"{len(cards)} of {len(cards)} right"
    assert [p[0] for p in done["pips"]] == ["right"] * len(cards)
    assert [p[2] for p in done["pips"]] == [f"#q-{c.item.set_name}-{c.item.number}" for c in cards]
    return done


RESULTS = "() => [...document.querySelectorAll('form.quiz')].map((form) => form.dataset.result)"


STORED = "() => Object.keys(localStorage).filter((k) => k.startsWith('gpuscale:quiz:')).map((k) => localStorage[k])"


def reloaded(page, score) -> dict:
    """The score as it stands after a reload."""
    page.reload()
    return score.evaluate(probe("score"))


def press_reset(score) -> None:
    """Forgetting is asked once more, on the button itself."""
    score.get_by_role("button", name="Reset").click()
    score.get_by_role("button", name="Forget all answers?").click()
    assert score.get_by_role("button", name="Reset").count() == 1


# By the id of each card on the page: its data, its solution and the label of its field.
HELD = """() => Object.fromEntries([...document.querySelectorAll('form.quiz')].map((form) => [form.id, {
  spec: form.querySelector('script[type$=json]').textContent,
  told: form.querySelector('.solution')?.textContent ?? '',
  label: form.querySelector('.answer label, legend')?.innerText,
}]))"""


def held(cards) -> list[dict]:
    """What the page holds of each of the cards."""
    on_page = cards[0].page.evaluate(HELD)
    return [on_page[f"q-{card.item.set_name}-{card.item.number}"] for card in cards]


def test_the_page_holds_no_answer(cards, site):
    """Neither the grading data nor the folded solution has the digits of an answer; messages are sealed."""
    problems = []
    for card, on_page in zip(cards, held(cards), strict=True):
        spec = json.loads(on_page["spec"])
        for number, variant in enumerate(spec["variants"]):
            grade = variant["grade"]
            assert set(grade) <= {"salt", "outcomes", "wrong", "tolerance", "exact", "points"}
            assert grade == card.spec["variants"][number]["grade"], card.item.id
            assert all(re.fullmatch("[0-9a-f]+", k + v) for k, v in grade["outcomes"].items())
            problems += [f"{card.item.id}: {what}" for what in leaks(card, spec, on_page["told"], number)]
    assert not problems, said(problems)


def leaks(card, spec, told, variant):
    q = card.question
    rest = [spec["expects"], spec["variants"][variant]["grade"]["wrong"], told]
    if q.kind == "number":
        digits = re.sub(r"[^\d.,]", "", q.show(q.value(q.expr, variant)))
        given = {re.sub(r"[^\d.,]", "", wording.shown(k, v)) for k, v in q.given[variant].items()}
        if len(re.sub(r"\D", "", digits).strip("0")) >= 3 and digits not in given:
            yield from (
                f"{digits} in {text!r}" for text in rest if re.search(rf"(?<![\d.]){re.escape(digits)}(?!\d)", text)
            )
    if q.kind == "formula":
        values = [f"{v:.6g}" for v in values_at(q.expr, q.points)]
        yield from (
            f"{v} among the points" for v in values if math.isfinite(float(v)) and v in json.dumps(spec["variants"])
        )


def test_all_questions_stand_on_their_page(cards):
    assert not cards[0].page.evaluate(
        "() => [...document.querySelectorAll('form .fallback')].some((el) => el.checkVisibility())"
    )
    for card, on_page in zip(cards, held(cards), strict=True):
        label = on_page["label"]
        assert label and (card.question.kind == "choice" or card.spec["expects"] in label)
