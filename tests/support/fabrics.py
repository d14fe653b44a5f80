"""The narrowest cut of a small fabric by brute force: every switch on either side, no shortcut."""

from itertools import combinations, product


def narrowest(fabric, flows, chosen: set[int]) -> tuple[float, float]:
    """(The least capacity per flow over all sets of nodes, the least capacity that separates the chosen nodes)."""
    cables = []  # (end, other end, bandwidth)
    for g in range(fabric.gpus):
        if fabric.nic[g]:
            cables.append((("node", g // fabric.rails), ("leaf", fabric.leaf(g)), fabric.W))
    for leaf, spine in product(range(fabric.leaves), range(fabric.spines)):
        if fabric.uplink[leaf, spine]:
            cables.append((("leaf", leaf), ("spine", spine), fabric.uplink_bw))
    switches = [("leaf", i) for i in range(fabric.leaves)] + [("spine", i) for i in range(fabric.spines)]
    nodes = range(fabric.units * fabric.nodes)

    def capacity(taken: set[int]) -> float:
        least = float("inf")
        for side in product((False, True), repeat=len(switches)):
            here = {("node", m): m in taken for m in nodes} | dict(zip(switches, side, strict=True))
            least = min(least, sum(bw for a, b, bw in cables if here[a] != here[b]))
        return least

    ratios = []
    for size in range(1, len(nodes)):
        for taken in map(set, combinations(nodes, size)):
            out = sum(part for a, b, part in flows if a // fabric.rails in taken and b // fabric.rails not in taken)
            if out > 1e-9:
                ratios.append((capacity(taken), out))
    return min(cap / out for cap, out in ratios), capacity(chosen)
