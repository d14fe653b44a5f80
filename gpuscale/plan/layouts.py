"""The choices of a plan as arrays: all ways to lay a run out, and why some of them cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuscale.plan.requests import Request

MESH = ("X", "Y", "n_cp", "Z", "N_stages", "n_seq", "n_virt")  # one layout: dp, tp, cp, ep, pp, micro, virtual
NAMES = {"X": "dp", "Y": "tp", "n_cp": "cp", "Z": "ep", "N_stages": "pp", "n_seq": "micro", "n_virt": "virtual"}
OPTIONS = ("n_zero", "n_sp", "n_recompute")
# Reasons that leave the same layout without virtual stages untouched.
VIRTUAL = ("interleaving", "virtual stages and layers")
# What is tried where nothing is fixed: sequences of a microbatch at most, tokens of a sequence on a rank at least,
# virtual stages per rank.
MICRO, SHORT, STAGE_CUTS = 8, 1024, (1, 2, 3, 4, 5, 6, 8)


@dataclass(frozen=True)
class Reason:
    """Why some choices cannot be: how many, and the words for one of them."""

    name: str
    count: int
    words: str


def divisors(n: int) -> list[int]:
    """All divisors, in order."""
    low = [d for d in range(1, int(n**0.5) + 1) if n % d == 0]
    return sorted({*low, *(n // d for d in low)})


def _nested(a, b):
    return (np.maximum(a, b) % np.minimum(a, b)) == 0


def _grid(*axes) -> list[np.ndarray]:
    return [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]


def _only(values, pinned):
    return [v for v in values if pinned is None or v == pinned]


class Rows(dict):
    """Columns of equal length; ``keep`` takes some rows, ``times`` puts every row beside every value."""

    def keep(self, mask) -> Rows:
        return Rows({name: column[mask] for name, column in self.items()})

    def times(self, name: str, values) -> Rows:
        values = np.asarray(values)
        rows = {key: np.repeat(column, len(values)) for key, column in self.items()}
        return Rows(rows | {name: np.tile(values, len(self))})

    def __len__(self) -> int:
        return len(next(iter(self.values()))) if self.keys() else 0


def mesh(ask: Request) -> Rows:
    """Every way to write the GPUs as X Y n_cp N_stages, those that are fixed kept."""
    pins, gpus = ask.pins, ask.gpus
    found = divisors(gpus)
    short = [d for d in found if d == 1 or d * SHORT <= ask.seq] if "cp" not in pins else found
    axes = (_only(found, pins.get("tp")), _only(short, pins.get("cp")), _only(found, pins.get("pp")))
    Y, n_cp, N_stages = _grid(*(axis or [0] for axis in axes))
    product = Y * n_cp * N_stages
    good = (product > 0) & (gpus % np.maximum(product, 1) == 0)
    rows = Rows(Y=Y[good], n_cp=n_cp[good], N_stages=N_stages[good], X=gpus // product[good])
    return rows.keep(rows["X"] == pins["dp"]) if "dp" in pins else rows


def rules(model: Mapping, ask: Request, rows: Rows) -> list[tuple]:
    """What a layout needs: (name, mask of those that break it, words with the columns' names in braces)."""
    r, node, seqs = rows, ask.cluster.node, ask.sequences
    group = r["Y"] * r["n_cp"]
    heads, kv, width, layers = (model[k] for k in ("n_q", "key_heads", "F", "L"))
    node = min(node, ask.gpus)
    return [
        ("TP and heads", heads % r["Y"] != 0, f"TP {{Y}} does not divide {heads} heads"),
        ("TP and key heads", ~_nested(kv, r["Y"]), f"TP {{Y}} and {kv} key heads: neither divides the other"),
        ("TP and MLP width", width % r["Y"] != 0, f"TP {{Y}} does not divide the MLP's width of {width:,}"),
        ("stages and layers", r["N_stages"] > layers, f"{{N_stages}} stages are more than {layers} layers"),
        ("DP and sequences", seqs % r["X"] != 0, f"DP {{X}} does not divide {seqs:,} sequences"),
        (
            "CP and sequence",
            ask.seq % (np.where(r["n_cp"] > 1, 2, 1) * group) != 0,
            f"{ask.seq:,} tokens do not cut evenly over CP {{n_cp}} (two pieces each) and TP {{Y}}",
        ),
        (
            "groups and nodes",
            ~(_nested(r["Y"], node) & _nested(group, node) & _nested(group * r["X"], node)),
            f"groups of {{Y}} TP, then CP {{n_cp}}, then DP {{X}} ranks straddle nodes of {node}",
        ),
    ]


def later_rules(model: Mapping, ask: Request, rows: Rows) -> list[tuple]:
    """The same for what a layout gets after its mesh: experts, microbatches, virtual stages."""
    r, node = rows, min(ask.cluster.node, ask.gpus)
    count = ask.sequences // (r["X"] * r["n_seq"])
    dual = ask.schedule == "dualpipe"
    fewest = 2 * r["N_stages"] if dual else r["N_stages"]
    words = "too few microbatches: {count} for {N_stages} stages" + (", which need two each" if dual else "")
    return [
        ("EP and nodes", ~_nested(r["Z"], node), f"EP {{Z}} straddles nodes of {node}"),
        ("microbatches and stages", (count < fewest) & (r["N_stages"] > 1), words),
        (
            "interleaving",
            (r["n_virt"] > 1) & (count % r["N_stages"] != 0),
            "interleaving takes microbatches in groups of {N_stages}; there are {count}",
        ),
        (
            "virtual stages and layers",
            r["n_virt"] * r["N_stages"] > model["L"],
            f"{{N_stages}} stages of {{n_virt}} virtual stages are more than {model['L']} layers",
        ),
        ("dualpipe and stages", dual & (r["N_stages"] % 2 != 0), "DualPipe runs both ways: {N_stages} stages are odd"),
    ]


def sieve(rows: Rows, broken: list[tuple], extra: Mapping | None = None) -> tuple[Rows, list[Reason]]:
    """The rows that break no rule, and for each rule those that break it first."""
    left, reasons = np.ones(len(rows), bool), []
    for name, mask, words in broken:
        out = left & mask
        if out.any():
            first = int(np.argmax(out))
            shown = {k: f"{int(v[first]):,}" for k, v in (rows | (extra or {})).items()}
            reasons.append(Reason(name, int(out.sum()), words.format(**shown)))
        left &= ~out
    return rows.keep(left), reasons


def layouts(model: Mapping, ask: Request) -> tuple[Rows, list[Reason]]:
    """All layouts that can be, and the reasons of those that cannot."""
    pins = ask.pins
    rows, reasons = mesh(ask), []
    rows, why = sieve(rows, rules(model, ask, rows))
    reasons += why
    experts = _only(divisors(model.get("E", 1)), pins.get("ep"))
    rows = rows.times("Z", experts or [pins.get("ep", 1)])
    ranks = rows["X"] * rows["Y"] * rows["n_cp"]
    bad = [("EP and ranks", ranks % rows["Z"] != 0, "EP {Z} does not divide the {ranks} ranks of a stage")]
    rows, why = sieve(rows, bad, {"ranks": ranks})
    reasons += why if "ep" in pins else []
    few = [n for n in divisors(ask.sequences) if n <= MICRO]
    rows = rows.times("n_seq", [pins["micro"]] if "micro" in pins else few)
    own = ask.sequences // rows["X"]
    bad = [("microbatch and batch", own % rows["n_seq"] != 0, "{n_seq} sequences do not divide the {own} of a copy")]
    rows, why = sieve(rows, bad, {"own": own})
    reasons += why if "micro" in pins else []
    rows = rows.times("n_virt", _virtual_stages(model["L"], ask))
    rows = rows.keep((rows["n_virt"] == 1) | (rows["N_stages"] > 1))
    count = ask.sequences // (rows["X"] * rows["n_seq"])
    rows, why = sieve(rows, later_rules(model, ask, rows), {"count": count})
    return rows, reasons + why


def _virtual_stages(layers: int, ask: Request) -> list[int]:
    """Virtual stages that a stage may be cut into: 1 for schedules that are not interleaved."""
    if ask.schedule != "1f1b":
        return [1]
    return [ask.pins["virtual"]] if "virtual" in ask.pins else [v for v in STAGE_CUTS if v <= layers]


def options(ask: Request) -> Rows:
    """Every combination of ZeRO's stage, sequence parallelism and recomputation."""
    pins = ask.pins
    axes = (_only(range(4), pins.get("zero")), _only(range(2), pins.get("sp")), _only(range(3), pins.get("recompute")))
    return Rows(zip(OPTIONS, _grid(*axes), strict=True))


def parts(rows: Rows, picks: Rows, pins: Mapping) -> list[tuple[Rows, Rows]]:
    """Layouts beside the options that change something for them.

    Without TP there is nothing for sequence parallelism to share out; where experts are spread, TP needs it. Without
    copies there is nothing for ZeRO to cut. What is fixed is kept.
    """
    copies, tp, ep = rows["X"] * rows["n_cp"] > 1, rows["Y"] > 1, rows["Z"] > 1
    sp, zero = picks["n_sp"] == 1, picks["n_zero"] > 0
    out = []
    for with_copies in (True, False):
        for mask, wanted in ((~tp, ~sp), (tp & ep, sp), (tp & ~ep, sp | ~sp)):
            here = rows.keep(mask & (copies == with_copies))
            chosen = wanted if "sp" not in pins else wanted | True
            chosen = chosen if with_copies or "zero" in pins else chosen & ~zero
            if len(here) and chosen.any():
                out.append((here, picks.keep(chosen)))
    return out
