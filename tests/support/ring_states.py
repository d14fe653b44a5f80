"""States of the ring that is played with, and what it has to show in each, worked out by the schedule on the clock."""

import random

from gpuscale.collectives import (
    all_gather_bytes,
    all_reduce_bytes,
    ring_all_gather,
    ring_all_reduce,
    ring_reduce_scatter,
)
from gpuscale.schedules.collectives import ring
from gpuscale.schedules.timelines.sending import clocked
from gpuscale.units import GB, MB, show, us
from gpuscale.widgets import Collective, ring_stage

TABS = {
    "All-gather": Collective(ring.all_gather, ring_all_gather, all_gather_bytes),
    "Reduce-scatter": Collective(ring.reduce_scatter, ring_reduce_scatter, all_gather_bytes),
    "All-reduce": Collective(ring.all_reduce, ring_all_reduce, all_reduce_bytes),
}
NAMES = {each.schedule.__name__: label for label, each in TABS.items()}


def figure(**options):
    """The ring of the book, or one with other options."""
    book = dict(
        V=64 * MB, alpha=3.4 * us, W=450 * GB, slow={1: 0.4}, name="ring", title="A ring", caption="<b>A ring.</b>"
    )
    return ring_stage(TABS, **book | options)


def states(many: int, seed: int = 1) -> list[dict]:
    """Inputs as the page takes them, and a moment, from 0 to 1."""
    dice = random.Random(seed)
    return [
        {
            "kind": dice.choice(list(NAMES)),
            "N": dice.randint(2, 12),
            "V": float(f"{10 ** dice.uniform(5, 10):.2g}"),
            "alpha": dice.choice([0, 0.2e-6, 3.4e-6, 20e-6]),
            "W": dice.choice([450 * GB, 43 * GB]),
            "share": [dice.choice([1, 1, 1, 0.1, 0.4, 0.85]) for _ in range(12)],
            "at": round(dice.random(), 3),
        }
        for _ in range(many)
    ]


def run(state: dict):
    """The state's schedule on the clock."""
    links = [state["W"] * share for share in state["share"][: state["N"]]]
    return clocked(getattr(ring, state["kind"])(state["N"]), state["V"], state["alpha"], links)


def sentence(state: dict, hair: float = 0) -> str:
    """What the figure has to say of a state; ``hair`` is added to fractions, which may lie between two roundings."""
    on, sent = run(state), TABS[NAMES[state["kind"]]].bytes(V=state["V"], N=state["N"])
    first = f"{NAMES[state['kind']]} of {show(state['V'], 'B')} on {state['N']} ranks: {show(on.total, 's')}."
    first += f" On average a link carries {show(sent / on.total, 'B/s')}."
    slow = int(on.W.argmin())
    if on.W[slow] == state["W"]:
        latency = on.schedule.steps * on.alpha / on.total + hair
        return f"{first} No link waits for another. Latency takes {show(latency, '%')} of the time."
    link = f"The link from rank {slow} to rank {(slow + 1) % state['N']} runs at {show(on.W[slow], 'B/s')}."
    return f"{first} {link} The average link waits {show(on.waiting + hair, '%')} of the time."
