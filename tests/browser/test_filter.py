"""The box above the formula index: it filters while one types, and no match stays hidden."""

import re

import pytest
from browser.bookpages import CLICK, SETTLE, said, visible

from gpuscale import find
from gpuscale.catalogue import sweep

PAGE = "chapters/formula_index.html"
BOX = ".rows-filter input"
FORMULAS = sweep.formulas()
SHOWN = visible(".formula-index .entry", "el.querySelector('code').textContent.split('(')[0]")
HEADS = visible("article h2")
EMPTY = """() => [...document.querySelectorAll('article section section:not(.entry)')]
  .filter((el) => el.checkVisibility() && !el.querySelector('.entry:not(.out)')).map((el) => el.id)"""
AT_TOP = "(id) => Math.abs(document.getElementById(id).getBoundingClientRect().top) < 100"


@pytest.fixture
def opened(tab):
    page = tab(PAGE)
    page.fill(BOX, "")
    for name in ("part", "unit"):
        page.select_option(f"select[name={name}]", index=0)
    return page


def typed(page, text: str) -> set[str]:
    page.fill(BOX, text)
    page.evaluate(SETTLE)
    return set(page.evaluate(SHOWN))


def counted(page) -> str:
    return page.text_content(".rows-filter output")


def test_it_opens_with_all_formulas_and_a_labelled_box(opened):
    assert set(opened.evaluate(SHOWN)) == {f.name for f in FORMULAS.values()}
    assert counted(opened) == f"{len(FORMULAS)} formulas"
    box = opened.get_by_role("searchbox", name=re.compile("^Filter"))
    assert box.count() == 1 and opened.get_by_role("search", name="Formulas").count() == 1


@pytest.mark.parametrize("text", ["busbw", "fat tree", "ring all-reduce", "V_rank", "tre"])
def test_typing_leaves_what_find_finds(opened, text):
    expected = {f.name for f in find(text)}
    assert typed(opened, text) == expected
    assert counted(opened) == f"{len(expected)} of {len(FORMULAS)} formulas"
    assert 0 < len(opened.evaluate(HEADS)) < 25 and opened.evaluate(EMPTY) == []


def test_where_nothing_is_found_it_says_so(opened):
    assert typed(opened, "ring qqqq") == set() and opened.evaluate(HEADS) == []
    assert counted(opened) == f"0 of {len(FORMULAS)} formulas: nothing has the word “qqqq”"
    assert typed(opened, "occupancy zero") == set()
    assert counted(opened) == f"0 of {len(FORMULAS)} formulas: none has all of these words"


def test_part_and_unit_narrow_it(opened):
    opened.select_option("select[name=part]", "The network")
    network = {f.name for key, f in FORMULAS.items() if key.startswith("network.")}
    assert set(opened.evaluate(SHOWN)) == network and opened.evaluate(EMPTY) == []
    opened.select_option("select[name=unit]", "B/s")
    both = {f.name for key, f in FORMULAS.items() if key.startswith("network.") and f.lhs.unit == "B/s"}
    assert typed(opened, "") == both and 0 < len(both) < len(network)
    expected = both & {f.name for f in find("switch")}
    assert typed(opened, "switch") == expected and 0 < len(expected) < len(both)


def test_the_keyboard_alone(opened):
    opened.focus(BOX)
    opened.keyboard.type("bubble")
    assert len(opened.evaluate(SHOWN)) == len(find("bubble"))
    opened.keyboard.press("Enter")  # sends nothing
    assert opened.url.endswith(PAGE)
    opened.keyboard.press("Escape")
    assert opened.input_value(BOX) == "" and len(opened.evaluate(SHOWN)) == len(FORMULAS)
    assert counted(opened) == f"{len(FORMULAS)} formulas"
    assert opened.evaluate("() => document.activeElement.type") == "search"


@pytest.mark.parametrize("follow", [CLICK, "(id) => { location.hash = id; }"], ids=["link", "address"])
def test_what_a_link_leads_to_is_shown(opened, follow):
    target = "index-one-gpu-ridge-point"
    for _ in range(2):  # the second time the address names it already
        assert "ridge_point" not in typed(opened, "bubble")
        opened.evaluate("() => scrollTo(0, 0)")
        if follow != CLICK:
            opened.evaluate("() => { location.hash = ''; }")
        opened.evaluate(follow, target)
        opened.wait_for_function(AT_TOP, arg=target)
        assert opened.input_value(BOX) == "" and len(opened.evaluate(SHOWN)) == len(FORMULAS)
    opened.evaluate("() => history.replaceState(null, '', location.pathname)")


def test_an_entry_that_is_there_keeps_the_filter(opened):
    typed(opened, "ridge")
    opened.evaluate("() => { location.hash = 'index-one-gpu-ridge-point'; }")
    opened.evaluate(SETTLE)
    assert opened.input_value(BOX) == "ridge"
    opened.evaluate("() => history.replaceState(null, '', location.pathname)")


def test_paper_has_all_of_them_and_no_box(opened):
    typed(opened, "bubble")
    opened.emulate_media(media="print")
    assert len(opened.evaluate(SHOWN)) == len(FORMULAS)
    assert not opened.is_visible(".rows-filter")
    opened.emulate_media(media="screen")


def test_without_scripts_all_are_there_and_no_box(visiting, site):
    with visiting(java_script_enabled=False) as page:
        page.goto(f"{site.as_uri()}/{PAGE}")
        assert page.locator(".formula-index .entry:visible").count() == len(FORMULAS)
        assert not page.is_visible(".rows-filter")


def test_it_filters_while_one_types(opened):
    """The slowest time from a key press to the new layout: half of what an eye notices."""
    slow = opened.evaluate(
        """async (words) => {
      const input = document.querySelector('.rows-filter input'), took = [];
      for (const word of words) for (let n = 0; n <= word.length; n++) {
        const start = performance.now();
        input.value = word.slice(0, n);
        input.dispatchEvent(new Event('input'));
        document.body.offsetHeight;
        took.push(performance.now() - start);
        await new Promise((done) => requestAnimationFrame(done));
      }
      return Math.max(...took);
    }""",
        ["bandwidth", "ring all-reduce", "tree"],
    )
    assert slow < 250, said([f"{slow:.0f} ms"])
