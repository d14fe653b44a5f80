"""Quiz 4, the parts on whole levels: a second axis that fills a unit, and two nodes."""

from gpuscale import chip, link, show
from gpuscale.collectives import hierarchy
from gpuscale.ledger import claim
from gpuscale.quiz import Question
from gpuscale.symbols import G_3, D, F, G, M, N, V, W_link, W_node, W_nvl, b, n_port, n_sw, n_unit
from gpuscale.units import GB, MB

h100 = chip("h100_sxm")
NODE, UNIT, UNITS = link("nvlink_4").node_gpus, 32, 4
NVLINK, NICS = h100.nvlink_bw, NODE * h100.nic_bw
ARRAY = {"V": 256 * MB}
ONE_UNIT = ARRAY | {"n_unit": NODE, "N": NODE * UNIT}
own, lacking = V * n_unit / N, V * (1 - 1 / N)
remote = V - own
LAYER = {"D": 8192, "F": 28672, "b": 2}
HALF = "That is half of it: a bf16 element has two bytes, and the bandwidth counts one direction."
SPINES = {"n_sw": 16, "n_port": 64, "W_link": h100.nic_bw, "G_3": UNITS}
outer = n_sw * n_port * W_link / G_3
SAID = show(claim("gpus:AB-8").published, "B/s")

spine = [
    Question(
        heading="4. A second axis that fills a unit",
        ask="Now Y = 256: one scalable unit holds all shards, and X spans the {G_3} units of the pod. They are connected by "
        "{n_sw} spine switches with {n_port} ports each. What bandwidth does one unit have to the spine switches?",
        answer=outer,
        unit="B/s",
        given=SPINES,
        mistakes={
            "Every port of a spine switch faces down; none is kept for a level above.": n_sw
            * n_port
            * W_link
            / (2 * G_3),
            "That is all units together.": n_sw * n_port * W_link,
            "That is one spine switch.": n_port * W_link,
        },
        hint="All ports of the spine switches face down, shared evenly by the units. A port runs at the rate of a NIC.",
        remark="The NICs of the unit's 32 nodes have the same bandwidth together.",
        fixed="the pod as it is built",
    ),
    Question(
        f"The published answer divides {SAID} by four and gets less. What is that {SAID}?",
        choices=[
            ("the bandwidth of the spine switches", "Multiply switches, ports and the bandwidth of a port.", False),
            ("the bisection bandwidth of the pod, in one direction", "Two of the four units send to the others.", True),
            ("the bandwidth of the leaf switches", "They have twice as many ports as the spine switches.", False),
        ],
    ),
    Question(
        "How long does the all-reduce of bf16[{D} × {F}] over the {G_3} units take, if the spine switches do the reduction "
        "and only the uplinks of the units take time?",
        answer=b * D * F / outer,
        unit="s",
        given=LAYER | SPINES,
        tolerance=0.01,
        mistakes={
            "That is with half of the uplinks, as published.": 2 * b * D * F / outer,
            "That is with the ports of all units together.": b * D * F / (G_3 * outer),
            "The array is sharded over the unit, but all of its shards leave the unit.": b * D * F / (256 * outer),
            HALF: D * F / outer,
        },
        hint="Each unit sends the whole array once, at the bandwidth of its uplinks.",
        vary={G_3: ()},
    ),
    Question(
        "How long does it take without in-network reduction, as a reduce-scatter and an all-gather of bf16[{D} × {F}] "
        "among the {G_3} units?",
        answer=2 * b * D * F * (G_3 - 1) / (G_3 * outer),
        unit="s",
        given=LAYER | SPINES,
        tolerance=0.01,
        mistakes={
            "That is one of the two collectives.": b * D * F * (G_3 - 1) / (G_3 * outer),
            "Each unit keeps its own part: it sends three quarters of the array, twice.": 2 * b * D * F / outer,
            "That is with in-network reduction.": b * D * F / outer,
        },
        hint="In each of the two collectives a unit sends three of four parts of the array.",
        vary={G_3: ()},
    ),
]

TWO = {"G": NODE, "M": 2, "W_nvl": NVLINK, "W_node": NICS}
nvlink, nics = hierarchy.node_bandwidth.rhs, hierarchy.leaf_bandwidth.where(G_2=M).rhs
two_nodes = [
    Question(
        heading="5. An all-gather over two nodes",
        ask="Two H100 nodes of {G} GPUs all-gather an array, and each NIC is attached to one GPU. What effective bandwidth, "
        "the bytes of the array over the time, does NVLink inside a node allow?",
        answer=nvlink,
        unit="B/s",
        given={"G": NODE, "W_nvl": NVLINK},
        tolerance=0.01,
        mistakes={
            "A GPU receives an eighth of the array without NVLink.": W_nvl,
            "That is with all bytes over NVLink; here the NICs deliver an eighth.": W_nvl * 2 * G / (2 * G - 1),
            "That is upside down: with fewer bytes to move, the effective bandwidth is higher.": W_nvl * (G - 1) / G,
        },
        hint="Each GPU receives seven of eight parts of the array over NVLink.",
        fixed="a node has eight GPUs",
    ),
    Question(
        "What effective bandwidth do the NICs of the {M} nodes allow for that all-gather?",
        answer=nics,
        unit="B/s",
        given={"M": 2, "W_node": NICS},
        mistakes={
            "A node holds half of the array already.": W_node,
            "That is upside down: with fewer bytes to move, the effective bandwidth is higher.": W_node * (M - 1) / M,
        },
        hint="A node receives the half that it lacks, through eight NICs.",
        fixed="continues the question before",
    ),
    Question(
        "How long does an all-gather of {V} take over {M} such nodes, if NVLink and the NICs work at the same time?",
        answer=hierarchy.two_level_links,
        given=TWO | {"V": 2 * GB},
        tolerance=0.01,
        mistakes={
            "NVLink takes longer here.": V / nics,
            "A GPU receives an eighth of the array without NVLink.": V / W_nvl,
            "That is V over the bandwidth of a node's NICs, which is far off for two nodes.": V / W_node,
            "That is one level after the other.": V / nvlink + V / nics,
        },
        hint="The level with the lower effective bandwidth sets the time.",
        vary={M: ()},
    ),
    Question(
        "How long does an all-gather of {V} over these {M} nodes take, if no byte moves over NVLink before the NICs have "
        "finished?",
        answer=hierarchy.two_level_sum,
        given=TWO | {"V": 2 * GB},
        tolerance=0.01,
        mistakes={
            "That is the longer of the two alone.": hierarchy.two_level_links.rhs,
            "That is the shorter of the two alone.": V / nics,
        },
        hint="Now the two times add up.",
        vary={M: ()},
    ),
    Question(
        "For data parallelism over two H100 nodes, the scaling book takes twice the {W_node} of a node's NICs as the "
        "bandwidth. How many times too high is that, if all GPUs of both nodes take part?",
        answer=2 * W_node / nvlink,
        unit="1",
        tolerance=0.01,
        given={"G": NODE, "W_nvl": NVLINK, "W_node": NICS},
        mistakes={
            "NVLink carries seven eighths of the bytes, not all of them.": 2 * W_node / W_nvl,
            "That is the inverse ratio.": nvlink / (2 * W_node),
        },
        hint="Divide it by the effective bandwidth inside a node, which is the lower one.",
        remark="It is right if the GPUs of a node split the model instead: then no gradient crosses NVLink.",
        fixed="a published number",
    ),
]
