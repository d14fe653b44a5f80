"""Build the wheel of the package from its sources, the same bytes each time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PARTS = ("pyproject.toml", "README.md", "LICENSE", "gpuscale", "exercises")
DUST = shutil.ignore_patterns("__pycache__", "*.ipynb", ".ipynb_checkpoints", "*.egg-info")


def build(root: Path, scratch: Path) -> Path:
    """The wheel of the project at `root`, made in the empty folder `scratch`; offline, `root` untouched."""
    source = scratch / "source"
    source.mkdir()
    for part in PARTS:
        path = root / part
        if path.is_dir():
            shutil.copytree(path, source / part, ignore=DUST)
        elif path.exists():
            shutil.copy(path, source / part)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--no-index", "--disable-pip-version-check", "--wheel-dir", str(scratch), str(source)]
    # A wheel is a zip archive: a fixed date makes two builds of one source equal.
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = sorted(scratch.glob("gpuscale-*.whl"))
    if done.returncode or len(found) != 1:
        raise RuntimeError(f"the wheel did not build:\n{done.stdout}{done.stderr}")
    return found[0]
