"""axe on every page, in both themes, on a desk and on a phone: nothing serious stands in anybody's way."""

import pytest
from bookpages import PAGES

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

SETTINGS = [(theme, width) for theme in ("light", "dark") for width in (1280, 390)]


def violations(page) -> list[str]:
    """What axe finds, each with the place it found first."""
    found = axe.Axe().run(page.page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{v['impact']} {v['id']} ({len(v['nodes'])}): {v['nodes'][0]['target']} {v['nodes'][0]['failureSummary'][:160]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("name", [*PAGES, "search.html"])
def test_a_page_has_no_serious_violation(tab, name):
    page = tab(name)
    problems = []
    for theme, width in SETTINGS:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        problems += [f"{theme}, {width} px: {what}" for what in violations(page)]
    assert not problems, "\n".join(problems)


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
    assert not problems, "\n".join(problems)


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
        page.mouse.move(0, 0)
        page.keyboard.press("Escape")
        tip.wait_for(state="hidden")
    assert page.errors == []
