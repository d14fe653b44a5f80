"""Practice questions on measured collectives."""

import numpy as np

from gpuscale import chip, measured
from gpuscale.collectives import algorithms, alpha_beta, bus_bandwidth, exchange, hierarchy
from gpuscale.one_gpu import memory
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import M, N, T_comms, V, W, W_bus, W_node, alpha, eta
from gpuscale.units import MB, GiB, KiB, show, us

h100 = chip("h100_sxm")
sweep = measured("allreduce_h200")
sizes = np.array([r["size"] for r in sweep.rows])
times = sizes * bus_bandwidth.all_reduce_bus(W_alg=1, N=8) / [r["busbw_queued"] for r in sweep.rows]
fit = alpha_beta(sizes, times)
LINE = {"alpha": fit.alpha, "W": fit.W}
four = measured("allreduce_h200").row(size=2**30)
gathered = measured("all_gather_stated").rows[0]
HALF = memory.half_size(alpha=fit.alpha, W=fit.W)
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
            "A sweep is fitted by a latency of {alpha:3} and an algorithm bandwidth of {W:3}. At which size does it reach "
            "half of that bandwidth?",
            answer=memory.half_size,
            given=[LINE, {"alpha": 60 * us, "W": fit.W}],
            mistakes={"At that size the bytes take twice the latency.": 2 * alpha * W},
            remark="There the latency and the bytes take equally long.",
        ),
        Question(
            "By the same line ({alpha:3}, {W:3}), how long does an all-reduce of {V} take?",
            answer=memory.transfer_time,
            given=[LINE | {"V": 16 * KiB}, LINE | {"V": 25 * MB}],
            mistakes={"That leaves out the latency.": V / W},
        ),
        Question(
            "What fraction of the fitted bandwidth does a vector of {V} reach on that line ({alpha:3}, {W:3})?",
            answer=memory.effective_bandwidth.rhs / W,
            given=[LINE | {"V": 25 * MB}, LINE | {"V": 1 * MB}],
            unit="1",
            mistakes={"That is the fraction of the time that is latency.": alpha / (alpha + V / W)},
            solution=[
                (memory.effective_bandwidth.rhs, "the bandwidth that it reaches"),
                (V / (V + alpha * W), "over the fitted bandwidth"),
            ],
        ),
        Question(
            "A planner computes a ring all-reduce of {V} on {N} H100s with the NVLink bandwidth of the data sheet. "
            "Measured rings reach {eta} of it. How long will it really take?",
            answer=RING.rhs.subs(W, eta * W),
            given={"V": 1 * GiB, "N": 8, "W": h100.nvlink_bw, "eta": 0.81},
            unit="s",
            mistakes={
                "That is the time at the full link bandwidth.": RING,
                "The fraction makes it slower, not faster.": RING.rhs * eta,
            },
            solution=[(RING.rhs, "at the full link"), (RING.rhs.subs(W, eta * W), "at the fraction that rings reach")],
        ),
        Question(
            'Find the error. "Our all-gather took {T_comms}, and V/T is {W_bus:3}, so we use all but a fifth of the '
            '{W} of the link." The buffer is {V} on {N} GPUs. What fraction of the link did they really use?',
            answer=V * (N - 1) / (N * T_comms * W),
            given={
                "V": gathered["size"],
                "T_comms": gathered["time"],
                "N": 8,
                "W": h100.nvlink_bw,
                "W_bus": gathered["size"] / gathered["time"],
            },
            unit="1",
            mistakes={
                "V over T is not what a link carries: each rank already holds one part in N.": V / (T_comms * W),
                "That is the fraction that is lost.": 1 - V * (N - 1) / (N * T_comms * W),
                "That is the fraction that is lost, and by V over T, which is not what a link carries.": 1
                - V / (T_comms * W),
            },
            solution=[
                (V * (N - 1) / (N * T_comms), "what the link carried each second"),
                (V * (N - 1) / (N * T_comms * W), "of what it could"),
            ],
            remark="V over T overstates what a link carried.",
        ),
        Question(
            "Eighty H100s in {M} nodes run an all-to-all on an array of {V} in total. How long does it take at least?",
            answer=exchange.node_all_to_all,
            given={"V": 80 * GiB, "M": 10, "W_node": 8 * h100.nic_bw},
            mistakes={"One block in M stays in its node.": V / (M * W_node)},
            hint="Each node has eight NICs; the hardware tables have their bandwidth.",
            remark="Measured: about a tenth more than that.",
        ),
        Question(
            "A fit over all sizes of a sweep is a third too fast in the middle and a tenth too slow at the large end. "
            "What is the likely reason?",
            choices=[
                (
                    "the library changes algorithm or protocol there",
                    "Each algorithm and protocol has a line of its own.",
                    True,
                ),
                ("the link is slower for middle sizes", "The link does not know the size of the message.", False),
                ("the latency is not constant at small sizes", "Then the small end would not fit.", False),
            ],
        ),
        Question(
            "The fitted line gives a bus bandwidth close to the full NVLink bandwidth of a GPU. How can that be, when rings reach "
            "only four fifths of it?",
            predict=True,
            choices=[
                ("the links were overclocked", "Nobody overclocks NVLink.", False),
                (
                    "the switch adds, so fewer bytes cross each link than the bus bandwidth assumes",
                    "Bus bandwidth counts the bytes of a ring.",
                    True,
                ),
                ("the fit is wrong", "The largest messages confirm it.", False),
            ],
            solution="The switch adds. Bus bandwidth is defined by the bytes that a ring would send, and with NVLink SHARP each GPU sends "
            "about half of them. The number may even exceed the link.",
        ),
        Question(
            f"The fit has a latency of {show(fit.alpha, 's')} and moves the vector at {show(fit.W, 'B/s')}. By this fitted line, at which size "
            "does an all-reduce on eight H200s reach half of its bandwidth?",
            predict=True,
            choices=[
                ("about 5 kB", "These bytes take far less time than the latency.", bool(HALF < 50e3)),
                ("about 5 MB", "Latency times bandwidth.", bool(1e6 < HALF < 10e6)),
                ("about 500 MB", "There the latency is only about a percent of the time.", bool(HALF > 100e6)),
            ],
            solution=f"At {show(HALF, 'B')}: there, moving the bytes takes as long as the latency. (The measured calls need about "
            f"{show(SEEN, 'MB', digits=2)}, because the line is too optimistic there.)",
        ),
        Question(
            "Ten H100 nodes all-gather 16 GiB. A hierarchical scheme would give a bus bandwidth of "
            f"{show(FULL, 'B/s')} with full overlap of NVLink and NICs, and {show(NONE, 'B/s')} with no overlap. "
            "NCCL runs flat rings instead. What did they reach?",
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
            solution=f"In between: {show(TEN, 'B/s')}, or {show(TEN / (8 * h100.nic_bw), '%', digits=2)} of the NIC limit.",
        ),
    ],
)
