"""Every figure on a stage: mouse, finger and keys move the same handles, shapes can be pressed, states come back."""

import json
import random

import pytest
from browser.bookpages import calling, clipboard, said, until

from gpuscale import widgets

MAKERS = [name for name in dir(widgets) if name.endswith("_stage")]
PAGES = calling(f"(?:{'|'.join(MAKERS)})")
STATE = "(el) => gpuscale.upgrade(el).state"
RESET = "(el) => { el.querySelector('[data-do=reset]').click(); return gpuscale.upgrade(el).state.p; }"
# Presses a shape from the opening state, resets and focuses it: its name, and the inputs that the press led to.
PRESS = """(el, act) => {
  const reset = el.querySelector('[data-do=reset]'), find = () => el.querySelector(`.scene [data-act='${act}']`);
  reset.click();
  const name = find().ariaLabel || find().textContent.trim();
  find().dispatchEvent(new MouseEvent('click', { bubbles: true }));
  const { p } = gpuscale.upgrade(el).state, led = structuredClone(p);
  reset.click();
  find().focus();
  return [name, led];
}"""
# The opening state, with the knob of a handle in view: where its middle is.
GRASP = """(el, name) => {
  el.querySelector('[data-do=reset]').click();
  const knob = el.querySelector(`[data-grip='${name}'] .knob`);
  knob.scrollIntoView({ block: 'center' });
  const { x, y, width, height } = knob.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
# On a phone: handles that a finger misses 11 px from their middle, and shapes that a tap there does not press.
MISSED = """(el) => {
  const out = [], svg = el.querySelector('.drawn .scene svg'), opening = reset();
  function reset() { el.querySelector('[data-do=reset]').click(); return state(); }
  function state() { return JSON.stringify(gpuscale.upgrade(el).state.p); }
  const hit = ([x, y]) => document.elementFromPoint(x, y);
  function around(one) {                                   // its middle and four points near it, inside the drawing
    const box = one.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    return [[x, y], [x - 11, y], [x + 11, y], [x, y - 11], [x, y + 11]].filter((point) => svg.contains(hit(point)));
  }
  for (const grip of el.querySelectorAll('.grip')) {
    grip.scrollIntoView({ block: 'center' });
    const points = around(grip.querySelector('.knob'));
    const held = points.filter((point) => hit(point).closest('.grip'));
    if (!held.length || held.length < points.length) out.push(`a finger misses ${grip.dataset.grip}`);
  }
  const shapes = [...svg.querySelectorAll('[data-act]')], some = shapes.length / 12 | 0 || 1;
  for (const act of new Set(shapes.filter((_, i) => i % some === 0).map((one) => one.dataset.act))) {
    const one = () => svg.querySelector(`[data-act="${act}"]`), { width, height } = one().getBoundingClientRect();
    one().scrollIntoView({ block: 'center' });
    one().dispatchEvent(new PointerEvent('click', { bubbles: true }));
    const chosen = state() === opening;                    // already: nothing changes
    reset();
    if (chosen || Math.min(width, height) < 1 || Math.min(width, height) >= 24) continue;
    for (const [clientX, clientY] of around(one())) {
      const at = hit([clientX, clientY]), other = at.closest('.grip, [data-act]');
      if (other && other.dataset.act !== act) continue;    // what lies there has the tap
      at.dispatchEvent(new PointerEvent('click', { bubbles: true, pointerType: 'touch', clientX, clientY }));
      if (state() === opening) out.push(`a tap near ${act} presses nothing`);
      reset();
    }
  }
  return out;
}"""
# Shapes to press whose middle something else covers, so that no pointer presses them there.
COVERED = """(el) => [...el.querySelectorAll('.drawn .scene :is(rect, text, circle)[data-act]')].filter((one) => {
  if (one.getAttribute('pointer-events')) return false;      // it is for keys alone
  one.scrollIntoView({ block: 'center' });
  const box = one.getBoundingClientRect();
  const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return at && !at.closest('[data-act], .grip');
}).map((one) => one.dataset.act)"""
# Follows links, each from the opening state: those that throw, leave no number, or draw what has no size. A link also
# scrolls to its figure, which would lay out the page for each of them.
FOLLOWED = """(el, links) => {
  const out = [], reset = el.querySelector('[data-do=reset]'), broken = /NaN|undefined|Infinity/;
  const drawings = [...el.querySelectorAll('.drawn .scene svg')], odd = /NaN|undefined|Infinity|(width|height)="-/;
  const wrong = (one) => [...one.attributes].some(({ value }) => broken.test(value))
    || Math.min(one.getAttribute('width') ?? 0, one.getAttribute('height') ?? 0) < 0;
  el.scrollIntoView = () => {};
  for (const link of links) try {
    reset.click();
    gpuscale.upgrade(el).load(link);
    const any = drawings.some((svg) => odd.test(svg.innerHTML));
    const seen = any && [...el.querySelectorAll('.drawn .scene svg *')].find(wrong);
    const words = broken.exec(['.state', '.scene', '.call'].map((q) => el.querySelector(`.drawn ${q}`).textContent));
    if (seen || words) out.push(`${link}: ${seen ? seen.outerHTML : words}`);
  } catch (error) { out.push(`${link}: ${error}`); }
  delete el.scrollIntoView;
  return out;
}"""
BROKEN = "nan", "", "-1", "0", "1e999", "1e300", "1e-300", "3.7", "13", "1_2_3", "{}"
JUMPS = "() => matchMedia('(prefers-reduced-motion: reduce)').matches"
# Every figure is drawn for the width that the window has now.
FITS = """(width) => innerWidth === width && [...document.querySelectorAll('.drawn .scene')].every(
  (scene) => scene.querySelector('svg').getAttribute('width') == scene.clientWidth)"""
MOVES = ((24, 0), (-24, 0), (0, 24), (0, -24), (60, 60), (-60, -60))


@pytest.fixture(scope="module", params=PAGES)
def page(request, tab):
    """A page with a figure; things jump to their places, so that no test waits for them."""
    opened = tab(request.param).locator("body").page
    opened.emulate_media(reduced_motion="reduce")
    opened.set_viewport_size({"width": 1280, "height": 900})
    yield opened
    opened.set_viewport_size({"width": 1280, "height": 900})


def figures(page) -> list:
    """The figures of a page, which from here on jump to their states."""
    if not page.evaluate(JUMPS):  # to say so again makes Chromium compute all styles anew
        page.emulate_media(reduced_motion="reduce")
        page.wait_for_function(JUMPS)
    found = page.locator("[data-gpuscale=stage]").all()
    assert found and not page.locator("[data-gpuscale=stage] .scene svg:empty").count()
    return found


def inputs(figure) -> dict:
    return figure.evaluate("(el) => gpuscale.upgrade(el).state.p")


def unlike(found) -> list:
    """One figure of those that the same script draws with the same handles."""
    kind = "(el) => [el.dataset.painter, [...el.querySelectorAll('.grip')].map((grip) => grip.dataset.grip)].join()"
    return list({figure.evaluate(kind): figure for figure in reversed(found)}.values())


def reset(figure) -> dict:
    """Back to the opening state, and that state."""
    return figure.evaluate(RESET)


def dragged(figure, name, move, hand) -> dict:
    """The inputs after a pull from the opening state, by mouse, or by finger if there is a ``hand``."""
    page = figure.page
    x, y = figure.evaluate(GRASP, name)
    to = x + move[0], y + move[1]
    if hand is None:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(*to, steps=2)
        page.mouse.up()
    else:
        hand.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        hand.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": to[0], "y": to[1]}]})
        hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        hand.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    return inputs(figure)


def test_mouse_finger_and_keys_move_every_handle(page):
    wrong, hand = [], page.context.new_cdp_session(page)
    for figure in unlike(figures(page)):
        opening = reset(figure)
        every = figure.evaluate("(el) => [...el.querySelectorAll('.grip')].map((grip) => grip.dataset.grip)")
        names = list({name.partition(".")[0]: name for name in every}.values())  # one of those that are alike
        for name in names:
            grip = figure.locator(f"[data-grip='{name}']")
            for move in MOVES:
                by_mouse = dragged(figure, name, move, None)
                if by_mouse != opening:
                    break
            else:
                wrong.append(f"{name}: the mouse does not move it")
                continue
            if (by_finger := dragged(figure, name, move, hand)) != by_mouse:
                wrong.append(f"{name}: by mouse {by_mouse}, by finger {by_finger}")
            reset(figure)
            grip.focus()
            page.keyboard.press("ArrowUp")
            if inputs(figure) == opening:
                page.keyboard.press("ArrowDown")
            if inputs(figure) == opening or not figure.locator(f"[data-grip='{name}']").get_attribute("aria-valuetext"):
                wrong.append(f"{name}: keys do not move it, or it has no words for its value")
    hand.detach()
    assert not wrong, said(wrong)


def test_shapes_are_pressed_by_pointer_and_by_key(page):
    wrong = []
    for figure in unlike(figures(page)):
        opening = reset(figure)
        acts = figure.evaluate("(el) => [...el.querySelectorAll('.scene [data-act]')].map((s) => s.dataset.act)")
        changed = 0
        for act in acts[:: max(1, len(acts) // 6)]:
            name, by_click = figure.evaluate(PRESS, act)
            if not name:
                wrong.append(f"{act}: has no name")
            page.keyboard.press("Enter")
            changed += by_click != opening
            if (by_key := inputs(figure)) != by_click:
                wrong.append(f"{act}: by click {by_click}, by key {by_key}")
        reset(figure)
        wrong += [f"{act}: its middle is covered" for act in figure.evaluate(COVERED)]
        if acts and not changed:
            wrong.append(f"{figure.get_attribute('id')}: no press changes anything")
    assert not wrong, said(wrong)


def test_a_finger_has_24_pixels_for_each_handle_and_shape(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(FITS, arg=390)
    wrong = []
    for figure in figures(page):
        wrong += [f"{figure.get_attribute('id')}: {line}" for line in figure.evaluate(MISSED)]
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not wrong, said(wrong)


def test_a_link_and_a_call_bring_the_state_back(page):
    for figure in figures(page):
        opening = reset(figure)
        for grip in figure.locator(".grip").all()[:2]:
            grip.focus()
            page.keyboard.press("ArrowDown")
        if figure.locator("[data-preset]").count():
            figure.locator("[data-preset]").last.click()
        figure.locator("[data-copy=link]").click()
        kept, link = figure.evaluate(STATE)["p"], clipboard(page)
        assert reset(figure) == opening
        page.evaluate("(hash) => { location.hash = ''; location.hash = hash; }", link.partition("#")[2])
        until(page, lambda figure=figure, kept=kept: inputs(figure) == kept)
        figure.locator("[data-copy=py]").click()
        names: dict = {}
        *lines, call = clipboard(page).strip().splitlines()
        exec("\n".join(lines), names)
        assert eval(call, names) is not None
    page.evaluate("() => { location.hash = ''; }")


def test_a_broken_link_breaks_nothing(page):
    wrong = []
    for figure in unlike(figures(page)):
        spec = json.loads(figure.evaluate("(el) => el.querySelector('script[type$=json]').textContent"))
        links = [f"{key}={value}&at=0.6" for key in unlike_inputs(spec) for value in BROKEN]
        links += [f"{key}={value}&at=0.6" for key in spec["start"] for value in ("-1", "1e300")]  # beyond both ends
        links += mixed(spec, 25)
        wrong += [f"{figure.get_attribute('id')}: {line}" for line in figure.evaluate(FOLLOWED, links)]
    assert not wrong, said(wrong)


def unlike_inputs(spec) -> list[str]:
    """One input of each kind: how a link is read (``read`` in inputs.js) depends on the kind alone."""
    parts = ("texts", "loose", "choices", "counts", "within", "params")

    def kind(key):
        snap = spec["params"].get(key, {}).get("snap")
        return type(spec["start"][key]), snap, *(key in spec[part] for part in parts)

    return list({kind(key): key for key in spec["start"]}.values())


def mixed(spec, many) -> list[str]:
    """Links that nobody copied: for some inputs any number within their bounds, or something broken."""
    dice = random.Random(spec["id"])

    def value(key):
        given = spec["start"][key]
        if dice.random() < 0.2:
            return dice.choice(BROKEN)
        if key in spec["choices"]:
            return dice.choice(spec["choices"][key]["of"])[0]
        slider = spec["params"].get(key, {})
        low, high = spec["within"].get(key) or (slider.get("lo", 0), slider.get("hi", 20))
        if isinstance(given, list):
            return "_".join(str(dice.uniform(low, high)) for _ in given)
        return dice.choice([low, high, dice.uniform(low, high)])

    keys = [dice.sample(list(spec["start"]), dice.randint(1, len(spec["start"]))) for _ in range(many)]
    return ["&".join(f"{key}={value(key)}" for key in some) for some in keys]


def test_a_link_beyond_what_is_possible_says_what_is_shown(page):
    for figure in unlike(figures(page)):
        spec = json.loads(figure.evaluate("(el) => el.querySelector('script[type$=json]').textContent"))
        for key, (_, high) in spec["within"].items():
            if isinstance(spec["start"][key], list):
                continue
            state = "(el, link) => { gpuscale.upgrade(el).load(link); return el.querySelector('.state').textContent; }"
            asks = figure.evaluate(state, f"{key}={high * 2 + 1}"), figure.evaluate(STATE)["p"][key]
            assert "In the link," in asks[0] and f"is {high * 2 + 1}," in asks[0], key
            assert f"The figure shows {asks[1]}" in asks[0], key
            kept = figure.evaluate(state, f"{key}={spec['start'][key]}")
            assert "In the link," not in kept or inputs(figure)[key] != spec["start"][key], key
        reset(figure)


DRAWN = "(el) => el.querySelector('.drawn .shapes').innerHTML"
HALF = "(el) => !!el.querySelector('.scene > canvas') && gpuscale.upgrade(el).state.gliding"
RESTS = "(el) => !el.querySelector('.scene > canvas') && !gpuscale.upgrade(el).state.gliding"


def test_what_glides_ends_as_what_jumps(page):
    """Very many shapes glide on a canvas; their elements follow, and end as if they had been drawn at once."""
    many, others = "(el) => el.querySelectorAll('.drawn .shapes > *').length > 200", ":visible:not([aria-pressed=true])"
    for figure in [one for one in unlike(figures(page)) if one.evaluate(many)]:
        press = figure.locator(f"[data-choice]{others}, [data-preset]{others}").first
        if not press.count():
            continue
        press = press.element_handle()
        reset(figure)
        press.click()
        until(page, lambda figure=figure: figure.evaluate(RESTS))
        jumped = figure.evaluate(DRAWN), inputs(figure)
        reset(figure)
        page.emulate_media(reduced_motion="no-preference")
        page.wait_for_function("() => !matchMedia('(prefers-reduced-motion: reduce)').matches")
        press.click()
        until(page, lambda figure=figure: figure.evaluate(HALF))
        until(page, lambda figure=figure: figure.evaluate(RESTS))
        page.emulate_media(reduced_motion="reduce")
        page.wait_for_function("() => matchMedia('(prefers-reduced-motion: reduce)').matches")
        assert (figure.evaluate(DRAWN), inputs(figure)) == jumped, figure.get_attribute("id")
        reset(figure)


KNIFE = "[data-gpuscale=stage][data-painter=fabric]"


def test_a_line_across_cables_cuts_them(page):
    figure = page.locator(KNIFE)
    if not figure.count():
        return
    figures(page)
    opening = reset(figure)
    before = set(opening["gone"])
    figure.locator("div.scene").scroll_into_view_if_needed()
    middles = """(el) => [...el.querySelectorAll('.drawn [data-group=cables]')].map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return [+one.dataset.act, x + width / 2, y + height / 2];
    })"""
    first, *_, last = sorted((x, y, part) for part, x, y in figure.evaluate(middles) if x and part < 44)
    crossed = {part for part, x, y in figure.evaluate(middles) if first[0] <= x <= last[0] and abs(y - first[1]) < 40}
    for held, others in (("mouse", ()), ("mouse", crossed)):
        page.mouse.move(first[0] - 6, first[1])
        page.mouse.down()
        page.mouse.move(last[0] + 6, first[1], steps=4)
        assert figure.locator(".blade").count() == 1
        page.mouse.up()
        gone = set(inputs(figure)["gone"])
        assert gone == before if others else gone > before and gone >= crossed, held
    assert inputs(figure) == opening
    figure.locator(".drawn [data-group=cables][tabindex='0']").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    assert len(inputs(figure)["gone"]) == 2 + len(before)
    reset(figure)


def test_a_pinch_and_the_wheel_zoom(page):
    figure = page.locator("[data-gpuscale=stage][data-painter=powers]")
    if not figure.count():
        return
    figures(page)
    opening = reset(figure)
    scene = figure.locator("div.scene")
    scene.scroll_into_view_if_needed()
    box = scene.bounding_box()
    x, y = box["x"] + 130, box["y"] + 12
    page.mouse.move(x, y)
    at = page.evaluate("scrollY")
    page.mouse.wheel(0, -40)
    until(page, lambda: page.evaluate("scrollY") != at)
    assert inputs(figure) == opening  # whoever scrolls past it scrolls
    page.mouse.wheel(0, 40)
    until(page, lambda: page.evaluate("scrollY") == at)
    page.mouse.click(x, y)
    page.mouse.wheel(0, -40)
    until(page, lambda: inputs(figure)["zoom"] > opening["zoom"])
    reset(figure)
    hand = page.context.new_cdp_session(page)
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    for kind, apart in (("touchStart", 20), ("touchMove", 30), ("touchMove", 40), ("touchEnd", 0)):
        points = [{"x": x + 60 + way * apart, "y": y + 80, "id": i} for i, way in enumerate((-1, 1))] if apart else []
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    hand.detach()
    assert inputs(figure)["zoom"] == pytest.approx(opening["zoom"] + 1, abs=0.02)
    reset(figure)


def test_it_plays_to_the_end(page):
    for figure in unlike(figures(page)):
        reset(figure)
        if not figure.locator(".player").count():
            continue
        page.emulate_media(reduced_motion="no-preference")
        figure.evaluate("(el) => gpuscale.upgrade(el).load('at=0.99')")
        figure.locator(".player .main").click()
        until(page, lambda figure=figure: figure.evaluate(STATE)["share"] == 1)
        page.emulate_media(reduced_motion="reduce")
        until(page, lambda figure=figure: figure.locator(".player .main").get_attribute("aria-label") == "Play")
        figure.locator("[data-do=back]").click()
        assert figure.evaluate(STATE)["share"] < 1
        figure.locator("[data-do=start]").click()
        assert figure.evaluate(STATE)["share"] == 0


def test_the_opening_state_is_the_start_of_the_spec(page):
    for figure in figures(page):
        start = json.loads(figure.evaluate("(el) => el.querySelector('script[type$=json]').textContent"))["start"]
        assert reset(figure) == start
