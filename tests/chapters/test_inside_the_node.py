"""Inside the node: ports handed out one by one, and links that take turns, against the formulas of the node."""

from collections import Counter
from itertools import combinations_with_replacement, permutations

import pytest

from gpuscale import specs
from gpuscale.network import full_rate_gpus, gpu_egress, gpu_share, ports_share, switch_bandwidth, topology


def handed_out(gpus, links, ports, ticks=720):
    """Every GPU offers ``links`` packets in each tick, the switches take ``ports`` in all, in turn: packets of the
    GPU that got least, for each tick."""
    sent, turn = [0] * gpus, 0
    for _ in range(ticks):
        left, offered = ports, [links] * gpus
        while left and any(offered):
            if offered[turn % gpus]:
                offered[turn % gpus] -= 1
                sent[turn % gpus] += 1
                left -= 1
            turn += 1
    return min(sent) / ticks


@pytest.mark.parametrize(
    ("gpus", "links", "switches", "ports"),
    [(8, 18, 4, 64), (16, 18, 4, 64), (8, 18, 2, 72), (20, 18, 4, 64), (5, 3, 2, 4)],
)
def test_each_gpu_gets_its_links_or_its_turn_at_the_switches(gpus, links, switches, ports):
    own = gpu_egress(n_link=links, W_link=1)
    got = gpu_share(W_nvl=own, W_sw=switch_bandwidth(n_sw=switches, n_port=ports, W_link=1), G=gpus)
    assert handed_out(gpus, links, switches * ports) == pytest.approx(got, rel=5e-3)
    assert ports_share(n_link=links, n_sw=switches, n_port=ports, W_link=1, G=gpus) == got


@pytest.mark.parametrize(
    ("links", "switches", "ports"), [(18, 4, 64), (18, 2, 72), (18, 18, 72), (12, 6, 36), (7, 3, 10)]
)
def test_gpus_are_served_in_full_until_the_ports_run_out(links, switches, ports):
    free, served = switches * ports, 0
    while free >= links:
        free, served = free - links, served + 1
    assert served == int(full_rate_gpus(n_sw=switches, n_port=ports, n_link=links) + 1e-9)


@pytest.mark.parametrize(("key", "column"), [("dgx_h100", "h100"), ("dgx_a100", "a100")])
def test_the_bundles_use_all_links_and_every_switch(key, column):
    """The published pattern, 5 + 4 + 4 + 5 on an H100, against the links and switches of the node."""
    level = topology(key).at(1)
    bundles = [n for n in specs.measured("nvswitch_links")[column] if n == n]
    assert (sum(bundles), len(bundles)) == (level.cables, level.switches)


def test_the_links_of_the_v100_mesh_are_three_rings_through_all_eight():
    """So an all-gather in rings uses every link, whatever the bisection says."""
    links = Counter({(a, b): n for a, b, n in topology("dgx1_v100").pairs})
    rounds = ((0, *rest) for rest in permutations(range(1, 8)) if rest[0] < rest[-1])
    rings = {tuple(sorted(tuple(sorted(p)) for p in zip(r, (*r[1:], 0), strict=True))) for r in rounds}
    rings = [r for r in rings if all(p in links for p in r)]
    assert sum(links.values()) == 3 * 8
    assert any(
        rest in rings
        for one, two in combinations_with_replacement(rings, 2)
        if not (both := Counter(one) + Counter(two)) - links
        for rest in [tuple(sorted((links - both).elements()))]
    )
