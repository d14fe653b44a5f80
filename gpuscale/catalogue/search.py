"""Searching the formulas with the words that a reader would type.

>>> find("steps of trees", given="N")
1 formula for 'steps of trees' from N alone:
  tree_steps(N)  Steps of a binomial tree  collectives

The texts and the rules of the search are data (``index``): the filter of the formula index reads the same.
"""

import difflib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from gpuscale.catalogue import sweep
from gpuscale.core.cards import call, equation
from gpuscale.core.formula import Formula
from gpuscale.core.html import Html, aligned, anchor, escape, region, table
from gpuscale.sources import source_name
from gpuscale.symbols import Quantity, quantities
from gpuscale.units import WORDS

# Rows of words of the field that mean the same.
SYNONYMS = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))["rows"]
# Terms of several common words: written together, hyphenated or apart they are one word.
JOINED = ("all reduce", "all gather", "all to all", "reduce scatter", "bus bandwidth", "fat tree")
# Words that a search ignores.
STOP = frozenset("a an and are as at be by for from is it its of on or that the with".split())
ENDINGS = ("", "s", "es", "d", "ed", "ing")  # endings that a word may have beyond the typed one
SHOWN = 20  # rows of a table


def find(text: str = "", *, gives: str | Quantity | None = None, given: Iterable | None = None) -> "Found":
    """The matching formulas, best first: a sequence of them, shown as a table.

    ``text``: words, all of which have to occur in a formula's name or title, in other words of the field for them, in
    its quantities (name in Python, meaning, unit, other names), conditions or sources. Case, hyphens and plurals do
    not matter; a word that occurs nowhere stands for those that it begins. ``gives``: the quantity on the left.
    ``given``: the quantities to hand, in base units; a formula fits that needs nothing else, and first come those
    that use most of them. Quantities are named as in Python, or are themselves.

    Raises KeyError for a name that is not a quantity, TypeError for anything else, ValueError for an empty query.

    >>> find("all reduce bytes")[0]
    V_rank = 2*V*(N - 1)/N
    >>> [f.name for f in find(gives="T_comms", given=["V", "W"])]
    ['bandwidth_floor', 'ring_all_to_all_even']
    >>> find("bubbles zero-bubble gpipe")
    No formula for 'bubbles zero-bubble gpipe'. No formula has all of these words: 'bubbles', 'zero', 'bubble', 'gpipe'.
    >>> find("occupncy")
    No formula for 'occupncy'. No formula has the word 'occupncy'; close ones: occupancy, concurrency.
    >>> find(gives="busbw")
    Traceback (most recent call last):
    KeyError: "gives: 'busbw' is not a quantity of the book; did you mean W_bus?"
    """
    if not isinstance(text, str):
        raise TypeError(f"find: text: expected words to search for; got {text!r}")
    if not text.strip() and gives is None and given is None:
        raise ValueError("find: expected words to search for, gives= or given=")
    asked = words(text)
    if text.strip() and not asked:
        raise ValueError(f"find: {text!r} has no word to search for; expected one such as 'ring' or 'V_rank'")
    lhs = None if gives is None else _quantity(gives, "gives")
    if isinstance(given, str | Quantity):
        given = (given,)
    known = None if given is None else {_quantity(one, "given") for one in given}

    hits = [matching(word) for word in asked]
    ranked = []
    for place, f in enumerate(sweep.formulas().values()):
        if (lhs is not None and f.lhs is not lhs) or (known is not None and not known.issuperset(f.inputs)):
            continue
        if (rank := _rank(f, asked, hits)) is not None:
            unused = 0 if known is None else len(known) - len(f.inputs)
            ranked.append((*rank, unused, place, f))
    ranked.sort(key=lambda row: row[:-1])
    reason = "" if ranked else _reason(asked, lhs, known)
    return Found(tuple(row[-1] for row in ranked), _question(text, lhs, known), reason)


class Found(Sequence):
    """Formulas that fit, best first. ``asked`` says to what; ``reason`` says why there are none, if there are none."""

    def __init__(self, formulas: tuple[Formula, ...], asked: str, reason: str = ""):
        self.formulas, self.asked, self.reason = formulas, asked, reason

    def __getitem__(self, at):
        return self.formulas[at]

    def __len__(self) -> int:
        return len(self.formulas)

    @property
    def heading(self) -> str:
        """How many there are, and of what."""
        if not self.formulas:
            return f"No formula{self.asked}. {self.reason}"
        return f"{len(self)} formula{'s'[: len(self) != 1]}{self.asked}:"

    @property
    def rest(self) -> str:
        """What the table leaves out."""
        more = len(self) - SHOWN
        return f"and {more} more: add a word, or index the result" if more > 0 else ""

    def __repr__(self) -> str:
        rows = [(call(f, 44), f.title, f.room.partition(".")[2]) for f in self.formulas[:SHOWN]]
        lines = [f"  {line}" for line in aligned(rows, left=(0, 1, 2))]
        return "\n".join([self.heading, *lines, *([f"  {self.rest}"] if self.rest else ())])

    def _repr_mimebundle_(self, include=None, exclude=None):
        html = f"<p>{escape(self.heading)}</p>"
        if self.formulas:
            rows = (
                (f"{escape(f.title)}<br><code>{escape(call(f, 60))}</code>", equation(f), f.room.partition(".")[2])
                for f in self.formulas[:SHOWN]
            )
            rest = f'<p class="note">{escape(self.rest)}</p>' if self.rest else ""
            html += region("Formulas found", table(["Formula", "Equation", "Room"], rows), rest)
        return Html(html, repr(self))._repr_mimebundle_()


# Words


def words(text: str) -> list[str]:
    """A text as words to compare: lower case, without accents, apostrophes and STOP; JOINED terms as one word.

    >>> words("Steps of an All-Reduce, Träff's FLOP/s in W_hbm")
    ['steps', 'all_reduce', 'traffs', 'flop/s', 'in', 'w_hbm']
    """
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(c for c in plain if unicodedata.category(c) != "Mn" and c not in "'’")
    found = (word.strip("/") for word in re.findall(r"[\w/]+", plain))
    line = "".join(f" {word}" for word in found if word and word not in STOP)
    for term in JOINED:
        for written in (term, term.replace(" ", "")):
            line = line.replace(f" {written}", f" {term.replace(' ', '_')}")
    return line.split()


def indexed(text: str) -> dict[str, None]:
    """The words by which a text is found: those of JOINED also one by one."""
    found = words(text)
    parts = [term.split() for term in JOINED for word in found if word.startswith(term.replace(" ", "_"))]
    return dict.fromkeys([*found, *(part for term in parts for part in term)])


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _line(text: str) -> str:
    """A text in which phrases can be looked up, singular or plural."""
    return f" {' '.join(map(_stem, words(text)))} "


@cache
def _rows() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_line, row)) for row in SYNONYMS)


@cache
def synonyms(text: str) -> str:
    """All phrases of the rows of SYNONYMS of which one occurs in a text.

    >>> synonyms("Step of ZeRO-1")
    'ZeRO FSDP fully sharded sharded data parallel'
    """
    line = _line(text)
    return " ".join(" ".join(row) for row, keys in zip(SYNONYMS, _rows(), strict=True) if any(k in line for k in keys))


# What is searched


@cache
def _told(q: Quantity) -> str:
    """A quantity as text: what it is called, here and elsewhere, what it means, its unit."""
    told = f"{q.name} {q.meaning} {q.also}" + (f" {q.unit} {WORDS[q.unit]}" if q.unit != "1" else "")
    return f"{told} {synonyms(told)}"


def _levels(f: Formula) -> tuple[tuple[str, ...], ...]:
    """The texts by which a formula is found, the weightiest first: name and title; other words for them and for what
    it gives; what it gives; what it takes; its conditions; its sources."""
    own = f"{f.title} {f.name} {f.name.replace('_', ' ')}"
    keys = [part.partition(",")[0].strip() for part in f.source.split(";")]
    return (
        (own,),
        (f"{synonyms(own)} {f.lhs.also}",),
        (_told(f.lhs),),
        tuple(map(_told, f.inputs)),
        (f"{f.assumes} {synonyms(f.assumes)}",),
        tuple(f"{key} {source_name(key)}" for key in keys),
    )


@cache
def _levels_in_words() -> dict[str, tuple[frozenset[str], ...]]:
    """The words of each level of each formula, by the formula's key in the catalogue."""
    return {
        key: tuple(frozenset(word for text in level for word in indexed(text)) for level in _levels(f))
        for key, f in sweep.formulas().items()
    }


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset().union(*(level for levels in _levels_in_words().values() for level in levels))


@lru_cache(1000)
def matching(word: str) -> frozenset[str]:
    """The words of the index that a typed word stands for: itself in singular and plural and with other ENDINGS (two
    letters have a plural alone: "r" is not "ring"); if it is no word of the index, those that it begins.

    >>> sorted(matching("busb")), sorted(matching("switches"))
    (['busbw'], ['switch', 'switches'])
    """
    forms = [word]
    if _stem(word) != word:
        forms.append(_stem(word))
    if word.endswith("ies"):
        forms.append(f"{word[:-3]}y")
    elif re.search("(ch|sh|ss|x)es$", word):
        forms.append(word[:-2])
    elif word.endswith("y"):
        forms.append(f"{word[:-1]}ies")
    known = [form for form in forms if form in _vocabulary()]
    whole = {form + ending for form in known for ending in ENDINGS[: None if len(form) > 2 else 2]}
    return whole & _vocabulary() or frozenset(other for other in _vocabulary() if other.startswith(word))


@cache
def _titles(f: Formula) -> tuple[list[str], ...]:
    """The title of a formula in words, and its name in one word and in several."""
    return words(f.title), words(f.name), words(f.name.replace("_", " "))


def _rank(f: Formula, asked: list[str], hits: list[frozenset[str]]) -> tuple | None:
    """The rank of a formula: by the least of its levels that is needed, by all of them, a name or title that
    equals the query first, then the shorter title; None if a word is missing. ``hits``: what each word of
    ``asked`` stands for."""
    levels = _levels_in_words()[f"{f.room.partition('.')[2]}.{f.name}"]
    at = []
    for these in hits:
        level = next((i for i, there in enumerate(levels) if not these.isdisjoint(there)), None)
        if level is None:
            return None
        at.append(level)
    titles = _titles(f)
    return max(at, default=0), sum(at), asked not in titles, len(titles[0]) if asked else 0


@cache
def index() -> dict:
    """All that the filter of the formula index needs: ``texts`` in words, the numbers of the texts of each formula by
    the anchor of its entry, and the rules for words.

    >>> sorted(index())
    ['endings', 'formulas', 'joined', 'stop', 'texts']
    """
    texts: dict[str, int] = {}
    entries = {}
    for key, f in sweep.formulas().items():
        name, others, gives, takes, holds, sources = _levels(f)
        shared = [indexed(text) for text in (*gives, *takes, *sources)]  # with other formulas
        own = indexed(" ".join([*name, *others, *holds]))
        own = [word for word in own if not any(word in text for text in shared)]
        lines = (" ".join(text) for text in (own, *shared))
        entries[anchor(key)] = sorted({texts.setdefault(line, len(texts)) for line in lines})
    rules = {"stop": " ".join(sorted(STOP)), "joined": list(JOINED), "endings": list(ENDINGS)}
    return {**rules, "texts": list(texts), "formulas": entries}


# The query, and what to ask instead


def _quantity(one, what: str) -> Quantity:
    """A quantity from its name or from itself."""
    if isinstance(one, Quantity):
        return one
    if not isinstance(one, str):
        raise TypeError(f"{what}: expected quantities or their names, such as 'T_comms'; got {one!r}")
    known = quantities()
    if one not in known:
        lower = {name.lower(): name for name in known}
        close = [q.name for q in known.values() if one.lower() in re.split(r",\s*", q.also.lower())]
        close = close or [lower[name] for name in difflib.get_close_matches(one.lower(), lower, 3)]
        hint = f"did you mean {' or '.join(dict.fromkeys(close[:3]))}?" if close else "the notation page lists them all"
        raise KeyError(f"{what}: {one!r} is not a quantity of the book; {hint}")
    return known[one]


def _in_order(some: Iterable[Quantity]) -> list[str]:
    some = set(some)
    return [name for name, q in quantities().items() if q in some]


def _question(text: str, lhs, known) -> str:
    """The query, to follow "formulas"."""
    said = f" for {text.strip()!r}" if text.strip() else ""
    said += f" giving {lhs.name}" if lhs is not None else ""
    if known is not None:
        said += f" from {', '.join(_in_order(known))} alone" if known else " from nothing"
    return said


def _reason(asked: list[str], lhs, known) -> str:
    """Why nothing was found, with words or quantities to try."""
    strange = [word for word in dict.fromkeys(asked) if not matching(word)]
    if strange:
        said = []
        for word in strange:
            close = difflib.get_close_matches(word, sorted(_vocabulary()), 3)
            said.append(f"{word!r}; close ones: {', '.join(close)}" if close else f"{word!r}")
        return f"No formula has the word {', nor '.join(said)}."
    hits = [matching(word) for word in asked]
    fits = [f for f in sweep.formulas().values() if _rank(f, asked, hits) is not None]
    if not fits:
        return f"No formula has all of these words: {', '.join(map(repr, dict.fromkeys(asked)))}."
    given = [f for f in fits if lhs is None or f.lhs is lhs]
    if not given:
        there = _in_order(f.lhs for f in fits)
        more = ", ..." if len(there) > 8 else ""
        return f"{'Formulas with these words' if asked else 'Formulas'} give {', '.join(there[:8])}{more}."
    nearest = min(given, key=lambda f: len(set(f.inputs) - known))
    return f"The nearest, {nearest.name}, needs {', '.join(_in_order(set(nearest.inputs) - known))} as well."
