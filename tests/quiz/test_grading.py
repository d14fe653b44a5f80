"""Typed answers: what the grammar reads, what it refuses and how it says so; buckets, hashes and seals."""

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscale.quiz import grading
from gpuscale.units import Unreadable, arithmetic
from gpuscale.units.formulas import dimension, formula, kind_word

UNITS_OF = {"V": "B", "W": "B/s", "N": "1", "alpha": "s", "W_hbm": "B/s"}
AT = {"V": 3.0, "W": 2.0, "N": 8.0, "alpha": 1.0, "W_hbm": 5.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 V/W (N-1)", 21),
        ("2V/W*(N − 1)/N", 2.625),
        ("V/NW", 3 / 16),
        ("V/N W", 0.75),
        ("NV", 24),
        ("2^-3^2 V", 3 / 512),
        ("-V^2", -9),
        ("(-V)^2", 9),
        ("V**2", 9),
        ("V²", 9),
        ("log2(N)", 3),
        ("log_2(N)", 3),
        ("\\log2(N)", 3),
        ("max(V/W, alpha)", 1.5),
        ("min(V/W, α)", 1),
        ("ceil(V/W)", 2),
        ("ceiling(V/W)", 2),
        ("floor(V/W)", 1),
        ("sqrt(W N)", 4),
        ("α N + V/W", 9.5),
        ("αN", 8),
        ("\\alpha N", 8),
        ("w_HBM", 5),
        ("W_{hbm} N", 40),
        ("T = V/W", 1.5),
        ("T_comms = V/W", 1.5),
        ("V·N", 24),
        ("V × N", 24),
        ("V ÷ W", 1.5),
        ("2e-1 V", 0.6),
        ("N(N-1)", 56),
        ("V - -N", 11),
        ("MAX(V, N)", 8),
        ("V/W/N", 3 / 16),
        ("V N^2/W", 96),
    ],
)
def test_formulas_people_type(text, value):
    assert arithmetic.value(formula(text, UNITS_OF), AT) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("V/", "something is missing after “/”"),
        ("V)", "“)” is out of place"),
        ("(V", "a parenthesis is not closed"),
        ("VX", "“VX” is not one of V, W, N, alpha, W_hbm"),
        ("v/W", "“v” is not one of"),
        ("log2 N", "in parentheses"),
        ("max(V)", "two or more"),
        ("log2(V, W)", "one argument"),
        ("2 100 V", "two numbers in a row"),
        ("1,024 V", "“,” is out of place"),
        ("V = W", "not one of V"),
        ("V == W", "out of place"),
        ("N%", "out of place"),
        ("", "nothing has been typed"),
        ("T =", "nothing"),
        ("__import__('os')", "out of place"),
        ("lambda: 1", "“lambda”"),
        ("eval(V)", "“eval” is not one of"),
        ("(" * 40 + "V", "nested"),
        ("V^" * 40 + "V", "nested"),
    ],
)
def test_errors_point_at_the_token(text, says):
    if text == "V = W":
        assert formula(text, UNITS_OF) == ("sym", "W")  # "V =" is the name of the result
        return
    with pytest.raises(Unreadable) as unclear:
        formula(text, UNITS_OF)
    assert says in str(unclear.value)


ENDLESS = ["V/(N-8)", "log2(N-8)", "sqrt(-V)", "(V-W-1)^-1", "V^V^V^V^V^V", "0^-1", "max(1/(N-8), V)"]


@pytest.mark.parametrize("text", ENDLESS)
def test_no_infinity_passes(text):
    with pytest.raises(Unreadable, match="finite"):
        arithmetic.value(formula(text, UNITS_OF), AT)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("V/W", "a time"),
        ("V", "a number of bytes"),
        ("N^2 V", "a number of bytes"),
        ("W", "a bandwidth"),
        ("1/alpha", "a frequency"),
        ("N + 1", "a number"),
        ("max(V/W, alpha)", "a time"),
        ("sqrt(V^2)", "a number of bytes"),
        ("0 + V", "a number of bytes"),
        ("log2(N)", "a number"),
        ("V^2", "a quantity of another kind"),
        ("V^(N-N+1)", None),
        ("V + W", None),
        ("min(V, N)", None),
    ],
)
def test_dimension_of_a_typed_formula(text, word):
    tree = formula(text, UNITS_OF)
    if word is None:
        with pytest.raises(Unreadable):
            dimension(tree, UNITS_OF)
    else:
        assert kind_word(dimension(tree, UNITS_OF)) == word


@given(st.one_of(st.text(max_size=30), st.text("VWNalphW_hbm0123456789.+-*/^() ,max=²α\\{}", max_size=30)))
def test_any_formula_text_gives_a_finite_value_or_says_why(text):
    try:
        tree = formula(text, UNITS_OF)
        assert math.isfinite(arithmetic.value(tree, AT))
        dimension(tree, UNITS_OF)
    except Unreadable as reason:
        assert str(reason)


# --- buckets and seals ---

usual = st.floats(1e-15, 1e18)


@given(usual, st.floats(-0.99, 0.99), st.sampled_from([0.005, 0.01, 0.02, 0.1]))
def test_within_tolerance_is_near(value, share, tolerance):
    typed_value = value * math.exp(share * tolerance)
    assert grading.token(value, tolerance) in grading.near_tokens(typed_value, tolerance)


@given(usual, st.floats(1.1, 50), st.booleans(), st.sampled_from([0.005, 0.01, 0.02, 0.1]))
def test_beyond_tolerance_is_not(value, share, above, tolerance):
    typed_value = value * math.exp((share if above else -share) * tolerance)
    assert grading.token(value, tolerance) not in grading.near_tokens(typed_value, tolerance)


@given(st.integers(-(10**9), 10**9), st.integers(-3, 3))
def test_exact_numbers_are_compared_as_they_are(number, off):
    near = grading.near_tokens(float(number + off), 0.02, exact=True)
    assert (grading.token(float(number), 0.02, exact=True) == near[0]) == (off == 0)


def test_sign_and_zero_count():
    assert grading.token(-3.0, 0.02) not in grading.near_tokens(3.0, 0.02)
    assert grading.near_tokens(0.0, 0.02) == ["=0"] == grading.near_tokens(-0.0, 0.02)
    assert "=0" not in grading.near_tokens(1e-300, 0.02)


messages = st.text(st.characters(codec="utf-8"), max_size=300)


@given(messages, st.text("abc.0123", max_size=9), st.text("+-=0123", max_size=9))
def test_seals_open_with_their_bucket_only(message, salt, bucket):
    sealed = grading.seal(message, salt, bucket)
    assert grading.unseal(sealed, salt, bucket) == message
    assert len(message) < 3 or message not in bytes.fromhex(sealed).decode("latin1")


def test_digest_is_salted_sha256():
    assert grading.salted_hash("a", "+1") == hashlib.sha256(b"a|+1").hexdigest()[:16] != grading.salted_hash("b", "+1")
