"""Typed answers: what the grammar reads, what it refuses and how it says so; buckets, hashes and seals."""

import hashlib
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuscale.quiz import grading
from gpuscale.units import SCALE, UnitError, Unreadable, arithmetic
from gpuscale.units.formulas import dimension, formula, kind_word
from gpuscale.units.reading import read as read_amount

NBSP, THIN = "\u00a0", "\u2009"


def read(text, unit="s", noun=""):
    return read_amount(text, unit, "SOMETHING", noun)[0]


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("65 us", "s", 65e-6),
        ("6.5e-5 s", "s", 65e-6),
        ("0.065 ms", "s", 65e-6),
        ("65µs", "s", 65e-6),
        ("65 μs", "s", 65e-6),
        (f"65{NBSP}us", "s", 65e-6),
        (f"65{THIN}us", "s", 65e-6),
        ("65 us.", "s", 65e-6),
        ("T = 65 us", "s", 65e-6),
        ("≈ 65 us", "s", 65e-6),
        ("~65us", "s", 65e-6),
        ("65 US", "s", 65e-6),
        ("6.5 × 10^-5 s", "s", 65e-6),
        ("6.5·10⁻⁵ s", "s", 65e-6),
        ("6.5x10^-5 s", "s", 65e-6),
        ("6.5*10**-5 s", "s", 65e-6),
        ("180 days", "s", 180 * 86400),
        ("2 min", "s", 120),
        ("−3 us", "s", -3e-6),
        ("1,024", "1", 1024),
        ("1 024", "1", 1024),
        (f"1{THIN}048{THIN}576", "1", 2**20),
        ("1_024", "1", 1024),
        ("2^30", "1", 2**30),
        ("2³⁰", "1", 2**30),
        ("2**30", "1", 2**30),
        ("-2^2", "1", -4),
        ("2^-1", "1", 0.5),
        ("2^3^2", "1", 512),
        ("7/8", "1", 0.875),
        ("2*(3+4)", "1", 14),
        ("3(4)", "1", 12),
        ("1e3", "1", 1000),
        (".5", "1", 0.5),
        ("5.", "1", 5),
        ("+7", "1", 7),
        ("1.75x", "1", 1.75),
        ("1.75×", "1", 1.75),
        ("45%", "1", 0.45),
        ("132 SMs", "1", 132),
        ("4 ranks", "1", 4),
        ("8k", "1", 8000),
        ("2 M", "1", 2e6),
        ("70 billion parameters", "1", 70e9),
        ("1.5 million", "1", 1.5e6),
        ("8 tokens per GPU", "1", 8),
        ("3.35 TB/s", "B/s", 3.35e12),
        ("450 GB/s", "B/s", 450e9),
        ("450 GB / s", "B/s", 450e9),
        ("450 GB per second", "B/s", 450e9),
        ("450 GB/sec", "B/s", 450e9),
        ("450 GB/s per GPU", "B/s", 450e9),
        ("400 Gbit/s", "B/s", 50e9),
        ("400 Gbps", "B/s", 50e9),
        ("400 Gb/s", "B/s", 50e9),
        ("50 GBps", "B/s", 50e9),
        ("1 GiB", "B", 2**30),
        ("1 GB", "B", 1e9),
        ("1 KB", "B", 1e3),
        ("8 bit", "B", 1),
        ("12 bytes", "B", 12),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("989 TFLOPS", "FLOP/s", 989e12),
        ("989 TFLOPs", "FLOP/s", 989e12),
        ("989 tflops", "FLOP/s", 989e12),
        ("2 gflop", "FLOP", 2e9),
        ("1024 FLOP/cycle", "FLOP", 1024),
        ("1024", "FLOP", 1024),
        ("295 FLOP/B", "FLOP/B", 295),
        ("295", "FLOP/B", 295),
        ("1.83 GHz", "Hz", 1.83e9),
        ("1.83 ghz", "Hz", 1.83e9),
        ("$2.50/h", "USD/h", 2.5),
        ("2.5 USD/hour", "USD/h", 2.5),
        ("2.5", "USD/h", 2.5),
        ("0", "s", 0),
        ("0 s", "s", 0),
        ("0.45", "%", 0.45),
        ("45 %", "%", 0.45),
        ("45 percent", "%", 0.45),
        ("about 0.48", "1", 0.48),
        ("5 weeks", "s", 5 * 7 * 86400),
        ("40 d", "s", 40 * 86400),
        ("64-1 steps", "1", 63),
        ("-(3-5) us", "s", 2e-6),
    ],
)
def test_numbers_people_type(text, unit, value):
    assert read(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("", "s", "nothing has been typed yet"),
        ("   ", "s", "nothing has been typed yet"),
        ("us 65", "s", "does not begin"),
        ("soon", "s", "does not begin with a number; expected SOMETHING"),
        ("65", "s", "65 has no unit"),
        ("1.75 GB", "s", "1.75 GB is a number of bytes; expected a time"),
        ("3 s", "B/s", "is a time; expected a bandwidth"),
        ("70B", "1", "(for billions write 70e9)"),
        ("1,5 us", "s", "in two ways: write 1.5"),
        ("0,065 ms", "s", "in two ways"),
        ("1.024,5", "1", "in two ways"),
        ("1,02", "1", "in two ways"),
        ("1.2.3", "1", "two numbers in a row"),
        ("1 02", "1", "two numbers in a row"),
        ("5 gb/s", "B/s", "GB/s or Gb/s"),
        ("3 parsecs", "s", "“parsecs” is not a known unit"),
        ("3 m", "s", "“m” is not a known unit"),
        ("(1", "1", "not closed"),
        ("1)", "1", "out of place"),
        ("1/0", "1", "finite"),
        ("9^9^9^9", "1", "finite"),
        ("1e999 s", "s", "finite"),
        ("(-8)^(1/3)", "1", "finite"),
        ("15-20 us", "s", "“15-20 us” is a range, and an answer is one amount; expected SOMETHING"),
        ("15 – 20 us", "s", "is a range"),
        ("15 to 20 us", "s", "is a range"),
        ("15 us - 20 us", "s", "is a range"),
        ("900 ns to 1 us", "s", "is a range"),
        ("1.5-2", "1", "is a range"),
        ("3 s^-1", "s", "“s^-1” is not a known unit"),
        ("inf s", "s", "does not begin"),
        ("nan", "1", "does not begin"),
        ("∞", "1", "does not begin"),
        ("45", "%", "45% or 0.45"),
        ("1__0", "1", "not a number"),
        ("1" * 201, "1", "too long"),
        ("(" * 40 + "1" + ")" * 40, "1", "nested"),
        ("-" * 60 + "1", "1", "nested"),
        ("2^" * 60 + "2", "1", "nested"),
        ("1 +", "1", "something is missing"),
        ("1e308*1e308 s", "s", "finite"),
        ("9e307 TB", "B", "finite"),
    ],
)
def test_what_cannot_be_graded_says_why(text, unit, says):
    with pytest.raises(UnitError) as unclear:
        read(text, unit)
    assert says in str(unclear.value)


def test_a_noun_of_the_question_is_a_count():
    assert read("12 Apples", "1", "apples") == read("12 apple", "1", "apples") == 12
    with pytest.raises(Unreadable):
        read("12 apples", "1", "pears")


def test_small_b_is_noted():
    assert read_amount("400 Gb/s", "B/s")[1] and read_amount("40 FLOP/b", "FLOP/B")[1]
    assert not read_amount("400 GB/s", "B/s")[1] and not read_amount("400 Gbit/s", "B/s")[1]


UNITS = sorted(SCALE)
texts = st.one_of(
    st.text(max_size=30),
    st.text("0123456789.,_ +-*/^()eEx×%$=~µsGBkTiFLOP/ubnm⁻²\u00a0\u2009−", max_size=24),
    st.builds(lambda n, u: f"{n} {u}", st.floats(), st.sampled_from(UNITS)),
)


ASKED = ["s", "B", "B/s", "1", "%", "FLOP/s", "FLOP/B", "USD/h", "Hz", "GB/s", "FLOP/cycle"]


@given(texts, st.sampled_from(ASKED))
@example("\ud800 s", "s")
@example("1e-400 s", "s")
def test_any_text_gives_a_finite_number_or_says_why(text, unit):
    try:
        value = read(text, unit)
    except UnitError as reason:
        assert str(reason)
    else:
        assert math.isfinite(value)


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
