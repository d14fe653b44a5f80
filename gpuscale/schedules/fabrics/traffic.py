"""Who sends to whom in a fabric: lists of flows (source, target, fraction of what the source sends)."""

from gpuscale.schedules.fabrics.leaf_spine import Fabric

WORD = 2**32


def mixed(*numbers: int) -> int:
    """A 32-bit hash of some numbers, the same in the script of the page."""
    h = 0
    for number in numbers:
        h = (h ^ number) * 0x9E3779B1 % WORD
        h = (h ^ h >> 15) * 0x85EBCA77 % WORD
        h ^= h >> 13
    return h


def rings_on_rails(fabric: Fabric, seed: int = 0) -> list[tuple[int, int, float]]:
    """A ring on every rail: each GPU sends to the next node, on its own rail."""
    return [(g, (g + fabric.rails) % fabric.gpus, 1.0) for g in range(fabric.gpus)]


def rings_across_units(fabric: Fabric, seed: int = 0) -> list[tuple[int, int, float]]:
    """The same rings in an order that changes the unit with every hop."""
    unit, last = fabric.nodes * fabric.rails, fabric.gpus - fabric.nodes * fabric.rails
    return [(g, g + unit if g < last else (g + fabric.rails) % unit, 1.0) for g in range(fabric.gpus)]


def all_to_all(fabric: Fabric, seed: int = 0) -> list[tuple[int, int, float]]:
    """Each GPU sends evenly to its rail in every other node; NVLink has sorted the bytes by rail before."""
    nodes, r = fabric.units * fabric.nodes, fabric.rails
    others = [(g, m * r + g % r) for g in range(fabric.gpus) for m in range(nodes) if m != g // r]
    return [(a, b, 1 / (nodes - 1)) for a, b in others]


def random_permutation(fabric: Fabric, seed: int = 0) -> list[tuple[int, int, float]]:
    """Each GPU sends to one GPU of another node and receives from one."""
    to = list(range(fabric.gpus))
    for i in range(fabric.gpus - 1, 0, -1):
        j = mixed(seed, i) % (i + 1)
        to[i], to[j] = to[j], to[i]
    turn = 0
    while inside := [a for a, b in enumerate(to) if a // fabric.rails == b // fabric.rails]:
        for a in inside:
            j, turn = mixed(seed, fabric.gpus + turn) % fabric.gpus, turn + 1
            to[a], to[j] = to[j], to[a]
    return [(a, b, 1.0) for a, b in enumerate(to)]


TRAFFIC = {
    "rails": rings_on_rails,
    "units": rings_across_units,
    "all_to_all": all_to_all,
    "permutation": random_permutation,
}
