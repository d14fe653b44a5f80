"""Where two costs meet: solved or bisected, the same place and the same direction, or no crossing at all."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Max, Piecewise, oo
from sympy.codegen.cfunctions import log2

from gpuscale.core import DimensionError, Formula, crossover, evaluate
from gpuscale.core.crossovers import Crossover
from gpuscale.one_gpu import memory, roofline
from gpuscale.symbols import B, C, D, T, V, W, W_ref, alpha, b, flop, n
from gpuscale.units import GB, TB, us

H100 = {"C": 990e12, "W_hbm": 3.35e12}
SQUARE = {"b": 2, "b_w": 2, "D": 4096, "F": 4096}
batch = crossover(roofline.matmul_math_time, roofline.matmul_memory_time, B)


def larger(met, below, **values):
    """Which of the two costs is the larger one just below, or above, their first crossing."""
    x = (met.at(**values) or [1.0])[0] * (0.5 if below else 2)
    given = values | {met.symbol.name: max(x, met.symbol.least)}
    costs = [evaluate(e, **{q.name: given[q.name] for q in e.free_symbols - {flop}}) for e in (met.f, met.g)]
    return "equal" if costs[0] == costs[1] else "f" if costs[0] > costs[1] else "g"


def unsolved(f, g, symbol):
    """The same crossing with its closed form taken away, so that it must be bisected."""
    solved = crossover(f, g, symbol)
    return Crossover(solved.f, solved.g, symbol, ())


def test_a_solution_in_closed_form():
    assert batch.expr is not None and len(batch.exprs) == 1
    assert batch.at(**H100, **SQUARE) == [pytest.approx(345.36, abs=0.01)]


def test_the_closed_form_solves_the_equation():
    gap = (roofline.matmul_math_time.rhs - roofline.matmul_memory_time.rhs).subs(flop, 1)
    assert sympy.simplify(gap.subs(B, batch.expr)) == 0


def test_solved_and_bisected_agree():
    numeric = unsolved(roofline.matmul_math_time, roofline.matmul_memory_time, B)
    assert numeric.expr is None and numeric.exprs == ()
    for shape in (SQUARE, SQUARE | {"D": 1024, "F": 1024}, SQUARE | {"b_w": 1}, SQUARE | {"D": 64}):
        assert numeric.at(**H100, **shape) == pytest.approx(batch.at(**H100, **shape), rel=1e-9)


@settings(max_examples=25)
@given(st.floats(1e-9, 1e-3), st.floats(1e9, 1e13), st.floats(0.01, 100))
def test_solved_and_bisected_agree_everywhere(wait, bandwidth, ratio):
    parts = (alpha + V / W, V / W_ref, V)
    given_values = {"alpha": wait, "W": bandwidth, "W_ref": bandwidth * ratio}
    expected = [] if ratio >= 1 else [wait / (1 / (bandwidth * ratio) - 1 / bandwidth)]
    if not 0.999 < ratio < 1.001:
        assert crossover(*parts).at(**given_values) == pytest.approx(expected, rel=1e-9)
        assert unsolved(*parts).at(**given_values) == pytest.approx(expected, rel=1e-9)


def test_below_it_memory_binds_and_above_it_arithmetic():
    assert larger(batch, below=True, **H100, **SQUARE) == "g"
    assert larger(batch, below=False, **H100, **SQUARE) == "f"
    turned = crossover(roofline.matmul_memory_time, roofline.matmul_math_time, B)
    assert larger(turned, below=True, **H100, **SQUARE) == "f" and turned.at(**H100, **SQUARE) == batch.at(
        **H100, **SQUARE
    )


@pytest.mark.parametrize("make", [crossover, unsolved])
def test_narrow_matrices_never_become_compute_bound(make):
    narrow = SQUARE | {"D": 512, "F": 512}
    found = make(roofline.matmul_math_time, roofline.matmul_memory_time, B)
    assert found.at(**H100, **narrow) == []
    assert larger(found, below=True, **H100, **narrow) == larger(found, below=False, **H100, **narrow) == "g"


@pytest.mark.parametrize("make", [crossover, unsolved])
def test_parallel_costs_never_meet(make):
    found = make(alpha + V / W, V / W_ref, V)
    assert found.at(alpha=us, W=GB, W_ref=GB) == []  # the closed form runs away to infinity here
    assert found.at(alpha=us, W=GB, W_ref=2 * GB) == []  # and is negative here
    assert larger(found, below=False, alpha=us, W=GB, W_ref=GB) == "f"


def test_costs_that_are_always_apart_or_always_equal():
    apart = crossover(V / W, V / W_ref, V)
    assert apart.exprs == () and apart.at(W=1, W_ref=2) == []
    assert larger(apart, below=True, W=1, W_ref=2) == "f" and larger(apart, below=False, W=2, W_ref=1) == "g"
    assert larger(apart, below=True, W=2, W_ref=2) == "equal"


def test_several_crossings_come_in_order():
    f, g = V**2 * W / W**2, (3 * b * V - 2 * b**2) / W
    both = crossover(f / b, g / b, V)
    assert len(both.exprs) == 2 and both.expr is None
    assert both.at(b=5, W=1) == pytest.approx([5, 10])
    assert unsolved(f / b, g / b, V).at(b=5, W=1) == pytest.approx([5, 10])
    assert larger(both, below=True, b=5, W=1) == "f"


def test_complex_solutions_are_no_crossings():
    """V = b (2 +- sqrt(4 - D)): real up to D = 4, then complex, and the costs never meet."""
    bowl = crossover(V**2 / b + D * b, 4 * V, V)
    assert len(bowl.exprs) == 2 and bowl.at(b=2, D=3) == pytest.approx([2, 6])
    assert bowl.at(b=2, D=4.001) == bowl.at(b=2, D=5) == bowl.at(b=2, D=50) == []
    assert unsolved(V**2 / b + D * b, 4 * V, V).at(b=2, D=3) == pytest.approx([2, 6])


def test_a_crossing_of_bent_costs_is_bisected():
    kept = crossover(roofline.matmul_time, alpha, B)
    assert kept.expr is None
    [meets] = kept.at(**H100, **SQUARE, alpha=30 * us)
    assert evaluate(roofline.matmul_time, B=meets, **H100, **SQUARE) == pytest.approx(30 * us, rel=1e-12)
    assert larger(kept, below=True, alpha=30 * us, **H100, **SQUARE) == "g"


def test_a_logarithm_is_bisected():
    ring, tree = alpha * (n - 1) + V / W, alpha * log2(n) + V / W * log2(n)
    found = crossover(ring, tree, n)
    assert found.exprs == ()
    points = found.at(alpha=us, V=64e6, W=450 * GB)
    assert points and points == sorted(points)
    for x in points:
        sides = [evaluate(cost, n=x, alpha=us, V=64e6, W=450 * GB) for cost in (ring, tree)]
        assert sides[0] == pytest.approx(sides[1], rel=1e-9)


def test_floors_cross_at_their_steps():
    tiles = sympy.ceiling(n / 128) * T
    found = crossover(tiles, 3.5 * T, n)
    assert found.at(T=1.0) == [pytest.approx(384, rel=1e-12)]
    assert larger(found, below=True, T=1.0) == "g" and larger(found, below=False, T=1.0) == "f"


def test_a_stretch_where_both_are_equal_is_given_by_its_ends():
    found = crossover(Max(alpha, V / W), alpha, V)
    points = found.at(alpha=1e-3, W=1e9)
    assert len(points) == 2 and points[0] == pytest.approx(1e-12) and points[1] == pytest.approx(1e6, rel=0.02)


def test_an_infinite_cost_crosses_nothing():
    wall = Piecewise((V / W, V < b * n), (oo, True))
    assert crossover(wall, alpha, V).at(W=1, b=1, n=100, alpha=40) == pytest.approx([40], rel=1e-9)
    assert crossover(wall, alpha, V).at(W=1, b=1, n=100, alpha=150) == pytest.approx([100], rel=1e-9)
    assert crossover(wall, wall + alpha, V).at(W=1, b=1, n=100, alpha=40) == []


def test_nothing_below_what_the_quantity_allows():
    """A batch below one row is no batch: the search starts at one, solved or not."""
    for make in (crossover, unsolved):
        slow = make(roofline.matmul_math_time, roofline.matmul_memory_time, B)
        assert slow.at(C=1e9, W_hbm=3e12, **SQUARE) == []
        assert larger(slow, below=True, C=1e9, W_hbm=3e12, **SQUARE) == "f"


def test_limits_can_be_set():
    assert batch.at(lo=1, hi=300, **H100, **SQUARE) == [] and len(batch.at(lo=300, hi=400, **H100, **SQUARE)) == 1


@pytest.mark.parametrize("make", [crossover, unsolved])
def test_wrong_names_are_named(make):
    found = make(roofline.matmul_math_time, roofline.matmul_memory_time, B)
    with pytest.raises(
        TypeError, match=r"^crossing along B: missing b_w, W_hbm; expected C \[FLOP/s\], b \[B\], b_w \[B\]"
    ):
        found.at(C=1, D=1, F=1, b=2)
    for extra in ("B", "N", "flop"):
        with pytest.raises(TypeError, match=f"^crossing along B: unknown {extra}; expected C"):
            found.at(**H100, **SQUARE, **{extra: 1})
    with pytest.raises(ValueError, match="^W_hbm .*above zero"):
        found.at(**H100 | {"W_hbm": 0}, **SQUARE)
    with pytest.raises(TypeError, match="^D .*expected a number"):
        found.at(**H100, **SQUARE | {"D": "4096"})


def test_costs_of_different_kinds_are_refused():
    with pytest.raises(DimensionError, match="cannot be combined"):
        crossover(V / W, C * T, V)
    with pytest.raises(ValueError, match="neither cost depends on n; expected one that does"):
        crossover(V / W, alpha, n)


def test_formulas_and_expressions_are_alike():
    half = crossover(memory.transfer_time, 2 * V / W, V)
    assert half.expr == alpha * W == memory.half_size.rhs
    named = Formula("Twice", T, 2 * V / W, "nobody", "always")
    assert crossover(memory.transfer_time, named, V).at(alpha=us, W=TB) == [pytest.approx(1e6)]


def test_values_are_numbers_of_any_kind():
    assert batch.at(**H100, b=np.float32(2), b_w=np.int8(2), D=np.int64(4096), F=sympy.Integer(4096)) == batch.at(
        **H100, **SQUARE
    )
    assert all(type(x) is float and math.isfinite(x) for x in batch.at(**H100, **SQUARE))


def test_min_crossing_is_the_ridge():
    roof = crossover(roofline.attainable, C / 2, roofline.attainable.inputs[-1])
    assert roof.at(**H100) == pytest.approx([990e12 / 3.35e12 / 2])
