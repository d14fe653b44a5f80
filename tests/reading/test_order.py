"""Nothing is used before it is taught: the terms of the glossary and the symbols, through the chapters in order."""

import re

import pytest
from reading.pages import LINK, Cell, cells, chapters

from gpuscale.core.latex import tex
from gpuscale.page.terms import Term, pattern, terms
from gpuscale.symbols import flop, quantities

ORDER = chapters()
# Words with an everyday meaning as well, where a chapter uses that one before the term is taught.
EVERYDAY: dict[str, set[str]] = {}


def bold(one: Term, text: str) -> bool:
    """Is the term set in bold type somewhere in the text?"""
    return any(pattern(one).search(strong) for strong in re.findall(r"\*\*(.+?)\*\*", LINK.sub(r"\1", text), re.S))


def too_early(one: Term, book: list[tuple[Cell, ...]]) -> list[str]:
    """Where a term is used before its chapter defines it; the opening of that chapter may use it."""
    found = []
    for place, chapter in enumerate(book):
        name, later = chapter[0].chapter, frozenset(c[0].chapter for c in book[place + 1 :])
        for cell in chapter:
            if name == one.chapter and bold(one, cell.said):
                return found
            used = pattern(one).search(cell.prose(later))
            if used and not (cell.opening and name == one.chapter) and name not in EVERYDAY.get(one.term, ()):
                found.append(f"{one.term}: {name} [{cell.number}] …{used.string[max(0, used.start() - 40) :][:90]!r}")
    return [*found, f"{one.term}: {one.chapter} never defines it in bold type"]


@pytest.mark.parametrize("one", terms().values(), ids=lambda one: one.term)
def test_a_term_is_defined_before_it_is_used(one):
    assert one.chapter in ORDER
    assert too_early(one, [cells(name) for name in ORDER]) == []


def names(symbol: str, formula: str) -> bool:
    """Does a formula hold the symbol, not just a longer one that begins or ends as it does?"""
    return re.search(rf"(?<![A-Za-z\\]){re.escape(symbol)}(?![A-Za-z_])", formula) is not None


def unexplained(chapter: tuple[Cell, ...], known: set[str], symbols: dict[str, str]) -> dict[str, int]:
    """Symbols that a chapter uses without a word on them: the cell of each. ``known`` grows by those explained.

    A symbol is explained where it stands alone in a sentence, or in a card that lists it, at the latest in the cell
    after its first use.
    """
    explained = {}
    for cell in reversed(chapter):
        alone = {formula.strip() for formula in cell.math}
        for name, symbol in symbols.items():
            if symbol in alone or f"\\({symbol}\\)</span></td>" in cell.cards:
                explained[name] = cell.number
    found = {}
    for cell in chapter:
        for name, symbol in symbols.items():
            if name in known or not any(names(symbol, formula) for formula in cell.math):
                continue
            if explained.get(name, cell.number + 2) > cell.number + 1:
                found.setdefault(name, cell.number)
    known |= set(explained)
    return found


def test_a_symbol_is_explained_where_it_is_first_used():
    symbols = {q.name: tex(q) for q in quantities().values() if q is not flop}
    known: set[str] = set()
    found = [(name, lacking) for name in ORDER if (lacking := unexplained(cells(name), known, symbols))]
    assert found == []
