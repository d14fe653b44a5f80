"""Runs of notebooks for the site: really run, in parallel; errors are reported and nothing is written."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest

from gpuscale.book.runs import Runs, run

NOTEBOOKS = {
    "one.ipynb": ["mine = 1", "print('a', 'b', flush=True)\nprint('c')"],
    "two.ipynb": ["import os, sys", "'mine' in globals(), os.environ.get('GPUSCALE_DIGEST'), os.getcwd(), os.getpid()"],
    "three.ipynb": ["1 + 1", "1 / 0", "2 + 2"],
    "four.ipynb": [
        "import sys; [m for m in ('gpuscale.one_gpu.roofline', 'gpuscale.symbols') if m in sys.modules]",
        "from gpuscale.specs import registry; registry._registry.cache_info().currsize",
    ],
    "slow.ipynb": ["while True: pass"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("notebooks")
    for name, cells in NOTEBOOKS.items():
        nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nb.cells[0].outputs = [nbformat.v4.new_output("stream", text="an old output")]
        nbformat.write(nb, where / name)
    return where


@pytest.fixture(scope="module")
def found(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPUSCALE_DIGEST", "1")
        runs = Runs([folder / name for name in NOTEBOOKS if name != "slow.ipynb"], timeout=60, cores=2)
        out = {path.name: runs[path] for path in before if path in runs}
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return out


def outputs(run):
    return [[out.get("text") or out["data"]["text/plain"] for out in cell.outputs] for cell in run.notebook.cells]


def test_outputs_are_new_and_what_is_printed_is_one_stream(found):
    assert set(found) == set(NOTEBOOKS) - {"slow.ipynb"}
    assert outputs(found["one.ipynb"]) == [[], ["a b\nc\n"]] and found["one.ipynb"].error == ""
    assert [cell.execution_count for cell in found["one.ipynb"].notebook.cells] == [1, 2]


def test_each_runs_by_itself_in_its_folder_and_shows_figures(found, folder):
    *told, process = eval(outputs(found["two.ipynb"])[1][0])
    assert told == [False, "page", str(folder)] and process > 0


def test_the_formulas_are_there_and_no_data_is(found):
    """A kernel starts with what does not depend on it; data it reads itself, as GPUSCALE_DATA adds to it."""
    assert outputs(found["four.ipynb"]) == [["['gpuscale.one_gpu.roofline', 'gpuscale.symbols']"], ["0"]]


def test_an_error_ends_the_run_and_is_told(found):
    run = found["three.ipynb"]
    assert "1 / 0" in run.error and run.error.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert [cell.execution_count for cell in run.notebook.cells] == [1, 2, None]


def test_a_cell_may_not_take_for_ever(folder):
    with ThreadPoolExecutor() as own:  # a browser test before this one may have left a loop running in this thread
        done = own.submit(lambda: asyncio.run(run(folder / "slow.ipynb", timeout=1))).result()
    assert "while True" in done.error


def test_what_was_not_asked_for_has_no_run(folder):
    runs = Runs([], timeout=1)
    assert folder / "one.ipynb" not in runs
    with pytest.raises(KeyError):
        runs[folder / "one.ipynb"]


def test_a_run_that_cannot_be_made_is_an_error_of_whoever_waits(tmp_path):
    missing = tmp_path / "none.ipynb"
    with pytest.raises(FileNotFoundError):
        Runs([missing], timeout=1)[missing]
