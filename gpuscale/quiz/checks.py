"""What a question must satisfy before it is asked: every mistake of an author is caught here."""

import itertools

import sympy

from gpuscale.core.derivation import Derivation
from gpuscale.core.dimension import DimensionError, dimension, fits, words
from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.quiz import grading, wording
from gpuscale.quiz.question import Question, QuestionError, side, values_at


def check_question(question: Question) -> None:
    """Raises QuestionError for the first thing about a question that would confuse a reader."""
    try:
        _check(question)
    except (DimensionError, TypeError, ValueError, KeyError) as error:
        raise QuestionError(f"{question.title}: {error}") from error


def _check(question: Question) -> None:
    if not question.ask.strip():
        raise QuestionError("a question needs a text")
    _same_inputs(question)
    if question.kind == "choice":
        _choices(question)
    else:
        _answer(question)
    _texts(question)
    if unused := [n for n in question.given[0] if n not in _used(question)]:
        raise QuestionError(f"given {', '.join(unused)}, which is not used")
    if question.kind == "number":
        _numbers(question)
    if question.kind == "formula":
        _formulas(question)
    _solution(question)
    if question.predict and not any(_solution_texts(question)):
        raise QuestionError("a prediction needs a solution in words, which unfolds after the first answer")


def _same_inputs(question: Question) -> None:
    for i, given in enumerate(question.given[1:], 2):
        if odd := set(given) ^ set(question.given[0]):
            raise QuestionError(f"variant {i} and variant 1 differ in {', '.join(sorted(odd))}")


def _choices(question: Question) -> None:
    if question.answer is not None or question.mistakes:
        raise QuestionError("choices carry their own feedback; expected no answer, no mistakes")
    if len(question.choices) < 2:
        raise QuestionError("expected at least two choices")
    for choice in question.choices:
        if len(choice) != 3 or not all(isinstance(t, str) and t.strip() for t in choice[:2]):
            raise QuestionError(f"a choice is (text, feedback, right); got {choice!r}")
        if len(question.given) > 1 and wording.placeholders(choice[0]):
            raise QuestionError(f"choices stay the same in all variants; {choice[0]!r} holds a value")
    for variant in range(len(question.given)):
        question.right(variant)


def _answer(question: Question) -> None:
    good = isinstance(question.answer, Formula) or (isinstance(question.answer, sympy.Expr) and inputs(question.answer))
    if not good:
        raise QuestionError(f"the answer is {question.answer!r}; expected a Formula or an expression in quantities")
    if not 0 < question.tolerance <= 0.5:
        raise QuestionError(f"tolerance {question.tolerance}; expected a fraction such as 0.02")
    if not fits(question.expr, question.base):
        found = words(dimension(question.expr))
        raise QuestionError(f"the answer is {found}, the declared unit {question.asked_unit!r}")


def _all_texts(question: Question) -> list[str]:
    """Every text in which the reader sees given values."""
    card = [question.ask, question.remark, question.hint, *question.mistakes]
    return [*card, *(text for choice in question.choices for text in choice[:2]), *_solution_texts(question)]


def _solution_texts(question: Question) -> list[str]:
    """Those of the solution."""
    parts = question.solution if isinstance(question.solution, (list, tuple)) else [question.solution]
    return [text for part in parts for text in (part if isinstance(part, tuple) else (part,)) if isinstance(text, str)]


def _used(question: Question) -> set[str]:
    """The names of given values that the question uses anywhere."""
    names = {name for text in _all_texts(question) for name, _ in wording.placeholders(text)}
    exprs = [*question.named().values()] if question.kind == "number" else []
    for choice in question.choices:
        mark = choice[2] if len(choice) > 2 else False
        exprs += [] if isinstance(mark, bool) else [side(mark)]
    return names | {q.name for e in exprs for q in sympy.sympify(e).free_symbols}


def _texts(question: Question) -> None:
    feedback = [question.remark, question.hint, *question.mistakes, *(c[1] for c in question.choices)]
    for given in question.given:
        for text in _all_texts(question):
            wording.render(text, given, tex=text not in feedback)


def _numbers(question: Question) -> None:
    for variant in range(len(question.given)):
        found = question.outcomes(variant)
        right = found[0][1]
        if question.exact and (right != round(right) or abs(right) >= 2**53):
            raise QuestionError(f"exact, but the answer is {right!r}; expected a whole number")
        for (one, a), (other, b) in itertools.combinations(found, 2):
            if question.close(a, b):
                raise QuestionError(
                    f"variant {variant + 1}: {one} ({question.show(a)}) and {other} "
                    f"({question.show(b)}) are within tolerance of each other"
                )
        _readable(question, variant, right)


def _readable(question: Question, variant: int, right: float) -> None:
    """The reader sees rounded values: what follows from them must still count as right, with room."""
    seen = question.value(question.expr, variant, wording.as_seen(question.ask, question.given[variant]))
    if question.exact or right == 0:
        good = seen == right
    else:
        gap = grading.bucket(seen, question.tolerance) - grading.bucket(right, question.tolerance)
        good = abs(gap) <= grading.REACH // 2
    if not good:
        raise QuestionError(
            f"variant {variant + 1}: the values shown give {question.show(seen)}, the exact ones "
            f"{question.show(right)}; show more digits, as in {{V:,4}}"
        )


def _formulas(question: Question) -> None:
    allowed, exprs = set(question.may_use), question.named()
    for name, expr in exprs.items():
        if odd := [q.name for q in inputs(expr) if q not in allowed]:
            raise QuestionError(f"{name} holds {', '.join(odd)}, which the reader cannot use")
    tokens = {n: grading.formula_token(values_at(e, question.fixed_points)) for n, e in exprs.items()}
    for one, other in itertools.combinations(tokens, 2):
        if tokens[one] == tokens[other]:
            raise QuestionError(f"{one} and {other} are the same formula")
    if unsaid := [q.name for q in inputs(question.expr) if not wording.names(question.ask, q)]:
        raise QuestionError(f"the text does not say what {', '.join(unsaid)} stands for")


def _solution(question: Question) -> None:
    """A solution that ends in an expression must end in the answer."""
    parts = question.solution if isinstance(question.solution, list) else [question.solution]
    if len(question.given) > 1 and any(wording.placeholders(text) for text in _solution_texts(question)):
        raise QuestionError("the solution stays the same in all variants, but it holds a value")
    for part in parts:
        step = isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], str) and part[1]
        if part is not None and not isinstance(part, (str, Formula, Derivation)) and not step:
            raise QuestionError(f"solution {part!r}; expected a Derivation, a Formula, a text or (expression, why)")
    last = question.end
    if question.kind == "choice" or last is None:
        return
    if not fits(last, question.base):
        raise QuestionError(f"the solution ends in {last}, which is not in {question.base}")
    if _gap(question, last) > 1e-9:
        raise QuestionError(f"the solution ends in {last}; the answer is {question.expr}")


def _gap(question: Question, last) -> float:
    if question.kind == "formula":
        if set(inputs(last)) - set(question.may_use):
            return 1.0
        ends, answers = (values_at(expr, question.fixed_points) for expr in (last, question.expr))
    else:
        variants = range(len(question.given))
        ends, answers = ([question.value(expr, v) for v in variants] for expr in (last, question.expr))
    return max(abs(a - b) / max(abs(b), 1e-300) for a, b in zip(ends, answers, strict=True))
