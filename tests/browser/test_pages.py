"""Every page of the site in a browser: it opens cleanly, fits every screen, and says what it holds without help."""

import re
import zipfile

import nbformat
import pytest
from bookpages import PAGES

WIDTHS = (1280, 390, 320)

# Elements that stick out of the page and are in no box that scrolls: what makes a page scroll sideways.
OVERFLOW = """(slack = 0) => {
  const root = document.documentElement, wide = root.clientWidth, out = [];
  if (document.scrollingElement.scrollWidth <= wide + slack) return out;
  for (const el of document.body.querySelectorAll('*')) {
    if (el.getBoundingClientRect().right <= wide + 1) continue;
    let box = el.parentElement;
    while (box && box !== document.body && getComputedStyle(box).overflowX === 'visible') box = box.parentElement;
    if (!box || box === document.body) out.push(`${el.tagName}.${el.getAttribute('class')} #${el.closest('[id]')?.id}`);
  }
  return [`scrolls to ${document.scrollingElement.scrollWidth}`, ...out.slice(0, 4)];
}"""
# A picture has a text, or is hidden from who cannot see it, or stands in a control that has a name.
WORDLESS = """() => [...document.querySelectorAll('img, svg')].filter((el) => {
  if (el.closest('[aria-hidden=true], [hidden], noscript')) return false;
  if (el.matches('img')) return !el.getAttribute('alt')?.trim();
  const named = el.getAttribute('aria-label') || el.querySelector(':scope > title')?.textContent;
  const control = el.closest('button, a');
  return !(named?.trim() && (control || el.getAttribute('role') === 'img')) && !control?.ariaLabel;
}).map((el) => el.outerHTML.slice(0, 120))"""
TWICE = """() => {
  const ids = [...document.querySelectorAll('[id]')].map((el) => el.id);
  return [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))];
}"""
HEADINGS = "() => [...document.querySelectorAll('h1')].filter((h) => h.checkVisibility()).map((h) => h.innerText)"


def test_the_pages_are_those_of_the_contents(site):
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert found == {*PAGES, "index.html", "search.html"}


@pytest.fixture(scope="module", params=[*PAGES, "search.html"])
def opened(request, tab):
    """A tab on each page in turn, opened from its file."""
    return tab(request.param)


def test_it_opens_without_errors_and_asks_no_other_machine(opened):
    opened.wait_for_load_state("networkidle")
    assert opened.errors == []
    assert opened.outside == []


def test_it_fits_every_screen(opened):
    problems = []
    for theme in ("light", "dark"):
        opened.emulate_media(color_scheme=theme)
        for width in WIDTHS:
            opened.set_viewport_size({"width": width, "height": 900})
            opened.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            problems += [f"{theme}, {width} px: {what}" for what in opened.evaluate(OVERFLOW)]
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)


def test_it_has_one_title_single_ids_and_words_for_pictures(opened):
    headings = opened.evaluate(HEADINGS)
    assert len(headings) == 1 and headings[0].strip()
    assert opened.evaluate(TWICE) == []
    assert opened.evaluate(WORDLESS) == []
    assert opened.evaluate("() => document.documentElement.lang") == "en"


def test_mathematics_is_typeset(opened):
    raw = "() => [...document.querySelectorAll('.math')].filter((el) => el.checkVisibility() && "
    raw += "!el.querySelector('mjx-container')).map((el) => el.textContent.slice(0, 60))"
    assert opened.evaluate(raw) == []
    assert opened.evaluate("() => document.querySelectorAll('mjx-merror').length") == 0


@pytest.mark.parametrize("name", [*PAGES, "search.html"])
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
    assert page.errors == []


@pytest.mark.parametrize("base", ["file", "http"])
def test_search_finds_a_chapter(page, served, site, base):
    address = served if base == "http" else site.as_uri()
    page.open(PAGES[1], base=address)
    page.fill(".toc form.bd-search input[name=q]", "roofline")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    page.click("#search-results li a[href*='chapters/roofline.html']")
    page.wait_for_url("**/chapters/roofline.html*")
    assert page.locator("article h1").count() == 1
    page.open("search.html?q=zxqvzxqv", base=address)
    page.wait_for_function("() => document.querySelector('#search-results p')?.textContent.length > 20")
    assert page.locator("#search-results li").count() == 0
    assert page.errors == []


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
    while page.evaluate("() => document.documentElement.dataset.mode") != "dark":
        page.click(".theme-switch-button")
    page.open(PAGES[2])
    assert page.evaluate(ground) == seen["dark"][1]


def test_on_a_phone_the_contents_open_and_close(page):
    page.open(PAGES[1], width=390)
    contents = page.locator("dialog#pst-primary-sidebar-modal")
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
    ring = "() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' || s.boxShadow !== 'none'; }"
    assert page.evaluate("() => document.activeElement.closest('main') !== null")
    assert page.evaluate(ring)


# --- without a script, and on paper ---

STILL = """() => {
  const seen = (el) => !!el && el.checkVisibility() && el.getBoundingClientRect().height > 0, out = [];
  for (const el of document.querySelectorAll('[data-gpuscale=live]')) {
    const pictures = [...el.querySelectorAll('.fallback svg')].filter(seen);
    if (pictures.length !== 1) out.push(`${el.id}: ${pictures.length} pictures`);
    if (!pictures[0]?.querySelector('path')) out.push(`${el.id}: no curve`);
    if (!seen(el.querySelector('.fallback table td'))) out.push(`${el.id}: no table`);
  }
  for (const el of document.querySelectorAll('[data-gpuscale=stepper]')) {
    if (!seen(el.querySelector('table td'))) out.push(`${el.id}: no table`);
  }
  for (const el of document.querySelectorAll('[data-gpuscale=quiz]')) {
    if (!seen(el.querySelector('.fallback .prompt'))) out.push(`${el.id}: no question`);
    for (const d of el.querySelectorAll('.solution')) if (!d.open || !seen(d.lastElementChild)) out.push(`${el.id}: folded`);
  }
  return out;
}"""

@pytest.mark.parametrize("name", PAGES)
def test_without_a_script_everything_can_be_read(visiting, site, name):
    if "data-gpuscale" not in (site / name).read_text(encoding="utf-8"):
        pytest.skip("nothing on this page needs a script")
    with visiting(java_script_enabled=False, viewport={"width": 1280, "height": 900}) as page:
        page.goto(f"{site.as_uri()}/{name}")
        assert page.evaluate(STILL) == []
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate(STILL) == []
        assert page.evaluate(OVERFLOW) == []


PAPER = """() => {
  const seen = (el) => el.checkVisibility() && el.getBoundingClientRect().width > 0, out = [];
  for (const el of document.querySelectorAll('.card, .still')) {
    const name = el.id || el.className;
    if (!seen(el)) out.push(`${name}: not on paper`);
    for (const svg of [...el.querySelectorAll('svg')].filter(seen)) {
      const at = svg.getBoundingClientRect();
      for (let box = svg.parentElement; box && box !== document.body; box = box.parentElement) {
        const b = box.getBoundingClientRect();
        if (getComputedStyle(box).overflowX !== 'visible' && (at.right > b.right + 1 || at.left < b.left - 1)) out.push(`${name}: clipped`);
      }
      if (at.right > document.documentElement.clientWidth + 1) out.push(`${name}: wider than the paper`);
    }
  }
  for (const el of document.querySelectorAll('[data-gpuscale=live]')) {
    const n = [...el.querySelectorAll('svg')].filter(seen).length;
    if (n !== 1) out.push(`${el.id}: ${n} pictures`);
    if (!seen(el.querySelector('.fallback td'))) out.push(`${el.id}: no numbers`);
  }
  for (const el of document.querySelectorAll('.quiz .solution')) {
    if (!el.open || !seen(el.lastElementChild)) out.push(`${el.closest('.quiz').id}: solution folded`);
  }
  for (const el of document.querySelectorAll('.player, .answer, .btn, .toc, .bar')) if (seen(el)) out.push(`a control is printed: ${el.className}`);
  return out;
}"""


def test_on_paper_figures_are_whole_and_solutions_open(tab):
    problems = []
    for name in PAGES:
        page = tab(name)
        page.set_viewport_size({"width": 680, "height": 1000})  # A4 within its margins
        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        problems += [f"{name}: {what}" for what in page.evaluate(PAPER) + page.evaluate(OVERFLOW, 1)]
        page.emulate_media(media="screen")
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert not problems, "\n".join(problems)


def test_a_chapter_prints(page):
    page.open(PAGES[1])
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", paper)) > 3
    assert page.evaluate("() => [...document.querySelectorAll('details')].every((d) => d.open)")
