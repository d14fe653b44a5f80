"""How every notebook begins: one import of the tools, what the chapter uses by name, in a cell that stays short."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("exercises/*.ipynb")])


def cells(path: Path) -> list[str]:
    """The sources of its code cells."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


WARM_UP = "from gpuscale.labs import warm_up\n\nwarm_up()  # PyTorch loads while the next cells run"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_first_cell_is_short_and_imports_the_tools_once(path):
    if not (found := cells(path)):
        assert path.stem in {"bibliography", "further_reading"}
        return
    if path.parent.name == "chapters" and path.stem.startswith("lab_"):  # a lab begins to load PyTorch before all else
        assert found.pop(0) == WARM_UP
    setup, *rest = found
    assert len(setup.splitlines()) <= 15
    assert "from gpuscale.notebook import *" in setup and re.search(r"^look\(\)$", setup, re.M)
    if path.stem != "welcome":  # its cells show a newcomer what to import
        again = [cell for cell in rest if re.search(r"^\s*(from|import) gpuscale", cell, re.M)]
        assert not again, "import it at the top"
    assert "ModuleNotFoundError" not in "".join(found)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_imported_by_name_is_used(path):
    """ruff cannot tell, for a name may be used in another cell."""
    tree = ast.parse("\n".join(cells(path)))
    found = [alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    imported = {(alias.asname or alias.name).split(".")[0] for alias in found} - {"*"}
    assert imported - {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == set()


def test_shown_code_is_as_narrow_as_the_page():
    """A longer line would go on at the margin, where it reads like a statement of its own."""
    wide = {}
    for path in (ROOT / "chapters").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and not {"hide-input", "remove-input"} & {*cell["metadata"].get("tags", [])}:
                lines = "".join(cell["source"]).splitlines()
                wide |= {(path.stem, line): len(line) for line in lines if len(line) > 76}
    assert wide == {}


def test_each_thing_has_one_spelling():
    """No notebook gives a name of the library another name."""
    assert len(NOTEBOOKS) > 40
    renamed = set()
    for path in NOTEBOOKS:
        for node in ast.walk(ast.parse("\n".join(cells(path)))):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("gpuscale"):
                renamed |= {(path.stem, alias.name, alias.asname) for alias in node.names if alias.asname}
    assert renamed == set()
