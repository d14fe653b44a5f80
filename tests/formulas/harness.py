"""The court of the formulas: checks that judge them, and copies with an error in them that the checks must notice.

A check names the formulas it judges and gets them through a ``Book``, which can hold a wrong copy of one. With
``over``, a strategy of hypothesis, a check is a property: it gets a case as its second argument.
"""

import copy
import dataclasses
import functools
import importlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, Phase, given, settings
from support.exact_rational import exactly

from gpuscale.catalogue import sweep

FORMULAS = {key.rpartition(".")[2]: f for key, f in sweep.formulas().items()}
CHECKS: dict = {}


class Book:
    """The library's formulas by name; one of them may have its right side multiplied by a factor."""

    def __init__(self, name="", factor=1):
        self._wrong = {}
        if name:
            f = FORMULAS[name]
            self._wrong = {name: dataclasses.replace(f, rhs=f.rhs * factor, approx=None, regime=())}

    def __getattr__(self, name):
        return self._wrong.get(name) or FORMULAS[name]


def judges(*names, over=None):
    """Marks a check with the names of the formulas whose error it would find."""

    def mark(check):
        assert check.__name__ not in CHECKS, f"two checks are called {check.__name__}"
        CHECKS[check.__name__] = (check, names, over)
        return check

    return mark


def close(ours, theirs, rel=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=rel, atol=0)


def rational(formula, **values) -> Fraction:
    """The right side at whole numbers and Fractions, exact."""
    out = exactly(formula.rhs, values)
    assert isinstance(out, Fraction), f"{formula.name}: {out} at {values}"
    return out


@functools.cache
def condition(need):
    """The relation of a need, made once: sympy takes long over it."""
    return need.relation


def at(formula, **values) -> Fraction:
    """``rational`` from values of which a formula may not need all; its needs hold there."""
    for need in formula.needs:
        assert exactly(condition(need), values) == True, f"{formula.name} does not take {values}"  # noqa: E712
    return rational(formula, **values)


EXAMPLES = 25


@functools.cache
def cases(over) -> list:
    """The cases of a property, drawn once: the library's formulas and the slips in them meet the same ones."""
    found = []

    @settings(
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(over)
    def of_a_case(case):
        found.append(case)

    of_a_case()
    return found


def hear(check, over, book, examples):
    """A check, or a property at that many examples."""
    if over is None:
        check(book)
        return
    assert 0 < examples <= EXAMPLES
    for case in cases(over)[:examples]:
        try:
            check(book, copy.deepcopy(case))
        except BaseException as error:
            error.add_note(f"{check.__name__} at the case {case!r}")
            raise


def verdicts(formulas):
    """The tests for a part of the library: each formula is judged, and each check notices a slip in each of its own."""
    mine = {name: found for name, found in CHECKS.items() if set(found[1]) & set(formulas)}

    @pytest.mark.parametrize("name", mine)
    def test_the_library_agrees_with(name):
        check, _, over = CHECKS[name]
        hear(check, over, Book(), EXAMPLES)

    def test_every_formula_meets_something_independent():
        judged = {name for _, names, _ in CHECKS.values() for name in names}
        assert not set(formulas) - judged, f"not judged: {set(formulas) - judged}"
        assert judged <= set(FORMULAS), f"unknown: {judged - set(FORMULAS)}"

    @pytest.mark.parametrize("slip", [2, Fraction(2**30, 10**9)], ids=["twice", "GiB for GB"])
    @pytest.mark.parametrize("name", formulas)
    def test_a_slip_is_noticed_by_every_check_that_judges_the_formula(name, slip):
        wrong = Book(name, sympy.Rational(slip.numerator, slip.denominator))
        for check, names, over in CHECKS.values():
            if name in names:
                with pytest.raises(AssertionError):
                    hear(check, over, wrong, 15)

    return (
        test_the_library_agrees_with,
        test_every_formula_meets_something_independent,
        test_a_slip_is_noticed_by_every_check_that_judges_the_formula,
    )


def of_room(room: str) -> list[str]:
    """The names of the formulas of a room: "one_gpu", "network", "collectives", "llm"."""
    found = [name for name, f in FORMULAS.items() if f.room == f"gpuscale.{room}"]
    assert found, f"no formulas in {room!r}"
    return found


def load() -> None:
    """Reads every file of independent checks, so that each room's tests know those of the others."""
    for file in sorted(Path(__file__).parent.glob("*/independent_*.py")):
        importlib.import_module(f"formulas.{file.parent.name}.{file.stem}")
