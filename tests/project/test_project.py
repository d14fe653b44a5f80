"""The project as a whole: sizes, versions, packaging, and nothing that points elsewhere."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest
import yaml

from gpuscale.catalogue.sweep import modules

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted((ROOT / "gpuscale").rglob("*.py")) + sorted((ROOT / "exercises").glob("*.py"))
BUILT = re.compile(r"(^|/)(\.(git|venv|hypothesis|ipynb_checkpoints|\w+_cache)|_build|__pycache__)(/|$)")
TEXTS = [path for path in sorted(ROOT.rglob("*")) if not BUILT.search(path.relative_to(ROOT).as_posix())]
# Hosts a page would have to fetch from, spelled so that this file does not hold them.
DELIVERY = ["cdn.js" + "delivr", "unp" + "kg.com", "cdn" + "js.", "fonts.google" + "apis"]
INVENTED = ["example" + ".com", "example" + ".org", "your-" + "name", "your-" + "org"]
REGISTRIES = ["pypi" + ".org", "pythonhosted" + ".org", "registry.npm" + "js"]


def holding(words):
    """The places where a text of the project holds one of the words."""
    pattern = re.compile("|".join(map(re.escape, words)), re.I)
    found = []
    for path in filter(Path.is_file, TEXTS):
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    return found


@pytest.mark.parametrize("words", [DELIVERY, INVENTED, REGISTRIES], ids=["delivery", "invented", "registry"])
def test_nothing_points_elsewhere(words):
    assert holding(words) == []


def named(metadata: str) -> set[str]:
    """The addresses that a wheel's metadata give."""
    return set(re.findall(r"^(?:Home-page|Download-URL|Project-URL):.*?(\S+)$", metadata, re.M))


def test_the_wheel_names_the_repository_of_the_book_and_nothing_else(wheels):
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    with zipfile.ZipFile(wheels[0]) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        text = wheel.read(metadata).decode()
    assert text.startswith("Metadata-Version") and named(text) == ({url} if url else set())
    assert named(text + "Project-URL: Source, https://a.test/b\nHome-page: https://c.test\n") > named(text)


def test_one_version():
    version = PROJECT["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert {str(citation["version"]), newest[1]} == {version}


def test_our_scripts_and_styles_are_light():
    """What a page loads of our own is under 61 kB, with a filter under 64 kB; under 71 kB where there is a stepper,
    and under 74 kB where one of these is drawn by a painter of its own: these texts, as tests/book/test_site.py makes
    sure. A search loads 9 kB more, and one who practises 6.5 kB."""
    from gpuscale.book.served import FILTER_FILES, PAINTER_FILES, PRACTICE_FILES, SEARCH_FILES, STEPPER_FILES, served

    size = {name: len(text.encode()) for name, text in served(ROOT).items()}
    few = {*STEPPER_FILES, *PAINTER_FILES.values(), *SEARCH_FILES, *PRACTICE_FILES, *chain(*FILTER_FILES.values())}
    assert few < set(size)
    shared = sum(size[name] for name in set(size) - few)
    assert shared < 61_000
    assert all(shared + sum(size[name] for name in files) < 64_000 for files in FILTER_FILES.values())
    assert shared + sum(size[name] for name in STEPPER_FILES) < 71_000
    assert sum(size[name] for name in SEARCH_FILES) < 9_000
    assert sum(size[name] for name in PRACTICE_FILES) < 6_500
    painted = {*STEPPER_FILES, *PAINTER_FILES.values()}
    assert shared + sum(size[name] for name in painted) < 74_000
    assert [path.name for path in (ROOT / "assets").rglob("*") if path.suffix in (".css", ".js")] == ["book.css"]


def test_constraints_pin_what_the_project_names():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    pinned = {pin.split("==")[0].lower().replace("_", "-") for pin in pins}
    extras = PROJECT["project"]["optional-dependencies"]
    named = PROJECT["project"]["dependencies"] + extras["book"] + extras["test"] + extras["lab"]
    assert {re.split(r"[<>=!~ ]", name)[0].lower() for name in named} <= pinned


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheel, built twice."""
    from gpuscale.book import wheel

    return [wheel.build(ROOT, tmp_path_factory.mktemp(name)) for name in ("one", "two")]


def test_the_wheel_holds_the_library_and_is_the_same_twice(wheels):
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    for path in (ROOT / "gpuscale").rglob("*"):
        ours = path.is_file() and path.suffix in (".py", ".toml", ".js", ".css")
        if ours and "book" not in path.relative_to(ROOT).parts:  # who installs the library makes no book
            assert path.relative_to(ROOT).as_posix() in names
    assert {f"gpuscale_exercises/{path.name}" for path in (ROOT / "exercises").glob("*.py")} <= names
    assert not [name for name in names if name.endswith((".ipynb", ".pyc"))]


def test_the_library_is_light_to_import():
    code = "import sys, gpuscale; print({'ipywidgets', 'anywidget'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("options", [["check", "--output-format", "concise"], ["format", "--check"]], ids=" ".join)
def test_style(options):
    ruff = Path(sys.executable).with_name("ruff")
    command = str(ruff) if ruff.exists() else shutil.which("ruff")
    done = subprocess.run([command, *options, "--quiet", "."], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_formatter_decides():
    """Modules of formulas and of quantities are laid out by hand, each by one mark at its head; nothing else is."""
    marks = {"fmt: " + word for word in ("skip", "off", "on")}
    found = {}
    for path in [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip("# ") in marks]
        if lines:
            found[path.relative_to(ROOT).as_posix()] = lines
    laws = {"gpuscale/" + name.split(".", 1)[1].replace(".", "/") + ".py" for name in modules()}
    assert set(found) <= laws | {path.relative_to(ROOT).as_posix() for path in (ROOT / "gpuscale/symbols").glob("*.py")}
    assert all(lines == ["# fmt: " + "off"] for lines in found.values())
