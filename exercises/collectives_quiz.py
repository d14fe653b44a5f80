"""Quiz 4: collectives. Five questions, every part, after the quiz of "How to Scale Your Model", errors corrected."""

from gpuscale_exercises._collectives_levels import (
    ARRAY,
    HALF,
    LAYER,
    NICS,
    NODE,
    NVLINK,
    ONE_UNIT,
    UNIT,
    lacking,
    own,
    remote,
    spine,
    two_nodes,
)

from gpuscale import show
from gpuscale.collectives import hierarchy, in_network
from gpuscale.quiz import Question, QuestionSet, both_directions
from gpuscale.symbols import D, F, G, M, N, V, W_node, W_nvl, X, Y, b, n_unit

node_level = [
    Question(
        heading="1. An all-gather over one scalable unit",
        ask="{N} GPUs in nodes of {n_unit} all-gather an array of {V}. Suppose that everything a GPU receives goes "
        "through the NVSwitches of its node. How many bytes do the GPUs of one node send into its NVSwitches?",
        answer=own,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={"That is the shard of one GPU.": V / N, "That is the part that comes from the other nodes.": remote},
        hint="A node holds the shards of its own GPUs, and each of them enters the switches once.",
        vary={n_unit: (4, 8)},
    ),
    Question(
        "{N} GPUs in nodes of {n_unit} all-gather {V}. How many bytes enter the NVSwitches of a node from the other nodes?",
        answer=remote,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={
            "The node's own shards do not come from other nodes.": V,
            "The switches make the copies: a byte arrives once, not once per GPU.": n_unit * remote,
        },
        hint="That is everything the node does not hold yet.",
        vary={n_unit: (4, 8)},
    ),
    Question(
        "{N} GPUs in nodes of {n_unit} all-gather {V}. How many bytes do the NVSwitches of a node send to its GPUs?",
        answer=n_unit * lacking,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={
            "Each GPU holds its own shard already.": n_unit * V,
            "The shards of the other GPUs in the node come through the switches as well.": n_unit * remote,
            "That is one GPU.": lacking,
        },
        hint="Each GPU receives all shards but its own.",
        vary={n_unit: (4, 8)},
    ),
    Question(
        "{N} GPUs in nodes of {n_unit} all-gather {V}. How many bytes leave the NVSwitches of a node in all, to its GPUs and "
        "to the other nodes?",
        answer=hierarchy.unit_switch_out,
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={"The node's own shards also go to the other nodes.": n_unit * lacking},
        hint="Add the node's own shards, which go to the other nodes once, to your answer above.",
        remark="That is as much as if every GPU of the node had received the whole array.",
        vary={n_unit: (4, 8)},
    ),
    Question(
        "How long does the node level of an all-gather of {V} over {N} H100s take, if every byte from other nodes comes "
        "through NVLink as well?",
        answer=lacking / W_nvl,
        unit="s",
        given=ARRAY | {"N": NODE * UNIT, "W_nvl": NVLINK},
        tolerance=0.002,
        mistakes={
            "A GPU holds its own shard already.": V / W_nvl,
            "That leaves out the bytes from other nodes.": V * (NODE - 1) / (NODE * W_nvl),
            **both_directions(W_nvl),
        },
        hint="All GPUs of the node receive at the same time, each at its own NVLink bandwidth in one direction.",
    ),
    Question(
        "In most pods each NIC is attached to one GPU, and NVLink carries only what the {G} GPUs of a node send to each "
        "other. How long does the node level of an all-gather of {V} take then?",
        answer=V * (G - 1) / (G * W_nvl),
        unit="s",
        given=ARRAY | {"G": NODE, "W_nvl": NVLINK},
        tolerance=0.01,
        mistakes={
            "The GPU's own NIC delivers an eighth of the array.": V / W_nvl,
            "That is the part that the GPU's own NIC delivers.": V / (G * W_nvl),
            **both_directions(W_nvl),
        },
        hint="An eighth of the array reaches a GPU through its own NIC; the rest comes over NVLink.",
        vary={G: ()},
    ),
    Question(
        r"Find the error. The published answer writes the time of the node level as $B N/W_\mathrm{node}$ and then as $B$ "
        f"over {show(NVLINK, 'B/s')}. Elsewhere in the scaling book "
        rf"$W_\mathrm{{node}}$ is {show(NICS, 'B/s')}, the bandwidth of a node's NICs. "
        "Which bandwidth does the formula need?",
        choices=[
            ("the bandwidth of all NICs of a node", "Those bytes go over NVLink, not through the NICs.", False),
            (
                "the NVLink bandwidth of all GPUs of the node, N times that of one",
                "The N cancels, and the bandwidth of one GPU remains.",
                True,
            ),
            ("the bandwidth of one NVSwitch", "A GPU is connected to all NVSwitches of its node.", False),
        ],
    ),
]

leaf_level = [
    Question(
        "Now take the leaf switches of the unit, which the source calls spine. How many bytes do they send to the {M} "
        "nodes of the unit in an all-gather of {V}?",
        answer=V * (M - 1),
        unit="B",
        tolerance=0.01,
        given=ARRAY | {"M": UNIT},
        mistakes={"Each node holds its own shards already.": V * M, "That is for one node.": V * (1 - 1 / M)},
        hint="Each node receives everything except its own shards.",
        remark="They receive the array once, one part from each node.",
    ),
    Question(
        "How long does the leaf level of an all-gather of {V} over {M} nodes of H100s take?",
        answer=V * (M - 1) / (M * W_node),
        unit="s",
        given=ARRAY | {"M": UNIT, "W_node": NICS},
        tolerance=0.01,
        mistakes={
            "Each node holds its own shards already.": V / W_node,
            "That is one NIC; a node has eight.": V * (M - 1) / (M * W_node) * NODE,
            **both_directions(W_node),
        },
        hint="Divide the bytes that one node receives by the bandwidth of its eight NICs, in one direction.",
    ),
    Question(
        "Which level is the bottleneck of this all-gather over {M} nodes of H100s?",
        given={"G": NODE, "M": UNIT, "W_nvl": NVLINK, "W_node": NICS},
        pick="largest",
        choices=[
            ("the node level", "The leaf level takes longer: compare your two times.", (G - 1) / (G * W_nvl)),
            ("the leaf level", "It takes longer than the node level.", (M - 1) / (M * W_node)),
        ],
    ),
]

SWITCH = ARRAY | {"N": NODE}
in_switch = [
    Question(
        heading="2. In-network reduction in a node",
        ask="The {N} GPUs of a node all-reduce an array of {V}, and each owns one chunk of it. The NVSwitches do the "
        "reduction. First a GPU sends the chunks that others own, and receives the sum of its own chunk. Then it sends "
        "that sum and receives the others. How many bytes enter the switches in all?",
        answer=in_network.switch_in,
        given=SWITCH,
        tolerance=0.01,
        mistakes={
            "That is one GPU.": V,
            "That is the first half; the sums enter the switches as well.": V * (N - 1),
            "Here a GPU adds its own copy of its own chunk itself.": V * (N + 1),
            "That is a ring; here each sum is sent once.": 2 * V * (N - 1),
        },
        hint="Add up what one GPU sends in the two steps, then multiply by the GPUs.",
        vary={N: (4, 8)},
    ),
    Question(
        "How many bytes leave the switches in all, when {N} GPUs all-reduce {V} in this way?",
        answer=in_network.switch_out,
        given=SWITCH,
        tolerance=0.01,
        mistakes={
            "That is one GPU.": V,
            "Each GPU first receives the sum of its own chunk; that counts as well.": V * (N - 1),
            "Here a GPU receives the sum of its own chunk once.": V * (N + 1),
        },
        hint="Add up what one GPU receives in the two steps, then multiply by the GPUs.",
        remark="As many bytes leave as enter: the reduction removes bytes, and the multicast adds as many.",
        vary={N: (4, 8)},
    ),
    Question(
        "How long does such an all-reduce of {V} take on the {N} GPUs of an H100 node?",
        answer=V / W_nvl,
        unit="s",
        given=SWITCH | {"W_nvl": NVLINK},
        tolerance=0.01,
        mistakes={
            "That is a ring.": 2 * V * (N - 1) / (N * W_nvl),
            "Each direction carries the array once, and both run at the same time.": 2 * V / W_nvl,
            "That is with the switch reading the owner's copy as well.": V * (N + 1) / (N * W_nvl),
            **both_directions(W_nvl),
        },
        hint="Divide the bytes that one GPU sends by its NVLink bandwidth in one direction.",
    ),
    Question(
        "How many times as fast is it as a ring all-reduce over {N} GPUs, at best?",
        answer=in_network.nvls_gain,
        given={"N": NODE},
        tolerance=0.01,
        mistakes={
            "That is the limit for many GPUs.": (in_network.nvls_gain, {"N": 10**9}),
            "That is with the switch reading the owner's copy as well.": in_network.nvls_gain_self,
        },
        hint="Compare the bytes sent per GPU: in a ring, and here.",
    ),
]

IN_NODE = LAYER | {"Y": 2}
second_axis = [
    Question(
        heading="3. An all-reduce with a second axis",
        ask="An array bf16[{D} × {F}] is sharded along F over Y = {Y} GPUs. For each shard, X = {X} GPUs of the same node "
        "hold partial sums, which the switches reduce over X. How many bytes does a GPU send?",
        answer=in_network.nvls_bytes.where(V=b * D * F / Y, N=X).rhs,
        unit="B",
        given=IN_NODE | {"X": 4},
        tolerance=0.01,
        mistakes={
            "A GPU holds only one of the Y shards.": b * D * F,
            "A bf16 element has two bytes.": D * F / Y,
            "That is a ring over X.": 2 * b * D * F / Y * (X - 1) / X,
            "It sends the sum of its own chunk as well as the chunks of the others.": b * D * F / Y * (X - 1) / X,
        },
        vary={X: (), Y: ()},
    ),
    Question(
        "How long does that all-reduce of bf16[{D} × {F}] with Y = {Y} take in an H100 node?",
        answer=b * D * F / (Y * W_nvl),
        unit="s",
        given=IN_NODE | {"W_nvl": NVLINK},
        tolerance=0.01,
        mistakes={
            "A GPU holds only one of the Y shards.": b * D * F / W_nvl,
            HALF: D * F / (Y * W_nvl),
        },
        hint="Divide the bytes that one GPU sends by its NVLink bandwidth in one direction.",
        vary={Y: (2, 4)},
    ),
    Question(
        "Now X spans several nodes, and the leaf switches reduce as well. How many bytes does a node send to the leaf "
        "switches for bf16[{D} × {F}], if Y = {Y} stays inside the node?",
        answer=b * D * F,
        unit="B",
        given=IN_NODE,
        tolerance=0.01,
        mistakes={
            "The node holds all Y shards, and each has to be reduced.": b * D * F / Y,
            "The NVSwitches reduce first: one sum per shard leaves the node.": b * D * F * NODE / Y,
            "A GPU holds one of the Y shards, and the NVSwitches reduce first.": b * D * F * NODE,
        },
        remark="An inner axis that fits in a node saves no traffic beyond the node.",
        vary={Y: (2, 4, 8)},
    ),
    Question(
        "How long does that all-reduce of bf16[{D} × {F}], with Y = {Y} inside the node, take between H100 nodes if the "
        "leaf switches do the reduction?",
        answer=b * D * F / W_node,
        unit="s",
        given=IN_NODE | {"W_node": NICS},
        tolerance=0.01,
        mistakes={
            "The node holds all Y shards, and each has to be reduced.": b * D * F / (Y * W_node),
            "A node sends and receives at the same time.": 2 * b * D * F / W_node,
        },
        hint="Divide the bytes that a node sends by the bandwidth of its eight NICs, in one direction.",
        vary={Y: (2, 4, 8)},
    ),
]

questions = QuestionSet(
    "collectives_quiz",
    "Quiz 4: collectives",
    intro="The quiz of the GPU chapter of *How to Scale Your Model* on collectives: five questions in several parts. Where "
    "the source has an error, the answer here is corrected. Bandwidths are in one direction. The questions "
    "cover [In-network reduction](../chapters/in_network_reduction.ipynb) and [Across the hierarchy]"
    "(../chapters/across_the_hierarchy.ipynb).",
    questions=[*node_level, *leaf_level, *in_switch, *second_axis, *spine, *two_nodes],
)
