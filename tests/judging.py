"""The court of the formulas: checks that judge them, and copies with an error in them that the checks must notice.

A check names the formulas it judges and gets them through a ``Book``, which can hold a wrong copy of one. With
``over``, a strategy of hypothesis, a check is a property: it gets a case as its second argument.
"""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, Phase, given, settings

from gpuscale import catalogue
from gpuscale.symbols import flop

FORMULAS = {key.rpartition(".")[2]: f for key, f in catalogue.formulas().items()}
ONE_GPU = ("processor", "memory", "roofline", "occupancy")
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
    """The right side at whole numbers and Fractions, exact, by sympy's own substitution."""
    known = {q: sympy.Rational(Fraction(values[q.name])) for q in formula.inputs}
    out = formula.rhs.xreplace(known | {flop: sympy.S.One})
    assert out.is_Rational, f"{formula.name}: {out} at {values}"
    return Fraction(int(out.p), int(out.q))


def at(formula, **values) -> Fraction:
    """``rational`` from values of which a formula may not need all; its needs hold there."""
    for need in formula.needs:
        known = {q: sympy.Rational(Fraction(values[q.name])) for q in need.symbols}
        assert need.condition.xreplace(known) == True, f"{formula.name} does not take {values}"  # noqa: E712
    return rational(formula, **values)


def hear(check, over, book, examples):
    """A check, or a property at that many examples."""
    if over is None:
        check(book)
        return

    @settings(deadline=None, derandomize=True, database=None, max_examples=examples, phases=[Phase.generate],
              report_multiple_bugs=False, suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(over)
    def of_a_case(case):
        check(book, case)

    of_a_case()


def verdicts(formulas):
    """The tests for a part of the library: each formula is judged, and each check notices a slip in each of its own."""
    mine = {name: found for name, found in CHECKS.items() if set(found[1]) & set(formulas)}

    @pytest.mark.parametrize("name", mine)
    def test_the_library_agrees_with(name):
        check, _, over = CHECKS[name]
        hear(check, over, Book(), 25)

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


def part_of(one_gpu: bool) -> list[str]:
    """The names of the formulas of one GPU, or of all others."""
    return [name for name, f in FORMULAS.items() if (f.module.removeprefix("gpuscale.") in ONE_GPU) == one_gpu]
