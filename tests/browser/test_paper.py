"""The book on paper: what a page prints, on how many sheets, and the whole book as one PDF."""

import functools
import io
import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pypdf
import pytest
from browser.bookpages import PAGES, WHOLE, probe, said

from conftest import ROOT
from gpuscale.book import contents, paper

MM = 72 / 25.4
SHEETS = {"A4": (210, 297), "Letter": (216, 279)}
BETWEEN = {"A4": 665, "Letter": 687}  # CSS pixels between the margins
# At most so many sheets; a chapter of version 0.1.0 took 30.
MOST = {
    "chapters/rings_and_trees.html": 16,
    "chapters/pipeline_parallelism.html": 18,
    "chapters/memory_hierarchy.html": 16,
    "exercises/rings_and_trees.html": 4,
    "exercises/hardware.html": 6,
    "chapters/formula_index.html": 71,
}


@contextmanager
def printing(page, size: str = "A4"):
    """The page as it is laid out for paper; whoever asks for the tab again has it on the screen."""
    page.set_viewport_size({"width": BETWEEN[size], "height": 1000})
    page.emulate_media(media="print", color_scheme="light")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    yield
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")


@functools.cache
def sheets(tab, name: str, size: str = "A4") -> list:
    """What a page prints."""
    page = tab(name)
    page.emulate_media(media="print")
    data = page.pdf(format=size, prefer_css_page_size=True)
    page.emulate_media(media="screen")
    return list(pypdf.PdfReader(io.BytesIO(data)).pages)


@functools.cache
def read(tab, name: str, size: str = "A4") -> list[tuple[str, float]]:
    """The words of each sheet, and how far they reach down, from 0 to 1, without the number of the sheet."""
    out = []
    for sheet in sheets(tab, name, size):
        height, found = float(sheet.mediabox.height), []

        def visit(text, current, matrix, font, size, height=height, found=found):
            y = pypdf.mult(matrix, current)[5]
            if text.strip() and 17 * MM < y < height:
                found.append(y)

        out.append((sheet.extract_text(visitor_text=visit), 1 - min(found, default=height) / height))
    return out


@pytest.mark.parametrize("name", [name for name in PAGES if name in {*WHOLE, *MOST}])
def test_nothing_is_cut_and_solutions_come_last(tab, name):
    opened = tab(name, as_left=True)
    count = opened.locator(".quiz .solution").count()
    problems = []
    for size in SHEETS if name in MOST else ("A4",):  # the narrower one
        with printing(opened, size):
            problems += opened.evaluate(probe("paper")) + opened.evaluate(probe("overflow"), 1)
            problems += opened.evaluate(probe("cut")) + opened.evaluate(probe("unsolved"), count)
    assert not problems, said(problems)
    assert opened.locator(".quiz .solution").count() == count  # they are back under their questions


@pytest.mark.parametrize("name", MOST)
def test_it_prints_on_few_sheets(tab, name):
    """Of either size: the style leaves that to the printer, so a chapter and a sheet are printed on both."""
    for size, (width, height) in list(SHEETS.items())[: 2 if "rings_and_trees" in name else 1]:
        printed = sheets(tab, name, size)
        assert len(printed) <= MOST[name] * (1.15 if size == "Letter" else 1), size
        for sheet in printed:
            box = float(sheet.mediabox.width), float(sheet.mediabox.height)
            assert box == pytest.approx((width * MM, height * MM), abs=2), size


@pytest.mark.parametrize("name", list(MOST)[:4])
def test_its_sheets_are_full_numbered_and_titled(tab, name):
    """No sheet but the last is less than three fifths full; each has its number and the title of the page."""
    title = tab(name).evaluate("() => document.querySelector('h1').firstChild.textContent")
    *found, (last, _) = read(tab, name)
    for number, words in enumerate([*(words for words, _ in found), last], 1):
        assert re.search(rf"(^|\n){number}(\n|$)", words), number
        assert words.count(title) >= 1, number
    assert [number for number, (_, low) in enumerate(found, 1) if low < 0.6] == []


@pytest.mark.parametrize("size", SHEETS)
@pytest.mark.parametrize("name", ["planner", "serving_planner"])
def test_the_card_of_a_planner_is_on_one_sheet(tab, name, size):
    """From its title to the end of its caption."""
    (first, _), *_ = read(tab, f"chapters/{name}.html", size)
    end = tab(f"chapters/{name}.html").locator(".stage figcaption").inner_text()[-30:]
    assert "".join(end.split()) in "".join(first.split())


def test_what_is_folded_is_open_on_paper_alone(page):
    page.open(PAGES[1])
    folded = "() => [...document.querySelectorAll('details')].map((d) => !d.open)"
    before = page.evaluate(folded)
    page.evaluate(f"() => addEventListener('beforeprint', () => {{ window.folded = ({folded})(); }})")
    page.pdf(format="A4")
    assert any(before) and not any(page.evaluate("() => window.folded")) and page.evaluate(folded) == before


def test_formulas_are_printed_from_a_file(page):
    """When the style of paper comes with the command to print, and the page lies on a disk: their signs are on it. When
    someone prints it again, or another page, they are there again."""
    for name in ("chapters/rings_and_trees", "chapters/rings_and_trees", "exercises/rings_and_trees"):
        if name not in page.url:
            page.open(f"{name}.html")
        printed = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4", prefer_css_page_size=True))).pages
        words = "".join(sheet.extract_text() for sheet in printed)
        most = 50 if name.startswith("chapters") else 8
        assert words.count("𝑉") > most and words.count("𝑁") > most, name


def test_figures_have_their_chapters_number(tab):
    """Chapter 7 of the contents; one number after the other, in the order of the page."""
    words = "".join(words for words, _ in read(tab, "chapters/rings_and_trees.html"))
    found = [int(n) for n in re.findall(r"Figure 7\.(\d+) ", words)]
    figures = tab("chapters/rings_and_trees.html").locator("figcaption").count()
    assert found == list(range(1, figures + 1)) and figures > 3


def test_a_link_to_another_site_is_followed_by_its_address(tab):
    """Once: not where the address is what is linked."""
    opened = tab("chapters/rings_and_trees.html")
    links = '<a class="there" href="https://elsewhere.test/paper">there</a>'
    links += ' <a class="here" href="#ring-all-gather">here</a>'
    opened.evaluate("(links) => document.querySelector('.lead').insertAdjacentHTML('beforeend', links)", links)
    address = "(el) => getComputedStyle(el, '::after').content"
    with printing(opened):
        assert "https://elsewhere.test/paper" in opened.locator(".lead .there").evaluate(address)
        assert opened.locator(".lead .here").evaluate(address) == "none"
    listed = tab("chapters/bibliography.html")
    with printing(listed):
        addresses = listed.locator("article a[href^=http]")
        after = addresses.evaluate_all("(links) => links.map((el) => getComputedStyle(el, '::after').content)")
        texts = addresses.all_inner_texts()
    assert len(texts) > 50
    assert [text for text, content in zip(texts, after, strict=True) if f"({text})" in content] == []


def test_the_cheat_sheet_prints_on_two_pages(tab):
    """One sheet of paper, printed on both sides."""
    assert len(sheets(tab, "chapters/cheat_sheet.html")) == 2


# --- the whole book, by three of its pages ---

SOME = ("chapters/rings_and_trees", "exercises/rings_and_trees", "chapters/bibliography")


@pytest.fixture(scope="module")
def book(visiting, site):
    pages = [page for page in contents.pages(ROOT) if page.name in SOME]
    with visiting() as tab:
        return pypdf.PdfReader(io.BytesIO(paper.make(tab.page, site, pages)))


def bookmarks(book) -> list[tuple[int, str, int]]:
    """Depth, title and sheet of each, in order."""

    def walk(items, depth):
        for item in items:
            if isinstance(item, list):
                yield from walk(item, depth + 1)
            else:
                yield depth, item.title, book.get_destination_page_number(item)

    return list(walk(book.outline, 0))


def test_bookmarks_lead_to_parts_pages_and_sections(book):
    found = bookmarks(book)
    tops = [title for depth, title, _ in found if depth == 0]
    assert tops == ["Contents", "III. Collectives", "Practice", "Appendices"]
    assert [t for d, t, _ in found if d == 1] == [
        "7 Ring and tree algorithms",
        "Practice: Ring and tree algorithms",
        "J Bibliography",
    ]
    assert {"Ring all-gather", "Take-aways", "Solutions"} <= {t for d, t, _ in found if d == 2}
    for depth, title, sheet in found:
        if depth:
            assert title.split(" ", 1)[-1] in book.pages[sheet].extract_text().replace("\n", " "), title


def test_the_contents_name_the_number_on_each_first_sheet(book):
    listed = book.pages[1].extract_text()
    firsts = [(title, sheet) for depth, title, sheet in bookmarks(book) if depth == 1]
    for title, sheet in firsts:
        number = book.page_labels[sheet]
        assert re.search(rf"{re.escape(title.split(' ', 1)[1])}\s*{number}\b", listed), (title, listed)
        assert re.search(rf"(^|\n){number}(\n|$)", book.pages[sheet].extract_text())
    assert book.page_labels[:3] == ["i", "ii", "1"]
    assert book.metadata.title in book.pages[0].extract_text()


def test_formulas_are_text_on_every_sheet(book):
    """Of each page, the first to be printed or not: their signs are in the PDF, and can be searched."""
    starts = {title: sheet for depth, title, sheet in bookmarks(book) if depth == 1}
    for start in list(starts.values())[:2]:
        words = "".join(book.pages[number].extract_text() for number in range(start, start + 9))
        assert "𝑉" in words and "𝑁" in words


def test_links_lead_to_sheets_of_the_book_or_to_other_sites(book):
    """From the contents to each page; from the chapter to the bibliography; none to a file of this machine."""
    at = {sheet.indirect_reference.idnum: number for number, sheet in enumerate(book.pages)}
    inside, outside = set(), set()
    for number, sheet in enumerate(book.pages):
        for link in (reference.get_object() for reference in sheet.get("/Annots", ())):
            if "/Dest" in link:
                inside.add((number, at[link["/Dest"][0].idnum]))
            else:
                outside.add(link["/A"]["/URI"])
    firsts = [sheet for depth, _, sheet in bookmarks(book) if depth == 1]
    assert {(1, sheet) for sheet in firsts} <= inside
    assert any(firsts[0] <= a < firsts[1] and b >= firsts[2] for a, b in inside)
    assert outside and all(url.startswith("https://") for url in outside)


@pytest.mark.parametrize(("lines", "sheets"), [(61, 1), (70, 2), (140, 3)])
def test_a_last_sheet_of_few_words_is_saved(visiting, tmp_path, lines, sheets):
    """By closer lines, where they suffice."""
    words = "<p style='margin: 0'>word</p>" * (lines - 1)
    style = "<style>body { margin: 0; font-size: 10pt; line-height: 1.42 } h1 { margin: 0; font: inherit }</style>"
    (tmp_path / "some.html").write_text(
        f"<!DOCTYPE html>{style}<article><h1>Title</h1>{words}</article>", encoding="utf-8"
    )
    with visiting() as tab, paper.served(tmp_path) as address:
        some = [contents.Page("some", "", "")]
        _, printed = paper.print_pages(tab.page, address, some, "A4", lambda line: None)
    assert len(printed.sheets) == sheets


@pytest.mark.parametrize("found", ["", "/nowhere/chromium"])
def test_without_a_browser_it_says_what_to_install(site, found, tmp_path):
    place = {"PATH": str(tmp_path), "CHROMIUM": found, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "gpuscale.book.paper"], cwd=ROOT, env=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and (found or "set CHROMIUM") in done.stderr
