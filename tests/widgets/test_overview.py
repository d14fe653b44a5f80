"""The split layer of the page in a JavaScript engine, against the library: each number shown, in random states."""

import json
import random
import re
from functools import cache

import pytest

from gpuscale import units
from gpuscale.book.frames import engine
from gpuscale.collectives import all_gather_bytes, all_reduce_bytes, top_k_dispatch
from gpuscale.llm import (
    block_activations,
    bubble_fraction,
    bubble_overhead,
    counts,
    cp_math,
    dp_threshold,
    dp_traffic,
    ep_width_top_k,
    gathered_kv_held,
    hop_bytes,
    moe_dp_threshold,
    ring_attention_limit,
    split_page,
    tp_attention_math,
    tp_layer_limit,
    tp_math,
    zero3_traffic,
)
from gpuscale.schedules.timelines.layer import Move, layer_on_clock
from gpuscale.specs import chip, model
from gpuscale.units import show
from gpuscale.widgets import overview_stage

MODELS = [model("llama3_70b"), model("mixtral_8x7b")]
PAGE = {each.title: each.key for each in MODELS}
CHIP = chip("h100_sxm")
COUNTS = [counts(each) for each in MODELS]
SHAPES = [each.inputs for each in COUNTS]
SCOPE = {f.name: f for f in (all_gather_bytes, all_reduce_bytes, top_k_dispatch, block_activations, dp_traffic)}
SCOPE |= {f.name: f for f in (gathered_kv_held, hop_bytes, zero3_traffic)} | {"GB": units.GB}
CUTS = ("dp", "zero", "tp", "pp", "cp", "ep")
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const figure = gpuscale.figures.overview, view = Object.assign(gpuscale.seen(spec, p), { width: p.width });
  const t = p.at * view.solved.total;
  const texts = figure.draw(view, t).flat(9).filter((s) => s?.words);
  const words = Object.fromEntries(texts.map((s) => [s.key, s.words]));
  const said = { sentence: figure.sentence(view), table: figure.table(view), call: figure.call(view), words };
  const cuts = view.spec.choices.cut.of.map(([cut]) => [cut, ...figure.row(view, cut)]);
  return { ...figure.numbers(view, t), ...said, cuts, place: figure.place(view, t) };
}))"""


def figure(**options):
    book = dict(name="six", title="A layer", caption="<b>Split.</b>")
    return overview_stage(split_page(PAGE, CHIP), **book | options)


def states(many: int) -> list[dict]:
    dice = random.Random(5)
    return [
        {
            "cut": dice.choice(CUTS),
            "model": dice.choice([0, 1]),
            "n": dice.choice([2, 4, 8]),
            "seqs": 2 ** dice.randint(3, 8),
            "S": 2 ** dice.randint(11, 17),
            "C": CHIP.bf16,
            "at": dice.random(),
            "width": dice.choice([300, 640]),
        }
        for _ in range(many)
    ]


@pytest.fixture(scope="module")
def shown():
    all_states = states(240)
    code = f"({SHOWN})({figure().spec}, {json.dumps(all_states)})"
    return list(zip(all_states, json.loads(engine("overview").eval(code)), strict=True))


def chosen(state: dict, cut: str) -> int:
    return 1 if cut == "ep" else state["model"]


def expected(state: dict, cut: str) -> dict:
    """What the library says of a split: bytes, spans, what is stored and from when it pays."""
    return worked_out(cut, chosen(state, cut), state["n"], state["seqs"], state["S"])


@cache
def worked_out(cut: str, which: int, n: int, seqs: int, S: int) -> dict:
    x, count, batch, C = SHAPES[which], COUNTS[which], seqs * S, CHIP.bf16
    experts, active, mlp = x.get("E", 1), x.get("k", 1), x["n_mat"] * x["D"] * x["F"]
    whole = int(count.P_attn) + experts * mlp
    heads = dict(n_q=x["n_q"], d_head=x["d_head"])
    group = 1 if cut == "pp" else n
    scores = seqs * float(cp_math(S=S, n_cp=group, C=C, **heads))
    attention = float(tp_attention_math(B=batch, S=S, D=x["D"], n_kv=x["n_kv"], Y=group, C=C, **heads))
    work = {
        "projections": attention - scores,
        "attention": scores,
        "MLP": active * float(tp_math(B=batch, D=x["D"], F=x["F"], n_mat=x["n_mat"], Y=group, C=C)),
    }
    W = CHIP.nvlink_bw if cut in ("tp", "cp", "ep") else CHIP.nic_bw
    grads = float(dp_traffic(P=whole, b_grad=2, X=n))
    behind = {"gradients": Move("gradients", True, "behind")}
    here, layers = batch / n, x["L"] / n if cut == "pp" else x["L"]
    if cut == "dp":
        moves = [(behind["gradients"], grads)]
        since = float(moe_dp_threshold(C=C, W=W, b_grad=2, X=n, E=experts, k=active))
        if experts == 1:
            assert since == float(dp_threshold(C=C, W=W, b_grad=2, X=n))
    elif cut == "zero":
        third = float(zero3_traffic(P=whole, b_w=2, b_grad=2, X=n)) / 3
        moves = [(Move("weights", back, "behind"), third) for back in (False, True)]
        moves.append((behind["gradients"], third))
        since = float(moe_dp_threshold(C=C, W=W, b_grad=2, X=n, E=experts, k=active))
    elif cut == "tp":
        one = float(all_reduce_bytes(V=2 * batch * x["D"], N=n))
        ends = [(False, "attention"), (False, "MLP"), (True, "MLP"), (True, "projections")]
        moves = [(Move("activations", back, "after", block), one) for back, block in ends]
        known = dict(n_kv=x["n_kv"], n_mat=x["n_mat"], D=x["D"], **heads)
        since, here = float(tp_layer_limit(C=C, b=2, W=W, F=active * x["F"], S=S, **known)), n
    elif cut == "pp":
        one = seqs * float(hop_bytes(b=2, B=batch, D=x["D"], N_MB=seqs)) / layers
        moves = [(Move("activations", back, "behind"), one) for back in (False, True)]
        since, here = 9 * (n - 1), seqs
    elif cut == "cp":
        held = float(gathered_kv_held(b=2, S=batch, n_kv=x["n_kv"], d_head=x["d_head"]))
        one = float(all_gather_bytes(V=held, N=n))
        around = [Move("keys and values", back, "during", "attention") for back in (False, True)]
        moves = [(around[0], one), (around[1], 2 * one), (behind["gradients"], grads)]
        since, here = float(ring_attention_limit(C=C, b=2, W=W, n_q=x["n_q"], n_kv=x["n_kv"])), S / n
    else:
        one = W * float(top_k_dispatch(b=2, B=batch, D=x["D"], Z=n, W=W, E=experts, k=active))
        moves = [(Move("tokens", b, when, "MLP"), one) for when in ("before", "after") for b in (False, True)]
        moves.append((behind["gradients"], float(dp_traffic(P=int(count.P_attn), b_grad=2, X=n))))
        both = dict(b_dispatch=2, b_combine=2)
        since = float(ep_width_top_k(C=C, W=W, n_mat=x["n_mat"], Z=n, E=experts, k=active, **both))
        here = x["F"]
    spans = layer_on_clock(work, [(move, sent / W) for move, sent in moves])
    total = busy = max(span.end for span in spans)
    if cut == "pp":
        total *= 1 + float(bubble_overhead(N_stages=n, N_MB=seqs))
    layer = sum(sent for _, sent in moves)
    stored = {"dp": whole, "cp": whole, "ep": int(count.P_attn) + experts * mlp / n}.get(cut, whole / n)
    return {
        "spans": spans,
        "total": total,
        "busy": busy,
        "layer": layer,
        "step": layer * layers,
        "stored": 2 * stored * x["L"],
        "from": int(since * (1 + 1e-9)) if cut == "tp" else -int(-since * (1 - 1e-9) // 1),
        "here": here,
        "idle": 1 - 3 * sum(work.values()) / total,
    }


def plain(text: str) -> str:
    return re.sub(r"<.*?>", "", str(text)).replace("\u00a0", " ")


def shown_idle(value: float) -> str:
    return plain(show(value, "%"))


def test_lanes_and_amounts_are_those_of_the_library(shown):
    for state, page in shown:
        want = expected(state, state["cut"])
        assert [tuple(s[:3]) for s in page["spans"]] == [(s.lane, s.what, s.backward) for s in want["spans"]], state
        times = [t for span in page["spans"] for t in span[3:]]
        assert times == pytest.approx([t for s in want["spans"] for t in (s.start, s.end)], rel=1e-9), state
        for key in ("total", "busy", "layer", "step", "stored", "from", "here"):
            assert page[key] == pytest.approx(want[key], rel=1e-9), (state, key)
        assert page["idle"] == pytest.approx(want["idle"], abs=1e-9)
        cuts = [row[0] for row in page["rows"]]
        assert cuts == [cut for cut in CUTS if cut != "ep" or chosen(state, state["cut"])], state
        for cut, *numbers in page["rows"] if state["at"] < 0.2 else ():
            other = expected(state | {"model": chosen(state, state["cut"])}, cut)
            assert numbers[:4] == pytest.approx([other[key] for key in ("layer", "step", "from", "here")]), (state, cut)
            assert numbers[4] == pytest.approx(other["idle"], abs=1e-9)


def test_words_say_the_same_numbers(shown):
    for state, page in shown:
        want, words = expected(state, state["cut"]), {key: plain(text) for key, text in page["words"].items()}
        sentence, size = plain(page["sentence"]), lambda value: plain(show(value, "B"))
        name = MODELS[chosen(state, state["cut"])].title
        sends = f"With {name}, a GPU sends {size(want['layer'])} per layer and {size(want['step'])} per step over"
        assert sends in sentence, state
        since, here = plain(show(want["from"], "count")), plain(show(want["here"], "count"))
        assert re.search(rf" {since}\b.*; here .*\b{here}\.| {since} .*; here .*\b{here}\.", sentence), (
            state,
            sentence,
        )
        idle = shown_idle(want["idle"])
        assert ("never idle" in sentence) == (want["idle"] < 5e-4)
        assert words["idle"] == ("never idle" if want["idle"] < 5e-4 else f"idle {idle}")
        assert words["marked"].endswith(f" {since}") and words["hereat"] == here
        assert words["stored"] == f"Weights per GPU: {size(want['stored'])} (memory 80 GB)"
        assert words["sent"] == f"{size(want['layer'])} per layer"
        forward = max(span.end for span in want["spans"] if not span.backward)
        assert words["forward"] == plain(f"forward {show(forward, 's')}")
        assert words["backward"] == plain(f"backward {show(want['busy'] - forward, 's')}")
        rate = CHIP.nvlink_bw if state["cut"] in ("tp", "cp", "ep") else CHIP.nic_bw
        assert words["wire"].endswith(plain(show(rate, "B/s")))
        assert plain(page["place"]).endswith(plain(f" of {show(want['total'], 's')}"))
        for row, (_, layer, step, since, here, idle) in zip(page["table"][1:], page["rows"], strict=True):
            numbers = [size(layer), size(step), show(since, "count"), show(here, "count"), show(idle, "%")]
            assert [plain(cell) for cell in row[3:]] == list(map(plain, numbers))


def test_the_table_that_fills_says_the_same_numbers(shown):
    for state, page in shown[:60]:
        for cut, has, sends, layer, since in page["cuts"]:
            want, size = expected(state, cut), lambda value: plain(show(value, "B"))
            assert has == (cut != "ep" or bool(chosen(state, state["cut"]))), state
            assert plain(layer) == f"{size(want['layer'])}{size(want['step'])} per step", (state, cut)
            below = want["here"] < want["from"]
            mark = "✗✓"[(want["here"] <= want["from"]) if cut == "tp" else not below]
            threshold, here = (plain(show(want[key], "count")) for key in ("from", "here"))
            assert re.search(rf"\b{threshold}\b.*{mark} here {here}$", plain(since)), (state, cut, since)
            assert sends.endswith(f"{'NVLink' if cut in ('tp', 'cp', 'ep') else 'network'}</small>")


def test_the_call_gives_the_bytes_per_layer(shown):
    for state, page in shown:
        assert float(eval(page["call"], SCOPE)) == pytest.approx(expected(state, state["cut"])["layer"], rel=1e-5), (
            state
        )


def test_a_pipeline_is_idle_for_its_bubble(shown):
    hidden = [(s, p) for s, p in shown if s["cut"] == "pp"]
    for state, page in hidden:
        assert page["idle"] == pytest.approx(float(bubble_fraction(N_stages=state["n"], N_MB=state["seqs"])))
    assert len(hidden) > 20


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cut": "sp"}, "cut: expected one of dp, zero, tp, pp, cp, ep; got sp"),
        ({"n": 3}, "n: expected 2, 4 or 8; got 3"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)


def test_a_page_needs_a_model_with_experts():
    with pytest.raises(ValueError, match="models: expected one with experts; got Llama 3 70B"):
        split_page({"Llama 3 70B": "llama3_70b"}, CHIP)


def test_the_model_pressed_is_the_model_split():
    """Experts take the model that has them, and a model without experts leaves their split."""
    page = engine("overview")

    def fit(to: dict, was: dict | None = None) -> tuple[str, int]:
        given = [json.dumps({"n": 4, "seqs": 16, "S": 8192} | p) if p else "undefined" for p in (to, was)]
        data = json.dumps({"splits": dict.fromkeys(CUTS), "models": SHAPES}, default=float)
        fitted = json.loads(page.eval(f"JSON.stringify(gpuscale.figures.overview.fit({', '.join(given)}, {data}))"))
        return fitted["cut"], fitted["model"]

    experts = {"cut": "ep", "model": 1}
    assert fit({"cut": "ep", "model": 0}) == fit({"cut": "ep", "model": 0}, {"cut": "tp", "model": 0}) == ("ep", 1)
    assert fit({"cut": "ep", "model": 0}, experts) == ("dp", 0)
    assert fit({"cut": "tp", "model": 1}, experts) == ("tp", 1)
