"""The scripts and style sheets of the page and of the notebook widgets: one copy of each, read from ``static``.

Notebooks get them as they are written. The site serves them without what only readers of the source need:
``gpuscale.book.served`` does that when the book is built. "gpuscale" is what every page loads; steppers, a painter that
few of them need, and the filters of the formula index and of the ledger have files of their own, for the pages that
hold one.
"""

import functools
from importlib.resources import files

from gpuscale.core.html import Html
from gpuscale.widgets.shared import with_constants

SCRIPTS = {
    "gpuscale": ("numbers", "grading", "plot", "live", "quiz", "prov", "copy", "seek", "start"),
    "steppers": ("stepper", "transfers"),
    "gantt": ("gantt",),
    "filter": ("words", "filter"),
    "search": ("words", "search"),
    "ledger": ("ledger",),
}
STYLES = {
    "gpuscale": ("components",),
    "steppers": ("steppers",),
    "filter": ("filter",),
    "search": ("search",),
    "ledger": ("ledger",),
}
PAINTERS = ("gantt",)  # scripts that draw some of the steppers
NOTEBOOK = "notebook"  # the part of either that no page needs
# What "gpuscale" gives the others.
PARTS = "KINDS $ make range life clamp escape fresh hide fit ink px tallest text wide worded"
_PARTS = f"{{ {', '.join(PARTS.split())} }}"
_HEADS = {"steppers": f"const {_PARTS} = globalThis.gpuscale.parts, {{ abs, ceil, floor, max, min }} = Math;\n"}
_HEADS |= dict.fromkeys(
    PAINTERS, f"const {{ painters, parts: {_PARTS} }} = globalThis.gpuscale, {{ ceil, max, min }} = Math;\n"
)
_TAILS = {"gpuscale": f"globalThis.gpuscale.parts = {_PARTS};\n"}


def _read(names: tuple[str, ...], kind: str) -> str:
    folder = files("gpuscale.widgets").joinpath("static")
    return "\n".join(folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def _closed(source: str) -> str:
    """Code as one classic script, for modules do not load from ``file://``."""
    return f"(() => {{\n'use strict';\n{with_constants(source)}}})();\n"


@functools.cache
def script(name: str = "gpuscale") -> str:
    """A script of SCRIPTS; those after the first are loaded behind it, painters behind "steppers"."""
    return _closed(_HEADS.get(name, "") + _read(SCRIPTS[name], "js") + _TAILS.get(name, ""))


@functools.cache
def style(name: str = "gpuscale") -> str:
    """A style sheet of STYLES; the first has the tokens that everything else takes its colors from."""
    return _read(STYLES[name], "css")


@functools.cache
def esm() -> str:
    """The module that a notebook widget loads: all scripts but the filter."""
    names = [file for name in ("gpuscale", "steppers", *PAINTERS) for file in SCRIPTS[name]]
    return f"{_closed(_read((*names, NOTEBOOK), 'js'))}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def notebook_style() -> str:
    """All styles for a notebook, which has rules of its own that ours have to meet."""
    return _read((NOTEBOOK, *STYLES["gpuscale"], *STYLES["steppers"]), "css")


def look() -> Html:
    """The book's styles for a notebook: put it at the end of the first cell. The built site has them already."""
    return Html(f"<style>{notebook_style()}</style>", "styles of the book")
