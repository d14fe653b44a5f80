"""Every stepper: played to its end in any way, its count meets the formula's mark.

Each page is opened once, and a stepper is stepped through inside the browser, in one call.
"""

from datetime import datetime

import pytest
from browser.bookpages import PROBES, calling, probe, said
from support.stepper_demo import cards
from support.stepper_demo import page as demo

PAGES = calling(r"\w*stepper")
WIDTHS = (1280, 320)


class Stepper:
    def __init__(self, page, name: str):
        self.page, self.at = page, page.locator(f"#{name}")
        self.spec = self.at.evaluate("(el) => JSON.parse(el.querySelector('script[type$=json]').textContent)")
        self.steps = self.spec["steps"]

    def shown(self) -> dict:
        return self.at.evaluate(probe("stepper"))

    def frames(self) -> list[dict]:
        """All frames, one press beyond the end, and one back."""
        return self.at.evaluate(f"(el) => ({PROBES}).frames(el, {self.steps})")

    def press(self, what: str) -> dict:
        self.at.locator(f"[data-do={what}]").click()
        return self.shown()

    def key(self, name: str) -> int:
        """The step that a key leads to."""
        self.page.keyboard.press(name)
        return self.at.evaluate("(el) => +el.querySelector('.player input').value")


def steppers(page) -> list[Stepper]:
    names = page.evaluate("() => [...document.querySelectorAll('[data-gpuscale=stepper]')].map((el) => el.id)")
    assert names
    return [Stepper(page, name) for name in names]


@pytest.fixture(scope="module", params=PAGES)
def all_of(request, tab):
    """The steppers of each page in turn."""
    return steppers(tab(request.param))


@pytest.fixture(scope="module")
def shapes(visiting, tmp_path_factory):
    """Steppers of every shape of schedule, on a page of their own."""
    file = demo(tmp_path_factory.mktemp("shapes"))
    with visiting() as page:
        page.goto(file.as_uri())
        yield page


def test_it_opens_on_a_telling_frame(all_of):
    """Comes first: nothing has been pressed yet."""
    for one in all_of:
        shown = one.shown()
        assert shown["step"] == one.spec["at"]
        assert 0 < shown["step"] < max(one.steps, 2)
        assert shown["drawing"] and not one.at.locator(".fallback").is_visible()


def right(one: Stepper, frames: list[dict]) -> list[str]:
    """What is wrong with the frames of a stepper, from the start to one press beyond the end, and one back."""
    *frames, beyond, back = frames
    meter, unit = one.spec.get("meter"), one.spec["unit"]
    wrong = [f"{f['step']}: {f['odd'] or f['outside']}" for f in frames if f["odd"] or f["outside"]]
    wrong += [f"{f['step']}: {f['said']!r}" for f in frames if f["said"] != f"{unit} {f['step']} of {one.steps}"]
    wrong += [f"{f['step']}: not told" for f in frames for k in ("spoken", "status", "alt") if f["said"] not in f[k]]
    expected = {
        "steps": list(range(one.steps + 1)),
        "different drawings": one.steps + 1,
        "the end": one.steps,
        "one back": one.steps - 1,
        "places of the player": 1,
    }
    found = {
        "steps": [f["step"] for f in frames],
        "different drawings": len({f["drawing"] for f in frames}),
        "the end": beyond["step"],
        "one back": back["step"],
        "places of the player": len({f["top"] for f in frames}),
    }
    if meter:
        ticks = ["equals the formula"] if meter.get("equal") else [""]
        expected |= {"texts": meter["text"], "ticks": [""] * one.steps + ticks}
        found |= {"texts": [f["text"] for f in frames], "ticks": [f["tick"] for f in frames]}
    if meter and meter.get("equal") and abs(frames[-1]["width"] - frames[-1]["mark"]) > 1e-6:
        wrong.append(f"the bar ends at {frames[-1]['width']}%, the mark is at {frames[-1]['mark']}%")
    return wrong + [f"{key}: expected {expected[key]}; got {got}" for key, got in found.items() if got != expected[key]]


def test_steps_lead_to_the_formulas_mark(all_of):
    problems = {one.spec["id"]: right(one, one.frames()) for one in all_of}
    assert not any(problems.values()), said([f"{name}: {p}" for name, found in problems.items() for p in found])


@pytest.mark.parametrize("width", WIDTHS)
def test_every_shape_of_schedule_is_drawn(shapes, width):
    shapes.set_viewport_size({"width": width, "height": 900})
    drawn = "(el) => el.firstChild.getAttribute('width') == el.clientWidth"
    shapes.wait_for_function(f"() => [...document.querySelectorAll('.stage')].every({drawn})")
    found = steppers(shapes)
    assert len(found) == len(cards())
    problems = {one.spec["id"]: right(one, one.frames()) for one in found}
    assert not any(problems.values()), said([f"{name}: {p}" for name, found in problems.items() for p in found])
    assert shapes.evaluate(probe("overflow")) == [] and shapes.errors == []


def test_the_keyboard_steps_and_scrubs(all_of):
    for one in all_of:
        one.at.locator("input[type=range]").focus()
        assert one.key("Home") == 0
        assert one.key("ArrowRight") == 1
        assert one.key("ArrowRight") == min(2, one.steps)
        assert one.key("ArrowLeft") == min(2, one.steps) - 1
        assert one.key("End") == one.steps
        assert one.key("Home") == 0
        one.at.locator("[data-do=next]").focus()
        assert one.key("Enter") == 1
        assert one.key("ArrowRight") == min(2, one.steps)


def test_the_pointer_scrubs(all_of):
    for one in all_of:
        scrub = one.at.locator("input[type=range]")
        scrub.scroll_into_view_if_needed()
        box = scrub.bounding_box()
        one.page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] / 2)
        assert one.shown()["step"] == one.steps
        one.page.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)
        assert one.shown()["step"] == 0


def test_it_plays_and_pauses(visiting, tmp_path):
    """A stepper of each kind and of two steps, and those of a page of the site. Time is the test's: nothing waits."""
    with visiting() as page:
        page.clock.install()
        for address in (demo(tmp_path).as_uri(), f"{page.site.as_uri()}/{PAGES[0]}"):
            page.goto(address)
            page.clock.pause_at(datetime.fromtimestamp(page.evaluate("() => Date.now()") / 1000 + 1))
            found = steppers(page)
            for one in {(one.spec["kind"], one.steps > 2): one for one in found}.values():
                plays(one, page.clock)
            page.clock.resume()
        assert page.errors == []


def plays(one: Stepper, clock) -> None:
    """From the start to a pause, on to the end, and from the start again."""
    assert one.press("start")["step"] == 0
    assert one.press("play")["play"] == "Pause"
    if one.steps > 2:
        clock.run_for(2 * one.spec["rate"])
        assert one.shown()["step"] == 2
        assert one.press("play")["play"] == "Play"
        clock.run_for(5 * one.spec["rate"])
        assert one.shown()["step"] == 2
        one.at.locator("input[type=range]").focus()
        one.key(" ")
        assert one.shown()["play"] == "Pause"
    clock.run_for(one.steps * one.spec["rate"])
    last = one.shown()
    equal = one.spec.get("meter", {}).get("equal", False)
    assert (last["step"], last["play"], bool(last["tick"])) == (one.steps, "Play", equal)
    assert one.press("play")["step"] == 0  # again, from the start
    assert one.press("play")["play"] == "Play"


def test_reduced_motion_is_honoured(visiting):
    with visiting(reduced_motion="reduce") as still:
        for one in steppers(still.open(PAGES[0])):
            one.press("start")
            assert one.press("next")["step"] == 1
            assert one.at.evaluate(probe("moving")) == []


def test_it_can_be_read_on_a_phone(all_of):
    all_of[0].page.set_viewport_size({"width": 390, "height": 800})
    for one in all_of:
        drawn = "(el) => el.querySelector('svg').getAttribute('width') == el.clientWidth"
        one.page.wait_for_function(drawn, arg=one.at.locator(".stage").element_handle())
        assert right(one, one.frames()) == [], one.spec["id"]
    all_of[0].page.set_viewport_size({"width": 1280, "height": 900})


def test_paper_shows_the_telling_frame_wherever_the_reader_was(shapes):
    """And the screen has the reader's frame again after it."""
    for one in steppers(shapes):
        one.press("start")
    shapes.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    printed = [one.shown()["step"] for one in steppers(shapes)]
    shapes.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert printed == [one.spec["at"] for one in steppers(shapes)]
    assert all(one.shown()["step"] == 0 for one in steppers(shapes))


def test_steppers_report_no_errors(all_of):
    assert all_of[0].page.errors == []
