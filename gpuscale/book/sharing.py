"""What is shared from a page: a sentence that says what it is about, a picture, and addresses.

The picture of a page shows its first figure. A practice sheet has that of its chapter, and other pages without a figure
have that of the book. Addresses are whole only in an edition that says where it stands (``baseurl`` in _config.yml),
and so is the site map.
"""

from __future__ import annotations

import re
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx

from gpuscale.book import painted
from gpuscale.book.search_entries import plain
from gpuscale.plotting import preview

FOLDER = "_static/previews"
FIGURE = re.compile(
    r'<figure class="(?:still|card live|card stage)"(?P<head>[^>]*)>'
    r'(?:(?!</figure>).)*?<div class="wide">(?P<drawing><svg .*?</svg>)',
    re.S,
)
PAINTER = re.compile(r'data-painter="(\w+)"')
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def description(doctree: nodes.document | None) -> str:
    """The sentence of a page's opening answer that states the rule, which is bold; else the first of the answer, or
    the question."""
    if doctree is None:
        return ""
    top = next(doctree.findall(nodes.section), doctree)
    opening = []
    for part in top.children:
        if isinstance(part, nodes.section):
            break
        opening += [node for node in part.findall(nodes.paragraph) if not isinstance(node.parent, nodes.list_item)]
    if not opening:
        return ""
    question, *answer = [paragraph for paragraph in opening if not _headed(paragraph)]
    for paragraph in answer:
        if strong := next(paragraph.findall(nodes.strong), None):
            rule = _text(strong)
            told = [sentence for sentence in SENTENCE.split(_text(paragraph)) if rule[:40] in sentence]
            return told[0] if told else rule
    return SENTENCE.split(_text(answer[0] if answer else question))[0]


def _headed(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph begins with a heading of its own, such as "Symbols.", in bold."""
    first = next(child for child in paragraph.children if child.astext())
    return isinstance(first, nodes.strong) and len(_text(first).split()) == 1


def _text(node: nodes.Node) -> str:
    """The text of a node, with mathematics as one would type it."""
    if isinstance(node, nodes.math):
        return plain(node.astext())
    text = node.astext() if isinstance(node, nodes.Text) else "".join(map(_text, node.children))
    return re.sub(r"\s+", " ", text)


class Previews:
    """The pictures of a site, drawn in other processes while pages are written."""

    def __init__(self, site: str, first: str):
        self._site, self._first = site, first
        self._pool = ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn"))  # notebooks run in threads
        self._pictures: dict[str, Future] = {}

    def add(self, page: str, title: str, body: str) -> str:
        """The file of the site that has the picture of a page."""
        own, other = _file(page), _file(self._first)
        if figure := FIGURE.search(body):
            painter = PAINTER.search(figure["head"])
            made = self._pool.submit(_picture, figure["drawing"], painter and painter[1], title, self._site)
            self._pictures[own] = made
        return own if own in self._pictures else other  # Sphinx writes chapters before the sheets of their names

    def write(self, out: Path) -> None:
        """Write all pictures that were asked for."""
        for name, picture in self._pictures.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture.result())
        self._pool.shutdown()


def _picture(svg: str, painter: str | None, title: str, site: str) -> bytes:
    """The picture of a figure; one on a stage has a painter, whose style sheet gives its colors."""
    return preview.picture(painted.painted(svg, painter) if painter else svg, title, site)


def _file(page: str) -> str:
    return f"{FOLDER}/{page.rpartition('/')[2]}.png"


def share(app: Sphinx, pagename: str, body: str, title: str, pathto) -> dict[str, str]:
    """The address of a page and of its picture, whole if the edition says where it stands."""
    picture = app.gpuscale_previews.add(pagename, title, body)
    base = app.config.html_baseurl
    return {
        "url": f"{base.rstrip('/')}/{pagename}.html" if base else "",
        "picture": f"{base.rstrip('/')}/{picture}" if base else pathto(picture, 1),
    }


def site_map(base: str, pages: list[str]) -> bytes:
    """The addresses of all pages, for search engines."""
    root = ElementTree.Element("urlset", xmlns=SITEMAP)
    for page in pages:
        ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc").text = f"{base.rstrip('/')}/{page}.html"
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
