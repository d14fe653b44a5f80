"""How fast the pages are in a real browser: what opening one costs, one movement of a slider, and a frame of a figure.

Each page is opened as on a processor that is four times slower, next to its weight and to the bounds asked for. For
every live figure every slider is moved over its range; the time is that of the input event with the redraw and the
layout it causes. Figures on a stage are dragged, played, slid and pressed as on that slower processor; the planner's
plans per second are counted. Nothing is asserted. Run it with ``python tests/bench/bench_browser.py``;
pytest does not collect it.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path

from gpuscale.book import weight

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
STEPS = 120
FRAME = 1000 / 60
SLOWER = 4
MAIN = "CrRendererMain"  # the thread of a page that scripts and layout run on
OPENINGS = 3
LONGEST = 50  # ms of a frame there while a figure moves
# What opening a page may cost there: the longest task and the total blocking time in ms, the layout shift.
BOUNDS = {"longest": 200, "blocking": 300, "shift": 0.02}
WATCH = """
  window.shift = 0;
  const add = (all) => all.getEntries().forEach((one) => { if (!one.hadRecentInput) window.shift += one.value; });
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
"""
SETTLED = """() => new Promise((done) => {
  const near = (el) => el.checkVisibility({ contentVisibilityAuto: true });   // the others are drawn later
  const empty = () => [...document.querySelectorAll('.drawn :is(.plot, .stage) > svg:empty')].some(near);
  (function look() { if (empty()) setTimeout(look, 50); else setTimeout(done, 500); })();
})"""

SLIDERS = """(el) => [...el.querySelectorAll('.sliders input')].filter((one) => one.checkVisibility())
  .map((one) => one.dataset.k)"""
# Moves a slider over its range, a frame at each place.
SLID = """async (el, key) => {
  const input = el.querySelector(`.sliders input[data-k='${key}']`);
  for (let i = 0; i < 16; i++) {
    input.value = 1000 * ((i * 0.618) % 1);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
}"""

# One shape to press of each group, the middle one; and a press on it.
PRESSED = """(el) => {
  const groups = {};
  for (const one of el.querySelectorAll('.drawn [data-act]'))
    (groups[one.dataset.group ?? one.dataset.act] ??= []).push(one);
  el.presses = Object.values(groups).slice(0, 12).map((all) => all[all.length >> 1].dataset.act);
  return el.presses;
}"""
PRESS = """(el, i) => el.querySelector(`.drawn [data-act='${el.presses[i]}']`)
  ?.dispatchEvent(new MouseEvent('click', { bubbles: true }))"""
# How many frames a second a page shows while the clock of a figure runs.
RATE = """(el) => new Promise((done) => {
  const play = el.querySelector('.player .main');
  let frames = 0, began;
  play.click();
  requestAnimationFrame(function on(now) {
    began ??= now;
    if (now - began < 2000) { frames += 1; requestAnimationFrame(on); return; }
    play.click();
    done(1000 * frames / (now - began));
  });
})"""

PLANS = """(many) => {
  const spec = JSON.parse(document.querySelector('[data-painter=planner] script[type$=json]').textContent);
  const { call, data, p } = gpuscale.seen(spec);
  const { evaluate } = gpuscale.planning.asked(p, data.models[p.model], call, data);
  function run(n) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += evaluate(64, 4, 1, 1, 4, 1 + i % 5, 1, i % 4, i % 2, i % 3, 0, 1, 1, false)[2];
    return sum;
  }
  run(many);                                               // once to warm up
  const began = performance.now(), searches = [];
  run(many);
  const taken = performance.now() - began;
  for (const zero of ['1', 'any']) for (let i = 0; i < 9; i++) {
    const start = performance.now(), recompute = zero, batch = p.batch * 2 ** (i % 3);
    searches.push([gpuscale.seen(spec, { ...p, zero, recompute, batch }).solved.tried, performance.now() - start]);
  }
  return { rate: many / taken * 1000, searches };
}"""

SWEEP = """([name, steps]) => {
  const root = document.getElementById(name), out = [];
  for (const input of root.querySelectorAll('.sliders input')) {
    const home = input.value;
    for (let i = 0; i < steps; i++) {
      input.value = 1000 * ((i * 0.618) % 1);
      const began = performance.now();
      input.dispatchEvent(new Event('input', { bubbles: true }));
      root.getBoundingClientRect();
      out.push(performance.now() - began);
    }
    input.value = home;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }
  return out;
}"""


def traced(browser, page, act) -> list[float]:
    """The tasks of a page in ms while ``act`` runs, by the time that their thread runs, so that what else the machine
    does does not count, times SLOWER."""
    browser.start_tracing(page=page, categories=["toplevel"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == MAIN}
    tasks: dict[tuple, list[float]] = {thread: [] for thread in main}
    for event in events:
        if event["name"] == "ThreadControllerImpl::RunTask" and (event["pid"], event["tid"]) in main:
            tasks[event["pid"], event["tid"]].append(SLOWER * event.get("tdur", 0) / 1000)
    return max(tasks.values(), key=sum)  # of the page, not of the empty one that the browser keeps ready


def opening(browser, path: Path, width: int) -> dict[str, float]:
    """What opening a page costs there."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.add_init_script(WATCH)
    times = traced(browser, page, lambda: (page.goto(path.as_uri()), page.evaluate(SETTLED)))
    shift = page.evaluate("() => window.shift")
    page.close()
    return {"longest": max(times), "blocking": sum(max(0, time - 50) for time in times), "shift": shift}


def openings(browser, width: int) -> None:
    """Print a line for every page of the site: its weight, and what opening it costs, at the least of OPENINGS."""
    heads = f"{'own kB':>9}{'shared':>9}{'longest ms':>12}{'blocking':>12}{'shift':>9}"
    print(f"{f'page at {width} px, {SLOWER} times slower':36}{heads}")
    print(f"{'asked, at most':54}{BOUNDS['longest']:12}{BOUNDS['blocking']:12}{BOUNDS['shift']:9}")
    for path in sorted(path for path in SITE.glob("*/*.html") if path.parent.name in ("chapters", "exercises")):
        found = [opening(browser, path, width) for _ in range(OPENINGS)]
        cost = {key: min(one[key] for one in found) for key in BOUNDS} | {"shift": max(one["shift"] for one in found)}
        own, *shared = weight.weigh(path, SITE.resolve()).values()
        over = ", ".join(key for key, bound in BOUNDS.items() if cost[key] > bound)
        numbers = f"{cost['longest']:12.0f}{cost['blocking']:12.0f}{cost['shift']:9.3f}"
        name = path.relative_to(SITE).as_posix()
        print(f"{name:36}{own / 1e3:9.1f}{sum(shared) / 1e3:9.1f}{numbers}{over and f'   over: {over}'}", flush=True)


def measure(browser, width: int) -> None:
    """Print a line for every live figure of the site at a width."""
    print(f"{f'figure at {width} px':40}{'events':>8}{'median':>10}{'95%':>10}{'worst':>10}   over a frame")
    page, taken = browser.new_page(viewport={"width": width, "height": 900}), []
    for path in sorted(SITE.glob("chapters/*.html")):
        page.goto(path.as_uri())
        find = "() => [...document.querySelectorAll('[data-gpuscale=live]')].map((el) => el.id)"
        for name in page.evaluate(find):
            page.evaluate(SWEEP, [name, 20])  # once to warm up
            times = sorted(page.evaluate(SWEEP, [name, STEPS]))
            taken += times
            print(row(name, times))
    print(row("all", sorted(taken)))
    page.close()


def hold(page, grip) -> None:
    """Drag a handle to and fro, a frame at each point."""
    box = grip.locator(".knob").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(1, 25):
        page.mouse.move(x + 6 * (i if i < 13 else 18 - i), y - 5 * (i if i < 13 else 18 - i))
        page.evaluate("() => new Promise(requestAnimationFrame)")
    page.mouse.up()


def cross(page, scene) -> None:
    """Move the pointer over a drawing, a frame at each point."""
    box = scene.bounding_box()
    for i in range(24):
        down = 0.1 + 0.8 * (i * 0.618 % 1)
        page.mouse.move(box["x"] + box["width"] * (i + 0.5) / 24, box["y"] + box["height"] * down)
        page.evaluate("() => new Promise(requestAnimationFrame)")


def choose(page, box) -> None:
    """Take each entry of a menu."""
    for value in box.evaluate("(el) => [...el.options].map((one) => one.value).reverse()"):
        box.select_option(value)
        page.wait_for_timeout(900)


def gestures(page, figure) -> dict:
    """What a hand can do with a figure on a stage, by name."""
    names = figure.evaluate("(el) => [...el.querySelectorAll('.grip')].map((grip) => grip.dataset.grip)")
    acts = {}
    for grip in {one.partition(".")[0]: one for one in names}.values():
        acts[grip] = lambda grip=grip: hold(page, figure.locator(f"[data-grip='{grip}']"))
    if (play := figure.locator(".player .main")).is_visible():
        acts["play"] = lambda: (play.click(), page.wait_for_timeout(1500), play.click())
    for key in figure.evaluate(SLIDERS):
        acts[f"slider {key}"] = lambda key=key: figure.evaluate(SLID, key)
    for box in figure.locator("[data-box]").all():
        if box.is_visible():
            acts[f"menu {box.get_attribute('data-box')}"] = lambda box=box: choose(page, box)
    for b in figure.locator("[data-preset], [data-choice]").all():
        if b.is_visible():
            acts[b.inner_text()] = lambda b=b: (b.click(), page.wait_for_timeout(900))
    for i, key in enumerate(figure.evaluate(PRESSED)):
        acts[f"press {key}"] = lambda i=i: (figure.evaluate(PRESS, i), page.wait_for_timeout(900))
    acts["pointer"] = lambda: cross(page, figure.locator(".drawn .scene"))
    return acts


def moving(browser, width: int, only: list[str]) -> None:
    """Print a line for each movement of each figure on a stage: its longest frame there, and how many frames a second
    its clock shows here. ``only`` names painters, figures or pages; none means all of them."""
    print(f"{f'figure at {width} px, {SLOWER} times slower':52}{'longest ms':>12}   at most {LONGEST}")
    for path in sorted(SITE.glob("chapters/*.html")):
        if not re.search(r'data-gpuscale="?stage', path.read_text(encoding="utf-8")):
            continue
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        for figure in page.locator("[data-gpuscale=stage]").all():
            painter, name = figure.get_attribute("data-painter"), figure.get_attribute("id")
            if only and not {painter, name, path.stem} & set(only):
                continue
            for _ in range(2):  # what lies above it is drawn on the way, and moves it
                figure.locator(".drawn .scene").scroll_into_view_if_needed()
                page.wait_for_timeout(800)
            for what, act in gestures(page, figure).items():
                figure.locator("[data-do=reset]").click()
                page.wait_for_timeout(1300)
                # The figures that come into view with a handle are drawn before it is held.
                knob = figure.locator(f"[data-grip='{what}'] .knob")
                if knob.count():
                    knob.evaluate("(el) => el.scrollIntoView({ block: 'center' })")
                    page.wait_for_timeout(800)
                longest = max(traced(browser, page, act))
                if longest > LONGEST:  # at the middle of five, after which the page is in the state it had
                    times = [longest]
                    for _ in range(4):
                        figure.locator("[data-do=reset]").click()
                        page.wait_for_timeout(1300)
                        times.append(max(traced(browser, page, act)))
                    longest = statistics.median(times)
                rate = ""
                if what == "play":
                    figure.locator("[data-do=reset]").click()
                    page.wait_for_timeout(1300)
                    rate = f"   {figure.evaluate(RATE):.0f} frames/s here"
                mark = "   over" if longest > LONGEST else ""
                print(f"{f'{path.stem} {name}: {what}':52}{longest:12.0f}{mark}{rate}", flush=True)
        page.close()


def planning(browser, many: int = 1_000_000) -> None:
    """Print the plans per second that the page evaluates, and how long its search takes."""
    page = browser.new_page()
    page.goto((SITE / "chapters" / "planner.html").as_uri())
    page.evaluate(SETTLED)
    found = page.evaluate(PLANS, many)
    page.close()
    print(f"{found['rate']:12,.0f} plans per second, one by one")
    for tried, taken in sorted(map(tuple, found["searches"]))[::3]:
        print(f"{tried:12,} plans searched in {taken:.0f} ms")


def row(name: str, times: list[float]) -> str:
    """One line of the table."""
    numbers = (statistics.median(times), times[int(0.95 * len(times))], times[-1])
    late = sum(t > FRAME for t in times)
    return f"{name:40}{len(times):8}" + "".join(f"{t:7.2f} ms" for t in numbers) + f"{late:9} of {len(times)}"


def main() -> int:
    """The command line."""
    try:
        from playwright.sync_api import Error, sync_playwright

        from gpuscale.book import chromium
    except ImportError as missing:
        print(f"pages: not measured, {missing.name} is not installed (make test installs it)")
        return 0
    found = chromium.find()
    if not found or not SITE.is_dir():
        print("pages: not measured, there is no", "browser" if SITE.is_dir() else "site: make book")
        return 0
    print("\nopening pages")
    with sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=found, args=chromium.ARGUMENTS)
        except Error as error:
            print(f"pages: not measured, {str(error).splitlines()[0]}")
            return 0
        for width in (1280, 390):
            openings(browser, width)
        print("\nredraws of live figures")
        for width in (1280, 390):
            measure(browser, width)
        print("\nmoving figures")
        for width in (1280, 390):
            moving(browser, width, sys.argv[1:])
        print("\nthe planner")
        planning(browser)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
