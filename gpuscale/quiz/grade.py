"""The score of a notebook, read from the outputs of its ``check`` cells; nothing is run unless you ask for it.

    python -m gpuscale.quiz.grade exercises/hardware.ipynb [...] [--json] [--execute]

``--execute`` runs a copy in memory first. The exit status is 0 whatever the score, 1 for an unreadable file.
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gpuscale.quiz.checking import MIME, Result, read
from gpuscale.quiz.question_sets import UnknownQuestion, load_set
from gpuscale.quiz.wording import strip
from gpuscale.widgets.shared import SCORE, VERDICTS


class UnreadableNotebook(ValueError):
    """A file that is not a notebook, or that could not be run."""


@dataclass(frozen=True)
class GradedNotebook:
    """The results in a notebook, one for each question: the last check of it counts.

    ``old`` names the questions that have changed since they were checked, ``missing`` those of the notebook's
    sets that it never checks.
    """

    path: str
    results: list[Result]
    old: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(r.right for r in self.results)

    @property
    def total(self) -> int:
        """How many there are, including those never checked."""
        return len(self.results) + len(self.missing)

    def record(self) -> dict:
        """The grades as plain data."""
        kept = ("id", "variant", "typed", "verdict")
        rows = [{k: getattr(r, k) for k in kept} | {"message": strip(r.message)} for r in self.results]
        head = {"file": self.path, "right": self.right, "total": self.total}
        return head | {"results": rows, "old": self.old, "missing": self.missing}


def notebook(path: Path, execute: bool = False):
    """The notebook in a file, run first if asked for. Raises UnreadableNotebook, saying why."""
    import nbformat

    try:
        nb = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise UnreadableNotebook(f"{path}: there is no such file") from None
    except OSError as error:
        raise UnreadableNotebook(f"{path}: cannot be read ({error.strerror})") from None
    except Exception:  # nbformat raises many kinds of errors for other files
        raise UnreadableNotebook(f"{path}: is not a notebook; expected an .ipynb file as JupyterLab saves it") from None
    return _run(nb, path) if execute else nb


def _run(nb, path: Path):
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    where = {"metadata": {"path": str(path.parent)}}
    try:
        NotebookClient(nb, kernel_name="python3", timeout=600, allow_errors=True, resources=where).execute()
    except (CellExecutionError, DeadKernelError, RuntimeError, TimeoutError) as error:
        raise UnreadableNotebook(f"{path}: could not be run ({str(error).splitlines()[0]})") from None
    return nb


def results(nb) -> list[Result]:
    """The results that a notebook holds: the last of each question, in the order of their first checks."""
    found: dict[str, Result] = {}
    for cell in nb.get("cells", []):
        for output in cell.get("outputs", []):
            record = read(output.get("data", {}).get(MIME))
            if record:
                found[record.id] = record
    return list(found.values())


def grade(path: str | Path, execute: bool = False) -> GradedNotebook:
    """The results of a notebook file. Raises UnreadableNotebook for other files."""
    found = {r.id: r for r in results(notebook(Path(path), execute))}
    there = {}
    for name in dict.fromkeys(key.rpartition(".")[0] for key in found):
        with contextlib.suppress(ImportError, UnknownQuestion):  # a set that does not exist any more has changed
            there |= {one.id: one for one in load_set(name)}
    old = [key for key, r in found.items() if key not in there or there[key].stamp != r.stamp]
    return GradedNotebook(str(path), list(found.values()), old, [key for key in there if key not in found])


def grade_table(sheet: GradedNotebook) -> str:
    """A sheet as text: a line for each question, then the score."""
    if not sheet.results:
        return f"{sheet.path}\n  no checked questions: run its check(...) cells and save it, or use --execute"
    wide = max(len(name) for name in [*(r.id for r in sheet.results), *sheet.missing])
    lines = [sheet.path]
    for r in sheet.results:
        mark, word, _ = VERDICTS[r.verdict]
        said = "" if r.verdict == "open" else f"  {_short(r.typed)!r}  {strip(r.message)}"
        old = "  (the question has changed since: run it again)" if r.id in sheet.old else ""
        lines.append(f"  {r.id:<{wide}}  {mark} {word.rstrip('.:'):<10}{said}{old}".rstrip())
    lines += [f"  {name:<{wide}}  · never checked" for name in sheet.missing]
    return "\n".join([*lines, f"  {SCORE.format(sheet.right, sheet.total)}"])


def _short(text: str) -> str:
    return text if len(text) <= 32 else text[:31] + "…"


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m gpuscale.quiz.grade", description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="+", metavar="NOTEBOOK", help="a saved notebook")
    parser.add_argument("--json", action="store_true", help="print plain data instead of a table")
    parser.add_argument("--execute", action="store_true", help="run a copy of each notebook first")
    options = parser.parse_args(None if arguments is None else list(arguments))
    sheets, failed = [], []
    for path in options.notebooks:
        try:
            sheets.append(grade(path, options.execute))
        except UnreadableNotebook as error:
            failed.append(str(error))
    if options.json:
        print(json.dumps([s.record() for s in sheets], indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(grade_table(s) for s in sheets), end="\n" if sheets else "")
    for message in failed:
        print(message, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
