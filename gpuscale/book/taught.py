"""Where the idea of each question is taught: a section of a chapter, for those who missed it.

The idea is the formula that is the answer, or the section's heading. A formula that a chapter explains is taught in the
section of its card, and a prediction in the section that asks it. For any other question it is the section, of the
chapters that its set belongs to, whose words are most like its own.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

from gpuscale.book.search_entries import LISTS, Entry
from gpuscale.catalogue import search
from gpuscale.core.derivation import Derivation
from gpuscale.core.formula import Formula
from gpuscale.quiz.question import Question
from gpuscale.quiz.question_sets import QuestionSet, load_set, sets
from gpuscale.widgets.shared import TAUGHT_FILE

CHAPTER = re.compile(r"chapters/(\w+)\.ipynb")
TABLES = ("chapters/hardware_tables", *LISTS)
REST = ("Goals", "Practice", "Take-aways", "Try it", "Where this breaks", "Sources", "Setup")  # they teach no idea


def _formulas(question: Question) -> list[str]:
    """The titles of the formulas that a question is about: its answer, then those of its solution."""
    parts = question.solution if isinstance(question.solution, list) else [question.solution]
    named = [question.answer, *(part[0] if isinstance(part, tuple) else part for part in parts)]
    return [one.title for one in named if isinstance(one, (Formula, Derivation)) and getattr(one, "title", "")]


def _words(question: Question) -> Counter:
    said = [question.ask, question.hint, question.remark, *question.mistakes, *(c[1] for c in question.choices)]
    return Counter(search.words(" ".join(said)))


def chapters(questions: QuestionSet) -> list[str]:
    """The chapters that a set belongs to: its own, or those that its introduction names."""
    named = [questions.chapter] if questions.chapter else dict.fromkeys(CHAPTER.findall(questions.intro))
    return [chapter for chapter in named if f"chapters/{chapter}" not in TABLES]


def taught(found: list[Entry]) -> dict[str, list[str]]:
    """For each question its idea, the title of the chapter, the address of the section, and the page that asks it;
    then the number that a reader sees, where it is another than in the question's name."""
    titles = {entry.page: entry.name for entry in found if entry.kind == "page"}
    sections = [entry for entry in found if entry.kind == "section" and entry.name not in REST]
    at = {(entry.page, entry.name): entry for entry in sections}
    cards = {
        entry.name: entry
        for entry in reversed(found)
        if entry.kind in ("card", "formula") and (entry.page, entry.above) in at and entry.page not in TABLES
    }
    known = {entry.name for entry in found if entry.kind in ("card", "formula")}
    asked = {entry.anchor: entry for entry in found if entry.kind == "question"}
    counts = {id(entry): Counter(search.words(f"{entry.name} {entry.name} {entry.text}")) for entry in sections}
    rare = Counter(word for count in counts.values() for word in count)
    out = {}
    for name in sets():
        them = load_set(name)
        pages = [f"chapters/{chapter}" for chapter in chapters(them)]
        near = [entry for entry in sections if entry.page in pages]
        for one in them:
            ideas = [title for title in _formulas(one.question) if title in known]
            card = next((cards[title] for title in ideas if title in cards), None)
            asks = asked.get(f"q-{one.set_name}-{one.number}")
            here = card or (asks if one.question.predict else None)
            section = at.get((here.page, here.above)) if here else None
            if section is None and near:
                mine = _words(one.question)
                section = max(near, key=lambda entry: _alike(mine, counts[id(entry)], rare, len(sections)))
            if section is not None:
                idea = card.name if card else ideas[0] if ideas else section.name
                place = f"{section.page}.html#{section.anchor}"
                out[one.id] = [idea, titles[section.page], place, asks.page if asks else f"exercises/{name}"]
                out[one.id] += [one.listed] if one.listed != one.number else []
    return out


def _alike(mine: Counter, theirs: Counter, rare: Counter, many: int) -> float:
    """How much two texts have in common, by words that few sections have."""
    shared = sum(min(mine[word], 2) * math.log(many / rare[word]) ** 2 for word in mine if word in theirs)
    return shared / math.log(20 + sum(theirs.values()))


def write(site: Path, found: list[Entry]) -> None:
    """The file that a page loads when someone asks what to review, and the page of the whole score."""
    rows = json.dumps(taught(found), ensure_ascii=False, separators=(",", ":"))
    (site / "_static" / TAUGHT_FILE).write_text(f"gpuscale.taught = {rows};\n", encoding="utf-8")
