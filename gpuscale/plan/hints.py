"""What to ask for instead if a request does badly: other numbers of GPUs, or part of each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from math import prod

from gpuscale.plan import layouts
from gpuscale.plan.errors import Refusal
from gpuscale.plan.evaluation import recipe_inputs
from gpuscale.plan.factors import factors, multiplicity
from gpuscale.plan.requests import MOST_GPUS, Request, check_gpus, check_pins
from gpuscale.plan.typed import some
from gpuscale.printed.calling import value
from gpuscale.printed.formulas import optimizer_bytes, zero3_gpus
from gpuscale.units import show

NEAR = 64  # numbers of GPUs to try on either side


def _within(p: int, limit: float) -> int:
    """The largest exponent of p up to a limit."""
    return next(a for a in count() if p ** (a + 1) > limit)


def _product(parts: Mapping[int, int]) -> str:
    return " x ".join(f"{p:,}" + (f"^{a}" if a > 1 else "") for p, a in parts.items())


def unused(model: Mapping, ask: Request) -> dict[int, int]:
    """Factors of the number of GPUs that only stages could take up, if there cannot be that many stages: primes with
    their exponents; empty if there is no such obstacle."""
    left, fixed = {}, ask.pins.get("pp")
    for p, a in factors(ask.gpus).items():
        most = {
            "tp": min(multiplicity(p, model[k]) for k in ("n_q", "F")),
            "dp": multiplicity(p, ask.sequences),
            "cp": min(multiplicity(p, ask.seq), _within(p, ask.seq / layouts.SHORT)),
        }
        most |= {axis: multiplicity(p, ask.pins[axis]) for axis in most if axis in ask.pins}
        left[p] = max(a - sum(most.values()), 0)
    alone = {p: a for p, a in left.items() if (fixed % p**a if fixed else p**a > model["L"])}
    together = {p: a for p, a in left.items() if a}
    return alone or (together if not fixed and prod(p**a for p, a in together.items()) > model["L"] else {})


def why_no_layout(model: Mapping, ask: Request, reasons) -> str:
    """Why no layout is possible, and the nearest numbers of GPUs for which one is."""
    left = unused(model, ask)
    if left:
        limits = {
            "pp": f"at most {model['L']}",
            "tp": f"TP has to divide {model['n_q']} heads",
            "dp": f"DP {some(ask.sequences, 'sequence')}",
            "cp": f"CP {some(ask.seq, 'token')}",
        }
        said = ", ".join(f"{axis.upper()} is {ask.pins[axis]}" if axis in ask.pins else limits[axis] for axis in limits)
        whole = _product(factors(ask.gpus))
        equal = "" if whole == f"{ask.gpus:,}" else f" = {whole}"
        said = f"{some(ask.gpus, 'GPU')}{equal}, and only stages could take up the factor {_product(left)} ({said})"
    else:
        told = [r for r in reasons if r.name not in layouts.VIRTUAL or "virtual" in ask.pins] or reasons
        said = max(told, key=lambda r: r.count).words if told else "no choice is left"
    near = nearest(model, ask)
    return said + (f"; {' and '.join(f'{n:,}' for n in near)} GPUs have a layout" if near else "")


def nearest(model: Mapping, ask: Request) -> list[int]:
    """The nearest numbers of GPUs, below and above, that have a layout."""
    step = ask.cluster.node if ask.gpus > ask.cluster.node else 1
    below = range((ask.gpus - 1) // step * step, 0, -step)
    above = range((ask.gpus // step + 1) * step, MOST_GPUS + 1, step)
    found = (next((n for n in counts[:NEAR] if _can(model, ask, n)), None) for counts in (below, above))
    return [n for n in found if n is not None]


def _can(model: Mapping, ask: Request, gpus: int) -> bool:
    other = replace(ask, gpus=gpus)
    try:
        check_gpus(gpus, ask.cluster)
        check_pins(ask.pins, gpus, ask.model)
    except Refusal:
        return False
    return not unused(model, other) and len(layouts.layouts(model, other)[0]) > 0


def part_of_nodes(ask: Request) -> Request | None:
    """The same on a power of two of each node's GPUs, if that is fewer; None if it is not, or is refused."""
    node = min(ask.cluster.node, ask.gpus)
    few = replace(ask.cluster, node=node).part
    gpus = ask.gpus // node * few
    if few == node or ask.cluster.node.bit_count() == 1:  # where nodes are a power of two, the count was a choice
        return None
    try:
        check_pins(ask.pins, gpus, ask.model)
    except Refusal:
        return None
    return replace(ask, cluster=ask.cluster.with_node(few), gpus=gpus)


def hint(ask: Request, fewer: Request, quick: float, slow: float | None) -> str:
    """That part of each node is faster (``slow`` is a step on all of it), or the only possibility."""
    node, nodes = min(ask.cluster.node, ask.gpus), -(-ask.gpus // ask.cluster.node)
    each = f"{fewer.cluster.node} of the {node} GPUs" + (" of each node" if nodes > 1 else "")
    against = "all of them cannot be used" if slow is None else f"all of them take {show(slow, 's')}"
    use = f"--gpus {fewer.gpus} --per-node {fewer.cluster.node}"
    return f"{each} take {show(quick, 's')} per step, {against}: {use}"


def states_need(model: Mapping, ask: Request) -> str:
    """How many GPUs would hold the state alone, if these are too few; else nothing."""
    known = model | recipe_inputs(ask.recipe) | {"S_level": ask.room}
    least = int(value(zero3_gpus, known | {"b_opt": value(optimizer_bytes, known)}))
    if least <= ask.gpus:
        return ""
    return f"the state alone needs {some(least, 'GPU')} or more, sharded evenly over all of them (ZeRO-3)"
