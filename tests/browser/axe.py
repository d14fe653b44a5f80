"""axe on a page, in both themes, on a desk and on a phone: what is serious, and where.

Nearly all of axe's time goes into thousands of elements that are alike: the inside of formulas, the words of code, text
of one look. So while it looks, a formula is a word in a box of its size, and of words of code with the same class on
the same ground only the first is an element of its own; of text with one look the first and the last are measured; and
of a table with more than sixty rows it sees the first and the last thirty. One page is looked at whole.
"""

from pathlib import Path

import pytest
from browser.bookpages import PAGES, SETTLE, said

AXE = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")
# Each theme and each width once on each page, the second time what depends on colors and width. What is only on a
# phone, or only on a desk in the dark, is the same bars on every page: on some, everything in these settings too.
ALL: list[str] = []
SOME = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
SETTINGS = [(1280, "light", ALL), (390, "dark", SOME)]
SHEETS = [(390, "dark", ALL)]  # a sheet is made of the parts of the chapters, and nothing else
BARS = [(1280, "light", ALL), (1280, "dark", ALL), (390, "light", SOME), (390, "dark", ALL)]
WHOLE = "chapters/in_network_reduction.html"
BARS_ON = (PAGES[0], WHOLE, "exercises/hardware.html", "search.html")
RUN = """async ({ only, whole }) => {
  // What decides a contrast: the words' color, size and weight, what is painted behind them, and what they float on.
  const behind = new Map();
  function ground(el) {
    if (!el) return '';
    if (!behind.has(el)) {
      const s = getComputedStyle(el), own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode];
      const plain = own.join() === 'rgba(0, 0, 0, 0),none,1,none,normal' && s.position === 'static';
      behind.set(el, ground(el.parentElement) + (plain ? '' : `/${own} ${s.position}`));
    }
    return behind.get(el);
  }

  const back = [];                                     // how everything is put back
  const maths = whole ? [] : [...document.querySelectorAll('math')];
  const sizes = maths.map((m) => (m.firstElementChild ?? m).getBoundingClientRect());
  maths.forEach((m, i) => {
    const kept = [...m.childNodes], box = Object.assign(document.createElement('span'), { textContent: 'xyz' });
    box.style.cssText = `display: inline-block; width: ${sizes[i].width}px; height: ${sizes[i].height}px`;
    m.replaceChildren(box);
    back.push(() => m.replaceChildren(...kept));
  });
  const classes = new Set();
  for (const pre of whole ? [] : document.querySelectorAll('.highlight pre')) {
    const light = pre.cloneNode(true);
    for (const word of light.querySelectorAll('span')) {
      const look = ground(pre) + word.className;
      if (classes.has(look)) word.replaceWith(...word.childNodes);
      classes.add(look);
    }
    light.normalize();
    pre.replaceWith(light);
    back.push(() => light.replaceWith(pre));
  }

  for (const body of whole ? [] : document.querySelectorAll('tbody')) {
    const middle = [...body.rows].slice(30, -30), after = middle.at(-1)?.nextSibling;
    for (const row of middle) row.remove();
    back.push(() => after?.before(...middle));
  }

  const looks = {};
  const words = (el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  for (const el of document.body.querySelectorAll('*')) {
    if (!(words(el) || el.matches('input, select, textarea')) || !el.checkVisibility()) continue;
    const s = getComputedStyle(el), look = [ground(el), s.color, s.fontSize, s.fontWeight, s.textShadow].join();
    (looks[look] ??= []).push(el);
  }
  const few = [...new Set(Object.values(looks).flatMap((alike) => [alike[0], alike.at(-1)]))];

  for (const el of few) el.setAttribute('data-look', '');
  axe.configure({ rules: [{ id: 'color-contrast', selector: whole ? '*' : '[data-look]' }] });
  const options = { resultTypes: ['violations'], preload: false, ...only.length && { runOnly: only } };
  const { violations } = await axe.run(document, options);
  for (const el of few) el.removeAttribute('data-look');
  for (const put of back) put();
  const place = ({ target }) => String(target).replaceAll('[data-look=""]', '');
  return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) =>
    `${v.impact} ${v.id} (${v.nodes.length}): ${place(v.nodes[0])} ${v.nodes[0].failureSummary.slice(0, 200)}`);
}"""


def violations(page, only=ALL, whole=False) -> list[str]:
    """What axe finds, each with the place it found first; ``whole``: every word, and the inside of formulas."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN, {"only": only, "whole": whole})


def nothing_serious(page, name) -> None:
    """Fails, naming what axe found, unless it found nothing serious in any setting of the open page."""
    problems = []
    for width, theme, only in BARS if name in BARS_ON else SHEETS if name.startswith("exercises/") else SETTINGS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        page.evaluate(SETTLE)
        whole = name == WHOLE and (width, theme) == (1280, "light")
        problems += [f"{theme}, {width} px: {what}" for what in violations(page, only, whole)]
    assert not problems, said(problems)
