"""Questions that grade themselves, on the page and in the notebook.

    from gpuscale.quiz import ask, check
    ask("hardware.3")              # shows the card
    check("hardware.3", "65 us")   # the verdict, with its reason

The questions are data: modules under ``exercises/``, each with one ``questions = QuestionSet(...)``.
"""

from __future__ import annotations

import difflib
import importlib
import math
import numbers
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType

import sympy

from gpuscale import answers, grammar, prose, quiz_html
from gpuscale.display import digesting
from gpuscale.formula import Formula, inputs
from gpuscale.mistakes import (
    Times,
    bits_for_bytes,
    both_directions,
    bytes_for_bits,
    extra_factor,
    fma_twice,
    gb_for_gib,
    gib_for_gb,
    mb_for_mib,
    mib_for_mb,
    missing_factor,
    one_direction,
    result_times,
    with_sparsity,
    without_fma,
)
from gpuscale.question import Question, QuestionError
from gpuscale.question_checks import values_at
from gpuscale.quiz_result import Result

PACKAGE = "gpuscale_exercises"


class UnknownQuestion(KeyError):
    """No such set or question; the message names what there is."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Item:
    """A question in its place: the third of "hardware" is "hardware.3"."""

    set_name: str
    number: int
    question: Question

    @property
    def id(self) -> str:
        """The name by which it is asked and checked."""
        return f"{self.set_name}.{self.number}"

    @property
    def spec(self) -> dict:
        """What it is drawn and graded from; it holds no answer."""
        return quiz_html.spec(self.question, self.set_name, self.number)


@dataclass(frozen=True, eq=False)
class QuestionSet:
    """The questions of one sheet, numbered from 1.

    ``name`` is the module's name, ``intro`` Markdown for the sheet, ``chapter`` the notebook under chapters/
    that they belong to. Raises QuestionError for a name that is no word.
    """

    name: str
    title: str
    questions: Sequence[Question]
    intro: str = ""
    chapter: str = ""

    def __post_init__(self):
        if not (self.name.isidentifier() and self.name.isascii()):
            raise QuestionError(f"set {self.name!r}: expected the name of its module, such as 'hardware'")
        if not self.questions or not all(isinstance(q, Question) for q in self.questions):
            raise QuestionError(f"set {self.name}: expected a list of Question")

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self):
        return (Item(self.name, i, q) for i, q in enumerate(self.questions, 1))

    def __getitem__(self, number: int) -> Item:
        """The question of that number, from 1. Raises UnknownQuestion."""
        if not isinstance(number, int) or not 1 <= number <= len(self):
            last = f"{self.name}.{len(self)}"
            raise UnknownQuestion(f"{self.name}.{number} is no question; expected {self.name}.1 to {last}")
        return Item(self.name, number, self.questions[number - 1])


# --- finding questions ---


def sets() -> list[str]:
    """The names of all question sets."""
    package = importlib.import_module(PACKAGE)
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))


def load(name: str) -> QuestionSet:
    """The question set of that name. Raises UnknownQuestion naming the close ones and all."""
    if isinstance(name, str) and name in sets():
        found = getattr(importlib.import_module(f"{PACKAGE}.{name}"), "questions", None)
        if not isinstance(found, QuestionSet) or found.name != name:
            raise QuestionError(f'exercises/{name}.py: expected questions = QuestionSet("{name}", ...)')
        return found
    near = difflib.get_close_matches(str(name), sets(), 3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    there = ", ".join(sets()) or "none"
    raise UnknownQuestion(f"no question set is called {name!r}; {hint}there are: {there}")


def item(ref: str | Item) -> Item:
    """A question by its name, such as "hardware.3". Raises UnknownQuestion."""
    if isinstance(ref, Item):
        return ref
    name, dot, number = str(ref).rpartition(".")
    if not dot or not (number.isascii() and number.isdigit()):
        there = ", ".join(sets()) or "none"
        raise UnknownQuestion(f'{ref!r} names no question; expected "SET.NUMBER", with SET one of: {there}')
    return load(name)[int(number)]


# --- showing ---


class StaticCard:
    """A card as plain HTML: what ``ask`` gives where widgets cannot be loaded."""

    def __init__(self, spec: str, html: str, text: str):
        self.spec, self.html, self.text = spec, html, text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text} if digesting() else {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def _shown(spec: str, html: str, text: str):
    try:
        from gpuscale.widgets.base import Card
    except ImportError:
        return StaticCard(spec, html, text)
    return Card(spec=spec, html=html, text=text)


def ask(ref: str | Item):
    """The card of a question: ``ask("hardware.3")``. In a notebook it grades as on the page."""
    one = item(ref)
    place = (one.question, one.set_name, one.number)
    return _shown(quiz_html.as_json(one.spec), quiz_html.card(*place), quiz_html.digest(*place))


def quiz(name: str | QuestionSet):
    """All cards of a set under one score: ``quiz("hardware")``."""
    them = name if isinstance(name, QuestionSet) else load(name)
    places = [(i.question, i.set_name, i.number) for i in them]
    text = "\n".join([f"{them.title}: {len(them)} questions", *(quiz_html.digest(*p) for p in places)])
    return _shown("", quiz_html.section(them.name, them.title, places), text)


def score(name: str | QuestionSet):
    """The line over a set's cards that counts what is right, for sheets that show one card at a time."""
    them = name if isinstance(name, QuestionSet) else load(name)
    text = f"{them.title}: {len(them)} questions"
    return StaticCard("", quiz_html.score(them.name, len(them)), text)


# --- checking ---

Typed = str | float | sympy.Expr | Formula | EllipsisType | None


def check(ref: str | Item, typed: Typed = ..., *, variant: int = 1) -> Result:
    """The verdict on an answer: a text as on the card, a number in base units, or an expression.

    A choice is named by its letter, its number from 1, or its text; ``...`` is "not answered yet".
    ``variant`` counts from 1. Raises UnknownQuestion for a name that is no question, ValueError for a variant
    that is none.
    """
    one = item(ref)
    spec = one.spec
    if not isinstance(variant, int) or not 1 <= variant <= len(spec["variants"]):
        raise ValueError(f"variant: {one.id} has variants 1 to {len(spec['variants'])}; got {variant!r}")
    if typed is ... or typed is None or (isinstance(typed, str) and not typed.strip()):
        verdict, message = "open", "Not answered yet."
    else:
        try:
            verdict, message = _verdict(one, spec, variant - 1, typed)
        except grammar.Unclear as reason:
            verdict, message = "unclear", f"{quiz_html.escape(reason)}."
    stamp = answers.digest("spec", quiz_html.as_json(spec))
    return Result(one.id, variant, _as_text(typed), verdict, message, stamp)


def _verdict(one: Item, spec: dict, variant: int, typed: Typed) -> answers.Verdict:
    if one.question.kind == "choice":
        return answers.judge(spec, variant, str(_option(one.question, variant, typed)))
    if isinstance(typed, str):
        return answers.judge(spec, variant, typed)
    if isinstance(typed, (Formula, sympy.Expr)) and one.question.kind == "formula":
        return _expression(one.question, spec, variant, typed)
    if isinstance(typed, bool) or not isinstance(typed, (numbers.Real, sympy.Number)):
        raise grammar.Unclear(f"{type(typed).__name__} is no answer; expected {spec['expects']}, as text")
    if one.question.kind == "formula":
        raise grammar.Unclear(f"a formula is asked; expected {spec['expects']}")
    value = float(typed)
    if not math.isfinite(value):
        raise grammar.Unclear(f"{value} is no finite number")
    unit = one.question.base
    note = "" if unit == "1" else f" A bare number is taken in base units ({unit})."
    return answers.judge_value(spec, variant, value, note)


def _option(question: Question, variant: int, typed: Typed) -> int:
    texts = [prose.plain(c[0], question.given[variant]).casefold() for c in question.choices]
    word = str(typed).strip().casefold()
    if word in texts:
        return texts.index(word)
    letters = "abcdefghij"[: len(texts)]
    if len(word) == 1 and word in letters:
        return letters.index(word)
    if not isinstance(typed, bool) and word in [str(i) for i in range(1, len(texts) + 1)]:
        return int(word) - 1
    wanted = ", ".join(letters.upper())
    raise grammar.Unclear(f"“{grammar.brief(word)}” is none of the options; expected {wanted}")


def _expression(question: Question, spec: dict, variant: int, typed: Formula | sympy.Expr) -> answers.Verdict:
    expr = typed.rhs if isinstance(typed, Formula) else typed
    odd = [s.name for s in expr.free_symbols if s.name not in spec["symbols"] and s.name != "flop"]
    if odd:
        raise grammar.Unclear(f"“{odd[0]}” is not one of {', '.join(spec['symbols'])}")
    grade = spec["variants"][variant]["grade"]
    try:
        values = values_at(expr, grade["points"]) if inputs(expr) else [float(expr)] * len(grade["points"])
    except (TypeError, ValueError):
        raise grammar.Unclear("that does not come out as a finite number") from None
    return answers.judge_values(grade, values) or ("wrong", grade["wrong"])


def _as_text(typed: Typed) -> str:
    if typed is ... or typed is None:
        return ""
    return typed if isinstance(typed, str) else str(typed.rhs if isinstance(typed, Formula) else typed)


__all__ = [
    "Item", "Question", "QuestionError", "QuestionSet", "Result", "Times", "UnknownQuestion", "ask",
    "bits_for_bytes", "both_directions", "bytes_for_bits", "check", "extra_factor", "fma_twice", "gb_for_gib",
    "gib_for_gb", "item", "load", "mb_for_mib", "mib_for_mb", "missing_factor", "one_direction", "quiz",
    "result_times", "score", "sets", "with_sparsity", "without_fma",
]  # fmt: skip
