"""Collectives over a tree of levels: GPUs in a node, nodes under leaves, units under spines.

A node joins G GPUs, each by an NVLink of bandwidth W_nvl; each node has W_node into the network. Two levels join M
nodes. In deeper trees level i joins G_i children, from level 3 up each by a link of bandwidth W_i. A cost over a tree
of any depth is a function that returns a formula; a few depths have names here.
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
_LEAVES = "when the missing bytes of a child enter through its uplink, which also carries the traffic from above"
_RAILS = "when NICs feed their GPUs directly, so that NVLink carries only the node's own traffic"


def _levels(depth: int) -> range:
    if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
        raise ValueError(f"depth: expected a whole number of levels, at least 1; got {depth!r}")
    return range(1, depth + 1)


def _degree(level: int, depth: int) -> Expr:
    """Children of a unit of that level: G, G_2, ...; where two levels are all, the second joins M nodes."""
    return M if (level, depth) == (2, 2) else degree(level)


def _size(level: int, depth: int) -> Expr:
    """GPUs below a unit of that level, and 1 for level 0."""
    return reduce(mul, (_degree(i, depth) for i in range(1, level + 1)), Integer(1))


def _siblings(i: int, depth: int) -> Expr:
    """Seconds per byte of V while level i exchanges it among its children."""
    d = _degree(i, depth)
    return (d - 1) / (d * uplink(i))


def _composed(title: str, of: Callable, depth: int, assumes: str) -> Formula:
    whole = V * of(*(_siblings(i, depth) for i in _levels(depth)))
    return Formula(f"{title}, {_words(depth)}", T_comms, whole, source=_BOOK, assumes=assumes)


def _words(depth: int) -> str:
    return {1: "one level", 2: "two levels", 3: "three levels"}.get(depth, f"{depth} levels")


def _sum(*terms: Expr) -> Expr:
    return sum(terms, Integer(0))


def level_bandwidth(level: int) -> Formula:
    """Bandwidth of an all-gather at a level: the links of its children, which already hold a part each."""
    d, w = degree(level), uplink(level)
    return Formula(
        f"Collective bandwidth of level {level}", W_coll, w * d / (d - 1), source=_BOOK,
        assumes="for two children or more, each lacking what its siblings hold", approx=w, regime=((d, oo),),
        needs=(at_least(d, 2),))


def all_gather_rule(depth: int) -> Formula:
    """The level rule: the slowest level, each counted by itself, all at work at once. Raises for a depth below 1."""
    told = "when the levels overlap perfectly and each counts only its own children"
    return _composed("All-gather by the level rule", Max, depth, told)


def all_gather_sum(depth: int) -> Formula:
    """The same phases one after another: no overlap between levels."""
    return _composed("All-gather, one level after another", _sum, depth, "when each level waits for the one before")


def phased_all_gather(depth: int) -> Formula:
    """A ring on each level, one level after another, with the latency of every step."""
    rings = _sum(*((_degree(i, depth) - 1) * indexed(alpha, i) + V * _siblings(i, depth) for i in _levels(depth)))
    told = "for a ring on each level, one level after another, with a latency of alpha_i per step of level i"
    title = f"All-gather by rings, {_words(depth)}"
    return Formula(title, T_comms, rings, source=_BOOK, assumes=told)


def all_gather_links(depth: int, rails: bool = True) -> Formula:
    """The slowest link when each byte enters a unit once: at each level, the bytes into a child over its bandwidth.

    ``rails``: the NICs feed their GPUs directly, so level 1 carries only what the node's own GPUs exchange.
    """
    top = _size(depth, depth)
    terms = [(1 - _size(i - 1, depth) / top) / uplink(i) for i in _levels(depth)]
    if rails:
        terms[0] = _siblings(1, depth)
    told, how = (_RAILS, "rails") if rails else (_LEAVES, "no rails")
    title = f"All-gather by its busiest link, {_words(depth)}, {how}"
    means = {V: "size of the whole array, which every GPU has in the end"}
    return Formula(title, T_comms, V * Max(*terms), source=_BOOK, assumes=told, means=means)


def in_network_all_reduce(depth: int) -> Formula:
    """Switches reduce at every level: each child sends V once and receives V once."""
    slowest = V * Max(*(1 / uplink(i) for i in _levels(depth)))
    title = f"In-network all-reduce, {_words(depth)}"
    told = "when the switches of every level reduce and multicast, and the levels overlap perfectly"
    return Formula(title, T_comms, slowest, source="graham2016", assumes=told)


def sharded_links(depth: int) -> Formula:
    """All-gather over X of an array that is also sharded over an inner axis Y, by its busiest link; with rails.

    Exact where Y divides the size of each unit or is a multiple of it.
    """
    inside, *above = _levels(depth)
    terms = [_peers(Integer(1), _size(inside, depth)) / uplink(inside)]
    terms += [_peers(_size(i - 1, depth), _size(depth, depth)) / uplink(i) for i in above]
    title = f"All-gather of a sharded array, {_words(depth)}, rails"
    needs = tuple(_fits(_size(i, depth)) for i in _levels(depth))
    return Formula(title, T_comms, V * Max(*terms), source=_SHARDED, assumes=_RAILS, needs=needs)


def _fits(size: Expr) -> Condition:
    """The inner axis divides a unit, or whole units divide the inner axis."""
    return nested(Y, size)


def _nested(outer: Expr) -> tuple[Condition, ...]:
    return divisible(outer, n_in), _fits(n_in), _fits(outer)


def _peers(inner: Expr, outer: Expr) -> Expr:
    """Fraction of V that enters a child of ``inner`` GPUs while the ranks of X in ``outer`` GPUs exchange."""
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
    1 / Max((G - 1) / (G * W_nvl), (1 - 1 / M) / W_node, (1 - Min(G_2 / M, 1)) / W_3), source=_BOOK,
    assumes="for full units of G_2 nodes, or part of one; " + _RAILS,
    needs=(at_least(M * G, 2), divisible(Max(M, G_2), G_2)))

child_bytes = Formula("Bytes into a block of the network", V_link, V * (1 - n_in / N), source=_BOOK,
    assumes=_LEAVES, approx=V, regime=((N, oo),), needs=(divisible(N, n_in),))

# One level of an all-gather over X, of an array that is also sharded over an inner axis Y
sharded_bytes = Formula("Bytes into a child, sharded array", V_link,
    V * Min(Y, n_in) / Y * (1 - Max(n_in, Y) / Max(N, Y)), source=_SHARDED, assumes=_LEAVES,
    needs=_nested(N))
sharded_bytes_rails = Formula("Bytes into a child, sharded array, rails", V_link, V * _peers(1, n_unit),
    source=_SHARDED, assumes="for the NVLink level: " + _RAILS.removeprefix("when "), needs=(_fits(n_unit),))
link_time = Formula("Time of the bytes on a link", T_comms, V_link / W, source=_SHARDED,
    assumes="at the link's full bandwidth")


def _link_time(sent: Formula, title: str) -> Formula:
    return link_time.where(sent, title=title, assumes=sent.assumes)


sharded_all_gather = _link_time(sharded_bytes, "All-gather of a sharded array, one level")
sharded_all_gather_rails = _link_time(sharded_bytes_rails, "All-gather of a sharded array, node level with rails")
sharded_switch_bytes = Formula("Bytes into a child, sharded array with in-network reduction", V_link,
    V * Min(Y, n_in) / Y, source=_SHARDED,
    assumes="for an all-reduce over X that reaches beyond the child, whose switch reduces what its own GPUs hold",
    needs=(_fits(n_in),))
sharded_switch_all_reduce = _link_time(sharded_switch_bytes, "In-network all-reduce of a sharded array, one level")

# What passes through the switches of one unit in an all-gather over the whole network
unit_switch_in = Formula("Bytes into a unit's switches", V_in, V * n_unit / N + V * (1 - n_unit / N),
    source=_QUIZ, assumes="from the unit's own GPUs, and from above", needs=(divisible(N, n_unit),))
unit_switch_out = Formula("Bytes out of a unit's switches", V_out, V * n_unit / N + n_unit * V * (1 - 1 / N),
    source=_QUIZ, assumes="up once, and down to each GPU everything that it lacks, with the switches making the copies",
    needs=(divisible(N, n_unit),))
top_switch_out = Formula("Bytes out of the top switches", V_out, V * (N / n_unit - 1), source=_QUIZ,
    assumes="down to each of N/n_unit units everything that it lacks, with the switches below making the copies",
    needs=(divisible(N, n_unit),))

declare(globals())
