"""Rooms and arrows: a file imports what its room's row in ARCHITECTURE.md allows, and there are no cycles."""

import ast
import functools
import importlib
import re
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from gpuscale.catalogue import sweep
from gpuscale.faces import files

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpuscale"
# Who alone may import what is slow or needs a display.
ALONE = {"matplotlib": "plotting", "anywidget": "widgets", "ipywidgets": "widgets"}


def table() -> dict[str, set[str]]:
    """The rooms of ARCHITECTURE.md, each with those it may import from."""
    row = re.compile(r"^\| `(\w+)` \|[^|]+\|([^|]+)\|$", re.M)
    found = row.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    return {room: set(re.findall(r"\w+", allowed)) for room, allowed in found}


def rooms(package: Path = PACKAGE) -> set[str]:
    """What is at the root of the package: folders, and files by their names."""
    return {path.stem for path in package.iterdir() if not path.name.startswith("__")}


def sources(package: Path = PACKAGE) -> list[Path]:
    return sorted(package.rglob("*.py"))


def room(path: Path, package: Path = PACKAGE) -> str:
    """The first name below the package: 'units', 'schedules'."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def name_of(path: Path, package: Path = PACKAGE) -> str:
    """The dotted name of a file, as it is imported."""
    parts = [package.name, *path.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports(path: Path, package: Path = PACKAGE, lazy: bool = True) -> set[str]:
    """Every module or name that a file imports, absolute; without ``lazy``, at its top level alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = name_of(path, package).split(".")
    folder = inside if path.stem == "__init__" else inside[:-1]
    found = set()
    for node in ast.walk(tree) if lazy else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(folder[: len(folder) - node.level + 1]) if node.level else ""
            stem = ".".join(filter(None, (base, node.module)))
            found |= {f"{stem}.{alias.name}" for alias in node.names}
    return found


def misplaced(path: Path, allowed: dict[str, set[str]], package: Path = PACKAGE) -> set[str]:
    """The imports of a file that its room's row does not allow."""
    own, wrong = room(path, package), set()
    for target in imports(path, package):
        first, _, rest = target.partition(".")
        other = rest.partition(".")[0]
        if first == package.name and other not in {"", own, "faces", *allowed[own]}:
            wrong.add(target)
        elif ALONE.get(first, own) != own:
            wrong.add(target)
    return wrong


def test_the_table_lists_what_the_folder_holds():
    assert set(table()) == rooms(), "give each room a row in ARCHITECTURE.md"
    assert len([path for path in PACKAGE.iterdir() if path.suffix == ".py"]) <= 5


def test_a_file_imports_what_its_room_may():
    allowed = table() | {"__init__": {"faces"}}
    assert len(sources()) > 300
    for path in sources():
        wrong, may = misplaced(path, allowed), ", ".join(sorted(allowed[room(path)])) or "nothing else"
        told = f"{name_of(path)} imports {sorted(wrong)}; by ARCHITECTURE.md {room(path)} may import {may}"
        assert wrong == set(), told


def test_every_arrow_of_the_table_is_used():
    used: dict[str, set[str]] = {one: set() for one in rooms()}
    for path in sources():
        for target in imports(path):
            if target.startswith("gpuscale.") and room(path) in used:
                used[room(path)].add(target.split(".")[1])
    assert {one: allowed - used[one] for one, allowed in table().items() if allowed - used[one]} == {}


def test_rooms_stand_above_one_another():
    try:
        tuple(TopologicalSorter(table()).static_order())
    except CycleError as circle:
        pytest.fail(f"rooms in a circle: {' -> '.join(circle.args[1])}")


def dependencies() -> dict[str, set[str]]:
    """Every file by name, with the files that it imports anywhere, within functions too."""
    names = {name_of(path) for path in sources()}
    graph = {}
    for path in sources():
        found = {t if t in names else t.rpartition(".")[0] for t in imports(path)} & names
        graph[name_of(path)] = {t for t in found if t != "gpuscale"} - {name_of(path)}
    return graph


def test_files_stand_above_one_another():
    try:
        tuple(TopologicalSorter(dependencies()).static_order())
    except CycleError as circle:
        pytest.fail(f"files in a circle: {' -> '.join(circle.args[1])}")


def test_a_file_that_declares_formulas_imports_no_data():
    """Equations know no numbers."""
    graph = dependencies()
    assert len(sweep.modules()) > 20
    for module in sweep.modules():
        reached, todo = set(), [module]
        while todo:
            new = graph[todo.pop()] - reached
            reached |= new
            todo += new
        assert not [name for name in reached if name.startswith("gpuscale.specs")], module


def test_a_file_imports_files_of_its_own_room_not_its_face():
    """A cycle through a face would not be seen; nor would what is reached through ``import gpuscale``."""
    for path in sources():
        face = f"gpuscale.{room(path)}"
        own = set(files(face)) if (PACKAGE / room(path)).is_dir() and importlib.import_module(face) else set()
        through = {t for t in imports(path) if t.rpartition(".")[0] == face and t.rpartition(".")[2] not in own}
        assert path.stem == "__init__" or through == set(), name_of(path)
        assert "gpuscale" not in imports(path) or name_of(path) == "gpuscale.catalogue.sweep", name_of(path)


def test_schedules_and_oracles_share_no_algebra():
    for own in ("schedules", "emulate"):
        paths = sorted((PACKAGE / own).rglob("*.py"))
        assert len(paths) > 5
        for path in paths:
            outside = {target.partition(".")[0] for target in imports(path)} - set(sys.stdlib_module_names)
            assert outside <= {"numpy", "gpuscale"}, path


def test_an_arrow_upwards_and_a_display_are_seen(tmp_path):
    package = tmp_path / "gpuscale"
    (package / "core").mkdir(parents=True)
    path = package / "core" / "formula.py"
    path.write_text("from gpuscale import quiz\nfrom ..symbols import V\nimport ipywidgets.widgets\n")
    assert misplaced(path, {"core": {"symbols"}}, package) == {"gpuscale.quiz", "ipywidgets.widgets"}


@pytest.mark.parametrize("own", sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()))
def test_nothing_on_a_face_has_the_name_of_a_file(own):
    """Loading the file would hide it."""
    face = importlib.import_module(f"gpuscale.{own}")
    offered = getattr(face, "__all__", ())
    assert not set(offered) & set(files(f"gpuscale.{own}"))


def test_the_package_list_is_the_folders():
    """Setuptools is given what the folders hold; the code that builds the book is not part of the wheel."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {name_of(path.parent / "__init__.py") for path in sources() if room(path) != "book"}
    assert set(listed) == found | {f"gpuscale.{name}.data" for name in ("evidence", "plan", "specs")} | {
        "gpuscale_exercises"
    }
