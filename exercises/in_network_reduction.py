"""Practice questions on in-network reduction."""

from sympy import Eq

from gpuscale import chip, measured, show
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
sent = in_network.nvls_bytes.rhs

questions = QuestionSet(
    "in_network_reduction",
    "In-network reduction: NVLink SHARP",
    intro="Questions on in-network reduction, and on bandwidths above that of the link.",
    chapter="in_network_reduction",
    questions=[
        Question(
            "{N} H100 SXM in a node all-reduce an array of {V} in the switch. Each owner keeps its own chunk to itself. "
            "How long does it take at best?",
            answer=plain,
            given=[{"V": 1 * GB, "N": 8, "W": h100.nvlink_bw}, {"V": 3 * GB, "N": 4, "W": h100.nvlink_bw}],
            mistakes={
                "That is the ring.": RING.where(alpha=0),
                "A GPU sends and receives at the same time, because a link carries both directions at once.": 2 * V / W,
                "The finished sum goes back to the switch, too.": V * (N - 1) / (N * W),
            },
            hint="The NVLink bandwidth of an H100 is in the hardware tables. Use one direction.",
            remark="The number of GPUs doesn't matter, because each GPU sends the array exactly once.",
            vary={N: (4, 8)},
        ),
        Question(
            "How many times faster than a ring is an all-reduce with NVLink SHARP, for large arrays on {N} GPUs, if each owner keeps "
            "its own chunk to itself?",
            answer=in_network.nvls_gain,
            given=[{"N": 8}, {"N": 4}],
            mistakes={
                "Two is only the limit for many GPUs.": {"N": 10**6},
                "That is for a switch that reads the owner's chunk, too.": in_network.nvls_gain_self,
            },
        ),
        Question(
            "Give the bytes that a GPU sends for an array of $V$ bytes on $N$ GPUs, if the switch reads *all* chunks, "
            "including the owner's, and each owner sends back one sum.",
            answer=V * (N + 1) / N,
            unit="B",
            symbols=(V, N),
            mistakes={
                "That is without the owner's own chunk.": V,
                "That is the ring.": 2 * V * (N - 1) / N,
                "Each chunk goes to the switch once, and each owner sends back only one sum, V/N.": 2 * V,
                "The finished sum of V/N goes back as well.": V * (N - 1) / N,
            },
            solution=[(V, "all chunks go to the switch"), (V + V / N, "and each owner sends back one sum")],
        ),
        Question(
            'Find the error. "With SHARP we measured {W_bus} on eight H200s. That is more than the link bandwidth, so '
            'the benchmark is wrong." The number is a bus bandwidth. How many bytes per second did each GPU really send, '
            "if the switch reads all chunks?",
            answer=used,
            given={"W_bus": eight["busbw"], "N": 8},
            unit="B/s",
            mistakes={
                "That is the algorithm bandwidth. Each GPU sends the array and one more chunk.": W_bus
                * N
                / (2 * (N - 1)),
                "That is the printed number, which assumes a ring.": W_bus + 0,
            },
            solution=[
                (W_bus * N / (2 * (N - 1)), "algorithm bandwidth: undo the factor 2(N - 1)/N"),
                (used, "times the (N + 1)/N arrays that each GPU sends"),
            ],
        ),
        Question(
            "A benchmark on {N} GPUs prints a bus bandwidth of {W_bus} for an all-reduce. What is the algorithm "
            "bandwidth?",
            answer=W_bus * N / (2 * (N - 1)),
            given=[{"W_bus": eight["busbw_ring"], "N": 8}, {"W_bus": eight["busbw_ring"], "N": 4}],
            unit="B/s",
            mistakes={
                "The bus bandwidth is the larger one.": bus_bandwidth.all_reduce_bus.rhs.subs(W_alg, W_bus),
                "That is for an all-gather.": W_bus * N / (N - 1),
            },
            solution=[(bus_bandwidth.all_reduce_bus.rhs, "bus bandwidth"), (W_bus * N / (2 * (N - 1)), "solved")],
        ),
        Question(
            "An all-reduce with NVLink SHARP keeps the links of {N} GPUs in a GB200 rack {eta:%} busy. The switch reads "
            "all chunks. Which bus bandwidth does a benchmark print?",
            answer=in_network.nvls_bus,
            given=[{"eta": 0.7, "W": gb200.nvlink_bw, "N": 72}, {"eta": 0.7, "W": gb200.nvlink_bw, "N": 8}],
            mistakes={"That is what crosses each link.": eta * W},
            hint="The NVLink bandwidth of a GB200 is in the hardware tables. Use one direction.",
            vary={N: (8, 16, 32, 36, 64, 72)},
        ),
        Question(
            "A ring reaches {r_ring} times the link utilization of the switch, and the switch reads all chunks. On how "
            "many GPUs are the two equally fast for large arrays?",
            answer=in_network.nvls_from,
            given=[{"r_ring": 1.2}, {"r_ring": 1.5}],
            noun="GPUs",
            mistakes={
                "That would be right if both had the same utilization.": {"r_ring": 1},
                "That is for a switch that doesn't read the owner's chunk.": 2 / (2 - r_ring),
            },
        ),
        Question(
            "Which collective gains nothing from the switch for large arrays?",
            given={"N": 72},
            choices=[
                ("the all-gather", "Each GPU still has to receive everything that it lacks.", True),
                ("the all-reduce on eight GPUs", "Each GPU sends its array once instead of nearly twice.", False),
                ("the all-reduce on {N} GPUs of a rack", "With so many GPUs, the gain is close to two.", False),
            ],
        ),
        Question(
            "In an idealized model, each step of a ring and each round trip through the switch has a latency of {alpha}. What "
            "makes the switch so much faster in this model, for an array of {V} on {N} H100s?",
            given={"V": 32 * KiB, "N": 8, "alpha": 2 * us, "W": h100.nvlink_bw},
            choices=[
                (
                    "fewer steps",
                    "The bytes take only a small part of the time. With ordinary buffers, however, a round trip takes much "
                    "longer than a step, so NCCL chooses the ring at this size.",
                    2 * (N - 1) * alpha > 2 * V / W,
                ),
                (
                    "fewer bytes",
                    "The bytes take only a small part of the time here, and latency takes the rest.",
                    2 * (N - 1) * alpha < V / W,
                ),
                ("a faster link", "Both use the same links.", False),
            ],
        ),
        Question(
            "Eight GPUs all-reduce an array of {V} in the four phases of the figure. In a ring, each GPU sends 1.75 GB. "
            "How much does each GPU send here?",
            predict=True,
            given={"V": 1 * GB, "N": 8},
            choices=[
                ("875 MB", "That is phase 1. In phase 3 each GPU sends the sum of its own chunk.", Eq(sent, 7 * V / 8)),
                ("1 GB", "Seven chunks in phase 1, and one chunk in phase 3.", Eq(sent, V)),
                ("1.75 GB", "The switch makes the copies, so each sum is sent only once.", Eq(sent, 7 * V / 4)),
                ("8 GB", "Each chunk is sent to the switch only once.", Eq(sent, 8 * V)),
            ],
            solution=f"{show(GB, 'B')}: seven chunks in phase 1 and one chunk in phase 3. Together that is exactly the "
            "array.",
        ),
        Question(
            f"On eight H200s with links of {show(h200.nvlink_bw, 'B/s')}, a benchmark prints a bus bandwidth of "
            f"{show(eight['busbw'], 'B/s')}. What happened?",
            predict=True,
            choices=[
                (
                    "the benchmark is wrong",
                    "The time is right. Ask how the benchmark computes a bandwidth from it.",
                    False,
                ),
                ("the links run above their nominal rate", "No link carries that many bytes.", False),
                ("fewer bytes crossed the links than the formula assumes", "The formula assumes a ring.", True),
            ],
            solution="Fewer bytes crossed the links. The bus bandwidth assumes that a ring has moved the bytes. The "
            "switch needs fewer of them for the same array, so the printed number can be higher than the bandwidth of "
            "the link.",
        ),
        Question(
            "The switch can also copy for an all-gather. How much faster than in a ring is a large all-gather at best?",
            predict=True,
            choices=[
                (
                    "nearly twice as fast",
                    "That holds for the all-reduce, in which a ring sends the array twice.",
                    False,
                ),
                ("not faster", "Each GPU still has to receive all chunks but its own.", True),
                (
                    "as many times faster as there are GPUs",
                    "A GPU sends less, but it still has to receive all chunks but its own.",
                    False,
                ),
            ],
            solution="Not faster. A GPU sends less, because the switch makes the copies. But it still has to receive "
            "all chunks but its own through the same link, and this takes as long as in a ring.",
        ),
    ],
)
