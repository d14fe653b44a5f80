"""Collectives: published times, bytes and bandwidths beside those of formulas, schedules and measurements."""

import numpy as np
from published.rows import BOOK, NOTES, Row

from gpuscale.collectives import algorithms, bus_bandwidth, hierarchy, in_network
from gpuscale.collectives import exchange as exchange_of_collectives
from gpuscale.core import evaluate
from gpuscale.network import laws, topology
from gpuscale.schedules.collectives import exchange, primitives, switched
from gpuscale.specs import measured
from gpuscale.units import GB, TB

RINGS, ALL, FOOT = f"{BOOK}, intra-node collectives", f"{BOOK}, all-to-all", f"{BOOK}, footnote on the all-to-all"
SHARP, SEEN, CROSS = f"{BOOK}, SHARP", f"{BOOK}, measured collectives", f"{BOOK}, cross-node collectives"
SHARDED, POP3 = f"{CROSS} with a sharded axis", f"{BOOK}, pop quiz 3"
CS7, PLAY = "cs336, lecture 7, basics of collectives", "playbook, collectives"

V, W, OUT = 1 * GB, 450 * GB, 400 * GB  # a gigabyte, NVLink, and the NICs of a node
NODE = {"V": V, "N": 8, "W": W}
POD = {"D_1": 8, "D_2": 32, "D_3": 4, "W_1": W, "W_2": OUT, "W_3": 12.8 * TB}
LEAF = {"S_child": 8, "S_top": 256, "W": OUT}
MATRIX = 4096 * 65536 * 2
WIDE = 2 * 8192 * 32768
QUIZ4 = 2 * 8192 * 28672
FAR = 2**40  # an endless network


def limit(formula, **values):
    """The approximation that a formula states."""
    return evaluate(formula.approx, **{q.name: values[q.name] for q in formula.approx.free_symbols})


def gather(**values):
    return algorithms.ring_all_gather(alpha=0, **values)


def reduced(**values):
    return algorithms.ring_all_reduce(alpha=0, **values)


def exchanged(**values):
    return exchange_of_collectives.all_to_all(alpha=0, **values)


def routed(hit, n=8):
    return exchange_of_collectives.sparse_all_to_all(V=V, W=W, N=n, f_hit=hit)


def pod_of(formula, **values):
    """A formula of levels on the pod."""
    values = POD | {"V": V} | values
    return formula(**{q.name: values[q.name] for q in formula.inputs})


def scattered(rank):
    """The playbook's example of a reduce-scatter, run: what a rank gets."""
    buffers = [np.array([(r * i) ** (j + 1) for j in range(3) for i in (1, 2)]) for r in (1, 2, 3)]
    return primitives.reduce_scatter(buffers)[rank]


def unit(name, **parts):
    """Bytes at a switch of a scalable unit in an all-gather over it, in fractions of V, by the schedule."""
    schedule, degrees = switched.all_gather((8, 32)), (8, 32)
    node, top, gpus = switched.switch(degrees, 1), switched.switch(degrees, 2), range(8)
    return float(
        {
            "from its GPUs": lambda: schedule.between(gpus, [node]),
            "from above": lambda: schedule.between([top], [node]),
            "to its GPUs": lambda: schedule.between([node], gpus),
            "top in": lambda: schedule.received(top),
        }[name]()
    )


def busbw(column, gpus=8):
    """Measured on H200s: 8 GiB, by the number of GPUs."""
    found = measured("nvls_by_gpu_count")
    rows = dict(zip(zip(found.part, found.gpus, strict=True), getattr(found, column), strict=True))
    return rows["h200_sxm", gpus]


ROWS = [
    # inside a node
    Row(NOTES, "all-gather in a node", V * 7 / 8 / W, lambda: gather(**NODE)),
    Row(RINGS, "time of a ring's hop", 0.0002777778, lambda: algorithms.ring_hop(V=V, N=8) / W),
    Row(RINGS, "all-gather in a node", 0.001944444, lambda: gather(**NODE)),
    Row(
        RINGS,
        "its limit",
        0.002222222,
        lambda: gather(**NODE),
        "rounds",
        0.001944444,
        lambda: limit(algorithms.ring_all_gather, **NODE),
    ),
    Row(RINGS, "bytes of all GPUs in an all-gather", 7e9, lambda: algorithms.all_gather_total(V=V, N=8)),
    Row(RINGS, "all-reduce in a node", 0.003888889, lambda: reduced(**NODE)),
    Row(
        RINGS,
        "all-reduce in pairs, fours and eights at the same cost",
        0.003888889,
        lambda: algorithms.recursive_doubling_all_reduce(alpha=0, **NODE),
        "disagrees",
        0.006666667,
    ),
    Row(
        RINGS,
        "bandwidth of an all-gather on H100",
        450 * GB,
        lambda: V / limit(algorithms.ring_all_gather, V=V, W=topology("dgx_h100").at(1).child_bw),
    ),
    Row(
        RINGS,
        "bandwidth of an all-gather on B200",
        900 * GB,
        lambda: V / limit(algorithms.ring_all_gather, V=V, W=topology("dgx_b200").at(1).child_bw),
    ),
    Row(f"{BOOK}, quiz 2 question 3", "all-gather in turns", 0.001043916, lambda: gather(V=MATRIX, N=8, W=W)),
    Row(
        f"{BOOK}, quiz 2 question 3",
        "stated limit of it",
        0.0001491308,
        lambda: gather(V=MATRIX, N=8, W=W),
        "disagrees",
        0.001043916,
    ),
    Row(f"{BOOK}, quiz 2 question 3", "size of the matrix", 536e6, lambda: MATRIX),
    Row(f"{BOOK}, quiz 2 question 3", "time of it", 0.00104, lambda: gather(V=MATRIX, N=8, W=W), "rounds", 0.001043916),
    Row(
        f"{BOOK}, pop quiz 1",
        "all-gather, roughly",
        7.5e-5,
        lambda: limit(algorithms.ring_all_gather, V=2 * 1024 * 16384, W=W),
        "rounds",
        7.45654e-5,
    ),
    Row(
        f"{BOOK}, pop quiz 1",
        "all-gather, precisely",
        6.5e-5,
        lambda: gather(V=2 * 1024 * 16384, N=8, W=W),
        "rounds",
        6.524473e-5,
    ),
    # all-to-all
    Row(NOTES, "all-to-all in a node", V * 7 / 64 / W, lambda: exchanged(**NODE)),
    Row(NOTES, "chance that a destination is remote", 0.875, lambda: float(exchange.all_to_all(8).moved())),
    Row(
        NOTES,
        "all-to-all of tokens, 8 choices",
        0.0002430556,
        lambda: routed(exchange_of_collectives.hit_independent(Z=8, k=8)),
        "rounds",
        0.0001595395,
        lambda: routed(exchange_of_collectives.hit_bound(Z=8, k=8)),
    ),
    Row(ALL, "all-to-all in a node", 0.0002430556, lambda: exchanged(**NODE)),
    Row(
        ALL,
        "its limit",
        0.0002777778,
        lambda: exchanged(**NODE),
        "rounds",
        0.0002430556,
        lambda: limit(exchange_of_collectives.all_to_all, **NODE),
    ),
    Row(
        ALL,
        "all-to-all on a TPU ring, both ways together W",
        0.001388889,
        lambda: laws.ring_all_to_all_even(V=V, W=90 * GB),
    ),
    Row(
        ALL,
        "a node over that ring at equal W",
        2,
        lambda: laws.ring_all_to_all_even(V=V, W=W / 2) / exchanged(**NODE),
        "rounds",
        2.285714,
        lambda: laws.ring_all_to_all_even(V=V, W=W / 2) / limit(exchange_of_collectives.all_to_all, **NODE),
    ),
    Row(
        ALL,
        "tokens with 4 of 8 shards",
        0.0001388889,
        lambda: routed(exchange_of_collectives.hit_bound(Z=8, k=4)),
        "rounds",
        0.0001215278,
        lambda: limit(exchange_of_collectives.all_to_all, **NODE) * exchange_of_collectives.hit_bound(Z=8, k=4),
    ),
    Row(
        ALL,
        "tokens with 8 random choices",
        0.0002430556,
        lambda: routed(exchange_of_collectives.hit_independent(Z=8, k=8)),
        "rounds",
        0.0001595395,
        lambda: routed(exchange_of_collectives.hit_bound(Z=8, k=8)),
    ),
    Row(
        f"{ALL}, takeaway",
        "top-k in a node",
        0.0001388889,
        lambda: routed(exchange_of_collectives.hit_top_k(E=8, Z=8, k=4)),
        "rounds",
        0.0001215278,
        lambda: limit(exchange_of_collectives.all_to_all, **NODE) * exchange_of_collectives.hit_bound(Z=8, k=4),
    ),
    Row(
        FOOT,
        "remote share of 8 rolls over 8 shards",
        0.5743422,
        lambda: exchange_of_collectives.hit_independent(Z=8, k=8) * 7 / 8,
    ),
    Row(
        FOOT,
        "min(k/Z, 1) over the exact share, as very close",
        1,
        lambda: exchange_of_collectives.hit_bound(Z=8, k=8) / exchange_of_collectives.hit_independent(Z=8, k=8),
        "disagrees",
        1.523482,
    ),
    Row(FOOT, "4 experts of 8, one on each shard", 0.5, lambda: exchange_of_collectives.hit_top_k(E=8, Z=8, k=4)),
    Row(f"{BOOK}, pop quiz 2", "4 of 8 entries", 0.5, lambda: exchange_of_collectives.hit_bound(Z=8, k=4)),
    Row(
        f"{BOOK}, appendix B",
        "share of 4 rolls over 4 shards, as min(k/Z)",
        0.75,
        lambda: exchange_of_collectives.hit_independent(Z=4, k=4) * 3 / 4,
        "rounds",
        0.5126953,
        lambda: exchange_of_collectives.hit_bound(Z=4, k=4) * 3 / 4,
    ),
    # the switch adds
    Row(NOTES, "all-reduce in the switch", V / W, lambda: in_network.nvls_all_reduce(alpha=0, **NODE)),
    Row(NOTES, "bytes each way of its four steps", 1, lambda: in_network.nvls_bytes(V=1, N=8)),
    Row(SHARP, "all-reduce in the switch", 0.002222222, lambda: in_network.nvls_all_reduce(alpha=0, **NODE)),
    Row(SHARP, "bytes into each GPU", 1, lambda: in_network.nvls_bytes(V=1, N=8)),
    Row(
        f"{SHARP}, takeaway",
        "from 2V/W to V/W",
        2,
        lambda: in_network.nvls_gain(N=8),
        "rounds",
        1.75,
        lambda: limit(in_network.nvls_gain),
    ),
    Row(SHARP, "predicted gain", 0.75, lambda: in_network.nvls_gain(N=8) - 1),
    Row(SHARP, "gain in practice", 1.3, lambda: busbw("busbw") / busbw("busbw_ring"), "rounds", 1.294037),
    Row(SHARP, "effective bandwidth", 480 * GB, lambda: 370 * GB * 1.3, "rounds", 481 * GB),
    Row(SEEN, "bus over algorithm bandwidth", 1.75, lambda: bus_bandwidth.all_reduce_bus(W_alg=1, N=8)),
    Row(SEEN, "bus bandwidth of a large all-reduce", 370 * GB, lambda: busbw("busbw_ring"), "rounds", 365.6 * GB),
    Row(SEEN, "peak of the links", 450 * GB, lambda: topology("dgx_h100").at(1).child_bw),
    Row(SEEN, "size of a bf16 matrix of 8192 x 3584", 58e6, lambda: 2 * 8192 * 28672 / 8, "rounds", 58720256),
    # across nodes
    Row(NOTES, "all-gather across 32 nodes, roughly", 0.0025, lambda: gather(V=V, N=32, W=OUT), "rounds", 0.002421875),
    Row(NOTES, "egress of a node", 400 * GB, lambda: topology("h100_pod_1024").at(2).child_bw),
    Row(
        NOTES, "the slower of node and network", 0.0025, lambda: pod_of(hierarchy.two_level_rule), "rounds", 0.002421875
    ),
    Row(NOTES, "the level rule", 0.002421875, lambda: pod_of(hierarchy.three_level_rule)),
    Row(
        NOTES,
        "all-to-all across 4 nodes",
        0.00046875,
        lambda: exchange_of_collectives.node_all_to_all(V=V, M=4, W_node=OUT),
    ),
    Row(CROSS, "all-gather across 32 nodes", 0.0025, lambda: gather(V=V, N=32, W=OUT), "rounds", 0.002421875),
    Row(
        CROSS,
        "bytes that a node sends up, all GPUs over one sum",
        8,
        lambda: float(
            switched.all_reduce((8, 4)).between(range(8), [switched.switch((8, 4), 1)])
            / switched.all_reduce((8, 4)).between([switched.switch((8, 4), 1)], [switched.switch((8, 4), 2)])
        ),
    ),
    Row(CROSS, "the slower level", 0.0025, lambda: pod_of(hierarchy.two_level_rule), "rounds", 0.002421875),
    Row(CROSS, "the level rule", 0.002421875, lambda: pod_of(hierarchy.three_level_rule)),
    Row(CROSS, "bandwidth of the node level", 514 * GB, lambda: pod_of(hierarchy.node_bandwidth)),
    Row(CROSS, "bandwidth of the leaf level", 413 * GB, lambda: pod_of(hierarchy.leaf_bandwidth)),
    Row(CROSS, "bandwidth of the spine level", 17.1 * TB, lambda: pod_of(hierarchy.spine_bandwidth)),
    Row(CROSS, "uplink of a unit", 12.8 * TB, lambda: topology("h100_pod_1024").at(3).child_bw),
    Row(CROSS, "bandwidth of all levels by the rule", 413 * GB, lambda: V / pod_of(hierarchy.three_level_rule)),
    Row(
        CROSS,
        "bandwidth of all levels, transit counted",
        413 * GB,
        lambda: V / pod_of(hierarchy.three_level_links),
        "rounds",
        403.1496 * GB,
    ),
    Row(
        CROSS,
        "all-to-all over 2 nodes",
        0.000625,
        lambda: exchange_of_collectives.node_all_to_all(V=V, M=2, W_node=OUT),
    ),
    Row(
        CROSS,
        "its approximation",
        0.00125,
        lambda: exchange_of_collectives.node_all_to_all(V=V, M=2, W_node=OUT),
        "rounds",
        0.000625,
        lambda: limit(exchange_of_collectives.node_all_to_all, V=V, M=2, W_node=OUT),
    ),
    Row(CROSS, "all-to-all bandwidth of a GPU", 50 * GB, lambda: topology("h100_pod_1024").at(2).per_gpu_bw),
    Row(
        CROSS,
        "all-to-all on 2 nodes over 1, times as long",
        4.5,
        lambda: exchange_of_collectives.node_all_to_all(V=V, M=2, W_node=OUT) / exchanged(**NODE),
        "disagrees",
        2.571429,
    ),
    # an inner axis
    *(
        Row(
            f"{where}, node level",
            "Y = 4",
            0.0005555556,
            lambda: hierarchy.sharded_all_gather_rails(V=V, Y=4, S_unit=8, W=W),
            "disagrees",
            0.0002777778,
        )
        for where in (NOTES, SHARDED)
    ),
    Row(
        f"{NOTES}, scale-out level",
        "Y = 128",
        0.00015625,
        lambda: hierarchy.sharded_all_gather(V=V, Y=128, **LEAF),
        "rounds",
        7.8125e-5,
        lambda: hierarchy.sharded_all_gather(V=V, Y=128, **LEAF | {"S_top": FAR}),
    ),
    Row(
        f"{SHARDED}, scale-out level",
        "Y = 32",
        0.000625,
        lambda: hierarchy.sharded_all_gather(V=V, Y=32, **LEAF),
        "rounds",
        0.000546875,
        lambda: hierarchy.sharded_all_gather(V=V, Y=32, **LEAF | {"S_top": FAR}),
    ),
    *(
        Row(
            f"{where}, the slower level",
            "Y = 256",
            0.0002777778,
            lambda: pod_of(hierarchy.three_level_sharded, Y=256),
            "disagrees",
            5.859375e-5,
        )
        for where in (NOTES, SHARDED)
    ),
    Row(
        f"{NOTES}, tree rule",
        "Y = 1",
        0.0003027344,
        lambda: hierarchy.sharded_all_gather(V=V, Y=1, **LEAF),
        "disagrees",
        0.002421875,
    ),
    Row(
        f"{SHARDED}, tree rule",
        "Y = 8",
        0.0001625293,
        lambda: hierarchy.sharded_all_gather(V=MATRIX, Y=8, **LEAF),
        "disagrees",
        0.001300234,
    ),
    Row(POP3, "Y up to 8", 0.001300234, lambda: hierarchy.sharded_all_gather(V=WIDE, Y=8, **LEAF)),
    Row(
        POP3,
        "Y = 64",
        0.0001677722,
        lambda: hierarchy.sharded_all_gather(V=WIDE, Y=64, **LEAF),
        "rounds",
        0.0001258291,
        lambda: hierarchy.sharded_all_gather(V=WIDE, Y=64, **LEAF | {"S_top": FAR}),
    ),
    Row(
        f"{POP3}, figure",
        "Y up to 8",
        0.001342,
        lambda: hierarchy.sharded_all_gather(V=WIDE, Y=8, **LEAF),
        "rounds",
        0.001300234,
    ),
    Row(POP3, "12.8e12/256", 50 * GB, lambda: topology("h100_pod_1024").at(3).child_bw / 256),
    # quiz 4
    Row(f"{BOOK}, quiz 4 question 1", "into a node's switches from its GPUs", 1 / 32, lambda: unit("from its GPUs")),
    Row(f"{BOOK}, quiz 4 question 1", "into them from above", 31 / 32, lambda: unit("from above")),
    Row(f"{BOOK}, quiz 4 question 1", "into them", 1, lambda: hierarchy.unit_switch_in(V=1, S_unit=8, S_top=256)),
    Row(f"{BOOK}, quiz 4 question 1", "out of them to the GPUs", 7.96875, lambda: unit("to its GPUs")),
    Row(f"{BOOK}, quiz 4 question 1", "out of them", 8, lambda: hierarchy.unit_switch_out(V=1, S_unit=8, S_top=256)),
    Row(
        f"{BOOK}, quiz 4 question 1",
        "time of the node level",
        V / W,
        lambda: hierarchy.sharded_all_gather(V=V, Y=1, S_child=1, S_top=256, W=W),
        "rounds",
        0.002213542,
    ),
    Row(f"{BOOK}, quiz 4 question 1", "into the top switches", 1, lambda: unit("top in")),
    Row(
        f"{BOOK}, quiz 4 question 1",
        "out of the top switches",
        31,
        lambda: hierarchy.top_switch_out(V=1, S_unit=8, S_top=256),
    ),
    Row(
        f"{BOOK}, quiz 4 question 1",
        "time of the top level",
        0.002421875,
        lambda: hierarchy.sharded_all_gather(V=V, Y=1, **LEAF),
    ),
    Row(f"{BOOK}, quiz 4 question 2", "into the switch", 8, lambda: in_network.switch_in(V=1, N=8)),
    Row(f"{BOOK}, quiz 4 question 2", "out of the switch", 8, lambda: in_network.switch_out(V=1, N=8)),
    Row(f"{BOOK}, quiz 4 question 2", "time", 0.002222222, lambda: in_network.nvls_all_reduce(alpha=0, **NODE)),
    Row(
        f"{BOOK}, quiz 4 question 3",
        "out of a GPU, X = 4, Y = 2",
        0.5,
        lambda: hierarchy.sharded_switch_bytes(V=1, Y=2, S_child=1),
    ),
    Row(
        f"{BOOK}, quiz 4 question 3",
        "time in a node",
        0.0005219578,
        lambda: hierarchy.sharded_switch_all_reduce(V=QUIZ4, Y=2, S_child=1, W=W),
    ),
    Row(
        f"{BOOK}, quiz 4 question 4",
        "bandwidth of a participant",
        6.4 * TB,
        lambda: topology("h100_pod_1024").at(3).child_bw,
        "disagrees",
        12.8 * TB,
    ),
    Row(
        f"{BOOK}, quiz 4 question 4",
        "time, Y = 256",
        7.340032e-5,
        lambda: hierarchy.sharded_switch_all_reduce(V=QUIZ4, Y=256, S_child=256, W=12.8 * TB),
        "disagrees",
        3.670016e-5,
    ),
    Row(f"{BOOK}, quiz 4 question 5", "the node level", 514 * GB, lambda: pod_of(hierarchy.node_bandwidth)),
    Row(
        f"{BOOK}, quiz 4 question 5", "beyond it, two nodes", 800 * GB, lambda: hierarchy.leaf_bandwidth(D_2=2, W_2=OUT)
    ),
    Row(f"{BOOK}, quiz 4 question 5", "both", 514 * GB, lambda: pod_of(hierarchy.nodes_bandwidth, M=2)),
    # bytes of an all-reduce
    Row(
        CS7,
        "an all-reduce over a reduce-scatter",
        2,
        lambda: algorithms.all_reduce_bytes(V=1, N=8),
        "rounds",
        1.75,
        lambda: limit(algorithms.all_reduce_bytes, V=1),
    ),
    Row(CS7, "bytes of the reduce-scatter", 0.875e9, lambda: algorithms.reduce_scatter_bytes(V=V, N=8)),
    Row(CS7, "bytes of the all-gather", 0.875e9, lambda: algorithms.all_gather_bytes(V=V, N=8)),
    Row(CS7, "bytes of an all-reduce", 1.75e9, lambda: algorithms.all_reduce_bytes(V=V, N=8)),
    Row(
        CS7,
        "bytes of an all-reduce from 8 GPUs on",
        2e9,
        lambda: algorithms.all_reduce_bytes(V=V, N=8),
        "rounds",
        1.75e9,
        lambda: limit(algorithms.all_reduce_bytes, V=V),
    ),
    *(
        Row(
            CS7,
            f"(N - 1)/N as 1 at {n} GPUs",
            1,
            lambda n=n: algorithms.all_gather_bytes(V=1, N=n),
            outcome,
            ours,
            lambda: limit(algorithms.all_gather_bytes, V=1),
        )
        for n, outcome, ours in ((8, "rounds", 0.875), (64, "rounds", 0.984375), (1024, "agrees", None))
    ),
    Row(CS7, "bytes of a chunk", 0.125e9, lambda: algorithms.ring_hop(V=V, N=8)),
    Row(CS7, "steps of a phase", 7, lambda: algorithms.ring_steps(N=8)),
    Row(
        "cs336, lecture 7, naive data parallel",
        "elements for each batch of a 70B model",
        140e9,
        lambda: algorithms.all_reduce_bytes(V=70e9, N=8),
        "rounds",
        122.5e9,
        lambda: limit(algorithms.all_reduce_bytes, V=70e9),
    ),
    Row(f"{PLAY}, ring", "values sent in a step", 1, lambda: algorithms.ring_hop(V=5, N=5)),
    Row(f"{PLAY}, ring", "values sent in all", 8, lambda: algorithms.all_reduce_bytes(V=5, N=5)),
    Row(
        f"{PLAY}, ring",
        "values sent in all, many GPUs",
        10,
        lambda: algorithms.all_reduce_bytes(V=5, N=5),
        "rounds",
        8,
        lambda: limit(algorithms.all_reduce_bytes, V=5),
    ),
    Row(
        f"{PLAY}, ring",
        "values sent in one phase",
        5,
        lambda: algorithms.all_gather_bytes(V=5, N=5),
        "rounds",
        4,
        lambda: limit(algorithms.all_gather_bytes, V=5),
    ),
    Row(f"{PLAY}, ring", "steps of a phase of 5 GPUs", 4, lambda: algorithms.ring_steps(N=5)),
    Row(PLAY, "reduce of 1, 2, 3", 6, lambda: primitives.reduce([np.array([r]) for r in (1, 2, 3)])[0][0]),
    Row(PLAY, "all-reduce of 1, 2, 3", 6, lambda: primitives.all_reduce([np.array([r]) for r in (1, 2, 3)])[2][0]),
    *(
        Row(PLAY, f"reduce-scatter, rank {rank}, element {i}", value, lambda rank=rank, i=i: scattered(rank)[i])
        for rank, values in enumerate(((6, 12), (14, 56), (36, 288)))
        for i, value in enumerate(values)
    ),
]
