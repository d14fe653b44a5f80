"""The decode step of the page in a JavaScript engine, against the steps that the library computes and closed forms."""

import json
import math
import random
import re

import pytest

from gpuscale.book.frames import engine
from gpuscale.collectives import one_shot_all_reduce, two_shot_all_reduce
from gpuscale.llm.model_counts import counts
from gpuscale.serving import (
    MeasuredStep,
    Sustained,
    critical_batch_cached,
    decode_page,
    experts_touched,
    longest_compute_bound_attention,
    measured_steps,
    split_step,
    step,
)
from gpuscale.specs import chip, model
from gpuscale.units import show, us
from gpuscale.widgets import decode_stage
from gpuscale.widgets.decode import GPUS, LEAST, MOST

MODELS = ("llama3_8b", "llama3_70b", "deepseek_v3", "gpt_oss_20b")
CHIPS = ("h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm")
FORMS = {"bf16": {"weights": "bf16"}, "fp8": {"weights": "fp8"}, "fp4": {"weights": "int4_g128"}}
BYTE, HALF = {"weights": "fp8", "head": "bf16"}, {"weights": "bf16"}
ROUTED = {
    "deepseek_v3": {"bf16": HALF, "fp8": BYTE, "fp4": HALF | {"experts": "nvfp4"}},
    "gpt_oss_20b": {"bf16": HALF, "fp8": BYTE, "fp4": HALF | {"experts": "mxfp4"}},
}
CONSTANTS = Sustained(0.85, 60 * us)
LATENCY, USABLE = 3 * us, 0.9
RUN = MeasuredStep("An engine", "llama3_8b", "h100_sxm", 1, "bf16", 8, 4096, 7e-3)
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const decode = gpuscale.figures.decode, view = Object.assign(gpuscale.seen(spec, p), { width: p.width });
  view.height = decode.height(view);
  const t = p.at * view.solved.total, shapes = decode.draw(view, t).flat(9).filter(Boolean);
  const words = Object.fromEntries(shapes.filter((s) => s.words).map((s) => [s.key, s.words]));
  const boxes = Object.fromEntries(shapes.filter((s) => 'd' in s).map((s) => [s.key, s.d.split('M').length - 1]));
  const ask = (told) => [told, decode.hover(view, { dataset: { told } }, t)];
  const told = Object.fromEntries(['weights', 'caches', 'math', 'free', 'unread'].map(ask));
  const said = { sentence: decode.sentence(view, t), table: decode.table(view, t), call: decode.call(view, t) };
  return { ...decode.numbers(view, t), ...said, place: decode.place(view, t), told, words, boxes };
}))"""


def figure(**options):
    page = decode_page(MODELS, CHIPS, latency=LATENCY, usable=USABLE, constants=CONSTANTS, runs=[RUN])
    return decode_stage(page, **dict(name="decode", title="A step", caption="<b>A read.</b>") | options)


def plain(text: str) -> str:
    return re.sub(r"<.*?>", "", str(text)).replace("\u00a0", " ")


def states(many: int) -> list[dict]:
    dice = random.Random(11)
    out = []
    for _ in range(many):
        context = dice.choice([LEAST, MOST["context"], round(2 ** dice.uniform(6, 17))])
        state = {
            "model": dice.choice(MODELS),
            "gpu": dice.choice(CHIPS),
            "weights": dice.choice(list(FORMS)),
            "N": dice.choice(GPUS),
            "B": dice.choice([1, MOST["batch"], round(2 ** dice.uniform(0, 12))]),
            "S": context,
            "edge": context,
            "width": dice.choice([270, 340, 650]),
            "at": dice.choice([0, 1, round(dice.random(), 3)]),
        }
        if dice.random() < 0.1:
            state |= {"model": RUN.model, "gpu": RUN.gpu, "N": 1, "weights": "bf16", "B": RUN.batch, "S": RUN.context}
        out.append(state)
    return out


@pytest.fixture(scope="module")
def shown():
    many = states(220)
    return list(
        zip(many, json.loads(engine("decode").eval(f"({SHOWN})({figure().spec}, {json.dumps(many)})")), strict=True)
    )


class Worked:
    """What a state costs each GPU, from the steps that the library computes on one GPU."""

    def __init__(self, state: dict, batch: float | None = None, context: float | None = None):
        key, gpu, self.gpus = state["model"], chip(state["gpu"]), state["N"]
        batch, context = batch or state["B"], context or state["S"]
        forms = ROUTED.get(key, FORMS)[state["weights"]]
        one = step(key, gpu, batch=batch, context=context, constants=CONSTANTS, **forms)
        found, self.moe = counts(key), counts(key).moe
        heads = 1 if found.mla else found.inputs["n_kv"]
        flops = one.ops - one.ops_kv
        self.rate = {"bf16": gpu.bf16, "fp8": gpu.get("fp8", gpu.bf16), "fp4": gpu.bf16}[state["weights"]]
        self.w, self.kv = one.V_w / self.gpus, one.V_kv / min(self.gpus, heads)
        self.read = (self.w + self.kv) / gpu.hbm_bw
        self.matmul, self.attention = flops / self.rate / self.gpus, one.ops_kv / gpu.bf16 / self.gpus
        self.math = self.matmul + self.attention
        sent = dict(V=2 * batch * found.inputs["D"], N=self.gpus, W=gpu.nvlink_bw, alpha=LATENCY)
        self.comm = 0
        if self.gpus > 1:
            self.comm = 2 * found.inputs["L"] * min(one_shot_all_reduce(**sent), two_shot_all_reduce(**sent))
        self.total = max(self.read, self.math) + self.comm
        self.estimate = (
            max(self.w / (0.85 * gpu.hbm_bw), self.matmul)
            + max(self.kv / (0.85 * gpu.hbm_bw), self.attention)
            + 60 * us * found.inputs["L"]
        )
        self.rest = forms.get("head", forms["weights"])


def resident(state: dict) -> float:
    """Bytes that each GPU holds: every matrix in its format."""
    found, forms = counts(state["model"]), ROUTED.get(state["model"], FORMS)[state["weights"]]
    size = {"bf16": 2, "fp8": 1, "int4_g128": 0.5 + 4 / 128, "mxfp4": 0.5 + 1 / 32, "nvfp4": 0.5 + 1 / 16}
    most, head = size[forms["weights"]], size[forms.get("head", forms["weights"])]
    experts = size[forms.get("experts", forms["weights"])]
    return (most * (found.P - found.P_emb - found.P_exp) + head * found.P_emb + experts * found.P_exp) / state["N"]


def test_bytes_flops_and_times_are_those_of_the_library(shown):
    for state, page in shown:
        own = Worked(state)
        for key in ("w", "kv", "read", "matmul", "attention", "math", "comm", "estimate"):
            assert page[key] == pytest.approx(getattr(own, key), rel=1e-9), (key, state)
        assert page["T"] == page["total"] == pytest.approx(own.total, rel=1e-9)
        assert page["one"] == pytest.approx(Worked(state, batch=1).total, rel=1e-9)
        assert page["resident"] == pytest.approx(resident(state), rel=1e-9), state
        assert page["usable"] == pytest.approx(USABLE * chip(state["gpu"]).hbm)
        assert page["page"] == pytest.approx(chip(state["gpu"]).hbm / chip(state["gpu"]).hbm_bw)
        assert page["tw"] + page["tk"] == pytest.approx(page["read"])
        assert page["fits"] == (page["usable"] > page["resident"])
        if own.moe:
            given = counts(state["model"]).inputs
            assert page["hit"] == pytest.approx(experts_touched(E=given["E"], k=given["k"], B=state["B"]))
            assert 0 < page["fixed"] < page["w"]


def test_windows_hold_their_own_part_of_the_cache(shown):
    seen = 0
    for state, page in shown:
        part = model(state["model"])
        if "window" not in part:
            assert page["window"] == 0
            continue
        seen += 1
        token = 2 * 2 * part.kv_heads * part.head_dim / min(state["N"], part.kv_heads)
        near = token * part.window_layers * min(state["S"], part.window) * state["B"]
        assert page["window"] == pytest.approx(near)
        assert page["kv"] - page["window"] == pytest.approx(token * 12 * state["S"] * state["B"])
    assert seen > 20


def test_limits_are_where_one_more_is_too_much(shown):
    for state, page in shown:
        room = page["usable"] - page["resident"]
        each = Worked(state, batch=1).kv
        assert page["full"] == (min(MOST["batch"], math.floor(room / each)) if room > 0 else 0), state
        low = [Worked(state, batch=max(1, b)) for b in (page["ridge"], page["ridge"] + 1)]
        assert page["ridge"] == 0 or low[0].math < low[0].read
        assert page["ridge"] == MOST["batch"] or low[1].math >= low[1].read
        near, far = (Worked(state, batch=1e9, context=s) for s in (max(1, page["never"]), page["never"] + 1))
        assert page["never"] == 0 or near.math > near.read
        assert page["never"] == MOST["context"] or far.math <= far.read


def test_dense_models_turn_compute_bound_where_closed_forms_say(shown):
    """On GPUs that split all heads evenly, and with the arithmetic of attention at the rate of the matmuls."""
    seen = 0
    for state, page in shown:
        found = counts(state["model"])
        if found.moe or state["weights"] != "bf16" or state["N"] > found.inputs["n_kv"]:
            continue
        seen += 1
        gpu, x = chip(state["gpu"]), found.inputs
        attention = 4 * x["n_q"] * x["d_head"] * x["L"]  # FLOPs per token of context
        given = dict(P_act=found.P_act, W_hbm=gpu.hbm_bw, C=gpu.bf16, V_tok=found.V_kv, I=attention / found.V_kv)
        assert page["never"] == math.floor(longest_compute_bound_attention(**given))
        own = Worked(state, batch=1)
        crossing = critical_batch_cached(
            V_w=own.w * own.gpus,
            C=gpu.bf16,
            W_hbm=gpu.hbm_bw,
            ops_tok=2 * found.P_act + attention * state["S"],
            V_seq=found.V_kv * state["S"],
        )
        assert page["ridge"] == min(MOST["batch"], math.ceil(crossing) - 1 if crossing < 1e9 else math.inf), state
    assert seen > 15


def test_curves_are_the_steps_of_other_batches(shown):
    for state, page in shown[:40]:
        assert page["curve"][0]["B"] == 1 and page["curve"][-1]["B"] == pytest.approx(MOST["batch"])
        for point in page["curve"][::17]:
            own = Worked(state, batch=point["B"])
            assert [point[key] for key in ("read", "math", "T", "estimate")] == pytest.approx(
                [own.read, own.math, own.total, own.estimate], rel=1e-9
            )


def test_words_say_the_same_numbers(shown):
    runs = 0
    for state, page in shown:
        own, words, sentence = Worked(state), {k: plain(v) for k, v in page["words"].items()}, plain(page["sentence"])
        say = lambda v, unit="1", **more: plain(show(v, unit, **more))  # noqa: E731
        tokens = f"{state['S']:,} tokens"
        assert words["tokens"] == tokens and words["batchname"].startswith(f"{state['B']:,} sequence")
        if not page["fits"]:
            assert words["clock"] == "does not fit" and say(page["resident"], "B") in sentence
            continue
        assert words["clock"] == say(own.total, "s")
        assert words["now"] == f"at {say(state['at'] * own.total, 's')}", state
        assert say(own.w, "B") in sentence and say(own.kv, "B") in sentence
        caches = f"{state['B']:,} KV caches: " if state["B"] > 1 else "1 KV cache: "
        assert words["kname"] == caches + say(own.kv, "B")
        assert words["keach"].startswith(f"each {say(own.kv / state['B'], 'B')}")
        assert say(own.math, "s") in words["arithmetic"]
        assert ("compute-bound." in sentence.split("Beyond")[0].split("No batch")[0]) == (own.math >= own.read), state
        over = "times as long as its reads" in sentence
        assert over == (own.math >= own.read)
        assert (say(own.math / own.total, "%") in sentence) or over
        assert ("do not fit: memory is full" in sentence) == (page["full"] < state["B"] and page["full"] > 0)
        if 1 < state["B"] <= page["full"]:
            assert f"{state['B']:,} sequences take {say(own.total / page['one'])} times as long as one." in sentence
        if LEAST <= page["never"] < MOST["context"]:
            assert f"Beyond {page['never']:,} tokens of context, no batch is compute-bound." in sentence
        rows = dict((plain(a), plain(b)) for a, b in page["table"][1:])
        assert rows["Weights read"] == say(own.w, "B") and rows["KV cache read"] == say(own.kv, "B")
        assert rows["Step, lower bound"] == say(own.total, "s") and rows["Step, estimate"] == say(own.estimate, "s")
        assert rows["Largest batch"] == f"{page['full']:,}"
        assert rows["Tokens/s per user, at most"] == say(1 / own.total)
        assert rows["Tokens/s per GPU, decode alone, at most"] == say(state["B"] / state["N"] / own.total)
        assert rows["All-reduces"] == say(own.comm, "s") and rows["Attention"] == say(own.attention, "s")
        assert say(own.matmul, "s") in plain(page["told"]["math"]) and say(own.attention, "s") in plain(
            page["told"]["math"]
        )
        assert say(page["fixed"], "B") in plain(page["told"]["weights"])
        assert say(max(0, page["resident"] - own.w), "B") in plain(page["told"]["unread"])
        if page["row"] >= 0:
            runs += 1
            assert f"An engine measured 7.00 ms, {say(7e-3 / own.total)} times the bound." in sentence
    assert runs > 5


def test_a_cache_has_a_strip_as_long_as_strips_can_be_seen(shown):
    for state, page in shown:
        if not page["fits"] or 192 / state["N"] / state["B"] < 1 or page["tk"] / page["page"] * state["width"] < 1:
            continue
        height = (168 if state["width"] < 480 else 192) / state["N"] - (3 if state["N"] > 1 else 0)
        if height / state["B"] > 0.8:
            assert page["boxes"]["even"] + page["boxes"]["odd"] == state["B"] * state["N"], state


def test_the_call_gives_the_headline(shown):
    scope = {"split_step": split_step, "us": us}
    for state, page in shown[:60]:
        assert eval(page["call"], scope) == pytest.approx(Worked(state).total, rel=1e-6), state


def test_published_steps_lie_above_their_bound():
    found = measured_steps(("llama2_7b", "llama3_8b", "llama3_70b", "gpt_oss_20b", "deepseek_v3"), CHIPS)
    assert len(found) > 15 and {each.gpu for each in found} > {"a100_sxm", "h100_sxm"}
    for run in found:
        state = {"model": run.model, "gpu": run.gpu, "weights": run.weights, "N": run.gpus}
        own = Worked(state | {"B": run.batch, "S": run.context})
        assert max(own.read, own.math) < run.time, run
    [line] = [run for run in found if (run.model, run.gpu, run.batch) == ("llama3_8b", "h100_sxm", 1)]
    assert (line.context, line.time) == (8192, pytest.approx(6.44e-3 + 8192 * 4.37e-8, rel=1e-9))


def test_the_edge_of_the_caches_follows_the_hand():
    """Where a hand pulls the edge, no more sequences or tokens of context fit, but for rounding to two digits."""
    pull = """(spec, states) => JSON.stringify(states.map((p) => {
      const view = Object.assign(gpuscale.seen(spec, p), { width: p.width }), x = p.at * p.width;
      return ['more', 'edge'].map((id) => gpuscale.figures.decode.pull(view, id, x));
    }))"""
    many, moved = states(200), 0
    for state, (batch, context) in zip(
        many, json.loads(engine("decode").eval(f"({pull})({figure().spec}, {json.dumps(many)})")), strict=True
    ):
        gpu = chip(state["gpu"])
        longest = state["at"] * gpu.hbm / gpu.hbm_bw
        for pulled, most, read in (
            (batch, MOST["batch"], lambda v, state=state: Worked(state, batch=v).read),
            (context, MOST["context"], lambda v, state=state: Worked(state, context=v).read),
        ):
            assert pulled <= 1 or read(max(1, 0.95 * pulled - 1)) <= longest * (1 + 1e-9), state
            assert pulled >= 0.95 * most or read(1.05 * pulled + 1) > longest, state
            moved += 1 < pulled < 0.95 * most
    assert moved > 100


def test_either_handle_sets_the_context_or_the_batch():
    run = engine("decode").eval
    fit = lambda to, was: json.loads(run(f"JSON.stringify(gpuscale.figures.decode.fit({to}, {was}))"))  # noqa: E731
    assert fit('{"S": 100, "edge": 200}', '{"S": 100, "edge": 100}')["S"] == 200
    assert fit('{"S": 300, "edge": 100}', '{"S": 100, "edge": 100}')["edge"] == 300
    assert fit('{"B": 4, "more": 6}', '{"B": 4, "more": 4}')["B"] == 6
    assert fit('{"B": 5, "more": 4}', '{"B": 4, "more": 4}')["more"] == 5


def test_it_opens_on_a_step_that_is_a_read():
    assert "Llama 3 8B, H100 SXM: batch 12, context 8192" in repr(figure())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "gpt2"}, "model: expected one of llama3_8b, .*; got gpt2"),
        ({"gpu": "v100"}, "gpu: expected one of h100_sxm, .*; got v100"),
        ({"weights": "fp6"}, "weights: expected one of bf16, fp8, fp4; got fp6"),
        ({"gpus": 3}, "gpus: expected one of 1, 2, 4, 8; got 3"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
