"""Quiz 4, the parts on whole levels: a second axis that fills a unit, and two nodes."""

from gpuscale import chip, link, show
from gpuscale.collectives import hierarchy
from gpuscale.ledger import claim
from gpuscale.quiz import Question
from gpuscale.symbols import D_1, D_2, D_3, W_1, W_2, D, F, S_top, S_unit, V, W_link, b, n_port, n_sw
from gpuscale.units import GB, MB

h100 = chip("h100_sxm")
NODE, UNIT, UNITS = link("nvlink_4").node_gpus, 32, 4
NVLINK, NICS = h100.nvlink_bw, NODE * h100.nic_bw
ARRAY = {"V": 256 * MB}
ONE_UNIT = ARRAY | {"S_unit": NODE, "S_top": NODE * UNIT}
own, lacking = V * S_unit / S_top, V * (1 - 1 / S_top)
remote = V - own
LAYER = {"D": 8192, "F": 28672, "b": 2}
HALF = "That is half of it: a bf16 number has two bytes, and the bandwidth counts one direction."
SPINES = {"n_sw": 16, "n_port": 64, "W_link": h100.nic_bw, "D_3": UNITS}
outer = n_sw * n_port * W_link / D_3
SAID = show(claim("gpus:AB-8").published, "B/s")

spine = [
    Question(
        heading="4. The second axis fills a unit",
        ask="Now Y = 256: one scalable unit holds all pieces, and X joins the {D_3} units. Their {n_sw} spine "
        "switches "
        "have {n_port} ports of {W_link}, one way. What can one unit send up?",
        answer=outer,
        unit="B/s",
        given=SPINES,
        mistakes={
            "Every port of a spine switch faces down: none is left over for a level above.": n_sw
            * n_port
            * W_link
            / (2 * D_3),
            "That is what all units send together.": n_sw * n_port * W_link,
            "That is one spine switch.": n_port * W_link,
        },
        remark="It is also what the NICs of the unit's 32 nodes send together.",
    ),
    Question(
        f"The published answer divides {SAID} by four and finds less. What is the {SAID}?",
        choices=[
            ("The bandwidth of the spine switches.", "Multiply switches, ports and the bandwidth of a port.", False),
            ("What crosses from one half of the pod to the other, one way.", "The bisection: two units of four.", True),
            ("The bandwidth of the leaf switches of the pod.", "They have twice as many ports as the spine.", False),
        ],
    ),
    Question(
        "How long does the all-reduce of {D} by {F} bf16 numbers take, if the spine switches do the sums and "
        "nothing but "
        "the uplinks of the {D_3} units takes time ({n_sw} spine switches of {n_port} ports of {W_link})?",
        answer=b * D * F / outer,
        unit="s",
        given=LAYER | SPINES,
        tolerance=0.01,
        mistakes={
            "That is with half of the uplinks, as published.": 2 * b * D * F / outer,
            "That is with the ports of all units together.": b * D * F / (D_3 * outer),
            "The array is spread over the unit, but all of it goes up.": b * D * F / (256 * outer),
            HALF: D * F / outer,
        },
    ),
    Question(
        "And without sums in the switches, as a reduce-scatter and an all-gather among the {D_3} units ({D} by {F}, "
        "the same {n_sw} switches of {n_port} ports of {W_link})?",
        answer=2 * b * D * F * (D_3 - 1) / (D_3 * outer),
        unit="s",
        given=LAYER | SPINES,
        tolerance=0.01,
        mistakes={
            "That is one of the two.": b * D * F * (D_3 - 1) / (D_3 * outer),
            "Each unit keeps a part: a ring of four moves three quarters, twice.": 2 * b * D * F / outer,
            "That is with sums in the switches.": b * D * F / outer,
        },
    ),
]

TWO = {"D_1": NODE, "D_2": 2, "W_1": NVLINK, "W_2": NICS}
nvlink, nics = hierarchy.node_bandwidth.rhs, hierarchy.leaf_bandwidth.rhs
two_nodes = [
    Question(
        heading="5. An all-gather over two nodes",
        ask="Two nodes of {D_1} GPUs; each NIC feeds one GPU directly. Which bandwidth does the "
        "all-gather see "
        "inside a node ({W_1} for each GPU, one way)?",
        answer=nvlink,
        unit="B/s",
        given={"D_1": NODE, "W_1": NVLINK},
        tolerance=0.01,
        mistakes={
            "A GPU gets an eighth of the array without NVLink.": W_1,
            "That is with all bytes through NVLink; here the NICs bring an eighth.": W_1 * 2 * D_1 / (2 * D_1 - 1),
            "That is the wrong way round: fewer bytes to move look like more bandwidth.": W_1 * (D_1 - 1) / D_1,
        },
    ),
    Question(
        "And beyond the node ({D_2} nodes, {W_2} for each, one way)?",
        answer=nics,
        unit="B/s",
        given={"D_2": 2, "W_2": NICS},
        mistakes={"Half of the array is there already.": W_2, "It is the other way round.": W_2 * (D_2 - 1) / D_2},
    ),
    Question(
        "How long does an all-gather of {V} take over {D_2} such nodes, with both levels at work at once ({D_1} GPUs "
        "in a node, {W_1} and {W_2})?",
        answer=hierarchy.two_level_links,
        given=TWO | {"V": 2 * GB},
        tolerance=0.01,
        mistakes={
            "NVLink takes longer here.": V / nics,
            "A GPU gets an eighth of the array without NVLink.": V / W_1,
            "That is V over the NICs of a node: an approximation, far off for two nodes.": V / W_2,
            "That is one level after the other.": V / nvlink + V / nics,
        },
    ),
    Question(
        "And if no byte moves inside the nodes before the last one has crossed between them ({V}, {D_2} nodes of "
        "{D_1} "
        "GPUs, {W_1} and {W_2})?",
        answer=hierarchy.two_level_sum,
        given=TWO | {"V": 2 * GB},
        tolerance=0.01,
        mistakes={
            "That is the longer of the two alone.": hierarchy.two_level_links.rhs,
            "That is the shorter of the two alone.": V / nics,
        },
    ),
    Question(
        "A published text lets data parallelism over two nodes of H100 see twice the {W_2} of their NICs. If every "
        "GPU takes part ({D_1} in a node, {W_1}), how many times too fast is that?",
        answer=2 * W_2 / nvlink,
        unit="1",
        tolerance=0.01,
        given={"D_1": NODE, "W_1": NVLINK, "W_2": NICS},
        mistakes={
            "NVLink moves seven eighths of the bytes, not all.": 2 * W_2 / W_1,
            "That is the other way round.": nvlink / (2 * W_2),
        },
        remark="It is right where the GPUs of a node split the model instead: then no gradient crosses NVLink.",
    ),
]
