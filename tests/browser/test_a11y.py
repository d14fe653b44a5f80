"""axe on what a reader opens on a page, and sources by keyboard; on the pages as they open it is in test_pages.py."""

from browser.axe import REDUCE, violations
from browser.bookpages import said


def test_answered_cards_and_open_tips_have_none_either(page):
    page.open("exercises/hardware.html")
    fields = page.locator(".quiz .answer input")
    for i, text in enumerate(("1", "foo")):
        fields.nth(i).fill(text)
        fields.nth(i).press("Enter")
    page.locator(".quiz input[type=radio]").first.check()
    page.locator(".quiz:has(input[type=radio]) .btn.main").first.click()
    page.evaluate(REDUCE, "")
    problems, _ = violations(page)
    page.open("chapters/hardware_tables.html", theme="dark", width=390)
    page.locator(".prov").first.focus()
    page.locator(".tip").wait_for(state="visible")
    page.evaluate(REDUCE, "")
    problems += violations(page)[0]
    page.keyboard.press("Escape")
    page.locator(".tip").wait_for(state="hidden")
    assert not problems, said(problems)


def test_a_number_tells_its_source_to_keyboard_and_pointer(page):
    page.open("chapters/hardware_tables.html")
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


def test_a_tip_links_its_source_and_the_keyboard_gets_there(page):
    page.open("chapters/hardware_tables.html")
    number, link = page.locator("button.prov").first, page.locator(".tip a")
    number.press("Enter")
    assert link.first.evaluate("(el) => el === document.activeElement")
    page.keyboard.press("Escape")
    assert page.locator(".tip").is_hidden() and number.evaluate("(el) => el === document.activeElement")
    name = number.get_attribute("data-source").split(",")[0]
    number.press("Enter")
    link.first.press("Enter")
    page.wait_for_url("**/bibliography.html#ref-*")
    assert name.split()[0] in page.locator(":target").inner_text() and page.errors == []


def test_a_value_is_spoken_once(page):
    """The sentence of a figure and the status of one on a stage speak; the values next to the sliders are silent."""
    page.open("chapters/rings_and_trees.html")
    speaking = page.evaluate(
        """() => [...document.querySelectorAll('[data-gpuscale]:is(.live, .stage)')].map((el) =>
          el.querySelectorAll('output:not([aria-live=off]), [role=status], [aria-live=polite]').length)"""
    )
    assert len(speaking) >= 3 and set(speaking) == {1}


def test_sliders_and_meters_are_there_in_forced_colors(visiting):
    """Where a system sets all colors, the line of a slider and the bar and mark of a meter still stand out."""
    with visiting(forced_colors="active") as page:
        page.open("chapters/rings_and_trees.html")
        canvas = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        slider = page.locator(".drawn [type=range]").first
        line = "(el) => { const s = getComputedStyle(el); return [s.backgroundImage, s.forcedColorAdjust]; }"
        image, adjusted = slider.evaluate(line)
        assert image != "none" and adjusted == "none" and canvas not in image
        ground, bar, mark = (
            page.locator(f".meter .track{part}").first.evaluate("(el) => getComputedStyle(el).backgroundColor")
            for part in ("", " i", " s")
        )
        assert len({canvas, ground, bar, mark}) == 4


def test_a_pressed_tab_and_a_drawing_keep_their_colors_in_forced_ones(visiting):
    """A tab that is pressed differs from the others, and the labels of a drawing stand on its own ground."""
    with visiting(forced_colors="active") as page:
        page.open("chapters/beyond_the_node.html")
        ground = "(el) => getComputedStyle(el).backgroundColor"
        tabs = "[data-gpuscale=stage] [data-choice][aria-pressed={}]"
        assert page.locator(tabs.format("true")).first.evaluate(ground) != page.locator(
            tabs.format("false")
        ).first.evaluate(ground)
        scene = page.locator(".drawn .scene").first
        assert scene.evaluate("(el) => getComputedStyle(el).forcedColorAdjust") == "none"
        assert scene.evaluate(ground) != "rgba(0, 0, 0, 0)"
