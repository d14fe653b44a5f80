"""Schedules played step by step on the page, against the schedules themselves; and what the maker refuses."""

import json
import random
import re
from fractions import Fraction

import numpy as np
import pytest

from gpuscale.book.frames import engine, frame
from gpuscale.collectives import (
    all_gather_bytes,
    all_reduce_bytes,
    all_to_all_bytes,
    recursive_doubling_bytes,
    reduce_scatter_bytes,
    ring_all_gather,
)
from gpuscale.network import ring_load_odd
from gpuscale.schedules.collectives import bruck, doubling, exchange, hierarchical, in_network, ring, torus, trees
from gpuscale.schedules.collectives.routes import TorusRoutes, Tree
from gpuscale.units import MB
from gpuscale.widgets import Played, steps_stage, transfer_words
from gpuscale.widgets.steps import exact_value

V = 64 * MB
TABS = {
    "ring 2": Played(ring.all_reduce, 2, all_reduce_bytes),
    "ring 3": Played(ring.all_reduce, 3, all_reduce_bytes),
    "gather 4": Played(ring.all_gather, 4, all_gather_bytes),
    "ring 8": Played(ring.all_reduce, 8, all_reduce_bytes),
    "ring 16": Played(ring.all_reduce, 16, all_reduce_bytes),
    "scatter 8": Played(ring.reduce_scatter, 8, reduce_scatter_bytes),
    "halving 8": Played(doubling.halving_doubling, 8, all_reduce_bytes),
    "doubling 8": Played(doubling.all_reduce, 8, recursive_doubling_bytes),
    "bruck": Played(bruck.all_gather, 6, all_gather_bytes),
    "nodes": Played(hierarchical.all_reduce, (4, 2), all_reduce_bytes, {"N": 4}, Tree((4, 2), rails=True), "NVLink"),
    "units": Played(hierarchical.all_gather, (2, 2, 4), all_gather_bytes),
    "exchange": Played(exchange.all_to_all, 5, all_to_all_bytes),
    "torus": Played(torus.all_to_all, (5,), ring_load_odd, routes=TorusRoutes((5,))),
}
KEYS = {label.replace(" ", "-"): label for label in TABS}
MADE = {label: tab.way(tab.size) for label, tab in TABS.items()}
MODULES = {"bruck": bruck, "doubling": doubling, "exchange": exchange, "hierarchical": hierarchical, "ring": ring}
SCOPE = MODULES | {"torus": torus, "Tree": Tree, "TorusRoutes": TorusRoutes, "MB": MB}
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const steps = gpuscale.figures.steps, view = Object.assign(gpuscale.seen(spec, p), { width: 640 });
  const t = p.at * view.solved.total, shapes = steps.draw(view, t).flat(9).filter(Boolean);
  const cells = Object.fromEntries(shapes.map((shape) => [shape.key, shape.words ?? shape.class]));
  const said = { sentence: steps.sentence(view, t), place: steps.place(view, t), call: steps.call(view) };
  return { ...steps.numbers(view, t), ...said, cells, meter: steps.meter(view, t), marks: view.solved.marks };
}))"""


def figure(tabs=TABS, **options):
    return steps_stage(tabs, **dict(name="demo", title="A demo", caption="<b>Chunks move.</b>", V=V, at=1) | options)


def states(many: int) -> list[dict]:
    """Tabs, a chunk that is followed or none, and moments: also the start, the end and the ends of steps."""
    dice, out = random.Random(5), []
    for number in range(many):
        key = [*KEYS][number % len(KEYS)]
        made = MADE[KEYS[key]]
        at = dice.choice([dice.random(), dice.randint(0, made.steps) / made.steps])
        out.append({"kind": key, "follow": dice.randint(-1, made.chunks), "at": at})
    return out


def shown(card, all_states) -> list[dict]:
    return json.loads(engine("steps").eval(f"({SHOWN})({card.spec}, {json.dumps(all_states)})"))


def counted(label: str, done: int) -> Fraction:
    """The bytes that count after some steps, one transfer after the other."""
    made, routes, loads = MADE[label], TABS[label].routes, {}
    for step in range(done):
        for one in made[step]:
            ways = routes.ways(one.source, one.target) if routes else [(1, (one.source,))]
            for share, links in ways:
                for link in links:
                    loads[link] = loads.get(link, 0) + Fraction(one.units, made.whole) * share
    return max(loads.values(), default=Fraction(0)) * int(V)


def test_page_and_schedule_agree_in_every_state():
    all_states = states(260)
    for state, page in zip(all_states, shown(figure(), all_states), strict=True):
        label = KEYS[state["kind"]]
        made, t = MADE[label], state["at"] * MADE[label].steps
        done = int(t + 1e-6)
        step = done if t - done > 1e-6 else done - 1  # the one under way or just done
        held = [[len(ranks or ()) for ranks in row] for row in made.holds(done)]
        full = max(max(row) for row in ([len(x or ()) for x in row] for row in made.holds(made.steps)))
        assert [[int(c, 36) for c in row] for row in page["held"]] == held, state
        assert page["counted"] == float(counted(label, done)), state
        assert page["place"] == f"step {step + 1} of {made.steps}", state
        cells = {key for key in page["cells"] if re.fullmatch(r"cell\d+\.\d+", key)}
        assert cells == {f"cell{r}.{c}" for r, row in enumerate(held) for c, n in enumerate(row) if n}, state
        for cell in cells:
            rank, chunk = map(int, cell.removeprefix("cell").split("."))
            if word := page["cells"].get(f"{cell}name"):
                name = chunk % made.ranks if label in ("exchange", "torus") else chunk
                assert word in ({str(name), f"{held[rank][chunk]}/{full}"} if held[rank][chunk] < full else {str(name)})
        sent = {f"flight{m.source}.{m.target}.{m.chunk}rim" for m in (made[step] if step >= 0 else ())}
        assert {key for key in page["cells"] if key.endswith("rim")} == sent, state
        chunk, follows = state["follow"], 0 <= state["follow"] < made.chunks
        where = [
            r
            for r in range(made.ranks)
            if follows and held[r][chunk] == full and (made.end[r][chunk] or t < made.steps)
        ]
        if label in ("exchange", "torus"):  # a block is at one rank: where its last transfer brought it
            moved = [one.target for before in range(done) for one in made[before] if one.chunk == chunk]
            where = [(chunk // made.ranks, *moved)[-1]]
        assert page["followed"] == (where if follows else None), state
        ending = (
            f"rank {where[0]}."
            if label in ("exchange", "torus") and follows
            else f"{len(where)} of {made.ranks} ranks."
        )
        assert page["sentence"].endswith(ending) if follows else "So far" not in page["sentence"], state


@pytest.mark.parametrize("label", TABS)
def test_the_meter_ends_at_the_formula(label):
    made = MADE[label]
    (page,) = shown(figure(), [{"kind": label.replace(" ", "-"), "follow": -1, "at": 1}])
    assert page["meter"]["met"] and page["meter"]["value"] == page["meter"]["mark"] == float(counted(label, made.steps))
    assert page["meter"]["value"] <= page["meter"]["full"] and page["marks"] == [*range(1, made.steps + 1)]
    assert eval(page["call"], SCOPE) == pytest.approx(page["meter"]["mark"])


@pytest.mark.parametrize("label", TABS)
def test_at_the_end_the_result_stands_out(label):
    """Partial sums that were sent on and blocks that left are pale; the result is not."""
    (page,) = shown(figure(), [{"kind": label.replace(" ", "-"), "follow": -1, "at": 1}])
    strong = {key for key, word in page["cells"].items() if key.startswith("cell") and word == "chunk"}
    assert strong == {f"cell{r}.{c}" for r, c in np.argwhere(MADE[label].end)}


def test_while_a_sum_travels_its_old_copy_is_pale():
    (page,) = shown(figure(), [{"kind": "halving-8", "follow": -1, "at": 0.5 / 6}])
    pale = {key for key, word in page["cells"].items() if key.startswith("cell") and word == "chunk gone"}
    assert pale == {f"cell{m.source}.{m.chunk}" for m in MADE["halving 8"][0]}


def test_without_a_script_it_shows_its_opening_step():
    html = frame(json.loads(figure({"Ring": TABS["ring 8"]}, at=3).spec)).replace("\u00a0", " ")
    assert "Each rank sends one chunk (8.00 MB) to the next rank, to be added." in html
    assert "14. Each rank sends one chunk (8.00 MB) to the next rank.<br><small>0 → 1: 2; 1 → 2: 3;" in html
    assert "112 MB" in html


def test_it_opens_on_the_first_tab_after_some_steps():
    made = figure({"Halving": TABS["halving 8"], "Ring": TABS["ring 8"]}, at=3, chunk_names="ABCDEFGH")
    spec = json.loads(made.spec)
    assert spec["at"] == 0.5 and made.values == {"kind": "halving", "follow": -1}
    assert repr(made).replace("\u00a0", " ").splitlines()[1] == (
        "Halving-doubling all-reduce: 8 ranks, 6 steps; sent by the busiest rank: 112 MB, as the formula gives"
    )
    assert json.loads(figure({"Ring": TABS["ring 8"]}).spec)["choices"] == {}  # one tab is no choice


def test_a_wrong_formula_is_refused():
    both = "ring: the schedule counts 112000000 B, or 7/4 V; the formula says 56000000 B, or 7/8 V"
    with pytest.raises(ValueError, match=both):
        figure({"ring": Played(ring.all_reduce, 8, all_gather_bytes)})


def test_counts_are_compared_exactly():
    assert exact_value(all_gather_bytes, N=3, V=10**6) == Fraction(2 * 10**6, 3)
    assert figure({"x": Played(ring.all_gather, 3, all_gather_bytes)}, V=10**6)  # a third of a byte is no matter
    with pytest.raises(ValueError, match="expected a rational number"):
        exact_value(recursive_doubling_bytes, N=3, V=1)


@pytest.mark.parametrize(
    ("played", "options", "error", "message"),
    [
        (Played(ring.all_gather, 17, all_gather_bytes), {}, ValueError, "at most 16 ranks to show; got 17"),
        (Played(exchange.all_to_all, 6, all_to_all_bytes), {}, ValueError, "at most 32 chunks to show; got 36"),
        (Played(in_network.all_reduce, 4, all_reduce_bytes), {}, ValueError, "at most 0 switches to show; got 1"),
        (Played(ring.all_gather, 1, all_gather_bytes), {}, ValueError, "expected at least one step; got none"),
        (TABS["ring 8"], {"at": 15}, ValueError, "at: expected 0 to 14 steps; got 15"),
        (TABS["ring 8"], {"chunk_names": "ab"}, ValueError, "chunk_names: expected 8; got 2"),
        (Played(ring.all_gather, 8, ring_all_gather), {}, TypeError, "missing W, alpha|missing alpha, W"),
    ],
)
def test_what_is_refused(played, options, error, message):
    with pytest.raises(error, match=message):
        figure({"tab": played}, **options)


def test_words():
    said = {label: json.loads(figure({label: tab}).spec)["data"]["tabs"] for label, tab in TABS.items()}
    said = {label: next(iter(tabs.values()))["said"] for label, tabs in said.items()}
    assert said["halving 8"][1] == "Ranks 4 apart swap 4 chunks (32.0\u00a0MB) and add what they receive."
    assert (
        said["nodes"][2]
        == "Ranks at the same position in two nodes swap one chunk (8.00\u00a0MB) and add what they receive."
    )
    assert said["exchange"][0] == "At the start each rank holds one block for each rank."
    assert said["torus"][1] == "Each rank sends 2 chunks (5.12\u00a0MB) to each neighbor."
    sentences = [sentence for lines in said.values() for sentence in lines]
    assert all(re.fullmatch(r"[A-Z0-9].*[a-z)\d]\.", sentence) for sentence in sentences)
    assert len([s for s in sentences if re.match(r"\d+ transfers", s)]) < 0.1 * len(sentences)


def test_words_say_which_way_a_step_goes():
    def lines(schedule):
        return [transfer_words.happening(schedule, step, str) for step in range(schedule.steps)]

    back = lines(trees.reduce(8))
    assert "to the rank 4 places earlier" in back[0] and "rank 2 sends" in back[1].lower()
    assert not [words for words in back if "later" in words]
    on = lines(trees.broadcast(8))
    assert "to the rank 4 places later" in on[2] and not [words for words in on if "earlier" in words]
    round_ = lines(bruck.all_gather(6))
    assert all(words.endswith((", around the ring.", "the next rank.", "the previous rank.")) for words in round_)
    for schedule in (trees.reduce(8), trees.broadcast(8), bruck.all_gather(6), trees.reduce(5)):
        for step, words in enumerate(lines(schedule)):  # as the arrows go
            pairs = transfer_words.pairs(schedule[step])
            if far := re.search(r"the (?:rank (\d+) places )?(earlier|later|previous|next)\b", words):
                way = int(far[1] or 1) * (-1 if far[2] in ("earlier", "previous") else 1)
                assert {(b - a - way) % schedule.ranks for a, b in pairs} == {0}
