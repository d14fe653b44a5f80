"""The layouts of a replica: how many GPUs hold the model once, and how they split it; why the others are excluded."""

from __future__ import annotations

import numpy as np

from gpuscale.plan.factors import divisors
from gpuscale.plan.layouts import Constraint, Reason, Rows, sieve
from gpuscale.serve.requests import ServingRequest

MOST_STAGES = 16


def _divides(a, b):
    return b % a == 0


CONSTRAINTS = (
    Constraint("TP and heads", "{n_q} heads are not divisible by TP {Y}", lambda n_q, Y: _divides(Y, n_q)),
    Constraint(
        "TP and key heads",
        "TP {Y} and {n_kv} key heads: neither divides the other",
        lambda n_kv, Y: _divides(np.minimum(n_kv, Y), np.maximum(n_kv, Y)),
    ),
    Constraint(
        "TP and nodes",
        "TP {Y} leaves its node of {G}: each layer has two all-reduces, and a step cannot hide the network's latency",
        lambda G, Y: Y <= G,
    ),
    Constraint("TP and MLP width", "the MLP's width of {F} is not divisible by TP {Y}", lambda F, Y: _divides(Y, F)),
    Constraint("stages and layers", "{N_stages} stages are more than {L} layers", lambda L, N_stages: N_stages <= L),
    Constraint(
        "experts and ranks", "{E} experts are not divisible by EP {Z}", lambda E, Z, n_ep: (n_ep == 1) | _divides(Z, E)
    ),
    Constraint(
        "DP attention and experts",
        "{n_dpa} attention groups without EP would each need all experts",
        lambda n_dpa, n_ep: (n_dpa == 1) | (n_ep > 1),
    ),
    Constraint(
        "groups and nodes",
        "a stage of {Z} GPUs straddles nodes of {G}",
        lambda Z, G: (Z <= G) | _divides(G, Z),
    ),
)


def layouts(ask: ServingRequest, model: dict) -> tuple[Rows, list[Reason]]:
    """All possible layouts of a replica, and the reasons why the others are excluded.

    Columns: Y tensor-parallel ranks, N_stages, L_stage layers of the fullest, n_dpa attention groups, n_ep (1, or the
    ranks that the experts are spread over), Z ranks of a stage, n_gpu GPUs of the replica.
    """
    sizes = sorted(
        {*divisors_up_to(ask.gpus), *(ask.pins[name] for name in ("tp", "pp", "dpa", "ep") if name in ask.pins)}
    )
    groups = sizes if model["E"] > 1 else [1]
    kinds = (0, 1) if model["E"] > 1 else (0,)
    columns = np.meshgrid(sizes, [s for s in sizes if s <= MOST_STAGES], groups, kinds, indexing="ij")
    rows = Rows(zip(("Y", "N_stages", "n_dpa", "spread"), map(np.ravel, columns), strict=True))
    rows["Z"] = rows["Y"] * rows["n_dpa"]
    spread = rows.pop("spread") == 1
    rows["n_ep"] = np.where(spread, rows["Z"], 1)
    rows["n_gpu"] = rows["Z"] * rows["N_stages"]
    keep = (rows["n_gpu"] <= ask.gpus) & ((rows["n_ep"] > 1) | (rows["n_dpa"] == 1) | (rows["Z"] == 1))
    keep &= ~spread | (rows["Z"] > 1)  # one rank has all experts anyway
    for name, quantity in {"tp": "Y", "pp": "N_stages", "dpa": "n_dpa", "ep": "n_ep"}.items():
        keep &= rows[quantity] == ask.pins.get(name, rows[quantity])
    rows = rows.keep(keep)
    known = {name: model[name] for name in ("n_q", "n_kv", "F", "L", "E")} | dict(rows)
    rows, reasons = sieve(rows, CONSTRAINTS, known | {"G": ask.cluster.node})
    rows["L_stage"] = -(-model["L"] // rows["N_stages"])
    return rows, reasons


def replicas_in(ask: ServingRequest, stage: int, stages: int) -> int:
    """How many replicas the GPUs hold: no stage straddles nodes unless it fills them."""
    node = max(stage, ask.cluster.node)
    whole, rest = divmod(ask.gpus, node)
    return (whole * (node // stage) + rest // stage) // stages


def divisors_up_to(gpus: int) -> list[int]:
    """Sizes of a group: powers of two, and what divides the GPUs."""
    powers = [1 << i for i in range(gpus.bit_length())]
    return sorted({*powers, *divisors(gpus)})
