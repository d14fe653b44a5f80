"""The SMs of the page in a JavaScript engine, against tiles that are cut and dealt one by one, and formulas."""

import json
import random
import re

import pytest

from gpuscale.book.frames import engine
from gpuscale.one_gpu import (
    block_limit,
    issue_share,
    matmul_math_time,
    occupancy,
    register_limit,
    resident_warps,
    slot_limit,
    smem_limit,
    wave_fill,
)
from gpuscale.schedules.timelines.hiding import turns as played
from gpuscale.schedules.timelines.waves import cut, dealt, used
from gpuscale.specs import chip
from gpuscale.units import KiB, show
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
    loads = {"L1": 34, "L2": 266, "HBM": 650}
    book = dict(rows=896, columns=2432, loads=loads, name="waves", title="Tiles on SMs", caption="<b>Whole waves.</b>")
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
            "level": "die",
            "sm": 66,
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


# --- one SM ---

LIMITS = {
    "registers": register_limit,
    "shared memory": smem_limit,
    "warp slots": slot_limit,
    "block slots": block_limit,
}
SM = {
    "R_sm": H100.registers_per_sm,
    "n_sub": H100.subpartitions_per_sm,
    "g_reg": H100.register_allocation_unit,
    "w_lanes": H100.warp_size,
    "S_smem": H100.smem_per_sm,
    "S_res": H100.smem_reserved_per_block,
    "g_smem": H100.smem_allocation_unit,
    "n_block": H100.max_blocks_per_sm,
    "w_max": H100.max_warps_per_sm,
}


def opened(many: int) -> list[dict]:
    dice = random.Random(7)
    return [
        {
            "level": "sm",
            "sm": dice.randrange(H100.sm),
            "M": 896,
            "N": 2432,
            "tile": "128x128",
            "R": dice.choice([16, 32, 64, 8 * dice.randint(2, 31)]),
            "S": dice.choice([0, KiB * dice.randint(0, 48), KiB * dice.randint(0, 227)]),
            "w_block": dice.choice([4, 4, 8, 12, 16, 32]),
            "n_run": dice.choice([1, 64, dice.randint(1, 64)]),
            "n_wait": dice.choice([1, 34, 266, dice.randint(1, 700)]),
            "width": dice.choice([270, 340, 650]),
            "at": dice.choice([0, 1, dice.random()]),
        }
        for _ in range(many)
    ]


@pytest.fixture(scope="module")
def inside():
    return shown_of(opened(220))


def kernel(state: dict) -> dict:
    return dict(R=state["R"], S_block=state["S"], w_block=state["w_block"], **SM)


def bound(state: dict) -> dict[str, float]:
    """The warps that each limit allows."""
    return {
        name: float(formula(**{q.name: kernel(state)[q.name] for q in formula.inputs}))
        for name, formula in LIMITS.items()
    }


def test_resident_warps_are_those_of_the_formulas(inside):
    for state, page in inside:
        warps = float(resident_warps(**kernel(state)))
        assert page["warps"] == warps and page["n"] == warps / SM["n_sub"], state
        assert list(page["limits"].values()) == list(bound(state).values()), state
        assert min(bound(state).values()) == warps
        assert page["occ"] == pytest.approx(float(occupancy(**kernel(state))))
        allocated = -(-state["R"] * 32 // SM["g_reg"]) * SM["g_reg"] / (SM["R_sm"] / SM["n_sub"])
        assert page["each"] == pytest.approx(allocated)
        assert page["block"] == pytest.approx((state["S"] + SM["S_res"]) / SM["S_smem"])
    assert {page["warps"] for _, page in inside} > {0, 64}


def test_a_scheduler_runs_as_it_is_played_cycle_by_cycle(inside):
    for state, page in inside:
        n, run, wait, period = int(page["n"]), state["n_run"], state["n_wait"], page["period"]
        assert period == max(run + wait, n * run), state
        seen = played(n, run, wait, 3 * period)[period:]
        drawn = [["waits"] * n for _ in seen]
        for burst in page["bursts"]:
            for what, since, until in (("is ready", "ready", "from"), ("issues", "from", "to")):
                for cycle in range(max(0, burst[since]), min(2 * period, burst[until])):
                    drawn[cycle][burst["w"]] = what
        assert drawn == seen, state
        busy = sum("issues" in now for now in seen[:period]) / period
        assert page["share"] == pytest.approx(busy, rel=1e-12)


def test_the_count_of_issue_slots_meets_the_formula(inside):
    for state, page in inside:
        given = dict(w_res=page["warps"], n_sub=SM["n_sub"], n_run=state["n_run"], n_wait=state["n_wait"])
        mark = float(issue_share(**given)) if page["warps"] else 0
        assert page["share"] == pytest.approx(mark, abs=1e-12) and page["mark"] == pytest.approx(mark, abs=1e-12)
        assert page["meter"]["met"] and page["meter"]["words"] == show(mark, "%")
        assert page["meter"]["label"].endswith(f" = {show(mark, '%')}")
        total = 2 * page["period"] / H100.boost_clock
        assert page["total"] == pytest.approx(total) and all(0 < mark < total for mark in page["marks"])
        said = eval(page["call"], {"issue_share": issue_share, "resident_warps": resident_warps})
        assert said == pytest.approx(mark, abs=1e-12)


def test_words_inside_an_sm_say_the_same_numbers(inside):
    for state, page in inside:
        sentence, words = plain(page["sentence"]), {key: plain(text) for key, text in page["words"].items()}
        limits, warps, need = bound(state), page["warps"], -(-(state["n_run"] + state["n_wait"]) // state["n_run"])
        limit = re.search(r"The limit: ([a-z ]+)\.", sentence)[1]
        assert limits[limit] == warps
        assert [[row[0], row[1]] for row in page["table"][1:]] == [[name, warps] for name, warps in limits.items()]
        cycle = int(state["at"] * 2 * page["period"] + 1e-6)
        assert page["place"] == f"cycle {cycle:,} of {2 * page['period']:,}", state
        assert str(state["n_run"]) in words["one"] and f"waits {state['n_wait']} cycles" in words["one"]
        assert plain(show(state["S"], "KiB", short=True)) in words["shared"]
        assert words["registers"] == f"{state['R']} registers per thread"
        if not warps:
            assert sentence.startswith("No block fits")
            continue
        assert sentence.startswith(f"{warps:.0f} warps are resident, an occupancy of {show(warps / SM['w_max'], '%')}.")
        assert f"a scheduler needs {need} warps, and it has {warps / 4:.0f}." in sentence
        idle = 1 - min(1, warps / 4 * state["n_run"] / (state["n_run"] + state["n_wait"]))
        assert ("A warp is always ready." in sentence) == (idle < 1e-12), state
        assert (f"It issues nothing in {show(idle, '%')} of the cycles." in sentence) == (idle > 1e-12), state


def test_an_sm_is_opened_by_a_press_and_takes_what_can_be_allocated():
    page = engine("sms")
    press = "JSON.stringify(gpuscale.figures.sms.act({{ p: {{ level: '{}' }} }}, '40'))"
    assert json.loads(page.eval(press.format("die"))) == {"level": "sm", "sm": 40}
    assert json.loads(page.eval(press.format("sm"))) == {"level": "die"}
    odd = json.dumps({"R": 33, "S": 1500, "w_block": 7})
    fitted = json.loads(page.eval(f"JSON.stringify(gpuscale.figures.sms.fit({odd}))"))
    assert fitted == {"R": 32, "S": 1024, "w_block": 8}


def test_it_opens_on_one_tile_in_a_second_wave():
    assert "133 tiles on 132 SMs: 2 waves, 50.4% of the SMs' time used" in repr(figure())
    spec = json.loads(figure().spec)
    assert [len(cut(p["M"], p["N"], (128, 128))) for _, p, _ in spec["presets"]] == [132, 133]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tile": (32, 32)}, r"tile: expected one of \(64, 128\), .*; got \(32, 32\)"),
        ({"columns": 4096}, "columns: expected 256 to 3072; got 4096"),
        ({"rows": 64}, "rows: expected 128 to 3072; got 64"),
        ({"level": "gpc"}, "level: expected die or sm; got gpc"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
