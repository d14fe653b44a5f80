"""Practice questions on measured collectives."""

import numpy as np

from gpuscale import chip, measured
from gpuscale.collectives import algorithms, alpha_beta, bus_bandwidth, calls, exchange, hierarchy
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import M, N, T_comms, V, W, W_bus, W_fit, W_node, alpha_call, eta
from gpuscale.units import MB, GiB, KiB, show, us

h100 = chip("h100_sxm")
sweep = measured("allreduce_h200")
sizes = np.array([r["size"] for r in sweep.rows])
times = sizes * bus_bandwidth.all_reduce_bus(W_alg=1, N=8) / [r["busbw_queued"] for r in sweep.rows]
fit = alpha_beta(sizes, times)
LINE = {"alpha_call": fit.alpha, "W_fit": fit.W}
four = measured("allreduce_h200").row(size=2**30)
gathered = measured("all_gather_stated").rows[0]
HALF = calls.call_half_size(**LINE)
rates = sizes / times
last = int(np.flatnonzero(rates < fit.W / 2)[-1])
SEEN = float(np.exp(np.interp(fit.W / 2, rates[last : last + 2], np.log(sizes[last : last + 2]))))
TEN = measured("collectives_h100_10_nodes").rows[-1]["all_gather"]
pod = {"V": 1, "G": 8, "M": 10, "W_nvl": h100.nvlink_bw, "W_node": 8 * h100.nic_bw}
FULL, NONE = (
    bus_bandwidth.all_gather_bus(W_alg=1 / cost(**pod), N=80)
    for cost in (hierarchy.two_level_links, hierarchy.two_level_sum)
)
RING = algorithms.ring_all_reduce.where(alpha=0)
from_bus = 2 * V * (N - 1) / (N * W_bus)

questions = QuestionSet(
    "theory_and_measurement",
    "Measured bandwidth and latency",
    intro="Questions on sweeps, fitted lines and the numbers that go into a plan.",
    chapter="theory_and_measurement",
    questions=[
        Question(
            "A benchmark prints a bus bandwidth of {W_bus} for an all-reduce of {V} on {N} GPUs. How long did the call take?",
            answer=from_bus,
            given=[{"V": 1 * GiB, "N": 8, "W_bus": four["busbw"]}, {"V": 1 * GiB, "N": 4, "W_bus": four["busbw"]}],
            unit="s",
            mistakes={
                "That uses the bus bandwidth as the algorithm bandwidth.": V / W_bus,
                "That is for an all-gather; an all-reduce makes two passes.": V * (N - 1) / (N * W_bus),
            },
            solution=[
                (bus_bandwidth.all_reduce_bus.rhs, "how bus bandwidth is defined"),
                (from_bus, "solved for the time"),
            ],
        ),
        Question(
            "The line fitted to a sweep has a latency of {alpha_call:3} and an algorithm bandwidth of {W_fit:3}. At what size "
            "does a call reach half of that bandwidth?",
            answer=calls.call_half_size,
            given=[LINE, {"alpha_call": 60 * us, "W_fit": fit.W}],
            mistakes={"At that size the bytes take twice as long as the latency.": 2 * alpha_call * W_fit},
            remark="At that size, the latency and the bytes take equally long.",
        ),
        Question(
            "By the same line ({alpha_call:3}, {W_fit:3}), how long does an all-reduce of {V} take?",
            answer=calls.call_time,
            given=[LINE | {"V": 16 * KiB}, LINE | {"V": 25 * MB}],
            mistakes={"That leaves out the latency.": V / W_fit},
        ),
        Question(
            "What fraction of the fitted bandwidth does an all-reduce of {V} reach on that line ({alpha_call:3}, {W_fit:3})?",
            answer=calls.call_bandwidth.rhs / W_fit,
            given=[LINE | {"V": 25 * MB}, LINE | {"V": 1 * MB}],
            unit="1",
            mistakes={"That is the fraction of the time that is latency.": alpha_call / (alpha_call + V / W_fit)},
            solution=[
                (calls.call_bandwidth.rhs, "the bandwidth that it reaches"),
                (V / (V + alpha_call * W_fit), "over the fitted bandwidth"),
            ],
        ),
        Question(
            "You plan a ring all-reduce of {V} on {N} H100s. Measured rings reach {eta} of the NVLink bandwidth on the data "
            "sheet. How long will the call take?",
            answer=RING.rhs.subs(W, eta * W),
            given={"V": 1 * GiB, "N": 8, "W": h100.nvlink_bw, "eta": 0.81},
            unit="s",
            mistakes={
                "That is the time at the full link bandwidth.": RING,
                "A lower bandwidth makes the call take longer, not shorter.": RING.rhs * eta,
            },
            solution=[(RING.rhs, "at the full link"), (RING.rhs.subs(W, eta * W), "at the fraction that rings reach")],
            vary={eta: (), N: (4, 8)},
        ),
        Question(
            'Find the error. "Our all-gather took {T_comms}. Its full buffer of {V}, divided by this time, is {W_alg:3}. So we '
            'use four fifths of the {W} of the link." The group has {N} GPUs. What fraction of the link did they use?',
            answer=V * (N - 1) / (N * T_comms * W),
            given={
                "V": gathered["size"],
                "T_comms": gathered["time"],
                "N": 8,
                "W": h100.nvlink_bw,
                "W_alg": gathered["size"] / gathered["time"],
            },
            unit="1",
            mistakes={
                "That counts the full buffer, but each GPU holds one of its N shards from the start.": V
                / (T_comms * W),
                "That is the unused fraction.": 1 - V * (N - 1) / (N * T_comms * W),
                "That is the unused fraction, and it counts the full buffer. Each GPU holds one of its N shards from the start.": 1
                - V / (T_comms * W),
            },
            solution=[
                (V * (N - 1) / (N * T_comms), "bytes per second on the link of a GPU, the bus bandwidth"),
                (V * (N - 1) / (N * T_comms * W), "as a fraction of the link"),
            ],
            remark="The algorithm bandwidth, V over T, also counts the shard that a GPU already holds, so it exceeds what the link carried.",
        ),
        Question(
            "Eighty H100s in {M} nodes run an all-to-all. All their buffers together hold {V}. How long does it take at least?",
            answer=exchange.node_all_to_all,
            given={"V": 80 * GiB, "M": 10, "W_node": 8 * h100.nic_bw},
            mistakes={"One part in M of each node's data stays in the node.": V / (M * W_node)},
            hint="Each node has eight NICs; the hardware tables have their bandwidth.",
            remark="The measured all-to-all takes about a tenth longer.",
            fixed="a measured run",
        ),
        Question(
            "You fit one line to all sizes of a sweep. Messages of a few megabytes take much longer than the line predicts. "
            "The smallest and the largest ones take less time than it predicts. What is the most likely reason?",
            choices=[
                (
                    "the library uses another algorithm or protocol for large messages than for small ones",
                    "Each protocol has a line of its own, and one line between the two misses both.",
                    True,
                ),
                (
                    "the links are slower for messages of a few megabytes",
                    "A link has the same bandwidth for every message. What changes with the size is how the library uses it.",
                    False,
                ),
                (
                    "other jobs used the network",
                    "Other jobs would slow calls down at random, not at the same sizes in every sweep.",
                    False,
                ),
            ],
        ),
        Question(
            "The fitted line gives a bus bandwidth close to the full NVLink bandwidth of a GPU. How can that be, when rings reach "
            "only four fifths of it?",
            predict=True,
            choices=[
                (
                    "the links run faster than on the data sheet",
                    "They can't, because the data sheet gives their peak.",
                    False,
                ),
                (
                    "large messages use in-network reduction, which sends fewer bytes than the bus bandwidth assumes",
                    "Bus bandwidth counts the bytes that a ring would send.",
                    True,
                ),
                (
                    "the fit is wrong at large sizes",
                    "The largest messages were measured at an even higher bandwidth.",
                    False,
                ),
            ],
            solution="Bus bandwidth is defined by the bytes that a ring would send. With in-network reduction (NVLink SHARP) the switch "
            "adds up the arrays, and each of eight GPUs sends only about two thirds of these bytes. So a bus bandwidth can even "
            "exceed the bandwidth of the link.",
        ),
        Question(
            f"The fit has a latency of {show(fit.alpha, 's')} and moves the array at {show(fit.W, 'B/s')}. By this fitted line, at what size "
            "does an all-reduce on eight H200s reach half of its bandwidth?",
            predict=True,
            choices=[
                ("about 5 kB", "So few bytes take far less time than the latency.", bool(HALF < 50e3)),
                ("about 5 MB", "It is latency times bandwidth.", bool(1e6 < HALF < 10e6)),
                ("about 500 MB", "At that size, latency is only about a percent of the time.", bool(HALF > 100e6)),
            ],
            solution=f"At {show(HALF, 'B')}, because moving that many bytes takes as long as the latency. (The measured calls reach it at about "
            f"{show(SEEN, 'MB', digits=2)}, because the line predicts too short a time there.)",
        ),
        Question(
            "Ten H100 nodes all-gather 16 GiB. At the data-sheet bandwidths, a hierarchical scheme would give a bus bandwidth of "
            f"{show(FULL, 'B/s')} with full overlap of NVLink and NICs, and {show(NONE, 'B/s')} with no overlap. "
            "NCCL runs flat rings instead. What did they reach in practice?",
            predict=True,
            choices=[
                (
                    "nearly full overlap",
                    "Flat rings send more bytes through the NICs than that scheme.",
                    bool(TEN > 0.9 * FULL),
                ),
                (
                    "something in between",
                    "Flat rings use NVLink and NICs at the same time, but do not fill the NICs.",
                    bool(1.1 * NONE < TEN < 0.9 * FULL),
                ),
                (
                    "even less than without overlap",
                    "Flat rings use NVLink and NICs at the same time.",
                    bool(TEN < NONE),
                ),
            ],
            solution=f"In between: {show(TEN, 'B/s')}, or {show(TEN / (8 * h100.nic_bw), '%', digits=2)} of the NIC limit. "
            "Flat rings use NVLink and NICs at the same time, but they send almost every byte through the NICs, and real links don't "
            "reach their data-sheet bandwidth.",
        ),
    ],
)
