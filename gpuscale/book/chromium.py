"""The browser that tests, measurements and the printed book use: Chromium, the one of the machine."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
QUIET = "disable-background-networking disable-component-update disable-sync no-first-run disable-quic"
ARGUMENTS = [f"--{name}" for name in (*QUIET.split(), "no-sandbox", "disable-gpu")]
MISSING = "no browser: install Debian's chromium-headless-shell or chromium, or set CHROMIUM to the path of one"


def find() -> str | None:
    """The path of the browser: $CHROMIUM or one on the path."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
