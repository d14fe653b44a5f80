"""Mathematics in a browser: set in its font, copied as TeX, read as mathematics, and broken at its operators."""

import re

import pytest
from browser.bookpages import clipboard

COPY = """(selector) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  getSelection().removeAllRanges(); getSelection().addRange(range);
  document.execCommand('copy');
}"""


def copied(page, selector: str) -> str:
    page.evaluate(COPY, selector)
    return clipboard(page)


@pytest.fixture
def ring(tab):
    return tab("chapters/rings_and_trees.html")


def test_an_equation_is_copied_as_tex(ring):
    card = "#formula-ring-all-gather"
    tex = ring.text_content(f"{card} .equation annotation")
    assert tex.startswith(r"T_\mathrm{comms} = ")
    assert copied(ring, f"{card} .equation").strip() == f"$${tex}$$"


def test_a_paragraph_is_copied_with_its_formulas_as_tex(ring):
    paragraph = "article p:has(math):has(a)"
    words = copied(ring, paragraph)
    tex = ring.evaluate("(s) => [...document.querySelectorAll(s + ' annotation')].map((a) => a.textContent)", paragraph)
    assert re.findall(r"\$([^$]+)\$", words) == tex[: words.count("$") // 2] and "$" in words


def test_half_a_formula_is_copied_whole(ring):
    ring.evaluate("""() => {
      const [first, last] = document.querySelectorAll('.equation mi, .equation mn'), range = document.createRange();
      range.setStart(first.firstChild, 0); range.setEnd(last.firstChild, 1);
      getSelection().removeAllRanges(); getSelection().addRange(range);
      document.execCommand('copy');
    }""")
    assert clipboard(ring).strip() == f"$${ring.text_content('.equation annotation')}$$"


def test_text_without_mathematics_is_copied_as_ever(ring):
    assert copied(ring, "h1").strip() == ring.inner_text("h1").strip()


def test_it_is_set_in_its_own_font(ring):
    faces = ring.evaluate("() => [...document.fonts].map((f) => [f.family, f.status])")
    assert ["mathematics", "loaded"] in faces


def test_it_is_read_as_mathematics(ring):
    """One formula for a screen reader, however many lines it has."""
    tree = ring.context.new_cdp_session(ring.page).send("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node["ignored"]]
    shown = "() => [...document.querySelectorAll('math')].filter((m) => m.checkVisibility()).length"
    assert roles.count("MathMLMath") + roles.count("math") == ring.evaluate(shown) > 50
    assert {"MathMLFraction", "MathMLSub"} <= set(roles)


ALONE = """() => [...document.querySelectorAll('.tie:has(> .math)')].filter((tie) => {
  const sign = document.createRange(), formula = [...tie.querySelector('.math').getClientRects()].at(-1);
  sign.selectNodeContents(tie.lastChild);
  return formula && sign.getClientRects()[0]?.top > formula.bottom - 2;
}).map((tie) => tie.parentNode.textContent)"""


@pytest.mark.parametrize("name", ["primitives", "pipeline_parallelism", "rings_and_trees"])
def test_no_sign_after_a_formula_begins_a_line(tab, name):
    opened = tab(f"chapters/{name}.html")
    opened.set_viewport_size({"width": 390, "height": 900})
    opened.add_style_tag(content="section { content-visibility: visible !important }")
    assert opened.locator(".tie > .math").count() > 5
    assert opened.evaluate(ALONE) == []


def test_a_long_equation_breaks_in_front_of_its_operators(tab):
    """On a phone a line of an equation begins with a relation, a plus or a minus, or goes on within parentheses."""
    page = tab("chapters/formula_index.html")
    page.set_viewport_size({"width": 390, "height": 900})
    starts = page.evaluate("""() => [...document.querySelectorAll('.equation math.long')].flatMap((math) => {
      const parts = [...math.querySelectorAll(':scope > semantics > .line > *')], lefts = [];
      parts.forEach((part, i) => {
        if (i && part.getBoundingClientRect().left < parts[i - 1].getBoundingClientRect().right - 9) {
          const before = parts[i - 1].textContent.at(-1);
          if (!'(,'.includes(before)) lefts.push(part.querySelector('mo, mi, mn')?.textContent);
        }
      });
      return lefts;
    })""")
    assert len(starts) > 50 and not set(starts) & set(")],")
    assert sum(start in "=≈≤≥+−" for start in starts) > 0.8 * len(starts)
