"""What a schedule prints is a short summary, and its numbers are those of the schedule."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gpuscale.network import topology, wired
from gpuscale.schedules.collectives import direct, doubling, exchange, hierarchical, in_network, ring, switched, trees
from gpuscale.schedules.pipelines import both_ways, orders
from gpuscale.schedules.timelines import warp

ALL = {
    "ring": ring.all_reduce(64),
    "one rank": ring.all_reduce(1),
    "chain": ring.broadcast(8, 4),
    "doubling": doubling.halving_doubling(16),
    "trees": trees.double_tree_all_reduce(16, 16),
    "exchange": exchange.all_to_all(8),
    "nodes": hierarchical.all_reduce((4, 2)),
    "in network": in_network.all_reduce(8),
    "switches": switched.all_gather((2, 2, 2)),
    "primitive": direct.SCHEDULES["broadcast"](4),
    "gpipe": orders.gpipe(4, 8),
    "one f one b": orders.one_f_one_b(8, 64, t_hop=Fraction(1, 3)),
    "interleaved": orders.interleaved(4, 8, 2),
    "dualpipe": both_ways.dualpipe(8, 20),
    "warp": warp.run([warp.Op("x + 1", lambda x: x + 1)], np.arange(32)),
    "pod": wired(topology("h100_pod_1024")),
}


@pytest.mark.parametrize("one", ALL.values(), ids=ALL)
def test_it_is_short_and_holds_no_array(one):
    lines = str(one).splitlines()
    assert str(one) == repr(one) and 2 <= len(lines) <= 6 and max(map(len, lines)) <= 80
    assert "array" not in repr(one) and "Fraction(" not in repr(one) and "Slot(" not in repr(one)


def test_a_collective_says_what_it_is_and_what_it_sends():
    assert repr(ring.all_reduce(8)).splitlines() == [
        "Ring all-reduce",
        "  8 ranks",
        "  8 chunks of V/8",
        "  14 steps, 112 transfers",
        "  7/4 V sent by the busiest rank, 14 V by all",
    ]
    assert "  3 chunks of V/8 to 5/8 V\n" in repr(replace(ring.all_gather(3), size=[1, 2, 5], whole=None))
    assert "\n  1 rank\n  1 chunk of V\n  0 steps, 0 transfers\n  nothing sent" in repr(ring.all_reduce(1))


@pytest.mark.parametrize("one", [ALL["in network"], ALL["switches"], ALL["trees"]], ids=lambda one: one.title)
def test_the_numbers_are_those_of_the_schedule(one):
    said = repr(one)
    rows = [transfer for step in range(one.steps) for transfer in one[step]]
    sent = [sum(row.units for row in rows if row.source == rank) for rank in range(one.ranks)]
    share = Fraction(max(sent), one.whole)
    assert f"{one.steps} steps, {len(rows)} transfers" in said
    spelled = f"{share} V" if share.numerator > 1 else "V" if share == 1 else f"V/{share.denominator}"
    assert f"\n  {spelled} sent by the busiest rank" in said
    assert ("switch" in said.partition("\n")[2]) == (one.switches > 0)


def test_a_pipeline_says_how_long_it_waits():
    assert repr(orders.gpipe(4, 8, t_hop=Fraction(1, 3))).splitlines() == [
        "GPipe",
        "  4 ranks, 4 stages, 8 microbatches",
        "  64 slots, 48 transfers",
        "  makespan 35, 2 of it exposed transfers",
        "  bubble 31.4% of the time, 45.8% of the work",
        "  at most 8 activations held by a rank",
    ]
    assert "exposed" not in repr(orders.gpipe(4, 8)) and "bubble 27.3% of the time" in repr(orders.gpipe(4, 8))


def test_a_warp_and_a_wired_network_count():
    program = [warp.Branch("x < 8", lambda x: x < 8, [warp.Op("x + 1", lambda x: x + 1)])]
    assert repr(warp.run(program, np.arange(32))) == "A warp of 32 lanes\n  1 issue slot, 24 of 32 lane slots idle"
    assert repr(ALL["pod"]).startswith(
        "A network of 1,024 ranks and 560 switches\n  level 1: 512 switches, 18,432 cables\n"
    )
