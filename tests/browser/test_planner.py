"""The planner's page: a plan by boxes and sliders, a pasted configuration, and both from a link."""

import json

import pytest
from browser.bookpages import clipboard, until

STATE = "(el) => gpuscale.upgrade(el).state"


@pytest.fixture
def figure(tab):
    page = tab("chapters/planner.html").locator("body").page
    page.emulate_media(reduced_motion="reduce")
    found = page.locator("[data-gpuscale=stage]")
    found.scroll_into_view_if_needed()
    found.locator("[data-do=reset]").click()
    return found


def test_a_32b_model_is_planned_on_64_gpus_with_a_box_and_a_slider(figure):
    figure.locator("[data-box=model]").select_option("qwen3_32b")
    figure.locator("[data-k=gpus]").focus()
    for _ in range(4):
        figure.page.keyboard.press("ArrowLeft")
    state = figure.evaluate(STATE)
    assert (state["p"]["model"], state["p"]["gpus"]) == ("qwen3_32b", 64) and state["out"]["fits"]
    assert "a step is expected to take" in figure.locator(".drawn .state").inner_text()


def test_a_configuration_is_typed_refused_in_words_and_linked(figure):
    figure.locator(".typed summary").click()
    area = figure.locator("[data-text=config]")
    config = json.loads(area.input_value())
    area.fill(json.dumps(config | {"hidden_size": 0}))
    assert "hidden_size: 0; expected a whole number, 1 or more" in figure.locator(".drawn .state").inner_text()
    area.fill(json.dumps(config | {"num_hidden_layers": 48}))
    kept = figure.evaluate(STATE)
    assert (
        kept["p"]["model"] == "pasted" and kept["out"] and figure.locator("[data-box=model]").input_value() == "pasted"
    )
    figure.locator("[data-copy=link]").click()
    link = clipboard(figure.page)
    figure.locator("[data-do=reset]").click()
    figure.page.evaluate("(hash) => { location.hash = ''; location.hash = hash; }", link.partition("#")[2])
    until(figure.page, lambda: figure.evaluate(STATE) == kept)
    figure.page.evaluate("() => { location.hash = ''; }")
