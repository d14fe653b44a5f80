"""What the book holds, read from its sources: the pages of the site, and what their notebooks call."""

import json
import re
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [f"{name}.html" for name in re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text())]
# Sheets are cards of one kind, one below the other: some stand for all where the cards' texts make no difference
SHEETS = [name for name in PAGES if name.startswith("exercises/")]
WHOLE = [name for name in PAGES if name not in SHEETS] + SHEETS[::6]
SETTLE = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
CLICK = """(id) => {
  const link = Object.assign(document.createElement('a'), { href: `#${id}` });
  document.body.append(link); link.click(); link.remove();
}"""


def notebook(page: str) -> Path:
    """The notebook of a page."""
    return ROOT / page.replace(".html", ".ipynb")


@cache
def code(page: str) -> list[str]:
    """The code cells of a page's notebook."""
    cells = json.loads(notebook(page).read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def calling(name: str) -> list[str]:
    """The pages whose notebook calls a function of that name."""
    return [page for page in PAGES if any(re.search(rf"\b{name}\(", cell) for cell in code(page))]


def probe(name: str) -> str:
    """A function of probes.js for the browser to evaluate."""
    return f"(...given) => probes.{name}(...given)"


def visible(selector: str, each: str = "el.id") -> str:
    """A script that lists the visible elements of a page, by their ids or by another expression in ``el``."""
    return (
        f"() => [...document.querySelectorAll('{selector}')].filter((el) => el.checkVisibility()).map((el) => {each})"
    )


def said(problems: list[str]) -> str:
    """What is wrong, a line each, for an assertion's message."""
    return "\n" + "\n".join(problems)


def until(page, holds, limit: float = 15) -> None:
    """Wait until something holds that only Python can tell; a page's own conditions wait in wait_for_function."""
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, "it never happened"
        page.wait_for_timeout(20)


def clipboard(page) -> str:
    """The text on the clipboard."""
    return page.evaluate("() => navigator.clipboard.readText()")
