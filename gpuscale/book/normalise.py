"""Put notebooks into one normal form: executed, and without anything that differs between runs or machines.

It keeps what a reader of the file and nbval need: sources, tags, text, Markdown, LaTeX and HTML outputs.
It drops widget state, images (figures are stored as a text digest), timings, editor metadata and random ids.

    python -m gpuscale.book.normalise --execute chapters/roofline.ipynb    # run, then rewrite in place
    python -m gpuscale.book.normalise --check chapters exercises           # say what is not in normal form
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = ("text/plain", "text/markdown", "text/latex", "text/html", "application/json")
OURS = "application/vnd.gpuscale"
FOLDED = {"hide-input", "remove-input"}
ENGINE = "engine"  # the tag of a cell that needs an extra of the labs; the book shows its stored output
VARIES = "nbval-ignore-output"  # the tag of a cell whose output differs between runs, and is not stored
# A busy machine may take longer than the usual 4 s to deliver an output, which would then be missing without a word
PATIENCE = {"iopub_timeout": 60, "raise_on_iopub_timeout": True}
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def normalise(nb: NotebookNode) -> NotebookNode:
    """A copy of a notebook in normal form. It does not execute: cells that were not run stay visibly so."""
    result = nbformat.v4.new_notebook(metadata=copy.deepcopy(METADATA))
    seen: dict[str, int] = {}
    count = 0
    for cell in nb.cells:
        fresh = NotebookNode(cell_type=cell.cell_type, metadata=_metadata(cell), source=cell.source.rstrip())
        if cell.cell_type == "code":
            ran = cell.get("execution_count") is not None
            count += ran
            fresh.execution_count = count if ran else None
            varies = VARIES in cell.metadata.get("tags", [])
            fresh.outputs = [] if varies else _outputs(cell, fresh.execution_count)
        fresh.id = _identity(fresh, seen)
        result.cells.append(fresh)
    return result


def _identity(cell: NotebookNode, seen: dict[str, int]) -> str:
    """An id that depends on the source alone, so that moving cells leaves no trace in a diff."""
    key = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    seen[key] = seen.get(key, 0) + 1
    return key if seen[key] == 1 else f"{key}-{seen[key]}"


def _metadata(cell: NotebookNode) -> dict:
    """The tags, and the folded input that goes with those that hide it on the site."""
    tags = list(dict.fromkeys(cell.metadata.get("tags", [])))
    kept: dict = {"tags": tags} if tags else {}
    if cell.cell_type == "code" and FOLDED & set(tags):
        kept["jupyter"] = {"source_hidden": True}
    return kept


def _outputs(cell: NotebookNode, count: int | None) -> list[NotebookNode]:
    """The outputs that are stored; neighboring pieces of one stream are one output."""
    kept: list[NotebookNode] = []
    for output in copy.deepcopy(cell.get("outputs", [])):
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        elif output.output_type != "error":
            output.data = {kind: _text(data) for kind, data in sorted(output.data.items()) if _stored(kind)}
            output.metadata = {}
            output.pop("transient", None)
            if output.output_type == "execute_result":
                output.execution_count = count
        kept.append(NotebookNode(output))
    return kept


def _text(data):
    return "".join(data) if isinstance(data, list) else data


def _stored(kind: str) -> bool:
    return kind in KEPT or kind.startswith(OURS)


def problems(nb: NotebookNode) -> list[str]:
    """What keeps a notebook from being in normal form, one sentence each; empty when it is."""
    found = []
    for number, cell in enumerate(nb.cells, 1):
        found += [f"cell {number}: {what}" for what in _cell_problems(cell)]
    if not found and _write(normalise(nb)) != _write(nb):
        found.append("metadata, ids, counts or outputs differ from the normal form")
    return found


def _cell_problems(cell: NotebookNode) -> Iterator[str]:
    if not cell.source.strip():
        yield "is empty"
    if cell.cell_type != "code":
        return
    if cell.get("execution_count") is None:
        yield "was not executed"
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            yield f"ends in an error ({output.get('ename')})"
        elif output.output_type == "stream":
            if output.name == "stderr":
                yield "writes to stderr"
        else:
            for kind, data in output.data.items():
                if not _stored(kind):
                    yield f"stores {kind}"
                elif ADDRESS.search(str(data)):
                    yield "shows a memory address, which differs between runs"


def _write(nb: NotebookNode) -> str:
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"


def execute(nb: NotebookNode, folder: Path, engines: bool = False) -> NotebookNode:
    """Run a notebook in `folder` as nbval does: in this Python, with figures as digests.

    Cells that need an engine run with `engines` only; otherwise they keep their outputs.
    """
    from nbclient import NotebookClient

    skipped = "" if engines else ENGINE
    for cell in nb.cells:
        if cell.cell_type == "code" and skipped not in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = [], None
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(nb, kernel_name="python3", timeout=600, record_timing=False, resources=where, **PATIENCE)
    client.skip_cells_with_tag = skipped
    return client.execute(env=os.environ | {"GPUSCALE_DIGEST": "1"})


def read(path: Path) -> NotebookNode:
    """A notebook file as nbformat 4."""
    return nbformat.read(path, as_version=4)


def notebooks(paths: list[Path]) -> Iterator[Path]:
    """The notebook files among `paths` and in the folders among them."""
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)
        else:
            yield path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m gpuscale.book.normalise", description=__doc__.splitlines()[0])
    folders = [Path("chapters"), Path("exercises")]
    parser.add_argument("paths", nargs="*", type=Path, default=folders, help="notebooks and folders (default: all)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if one is not in normal form")
    parser.add_argument("--execute", action="store_true", help="run each notebook first")
    parser.add_argument("--engines", action="store_true", help="run the cells that need an extra of the labs, too")
    options = parser.parse_args(arguments)
    bad = 0
    for path in notebooks(options.paths):
        start = time.perf_counter()
        nb = read(path)
        if options.execute:
            nb = execute(nb, path.parent, options.engines)
        if not options.check:
            nb = normalise(nb)
            path.write_text(_write(nb), encoding="utf-8")
        found = problems(nb)
        bad += bool(found)
        took = f"  {time.perf_counter() - start:.1f} s" if options.execute else ""
        print(f"{path}{took}: {'; '.join(found) or 'normal'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
