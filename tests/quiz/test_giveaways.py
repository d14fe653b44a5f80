"""No question of a set states the answer of another one before a reader has found it."""

import math
import re

import pytest

from gpuscale import quiz
from gpuscale.quiz import wording
from gpuscale.units import UnitError, parse

NUMBER = r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?: ([A-Za-zµ/]+))?"


def amounts(text: str, base: str) -> dict[str, float]:
    """The amounts of a kind that a text prints with at least three significant digits. Powers of two are sizes that
    many questions have, so they give nothing away."""
    out = {}
    for number, unit in re.findall(NUMBER, text.replace("\u00a0", " ")):
        written = f"{number} {unit}".strip() if base != "1" else number
        try:
            value = parse(written, base)
        except UnitError:
            continue
        if len(re.sub(r"\D", "", number).strip("0")) >= 3 and not (value >= 1 and math.log2(value).is_integer()):
            out[written] = value
    return out


def said_before_answering(one) -> str:
    """What a card shows at once: the question and its options, in each variant."""
    question = one.question
    texts = [question.ask, *(text for text, *_ in question.choices)]
    return " ".join(wording.plain(text, given) for given in question.given for text in texts)


def giveaways(items) -> list[str]:
    """The answers that another question prints, unless the question itself prints them or the other one quotes an
    error. Predictions are asked in the chapter, whose text has these numbers as well."""
    out = []
    for one in items:
        question = one.question
        if question.kind != "number":
            continue
        values = [question.value(question.expr, variant) for variant in range(len(question.given))]
        own = amounts(said_before_answering(one), question.base)
        for other in items:
            if other is one or other.question.predict or other.question.ask.startswith("Find the error"):
                continue
            for written, amount in amounts(said_before_answering(other), question.base).items():
                if written not in own and any(math.isclose(amount, value, rel_tol=2e-3) for value in values):
                    out.append(f"{other.id} states {written}, the answer of {one.id}")
    return out


@pytest.mark.parametrize("name", quiz.sets())
def test_no_question_states_the_answer_of_another(name):
    assert giveaways(list(quiz.load_set(name))) == []


def test_an_answer_in_a_later_question_is_found():
    from gpuscale.symbols import T, V, W, eta

    first = quiz.Question("{V} over {W}?", answer=V / W, given={"V": 68_681_728, "W": 8e12}, unit="s")
    later = quiz.Question("{T:4} at {eta}?", answer=T / eta, given={"T": 8.585216e-6, "eta": 0.9}, unit="s")
    told = giveaways(list(quiz.QuestionSet("told", "Told", [first, later])))
    assert told == ["told.2 states 8.585 µs, the answer of told.1"]
