"""What takes long to work out is worked out between frames, and what a figure says holds its height meanwhile."""

from browser.bookpages import until

PRESS = """(el, names) => {
  const buttons = names.map((name) => [...el.querySelectorAll('[data-preset]')].find((b) => b.innerText === name));
  for (const button of buttons) button.click();
  const { p, gliding } = gpuscale.upgrade(el).state;
  return [p.model, gliding];
}"""
STATE = "(el) => gpuscale.upgrade(el).state"


def shown(page, name: str):
    page.open(f"chapters/{name}.html")
    figure = page.locator("[data-gpuscale=stage]").first
    figure.scroll_into_view_if_needed()
    until(page, lambda: figure.evaluate("(el) => !!el.querySelector('.drawn .scene .shapes > *')"))
    return figure


def test_a_search_lets_the_page_move_and_the_last_request_is_shown(page):
    figure = shown(page, "planner")
    opening = figure.evaluate(STATE)["p"]["model"]
    assert figure.evaluate(PRESS, ["DeepSeek-V3", "Llama 3 405B"]) == [opening, True]
    until(page, lambda: not figure.evaluate(STATE)["gliding"], limit=60)
    assert figure.evaluate(STATE)["p"]["model"] == "llama3_405b"
    assert "llama3_405b" in figure.locator(".call code").inner_text()


def test_inputs_from_a_link_end_a_search(page):
    figure = shown(page, "planner")
    figure.evaluate(PRESS, ["DeepSeek-V3"])
    figure.evaluate("(el) => gpuscale.upgrade(el).load('model=llama3_8b')")
    until(page, lambda: not figure.evaluate(STATE)["gliding"], limit=60)
    assert figure.evaluate(STATE)["p"]["model"] == "llama3_8b"


def test_what_is_below_the_sentence_stays_where_the_longest_put_it(page):
    page.open("chapters/data_parallelism.html", width=390)
    page.emulate_media(reduced_motion="reduce")
    figure = page.locator("[data-gpuscale=stage]").first
    figure.evaluate("(el) => el.scrollIntoView()")
    high = "(el) => el.querySelector('.drawn .state').offsetHeight"
    text = "(el) => { const r = document.createRange(); r.selectNodeContents(el.querySelector('.drawn .state')); "
    text += "return r.getBoundingClientRect().height; }"
    choose = "(el, v) => el.querySelector(`[data-choice=zero][data-v='${v}']`).click()"
    seen = []
    for zero in ("0", "1", "2", "3", "0"):
        figure.evaluate(choose, zero)
        page.wait_for_function(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))) || true"
        )
        seen.append((figure.evaluate(text), figure.evaluate(high)))
    assert seen[0][0] < max(lines for lines, _ in seen)  # some sentence is longer than the first
    until(page, lambda: figure.evaluate(high) == max(high for _, high in seen))
