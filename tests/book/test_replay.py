"""What the build ran is compared with the stored notebooks as if a kernel had run it again."""

import nbformat
import pytest
from support.replay import Replay

from gpuscale.book import normalise, runs
from gpuscale.book.build import ROOT

CELLS = [
    "from gpuscale.core.html import Html\nprint('a'); print('b')\nHtml('<b>9</b>', '9')",
    "2 + 2",
    "Html('<b>8</b>', '8', stored=True)",
    "from gpuscale.widgets.card import Card\nCard('{}', '<p>drawn</p>', 'in words')",
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The run of a notebook as the build keeps it, and as a notebook is stored."""
    path = tmp_path_factory.mktemp("book") / "small.ipynb"
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbformat.write(nb, path)
    run = runs.Runs([path], timeout=60)[path]
    assert run.error == ""
    return run.notebook, normalise.normalise(normalise.execute(nb, path.parent))


def told(replay: Replay, source: str) -> list:
    number, found = replay.execute_cell_input(source), []
    while (message := replay.get_message("iopub"))["msg_type"] != "status":
        assert message["parent_header"]["msg_id"] == number
        found.append(message["content"])
    return found


def test_it_tells_what_a_stored_notebook_holds(ran):
    """Drawings are left out of exactly those outputs that are stored without."""
    run, stored = ran
    replay = Replay(run)
    for cell in stored.cells:
        seen = told(replay, cell.source)
        assert [{k: one[k] for k in ("data", "text") if k in one} for one in seen] == [
            {k: one[k] for k in ("data", "text") if k in one} for one in cell.outputs
        ]
    assert "text/html" in run.cells[0].outputs[1].data and "text/html" in stored.cells[2].outputs[0].data


def test_cells_may_be_left_out_but_not_come_from_elsewhere(ran):
    replay = Replay(ran[0])
    assert told(replay, CELLS[1])[0]["data"] == {"text/plain": "4"}
    for source in ("2 + 3", CELLS[0]):
        with pytest.raises(AssertionError, match="has not run this cell"):
            replay.execute_cell_input(source)


def test_a_cell_after_an_error_has_not_run(tmp_path):
    path = tmp_path / "wrong.ipynb"
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in ("1 / 0", "2 + 2")])
    nbformat.write(nb, path)
    replay = Replay(runs.Runs([path], timeout=60)[path].notebook)
    assert told(replay, "1 / 0")[0]["ename"] == "ZeroDivisionError"
    with pytest.raises(AssertionError, match="ended before this cell"):
        replay.execute_cell_input("2 + 2")


def test_no_page_has_the_mark(site):
    """The metadata of outputs are for the comparison; runs are not on the site."""
    assert (ROOT / "_build" / "runs" / "chapters").is_dir()
    assert not [path for path in site.rglob("*.ipynb") if '"drawn": true' in path.read_text(encoding="utf-8")]
