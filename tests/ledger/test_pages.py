"""What pages show of the ledger: every row once, every link to something, every count from the rows."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from gpuscale import ledger
from gpuscale.core.html import anchor
from gpuscale.ledger import pages

CHAPTERS = Path(__file__).parents[2] / "chapters"
ROWS = {**ledger.claims(), **ledger.wordings()}


def code(chapter: str) -> str:
    cells = json.loads((CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def stored(chapter: str) -> str:
    cells = json.loads((CHAPTERS / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    return "\n".join("".join(output.get("data", {}).get("text/plain", "")) for output in outputs)


LISTED = re.findall(r'ledger_rows\("(\w+)"\)', code("published_numbers"))


def test_the_page_has_every_row_once_and_every_chapter_points_to_its_rows():
    ids = [name for chapter in LISTED for name in re.findall(r'<tr[^>]* id="([^"]+)"', pages.ledger_rows(chapter).html)]
    assert sorted(ids) == sorted(f"claim-{anchor(key)}" for key in ROWS)
    assert all(f'ledger_summary("{chapter}")' in code(chapter) for chapter in LISTED)


def test_there_are_as_many_rows_as_promised():
    assert len(ROWS) >= 560 and len(ledger.errata()) >= 57 and len(ledger.findings()) == 10


def test_counts_come_from_the_rows():
    counts = Counter(row.verdict for row in ROWS.values())
    said = pages.ledger_verdicts().text
    assert all(f"{ledger.VERDICTS[verdict].word}: {count}" in said for verdict, count in counts.items())
    assert f"All: {len(ROWS)}" in said
    sources = pages.ledger_sources().text.splitlines()
    assert sum(int(line.split(" | ")[1]) for line in sources[:-1]) == len(ROWS) == int(sources[-1].split(" | ")[1])


def test_a_chapter_keeps_a_few_boxes_of_its_own_and_types_no_claim():
    for chapter in LISTED:
        boxes = re.findall(r'common_mistake\("([^"]+)"\)', code(chapter))
        assert 1 <= len(boxes) <= 3, chapter
        assert "Claim(" not in code(chapter)


@pytest.mark.parametrize("chapter", LISTED)
def test_stored_pages_show_the_ledger_as_it_is(chapter):
    assert pages.ledger_rows(chapter).text in stored("published_numbers")
    for key in re.findall(r'common_mistake\("([^"]+)"\)', code(chapter)):
        assert pages.common_mistake(key).text in stored(chapter)


def test_a_measurement_is_not_called_computed():
    assert "measured 473 GB/s" in pages.common_mistake("gpus:E-480").text.replace("\u00a0", " ")
    assert ", computed " in pages.common_mistake("gpus:C-TREE").text


def test_every_erratum_is_found_from_a_row_and_from_the_page():
    linked = {key for row in ROWS.values() for key in row.errata}
    assert linked == set(ledger.errata())
    shown = pages.ledger_errata().html
    assert all(f'id="erratum-{anchor(key)}"' in shown for key in linked)


def test_an_unknown_id_or_chapter_is_refused():
    with pytest.raises(KeyError, match="gpus:NONE"):
        ledger.claim("gpus:NONE")
    with pytest.raises(KeyError, match="notation"):
        pages.ledger_rows("notation")
    with pytest.raises(KeyError, match="E99"):
        ledger.erratum("E99")
