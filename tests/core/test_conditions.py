"""Conditions that formulas enforce, and the two functions that floats get wrong: ceil(log2) and binomials."""

import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from py_mini_racer import MiniRacer
from sympy.codegen.cfunctions import log2

from gpuscale.collectives import algorithms, exchange, hierarchy, in_network
from gpuscale.core import Formula, at_least, at_most, below, divisible, evaluate, javascript, nested, power_of_two
from gpuscale.core.floats import ceil_log2, log_binomial, log_factorial
from gpuscale.network import wire_latency
from gpuscale.symbols import E, N, T, V, W, Z, alpha, k, n

steady = settings(deadline=None, derandomize=True, max_examples=80)


@pytest.fixture(scope="module")
def engine():
    with MiniRacer() as machine:
        yield machine


def twin(engine, formula, **values):
    found = json.loads(engine.eval(f"JSON.stringify([({javascript.function(formula)})({json.dumps(values)})])"))[0]
    return math.nan if found is None else found  # JSON knows neither NaN nor infinity


# What is refused


@pytest.mark.parametrize(
    "formula, values, says",
    [
        (algorithms.doubling_steps, {"N": 6}, r"doubling_steps: expected that N is a power of two .*; got N = 6"),
        (
            exchange.hit_top_k,
            {"E": 10, "Z": 4, "k": 2},
            "hit_top_k: expected that E is divisible by Z; got Z = 4, E = 10",
        ),
        (exchange.hit_top_k, {"E": 8, "Z": 4, "k": 9}, "expected that k is at most E; got E = 8, k = 9"),
        (in_network.nvls_from, {"r_ring": 2}, "expected that r_ring is below 2; got r_ring = 2"),
        (hierarchy.node_bandwidth, {"G": 1, "W_nvl": 1}, "expected that G is at least 2; got G = 1"),
        (
            hierarchy.sharded_bytes,
            {"V": 1, "Y": 12, "n_in": 8, "N": 96},
            "one of Y and n_in divides the other",
        ),
        (hierarchy.top_switch_out, {"V": 1, "n_unit": 9, "N": 8}, "expected that N is divisible by n_unit"),
        (wire_latency, {"n_hop": 0, "t_hop": 1}, "expected that n_hop is at least 1; got n_hop = 0"),
    ],
)
def test_a_broken_need_is_refused_in_words_and_not_drawn(formula, values, says, engine):
    with pytest.raises(ValueError, match=says):
        formula(**values)
    with pytest.raises(ValueError, match=says):
        evaluate(formula, **values)
    assert math.isnan(twin(engine, formula, **values))


def test_the_first_bad_element_of_an_array_is_named():
    assert list(algorithms.doubling_steps(N=[1, 2, 1024])) == [0, 1, 10]
    with pytest.raises(ValueError, match="got N = 12$"):
        algorithms.doubling_steps(N=[8, 12, 13])
    with pytest.raises(ValueError, match="got Z = 5, E = 8"):
        exchange.hit_top_k(E=8, Z=[[1, 2], [4, 5]], k=2)


@pytest.mark.parametrize(
    "need, good, bad",
    [
        (power_of_two(n), [1, 2, 2**50], [3, 2**50 + 1, 6]),
        (divisible(n, 3), [3, 9], [1, 4]),
        (divisible(12, n), [1, 4], [5, 24]),
        (nested(n, 6), [1, 3, 6, 12], [4, 9]),
        (at_least(n, 3), [3, 4], [2]),
        (at_most(n, 3), [1, 3], [4]),
        (below(n, 3), [2], [3, 4]),
    ],
    ids=str,
)
def test_each_need_holds_where_it_says(need, good, bad, engine):
    formula = Formula("A need", n, n, "nobody", "sometimes", needs=(need,))
    assert [formula(n=value) for value in good] == good
    for value in bad:
        with pytest.raises(ValueError, match="expected that"):
            formula(n=value)
        assert math.isnan(twin(engine, formula, n=value))
    assert [twin(engine, formula, n=value) for value in good] == good
    assert "{" not in str(need) and need == need.put({}) and hash(need)


def test_needs_follow_what_is_put_in():
    time = algorithms.halving_doubling_all_reduce
    assert time.needs == algorithms.all_reduce_bytes.needs + (power_of_two(N),)
    assert time.where(N=Z).needs == (power_of_two(Z),)
    assert time.where(N=8).needs == ()
    with pytest.raises(ValueError, match="got Z = 3"):
        time.where(N=Z, alpha=0)(Z=3, V=1, W=1)
    with pytest.raises(ValueError, match="needs that 6 is a power of two"):
        time.where(N=6)
    assert pickle.loads(pickle.dumps(time.where(N=Z))).needs == (power_of_two(Z),)


def test_a_need_is_about_the_inputs():
    with pytest.raises(ValueError, match="Wrong: needs that N is at least 2; expected a condition on its inputs alone"):
        Formula("Wrong", T, V / W, "nobody", "never", needs=(at_least(N, 2),))


def test_drawing_goes_on_where_a_call_is_refused():
    between = np.linspace(1, 64, 200)
    drawn = evaluate(exchange.hit_top_k.rhs, E=256, Z=between, k=8)
    assert np.all(np.diff(drawn) < 0) and drawn[0] == 1
    assert "Number.isNaN" not in javascript.body(exchange.hit_top_k.rhs)


# Ceil of log2


def test_ceil_log2_is_exact_beside_powers_of_two(engine):
    for power in range(1, 53):
        for x in (2**power - 1, 2**power, 2**power + 1):
            true = (x - 1).bit_length()
            assert ceil_log2(float(x)) == true == evaluate(sympy.ceiling(log2(n)), n=x)
            found = Formula("Steps", n, sympy.ceiling(log2(N)) + 1, "nobody", "always")
            assert twin(engine, found, N=x) == true + 1


# Binomials


@steady
@given(st.integers(0, 400), st.integers(0, 400))
def test_binomials_of_whole_numbers(a, b):
    if b > a:
        assert log_binomial(a, b) == -np.inf
    else:
        assert np.exp(log_binomial(a, b) - math.log(math.comb(a, b))) == pytest.approx(1, rel=1e-9)


@steady
@given(st.floats(0, 5000), st.floats(0, 1))
def test_binomials_between_them(a, share):
    b = a * share
    true = math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)
    assert log_binomial(a, b) == pytest.approx(true, rel=1e-9, abs=1e-9)
    assert log_factorial(a) == pytest.approx(math.lgamma(a + 1), rel=1e-11, abs=1e-11)


def test_huge_binomials():
    assert log_binomial(10**6, 3 * 10**5) == pytest.approx(
        math.lgamma(10**6 + 1) - math.lgamma(3 * 10**5 + 1) - math.lgamma(7 * 10**5 + 1), rel=1e-9
    )
    assert np.isnan(log_binomial(5, -1))


@steady
@given(st.integers(0, 9), st.integers(0, 5), st.data())
def test_top_k_is_exact(shards, each, data):
    shards, experts = 2**shards, 2 ** (shards + each)
    chosen = data.draw(st.integers(1, min(experts, 64)))
    missed = Fraction(math.comb(experts - experts // shards, chosen), math.comb(experts, chosen))
    share = exchange.hit_top_k(E=experts, Z=shards, k=chosen)
    assert share == pytest.approx(float(1 - missed), rel=1e-9)
    if experts == shards:
        assert share == pytest.approx(chosen / shards, rel=1e-9)


def test_javascript_draws_the_same_binomials(engine):
    for values in (
        {"E": 256, "Z": 8, "k": 8},
        {"E": 256, "Z": 5.5, "k": 8},
        {"E": 256, "Z": 3.3, "k": 2.5},
        {"E": 8, "Z": 2, "k": 6},
        {"E": 8192, "Z": 4, "k": 3000},
    ):
        ours = evaluate(exchange.hit_top_k.rhs, **values)
        assert twin(engine, exchange.hit_top_k.rhs, **values) == pytest.approx(ours, rel=1e-9)
    lone = sympy.binomial(E, k) * alpha
    assert evaluate(lone, E=10, k=3, alpha=2) == pytest.approx(240, rel=1e-12)
    assert twin(engine, lone, E=10, k=3, alpha=2) == pytest.approx(240, rel=1e-12)
    squared = alpha * sympy.binomial(E, k) ** 2 / sympy.binomial(E, 2)
    assert evaluate(squared, E=10, k=3, alpha=2) == pytest.approx(2 * 120**2 / 45, rel=1e-12)
