"""One word for one thing: a class name belongs to one class of the package."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpuscale"


def homes(package: Path = PACKAGE) -> dict[str, list[str]]:
    """Every class of the package, private and nested ones too, with the files that define it."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(package).as_posix())
    return found


def test_each_class_has_a_name_of_its_own():
    found = homes()
    assert len(found) > 100
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_two_classes_of_one_name_are_seen(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "ring.py").write_text("class Table: ...\n")
    (tmp_path / "room" / "tree.py").write_text("def f():\n    class Table: ...\n")
    assert homes(tmp_path) == {"Table": ["ring.py", "room/tree.py"]}
