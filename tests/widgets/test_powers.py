"""The zoom of the page in a JavaScript engine: its times against the formulas, its pipes against bandwidths."""

import json
import math
import random
import re

import pytest

from gpuscale import units
from gpuscale.book.frames import engine
from gpuscale.network import topology
from gpuscale.one_gpu import bytes_in_flight, transfer_time
from gpuscale.specs import chip
from gpuscale.units import MB, show
from gpuscale.widgets import Memory, powers_stage, powers_world
from gpuscale.widgets.powers import SIZES

GPU, POD = chip("h100_sxm"), topology("h100_pod_1024")
MEMORIES = {
    "smem": Memory("shared memory", "shared", "memory", 30e6, 33.4e12, 19.5e-9),
    "l2": Memory("the L2", "L2", "memory", 52e6, 9.7e12, 151.3e-9),
    "hbm": Memory("its HBM", "HBM", "memory", 80e9, 3.35e12, 370.3e-9),
    "nvlink": Memory("a neighbor", "GPU", "scaleup", 560e9, GPU.nvlink_bw, 3.4e-6),
    "host": Memory("the host", "host", "plain", 2e12, 63e9, 5.7e-6),
    "network": Memory("another node", "node", "scaleout", 81.28e12, GPU.nic_bw, 14e-6),
}
KEYS, PACKETS = list(MEMORIES), 16
UNITS = "B kB MB GB TB ns us ms".split()
SCOPE = {"transfer_time": transfer_time} | {name: getattr(units, name) for name in UNITS}
SHOWN = """(spec, states) => JSON.stringify(states.map(({ width, at, ...p }) => {
  const figure = gpuscale.figures.powers, view = Object.assign(gpuscale.seen(spec, p), { width });
  view.height = figure.height(view);
  const t = at * view.solved.total, shapes = figure.draw(view, t).flat(9).filter(Boolean);
  const words = Object.fromEntries(shapes.filter((s) => s.words).map((s) => [s.key, s.words]));
  const drawn = Object.fromEntries(shapes.map((s) => [s.key, s]));
  const said = { sentence: figure.sentence(view), table: figure.table(view), call: figure.call(view) };
  return { ...figure.numbers(view, t), ...said, place: figure.place(view, t), t, words, drawn };
}))"""


def figure(**options):
    book = dict(
        gpu=GPU, pod=POD, memories=MEMORIES, time=transfer_time, flight=bytes_in_flight, registers=3e12, V=1 * MB
    )
    return powers_stage(**book | options, name="powers", title="Powers", caption="<b>Few.</b>")


def states(many: int) -> list[dict]:
    dice = random.Random(5)
    return [
        {
            "zoom": round(dice.uniform(0, 5), 2),
            "V": float(f"{10 ** dice.uniform(*map(math.log10, SIZES)):.2g}"),
            "only": dice.randrange(len(KEYS) + 1),
            "at": dice.choice([0, dice.random(), dice.random(), 1]),
            "width": dice.choice([640, 340]),
        }
        for _ in range(many)
    ]


@pytest.fixture(scope="module")
def spec():
    return json.loads(figure().spec)


@pytest.fixture(scope="module")
def shown(spec):
    given = states(220)
    page = engine("powers").eval(f"({SHOWN})({json.dumps(spec)}, {json.dumps(given)})")
    return list(zip(given, json.loads(page), strict=True))


def plain(text: str) -> str:
    return re.sub(r"<.*?>", "", text).replace("\u00a0", " ")


def said(value: float, unit: str, **more) -> str:
    return plain(show(value, unit, **more))


def time_of(key: str, V: float) -> float:
    return float(transfer_time(V=V, W=MEMORIES[key].bandwidth, alpha=MEMORIES[key].latency))


def chosen(state: dict) -> list[str]:
    return KEYS if state["only"] == 0 else [KEYS[state["only"] - 1]]


def test_times_and_packets_are_those_of_the_formula(shown):
    for state, page in shown:
        assert page["total"] == pytest.approx(max(time_of(key, state["V"]) for key in chosen(state)), rel=1e-12)
        for key, on_page, flight in zip(KEYS, page["memories"], page["flights"], strict=True):
            memory, t = MEMORIES[key], page["t"]
            arrivals = [time_of(key, state["V"] * i / PACKETS) for i in range(1, PACKETS + 1)]
            assert on_page["arrivals"] == pytest.approx(arrivals, rel=1e-12)
            assert on_page["end"] == pytest.approx(arrivals[-1], rel=1e-12)
            assert on_page["flow"] == pytest.approx(state["V"] / memory.bandwidth, rel=1e-12)
            full = bytes_in_flight(W=memory.bandwidth, alpha=memory.latency)
            assert on_page["full"] == pytest.approx(full, rel=1e-12)
            half = memory.latency / 2
            if min(abs(t - at) for end in arrivals for at in (end, end - half)) > 1e-6 * t:
                assert flight["home"] == sum(end <= t for end in arrivals), (state, key)
                way = [1 - (end - t) / half for end in arrivals if end - half <= t < end]
                assert flight["on"] == pytest.approx(way, abs=1e-6), (state, key)


def test_words_say_the_same_numbers(shown):
    for state, page in shown:
        V, last, words = state["V"], chosen(state)[-1], page["words"]
        total, own, sentence = time_of(last, V), time_of("hbm", V), plain(page["sentence"])
        takes = f"{said(V, 'B', short=True)} from {MEMORIES[last].name} takes {said(total, 's')}."
        assert takes in sentence, state
        if total > own:
            assert f"That is {said(total / own, '1')} times as long" in sentence, state
        elif total < own:
            assert f"That is {said(total / own, '%')} of the time" in sentence, state
        if state["only"]:
            flow = said(V / MEMORIES[last].bandwidth, "s")
            assert f"The latency is {said(MEMORIES[last].latency, 's')}, and the bytes take {flow}." in sentence
        done = sum(time_of(key, V) <= page["t"] * (1 + 1e-9) for key in chosen(state))
        place = f"{said(page['t'], 's')} of {said(total, 's')}, {done} of {len(chosen(state))} done"
        assert plain(page["place"]) == place, state
        for (key, memory), row in zip(MEMORIES.items(), page["table"][1:], strict=True):
            time = time_of(key, V)
            full = bytes_in_flight(W=memory.bandwidth, alpha=memory.latency)
            holds, rate = said(memory.capacity, "B", short=True), said(memory.bandwidth, "B/s")
            cells = [memory.name, holds, rate, said(memory.latency, "s"), said(V / memory.bandwidth, "s")]
            assert [plain(c) for c in row] == [*cells, said(time, "s"), said(full, "B", short=True)]
            assert plain(words[f"end {key}"]) == said(time, "s")
            if state["width"] > 520:
                assert (plain(words[f"holds {key}"]), plain(words[f"delivers {key}"])) == (holds, rate)
            else:
                assert plain(words[f"low {key}"]) == f"{holds} at {rate}"
        counts = [1, 4, 128, 1024, 1024 * 132, 1024 * 132 * 4]
        assert [words[f"count{k}"].strip("× ") for k in range(6)] == [f"{count:,}" for count in counts]
        assert eval(page["call"], SCOPE) == pytest.approx(total, rel=1e-5)


def test_all_pipes_in_view_have_the_scale_that_the_page_states(shown, spec):
    layers, pipes = spec["data"]["layers"], 0
    for state, page in shown:
        rate = plain(page["words"]["gaugename"]).partition(":")[0]
        value = page["drawn"]["gauge"]["stroke-width"] / page["g"]
        assert rate == said(value, "B/s"), state
        for key, shape in page["drawn"].items():
            if shape.get("class", "").startswith("pipe"):
                pipes += 1
                assert shape["stroke-width"] == pytest.approx(layers[int(key.split(".")[0])]["W"] * page["g"], rel=1e-9)
        assert len(page["drawn"]) < 600, state
    assert pipes > 2000


def test_bars_are_as_long_as_times(shown):
    for state, page in shown:
        longest = max(time_of(key, state["V"]) for key in KEYS)
        for key in KEYS:
            whole, bars = page["drawn"][f"ghost {key}"]["width"], page["drawn"]
            full = page["drawn"]["ghost network"]["width"]
            sides = 330 + 74 if state["width"] > 520 else 0  # columns of numbers
            assert full == pytest.approx(state["width"] - sides)
            assert whole == pytest.approx(max(0.8, full * time_of(key, state["V"]) / longest), rel=1e-9)
            done = min(page["t"], time_of(key, state["V"])) if key in chosen(state) else time_of(key, state["V"])
            for name, part in (("wait", min(done, MEMORIES[key].latency)), ("flow", done - MEMORIES[key].latency)):
                width = bars.get(f"{name} {key}", {"width": 0})["width"]
                assert width == pytest.approx(max(0.8, full * part / longest) if part > 1e-15 else 0, abs=1e-6)


# --- the world ---


def copies(layer: dict) -> int:
    return math.prod(many for many, *_ in layer["by"])


def boxes(layers: list[dict], frame: str, look: str, width: float) -> int:
    """How many boxes of a look and a width a frame has."""
    return sum(
        copies(each)
        for each in layers
        if each["in"] == frame and each["look"] == look and each.get("box", [0] * 3)[2] == width
    )


def test_everything_is_there_and_widths_add_up(spec):
    layers = spec["data"]["layers"]
    units, node = spec["data"]["frames"]["unit"], POD.at("Node")
    assert len(units) * boxes(layers, "unit", "solid compute", 0.8075) == POD.ranks
    assert len(units) * boxes(layers, "unit", "paper", 4.75) == POD.ranks / node.level.degree
    assert boxes(layers, "unit", "solid scaleout", 4) == POD.at("Leaf").level.switches
    assert boxes(layers, "pod", "solid scaleout", 3.9) == POD.at("Spine").level.switches
    assert boxes(layers, "gpu", "solid compute", 4.1) == GPU.sm
    assert boxes(layers, "sm", "solid compute", 17) == GPU.tensor_cores_per_sm
    assert boxes(layers, "sm", "solid compute", 1.9) == GPU.fp32_lanes_per_sm
    memory = [each for each in layers if each["in"] == "home" and each["look"] == "pipe memory"]
    stacks, columns = memory[:5], memory[5:]
    assert sum(each["W"] for each in stacks) == pytest.approx(MEMORIES["hbm"].bandwidth)
    whole = sum(each["W"] * each["d"].count("M") for each in columns if "42.5" in each["d"] or "57.5" in each["d"])
    assert whole == pytest.approx(MEMORIES["l2"].bandwidth)
    trunks = [each["W"] for each in layers if each["in"] == "node" and each["look"] == "pipe scaleout"]
    assert sorted(trunks)[-2:] == [4 * GPU.nic_bw] * 2
    links = [each for each in layers if each["in"] == "node" and each["look"] == "pipe scaleup"]
    assert sum(each["W"] for each in links) == 2 * GPU.nvlink_bw  # the upper and the lower four GPUs
    risers = max(each["W"] for each in layers if each["in"] == "unit" and "d" in each)
    assert risers == 4 * node.level.degree * GPU.nic_bw


def test_routes_lead_from_each_memory_to_the_home_sm(spec):
    data = spec["data"]
    for memory in data["memories"]:
        _, frame, (x, y, w, h), by = memory["press"]
        fx, fy, k, *_ = data["frames"][frame][0]
        corners = [(0.0, 0.0)]
        for many, dx, dy in by:
            corners = [(cx + i * dx, cy + i * dy) for cx, cy in corners for i in range(many)]
        (px, py), (qx, qy) = data["routes"][memory["key"]][0], data["routes"][memory["key"]][-1]
        inside = [0 <= (px - fx) / k - x - cx <= w and 0 <= (py - fy) / k - y - cy <= h for cx, cy in corners]
        assert any(inside), memory["key"]
        sx, sy, k, w, h, _ = data["frames"]["sm"][0]
        assert sx < qx < sx + w * k and sy < qy < sy + h * k


def test_frames_lie_inside_frames():
    for outer, inner in zip(powers_world.PATH, powers_world.PATH[1:], strict=False):
        assert outer.x < inner.x and inner.x + inner.w * inner.k < outer.x + outer.w * outer.k
        assert outer.y < inner.y and inner.y + inner.h * inner.k < outer.y + outer.h * outer.k


def test_it_opens_when_everything_has_arrived():
    text = repr(figure()).replace("\u00a0", " ")
    assert "its HBM: 1.00 MB in 669 ns" in text and "another node: 1.00 MB in 34.0 µs" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memories": {key: MEMORIES[key] for key in KEYS[1:]}}, "memories: expected smem, l2, .*; got l2, hbm"),
        ({"gpu": chip("a100_sxm")}, "expected .*'sms': 132.*; got .*'sms': 108"),
        ({"pod": topology("h100_su")}, "expected a network with nodes, leaves and spines"),
        ({"pod": topology("b200_pod_1024")}, "expected .*'switches': 4.*; got .*'switches': 2"),
    ],
)
def test_what_it_cannot_draw_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        figure(**options)
