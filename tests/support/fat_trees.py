"""Fat trees counted switch by switch, and the ports that the cables of a network take."""

import numpy as np


def capacity(ports: int, levels: int) -> int:
    """Endpoints of a full fat tree of that many levels of switches, counted switch by switch.

    The top switch turns all its ports down; every level below it turns half of them up.
    """
    ends = ports
    for _ in range(levels - 1):
        ends *= ports // 2  # each port of the tree above becomes a switch with this many ports down
    return ends


def ports(graph, level: int) -> np.ndarray:
    """Cables that end at each switch of a level."""
    ends = np.bincount(np.concatenate([graph.low, graph.high]), minlength=graph.vertices)
    return ends[graph.ranks :][graph.switch_level == level]
