"""axe on a page, in both themes, on a desk and on a phone: what is serious, and where.

Nearly all of axe's time goes into elements that are alike: the inside of formulas, the words of code, the rows of a
table, cards of one kind. So before it looks, all but the first of what is alike is taken off the page (``REDUCE``), a
formula is a word in a box of its size, and of text with one look the first and the last are measured. The drawings on a
stage stay whole: their script draws them again at each width, and would not know what comes back. Nothing is taken off
one page, so that it is looked at whole.
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
SHEETS = [(390, "dark", ALL)]  # a sheet is made of the parts of the chapters, and nothing else: some are looked at
BARS = [(1280, "light", ALL), (1280, "dark", ALL), (390, "light", SOME), (390, "dark", ALL)]
BARS_ON = (PAGES[0], "exercises/hardware.html", "search.html")
WHOLE = "chapters/in_network_reduction.html"
REDUCE = """(known) => {
  const back = [];                                     // how everything is put back, the last first
  const remove = (el) => {
    const mark = document.createComment('');
    el.replaceWith(mark);
    back.push(() => mark.replaceWith(el));
  };
  for (const el of document.querySelectorAll('svg :is(path, rect, circle, line, polygon)')) {
    if (!el.matches('[role], [tabindex], .drawn .scene *')) remove(el);
  }

  // Two elements are alike if tags, classes and what axe reads are the same, in them and in all that they are in.
  const MANY = 'div, section, form, figure, details, pre, table, tr, li, dl, p, math, .highlight span, g, text, tspan';
  const NAMES = 'summary, button, a, label, legend, option';       // without their words they have no name
  const READ = /^(aria-.*|class|role|type|hidden|tabindex|disabled|open|scope|style|lang|for|href|alt|title)$/;
  const TEXT = /^(aria-(label|valuetext|valuenow)|href|alt|title)$/;
  const LINK = /^(aria-(labelledby|describedby|controls)|for)$/;
  const shapes = new Map(), seen = new Set(known.split(' ')), fresh = [];
  function hash(text) {
    let a = 7, b = 11;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      a = Math.imul(a ^ c, 0x9e3779b1); b = Math.imul(b ^ c, 0x5f356495);
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  }
  function own(el) {
    const read = el.getAttributeNames().filter((name) => READ.test(name)).map((name) => {
      const value = el.getAttribute(name);
      if (TEXT.test(name)) return `${name} ${!!value.trim()}`;
      if (LINK.test(name)) return `${name} ${value.split(' ').every((id) => document.getElementById(id))}`;
      return `${name}=${value}`;
    });
    return `${el.tagName} ${read.sort().join(' ')}`;
  }
  function shape(el) {
    const parts = new Set();
    for (const node of el.matches('math') ? [] : el.childNodes) {
      if (node.nodeType === 3 && node.data.trim()) parts.add('words');
      if (node.nodeType === 1) parts.add(shape(node));
    }
    shapes.set(el, hash(`${own(el)}: ${[...parts].join()}`));
    return shapes.get(el);
  }
  // What names or describes an element stays as long as that element does.
  const needed = new Set();
  for (const el of document.querySelectorAll('[aria-labelledby], [aria-describedby], [aria-controls], [for]')) {
    const names = el.getAttributeNames().filter((name) => LINK.test(name));
    for (const id of names.flatMap((name) => el.getAttribute(name).split(' '))) {
      for (let at = document.getElementById(id); at && !at.contains(el); at = at.parentElement) needed.add(at);
    }
  }
  shape(document.body);
  (function thin(el, around) {
    for (const child of [...el.children]) {
      const key = hash(around + shapes.get(child));
      const first = el.matches('[role]:not([role=img])') && !child.previousElementSibling;
      const alike = seen.has(key) && child.matches(MANY) && !first && !needed.has(child) && !child.closest(NAMES);
      if (!seen.has(key)) fresh.push(key);
      seen.add(key);
      if (alike) remove(child); else if (!child.matches('.drawn .scene')) thin(child, hash(around + own(child)));
    }
  })(document.body, '');

  const maths = [...document.querySelectorAll('math')];
  const sizes = maths.map((m) => (m.firstElementChild ?? m).getBoundingClientRect());
  maths.forEach((m, i) => {
    const kept = [...m.childNodes], box = Object.assign(document.createElement('span'), { textContent: 'xyz' });
    box.style.cssText = `display: inline-block; width: min(${sizes[i].width}px, 100%); height: ${sizes[i].height}px`;
    m.replaceChildren(box);
    back.push(() => m.replaceChildren(...kept));
  });
  window.putBack = () => { for (const put of back.reverse()) put(); delete window.putBack; };
  dispatchEvent(new Event('resize'));                  // what scrolls now has to be in reach of the keyboard
  return fresh.join(' ');
}"""
RUN = """async ({ only, known }) => {
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
  const looks = {}, seen = new Set(known);
  const words = (el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  for (const el of document.body.querySelectorAll('*')) {
    if (!(words(el) || el.matches('input, select, textarea')) || !el.checkVisibility()) continue;
    const s = getComputedStyle(el), around = getComputedStyle(el.parentElement);
    const link = el.matches('a') && [s.textDecorationLine, around.display, around.color, around.fontWeight];
    const look = [ground(el), s.color, s.fontSize, s.fontWeight, s.textShadow, link].join();
    (looks[look] ??= []).push(el);
  }
  const fresh = Object.keys(looks).filter((look) => !seen.has(look));
  const few = [...new Set(fresh.flatMap((look) => [looks[look][0], looks[look].at(-1)]))];

  for (const el of few) el.setAttribute('data-look', '');
  const [text, links] = window.putBack ? ['[data-look]', 'a[data-look]'] : ['*', 'a[href]'];
  axe.configure({ rules: [{ id: 'color-contrast', selector: text }, { id: 'link-in-text-block', selector: links }] });
  const grave = (impact) => impact === 'serious' || impact === 'critical';
  const light = axe._audit.rules.filter(({ impact }) => !grave(impact));        // nothing that they find would count
  const off = Object.fromEntries(light.map(({ id }) => [id, { enabled: false }]));
  const options = { resultTypes: ['violations'], preload: false, ...only.length ? { runOnly: only } : { rules: off } };
  const { violations } = await axe.run(document, options);
  for (const el of few) el.removeAttribute('data-look');
  const place = ({ target }) => String(target).replaceAll('[data-look=""]', '');
  const serious = violations.filter(({ impact }) => grave(impact)).map((v) =>
    `${v.impact} ${v.id} (${v.nodes.length}): ${place(v.nodes[0])} ${v.nodes[0].failureSummary.slice(0, 200)}`);
  return { serious, fresh };
}"""


# What has been looked at on earlier pages: elements of one kind, and text of one look in a theme.
shapes: list[str] = []
looks: dict[str, list[str]] = {"light": [], "dark": []}


def violations(page, only=ALL, known=()) -> tuple[list[str], list[str]]:
    """What axe finds, each with the place it found first, and the looks of text that are not ``known``."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RUN, {"only": only, "known": list(known)})
    return found["serious"], found["fresh"]


def nothing_serious(page, name) -> None:
    """Fails, naming what axe found, unless it found nothing serious in any setting of the open page."""
    problems, before = [], len(page.errors)
    if name != WHOLE:
        shapes.append(page.evaluate(REDUCE, " ".join(shapes)))
    for width, theme, only in BARS if name in BARS_ON else SHEETS if name.startswith("exercises/") else SETTINGS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        page.evaluate(SETTLE)
        found, fresh = violations(page, only, looks[theme])
        looks[theme] += fresh
        problems += [f"{theme}, {width} px: {what}" for what in found]
    page.evaluate("() => window.putBack?.()")
    page.evaluate(SETTLE)
    del page.errors[before:]  # of figures that were drawn while their parts were away
    assert not problems, said(problems)
