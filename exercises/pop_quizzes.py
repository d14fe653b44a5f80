"""The three pop quizzes of "How to Scale Your Model", every part, slips put right."""

from gpuscale import chip
from gpuscale.collectives import algorithms, hierarchy
from gpuscale.collectives import exchange as exchange_of_collectives
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, D, F, N, S_child, V, W, W_node, Y, b

h100 = chip("h100_sxm")
NODE = 8
UNIT = 256
gather = algorithms.ring_all_gather.where(alpha=0, V=b * B * D, title="All-gather of a matrix")
exchange = exchange_of_collectives.all_to_all.where(alpha=0, V=b * B * N, title="All-to-all of a matrix")
routed = exchange_of_collectives.sparse_all_to_all.where(V=b * B * N, title="All-to-all of a matrix with empty blocks")
sharded = hierarchy.sharded_all_gather.where(V=b * D * F, W=W_node, title="All-gather of a sharded matrix")
matrix = {"B": 1024, "D": 16384, "b": 2, "N": NODE, "W": h100.nvlink_bw}
rows = {"B": 2**24, "b": 2, "N": NODE, "W": h100.nvlink_bw}
wide = {"D": 8192, "F": 32768, "b": 2, "W_node": NODE * h100.nic_bw, "S_child": NODE, "S_top": UNIT}
SIBLINGS = "Only 256/Y ranks of the unit share one block of the array, so the factor is 1 - Y/256."

questions = QuestionSet(
    "pop_quizzes",
    "Pop quizzes",
    intro="Three short quizzes that *How to Scale Your Model* asks in passing, with all their parts. The first "
    "belongs "
    "to [Rings and trees](../chapters/rings_and_trees.ipynb), the second to "
    "[All-to-all](../chapters/all_to_all.ipynb), "
    "the third to [Across the hierarchy](../chapters/across_the_hierarchy.ipynb).",
    questions=[
        Question(
            heading="1. An all-gather in the node",
            ask="How long does it take to all-gather bf16[{B}, {D}], sharded over the {N} H100 of a node ({W} "
            "each, one "
            "way)? Take the common approximation V/W.",
            answer=algorithms.ring_all_gather.approx.subs(V, b * B * D),
            given=matrix,
            unit="s",
            mistakes={
                "That is half: bf16 has two bytes, and the bandwidth is one way already.": {"b": 1},
                "That is the exact time, which the next question asks for; here take V/W.": gather,
            },
        ),
        Question(
            "And exactly, for {N} ranks?",
            answer=gather,
            given=matrix,
            mistakes={
                "That is the approximation; a rank has one block in N already.": b * B * D / W,
                "That is what one hop takes; there are N - 1 of them.": b * B * D / (N * W),
            },
            remark="An eighth less: each rank lacks only seven of the eight blocks.",
        ),
        Question(
            heading="2. An all-to-all in the node",
            ask="An array bf16[{B}, N] has its rows sharded over the {N} H100 of a node ({W} each, one way), one "
            "column for each of them. An all-to-all turns the sharding of rows into one of columns. How many "
            "bytes has the "
            "whole array?",
            answer=b * B * N,
            given=rows,
            unit="B",
            mistakes={"B counts rows; each has N elements.": b * B, "bf16 has two bytes.": {"b": 1}},
            remark="The published answer takes the letter B for the bytes; here it counts rows.",
        ),
        Question(
            "How long does the all-to-all take, exactly?",
            answer=exchange,
            given=rows,
            mistakes={
                "That takes B for the bytes of the array: it has b B N.": B * (N - 1) / (W * N**2),
                "That is the all-gather; each rank sends only a block to each other one.": b * B * (N - 1) / W,
                "That is the limit; one block in N stays at home.": b * B / W,
            },
        ),
        Question(
            "Only {k} of the {N} entries of each row are not zero, always of different columns. How long if only "
            "those "
            "are sent?",
            answer=routed.where(exchange_of_collectives.hit_bound.where(Z=N)),
            given=rows | {"k": 4},
            mistakes={
                "Four different columns of eight are half, not the share that four random picks reach.": routed.where(
                    exchange_of_collectives.hit_independent.where(Z=N)
                ),
                "That is the dense one.": exchange,
            },
            remark="Half, exactly, because the columns differ. Independent picks would sometimes fall together.",
        ),
        Question(
            heading="3. An all-gather of an array sharded over a second axis",
            ask="A matrix bf16[{D}, {F}] lies in one scalable unit: 32 nodes of {S_child:1} GPUs, {W_node} for each "
            "node. Its rows are sharded over X, its columns over Y = {Y}, with X Y = {S_top:1}, and Y inside. "
            "How long "
            "does the all-gather over X take at the leaf level?",
            answer=sharded,
            given=[wide | {"Y": 8}, wide | {"Y": 2}],
            mistakes={
                "That is the published figure's value: a node holds one part in 32 already.": b * D * F / W_node,
                "Each node still receives every column: the inner axis saves nothing here.": b * D * F / (Y * W_node),
            },
            remark="Up to a whole node the inner axis does not matter at this level.",
            example="2 ms",
        ),
        Question(
            "The same with Y = {Y}.",
            answer=sharded,
            given=[wide | {"Y": 64}, wide | {"Y": 128}],
            mistakes={SIBLINGS: b * D * F * S_child / (Y * W_node)},
            remark="The published form leaves out the factor 1 - Y/256: here it is too high, and at Y = 256 it "
            "should be nothing.",
            example="2 ms",
        ),
        Question(
            "With Y = 256, what does the all-gather over X cost?",
            choices=[
                ("nothing", "X is 1: every rank has all that it needs.", True),
                (
                    "as much as 2 D F over 256 NICs of 50 GB/s",
                    "That is the published form at Y = 256, where no second rank shares the block.",
                    False,
                ),
                ("as much as with Y = 8", "From a whole node on, a larger Y shrinks it.", False),
            ],
        ),
    ],
)
