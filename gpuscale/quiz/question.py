"""A question: its text, and answers that are formulas. A QuestionSet checks each of its own."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sympy

from gpuscale.core.derivation import Derivation
from gpuscale.core.dimension import dimension, of_unit, words
from gpuscale.core.evaluation import as_number, evaluate, inputs
from gpuscale.core.formula import Formula
from gpuscale.quiz import draws, grading
from gpuscale.quiz.mistakes import Mistake, expression
from gpuscale.symbols import Quantity, quantities
from gpuscale.units import DIMENSIONS, base_unit, show
from gpuscale.widgets.shared import APART

POINTS = 5  # at which a formula answer is compared, the same for the page and for Python


class QuestionError(ValueError):
    """A question that cannot be asked as it stands; the message names it and what was expected."""


@dataclass(frozen=True, eq=False)
class Question:
    """One question: given values ask for a number, choices for an option, neither for a formula.

    ``answer`` is a Formula or an expression in quantities, never a number. ``given`` holds its inputs in
    base units: a dict, or a list of dicts for variants. ``mistakes`` maps what is said to what a likely
    error amounts to: another formula or expression, a dict of changed inputs, a pair of both, or
    ``Times(k)``. ``choices`` are (text, feedback, right) with right True, False or a relation, or (text,
    feedback, expression) with ``pick`` "largest" or "smallest". ``exact`` compares whole numbers as they
    are. ``symbols`` are those a typed formula may use. ``noun`` is what a count counts. ``solution`` is a
    Derivation, a Formula, a text, or a list of these and of (expression, why) pairs. ``remark`` is said
    once the answer is right, ``hint`` to a wrong answer that is not a known mistake. ``heading`` opens a group of
    questions on the sheet. ``predict`` marks a question that a chapter asks just before it gives the answer: its
    ``solution`` unfolds once the reader has committed to an answer. ``example`` is shown as an answer of the
    right kind, where the usual one would answer another question. Other numbers are drawn for what ``ask`` shows
    (see draws.py): ``vary`` gives the values that a quantity may have, ``fixed`` says why the numbers stay as they are.
    Raises QuestionError for invalid given values; a QuestionSet checks the rest.
    """

    ask: str
    answer: Any = None
    given: Any = None
    unit: str = ""
    tolerance: float = 0.02
    exact: bool = False
    mistakes: Mapping[str, Mistake] = field(default_factory=dict)
    choices: Sequence[tuple] = ()
    pick: str = ""
    symbols: Sequence[Quantity] = ()
    noun: str = ""
    solution: Any = None
    remark: str = ""
    hint: str = ""
    points: Sequence[Mapping[str, float]] = ()
    heading: str = ""
    example: str = ""
    predict: bool = False
    vary: Mapping = field(default_factory=dict)
    fixed: str = ""

    def __post_init__(self):
        variants = self.given if isinstance(self.given, (list, tuple)) else [self.given or {}]
        object.__setattr__(self, "symbols", tuple(self.symbols))
        try:
            object.__setattr__(self, "given", tuple(_numbers(v) for v in variants))
            object.__setattr__(self, "vary", {getattr(key, "name", key): them for key, them in self.vary.items()})
        except (TypeError, ValueError) as error:
            raise QuestionError(f"{self.title}: {error}") from error

    @property
    def title(self) -> str:
        """The first words of the question, for messages."""
        return f"question “{self.ask[:48].strip()}…”"

    @property
    def kind(self) -> str:
        """ "number", "choice" or "formula"."""
        return "choice" if self.choices else "number" if any(self.given) else "formula"

    @property
    def expr(self) -> sympy.Expr:
        """The answer as an expression."""
        return side(self.answer)

    @property
    def asked_unit(self) -> str:
        """The unit of the answer: as declared, else the formula's, else what the dimension says."""
        if self.unit or self.kind == "choice":
            return self.unit
        if isinstance(self.answer, Formula):
            return self.answer.lhs.unit
        found = dimension(self.expr)
        for unit in DIMENSIONS:
            if of_unit(unit) == found:
                return unit
        raise QuestionError(f"the answer is {words(found)}; declare its unit")

    @property
    def base(self) -> str:
        """The base unit of the answer."""
        return base_unit(self.asked_unit)

    @property
    def may_use(self) -> tuple[Quantity, ...]:
        """The symbols of a formula answer."""
        return self.symbols or inputs(self.expr)

    @cached_property
    def fixed_points(self) -> tuple[dict[str, float], ...]:
        """The points at which a formula answer is compared: those declared, or five that depend on the question alone.

        At those, every outcome lies mid-bucket, and they reach every branch of a Max or Min of the answer. Raises
        ValueError if none are found: then give ``points``.
        """
        if self.points:
            return tuple(dict(p) for p in self.points)
        exprs, dice = list(self.named().values()), random.Random(self.ask)
        for _ in range(200):
            points = tuple(p for p in (_point(self, exprs, dice) for _ in range(POINTS)) if p)
            if len(points) == POINTS and _all_branches(self.expr, points):
                return points
        raise ValueError(
            "no points found that its quantities allow and that tell its branches apart; give points=[{...}, ...]"
        )

    @cached_property
    def draws(self) -> list[dict[str, float]]:
        """Other sets of given values, for those who practise."""
        return draws.draws(self)

    def drawn(self, seed: str, name: str) -> "Question":
        """The question ``name`` with the numbers of a seed. Raises ValueError if they are the same for all."""
        if not self.draws:
            raise ValueError(f"{name}: its numbers are the same for every seed; expected a variant, from 1")
        return replace(self, given=self.draws[draws.pick(seed, name, len(self.draws))])

    @property
    def end(self) -> sympy.Expr | None:
        """What the solution ends in, if that is an expression."""
        parts = self.solution if isinstance(self.solution, list) else [self.solution]
        ends = [e for e in map(_end, parts) if e is not None]
        return ends[-1] if ends else None

    def named(self) -> dict[str, sympy.Expr]:
        """The right answer as "the answer", and what each likely mistake amounts to by its message in quotes."""
        return {"the answer": self.expr, **{f"“{m}”": expr for m, expr in self.amounts.items()}}

    @cached_property
    def amounts(self) -> dict[str, sympy.Expr]:
        """What each likely mistake amounts to, by message."""
        return {message: expression(slip, self.expr, message) for message, slip in self.mistakes.items()}

    def value(self, expr, variant: int = 0, seen: Mapping[str, float] | None = None) -> float:
        """An expression in a variant's numbers; ``seen`` replaces some. Raises TypeError if one lacks."""
        given = {**self.given[variant], **(seen or {})}
        wanted = inputs(expr)
        missing = [f"{q.name} [{q.unit}]" for q in wanted if q.name not in given]
        if missing:
            raise TypeError(f"given has no {', '.join(missing)} for {expr}; it has {', '.join(given) or '-'}")
        out = evaluate(expr, **{q.name: given[q.name] for q in wanted})
        if not math.isfinite(out):
            raise ValueError(f"{expr} is {out} for the given values; expected a finite number")
        return out

    def outcomes(self, variant: int) -> list[tuple[str, float]]:
        """The right answer ("the answer") and every mistake with its value in a variant."""
        return [(name, self.value(expr, variant)) for name, expr in self.named().items()]

    def close(self, a: float, b: float) -> bool:
        """Whether two values are too close to be told apart."""
        if a == 0 or b == 0 or (self.exact and float(a).is_integer() and float(b).is_integer()):
            return a == b
        gap = grading.bucket(a, self.tolerance) - grading.bucket(b, self.tolerance)
        return (a < 0) == (b < 0) and abs(gap) <= APART

    def right(self, variant: int) -> int:
        """The index of the right choice. Raises QuestionError unless there is exactly one."""
        if self.pick:
            return self._picked(variant)
        marks = [self._holds(c[2], variant) for c in self.choices]
        if (found := marks.count(True)) != 1:
            raise QuestionError(f"variant {variant + 1} has {found} right choices; expected one")
        return marks.index(True)

    def _holds(self, mark, variant: int) -> bool:
        if isinstance(mark, bool):
            return mark
        if not isinstance(mark, sympy.core.relational.Relational):
            raise TypeError(f"a choice is right by True, False or a relation such as x > y; got {mark!r}")
        return bool(mark.func(*(sympy.Float(self.value(side, variant)) for side in mark.args)))

    def _picked(self, variant: int) -> int:
        if self.pick not in ("largest", "smallest"):
            raise QuestionError(f"pick is {self.pick!r}; expected 'largest' or 'smallest'")
        values = [self.value(side(c[2]), variant) for c in self.choices]
        best = max(values) if self.pick == "largest" else min(values)
        if sum(abs(v - best) <= 0.05 * abs(best) for v in values) > 1:
            raise QuestionError(f"variant {variant + 1}: two choices are within 5% of the {self.pick}")
        return values.index(best)

    def show(self, value: float) -> str:
        """A value of the answer as the reader sees it; counts and exact answers are whole."""
        unit, value = self.asked_unit, float(f"{value:.12g}")  # the page's last bits may be others
        if value == math.floor(value) and (unit == "1" or self.exact and base_unit(unit) == unit):
            return show(value, "count") + (f"\u00a0{unit}" if unit != "1" else "")
        return show(value, unit, short=True)


def side(value):
    """A formula's right side, or the expression that the value is."""
    return value.rhs if isinstance(value, Formula) else sympy.sympify(value)


def _end(part):
    part = part[0] if isinstance(part, tuple) else part
    if isinstance(part, Derivation):
        return part.expr
    return side(part) if isinstance(part, (Formula, sympy.Expr)) else None


def values_at(expr, points) -> list[float]:
    """An expression at each point; the points may hold more symbols than it needs."""
    names = [q.name for q in inputs(expr)]
    return [evaluate(expr, **{n: p[n] for n in names}) for p in points]


def _numbers(given: Mapping) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise QuestionError(f"given is {given!r}; expected a dict of values in base units, or a list")
    known, out = quantities(), {}
    for key, value in given.items():
        name = key.name if isinstance(key, Quantity) else key
        if name not in known:
            raise QuestionError(f"given {name!r} is not a quantity; see gpuscale/symbols")
        out[name] = float(as_number(known[name], value))
    return out


def _point(question: Question, exprs: list, dice: random.Random) -> dict[str, float] | None:
    for _ in range(100):
        point = {q.name: _draw(q, dice) for q in question.may_use}
        try:
            if all(grading.mid_bucket(v) for e in exprs for v in values_at(e, [point])):
                return point
        except ValueError:
            continue
    return None


def _draw(quantity: Quantity, dice: random.Random) -> float:
    if quantity.whole:
        least = max(int(quantity.least), 2)
        return float(dice.randint(least, least + 46))
    return float(f"{max(quantity.least, 1) * 10 ** (0.1 + 1.5 * dice.random()):.3g}")


def _all_branches(expr, points) -> bool:
    for join in expr.atoms(sympy.Max, sympy.Min):
        best = max if isinstance(join, sympy.Max) else min
        rows = zip(*(values_at(arg, points) for arg in join.args), strict=True)
        if len({row.index(best(row)) for row in rows}) < len(join.args):
            return False
    return True
