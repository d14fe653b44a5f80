"""Dimensions: only like parts are combined, in every branch, active or not."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Max, Min, Piecewise, ceiling, exp, floor, log, oo, sqrt
from sympy.codegen.cfunctions import log2

from gpuscale.core import DimensionError, Formula
from gpuscale.core.dimension import dimension, fits, of_unit, words
from gpuscale.symbols import B, C, D, F, I, T, V, W, alpha, b, f_clock, flop, n, ops, quantities
from gpuscale.units import DIMENSIONS, WORDS


def test_dimensions_multiply_and_divide():
    assert dimension(V / W) == of_unit("s") and dimension(alpha * W) == of_unit("B")
    assert dimension(2 * flop * B * D * F / C) == of_unit("s") and dimension(C / W) == of_unit("FLOP/B")
    assert dimension(1 / T) == of_unit("Hz") == of_unit(f_clock.unit) and dimension(B * D / F**2) == ()
    assert dimension(sqrt(V * V * B)) == of_unit("B") and dimension(V**3 / V**2) == of_unit("B")
    assert dimension(W * T + V - b * n / 3) == of_unit("B") and dimension(sympy.Abs(V - b * n)) == of_unit("B")


@pytest.mark.parametrize("unit", DIMENSIONS)
def test_every_base_unit_has_its_own_dimension_and_words(unit):
    alike = ["Hz", "/s"]  # of clocks, and of requests and tokens
    assert words(of_unit(unit)) == WORDS["Hz" if unit in alike else unit]
    assert [u for u in DIMENSIONS if of_unit(u) == of_unit(unit)] == (alike if unit in alike else [unit])


def test_functions_of_counts_are_counts():
    for expr in (floor(n / 2), ceiling(B / D), log2(n), exp(-n / B), sympy.Mod(n, B), sympy.binomial(n, B)):
        assert dimension(expr) == () and fits(expr, "1") and not fits(expr, "B")
        assert dimension(V * expr) == of_unit("B")


def test_zero_and_infinity_fit_anything():
    assert dimension(0) is None and dimension(oo) is None
    for unit in DIMENSIONS:
        assert fits(0, unit) and fits(oo, unit) and fits(1, unit) == (unit == "1")
    assert dimension(Max(T, 0)) == of_unit("s") and dimension(Piecewise((T, B > D), (oo, True))) == of_unit("s")


WRONG = {
    "a sum": V / W + V,
    "a difference": T - 1 / T,
    "a number beside a unit": V + 1,
    "a branch of Max that never wins": Max(T, T / 10**9 * B, V / 10**30),
    "a number in Max": Max(1, V),
    "a branch of Min": Min(C, I * W, W),
    "a value of Piecewise": Piecewise((T, B > D), (V, True)),
    "a condition of Piecewise": Piecewise((T, V > W), (2 * T, True)),
    "a condition within And": Piecewise((T, (B > D) & (V > alpha)), (2 * T, True)),
    "a condition within Or": Piecewise((T, (B > D) | (V > 1)), (2 * T, True)),
    "a condition that compares with a number": Piecewise((T, V > 1), (2 * T, True)),
    "a sum within a product": C * (V / W + B) / flop,
    "a sum within a denominator": V / (W + C),
    "a sum within a power": (V + T) ** 2 / (V + T),
    "a sum within a floor": floor(V / b + W),
    "bytes within a floor": floor(V),
    "bytes within a ceiling": ceiling(V) / b,
    "a time within a logarithm": log2(T) * T,
    "bytes within a natural logarithm": log(V),
    "bytes within an exponential": exp(V),
    "an exponent with a unit": 2**V,
    "a unit raised to a variable power": V**n,
    "a unit raised to an irrational power": V**sympy.pi,
    "a wrong branch deep inside": T + Max(alpha, V / W * Min(B, Piecewise((D, F > 1), (D * V, True)))),
    "bytes beside a floor": V + floor(n / 2),
    "a time beside a logarithm": T + log2(n),
    "FLOPs within an absolute value": sympy.Abs(ops - V) / flop,
    "FLOPs without the operation": Max(2 * B * D * F / C, V / W),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused_with_both_sides_named(what):
    with pytest.raises(DimensionError) as caught:
        dimension(WRONG[what])
    said = str(caught.value)
    assert any(word in said for word in [*WORDS.values(), "a quantity in"]), said


def test_the_message_names_both_parts_and_their_kinds():
    with pytest.raises(
        DimensionError,
        match=r"^(V is a number of bytes, V/W is a time|V/W is a time, V is a number of bytes): ",
    ):
        dimension(V + V / W)


def test_a_function_that_cannot_be_checked_is_refused():
    with pytest.raises(DimensionError, match="cannot be used in a formula"):
        dimension(sympy.sin(B))


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("side", ["rhs", "approx"])
def test_no_formula_can_hold_it(what, side):
    parts = {"rhs": V / W, "approx": V / W} | {side: WRONG[what]}
    with pytest.raises(DimensionError, match=f"^Wrong: {side}"):
        Formula("Wrong", T, parts["rhs"], "nobody", "never", approx=parts["approx"], regime=((V, oo),))


def test_a_formula_whose_sides_differ_is_refused_in_words():
    with pytest.raises(DimensionError, match=r"Wrong: rhs is a number of bytes; T is a time \[s\]"):
        Formula("Wrong", T, alpha * W, "nobody", "never")
    with pytest.raises(DimensionError, match=r"rhs is a quantity in .*; T is a time"):
        Formula("Wrong", T, V**2 / W, "nobody", "never")
    with pytest.raises(DimensionError, match="rhs is a number; ops is a number of FLOPs"):
        Formula("Wrong", ops, 2 * B * D * F, "nobody", "never")


names = st.sampled_from(sorted(quantities()))
trees = st.recursive(
    names.map(quantities().get) | st.integers(1, 9).map(sympy.Integer),
    lambda kids: st.one_of(
        st.tuples(kids, kids).map(lambda p: p[0] * p[1]),
        st.tuples(kids, kids).map(lambda p: p[0] / p[1]),
        st.tuples(kids, kids).map(lambda p: p[0] + p[1]),
        st.tuples(kids, kids).map(lambda p: Max(*p)),
        st.tuples(kids, st.sampled_from([2, 3, sympy.Rational(1, 2)])).map(lambda p: p[0] ** p[1]),
    ),
    max_leaves=6,
)


def factor(expr, scales):
    """How the value of an expression changes when the base units are rescaled; None if its parts disagree."""
    point = {q: sympy.Rational(7 * i + 3, 5) for i, q in enumerate(sorted(expr.free_symbols, key=str))}
    scaled = {q: v * sympy.prod(scales[base] ** e for base, e in DIMENSIONS[q.unit].items()) for q, v in point.items()}
    for node in sympy.preorder_traversal(expr):
        if isinstance(node, (sympy.Add, Max)):
            if len({sympy.N(a.subs(scaled) / a.subs(point), 30) for a in node.args}) > 1:
                return None
    return sympy.N(expr.subs(scaled) / expr.subs(point), 30)


@given(trees)
def test_structure_and_rescaling_agree(expr):
    """The structural check says what a change of units shows, on expressions nobody would write."""
    scales = {"B": sympy.Integer(2) ** 12, "s": sympy.Integer(2) ** 60, "FLOP": sympy.Integer(2) ** 300}
    scales |= {"W": sympy.Integer(2) ** 1500, "USD": sympy.Integer(2) ** 7500}
    found = factor(expr, scales)
    try:
        said = dimension(expr)
    except DimensionError:
        assert found is None
    else:
        assert found == sympy.N(sympy.prod(scales[base] ** power for base, power in said or ()), 30)
