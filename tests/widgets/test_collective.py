"""The stepper of a collective: it counts what the schedule moves, meets the formula exactly, and draws what is held."""

import json
import re
from fractions import Fraction

import pytest
from bs4 import BeautifulSoup
from support.stepper_demo import GATHER, REDUCE, SHAPES, V, cards, painting, stepper

from gpuscale.collectives import recursive_doubling_bytes, ring_all_gather
from gpuscale.schedules.collectives import bruck, doubling, exchange, in_network, ring, torus, trees
from gpuscale.schedules.collectives.routes import TorusRoutes
from gpuscale.widgets import transfer_words
from gpuscale.widgets.collective import exact_value

EVERY = sorted(SHAPES)


def spec(name: str) -> dict:
    return json.loads(cards()[name].spec)


@pytest.fixture(scope="module")
def painter():
    with painting("chunks") as paint:
        yield paint


def painted(painter, name, width, t):
    return painter(cards()[name].spec, width, t)


@pytest.mark.parametrize("name", EVERY)
def test_the_meter_counts_what_the_schedule_moves(name):
    schedule, formula = SHAPES[name]
    meter = spec(name)["meter"]
    sent = [Fraction(0)] * schedule.nodes
    for t in range(schedule.steps + 1):
        assert meter["values"][t] == float(max(sent[: schedule.ranks]) * int(V))
        for move in schedule[t] if t < schedule.steps else ():
            sent[move.source] += Fraction(move.units, schedule.whole)
    assert meter.get("equal", False) == (formula is not None)
    if formula:
        assert meter["formula"] == meter["values"][-1] == pytest.approx(formula(N=schedule.ranks, V=V))
    assert 0 < meter["values"][-1] <= meter["full"]


@pytest.mark.parametrize("name", EVERY)
def test_its_moves_lead_to_what_the_schedule_holds(name):
    schedule, data = SHAPES[name][0], spec(name)
    cells = [[int(c, 36) for c in row] for row in data["rows"]]
    for t in range(schedule.steps + 1):
        assert cells == [[len(held or ()) for held in row] for row in schedule.holds(t)]
        for source, target, chunk, share in data["moves"][t] if t < schedule.steps else ():
            assert source != target
            cells[target][chunk] = abs(share)
    assert data["of"] == max(max(row) for row in cells[: schedule.ranks])
    assert len(data["said"]) == data["steps"] + 1 == schedule.steps + 1


@pytest.mark.parametrize("name", EVERY)
def test_the_table_lists_each_transfer_once(name):
    schedule, page = SHAPES[name][0], BeautifulSoup(cards()[name].html, "html.parser")
    rows = page.select(".fallback tbody tr")
    mark = [rows.pop().text] if SHAPES[name][1] else []
    assert [row.td.text for row in rows] == [str(n) for n in range(schedule.steps + 1)]
    assert all(text.startswith("formula: V") and text.endswith(rows[-1].select(".num")[0].text) for text in mark)
    node = {schedule.name(n): n for n in range(schedule.nodes)} | {str(r): r for r in range(schedule.ranks)}
    for t, row in enumerate(rows[1:]):
        found = []
        for phrase in row.small.text.replace("\u00a0", " ").split("; "):
            source, target, chunks = re.fullmatch(r"(.+) → ([^:]+)(?:: (.+))?", phrase).groups()
            for part in (chunks or "0").split(", "):
                first, _, last = part.partition("–")
                found += [(node[source], node[target], c) for c in range(int(first), int(last or first) + 1)]
        assert sorted(found) == sorted((m.source, m.target, m.chunk) for m in schedule[t])
        assert row.select(".num")[0].text == spec(name)["meter"]["text"][t + 1]


@pytest.mark.parametrize("width", [354, 606])
def test_every_frame_is_drawn(painter, width):
    for name in cards():
        data, seen = spec(name), set()
        for t in range(data["steps"] + 1):
            drawing, height = painted(painter, name, width, t)
            assert not re.search(r"NaN|undefined|null|Infinity|\[object", drawing), (name, t)
            seen.add(re.sub(r"<rect class=\"chunk flight.*?/>", "", drawing))
            assert 60 < height < 900
            shapes = re.findall(r'<rect class="(?:slot|box[^"]*)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)
            assert shapes
            for x, room in shapes:
                assert float(x) + float(room) <= width + 0.1, (name, t)
        assert len(seen) == data["steps"] + 1, name


@pytest.mark.parametrize("name", EVERY)
def test_filled_cells_are_those_that_are_held(painter, name):
    """Each cell that holds something is filled, what came is outlined; an exchange is drawn before and after."""
    schedule, data, n = SHAPES[name][0], spec(name), SHAPES[name][0].ranks
    for t in {0, 1, schedule.steps}:
        drawing, _ = painted(painter, name, 606, t)
        filled = len(re.findall(r'<rect class="chunk (?:gone)?"', drawing))
        held = sum(x is not None for row in schedule.holds(t) for x in row)
        if data["view"] == "pair":
            held = schedule.chunks + sum(x is not None for r, row in enumerate(schedule.holds(t)) for x in row[r::n])
        assert filled == held
        moved = len({(target, chunk) for _, target, chunk, _ in data["moves"][t - 1]}) if t else 0
        assert len(re.findall('class="came"', drawing)) == moved * (2 if data["view"] == "pair" else 1)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("scatter 8", 8),
        ("ring 8", 64),
        ("switch", 64),
        ("exchange 8", 64 + 8),
        ("binomial", 8),
    ],
)
def test_at_the_end_the_result_stands_out(painter, name, kept):
    """Partial sums that were sent on, blocks that left and copies of switches are pale; the result is not."""
    drawing, _ = painted(painter, name, 606, spec(name)["steps"])
    assert len(re.findall(r'<rect class="chunk "', drawing)) == kept


def test_cells_fill_as_the_sum_grows(painter):
    drawing, _ = painted(painter, "ring 4 sum", 606, 2)
    (slot,) = set(re.findall(r'<rect class="slot" .*?width="([\d.]+)"', drawing))
    shares = [float(w) / float(slot) for w in re.findall(r'<rect class="chunk (?:gone)?" .*?width="([\d.]+)"', drawing)]
    assert sorted(shares) == pytest.approx([0.25] * 8 + [0.5] * 4 + [0.75] * 4, abs=0.01)
    assert sorted(re.findall(r">(\d)/4<", drawing)) == sorted("1" * 8 + "2" * 4 + "3" * 4)


def test_a_wrong_formula_is_refused():
    both = "ring: the schedule counts 112000000 B, or 7/4 V; the formula says 56000000 B, or 7/8 V"
    with pytest.raises(ValueError, match=both):
        stepper(ring.all_reduce(8), GATHER, name="ring")
    with pytest.raises(ValueError, match="the schedule counts 112000000 B.*the formula says 112000000 B"):
        stepper(ring.all_reduce(8), REDUCE, value=Fraction(112 * 10**6) + Fraction(1, 10**12))
    shown = json.loads(stepper(ring.all_reduce(8), REDUCE, value=112 * 10**6, label="two passes").spec)["meter"]
    assert shown["label"] == "two passes = 112\u00a0MB"


def test_counts_are_compared_exactly():
    assert exact_value(GATHER, N=3, V=10**6) == Fraction(2 * 10**6, 3)
    assert exact_value(recursive_doubling_bytes, N=8, V=1) == 3
    assert stepper(ring.all_gather(3), GATHER, V=10**6)  # a third of a byte is no matter
    with pytest.raises(ValueError, match="expected a rational number"):
        exact_value(recursive_doubling_bytes, N=3, V=1)


def test_what_can_be_counted():
    switch = in_network.all_reduce(8)
    text = {
        count: json.loads(stepper(switch, count=count).spec)["meter"]["text"][-1]
        for count in ("sent", "received", "moved", lambda t: switch.received(8, t))
    }
    assert list(text.values()) == ["64.0\u00a0MB", "64.0\u00a0MB", "1.02\u00a0GB", "512\u00a0MB"]
    link = json.loads(stepper(torus.all_gather((5,)), count="link", routes=TorusRoutes((5,))).spec)["meter"]
    assert link["name"] == "Bytes on the busiest link"
    assert link["values"][-1] == pytest.approx(V * 4 / 10)  # half in each direction
    assert "meter" not in json.loads(stepper(switch, V=0).spec)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"schedule": ring.all_gather(40)}, ValueError, "at most 32 ranks to show; got 40"),
        ({"schedule": ring.broadcast(4, 40)}, ValueError, "at most 32 chunks to show; got 40"),
        ({"schedule": exchange.all_to_all(11)}, ValueError, "at most 10 ranks to show; got 11"),
        ({"schedule": ring.all_gather(1)}, ValueError, "expected at least one step; got none"),
        ({"count": "hops"}, ValueError, "count: expected sent, received, link, moved or a function; got 'hops'"),
        ({"count": "link"}, ValueError, "needs routes"),
        ({"view": "grid"}, ValueError, "view: expected ring or arcs or pair for Ring all-gather; got 'grid'"),
        ({"schedule": in_network.all_gather(4), "view": "pair"}, ValueError, "expected ring or arcs for In-network"),
        ({"schedule": bruck.all_to_all(4), "view": "pair"}, ValueError, "expected ring or arcs for"),
        ({"chunk_names": "ab"}, ValueError, "chunk_names: expected 8; got 2"),
        ({"formula": ring_all_gather}, TypeError, "missing W, alpha|missing alpha, W|missing"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=f"demo: .*{message}|{message}"):
        stepper(**{"schedule": ring.all_gather(8)} | options)


def test_words():
    assert transfer_words.spans([0, 1, 2, 5, 7, 8]) == "0–2, 5, 7, 8"
    said = [spec(name)["said"] for name in ("halving 8", "nodes", "switch", "exchange 8", "chain", "torus")]
    assert said[0][1] == "Ranks 4 apart swap 4 chunks (32.0\u00a0MB) and add what they receive."
    assert (
        said[1][2] == "Ranks at the same position in two nodes swap one chunk (8.00\u00a0MB) and add what they receive."
    )
    assert said[2][1] == "Each rank sends 7 chunks (56.0\u00a0MB) to the switch, which adds them up."
    assert said[3][0] == "At the start each rank holds one block for each rank."
    assert said[4][2] == "Rank 0 sends chunk 1 to rank 1, rank 1 sends chunk 0 to rank 2."
    assert said[5][1] == "Each rank sends one chunk (6.40\u00a0MB) to each neighbor."
    sentences = [sentence for name in cards() for sentence in spec(name)["said"]]
    assert all(re.fullmatch(r"[A-Z0-9].*[a-z)\d]\.", sentence) for sentence in sentences)
    assert len([s for s in sentences if re.match(r"\d+ transfers", s)]) < 0.1 * len(sentences)


def test_words_say_which_way_a_step_goes():
    def said(schedule):
        return [transfer_words.happening(schedule, step, str) for step in range(schedule.steps)]

    back = said(trees.reduce(8))
    assert "to the rank 4 places earlier" in back[0] and "rank 2 sends" in back[1].lower()
    assert not [words for words in back if "later" in words]
    on = said(trees.broadcast(8))
    assert "to the rank 4 places later" in on[2] and not [words for words in on if "earlier" in words]
    round_ = said(bruck.all_gather(6))
    assert all(words.endswith((", around the ring.", "the next rank.", "the previous rank.")) for words in round_)
    for schedule in (trees.reduce(8), trees.broadcast(8), bruck.all_gather(6), trees.reduce(5)):
        for step, words in enumerate(said(schedule)):  # as the arrows go
            pairs = transfer_words.pairs(schedule[step])
            if far := re.search(r"the (?:rank (\d+) places )?(earlier|later|previous|next)\b", words):
                way = int(far[1] or 1) * (-1 if far[2] in ("earlier", "previous") else 1)
                assert {(b - a - way) % schedule.ranks for a, b in pairs} == {0}


def test_colours_follow_the_origin_where_ranks_hold_several_chunks():
    assert spec("exchange 8")["tints"][:9] == [0] * 8 + [1]
    assert spec("exchange 8")["names"][:9] == [*"01234567", "0"]
    assert "tints" not in spec("ring 8") and "tints" not in spec("chain")


def test_switches_stand_over_what_they_serve():
    assert spec("switch")["switches"] == [["switch", 0, 7, 1]]
    levels = [(low, high, level) for _, low, high, level in spec("three levels")["switches"]]
    assert levels == [(0, 1, 1), (2, 3, 1), (4, 5, 1), (6, 7, 1), (0, 3, 2), (4, 7, 2), (0, 7, 3)]
    assert [s[1:] for s in spec("rails")["switches"]] == [[0, 3, 1], [4, 7, 1], [0, 7, 2]]  # the rail goes past


def test_cards_are_light_and_always_the_same():
    assert max(len(card.html.encode()) for card in cards().values()) < 30_000
    again = stepper(doubling.halving_doubling(8), REDUCE, name="halving 8")
    assert again.html == cards()["halving 8"].html
    assert repr(again) == (
        "Halving-doubling all-reduce: 8 ranks, 6 steps; sent by the busiest rank: 112\u00a0MB, as the formula gives"
    )


def test_rows_may_be_whole_nodes():
    card = stepper(ring.all_gather(4), row="node", V=4e6, title="Ring of nodes")
    found = json.loads(card.spec)
    assert found["row"] == "node {}" and found["hue"] == "scaleout"
    assert found["said"][1] == "Each node sends one chunk (1.00\u00a0MB) to the next node."
    assert repr(card).startswith("Ring of nodes: 4 nodes, 3 steps")
    assert "row" not in spec("ring 8")


def test_the_meter_has_the_hue_of_the_links_that_it_counts():
    near, far = (stepper(ring.all_reduce(4), REDUCE, **more) for more in ({}, {"meter_hue": "scaleout"}))
    assert [json.loads(card.spec)["meter"]["hue"] for card in (near, far)] == ["scaleup", "scaleout"]
