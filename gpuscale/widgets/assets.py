"""The script and style sheet of the page and of the notebook widgets: one copy of each, read from ``static``.

Notebooks get them as they are written. The site serves them without what only readers of the source need:
``gpuscale.book.served`` does that when the book is built. Steppers have a script and a style sheet of their own,
which only the pages that hold one load; a painter that few pages need is one more file in PAINTERS, and the filter of
the formula index is for that page alone.
"""

from __future__ import annotations

import functools
from importlib.resources import files

from gpuscale.core.html import Html
from gpuscale.widgets.shared import with_constants

SCRIPTS = ("numbers", "grading", "plot", "live", "quiz", "prov", "start")
STEPPERS = ("stepper", "transfers")
PAINTERS = ("gantt",)  # each a script of its own, for the pages with a stepper that it paints
FILTER = "filter"  # script and style sheet of one page
STYLES = ("components",)
STEPPER_STYLES = ("steppers",)
# What other scripts use of SCRIPTS.
PARTS = "KINDS $ make range life clamp escape fresh hide fit ink px text wide worded".split()
NOTEBOOK = "notebook"  # the part of either that no page needs


def _read(*names: str, kind: str) -> str:
    folder = files("gpuscale.widgets").joinpath("static")
    return "\n".join(folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


@functools.cache
def script() -> str:
    """The front end of every page as one classic script, for modules do not load from ``file://``."""
    return _closed(f"{_read(*SCRIPTS, kind='js')}globalThis.gpuscale.parts = {{ {', '.join(PARTS)} }};\n")


@functools.cache
def stepper_script() -> str:
    """What pages that hold a stepper load as well, behind ``script``."""
    names = f"const {{ {', '.join(PARTS)} }} = globalThis.gpuscale.parts, {{ abs, ceil, floor, max, min }} = Math;\n"
    return _closed(names + _read(*STEPPERS, kind="js"))


@functools.cache
def painter_script(name: str) -> str:
    """What pages load, behind ``stepper_script``, that hold a stepper drawn by this painter."""
    parts = f"painters, parts: {{ {', '.join(PARTS)} }}"
    names = f"const {{ {parts} }} = globalThis.gpuscale, {{ ceil, max, min }} = Math;\n"
    return _closed(names + _read(name, kind="js"))


@functools.cache
def filter_script() -> str:
    """What the formula index loads as well, behind ``script``."""
    return _closed(_read(FILTER, kind="js"))


@functools.cache
def filter_style() -> str:
    """The style sheet of that page."""
    return _read(FILTER, kind="css")


@functools.cache
def esm() -> str:
    """All of it as the module that a notebook widget loads."""
    own = _closed(_read(*SCRIPTS, *STEPPERS, *PAINTERS, NOTEBOOK, kind="js"))
    return f"{own}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def page_style() -> str:
    """The style sheet of all components, with the tokens that everything else takes its colours from."""
    return _read(*STYLES, kind="css")


@functools.cache
def stepper_style() -> str:
    """The style sheet of steppers, behind ``page_style``."""
    return _read(*STEPPER_STYLES, kind="css")


@functools.cache
def style() -> str:
    """All of it for a notebook, which has rules of its own that ours have to meet."""
    return _read(NOTEBOOK, *STYLES, *STEPPER_STYLES, kind="css")


def _closed(source: str) -> str:
    return f"(() => {{\n'use strict';\n{with_constants(source)}}})();\n"


def look() -> Html:
    """The book's styles for a notebook: put it at the end of the first cell. The built site has them already."""
    return Html(f"<style>{style()}</style>", "styles of the book")
