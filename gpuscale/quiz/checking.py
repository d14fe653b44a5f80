"""The verdict on an answer given in Python: read, brought to base units, looked up among the question's outcomes.

What ``check`` leaves in a notebook is a line for the reader, and a record that ``grade`` reads.
"""

import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import EllipsisType

import sympy

from gpuscale.core.evaluation import inputs
from gpuscale.core.formula import Formula
from gpuscale.core.html import escape
from gpuscale.quiz import grading, wording
from gpuscale.quiz.question import Question, values_at
from gpuscale.quiz.question_sets import SEED, Item, item
from gpuscale.units import UnitError, Unreadable
from gpuscale.units.arithmetic import brief, finite
from gpuscale.units.messages import NO_NAME, NOT_FINITE
from gpuscale.widgets.shared import VERDICTS

MIME = "application/vnd.gpuscale.result+json"
VERSION = 1
Typed = str | float | sympy.Expr | Formula | EllipsisType | None


@dataclass(frozen=True)
class Result:
    """The verdict on one answer. ``message`` is HTML; ``stamp`` changes when the question does."""

    id: str
    variant: int | str
    typed: str
    verdict: str
    message: str
    stamp: str

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.verdict == "right"

    def _repr_mimebundle_(self, include=None, exclude=None):
        mark, word, _ = VERDICTS[self.verdict]
        html = (
            f'<p class="feedback {self.verdict}"><span class="mark" aria-hidden="true">{mark}</span> '
            f"<span><b>{word}</b> {self.message}</span></p>"
        )
        return {"text/html": html, "text/plain": repr(self), MIME: {"version": VERSION, **asdict(self)}}

    def __repr__(self) -> str:
        mark, word, _ = VERDICTS[self.verdict]
        return f"{self.id} {mark} {word} {wording.strip(self.message)}"


def read(record: object) -> Result | None:
    """The result that a notebook stores, or None if another version stored it."""
    if not isinstance(record, Mapping) or record.get("version") != VERSION:
        return None
    kept = {one.name: record.get(one.name) for one in fields(Result)}
    good = all(isinstance(v, str) for k, v in kept.items() if k != "variant") and _turn(kept["variant"])
    return Result(**kept) if good and kept["verdict"] in VERDICTS else None


def _turn(variant: object) -> bool:
    """Whether it names a variant: a number, or a seed."""
    return isinstance(variant, int) or (isinstance(variant, str) and bool(SEED.fullmatch(variant)))


def check(ref: str | Item, typed: Typed = ..., *, variant: int | str = 1) -> Result:
    """The verdict on an answer: a text as on the card, a number in base units, or an expression.

    A choice is named by its letter, its number from 1, or its text; ``...`` is "not answered yet".
    ``variant`` counts from 1, or is the seed of other numbers, as a card shows it and its link holds it. Raises
    UnknownQuestion for a name that is not a question, ValueError for a variant that does not exist.
    """
    whole = one = item(ref)
    if isinstance(variant, str):
        one, at = one.drawn(variant), 1
    else:
        at = variant
    spec = one.spec
    if not isinstance(at, int) or not 1 <= at <= len(spec["variants"]):
        raise ValueError(f"variant: {one.id} has variants 1 to {len(spec['variants'])}; got {variant!r}")
    if typed is ... or typed is None or (isinstance(typed, str) and not typed.strip()):
        verdict, message = "open", "Not answered yet."
    else:
        try:
            verdict, message = _verdict(one, spec, at - 1, typed)
        except UnitError as reason:
            verdict, message = "unclear", f"{escape(reason)}."
    return Result(one.id, variant, _as_text(typed), verdict, message, whole.stamp)


def _verdict(one: Item, spec: dict, variant: int, typed: Typed) -> grading.Verdict:
    if one.question.kind == "choice":
        return grading.judge(spec, variant, str(_option(one.question, variant, typed)))
    if isinstance(typed, str):
        return grading.judge(spec, variant, typed)
    if isinstance(typed, (Formula, sympy.Expr)) and one.question.kind == "formula":
        return _expression(one.question, spec, variant, typed)
    if isinstance(typed, bool) or not isinstance(typed, (numbers.Real, sympy.Number)):
        raise Unreadable(f"{type(typed).__name__} is not an answer; expected {spec['expects']}, as text")
    if one.question.kind == "formula":
        raise Unreadable(f"expected {spec['expects']}")
    value = finite(float(typed))
    unit = one.question.base
    note = "" if unit == "1" else f" A bare number is taken in base units ({unit})."
    return grading.judge_value(spec, variant, value, note)


def _option(question: Question, variant: int, typed: Typed) -> int:
    texts = [wording.plain(c[0], question.given[variant]).casefold() for c in question.choices]
    word = str(typed).strip().casefold()
    if word in texts:
        return texts.index(word)
    letters = "abcdefghij"[: len(texts)]
    if len(word) == 1 and word in letters:
        return letters.index(word)
    if not isinstance(typed, bool) and word in [str(i) for i in range(1, len(texts) + 1)]:
        return int(word) - 1
    wanted = ", ".join(letters.upper())
    raise Unreadable(f"“{brief(word)}” is not one of the options; expected {wanted}")


def _expression(question: Question, spec: dict, variant: int, typed: Formula | sympy.Expr) -> grading.Verdict:
    expr = typed.rhs if isinstance(typed, Formula) else typed
    odd = [s.name for s in expr.free_symbols if s.name not in spec["symbols"] and s.name != "flop"]
    if odd:
        raise Unreadable(NO_NAME, odd[0], ", ".join(spec["symbols"]))
    grade = spec["variants"][variant]["grade"]
    try:
        values = values_at(expr, grade["points"]) if inputs(expr) else [float(expr)] * len(grade["points"])
    except (TypeError, ValueError):
        raise Unreadable(NOT_FINITE) from None
    return grading.outcome(grade, [grading.formula_token(values)]) or ("wrong", grade["wrong"])


def _as_text(typed: Typed) -> str:
    if typed is ... or typed is None:
        return ""
    return typed if isinstance(typed, str) else str(typed.rhs if isinstance(typed, Formula) else typed)
