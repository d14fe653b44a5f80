"""Practice questions on rings, doubling and trees."""

from sympy import sqrt
from sympy.codegen.cfunctions import log2

from gpuscale import chip, measured
from gpuscale.collectives import algorithms
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, V, W, W_bus, alpha, eta
from gpuscale.units import GB, MB, kB

h100, b200 = chip("h100_sxm"), chip("b200_sxm")
START = measured("nccl_latency").row(link="NVLink")["simple"]
NODE = {"N": 8, "W": h100.nvlink_bw}

gather = algorithms.ring_all_gather.rhs.subs(alpha, 0)
reduce = algorithms.ring_all_reduce.rhs.subs(alpha, 0)
swaps = algorithms.recursive_doubling_all_reduce
halving = algorithms.halving_doubling_all_reduce
RULE = "That is the rule for very many ranks; with a few it is clearly too much."
WHOLE = "A rank has its own chunk already; it does not have to get that one."

sizes = [
    Question(
        "{N} ranks gather an array of {V} in a ring. How much does each of them send?",
        answer=algorithms.all_gather_bytes,
        given=[{"N": 8, "V": 64 * MB}, {"N": 4, "V": 2 * GB}],
        tolerance=0.01,
        mistakes={
            "That is one hop; there is one for every other rank.": algorithms.ring_hop,
            WHOLE: V,
            "That is an all-reduce, which has two such phases.": algorithms.all_reduce_bytes,
            "That is what all ranks send together.": algorithms.all_gather_total,
        },
        solution=[
            (V / N * (N - 1), "one chunk in each of the steps"),
            (algorithms.all_gather_bytes.rhs, "together"),
        ],
    ),
    Question(
        "How many steps does a ring all-reduce on {N} ranks have?",
        answer=algorithms.ring_all_reduce_steps,
        given=[{"N": 8}, {"N": 72}],
        exact=True,
        noun="steps",
        mistakes={
            "That is one phase; sums are made in the first and handed round in the second.": N - 1,
            "The last hop of each phase would bring a chunk home; it is not needed.": 2 * N,
            "That is one phase with a hop too many.": N,
            "That is halving and doubling; in a ring each chunk visits one rank after another.": 2 * log2(N),
        },
    ),
    Question(
        "Eight H100 of one node all-reduce {V}. How long does it take at best in a ring, if a GPU "
        "sends {W} in one "
        "direction and steps cost nothing?",
        answer=reduce,
        given=[{"V": 1 * GB, **NODE}, {"V": 256 * MB, **NODE}],
        unit="s",
        mistakes={
            RULE: 2 * V / W,
            "That sends one vector; count both phases, and what does not move.": V / W,
            "That is half of it: one of the two phases, or both directions of the link taken together.": gather,
        },
        solution=[(2 * gather, "a reduce-scatter, then an all-gather"), (reduce, "together")],
    ),
]

steps = [
    Question(
        "Give the time of a ring all-reduce of $V$ bytes on $N$ ranks, with a start-up $\\alpha$ "
        "(type alpha) in every "
        "step and a bandwidth $W$.",
        answer=algorithms.ring_all_reduce,
        symbols=(V, N, W, alpha),
        mistakes={
            "That is an all-gather or a reduce-scatter; an all-reduce is both.": algorithms.ring_all_gather,
            "Each of the steps waits once.": alpha + reduce,
            "That leaves out the start-up.": reduce,
            "That is the rule for very many ranks; keep the chunk that does not move.": 2 * (N - 1) * alpha + 2 * V / W,
            "A chunk has V/N bytes, not V.": 2 * (N - 1) * (alpha + V / W),
        },
    ),
    Question(
        "A step between GPUs costs {alpha}. From which size on do the bytes of a ring all-gather on "
        "{N} ranks weigh "
        "more than its steps, at {W}?",
        answer=alpha * N * W,
        given=[{"alpha": START, **NODE}, {"alpha": START, "N": 16, "W": b200.nvlink_bw}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "That is the size of one chunk; the buffer has one for each rank.": alpha * W,
            "All chunks count, also the one that a rank has already.": alpha * W * (N - 1),
        },
        solution=[(alpha * N * W, "where $(N-1)\\alpha$ equals $V(N-1)/(N W)$")],
    ),
    Question(
        "{N} ranks all-reduce {V} over links of {W}, and a step costs {alpha}. Each rank talks to one other at a "
        "time. "
        "Which way is the fastest?",
        given=[
            {"V": 64 * kB, "N": 64, "W": h100.nvlink_bw, "alpha": START},
            {"V": 32 * MB, "N": 8, "W": h100.nvlink_bw, "alpha": START},
        ],
        pick="smallest",
        choices=[
            ("a ring", "Its bytes are the fewest, but count its steps.", algorithms.ring_all_reduce.rhs),
            (
                "recursive doubling, which swaps whole vectors",
                "It has the fewest steps, and more bytes than a ring: which of the two matters here?",
                swaps.rhs,
            ),
            (
                "halving, then doubling",
                "It has the bytes of a ring and twice as many steps as plain doubling.",
                halving.rhs,
            ),
            (
                "a reduce and a broadcast over a binomial tree",
                "It has as many steps as halving and doubling, each with the whole vector.",
                algorithms.tree_all_reduce.rhs,
            ),
        ],
    ),
]

published = [
    Question(
        'Find the error. "Each GPU adds up with one partner, then with one from another pair, then '
        "with one from "
        'the other four. That is $\\log_2 N$ hops instead of $N-1$, and the total cost is the same." '
        "How long do these "
        "hops take for {V} on {N} GPUs, at {W}, when steps cost nothing?",
        answer=swaps.rhs.subs(alpha, 0),
        given={"V": 1 * GB, **NODE},
        unit="s",
        mistakes={
            "That is the cost of a ring. In this recipe the whole vector crosses the link in each hop.": reduce,
            "That is the rule for a ring on very many ranks.": 2 * V / W,
            "That is a single hop.": V / W,
        },
        remark="It is far more than the ring. For the same cost the vector must be cut into parts, "
        "as in a ring, or halved before it doubles.",
    ),
    Question(
        'Find the error. "In an all-gather each of {N} GPUs needs $(N-1)V/(NW)$, which is about '
        "$V/(NW)$, the "
        'bandwidth of the whole node." By which factor is the approximation too short?',
        answer=N - 1,
        given={"N": 8},
        exact=True,
        unit="1",
        mistakes={
            "That compares it with V/W; the exact time is a little less.": N,
            "That compares the two the other way round.": 1 / (N - 1),
        },
        remark="All chunks but one are nearly all chunks. Each rank takes in nearly the whole buffer "
        "through its own link.",
    ),
]

reading = [
    Question(
        "A benchmark prints a bus bandwidth of {W_bus} for an all-reduce on {N} GPUs. How long did {V} take?",
        answer=2 * V * (N - 1) / (N * W_bus),
        given=[{"W_bus": 370 * GB, "N": 8, "V": 1 * GB}, {"W_bus": 300 * GB, "N": 4, "V": 2 * GB}],
        unit="s",
        mistakes={
            "That takes the bus bandwidth for bytes over time; it is the larger of the two.": V / W_bus,
            "That is the rule for very many ranks.": 2 * V / W_bus,
            "That is the factor of an all-gather.": V * (N - 1) / (N * W_bus),
            "The factor divides the bus bandwidth, it does not multiply it.": V * N / (2 * (N - 1) * W_bus),
        },
        solution=[
            (V / (W_bus * N / (2 * (N - 1))), "undo the factor to get the algorithm bandwidth"),
            (2 * V * (N - 1) / (N * W_bus), "together"),
        ],
    ),
    Question(
        "What is the highest algorithm bandwidth that a ring all-reduce on {N} GPUs can show, over links of {W}?",
        answer=W * N / (2 * (N - 1)),
        given={"N": 8, "W": b200.nvlink_bw},
        unit="B/s",
        mistakes={
            "That is the link, and the ceiling of the bus bandwidth.": W,
            "That is the ceiling of an all-gather.": W * N / (N - 1),
            "The rule 2V takes the limit of many ranks.": W / 2,
        },
    ),
    Question(
        "You accept the rule $2V/W$ where it is at most {eta:%} too much. From how many ranks on is that so?",
        answer=1 + 1 / eta,
        given=[{"eta": 0.02}, {"eta": 0.1}],
        exact=True,
        noun="ranks",
        mistakes={
            "Count the ranks, not the other ranks.": 1 / eta,
            "The factor two is in the exact form as well, and cancels.": 1 + 2 / eta,
        },
        solution=[(1 + 1 / eta, "where $N/(N-1) - 1$ falls to that share")],
    ),
    Question(
        "A broadcast of {V} runs along a chain of {N} GPUs ({W}, {alpha} a step). Into how many chunks is it best cut?",
        answer=sqrt((N - 2) * V / (alpha * W)),
        given={"V": 1 * GB, "alpha": START, **NODE},
        unit="1",
        noun="chunks",
        mistakes={
            "The time falls with one term and grows with another; set its derivative to zero and take the root.": (
                N - 2
            )
            * V
            / (alpha * W),
            "The longer the chain, the more chunks pay.": sqrt(V / (alpha * W)),
            "A chain has n_chunk + N \u2212 2 steps, so N \u2212 2 of them do not depend on the chunks.": sqrt(
                (N - 1) * V / (alpha * W)
            ),
        },
        solution=[
            (
                sqrt((N - 2) * V / (alpha * W)),
                "where the slope of the time along the number of chunks is zero",
            ),
        ],
    ),
    Question(
        "A world grows from 64 to 128 ranks, all with the same links. What happens to the time of an "
        "all-reduce of "
        "several GB in a ring?",
        choices=[
            ("It doubles.", "There are twice as many steps, but the chunks are half as large.", False),
            (
                "It stays almost the same.",
                "What a rank sends is already near its limit of two vectors.",
                True,
            ),
            ("It halves.", "Each rank still has to receive nearly all of the sum.", False),
            (
                "It grows by one more start-up.",
                "The number of steps grows with the ranks, not with their logarithm.",
                False,
            ),
        ],
    ),
]

questions = QuestionSet(
    "rings_and_trees",
    "Rings and trees inside a node",
    intro="Questions on bytes, steps and start-ups, and on reading benchmarks.",
    chapter="rings_and_trees",
    questions=[*sizes, *steps, *published, *reading],
)
