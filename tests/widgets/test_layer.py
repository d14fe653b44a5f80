"""The layer of the page in a JavaScript engine, against the book's formulas; and what its maker refuses."""

import json
import random

import pytest
from py_mini_racer import MiniRacer

from gpuscale import llm
from gpuscale.book.served import tight_script
from gpuscale.specs import chip
from gpuscale.units import show
from gpuscale.widgets import assets, layer_stage

MANY = 250
MODELS = {"8B": "llama3_8b", "405B": "llama3_405b", "Mixtral": "mixtral_8x7b"}
NUMBERS = """(spec, state) => {
  const view = Object.assign(gpuscale.seen(spec, state), { width: state.width }), figure = gpuscale.figures.layer;
  view.p = figure.fit(view.p); view.solved = figure.solve(view.p, view.call, view.data);
  const boxes = figure.draw(view, 0).flat(Infinity).filter((s) => s && s.tag === 'rect' && 'told' in s && s.width > 0);
  return JSON.stringify({ ...figure.numbers(view), boxes: boxes.map((s) => [s.told, s.key, s.width, s.height]),
    sentence: figure.sentence(view), call: figure.call(view), values: figure.handles(view).map((h) => [h.id, h.value]),
    pulled: figure.handles(view).map((h) => figure.pull(view, h.id, h.x, h.y)) });
}"""


def figure(**options):
    book = dict(memory=chip("h100_sxm").hbm, name="layer", title="A layer", caption="<b>A layer.</b>")
    return layer_stage(llm.layer_page(MODELS), **book | options)


@pytest.fixture(scope="module")
def page():
    """All that the page shows in a state."""
    spec = figure().spec
    with MiniRacer() as engine:
        for name in ("gpuscale", "stage", "layer"):
            engine.eval(f"{tight_script(assets.script(name))}; null")
        engine.eval(f"const spec = {spec}, numbers = {NUMBERS}; null")
        yield lambda state: json.loads(engine.eval(f"numbers(spec, {json.dumps(state)})"))


def states(many: int) -> list[dict]:
    dice, out = random.Random(3), []
    for _ in range(many):
        n_q = 2 ** dice.randint(3, 7)
        out.append(
            {
                "kind": dice.choice(("parameters", "flops", "activations", "kv_cache")),
                "causal": dice.randint(0, 1),
                "S": dice.choice((1024, 8192, 20480, 131072, 1048576)),
                "L": dice.randint(1, 126),
                "D": 128 * dice.randint(8, 128),
                "F": 256 * dice.randint(8, 208),
                "n_q": n_q,
                "n_kv": 2 ** dice.randint(0, n_q.bit_length() - 1),
                "d_head": dice.choice((64, 128)),
                "n_vocab": dice.randint(1000, 128256),
                "E": dice.choice((1, 1, 2, 8, 64)),
                "width": dice.choice((320, 640)),
            }
        )
    return out


def wanted(s: dict) -> dict:
    """The layer and the model by the formulas for whole layers, without the blocks."""
    moe, k, S = s["E"] > 1, 2 if s["E"] > 1 else 1, s["S"]
    heads = {n: s[n] for n in ("d_head", "n_q", "n_kv")}
    P_attn, P_mlp = llm.attention_params(D=s["D"], **heads), llm.mlp_params(D=s["D"], F=s["F"], n_mat=3)
    experts = {"P_mlp": P_mlp, "D": s["D"], "n_shared": 0}
    P_moe = llm.moe_layer_params(E=s["E"], **experts) if moe else P_mlp
    P_top = llm.moe_active_layer_params(E=s["E"], k=k, **experts) if moe else P_mlp
    attn = llm.causal_attention_flops if s["causal"] else llm.attention_flops
    ops_attn = attn(S=S, n_q=s["n_q"], d_head=s["d_head"])
    kept_attn = llm.kept_attention(**heads)
    kept = llm.kept_moe(k=k, n_shared=0, n_mat=3, F=s["F"], D=s["D"]) if moe else llm.kept_mlp(n_mat=3, F=s["F"])
    table = s["n_vocab"] * s["D"]
    head = llm.head_activations(n_seq=1, S=1, b=2, D=s["D"], b_logit=4, n_vocab=s["n_vocab"])
    layer = {
        "parameters": P_attn + P_moe + 2 * s["D"],
        "flops": llm.token_flops(P_act=P_attn + P_top, L=1, ops_attn=ops_attn),
        "activations": llm.layer_activations(b=2, n_seq=1, S=1, D=s["D"], n_kept_attn=kept_attn, n_kept_mlp=kept),
        "kv_cache": llm.kv_token(b=2, L=1, n_kv=s["n_kv"], d_head=s["d_head"]),
    }
    ends = {
        "parameters": (table, table + s["D"]),
        "flops": (0, 2 * table),
        "activations": (0, head),
        "kv_cache": (0, 0),
    }
    return {"layer": layer, "ends": ends, "scores": ops_attn, "matrices": 2 * (P_attn + P_top)}


def test_page_and_library_agree_in_every_state(page):
    for s in states(MANY):
        shown, want, kind = page(s), wanted(s), s["kind"]
        for each, total in want["layer"].items():
            assert sum(shown["all"][each].values()) == pytest.approx(total, rel=1e-12), (each, s)
        assert shown["sum"] == pytest.approx(want["layer"][kind], rel=1e-12), s
        assert [shown["embedding"], shown["head"]] == pytest.approx(want["ends"][kind], rel=1e-12), s
        whole = s["L"] * want["layer"][kind] + sum(want["ends"][kind])
        assert shown["model"] == pytest.approx(whole, rel=1e-12), s
        assert shown["fills"] == pytest.approx(chip("h100_sxm").hbm / whole, rel=1e-12), s
        # at the crossing, scores cost as much as all matrices; the causal count is that of S + 1 keys
        per, more = want["scores"] / (s["S"] + s["causal"]), s["causal"]
        assert shown["cross"] == pytest.approx(want["matrices"] / per - more, rel=1e-12), s
        assert shown["all"]["flops"]["scores"] == pytest.approx(want["scores"], rel=1e-12), s
        assert shown["stored"] == pytest.approx(s["L"] * s["S"] * want["layer"][kind], rel=1e-12), s
        assert shown["cached"] == pytest.approx(s["S"] * whole, rel=1e-12), s
        if kind == "kv_cache":
            assert shown["unshared"] == pytest.approx(s["L"] * s["S"] * 4 * s["n_q"] * s["d_head"], rel=1e-12), s


def test_its_blocks_are_those_of_the_library(page):
    for s in states(60):
        shown = page(s)
        dims = {n: s[n] for n in ("D", "F", "n_q", "n_kv", "d_head")} | {"E": s["E"], "k": shown["k"]}
        for kind in ("parameters", "flops", "activations", "kv_cache"):
            known = dims | ({"S": s["S"]} if kind == "flops" else {})
            blocks = llm.layer_blocks(kind, causal=bool(s["causal"]), **known)
            there = {name: v for name, v in shown["all"][kind].items() if v or name in blocks}
            assert there == pytest.approx(blocks, rel=1e-12), (kind, s)
        assert eval(shown["call"], {"layer_blocks": llm.layer_blocks}) == pytest.approx(shown["sum"], rel=1e-12), s


def test_areas_are_in_proportion(page):
    for s in states(MANY):
        shown, areas = page(s), {}
        for name, _, width, height in shown["boxes"]:
            areas[name] = areas.get(name, 0) + width * height
        per = {name: area / shown["drawn"][name] for name, area in areas.items()}
        idle = [key for _, key, *_ in shown["boxes"] if key.endswith("-idle")]
        assert max(per.values()) == pytest.approx(min(per.values()), rel=0.02 if idle else 1e-9), s  # less a dashed rim


def test_a_handle_stands_where_its_value_is_pulled_from(page):
    for s in states(MANY):
        shown = page(s)
        assert shown["pulled"] == pytest.approx([value for _, value in shown["values"]], rel=1e-9), s


def test_its_sentence_has_the_numbers(page):
    at = dict(zip(("D", "F", "n_q", "n_kv", "d_head"), (4096, 14336, 32, 8, 128), strict=True))
    at |= {"L": 32, "n_vocab": 128256, "E": 1, "causal": 0, "S": 8192, "kind": "flops", "width": 640}
    flops = llm.given(llm.token_flops, "llama3_8b", ops_attn=llm.given(llm.attention_flops, "llama3_8b", S=8192))
    assert show(flops, "FLOP") in page(at)["sentence"]
    assert f"{show(llm.counts('llama3_8b').P / 1e9, '1')} billion" in page(at | {"kind": "parameters"})["sentence"]


def test_it_opens_on_the_first_model():
    made = figure()
    assert made.values["D"] == 4096 and made.values["kind"] == "flops"
    assert "FLOPs of 8B, 8,192 tokens" in repr(made)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({"V3": "deepseek_v3"}, "expected grouped-query attention"),
        ({"GPT-3": "gpt3_175b"}, "expected grouped-query attention"),
        ({"Mixtral": "mixtral_8x7b", "Qwen3": "qwen3_235b_a22b"}, "expected one number of active experts"),
    ],
)
def test_what_it_cannot_draw_is_refused(models, said):
    with pytest.raises(ValueError, match=said):
        llm.layer_page(models)


def test_another_tab_is_refused():
    with pytest.raises(ValueError, match="kind: expected parameters, flops"):
        figure(kind="weights")


def test_a_kind_or_a_count_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="kind: expected parameters"):
        llm.layer_blocks("weights", D=1)
    with pytest.raises(ValueError, match="k: expected 1 to 1"):
        llm.layer_blocks("flops", D=1, k=2)
