"""The planner of the page in a JavaScript engine, against the planner of the library."""

import json
import random
import re

import numpy as np
import pytest
from py_mini_racer import MiniRacer
from specs.test_hugging_face import CONFIGS, REFUSED, WINDOWS
from support.planner_states import asked, given, states

from gpuscale import specs
from gpuscale.book.served import tight_script
from gpuscale.plan import Refusal, evaluate_choice, evaluation, layouts, page, plan, scripts
from gpuscale.plan.choice import MESH, OPTIONS, PINS, Choice
from gpuscale.plan.columns import NAMES, SOUGHT
from gpuscale.plan.layouts import Rows
from gpuscale.plan.page import of_model
from gpuscale.plan.search import solve
from gpuscale.plan.stages import stage_layers, stage_memory
from gpuscale.schedules.pipelines.orders import interleaved, one_f_one_b
from gpuscale.units import show
from gpuscale.widgets import assets, planner_stage

PLANS, STATES, SEARCHES, RUNNERS = 10_000, 200, 24, 30
START = dict(model="llama3_70b", cluster="h100_superpod", gpus=1024, batch=2**23, seq=8192, zero="1", recompute="1")
START |= {"recipe": "bf16_fp32_grads"}
RUN = 15 * 10**12
OPEN = """(spec) => {
  globalThis.numbers = (p) => {
    const view = gpuscale.seen(spec, p);
    const { planner } = gpuscale.figures, copied = ['json', 'csv'].map((what) => planner.copied(view, what));
    return JSON.stringify({ ...planner.numbers(view), call: planner.call(view), copied });
  };
  globalThis.bars = (p) => {
    const view = Object.assign(gpuscale.seen(spec, p), { width: 690 });
    const drawn = gpuscale.figures.planner.draw(view).flat(Infinity);
    const found = drawn.filter((s) => s?.act?.includes(':') && s.group !== 'stages');
    const high = (act) => drawn.find((s) => s?.key === `bar-${act.replace(':', '')}`).height;
    return JSON.stringify(found.map(({ act, label }) => [...act.split(':'), label, high(act)]));
  };
  globalThis.spec = spec;
  globalThis.gaps = (p, width) => {
    const view = Object.assign(gpuscale.seen(spec, p), { width });
    const drawn = gpuscale.figures.planner.draw(view).flat(Infinity);
    const said = drawn.filter((s) => /^d[0-9]$/.test(s?.key)).map((s) => s.words);
    return JSON.stringify([gpuscale.figures.planner.runners(view), said]);
  };
  const { call, data } = gpuscale.seen(spec);
  globalThis.data = data;
  globalThis.listed = (p) => {
    const found = [];
    const [why] = gpuscale.planning.laidOut(gpuscale.planning.asked(p, data.models[p.model], call, data), p.tp, p.pp,
      (k) => found.push([k.X, k.Y, k.n_cp, k.Z, k.N_stages, k.n_virt, k.n_seq]));
    return JSON.stringify({ found, why });
  };
  return null;
}"""


def figure(**more):
    """The planner with the models of the tests."""
    told = dict(name="planner", title="A planner", caption="<b>A planner.</b>", config="{}", start=START)
    return planner_stage(given(), page.FORMULAS, **told | more)


def said(of, state) -> str:
    """The sentence of a plan."""
    room, unlike = show(of.room, "B"), "No run of the calibration was like this plan, so the band is an estimate."
    if not of.fits:
        return f"{of.choice}: It needs {show(of.memory, 'B')}, but a GPU has only {room} for a plan."
    words = f"{of.choice}: a step is expected to take {show(of.step[2], 's')}, at an MFU of "
    words += f"{show(of.mfu[2], '%', digits=2)}. The bottleneck is {of.binds}."
    steps = state["run"] / state["batch"]
    words += f" A run of {state['run'] // 10**12} T tokens takes {show(steps * of.step[2] / 86400, '1')} days."
    return f"{words} {unlike if of.unlike else ''}".strip()


@pytest.fixture(scope="module")
def engine():
    """The scripts of the page, with the figure's data."""
    with MiniRacer() as made:
        for name in ("gpuscale", "stage", "planner"):
            made.eval(f"{tight_script(assets.script(name))}; null")
        made.eval(f"({OPEN})({figure().spec})")
        yield made


@pytest.fixture(scope="module")
def numbers(engine):
    """All numbers that the page shows in a state."""
    return lambda state: json.loads(engine.eval(f"numbers({json.dumps(state)})"))


def read(engine, text: str) -> dict:
    """What the page takes from a configuration."""
    return json.loads(engine.eval(f"JSON.stringify(gpuscale.planning.readModel({json.dumps(text)}, data))"))


def plans(many: int, seed: int = 7):
    """Requests with rows of choices of all kinds, possible ones or not."""
    dice = np.random.default_rng(seed)
    for state in states(many // 250, seed):
        ask = asked(state)
        rows = Rows({name: 2 ** dice.integers(0, 6, 250) for name in MESH})
        rows["Z"] = np.minimum(rows["Z"], evaluation.model_inputs(ask)["E"] & -evaluation.model_inputs(ask)["E"])
        rows |= {name: dice.integers(0, most, 250) for name, most in zip(OPTIONS, (4, 2, 4, 2), strict=True)}
        rows["n_virt"] = dice.choice(layouts.STAGE_CUTS, 250)
        yield ask, Rows(rows)


def test_printed_programs_give_what_numpy_computes(engine):
    seen = 0
    for ask, rows in plans(PLANS):
        latent = "kv_rank" in ask.model
        known = evaluation.known(ask, rows)
        fixed = {name: float(value) for name, value in known.items() if name not in scripts.ROW}
        table = np.stack([np.broadcast_to(known[name], len(rows)) for name in scripts.ROW], axis=1).tolist()
        code = f"const f = ({scripts.program(latent)})({json.dumps(fixed)}), rows = {json.dumps(table)};"
        code += "JSON.stringify([rows.map((r) => f(...r, true).map(String)), rows.map((r) => f(...r, false))])"
        every, few = json.loads(engine.eval(f"(() => {{ {code.replace('JSON', 'return JSON')} }})()"))
        wanted = evaluation.table(ask, rows).record()
        for place, name in enumerate(NAMES):
            page = np.array([float(row[place].replace("Infinity", "inf")) for row in every])
            np.testing.assert_allclose(page, wanted[name], rtol=1e-11, err_msg=f"{name}: {ask}")
        np.testing.assert_allclose(few, np.stack([wanted[name] for name in SOUGHT], axis=1), rtol=1e-11)
        seen += len(rows)
    assert seen >= PLANS


def test_the_page_lists_the_same_layouts(engine):
    listed = 0
    for state in states(STATES, seed=2):
        if state["gpus"] % (state["tp"] * state["pp"]):
            continue
        page = json.loads(engine.eval(f"listed({json.dumps(state)})"))
        ask = asked(state, tp=state["tp"], pp=state["pp"])
        rows, _ = layouts.layouts(evaluation.model_inputs(ask), ask)
        assert page["found"] == np.stack([rows[name] for name in MESH], axis=1).tolist(), state
        listed += len(rows)
        if not len(rows):
            with pytest.raises(Refusal) as refused:
                solve(ask)
            assert page["why"], (state, refused)
    assert listed > 1000


def test_the_page_finds_the_winner_of_each_cell(numbers):
    won = 0
    for state in states(SEARCHES, seed=3, most=2**9):
        page = numbers(state)
        for cell in page["cells"][:: max(1, len(page["cells"]) // 5)]:
            try:
                found = solve(asked(state, tp=cell["tp"], pp=cell["pp"]), 1)
            except Refusal:
                assert cell["best"] is None and (cell["why"] or cell["tp"] * cell["pp"] > state["gpus"]), (state, cell)
                continue
            if not found.rows:
                assert cell["best"] is None and cell["least"] > found.ask.room, (state, cell)
                continue
            row = found.rows[0].choice.columns()
            assert cell["best"]["row"] == [row[name] for name in (*MESH, *OPTIONS)], (state, cell)
            assert cell["best"]["step"] == pytest.approx(found.rows[0].step[2], rel=1e-11)
            won += 1
    assert won > 40


def test_every_number_of_a_state_is_the_library_s(numbers):
    opened = split = 0
    for state in states(STATES, seed=4, most=2**8):
        page = numbers(state)
        if not (out := page.get("out")):
            continue
        ask = asked(state)
        of = evaluate_choice(ask, Choice.of(dict(zip((*MESH, *OPTIONS), out["row"], strict=True))))
        assert out["c"] == pytest.approx(of.costs.record(), rel=1e-10, abs=1e-15), state
        assert [out["low"], out["high"]] == pytest.approx(list(of.band), rel=1e-10)
        assert out["fits"] == of.fits and out["apart"] == bool(of.unlike) and out["tie"] == pytest.approx(of.closest)
        assert {name: spent / of.step[2] for name, spent in out["spent"].items()} == pytest.approx(of.losses, abs=1e-9)
        assert sum(page["out"]["parts"].values()) == pytest.approx(of.step[2], rel=1e-9)
        assert re.sub("<.*?>", "", page["sentence"]).strip() == said(of, state), state
        if out["degrees"]["pp"] > 1:
            choice = of.choice
            assert [one["layers"] for one in page["stages"]] == stage_layers(ask, choice).tolist(), state
            assert [one["memory"] for one in page["stages"]] == pytest.approx(stage_memory(ask, choice), rel=1e-10)
            split += 1
        for runner in page["runners"] if opened < RUNNERS else ():
            other = evaluate_choice(ask, Choice.of(dict(zip((*MESH, *OPTIONS), runner["row"], strict=True))))
            assert runner["ratio"] == pytest.approx(other.step[2] / of.step[2], rel=1e-10)
            assert runner["tie"] == (of.fits and other.ties_with(of)), state
        opened += 1
    assert opened > STATES / 2 and split > STATES / 4


PLAYED = """(all) => JSON.stringify(all.map((one) => gpuscale.planning.timetable(...one)))"""


def test_stages_work_as_the_library_s_pipelines_do(engine):
    dice, many = random.Random(8), []
    while len(many) < 200:
        ranks, virtual = dice.randint(1, 9), dice.choice([1, 1, 2, 3, 5])
        groups = dice.randint(1, 4)
        many.append((ranks, groups * ranks if virtual > 1 else dice.randint(1, 24), virtual, dice.choice([2, 3])))
    played = json.loads(engine.eval(f"({PLAYED})({json.dumps(many)})"))
    for (ranks, count, virtual, back), found in zip(many, played, strict=True):
        run = interleaved(ranks, count, virtual, t_B=back) if virtual > 1 else one_f_one_b(ranks, count, t_B=back)
        for rank, row in enumerate(found["rows"]):
            assert row == [[slot.start, slot.end, slot.kind == "B"] for slot in run.of(rank)], (ranks, count, virtual)
        assert found["total"] == run.makespan


LANES = """(state, width) => {
  const view = Object.assign(gpuscale.seen(spec, state), { width }), { planner } = gpuscale.figures;
  const drawn = planner.draw(view).flat(Infinity), lane = (rest) => rest.filter((s) => s?.tag === 'rect')
    .reduce((sum, s) => sum + s.width, 0), { out, stages, played } = view.solved;
  const all = planner.lanes(view, planner.places(view)), wait = all.filter((s) => s.class === 'bubble');
  const ticks = all.filter((s) => /^tick[1-9]/.test(s.key));
  return JSON.stringify({ wait: lane(wait), out, total: played.total, rows: !!played.rows,
    end: all.find((s) => s.key === 'end').d.match(/[\\d.]+/)[0] - planner.places(view).lanes.x,
    opened: drawn.filter((s) => s?.group === 'stages').map((s) => [s.act, s.label, s.pressed]), stages });
}"""


def test_the_lanes_open_the_stage_that_is_chosen(engine, numbers):
    """What waits in a lane is the bubble of the plan; every stage can be opened, and says its layers and its memory."""
    waited = crowded = 0
    crowd = {"model": "qwen3_32b", "batch": 2**27, "tp": 2, "pp": 16, "gpus": 64, "cluster": "h100_superpod"}
    for state in [*states(40, seed=9, most=2**8), START | crowd | {"config": "", "run": RUN}]:
        if not numbers(state).get("out"):
            continue
        state |= {"stage": random.Random(state["gpus"]).randrange(64)}
        shown = json.loads(engine.eval(f"({LANES})({json.dumps(state)}, 1700)"))
        out, pp = shown["out"], shown["out"]["degrees"]["pp"]
        scale = shown["end"] / out["step"]
        assert shown["wait"] == pytest.approx(out["c"]["bubble_expected"] * scale, abs=0.2 * (1 + out["row"][5] * pp))
        chosen = min(state["stage"], pp - 1) if shown["rows"] else -1
        assert [pressed for *_, pressed in shown["opened"]] == [i == chosen for i in range(pp)][: pp * (pp > 1)]
        for i, (act, label, _) in enumerate(shown["opened"]):
            one = shown["stages"][i]
            assert act == (f"stage:{i}" if shown["rows"] else None)
            assert label == f"Stage {i}: {one['layers']} layers, {show(one['memory'], 'B')} per GPU"
        waited += pp > 1
        crowded += not shown["rows"]
    assert waited > 10 > crowded > 0


def test_a_layout_is_longer_or_shorter_or_a_tie(engine):
    kinds = set()
    for tp, pp in ((2, 8), (4, 4), (8, 8), (16, 32)):
        state = START | {"tp": tp, "pp": pp, "config": "", "stage": 0, "run": RUN}
        for width, tied in ((690, "{}, within the error: a tie"), (340, "{}: a tie")):
            runners, shown = json.loads(engine.eval(f"gaps({json.dumps(state)}, {width})"))
            for runner, words in zip(runners, shown, strict=True):
                way = "shorter" if runner["ratio"] < 1 else "longer"
                gap = f"{show(abs(runner['ratio'] - 1), '%', digits=2)} {way}"
                assert words == (tied.format(gap) if runner["tie"] else gap), (state, runner)
                kinds.add((way, runner["tie"]))
    assert len(kinds) > 2, kinds


def test_the_bars_are_the_best_plans_of_other_requests(engine):
    """A bar for each number of GPUs and each batch is as high as the MFU that plan() gives, and names what binds."""
    heights = []
    seen = START | {"model": "qwen3_32b", "gpus": 64, "batch": 2**20, "tp": 0, "pp": 0, "stage": 0, "run": RUN}
    for kind, stop, label, high in json.loads(engine.eval(f"bars({json.dumps(seen)})")):
        state = seen | {kind: int(stop)}
        assert label.startswith(f"{int(stop):,} "), label
        try:
            found = solve(asked(state), 1).rows
        except Refusal:
            found = []
        if not found:
            assert label.endswith("no layout fits."), (state, label)
            continue
        (of,) = found
        assert f"MFU {show(of.mfu[2], '%', digits=2)}." in label, (state, label)
        named = re.search(r"The bottleneck is (.*)\.", label)[1]
        assert of.binds.startswith({"hops": "transfers between stages"}.get(named, named)), (state, label, of.binds)
        heights.append(high / of.mfu[2])
    assert len(heights) > 12 and heights == pytest.approx([heights[0]] * len(heights))


def test_what_is_copied_is_the_plan(numbers):
    """As Python it is the same plan, as JSON and CSV all plans of the map with their columns."""
    copied = 0
    for state in states(30, seed=5, most=2**8):
        page = numbers(state)
        found, table = json.loads(page["copied"][0]), page["copied"][1].splitlines()
        planned = [cell for cell in page["cells"] if cell["best"]]
        assert [row["step_expected"] for row in found["rows"]] == [cell["best"]["step"] for cell in planned]
        assert len(found["refused"]) == len(page["cells"]) - len(planned) and len(table) == len(planned) + bool(planned)
        if planned:
            heads = table[0].split(",")
            assert heads == list(found["rows"][0]) and heads[: len(PINS)] == list(PINS) and set(NAMES) < set(heads)
        if page.get("out") and page["out"]["fits"] and copied < 12:
            assert eval(page["call"], {"plan": plan}).best.step[2] == pytest.approx(page["out"]["step"], rel=1e-9), (
                state
            )
            copied += 1
    assert copied == 12


def test_a_start_that_is_not_given_is_refused():
    with pytest.raises(ValueError, match="planner: cluster 'cloud': expected one of h100_superpod"):
        figure(start=START | {"cluster": "cloud"})


FILES = {name: config for name, (config, _) in CONFIGS.items()} | {k: config for k, (config, _) in WINDOWS.items()}


@pytest.mark.parametrize("name", FILES)
def test_a_configuration_gives_the_library_s_model(engine, tmp_path, name):
    (tmp_path / "config.json").write_text(json.dumps(FILES[name]))
    page, ours = read(engine, json.dumps(FILES[name])), of_model(specs.model(tmp_path))
    assert "wrong" not in page, page["wrong"]
    assert page["x"] == ours["x"]
    assert {key: page[key] for key in ("window", "latent", "nodes", "experts")} == {
        key: ours[key] for key in ("window", "latent", "nodes", "experts")
    }


@pytest.mark.parametrize(("config", "said"), REFUSED.values(), ids=REFUSED)
def test_the_page_refuses_what_the_library_refuses(engine, config, said):
    page = json.loads(
        engine.eval(f"JSON.stringify(gpuscale.planning.readModel({json.dumps(json.dumps(config))}, data))")
    )
    field = re.search("field '(.*?)'|(unknown fields .*?);|(1%)", said)
    named = next((part for part in (field.groups() if field else ()) if part), "")
    assert named.removeprefix("unknown fields ") in page["wrong"]


def test_the_page_means_the_names_that_the_library_means(engine, tmp_path):
    """Names with letters changed, left out or doubled, in files of every kind of model."""
    dice, meant, path = random.Random(3), 0, tmp_path / "config.json"
    for _ in range(150):
        config = dice.choice([FILES[name] for name in sorted(FILES)])
        name = list(dice.choice(list(config)))
        for _ in range(dice.randrange(1, 5)):
            place = dice.randrange(len(name))
            name[place : place + dice.randrange(2)] = dice.choice(["", "x", "e", "_", name[place] * 2])
        typed = config | {"".join(name): 1}
        if typed.keys() == config.keys():
            continue
        path.write_text(json.dumps(typed))
        try:
            specs.model(path)
        except specs.SpecError as error:
            ours = re.search("unknown field (.*?);", str(error))
            if ours:
                assert f"Unknown fields: {ours[1]}." in read(engine, json.dumps(typed))["wrong"]
                meant += "did you mean" in ours[1]
    assert 50 < meant < 140


@pytest.mark.parametrize(
    "twice",
    [
        '"vocab_size": 9, "vocab_size": 9',
        r'"vocab_size": 9, "vocab\u005fsize" : 9',
        '"a": [{"vocab_size": 1, "vocab_size": 2}]',
    ],
)
def test_the_page_refuses_a_field_that_is_there_twice(engine, tmp_path, twice):
    (tmp_path / "config.json").write_text(f"{{{twice}}}")
    with pytest.raises(specs.SpecError, match="field vocab_size is there twice"):
        specs.model(tmp_path)
    assert read(engine, f"{{{twice}}}")["wrong"] == "config.json is not JSON (field vocab_size is there twice)."


@pytest.mark.parametrize(
    "once", [r'"a": {"b": 1}, "b": [{"b": 1}, {"b": "\", \"b\": {"}]', '"rope_scaling": {"a": "a"}']
)
def test_a_field_may_be_in_several_objects(engine, once):
    assert "twice" not in read(engine, f'{{"model_type": "llama", {once}}}')["wrong"]


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null"])
def test_what_is_no_configuration_gets_a_message(engine, text):
    assert (
        "config.json"
        in json.loads(engine.eval(f"JSON.stringify(gpuscale.planning.readModel({json.dumps(text)}, data))"))["wrong"]
    )
