"""Rooms and arrows: a file imports what its room's row in ARCHITECTURE.md allows, and nothing goes in a circle."""

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from gpuscale.faces import defined, files

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpuscale"
FORMULA = "gpuscale.core.formula.Formula"
# Who alone may import what is slow or needs a display.
ALONE = {"matplotlib": "plotting", "anywidget": "widgets", "ipywidgets": "widgets"}


def table() -> dict[str, set[str]]:
    """The rooms of ARCHITECTURE.md, each with those it may import from."""
    row = re.compile(r"^\| `(\w+)` \|[^|]+\|([^|]+)\|$", re.M)
    found = row.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    return {room: set(re.findall(r"\w+", allowed)) for room, allowed in found}


def rooms(package: Path = PACKAGE) -> set[str]:
    """What stands at the root of the package: folders, and files by their names."""
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
        elif ALONE.get(first, own) != own and not (first == "matplotlib" and own == "book"):
            wrong.add(target)
    return wrong


def test_the_table_lists_what_the_folder_holds():
    assert set(table()) == rooms()
    assert len([path for path in PACKAGE.iterdir() if path.suffix == ".py"]) <= 5


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_file_imports_what_its_room_may(path):
    allowed = table() | {"__init__": {"faces"}}
    assert misplaced(path, allowed) == set()


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


def test_files_stand_above_one_another():
    """No circle among files, imports within functions counted."""
    names = {name_of(path) for path in sources()}
    graph = {}
    for path in sources():
        targets = imports(path)
        found = {t if t in names else t.rpartition(".")[0] for t in targets} & names
        graph[name_of(path)] = {t for t in found if t != "gpuscale"} - {name_of(path)}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(f"files in a circle: {' -> '.join(circle.args[1])}")


def test_a_file_that_declares_formulas_imports_no_data():
    """Equations know no numbers."""
    declaring = [path for path in sources() if FORMULA in imports(path) and "declare(globals())" in path.read_text()]
    assert len(declaring) > 20
    for path in declaring:
        assert not [target for target in imports(path) if target.startswith("gpuscale.specs")], path


def test_schedules_and_oracles_share_no_algebra():
    for own in ("schedules", "emulate"):
        paths = sorted((PACKAGE / own).rglob("*.py"))
        assert len(paths) > 5
        for path in paths:
            assert "sympy" not in {target.partition(".")[0] for target in imports(path)}, path


def test_an_arrow_upwards_and_a_display_are_seen(tmp_path):
    package = tmp_path / "gpuscale"
    (package / "core").mkdir(parents=True)
    path = package / "core" / "formula.py"
    path.write_text("from gpuscale import quiz\nfrom ..symbols import V\nimport matplotlib.pyplot\n")
    assert misplaced(path, {"core": {"symbols"}}, package) == {"gpuscale.quiz", "matplotlib.pyplot"}


@pytest.mark.parametrize("own", ["one_gpu", "network", "collectives", "llm"])
def test_no_formula_has_the_name_of_a_file(own):
    """Loading the file would hide the formula on the room's face."""
    __import__(f"gpuscale.{own}")
    assert not set(defined(f"gpuscale.{own}")) & set(files(f"gpuscale.{own}"))


def test_the_package_list_is_the_folders():
    """Setuptools is given what the folders hold; only the making of the book stays out of the wheel."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {name_of(path.parent / "__init__.py") for path in sources() if room(path) != "book"}
    assert set(listed) == found | {"gpuscale.specs.data", "gpuscale_exercises"}
