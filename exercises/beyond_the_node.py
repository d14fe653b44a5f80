"""Practice questions on the network between nodes."""

from sympy import Eq

from gpuscale import chip, link
from gpuscale.network import (
    bisection,
    leaf_switches,
    node_egress,
    oversubscription,
    published,
    tapered_bisection,
    tapered_bisection_odd,
    top_switches,
    topology,
    two_level_capacity,
    wire_latency,
)
from gpuscale.one_gpu import bandwidth_ratio
from gpuscale.quiz import Question, QuestionSet, bits_for_bytes, both_directions
from gpuscale.symbols import G_3, N, W, W_nic, W_nvl, W_ref, n_down, n_hop, n_nic, n_port, n_unit, r_over, t_hop
from gpuscale.units import Gbit, ns, show

a100, b200, ndr, hdr = chip("a100_sxm"), chip("b200_sxm"), link("ib_ndr"), link("ib_hdr")
a100_su, su, pod, meta = (topology(k) for k in ("a100_su", "h100_su", "h100_pod_1024", "llama3_24k"))
OLD, NEW = a100_su.at("Leaf"), su.at("Leaf")
SLOTS = pod.tiers[1].cables_total  # cables that the pod's leaves can take from below
TAPER = published("llama3_24k").oversubscription
PODS = meta.tiers[-1].degree
FULL = two_level_capacity(n_port=ndr.switch_ports)  # NICs on two layers
MORE = leaf_switches.rhs.subs(n_down, 2 * N) / top_switches.rhs.subs(
    n_down, N
)  # spines below a core over spines on top

questions = QuestionSet(
    "beyond_the_node",
    "Beyond the node",
    intro="NICs, leaf and spine switches, bisection, oversubscription and hops. Bandwidths are in one direction.",
    chapter="beyond_the_node",
    questions=[
        Question(
            "How much bandwidth does a DGX A100 have into the network?",
            answer=node_egress,
            given={"n_nic": OLD.cables, "W_nic": hdr.bw},
            mistakes={"That is one NIC.": 1 * W_nic, **bits_for_bytes(W_nic), **both_directions(W_nic)},
            hint="The table of nodes has the bandwidth of its NICs per GPU, and a DGX A100 has eight GPUs.",
        ),
        Question(
            "How many times slower does an A100 send to a GPU of another node than to a GPU of its own node?",
            answer=bandwidth_ratio,
            noun="times",
            given={"W_ref": a100.nvlink_bw, "W": hdr.bw},
            mistakes={
                "That is the fraction that is left.": W / W_ref,
                "That counts NVLink in both directions and the NIC in one.": 2 * W_ref / W,
            },
            hint="The table of nodes has both bandwidths of a DGX A100.",
        ),
        Question(
            f"The scalable unit of the DGX A100 design has {OLD.degree} nodes with {OLD.cables} NICs each, and switches "
            f"of {OLD.ports} ports. How many leaf switches does it need without oversubscription?",
            answer=leaf_switches,
            exact=True,
            noun="leaf switches",
            given={"n_down": OLD.ports_down, "n_port": OLD.ports},
            mistakes={"Half of the ports of a leaf switch must face up.": n_down / n_port},
        ),
        Question(
            "You have switches of {n_port} ports. How many NICs can a fat tree of two layers connect at most, with full "
            "bisection bandwidth?",
            answer=two_level_capacity,
            exact=True,
            noun="NICs",
            given=[{"n_port": OLD.ports}, {"n_port": 128}],
            mistakes={
                "A leaf switch gives half of its ports to the cables upward.": n_port**2,
                "Nothing is above a spine switch, so all of its ports face down.": n_port**2 / 4,
            },
            solution=[
                (n_port / 2, "NICs below a leaf switch"),
                (n_port**2 / 2, "and a spine switch has a port for each of n_port leaf switches"),
            ],
        ),
        Question(
            "A leaf switch of {n_port} ports takes {n_down} cables from below and sends the rest up. What is its "
            "oversubscription, as a number to 1?",
            answer=oversubscription.where(n_up=n_port - n_down),
            given=[{"n_port": ndr.switch_ports, "n_down": 48}, {"n_port": ndr.switch_ports, "n_down": 40}],
            mistakes={
                "That compares with all ports.": n_port / (n_port - n_down),
                "That is the inverse: bandwidth up over bandwidth from below.": (n_port - n_down) / n_down,
            },
        ),
        Question(
            "Suppose Meta rebuilt the top layer of its Llama 3 cluster with an oversubscription of {r_over} to 1. What "
            "would the bisection bandwidth be, in one direction?",
            answer=tapered_bisection,
            given={"N": meta.ranks, "W": ndr.bw, "G_3": PODS, "r_over": 3},
            mistakes={
                "That is a network without oversubscription.": N * W / 2,
                "That counts both directions.": N * W / r_over,
                "That is what a single pod sends up.": N * W / (G_3 * r_over),
            },
            hint="The section on oversubscription has the number of GPUs; a NIC there has the bandwidth of an H100's.",
            solution=[(N * W / (2 * r_over), "the uplinks of half of the pods, which is the worst cut")],
        ),
        Question(
            "{N} GPUs with NICs of {W} are in {G_3} pods, whose uplinks are oversubscribed {r_over} to 1. Because the number of "
            "pods is odd, any half must split one of them. What is the bisection bandwidth in one direction?",
            answer=tapered_bisection_odd,
            given=[
                {"N": 3 * 3072, "W": ndr.bw, "G_3": 3, "r_over": TAPER},
                {"N": 5 * 3072, "W": ndr.bw, "G_3": 5, "r_over": TAPER},
            ],
            mistakes={
                "That cuts between whole pods, but with an odd number of pods no half consists of whole pods.": tapered_bisection.rhs,
                "Only the pod that is split has the full bandwidth inside it.": N * W / 2,
            },
            hint="The whole pods of a half cross at the top; half of one pod crosses inside it, at full bandwidth.",
            solution=[
                (N * W / G_3 / 2, "half of one pod, at full bandwidth"),
                (N * W / G_3 / 2 + (G_3 - 1) / 2 * N * W / (G_3 * r_over), "and the uplinks of the whole pods"),
            ],
            vary={G_3: (3, 5, 7)},
        ),
        Question(
            "A job runs on the GPUs of one scalable unit of the H100 pod and talks to no others. Someone removes all "
            "spine switches. How much slower does the job get?",
            choices=[
                (
                    "not at all",
                    "Its bytes turn around at the leaf switches. Bytes for a GPU of another rail first change rail over "
                    "NVLink.",
                    True,
                ),
                ("to half its speed", "No byte of this job has to pass a spine switch.", False),
                ("it stops", "Each leaf switch reaches all nodes of the unit, on one rail.", False),
            ],
        ),
        Question(
            "Two GPUs sit in different pods of a fat tree of three layers. Each switch adds {t_hop}. How much latency do "
            "the switches on the path between their NICs add together?",
            answer=wire_latency,
            given={"n_hop": 6, "t_hop": 250 * ns},
            mistakes={
                "There is one switch between any two consecutive links, so one fewer than links.": n_hop * t_hop,
                "Those are the switches below the top on the sender's side. Add the one at the top and those on the receiver's side.": (
                    n_hop - 2
                )
                / 2
                * t_hop,
                "That is one switch too few: a path of two links has one switch, and a path of four has three.": (
                    n_hop - 2
                )
                * t_hop,
            },
            hint="The table of hops counts the links.",
        ),
        Question(
            'Find the error. "The reference system has 1,024 nodes, or sometimes 127." Its leaf switches take {n_down} '
            "cables from below. How many nodes fit?",
            answer=n_down / n_nic,
            unit="1",
            exact=True,
            noun="nodes",
            given={"n_down": SLOTS, "n_nic": NEW.cables},
            mistakes={"Those are the GPUs.": 1 * n_down},
            hint="How many NICs does a node have?",
            solution=[(n_down / n_nic, "a cable per NIC")],
            remark="127 is right for NVIDIA's own design: the ports of one slot serve the machine that manages the "
            "network.",
        ),
        Question(
            'Find the error. "Between nodes, NVSwitch joins the GPUs directly and bypasses Ethernet." What joins the '
            "GPUs of two H100 nodes?",
            choices=[
                ("NVSwitch", "The NVSwitches of an H100 node connect its eight GPUs.", link("nvlink_4").node_gpus > 8),
                (
                    "NICs, and InfiniBand or Ethernet switches",
                    "The NICs read and write GPU memory themselves, so the host's CPU is bypassed, not the network.",
                    link("nvlink_4").node_gpus == 8,
                ),
                ("PCIe", "PCIe ends at the node, too.", False),
            ],
        ),
        Question(
            "Give the number of switches of a full fat tree of two layers for $N$ NICs, from $N$ and the ports "
            "$n_\\mathrm{port}$ of a switch.",
            answer=3 * N / n_port,
            unit="1",
            symbols=(N, n_port),
            mistakes={
                "Those are the leaf switches.": 2 * N / n_port,
                "Those are the spine switches.": N / n_port,
                "Spine switches need no ports upward.": 4 * N / n_port,
            },
            solution=[
                (leaf_switches.rhs.subs(n_down, N), "leaf switches: half of the ports face down"),
                (top_switches.rhs.subs(n_down, N), "spine switches: all ports face down"),
                (3 * N / n_port, "together"),
            ],
        ),
        Question(
            "You may double the rate of the NICs of Meta's Llama 3 cluster, or remove the oversubscription at its top. "
            "A job exchanges data evenly between all GPUs. Which change helps it more?",
            given={"N": meta.ranks, "W": ndr.bw, "r_over": TAPER},
            pick="largest",
            choices=[
                (
                    "NICs twice as fast, the top as it is",
                    "Faster NICs only widen the path to the cut at the top, which stays as it is.",
                    N * W / (2 * r_over),
                ),
                (
                    "a full top layer, the NICs as they are",
                    "The narrowest cut is at the top, so widen it there.",
                    N * W / 2,
                ),
            ],
        ),
        Question(
            f"A DGX B200 has NICs of {ndr.bw / Gbit:.0f} Gbit/s, and NVLink of {show(b200.nvlink_bw, 'B/s')} per GPU and "
            "direction. How many times as fast as the NIC is NVLink?",
            predict=True,
            given={"W_nvl": b200.nvlink_bw, "W_nic": ndr.bw},
            choices=[
                ("2.25 times", "That compares bytes with bits.", W_nvl / W_nic < 3),
                (
                    "18 times",
                    "A byte has eight bits, so the NIC carries an eighth of its rating in bytes.",
                    Eq(W_nvl, 18 * W_nic),
                ),
                ("144 times", "Multiplying by eight goes the wrong way.", W_nvl / W_nic > 50),
            ],
            solution=f"18 times. {ndr.bw / Gbit:.0f} Gbit/s are {show(ndr.bw, 'B/s')}, because a byte has eight bits.",
        ),
        Question(
            f"A network for {FULL:,.0f} GPUs has {2 * FULL / ndr.switch_ports:.0f} leaf switches of {ndr.switch_ports} "
            f"ports, which send {FULL:,.0f} cables up. Nothing is above the spine switches. How many spine switches of "
            "the same kind does it need?",
            predict=True,
            answer=top_switches,
            exact=True,
            noun="spine switches",
            given={"n_down": FULL, "n_port": ndr.switch_ports},
            mistakes={"A spine switch needs no ports upward.": 2 * n_down / n_port},
            solution=f"{top_switches(n_down=FULL, n_port=ndr.switch_ports):.0f}, half as many as there are leaf switches: "
            f"all {ndr.switch_ports} ports of a spine switch face down.",
        ),
        Question(
            f"A scheduler gives your job {pod.nodes // 2} of the pod's {pod.nodes} nodes, picked at random. How much can "
            "they send to the other nodes at once, compared with two whole scalable units?",
            predict=True,
            choices=[
                (
                    "less",
                    "Their units' uplinks have room for all NICs below them, whichever half these belong to.",
                    False,
                ),
                ("the same", "There are enough cables for all of their NICs.", True),
                ("more", "A half can send no more than its NICs.", False),
            ],
            solution=f"The same, {show(bisection(N=pod.ranks, W=ndr.bw), 'B/s')}: the full rate of the NICs on one "
            "side. The argument below shows that no choice of nodes does worse.",
        ),
        Question(
            f"A full network for {FULL:,.0f} GPUs has its spine switches at the top. One for {2 * FULL:,.0f} GPUs needs a "
            "third layer above them. How many times as many spine switches does the larger network have?",
            predict=True,
            given={"N": FULL, "n_port": ndr.switch_ports},
            choices=[
                ("2 times", "The spine switches now need ports upward as well.", Eq(MORE, 2)),
                ("4 times", "Twice the cables, and half of the ports face up.", Eq(MORE, 4)),
                ("8 times", "There are only two factors of two: twice the cables, and half of the ports.", Eq(MORE, 8)),
            ],
            solution="4 times. There are twice as many cables from below, and only half of the ports of a spine switch "
            "are left for them.",
        ),
        Question(
            f"Meta's Llama 3 cluster has pods of {meta.tiers[-1].child_gpus:,} GPUs, each with full bisection bandwidth; "
            f"the uplinks of a pod are oversubscribed {TAPER} to 1. Your job needs 2,048 GPUs of one pod. What bandwidth "
            "does each GPU have to the others?",
            predict=True,
            given={"N": 2048, "n_unit": meta.tiers[-1].child_gpus},
            choices=[
                ("the full rate of its NIC", "Its bytes never reach the oversubscribed layer.", N <= n_unit),
                ("a seventh of it", "Only bytes that leave the pod pass the oversubscribed layer.", N > n_unit),
                ("something between the two", "No byte of this job leaves the pod.", False),
            ],
            solution=f"The full rate, {show(ndr.bw, 'B/s')}. An oversubscribed layer takes nothing from a job whose bytes "
            "stay below it.",
        ),
    ],
)
