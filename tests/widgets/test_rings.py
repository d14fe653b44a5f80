"""The ring of the page in a JavaScript engine, against the schedule on the clock; and what its maker refuses."""

import json
import re

import numpy as np
import pytest
from support.ring_states import TABS, figure, run, sentence, states

from gpuscale import units
from gpuscale.book.frames import engine, frame
from gpuscale.schedules.collectives import doubling, ring
from gpuscale.schedules.timelines.sending import clocked
from gpuscale.units import show
from gpuscale.widgets import Collective, ring_stage

MANY = 300
SCOPE = {"ring": ring, "clocked": clocked} | {name: getattr(units, name) for name in "B kB MB GB ns us ms".split()}
SHOWN = """(spec, states) => JSON.stringify(states.map((state) => {
  const ring = gpuscale.figures.ring, view = Object.assign(gpuscale.seen(spec, state), { width: 640 });
  const { marks, total } = view.solved;
  const t = state.at * total, drawn = ring.draw(view, t).flat(9).filter((shape) => shape?.words);
  const words = Object.fromEntries(drawn.map((shape) => [shape.key, shape.words]));
  return { ...ring.numbers(view, t), marks, t, words, sentence: ring.sentence(view, t), call: ring.call(view) };
}))"""


def shown(all_states: list[dict]) -> list[dict]:
    """All numbers that the page shows in each state."""
    return json.loads(engine("ring").eval(f"({SHOWN})({figure().spec}, {json.dumps(all_states)})"))


def plain(html: str) -> str:
    return re.sub("<[^>]*>", "", html).replace("\u00a0", " ")


def test_page_and_schedule_agree_in_every_state():
    all_states = states(MANY)
    for state, page in zip(all_states, shown(all_states), strict=True):
        on = run(state)
        assert page["total"] == pytest.approx(on.total, rel=1e-12), state
        assert page["formula"] == pytest.approx(on.total, rel=1e-9), state
        assert page["waiting"] == pytest.approx(on.waiting, abs=1e-12), state
        assert page["marks"] == pytest.approx(on.marks, rel=1e-12), state
        assert page["bytes"] == pytest.approx(on.sent(page["t"]), rel=1e-9, abs=1e-6 * state["V"]), state
        assert page["perLink"] == pytest.approx(on.sent(on.total)[0] / on.total, rel=1e-9), state
        away = np.abs(on.end - page["t"]).min() > 1e-7 * on.total  # not at the very moment of an arrival
        copies = state["N"] if state["kind"] == "all_gather" else 1  # on the page a copy holds all that its sum would
        assert not away or page["held"] == (copies * on.held(page["t"])).tolist(), state


def test_the_words_of_the_drawing_are_those_of_the_schedule():
    all_states = states(100, seed=4)
    for state, page in zip(all_states, shown(all_states), strict=True):
        on, words = run(state), page["words"]
        sent = on.sent(page["t"])
        assert plain(page["sentence"]) in {plain(sentence(state, hair)) for hair in (0, 1e-9, -1e-9)}, state
        assert plain(words["clock"]) == plain(show(page["t"], "s") if page["t"] else "0 s"), state
        assert plain(words["of"]) == plain(f"of {show(on.total, 's')}"), state
        assert plain(words["rate"]) == plain(show(on.sent(on.total)[0] / on.total, "B/s")), state
        assert eval(page["call"], SCOPE) == pytest.approx(on.total), state
        for r in range(state["N"]):
            assert (f"rate{r}" in words) == (on.W[r] < state["W"]), state
            near = {plain(show(sent[r] * f, "B")) for f in (1 - 1e-9, 1, 1 + 1e-9)} if sent[r] else {"0 B"}
            assert plain(words[f"amount{r}"]).removesuffix(" ✓") in near, state


def test_it_opens_on_the_first_collective():
    made = figure()
    assert made.values["kind"] == "all_gather" and made.values["N"] == 8 and made.values["share"][1] == 0.4
    assert "335 µs" in repr(made).replace("\u00a0", " ")


def test_without_a_script_it_shows_that_moment():
    html = frame(json.loads(figure().spec))
    for words in ("167 µs", "335 µs", "180 GB/s", "1 → 2"):
        assert words in html.replace("\u00a0", " "), words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"N": 13}, "N: expected 2 to 12 ranks; got 13"),
        ({"slow": {8: 0.5}}, "slow: expected ranks 0 to 7"),
        ({"slow": {0: 0.01}}, "shares 0.1 to 1"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)


def test_another_algorithm_is_refused():
    tabs = {"Doubling": Collective(doubling.halving_doubling, TABS["All-reduce"].time, TABS["All-reduce"].bytes)}
    with pytest.raises(ValueError, match="expected ring schedules"):
        ring_stage(tabs, name="x", title="x", caption="x", V=1, alpha=0, W=1)
