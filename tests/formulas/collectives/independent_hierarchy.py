"""A tree of levels: every formula against the loads that a hierarchical schedule puts on the physical links."""

from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod

from formulas.harness import at, checks
from hypothesis import strategies as st
from support.other_schedules import Switched

from gpuscale.schedules.collectives import hierarchical, switched
from gpuscale.schedules.collectives.routes import Tree, worst

RATES = st.fractions(Fraction(1, 20), 20, max_denominator=20)


def trees(depth: int, least: int = 1, most: int = 4):
    """Degrees and bandwidths of that many levels."""
    return st.tuples(st.tuples(*[st.integers(least, most)] * depth), st.tuples(*[RATES] * depth))


def inner_axes(degrees) -> list[int]:
    """Sizes of an inner axis that fit every unit."""
    sizes = [prod(degrees[:i]) for i in range(1, len(degrees) + 1)]
    return [y for y in range(1, sizes[-1] + 1) if all(max(y, s) % min(y, s) == 0 for s in sizes)]


def named(degrees, rates) -> dict:
    """The inputs G, W_nvl, ...; two levels alone join M nodes."""
    counts = ("G", "M") if len(degrees) == 2 else ("G", "G_2", "G_3", "G_4")
    return dict(zip(counts, degrees, strict=False)) | dict(zip(LINKS, rates, strict=False))


def slowest(loads: dict, rates):
    """The time of the busiest physical link for each byte of V; the NICs of a node count together."""
    return max((load / rates[level - 1] for level, load in worst(loads).items()), default=0)


def own_phases(degrees) -> dict:
    """For each level, what its phase alone puts on one of its links: the load after it, less the load before."""
    schedule, tree = hierarchical.all_gather(degrees), Tree(degrees, rails=True)
    loads = [worst(schedule.per_link(tree, upto=step)) for step in range(schedule.steps + 1)]
    active = [level for level in range(len(degrees), 0, -1) if degrees[level - 1] > 1]  # from the top down
    phases = zip(active, pairwise(loads), strict=True)
    return {level: after.get(level, 0) - before.get(level, 0) for level, (before, after) in phases}


LINKS = ("W_nvl", "W_node", "W_3", "W_4")
NAMES = {2: "two_level_{}", 3: "three_level_{}"}
PAIRS = st.tuples(trees(2), trees(3, most=3))  # degrees and bandwidths of two levels, and of three


def names(*parts):
    """The formulas of two and of three levels."""
    return [NAMES[depth].format(part) for part in parts for depth in (2, 3)]


def each(lib, pair, *parts):
    """For both depths: degrees, bandwidths, and the formulas with their inputs put in."""
    for degrees, rates in pair:
        given = named(degrees, rates) | {"V": 7}
        formulas = [getattr(lib, NAMES[len(degrees)].format(part)) for part in parts]
        yield degrees, rates, [partial(put, formula, given) for formula in formulas]


def put(formula, given: dict, more: dict) -> Fraction:
    return at(formula, **given, **more)


@checks("node_bandwidth", "leaf_bandwidth", "spine_bandwidth", over=st.tuples(st.integers(2, 6), RATES))
def a_level_by_itself(lib, case):
    children, rate = case
    for place, name in enumerate(("node_bandwidth", "leaf_bandwidth", "spine_bandwidth"), 1):
        degrees = tuple(children if level == place else 1 for level in (1, 2, 3))
        load = worst(hierarchical.all_gather(degrees).per_link(Tree(degrees)))[place]
        given = {("G", "G_2", "G_3")[place - 1]: children, LINKS[place - 1]: rate}
        assert at(getattr(lib, name), **given) == rate / load


@checks(*names("rule"), "two_level_sum", over=PAIRS)
def phases_of_the_levels(lib, pair):
    for degrees, rates, (rule,) in each(lib, pair, "rule"):
        times = [7 * load / rates[level - 1] for level, load in own_phases(degrees).items()]
        assert rule({}) == max(times, default=0)
        if len(degrees) == 2:
            assert at(lib.two_level_sum, **named(degrees, rates), V=7) == sum(times)


@checks(*names("phases"), over=st.tuples(PAIRS, st.tuples(RATES, RATES, RATES)))
def rings_one_level_after_another(lib, case):
    pair, waits = case
    for degrees, rates, (phases,) in each(lib, pair, "phases"):
        time = sum(7 * load / rates[level - 1] for level, load in own_phases(degrees).items())
        for level, wait in enumerate(waits[: len(degrees)], 1):
            alone = tuple(d if i == level else 1 for i, d in enumerate(degrees, 1))
            time += hierarchical.all_gather(alone, ring=True).steps * wait
        assert phases({f"alpha_{i}": wait for i, wait in enumerate(waits, 1)}) == time


@checks(*names("links", "transit"), "two_level_all_reduce_links", over=PAIRS)
def bytes_over_every_link(lib, pair):
    for degrees, rates, (links, transit) in each(lib, pair, "links", "transit"):
        for rails, gather in ((True, links), (False, transit)):
            tree = Tree(degrees, rails)
            expected = 7 * slowest(hierarchical.all_gather(degrees).per_link(tree), rates)
            assert gather({}) == expected == 7 * slowest(hierarchical.reduce_scatter(degrees).per_link(tree), rates)
            if rails and len(degrees) == 2:
                both = 7 * slowest(hierarchical.all_reduce(degrees).per_link(tree), rates)
                assert at(lib.two_level_all_reduce_links, **named(degrees, rates), V=7) == both


@checks("three_level_switches", over=trees(3, least=2, most=3))
def sums_in_every_switch(lib, case):
    degrees, rates = case
    expected = 7 * slowest(switched.all_reduce(degrees).per_link(Switched(degrees)), rates)
    assert at(lib.three_level_switches, **named(degrees, rates), V=7) == expected


# Sides that an inner axis can divide, or take several of, without taking all.
def halved(depth: int):
    sides = st.tuples(*[st.sampled_from([1, 2, 4])] * depth).filter(lambda degrees: prod(degrees) <= 32)
    return st.tuples(sides, st.tuples(*[RATES] * depth))


def whole_fabric(degrees, inner: int):
    """The tree that holds an inner axis: one level more where it reaches beyond, and one rank of X is in here."""
    return degrees if inner <= prod(degrees) else (*degrees, 2)


@checks(*names("sharded"), over=st.tuples(halved(2), halved(3)), examples=60)
def shards_over_every_link(lib, pair):
    for degrees, rates, (sharded,) in each(lib, pair, "sharded"):
        for inner in [*inner_axes(degrees), 2 * prod(degrees)]:
            fabric = whole_fabric(degrees, inner)
            schedule = hierarchical.all_gather(fabric, inner)
            assert sharded({"Y": inner}) == 7 * slowest(schedule.per_link(Tree(fabric, rails=True)), rates)


@checks("child_bytes", over=trees(3, most=3))
def bytes_into_a_child(lib, case):
    degrees, _ = case
    loads = worst(hierarchical.all_gather(degrees).per_link(Tree(degrees)))
    for level in (1, 2, 3):
        given = {"V": 5, "n_in": prod(degrees[: level - 1]), "N": prod(degrees)}
        assert at(lib.child_bytes, **given) == 5 * loads.get(level, 0)


@checks("sharded_bytes", "sharded_all_gather", "link_time", over=trees(3, most=3))
def shards_into_a_child(lib, case):
    degrees, rates = case
    for inner in [*inner_axes(degrees), 2 * prod(degrees)]:
        fabric = whole_fabric(degrees, inner)
        loads = worst(hierarchical.all_gather(fabric, inner).per_link(Tree(fabric)))
        for level, rate in enumerate(rates, 1):
            given = {"V": 5, "Y": inner, "n_in": prod(degrees[: level - 1]), "N": prod(degrees)}
            load = 5 * loads.get(level, 0)
            assert at(lib.sharded_bytes, **given) == load
            assert at(lib.sharded_all_gather, **given, W=rate) == load / rate
            assert at(lib.link_time, V_link=load, W=rate) == load / rate


@checks("sharded_bytes_rails", "sharded_all_gather_rails", over=trees(2))
def shards_into_a_gpu_with_its_own_card(lib, case):
    degrees, rates = case
    for inner in inner_axes(degrees):
        load = worst(hierarchical.all_gather(degrees, inner).per_link(Tree(degrees, rails=True))).get(1, 0)
        given = {"V": 5, "Y": inner, "n_unit": degrees[0]}
        assert at(lib.sharded_bytes_rails, **given) == 5 * load
        assert at(lib.sharded_all_gather_rails, **given, W=rates[0]) == 5 * load / rates[0]


@checks("sharded_switch_bytes", "sharded_switch_all_reduce", over=trees(3, least=2, most=3))
def shards_summed_in_every_switch(lib, case):
    degrees, rates = case
    for inner in inner_axes(degrees):
        if inner == prod(degrees):
            continue  # no other rank has the shard: nothing is to be summed
        loads = worst(switched.all_reduce(degrees, inner).per_link(Switched(degrees)))
        for level, rate in enumerate(rates, 1):
            given = {"V": 5, "Y": inner, "n_in": prod(degrees[: level - 1])}
            assert at(lib.sharded_switch_bytes, **given) == 5 * loads[level]
            assert at(lib.sharded_switch_all_reduce, **given, W=rate) == 5 * loads[level] / rate


@checks("nodes_bandwidth", over=trees(3, most=3).filter(lambda case: prod(case[0]) > 1))
def nodes_added_one_by_one(lib, case):
    degrees, rates = case
    gpus, unit, units = degrees
    for tree in (degrees, (gpus, max(unit - 1, 1), 1)):  # whole units, and a part of one
        nodes = tree[1] * tree[2]
        if gpus * nodes > 1:
            loads = hierarchical.all_gather(tree).per_link(Tree(tree, rails=True))
            given = {"G": gpus, "G_2": unit, "M": nodes} | dict(zip(LINKS, rates, strict=False))
            assert at(lib.nodes_bandwidth, **given) == 1 / slowest(loads, rates)


@checks("unit_switch_in", "unit_switch_out", "top_switch_out", over=st.tuples(*[st.integers(2, 4)] * 3))
def what_every_switch_gets_and_gives(lib, degrees):
    schedule = switched.all_gather(degrees)
    for level in (1, 2, 3):
        node = switched.switch(degrees, level)
        given = {"V": 3, "n_unit": prod(degrees[:level]), "N": prod(degrees)}
        if level < 3:
            assert at(lib.unit_switch_in, **given) == 3 * schedule.received(node)
        if level == 1:
            assert at(lib.unit_switch_out, **given) == 3 * schedule.sent(node)
    given = {"V": 3, "n_unit": prod(degrees[:2]), "N": prod(degrees)}
    assert at(lib.top_switch_out, **given) == 3 * schedule.sent(switched.switch(degrees, 3))
