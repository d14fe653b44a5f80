"""The glossary: each term of the field with its Chinese name, what it means, and the chapter that teaches it."""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gpuscale.core.html import Html, anchor, element, escape, region, table

FILE = "glossary.toml"
KEYS = {"term", "zh", "also", "means", "chapter"}


class GlossaryError(ValueError):
    """An entry that cannot be shown; the message names it and what was expected."""


@dataclass(frozen=True)
class Term:
    """An entry. ``also`` are other names in use; ``chapter`` is the notebook that defines the term."""

    term: str
    zh: str
    means: str
    chapter: str
    also: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Its place on the glossary page."""
        return f"term-{anchor(self.term.lower())}"

    @property
    def names(self) -> tuple[str, ...]:
        """The term and its other names."""
        return (self.term, *self.also)


@cache
def terms() -> dict[str, Term]:
    """All entries by their term, in alphabetical order. Raises GlossaryError for a flawed one."""
    text = resources.files("gpuscale.page").joinpath(FILE).read_text(encoding="utf-8")
    found = [_term(row) for row in tomllib.loads(text)["term"]]
    counts = Counter(name.lower() for one in found for name in one.names)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise GlossaryError(f"{FILE}: {', '.join(twice)} appears twice; expected each name once")
    return {one.term: one for one in sorted(found, key=lambda one: one.term.lower())}


def _term(row: dict) -> Term:
    name = row.get("term", "an entry without a term")
    lacking = [key for key in ("term", "zh", "means", "chapter") if not str(row.get(key, "")).strip()]
    if odd := [*lacking, *(set(row) - KEYS)]:
        raise GlossaryError(f"{FILE}: {name}: check {', '.join(sorted(odd))}; expected {', '.join(sorted(KEYS))}")
    return Term(**row | {"also": tuple(row.get("also", ()))})


@cache
def pattern(one: Term) -> re.Pattern[str]:
    """What a use of the term looks like in running text: any of its names, in the singular or plural."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_form, one.names))})(?![\w-])")


def _form(name: str) -> str:
    """A name as it occurs in a sentence: a small letter may be capital; a plain noun has a plural."""
    head = re.escape(name).replace(r"\ ", r"[\s-]")
    if name[0].islower():
        head = f"[{name[0]}{name[0].upper()}]{head[1:]}"
    if re.search(r"[^aeiou]y$", name):
        return f"{head[:-1]}(?:y|ies)"
    return head + (r"(?:es)?" if re.search(r"(s|x|ch|sh)$", name) else "s?")


def glossary() -> Html:
    """The table of the glossary page."""
    rows, ids = [], []
    for one in terms().values():
        also = f'<small class="note">also: {escape(", ".join(one.also))}</small>' if one.also else ""
        words = one.chapter.replace("_", " ").capitalize().replace(" gpu", " GPU").replace(" flops", " FLOPs")
        link = element("a", escape(words), href=f"{one.chapter}.ipynb")
        name = f"{element('b', escape(one.term))} {also}"
        rows.append((name, element("span", escape(one.zh), lang="zh"), escape(one.means), link))
        ids.append(one.anchor)
    plain = "\n".join(f"{one.term} | {one.zh} | {one.means} | {one.chapter}" for one in terms().values())
    heads = ["Term", "Chinese", "Meaning", "Taught in"]
    return Html(region("Glossary", table(heads, rows, "plain-table glossary", ids=ids)), plain)
