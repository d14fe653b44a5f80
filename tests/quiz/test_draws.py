"""Other numbers for a question: page and Python draw the same ones by a seed, and they make sense."""

import html
import json
import math
import re

import pytest
from py_mini_racer import MiniRacer

from gpuscale import quiz
from gpuscale.book.served import tight_script
from gpuscale.quiz import draws, wording
from gpuscale.quiz.card_data import number_outcomes
from gpuscale.widgets import assets

SEEDS = ["a", "Z", "teacher1", *(f"s{i:x}" for i in range(7, 7 * 48, 7))]


@pytest.fixture(scope="module")
def page():
    """The scripts that the site serves, in an engine of their own: numbers need no page."""
    engine = MiniRacer()
    for name in ("gpuscale", "practice"):
        engine.eval(f"{tight_script(assets.script(name))}\nnull")
    yield engine
    engine.close()


def drawn(name: str) -> list:
    """The questions of a set that have other numbers."""
    return [one for one in quiz.load_set(name) if one.question.kind == "number" and one.question.draws]


def evaluated(page, code, *given):
    return json.loads(page.eval(f"JSON.stringify(({code})({', '.join(map(json.dumps, given))}))"))


POSE = "(q, seeds) => seeds.map((seed) => gpuscale.practice.drawn(q, seed))"
ANSWER = "(q, turns) => turns.map((turn) => gpuscale.practice.answer(q, turn))"


def test_there_are_fifty_seeds():
    assert len(set(SEEDS)) >= 50


@pytest.mark.parametrize("name", quiz.sets())
def test_page_and_python_pose_and_grade_the_same(page, name):
    for one in drawn(name):
        expected = {}
        for seed, found in zip(SEEDS, evaluated(page, POSE, one.spec, SEEDS), strict=True):
            ours = one.question.drawn(seed, one.id)
            key = json.dumps(ours.given[0])
            if key not in expected:
                rows, wrong = number_outcomes(ours, 0)
                outcomes = {bucket: ("r" if right else "w") + message for bucket, right, message in rows}
                expected[key] = wording.render(ours.ask, ours.given[0]), outcomes, wrong
            assert found["values"] == ours.given[0], (one.id, seed)
            grade = found["grade"]
            assert (found["ask"], grade["open"], grade["wrong"]) == expected[key], (one.id, seed)
            assert (grade["tolerance"], grade["exact"]) == (ours.tolerance, ours.exact)


@pytest.mark.parametrize("name", quiz.sets())
def test_the_page_gives_the_answer_of_each_variant_in_words(page, name):
    others = drawn(name)
    for one in quiz.load_set(name):
        question = one.question
        if question.kind == "formula":
            continue
        turns = list(range(len(question.given))) + (SEEDS[:5] if one in others else [])
        for turn, said in zip(turns, evaluated(page, ANSWER, one.spec, turns), strict=True):
            plain = html.unescape(re.sub("<[^>]+>", "", said))
            if question.kind == "choice":
                chosen = wording.plain(question.choices[question.right(turn)][0], question.given[turn])
                bare = re.sub(r"\\[()]", "", plain).replace(
                    "\u00a0", " "
                )  # the page sets what stands between \( and \)
                assert chosen.removesuffix(".") in bare, (one.id, turn)
                continue
            ours, at = (question.drawn(turn, one.id), 0) if isinstance(turn, str) else (question, turn)
            assert f" {ours.show(ours.value(ours.expr, at))}." in plain, (one.id, turn)


@pytest.mark.parametrize("name", quiz.sets())
def test_drawn_numbers_could_be_asked_by_an_author(name):
    """As a question of their own they pass every check that the numbers as written pass."""
    for one, given in ((item, given) for item in drawn(name) for given in item.question.draws):
        question = quiz.Question(
            **{
                name: getattr(one.question, name)
                for name in ("ask", "answer", "unit", "tolerance", "exact", "mistakes")
            },
            **{name: getattr(one.question, name) for name in ("noun", "remark", "hint")},
            given=given,
            solution=one.question.solution,
        )
        quiz.check_question(question)
        assert given not in one.question.given[:1], one.id


def test_most_questions_of_numbers_have_others_and_the_rest_say_why():
    numbers = [one for name in quiz.sets() for one in quiz.load_set(name) if one.question.kind == "number"]
    alike = [one for one in numbers if not one.question.draws]
    reasons = [
        one.id
        for one in alike
        if not one.question.fixed and not one.question.predict and not one.question.ask.startswith(draws.QUOTES)
    ]
    looked_up = [name for name in reasons if not draws.free(quiz.item(name).question)]
    assert len(numbers) - len(alike) >= 200
    assert set(reasons) - set(looked_up) == {"beyond_the_pod.12", "expert_parallelism.9", "overlap.20"}


def test_what_holds_between_the_written_numbers_holds_between_all():
    """A quarter of the slips that a draw could make: order, divisors, and which bound is the larger."""
    from gpuscale.symbols import N, V, W, alpha, n_unit

    whole = quiz.Question(
        "{N} GPUs in units of {n_unit}. How many units?", answer=N / n_unit, given={"N": 64, "n_unit": 8}, noun="units"
    )
    assert whole.draws
    for given in whole.draws:
        assert given["N"] > given["n_unit"] and given["N"] % given["n_unit"] == 0
    import sympy

    bound = quiz.Question(
        "{V} over {W} or {alpha}: the longer?",
        answer=sympy.Max(V / W, alpha),
        given={"V": 1e6, "W": 1e9, "alpha": 1e-6},
        unit="s",
        vary={alpha: (1e-6, 1e-2)},
    )
    assert bound.draws
    assert all(given["V"] / given["W"] > given["alpha"] for given in bound.draws)


def test_a_reason_keeps_the_numbers():
    from gpuscale.symbols import V, W

    asked = {"ask": "{V} over {W}?", "answer": V / W, "given": {"V": 1e9, "W": 4e11}}
    assert quiz.Question(**asked).draws
    assert not quiz.Question(**asked, fixed="a measured number").draws
    assert {given["V"] for given in quiz.Question(**asked, vary={V: ()}).draws} == {1e9}
    assert not quiz.Question(**asked | {"ask": "Find the error. {V} over {W}?"}).draws


def test_pick_is_spread_evenly():
    """Each of 36 places is hit about as often by many seeds, as a die would: within five standard deviations."""
    hits = [0] * 36
    for i in range(7200):
        hits[draws.pick(f"s{i}", "hardware.15", 36)] += 1
    assert all(abs(count - 200) < 5 * math.sqrt(200) for count in hits)


def test_check_takes_a_seed():
    one = quiz.item("rings_and_trees.1")
    ours = one.question.drawn("k3f9", one.id)
    typed = ours.show(ours.value(ours.expr))
    result = quiz.check(one, typed, variant="k3f9")
    assert result.right and result.variant == "k3f9" and result.stamp == one.stamp
    assert not quiz.check(one, typed).right
    with pytest.raises(ValueError, match="seed: expected letters"):
        quiz.check(one, typed, variant="3 4")
    with pytest.raises(ValueError, match="same for all|same for every"):
        quiz.check("hardware.1", "3", variant="k3f9")
