"""Quiz 2: the node. Three questions, every part, after the quiz of "How to Scale Your Model", errors corrected."""

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
from gpuscale.symbols import G, N, T_comms, V, W, W_bis, W_link, b, n, n_link, n_port, n_sw

h100, nvlink = chip("h100_sxm"), link("nvlink_4")
SWITCH = {"n_port": nvlink.switch_ports, "W_link": nvlink.link_bw}
NODE = SWITCH | {"n_sw": nvlink.node_switches, "G": nvlink.node_gpus, "n_link": nvlink.links}
EGRESS = gpu_egress(n_link=nvlink.links, W_link=nvlink.link_bw)
ROWS, COLUMNS = 4096, 65536
SHARDED = {"V": 2 * ROWS * COLUMNS, "N": nvlink.node_gpus, "W": EGRESS}
MEASURED = measured("all_gather_stated").rows[0]["time"]
SEEN = show(all_gather_bus(W_alg=SHARDED["V"] / MEASURED, N=SHARDED["N"]) / EGRESS, "%", digits=2)
gather, gpus, switches = ring_all_gather.where(alpha=0).rhs, G * n_link * W_link, n_sw * n_port * W_link

bandwidth = [
    Question(
        heading="1. Total bandwidth of an H100 node",
        ask="An NVSwitch of an H100 node has {n_port} ports of {W_link} in one direction. What is its bandwidth in one "
        "direction?",
        answer=n_port * W_link,
        unit="B/s",
        given=SWITCH,
        mistakes={
            **both_directions(W_link),
            "That counts the links of a GPU; count the ports of the switch.": nvlink.links * W_link,
        },
        solution=[(n_port * W_link, "ports times the bandwidth of one")],
        fixed="the node as it is built",
    ),
    Question(
        "The node has {n_sw} such NVSwitches. What is their bandwidth together, in one direction?",
        answer=switch_bandwidth,
        given=SWITCH | {"n_sw": nvlink.node_switches},
        mistakes={"That is one switch.": n_port * W_link, **both_directions(W_link)},
        hint="Multiply the bandwidth of one switch, from the question above, by the number of switches.",
        fixed="the node as it is built",
    ),
    Question(
        "Each GPU of the node has {n_link} NVLink links into those switches. How many bytes per second can the {G} GPUs "
        "exchange at most, in one direction?",
        answer=Min(gpus, switches),
        unit="B/s",
        given=NODE,
        mistakes={
            "That is the bandwidth of the switches; the GPUs cannot send as much.": switches,
            "That is one GPU.": n_link * W_link,
            **both_directions(W_link),
        },
        hint="Compare the bandwidth of all GPU links with the bandwidth of the switches. A link and a port run at the same "
        "rate.",
        solution=[
            (node_gpus_bandwidth.where(gpu_egress).rhs, "the bandwidth of all GPUs"),
            (Min(gpus, switches), "the switches have more, so the GPUs are the limit"),
        ],
        remark="More than two fifths of the switch ports are not connected to a GPU.",
        fixed="the node as it is built",
    ),
    Question(
        "The published question calls these NVSwitches the fourth generation. Which generation of NVSwitch does an H100 "
        "node have?",
        choices=[
            ("the second", "That one is in the A100 node.", nvlink.switch_generation == 2),
            ("the third", "NVLink and NVSwitch generations are numbered separately.", nvlink.switch_generation == 3),
            (
                "the fourth",
                "NVLink is in its fourth generation here. NVSwitch is one behind, because the P100 had NVLink but no "
                "switch.",
                nvlink.switch_generation == 4,
            ),
        ],
    ),
]

cut = [
    Question(
        heading="2. Bisection",
        ask="Divide the {N} GPUs of an H100 node into any two halves. What is the bandwidth from one half to the other, "
        "in one direction?",
        answer=bisection,
        given={"N": nvlink.node_gpus, "W": EGRESS},
        mistakes={
            "That is all GPUs, or both directions; one half sends, the other receives.": N * W,
            "That is all GPUs and both directions.": 2 * N * W,
            "That is one GPU; each GPU of a half has its own links.": 1 * W,
        },
        hint="Half of the GPUs send at their full NVLink bandwidth, which is in the chapter and in the hardware tables.",
        solution=[(N * W / 2, "half of the GPUs send at their full rate; the switches are no bottleneck")],
        fixed="the node as it is built",
    ),
    Question(
        "Bisection bandwidth is often quoted for both directions together. What is it for this node then?",
        answer=2 * bisection.rhs,
        unit="B/s",
        given={"N": nvlink.node_gpus, "W": EGRESS},
        mistakes={
            "That is one direction.": bisection.rhs,
            "That is twice too much: half of the GPUs send in each direction.": 2 * N * W,
        },
        hint="While one half sends to the other, the other half can send back at the same rate.",
        solution=[(N * W, "half of the GPUs send in each direction")],
    ),
    Question(
        'Find the error. "The bandwidth of a collective is the bisection bandwidth times 2/N." The scaling book says so '
        "after it has counted the bisection of these {N} GPUs in both directions. What bandwidth does a GPU really get "
        "from one half to the other?",
        answer=collective_bandwidth.rhs / 2,
        unit="B/s",
        given={"W_bis": 2 * bisection(N=nvlink.node_gpus, W=EGRESS), "N": nvlink.node_gpus},
        mistakes={
            "That applies the rule to both directions; it is more than the links of a GPU carry.": collective_bandwidth.rhs,
            "Only half of the GPUs share the bisection in one direction.": W_bis / (2 * N),
        },
        hint="Take the bisection bandwidth in one direction, and divide it by the GPUs that send in that direction.",
        solution=[
            (W_bis / 2, "the bisection bandwidth in one direction"),
            (W_bis / N, "divided by half of the GPUs, which share it"),
        ],
        remark="The rule holds for the bisection bandwidth in one direction.",
    ),
]

sharing = [
    Question(
        heading="3. An all-gather in the node",
        ask="The rows of an array bf16[{D} × {F}] are sharded over the GPUs of the node. How many bytes does each GPU hold "
        "after an all-gather?",
        answer=b * n,
        unit="B",
        given={"b": 2, "n": ROWS * COLUMNS, "D": ROWS, "F": COLUMNS},
        tolerance=0.01,
        mistakes={"A bf16 element has two bytes.": {"b": 1}, "That takes a MiB for a MB.": b * n / 1.048576},
    ),
    Question(
        "An array of V bytes is sharded over N GPUs. Each GPU sends its shard to the N − 1 others, one after the other, "
        "with a bandwidth W. How long does that take? Leave latency out.",
        answer=gather,
        unit="s",
        symbols=(V, N, W),
        mistakes={
            "Each GPU has its own shard already; it receives only the N − 1 others.": V / W,
            "That is one of the N − 1 transfers. The first version of the published text has this error.": V / (N * W),
            "All GPUs send at the same time.": all_gather_total.rhs / W,
        },
        solution=[
            (V / N / W, "one transfer: a shard over the links of a GPU"),
            (gather, "N − 1 transfers"),
        ],
    ),
    Question(
        "What does this time approach as the number of GPUs grows?",
        choices=[
            (
                "$V/W$, the whole array over the bandwidth of one GPU",
                "Each GPU has to receive almost the whole array.",
                True,
            ),
            (
                "$V/(N W)$, the whole array over the bandwidth of the whole node",
                "Each GPU needs almost the whole array, so its own bandwidth sets the time. An early version of the "
                "published answer has this error.",
                False,
            ),
            ("zero", "With more GPUs the shards are smaller, but there are more of them to receive.", False),
        ],
    ),
    Question(
        f"How long does the all-gather of that array bf16[{ROWS:,} × {COLUMNS:,}] take in an H100 node? Leave latency out.",
        answer=gather,
        unit="s",
        given=SHARDED,
        tolerance=0.01,
        mistakes={
            "That is the limit for many GPUs.": V / W,
            "That is the whole array over the bandwidth of the whole node.": V / (N * W),
        },
        hint="Put the bytes of the array, the GPUs of the node and the NVLink bandwidth of one GPU into your formula.",
        solution=[
            (all_gather_bytes.rhs, "the bytes that a GPU receives"),
            (gather, "over its NVLink bandwidth"),
        ],
    ),
    Question(
        "The scaling book measured {T_comms} for this all-gather on {N} GPUs. What bandwidth did the links of each GPU "
        "achieve?",
        answer=all_gather_bus.where(algorithm_bandwidth),
        given={"T_comms": MEASURED} | {k: SHARDED[k] for k in "VN"},
        mistakes={
            "A GPU has its own shard already; only the others cross its links.": V / T_comms,
            "That counts both directions of the links.": 2 * V * (N - 1) / (N * T_comms),
        },
        hint="Divide the bytes that a GPU receives by the measured time.",
        remark=f"That is {SEEN} of the NVLink bandwidth. A later chapter explains the missing part.",
        fixed="a measured number",
    ),
]

questions = QuestionSet(
    "the_node",
    "Quiz 2: the node",
    intro="The quiz of the GPU chapter of *How to Scale Your Model* on the inside of a node: three questions in several "
    "parts. Where the source has an error, the answer here is corrected. Bandwidths are in one direction "
    "unless a question says otherwise. The chapter to read is [Inside the node](../chapters/inside_the_node.ipynb).",
    questions=bandwidth + cut + sharing,
)
