"""Quiz 2: the node. Three questions, every part, after the quiz of "How to Scale Your Model", slips put right."""

from sympy import Min

from gpuscale import chip, link, measured, show
from gpuscale.collectives import (
    algorithm_bandwidth,
    all_gather_bus,
    all_gather_bytes,
    all_gather_total,
    ring_all_gather,
)
from gpuscale.network import bisection, collective_bandwidth, gpu_egress, node_gpus_bandwidth, switch_bandwidth
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import D_1, N, S_top, T_comms, V, W, W_bis, W_link, b, n, n_link, n_port, n_sw

h100, nvlink = chip("h100_sxm"), link("nvlink_4")
SWITCH = {"n_port": nvlink.switch_ports, "W_link": nvlink.link_bw}
NODE = SWITCH | {"n_sw": nvlink.node_switches, "D_1": nvlink.node_gpus, "n_link": nvlink.links}
EGRESS = gpu_egress(n_link=nvlink.links, W_link=nvlink.link_bw)
ROWS, COLUMNS = 4096, 65536
SHARDED = {"V": 2 * ROWS * COLUMNS, "N": nvlink.node_gpus, "W": EGRESS}
MEASURED = measured("all_gather_stated").rows[0]["time"]
SEEN = show(all_gather_bus(W_alg=SHARDED["V"] / MEASURED, N=SHARDED["N"]) / EGRESS, "%", digits=2)
gather, gpus, switches = ring_all_gather.where(alpha=0).rhs, D_1 * n_link * W_link, n_sw * n_port * W_link

bandwidth = [
    Question(
        heading="1. Total bandwidth of an H100 node",
        ask="A switch of the node has {n_port} ports, each of {W_link} in one direction. What does it carry in one "
        "direction?",
        answer=n_port * W_link,
        unit="B/s",
        given=SWITCH,
        mistakes={
            **both_directions(W_link),
            "Those are the links of a GPU; count the ports of the switch.": nvlink.links * W_link,
        },
        solution=[(n_port * W_link, "ports times the bandwidth of one")],
    ),
    Question(
        "The node has {n_sw} such switches ({n_port} ports of {W_link} each). What do they carry together?",
        answer=switch_bandwidth,
        given=SWITCH | {"n_sw": nvlink.node_switches},
        mistakes={"That is one switch.": n_port * W_link, **both_directions(W_link)},
    ),
    Question(
        "Each of the {D_1} GPUs has {n_link} links into those {n_sw} switches of {n_port} ports; every link carries "
        "{W_link} one way. At what rate can the node move bytes at most?",
        answer=Min(gpus, switches),
        unit="B/s",
        given=NODE,
        mistakes={
            "That is what the switches could carry; the GPUs cannot send as much.": switches,
            "That is one GPU.": n_link * W_link,
            **both_directions(W_link),
        },
        solution=[
            (node_gpus_bandwidth.where(gpu_egress).rhs, "what the GPUs send"),
            (Min(gpus, switches), "the switches could carry more, so the GPUs set the limit"),
        ],
        remark="More than two fifths of the switch ports have nothing to do.",
    ),
    Question(
        "The published question calls these the fourth generation of switches. Which generation of NVSwitch goes "
        "with "
        "the NVLink of an H100?",
        choices=[
            ("the second", "That one serves the A100.", nvlink.switch_generation == 2),
            ("the third", "Links and switches are numbered apart.", nvlink.switch_generation == 3),
            (
                "the fourth",
                "NVLink is in its fourth generation here, NVSwitch is one behind: P100 had links and no switch.",
                nvlink.switch_generation == 4,
            ),
        ],
    ),
]

cut = [
    Question(
        heading="2. Bisection",
        ask="Divide the {S_top} GPUs of the node into two halves in any way. Each GPU sends {W} into the switches. "
        "What can cross from one half to the other, counted in one direction?",
        answer=bisection,
        given={"S_top": nvlink.node_gpus, "W": EGRESS},
        mistakes={
            "That is all the GPUs, or both directions; one half sends, the other receives.": S_top * W,
            "All the GPUs, and both directions.": 2 * S_top * W,
            "Each GPU of a half has its own links.": 1 * W,
        },
        solution=[(S_top * W / 2, "half of the GPUs send at their full rate, and no cut is tighter than their links")],
    ),
    Question(
        "And counted in both directions at once, as bisection bandwidth is often quoted ({S_top} GPUs, {W} each way)?",
        answer=2 * bisection.rhs,
        unit="B/s",
        given={"S_top": nvlink.node_gpus, "W": EGRESS},
        mistakes={
            "That is one direction.": bisection.rhs,
            "That is twice too much: half of the GPUs send each way.": 2 * S_top * W,
        },
        solution=[(S_top * W, "half of the GPUs send each way")],
    ),
    Question(
        'Find the error. "Collective bandwidth is bisection bandwidth times 2/N", says the text, after it has found '
        "{W_bis} for the bisection of these {N} GPUs in both directions. What does a GPU really get "
        "across the cut?",
        answer=collective_bandwidth.rhs / 2,
        unit="B/s",
        given={"W_bis": 2 * bisection(S_top=nvlink.node_gpus, W=EGRESS), "N": nvlink.node_gpus},
        mistakes={
            "That is the rule with both directions put in: more than the links of a GPU carry.": collective_bandwidth.rhs,
            "Half of the GPUs share the cut, not all of them.": W_bis / (2 * N),
        },
        solution=[
            (W_bis / 2, "one direction of the bisection"),
            (W_bis / N, "shared by half of the GPUs"),
        ],
        remark="The rule holds for the bisection in one direction.",
    ),
]

sharing = [
    Question(
        heading="3. One all-gather",
        ask="An array bf16[{D}, {F}] is spread over the GPUs of the node by rows; an all-gather gives every GPU "
        "all of "
        "it. How many bytes does a GPU hold in the end?",
        answer=b * n,
        unit="B",
        given={"b": 2, "n": ROWS * COLUMNS, "D": ROWS, "F": COLUMNS},
        tolerance=0.01,
        mistakes={"bf16 has two bytes an element.": {"b": 1}, "That is a MiB taken for a MB.": b * n / 1.048576},
    ),
    Question(
        "Each of N GPUs holds a share of V bytes and sends it to the N − 1 others, one after the other, over its "
        "link "
        "of bandwidth W. Give the time, without any latency.",
        answer=gather,
        unit="s",
        symbols=(V, N, W),
        mistakes={
            "Each GPU still has its own share; it lacks the N − 1 others.": V / W,
            "The published text says so in its first version; N − 1 turns do not become one.": V / (N * W),
            "The links of all GPUs work at the same time.": all_gather_total.rhs / W,
        },
        solution=[
            (V / N / W, "one turn: a share over a link"),
            (gather, "N − 1 turns"),
        ],
    ),
    Question(
        "What does this time approach when there are many GPUs?",
        choices=[
            (
                "$V/W$, the array over the bandwidth of one GPU",
                "Almost the whole array has to come in over one link.",
                True,
            ),
            (
                "$V/(N W)$, which is the array over the bandwidth of the whole node",
                "Every GPU needs almost all of the array, so its own link sets the time. An early version of the "
                "published answer has this slip.",
                False,
            ),
            ("zero", "More GPUs hold smaller shares, but there are more of them to receive.", False),
        ],
    ),
    Question(
        "Work it out: {N} GPUs, {V:4} in all, {W} for each GPU.",
        answer=gather,
        unit="s",
        given=SHARDED,
        tolerance=0.01,
        mistakes={
            "That is the limit of many GPUs.": V / W,
            "That is the array over the bandwidth of the whole node.": V / (N * W),
        },
        solution=[(all_gather_bytes.rhs, "what a GPU lacks"), (gather, "over its link")],
    ),
    Question(
        "The source measured {T_comms} for these {V:4} on {N} GPUs. Which bandwidth did the link of a GPU see?",
        answer=all_gather_bus.where(algorithm_bandwidth),
        given={"T_comms": MEASURED} | {k: SHARDED[k] for k in "VN"},
        mistakes={
            "A GPU keeps its own share; only the others cross its link.": V / T_comms,
            "That counts both directions of the link.": 2 * V * (N - 1) / (N * T_comms),
        },
        remark=f"{SEEN} of what the link can carry. What takes the rest is the subject of a later chapter.",
    ),
]

questions = QuestionSet(
    "the_node",
    "Quiz 2: the node",
    intro="The quiz of the GPU chapter of *How to Scale Your Model* on the inside of a node, part by part. "
    "Bandwidths "
    "are one direction unless a question says otherwise. The chapter is "
    "[Inside the node](../chapters/inside_the_node.ipynb).",
    questions=bandwidth + cut + sharing,
)
