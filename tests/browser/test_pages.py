"""Every page of the site in a browser: it opens cleanly, fits every screen, and says what it holds without help."""

import re
import time
import zipfile

import nbformat
import pytest
from browser.axe import nothing_serious
from browser.bookpages import PAGES, SETTLE, SHEETS, WHOLE, calling, probe, said, until

from conftest import PROBES

# A phone, a small phone, a tablet, a desk: from the width at which axe leaves a page to that of the tests that follow
WIDTHS = (390, 320, 820, 1280)
RING = """() => {
  const s = getComputedStyle(document.activeElement);
  return s.outlineStyle !== 'none' || s.boxShadow !== 'none';
}"""


def test_the_pages_are_those_of_the_contents(site):
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert found == {*PAGES, "index.html", "search.html", "404.html"}


@pytest.fixture(params=[*PAGES, "search.html"])
def opened(request, tab):
    """The tab on each page in turn, opened from its file, and then as the test before left it: to go back to the size
    and the theme of a desk each time took as long as the tests. A test sets what it depends on."""
    page = tab(request.param, as_left=True)
    page.name = request.param
    return page


def test_it_has_one_title_single_ids_and_words_for_pictures(opened):
    headings = opened.evaluate(probe("titles"))
    assert len(headings) == 1 and headings[0].strip()
    assert opened.evaluate(probe("twice")) == []
    assert opened.evaluate(probe("wordless")) == []
    assert opened.evaluate("() => document.documentElement.lang") == "en"


@pytest.mark.parametrize("opened", [*WHOLE, "search.html"], indirect=True)
def test_axe_finds_nothing_serious(opened):
    nothing_serious(opened, opened.name)


def test_it_fits_every_screen(opened):
    """With all that is folded open; and so does each formula, in text, in a table, in a card or on its own line."""
    problems = opened.evaluate(probe("raw"))
    opened.evaluate(probe("unfold"))
    for width in WIDTHS if opened.name not in SHEETS or opened.name in WHOLE else (390, 1280):
        opened.set_viewport_size({"width": width, "height": 900})
        opened.evaluate(SETTLE)
        found = opened.evaluate(probe("overflow"))
        if width > 320:
            found += opened.evaluate(probe("cut")) + opened.evaluate(probe("parted"))
        problems += [f"{width} px: {what}" for what in found]
    opened.evaluate("() => window.foldBack()")
    assert not problems, said(problems)


def test_it_opens_without_errors_and_asks_no_other_machine(opened):
    """Comes behind the others, when what loads late has loaded."""
    assert opened.errors == []
    assert opened.outside == []


# Over http a browser allows more than from a file, and what a page offers is opened in test_site.py: one of each kind.
SERVED = (PAGES[0], calling("explore")[-1], "exercises/hardware.html", "chapters/hardware_tables.html", "search.html")


@pytest.mark.parametrize("name", SERVED)
def test_it_opens_over_http(page, served, name, tmp_path):
    found = []
    page.on("response", lambda answer: found.append((answer.status, answer.url)))
    page.open(name, theme="dark", width=390, base=served)
    page.wait_for_load_state("networkidle")
    assert page.errors == []
    assert page.outside == []
    assert [(status, url) for status, url in found if status >= 400] == []
    if name != "search.html":
        offers_its_notebook_and_the_package(page, tmp_path)


def offers_its_notebook_and_the_package(page, folder):
    with page.expect_download() as notebook:
        page.click(".bar a[download]")
    read = nbformat.read(notebook.value.path(), as_version=4)
    nbformat.validate(read)
    title = page.evaluate("() => document.querySelector('h1').firstChild.textContent")
    assert read.cells[0].source.startswith(f"# {title.strip()}")
    with page.expect_download() as wheel:
        page.click("footer a[download]")
    path = folder / wheel.value.suggested_filename
    wheel.value.save_as(path)
    assert path.suffix == ".whl"
    assert {"gpuscale/__init__.py", "gpuscale_exercises/__init__.py"} <= set(zipfile.ZipFile(path).namelist())


def test_the_site_opens_at_the_first_page(page, served, site):
    for base in (site.as_uri(), served):
        page.goto(f"{base}/index.html")
        page.wait_for_url(f"{base}/{PAGES[0]}")
    assert [said for said in page.errors if "ERR_ABORTED" not in said] == []  # the icon of the page that is left


# With the longest formulas, in text, in tables and in cards, the widest links to the next page, rows that are no table,
# long names of sliders, and figures on a stage
LARGE = (
    *("continuous_batching", "measured_serving", "pipeline_parallelism", "score", "beyond_the_node", "overlap"),
    *("putting_it_together", "expert_parallelism", "inside_a_gpu", "planner"),
)
SCROLLED = ("chapters/pipeline_parallelism.html", "chapters/expert_parallelism.html")  # some formula is too wide
SCROLLING = """() => [...document.querySelectorAll('.equation, div.math')]
  .filter((el) => el.scrollWidth > el.clientWidth).map((el) => getComputedStyle(el).overflowX)"""


@pytest.mark.parametrize("name", [f"chapters/{name}.html" for name in LARGE])
def test_text_of_twice_the_size_widens_no_page(tab, name):
    """A formula that is wider than its column then scrolls in its own box, and nothing sticks out of a card."""
    page = tab(name)
    large = page.add_style_tag(content="html { font-size: 200%; }")
    page.evaluate(probe("unfold"))
    scrolling, problems = [], []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(SETTLE)
        found = page.evaluate(probe("overflow"))
        if width == 390:
            found += page.evaluate(probe("cut"), True) + page.evaluate(probe("sticking"))
        problems += [f"{width} px: {what}" for what in found]
        scrolling += page.evaluate(SCROLLING)
    page.evaluate("() => window.foldBack()")
    large.evaluate("(el) => el.remove()")
    assert not problems, said(problems)
    assert set(scrolling) <= {"auto"} and (scrolling or name not in SCROLLED)


def test_wide_tables_are_whole_on_a_desk(tab):
    """The hardware tables use the margin, and the heads of their columns wrap."""
    boxes = "(all) => all.filter((el) => el.scrollWidth > el.clientWidth).map((el) => el.ariaLabel)"
    assert tab("chapters/hardware_tables.html").eval_on_selector_all(".scroll", boxes) == []


# What moves after the first paint, and how far, as browsers add it up.
SHIFTS = """
  window.shift = 0;
  const add = (all) => all.getEntries().forEach((one) => { window.shift += one.value; });
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
"""
OPENINGS = ("all_to_all", "tensor_parallelism", "welcome")
OPENED = [(f"exercises/{name}", width) for name in ("across_the_hierarchy", "hardware") for width in (1280, 390)]
OPENED += [*((f"chapters/{name}", 1280) for name in OPENINGS), ("chapters/formula_index", 390)]


@pytest.mark.parametrize(("name", "width"), OPENED)
def test_nothing_moves_when_scripts_come_late(page, name, width):
    """A sheet appears when its cards are drawn, and the font of an opening is there before its lines are set."""
    page.add_init_script(SHIFTS)
    page.route("**/_static/*.js*", lambda route: (time.sleep(0.2), route.continue_()))
    page.open(f"{name}.html", width=width)
    page.evaluate(SETTLE)
    assert page.evaluate("() => window.shift") < 0.02


@pytest.mark.parametrize("width", [1280, 820, 390])
def test_the_sections_of_a_page_are_always_at_hand(page, width):
    """In the contents, which never scroll away on a desk and are a drawer elsewhere; the section that one reads is
    marked."""
    page.open("chapters/roofline.html", width=width)
    page.evaluate("() => document.getElementById('the-critical-batch-size').scrollIntoView()")
    page.wait_for_function("() => document.querySelector('.here [aria-current]')?.hash === '#the-critical-batch-size'")
    links = page.locator(".toc .here a")
    if width < 1000:
        page.click(".primary-toggle")
    seen = "(link) => { const r = link.getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; }"
    assert links.first.evaluate(seen) and links.filter(has_text="Take-aways").evaluate(seen)
    links.filter(has_text="Take-aways").click()
    page.wait_for_url("**#take-aways")
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("() => Math.abs(document.getElementById('take-aways').getBoundingClientRect().top) < 100")


def test_the_theme_is_chosen_and_kept(page):
    page.open(PAGES[1])
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    seen = {}
    for _ in range(3):
        page.click(".theme-switch-button")
        theme = page.evaluate("() => document.documentElement.dataset.theme")
        seen[page.evaluate("() => document.documentElement.dataset.mode")] = (theme, page.evaluate(ground))
    assert set(seen) == {"auto", "light", "dark"}
    assert seen["dark"][0] == "dark" and seen["light"][0] == "light" == seen["auto"][0]
    assert seen["dark"][1] != seen["light"][1]
    choose_dark(page)
    page.reload()
    if page.evaluate(ground) != seen["dark"][1]:  # once in hundreds of times Chromium, without a disk here, drops all
        choose_dark(page)  # that a page has stored; a page that stores nothing fails below
    until(page, lambda: page.reload() and page.evaluate(ground) == seen["dark"][1])  # storage may lag behind a reload
    page.open(PAGES[2])
    assert page.evaluate(ground) == seen["dark"][1]


def choose_dark(page):
    while page.evaluate("() => document.documentElement.dataset.mode") != "dark":
        page.click(".theme-switch-button")


def test_a_page_that_is_opened_stores_no_theme(page):
    """What another tab has chosen in the meantime is not overwritten."""
    page.open(PAGES[1])
    assert page.evaluate("() => localStorage.getItem('mode')") is None


def test_on_a_phone_the_contents_open_and_close(page):
    page.open("chapters/inside_a_gpu.html", width=390)
    contents = page.locator("dialog.toc")
    assert not contents.is_visible()
    page.click(".primary-toggle")
    contents.wait_for(state="visible")
    assert contents.locator("a[href]").count() >= len(PAGES)
    page.keyboard.press("Escape")
    contents.wait_for(state="hidden")
    page.click(".primary-toggle")
    contents.locator("nav a", has_text=re.compile("roofline", re.I)).first.click()
    page.wait_for_url("**/roofline.html")
    assert page.errors == []


def test_the_keyboard_skips_to_the_text_and_sees_where_it_is(page):
    page.open(PAGES[1])
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('main') !== null")
    assert page.evaluate(RING)


# --- without a script ---


@pytest.fixture(scope="session")
def scriptless(visiting):
    with visiting(java_script_enabled=False) as page:
        yield page


# On a phone; what stands in a drawing and in its table is the same on a desk, and what is shown there follows from the
# style alone: a page with figures of each kind stands for all.
UNSCRIPTED = [(name, 390) for name in WHOLE] + [(calling("explore")[0], 1280), (calling("ring_stage")[0], 1280)]


@pytest.mark.parametrize(("name", "width"), UNSCRIPTED)
def test_without_a_script_everything_can_be_read(scriptless, site, name, width):
    scriptless.set_viewport_size({"width": width, "height": 900})
    scriptless.goto(f"{site.as_uri()}/{name}")
    scriptless.evaluate(PROBES.read_text(encoding="utf-8"))  # no script of ours runs either, unless it is asked for
    assert scriptless.evaluate(probe("still")) == [] == scriptless.evaluate(probe("raw"))
    assert scriptless.evaluate(probe("overflow")) == []


def test_without_a_script_a_sheet_has_its_questions_and_open_solutions(site):
    """What the browser lays out on the sheets of ``WHOLE`` is in the source of each."""
    problems = []
    for name in SHEETS:
        source = (site / name).read_text(encoding="utf-8")
        cards = re.findall(r'<form [^>]*data-gpuscale="quiz"[^>]*>(.*?)</form>', source, re.DOTALL)
        assert cards and len(cards) == source.count('data-gpuscale="quiz"'), name
        for card in cards:
            asked = re.match(r'<div class="fallback"><p class="prompt"><b>[^<]+</b> \S', card)
            if not asked or set(re.findall(r'<details class="solution"([^>]*)>', card)) - {" open"}:
                problems.append(f"{name}: {card[:120]}")
    assert not problems, said(problems)
