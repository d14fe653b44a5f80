"""Every live figure: whatever the reader moves, by keyboard, mouse or finger, drawing and words follow.

The same checks run on every figure of the book. Whether the numbers are right is asked in test_live_numbers.py.
"""

import json
import random
import re

import pytest
from browser.bookpages import PAGES, calling, clipboard, probe, until
from browser.livefigure import drawing, each


def test_the_page_has_the_figures_of_its_notebook(figures):
    find = "() => [...document.querySelectorAll('[data-gpuscale=live]')].map((el) => el.id)"
    assert sorted(figures[0].tab.evaluate(find)) == sorted(f.name for f in figures)
    assert all(f.at.locator(".fallback").is_hidden() for f in figures)


def test_every_slider_moves_its_figure(figures):
    each(figures, sliders_move)


def sliders_move(figure):
    ends = [{"from": figure.opening, "at": {key: end}} for key in figure.spec["params"] for end in (0, 1000)]
    seen = [shown for shown, *_ in figure.seen(*ends)]
    for key, low, high in zip(figure.spec["params"], seen[::2], seen[1::2], strict=True):
        name = figure.spec["params"][key]["label"]
        if drawing(low) == drawing(high):
            yield f"{name}: the drawing does not move"
        if low["sentence"] == high["sentence"] or low["values"][key] == high["values"][key]:
            yield f"{name}: the words stay: {high['values'][key]}; {high['sentence']}"


def test_sliders_are_moved_by_keyboard(figures):
    """One slider of each kind on a page: how a key moves it depends on its scale and on how it snaps, and on nothing
    else."""
    kinds = {}
    for figure in figures:
        for key, about in figure.spec["params"].items():
            kinds.setdefault((about.get("log"), about.get("snap")), (figure.name, key))
    each(figures, lambda figure: keys_move(figure, [key for name, key in kinds.values() if name == figure.name]))


KEYS = "Home ArrowRight ArrowUp ArrowLeft ArrowDown End ArrowLeft ArrowDown ArrowUp Home PageUp PageDown".split()


def keys_move(figure, keys):
    for key in keys:
        figure.reset()
        for press, seen in zip(KEYS, states := figure.typed(key, KEYS), strict=True):
            if not seen["value"] or seen["value"] != seen["spoken"]:
                yield f"{key}: {press}: {seen}"
        home, right, up, left, down, end, less, least, back, _, page, low = (seen["position"] for seen in states)
        if not 0 == home < right < up > left > down >= 0 or not 1000 == end > less > least < back:
            yield f"{key}: {', '.join(KEYS)} lead to {home, right, up, left, down, end, less, least, back}"
        if not page > low >= 0:  # however coarse the values are
            yield f"{key}: Page Up and Page Down lead from 0 to {page} and {low}"


def test_every_view_and_preset_is_a_state_of_its_own(figures):
    each(figures, buttons_work)


def buttons_work(figure):
    for kind in ("view", "preset"):
        seen = []
        for i, part in enumerate(figure.spec[f"{kind}s"]):
            figure.at.locator(f"[data-{kind}='{i}']").click()
            [(shown, state, view)] = figure.seen({})
            pressed = shown[f"{kind}s"]
            if not pressed[i] or (kind == "view" and pressed.count(True) != 1):
                yield f"{kind} {i}: pressed are {pressed}"
            if kind == "view" and view != part:
                yield f"view {i}: the link names {view.get('name')}"
            wanted = part[1] if kind == "preset" else {}
            if wrong := [k for k, v in wanted.items() if state[k] != pytest.approx(v, rel=1e-12)]:
                yield f"preset {i} leaves {', '.join(wrong)} as it was"
            if (look := (drawing(shown), shown["sentence"], shown["code"])) in seen:
                yield f"{kind} {i} shows nothing new"
            seen.append(look)


def test_the_plot_can_be_dragged_and_clicked(figures):
    each([f for f in figures if f.movable], plot_moves)


def plot_moves(figure):
    x0, y0, x1, y1 = figure.plot()
    mouse, middle, before = figure.tab.mouse, (y0 + y1) / 2, figure.shown()
    left, *_, right = before["ends"]
    start = (before["dot"][0] - left) / (right - left) if before["dot"] else 0.5
    away = start + (0.4 if start < 0.5 else -0.4)  # a slider of few steps needs some way
    mouse.move(x0 + start * (x1 - x0), middle)
    mouse.down()
    mouse.move(x0 + away * (x1 - x0), middle, steps=3)
    dragged = figure.shown()
    mouse.up()
    if figure.readout():
        yield "the readout stays over a drag"
    if drawing(before) == drawing(dragged) or before["sentence"] == dragged["sentence"]:
        yield "dragging moves nothing"
    mouse.click(x0 + (start + away) / 2 * (x1 - x0), middle)
    clicked = figure.shown()
    places = [s["dot"] and s["dot"][0] for s in (before, clicked, dragged)]
    if clicked["sentence"] == dragged["sentence"]:
        yield "a click moves nothing"
    if all(places) and places != sorted(places, reverse=start > away):
        yield f"dragged, then clicked half way back, the dot goes from {places[0]} to {places[2]} to {places[1]}"


def test_the_pointer_reads_the_curves(figures):
    each(figures, plot_reads)


def plot_reads(figure):
    x0, y0, x1, y1 = figure.plot()
    names = [c["name"] for c in figure.spec["curves"] if "name" in c]
    for part in (0.15, 0.85):
        figure.tab.mouse.move(x0 + part * (x1 - x0), (y0 + y1) / 2)
        text = figure.readout()
        if not re.search(r"\d", text) or not any(f"{name}: " in text for name in names) or "NaN" in text:
            yield f"the readout says {text!r}"
        if not text.startswith(f"{figure.spec['x']['title']}: "):
            yield f"the readout does not name the place: {text!r}"
    figure.tab.mouse.move(x0 - 60, max(1, y0 - 90))
    if figure.readout():
        yield "the readout stays when the pointer leaves"


def test_on_a_phone_a_tap_moves_the_state(figures):
    each([f for f in figures if f.movable], tap_moves, width=390)


def tap_moves(figure):
    x0, y0, x1, y1 = figure.plot()
    before = figure.shown()
    left, *_, right = before["ends"]
    part = 0.8 if before["dot"] and before["dot"][0] < (left + right) / 2 else 0.2
    figure.tap(x0 + part * (x1 - x0), (y0 + y1) / 2)
    if figure.shown()["values"] == before["values"]:
        yield "a tap moves nothing"


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_breaks_at_the_ends_of_the_sliders(figures, width):
    each(figures, lambda figure: figure.at.evaluate(probe("corners")), width)


OPENED_ANEW = calling("explore")[::6]


def test_a_link_brings_its_state_back(figures):
    """Some pages are opened with the link of their first figure; other links are followed on a page that is open."""
    each(figures, lambda figure: link_restores(figure, anew=figure is figures[0] and figure.page in OPENED_ANEW))


def link_restores(figure, anew):
    dice = random.Random(figure.name)
    last = {kind: max(0, len(figure.spec[f"{kind}s"]) - 1) for kind in ("view", "preset")}
    figure.put(**last, at={k: dice.randrange(1001) for k in figure.spec["params"]})
    figure.at.locator("[data-copy=link]").click()
    until(figure.tab, lambda: clipboard(figure.tab) == figure.tab.url)
    before, link = figure.shown(), figure.tab.url.partition("#")[2]
    if anew:
        figure.tab.reload(wait_until="domcontentloaded")
        figure.tab.wait_for_function("(name) => document.querySelector(`#${name} .state`)?.innerText", arg=figure.name)
    else:
        figure.reset()
        figure.tab.evaluate(probe("follow"), f"#{link}")
    after = figure.shown()
    for part in ("sentence", "values", "code", "views", "presets"):
        if before[part] != after[part]:
            yield f"{part} was {before[part]}, is {after[part]}"


def test_the_state_is_spoken_once_the_hand_rests(figures):
    figure = figures[-1].reset()
    figure.at.locator(".sliders input").first.press("End")
    heard = "([el, words]) => el.textContent.split(/\\s+/).join(' ') === words"
    role = figure.at.locator(".quiet[role=status]").first.element_handle()
    words = " ".join(figure.shown()["sentence"].split())
    figure.tab.wait_for_function(heard, arg=[role, words])


# Moves the first slider of a figure to one end and to the other.
ENDS = """async (el) => {
  for (const end of [0, 1000]) {
    probes.put(el, { at: { [el.querySelector('.sliders input').dataset.k]: end } });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""


def styled(browser, page) -> int:
    """Of how many elements Chromium computes the style at once while a slider of the first figure moves, at most."""
    browser.start_tracing(page=page.page, categories=["devtools.timeline"])
    page.locator(".live").first.evaluate(ENDS)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    return max(event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree")


def test_a_step_of_a_slider_styles_its_figure_alone(browser, tab):
    """A rule that asks with :has() what a figure holds makes it the whole article: a slider then lags."""
    page = tab("chapters/data_parallelism.html")
    whole = page.locator("article *").count()
    assert styled(browser, page) < whole / 8
    rule = page.add_style_tag(content="article:has(tspan:last-child) * { scroll-margin: 8px; }")
    assert styled(browser, page) > whole / 4
    rule.evaluate("(el) => el.remove()")


def test_copying_works_where_there_is_no_clipboard(page, served):
    """Plain http has none: the text is selected and copied the old way."""
    page.add_init_script("delete Navigator.prototype.clipboard")
    page.open(calling("explore")[0], base=served)
    page.evaluate("() => document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    page.locator("[data-copy=py]").first.click()
    page.wait_for_function("() => window.copied")
    assert page.evaluate("() => window.copied").strip().endswith(page.locator(".call code").first.inner_text())
    assert page.errors == []


def test_a_broken_link_breaks_nothing(page):
    name = calling("explore")[0]
    for state in ("B=foo&nonsense=1", "view=none&B=1e999", "%zz"):
        page.open(f"{name}#live-nothing:{state}")
        first = page.locator(".live").first.get_attribute("id")
        page.open(f"{PAGES[1]}")
        page.open(f"{name}#{first}:{state}")
        assert "NaN" not in page.locator(".live .state").first.inner_text()
    assert page.errors == []


def test_figures_report_no_errors(figures):
    assert figures[0].tab.errors == []
    assert figures[0].tab.outside == []
