"""HTML that the library shows, with a plain-text face."""

from __future__ import annotations

import os
import re


def digesting() -> bool:
    """Whether outputs are being stored or compared: then figures and cards give text, no drawing."""
    return os.environ.get("GPUSCALE_DIGEST", "") not in {"", "0"}


class Html:
    """HTML with a plain-text face. Markdown-like emphasis is not interpreted."""

    def __init__(self, html: str, text: str):
        self.html, self.text = html, text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text} if digesting() else {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def anchor(text: str) -> str:
    """A stable anchor: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
