"""The filter of the formula index is the search of the library: the same index, the same rules, the same finds."""

import json
import re
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from gpuscale import find
from gpuscale.book.served import tight_script
from gpuscale.catalogue import search, sweep
from gpuscale.core.html import anchor
from gpuscale.page import appendices
from gpuscale.widgets import assets

ROOT = Path(__file__).parents[2]
CELLS = json.loads((ROOT / "chapters" / "formula_index.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
ENTRY = {f: anchor(key) for key, f in sweep.formulas().items()}
TYPED = (
    "busbw; BUS Bandwidth; bus; fat tree; fat-trees; Clos; all reduce; allreduce; ALL-REDUCES; reduce all; hopped; "
    "V_rank; v; B/s; FLOP/s; TFLOPS; kv; KV cache; bubbles; patarasuk; Träff; little's law; Little’s; MoE; FSDP; TP; "
    "tre; tree; trees; r; ri; rin; ring; latencies; switches; copies; occupancy zero; qqqq; ring qqqq; of the; ?; "
    "all-to-alls; 1F1B; zb-h1; 3/4; /; W_hbm; α; Σ; batch; classes; x_; scaling-book-gpus; µ; ﬁt; gpu"
).split("; ")


@pytest.fixture(scope="module")
def filtered():
    """filtered("ring") is what the page's script finds, from the page's data."""
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', appendices.formula_search().html)
    with MiniRacer() as engine:
        engine.eval(f"globalThis.gpuscale = {{}}; {tight_script(assets.script('filter'))}; null")
        engine.eval(f"const find = gpuscale.finder({data}); null")
        yield lambda text: json.loads(engine.eval(f"JSON.stringify(find({json.dumps(text)}))"))


def same(text, filtered):
    said = filtered(text)
    if said["found"] is None:
        with pytest.raises(ValueError, match="word"):
            find(text)
        return
    found = find(text)
    assert set(said["found"]) == {ENTRY[f] for f in found}, text
    assert said["strange"] == [word for word in search.words(text) if not search.matching(word)], text


@pytest.mark.parametrize("text", TYPED)
def test_the_page_finds_what_the_library_finds(text, filtered):
    same(text, filtered)


def test_the_page_finds_every_title_and_every_synonym(filtered):
    for f in sweep.formulas().values():
        assert ENTRY[f] in filtered(f.title)["found"], f.title
    for row in search.SYNONYMS:
        for phrase in row:
            same(phrase, filtered)


def test_nothing_typed_is_no_filter(filtered):
    assert filtered("") == filtered("  ") == filtered("the") == {"found": None, "strange": []}


def test_the_page_has_a_cell_for_each_file_of_formulas():
    """One was forgotten once. The search box is above them."""
    asked = [name for code in CODE for name in re.findall(r'^appendices\.formula_index\("([\w.]+)"\)$', code, re.M)]
    files = [module.removeprefix("gpuscale.") for module in sweep.modules()]
    assert sorted(asked) == sorted(files)
    assert [code.startswith("appendices.formula_search(") for code in CODE].index(True) == 1


def test_every_formula_has_an_entry_that_the_box_knows():
    entries = [
        key
        for module in sweep.modules()
        for key in re.findall(r'id="index-([\w-]+)"', appendices.formula_index(module.removeprefix("gpuscale.")).html)
    ]
    assert sorted(entries) == sorted(search.index()["formulas"])


def test_without_a_script_there_is_no_box():
    assert re.match(r'<div class="rows-filter" [^>]*\bhidden>', appendices.formula_search().html)
