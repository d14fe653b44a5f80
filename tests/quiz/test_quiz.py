"""Questions: what is refused when they are made, what they show, how they grade; then every set there is."""

import importlib.util
import json
import re
import sys
import types

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from support.quiz_demo import CORES, DELIVER, LONGER, READ, demo

from gpuscale.core import Derivation, Formula
from gpuscale.quiz import (
    Question,
    QuestionError,
    QuestionSet,
    UnknownQuestion,
    ask,
    card_data,
    cards,
    check,
    check_question,
    grading,
    load_set,
    mistakes,
    quiz,
    score,
    sets,
    wording,
)
from gpuscale.quiz.checking import MIME
from gpuscale.quiz.question import values_at
from gpuscale.quiz.question_sets import PACKAGE, Item
from gpuscale.symbols import D, F, T, V, W, W_hbm, alpha, b
from gpuscale.units import GB, MB, TB

ASK = "How long does {V} take at {W}?"
GIVEN = {"V": 64 * MB, "W": 450 * GB}


def checked(question: Question) -> Question:
    check_question(question)
    return question


def make(**changes):
    return checked(Question(**({"ask": ASK, "answer": V / W, "given": GIVEN} | changes)))


# --- refused when made ---


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"answer": 65e-6}, "the answer is 6.5e-05; expected a Formula or an expression"),
        ({"answer": sympy.Rational(1, 12)}, "expected a Formula or an expression in quantities"),
        ({"answer": None}, "the answer is None"),
        ({"ask": " "}, "needs a text"),
        ({"given": {"V": 64 * MB}}, "{W} is not given; given are V"),
        ({"given": {"V": 64 * MB}, "ask": "How long does {V} take?"}, r"given has no W \[B/s\]"),
        ({"given": GIVEN | {"D": 4096}}, "given D, which is not used"),
        ({"given": GIVEN | {"vol": 3}}, "given 'vol' is not a quantity"),
        ({"given": GIVEN | {"V": "64 MB"}}, "V .*expected a number"),
        ({"given": GIVEN | {"V": -1}}, "V .*above zero"),
        ({"given": [GIVEN, {"V": 1e6}]}, "variant 2 and variant 1 differ in W"),
        ({"given": [3]}, "expected a dict of values"),
        ({"unit": "B"}, "the answer is a time, the declared unit 'B'"),
        ({"unit": "furlong"}, "unit: 'furlong' is not known"),
        ({"tolerance": 2}, "tolerance 2; expected a fraction"),
        ({"exact": True}, "exact, but the answer is"),
        ({"mistakes": {"Same.": V / W * D / D}}, "the answer .* and “Same.” .* within tolerance"),
        ({"mistakes": {"Near.": V / W * sympy.Rational(102, 100)}}, "within tolerance of each other"),
        ({"mistakes": {"One.": 2 * V / W, "Other.": {"V": 2 * V}}}, "“One.” .* and “Other.” .* within"),
        ({"mistakes": {"No.": 3.0}}, "expected a formula or an expression in quantities"),
        ({"mistakes": {"No.": {"D": 2}}}, "D is not an input of V/W"),
        ({"mistakes": {"It lacks D.": V / W * D}}, r"given has no D \[1\]"),
        ({"mistakes": {"$V/W$ is not it.": 2 * V / W}}, "without TeX"),
        ({"ask": "How long does {V} take at {W:MB}?"}, "'MB' is not a unit for W"),
        ({"ask": "How long do {V} take at {W:GB/s,y}?"}, "expected a number of digits"),
        ({"given": {"V": 64.449 * MB, "W": 450 * GB}, "ask": "How long {V:1} at {W}?"}, "show more digits"),
        ({"solution": [(2 * V / W, "wrong")]}, "the solution ends in 2\\*V/W; the answer is V/W"),
        ({"solution": [(V, "bytes")]}, "the solution ends in V, which is not in s"),
        ({"solution": 5}, "expected a Derivation"),
        ({"solution": "It is {V}.", "given": [GIVEN, GIVEN | {"V": 5 * MB}]}, "the same in all variants"),
        ({"choices": [("a", "b", True), ("c", "d", False)]}, "choices carry their own feedback"),
    ],
)
def test_flawed_questions_are_refused(changes, says):
    with pytest.raises(QuestionError, match=says) as error:
        make(**changes)
    assert "question “" in str(error.value)


@pytest.mark.parametrize(
    ("choices", "more", "says"),
    [
        ([("a", "b", True)], {}, "at least two"),
        ([("a", "b", True), ("c", "d", True)], {}, "variant 1 has 2 right choices"),
        ([("a", "b", False), ("c", "d", False)], {}, "variant 1 has 0 right choices"),
        ([("a", "", True), ("c", "d", False)], {}, "a choice is"),
        ([("a", "b"), ("c", "d")], {}, "a choice is"),
        ([("a", "b", 1), ("c", "d", False)], {}, "True, False or a relation"),
        ([("a", "b", V / W), ("c", "d", 2 * V / W)], {"pick": "best"}, "expected 'largest' or 'smallest'"),
        ([("a", "b", V / W), ("c", "d", 1.01 * V / W)], {"pick": "largest"}, "two choices are within 5%"),
        ([("{V}", "b", True), ("c", "d", False)], {"given": [GIVEN, GIVEN]}, "the same in all variants"),
    ],
)
def test_flawed_choices_are_refused(choices, more, says):
    with pytest.raises(QuestionError, match=says):
        checked(Question(ASK, **({"given": GIVEN, "choices": choices} | more)))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mistakes": {"Same.": W**-1 * V}}, "the answer and “Same.” are the same formula"),
        ({"mistakes": {"It waits.": V / W + alpha}}, "“It waits.” holds alpha, which the reader cannot use"),
        ({"symbols": (V,)}, "the answer holds W"),
        ({"answer": sympy.Max(V / W, alpha / 10**9)}, "give points"),
        ({"ask": "Give the time of $V$ bytes."}, "the text does not say what W stands for"),
    ],
)
def test_flawed_formula_questions_are_refused(changes, says):
    with pytest.raises(QuestionError, match=says):
        make(**({"ask": "Give the time.", "given": None} | changes))


@pytest.mark.parametrize("name", ["two words", "", "ünder", "1st"])
def test_a_set_needs_a_name_and_questions(name):
    with pytest.raises(QuestionError, match="expected the name of its module"):
        QuestionSet(name, "Title", [READ])
    with pytest.raises(QuestionError, match="expected a list of Question"):
        QuestionSet("fine", "Title", [])


def test_solution_may_be_a_derivation_a_formula_or_words():
    chain = Derivation(T).given(V / W, "once across")
    f = Formula("Time", T, V / W, "none", "not one of")
    for told in (chain, f, [(V / W, "once")], ["Words first.", (V / W, "once")], "Only words with $V/W$."):
        assert "details" in cards.question_card(Item("x", 1, make(solution=told)))
    with pytest.raises(QuestionError, match="the solution ends in"):
        make(solution=Derivation(T).given(2 * V / W, "twice"))


def test_a_solution_sets_equal_only_what_is_equal():
    """An "=" before a row says that it is the row above in another form; other quantities stand alone."""
    parts = sympy.Add(V / (4 * W), 3 * V / (4 * W), evaluate=False)
    steps = [(4 * V, "of all"), (4 * V / W, "sent"), (V / W, "of one"), (parts, "in parts"), (V / W, "added up")]
    card = cards.question_card(Item("x", 1, make(solution=steps)))
    rows = re.findall(r'<li><span>.*?</span><span>(.*?)</span><span class="expr">', card)
    assert ["=" in relation for relation in rows] == [False, False, False, True, True]


def test_a_prediction_stands_where_its_chapter_asks_it():
    guess = {"predict": True, "choices": [("more", "Yes.", True), ("less", "No.", False)]}
    with pytest.raises(QuestionError, match="a prediction needs a solution in words"):
        QuestionSet("guesses", "Guesses", [Question("More or less?", **guess)])
    asked = Question("More or less?", solution="More, because it is more.", **guess)
    both = QuestionSet("guesses", "Guesses", [demo[1].question, asked])
    whole, (first, second) = quiz(both), both
    page = whole.html
    assert f"q-guesses-{first.number}" in page and f"q-guesses-{second.number}" not in page
    alone = cards.question_card(second)
    assert "<b>Predict first.</b> More or less?" in alone and "<summary>Answer</summary>" in alone
    assert (first.spec["attempts_to_reveal"], second.spec["attempts_to_reveal"]) == (2, 1)


def test_large_round_counts_are_said_in_words():
    said = {70e9: "70 billion", 15e12: "15 trillion", 70.6e9: "70.6 billion", 8e6: "8,000,000", 1e15: "1" + ",000" * 5}
    said |= {70553706496: "70,553,706,496", 999.9e9: "999.9 billion", 999.95e9: "999,950,000,000"}
    assert {count: wording.shown("n", count) for count in said} == said


# --- mistakes ---


@pytest.mark.parametrize(
    ("mistake", "factor"),
    [
        (mistakes.both_directions(W), 0.5),
        (mistakes.one_direction(W), 2),
        (mistakes.bits_for_bytes(W), 1 / 8),
        (mistakes.bytes_for_bits(W), 8),
        (mistakes.gib_for_gb(V), 2**30 / 1e9),
        (mistakes.gb_for_gib(V), 1e9 / 2**30),
        (mistakes.mib_for_mb(V), 2**20 / 1e6),
        (mistakes.mb_for_mib(V), 1e6 / 2**20),
        (mistakes.gib_for_gb(), 2**30 / 1e9),
        (mistakes.with_sparsity(W), 0.5),
        (mistakes.without_fma(W), 2),
        (mistakes.fma_twice(W), 0.5),
        ({"Other.": mistakes.Times(1.5)}, 1.5),
        ({"Input.": {W: 300 * GB}}, 1.5),
        ({"Both.": (2 * V / W, {"V": 3 * V})}, 6),
        ({"Formula.": Formula("Time", T, 5 * V / W, "none", "not one of")}, 5),
    ],
)
def test_standard_mistakes(mistake, factor):
    question = make(mistakes=mistake)
    (_, right), (_, wrong) = question.outcomes(0)
    assert wrong == pytest.approx(factor * right, rel=1e-9)
    said = next(iter(mistake))
    result = check(Item("x", 1, question), wrong)
    assert result.verdict == "wrong"
    assert result.message.startswith(wording.render(said, GIVEN))


# --- grading ---


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        (
            {"given": {"V": 26 * GB, "W": 400 * GB}},
            "65 ms|65000 US|6.5x10^-2 s|6.5 times 10^-2 s|65 milliseconds|about 65 ms",
        ),
        ({"given": {"V": 3456 * TB, "W": 1 * GB}}, "40 d|40 days|3.456 Ms|5.714 weeks|960 hours|~40 d|About 40 Days"),
        (
            {"answer": V / alpha, "given": {"V": 3 * MB, "alpha": 1e-3}, "ask": "At what rate {V} in {alpha}?"},
            "3 GB per second|3 gigabytes per second|24 Gbps|approx. 3 GB/s",
        ),
        (
            {"answer": D / F, "given": {"D": 12, "F": 25}, "ask": "Which part of {F} is {D}?"},
            "about 0.48|48%|48 per cent|12/25",
        ),
    ],
)
def test_an_answer_may_be_spelled_in_many_ways(changes, texts):
    one = Item("x", 1, make(**changes))
    assert {text: check(one, text).verdict for text in texts.split("|")} == dict.fromkeys(texts.split("|"), "right")


@pytest.mark.parametrize(
    ("number", "typed", "verdict", "says"),
    [
        (1, "19.1 us", "right", "It is 19.1\u00a0µs. Each byte crosses once, at <i>W</i>."),
        (1, "0.0191 ms", "right", "19.1"),
        (1, 1.91e-5, "right", "19.1"),
        (1, sympy.Float(1.91e-5), "right", "19.1"),
        (1, "76.4 us", "wrong", "Four passes &amp; more; <i>one</i> is asked."),
        (1, "20.5 us", "wrong", "GiB"),
        (1, "19.1 ms", "wrong", "1,000 times too much"),
        (1, "19.1 ns", "wrong", "1,000 times too little"),
        (1, "38.2 us", "wrong", "twice the answer"),
        (1, "5 s", "wrong", "not within 2%"),
        (1, 5, "wrong", "base units (s)"),
        (1, "-19.1 us", "wrong", "not within 2%"),
        (1, "19.1 MB", "unclear", "a number of bytes; expected a time"),
        (1, "<b>", "unclear", "&lt;b&gt;"),
        (1, "", "open", "Not answered"),
        (1, ..., "open", ""),
        (1, None, "open", ""),
        (1, True, "unclear", "bool is not an answer"),
        (1, float("nan"), "unclear", "a finite"),
        (1, [], "unclear", "list"),
        (1, V / W, "unclear", "is not an answer"),
        (2, "B", "right", "A weight serves 64 rows."),
        (2, "b", "right", ""),
        (2, 2, "right", ""),
        (2, "2", "right", ""),
        (2, "HBM", "right", ""),
        (2, "hbm", "right", ""),
        (2, "A", "wrong", "Few rows"),
        (2, "the L2 cache", "wrong", "faster"),
        (2, "D", "unclear", "not one of the options; expected A, B, C"),
        (2, 0, "unclear", "not one of"),
        (2, 1.5, "unclear", "not one of"),
        (2, "#1", "unclear", "not one of"),
        (3, "alpha + b D F/W_hbm", "right", "It equals"),
        (3, "α + F b D / w_HBM", "right", ""),
        (3, "T = bDF/W_hbm + α", "right", ""),
        (3, alpha + b * D * F / W_hbm, "right", ""),
        (3, Formula("Time", T, alpha + b * D * F / W_hbm, "s", "a"), "right", ""),
        (3, "b D F/W_hbm", "wrong", "leaves out the wait"),
        (3, "alpha + 2 b D F/W_hbm", "wrong", "not equal"),
        (3, "b D F", "unclear", "a number of bytes; expected a time"),
        (3, "alpha + b", "unclear", "cannot be added"),
        (3, "alpha + V", "unclear", "“V” is not one of"),
        (3, V, "unclear", "“V” is not one of"),
        (3, 7.0, "unclear", "expected a formula in"),
        (3, "1/(D - D)", "unclear", "finite"),
        (3, "0", "wrong", ""),
        (4, "16896", "right", "16,896"),
        (4, "16,896 lanes", "right", ""),
        (4, 16896, "right", ""),
        (4, "16895", "wrong", "another whole"),
        (4, "4224", "wrong", "one subpartition"),
        (4, "132", "wrong", "Those are the SMs."),
        (4, "16896.4", "wrong", ""),
        (5, "295 FLOP/B", "right", "295"),
        (5, "295", "right", ""),
        (5, "200", "wrong", "Divide the two rates."),
        (6, "20 us", "right", ""),
        (6, "10 us", "wrong", "both directions"),
        (6, "20.3 us", "wrong", "not within 1%"),
        (7, "27%", "right", "27%"),
        (7, "0.27", "right", ""),
        (7, 0.27, "right", ""),
        (7, "27", "unclear", "45% or 0.45"),
        (8, "0", "right", ""),
        (8, "0 us", "right", ""),
        (8, 0.0, "right", ""),
        (8, "1 us", "wrong", ""),
        (8, "1e-300 s", "wrong", ""),
        (9, "max(V/W, alpha)", "right", ""),
        (9, "max(α, V/W)", "right", ""),
        (9, "V/W", "wrong", "ignores the wait"),
        (9, "V/W + alpha", "wrong", "the sum"),
        (9, "alpha", "wrong", ""),
        (9, "min(V/W, alpha)", "wrong", ""),
    ],
)
def test_verdicts(number, typed, verdict, says):
    result = check(demo[number], typed)
    assert (result.verdict, says in result.message) == (verdict, True), result
    assert result.right == (verdict == "right")


def test_variants_have_their_own_answers():
    assert check(demo[1], "250 us", variant=2).right
    assert not check(demo[1], "19.1 us", variant=2).right
    assert check(demo[2], "arithmetic", variant=2).right  # which option is right is computed
    assert check(demo[2], "HBM").right
    with pytest.raises(ValueError, match="demo.1 has variants 1 to 2; got 3"):
        check(demo[1], "1 s", variant=3)


def test_small_b_is_explained_where_it_matters():
    bits = check(demo[6], "20 us").message
    assert "<code>b</code>" not in bits
    question = Question("Which rate moves {V} in {alpha}?", V / alpha, given={"V": 9 * MB, "alpha": 1e-3})
    wrong = check(Item("x", 1, question), "9 Gb/s")
    assert wrong.verdict == "wrong"
    assert "<code>b</code> is read as a bit" in wrong.message


anything = st.one_of(st.text(max_size=40), st.floats(), st.integers(), st.none(), st.binary(max_size=4), st.booleans())


@given(anything, st.integers(1, 9))
def test_check_never_fails(typed, number):
    result = check(demo[number], typed)
    assert result.verdict in ("right", "wrong", "unclear", "open")
    assert "<script" not in result.message
    json.dumps(result._repr_mimebundle_()[MIME])


def test_formula_points_reach_both_branches():
    points = LONGER.fixed_points
    assert {p["V"] / p["W"] > p["alpha"] for p in points} == {True, False}
    for expr in (DELIVER.expr, *DELIVER.amounts.values()):
        assert all(grading.mid_bucket(v) for v in values_at(expr, DELIVER.fixed_points))


# --- what is shown ---


@pytest.mark.parametrize("one", list(demo), ids=lambda one: one.id)
def test_the_page_source_gives_no_answer_away(one):
    """What grades the numbers as written is sealed. What draws others has formulas and messages, but no result."""
    html = cards.question_card(one)
    source = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    assert source == json.loads(json.dumps(one.spec))
    text = json.dumps({k: v for k, v in source.items() if k not in ("choices", "drawn")}, ensure_ascii=False)
    for message in one.question.mistakes:
        assert message not in text
    if one.question.kind == "number":
        right = one.question.outcomes(0)[0][1]
        shown = one.question.show(right)
        assert one.question.exact or shown not in text
    for grade in (v["grade"] for v in source["variants"]):
        assert all(re.fullmatch("[0-9a-f]{16}:[0-9a-f]+", ":".join(row)) for row in grade["outcomes"].items())


def test_cards_are_deterministic_and_anchored():
    first, again = (quiz(demo).html for _ in "ab")
    assert first == again
    ids = re.findall(r' id="([^"]+)"', first)
    assert ids == ["quiz-demo", *(f"q-demo-{i.number}" for i in demo)]
    assert first.count('data-gpuscale="quiz"') == len(demo)
    assert "</script" not in json.dumps(demo[1].spec)


def test_the_static_card_reads_without_a_script():
    html = cards.question_card(Item("demo", 1, READ))
    assert "<b>1.</b> How long does it take to read 64\u00a0MB at 3.35\u00a0TB/s?" in html
    assert "Answer: a time, such as 65 us" in html
    assert '<details class="solution" open>' in html
    assert "every byte crosses the link once" in html
    assert cards.question_card(demo[2]).count("<li>") == 3


def test_the_example_is_never_the_answer():
    question = make(given={"V": 65 * MB, "W": 1 * TB})
    assert card_data.expects(question) == "a time, such as 2 ms"
    assert card_data.expects(CORES) == "a number of lanes, such as 512"


def test_json_cannot_end_its_script():
    question = make(ask="Is `</script>` {V} or {W}?")
    html = cards.question_card(Item("x", 1, question))
    assert html.count("</script") == 1


def test_digest_has_no_html_and_no_answer(monkeypatch):
    monkeypatch.setenv("GPUSCALE_DIGEST", "1")
    bundle = ask(demo[1])._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert set(bundle) == {"text/plain"}
    assert bundle["text/plain"].startswith("demo.1 (number, 2 variants): How long does it take to read 64 MB")
    assert "19.1" not in bundle["text/plain"]
    assert set(score(demo)._repr_mimebundle_()) == {"text/plain"}


def test_a_card_carries_html_for_the_site():
    for shown in (ask(demo[1]), quiz(demo), score(demo)):
        bundle = shown._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle
        assert 'data-set="demo"' in bundle["text/html"] or 'data-gpuscale="quiz"' in bundle["text/html"]
        assert bundle["text/plain"] == repr(shown)


def test_result_shows_and_records():
    result = check(demo[1], "<19> us")
    bundle = result._repr_mimebundle_()
    assert bundle["text/plain"].startswith("demo.1 ≠ Not graded: “<19> us” does not begin with a number")
    assert "&lt;19&gt; us" in bundle["text/html"]
    assert bundle[MIME]["id"] == "demo.1"
    assert bundle[MIME]["typed"] == "<19> us"


# --- texts ---


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("{V} at {W}", "64\u00a0MB at 450\u00a0GB/s"),
        ("{V:MiB}", "61\u00a0MiB"),
        ("{V:MiB,5}", "61.035\u00a0MiB"),
        ("{V:4} {V:,4}", "64\u00a0MB 64\u00a0MB"),
        ("{V:count}", "64,000,000"),
        ("{W:symbol}", "<i>W</i>"),
        ("`a*b*c` *d* **e**", "<code>a&#42;b&#42;c</code> <i>d</i> <b>e</b>"),
        ("<f> & g", "&lt;f&gt; &amp; g"),
        ("costs $ 5 {", "costs $ 5 {"),
        (r"$W$, $W_\mathrm{HBM}$, $\alpha$", "<i>W</i>, <i>W</i><sub>HBM</sub>, <i>α</i>"),
        ("$a*b$ and $c*d$", None),
    ],
)
def test_text_marks(text, html):
    made = wording.render(text, GIVEN)
    assert made == html if html else ("<i>" not in made and made.count("&#42;") == 2)


def test_plain_text():
    text = r"`a` *b* $W$ {V} $D \times F$ {W_hbm:symbol} & $\alpha$"
    assert wording.plain(text, GIVEN) == r"a b W 64 MB D \times F W_HBM & α"


# --- finding ---


@pytest.fixture
def shelf(monkeypatch):
    """A package of question sets that holds the demonstration only."""
    module = types.ModuleType(f"{PACKAGE}.demo")
    module.questions = demo
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys.modules["gpuscale.quiz.question_sets"], "sets", lambda: ["demo"])
    return module


def test_questions_are_found_by_name(shelf):
    assert load_set("demo") is demo
    assert check("demo.1", "19.1 us").right
    assert repr(ask("demo.4")).startswith("demo.4 (number)")
    assert repr(quiz("demo")).startswith("Demonstration: 9 questions")
    assert len(demo) == 9
    assert demo[3].id == "demo.3"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("demos.1", "no question set is called 'demos'; did you mean demo?"),
        ("demo.10", "expected demo.1 to demo.9"),
        ("demo.0", "expected demo.1 to demo.9"),
        ("demo", "'demo' is not the name of a question"),
        ("demo.x", "is not the name of a question"),
        ("", "is not the name of a question"),
        (3, "3 is not the name of a question|'3' is not the name of a question"),
        ("demo.²", "is not the name of a question"),
    ],
)
def test_unknown_names_say_what_there_is(shelf, name, says):
    with pytest.raises(UnknownQuestion, match=says):
        check(name, "1")


def test_a_module_without_questions_is_named(shelf):
    shelf.questions = None
    with pytest.raises(QuestionError, match='expected questions = QuestionSet\\("demo"'):
        load_set("demo")


# --- every set of the book ---

EVERY = sets() if importlib.util.find_spec(PACKAGE) else []


def test_the_book_has_questions():
    assert sum(len(load_set(name)) for name in EVERY) > 600


@pytest.mark.parametrize("name", EVERY)
def test_every_question_grades_its_own_outcomes(name):
    """The answer is right as the reader would type it; every likely mistake meets its own message."""
    for one in load_set(name):
        try:
            outcomes_are_graded(one.question, one.spec)
        except BaseException as error:
            error.add_note(one.id)
            raise


def outcomes_are_graded(question, spec):
    for variant in range(len(question.given)):
        if question.kind == "choice":
            verdicts = [grading.judge(spec, variant, str(i))[0] for i in range(len(question.choices))]
            assert verdicts.count("right") == 1
            continue
        for name, expr in {"": question.expr, **question.amounts}.items():
            if question.kind == "formula":
                grade = spec["variants"][variant]["grade"]
                verdict, said = grading.outcome(grade, [grading.formula_token(values_at(expr, question.fixed_points))])
            else:
                value = question.value(expr, variant)
                verdict, said = grading.judge_value(spec, variant, value)
                assert name or grading.judge(spec, variant, question.show(value))[0] == "right"
            assert verdict == ("wrong" if name else "right")
            assert not name or said == wording.render(name, question.given[variant])


@pytest.mark.parametrize("name", EVERY)
def test_every_set_is_in_order(name):
    found = load_set(name)
    assert len({one.question.ask for one in found}) == len(found), "a question is asked twice"
    assert all(cards.solution(one.question) or one.question.kind == "choice" for one in found)
    kinds = {one.question.kind for one in found}
    assert kinds <= {"number", "choice", "formula"}


def test_the_practice_of_every_set_is_numbered_without_gaps_before_its_predictions():
    for name in sets():
        them = list(load_set(name))
        listed = [one.listed for one in sorted(them, key=lambda one: one.question.predict)]
        assert listed == list(range(1, len(them) + 1)), name
        assert all(one.spec["number"] == one.listed for one in them)
