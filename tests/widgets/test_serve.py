"""The page's planner of serving in a JavaScript engine, against the planner of the library."""

import json
import random
import re

import numpy as np
import pytest

from gpuscale.book.frames import engine
from gpuscale.plan import Refusal
from gpuscale.serve import request, serve
from gpuscale.serve.engines import engine_of
from gpuscale.serve.evaluation import evaluate_layouts, model_numbers
from gpuscale.serve.layouts import layouts
from gpuscale.serve.page import FORMULAS, NODES, page_data
from gpuscale.serve.search import colocated
from gpuscale.serve.text import rate
from gpuscale.units import show
from gpuscale.widgets import serve_stage
from gpuscale.widgets.serve import TPOT, TTFT

STATES = 80
MODELS = ("llama3_8b", "llama3_70b", "qwen3_32b", "deepseek_v3", "gpt_oss_120b", "mixtral_8x7b")
GPUS = ("h100_sxm", "h200_sxm", "b200_sxm", "gb200", "a100_sxm")
START = dict(model="llama3_70b", gpu="h100_sxm", gpus=8, input=2000, output=500, ttft=1, tpot=0.05)
START |= {"weights": "fp8", "cache": "fp8"}
BINDS = {
    "memory for the KV cache": "memory",
    "time per output token": "tpot",
    "time to first token": "ttft",
    "arithmetic": "compute",
}
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const serve = gpuscale.figures.serve, view = Object.assign(gpuscale.seen(spec, p), { width: p.width });
  view.height = serve.height(view);
  const shapes = serve.draw(view, 0).flat(9).filter(Boolean);
  const words = Object.fromEntries(shapes.filter((s) => s.words).map((s) => [s.key, s.words]));
  const told = Object.fromEntries(view.solved.cells.map((c) => [`${c.tp}x${c.row}`, serve.hover(view, { dataset: { told: `${c.tp}x${c.row}` } })]));
  return { ...serve.numbers(view), call: serve.call(view), words, told };
}))"""  # noqa: E501


def figure(**more):
    told = dict(name="serve", title="A planner", caption="<b>A planner.</b>", start=START)
    return serve_stage(page_data(MODELS, GPUS), FORMULAS, **told | more)


def states(many: int) -> list[dict]:
    dice = random.Random(5)
    limit = lambda lo, hi: float(f"{lo * (hi / lo) ** dice.random():.2g}")  # noqa: E731
    out = []
    for _ in range(many):
        model = dice.choice(MODELS)
        state = {
            "model": model,
            "gpu": dice.choice(GPUS),
            "gpus": 2 ** dice.randrange(7),
            "input": round(2 ** dice.uniform(4, 14)),
            "output": round(2 ** dice.uniform(4, 12)),
            "weights": dice.choice(["bf16", "fp8", "nvfp4"]),
            "cache": dice.choice(["bf16", "fp8"]),
            "ttft": dice.choice([TTFT[1], limit(0.03, 10)]),
            "tpot": dice.choice([TPOT[1], limit(0.005, 0.5), limit(0.02, 0.2)]),
            "down": dice.choice(["pp", "dpa"]) if model in ("deepseek_v3", "gpt_oss_120b", "mixtral_8x7b") else "pp",
            "tp": dice.choice([0, 2 ** dice.randrange(4)]),
            "row": 2 ** dice.randrange(3),
            "width": dice.choice([280, 340, 650]),
        }
        out.append(state)
    return out


def asked(state):
    limits = {name: state[name] for name, (_, top) in (("ttft", TTFT), ("tpot", TPOT)) if state[name] < top}
    formats = {name: state[name] for name in ("weights", "cache")}
    place = {"per_node": NODES.get(state["gpu"]), "mode": "colocated"}
    given = tuple(state[name] for name in ("model", "gpu", "gpus", "input", "output"))
    return given, limits | formats | place


class Worked:
    """A state by the planner of the library: its Grid, and the best deployment of every cell."""

    def __init__(self, state):
        given, more = asked(state)
        self.ask = request(*given, **more)
        formats = state["weights"], state["cache"]
        rows, _ = layouts(self.ask, model_numbers(self.ask, "bf16", "bf16"))
        self.grid = evaluate_layouts(self.ask, rows, *formats, engine_of(self.ask.model))
        self.down = {"pp": "N_stages", "dpa": "n_dpa"}[state["down"]]
        self.cells = {}
        for one in colocated(self.ask, self.grid, formats):
            key = one.decode.tp, {"pp": one.decode.pp, "dpa": one.decode.dpa}[state["down"]]
            was = self.cells.get(key)
            if not was or one.throughput[1] > was.throughput[1]:
                self.cells[key] = one
        self.best = max(self.cells.values(), key=lambda one: one.throughput[1], default=None)

    def of(self, key):
        """The mask of the layouts of a cell."""
        return (self.grid.rows["Y"] == key[0]) & (self.grid.rows[self.down] == key[1])


@pytest.fixture(scope="module")
def shown():
    many = states(STATES)
    page = json.loads(engine("serve").eval(f"({SHOWN})({figure().spec}, {json.dumps(many)})"))
    return list(zip(many, page, map(Worked, many), strict=True))


def plain(text) -> str:
    return re.sub(r"<.*?>", "", str(text)).replace("\u00a0", " ")


def test_every_cell_has_the_deployment_of_the_library(shown):
    plans, bound = 0, set()
    for state, page, own in shown:
        assert {(c["tp"], c["row"]) for c in page["cells"]} >= set(own.cells)
        for cell in page["cells"]:
            wanted = own.cells.get((cell["tp"], cell["row"]))
            assert (wanted is None) == (cell["best"] is None), (cell, state)
            if not wanted:
                continue
            best, row, point = cell["best"], cell["best"]["row"], cell["best"]["point"]
            replicas = wanted.decode
            if (row["N_stages"], row["n_dpa"], row["n_ep"]) != (replicas.pp, replicas.dpa, replicas.ep):
                assert point["perGpu"][1] == pytest.approx(wanted.per_gpu[1], rel=1e-9)  # a tie
                continue
            assert (best["count"], point["alive"]) == (replicas.count, replicas.batch), state
            assert point["perGpu"] == pytest.approx(wanted.per_gpu, rel=1e-9)
            assert point["token"] == pytest.approx(wanted.token, rel=1e-9)
            assert point["first"] == pytest.approx(wanted.first, rel=1e-9)
            assert (point["memory"], best["own"]) == pytest.approx((replicas.memory, replicas.weights_bytes), rel=1e-9)
            assert best["binds"] == BINDS[wanted.binds], state
            plans, bound = plans + 1, bound | {best["binds"]}
    assert plans > 200 and bound == set(BINDS.values())


def test_a_cell_without_a_plan_says_what_is_in_its_way(shown):
    seen = set()
    for state, page, own in shown:
        grid, ask = own.grid, own.ask
        for cell in page["cells"]:
            if cell["best"]:
                continue
            key = cell["tp"], cell["row"]
            rows, said = own.of(key), plain(page["told"]["{}x{}".format(*key)])
            fits = grid.fits & rows[:, None]
            token = np.min(grid.token[1], where=fits, initial=np.inf)
            first = np.min(grid.first[1], where=fits, initial=np.inf)
            if key[0] * key[1] > state["gpus"]:
                wanted, words = "many", f"{key[0] * key[1]:,} GPUs"
            elif not rows.any():
                wanted, words = "layout", cell["why"]
                given, more = asked(state)
                with pytest.raises(Refusal, match="no layout is left") as refused:
                    serve(*given, **more | {"tp": key[0], {"pp": "pp", "dpa": "dpa"}[state["down"]]: key[1]})
                assert cell["why"] in plain(refused.value)
            elif not fits.any():
                wanted, words = "memory", plain(show(grid.memory[rows].min(), "B"))
            elif token > ask.tpot:
                wanted, words = "tpot", plain(show(token, "s"))
            elif first > ask.ttft:
                wanted, words = "ttft", plain(show(first, "s"))
            else:
                wanted, words = "both", "both limits"
            assert cell["out"] == wanted and words in said, (cell, state)
            seen.add(wanted)
    assert seen >= {"many", "layout", "memory", "tpot", "ttft"}


def test_the_chosen_layout_is_said_in_the_numbers_of_the_library(shown):
    opened = refused = 0
    for state, page, own in shown:
        sentence, at = plain(page["sentence"]), page["at"]
        if not own.best and not (at and own.grid.fits.any()):
            refused += 1
            least = own.grid.memory.min() if not own.grid.fits.any() else own.grid.token[1].min()
            fit = np.min(own.grid.token[1], where=own.grid.fits, initial=np.inf)
            assert plain(show(fit, "s") if own.grid.fits.any() else show(least, "B")) in sentence, state
            continue
        if not at["best"]:
            assert sentence == plain(page["told"][f"{at['tp']}x{at['row']}"])
            continue
        opened += 1
        one = own.cells[at["tp"], at["row"]]
        assert f"give {plain(rate(one.per_gpu[1]))} output tokens/s" in sentence, state
        for pair, name in ((one.token, "TPOT"), (one.first, "TTFT")):
            said = f"{name} is expected to be {show(pair[1], 's')}, and is at least {show(pair[0], 's')}."
            assert said in page["sentence"]
        assert (one.price is not None) == ("USD" in sentence)
        if one.price:
            assert page["price"] == pytest.approx(one.price[1], rel=1e-9) and plain(show(one.price[1])) in sentence
        words = {key: plain(value) for key, value in page["words"].items()}
        free = max(0, own.ask.room - one.decode.memory)
        assert words["n-weights"] == f"weights {plain(show(one.decode.weights_bytes, 'B'))}"
        assert words["n-caches"] == f"KV cache {plain(show(one.decode.memory - one.decode.weights_bytes, 'B'))}"
        if free:
            assert words["n-free"] == f"free {plain(show(free, 'B'))}"
        band = page["band"]
        assert band == engine_of(own.ask.model).band and f"within a factor of {show(band)}" in sentence
        for name, (bound, expected) in (("ttft", one.first), ("tpot", one.token)):
            low, high = max(bound, expected / band), expected * band
            said = f"expected {show(expected, 's')}, band {show(low, 's')} to {show(high, 's')}"
            assert words[f"{name}said"] == plain(said), state
    assert opened > 40 and refused > 1


def test_the_table_ranks_the_cells(shown):
    for state, page, own in shown:
        rates = sorted((one.per_gpu[1] for one in own.cells.values()), reverse=True)
        assert [row[2] for row in page["table"][1:]] == [plain(rate(v)) for v in rates], state


def test_the_frontier_is_every_batch_of_the_layout(shown):
    seen = 0
    for _, page, own in shown:
        at = page["at"]
        if not (at and at["best"]):
            continue
        row = at["best"]["row"]
        names = ("Y", "N_stages", "n_dpa", "n_ep")
        [i, *_] = np.flatnonzero(np.all([own.grid.rows[name] == row[name] for name in names], axis=0))
        batches, places = np.unique(own.grid.batch[i], return_index=True)
        assert [point["batch"] for point in page["points"]] == batches.tolist()
        for kind in (0, 1):
            assert [point["token"][kind] for point in page["points"]] == pytest.approx(own.grid.token[kind][i, places])
        seen += 1
    assert seen > 40


def test_the_call_gives_what_is_shown(shown):
    seen = 0
    for _, page, _ in shown:
        if page["at"] and page["at"]["best"] and seen < 6:
            plan = eval(page["call"], {"serve": serve})
            assert plan.best.per_gpu[1] == pytest.approx(page["at"]["best"]["point"]["perGpu"][1], rel=1e-9)
            seen += 1
    assert seen == 6


@pytest.mark.parametrize("change", [{"model": "gpt2"}, {"gpu": "v100"}, {"weights": "fp3"}])
def test_what_it_does_not_know_is_refused(change):
    with pytest.raises(ValueError, match=f"serve: {next(iter(change))} .*: expected one of"):
        figure(start=START | change)
