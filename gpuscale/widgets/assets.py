"""The script and style sheet of the page and of the notebook widgets: one copy of each, read from ``static``."""

from __future__ import annotations

import functools
from importlib.resources import files

SCRIPTS = ("numbers", "grading", "plot", "live", "stepper", "quiz", "prov", "start")
STYLES = ("components",)


def _read(name: str) -> str:
    return files("gpuscale.widgets").joinpath("static", name).read_text(encoding="utf-8")


@functools.cache
def script() -> str:
    """The whole front end as one classic script, for modules do not load from ``file://``."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f"(() => {{\n'use strict';\n{parts}\n}})();\n"


@functools.cache
def esm() -> str:
    """The same text as the module that a notebook widget loads."""
    return f"{script()}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def style() -> str:
    """The style sheet of all components, with the tokens that everything else takes its colours from."""
    return "\n".join(_read(f"{name}.css") for name in STYLES)
