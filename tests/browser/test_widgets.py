"""Figures on a stage as widgets of a notebook: the module that a notebook loads draws what the page's script draws."""

import json
import re

import pytest
from browser.test_figures import PAGES

from gpuscale.widgets import assets

FIGURE = re.compile(r'<figure[^>]*data-gpuscale="?stage"?.*?</figure>', re.S)
# What a notebook gives a widget: a model that holds values and tells who listens.
RENDER = """async ([esm, html, values]) => {
  const held = { html, values }, heard = [];
  const model = {
    get: (key) => held[key], set: (key, value) => { held[key] = value; }, save_changes() {},
    on: (what, call) => heard.push(call), off() {},
  };
  const { default: { render } } = await import(URL.createObjectURL(new Blob([esm], { type: 'text/javascript' })));
  const el = document.body.appendChild(document.createElement('div'));
  render({ model, el });
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  while (!el.querySelector('.drawn .scene .shapes')?.childElementCount) await frame();
  const said = () => el.querySelector('.drawn .state').textContent.replace(/\\s+/g, ' ').trim();
  const opening = said();
  const tab = [...el.querySelectorAll('[data-choice][aria-pressed=false]')].find((b) => b.checkVisibility());
  const key = new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true });
  const grip = el.querySelector('.grip, .sliders input'), part = el.querySelector('.scene [data-act]');
  if (tab) tab.click();
  else if (grip) grip.dispatchEvent(key);
  else part.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  for (let i = 0; i < 4; i++) await frame();
  const changed = { ...held.values };
  held.values = values;                                    // as Python sets them
  for (const call of heard) call();
  return { opening, changed, back: said() };
}"""


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).replace("&amp;", "&").strip()


@pytest.fixture(scope="module")
def blank(visiting):
    with visiting(reduced_motion="reduce") as visit:
        yield visit


@pytest.mark.parametrize("name", PAGES)
def test_a_widget_draws_what_the_page_draws_and_tells_its_values(blank, site, name):
    cards = FIGURE.findall((site / name).read_text(encoding="utf-8"))
    assert cards
    for html in cards[:2]:
        spec = json.loads(re.search(r"<script[^>]*json[^>]*>(.*?)</script>", html, re.S)[1].replace("<\\/", "</"))
        blank.goto("about:blank")
        blank.add_style_tag(content=assets.notebook_style())
        found = blank.evaluate(RENDER, [assets.esm(), html, spec["start"]])
        assert found["opening"] == found["back"], spec["id"]
        if still := re.search(r'class="?state"?>(.*?)</p>', html, re.S):  # what the page says without a script
            assert plain(still[1]) == found["opening"], spec["id"]
        assert found["changed"].keys() == spec["start"].keys() and found["changed"] != spec["start"], spec["id"]
    assert blank.errors == []
