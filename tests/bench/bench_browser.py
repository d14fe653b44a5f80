"""How fast the live figures are: what one movement of a slider costs in a real browser.

For every figure every slider is moved over its range; the time is that of the input event with the redraw and the
layout it causes. Nothing is asserted. Run it with ``python tests/bench/bench_browser.py``; pytest does not collect it.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
STEPS = 120
FRAME = 1000 / 60

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
        print(f"redraws: not measured, {missing.name} is not installed (make test installs it)")
        return 0
    found = chromium.find()
    if not found or not SITE.is_dir():
        print("redraws: not measured, there is no", "browser" if SITE.is_dir() else "site: make book")
        return 0
    print("\nredraws of live figures")
    with sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=found, args=chromium.ARGUMENTS)
        except Error as error:
            print(f"redraws: not measured, {str(error).splitlines()[0]}")
            return 0
        for width in (1280, 390):
            measure(browser, width)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
