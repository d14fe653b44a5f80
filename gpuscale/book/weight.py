"""Bytes that opening each page loads, by kind; what is the page's own is in the first column.

python -m gpuscale.book.weight
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from gpuscale.book import mathfont, prune
from gpuscale.book.build import ROOT
from gpuscale.book.served import PAGE_FILES, PAPER

OURS = ("gpuscale.js", "gpuscale.css", "book.css", "logo.svg", *chain(*PAGE_FILES.values()))


def weigh(page: Path, site: Path) -> dict[str, int]:
    """Bytes of a page and of the scripts and styles it names; and of the font, if it holds mathematics."""
    text = page.read_text(encoding="utf-8")
    head = text[: text.index("</head>")]
    files = {prune.local(link, page, site) for link in prune.LINK.findall(head)} - {None}
    files = {file for file in files if file.suffix in (".js", ".css", ".svg")}
    ours = {file for file in files if file.name in OURS}
    paper = {file for file in files if file.name == PAPER}
    return {
        "page": page.stat().st_size,
        "own": sum(file.stat().st_size for file in ours),
        "paper": sum(file.stat().st_size for file in paper),
        "other": sum(file.stat().st_size for file in files - ours - paper),
        "font": (site / "_static" / mathfont.FILE).stat().st_size if "<math" in text else 0,
    }


def main() -> int:
    site = (ROOT / "_build" / "html").resolve()
    pages = sorted(page for page in site.rglob("*.html") if page.parent != site or page.name == "search.html")
    if not pages:
        print("There is no built site: run make book first.", file=sys.stderr)
        return 1
    print(f"{'kB of':30}{'page':>9}{'own':>9}{'paper':>9}{'other':>9}{'font':>9}{'all':>9}")
    for page in pages:
        parts = weigh(page, site)
        row = "".join(f"{value / 1e3:9.1f}" for value in (*parts.values(), sum(parts.values())))
        print(f"{page.relative_to(site).as_posix():30}{row}")
    total = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    print(f"The whole site: {total / 1e6:.1f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
