"""Practice questions on the inside of a node, and the predictions of its chapter."""

from itertools import combinations

from gpuscale import chip, link, show
from gpuscale.network import (
    bisection,
    full_rate_gpus,
    gpu_egress,
    gpu_share,
    node_gpus_bandwidth,
    switch_bandwidth,
    top_switches,
    topology,
)
from gpuscale.one_gpu import bandwidth_ratio
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import G, N, V, W, W_bis, W_link, W_nvl, W_ref, W_sw, n_link, n_port, n_sw, n_up
from gpuscale.units import GB

nvlink = {i: link(f"nvlink_{i}") for i in range(1, 6)}
h100 = chip("h100_sxm")
hopper, blackwell, rack = nvlink[4], nvlink[5], link("nvl72")
SWITCHES = switch_bandwidth(n_sw=hopper.node_switches, n_port=hopper.switch_ports, W_link=hopper.link_bw)
TOGETHER = node_gpus_bandwidth(G=hopper.node_gpus, W_nvl=hopper.bw)
mesh = topology("dgx1_v100")
pairs = list(combinations(range(mesh.ranks), 2))
apart = sum(mesh.links_between(a, b) == 0 for a, b in pairs)
spread = V * (G - 1) / (G * W_nvl)  # each GPU lacks all but its own part

questions = QuestionSet(
    "inside_the_node",
    "Inside the node",
    intro="From the links of one GPU to the bandwidth of a whole node. Bandwidths are one direction; the numbers of links, ports "
    "and switches are in the tables of the chapter.",
    chapter="inside_the_node",
    questions=[
        Question(
            "A GPU has {n_link} NVLinks, each of {W_link} in one direction. How many bytes per second can it send?",
            answer=gpu_egress,
            given=[{"n_link": g.links, "W_link": g.link_bw} for g in (nvlink[3], nvlink[5], nvlink[1])],
            mistakes={**both_directions(W_link), "That is a single link.": 1 * W_link},
            vary={n_link: (4, 6, 12, 18), W_link: (20 * GB, 25 * GB, 50 * GB, 100 * GB)},
        ),
        Question(
            "How many NVSwitch chips of {n_port} ports does it take to give every link of {G} GPUs with NVLink 5 a "
            "port?",
            answer=top_switches.where(n_down=G * n_link),
            exact=True,
            noun="switches",
            given=[
                {"G": blackwell.node_gpus, "n_link": blackwell.links, "n_port": blackwell.switch_ports},
                {"G": rack.node_gpus, "n_link": rack.links, "n_port": rack.switch_ports},
            ],
            mistakes={
                "All ports of these switches face the GPUs, because there is no layer above them.": 2
                * G
                * n_link
                / n_port,
            },
            hint="The table of NVLink generations says how many links a GPU has.",
        ),
        Question(
            "Suppose {G} H100s were connected to the four NVSwitches of an H100 node. At what rate could each GPU "
            "send if all of them send at once?",
            answer=gpu_share,
            given=[
                {"G": 16, "W_sw": SWITCHES, "W_nvl": hopper.bw},
                {"G": 32, "W_sw": SWITCHES, "W_nvl": hopper.bw},
            ],
            mistakes={
                "Those are the GPU's own links; check whether the switches can serve all of them.": 1 * W_nvl,
                "That is the share of one switch.": W_sw / (hopper.node_switches * G),
            },
            hint="There are two limits: the links of one GPU, and an even share of the switches. The lower one counts.",
            vary={G: (16, 32, 64)},
        ),
        Question(
            "A smaller rack has {n_sw} of the switch chips of a GB200 NVL72. How many of its GPUs can they serve at full "
            "rate?",
            answer=full_rate_gpus,
            noun="GPUs",
            given={"n_sw": rack.node_switches // 2, "n_port": rack.switch_ports, "n_link": rack.links},
            mistakes={
                "That is for a single switch.": n_port / n_link,
                "Every GPU takes a port for each of its links.": 1 * n_port,
                "Those are all ports; a GPU takes one for each of its links.": n_sw * n_port,
            },
            remark="Half of the switches serve half of the GPUs, because in the whole rack all ports are taken.",
            hint="Each link of a GPU takes one port. The tables have the ports of a switch and the links of a GPU.",
            fixed="half of a rack",
        ),
        Question(
            "Without a switch, a GPU divides its links among its peers. What is the bandwidth between two GPUs if each "
            "of $G$ GPUs, of bandwidth $W_\\mathrm{NVLink}$ each, is wired to all others alike?",
            answer=W_nvl / (G - 1),
            unit="B/s",
            symbols=(W_nvl, G),
            mistakes={
                "A GPU needs no link to itself.": W_nvl / G,
                "That is the bandwidth behind a switch: all links to one peer at a time.": 1 * W_nvl,
            },
            solution=[(W_nvl / (G - 1), "all links of the GPU, over its peers")],
        ),
        Question(
            "Two GPUs of a node exchange data over PCIe 5.0 x16 instead of NVLink at {W_ref}. How many times longer does a "
            "large transfer take?",
            answer=bandwidth_ratio,
            noun="times",
            given=[
                {"W_ref": hopper.bw, "W": link("pcie_5").bw},
                {"W_ref": blackwell.bw, "W": link("pcie_5").bw},
            ],
            mistakes={
                "That compares both directions of NVLink with one of PCIe.": 2 * W_ref / W,
                "That is the fraction that is left.": W / W_ref,
            },
            hint="The figure of the routes out of an H100 has the bandwidth of PCIe 5.0.",
        ),
        Question(
            'Find the error. "Each H100 node has about {W_nvl} of NVLink egress." The number belongs to something '
            "else. How many bytes per second do the eight GPUs of a node send together?",
            answer=node_gpus_bandwidth,
            given={"W_nvl": hopper.bw, "G": hopper.node_gpus},
            mistakes={
                "That is one GPU.": 1 * W_nvl,
                "That counts both directions.": 2 * G * W_nvl,
                "That is what crosses the bisection.": G * W_nvl / 2,
                "That is what the switches could carry.": W_nvl * (SWITCHES / hopper.bw),
                "That is what leaves the node through its NICs.": G * W_nvl * (h100.nic_bw / hopper.bw),
            },
            remark="None of these bytes leave the node over NVLink. That is the task of the NICs, which are nine times slower.",
        ),
        Question(
            'Find the error. "Through the NVSwitch, GPU 1 reaches GPU 56 of the cluster in one hop." Each node has '
            "eight H100s. Which route do the bytes take?",
            choices=[
                (
                    "through the NVSwitches of both nodes, joined by a cable",
                    "The switches of an H100 node have no cable to another node's.",
                    hopper.node_gpus > 56,
                ),
                (
                    "over NICs and the switches between nodes",
                    "NVSwitch ends at the node. Only a rack such as the NVL72 puts so many GPUs behind it.",
                    hopper.node_gpus < 56,
                ),
                ("over PCIe to the other node", "PCIe leads only to the host and to the NIC.", False),
            ],
        ),
        Question(
            "One of the four NVSwitches of an H100 node fails. Every GPU had {n_up} of its links to this switch. At what "
            "rate can a GPU still send over the other three?",
            answer=(n_link - n_up) * W_link,
            unit="B/s",
            given=[
                {"n_link": hopper.links, "n_up": 5, "W_link": hopper.link_bw},
                {"n_link": hopper.links, "n_up": 4, "W_link": hopper.link_bw},
            ],
            mistakes={
                "That is what is lost.": n_up * W_link,
                "A quarter of the switches doesn't have a quarter of the links here.": n_link * W_link * 3 / 4,
            },
            tolerance=0.01,
            solution=[((n_link - n_up) * W_link, "the links that are left")],
            hint="Count the links that are left. The table of NVLink generations has their number and their rate.",
            vary={n_up: (3, 4, 5, 6)},
        ),
        Question(
            "Half of the {N} GPUs of an NVLink domain hold {V} together, in equal parts, and move all of it to the "
            "other half. Each GPU sends at most {W}. How long does it take at best?",
            answer=V / bisection.rhs,
            unit="s",
            given=[
                {"N": hopper.node_gpus, "V": 320 * GB, "W": hopper.bw},
                {"N": rack.node_gpus, "V": 320 * GB, "W": rack.bw},
            ],
            mistakes={
                "All GPUs of that half send at the same time.": V / W,
                "Only half of the GPUs send, while the others receive.": V / (N * W),
            },
            solution=[
                (bisection.rhs, "the bisection bandwidth, one direction"),
                (V / bisection.rhs, "bytes over bandwidth"),
            ],
            remark="A larger domain moves the same bytes faster, because more GPUs share them.",
            vary={N: (8, 16, 32, 36, 64, 72)},
        ),
        Question(
            f"The data sheet of an H100 prints {show(2 * hopper.bw, 'B/s')} for NVLink. You copy 9 GB from one H100 to "
            "another in the same node. How long does it take at best?",
            predict=True,
            choices=[
                ("10 ms", "The data sheet adds up both directions, and a copy uses one direction.", W_nvl >= W_ref),
                ("20 ms", "A copy uses one direction, at half of the printed number.", W_nvl < W_ref),
                ("360 ms", "That is one link; a GPU uses all of its links.", False),
            ],
            given={"W_nvl": hopper.bw, "W_ref": 2 * hopper.bw},
            solution=f"{show(9 * GB / hopper.bw, 's')}. The data sheet adds up both directions. A copy uses one direction, at "
            f"{show(hopper.bw, 'B/s')}.",
        ),
        Question(
            f"Eight V100s have six links each, so there are {sum(n for *_, n in mesh.pairs)} links for {len(pairs)} pairs "
            "of GPUs. NVIDIA gave eight of the pairs a second link. How many pairs have no link at all?",
            predict=True,
            choices=[
                ("none", "That can't be, because there are fewer links than pairs.", False),
                ("4", "That would be right if no pair had two links.", False),
                ("12", "Each second link of a pair is missing at another pair.", True),
            ],
            solution=f"{apart}. Eight of the links double others, so only {len(pairs) - apart} pairs have a link. The "
            "other pairs need a third GPU to pass their bytes on.",
        ),
        Question(
            "An H100 node has four NVSwitches with 64 ports each, and a GPU has 18 links. How many GPUs could these "
            "switches serve before they become the bottleneck?",
            predict=True,
            choices=[
                ("8", "Eight GPUs take only 144 of the 256 ports.", n_sw * n_port < 9 * n_link),
                ("14", "Each link takes one port, and 14 GPUs take nearly all of them.", n_sw * n_port > 14 * n_link),
                (
                    "64",
                    "That is one port per GPU, but a GPU takes a port for each of its links.",
                    n_sw * n_port > 63 * n_link,
                ),
            ],
            given={"n_sw": hopper.node_switches, "n_port": hopper.switch_ports, "n_link": hopper.links},
            solution=f"14. The switches have {hopper.node_switches * hopper.switch_ports} ports, and each GPU takes "
            f"{hopper.links} of them. Beyond 14 GPUs, the switches would have to be shared.",
        ),
        Question(
            f"Four of the eight V100s send to the other four. Their links could carry {show(4 * mesh.gpu_bw, 'B/s')} "
            "together. How much arrives if the two groups are chosen in the worst way?",
            predict=True,
            choices=[
                ("all of it", "Most links stay inside the two groups.", W_bis >= W_ref),
                ("about half of it", "In the worst case, even fewer links lead across.", False),
                ("a quarter of it", "In the worst case most links stay inside the two groups.", 4 * W_bis <= W_ref),
            ],
            given={"W_bis": mesh.bisection, "W_ref": 4 * mesh.gpu_bw},
            solution=f"A quarter: {show(mesh.bisection, 'B/s')}. Most of the links stay inside the two groups. Behind "
            "switches, the GPUs would send at their full rate whatever the groups.",
        ),
        Question(
            "Each of eight H100s holds an eighth of an array of 1 GB, and every GPU needs the whole array. All of them "
            f"send at once; together they can send {show(TOGETHER, 'B/s')}. How long does it take at best?",
            predict=True,
            choices=[
                ("0.28 ms", "Every byte has to reach seven GPUs, and each GPU receives at its own rate.", False),
                ("1.94 ms", "Each GPU has to receive seven eighths of the array.", spread < V / W_nvl),
                ("15.6 ms", "All GPUs receive at the same time.", False),
            ],
            given={"V": 1 * GB, "G": hopper.node_gpus, "W_nvl": hopper.bw},
            solution=f"{show(GB * 7 / 8 / hopper.bw, 's')}. Each GPU lacks seven eighths of the array and receives them "
            f"at its own {show(hopper.bw, 'B/s')}. The rate of the whole node does not help, because all eight GPUs "
            "need the bytes.",
        ),
    ],
)
