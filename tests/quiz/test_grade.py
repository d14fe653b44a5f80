"""The score of a notebook, read from stored results in whatever state the file is; and the sheets."""

import json
import sys
import types

import nbformat
import pytest
from support.quiz_demo import demo

from gpuscale.book import normalise, sheets
from gpuscale.quiz import QuestionSet, check, grade, sets
from gpuscale.quiz.checking import MIME, read
from gpuscale.quiz.question_sets import PACKAGE


@pytest.fixture(autouse=True)
def shelf(monkeypatch):
    """The demonstration is the only set there is."""
    module = types.ModuleType(f"{PACKAGE}.demo")
    module.questions = demo
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(sys.modules["gpuscale.quiz.question_sets"], "sets", lambda: ["demo"])
    return module


def notebook(path, *results, more=()):
    """A saved notebook whose cells left these results."""
    cells = [nbformat.v4.new_markdown_cell("# Answers"), nbformat.v4.new_code_cell("1 + 1")]
    for result in results:
        data = result._repr_mimebundle_() if hasattr(result, "_repr_mimebundle_") else result
        output = nbformat.v4.new_output("execute_result", data, execution_count=1)
        cells.append(nbformat.v4.new_code_cell("check(...)", outputs=[output], execution_count=1))
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells, *more]), path)
    return path


def test_counts_what_is_right(tmp_path, capsys):
    path = notebook(tmp_path / "a.ipynb", check(demo[1], "19.1 us"), check(demo[2], "A"), check(demo[4], ...))
    sheet = grade.grade(path)
    assert (sheet.right, sheet.total) == (1, 9)
    assert [r.verdict for r in sheet.results] == ["right", "wrong", "open"]
    assert sheet.missing == ["demo.3", *(f"demo.{i}" for i in range(5, 10))]
    assert grade.main([str(path)]) == 0
    said = capsys.readouterr().out
    assert "demo.1  ✓ Right" in said
    assert "demo.2  ✗ Not yet" in said
    assert "demo.3  · never checked" in said
    assert "1 of 9 right" in said


def test_the_last_check_of_a_question_counts(tmp_path):
    typed = ("19.1 us", "5 s", "19 us")
    path = notebook(tmp_path / "a.ipynb", *(check(demo[1], text) for text in typed))
    assert [r.typed for r in grade.grade(path).results] == ["19 us"]
    path = notebook(tmp_path / "b.ipynb", check(demo[1], "19 us"), check(demo[1], ...))
    assert grade.grade(path).right == 0


def test_json(tmp_path, capsys):
    path = notebook(tmp_path / "a.ipynb", check(demo[1], "76.4 us"))
    assert grade.main(["--json", str(path)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["file"] == str(path)
    assert found["results"][0] == {
        "id": "demo.1",
        "variant": 1,
        "typed": "76.4 us",
        "verdict": "wrong",
        "message": "Four passes & more; one is asked.",
    }


def test_a_question_that_has_changed_is_said(tmp_path, shelf):
    path = notebook(tmp_path / "a.ipynb", check(demo[1], "19.1 us"), check(demo[2], "B"))
    assert grade.grade(path).old == []
    shelf.questions = QuestionSet("demo", "Other", [demo[4].question, demo[2].question])
    assert grade.grade(path).old == ["demo.1"]
    shelf.questions = QuestionSet("demo", "Other", [demo[1].question])
    assert grade.grade(path).old == ["demo.2"]
    assert "has changed since" in grade.grade_table(grade.grade(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        ("", "is not a notebook"),
        ("{}", "is not a notebook"),
        ("[1, 2]", "is not a notebook"),
        ("not json", "is not a notebook"),
        ('{"nbformat": 4}', "is not a notebook"),
        (b"\xff\xfe\x00", "is not a notebook"),
    ],
)
def test_files_that_are_no_notebooks(tmp_path, capsys, content, says):
    path = tmp_path / "x.ipynb"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.write_text(content)
    good = notebook(tmp_path / "good.ipynb", check(demo[1], "19.1 us"))
    assert grade.main([str(path), str(good)]) == 1
    out, err = capsys.readouterr()
    assert says in err
    assert "1 of 9 right" in out  # the readable one is graded all the same
    assert grade.main([str(tmp_path)]) == 1


def test_a_notebook_without_questions(tmp_path, capsys):
    path = notebook(tmp_path / "a.ipynb")
    assert grade.main([str(path)]) == 0
    assert "no checked questions" in capsys.readouterr().out
    assert grade.main(["--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)[0]["total"] == 0


GOOD = {"version": 1, "id": "demo.1", "variant": 1, "typed": "1", "verdict": "right"}
GOOD |= {"message": "m", "stamp": "s"}


@pytest.mark.parametrize(
    "record",
    [
        None,
        5,
        "text",
        [],
        {},
        GOOD | {"version": 0},
        GOOD | {"version": None},
        GOOD | {"verdict": "perfect"},
        GOOD | {"id": 3},
        GOOD | {"variant": "1"},
        {k: v for k, v in GOOD.items() if k != "typed"},
    ],
)
def test_results_of_another_form_are_passed_over(tmp_path, record):
    assert read(record) is None
    bundle = {"text/plain": "x", MIME: record}
    assert grade.grade(notebook(tmp_path / "a.ipynb", bundle)).results == []
    assert read(GOOD).right


def test_a_set_that_is_gone_is_old_and_no_error(tmp_path):
    path = notebook(tmp_path / "a.ipynb", {"text/plain": "x", MIME: GOOD | {"id": "gone.1"}})
    sheet = grade.grade(path)
    assert (sheet.old, sheet.missing, sheet.right) == (["gone.1"], [], 1)


def test_execute_runs_a_copy(tmp_path):
    """Nothing runs unless asked for; other cells may fail, and the file stays as it is."""
    shows = f"from IPython.display import display\ndisplay({{{MIME!r}: {GOOD!r}}}, raw=True)"
    cells = [nbformat.v4.new_code_cell(source) for source in ("1 / 0", shows)]
    path = notebook(tmp_path / "a.ipynb", more=cells)
    before = path.read_bytes()
    assert grade.grade(path).results == []
    assert [r.id for r in grade.grade(path, execute=True).results] == ["demo.1"]
    assert path.read_bytes() == before


# --- sheets ---


def test_a_sheet_asks_every_question_once():
    nb = sheets.sheet(demo)
    nbformat.validate(nb)
    sources = [c.source for c in nb.cells]
    assert sources[0].startswith("# Demonstration\n\nNine questions.")
    assert [s for s in sources if s.startswith("ask(")] == [f'ask("demo.{i}")' for i in range(1, 10)]
    assert 'check("demo.1", ...)' in sources
    assert '# A: arithmetic\n# B: HBM\n# C: the L2 cache\ncheck("demo.2", ...)' in sources
    tags = {c.source: c.metadata.tags for c in nb.cells[1:]}
    assert tags['ask("demo.1")'] == ["remove-input"]
    assert tags['check("demo.1", ...)'] == ["remove-cell"]
    assert normalise.normalise(nb) == normalise.normalise(sheets.sheet(demo))


def test_answers_survive_an_update(tmp_path):
    nb = sheets.sheet(demo)
    for cell in nb.cells:
        if cell.source == 'check("demo.1", ...)':
            cell.source = '# half of it\ncheck("demo.1", "19 us")'
    assert sheets.answered(nb) == {"demo.1": '# half of it\ncheck("demo.1", "19 us")'}
    path = tmp_path / "demo.ipynb"
    nbformat.write(normalise.normalise(nb), path)
    assert sheets.differs("demo", tmp_path) == ""
    sheets.write("demo", tmp_path, run=False)
    assert sheets.answered(normalise.read(path)) == sheets.answered(nb)


OPEN = ["check(", "check()", 'check("demo.1")', "check(name, 3)", "x = 5", 'check("demo.1", ...)']


@pytest.mark.parametrize("source", OPEN)
def test_cells_without_an_answer(source):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    assert sheets.answered(nb) == {}


def test_a_stale_sheet_is_found(tmp_path, shelf, capsys, monkeypatch):
    monkeypatch.setattr(sheets, "folder", lambda: tmp_path)
    monkeypatch.setattr(sheets, "sets", lambda: ["demo"])
    assert sheets.main(["--check"]) == 1
    assert "exercises/demo.ipynb is missing" in capsys.readouterr().out
    sheets.write("demo", tmp_path, run=False)
    assert sheets.main(["--check", "demo"]) == 0
    shelf.questions = QuestionSet("demo", "Demonstration", [demo[1].question], intro="Nine questions.")
    assert sheets.main(["--check"]) == 1
    assert "does not match the questions" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        sheets.main(["nonsense"])
    assert "no question set is called 'nonsense'" in capsys.readouterr().err


def test_the_books_sheets_are_up_to_date(monkeypatch):
    monkeypatch.undo()
    where = sheets.folder()
    stale = {name: sheets.differs(name, where) for name in sets() if (where / f"{name}.ipynb").exists()}
    assert not any(stale.values()), f"{stale}: run python -m gpuscale.book.sheets"
