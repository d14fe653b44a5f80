"""Citations can be told apart, and the bibliography is sorted as they read."""

import re
from collections import Counter

import pytest
from bs4 import BeautifulSoup
from pybtex.database import Entry, Person

from gpuscale.book import citations

CITED = re.compile(r"bibliography\.html#(ref-[\w.-]+)$")
SPAN = re.compile(r'<span class="bibtex-citation".*?</span>', re.DOTALL)  # no span is in it


def entry(author: str, year: str, title: str) -> Entry:
    return Entry("misc", {"year": year, "title": title}, {"author": [Person(one) for one in author.split(" and ")]})


def test_only_sources_that_read_alike_get_a_letter():
    alike = [entry("{NVIDIA}", "2025", title) for title in ("Second", "First")]
    apart = [entry("{NVIDIA}", "2024", "Another year"), entry("Doe, Jane", "2025", "Another author")]
    citations.letter([*alike, *apart])
    assert [one.fields["year"] for one in [*alike, *apart]] == ["2025b", "2025a", "2024", "2025"]


@pytest.mark.parametrize(
    ("author", "cited"),
    [
        ("{NVIDIA}", "NVIDIA"),
        ("de Vries, Jan", "de Vries"),
        ("Doe, Jane and Roe, R.", "Doe and Roe"),
        ("Doe, Jane and others", "Doe et al."),
        ("A, B and C, D and E, F", "A et al."),
    ],
)
def test_a_label_names_the_authors_as_a_citation_does(author, cited):
    assert citations.authors(entry(author, "2025", "T")) == cited


@pytest.fixture(scope="module")
def bibliography(site):
    return BeautifulSoup((site / "chapters" / "bibliography.html").read_bytes(), "html.parser")


def test_the_bibliography_is_sorted_by_labels_that_differ(bibliography):
    labels = [one.text.strip("[]") for one in bibliography.select(".citation > .label")]
    assert len(labels) > 100 and Counter(labels).most_common(1)[0][1] == 1
    assert labels == sorted(labels, key=lambda label: label.lower().rsplit(", ", 1)) and not re.search(
        r"[{}$\\]", "".join(labels)
    )


def test_one_text_cites_one_source(site):
    """What a reader sees as a citation leads to one source, on whichever page."""
    sources = {}
    for path in sorted(site.glob("*/*.html")):
        text = path.read_text(encoding="utf-8")
        spans = SPAN.findall(text)
        assert len(spans) == text.count('class="bibtex-citation"'), path
        for span in BeautifulSoup("".join(spans), "html.parser").select("span"):
            for link in span.select("a"):
                name = span.text.split(" [")[0] if link.text[:4].isdigit() else ""
                sources.setdefault(f"{name} {link.text}", set()).add(CITED.search(link["href"])[1])
    assert len(sources) > 50 and [text for text, keys in sources.items() if len(keys) > 1] == []
