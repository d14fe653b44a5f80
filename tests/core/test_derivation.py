"""Derivations: a true step is proved, and a false one is refused in whatever form it comes."""

import pytest
import sympy
from sympy import Max, Min, Piecewise, Rational, ceiling, floor, oo
from sympy.codegen.cfunctions import log2

from gpuscale.core import Derivation, DimensionError, Formula, StepError
from gpuscale.core.proof import proof_of_equality, tends_to
from gpuscale.one_gpu import memory, roofline
from gpuscale.symbols import (
    B,
    B_crit,
    B_rule,
    C,
    D,
    F,
    I,
    T,
    T_math,
    T_mem,
    V,
    W,
    W_hbm,
    W_ref,
    alpha,
    b,
    b_w,
    flop,
    n,
    ops,
)

# Equalities

EQUAL = {
    "the same": (V / W, V / W),
    "another form": (V / W + alpha, (V + alpha * W) / W),
    "a sum split": (b * B * D + b * D * F, b * D * (B + F)),
    "a telescoped fraction": (V / W * (n - 1) / n, V / W - V / (n * W)),
    "a logarithm of a product": (log2(n * B), log2(n) + log2(B)),
    "a Max pulled through a factor": (Max(V / W, V / W_ref), V * Max(1 / W, 1 / W_ref)),
    "a Max in another order": (Max(T_math, T_mem) - T_math, Max(0, T_mem - T_math)),
    "a Min as a Max": (Min(C, I * W_hbm), I / Max(I / C, 1 / W_hbm)),
    "a nested Max": (Max(T, Max(T_math, T_mem)), Max(Max(T, T_math), T_mem)),
    "a Piecewise as a Max": (Piecewise((T_math, T_math > T_mem), (T_mem, True)), Max(T_math, T_mem)),
    "a ceiling as a floor": (ceiling(n / 2), -floor(-n / 2)),
    "a whole number out of a floor": (floor(n / 4 + 3), floor(n / 4) + 3),
    "a power of a root": (sympy.sqrt(n * B) ** 2, n * B),
    "a maximum of a count and one": (Max(n, 1), n),
}

UNEQUAL = {
    "a factor of two": (2 * V / W, V / W),
    "a tiny factor": (V / W, V / W * (1 + Rational(1, 10**15))),
    "a tiny term": (V / W + alpha, V / W + alpha + alpha / 10**30),
    "a sign": (V / W - alpha, V / W + alpha),
    "one symbol for another": (V / W, V / W_ref),
    "the first branch of a Max": (Max(T_math, T_mem), T_math),
    "the second branch of a Max": (Max(T_math, T_mem), T_mem),
    "a branch out of three": (Max(T, T_math, T_mem), Max(T_math, T_mem)),
    "a Max for a sum": (Max(T_math, T_mem), T_math + T_mem),
    "a Min for a Max": (Max(V / W, V / W_ref), Min(V / W, V / W_ref)),
    "one branch of a Piecewise": (Piecewise((T_math, T_math > T_mem), (T_mem, True)), T_math),
    "a floor dropped": (floor(n / 2), n / 2),
    "a floor for a ceiling": (floor(n / 2), ceiling(n / 2)),
    "a ceiling pulled apart": (ceiling(n * B / 4), ceiling(n / 4) * B),
    "a limit sold as equality": (V / W * (n - 1) / n, V / W),
    "a logarithm of a sum": (log2(n + B), log2(n) + log2(B)),
    "a rounded constant": (V * Rational(14427, 10000), V / sympy.log(2)),
}


@pytest.mark.parametrize("what", EQUAL)
def test_equal_values_are_proved_equal(what):
    a, c = EQUAL[what]
    assert proof_of_equality(a, c)


@pytest.mark.parametrize("what", UNEQUAL)
def test_unequal_values_are_refused(what):
    a, c = UNEQUAL[what]
    assert not proof_of_equality(a, c) and not proof_of_equality(c, a)


def test_it_says_how_an_equality_was_proved():
    assert proof_of_equality(V / W + alpha, (V + alpha * W) / W) == "equal"
    assert proof_of_equality(ceiling(n / 2), -floor(-n / 2)).endswith("sets of values")


# Limits

TRUE_LIMITS = {
    "bandwidth wins": (alpha + V / W, V / W, ((V, oo),)),
    "latency wins": (alpha + V / W, alpha, ((V, sympy.S.Zero),)),
    "a ring of many": (V / W * (n - 1) / n, V / W, ((n, oo),)),
    "bytes before ranks": (alpha * (n - 1) + V / W * (n - 1) / n, V / W, ((V, oo), (n, oo))),
    "ranks before bytes": (alpha * (n - 1) + V / W * (n - 1) / n, alpha * n, ((n, oo), (V, oo))),
    "a power of a later symbol": (V + b * D**3, V, ((V, oo), (D, oo))),
    "wide matrices": (roofline.matmul_intensity.rhs, 2 * flop * B / b, ((D, oo), (F, oo))),
    "a Max": (Max(alpha, V / W), V / W, ((V, oo),)),
    "a Max with a slope on either side": (
        Max(alpha + V / W, V / W_ref),
        V * Max(1 / W, 1 / W_ref),
        ((V, oo),),
    ),
    "a Min": (Min(W, V / alpha), W, ((V, oo),)),
    "a Piecewise": (roofline.critical_batch.rhs, B_rule, ((D, oo), (F, oo))),
    "a Max within a Min": (Min(Max(alpha, V / W), 2 * V / W + alpha), V / W, ((V, oo),)),
    "a logarithm": (alpha * log2(n) + V / W * (n - 1) / n, alpha * log2(n), ((n, oo),)),
    "a share of many": (1 - (1 - 1 / n) ** 3, 3 / n, ((n, oo),)),
    "equal all along": (V / W, V / W, ((V, oo),)),
}

FALSE_LIMITS = {
    "a factor of two": (alpha + V / W, 2 * V / W, ((V, oo),)),
    "a factor near one": (alpha + V / W * (1 + Rational(1, 10**9)), V / W, ((V, oo),)),
    "the other end": (alpha + V / W, V / W, ((V, sympy.S.Zero),)),
    "the wrong symbol": (alpha + V / W, V / W, ((n, oo),)),
    "limits in the wrong order": (alpha * (n - 1) + V / W * (n - 1) / n, V / W, ((n, oo), (V, oo))),
    "limits in the wrong order, turned": (
        alpha * (n - 1) + V / W * (n - 1) / n,
        alpha * n,
        ((V, oo), (n, oo)),
    ),
    "the branch of a Max that loses": (Max(alpha, V / W), alpha, ((V, oo),)),
    "a branch of a Max that wins for some": (Max(alpha + V / W, V / W_ref), V / W, ((V, oo),)),
    "the other branch that wins for some": (Max(alpha + V / W, V / W_ref), V / W_ref, ((V, oo),)),
    "a branch that wins for nearly all": (V * Max(1 / W, 1 / W_ref, n / W), V * n / W, ((V, oo),)),
    "the branch of a Min that loses": (Min(W, V / alpha), V / alpha, ((V, oo),)),
    "a Max for a sum": (V / W + V / W_ref, V * Max(1 / W, 1 / W_ref), ((V, oo),)),
    "a Piecewise whose condition never holds": (
        Piecewise((B_rule, D * F > B_rule), (2 * B_rule, True)),
        2 * B_rule,
        ((D, oo),),
    ),
    "one pass for two": (2 * V / W * (n - 1) / n, V / W, ((n, oo),)),
    "narrow matrices": (roofline.matmul_intensity.rhs, 2 * flop * B / b, ((D, oo),)),
    "a power too low": (alpha * n**2 + V / W, V / W, ((n, oo),)),
    "nothing for something": (sympy.Integer(1) / n, sympy.Integer(2) / n, ((n, oo),)),
    "one where it tends to a part": (1 - (1 - 1 / n) ** 3, sympy.Integer(1), ((n, sympy.S(2)),)),
}


@pytest.mark.parametrize("what", TRUE_LIMITS)
def test_true_limits_are_proved(what):
    assert tends_to(*TRUE_LIMITS[what])


@pytest.mark.parametrize("what", FALSE_LIMITS)
def test_false_limits_are_refused(what):
    assert not tends_to(*FALSE_LIMITS[what])


@pytest.mark.parametrize("silent", [1, 0, oo])
def test_sympys_limit_is_not_believed_alone(monkeypatch, silent):
    """sympy's limit is silently wrong on some ratios: a wrong value of 1 must not pass."""
    monkeypatch.setattr(sympy, "limit", lambda *args, **kwargs: sympy.sympify(silent))
    for parts in FALSE_LIMITS.values():
        assert not tends_to(*parts)


def test_growing_points_are_not_believed_alone(monkeypatch):
    """Where sympy finds no limit, nothing is proved."""

    def gives_up(*args, **kwargs):
        raise NotImplementedError

    monkeypatch.setattr(sympy, "limit", gives_up)
    assert not any(tends_to(*parts) for parts in TRUE_LIMITS.values())


# Derivations


def chain():
    return Derivation(T_mem).given(alpha + V / W, "wait, then move")


def test_a_true_chain_is_accepted_and_says_how_each_step_was_proved():
    done = chain().equal((alpha * W + V) / W, "one fraction").limit(V / W, "large transfers", (V, oo))
    assert [s.proof for s in done.steps] == ["", "equal", "limit"] and [s.relation for s in done.steps] == [
        "=",
        "=",
        "->",
    ]
    assert done.expr == V / W and [s.left for s in done.steps] == [r"T_\mathrm{mem}", "", ""]
    assert chain().matches(memory.transfer_time).expr == memory.transfer_time.rhs
    assert "wait, then move" in repr(done) and "->" in repr(done)


def test_a_derivation_starts_with_something_given():
    for step in ("equal", "limit"):
        with pytest.raises(StepError, match="starts with given"):
            getattr(Derivation(T_mem), step)(V / W, "so it seems", *([(V, oo)] if step == "limit" else []))


@pytest.mark.parametrize("what", UNEQUAL)
def test_a_false_equality_is_no_step(what):
    a, c = UNEQUAL[what]
    with pytest.raises((StepError, DimensionError)):
        Derivation(quantity_like(a)).given(a, "given").equal(c, "so it seems")


@pytest.mark.parametrize("what", FALSE_LIMITS)
def test_a_false_limit_is_no_step(what):
    a, c, regime = FALSE_LIMITS[what]
    with pytest.raises(StepError, match="does not tend to"):
        Derivation(quantity_like(a)).given(a, "given").limit(c, "so it seems", *regime)


def quantity_like(expr):
    """A quantity of the expression's dimension, to stand on the left."""
    from gpuscale.core.dimension import fits

    return next(q for q in (T_mem, V, n, W, C, I, ops, B_crit) if fits(expr, q.unit))


def test_a_limit_needs_its_regime():
    with pytest.raises(StepError, match="does not tend to"):
        chain().limit(V / W, "large transfers")


def test_another_dimension_is_no_step():
    for step in (
        lambda: chain().equal(V, "so"),
        lambda: chain().limit(W, "so", (V, oo)),
        lambda: Derivation(V).given(V / W, "so"),
    ):
        with pytest.raises(DimensionError):
            step()


def test_what_is_put_in_is_computed():
    d = (
        Derivation(T)
        .given(Max(T_math, T_mem), "overlap")
        .put("both times", roofline.compute_time, roofline.memory_time)
    )
    assert d.expr == Max(ops / C, V / W_hbm) and d.steps[-1].proof == "put in"
    assert d.put("shape", ops=2 * flop * B * D * F).expr == Max(2 * flop * B * D * F / C, V / W_hbm)
    assert chain().put("elements", V=b * n, alpha=V / W_ref).expr == V / W_ref + b * n / W
    with pytest.raises(StepError, match="put: T_math does not occur in"):
        chain().put("nothing there", roofline.compute_time)
    with pytest.raises(DimensionError, match="put V"):
        chain().put("a time for bytes", V=alpha)


def equation():
    rows = roofline.matmul_memory_time.rhs
    return sympy.Eq(roofline.matmul_math_time.rhs, rows)


SOLUTION = b_w * C * D * F / (2 * flop * D * F * W_hbm - b * C * (D + F))


def test_a_solution_is_put_back():
    for given in (None, SOLUTION):
        d = (
            Derivation(T_math)
            .given(roofline.matmul_math_time, "peak rate")
            .solved(equation(), B, "solve for the batch", given)
        )
        assert sympy.simplify(d.expr - SOLUTION) == 0 and d.lhs is B and d.steps[-1].proof == "solved"
        assert d.steps[-1].left == "B"


@pytest.mark.parametrize(
    "false",
    [2 * SOLUTION, SOLUTION / 2, SOLUTION + 1, SOLUTION.subs(b, b_w), b_w * C / (2 * flop * W_hbm)],
    ids=str,
)
def test_a_false_solution_is_refused(false):
    with pytest.raises(StepError, match="does not solve"):
        Derivation(T_math).given(roofline.matmul_math_time, "peak rate").solved(equation(), B, "so it seems", false)


def test_several_solutions_or_none_are_refused():
    with pytest.raises(StepError, match="has 2 solutions for V; expected one"):
        chain().solved(sympy.Eq(V**2 + 2 * b**2, 3 * b * V), V, "which one?")
    with pytest.raises(StepError, match="has 0 solutions for V; expected one"):
        chain().solved(sympy.Eq(V / W + alpha, V / W + alpha * 2, evaluate=False), V, "none")


def test_a_derivation_goes_on_after_a_solution():
    d = Derivation(T_math).given(roofline.matmul_math_time, "peak rate").solved(equation(), B, "solve for the batch")
    d.limit(b_w * C / (2 * flop * W_hbm), "wide matrices", (D, oo), (F, oo))
    with pytest.raises(StepError):
        d.equal(d.expr / 2, "so it seems")


def test_the_wrong_formula_is_not_matched():
    wrong = Formula("Twice", T_mem, 2 * memory.transfer_time.rhs, "nobody", "never")
    with pytest.raises(StepError, match="the derivation gives .*, the library"):
        chain().matches(wrong)
    with pytest.raises(StepError):
        Derivation(T).given(T_math + T_mem, "one after the other").matches(roofline.roofline_time)


@pytest.mark.parametrize("name", ["critical_batch", "critical_batch_mixed", "matmul_intensity", "vector_add_time"])
def test_the_librarys_approximations_are_limits(name):
    f = getattr(roofline, name)
    Derivation(f.lhs).given(f, "exact").limit(f.approx, "its limit", *f.regime)
    with pytest.raises(StepError):
        Derivation(f.lhs).given(f, "exact").limit(2 * f.approx, "so it seems", *f.regime)


def test_it_is_shown_as_a_list_with_one_row_a_step():
    shown = chain().equal((alpha * W + V) / W, "less < more & V")._repr_html_()
    assert (
        shown.count("<li>") == 2
        and "less &lt; more &amp; <i>V</i>" in shown
        and shown.count("checked</span></span>") == 1
    )
