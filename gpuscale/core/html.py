"""HTML that the library shows, with a plain-text face."""

from __future__ import annotations

import os
import re


def digesting() -> bool:
    """Whether outputs are being stored or compared: then figures and cards give text, no drawing.

    It is the environment variable GPUSCALE_DIGEST that says so, which nbval and ``make notebooks`` set.

    >>> digesting() == (os.environ.get("GPUSCALE_DIGEST", "") not in {"", "0"})
    True
    """
    return os.environ.get("GPUSCALE_DIGEST", "") not in {"", "0"}


class Html:
    """HTML with a plain-text face. Markdown-like emphasis is not interpreted.

    >>> Html("<b>9</b>", "9")
    9
    """

    def __init__(self, html: str, text: str):
        self.html, self.text = html, text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text} if digesting() else {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def anchor(text: str) -> str:
    """A stable anchor: lower case, words joined by hyphens.

    >>> anchor("Ring all-reduce, 8 GPUs")
    'ring-all-reduce-8-gpus'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def escape(text: str) -> str:
    """Text made safe inside HTML.

    >>> escape("a < b")
    'a &lt; b'
    """
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
