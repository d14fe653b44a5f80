"""Everything a reader of the book or of the library meets, as passages of text with their places."""

import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Makefile")
# Expressions and keys of the data, not words.
UNREAD = {
    "ours",
    "form",
    "with",
    "covered",
    "derivation",
    "id",
    "unit",
    "verdict",
    "published",
    "source",
    "chapter",
    "url",
    "key",
}
SCRIPT = re.compile(r"/\*(.*?)\*/|(?<![:\w])//(.*?)$|`([^`]*)`|\"([^\"\n]*)\"|'([^'\n]*)'", re.S | re.M)
CODE = re.compile(r"^(```|~~~).*?^\1|(`+)[^`].*?\2(?!`)", re.S | re.M)
COMMENT = re.compile(r"^\s*#+ (.*)$", re.M)


class Passage(NamedTuple):
    """A piece of text, the file it stands in, where in that file, and what it is there."""

    file: str
    place: str
    text: str
    kind: str  # markdown, output, printed, string, docstring, comment, data, script or document

    def __str__(self) -> str:
        return f"{self.file}, {self.place}"


@cache
def passages() -> tuple[Passage, ...]:
    """All of them: pages, questions, library, documents, and what the tests say about themselves."""
    found: list[Passage] = []
    for path in sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("exercises/*.ipynb")]):
        found += notebook(path)
    for path in sorted([*ROOT.glob("exercises/*.py"), *ROOT.glob("gpuscale/**/*.py")]):
        found += python(path.read_text(encoding="utf-8"), named(path))
    for path in sorted(ROOT.glob("tests/**/*.py")):
        found += [one for one in python(path.read_text(encoding="utf-8"), named(path)) if one.kind != "string"]
    for path in sorted(ROOT.glob("gpuscale/**/*.toml")):
        found += data(path)
    for path in sorted([*ROOT.glob("gpuscale/widgets/static/*"), *ROOT.glob("assets/**/*.css")]):
        found += script(path)
    for name in DOCUMENTS:
        found += document(ROOT / name)
    return tuple(found)


def named(path: Path) -> str:
    """A file by its path in the project."""
    return path.relative_to(ROOT).as_posix()


def cells(path: Path) -> list[dict]:
    """The cells of a notebook, with sources and outputs as strings."""
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell | {"source": "".join(cell["source"]), "tags": cell["metadata"].get("tags", [])} for cell in stored]


def output(one: dict) -> tuple[str, str]:
    """The kind and text of a stored output: Markdown, what stands for a figure or a card, or what a program printed."""
    held = one.get("data", {})
    kind = "markdown" if "text/markdown" in held else "output" if held else "printed"
    return kind, "".join(held.get("text/markdown") or held.get("text/plain") or one.get("text", ""))


def notebook(path: Path) -> Iterator[Passage]:
    """Markdown cells, strings and comments of code cells, and stored outputs."""
    for number, cell in enumerate(cells(path)):
        place = f"cell {number}"
        if cell["cell_type"] == "markdown":
            yield Passage(named(path), place, prose(cell["source"]), "markdown")
            continue
        yield from (one._replace(place=place) for one in python(cell["source"], named(path)))
        for one in cell["outputs"]:
            kind, text = output(one)
            yield Passage(named(path), f"output of {place}", prose(text) if kind == "markdown" else text, kind)


def prose(text: str) -> str:
    """Markdown without its code."""
    return CODE.sub(" ", text)


def python(source: str, file: str) -> Iterator[Passage]:
    """Comments, docstrings and strings of more than one word; what an f-string computes stands as {}."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Passage(file, f"line {token.start[0]}", prose(token.string.lstrip("# ")), "comment")
    tree = ast.parse(source)
    inside, documented = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            documented.add(node.body[0].value)
        if isinstance(node, ast.JoinedStr):
            inside.update(part for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if node in inside or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        said = [part.value if isinstance(part, ast.Constant) else "{}" for part in parts]
        if all(isinstance(one, str) for one in said) and re.search(r"\w\W+\w", text := "".join(said)):
            kind = "docstring" if node in documented else "string"
            yield Passage(file, f"line {node.lineno}", prose(text), kind)


def data(path: Path) -> Iterator[Passage]:
    """The texts of a TOML file, and its comments."""

    def walk(value, key, where):
        if isinstance(value, dict):
            where = value.get("id") or value.get("key") or where
            for name, inner in value.items():
                yield from walk(inner, name, where or name)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner, key, where)
        elif isinstance(value, str) and key not in UNREAD:
            yield Passage(named(path), f"{where}, {key}", value, "data")

    text = path.read_text(encoding="utf-8")
    yield from walk(tomllib.loads(text), "", "")
    yield from (Passage(named(path), "comment", found, "comment") for found in COMMENT.findall(text))


def script(path: Path) -> Iterator[Passage]:
    """Comments and strings of a script or a style sheet."""
    for found in SCRIPT.finditer(text := path.read_text(encoding="utf-8")):
        line = text.count("\n", 0, found.start()) + 1
        yield Passage(named(path), f"line {line}", next(part for part in found.groups() if part is not None), "script")


def document(path: Path) -> Iterator[Passage]:
    """A document, paragraph by paragraph."""
    for block in re.split(r"\n\s*\n", CODE.sub(" ", path.read_text(encoding="utf-8"))):
        yield Passage(named(path), block.strip()[:30], block, "document")
