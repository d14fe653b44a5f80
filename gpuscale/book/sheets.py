"""Exercise sheets: one notebook per question set, with a card and an answer cell per question.

    python -m gpuscale.book.sheets hardware     # write or update exercises/hardware.ipynb
    python -m gpuscale.book.sheets --check      # list the sheets that do not match their questions

Answers that stand in a sheet are kept; a new question starts unanswered (``...``).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from gpuscale.book import normalise
from gpuscale.quiz import wording
from gpuscale.quiz.checking import check
from gpuscale.quiz.grade import grade
from gpuscale.quiz.question_sets import PACKAGE, Item, QuestionSet, UnknownQuestion, load_set, sets

SETUP = """# No module named gpuscale? Install the wheel that the welcome page of the book offers.
from gpuscale.notebook import *

look()"""
HOW = """**How to answer.** Type into a card and press Check, or replace the `...` in the cell under it, as in
`check("{name}.1", "{example}")`, and run that cell. Units are part of an answer; a choice is named by its letter;
a formula is typed as text, such as `"V/W (N-1)/N"`. Save the notebook, and
`python -m gpuscale.quiz.grade {name}.ipynb` adds up what is right."""


PREDICTIONS = """## Predict first

The chapter asks these questions just before it gives their answers."""


def folder() -> Path:
    """The folder of the question sets and their sheets."""
    return Path(importlib.import_module(PACKAGE).__path__[0])


def sheet(questions: QuestionSet, kept: dict[str, str] | None = None) -> NotebookNode:
    """The sheet of a question set, not yet run; ``kept`` holds answer cells by question id."""
    kept = kept or {}
    # Under the chapter's own name, a search could not tell the two apart.
    title = f"Practice: {questions.title}" if questions.chapter else questions.title
    intro = f"# {title}\n\n{questions.intro.strip()}".rstrip()
    if questions.chapter:
        intro += f"\n\nThey belong to the chapter [{_chapter(questions)}](../chapters/{questions.chapter}.ipynb)."
    cells = [
        nbformat.v4.new_markdown_cell(intro),
        _code(SETUP, "remove-cell"),
        _hidden(nbformat.v4.new_markdown_cell(HOW.format(name=questions.name, example=_example(questions)))),
        _code(f'score("{questions.name}")', "remove-input"),
    ]
    predicting = False
    for one in sorted(questions, key=lambda one: one.question.predict):
        if one.question.predict and not predicting:
            cells.append(nbformat.v4.new_markdown_cell(PREDICTIONS))
            predicting = True
        if one.question.heading:
            cells.append(nbformat.v4.new_markdown_cell(f"## {one.question.heading}"))
        cells.append(_code(f'ask("{one.id}")', "remove-input"))
        cells.append(_code(kept.get(one.id) or blank(one), "remove-cell"))
    return nbformat.v4.new_notebook(cells=cells, metadata=normalise.METADATA)


def _example(questions: QuestionSet) -> str:
    """A typed answer that is right for none of the questions."""
    texts = ("65 us", "2 ms", "7 s")
    asked = [(one, i) for one in questions for i in range(1, 1 + len(one.question.given))]
    right = {text for text in texts if any(check(one, text, variant=i).verdict == "right" for one, i in asked)}
    return next(text for text in texts if text not in right)


def _chapter(questions: QuestionSet) -> str:
    """The title of the chapter that a set belongs to."""
    return questions.title.removeprefix("Check yourself: ")


def _code(source: str, tag: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": [tag]})


def _hidden(cell: NotebookNode) -> NotebookNode:
    cell.metadata["tags"] = ["remove-cell"]
    return cell


def blank(one: Item) -> str:
    """The answer cell of a question before anyone answered; a choice lists its options."""
    given = one.question.given[0]
    options = [wording.plain(choice[0], given) for choice in one.question.choices]
    lines = [f"# {letter}: {text}" for letter, text in zip("ABCDEFGHIJ", options, strict=False)]
    return "\n".join([*lines, f'check("{one.id}", ...)'])


def answered(nb: NotebookNode) -> dict[str, str]:
    """The answer cells of a notebook that hold an answer, by question id."""
    found = {}
    for cell in nb.cells:
        if cell.cell_type == "code" and (call := _check_call(cell.source)):
            name, typed = call
            if typed is not None and not (isinstance(typed, ast.Constant) and typed.value is ...):
                found[name] = cell.source
    return found


def _check_call(source: str) -> tuple[str, ast.expr | None] | None:
    """The question and the answer of a cell's last check(...), if it has one."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "check"]
    if not calls or not calls[-1].args or not isinstance(calls[-1].args[0], ast.Constant):
        return None
    return str(calls[-1].args[0].value), calls[-1].args[1] if len(calls[-1].args) > 1 else None


def differs(name: str, where: Path) -> str:
    """Why the sheet of that name does not match its questions; "" if it does."""
    path = where / f"{name}.ipynb"
    if not path.exists():
        return "is missing"
    stored = normalise.read(path)
    made = normalise.normalise(sheet(load_set(name), answered(stored)))
    face = [[(c.cell_type, c.source, c.metadata.get("tags")) for c in nb.cells] for nb in (stored, made)]
    if face[0] != face[1]:
        return "does not match the questions"
    return "holds results of questions that have changed" if grade(path).old else ""


def write(name: str, where: Path, run: bool = True) -> Path:
    """Writes or updates the sheet of a set, run and in normal form; answers in it are kept."""
    path = where / f"{name}.ipynb"
    kept = answered(normalise.read(path)) if path.exists() else {}
    nb = sheet(load_set(name), kept)
    if run:
        nb = normalise.execute(nb, where)
    path.write_text(nbformat.writes(normalise.normalise(nb)).rstrip("\n") + "\n", encoding="utf-8")
    return path


def main(arguments: list[str] | None = None) -> int:
    """The command line. Gives 1 if --check finds a sheet that is out of date."""
    parser = argparse.ArgumentParser("python -m gpuscale.book.sheets", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="question sets (default: all)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a sheet is out of date")
    options = parser.parse_args(arguments)
    try:
        names = [load_set(name).name for name in options.names or sets()]
    except UnknownQuestion as error:
        parser.error(str(error))
    if not options.check:
        for name in names:
            print(f"{write(name, folder())}: written", flush=True)
        return 0
    wrong = {name: why for name in names if (why := differs(name, folder()))}
    for name, why in wrong.items():
        print(f"exercises/{name}.ipynb {why}: run python -m gpuscale.book.sheets {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
