"""Links, switches and cuts: each formula against a network that is laid out cable by cable and counted."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from formulas.harness import at, checks, close
from hypothesis import strategies as st
from support.fat_trees import capacity
from support.reference_machines import counted

from gpuscale.network import Level, Topology, Torus
from gpuscale.schedules.collectives import hierarchical
from gpuscale.schedules.collectives.routes import Tree

RATES = st.fractions(Fraction(1, 20), 20, max_denominator=20)
FEW = st.integers(1, 4)


def pod(gpus=2, nodes=2, units=2, rate=1, wide=4, up=None):
    """GPUs with one NIC each, a leaf per rail, spines above; ``up`` cables of a unit."""
    levels = (
        Level("Node", gpus, 1, wide * rate, 1, 64, "nvlink"),
        Level("Leaf", nodes, gpus, rate, gpus, 64),
        Level("Spine", units, nodes * gpus if up is None else up, rate, gpus, 64),
    )
    return Topology("pod", levels)


@checks(
    "gpu_egress",
    "node_gpus_bandwidth",
    "switch_bandwidth",
    "node_egress",
    over=st.tuples(FEW, FEW, FEW, FEW, RATES),
)
def cables_counted_one_by_one(lib, case):
    gpus, links, switches, cards, rate = case
    ports = gpus * links + 5
    node = Level("Node", gpus, links * switches, rate, switches, ports, "nvlink")
    network = Topology("two", (node, Level("Leaf", 2, cards * gpus, rate / 3, 1, 2 * cards * gpus)))
    graph = network.graph()
    of_first = [graph.link_bw[0] for low, level in zip(graph.low, graph.level, strict=True) if (low, level) == (0, 1)]
    inside = network.at("Node")
    assert at(lib.gpu_egress, n_link=links * switches, W_link=rate) == sum(of_first) == inside.child_bw
    assert at(lib.node_gpus_bandwidth, G=gpus, W_nvl=sum(of_first)) == inside.unit_bw
    assert at(lib.switch_bandwidth, n_sw=switches, n_port=ports, W_link=rate) == inside.switch_bw
    out = sum(rate / 3 for _ in range(graph.cables(2) // 2))
    assert at(lib.node_egress, n_nic=cards * gpus, W_nic=rate / 3) == out == network.at("Leaf").child_bw


@checks("gpu_share", over=st.tuples(FEW, RATES, RATES))
def gpus_that_speed_up_together(lib, case):
    gpus, each, switches = case
    step, share = min(each, switches / gpus) / 1000, Fraction(0)
    while share < each and gpus * (share + step) <= switches:
        share += step
    assert abs(at(lib.gpu_share, W_nvl=each, W_sw=switches, G=gpus) - share) <= step


@checks("ports_share", over=st.tuples(FEW, FEW, FEW, FEW, RATES))
def links_that_take_turns_at_the_ports(lib, case):
    gpus, links, switches, ports, rate = case
    sent, turn = [0] * gpus, 0
    for _ in range(gpus):  # so many ticks that everyone has been first once
        waiting = [links] * gpus
        for _ in range(min(switches * ports, gpus * links)):
            waiting[turn % gpus] -= 1
            sent[turn % gpus] += 1
            turn += 1
        assert min(waiting) >= 0
    got = at(lib.ports_share, n_link=links, n_sw=switches, n_port=ports, W_link=rate, G=gpus)
    assert got == sent[0] * rate / gpus


@checks("full_rate_gpus", over=st.tuples(st.integers(1, 20), FEW, st.integers(1, 6)))
def links_handed_to_ports(lib, case):
    fits, switches, links = case
    ports, served = [fits * links] * switches, 0
    while all(free >= links for free in ports):  # each GPU takes as many ports of every switch
        ports, served = [free - links for free in ports], served + 1
    assert at(lib.full_rate_gpus, n_sw=switches, n_port=fits * links, n_link=links * switches) == served


@checks("top_switches", "leaf_switches", over=st.tuples(st.integers(1, 300), st.integers(1, 32)))
def switches_added_until_the_ports_suffice(lib, case):
    cables, half = case
    top = leaf = 0
    while top * 2 * half < cables:
        top += 1
    while leaf * half < cables:  # half of the ports face up
        leaf += 1
    assert at(lib.top_switches, n_down=cables, n_port=2 * half) == top
    assert at(lib.leaf_switches, n_down=cables, n_port=2 * half) == leaf


@checks("oversubscription", over=st.tuples(FEW, FEW, FEW, st.integers(1, 9)))
def cables_down_over_cables_up(lib, case):
    gpus, nodes, units, up = case
    graph = pod(gpus, nodes, units, up=up).graph()
    down = graph.cables(2) // units
    assert at(lib.oversubscription, n_down=down, n_up=graph.cables(3) // units) == Fraction(gpus * nodes, up)


@checks("two_level_capacity", "three_level_capacity", over=st.integers(1, 8))
def endpoints_of_full_trees(lib, half):
    """A leaf gives half of its ports to endpoints; a spine, or a pod under a core, takes a port for each unit."""
    ports = 2 * half
    assert at(lib.two_level_capacity, n_port=ports) == counted(ports, half) == capacity(ports, 2)
    assert at(lib.three_level_capacity, n_port=ports) == counted(ports, half, half) == capacity(ports, 3)


SMALL = [(1, 2, 1), (1, 2, 2), (2, 2, 1), (2, 1, 2), (2, 2, 2), (2, 2, 3), (3, 2, 1), (1, 2, 3), (4, 1, 2)]


@checks("bisection", "collective_bandwidth", over=st.tuples(st.sampled_from(SMALL), RATES))
def every_half_against_the_other(lib, case):
    (gpus, nodes, units), rate = case
    network = pod(gpus, nodes, units, rate)
    cut = network.graph().bisection()
    assert at(lib.bisection, N=network.ranks, W=rate) == cut
    node = network.below("Node")
    inside = node.bisection if gpus % 2 == 0 else gpus * node.at(1).child_bw / 2
    assert at(lib.collective_bandwidth, W_bis=inside, N=gpus) == node.at(1).collective_bw
    whole = network.at("Spine").collective_bw
    assert at(lib.collective_bandwidth, W_bis=cut, N=nodes * units) == whole


TAPERED = st.tuples(st.integers(1, 2), st.sampled_from([2, 4]), st.integers(2, 5), st.integers(1, 4), RATES)


@checks("tapered_bisection", "tapered_bisection_odd", "tapered_share", over=TAPERED)
def halves_of_a_tapered_fabric(lib, case):
    gpus, nodes, units, up, rate = case
    if gpus * nodes % up:
        return
    network = pod(gpus, nodes, units, rate, up=up)
    given = {"N": network.ranks, "W": rate, "r_over": network.at("Leaf").oversubscription}
    if units % 2:
        assert at(lib.tapered_bisection_odd, **given, G_3=units) == network.bisection
    else:
        assert at(lib.tapered_bisection, **given) == network.bisection
    del given["N"]
    assert at(lib.tapered_share, **given, G_3=units) * network.ranks == 2 * network.bisection


@checks("tapered_share", over=st.tuples(st.integers(1, 2), st.sampled_from([2, 4]), st.integers(1, 2), RATES))
def more_cables_up_than_down(lib, case):
    """The cables of the units send no more than the GPUs put in."""
    gpus, nodes, half, rate = case
    network = pod(gpus, nodes, 2 * half, rate, up=2 * gpus * nodes)
    top, cards = network.at("Spine"), network.at("Leaf")
    sent = min(top.unit_bw / 2, cards.child_bw * nodes * half)
    given = {"W": rate, "r_over": cards.oversubscription, "G_3": 2 * half}
    assert at(lib.tapered_share, **given) * network.ranks == 2 * sent


@checks("wire_latency", over=st.tuples(FEW, FEW, FEW, RATES))
def switches_on_the_way(lib, case):
    gpus, nodes, units, wait = case
    network = pod(gpus, nodes, units)
    hops = network.graph().hops(0)
    for rank in [*range(1, gpus), *range(gpus, network.ranks, gpus)]:  # neighbors, and those on the same rail
        way = int(hops[rank])
        assert at(lib.wire_latency, n_hop=way, t_hop=wait) == sum(wait for _ in range(way - 1))
        close(float(at(lib.wire_latency, n_hop=way, t_hop=wait)) + 1, (network.hops(0, rank) - 1) * float(wait) + 1)


# Tori


def steps_between(sides) -> dict:
    """Hops from the first chip to every other, by walking the graph of neighbors."""
    far, edge = {tuple(0 for _ in sides): 0}, [tuple(0 for _ in sides)]
    while edge:
        here = edge.pop(0)
        for axis, length in enumerate(sides):
            for turn in (1, -1):
                there = tuple((at + turn) % length if a == axis else at for a, at in enumerate(here))
                if there not in far:
                    far[there] = far[here] + 1
                    edge.append(there)
    return far


@checks("torus_diameter", over=st.tuples(*[st.integers(1, 6)] * 3))
def the_farthest_chip(lib, sides):
    given = dict(zip(("n_x", "n_y", "n_z"), sides, strict=True))
    assert at(lib.torus_diameter, **given) == max(steps_between(sides).values())


@checks("torus_egress", over=st.tuples(st.lists(st.integers(3, 5), min_size=1, max_size=3), RATES))
def links_of_a_chip(lib, case):
    sides, rate = case
    graph = Torus("t", tuple(sides), rate).graph()
    links = np.count_nonzero(np.concatenate([graph.low, graph.high]) == 0)
    assert at(lib.torus_egress, n_dim=len(sides), W_link=rate) == sum(rate for _ in range(links))


EVEN = [(4, 1, 1), (6, 1, 1), (4, 2, 1), (4, 3, 1), (3, 4, 1), (6, 2, 1), (1, 2, 4), (2, 1, 4), (1, 3, 4)]


@checks("torus_bisection", over=st.sampled_from(EVEN))
def links_that_every_cut_crosses(lib, sides):
    """All halves of the chips are tried; a side of 1 has no links, one of 2 has two between the same chips."""
    chips = [(x, y, z) for x in range(sides[0]) for y in range(sides[1]) for z in range(sides[2])]
    links = [
        (chip, tuple((at + (a == axis)) % sides[a] for a, at in enumerate(chip)))
        for chip in chips
        for axis in range(3)
        if sides[axis] > 1
    ]
    halves = combinations(chips, len(chips) // 2)
    fewest = min(sum((a in half) != (b in half) for a, b in links) for half in map(set, halves))
    given = dict(zip(("n_x", "n_y", "n_z"), sides, strict=True))
    assert at(lib.torus_bisection, **given, W_link=5) == 5 * fewest


@checks("domain_bandwidth", over=st.tuples(st.integers(2, 6), st.integers(2, 6), RATES, RATES))
def the_slower_of_links_and_cards(lib, case):
    gpus, domains, nvlink, card = case
    loads = hierarchical.all_gather((gpus, domains)).per_link(Tree((gpus, domains), rails=True))
    slowest = max(load / (nvlink if link.level == 1 else card) for link, load in loads.items())
    assert at(lib.domain_bandwidth, G=gpus, M=domains, W_nvl=nvlink, W_nic=card) == 1 / slowest
