"""Our scripts and styles as the site serves them: without comments, and with short names inside the script."""

from __future__ import annotations

import re
from pathlib import Path

from gpuscale.book import mathfont
from gpuscale.widgets import assets
from gpuscale.widgets.shared import PRACTICE_FILE


def tight_script(source: str) -> str:
    """JavaScript, minified. No line of ours begins with "<" but in a template, where the break says nothing."""
    import minify  # a tool of the build, which users of the library do not need

    return minify.string("application/javascript", re.sub(r"\n\s+(?=<)", "", source)) + "\n"


def tight_style(source: str) -> str:
    """A style sheet without comments and needless space (minify leaves nested rules as they are).

    On our own pages there are no notebook rules to override, so the unused id is removed as well.
    """
    plain = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", source, flags=re.S))
    plain = re.sub(r":is\(#gs, (\.\w+)\)", r"\1", plain).replace("#gs, ", "")
    plain = re.sub(r"\s*([{};,>/!])\s*", r"\1", plain).replace(": ", ":").replace(";}", "}")
    plain = re.sub(r"(?<![\w.])0(\.\d)", r"\1", plain)
    plain = plain.replace("(max-width:", "(width<=").replace("(min-width:", "(width>=")
    # Within parentheses, where a sum alone needs its spaces
    plain = re.sub(r"(?<=\() | (?=\))|(?<=[\d)]) (?=\* (?:var|[\d.]))|(?<=[\d)] \*) (?=var|[\d.])", "", plain)
    return re.sub(r"(var\([\w-]+\)) (?=[\w.]|#\d)", r"\1", plain).strip() + "\n"


# What a page loads besides what all of them load, by the mark that its text has; in this order.
PAGE_FILES = {
    'data-gpuscale="stage"': ("stage.css", "stage.js"),
    'class="rows-filter"': ("filter.css", "filter.js"),
    'class="scores"': ("scores.css", "scores.js"),
    **{f'data-painter="{name}"': (f"{name}.css", f"{name}.js") for name in assets.FIGURES},
}
PAPER = "paper.css"  # what every page names and browsers fetch last, for it is read when someone prints
SEARCH_FILES = ("search.js", "search.css")  # what a page loads when someone searches
PRACTICE_FILES = (PRACTICE_FILE,)  # and what when someone practises


def served(root: Path) -> dict[str, str]:
    """The text of each file of our own that pages load; those of PAGE_FILES only some of them."""
    ours = {name: (root / "assets" / name).read_text(encoding="utf-8") for name in ("book.css", PAPER)}
    styles = {name: tight_style(text) for name, text in ours.items()}
    return {
        **styles | {PAPER: mathfont.embedded(styles[PAPER])},
        **{f"{name}.js": tight_script(assets.script(name)) for name in assets.SCRIPTS},
        **{f"{name}.css": tight_style(assets.style(name)) for name in assets.STYLES},
    }
