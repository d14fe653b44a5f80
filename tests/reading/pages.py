"""The chapters as a reader meets them: in the order of the book, cell by cell, as prose and as mathematics."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NUMBERED = re.compile(r"[IVX]+\. ")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)
MATH = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]*)\)")
SENTENCE = re.compile(r"[^.!?]*[.!?]?")


@dataclass(frozen=True)
class Cell:
    """A cell of a chapter: what it says as Markdown, the cards it shows as HTML, whether it stands in the opening."""

    chapter: str
    number: int
    said: str
    cards: str
    opening: bool

    @property
    def math(self) -> list[str]:
        """The formulas in its prose, each as LaTeX."""
        return [wide or inline for wide, inline in MATH.findall(FENCE.sub(" ", self.said))]

    def prose(self, later: frozenset[str] = frozenset()) -> str:
        """Its sentences without headings, formulas, programs and link targets, nor what points to a later chapter.

        A heading announces what the section teaches, so it may use a term that the section defines.
        """
        text = re.sub(r"`[^`]*`|^#.*$", " ", MATH.sub(" ", FENCE.sub(" ", self.said)), flags=re.M)
        ahead = {found[0] for found in LINK.finditer(text) if Path(found[2].split("#")[0]).stem in later}
        for link in ahead:
            quoted = re.escape(link)
            text = re.sub(rf"\([^()]*{quoted}[^()]*\)", " ", text)
            text = re.sub(rf"[^.!?\n]*{quoted}[^.!?\n]*[.!?]?", " ", text)
        return LINK.sub(r"\1", text)


def chapters() -> list[str]:
    """The names of the numbered parts' chapters, in order."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [part for part in contents["parts"] if NUMBERED.match(part.get("caption", ""))]
    return [Path(page["file"]).name for part in parts for page in part["chapters"]]


@cache
def cells(chapter: str) -> tuple[Cell, ...]:
    """The cells of a chapter, in order."""
    notebook = json.loads((ROOT / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    out, opening = [], True
    for number, cell in enumerate(notebook["cells"]):
        data = [output.get("data", {}) for output in cell.get("outputs", [])]
        joined = {kind: "\n".join("".join(d.get(kind, "")) for d in data) for kind in ("text/markdown", "text/html")}
        said = "".join(cell["source"]) if cell["cell_type"] == "markdown" else joined["text/markdown"]
        opening = opening and not re.search(r"^## ", said, re.M)
        out.append(Cell(chapter, number, said, joined["text/html"], opening))
    return tuple(out)
