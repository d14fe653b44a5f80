"""The fabric of the page in a JavaScript engine, against its twin in Python; and what its maker refuses."""

import json
import random

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from gpuscale.book.served import tight_script
from gpuscale.network import collective_bandwidth, tapered_bisection
from gpuscale.schedules.fabrics.leaf_spine import Fabric
from gpuscale.schedules.fabrics.loads import ROUTES, loaded
from gpuscale.schedules.fabrics.traffic import TRAFFIC
from gpuscale.units import GB, show
from gpuscale.widgets import assets, fabric_stage

MANY = 220
TABLES = 3  # states whose tables are read as well
BOOK = Fabric(2, 4, 8, 4, W=50 * GB, nvlink=450 * GB)
PARTS = [("spine", 4), ("leaf", 16), ("uplink", 64), ("NIC", 64)]
NAMES = [f"{kind} {i}" for kind, many in PARTS for i in range(many)]
NUMBERS = """(spec, state) => {
  const figure = gpuscale.figures.fabric, view = gpuscale.seen(spec, state), t = state.at * view.solved.total;
  const words = { sentence: figure.sentence(view, t), meter: figure.meter(view, t), python: figure.call(view) };
  const table = state.table && figure.table(view, t);
  return JSON.stringify({ ...figure.numbers(view, t), ...words, t, table });
}"""


def figure(fabric=BOOK, **options):
    return fabric_stage(
        fabric,
        **{"bisection": tapered_bisection, "share": collective_bandwidth, "name": "f", "title": "F", "caption": "C"}
        | {"traffic": "units", "routes": "hash"}
        | options,
    )


def states(many: int, seed: int = 1) -> list[dict]:
    """Inputs as the page takes them, and a moment, from 0 to 1."""
    dice, out = random.Random(seed), []
    for i in range(many):
        gone = dice.sample(range(20), dice.choice([0, 0, 1, 1, 2, 4])) + dice.sample(
            range(20, 148), dice.choice([0, 0, 1, 5, 30])
        )
        choices = {"traffic": dice.choice(list(TRAFFIC)), "routes": dice.choice(ROUTES)}
        inputs = {"taper": dice.choice([1, 1, 2, 3, 4]), "seed": dice.randint(1, 20), "gpu": dice.randint(-1, 63)}
        out.append(
            choices | inputs | {"gone": gone, "W": 50 * GB, "V": GB, "at": round(dice.random(), 3), "table": i < TABLES}
        )
    return out


def twin(state: dict, gone=None):
    names = [NAMES[k] for k in (state["gone"] if gone is None else gone)]
    fabric = Fabric(2, 4, 8, 4, W=state["W"], nvlink=450 * GB, taper=state["taper"], gone=names)
    return loaded(fabric, state["traffic"], state["routes"], state["seed"])


@pytest.fixture(scope="module")
def page():
    """All numbers and words that the page shows in a state."""
    spec = json.loads(figure().spec)
    with MiniRacer() as engine:
        for name in ("gpuscale", "stage", "fabric"):
            engine.eval(f"{tight_script(assets.script(name))}; null")
        yield lambda state: json.loads(engine.eval(f"({NUMBERS})({json.dumps(spec)}, {json.dumps(state)})"))


def close(a, b):
    return np.allclose(a, b, rtol=1e-9, atol=1e-3)


@pytest.fixture(scope="module")
def runs(page):
    """Random states with what the page shows and what its twin gives."""
    return [(state, page(state), twin(state)) for state in states(MANY)]


def test_page_and_twin_agree_in_every_state(runs):
    for state, shown, on in runs:
        assert close(shown["rate"], on.rate), state
        assert close([shown["mean"], shown["sent"]], [on.mean, on.rate * shown["t"]]), state
        assert close(shown["possible"], on.possible) and close(shown["gets"], on.gpu_rates), state
        assert close(shown["asked"], on.asked.ravel()) and close(shown["carried"], on.carried.ravel()), state
        assert close(shown["capacity"], on.fabric.capacity), state
        cut = shown["cut"]
        assert close([cut["capacity"], cut["bound"]], [on.cut.capacity, on.cut.bound]), state
        assert cut["cables"] == cut["crosses"] == on.cut.cables and cut["flows"] == pytest.approx(on.cut.flows), state
        load, has = shown["busiest"]
        there = on.fabric.capacity > 0
        assert load / has == pytest.approx((on.asked[:, there] / on.fabric.capacity[there]).max()), state
        routed = [
            (b, np.flatnonzero(use)) for (a, b, _), use in zip(on.flows, on.use, strict=True) if a == state["gpu"]
        ]
        assert shown["routes"] == [[b, use.tolist()] for b, use in routed], state
        assert not on.rate or f"<b>{show(on.rate, 'B/s')}</b>" in shown["sentence"], state
        assert shown["meter"]["words"].startswith(show(on.rate, "B/s")), state


def test_the_formula_stands_on_the_meter_where_it_holds_and_only_there(runs):
    for state, shown, on in runs:
        spines = {k for k in state["gone"] if k < 4}
        holds = state["traffic"] == "units" and len(spines) == len(state["gone"]) and len(spines) < 4
        assert (shown["formula"] is not None) == holds == ("mark" in shown["meter"]), state
        if not holds:
            continue
        even = twin(state | {"routes": "spread"})  # routes that spread reach it, others at most
        assert shown["formula"] == pytest.approx(even.rate) == pytest.approx(even.cut.bound), state
        assert shown["meter"]["met"] == (on.rate == pytest.approx(even.rate)), state


def named(part: int) -> str:
    kind, number = NAMES[part].split()
    return f"spine {number}" if kind == "spine" else f"leaf {int(number) % 8} of unit {int(number) // 8}"


def test_the_table_lists_what_each_switch_costs_the_most_expensive_first(runs):
    for state, shown, _ in runs[:TABLES]:
        _, *rows = shown["table"]
        rates = {named(k): twin(state, [*state["gone"], k]).rate for k in range(20) if k not in state["gone"]}
        assert dict(rows) == {name: show(rate, "B/s") for name, rate in rates.items()}, state
        assert [rates[name] for name, _ in rows] == pytest.approx(sorted(rates.values())), state


def test_copied_calls_give_the_rate(runs):
    names = {"loaded": loaded, "Fabric": Fabric, "GB": GB}
    for state, shown, _ in runs[:20]:
        assert eval(shown["python"], names) == pytest.approx(shown["rate"]), state


def test_it_opens_on_routes_that_collide():
    made = figure()
    assert made.values["routes"] == "hash" and made.values["gone"] == []
    assert "12.5 GB/s of 50.0 GB/s" in repr(made).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("fabric", "options", "said"),
    [
        (Fabric(4, 4, 8, 4, W=1, nvlink=9), {}, "at most 96 GPUs"),
        (Fabric(2, 4, 8, 4, W=1, nvlink=9, taper=7), {}, "oversubscription of 1 to 4"),
        (BOOK, {"traffic": "broadcast"}, "expected traffic: rails"),
    ],
)
def test_what_it_cannot_show_is_refused(fabric, options, said):
    with pytest.raises(ValueError, match=said):
        figure(fabric, **options)
