"""Formulas: what they take, what they give, what they refuse, and how they are put into each other."""

import copy
import dataclasses
import fractions
import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from support.strategies import BAD_NUMBERS, NO_NUMBERS
from sympy import Max, Min, Piecewise, ceiling, floor, oo
from sympy.codegen.cfunctions import log2

from gpuscale.core import DimensionError, Formula, evaluate, inputs
from gpuscale.core.evaluation import compiled
from gpuscale.one_gpu import memory, roofline
from gpuscale.symbols import B, C, D, T, T_mem, V, W, W_hbm, alpha, b, flop, n, ops
from gpuscale.units import GB, MB, us

time = memory.transfer_time
USUAL = {"alpha": 3 * us, "V": 64 * MB, "W": 450 * GB}


@pytest.fixture(autouse=True)
def no_warnings():
    """A refusal is an error of ours, never a warning of numpy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# What it gives


def test_floats_in_floats_out():
    out = time(**USUAL)
    assert type(out) is float and out == 3 * us + 64 * MB / (450 * GB)


@pytest.mark.parametrize(
    "value",
    [
        64,
        64.0,
        np.int32(64),
        np.int64(64),
        np.uint8(64),
        np.float16(64),
        np.float32(64),
        np.float64(64),
        np.longdouble(64),
        np.array(64),
        sympy.Integer(64),
        sympy.Rational(128, 2),
        fractions.Fraction(64),
        sympy.Float(64),
    ],
    ids=lambda v: type(v).__name__,
)
def test_every_kind_of_number_is_taken(value):
    out = time(alpha=0, V=value, W=1)
    assert type(out) is float and out == 64.0


@pytest.mark.parametrize(
    "value, shape",
    [
        ([64, 128], (2,)),
        ((64.0, 128), (2,)),
        (range(1, 4), (3,)),
        ([[1, 2], [3, 4]], (2, 2)),
        ([], (0,)),
        (np.zeros((0, 3)), (0, 3)),
        (np.array([[1], [2]], dtype=np.int8), (2, 1)),
        (np.array([1, 2.5], dtype=object), (2,)),
        ([1, np.float32(2)], (2,)),
        (np.ones(10)[::2], (5,)),
        (np.ones((2, 3)).T, (3, 2)),
        ([64], (1,)),
    ],
    ids=str,
)
def test_arrays_keep_their_shape(value, shape):
    out = time(alpha=2, V=value, W=4)
    assert isinstance(out, np.ndarray) and out.dtype == float and out.shape == shape
    assert np.array_equal(out, 2 + np.asarray(value, dtype=float) / 4)


def test_arrays_broadcast():
    out = time(alpha=[[0.0], [1.0]], V=[1.0, 2.0, 3.0], W=2)
    assert np.array_equal(out, [[0.5, 1.0, 1.5], [1.5, 2.0, 2.5]])


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(
        ValueError, match=r"transfer_time: expected arrays with compatible shapes; got V \(2,\), W \(3,\)"
    ):
        time(alpha=0, V=[1, 2], W=[1, 2, 3])


def test_float32_is_computed_in_double():
    out = time(alpha=np.float32(0), V=np.array([1e30, 0.1], dtype=np.float32), W=np.float32(1e-30))
    assert out.dtype == np.float64 and out[0] == float(np.float32(1e30)) / float(np.float32(1e-30))


def test_integers_do_not_overflow():
    big = np.array([2**62, 2**62 - 1], dtype=np.int64)
    out = roofline.matmul_ops(B=big, D=big, F=big)
    assert np.all(out > 1e56) and np.allclose(out, 2.0 * float(2**62) ** 3, rtol=1e-12)
    assert roofline.matmul_ops(B=2**62, D=2**62, F=2**62) == 2.0 * float(2**62) ** 3
    assert roofline.matmul_ops(B=np.uint8(255), D=np.uint8(255), F=np.uint8(255)) == 2.0 * 255**3


def test_a_constant_is_broadcast_over_the_inputs():
    flat = V / V + 0 * V
    assert evaluate(flat) == 1.0 and evaluate(sympy.Integer(3)) == 3.0
    out = evaluate(Piecewise((sympy.Integer(2), V > b), (sympy.Integer(3), True)), V=[1.0, 5.0], b=2)
    assert np.array_equal(out, [3.0, 2.0])
    assert evaluate(Max(V, b), V=np.zeros((0,)), b=2).shape == (0,)


def test_an_input_handed_through_is_not_aliased():
    given = np.array([1.0, 2.0])
    evaluate(V, V=given)[0] = 9.0
    assert given[0] == 1.0


def test_the_inputs_are_left_alone():
    given = np.array([3, 1, 2])
    time(alpha=0, V=given, W=1)
    assert given.dtype == np.int64 and list(given) == [3, 1, 2]


def test_an_idle_branch_may_divide_by_zero():
    """At D = F = 2 B_rule the closed form divides by zero, and the other branch holds."""
    assert roofline.critical_batch(B_rule=512, D=1024, F=1024) == math.inf
    assert list(roofline.critical_batch(B_rule=[256, 512, 600], D=1024, F=1024)) == [
        512.0,
        math.inf,
        math.inf,
    ]


def test_one_is_the_value_of_an_operation():
    assert flop not in inputs(2 * flop * B) and evaluate(2 * flop * B / C, B=3, C=2) == 3.0
    with pytest.raises(TypeError, match="unknown flop; expected B"):
        evaluate(2 * flop * B, B=1, flop=1)


@pytest.mark.parametrize(
    "expr, expected",
    [
        (ceiling(log2(n)), 29.0),
        (floor(n / 3), 2**29 // 3),
        (Max(n, B, D), 2.0**29),
        (Min(n, B, D), 2.0),
        (sympy.Mod(n, 7), 2**29 % 7),
        (sympy.sqrt(n * 2), 2.0**15),
        (sympy.Abs(B - D), 1.0),
        (sympy.log(n), 29 * math.log(2)),
    ],
    ids=str,
)
def test_every_function_that_formulas_use(expr, expected):
    given = {q.name: {"n": 2**29, "B": 2, "D": 3}[q.name] for q in inputs(expr)}
    assert evaluate(expr, **given) == pytest.approx(expected, rel=1e-15)
    out = evaluate(expr, **{k: [v, v] for k, v in given.items()})
    assert out == pytest.approx([expected, expected], rel=1e-15)


def test_logarithms_of_powers_of_two_are_exact():
    powers = 2.0 ** np.arange(1, 64)
    assert np.array_equal(evaluate(ceiling(log2(n)), n=powers), np.arange(1, 64))


def test_a_function_is_compiled_once():
    assert compiled(V / W)[0] is compiled(V / W)[0]


# What it refuses: every message names the input and what was expected


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda v: type(v).__name__)
def test_what_is_no_number_is_refused(name, value):
    q = {"alpha": alpha, "V": V, "W": W}[name]
    with pytest.raises(TypeError) as caught:
        time(**USUAL | {name: value})
    assert str(caught.value).startswith(f"{name} ({q.meaning}): expected a number in {q.unit}") and "; got " in str(
        caught.value
    )


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("value", BAD_NUMBERS, ids=str)
def test_a_number_out_of_range_is_refused(name, value):
    q = {"alpha": alpha, "V": V, "W": W}[name]
    with pytest.raises(ValueError) as caught:
        time(**USUAL | {name: value})
    assert str(caught.value).startswith(f"{name} ({q.meaning}): expected a finite number ") and "; got " in str(
        caught.value
    )


def test_zero_is_taken_where_it_means_something():
    assert time(alpha=0, V=1, W=1) == 1.0
    for name in ("V", "W"):
        with pytest.raises(ValueError, match=f"^{name} .*above zero in .*; got 0$"):
            time(**USUAL | {name: 0})
        with pytest.raises(ValueError, match="above zero"):
            time(**USUAL | {name: [1.0, 0.0]})


def test_a_count_below_one_is_refused():
    with pytest.raises(ValueError, match=r"^B \(.*\): expected a finite number of at least 1; got 0.5$"):
        roofline.matmul_ops(B=0.5, D=1, F=1)
    assert roofline.matmul_ops(B=1, D=1, F=1) == 2.0


def test_a_text_is_pointed_to_parse():
    with pytest.raises(TypeError, match=r"such as parse\('64 MB', 'B'\); got str '64 MB'"):
        time(**USUAL | {"V": "64 MB"})


@pytest.mark.parametrize(
    "values, says",
    [
        ({}, "missing V, W"),
        ({"alpha": 1, "W": 1}, "missing V"),
        ({"alpha": 0, "V": 1, "w": 1}, "missing W; unknown w"),
        (USUAL | {"N": 8}, "unknown N"),
        (USUAL | {"flop": 1}, "unknown flop"),
        (USUAL | {"title": 1, "rhs": 2}, "unknown title, rhs"),
    ],
)
def test_wrong_names_are_named_with_what_is_expected(values, says):
    with pytest.raises(TypeError) as caught:
        time(**values)
    assert str(caught.value) == f"transfer_time: {says}; expected alpha [s], V [B], W [B/s]"


def test_an_optional_input_is_zero_where_it_is_left_out():
    assert time.optional == (alpha,) and time(V=3, W=2) == time(alpha=0, V=3, W=2) == 1.5
    assert evaluate(time, V=3, W=2) == 1.5 and time(alpha=1, V=3, W=2) == 2.5
    assert list(time(V=np.array([2, 4]), W=2)) == [1, 2]
    with pytest.raises(TypeError, match="missing alpha; expected alpha"):
        evaluate(time.rhs, V=3, W=2)  # an expression alone asks for all
    with pytest.raises(TypeError, match=r"^half_size: missing alpha; expected alpha \[s\], W"):
        memory.half_size(W=2)
    assert pickle.loads(pickle.dumps(time.where(V=b * n))).optional == (alpha,)


def test_what_is_put_in_decides_what_stays_optional():
    assert time.where(V=b * n).optional == (alpha,)
    assert time.where(alpha=0).optional == time.where(optional=()).optional == ()
    strict = Formula("Bytes that a latency hides", V, alpha * W, "nobody", "always")
    assert time.where(strict).optional == ()
    spare = dataclasses.replace(strict, optional=(alpha,))
    assert time.where(spare).optional == (alpha,) and time.where(spare)() == 0


def test_a_formula_can_say_what_a_quantity_is_in_it():
    plain = dataclasses.replace(time, means={})
    told = dataclasses.replace(time, means={V: "size of the whole array", alpha: "latency of N passes"})
    assert "size of the whole array" in told.about().html and "latency of <i>N</i> passes" in told.about().html
    assert V.meaning not in told.about().html and V.meaning in plain.about().html
    assert told.where(alpha=0).means == {V: "size of the whole array"}
    assert told.where(V=b * n, means={n: "GPUs"}).means == {alpha: "latency of N passes", n: "GPUs"}
    sent = Formula("Sent", V, b * n, "nobody", "always", means={b: "bytes of a token", n: "tokens"})
    assert plain.where(sent, means={b: "bytes"}).means == {b: "bytes", n: "tokens"}


def test_a_meaning_needs_its_quantity():
    with pytest.raises(ValueError, match="has a meaning, but the formula has no"):
        dataclasses.replace(time, means={n: "GPUs"})


@pytest.mark.parametrize("odd", [W, T])
def test_only_an_input_that_can_be_zero_is_optional(odd):
    with pytest.raises(ValueError, match=f"{odd} cannot be optional; expected an input that can be zero"):
        Formula("Odd", T_mem, alpha + V / W, "nobody", "always", optional=(odd,))


def test_inputs_have_no_order_to_mistake():
    with pytest.raises(TypeError, match="positional"):
        time(0, 1, 2)


def test_a_result_out_of_range_is_refused_by_name():
    with pytest.raises(ValueError, match="^matmul_ops: the result overflows; expected inputs of ordinary magnitude"):
        roofline.matmul_ops(B=1e200, D=1e200, F=1)
    with pytest.raises(ValueError, match="^divergence_idle: the result is not a number"):
        from gpuscale.one_gpu import divergence_idle

        divergence_idle(m_then=1, n_then=0, n_else=0, w_lanes=32)
    assert evaluate(V * W * T, V=1e200, W=1e-200, T=1e100) == pytest.approx(1e100)


def test_large_finite_results_pass():
    assert time(alpha=0, V=[1e300, 1e300], W=1) == pytest.approx([1e300, 1e300])


NUMBERISH = st.one_of(
    st.floats(),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.complex_numbers(),
    st.binary(max_size=3),
    st.fractions(),
    st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=2)), max_size=3),
    st.lists(st.lists(st.floats(), max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)


@given(NUMBERISH, st.sampled_from(["alpha", "V", "W"]))
@example(10**400, "V")
@example(10**5000, "W")
@example([10**400], "V")
@example(-0.0, "alpha")
@example(5e-324, "W")
def test_anything_at_all_gives_a_number_or_an_error_that_names_the_input(value, name):
    try:
        out = time(**USUAL | {name: value})
    except (TypeError, ValueError) as error:
        assert name in str(error) or "transfer_time" in str(error)
        assert "expected" in str(error)
    else:
        assert np.all(np.isfinite(out)) and np.all(np.asarray(out) >= 0)
        assert np.shape(out) == np.shape(np.asarray(value, dtype=float))


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(["alpha", "V", "W", "flop", "self", "expr"]), st.text(min_size=1, max_size=4)),
        st.floats(1, 2),
    )
)
@example({"expr": 1.0})
@example({"self": 1.0})
def test_any_set_of_names(values):
    try:
        out = time(**values)
    except TypeError as error:
        assert "expected alpha [s], V [B], W [B/s]" in str(error)
    else:
        assert set(values) == {"alpha", "V", "W"} and out > 0


# What a formula is


def test_a_formula_knows_its_name_and_its_inputs_in_order():
    assert time.name == "transfer_time" and time.module == "gpuscale.one_gpu.memory"
    assert time.inputs == (alpha, V, W)
    assert [q.name for q in roofline.matmul_time.inputs] == ["C", "b", "b_w", "W_hbm", "B", "D", "F"]
    local = Formula("On the way", T, V / W, "nobody", "always")
    assert local.name == "" and local.module == ""


def test_a_formula_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        time.rhs = V


def test_a_formula_is_hashable_and_equal_to_itself_only():
    twin = Formula(time.title, time.lhs, time.rhs, time.source, time.assumes)
    assert twin != time and len({twin, time, time}) == 2


def test_a_named_formula_survives_a_pickle_as_itself():
    assert pickle.loads(pickle.dumps(time)) is time and copy.deepcopy(time) is time and copy.copy(time) is time
    made = time.where(V=b * n)
    again = pickle.loads(pickle.dumps(made))
    assert (again.title, again.lhs, again.rhs, again.source) == (made.title, made.lhs, made.rhs, made.source)
    assert again(alpha=0, b=2, n=3, W=2) == 3.0
    code = "import pickle, sys; f = pickle.loads(sys.stdin.buffer.read()); print(f.name, f(alpha=0, V=6, W=2))"
    out = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(time), capture_output=True, check=True)
    assert out.stdout.split() == [b"transfer_time", b"3.0"]


def test_a_changed_copy_of_a_named_formula_stays_changed():
    changed = dataclasses.replace(time, rhs=2 * time.rhs)
    for again in (pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed)):
        assert again(alpha=0, V=6, W=2) == 6.0 == changed(alpha=0, V=6, W=2)


def test_an_expression_of_other_symbols_is_refused():
    with pytest.raises(TypeError, match="holds x, which is not a Quantity"):
        evaluate(sympy.Symbol("x", positive=True) + V, V=1, x=2)


def test_a_formula_holds_quantities_only():
    stranger = sympy.Symbol("N", positive=True)
    with pytest.raises(TypeError, match="Wrong: rhs holds N, which is not a Quantity; declare it in gpuscale/symbols"):
        Formula("Wrong", T, V / W * stranger, "nobody", "never")
    twin = sympy.Symbol("V", positive=True)
    with pytest.raises(TypeError, match="holds V, which is not a Quantity"):
        Formula("Wrong", T, twin / W, "nobody", "never")


def test_an_approximation_comes_with_its_regime():
    for parts in ({"approx": V / W}, {"regime": ((V, oo),)}):
        with pytest.raises(ValueError, match="approx and regime belong together"):
            Formula("Wrong", T, alpha + V / W, "nobody", "never", **parts)


def test_it_is_shown_as_its_equation():
    assert repr(time) == "T_mem = V/W + alpha" and time._repr_latex_().startswith(r"$\displaystyle T_\mathrm{mem} = ")
    assert time.equation() == sympy.Eq(T_mem, alpha + V / W, evaluate=False)


# where


def test_formulas_and_expressions_are_put_in():
    out = roofline.roofline_time.where(roofline.compute_time, roofline.memory_time, lhs=T, title="All in one")
    assert out.rhs == Max(ops / C, V / W_hbm) and out.lhs is T and out.title == "All in one"
    assert out.approx is None and out.regime == () and out.source == roofline.roofline_time.source
    assert time.where(V=b * n).rhs == alpha + b * n / W and time.where(V=0).rhs == alpha


def test_swaps_are_simultaneous():
    expr = Formula("Both", T, V / W + 2 * b / W_hbm, "nobody", "always")
    assert expr.where(V=b, b=V).rhs == b / W + 2 * V / W_hbm
    assert time.where(alpha=alpha + V / W).rhs == alpha + 2 * V / W
    half = Formula("Half", V, V / 2, "nobody", "always")
    assert time.where(half, alpha=V / W).rhs == V / (2 * W) + V / W


def test_a_new_left_side_must_fit():
    assert time.where(lhs=T).lhs is T
    with pytest.raises(DimensionError, match="rhs is a time; V is a number of bytes"):
        time.where(lhs=V)


def test_two_formulas_for_one_quantity_are_refused():
    with pytest.raises(ValueError, match="two formulas give T_mem; expected one"):
        roofline.roofline_time.where(time, roofline.memory_time)
    with pytest.raises(ValueError, match="T_mem is given twice"):
        roofline.roofline_time.where(time, T_mem=T)


@pytest.mark.parametrize("name", ["N", "T_math", "n", "flop", "v", "rhs"])
def test_what_is_no_input_is_refused_by_name(name):
    with pytest.raises(
        TypeError, match=rf"where: {name} is not an input of Time to move bytes; expected alpha \[s\], V \[B\], W"
    ):
        time.where(**{name: V})
    with pytest.raises(TypeError, match="where: T_math is not an input of Time to move bytes; expected"):
        time.where(roofline.compute_time)


@pytest.mark.parametrize(
    "name, expr, says",
    [
        ("V", alpha, "where: V is a time; V is a number of bytes"),
        ("V", 64e6, "where: V is a number; V is a number of bytes"),
        ("W", V / W, "where: W is a time; W is a bandwidth"),
        ("alpha", V + W * T + C, "where: alpha"),
    ],
)
def test_an_expression_of_another_dimension_is_refused(name, expr, says):
    with pytest.raises(DimensionError) as caught:
        time.where(**{name: expr})
    assert str(caught.value).startswith(says)


def test_a_formula_that_does_not_fit_is_refused():
    wide = Formula("Wide", W, V / T, "nobody", "always")
    assert time.where(wide).rhs == alpha + T
    with pytest.raises(TypeError, match="holds N, which is not a Quantity"):
        time.where(V=b * sympy.Symbol("N", positive=True))


@given(st.floats(1e-6, 1e-3), st.floats(1, 1e9), st.floats(1e9, 1e13), st.integers(1, 1000))
def test_putting_in_and_evaluating_commute(a, size, bandwidth, count):
    inner = Formula("Inner", V, b * n, "nobody", "always")
    direct = time(alpha=a, V=size * count, W=bandwidth)
    assert time.where(inner)(alpha=a, b=size, n=count, W=bandwidth) == pytest.approx(direct, rel=1e-14)
    assert time.where(V=b * n)(alpha=a, b=size, n=count, W=bandwidth) == pytest.approx(direct, rel=1e-14)


def test_a_share_above_one_is_refused():
    from gpuscale.one_gpu import mixed_rate

    peaks = {"C": 990e12, "C_fp32": 67e12}
    with pytest.raises(ValueError, match=r"^s_vec \(.*\): expected a finite number above zero and at most 1; got 1.5$"):
        mixed_rate(**peaks, s_vec=[0.5, 1.5])
    assert mixed_rate(**peaks, s_vec=1) == 67e12
