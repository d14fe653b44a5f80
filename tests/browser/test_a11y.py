"""axe on every page, in both themes, on a desk and on a phone: nothing serious stands in anybody's way."""

from pathlib import Path

import pytest
from bookpages import PAGES, SETTLE, said

AXE = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")
# Everything once on each page; in the other settings what depends on colours and width, and there not inside of
# mathematics, which has the colour of the text around it. What only a phone shows is the same bar on every page.
ALL: list[str] = []
SOME = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
SETTINGS = [(1280, "light", ALL), (1280, "dark", SOME), (390, "dark", SOME), (390, "light", SOME)]
ON_PHONES_TOO = (PAGES[0], PAGES[1], "exercises/hardware.html", "search.html")
RUN = """async (only) => {
  const options = { resultTypes: ['violations'], preload: false, ...only.length && { runOnly: only } };
  const part = only.length ? { exclude: [['mjx-container']] } : document;
  const { violations } = await axe.run(part, options);
  return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) =>
    `${v.impact} ${v.id} (${v.nodes.length}): ${v.nodes[0].target} ${v.nodes[0].failureSummary.slice(0, 200)}`);
}"""


def violations(page, only=ALL) -> list[str]:
    """What axe finds, each with the place it found first."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN, only)


@pytest.mark.parametrize("name", [*PAGES, "search.html"])
def test_a_page_has_no_serious_violation(page, name):
    problems = []
    before = 0
    for width, theme, only in SETTINGS:
        if width != before:
            page.open(name, width=width)
        before = width
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        page.evaluate(SETTLE)
        everything = (width, theme) == (390, "dark") and name in ON_PHONES_TOO
        problems += [f"{theme}, {width} px: {what}" for what in violations(page, ALL if everything else only)]
    assert not problems, said(problems)


def test_answered_cards_and_open_tips_have_none_either(page):
    page.open("exercises/hardware.html")
    fields = page.locator(".quiz .answer input")
    for i, text in enumerate(("1", "foo")):
        fields.nth(i).fill(text)
        fields.nth(i).press("Enter")
    page.locator(".quiz input[type=radio]").first.check()
    page.locator(".quiz:has(input[type=radio]) .btn.main").first.click()
    problems = violations(page)
    page.open("chapters/hardware_tables.html", theme="dark", width=390)
    page.locator(".prov").first.focus()
    page.locator(".tip").wait_for(state="visible")
    problems += violations(page)
    page.keyboard.press("Escape")
    page.locator(".tip").wait_for(state="hidden")
    assert not problems, said(problems)


def test_a_number_tells_its_source_to_keyboard_and_pointer(tab):
    page = tab("chapters/hardware_tables.html")
    tip, numbers = page.locator(".tip"), page.locator("button.prov")
    assert numbers.count() > 50
    for i in (0, 7, numbers.count() - 1):
        number = numbers.nth(i)
        number.scroll_into_view_if_needed()
        number.hover()
        tip.wait_for(state="visible")
        for part in ("printed", "basis", "source"):
            assert number.get_attribute(f"data-{part}") in tip.inner_text()
        assert number.get_attribute("aria-describedby") == tip.get_attribute("id")
        box = tip.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
        page.keyboard.press("Escape")
        assert tip.is_hidden()
        page.mouse.move(0, 0)
    assert page.errors == []
