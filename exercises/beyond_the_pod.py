"""Quiz 3: beyond the node. Two questions, every part, after the quiz of "How to Scale Your Model", errors corrected."""

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
from gpuscale.symbols import G, M, N, W, W_link, W_nic, W_sw, n, n_down, n_port, n_sw, n_unit, n_up

pod, ndr, h100 = topology("h100_pod_1024"), link("ib_ndr"), chip("h100_sxm")
node, leaf, spine = (pod.at(i) for i in (1, 2, 3))
PORT = {"n_port": ndr.switch_ports, "W_link": ndr.bw}
EGRESS = node_egress(n_nic=node.degree, W_nic=ndr.bw)
SU = PORT | {"n_sw": leaf.switches, "M": leaf.degree}
SAID = claim("gpus:AB-8").published  # all spines, by the source
SPINE = switch_bandwidth(n_sw=spine.switches, **PORT)
LARGEST = two_level_capacity(n_port=ndr.switch_ports)

up = [
    Question(
        heading="1. The pod, level by level",
        ask="A node of the H100 pod has {n_nic} NICs with one port of 400 Gbit/s each. What bandwidth does it have to the "
        "leaf switches?",
        answer=node_egress,
        given={"n_nic": node.degree, "W_nic": ndr.bw},
        mistakes={"That is one NIC.": 1 * W_nic, **bits_for_bytes(W_nic), **both_directions(W_nic)},
        hint="Convert bits to bytes: divide by eight.",
        remark="The published answer writes GB/s for the Gbit/s of the NIC; its result is right.",
        fixed="the pod as it is built",
    ),
    Question(
        "A leaf switch has {n_port} ports of {W_link}. What is the bandwidth of all its ports in one direction?",
        answer=n_port * W_link,
        unit="B/s",
        given=PORT,
        mistakes={"Those are only the ports to the nodes.": n_port * W_link / 2, **both_directions(W_link)},
        solution=[(n_port * W_link, "ports times the bandwidth of one")],
    ),
    Question(
        "Find the error. A scalable unit has {n_sw} leaf switches, and each has one cable of {W_link} to every one of "
        '{M} nodes. "So the leaf level carries 32 × 400 / 8 GB/s," says the published answer. What is the bandwidth of the leaf level?',
        answer=n_sw * M * W_link,
        unit="B/s",
        given={k: SU[k] for k in ("n_sw", "M", "W_link")},
        mistakes={
            "That is the printed product, which counts one leaf switch only.": M * W_link,
            "That counts the ports to the spine switches as well.": 2 * n_sw * M * W_link,
        },
        solution=[
            (M * W_link, "one leaf switch, to the nodes"),
            (n_sw * M * W_link, "all leaf switches of the unit"),
        ],
        remark="The published result is this one; only the printed product leaves out the number of leaf switches.",
    ),
    Question(
        "Each of the {n_sw} leaf switches of a unit has {n_up} cables to every one of {n} spine switches. What bandwidth "
        "does the unit have to the spine switches?",
        answer=n_sw * n_up * n * W_link,
        unit="B/s",
        given={"n_sw": leaf.switches, "n_up": 2, "n": spine.switches, "W_link": ndr.bw},
        mistakes={
            "That is with one cable to each spine switch; there are two.": n_sw * n * W_link,
            "That is one leaf switch.": n_up * n * W_link,
        },
        solution=[
            (n_up * n, "the uplinks of a leaf switch"),
            (n_sw * n_up * n * W_link, "all leaf switches, times the bandwidth of a cable"),
        ],
        hint="Count the uplinks of all leaf switches. Each cable runs at the rate of a NIC.",
        remark="The uplinks have the same bandwidth as the links to the nodes, so the unit is not oversubscribed. (The "
        "published line calls it the bandwidth to the leaf; it is from leaf to spine.)",
        vary={n_up: ()},
    ),
    Question(
        f'Find the error. "A spine switch moves {show(SAID / spine.switches, "B/s", short=True)}, so each GPU '
        'gets half of its NIC." All {n_port} ports of a spine switch face down. What bandwidth do the {n_sw} spine '
        "switches have in one direction?",
        answer=switch_bandwidth,
        given=PORT | {"n_sw": spine.switches},
        mistakes={
            "That counts half of the ports, as on a leaf switch. A spine switch has nothing above it, so all its ports "
            "face down.": n_sw * n_port * W_link / 2,
            "That is one spine switch.": n_port * W_link,
            **both_directions(W_link),
        },
        hint="Multiply the switches by their ports and by the bandwidth of a port.",
        remark="That is the full rate of every NIC in the pod. The source has half of it, which is the bisection.",
    ),
    Question(
        "The {M} nodes of the pod share the bandwidth of the spine switches. How much is that per node?",
        answer=W_sw / M,
        unit="B/s",
        given={"W_sw": SPINE, "M": pod.ranks // node.S, "G": node.S},
        mistakes={
            "That is per GPU.": W_sw / (M * G),
            "That divides by the nodes of one unit; all nodes share the spine switches.": 4 * W_sw / M,
        },
        hint="Divide your answer to the question above by the nodes.",
        remark="That is the bandwidth of the node's own NICs: the network is not oversubscribed.",
        fixed="continues the question before",
    ),
    Question(
        'Find the error. "Each GPU gets {W} across any bisection of the pod." That number belongs to something else. '
        "What bandwidth does each of the {G} GPUs of a node get?",
        answer=W / G,
        unit="B/s",
        given={"W": EGRESS, "G": node.S},
        mistakes={"That is the whole node; its GPUs share it.": 1 * W},
        hint="Each GPU has one NIC.",
        solution=[(W / G, "the bandwidth of the node, divided by its GPUs: one NIC each")],
    ),
    Question(
        "What is the bisection bandwidth of the pod of {N} GPUs in one direction?",
        answer=bisection,
        given={"N": pod.ranks, "W": ndr.bw},
        mistakes={
            "That counts both directions.": N * W,
            "That counts NVLink; traffic between the halves goes through the NICs.": N
            * h100.nvlink_bw
            / W_link
            * W_link
            / 2,
        },
        hint="Half of the NICs send to the other half, and no level of the network has less bandwidth.",
        solution=[(N * W / 2, "half of the NICs send, and no level of the network has less bandwidth")],
        remark="The published question asks for this number, but its answer never states it.",
    ),
]

growth = [
    Question(
        heading="2. Growing the network",
        ask="A network connects {N} GPUs, each with its own NIC, in scalable units of {n_unit} GPUs. How many units does "
        "it have?",
        answer=N / n_unit,
        unit="1",
        given={"N": 2048, "n_unit": leaf.S},
        exact=True,
        noun="units",
        mistakes={"That is the number of nodes.": N / node.S, "A unit holds twice as many GPUs.": 2 * N / n_unit},
        solution=[(N / n_unit, "all GPUs, divided by the GPUs of a unit")],
    ),
    Question(
        'Find the error. "2,048 GPUs need 32 spine switches in each of the units." All units together have {n_down} '
        "uplinks, and all {n_port} ports of a spine switch face down. How many spine switches are there in all?",
        answer=top_switches,
        given={"n_down": 2048, "n_port": ndr.switch_ports},
        exact=True,
        noun="spine switches",
        mistakes={
            "That multiplies by the number of units once more.": 8 * n_down / n_port,
            "A spine switch needs no uplinks here.": 2 * n_down / n_port,
        },
        remark="The quotation comes from an error in a translation: there are 32 in all, not 32 per unit.",
    ),
    Question(
        "A leaf switch has {n_up} uplinks, and the network has {n_sw} spine switches. How many cables connect one leaf "
        "switch to one spine switch?",
        answer=n_up / n_sw,
        unit="1",
        exact=True,
        noun="cables",
        given=[{"n_up": 32, "n_sw": 32}, {"n_up": 32, "n_sw": spine.switches}],
        mistakes={"Those are all uplinks of the leaf switch.": 1 * n_up},
        solution=[(n_up / n_sw, "the uplinks spread evenly over the spine switches")],
    ),
    Question(
        "A leaf switch of {n_port} ports has {n_down} cables to the nodes and {n_up} to each of {n_sw} spine "
        "switches. How many of its ports are free?",
        answer=n_port - n_down - n_up * n_sw,
        unit="1",
        exact=True,
        noun="ports",
        given=[
            {"n_port": ndr.switch_ports, "n_down": 32, "n_up": 2, "n_sw": 16},
            {"n_port": ndr.switch_ports, "n_down": 32, "n_up": 1, "n_sw": 16},
        ],
        mistakes={"The cables to the nodes need ports as well.": n_port - n_up * n_sw},
        solution=[(n_port - n_down - n_up * n_sw, "all ports, minus those to the nodes, minus the uplinks")],
        remark="A leaf switch with free ports has fewer uplinks than cables to the nodes: it is oversubscribed.",
    ),
    Question(
        f"Why can two levels of switches with {ndr.switch_ports} ports connect no more than {show(LARGEST, 'count')} "
        "GPUs at full bandwidth?",
        choices=[
            (
                "The cables would get too long.",
                "Long cables cost power and money, but here the switches run out of ports.",
                False,
            ),
            (
                "Another leaf switch would find no free port on the spine switches, and the leaf switches have no port "
                "left for more spine switches.",
                "Every leaf switch has one cable to every spine switch, and both kinds are full.",
                LARGEST == ndr.switch_ports * ndr.switch_ports / 2,
            ),
            (
                "The leaf switches have no port left for more GPUs.",
                "You could add leaf switches, but the spine switches have no port left to connect them.",
                False,
            ),
        ],
    ),
    Question(
        "A network for {N} GPUs needs a third level. The spine switches, now in the middle, use half of their {n_port} "
        "ports as uplinks. How many spine switches does the network need?",
        answer=leaf_switches,
        given={"N": 4096, "n_down": 4096, "n_port": ndr.switch_ports},
        exact=True,
        noun="spine switches",
        mistakes={"That uses all ports for the leaf switches; half of them must be uplinks.": n_down / n_port},
        hint="The leaf switches have one uplink per GPU. Divide the uplinks by the ports of a spine switch that face down.",
    ),
    Question(
        "The spine switches have {n_down} uplinks. How many core switches of {n_port} ports does the new top level need?",
        answer=top_switches,
        given={"n_down": 4096, "n_port": ndr.switch_ports},
        exact=True,
        noun="core switches",
        mistakes={"A core switch has nothing above it, so all its ports face down.": 2 * n_down / n_port},
    ),
    Question(
        "Is that enough? All {n_down} NICs send at once, at the rate of a port. What is the oversubscription at the core, "
        "as a number to 1?",
        answer=oversubscription.where(n_up=n_sw * n_port),
        given={"n_sw": 64, "n_down": 4096, "n_port": ndr.switch_ports},
        mistakes={"A core switch uses all of its ports, not half of them.": 2 * n_down / (n_sw * n_port)},
        hint="Divide the NICs by the ports of all core switches, of which the question above gives the number.",
        remark="At 1 to 1 the network is not oversubscribed.",
        fixed="continues the question before",
    ),
    Question(
        "How many GPUs can three levels of switches with {n_port} ports connect at full bandwidth?",
        answer=three_level_capacity,
        given={"n_port": ndr.switch_ports},
        exact=True,
        noun="GPUs",
        mistakes={
            "That is two levels.": two_level_capacity.rhs,
            "Half of the ports of the two lower levels are uplinks.": n_port**3,
        },
        solution=[
            (1 * n_port, "one level: a single switch"),
            (n_port**2 / 2, "two levels: on each port a switch with half of its ports facing down"),
            (n_port**3 / 4, "three levels: the same once more"),
        ],
    ),
]

questions = QuestionSet(
    "beyond_the_pod",
    "Quiz 3: beyond the node",
    intro="The quiz of the GPU chapter of *How to Scale Your Model* on the network of a pod of 1,024 H100s: two questions "
    "in several parts. Where the source has an error, the answer here is corrected. Bandwidths are in one "
    "direction unless a question says otherwise. The chapter to read is "
    "[Beyond the node](../chapters/beyond_the_node.ipynb).",
    questions=up + growth,
)
