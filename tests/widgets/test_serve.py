"""The page's planner of serving in a JavaScript engine, against the planner of the library."""

import json
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from gpuscale.book.frames import engine
from gpuscale.plan import Refusal
from gpuscale.serve import request, serve
from gpuscale.serve.disaggregation import disaggregated, handed_over
from gpuscale.serve.engines import engine_of
from gpuscale.serve.evaluation import evaluate_layouts, model_numbers
from gpuscale.serve.layouts import layouts
from gpuscale.serve.page import FORMULAS, node_of, page_data
from gpuscale.serve.search import colocated
from gpuscale.serve.text import rate
from gpuscale.units import show
from gpuscale.widgets import serve_stage
from gpuscale.widgets.serve import TPOT, TTFT

STATES = 240
MODELS = ("llama3_8b", "llama3_70b", "qwen3_32b", "deepseek_v3", "gpt_oss_120b", "mixtral_8x7b")
GPUS = ("h100_sxm", "h200_sxm", "b200_sxm", "gb200", "a100_sxm", "mi300x", "l40s")
MIXTURES = ("deepseek_v3", "gpt_oss_120b", "mixtral_8x7b")
START = dict(model="llama3_70b", gpu="h100_sxm", gpus=8, input=2000, output=500, ttft=1, tpot=0.05)
START |= {"weights": "fp8", "cache": "fp8"}
BINDS = {
    "memory for the KV cache": "memory",
    "time per output token": "tpot",
    "time to first token": "ttft",
    "arithmetic": "compute",
    "prefill GPUs": "prefill",
    "decode GPUs": "decode",
    "chunks of prompts": "chunk",
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
        model, gpu = dice.choice(MODELS), dice.choice(GPUS)
        alone = gpu in ("mi300x", "l40s")  # one node of eight
        state = {
            "model": model,
            "gpu": gpu,
            "gpus": 2 ** dice.randrange(4 if alone else 7 if dice.random() < 0.3 else 5),
            "input": round(2 ** dice.uniform(4, 14)),
            "output": round(2 ** dice.uniform(4, 12)),
            "weights": dice.choice(["bf16", "fp8", "nvfp4"]),
            "cache": dice.choice(["bf16", "fp8"]),
            "ttft": dice.choice([TTFT[1], limit(0.03, 10)]),
            "tpot": dice.choice([TPOT[1], limit(0.005, 0.5), limit(0.02, 0.2)]),
            "mode": dice.choice(["colocated", "disaggregated", "both"]),
            "load": dice.choice([0.75, round(dice.uniform(0.1, 0.95), 2)]),
            "prefix": 0,
            "hit": dice.choice([1, round(dice.uniform(0, 1), 2)]),
            "chunk": dice.choice([0, 0, 2 ** dice.randrange(6, 13)]),
            "rate": dice.choice([0, limit(0.3, 900)]),
            "draft": dice.choice([0, 0, dice.randrange(1, 6)]),
            "drafted": limit(0.02, 0.5),
            **{f"a{i}": round(dice.uniform(0, 0.99), 2) for i in range(1, 6)},
            "down": dice.choice(["pp", "dpa"]) if model in MIXTURES else "pp",
            "tp": dice.choice([0, 2 ** dice.randrange(4)]),
            "row": 2 ** dice.randrange(3),
            "width": dice.choice([280, 340, 650]),
        }
        state["prefix"] = dice.choice([0, dice.randrange(state["input"])])
        out.append(state)
    return out


def asked(state):
    limits = {name: state[name] for name, (_, top) in (("ttft", TTFT), ("tpot", TPOT)) if state[name] < top}
    formats = {name: state[name] for name in ("weights", "cache")}
    place = node_of(state["gpu"]) | {"mode": None if state["mode"] == "both" else state["mode"]}
    place |= {"load": state["load"], "chunk": state["chunk"], "rate": state["rate"] or None}
    place |= {"cached_prefix": state["prefix"], "hit": state["hit"]}
    if state["draft"]:
        accepted = [state[f"a{i}"] for i in range(1, state["draft"] + 1)]
        place |= {"speculate": state["draft"], "acceptance": accepted, "draft": state["drafted"]}
    given = tuple(state[name] for name in ("model", "gpu", "gpus", "input", "output"))
    return given, limits | formats | place


class Worked:
    """A state by the planner of the library: its Grid, and the best deployment of every cell."""

    def __init__(self, state):
        given, more = asked(state)
        self.ask = request(*given, **more)
        formats = state["weights"], state["cache"]
        rows, _ = layouts(self.ask, model_numbers(self.ask, "bf16", "bf16"))
        used = engine_of(self.ask.model)
        self.grid = evaluate_layouts(self.ask, rows, *formats, used)
        self.whole = evaluate_layouts(replace(self.ask, chunk=0), rows, *formats, used)  # GPUs that only decode
        self.down = {"pp": "N_stages", "dpa": "n_dpa"}[state["down"]]
        self.cells, self.sent = {}, handed_over(self.ask, self.grid, formats)
        kinds = {"colocated": (colocated, self.grid), "disaggregated": (disaggregated, self.whole)}
        found = (kinds[mode][0](self.ask, kinds[mode][1], formats) for mode in self.ask.modes)
        for one in (one for each in found for one in each):
            key = one.decode.tp, {"pp": one.decode.pp, "dpa": one.decode.dpa}[state["down"]]
            was = self.cells.get(key)
            if not was or one.throughput[1] > was.throughput[1]:
                self.cells[key] = one
        self.best = max(self.cells.values(), key=lambda one: one.throughput[1], default=None)

    def of(self, key):
        """The mask of the layouts of a cell."""
        return (self.grid.rows["Y"] == key[0]) & (self.grid.rows[self.down] == key[1])

    def least(self, rows):
        """The shortest TPOT and TTFT of these layouts, whatever the limits."""
        grid, sizes, token, first = self.grid, self.grid.rows["n_gpu"], [np.inf], [np.inf]
        fits = grid.fits & rows[:, None]
        if "colocated" in self.ask.modes:
            token.append(np.min(grid.token[1], where=fits, initial=np.inf))
            first.append(np.min(grid.first[1] + grid.queues[-1].mean, where=fits, initial=np.inf))
        grid = self.whole
        if "disaggregated" in self.ask.modes:
            for p in np.flatnonzero(grid.fits[:, 0]):
                both = grid.fits & rows[:, None] & (sizes + sizes[p] <= self.ask.gpus)[:, None]
                lead = grid.prefill[1][p, 0] + self.sent[p].time
                token.append(np.min(grid.spoken[1], where=both, initial=np.inf))
                first.append(np.min(lead + grid.step[1], where=both, initial=np.inf))
        return min(token), min(first)


@pytest.fixture(scope="module")
def shown():
    many = states(STATES)
    page = json.loads(engine("serve").eval(f"({SHOWN})({figure().spec}, {json.dumps(many)})"))
    return list(zip(many, page, map(Worked, many), strict=True))


def plain(text) -> str:
    return re.sub(r"<.*?>", "", str(text)).replace("\u00a0", " ")


def test_every_cell_has_the_deployment_of_the_library(shown):
    plans, split, bound = 0, 0, set()
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
            before = best["from"]
            assert (before is None) == (wanted.prefill is None), state
            if before:
                ahead, row = wanted.prefill, before["row"]
                if (row["Y"], row["N_stages"], row["n_dpa"], row["n_ep"]) != (ahead.tp, ahead.pp, ahead.dpa, ahead.ep):
                    assert point["perGpu"][1] == pytest.approx(wanted.per_gpu[1], rel=1e-9)  # a tie
                    continue
                assert (before["count"], before["own"]) == (ahead.count, pytest.approx(ahead.weights_bytes, rel=1e-9))
                queue = (before["wait"], before["sent"], page["handed"])
                ours = wanted.queue.mean, wanted.handover.time, wanted.handover.size
                assert queue == pytest.approx(ours, rel=1e-9), state
                split += 1
            assert (best["count"], point["alive"]) == (replicas.count, replicas.batch), state
            assert point["perGpu"] == pytest.approx(wanted.per_gpu, rel=1e-9)
            assert point["token"] == pytest.approx(wanted.token, rel=1e-9)
            assert point["first"] == pytest.approx(wanted.first, rel=1e-9)
            assert point["gap"] == pytest.approx(wanted.gap, rel=1e-9), state
            assert (point["load"], point["tail"]) == pytest.approx((wanted.queue.load, wanted.tail), rel=1e-9), state
            assert (point["memory"], best["own"]) == pytest.approx((replicas.memory, replicas.weights_bytes), rel=1e-9)
            assert best["binds"] == BINDS[wanted.binds], state
            plans, bound = plans + 1, bound | {best["binds"]}
    assert plans > 700 and split > 200 and bound == set(BINDS.values())


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
            token, first = own.least(rows)
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
            elif token == np.inf:
                wanted, words = "all", "takes all GPUs"
            elif token > ask.tpot:
                wanted, words = "tpot", plain(show(token, "s"))
            elif first > ask.ttft:
                wanted, words = "ttft", plain(show(first, "s"))
            else:
                wanted, words = "both", "both limits"
            assert cell["out"] == wanted and words in said, (cell, state)
            seen.add(wanted)
    assert seen >= {"many", "layout", "memory", "tpot", "ttft", "all"}


def test_the_chosen_layout_is_said_in_the_numbers_of_the_library(shown):
    opened = refused = 0
    for state, page, own in shown:
        sentence, at = plain(page["sentence"]), page["at"]
        if not own.grid.fits.any() or not own.best and not at:
            refused += 1
            token, _ = own.least(own.grid.rows["Y"] > 0)
            least = show(token, "s") if token < np.inf else "takes all GPUs"
            assert plain(least if own.grid.fits.any() else show(own.grid.memory.min(), "B")) in sentence, state
            continue
        if not at["best"]:
            assert sentence == plain(page["told"][f"{at['tp']}x{at['row']}"])
            continue
        opened += 1
        one = own.cells[at["tp"], at["row"]]
        assert f"expect {plain(rate(one.per_gpu[1]))} output tokens/s" in sentence, state
        said = [f"TPOT is expected to be {show(one.token[1], 's')}; its bound is {show(one.token[0], 's')}."]
        said.append(f"Expect 95% of the gaps between two steps to be {show(one.gap[1], 's')} or shorter.")
        expected, least = (show(v, "s") for v in (one.first[1], one.first[0]))
        said.append(f"TTFT is expected to be {expected} on average, queue included; without, its bound is {least}.")
        said.append(f"For 95% of the requests, expect {show(one.tail, 's')} or less.")
        if one.fleet:
            fleet, price = one.fleet, one.fleet.hour
            assert page["fleet"] == pytest.approx(vars(fleet)), state
            bill = "" if price is None else f", {show(price)} USD per hour"
            said.append(f"{show(fleet.gpus, 'count')} GPUs{bill}.")
            assert f"{show(state['rate'])} requests/s take " in sentence
        if one.prefill:
            busy = f"{show(one.prefill.count * one.prefill.gpus, 'count')} prefill, {show(one.queue.load, '%')} busy"
            assert plain(page["words"]["gpre"]) == plain(busy)
        assert all(each in page["sentence"] for each in said), (said, page["sentence"])
        assert (one.price is not None) == ("USD" in sentence)
        if one.price:
            assert page["price"] == pytest.approx(one.price[1], rel=1e-9) and plain(show(one.price[1])) in sentence
            assert f"at {show(own.ask.price)} USD per GPU-hour" in sentence
        words = {key: plain(value) for key, value in page["words"].items()}
        free = max(0, own.ask.room - one.decode.memory)
        assert words["n-weights"] == f"weights {plain(show(one.decode.weights_bytes, 'B'))}"
        assert words["n-caches"] == f"KV cache {plain(show(one.decode.memory - one.decode.weights_bytes, 'B'))}"
        if free:
            assert words["n-free"] == f"free {plain(show(free, 'B'))}"
        band = page["band"]
        if state["gpu"] not in engine_of(own.ask.model).chips:
            assert "only the bounds hold" in sentence and "nine in ten" not in sentence
            said = f"expected {show(one.token[1], 's')}, at least {show(one.token[0], 's')}"
            assert words["tpotsaid"] == plain(said)
            continue
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
        same = [point for point in page["curve"] if point["batch"] == at["best"]["point"]["batch"]]
        assert [point["perGpu"] for point in same] == [at["best"]["point"]["perGpu"]]
        row = at["best"]["row"]
        names = ("Y", "N_stages", "n_dpa", "n_ep")
        [i, *_] = np.flatnonzero(np.all([own.grid.rows[name] == row[name] for name in names], axis=0))
        grid = own.whole if at["best"]["from"] else own.grid
        batches, places = np.unique(grid.batch[i], return_index=True)
        assert [point["batch"] for point in page["points"]] == batches.tolist()
        for kind in (0, 1):
            assert [point["token"][kind] for point in page["points"]] == pytest.approx(grid.token[kind][i, places])
        seen += 1
    assert seen > 40


def test_the_call_gives_what_is_shown(shown):
    seen = set()
    for state, page, _ in shown:
        at = page["at"]
        kind = (
            at
            and at["best"]
            and (state["mode"], at["best"]["from"] is None, bool(state["draft"]), ".of(" in page["call"])
        )
        if kind and kind not in seen:
            found = eval(page["call"], {"serve": serve})
            found = getattr(found, "best", found)
            assert found.per_gpu[1] == pytest.approx(at["best"]["point"]["perGpu"][1], rel=1e-9), page["call"]
            assert (found.prefill is None) == (at["best"]["from"] is None), page["call"]
            seen.add(kind)
    assert len(seen) >= 10


def test_the_records_are_those_of_python(shown):
    for state, page, own in shown:
        assert len(page["records"]) == len(own.cells)
        for one in page["records"]:
            wanted = own.cells[one["tp"], one[state["down"]]]
            assert one["mode"] == wanted.mode and one["per_gpu_expected"] == pytest.approx(wanted.per_gpu[1], rel=1e-9)
            assert one["first_p95"] == pytest.approx(wanted.tail, rel=1e-9)
            assert one.get("gpus") == (wanted.fleet and wanted.fleet.gpus)


@pytest.mark.parametrize("change", [{"model": "gpt2"}, {"gpu": "v100"}, {"weights": "fp3"}])
def test_what_it_does_not_know_is_refused(change):
    with pytest.raises(ValueError, match=f"serve: {next(iter(change))} .*: expected one of"):
        figure(start=START | change)
