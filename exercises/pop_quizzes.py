"""The three pop quizzes of "How to Scale Your Model", every part, errors corrected."""

from gpuscale import chip
from gpuscale.collectives import algorithms, hierarchy
from gpuscale.collectives import exchange as exchange_of_collectives
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import B, D, F, N, V, W, W_node, Y, b, n_in

h100 = chip("h100_sxm")
NODE = 8
UNIT = 256
gather = algorithms.ring_all_gather.where(alpha=0, V=b * B * D, title="All-gather of a matrix")
exchange = exchange_of_collectives.all_to_all.where(alpha=0, V=b * B * N, title="All-to-all of a matrix")
routed = exchange_of_collectives.sparse_all_to_all.where(V=b * B * N, title="All-to-all of a matrix with empty blocks")
sharded = hierarchy.sharded_all_gather.where(V=b * D * F, W=W_node, title="All-gather of a sharded matrix")
matrix = {"B": 1024, "D": 16384, "b": 2, "N": NODE, "W": h100.nvlink_bw}
rows = {"B": 2**24, "b": 2, "N": NODE, "W": h100.nvlink_bw}
wide = {"D": 8192, "F": 32768, "b": 2, "W_node": NODE * h100.nic_bw, "n_in": NODE, "N": UNIT}
SIBLINGS = "Only 256/Y ranks of the unit exchange shards of a column block, so the factor is 1 − Y/256."

questions = QuestionSet(
    "pop_quizzes",
    "Pop quizzes",
    intro="The three pop quizzes of the GPU chapter of *How to Scale Your Model*, with all their parts. The first belongs "
    "to [Ring and tree algorithms](../chapters/rings_and_trees.ipynb), the second to [All-to-all and mixture of experts](../chapters/all_to_all.ipynb), "
    "the third to [Across the hierarchy](../chapters/across_the_hierarchy.ipynb).",
    questions=[
        Question(
            heading="1. An all-gather in the node",
            ask="An array bf16[{B} × {D}] is sharded over the {N} H100s of a node. How long does an all-gather of it take, "
            "by the common approximation V/W?",
            answer=algorithms.ring_all_gather.approx.subs(V, b * B * D),
            given=matrix,
            unit="s",
            mistakes={
                "That is half: a bf16 element has two bytes, and the bandwidth is in one direction.": {"b": 1},
                "That is the exact time, which the next question asks for; here take V/W.": gather,
            },
            hint="V is the bytes of the whole array, W the NVLink bandwidth of one GPU in one direction.",
            vary={N: (4, 8)},
        ),
        Question(
            "How long does an all-gather of bf16[{B} × {D}] over {N} H100s of a node take exactly, without latency?",
            answer=gather,
            given=matrix,
            mistakes={
                "That is the approximation; a rank holds one of the N blocks already.": b * B * D / W,
                "That is one step of the ring; there are N − 1 of them.": b * B * D / (N * W),
            },
            hint="Each rank holds one of the N blocks already.",
            remark="It takes one part in N less, because each rank has one of the N blocks already.",
            vary={N: (4, 8)},
        ),
        Question(
            heading="2. An all-to-all in the node",
            ask="An array bf16[{B} × {N}] is sharded by rows over the N = {N} H100s of a node. An all-to-all changes the "
            "sharding from rows to columns, so that each GPU ends up with one column. How many bytes does the whole array "
            "have?",
            answer=b * B * N,
            given={name: rows[name] for name in ("B", "b", "N")},
            unit="B",
            mistakes={"B counts rows; each has N elements.": b * B, "A bf16 element has two bytes.": {"b": 1}},
            remark="In the published answer the letter B stands for the bytes; here it counts rows.",
            vary={N: (4, 8)},
        ),
        Question(
            "How long does that all-to-all of bf16[{B} × {N}] over {N} H100s take exactly, without latency?",
            answer=exchange,
            given=rows,
            mistakes={
                "That takes B for the bytes of the array, which are b B N.": B * (N - 1) / (W * N**2),
                "That is an all-gather; here a rank sends only one block to each other rank.": b * B * (N - 1) / W,
                "That is the limit for many ranks; each rank keeps one of its N blocks.": b * B / W,
            },
            hint="Each rank holds N blocks. It keeps one and sends each of the others to one rank.",
            vary={N: (4, 8)},
        ),
        Question(
            "Suppose that only {k} of the {N} elements of each row of bf16[{B} × {N}] are nonzero, in random columns, and "
            "only those are sent. How long does the all-to-all take?",
            answer=routed.where(exchange_of_collectives.hit_bound.where(Z=N)),
            given=rows | {"k": 4},
            mistakes={
                "Four different columns of eight are half; that is for picks that may coincide.": routed.where(
                    exchange_of_collectives.hit_independent.where(Z=N)
                ),
                "That is the dense all-to-all.": exchange,
            },
            hint="Compare the number of elements that are sent with the dense all-to-all.",
            remark="It is exactly half, because the nonzero elements of a row are in different columns.",
            fixed="continues the question before",
        ),
        Question(
            heading="3. An all-gather of an array sharded over a second axis",
            ask="A matrix bf16[{D} × {F}] is sharded over one scalable unit of 32 H100 nodes of {n_in} GPUs each. Its rows "
            "are sharded over X, its columns over Y = {Y}. Y is the inner axis, and X Y = {N}. How long does the "
            "all-gather over X take at the leaf level?",
            answer=sharded,
            given=[wide | {"Y": 8}, wide | {"Y": 2}],
            mistakes={
                "That is the published value; a node holds one of 32 parts already.": b * D * F / W_node,
                "Each node still receives all columns: the inner axis saves nothing here.": b * D * F / (Y * W_node),
            },
            hint="A node of 8 GPUs receives all columns, and it lacks 31 of 32 parts of the matrix. Its eight NICs receive "
            "at the same time.",
            remark="As long as the inner axis fits in a node, it does not matter at this level.",
            example="2 ms",
            vary={n_in: (), N: ()},
        ),
        Question(
            "How long does the all-gather of bf16[{D} × {F}] over X take at the leaf level with Y = {Y}?",
            answer=sharded,
            given=[wide | {"Y": 64}, wide | {"Y": 128}],
            mistakes={SIBLINGS: b * D * F * n_in / (Y * W_node)},
            hint="Y is now larger than a node, so a node needs only some of the columns.",
            remark="The published formula leaves out the factor 1 − Y/256 and gives too much.",
            example="2 ms",
        ),
        Question(
            "With Y = 256, what does the all-gather over X cost?",
            choices=[
                ("nothing", "X is 1: every rank already holds all it needs.", True),
                (
                    "as much as 2 D F bytes over 256 NICs of 50 GB/s",
                    "That is the published formula at Y = 256, but no other rank holds a part of the same columns.",
                    False,
                ),
                ("as much as with Y = 8", "Once Y is larger than a node, a larger Y takes less time.", False),
            ],
        ),
    ],
)
