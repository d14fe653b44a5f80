"""TeX as MathML: what it becomes, where it breaks, and that the site has no TeX that was not understood."""

import html
import json
import re
from xml.etree import ElementTree

import pytest

from gpuscale.book import mathfont
from gpuscale.book.mathematics import mathml, typeset
from gpuscale.book.mathlines import width
from gpuscale.book.mathtree import APPLIED, TexError, tree
from gpuscale.core.html import script_json
from gpuscale.core.latex import span

NAMED = r"T_\mathrm{comms}"
LONG = r"T = \frac{V}{W} \, \frac{N - 1}{N} + \alpha \, \left(N - 1\right) - \min\left(a, b\right) + c \, d"
FRACTION = r"r = \frac{" + r" + ".join(["n_\\mathrm{stages}"] * 9) + "}{N}"


def shown(formula: str, **how) -> str:
    """The MathML inside a formula, without its TeX."""
    return re.sub(r"^<math[^>]*><semantics>|<annotation.*", "", mathml(formula, **how))


@pytest.mark.parametrize(
    "formula, expected",
    [
        ("N", "<mi>N</mi>"),
        (NAMED, "<msub><mi>T</mi><mi>comms</mi></msub>"),
        (r"t_\mathrm{F}", '<msub><mi>t</mi><mi mathvariant="normal">F</mi></msub>'),
        (r"V_\mathrm{inside,fwd}", "<msub><mi>V</mi><mi>inside,fwd</mi></msub>"),
        (r"\frac{V}{W}", "<mfrac><mi>V</mi><mi>W</mi></mfrac>"),
        (r"\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        (r"\log_2 N", '<mrow><msub><mi>log</mi><mn>2</mn></msub><mspace width="0.167em" /><mi>N</mi></mrow>'),
        (r"\infty", "<mi>∞</mi>"),
    ],
)
def test_names_fractions_and_functions_are_plain_mathml(formula, expected):
    assert shown(formula) == expected


def test_a_function_is_applied_to_what_stands_in_parentheses():
    assert '<mi>max</mi><mo>\u2061</mo><mrow><mo form="prefix">(</mo><mi>a</mi>' in shown(r"\max\left(a, b\right)")


def test_its_tex_goes_with_it():
    found = ElementTree.fromstring(mathml(r"\displaystyle a < \frac{b}{c}"))
    assert found.find(".//annotation").text == r"a < \frac{b}{c}" and found.get("displaystyle") == "true"
    assert "displaystyle" not in mathml("a < b") and "displaystyle" in mathml("a < b", display=True)


STRANGE = r"\unheard x", r"a_{\mystery}", r"\begin{tikz}a\end{tikz}", r"\frac{a", r"\left( a"


@pytest.mark.parametrize("formula", STRANGE)
def test_tex_that_is_not_understood_is_refused(formula):
    with pytest.raises(TexError, match="unheard|mystery|tikz|frac|left"):
        mathml(formula)


def test_a_sum_is_a_line_of_parts_and_a_short_one_stays_whole():
    line = ElementTree.fromstring(mathml(LONG)).find("semantics/mrow")
    assert line.get("class") == "line"
    assert [part[0].text for part in line][1:] == ["=", "+", "−", "+"]
    assert all(part[0].get("form") == "infix" for part in line[1:])
    assert ElementTree.fromstring(mathml("N - 1")).get("class") is None


def test_what_is_wider_than_a_phone_breaks_inside():
    assert 'class="over"' in mathml(FRACTION) and "--w:" in mathml(FRACTION)
    product = r" \, ".join(["n_\\mathrm{stages}"] * 12)
    assert len(ElementTree.fromstring(mathml(product)).find("semantics/mrow")) > 1
    rows = r"x = \begin{cases} " + FRACTION[4:] + r" & \text{if } a < b \\ 0 & \text{otherwise} \end{cases}"
    assert 'class="rows"' in mathml(rows)


TERMS = r" + ".join(rf"T_\mathrm{{{name}}} \, g_\mathrm{{{name}}}" for name in ("TP", "CP", "EP", "DP", "PP", "SP"))


def starts(formula: str) -> list[str]:
    """The text of each box of a line."""
    line = ElementTree.fromstring(mathml(formula, display=True)).find("semantics/mrow")
    return ["".join(box.itertext()) for box in line]


def test_an_argument_breaks_at_its_sums_and_not_within_a_product():
    boxes = starts(rf"T = \max\left(T_\mathrm{{host}}, {TERMS} + c\right)")
    assert boxes[2:] == ["TTPgTP", "+TCPgCP", "+TEPgEP", "+TDPgDP", "+TPPgPP", "+TSPgSP", "+c)"]


@pytest.mark.parametrize("after", ["", r" \, B \, D \, \left(b_\mathrm{disp} + b_\mathrm{comb} + b_\mathrm{w}\right)"])
def test_no_box_begins_with_a_closing_parenthesis(after):
    wide = FRACTION.removeprefix("r = ")
    boxes = starts(rf"T = \max\left({wide}, {wide}\right){after}")
    assert len(boxes) > 2 and not [box for box in boxes if box[0] in ")],"]


def test_wider_formulas_are_estimated_wider():
    widths = [width(tree(each, True)) for each in ("a", "a + b", r"a + b + \frac{cde}{f}", LONG)]
    assert widths == sorted(widths) and widths[0] < 1 < widths[1]


def test_what_stands_in_html_and_in_data_is_set():
    one = span("a < b")
    assert typeset(f"<p>{one}.</p>") == f'<p><span class="math">{mathml("a < b")}</span>.</p>'
    data = typeset(script_json({"ask": f'"{one}." Is it?', "n": [1, one]}))
    there = json.loads(re.search(r">(.*)</script>", data)[1])
    made = f'<span class="math">{mathml("a < b")}</span>'
    assert there == {"ask": f'"<span class="tie">{made}."</span> Is it?', "n": [1, made]}  # no line begins with a sign
    assert typeset("<code>a</code>") == "<code>a</code>"


def test_a_derivation_whose_formulas_fill_the_column_has_its_reasons_below():
    """Whichever rows have the wide sides, and in the data of a question as well."""
    wide, short = r"\frac{abcdefg (h + i)}{jkl} \frac{mnopq}{rst}", r"\frac{a}{b}"
    row = "<li>{}</li>".format(
        "".join(["<span>{}</span>", "<span>=</span>", '<span class="expr">{}</span>', '<span class="why">so</span>'])
    )
    for rows, placed in (((wide, wide),), True), (((wide, short), (short, wide)), True), (((short, wide),), False):
        steps = "".join(row.format(span(left), span(right)) for left, right in rows)
        for text in (
            f'<ol class="derivation">{steps}</ol>',
            script_json({"told": f'<ol class="derivation">{steps}</ol>'}),
        ):
            assert ("derivation wide" in typeset(text)) == placed, rows


def test_the_site_has_no_tex_but_in_annotations_and_every_sign_in_its_font(site):
    font, seen = ({chr(code) for code in mathfont.whole().getBestCmap()} & mathfont.signs()) | {APPLIED}, 0
    for page in site.rglob("*/*.html"):
        text = page.read_text(encoding="utf-8").replace('\\"', '"').replace("<\\/", "</")  # in the data of scripts, too
        assert "mathjax_process" not in text and "MathJax" not in text, page.name
        for found in re.findall(r"<math\b.*?</math>", text, re.S):
            shown = html.unescape(re.sub(r"<annotation.*?</annotation>|<[^>]+>", "", found))
            assert set(shown) <= font, (page.name, shown)
            assert "application/x-tex" in found, page.name
            seen += 1
    assert seen > 2000
