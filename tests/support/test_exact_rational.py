"""The exact evaluator of the checks says what sympy's own substitution says."""

import random
from fractions import Fraction

import pytest
import sympy
from support.exact_rational import by_sympy, exactly
from sympy.codegen.cfunctions import log2

from gpuscale.catalogue import sweep
from gpuscale.symbols import B, N, V, W, n

KINDS = [
    V / W + 1,
    -(V**3) / W**2,
    sympy.Max(V, W, 3),
    sympy.Min(V, W) - sympy.Abs(V - W),
    sympy.floor(V / W),
    sympy.ceiling(V / W) + sympy.Mod(n, 7),
    log2(N),
    sympy.ceiling(log2(N)),
    sympy.ceiling(log2(V)),
    sympy.sqrt(V),
    sympy.Piecewise((V, V > W), (W, True)),
    sympy.Piecewise((1, (V > W) & (B > n)), (2, (V < n) | (W > B)), (3, True)),
    sympy.Piecewise((V, sympy.Eq(n, 3)), (W, sympy.Ne(B, n)), (0, True)),
    V > W,
    (V <= W) | (B >= n),
    2**n,
]


def points(symbols, count):
    """Whole numbers, powers of two and fractions, the same ones each time."""
    dice = random.Random(11)
    for _ in range(count):
        yield {
            q: Fraction(dice.choice((dice.randint(1, 9), 2 ** dice.randint(0, 6), dice.randint(1, 9))))
            / (1 if q.whole else dice.randint(1, 9))
            for q in sorted(symbols, key=str)
        }


@pytest.mark.parametrize("expr", KINDS, ids=str)
def test_each_kind_of_expression_is_that_of_sympy(expr):
    for point in points(expr.free_symbols, 40):
        assert exactly(expr, {q.name: v for q, v in point.items()}) == by_sympy(expr, point), point


def defined(expr, met) -> bool:
    """Whether an expression has a value there: nothing in it divides by zero."""
    powers = expr.atoms(sympy.Pow)
    return all(power.base.subs(met) != 0 for power in powers if power.exp.is_negative)


def test_formulas_are_those_of_sympy():
    compared = 0
    for f in list(sweep.formulas().values())[4::9]:
        for point in points(f.inputs, 2):
            met = {q: sympy.Rational(v.numerator, v.denominator) for q, v in point.items()}
            if not all(need.put(met).relation for need in f.needs) or not defined(f.rhs, met):
                continue  # there the formula has no value
            assert exactly(f.rhs, {q.name: v for q, v in point.items()}) == by_sympy(f.rhs, point), f.name
            compared += 1
    assert compared > 70
