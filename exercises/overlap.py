"""Practice questions on overlap."""

from sympy import Min, sqrt

from gpuscale import chip
from gpuscale.llm import counts, overlap
from gpuscale.quiz import Question, QuestionSet
from gpuscale.symbols import (
    C,
    L_stage,
    T_bucket,
    T_comms,
    T_math,
    W,
    Y,
    alpha,
    b,
    b_grad,
    flop,
    g_slow,
    n_bucket,
    n_steps,
    r_comm,
)
from gpuscale.units import ms, us

h100 = chip("h100_sxm")
llama = counts("llama3_70b")
node_bw = 8 * h100.nic_bw
dp, tp, pp = overlap.dp_ratio, overlap.tp_ratio, overlap.pp_ratio

questions = QuestionSet(
    "overlap",
    "Overlap",
    intro="Questions on what hides behind arithmetic, and on what stays in sight.",
    chapter="overlap",
    questions=[
        Question(
            "A communication takes {T_comms}, the arithmetic that does not wait for it {T_math}. How long do both take "
            "when they overlap fully?",
            answer=overlap.overlapped_time,
            given=[{"T_math": 8 * ms, "T_comms": 6 * ms}, {"T_math": 5 * ms, "T_comms": 9 * ms}],
            mistakes={
                "That is one after the other.": overlap.serial_time,
                "That is the shorter of the two, and the longer one decides.": Min(T_math, T_comms),
            },
        ),
        Question(
            "The ratio of communication to arithmetic is {r_comm}. How many times faster does full overlap make the "
            "step?",
            answer=overlap.overlap_gain,
            given=[{"r_comm": 3}, {"r_comm": 2}],
            mistakes={
                "The step never gets shorter than the longer of the two.": 1 + r_comm,
                "Nothing gets faster by the ratio itself.": r_comm + 0,
            },
            remark="A ratio and its inverse gain the same, but in one case the GPU waits.",
        ),
        Question(
            "Data parallelism over {X} H100 across nodes, bf16 gradients, {B_gpu} tokens on each GPU; the NICs of a "
            "node carry {W}. What is the ratio of the all-reduce to the backward pass?",
            answer=dp,
            given={"X": 64, "B_gpu": 4096, "b_grad": 2, "C": h100.bf16, "W": node_bw},
            mistakes={
                "That counts elements as if each were one byte.": dp.rhs / b_grad,
                "That is twice as much: gradients in bf16 have two bytes, and the backward pass has four FLOPs.": (
                    dp.rhs * 2
                ),
            },
        ),
        Question(
            "Give the tokens on each GPU at which ZeRO-3's forward pass just hides its all-gathers, for very many "
            "ranks, in the book's symbols: peak C, bandwidth W, weights of b bytes.",
            answer=b * C / (2 * flop * W),
            unit="1",
            symbols=(b, C, W),
            mistakes={
                "Bytes over bytes a second on the one side, FLOPs over FLOP/s on the other: b is missing.": C
                / (2 * flop * W),
                "The forward pass has 2 FLOPs for each parameter and token.": b * C / (6 * flop * W),
            },
            solution=[
                (b * C / (2 * flop * W), "b P/W bytes equal 2 P FLOPs for each token over C; P cancels"),
            ],
        ),
        Question(
            "An MLP {F} wide of {n_mat} matrices is shared by {Y} H100 over NVLink ({W}, one way), in bf16. What is "
            "the ratio of its communication to its arithmetic in the forward pass?",
            answer=tp,
            given={
                "F": llama.inputs["F"],
                "n_mat": 3,
                "Y": 8,
                "b": 2,
                "C": h100.bf16,
                "W": h100.nvlink_bw,
            },
            mistakes={
                "The MLP has a gate: three matrices share the work.": {"n_mat": 2},
                "A rank holds its own shard already: Y - 1.": tp.rhs * Y / (Y - 1),
                "That counts elements as if each were one byte.": {"b": 1},
            },
        ),
        Question(
            "The tokens of a batch are doubled. What happens to the ratio of tensor parallelism?",
            choices=[
                ("it stays the same", "Activations and products both double.", True),
                ("it halves", "That is data parallelism: its gradients do not grow with the tokens.", False),
                ("it doubles", "The bytes double, but so does the arithmetic.", False),
            ],
        ),
        Question(
            "Pipeline stages of {L_stage} layers with {P_layer} parameters each, model width {D}, bf16, over one NIC "
            "of {W} for each H100. What is the ratio of a hop to a stage's forward pass?",
            answer=pp,
            given={
                "L_stage": 10,
                "P_layer": llama.P_layer,
                "D": llama.inputs["D"],
                "b": 2,
                "C": h100.bf16,
                "W": h100.nic_bw,
            },
            mistakes={
                "That counts elements as if each were one byte.": {"b": 1},
                "That is for a stage of one layer.": pp.rhs * L_stage,
                "A parameter and token take 2 FLOPs forward.": pp.rhs * 2,
            },
            remark="Even one layer is several times as long as its hop.",
        ),
        Question(
            'Find the error. "t_comm = 16 h^2 (DP-1)/(DP W), t_compute = 32 s h^2/C, so the ratio is (DP-1) C/(2 s DP '
            'W)." With {B_gpu} tokens s on each GPU, {X} ranks, bf16, what is the true ratio on H100 with {W}?',
            answer=overlap.zero3_forward_ratio,
            given={"B_gpu": 4096, "X": 512, "b_w": 2, "C": h100.bf16, "W": node_bw},
            mistakes={
                "That is the quoted one: its sizes are in elements, W is in bytes.": {"b_w": 1},
                "Weights in bf16 have two bytes.": {"b_w": 4},
            },
            remark="The unit of the quoted ratio is one over bytes: a check of units finds it.",
        ),
        Question(
            "A backward pass of {T_math} hands over its gradients in {n_bucket} equal buckets; the all-reduce of each "
            "takes {T_bucket}. How much communication stays in sight?",
            answer=overlap.bucketed_exposed,
            given=[
                {"T_math": 100 * ms, "n_bucket": 50, "T_bucket": 1.5 * ms},
                {"T_math": 60 * ms, "n_bucket": 20, "T_bucket": 4 * ms},
            ],
            mistakes={
                "That is all of the communication; most of it runs beside the backward pass.": n_bucket * T_bucket,
                "Communication starts only when the first bucket is full.": overlap.exposed_time.where(
                    T_comms=n_bucket * T_bucket
                ),
            },
        ),
        Question(
            "An all-reduce of a bucket has a start-up of {alpha} in each of {n_steps} steps; all gradients at full "
            "bandwidth take {T_comms}, and the backward pass takes {T_math}. How many buckets leave least in sight?",
            answer=overlap.best_buckets,
            given={"alpha": 5 * us, "n_steps": 126, "T_comms": 80 * ms, "T_math": 130 * ms},
            mistakes={
                "That is where the queue is shortest; here the bytes fit with room to spare.": (
                    sqrt(T_math / (n_steps * alpha))
                ),
                "The bytes themselves need time too.": T_math / (n_steps * alpha),
            },
            tolerance=0.02,
        ),
        Question(
            "Communication keeps {n_comm} of the {n_sm} SMs of an H100 busy. How many times as long does a product of "
            "{n_tiles} equal tiles take beside it, one tile on an SM at a time?",
            answer=overlap.wave_slowdown,
            given=[
                {"n_comm": 20, "n_sm": h100.sm, "n_tiles": 264},
                {"n_comm": 24, "n_sm": h100.sm, "n_tiles": 132},
            ],
            mistakes={"Tiles do not spread evenly: count the waves.": overlap.sm_slowdown},
        ),
        Question(
            "A step has {T_math} of arithmetic and {T_comms} of communication beside it, during which arithmetic takes "
            "{g_slow} times as long. How long is the step?",
            answer=overlap.slowed_time,
            given={"T_math": 10 * ms, "T_comms": 6 * ms, "g_slow": 1.2},
            mistakes={
                "The arithmetic is slower only while the communication runs.": T_math * g_slow,
                "That is overlap without any slowdown.": overlap.overlapped_time,
                "That is one after the other.": overlap.serial_time,
            },
        ),
        Question(
            "Your step spends half as long on gradients as on the backward pass, and nothing overlaps yet. You double "
            "the number of GPUs at the same batch. What should you do?",
            choices=[
                (
                    "overlap: the ratio becomes one, and everything still just hides",
                    "Half the tokens on each GPU double the ratio from a half to one.",
                    True,
                ),
                (
                    "buy a faster network first: the ratio will be two",
                    "Gradients keep their size; only the arithmetic of each GPU halves.",
                    False,
                ),
                (
                    "nothing: gradients shrink with the number of GPUs",
                    "Each GPU sends twice its gradients, however many take part.",
                    False,
                ),
            ],
        ),
    ],
)
