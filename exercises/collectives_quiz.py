"""Quiz 4: collectives. Five questions, every part, after the quiz of "How to Scale Your Model", slips put right."""

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
from gpuscale.symbols import D_1, D_2, W_1, W_2, D, F, N, S_top, S_unit, V, X, Y, b

node_level = [
    Question(
        heading="1. An all-gather over one scalable unit",
        ask="{S_top} GPUs in nodes of {S_unit} gather an array of {V}. Suppose that all that reaches a GPU "
        "passes the "
        "NVSwitches of its node. How many bytes enter them from the node's own GPUs?",
        answer=own,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={"That is the shard of one GPU.": V / S_top, "The rest comes from above.": remote},
    ),
    Question(
        "How many enter them from above, from the other nodes ({V}, {S_top} GPUs, nodes of {S_unit})?",
        answer=remote,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={
            "The node's own part does not come from above.": V,
            "The switches make the copies: a byte comes down once, not once for each GPU.": S_unit * remote,
        },
    ),
    Question(
        "How many leave them towards the node's own GPUs ({V}, {S_top} GPUs, nodes of {S_unit})?",
        answer=S_unit * lacking,
        unit="B",
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={
            "Each GPU holds its own shard already.": S_unit * V,
            "The shards of the neighbours arrive this way too.": S_unit * remote,
            "That is what one GPU takes in.": lacking,
        },
    ),
    Question(
        "And in all, upwards included ({V}, {S_top} GPUs, nodes of {S_unit})?",
        answer=hierarchy.unit_switch_out,
        given=ONE_UNIT,
        tolerance=0.001,
        mistakes={"The node's own part also goes up.": S_unit * lacking},
        remark="As much as if every GPU had received the whole array.",
    ),
    Question(
        "A GPU takes in {W_1} over NVLink, one way. How long does this level take, if every byte from other nodes "
        "comes through NVLink too ({V}, {S_top} GPUs)?",
        answer=lacking / W_1,
        unit="s",
        given=ARRAY | {"S_top": NODE * UNIT, "W_1": NVLINK},
        tolerance=0.002,
        mistakes={
            "A GPU holds its own shard already.": V / W_1,
            "That leaves out what comes from other nodes.": V * (NODE - 1) / (NODE * W_1),
            **both_directions(W_1),
        },
        hint="All GPUs of the node receive at the same time.",
    ),
    Question(
        "In most pods each NIC feeds one GPU directly, and NVLink carries only what the {D_1} GPUs of a "
        "node "
        "share with each other. How long does this level take then ({V}, {W_1})?",
        answer=V * (D_1 - 1) / (D_1 * W_1),
        unit="s",
        given=ARRAY | {"D_1": NODE, "W_1": NVLINK},
        tolerance=0.01,
        mistakes={
            "The GPU's own NIC brings an eighth of the array.": V / W_1,
            "That is the part that its own NIC brings.": V / (D_1 * W_1),
            **both_directions(W_1),
        },
    ),
    Question(
        "Find the error. The published answer gives this level the time B N / W_node, and then B over "
        f"{show(NVLINK, 'B/s')}. Elsewhere in that text W_node is {show(NICS, 'B/s')}, the NICs of a node. Which bandwidth "
        "does the answer need?",
        choices=[
            ("what all NICs of a node carry", "Those bytes pass NVLink, not the NICs.", False),
            (
                "the NVLink bandwidth of the node's GPUs together, N times that of one",
                "The N cancels and leaves the bandwidth of one GPU.",
                True,
            ),
            ("the bandwidth of one NVSwitch", "A GPU is wired to all switches of its node.", False),
        ],
    ),
]

leaf_level = [
    Question(
        "Now the leaf switches on top of the unit, which the source calls spine. How many bytes leave them "
        "towards the "
        "{D_2} nodes ({V})?",
        answer=V * (D_2 - 1),
        unit="B",
        tolerance=0.01,
        given=ARRAY | {"D_2": UNIT},
        mistakes={"Each node holds its part already.": V * D_2, "That is for one node.": V * (1 - 1 / D_2)},
        remark="They take in the array once, one part from each node.",
    ),
    Question(
        "How long does the leaf level take, if the NICs of a node take in {W_2}, one way ({V}, {D_2} nodes)?",
        answer=V * (D_2 - 1) / (D_2 * W_2),
        unit="s",
        given=ARRAY | {"D_2": UNIT, "W_2": NICS},
        tolerance=0.01,
        mistakes={
            "Each node holds its own part already.": V / W_2,
            "That is one NIC; a node has eight.": V * (D_2 - 1) / (D_2 * W_2) * NODE,
            **both_directions(W_2),
        },
    ),
    Question(
        "Which level sets the time of this all-gather ({D_1} GPUs in a node, {D_2} nodes, {W_1} and {W_2})?",
        given={"D_1": NODE, "D_2": UNIT, "W_1": NVLINK, "W_2": NICS},
        pick="largest",
        choices=[
            ("the node level", "Compare the two times of the parts before.", (D_1 - 1) / (D_1 * W_1)),
            ("the leaf level", "Compare the two times of the parts before.", (D_2 - 1) / (D_2 * W_2)),
        ],
    ),
]

SWITCH = ARRAY | {"N": NODE}
in_switch = [
    Question(
        heading="2. An all-reduce in the switches of a node",
        ask="{N} GPUs all-reduce {V}. The NVSwitches do the sums; a GPU sends the chunks that others own and "
        "takes in "
        "the sum of its own, then sends that sum and takes in the rest. How many bytes enter the switches in all?",
        answer=in_network.switch_in,
        given=SWITCH,
        tolerance=0.01,
        mistakes={
            "That is one GPU.": V,
            "That is the first half; the sums go through the switch as well.": V * (N - 1),
            "Here a GPU adds its own copy of its own chunk itself.": V * (N + 1),
            "That is a ring: here each sum is sent once.": 2 * V * (N - 1),
        },
    ),
    Question(
        "And how many leave them ({N} GPUs, {V})?",
        answer=in_network.switch_out,
        given=SWITCH,
        tolerance=0.01,
        mistakes={
            "That is one GPU.": V,
            "First each GPU receives the sum of its own chunk: that counts too.": V * (N - 1),
            "Here a GPU takes in the sum of its own chunk once.": V * (N + 1),
        },
        remark="In and out are equal: the switch drops bytes when it adds and makes them again when it copies.",
    ),
    Question(
        "How long does that take at {W_1} for each GPU, one way ({V}, {N} GPUs)?",
        answer=V / W_1,
        unit="s",
        given=SWITCH | {"W_1": NVLINK},
        tolerance=0.01,
        mistakes={
            "That is a ring.": 2 * V * (N - 1) / (N * W_1),
            "Each direction carries the array once, and both run at the same time.": 2 * V / W_1,
            "That is with the switch reading the owner's copy too.": V * (N + 1) / (N * W_1),
            **both_directions(W_1),
        },
    ),
    Question(
        "How many times faster is it than a ring of {N} GPUs, at best?",
        answer=in_network.nvls_gain,
        given={"N": NODE},
        tolerance=0.01,
        mistakes={
            "That is the limit for many GPUs.": (in_network.nvls_gain, {"N": 10**9}),
            "That is with the switch reading the owner's copy too.": in_network.nvls_gain_self,
        },
    ),
]

IN_NODE = LAYER | {"Y": 2}
second_axis = [
    Question(
        heading="3. The same with a second axis",
        ask="An array of {D} by {F} bf16 numbers is cut along F over Y = {Y} GPUs; X = {X} GPUs of the same node "
        "hold "
        "partial sums of each piece. The switches reduce over X. How many bytes does a GPU send?",
        answer=in_network.nvls_bytes.where(V=b * D * F / Y, N=X).rhs,
        unit="B",
        given=IN_NODE | {"X": 4},
        tolerance=0.01,
        mistakes={
            "A GPU holds one piece of Y.": b * D * F,
            "A bf16 number has two bytes.": D * F / Y,
            "That is a ring over X.": 2 * b * D * F / Y * (X - 1) / X,
            "It sends its own sum as well as the chunks of the others.": b * D * F / Y * (X - 1) / X,
        },
    ),
    Question(
        "How long does it take at {W_1} ({D} by {F} in bf16, Y = {Y})?",
        answer=b * D * F / (Y * W_1),
        unit="s",
        given=IN_NODE | {"W_1": NVLINK},
        tolerance=0.01,
        mistakes={
            "A GPU holds one piece of Y.": b * D * F / W_1,
            HALF: D * F / (Y * W_1),
        },
    ),
    Question(
        "Now X spans several nodes, and the leaf switches reduce as well. How many bytes does a node send up "
        "({D} by {F} in bf16, Y = {Y} inside the node)?",
        answer=b * D * F,
        unit="B",
        given=IN_NODE,
        tolerance=0.01,
        mistakes={
            "All pieces of Y live in the node, and each has to be reduced.": b * D * F / Y,
            "The node's switches add first: the partial sums of each piece become one.": b * D * F * NODE / Y,
            "A GPU holds one piece of Y, and the node's switches add first.": b * D * F * NODE,
        },
        remark="So an inner axis that fits in a node saves nothing beyond it.",
    ),
    Question(
        "A node takes in {W_2} through its NICs, one way. How long does that all-reduce take across the nodes, if "
        "the leaf switches do the sums ({D} by {F} in bf16, Y = {Y} inside the node)?",
        answer=b * D * F / W_2,
        unit="s",
        given=IN_NODE | {"W_2": NICS},
        tolerance=0.01,
        mistakes={
            "All pieces of Y live in the node, and each has to be reduced.": b * D * F / (Y * W_2),
            "Up and down run at the same time.": 2 * b * D * F / W_2,
        },
    ),
]

questions = QuestionSet(
    "collectives_quiz",
    "Quiz 4: collectives",
    intro="Five questions in several parts, after the quiz in the GPU chapter of *How to Scale Your Model*. "
    "Where the "
    "published answer slips, the answer here is the corrected one. They cover [In-network reduction]"
    "(../chapters/in_network_reduction.ipynb) and [Across the hierarchy](../chapters/across_the_hierarchy.ipynb).",
    questions=[*node_level, *leaf_level, *in_switch, *second_axis, *spine, *two_nodes],
)
