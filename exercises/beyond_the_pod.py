"""Quiz 3: beyond the node. Two questions, every part, after the quiz of "How to Scale Your Model", slips put right."""

from gpuscale import chip, link, show
from gpuscale.ledger import claim
from gpuscale.network import (
    bisection,
    leaf_switches,
    node_egress,
    oversubscription,
    switch_bandwidth,
    three_level_capacity,
    top_switches,
    topology,
    two_level_capacity,
)
from gpuscale.quiz import Question, QuestionSet, bits_for_bytes, both_directions
from gpuscale.symbols import D_1, D_2, M, N, S_top, W, W_link, W_nic, W_sw, n_down, n_port, n_sw, n_up
from gpuscale.units import TB

pod, ndr, h100 = topology("h100_pod_1024"), link("ib_ndr"), chip("h100_sxm")
node, leaf, spine = (pod.at(i) for i in (1, 2, 3))
PORT = {"n_port": ndr.switch_ports, "W_link": ndr.bw}
EGRESS = node_egress(n_nic=node.degree, W_nic=ndr.bw)
SU = PORT | {"n_sw": leaf.switches, "D_2": leaf.degree}
SAID = claim("gpus:AB-8").published  # all spines, by the source
SPINE = switch_bandwidth(n_sw=spine.switches, **PORT)
LARGEST = two_level_capacity(n_port=ndr.switch_ports)

up = [
    Question(
        heading="1. The pod, level by level",
        ask="A node has {n_nic} NICs. Each has one port of {W_nic}, which is 400 Gbit/s. What can the node "
        "send "
        "to the leaf switches?",
        answer=node_egress,
        given={"n_nic": node.degree, "W_nic": ndr.bw},
        mistakes={"That is one NIC.": 1 * W_nic, **bits_for_bytes(W_nic), **both_directions(W_nic)},
        remark="The published answer writes GB/s for the Gbit/s of the NIC; its result is right.",
    ),
    Question(
        "A leaf switch has {n_port} ports of {W_link}. What does it carry in one direction, all ports counted?",
        answer=n_port * W_link,
        unit="B/s",
        given=PORT,
        mistakes={"Those are only the ports that face down.": n_port * W_link / 2, **both_directions(W_link)},
        solution=[(n_port * W_link, "ports times the bandwidth of one")],
    ),
    Question(
        "Find the error. A scalable unit has {n_sw} leaf switches, and each of them takes one cable of {W_link} from "
        "each "
        'of {D_2} nodes. "So the leaf level carries 32 × 400 / 8 GB/s", says the answer. What does it carry?',
        answer=n_sw * D_2 * W_link,
        unit="B/s",
        given={k: SU[k] for k in ("n_sw", "D_2", "W_link")},
        mistakes={
            "That is what the printed product gives: one leaf switch.": D_2 * W_link,
            "That counts the ports that face up as well.": 2 * n_sw * D_2 * W_link,
        },
        solution=[
            (D_2 * W_link, "one leaf switch, from below"),
            (n_sw * D_2 * W_link, "all leaf switches of the unit"),
        ],
        remark="The published result is this one; only the product printed before it lacks the leaf switches.",
    ),
    Question(
        "Each of the {n_sw} leaf switches of a unit has {n_up} cables to every one of {D_1} spine switches, each of "
        "{W_link}. What can the unit send to the spines?",
        answer=n_sw * n_up * D_1 * W_link,
        unit="B/s",
        given={"n_sw": leaf.switches, "n_up": 2, "D_1": spine.switches, "W_link": ndr.bw},
        mistakes={
            "That is one cable to each spine; there are two.": n_sw * D_1 * W_link,
            "That is one leaf switch.": n_up * D_1 * W_link,
        },
        solution=[
            (n_up * D_1, "cables of a leaf"),
            (n_sw * n_up * D_1 * W_link, "of all leaves, times their bandwidth"),
        ],
        remark="As much goes up as comes from below, so nothing is lost. (The published line names this way up the "
        "bandwidth to the leaf; it leads from leaf to spine.)",
    ),
    Question(
        f'Find the error. "A spine switch moves {show(SAID / spine.switches, "B/s", short=True)}, so {spine.switches} of them move '
        f'{SAID / TB:g}, and each GPU is left with half of its NIC." '
        "All {n_port} ports of a spine face down, at {W_link} each. What do {n_sw} spines carry in one direction?",
        answer=switch_bandwidth,
        given=PORT | {"n_sw": spine.switches},
        mistakes={
            "That counts half of the ports, as on a leaf. Nothing is above a spine, so all its ports face down.": n_sw
            * n_port
            * W_link
            / 2,
            "That is one spine.": n_port * W_link,
            **both_directions(W_link),
        },
        remark="Every NIC of the pod gets its full rate there. The figure of the claim is the bisection of the pod.",
    ),
    Question(
        "The spines carry {W_sw} for {M} nodes of {D_1} GPUs. How much is that for each node?",
        answer=W_sw / M,
        unit="B/s",
        given={"W_sw": SPINE, "M": pod.ranks // node.S, "D_1": node.S},
        mistakes={
            "That is for each GPU.": W_sw / (M * D_1),
            "A quarter of the nodes is in each unit; all of them share the spines.": 4 * W_sw / M,
        },
        remark="The same as the node can send: nothing narrows on the way up.",
    ),
    Question(
        'Find the error. "Each GPU gets {W} across any bisection of the pod." The figure is right for something '
        "else. "
        "What does each of the {D_1} GPUs of a node get?",
        answer=W / D_1,
        unit="B/s",
        given={"W": EGRESS, "D_1": node.S},
        mistakes={"That is the whole node; its GPUs share it.": 1 * W},
        solution=[(W / D_1, "the node's bandwidth over its GPUs: one NIC each")],
    ),
    Question(
        "What is the bisection bandwidth of the pod in one direction: {S_top} GPUs, each with a NIC of {W}, in two "
        "halves?",
        answer=bisection,
        given={"S_top": pod.ranks, "W": ndr.bw},
        mistakes={
            "That counts both directions.": S_top * W,
            "That counts NVLink; between halves only the NICs matter.": S_top * h100.nvlink_bw / W_link * W_link / 2,
        },
        solution=[(S_top * W / 2, "half of the NICs send, and the network is nowhere narrower")],
        remark="The published question asks for it, and its answer never states it.",
    ),
]

growth = [
    Question(
        heading="2. Growing the network",
        ask="{N} GPUs, each with one cable into the network, in units of {D_2} GPUs. How many units is that?",
        answer=N / D_2,
        unit="1",
        given={"N": 2048, "D_2": leaf.S},
        exact=True,
        noun="units",
        mistakes={"That is the number of nodes.": N / node.S, "A unit holds twice as many GPUs.": 2 * N / D_2},
        solution=[(N / D_2, "GPUs over GPUs of a unit")],
    ),
    Question(
        'Find the error. "2,048 GPUs need 32 spine switches in each of the units." All units together send {n_down} '
        "cables up, and a spine has {n_port} ports, all facing down. How many spines are there in all?",
        answer=top_switches,
        given={"n_down": 2048, "n_port": ndr.switch_ports},
        exact=True,
        noun="spines",
        mistakes={
            "That multiplies by the units once more.": 8 * n_down / n_port,
            "A spine needs no port upwards.": 2 * n_down / n_port,
        },
        remark="The claim is a slip of a translation: 32 in all, not 32 in each unit.",
    ),
    Question(
        "A leaf switch has {n_up} cables up, and the network has {n_sw} spines. How many cables join one leaf "
        "to one spine?",
        answer=n_up / n_sw,
        unit="1",
        exact=True,
        noun="cables",
        given=[{"n_up": 32, "n_sw": 32}, {"n_up": 32, "n_sw": spine.switches}],
        mistakes={"Those are all cables of the leaf.": 1 * n_up},
        solution=[(n_up / n_sw, "the cables spread evenly over the spines")],
    ),
    Question(
        "A leaf has {n_port} ports: {n_down} cables come from below, and it sends {n_up} cables to each of {n_sw} "
        "spines. "
        "How many of its ports are free?",
        answer=n_port - n_down - n_up * n_sw,
        unit="1",
        exact=True,
        noun="ports",
        given=[
            {"n_port": ndr.switch_ports, "n_down": 32, "n_up": 2, "n_sw": 16},
            {"n_port": ndr.switch_ports, "n_down": 32, "n_up": 1, "n_sw": 16},
        ],
        mistakes={"The cables from below take ports too.": n_port - n_up * n_sw},
        solution=[(n_port - n_down - n_up * n_sw, "ports, less those down, less those up")],
        remark="Free ports upwards mean fewer cables up than down.",
    ),
    Question(
        f"Why can two levels of switches with {ndr.switch_ports} ports join no more than {show(LARGEST, 'count')} GPUs "
        "at full bandwidth?",
        choices=[
            (
                "the cables would get too long",
                "Length costs power and money, but it is the ports that run out here.",
                False,
            ),
            (
                "one leaf more would find no free port on the spines, and a leaf has none left for more spines",
                "Every leaf has one cable to every spine: both kinds are full.",
                LARGEST == ndr.switch_ports * ndr.switch_ports / 2,
            ),
            (
                "the leaves have no port left for more GPUs",
                "More leaves would bring more; but nothing could join them to the others.",
                False,
            ),
        ],
    ),
    Question(
        "With {N} GPUs a third level comes in. The middle switches, still called spines, now turn half of their "
        "{n_port} ports up. How many do {n_down} cables from the leaves need?",
        answer=leaf_switches,
        given={"N": 4096, "n_down": 4096, "n_port": ndr.switch_ports},
        exact=True,
        noun="spines",
        mistakes={"That turns all ports down; half must lead on up.": n_down / n_port},
    ),
    Question(
        "And how many switches does the new top, the core, need for the {n_down} cables that come up from them "
        "({n_port} ports each)?",
        answer=top_switches,
        given={"n_down": 4096, "n_port": ndr.switch_ports},
        exact=True,
        noun="core switches",
        mistakes={"Nothing is above the core: all its ports face down.": 2 * n_down / n_port},
    ),
    Question(
        "Is that enough? Give the bandwidth from below over that of {n_sw} core switches, if {n_down} NICs send at "
        "once "
        "and cables and ports ({n_port} on each switch) all run at the same rate.",
        answer=oversubscription.where(n_up=n_sw * n_port),
        given={"n_sw": 64, "n_down": 4096, "n_port": ndr.switch_ports},
        mistakes={"Half of the ports of a core switch would lead nowhere.": 2 * n_down / (n_sw * n_port)},
        remark="One: nothing is lost.",
    ),
    Question(
        "How many GPUs could three levels of switches with {n_port} ports join at full bandwidth?",
        answer=three_level_capacity,
        given={"n_port": ndr.switch_ports},
        exact=True,
        noun="GPUs",
        mistakes={
            "That is two levels.": two_level_capacity.rhs,
            "Half of the ports of the two lower levels lead up.": n_port**3,
        },
        solution=[
            (1 * n_port, "one switch"),
            (n_port**2 / 2, "each port a switch with half of its ports down"),
            (n_port**3 / 4, "once more"),
        ],
    ),
]

questions = QuestionSet(
    "beyond_the_pod",
    "Quiz 3: beyond the node",
    intro="The quiz of the GPU chapter of *How to Scale Your Model* on the network of a pod of 1,024 H100, part by "
    "part. "
    "Bandwidths are one direction unless a question says otherwise. The chapter is "
    "[Beyond the node](../chapters/beyond_the_node.ipynb).",
    questions=up + growth,
)
