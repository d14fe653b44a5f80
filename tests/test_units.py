"""Units on input and output: what is shown can be read back, and no text does harm."""

import math
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support.strategies import HEDGES, PERS, QUANTITY_TEXTS, SPELT_NUMBERS

from gpuscale import units
from gpuscale.units import (
    DIMENSIONS,
    EXAMPLES,
    NBSP,
    SCALE,
    UnitError,
    Unreadable,
    WrongDimension,
    base_unit,
    dimension_word,
    parse,
    show,
)
from gpuscale.units.reading import read

THIN = "\u2009"
# The range in which show picks a prefix that people write, and parse therefore knows.
READABLE = {"s": (1e-12, 900), "1": (1e-6, 1e12), "FLOP/B": (1e-6, 1e9)}
READABLE |= dict.fromkeys(["/s", "/J", "USD", "USD/h"], (1e-6, 1e9))


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (0.00393, "s", "3.93 ms"),
        (1.24e-4, "s", "124 µs"),
        (0, "s", "0.00 s"),
        (1, "s", "1.00 s"),
        (1e-12, "s", "0.00100 ns"),
        (64e6, "B", "64.0 MB"),
        (68_681_728, "B", "68.7 MB"),
        (989.4e12, "FLOP/s", "989 TFLOP/s"),
        (999.6e9, "B", "1.00 TB"),
        (295.34, "FLOP/B", "295 FLOP/B"),
        (12345.6, "FLOP/B", "12,300 FLOP/B"),
        (12345.6, "1", "12,300"),
        (0.5, "", "0.500"),
        (1e18, "B", "1,000 PB"),
        (-2e-6, "s", "−2.00 µs"),
        (math.inf, "s", "∞"),
        (-math.inf, "s", "−∞"),
        (math.nan, "s", "never"),
        (0.4321, "%", "43.2%"),
        (0.09999, "%", "10.0%"),
        (33 * 2**20, "MiB", "33.0 MiB"),
        (9.999 * 1024, "KiB", "10.0 KiB"),
        (16896, "count", "16,896"),
        (-1234, "count", "−1,234"),
        (3, "SM", "3.00"),
        (1024, "FLOP/cycle", "1,020 FLOP/cycle"),
        (8e-6, "us", "8.00 µs"),
        (2, "unit", "2.00"),
    ],
)
def test_shows(value, unit, text):
    assert show(value, unit).replace(NBSP, " ") == text


def test_shows_as_many_digits_as_asked():
    assert show(1.23456e-3, "s", digits=5).replace(NBSP, " ") == "1.2346 ms"
    assert show(2.50e-3, "s", short=True).replace(NBSP, " ") == "2.5 ms"
    assert show(100e9, "B/s", short=True).replace(NBSP, " ") == "100 GB/s"


@given(st.floats(), st.sampled_from([*DIMENSIONS, *SCALE, "", "%", "count"]), st.booleans(), st.integers(1, 12))
@example(1.7976931348623157e308, "s", False, 3)
@example(5e-324, "B", False, 3)
def test_show_never_crashes(value, unit, short, digits):
    text = show(value, unit, short, digits)
    assert text and not re.search(r"\b(inf|nan)\b|e\+", text)


@pytest.mark.parametrize("unit", ["foo", "GB/", "b/s/s", "gb"])
def test_an_unknown_unit_is_refused_by_name(unit):
    for refuse in (lambda: show(1.0, unit), lambda: parse("1 s", unit), lambda: base_unit(unit)):
        with pytest.raises(UnitError, match="(?s)unit: .*not known; expected one such as"):
            refuse()


@given(st.sampled_from(sorted(DIMENSIONS)), st.floats(0, 1), st.booleans(), st.integers(3, 9))
def test_what_is_shown_is_read_back(unit, place, negative, digits):
    low, high = READABLE.get(unit, (1.0, 1e17))
    value = (-1 if negative else 1) * low * (high / low) ** place
    seen = parse(show(value, unit, digits=digits), unit)
    assert seen == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


@given(st.sampled_from(sorted(DIMENSIONS)), st.floats(0, 1))
def test_showing_what_was_read_gives_the_same_text(unit, place):
    low, high = READABLE.get(unit, (1.0, 1e17))
    text = show(low * (high / low) ** place, unit)
    assert show(parse(text, unit), unit) == text


READS = [
    ("65 us", "s", 65e-6),
    ("65us", "s", 65e-6),
    ("6.5e-5 s", "s", 6.5e-5),
    ("0.065 ms", "s", 65e-6),
    ("65\u00a0µs", "s", 65e-6),
    ("65 μs", "s", 65e-6),
    ("2 min", "s", 120),
    ("1 day", "s", 86400),
    ("-5 ms", "s", -5e-3),
    ("−5 ms", "s", -5e-3),
    (".5 s", "s", 0.5),
    ("5. s", "s", 5),
    ("65 US", "s", 65e-6),
    ("1.5x10^-5 s", "s", 1.5e-5),
    ("1.5 X 10^-5 s", "s", 1.5e-5),
    ("1.5 times 10^-5 s", "s", 1.5e-5),
    ("1.5·10⁻⁵ s", "s", 1.5e-5),
    ("15 microseconds", "s", 15e-6),
    ("15 Microseconds", "s", 15e-6),
    ("15 MICROSECONDS", "s", 15e-6),
    ("15 usec", "s", 15e-6),
    ("40 d", "s", 40 * 86400),
    ("5 weeks", "s", 35 * 86400),
    ("1 week", "s", 7 * 86400),
    ("90 minutes", "s", 5400),
    ("2 hrs", "s", 7200),
    ("3.46 Ms", "s", 3.46e6),
    ("~ 65 us", "s", 65e-6),
    ("≈65 us", "s", 65e-6),
    ("approx. 65 us", "s", 65e-6),
    ("t = 65 us", "s", 65e-6),
    ("0", "s", 0),
    ("65µs", "s", 65e-6),
    (f"65{NBSP}us", "s", 65e-6),
    (f"65{THIN}us", "s", 65e-6),
    ("65 us.", "s", 65e-6),
    ("6.5 × 10^-5 s", "s", 65e-6),
    ("6.5*10**-5 s", "s", 65e-6),
    ("180 days", "s", 180 * 86400),
    ("−3 us", "s", -3e-6),
    ("0 s", "s", 0),
    ("-(3-5) us", "s", 2e-6),
    ("64 MB", "B", 64e6),
    ("64 MiB", "B", 64 * 2**20),
    ("2**30 B", "B", 2**30),
    ("1 GiB", "B", 2**30),
    ("1 GB", "B", 1e9),
    ("1 KB", "B", 1e3),
    ("8 bit", "B", 1),
    ("12 bytes", "B", 12),
    ("400 Gbit/s", "B/s", 50e9),
    ("400 Gbps", "B/s", 50e9),
    ("450 GB/s", "B/s", 450e9),
    ("450 GB / s", "B/s", 450e9),
    ("3.35 TB/s", "B/s", 3.35e12),
    ("3 GB per second", "B/s", 3e9),
    ("3 gigabytes per second", "B/s", 3e9),
    ("3 GB/sec.", "B/s", 3e9),
    ("450 GB/s per GPU", "B/s", 450e9),
    ("400 Gigabits per second", "B/s", 50e9),
    ("450 GB/sec", "B/s", 450e9),
    ("400 Gb/s", "B/s", 50e9),
    ("50 GBps", "B/s", 50e9),
    ("990 TFLOP/s", "FLOP/s", 990e12),
    ("990 TFLOPS", "FLOP/s", 990e12),
    ("989 teraflops", "FLOP/s", 989e12),
    ("989 tflop/s", "FLOP/s", 989e12),
    ("989 TFLOPs", "FLOP/s", 989e12),
    ("989 tflops", "FLOP/s", 989e12),
    ("295 FLOP/B", "FLOP/B", 295),
    ("40", "FLOP/B", 40),
    ("1.83 GHz", "Hz", 1.83e9),
    ("1.83 gigahertz", "Hz", 1.83e9),
    ("1.83 ghz", "Hz", 1.83e9),
    ("16,896", "1", 16896),
    ("16,896 lanes", "1", 16896),
    ("2^30", "1", 2**30),
    ("45%", "1", 0.45),
    ("about 0.48", "1", 0.48),
    ("About 48%", "1", 0.48),
    ("70 billion parameters", "1", 70e9),
    ("8k tokens", "1", 8000),
    ("1,024", "1", 1024),
    ("1 024", "1", 1024),
    (f"1{THIN}048{THIN}576", "1", 2**20),
    ("1_024", "1", 1024),
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
    ("132 SMs", "1", 132),
    ("4 ranks", "1", 4),
    ("8k", "1", 8000),
    ("2 M", "1", 2e6),
    ("1.5 million", "1", 1.5e6),
    ("8 tokens per GPU", "1", 8),
    ("64-1 steps", "1", 63),
    ("1024 FLOP/cycle", "FLOP", 1024),
    ("2 gflop", "FLOP", 2e9),
    ("1024", "FLOP", 1024),
    ("700 W", "W", 700),
    ("0.7 kilowatts", "W", 700),
    ("40 /s", "/s", 40),
    ("40 per second", "/s", 40),
    ("40 tokens per second", "/s", 40),
    ("12k tokens/s", "/s", 12000),
    ("2.5 requests/sec", "/s", 2.5),
    ("40 tokens/s per GPU", "/s", 40),
    ("8 tokens per J", "/J", 8),
    ("8", "/J", 8),
    ("2 USD/h", "USD/h", 2),
    ("$2.50/h", "USD/h", 2.5),
    ("2.50 USD per hour", "USD/h", 2.5),
    ("2.5 USD/hour", "USD/h", 2.5),
    ("2.5", "USD/h", 2.5),
    ("$300", "USD", 300),
    ("300 USD", "USD", 300),
    ("300", "USD", 300),
    ("48 per cent", "%", 0.48),
    ("0.45", "%", 0.45),
    ("45 %", "%", 0.45),
    ("45 percent", "%", 0.45),
]


@pytest.mark.parametrize(("text", "unit", "value"), READS)
def test_reads(text, unit, value):
    assert parse(text, unit) == pytest.approx(value, rel=1e-12)


@given(
    HEDGES,
    SPELT_NUMBERS,
    st.sampled_from(["", " ", "\u00a0"]),
    st.sampled_from(sorted({*SCALE} - {"1", "x", "×"})),
    PERS,
)
def test_an_amount_is_the_same_however_it_is_spelled(hedge, number, gap, unit, per):
    text, factor = number
    assume(not re.match(r"e\d", unit) and not (gap == "" and unit[0] in "eE"))
    assert parse(hedge + text + gap + unit.replace("/", per), unit) == pytest.approx(factor * SCALE[unit][0], rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "reason"),
    [
        ("65 MS", "s", "“MS” can be read in two ways: write Ms or ms; expected a time"),
        ("1830 mhz", "Hz", "“mhz” can be read in two ways: write MHz or mHz; expected a frequency"),
        ("5 mb", "B", "“mb” can be read in two ways: write MB or Mb; expected a number of bytes"),
        ("5 gb/s", "B/s", "“gb/s” can be read in two ways: write GB/s or Gb/s; expected a bandwidth"),
        ("5 GBPS", "B/s", "“GBPS” can be read in two ways: write GBps or Gbps"),
        ("3 flop/b", "FLOP/B", "“flop/b” can be read in two ways: write FLOP/B or FLOP/b"),
        ("1.5x10-5 s", "s", "“10-5” can be read in two ways: write 10^-5 or 1e-5"),
        ("0x10 s", "s", "“x10 s” is not a known unit; expected a time, such as 65 us"),
        ("3 m", "s", "“m” is not a known unit; expected a time"),
        ("5 fortnights", "s", "“fortnights” is not a known unit; expected a time"),
        ("about", "1", "“about” does not begin with a number; expected a number, such as 512"),
        ("a few us", "s", "does not begin with a number; expected a time, such as 65 us"),
        ("45", "%", "45 can be a percentage or a fraction: write 45% or 0.45"),
        ("", "s", "nothing has been typed yet; expected a time, such as 65 us"),
        ("   ", "s", "nothing has been typed yet"),
        ("us 65", "s", "does not begin"),
        ("soon", "s", "does not begin with a number"),
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
        ("3 parsecs", "s", "“parsecs” is not a known unit"),
        ("(1", "1", "not closed"),
        ("1)", "1", "out of place"),
        ("1/0", "1", "finite"),
        ("9^9^9^9", "1", "finite"),
        ("1e999 s", "s", "finite"),
        ("(-8)^(1/3)", "1", "finite"),
        ("15-20 us", "s", "“15-20 us” is a range, and an answer is one amount"),
        ("15 – 20 us", "s", "is a range"),
        ("15 to 20 us", "s", "is a range"),
        ("15 us - 20 us", "s", "is a range"),
        ("900 ns to 1 us", "s", "is a range"),
        ("1.5-2", "1", "is a range"),
        ("3 s^-1", "s", "“s^-1” is not a known unit"),
        ("inf s", "s", "does not begin"),
        ("nan", "1", "does not begin"),
        ("∞", "1", "does not begin"),
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
def test_a_refusal_says_why(text, unit, reason):
    with pytest.raises(UnitError) as caught:
        parse(text, unit)
    assert reason in str(caught.value)


def test_a_refusal_says_what_the_question_expects():
    for text in ("soon", "15-20 us"):
        with pytest.raises(Unreadable, match="; expected SOMETHING$"):
            read(text, "s", "SOMETHING")


def test_a_noun_of_the_question_is_a_count():
    assert read("12 Apples", "1", noun="apples")[0] == read("12 apple", "1", noun="apples")[0] == 12
    with pytest.raises(Unreadable):
        read("12 apples", "1", noun="pears")


def test_small_b_is_noted():
    assert read("400 Gb/s", "B/s")[1] and read("40 FLOP/b", "FLOP/B")[1]
    assert not read("400 GB/s", "B/s")[1] and not read("400 Gbit/s", "B/s")[1]


@pytest.mark.parametrize("unit", sorted(EXAMPLES))
def test_the_example_in_a_message_can_be_read(unit):
    assert parse(EXAMPLES[unit], unit) > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "us",
        "five us",
        "nan s",
        "inf s",
        "1 e5 s",
        "5 s s",
        "0x10 s",
        "1,5 s",
        "1.5.2 s",
        "12,34 s",
        "5 gb",
        "5 foo",
    ],
)
def test_an_unreadable_text_says_what_is_expected(text):
    with pytest.raises(Unreadable, match="; expected a time, such as 65 us$"):
        parse(text, "s")


def test_a_bare_number_is_a_count_and_nothing_else():
    assert parse("512", "1") == 512
    with pytest.raises(Unreadable, match="512 has no unit; expected a bandwidth, such as 3.35 TB/s"):
        parse("512", "B/s")


@pytest.mark.parametrize(
    "text",
    ["1e999 s", "10^400 s", "9999999^300 s", "0^-1 s", "2^" + "9" * 150 + " s", "9" * 190 + "^2 s", "1e308 h"],
)
def test_a_number_out_of_range_is_refused(text):
    with pytest.raises(Unreadable, match="the result is not a finite number; expected a time, such as 65 us"):
        parse(text, "s")


def test_another_dimension_is_named():
    with pytest.raises(WrongDimension, match="^65 us is a time; expected a bandwidth$") as caught:
        parse(" 65 us", "GB/s")
    assert (caught.value.found, caught.value.wanted) == ("a time", "a bandwidth")


@given(st.sampled_from(sorted(DIMENSIONS)), st.sampled_from(sorted({*SCALE} - {"1"})), st.floats(0, 1e6))
def test_every_unit_is_read_with_its_own_dimension_only(want, unit, number):
    size, have = SCALE[unit]
    assume(have == want or unit.lower() not in {name.lower() for name, (_, base) in SCALE.items() if base == want})
    text = f"{number!r} {unit}"
    if have == want:
        assert parse(text, want) == number * size
    else:
        with pytest.raises(WrongDimension) as caught:
            parse(text, want)
        assert (caught.value.found, caught.value.wanted) == (dimension_word(have), dimension_word(want))


@settings(max_examples=400)
@given(QUANTITY_TEXTS, st.sampled_from([*sorted(DIMENSIONS), "%", "GB/s", "FLOP/cycle"]))
@example("\ud800 s", "s")
@example("1e-400 s", "s")
def test_no_text_raises_anything_but_a_unit_error(text, unit):
    try:
        value = parse(text, unit)
    except UnitError as error:
        assert str(error)
    else:
        assert isinstance(value, float) and math.isfinite(value)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", " ", "\u00a0"]))
def test_a_number_as_python_writes_it_is_read_as_that_number(number, gap):
    assume("inf" not in repr(number))
    assert parse(f"{number!r}{gap}s", "s") == number


def test_constants_are_what_their_names_say():
    si = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    binary = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
    for prefix, size in {**si, **binary}.items():
        assert getattr(units, f"{prefix}B") == size == SCALE[f"{prefix}B"][0]
    for prefix, size in {"": 1, **si}.items():
        assert getattr(units, f"{prefix}FLOP") == size and getattr(units, f"{prefix}Hz", size) == size
        assert getattr(units, f"{prefix}bit", size / 8) == size / 8
    assert units.EFLOP == 1e18 and units.B == 1 and units.kbit == 125 and units.Tbit == 125e9
    assert (units.s, units.ms, units.us, units.ns) == (1, 1e-3, 1e-6, 1e-9)
    assert units.us == SCALE["us"][0] and units.day == 24 * units.hour == 1440 * units.minute


DECIMAL = {
    "p": -12,
    "n": -9,
    "u": -6,
    "µ": -6,
    "μ": -6,
    "m": -3,
    "k": 3,
    "K": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
DECIMAL |= {"nano": -9, "micro": -6, "milli": -3, "kilo": 3, "mega": 6, "giga": 9, "tera": 12}
DECIMAL |= {"peta": 15, "exa": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "kibi": 10, "mebi": 20, "gibi": 30, "tebi": 40}
SIZES = {"": 1.0} | {p: float(f"1e{e}") for p, e in DECIMAL.items()} | {p: 2.0**e for p, e in BINARY.items()}
PREFIX = "|".join(sorted(SIZES, key=len, reverse=True))
LENGTHS = {"min": 60, "h": 3600, "hr": 3600, "hour": 3600, "minute": 60, "d": 86400, "day": 86400, "week": 604800}


def meaning(name):
    """Size and base unit of a unit, worked out from its letters."""
    if found := re.fullmatch(rf"({PREFIX})(B|bytes?|bits?|b)(/s|ps|/cycle)?", name):
        bits = found[2].startswith("b") and "y" not in found[2]
        return SIZES[found[1]] / (8 if bits else 1), "B/s" if found[3] in ("/s", "ps") else "B"
    if found := re.fullmatch(rf"({PREFIX})(FLOPS|FLOPs?|flops?)(?:/(s|cycle|B|byte|b|bit))?", name):
        size = SIZES[found[1]] * (8 if found[3] in ("b", "bit") else 1)
        rate = {"s": "FLOP/s", "cycle": "FLOP", None: "FLOP/s" if found[2] == "FLOPS" else "FLOP"}
        return size, rate.get(found[3], "FLOP/B")
    if found := re.fullmatch(rf"({PREFIX})(Hz|hertz|W|watts?|s|secs?|seconds?)", name):
        return SIZES[found[1]], {"H": "Hz", "h": "Hz", "W": "W", "w": "W", "s": "s"}[found[2][0]]
    if name.removesuffix("s") in LENGTHS:
        return LENGTHS[name.removesuffix("s")], "s"
    if found := re.fullmatch(r"(?:tok|tokens?|req|requests?)?(/[sJ])", name):
        return 1, found[1]
    return {"%": (0.01, "1"), "USD": (1, "USD"), "USD/h": (1, "USD/h")}.get(name, (1, "1"))


@pytest.mark.parametrize("first", sorted({name[0] for name in SCALE}))
def test_the_size_of_a_unit_is_what_its_letters_say(first):
    assert {n: unit for n, unit in SCALE.items() if n[0] == first} == {n: meaning(n) for n in SCALE if n[0] == first}


def test_every_dimension_has_words_and_an_example():
    assert set(DIMENSIONS) == set(units.WORDS) == set(EXAMPLES)
    assert {base for _, base in SCALE.values()} <= set(DIMENSIONS)
    assert dimension_word("GB/s") == "a bandwidth" and dimension_word("us") == "a time"
