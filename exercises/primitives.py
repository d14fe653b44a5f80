"""Practice questions on what each collective promises and what it sends."""

from gpuscale.collectives import algorithms, exchange
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, V, V_hop, b, n
from gpuscale.units import GB, MB

promises = [
    Question(
        "Every rank has a full vector of gradients. Each of them shall end with its own part of the "
        "sum, and nothing else. "
        "Which call does that?",
        choices=[
            ("all-reduce", "That gives every rank the whole sum.", False),
            ("reduce-scatter", "Sums are made, and each rank keeps one part.", True),
            ("reduce", "That leaves the whole sum at a single rank.", False),
            ("all-to-all", "That moves parts about and adds nothing.", False),
        ],
    ),
    Question(
        "Each of {N} ranks holds a shard of {V_hop}. How much does each of them receive in an all-gather?",
        answer=(N - 1) * V_hop,
        given=[{"N": 8, "V_hop": 16 * MB}, {"N": 32, "V_hop": 2 * MB}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "It has its own shard already.": N * V_hop,
            "Here the shard is given, not the full buffer.": V_hop * (N - 1) / N,
            "That is the shard of one other rank.": V_hop,
        },
        solution=[((N - 1) * V_hop, "the shards of all the others")],
    ),
    Question(
        "How much does the root receive in a reduce of {V} on {N} ranks, if every other rank sends "
        "it its vector directly?",
        answer=(N - 1) * V,
        given=[{"N": 8, "V": 64 * MB}, {"N": 16, "V": 1 * GB}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "It does not send itself its own vector.": N * V,
            "That is what each of the others sends.": V,
            "Each of the others sends its whole vector here, not a part of it.": algorithms.reduce_scatter_bytes,
        },
        remark="One link takes in all of it. That is why large reductions go through pipelines or are cut into parts.",
    ),
]

mirrors = [
    Question(
        "On the way forward a layer gathers its sharded weights with an all-gather. Which call "
        "belongs on the way back, to "
        "the gradients of these weights?",
        choices=[
            (
                "an all-gather",
                "Run the other way it would copy gradients; but they have to be added up.",
                False,
            ),
            (
                "a reduce-scatter",
                "It is the transpose: what was copied is added, what was whole is dealt out.",
                True,
            ),
            ("an all-reduce", "Then every rank has the whole gradient, more than its shard needs.", False),
            ("a broadcast", "No rank has more than the others here.", False),
        ],
    ),
    Question(
        'Find the error. "Broadcast and reduce are inverses: broadcast an array, reduce it again '
        "with a sum, and you have what "
        'you began with." By which factor is the result on {N} ranks too large?',
        answer=N,
        given={"N": 4},
        exact=True,
        unit="1",
        mistakes={
            "The root's own copy is added as well.": N - 1,
            "Each copy is added once, not once for each pair.": N**2,
        },
        remark="They are mirror images, transposes of each other. An inverse would undo; a transpose adds up.",
    ),
    Question(
        'Find the error. Notes on a lecture say: "Broadcast and scatter are the inverse of gather." '
        "Which of the two does a "
        "gather undo?",
        choices=[
            ("both", "After a broadcast, a gather brings the root as many copies as there are ranks.", False),
            ("the scatter only", "It collects the parts that a scatter has dealt out.", True),
            ("the broadcast only", "After a broadcast, a gather brings the root many copies.", False),
            ("neither", "What a scatter deals out, a gather collects in the same order.", False),
        ],
    ),
]

bytes_ = [
    Question(
        "Gradients of {n:count} parameters in bf16 are all-reduced over {N} ranks, as a "
        "reduce-scatter and an all-gather. How "
        "much does each rank send?",
        answer=2 * b * n * (N - 1) / N,
        given=[{"n": 8 * 10**9, "b": 2, "N": 8}, {"n": 10**9, "b": 2, "N": 4}],
        unit="B",
        mistakes={
            "That is half of it: elements instead of bytes, or one of the two phases.": {"b": 1},
            "That is the rule for very many ranks.": 2 * b * n,
            "That is the vector itself; count what is sent in both phases.": b * n,
        },
    ),
    Question(
        "Give the bytes that a rank sends in a reduce-scatter of a vector of $V$ bytes on $N$ ranks.",
        answer=algorithms.reduce_scatter_bytes,
        symbols=(V, N),
        mistakes={
            "It keeps its own part.": V,
            "It sends a part to every other rank, not to one.": V / N,
            "That is an all-reduce: this one and an all-gather.": algorithms.all_reduce_bytes,
            "That is as if it sent the whole vector to every other.": V * (N - 1),
        },
    ),
    Question(
        "An array of {V} lies spread over {N} ranks, and an all-to-all transposes it. How much does each rank send?",
        answer=exchange.all_to_all_bytes,
        given=[{"V": 1 * GB, "N": 8}, {"V": 4 * GB, "N": 32}],
        tolerance=0.01,
        mistakes={
            "That would be so if every rank owned that much; it owns one share of it.": algorithms.all_gather_bytes,
            "It keeps the part that is its own already.": V / N,
            "That is the part for one other rank.": exchange.all_to_all_block,
        },
        solution=[
            (V / N - V / N**2, "what it owns, less its own part"),
            (exchange.all_to_all_bytes.rhs, "together"),
        ],
    ),
    Question(
        "A trainer replaces its all-reduce by a reduce-scatter, updates each part of the weights on "
        "one rank only, and "
        "all-gathers the new weights, which are as large as the gradients. How do the bytes on the "
        "links change?",
        choices=[
            ("They double.", "An all-reduce already consists of these two.", False),
            (
                "They stay the same.",
                "The all-reduce consisted of the same two calls; the update now stands between them.",
                True,
            ),
            ("They halve.", "Both halves of the all-reduce are still there.", False),
        ],
    ),
]

scripts = [
    Question(
        "In a script with eight ranks, rank 0 skips an all-reduce because its list of gradients is "
        "empty. What happens?",
        choices=[
            (
                "The sum lacks what rank 0 would have given.",
                "A collective is no letter box: it needs all of its ranks.",
                False,
            ),
            (
                "The other ranks wait.",
                "They wait until a timeout, or meet the next call of rank 0 and mix up data.",
                True,
            ),
            (
                "The other ranks raise an error at once.",
                "They cannot know that rank 0 will never come.",
                False,
            ),
        ],
    ),
    Question(
        "You write a test for a laptop without a GPU, and later run the same script on a cluster of "
        "H100. Which backends do "
        "you name?",
        choices=[
            ("NCCL on both", "NCCL moves data of GPUs only.", False),
            ("Gloo, then NCCL", "Gloo works on CPUs, NCCL is made for GPUs.", True),
            ("MPI, then Gloo", "MPI has to be built in, and Gloo is slow on GPUs.", False),
        ],
    ),
]

questions = QuestionSet(
    "primitives",
    "The primitives",
    intro="Questions on what each collective promises, on mirror images, and on bytes.",
    chapter="primitives",
    questions=[*promises, *mirrors, *bytes_, *scripts],
)
