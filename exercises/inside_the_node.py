"""Practice questions on the inside of a node."""

from gpuscale import chip, link
from gpuscale.network import (
    bisection,
    full_rate_gpus,
    gpu_egress,
    gpu_share,
    node_gpus_bandwidth,
    switch_bandwidth,
    top_switches,
)
from gpuscale.one_gpu import bandwidth_ratio
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import D_1, S_top, V, W, W_link, W_nvl, W_ref, W_sw, n_link, n_port, n_sw, n_up
from gpuscale.units import GB

nvlink = {i: link(f"nvlink_{i}") for i in range(1, 6)}
h100 = chip("h100_sxm")
hopper, blackwell, rack = nvlink[4], nvlink[5], link("nvl72")
SWITCHES = switch_bandwidth(n_sw=hopper.node_switches, n_port=hopper.switch_ports, W_link=hopper.link_bw)

questions = QuestionSet(
    "inside_the_node",
    "Inside the node",
    intro="From the links of one GPU to what a node can do. Bandwidths are one direction.",
    chapter="inside_the_node",
    questions=[
        Question(
            "A GPU has {n_link} NVLinks, each of {W_link} in one direction. What can it send?",
            answer=gpu_egress,
            given=[{"n_link": g.links, "W_link": g.link_bw} for g in (nvlink[3], nvlink[5], nvlink[1])],
            mistakes={**both_directions(W_link), "That is a single link.": 1 * W_link},
        ),
        Question(
            "A node has {D_1} GPUs with {n_link} links each; a switch chip has {n_port} ports. How many chips "
            "does it "
            "take to give every link a port?",
            answer=top_switches.where(n_down=D_1 * n_link),
            exact=True,
            noun="switches",
            given=[
                {"D_1": blackwell.node_gpus, "n_link": blackwell.links, "n_port": blackwell.switch_ports},
                {"D_1": rack.node_gpus, "n_link": rack.links, "n_port": rack.switch_ports},
            ],
            mistakes={
                "Nothing leaves these switches upwards: all their ports face the GPUs.": 2 * D_1 * n_link / n_port,
            },
        ),
        Question(
            "Suppose {D_1} H100 stood behind the same four switches. They carry {W_sw:4} together; a GPU could send "
            "{W_nvl}. What would each get while all send?",
            answer=gpu_share,
            given=[
                {"D_1": 16, "W_sw": SWITCHES, "W_nvl": hopper.bw},
                {"D_1": 32, "W_sw": SWITCHES, "W_nvl": hopper.bw},
            ],
            mistakes={
                "Those are the GPU's own links; check whether the switches can serve all of them.": 1 * W_nvl,
                "That is the share of one switch.": W_sw / (hopper.node_switches * D_1),
            },
            hint="Two limits: the links of one GPU, and an even share of the switches. The lower one counts.",
        ),
        Question(
            "How many GPUs with {n_link} links can {n_sw} switches of {n_port} ports serve at full rate, if a "
            "part of "
            "a "
            "GPU counts?",
            answer=full_rate_gpus,
            noun="GPUs",
            given={"n_sw": hopper.node_switches, "n_port": hopper.switch_ports, "n_link": hopper.links},
            mistakes={
                "That is one switch.": n_port / n_link,
                "Every GPU takes a port for each of its links.": 1 * n_port,
                "Those are all ports; a GPU takes one for each of its links.": n_sw * n_port,
            },
            remark="So a node of eight leaves many ports unused.",
        ),
        Question(
            "Without a switch, a GPU must divide its links among its peers. Give the bandwidth of one pair if "
            "each of "
            "$D_1$ GPUs, of bandwidth $W_\\mathrm{NVLink}$ each, is wired to all others alike.",
            answer=W_nvl / (D_1 - 1),
            unit="B/s",
            symbols=(W_nvl, D_1),
            mistakes={
                "A GPU needs no link to itself.": W_nvl / D_1,
                "That is what a switch gives: all links to one peer at a time.": 1 * W_nvl,
            },
            solution=[(W_nvl / (D_1 - 1), "all links of the GPU, over its peers")],
        ),
        Question(
            "Two GPUs of a node exchange data over PCIe 5.0, at {W} in one direction, instead of NVLink at {W_ref}. "
            "How "
            "many times longer does a large transfer take?",
            answer=bandwidth_ratio,
            noun="times",
            given=[
                {"W_ref": hopper.bw, "W": link("pcie_5").bw},
                {"W_ref": blackwell.bw, "W": link("pcie_5").bw},
            ],
            mistakes={
                "That compares both directions of NVLink with one of PCIe.": 2 * W_ref / W,
                "That is the share that is left.": W / W_ref,
            },
        ),
        Question(
            'Find the error. "Each node has about {W_nvl} of NVLink egress." The number belongs to something else. '
            "What "
            "do the {D_1} GPUs of a node send together?",
            answer=node_gpus_bandwidth,
            given={"W_nvl": hopper.bw, "D_1": hopper.node_gpus},
            mistakes={
                "That is one GPU.": 1 * W_nvl,
                "That counts both directions.": 2 * D_1 * W_nvl,
                "That is what crosses a cut through the middle.": D_1 * W_nvl / 2,
                "That is what the switches could carry.": W_nvl * (SWITCHES / hopper.bw),
                "That is what leaves the node.": D_1 * W_nvl * (h100.nic_bw / hopper.bw),
            },
            remark="And none of it leaves the node: for that there are NICs, nine times narrower.",
        ),
        Question(
            'Find the error. "Through the NVSwitch, GPU 1 reaches GPU 56 of the cluster in one hop." Nodes have '
            "eight "
            "H100 each. Which way do the bytes go?",
            choices=[
                (
                    "through the NVSwitch of both nodes, joined by a cable",
                    "The switches of an H100 node have no cable to another node's.",
                    hopper.node_gpus > 56,
                ),
                (
                    "over NICs and the switches between nodes",
                    "NVSwitch ends at the node. Only a rack such as the NVL72 puts so many GPUs behind it.",
                    hopper.node_gpus < 56,
                ),
                ("over PCIe to the other node", "PCIe leads to the host and to the NIC, not further.", False),
            ],
        ),
        Question(
            "One of the four switches fails: one to which every GPU has {n_up} of its {n_link} links. What can a GPU "
            "still send over the others, at {W_link} for each link?",
            answer=(n_link - n_up) * W_link,
            unit="B/s",
            given=[
                {"n_link": hopper.links, "n_up": 5, "W_link": hopper.link_bw},
                {"n_link": hopper.links, "n_up": 4, "W_link": hopper.link_bw},
            ],
            mistakes={
                "That is what is lost.": n_up * W_link,
                "A quarter of the switches is not a quarter of the links here.": n_link * W_link * 3 / 4,
            },
            tolerance=0.01,
            solution=[((n_link - n_up) * W_link, "the links that are left")],
        ),
        Question(
            "Half of the {S_top} GPUs of a switched node hold {V} together, in equal parts, and move all of it "
            "to the "
            "other half. Each GPU sends {W} at most. How long does it take at best?",
            answer=V / bisection.rhs,
            unit="s",
            given=[
                {"S_top": hopper.node_gpus, "V": 320 * GB, "W": hopper.bw},
                {"S_top": rack.node_gpus, "V": 320 * GB, "W": rack.bw},
            ],
            mistakes={
                "All GPUs of that half send at the same time.": V / W,
                "Only half of the GPUs send; the others receive.": V / (S_top * W),
            },
            solution=[
                (bisection.rhs, "what crosses the middle in one direction"),
                (V / bisection.rhs, "bytes over it"),
            ],
            remark="A larger domain moves the same bytes faster, because more GPUs share them.",
        ),
    ],
)
