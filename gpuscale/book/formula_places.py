"""Where the chapters show each formula, read from the code of their notebooks, and the links that follow from it: from
an entry of the formula index to the section that derives or first uses the formula, and from a card back to its entry.

A notebook shows a formula whose name it imports and uses. A formula that none uses belongs to the subject of a chapter:
the one that uses most formulas of the same file, or else that of the planner, which composes it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from gpuscale.catalogue import sweep
from gpuscale.core.html import anchor, element, escape

DERIVED, SHOWN, USED, SUBJECT = "Derived in", "Shown in", "Used in", "See also"
RANKS = (DERIVED, SHOWN, USED)
INDEX, PLANNER = "chapters/formula_index", "chapters/putting_it_together"
HEADING = re.compile(r"^#{1,4} ", re.M)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
CARD = re.compile(r'(<section class="card formula" id="formula-([\w-]+)".*?</h3>)(<code class="note">.*?</code>)', re.S)
ENTRY = re.compile(r'(<section class="entry"[^>]*\bid="index-([\w-]+)".*?)(</section>)', re.S)


@dataclass(frozen=True)
class Place:
    """A ``page``, the number of the ``section`` on it in the order of headings, and what happens there: ``how``."""

    page: str
    section: int
    how: str


def _named(code: str) -> tuple[dict[str, str], Counter, set[str], set[str]]:
    """Of a cell of code: imported names with their rooms, names used, those derived, those whose card is shown."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a cell of shell commands
        return {}, Counter(), set(), set()
    imported, used, derived, cards = {}, Counter(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpuscale."):
            imported |= {one.asname or one.name: f"{node.module.split('.')[1]}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Name):
            used[node.id] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "matches":
                derived |= {one.id for one in node.args if isinstance(one, ast.Name)}
            if node.func.attr == "about" and isinstance(node.func.value, ast.Name):
                cards.add(node.func.value.id)
    return imported, used, derived, cards


def uses(path: Path, page: str) -> Iterable[tuple[str, Place]]:
    """Each formula that a notebook uses, as "room.name", with the places, in its order."""
    rooms: dict[str, str] = {}
    section = -1
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            section += len(HEADING.findall(FENCED.sub("", cell.source)))
        elif cell.cell_type == "code":
            imported, used, derived, cards = _named(cell.source)
            rooms |= imported
            for name in used:
                if name in rooms:
                    how = DERIVED if name in derived else SHOWN if name in cards else USED
                    yield rooms[name], Place(page, section, how)


def places(paths: dict[str, Path]) -> dict[str, Place]:
    """The place of each formula of the catalogue, by its key. ``paths`` are the notebooks of the chapters by page, in
    the order of the book."""
    known = sweep.formulas()
    found: dict[str, list[Place]] = defaultdict(list)
    subjects: dict[str, Counter] = defaultdict(Counter)
    for page, path in paths.items():
        for key, place in uses(path, page):
            if key in known:
                found[key].append(place)
                subjects[known[key].module][page] += 1
    best = {key: min(some, key=lambda place: RANKS.index(place.how)) for key, some in found.items()}
    for key, f in known.items():
        if key not in best:
            most = subjects[f.module].most_common(1) or [(PLANNER, 0)]
            best[key] = Place(most[0][0], 0, SUBJECT)
    return best


def link_entries(body: str, of: dict[str, Place], link: Callable[[Place], tuple[str, str]]) -> str:
    """The page of the formula index with a link from each entry to its place; ``link`` says its address and title."""
    by_anchor = {anchor(key): place for key, place in of.items()}

    def put(found: re.Match) -> str:
        place = by_anchor[found[2]]
        address, title = link(place)
        return f'{found[1]}<p class="note">{place.how} {element("a", escape(title), href=address)}.</p>{found[3]}'

    return ENTRY.sub(put, body)


def link_cards(body: str, index: str) -> str:
    """A chapter with a link from each card of a formula to its entry on the page ``index``."""
    keys = {anchor(f.name): anchor(key) for key, f in sweep.formulas().items()}

    def put(found: re.Match) -> str:
        entry = element("a", found[3], href=f"{index}#index-{keys[found[2]]}", title="In the formula index")
        return found[1] + entry

    return CARD.sub(put, body)
