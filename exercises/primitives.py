"""Practice questions on what each collective promises and what it sends."""

from sympy import Eq

from gpuscale import show
from gpuscale.collectives import algorithms, exchange
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, V, V_hop, b, n
from gpuscale.units import GB, MB

promises = [
    Question(
        "Every rank holds a full array of gradients. In the end, each rank needs only its own chunk of the sum. Which call "
        "does that?",
        choices=[
            ("all-reduce", "That gives every rank the whole sum.", False),
            ("reduce-scatter", "It computes the sum, and each rank keeps one chunk of it.", True),
            ("reduce", "That leaves the whole sum at one rank, the root.", False),
            ("all-to-all", "That moves chunks but adds nothing.", False),
        ],
    ),
    Question(
        "Each of {N} ranks holds a shard of {V_hop}. How many bytes does each rank receive in an all-gather?",
        answer=(N - 1) * V_hop,
        given=[{"N": 8, "V_hop": 16 * MB}, {"N": 32, "V_hop": 2 * MB}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "A rank already has its own shard.": N * V_hop,
            "Here the shard is given, not the full buffer.": V_hop * (N - 1) / N,
            "That is the shard of one other rank.": V_hop,
        },
        solution=[((N - 1) * V_hop, "the shards of all the others")],
    ),
    Question(
        "{N} ranks reduce arrays of {V}. Every other rank sends its array directly to the root. How many bytes does "
        "the root receive?",
        answer=(N - 1) * V,
        given=[{"N": 8, "V": 64 * MB}, {"N": 16, "V": 1 * GB}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "The root doesn't send its own array to itself.": N * V,
            "That is what each of the others sends.": V,
            "Each of the others sends its whole array here, not a chunk of it.": algorithms.reduce_scatter_bytes,
        },
        remark="A single link has to take in all of these bytes. Large reductions are therefore split into chunks or pipelined.",
    ),
]

duals = [
    Question(
        "In the forward pass, a layer assembles its sharded weights with an all-gather. Which call does the backward "
        "pass need for the gradients of these weights?",
        choices=[
            (
                "an all-gather",
                "That would copy gradients, but gradients have to be added up.",
                False,
            ),
            (
                "a reduce-scatter",
                "It is the dual of the all-gather: where the forward pass copied, the backward pass adds.",
                True,
            ),
            (
                "an all-reduce",
                "Then every rank would have the whole gradient, although it needs only that of its shard.",
                False,
            ),
            ("a broadcast", "A broadcast copies from one root. Here every rank has a part of the sum to give.", False),
        ],
    ),
    Question(
        'Find the error. "Broadcast and reduce are inverses: broadcast an array, then reduce it with a sum, and you '
        'have the array again." By what factor is the result on {N} ranks too large?',
        answer=N,
        given={"N": 4},
        exact=True,
        unit="1",
        mistakes={
            "The root's own copy counts as well.": N - 1,
            "Each copy is added once, not once per pair of ranks.": N**2,
        },
        remark="They are duals, which means transposes of each other. An inverse would undo the broadcast, but the dual adds up the copies.",
    ),
    Question(
        'Find the error. "Broadcast and scatter are the inverse of gather." Which of the two does a gather undo?',
        choices=[
            ("both", "After a broadcast, a gather brings the root one copy from each rank.", False),
            ("the scatter only", "It collects the chunks that the scatter has handed out.", True),
            (
                "the broadcast only",
                "After a broadcast, a gather brings the root one copy from each rank, not the array.",
                False,
            ),
            ("neither", "A gather collects the chunks of a scatter in the same order.", False),
        ],
    ),
]

bytes_ = [
    Question(
        "The bf16 gradients of a model with {n} parameters are all-reduced over {N} ranks, as a reduce-scatter "
        "and an all-gather. How many bytes does each rank send?",
        answer=2 * b * n * (N - 1) / N,
        given=[{"n": 8 * 10**9, "b": 2, "N": 8}, {"n": 10**9, "b": 2, "N": 4}],
        unit="B",
        mistakes={
            "That is half of it: elements instead of bytes, or one of the two phases.": {"b": 1},
            "That is the limit for very many ranks.": 2 * b * n,
            "That is the array itself. Count the bytes of both phases.": b * n,
        },
        hint="A bf16 element has two bytes.",
    ),
    Question(
        "Give the bytes that a rank sends in a reduce-scatter of an array of $V$ bytes on $N$ ranks.",
        answer=algorithms.reduce_scatter_bytes,
        symbols=(V, N),
        mistakes={
            "A rank keeps its own chunk.": V,
            "A rank sends a chunk to every other rank, not to one.": V / N,
            "That is an all-reduce: a reduce-scatter and an all-gather.": algorithms.all_reduce_bytes,
            "That is as if each rank sent its whole array to every other rank.": V * (N - 1),
        },
    ),
    Question(
        "An array of {V} is sharded over {N} ranks, and an all-to-all transposes it. How many bytes does each rank send?",
        answer=exchange.all_to_all_bytes,
        given=[{"V": 1 * GB, "N": 8}, {"V": 4 * GB, "N": 32}],
        tolerance=0.01,
        mistakes={
            "That would be right if every rank owned the whole array, but it owns only one shard.": algorithms.all_gather_bytes,
            "One of its chunks is for itself, so it stays.": V / N,
            "That is the chunk for one other rank.": exchange.all_to_all_block,
        },
        solution=[
            (V / N - V / N**2, "what a rank owns, without the chunk that stays"),
            (exchange.all_to_all_bytes.rhs, "together"),
        ],
    ),
    Question(
        "A training script replaces its all-reduce by a reduce-scatter. Each rank updates its shard of the weights, "
        "and an all-gather distributes the new weights, which are as large as the gradients. How does the number of "
        "bytes on the links change?",
        choices=[
            ("It doubles.", "An all-reduce already consists of these two calls.", False),
            (
                "It stays the same.",
                "The all-reduce consisted of the same two calls. The update now happens between them.",
                True,
            ),
            ("It halves.", "Both halves of the all-reduce are still there.", False),
        ],
    ),
]

scripts = [
    Question(
        "In a script with eight ranks, rank 0 skips an all-reduce because its list of gradients is empty. What happens?",
        choices=[
            (
                "The sum lacks the contribution of rank 0.",
                "A collective cannot finish without all of its ranks.",
                False,
            ),
            (
                "The other ranks wait.",
                "They wait until a timeout, or until the next call of rank 0, whose data they then mix up with their own.",
                True,
            ),
            (
                "The other ranks raise an error at once.",
                "They cannot know that rank 0 will never make the call.",
                False,
            ),
        ],
    ),
    Question(
        "You test a script on a laptop without a GPU and later run it on a cluster of H100s. Which backends do you "
        "choose?",
        choices=[
            ("NCCL on both", "NCCL only moves data in GPU memory.", False),
            ("Gloo, then NCCL", "Gloo works on CPUs, and NCCL is made for GPUs.", True),
            ("MPI, then Gloo", "PyTorch must be built with MPI, and Gloo is slow on GPUs.", False),
        ],
    ),
]

eight = {"V": 1 * GB, "N": 8}
sent = algorithms.all_reduce_bytes.rhs
predictions = [
    Question(
        "Four ranks each hold an array of {V}. They run a reduce-scatter, and then an all-gather of the result. How "
        "much does each rank hold after the first call, and after the second?",
        predict=True,
        given={"V": 64 * MB, "N": 4},
        choices=[
            ("64 MB, then 256 MB", "The arrays are added, not collected.", False),
            ("16 MB, then 64 MB", "It is one chunk of the sum first, and then all four chunks.", Eq(V / N, V / 4)),
            ("16 MB, then 16 MB", "The all-gather collects the four chunks.", False),
        ],
        solution=f"{show(16 * MB, 'B')}, then {show(64 * MB, 'B')}. The reduce-scatter leaves each rank with one "
        "chunk of the sum, a quarter of the array. The all-gather then gives every rank all four chunks.",
    ),
    Question(
        "Three ranks sleep for 0, 1 and 2 seconds. Each of them then calls a barrier. When does rank 0 pass it?",
        predict=True,
        choices=[
            ("at once", "A barrier holds a rank back until all ranks have arrived.", False),
            ("after 1 second", "After 1 second, rank 2 is still asleep.", False),
            ("after 2 seconds", "That is when the last rank arrives.", True),
        ],
        solution="After 2 seconds. All ranks pass together, as soon as the slowest one has arrived. So "
        "at a barrier, every rank loses the time by which the slowest rank is late.",
    ),
    Question(
        "Eight ranks hold arrays of {V}. In a direct all-reduce, each of them sends 7 GB. How much does each rank send "
        "if the all-reduce is a reduce-scatter followed by an all-gather?",
        predict=True,
        given=eight,
        choices=[
            ("7 GB, as before", "Each half sends chunks, not whole arrays.", Eq(sent, 7 * V)),
            ("3.5 GB", "In each half a rank sends seven chunks, and a chunk is an eighth.", Eq(sent, 7 * V / 2)),
            ("1.75 GB", "It sends seven chunks twice, and a chunk is an eighth of the array.", Eq(sent, 7 * V / 4)),
            ("1 GB", "Each half alone sends nearly that much.", Eq(sent, V)),
        ],
        solution=f"{show(algorithms.all_reduce_bytes(**eight), 'B')}, a quarter of the bytes. In each half a rank "
        f"sends seven chunks of {show(GB / 8, 'B')}, one for every other rank.",
    ),
    Question(
        "A scatter hands out the chunks of one array. Which collective is its dual, the one with the transposed "
        "matrix?",
        predict=True,
        choices=[
            ("gather", "Each chunk goes back to where it came from.", True),
            ("reduce", "A scatter makes no copies, so its dual has nothing to add.", False),
            ("all-gather", "The result of the dual has to be at the root only.", False),
        ],
        solution="The gather. A transposed matrix sends data in the opposite direction: what went from the root to "
        "rank 2 now goes from rank 2 to the root. Where a collective copies, its dual adds. A scatter copies "
        "nothing, so a gather adds nothing.",
    ),
]

questions = QuestionSet(
    "primitives",
    "Collective primitives",
    intro="Questions on what each collective does, on duals, and on bytes.",
    chapter="primitives",
    questions=[*promises, *duals, *bytes_, *scripts, *predictions],
)
