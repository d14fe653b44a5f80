"""The search index: the entries of the site, and the words by which each is found.

The browser ranks them (``widgets/static/search.js``) by the weights that are counted here: words of a name or a heading
weigh more than words of the text, and rare words more than frequent ones.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

from gpuscale.book.search_entries import Entry
from gpuscale.catalogue import search
from gpuscale.widgets.shared import SEEK_DATA

MOST = 4000  # letters of an entry's text: more is a long table
# The first entry for what a newcomer types, where words alone would choose another one
ANSWERS = tomllib.loads(Path(__file__).with_name("answers.toml").read_text(encoding="utf-8"))["answers"]
# Words of a question that say nothing of what is sought
ASKING = "can do does fast how i me much my need needs should take takes to use what when where which why"
# What the words of each part of an entry weigh: its name, other names for it, the headings above it, its text
NAME, OTHER, ABOVE, TEXT = 8, 4, 1.5, 1
USUAL = 60  # words of a text of usual length: a longer one has to say a word more often
LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # weights as letters, from the least to the largest


def index(found: list[Entry]) -> dict:
    """All that the search of the browser needs.

    ``pages`` are addresses with titles; ``entries`` have kind, page, anchor, name, section and text; ``words`` are all
    words, ``posts`` has for each of them the entries with their weights: the distance from the entry before, in base
    36, and a letter; ``answers`` has first entries for whole queries; ``stop``, ``joined``, ``endings`` and
    ``asking`` are rules for words.
    """
    titles = {entry.page: entry.name for entry in found if entry.kind == "page"}
    place = {page: i for i, page in enumerate(titles)}
    weights: dict[str, dict[int, float]] = defaultdict(dict)
    for number, entry in enumerate(found):
        above = "" if entry.kind == "page" else f"{titles[entry.page]} {entry.above}"
        for words, worth in ((entry.name, NAME), (entry.other, OTHER), (above, ABOVE)):
            for word in search.indexed(words):
                weights[word][number] = max(weights[word].get(number, 0), worth)
        counts = Counter(word for word in search.words(entry.text))
        long = sum(counts.values()) / USUAL
        counts.update({part: 1 for part in search.indexed(entry.text) if part not in counts})
        for word, count in counts.items():
            weights[word][number] = weights[word].get(number, 0) + 2 * TEXT * count / (count + 0.5 + long)
    words = sorted(weights)
    rows = [
        [entry.kind, place[entry.page], entry.anchor, entry.name, entry.above, entry.text[:MOST]] for entry in found
    ]
    where = {(entry.page, entry.anchor): i for i, entry in reversed(list(enumerate(found)))}
    pages = {entry.page: i for i, entry in reversed(list(enumerate(found))) if entry.kind == "page"}
    answers = {}
    for target, queries in ANSWERS.items():
        page, _, anchor = target.partition("#")
        number = where[page, anchor] if anchor else pages[page]
        answers |= {" ".join(_meant(query)): number for query in queries}
    return {
        "pages": list(titles.items()),
        "entries": rows,
        "words": " ".join(words),
        "posts": " ".join(_posts(weights[word]) for word in words),
        "answers": answers,
        "stop": " ".join(sorted(search.STOP)),
        "asking": ASKING,
        "joined": list(search.JOINED),
        "endings": list(search.ENDINGS),
    }


def _meant(query: str) -> list[str]:
    """The words of a query that say what is sought."""
    words = search.words(query)
    return [word for word in words if word not in ASKING.split()] or words


def _posts(weights: dict[int, float]) -> str:
    """Entries with their weights as text: "5C" is the fifth entry after the one before, with the third weight."""
    out, before = "", -1
    for number, weight in sorted(weights.items()):
        letter = LEVELS[min(len(LEVELS) - 1, round(2 * weight))]
        out += f"{_base36(number - before)}{letter}"
        before = number
    return out


def _base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return (_base36(number // 36) if number >= 36 else "") + digits[number % 36]


def write(site: Path, found: list[Entry]) -> None:
    """Write the index into a built site, as a script, since a page opened from a file may load nothing else."""
    text = json.dumps(index(found), ensure_ascii=False, separators=(",", ":"))
    script = f"globalThis.gpuscale.found = JSON.parse({json.dumps(text, ensure_ascii=False)});\n"
    (site / "_static" / SEEK_DATA).write_text(script, encoding="utf-8")
