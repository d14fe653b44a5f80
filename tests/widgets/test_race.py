"""The race of the page in a JavaScript engine, against schedules in lockstep, formulas and a root finder."""

import json
import random
import re
from functools import partial

import pytest
from scipy.optimize import brentq

from gpuscale import units
from gpuscale.book.frames import engine
from gpuscale.collectives import (
    halving_doubling_all_reduce,
    nvls_all_reduce,
    nvls_bytes,
    nvls_steps,
    one_shot_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
    tree_all_reduce,
)
from gpuscale.core.formula import Formula
from gpuscale.schedules.collectives import direct, doubling, ring, trees
from gpuscale.schedules.timelines.lockstep import lockstep
from gpuscale.units import GB, MB, show, us
from gpuscale.widgets import Runner, race_stage
from gpuscale.widgets.race import COUNTS, SIZES, drawn

RUNNERS = {
    "ring": Runner("Ring", ring.all_reduce, ring_all_reduce),
    "tree": Runner("Binomial tree", trees.all_reduce, tree_all_reduce),
    "doubling": Runner("Recursive doubling", doubling.all_reduce, recursive_doubling_all_reduce),
    "halving": Runner("Halving-doubling", doubling.halving_doubling, halving_doubling_all_reduce),
    "shot": Runner("One-shot", direct.all_reduce, one_shot_all_reduce),
    "switch": Runner("In-network", (nvls_steps, nvls_bytes), nvls_all_reduce),
}
UNITS = "B kB MB GB ns us ms".split()
RUNS = {key: {n: lockstep(each.way(n)) for n in COUNTS} for key, each in RUNNERS.items() if key != "switch"}
SCOPE = {each.time.name: each.time for each in RUNNERS.values()} | {name: getattr(units, name) for name in UNITS}
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const race = gpuscale.figures.race, view = Object.assign(gpuscale.seen(spec, p), { width: 640 });
  const t = p.at * view.solved.total;
  const said = { sentence: race.sentence(view), table: race.table(view), call: race.call(view) };
  const words = Object.fromEntries(race.draw(view, t).flat(9).filter((s) => s.words).map((s) => [s.key, s.words]));
  return { ...race.numbers(view, t), ...said, t, words };
}))"""


def figure(**options):
    book = dict(
        V=1 * MB, alpha=3.4 * us, W=450 * GB, out=["switch"], name="race", title="A race", caption="<b>Few.</b>"
    )
    return race_stage(RUNNERS, **book | options)


def states(many: int) -> list[dict]:
    dice = random.Random(3)
    out = []
    for _ in range(many):
        flags = [int(dice.random() < 0.3) for _ in RUNNERS]
        flags[dice.randrange(len(flags))] = 0
        size = float(f"{10 ** dice.uniform(3, 9):.2g}")
        alpha, at = dice.choice([0.2e-6, 3.4e-6, 20e-6]), dice.random()
        out.append(
            {
                "N": dice.choice(COUNTS),
                "V": size,
                "alpha": alpha,
                "W": dice.choice([450e9, 50e9]),
                "out": flags,
                "at": at,
            }
        )
    return out


@pytest.fixture(scope="module")
def shown():
    spec = figure().spec
    all_states = states(220)
    return list(
        zip(all_states, json.loads(engine("race").eval(f"({SHOWN})({spec}, {json.dumps(all_states)})")), strict=True)
    )


def behind(first: Formula, second: Formula, given: dict, size: float) -> float:
    """By how much the first takes longer at a size [s]."""
    return float(first(**given | {"V": size}) - second(**given | {"V": size}))


def inputs(state: dict) -> dict:
    return {key: state[key] for key in ("N", "V", "alpha", "W")}


def test_lanes_are_schedules_and_formulas(shown):
    for state, page in shown:
        given = inputs(state)
        amounts = {key: given[key] for key in ("V", "alpha", "W")}
        for i, (key, each) in enumerate(RUNNERS.items()):
            time = float(each.time(**given))
            assert page["ends"][i] == pytest.approx(time, rel=1e-9) and page["formulas"][i] == pytest.approx(
                time, rel=1e-9
            )
            if key == "switch":
                continue
            run, known = RUNS[key][state["N"]], page["known"][i]
            ends = run.ends(**amounts)
            t = min(page["t"], ends[-1])
            here = run.known_at(t, **amounts)
            assert known["rows"] == pytest.approx(here[drawn(state["N"])], abs=1e-6), (state, key)
            assert known["least"] == pytest.approx(here.min(), abs=1e-6), (state, key)
            if abs(ends - page["t"]).min() > 1e-9 * ends[-1]:
                assert known["steps"] == (ends < page["t"]).sum(), (state, key)


def test_the_first_at_each_size_is_the_fastest(shown):
    for state, page in shown:
        given, keys = inputs(state), [key for key, out in zip(RUNNERS, state["out"], strict=True) if not out]
        names, order = list(RUNNERS), page["winners"]
        assert order[0]["from"] == SIZES[0] and order[-1]["to"] == SIZES[1]
        for reign, after in zip(order, [*order[1:], None], strict=True):
            middle = (reign["from"] * reign["to"]) ** 0.5
            times = {key: float(RUNNERS[key].time(**given | {"V": middle})) for key in keys}
            assert times[names[reign["i"]]] == pytest.approx(min(times.values()), rel=1e-9), state
            if after:
                pair = [RUNNERS[names[one["i"]]].time for one in (reign, after)]
                gap = partial(behind, *pair, given)
                assert reign["to"] == pytest.approx(
                    brentq(gap, reign["to"] / 2, reign["to"] * 2, xtol=1e-3), rel=1e-6
                ), state


def test_words_say_the_same_numbers(shown):
    for state, page in shown:
        given, plain = inputs(state), lambda text: re.sub(r"<.*?>", "", text).replace("\u00a0", " ")
        times = {i: float(each.time(**given)) for i, each in enumerate(RUNNERS.values()) if not state["out"][i]}
        best, last = min(times.values()), max(times.values())
        names = [each.name for each in RUNNERS.values()]
        for i, time in times.items():
            assert plain(page["words"][f"end{i}"]).removeprefix("first: ") == plain(show(time, "s"))
            assert plain(page["table"][i + 1][3]) == plain(show(time, "s"))
        sentence = plain(page["sentence"])
        head = f"All-reduce of {show(state['V'], 'B')} on {state['N']} ranks: "
        assert sentence.startswith(plain(head)) and f"is first, after {plain(show(best, 's'))}." in sentence
        if len(times) > 1:
            assert f"takes {show(last / best)} times as long" in sentence, state
            assert any(
                f"{names[i]} is last" in sentence for i, t in times.items() if t == pytest.approx(last, rel=1e-12)
            )
        for k, reign in enumerate(page["winners"][1:]):
            assert plain(page["words"].get(f"edgename{k}", show(reign["from"], "B"))) == plain(show(reign["from"], "B"))
        assert eval(page["call"], SCOPE) == pytest.approx(best, rel=1e-5)


def test_it_opens_when_the_first_one_has_finished():
    text = repr(figure()).replace("\u00a0", " ")
    assert "Recursive doubling: 16.9 µs" in text and "In-network: 9.02 µs (not in the race)" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"N": 6}, "N: expected one of 4, 8, 16, 32, 64; got 6"),
        ({"out": ["sail"]}, "out: expected some of ring.*; got sail"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
