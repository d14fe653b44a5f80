"""Practice questions on the network between nodes."""

from gpuscale import chip, link
from gpuscale.network import (
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
from gpuscale.symbols import D_3, N, S_top, W, W_nic, W_ref, n_down, n_hop, n_nic, n_port, r_over, t_hop
from gpuscale.units import ns

h100, b200, gb200, ndr, hdr = chip("h100_sxm"), chip("b200_sxm"), chip("gb200"), link("ib_ndr"), link("ib_hdr")
a100_su, su, pod, meta = (topology(k) for k in ("a100_su", "h100_su", "h100_pod_1024", "llama3_24k"))
OLD, NEW = a100_su.at("Leaf"), su.at("Leaf")
SLOTS = pod.tiers[1].cables_total  # cables that the pod's leaves can take from below
TAPER = published("llama3_24k").oversubscription
PODS = meta.tiers[-1].degree

questions = QuestionSet(
    "beyond_the_node",
    "Beyond the node",
    intro="NICs, leaves, spines, cuts and hops. Bandwidths are one direction.",
    chapter="beyond_the_node",
    questions=[
        Question(
            "A node, or a rack, has {n_nic} NICs of {W_nic} each. What can it send into the network?",
            answer=node_egress,
            given=[
                {"n_nic": OLD.cables, "W_nic": hdr.bw},
                {"n_nic": NEW.cables, "W_nic": ndr.bw},
                {"n_nic": topology("gb200_superpod_576").at(2).cables, "W_nic": ndr.bw},
            ],
            mistakes={"That is one NIC.": 1 * W_nic, **bits_for_bytes(W_nic), **both_directions(W_nic)},
        ),
        Question(
            "A GPU sends {W_ref} to a GPU of its own node and {W} to one outside. How many times slower is it outside?",
            answer=bandwidth_ratio,
            noun="times",
            given=[{"W_ref": c.nvlink_bw, "W": c.nic_bw} for c in (h100, b200)],
            mistakes={
                "That is the share that is left.": W / W_ref,
                "That counts NVLink in both directions and the NIC in one.": 2 * W_ref / W,
            },
        ),
        Question(
            "{n_down} cables come from below, the switches have {n_port} ports, and nothing is to be lost on the way "
            "up. "
            "How many leaves does it take?",
            answer=leaf_switches,
            exact=True,
            noun="leaves",
            given=[
                {"n_down": OLD.ports_down, "n_port": OLD.ports},
                {"n_down": NEW.ports_down, "n_port": NEW.ports},
            ],
            mistakes={"Half of the ports of a leaf must face up.": n_down / n_port},
        ),
        Question(
            "Two layers of switches with {n_port} ports, full bandwidth between any two halves. How many NICs "
            "can be "
            "plugged in at most?",
            answer=two_level_capacity,
            exact=True,
            noun="NICs",
            given=[{"n_port": OLD.ports}, {"n_port": 128}],
            mistakes={
                "A leaf gives half of its ports to the way up.": n_port**2,
                "Nothing is above a spine, so all of its ports face down.": n_port**2 / 4,
            },
            solution=[
                (n_port / 2, "NICs below a leaf"),
                (n_port**2 / 2, "and a spine has a port for each of n_port leaves"),
            ],
        ),
        Question(
            "A leaf of {n_port} ports takes {n_down} cables from below and turns the rest up. How much narrower is "
            "the way "
            "up than the way in, as a factor?",
            answer=oversubscription.where(n_up=n_port - n_down),
            given=[{"n_port": ndr.switch_ports, "n_down": 48}, {"n_port": ndr.switch_ports, "n_down": 40}],
            mistakes={
                "That compares with all ports.": n_port / (n_port - n_down),
                "That is the taper, its inverse.": (n_port - n_down) / n_down,
            },
        ),
        Question(
            "{S_top} GPUs with NICs of {W} stand in {D_3} pods. Each pod's way up is oversubscribed {r_over} to 1. "
            "What is "
            "the bisection bandwidth in one direction?",
            answer=tapered_bisection,
            given={"S_top": meta.ranks, "W": ndr.bw, "D_3": PODS, "r_over": TAPER},
            mistakes={
                "That is a network without oversubscription.": S_top * W / 2,
                "That counts both directions.": S_top * W / r_over,
                "That is what a single pod sends up.": S_top * W / (D_3 * r_over),
            },
            solution=[(S_top * W / (2 * r_over), "the ways up of half of the pods, which is the worst cut")],
        ),
        Question(
            "With an odd number of pods, a half must cut one pod in its middle. {S_top} GPUs with NICs of {W} in "
            "{D_3} "
            "pods, oversubscribed {r_over} to 1: what is the bisection bandwidth in one direction?",
            answer=tapered_bisection_odd,
            given=[
                {"S_top": 3 * 3072, "W": ndr.bw, "D_3": 3, "r_over": TAPER},
                {"S_top": 5 * 3072, "W": ndr.bw, "D_3": 5, "r_over": TAPER},
            ],
            mistakes={
                "That cuts only whole pods; with an odd number it comes out uneven.": tapered_bisection.rhs,
                "Only the pod that is cut in its middle has the full bandwidth there.": S_top * W / 2,
            },
            hint="The whole pods of a half cross at the top; half of one pod crosses inside it, at full bandwidth.",
            solution=[
                (S_top * W / D_3 / 2, "half of one pod, at full bandwidth"),
                (S_top * W / D_3 / 2 + (D_3 - 1) / 2 * S_top * W / (D_3 * r_over), "and the ways up of the whole pods"),
            ],
        ),
        Question(
            "A job trains on the GPUs of one scalable unit of the H100 pod and talks to nobody else. The spines are "
            "taken "
            "away. How much slower does it get?",
            choices=[
                (
                    "not at all",
                    "Its bytes turn round at the leaves. Between GPUs of different rails they first change rail over "
                    "NVLink: place jobs so that they stay low.",
                    True,
                ),
                ("to half", "No byte of such a job has to pass a spine.", False),
                ("it stops", "Each leaf reaches all nodes of the unit, over one rail.", False),
            ],
        ),
        Question(
            "Two GPUs are {n_hop} links apart: NIC to leaf, leaf to spine, and so on, down to the other NIC. Every "
            "switch "
            "takes {t_hop}. How long do the switches take together?",
            answer=wire_latency,
            given=[{"n_hop": 4, "t_hop": 250 * ns}, {"n_hop": 6, "t_hop": 250 * ns}],
            mistakes={
                "Between so many links there is one switch fewer.": n_hop * t_hop,
                "Those are the switches of one way, without the one at the top.": (n_hop - 2) / 2 * t_hop,
                "That is one switch too few: two links are joined by one, four by three.": (n_hop - 2) * t_hop,
            },
        ),
        Question(
            'Find the error. "The reference system has 1,024 nodes, or sometimes 127." Its leaves take {n_down} '
            "cables from "
            "below, and a node has {n_nic} NICs. How many nodes fit?",
            answer=n_down / n_nic,
            unit="1",
            exact=True,
            noun="nodes",
            given={"n_down": SLOTS, "n_nic": NEW.cables},
            mistakes={"Those are the GPUs.": 1 * n_down},
            solution=[(n_down / n_nic, "a cable for each NIC")],
            remark="127 is right for NVIDIA's own design: one slot's ports serve the machine that manages the network.",
        ),
        Question(
            'Find the error. "Between nodes, NVSwitch joins the GPUs directly and bypasses Ethernet." What joins the '
            "GPUs of "
            "two H100 nodes?",
            choices=[
                ("NVSwitch", "Those of an H100 node end at its eight GPUs.", link("nvlink_4").node_gpus > 8),
                (
                    "NICs, and InfiniBand or Ethernet switches",
                    "The NICs read and write GPU memory themselves, so the host's CPU is bypassed, not the network.",
                    link("nvlink_4").node_gpus == 8,
                ),
                ("PCIe", "It ends at the node too.", False),
            ],
        ),
        Question(
            "Give the number of switches of a full fat tree of two levels for $N$ NICs, from $N$ and the ports "
            "$n_\\mathrm{port}$ of a switch.",
            answer=3 * N / n_port,
            unit="1",
            symbols=(N, n_port),
            mistakes={
                "Those are the leaves.": 2 * N / n_port,
                "Those are the spines.": N / n_port,
                "Spines need no ports upwards.": 4 * N / n_port,
            },
            solution=[
                (leaf_switches.rhs.subs(n_down, N), "leaves: half of the ports down"),
                (top_switches.rhs.subs(n_down, N), "spines: all ports down"),
                (3 * N / n_port, "together"),
            ],
        ),
        Question(
            "A cluster of {S_top} GPUs has NICs of {W}. You may double the NICs' rate, or remove an "
            "oversubscription of "
            "{r_over} to 1 at the top. A job exchanges data evenly between all GPUs. Which brings more?",
            given={"S_top": meta.ranks, "W": ndr.bw, "r_over": TAPER},
            pick="largest",
            choices=[
                (
                    "NICs twice as fast, the top as it is",
                    "The cut at the top stays as it is; faster NICs only widen the way to it.",
                    S_top * W / (2 * r_over),
                ),
                (
                    "a full top, the NICs as they are",
                    "The narrowest cut is at the top, so widen it there.",
                    S_top * W / 2,
                ),
            ],
        ),
    ],
)
