"""The ring of the page in a JavaScript engine, against the schedule on the clock; and what its maker refuses."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer
from support.ring_states import TABS, figure, run, states

from gpuscale.book.served import tight_script
from gpuscale.schedules.collectives import doubling
from gpuscale.widgets import Collective, assets, ring_stage

MANY = 300
NUMBERS = """(spec, state) => {
  const ring = gpuscale.figures.ring, names = spec.names;
  const call = (name, p) => Function('p', `const {${names}}=p;${spec.fns[name]}`)(p);
  const solved = ring.solve(state, call), t = state.at * solved.total;
  return JSON.stringify({ ...ring.numbers({ p: state, solved, call }, t), marks: solved.marks, t });
}"""


@pytest.fixture(scope="module")
def numbers():
    """All numbers that the page shows in a state."""
    spec = figure().spec
    with MiniRacer() as engine:
        for name in ("gpuscale", "stage", "ring"):
            engine.eval(f"{tight_script(assets.script(name))}; null")
        yield lambda state: json.loads(engine.eval(f"({NUMBERS})({spec}, {json.dumps(state)})"))


def test_page_and_schedule_agree_in_every_state(numbers):
    for state in states(MANY):
        page, on = numbers(state), run(state)
        assert page["total"] == pytest.approx(on.total, rel=1e-12), state
        assert page["formula"] == pytest.approx(on.total, rel=1e-9), state
        assert page["waiting"] == pytest.approx(on.waiting, abs=1e-12), state
        assert page["marks"] == pytest.approx(on.marks, rel=1e-12), state
        assert page["bytes"] == pytest.approx(on.sent(page["t"]), rel=1e-9, abs=1e-6 * state["V"]), state
        assert page["perLink"] == pytest.approx(on.sent(on.total)[0] / on.total, rel=1e-9), state
        away = np.abs(on.end - page["t"]).min() > 1e-7 * on.total  # not at the very moment of an arrival
        copies = state["N"] if state["kind"] == "all_gather" else 1  # on the page a copy holds all that its sum would
        assert not away or page["held"] == (copies * on.held(page["t"])).tolist(), state


def test_it_opens_on_the_first_collective():
    made = figure()
    assert made.values["kind"] == "all_gather" and made.values["N"] == 8 and made.values["share"][1] == 0.4
    assert "335 µs" in repr(made).replace("\u00a0", " ")


def test_without_a_script_it_shows_that_moment():
    html = figure().html
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
