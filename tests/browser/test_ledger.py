"""The filter of the ledger: it leaves the rows that fit all that is chosen, and no match stays hidden."""

import pytest
from browser.bookpages import CLICK, SETTLE, visible

from gpuscale import ledger
from gpuscale.core.html import anchor
from gpuscale.sources import source_name

PAGE = "chapters/published_numbers.html"
ROWS = {**ledger.claims(), **ledger.wordings()}
SHOWN = visible(".filtered tr[id]")
HEADS = visible("article h3")


@pytest.fixture
def opened(tab):
    page = tab(PAGE)
    page.fill(".rows-filter input", "")
    for name in ("verdict", "source", "chapter"):
        page.select_option(f".rows-filter select[name={name}]", index=0)
    return page


def shown(page) -> set[str]:
    page.evaluate(SETTLE)
    return set(page.evaluate(SHOWN))


def ids(fits) -> set[str]:
    return {f"claim-{anchor(key)}" for key, row in ROWS.items() if fits(row)}


def test_it_opens_with_every_row(opened):
    assert shown(opened) == ids(lambda row: True)
    assert opened.text_content(".rows-filter output") == f"{len(ROWS)} rows"


def test_choices_and_text_narrow_it_together(opened):
    opened.select_option("select[name=verdict]", ledger.VERDICTS["disagrees"].word)
    wrong = ids(lambda row: row.verdict == "disagrees")
    assert shown(opened) == wrong
    opened.select_option("select[name=source]", source_name("cs336"))
    both = ids(lambda row: row.verdict == "disagrees" and row.source == "cs336")
    assert shown(opened) == both and 0 < len(both) < len(wrong)
    opened.fill(".rows-filter input", "torus")
    assert shown(opened) < both and opened.evaluate(HEADS)
    opened.fill(".rows-filter input", "qqqq")
    assert shown(opened) == set()
    assert opened.text_content(".rows-filter output") == f"0 of {len(ROWS)} rows"


def test_a_chapter_leaves_its_section_alone(opened):
    opened.select_option("select[name=chapter]", label=next_label(opened, "Overlap"))
    assert shown(opened) == ids(lambda row: getattr(row, "chapter", getattr(row, "covered", "")).startswith("overlap"))


def next_label(page, title: str) -> str:
    labels = page.eval_on_selector_all("select[name=chapter] option", "(all) => all.map((one) => one.textContent)")
    return next(label for label in labels if label.startswith(title))


def test_whoever_is_sent_to_a_row_sees_it(opened):
    opened.select_option("select[name=verdict]", ledger.VERDICTS["disagrees"].word)
    name = next(iter(ids(lambda row: row.verdict == "agrees")))
    opened.evaluate(CLICK, name)
    assert name in shown(opened)
