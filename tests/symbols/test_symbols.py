"""Quantities: one symbol for one name, with unit, meaning and type of its own."""

import ast
import copy
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sympy

import gpuscale
from gpuscale import symbols
from gpuscale.core.latex import tex
from gpuscale.symbols import Quantity, quantities
from gpuscale.units import DIMENSIONS

ALL = quantities()
PACKAGE = Path(gpuscale.__file__).parent


def test_name_attribute_and_symbol_are_one_word():
    for name in ALL:
        q = ALL[name]
        assert getattr(symbols, name) is q and q.name == name == str(q)
        assert name.isidentifier() and q.is_positive and q.unit in DIMENSIONS


def test_every_quantity_is_used():
    """In a formula, the planner, or a cell of a chapter; what is only in the notation is dead."""
    root = PACKAGE.parent
    paths = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "symbols"]
    texts = [path.read_text(encoding="utf-8") for path in [*paths, *(root / "exercises").glob("*.py")]]
    for path in (root / "chapters").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    used = {word for text in texts for word in re.findall(r"\w+", text)}
    levels = {name for name in ALL if re.fullmatch(r"\w+_\d", name) and name[:-2] in used}  # made by ``indexed``
    assert set(ALL) - used - levels == set()


def test_meaning_reads_as_a_phrase():
    for name in ALL:
        meaning = ALL[name].meaning
        assert meaning and meaning == meaning.strip() and not meaning.endswith(".")
        assert meaning[0].islower() or meaning.split()[0].rstrip("s").isupper() or meaning.startswith("Tensor")


def test_latex_and_html_are_well_formed():
    for name in ALL:
        q = ALL[name]
        assert tex(q) == q.tex == sympy.latex(q)
        assert q.tex.count("{") == q.tex.count("}") and q.tex.count("_") <= 1
        letter, word = (
            r"<i>[A-Za-zα-ω]?</i>",
            r"[A-Za-z]+",
        )  # one italic letter, or an upright word; Greek as Greek
        assert re.fullmatch(rf"({letter}|{word})(<sub>[\w/, ]+</sub>)?", q.html), q.html
        assert bool(q.tex) == (name != "flop")


def test_bounds_make_sense():
    for name in ALL:
        q = ALL[name]
        assert 0 <= q.least < q.most and not (q.zero and q.least)
        if q.whole:
            assert q.unit == "1" and (q.least == 1 or q.zero)
        if q.meaning.startswith(("share of", "occupancy")):
            assert q.most == 1 and not q.whole


def test_no_two_quantities_look_alike():
    seen = {}
    for q in ALL.values():
        assert seen.setdefault(q.tex, q) is q, f"{q.name} and {seen[q.tex].name} are both typeset {q.tex}"
        assert seen.setdefault(q.html, q) is q, f"{q.name} and {seen[q.html].name} are both drawn {q.html}"


def test_pickles_and_copies_are_the_same_object():
    for name in ALL:
        q = ALL[name]
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(q, protocol)) is q
        assert copy.copy(q) is q and copy.deepcopy(q) is q
        assert (q.unit, q.meaning) == (ALL[name].unit, ALL[name].meaning)


def test_a_second_quantity_of_a_name_is_refused_and_leaves_the_first_alone():
    before = (symbols.V.unit, symbols.V.meaning)
    with pytest.raises(ValueError, match="'V' is declared already .*names are unique"):
        Quantity("V", "s", "something else")
    assert (symbols.V.unit, symbols.V.meaning) == before and quantities()["V"] is symbols.V


@pytest.mark.parametrize(
    "args, says",
    [
        (("zz", "GB", "size", "z"), "'GB' is not a base unit"),
        (("zz", "furlong", "size", "z"), "'furlong' is not a base unit"),
        (("zz", "B", "size"), "needs its LaTeX"),
    ],
)
def test_a_bad_declaration_is_refused_by_name(args, says):
    with pytest.raises(ValueError, match=f"Quantity 'zz'.*{says}"):
        Quantity(*args)
    assert "zz" not in quantities()


def test_the_registry_cannot_be_changed_from_outside():
    before = len(quantities())
    quantities().clear()
    assert len(quantities()) == before > 50


def test_pickles_carry_over_to_a_fresh_process():
    expr = symbols.V / symbols.W + symbols.alpha
    code = "import pickle, sys; e = pickle.loads(sys.stdin.buffer.read())\n"
    code += "print(e, sorted(q.unit for q in e.free_symbols))"
    out = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(expr), capture_output=True, check=True)
    assert out.stdout.decode().split("\n")[0] == "V/W + alpha ['B', 'B/s', 's']"


def test_symbols_are_made_in_one_place_only():
    """No Symbol(...), symbols(...) or Quantity(...) outside gpuscale/symbols, and no algebra in strings."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                of = getattr(getattr(node.func, "value", None), "id", "")
                made = called in {"Symbol", "Dummy", "Quantity", "parse_expr", "S"} or (
                    called == "symbols" and of in {"sympy", "sp", ""}
                )
                text = called == "sympify" and node.args and isinstance(node.args[0], ast.Constant)
                if (made or (text and isinstance(node.args[0].value, str))) and path.parent.name != "symbols":
                    found.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {called}")
    assert not found
