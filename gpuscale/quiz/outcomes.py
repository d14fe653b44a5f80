"""What a question can come to: its right answer, its mistakes, and which two lie too near to tell apart."""

import sympy

from gpuscale.quiz import grading, wording
from gpuscale.quiz.question import Question, side


def outcomes(question: Question, variant: int) -> list[tuple[str, float]]:
    """The right answer ("the answer") and every mistake with its value in a variant."""
    return [(name, question.value(expr, variant)) for name, expr in question.named().items()]


def close(question: Question, a: float, b: float) -> bool:
    """Whether two values are too near to be told apart."""
    if a == 0 or b == 0 or (question.exact and float(a).is_integer() and float(b).is_integer()):
        return a == b
    gap = grading.bucket(a, question.tolerance) - grading.bucket(b, question.tolerance)
    return (a < 0) == (b < 0) and abs(gap) <= grading.APART


def texts(question: Question) -> list[str]:
    """Every text in which the reader sees given values."""
    card = [question.ask, question.remark, question.hint, *question.mistakes]
    return [*card, *(text for choice in question.choices for text in choice[:2]), *solution_texts(question)]


def solution_texts(question: Question) -> list[str]:
    """Those of the solution."""
    parts = question.solution if isinstance(question.solution, (list, tuple)) else [question.solution]
    return [text for part in parts for text in (part if isinstance(part, tuple) else (part,)) if isinstance(text, str)]


def used(question: Question) -> set[str]:
    """The names of given values that the question uses anywhere."""
    names = {name for text in texts(question) for name, _ in wording.placeholders(text)}
    exprs = [*question.named().values()] if question.kind == "number" else []
    for choice in question.choices:
        mark = choice[2] if len(choice) > 2 else False
        exprs += [] if isinstance(mark, bool) else [side(mark)]
    return names | {q.name for e in exprs for q in sympy.sympify(e).free_symbols}
