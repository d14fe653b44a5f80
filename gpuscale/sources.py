"""Sources and their names: a key of the bibliography on every formula and number, a short title for the reader."""

import tomllib
from functools import cache
from pathlib import Path

NAMES = Path(__file__).parent / "specs" / "data" / "sources.toml"
_added: dict[str, str] = {}  # by the reader's own files of numbers


@cache
def _built_in() -> dict[str, str]:
    return tomllib.loads(NAMES.read_text(encoding="utf-8"))["sources"]


def add(names: dict[str, str]) -> None:
    """Short names for the sources of a reader's file, by key; the book's own keys keep theirs."""
    _added.update(names)


def source_name(key: str) -> str:
    """The short name of a source; a text that is not a key is its own name."""
    return _built_in().get(key) or _added.get(key, key)


def source_keys(source: str) -> list[str]:
    """The keys of a source in the bibliography, one for each that ``cited`` names.

    >>> source_keys("nccl-tests, PERFORMANCE.md; llama3, table 4")
    ['nccl-tests', 'llama3']
    """
    return [one.partition(",")[0].strip() for one in source.split("; ")]


def cited(source: str) -> str:
    """A source in plain text: short name, then the place; several are joined by a semicolon."""
    parts = (one.partition(",") for one in source.split("; "))
    return "; ".join(source_name(key.strip()) + comma + place for key, comma, place in parts)
