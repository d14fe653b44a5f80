"""Every notebook is stored executed and in the one normal form."""

import copy
from pathlib import Path

import nbformat
import pytest

from gpuscale.book import normalise

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = list(normalise.notebooks([ROOT / "chapters", ROOT / "exercises"]))


def sample():
    """A small notebook as JupyterLab would store it."""
    v4 = nbformat.v4
    data = {"text/plain": "<Figure at 0x7f0123456789>", "image/png": "aGk="}
    cells = [
        v4.new_markdown_cell("# Title  \n\n", metadata={"editable": True}),
        v4.new_code_cell("1 + 1\n", execution_count=7, metadata={"execution": {"shell": "now"}}),
        v4.new_code_cell("plot()", execution_count=9, metadata={"tags": ["hide-input"], "x": 1}),
    ]
    cells[1].outputs = [v4.new_output("execute_result", {"text/plain": "2"}, execution_count=7)]
    cells[1].outputs += [v4.new_output("stream", name="stdout", text=text) for text in ("a", "b\n")]
    cells[2].outputs = [v4.new_output("display_data", data, metadata={"needs_background": "light"})]
    widgets = {"application/vnd.jupyter.widget-state+json": {"state": {"a1": {}}}}
    language = {"name": "python", "version": "3.13.0"}
    return v4.new_notebook(cells=cells, metadata={"widgets": widgets, "language_info": language})


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_stored_in_normal_form(path):
    assert normalise.problems(normalise.read(path)) == [], "make notebooks runs and normalises them"
    assert path.read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize("path", NOTEBOOKS[:1], ids=lambda path: path.name)
def test_a_stripped_notebook_is_refused(path):
    """nbval compares nothing in a cell without a count, and would pass."""
    whole = normalise.read(path)
    for number, cell in enumerate(whole.cells):
        if cell.cell_type == "code":
            stripped = copy.deepcopy(whole)
            stripped.cells[number].outputs, stripped.cells[number].execution_count = [], None
            assert f"cell {number + 1}: was not executed" in normalise.problems(normalise.normalise(stripped))


def test_noise_is_removed():
    nb = normalise.normalise(sample())
    assert nb.metadata == normalise.METADATA
    folded = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}
    assert [cell.metadata for cell in nb.cells] == [{}, {}, folded]
    assert [cell.source for cell in nb.cells] == ["# Title", "1 + 1", "plot()"]
    assert [cell.get("execution_count") for cell in nb.cells] == [None, 1, 2]
    result, stream = nb.cells[1].outputs
    assert (result.execution_count, stream.text) == (1, "ab\n")
    assert nb.cells[2].outputs[0] == {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/plain": "<Figure at 0x7f0123456789>"},
    }
    nbformat.validate(nb)


def test_normal_form_is_a_fixed_point():
    once = normalise.normalise(sample())
    assert normalise.normalise(once) == once


def test_ids_follow_the_source_not_the_place():
    nb = normalise.normalise(sample())
    turned = sample()
    turned.cells = turned.cells[::-1] + [copy.deepcopy(turned.cells[0])]
    ids = [cell.id for cell in normalise.normalise(turned).cells]
    assert ids[:3] == [cell.id for cell in nb.cells][::-1]
    assert len(set(ids)) == 4


def test_what_is_wrong_is_said():
    nb = sample()
    assert normalise.problems(nb) == [
        "cell 3: shows a memory address, which differs between runs",
        "cell 3: stores image/png",
    ]
    nb.cells[1].outputs = [
        nbformat.v4.new_output("error", ename="ValueError", evalue="", traceback=[]),
        nbformat.v4.new_output("stream", name="stderr", text="warning"),
    ]
    nb.cells.append(nbformat.v4.new_code_cell(" "))
    found = normalise.problems(nb)
    assert "cell 2: ends in an error (ValueError)" in found
    assert "cell 2: writes to stderr" in found
    assert "cell 4: is empty" in found


def test_what_grading_reads_is_kept():
    nb = sample()
    nb.cells[1].outputs[0].data["application/vnd.gpuscale.answer+json"] = {"question": "hardware.1"}
    kept = normalise.normalise(nb).cells[1].outputs[0].data
    assert kept["application/vnd.gpuscale.answer+json"] == {"question": "hardware.1"}


def test_execute_and_check_from_the_command_line(tmp_path, capsys):
    path = tmp_path / "small.ipynb"
    cell = nbformat.v4.new_code_cell("import os\nos.environ['GPUSCALE_DIGEST']")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert normalise.main(["--check", str(path)]) == 1
    assert "was not executed" in capsys.readouterr().out
    assert normalise.main(["--execute", str(tmp_path)]) == 0
    assert normalise.main(["--check", str(tmp_path)]) == 0
    assert normalise.read(path).cells[0].outputs[0].data == {"text/plain": "'1'"}
