"""What a question is drawn and graded from, in Python and on the page; it holds no answer."""

from gpuscale.core.formula import Formula
from gpuscale.core.html import escape
from gpuscale.quiz import grading, wording
from gpuscale.quiz.drawn_data import drawn_data
from gpuscale.quiz.question import Question, values_at
from gpuscale.units import BASE_UNITS, WORDS, parse
from gpuscale.units.tables import BARE
from gpuscale.widgets.shared import IT_IS, NOT_WITHIN, OTHER_WHOLE, SLIPS

PREDICT = "Predict first."


def spec(question: Question, set_name: str, number: int) -> dict:
    """Everything the page needs to draw and grade a question; it holds no answer, only hashes and formulas."""
    name = f"{set_name}.{number}"
    variants = [
        {"ask": wording.render(question.ask, given), "grade": _grade(question, f"{name}/{i}", i)}
        for i, given in enumerate(question.given)
    ]
    out = {"id": name, "number": number, "kind": question.kind, "ask": variants[0]["ask"]}
    out |= {"expects": expects(question), "attempts_to_reveal": 2, "variants": variants}
    if question.predict:
        out |= {"attempts_to_reveal": 1, "label": PREDICT}
    if question.kind == "choice":
        return out | {"choices": [{"text": wording.render(c[0], question.given[0])} for c in question.choices]}
    out |= {"unit": question.asked_unit, "noun": question.noun}
    if question.kind == "number":
        return out | {"drawn": drawn_data(question)}
    if isinstance(question.answer, Formula):
        out["lhs"] = question.answer.lhs.html
    letters = {q.name: {"unit": q.unit, "html": q.html} for q in question.may_use}
    return out | {"unit": question.base, "symbols": list(letters), "letters": letters}


def expects(question: Question) -> str:
    """The kind of answer in words: "a time, such as 65 us"; the example is never the answer."""
    if question.kind == "choice":
        return "one of the options"
    if question.kind == "formula":
        names = [q.name for q in question.may_use]
        return "a formula in " + " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    if question.asked_unit == "%":
        return "a fraction, such as 45% or 0.45"
    word = f"a number of {question.noun}" if question.noun else WORDS[question.base]
    return f"{word}, such as {question.example or _example(question)}"


def _example(question: Question) -> str:
    base, unit = question.base, question.asked_unit
    taken = [v for i in range(len(question.given)) for _, v in question.outcomes(i)]
    texts = [f"{n} {unit}" for n in (40, 7)] if unit != base else BASE_UNITS[base][2:]
    if base == "1" and not question.exact and abs(taken[0]) < 1:
        texts = ["0.4", "0.75"]
    for text in texts:
        if not any(question.close(parse(text, base), v) for v in taken):
            return text
    return texts[-1]


def _grade(question: Question, salt: str, variant: int) -> dict:
    given = question.given[variant]
    if question.kind == "number":
        rows, wrong = number_outcomes(question, variant)
        return grading.grade_data(salt, rows, wrong, tolerance=question.tolerance, exact=question.exact)
    said = {f"“{m}”": wording.render(m, given, tex=False) for m in question.mistakes}
    if question.kind == "choice":
        right = question.right(variant)
        feedback = [wording.render(c[1], given, tex=False) for c in question.choices]
        return grading.grade_data(salt, [(f"#{i}", i == right, t) for i, t in enumerate(feedback)], "")
    remark, hint = _after(question, given)
    return _formula_grade(question, salt, said, remark, hint)


def _after(question: Question, given: dict) -> tuple[str, str]:
    """What follows a right answer, and what is said to a wrong one."""
    remark = " " + wording.render(question.remark, given, tex=False) if question.remark else ""
    return remark, wording.render(question.hint, given, tex=False)


def number_outcomes(question: Question, variant: int) -> tuple[list[tuple[str, bool, str]], str]:
    """The outcomes of a variant as (bucket, right, message), and what is said to any other answer."""
    given = question.given[variant]
    said = {f"“{m}”": wording.render(m, given, tex=False) for m in question.mistakes}
    remark, hint = _after(question, given)
    found = question.outcomes(variant)
    said["the answer"] = IT_IS.format(escape(question.show(found[0][1]))) + remark
    found += _common(question, found)
    rows = [
        (grading.token(v, question.tolerance, question.exact), name == "the answer", said.get(name, name))
        for name, v in found
    ]
    plain = NOT_WITHIN.replace("{}", f"{100 * question.tolerance:g}")
    wrong = hint or (OTHER_WHOLE if question.exact else plain)
    return rows, wrong


def _common(question: Question, found: list) -> list:
    """Common mistakes that are far from every other outcome."""
    if question.exact or found[0][1] == 0:
        return []
    out = []
    for factor, message in SLIPS:
        value = factor * found[0][1]
        if factor not in (2.0, 0.5) and question.base in BARE:
            continue
        if not any(question.close(value, v) for _, v in found + out):
            out.append((message, value))
    return out


def _formula_grade(question: Question, salt: str, said: dict, remark: str, hint: str) -> dict:
    said["the answer"] = f"It equals the book's formula for all values.{remark}"
    rows = [
        (grading.formula_token(values_at(expr, question.fixed_points)), name == "the answer", said[name])
        for name, expr in question.named().items()
    ]
    points = [{q.name: p[q.name] for q in question.may_use} for p in question.fixed_points]
    wrong = hint or "It does not equal the expected formula. Try a case small enough to count by hand."
    return grading.grade_data(salt, rows, wrong, points=points)
