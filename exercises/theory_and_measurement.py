"""Practice questions on measured collectives."""

import numpy as np

from gpuscale import chip, measured
from gpuscale.collectives import algorithms, alpha_beta, bus_bandwidth, exchange
from gpuscale.one_gpu import memory
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import M, N, T_comms, V, W, W_bus, W_node, alpha, eta
from gpuscale.units import MB, GiB, KiB, us

h100 = chip("h100_sxm")
sweep = measured("allreduce_h200")
sizes = np.array([r["size"] for r in sweep.rows])
fit = alpha_beta(sizes, sizes * bus_bandwidth.all_reduce_bus(W_alg=1, N=8) / [r["busbw_queued"] for r in sweep.rows])
LINE = {"alpha": fit.alpha, "W": fit.W}
four = measured("allreduce_h200").row(size=2**30)
gathered = measured("all_gather_stated").rows[0]
RING = algorithms.ring_all_reduce.where(alpha=0)
from_bus = 2 * V * (N - 1) / (N * W_bus)

questions = QuestionSet(
    "theory_and_measurement",
    "Theory against measurement",
    intro="Questions on sweeps, fitted lines and the numbers that go into a plan.",
    chapter="theory_and_measurement",
    questions=[
        Question(
            "An all-reduce of {V} on {N} GPUs is printed with a bus bandwidth of {W_bus}. How long did it take?",
            answer=from_bus,
            given=[{"V": 1 * GiB, "N": 8, "W_bus": four["busbw"]}, {"V": 1 * GiB, "N": 4, "W_bus": four["busbw"]}],
            unit="s",
            mistakes={
                "That takes the bus bandwidth for the algorithm bandwidth.": V / W_bus,
                "That is for an all-gather; an all-reduce makes two passes.": V * (N - 1) / (N * W_bus),
            },
            solution=[
                (bus_bandwidth.all_reduce_bus.rhs, "how bus bandwidth is defined"),
                (from_bus, "solved for the time"),
            ],
        ),
        Question(
            "A sweep is fitted by a wait of {alpha:3} and an algorithm bandwidth of {W:3}. At which size do the two "
            "cost the same?",
            answer=memory.half_size,
            given=[LINE, {"alpha": 60 * us, "W": fit.W}],
            mistakes={"At that size the bytes take twice the wait.": 2 * alpha * W},
            remark="Half of the bandwidth is reached there.",
        ),
        Question(
            "By the same line ({alpha:3}, {W:3}), how long does an all-reduce of {V} take?",
            answer=memory.transfer_time,
            given=[LINE | {"V": 16 * KiB}, LINE | {"V": 25 * MB}],
            mistakes={"That leaves out the wait.": V / W},
        ),
        Question(
            "Which share of its best bandwidth does a vector of {V} see on that line ({alpha:3}, {W:3})?",
            answer=memory.effective_bandwidth.rhs / W,
            given=[LINE | {"V": 25 * MB}, LINE | {"V": 1 * MB}],
            unit="1",
            mistakes={"That is the share of the time that is spent waiting.": alpha / (alpha + V / W)},
            solution=[
                (memory.effective_bandwidth.rhs, "bandwidth that it sees"),
                (V / (V + alpha * W), "over the best"),
            ],
        ),
        Question(
            "A planner computes a ring all-reduce of {V} on {N} H100 with the {W} of the data sheet. Measured "
            "rings keep "
            "{eta} of it. How long will it really take?",
            answer=RING.rhs.subs(W, eta * W),
            given={"V": 1 * GiB, "N": 8, "W": h100.nvlink_bw, "eta": 0.81},
            unit="s",
            mistakes={"That is the data sheet's time.": RING, "The share makes it slower, not faster.": RING.rhs * eta},
            solution=[(RING.rhs, "at the full link"), (RING.rhs.subs(W, eta * W), "at the share that is left")],
        ),
        Question(
            'Find the error. "Our all-gather took {T_comms}, and V/T is {W_bus:3}, so we miss only a fifth of the '
            '{W} of the link." The buffer is {V} on {N} GPUs. Which share of the link did they really use?',
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
                "That is the share that is lost.": 1 - V * (N - 1) / (N * T_comms * W),
                "That is the share that is lost, and by V over T, which is not what a link carries.": 1
                - V / (T_comms * W),
            },
            solution=[
                (V * (N - 1) / (N * T_comms), "what the link carried each second"),
                (V * (N - 1) / (N * T_comms * W), "of what it could"),
            ],
            remark="V over T is larger than what a link carried, so it flatters.",
        ),
        Question(
            "Eighty H100 in {M} nodes all-to-all an array of {V} in all, each node with {W_node} of network. How "
            "long "
            "must it take at least?",
            answer=exchange.node_all_to_all,
            given={"V": 80 * GiB, "M": 10, "W_node": 8 * h100.nic_bw},
            mistakes={"One block in M stays in its node.": V / (M * W_node)},
            remark="Measured: about a tenth more than that.",
        ),
        Question(
            "A fit over all sizes of a sweep is a third too fast in the middle and a tenth too slow at the large end. "
            "What is the likely reason?",
            choices=[
                ("the library changes algorithm or protocol there", "Each piece has a line of its own.", True),
                ("the link is slower for middle sizes", "The link does not know the size of the message.", False),
                ("the wait is not constant at small sizes", "Then the small end would not fit.", False),
            ],
        ),
    ],
)
