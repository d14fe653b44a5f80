"""A token's journey to its experts: copies over the network, copies over NVLink, and the rank that all wait for.

Tokens are routed by the script as ``schedules.collectives.exchange`` does it; times are formulas of the counted copies.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuscale.core.formula import Formula
from gpuscale.schedules.collectives import exchange
from gpuscale.symbols import G, M, Z
from gpuscale.symbols import k as active
from gpuscale.units import show
from gpuscale.widgets.parts import Slider
from gpuscale.widgets.stage import stage_figure

TOKENS = 1024  # that are routed and counted
MOST = 16, 2.0  # experts per token, and load that a popular expert adds, over the mean load of a GPU
CAPACITY = 0.5, 3.4  # rows that a GPU takes, over the mean; at most, there is no limit
SAID = "What moves is copies per node not per expert".split()  # the first tokens of each GPU

WORDS = {
    "said": SAID,
    "home": "tokens of GPU {}",
    "choose": "Token “{}”",
    "start": "GPU {}: start the token here",
    "rows": "rows per GPU, of {} tokens",
    "short": "rows per GPU",
    "scores": "router scores of {} experts, log scale",
    "scored": "scores of {} experts, log scale",
    "best": "best {}",
    "bestof": "best {}, on at most {} nodes",
    "score": "expert {}: score {}",
    "cap": (", capacity {} × the mean", ", capacity {} ×"),
    "limit": "pull: a capacity",
    "capacity": "Capacity of each GPU",
    "nolimit": "no limit",
    "fullest": "GPU {}: {} × the mean",
    "pull": "pull: a popular expert",
    "popular": "Load that a popular expert adds to GPU {}",
    "times": "{} × the mean load",
    "node": "node {}",
    "net": "copies over the network: {}",
    "nvl": "over NVLink: {}",
    "out": "dispatch {}",
    "math": "experts {}",
    "back": "combine {}",
    "now": "{} of {}",
    "sit": "The {} experts of this token are on <b>{} nodes</b>.",
    "one": "The expert of this token is on <b>one node</b>.",
    "alone": "The {} experts of this token are on <b>one node</b>.",
    "cross": "Copies over the network: <b class=scaleout>{}</b>, over NVLink: <b class=scaleup>{}</b>.",
    "wait": "GPU {} has the most rows, <b class=compute>{} times the mean</b>, and all others <b class=wait>wait</b> "
    "for it.",
    "full": "For {} of them, the GPU is full.",
    "gone": "Its GPU is full.",
    "drops": "A GPU takes rows up to <b class=compute>{} times the mean</b>: <b>{} of all rows are dropped</b>.",
    "lossless": ", if nothing is dropped",
    "takes": "The layer takes {}.",
    "meter": "Copies per token over the network, mean of {} tokens",
    "even": "formula: {}",
    "most": "formula, at most: {}",
    "skewed": "formula for an even router: {}",
    "skewed_most": "formula for an even router, at most: {}",
    "gpu": "GPU {}, node {}",
    "holds": "{} rows in this batch",
    "heads": [
        "Node",
        "Copies in over the network",
        "Copies over NVLink",
        "Rows",
        "Rows on its fullest GPU",
        "Dropped rows",
    ],
}


class RoutedCosts(NamedTuple):
    """The formulas of a journey: the fraction of nodes that a token reaches, and the times of its phases."""

    reached: Formula
    network: Formula
    nvlink: Formula
    math: Formula


def journey_stage(
    costs: RoutedCosts,
    *,
    name: str,
    title: str,
    caption: str,
    given: dict[str, float],
    experts: int,
    k: int,
    nodes: int = 8,
    gpus: int = 8,
    limits: Sequence[int] = (4,),
    home: int = 19,
    token: int = 3,
    popular: int = 150,
):
    """The journey of tokens to ``k`` of ``experts`` experts, spread over nodes of GPUs that a hand gives a capacity.

    ``given`` are the inputs of the formulas that the figure doesn't count; ``limits`` are those of node-limited
    routing. It opens with token number ``token`` of GPU ``home``; ``popular`` is the expert that a hand makes popular.
    Raises ValueError for experts that the GPUs don't share evenly, and for tokens, GPUs or limits out of range.
    """
    ranks = nodes * gpus
    if experts % ranks or TOKENS % ranks:
        raise ValueError(f"{name}: expected experts in a multiple of the {ranks} GPUs; got {experts}")
    bounds = {"home": (home, ranks), "token": (token, len(SAID)), "popular": (popular, experts), "k": (k, MOST[0] + 1)}
    for key, (value, end) in bounds.items():
        if not 0 <= value < end:
            raise ValueError(f"{name}: {key}: expected a whole number below {end}; got {value}")
    if stray := [limit for limit in limits if not 1 <= limit < nodes]:
        raise ValueError(f"{name}: limits: expected numbers of nodes below {nodes}; got {stray}")
    scores = exchange.router_scores(TOKENS, experts, popular)
    choice = exchange.best_choice(scores, k)
    rows = np.bincount(choice.ravel() // (experts // ranks), minlength=ranks)
    copies = exchange.crossings(choice, experts, nodes).mean()
    return stage_figure(
        "journey",
        name=name,
        title=title,
        caption=caption,
        start={
            "show": "token",
            "limit": nodes,
            "copy": "node",
            "k": k,
            "hot": 0,
            "cap": CAPACITY[1],
            "home": home,
            "token": token,
        },
        text=[
            f"copies per token over the network: {show(copies)}",
            f"rows on the fullest GPU over the mean: {show(rows.max() / rows.mean())}",
        ],
        sliders={active: Slider(1, MOST[0], k, "whole", log=False, label="experts per token")},
        choices={
            "show": ("Bars", {"token": "One token", "all": "All tokens"}),
            "copy": ("Copies over the network", {"node": "One copy per node", "expert": "One copy per expert"}),
            "limit": ("Routing", {nodes: "All nodes"} | {limit: f"At most {limit} nodes" for limit in limits}),
        },
        presets={
            "Even router": {"show": "all", "hot": 0, "cap": CAPACITY[1]},
            "A popular expert": {"show": "all", "hot": 1, "cap": CAPACITY[1]},
            "With a capacity": {"show": "all", "hot": 1, "cap": 1.25},
        },
        within={"hot": (0, MOST[1]), "cap": CAPACITY, "home": (0, ranks - 1), "token": (0, len(SAID) - 1)},
        formulas={
            "node": (M - 1) * costs.reached.rhs.subs(Z, M * G),
            "expert": active * (M - 1) / M,  # each expert is as likely to be on one node as on another
            "network": costs.network,
            "nvlink": costs.nvlink,
            "math": costs.math,
        },
        units={"T": "s"},
        words=WORDS,
        data={
            "experts": experts,
            "nodes": nodes,
            "gpus": gpus,
            "tokens": TOKENS,
            "popular": popular,
            "most": MOST[1],
            "least": CAPACITY[0],
            "none": CAPACITY[1],
            "given": given | {"E": experts, "M": nodes, "G": gpus, "Z": ranks},
        },
        at=0.58,
        python="from gpuscale.schedules.collectives.exchange import "
        "best_choice, capped_choice, crossings, router_scores",
    )
