"""The memory of the page in a JavaScript engine, against the planner and the timeline; and what its maker refuses."""

import json
import random

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from gpuscale.book.served import tight_script
from gpuscale.plan import evaluation, gpu_bytes, memory_page, plan
from gpuscale.plan.choice import RECOMPUTE
from gpuscale.plan.memory_parts import dims, values
from gpuscale.plan.requests import request
from gpuscale.schedules.timelines.stored import stored
from gpuscale.specs import chip
from gpuscale.units import show
from gpuscale.widgets import assets, bytes_stage

MANY = 210
MODELS = {"8B": "llama3_8b", "70B": "llama3_70b", "405B": "llama3_405b"}
RECIPE = "zero_mixed"
NUMBERS = """(spec, state) => {
  const view = Object.assign(gpuscale.seen(spec, state), { width: state.width }), figure = gpuscale.figures.bytes;
  const t = state.at * view.solved.total, shapes = figure.draw(view, t).flat(Infinity).filter(Boolean);
  return JSON.stringify({ ...figure.numbers(view, t), t, call: figure.call(view), sentence: figure.sentence(view),
    settles: figure.shows(view) * view.solved.total, many: shapes.length, last: view.solved.last,
    words: shapes.filter((s) => s.tag === 'text').map((s) => s.words), same: view.p,
    pulled: figure.handles(view).map((h) => figure.pull(view, h.id, h.x, h.y)) });
}"""


def figure(**options):
    page = memory_page(MODELS, gpu=chip("h100_sxm"), recipe=RECIPE, **options)
    return bytes_stage(page, name="bytes", title="Bytes", caption="<b>Bytes.</b>")


@pytest.fixture(scope="module")
def page():
    """All that the page shows in a state."""
    spec = figure().spec
    with MiniRacer() as engine:
        for name in ("gpuscale", "stage", "bytes"):
            engine.eval(f"{tight_script(assets.script(name))}; null")
        engine.eval(f"const spec = {spec}, numbers = {NUMBERS}; null")
        yield lambda state: json.loads(engine.eval(f"numbers(spec, {json.dumps(state)})"))


def states(many: int, seed: int = 5, **fixed) -> list[dict]:
    dice = random.Random(seed)
    return [
        {
            "model": dice.choice(list(MODELS.values())),
            "zero": dice.randint(0, 3),
            "recompute": dice.randint(0, 2),
            "dp": 2 ** dice.randint(0, 6),
            "tp": 2 ** dice.randint(0, 3),
            "pp": 2 ** dice.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4)),
            "cp": 2 ** dice.choice((0, 0, 1, 2, 4)),
            "S": 2 ** dice.randint(12, 17),
            "host_optimizer": dice.choice((0, 0, 1)),
            "host_activations": dice.choice((0, 0, 1)),
            "at": round(dice.random(), 3),
            "width": dice.choice((320, 640)),
            **fixed,
        }
        for _ in range(many)
    ]


def costs(s: dict, columns=("weights", "gradients", "optimizer", "activations", "working", "memory")) -> list[float]:
    """What the planner says of a layout, whether it fits or not: one sequence per microbatch, as many as stages."""
    gpus = s["dp"] * s["tp"] * s["pp"] * s["cp"]
    place = dict(per_node=min(8, gpus)) if gpus < 8 else {}
    ask = request(s["model"], "h100_superpod", max(gpus, 8), s["S"] * s["dp"] * s["pp"], s["S"], recipe=RECIPE, **place)
    rows = {name: np.array([1.0]) for name in (*evaluation.MESH, *evaluation.OPTIONS)}
    rows |= {"X": [s["dp"]], "Y": [s["tp"]], "N_stages": [s["pp"]], "n_cp": [s["cp"]], "n_zero": [s["zero"]]}
    rows |= {"n_recompute": [s["recompute"]], "n_sp": [1], "n_virt": [1], "n_seq": [1], "n_even": [0], "Z": [1]}
    found = evaluation.table(ask, Rows(rows))
    return [float(getattr(found, name)[0]) for name in columns]


class Rows(dict):
    """Choices as columns, as the planner's table takes them."""

    def __init__(self, columns):
        super().__init__({name: np.asarray(column, float) for name, column in columns.items()})

    def __len__(self):
        return 1


def test_the_peak_is_the_planners_memory(page):
    for s in states(MANY, host_optimizer=0, host_activations=0):
        shown = page(s)
        weights, gradients, optimizer, activations, working, memory = costs(s)
        assert shown["top"] == pytest.approx(memory, rel=1e-12), s
        third = optimizer / 3  # of 12 bytes per parameter, master copy, momentum and variance have 4 each
        assert list(shown["state"].values()) == pytest.approx([weights, gradients, third, third, third], rel=1e-12), s
        peak = shown["peak"]
        assert sum(peak.values()) == pytest.approx(memory, rel=1e-9), s
        assert peak["activations"] + peak["logits"] == pytest.approx(activations, rel=1e-9), s
        assert peak["recomputed"] + peak["buffers"] == pytest.approx(working, rel=1e-9, abs=1), s
        assert shown["settles"] <= shown["total"], s


@pytest.mark.parametrize(
    ("model", "gpus", "choice"),
    [
        ("llama3_8b", 8, dict(dp=8, tp=1, pp=1, cp=1, zero=3, recompute="full")),
        ("llama3_8b", 16, dict(dp=2, tp=2, pp=4, cp=1, zero=1, recompute="selective")),
        ("llama3_70b", 64, dict(dp=8, tp=8, pp=1, cp=1, zero=2, recompute="selective")),
        ("llama3_405b", 1024, dict(dp=8, tp=8, pp=16, cp=1, zero=3, recompute="full")),
    ],
)
def test_it_is_that_of_a_plan(model, gpus, choice):
    batch = 8192 * choice["dp"] * choice["pp"]
    fixed = dict(virtual=1, micro=1, sp=int(choice["tp"] > 1), ep=1, even=0, reserve=0, recipe=RECIPE)
    found = plan(model, "h100_superpod", gpus, batch, **fixed, **choice)
    assert gpu_bytes(model, recipe=RECIPE, **choice).memory == pytest.approx(found.best.memory, rel=1e-12)


def test_page_and_library_agree_in_every_state(page):
    h100 = chip("h100_sxm")
    rates = {"C": h100.bf16, "W_hbm": h100.hbm_bw, "W_host": h100.pcie_bw}
    sizes = {"b_w": 2, "b_grad": 2, "b_master": 4, "b_mom": 4, "b": 2, "b_kept": 2}
    for s in states(MANY):
        shown, away = page(s), s["host_activations"]
        layout = {"X": s["dp"], "Y": s["tp"], "N_stages": s["pp"], "n_cp": s["cp"], "n_zero": s["zero"]}
        layout |= {"S": s["S"], "n_recompute": s["recompute"], "L_keep": 2 if away else float("inf")}
        v = values(**dims(s["model"]), **layout, **sizes, **rates)
        assert shown["c"] == pytest.approx(v, rel=1e-12), s
        found = eval(shown["call"].removesuffix(".memory"), {"gpu_bytes": gpu_bytes})
        assert shown["top"] == pytest.approx(found.memory, rel=1e-9), s
        assert sum(shown["host"].values()) == pytest.approx(found.host, rel=1e-12), s
        # the timeline
        last, stretch = shown["last"], v["offload"] if away else 0
        assert last == (v["last"] + v["logits"] >= v["first"]), s
        t_F, t_B = max(v["forward"], stretch), max(v["backward"], stretch)
        update = v["host_update"] if s["host_optimizer"] else v["update"]
        run = stored(
            s["pp"], s["pp"] - 1 if last else 0, t_F, t_B, update, v["layer"] * v["layers"],
            most=v["last"] if away else float("inf"), logits=v["logits"] if last else 0, forward=v["gathered"],
            backward=v["gathered"] + v["bucket"], again=v["again"], layers=int(v["layers"]),
        )  # fmt: skip
        assert len(shown["points"]) == len(run), s
        for at, moment in zip(shown["points"], run, strict=True):
            assert at["t"] == pytest.approx(moment.time, rel=1e-9, abs=1e-12), s
            there = [at[k] for k in ("activations", "logits", "buffers", "recomputed")]
            assert there == pytest.approx(list(moment[1:]), rel=1e-9, abs=1e-6 * shown["top"]), s
        assert shown["total"] == pytest.approx(run[-1].time, rel=1e-9), s
        state = sum(shown["state"].values())
        t, times = shown["t"], np.array([m.time for m in run])
        if np.abs(times - t).min() > 1e-6 * times[-1]:  # no jump here
            now = state + sum(np.interp(t, times, [m[i] for m in run]) for i in range(1, 5))
            assert shown["sum"] == pytest.approx(now, rel=1e-9), s
        # activations of a layer by what they belong to, of 2 bytes per element
        sizes_of, per = dims(s["model"]), 2 * s["S"] / s["cp"] / s["tp"]
        heads = sizes_of["d_head"] * (sizes_of["n_q"] + sizes_of["n_kv"])
        elements = [
            (3 * sizes_of["F"], 2 * heads, 4 * sizes_of["D"]),
            (2 * sizes_of["F"], heads + sizes_of["d_head"] * sizes_of["n_kv"], 2 * sizes_of["D"]),
            (0, 0, sizes_of["D"]),
        ][s["recompute"]]
        of_layer = [per * n for n in elements]
        kept, share = list(shown["kept"].values()), sum(of_layer)
        assert share == pytest.approx(v["layer"], rel=1e-12), s
        assert kept == pytest.approx([sum(kept) * n / share for n in of_layer], rel=1e-9, abs=1), s
        # what all replicas store, and what is stored but once
        whole = gpu_bytes(s["model"], seq=s["S"], tp=s["tp"], pp=s["pp"], recipe=RECIPE)
        assert shown["least"] == pytest.approx(sum(whole[:3]), rel=1e-12), s
        replica = {"dp": s["dp"] * s["cp"], "tp": s["tp"], "pp": s["pp"], "zero": s["zero"]}
        one = gpu_bytes(s["model"], seq=s["S"], recipe=RECIPE, **replica)
        assert shown["held"] == pytest.approx(sum(one[:3]) * replica["dp"], rel=1e-12), s
        assert shown["same"] == s and shown["pulled"] == [s[k] for k in ("dp", "tp", "pp", "cp")], s
        assert show(shown["sum"], "B") in shown["words"] and show(shown["top"], "B") in shown["sentence"], s
        assert shown["many"] < 600, s


def test_the_change_that_saves_most_saves_that(page):
    for s in states(60, host_optimizer=0, host_activations=0):
        now, moves = costs(s)[-1], [s | {"recompute": 2}]
        if s["zero"] < 3 and s["dp"] * s["cp"] > 1:
            moves.append(s | {"zero": s["zero"] + 1})
        most = max(now - costs(to)[-1] for to in moves)
        if most > 0.0101 * now:
            assert page(s)["saved"] == pytest.approx(most, rel=1e-9), s


def test_it_opens_at_the_peak(page):
    made = figure()
    spec = json.loads(made.spec)
    shown = page(made.values | {"at": spec["at"], "width": 640})
    assert shown["settles"] / shown["total"] == pytest.approx(spec["at"], rel=1e-12)
    assert shown["sum"] == shown["top"] and made.values["dp"] == 8
    assert show(shown["top"], "B") in repr(made) and RECOMPUTE[0] in shown["call"]


@pytest.mark.parametrize("model", ["mixtral_8x7b", "gpt3_175b", "deepseek_v3"])
def test_a_model_that_it_cannot_draw_is_refused(model):
    with pytest.raises(ValueError, match="expected a dense model"):
        memory_page({"x": model}, gpu=chip("h100_sxm"), recipe=RECIPE)


@pytest.mark.parametrize("dp", [12, 128])
def test_replicas_that_it_cannot_draw_are_refused(dp):
    with pytest.raises(ValueError, match="dp: expected a power of two"):
        figure(dp=dp)


def test_what_gpu_bytes_does_not_know_is_refused():
    with pytest.raises(ValueError, match="recompute: expected none, selective"):
        gpu_bytes("llama3_8b", recompute="some")
    with pytest.raises(ValueError, match="offload: expected optimizer, activations; got weights"):
        gpu_bytes("llama3_8b", offload=["weights"])
