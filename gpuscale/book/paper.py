"""The whole book as one PDF: Chromium prints each page of the built site, and pypdf joins what it printed.

python -m gpuscale.book.paper                   # the built site, on A4
python -m gpuscale.book.paper --format Letter
"""

from __future__ import annotations

import argparse
import functools
import io
import sys
import tempfile
import threading
import time
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag

from gpuscale.book import build, chromium, contents
from gpuscale.core.html import escape
from gpuscale.widgets.shared import SOLUTIONS

FORMATS = ("A4", "Letter")
NAME = "how-gpus-scale.pdf"
# What a page is called, and its sections by their anchors. A PDF has only the anchors that links of the same page name:
# a hidden link to each makes them all known. The solutions come to the end when the page is printed. A paragraph that
# ends in a colon stays with what it announces.
READ = """(solutions) => {
  const article = document.querySelector('article'), all = (what) => [...article.querySelectorAll(what)];
  const words = (head) => head.firstChild.textContent.trim();
  const sections = all('section[id] > h2').map((head) => [words(head), head.parentElement.id]);
  const ids = all('[id]:not(svg *)').map((el) => el.id);
  if (article.querySelector('.quiz .solution')) { sections.push([solutions, 'solutions']); ids.push('solutions'); }
  for (const id of ids) article.insertAdjacentHTML('beforeend', `<a hidden href="#${id}"></a>`);
  for (const el of all('p')) if (/:\\s*$/.test(el.textContent)) el.style.breakAfter = 'avoid';
  return { title: words(article.querySelector('h1')), sections };
}"""
# The font of paper is loaded once something is laid out for paper; then, whatever of it is still on its way.
FONTS = "() => { document.body.offsetHeight; return document.fonts.ready.then(() => null); }"
FEW = 60  # words: a last sheet with fewer is saved, if lines and spaces a little closer save it
CLOSER = ":root { --s4: 7pt; --s5: 8pt; --s6: 11pt; --s7: 14pt } body { line-height: 1.36 }"
FRONT = """<!DOCTYPE html>
<html lang="en" style="--book: ''; --title: ''"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="{static}/gpuscale.css"><link rel="stylesheet" href="{static}/paper.css">
<style>@page {{ @bottom-right {{ content: counter(page, lower-roman); }} }}
@page :first {{ @bottom-right {{ content: none; }} }}</style></head><body class="front">
<header><h1>{title}</h1><p>{about}</p><p>Version {version}</p></header>
<article><h2>Contents</h2>{parts}</article></body></html>
"""


class PaperError(RuntimeError):
    """The book cannot be printed; the message says why."""


@dataclass
class Printed:
    """A page of the book as PDF: its title with its number, its sections (title, anchor), the number of its first
    sheet, and where its anchors are: (sheet of this page, distance from the left, from the foot)."""

    page: contents.Page
    title: str
    sections: list[tuple[str, str]]
    first: int
    sheets: list
    anchors: dict[str, tuple[int, float, float]]

    @property
    def heading(self) -> str:
        return f"{self.page.number} {self.title}".strip()


def _sheets(tab, size: str):
    """What Chromium prints of the page in a tab, with the places of its anchors."""
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(tab.pdf(format=size, prefer_css_page_size=True)))
    places = {}
    for name, place in reader.named_destinations.items():
        places[unquote(name.removeprefix("/"))] = (reader.get_destination_page_number(place), place.left, place.top)
    return list(reader.pages), places


@contextmanager
def browser_tab():
    """A tab of Chromium; raises PaperError without one."""
    from playwright import sync_api

    path = chromium.find()
    if path is None:
        raise PaperError(chromium.MISSING)
    with sync_api.sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        except sync_api.Error as error:
            raise PaperError(f"the browser {path} does not start: {str(error).splitlines()[0]}") from None
        yield browser.new_page()
        browser.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@contextmanager
def served(site: Path):
    """The address of the site over http: Chromium prints no sign of a font that it reads from a file."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def print_pages(tab, site: str, pages: list[contents.Page], size: str, show) -> list[Printed]:
    """The front, whose name is "", and each page. The pages come first, because the number of a page's first sheet
    follows from those before it, and the front lists them."""
    printed, first = [], 1
    for page in pages:
        tab.emulate_media(media="screen")
        tab.goto(f"{site}/{page.name}.html")
        found = tab.evaluate(READ, SOLUTIONS)
        tab.add_style_tag(content=f"html {{ counter-reset: page {first - 1} }}")
        tab.emulate_media(media="print")
        tab.evaluate(FONTS)
        sheets, anchors = _sheets(tab, size)
        if len(sheets) > 1 and len(sheets[-1].extract_text().split()) < FEW:
            tab.add_style_tag(content=CLOSER)
            closer = _sheets(tab, size)
            if len(closer[0]) < len(sheets):
                sheets, anchors = closer
        printed.append(Printed(page, found["title"], found["sections"], first, sheets, anchors))
        show(f"{first:5}  {printed[-1].heading}")
        first += len(sheets)
    with tempfile.TemporaryDirectory() as scratch:
        front = Path(scratch) / "front.html"
        front.write_text(front_page(printed, site), encoding="utf-8")
        tab.goto(front.as_uri())
        sheets, anchors = _sheets(tab, size)
    return [Printed(contents.Page("", "", ""), "Contents", [], 1 - len(sheets), sheets, anchors), *printed]


def _about() -> dict:
    """What the project says of itself."""
    return tomllib.loads((build.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def front_page(printed: list[Printed], site: str) -> str:
    """The title page and the contents, as HTML."""
    about = _about()
    title, _, words = about["description"].partition(": ")
    parts, last = "", None
    for one in printed:
        if one.page.part != last and one.page.part:
            parts += f"<h3>{escape(one.page.part)}</h3>"
        last = one.page.part
        link = f'<a class="bare" href="{site}/{one.page.name}.html">{escape(one.title)}</a>'
        parts += f"<p><b>{one.page.number}</b>{link}<i></i><span>{one.first}</span></p>"
    words = words[:1].upper() + words[1:] + "."
    return FRONT.format(
        title=title, about=escape(words), version=about["version"], static=f"{site}/_static", parts=parts
    )


def join(printed: list[Printed], site: str):
    """One PDF of all pages, the front first: links between them lead to their sheets, and bookmarks to each part,
    page and section. A link to another file of the site, such as a notebook, is removed."""
    import pypdf

    writer = pypdf.PdfWriter()
    starts, places = {}, {}
    for one in printed:
        starts[one.page.name] = len(writer.pages)
        places[one.page.name] = {"": (0, 0, float(one.sheets[0].mediabox.height)), **one.anchors}
        for sheet in one.sheets:
            writer.add_page(sheet)

    def place(name: str, anchor: str) -> tuple[int, float, float]:
        known = places[name]
        sheet, left, top = known.get(anchor, known[""])
        return starts[name] + sheet, left, top

    for one in printed:
        for number in range(starts[one.page.name], starts[one.page.name] + len(one.sheets)):
            _mend_links(writer.pages[number], one.page.name, site, writer, place, places)
    part, above = "", None
    for one in printed:
        start, _, _ = place(one.page.name, "")
        if one.page.part != part:
            part, above = one.page.part, writer.add_outline_item(title=one.page.part, page_number=start, is_open=False)
        item = writer.add_outline_item(title=one.heading, page_number=start, parent=above, is_open=False)
        for title, anchor in one.sections:
            sheet, left, top = place(one.page.name, anchor)
            fit = pypdf.generic.Fit.xyz(left, top)
            writer.add_outline_item(title=title, page_number=sheet, parent=item, fit=fit)
    front = len(printed[0].sheets)
    writer.set_page_label(0, front - 1, style="/r")
    writer.set_page_label(front, len(writer.pages) - 1, style="/D", start=1)
    return writer


def _mend_links(sheet, name: str, site: str, writer, place, known) -> None:
    """Lead the links of a sheet of page `name` to sheets of the book."""
    from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject

    kept = ArrayObject()
    for reference in sheet.get("/Annots", ()):
        link = reference.get_object()
        if "/Dest" in link:  # within its page
            file, anchor = name, str(link["/Dest"]).removeprefix("/")
        else:
            address, anchor = urldefrag(link["/A"]["/URI"])
            file = address.removeprefix(f"{site}/").removesuffix(".html")
        if file in known:
            number, left, top = place(file, unquote(anchor))
            link.pop("/A", None)
            at = [NameObject("/XYZ"), FloatObject(left), FloatObject(top), NumberObject(0)]
            link[NameObject("/Dest")] = ArrayObject([writer.pages[number].indirect_reference, *at])
        if "/Dest" in link or not link["/A"]["/URI"].startswith((site, "file:")):
            kept.append(reference)
    sheet[NameObject("/Annots")] = kept


def make(tab, site: Path, pages: list[contents.Page], size: str = "A4", show=lambda line: None) -> bytes:
    """Pages of the built site as one PDF, with a title page and contents."""
    with served(site) as address:
        writer = join(print_pages(tab, address, pages, size, show), address)
    about = _about()
    writer.add_metadata({"/Title": about["description"].partition(":")[0], "/Author": about["authors"][0]["name"]})
    writer.compress_identical_objects()  # each page brings the same fonts
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser("python -m gpuscale.book.paper", description=__doc__.splitlines()[0])
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="the size of the sheets")
    options = parser.parse_args()
    start = time.perf_counter()
    site = (build.ROOT / "_build" / "html").resolve()
    try:
        if not (site / "index.html").exists():
            raise PaperError("there is no built site: run make book first")
        with browser_tab() as tab:
            data = make(tab, site, contents.pages(build.ROOT), options.format, lambda line: print(line, flush=True))
    except PaperError as error:
        print(f"The book cannot be printed: {error}", file=sys.stderr)
        return 1
    path = site.parent / NAME
    path.write_bytes(data)
    print(f"\nThe book is on paper ({time.perf_counter() - start:.0f} s, {len(data) / 1e6:.0f} MB):\n    {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
