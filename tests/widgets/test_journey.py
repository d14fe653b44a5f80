"""A token's journey on the page, in a JavaScript engine, against routing in numpy and transfers of the schedule."""

import json
import math
import random
import re

import numpy as np
import pytest

from gpuscale.book.frames import engine
from gpuscale.llm import ep_fan_out, ep_node_comms, ep_uneven_math, limited_nodes_hit
from gpuscale.schedules.collectives import exchange
from gpuscale.units import GB, TB, show
from gpuscale.widgets import RoutedCosts, journey_stage
from gpuscale.widgets.journey import CAPACITY, TOKENS

E, M, G, POPULAR = 256, 8, 8, 150
RANKS, PER = M * G, TOKENS // (M * G)
GIVEN = dict(B=2**18, D=7168, F=2048, n_mat=3, b_dispatch=1, b_combine=2, C=990 * TB, W_node=400 * GB, W_nvl=450 * GB)
SHOWN = """(spec, states) => JSON.stringify(states.map((p) => {
  const journey = gpuscale.figures.journey, view = Object.assign(gpuscale.seen(spec, p), { width: 640 });
  const said = { sentence: journey.sentence(view), table: journey.table(view), call: journey.call(view) };
  const told = Array.from({ length: 64 }, (_, g) => journey.hover(view, { dataset: { told: `${g}` } }));
  const words = Object.fromEntries(journey.draw(view, 0).flat(9).filter((s) => s.words).map((s) => [s.key, s.words]));
  return { ...journey.numbers(view), ...said, meter: journey.meter(view), words, told };
}))"""


def figure(**options):
    costs = RoutedCosts(limited_nodes_hit, ep_node_comms, ep_fan_out, ep_uneven_math)
    book = dict(name="journey", title="A token", caption="<b>Few.</b>", given=GIVEN, experts=E, k=8, popular=POPULAR)
    return journey_stage(costs, **book | options)


def states(many: int) -> list[dict]:
    dice = random.Random(5)
    return [
        {
            "show": dice.choice(["token", "all"]),
            "limit": dice.choice([M, 4]),
            "copy": dice.choice(["node", "expert"]),
            "k": dice.randint(1, 16),
            "hot": dice.choice([0, round(dice.uniform(0, 2), 2)]),
            "cap": dice.choice([CAPACITY[1], CAPACITY[1], 1, round(dice.uniform(*CAPACITY), 2)]),
            "home": dice.randrange(RANKS),
            "token": dice.randrange(9),
        }
        for _ in range(many)
    ]


def routed(state: dict) -> np.ndarray:
    scores = exchange.router_scores(TOKENS, E, POPULAR, state["hot"] * state["k"] / RANKS)
    return exchange.best_choice(scores, state["k"], M, state["limit"])


def kept(state: dict, choice: np.ndarray) -> np.ndarray:
    """The choice with -1 for rows that find their GPU full, one row after the other."""
    if state["cap"] == CAPACITY[1]:
        return choice
    room = np.full(RANKS, math.ceil(state["cap"] * choice.size / RANKS))
    out = choice.copy()
    for token in np.argsort(exchange.hashed(np.arange(TOKENS))):
        for place, at in enumerate(choice[token] * RANKS // E):
            out[token, place] = choice[token, place] if room[at] > 0 else -1
            room[at] -= 1
    return out


@pytest.fixture(scope="module")
def shown():
    every = states(220)
    pages = json.loads(engine("journey").eval(f"({SHOWN})({figure().spec}, {json.dumps(every)})"))
    found = [routed(state) for state in every]
    return [(*one, choice, kept(one[0], choice)) for *one, choice in zip(every, pages, found, strict=True)]


def loads(choice: np.ndarray) -> np.ndarray:
    """Rows of each GPU."""
    return np.bincount(choice[choice >= 0] * RANKS // E, minlength=RANKS)


def arrivals(state: dict, choice: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Copies into each node over the network and into each GPU over NVLink, counted in a matrix of who goes where."""
    home, at = np.arange(TOKENS) // PER, choice * RANKS // E
    there = np.zeros((TOKENS, RANKS), int)
    token, place = np.nonzero(choice >= 0)
    np.add.at(there, (token, at[token, place]), 1)
    nodes = there.reshape(TOKENS, M, G).sum(axis=2)
    if state["copy"] == "node":
        there, nodes = np.minimum(there, 1), np.minimum(nodes, 1)
    nodes[np.arange(TOKENS), home // G] = 0
    there[np.arange(RANKS)[None, :] % G == home[:, None] % G] = 0
    return nodes, there


def plain(text: str) -> str:
    return re.sub(r"<.*?>", "", text).replace("\u00a0", " ")


def test_tokens_are_routed_and_counted_as_in_the_library(shown):
    dropped = 0
    for state, page, choice, left in shown:
        nodes, there = arrivals(state, left)
        token = state["home"] * PER + state["token"]
        assert page["chosen"] == choice[token].tolist(), state
        assert page["kept"] == [e for e in left[token] if e >= 0], state
        assert page["rows"] == loads(left).tolist() and page["asked"] == loads(choice).tolist()
        assert page["lost"] == pytest.approx((left < 0).mean(), abs=1e-12)
        if state["cap"] < CAPACITY[1]:
            assert (exchange.capped_choice(choice, E, RANKS, state["cap"]) == left).all(), state
        dropped += page["lost"] > 0
        assert page["intake"] == nodes.sum(axis=0).tolist() and page["inside"] == there.sum(axis=0).tolist()
        assert sorted(page["net"]) == np.repeat(np.arange(M), nodes[token]).tolist()
        assert sorted(page["nvl"]) == np.repeat(np.arange(RANKS), there[token]).tolist()
    assert 40 < dropped < 180


def test_copies_per_node_are_the_transfers_of_the_dispatch(shown):
    for state, page, _, left in [one for one in shown if one[0]["copy"] == "node"][:12]:
        plan = exchange.dispatch(left, E, RANKS, node=G)
        _, source, target, *_ = plan.columns
        away = source // G != target // G
        assert page["intake"] == np.bincount(target[away] // G, minlength=M).tolist(), state
        assert page["inside"] == np.bincount(target[~away], minlength=RANKS).tolist(), state


def test_times_are_bytes_and_flops_of_the_fullest(shown):
    """Bytes into the fullest node or GPU over its bandwidth, and FLOPs of its rows, for B tokens of which these are a
    sample."""
    scale, given = GIVEN["B"] / TOKENS, GIVEN
    for state, page, choice, left in shown:
        nodes, there = arrivals(state, left)
        rows = loads(left)
        for pick, key in ((np.max, "takes"), (np.mean, "mean")):
            net = scale * pick(nodes.sum(axis=0)) * given["D"] / given["W_node"]
            nvl = scale * pick(there.sum(axis=0)) * given["D"] / given["W_nvl"]
            compute = scale * pick(rows) * 2 * given["n_mat"] * given["D"] * given["F"] / given["C"]
            want = [net, nvl, compute, 2 * nvl, 2 * net]
            assert [one[key] for one in page["phases"]] == pytest.approx(want, rel=1e-9), state
        assert page["total"] == pytest.approx(sum(one["takes"] for one in page["phases"]), rel=1e-12)
        mean = choice.size / RANKS
        assert page["over"] == pytest.approx(rows.max() / mean) and rows[page["fullest"]] == rows.max()


def test_words_say_the_same_numbers(shown):
    for state, page, choice, left in shown:
        nodes, there = arrivals(state, left)
        over, lost = loads(left).max() * RANKS / choice.size, (left < 0).mean()
        rows, token = np.array(page["rows"]), state["home"] * PER + state["token"]
        copies = nodes.sum() / TOKENS
        on = len(set((choice[token] * M // E).tolist()))
        sentence = plain(page["sentence"])
        where = "one node" if on == 1 else f"{on} nodes"
        first = f"The {state['k']} experts of this token are on" if state["k"] > 1 else "The expert of this token is on"
        gone = (left[token] < 0).sum()
        full = f" For {gone} of them, the GPU is full." if gone and state["k"] > 1 else " Its GPU is full." * gone
        copies_said = f" Copies over the network: {nodes[token].sum()}, over NVLink: {there[token].sum()}."
        assert sentence.startswith(f"{first} {where}.{full}{copies_said}"), state
        assert (f"GPU {page['fullest']} has the most rows" in sentence) == (lost == 0)
        assert (f": {plain(show(lost, '%'))} of all rows are dropped." in sentence) == (lost > 0)
        assert f"{show(over)} times the mean" in sentence
        assert f"The layer takes {plain(show(page['total'], 's'))}." in sentence
        words = {key: plain(text) for key, text in page["words"].items()}
        limited = f", capacity {show(state['cap'])} × the mean" * (state["cap"] < CAPACITY[1])
        nodes_open = f", on at most {state['limit']} nodes" * (state["limit"] < M)
        told = [plain(text) for text in page["told"]]
        if state["show"] == "all":
            assert words["most"] == f"GPU {page['fullest']}: {show(over)} × the mean"
            assert words["rows"] == f"rows per GPU, of 1,024 tokens{limited}"
            assert all(
                text.endswith(f"{show(int(n), 'count')} rows in this batch") for text, n in zip(told, rows, strict=True)
            )
        else:
            assert words["rows"] == "router scores of 256 experts, log scale"
            assert words["chosen"] == f"best {state['k']}{nodes_open}" and "most" not in words
            scores = exchange.router_scores(TOKENS, E, POPULAR, state["hot"] * state["k"] / RANKS)[token]
            for g, text in enumerate(told):
                mine = range(g * E // RANKS, (g + 1) * E // RANKS)
                assert text == f"GPU {g}, node {g // G}" + "".join(
                    f"expert {e}: score {show(min(float(scores[e]), 1.0))}" for e in mine
                )
        assert words["netname"] == f"copies over the network: {nodes[token].sum()}"
        assert words["nvlname"] == f"over NVLink: {there[token].sum()}" and words["home"].endswith(str(state["home"]))
        takes = [one["takes"] for one in page["phases"]]
        for lane, time in {"out": sum(takes[:2]), "math": takes[2], "back": sum(takes[3:])}.items():
            assert words[f"lane{lane}"].endswith(plain(show(time, "s"))), state
        by_node = rows.reshape(M, G)
        inside = there.sum(axis=0).reshape(M, G).sum(axis=1)
        away = (loads(choice) - rows).reshape(M, G).sum(axis=1)
        cells = zip(nodes.sum(axis=0), inside, by_node.sum(axis=1), by_node.max(axis=1), away, strict=True)
        assert page["table"][1:] == [[n, *(show(int(v), "count") for v in row)] for n, row in enumerate(cells)]
        assert page["meter"]["words"] == show(copies) and page["meter"]["value"] == pytest.approx(copies)
        scope = {
            name: getattr(exchange, name) for name in ("best_choice", "capped_choice", "crossings", "router_scores")
        }
        assert eval(page["call"], scope) == pytest.approx(copies, rel=1e-12), page["call"]


def missed(k: int) -> float:
    """The probability that a node holds no expert of a token, drawn one by one."""
    return np.prod([(E - E / M - i) / (E - i) for i in range(k)])


def test_the_mark_is_the_expected_number_of_copies_where_it_holds(shown):
    met = 0
    for state, page, _, left in shown:
        free = state["limit"] == M
        want = state["k"] * (M - 1) / M
        if state["copy"] == "node":
            want = (M - 1) * min(1 - missed(state["k"]), state["limit"] / M)
        assert page["meter"]["mark"] == page["formula"] == pytest.approx(want), state
        lost = bool((left < 0).any())
        holds = not state["hot"] and not lost and (free or state["copy"] == "expert")
        assert page["meter"]["met"] == holds, (state, page["copies"], want)
        met += holds
        label = (
            "formula"
            + " for an even router" * (state["hot"] > 0)
            + ", at most" * (not free and state["copy"] == "node")
        )
        assert page["meter"]["label"] == f"{label}: {show(want)}" + ", if nothing is dropped" * lost
    assert 20 < met < 200


HELD = """(spec, states) => JSON.stringify(states.map((p) => {
  const journey = gpuscale.figures.journey, view = Object.assign(gpuscale.seen(spec, p), { width: 640 });
  return journey.handles(view).map((h) => [h.id, h.value, journey.pull(view, h.id, h.x, h.y)]);
}))"""


def test_only_the_rows_of_all_tokens_have_handles():
    """A pull to where a handle stands changes nothing."""
    page, spec = engine("journey"), figure().spec
    many = states(20)
    for state, handles in zip(many, json.loads(page.eval(f"({HELD})({spec}, {json.dumps(many)})")), strict=True):
        assert [name for name, *_ in handles] == ["hot", "cap"] * (state["show"] == "all")
        for name, value, pulled in handles:
            assert value == state[name] and pulled == pytest.approx(value, abs=0.01), state


def test_it_opens_with_what_it_counts():
    text = repr(figure())
    assert "copies per token over the network: 4.61" in text and "over the mean: 1.18" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"experts": 100}, "multiple of the 64 GPUs; got 100"),
        ({"home": 64}, "home: expected a whole number below 64; got 64"),
        ({"token": 9}, "token: expected a whole number below 9; got 9"),
        ({"popular": 256}, "popular: expected a whole number below 256"),
        ({"k": 17}, "k: expected a whole number below 17; got 17"),
        ({"limits": [8]}, r"limits: expected numbers of nodes below 8; got \[8\]"),
    ],
)
def test_what_it_cannot_show_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        figure(**options)
