"""Every live figure: whatever the reader moves, the drawing and the words follow, and the numbers are Python's.

The same checks run on every figure of the book; figures are found in the notebooks, see twin.py.
"""

import random
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
import twin
from bookpages import calling

PAGES = calling("explore")

# What a figure shows, as data.
SHOWN = """(root) => {
  const all = (q, f) => [...root.querySelectorAll(q)].map(f);
  return {
    paths: all('.plot svg path.curve', (p) => p.getAttribute('d')),
    dots: all('.plot svg > circle', (c) => [c.getAttribute('cx'), c.getAttribute('cy')].join()),
    dot: all('.plot svg > circle[r="7.5"]', (c) => [+c.getAttribute('cx'), +c.getAttribute('cy')])[0] ?? null,
    labels: all('.plot svg text', (t) => t.textContent),
    sentence: root.querySelector('.state').innerText,
    code: root.querySelector('.call code').textContent,
    values: Object.fromEntries(all('.sliders input', (i) => [i.dataset.k, i.nextElementSibling.textContent])),
    positions: Object.fromEntries(all('.sliders input', (i) => [i.dataset.k, +i.value])),
    spoken: Object.fromEntries(all('.sliders input', (i) => [i.dataset.k, i.getAttribute('aria-valuetext')])),
    views: all('[data-view]', (b) => b.ariaPressed === 'true'),
    presets: all('[data-preset]', (b) => b.ariaPressed === 'true'),
    box: root.querySelector('.plot svg path.spine').getAttribute('d'),
  };
}"""
# The whole state of a figure is in the link that it offers.
STATE = """(root) => {
  const was = location.href;
  root.querySelector('[data-copy=link]').click();
  const state = location.hash;
  history.replaceState(null, '', was);
  return decodeURIComponent(state);
}"""
# Sliders set to thousandths of their way, views and presets pressed.
PUT = """(root, { view, preset, at = {} }) => {
  if (view !== undefined) root.querySelectorAll('[data-view]')[view]?.click();
  if (preset !== undefined) root.querySelectorAll('[data-preset]')[preset]?.click();
  for (const input of root.querySelectorAll('.sliders input')) {
    if (!(input.dataset.k in at)) continue;
    input.value = at[input.dataset.k];
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
}"""


class Figure:
    """A live figure in its tab, and its twin in Python."""

    def __init__(self, tab, name: str, other: twin.Twin):
        self.tab, self.name, self.twin, self.spec = tab, name, other, other.spec
        self.at = tab.locator(f"#{name}")
        self.start = [about["value"] for about in self.spec["params"].values()]

    def shown(self) -> dict:
        return self.at.evaluate(SHOWN)

    def state(self) -> tuple[dict, dict]:
        """Its inputs as numbers, and its view."""
        link = self.at.evaluate(STATE)
        pairs = dict(parse_qsl(link.partition(":")[2]))
        view = pairs.pop("view", None)
        return {k: float(v) for k, v in pairs.items()}, self.view(view)

    def view(self, name) -> dict:
        return next((v for v in self.spec["views"] if v["name"] == name), {})

    def put(self, **to) -> "Figure":
        self.at.evaluate(PUT, to)
        return self

    def reset(self) -> "Figure":
        """Back to the state it opens with."""
        self.tab.set_viewport_size({"width": 1280, "height": 900})
        first = {**self.spec["fixed"], **{k: p["value"] for k, p in self.spec["params"].items()}}
        query = "&".join(f"{k}={v!r}" for k, v in first.items())
        view = f"view={self.spec['views'][0]['name']}&" if self.spec["views"] else ""
        back = "(q) => new Promise((done) => { addEventListener('hashchange', done, { once: true }); location.hash = q; })"
        self.tab.evaluate("() => history.replaceState(null, '', location.pathname)")
        self.tab.evaluate(back, f"#{self.name}:{view}{query}")
        return self

    def plot(self) -> tuple:
        """The corners of its plot on the screen: x0, y0, x1, y1."""
        x0, y0, y1, x1 = plot_ends(self.shown()["box"])
        svg = self.at.locator(".plot svg").bounding_box()
        return svg["x"] + x0, svg["y"] + y0, svg["x"] + x1, svg["y"] + y1


@pytest.fixture(scope="module", params=PAGES)
def figures(request, tab):
    """The figures of each page in turn."""
    return [Figure(tab(request.param), name, other) for name, other in twin.figures(request.param).items()]


def plot_ends(spine: str) -> list[float]:
    """x0, y0, y1, x1 of a plot in pixels of its drawing."""
    return [float(n) for n in re.findall(r"[\d.]+", spine)]


def drawing(shown: dict) -> tuple:
    return shown["paths"], shown["dots"]


def each(figures, check) -> None:
    """Run a check on every figure of the page, and say all that is wrong."""
    problems = []
    for figure in figures:
        problems += [f"{figure.name}: {what}" for what in check(figure.reset())]
    assert not problems, "\n".join(problems)


def test_the_page_has_the_figures_of_its_notebook(figures):
    found = figures[0].tab.evaluate("() => [...document.querySelectorAll('[data-gpuscale=live]')].map((el) => el.id)")
    assert sorted(found) == sorted(f.name for f in figures)
    hidden = "() => [...document.querySelectorAll('[data-gpuscale=live] > .fallback')].every((el) => el.hidden)"
    assert figures[0].tab.evaluate(hidden)


def test_every_slider_moves_its_figure_by_keyboard(figures):
    each(figures, sliders_move)


def sliders_move(figure):
    for key in figure.spec["params"]:
        figure.reset()
        slider = figure.at.locator(f"input[data-k={key}]")
        name = slider.evaluate("(el) => el.labels[0].innerText")
        slider.focus()
        seen = []
        for press in ("Home", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "End", "ArrowLeft", "ArrowDown", "ArrowUp"):
            figure.tab.keyboard.press(press)
            shown = figure.shown()
            seen.append(shown["positions"][key])
            low, high = (shown if press == "Home" else low), (shown if press == "End" else None)
            if shown["spoken"][key] != shown["values"][key] or not shown["values"][key]:
                yield f"{name}: {press}: shows {shown['values'][key]}, speaks {shown['spoken'][key]}"
            if high and (seen[0] != 0 or seen[-1] != 1000 or low["values"][key] == high["values"][key]):
                yield f"{name}: Home gives {low['values'][key]}, End {high['values'][key]}"
            if high and drawing(low) == drawing(high):
                yield f"{name}: the drawing does not move"
            if high and low["sentence"] == high["sentence"]:
                yield f"{name}: the sentence does not change"
        home, right, up, left, down, end, before_end, two_before, back = seen
        if not home < right < up > left > down >= home or not end > before_end > two_before < back:
            yield f"{name}: arrows lead to {seen}"


def test_every_view_and_preset_is_a_state_of_its_own(figures):
    each(figures, buttons_work)


def buttons_work(figure):
    for kind, count in (("view", len(figure.spec["views"])), ("preset", len(figure.spec["presets"]))):
        seen = []
        for i in range(count):
            figure.at.locator(f"[data-{kind}='{i}']").click()
            shown = figure.shown()
            seen.append((drawing(shown), shown["sentence"], shown["code"]))
            pressed = shown[f"{kind}s"]
            if not pressed[i] or (kind == "view" and pressed.count(True) != 1):
                yield f"{kind} {i}: pressed are {pressed}"
            state, view = figure.state()
            wanted = figure.spec["presets"][i][1] if kind == "preset" else {}
            wrong = [k for k, v in wanted.items() if state[k] != pytest.approx(v, rel=1e-12)]
            if wrong:
                yield f"preset {i} leaves {', '.join(wrong)} as it was"
            if kind == "view" and view != figure.spec["views"][i]:
                yield f"view {i}: the link names {view.get('name')}"
        for i, one in enumerate(seen):
            if one in seen[:i]:
                yield f"{kind} {i} shows nothing new"


def test_the_plot_can_be_dragged_and_read(figures):
    each(figures, plot_answers)


def plot_answers(figure):
    figure.at.locator(".plot").scroll_into_view_if_needed()
    x0, y0, x1, y1 = figure.plot()
    mouse, middle = figure.tab.mouse, (y0 + y1) / 2
    mouse.move(x0 + 0.4 * (x1 - x0), middle)
    readout = figure.at.locator(".readout")
    text = readout.inner_text() if readout.is_visible() else ""
    names = [c["name"] for c in figure.spec["curves"] if c["name"] and not c.get("views")]
    if not re.search(r"\d", text) or not any(f"{name}: " in text for name in names) or "NaN" in text:
        yield f"the readout says {text!r}"
    x = figure.spec["x"]
    if not figure.spec["drag"] and x["param"] not in figure.spec["params"]:
        return
    before = figure.shown()
    left, *_, right = plot_ends(before["box"])
    start = (before["dot"][0] - left) / (right - left) if before["dot"] else 0.5
    away = start + (0.3 if start < 0.5 else -0.3)
    mouse.down()
    mouse.move(x0 + away * (x1 - x0), middle, steps=3)
    dragged = figure.shown()
    mouse.up()
    if readout.is_visible():
        yield "the readout stays over a drag"
    if drawing(before) == drawing(dragged) or before["sentence"] == dragged["sentence"]:
        yield "dragging moves nothing"
    mouse.click(x0 + (start + away) / 2 * (x1 - x0), middle)
    clicked = figure.shown()
    places = [s["dot"] and s["dot"][0] for s in (before, clicked, dragged)]
    if clicked["sentence"] == dragged["sentence"] or (all(places) and places != sorted(places, reverse=start > away)):
        yield f"dragged and clicked half way back, the dot goes from {places[0]} to {places[2]} to {places[1]}"
    mouse.move(x0 - 40, y0 - 60)
    if readout.is_visible():
        yield "the readout stays when the pointer leaves"


def test_the_readout_gives_the_curves_values(figures):
    each(figures, readout_is_right)


def readout_is_right(figure):
    figure.at.locator(".plot").scroll_into_view_if_needed()
    x0, y0, x1, y1 = figure.plot()
    state, view = figure.state()
    given, x = figure.twin.inputs(state, view), figure.spec["x"]
    _, value = twin.positions(x, x0, x1)
    for part in (0.2, 0.7):
        pixel = round(x0 + part * (x1 - x0))
        figure.tab.mouse.move(pixel, (y0 + y1) / 2)
        rows = dict(row.rsplit(": ", 1) for row in figure.at.locator(".readout").inner_text().splitlines() if ": " in row)
        for curve in figure.spec["curves"]:
            if curve["name"] not in rows:
                continue
            around = [figure.twin.value(curve["fn"], given, float(value(pixel + d))) for d in (-0.01, 0, 0.01)]
            if rows[curve["name"]] not in {twin.said(v, figure.spec["y"]["unit"]) for v in around}:
                yield f"{curve['name']} reads {rows[curve['name']]}, Python says {twin.said(around[1], figure.spec['y']['unit'])}"


def test_copied_python_gives_what_the_figure_states(figures):
    each(figures, copied_runs)


def copied_runs(figure):
    dice = random.Random(figure.name)
    for turn in range(3):
        if turn:
            figure.put(preset=dice.randrange(9), at={k: dice.randrange(1001) for k in figure.spec["params"]})
        figure.at.locator("[data-copy=py]").click()
        figure.tab.wait_for_function("() => navigator.clipboard.readText()")
        copied = figure.tab.evaluate("() => navigator.clipboard.readText()")
        try:
            value = figure.twin.called(copied)
        except Exception as error:
            yield f"{error!r} in {copied!r}"
            continue
        state, view = figure.state()
        names = figure.twin.named(figure.twin.inputs(state, view))
        words = view.get("say", figure.spec["say"])
        stated = {k: v for k, v in names.items() if k == "y" or any(f"{{{k}}}" in text for text in words.values())}
        if not any(v == pytest.approx(value, rel=1e-4) for v in stated.values()):
            yield f"{copied.splitlines()[-1]} is {value:.6g}; the figure states {stated}"


def test_copying_works_where_there_is_no_clipboard(page, served):
    """Plain http has none: the text is selected and copied the old way."""
    page.add_init_script("delete Navigator.prototype.clipboard")
    page.open(PAGES[0], base=served)
    catch = "document.addEventListener('copy', () => { window.copied = document.activeElement.value; })"
    page.evaluate(catch)
    page.locator("[data-copy=py]").first.click()
    page.wait_for_function("() => window.copied")
    code = page.locator(".call code").first.inner_text()
    assert page.evaluate("() => window.copied").strip().endswith(code)
    assert page.errors == []


def test_a_link_brings_its_state_back(figures):
    each(figures, link_restores)


def link_restores(figure):
    dice = random.Random(figure.name)
    views, presets = len(figure.spec["views"]), len(figure.spec["presets"])
    at = {k: dice.randrange(1001) for k in figure.spec["params"]}
    figure.put(view=max(0, views - 1), preset=max(0, presets - 1), at=at)
    figure.at.locator("[data-copy=link]").click()
    figure.tab.wait_for_function("() => navigator.clipboard.readText().then((text) => text === location.href)")
    before = figure.shown()
    figure.tab.reload()
    figure.tab.wait_for_function("async () => { await window.MathJax?.startup?.promise; return true; }")
    after = figure.shown()
    for part in ("sentence", "values", "code", "views", "presets", "dots"):
        if before[part] != after[part]:
            yield f"{part} was {before[part]}, is {after[part]}"


def test_what_is_shown_is_what_python_says(figures):
    each(figures, numbers_agree)


def numbers_agree(figure):
    dice = random.Random(f"{figure.name} states")
    for turn in range(6):
        if turn:
            at = {k: dice.randrange(1001) for k in figure.spec["params"]}
            figure.put(view=dice.randrange(9), preset=dice.randrange(9), at=at)
        shown, (state, view) = figure.shown(), figure.state()
        where = f"at {state}"
        if shown["sentence"].split() != figure.twin.sentence(state, view).split():
            yield f"says {shown['sentence']!r}; Python: {figure.twin.sentence(state, view)!r} {where}"
        if shown["values"] != figure.twin.values(state):
            yield f"sliders say {shown['values']}; Python: {figure.twin.values(state)} {where}"
        yield from (f"{what} {where}" for what in drawn_right(figure, shown, state, view))


def drawn_right(figure, shown, state, view):
    """The large dot and the thick curve stand where Python puts them, to a pixel; crossings have its value."""
    x0, y0, y1, x1 = plot_ends(shown["box"])
    given, spec = figure.twin.inputs(state, view), figure.spec
    to_x, at_x = twin.positions({**spec["x"], **view.get("x", {})}, x0, x1)
    to_y, _ = twin.positions({**spec["y"], **view.get("y", {})}, y1, y0)
    names = figure.twin.named(given)
    dot = float(to_x(names["x"])), float(to_y(names["y"]))
    inside = x0 - 1 <= dot[0] <= x1 + 1 and y0 - 1 <= dot[1] <= y1 + 1
    if inside != bool(shown["dot"]) or (inside and np.abs(np.subtract(dot, shown["dot"])).max() > 1):
        yield f"the dot is at {shown['dot']}, Python puts it at {dot}"
    for cross in spec["cross"]:
        text = next((t for t in shown["labels"] if t.startswith(f"{cross['label']} = ")), None)
        value = figure.twin.value(cross["x"], given, names["x"])
        if text and text != f"{cross['label']} = {twin.said(value, cross.get('unit', spec['x']['unit']))}":
            yield f"the crossing says {text}, Python {value:.6g}"
    yield from curves_right(figure, given, view, to_y, lambda x: at_x(np.clip(x, x0, x1)))


def curves_right(figure, given, view, to_y, at_x):
    """Every point of the thick curve lies between Python's values a third of a pixel around it."""
    lit = [c for c in figure.spec["curves"] if c["now"] is True or view.get("name") in np.atleast_1d(c["now"])]
    paths = figure.at.evaluate("(el) => [...el.querySelectorAll('path.curve.now')].map((p) => p.getAttribute('d'))")
    points = np.array([[float(n) for n in p.split()] for d in paths for p in re.split("[ML]", d) if p])
    if len(lit) != 1 or not len(points):
        return
    x, y = points.T
    rows = [to_y(np.broadcast_to(figure.twin.value(lit[0]["fn"], given, at_x(x + d)), x.shape)) for d in (-0.35, 0, 0.35)]
    low, high = np.clip(np.min(rows, axis=0), -999, 1999), np.clip(np.max(rows, axis=0), -999, 1999)
    off = np.maximum(low - y, y - high)
    if off.max() > 0.6:
        yield f"the curve is {off.max():.1f} px off at x = {at_x(x[off.argmax()]):.4g}"


# Runs through every corner of the state: each slider at its ends (and where it opens), in each view. Texts have to be
# sane and inside the drawing; labels may touch, but not overlap.
CORNERS = """(root) => {
  const inputs = [...root.querySelectorAll('.sliders input')], views = [...root.querySelectorAll('[data-view]')];
  const svg = root.querySelector('.plot svg'), out = new Set(), slack = 2.5;
  const corners = (t) => {                                  // of a text, turned as it is
    const b = t.getBBox(), m = t.getScreenCTM();
    return [[b.x, b.y + slack], [b.x + b.width, b.y + slack], [b.x + b.width, b.y + b.height - slack], [b.x, b.y + b.height - slack]]
      .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  };
  const apart = (p, q) => [[p, 0], [p, 1], [q, 0], [q, 1]].some(([r, i]) => {
    const n = [r[i + 1][0] - r[i][0], r[i + 1][1] - r[i][1]], along = (s) => s.map((c) => c[0] * n[0] + c[1] * n[1]);
    const a = along(p), b = along(q), give = 1.5 * Math.hypot(...n);
    return Math.max(...a) < Math.min(...b) + give || Math.max(...b) < Math.min(...a) + give;
  });
  function look(where) {
    const say = (what) => out.size < 12 && out.add(`${where}: ${what}`);
    const words = root.querySelector('.drawn').innerText + svg.textContent + svg.getAttribute('aria-label')
      + inputs.map((i) => i.getAttribute('aria-valuetext')).join(' ');
    const bad = /NaN|undefined|Infinity|null|\\[object|[{}]/.exec(words);
    if (bad) say(`“${words.slice(Math.max(0, bad.index - 30), bad.index + 30)}”`);
    if (/NaN|undefined|Infinity/.test(svg.innerHTML)) say(`in the drawing: ${/.{40}(NaN|undefined|Infinity)/.exec(svg.innerHTML)?.[0]}`);
    const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
    const places = texts.map(corners);
    places.forEach((p, i) => {
      if (p.some(([x, y]) => x < box.left - 1.5 || x > box.right + 1.5 || y < box.top - 1.5 || y > box.bottom + 1.5)) say(`“${texts[i].textContent}” sticks out of the drawing`);
      for (let j = 0; j < i; j++) if (!apart(p, places[j])) say(`“${texts[i].textContent}” lies on “${texts[j].textContent}”`);
    });
    const wide = root.getBoundingClientRect();
    for (const el of root.querySelectorAll('.state, .call code, .sliders output, .btn')) if (el.getBoundingClientRect().right > wide.right + 1) say(`${el.className || el.tagName} sticks out of the card`);
  }
  const home = inputs.map((i) => i.value);
  for (const view of views.length ? views : [null]) {
    view?.click();
    for (let n = 0; n < 3 ** inputs.length; n++) {
      inputs.forEach((input, i) => {
        input.value = [0, 1000, home[i]][Math.floor(n / 3 ** i) % 3];
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
      look(`${view?.innerText ?? ''} ${inputs.map((i) => `${i.dataset.k} = ${i.getAttribute('aria-valuetext')}`).join(', ')}`);
    }
  }
  for (const button of root.querySelectorAll('[data-preset]')) { button.click(); look(button.innerText); }
  return [...out];
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_breaks_at_the_ends_of_the_sliders(figures, width):
    each(figures, lambda figure: whole_at(figure, width))


def whole_at(figure, width):
    figure.tab.set_viewport_size({"width": width, "height": 900})
    drawn = "(el) => el.querySelector('svg').getAttribute('width') == el.clientWidth"
    figure.tab.wait_for_function(drawn, arg=figure.at.locator(".plot").element_handle())
    return figure.at.evaluate(CORNERS)


def test_the_state_is_spoken_once_the_hand_rests(figures):
    figure = figures[-1].reset()
    slider = figure.at.locator(".sliders input").first
    slider.press("End")
    sentence = figure.shown()["sentence"]
    role = figure.at.locator(".quiet[role=status]").first
    figure.tab.wait_for_function(
        "([el, words]) => el.textContent.split(/\\s+/).join(' ') === words",
        arg=[role.element_handle(), " ".join(sentence.split())],
    )


def test_on_a_phone_a_tap_moves_the_state(visiting, figures):
    able = [f for f in figures if f.spec["drag"] or f.spec["x"]["param"] in f.spec["params"]]
    with visiting(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800}) as phone:
        phone.open(figures[0].tab.url.split("/html/")[1].partition("#")[0], width=390)
        for figure in able:
            there = Figure(phone, figure.name, figure.twin)
            there.at.locator(".plot").scroll_into_view_if_needed()
            before = there.shown()
            x0, y0, x1, y1 = there.plot()
            left, *_, right = plot_ends(before["box"])
            part = 0.8 if before["dot"] and before["dot"][0] < (left + right) / 2 else 0.2
            phone.touchscreen.tap(x0 + part * (x1 - x0), (y0 + y1) / 2)
            assert there.shown()["values"] != before["values"], figure.name
        assert phone.errors == []


def test_figures_report_no_errors(figures):
    assert figures[0].tab.errors == []
    assert figures[0].tab.outside == []
