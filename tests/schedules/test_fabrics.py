"""Fabrics of leaves and spines: cuts by brute force, loads by another schedule, rates by what max-min fair means."""

import random
from itertools import product

import numpy as np
import pytest
from support.fabrics import narrowest

from gpuscale.network import Level, Topology, collective_bandwidth, tapered_bisection
from gpuscale.schedules.collectives.routes import Link, Tree
from gpuscale.schedules.fabrics.cuts import worst_cut
from gpuscale.schedules.fabrics.leaf_spine import Fabric
from gpuscale.schedules.fabrics.loads import ROUTES, loaded
from gpuscale.schedules.fabrics.traffic import TRAFFIC, random_permutation

W, NVLINK = 50.0, 450.0


def damaged(many: int, shape=(2, 2, 2, 2), seed: int = 1) -> list[Fabric]:
    """Fabrics of one shape with parts removed and uplinks tapered."""
    dice, whole = random.Random(seed), Fabric(*shape, W=W, nvlink=NVLINK)
    counts = {"spine": whole.spines, "leaf": whole.leaves, "uplink": whole.uplink.size, "NIC": whole.gpus}
    parts = [f"{kind} {i}" for kind, n in counts.items() for i in range(n)]
    return [
        Fabric(*shape, W=W, nvlink=NVLINK, taper=dice.choice([1, 2, 3]), gone=dice.sample(parts, dice.randint(0, 5)))
        for _ in range(many)
    ]


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (1, 3, 2, 2), (3, 1, 2, 3)])
def test_the_worst_cut_is_the_worst_of_all_tried(shape):
    for fabric in damaged(12, shape):
        for traffic in TRAFFIC:
            flows = TRAFFIC[traffic](fabric, 3)
            cut = worst_cut(fabric, flows)
            bound, capacity = narrowest(fabric, flows, set(cut.nodes))
            assert cut.bound == pytest.approx(min(bound, W)), (fabric, traffic)
            assert cut.capacity == pytest.approx(capacity), (fabric, traffic)  # its switches are on the cheaper side
            across = sum(part for a, b, part in flows if (a // shape[2] in cut.nodes) > (b // shape[2] in cut.nodes))
            back = sum(part for a, b, part in flows if (a // shape[2] in cut.nodes) < (b // shape[2] in cut.nodes))
            assert cut.flows == pytest.approx(max(across, back)), (fabric, traffic)


def test_the_busier_direction_counts():
    fabric = Fabric(2, 2, 2, 2, W=W, nvlink=NVLINK)
    for a, b in ((0, 5), (5, 0)):
        cut = worst_cut(fabric, [(a, b, 1.0), (a + 1, b + 1, 1.0), (a, b + 1, 0.5)])
        assert cut.flows == 2.5 and cut.bound == pytest.approx(2 * W / 2.5)  # two NICs of one node


@pytest.mark.parametrize(("taper", "spines"), list(product([1, 2, 4], [1, 2, 4])))
def test_between_units_it_is_the_bisection(taper, spines):
    fabric = Fabric(2, 4, 4, spines, W=W, nvlink=NVLINK, taper=taper)
    on = loaded(fabric, "units")
    bisection = tapered_bisection(N=fabric.gpus, W=W, r_over=taper)
    assert on.cut.capacity == pytest.approx(bisection)
    assert on.rate == pytest.approx(collective_bandwidth(W_bis=bisection, N=fabric.gpus))


def test_it_is_the_bisection_of_the_same_network_as_a_topology():
    levels = (
        Level("Node", 8, 18, 25, network="nvlink"),
        Level("Leaf", 4, 8, 50, switches=8, ports=8),
        Level("Spine", 2, 32, 50, switches=4, ports=16),
    )
    pod = Topology("a pod", levels, rails=True)
    assert loaded(Fabric(2, 4, 8, 4, W=50, nvlink=450), "units").cut.capacity == pod.bisection


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_a_whole_fabric_gives_every_traffic_its_full_rate_if_routes_spread(traffic):
    for seed in range(1, 6):
        assert loaded(Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK), traffic, "spread", seed).rate == pytest.approx(W)


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_nics_carry_what_they_carry_in_a_tree_with_rails(traffic):
    fabric, tree = Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK), Tree((8, 4, 2), rails=True)
    on, loads = loaded(fabric, traffic, "spread", 2), {}
    for a, b, part in on.flows:
        for fraction, links in tree.ways(a, b):
            for link in links:
                loads[link] = loads.get(link, 0) + fraction * part * W
    for d, up in enumerate((True, False)):
        nics = [loads.get(Link(2, g // 8, up, g % 8), 0) for g in range(fabric.gpus)]
        assert on.asked[d, : fabric.gpus] == pytest.approx(nics)


def test_rates_are_max_min_fair():
    """No rate can grow without taking from one that is no larger."""
    for fabric in damaged(10, (2, 3, 4, 3)):
        for traffic, routes in product(TRAFFIC, ROUTES):
            on = loaded(fabric, traffic, routes, 5)
            parts = np.array([part for _, _, part in on.flows])
            uses = on.use * parts[:, None, None]
            carried = np.einsum("idk,i->dk", uses, on.rates)
            assert (carried <= fabric.capacity + 1e-6).all()
            full = carried > fabric.capacity - 1e-6
            for i, rate in enumerate(on.rates):
                routed = bool(fabric.routes(*on.flows[i][:2]))
                if not routed or rate > W - 1e-6:
                    assert rate == pytest.approx(W if routed else 0)
                    continue
                on_it = [uses[:, d, k] > 0 for d, k in np.argwhere(full & (uses[i] > 0))]
                assert any(rate >= on.rates[here].max() - 1e-6 for here in on_it)


def test_no_routes_beat_the_worst_cut():
    for fabric in damaged(15, (2, 3, 4, 3), seed=2):
        for traffic, routes in product(TRAFFIC, ROUTES):
            on = loaded(fabric, traffic, routes, 5)
            assert on.rate <= on.cut.bound + 1e-6


def test_a_flow_arrives_whole_and_takes_no_removed_link():
    for fabric in damaged(10, (2, 3, 4, 3), seed=3):
        for routes in ROUTES:
            on = loaded(fabric, "permutation", routes, 4)
            for (a, b, _), use in zip(on.flows, on.use, strict=True):
                assert not use[:, fabric.capacity == 0].any()
                if not fabric.routes(a, b):
                    continue
                nvl = fabric.gpus + fabric.uplink.size
                left = use[0, a] + use[0, nvl + a]  # over its own NIC, or over NVLink to another
                came = use[1, b] + use[1, nvl + b]
                assert (left, came) == pytest.approx((1, 1))
                assert use[0, : fabric.gpus].sum() == pytest.approx(1) == use[1, : fabric.gpus].sum()


def test_a_removed_leaf_sends_its_rail_over_a_neighbor():
    fabric = Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK, gone=["leaf 3"])
    assert [out for out, _, _ in fabric.routes(3, 11)][0] == 2
    assert loaded(fabric, "rails", "hash").rate == pytest.approx(W / 2)  # two rails on one NIC
    assert loaded(fabric, "rails", "spread").rate == pytest.approx(W * 7 / 8)  # eight rails on seven


def test_a_permutation_reaches_every_gpu_once_and_never_its_own_node():
    fabric = Fabric(2, 2, 8, 2, W=W, nvlink=NVLINK)
    for seed in range(20):
        flows = random_permutation(fabric, seed)
        assert sorted(b for _, b, _ in flows) == list(range(fabric.gpus))
        assert all(a // 8 != b // 8 for a, b, _ in flows)
    assert random_permutation(fabric, 1) != random_permutation(fabric, 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Fabric(1, 1, 8, 4, W=W, nvlink=NVLINK), "at least 2 nodes"),
        (lambda: Fabric(2, 4, 8, 0, W=W, nvlink=NVLINK), "1 or more; got 0"),
        (lambda: Fabric(2, 4, 8, 4, W=0, nvlink=NVLINK), "above zero"),
        (lambda: Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK, gone=["leaf 16"]), "leaf 0 to 15"),
        (lambda: Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK, gone=["core 1"]), "'core 1'"),
        (lambda: loaded(Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK), "tree"), "'tree'"),
        (lambda: loaded(Fabric(2, 4, 8, 4, W=W, nvlink=NVLINK), routes="best"), "'best'"),
        (lambda: loaded(Fabric(4, 4, 8, 4, W=W, nvlink=NVLINK)).cut, "at most 14 nodes"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong()
