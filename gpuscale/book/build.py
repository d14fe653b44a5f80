"""Build the book strictly: execute every notebook, treat every warning as an error, and print where the site is.

python -m gpuscale.book.build              # always builds
python -m gpuscale.book.build --if-stale   # only when a source changed since the last good build
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("_config.yml", "_toc.yml", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("assets", "chapters", "exercises", "gpuscale")
JUPYTER_BOOK = [sys.executable, "-c", "import gpuscale.book; from jupyter_book.cli.main import main; main()"]
STRICT = ["build", ".", "-W", "-n", "--keep-going"]
# Settings that Sphinx prints, a warning about localhost, lines per page, and closing lines that we print ourselves.
NOISE = re.compile(
    r"MdParserConfig|NbParserConfig|IPKernelApp|Executing notebook using local CWD|^\s*$|^=+$|^\s+\S*_build/"
    r"|^(\[etoc\] missing|Finished generating|Your book's HTML|You can look at your book|Or paste this line)"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class BuildError(RuntimeError):
    """The book did not build; the message ends with what the build printed last."""


def fingerprint(root: Path = ROOT) -> str:
    """A digest of everything the site is made from."""
    digest = hashlib.sha256()
    found = [root / name for name in FILES] + [path for name in FOLDERS for path in (root / name).rglob("*")]
    for path in sorted(found):
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def fresh(root: Path = ROOT) -> bool:
    """Whether the built site is that of the current sources."""
    stamp = root / "_build" / "fingerprint"
    built = stamp.exists() and (root / "_build" / "html" / "index.html").exists()
    return built and stamp.read_text() == fingerprint(root)


def build(root: Path = ROOT, show=print) -> Path:
    """Build the site from nothing and return its folder; raises BuildError."""
    out = root / "_build"
    stamp = out / "fingerprint"
    for old in (out / "html", out / ".doctrees"):
        shutil.rmtree(old, ignore_errors=True)
    failure = out / "failure"
    for mark in (stamp, failure):
        mark.unlink(missing_ok=True)
    sources = fingerprint(root)
    # Readers get figures; digests of them are for the stored notebooks only.
    environment = {k: v for k, v in os.environ.items() if k != "GPUSCALE_DIGEST"}
    lines: list[str] = []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    with subprocess.Popen(JUPYTER_BOOK + STRICT, cwd=root, env=environment, **pipes) as process:
        for raw in process.stdout:
            line = COLOUR.sub("", raw).rstrip()
            if not NOISE.search(line):
                lines.append(line)
                show(line.replace(f"{root}/", "").replace(" [mystnb]", ""))
    for report in sorted((out / "html" / "reports").rglob("*.log")):
        show(f"\n{report.relative_to(out / 'html' / 'reports').with_suffix('')}:")
        show("\n".join(report.read_text(encoding="utf-8").splitlines()[-12:]))
    if process.returncode:
        message = "the book did not build:\n" + "\n".join(lines[-12:])
        failure.write_text(f"{sources}\n{message}", encoding="utf-8")
        raise BuildError(message)
    stamp.write_text(sources)
    return out / "html"


def ensure(root: Path = ROOT, show=lambda line: None, again: bool = False) -> Path:
    """The folder of an up-to-date site, built if need be; safe to call from several processes at once.

    If these sources did not build before, they are not tried a second time, unless `again` is true.
    """
    out = root / "_build"
    out.mkdir(exist_ok=True)
    with open(out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if fresh(root):
            return out / "html"
        if not again and (out / "failure").exists():
            sources, _, message = (out / "failure").read_text(encoding="utf-8").partition("\n")
            if sources == fingerprint(root):
                raise BuildError(message)
        return build(root, show)


def main() -> int:
    parser = argparse.ArgumentParser("python -m gpuscale.book.build", description=__doc__.splitlines()[0])
    parser.add_argument("--if-stale", action="store_true", help="do nothing if the site is up to date")
    options = parser.parse_args()
    start = time.perf_counter()
    show = lambda line: print(line, flush=True)  # noqa: E731
    try:
        site = ensure(show=show, again=True) if options.if_stale else build(show=show)
    except BuildError:
        print("\nThe book did not build: the reason is above.", file=sys.stderr)
        return 1
    print(f"\nThe book is ready ({time.perf_counter() - start:.0f} s). Open it in a browser:")
    print(f"    {site / 'index.html'}\nor serve it on http://localhost:8000 with: make serve")
    return 0


if __name__ == "__main__":
    sys.exit(main())
