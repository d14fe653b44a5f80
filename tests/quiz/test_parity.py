"""The page and Python grade in the same way: the same texts through grading.js and through gpuscale.quiz.grading."""

import hashlib
import json
import math
import time

import pytest
from browser.quizcard import Asked
from hypothesis import example, given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer
from support.quiz_demo import demo
from support.strategies import HEDGES, PERS, SPELT_NUMBERS

from gpuscale.book.served import tight_script
from gpuscale.quiz import grading, load_set, sets, wording
from gpuscale.units import SCALE, UnitError, show
from gpuscale.units.reading import read
from gpuscale.widgets import assets

SPECS = {one.id: one.spec for one in demo}
FORMULAS = [one.id for one in demo if one.question.kind == "formula"]
NUMBERS = [one.id for one in demo if one.question.kind == "number"]


@pytest.fixture(scope="module")
def page():
    """The script that the site serves, in an engine of its own: grading needs no page."""
    engine = MiniRacer()
    engine.eval(f"{tight_script(assets.script())}\nconst {{ grading, show }} = gpuscale; null")
    engine.eval(f"{tight_script(assets.script('practice'))}\nconst {{ practice }} = gpuscale; null")
    engine.eval(f"const SPECS = {json.dumps(SPECS)}; null")
    yield engine
    engine.close()


def plain_signs(html):
    """The page writes & < > as numbers, Python by their names."""
    return html.replace("&#38;", "&amp;").replace("&#60;", "&lt;").replace("&#62;", "&gt;").replace("&#34;", '"')


def graded(page, cases):
    """The page's verdict and message for each (spec, variant, text), asked in one call, which takes long."""
    listed = ",".join(f"[{spec}, {variant}, {json.dumps(text)}]" for spec, variant, text in cases)
    found = json.loads(page.eval(f"JSON.stringify([{listed}].map((one) => grading.judge(...one)))"))
    return [(out["verdict"], plain_signs(out["message"])) for out in found]


def all_same(page, name, texts, variant=0):
    found = graded(page, [(f"SPECS[{json.dumps(name)}]", variant, text) for text in texts])
    for text, out in zip(texts, found, strict=True):
        assert out == grading.judge(SPECS[name], variant, text), text


def same(page, name, text):
    all_same(page, name, [text])


CORPUS = """
65 us|19.1 us|0.0191 ms|1.91e-5 s|19.1µs|19.1 μs|1,024|1 024 B|1,5 us|2^30 B|2³⁰ B|400 Gb/s|400 Gbps|5 gb/s|1.75 GB|65
19.1|0|0 s|-19.1 us|−19.1 us|T = 19.1 us|≈19.1us|180 days|9 parsecs|1/0|9^9^9|1e999 s|(1|1)|1 +|1 2|1.2.3|1__0|inf|nan|<b>
<script>alert(1)</script>|"quoted" & more|19.1 US|19.1 Ms|76.4 us|20.5 us|38.2 us|9.55 us|19.1 ms|19.1 ns|16896|16,896 lanes
16896.0|16895|132|4224|132 apples|295|295 FLOP/B|295.3 FLOP/b|27%|0.27|27|27 percent|70B|70 billion|8k|8 K|$2.50/h|2.5 USD/hour
3 W|989 TFLOPs|989 tflops|1.83 ghz|450 GB/s per GPU|450 GB per second|1.5x10^-5 s|1.5 x 10^-5 s|6.5·10⁻⁵ s|½ s|∞|５ s|1　s|१ s
alpha + b D F/W_hbm|α + bDF/w_HBM|T = alpha + b*D*F/W_{hbm}|\\alpha + b D F / W_hbm|b D F/W_hbm|alpha + b D/W_hbm|b D F|alpha + b
max(V/W, alpha)|max(alpha,V/W)|MAX(V/W; α)|min(V/W, alpha)|V/W + alpha|V/W|(V/W + α + sqrt((V/W - α)^2))/2 + 0 V/W|V|v/W|VX|log2 V|log2(V)
1/(V-V)|V^V^V^V^V|V^(W-W)|V^alpha|ceil(V/W)|floor(0.5)|0|0 + V|V +|V)|(V|max(V)|max()|log2(V,W)|2 100 V|1,024 V|__proto__|constructor
toString(V)|hasOwnProperty|eval(V)|V=W=alpha|= V/W|V==W|2E3 V/W|2e3 V/W|2 V ** 2|V***2|V^-1|V^-2^2|--V|+-V/W|1.|.5|.|1e5|1e|e1|...
#0|0|1|2|3|-1|01| 1 |1.0|𝟙|😀 us|1\u200b9.1 us|1\u00a0024 B|1\u2009024 B|constructor GB|thousand|5 thousand|5 thousand us
989 TFLOP/s / 3.35 TB/s|64 MB/3.35 TB/s|64 MB / 3.35TB/s * 2|64 MB / 0 s|2 * 64 MB / 450 GB/s|1 GB * 2 s|3 parsecs / 2 s|1 GB / x
15-20 us|15 – 20 us|15 to 20 us|15us-20us|15 us to 20|1e-5 s|1e-5-2e-5 s|3-5|5-3|3-5*2|to 5|9 to|3 s^-1|5 weeks|40 d|about 0.48
"""  # noqa: E501
TEXTS = [text for line in CORPUS.strip().splitlines() for text in line.split("|")]


ODD = ["", "   ", "x" * 300, "(" * 60, "-" * 90 + "1", "2^" * 60, "\ud800 us", "a\x00b", "\n19.1\tus\n"]


@pytest.mark.parametrize("name", list(SPECS))
def test_the_same_texts_get_the_same_verdict_and_message(page, name):
    for variant in {0, len(SPECS[name]["variants"]) - 1}:
        all_same(page, name, [*TEXTS, *ODD], variant)


def test_the_corpus_meets_every_verdict():
    met = {(name, grading.judge(spec, 0, text)[0]) for name, spec in SPECS.items() for text in TEXTS}
    assert {verdict for _, verdict in met} == {"right", "wrong", "unclear"}
    assert {name for name, verdict in met if verdict == "right"} >= set(SPECS) - {"demo.6"}


MORE = ["", "gb/s", "million", "FLOP / s", "GB per second", "B/s/GPU", "apples", "lanes", "lane"]
UNIT = st.sampled_from([*SCALE, *MORE])


@given(st.sampled_from(NUMBERS), st.one_of(st.floats(), st.floats(1e-9, 1e9), st.integers()), UNIT)
@example("demo.1", 2.0**-60, "s")
def test_random_numbers_with_units(page, name, number, unit):
    same(page, name, f"{number!r} {unit}")


@given(st.sampled_from(NUMBERS), st.floats(-0.05, 0.05), st.integers(3, 17))
def test_numbers_around_the_answer(page, name, off, digits):
    one = demo[int(name.split(".")[1])]
    value = one.question.value(one.question.expr) * (1 + off)
    same(page, name, f"{value:.{digits}g} {one.question.base if one.question.base != '1' else ''}")


@given(st.sampled_from(list(SPECS)), st.text(max_size=40))
def test_any_text(page, name, text):
    same(page, name, text)


LIKE_NUMBERS = "0123456789.,_ +-*/^()eEx×%$=~µsGBkTiFLOPlanubm⁻²\u00a0−"
LIKE_FORMULAS = "VWbDFCalphW_hbm0123456789.+-*/^() ,maxinlogsqrtceil²α\\{}×−"


@given(st.sampled_from(NUMBERS), st.text(LIKE_NUMBERS, max_size=24))
def test_texts_like_numbers(page, name, text):
    same(page, name, text)


@given(st.sampled_from(FORMULAS), st.text(LIKE_FORMULAS, max_size=30))
def test_texts_like_formulas(page, name, text):
    same(page, name, text)


leaf = st.sampled_from(["V", "W", "alpha", "2", "0.5", "1e-3", "b", "D", "F", "W_hbm", "C"])
grown = st.recursive(
    leaf,
    lambda part: st.one_of(
        st.builds("({} {} {})".format, part, st.sampled_from("+-*/^"), part),
        st.builds("{}({}, {})".format, st.sampled_from(["max", "min"]), part, part),
        st.builds("{}({})".format, st.sampled_from(["sqrt", "ceil", "floor", "log2", "-"]), part),
        st.builds("{} {}".format, part, part),
    ),
    max_leaves=8,
)


@given(st.sampled_from(FORMULAS), grown)
def test_well_formed_formulas(page, name, text):
    same(page, name, text)


@given(st.text(st.characters(max_codepoint=127), max_size=200))
@example("x" * 55)
@example("x" * 56)
@example("x" * 119)
def test_sha256(page, text):
    assert page.eval(f"grading.sha256({json.dumps(text)})") == hashlib.sha256(text.encode()).hexdigest()


READ = """(all) => JSON.stringify(all.map(([text, unit]) => {
  try { return grading.number(text, unit, 'SOMETHING'); } catch (e) { return e.message; }
}))"""


def on_page(page, *typed):
    """What the page reads each (text, unit) as: an amount and whether in bits, or why it is refused."""
    return json.loads(page.eval(f"({READ})({json.dumps(typed)})"))


def in_python(text, unit):
    try:
        return list(read(text, unit, "SOMETHING"))
    except UnitError as reason:
        return str(reason)


def test_every_unit_has_one_size_and_one_name(page):
    spelt = [
        (f"3 {typed}", base)
        for unit, (_, base) in SCALE.items()
        for typed in (unit, unit.lower(), unit.upper(), unit.swapcase())
    ]
    for one, found in zip(spelt, on_page(page, *spelt), strict=True):
        assert found == in_python(*one), one
    for name in NUMBERS:
        all_same(page, name, [f"3 {unit}" for unit in SCALE])


CASES = st.sampled_from([str, str.lower, str.upper, str.swapcase, str.capitalize])
SPELT = st.sampled_from(
    [*SCALE, "GB/second", "GB/sec", "FLOP/sec", "$/h", "percent", "per cent", "MB/s/GPU", "lanes/SM"]
)
ASKED = st.sampled_from(["s", "B", "B/s", "1", "%", "FLOP", "FLOP/s", "FLOP/B", "Hz", "W", "USD", "USD/h"])


@given(
    HEDGES,
    SPELT_NUMBERS,
    st.sampled_from([" ", "", "\u00a0", "  "]),
    SPELT,
    CASES,
    PERS,
    ASKED,
    st.sampled_from(["", "."]),
)
@example("", ("65", 65.0), " ", "us", str.upper, "/", "s", "")
@example("", ("5", 5.0), " ", "GB/second", str, " per ", "B/s", "")
@example("about ", ("0.48", 0.48), "", "", str, "/", "1", "")
def test_spellings_are_read_alike(page, hedge, number, gap, unit, case, per, asked, end):
    text = hedge + number[0] + gap + case(unit).replace("/", per) + end
    assert on_page(page, (text, asked)) == [in_python(text, asked)]


@pytest.mark.parametrize("name", sets())
def test_the_books_questions_are_graded_alike_and_as_meant(page, name):
    """In each variant the right answer is right, and each known mistake is told by its message."""
    items = load_set(name)
    page.eval(f"const BOOK_{name} = {json.dumps([one.spec for one in items])}; null")
    for i, asked in enumerate(map(Asked, items)):
        q = asked.question
        for variant in asked.variants:
            expected = {text: ("wrong", message) for text, message in asked.mistakes(variant).items()}
            remark = q.choices[q.right(variant)][1] if q.kind == "choice" else q.remark
            spellings = asked.spellings() if q.kind == "formula" else []
            expected |= dict.fromkeys([asked.right(variant), *spellings], ("right", remark))
            shown = [q.show(q.value(e, variant)) for e in (q.expr, *q.amounts.values())] if q.kind == "number" else []
            texts = [*expected, *shown, "0", "1", "2", "3 us", "1 GB", "2 V/W"]
            found = graded(page, [(f"BOOK_{name}[{i}]", variant, text) for text in texts])
            for text, (verdict, message) in zip(texts, found, strict=True):
                assert (verdict, message) == grading.judge(asked.spec, variant, text), (asked.item.id, text)
                if text in expected:
                    meant, says = expected[text]
                    says = says and wording.render(says, q.given[variant])
                    assert verdict == meant and (says or "") in message, (asked.item.id, text)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("alpha + b D F/W_hbm", "<mfrac>"),
        ("2^-3", "<msup>"),
        ("sqrt(b)", "<msqrt>"),
        ("log2(D)", "<mi>log</mi>"),
        ("max(alpha, 2)", "<mi>max</mi>"),
        ("ceil(D)", "⌈"),
        ("floor(D)", "⌊"),
        ("D (F - 1)", "<mo>−</mo>"),
        ("W_hbm", "<mtext>HBM</mtext>"),
        ("D*2", "·"),
        ("D*-2", "·"),
        ("-D", "−"),
    ],
)
def test_preview_is_well_formed_mathml(page, text, holds):
    from xml.etree import ElementTree

    html = page.eval(f"practice.preview({json.dumps(text)}, SPECS['demo.3'])")
    assert ElementTree.fromstring(html).tag == "math"
    assert holds in html


@pytest.mark.parametrize(
    ("text", "says"),
    [("D +", "something is missing after “+”"), ("Q", "“Q” is not one of"), ("", "nothing has been typed yet")],
)
def test_preview_says_what_it_cannot_read(page, text, says):
    call = f"practice.preview({json.dumps(text)}, SPECS['demo.3'])"
    assert says in page.eval(f"(() => {{ try {{ return {call}; }} catch (e) {{ return e.message; }} }})()")


def test_grading_is_quick(page):
    """A check costs a few dozen hashes: far less than a blink, even in a slow engine."""
    start = time.perf_counter()
    page.eval("for (let i = 0; i < 100; i++) grading.judge(SPECS['demo.1'], 0, '5 s'); null")
    assert (time.perf_counter() - start) / 100 < 0.05


# --- numbers ---

SHOWN = [
    "",
    "1",
    "s",
    "B",
    "B/s",
    "FLOP",
    "FLOP/s",
    "FLOP/B",
    "Hz",
    "USD",
    "USD/h",
    "%",
    "count",
    "KiB",
    "MiB",
    "FLOP/cycle",
]
SIZES = st.one_of(st.floats(1e-15, 1e18), st.floats(-1e18, -1e-15), st.floats(0.9, 1.1), st.integers(-(10**9), 10**9))


@given(SIZES, st.sampled_from(SHOWN), st.booleans())
@example(0.9996, "%", False)
@example(-0.9996, "%", False)
@example(0.00125, "%", False)
@example(-1234567, "count", False)
@example(-12345.6, "1", False)
@example(2.5, "count", False)
@example(-0.4, "count", False)
@example(0.125, "1", True)
@example(-2.5e-6, "s", False)
@example(9.995e11, "B/s", False)
@example(0.0, "B", True)
@example(8e-6, "us", True)
def test_numbers_are_shown_alike(page, number, unit, short):
    """A number in a live figure's words reads as it does in the text."""
    assert page.eval(f"show({float(number)!r}, {unit!r}, {json.dumps(short)})") == show(number, unit, short)


@pytest.mark.parametrize(("number", "python"), [("Infinity", math.inf), ("-Infinity", -math.inf), ("NaN", math.nan)])
def test_what_is_no_number_is_shown_alike(page, number, python):
    assert page.eval(f"show({number}, 's')") == show(python, "s")
