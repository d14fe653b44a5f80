"""The toolkit for HTML: what it writes is what a browser reads, and nothing else in the package writes tables."""

import ast
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gpuscale
from gpuscale.core import html
from gpuscale.core.html import Head, Html

PACKAGE = Path(gpuscale.__path__[0])
TABLES = re.compile(r"<(?:table|tr|td|th|thead|tbody)\b")
SCRIPTS = re.compile(r"<script\b|<\\+/")
ESCAPES_ELSEWHERE = {"sources.py"}  # below the core


class Reader(HTMLParser):
    """The elements of a piece of HTML in order, each with its attributes, and the text of each."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])
        self.open.append(self.found[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for one in self.open:
            one[2] += data

    def all(self, tag: str) -> list:
        return [(attrs, text) for name, attrs, text in self.found if name == tag]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def written(path: Path) -> list[str]:
    """The texts of a file that are no docstrings."""
    tree = parsed(path)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if id(node) not in alone]


def writers(pattern: re.Pattern, package: Path = PACKAGE) -> set[str]:
    """The files whose texts match."""
    paths = {path for path in package.rglob("*.py") if any(map(pattern.search, written(path)))}
    return {path.relative_to(package).as_posix() for path in paths}


def escapers(package: Path = PACKAGE) -> set[str]:
    """The files that name the standard library's way to escape."""
    found = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            imported = isinstance(node, ast.ImportFrom) and node.module == "html" and not node.level
            if imported and any(alias.name == "escape" for alias in node.names):
                found.add(path.relative_to(package).as_posix())
            called = isinstance(node, ast.Attribute) and node.attr == "escape" and isinstance(node.value, ast.Name)
            if called and node.value.id != "re":
                found.add(path.relative_to(package).as_posix())
    return found


def test_only_the_toolkit_writes_tables_and_the_json_of_scripts():
    assert writers(TABLES) == set()
    assert writers(SCRIPTS) == {"core/html.py"}
    assert escapers() - ESCAPES_ELSEWHERE == {"core/html.py"}


def test_another_writer_is_seen(tmp_path):
    (tmp_path / "row.py").write_text('"""Not <tr>."""\nx = 4\ny = f"<tr class=a>{x}"\n')
    (tmp_path / "text.py").write_text('"""Says <table>."""\nx = "a < three"\n')
    (tmp_path / "script.py").write_text('x = "a".replace("</", "<\\\\/")\n')
    (tmp_path / "safe.py").write_text("import html\nimport re\n\nx = html.escape(re.escape('a'))\n")
    (tmp_path / "plain.py").write_text("import re\n\nx = re.escape('a')\n")
    assert writers(TABLES, tmp_path) == {"row.py"} and writers(SCRIPTS, tmp_path) == {"script.py"}
    assert escapers(tmp_path) == {"safe.py"}


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
@example("a & <b>", "\"a\" > 'b' & c")
def test_any_text_comes_back_from_an_element_and_an_attribute(text, label):
    ((tag, attrs, inside),) = Reader(html.element("p", html.escape(text), aria_label=label)).found
    assert (tag, attrs["aria-label"]) == ("p", label)
    assert inside == text


def test_what_an_attribute_may_be():
    said = html.element("form", class_="card", novalidate=True, hidden=False, id="", data_set=None, tabindex=0)
    assert said == '<form class="card" novalidate tabindex="0"></form>'


def test_a_table_names_its_columns_and_aligns_its_numbers():
    heads = [Head("Chip", leads=True), Head("<i>W</i>", "num", "bandwidth")]
    page = Reader(html.table(heads, [("H100", 3.35), ("A100", 2)], "specs", caption="Peaks", ids=["h", "a"]))
    assert page.all("table") == [({"class": "specs"}, "PeaksChipWH1003.35A1002")]
    assert page.all("th") == [
        ({"scope": "col"}, "Chip"),
        ({"scope": "col", "class": "num"}, "W"),
        ({"scope": "row"}, "H100"),
        ({"scope": "row"}, "A100"),
    ]
    assert page.all("td") == [({"class": "num", "data-k": "bandwidth"}, text) for text in ("3.35", "2")]
    assert [attrs for attrs, _ in page.all("tr")] == [{}, {"id": "h"}, {"id": "a"}]
    assert page.all("caption") == [({}, "Peaks")] and page.all("i") == [({}, "W")]


def test_a_stacked_table_stays_a_table_for_who_listens():
    page = Reader(
        html.table(["Choice", Head("Step", "num", "step")], ["Nothing fits."], "", stack=True, aria_label="P")
    )
    assert [(tag, attrs.get("role")) for tag, attrs, _ in page.found] == [
        ("table", "table"),
        ("thead", None),
        ("tr", "row"),
        ("th", "columnheader"),
        ("th", "columnheader"),
        ("tbody", "rowgroup"),
        ("tr", "row"),
        ("td", "cell"),
    ]
    assert page.all("td") == [({"role": "cell", "colspan": "2"}, "Nothing fits.")]
    assert page.all("table")[0][0] == {"role": "table", "aria-label": "P"}


@pytest.mark.parametrize("row", [("a",), ("a", "b", "c")])
def test_a_row_has_a_cell_for_each_column(row):
    with pytest.raises(ValueError, match="zip"):
        html.table(["x", "y"], [row])
    with pytest.raises(ValueError, match="zip"):
        html.table(["x"], [["a"]], ids=["one", "two"])


@given(st.recursive(st.text(alphabet="</!-script>\\\"'& é"), lambda inner: st.lists(inner, max_size=3)))
@example("</script><!-- <script>")
def test_json_comes_back_from_its_script_and_cannot_end_it(value):
    said = html.script_json(value)
    assert said.count("</") == 1 and "<!--" not in said
    ((attrs, text),) = Reader(said).all("script")
    assert attrs == {"type": "application/json"} and json.loads(text) == value


def test_lines_of_a_table_are_aligned():
    rows = [("TP", "step", "binds"), ("16", "9.41 s", "bubble"), ("8", "12 s", "")]
    assert html.aligned(rows, left=(2,)) == ["TP    step  binds", "16  9.41 s  bubble", " 8    12 s"]
    assert html.aligned([]) == []


def test_what_is_stored(monkeypatch):
    monkeypatch.setenv("GPUSCALE_DIGEST", "1")
    assert Html("<b>9</b>", "9")._repr_mimebundle_() == {"text/plain": "9"}
    assert Html("<b>9</b>", "9", stored=True)._repr_mimebundle_() == {"text/html": "<b>9</b>", "text/plain": "9"}
    monkeypatch.setenv("GPUSCALE_DIGEST", "0")
    assert Html("<b>9</b>", "9")._repr_mimebundle_() == {"text/html": "<b>9</b>", "text/plain": "9"}
