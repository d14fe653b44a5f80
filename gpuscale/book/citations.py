"""Citations by author and year that can be told apart: [NVIDIA, 2025a; NVIDIA, 2025b].

sphinxcontrib-bibtex numbers nothing: several sources of one author and year would all read [NVIDIA, 2025]. Here each of
them gets a letter behind its year, in the bibliography as in the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase

from pybtex.database import Entry
from pybtex.plugin import find_plugin, register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.plugin import register_plugin as register_reference
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

NAME = "told_apart"  # of both styles, in _config.yml


def authors(entry: Entry) -> str:
    """The authors as a citation names them: one, two, or the first "et al."."""
    persons = entry.persons["author"]
    names = [" ".join(map(str, [*one.rich_prelast_names, *one.rich_last_names])) for one in persons]
    if len(names) > 2 or names[-1] == "others":
        return f"{names[0]} et al."
    return " and ".join(names)


def letter(entries: list[Entry]) -> None:
    """Put a letter behind the year of each entry that shares author and year with another, in their order."""
    groups = defaultdict(list)
    for entry in Sorted().sort(entries):
        groups[authors(entry), entry.fields["year"]].append(entry)
    for same in groups.values():
        if len(same) > 1:
            for sign, entry in zip(ascii_lowercase, same, strict=False):
                entry.fields["year"] += sign


class Labels(BaseLabelStyle):
    """Labels as citations are: author and year."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        return (f"{authors(entry)}, {entry.fields['year']}" for entry in sorted_entries)


class Order(BaseSortingStyle):
    """By authors as they are cited, year and title."""

    def sorting_key(self, entry: Entry) -> tuple[str, str, str]:
        return authors(entry).lower(), entry.fields["year"], entry.fields["title"]


class Sorted(Style):
    """The bibliography in that order, with those labels."""

    default_label_style = Labels
    default_sorting_style = Order


@dataclass
class References(AuthorYearReferenceStyle):
    """Citations by author and year, several of them apart by semicolons."""

    bracket_parenthetical: BracketStyle = field(default_factory=lambda: BracketStyle(sep="; "))


def letter_years(app: Sphinx) -> None:
    """Letters for the sources that were just read; a second build finds them there."""
    entries = list(app.env.get_domain("cite").bibdata.data.entries.values())
    if all(entry.fields["year"].isdigit() for entry in entries):
        letter(entries)


def register() -> None:
    register_plugin("pybtex.style.formatting", NAME, Sorted)
    # Asked for at every citation: pybtex would read the metadata of all installed packages each time.
    register_plugin("pybtex.backends", "plaintext", find_plugin("pybtex.backends", "plaintext"), force=True)
    register_reference("sphinxcontrib.bibtex.style.referencing", NAME, References)
