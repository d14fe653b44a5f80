"""Sections far off the window are laid out when a reader comes near: nothing else may be different for that."""

import io
import re

import pypdf
import pytest
from browser.bookpages import SETTLE

PAGE = "chapters/rings_and_trees.html"
FAR = """() => [...document.querySelectorAll('article section section')]
  .filter((el) => !el.firstElementChild.checkVisibility({ contentVisibilityAuto: true })).length"""
EMPTY = "() => document.querySelectorAll('.drawn :is(.plot, .stage) > svg:empty').length"


@pytest.fixture
def reader(visiting):
    """A visit on which the browser lays out what is near the window alone."""
    with visiting(whole=False) as visit:
        yield visit


@pytest.mark.parametrize("name", [PAGE, "chapters/published_numbers.html"])
def test_no_script_lays_out_what_is_far_away(reader, name):
    """Each layout that a script asks for is one of the window's neighborhood: few elements have a box."""
    reader.open(name)
    reader.evaluate(SETTLE)
    many = reader.locator("article section section").count()
    assert reader.evaluate(FAR) > many / 2
    # The boxes that exist, by what Chromium counts; a section that was ever laid out keeps its boxes.
    session = reader.context.new_cdp_session(reader.page)
    session.send("Performance.enable")
    counted = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert counted["LayoutObjects"] < reader.locator("article *").count() / 3


def test_figures_are_drawn_when_one_comes_near(reader):
    reader.open("chapters/roofline.html")
    assert reader.evaluate(EMPTY) > 0
    for plot in reader.locator(".drawn :is(.plot, .stage) > svg").all():
        plot.scroll_into_view_if_needed()
        reader.wait_for_function("(el) => el.childElementCount > 0", arg=plot.element_handle())
    assert reader.errors == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_link_leads_to_its_section(reader, width):
    """From the contents, from another page, and to a figure in the state of the link."""
    top = "(id) => document.getElementById(id).getBoundingClientRect().top"
    reader.open(f"{PAGE}#take-aways", width=width)
    reader.wait_for_timeout(300)
    assert -5 < reader.evaluate(top, "take-aways") < 150
    reader.open("chapters/roofline.html", width=width)
    sections = reader.evaluate("() => [...document.querySelectorAll('article section section')].map((el) => el.id)")
    name = [one for one in sections if one][-2]
    reader.evaluate("(id) => { location.hash = id; }", name)
    reader.wait_for_timeout(300)
    assert -5 < reader.evaluate(top, name) < 150
    figure = reader.locator(".live").last.get_attribute("id")
    reader.open(f"chapters/roofline.html#{figure}:", width=width)
    reader.wait_for_timeout(300)
    assert -5 < reader.evaluate(top, figure) < 150


def test_what_is_far_away_is_found(reader):
    """By the search of the browser itself."""
    reader.open(PAGE)
    words = reader.locator("#take-aways li, #take-aways p").all_text_contents()
    plain = next(found.group() for text in words if (found := re.search(r"\b[a-z]{3}[a-z ,]{30,60}", text)))
    assert reader.evaluate("(words) => window.find(words)", plain)
    reader.wait_for_timeout(300)
    place = reader.evaluate("() => getSelection().getRangeAt(0).getBoundingClientRect().top")
    assert 0 < place < 900


def words(page) -> list[list[str]]:
    """The words of each sheet; not the letters of mathematics, which only the first print of a browser has as text."""
    page.emulate_media(media="print")
    printed = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4", prefer_css_page_size=True)))
    page.emulate_media(media="screen")
    return [re.findall(r"\b[a-z]{3,}\b", sheet.extract_text()) for sheet in printed.pages]


def test_paper_has_all_of_it(reader, tab):
    """A page that nobody scrolled prints what one that is laid out prints, and its font of mathematics is loaded."""
    reader.open(PAGE)
    assert reader.evaluate("() => [...document.fonts].map((font) => font.status)") == ["loaded"]
    assert words(reader) == words(tab(PAGE))


@pytest.mark.parametrize("name", ["chapters/inside_a_gpu.html", "chapters/hardware_tables.html"])
def test_what_stands_in_the_margin_is_not_cut_off(reader, name):
    """A note next to the text, and a table that is wider than it."""
    reader.open(name)
    seen = """(el) => {
      el.scrollIntoView({ block: 'center' });
      const r = el.getBoundingClientRect(), x = r.right - 12, y = Math.min(r.bottom, innerHeight) - 8;
      const beyond = r.right > document.querySelector('article').getBoundingClientRect().right;
      return beyond && el.contains(document.elementFromPoint(x, y));
    }"""
    found = reader.locator("aside.margin, .scroll:has(> .specs)").all()
    assert any(one.evaluate(seen) for one in found)
    wide = [one for one in found if one.evaluate("(el) => el.getBoundingClientRect().right > 1000")]
    assert wide and all(one.evaluate(seen) for one in wide)


def test_rows_of_a_long_table_stay_a_table(reader):
    """For a screen reader too, with heads of columns, and with all rows in a search of the page."""
    reader.open("chapters/notation.html")
    tree = reader.locator(".notation").first.aria_snapshot()
    assert len(re.findall(r"- '?row ", tree)) == reader.locator(".notation").first.locator("tr").count()
    assert 'columnheader "Meaning"' in tree
