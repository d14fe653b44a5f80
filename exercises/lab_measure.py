"""Practice questions of the lab on measuring a cluster."""

from sympy import Eq

from gpuscale import chip
from gpuscale.collectives import all_reduce_bus, bus_bandwidth, calls
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import N, T_comms, T_mem, V, W_alg, W_bus, W_fit, alpha_call
from gpuscale.units import GB, GiB, KiB, MiB, ms, show, us

h100 = chip("h100_sxm")
RATIO = all_reduce_bus(W_alg=1, N=8)
RANKS = 2 * W_alg / (2 * W_alg - W_bus)

questions = QuestionSet(
    "lab_measure",
    "Lab: measure your own cluster",
    intro="Questions on times, bandwidths and what a file of measurements has to say.",
    chapter="lab_measure",
    questions=[
        Question(
            "An all-reduce of {V} on {N} ranks takes {T_comms}. What is its bus bandwidth?",
            answer=2 * V * (N - 1) / (N * T_comms),
            given=[{"V": 1 * GiB, "N": 8, "T_comms": 5 * ms}, {"V": 4 * MiB, "N": 4, "T_comms": 8 * ms}],
            unit="B/s",
            mistakes={
                "That is the algorithm bandwidth: bytes of the buffer over time.": V / T_comms,
                "That is the factor of an all-gather; an all-reduce makes two passes.": V * (N - 1) / (N * T_comms),
            },
            solution=[
                (V / T_comms, "the algorithm bandwidth"),
                (2 * V * (N - 1) / (N * T_comms), "times the factor of an all-reduce"),
            ],
        ),
        Question(
            "A log of an all-reduce has lost its header. Its largest row prints an algorithm bandwidth of {W_alg:4} and a bus "
            "bandwidth of {W_bus:4}. How many ranks took part?",
            answer=RANKS,
            given=[
                {"W_alg": 200 * GB, "W_bus": 200 * GB * all_reduce_bus(W_alg=1, N=16)},
                {"W_alg": 160 * GB, "W_bus": 160 * GB * all_reduce_bus(W_alg=1, N=4)},
            ],
            mistakes={"That is the factor of an all-gather; an all-reduce makes two passes.": W_bus / (W_bus - W_alg)},
            hint="How does the factor of an all-reduce depend on the number of ranks? Solve for $N$.",
            solution=[
                (bus_bandwidth.all_reduce_bus.rhs, "how the bus bandwidth is defined"),
                (RANKS, "solved for the number of ranks"),
            ],
        ),
        Question(
            "nccl-tests prints a size of {V} for an all-to-all on {N} ranks. How many bytes does a rank send to others?",
            answer=V * (N - 1) / N,
            given=[{"V": 64 * MiB, "N": 8}, {"V": 1 * GiB, "N": 16}],
            unit="B",
            mistakes={
                "A rank keeps its own part.": V,
                "The size is the buffer of one rank, not that of all of them.": V * (N - 1) / N**2,
            },
            solution=[(V * (N - 1) / N, "the size is the buffer of one rank, of which it keeps one part")],
        ),
        Question(
            "A fit of an all-gather has a latency of {alpha_call} and a bandwidth of {W_fit}. At what size is half of this "
            "bandwidth reached?",
            answer=calls.call_half_size,
            given=[{"alpha_call": 20 * us, "W_fit": 400 * GB}, {"alpha_call": 400 * us, "W_fit": 0.4 * GB}],
            mistakes={"At that size the bytes take twice the latency.": 2 * alpha_call * W_fit},
            solution=calls.call_half_size,
        ),
        Question(
            "A triad computes a = b + 3c on arrays of {V} each, in {T_mem}. Which memory bandwidth is that?",
            answer=3 * V / T_mem,
            given=[{"V": 1 * GiB, "T_mem": 1.1 * ms}, {"V": 32 * MiB, "T_mem": 20 * ms}],
            unit="B/s",
            mistakes={
                "That counts two arrays, as a copy moves them.": 2 * V / T_mem,
                "That counts one array. A triad reads two and writes one.": V / T_mem,
            },
            solution=[(3 * V / T_mem, "two arrays are read, and one is written")],
        ),
        Question(
            "A script takes `time.time()` before and after a matrix multiplication on a GPU, with no synchronization. What does "
            "the difference measure?",
            choices=[
                ("the multiplication", "The call returns before the GPU has begun.", False),
                ("the launch of the kernel", "The call only puts the kernel into a queue.", True),
                ("the multiplication and the transfer of its result", "Nothing waits for either.", False),
            ],
            solution="The launch, a few microseconds whatever the size. Record an event before and after, or synchronize the "
            "device before you read the clock.",
        ),
        Question(
            "Four ranks time the same call and get four different times. Which one belongs in the file?",
            choices=[
                ("the minimum", "Some ranks leave a collective early; the others still work.", False),
                ("the mean", "A step of training waits for its last rank, not for the average one.", False),
                ("the maximum", "The collective has ended when its last rank has ended.", True),
            ],
            solution="The maximum over ranks. Repeat the measurement, and take the minimum or the median over repetitions.",
        ),
        Question(
            f"One all-reduce is of {show(4 * KiB, 'KiB')}, the other of {show(64 * KiB, 'KiB')}, sixteen times as large. How "
            "many times as long will the larger one take on your machine?",
            predict=True,
            choices=[
                ("sixteen times", "That would be right if bandwidth alone mattered.", False),
                ("about four times", "Look at the latency of the smaller one again.", False),
                ("less than twice as long", "Both times are mostly latency.", True),
            ],
            solution="Usually less than twice. A call over sockets costs some hundred microseconds before the first byte "
            "counts, and so small a message adds little. If your run says otherwise, your latency is very low, or another "
            "program was busy.",
        ),
        Question(
            "gloo runs a reduce-scatter as a whole all-reduce. How many bytes does a rank send, compared with an all-gather of "
            "the same buffer?",
            predict=True,
            choices=[
                ("half as many", "An all-reduce makes two passes over the buffer.", False),
                ("equally many", "That holds for a ring, where both are half of an all-reduce.", False),
                ("twice as many", "An all-reduce makes two passes, an all-gather one.", True),
            ],
            solution="Twice as many, on any number of ranks. NCCL has a reduce-scatter of its own, which sends as many bytes as "
            "an all-gather.",
        ),
        Question(
            "On one laptop, four ranks are declared to be two nodes of two ranks. How will the fit across nodes compare with the "
            "one inside a node?",
            predict=True,
            choices=[
                ("lower bandwidth, higher latency", "No NIC is involved here.", False),
                ("the same, up to noise", "All ranks talk over the loopback interface.", True),
                ("higher bandwidth, lower latency", "All ranks talk over the loopback interface.", False),
            ],
            solution="The same, up to noise: both levels are the loopback interface of one machine. What differs from run to run "
            "is noise, which tells you how many digits of your fits to believe.",
        ),
        Question(
            f"The header of a log is lost. In its last row, the bus bandwidth of an all-reduce is {show(RATIO, '1', digits=3)} "
            "times the algorithm bandwidth. How many GPUs took part?",
            predict=True,
            given={"W_alg": 1, "W_bus": RATIO},
            choices=[
                ("4", "Four GPUs have a factor of 1.5.", Eq(RANKS, 4)),
                ("8", "Two passes over seven eighths of the buffer.", Eq(RANKS, 8)),
                ("16", "Sixteen GPUs have a factor of 1.875.", Eq(RANKS, 16)),
            ],
            solution="Eight: the factor of an all-reduce is $2(N-1)/N$.",
        ),
        Question(
            f"A file writes Gbit/s where GB/s was meant, so its peak of the NIC is {show(h100.nic_bw / 8, 'B/s')} instead of "
            f"{show(h100.nic_bw, 'B/s')}. The measured rate is right. What should a planner do?",
            choices=[
                (
                    "plan with a network that is faster than its own peak",
                    "No all-gather exceeds the peak of its link.",
                    False,
                ),
                ("round the fraction down to one", "Then the wrong peak stays in every plan.", False),
                ("refuse, and name the file and the row", "A fraction above one means that a number is wrong.", True),
            ],
            solution="Refuse. A fraction of a peak above one, or near zero, is nearly always a wrong unit or a wrong row, and only "
            "the owner of the file can say which.",
        ),
    ],
)
