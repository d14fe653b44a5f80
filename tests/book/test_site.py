"""The built site as files: complete, self-contained and light. What needs a browser is tested in one."""

import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from gpuscale.book import contents, mathematics, prune, sphinx_ext, weight
from gpuscale.book.linking import hold
from gpuscale.book.served import PAGE_FILES, PRACTICE_FILES, SEARCH_FILES, served
from gpuscale.core.html import script_json


@pytest.fixture(scope="module")
def pages(site):
    """Each page of the site, read."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    return {name: BeautifulSoup(path.read_bytes(), "html.parser") for name, path in found.items()}


@pytest.fixture(scope="module")
def chapters(pages):
    return {name: page for name, page in pages.items() if "/" in name}


def test_the_first_page_is_the_welcome_page(site, pages):
    refresh = pages["index.html"].find("meta", {"http-equiv": "refresh"})["content"]
    assert (site / refresh.split("url=")[1]).is_file()


def test_pages_load_nothing_from_elsewhere(pages):
    for name, page in pages.items():
        loaded = [tag["href"] for tag in page.find_all("link") if "canonical" not in tag.get("rel", [])]
        loaded += [tag["src"] for tag in page.find_all(src=True)]
        assert [url for url in loaded if re.match(r"(https?:)?//", url)] == [], name


def test_styles_and_scripts_name_no_other_host(site):
    for path in [*site.rglob("*.css"), *site.glob("_static/*.js")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""(@import|url\()\s*["']?(https?:)?//""", text), path


def test_our_own_files_are_the_ones_that_are_weighed(site):
    for name, text in served(Path(__file__).resolve().parents[2]).items():
        assert (site / "_static" / name).read_text(encoding="utf-8") == text, name


# What a page may weigh more, in kB, where it loads one of these scripts and its styles.
EXTRA = {
    "stage.js": 30,
    "ring.js": 12,
    "race.js": 10,
    "fabric.js": 26,
    "filter.js": 5,
    "scores.js": 5,
    "pipeline.js": 16,
    "layer.js": 13,
    "bytes.js": 15,
    "sms.js": 15,
    "powers.js": 11,
    "overview.js": 14,
    "planner.js": 30,
    "journey.js": 13,
    "steps.js": 6,
    "decode.js": 15,
    "scheduler.js": 20,
    "serve.js": 29,
}


def test_pages_load_of_ours_what_they_need_and_no_more(site, pages):
    """The stage and each figure come with the pages that hold one, the filters with the formula index and the
    ledger; all stay light. Mathematics is 1.6 kB of it, and a font. A search loads its files when it begins, and what
    only paper needs comes last: its style holds the font again, which is 35 kB of it."""
    for name, page in pages.items():
        if name == "index.html":
            continue
        tags = [*page.head.find_all("script", src=True), *page.head.find_all("link", rel="stylesheet")]
        ours = {Path((tag.get("src") or tag["href"]).split("?")[0]).name for tag in tags} & set(weight.OURS)
        marks = {f'{key}="{value}"' for tag in page.find_all(True) for key, value in tag.attrs.items()}
        marks |= {f'class="{" ".join(tag["class"])}"' for tag in page.find_all(class_=True)}
        needed = [file for mark, files in PAGE_FILES.items() if mark in marks for file in files]
        assert ours == {"gpuscale.js", "gpuscale.css", "book.css", *needed}, name
        weighs = weight.weigh(site / name, site)
        assert weighs["own"] < 66_200 + sum(1000 * kB for file, kB in EXTRA.items() if file in needed), name
        assert 0 < weighs["paper"] < 40_000, name
        assert weighs["font"] < 27_000, name
    for files, limit in ((SEARCH_FILES, 9_000), (PRACTICE_FILES, 6_500)):  # when someone searches, or practises
        assert sum((site / "_static" / name).stat().st_size for name in files) < limit


def test_every_link_leads_somewhere(site, pages):
    ids = {name: {tag["id"] for tag in page.find_all(id=True)} for name, page in pages.items()}
    broken = []
    for name, page in pages.items():
        for tag in page.find_all(href=True):
            url, anchor = urldefrag(tag["href"])
            if re.match(r"[a-z]+:", url):
                continue
            path = (site / name).parent / unquote(url.split("?")[0]) if url else site / name
            target = path.resolve()
            known = ids.get(target.relative_to(site.resolve()).as_posix()) if target.is_file() else None
            if not target.is_file() or (anchor and known is not None and unquote(anchor) not in known):
                broken.append(f"{name}: {tag['href']}")
    assert broken == []


def test_every_page_offers_its_notebook(site, chapters):
    for name, page in chapters.items():
        link = page.select_one(".bar a[download]")
        path = ((site / name).parent / link["href"]).resolve()
        assert path.name == name.rsplit("/", 1)[1].replace(".html", ".ipynb")
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        title = page.select_one("h1").find(string=True).strip()
        assert notebook.cells[0].source.startswith(f"# {title}"), name


def test_every_page_asks_the_questions_of_its_sets(site, chapters):
    """Cards are tried one by one on the sheets; where a chapter has them too, they are the same."""
    from gpuscale import quiz

    asked = 0
    for name, page in chapters.items():
        notebook = json.loads((site / "_sources" / name.replace(".html", ".ipynb")).read_text(encoding="utf-8"))
        code = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
        for one in re.findall(r'^quiz\("(\w+)"\)', code, re.M):
            for item in quiz.load_set(one):
                form = page.find("form", id=f"q-{one}-{item.number}")
                there = BeautifulSoup(hold(mathematics.typeset(script_json(item.spec))), "html.parser").script
                here = form.select_one("script[type$=json]").string
                assert here == there.string
                asked += 1
    assert asked > 50


def test_the_set_up_opens_with_the_first_code_that_shows_something(chapters):
    for name, page in chapters.items():
        for cell in page.find_all("div", class_="tag_hide-input"):
            if cell.parent.parent.name != "article":
                continue  # not in the opening
            assert cell.select_one(".cell_output"), name
    code = chapters["chapters/roofline.html"].select_one(".cell_input").text
    assert "from gpuscale.notebook import *" in code and ".matches(ridge_point)" in code


def test_every_page_offers_the_wheel(site, chapters):
    wheels = {
        ((site / name).parent / page.find_all("footer")[-1].find("a", download=True)["href"]).resolve()
        for name, page in chapters.items()
    }
    for wheel in wheels:
        names = set(zipfile.ZipFile(wheel).namelist())
        assert {"gpuscale/__init__.py", "gpuscale_exercises/__init__.py"} <= names
    for name, page in chapters.items():
        assert not page.find_all("a", class_="wheel", href="#"), name


def test_every_page_opens_with_its_question(chapters):
    for name, page in chapters.items():
        title = page.select_one("article h1")
        assert title.find_next_sibling().get("class", [])[:2] == ["lead", "ask"], name


def test_microseconds_are_spelled_in_one_way(chapters):
    """µs, wherever a page tells a time; us is what a reader types, in code and in the examples of an answer."""
    for name, page in chapters.items():
        for told in page.article.find_all(string=re.compile(r"\d\sus\b")):
            assert told.find_parent(["code", "pre", "script"]) or "such as" in told, (name, told)
        for cell in page.article.find_all(attrs={"data-printed": True}):
            assert not re.search(r"\d\sus\b", cell["data-printed"]), (name, cell["data-printed"])


def test_every_chapter_links_terms_to_the_glossary(chapters):
    """Those that teach no term, too. On pages without prose there is nothing to link."""
    prose = {name: page for name, page in chapters.items() if name.startswith("chapters/")}
    unlinked = {name for name, page in prose.items() if not page.select_one("article a[href^='glossary.html#term-']")}
    lists = ("bibliography", "formula_index", "glossary", "published_numbers", "score")
    assert unlinked == {f"chapters/{name}.html" for name in lists}


def test_ids_are_unique_and_headings_in_order(chapters):
    for name, page in chapters.items():
        ids = Counter(tag["id"] for tag in page.find_all(id=True))
        assert {i for i, count in ids.items() if count > 1} == set(), name
        levels = [int(tag.name[1]) for tag in page.article.find_all(["h1", "h2", "h3", "h4"])]
        assert levels[0] == 1 and levels.count(1) == 1, name
        assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False)), name


def test_a_page_with_margin_notes_says_so(chapters):
    """By a class: where a style looks for them itself, a browser does so each time that a figure changes."""
    for name, page in chapters.items():
        assert bool(page.select("aside.margin")) == ("noted" in page.article.get("class", [])), name


def test_folded_code_stands_below_what_it_shows(pages):
    """So a page that is still coming does not move it, and the keyboard reaches it in the order of the eye."""
    cells = [cell for page in pages.values() for cell in page.find_all("div", class_="tag_hide-input")]
    folds = [cell.find_all(recursive=False)[-1] for cell in cells]
    assert len(folds) > 200 and all(fold.name == "details" and "hide" in fold["class"] for fold in folds)
    assert not [cell for cell in cells if cell.select(":scope > .cell_input")]


def test_what_no_page_needs_is_not_there(site, pages):
    """A page has 231 kB on average with its notebook, 13 kB of them mathematics, and 27 kB in the indexes of words
    and questions, which a search and a review load; what all share has 1.86 MB, with the library and its runs."""
    size = {path.relative_to(site): path.stat().st_size for path in site.rglob("*") if path.is_file()}
    own = sum(weighs for path, weighs in size.items() if path.suffix in (".html", ".ipynb"))
    index = size[Path("_static/search-data.js")] + size[Path("_static/taught.js")]
    previews = sum(weighs for path, weighs in size.items() if "previews" in path.parts)  # what links to pages show
    assert own < 231_000 * len(pages)
    assert index < 27_000 * len(pages)
    assert sum(size.values()) - own - index - previews < 1_860_000
    assert not list(site.glob("_downloads/**/*.ipynb"))  # they are among the sources
    assert not list(site.rglob("*.map")) and not list(site.rglob("fontawesome*"))
    for name, page in pages.items():
        assert not page.find("script", type=re.compile("widget")), name


def test_pruning_keeps_what_pages_reach(tmp_path):
    files = {
        "index.html": '<a href="a/b.html#x">b</a><link href="s.css?v=1"><a href="https://elsewhere.test/">e</a>',
        "a/b.html": '<img src="../_static/i.svg"><a href="../_downloads/1/c.ipynb">c</a><script src="../../o.js">',
        "s.css": "p { background: url('_static/i.png') }",
        "_static/i.svg": "<svg/>",
        "_static/i.png": "x",
        "_static/unused/deep.js": "x" * 90,
        "_sources/a/c.ipynb": '{"cells": 1}',
        "_downloads/1/c.ipynb": '{"cells": 1}',
        "objects.inv": "x",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    removed, kept = prune.prune(tmp_path)
    assert removed == 102 and '"../_sources/a/c.ipynb"' in (tmp_path / "a" / "b.html").read_text()
    assert kept == sum(map(len, files.values())) - 102 - len("_downloads/1") + len("_sources/a")
    assert not (tmp_path / "_static" / "unused").exists() and not (tmp_path / "_downloads").exists()


def test_the_contents_fold_all_parts_but_that_of_the_page():
    names = {"root": "", "alone": "", "a": "I. One GPU", "b": "II. The network", "c": "II. The network", "q": "Quizzes"}
    app = SimpleNamespace(
        config=SimpleNamespace(root_doc="root"),
        env=SimpleNamespace(titles={name: nodes.title("", "", nodes.Text(f"On {name} & more")) for name in names}),
        gpuscale_pages=[contents.Page(name, part, "") for name, part in names.items()],
    )

    def folded(page):
        pathto = lambda name: "#" if name == page else f"{name}.html"  # noqa: E731
        return sphinx_ext.fold(app, page, pathto, "<nav>a section</nav>")

    opened = r'<details class="part" open><summary class="caption">([^<]+)'
    assert re.findall(opened, folded("c")) == ["II. The network"]
    assert re.findall(opened, folded("root")) == ["I. One GPU", "II. The network"]
    assert folded("c").count("<details") == 3 and folded("c").count("<ul") == 4
    assert '<a class="current reference internal" href="#">On c &amp; more</a><nav>a section</nav></li>' in folded("c")
    assert '<a class="reference internal" href="b.html">On b &amp; more</a></li>' in folded("c")
    assert "a section" not in folded("root")


def test_every_page_folds_its_contents(site, chapters):
    parts = (Path(__file__).parents[2] / "_toc.yml").read_text(encoding="utf-8").count("- caption:")
    for name, page in chapters.items():
        folded = page.select(".toc details.part")
        assert len(folded) == parts, name
        assert [part.summary.text for part in folded if part.select(".current")] == [
            part.summary.text for part in folded if part.has_attr("open")
        ] or name == "chapters/welcome.html", name
