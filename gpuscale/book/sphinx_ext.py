"""Sphinx extension of the book: runs the notebooks, sets mathematics, serves scripts and styles, offers the wheel,
prunes the site.

Everything a page loads comes from the site itself. What third-party packages bring along and no page loads
(the theme's own styles, fonts and icons) is removed once the pages are written.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import tomllib
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from docutils import nodes
from pydata_sphinx_theme import update_and_remove_templates
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_book_theme import hash_html_assets

from gpuscale.book import (
    citations,
    contents,
    formula_places,
    frames,
    mathematics,
    mathfont,
    prune,
    search_index,
    sharing,
    taught,
    wheel,
)
from gpuscale.book.linking import break_names, hold, link_terms, tie
from gpuscale.book.runs import Runs
from gpuscale.book.search_entries import of_site
from gpuscale.book.served import PAGE_FILES, PAPER, served
from gpuscale.core.html import escape

log = logging.getLogger(__name__)
# A table may be wider than a phone: it scrolls in its own box, which the keyboard must reach. An equation breaks; in a
# notebook it scrolls.
TABLE = '<div class="pst-scrollable-table-container">'
REGIONS = {
    '<div class="equation" tabindex="0" role="region"': '<div class="equation" role="group"',
    'role="doc-biblioentry"': 'role="listitem"',  # what a list may hold; the other role is deprecated
    ' aria-label="Toggle hidden content"': "",  # it would replace the visible words
    TABLE: '<div class="scroll" tabindex="0" role="group" aria-label="Table">',
}
LANDING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="icon" href="_static/logo.svg">
<meta http-equiv="refresh" content="0; url={first}"></head>
<body><main><h1>{title}</h1><p><a href="{first}">Open the book</a></p></main></body></html>
"""
STYLE = re.compile(r"<style>(?:(?!</style>).)*</style>", re.S)
HEAD = re.compile(r"<h[23]>([^<]+)<a class=\"headerlink")
NOTEBOOK = re.compile(r'href="((?:\.\./exercises/)?\w+)\.ipynb(#[^"]*)?"')  # a link of an HTML output to a page
# A link that is its own address, or the end of it, such as a DOI: paper does not repeat it.
ADDRESS = re.compile(r'(<a class="reference external)(" href="[^"]*?([^"]+)">\3</a>)')


def settle_config(app: Sphinx, config) -> None:
    """The version of the package is that of the book."""
    about = tomllib.loads((Path(app.confdir) / "pyproject.toml").read_text(encoding="utf-8"))
    config.version = config.release = about["project"]["version"]


def serve_assets(app: Sphinx) -> None:
    """Write our scripts and styles into a folder that Sphinx copies to _static; load on every page what all need."""
    if app.builder.format != "html":
        return
    folder = Path(app.doctreedir).parent / "assets"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("logo.svg", "icon.png"):
        shutil.copy(Path(app.confdir) / "assets" / name, folder)
    for name, text in served(Path(app.confdir)).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / mathfont.FILE).write_bytes(mathfont.served())
    app.config.html_static_path.append(str(folder))
    app.add_css_file("gpuscale.css", priority=800)
    app.add_css_file("book.css", priority=810)
    app.add_css_file(PAPER, priority=820, media="print")
    app.add_js_file("gpuscale.js", loading_method="defer", priority=800)
    app.builder.search = False  # Sphinx's own, which knows titles alone: ours is written at the end
    app.config.html_additional_pages |= {"search": "search.html", "404": "404.html"}
    app.gpuscale_pages = contents.pages(Path(app.confdir))
    app.gpuscale_previews = sharing.Previews(app.config.html_title, app.config.root_doc)


def leave_theme(app: Sphinx) -> None:
    """Leave out what the theme makes for each page and our templates do not show: its bars, to see whether they are
    empty, and the hashes of its files. It is more than half of writing a page."""
    for listener in list(app.events.listeners["html-page-context"]):
        if listener.handler in (update_and_remove_templates, hash_html_assets):
            app.disconnect(listener.id)


def begin_runs(app: Sphinx, env, docnames: list[str]) -> None:
    """Begin to run every notebook that is about to be read, in the order of reading."""
    paths = [Path(env.doc2path(name)) for name in docnames]
    app.gpuscale_runs = Runs([path for path in paths if path.suffix == ".ipynb"], app.config.nb_execution_timeout)


def put_run(app: Sphinx, docname: str, source: list[str]) -> None:
    """What Sphinx reads of a notebook is its run; one that fails is a warning, and so the end of a strict build."""
    path = Path(app.env.doc2path(docname))
    if path not in app.gpuscale_runs:
        return
    run = app.gpuscale_runs[path]
    source[0] = nbformat.writes(run.notebook)
    if not run.error:
        log.info("%s: ran in %.1f s", docname, run.seconds)
        return
    report = Path(app.outdir) / "reports" / f"{docname}.err.log"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(run.error, encoding="utf-8")
    lines = run.error.splitlines()
    reason = lines[0] if "timed out" in lines[0] else lines[-1]
    log.warning("the notebook does not run: %s", reason, location=docname)


def mark_parts(app: Sphinx, doctree: nodes.document) -> None:
    """Name the parts that every chapter has by their place, so that authors write plain Markdown.

    Above the first section: the question and the answer (`lead`, the first one `ask`) and the list of
    "You will" (`will`). The definition list under "Where this breaks" is `breaks`.
    """
    top = next(doctree.findall(nodes.section), None)
    if top is None:
        return
    paragraphs = [node for node in top.children if isinstance(node, nodes.paragraph)]
    for number, node in enumerate(paragraphs):
        node["classes"] += ["lead", "ask"] if number == 0 else ["lead"]
    for node in top.children:
        if isinstance(node, nodes.bullet_list):
            node["classes"].append("will")
    for section in doctree.findall(nodes.section):
        if section.next_node(nodes.title).astext().lower() == "where this breaks":
            for node in section.findall(nodes.definition_list):
                node["classes"].append("breaks")
    setup = []
    for cell in [node for node in doctree.findall(nodes.container) if "cell" in node["classes"]]:
        mark_cell(cell)
        if "tag_hide-input" not in cell["classes"]:
            continue
        if cell.parent is top and len(cell.children) == 1:
            top.remove(cell)  # the set-up, which shows nothing: it opens with the first code that shows something
            setup += cell.children[0].children
            continue
        if setup:
            cell.children[0].insert(0, setup)
            setup = []


def put_code_last(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Folded code comes after what it shows, also while a page is still coming. By now it is folded (by myst_nb). Code
    that shows nothing belongs to what the next cell shows: it comes after that, or into its fold."""
    for cell in [node for node in doctree.findall(nodes.container) if "tag_hide-input" in node.get("classes", ())]:
        fold, *shown = cell.children
        if shown:
            cell.append(cell.pop(0))
            continue
        after = cell.next_node(siblings=True, descend=False)
        if after is None or "cell" not in after.get("classes", ()) or "cell_output" not in after[-1].get("classes", ()):
            continue
        cell.parent.remove(cell)
        if "tag_hide-input" in after["classes"]:
            after[0].insert(0, fold.children)
        else:
            after.append(fold)


def mark_cell(cell: nodes.Element) -> None:
    """Give a cell the classes that its tags ask for; one whose output is prose is set as prose."""
    classes = cell["classes"]
    classes += [name for name in ("lead", "will", "breaks") if f"tag_{name}" in classes]
    for part in [part for part in cell.children if "cell_output" in part["classes"]]:
        # A notebook brings its own copy of our style sheet, which a page has already.
        for node in [raw.parent for raw in part.findall(nodes.raw) if STYLE.fullmatch(raw.astext().strip())]:
            while node.parent is not part:
                node = node.parent
            part.remove(node)
        if not part.children:
            cell.remove(part)
    outputs = [node for part in cell.children if "cell_output" in part["classes"] for node in part.children]
    if "tag_remove-input" in classes and outputs and all("output" not in node["classes"] for node in outputs):
        classes.append("prose")


def fit_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Set the mathematics of a page, and load what else it needs: a stage, its figures, filters."""
    body = frames.fill(context.get("body", ""))
    try:
        body = mathematics.typeset(body)
    except mathematics.TexError as error:
        log.warning("this formula cannot be set: %s", error, location=pagename)
    for plain, focusable in REGIONS.items():
        body = body.replace(plain, focusable)
    for head in HEAD.findall(body):  # a table that is all its section holds is named once
        body = body.replace(f"<caption>{head}</caption>", f'<caption class="quiet">{head}</caption>')
    body = link_formulas(app, pagename, body, context["pathto"])
    wheel_link = context["pathto"](app.env.gpuscale_wheel, 1)
    body = NOTEBOOK.sub(r'href="\1.html\2"', body)
    body = ADDRESS.sub(r"\1 bare\2", body)
    body = break_names(hold(body))
    context["body"] = body.replace('class="wheel" href="#"', f'class="wheel" href="{wheel_link}" download')
    needed = [file for mark, files in PAGE_FILES.items() if mark in body for file in files]
    for place, file in enumerate(needed):
        if file.endswith(".css"):
            app.add_css_file(file, priority=805)
        else:
            app.add_js_file(file, loading_method="defer", priority=810 + place)
    context["number"] = {page.name: page.number for page in app.gpuscale_pages}.get(pagename, "")
    context["on_page"] = on_page
    context["folded"] = lambda here: fold(app, pagename, context["pathto"], on_page(here))
    context["page_description"] = sharing.description(doctree)
    title = doctree.next_node(nodes.title).astext() if doctree else app.config.html_title
    context["share"] = sharing.share(app, pagename, body, title, context["pathto"])
    context["root_path"] = urlsplit(app.config.html_baseurl).path.rstrip("/") + "/" if app.config.html_baseurl else ""
    context["repository"] = app.config.html_theme_options.get("repository_url") or ""
    context["wheel"] = app.env.gpuscale_wheel


def link_formulas(app: Sphinx, pagename: str, body: str, pathto) -> str:
    """Links from the formula index to the chapters, and from the cards of a chapter back to it."""
    if pagename != formula_places.INDEX:
        return formula_places.link_cards(body, pathto(formula_places.INDEX))
    order = [name for name in app.env.toctree_includes[app.config.root_doc] if name.startswith("chapters/")]
    found = formula_places.places({name: Path(app.env.doc2path(name)) for name in order})

    def link(place: formula_places.Place) -> tuple[str, str]:
        sections = list(app.env.tocs[place.page].findall(nodes.reference))
        section = sections[max(place.section, 0)]
        titles = [app.env.titles[place.page].astext(), section.astext()]
        return f"{pathto(place.page)}{section['anchorname']}", ": ".join(dict.fromkeys(titles))

    return formula_places.link_entries(body, found, link)


def on_page(here) -> str:
    """The sections of a page, from the theme's list of them; empty for a page without any."""
    return f'<nav class="here" aria-label="On this page">{here}</nav>' if "<li" in str(here) else ""


def fold(app: Sphinx, pagename: str, pathto, here: str) -> str:
    """The contents with each part folded but that of the page, whose sections (``here``) stand below its title; on the
    first page the numbered parts are open. (Sphinx copies the sections of all pages to make the same for one.)"""
    out = []
    for title, pages in groupby(app.gpuscale_pages[1:], key=lambda page: page.part):
        names = [page.name for page in pages]
        listed = "\n".join(
            f'<li class="toctree-l1{" current active" if name == pagename else ""}">'
            f'<a class="{"current " if name == pagename else ""}reference internal" href="{pathto(name)}">'
            f"{escape(app.env.titles[name].astext())}</a>{here if name == pagename else ''}</li>"
            for name in names
        )
        current = pagename in names
        listed = f'<ul class="{"current " if current else ""}nav bd-sidenav">\n{listed}\n</ul>'
        shown = " open" if current or (pagename == app.config.root_doc and re.match(r"[IVX]+\. ", title)) else ""
        folded = f'<details class="part"{shown}><summary class="caption">{escape(title)}</summary>{listed}</details>'
        out.append(folded if title else listed)
    return "\n".join(out)


def make_wheel(app: Sphinx) -> None:
    """Build the wheel that the site offers. Its name is known before the pages are written."""
    app.env.gpuscale_wheel = None
    if app.builder.format == "html":
        with tempfile.TemporaryDirectory() as scratch:
            path = wheel.build(Path(app.confdir), Path(scratch))
            target = Path(app.outdir) / "_downloads" / path.name
            shutil.rmtree(target.parent, ignore_errors=True)
            target.parent.mkdir(parents=True)
            shutil.copy(path, target)
        app.env.gpuscale_wheel = f"_downloads/{path.name}"


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Write the landing page, the search index, what to review, the pictures for links and the site map; remove what no
    page loads."""
    if hasattr(app, "gpuscale_runs"):
        app.gpuscale_runs.stop()
    if failure is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    landing = LANDING.format(title=app.config.html_title, first=f"{app.config.root_doc}.html")
    (site / "index.html").write_text(landing, encoding="utf-8")
    order = app.env.toctree_includes[app.config.root_doc]
    found = of_site(site, [app.config.root_doc, *order])
    search_index.write(site, found)
    taught.write(site, found)
    removed, kept = prune.prune(site)
    app.gpuscale_previews.write(site)
    if app.config.html_baseurl:
        pages = [app.config.root_doc, *order]
        (site / "sitemap.xml").write_bytes(sharing.site_map(app.config.html_baseurl, pages))
    log.info("pruned %.1f MB that no page loads; the site is %.1f MB", removed / 1e6, kept / 1e6)


def setup(app: Sphinx) -> dict:
    citations.register()
    app.add_html_math_renderer("mathml", (mathematics.visit_math, None), (mathematics.visit_math_block, None))
    app.add_config_value("comments_config", {}, "env")  # Jupyter Book always sets it; we load no comments
    app.connect("config-inited", settle_config)
    app.connect("builder-inited", serve_assets)
    app.connect("builder-inited", make_wheel)
    app.connect("builder-inited", leave_theme)
    app.connect("builder-inited", citations.letter_years)
    app.connect("env-before-read-docs", begin_runs, priority=900)
    app.connect("source-read", put_run)
    app.connect("doctree-read", mark_parts)
    app.connect("doctree-read", link_terms)
    app.connect("doctree-read", tie)
    app.connect("doctree-resolved", put_code_last)
    app.connect("html-page-context", fit_page, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
