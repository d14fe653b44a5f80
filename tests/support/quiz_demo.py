"""A small question set of every kind, for the tests of the quiz."""

from sympy import Max

from gpuscale.core import Derivation
from gpuscale.quiz import Question, QuestionSet, Times, both_directions, gib_for_gb
from gpuscale.symbols import B, C, D, F, T, V, W, W_hbm, alpha, b, flop, n, n_lane, n_sm
from gpuscale.units import GB, MB, TB, TFLOP, us

SHAPE = {"D": 4096, "F": 16384, "b": 2, "C": 990 * TFLOP, "W_hbm": 3.35 * TB}

READ = Question(
    "How long does it take to read {V} at {W}?",
    answer=V / W,
    given=[{"V": 64 * MB, "W": 3.35 * TB}, {"V": 2 * GB, "W": 8 * TB}],
    mistakes={**gib_for_gb(V), "Four passes & more; *one* is asked.": Times(4)},
    solution=[(V / W, "every byte crosses the link once")],
    remark="Each byte crosses once, at {W:symbol}.",
)
BINDS = Question(
    "A matmul with {B} rows, $D$ = {D} and $F$ = {F} runs in bf16. What sets its time?",
    given=[SHAPE | {"B": 64}, SHAPE | {"B": 4096}],
    choices=[
        ("arithmetic", "Few rows share each weight.", 2 * flop * B * D * F / C > b * D * F / W_hbm),
        ("HBM", "A weight serves {B} rows.", 2 * flop * B * D * F / C < b * D * F / W_hbm),
        ("the `L2` cache", "It is faster than HBM.", False),
    ],
    solution="Compare the two times.",
)
DELIVER = Question(
    r"Give the time in which HBM of $W_\mathrm{HBM}$ delivers $D \times F$ elements of $b$ bytes after $\alpha$.",
    answer=alpha + b * D * F / W_hbm,
    symbols=(alpha, b, D, F, W_hbm, C),
    mistakes={"That leaves out the wait.": b * D * F / W_hbm, "That is one row.": alpha + b * D / W_hbm},
    solution=Derivation(T).given(alpha + b * D * F / W_hbm, "the wait, then the bytes"),
)
CORES = Question(
    "How many lanes have {n_sm} SMs with {n_lane} lanes each?",
    answer=n_sm * n_lane,
    given={"n_sm": 132, "n_lane": 128},
    exact=True,
    noun="lanes",
    mistakes={"That is one subpartition; an SM has four.": n_sm * n_lane / 4, "Those are the SMs.": n_sm},
)
RIDGE = Question(
    "What is the ridge point of {C:4} against {W_hbm}?",
    answer=C / W_hbm,
    given={"C": 989.4 * TFLOP, "W_hbm": 3.35 * TB},
    mistakes={"That is the rate with sparsity, and then some.": {"C": 3 * C}},
    hint="Divide the two rates.",
)
LINK = Question(
    "A link of {W:GB/s} carries {V:MB} in each direction. How long?",
    answer=V / W,
    given={"V": 9 * MB, "W": 450 * GB},
    mistakes=both_directions(W),
    tolerance=0.01,
)
SHARE = Question("Which share of {n:count} are {B}?", answer=B / n, given={"B": 27, "n": 100}, unit="%")
NOTHING = Question(
    "How long does nothing wait?", answer=alpha * B, given={"alpha": 0 * us, "B": 3}, unit="s", exact=True
)
LONGER = Question(
    r"Give the larger of the two times, $V/W$ and $\alpha$.",
    answer=Max(V / W, alpha),
    symbols=(V, W, alpha),
    unit="s",
    mistakes={"That is the sum.": V / W + alpha, "That ignores the wait.": V / W},
)

demo = QuestionSet(
    "demo",
    "Demonstration",
    [READ, BINDS, DELIVER, CORES, RIDGE, LINK, SHARE, NOTHING, LONGER],
    intro="Nine questions.",
)
