"""The script and style sheet of the page and of the notebook widgets: one copy of each, read from ``static``.

Notebooks get them as they are written. The site serves them without what only readers of the source need:
``gpuscale.book.served`` does that when the book is built.
"""

from __future__ import annotations

import functools
from importlib.resources import files

SCRIPTS = ("numbers", "grading", "plot", "live", "stepper", "quiz", "prov", "start")
STYLES = ("components",)
NOTEBOOK = "notebook"  # the part of either that no page needs


def _read(*names: str, kind: str) -> str:
    folder = files("gpuscale.widgets").joinpath("static")
    return "\n".join(folder.joinpath(f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


@functools.cache
def script() -> str:
    """The whole front end as one classic script, for modules do not load from ``file://``."""
    return _closed(_read(*SCRIPTS, kind="js"))


@functools.cache
def esm() -> str:
    """The same as the module that a notebook widget loads."""
    own = _closed(_read(*SCRIPTS, NOTEBOOK, kind="js"))
    return f"{own}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def page_style() -> str:
    """The style sheet of all components, with the tokens that everything else takes its colours from."""
    return _read(*STYLES, kind="css")


@functools.cache
def style() -> str:
    """The same for a notebook, which has rules of its own that ours have to meet."""
    return _read(NOTEBOOK, *STYLES, kind="css")


def _closed(source: str) -> str:
    return f"(() => {{\n'use strict';\n{source}}})();\n"
