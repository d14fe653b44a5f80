"""Practice questions on collectives that cross several levels of a network."""

from sympy import Max

from gpuscale import chip
from gpuscale.collectives import hierarchy
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import D_1, D_2, D_3, W_1, W_2, M, S_child, S_top, S_unit, V, Y, alpha, indexed
from gpuscale.units import GB, MB, us

h100, b200 = chip("h100_sxm"), chip("b200_sxm")
NODE, UNIT, UNITS, NICS = 8, 32, 4, 8
ALPHAS = [indexed(alpha, i) for i in (1, 2, 3)]
H100 = {"W_1": h100.nvlink_bw, "W_2": NICS * h100.nic_bw}
B200 = {"W_1": b200.nvlink_bw, "W_2": NICS * b200.nic_bw}
RACKS = {"W_1": chip("gb200").nvlink_bw, "W_2": 72 * chip("gb200").nic_bw}
nvlink, nics = (D_1 - 1) / (D_1 * W_1), (M - 1) / (M * W_2)
equal_nodes = D_1 * W_1 / (D_1 * W_1 - (D_1 - 1) * W_2)
printed = W_2 * S_child * D_2 / (D_2 - 1)
starts = sum((d - 1) * a for d, a in zip((D_1, D_2, D_3), ALPHAS, strict=True))
into_node = V * 8 / Y * (1 - Y / S_top) / W_2

levels = [
    Question(
        "An all-gather joins {D_2} nodes of one scalable unit. The NICs of a node take in {W_2}, one way. "
        "Which bandwidth does the all-gather see at this level?",
        answer=hierarchy.leaf_bandwidth,
        given=[{"D_2": 4, "W_2": H100["W_2"]}, {"D_2": 8, "W_2": H100["W_2"]}],
        mistakes={
            "A node holds its own part already and needs only the rest.": W_2,
            "That is the wrong way round: fewer bytes to move look like more bandwidth.": W_2 * (D_2 - 1) / D_2,
            **both_directions(W_2),
        },
    ),
    Question(
        "{M} nodes of {D_1} H100 share an array: {W_1} for each GPU over NVLink, {W_2} for each node through its "
        "NICs, which feed the GPUs directly. Which link sets the time of an all-gather?",
        given=[{"M": 2, "D_1": NODE, **H100}, {"M": 16, "D_1": NODE, **H100}],
        choices=[
            (
                "NVLink",
                "Compare what each GPU takes from its neighbours with what its node takes from outside.",
                nvlink > nics,
            ),
            (
                "the NICs",
                "Compare what a node takes from outside with what each GPU takes from its neighbours.",
                nvlink < nics,
            ),
            ("the spine", "These nodes sit under the same leaf switches.", False),
        ],
    ),
    Question(
        "How long does an all-gather of {V} take over two nodes of {D_1} B200, if NVLink and NICs work at the same "
        "time ({W_1} for each GPU, {W_2} for each node)?",
        answer=V * Max(nvlink, nics).subs(M, 2),
        given=[{"V": 1 * GB, "D_1": NODE, **B200}, {"V": 400 * MB, "D_1": NODE, **B200}],
        unit="s",
        mistakes={
            "Half of the array is in the node from the start.": V / W_2,
            "That is the whole array over NVLink: a GPU gets an eighth of it from its NIC, and the NICs take "
            "longer "
            "here.": V / W_1,
            "That is NVLink, which has time to spare here.": V * nvlink,
            "That is one level after the other; here both work at once.": V * (nvlink + nics.subs(M, 2)),
        },
        remark="On two nodes of H100 it is NVLink that binds: a B200 has twice the NVLink and the same NICs.",
    ),
    Question(
        "An all-gather runs over nodes of $D_1$ GPUs, with $W_1$ for each GPU over NVLink and $W_2$ for each node "
        "through its NICs, which feed the GPUs directly. At which number of nodes do NVLink and the NICs take "
        "equally "
        "long? Give it as a formula. (Type D_1, W_1, W_2.)",
        answer=equal_nodes,
        unit="1",
        symbols=(D_1, W_1, W_2),
        mistakes={
            "That leaves out the share that each GPU holds already.": W_1 / (W_1 - W_2),
            "That is the ratio of the bandwidths; both levels also save the part already held.": W_1 / W_2,
        },
        solution="Set (D_1 − 1)/(D_1 W_1) equal to (M − 1)/(M W_2) and solve for M.",
        remark="On nodes of eight H100 it lies between four and five.",
    ),
]

links = [
    Question(
        "An all-gather runs over $S_\\mathrm{top}$ GPUs. How many bytes enter a part of the network with "
        "$S_\\mathrm{child}$ GPUs through its uplink? (Type S_child, S_top; the $S_\\mathrm{unit}$ GPUs of the unit "
        "between may or may not matter.)",
        answer=V * (1 - S_child / S_top),
        unit="B",
        symbols=(V, S_child, S_unit, S_top),
        mistakes={
            "That counts the siblings below one switch; bytes from farther away use the same uplink.": V
            * (1 - S_child / S_unit),
            "The part holds some of the array already.": V,
            "That is what it holds; ask for what it lacks.": V * S_child / S_top,
            "It holds as many shards as it has GPUs, not one.": V * (1 - 1 / S_top),
        },
    ),
    Question(
        "How fast is an all-gather over {M} nodes, in scalable units of {D_2}, at the NICs of a node ({W_2})? Give "
        "the exact bandwidth.",
        answer=W_2 * M / (M - 1),
        given={"M": 2 * UNIT, "D_2": UNIT, "W_2": H100["W_2"]},
        unit="B/s",
        tolerance=0.005,
        mistakes={
            "That counts the other nodes of the unit only; the other unit's bytes come through the same NICs.": W_2
            * D_2
            / (D_2 - 1),
            "A node holds its own part already.": W_2,
        },
    ),
    Question(
        "Without any overlap between the levels, which bandwidth does an all-gather over two nodes of {D_1} H100 see "
        "({W_1} for each GPU, {W_2} for each node)?",
        answer=1 / (nvlink + nics.subs(M, 2)),
        given={"D_1": NODE, **H100},
        unit="B/s",
        mistakes={
            "That is with perfect overlap.": 1 / nvlink,
            "The bytes that are already there cost nothing.": 1 / (1 / W_1 + 1 / W_2),
        },
    ),
    Question(
        "Racks of {D_1} GB200 are joined by NICs of {W_2} for each rack; each GPU has {W_1} over NVLink. Which link "
        "binds an all-gather over {M} racks?",
        given=[{"D_1": 72, "M": 4, **RACKS}, {"D_1": 72, "M": 8, **RACKS}],
        choices=[
            ("NVLink", "All NICs of a rack together are four times as fast as one GPU's NVLink.", nvlink > nics),
            ("the NICs", "One way into the rack: the NICs of all its GPUs add up.", nvlink < nics),
        ],
    ),
    Question(
        "Rings run on one level after another: over {D_1} GPUs in each node, {D_2} nodes of a unit and {D_3} "
        "units. A "
        "step takes {alpha_1} to start inside a node, {alpha_2} between nodes and {alpha_3} between units. How long "
        "does an all-gather of a few bytes take?",
        answer=starts,
        given={"D_1": NODE, "D_2": UNIT, "D_3": UNITS, "alpha_1": 2 * us, "alpha_2": 6 * us, "alpha_3": 8 * us},
        unit="s",
        tolerance=0.01,
        mistakes={
            "A ring of D ranks has D \u2212 1 steps.": starts + sum(ALPHAS),
            "That is one ring through all ranks.": (D_1 - 1) * D_2 * D_3 * ALPHAS[0]
            + (D_2 - 1) * D_3 * ALPHAS[1]
            + (D_3 - 1) * ALPHAS[2],
            "That is one ring through all ranks, each step as slow as the network.": (D_1 * D_2 * D_3 - 1) * ALPHAS[1],
            "That is one ring through all ranks, each step as slow as the slowest.": (D_1 * D_2 * D_3 - 1) * ALPHAS[2],
            "That is one step of each level.": sum(ALPHAS),
        },
        remark="One ring through all ranks would need 25 times as many steps.",
    ),
]

sharded = [
    Question(
        "In a unit of {S_top} H100 an array of {V} is sharded over X and, inside, over Y = {Y} neighbouring "
        "GPUs. How "
        "long does an all-gather over X take, if the NICs bind ({W_2} for each node of eight)?",
        answer=into_node,
        given=[{"V": 512 * MB, "S_top": 256, "Y": y, "W_2": H100["W_2"]} for y in (32, 64, 128)],
        unit="s",
        tolerance=0.01,
        mistakes={
            "The group of X holds a share of each piece already: 1 \u2212 Y/S_top is missing.": V * 8 / Y / W_2,
            "That takes the factor of all the nodes; the group of X has fewer members.": V * 8 / Y * 31 / 32 / W_2,
            "The node needs only some of the shards of Y: eight of them.": V * (1 - Y / S_top) / W_2,
        },
    ),
    Question(
        "The inner axis grows from Y = 1 to Y = 8, which fills a node. What happens to an all-gather over X across "
        "many nodes?",
        choices=[
            (
                "It takes as long as before.",
                "Every node still needs all shards of Y, and the NICs bring them. NVLink is relieved, but it was not "
                "what bound.",
                True,
            ),
            ("It gets eight times faster.", "Count what a node needs, not what a GPU needs.", False),
            ("It gets slower.", "No link carries more than before.", False),
        ],
    ),
    Question(
        "Find the error. A published rule gives a level the time V (D \u2212 1) / (D max(Y, S) W), with S the GPUs "
        "below a child and W the bandwidth of the link above that child. Put Y = 1 at the leaf level: {D_2} nodes, "
        "{S_child} GPUs below each, {W_2} for each node. Which bandwidth does the rule promise?",
        answer=printed,
        given={"D_2": UNIT, "S_child": NODE, "W_2": H100["W_2"]},
        unit="B/s",
        tolerance=0.01,
        mistakes={
            "That is what a node can take in; the rule as printed says otherwise.": W_2 * D_2 / (D_2 - 1),
            "Keep the factor (D \u2212 1)/D of the rule.": W_2 * S_child,
        },
        remark="No node can take in that much. The rule lacks a factor S in its numerator.",
    ),
    Question(
        "What stands in $\\{U_X\\}$ after the shape of an array?",
        choices=[
            ("Each rank of X holds a partial sum.", "Unreduced: the sum over X is still to be taken.", True),
            ("Each rank of X holds the whole array.", "Then there would be nothing to reduce.", False),
            ("Each rank of X holds one slice.", "A slice is written as a subscript of the dimension.", False),
        ],
    ),
    Question(
        "An all-reduce of {V} crosses {D_2} nodes of a unit ({W_2} for each node), and the NICs bind. The leaf "
        "switches do the sums: each node sends the array up once and receives it once, at the same time. How long?",
        answer=V / W_2,
        given={"V": 512 * MB, "D_2": UNIT, "W_2": H100["W_2"]},
        unit="s",
        tolerance=0.01,
        mistakes={
            "That is a reduce-scatter and an all-gather among the nodes; here the switches add.": 2
            * V
            * (D_2 - 1)
            / (D_2 * W_2),
            "Up and down run at the same time: the links carry both directions at once.": 2 * V / W_2,
            "That is one all-gather: a node sends its whole partial sum up.": V * (D_2 - 1) / (D_2 * W_2),
        },
    ),
]

questions = QuestionSet(
    "across_the_hierarchy",
    "Across the hierarchy",
    intro="Questions on collectives that cross NVLink, NICs and spine switches: which link binds, what "
    "overlap is worth, what a second axis saves.",
    chapter="across_the_hierarchy",
    questions=[*levels, *links, *sharded],
)
