"""The SMs of the page in a JavaScript engine, against tiles that are cut and dealt one by one, and formulas."""

import json
import random
import re

import pytest

from gpuscale.book.frames import engine
from gpuscale.one_gpu import matmul_math_time, wave_fill
from gpuscale.schedules.timelines.waves import cut, dealt, used
from gpuscale.specs import chip
from gpuscale.units import show
from gpuscale.widgets import sms_stage
from gpuscale.widgets.sms import MOST, TILES

H100 = chip("h100_sxm")
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const sms = gpuscale.figures.sms, view = Object.assign(gpuscale.seen(spec, p), { width: p.width });
  const t = p.at * view.solved.total, shapes = sms.draw(view, t).flat(9).filter(Boolean);
  const words = Object.fromEntries(shapes.filter((s) => s.words).map((s) => [s.key, s.words]));
  const boxes = Object.fromEntries(shapes.filter((s) => 'd' in s).map((s) => [s.key, s.d.split('M').length - 1]));
  const told = ['sm 0', 'sm 131'].map((told) => sms.hover(view, { dataset: { told } }, t));
  const said = { sentence: sms.sentence(view, t), table: sms.table(view, t), call: sms.call(view, t) };
  const more = { place: sms.place(view, t), meter: sms.meter(view, t), told };
  return { ...sms.numbers(view, t), ...said, ...more, words, boxes };
}))"""


def figure(**options):
    book = dict(rows=896, columns=2432, name="waves", title="Tiles on SMs", caption="<b>Whole waves.</b>")
    return sms_stage(H100, **book | options)


def plain(text: str) -> str:
    return re.sub(r"<.*?>", "", text).replace("\u00a0", " ")


def states(many: int) -> list[dict]:
    dice = random.Random(5)
    out = []
    for _ in range(many):
        tile = dice.choice(TILES)
        state = {
            "M": dice.randrange(128, MOST + 1, 32),
            "N": dice.randrange(256, MOST + 1, 32),
            "tile": "x".join(map(str, tile)),
            "width": dice.choice([270, 340, 650]),
            "at": dice.choice([0, 1, 0.97, dice.random()]),
        }
        if dice.random() < 0.2:  # one tile too many, or none
            down, across = dice.choice([(7, 19), (11, 12), (12, 11), (19, 7), (12, 22)])
            state |= {"tile": "128x128", "M": 128 * down, "N": 128 * across}
        out.append(state)
    return out


def shown_of(many: list[dict]) -> list[tuple[dict, dict]]:
    spec = figure().spec
    return list(zip(many, json.loads(engine("sms").eval(f"({SHOWN})({spec}, {json.dumps(many)})")), strict=True))


@pytest.fixture(scope="module")
def shown():
    return shown_of(states(220))


def worked(state: dict):
    """The tile of a state, its turns, how many SMs work in each wave, and the time of one wave [s]."""
    tile = tuple(map(int, state["tile"].split("x")))
    turns = dealt(len(cut(state["M"], state["N"], tile)), H100.sm)
    busy = [sum(turn.wave == wave for turn in turns) for wave in range(1 + turns[-1].wave)]
    one = float(matmul_math_time(B=tile[0], F=tile[1], D=4096, C=H100.bf16)) * H100.sm
    return tile, turns, busy, one


def test_tiles_waves_and_times_are_those_of_the_schedule(shown):
    for state, page in shown:
        tile, turns, busy, one = worked(state)
        assert page["tiles"] == len(turns) and page["busy"] == busy and page["waves"] == len(busy), state
        assert page["rows"] * page["columns"] == len(turns)
        assert page["used"] == pytest.approx(float(used(turns, H100.sm)), rel=1e-12)
        assert page["fill"] == pytest.approx(wave_fill(n_tiles=len(turns), n_sm=H100.sm), rel=1e-12)
        assert page["one"] == pytest.approx(one, rel=1e-9) and page["total"] == pytest.approx(len(busy) * one, rel=1e-9)
        assert page["marks"] == pytest.approx([one * (k + 1) for k in range(len(busy) - 1)], rel=1e-9)
        assert page["inside"] == pytest.approx(state["M"] * state["N"] / (len(turns) * tile[0] * tile[1]), rel=1e-12)


def test_the_drawing_has_a_box_for_each_tile_and_each_sm(shown):
    for state, page in shown:
        _, turns, busy, one = worked(state)
        now = min(len(busy) - 1, int(state["at"] * len(busy) + 1e-9))
        assert page["wave"] == now, state
        boxes = page["boxes"]
        assert (boxes["fill"], boxes["idle"]) == (busy[now], H100.sm - busy[now])
        assert [boxes[key] for key in ("past", "run", "later")] == [sum(busy[:now]), busy[now], sum(busy[now + 1 :])]
        last = max((turn for turn in turns if turn.wave == now), key=lambda turn: turn.sm)
        told = plain(page["told"][1])
        if last.sm == H100.sm - 1:
            assert told == f"SM {H100.sm}works on tile {(now + 1) * H100.sm:,} of {len(turns):,}"
        else:
            assert told == f"SM {H100.sm}has no tile in wave {now + 1}"


def test_the_saw_tooth_is_the_schedule_of_each_width(shown):
    for state, page in shown[:60]:
        tile, *_ = worked(state)
        for c, tooth in enumerate(page["teeth"], 1):
            turns = dealt(len(cut(state["M"], c * tile[1], tile)), H100.sm)
            assert (tooth["n_tiles"], tooth["waves"]) == (len(turns), turns[-1].wave + 1), state
            assert tooth["fill"] == pytest.approx(float(used(turns, H100.sm)), rel=1e-12)
        assert len(page["teeth"]) == MOST / tile[1]


def test_words_say_the_same_numbers(shown):
    for state, page in shown:
        tile, turns, busy, one = worked(state)
        many, last, fill = len(turns), busy[-1], float(used(turns, H100.sm))
        outside = 1 - state["M"] * state["N"] / (many * tile[0] * tile[1])
        sentence, words = plain(page["sentence"]), {key: plain(text) for key, text in page["words"].items()}
        assert sentence.startswith(f"{many:,} tiles take {len(busy)} wave{'s' * (len(busy) > 1)}. ")
        idle = H100.sm - last
        assert (f"In the last wave, {idle} SM{' is' if idle == 1 else 's are'} idle." in sentence) == (idle > 0)
        assert ("No SM is idle" in sentence) == (idle == 0)
        before, total = plain(show((len(busy) - 1) * one, "s")), plain(show(len(busy) * one, "s"))
        assert (f"would take {before} instead of {total}." in sentence) == (len(busy) > 1 and idle > 0), state
        assert (f"last {last} tiles" in sentence) == (len(busy) > 1 and idle > 0 and last > 1)
        assert total in sentence and (show(outside, "%") in sentence) == (outside > 0)
        assert words["name"] == f"C, M × N: {state['M']:,} × {state['N']:,}"
        assert words["tiles"] == f"{page['rows']} × {page['columns']} = {many:,} tiles"
        assert words["sawnow"] == show(fill, "%")
        assert plain(page["meter"]["words"]) == f"{many:,} or {show(fill, '%')}" and page["meter"]["met"]
        assert page["meter"]["mark"] == pytest.approx(many, rel=1e-12) and page["meter"]["full"] == len(busy) * H100.sm
        assert page["meter"]["label"].endswith(f" = {show(fill, '%')}")
        assert page["place"] == f"wave {page['wave'] + 1} of {len(busy)}"
        rows = [
            [k + 1, each, H100.sm - each, *(plain(show(one * end, "s")) for end in (k, k + 1))]
            for k, each in enumerate(busy)
        ]
        assert [[*row[:3], *map(plain, row[3:])] for row in page["table"][1:]] == rows
        assert eval(page["call"], {"wave_fill": wave_fill}) == pytest.approx(fill)


def test_it_opens_on_one_tile_in_a_second_wave():
    assert "133 tiles on 132 SMs: 2 waves, 50.4% of the SMs' time used" in repr(figure())
    spec = json.loads(figure().spec)
    assert [len(cut(p["M"], p["N"], (128, 128))) for _, p in spec["presets"]] == [132, 133]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tile": (32, 32)}, r"tile: expected one of \(64, 128\), .*; got \(32, 32\)"),
        ({"columns": 4096}, "rows, columns: expected at most 3072 each; got 896 × 4096"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
