"""The pipeline of the page in a JavaScript engine, against the library's timetables; and what its maker refuses."""

import json
from itertools import pairwise

import pytest
from py_mini_racer import MiniRacer
from support.pipeline_states import TABS, bubble, figure, run, states

from gpuscale.book.served import tight_script
from gpuscale.collectives import ring_all_gather
from gpuscale.schedules.pipelines.both_ways import v_schedule
from gpuscale.schedules.pipelines.orders import gpipe
from gpuscale.widgets import Scheduled, assets

MANY = 216
NUMBERS = """(spec, state) => {
  const view = gpuscale.seen(spec, state), end = view.solved.total, t = state.at * end;
  const figure = gpuscale.figures.pipeline;
  const said = { met: figure.meter(view, end).met, call: figure.call(view), sentence: figure.sentence(view) };
  return JSON.stringify({ ...figure.numbers(view, t), ...said, t, marks: view.solved.marks });
}"""


@pytest.fixture(scope="module")
def engine():
    with MiniRacer() as made:
        for name in ("gpuscale", "stage", "pipeline"):
            made.eval(f"{tight_script(assets.script(name))}; null")
        yield made


@pytest.fixture(scope="module")
def shown(engine):
    """All numbers that the page shows in a state."""
    engine.eval(f"globalThis.page = (state) => ({NUMBERS})({figure().spec}, state); null")
    return lambda state: json.loads(engine.eval(f"page({json.dumps(state)})"))


@pytest.fixture(scope="module")
def pairs(shown):
    """States, what the page shows in each, and the library's timetable."""
    return [(state, shown(state), run(state)) for state in states(MANY)]


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def test_page_and_timetable_agree_slot_for_slot(pairs):
    for state, page, on in pairs:
        for rank, row in enumerate(page["slots"]):
            there = on.of(rank)
            assert [tuple(slot[:3]) for slot in row] == on.tasks(rank), state
            assert [time for slot in row for time in slot[3:]] == close(
                [float(time) for slot in there for time in (slot.start, slot.end)]
            ), state
        assert page["total"] == close(float(on.makespan)) and page["marks"][-1] == close(float(on.makespan)), state
    for state, page, _ in pairs[::4]:
        assert page["alike"] == close(float(run(state, equal=True).makespan)), state


def test_idle_time_and_memory_agree(pairs):
    for state, page, on in pairs:
        unit = on.ranks / on.stages
        assert page["bubble"] == close(float(on.bubble_fraction)), state
        assert page["busy"] == close([float(on.busy(rank)) for rank in range(on.ranks)]), state
        assert page["waits"] == close([float(on.idle(rank)) for rank in range(on.ranks)]), state
        assert page["peaks"] == close([on.peak_activations(rank) * unit for rank in range(on.ranks)]), state
        done = sum(max(0, min(slot.end, page["t"]) - slot.start) for slot in on.slots)
        assert page["idle"] == close(on.ranks * page["t"] - float(done)), state
        for rank, held in enumerate(page["held"]):
            if all(abs(page["t"] - float(time)) > 1e-6 for time, _ in on.held(rank)):  # not at the very change
                before = [count for time, count in on.held(rank) if time <= page["t"]]
                assert held == close((before[-1] if before else 0) * unit), state


def test_the_critical_path_is_the_same_and_fills_the_step(pairs):
    for state, page, on in pairs[1::2]:
        path = on.critical_path()
        assert [tuple(task) for task in page["path"]] == [slot[3:] for slot in path], state
        for slot, then in pairwise(path):
            assert slot.end == then.start, state
            assert slot.rank == then.rank or slot.microbatch == then.microbatch or state["kind"] == "dualpipe", state
        for rank, fraction in enumerate(page["onPath"]):
            assert fraction == close(float(sum(s.end - s.start for s in path if s.rank == rank) / on.makespan)), state


def test_the_mark_is_the_formula_where_it_holds(pairs):
    marked = 0
    for state, page, _ in pairs:
        if (formula := bubble(state)) is None:
            assert page["formula"] is None and not page["met"], state
        else:
            marked += 1
            assert page["formula"] == close(formula), state
            assert page["met"] and page["bubble"] == close(formula), state
    assert marked > 40 and sum(page["formula"] is None for _, page, _ in pairs) > 100


def test_the_copied_call_gives_the_bubble(pairs):
    names = {each.schedule.__name__: each.schedule for each in TABS.values()}
    for _, page, _ in pairs[::10]:
        assert eval(page["call"], names) == close(page["bubble"]), page["call"]


def test_the_sentence_names_the_slow_rank(shown):
    state = states(1)[0] | {"kind": "one_f_one_b", "N_stages": 4, "N_MB": 8, "t_B": 2, "pace": [1, 1, 1.6, *[1] * 5]}
    said = shown(state)["sentence"]
    assert "Rank 2 takes 1.6 times as long</b>, and the step 38.8% longer" in said
    assert "80.3% of the critical path" in said and "39.7%" in said
    assert "33 <i>t</i><sub>F</sub>" in shown(state | {"pace": [1] * 8})["sentence"]


@pytest.mark.parametrize(
    ("given", "was", "runs"),
    [
        ({"kind": "interleaved", "N_MB": 9}, {"N_MB": 8}, 12),
        ({"kind": "interleaved", "N_MB": 11}, {"N_MB": 12}, 8),
        ({"kind": "interleaved", "N_MB": 3}, {"N_MB": 4}, 4),
        ({"kind": "dualpipe", "N_MB": 5}, {"N_MB": 5}, 8),
        ({"kind": "gpipe", "N_MB": 5}, {"N_MB": 4}, 5),
    ],
)
def test_microbatches_that_a_schedule_cannot_run_give_way(engine, given, was, runs):
    start = json.loads(figure().spec)["start"]
    call = f"gpuscale.figures.pipeline.fit({json.dumps(start | given)}, {json.dumps(start | was)}).N_MB"
    assert engine.eval(call) == runs


def test_a_pulled_block_ends_under_the_hand(engine):
    """The last block of rank 1 is pulled to the place where it ends at a pace of 1.8."""
    script = """(spec) => {
      const figure = gpuscale.figures.pipeline, pace = spec.start.pace.with(1, 1.8), state = { ...spec.start, pace };
      const at = (p, more) => Object.assign(gpuscale.seen(spec, p), { width: 640 }, more);
      const now = at(spec.start), wide = { held: 'pace.1', across: 2 * now.solved.total }, then = at(state, wide);
      const there = figure.handles(then, 0).find((h) => h.id === 'pace.1').x;
      return figure.pull(Object.assign(now, wide), 'pace.1', there, 0);
    }"""
    assert engine.eval(f"({script})({figure().spec})") == pytest.approx(1.8, abs=1e-3)


def test_it_opens_on_its_tab_and_keeps_every_slot():
    made = figure()
    assert made.values["kind"] == "one_f_one_b" and made.values["N_MB"] == 8 and made.values["pace"] == [1] * 8
    assert "1F1B: 33 time units, idle 27.3%" in repr(made) and "rank 3: –@0 F0@3 B0@4 F1@6" in repr(made)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"opens": "Chimera"}, "opens: expected one of GPipe, 1F1B"),
        ({"ranks": 3}, "ranks: expected an even number from 2 to 8; got 3"),
        ({"microbatches": 17}, "microbatches: expected a whole number from 1 to 16; got 17"),
        ({"pace": {4: 2}}, "pace: expected ranks 0 to 3; got 4"),
        ({"pace": {0: 9}}, "pace: expected a value from 1 to 3; got 9"),
        ({"backward": 5}, "backward: expected a value from 1 to 4; got 5"),
        ({"opens": "DualPipe", "microbatches": 7}, "expected even numbers"),
        ({"tabs": {"DualPipeV": Scheduled(v_schedule, TABS["DualPipe"].bubble)}}, "expected schedules gpipe"),
        ({"tabs": {"GPipe": Scheduled(gpipe, ring_all_gather)}}, "expected a bubble of stages, microbatches"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
