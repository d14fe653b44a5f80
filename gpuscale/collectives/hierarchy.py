"""Collectives over a tree of levels: GPUs in a node, nodes under leaves, units under spines.

Level i joins D_i children, each by a link of bandwidth W_i; level 1 joins GPUs. A cost over a tree of any depth is
a function that returns a formula; a few depths stand here under names.
"""

# fmt: off

from collections.abc import Callable
from functools import reduce
from operator import mul

from sympy import Expr, Integer, Max, Min, oo

from gpuscale.core.conditions import Condition, at_least, divisible, nested
from gpuscale.core.formula import Formula, declare
from gpuscale.symbols import *

_BOOK = "scaling-book-gpus, cross-node collectives"
_QUIZ = "scaling-book-gpus, quiz 4 question 1"
_SHARDED = "scaling-book-gpus, cross-node collectives with a sharded axis"
_LEAVES = "when what a child does not hold enters through its uplink, which also carries what comes from above"
_RAILS = "when NICs feed their GPUs directly, so that NVLink carries the node's own traffic only"


def _levels(depth: int) -> range:
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise ValueError(f"depth: expected a whole number of levels from 1 up; got {depth!r}")
    return range(1, depth + 1)


def _size(level: int) -> Expr:
    """GPUs below a unit of that level: D_1 ... D_level, and 1 for level 0."""
    return reduce(mul, (indexed(D, i) for i in range(1, level + 1)), Integer(1))


def _siblings(i: int) -> Expr:
    """Seconds for each byte of V while level i shares among its D_i children."""
    d = indexed(D, i)
    return (d - 1) / (d * indexed(W, i))


def _composed(title: str, of: Callable, depth: int, assumes: str) -> Formula:
    whole = V * of(*(_siblings(i) for i in _levels(depth)))
    return Formula(f"{title}, {_words(depth)}", T_comms, whole, source=_BOOK, assumes=assumes)


def _words(depth: int) -> str:
    return {1: "one level", 2: "two levels", 3: "three levels"}.get(depth, f"{depth} levels")


def _sum(*terms: Expr) -> Expr:
    return sum(terms, Integer(0))


def level_bandwidth(level: int) -> Formula:
    """What an all-gather sees of a level: its children's links, less the share that each child holds already."""
    d, w = indexed(D, level), indexed(W, level)
    return Formula(
        f"Collective bandwidth of level {level}", W_coll, w * d / (d - 1), source=_BOOK,
        assumes="for two children or more, each lacking what its siblings hold", approx=w, regime=((d, oo),),
        needs=(at_least(d, 2),))


def all_gather_rule(depth: int) -> Formula:
    """The level rule: the slowest level, each counted by itself, all at work at once. Raises for a depth below 1."""
    told = "when the levels overlap perfectly and each counts its own children only"
    return _composed("All-gather by the level rule", Max, depth, told)


def all_gather_sum(depth: int) -> Formula:
    """The same phases one after another: no overlap between levels."""
    return _composed("All-gather, one level after another", _sum, depth, "when each level waits for the one before")


def phased_all_gather(depth: int) -> Formula:
    """A ring on each level, one level after another, with the latency of every step."""
    rings = _sum(*((indexed(D, i) - 1) * indexed(alpha, i) + V * _siblings(i) for i in _levels(depth)))
    told = "for a ring on each level, one level after another, a step of level i waiting alpha_i"
    title = f"All-gather by rings, {_words(depth)}"
    return Formula(title, T_comms, rings, source=_BOOK, assumes=told)


def all_gather_links(depth: int, rails: bool = True) -> Formula:
    """The slowest link, each byte entering a unit once: for each level the bytes into a child, over its bandwidth.

    ``rails``: the NICs feed their GPUs directly, so level 1 carries only what the node's own GPUs share.
    """
    top = _size(depth)
    terms = [(1 - _size(i - 1) / top) / indexed(W, i) for i in _levels(depth)]
    if rails:
        terms[0] = _siblings(1)
    told, how = (_RAILS, "rails") if rails else (_LEAVES, "no rails")
    title = f"All-gather by its busiest link, {_words(depth)}, {how}"
    return Formula(title, T_comms, V * Max(*terms), source=_BOOK, assumes=told)


def in_network_all_reduce(depth: int) -> Formula:
    """Switches reduce at every level: each child sends V once and receives V once."""
    slowest = V * Max(*(1 / indexed(W, i) for i in _levels(depth)))
    title = f"All-reduce in the switches, {_words(depth)}"
    told = "when the switches of every level add and multicast, the levels overlapping perfectly"
    return Formula(title, T_comms, slowest, source="graham2016", assumes=told)


def sharded_links(depth: int) -> Formula:
    """All-gather over X of an array that is also sharded over an inner axis Y, by its busiest link; with rails.

    Exact where Y divides the size of each unit or is a multiple of it.
    """
    inside, *above = _levels(depth)
    terms = [_peers(_size(0), _size(inside)) / indexed(W, inside)]
    terms += [_peers(_size(i - 1), _size(depth)) / indexed(W, i) for i in above]
    title = f"All-gather of a sharded array, {_words(depth)}, rails"
    needs = tuple(_fits(_size(i)) for i in _levels(depth))
    return Formula(title, T_comms, V * Max(*terms), source=_SHARDED, assumes=_RAILS, needs=needs)


def _fits(size: Expr) -> Condition:
    """The inner axis divides a unit, or whole units divide the inner axis."""
    return nested(Y, size)


def _nested(outer: Expr) -> tuple[Condition, ...]:
    return divisible(outer, S_child), _fits(S_child), _fits(outer)


def _peers(inner: Expr, outer: Expr) -> Expr:
    """Share of V that enters a child of ``inner`` GPUs while the ranks of X in ``outer`` GPUs share."""
    held, mine = (Min(Y, inner) / Y, Max(inner, Y)) if inner != 1 else (1 / Y, Y)
    return held * (1 - mine / Max(outer, Y))


node_bandwidth, leaf_bandwidth, spine_bandwidth = (level_bandwidth(i) for i in (1, 2, 3))
two_level_rule, three_level_rule = (all_gather_rule(depth) for depth in (2, 3))
two_level_sum = all_gather_sum(2)
two_level_phases, three_level_phases = (phased_all_gather(depth) for depth in (2, 3))
two_level_links, three_level_links = (all_gather_links(depth) for depth in (2, 3))
two_level_transit, three_level_transit = (all_gather_links(depth, rails=False) for depth in (2, 3))
two_level_all_reduce_links = Formula("All-reduce by its busiest link, two levels, rails", T_comms,
    2 * two_level_links.rhs, source=_BOOK, assumes="for a reduce-scatter, then an all-gather, " + _RAILS)
three_level_switches = in_network_all_reduce(3)
two_level_sharded, three_level_sharded = (sharded_links(depth) for depth in (2, 3))
nodes_bandwidth = Formula("Bandwidth of an all-gather over several nodes", W_coll,
    1 / Max((D_1 - 1) / (D_1 * W_1), (1 - 1 / M) / W_2, (1 - Min(D_2 / M, 1)) / W_3), source=_BOOK,
    assumes="for full units of D_2 nodes, or a part of one; " + _RAILS,
    needs=(at_least(M * D_1, 2), divisible(Max(M, D_2), D_2)))

child_bytes = Formula("Bytes into a part of the network", V_link, V * (1 - S_child / S_top), source=_BOOK,
    assumes=_LEAVES, approx=V, regime=((S_top, oo),), needs=(divisible(S_top, S_child),))

# One level of an all-gather over X, of an array that is also sharded over an inner axis Y
sharded_bytes = Formula("Bytes into a child, sharded array", V_link,
    V * Min(Y, S_child) / Y * (1 - Max(S_child, Y) / Max(S_top, Y)), source=_SHARDED, assumes=_LEAVES,
    needs=_nested(S_top))
sharded_bytes_rails = Formula("Bytes into a child, sharded array, rails", V_link, V * _peers(1, S_unit),
    source=_SHARDED, assumes="for the NVLink level: " + _RAILS.removeprefix("when "), needs=(_fits(S_unit),))
link_time = Formula("Time of the bytes on a link", T_comms, V_link / W, source=_SHARDED,
    assumes="at the link's full bandwidth")


def _link_time(sent: Formula, title: str) -> Formula:
    return link_time.where(sent, title=title, assumes=sent.assumes)


sharded_all_gather = _link_time(sharded_bytes, "All-gather of a sharded array, one level")
sharded_all_gather_rails = _link_time(sharded_bytes_rails, "All-gather of a sharded array, node level with rails")
sharded_switch_bytes = Formula("Bytes into a child, sharded array summed in the switches", V_link,
    V * Min(Y, S_child) / Y, source=_SHARDED,
    assumes="for an all-reduce over X that reaches beyond the child, whose switch adds what its own GPUs hold",
    needs=(_fits(S_child),))
sharded_switch_all_reduce = _link_time(sharded_switch_bytes, "All-reduce of a sharded array in the switches, one level")

# What passes through the switches of one unit in an all-gather over the whole network
unit_switch_in = Formula("Bytes into a unit's switches", V_in, V * S_unit / S_top + V * (1 - S_unit / S_top),
    source=_QUIZ, assumes="from the unit's own GPUs, and from above", needs=(divisible(S_top, S_unit),))
unit_switch_out = Formula("Bytes out of a unit's switches", V_out, V * S_unit / S_top + S_unit * V * (1 - 1 / S_top),
    source=_QUIZ, assumes="up once, and down to each GPU all that it lacks, the switches making the copies",
    needs=(divisible(S_top, S_unit),))
top_switch_out = Formula("Bytes out of the top switches", V_out, V * (S_top / S_unit - 1), source=_QUIZ,
    assumes="down to each of S_top/S_unit units all that it lacks, the switches making the copies below",
    needs=(divisible(S_top, S_unit),))

declare(globals())
