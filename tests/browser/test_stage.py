"""Figures on a stage: what they show is what the library says, and mouse, finger and keys move the same handles."""

import json
import re
from urllib.parse import urlencode

import pytest
from browser.bookpages import calling, clipboard, until
from support.ring_states import run, sentence, states

from gpuscale.units import show

PAGES = calling("ring_stage")
STATE = "(el) => gpuscale.upgrade(el).state"
SHOWN = """(el) => {
  const said = (q) => el.querySelector(q).textContent.replace(/\\s+/g, ' ').trim();
  const [sentence, clock, total] = ['.state', '.big', '[data-c=of]'].map(said);
  const [rate, meter, note] = ['.mid', '.meter b', '.meter .note'].map(said);
  return { sentence, clock, total, rate, meter, note };
}"""


@pytest.fixture(scope="module", params=PAGES)
def ring(request, tab):
    """The ring of each page that has one."""
    page = tab(request.param)
    found = page.locator("[data-gpuscale=stage]").first
    found.scroll_into_view_if_needed()
    return found


def query(state: dict) -> str:
    """A state as the end of its link."""
    return urlencode(
        {key: "_".join(map(str, value)) if isinstance(value, list) else value for key, value in state.items()}
    )


def put(ring, state: dict) -> None:
    """Bring a state by its link."""
    ring.evaluate("(el, query) => gpuscale.upgrade(el).load(query)", query(state))


def start(ring) -> dict:
    """Back to the state that it opens with, and that state."""
    opening = json.loads(ring.evaluate("(el) => el.querySelector('script[type$=json]').textContent"))["start"]
    ring.locator("[data-do=reset]").click()
    until(ring.page, lambda: ring.evaluate(STATE)["p"] == opening)
    return ring.evaluate(STATE)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_every_number_is_that_of_the_schedule(ring):
    all_states = states(200, seed=2)
    every = f"(el, links) => links.map((link) => {{ gpuscale.upgrade(el).load(link); return ({SHOWN})(el); }})"
    for state, shown in zip(all_states, ring.evaluate(every, [query(state) for state in all_states]), strict=True):
        on = run(state)
        t, sent = state["at"] * on.total, on.sent(on.total)[0]
        assert shown["sentence"] == plain(sentence(state)), state
        assert shown["clock"] == plain(show(t, "s") if t else "0 s"), state
        assert shown["total"] == plain(f"of {show(on.total, 's')}"), state
        assert shown["rate"] == plain(show(sent / on.total, "B/s")), state
        assert shown["note"].endswith(plain(show(sent, "B"))), state


def test_it_plays_to_the_end_and_steps(ring):
    start(ring)
    page = ring.page
    page.emulate_media(reduced_motion="no-preference")
    put(ring, {"at": 0.97})
    ring.locator(".player .main").click()
    until(page, lambda: ring.evaluate(STATE)["share"] == 1)
    shown = ring.evaluate(SHOWN)
    assert "✓" in shown["meter"] and ring.locator("[data-c=hop]").first.text_content() == "all 7 steps"
    until(page, lambda: ring.locator(".player .main").get_attribute("aria-label") == "Play")
    ring.locator("[data-do=back]").click()
    on = run(ring.evaluate(STATE)["p"])
    assert ring.evaluate(STATE)["share"] * on.total == pytest.approx(on.marks[-2])
    ring.locator("[data-do=start]").click()
    assert ring.evaluate(STATE)["share"] == 0


def test_a_link_and_a_call_bring_the_state_back(ring):
    start(ring)
    page = ring.page
    state = states(1, seed=7)[0]
    put(ring, state)
    ring.locator("[data-copy=link]").click()
    link = clipboard(page)
    kept = ring.evaluate(STATE)
    start(ring)
    page.evaluate("(hash) => { location.hash = ''; location.hash = hash; }", link.partition("#")[2])
    until(page, lambda: ring.evaluate(STATE) == kept)
    ring.locator("[data-copy=py]").click()
    names: dict = {}
    *lines, call = clipboard(page).strip().splitlines()
    exec("\n".join(lines), names)
    assert eval(call, names) == pytest.approx(run(state).total)


def test_presets_glide_and_tabs_change_the_collective(ring):
    start(ring)
    ring.get_by_text("All links alike").click()
    until(ring.page, lambda: set(ring.evaluate(STATE)["p"]["share"]) == {1})
    ring.get_by_text("All-reduce", exact=True).click()
    state = ring.evaluate(STATE)["p"]
    assert state["kind"] == "all_reduce"
    assert ring.evaluate(SHOWN)["sentence"] == plain(sentence(state))
    assert ring.locator("[data-choice][aria-pressed=true]").text_content() == "All-reduce"


def test_the_table_has_a_row_for_each_link(ring):
    start(ring)
    ring.locator(".numbers summary").click()
    rows = ring.locator(".numbers tbody tr")
    assert rows.count() == 8
    assert re.sub(r"\s+", " ", rows.nth(1).inner_text()).startswith("1 → 2 180 GB/s 56.0 MB")


def test_text_of_twice_the_size_enlarges_the_drawing(ring):
    """All of its labels grow, and a handle is still held where the pointer is."""
    texts = "[...el.querySelectorAll('.drawn .scene svg text')]"
    heights = f"(el) => {texts}.map((one) => one.getBoundingClientRect().height)"
    opening, page = start(ring)["p"], ring.page
    page.set_viewport_size({"width": 2400, "height": 900})  # the column is wide enough for such text
    before = max(ring.evaluate(heights))
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    try:
        until(page, lambda: max(ring.evaluate(heights)) == pytest.approx(2 * before, rel=0.1))
        slow = opening["share"].index(min(opening["share"]))
        knob = ring.locator(f"[data-grip='share.{slow}'] .knob")
        knob.scroll_into_view_if_needed()
        box = knob.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 1, y)
        page.mouse.up()
        held = ring.evaluate(STATE)["p"]
        assert {k: v for k, v in held.items() if k != "share"} == {k: v for k, v in opening.items() if k != "share"}
        assert held["share"] == pytest.approx(opening["share"], abs=0.05)
    finally:
        page.evaluate("() => { document.documentElement.style.fontSize = ''; }")
        page.set_viewport_size({"width": 1280, "height": 900})


def test_a_held_handle_stays_under_the_hand_while_the_page_scrolls(ring):
    opening, page = start(ring)["p"], ring.page
    knob = ring.locator("[data-grip='share.3'] .knob")
    knob.evaluate("(el) => el.scrollIntoView({ block: 'center' })")
    box = knob.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y - 30)
    pulled = ring.evaluate(STATE)["p"]
    top = page.evaluate("() => scrollY")
    page.evaluate("() => new Promise((done) => { scrollBy(0, 80); requestAnimationFrame(() => setTimeout(done)); })")
    down = page.evaluate("() => scrollY") - top
    page.mouse.move(x, y - down)
    page.mouse.move(x - 30, y - 30 - down)
    after = ring.evaluate(STATE)["p"]
    page.mouse.up()
    assert down and after == pulled != opening
