"""Labels of figures on a stage stay in their card and apart from one another, in every tab, preset and width."""

import pytest
from browser.bookpages import said
from browser.test_figures import FITS, PAGES, figures

WIDTHS = 1280, 390, 320
# Presses reset, every preset and every tab in turn, and lists labels that leave the card or lie on one another; a label
# may lie on its own copy, such as that of a chunk that has just left its slot.
LABELS = """(el) => {
  const box = el.getBoundingClientRect(), out = new Set();
  const seen = (t) => t.textContent.trim() && +getComputedStyle(t).opacity;
  const shared = (a, b, from, to) => Math.min(a[to], b[to]) - Math.max(a[from], b[from]);
  const look = (state) => {
    const texts = [...el.querySelectorAll('.scene svg text')].filter(seen);
    const boxes = texts.map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([, a]) => a.width);
    boxes.forEach(([words, a], i) => {
      if (a.left < box.left || a.right > box.right + 0.5) out.add(`${state}: ${words} is outside`);
      for (const [others, b] of boxes.slice(i + 1)) {
        const over = shared(a, b, 'left', 'right') > 3 && shared(a, b, 'top', 'bottom') > 5;
        if (over && words !== others) out.add(`${state}: ${words} on ${others}`);
      }
    });
    return boxes.length;
  };
  const reset = el.querySelector('[data-do=reset]');
  reset.click();
  if (!look('opening')) out.add('no labels');
  for (const b of el.querySelectorAll('[data-preset], [data-choice]')) {
    if (!b.checkVisibility()) continue;
    reset.click(); b.click(); look(b.textContent);
  }
  reset.click();
  return [...out];
}"""
PLANT = """(el) => {
  const one = el.querySelector('.scene svg text'), box = one.getBBox(), svg = one.closest('svg');
  const plant = document.createElementNS(svg.namespaceURI, 'text');
  plant.textContent = 'planted';
  svg.append(plant);
  for (const [k, v] of Object.entries({ x: box.x, y: box.y + box.height / 2 })) plant.setAttribute(k, v);
  window.plant = plant;
}"""


@pytest.fixture(scope="module", params=PAGES)
def page(request, tab):
    return tab(request.param).page


def looked(page, width: int) -> list[str]:
    """What is wrong with the labels of a page's figures at a width."""
    page.set_viewport_size({"width": width, "height": 900})
    found = figures(page)
    page.wait_for_function(FITS, arg=width)
    return [f"{each.get_attribute('id')}, {width} px: {line}" for each in found for line in each.evaluate(LABELS)]


def test_labels_stay_inside_and_apart(page):
    wrong = [line for width in WIDTHS for line in looked(page, width)]
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not wrong, said(wrong)


def test_a_label_on_another_one_is_found(tab):
    page = tab(PAGES[0]).page
    assert looked(page, 390) == []
    page.locator("[data-gpuscale=stage]").first.evaluate(PLANT)
    assert any("planted" in line for line in looked(page, 390))
    page.evaluate("() => window.plant.remove()")
    page.set_viewport_size({"width": 1280, "height": 900})
