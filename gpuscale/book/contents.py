"""The parts of the book, in the order of _toc.yml, and the numbers that its pages have on paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

import yaml

LETTERED = "Appendices"


@dataclass(frozen=True)
class Page:
    """A page of the book: its name without ending, the caption of its part ("" for the first pages), its number."""

    name: str
    part: str
    number: str


def pages(root: Path) -> list[Page]:
    """Every page in order. Chapters are numbered through all parts, appendices have letters; quizzes and practice
    sheets, which have titles of their own, have neither."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = [Page(toc["root"], "", "")]
    chapters = 0
    for part in toc["parts"]:
        caption = part.get("caption", "")  # the planner stands before all parts
        for place, chapter in enumerate(part["chapters"]):
            number = ""
            if re.match(r"[IVX]+\. ", caption):
                chapters += 1
                number = str(chapters)
            elif caption == LETTERED:
                number = ascii_uppercase[place]
            found.append(Page(chapter["file"], caption, number))
    return found
