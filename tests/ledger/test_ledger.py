"""What the sources print, recomputed: each row of the ledger, its verdict, and what it points to."""

import json
import re
from pathlib import Path

import pytest

from gpuscale import ledger
from gpuscale.ledger import expressions, rows

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = ROOT / "chapters" / "references.bib"
CLAIMS, WORDINGS, ERRATA = ledger.claims(), ledger.wordings(), ledger.errata()
TEXTS = [(row.id, row.why) for row in (*CLAIMS.values(), *WORDINGS.values())]
TEXTS += [(row.id, row.text) for row in ERRATA.values()]


def chapters() -> set[str]:
    """The chapters that the table of contents lists."""
    return set(re.findall(r"file: chapters/(\w+)", (ROOT / "_toc.yml").read_text()))


def headings(chapter: str) -> set[str]:
    """The anchors of a chapter's headings, as the site makes them."""
    cells = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in found}


def exists(place: str) -> bool:
    """Whether "chapter" or "chapter#heading" is there."""
    chapter, _, heading = place.partition("#")
    return chapter in chapters() and (not heading or heading in headings(chapter))


@pytest.mark.parametrize("row", CLAIMS.values(), ids=lambda row: row.id)
def test_a_published_number(row):
    expected = row.published if row.right is None else row.right
    assert row.ours == pytest.approx(expected, rel=2e-3 if row.right is None else 5e-5)
    assert row.found() == row.verdict
    assert (row.right is not None and row.off is not None) or row.verdict == "agrees"
    assert row.off is None or row.error == pytest.approx(row.off, rel=5e-4, abs=1e-4)
    assert row.reason or row.verdict in {"agrees", "rounds"}
    assert exists(row.chapter) and "#" not in row.chapter
    reached = reaches(row.expression) | {n for key in row.given for n in _reached(row, key)}
    assert bool(reached) != row.own_numbers
    assert not set(row.errata) - set(ERRATA)


def reaches(text):
    """The names of the library that an expression reads: formulas, rooms, and what looks up a part."""
    library = {*expressions.sweep_names(), *expressions.PARTS, *expressions.ROOMS}
    return expressions.names(text) & library


def _reached(row, key):
    text = row.given[key]
    return reaches(text) if isinstance(text, str) and key in expressions.names(row.expression) else ()


@pytest.mark.parametrize("row", WORDINGS.values(), ids=lambda row: row.id)
def test_a_published_wording(row):
    assert row.verdict in rows.WORDING_VERDICTS and row.says
    assert row.reason or row.verdict == "agrees"
    assert exists(row.covered)
    assert not set(row.errata) - set(ERRATA)


def test_each_row_names_a_source_and_a_place_and_none_stands_twice():
    known = set(re.findall(r"^@\w+\{\s*([^,\s]+)\s*,", BIBLIOGRAPHY.read_text(), re.M))
    everything = [*CLAIMS.values(), *WORDINGS.values()]
    assert {row.source for row in everything} <= known
    assert all(row.place and row.says for row in everything)
    said = [(row.source, row.place, row.says) for row in everything]
    assert len(set(said)) == len(said)
    assert not set(CLAIMS) & set(WORDINGS)


def test_no_number_is_typed_into_a_text():
    """Small whole numbers may occur in a sentence, and those that are part of a name."""
    for name, text in TEXTS:
        plain = re.sub(r"\{[^{}]*\}", "", text)
        assert not re.findall(r"(?<![\w.-])(?:\d+\.\d+|\d{3,}|\d+,\d{3})", plain), f"{name}: {text}"


def test_a_number_far_off_is_not_given_as_a_long_factor():
    far = [row for row in CLAIMS.values() if row.verdict == "disagrees" and row.error > 999]
    assert far and {row.distance_text for row in far} == {"more than 1,000 times our value"}
    assert max(len(row.distance_text) for row in CLAIMS.values()) < 35
