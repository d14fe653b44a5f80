"""What a reader may look for, read from the pages of the built site.

An entry is a page, a section, a formula, a figure, a question, a term of the glossary, a symbol, a row of the hardware
tables, or a published number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from gpuscale.catalogue import search
from gpuscale.units import WORDS

KINDS = {  # the kind of an entry by the beginning of its id
    "index-": "formula", "formula-": "card", "q-": "question", "fig-": "figure", "live-": "figure",
    "stage-": "figure", "term-": "term", "symbol-": "symbol", "claim-": "ledger", "row-": "hardware",
}  # fmt: skip
HEADINGS = ("h1", "h2", "h3", "h4")
ROWS = ("term", "symbol", "ledger", "hardware")
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
UNREAD = frozenset("script style svg template noscript pre select output summary nav".split())
HIDDEN = frozenset("cell_input headerlink solution quizset-head copybtn take".split())
APART = frozenset("p li td th dt dd tr div figcaption caption h1 h2 h3 h4 code".split())
# Lists whose items are entries: their sections say nothing else
LISTS = frozenset(f"chapters/{name}" for name in ("formula_index", "notation", "glossary", "published_numbers"))
UNITS = ("B/s", "FLOP/s")
SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "cdot": "·", "times": "×", "le": "≤", "ge": "≥",
    "approx": "≈", "ldots": "…", "dots": "…", "to": "→", "infty": "∞", "ll": "≪", "gg": "≫", "sqrt": "√", "quad": " ",
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "operatorname": "", "text": "", "begin": "", "end": "",
}  # fmt: skip


@dataclass
class Entry:
    """What can be found: its ``kind``, the ``page`` and the ``anchor`` there, its ``name`` and its ``text``; ``above``
    is the name of the section that it is in, ``other`` are further words for it."""

    kind: str
    page: str
    anchor: str
    name: str = ""
    text: str = ""
    above: str = ""
    other: str = ""


def plain(tex: str) -> str:
    """TeX as a reader would type it.

    >>> plain(r"T_\\mathrm{comms} = \\frac{V}{W} \\, (N - 1)")
    'T_comms = V/W (N - 1)'
    """
    text = re.sub(r"\\(?:mathrm|text|operatorname|mathit|textrm)\s*\{([^{}]*)\}", r"\1", tex)
    text = re.sub(r"([_^])\s*\{([^{}\s]*)\}", r"\1\2", text)
    for _ in range(3):  # one fraction inside another
        text = re.sub(r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", _fraction, text)
    text = re.sub(r"\\(?:left|right|displaystyle|[()\[\],;!])", " ", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: SYMBOLS.get(found[1], found[1]), text)
    text = re.sub(r"\s+", " ", re.sub(r"[{}\\&]", "", text)).strip()
    return re.sub(r"(?<=[(⌈⌊]) | (?=[)⌉⌋,])", "", text)


def _fraction(found: re.Match) -> str:
    over, under = (f"({part.strip()})" if " " in part.strip() else part for part in found.groups())
    return f"{over}/{under}"


@dataclass
class _Element:
    """An open element of a page: whether it is read, and the entry that it begins."""

    tag: str
    classes: set[str]
    read: bool
    entry: Entry | None


class _Reader(HTMLParser):
    """Reads the entries of a page from its HTML."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.page, self.entries = page, []
        self._open: list[_Element] = []
        self._naming: _Element | None = None  # the element whose text is the name of its entry
        self._heads: list[str] = []  # of the columns of the table
        self._column = 0

    def handle_starttag(self, tag, attributes):
        if tag in VOID or not (self._open or tag == "article"):
            return
        known = {name: value or "" for name, value in attributes}
        classes = set(known.get("class", "").split())
        read = (not self._open or self._open[-1].read) and tag not in UNREAD and not classes & HIDDEN
        here = _Element(tag, classes, read, self._begun(tag, known, classes) if read else None)
        self._open.append(here)
        if read:
            self._laid_out(here)

    def _begun(self, tag: str, known: dict[str, str], classes: set[str]) -> Entry | None:
        """The entry that an element begins, if it does."""
        anchor = known.get("id", "")
        kind = next((kind for start, kind in KINDS.items() if anchor.startswith(start)), "")
        if tag == "section" and not classes & {"entry", "card"}:
            kind = "section"
        if not anchor or not kind or tag not in ("section", "figure", "form", "tr"):
            return None
        outer = self._entry
        above = outer.name.strip() if outer is not None and outer.kind == "section" else ""
        if outer is None and tag == "section":
            kind, anchor = "page", ""
        other = f"figure {known.get('data-painter', '')}".strip() if kind == "figure" else ""
        self.entries.append(Entry(kind, self.page, anchor, above=above, other=other))
        return self.entries[-1]

    def _laid_out(self, here: _Element) -> None:
        """Set apart what stands apart; note heads of columns; find the element that names the entry."""
        entry = self._entry
        if here.tag in APART:
            ended = here.tag != "li" or entry is None or not entry.text[-1:].isalnum()
            self._say(" " if ended else ". ")
        if here.tag == "thead":
            self._heads = []
        if here.tag == "tr":
            self._column = -1
        row = entry is not None and entry.kind in ROWS
        if here.tag in ("td", "th"):
            self._column += 1
            if not any(one.tag == "thead" for one in self._open) and entry is not None and entry.kind == "hardware":
                self._say(f"; {self._heads[self._column]} " if self._column else "")
        if entry is not None and not entry.name and here.tag in (("td", "th") if row else HEADINGS):
            self._naming = here

    def handle_endtag(self, tag):
        while self._open and tag not in VOID:
            gone = self._open.pop()
            if gone is self._naming:
                self._naming = None
            if gone.tag == tag:
                break

    def handle_data(self, data):
        if not self._open or not self._open[-1].read:
            return
        inside = [one.tag for one in self._open]
        if "math" in inside:
            data = f" {plain(data)} " if inside[-1] == "annotation" else ""
        elif data.lstrip().startswith((r"\(", r"\[")):
            data = plain(data)
        if "thead" in inside and inside[-1] == "th":
            self._heads.append(data)
        else:
            self._say(data)

    def _say(self, text: str) -> None:
        entry = self._entry
        if entry is None or not self._told(entry):
            return
        if self._naming and "small" not in [one.tag for one in self._open]:
            entry.name += text
        else:
            entry.text += text

    def _told(self, entry: Entry) -> bool:
        """Whether what is open says what the entry is about: of a figure its caption, of a question what it asks."""
        if entry.kind == "question":
            return any(one.classes & {"prompt", "choices"} for one in self._open)
        return entry.kind != "figure" or any(one.tag in ("figcaption", *HEADINGS) for one in self._open)

    @property
    def _entry(self) -> Entry | None:
        return next((one.entry for one in reversed(self._open) if one.entry is not None), None)


def entries(html: str, page: str) -> list[Entry]:
    """What can be found on a page, in its order."""
    reader = _Reader(page)
    reader.feed(html)
    found = []
    for entry in reader.entries:
        entry.name, entry.text, entry.above = (_line(text) for text in (entry.name, entry.text, entry.above))
        if entry.kind == "question":
            entry.name, entry.text = re.sub(r"^(?:\d+\.|Predict first\.) ", "", entry.text), ""
        if not entry.name:
            entry.name, _, entry.text = entry.text.partition(". ")
        if entry.kind == "figure":
            entry.name = entry.name.removesuffix(".")
        if entry.name:
            known = entry.name
            if entry.kind == "hardware":  # a row says what its numbers are by their units alone
                known = f"{entry.above} {entry.text} {' '.join(WORDS[unit] for unit in UNITS if unit in entry.text)}"
                entry.other = known
            if entry.kind != "ledger":
                entry.other += f" {search.synonyms(known)}"
            found.append(entry)
    return found


def _line(text: str) -> str:
    return re.sub(r"\s+([,.;:!?)])", r"\1", re.sub(r"\s+", " ", text)).strip(" ;")


def of_site(site: Path, pages: Iterable[str]) -> list[Entry]:
    """The entries of pages, by their names without ``.html``, in the order of the book. A formula is found where its
    chapter explains it, a question where it is first asked."""
    found = [entry for page in pages for entry in entries((site / f"{page}.html").read_text(encoding="utf-8"), page)]
    cards = {entry.name: entry for entry in reversed(found) if entry.kind == "card"}
    seen, kept = set(), []
    for entry in found:
        if entry.kind == "formula" and entry.name in cards:
            card = cards[entry.name]
            entry.page, entry.anchor, entry.above = card.page, card.anchor, card.above
        if entry.kind == "section" and (entry.page in LISTS or entry.name == "Sources"):
            continue
        if entry.kind != "card" and (entry.kind != "question" or entry.anchor not in seen):
            kept.append(entry)
            seen.add(entry.anchor)
    return kept
