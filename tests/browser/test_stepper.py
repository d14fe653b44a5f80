"""Every stepper: played to its end in any way, its count meets the formula's mark."""

import re

import pytest
from bookpages import calling, probe

PAGES = calling(r"\w*stepper")


class Stepper:
    def __init__(self, page, name: str):
        self.page, self.at = page, page.locator(f"#{name}")
        self.spec = self.at.evaluate("(el) => JSON.parse(el.querySelector('script[type$=json]').textContent)")
        self.steps = self.spec["steps"]

    def shown(self) -> dict:
        return self.at.evaluate(probe("stepper"))

    def press(self, what: str) -> dict:
        self.at.locator(f"[data-do={what}]").click()
        return self.shown()

    def key(self, name: str) -> dict:
        self.page.keyboard.press(name)
        return self.shown()


def steppers(page) -> list[Stepper]:
    names = page.evaluate("() => [...document.querySelectorAll('[data-gpuscale=stepper]')].map((el) => el.id)")
    assert names
    return [Stepper(page, name) for name in names]


@pytest.fixture(scope="module", params=PAGES)
def all_of(request, tab):
    """The steppers of each page in turn."""
    return steppers(tab(request.param))


def test_it_opens_on_a_telling_frame(visiting):
    for name in PAGES:
        with visiting() as page:
            for one in steppers(page.open(name)):
                shown = one.shown()
                assert shown["step"] == one.spec["at"]
                assert 0 < shown["step"] < one.steps
                assert shown["drawing"] and not one.at.locator(".fallback").is_visible()


def test_steps_lead_to_the_formulas_mark(all_of):
    for one in all_of:
        frames = [one.press("start")]
        frames += [one.press("next") for _ in range(one.steps)]
        assert [f["step"] for f in frames] == list(range(one.steps + 1))
        assert len({f["drawing"] for f in frames}) == one.steps + 1
        for frame in frames:
            assert frame["said"] == frame["spoken"] == f"{one.spec['unit']} {frame['step']} of {one.steps}"
            assert frame["said"] in frame["status"] and frame["said"] in frame["alt"]
        assert all(not f["tick"] for f in frames[:-1])
        assert frames[-1]["tick"] == "equals the formula"
        assert frames[-1]["width"] == pytest.approx(frames[-1]["mark"], abs=1e-6)
        assert one.press("next")["step"] == one.steps  # and no further
        assert one.press("back")["step"] == one.steps - 1


def test_the_meter_counts_what_is_drawn(all_of):
    for one in (s for s in all_of if s.spec["kind"] == "lanes"):
        total = one.spec["columns"] * len(one.spec["rows"])
        one.press("start")
        for step in range(one.steps + 1):
            shown = one.shown()
            counted = int(re.match(r"[\d,]+", shown["text"])[0].replace(",", ""))
            assert counted == shown["masked"]
            assert shown["masked"] + shown["active"] == one.spec["columns"] * step
            assert shown["width"] == pytest.approx(100 * counted / total, abs=1e-6)
            assert float(re.search(r"([\d.]+)%", shown["text"])[1]) == pytest.approx(100 * counted / total, abs=0.051)
            one.press("next")


def test_the_keyboard_steps_and_scrubs(all_of):
    for one in all_of:
        one.at.locator("input[type=range]").focus()
        assert one.key("Home")["step"] == 0
        assert one.key("ArrowRight")["step"] == 1
        assert one.key("ArrowRight")["step"] == 2
        assert one.key("ArrowLeft")["step"] == 1
        assert one.key("End")["step"] == one.steps
        assert one.key("Home")["step"] == 0
        one.at.locator("[data-do=next]").focus()
        assert one.key("Enter")["step"] == 1
        assert one.key("ArrowRight")["step"] == 2


def test_the_pointer_scrubs(all_of):
    for one in all_of:
        scrub = one.at.locator("input[type=range]")
        scrub.scroll_into_view_if_needed()
        box = scrub.bounding_box()
        one.page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
        assert one.shown()["step"] == one.steps
        one.page.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)
        assert one.shown()["step"] == 0


def test_it_plays_and_pauses(page):
    """Time is the test's: nothing waits."""
    page.clock.install()
    for name in PAGES:
        for one in steppers(page.open(name)):
            page.clock.pause_at(page.evaluate("() => Date.now()") + 1000)
            assert one.press("start")["step"] == 0
            assert one.press("play")["play"] == "Pause"
            page.clock.run_for(2 * one.spec["rate"])
            assert one.shown()["step"] == 2
            assert one.press("play")["play"] == "Play"
            page.clock.run_for(5 * one.spec["rate"])
            assert one.shown()["step"] == 2
            one.at.locator("input[type=range]").focus()
            assert one.key(" ")["play"] == "Pause"
            page.clock.run_for(one.steps * one.spec["rate"])
            last = one.shown()
            assert (last["step"], last["play"], bool(last["tick"])) == (one.steps, "Play", True)
            assert one.press("play")["step"] == 0  # again, from the start
            page.clock.resume()
    assert page.errors == []


def test_reduced_motion_is_honoured(visiting):
    with visiting(reduced_motion="reduce") as still:
        for one in steppers(still.open(PAGES[0])):
            one.press("start")
            assert one.press("next")["step"] == 1
            assert one.at.evaluate(probe("moving")) == []


def test_it_can_be_read_on_a_phone(all_of):
    for one in all_of:
        one.page.set_viewport_size({"width": 390, "height": 800})
        drawn = "(el) => el.querySelector('svg').getAttribute('width') == el.clientWidth"
        one.page.wait_for_function(drawn, arg=one.at.locator(".stage").element_handle())
        for _ in range(one.steps):
            one.press("back")
        for step in range(one.steps + 1):
            assert one.at.locator(".stage svg").evaluate(probe("outside")) == [], step
            one.press("next")
        one.page.set_viewport_size({"width": 1280, "height": 900})


def test_steppers_report_no_errors(all_of):
    assert all_of[0].page.errors == []
