"""Sets of questions: one for each module under ``exercises/``, and how a question is found by its name."""

import difflib
import importlib
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gpuscale.core.html import as_json
from gpuscale.quiz import card_data, grading
from gpuscale.quiz.checks import check_question
from gpuscale.quiz.question import Question, QuestionError

PACKAGE = "gpuscale_exercises"
SEED = re.compile("[A-Za-z][A-Za-z0-9]{0,11}")


class UnknownQuestion(KeyError):
    """No such set or question; the message names the known ones."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, eq=False)
class Item:
    """A question in its place: the third of "hardware" is "hardware.3".

    ``listed`` is the number that a reader sees: those of the practice section come first, so that it has no gaps, then
    the predictions.
    """

    set_name: str
    number: int
    question: Question
    listed: int = 0

    @property
    def id(self) -> str:
        """The name by which it is asked and checked."""
        return f"{self.set_name}.{self.number}"

    @cached_property
    def spec(self) -> dict:
        """What it is drawn and graded from; it holds no answer."""
        return card_data.spec(self.question, self.set_name, self.number) | {"number": self.listed or self.number}

    def drawn(self, seed: str) -> "Item":
        """The question with the numbers of a seed. Raises ValueError if they are the same for every seed."""
        if not SEED.fullmatch(seed):
            raise ValueError(f"{self.id}: seed: expected letters and digits, such as 'k3f9'; got {seed!r}")
        return replace(self, question=self.question.drawn(seed, self.id))

    @property
    def stamp(self) -> str:
        """What changes when the question does; its other numbers follow from it."""
        fixed = self.spec | {"number": self.number}
        return grading.salted_hash("spec", as_json({k: v for k, v in fixed.items() if k != "drawn"}))


@dataclass(frozen=True, eq=False)
class QuestionSet:
    """The questions of one sheet, numbered from 1.

    ``name`` is the module's name, ``intro`` Markdown for the sheet, ``chapter`` the notebook under chapters/
    that they belong to. Raises QuestionError for a name that is not a word, and for a
    question that would confuse a reader.
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
        for question in self.questions:
            check_question(question)

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self):
        return (self[number] for number in range(1, len(self) + 1))

    def __getitem__(self, number: int) -> Item:
        """The question of that number, from 1. Raises UnknownQuestion."""
        if not isinstance(number, int) or not 1 <= number <= len(self):
            last = f"{self.name}.{len(self)}"
            raise UnknownQuestion(f"{self.name}.{number} is not a question; expected {self.name}.1 to {last}")
        return Item(self.name, number, self.questions[number - 1], self._listed[number])

    @cached_property
    def _listed(self) -> dict[int, int]:
        """The number that a reader sees of each question, by its own."""
        order = sorted(range(1, len(self) + 1), key=lambda number: self.questions[number - 1].predict)
        return {number: place for place, number in enumerate(order, 1)}


# --- finding questions ---


def sets() -> list[str]:
    """The names of all question sets."""
    package = importlib.import_module(PACKAGE)
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))


def load_set(name: str) -> QuestionSet:
    """The question set of that name. Raises UnknownQuestion naming the close ones and all."""
    if isinstance(name, str) and name in sets():
        found = getattr(importlib.import_module(f"{PACKAGE}.{name}"), "questions", None)
        if not isinstance(found, QuestionSet) or found.name != name:
            raise QuestionError(f'exercises/{name}.py: expected questions = QuestionSet("{name}", ...)')
        return found
    near = difflib.get_close_matches(str(name), sets(), 3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    there = ", ".join(sets()) or "none"
    raise UnknownQuestion(f"no question set is called {name!r}; {hint}known: {there}")


def item(ref: str | Item) -> Item:
    """A question by its name, such as "hardware.3". Raises UnknownQuestion."""
    if isinstance(ref, Item):
        return ref
    name, dot, number = str(ref).rpartition(".")
    if not dot or not (number.isascii() and number.isdigit()):
        there = ", ".join(sets()) or "none"
        raise UnknownQuestion(f'{ref!r} is not the name of a question; expected "SET.NUMBER", with SET one of: {there}')
    return load_set(name)[int(number)]
