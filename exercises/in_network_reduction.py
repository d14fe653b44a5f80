"""Practice questions on reduction in the switch."""

from gpuscale import chip, measured
from gpuscale.collectives import algorithms, bus_bandwidth, in_network
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, V, W, W_alg, W_bus, alpha, eta, r_ring
from gpuscale.units import GB, KiB, us

h100, h200, gb200 = (chip(key) for key in ("h100_sxm", "h200_sxm", "gb200"))
eight = next(r for r in measured("nvls_by_gpu_count").rows if r["part"] == "h200_sxm" and r["gpus"] == 8)
plain = in_network.nvls_all_reduce.where(alpha=0)
RING = algorithms.ring_all_reduce
SWITCH = in_network.nvls_all_reduce
used = W_bus * (N + 1) / (2 * (N - 1))

questions = QuestionSet(
    "in_network_reduction",
    "In-network reduction",
    intro="Questions on sums that the switch does, and on bandwidths above the wire.",
    chapter="in_network_reduction",
    questions=[
        Question(
            "{N} H100 of a node all-reduce a vector of {V}, summed in the switch ({W} each, one way). Owners "
            "keep their "
            "own part to themselves. How long does it take at best?",
            answer=plain,
            given=[{"V": 1 * GB, "N": 8, "W": h100.nvlink_bw}, {"V": 3 * GB, "N": 4, "W": h100.nvlink_bw}],
            mistakes={
                "That is the ring.": RING.where(alpha=0),
                "Sending to the switch and receiving from it go on at the same time: a link carries both directions.": 2
                * V
                / W,
                "The finished part goes back to the switch, too.": V * (N - 1) / (N * W),
            },
            remark="The number of GPUs does not matter.",
        ),
        Question(
            "How many times faster than a ring is that, for large vectors and {N} GPUs?",
            answer=in_network.nvls_gain,
            given=[{"N": 8}, {"N": 4}],
            mistakes={
                "Two is the limit of many GPUs.": {"N": 10**6},
                "That is for a switch that reads the owner's part too.": in_network.nvls_gain_self,
            },
        ),
        Question(
            "Give the bytes that a GPU sends, for a vector of V bytes on N GPUs, if the switch reads EVERY part, the "
            "owner's too, and each owner sends back its sum.",
            answer=V * (N + 1) / N,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is without the owner's own part.": V,
                "That is the ring.": 2 * V * (N - 1) / N,
                "Each part goes to the switch once, and only one sum, V/N, goes back from each owner.": 2 * V,
                "The finished part of V/N goes back as well.": V * (N - 1) / N,
            },
            solution=[(V, "every part goes to the switch"), (V + V / N, "and one sum comes back for all")],
        ),
        Question(
            'Find the error. "With SHARP we measured {W_bus} on eight H200, more than a link is rated for, so the '
            "links run "
            'too fast." That number is a bus bandwidth. How many bytes a second did a GPU really send, '
            "if the "
            "switch reads every part?",
            answer=used,
            given={"W_bus": eight["busbw"], "N": 8},
            unit="B/s",
            mistakes={
                "That is the algorithm bandwidth; each GPU sends an N-th more than one vector.": W_bus
                * N
                / (2 * (N - 1)),
                "That is the printed number; it assumes a ring.": W_bus + 0,
            },
            solution=[
                (W_bus * N / (2 * (N - 1)), "algorithm bandwidth: undo the factor 2(N - 1)/N"),
                (used, "times the (N + 1)/N vectors that are sent"),
            ],
        ),
        Question(
            "A benchmark on {N} GPUs prints a bus bandwidth of {W_bus} for an all-reduce. What is the algorithm "
            "bandwidth?",
            answer=W_bus * N / (2 * (N - 1)),
            given=[{"W_bus": eight["busbw_ring"], "N": 8}, {"W_bus": eight["busbw_ring"], "N": 4}],
            unit="B/s",
            mistakes={
                "Bus bandwidth is the larger one.": bus_bandwidth.all_reduce_bus.rhs.subs(W_alg, W_bus),
                "That is for an all-gather.": W_bus * N / (N - 1),
            },
            solution=[(bus_bandwidth.all_reduce_bus.rhs, "bus bandwidth"), (W_bus * N / (2 * (N - 1)), "solved")],
        ),
        Question(
            "With sums in the switch the links of a rack run at {eta} of their {W}. The switch reads every part. "
            "What bus "
            "bandwidth does a benchmark print for {N} GPUs?",
            answer=in_network.nvls_bus,
            given=[{"eta": 0.7, "W": gb200.nvlink_bw, "N": 72}, {"eta": 0.7, "W": gb200.nvlink_bw, "N": 8}],
            mistakes={"That is what crosses each link.": eta * W},
        ),
        Question(
            "A ring keeps {r_ring} times as much of a link as the switch path does, and the switch reads every part. "
            "For how many GPUs are the two equally fast for large vectors?",
            answer=in_network.nvls_from,
            given=[{"r_ring": 1.2}, {"r_ring": 1.5}],
            noun="GPUs",
            mistakes={
                "That is where the gain would be one if both kept the same.": {"r_ring": 1},
                "That is for owners that keep their own part to themselves.": 2 / (2 - r_ring),
            },
        ),
        Question(
            "Which collective gains nothing from the switch for large buffers?",
            given={"N": 72},
            choices=[
                ("the all-gather", "Each GPU must still receive all that it lacks.", True),
                ("the all-reduce on eight GPUs", "Each sends its vector once instead of nearly twice.", False),
                ("the all-reduce on {N} GPUs of a rack", "There the gain is nearest to two.", False),
            ],
        ),
        Question(
            "{V} are all-reduced on {N} GPUs with links of {W}. If each step, through the switch or around the ring, "
            "waits {alpha}: what makes the switch so much faster than the ring?",
            given={"V": 32 * KiB, "N": 8, "alpha": 2 * us, "W": h100.nvlink_bw},
            choices=[
                ("fewer steps", "The bytes take a small part of the time here.", 2 * (N - 1) * alpha > 2 * V / W),
                (
                    "fewer bytes",
                    "The bytes take a small part of the time here; the waits fill it.",
                    2 * (N - 1) * alpha < V / W,
                ),
                ("a faster link", "Both use the same links.", False),
            ],
        ),
    ],
)
