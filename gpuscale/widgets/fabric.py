"""A fabric of leaf and spine switches that a hand can cut, oversubscribe and congest.

The page's script routes the flows and finds the worst cut (``static/fabric_loads.js``); its twin in Python is
``schedules.fabrics``. The mark on its meter is a formula of the bisection, where that holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuscale.core.formula import Formula
from gpuscale.schedules.fabrics.leaf_spine import KINDS, Fabric
from gpuscale.schedules.fabrics.loads import ROUTES, loaded
from gpuscale.schedules.fabrics.traffic import TRAFFIC
from gpuscale.units import GB, show
from gpuscale.widgets.card import Card
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

MOST_TAPER = 4  # the largest oversubscription that a hand can pull
WORDS = {
    "spine": "spine {}",
    "spines": "spines",
    "leaf": "leaf {} of unit {}",
    "leaves": "leaves",
    "uplink": "uplink from leaf {} of unit {} to spine {}",
    "plug": "NIC cable of GPU {}",
    "node": "node {}",
    "unit": "unit {}, {} GPUs",
    "nvlink": "NVLink",
    "gpu": "GPU {}",
    "gpu_at": "GPU {}, {}",
    "full": "full",
    "taper": "{} : 1",
    "taper_of": "Oversubscription of the leaves",
    "cut": "worst cut: {} cables, {}",
    "load": "load {} on {}",
    "whole": "Nothing is removed.",
    "removed": "Removed: {}.",
    "parts": "{} switches and cables",
    "and": " and ",
    "count_spine": ["{} spine", "{} spines"],
    "count_leaf": ["{} leaf", "{} leaves"],
    "count_uplink": ["{} uplink", "{} uplinks"],
    "count_plug": ["{} NIC cable", "{} NIC cables"],
    "tapered": "The leaves are oversubscribed {} to 1.",
    "who": {
        "rails": "Every ring",
        "units": "Every ring",
        "all_to_all": "The all-to-all",
        "permutation": "The slowest pair",
    },
    "runs_full": "{} runs at the full <b>{}</b> of a NIC.",
    "runs": "{} runs at <b>{}</b> of the {} of a NIC.",
    "stopped": "Some GPUs have no route left.",
    "enough": "No cable has a higher load than its bandwidth.",
    "by_cut": "The <b>worst cut</b> is the limit: {} for the traffic of {} GPUs.",
    "by_routes": "The routes are the limit: the busiest cable has a load of {} for its {}. "
    "Every cut would allow {} per GPU.",
    "trace": "GPU {} sends to GPU {} {}.",
    "trace_all": "GPU {} sends to its rail in {} other nodes.",
    "no_route": "and finds no route",
    "one_leaf": "through one leaf",
    "one_spine": "through spine {}",
    "all_spines": "through {} spines at once",
    "every": "Rate of every GPU",
    "slowest": "Rate of the slowest GPU (mean {})",
    "bound": "upper bound for any routes: {}",
    "sent": "{} of {} sent per GPU",
    "switch_name": "Switch",
    "without": "Rate per GPU without it",
    "lost": "without it: {} per GPU",
    "restored": "removed; with it: {} per GPU",
    "gets": "sends at {}",
    "waits": "could send at {}, but waits for others",
    "carries": "{}, load {}",
    "upward": "up {}",
    "downward": "down {}",
}


def fabric_stage(
    fabric: Fabric,
    *,
    bisection: Formula,
    share: Formula,
    name: str,
    title: str,
    caption: str,
    traffic: str = "rails",
    routes: str = "spread",
    seed: int = 1,
    V: float = 1 * GB,
) -> Card:
    """A fabric to cut and congest: press what is to be removed, pull the oversubscription, choose traffic and routes.

    It opens on the fabric as it is given, with every GPU sending ``V`` bytes. ``bisection`` gives W_bis of N, W and
    r_over, and ``share`` the rate per GPU of W_bis and N: their result is the mark of the meter where all bytes cross
    the bisection and nothing but spines is removed. Returns a widget whose ``values`` hold the inputs: traffic, routes,
    taper, seed, gone (numbers of parts), gpu (whose routes are shown, or -1), W and V.
    Raises ValueError for a fabric that is too large to draw, or has an oversubscription that is not 1 to 4.
    """
    if fabric.gpus > 96 or fabric.spines > 8 or fabric.taper not in range(1, MOST_TAPER + 1):
        raise ValueError(
            f"{name}: expected at most 96 GPUs, 8 spines and an oversubscription of 1 to {MOST_TAPER}; got "
            f"{fabric.gpus}, {fabric.spines} and {fabric.taper}"
        )
    load = loaded(fabric, traffic, routes, seed)
    start = {
        "traffic": traffic,
        "routes": routes,
        "taper": fabric.taper,
        "seed": seed,
        "gone": _numbers(fabric),
        "gpu": -1,
        "W": fabric.W,
        "V": V,
    }
    cut = load.cut
    return stage_figure(
        "fabric",
        name=name,
        title=title,
        caption=caption,
        start=start,
        text=[
            f"{traffic}, {routes}: {show(load.rate, 'B/s')} of {show(fabric.W, 'B/s')}",
            f"worst cut: {cut.cables} cables, {show(cut.capacity, 'B/s')}; allows {show(cut.bound, 'B/s')}",
        ],
        choices={
            "traffic": (
                "Traffic",
                dict(
                    zip(
                        TRAFFIC,
                        ("Rings on rails", "Rings across units", "All-to-all", "Random permutation"),
                        strict=True,
                    )
                ),
            ),
            "routes": (
                "Routes",
                dict(zip(ROUTES, ("Spread routes", "Hashed routes", "One bad route"), strict=True)),
            ),
        },
        sliders={"seed": Slider(1, 20, seed, "step:1", log=False, label="random seed", unit="count")},
        presets={
            "Nothing removed": {"gone": [], "taper": 1},
            **{
                f"One {kind} switch removed": {"gone": [_first(fabric, kind)], "taper": 1, "routes": "spread"}
                for kind in KINDS[:2]
            },
        },
        within={
            "taper": (1, MOST_TAPER),
            "gone": (0, _first(fabric, "NIC") + fabric.gpus - 1),
            "gpu": (-1, fabric.gpus - 1),
        },
        loose=["gone"],
        formulas={"bisection": bisection, "share": share},
        units={"rate": "B/s", "V": "B"},
        words=WORDS,
        data={
            "U": fabric.units,
            "N": fabric.nodes,
            "R": fabric.rails,
            "S": fabric.spines,
            "nvlink": fabric.nvlink,
            "kinds": KINDS,
        },
        mark=f"2 {bisection.lhs.html}/N",
        python="from gpuscale.schedules.fabrics.leaf_spine import Fabric\n"
        "from gpuscale.schedules.fabrics.loads import loaded",
        at=0.5,
    )


def _first(fabric: Fabric, kind: str) -> int:
    """The number of the first part of a kind, on the page: spines, leaves, uplinks, NICs."""
    many = fabric.spines, fabric.leaves, fabric.leaves * fabric.spines
    return sum(many[: KINDS.index(kind)])


def _numbers(fabric: Fabric) -> Sequence[int]:
    """What is removed, as the page numbers it."""
    return [_first(fabric, kind) + int(number) for kind, number in (part.split() for part in fabric.gone)]
