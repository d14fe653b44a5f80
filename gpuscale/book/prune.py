"""Remove from a built site the files that no page can load."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

from gpuscale.widgets.shared import PRACTICE_FILE, TAUGHT_FILE

LINK = re.compile(r'(?:href|src)\s*=\s*"([^"]+)"')
STYLE_URL = re.compile(r'url\(\s*["\']?([^"\')]+)["\']?\s*\)')
# Read by Sphinx, by other projects or by our scripts rather than named on a page.
BY_NAME = ("objects.inv", ".buildinfo", ".nojekyll", f"_static/{PRACTICE_FILE}", f"_static/{TAUGHT_FILE}")


def local(link: str, page: Path, site: Path) -> Path | None:
    """The file of the site that a link on `page` names, or None."""
    name = unquote(urldefrag(link)[0].split("?")[0])
    if not name or re.match(r"[a-z]+:|//", name):
        return None
    path = (page.parent / name).resolve()
    return path if path.is_file() and path.is_relative_to(site) else None


def links(path: Path) -> list[str]:
    """What a page or a style names."""
    if path.suffix == ".html":
        return LINK.findall(path.read_text(encoding="utf-8"))
    if path.suffix in (".css", ".svg"):
        return STYLE_URL.findall(path.read_text(encoding="utf-8"))
    return []


def reachable(site: Path) -> set[Path]:
    """Every file that opening the pages can load or offer."""
    todo = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    seen = set(todo)
    seen |= {site / name for name in BY_NAME} | set((site / "reports").rglob("*"))
    while todo:
        page = todo.pop()
        for link in links(page):
            path = local(link, page, site)
            if path and path not in seen:
                seen.add(path)
                todo.append(path)
    return seen


def share(site: Path) -> None:
    """Point links to a copy of a page's notebook at the notebook itself, so that the copy is not needed."""
    sources = {path.read_bytes(): path for path in (site / "_sources").rglob("*.ipynb")}
    copies = {path: sources.get(path.read_bytes()) for path in (site / "_downloads").glob("*/*.ipynb")}
    shared = {copy.relative_to(site): path.relative_to(site) for copy, path in copies.items() if path}
    for page in site.rglob("*.html") if shared else ():
        text = before = page.read_text(encoding="utf-8")
        for copy, path in shared.items():
            text = text.replace(f'{copy.as_posix()}"', f'{path.as_posix()}"')
        if text != before:
            page.write_text(text, encoding="utf-8")


def prune(site: Path) -> tuple[int, int]:
    """Delete unreachable files; returns the bytes removed and the bytes kept."""
    site = site.resolve()
    share(site)
    keep = reachable(site)
    removed = kept = 0
    for path in sorted(site.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path in keep:
            kept += path.stat().st_size
        else:
            removed += path.stat().st_size
            path.unlink()
    return removed, kept
