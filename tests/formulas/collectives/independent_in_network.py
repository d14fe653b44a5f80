"""Switches that reduce and multicast, and bus bandwidths: bytes and times of the schedules, and what was measured."""

from fractions import Fraction

from formulas.collectives.independent_algorithms import PRICED
from formulas.harness import at, checks, close
from hypothesis import strategies as st
from support.reference_machines import transfer

from gpuscale.ledger import claim
from gpuscale.schedules.collectives import exchange, hierarchical, in_network, ring, trees
from gpuscale.schedules.collectives.routes import Tree

SIZES = st.integers(2, 24)


def settled(make, **costs):
    """The bytes' share of the time when so many pieces follow one another that the first and last do not count."""
    few, many = (make(pieces).time(0, costs["W"], costs["V"]) for pieces in (4, 8))
    return 2 * many - few


@checks("nvls_bytes", "nvls_bytes_self", "multicast_bytes", "switch_in", "switch_out", over=SIZES)
def bytes_through_one_switch(lib, n):
    plain, own = in_network.all_reduce(n), in_network.all_reduce(n, own=True)
    for rank in range(n):
        assert at(lib.nvls_bytes, N=n, V=3) == 3 * plain.sent(rank) == 3 * plain.received(rank)
        assert at(lib.nvls_bytes_self, N=n, V=3) == 3 * own.sent(rank) == 3 * own.received(rank)
    assert at(lib.switch_in, N=n, V=3) == 3 * plain.received(n)
    assert at(lib.switch_out, N=n, V=3) == 3 * plain.sent(n)
    gather, scatter = in_network.all_gather(n), in_network.reduce_scatter(n)
    assert at(lib.multicast_bytes, N=n, V=3) == 3 * gather.received(0) == 3 * scatter.sent(0)


@checks("nvls_all_reduce", "nvls_all_reduce_self", "nvls_steps", over=st.tuples(st.integers(2, 9), PRICED))
def phases_that_overlap_piece_by_piece(lib, case):
    n, costs = case
    way_in_and_out = 2
    trips = Fraction(in_network.all_reduce(n).steps, way_in_and_out)
    assert at(lib.nvls_steps) == trips
    for own, name in ((False, "nvls_all_reduce"), (True, "nvls_all_reduce_self")):
        flow = settled(lambda pieces, own=own: in_network.all_reduce(n, own, pieces), **costs)
        assert at(getattr(lib, name), **costs, N=n) == trips * costs["alpha"] + flow


@checks("nvls_gain", "nvls_gain_self", over=SIZES)
def the_ring_against_the_switch(lib, n):
    around = ring.all_reduce(n).busiest()
    assert at(lib.nvls_gain, N=n) == around / in_network.all_reduce(n).busiest()
    assert at(lib.nvls_gain_self, N=n) == around / in_network.all_reduce(n, own=True).busiest()


@checks("nvls_bus", over=st.tuples(st.integers(2, 9), PRICED))
def what_a_ring_would_have_carried_meanwhile(lib, case):
    n, costs = case
    kept = costs | {"W": costs["W"] * Fraction(3, 4)}
    took = settled(lambda pieces: in_network.all_reduce(n, own=True, pieces=pieces), **kept)
    assert at(lib.nvls_bus, W=costs["W"], eta=Fraction(3, 4), N=n) == ring.all_reduce(n).busiest() * costs["V"] / took


@checks("ring_share", "nvls_from", over=st.tuples(SIZES, PRICED))
def as_many_ranks_as_make_the_two_equal(lib, case):
    """The ring is given the bus bandwidth that the switch reaches at n ranks: the two are equal there."""
    n, costs = case
    bus = ring.all_reduce(n).busiest() / in_network.all_reduce(n, own=True).busiest() * costs["W"] / 2
    share = at(lib.ring_share, W_ring=bus, W=costs["W"], eta=Fraction(1, 2))
    assert share * costs["W"] / 2 == bus
    assert at(lib.nvls_from, r_ring=bus * 2 / costs["W"]) == n


@checks("ring_share", "nvls_from", "nvls_bus")
def measured_on_eight_h200(lib):
    """All-reduce of 8 GiB: 473.1 GB/s by the switch and 365.6 by the ring on 8 GPUs; by GPUs 414.2, 435.6, 460.0.

    The library took the ring on 4 GPUs and the switch on 5 or more. ML Engineering, network.
    """
    eta = 473.1e9 / (450e9 * 14 / 9)
    assert abs(lib.ring_share(W_ring=365.6e9, W=450e9, eta=eta) - 1.202) < 0.001
    assert abs(lib.nvls_from(r_ring=1.2021) - 4.01) < 0.01
    for gpus, seen in ((5, 414.2e9), (6, 435.6e9), (7, 460.0e9), (8, 473.1e9)):
        close(lib.nvls_bus(W=450e9, eta=eta, N=gpus), seen, 0.03)


# What a benchmark prints


@checks("algorithm_bandwidth", "all_reduce_bus", "all_gather_bus", over=st.tuples(SIZES, PRICED))
def links_of_a_ring_as_a_benchmark_sees_them(lib, case):
    n, costs = case
    for name, bus in (("all_reduce", "all_reduce_bus"), ("all_gather", "all_gather_bus")):
        schedule = getattr(ring, name)(n)
        took = schedule.time(**costs)
        seen = at(lib.algorithm_bandwidth, V=costs["V"], T_comms=took)
        carried = schedule.busiest() * costs["V"] / took
        assert at(getattr(lib, bus), N=n, W_alg=costs["V"] / took) == carried
        close(transfer(float(costs["V"]), 0, float(seen)), float(took))


@checks("broadcast_bus", over=st.tuples(SIZES, st.integers(1, 8), PRICED))
def links_of_a_chain_as_a_benchmark_sees_them(lib, case):
    n, chunks, costs = case
    for schedule in (ring.broadcast(n, chunks), trees.reduce(n)):
        took = schedule.time(**costs)
        assert at(lib.broadcast_bus, W_alg=costs["V"] / took) == schedule.busiest() * costs["V"] / took


@checks("all_to_all_bus", over=st.tuples(SIZES, PRICED))
def the_links_of_an_all_to_all(lib, case):
    n, costs = case
    schedule = exchange.all_to_all(n)
    took = schedule.time(**costs)
    of_one_rank = costs["V"] / n
    assert at(lib.all_to_all_bus, N=n, W_alg=of_one_rank / took) == schedule.busiest() * costs["V"] / took


@checks("ring_bus", over=st.tuples(SIZES, PRICED))
def a_ring_whose_steps_wait(lib, case):
    n, costs = case
    for make in (ring.all_reduce, ring.all_gather, ring.reduce_scatter):
        schedule = make(n)
        assert at(lib.ring_bus, **costs, N=n) == schedule.busiest() * costs["V"] / schedule.time(**costs)


@checks("nic_rate", over=st.tuples(st.integers(1, 8), st.integers(2, 8)))
def the_cards_of_a_hierarchical_all_reduce(lib, case):
    gpus, nodes = case
    schedule = hierarchical.all_reduce((gpus, nodes))
    loads = schedule.per_link(Tree((gpus, nodes), rails=True))
    card = max(load for link, load in loads.items() if link.level == 2)
    bus = ring.all_reduce(gpus * nodes).busiest()  # in a second, as both are
    assert at(lib.nic_rate, N=gpus * nodes, M=nodes, W_bus=bus) == card


@checks("nic_rate")
def published_rate_of_a_nic(lib):
    """377.34 GB/s of bus bandwidth on 4 nodes of 8 B200 as the rate of a NIC. ML Engineering, network."""
    assert abs(lib.nic_rate(N=32, M=4, W_bus=377.34e9) - claim("ml-engineering:nic-rate").published) < 0.005e9
