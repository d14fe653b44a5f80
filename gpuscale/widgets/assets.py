"""The script and style sheet of the page and of the notebook widgets: one copy of each, read from ``static``.

Both are served without comments and without the white space that only readers of the source need.
"""

from __future__ import annotations

import functools
import re
from importlib.resources import files

SCRIPTS = ("numbers", "grading", "plot", "live", "stepper", "quiz", "prov", "start")
STYLES = ("components",)

# What a script consists of: comments and space, quoted strings, regular expressions, words, signs.
_TOKEN = re.compile(
    r"(?P<gap>/\*.*?\*/|//[^\n]*|\s+)|(?P<text>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<regex>/(?![*/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/\w*)|(?P<word>[\w$#]+)|(?P<sign>.)",
    re.S,
)
_TEMPLATE = re.compile(r"((?:\\.|\$(?!\{)|[^`\\$])*)(`|\$\{)", re.S)


def _read(name: str) -> str:
    return files("gpuscale.widgets").joinpath("static", name).read_text(encoding="utf-8")


def tight_script(source: str) -> str:
    """JavaScript without comments and needless space. Statements have to end with a semicolon."""
    out: list[str] = []
    depth: list[int] = []  # for each template that is open: the braces open in its current ${...}
    at, gap = 0, False
    while at < len(source):
        token = _TOKEN.match(source, at)
        kind, text = token.lastgroup, token[0]
        last = out[-1] if out else ";"
        if kind == "regex" and (last[-1] in ")]}" or last[-1].isalnum() and last != "return"):
            kind, text = "sign", "/"  # a division
        at += len(text)
        if kind == "gap":
            gap = True
            continue
        if gap and (_wordy(last[-1]) and _wordy(text[0]) or last + text[0] in ("++", "--")):
            out.append(" ")
        gap = False
        closes = text == "}" and depth and depth[-1] == 0
        if depth and text in "{}" and not closes:
            depth[-1] += 1 if text == "{" else -1
        if closes:
            depth.pop()
        out.append(text)
        if text == "`" or closes:
            body = _TEMPLATE.match(source, at)
            at = body.end()
            out.append(re.sub(r"\s*\n\s*", " ", body[1]) + body[2])
            if body[2] == "${":
                depth.append(0)
    return "".join(out)


def _wordy(char: str) -> bool:
    return char.isalnum() or char in "_$#"


def tight_style(source: str) -> str:
    """A style sheet without comments and needless space."""
    plain = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", source, flags=re.S))
    return re.sub(r"\s*([{};,>])\s*", r"\1", plain).replace(": ", ":").replace(";}", "}").strip()


@functools.cache
def script() -> str:
    """The whole front end as one classic script, for modules do not load from ``file://``."""
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return tight_script(f"(() => {{ 'use strict'; {parts} }})();") + "\n"


@functools.cache
def esm() -> str:
    """The same text as the module that a notebook widget loads."""
    return f"{script()}export default {{ render: globalThis.gpuscale.render }};\n"


@functools.cache
def style() -> str:
    """The style sheet of all components, with the tokens that everything else takes its colours from."""
    return tight_style("\n".join(_read(f"{name}.css") for name in STYLES)) + "\n"
