"""Imports point one way only: each module may import from its own layer and from those below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "gpuscale"
# The lowest layer first. A name stands for a module or for a whole package.
LAYERS = [
    ["symbols", "units"],
    [
        *("formula", "derive", "crossing", "dimension", "jsprint", "typeset", "display", "exact", "needs"),
        *("specs", "spec_io", "spec_table"),
    ],
    [
        *("processor", "memory", "roofline", "occupancy", "schedules", "topology", "fat_tree", "tori"),
        *("fabric_cut", "fabric_graph", "fabric_level"),
        *("collectives", "bus_bandwidth", "in_network", "all_to_all", "hierarchy", "torus", "network", "fit"),
        *("transformer", "training_compute", "activations", "kv_cache", "training_memory", "data_parallel"),
        *("tensor_parallel", "context_parallel", "expert_parallel", "pipeline", "overlap", "kernels", "step_time"),
    ],
    [
        *("catalogue", "plotting", "widgets", "page", "prose", "appendices", "grammar", "typed", "answers"),
        *("topologies", "mistakes", "question", "question_checks", "quiz", "quiz_html", "quiz_result", "grade"),
        "model_counts",
    ],
    ["plan"],
    ["book"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# Who alone may import what is slow or needs a display.
ALONE = {"matplotlib": "plotting", "anywidget": "widgets", "ipywidgets": "widgets"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def part(path: Path) -> str:
    """The first name below gpuscale of a module: 'units', 'schedules'."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Every module that a file imports anywhere, absolute."""
    found = []
    package = ("gpuscale", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            stem = ".".join(filter(None, (base, node.module)))
            found += [f"{stem}.{alias.name}" for alias in node.names]
    return found


def misplaced(path: Path) -> list[str]:
    """The imports of a module that its place does not allow."""
    name, wrong = part(path), []
    for target in imports(path):
        names = target.split(".")
        if names[0] == "gpuscale" and name != "__init__":
            other = names[1] if len(names) > 1 else ""
            if other in LEVEL and LEVEL[other] > LEVEL.get(name, -1):
                wrong.append(target)
        elif ALONE.get(names[0], name) != name:
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down(path):
    assert part(path) == "__init__" or part(path) in LEVEL, "give this module its layer in LAYERS"
    assert misplaced(path) == []


def test_formulas_never_import_data():
    """Equations know no numbers."""
    for name in LAYERS[2]:
        for file in [path for path in MODULES if part(path) == name]:
            assert [i for i in imports(file) if i.startswith("gpuscale.spec")] == [], file


def test_an_upward_import_is_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    path = tmp_path / "units.py"
    path.write_text("from gpuscale import quiz\nfrom .symbols import V\nimport matplotlib.pyplot\n")
    assert misplaced(path) == ["gpuscale.quiz", "matplotlib.pyplot"]
