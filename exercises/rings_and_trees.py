"""Practice questions on rings, doubling and trees."""

from sympy import Abs, Eq, sqrt
from sympy.codegen.cfunctions import log2

from gpuscale import chip, measured, show
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
RULE = "That is the limit for very many ranks. With eight ranks it is clearly too high."
WHOLE = "A rank has its own chunk already and doesn't have to receive it."

sizes = [
    Question(
        "{N} ranks all-gather an array of {V} in a ring. How many bytes does each rank send?",
        answer=algorithms.all_gather_bytes,
        given=[{"N": 8, "V": 64 * MB}, {"N": 4, "V": 2 * GB}],
        tolerance=0.01,
        mistakes={
            "That is one step. There are as many steps as there are other ranks.": algorithms.ring_hop,
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
            "That is one of two phases. The sums grow in the first and are distributed in the second.": N - 1,
            "One more step per phase would bring every chunk home, which isn't needed.": 2 * N,
            "An all-reduce has two phases, each with one step fewer than that.": N,
            "That is halving-doubling. In a ring, each chunk visits one rank after another.": 2 * log2(N),
        },
    ),
    Question(
        "Eight H100 SXM in one node all-reduce {V} in a ring. How long does it take at best, without latency?",
        answer=reduce,
        given=[{"V": 1 * GB, **NODE}, {"V": 256 * MB, **NODE}],
        unit="s",
        mistakes={
            RULE: 2 * V / W,
            "Count both phases, and leave out the chunk that doesn't move.": V / W,
            "That is half of it: one of the two phases, or both directions of the link taken together.": gather,
        },
        hint="Use the bandwidth of a GPU in one direction. It is in the hardware tables, under NVLink.",
        solution=[(2 * gather, "a reduce-scatter, then an all-gather"), (reduce, "together")],
    ),
]

steps = [
    Question(
        "Give the time of a ring all-reduce of $V$ bytes on $N$ ranks, with a latency $\\alpha$ (type alpha) per step "
        "and a bandwidth $W$.",
        answer=algorithms.ring_all_reduce,
        symbols=(V, N, W, alpha),
        mistakes={
            "That is an all-gather or a reduce-scatter. An all-reduce is both.": algorithms.ring_all_gather,
            "Every step pays the latency, not only the first one.": alpha + reduce,
            "That leaves out the latency.": reduce,
            "That is the limit of very many ranks. One chunk in N doesn't move.": 2 * (N - 1) * alpha + 2 * V / W,
            "A chunk has V/N bytes, not V.": 2 * (N - 1) * (alpha + V / W),
        },
    ),
    Question(
        "A ring all-gather runs on {N} B200 GPUs over NVLink, with a latency of {alpha} per step. Above which size do "
        "its bytes take longer than its latencies?",
        answer=alpha * N * W,
        given=[{"alpha": START, "N": 8, "W": b200.nvlink_bw}, {"alpha": START, "N": 16, "W": b200.nvlink_bw}],
        unit="B",
        tolerance=0.01,
        mistakes={
            "That is the size of one chunk. The array has one chunk per rank.": alpha * W,
            "V is the whole array, with the chunk that a rank has already.": alpha * W * (N - 1),
        },
        hint="The NVLink bandwidth of a B200 is in the hardware tables. Use one direction.",
        solution=[(alpha * N * W, "the size at which $(N-1)\\alpha$ equals $V(N-1)/(N W)$")],
    ),
    Question(
        "{N} H100s behind one switch all-reduce {V} with a latency of {alpha} per step. Each rank talks to one other "
        "rank at a time. Which algorithm is the fastest?",
        given=[
            {"V": 64 * kB, "N": 64, "W": h100.nvlink_bw, "alpha": START},
            {"V": 32 * MB, "N": 8, "W": h100.nvlink_bw, "alpha": START},
        ],
        pick="smallest",
        choices=[
            ("a ring", "It sends the fewest bytes, but count its steps.", algorithms.ring_all_reduce.rhs),
            (
                "recursive doubling, which exchanges whole arrays",
                "It has the fewest steps but sends more bytes than a ring. Which of the two matters here?",
                swaps.rhs,
            ),
            (
                "halving-doubling",
                "It sends the bytes of a ring and takes twice as many steps as recursive doubling.",
                halving.rhs,
            ),
            (
                "a reduce and a broadcast over a binomial tree",
                "It takes as many steps as halving-doubling, each with the whole array.",
                algorithms.tree_all_reduce.rhs,
            ),
        ],
    ),
]

published = [
    Question(
        'Find the error. "Each GPU exchanges arrays with one partner and adds, then with a partner from another pair, '
        'then with one of the other four. That takes $\\log_2 N$ steps instead of $N-1$, at the same total cost." '
        "How long does this take for {V} on {N} H100 SXM in a node, without latency?",
        answer=swaps.rhs.subs(alpha, 0),
        given={"V": 1 * GB, **NODE},
        unit="s",
        mistakes={
            "That is the time of a ring. Here the whole array crosses the link in each step.": reduce,
            "That is a ring on very many ranks.": 2 * V / W,
            "That is a single step.": V / W,
        },
        hint="The whole array crosses the link in each step.",
        remark="That is much longer than a ring takes. Halving-doubling has few steps and sends only the bytes of a ring.",
    ),
    Question(
        'Find the error. "An all-gather on {N} GPUs takes $(N-1)V/(NW)$, which is about $V/(NW)$." By what factor is '
        "the approximation too short?",
        answer=N - 1,
        given={"N": 8},
        exact=True,
        unit="1",
        mistakes={
            "That compares it with V/W. The exact time is a little less.": N,
            "That is the inverse ratio.": 1 / (N - 1),
        },
        remark="The factor (N - 1)/N tends to one, because each rank receives nearly the whole array through its own link.",
    ),
]

reading = [
    Question(
        "A benchmark prints a bus bandwidth of {W_bus} for an all-reduce on {N} GPUs. How long did an array of {V} take?",
        answer=2 * V * (N - 1) / (N * W_bus),
        given=[{"W_bus": 370 * GB, "N": 8, "V": 1 * GB}, {"W_bus": 300 * GB, "N": 4, "V": 2 * GB}],
        unit="s",
        mistakes={
            "Bytes over time is the algorithm bandwidth, which is smaller.": V / W_bus,
            "That is the limit of very many ranks.": 2 * V / W_bus,
            "That is the factor of an all-gather.": V * (N - 1) / (N * W_bus),
            "Divide the bus bandwidth by the factor; don't multiply.": V * N / (2 * (N - 1) * W_bus),
        },
        solution=[
            (V / (W_bus * N / (2 * (N - 1))), "undo the factor to get the algorithm bandwidth"),
            (2 * V * (N - 1) / (N * W_bus), "together"),
        ],
    ),
    Question(
        "What is the highest algorithm bandwidth of a ring all-reduce on {N} B200 GPUs in a node?",
        answer=W * N / (2 * (N - 1)),
        given={"N": 8, "W": b200.nvlink_bw},
        unit="B/s",
        mistakes={
            "That is the link, and the ceiling of the bus bandwidth.": W,
            "That is the ceiling of an all-gather.": W * N / (N - 1),
            "The rule 2V is only the limit for many ranks.": W / 2,
        },
        hint="The bus bandwidth can at most be the bandwidth of the link.",
        vary={N: (4, 8)},
    ),
    Question(
        "You accept the rule $2V/W$ if it is at most {eta:%} too high. How many ranks do you need at least?",
        answer=1 + 1 / eta,
        given=[{"eta": 0.02}, {"eta": 0.1}],
        exact=True,
        noun="ranks",
        mistakes={
            "That counts only the other ranks.": 1 / eta,
            "The factor two is in the exact form as well and cancels.": 1 + 2 / eta,
        },
        solution=[(1 + 1 / eta, "where $N/(N-1) - 1$ falls to that value")],
    ),
    Question(
        "A broadcast of {V} runs along a chain of {N} H100 SXM in a node, with a latency of {alpha} per step. Into how "
        "many chunks should the array be split?",
        answer=sqrt((N - 2) * V / (alpha * W)),
        given={"V": 1 * GB, "alpha": START, **NODE},
        unit="1",
        noun="chunks",
        mistakes={
            "One term of the time falls and another one grows. Set the derivative to zero and take the root.": (N - 2)
            * V
            / (alpha * W),
            "A longer chain needs more chunks.": sqrt(V / (alpha * W)),
            "A chain has n_chunk + N \u2212 2 steps, so N \u2212 2 of them don't depend on the chunks.": sqrt(
                (N - 1) * V / (alpha * W)
            ),
        },
        solution=[
            (
                sqrt((N - 2) * V / (alpha * W)),
                "where the derivative of the time with respect to the number of chunks is zero",
            ),
        ],
        vary={N: (4, 8)},
    ),
    Question(
        "A job grows from 64 to 128 ranks, all with the same links. What happens to the time of a ring all-reduce of "
        "several GB?",
        choices=[
            ("It doubles.", "There are twice as many steps, but each chunk is half as large.", False),
            (
                "It stays almost the same.",
                "The bytes per rank are already close to their limit, twice the array.",
                True,
            ),
            ("It halves.", "Each rank still has to receive nearly all of the sum.", False),
            (
                "It grows by the latency of one step.",
                "The number of steps of a ring grows with the ranks, not with their logarithm.",
                False,
            ),
        ],
    ),
]

eight, sixteen = ({"V": 1 * GB, "N": n, "W": h100.nvlink_bw} for n in (8, 16))
wide = algorithms.recursive_doubling_bytes.rhs
twice = reduce.subs(N, 2 * N)
predictions = [
    Question(
        "In the direct exchange, each of 8 ranks sends its own chunk to every other rank. Does a rank send fewer bytes "
        "than in the ring, the same number, or more?",
        predict=True,
        choices=[
            (
                "fewer",
                "Every rank still has to receive seven chunks, and some rank has to send them.",
                False,
            ),
            ("the same", "It sends seven chunks in both cases.", True),
            (
                "more",
                "It sends one chunk to each of seven ranks, and in the ring it sends seven chunks as well.",
                False,
            ),
        ],
        solution="The same: seven chunks. In the ring they all go to the same neighbor; in the direct exchange, each goes "
        "to a different rank. The ring takes seven steps, and the direct exchange takes one.",
    ),
    Question(
        "On eight H100s, a ring all-reduce of 1 GB takes 3.89 ms at best. How long does it take on sixteen GPUs with "
        "the same links?",
        predict=True,
        given=eight,
        choices=[
            ("about half as long", "Each rank still has to receive nearly the whole sum.", twice < 0.6 * reduce),
            ("about the same", "The bytes per rank hardly change.", twice < 1.1 * reduce),
            ("twice as long", "There are twice as many steps, but each chunk is half as large.", twice > 1.9 * reduce),
        ],
        solution=f"About the same: {show(algorithms.ring_all_reduce(alpha=0, **sixteen), 's')}. There are more steps, but each chunk is smaller. "
        "The bytes per rank grow from 1.75 to 1.875 times the array.",
    ),
    Question(
        "Recursive doubling takes three steps on eight ranks, and the ring takes fourteen. Which one is faster for an "
        "all-reduce of 1 GB?",
        predict=True,
        given={"V": 1 * GB, "N": 8},
        choices=[
            (
                "recursive doubling",
                "Count the bytes: each of its three steps sends the whole array.",
                wide < algorithms.all_reduce_bytes.rhs,
            ),
            (
                "both are equally fast",
                "The bytes differ: it is three arrays in one case, and less than two in the other.",
                Eq(wide, algorithms.all_reduce_bytes.rhs),
            ),
            ("the ring", "For a large array only the bytes count.", wide > algorithms.all_reduce_bytes.rhs),
        ],
        solution="The ring. Recursive doubling sends the whole array in each of its three steps, so three arrays. The "
        f"ring sends {show(algorithms.all_reduce_bytes(V=1, N=8), '1')} arrays, and at this size its steps cost little.",
    ),
    Question(
        "A ring all-reduce of a large array keeps the links of eight H100s fully busy, at 450 GB/s. Divide the size of "
        "the array by the time. What do you get?",
        predict=True,
        pick="smallest",
        given=NODE,
        choices=[
            ("450 GB/s", "Each rank sends more bytes than the array has.", Abs(V / reduce - W)),
            ("257 GB/s", "The links carry 1.75 bytes per byte of the array.", Abs(V / reduce - 4 * W / 7)),
            ("225 GB/s", "That would be the limit of very many ranks.", Abs(V / reduce - W / 2)),
        ],
        solution=f"{show(NODE['W'] * 4 / 7, 'B/s')}. Each rank sends 1.75 bytes per byte of the array. Benchmarks "
        "therefore print a second number, in which this factor is undone.",
    ),
]

questions = QuestionSet(
    "rings_and_trees",
    "Ring and tree algorithms",
    intro="Questions on bytes, steps and latency, and on reading benchmarks.",
    chapter="rings_and_trees",
    questions=[*sizes, *steps, *published, *reading, *predictions],
)
